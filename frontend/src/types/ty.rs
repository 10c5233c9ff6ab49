//! Types and sizes as the checker sees them.
//!
//! Invariants:
//! - A tuple is a record with fields `0`, `1`, ...; fields are sorted (numbers by value, before names).
//! - [`Size::Any`] is a size nobody knows before the program runs: it agrees with every size, and wherever a type
//!   was written the program checks it when it runs.

use crate::syntax::ast::NodeId;
use galopvm_base::{ElemType, define_id};
use std::rc::Rc;

define_id!(
    /// A type to be inferred.
    pub struct TypeVar, "t"
);
define_id!(
    /// A size to be inferred.
    pub struct SizeVar, "s"
);

/// A type.
#[derive(Clone, Debug)]
pub enum Type {
    /// A scalar.
    Prim(ElemType),
    /// To be inferred.
    Var(TypeVar),
    /// A type parameter, by its binder.
    Param(NodeId),
    /// An array.
    Array(Size, Rc<Type>),
    /// A tuple or record.
    Record(Rc<[(Rc<str>, Type)]>),
    /// A function; the name that its result's sizes may mention.
    Arrow(Option<NodeId>, Rc<Type>, Rc<Type>),
    /// A message has been given: agrees with everything.
    Error,
}

/// Arithmetic on sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
}

impl SizeOp {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            SizeOp::Add => "+",
            SizeOp::Sub => "-",
            SizeOp::Mul => "*",
        }
    }
}

/// The extent of a dimension.
#[derive(Clone, Debug)]
pub enum Size {
    /// Known only when the program runs.
    Any,
    /// A number.
    Const(i64),
    /// The i64 bound here: a size parameter or a variable.
    Name(NodeId),
    /// To be inferred.
    Var(SizeVar),
    /// Arithmetic on sizes.
    Op(SizeOp, Rc<Size>, Rc<Size>),
}

impl Size {
    /// An operation. It is not computed: `[2 * 3]` still says which factors `unflatten` is to use.
    pub fn op(op: SizeOp, a: Size, b: Size) -> Size {
        match (op, &a, &b) {
            (_, Size::Any, _) | (_, _, Size::Any) => Size::Any,
            (SizeOp::Add | SizeOp::Sub, _, Size::Const(0)) => a,
            (SizeOp::Add, Size::Const(0), _) => b,
            _ => Size::Op(op, Rc::new(a), Rc::new(b)),
        }
    }

    /// The number, if it is made of numbers only.
    pub fn value(&self) -> Option<i64> {
        match self {
            Size::Const(n) => Some(*n),
            Size::Op(op, a, b) => {
                let (a, b) = (a.value()?, b.value()?);
                Some(match op {
                    SizeOp::Add => a.wrapping_add(b),
                    SizeOp::Sub => a.wrapping_sub(b),
                    SizeOp::Mul => a.wrapping_mul(b),
                })
            }
            Size::Any | Size::Name(_) | Size::Var(_) => None,
        }
    }
}

impl Type {
    /// The type of truth values.
    pub const BOOL: Type = Type::Prim(ElemType::Bool);
    /// The type of sizes and indices.
    pub const SIZE: Type = Type::Prim(ElemType::I64);

    /// An array type.
    pub fn array(size: Size, elem: Type) -> Type {
        Type::Array(size, Rc::new(elem))
    }

    /// A function type.
    pub fn arrow(from: Type, to: Type) -> Type {
        Type::Arrow(None, Rc::new(from), Rc::new(to))
    }

    /// A tuple type.
    pub fn tuple(items: Vec<Type>) -> Type {
        Type::Record(items.into_iter().enumerate().map(|(i, t)| (Rc::from(i.to_string()), t)).collect())
    }

    /// A record type; sorts the fields.
    pub fn record(mut fields: Vec<(Rc<str>, Type)>) -> Type {
        fields.sort_by(|a, b| field_order(&a.0, &b.0));
        Type::Record(fields.into())
    }

    /// True for a tuple with these fields.
    pub fn is_tuple(fields: &[(Rc<str>, Type)]) -> bool {
        fields.len() != 1 && fields.iter().enumerate().all(|(i, (name, _))| **name == *i.to_string())
    }
}

/// The order of record fields.
pub fn field_order(a: &str, b: &str) -> std::cmp::Ordering {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(x), Ok(y)) => x.cmp(&y),
        (Ok(_), Err(_)) => std::cmp::Ordering::Less,
        (Err(_), Ok(_)) => std::cmp::Ordering::Greater,
        (Err(_), Err(_)) => a.cmp(b),
    }
}

/// What is bound by a type scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchemeParam {
    /// A type parameter.
    Type(NodeId),
    /// A size parameter.
    Size(NodeId),
}

/// A type with parameters that each use chooses anew.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// The parameters.
    pub params: Rc<[SchemeParam]>,
    /// The type.
    pub ty: Type,
}

impl Scheme {
    /// A type without parameters.
    pub fn mono(ty: Type) -> Scheme {
        Scheme { params: Rc::from([]), ty }
    }
}

/// What a use of a scheme chose.
#[derive(Clone, Debug, Default)]
pub struct Instance {
    /// Type parameters.
    pub types: Vec<(NodeId, Type)>,
    /// Size parameters.
    pub sizes: Vec<(NodeId, Size)>,
}
