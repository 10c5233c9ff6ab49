//! The modules of the scalar types: what `i32.max`, `f64.exp` or `u8.i64` is.
//!
//! Operations, conversions and constants come from the tables of `galopvm-base`; functions made of them are
//! written in `prelude/scalar.fut`, once for all types.

use galopvm_base::scalar::Identity;
use galopvm_base::{ElemType, Scalar, ScalarOp};

/// A member of a scalar type's module that the compiler translates itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member {
    /// An operation on the type.
    Op(ScalarOp),
    /// The conversion from this type to the module's.
    From(ElemType),
    /// The conversion from the module's type to this one.
    To(ElemType),
    /// A constant.
    Const(Scalar),
}

/// The member `name` of the module of `ty`.
pub fn member(ty: ElemType, name: &str) -> Option<Member> {
    if let Ok(from) = name.parse::<ElemType>() {
        return Some(Member::From(from));
    }
    if let Some(to) = name.strip_prefix("to_").and_then(|n| n.parse().ok()) {
        let known = if ty.is_float() { to == ElemType::I64 || to == ElemType::F64 } else { ty.is_int() };
        return known.then_some(Member::To(to));
    }
    let float = |value: f64| ty.is_float().then(|| Member::Const(Scalar::from_f64(ty, value)));
    match name {
        "pi" => return float(std::f64::consts::PI),
        "e" => return float(std::f64::consts::E),
        "inf" => return float(f64::INFINITY),
        "nan" => return float(f64::NAN),
        "epsilon" => {
            return float(match ty {
                ElemType::F16 => 2f64.powi(-10),
                ElemType::F32 => f32::EPSILON as f64,
                _ => f64::EPSILON,
            });
        }
        "highest" if ty != ElemType::Bool => return Some(Member::Const(Identity::Greatest.of(ty))),
        "lowest" if ty != ElemType::Bool => return Some(Member::Const(Identity::Least.of(ty))),
        "num_bits" if ty != ElemType::Bool => {
            return Some(Member::Const(Scalar::new(ElemType::I32, ty.bits() as u64)));
        }
        _ => {}
    }
    let op = operator(name).or_else(|| {
        let op: ScalarOp = name.parse().ok()?;
        // Infix operations go by their spelling, except `min`, `max` and friends that have none.
        (op.info().infix.is_none() && op != ScalarOp::Select).then_some(op)
    })?;
    op.accepts(ty).then_some(Member::Op(op))
}

/// The operation an operator's spelling stands for.
pub fn operator(spelling: &str) -> Option<ScalarOp> {
    Some(match spelling {
        "+" => ScalarOp::Add,
        "-" => ScalarOp::Sub,
        "*" => ScalarOp::Mul,
        "/" => ScalarOp::Div,
        "%" => ScalarOp::Mod,
        "//" => ScalarOp::Quot,
        "%%" => ScalarOp::Rem,
        "**" => ScalarOp::Pow,
        "==" => ScalarOp::Eq,
        "!=" => ScalarOp::Ne,
        "<" => ScalarOp::Lt,
        "<=" => ScalarOp::Le,
        ">" => ScalarOp::Gt,
        ">=" => ScalarOp::Ge,
        "&" => ScalarOp::And,
        "|" => ScalarOp::Or,
        "^" => ScalarOp::Xor,
        "<<" => ScalarOp::Shl,
        ">>" => ScalarOp::Shr,
        ">>>" => ScalarOp::Ushr,
        "min" => ScalarOp::Min,
        "max" => ScalarOp::Max,
        _ => return None,
    })
}

/// Names that a message may suggest for the module of `ty`.
pub fn member_names(ty: ElemType) -> Vec<&'static str> {
    let ops = ScalarOp::ALL.iter().map(|op| op.name());
    let types = ElemType::ALL.into_iter().map(ElemType::name);
    let constants = ["pi", "e", "inf", "nan", "epsilon", "highest", "lowest", "num_bits", "to_i64", "to_f64"];
    ops.chain(types).chain(constants).filter(|name| member(ty, name).is_some()).collect()
}
