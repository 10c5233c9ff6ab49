"""Arrays of JAX on the CPU: in and out without a copy, and calls inside of compiled functions."""

import unittest

import numpy as np

import galopvm
import lent
import shown

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise unittest.SkipTest(f"JAX is not installed: pip install jax ({error})") from None


class Jax(unittest.TestCase):
    def setUp(self):
        self.program = galopvm.compile(lent.SOURCE)
        self.matrix = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)

    def test_arrays_go_in_and_results_become_arrays_without_a_copy(self):
        self.assertEqual(np.from_dlpack(self.matrix).__array_interface__["data"][0], self.matrix.unsafe_buffer_pointer())
        before = self.program.memory["copied_bytes"]
        for given in (self.matrix, self.matrix.T, jnp.zeros((0, 4), jnp.float32)):
            out = self.program.rows(given)
            self.assertTrue(np.array_equal(out, 2 * np.asarray(given)))
        self.assertEqual(self.program.memory["copied_bytes"], before)
        out = self.program.rows(self.matrix)
        seen = jnp.from_dlpack(out)
        self.assertEqual(seen.unsafe_buffer_pointer(), out.__array_interface__["data"][0])
        self.assertEqual((seen + 1).tolist(), (out + 1).tolist())

    def test_elements(self):
        self.assertEqual(self.program.flags(jnp.array([True, False])).tolist(), [False, True])
        self.assertEqual(self.program.half(jnp.arange(3, dtype=jnp.float16)).tolist(), [1, 2, 3])
        self.assertEqual(self.program.at(jnp.arange(3), jnp.int32(2)), 2)
        self.assertEqual(self.program.scale(self.matrix[0, 1] * 3, self.matrix[0]).tolist(), [0, 3, 6, 9])

    def test_what_a_program_consumes_is_copied(self):
        given = jnp.arange(3)
        self.assertEqual(self.program.changed(given).tolist(), [77, 1, 2])
        self.assertEqual(given.tolist(), [0, 1, 2])

    def test_what_does_not_fit_says_so(self):
        for given, text in [
            (self.matrix, "float32 of 1 dimensions, not float32 of 2"),
            (jnp.arange(3), "not int32 of 1"),
            (jnp.arange(3, dtype=jnp.bfloat16), "`xs`"),
        ]:
            with self.assertRaisesRegex(TypeError, text):
                self.program.sum(given)
        with self.assertRaisesRegex(TypeError, "`xs`.*concrete value"):
            jax.jit(self.program.rows)(self.matrix)

    def test_calls_inside_of_compiled_functions(self):
        @jax.jit
        def doubled(xs):
            return jax.pure_callback(self.program.rows, jax.ShapeDtypeStruct(xs.shape, xs.dtype), xs) + 1

        self.assertTrue(np.array_equal(doubled(self.matrix), 2 * np.asarray(self.matrix) + 1))

    def test_the_page(self):
        (code, *_) = shown.page("embedding.md", "### JAX and PyTorch")
        found, wanted = shown.printed(code)
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
