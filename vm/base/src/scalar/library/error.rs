//! The complementary error function on `f64`, where it is less than a half; elsewhere libm's is good.
//!
//! It is exp(-x^2), of the square with all its digits, times a polynomial in (x - 4) / (x + 4), over x + 1. All is computed in
//! pairs and rounded once.

use super::pair::{Pair, polynomial_of_pairs};
use super::paired;

/// From here on the function is nearest to 0.
const NOTHING: f64 = 27.3;

/// The complementary error function, 1 less the error function. Before it is rounded the error is below 2^-58 of the value.
pub(super) fn erfc(x: f64) -> f64 {
    if x >= NOTHING {
        return 0.0;
    }
    if x.is_nan() || x < 0.5 {
        return libm::erfc(x);
    }
    let t = Pair::sum(x, -4.0) / Pair::sum(x, 4.0);
    let factor = polynomial_of_pairs(
        t,
        [
            Pair::new(0.6849972881253069, 3.598654413246343e-17),
            Pair::new(-0.19934458280036707, -1.3469377239527816e-18),
            Pair::new(0.11704966551044246, 2.086339606583219e-18),
            Pair::new(-0.04808038122130885, 6.391160880594645e-20),
        ],
        [
            0.003962055681290137,
            0.015312509679332259,
            -0.017515654646485246,
            0.012161784752584961,
            -0.0060687352209055825,
            0.0021164215870508,
            -0.0003897674719473445,
            -6.0136786795731135e-05,
            6.403264761280785e-05,
            -1.3151093413717533e-05,
            -4.138153168811027e-06,
            2.6502047205953733e-06,
            3.5353419172004785e-09,
            -3.641707991246713e-07,
            5.192302401739618e-08,
            4.703630331169252e-08,
            -1.1868826998255838e-08,
            -5.9904133341100826e-09,
            1.888617607110396e-09,
            5.777367089470745e-10,
            -1.7615752575093894e-10,
        ],
    );
    let (power, n) = paired::exp(-Pair::product(x, x));
    (power * factor / Pair::sum(x, 1.0)).scaled(n)
}
