"""An array in a file that is larger than what may be read of it, and how much of it was read."""

import os

import numpy as np

ELEMENTS = 1 << 30


def write(folder):
    """The path of a file in NumPy's format with as many numbers, the last of which is 7; the file system keeps little of it."""
    path = os.path.join(folder, "large.npy")
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(ELEMENTS,))
    array[-1] = 7
    array.flush()
    return path


def resident():
    """The memory of this process, in bytes; pages of mapped files count when they were read."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
