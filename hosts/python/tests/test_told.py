"""What programs tell of their calls, and how it shows itself."""

import json
import os
import re
import tempfile
import unittest

import numpy as np

import galopvm

SOURCE = """-- <script>not markup</script>
entry scaled [n] [m] (a: [n][m]f64): [n]f64 =
  let b = map (map (* 2)) (transpose a)
  in map (reduce (+) 0) (transpose b)
entry at [n] (xs: [n]i64) (k: i64): [n]i64 = map (\\x -> xs[x + k]) xs
entry runs (xs: []i64) (runs: i64): i64 = runs + reduce (+) 0 xs
"""


def program(**options):
    return galopvm.compile(SOURCE, name="told <b>.fut", **options)


class Told(unittest.TestCase):
    def test_explanations_have_text_facts_and_html(self):
        told = program().scaled.explain(np.ones((300, 200)))
        self.assertTrue(str(told).startswith("told <b>.fut, entry point scaled, with values from Python"))
        self.assertEqual(repr(told), str(told))
        self.assertEqual((told.facts["entry"], told.facts["version"]), ("scaled", 1))
        # The lines of the source are there, as the program was compiled from text.
        self.assertIn("let b = map", str(told))
        self.assertGreater(len(told.regions), len(str(told)))
        shown = told._repr_html_()
        self.assertIn("told &lt;b&gt;.fut", shown)
        self.assertNotIn("<b>", shown)
        self.assertEqual(shown.count("<details>"), len(re.findall("^==== ", str(told), re.MULTILINE)))

    def test_arguments_are_those_of_a_call(self):
        prog = program()
        self.assertIn("entry point at", str(prog.at.explain(k=0, xs=[0, 1])))
        self.assertEqual(prog.runs.profile([1, 2], 5, runs=2).facts["runs"], 2)
        for tell in (prog.at.explain, prog.at.profile):
            with self.assertRaises(TypeError):
                tell([0, 1])
        with self.assertRaises(ValueError):
            prog.at.profile([0], 0, runs=0)

    def test_profiles_say_where_the_time_goes(self):
        told = program().scaled.profile(np.ones((300, 200)), runs=3)
        self.assertIn("the mean of 3 after one that is not measured", str(told))
        self.assertEqual((told.facts["runs"], told.facts["first"]), (3, False))
        self.assertGreater(told.seconds, 0)
        self.assertEqual(told.rows[0]["place"]["file"], "told <b>.fut")
        parts = told.rows + told.facts["left"]
        self.assertAlmostEqual(sum(part["percent"] for part in parts), 100, delta=0.1)
        self.assertIn("the first run", str(program().scaled.profile(np.ones((3, 2)))))

    def test_profiles_are_pages(self):
        told = program().scaled.profile(np.ones((300, 200)))
        with tempfile.TemporaryDirectory() as folder:
            page, course = os.path.join(folder, "it.html"), os.path.join(folder, "it.json")
            told.save(page)
            told.save(course)
            with open(page, encoding="utf-8") as file:
                text = file.read()
            with open(course, encoding="utf-8") as file:
                self.assertIn("speedscope", json.load(file)["$schema"])
        self.assertEqual(text, told.page)
        self.assertTrue(text.startswith("<!DOCTYPE html>"))
        self.assertNotIn("told <b>.fut", text)
        # As the attribute of a frame the page is text.
        self.assertNotIn("<script>", told._repr_html_())

    def test_failures_bring_what_was_found_before(self):
        prog = program()
        with self.assertRaises(galopvm.RunError) as caught:
            prog.at.explain([0, 1], 5)
        self.assertIn("entry point at", str(caught.exception.explanation))
        with self.assertRaises(galopvm.RunError) as caught:
            prog.at.profile([0, 1], 5)
        self.assertIn("entry point at", str(caught.exception.profile))

    def test_options_of_the_program_hold(self):
        told = program(backend="interp", threads=1).scaled.profile(np.ones((300, 200)))
        self.assertIn("interpreted", told.rows[0]["executor"])
        with self.assertRaises(galopvm.LimitError):
            program(fuel=10, backend="interp").at.explain(np.zeros(10**5, dtype=np.int64), 0)

    def test_stats_are_those_of_all_calls(self):
        prog = program(backend="interp")
        self.assertEqual(prog.stats().operators, [])
        for _ in range(3):
            prog.at([0, 1, 0], 0)
        told = prog.stats()
        (operator,) = told.operators
        self.assertEqual((operator["what"], operator["executions"], operator["elements"]), ("map", 3, 9))
        self.assertIn("map: 3 executions, 9 elements, interpreted", str(told))
        self.assertEqual(told.memory, prog.memory)
        self.assertEqual(told.kernels["compiled"], 0)
        self.assertIn("told &lt;b&gt;.fut", told._repr_html_())
        self.assertNotIn("<b>", told._repr_html_())
