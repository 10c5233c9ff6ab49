"""Drives `galopvm server` with the clients that Futhark's users have: the packages futhark-server and futhark-data.

    python3 clients.py GALOPVM FOLDER

GALOPVM is the binary, FOLDER an empty folder to work in. The clients speak the protocol of Futhark's own servers; nothing here is made for
galopvm but the command lines.
"""

import subprocess
import sys
import unittest
from pathlib import Path

import futhark_data
import numpy as np
from futhark_server import Failure, Server

GALOPVM, FOLDER = sys.argv[1], Path(sys.argv[2])

SOURCE = """
type point = {x: f64, y: f64}
entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs
entry turn [n] [m] (a: [n][m]i32): [m][n]i32 = transpose a
entry both (x: i64): (i64, []i64) = (x + 1, iota x)
entry point (x: f64): point = {x, y = -x}
entry norm (p: point): f64 = f64.sqrt (p.x ** 2 + p.y ** 2)
entry at (xs: []i32) (i: i64): i32 = xs[i]
entry tuned (x: i64): i64 = x + (#[param(step)] 5)
entry spin (n: i64): i64 = loop x = 0 for i < n do x ^ i
""" + "\n".join(
    f"entry same_{ty} [n] [m] (xs: [n][m]{ty}): [n][m]{ty} = xs"
    for ty in ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool"]
)


TYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool".split()


def files():
    program = FOLDER / "prog.fut"
    program.write_text(SOURCE)
    launcher = FOLDER / "launcher"
    subprocess.run([GALOPVM, "c", str(program), "-o", str(launcher), "--server"], check=True)
    return program, launcher


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.program, cls.launcher = files()

    def servers(self):
        """The server as a command, as an executable that `galopvm c` made, and in the tiers that execute."""
        yield Server(str(self.launcher))
        for backend in ["auto", "interp", "x86"]:
            yield Server(GALOPVM, "server", "--backend", backend, str(self.program))

    def test_values_of_all_types_go_in_and_come_out(self):
        for server in self.servers():
            with server:
                for ty in TYPES:
                    name = futhark_data.numpy_type_to_type_name(np.dtype(ty))
                    for shape in [(2, 3), (0, 4), (1, 1)]:
                        value = (np.arange(np.prod(shape)).reshape(shape) % 2).astype(ty)
                        server.put_value("v", value)
                        server.cmd_call(f"same_{name}", "w", "v")
                        found = server.get_value("w")
                        self.assertEqual((found.dtype, found.shape), (value.dtype, value.shape))
                        np.testing.assert_array_equal(found, value)
                        server.cmd_free("v", "w")

    def test_calls_and_their_types(self):
        for server in self.servers():
            with server:
                self.assertIn("scale", server.cmd_entry_points())
                self.assertIn("[][]i32", server.cmd_types())
                self.assertEqual(server.cmd_inputs("scale"), ["f64", "[]f64"])
                self.assertEqual(server.cmd_output("turn"), ["[][]i32"])
                server.put_value("a", np.float64(10))
                server.put_value("xs", np.array([1.0, 2.5]))
                said = server.cmd_call("scale", "ys", "a", "xs")
                self.assertRegex("\n".join(said), r"^runtime: \d+$")
                np.testing.assert_array_equal(server.get_value("ys"), [10.0, 25.0])
                server.put_value("m", np.array([[1, 2, 3]], dtype=np.int32))
                server.cmd_call("turn", "t", "m")
                np.testing.assert_array_equal(server.get_value("t"), [[1], [2], [3]])
                server.cmd_rename("t", "u")
                self.assertRaises(Failure, server.get_value, "t")
                server.put_value("n", np.int64(3))
                server.cmd_call("both", "pair", "n")
                [number, numbers] = server.get_value("pair")
                self.assertEqual(number, 4)
                np.testing.assert_array_equal(numbers, [0, 1, 2])

    def test_records_are_taken_apart(self):
        with Server(str(self.launcher)) as server:
            server.put_value("x", np.float64(3))
            server.cmd_call("point", "p", "x")
            [point] = server.cmd_output("point")
            self.assertEqual(server.cmd_fields(f'"{point}"'), ["x f64", "y f64"])
            server.cmd_project("y", "p", "y")
            self.assertEqual(server.get_value("y"), -3)
            server.cmd_call("norm", "n", "p")
            self.assertAlmostEqual(server.get_value("n"), 18**0.5)
            # As bytes, and back.
            server.put_value_bytes(server.get_value_bytes("y"), ("z", "f64"))
            self.assertEqual(server.get_value("z"), -3)

    def test_failures_end_no_session(self):
        with Server(str(self.launcher)) as server:
            server.put_value("xs", np.array([1, 2], dtype=np.int32))
            server.put_value("i", np.int64(7))
            with self.assertRaisesRegex(Failure, "out of bounds"):
                server.cmd_call("at", "x", "xs", "i")
            with self.assertRaisesRegex(Failure, "nothing"):
                server.cmd_call("nothing", "x")
            with self.assertRaises(Failure):
                server.cmd_inputs("nothing")
            with self.assertRaises(Failure):
                server.put_value("xs", np.array([1], dtype=np.int32))
            with self.assertRaises(Failure):
                server.cmd_restore(str(FOLDER / "missing"), ("v", "i32"))
            server.put_value("j", np.int64(1))
            server.cmd_call("at", "x", "xs", "j")
            self.assertEqual(server.get_value("x"), 2)

    def test_parameters_and_reports(self):
        with Server(str(self.launcher)) as server:
            self.assertEqual(server.cmd_tuning_params("tuned"), ["step"])
            self.assertTrue(server.cmd_tuning_param_class("step"))
            server.put_value("x", np.int64(1))
            server.cmd_call("tuned", "y", "x")
            self.assertEqual(server.get_value("y"), 6)
            server.cmd_set_tuning_param("step", "7")
            server.cmd_call("tuned", "z", "x")
            self.assertEqual(server.get_value("z"), 8)
            server.cmd_pause_profiling()
            server.cmd_unpause_profiling()
            self.assertIn("memory", "\n".join(server.cmd_report()))
            server.cmd_clear()

    def test_files_of_values(self):
        values = [np.float32(1.5), np.array([[1, -2], [3, 4]], dtype=np.int16), np.array([True, False])]
        # Text is only read: futhark-data writes none with the NumPy of today.
        path = FOLDER / "values"
        path.write_bytes(b"".join(futhark_data.dumpb(value) for value in values))
        for form, load in [("--text", lambda out: futhark_data.loads(out.decode())), ("--binary", futhark_data.loadb)]:
            with path.open("rb") as file:
                ran = subprocess.run([GALOPVM, "dataset", form], stdin=file, capture_output=True, check=True)
            found = list(load(ran.stdout))
            self.assertEqual(len(found), len(values))
            for one, other in zip(found, values):
                self.assertEqual(np.asarray(one).dtype, other.dtype)
                np.testing.assert_array_equal(one, other)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
