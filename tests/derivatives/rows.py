#!/usr/bin/env python3
"""Compares the derivative of each scalar operation on floats with arithmetic of 200 bits, at random points; needs mpmath.

    python3 tests/derivatives/rows.py target/release/galopvm [POINTS [NAME..]]

For each operation, each type and each operand the largest error is printed, in units in the last place of the derivative, or of
the least normal number if that is more. Errors of more than 4 units are failures, but for those that ALLOWED allows.
"""

import random
import struct
import subprocess
import sys
import tempfile

import mpmath
from mpmath import mp, mpf

mp.prec = 200

# Binary formats: the name, the word of struct, digits of the significand, least exponent of a normal number, the greatest number.
TYPES = {"f64": ("d", 53, -1022, 1.7e308), "f32": ("f", 24, -126, 3.4e38), "f16": ("e", 11, -14, 65504.0)}


def around(low, high):
    """Numbers between two, evenly."""
    return lambda rand, most: rand.uniform(low, high)


def sizes(low, high, signs=(1,)):
    """Numbers of every size from 2 ** low to 2 ** high."""
    return lambda rand, most: rand.choice(signs) * min(2.0 ** rand.uniform(low, high), most)


BOTH = (1, -1)
ALL = sizes(-10, 10, BOTH)

# For each operation its arguments, and its derivative by each of them.
ROWS = {
    "sqrt": ([sizes(-12, 12)], [lambda x: 1 / (2 * mp.sqrt(x))]),
    "rsqrt": ([sizes(-6, 6)], [lambda x: -1 / (2 * x * mp.sqrt(x))]),
    "cbrt": ([sizes(-10, 10)], [lambda x: 1 / (3 * mp.cbrt(x) ** 2)]),
    "exp": ([around(-9, 9)], [mp.exp]),
    "log": ([sizes(-12, 12)], [lambda x: 1 / x]),
    "log2": ([sizes(-12, 12)], [lambda x: 1 / (x * mp.log(2))]),
    "log10": ([sizes(-12, 12)], [lambda x: 1 / (x * mp.log(10))]),
    "log1p": ([sizes(-12, 12)], [lambda x: 1 / (1 + x)]),
    "sin": ([around(-10, 10)], [mp.cos]),
    "cos": ([around(-10, 10)], [lambda x: -mp.sin(x)]),
    "tan": ([around(-10, 10)], [lambda x: 1 + mp.tan(x) ** 2]),
    "asin": ([around(-1, 1)], [lambda x: 1 / mp.sqrt(1 - x * x)]),
    "acos": ([around(-1, 1)], [lambda x: -1 / mp.sqrt(1 - x * x)]),
    "atan": ([sizes(-7, 7, BOTH)], [lambda x: 1 / (1 + x * x)]),
    "sinh": ([around(-9, 9)], [mp.cosh]),
    "cosh": ([around(-9, 9)], [mp.sinh]),
    "tanh": ([around(-3, 3)], [lambda x: 1 / mp.cosh(x) ** 2]),
    "asinh": ([ALL], [lambda x: 1 / mp.sqrt(x * x + 1)]),
    "acosh": ([lambda rand, most: 1 + 2.0 ** rand.uniform(-8, 8)], [lambda x: 1 / mp.sqrt(x * x - 1)]),
    "atanh": ([around(-1, 1)], [lambda x: 1 / (1 - x * x)]),
    "erf": ([around(-2.5, 2.5)], [lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)]),
    "erfc": ([around(-2.5, 2.5)], [lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x)]),
    "gamma": ([around(0.1, 8)], [lambda x: mp.gamma(x) * mp.digamma(x)]),
    "lgamma": ([around(-9, 40)], [mp.digamma]),
    "abs": ([ALL], [mp.sign]),
    "+": ([ALL, ALL], [lambda x, y: mpf(1)] * 2),
    "-": ([ALL, ALL], [lambda x, y: mpf(1), lambda x, y: mpf(-1)]),
    "*": ([sizes(-7, 7, BOTH)] * 2, [lambda x, y: y, lambda x, y: x]),
    "/": ([sizes(-5, 5, BOTH)] * 2, [lambda x, y: 1 / y, lambda x, y: -x / (y * y)]),
    "%": ([sizes(-5, 5, BOTH)] * 2, [lambda x, y: mpf(1), lambda x, y: -mpf(int(x / y))]),
    "**": ([sizes(-3, 3), around(-4, 4)], [lambda x, y: y * x ** (y - 1), lambda x, y: x ** y * mp.log(x)]),
    "atan2": ([sizes(-6, 6, BOTH)] * 2, [lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)]),
    "hypot": ([sizes(-6, 6, BOTH)] * 2, [lambda x, y: x / mp.hypot(x, y), lambda x, y: y / mp.hypot(x, y)]),
    "min": ([ALL, ALL], [lambda x, y: mpf(x <= y), lambda x, y: mpf(x > y)]),
    "max": ([ALL, ALL], [lambda x, y: mpf(x >= y), lambda x, y: mpf(x < y)]),
    "fma": ([sizes(-7, 7, BOTH)] * 3, [lambda x, y, z: y, lambda x, y, z: x, lambda x, y, z: mpf(1)]),
    "copysign": ([ALL, ALL], [lambda x, y: mp.sign(x) * mp.sign(y)]),
}

# The greatest error of each by an operand, in units in the last place; those that are not here may have 4.
ALLOWED = {
    ("rsqrt", 0): 5,
    ("erf", 0): 8,
    ("erfc", 0): 8,
    ("gamma", 0): 12,
    ("lgamma", 0): 8,
    ("**", 0): 12,
}
# Of these errors are relative to 1 where the derivative is less: it is a small difference there.
RELATIVE_TO_ONE = {"tanh", "gamma", "lgamma"}


def source(name, of, arity, by):
    """An entry point that gives the derivative of an operation by one argument."""
    args = ["x", "y", "z"][:arity]
    infix = not name.isalpha() and not name[0].isalpha()
    apply = f"x {name} y" if infix else f"{of}.{name} {' '.join(args)}"
    own = args[by]
    return (
        f"entry main {' '.join(f'({a}s: []{of})' for a in args)} =\n"
        f"  map{arity if arity > 1 else ''} (\\{' '.join(args)} -> vjp (\\{own} -> {apply}) {own} 1) "
        + " ".join(f"{a}s" for a in args)
        + "\n"
    )


def binary(numbers, of):
    """Numbers in the binary format."""
    word = TYPES[of][0]
    head = b"b\x02\x01" + of.encode().rjust(4) + struct.pack("<q", len(numbers))
    return head + struct.pack(f"<{len(numbers)}{word}", *numbers)


def derivatives(galopvm, name, of, by, columns):
    """What the program computes."""
    with tempfile.NamedTemporaryFile("w", suffix=".fut") as program:
        program.write(source(name, of, len(columns), by))
        program.flush()
        data = b"".join(binary(column, of) for column in columns)
        run = subprocess.run([galopvm, "run", program.name, "-b"], input=data, capture_output=True)
    if run.returncode != 0:
        sys.exit(f"{name} {of}: {run.stderr.decode()}")
    word = TYPES[of][0]
    body = run.stdout[7 + 8 :]
    return struct.unpack(f"<{len(columns[0])}{word}", body)


def error(found, true, of, name):
    """How many units in the last place a number is away."""
    _, digits, least, most = TYPES[of]
    if abs(true) > most:
        return mpf(0)
    if found != found or abs(found) == float("inf"):
        return mpf("inf")
    size = max(abs(true), mpf(2) ** least, mpf(1) if name in RELATIVE_TO_ONE else mpf(0))
    unit = mpf(2) ** (int(mp.floor(mp.log(size, 2))) - digits + 1)
    return abs(mpf(found) - true) / unit


def main():
    galopvm, points = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10000
    failed, chosen = False, sys.argv[3:] or ROWS
    for name in chosen:
        arguments, partials = ROWS[name]
        for of in TYPES:
            rand = random.Random(f"{name} {of}")
            word, _, _, most = TYPES[of]
            rounded = lambda x: struct.unpack(word, struct.pack(word, x))[0]
            columns = [[rounded(make(rand, most)) for _ in range(points)] for make in arguments]
            for by, partial in enumerate(partials):
                found = derivatives(galopvm, name, of, by, columns)
                worst, at = mpf(-1), None
                for row, value in zip(zip(*columns), found):
                    try:
                        true = mpf(partial(*map(mpf, row)))
                    except (ZeroDivisionError, ValueError):  # at a pole
                        continue
                    size = error(value, true, of, name)
                    if size > worst:
                        worst, at = size, row
                allowed = ALLOWED.get((name, by), 4)
                bad = worst > allowed
                failed |= bad
                print(f"{name:9} {of} by {by}: {float(worst):10.3f} at {at}{'  TOO MUCH' if bad else ''}", flush=True)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
