"""Derivatives of entry points, as further entry points.

>>> import galopvm
>>> program = galopvm.compile("entry cost [n] (xs: [n]f64) (a: f64): f64 = a * f64.sum (map (** 2) xs)")
>>> galopvm.grad(program.cost)([1, 2], 10)
(array([20., 40.]), 5.0)
>>> galopvm.grad(program.cost, of="xs", value=True)([1, 2], 10)
(50.0, array([20., 40.]))

The program is compiled again, with an entry point that has the derivative in its source. So it costs what compiling costs: whoever
needs a derivative more than once keeps it.
"""

import re

from ._galopvm import Entry, compile
from .function import Function

_FLOAT = re.compile(r"\bf(16|32|64)\b")


def grad(entry, of=None, value=False):
    """The gradient of an entry point whose result is one float: an entry point with the same parameters.

    `of` names the parameters that it is taken of, one or several; without it, all that have floats. Of one the result is its gradient, of
    several a tuple; with `value=True` the result is the value and the gradient.
    """
    entry = _entry(entry)
    if len(entry.results) != 1 or not _FLOAT.fullmatch(entry.results[0]):
        results = ", ".join(entry.results)
        raise TypeError(f"`{entry.name}` has the result {results}: a gradient is that of one float; see galopvm.vjp")
    names = [name for name, _ in entry.params]
    if of is None:
        chosen = [number for number, (_, type) in enumerate(entry.params) if _FLOAT.search(type)]
        if not chosen:
            raise TypeError(f"`{entry.name}` has no parameter with floats; name those that are meant with `of`")
    else:
        wanted = [of] if isinstance(of, str) else list(of)
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise TypeError(f"`{entry.name}` has no parameter `{unknown[0]}`; there are {', '.join(names)}")
        if not wanted or len(set(wanted)) < len(wanted):
            raise TypeError(f"`of` names each parameter that is meant once, not {of!r}; there are {', '.join(names)}")
        chosen = [names.index(name) for name in wanted]
    return _derived(entry, "grad", chosen, value)


def vjp(entry):
    """The product of a vector with the derivative (reverse mode): an entry point with one more parameter `by`, of the result's type.

    It gives the result of the entry point, and for its parameters what they contribute to it, weighted with `by`.
    """
    entry = _entry(entry)
    return _derived(entry, "vjp", range(len(entry.params)), True)


def jvp(entry):
    """The product of the derivative with a vector (forward mode): an entry point with one more parameter `by`, as its parameters are - a
    tuple, if there are several.

    It gives the result of the entry point, and how it changes when the parameters change by `by`.
    """
    entry = _entry(entry)
    return _derived(entry, "jvp", range(len(entry.params)), True)


def _entry(entry):
    if isinstance(entry, Function):
        entry = entry.program.entries[entry.__name__]
    if not isinstance(entry, Entry):
        raise TypeError(f"derivatives are of entry points, not of {type(entry).__name__}")
    if not entry.params:
        raise TypeError(f"`{entry.name}` has no parameters: there is nothing to change")
    return entry


def _derived(entry, operator, chosen, has_value):
    """An entry point made of one, for the parameters of these numbers: by `vjp` or `jvp`, or by `vjp` of 1 for "grad".

    Its types are left to inference, which finds those of the entry point, sizes included. Names of parameters may be names of
    anything else in the program: they are used in the last definition only, where nothing else is named but what is defined here.
    """
    name, source, options = entry._origin
    if source is None:
        raise TypeError(f"`{entry.name}` comes from bytecode: derivatives are of programs that were compiled from their source here")
    called = "vjp" if operator == "grad" else operator
    function, derived = f"galopvm_of_{entry.name}", f"galopvm_{operator}_{entry.name}"
    inner = [f"galopvm_{number}" for number in range(len(entry.params))]
    given = [f"(copy {name})" if type.startswith("*") else name for name, (_, type) in zip(inner, entry.params)]
    params = [
        name if name.isidentifier() and name != called else inner[number] for number, (name, _) in enumerate(entry.params)
    ]
    # The function of the chosen parameters alone: the others are as they are given.
    arguments = [inner[number] if number in chosen else params[number] for number in range(len(params))]
    of_chosen = f"(\\{_tuple([inner[number] for number in chosen])} -> {function} {' '.join(arguments)})"
    by = "by" if "by" not in params else "galopvm_by"
    weight, more = ("1", []) if operator == "grad" else (by, [by])
    result = f"{called} {of_chosen} {_tuple([params[number] for number in chosen])} {weight}"
    if has_value:
        result = f"({function} {' '.join(params)}, {result})"
    text = (
        f"{source}\n"
        f"def {function} {' '.join(inner)} = {entry.name} {' '.join(given)}\n"
        f"entry {derived} {' '.join(params + more)} = {result}\n"
    )
    return compile(text, name=name, **options).entries[derived]


def _tuple(names):
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
