"""Derivatives of entry points."""

import doctest
import importlib
import os
import pickle
import tempfile
import unittest

import numpy as np

import galopvm
import shown

SOURCE = """
def n = 3i64
type point = {x: f64, y: f64}
entry cost [m] (xs: [m]f64) (p: point) (k: i32): f64 = f64.sum (map (\\x -> x * p.x ** 2 + p.y) xs) + f64.i32 k
entry squares (xs: [n]f64): [n]f64 = map (** 2) xs
entry norm [m] (xs: [m]f32): f32 = f32.sqrt (f32.sum (map (** 2) xs))
entry consumed [m] (xs: *[m]f64): f64 = f64.sum (xs with [0] = 2 * xs[0])
entry twice (by: f64) (vjp: f64) (x': f64): f64 = by * vjp * x'
entry kept [m] (xs: [m]f64): []f64 = filter (> 0) xs
entry count [m] (xs: [m]i64): i64 = i64.sum xs
entry of (n: i64): f64 = f64.i64 n
entry none: f64 = 1
"""


@galopvm.function
def energy(xs):
    """entry energy [n] (xs: [n]f64): f64 = 0.5 * f64.sum (map (** 2) xs)"""


@galopvm.function
def constant():
    """entry constant: f64 = 1"""


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.program = galopvm.compile(SOURCE, name="derived.fut", threads=1)

    def test_gradients(self):
        gradient = galopvm.grad(self.program.cost)
        self.assertEqual([name for name, _ in gradient.params], ["xs", "p", "k"])
        xs, p = gradient([1.0, 2.0], k=1, p=(3.0, 4.0))
        self.assertEqual((xs.tolist(), tuple(p)), ([9.0, 9.0], (18.0, 2.0)))
        value, p = galopvm.grad(self.program.cost, of="p", value=True)([1.0, 2.0], (3.0, 4.0), 1)
        self.assertEqual((value, tuple(p)), (36.0, (18.0, 2.0)))
        p, xs = galopvm.grad(self.program.cost, of=["p", "xs"])([1.0, 2.0], (3.0, 4.0), 1)
        self.assertEqual((xs.tolist(), tuple(p)), ([9.0, 9.0], (18.0, 2.0)))
        self.assertEqual(galopvm.grad(self.program.norm)(np.array([3, 4], np.float32)).dtype, np.float32)

    def test_products(self):
        value, by = galopvm.vjp(self.program.squares)([1.0, 2.0, 3.0], by=[1.0, 0.0, 1.0])
        self.assertEqual((value.tolist(), by.tolist()), ([1.0, 4.0, 9.0], [2.0, 0.0, 6.0]))
        value, by = galopvm.jvp(self.program.squares)([1.0, 2.0, 3.0], by=[1.0, 0.0, 1.0])
        self.assertEqual((value.tolist(), by.tolist()), ([1.0, 4.0, 9.0], [2.0, 0.0, 6.0]))
        value, by = galopvm.jvp(self.program.cost)([1.0, 2.0], (3.0, 4.0), 1, ([1.0, 0.0], (0.0, 0.0), 0))
        self.assertEqual((value, by), (36.0, 9.0))

    def test_they_agree_with_small_differences(self):
        xs, step = np.array([0.5, -1.5, 2.0]), 1e-6
        found = galopvm.grad(energy)(xs)
        for k in range(3):
            moved = [xs + sign * step * np.eye(3)[k] for sign in (1, -1)]
            self.assertAlmostEqual(found[k], (energy(moved[0]) - energy(moved[1])) / (2 * step), 6)

    def test_what_is_consumed_and_what_has_names_in_the_way(self):
        xs = np.array([1.0, 2.0])
        self.assertEqual(galopvm.grad(self.program.consumed)(xs).tolist(), [2.0, 1.0])
        self.assertEqual(xs.tolist(), [1.0, 2.0])
        self.assertEqual(galopvm.grad(self.program.twice)(2.0, 3.0, 5.0), (15.0, 10.0, 6.0))
        value, by = galopvm.vjp(self.program.twice)(2.0, 3.0, 5.0, 1.0)
        self.assertEqual((value, by), (30.0, (15.0, 10.0, 6.0)))

    def test_programs_in_files_have_them_and_derivatives_travel(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "lib.fut"), "w", encoding="utf-8") as file:
                file.write("def square (x: f64) = x * x")
            path = os.path.join(folder, "main.fut")
            # As some editors save it: with a byte order mark, and without an end of the last line.
            with open(path, "w", encoding="utf-8-sig") as file:
                file.write('import "lib"\nentry area (x: f64): f64 = square x -- no line ends here')
            program = galopvm.load(path)
            slope = galopvm.grad(program.area)
            self.assertEqual(slope(3.0), 6.0)
            # A derivative is an entry point: it has a derivative, and goes to other processes.
            self.assertEqual(galopvm.grad(slope)(3.0), 2.0)
            self.assertEqual(pickle.loads(pickle.dumps(slope))(3.0), 6.0)
            with self.assertRaisesRegex(TypeError, "comes from bytecode"):
                galopvm.grad(galopvm.from_bytecode(program.to_bytecode()).area)
            code = os.path.join(folder, "main.gbc")
            with open(code, "wb") as file:
                file.write(program.to_bytecode())
            self.assertEqual(galopvm.load(code).area(3.0), 9.0)
            with self.assertRaisesRegex(TypeError, "comes from bytecode"):
                galopvm.grad(galopvm.load(code).area)

    def test_what_has_no_derivative_says_so(self):
        cases = [
            (TypeError, "result .n.f64: a gradient is that of one float", lambda: galopvm.grad(self.program.squares)),
            (TypeError, "no parameter with floats", lambda: galopvm.grad(self.program.of)),
            (TypeError, "no parameter `y`; there are xs, p, k", lambda: galopvm.grad(self.program.cost, of="y")),
            (TypeError, "each parameter that is meant once", lambda: galopvm.grad(self.program.cost, of=[])),
            (TypeError, "each parameter that is meant once", lambda: galopvm.grad(self.program.cost, of=["xs", "xs"])),
            (TypeError, "`constant` has no parameters", lambda: galopvm.vjp(constant)),
            (TypeError, "`none` has no parameters", lambda: galopvm.grad(self.program.none)),
            (TypeError, "not of float", lambda: galopvm.vjp(1.5)),
            (galopvm.CompileError, "anonymous sizes", lambda: galopvm.vjp(self.program.kept)),
        ]
        for error, text, work in cases:
            with self.assertRaisesRegex(error, text):
                work()

    def test_the_page_and_the_module(self):
        for code in shown.page("embedding.md", "### Derivatives"):
            found, wanted = shown.printed(code)
            self.assertEqual(found, wanted)
        self.assertEqual(doctest.testmod(importlib.import_module("galopvm.derivatives"), verbose=False).failed, 0)


if __name__ == "__main__":
    unittest.main()
