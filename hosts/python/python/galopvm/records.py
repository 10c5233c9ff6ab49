"""Records of programs as named tuples. They can be pickled, although their classes are made as programs need them."""

import functools
from collections import namedtuple


@functools.lru_cache(maxsize=None)
def named(name, fields):
    """The class of records with these fields; one that is no name in Python is called by its number."""
    made = namedtuple(name, fields, rename=True)
    made.__reduce__ = lambda self: (record, (name, fields, tuple(self)))
    return made


def record(name, fields, values):
    """A record of these values."""
    return named(name, fields)(*values)
