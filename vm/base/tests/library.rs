//! Library functions at hard points against their true values, and what they give where no number is the value.
//!
//! `library/hard_points.txt` has the points: those where the functions were found to be worst, and those where a function is hard.
//! `library/values.py` computes the true values with more digits than are needed and tells what a line means.

use galopvm_base::scalar::{eval, eval1};
use galopvm_base::{ElemType, ScalarOp};

/// The number's place in the order of all numbers of its type.
fn place(ty: ElemType, bits: u64) -> i64 {
    let sign = 1u64 << (ty.bits() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 { magnitude } else { -magnitude }
}

fn bits_of(word: &str, line: &str) -> u64 {
    u64::from_str_radix(word, 16).unwrap_or_else(|e| panic!("{line}: {e}"))
}

#[test]
fn errors_are_those_of_the_table() {
    let mut found = 0;
    for line in include_str!("library/hard_points.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let op: ScalarOp = words[0].parse().unwrap_or_else(|()| panic!("{line}: no operation"));
        let ty = ElemType::ALL.into_iter().find(|t| t.name() == words[1]).expect("a type");
        let arguments: Vec<u64> = words[2..words.len() - 2].iter().map(|w| bits_of(w, line)).collect();
        let [nearest, beyond] = words[words.len() - 2..] else { panic!("{line}: no value") };
        let value = eval(op, ty, &arguments).expect("floats do not trap");
        let apart = (place(ty, value) - place(ty, bits_of(nearest, line))) as f64;
        let error = (apart - beyond.parse::<f64>().expect("a fraction")).abs();
        let bound = match ty {
            ElemType::F64 => op.info().error.expect("a function of the library"),
            _ => 0.501,
        };
        assert!(error <= bound, "{line}: off by {error} units, found {value:x}");
        found += 1;
    }
    assert!(found > 1000);
}

#[test]
fn only_functions_of_the_library_have_errors() {
    for op in ScalarOp::ALL {
        assert_eq!(op.info().error.is_some(), !op.is_exact(ElemType::F64), "{op}");
        assert!(op.info().error.is_none_or(|units| units <= 2.0), "{op}");
    }
}

fn double(op: ScalarOp, x: f64) -> f64 {
    f64::from_bits(eval1(op, ElemType::F64, x.to_bits()))
}

fn single(op: ScalarOp, x: f32) -> f32 {
    f32::from_bits(eval1(op, ElemType::F32, u64::from(x.to_bits())) as u32)
}

/// NaN is NaN; zeros have signs.
fn check(op: ScalarOp, cases: &[(f64, f64)]) {
    for &(x, value) in cases {
        let same = |found: f64| found.to_bits() == value.to_bits() || found.is_nan() && value.is_nan();
        let found = double(op, x);
        assert!(same(found), "{op} of {x:?} on f64: {found:?}");
        if x.is_nan() || f64::from(x as f32) == x {
            let found = single(op, x as f32);
            assert!(same(f64::from(found)), "{op} of {x:?} on f32: {found:?}");
        }
    }
}

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn gamma_at_poles_and_ends() {
    let cases = [
        (NAN, NAN),
        (INF, INF),
        (-INF, NAN),
        (0.0, INF),
        (-0.0, -INF),
        (-1.0, NAN),
        (-2.0, NAN),
        (-1e15, NAN),
        (-1e300, NAN),
        (1e-310, INF),
        (-1e-310, -INF),
        (172.0, INF),
        (1e300, INF),
        (f64::MAX, INF),
        // Too small for a number, with the sign of the interval.
        (-200.5, -0.0),
        (-201.5, 0.0),
        (-4503599627370495.5, 0.0),
    ];
    check(ScalarOp::Gamma, &cases);
}

#[test]
fn lgamma_at_poles_and_ends() {
    let cases = [
        (NAN, NAN),
        (INF, INF),
        (-INF, INF),
        (0.0, INF),
        (-0.0, INF),
        (-1.0, INF),
        (-2.0, INF),
        (-1e15, INF),
        (-1e300, INF),
        (1.0, 0.0),
        (2.0, 0.0),
        (2.6e305, INF),
        (f64::MAX, INF),
    ];
    check(ScalarOp::Lgamma, &cases);
}

#[test]
fn error_functions_at_ends() {
    let erf = [(NAN, NAN), (INF, 1.0), (-INF, -1.0), (0.0, 0.0), (-0.0, -0.0), (6.0, 1.0), (-1e300, -1.0)];
    check(ScalarOp::Erf, &erf);
    let erfc = [
        (NAN, NAN),
        (INF, 0.0),
        (-INF, 2.0),
        (0.0, 1.0),
        (-0.0, 1.0),
        (1e-300, 1.0),
        (28.0, 0.0),
        (1e300, 0.0),
        (-7.0, 2.0),
        (-1e300, 2.0),
    ];
    check(ScalarOp::Erfc, &erfc);
}

/// Factorials are exact as long as they are numbers of the type; halves and singles too.
#[test]
fn gamma_of_whole_numbers_is_the_factorial() {
    let mut factorial = 1u128;
    for n in 1..=30u32 {
        assert_eq!(double(ScalarOp::Gamma, f64::from(n)), factorial as f64, "{n}");
        assert_eq!(single(ScalarOp::Gamma, n as f32), factorial as f32, "{n}");
        factorial *= u128::from(n);
    }
    // 8! = 40320 on halves: both are numbers of the type.
    assert_eq!(eval1(ScalarOp::Gamma, ElemType::F16, 0x4880), 0x78ec);
}

/// Between neighbours, where forms of computation meet, the functions go on as they do elsewhere.
#[test]
fn functions_grow_over_the_seams() {
    let seams = [
        (ScalarOp::Gamma, 12.0, 1.0),
        (ScalarOp::Gamma, 2.0, 1.0),
        (ScalarOp::Lgamma, 2.5, 1.0),
        (ScalarOp::Lgamma, 12.0, 1.0),
        (ScalarOp::Lgamma, 1e20, 1.0),
        (ScalarOp::Lgamma, 0.75, -1.0),
        (ScalarOp::Lgamma, 1.0, -1.0),
        (ScalarOp::Erfc, 0.5, -1.0),
    ];
    for (op, seam, direction) in seams {
        let mut x: f64 = seam;
        for _ in 0..200 {
            x = x.next_down();
        }
        let mut before = double(op, x);
        for _ in 0..400 {
            x = x.next_up();
            let value = double(op, x);
            assert!((value - before) * direction >= 0.0, "{op} at {x:?}");
            before = value;
        }
    }
}
