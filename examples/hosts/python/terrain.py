"""Slopes of a map of heights that lies in blocks: python terrain.py [ADDRESS], where ADDRESS is that of a Dask scheduler.

A pipeline of a stencil, a histogram and a reduction to a record, which Dask executes together: no block of slopes is computed
twice, and none is kept for longer than it is needed.
"""

import pathlib
import sys

import dask
import dask.array as da
import galopvm
import galopvm.dask

SIDE, STEP = 2000, 5.0


def main(arguments):
    if arguments:
        from dask.distributed import Client

        Client(arguments[0])
    source = pathlib.Path(__file__).with_suffix(".fut")
    program = galopvm.load(source, threads=1)

    # A hill with ripples; Dask makes it block by block. The distances fit the blocks by the sizes in the program's types.
    along = da.arange(SIDE, chunks=600, dtype="float32") * STEP
    ys, xs = along[:, None], along[None, :]
    heights = 800 * da.exp(-((xs - 4000) ** 2 + (ys - 6000) ** 2) / 6e6) + 20 * da.sin(xs / 90) * da.sin(ys / 70)

    slopes = galopvm.dask.stencil(program.slopes, STEP, heights.astype("float32"), depth=1, boundary="nearest")
    counts = galopvm.dask.histogram(program.steepness, 8, slopes)
    steepest = galopvm.dask.reduce(program.steepest, program.steepest_of, along, along, slopes)
    counts, steepest = dask.compute(counts, steepest)
    for number, count in enumerate(counts):
        print(f"{number / 8:.3f} and more: {count:8}")
    print(f"steepest {steepest.slope:.3f}, at x {steepest.x:.0f} y {steepest.y:.0f}")


if __name__ == "__main__":
    main(sys.argv[1:])
