//! Steps executed as they stand against the operations they are made of.

use super::*;
use crate::scalar::{eval1, eval2};
use galopvm_testkit::Random;

/// What the steps give, and whether it is known.
fn executed(steps: &Steps, operands: [f64; 2]) -> (f64, bool) {
    let mut results: Vec<u64> = Vec::new();
    for step in &steps.steps {
        let number = |at: At| f64::from_bits(results[at]);
        let word = |at: At| results[at];
        let result = match *step {
            Step::Operand(k) => operands[k].to_bits(),
            Step::Constant(bits) => bits,
            Step::Add(a, b) => (number(a) + number(b)).to_bits(),
            Step::Sub(a, b) => (number(a) - number(b)).to_bits(),
            Step::Mul(a, b) => (number(a) * number(b)).to_bits(),
            Step::Div(a, b) => (number(a) / number(b)).to_bits(),
            Step::Sqrt(a) => f64::sqrt(number(a)).to_bits(),
            Step::Neg(a) => (-number(a)).to_bits(),
            Step::Abs(a) => f64::abs(number(a)).to_bits(),
            Step::CopySign(a, b) => f64::copysign(number(a), number(b)).to_bits(),
            Step::Less(a, b) => u64::from(number(a) < number(b)),
            Step::LessOrEqual(a, b) => u64::from(number(a) <= number(b)),
            Step::Equal(a, b) => u64::from(number(a) == number(b)),
            Step::Both(a, b) => word(a) & word(b),
            Step::Either(a, b) => word(a) | word(b),
            Step::Not(a) => word(a) ^ 1,
            Step::Select(condition, yes, no) => word(if word(condition) == 1 { yes } else { no }),
            Step::Word(a) | Step::Number(a) => word(a),
            Step::Plus(a, other) => word(a).wrapping_add(other),
            Step::And(a, other) => word(a) & other,
            Step::Or(a, other) => word(a) | other,
            Step::Xor(a, b) => word(a) ^ word(b),
            Step::ShiftLeft(a, count) => word(a) << count,
            Step::ShiftRight(a, count) => word(a) >> count,
            Step::IsZero(a) => u64::from(word(a) == 0),
        };
        results.push(result);
    }
    (f64::from_bits(results[steps.value]), steps.known.is_none_or(|known| results[known] == 1))
}

/// An argument from a range that matters, or any.
fn argument(random: &mut Random, k: usize) -> f64 {
    match k % 4 {
        0 => random.real(-3.0, 3.0),
        1 => random.real(-1000.0, 1000.0),
        2 => random.real(-1.0, 1.0) * 2f64.powi((random.bits() % 2100) as i32 - 1050),
        _ => f64::from_bits(random.bits()),
    }
}

#[test]
fn steps_give_the_bits_of_the_operation() {
    let mut random = Random::new(11);
    let mut functions = 0;
    for ty in [ElemType::F32, ElemType::F64] {
        for &op in ScalarOp::ALL.iter().filter(|op| op.accepts(ty)) {
            let Some(steps) = steps_of(op, ty) else { continue };
            functions += 1;
            let mut known = 0;
            for k in 0..20_000 {
                let operands = [argument(&mut random, k), argument(&mut random, k / 4)];
                let (found, is_known, expected) = match ty {
                    ElemType::F32 => {
                        let [a, b] = operands.map(|x| x as f32);
                        let (value, is_known) = executed(&steps, [f64::from(a), f64::from(b)]);
                        let [a, b] = [a, b].map(|x| u64::from(x.to_bits()));
                        let expected =
                            if op.arity() == 1 { Ok(eval1(op, ty, a)) } else { eval2(op, ty, a, b) };
                        let expected = f32::from_bits(expected.expect("floats do not trap") as u32);
                        (f64::from(value as f32), is_known, f64::from(expected))
                    }
                    _ => {
                        let (value, is_known) = executed(&steps, operands);
                        (value, is_known, f64::from_bits(eval1(op, ty, operands[0].to_bits())))
                    }
                };
                known += u32::from(is_known);
                let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
                assert!(same || !is_known, "{op} on {ty} of {operands:?}: {found:?}, not {expected:?}");
            }
            assert!(known > 2_000, "{op} on {ty} is known for {known} arguments only");
        }
    }
    assert_eq!(functions, 21 + 8);
}

#[test]
fn steps_are_told() {
    let steps = steps_of(ScalarOp::Hypot, ElemType::F32).expect("it has no branches");
    let expected = "\
0: Operand(0)
1: Operand(1)
2: Abs(0)
3: Constant(inf)
4: Equal(2, 3)
5: Abs(1)
6: Equal(5, 3)
7: Either(4, 6)
8: Mul(0, 0)
9: Mul(1, 1)
10: Add(8, 9)
11: Sqrt(10)
12: Select(7, 3, 11)
12
";
    assert_eq!(steps.to_string(), expected);
}
