//! The form of values of a type: how those who show one put its parts together.

use super::build::Builder;
use super::value::{Structure, SumLayout};
use crate::types::Type;
use galopvm_base::Span;
use galopvm_bytecode::Form;

impl<'a> Builder<'_, 'a, '_, '_> {
    /// The form of a value of a type with so many parts. What has no form of its own is shown part by part.
    pub(super) fn form(&self, ty: &Type, parts: usize, span: Span) -> Form {
        let mut taken = 0;
        let form = self.form_from(ty, span, false, &mut || {
            taken += 1;
            taken - 1
        });
        match form.filter(Form::is_shallow) {
            Some(form) if taken as usize == parts => form,
            _ if parts == 1 => Form::Value(0),
            _ => Form::Tuple((0..parts as u32).map(Form::Value).collect()),
        }
    }

    /// The form of a value whose parts have the numbers that `next` gives, one after the other. Elements of arrays have
    /// a part even if they are empty.
    fn form_from(&self, ty: &Type, span: Span, inside: bool, next: &mut dyn FnMut() -> u32) -> Option<Form> {
        Some(match self.transparent(ty) {
            Type::Prim(_) => Form::Value(next()),
            Type::Array(_, elem) => {
                let mut element = self.transparent(&elem);
                let mut above = 0;
                while let Type::Array(_, inner) = element {
                    above += 1;
                    element = self.transparent(&inner);
                }
                if matches!(element, Type::Prim(_)) {
                    return Some(Form::Value(next()));
                }
                let mut first = None;
                let inner = self.form_from(&element, span, true, &mut || {
                    let number = next();
                    first.get_or_insert(number);
                    number
                })?;
                let first = first?;
                (0..=above).fold(inner, |form, _| Form::Array(first, Box::new(form)))
            }
            Type::Record(fields) => {
                if fields.is_empty() && inside {
                    next();
                }
                let mut items = Vec::new();
                for (name, ty) in fields.iter() {
                    items.push((name.to_string(), self.form_from(ty, span, inside, next)?));
                }
                if Type::is_tuple(&fields) {
                    Form::Tuple(items.into_iter().map(|(_, form)| form).collect())
                } else {
                    Form::Record(items)
                }
            }
            Type::Sum(_) => {
                let Ok(Structure::Sum(layout, _)) = self.structure(ty, span) else { return None };
                let Type::Sum(constructors) = self.transparent(ty) else { return None };
                self.sum_form(&constructors, &layout, span, next)?
            }
            Type::Arrow(..) if !inside => Form::Tuple(Vec::new()),
            _ => return None,
        })
    }

    fn sum_form<N: AsRef<str>, P: AsRef<[Type]>>(
        &self,
        constructors: &[(N, P)],
        layout: &SumLayout,
        span: Span,
        next: &mut dyn FnMut() -> u32,
    ) -> Option<Form> {
        let tag = next();
        let slots: Vec<u32> = layout.slots.iter().map(|_| next()).collect();
        let mut all = Vec::new();
        for ((name, payload), constructor) in constructors.iter().zip(&layout.constructors) {
            let mut own = constructor.slots.iter().map(|slot| slots[*slot]);
            let mut items = Vec::new();
            for ty in payload.as_ref() {
                // As many slots as parts: see `SumLayout::new`.
                items.push(self.form_from(ty, span, false, &mut || own.next().unwrap_or(tag))?);
            }
            all.push((name.as_ref().to_string(), items));
        }
        Some(Form::Sum(tag, all))
    }
}
