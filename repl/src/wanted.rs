//! What an entry point takes: its parameters by type, and the values of the machine that they consist of, by name.
//!
//! Values are counted as the machine counts them: a parameter may be given as a whole or part by part.

use crate::input::{param_types, signature};
use crate::values::{Shape, Type, Types, rank_of};
use galopvm::{ElemType, Entry, Session, ValueType};
use std::sync::Arc;

/// What an entry point takes.
pub struct Wanted<'e> {
    /// The entry point.
    pub entry: &'e Entry,
    /// Each parameter: the number of its first value, and its type.
    params: Vec<(usize, Arc<Type>)>,
    /// Each value.
    pub leaves: Vec<Leaf>,
}

/// A value of the machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaf {
    /// Its type.
    pub ty: ValueType,
    /// The parameter, or the field of one: `points.x`. Parts of sums and of hidden types have no name.
    pub path: String,
}

impl Leaf {
    /// A value of a type, without a name.
    pub fn of(elem: ElemType, rank: u8) -> Leaf {
        Leaf { ty: ValueType { elem, rank }, path: String::new() }
    }

    /// What it may be called, from the whole name to its last part.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let path = self.path.trim_start_matches('.');
        let names = std::iter::successors(Some(path), |name| name.split_once('.').map(|(_, rest)| rest));
        names.filter(|name| !name.is_empty())
    }
}

impl<'e> Wanted<'e> {
    /// What this entry point takes.
    pub fn of(session: &Session, entry: &'e Entry) -> Wanted<'e> {
        let types = Types::of(session.module(), None);
        let typed = types.entries().iter().find(|typed| typed.name == entry.name);
        let mut wanted = Wanted { entry, params: Vec::new(), leaves: Vec::new() };
        for (k, (_, ty)) in typed.map_or(&[][..], |typed| &typed.params).iter().enumerate() {
            wanted.params.push((wanted.leaves.len(), ty.clone()));
            let name = entry.params.get(k).map_or("", |param| param.name.as_str());
            leaves(ty, name, 0, &mut wanted.leaves);
        }
        wanted
    }

    /// The parameter whose first value has this number.
    pub fn param_at(&self, value: usize) -> Option<&Type> {
        let param = self.params.iter().find(|(start, ty)| *start == value && !ty.parts().is_empty());
        param.map(|(_, ty)| &**ty)
    }

    /// As its source says it, and which parameter the value of this number is for.
    pub fn signature_at(&self, value: usize) -> String {
        let read = self.params.iter().rposition(|(start, _)| *start <= value);
        let types = param_types(self.entry);
        match read.and_then(|param| self.entry.params.get(param).zip(types.get(param))) {
            Some((param, ty)) if types.len() > 1 && !param.name.is_empty() => {
                format!("this is for `{}: {ty}`; {}", param.name, self.signature())
            }
            _ => self.signature(),
        }
    }

    /// As its source says it.
    pub fn signature(&self) -> String {
        signature(self.entry)
    }
}

/// The values that a value of a type consists of, below so many dimensions.
pub fn leaves(ty: &Type, path: &str, above: u8, out: &mut Vec<Leaf>) {
    let nameless = |parts: &[ValueType], out: &mut Vec<Leaf>| {
        let raised = |ty: &ValueType| ValueType { rank: ty.rank.saturating_add(above), ..*ty };
        out.extend(parts.iter().map(|ty| Leaf { ty: raised(ty), path: String::new() }));
    };
    match &ty.shape {
        Shape::Scalar(elem) => {
            out.push(Leaf { ty: ValueType { elem: *elem, rank: above }, path: path.into() });
        }
        Shape::Array(extents, element) => {
            leaves(element, path, above.saturating_add(rank_of(extents)), out);
        }
        Shape::Record(fields) if !fields.is_empty() => {
            for (name, ty) in fields {
                leaves(ty, &format!("{path}.{name}"), above, out);
            }
        }
        Shape::Record(_) if above > 0 => {
            out.push(Leaf { ty: ValueType { elem: ElemType::Bool, rank: above }, path: String::new() });
        }
        Shape::Record(_) => {}
        Shape::Sum(..) | Shape::Opaque(_) => nameless(&ty.parts(), out),
    }
}
