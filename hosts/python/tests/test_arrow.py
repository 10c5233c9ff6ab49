"""Arrays and columns of Arrow, as pyarrow has them: in and out without a copy."""

import datetime
import os
import sys
import tempfile
import unittest

import numpy as np

import galopvm
import large
import shown

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise unittest.SkipTest(f"pyarrow is not installed: pip install pyarrow ({error})") from None

ELEMENTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"]
SOURCE = "".join(f"entry next_{ty} [n] (xs: [n]{ty}): [n]{ty} = map (+ 1) xs\n" for ty in ELEMENTS)
SOURCE += """
entry more [n] (xs: [n]f64): [n]f64 = map (+ 1) xs
entry at [n] (xs: [n]f64) (i: i64): f64 = xs[i]
entry flags [n] (xs: [n]bool): [n]bool = map (\\x -> !x) xs
entry later [n] (days: [n]i32): [n]i32 = map (+ 1) days
entry worth [n] (trades: [n]{price: f64, size: i64}): f64 = f64.sum (map (\\t -> t.price * f64.i64 t.size) trades)
"""


def address(array):
    return array.__array_interface__["data"][0]


class Columns(unittest.TestCase):
    def setUp(self):
        self.program = galopvm.compile(SOURCE)

    def uncopied(self, entry, *arguments):
        """The result of a call that copies nothing inside of the program."""
        before = self.program.memory["copied_bytes"]
        found = entry(*arguments)
        self.assertEqual(self.program.memory["copied_bytes"], before)
        return found

    def test_arrays_of_all_elements(self):
        for ty in ELEMENTS:
            dtype = {"i": "int", "u": "uint", "f": "float"}[ty[0]] + ty[1:]
            array = pa.array(np.arange(10).astype(dtype))
            for part in (array, array[3:7], array[:0]):
                found = self.uncopied(self.program.entries[f"next_{ty}"], part)
                self.assertEqual((found.dtype, found.tolist()), (np.dtype(dtype), [x + 1 for x in part.to_pylist()]))
            lent = np.from_dlpack(array[3:7])
            self.assertEqual(address(lent), array.buffers()[1].address + 3 * lent.itemsize)

    @unittest.skipUnless(sys.platform == "linux", "reads what Linux says of a process")
    def test_what_is_lent_is_the_memory_of_arrow(self):
        # Memory that is mapped shows it: a copy would read all of it.
        with tempfile.TemporaryDirectory() as folder:
            buffer = pa.py_buffer(np.load(large.write(folder), mmap_mode="r"))
            array = pa.Array.from_buffers(pa.float64(), large.ELEMENTS, [None, buffer])
            table = pa.table({"xs": array})
            self.assertEqual(self.program.at(array[:1000], 1), 0.0)
            before = large.resident()
            for column in (array, array[1 << 20 :], pa.chunked_array([array]), table["xs"], table.slice(1 << 20)["xs"]):
                self.assertEqual(self.uncopied(self.program.at, column, len(column) - 1), 7.0)
            self.assertLess(large.resident() - before, 16 << 20)
            del buffer, array, table, column

    def test_columns_in_several_pieces_become_one(self):
        column = pa.chunked_array([np.arange(3.0), np.arange(0.0), np.arange(2.0)])
        self.assertEqual(self.program.more(column).tolist(), [1.0, 2.0, 3.0, 1.0, 2.0])
        self.assertEqual(self.program.more(pa.chunked_array([], type=pa.float64())).tolist(), [])

    def test_a_table_is_a_record_of_its_columns(self):
        table = pa.table({"size": [1, 2], "price": [10.0, 0.5], "name": ["a", "b"]})
        trades = {name: table[name] for name in ("price", "size")}
        self.assertEqual(self.uncopied(self.program.worth, trades), 11.0)

    def test_nulls_have_to_be_filled(self):
        array = pa.array([1.0, None, 3.0])
        for column in (array, pa.chunked_array([array]), pa.array([1, None]), pa.chunked_array([pa.array([1, None])])):
            with self.assertRaises(TypeError) as caught:
                self.program.more(column)
            self.assertIn("`xs` lacks 1 of its values (null)", str(caught.exception))
            self.assertIn("fill_null", str(caught.exception))
        for column in (array, pa.chunked_array([array])):
            self.assertEqual(self.program.more(column.fill_null(0)).tolist(), [2.0, 1.0, 4.0])
            self.assertEqual(self.program.more(column.drop_null()).tolist(), [2.0, 4.0])

    def test_elements_that_programs_have_not_are_converted_by_arrow(self):
        days = pa.array([datetime.date(2024, 2, 28), datetime.date(2024, 12, 31)])
        numbers = days.cast(pa.int32())
        self.assertEqual(numbers.buffers()[1].address, days.buffers()[1].address)
        later = pa.array(self.uncopied(self.program.later, numbers)).cast(pa.date32())
        self.assertEqual(later.to_pylist(), [datetime.date(2024, 2, 29), datetime.date(2025, 1, 1)])
        for wrong in (days, pa.array(["a"]), pa.array([1.0]).dictionary_encode(), pa.array([[1.0]]), pa.table({"a": [1.0]})):
            with self.assertRaises(TypeError) as caught:
                self.program.more(wrong)
            self.assertIn("`xs` is an array []f64", str(caught.exception))
            self.assertNotIn("other elements", str(caught.exception))

    def test_columns_of_truth_values(self):
        for column in (pa.chunked_array([[True, False], [True]]), pa.array([True, False, True])):
            self.assertEqual(self.program.flags(column).tolist(), [False, True, False])

    def test_results_become_arrays_of_arrow_without_a_copy(self):
        found = self.program.more(np.arange(1000.0))
        array = pa.array(found)
        self.assertEqual((array.type, array.null_count, array.buffers()[1].address), (pa.float64(), 0, address(found)))
        del found
        self.assertEqual(array[-1].as_py(), 1000.0)
        self.assertEqual(pa.table({"more": array})["more"].chunk(0).buffers()[1].address, array.buffers()[1].address)


class Examples(unittest.TestCase):
    def test_prices(self):
        with tempfile.TemporaryDirectory() as folder:
            trades, prices = os.path.join(folder, "trades.parquet"), os.path.join(folder, "prices.parquet")
            text = shown.example("prices.py", trades, prices, "--make", "--count", "20000", "--seconds", "30", "--width", "4")
            given, found = pq.read_table(trades), pq.read_table(prices)
        self.assertIn("20000 trades in 8 row groups", text[0])
        given = given.filter(given["size"].is_valid())
        time, price, size = (given[name].to_numpy() for name in ("time", "price", "size"))
        which = time.astype("M8[us]").astype(np.int64) // 30_000_000
        which -= which[0]
        volume, worth = np.bincount(which, size), np.bincount(which, size * price)
        some = np.flatnonzero(volume)
        # There are steps without trade.
        self.assertLess(len(some), len(volume))
        np.testing.assert_array_equal(found["volume"], volume[some])
        np.testing.assert_allclose(found["mean"], (worth / np.maximum(volume, 1))[some])
        sums = [np.convolve(sizes, np.ones(4))[some] for sizes in (worth, volume)]
        np.testing.assert_allclose(found["moving"], sums[0] / sums[1])
        np.testing.assert_array_equal(found["low"], [price[which == step].min() for step in some])
        np.testing.assert_array_equal(found["high"], [price[which == step].max() for step in some])
        times = found["time"].to_numpy().astype("M8[us]").astype(np.int64)
        np.testing.assert_array_equal(np.diff(times) // 30_000_000, np.diff(some))
        self.assertEqual(times[0] // 30_000_000, time[0].astype("M8[us]").astype(np.int64) // 30_000_000)

    def test_the_page_for_users_shows_what_is_true(self):
        (code,) = shown.page("embedding.md", "### Arrow, Parquet and NumPy's files")
        self.addCleanup(os.chdir, os.getcwd())
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            found, wanted = shown.printed(code)
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
