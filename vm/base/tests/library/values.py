"""Fills in the true values of the points in hard_points.txt; needs mpmath.

    python3 values.py

A line is an operation, a type, and the bits of the arguments in hexadecimal; what follows them is written by this script: the
bits of the nearest number to the true value, and how far the true value lies above that, in units in the last place. New
points are new lines without these two.
"""

import pathlib
import struct

import mpmath
from mpmath import mp

mp.prec = 400
PLACE = pathlib.Path(__file__).with_name("hard_points.txt")
# Letters of `struct`, digits, and the exponent of the least number.
TYPES = {"f64": ("<d", "<Q", 53, -1074), "f32": ("<f", "<I", 24, -149)}
FUNCTIONS = {
    "lgamma": lambda x: mp.re(mp.loggamma(mp.mpc(x))),
    "log2": lambda x: mp.log(x, 2),
    "log10": lambda x: mp.log(x, 10),
    "pow": lambda a, b: mp.power(a, b),
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
}


def value_of(op, arguments):
    return FUNCTIONS.get(op, getattr(mp, op, None))(*arguments)


def filled(line):
    op, kind, *rest = line.split()
    number, word, digits, least = TYPES[kind]
    arity = 2 if op in ("pow", "atan2", "hypot") else 1
    arguments = [mpmath.mpf(struct.unpack(number, struct.pack(word, int(bits, 16)))[0]) for bits in rest[:arity]]
    value = mpmath.mpf(value_of(op, arguments))
    _, exponent = mp.frexp(value)
    unit = mp.ldexp(1, max(exponent - digits, least))
    nearest = mp.nint(value / unit)
    bits = struct.unpack(word, struct.pack(number, float(nearest * unit)))[0]
    width = 16 if kind == "f64" else 8
    return f"{op} {kind} {' '.join(rest[:arity])} {bits:0{width}x} {float(value / unit - nearest):+.4f}"


lines = [line for line in PLACE.read_text().splitlines() if line.strip()]
PLACE.write_text("".join(filled(line) + "\n" for line in lines))
