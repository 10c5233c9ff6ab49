//! Names that a source gives to types: bytecode has only their structure.
//!
//! What the signature of an entry point calls a type is its name, as with Futhark, and what type definitions at the top of the source call
//! its fields and elements are theirs. Scalars and arrays of them keep their own names.
//!
//! Invariants: a name never changes what a type consists of, also where the text is another one than the program was compiled from; types
//! of one name are equal.

use super::types::{Constructor, Shape, Slot, Type, rank_of};
use bumpalo::Bump;
use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{
    DecKind, Pat, PatKind, TypeArg, TypeBind, TypeExp, TypeExpKind, ValBind,
};
use galopvm_frontend::syntax::parse_prog;
use std::collections::HashMap;
use std::sync::Arc;

/// A definition stands for another at most so often.
const DEEPEST: usize = 100;

/// What a source says of types.
pub struct Declared<'a> {
    types: HashMap<&'a str, &'a TypeBind<'a>>,
    entries: HashMap<&'a str, &'a ValBind<'a>>,
    /// The names so far, each with what its type is called by structure.
    named: HashMap<String, String>,
}

impl<'a> Declared<'a> {
    /// What this source says; nothing without one.
    pub fn of(arena: &'a Bump, text: Option<&'a str>) -> Declared<'a> {
        let mut declared = Declared { types: HashMap::new(), entries: HashMap::new(), named: HashMap::new() };
        if let Some(text) = text {
            let mut sources = Sources::new();
            let file = sources.add("a program", text);
            for dec in parse_prog(arena, file, text, 0).tree.decs {
                match dec.kind {
                    DecKind::Type(bind) => _ = declared.types.insert(bind.name.text, bind),
                    DecKind::Val(bind) => _ = declared.entries.insert(bind.name.text, bind),
                    _ => {}
                }
            }
        }
        declared
    }

    /// The type of a parameter of an entry point, with its names.
    pub fn param(&mut self, entry: &str, number: usize, ty: &Arc<Type>) -> Arc<Type> {
        let pattern = self.entries.get(entry).and_then(|bind| bind.params.get(number));
        let said = pattern.and_then(type_of);
        self.with_names(ty, said)
    }

    /// The type of a component of the result, of which there are so many.
    pub fn result(&mut self, entry: &str, number: usize, count: usize, ty: &Arc<Type>) -> Arc<Type> {
        let mut said = self.entries.get(entry).and_then(|bind| bind.result);
        if count > 1 {
            said = said.and_then(|exp| match self.structure(exp).kind {
                TypeExpKind::Tuple(items) if items.len() == count => items.get(number),
                _ => None,
            });
        }
        self.with_names(ty, said)
    }

    /// The result as a whole, of components that have their names.
    pub fn output(&mut self, entry: &str, ty: Arc<Type>) -> Arc<Type> {
        match self.entries.get(entry).and_then(|bind| bind.result).and_then(name_of) {
            Some(name) => self.put(name, ty),
            None => ty,
        }
    }

    fn with_names(&mut self, ty: &Arc<Type>, said: Option<&'a TypeExp<'a>>) -> Arc<Type> {
        let structure = said.map(|exp| self.structure(exp).kind);
        let inside = match &ty.shape {
            Shape::Scalar(_) => return ty.clone(),
            Shape::Array(extents, element) => {
                if matches!(element.shape, Shape::Scalar(_)) {
                    return ty.clone();
                }
                let said = said.and_then(|exp| self.element(exp, rank_of(extents)));
                Type::array(extents, &self.with_names(element, said))
            }
            Shape::Record(fields) => {
                let mut named = Vec::new();
                for (k, (field, ty)) in fields.iter().enumerate() {
                    let said = structure.and_then(|structure| field_of(structure, k, field));
                    named.push((field.clone(), self.with_names(ty, said)));
                }
                Type::record(named)
            }
            Shape::Sum(constructors, slots) => {
                let mut named = Vec::new();
                for Constructor { name, payload, slots } in constructors {
                    let said = match structure {
                        Some(TypeExpKind::Sum(all)) => all.iter().find(|said| said.0.text == name),
                        _ => None,
                    };
                    let said = said.map(|said| said.1).filter(|items| items.len() == payload.len());
                    let mut items = Vec::new();
                    for (k, ty) in payload.iter().enumerate() {
                        items.push(self.with_names(ty, said.map(|items| &items[k])));
                    }
                    named.push(Constructor { name: name.clone(), payload: items, slots: slots.clone() });
                }
                let slots = slots.iter().map(|slot| Slot { ty: slot.ty, extents: slot.extents.clone() });
                Type::of_constructors(named, slots.collect())
            }
            Shape::Opaque(_) => ty.clone(),
        };
        match said.and_then(name_of) {
            Some(name) => self.put(name, inside),
            None => inside,
        }
    }

    /// The type under a name; under none, if another type has it.
    fn put(&mut self, name: String, ty: Arc<Type>) -> Arc<Type> {
        let known = self.named.entry(name.clone()).or_insert_with(|| ty.name.clone());
        match *known == ty.name {
            true => Arc::new(Type { name, is_named: true, shape: ty.shape.clone() }),
            false => ty,
        }
    }

    /// What a name without arguments stands for.
    fn definition(&self, exp: &TypeExp<'a>) -> Option<&'a TypeExp<'a>> {
        let TypeExpKind::Var(name) = exp.kind else { return None };
        let [name] = name.parts else { return None };
        let bind = self.types.get(name.text).filter(|bind| bind.params.is_empty());
        bind.map(|bind| bare(bind.def))
    }

    /// The structure that an expression says, if it says one.
    fn structure(&self, exp: &'a TypeExp<'a>) -> &'a TypeExp<'a> {
        let mut exp = bare(exp);
        for _ in 0..DEEPEST {
            let Some(definition) = self.definition(exp) else { break };
            exp = definition;
        }
        exp
    }

    /// The elements of arrays of so many dimensions.
    fn element(&self, exp: &'a TypeExp<'a>, rank: u8) -> Option<&'a TypeExp<'a>> {
        let mut exp = bare(exp);
        for _ in 0..rank {
            let TypeExpKind::Array(_, element) = self.structure(exp).kind else { return None };
            exp = bare(element);
        }
        Some(exp)
    }
}

/// What a pattern says of its type.
fn type_of<'a>(pattern: &Pat<'a>) -> Option<&'a TypeExp<'a>> {
    match pattern.kind {
        PatKind::Ascript(_, ty) => Some(ty),
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => type_of(inner),
        _ => None,
    }
}

/// A type expression without what says nothing of its structure.
fn bare<'a>(mut exp: &'a TypeExp<'a>) -> &'a TypeExp<'a> {
    while let TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) =
        exp.kind
    {
        exp = inner;
    }
    exp
}

/// What an expression says of a field.
fn field_of<'a>(structure: TypeExpKind<'a>, number: usize, name: &str) -> Option<&'a TypeExp<'a>> {
    match structure {
        TypeExpKind::Record(fields) => fields.iter().find(|field| field.0.text == name).map(|field| &field.1),
        TypeExpKind::Tuple(items) => items.get(number),
        _ => None,
    }
}

/// The name that an expression is, with its arguments but for sizes.
fn name_of(exp: &TypeExp<'_>) -> Option<String> {
    match bare(exp).kind {
        TypeExpKind::Var(name) => Some(name.parts.iter().map(|part| part.text).collect::<Vec<_>>().join(".")),
        TypeExpKind::Apply(head, TypeArg::Size(_)) => name_of(head),
        TypeExpKind::Apply(head, TypeArg::Type(argument)) => {
            Some(format!("{} {}", name_of(head)?, name_of(argument)?))
        }
        _ => None,
    }
}
