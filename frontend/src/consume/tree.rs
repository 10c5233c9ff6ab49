//! The shape of a type with something noted at each place that may be memory: what it shares, or whether it is unique.
//!
//! Invariants:
//! - Scalars carry nothing: they are copied. An array is one place, whatever its elements are.
//! - A value of a type that is not known (a parameter, an abstract type) is one place: it may be an array.

use super::aliases::{Aliases, PathId, Paths};
use crate::syntax::ast::{NodeId, TypeExp, TypeExpKind};
use crate::types::{Type, field_order};
use std::rc::Rc;

/// A type's shape with an `A` at each place.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tree<A> {
    /// A number or truth value.
    Scalar,
    /// An array.
    Array(A),
    /// Of a type that is not known.
    Hidden(A),
    /// A tuple or record; fields in the order of types.
    Record(Rc<[(Rc<str>, Tree<A>)]>),
    /// A sum type.
    Sum(Rc<[(Rc<str>, Payloads<A>)]>),
    /// A function: what it has captured, and its type.
    Function(A, Rc<Signature>),
}

/// What a constructor holds.
pub(super) type Payloads<A> = Rc<[Tree<A>]>;

/// What a value may share.
pub(super) type Value = Tree<Aliases>;

/// Which parts are unique: consumed (of a parameter), or without aliases (of a result).
pub(super) type Marks = Tree<bool>;

/// A function's type.
#[derive(PartialEq, Debug)]
pub(super) struct Signature {
    pub(super) param: Marks,
    pub(super) result: Marks,
}

impl Signature {
    /// True if an argument is consumed. One unique part makes the whole parameter consuming.
    pub(super) fn consumes(&self) -> bool {
        self.param.any_unique()
    }
}

impl<A: Clone> Tree<A> {
    /// The same shape with other notes.
    pub(super) fn map<B: Clone>(&self, change: &mut impl FnMut(&A) -> B) -> Tree<B> {
        match self {
            Tree::Scalar => Tree::Scalar,
            Tree::Array(a) => Tree::Array(change(a)),
            Tree::Hidden(a) => Tree::Hidden(change(a)),
            Tree::Record(fields) => {
                Tree::Record(fields.iter().map(|(n, t)| (n.clone(), t.map(change))).collect())
            }
            Tree::Sum(constructors) => Tree::Sum(
                constructors
                    .iter()
                    .map(|(n, parts)| (n.clone(), parts.iter().map(|t| t.map(change)).collect()))
                    .collect(),
            ),
            Tree::Function(a, signature) => Tree::Function(change(a), signature.clone()),
        }
    }

    /// Looks at every note.
    pub(super) fn each(&self, look: &mut impl FnMut(&A)) {
        match self {
            Tree::Scalar => {}
            Tree::Array(a) | Tree::Hidden(a) | Tree::Function(a, _) => look(a),
            Tree::Record(fields) => fields.iter().for_each(|(_, t)| t.each(look)),
            Tree::Sum(constructors) => {
                constructors.iter().for_each(|(_, parts)| parts.iter().for_each(|t| t.each(look)));
            }
        }
    }

    /// The same shape with the same note everywhere.
    pub(super) fn fill<B: Clone>(&self, note: &B) -> Tree<B> {
        self.map(&mut |_| note.clone())
    }

    /// A field of a record.
    pub(super) fn field(&self, name: &str) -> Option<&Tree<A>> {
        match self {
            Tree::Record(fields) => fields.iter().find(|(n, _)| **n == *name).map(|(_, t)| t),
            _ => None,
        }
    }

    /// The payloads of a constructor.
    pub(super) fn constructor(&self, name: &str) -> Option<&Payloads<A>> {
        match self {
            Tree::Sum(constructors) => constructors.iter().find(|(n, _)| **n == *name).map(|(_, t)| t),
            _ => None,
        }
    }

    /// A record with one field replaced.
    pub(super) fn with_field(&self, name: &str, new: Tree<A>) -> Tree<A> {
        match self {
            Tree::Record(fields) => Tree::Record(
                fields
                    .iter()
                    .map(|(n, t)| (n.clone(), if **n == *name { new.clone() } else { t.clone() }))
                    .collect(),
            ),
            _ => self.clone(),
        }
    }

    /// A sum with one constructor's payloads replaced.
    pub(super) fn with_constructor(&self, name: &str, payloads: Payloads<A>) -> Tree<A> {
        match self {
            Tree::Sum(constructors) => Tree::Sum(
                constructors
                    .iter()
                    .map(|(n, old)| (n.clone(), if **n == *name { payloads.clone() } else { old.clone() }))
                    .collect(),
            ),
            _ => self.clone(),
        }
    }

    /// A record; sorts the fields.
    pub(super) fn record(mut fields: Vec<(Rc<str>, Tree<A>)>) -> Tree<A> {
        fields.sort_by(|a, b| field_order(&a.0, &b.0));
        Tree::Record(fields.into())
    }

    /// A tuple.
    pub(super) fn tuple(items: Vec<Tree<A>>) -> Tree<A> {
        Tree::Record(items.into_iter().enumerate().map(|(i, t)| (Rc::from(i.to_string()), t)).collect())
    }

    /// True if it is or contains a function.
    pub(super) fn has_function(&self) -> bool {
        match self {
            Tree::Scalar | Tree::Array(_) | Tree::Hidden(_) => false,
            Tree::Record(fields) => fields.iter().any(|(_, t)| t.has_function()),
            Tree::Sum(constructors) => constructors.iter().any(|(_, ts)| ts.iter().any(Tree::has_function)),
            Tree::Function(..) => true,
        }
    }
}

impl Marks {
    /// The shape of a type with the marks that its function types carry.
    pub(super) fn of(ty: &Type) -> Marks {
        match ty {
            Type::Prim(_) | Type::Error => Tree::Scalar,
            Type::Var(_) | Type::Param(_) | Type::Opaque(..) => Tree::Hidden(false),
            Type::Array(..) => Tree::Array(false),
            Type::Record(fields) => {
                Tree::Record(fields.iter().map(|(n, t)| (n.clone(), Marks::of(t))).collect())
            }
            Type::Sum(constructors) => Tree::Sum(
                constructors
                    .iter()
                    .map(|(n, parts)| (n.clone(), parts.iter().map(Marks::of).collect()))
                    .collect(),
            ),
            Type::Arrow(_, from, to) => {
                Tree::Function(false, Rc::new(Signature { param: Marks::of(from), result: Marks::of(to) }))
            }
            Type::Exists(_, inner) => Marks::of(inner),
            Type::Unique(inner) => Marks::of(inner).fill(&true),
        }
    }

    /// Adds the marks of a type as written.
    pub(super) fn written(self, ty: &TypeExp) -> Marks {
        match (ty.kind, self) {
            (TypeExpKind::Unique(inner), marks) => marks.written(inner).fill(&true),
            (TypeExpKind::Parens(inner) | TypeExpKind::Exists(_, inner), marks) => marks.written(inner),
            (TypeExpKind::Tuple(items), Tree::Record(fields)) if fields.len() == items.len() => Tree::Record(
                fields.iter().zip(items).map(|((n, t), item)| (n.clone(), t.clone().written(item))).collect(),
            ),
            (TypeExpKind::Record(items), Tree::Record(fields)) => {
                let part = |name: &str| items.iter().find(|(n, _)| n.text == name).map(|(_, t)| t);
                Tree::Record(
                    fields
                        .iter()
                        .map(|(n, t)| (n.clone(), part(n).map_or(t.clone(), |item| t.clone().written(item))))
                        .collect(),
                )
            }
            (TypeExpKind::Sum(items), mut marks @ Tree::Sum(_)) => {
                for (name, written) in items {
                    let Some(payloads) = marks.constructor(name.text) else { continue };
                    let new =
                        payloads.iter().zip(*written).map(|(t, item)| t.clone().written(item)).collect();
                    marks = marks.with_constructor(name.text, new);
                }
                marks
            }
            (TypeExpKind::Arrow(_, from, to), Tree::Function(a, old)) => Tree::Function(
                a,
                Rc::new(Signature {
                    param: old.param.clone().written(from),
                    result: old.result.clone().written(to),
                }),
            ),
            (_, marks) => marks,
        }
    }

    /// Unique where either is; both have the same shape.
    pub(super) fn either(&self, other: &Marks) -> Marks {
        match (self, other) {
            (Tree::Array(a), Tree::Array(b)) => Tree::Array(*a || *b),
            (Tree::Hidden(a), Tree::Hidden(b)) => Tree::Hidden(*a || *b),
            (Tree::Record(a), Tree::Record(b)) if a.len() == b.len() => Tree::Record(
                a.iter().zip(b.iter()).map(|((n, x), (_, y))| (n.clone(), x.either(y))).collect(),
            ),
            (Tree::Sum(a), Tree::Sum(b)) if a.len() == b.len() => Tree::Sum(
                a.iter()
                    .zip(b.iter())
                    .map(|((n, xs), (_, ys))| {
                        (n.clone(), xs.iter().zip(ys.iter()).map(|(x, y)| x.either(y)).collect())
                    })
                    .collect(),
            ),
            _ => self.clone(),
        }
    }

    /// True if some part is unique.
    pub(super) fn any_unique(&self) -> bool {
        match self {
            Tree::Scalar | Tree::Function(..) => false,
            Tree::Array(unique) | Tree::Hidden(unique) => *unique,
            Tree::Record(fields) => fields.iter().any(|(_, t)| t.any_unique()),
            Tree::Sum(constructors) => constructors.iter().any(|(_, ts)| ts.iter().any(Marks::any_unique)),
        }
    }

    /// True if every part that is memory is unique, and none is a function.
    pub(super) fn all_unique(&self) -> bool {
        match self {
            Tree::Scalar => true,
            Tree::Array(unique) | Tree::Hidden(unique) => *unique,
            Tree::Function(..) => false,
            Tree::Record(fields) => fields.iter().all(|(_, t)| t.all_unique()),
            Tree::Sum(constructors) => constructors.iter().all(|(_, ts)| ts.iter().all(Marks::all_unique)),
        }
    }

    /// A value of this shape that shares nothing.
    pub(super) fn fresh(&self) -> Value {
        self.fill(&Aliases::default())
    }

    /// The type with these marks in place of its own.
    pub(super) fn mark(&self, ty: &Type) -> Type {
        match (self, ty) {
            (_, Type::Unique(inner)) => self.mark(inner),
            (_, Type::Exists(sizes, inner)) => Type::Exists(sizes.clone(), Rc::new(self.mark(inner))),
            (Tree::Array(true) | Tree::Hidden(true), _) => Type::Unique(Rc::new(ty.clone())),
            (Tree::Record(marks), Type::Record(fields)) => Type::Record(
                fields.iter().zip(marks.iter()).map(|((n, t), (_, m))| (n.clone(), m.mark(t))).collect(),
            ),
            (Tree::Sum(marks), Type::Sum(constructors)) => Type::Sum(
                constructors
                    .iter()
                    .zip(marks.iter())
                    .map(|((n, parts), (_, ms))| {
                        (n.clone(), parts.iter().zip(ms.iter()).map(|(t, m)| m.mark(t)).collect())
                    })
                    .collect(),
            ),
            _ => ty.clone(),
        }
    }
}

impl Value {
    /// Everything that any part shares.
    pub(super) fn aliases(&self) -> Aliases {
        let mut all = Vec::new();
        self.each(&mut |part| all.push(part.clone()));
        Aliases::union_all(&all)
    }

    /// What the arrays in it share; captures of functions are left out.
    pub(super) fn array_aliases(&self) -> Aliases {
        fn gather(value: &Value, all: &mut Vec<Aliases>) {
            match value {
                Tree::Scalar | Tree::Function(..) => {}
                Tree::Array(a) | Tree::Hidden(a) => all.push(a.clone()),
                Tree::Record(fields) => fields.iter().for_each(|(_, part)| gather(part, all)),
                Tree::Sum(constructors) => {
                    constructors
                        .iter()
                        .flat_map(|(_, parts)| parts.iter())
                        .for_each(|part| gather(part, all));
                }
            }
        }
        let mut all = Vec::new();
        gather(self, &mut all);
        Aliases::union_all(&all)
    }

    /// The sets of aliases of the parts that stay apart: the fields of records.
    pub(super) fn parts(&self, out: &mut Vec<Aliases>) {
        match self {
            Tree::Record(fields) => fields.iter().for_each(|(_, t)| t.parts(out)),
            _ => out.push(self.aliases()),
        }
    }

    /// Adds aliases to every part.
    pub(super) fn adding(&self, more: &Aliases) -> Value {
        if more.is_empty() { self.clone() } else { self.map(&mut |old| old.union(more)) }
    }

    /// What may be either of two values of one type.
    pub(super) fn or(&self, other: &Value) -> Value {
        match (self, other) {
            (Tree::Scalar, _) => Tree::Scalar,
            (Tree::Record(a), Tree::Record(b)) if a.len() == b.len() => {
                Tree::Record(a.iter().zip(b.iter()).map(|((n, x), (_, y))| (n.clone(), x.or(y))).collect())
            }
            (Tree::Sum(a), Tree::Sum(b)) if a.len() == b.len() => Tree::Sum(
                a.iter()
                    .zip(b.iter())
                    .map(|((n, xs), (_, ys))| {
                        (n.clone(), xs.iter().zip(ys.iter()).map(|(x, y)| x.or(y)).collect())
                    })
                    .collect(),
            ),
            _ => self.adding(&other.aliases()),
        }
    }

    /// The value with the shape of its type: a use of something polymorphic learns it only here.
    pub(super) fn fit(self, shape: &Marks) -> Value {
        match (&self, shape) {
            (Tree::Scalar, Tree::Scalar)
            | (Tree::Array(_) | Tree::Hidden(_), Tree::Array(_) | Tree::Hidden(_))
            | (Tree::Function(..), Tree::Function(..)) => self,
            (Tree::Record(fields), Tree::Record(shapes)) if fields.len() == shapes.len() => Tree::Record(
                fields
                    .iter()
                    .zip(shapes.iter())
                    .map(|((n, t), (_, s))| (n.clone(), t.clone().fit(s)))
                    .collect(),
            ),
            (Tree::Sum(constructors), Tree::Sum(shapes)) if constructors.len() == shapes.len() => self,
            _ => shape.fill(&self.aliases()),
        }
    }

    /// Each part also shares itself with the variable it is bound to.
    pub(super) fn naming(&self, var: NodeId, paths: &mut Paths) -> Value {
        self.naming_at(var, Paths::ROOT, paths, &|part, aliases| part.adding(aliases))
    }

    /// Each array in it also shares itself with a part of a definition.
    pub(super) fn naming_arrays(&self, var: NodeId, path: PathId, paths: &mut Paths) -> Value {
        self.naming_at(var, path, paths, &|part, aliases| part.adding_to_arrays(aliases))
    }

    fn adding_to_arrays(&self, more: &Aliases) -> Value {
        match self {
            Tree::Array(old) => Tree::Array(old.union(more)),
            Tree::Sum(constructors) => Tree::Sum(
                constructors
                    .iter()
                    .map(|(n, parts)| (n.clone(), parts.iter().map(|t| t.adding_to_arrays(more)).collect()))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    fn naming_at(
        &self,
        var: NodeId,
        path: PathId,
        paths: &mut Paths,
        name: &dyn Fn(&Value, &Aliases) -> Value,
    ) -> Value {
        match self {
            Tree::Record(fields) => Tree::Record(
                fields
                    .iter()
                    .map(|(n, t)| {
                        let path = paths.field(path, n);
                        (n.clone(), t.naming_at(var, path, paths, name))
                    })
                    .collect(),
            ),
            _ => name(self, &Aliases::part(var, path)),
        }
    }
}
