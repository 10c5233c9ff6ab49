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

/// Members of every scalar type's module, `bool` too.
const FROM_PRIM: &[&str] =
    &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bool"];
/// Further members of the modules of numbers.
const NUMERIC: &[&str] = &[
    "+", "-", "*", "/", "%", "**", "to_i64", "==", "<", ">", "<=", ">=", "!=", "neg", "max", "min", "abs",
    "sgn", "highest", "lowest", "sum", "product", "maximum", "minimum",
];
/// Further members of the modules of integers.
const INTEGRAL: &[&str] = &[
    "//", "%%", "&", "|", "^", "not", "<<", ">>", ">>>", "num_bits", "get_bit", "set_bit", "popc", "mul_hi",
    "mad_hi", "clz", "ctz",
];
/// Further members of the modules of floats.
const FLOAT: &[&str] = &[
    "recip",
    "from_fraction",
    "to_f64",
    "sqrt",
    "rsqrt",
    "cbrt",
    "exp",
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "tanpi",
    "asin",
    "acos",
    "atan",
    "asinpi",
    "acospi",
    "atanpi",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "atan2",
    "atan2pi",
    "hypot",
    "gamma",
    "lgamma",
    "erf",
    "erfc",
    "lerp",
    "log",
    "log2",
    "log10",
    "log1p",
    "ceil",
    "floor",
    "trunc",
    "round",
    "mad",
    "fma",
    "isinf",
    "isnan",
    "inf",
    "nan",
    "pi",
    "e",
    "from_bits",
    "to_bits",
    "num_bits",
    "get_bit",
    "set_bit",
    "epsilon",
    "nextafter",
    "ldexp",
    "copysign",
];

/// The names of all members of the module of `ty`, in the order of `prelude/math.fut`.
pub fn member_names(ty: ElemType) -> Vec<&'static str> {
    let numeric: &[&str] = if ty == ElemType::Bool { &[] } else { NUMERIC };
    let further: &[&str] = if ty.is_int() {
        INTEGRAL
    } else if ty.is_float() {
        FLOAT
    } else {
        &[]
    };
    [FROM_PRIM, numeric, further].concat()
}

/// The unsigned integer type as wide as `ty`: `int_t` of the module of a float.
pub fn word_type(ty: ElemType) -> ElemType {
    match ty.bytes() {
        1 => ElemType::U8,
        2 => ElemType::U16,
        4 => ElemType::U32,
        _ => ElemType::U64,
    }
}

/// The member `name` of the module of `ty`, if the compiler translates it itself. A name that begins with `_` is an
/// operation of the table that is no member: definitions of the prelude are made of them.
pub fn member(ty: ElemType, name: &str) -> Option<Member> {
    if let Some(hidden) = name.strip_prefix('_') {
        let op: ScalarOp = hidden.parse().ok()?;
        return op.accepts(ty).then_some(Member::Op(op));
    }
    if !member_names(ty).contains(&name) {
        return None;
    }
    if let Ok(from) = name.parse::<ElemType>() {
        return Some(Member::From(from));
    }
    let float = |value: f64| Some(Member::Const(Scalar::from_f64(ty, value)));
    match name {
        "to_i64" => return Some(Member::To(ElemType::I64)),
        "to_f64" => return Some(Member::To(ElemType::F64)),
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
        "highest" => return Some(Member::Const(Identity::Greatest.of(ty))),
        "lowest" => return Some(Member::Const(Identity::Least.of(ty))),
        "num_bits" => return Some(Member::Const(Scalar::new(ElemType::I32, ty.bits() as u64))),
        _ => {}
    }
    let op = operator(name).or_else(|| name.parse().ok())?;
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
