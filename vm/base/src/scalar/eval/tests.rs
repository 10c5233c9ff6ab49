//! What operations give at the edges of their types.

use super::*;
use crate::scalar::Scalar;

fn i32s(op: ScalarOp, a: i32, b: i32) -> i32 {
    eval2(op, ElemType::I32, a as u32 as u64, b as u32 as u64).expect("no trap") as i32
}

#[test]
fn division_rounds_down_and_quot_to_zero() {
    assert_eq!(i32s(ScalarOp::Div, -7, 2), -4);
    assert_eq!(i32s(ScalarOp::Mod, -7, 2), 1);
    assert_eq!(i32s(ScalarOp::Quot, -7, 2), -3);
    assert_eq!(i32s(ScalarOp::Rem, -7, 2), -1);
    assert_eq!(i32s(ScalarOp::Div, i32::MIN, -1), i32::MIN);
    assert_eq!(eval2(ScalarOp::Mod, ElemType::U8, 1, 0), Err(ScalarTrap::DivisionByZero));
}

#[test]
fn whole_numbers_are_the_library_s() {
    let mut numbers = vec![0.0, -0.0, 0.3, 0.5, 0.7, 1.0, 1.5, 2.5, 1e5, 8388607.5, 8388608.0, 4e9, 1e300];
    numbers.extend([f64::INFINITY, f64::MIN_POSITIVE, 0.49999999999999994, 4503599627370495.5, 4.6e15]);
    numbers.extend((0..2000).map(|i| f64::from(i) * 0.37));
    for x in numbers.iter().flat_map(|x| [*x, -*x]) {
        let ops = [ScalarOp::Floor, ScalarOp::Ceil, ScalarOp::Trunc, ScalarOp::Round];
        let single = x as f32;
        let doubles = [x.floor(), x.ceil(), x.trunc(), x.round_ties_even()];
        let singles = [single.floor(), single.ceil(), single.trunc(), single.round_ties_even()];
        for (k, op) in ops.into_iter().enumerate() {
            assert_eq!(eval1(op, ElemType::F64, x.bits()), doubles[k].bits(), "{op} {x}");
            assert_eq!(eval1(op, ElemType::F32, single.bits()), singles[k].bits(), "{op} {single}");
        }
    }
}

#[test]
fn min_and_max_of_floats_take_operands_in_any_order() {
    for ty in [ElemType::F16, ElemType::F32, ElemType::F64] {
        let numbers = [0.0, -0.0, 1.0, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let numbers = numbers.map(|x| crate::scalar::convert(ElemType::F64, ty, x.bits()));
        let is_same = |x: Bits, y: Bits| {
            x == y || Scalar::new(ty, x).as_f64().is_nan() && Scalar::new(ty, y).as_f64().is_nan()
        };
        for op in [ScalarOp::Min, ScalarOp::Max] {
            let of = |a: Bits, b: Bits| eval2(op, ty, a, b).expect("no trap");
            for a in numbers {
                for b in numbers {
                    assert!(is_same(of(a, b), of(b, a)), "{op} {ty} {a:#x} {b:#x}");
                    for c in numbers {
                        assert!(is_same(of(of(a, b), c), of(a, of(b, c))), "{op} {ty} {a:#x} {b:#x} {c:#x}");
                    }
                }
            }
        }
        let [zero, minus_zero, ..] = numbers;
        assert_eq!(eval2(ScalarOp::Min, ty, zero, minus_zero), Ok(minus_zero));
        assert_eq!(eval2(ScalarOp::Max, ty, minus_zero, zero), Ok(zero));
    }
}

#[test]
fn shifts_take_any_count() {
    assert_eq!(i32s(ScalarOp::Shl, 1, 32), 0);
    assert_eq!(i32s(ScalarOp::Shr, -8, 40), -1);
    assert_eq!(i32s(ScalarOp::Ushr, -1, 28), 15);
    assert_eq!(i32s(ScalarOp::Shl, 1, -1), 0);
}

#[test]
fn results_stay_inside_their_type() {
    let odd = [0u64, 1, 2, 3, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fff_ffff, 0x8000_0000, u64::MAX];
    for &op in ScalarOp::ALL {
        for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
            for a in odd {
                for b in odd {
                    let args: Vec<u64> = (0..op.arity())
                        .map(|i| if i == 0 { a } else { b } & op.operand_type(i, ty).mask())
                        .collect();
                    if let Ok(bits) = eval(op, ty, &args) {
                        assert_eq!(bits & !op.result_type(ty).mask(), 0, "{op} on {ty}");
                    }
                }
            }
        }
    }
}

#[test]
fn identities_are_neutral() {
    for &op in ScalarOp::ALL {
        let Some(identity) = op.info().identity else { continue };
        for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
            for value in [0, 1, 2, 77] {
                let x = Scalar::from_int(ty, value);
                assert_eq!(eval2(op, ty, identity.of(ty).bits, x.bits), Ok(x.bits), "{op} {ty} {value}");
            }
        }
    }
}

fn halves(op: ScalarOp, a: f32, b: f32) -> f32 {
    let bits = |x: f32| f16::from_f32(x).to_bits() as u64;
    f16::from_bits(eval2(op, ElemType::F16, bits(a), bits(b)).expect("no trap") as u16).to_f32()
}

fn singles(op: ScalarOp, a: f32, b: f32) -> f32 {
    let bits = eval2(op, ElemType::F32, a.bits(), b.bits()).expect("no trap");
    f32::from_bits(bits as u32)
}

fn doubles(op: ScalarOp, a: f64, b: f64) -> f64 {
    f64::from_bits(eval2(op, ElemType::F64, a.bits(), b.bits()).expect("no trap"))
}

#[test]
fn bits_of_floats() {
    assert_eq!(eval1(ScalarOp::ToBits, ElemType::F16, 0x3c00), 0x3c00);
    assert_eq!(eval1(ScalarOp::ToBits, ElemType::F32, (-1.5f32).bits()), 0xbfc0_0000);
    assert_eq!(eval1(ScalarOp::FromBits, ElemType::U32, 0x7fc0_0001), 0x7fc0_0001);
    assert_eq!(eval1(ScalarOp::FromBits, ElemType::U64, 1.25f64.to_bits()), 1.25f64.bits());
    let types =
        [(ElemType::F16, ElemType::U16), (ElemType::F32, ElemType::U32), (ElemType::F64, ElemType::U64)];
    for (float, word) in types {
        assert_eq!(ScalarOp::ToBits.result_type(float), word);
        assert_eq!(ScalarOp::FromBits.result_type(word), float);
        assert!(ScalarOp::FromBits.accepts(word) && !ScalarOp::FromBits.accepts(float));
    }
}

#[test]
fn neighbours() {
    let next = ScalarOp::NextAfter;
    assert_eq!(doubles(next, 1.0, 2.0), 1.0 + f64::EPSILON);
    assert_eq!(doubles(next, 0.0, -1.0), -5e-324);
    assert_eq!(doubles(next, 1.0, f64::NEG_INFINITY), 1.0 - f64::EPSILON / 2.0);
    assert_eq!(doubles(next, f64::MAX, f64::INFINITY), f64::INFINITY);
    assert_eq!(doubles(next, -0.0, 0.0).to_bits(), 0);
    assert!(doubles(next, f64::NAN, 1.0).is_nan() && doubles(next, 1.0, f64::NAN).is_nan());
    assert_eq!(singles(next, 1.0, 0.0), 1.0 - f32::EPSILON / 2.0);
    assert_eq!(halves(next, 1.0, 2.0), 1.0009766);
    assert_eq!(halves(next, 1.0, 0.0), 0.9995117);
    assert_eq!(halves(next, -1.0, 0.0), -0.9995117);
    assert_eq!(halves(next, 0.0, -1.0), -5.9604645e-8);
    assert_eq!(halves(next, 65504.0, f32::INFINITY), f32::INFINITY);
    assert_eq!(halves(next, f32::INFINITY, 0.0), 65504.0);
    assert!(halves(next, f32::NAN, 0.0).is_nan());
}

#[test]
fn scaling_by_powers_of_two() {
    let scale = ScalarOp::Scale;
    assert_eq!(doubles(scale, 7.0, -4.0), 0.4375);
    assert_eq!(doubles(scale, 1.0, -1074.0), 5e-324);
    assert_eq!(doubles(scale, 5e-324, 2000.0), 2f64.powi(926));
    assert_eq!(doubles(scale, 1.0, 1e300), f64::INFINITY);
    assert_eq!(doubles(scale, -0.0, 10.0).to_bits(), (-0.0f64).to_bits());
    // Rounded once: a tie that a second rounding would break.
    assert_eq!(doubles(scale, 1.0 + f64::EPSILON, -1075.0), 5e-324);
    assert_eq!(singles(scale, 3.0, -150.0), 1.4e-45 * 2.0);
    assert_eq!(singles(scale, 1.0, 1000.0), f32::INFINITY);
    assert_eq!(halves(scale, 7.0, 4.0), 112.0);
    assert_eq!(halves(scale, 1.0, -24.0), 5.9604645e-8);
    assert_eq!(halves(scale, 1.0, 16.0), f32::INFINITY);
    assert!(doubles(scale, 1.0, f64::NAN).is_nan());
}

/// Values from tables of these functions.
#[test]
fn library_functions_give_known_values() {
    let cases = [
        (ScalarOp::Gamma, 5.0, 24.0),
        (ScalarOp::Gamma, 0.5, 1.772453850905516),
        (ScalarOp::Lgamma, 10.0, 12.801827480081469),
        (ScalarOp::Lgamma, -0.5, 1.2655121234846454),
        (ScalarOp::Erf, 0.5, 0.5204998778130465),
        (ScalarOp::Erfc, 2.0, 0.004677734981047266),
        (ScalarOp::Cbrt, -27.0, -3.0),
        (ScalarOp::Log1p, 1e-10, 9.9999999995e-11),
        (ScalarOp::Asinh, 1.0, 0.881373587019543),
        (ScalarOp::Acosh, 2.0, 1.3169578969248166),
        (ScalarOp::Atanh, 0.5, 0.5493061443340548),
        (ScalarOp::Log2, 12.0, 3.584962500721156),
        (ScalarOp::Rsqrt, 4.0, 0.5),
    ];
    for (op, x, value) in cases {
        let found = f64::from_bits(eval1(op, ElemType::F64, x.bits()));
        assert!((found - value).abs() <= 4.0 * f64::EPSILON * value.abs(), "{op} {x}: {found}");
        let single = f32::from_bits(eval1(op, ElemType::F32, (x as f32).bits()) as u32);
        assert!((f64::from(single) - value).abs() <= 4e-7 * value.abs(), "{op} {x}: {single}");
        let half = f16::from_bits(eval1(op, ElemType::F16, f16::from_f64(x).to_bits() as u64) as u16);
        let near = (half.to_f64() - value).abs() <= 2e-3 * value.abs().max(1e-3);
        assert!(near, "{op} {x}: {half}");
    }
    assert_eq!(doubles(ScalarOp::Hypot, 3.0, -4.0), 5.0);
    assert_eq!(doubles(ScalarOp::Atan2, 1.0, -1.0), 2.356194490192345);
}

#[test]
fn counting_and_high_halves_by_width() {
    let one = |op, ty, a: u64| eval1(op, ty, a);
    assert_eq!(one(ScalarOp::Clz, ElemType::U8, 1), 7);
    assert_eq!(one(ScalarOp::Clz, ElemType::I16, 0), 16);
    assert_eq!(one(ScalarOp::Ctz, ElemType::I64, 0), 64);
    assert_eq!(one(ScalarOp::Popc, ElemType::I8, 0xff), 8);
    let hi = |ty, a: u64, b: u64| eval2(ScalarOp::MulHi, ty, a, b).expect("no trap");
    assert_eq!(hi(ElemType::U8, 200, 200), 156);
    assert_eq!(hi(ElemType::I8, 0x80, 0x80), 0x40);
    assert_eq!(hi(ElemType::I64, u64::MAX, 2), u64::MAX);
    assert_eq!(hi(ElemType::U64, u64::MAX, u64::MAX), u64::MAX - 1);
}
