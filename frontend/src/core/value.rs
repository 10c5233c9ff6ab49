//! What an expression is while core is built: data in parts, or a function to be expanded where it is applied.

use super::ir::Atom;
use crate::names::GlobalId;
use crate::syntax::ast::*;
use crate::types::Type;
use galopvm_base::ElemType;
use galopvm_bytecode::ValueType;
use galopvm_stdlib::{Intrinsic, Member};
use std::rc::Rc;

/// A value during building. An array of tuples is a tuple of arrays.
#[derive(Clone)]
pub(super) enum Value<'a> {
    /// A scalar or an array of scalars.
    Atom(Atom),
    /// A tuple or record, or an array of them.
    Record(Rc<[(Rc<str>, Value<'a>)]>),
    /// A function.
    Fun(Rc<Closure<'a>>),
}

/// A function with the arguments it has so far.
pub(super) struct Closure<'a> {
    pub callee: Callee<'a>,
    pub args: Vec<Value<'a>>,
}

/// The forms of a function.
#[derive(Clone)]
pub(super) enum Callee<'a> {
    /// A lambda or local function.
    Local { fun: LocalFun<'a>, ctx: Context<'a>, instance: Use<'a> },
    /// A top-level definition.
    Global(GlobalId, Use<'a>),
    /// A row of the table of intrinsics.
    Intrinsic(&'static Intrinsic, Use<'a>),
    /// A member of a scalar module.
    Member(ElemType, Member),
    /// A built-in operator.
    Operator(&'static str),
    /// `(op e)`: the function and its second argument.
    Right(Value<'a>, Value<'a>),
    /// `(.f[i])`.
    Path(&'a [Step<'a>], Context<'a>),
}

/// The text of a lambda or local function.
#[derive(Clone, Copy)]
pub(super) struct LocalFun<'a> {
    pub type_params: &'a [TypeParam<'a>],
    pub params: &'a [Pat<'a>],
    pub result: Option<&'a TypeExp<'a>>,
    pub body: &'a Exp<'a>,
}

/// What a use of a polymorphic function chose; sizes are values by now.
#[derive(Clone)]
pub(super) struct Use<'a> {
    pub types: Rc<[(NodeId, Type)]>,
    pub sizes: Rc<[(NodeId, Value<'a>)]>,
}

impl Use<'_> {
    pub fn none() -> Self {
        Use { types: Rc::from([]), sizes: Rc::from([]) }
    }
}

/// The names in scope and what the type parameters stand for.
#[derive(Clone)]
pub(super) struct Context<'a> {
    env: Option<Rc<Binding<'a>>>,
    pub types: Rc<[(NodeId, Type)]>,
}

struct Binding<'a> {
    id: NodeId,
    value: Value<'a>,
    next: Option<Rc<Binding<'a>>>,
}

impl<'a> Context<'a> {
    pub fn empty(types: Rc<[(NodeId, Type)]>) -> Context<'a> {
        Context { env: None, types }
    }

    pub fn get(&self, id: NodeId) -> Option<&Value<'a>> {
        let mut at = self.env.as_deref();
        while let Some(binding) = at {
            if binding.id == id {
                return Some(&binding.value);
            }
            at = binding.next.as_deref();
        }
        None
    }

    pub fn bind(&mut self, id: NodeId, value: Value<'a>) {
        self.env = Some(Rc::new(Binding { id, value, next: self.env.take() }));
    }
}

/// The structure of a value: how its parts fit together, and their types.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Structure {
    Atom(ValueType),
    Record(Vec<(Rc<str>, Structure)>),
}

impl Structure {
    /// The types of the parts, in order.
    pub fn leaves(&self, out: &mut Vec<ValueType>) {
        match self {
            Structure::Atom(ty) => out.push(*ty),
            Structure::Record(fields) => fields.iter().for_each(|(_, s)| s.leaves(out)),
        }
    }

    /// The structure of arrays of such values.
    pub fn array_of(&self) -> Structure {
        match self {
            Structure::Atom(ty) => Structure::Atom(ty.array_of()),
            Structure::Record(fields) => {
                Structure::Record(fields.iter().map(|(n, s)| (n.clone(), s.array_of())).collect())
            }
        }
    }

    /// A value of this structure made of these parts.
    pub fn fill<'a>(&self, parts: &mut impl Iterator<Item = Atom>) -> Value<'a> {
        match self {
            // As many parts as leaves are always given; a missing one would be a constant nobody reads.
            Structure::Atom(_) => Value::Atom(parts.next().unwrap_or(Atom::bool(false))),
            Structure::Record(fields) => {
                Value::Record(fields.iter().map(|(n, s)| (n.clone(), s.fill(parts))).collect())
            }
        }
    }
}

impl<'a> Value<'a> {
    /// A tuple.
    pub fn tuple(items: Vec<Value<'a>>) -> Value<'a> {
        Value::Record(items.into_iter().enumerate().map(|(i, v)| (Rc::from(i.to_string()), v)).collect())
    }

    /// The parts, in order; functions have none.
    pub fn leaves(&self, out: &mut Vec<Atom>) {
        match self {
            Value::Atom(atom) => out.push(*atom),
            Value::Record(fields) => fields.iter().for_each(|(_, v)| v.leaves(out)),
            Value::Fun(_) => {}
        }
    }

    /// The parts, in order.
    pub fn parts(&self) -> Vec<Atom> {
        let mut parts = Vec::new();
        self.leaves(&mut parts);
        parts
    }

    /// True if there is a function in it.
    pub fn has_function(&self) -> bool {
        match self {
            Value::Atom(_) => false,
            Value::Record(fields) => fields.iter().any(|(_, v)| v.has_function()),
            Value::Fun(_) => true,
        }
    }

    /// A field.
    pub fn field(&self, name: &str) -> Option<&Value<'a>> {
        match self {
            Value::Record(fields) => fields.iter().find(|(n, _)| **n == *name).map(|(_, v)| v),
            _ => None,
        }
    }
}
