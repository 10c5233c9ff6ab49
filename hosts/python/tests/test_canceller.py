"""Calls that another thread ends."""

import asyncio
import threading
import time
import unittest

import galopvm

SOURCE = """
entry spin (n: i64): i64 = loop x = 0 for i < n do (x ^ i) + 1
entry next (x: i64): i64 = x + 1
"""
ENDLESS = 2**62


class Cancellers(unittest.TestCase):
    def setUp(self):
        self.program = galopvm.compile(SOURCE)

    def ends_soon(self, canceller, work):
        timer = threading.Timer(0.05, canceller.cancel)
        timer.start()
        begin = time.monotonic()
        with self.assertRaises(galopvm.Cancelled):
            work()
        timer.join()
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_call_of_the_main_thread_ends(self):
        with galopvm.Canceller() as canceller:
            self.ends_soon(canceller, lambda: self.program.spin(ENDLESS))
            self.assertTrue(canceller.cancelled)
            # However short a call is, it does not begin.
            with self.assertRaises(galopvm.Cancelled):
                self.program.next(1)
        self.assertEqual(self.program.next(1), 2)

    def test_a_call_of_another_thread_ends_and_no_other(self):
        outcomes = {}

        def call(name, canceller, count):
            try:
                with canceller:
                    outcomes[name] = self.program.spin(count)
            except galopvm.RunError as error:
                outcomes[name] = type(error)

        stopped, other = galopvm.Canceller(), galopvm.Canceller()
        threads = [
            threading.Thread(target=call, args=("stopped", stopped, ENDLESS)),
            threading.Thread(target=call, args=("other", other, 1)),
        ]
        for thread in threads:
            thread.start()
        stopped.cancel()
        for thread in threads:
            thread.join()
        self.assertEqual(outcomes, {"stopped": galopvm.Cancelled, "other": 1})
        self.assertFalse(other.cancelled)
        # Too late: it ends nothing.
        other.cancel()
        self.assertEqual(self.program.spin(1), 1)

    def test_blocks_inside_of_each_other(self):
        for which in range(2):
            with galopvm.Canceller() as outer, galopvm.Canceller() as inner:
                self.ends_soon([outer, inner][which], lambda: self.program.spin(ENDLESS))
        with galopvm.Canceller() as outer:
            with galopvm.Canceller() as inner:
                inner.cancel()
            self.assertEqual(self.program.next(1), 2)
        # An error leaves the block as well.
        with self.assertRaises(ZeroDivisionError), galopvm.Canceller() as canceller:
            canceller.cancel()
            raise ZeroDivisionError
        self.assertEqual(self.program.next(1), 2)

    def test_a_task_cancels_what_it_has_a_thread_execute(self):
        async def main():
            with galopvm.Canceller() as canceller:
                call = asyncio.create_task(asyncio.to_thread(self.program.spin, ENDLESS))
                await asyncio.sleep(0.05)
                # A call that was not made in the block.
                other = await asyncio.get_running_loop().run_in_executor(None, self.program.next, 1)
                canceller.cancel()
                with self.assertRaises(galopvm.Cancelled):
                    await call
            return other

        self.assertEqual(asyncio.run(main()), 2)


if __name__ == "__main__":
    unittest.main()
