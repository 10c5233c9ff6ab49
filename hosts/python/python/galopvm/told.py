"""What a program tells of its calls: `Explanation`, `Profile` and `Stats`.

Each shows itself as text, and in a notebook as HTML; `facts` has the same for programs, as the command line's `--json` does. Whatever comes
from outside - names, source, reasons - is text to a browser, never markup.
"""

import functools
import html
import json
import re

# What separates the parts of an explanation: the place, and what stands there.
_PART = re.compile(r"^==== ", re.MULTILINE)

_STYLE = (
    "<style>.galopvm pre{margin:.2em 0 .8em 1.2em;white-space:pre-wrap}.galopvm summary{cursor:pointer;font-family:monospace}"
    ".galopvm td,.galopvm th{text-align:left}.galopvm td.number,.galopvm th.number{text-align:right}</style>"
)


class _Told:
    def __init__(self, text, facts):
        self._text = text.rstrip()
        self._facts = facts

    @functools.cached_property
    def facts(self):
        """The facts as dictionaries and lists."""
        return json.loads(self._facts)

    def __str__(self):
        return self._text

    def __repr__(self):
        return self._text


class Explanation(_Told):
    """What was decided in a call, and why: for each function, loop and parallel operator. `galopvm words` explains the words."""

    def __init__(self, text, regions, facts):
        super().__init__(text, facts)
        self._regions = regions.rstrip()

    @property
    def regions(self):
        """The text with the kernel IR of every region and kernel."""
        return self._regions

    def _repr_html_(self):
        heading, *parts = _PART.split(self._text)
        shown = [f"<pre>{html.escape(heading.rstrip())}</pre>"]
        for part in parts:
            place, _, rest = part.partition("\n")
            shown.append(
                f"<details><summary>{html.escape(place)}</summary><pre>{html.escape(rest.rstrip())}</pre></details>"
            )
        return f'{_STYLE}<div class="galopvm">{"".join(shown)}</div>'


class Profile(_Told):
    """Where the time of a call goes, line by line, and why. docs/profiling.md explains what is measured.

    `rows` are the places, those that took longest first.
    """

    def __init__(self, text, facts, page, speedscope):
        super().__init__(text, facts)
        self._page = page
        self._speedscope = speedscope

    @property
    def rows(self):
        """The places of the source, each a dictionary: label, what, percent, seconds, executor, because, advice, .."""
        return self.facts["rows"]

    @property
    def seconds(self):
        """The time of a call."""
        return self.facts["seconds"]

    @property
    def page(self):
        """A page with the table, the last call over time and the annotated source; it needs nothing else."""
        return self._page

    @property
    def speedscope(self):
        """The last call over time, as text that speedscope reads."""
        return self._speedscope

    def save(self, path):
        """Writes the page, or, to a file whose name ends in .json, what speedscope reads."""
        text = self._speedscope if str(path).endswith(".json") else self._page
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_html_(self):
        # A page of its own: its style and its script mean nothing to the notebook around it.
        return (
            f'<iframe sandbox="allow-scripts" style="width:100%;height:40em;border:0" '
            f'srcdoc="{html.escape(self._page, quote=True)}"></iframe>'
        )


class Stats(_Told):
    """What the calls of a program did so far: `memory`, `kernels` and `operators`, each operator with its place and who executed it."""

    @property
    def memory(self):
        """Figures of the memory of the program's values, in bytes."""
        return self.facts["memory"]

    @property
    def kernels(self):
        """How many kernels were compiled, found compiled, and given up."""
        return self.facts["kernels"]

    @property
    def operators(self):
        """The parallel operators and loops that ran, each a dictionary."""
        return self.facts["operators"]

    def __str__(self):
        return "\n".join([self._text, *map(_operator_line, self.operators)])

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        heads = "".join(
            f'<th class="{kind}">{name}</th>'
            for name, kind in (
                ("place", ""),
                ("what", ""),
                ("executions", "number"),
                ("elements", "number"),
                ("launches", "number"),
                ("in kernels", "number"),
                ("last", ""),
                ("because", ""),
            )
        )
        rows = "".join(
            f"<tr><td>{html.escape(operator['place'])}</td><td>{html.escape(operator['what'])}</td>"
            f'<td class="number">{operator["executions"]}</td><td class="number">{operator["elements"]}</td>'
            f'<td class="number">{operator["launches"]}</td><td class="number">{operator["seconds"]:.6f} s</td>'
            f"<td>{html.escape(operator['last'])}</td><td>{html.escape(operator['because'])}</td></tr>"
            for operator in self.operators
        )
        return (
            f'{_STYLE}<div class="galopvm"><table><tr>{heads}</tr>{rows}</table>'
            f"<pre>{html.escape(self._text)}</pre></div>"
        )


def _operator_line(operator):
    line = f"{operator['place']} {operator['what']}: {operator['executions']} executions, {operator['elements']} elements"
    if operator["launches"]:
        line += f", {operator['launches']} launches in {operator['seconds']:.6f} s"
    if operator["executions"] > operator["launches"]:
        line += f", interpreted: {operator['because']}"
    return line
