"""Arrays that come from files: columns of Arrow, and NumPy's files in memory."""

import os
import tempfile
import unittest

import numpy as np

import galopvm

try:
    import pyarrow
except ImportError:
    pyarrow = None

SOURCE = """
entry same (xs: []f64): []f64 = xs
entry more (xs: []f64): []f64 = map (+ 1) xs
entry flipped (xs: []bool): []bool = map (\\x -> !x) xs
entry sum [n] [m] (xs: [n][m]f32): f64 = f64.sum (map (\\row -> f64.f32 (f32.sum row)) xs)
entry first [n] (xs: [n]f64): f64 = xs[0]
"""


@unittest.skipIf(pyarrow is None, "pyarrow is not installed")
class Columns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = galopvm.compile(SOURCE)

    def test_a_column_is_looked_at_where_it_lies(self):
        column = pyarrow.array(np.arange(1e6))
        copied = self.program.memory["copied_bytes"]
        self.assertEqual(self.program.first(column), 0.0)
        self.assertEqual(self.program.first(column[7:]), 7.0)
        self.assertEqual(self.program.memory["copied_bytes"], copied)

    def test_a_result_becomes_a_column_without_a_copy(self):
        found = self.program.more(pyarrow.array([1.0, 2.5]))
        column = pyarrow.array(found)
        self.assertEqual(column.buffers()[1].address, found.__array_interface__["data"][0])
        self.assertEqual(column.to_pylist(), [2.0, 3.5])

    def test_columns_of_tables_go_in(self):
        table = pyarrow.table({"x": pyarrow.chunked_array([[1.0], [2.0, 3.0]]), "is": [True, False, True]})
        self.assertEqual(self.program.more(table["x"]).tolist(), [2.0, 3.0, 4.0])
        self.assertEqual(self.program.flipped(table["is"]).tolist(), [False, True, False])
        self.assertEqual(self.program.flipped(pyarrow.array([True, False])).tolist(), [False, True])

    def test_what_does_not_fit_is_told(self):
        lacking = pyarrow.array([1.0, None, None])
        for column in (lacking, pyarrow.chunked_array([lacking])):
            with self.assertRaises(TypeError) as caught:
                self.program.more(column)
            self.assertIn("`xs` lacks 2 of its values (null)", str(caught.exception))
            self.assertIn("fill_null", str(caught.exception))
        self.assertEqual(self.program.more(lacking.fill_null(0)).tolist(), [2.0, 1.0, 1.0])
        with self.assertRaises(TypeError) as caught:
            self.program.more(pyarrow.array([1, 2]))
        self.assertIn("not int64 of 1", str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            self.program.more(pyarrow.array(["a"]))
        self.assertIn("`xs` is an array []f64, not StringArray", str(caught.exception))


class Files(unittest.TestCase):
    def test_a_file_in_memory_is_looked_at_where_it_lies(self):
        program = galopvm.compile(SOURCE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "xs.npy")
            np.save(path, np.ones((500, 300), dtype=np.float32))
            xs = np.load(path, mmap_mode="r")
            before = program.memory
            self.assertEqual(program.sum(xs), 150_000)
            self.assertEqual(program.sum(xs[::-1, ::3]), 50_000)
            self.assertEqual(program.memory["copied_bytes"], before["copied_bytes"])
            np.savez(os.path.join(folder, "both.npz"), a=xs[:2], b=np.arange(3.0))
            with np.load(os.path.join(folder, "both.npz")) as both:
                self.assertEqual((program.sum(both["a"]), program.first(both["b"])), (600, 0.0))
            # The file is closed before its folder goes.
            del xs
