"""The cell magic `%%galopvm` of IPython and Jupyter: a cell is a program, and its entry points are functions of the notebook.

Messages name the line of the cell. What is wrong in a cell ends the execution of the notebook, as any exception does, but is shown
as the text of galopvm alone.
"""

import argparse
import keyword
import shlex

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class

from ._galopvm import CompileError, compile


class _Line(argparse.ArgumentParser):
    """What may follow `%%galopvm` in its line."""

    def __init__(self):
        super().__init__("%%galopvm", add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
        self.add_argument("name", nargs="?", metavar="NAME")
        self.add_argument("--backend", metavar="B")
        self.add_argument("--cpu", metavar="C")
        self.add_argument("--threads", metavar="N", type=int)
        self.add_argument("--memory-limit", metavar="BYTES", type=int)
        self.add_argument("--fuel", metavar="N", type=int)
        self.add_argument("--timeout", metavar="S", type=float)

    def options(self, line):
        try:
            found = vars(self.parse_args(shlex.split(line)))
        except ValueError as error:
            self.error(str(error))
        name = found.get("name")
        if name is not None and not _is_variable(name):
            self.error(f"`{name}` is no name of a variable")
        return found

    def error(self, message):
        usage = " ".join(self.format_usage().split())
        raise UsageError(f"%%galopvm: {message}\n{usage}")


def _is_variable(name):
    return name.isidentifier() and not keyword.iskeyword(name)


@magics_class
class Programs(Magics):
    """The magic of one shell."""

    @cell_magic
    def galopvm(self, line, cell):
        """Compiles the cell, a program.

        %%galopvm [NAME] [--backend B] [--cpu C] [--threads N] [--memory-limit BYTES] [--fuel N] [--timeout S]

        With NAME the program becomes the variable of that name; without, each entry point becomes a variable of its own name.
        The options are those of galopvm.compile.
        """
        parser = _Line()
        options = parser.options(line)
        name = options.pop("name", None)
        # The number of this cell: the shell's own count may be that of the next one already.
        number = len(self.shell.history_manager.input_hist_parsed) - 1
        try:
            # The first line of the cell is that of the magic.
            program = compile("\n" + cell, name=f"In[{number}]", **options)
        except CompileError as error:
            # What IPython shows instead of a traceback.
            error._render_traceback_ = str(error).splitlines
            raise
        except (ValueError, OverflowError) as error:
            parser.error(str(error))
        if program.warnings:
            print(program.warnings.rstrip())
        if name is not None:
            self.shell.push({name: program})
            return
        if not program.entries:
            print("There are no entry points in this cell: write `entry` where a definition has `def`.")
        self.shell.push({entry: found for entry, found in program.entries.items() if _is_variable(entry)})
        for entry in program.entries:
            if not _is_variable(entry):
                print(f"`{entry}` is no name of a variable: with %%galopvm NAME it is NAME.entries[{entry!r}].")
