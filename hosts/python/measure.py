"""What a call costs: of 64 elements, and of 64 MB in and out beside numpy.add. Least and median of many repetitions."""

import time

import galopvm
import numpy as np

SOURCE = "entry add [n] (xs: [n]f32) (ys: [n]f32): [n]f32 = map2 (+) xs ys\nentry scalar (x: i32): i32 = x + 1"


def times(work, repetitions):
    """Seconds of each repetition, in order."""
    found = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return sorted(found)


def show(what, found, unit, scale):
    print(f"{what:34} least {found[0] * scale:9.2f} {unit}, median {found[len(found) // 2] * scale:9.2f} {unit}")


def main():
    program = galopvm.compile(SOURCE)
    few = np.arange(64, dtype=np.float32)
    add, scalar = program.add, program.scalar
    for _ in range(2000):
        add(few, few)
    show("galopvm, 64 elements", times(lambda: add(few, few), 100_000), "us", 1e6)
    show("galopvm, a scalar", times(lambda: scalar(1), 100_000), "us", 1e6)
    show("numpy.add, 64 elements", times(lambda: np.add(few, few), 100_000), "us", 1e6)

    many = np.arange(16 << 20, dtype=np.float32)
    kept = np.empty_like(many)
    for _ in range(3):
        add(many, many)
    before = program.memory
    # In turns, so that what else the machine does meets all of them.
    ours, theirs, over = [], [], []
    for _ in range(30):
        ours += times(lambda: add(many, many), 1)
        theirs += times(lambda: np.add(many, many), 1)
        over += times(lambda: np.add(many, many, out=kept), 1)
    show("galopvm, 64 MB", sorted(ours), "ms", 1e3)
    show("numpy.add, 64 MB", sorted(theirs), "ms", 1e3)
    show("numpy.add, 64 MB, out=", sorted(over), "ms", 1e3)
    print(f"bytes copied meanwhile: {program.memory['copied_bytes'] - before['copied_bytes']}")


if __name__ == "__main__":
    main()
