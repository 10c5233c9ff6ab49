"""Tensors of PyTorch on the CPU: in and out without a copy."""

import unittest

import numpy as np

import galopvm
import lent
import shown

try:
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"PyTorch is not installed ({error})") from None


class Torch(unittest.TestCase):
    def setUp(self):
        self.program = galopvm.compile(lent.SOURCE)
        self.matrix = torch.arange(12, dtype=torch.float32).reshape(3, 4)

    def test_tensors_go_in_and_results_become_tensors_without_a_copy(self):
        self.assertEqual(np.from_dlpack(self.matrix).__array_interface__["data"][0], self.matrix.data_ptr())
        before = self.program.memory["copied_bytes"]
        for given in (self.matrix, self.matrix.T, self.matrix[1:, ::2], self.matrix[:1].expand(5, 4), self.matrix[:0]):
            out = self.program.rows(given)
            self.assertTrue(np.array_equal(out, 2 * given.numpy()))
        self.assertEqual(self.program.memory["copied_bytes"], before)
        out = self.program.rows(self.matrix)
        for seen in (torch.from_numpy(out), torch.from_dlpack(out)):
            self.assertEqual(seen.data_ptr(), out.__array_interface__["data"][0])

    def test_elements(self):
        self.assertEqual(self.program.flags(torch.tensor([True, False])).tolist(), [False, True])
        self.assertEqual(self.program.half(torch.arange(3, dtype=torch.float16)).tolist(), [1, 2, 3])
        self.assertEqual(self.program.at(torch.arange(3, dtype=torch.int32), torch.tensor(2)), 2)
        self.assertEqual(self.program.scale(self.matrix[0, 1] * 3, self.matrix[0]).tolist(), [0, 3, 6, 9])

    def test_what_a_program_consumes_is_copied(self):
        given = torch.arange(3, dtype=torch.int32)
        self.assertEqual(self.program.changed(given).tolist(), [77, 1, 2])
        self.assertEqual(given.tolist(), [0, 1, 2])

    def test_what_does_not_fit_says_so(self):
        for given, text in [
            (self.matrix, "float32 of 1 dimensions, not float32 of 2"),
            (torch.arange(3), "not int64 of 1"),
            (torch.arange(3, dtype=torch.bfloat16), "`xs`"),
            (torch.ones(3, requires_grad=True), "`xs`.*detach"),
        ]:
            with self.assertRaisesRegex(TypeError, text):
                self.program.sum(given)

    def test_a_function_with_its_derivative(self):
        program = galopvm.compile("""
          def cost [n] (xs: [n]f64): f64 = f64.sum (map (\\x -> x * x * x) xs)
          entry value [n] (xs: [n]f64): f64 = cost xs
          entry slope [n] (xs: [n]f64) (by: f64): [n]f64 = vjp cost xs by""")

        class Cost(torch.autograd.Function):
            @staticmethod
            def forward(context, xs):
                context.save_for_backward(xs)
                return torch.tensor(program.value(xs.detach()), dtype=torch.float64)

            @staticmethod
            def backward(context, by):
                (xs,) = context.saved_tensors
                return torch.from_dlpack(program.slope(xs.detach(), by))

        xs = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
        (2 * Cost.apply(xs)).backward()
        self.assertEqual(xs.grad.tolist(), [6.0, 24.0, 54.0])

    def test_the_page(self):
        (_, code) = shown.page("embedding.md", "### JAX and PyTorch")
        found, wanted = shown.printed(code)
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    unittest.main()
