"""Values of sums: `variant.some(5)` is the constructor `#some` with what it holds, and `variant.none()` is one that holds nothing.

Each constructor has a class, the same for all programs: `isinstance(value, variant.some)`, and in a match statement
`case variant.some(x)`. The parts are looked at as those of a tuple. Values can be pickled, although their classes are made as programs need
them.
"""

import functools

# The names by which a match statement asks for what a constructor holds, in order. No program holds more in one.
_PLACES = tuple(f"_{place}" for place in range(256))


class Variant(tuple):
    """A constructor with what it holds, which are the parts of this tuple."""

    __slots__ = ()
    __match_args__ = _PLACES

    #: The name of the constructor, without its mark.
    constructor = None

    def __new__(cls, *held):
        if cls.constructor is None:
            raise TypeError("a variant is made by its constructor, as galopvm.variant.some(5)")
        return super().__new__(cls, held)

    def __getattr__(self, name):
        if name in _PLACES and _PLACES.index(name) < len(self):
            return self[_PLACES.index(name)]
        raise AttributeError(f"#{self.constructor} has no attribute `{name}`")

    def __eq__(self, other):
        return type(self) is type(other) and tuple.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self.constructor, tuple(self)))

    def __repr__(self):
        return f"variant.{self.constructor}({', '.join(map(repr, self))})"

    def __reduce__(self):
        return value, (self.constructor, tuple(self))


@functools.lru_cache(maxsize=None)
def named(name):
    """The class of values with this constructor."""
    return type(name, (Variant,), {"__slots__": (), "constructor": name})


def value(name, held):
    """A value with this constructor."""
    return named(name)(*held)


class _Constructors:
    """Classes of constructors as attributes; `variant["x'"]` is one whose name is none in Python."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return named(name)

    def __getitem__(self, name):
        return named(name)


variant = _Constructors()
