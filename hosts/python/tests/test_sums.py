"""Values of sums, from Python and back."""

import pickle
import sys
import unittest

import numpy as np

import galopvm
from galopvm import variant

SOURCE = """
type shape [n] = #circle f64 | #none | #path ([2]f64) ([n](f64, i32)) | #pair (#left i32 | #right bool) i32
entry same [n] (s: shape [n]): shape [n] = s
entry area [n] (s: shape [n]): f64 =
  match s
  case #circle r -> r * r
  case #none -> 0
  case #path a ps -> a[0] + a[1] + f64.sum (map (.0) ps)
  case #pair (#left k) j -> f64.i32 (k + j)
  case #pair (#right b) j -> if b then f64.i32 j else -1
entry both (k: i32): (#some i32 | #none, i32) = (if k > 0 then #some k else #none, k)
entry all (ks: []i32): [](#some i32 | #none) = map (\\k -> if k > 0 then #some k else #none) ks
entry count [n] (xs: [n](#some i32 | #none)): i64 =
  map (\\x -> match x case #some _ -> 1i64 case #none -> 0) xs |> i64.sum
module m: {type t val make: i32 -> t val look: t -> i32} = {type t = (i32, i32) def make x = (x, x) def look (t: t) = t.0}
entry make (x: i32): m.t = m.make x
entry look (x: m.t): i32 = m.look x
"""


class Sums(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program = galopvm.compile(SOURCE)

    def test_every_constructor_goes_in_and_comes_back(self):
        points = (np.array([1.0, 2.5]), np.array([1, 2], dtype=np.int32))
        for value, area in (
            (variant.circle(3.0), 9.0),
            (variant.none(), 0.0),
            ("none", 0.0),
            (variant.path([1.0, 2.0], points), 6.5),
            (variant.pair(variant.left(4), 3), 7.0),
            (variant.pair(variant.right(True), 3), 3.0),
        ):
            self.assertEqual(self.program.area(value), area)
            back = self.program.same(value)
            self.assertEqual(self.program.area(back), area)
            self.assertEqual(back.constructor, value if isinstance(value, str) else value.constructor)
        _, (xs, ks) = self.program.same(variant.path([1.0, 2.0], points))
        self.assertEqual((xs.tolist(), ks.tolist()), ([1.0, 2.5], [1, 2]))

    def test_values_say_what_they_are(self):
        some, number = self.program.both(3)
        self.assertEqual((some, number), (variant.some(3), 3))
        self.assertIsInstance(some, variant.some)
        self.assertIsInstance(some, galopvm.Variant)
        self.assertNotIsInstance(some, variant.none)
        self.assertEqual(self.program.both(-1)[0], variant.none())
        self.assertEqual((some[0], len(some), repr(some)), (3, 1, "variant.some(3)"))
        self.assertNotEqual(some, (3,))
        self.assertNotEqual(some, variant.other(3))
        self.assertEqual(len({some, variant.some(3), variant.some(4)}), 2)
        self.assertEqual(pickle.loads(pickle.dumps(some)), some)
        self.assertIs(variant["it's"], variant["it's"])
        with self.assertRaises(AttributeError):
            some.other
        with self.assertRaises(TypeError):
            galopvm.Variant(3)

    @unittest.skipIf(sys.version_info < (3, 10), "match statements are in Python from 3.10 on")
    def test_they_are_matched(self):
        found = {"some": self.program.both(3)[0], "variant": variant}
        exec("match some:\n  case variant.none(): x = 0\n  case variant.some(k): x = k", found)
        self.assertEqual(found["x"], 3)

    def test_what_does_not_fit_is_told(self):
        for wrong in (5, "circle", "square", variant.square(), variant.circle(), variant.circle(1.0, 2.0), (3.0,)):
            with self.assertRaises(TypeError) as caught:
                self.program.area(wrong)
            self.assertIn("`s` is one of #circle f64 | #none", str(caught.exception))
            self.assertIn("galopvm.variant", str(caught.exception))
        with self.assertRaises(TypeError) as caught:
            self.program.area(variant.circle("round"))
        self.assertIn("of type f64", str(caught.exception))

    def test_arrays_of_sums_and_hidden_types_pass_through(self):
        found = self.program.all(np.array([3, -1, 4], dtype=np.int32))
        self.assertEqual((found.type, self.program.count(found)), ("[](#none | #some i32)", 2))
        self.assertEqual(self.program.look(self.program.make(5)), 5)
        for wrong in (found, 5):
            with self.assertRaises(TypeError):
                self.program.look(wrong)
