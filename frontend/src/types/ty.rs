//! Types and sizes as the checker sees them.
//!
//! Invariants:
//! - A tuple is a record with fields `0`, `1`, ...; fields are sorted (numbers by value, before names), constructors
//!   of a sum type by name.
//! - [`Type::Unique`] stands only inside the parameters and the result of a function type; [`Type::Exists`] only as
//!   the result of a function type.
//! - Equal sizes are equal terms: a size is never computed while it is compared.

use crate::names::Res;
use crate::syntax::ast::NodeId;
use galopvm_base::{ElemType, Scalar, define_id};
use std::cell::RefCell;
use std::rc::Rc;

define_id!(
    /// A type to be inferred.
    pub struct TypeVar, "t"
);
define_id!(
    /// A size to be inferred.
    pub struct SizeVar, "s"
);
define_id!(
    /// An abstract type of a module.
    pub struct OpaqueId, "abstract"
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
    /// An abstract type with its arguments.
    Opaque(OpaqueId, Rc<[TypeArgument]>),
    /// An array.
    Array(Size, Rc<Type>),
    /// A tuple or record.
    Record(Rc<[(Rc<str>, Type)]>),
    /// A sum type: its constructors with their payloads.
    Sum(Constructors),
    /// A function; the name that its result's sizes may mention.
    Arrow(Option<NodeId>, Rc<Type>, Rc<Type>),
    /// A type with sizes that only its value tells.
    Exists(Rc<[NodeId]>, Rc<Type>),
    /// A parameter that is consumed, or a result without aliases.
    Unique(Rc<Type>),
    /// A message has been given: agrees with everything.
    Error,
}

/// Constructors of a sum type with their payloads.
pub type Constructors = Rc<[(Rc<str>, Rc<[Type]>)]>;

/// An argument of an abstract type.
#[derive(Clone, Debug)]
pub enum TypeArgument {
    /// A type.
    Type(Type),
    /// A size.
    Size(Size),
}

/// The extent of a dimension.
#[derive(Clone, Debug)]
pub enum Size {
    /// A message has been given, or nobody can tell: agrees with everything.
    Any,
    /// A number.
    Const(i64),
    /// The i64 bound here (a size parameter, a variable), or a size that came into being here.
    Name(NodeId),
    /// To be inferred.
    Var(SizeVar),
    /// Any other expression.
    Exp(Rc<SizeExp>),
}

/// A size as an expression over other sizes and values.
#[derive(Clone, Debug)]
pub struct SizeExp {
    /// What is done.
    pub head: SizeHead,
    /// With what. A part may have another type than i64.
    pub args: Vec<Size>,
}

/// What a size expression does with its parts.
#[derive(Clone, Debug)]
pub enum SizeHead {
    /// A built-in operator, by its spelling.
    Operator(&'static str),
    /// A function or constant that is not a local binding; the occurrence says which instance.
    Global(Res, NodeId, Rc<str>),
    /// The first part applied to the others.
    Apply,
    /// A field of the only part.
    Field(Rc<str>),
    /// The first part indexed with the others.
    Index,
    /// A literal of another type.
    Literal(Scalar),
    /// A tuple.
    Tuple,
    /// A record with these fields.
    Record(Rc<[Rc<str>]>),
    /// An array literal.
    Array,
    /// `if` of three parts.
    If,
    /// `-e`
    Negate,
    /// `!e`
    Not,
}

impl Size {
    /// An expression.
    pub fn exp(head: SizeHead, args: Vec<Size>) -> Size {
        Size::Exp(Rc::new(SizeExp { head, args }))
    }

    /// An operation on two sizes.
    pub fn op(op: &'static str, a: Size, b: Size) -> Size {
        Size::exp(SizeHead::Operator(op), vec![a, b])
    }

    /// The number, if it is made of numbers only.
    pub fn value(&self) -> Option<i64> {
        match self {
            Size::Const(n) => Some(*n),
            Size::Exp(exp) => {
                let (SizeHead::Operator(op), [a, b]) = (&exp.head, exp.args.as_slice()) else { return None };
                let (a, b) = (a.value()?, b.value()?);
                Some(match *op {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    _ => return None,
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
        Type::Record(items.into_iter().enumerate().map(|(i, t)| (tuple_field(i), t)).collect())
    }

    /// A record type; sorts the fields.
    pub fn record(mut fields: Vec<(Rc<str>, Type)>) -> Type {
        fields.sort_by(|a, b| field_order(&a.0, &b.0));
        Type::Record(fields.into())
    }

    /// A sum type; sorts the constructors.
    pub fn sum(mut constructors: Vec<(Rc<str>, Rc<[Type]>)>) -> Type {
        constructors.sort_by(|a, b| a.0.cmp(&b.0));
        Type::Sum(constructors.into())
    }

    /// A type whose sizes `sizes` only the value tells; the type itself if there are none. Those of a function are
    /// told by its result.
    pub fn exists(sizes: Vec<NodeId>, ty: Type) -> Type {
        match ty {
            ty if sizes.is_empty() => ty,
            // A function's own result is where its sizes come into being.
            Type::Arrow(name, from, to) => {
                Type::Arrow(name, from, Rc::new(Type::exists(sizes, (*to).clone())))
            }
            Type::Exists(more, inner) => {
                let all = sizes.into_iter().chain(more.iter().copied()).collect();
                Type::Exists(all, inner)
            }
            ty => Type::Exists(sizes.into(), Rc::new(ty)),
        }
    }

    /// True for a tuple with these fields.
    pub fn is_tuple(fields: &[(Rc<str>, Type)]) -> bool {
        fields.len() != 1 && fields.iter().enumerate().all(|(i, (name, _))| **name == *i.to_string())
    }

    /// True if the mark of uniqueness stands at the top.
    pub fn is_unique(&self) -> bool {
        matches!(self, Type::Unique(_))
    }
}

/// The name of a field of a tuple. Tuples are many, and the names of their fields few.
pub fn tuple_field(number: usize) -> Rc<str> {
    thread_local! {
        static NAMES: RefCell<Vec<Rc<str>>> = const { RefCell::new(Vec::new()) };
    }
    NAMES.with_borrow_mut(|names| {
        while names.len() <= number {
            names.push(Rc::from(names.len().to_string()));
        }
        names[number].clone()
    })
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
    /// A type parameter, and what it may stand for.
    Type(NodeId, crate::syntax::ast::Lifted),
    /// A size parameter.
    Size(NodeId),
}

impl SchemeParam {
    /// The binder.
    pub fn id(self) -> NodeId {
        match self {
            SchemeParam::Type(id, _) | SchemeParam::Size(id) => id,
        }
    }
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
