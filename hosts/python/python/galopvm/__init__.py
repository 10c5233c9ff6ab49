"""Runs data-parallel array programs in the Futhark language, on NumPy arrays, without copying them.

>>> import galopvm, numpy
>>> program = galopvm.compile("entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs")
>>> program.scale(10, numpy.array([1.0, 2.5]))
array([10., 25.])
>>> program.scale(a=2, xs=[1.0, 2.0, 3.0])
array([2., 4., 6.])

Arrays are passed in where they are, with their strides: transposed, reversed and sliced arrays as well. Other libraries' arrays
come by DLPack. Results are NumPy arrays over the memory that the program made; they never share memory with arguments. While
a program runs the interpreter lock is released, and Ctrl-C ends the call. Arrays must not be written by other threads meanwhile.
"""

from ._galopvm import (
    Cancelled,
    Canceller,
    CompileError,
    Entry,
    Error,
    LimitError,
    LoadError,
    Opaque,
    Program,
    RunError,
    __version__,
    compile,
    from_bytecode,
    load,
)
from .derivatives import grad, jvp, vjp
from .function import function
from .sums import Variant, variant

__all__ = [
    "Cancelled",
    "Canceller",
    "CompileError",
    "Entry",
    "Error",
    "LimitError",
    "LoadError",
    "Opaque",
    "Program",
    "RunError",
    "Variant",
    "__version__",
    "compile",
    "from_bytecode",
    "function",
    "grad",
    "jvp",
    "load",
    "variant",
    "vjp",
]


def load_ipython_extension(shell):
    """What `%load_ext galopvm` does: the cell magic `%%galopvm`."""
    from .notebook import Programs

    shell.register_magics(Programs)
