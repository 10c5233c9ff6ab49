//! What an entry point may take and give: data whose types the caller can name, with sizes that the arguments tell.

use super::{Checker, SchemeParam, Size, Type, TypeArgument};
use crate::names::GlobalId;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, Span};
use std::collections::HashSet;

/// The sizes that a type mentions.
#[derive(Default)]
struct Sizes {
    /// As the extent of an array or the argument of a type: the value tells them.
    told: HashSet<NodeId>,
    /// Anywhere.
    mentioned: HashSet<NodeId>,
}

impl Checker<'_, '_, '_> {
    /// Checks a definition that is called from outside.
    pub(crate) fn entry_point(&mut self, id: GlobalId) {
        let scheme = self.global(id);
        let bind = self.names.globals[id].bind;
        let at = bind.name.at.span;
        let (mut params, mut result) = (Vec::new(), scheme.ty.clone());
        loop {
            result = match self.vars.resolve(&result) {
                Type::Arrow(_, from, to) => {
                    params.push((*from).clone());
                    (*to).clone()
                }
                Type::Exists(_, inner) => (*inner).clone(),
                other => {
                    result = other;
                    break;
                }
            };
        }
        if let Some(param) = scheme.params.iter().find(|p| matches!(p, SchemeParam::Type(..))) {
            let name = self.vars.names.get(&param.id()).cloned().unwrap_or_default();
            return self.report(
                Diagnostic::error(at, "Entry point functions may not be polymorphic.")
                    .with_label(format!(
                        "its type `{}` has the parameter `{name}`",
                        self.vars.show(&scheme.ty)
                    ))
                    .with_hint("write the types of its parameters"),
            );
        }
        let (mut given, mut taken) = (Sizes::default(), Sizes::default());
        self.sizes_of(&result, true, &mut given);
        params.iter().for_each(|param| self.sizes_of(param, true, &mut taken));
        for param in scheme.params.iter().map(|param| param.id()) {
            let name = self.vars.names.get(&param).cloned().unwrap_or_default();
            if given.mentioned.contains(&param) && !taken.mentioned.contains(&param) {
                return self.report(
                    Diagnostic::error(
                        at,
                        "Entry point functions must not be size-polymorphic in their return type.",
                    )
                    .with_label(format!("the caller cannot say what `{name}` is"))
                    .with_hint(format!("make it a parameter: `({name}: i64)`")),
                );
            }
            if !taken.told.contains(&param)
                && let Some(place) = written_at(bind, param)
            {
                let text = format!("Entry point size parameter [{name}] only used non-constructively.");
                return self.report(
                    Diagnostic::error(place, text)
                        .with_label("no argument has just this size")
                        .with_hint(format!("take it as a parameter: `({name}: i64)`")),
                );
            }
        }
        if params.iter().chain([&result]).any(|ty| self.may_be_functional(ty)) {
            self.report(
                Diagnostic::error(at, "Entry point functions may not be higher-order.")
                    .with_label(format!("its type is `{}`", self.vars.show(&scheme.ty)))
                    .with_hint("functions stay inside of the program: call this one from an entry point"),
            );
        }
    }

    fn sizes_of(&self, ty: &Type, told: bool, out: &mut Sizes) {
        let tell = |size: &Size, out: &mut Sizes| {
            if let (true, Size::Name(id)) = (told, self.vars.resolve_size(size)) {
                out.told.insert(id);
            }
        };
        match self.vars.resolve(ty) {
            Type::Array(extent, elem) => {
                tell(&extent, out);
                self.sizes_of(&elem, told, out);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.sizes_of(t, told, out)),
            Type::Sum(constructors) => {
                constructors.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.sizes_of(t, told, out));
            }
            Type::Opaque(_, args) => {
                for arg in args.iter() {
                    match arg {
                        TypeArgument::Size(extent) => tell(extent, out),
                        TypeArgument::Type(t) => self.sizes_of(t, told, out),
                    }
                }
            }
            Type::Arrow(_, from, to) => {
                self.sizes_of(&from, false, out);
                self.sizes_of(&to, false, out);
            }
            Type::Exists(_, inner) => self.sizes_of(&inner, told, out),
            Type::Prim(_) | Type::Var(_) | Type::Param(_) | Type::Unique(_) | Type::Error => {}
        }
        self.vars.each_size(ty, &mut |size| {
            if let Size::Name(id) = size {
                out.mentioned.insert(*id);
            }
        });
    }
}

/// Where a size parameter is written.
fn written_at(bind: &ValBind, id: NodeId) -> Option<Span> {
    bind.type_params.iter().find_map(|param| match param {
        TypeParam::Size(name) if name.at.id == id => Some(name.at.span),
        _ => None,
    })
}
