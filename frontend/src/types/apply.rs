//! Types of applications and functions.

use super::convert::Anonymous;
use super::report::Context;
use super::unify::Clash;
use super::{Checker, Scheme, SchemeParam, Size, Type, pat_name};
use crate::habits;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, Span};
use std::rc::Rc;

impl<'a> Checker<'a, '_, '_> {
    pub(super) fn apply(
        &mut self,
        id: NodeId,
        head: &Exp<'a>,
        function: &Type,
        arg: &'a Exp<'a>,
        index: usize,
    ) -> Type {
        let name = match head.kind {
            ExpKind::Var(name) => name.text(),
            _ => self.snippet(head.at.span),
        };
        self.apply_to(id, head.at.span, &name, function, arg, index)
    }

    /// Says that a value is applied to something.
    fn not_a_function(&mut self, span: Span, name: &str, ty: &Type, arg: &Exp<'a>) {
        let what = match self.vars.resolve(ty) {
            // `a number type`
            Type::Var(_) => self.vars.show(ty),
            ty => format!("type {}", self.vars.show(&ty)),
        };
        let text = format!("Cannot apply expression as function, as it is \"{name}\" of {what}");
        let mut diagnostic = Diagnostic::error(span, text).with_place(arg.at.span, "applied to this");
        let word = match arg.kind {
            ExpKind::Var(name) => name.text(),
            _ => String::new(),
        };
        if let Some(hint) = habits::of_infix(&word) {
            diagnostic = diagnostic.with_hint(hint);
        }
        self.report(diagnostic);
    }

    /// The type of a function applied to one more argument, in the expression `id`.
    pub(super) fn apply_to(
        &mut self,
        id: NodeId,
        span: Span,
        name: &str,
        function: &Type,
        arg: &'a Exp<'a>,
        index: usize,
    ) -> Type {
        let context = Context::Apply { function: name.to_string(), place: span };
        match self.vars.resolve(function) {
            Type::Arrow(param, from, to) => {
                self.vars.take_absorbed();
                self.check(arg, &from, &context);
                self.result_of(id, span, name, param, arg, &to)
            }
            Type::Var(_) => {
                let (from, to) = (self.infer(arg), self.vars.fresh(arg.at.span));
                let wanted = Type::arrow(from, to.clone());
                match self.vars.unify(function, &wanted) {
                    Err(Clash::NotOneOf(..)) => {
                        self.not_a_function(span, name, function, arg);
                        Type::Error
                    }
                    Err(clash) => {
                        self.mismatch(span, &wanted, function, &clash, &context);
                        to
                    }
                    Ok(()) => to,
                }
            }
            Type::Error => {
                self.infer(arg);
                Type::Error
            }
            other if index == 0 => {
                self.infer(arg);
                self.not_a_function(span, name, &other, arg);
                Type::Error
            }
            other => {
                self.infer(arg);
                let shown = self.vars.show(&other);
                let plural = if index == 1 { "" } else { "s" };
                let text = format!(
                    "Cannot apply \"{name}\" to \"{}\" as argument #{}, as it only takes {index} argument{plural}.",
                    self.snippet(arg.at.span),
                    index + 1
                );
                let diagnostic = Diagnostic::error(arg.at.span, text)
                    .with_label("one argument too many")
                    .with_place(span, format!("gives `{shown}` after {index} argument{plural}"));
                self.report(diagnostic);
                Type::Error
            }
        }
    }

    /// The result of a function applied to an argument that has been checked. Sizes that only the value tells come
    /// into being in the expression `id`.
    pub(super) fn result_of(
        &mut self,
        id: NodeId,
        span: Span,
        function: &str,
        param: Option<NodeId>,
        arg: &'a Exp<'a>,
        to: &Type,
    ) -> Type {
        let mut created = Vec::new();
        let mut result = self.vars.resolve_unique(to);
        while let Type::Unique(inner) = result {
            result = self.vars.resolve_unique(&inner);
        }
        if let Type::Exists(ids, inner) = &result {
            let mut fresh = Vec::new();
            for hidden in ids.iter() {
                let name = self.vars.names.get(hidden).cloned().unwrap_or_default();
                let text = format!("the unknown size of the result of \"{function}\"");
                let unknown = self.vars.unknown(span.to(arg.at.span), &name, text);
                created.push(unknown);
                fresh.push((*hidden, Size::Name(unknown)));
            }
            result = self
                .vars
                .replace_sizes(inner, &|id| fresh.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()));
        }
        for absorbed in self.vars.take_absorbed() {
            if self.vars.mentions_name(&result, absorbed) {
                if let Some(unknown) = self.vars.unknowns.get_mut(&absorbed) {
                    unknown.span = span.to(arg.at.span);
                    unknown.text = format!("an unknown size made by \"{function}\"");
                }
                created.push(absorbed);
                if self.in_parameter(&result, absorbed) {
                    let text = format!(
                        "Cannot apply \"{function}\" to \"{}\" (invalid type). Existential size would appear in function parameter of return type: \"{}\".",
                        self.snippet(arg.at.span),
                        self.vars.show(&Type::exists(vec![absorbed], result.clone()))
                    );
                    self.report(
                        Diagnostic::error(arg.at.span, text)
                            .with_label("the size of what this gives is known only when it is called")
                            .with_hint("write the application as a function of its own: `\\x -> g (f x)`"),
                    );
                    result = Type::Error;
                }
            }
        }
        if let Some(param) = param
            && self.vars.mentions_name(&result, param)
        {
            let size = match self.exp_size(arg) {
                Some(size) => size,
                None => {
                    let shown = self.snippet(arg.at.span);
                    let unknown = self.vars.unknown(arg.at.span, "n", format!("the value of \"{shown}\""));
                    created.push(unknown);
                    Size::Name(unknown)
                }
            };
            result = self.vars.replace_sizes(&result, &|n| (n == param).then(|| size.clone()));
        }
        // The expression's type is that of the value: marks stay inside function types only.
        let result = self.without_marks(&result);
        self.creates(id, created);
        result
    }

    /// True if a parameter of a function type, or of the function it gives, has a size. What a function among the
    /// parameters gives may have any.
    fn in_parameter(&self, ty: &Type, size: NodeId) -> bool {
        match self.vars.resolve(ty) {
            Type::Arrow(_, from, to) => self.has_size(&from, size) || self.in_parameter(&to, size),
            Type::Exists(_, inner) | Type::Unique(inner) => self.in_parameter(&inner, size),
            _ => false,
        }
    }

    fn has_size(&self, ty: &Type, size: NodeId) -> bool {
        match self.vars.resolve(ty) {
            Type::Arrow(..) => self.in_parameter(ty, size),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.has_size(t, size)),
            Type::Exists(_, inner) | Type::Unique(inner) => self.has_size(&inner, size),
            other => self.vars.mentions_name(&other, size),
        }
    }

    /// The type without marks of uniqueness outside of function types.
    pub(crate) fn without_marks(&self, ty: &Type) -> Type {
        self.vars.without_marks(ty)
    }

    pub(super) fn lambda(
        &mut self,
        params: &'a [Pat<'a>],
        result: Option<&'a TypeExp<'a>>,
        body: &'a Exp<'a>,
        wanted: Option<&Type>,
    ) -> Type {
        let mark = self.vars.unknown_mark();
        self.check_bound_twice(&[], params);
        let mut rest = wanted.map(|t| self.vars.resolve(t));
        let mut types = Vec::new();
        // Names of the wanted type that the lambda has no name for.
        let mut lost: Vec<NodeId> = Vec::new();
        for pat in params {
            // What is inferred for a parameter may mention only those before it.
            let outer = self.vars.fresh(pat.at.span);
            self.vars.level += 1;
            let ty = match &rest {
                Some(Type::Arrow(name, from, to)) => {
                    let from = self.vars.resolve_unique(from);
                    // The lambda's own name takes the place of the wanted one.
                    let to = match (name, pat_name(pat)) {
                        (Some(name), Some(own)) => {
                            self.vars.replace_sizes(to, &|id| (id == *name).then_some(Size::Name(own)))
                        }
                        _ => (**to).clone(),
                    };
                    if let Some(name) = name.filter(|_| pat_name(pat).is_none()) {
                        lost.push(name);
                    }
                    rest = Some(self.vars.resolve(&to));
                    if let Some(id) = lost.iter().copied().find(|id| self.vars.mentions_name(&from, *id)) {
                        let clash = super::Clash::Bound(id);
                        self.mismatch(pat.at.span, &from, &from, &clash, &Context::Pattern);
                    }
                    from
                }
                _ => {
                    rest = None;
                    if super::define::written(pat) { self.vars.fresh(pat.at.span) } else { outer }
                }
            };
            let plain = self.without_marks(&ty);
            self.pat(pat, &plain, Anonymous::Infer);
            types.push((pat_name(pat), self.marked(pat, ty)));
        }
        let to = match result {
            Some(written) => {
                let ty = self.type_exp(written, Anonymous::Infer);
                self.check(body, &self.without_marks(&ty), &Context::Body(Some(written.at.span)));
                ty
            }
            None => self.infer(body),
        };
        self.vars.level -= params.len() as u32;
        self.close(params, types, to, mark, body.at.span)
    }

    /// The function type of parameters and a result; sizes that are not visible outside are hidden in the result.
    pub(super) fn close(
        &mut self,
        params: &'a [Pat<'a>],
        types: Vec<(Option<NodeId>, Type)>,
        result: Type,
        mark: u32,
        span: Span,
    ) -> Type {
        let mut bound = Vec::new();
        params.iter().for_each(|p| pat_names(p, &mut bound));
        let named: Vec<NodeId> = types.iter().filter_map(|(name, _)| *name).collect();
        bound.retain(|id| !named.contains(id));
        let in_params: Vec<NodeId> = types.iter().flat_map(|(_, t)| self.vars.size_names(t)).collect();
        let killed = |vars: &super::Vars, id: &NodeId| {
            bound.contains(id) || vars.is_unknown_since(*id, mark) && !in_params.contains(id)
        };
        let result = self.hide(span, &result, &killed);
        types.into_iter().rev().fold(result, |to, (name, from)| Type::Arrow(name, Rc::new(from), Rc::new(to)))
    }

    /// A result type in which sizes that mention names for which `killed` holds are hidden.
    pub(super) fn hide(
        &mut self,
        span: Span,
        ty: &Type,
        killed: &dyn Fn(&super::Vars, &NodeId) -> bool,
    ) -> Type {
        let ty = self.vars.zonk(ty);
        let (ids, inner) = match ty {
            Type::Exists(ids, inner) => (ids.to_vec(), (*inner).clone()),
            other => (Vec::new(), other),
        };
        let (inner, mut created) =
            self.replace_killed(&inner, killed, &mut |vars, name| vars.fresh_name(name));
        let mut all = ids;
        all.append(&mut created);
        if let Type::Arrow(_, from, _) = &inner
            && let Some(id) = all.iter().copied().find(|id| self.vars.mentions_name(from, *id))
        {
            let name = self.vars.names.get(&id).cloned().unwrap_or_default();
            let text = format!(
                "Unknown size \"{name}\" imposed in parameter of returned function \"{}\".",
                self.vars.show(&inner)
            );
            self.report(
                Diagnostic::error(span, text)
                    .with_hint("the caller cannot know it: return it too, or name it in the parameters"),
            );
        }
        if let Type::Record(fields) = &inner
            && let Some(id) = all.iter().copied().find(|id| fields.iter().any(|(_, t)| self.asks_for(t, *id)))
        {
            let name = self.vars.names.get(&id).cloned().unwrap_or_default();
            let text = format!(
                "Cannot generalise type \"{}\": unknown size \"{name}\" in a parameter of a function in it.",
                self.vars.show(&inner)
            );
            self.report(
                Diagnostic::error(span, text)
                    .with_hint("the caller cannot know it: return it too, or apply the function here"),
            );
        }
        Type::exists(all, inner)
    }

    /// True if a function somewhere in a type has a parameter that mentions a size.
    fn asks_for(&self, ty: &Type, size: NodeId) -> bool {
        match self.vars.resolve(ty) {
            Type::Arrow(..) => self.in_parameter(ty, size),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.asks_for(t, size)),
            _ => false,
        }
    }

    /// The type with every size that mentions a killed name replaced by a name that `make` gives, equal ones by the
    /// same; gives the new names.
    pub(super) fn replace_killed(
        &mut self,
        ty: &Type,
        killed: &dyn Fn(&super::Vars, &NodeId) -> bool,
        make: &mut dyn FnMut(&mut super::Vars, &str) -> NodeId,
    ) -> (Type, Vec<NodeId>) {
        // With whether an array tells the size: what only functions mention, nobody will know.
        let mut dead: Vec<(Size, bool)> = Vec::new();
        let mut see = |checker: &Self, size: &Size, told: bool| {
            let mut mentions = false;
            checker.vars.map_size(size, &mut |part| {
                mentions |= matches!(part, Size::Name(id) if killed(&checker.vars, id));
                None
            });
            if !mentions {
                return;
            }
            match dead.iter_mut().find(|(d, _)| checker.vars.same_size(d, size)) {
                Some((_, known)) => *known |= told,
                None => dead.push((size.clone(), told)),
            }
        };
        self.outer_sizes(ty, true, &mut see);
        if dead.is_empty() {
            return (ty.clone(), Vec::new());
        }
        // Names first: what is made of a size that some array tells is told too.
        dead.sort_by_key(|(size, told)| (!told, !matches!(size, Size::Name(_))));
        let mut pairs: Vec<(Size, NodeId)> = Vec::new();
        let mut told = 0;
        for (size, is_told) in dead {
            let known = self.replace_pairs(&size, &pairs[..told]);
            let mut mentions = false;
            self.vars.map_size(&known, &mut |part| {
                mentions |= matches!(part, Size::Name(id) if killed(&self.vars, id));
                None
            });
            if !mentions {
                continue;
            }
            let shown = match &size {
                Size::Name(_) => self.vars.show_size(&size),
                _ => "d".into(),
            };
            pairs.push((size, make(&mut self.vars, &shown)));
            told += usize::from(is_told);
        }
        let vars = &self.vars;
        let ty = vars.map_sizes(ty, &mut |size| {
            pairs.iter().find(|(s, _)| vars.same_size(s, size)).map(|(_, id)| Size::Name(*id))
        });
        (ty, pairs.into_iter().map(|(_, id)| id).collect())
    }

    fn replace_pairs(&self, size: &Size, pairs: &[(Size, NodeId)]) -> Size {
        self.vars.map_size(size, &mut |part| {
            pairs.iter().find(|(s, _)| self.vars.same_size(s, part)).map(|(_, id)| Size::Name(*id))
        })
    }

    /// Calls `see` with the whole sizes of a type, and whether a value of the type tells them: those inside function
    /// types it does not.
    pub(super) fn outer_sizes(&self, ty: &Type, told: bool, see: &mut dyn FnMut(&Self, &Size, bool)) {
        match self.vars.resolve(ty) {
            Type::Array(size, elem) => {
                see(self, &self.vars.resolve_size(&size), told);
                self.outer_sizes(&elem, told, see);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.outer_sizes(t, told, see)),
            Type::Sum(cs) => {
                cs.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.outer_sizes(t, told, see));
            }
            Type::Arrow(_, from, to) => {
                self.outer_sizes(&from, false, see);
                self.outer_sizes(&to, false, see);
            }
            Type::Exists(_, inner) => self.outer_sizes(&inner, told, see),
            Type::Opaque(_, args) => args.iter().for_each(|arg| match arg {
                super::TypeArgument::Type(t) => self.outer_sizes(t, told, see),
                super::TypeArgument::Size(s) => see(self, &self.vars.resolve_size(s), told),
            }),
            _ => {}
        }
    }

    /// The type of a value whose sizes mention names that end here: they become sizes that only the value tells.
    pub(super) fn unscope(&mut self, id: NodeId, span: Span, ty: &Type, names: &[NodeId]) -> Type {
        let killed = |_: &super::Vars, id: &NodeId| names.contains(id);
        let (ty, created) = self.replace_killed(ty, &killed, &mut |vars, name| {
            vars.unknown(span, name, "a size whose name is not visible any more")
        });
        self.creates(id, created);
        ty
    }

    /// A function inside a definition.
    pub(super) fn local_function(&mut self, fun: &'a ValBind<'a>) -> Scheme {
        let mark = self.vars.unknown_mark();
        self.vars.level += 1;
        let ty = self.function(fun, mark);
        self.vars.level -= 1;
        let mut params: Vec<SchemeParam> = fun.type_params.iter().map(super::scheme_param).collect();
        // Sizes that nothing outside of it decides are parameters.
        let mut open = Vec::new();
        self.vars.free_sizes(&ty, &mut open);
        let level = self.vars.level;
        open.retain(|var| self.vars.free_size(*var).is_some_and(|(_, own)| own > level));
        self.close_sizes(open, &mut params);
        let ty = self.vars.zonk(&ty);
        Scheme { params: params.into(), ty }
    }
}

/// The names a pattern binds.
pub(super) fn pat_names(pat: &Pat, out: &mut Vec<NodeId>) {
    match pat.kind {
        PatKind::Id(_) => out.push(pat.at.id),
        PatKind::Wildcard | PatKind::Lit(_) => {}
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => {
            pat_names(inner, out)
        }
        PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| pat_names(p, out)),
        PatKind::Record(fields) => fields.iter().for_each(|(_, p)| pat_names(p, out)),
    }
}
