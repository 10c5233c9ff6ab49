//! The structure that values of a type have.

use super::build::{Builder, Built};
use super::value::*;
use crate::types::Type;
use galopvm_base::{Diagnostic, Span};
use galopvm_bytecode::ValueType;
use std::rc::Rc;

impl<'a> Builder<'_, 'a, '_, '_> {
    /// The type without what only the checker needs: variables, marks of uniqueness, abstraction.
    pub(super) fn transparent(&self, ty: &Type) -> Type {
        match self.checker.vars.reveal(ty) {
            Type::Unique(inner) | Type::Exists(_, inner) => self.transparent(&inner),
            other => other,
        }
    }

    /// The structure of values of a type.
    pub(super) fn structure(&self, ty: &Type, span: Span) -> Built<Structure> {
        match self.transparent(ty) {
            Type::Prim(elem) => Ok(Structure::Atom(ValueType::scalar(elem))),
            Type::Array(_, elem) => {
                let structure = self.structure(&elem, span)?.array_of();
                if structure.types().iter().any(|t| t.rank > galopvm_bytecode::verify::MAX_RANK) {
                    return self.refuse(span, "an array of that many dimensions");
                }
                Ok(structure)
            }
            Type::Record(fields) => {
                let fields: Built<Vec<_>> =
                    fields.iter().map(|(n, t)| Ok((n.clone(), self.structure(t, span)?))).collect();
                Ok(Structure::Record(fields?))
            }
            Type::Sum(constructors) => {
                let mut all = Vec::new();
                for (name, payload) in constructors.iter() {
                    let payload: Built<Vec<_>> = payload.iter().map(|t| self.payload(t, span)).collect();
                    all.push((name.clone(), payload?));
                }
                Ok(Structure::Sum(Rc::new(SumLayout::new(all)), 0))
            }
            other => {
                let shown = self.checker.vars.show(&other);
                let text = match other {
                    Type::Arrow(..) => format!("an entry point cannot take or give functions: `{shown}`"),
                    _ => format!("an entry point cannot be polymorphic: `{shown}`"),
                };
                Err(Box::new(Diagnostic::error(span, text).with_hint("write the types of its parameters")))
            }
        }
    }

    /// The structure of a payload. A function has no parts: it can be taken out only where the program's text says
    /// which constructor a value has.
    fn payload(&self, ty: &Type, span: Span) -> Built<Structure> {
        match self.transparent(ty) {
            Type::Arrow(..) => Ok(Structure::Record(Vec::new())),
            other => self.structure(&other, span),
        }
    }

    /// The structure of a value that holds no function.
    pub(super) fn structure_of(&self, value: &Value<'a>, span: Span) -> Built<Structure> {
        match value {
            Value::Atom(atom) => Ok(Structure::Atom(self.fun.type_of(*atom))),
            Value::Unit(atom) => Ok(Structure::Unit(self.fun.type_of(*atom).rank)),
            Value::Record(fields) => {
                let fields: Built<Vec<_>> =
                    fields.iter().map(|(n, v)| Ok((n.clone(), self.structure_of(v, span)?))).collect();
                Ok(Structure::Record(fields?))
            }
            Value::Sum(sum) => {
                let rank = sum.parts.first().map_or(0, |tag| self.fun.type_of(*tag).rank);
                Ok(Structure::Sum(sum.layout.clone(), rank))
            }
            Value::Acc(number, inner) => {
                Ok(Structure::Acc(*number, Box::new(self.structure_of(inner, span)?)))
            }
            Value::Fun(_) | Value::Size(_) => Err(Box::new(
                Diagnostic::error(span, "a function cannot be used as data here")
                    .with_label("this is a function"),
            )),
        }
    }
}
