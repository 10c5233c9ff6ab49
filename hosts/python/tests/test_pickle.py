"""Programs, entry points and records that go from process to process."""

import copy
import multiprocessing
import pickle
import threading
import unittest

import numpy as np

import galopvm
from galopvm import carried

SOURCE = """
entry more [n] (xs: [n]f64): [n]f64 = map (+ 1) xs
entry take (n: i64): []f64 = replicate n 1
entry point (x: f64): {x: f64, of: {y: f64, z: i64}} = {x, of = {y = x + 1, z = 7}}
entry maybe (x: i32): #none | #some i32 = if x > 0 then #some x else #none
module m: {type t val make: i32 -> t} = {type t = (i32, i32) def make x = (x, x)}
entry make (x: i32): m.t = m.make x
"""


def called(given):
    """What a process of its own gives for an entry point and its argument."""
    entry, argument = given
    return entry(argument)


class Pickles(unittest.TestCase):
    def test_a_program_is_the_same_again(self):
        program = galopvm.compile(SOURCE, backend="vector", cpu="avx2", threads=1, memory_limit=1 << 20, timeout=20.0)
        again = pickle.loads(pickle.dumps(program))
        self.assertEqual(again.more([1.0]).tolist(), [2.0])
        self.assertEqual(again.to_bytecode(), program.to_bytecode())
        self.assertEqual(again.__reduce__()[1], program.__reduce__()[1])
        options = {"backend": "vector", "cpu": "avx2", "threads": 1, "memory_limit": 1 << 20, "timeout": 20.0}
        self.assertEqual(again.__reduce__()[1][1], options)
        with self.assertRaises(galopvm.LimitError):
            again.take(10_000_000)

    def test_an_entry_point_is_the_same_again(self):
        entry = galopvm.compile(SOURCE, fuel=1 << 40).more
        for again in (pickle.loads(pickle.dumps(entry)), copy.deepcopy(entry)):
            self.assertEqual((again.name, again.params, again.results), (entry.name, entry.params, entry.results))
            self.assertEqual(again(xs=[1.0]).tolist(), [2.0])

    def test_a_process_loads_a_program_once(self):
        program = galopvm.compile(SOURCE)
        some = [pickle.loads(pickle.dumps(each)) for each in (program, program, galopvm.compile(SOURCE))]
        self.assertTrue(all(each is some[0] for each in some))
        self.assertIs(pickle.loads(pickle.dumps(program.more)), some[0].more)
        self.assertIs(pickle.loads(pickle.dumps(some[0])), some[0])
        other = pickle.loads(pickle.dumps(galopvm.compile(SOURCE, threads=1)))
        self.assertIsNot(other, some[0])

    def test_threads_that_take_a_program_at_the_same_time_load_it_once(self):
        text = pickle.dumps(galopvm.compile(SOURCE + "entry other (x: i32): i32 = x"))
        begin, found = threading.Barrier(8), []

        def take():
            begin.wait()
            found.append(pickle.loads(text))

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({id(program) for program in found}), 1)

    def test_programs_that_nobody_used_for_long_are_let_go(self):
        first = pickle.loads(pickle.dumps(galopvm.compile(SOURCE, fuel=1)))
        code, _ = first.__reduce__()[1]
        for fuel in range(2, carried.KEPT + 2):
            carried.program(code, {"fuel": fuel})
        self.assertIsNot(pickle.loads(pickle.dumps(first)), first)

    def test_what_is_pickled_together_has_the_bytecode_once(self):
        program = galopvm.compile(SOURCE)
        alone, together = pickle.dumps(program.more), pickle.dumps([program, *program.entries.values()] * 3)
        self.assertLess(len(together), len(alone) + len(program.to_bytecode()) // 2)

    def test_values_are_pickled_if_programs_do_not_hide_them(self):
        program = galopvm.compile(SOURCE)
        record = program.point(1.0)
        again = pickle.loads(pickle.dumps(record))
        self.assertEqual((again, again.of.z, again._fields), (record, 7, ("of", "x")))
        self.assertIs(type(again), type(record))
        some = program.maybe(3)
        again = pickle.loads(pickle.dumps(some))
        self.assertEqual((again, type(again)), (some, type(some)))
        with self.assertRaises(TypeError):
            pickle.dumps(program.make(1))

    def test_functions_that_use_an_entry_point_take_it_with_them(self):
        try:
            import cloudpickle
        except ImportError:
            self.skipTest("cloudpickle, with which Dask, Ray and Spark send functions, is not installed")
        program = galopvm.compile(SOURCE)
        for function in (lambda xs: program.more(xs), program.more):
            self.assertEqual(cloudpickle.loads(cloudpickle.dumps(function))([1.0]).tolist(), [2.0])

    def test_entry_points_go_to_processes_of_their_own(self):
        program = galopvm.compile(SOURCE)
        work = [(program.more, np.arange(4.0) + k) for k in range(6)] + [(program.point, 2.0)]
        for method in ("spawn", "fork"):
            if method not in multiprocessing.get_all_start_methods():
                continue
            with multiprocessing.get_context(method).Pool(2) as pool:
                *arrays, point = pool.map(called, work)
            for k, array in enumerate(arrays):
                self.assertEqual(array.tolist(), [k + 1, k + 2, k + 3, k + 4])
            self.assertEqual(point.of.y, 3.0)


if __name__ == "__main__":
    unittest.main()
