"""What workers execute: an entry point with the blocks of arrays, or with partial results.

A task has the key of its program and a `Step`, never the bytecode: that is the value of one key, so that it reaches each worker
once. Values are made of arrays that nothing but themselves owns if the program has a bound of memory: what a worker keeps
until later tasks come must not use up the bound of these.
"""

import math
import threading

import numpy as np

from . import carried
from ._galopvm import Error
from .sums import Variant
from .types import Sum


class Code:
    """A program on its way. It is loaded where it is called; who only passes it on needs no engine."""

    def __init__(self, entry):
        _, (self.bytecode, self.options, _) = entry.__reduce__()

    def __dask_tokenize__(self):
        return carried.digest(self.bytecode, self.options)

    def entry(self, name):
        # A bound of memory is one for each task: threads that share a program would share its bound as well.
        owner = threading.get_ident() if "memory_limit" in self.options else None
        return carried.program(self.bytecode, self.options, owner).entries[name]

    def own(self, leaf, value):
        """A value as tasks give it: scalars as those of NumPy, so that they keep their type in further operations."""
        if isinstance(leaf, Sum):
            return _owning(value) if "memory_limit" in self.options else value
        if not leaf.sizes:
            return leaf.dtype.type(value)
        return np.array(value) if "memory_limit" in self.options else value


def _owning(value):
    """The same value with arrays that nothing else owns."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if not isinstance(value, tuple):
        return value
    items = map(_owning, value)
    return type(value)(*items) if isinstance(value, Variant) or hasattr(value, "_fields") else tuple(items)


class Whole:
    """A value in a graph, where tuples would be taken for tasks and texts for keys."""

    def __init__(self, value):
        self.value = value


def whole(held):
    """What it is."""
    return held.value


class Step:
    """A call of an entry point: which one, and the types and names of its parameters and result."""

    def __init__(self, entry, params, result):
        self.entry = entry
        self.params = params
        self.result = result


class Place:
    """Where a block lies: its number along each size, its range if that is known, and the shapes that its results have to have."""

    def __init__(self, block=(), ranges=None, shapes=None):
        self.block = block
        self.ranges = ranges
        self.shapes = shapes

    def __str__(self):
        if not self.block:
            return ""
        text = f" in block {self.block}"
        if self.ranges:
            text += " at [" + ", ".join(f"{first}:{end}" for first, end in self.ranges) + "]"
        return text


def call(code, step, place, leaves):
    """The value of an entry point for what comes at the leaves of its parameters."""
    given = iter(leaves)
    arguments = []
    for name, param in step.params:
        arguments.append(param.value(_scalars(param, given)))
    try:
        value = code.entry(step.entry)(*arguments)
        found = [code.own(leaf, part) for leaf, part in zip(step.result.leaves(), step.result.parts(value))]
        if place.shapes is not None:
            _check(found, place.shapes)
    except (Error, TypeError, ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise _told(error, step, place, leaves) from error
    return step.result.value(iter(found))


def call_block(code, step, place, *leaves):
    """The same for the blocks that Dask brings together: those along an axis that the result has not are in lists of one."""
    return call(code, step, place, [_only(leaf) for leaf in leaves])


def _only(blocks):
    while isinstance(blocks, list):
        (blocks,) = blocks
    return blocks


def _scalars(param, given):
    """The next values for the leaves of a parameter; arrays of no dimensions are scalars."""
    for leaf in param.leaves():
        value = next(given)
        yield value[()] if not leaf.sizes and isinstance(value, np.ndarray) else value


def _check(found, shapes):
    for number, (array, shape) in enumerate(zip(found, shapes)):
        is_right = np.ndim(array) == len(shape) and all(math.isnan(b) or a == b for a, b in zip(np.shape(array), shape))
        if not is_right:
            which = f"result {number + 1}" if len(found) > 1 else "the result"
            wanted = ", ".join("?" if math.isnan(size) else str(size) for size in shape)
            raise ValueError(f"{which} has the shape {np.shape(array)}, not ({wanted})")


def _told(error, step, place, leaves):
    """The same exception, with a text that says where."""
    given = iter(leaves)
    shown = []
    for name, param in step.params:
        arrays = [next(given) for _ in param.leaves()]
        parts = [f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else repr(array) for array in arrays]
        shown.append(f"{name}: {', '.join(parts)}")
    text = f"{error}\n`{step.entry}` failed{place}, with {'; '.join(shown) or 'no arguments'}"
    try:
        return type(error)(text)
    except Exception:
        # Some exceptions of other packages are made of more than a text.
        return Error(text)


def part(value, type, number):
    """What is at one of the leaves of a value, as an array unless it is of a sum."""
    found, leaf = type.parts(value)[number], type.leaves()[number]
    return found if isinstance(leaf, Sum) else np.asarray(found, dtype=leaf.dtype)


def put_together(blocks):
    """An array of all its blocks."""
    return np.block(blocks)


def combined(code, step, place, partials):
    """Partial results as one, in their order; without an entry point, their sum."""
    first = partials[0]
    for partial in partials[1:]:
        if code is None:
            first = step.result.value(map(np.add, step.result.parts(first), step.result.parts(partial)))
        else:
            first = call(code, step, place, step.result.parts(first) + step.result.parts(partial))
    return first


def last(step, value):
    """The last row of a block's scan, None if it has no rows."""
    leaves = step.result.parts(value)
    if any(len(leaf) == 0 for leaf in leaves):
        return None
    # A copy: a view of the row would keep the whole block.
    return step.result.inner().value(np.copy(leaf[-1])[()] for leaf in leaves)


def joined(code, step, place, carry, total):
    """What is carried over a block: nothing, until there is one with rows."""
    if carry is None or total is None:
        return total if carry is None else carry
    return call(code, step, place, step.result.parts(carry) + step.result.parts(total))


def moved_on(code, step, place, carry, value):
    """A block's scan after what is carried to it."""
    leaves = step.result.parts(value)
    if carry is None or len(leaves[0]) == 0:
        return value
    (_, total), _ = step.params
    return call(code, step, place, total.parts(carry) + leaves)
