//! What an expression is while core is built: data in parts, or a function to be expanded where it is applied.

use super::emit::Within;
use super::env::Env;
use super::ir::Atom;
use crate::names::GlobalId;
use crate::syntax::ast::*;
use crate::types::{Size, Type, tuple_field};
use galopvm_base::{ElemType, Scalar, Span};
use galopvm_bytecode::ValueType;
use galopvm_stdlib::{Intrinsic, Member};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A value during building. An array of tuples is a tuple of arrays.
#[derive(Clone)]
pub(super) enum Value<'a> {
    /// A scalar or an array of scalars.
    Atom(Atom),
    /// An array of empty records: an array of truth values, of which only the extents matter.
    Unit(Atom),
    /// A tuple or record, or an array of them.
    Record(Rc<[(Rc<str>, Value<'a>)]>),
    /// A value of a sum type, or an array of them.
    Sum(Rc<SumValue<'a>>),
    /// An accumulator: the number of its operator, and its destination.
    Acc(usize, Rc<Value<'a>>),
    /// A function.
    Fun(Rc<Closure<'a>>),
    /// A size that is computed when it is needed.
    Size(Rc<LazySize<'a>>),
}

/// A value of a sum type.
pub(super) struct SumValue<'a> {
    pub layout: Rc<SumLayout>,
    /// The tag, then the slots of the layout.
    pub parts: Vec<Atom>,
    /// The constructor and its payload, where the program's text tells.
    pub known: Option<(usize, Vec<Value<'a>>)>,
}

/// How values of a sum type are held: a tag and slots, which constructors share where they hold scalars.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct SumLayout {
    pub constructors: Vec<Constructor>,
    /// Types of the slots.
    pub slots: Vec<ValueType>,
}

/// One constructor of a sum type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Constructor {
    pub name: Rc<str>,
    pub payload: Vec<Structure>,
    /// The slot of each part of the payload.
    pub slots: Vec<usize>,
}

impl SumLayout {
    /// The type of tags.
    pub const TAG: ElemType = ElemType::I8;

    /// A layout for these constructors, which are sorted by name.
    pub fn new(constructors: Vec<(Rc<str>, Vec<Structure>)>) -> SumLayout {
        let mut slots: Vec<ValueType> = Vec::new();
        let mut all = Vec::new();
        for (name, payload) in constructors {
            let mut leaves = Vec::new();
            payload.iter().for_each(|s| s.leaves(&mut leaves));
            let mut own: Vec<usize> = Vec::new();
            for ty in leaves {
                // Arrays have slots of their own: what they share would have to agree in its extents.
                let free = (0..slots.len()).find(|k| ty.is_scalar() && slots[*k] == ty && !own.contains(k));
                own.push(free.unwrap_or_else(|| {
                    slots.push(ty);
                    slots.len() - 1
                }));
            }
            all.push(Constructor { name, payload, slots: own });
        }
        SumLayout { constructors: all, slots }
    }

    /// The number of a constructor.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.constructors.iter().position(|c| *c.name == *name)
    }

    /// The tag of a constructor.
    pub fn tag(index: usize) -> Atom {
        Atom::Const(Scalar::from_int(SumLayout::TAG, index as i64))
    }
}

/// A size in the scope that it was written in.
pub(super) struct LazySize<'a> {
    pub size: Size,
    pub ctx: Context<'a>,
    /// Its value, once it was computed; valid where that is visible.
    pub value: Cell<Option<Atom>>,
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
    /// A hole of a function type.
    Hole(Rc<Type>, Context<'a>, Span),
}

/// The text of a lambda or local function.
#[derive(Clone, Copy)]
pub(super) struct LocalFun<'a> {
    pub type_params: &'a [TypeParam<'a>],
    pub params: &'a [Pat<'a>],
    pub body: &'a Exp<'a>,
}

/// What a use of a polymorphic function chose. Sizes in the types have names of their own, which `sizes` binds too.
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
    pub env: Env<'a>,
    pub types: Rc<[(NodeId, Type)]>,
    /// Sizes that expressions of the function brought into being.
    pub found: Rc<Found>,
    /// Where the code stands that sees these names.
    pub within: Within,
}

/// Sizes that expressions of one function brought into being, the latest last.
#[derive(Default)]
pub(super) struct Found {
    pub sizes: RefCell<Vec<(NodeId, Atom)>>,
    pub outer: Option<Rc<Found>>,
}

impl<'a> Context<'a> {
    pub fn empty() -> Context<'a> {
        Context { env: Env::default(), types: Rc::from([]), found: Rc::default(), within: Within::default() }
    }

    /// The same scope for a function inside: the sizes it finds are its own.
    pub fn inner(&self) -> Context<'a> {
        let found = Found { sizes: RefCell::default(), outer: Some(self.found.clone()) };
        Context { found: Rc::new(found), ..self.clone() }
    }

    pub fn get(&self, id: NodeId) -> Option<Value<'a>> {
        if let Some(value) = self.env.get(id) {
            return Some(value.clone());
        }
        let mut found = Some(&self.found);
        while let Some(here) = found {
            if let Some((_, atom)) = here.sizes.borrow().iter().rev().find(|(name, _)| *name == id) {
                return Some(Value::Atom(*atom));
            }
            found = here.outer.as_ref();
        }
        None
    }

    pub fn bind(&mut self, id: NodeId, value: Value<'a>) {
        self.env.bind(id, value);
    }

    /// Remembers a size that an expression brought into being.
    pub fn find(&self, id: NodeId, size: Atom) {
        self.found.sizes.borrow_mut().push((id, size));
    }
}

/// The structure of a value: how its parts fit together, and their types.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Structure {
    Atom(ValueType),
    /// An array of empty records, of this rank. Rank 0 is an element of one, which has a part, unlike `()` itself.
    Unit(u8),
    Record(Vec<(Rc<str>, Structure)>),
    /// A value of a sum type, or an array of them of this rank.
    Sum(Rc<SumLayout>, u8),
    /// An accumulator: the number of its operator, and the structure of its destination.
    Acc(usize, Box<Structure>),
}

impl Structure {
    /// The types of the parts, in order.
    pub fn leaves(&self, out: &mut Vec<ValueType>) {
        match self {
            Structure::Atom(ty) => out.push(*ty),
            Structure::Unit(rank) => out.push(ValueType::array(ElemType::Bool, *rank)),
            Structure::Record(fields) => fields.iter().for_each(|(_, s)| s.leaves(out)),
            Structure::Sum(layout, rank) => {
                out.push(ValueType::array(SumLayout::TAG, *rank));
                let deep = |t: &ValueType| ValueType { rank: t.rank.saturating_add(*rank), ..*t };
                out.extend(layout.slots.iter().map(deep));
            }
            Structure::Acc(_, inner) => inner.leaves(out),
        }
    }

    /// The types of the parts, in order.
    pub fn types(&self) -> Vec<ValueType> {
        let mut types = Vec::new();
        self.leaves(&mut types);
        types
    }

    /// The structure of arrays of such values.
    pub fn array_of(&self) -> Structure {
        match self {
            Structure::Atom(ty) => Structure::Atom(ty.array_of()),
            Structure::Unit(rank) => Structure::Unit(rank.saturating_add(1)),
            Structure::Record(fields) if fields.is_empty() => Structure::Unit(1),
            Structure::Record(fields) => {
                Structure::Record(fields.iter().map(|(n, s)| (n.clone(), s.array_of())).collect())
            }
            Structure::Sum(layout, rank) => Structure::Sum(layout.clone(), rank.saturating_add(1)),
            Structure::Acc(number, inner) => Structure::Acc(*number, Box::new(inner.array_of())),
        }
    }

    /// The structure of the rows of such arrays.
    pub fn row(&self) -> Structure {
        match self {
            Structure::Atom(ty) => Structure::Atom(ty.row().unwrap_or(*ty)),
            Structure::Unit(rank) => Structure::Unit(rank.saturating_sub(1)),
            Structure::Record(fields) => {
                Structure::Record(fields.iter().map(|(n, s)| (n.clone(), s.row())).collect())
            }
            Structure::Sum(layout, rank) => Structure::Sum(layout.clone(), rank.saturating_sub(1)),
            Structure::Acc(number, inner) => Structure::Acc(*number, Box::new(inner.row())),
        }
    }

    /// A value of this structure made of these parts.
    pub fn fill<'a>(&self, parts: &mut impl Iterator<Item = Atom>) -> Value<'a> {
        // As many parts as leaves are always given; a missing one would be a constant nobody reads.
        let mut next = || parts.next().unwrap_or(Atom::bool(false));
        match self {
            Structure::Atom(_) => Value::Atom(next()),
            Structure::Unit(0) => {
                next();
                Value::tuple(Vec::new())
            }
            Structure::Unit(_) => Value::Unit(next()),
            Structure::Record(fields) => {
                Value::Record(fields.iter().map(|(n, s)| (n.clone(), s.fill(parts))).collect())
            }
            Structure::Sum(layout, _) => {
                let parts = (0..=layout.slots.len()).map(|_| next()).collect();
                Value::Sum(Rc::new(SumValue { layout: layout.clone(), parts, known: None }))
            }
            Structure::Acc(number, inner) => Value::Acc(*number, Rc::new(inner.fill(parts))),
        }
    }
}

impl<'a> Value<'a> {
    /// A tuple.
    pub fn tuple(items: Vec<Value<'a>>) -> Value<'a> {
        Value::Record(items.into_iter().enumerate().map(|(i, v)| (tuple_field(i), v)).collect())
    }

    /// The parts, in order; functions have none.
    pub fn leaves(&self, out: &mut Vec<Atom>) {
        match self {
            Value::Atom(atom) | Value::Unit(atom) => out.push(*atom),
            Value::Record(fields) => fields.iter().for_each(|(_, v)| v.leaves(out)),
            Value::Sum(sum) => out.extend_from_slice(&sum.parts),
            Value::Acc(_, inner) => inner.leaves(out),
            Value::Fun(_) | Value::Size(_) => {}
        }
    }

    /// The parts, in order.
    pub fn parts(&self) -> Vec<Atom> {
        let mut parts = Vec::new();
        self.leaves(&mut parts);
        parts
    }

    /// The value as an element of an array: empty records get a part.
    pub fn element(&self) -> Value<'a> {
        match self {
            Value::Record(fields) if fields.is_empty() => Value::Unit(Atom::bool(false)),
            Value::Record(fields) => {
                Value::Record(fields.iter().map(|(n, v)| (n.clone(), v.element())).collect())
            }
            other => other.clone(),
        }
    }

    /// True if there is a function in it.
    pub fn has_function(&self) -> bool {
        match self {
            Value::Atom(_) | Value::Unit(_) | Value::Size(_) => false,
            Value::Record(fields) => fields.iter().any(|(_, v)| v.has_function()),
            Value::Sum(sum) => {
                sum.known.as_ref().is_some_and(|(_, payload)| payload.iter().any(Value::has_function))
            }
            Value::Acc(_, inner) => inner.has_function(),
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
