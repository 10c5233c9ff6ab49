//! The walk over one definition that resolves its names.

use super::{GlobalId, Names, Res, Use, closest};
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType};

/// Local names in scope, innermost last.
struct Walk<'n, 'a, 's> {
    names: &'n mut Names<'a, 's>,
    terms: Vec<(&'a str, NodeId)>,
    types: Vec<(&'a str, NodeId)>,
    order: u32,
    user: bool,
    own_name: Option<&'a str>,
}

impl<'a, 's> Names<'a, 's> {
    fn walk(&mut self, order: u32, user: bool) -> Walk<'_, 'a, 's> {
        Walk { names: self, terms: Vec::new(), types: Vec::new(), order, user, own_name: None }
    }

    /// Resolves a definition.
    pub fn resolve(&mut self, id: GlobalId) {
        let global = self.globals[id];
        let mut walk = self.walk(global.order, global.user);
        walk.own_name = Some(global.bind.name.text);
        walk.val_bind(global.bind);
    }

    /// Resolves an expression that sees every definition.
    pub fn resolve_exp(&mut self, exp: &'a Exp<'a>) {
        self.walk(u32::MAX, true).exp(exp);
    }

    pub(super) fn resolve_type_bind(&mut self, bind: &'a TypeBind<'a>) {
        let mut walk = self.walk(u32::MAX, true);
        walk.type_params(bind.params);
        walk.type_exp(bind.def);
    }

    pub(super) fn resolve_scheme(&mut self, (params, ty): super::SchemeText<'a>) {
        let mut walk = self.walk(u32::MAX, false);
        walk.type_params(params);
        walk.type_exp(ty);
    }
}

impl<'a> Walk<'_, 'a, '_> {
    fn set(&mut self, id: NodeId, res: Res, fields: usize) {
        self.names.uses.insert(id, Use { res, fields });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.names.diagnostics.push(diagnostic);
    }

    /// Runs `inner` and forgets the names it bound.
    fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        let (terms, types) = (self.terms.len(), self.types.len());
        inner(self);
        self.terms.truncate(terms);
        self.types.truncate(types);
    }

    fn bind(&mut self, name: &'a str, id: NodeId) {
        self.terms.push((name, id));
    }

    fn val_bind(&mut self, bind: &'a ValBind<'a>) {
        self.scoped(|w| {
            w.type_params(bind.type_params);
            for param in bind.params {
                w.pat(param);
            }
            if let Some(ty) = bind.result {
                w.type_exp(ty);
            }
            w.exp(bind.body);
        });
    }

    fn type_params(&mut self, params: &'a [TypeParam<'a>]) {
        for param in params {
            match param {
                TypeParam::Size(name) => self.bind(name.text, name.at.id),
                TypeParam::Type(_, name) => self.types.push((name.text, name.at.id)),
            }
        }
    }

    fn lookup(&self, name: &str) -> Option<Res> {
        let local = self.terms.iter().rev().find(|(bound, _)| *bound == name);
        local.map(|(_, id)| Res::Local(*id)).or_else(|| self.names.top_level(name, self.order, self.user))
    }

    /// Resolves a term name whose occurrence has this id.
    fn term(&mut self, id: NodeId, name: &QualName<'a>) {
        let first = name.parts[0];
        if let Some(res) = self.lookup(first.text) {
            return self.set(id, res, name.parts.len() - 1);
        }
        if name.parts.len() >= 2 {
            let second = name.parts[1];
            if let Ok(ty) = first.text.parse::<ElemType>() {
                if let Some(res) = self.names.member(ty, second.text) {
                    return self.set(id, res, name.parts.len() - 2);
                }
                let mut known = galopvm_stdlib::member_names(ty);
                known.sort_unstable();
                let text = format!("the module `{ty}` has no `{}`", second.text);
                let mut diagnostic = Diagnostic::error(second.at.span, text).with_label("unknown member");
                if let Some(meant) = closest(second.text, known.into_iter()) {
                    diagnostic = diagnostic.with_hint(format!("did you mean `{ty}.{meant}`?"));
                }
                self.report(diagnostic);
                return self.set(id, Res::Error, 0);
            }
            if first.text == "intrinsics"
                && let Some(row) = galopvm_stdlib::intrinsic(second.text)
            {
                return self.set(id, Res::Intrinsic(row), name.parts.len() - 2);
            }
        }
        self.unknown(&first, name.parts.len() > 1);
        self.set(id, Res::Error, 0);
    }

    fn unknown(&mut self, name: &Name<'a>, qualified: bool) {
        let at = name.at.span;
        if self.own_name == Some(name.text) {
            let diagnostic = Diagnostic::error(at, "recursive functions are not supported yet")
                .with_label(format!("`{}` is being defined", name.text))
                .with_hint("use `loop`");
            return self.report(diagnostic);
        }
        let later = self.user.then(|| self.names.user_global(name.text)).flatten();
        if let Some(later) = later {
            let place = self.names.globals[later].bind.name.at.span;
            let diagnostic = Diagnostic::error(at, format!("`{}` is used before its definition", name.text))
                .with_place(place, "defined here")
                .with_hint("a definition sees only those above it: move it up");
            return self.report(diagnostic);
        }
        let what = if qualified { "module or name" } else { "name" };
        let mut diagnostic =
            Diagnostic::error(at, format!("unknown {what} `{}`", name.text)).with_label("not defined");
        let locals = self.terms.iter().map(|(n, _)| *n);
        if let Some(meant) = closest(name.text, locals.chain(self.names.visible(self.order))) {
            diagnostic = diagnostic.with_hint(format!("did you mean `{meant}`?"));
        }
        self.report(diagnostic);
    }

    fn type_exp(&mut self, ty: &'a TypeExp<'a>) {
        match ty.kind {
            TypeExpKind::Var(name) => self.type_name(&name),
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) => self.type_exp(inner),
            TypeExpKind::Tuple(items) => items.iter().for_each(|t| self.type_exp(t)),
            TypeExpKind::Record(fields) => fields.iter().for_each(|(_, t)| self.type_exp(t)),
            TypeExpKind::Array(size, inner) => {
                self.size(&size);
                self.type_exp(inner);
            }
            TypeExpKind::Apply(head, arg) => {
                self.type_exp(head);
                match arg {
                    TypeArg::Size(size) => self.size(&size),
                    TypeArg::Type(ty) => self.type_exp(ty),
                }
            }
            TypeExpKind::Arrow(name, domain, result) => {
                self.type_exp(domain);
                self.scoped(|w| {
                    if let Some(name) = name {
                        w.bind(name.text, name.at.id);
                    }
                    w.type_exp(result);
                });
            }
            TypeExpKind::Sum(clauses) => {
                self.names.unsupported(ty.at.span, "a sum type");
                clauses.iter().flat_map(|(_, payload)| payload.iter()).for_each(|t| self.type_exp(t));
            }
            TypeExpKind::Exists(sizes, inner) => self.scoped(|w| {
                for name in sizes {
                    w.bind(name.text, name.at.id);
                }
                w.type_exp(inner);
            }),
            TypeExpKind::Error => {}
        }
    }

    fn type_name(&mut self, name: &QualName<'a>) {
        let (first, id) = (name.parts[0], name.parts[0].at.id);
        if name.parts.len() == 1 {
            let local = self.types.iter().rev().find(|(bound, _)| *bound == first.text).map(|(_, id)| *id);
            let user = self.user.then(|| self.names.user_types.get(first.text)).flatten().copied();
            let res = match (local, user, first.text.parse::<ElemType>()) {
                (Some(id), _, _) => Some(Res::TypeParam(id)),
                (_, Some(id), _) => Some(Res::Abbr(id)),
                (_, _, Ok(ty)) => Some(Res::Prim(ty)),
                _ => None,
            };
            if let Some(res) = res {
                return self.set(id, res, 0);
            }
        }
        let mut diagnostic = Diagnostic::error(name.span(), format!("unknown type `{}`", name.text()))
            .with_label("not defined");
        let prims = ElemType::ALL.iter().map(|t| t.name());
        let locals = self.types.iter().map(|(n, _)| *n).chain(self.names.user_types.keys().copied());
        if let Some(meant) = closest(first.text, locals.chain(prims)) {
            diagnostic = diagnostic.with_hint(format!("did you mean `{meant}`?"));
        } else if self.terms.iter().any(|(n, _)| *n == first.text) {
            diagnostic =
                diagnostic.with_hint("this is a value; a type parameter is written with a quote: `'a`");
        }
        self.report(diagnostic);
        self.set(id, Res::Error, 0);
    }

    fn size(&mut self, size: &SizeExp<'a>) {
        if let Some(exp) = size.size {
            self.exp(exp);
        }
    }

    /// Resolves the types in a pattern and binds its names.
    fn pat(&mut self, pat: &'a Pat<'a>) {
        match pat.kind {
            PatKind::Id(name) => self.bind(name, pat.at.id),
            PatKind::Wildcard => {}
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.pat(inner),
            PatKind::Tuple(items) => items.iter().for_each(|p| self.pat(p)),
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.pat(p)),
            PatKind::Ascript(inner, ty) => {
                self.type_exp(ty);
                self.pat(inner);
            }
            PatKind::Lit(_) => {}
            PatKind::Constr(_, args) => args.iter().for_each(|p| self.pat(p)),
        }
    }

    fn steps(&mut self, steps: &'a [Step<'a>]) {
        for step in steps {
            if let Step::Index(dims) = step {
                self.dims(dims);
            }
        }
    }

    fn dims(&mut self, dims: &'a [DimIndex<'a>]) {
        for dim in dims {
            match dim {
                DimIndex::Fix(index) => self.exp(index),
                DimIndex::Slice(from, to, step) => {
                    for part in [from, to, step].into_iter().flatten() {
                        self.exp(part);
                    }
                }
            }
        }
    }

    fn op(&mut self, op: &OpName<'a>) {
        self.term(op.at.id, &op.name);
    }

    fn exp(&mut self, exp: &'a Exp<'a>) {
        match exp.kind {
            ExpKind::Literal(_)
            | ExpKind::Number(_)
            | ExpKind::String(..)
            | ExpKind::Hole
            | ExpKind::Error => {}
            ExpKind::Var(name) => self.term(exp.at.id, &name),
            ExpKind::Parens(e) | ExpKind::Project(e, _) | ExpKind::Attr(_, e) => self.exp(e),
            ExpKind::QualParens(..) => {
                self.names.unsupported(exp.at.span, "opening a module in an expression")
            }
            ExpKind::Tuple(items) | ExpKind::Array(items) => items.iter().for_each(|e| self.exp(e)),
            ExpKind::Record(fields) => {
                for (name, value) in fields {
                    match value {
                        Some(value) => self.exp(value),
                        None => match self.lookup(name.text) {
                            Some(res) => self.set(name.at.id, res, 0),
                            None => {
                                self.unknown(name, false);
                                self.set(name.at.id, Res::Error, 0);
                            }
                        },
                    }
                }
            }
            ExpKind::Index(e, dims) => {
                self.exp(e);
                self.dims(dims);
            }
            ExpKind::Apply(head, args) => {
                self.exp(head);
                args.iter().for_each(|e| self.exp(e));
            }
            ExpKind::BinOp(op, left, right) => {
                self.exp(left);
                self.op(&op);
                self.exp(right);
            }
            ExpKind::Negate(e) | ExpKind::Not(e) => self.exp(e),
            ExpKind::Lambda(params, result, body) => self.scoped(|w| {
                params.iter().for_each(|p| w.pat(p));
                if let Some(ty) = result {
                    w.type_exp(ty);
                }
                w.exp(body);
            }),
            ExpKind::Section(op) => self.op(&op),
            ExpKind::SectionLeft(op, e) | ExpKind::SectionRight(op, e) => {
                self.op(&op);
                self.exp(e);
            }
            ExpKind::SectionPath(steps) => self.steps(steps),
            ExpKind::If(condition, yes, no) => {
                self.exp(condition);
                self.exp(yes);
                self.exp(no);
            }
            ExpKind::Let { sizes, pat, value, body } => {
                self.exp(value);
                self.scoped(|w| {
                    for name in sizes {
                        w.bind(name.text, name.at.id);
                    }
                    w.pat(pat);
                    w.exp(body);
                });
            }
            ExpKind::LetFun { fun, body } => {
                let outer = self.own_name.replace(fun.name.text);
                let shadowed = self.lookup(fun.name.text).is_some();
                if shadowed {
                    self.own_name = outer;
                }
                self.val_bind(fun);
                self.own_name = outer;
                self.scoped(|w| {
                    w.bind(fun.name.text, fun.name.at.id);
                    w.exp(body);
                });
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                self.exp(old);
                self.steps(steps);
                self.exp(value);
                self.scoped(|w| {
                    w.bind(name.text, name.at.id);
                    w.exp(body);
                });
            }
            ExpKind::Loop { pat, init, form, body } => {
                if let Some(init) = init {
                    self.exp(init);
                } else {
                    self.implicit_init(pat);
                }
                match form {
                    LoopForm::For(_, e) | LoopForm::ForIn(_, e) => self.exp(e),
                    LoopForm::While(_) => {}
                }
                self.scoped(|w| {
                    w.pat(pat);
                    match form {
                        LoopForm::For(name, _) => w.bind(name.text, name.at.id),
                        LoopForm::ForIn(element, _) => w.pat(element),
                        LoopForm::While(condition) => w.exp(condition),
                    }
                    w.exp(body);
                });
            }
            ExpKind::Match(subject, cases) => {
                self.exp(subject);
                for (pat, value) in cases {
                    self.scoped(|w| {
                        w.pat(pat);
                        w.exp(value);
                    });
                }
            }
            ExpKind::Constr(_, args) => {
                self.names.unsupported(exp.at.span, "a sum type constructor");
                args.iter().for_each(|e| self.exp(e));
            }
            ExpKind::Range { first, second, last, .. } => {
                self.exp(first);
                if let Some(second) = second {
                    self.exp(second);
                }
                self.exp(last);
            }
            ExpKind::Update(e, steps, value) => {
                self.exp(e);
                self.steps(steps);
                self.exp(value);
            }
            ExpKind::Assert(condition, e) => {
                self.exp(condition);
                self.exp(e);
            }
            ExpKind::Ascript(e, ty) | ExpKind::Coerce(e, ty) => {
                self.exp(e);
                self.type_exp(ty);
            }
        }
    }

    /// The names of a loop's pattern, as occurrences that give its initial value. A pattern node is a binding, never
    /// an occurrence, so its id is free to hold the use.
    fn implicit_init(&mut self, pat: &'a Pat<'a>) {
        match pat.kind {
            PatKind::Id(name) => match self.lookup(name) {
                Some(res) => self.set(pat.at.id, res, 0),
                None => {
                    self.unknown(&Name { text: name, at: pat.at }, false);
                    self.set(pat.at.id, Res::Error, 0);
                }
            },
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.implicit_init(inner)
            }
            PatKind::Tuple(items) => items.iter().for_each(|p| self.implicit_init(p)),
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.implicit_init(p)),
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {
                self.report(
                    Diagnostic::error(pat.at.span, "this loop needs an initial value")
                        .with_hint("write `loop pattern = value for ..`"),
                );
            }
        }
    }
}
