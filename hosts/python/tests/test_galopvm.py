"""The package as users have it: from an installed wheel, on NumPy arrays."""

import doctest
import gc
import inspect
import os
import re
import signal
import sys
import threading
import time
import unittest
import weakref

import numpy as np

import galopvm
import shown

BACKENDS = ["interp", "vector", "x86", "auto"]

SOURCE = """
entry more [n] (xs: [n]f64): [n]f64 = map (+ 1) xs
entry rows [n] [m] (xs: [n][m]f32): [n][m]f32 = map (map (* 2)) xs
entry same [n] [m] (xs: [n][m]f64): [n][m]f64 = xs
entry both [n] (xs: [n]f64) = (map (+ 1) xs, 3i32)
entry twice [n] (xs: [n]f64) = let ys = map (+ 1) xs in (ys, reverse ys)
entry changed [n] (xs: *[n]i64): *[n]i64 = xs with [0] = 77
entry at [n] (xs: [n]i32) (i: i64) = xs[i]
entry spin (n: i64): i64 = loop x = 0 for i < n do x ^ i
entry take (n: i64): []f64 = replicate n 1
entry all (a: i8) (b: i16) (c: i32) (d: i64) (e: u8) (f: u16) (g: u32) (h: u64) (i: f16) (j: f32) (k: f64) (l: bool) =
  (a, b, c, d, e, f, g, h, i, j, k, l)
entry point (p: {x: f64, y: f64}): {x: f64, y: f64, norm: f64} = {x = p.y, y = p.x, norm = f64.sqrt (p.x ** 2 + p.y ** 2)}
entry points [n] (ps: [n](f64, i32)): [n]{a: i32, b: f64} = map (\\(b, a) -> {a, b}) ps
entry nested (t: ((i32, i32), f32)): (f32, (i32, i32)) = (t.1, t.0)
entry flags [n] (xs: [n]bool): [n]bool = map (\\x -> !x) xs
entry nothing (x: i32): () = ()
"""


def program(backend="auto", **options):
    return galopvm.compile(SOURCE, name="test.fut", backend=backend, **options)


def address(array):
    return array.__array_interface__["data"][0]


class Arrays(unittest.TestCase):
    def test_every_lie_of_an_array_goes_in_without_a_copy(self):
        whole = np.arange(60 * 70, dtype=np.float32).reshape(60, 70)
        views = {
            "whole": whole,
            "transposed": whole.T,
            "rows backwards": whole[::-1],
            "all backwards": whole[::-1, ::-1],
            "sliced": whole[3:50:2, 5:60:7],
            "fortran": np.asfortranarray(whole),
            "repeated": np.broadcast_to(whole[0], (5, 70)),
            "empty": whole[:0],
            "empty columns": whole[:, 3:3],
            "one": whole[7:8, 9:10],
        }
        for backend in BACKENDS:
            prog = program(backend)
            for name, view in views.items():
                before, kept = prog.memory, view.copy()
                out = prog.rows(view)
                after = prog.memory
                self.assertTrue(np.array_equal(out, kept * 2), (backend, name))
                self.assertTrue(np.array_equal(view, kept))
                self.assertEqual((out.dtype, out.shape), (np.float32, view.shape))
                self.assertFalse(np.shares_memory(out, view))
                self.assertEqual(after["copied_bytes"], before["copied_bytes"], (backend, name))
                del out
            self.assertEqual(prog.memory["live_bytes"], 0)

    def test_elements_that_are_not_aligned_are_read(self):
        raw = np.zeros(8 * 100 + 3, dtype=np.uint8)
        odd = raw[3:].view(np.float64)
        odd[:] = np.arange(100)
        fields = np.zeros(50, dtype=[("a", "u1"), ("b", "<f8")])
        fields["b"] = np.arange(50)
        for backend in BACKENDS:
            prog = program(backend)
            self.assertTrue(np.array_equal(prog.more(odd), np.arange(100) + 1.0))
            self.assertTrue(np.array_equal(prog.more(fields["b"]), np.arange(50) + 1.0))

    def test_results_are_arrays_that_outlive_the_program(self):
        prog = program()
        out = prog.more(np.arange(1000.0))
        self.assertTrue(out.flags.writeable and out.flags.c_contiguous and out.flags.aligned)
        del prog
        gc.collect()
        out += 1
        self.assertTrue(np.array_equal(out, np.arange(1000.0) + 2))

    def test_results_never_share_memory_with_arguments(self):
        prog = program()
        xs = np.arange(12.0).reshape(3, 4)
        out = prog.same(xs.T)
        self.assertFalse(np.shares_memory(out, xs))
        xs[:] = 0
        self.assertEqual(out[1, 2], 9.0)

    def test_results_in_one_memory_are_only_read(self):
        ys, zs = program().twice(np.arange(10.0))
        self.assertTrue(np.array_equal(ys[::-1], zs))
        if np.shares_memory(ys, zs):
            self.assertFalse(ys.flags.writeable and zs.flags.writeable)
        ones = program().take(5)
        if ones.flags.writeable:
            ones[0] = 7
            self.assertEqual(ones.tolist(), [7.0, 1.0, 1.0, 1.0, 1.0])

    def test_what_is_consumed_stays_as_it_is(self):
        for backend in BACKENDS:
            prog = program(backend)
            for count in (1, 10, 100_000):
                xs = np.arange(count)
                for view in (xs, xs[::-1]):
                    kept = view.copy()
                    out = prog.changed(view)
                    self.assertEqual(out[0], 77)
                    self.assertTrue(np.array_equal(view, kept) and np.array_equal(out[1:], kept[1:]))
            xs = np.arange(5)
            xs.flags.writeable = False
            self.assertEqual(prog.changed(xs)[0], 77)

    def test_results_go_in_again(self):
        prog = program()
        xs = np.arange(100.0)
        for _ in range(10):
            xs = prog.more(xs)
        self.assertTrue(np.array_equal(xs, np.arange(100.0) + 10))

    def test_lists_and_other_libraries(self):
        prog = program()

        class Other:
            """Shows its memory by DLPack alone."""

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        self.assertEqual(prog.more([1, 2, 3]).tolist(), [2.0, 3.0, 4.0])
        self.assertEqual(prog.more(Other(np.arange(3.0))).tolist(), [1.0, 2.0, 3.0])
        out = prog.more(np.arange(3.0))
        self.assertEqual(np.from_dlpack(out).tolist(), [1.0, 2.0, 3.0])
        self.assertEqual(memoryview(out).tolist(), [1.0, 2.0, 3.0])
        self.assertEqual(prog.flags(np.array([True, False])).tolist(), [False, True])
        self.assertEqual(prog.flags(np.array([True, False])[::-1]).dtype, np.bool_)

    def test_programs_and_entry_points_are_known_weakly(self):
        # As caches and decorators of other packages know what they are given.
        prog = program()
        known = [weakref.ref(prog), weakref.ref(prog.more)]
        self.assertIs(known[0](), prog)
        del prog
        gc.collect()
        self.assertEqual([ref() for ref in known], [None, None])

    def test_what_does_not_fit_says_so(self):
        prog = program()
        cases = [
            (TypeError, "float64", lambda: prog.more(np.arange(3, dtype=np.float32))),
            (TypeError, "1 dimensions", lambda: prog.more(np.zeros((2, 2)))),
            (TypeError, "float64", lambda: prog.more(np.arange(3, dtype=">f8"))),
            (TypeError, "`xs`", lambda: prog.more(5)),
            (TypeError, "`xs`", lambda: prog.more(None)),
            (TypeError, "takes 1 arguments", lambda: prog.more()),
            (TypeError, "takes 2 arguments", lambda: prog.at([1], 2, 3)),
            (TypeError, "needs the argument `i`", lambda: prog.at([1], j=3)),
            (TypeError, "of type i64", lambda: prog.spin(1.5)),
            (TypeError, "record of x, y", lambda: prog.point({"x": 1})),
            (OverflowError, "", lambda: prog.nothing(1 << 40)),
            (OverflowError, "", lambda: prog.all(200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, True)),
            (AttributeError, "no entry point `mroe`", lambda: prog.mroe),
            (ValueError, "interp", lambda: galopvm.compile(SOURCE, backend="fast")),
            (ValueError, "timeout", lambda: galopvm.compile(SOURCE, timeout=-1.0)),
            (ValueError, "0 and 1", lambda: prog.flags(np.array([2, 1], dtype=np.uint8).view(np.bool_))),
        ]
        for kind, text, attempt in cases:
            with self.assertRaises(kind) as caught:
                attempt()
            self.assertIn(text, str(caught.exception))


class Values(unittest.TestCase):
    def test_scalars_of_all_types(self):
        values = (-8, -16, -32, -(1 << 63), 200, 60000, 4000000000, (1 << 64) - 1, 0.5, 1.5, -2.5, True)
        self.assertEqual(program().all(*values), values)
        numpy = [np.int8(-8), np.int16(-16), np.int32(-32), np.int64(5), np.uint8(200), np.uint16(9), np.uint32(7)]
        numpy += [np.uint64(3), np.float16(0.5), np.float32(1.5), np.float64(-2.5), np.bool_(True)]
        self.assertEqual(program().all(*numpy), tuple(x.item() for x in numpy))

    def test_records_are_named_tuples(self):
        prog = program()
        for given in ({"x": 3, "y": 4}, (3, 4)):
            out = prog.point(given)
            self.assertEqual((out.x, out.y, out.norm), (4.0, 3.0, 5.0))
        self.assertEqual(prog.point(prog.point((1, 2))).x, 1.0)
        self.assertEqual(prog.point(p={"x": 0, "y": 0}).norm, 0.0)
        out = prog.points((np.arange(3.0), np.arange(3, dtype=np.int32)))
        self.assertEqual((out.a.tolist(), out.b.tolist()), ([0, 1, 2], [0.0, 1.0, 2.0]))
        self.assertEqual(prog.nested(((1, 2), 0.5)), (0.5, (1, 2)))
        self.assertEqual(prog.nothing(1), ())
        ys, three = prog.both([1.0])
        self.assertEqual((ys.tolist(), three), ([2.0], 3))

    def test_what_entries_say(self):
        prog = program()
        self.assertEqual(list(prog.entries)[:2], ["more", "rows"])
        self.assertEqual(prog.at.params, [("xs", "[n]i32"), ("i", "i64")])
        self.assertEqual((prog.at.results, prog.at.name), (["i32"], "at"))
        self.assertIn("changed(xs: *[n]i64)", repr(prog.changed))
        self.assertIn("spin", dir(prog))
        self.assertEqual(str(inspect.signature(prog.at)), "(xs, i)")
        odd = galopvm.compile("entry f (x': i32) (lambda: i32): i32 = x' + lambda").f
        self.assertEqual((str(inspect.signature(odd)), odd(1, 2)), ("(_1, _2)", 3))
        self.assertEqual(prog.at(i=1, xs=np.array([4, 5], dtype=np.int32)), 5)


class Pandas(unittest.TestCase):
    def test_columns_that_lack_values_are_refused(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        more = program().more
        self.assertEqual(more(pandas.Series([1.0, 2.0])).tolist(), [2.0, 3.0])
        lacking = pandas.Series([1.0, None], dtype="Float64")
        for column in (lacking, lacking.array):
            with self.assertRaises(TypeError) as caught:
                more(column)
            self.assertIn("`xs` lacks 1 of its values (null); with `.fillna(0)`", str(caught.exception))
        self.assertEqual(more(lacking.fillna(0)).tolist(), [2.0, 1.0])


class Errors(unittest.TestCase):
    def test_errors_show_the_source(self):
        with self.assertRaises(galopvm.CompileError) as caught:
            galopvm.compile("def f (x: i32) = x + y", name="bad.fut")
        self.assertIn("bad.fut:1:22", str(caught.exception))
        self.assertIn("def f (x: i32) = x + y", str(caught.exception))
        with self.assertRaises(galopvm.LoadError):
            galopvm.load("/there/is/no/such.fut")
        with self.assertRaises(galopvm.LoadError):
            galopvm.from_bytecode(b"abc")
        with self.assertRaises(galopvm.RunError) as caught:
            program().at(np.zeros(3, dtype=np.int32), 3)
        self.assertIn("out of bounds", str(caught.exception))

    def test_limits(self):
        with self.assertRaises(galopvm.LimitError):
            program(fuel=1000).spin(1 << 40)
        for timeout in (0.01, 0.3):
            start = time.perf_counter()
            with self.assertRaises(galopvm.LimitError):
                program(timeout=timeout).spin(1 << 60)
            self.assertGreater(time.perf_counter() - start, timeout)
        small = program(memory_limit=1 << 20)
        with self.assertRaises(galopvm.LimitError):
            small.take(10_000_000)
        self.assertEqual(len(small.take(100)), 100)

    def test_programs_in_files(self):
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            source, code = os.path.join(folder, "a.fut"), os.path.join(folder, "a.gbc")
            with open(source, "w") as file:
                file.write("entry main (x: i32) = x + 1")
            prog = galopvm.load(source)
            with open(code, "wb") as file:
                file.write(prog.to_bytecode())
            self.assertEqual((prog.main(1), galopvm.load(code).main(2)), (2, 3))
            self.assertEqual(galopvm.from_bytecode(prog.to_bytecode(), backend="interp").main(3), 4)


class Running(unittest.TestCase):
    def interrupted(self, entry):
        """Seconds between a signal and the exception."""
        sent = []

        def send():
            time.sleep(0.3)
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        sender = threading.Thread(target=send)
        sender.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                entry(1 << 62)
            return time.perf_counter() - sent[0]
        finally:
            sender.join()

    @unittest.skipIf(sys.platform == "win32", "signals are sent otherwise there")
    def test_a_call_ends_with_the_keyboard(self):
        # Where the tests run in the background, Python is started with the signal ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        for backend in ("interp", "auto"):
            prog = program(backend)
            waits = [self.interrupted(prog.spin) for _ in range(3)]
            print(f"{backend}: Ctrl-C to exception in {min(waits) * 1e3:.1f} to {max(waits) * 1e3:.1f} ms")
            self.assertLess(min(waits), 0.1)
            # The program is as good as before.
            self.assertEqual(prog.spin(4), 0)

    @unittest.skipIf(sys.platform == "win32", "signals are sent otherwise there")
    def test_a_handler_that_goes_on_lets_the_call_go_on(self):
        prog, seen = program(timeout=1.0), []
        before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with self.assertRaises(galopvm.LimitError):
                prog.spin(1 << 62)
        finally:
            timer.join()
            signal.signal(signal.SIGINT, before)
        self.assertEqual(seen, [1])

    def test_the_lock_is_released(self):
        prog, ticks = program(timeout=1.0), []
        done = threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(1)
                time.sleep(0.01)

        ticker = threading.Thread(target=tick)
        ticker.start()
        with self.assertRaises(galopvm.LimitError):
            prog.spin(1 << 62)
        done.set()
        ticker.join()
        self.assertGreater(len(ticks), 10)

    @unittest.skipUnless(hasattr(os, "fork"), "there are no forks here")
    def test_children_of_the_process_go_on(self):
        prog, xs = program(), np.arange(300_000.0)
        self.assertTrue(np.array_equal(prog.more(xs), xs + 1))
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            # A child ends without what the parent has to tidy up.
            try:
                right = all(np.array_equal(p.more(xs), xs + 1) for p in (prog, program()) for _ in range(20))
                os._exit(0 if right else 1)
            except BaseException:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(np.array_equal(prog.more(xs), xs + 1))

    def test_many_threads_share_a_program(self):
        prog, wrong = program(), []

        def work(k):
            xs = np.arange(1000.0) + k
            for _ in range(300):
                if not np.array_equal(prog.more(xs), xs + 1):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @unittest.skipUnless(sys.platform == "linux", "reads what Linux says of a process")
    def test_memory_stays_as_it_is_over_many_calls(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        prog = program()
        xs, rows = np.arange(64.0), np.zeros((8, 8), dtype=np.float32)
        references = sys.getrefcount(xs)

        def calls(count):
            for _ in range(count):
                prog.more(xs)
                prog.rows(rows.T)
                prog.point((1.0, 2.0))

        calls(2000)
        before = resident()
        calls(33_334)
        grown = resident() - before
        print(f"100,002 calls: resident memory grew by {grown} bytes")
        self.assertLess(grown, 4 << 20)
        self.assertEqual(prog.memory["live_bytes"], 0)
        self.assertEqual(sys.getrefcount(xs), references)


class Examples(unittest.TestCase):
    def test_the_package_shows_what_is_true(self):
        self.assertEqual(doctest.testmod(galopvm).failed, 0)

    def test_the_page_for_users_shows_what_is_true(self):
        # What is printed beside these lines changes from machine to machine.
        found, wanted = shown.printed("".join(shown.page("embedding.md", "## Python")))
        self.assertGreaterEqual(len(wanted), 3)
        for line in wanted:
            self.assertIn(line, found)

    def test_the_page_about_programs_shows_what_is_true(self):
        found, wanted = shown.printed("".join(shown.page("embedding.md", "### Programs, errors and what is told")))
        self.assertEqual(found, wanted)

    def test_examples_show_every_name(self):
        from galopvm import told

        names = {name for name in galopvm.__all__ if not name.startswith("_")}
        classes = [galopvm.Program, galopvm.Entry, galopvm.Opaque, *(c for _, c in inspect.getmembers(told, inspect.isclass) if c.__module__ == told.__name__)]
        for found in classes:
            names |= {name for name in vars(found) if not name.startswith("_")}
        code = shown.all_examples()
        self.assertGreater(len(names), 25)
        self.assertEqual([name for name in sorted(names) if not re.search(rf"\b{name}\b", code)], [])

    def test_stubs_name_what_is_there(self):
        import ast

        path = os.path.join(os.path.dirname(galopvm.__file__), "__init__.pyi")
        with open(path) as file:
            tree = ast.parse(file.read())
        nodes = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        options = {item.target.id for item in nodes.pop("_Options").body}
        for function in (galopvm.compile, galopvm.load, galopvm.from_bytecode):
            keywords = set(inspect.signature(function).parameters) - {"source", "path", "data", "name"}
            self.assertEqual(keywords, options, function)
        passed_on = {name.asname for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names} - {None}
        self.assertEqual(set(nodes) | passed_on | {"__version__"}, set(galopvm.__all__))
        for node in nodes.values():
            if isinstance(node, ast.ClassDef):
                members = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                missing = {name for name in members if not hasattr(getattr(galopvm, node.name), name)}
                self.assertEqual(missing - {"__getattr__"}, set(), node.name)
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), "py.typed")))


if __name__ == "__main__":
    unittest.main()
