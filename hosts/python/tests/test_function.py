"""Python functions whose docstrings are programs."""

import copy
import doctest
import inspect
import multiprocessing
import os
import pickle
import sys
import threading
import unittest

import numpy as np

import functions
import galopvm
import shown


def called(given):
    """What a process of its own gives for a function and its argument."""
    function, argument = given
    return function(argument)


def place(text):
    """Where a text is in the file of the functions, as messages write it."""
    with open(functions.__file__, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if text in line:
                return f"{functions.__file__}:{number}:{line.index(text) + 1}"


class Calls(unittest.TestCase):
    def test_arguments_come_as_to_any_function(self):
        self.assertEqual(functions.norm([3, 4]), 5.0)
        self.assertEqual(functions.norm(xs=np.array([3.0, 4.0])), 5.0)
        self.assertEqual(functions.power([1, 2]).tolist(), [1.0, 4.0])
        self.assertEqual(functions.power([1, 2], 3).tolist(), [1.0, 8.0])
        self.assertEqual(functions.power(p=0, xs=[1, 2]).tolist(), [1.0, 1.0])
        scaled, _ = functions.inside(by=10)
        self.assertEqual(scaled([1, 2]).tolist(), [10, 20])
        self.assertEqual(scaled([1, 2], by=3).tolist(), [3, 6])
        cases = [
            ("norm(): missing a required argument: 'xs'", lambda: functions.norm()),
            ("norm(): too many positional arguments", lambda: functions.norm([1.0], 2)),
            ("norm(): got an unexpected keyword argument 'ys'", lambda: functions.norm([1.0], ys=2)),
            ("scaled(): too many positional arguments", lambda: scaled([1], 2)),
            ("`xs` is an array []f64", lambda: functions.norm(None)),
        ]
        for text, attempt in cases:
            with self.assertRaises(TypeError) as caught:
                attempt()
            self.assertIn(text, str(caught.exception))

    def test_it_looks_like_the_function(self):
        self.assertEqual((functions.power.__name__, functions.power.__module__), ("power", "functions"))
        self.assertEqual(str(inspect.signature(functions.power)), "(xs, p=2.0)")
        self.assertIn("entry power", functions.power.__doc__)
        self.assertTrue(inspect.isfunction(functions.power.__wrapped__))
        self.assertEqual(repr(functions.power), "<galopvm function power(xs, p=2.0)>")

    def test_it_has_its_program(self):
        self.assertEqual(list(functions.power.program.entries), ["other", "power"])
        self.assertEqual(functions.power.program.other([2.0]).tolist(), [8.0])
        _, options = functions.power.program.__reduce__()[1]
        self.assertEqual(options, {"threads": 1, "timeout": 60.0})

    def test_annotations_need_not_exist(self):
        def annotated(xs: "no.such.type" = (1.0,)) -> "no.such.type":
            """entry annotated [n] (xs: [n]f64): f64 = f64.sum xs"""

        self.assertEqual(galopvm.function(annotated)(), 1.0)

    def test_parameters_that_no_python_can_write_have_any_name(self):
        @galopvm.function
        def f(first, second, third):
            """entry f (x': i32) (lambda: i32) (third: i32): i32 = x' + 10 * lambda + 100 * third"""

        self.assertEqual(f(1, third=3, second=2), 321)

    def test_threads_that_call_first_have_one_program(self):
        @galopvm.function
        def more(xs):
            """entry more [n] (xs: [n]f64): [n]f64 = map (+ 1) xs"""

        begin, found = threading.Barrier(8), []

        def work():
            begin.wait()
            found.append((more([1.0])[0], more.program))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual({value for value, _ in found}, {2.0})
        self.assertEqual(len({id(program) for _, program in found}), 1)


class Mistakes(unittest.TestCase):
    def test_messages_lead_to_the_python_file(self):
        _, wrong_inside = functions.inside(by=1)
        cases = [
            (functions.wrong, "x + y", 4, "      x + y"),
            (functions.wrong_at_once, "x + y\"", 4, "entry wrong_at_once (x: i32): i32 = x + y"),
            (wrong_inside, "y) x", 0, "        x + (\\_ -> y) x"),
        ]
        for function, text, further, line in cases:
            with self.assertRaises(galopvm.CompileError) as caught:
                function(1)
            file, number, column = place(text).rsplit(":", 2)
            self.assertIn(f"{file}:{number}:{int(column) + further}\n", str(caught.exception))
            self.assertIn(line, str(caught.exception))
        with self.assertRaises(galopvm.RunError) as caught:
            functions.outside(5)
        self.assertIn(place("[1, 2][i]"), str(caught.exception))

    def test_without_the_file_messages_have_the_name_of_the_function(self):
        names = {"galopvm": galopvm}
        exec('@galopvm.function\ndef f(x):\n  """\n  entry f (x: i32) = x + y"""', names)
        with self.assertRaises(galopvm.CompileError) as caught:
            names["f"](1)
        self.assertIn(" f:2:", str(caught.exception))

    def test_what_does_not_fit_says_so(self):
        def one(x):
            """entry one (x: i32): i32 = x"""

        def two(x, y):
            """entry two (y: i32) (x: i32): i32 = x"""

        def three(*x):
            """entry three (x: i32): i32 = x"""

        def four(x):
            """entry fuor (x: i32): i32 = x"""

        def five(x):
            pass

        written = "the function is {}, but the entry point in its docstring is {}: both need the same names"
        cases = [
            (written.format("two(x, y)", "two(y: i32, x: i32)"), lambda: galopvm.function(two)(1, 2)),
            (written.format("three(*x)", "three(x: i32)"), lambda: galopvm.function(three)(1)),
            ("four` has no entry point of that name; there are fuor", lambda: galopvm.function(four).program),
            ("has no docstring that could be its program", lambda: galopvm.function(five)),
            ("`thread` is no option of galopvm.function; there are backend, cpu, threads,", lambda: galopvm.function(thread=1)),
            ("for functions of Python, not int", lambda: galopvm.function(2)),
            ("for functions of Python, not Function", lambda: galopvm.function(threads=1)(galopvm.function(one))),
        ]
        for text, attempt in cases:
            with self.assertRaises(TypeError) as caught:
                attempt()
            self.assertIn(text, str(caught.exception))


class Pickles(unittest.TestCase):
    def test_a_function_is_the_same_again(self):
        scaled, _ = functions.inside(by=10)
        for again in (pickle.loads(pickle.dumps(scaled)), copy.deepcopy(scaled)):
            self.assertEqual(again([1, 2]).tolist(), [10, 20])
            self.assertEqual(again(by=2, xs=[1, 2]).tolist(), [2, 4])
            self.assertEqual((again.__name__, again.__doc__), ("scaled", scaled.__doc__))
            self.assertEqual(inspect.signature(again), inspect.signature(scaled))
            self.assertEqual(list(again.program.entries), ["scaled"])
        twice = pickle.loads(pickle.dumps(again))
        self.assertIs(twice.program, pickle.loads(pickle.dumps(scaled)).program)

    def test_functions_of_a_prompt_take_their_program_with_them(self):
        try:
            import cloudpickle
        except ImportError:
            self.skipTest("cloudpickle, with which Dask, Ray and Spark send functions, is not installed")
        scaled, _ = functions.inside(by=10)
        for function in (lambda xs: scaled(xs), scaled):
            again = cloudpickle.loads(cloudpickle.dumps(function))
            self.assertEqual(again([1]).tolist(), [10])

    def test_functions_go_to_processes_of_their_own(self):
        for method in ("spawn", "fork"):
            if method not in multiprocessing.get_all_start_methods():
                continue
            with multiprocessing.get_context(method).Pool(2) as pool:
                found = pool.map(called, [(functions.norm, [3.0, 4.0]), (functions.power, [3.0])])
            self.assertEqual((found[0], found[1].tolist()), (5.0, [9.0]))


class Examples(unittest.TestCase):
    def test_the_module_shows_what_is_true(self):
        self.assertEqual(doctest.testmod(sys.modules["galopvm.function"]).failed, 0)

    def test_the_page_for_users_shows_what_is_true(self):
        (code,) = shown.page("embedding.md", "### In a docstring")
        found, wanted = shown.printed(code)
        self.assertEqual(found, wanted)

    def test_stubs_name_what_is_there(self):
        import ast

        with open(os.path.splitext(sys.modules["galopvm.function"].__file__)[0] + ".pyi", encoding="utf-8") as file:
            tree = ast.parse(file.read())
        (made,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
        members = {item.name for item in made.body if isinstance(item, ast.FunctionDef)}
        self.assertEqual({name for name in members if not hasattr(functions.norm, name)}, set())


if __name__ == "__main__":
    unittest.main()
