//! Every scalar operation on every type, and every conversion, in every mode: varying and uniform operands.

use crate::support::*;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_lmad::Lmad;

/// Divisors that are not zero, so that the other operands show.
fn nonzero(arg: Arg) -> Arg {
    match arg {
        Arg::Array(ty, data, lmad) => {
            Arg::Array(ty, data.into_iter().map(|b| if b == 0 { ty.mask() } else { b }).collect(), lmad)
        }
        other => other,
    }
}

fn operands(op: ScalarOp, ty: ElemType, n: usize, random: &mut Random) -> Vec<Arg> {
    (0..op.arity())
        .map(|k| {
            let arg = array(op.operand_type(k, ty), &[n as i64], random);
            if op.can_trap(ty) && k == 1 { nonzero(arg) } else { arg }
        })
        .collect()
}

#[test]
fn operations_on_varying_operands() {
    let mut random = Random::new(21);
    for &op in ScalarOp::ALL {
        for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
            let names = ["a", "b", "c"];
            let params: Vec<String> =
                (0..op.arity()).map(|k| format!("{} : [n]{}", names[k], op.operand_type(k, ty))).collect();
            let reads: Vec<String> = names[..op.arity()].iter().map(|n| format!("{n}[i]")).collect();
            let text = format!(
                "region r (n : i64, {})\nlet r : [n]{} = kernel i < n do let x : {} = {}({}) in x\nin r",
                params.join(", "),
                op.result_type(ty),
                op.result_type(ty),
                op.name(),
                reads.join(", "),
            );
            for n in [33, 150] {
                let mut args = vec![size(n)];
                args.extend(operands(op, ty, n, &mut random));
                check(&text, &args);
            }
        }
    }
}

#[test]
fn operations_on_a_uniform_and_a_varying_operand() {
    let mut random = Random::new(22);
    for &op in ScalarOp::ALL.iter().filter(|op| op.arity() == 2) {
        for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
            let result = op.result_type(ty);
            let text = format!(
                "region r (n : i64, s : {ty}, a : [n]{ty})
                 let (p : [n]{result}, q : [n]{result}, w : [n]{result}) = kernel i < n do
                   let x : {result} = {op}(a[i], s)
                   let y : {result} = {op}(s, a[i])
                   let z : {result} = {op}(s, s)
                   in (x, y, z)
                 in (p, q, w)"
            );
            for _ in 0..4 {
                let mut s = value_of(ty, &mut random);
                if op.can_trap(ty) && s == 0 {
                    s = 3;
                }
                let a = operands(op, ty, 40, &mut random).pop().expect("two operands");
                check(&text, &[size(40), Arg::Scalar(Scalar::new(ty, s)), a]);
            }
        }
    }
}

#[test]
fn bits_of_floats_that_do_not_vary() {
    let mut random = Random::new(27);
    for (float, word) in
        [(ElemType::F16, ElemType::U16), (ElemType::F32, ElemType::U32), (ElemType::F64, ElemType::U64)]
    {
        let text = format!(
            "region r (n : i64, s : {float}, t : {word})
             let (p : [n]{word}, q : [n]{float}) = kernel i < n do
               let x : {word} = to_bits(s)
               let y : {float} = from_bits(t)
               in (x, y)
             in (p, q)"
        );
        let scalar = |ty, random: &mut Random| Arg::Scalar(Scalar::new(ty, value_of(ty, random)));
        for _ in 0..4 {
            check(&text, &[size(40), scalar(float, &mut random), scalar(word, &mut random)]);
        }
    }
}

#[test]
fn extremes_with_constants() {
    let mut random = Random::new(26);
    for op in [ScalarOp::Min, ScalarOp::Max] {
        for ty in [ElemType::F16, ElemType::F32, ElemType::F64] {
            for constant in ["0.0", "-0.0", "1.5", "-2.0", "nan", "inf"] {
                let literal = match constant {
                    "nan" | "inf" => format!("{ty}.{constant}"),
                    _ => format!("{constant}{ty}"),
                };
                for operands in [format!("a[i], {literal}"), format!("{literal}, a[i]")] {
                    let text = format!(
                        "region r (n : i64, a : [n]{ty})
                         let r : [n]{ty} = kernel i < n do let x : {ty} = {op}({operands}) in x
                         in r"
                    );
                    check(&text, &[size(40), array(ty, &[40], &mut random)]);
                }
            }
        }
    }
}

#[test]
fn operations_with_constants() {
    let mut random = Random::new(25);
    for op in [
        ScalarOp::Div,
        ScalarOp::Mod,
        ScalarOp::Quot,
        ScalarOp::Rem,
        ScalarOp::Shl,
        ScalarOp::Shr,
        ScalarOp::Min,
    ] {
        for ty in ElemType::ALL.into_iter().filter(|t| t.is_int()) {
            for constant in [1i64, 2, 3, 7, 16, -1, -4] {
                let c = Scalar::from_int(ty, constant);
                let text = format!(
                    "region r (n : i64, a : [n]{ty})
                     let r : [n]{ty} = kernel i < n do let x : {ty} = {op}(a[i], {c}) in x
                     in r"
                );
                check(&text, &[size(40), array(ty, &[40], &mut random)]);
            }
        }
    }
}

#[test]
fn conversions() {
    let mut random = Random::new(23);
    for from in ElemType::ALL {
        for to in ElemType::ALL {
            let text = format!(
                "region r (n : i64, s : {from}, a : [n]{from})
                 let (p : [n]{to}, q : [n]{to}) = kernel i < n do
                   let x : {to} = to_{to}(a[i])
                   let y : {to} = to_{to}(s)
                   in (x, y)
                 in (p, q)"
            );
            for n in [45, 140] {
                let s = Arg::Scalar(Scalar::new(from, value_of(from, &mut random)));
                check(&text, &[size(n), s, array(from, &[n as i64], &mut random)]);
            }
        }
    }
}

#[test]
fn indices_as_numbers() {
    for ty in ElemType::ALL {
        let text = format!(
            "region r (n : i64, k : i64)
             let r : [n]{ty} = kernel i < n do let x : {ty} = to_{ty}(3 * i - k) in x
             in r"
        );
        check_sizes(&text, SIZES, |n| vec![size(n), size(17)]);
    }
}

#[test]
fn division_of_multiples_by_constants() {
    let mut random = Random::new(27);
    for ty in [ElemType::I32, ElemType::U32, ElemType::I16, ElemType::U8] {
        for divisor in
            [1i64, -1, 2, -2, 3, 7, 10, 641, 0x10001, 0x7fff_ffff, -3, -7, -0x8000_0000, 0xffff_fffe]
        {
            let divisor = Scalar::from_int(ty, divisor);
            if divisor.bits == 0 {
                continue;
            }
            let signed = |bits: u64| Scalar::new(ty, bits & ty.mask()).as_i64();
            // Multiples and their neighbours, the largest and the smallest ones among them.
            let most =
                i64::try_from(ty.mask()).expect("at most 32 bits") / signed(divisor.bits).abs().max(1) + 1;
            let near = |k: i64| {
                let multiple = signed(divisor.bits).wrapping_mul(k);
                [-1, 0, 1].map(|off| multiple.wrapping_add(off) as u64 & ty.mask())
            };
            let few = (0..4).flat_map(|k| [k, -k, most - k, most / 2 + k, most / 2 - k]);
            let some: Vec<i64> = few.chain((0..40).map(|_| random.below(most as usize) as i64)).collect();
            let numbers: Vec<u64> = some.into_iter().flat_map(near).collect();
            let view = Lmad::row_major(&[numbers.len() as i64]);
            for op in [ScalarOp::Div, ScalarOp::Mod, ScalarOp::Quot, ScalarOp::Rem] {
                let text = format!(
                    "region r (n : i64, a : [n]{ty})
                     let r : [n]{ty} = kernel i < n do let x : {ty} = {op}(a[i], {divisor}) in x
                     in r"
                );
                check(&text, &[size(numbers.len()), Arg::Array(ty, numbers.clone(), view.clone())]);
            }
        }
    }
}

#[test]
fn wide_division_of_small_and_large_numbers() {
    let mut random = Random::new(26);
    for op in [ScalarOp::Div, ScalarOp::Mod, ScalarOp::Quot, ScalarOp::Rem] {
        for ty in [ElemType::I64, ElemType::U64] {
            let text = format!(
                "region r (n : i64, a : [n]{ty}, b : [n]{ty})
                 let r : [n]{ty} = kernel i < n do let x : {ty} = {op}(a[i], b[i]) in x
                 in r"
            );
            let mut launches = Vec::new();
            for bits in [3, 20, 50, 51, 52, 60] {
                let mut near = |shift: u32| -> Vec<u64> {
                    let one = |r: u64| match (ty.is_signed(), r & 1) {
                        (true, 1) => (r >> shift).wrapping_neg(),
                        _ => r >> shift,
                    };
                    (0..200).map(|_| one(random.bits())).map(|b| if b == 0 { 1 } else { b }).collect()
                };
                let (a, b) = (near(64 - bits), near(64 - bits / 2));
                // Multiples and their neighbours, where a rounded quotient would be off by one.
                let close = a.iter().zip(&b).map(|(a, b)| (a / b).wrapping_mul(*b).wrapping_sub(1)).collect();
                for a in [a, close] {
                    let view = Lmad::row_major(&[200]);
                    let (a, b) = (Arg::Array(ty, a, view.clone()), Arg::Array(ty, b.clone(), view));
                    launches.push(vec![size(200), a, b]);
                }
            }
            check_launches(&text, "", &launches, 0.0);
        }
    }
}
