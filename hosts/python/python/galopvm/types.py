"""Types of entry points, read from how `Entry.params` and `Entry.results` write them.

A type is a `Leaf`, which is one scalar or array, a `Tuple`, whose parts have names if it is a record, a `Sum`, or `Opaque`. An array of tuples
is a tuple of arrays, as its values are, so that sizes are found at leaves alone. A sum is a leaf, too, since its values are whole: what they
hold has no sizes that others know. A value is walked along its type: `parts`
takes it apart, `leaves` and `Tuple.value` go from and to what is at the leaves.
"""

import re

import numpy as np

from .records import record
from .sums import Variant

_ELEMENTS = {
    **{f"{kind}{bits}": f"{name}{bits}" for kind, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "bool": "bool",
}
_WORD = re.compile(r"[\w']+")


class Leaf:
    """A scalar or an array: its elements' type, and its sizes as the source writes them."""

    def __init__(self, element, sizes):
        self.element = element
        self.sizes = sizes
        self.dtype = np.dtype(_ELEMENTS[element])

    def leaves(self):
        return [self]

    def parts(self, value):
        return [value]

    def value(self, leaves):
        return next(leaves)

    def inner(self):
        """The type of a row."""
        return Leaf(self.element, self.sizes[1:])

    def opaque(self):
        return None

    def like(self, other):
        return isinstance(other, Leaf) and (self.element, len(self.sizes)) == (other.element, len(other.sizes))

    def __str__(self):
        return "".join(f"[{size}]" for size in self.sizes) + self.element


class Tuple:
    """A tuple, or a record if there are names of its parts."""

    sizes = ()

    def __init__(self, items, names=None):
        self.items = items
        self.names = names

    def leaves(self):
        return [leaf for item in self.items for leaf in item.leaves()]

    def parts(self, value):
        """The values at the leaves of a value. It comes as arguments of entry points do."""
        if isinstance(value, dict):
            if self.names is None or set(value) != set(self.names):
                raise TypeError(f"{self} is not a dictionary of {', '.join(map(str, value)) or 'nothing'}")
            value = [value[name] for name in self.names]
        elif self.names is not None and all(hasattr(value, name) for name in self.names):
            value = [getattr(value, name) for name in self.names]
        if not isinstance(value, (tuple, list)) or len(value) != len(self.items):
            raise TypeError(f"{self} is made of {len(self.items)} values, not of {type(value).__name__}")
        return [leaf for item, part in zip(self.items, value) for leaf in item.parts(part)]

    def value(self, leaves):
        """A value of this type, of what comes at its leaves one after the other."""
        items = tuple(item.value(leaves) for item in self.items)
        return items if self.names is None else record("record", self.names, items)

    def inner(self):
        return Tuple([item.inner() for item in self.items], self.names)

    def opaque(self):
        return next((found for found in (item.opaque() for item in self.items) if found), None)

    def like(self, other):
        return (
            isinstance(other, Tuple)
            and (self.names, len(self.items)) == (other.names, len(other.items))
            and all(a.like(b) for a, b in zip(self.items, other.items))
        )

    def __str__(self):
        if self.names is None:
            return f"({', '.join(map(str, self.items))})"
        return "{" + ", ".join(f"{name}: {item}" for name, item in zip(self.names, self.items)) + "}"


class Sum:
    """A sum: its constructors with the types of what they hold."""

    sizes = ()

    def __init__(self, constructors):
        self.constructors = constructors

    def leaves(self):
        return [self]

    def parts(self, value):
        """The value, which a variant is, or a text that names what holds nothing."""
        if not isinstance(value, (Variant, str)):
            raise TypeError(f"a value of {self} is made by a constructor, as galopvm.variant.{self._names()[0]}, not {type(value).__name__}")
        if isinstance(value, Variant) and any(hasattr(held, "__dask_graph__") for held in value):
            raise TypeError(f"#{value.constructor} holds a Dask value, which nobody computes: compute it first")
        return [value]

    def value(self, leaves):
        return next(leaves)

    def opaque(self):
        held = (item.opaque() for _, payload in self.constructors for item in payload)
        return next((found for found in held if found), None)

    def like(self, other):
        if not isinstance(other, Sum) or self._names() != other._names():
            return False
        payloads = zip((held for _, held in self.constructors), (held for _, held in other.constructors))
        return all(len(a) == len(b) and all(x.like(y) for x, y in zip(a, b)) for a, b in payloads)

    def _names(self):
        return [name for name, _ in self.constructors]

    def __str__(self):
        shown = []
        for name, payload in self.constructors:
            held = (f"({item})" if isinstance(item, Sum) or item.sizes else str(item) for item in payload)
            shown.append(" ".join([f"#{name}", *held]))
        return " | ".join(shown)


class Opaque:
    """An array of sums, or a type that a module hides: its values stay in the process that made them."""

    sizes = ()

    def __init__(self, text):
        self.text = text

    def leaves(self):
        return []

    def opaque(self):
        return self.text

    def like(self, other):
        return isinstance(other, Opaque) and self.text == other.text

    def __str__(self):
        return self.text


def type_of(text):
    """The type that a text writes."""
    reader = _Reader(text)
    found = reader.type(())
    return found if found is not None and not reader.rest.strip() else Opaque(text)


def result_of(entry):
    """The type of what a call of an entry point gives."""
    results = [type_of(text) for text in entry.results]
    return results[0] if len(results) == 1 else Tuple(results)


class _Reader:
    def __init__(self, text):
        self.rest = text

    def takes(self, mark):
        rest = self.rest.lstrip()
        if not rest.startswith(mark):
            return False
        self.rest = rest[len(mark) :]
        return True

    def word(self):
        self.rest = self.rest.lstrip()
        found = _WORD.match(self.rest)
        self.rest = self.rest[found.end() :] if found else self.rest
        return found.group() if found else None

    def size(self):
        """What is between brackets, of which the first is taken; there may be others in it."""
        depth = 1
        for at, mark in enumerate(self.rest):
            depth += {"[": 1, "]": -1}.get(mark, 0)
            if depth == 0:
                size, self.rest = self.rest[:at].strip(), self.rest[at + 1 :]
                return size
        return None

    def type(self, sizes):
        """A type whose values lie in arrays of these sizes; None if the text does not tell what it is made of."""
        while self.takes("*"):
            pass
        while self.takes("["):
            size = self.size()
            if size is None:
                return None
            sizes += (size,)
        if self.takes("("):
            items = self.list(")", lambda: self.type(sizes))
            if items is None or len(items) == 1:
                return items and items[0]
            return Tuple(items)
        if self.takes("{"):
            fields = self.list("}", lambda: self.field(sizes))
            if fields is None:
                return None
            return Tuple([item for _, item in fields], tuple(name for name, _ in fields))
        if self.takes("#"):
            return self.sum() if not sizes else None
        word = self.word()
        return Leaf(word, sizes) if word in _ELEMENTS else None

    def sum(self):
        """A sum, of which the first mark is taken."""
        constructors = []
        while True:
            name, payload = self.word(), []
            while self.rest.strip() and self.rest.lstrip()[0] not in "|,)}":
                # One that is held by another is in parentheses.
                held = None if self.takes("#") else self.type(())
                if held is None:
                    return None
                payload.append(held)
            if name is None:
                return None
            constructors.append((name, payload))
            if not self.takes("|"):
                return Sum(constructors)
            if not self.takes("#"):
                return None

    def field(self, sizes):
        name = self.word()
        found = self.type(sizes) if name and self.takes(":") else None
        return found and (name, found)

    def list(self, end, item):
        found = []
        if self.takes(end):
            return found
        while True:
            part = item()
            if part is None:
                return None
            found.append(part)
            if self.takes(end):
                return found
            if not self.takes(","):
                return None
