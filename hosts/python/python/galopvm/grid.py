"""How the blocks of arrays meet: what has the same size in the type of an entry point is cut alike.

Each size in the types of the parameters is an axis of the grid; an array has a block for each combination of the axes that its
type has. A size in the result's type that is one of these is cut as it is in the arguments.
"""

import itertools
import math

import dask.array as da


class Grid:
    """The axes, in the order in which the parameters have them, and the sizes of the blocks along each."""

    def __init__(self, entry):
        self.entry = entry
        self.chunks = {}
        self.known = {}

    def place(self, arrays):
        """Lays arrays over the grid, each given as the name of its parameter, its type, and itself; gives them as they are cut."""
        extents = {}
        for name, leaf, array in arrays:
            for axis, (size, extent) in enumerate(zip(leaf.sizes, array.shape)):
                if leaf.sizes.count(size) > 1 and array.numblocks[axis] > 1:
                    raise ValueError(
                        f"`{self.entry}` takes `{name}`: {leaf} of as many rows as columns, so that it cannot be cut into "
                        f"blocks {array.numblocks}: rechunk it to one along each [{size}]"
                    )
                if size.isdigit() and extent != int(size):
                    raise ValueError(f"`{self.entry}` takes `{name}`: {leaf}, not an array of the shape {array.shape}")
                before = extents.setdefault(size, (name, extent))
                if before[1] != extent and not math.isnan(before[1]) and not math.isnan(extent):
                    raise ValueError(
                        f"the size {size} of `{self.entry}` is {before[1]} in `{before[0]}` and {extent} in `{name}`"
                    )
        pairs = itertools.chain.from_iterable((array, leaf.sizes) for _, leaf, array in arrays)
        try:
            chunks, cut = da.core.unify_chunks(*pairs) if arrays else ({}, [])
        except ValueError as error:
            raise ValueError(f"the arrays for `{self.entry}` are not cut alike: {error}") from error
        self.chunks = {size: chunks[size] for size in extents}
        for size, chunks in self.chunks.items():
            self.known[size] = sum(chunks)
            if size.isdigit() and len(chunks) > 1:
                raise ValueError(
                    f"`{self.entry}` takes blocks of {size} elements along one axis, which has {len(chunks)} blocks: "
                    "rechunk it to one"
                )
        return cut

    def whole(self, name, leaf, shape):
        """Notes an argument that each block gets whole; its shape is None if it is not known yet."""
        for axis, size in enumerate(leaf.sizes):
            if self.blocks(size) > 1:
                raise ValueError(
                    f"`{self.entry}` takes `{name}`: {leaf}, which is given whole, but [{size}] is cut into "
                    f"{self.blocks(size)} blocks: give a Dask array, or rechunk the others to one block"
                )
            if shape is None:
                continue
            known = int(size) if size.isdigit() else self.known.setdefault(size, shape[axis])
            if known != shape[axis] and not math.isnan(known) and not math.isnan(shape[axis]):
                raise ValueError(f"the size {size} of `{self.entry}` is {known}, but {shape[axis]} in `{name}`")

    def blocks(self, size):
        """How many blocks there are along an axis."""
        return len(self.chunks.get(size, ((),)))

    def extent(self, size):
        """A size if it is known, nan otherwise."""
        return int(size) if size.isdigit() else self.known.get(size, math.nan)

    def coordinates(self, axes):
        """All blocks along some axes, the last one fastest."""
        return itertools.product(*(range(self.blocks(axis)) for axis in axes))

    def places(self):
        """All blocks, each with its range along each axis, which is None if that is not known."""
        axes = []
        for chunks in self.chunks.values():
            ends = list(itertools.accumulate(chunks))
            axes.append([(end - size, end) for size, end in zip(chunks, ends)])
        for block in self.coordinates(self.chunks):
            ranges = tuple(axis[number] for axis, number in zip(axes, block))
            yield block, None if any(math.isnan(end) for _, end in ranges) else ranges
