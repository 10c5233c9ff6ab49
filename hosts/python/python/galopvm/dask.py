"""Entry points over the blocks of Dask arrays.

>>> import dask.array, galopvm, galopvm.dask
>>> program = galopvm.compile("entry squares [n] (xs: [n]f64): [n]f64 = map (\\\\x -> x * x) xs")
>>> xs = dask.array.arange(6, chunks=2, dtype="float64")
>>> galopvm.dask.map_blocks(program.squares, xs).compute()
array([ 0.,  1.,  4.,  9., 16., 25.])

The sizes in the types of an entry point say how blocks meet (`grid.py`): what has the size `n` is cut alike, and a result with the size
`n` is cut so too. Dask arrays are given block by block; everything else - scalars, NumPy arrays, Dask's delayed values - is
given whole to each block. All is lazy, names are made of the program and the arguments, and a program is one value of
the graph that each worker gets once. Exceptions keep their class and say which block it was.
"""

import itertools
import numbers

import dask
import dask.array as da
import numpy as np
from dask.base import normalize_token, tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

try:
    from dask.layers import ArrayValuesDep
except ImportError as error:
    raise ImportError(f"galopvm.dask needs Dask 2024.12 or newer; this is {dask.__version__}") from error

from . import tasks
from ._galopvm import Entry, Program
from .carried import digest
from .grid import Grid
from .sums import Variant
from .types import Leaf, Sum, result_of, type_of

__all__ = ["call", "histogram", "map_blocks", "reduce", "scan", "stencil"]


@normalize_token.register(Program)
def _program_token(program):
    _, (code, options) = program.__reduce__()
    return "galopvm.Program", digest(code, options)


@normalize_token.register(Entry)
def _entry_token(entry):
    _, (code, options, name) = entry.__reduce__()
    return "galopvm.Entry", digest(code, options), name


@normalize_token.register(Variant)
def _variant_token(value):
    # As a tuple, what one constructor holds would be what another one does.
    return "galopvm.Variant", value.constructor, [normalize_token(held) for held in value]


class _Step:
    """An entry point in a graph: the key of its program, and the types of what it takes and gives."""

    def __init__(self, entry, function):
        if not isinstance(entry, Entry):
            raise TypeError(f"{function} needs an entry point of a program, not {type(entry).__name__}")
        self.name = entry.name
        self.params = [(name, type_of(text)) for name, text in entry.params]
        self.result = result_of(entry)
        for what, found in [*((f"`{name}`", param) for name, param in self.params), ("the result", self.result)]:
            if found.opaque():
                raise TypeError(
                    f"{what} of `{self.name}` is of type {found}: its values cannot travel between processes; "
                    "use numbers, arrays, sums, tuples or records of them"
                )
        code = tasks.Code(entry)
        self.key = f"galopvm-{tokenize(code)}"
        self.code = Delayed(self.key, HighLevelGraph({self.key: {self.key: code}}, {self.key: set()}))
        self.carried = tasks.Step(self.name, self.params, self.result)

    def needs(self, function, types):
        """That the entry point takes and gives what it has to, the result last."""
        found = [param for _, param in self.params] + [self.result]
        if len(found) != len(types) or not all(a.like(b) for a, b in zip(found, types)):
            texts = ", ".join(str(param) for param in found[:-1])
            wanted = ", ".join(str(param) for param in types[:-1])
            raise TypeError(
                f"{function} needs an entry point that takes ({wanted}) and gives {types[-1]}, but `{self.name}` "
                f"takes ({texts}) and gives {found[-1]}"
            )


class _Use(_Step):
    """An entry point with its arguments, each leaf of which is a block of an array or whole."""

    def __init__(self, entry, arguments, function, change=None, is_cut=True):
        super().__init__(entry, function)
        if len(arguments) != len(self.params):
            names = ", ".join(f"{name}: {param}" for name, param in self.params)
            raise TypeError(f"`{self.name}` takes {len(self.params)} arguments ({names}), {len(arguments)} are given")
        self.grid = Grid(self.name)
        self.token = tokenize(entry, *arguments)
        # Of each leaf an array with its sizes, or what is whole with None.
        self.leaves = []
        wholes, arrays = [], []
        for (name, param), argument in zip(self.params, arguments):
            for number, leaf, value in _leaves(name, param, argument):
                if isinstance(value, (da.Array, np.ndarray)):
                    _fitting(self.name, name, leaf, value)
                if is_cut and isinstance(value, da.Array) and leaf.sizes:
                    arrays.append((len(self.leaves), name, leaf, value))
                    self.leaves.append(None)
                    continue
                if isinstance(value, numbers.Integral) and isinstance(param, Leaf):
                    self.grid.known[name] = int(value)
                whole, shape = self._whole(param, number, leaf, value)
                wholes.append((name, leaf, shape))
                self.leaves.append((whole, None))
        if is_cut and not arrays:
            raise TypeError(f"{function} needs a Dask array for a parameter of `{self.name}`; galopvm.dask.call is one call of it")
        cut = self.grid.place([(name, leaf, array) for _, name, leaf, array in arrays])
        if change is not None:
            cut = change(cut)
            self.grid.place([(name, leaf, array) for (_, name, leaf, _), array in zip(arrays, cut)])
        for (at, _, leaf, _), array in zip(arrays, cut):
            self.leaves[at] = (array, leaf.sizes)
        for name, leaf, shape in wholes:
            self.grid.whole(name, leaf, shape)

    def _whole(self, param, number, leaf, value):
        """A value that is one of the graph, unless it is a number, and its shape if that is known."""
        if isinstance(value, da.Array):
            if value.npartitions == 1:
                return Delayed((value.name, *(0,) * value.ndim), value.dask, layer=value.name), value.shape
            # Not `dask.delayed(value)`: that copies the graph below, and a loop of calls would double it each time.
            return self._argument(value.name, (tasks.put_together, value.__dask_keys__()), [value]), value.shape
        if isinstance(value, Delayed):
            if number is None:
                return value, None
            return self._argument((value.key, number), (tasks.part, value.key, param, number), [value]), None
        if isinstance(leaf, Sum):
            return self._argument(value, (tasks.whole, tasks.Whole(value)), []), ()
        if not leaf.sizes:
            return value, ()
        value = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=leaf.dtype)
        return self._argument(value, value, []), value.shape

    def _argument(self, of, task, dependencies):
        name = f"{self.name}-argument-{tokenize(of)}"
        return Delayed(name, HighLevelGraph.from_collections(name, {name: task}, dependencies=dependencies))

    def blocks(self, name, axes, shapes=None):
        """The graph with the entry point's value for each block, by its numbers along these axes; None is an axis of one block.

        It is one that Dask makes single tasks of with what makes the blocks, if nothing else needs these.
        """
        grid = self.grid
        own = [axis if axis and axis not in axes[:at] else f"{name}-{at}" for at, axis in enumerate(axes)]
        # The others have one block.
        kept = [axis for axis in own if axis in grid.chunks]
        places = {}
        for block, ranges in grid.places():
            lie = dict(zip(grid.chunks, block))
            places[_index(kept, lie)] = tasks.Place(block, ranges, shapes and shapes(lie))
        place = (ArrayValuesDep(tuple(grid.chunks[axis] for axis in kept), places), kept) if kept else (places[()], None)
        pairs = [(self.code, None), (self.carried, None), place, *self.leaves]
        made = da.blockwise(
            tasks.call_block,
            own,
            *itertools.chain.from_iterable(pairs),
            name=name,
            new_axes={axis: 1 for axis in own if axis not in grid.chunks},
            align_arrays=False,
            dtype=object,
            meta=np.empty((0,) * len(own), object),
        )
        return made.dask

    def all_blocks(self, name, shapes=None):
        """That for the numbers along all axes of the grid."""
        return self.blocks(name, list(self.grid.chunks), shapes)

    def cut(self, leaf, chunks=None):
        """The axis of the grid that each axis of a result follows, or None, and the sizes of the result's blocks.

        What has no axis follows, in order, those that would be lost.
        """
        grid = self.grid
        axes = [size if size in grid.chunks else None for size in leaf.sizes]
        lost = [axis for axis in grid.chunks if grid.blocks(axis) > 1 and axis not in axes]
        axes = [axis if axis or not lost else lost.pop(0) for axis in axes]
        if lost:
            raise ValueError(
                f"`{self.name}` gives {leaf} for each block, but there are {grid.blocks(lost[0])} blocks along [{lost[0]}], which "
                "is none of its sizes: rechunk to one block, or reduce"
            )
        twice = next((axis for axis in axes if axis and axes.count(axis) > 1 and grid.blocks(axis) > 1), None)
        if twice:
            raise ValueError(f"`{self.name}` gives {leaf}: rechunk the arguments to one block along [{twice}]")
        sizes = []
        for size, axis in zip(leaf.sizes, axes):
            sizes.append(grid.chunks[size] if size in grid.chunks else (grid.extent(size),) * grid.blocks(axis))
        if chunks is not None:
            sizes = self._told(leaf, chunks, sizes)
        return axes, tuple(sizes)

    def _told(self, leaf, chunks, sizes):
        told = []
        for given, found in zip(chunks, sizes):
            told.append((given,) * len(found) if isinstance(given, numbers.Number) else tuple(given))
        if len(chunks) != len(sizes) or any(len(a) != len(b) for a, b in zip(told, sizes)):
            blocks = tuple(len(found) for found in sizes)
            raise ValueError(f"`{self.name}` gives {leaf} in blocks {blocks}, for which chunks={chunks!r} is not")
        return told


def _leaves(name, param, argument):
    """The leaves of an argument: type and value of each, and its number if the value is delayed with all the others."""
    leaves = param.leaves()
    if isinstance(argument, Delayed) and not isinstance(param, Leaf):
        return [(number, leaf, argument) for number, leaf in enumerate(leaves)]
    if not isinstance(param, Leaf) and isinstance(argument, (da.Array, np.ndarray)):
        way = "one of its constructors" if isinstance(param, Sum) else "a tuple of arrays"
        raise TypeError(f"`{name}` is of type {param}: give {way}")
    try:
        values = param.parts(argument)
    except TypeError as error:
        raise TypeError(f"`{name}`: {error}") from None
    return [(None, leaf, value) for leaf, value in zip(leaves, values)]


def _fitting(entry, name, leaf, array):
    if array.dtype != leaf.dtype or array.ndim != len(leaf.sizes):
        raise TypeError(
            f"`{entry}` takes `{name}`: {leaf}, that is {leaf.dtype} of {len(leaf.sizes)} dimensions, not {array.dtype} of {array.ndim}"
        )


def _needs_arrays(use, leaves, function):
    found = next((leaf for leaf in leaves if isinstance(leaf, Sum)), None)
    if found:
        raise TypeError(f"`{use.name}` gives {found}, of which there are no Dask arrays: {function} gives such; use reduce to one value, or call")


def _array(name, graph, sizes, dtype):
    return da.Array(graph, name, sizes, dtype=dtype, meta=np.empty((0,) * len(sizes), dtype))


def _parts(name, graph, type, keys, cuts):
    """A tuple of Dask arrays: of each leaf one, with the keys of the values that they are part of and where these lie."""
    arrays = []
    for number, (leaf, (axes, sizes)) in enumerate(zip(type.leaves(), cuts)):
        own = f"{name.rsplit('-', 1)[0]}-part-{tokenize(name, number)}"
        layer = {(own, *_index(axes, lie)): (tasks.part, key, type, number) for lie, key in keys}
        layers = {**graph.layers, own: layer}
        dependencies = {**graph.dependencies, own: {name}}
        arrays.append(_array(own, HighLevelGraph(layers, dependencies), sizes, leaf.dtype))
    return type.value(iter(arrays))


def _index(axes, lie):
    """The number of a block along some axes."""
    return tuple(lie.get(axis, 0) for axis in axes)


def call(entry, *arguments):
    """One call, with all arguments whole: a delayed value."""
    use = _Use(entry, arguments, "call", is_cut=False)
    name = f"{entry.name}-{tokenize('call', use.token)}"
    wholes = [whole for whole, _ in use.leaves]
    leaves = [whole.key if isinstance(whole, Delayed) else whole for whole in wholes]
    needed = [use.code, *(whole for whole in wholes if isinstance(whole, Delayed))]
    task = (tasks.call, use.key, use.carried, tasks.Place(), leaves)
    return Delayed(name, HighLevelGraph.from_collections(name, {name: task}, dependencies=needed))


def map_blocks(entry, *arguments, chunks=None):
    """The entry point for each block.

    A tuple or record of results is one of Dask arrays. Sizes of the result that are none of the arguments' are unknown to Dask, unless
    they are a constant, or `chunks` tells them: for each axis the size of all blocks, or of each.
    """
    use = _Use(entry, arguments, "map_blocks")
    leaves = use.result.leaves()
    _needs_arrays(use, leaves, "map_blocks")
    if chunks is not None and not isinstance(use.result, Leaf):
        raise TypeError(f"`{use.name}` gives {use.result}: chunks are told of one array only")
    cuts = [use.cut(leaf, chunks) for leaf in leaves]
    name = f"{use.name}-{tokenize('map_blocks', use.token, chunks)}"

    def shapes(lie):
        return [tuple(own[at] for own, at in zip(sizes, _index(axes, lie))) for axes, sizes in cuts]

    return _blocks_of(use, name, cuts, shapes)


def _blocks_of(use, name, cuts, shapes):
    """The results for all blocks as Dask arrays."""
    if isinstance(use.result, Leaf):
        ((axes, sizes),) = cuts
        return _array(name, use.blocks(name, axes, shapes), sizes, use.result.dtype)
    lies = [dict(zip(use.grid.chunks, block)) for block in use.grid.coordinates(use.grid.chunks)]
    keys = [(lie, (name, *lie.values())) for lie in lies]
    return _parts(name, use.all_blocks(name, shapes), use.result, keys, cuts)


def reduce(entry, combine, *arguments, split_every=8):
    """The entry point for each block, and what it gives combined by another, which has to be associative.

    Sizes of the arguments that the entry point's result has as well stay; over the others partial results are combined, in the order of
    the blocks, up to `split_every` of them in a task. The result is a Dask array; of a tuple or record it is one of
    Dask arrays if such a size stays, and a delayed value otherwise.
    """
    return _reduced(_Use(entry, arguments, "reduce"), combine, split_every, "reduce")


def histogram(entry, *arguments, combine=None, split_every=8):
    """The bins of each block by the entry point, combined by sum or by another entry point."""
    return _reduced(_Use(entry, arguments, "histogram"), combine, split_every, "histogram")


def _reduced(use, combine, split_every, function):
    if not isinstance(split_every, numbers.Integral) or split_every < 2:
        raise ValueError(f"split_every is 2 or more, not {split_every!r}")
    grid, result = use.grid, use.result
    code, step, others = None, use.carried, []
    if combine is not None or function == "reduce":
        by = _Step(combine, function)
        by.needs(function, [result, result, result])
        code, step, others = by.key, by.carried, [by.code]
    leaves = result.leaves()
    if not others and any(isinstance(leaf, Sum) for leaf in leaves):
        raise TypeError(f"`{use.name}` gives {result}, which has no sum: histogram needs an entry point that combines two of them")
    stay = [axis for axis in grid.chunks if any(axis in leaf.sizes for leaf in leaves)]
    if stay:
        _needs_arrays(use, leaves, function)
    for leaf in leaves:
        lost = [axis for axis in stay if axis not in leaf.sizes and grid.blocks(axis) > 1]
        if lost:
            raise ValueError(
                f"`{use.name}` gives {result}, of which {leaf} has not the size [{lost[0]}], along which there are "
                f"{grid.blocks(lost[0])} blocks: rechunk to one block"
            )
        if any(leaf.sizes.count(axis) > 1 and grid.blocks(axis) > 1 for axis in stay):
            raise ValueError(f"`{use.name}` gives {leaf}: rechunk the arguments to one block along each size")
    token = tokenize(function, use.token, combine, split_every)
    name = f"{combine.name if combine is not None else 'sum'}-{token}"
    partial = f"{use.name}-partial-{token}"
    below = use.all_blocks(partial)
    layer, groups = {}, {}
    for block in grid.coordinates(grid.chunks):
        lie = dict(zip(grid.chunks, block))
        groups.setdefault(_index(stay, lie), []).append((partial, *block))
    is_value = not isinstance(result, Leaf) and not stay
    blocks = []
    for group, keys in groups.items():
        level = 0
        place = tasks.Place()
        while len(keys) > split_every:
            some = [keys[at : at + split_every] for at in range(0, len(keys), split_every)]
            keys = [(f"{name}-tree", level, *group, number) for number in range(len(some))]
            layer.update({key: (tasks.combined, code, step, place, parts) for key, parts in zip(keys, some)})
            level += 1
        lie = dict(zip(stay, group))
        key = (name, *(_index(leaves[0].sizes, lie) if isinstance(result, Leaf) else group))
        key = name if is_value else key
        layer[key] = (tasks.combined, code, step, place, keys)
        blocks.append((lie, key))
    graph = _above(name, layer, partial, below, others)
    if is_value:
        return Delayed(name, graph)
    cuts = []
    for leaf in leaves:
        axes = [size if size in stay else None for size in leaf.sizes]
        cuts.append((axes, tuple(grid.chunks[size] if size in stay else (grid.extent(size),) for size in leaf.sizes)))
    if isinstance(result, Leaf):
        return _array(name, graph, cuts[0][1], result.dtype)
    return _parts(name, graph, result, blocks, cuts)


def _above(name, layer, below, graph, others):
    """The graph of a layer over another one, which has a name and a graph, and over programs."""
    return HighLevelGraph.from_collections(name, layer, dependencies=[Delayed(below, graph, layer=below), *others])


def scan(entry, combine, apply, *arguments, axis=0):
    """Each block's scan by the entry point, after what is carried to it from the blocks before.

    The entry point's results have a row for each row of its arguments, the last of which is the total of the block. `combine` is the operator,
    of two totals; `apply` gives a block's scan after a total: it takes the total and the scan. The entry points see `axis` as the
    first one.
    """
    arguments = [_to_front(argument, axis) for argument in arguments]
    use = _Use(entry, arguments, "scan")
    grid, result = use.grid, use.result
    along = next(iter(grid.chunks), None)
    for leaf in result.leaves():
        if along is None or leaf.sizes[:1] != (along,):
            raise TypeError(f"scan needs an entry point that gives a row for each row [{along}], `{use.name}` gives {result}")
    total = result.inner()
    operator, applied = _Step(combine, "scan"), _Step(apply, "scan")
    operator.needs("scan", [total, total, total])
    applied.needs("scan", [total, result, result])
    cuts = [use.cut(leaf) for leaf in result.leaves()]
    token = tokenize("scan", use.token, combine, apply, axis)
    name, first = f"{applied.name}-{token}", f"{use.name}-scan-{token}"
    last, carry = f"{use.name}-total-{token}", f"{operator.name}-carry-{token}"

    def shapes(lie):
        return [tuple(own[at] for own, at in zip(sizes, _index(axes, lie))) for axes, sizes in cuts]

    below = use.all_blocks(first, shapes)
    layer, blocks = {}, []
    for block, ranges in grid.places():
        lie = dict(zip(grid.chunks, block))
        number, rest = block[0], block[1:]
        before = (number - 1, *rest)
        place = tasks.Place(block, ranges)
        layer[(last, *block)] = (tasks.last, use.carried, (first, *block))
        if number == 1:
            layer[(carry, *block)] = (tasks.joined, operator.key, operator.carried, place, None, (last, *before))
        elif number > 1:
            layer[(carry, *block)] = (tasks.joined, operator.key, operator.carried, place, (carry, *before), (last, *before))
        key = (name, *(_index(cuts[0][0], lie) if isinstance(result, Leaf) else block))
        carried = (carry, *block) if number else None
        layer[key] = (tasks.moved_on, applied.key, applied.carried, place, carried, (first, *block))
        blocks.append((lie, key))
    graph = _above(name, layer, first, below, [operator.code, applied.code])
    if isinstance(result, Leaf):
        return _from_front(_array(name, graph, cuts[0][1], result.dtype), axis)
    return _from_front(_parts(name, graph, result, blocks, cuts), axis)


def _to_front(argument, axis):
    """The arrays of an argument with an axis as their first."""
    if isinstance(argument, dict):
        return {name: _to_front(part, axis) for name, part in argument.items()}
    if isinstance(argument, (tuple, list)):
        return tuple(_to_front(part, axis) for part in argument)
    return da.moveaxis(argument, axis, 0) if axis and isinstance(argument, da.Array) and argument.ndim else argument


def _from_front(found, axis):
    if isinstance(found, tuple):
        parts = [_from_front(part, axis) for part in found]
        return type(found)(*parts) if hasattr(found, "_fields") else tuple(parts)
    return da.moveaxis(found, 0, axis) if axis else found


def stencil(entry, *arguments, depth, boundary="reflect"):
    """The entry point for each block with the elements around it, of which it gives the inner part.

    `depth` is how many elements it gets on each side, for all axes or for each (a tuple, or a dictionary); `boundary` is what lies around
    the array: "reflect", "periodic", "nearest", a number, a dictionary of these by axes, or "none", by which the
    result is smaller by `depth` on each side.
    """
    inner = []

    def with_halo(arrays):
        ranks = {array.ndim for array in arrays}
        if len(ranks) != 1:
            raise ValueError(f"stencil needs Dask arrays of the same rank for `{entry.name}`, not of {sorted(ranks) or 'none'}")
        (rank,) = ranks
        depths = _depths(depth, rank)
        halos = []
        for array in arrays:
            around = {axis: boundary.get(axis, "none") for axis in range(rank)} if isinstance(boundary, dict) else boundary
            halos.append(da.overlap.overlap(array, dict(enumerate(depths)), around))
        for axis, (own, chunks) in enumerate(zip(depths, halos[0].chunks)):
            inner.append(tuple(size - 2 * own for size in chunks))
            if any(size < 0 for size in inner[-1]):
                raise ValueError(f"depth {own} is more than the blocks {array.chunks[axis]} of axis {axis} have")
        return halos

    use = _Use(entry, arguments, "stencil", with_halo)
    result, grid = use.result, use.grid
    if len(grid.chunks) != len(inner):
        raise TypeError(f"stencil needs arrays with the same sizes for `{use.name}`, not of {', '.join(grid.chunks)}")
    if any(len(leaf.sizes) != len(inner) for leaf in result.leaves()):
        raise TypeError(f"stencil needs an entry point that gives arrays of {len(inner)} dimensions, `{use.name}` gives {result}")
    # Blocks are told of by where their inner part lies.
    grid.chunks = dict(zip(grid.chunks, inner))
    cuts = [(list(grid.chunks), tuple(inner)) for _ in result.leaves()]
    name = f"{use.name}-{tokenize('stencil', use.token, depth, boundary)}"

    def shapes(lie):
        return [tuple(sizes[lie[axis]] for axis, sizes in grid.chunks.items())] * len(cuts)

    return _blocks_of(use, name, cuts, shapes)


def _depths(depth, rank):
    """The depth along each axis."""
    if isinstance(depth, dict):
        depth = tuple(depth.get(axis, 0) for axis in range(rank))
    depths = (depth,) * rank if isinstance(depth, numbers.Integral) else tuple(depth)
    if len(depths) != rank or not all(isinstance(own, numbers.Integral) and own >= 0 for own in depths):
        raise ValueError(f"depth is a number, or {rank} of them, not {depth!r}")
    return depths
