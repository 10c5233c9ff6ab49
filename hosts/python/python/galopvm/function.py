"""Python functions whose docstrings are programs, for programs that fit into the Python file that calls them.

>>> import galopvm
>>> @galopvm.function(threads=2)
... def norm(xs):
...     "entry norm [n] (xs: [n]f64): f64 = f64.sqrt (f64.sum (map (** 2) xs))"
>>> norm([3, 4])
5.0

What is called is the entry point of the function's name, which has the function's parameters. The docstring is compiled at the
first call, under the name of the Python file and at the lines and columns where it stands there, so that messages lead to it. To
other processes a function goes as its program, as entry points do: they need not have the Python file.
"""

import ast
import functools
import inspect
import keyword
import os
import re
import types

from ._galopvm import compile

_OPTIONS = [name for name in inspect.signature(compile).parameters if name not in ("source", "name")]
# In a raw docstring a backslash at the end of the first line is one.
_OPENING = re.compile(r"""[rR]('{3}|"{3}|'|")|[uU]?('{3}|"{3}|'|")(\\\r?\n)?""")
# What a function is in another process, beside its program.
_CARRIED = ("__module__", "__name__", "__qualname__", "__doc__", "__signature__", "_by_place")


class Function:
    """A Python function that calls the entry point of its name in the program that its docstring is."""

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.__signature__ = _signature(function)
        params = self.__signature__.parameters.values()
        # How many arguments are all of them without their names; none are enough if some need them.
        self._by_place = -1 if any(param.kind is param.KEYWORD_ONLY for param in params) else len(params)
        self._options = options

    def __call__(self, *arguments, **named):
        _, entry = self.__dict__.get("_compiled") or self._compile()
        if not named and len(arguments) == self._by_place:
            return entry(*arguments)
        try:
            bound = self.__signature__.bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"{self.__name__}(): {error}") from None
        bound.apply_defaults()
        return entry(*bound.arguments.values())

    @property
    def program(self):
        """The program. It is compiled when it is first asked for."""
        program, _ = self.__dict__.get("_compiled") or self._compile()
        return program

    def _compile(self):
        """The program and its entry point. Of threads that come at the same time each compiles it, and the first one's is kept.

        There is no lock: a child of the process would have it as it was, and might wait for a thread that it has not.
        """
        name, source = _source(self.__wrapped__)
        program = compile(source, name=name, **self._options)
        entry = program.entries.get(self.__name__)
        if entry is None:
            others = ", ".join(program.entries) or "none at all"
            raise TypeError(f"the docstring of `{self.__qualname__}` has no entry point of that name; there are {others}")
        if not _alike(self.__signature__.parameters.values(), entry.params):
            params = ", ".join(f"{name}: {type}" for name, type in entry.params)
            raise TypeError(
                f"the function is {self.__name__}{self.__signature__}, but the entry point in its docstring is "
                f"{entry.name}({params}): both need the same names in the same order"
            )
        return self.__dict__.setdefault("_compiled", (program, entry))

    def __getstate__(self):
        compiled = self.__dict__.get("_compiled") or self._compile()
        return {**{name: self.__dict__[name] for name in _CARRIED}, "_compiled": compiled}

    def __repr__(self):
        return f"<galopvm function {self.__qualname__}{self.__signature__}>"


def function(function=None, **options):
    """Makes a function call the program in its docstring. Options are those of `compile`; without any, no parentheses are needed."""
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise TypeError(f"`{unknown[0]}` is no option of galopvm.function; there are {', '.join(_OPTIONS)}")
    if function is None:
        return lambda function: _decorated(function, options)
    return _decorated(function, options)


def _decorated(function, options):
    if not inspect.isfunction(function):
        raise TypeError(f"galopvm.function is for functions of Python, not {type(function).__name__}")
    if not function.__doc__:
        raise TypeError(f"`{function.__qualname__}` has no docstring that could be its program (python -OO drops docstrings)")
    return Function(function, options)


def _signature(function):
    """The parameters and their defaults. Annotations are left out: what they name need not exist when the program runs."""
    bare = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def _alike(given, wanted):
    """Whether parameters have the names that the entry point gives them; for those that no Python can write, any name will do."""
    if len(given) != len(wanted):
        return False
    for param, (name, _) in zip(given, wanted):
        is_free = keyword.iskeyword(name) or not name.isidentifier()
        if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD) or not (is_free or param.name == name):
            return False
    return True


def _source(function):
    """The name of a docstring's file and its text, after as many lines and columns as are before it in that file.

    Where there is no such file, as in notebooks, the name is the function's; where no lines are known, the text is the docstring.
    """
    file = function.__code__.co_filename
    name = file if os.path.isfile(file) else function.__name__
    try:
        lines, first = inspect.getsourcelines(function)
        # The lines of a function inside of others are indented.
        frame = ["if True:\n"] if lines[0][:1].isspace() else []
        tree = ast.parse("".join(frame + lines))
    except (OSError, SyntaxError):
        return name, function.__doc__
    made = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    text = made and ast.get_docstring(made, clean=False)
    # The file may have changed since it was loaded. Some versions of Python drop the indentation of docstrings.
    if not text or inspect.cleandoc(text) != inspect.cleandoc(function.__doc__):
        return name, function.__doc__
    literal = made.body[0].value
    at = literal.lineno - 1 - len(frame)
    column = len(lines[at].encode()[: literal.col_offset].decode())
    opening = _OPENING.match("".join(lines[at:]), column)
    before = "".join(lines[:at]) + opening.string[: opening.end()]
    rows = first - 1 + before.count("\n")
    return name, "\n" * rows + " " * (len(before) - before.rfind("\n") - 1) + text
