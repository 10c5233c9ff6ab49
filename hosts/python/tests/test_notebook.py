"""The cell magic, in a shell of IPython."""

import contextlib
import io
import json
import unittest

import numpy as np

import galopvm
import shown

try:
    from IPython.core.error import UsageError
    from IPython.core.interactiveshell import InteractiveShell
except ImportError as error:
    raise unittest.SkipTest(f"IPython is not installed: pip install ipython ({error})") from None


class Notebook(unittest.TestCase):
    def setUp(self):
        InteractiveShell.clear_instance()
        self.shell = InteractiveShell.instance()
        self.shell.history_manager.enabled = False
        self.addCleanup(InteractiveShell.clear_instance)

    def run_cell(self, cell):
        """How a cell ended, and what it printed."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            result = self.shell.run_cell(cell, store_history=True)
        return result, text.getvalue()


class Magic(Notebook):
    def setUp(self):
        super().setUp()
        self.right("%load_ext galopvm")

    def right(self, cell):
        result, text = self.run_cell(cell)
        self.assertTrue(result.success, text)
        return text

    def wrong(self, cell, kind):
        result, text = self.run_cell(cell)
        self.assertIsInstance(result.error_in_exec, kind)
        self.assertNotIn("Traceback", text)
        return text

    def test_entry_points_become_variables(self):
        text = self.right("%%galopvm\ndef by = 2\nentry twice (x: i32) = by * x\nentry more (x: i32) = x + 1")
        self.assertEqual(text, "")
        self.right("y = more(twice(4))")
        self.assertEqual(self.shell.user_ns["y"], 9)
        self.assertNotIn("by", self.shell.user_ns)

    def test_with_a_name_the_program_becomes_a_variable(self):
        self.right("%%galopvm program\nentry twice (x: i32) = 2 * x")
        self.assertEqual(self.shell.user_ns["program"].twice(4), 8)
        self.assertNotIn("twice", self.shell.user_ns)

    def test_options_are_those_of_programs(self):
        self.right(
            "%%galopvm p --backend vector --cpu avx2 --threads 1 --memory-limit 1048576 --fuel 1000 --timeout 2.5\n"
            "entry spin (n: i64): i64 = loop x = 0 for i < n do x ^ i"
        )
        program = self.shell.user_ns["p"]
        options = {"backend": "vector", "cpu": "avx2", "threads": 1, "memory_limit": 1 << 20, "fuel": 1000, "timeout": 2.5}
        self.assertEqual(program.__reduce__()[1][1], options)
        with self.assertRaises(galopvm.LimitError):
            program.spin(1 << 40)

    def test_what_does_not_fit_the_line_says_so(self):
        cases = {
            "%%galopvm --speed 3": "unrecognized arguments: --speed",
            "%%galopvm --thread 3": "unrecognized arguments: --thread",
            "%%galopvm --threads many": "argument --threads: invalid int value: 'many'",
            "%%galopvm --threads": "argument --threads: expected one argument",
            "%%galopvm --threads 0": "threads must be 1 or more",
            "%%galopvm --backend fast": "`fast` is not one of",
            "%%galopvm a b": "unrecognized arguments: b",
            "%%galopvm 2a": "`2a` is no name of a variable",
            "%%galopvm lambda": "`lambda` is no name of a variable",
            "%%galopvm 'a": "No closing quotation",
        }
        usage = "[--backend B] [--cpu C] [--threads N] [--memory-limit BYTES] [--fuel N] [--timeout S] [NAME]"
        for line, message in cases.items():
            text = self.wrong(line + "\nentry one: i32 = 1", UsageError)
            self.assertIn(f"%%galopvm: {message}", text)
            self.assertIn(usage, text)

    def test_mistakes_are_shown_as_galopvm_shows_them(self):
        self.right("before = 1")
        text = self.wrong("%%galopvm\nentry f (x: i32) =\n  x + y", galopvm.CompileError)
        with self.assertRaises(galopvm.CompileError) as caught:
            galopvm.compile("\nentry f (x: i32) =\n  x + y", name="In[3]")
        self.assertEqual(text.strip(), str(caught.exception).strip())
        self.assertIn("In[3]:3:7", text)
        # The cell was not executed; what is there stays.
        self.assertNotIn("f", self.shell.user_ns)

    def test_warnings_are_printed(self):
        text = self.right(
            "%%galopvm\ndef half (x: f32): f32 = if x < 1 then x else half (x / 2)\n"
            "entry more (x: f32) = x + 1\nentry slope (x: f32) = vjp half x 1"
        )
        self.assertIn('warning: Entry point "slope" cannot be run', text)
        self.assertIn("In[2]:4:", text)
        self.assertEqual(self.shell.user_ns["more"](1.0), 2.0)

    def test_what_cannot_be_a_variable_is_told(self):
        self.assertIn("no entry points", self.right("%%galopvm\ndef f (x: i32) = x"))
        text = self.right("%%galopvm\nentry f' (x: i32) = x + 1\nentry g (x: i32) = x")
        self.assertIn("`f'` is no name of a variable", text)
        self.right("%%galopvm program\nentry f' (x: i32) = x + 1")
        self.right("y = program.entries[\"f'\"](1) ")
        self.assertEqual(self.shell.user_ns["y"], 2)

    def test_questions_are_answered_with_the_signature(self):
        self.right("%%galopvm\nentry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs")
        self.assertIn("scale(a: f64, xs: [n]f64) -> [n]f64", self.shell.object_inspect_text("scale"))
        self.assertIn("[--timeout S]", self.shell.object_inspect_text("%%galopvm"))

    def test_the_extension_can_be_loaded_again(self):
        self.right("%load_ext galopvm\n%reload_ext galopvm")
        self.right("%%galopvm\nentry one (x: i32) = x")


class Package(unittest.TestCase):
    def test_the_package_does_not_need_ipython(self):
        import subprocess
        import sys

        code = "import sys, galopvm; sys.exit('IPython' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


class Examples(Notebook):
    def test_the_page_for_users_shows_what_is_true(self):
        cells = shown.page("embedding.md", "### In notebooks", "ipython")
        for cell in cells:
            result, text = self.run_cell(cell)
            self.assertTrue(result.success, text)
        self.assertEqual(result.result.tolist(), [10.0, 25.0])

    def test_k_means(self):
        with open(shown.path("kmeans.ipynb"), encoding="utf-8") as file:
            notebook = json.load(file)
        self.assertEqual(notebook["nbformat"], 4)
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
            result, text = self.run_cell("".join(cell["source"]))
            self.assertTrue(result.success, text)
        centres, true = (self.shell.user_ns[name] for name in ("centres", "true_centres"))
        nearest = np.linalg.norm(centres[:, None] - true, axis=2).argmin(axis=0)
        np.testing.assert_allclose(centres[nearest], true, atol=0.1)


if __name__ == "__main__":
    unittest.main()
