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
        let diagnostics = self.names.diagnostics.len();
        self.names.resolve(id);
        let outer = (
            std::mem::take(&mut self.pending),
            std::mem::take(&mut self.vars.level),
            std::mem::take(&mut self.hidden),
            std::mem::take(&mut self.size_binders),
            self.vars.take_absorbed(),
        );
        let scheme = self.definition(id, bind, diagnostics);
        self.pending = outer.0;
        self.vars.level = outer.1;
        self.hidden = outer.2;
        self.size_binders = outer.3;
        self.vars.absorbed = outer.4;
        self.globals.insert(id, GlobalState::Done(scheme.clone()));
        scheme
    }

    /// True if there has been an error since there were so many messages.
    pub(crate) fn failed_since(&self, diagnostics: usize) -> bool {
        galopvm_base::diagnostic::has_errors(&self.names.diagnostics[diagnostics..])
    }

    /// True for the definition whose body is being checked, if it did not say its result type.
    pub(super) fn is_own(&self, id: GlobalId) -> bool {
        let bind = self.names.globals[id].bind;
        let declared = bind.result.is_some() && !bind.params.is_empty();
        let checking = self.globals.get(&id);
        !declared && matches!(checking, Some(GlobalState::Checking(scheme)) if scheme.params.is_empty())
    }

    /// `diagnostics` were there before its names were looked up.
    fn definition(&mut self, id: GlobalId, bind: &'a ValBind<'a>, diagnostics: usize) -> Scheme {
        let mark = self.vars.mark();
        let unknowns = self.vars.unknown_mark();
        self.vars.written(bind.name.at, bind.name.text);
        self.vars.level += 1;
        // What the body sees of the definition itself may mention everything in it.
        let level = std::mem::replace(&mut self.vars.level, u32::MAX);
        let own = Scheme::mono(self.vars.fresh(bind.name.at.span));
        self.vars.level = level;
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
        let sure = self.defaulted.len();
        self.settle(mark, Some(&ty));
        if let Some(guess) = self.defaulted.get(sure) {
            self.guesses.insert(id, *guess);
        }
        let ty = self.vars.zonk(&ty);
        let scheme = self.generalise(bind, ty);
        self.finish(mark, diagnostics);
        let broken = self.failed_since(diagnostics);
        if self.names.globals[id].user && !broken {
            crate::matching::check_bind(self, bind);
            self.causality(bind);
            self.recursion(id, bind, &scheme.ty);
        }
        let itself = self.failed_since(diagnostics)
            && self.names.globals[id].user
            && self.means_itself(id, bind, diagnostics);
        let ty = crate::consume::check_bind(self, id, &scheme.ty, broken);
        let mut scheme = Scheme { ty, ..scheme };
        if itself && bind.result.is_none() {
            scheme.ty = self.without_result(&scheme.ty, bind.params.len());
        }
        if bind.params.is_empty() { self.name_sizes(id, scheme) } else { scheme }
    }

    /// A constant has one value: the sizes that only this tells are names that all later definitions may use.
    fn name_sizes(&mut self, id: GlobalId, scheme: Scheme) -> Scheme {
        let Type::Exists(hidden, inner) = &scheme.ty else { return scheme };
        if !scheme.params.is_empty() {
            return scheme;
        }
        let mut names = Vec::new();
        for size in hidden.iter() {
            let text = self.vars.names.get(size).cloned().unwrap_or_else(|| "d".into());
            let name = self.vars.fresh_name(&text);
            self.constant_sizes.insert(name, id);
            names.push((*size, Size::Name(name)));
        }
        let named = self
            .vars
            .replace_sizes(inner, &|id| names.iter().find(|(s, _)| *s == id).map(|(_, n)| n.clone()));
        Scheme::mono(named)
    }

    /// The type of an expression that is not part of a definition.
    pub fn expression(&mut self, exp: &'a Exp<'a>) -> Type {
        let diagnostics = self.names.diagnostics.len();
        self.names.resolve_exp(exp);
        let outer = std::mem::take(&mut self.pending);
        let mark = self.vars.mark();
        let ty = self.infer(exp);
        let function = matches!(self.vars.resolve(&ty), Type::Arrow(..));
        self.settle(mark, Some(&ty).filter(|_| function));
        if function {
            // It is shown, not run: what is open has names.
            self.close_types(&ty);
            let mut open = Vec::new();
            self.vars.free_sizes(&ty, &mut open);
            self.close_sizes(open, &mut Vec::new());
        }
        self.finish(mark, diagnostics);
        if !self.failed_since(diagnostics) {
            crate::matching::check_exp(self, exp);
            crate::consume::check_exp(self, exp);
        }
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
            // What is inferred for a parameter may mention only those before it.
            let outer = self.vars.fresh(pat.at.span);
            self.vars.level += 1;
            let ty = if written(pat) { self.vars.fresh(pat.at.span) } else { outer };
            self.pat(pat, &ty, Anonymous::Infer);
            let ty = self.types.get(pat.at.id).cloned().unwrap_or(ty);
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
                self.check_inner_names(bind.params, written, &declared);
                if let Some(id) = own.filter(|_| !bind.params.is_empty()) {
                    self.declare(id, bind, &params, &declared);
                }
                let wanted = self.without_marks(&declared);
                self.check(bind.body, &wanted, &Context::Body(Some(written.at.span)));
                declared
            }
            None => self.infer(bind.body),
        };
        self.vars.level -= bind.params.len() as u32;
        self.close(bind.params, params, result, unknowns, bind.body.at.span)
    }

    /// Refuses a result type that names a part of a parameter: callers have no name for it.
    fn check_inner_names(&mut self, params: &'a [Pat<'a>], written: &'a TypeExp<'a>, declared: &Type) {
        let mut inner = Vec::new();
        params.iter().filter(|pat| pat_name(pat).is_none()).for_each(|pat| pat_names(pat, &mut inner));
        let Some(id) = inner.into_iter().find(|id| self.vars.mentions_name(declared, *id)) else { return };
        let name = self.vars.names.get(&id).cloned().unwrap_or_default();
        let text = format!(
            "The return type annotation {} refers to the name \"{name}\" which is bound to an inner component of a function parameter.",
            self.vars.show(declared)
        );
        self.report(
            Diagnostic::error(written.at.span, text)
                .with_hint(format!("make \"{name}\" a parameter of its own, or leave the size out: `[]`")),
        );
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
        let sizes = bind.type_params.iter().filter_map(|param| match param {
            TypeParam::Size(name) => Some(*name),
            TypeParam::Type(..) => None,
        });
        self.check_bound_twice(&sizes.collect::<Vec<_>>(), bind.params);
    }

    /// Refuses names that one group of patterns binds twice.
    pub(super) fn check_bound_twice<'p>(
        &mut self,
        sizes: &[Name<'a>],
        pats: impl IntoIterator<Item = &'p Pat<'p>>,
    ) {
        let mut names: Vec<(String, galopvm_base::Span)> =
            sizes.iter().map(|name| (name.text.to_string(), name.at.span)).collect();
        pats.into_iter().for_each(|pat| named_spans(pat, &mut names));
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
        params.extend(self.close_types(&ty));
        let mut open = Vec::new();
        self.vars.free_sizes(&ty, &mut open);
        self.close_sizes(open, &mut params);
        let ty = self.vars.zonk(&ty);
        let sized = params.iter().any(|p| matches!(p, SchemeParam::Size(_)));
        if bind.params.is_empty() && sized && matches!(ty, Type::Exists(..)) {
            let text = format!(
                "A size-polymorphic value binding may not have a type with an existential size. Type of this binding is: {}",
                self.vars.show(&ty)
            );
            self.report(Diagnostic::error(bind.name.at.span, text));
        }
        Scheme { params: params.into(), ty }
    }

    /// Makes open parts of a type parameters.
    fn close_types(&mut self, ty: &Type) -> Vec<SchemeParam> {
        let mut free = Vec::new();
        self.vars.free_vars(ty, &mut free);
        let mut params = Vec::new();
        for (i, var) in free.into_iter().enumerate() {
            let name = implicit_name(i);
            let id = self.vars.fresh_name(&name);
            let lifted = self.vars.free(var).map_or(Lifted::Full, |(c, _)| c.lifted);
            self.vars.lifted.insert(id, lifted);
            self.vars.set(var, Type::Param(id));
            params.push(SchemeParam::Type(id, lifted));
        }
        params
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

/// True if a pattern says its type somewhere.
pub(super) fn written(pat: &Pat) -> bool {
    match pat.kind {
        PatKind::Ascript(..) => true,
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => written(inner),
        PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().any(written),
        PatKind::Record(fields) => fields.iter().any(|(_, p)| written(p)),
        PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) => false,
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
