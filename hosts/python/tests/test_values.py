"""Values of types that are made by chance, through a program and back: `python test_values.py SEED COUNT` makes others."""

import random
import sys
import unittest

import numpy as np

import galopvm
from galopvm import variant

SCALARS = {
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "u16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
    "bool": np.bool_,
}
EXTENT = 3


class Types:
    """Makes types and values. A type is its kind with what that needs; arrays of sums are none of them, as only programs look at these."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def type(self, depth=3, sums=True):
        kind = self.chance.choice(["scalar", "scalar", "array", "tuple", "record"] + ["sum"] * (2 * sums))
        if depth == 0 or kind == "scalar":
            return "scalar", self.chance.choice(list(SCALARS))
        if kind == "array":
            return kind, self.chance.randint(1, 2), self.type(depth - 1, False)
        if kind == "tuple":
            return kind, [self.type(depth - 1, sums) for _ in range(self.chance.choice([0, 2, 3]))]
        names = self.chance.sample(["a", "b", "c", "d", "e"], self.chance.randint(1, 3))
        if kind == "record":
            return kind, [(name, self.type(depth - 1, sums)) for name in names]
        return kind, [(name, [self.type(depth - 1) for _ in range(self.chance.randint(0, 2))]) for name in names]

    def value(self, ty, shape=()):
        """A value of a type, or the parts of an array of this shape."""
        kind, what = ty[:2]
        if kind == "scalar":
            count = int(np.prod(shape))
            found = np.array([self.chance.randrange(100) for _ in range(count)]).astype(SCALARS[what]).reshape(shape)
            return found if shape else found.item()
        if kind == "array":
            return self.value(ty[2], shape + (EXTENT,) * what)
        if kind == "tuple":
            # An array of empty tuples still has a length.
            return np.zeros(shape, bool) if shape and not what else tuple(self.value(item, shape) for item in what)
        if kind == "record":
            return {name: self.value(field, shape) for name, field in what}
        name, payload = self.chance.choice(what)
        return variant[name](*[self.value(item) for item in payload])


def text(ty, in_sum=False):
    kind, what = ty[:2]
    if kind == "scalar":
        return what
    if kind == "tuple":
        return f"({', '.join(map(text, what))})"
    if kind == "record":
        return "{" + ", ".join(f"{name}: {text(field)}" for name, field in what) + "}"
    if kind == "array":
        found = f"[{EXTENT}]" * what + text(ty[2])
    else:
        found = " | ".join(" ".join([f"#{name}", *(text(item, True) for item in payload)]) for name, payload in what)
    return f"({found})" if in_sum else found


def is_same(given, found, ty):
    kind, what = ty[:2]
    if kind == "array":
        return is_same(given, found, ty[2])
    if kind == "record":
        return all(is_same(given[name], getattr(found, name), field) for name, field in what)
    if kind == "sum":
        payload = dict(what)[given.constructor]
        return type(given) is type(found) and is_same(tuple(given), tuple(found), ("tuple", payload))
    if kind == "tuple" and isinstance(given, tuple):
        return len(given) == len(found) == len(what) and all(map(is_same, given, found, what))
    return np.asarray(given).dtype.kind == np.asarray(found).dtype.kind and np.array_equal(given, found)


def differing(seed, count):
    """The types and values that do not come back as they went in."""
    types, found = Types(seed), []
    for _ in range(count):
        ty = types.type()
        program = galopvm.compile(f"entry same (x: {text(ty)}) (k: i32): ({text(ty)}, i32) = (x, k + 1)")
        for k in range(3):
            given = types.value(ty)
            back, number = program.same(given, k)
            if number != k + 1 or not is_same(given, back, ty):
                found.append((text(ty), given, back))
    return found


class Values(unittest.TestCase):
    def test_what_goes_in_comes_back(self):
        self.assertEqual(differing(seed=7, count=100), [])


if __name__ == "__main__":
    print(differing(int(sys.argv[1]), int(sys.argv[2])))
