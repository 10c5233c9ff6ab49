"""Arrays that lie in files of NumPy's formats."""

import os
import sys
import tempfile
import unittest

import numpy as np

import galopvm
import large

SOURCE = """
entry at [n] (xs: [n]f64) (i: i64): f64 = xs[i]
entry total [n] (xs: [n]f64): f64 = f64.sum xs
entry changed [n] (xs: *[n]f64): *[n]f64 = xs with [0] = 77
entry axpy [n] (a: f64) (xs: [n]f64) (ys: [n]f64) (times: i64): [n]f64 = map2 (\\x y -> f64.i64 times * a * x + y) xs ys
entry distance (p: {x: f64, y: f64}): f64 = f64.sqrt (p.x ** 2 + p.y ** 2)
"""


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = galopvm.compile(SOURCE)

    @unittest.skipUnless(sys.platform == "linux", "reads what Linux says of a process")
    def test_mapped_arrays_are_read_where_they_are_needed(self):
        array = np.load(large.write(self.folder), mmap_mode="r")
        self.assertEqual(self.program.at(array[:1000], 1), 0.0)
        before, copied = large.resident(), self.program.memory["copied_bytes"]
        self.assertEqual(self.program.at(array, large.ELEMENTS - 1), 7.0)
        self.assertEqual(self.program.at(array[::-1], 0), 7.0)
        self.assertEqual(self.program.total(array[-1000:]), 7.0)
        self.assertLess(large.resident() - before, 16 << 20)
        self.assertEqual(self.program.memory["copied_bytes"], copied)

    def test_mapped_arrays_are_never_written(self):
        path = os.path.join(self.folder, "few.npy")
        np.save(path, np.arange(5.0))
        for mode in ("r", "r+", "c"):
            array = np.load(path, mmap_mode=mode)
            self.assertEqual(self.program.changed(array).tolist(), [77.0, 1.0, 2.0, 3.0, 4.0])
            self.assertEqual(array.tolist(), [0.0, 1.0, 2.0, 3.0, 4.0])
            # A file that is mapped cannot be removed everywhere.
            del array
        self.assertEqual(np.load(path).tolist(), [0.0, 1.0, 2.0, 3.0, 4.0])

    def test_archives_are_arguments_by_their_names(self):
        path = os.path.join(self.folder, "some.npz")
        np.savez(path, xs=np.arange(3.0), ys=np.ones(3), a=10.0, times=2)
        with np.load(path) as archive:
            self.assertEqual(self.program.axpy(**archive).tolist(), [1.0, 21.0, 41.0])
            self.assertEqual(self.program.total(archive["xs"]), 3.0)
        np.savez(path, x=3.0, y=4.0)
        with np.load(path) as archive:
            self.assertEqual(self.program.distance(dict(archive)), 5.0)

    def test_results_are_saved(self):
        path = os.path.join(self.folder, "result.npy")
        np.save(path, self.program.changed(np.arange(3.0)))
        self.assertEqual(np.load(path).tolist(), [77.0, 1.0, 2.0])


if __name__ == "__main__":
    unittest.main()
