"""k-means over points that lie in blocks: python kmeans.py [ADDRESS], where ADDRESS is that of a Dask scheduler.

All rounds are one lazy graph: the centres of each are a value that the blocks of the next take whole. Points are made block by block
when they are needed, so that there can be more of them than fit into memory.
"""

import pathlib
import sys

import dask
import dask.array as da
import galopvm
import galopvm.dask
import numpy as np

TRUE_CENTRES = np.array([[0.0, 0.0], [8.0, 1.0], [4.0, 9.0]])


def some_points(block_info=None):
    """A block of points around the true centres."""
    (first, end), _ = block_info[None]["array-location"]
    rng = np.random.default_rng(first)
    return TRUE_CENTRES[rng.integers(0, 3, end - first)] + rng.normal(size=(end - first, 2))


def main(arguments):
    if arguments:
        from dask.distributed import Client

        Client(arguments[0])
    source = pathlib.Path(__file__).with_suffix(".fut")
    program = galopvm.load(source, threads=1)

    points = da.map_blocks(some_points, chunks=((50_000,) * 8, 2), dtype="float64", meta=np.empty((0, 2)))
    centres = points[:3].compute()
    for _ in range(10):
        found = galopvm.dask.reduce(program.assigned, program.together, centres, points)
        centres = galopvm.dask.call(program.moved, centres, found)
    centres, counts, cost = dask.compute(centres, found.counts, found.cost)
    for number in np.argsort(centres[:, 0]):
        print(f"{counts[number]:7} points around ({centres[number, 0]:.2f}, {centres[number, 1]:.2f})")
    print(f"mean squared distance {cost / len(points):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
