//! Errors of the library functions, and what they give at the edges.

use crate::elem::ElemType;
use crate::scalar::{ScalarOp, eval1, eval2};
use galopvm_testkit::Random;

/// Functions, with the range of arguments that is looked at most closely.
const ONE: &[(ScalarOp, f64, f64)] = &[
    (ScalarOp::Exp, -104.0, 89.0),
    (ScalarOp::Log, 0.0, 100.0),
    (ScalarOp::Log2, 0.0, 100.0),
    (ScalarOp::Log10, 0.0, 100.0),
    (ScalarOp::Log1p, -1.0, 10.0),
    (ScalarOp::Sin, -20.0, 20.0),
    (ScalarOp::Cos, -20.0, 20.0),
    (ScalarOp::Tan, -20.0, 20.0),
    (ScalarOp::Asin, -1.0, 1.0),
    (ScalarOp::Acos, -1.0, 1.0),
    (ScalarOp::Atan, -10.0, 10.0),
    (ScalarOp::Sinh, -20.0, 20.0),
    (ScalarOp::Cosh, -20.0, 20.0),
    (ScalarOp::Tanh, -10.0, 10.0),
    (ScalarOp::Asinh, -10.0, 10.0),
    (ScalarOp::Acosh, 1.0, 10.0),
    (ScalarOp::Atanh, -1.0, 1.0),
    (ScalarOp::Cbrt, -10.0, 10.0),
    (ScalarOp::Gamma, -10.0, 36.0),
    (ScalarOp::Lgamma, -10.0, 30.0),
    (ScalarOp::Erf, -4.0, 4.0),
    (ScalarOp::Erfc, -4.0, 10.0),
];

fn single(op: ScalarOp, x: f32) -> f32 {
    f32::from_bits(eval1(op, ElemType::F32, u64::from(x.to_bits())) as u32)
}

fn single2(op: ScalarOp, a: f32, b: f32) -> f32 {
    let bits = |x: f32| u64::from(x.to_bits());
    f32::from_bits(eval2(op, ElemType::F32, bits(a), bits(b)).expect("floats do not trap") as u32)
}

fn double(op: ScalarOp, x: f64) -> f64 {
    f64::from_bits(eval1(op, ElemType::F64, x.to_bits()))
}

/// How far a single is from a value, in units of its last place.
fn units(found: f32, value: f64) -> f64 {
    let nearest = value as f32;
    if found.is_nan() || nearest.is_nan() {
        return if found.is_nan() && nearest.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found.is_infinite() || nearest.is_infinite() {
        return if found == nearest { 0.0 } else { f64::INFINITY };
    }
    let size = value.abs().max(f64::from(f32::MIN_POSITIVE));
    let unit = f64::from_bits((size.to_bits() >> 52) << 52) * f64::from(f32::EPSILON);
    (f64::from(found) - value).abs() / unit
}

#[test]
fn singles_are_the_nearest_but_for_few() {
    let mut random = Random::new(7);
    for &(op, low, high) in ONE {
        let mut worst = (0.0, 0.0f32);
        for k in 0..60_000 {
            let x = match k % 3 {
                0 | 1 => random.real(low, high) as f32,
                _ => f32::from_bits(random.bits() as u32),
            };
            let value = super::general1(op, f64::from(x)).expect("it is a function of one number");
            let error = units(single(op, x), value);
            if error > worst.0 {
                worst = (error, x);
            }
        }
        assert!(worst.0 < 0.501, "{op} of {:?}: off by {} units", worst.1, worst.0);
    }
}

#[test]
fn singles_of_two_numbers_are_the_nearest_but_for_few() {
    let mut random = Random::new(8);
    for op in [ScalarOp::Pow, ScalarOp::Atan2, ScalarOp::Hypot] {
        let mut worst = (0.0, (0.0f32, 0.0f32));
        for k in 0..120_000 {
            let (a, b) = match k % 4 {
                0 => (random.real(0.0, 20.0) as f32, random.real(-20.0, 20.0) as f32),
                1 => (random.real(-5.0, 5.0) as f32, random.real(-9.0, 9.0).round() as f32),
                2 => (random.real(0.9, 1.1) as f32, random.real(-900.0, 900.0) as f32),
                _ => (f32::from_bits(random.bits() as u32), f32::from_bits(random.bits() as u32)),
            };
            let value = super::general2(op, f64::from(a), f64::from(b)).expect("it is a function of two");
            let error = units(single2(op, a, b), value);
            if error > worst.0 {
                worst = (error, (a, b));
            }
        }
        assert!(worst.0 < 0.501, "{op} of {:?}: off by {} units", worst.1, worst.0);
    }
}

#[test]
fn doubles_are_near_those_of_another_library() {
    let mut random = Random::new(9);
    for &(op, low, high) in ONE {
        let mut worst = (0, 0.0);
        for k in 0..60_000 {
            let x = match k % 3 {
                0 | 1 => random.real(low, high),
                _ => f64::from_bits(random.bits()),
            };
            let (found, other) =
                (double(op, x), super::general1(op, x).expect("it is a function of one number"));
            if found.is_nan() || other.is_nan() {
                assert!(found.is_nan() && other.is_nan(), "{op} of {x:?}: {found:?} and {other:?}");
                continue;
            }
            assert_eq!(found.is_sign_negative(), other.is_sign_negative(), "{op} of {x:?}");
            let apart = found.to_bits().abs_diff(other.to_bits());
            if apart > worst.0 {
                worst = (apart, x);
            }
        }
        let bound = if matches!(op, ScalarOp::Tan | ScalarOp::Tanh) { 3 } else { 2 };
        assert!(worst.0 <= bound, "{op} of {:?}: {} units apart", worst.1, worst.0);
    }
}

#[test]
fn edges() {
    let edges = [
        0.0f32,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        1e-45,
        -1e-45,
        1e-30,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
    ];
    let edges =
        edges.into_iter().chain([f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e6, 1.1e6, -3e9, 8.0, 27.0]);
    let edges: Vec<f32> = edges.collect();
    for &(op, ..) in ONE {
        for &x in &edges {
            let wide = super::general1(op, f64::from(x)).expect("it is a function of one number");
            let same = |found: f64, value: f64| {
                found.to_bits() == value.to_bits() || found.is_nan() && value.is_nan()
            };
            let found = single(op, x);
            assert!(same(f64::from(found), f64::from(wide as f32)), "{op} of {x:?}: {found:?}, not {wide:?}");
            let found = double(op, f64::from(x));
            let near = (found - wide).abs() <= 4e-16 * wide.abs();
            assert!(same(found, wide) || near && found != 0.0, "{op} of {x:?}: {found:?}, not {wide:?}");
        }
    }
    for op in [ScalarOp::Pow, ScalarOp::Atan2, ScalarOp::Hypot] {
        for &a in &edges {
            for &b in &edges {
                let value =
                    super::general2(op, f64::from(a), f64::from(b)).expect("it is a function of two") as f32;
                let found = single2(op, a, b);
                let same = found.to_bits() == value.to_bits() || found.is_nan() && value.is_nan();
                assert!(same, "{op} of {a:?} and {b:?}: {found:?}, not {value:?}");
            }
        }
    }
}

/// Where the result is a number that people know, it is that number.
#[test]
fn known_values_are_exact() {
    for k in -20..=20 {
        assert_eq!(single(ScalarOp::Log2, 2f32.powi(k)), k as f32);
        assert_eq!(double(ScalarOp::Log2, 2f64.powi(k)), f64::from(k));
        assert_eq!(single2(ScalarOp::Pow, 2.0, k as f32), 2f32.powi(k));
        assert_eq!(single(ScalarOp::Cbrt, (k * k * k) as f32), k as f32);
    }
    for k in 0..=10 {
        assert_eq!(single(ScalarOp::Log10, 10f32.powi(k)), k as f32);
        assert_eq!(double(ScalarOp::Log10, 10f64.powi(k)), f64::from(k));
        assert_eq!(single2(ScalarOp::Pow, -3.0, k as f32), (-3f32).powi(k));
        assert_eq!(single2(ScalarOp::Hypot, 3.0 * k as f32, 4.0 * k as f32), 5.0 * k as f32);
    }
    assert_eq!(single(ScalarOp::Exp, 0.0), 1.0);
    assert_eq!(double(ScalarOp::Exp, 0.0), 1.0);
    assert_eq!(single(ScalarOp::Atan, 1.0), std::f32::consts::FRAC_PI_4);
    assert_eq!(single(ScalarOp::Acos, -1.0), std::f32::consts::PI);
}

/// The power with the exponent 2 is the product, bit for bit, on every type.
#[test]
fn squares_are_products() {
    let mut random = Random::new(10);
    for ty in ElemType::ALL.into_iter().filter(|ty| ScalarOp::Pow.accepts(*ty)) {
        let two = crate::Scalar::from_int(ty, 2).bits;
        for k in 0..200_000u64 {
            // All halves, and numbers of every size of the other types.
            let a = (if k < 1 << 16 { k } else { random.bits() }) & ty.mask();
            let power = eval2(ScalarOp::Pow, ty, a, two).expect("it does not trap");
            let product = eval2(ScalarOp::Mul, ty, a, a).expect("it does not trap");
            let is_nan = |bits: u64| ty.is_float() && crate::Scalar::new(ty, bits).as_f64().is_nan();
            assert!(power == product || is_nan(power) && is_nan(product), "{ty}: {a:#x}");
        }
    }
}

/// What grows, grows: neighbours do not change places.
#[test]
fn growing_functions_grow() {
    for (op, from) in
        [(ScalarOp::Exp, -90.0f32), (ScalarOp::Log, 1e-3), (ScalarOp::Tanh, 0.1), (ScalarOp::Atan, 0.4)]
    {
        let (mut x, mut before) = (from, single(op, from));
        for _ in 0..200_000 {
            x = x.next_up();
            let value = single(op, x);
            assert!(value >= before, "{op} of {x:?}");
            before = value;
        }
    }
}
