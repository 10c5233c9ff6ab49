//! Building expressions: constants are folded and neutral operands dropped, so that composed index
//! arithmetic stays readable and comparable.
//!
//! Invariant: what is built has the value and the traps of what was asked for, for all values of its names.

use crate::ir::Exp;
use galopvm_base::scalar::eval;
use galopvm_base::{ElemType, Scalar, ScalarOp};

/// The value of an expression that is a constant, as an `i64`.
pub fn constant(exp: &Exp) -> Option<i64> {
    match exp {
        Exp::Const(scalar) if scalar.ty.is_int() => Some(scalar.as_i64()),
        _ => None,
    }
}

/// True for the constant `true`.
pub fn is_true(exp: &Exp) -> bool {
    *exp == Exp::Const(Scalar::bool(true))
}

/// The number of parts of an expression.
pub fn size(exp: &Exp) -> usize {
    let mut parts = 0;
    exp.visit(&mut |_| parts += 1);
    parts
}

/// True for constants and names, which can be repeated for nothing.
pub fn is_atom(exp: &Exp) -> bool {
    matches!(exp, Exp::Const(_) | Exp::Var(_))
}

/// Whether an operation may trap: it divides by what may be zero.
pub fn may_trap(op: ScalarOp, ty: ElemType, args: &[Exp]) -> bool {
    op.can_trap(ty) && args.get(1).and_then(constant).is_none_or(|divisor| divisor == 0)
}

/// True if computing the expression can be left out.
fn cannot_trap(exp: &Exp) -> bool {
    let mut total = true;
    exp.visit(&mut |part| {
        total &= match part {
            Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => true,
            Exp::Op(op, ty, args) => !may_trap(*op, *ty, args),
            Exp::Read(_) | Exp::Opaque(..) => false,
        }
    });
    total
}

/// A scalar operation on operands of type `ty`.
pub fn op(op: ScalarOp, ty: ElemType, args: Vec<Exp>) -> Exp {
    if args.len() != op.arity() {
        return Exp::Op(op, ty, args);
    }
    let bits: Option<Vec<u64>> =
        args.iter().map(|a| if let Exp::Const(scalar) = a { Some(scalar.bits) } else { None }).collect();
    if let Some(bits) = bits
        && op.is_exact(ty)
        && let Ok(value) = eval(op, ty, &bits)
    {
        return Exp::Const(Scalar::new(op.result_type(ty), value));
    }
    if ty.is_int() {
        let known = |k: usize| args.get(k).and_then(constant);
        match (op, known(0), known(1)) {
            (ScalarOp::Add, Some(0), _) | (ScalarOp::Mul, Some(1), _) => return args[1].clone(),
            (ScalarOp::Add | ScalarOp::Sub, _, Some(0)) => return args[0].clone(),
            (ScalarOp::Mul | ScalarOp::Div | ScalarOp::Quot, _, Some(1)) => return args[0].clone(),
            (ScalarOp::Mul, Some(0), _) if is_atom(&args[1]) => return args[0].clone(),
            (ScalarOp::Mul, _, Some(0)) if is_atom(&args[0]) => return args[1].clone(),
            _ => {}
        }
    }
    // Sums wrap, so these hold for all values.
    if let (
        ScalarOp::Add | ScalarOp::Sub,
        [Exp::Op(inner @ (ScalarOp::Add | ScalarOp::Sub), _, terms), Exp::Const(b)],
    ) = (op, &args[..])
        && let Exp::Const(a) = terms[1]
        && ty == ElemType::I64
    {
        let signed = |op, c: Scalar| if op == ScalarOp::Add { c.as_i64() } else { c.as_i64().wrapping_neg() };
        let sum = signed(*inner, a).wrapping_add(signed(op, *b));
        return match sum {
            0 => terms[0].clone(),
            i64::MIN..0 if sum != i64::MIN => {
                Exp::Op(ScalarOp::Sub, ElemType::I64, vec![terms[0].clone(), Exp::int(-sum)])
            }
            _ => Exp::Op(ScalarOp::Add, ElemType::I64, vec![terms[0].clone(), Exp::int(sum)]),
        };
    }
    if let (
        ScalarOp::Add,
        [Exp::Op(ScalarOp::Sub, _, terms), other] | [other, Exp::Op(ScalarOp::Sub, _, terms)],
    ) = (op, &args[..])
        && ty.is_int()
        && terms[1] == *other
        && cannot_trap(other)
    {
        return terms[0].clone();
    }
    if let (ScalarOp::Sub, Some(Exp::Op(ScalarOp::Add, _, terms))) = (op, args.first())
        && ty.is_int()
        && cannot_trap(&args[1])
    {
        for (k, other) in [(0, 1), (1, 0)] {
            if terms[k] == args[1] {
                return terms[other].clone();
            }
        }
    }
    if ty == ElemType::Bool && op == ScalarOp::And {
        for (k, other) in [(0, 1), (1, 0)] {
            if is_true(&args[k]) {
                return args[other].clone();
            }
        }
    }
    if matches!(op, ScalarOp::Eq | ScalarOp::Le | ScalarOp::Ge)
        && !ty.is_float()
        && is_atom(&args[0])
        && args[0] == args[1]
    {
        return Exp::Const(Scalar::bool(true));
    }
    Exp::Op(op, ty, args)
}

/// An operation on two `i64`.
pub fn int(which: ScalarOp, a: Exp, b: Exp) -> Exp {
    op(which, ElemType::I64, vec![a, b])
}

/// `a + b`
pub fn add(a: Exp, b: Exp) -> Exp {
    int(ScalarOp::Add, a, b)
}

/// `a - b`
pub fn sub(a: Exp, b: Exp) -> Exp {
    int(ScalarOp::Sub, a, b)
}

/// `a * b`
pub fn mul(a: Exp, b: Exp) -> Exp {
    int(ScalarOp::Mul, a, b)
}

/// The conjunction of two conditions.
pub fn and(a: Exp, b: Exp) -> Exp {
    op(ScalarOp::And, ElemType::Bool, vec![a, b])
}

/// Either condition.
pub fn or(a: Exp, b: Exp) -> Exp {
    op(ScalarOp::Or, ElemType::Bool, vec![a, b])
}

/// The other truth.
pub fn not(a: Exp) -> Exp {
    op(ScalarOp::Not, ElemType::Bool, vec![a])
}

/// Conversion to a type.
pub fn convert(from: ElemType, to: ElemType, exp: Exp) -> Exp {
    match exp {
        exp if from == to => exp,
        Exp::Const(scalar) => {
            Exp::Const(Scalar::new(to, galopvm_base::scalar::convert(from, to, scalar.bits)))
        }
        exp => Exp::Convert(to, Box::new(exp)),
    }
}

/// The expression built anew, with its operations on constants computed.
pub fn simplified(exp: &Exp) -> Exp {
    match exp {
        Exp::Op(which, ty, args) => op(*which, *ty, args.iter().map(simplified).collect()),
        exp => exp.clone(),
    }
}
