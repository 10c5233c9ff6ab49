"""What pages and examples show, for the tests that execute them."""

import contextlib
import io
import os
import re
import runpy
import sys
from unittest import mock

_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def page(name, heading, language="python"):
    """The programs in Python, or in another language, between a heading of a page and the next one."""
    with open(os.path.join(_ROOT, "docs", name), encoding="utf-8") as file:
        text = file.read()
    _, _, rest = f"\n{text}".partition(f"\n{heading}\n")
    section = re.split("\n#+ ", rest)[0]
    return [part.split("```")[0] for part in section.split(f"```{language}\n")[1:]]


def printed(code):
    """The lines that a program in Python prints, and those that comments behind its `print` say it prints, where there are any."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(code, {"__name__": "__main__"})
    wanted = [line.split("  # ")[1] for line in code.splitlines() if line.lstrip().startswith("print(") and "  # " in line]
    return text.getvalue().splitlines(), wanted


def path(name):
    """The file of an example."""
    return os.path.join(_ROOT, "examples", "hosts", "python", name)


def example(name, *arguments):
    """The lines that an example prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), mock.patch.object(sys, "argv", [path(name), *arguments]):
        runpy.run_path(path(name), run_name="__main__")
    return text.getvalue().splitlines()


def all_examples():
    """All code that pages show in Python, and the examples in the package's own texts."""
    code = []
    for name in ("embedding.md", "scaling.md"):
        with open(os.path.join(_ROOT, "docs", name), encoding="utf-8") as file:
            code += re.findall(r"```i?python\n(.*?)```", file.read(), re.DOTALL)
    folder = os.path.join(_ROOT, "hosts", "python", "python", "galopvm")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                code += [line for line in file if line.lstrip().startswith((">>>", "..."))]
    return "\n".join(code)
