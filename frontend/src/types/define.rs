//! Definitions: their types generalised.

use super::apply::pat_names;
use super::report::Context;
use super::{
    Anonymous, Checker, GlobalState, Scheme, SchemeParam, Size, SizeVar, Type, pat_name, scheme_param,
};
use crate::names::GlobalId;
use crate::syntax::ast::*;
use galopvm_base::Diagnostic;
use std::rc::Rc;

impl<'a> Checker<'a, '_, '_> {
    /// The type of a definition, checked now if it has not been.
    pub fn global(&mut self, id: GlobalId) -> Scheme {
        match self.globals.get(&id) {
            Some(GlobalState::Done(scheme) | GlobalState::Checking(scheme)) => return scheme.clone(),
            None => {}
        }
        let bind = self.names.globals[id].bind;
        self.names.resolve(id);
        let outer = (
            std::mem::take(&mut self.pending),
            std::mem::take(&mut self.vars.level),
            std::mem::take(&mut self.hidden),
            std::mem::take(&mut self.size_binders),
            self.vars.take_absorbed(),
        );
        let scheme = self.definition(id, bind);
        self.pending = outer.0;
        self.vars.level = outer.1;
        self.hidden = outer.2;
        self.size_binders = outer.3;
        self.vars.absorbed = outer.4;
        self.globals.insert(id, GlobalState::Done(scheme.clone()));
        scheme
    }

    /// True for the definition whose body is being checked, if it did not say its result type.
    pub(super) fn is_own(&self, id: GlobalId) -> bool {
        matches!(self.globals.get(&id), Some(GlobalState::Checking(scheme)) if scheme.params.is_empty())
    }

    fn definition(&mut self, id: GlobalId, bind: &'a ValBind<'a>) -> Scheme {
        let mark = self.vars.mark();
        let unknowns = self.vars.unknown_mark();
        self.vars.names.insert(bind.name.at.id, bind.name.text.to_string());
        self.vars.level += 1;
        let own = Scheme::mono(self.vars.fresh(bind.name.at.span));
        self.globals.insert(id, GlobalState::Checking(own));
        let ty = self.function_of(bind, unknowns, Some(id));
        self.vars.level -= 1;
        // What the body calls itself by is what it turned out to be.
        if let Some(GlobalState::Checking(own)) = self.globals.get(&id)
            && let own = own.clone()
            && let Err(clash) = self.vars.unify_shape(&own.ty, &ty)
        {
            self.mismatch(bind.name.at.span, &own.ty, &ty, &clash, &Context::Being("its own uses"));
        }
        self.settle(mark, Some(&ty));
        let ty = self.vars.zonk(&ty);
        let scheme = self.generalise(bind, ty);
        self.finish(mark);
        if self.names.globals[id].user {
            crate::matching::check_bind(self, bind);
        }
        scheme
    }

    /// The type of an expression that is not part of a definition.
    pub fn expression(&mut self, exp: &'a Exp<'a>) -> Type {
        self.names.resolve_exp(exp);
        let outer = std::mem::take(&mut self.pending);
        let mark = self.vars.mark();
        let ty = self.infer(exp);
        self.settle(mark, None);
        self.finish(mark);
        self.pending = outer;
        self.vars.zonk(&ty)
    }

    /// The type of a function or constant, in the scope of its own parameters.
    pub(super) fn function(&mut self, bind: &'a ValBind<'a>, unknowns: u32) -> Type {
        self.function_of(bind, unknowns, None)
    }

    fn function_of(&mut self, bind: &'a ValBind<'a>, unknowns: u32, own: Option<GlobalId>) -> Type {
        self.type_params(bind.type_params);
        let mut params = Vec::new();
        for pat in bind.params {
            let ty = self.vars.fresh(pat.at.span);
            self.pat(pat, &ty, Anonymous::Infer);
            let ty = self.types.get(&pat.at.id).cloned().unwrap_or(ty);
            params.push((pat_name(pat), self.marked(pat, ty)));
        }
        self.check_duplicates(bind);
        if bind.result.is_none()
            && !params.is_empty()
            && let Some(GlobalState::Checking(own)) = own.and_then(|id| self.globals.get(&id))
            && let own = own.clone()
        {
            let result = self.vars.fresh(bind.name.at.span);
            let seen = params
                .iter()
                .rev()
                .fold(result, |to, (name, from)| Type::Arrow(*name, Rc::new(from.clone()), Rc::new(to)));
            // The variable is new: nothing can disagree.
            let _ = self.vars.unify_shape(&own.ty, &seen);
        }
        let result = match bind.result {
            Some(written) => {
                let declared = self.type_exp(written, Anonymous::Infer);
                if let Some(id) = own.filter(|_| !bind.params.is_empty()) {
                    self.declare(id, bind, &params, &declared);
                }
                let wanted = self.without_marks(&declared);
                self.check(bind.body, &wanted, &Context::Body(Some(written.at.span)));
                declared
            }
            None => self.infer(bind.body),
        };
        self.close(bind.params, params, result, unknowns)
    }

    /// What the body of a function with a written result type sees of the function: sizes are its parameters.
    fn declare(
        &mut self,
        id: GlobalId,
        bind: &'a ValBind<'a>,
        params: &[(Option<NodeId>, Type)],
        result: &Type,
    ) {
        let mut hidden = Vec::new();
        let result = {
            let mut open = Vec::new();
            self.vars.free_sizes(result, &mut open);
            let mut given = Vec::new();
            params.iter().for_each(|(_, ty)| self.vars.free_sizes(ty, &mut given));
            open.retain(|var| !given.contains(var));
            let names: Vec<(SizeVar, NodeId)> =
                open.into_iter().map(|var| (var, self.vars.fresh_name("d"))).collect();
            hidden.extend(names.iter().map(|(_, id)| *id));
            self.vars.map_sizes(result, &mut |size| match size {
                Size::Var(var) => names.iter().find(|(v, _)| v == var).map(|(_, id)| Size::Name(*id)),
                _ => None,
            })
        };
        let ty = params.iter().rev().fold(Type::exists(hidden, result), |to, (name, from)| {
            Type::Arrow(*name, Rc::new(from.clone()), Rc::new(to))
        });
        // Recursion is monomorphic in types, polymorphic in sizes.
        let mut own: Vec<SchemeParam> =
            bind.type_params.iter().map(scheme_param).filter(|p| matches!(p, SchemeParam::Size(_))).collect();
        let mut open = Vec::new();
        self.vars.free_sizes(&ty, &mut open);
        let names: Vec<(SizeVar, NodeId)> =
            open.into_iter().map(|var| (var, self.vars.fresh_name("d"))).collect();
        own.extend(names.iter().map(|(_, id)| SchemeParam::Size(*id)));
        let ty = self.vars.map_sizes(&ty, &mut |size| match size {
            Size::Var(var) => names.iter().find(|(v, _)| v == var).map(|(_, id)| Size::Name(*id)),
            _ => None,
        });
        self.globals.insert(id, GlobalState::Checking(Scheme { params: own.into(), ty }));
    }

    fn check_duplicates(&mut self, bind: &'a ValBind<'a>) {
        let mut names = Vec::new();
        for param in bind.type_params {
            if let TypeParam::Size(name) = param {
                names.push((name.text.to_string(), name.at.span));
            }
        }
        for pat in bind.params {
            let mut ids = Vec::new();
            pat_names(pat, &mut ids);
            named_spans(pat, &mut names);
        }
        self.report_duplicates(&names);
    }

    /// Refuses a name that is bound twice.
    pub(super) fn report_duplicates(&mut self, names: &[(String, galopvm_base::Span)]) {
        for (i, (name, span)) in names.iter().enumerate() {
            if let Some((_, first)) = names[..i].iter().find(|(n, _)| n == name) {
                let text = format!("Name \"{name}\" also bound at {}.", self.names.sources.place(*first));
                self.report(Diagnostic::error(*span, text).with_place(*first, "bound here"));
            }
        }
    }

    /// The scheme of a definition: written parameters, then a new one for each open variable.
    fn generalise(&mut self, bind: &'a ValBind<'a>, ty: Type) -> Scheme {
        let mut params: Vec<SchemeParam> = bind.type_params.iter().map(scheme_param).collect();
        let mut free = Vec::new();
        self.vars.free_vars(&ty, &mut free);
        for (i, var) in free.into_iter().enumerate() {
            let name = implicit_name(i);
            let id = self.vars.fresh_name(&name);
            let lifted = self.vars.free(var).map_or(Lifted::Full, |(c, _)| c.lifted);
            self.vars.lifted.insert(id, lifted);
            self.vars.set(var, Type::Param(id));
            params.push(SchemeParam::Type(id, lifted));
        }
        let mut open = Vec::new();
        self.vars.free_sizes(&ty, &mut open);
        self.close_sizes(open, &mut params);
        let ty = self.vars.zonk(&ty);
        Scheme { params: params.into(), ty }
    }

    /// Makes open sizes of a type parameters.
    pub(crate) fn close_sizes(&mut self, open: Vec<SizeVar>, params: &mut Vec<SchemeParam>) {
        for (i, var) in open.into_iter().enumerate() {
            let name = match self.vars.free_size(var) {
                Some((origin, _)) => origin.name.clone().unwrap_or_else(|| format!("d{i}")),
                None => continue,
            };
            let id = self.vars.fresh_name(&name);
            self.vars.set_size(var, Size::Name(id));
            params.push(SchemeParam::Size(id));
        }
    }
}

/// Names that a pattern binds, with their places.
pub(super) fn named_spans(pat: &Pat, out: &mut Vec<(String, galopvm_base::Span)>) {
    match pat.kind {
        PatKind::Id(name) => out.push((name.to_string(), pat.at.span)),
        PatKind::Wildcard | PatKind::Lit(_) => {}
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => {
            named_spans(inner, out)
        }
        PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| named_spans(p, out)),
        PatKind::Record(fields) => fields.iter().for_each(|(_, p)| named_spans(p, out)),
    }
}

/// `a`, `b`, .., `z`, `a1`, ..
fn implicit_name(index: usize) -> String {
    let letter = (b'a' + (index % 26) as u8) as char;
    if index < 26 { format!("{letter}") } else { format!("{letter}{}", index / 26) }
}
