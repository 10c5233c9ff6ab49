"""Entry points over Dask arrays, against NumPy on the whole arrays: with threads, and on a cluster of four processes."""

import ast
import doctest
import inspect
import itertools
import os
import pickle
import signal
import threading
import time
import unittest

import numpy as np

import galopvm
import shown

try:
    import dask
    import dask.array as da

    import galopvm.dask as blocks
except ImportError as error:
    raise unittest.SkipTest(f"pip install 'dask[array]>=2024.12': {error}") from None

try:
    import distributed
except ImportError:
    distributed = None

SOURCE = """
entry squares1 [n] (xs: [n]f64): [n]f64 = map (\\x -> x * x) xs
entry squares2 [n] [m] (xs: [n][m]f64): [n][m]f64 = map (map (\\x -> x * x)) xs
entry squares3 [n] [m] [k] (xs: [n][m][k]f64): [n][m][k]f64 = map (map (map (\\x -> x * x))) xs
entry axpy [n] (a: f64) (xs: [n]f64) (ys: [n]f64): [n]f64 = map2 (\\x y -> a * x + y) xs ys
entry turned [n] [m] (xs: [n][m]f64): [m][n]f64 = transpose xs
entry weighted [n] [m] (xs: [n][m]f64) (ws: [m]f64): [n][m]f64 = map (map2 (*) ws) xs
entry rows [n] [m] (xs: [n][m]f64): [n]f64 = map (reduce (+) 0) xs
entry columns [n] [m] (xs: [n][m]f64): [m]f64 = map (reduce (+) 0) (transpose xs)
entry positive [n] (xs: [n]f64): []f64 = filter (> 0) xs
entry ends [n] (xs: [n]f64): [2]f64 = if n == 0 then [0, 0] else [xs[0], xs[n - 1]]
entry split [n] (ps: [n](f64, i64)): {first: [n]f64, second: [n]i64} = let (a, b) = unzip ps in {first = a, second = b}
entry square [n] (xs: [n][n]f64): [n][n]f64 = xs
entry three [n] (xs: [n][3]f64): [n]f64 = map (reduce (+) 0) xs

entry total1 [n] (xs: [n]f64): f64 = reduce (+) 0 xs
entry total2 [n] [m] (xs: [n][m]f64): f64 = reduce (+) 0 (flatten xs)
entry total3 [n] [m] [k] (xs: [n][m][k]f64): f64 = reduce (+) 0 (flatten_3d xs)
entry add (a: f64) (b: f64): f64 = a + b
entry add_rows [n] (a: [n]f64) (b: [n]f64): [n]f64 = map2 (+) a b
entry add_matrices [n] [m] (a: [n][m]f64) (b: [n][m]f64): [n][m]f64 = map2 (map2 (+)) a b
entry product [n] [m] [k] (a: [n][k]f64) (b: [k][m]f64): [n][m]f64 =
  map (\\row -> map (\\column -> reduce (+) 0 (map2 (*) row column)) (transpose b)) a
-- The operator is not commutative: of two ranges the outer ends.
entry range [n] (xs: [n]f64): {first: f64, last: f64, some: bool} =
  if n == 0 then {first = 0, last = 0, some = false} else {first = xs[0], last = xs[n - 1], some = true}
entry outer (a: {first: f64, last: f64, some: bool}) (b: {first: f64, last: f64, some: bool}): {first: f64, last: f64, some: bool} =
  if !a.some then b else if !b.some then a else {first = a.first, last = b.last, some = true}
entry width (a: {first: f64, last: f64, some: bool}): f64 = a.last - a.first
entry moments [n] [m] (xs: [n][m]f64): ([m]f64, [m]i64) = (map (reduce (+) 0) (transpose xs), replicate m n)
entry add_moments [m] (a: ([m]f64, [m]i64)) (b: ([m]f64, [m]i64)): ([m]f64, [m]i64) = (map2 (+) a.0 b.0, map2 (+) a.1 b.1)
entry maybe [n] (xs: [n]f64): #none | #some f64 = if n == 0 then #none else #some xs[0]

entry positives [n] (xs: [n]f64): [n](#none | #some f64) = map (\\x -> if x > 0 then #some x else #none) xs
entry first (a: #none | #some f64) (b: #none | #some f64): #none | #some f64 = match a case #none -> b case _ -> a
entry greater (a: #none | #some f64) (b: #none | #some f64): #none | #some f64 =
  match (a, b) case (#some x, #some y) -> #some (f64.max x y) case (#none, _) -> b case _ -> a
entry first_and_sum [n] (xs: [n]f64): (#none | #some f64, f64) = (if n == 0 then #none else #some xs[0], reduce (+) 0 xs)
entry of_two (a: (#none | #some f64, f64)) (b: (#none | #some f64, f64)): (#none | #some f64, f64) =
  (match a.0 case #none -> b.0 case _ -> a.0, a.1 + b.1)
entry first_and_sums [n] [m] (xs: [n][m]f64): (#none | #some f64, [m]f64) =
  (if n == 0 || m == 0 then #none else #some xs[0, 0], map (reduce (+) 0) (transpose xs))
entry of_both [m] (a: (#none | #some f64, [m]f64)) (b: (#none | #some f64, [m]f64)): (#none | #some f64, [m]f64) =
  (match a.0 case #none -> b.0 case _ -> a.0, map2 (+) a.1 b.1)
entry changed [n] [m] (by: #add f64 | #none | #scale ([m]f64) f64) (xs: [n]f64): [n]f64 =
  match by
  case #add x -> map (+ x) xs
  case #none -> xs
  case #scale ws x -> map (* (x * reduce (+) 0 ws)) xs
entry kept [n] (k: f64) (xs: [n]f64): #add f64 | #none | #scale ([n]f64) f64 =
  if n == 0 then #none else if k < 0 then #add k else #scale xs k

entry sums1 [n] (xs: [n]f64): [n]f64 = scan (+) 0 xs
entry after1 [n] (a: f64) (xs: [n]f64): [n]f64 = map (a +) xs
entry sums2 [n] [m] (xs: [n][m]f64): [n][m]f64 = transpose (map (scan (+) 0) (transpose xs))
entry after2 [n] [m] (a: [m]f64) (xs: [n][m]f64): [n][m]f64 = map (map2 (+) a) xs
-- Linear recurrences: (a, b) is the function x -> a x + b.
def follow (f: (f64, f64)) (g: (f64, f64)): (f64, f64) = (f.0 * g.0, f.1 * g.0 + g.1)
entry steps [n] (fs: [n](f64, f64)): [n](f64, f64) = scan follow (1, 0) fs
entry onward (f: (f64, f64)) (g: (f64, f64)): (f64, f64) = follow f g
entry after_steps [n] (f: (f64, f64)) (fs: [n](f64, f64)): [n](f64, f64) = map (follow f) fs

entry counts [n] (bins: i64) (xs: [n]i64): [bins]i64 = hist (+) 0 bins xs (map (const 1) xs)
entry greatest [n] (xs: [n]i64): [4]i64 = hist i64.max i64.lowest 4 (map (% 4) xs) xs
entry max4 (a: [4]i64) (b: [4]i64): [4]i64 = map2 i64.max a b

entry smooth1 [n] (xs: [n]f64): []f64 = tabulate (n - 4) (\\i -> xs[i] + 2 * xs[i + 2] + 3 * xs[i + 4])
entry smooth2 [n] [m] (xs: [n][m]f64): [][]f64 = tabulate_2d (n - 2) (m - 2) (\\i j -> xs[i, j + 1] + 2 * xs[i + 2, j + 1] + 3 * xs[i + 1, j])
entry smooth3 [n] [m] [k] (xs: [n][m][k]f64): [][][]f64 =
  tabulate_3d (n - 2) m (k - 2) (\\h i j -> xs[h, i, j + 1] + 2 * xs[h + 2, i, j + 1] + 3 * xs[h + 1, i, j + 2])
entry too_small [n] (xs: [n]f64): []f64 = xs

entry checked [n] [m] (xs: [n][m]f64): [n][m]f64 = map (map (\\x -> assert (x < 100) x)) xs
entry ones (n: i64): f64 = reduce (+) 0 (scan (+) 0 (replicate n 1))
entry filled [n] (xs: [n]f64): [n][1000]f64 = map (replicate 1000) xs
entry slow [n] (turns: i64) (xs: [n]f64): [n]f64 = map (\\x -> loop y = x for _i < turns do y * 0.5 + 1) xs
"""

SHAPES = {
    1: [((7, 0, 20, 23),), ((50,),), ((0,),)],
    2: [((3, 9), (5, 1, 4)), ((0, 6), (2, 7, 0)), ((8,), (0,))],
    3: [((2, 3), (4, 1), (1, 5, 2)), ((5,), (0, 2), (3,))],
}


def program(**options):
    return galopvm.compile(SOURCE, name="blocks.fut", **options)


def arrays(rank):
    """Arrays of NumPy and Dask that are the same, whole and turned around, with all kinds of blocks."""
    for number, chunks in enumerate(SHAPES[rank]):
        shape = tuple(map(sum, chunks))
        xs = np.random.default_rng(number).normal(size=shape)
        yield xs, da.from_array(xs, chunks=chunks)
        if rank > 1:
            yield xs.T, da.from_array(np.asfortranarray(xs), chunks=chunks).T


class Blocks(unittest.TestCase):
    def setUp(self):
        config = dask.config.set(scheduler="threads", num_workers=2)
        config.__enter__()
        self.addCleanup(config.__exit__, None, None, None)

    def same(self, found, wanted):
        """That a lazy result has the shape and type that it says, and the values."""
        value = found.compute()
        self.assertEqual((found.dtype, found.ndim), (wanted.dtype, wanted.ndim))
        for said, is_so in zip(found.shape, value.shape):
            self.assertTrue(np.isnan(said) or said == is_so, (found, value.shape))
        np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-12)


class Map(Blocks):
    def test_blocks_of_all_ranks(self):
        prog = program()
        for rank in (1, 2, 3):
            entry = prog.entries[f"squares{rank}"]
            for xs, cut in arrays(rank):
                found = blocks.map_blocks(entry, cut)
                self.assertEqual(found.chunks, cut.chunks)
                self.same(found, xs * xs)

    def test_sizes_say_how_blocks_meet(self):
        prog = program()
        for xs, cut in arrays(2):
            turned = blocks.map_blocks(prog.turned, cut)
            self.assertEqual(turned.chunks, cut.chunks[::-1])
            self.same(turned, xs.T)
            ws = np.arange(float(xs.shape[1]))
            # The weights are cut as the columns are, however they came.
            for chunks in (-1, 2):
                self.same(blocks.map_blocks(prog.weighted, cut, da.from_array(ws, chunks=chunks)), xs * ws)
            self.same(blocks.map_blocks(prog.rows, cut.rechunk({1: -1})), xs.sum(1))
        xs, ys = np.arange(20.0), np.arange(20.0) ** 2
        found = blocks.map_blocks(prog.axpy, 3.0, da.from_array(xs, chunks=7), da.from_array(ys, chunks=6))
        self.same(found, 3 * xs + ys)
        self.same(blocks.map_blocks(prog.axpy, da.from_array(xs).sum(), da.from_array(xs, chunks=7), da.from_array(ys, chunks=6)), 190 * xs + ys)
        square = np.arange(16.0).reshape(4, 4)
        self.same(blocks.map_blocks(prog.square, da.from_array(square)), square)
        self.same(blocks.map_blocks(prog.three, da.ones((8, 3), chunks=(3, 3))), np.full(8, 3.0))

    def test_sizes_that_only_the_program_knows(self):
        prog = program()
        for xs, cut in arrays(1):
            self.same(blocks.map_blocks(prog.positive, cut), xs[xs > 0])
        cut = da.from_array(np.arange(10.0), chunks=(4, 3, 3))
        ends = blocks.map_blocks(prog.ends, cut)
        self.assertEqual(ends.chunks, ((2, 2, 2),))
        self.same(ends, np.array([0, 3, 4, 6, 7, 9.0]))
        told = blocks.map_blocks(prog.positive, cut, chunks=((3, 3, 3),))
        self.assertEqual(told.shape, (9,))
        self.same(told, np.arange(1, 10.0))
        with self.assertRaisesRegex(ValueError, r"shape \(3,\), not \(4\)\n`positive` failed in block \(\d,\) at \[\d+:\d+\]"):
            blocks.map_blocks(prog.positive, cut, chunks=(4,)).compute()

    def test_blocks_of_sizes_that_are_not_known(self):
        prog = program()
        xs = np.random.default_rng(3).normal(size=40)
        some = blocks.map_blocks(prog.positive, da.from_array(xs, chunks=7))
        self.same(blocks.map_blocks(prog.squares1, some), xs[xs > 0] ** 2)
        self.same(blocks.map_blocks(prog.axpy, 2.0, some, some), xs[xs > 0] * 3)
        self.same(blocks.reduce(prog.total1, prog.add, some), np.asarray(xs[xs > 0].sum()))
        self.same(blocks.scan(prog.sums1, prog.add, prog.after1, some), xs[xs > 0].cumsum())

    def test_tuples_and_records_are_arrays_each(self):
        xs, ys = np.arange(9.0), np.arange(9) * 3
        given = (da.from_array(xs, chunks=4), da.from_array(ys, chunks=5))
        found = blocks.map_blocks(program().split, given)
        self.same(found.first, xs)
        self.same(found.second, ys)
        value = blocks.call(program().split, given).compute()
        np.testing.assert_array_equal(value.second, ys)

    def test_scalars_numpy_arrays_and_delayed_values_are_whole(self):
        prog = program()
        cut = da.ones((6, 4), chunks=(2, 4))
        ws = np.arange(4.0)
        for given in (ws, dask.delayed(ws), list(ws)):
            self.same(blocks.map_blocks(prog.weighted, cut, given), np.ones((6, 4)) * ws)
        half = blocks.call(prog.add, 0.25, dask.delayed(0.25))
        self.same(blocks.map_blocks(prog.axpy, half, da.ones(5, chunks=2), da.zeros(5, chunks=2)), np.full(5, 0.5))

    def test_calls_take_arrays_whole(self):
        prog = program()
        for xs, cut in arrays(2):
            np.testing.assert_array_equal(blocks.call(prog.turned, cut).compute(), xs.T)
            self.assertAlmostEqual(blocks.call(prog.total2, cut).compute(), xs.sum())
        some = da.from_array(np.arange(12.0), chunks=5)
        graphs = []
        for _ in range(4):
            some = da.from_delayed(blocks.call(prog.squares1, some), (12,), dtype="f8").rechunk(5)
            graphs.append(len(dict(some.__dask_graph__())))
        steps = np.diff(graphs)
        self.assertTrue((steps == steps[0]).all(), graphs)

    def test_graphs_are_lazy_and_have_the_program_once(self):
        prog = program()
        cut = da.ones(300, chunks=1)
        found = blocks.map_blocks(prog.squares1, cut)
        again = blocks.map_blocks(pickle.loads(pickle.dumps(program())).squares1, cut)
        self.assertEqual(found.name, again.name)
        self.assertNotEqual(found.name, blocks.map_blocks(program(threads=1).squares1, cut).name)
        code = prog.to_bytecode()
        graph = dict(found.__dask_graph__())
        whole = sum(len(pickle.dumps(value)) for value in graph.values())
        self.assertEqual(sum(code in pickle.dumps(value) for value in graph.values()), 1)
        # With its entry point and place, a task is less than the program.
        self.assertLess(whole / len(graph), len(code) / 2)

    def test_what_makes_blocks_is_one_task_with_the_call(self):
        prog = program()
        chain = blocks.map_blocks(prog.squares1, blocks.map_blocks(prog.squares1, da.ones(300, chunks=1) + 1))
        (chain,) = dask.optimize(chain)
        self.assertEqual(len(dict(chain.__dask_graph__())), 301)
        (total,) = dask.optimize(blocks.reduce(prog.total1, prog.add, da.ones(64, chunks=1), split_every=8))
        self.assertLessEqual(len(dict(total.__dask_graph__())), 64 + 8 + 1 + 1)


class Reduce(Blocks):
    def test_blocks_of_all_ranks(self):
        prog = program()
        for rank in (1, 2, 3):
            for (xs, cut), split_every in itertools.product(arrays(rank), (2, 8)):
                found = blocks.reduce(prog.entries[f"total{rank}"], prog.add, cut, split_every=split_every)
                self.same(found, np.asarray(xs.sum()))

    def test_sizes_of_the_result_stay(self):
        prog = program()
        for xs, cut in arrays(2):
            found = blocks.reduce(prog.columns, prog.add_rows, cut, split_every=2)
            self.assertEqual(found.chunks, cut.chunks[1:])
            self.same(found, xs.sum(0))
            sums, counts = blocks.reduce(prog.moments, prog.add_moments, cut)
            self.same(sums, xs.sum(0))
            self.same(counts, np.full(xs.shape[1], xs.shape[0]))
        a, b = np.random.default_rng(0).normal(size=(9, 7)), np.random.default_rng(1).normal(size=(7, 8))
        found = blocks.reduce(prog.product, prog.add_matrices, da.from_array(a, chunks=(4, 3)), da.from_array(b, chunks=(2, 5)))
        self.assertEqual(found.chunks, ((4, 4, 1), (5, 3)))
        self.same(found, a @ b)

    def test_records_in_the_order_of_the_blocks(self):
        prog = program()
        cut = da.from_array(np.arange(40.0), chunks=((5, 0, 1, 20, 4, 10, 0),))
        for split_every in (2, 3, 100):
            found = blocks.reduce(prog.range, prog.outer, cut, split_every=split_every)
            self.assertEqual(tuple(found.compute()), (0.0, 39.0, True))
            self.assertEqual(blocks.call(prog.width, found).compute(), 39.0)

    def test_histograms(self):
        prog = program()
        for chunks in (((100,),), ((0, 33, 67),), tuple([(1,) * 100])):
            xs = np.random.default_rng(2).integers(0, 12, 100)
            cut = da.from_array(xs, chunks=chunks)
            found = blocks.histogram(prog.counts, 12, cut)
            self.assertEqual(found.shape, (12,))
            self.same(found, np.bincount(xs, minlength=12))
            self.same(blocks.histogram(prog.counts, blocks.call(prog.counts, 1, xs * 0)[0] * 0 + 12, cut), np.bincount(xs, minlength=12))
            found = blocks.histogram(prog.greatest, cut, combine=prog.max4)
            self.same(found, np.array([xs[xs % 4 == k].max() for k in range(4)]))


class Scan(Blocks):
    def test_along_each_axis(self):
        prog = program()
        for xs, cut in arrays(1):
            self.same(blocks.scan(prog.sums1, prog.add, prog.after1, cut), xs.cumsum())
        for (xs, cut), axis in itertools.product(arrays(2), (0, 1, -1)):
            found = blocks.scan(prog.sums2, prog.add_rows, prog.after2, cut, axis=axis)
            self.assertEqual(found.chunks, cut.chunks)
            self.same(found, xs.cumsum(axis))

    def test_operators_of_tuples(self):
        prog = program()
        rng = np.random.default_rng(4)
        a, b = rng.normal(size=(2, 30))
        x, wanted = 0.0, []
        for k in range(30):
            x = a[k] * x + b[k]
            wanted.append(x)
        given = tuple(da.from_array(part, chunks=((0, 4, 0, 13, 13, 0),)) for part in (a, b))
        _, found = blocks.scan(prog.steps, prog.onward, prog.after_steps, given)
        self.same(found, np.array(wanted))


class Stencil(Blocks):
    MODES = {"reflect": "symmetric", "periodic": "wrap", "nearest": "edge", 0.0: "constant"}

    def around(self, xs, depths, boundary):
        if boundary == "none":
            return xs
        return np.pad(xs, [(depth, depth) for depth in depths], mode=self.MODES[boundary])

    def test_blocks_of_all_ranks(self):
        prog = program()
        wanted = {
            1: lambda xs: xs[:-4] + 2 * xs[2:-2] + 3 * xs[4:],
            2: lambda xs: xs[:-2, 1:-1] + 2 * xs[2:, 1:-1] + 3 * xs[1:-1, :-2],
            3: lambda xs: xs[:-2, :, 1:-1] + 2 * xs[2:, :, 1:-1] + 3 * xs[1:-1, :, 2:],
        }
        depths = {1: (2,), 2: (1, 1), 3: (1, 0, 1)}
        chunks = {1: (7, 20, 23), 2: ((3, 9), (5, 1, 4)), 3: ((2, 3), (4, 1), (1, 5, 2))}
        for rank, boundary in itertools.product((1, 2, 3), [*self.MODES, "none"]):
            xs = np.random.default_rng(rank).normal(size=tuple(map(sum, chunks[rank] if rank > 1 else (chunks[1],))))
            cut = da.from_array(xs, chunks=chunks[rank] if rank > 1 else (chunks[1],))
            for xs, cut in ((xs, cut), (xs.T, cut.T)):
                depth = depths[rank]
                found = blocks.stencil(prog.entries[f"smooth{rank}"], cut, depth=depth, boundary=boundary)
                self.same(found, wanted[rank](self.around(xs, depth, boundary)))

    def test_what_does_not_fit_says_so(self):
        prog = program()
        cut = da.ones(12, chunks=4)
        with self.assertRaisesRegex(ValueError, r"shape \(8,\), not \(4\)\n`too_small` failed in block \(\d,\) at \[\d+:\d+\]"):
            blocks.stencil(prog.too_small, cut, depth=2).compute()
        with self.assertRaisesRegex(ValueError, "depth is a number, or 1 of them"):
            blocks.stencil(prog.smooth1, cut, depth=(1, 2))
        with self.assertRaisesRegex(TypeError, "gives arrays of 1 dimensions, `total1` gives f64"):
            blocks.stencil(prog.total1, cut, depth=1)


class Sums(Blocks):
    def test_they_are_arguments_for_all_blocks(self):
        prog = program()
        xs, variant = np.arange(10.0), galopvm.variant
        cut = da.from_array(xs, chunks=3)
        self.same(blocks.map_blocks(prog.changed, variant.add(5), cut), xs + 5)
        self.same(blocks.map_blocks(prog.changed, "none", cut), xs)
        self.same(blocks.map_blocks(prog.changed, variant.none(), cut), xs)
        self.same(blocks.map_blocks(prog.changed, variant.scale(np.array([1.0, 2.0]), 2), cut), xs * 6)
        # What a call gives goes on, alone and in a tuple.
        kept = blocks.call(prog.kept, 2.0, da.from_array(np.ones(3), chunks=2))
        self.same(blocks.map_blocks(prog.changed, kept, cut), xs * 6)
        pair = blocks.call(prog.first_and_sum, cut)
        self.assertEqual(blocks.call(prog.of_two, pair, (variant.some(1), 1.0)).compute(), (variant.some(0.0), 46.0))
        none = blocks.call(prog.of_two, ("none", 2.0), (variant.none(), 1.0))
        self.assertEqual(none.compute(), (variant.none(), 3.0))

    def test_names_tell_constructors_and_what_they_hold_apart(self):
        prog = program()
        cut, variant = da.ones(4, chunks=2), galopvm.variant
        values = [variant.add(1), variant.add(2), variant.none(), variant.scale(np.ones(2), 1), variant.scale(np.ones(3), 1)]
        self.assertEqual(len({blocks.map_blocks(prog.changed, value, cut).name for value in values}), len(values))
        named = [blocks.map_blocks(prog.changed, variant.scale(np.ones(2), 1), cut).name for _ in range(2)]
        self.assertEqual(*named)
        self.assertNotEqual(dask.base.tokenize(variant.a(1)), dask.base.tokenize(variant.b(1)))

    def test_they_are_combined(self):
        prog = program()
        for xs, cut in arrays(1):
            wanted = galopvm.variant.some(xs[0]) if len(xs) else galopvm.variant.none()
            found = blocks.reduce(prog.maybe, prog.first, cut, split_every=2)
            self.assertEqual(found.compute(), wanted)
            first, total = blocks.reduce(prog.first_and_sum, prog.of_two, cut).compute()
            self.assertEqual(first, wanted)
            self.assertAlmostEqual(total, xs.sum())
        found = blocks.reduce(prog.maybe, prog.greater, da.from_array(np.array([3.0, 9.0, 5.0, 1.0]), chunks=2))
        self.assertEqual(found.compute(), galopvm.variant.some(5.0))

    def test_what_a_worker_keeps_is_its_own(self):
        prog = program(memory_limit=1 << 20)
        kept = [blocks.call(prog.kept, float(k), np.full(50_000, float(k))) for k in range(8)]
        for number, value in enumerate(dask.compute(*kept)):
            self.assertEqual(type(value), galopvm.variant.scale)
            np.testing.assert_array_equal(value[0], np.full(50_000, number))

    def test_texts_of_types(self):
        from galopvm.types import Opaque, Sum, type_of

        for text in ["#none | #some f64", "#a ([n]f64) ([m]i32, bool) | #b (#c | #d {x: f32}) i8", "#x'"]:
            self.assertEqual((type(type_of(text)), str(type_of(text))), (Sum, text))
        # Entry points write arrays without parentheses.
        self.assertEqual(str(type_of("#a [n]f64 [m][2]i32 | #b")), "#a ([n]f64) ([m][2]i32) | #b")
        self.assertEqual(str(type_of("(#a | #b i32, *[n](f32, i8))")), "(#a | #b i32, ([n]f32, [n]i8))")
        for text in ["[n](#a | #b)", "#a #b", "#a |", "#", "#a f64,", "# | #a", "#a m.t ?"]:
            self.assertIsInstance(type_of(text), Opaque, text)


class Errors(Blocks):
    def test_what_does_not_fit_says_so_before_anything_runs(self):
        prog = program()
        xs, rows = da.ones(9, chunks=3), da.ones((6, 6), chunks=3)
        cases = [
            (TypeError, "needs an entry point of a program, not ufunc", lambda: blocks.map_blocks(np.sin, xs)),
            (TypeError, "`squares1` takes `xs`: .n.f64, that is float64 of 1 dimensions, not float32 of 1", lambda: blocks.map_blocks(prog.squares1, xs.astype("f4"))),
            (TypeError, "not float64 of 2", lambda: blocks.map_blocks(prog.squares1, rows)),
            (TypeError, r"takes 1 arguments \(xs: \[n\]f64\), 2 are given", lambda: blocks.map_blocks(prog.squares1, xs, xs)),
            (ValueError, "the size n of `axpy` is 9 in `xs` and 8 in `ys`", lambda: blocks.map_blocks(prog.axpy, 1.0, xs, da.ones(8))),
            (ValueError, r"`total1` gives f64 for each block, but there are 3 blocks along \[n\]", lambda: blocks.map_blocks(prog.total1, xs)),
            (ValueError, r"2 blocks along \[k\]", lambda: blocks.map_blocks(prog.product, rows, rows)),
            (ValueError, r"`weighted` takes `ws`: \[m\]f64, which is given whole, but \[m\] is cut into 2 blocks", lambda: blocks.map_blocks(prog.weighted, rows, np.ones(6))),
            (ValueError, "the size m of `weighted` is 6, but 5 in `ws`", lambda: blocks.map_blocks(prog.weighted, rows.rechunk(-1), np.ones(5))),
            (ValueError, "as many rows as columns", lambda: blocks.map_blocks(prog.square, rows)),
            (ValueError, r"`three` takes `xs`: \[n\]\[3\]f64, not an array of the shape \(6, 6\)", lambda: blocks.map_blocks(prog.three, rows)),
            (ValueError, "3 elements along one axis, which has 3 blocks", lambda: blocks.map_blocks(prog.three, da.ones((4, 3), chunks=1))),
            (ValueError, "in blocks .3,., for which chunks=", lambda: blocks.map_blocks(prog.positive, xs, chunks=((1, 2),))),
            (TypeError, "give a tuple of arrays", lambda: blocks.map_blocks(prog.split, xs)),
            (TypeError, "is made of 2 values", lambda: blocks.map_blocks(prog.split, (xs,))),
            (TypeError, r"takes \(f64, f64\) and gives f64, but `add_rows` takes \(\[n\]f64, \[n\]f64\)", lambda: blocks.reduce(prog.total1, prog.add_rows, xs)),
            (TypeError, "needs an entry point of a program, not NoneType", lambda: blocks.reduce(prog.total1, None, xs)),
            (TypeError, r"of type \[n\]\(#none \| #some f64\): its values cannot travel", lambda: blocks.map_blocks(prog.positives, xs)),
            (TypeError, "takes .#none . #some f64, #none . #some f64. and gives", lambda: blocks.reduce(prog.maybe, prog.maybe, xs)),
            (TypeError, "of which there are no Dask arrays: map_blocks", lambda: blocks.map_blocks(prog.maybe, xs)),
            (TypeError, "of which there are no Dask arrays: reduce", lambda: blocks.reduce(prog.first_and_sums, prog.of_both, rows)),
            (TypeError, "has no sum: histogram needs", lambda: blocks.histogram(prog.maybe, xs)),
            (TypeError, "gives a row for each row", lambda: blocks.scan(prog.maybe, prog.first, prog.after1, xs)),
            (TypeError, "`by`: a value of #add f64 . #none . #scale ..m.f64. f64 is made by a constructor", lambda: blocks.map_blocks(prog.changed, 3, xs)),
            (TypeError, "#add holds a Dask value", lambda: blocks.map_blocks(prog.changed, galopvm.variant.add(xs.sum()), xs)),
            (TypeError, "give one of its constructors", lambda: blocks.map_blocks(prog.changed, xs, xs)),
            (ValueError, "split_every", lambda: blocks.reduce(prog.total1, prog.add, xs, split_every=1)),
            (TypeError, r"gives a row for each row \[n\], `total1` gives f64", lambda: blocks.scan(prog.total1, prog.add, prog.after1, xs)),
            (TypeError, "but `add` takes", lambda: blocks.scan(prog.sums2, prog.add, prog.after2, rows)),
        ]
        for kind, text, attempt in cases:
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                attempt()

    def test_exceptions_say_which_block(self):
        prog = program()
        xs = np.zeros((10, 12))
        xs[7, 9] = 200
        failing = blocks.map_blocks(prog.checked, da.from_array(xs, chunks=(4, 5)))
        text = r"blocks.fut:\d+(.|\n)*`checked` failed in block \(1, 1\) at \[4:8, 5:10\], with xs: float64 \(4, 5\)"
        with self.assertRaisesRegex(galopvm.RunError, text):
            failing.compute()

    def test_a_bound_of_memory_is_one_for_each_task(self):
        # A block's result takes 800 kB: one is within the bound, two are not, and all are held until the end.
        prog = program(memory_limit=1 << 20, threads=1)
        found = blocks.map_blocks(prog.filled, da.ones(1600, chunks=100))
        self.assertEqual(found.compute().sum(), 1_600_000)
        with self.assertRaisesRegex(galopvm.LimitError, r"`filled` failed in block \(0,\) at \[0:200\]"):
            blocks.map_blocks(prog.filled, da.ones(200, chunks=200)).compute()


@unittest.skipIf(distributed is None, "distributed is not installed: pip install distributed")
class Cluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        quiet = {"distributed.worker.memory.terminate": False, "distributed.admin.log-format": "%(message)s"}
        with dask.config.set(quiet):
            cls.cluster = distributed.LocalCluster(
                n_workers=4, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL", memory_limit=0
            )
        cls.client = distributed.Client(cls.cluster)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.cluster.close()

    def test_other_processes_of_dask(self):
        prog = program(threads=1)
        found = blocks.reduce(prog.range, prog.outer, da.arange(20, chunks=6, dtype="f8"))
        self.assertEqual(tuple(found.compute(scheduler="processes", num_workers=2)), (0.0, 19.0, True))

    def test_sums_travel(self):
        prog = program(threads=1)
        xs = da.arange(20, chunks=6, dtype="f8")
        greatest = blocks.reduce(prog.maybe, prog.greater, xs, split_every=2)
        self.assertEqual(greatest.compute(), galopvm.variant.some(18.0))
        kept = blocks.call(prog.kept, 2.0, da.ones(3))
        np.testing.assert_array_equal(blocks.map_blocks(prog.changed, kept, xs), np.arange(20.0) * 6)

    def test_a_worker_loads_a_program_once(self):
        prog = program(threads=1, fuel=1 << 50)
        xs = da.ones(400, chunks=10)
        self.assertEqual(blocks.map_blocks(prog.squares1, xs).sum().compute(), 400)
        self.assertEqual(blocks.reduce(prog.total1, prog.add, xs).compute(), 400)

        def loaded():
            from galopvm import carried

            return len(carried._loaded.found)

        before = self.client.run(loaded)
        blocks.scan(prog.sums1, prog.add, prog.after1, xs).compute()
        blocks.map_blocks(prog.squares1, xs + 1).compute()
        for worker, count in self.client.run(loaded).items():
            self.assertLessEqual(count, max(before[worker], 1))

    def test_entry_points_alone(self):
        prog = program(threads=1)
        found = self.client.map(prog.total1, [np.arange(float(k)) for k in range(8)])
        self.assertEqual(self.client.gather(found), [k * (k - 1) / 2 for k in range(8)])

    def test_errors_arrive(self):
        xs = da.from_array(np.array([[0.0, 0], [0, 200]]), chunks=1)
        with self.assertRaisesRegex(galopvm.RunError, r"`checked` failed in block \(1, 1\) at \[1:2, 1:2\]"):
            blocks.map_blocks(program(threads=1).checked, xs).compute()

    def test_a_killed_worker_loses_nothing(self):
        prog = program(threads=1)
        xs = np.arange(48_000.0)
        turned = blocks.map_blocks(prog.slow, 20_000, da.from_array(xs, chunks=1000)).persist()
        sums = blocks.scan(prog.sums1, prog.add, prog.after1, turned)
        total = blocks.reduce(prog.total1, prog.add, turned)
        lost = []

        def kill():
            """One of the workers, as soon as it holds results."""
            end = time.time() + 20
            while time.time() < end:
                held = self.client.run_on_scheduler(
                    lambda dask_scheduler: {address: len(worker.has_what) for address, worker in dask_scheduler.workers.items()}
                )
                busy = [address for address, count in held.items() if count > 2]
                if busy:
                    (pid,) = self.client.run(os.getpid, workers=busy[:1]).values()
                    os.kill(pid, signal.SIGKILL)
                    lost.append(pid)
                    return
                time.sleep(0.01)

        killer = threading.Thread(target=kill)
        killer.start()
        again, total = dask.compute(sums, total)
        killer.join()
        self.assertEqual(len(lost), 1)
        # The function that is iterated comes to 2, whatever it begins with.
        np.testing.assert_allclose(again, 2 * np.arange(1, 48_001.0))
        self.assertAlmostEqual(total, 96_000)
        # What was computed again is the same to the last bit.
        np.testing.assert_array_equal(again, sums.compute())


class Examples(unittest.TestCase):
    def test_the_page_for_users_shows_what_is_true(self):
        (code,) = shown.page("scaling.md", "# More than one machine")
        found, wanted = shown.printed(code)
        self.assertEqual(found, wanted)

    def test_the_module_shows_what_is_true(self):
        self.assertEqual(doctest.testmod(blocks).failed, 0)

    def test_k_means(self):
        *centres, cost = shown.example("kmeans.py")
        texts = [line.split(" points around ")[1] for line in centres]
        places = np.array([ast.literal_eval(text) for text in texts])
        np.testing.assert_allclose(places, [[0, 0], [4, 9], [8, 1]], atol=0.02)
        self.assertEqual(sum(int(line.split()[0]) for line in centres), 400_000)
        # Of a variance of 1 in each of two dimensions.
        self.assertRegex(cost, r"distance (2.0|1.9)")

    def test_terrain(self):
        *counts, steepest = shown.example("terrain.py")
        along = np.arange(2000, dtype="f4") * np.float32(5)
        xs, ys = along[None, :], along[:, None]
        heights = 800 * np.exp(-((xs - 4000) ** 2 + (ys - 6000) ** 2) / 6e6) + 20 * np.sin(xs / 90) * np.sin(ys / 70)
        around = np.pad(heights, 1, mode="edge")
        slopes = np.hypot(around[1:-1, 2:] - around[1:-1, :-2], around[2:, 1:-1] - around[:-2, 1:-1]) / 10
        wanted = np.histogram(slopes, bins=8, range=(0, 1))[0]
        # A slope on the edge of two bins may round to either.
        np.testing.assert_allclose([int(line.split()[-1]) for line in counts], wanted, atol=50)
        self.assertIn(f"steepest {slopes.max():.3f}", steepest)

    def test_stubs_name_what_is_there(self):
        with open(os.path.splitext(blocks.__file__)[0] + ".pyi", encoding="utf-8") as file:
            tree = ast.parse(file.read())
        found = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertEqual(sorted(found), sorted(blocks.__all__))
        for name, given in found.items():
            names = [argument.arg for argument in [*given.args, *given.kwonlyargs]]
            has = [p.name for p in inspect.signature(getattr(blocks, name)).parameters.values() if p.kind != p.VAR_POSITIONAL]
            self.assertEqual(names, has, name)


if __name__ == "__main__":
    unittest.main()
