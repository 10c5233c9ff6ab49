"""Functions whose docstrings are programs, in a module, as other processes import it."""

import galopvm


@galopvm.function
def norm(xs):
    """entry norm [n] (xs: [n]f64): f64 = f64.sqrt (f64.sum (map (** 2) xs))"""


@galopvm.function(threads=1, timeout=60)
def power(xs, p=2.0):
    """
    def raised (p: f64) (x: f64) = x ** p

    entry other [n] (xs: [n]f64): [n]f64 = map (raised 3) xs
    entry power [n] (xs: [n]f64) (p: f64): [n]f64 = map (raised p) xs
    """


@galopvm.function
def wrong(x):
    """
    entry wrong (x: i32): i32 =
      x + y
    """


@galopvm.function
def wrong_at_once(x): "entry wrong_at_once (x: i32): i32 = x + y"


@galopvm.function
def outside(i):
    """\
    entry outside (i: i64): i32 = [1, 2][i]
    """


def inside(by):
    """Functions that are no names of this module, with defaults of their own."""

    @galopvm.function(
        threads=1,
    )
    def scaled(xs, *, by=by):
        r"""
        entry scaled [n] (xs: [n]i64) (by: i64): [n]i64 = map (\x -> by * x) xs
        """

    @galopvm.function
    def wrong_inside(x):
        r"""entry wrong_inside (x: i32): i32 =
        x + (\_ -> y) x
        """

    return scaled, wrong_inside
