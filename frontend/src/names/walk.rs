//! The walk over one definition that resolves its names.

use super::locals::{Local, Locals};
use super::lookup::Found;
use super::{GlobalId, ModVal, Names, Res, Use, closest};
use crate::habits;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType, Span};
use galopvm_stdlib::Lowering;
use std::rc::Rc;

/// The walk, with the local names in scope.
struct Walk<'n, 'a, 's> {
    names: &'n mut Names<'a, 's>,
    terms: Locals<'a>,
    types: Vec<(&'a str, NodeId)>,
    user: bool,
    /// Local functions whose body is being read: names that are not visible in it.
    defining: Vec<&'a str>,
}

impl<'a, 's> Names<'a, 's> {
    fn walk(&mut self, user: bool) -> Walk<'_, 'a, 's> {
        Walk { names: self, terms: Locals::default(), types: Vec::new(), user, defining: Vec::new() }
    }

    /// Resolves a definition. A function sees itself.
    pub fn resolve(&mut self, id: GlobalId) {
        let global = self.globals[id];
        let mut walk = self.walk(global.user);
        if global.bind.params.is_empty() {
            walk.defining.push(global.bind.name.text);
        } else {
            walk.terms.bind(global.bind.name.text, Res::Global(id));
        }
        walk.val_bind(global.bind);
    }

    /// Resolves an expression that sees every definition.
    pub fn resolve_exp(&mut self, exp: &'a Exp<'a>) {
        self.walk(true).exp(exp);
    }

    /// Resolves a type under its parameters, as a type binding or a line of a module type has it.
    pub fn resolve_type(&mut self, params: &'a [TypeParam<'a>], ty: &'a TypeExp<'a>) {
        let mut walk = self.walk(true);
        walk.type_params(params);
        walk.type_exp(ty);
    }

    pub(super) fn resolve_scheme(&mut self, (params, ty): super::SchemeText<'a>) {
        let mut walk = self.walk(false);
        walk.type_params(params);
        walk.type_exp(ty);
    }

    /// Follows the module names of a path, all parts but the last; reports what is not there.
    pub fn module_path(&mut self, name: &QualName<'a>) -> Option<Rc<ModVal<'a>>> {
        self.walk(true).module_path(name)
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
        self.terms.bind(name, Res::Local(id));
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

    fn lookup(&mut self, name: &str) -> Option<Found<'a>> {
        for local in self.terms.find(name) {
            let module = match local {
                Local::Name(res) => return Some(Found::Term(res)),
                Local::Opened(module) => module,
            };
            if let Some(res) = self.names.module_term(&module, name) {
                return Some(Found::Term(res));
            }
            if let ModVal::Struct(scope) = &*module
                && let Some(inner) = scope.modules.get(name)
            {
                return Some(Found::Module(inner.clone()));
            }
        }
        self.names.top_level(name, self.user)
    }

    /// Resolves a term name whose occurrence has this id.
    fn term(&mut self, id: NodeId, name: &QualName<'a>) {
        let first = name.parts[0];
        if first.text.starts_with('_') && first.text.len() > 1 && name.parts.len() == 1 {
            let text =
                format!("Use of \"{}\": variables prefixed with underscore may not be accessed.", first.text);
            self.report(
                Diagnostic::error(first.at.span, text).with_hint("name it without the underscore to use it"),
            );
        }
        if first.text == "intrinsics" && name.parts.len() > 1 {
            let second = name.parts[1];
            if let Some(row) = galopvm_stdlib::qualified_intrinsic(second.text) {
                return self.set(id, Res::Intrinsic(row), name.parts.len() - 2);
            }
        }
        let mut module = match self.lookup(first.text) {
            Some(Found::Term(res)) => return self.set(id, res, name.parts.len() - 1),
            Some(Found::Module(module)) => module,
            None => {
                self.unknown(&first, name.parts.len() > 1);
                return self.set(id, Res::Error, 0);
            }
        };
        for (i, part) in name.parts.iter().enumerate().skip(1) {
            if let Some(res) = self.names.module_term(&module, part.text) {
                return self.set(id, res, name.parts.len() - i - 1);
            }
            match self.inner_module(&module, part, &name.parts[..i]) {
                Some(inner) => module = inner,
                None => return self.set(id, Res::Error, 0),
            }
        }
        let text = format!("Unknown name \"{}\": it is a module, not a value", name.text());
        self.report(Diagnostic::error(name.span(), text).with_label("a module"));
        self.set(id, Res::Error, 0);
    }

    /// The module `part` of a module; reports if there is none.
    fn inner_module(
        &mut self,
        module: &ModVal<'a>,
        part: &Name<'a>,
        path: &[Name<'a>],
    ) -> Option<Rc<ModVal<'a>>> {
        let shown = QualName { parts: path }.text();
        match module {
            ModVal::Struct(scope) => {
                if let Some(inner) = scope.modules.get(part.text) {
                    return Some(inner.clone());
                }
                let text = format!("Unknown name \"{shown}.{}\"", part.text);
                let mut diagnostic =
                    Diagnostic::error(part.at.span, text).with_label(format!("not in `{shown}`"));
                let known = scope.terms.keys().chain(scope.modules.keys()).copied();
                if let Some(meant) = closest(part.text, known) {
                    diagnostic = diagnostic.with_hint(format!("did you mean `{shown}.{meant}`?"));
                }
                self.report(diagnostic);
            }
            ModVal::Scalar(ty) => {
                let mut known = galopvm_stdlib::member_names(*ty);
                known.sort_unstable();
                let text = format!("Unknown name \"{ty}.{}\"", part.text);
                let mut diagnostic =
                    Diagnostic::error(part.at.span, text).with_label(format!("not in the module `{ty}`"));
                if let Some(meant) = closest(part.text, known.into_iter()) {
                    diagnostic = diagnostic.with_hint(format!("did you mean `{ty}.{meant}`?"));
                }
                self.report(diagnostic);
            }
            ModVal::Functor(_) => {
                let text = format!("Module \"{shown}\" is a parametric module.");
                self.report(
                    Diagnostic::error(part.at.span, text)
                        .with_hint(format!("apply it first: `module m = {shown} argument`")),
                );
            }
            ModVal::Error => {}
        }
        None
    }

    /// Follows all parts but the last.
    fn module_path(&mut self, name: &QualName<'a>) -> Option<Rc<ModVal<'a>>> {
        let last = name.parts.len() - 1;
        self.whole_path(&name.parts[..last])
    }

    fn whole_path(&mut self, parts: &[Name<'a>]) -> Option<Rc<ModVal<'a>>> {
        let first = parts.first()?;
        let mut module = match self.lookup(first.text) {
            Some(Found::Module(module)) => module,
            _ => {
                let text = format!("Unknown module \"{}\"", first.text);
                self.report(Diagnostic::error(first.at.span, text).with_label("no module of this name"));
                return None;
            }
        };
        for (i, part) in parts.iter().enumerate().skip(1) {
            module = self.inner_module(&module, part, &parts[..i])?;
        }
        Some(module)
    }

    /// True directly in front of an error of the syntax, which says what is wrong here: `x = 3`.
    fn precedes_misread(&self, at: Span) -> bool {
        self.names.misread.iter().any(|wrong| {
            let between = Span { start: at.end, end: wrong.start, ..at };
            wrong.file == at.file
                && at.end <= wrong.start
                && self.names.sources.snippet(between).trim_matches([' ', '\t']).is_empty()
        })
    }

    fn unknown(&mut self, name: &Name<'a>, qualified: bool) {
        let at = name.at.span;
        if self.precedes_misread(at) {
            return;
        }
        if self.defining.contains(&name.text) {
            let diagnostic = Diagnostic::error(at, format!("Unknown name \"{}\"", name.text))
                .with_label(format!("`{}` is being defined here and does not see itself", name.text))
                .with_hint("only functions with parameters may call themselves, and only outside of others");
            return self.report(diagnostic);
        }
        if let Some(place) = self.names.later.get(name.text).copied().filter(|_| self.user) {
            let text = format!("Unknown name \"{}\": it is used before its definition", name.text);
            let diagnostic = Diagnostic::error(at, text)
                .with_place(place, "defined here")
                .with_hint("a definition sees only those above it: move it up");
            return self.report(diagnostic);
        }
        let what = if qualified { "module or name" } else { "name" };
        let mut diagnostic =
            Diagnostic::error(at, format!("Unknown {what} \"{}\"", name.text)).with_label("not defined");
        if let Some(hint) = habits::of_name(name.text) {
            diagnostic = diagnostic.with_hint(hint);
        } else if let Some(meant) = closest(name.text, self.terms.names().chain(self.names.visible())) {
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
        if name.parts.len() > 1 {
            if first.text == "intrinsics" {
                let builtin = self.names.builtin_types.get(name.last().text).copied();
                if builtin.is_none() {
                    self.unknown_type(name);
                }
                return self.set(id, builtin.map_or(Res::Error, Res::Abbr), 0);
            }
            let Some(module) = self.module_path(name) else { return self.set(id, Res::Error, 0) };
            return match self.names.module_type_of(&module, name.last().text) {
                Some(res) => self.set(id, res, 0),
                None => {
                    self.unknown_type(name);
                    self.set(id, Res::Error, 0);
                }
            };
        }
        let mut local = self
            .types
            .iter()
            .rev()
            .find(|(bound, _)| *bound == first.text)
            .map(|(_, id)| Res::TypeParam(*id));
        if local.is_none() {
            local = self.terms.modules().find_map(|module| self.names.module_type_of(&module, first.text));
        }
        let user = self.user.then(|| self.names.find_type(first.text)).flatten();
        let res = match (local, user, first.text.parse::<ElemType>()) {
            (Some(res), _, _) => Some(res),
            (_, Some(id), _) => Some(Res::Abbr(id)),
            (_, _, Ok(ty)) => Some(Res::Prim(ty)),
            _ => None,
        };
        match res {
            Some(res) => self.set(id, res, 0),
            None => {
                self.unknown_type(name);
                self.set(id, Res::Error, 0);
            }
        }
    }

    /// The known type whose name is closest.
    fn meant_type(&self, name: &str) -> Option<&str> {
        let prims = ElemType::ALL.iter().map(|ty| ty.name());
        let locals = self.types.iter().map(|(name, _)| *name);
        closest(name, locals.chain(self.names.visible_types()).chain(prims))
    }

    fn unknown_type(&mut self, name: &QualName<'a>) {
        let first = name.parts[0];
        let mut diagnostic = Diagnostic::error(name.span(), format!("Unknown type \"{}\"", name.text()))
            .with_label("not defined");
        let is_value = self.terms.names().any(|name| name == first.text);
        if let Some(hint) = habits::of_type(first.text).filter(|_| !is_value) {
            diagnostic = diagnostic.with_hint(hint);
        } else if let Some(meant) = self.meant_type(first.text) {
            diagnostic = diagnostic.with_hint(format!("did you mean `{meant}`?"));
        } else if is_value {
            diagnostic =
                diagnostic.with_hint("this is a value; a type parameter is written with a quote: `'a`");
        }
        self.report(diagnostic);
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

    /// A debugger may stop at this expression, and asks what is visible there.
    fn stops(&mut self, at: NodeId) {
        if let Some(stops) = &mut self.names.at_stops {
            stops.insert(at, self.terms.visible());
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
            ExpKind::Var(name) => {
                self.term(exp.at.id, &name);
                if let Some(Use { res: Res::Intrinsic(row), .. }) = self.names.uses.get(&exp.at.id)
                    && row.lowering == Lowering::Break
                {
                    self.stops(exp.at.id);
                }
            }
            ExpKind::Attr(attr, e) => {
                if attr.name == "break" {
                    self.stops(exp.at.id);
                }
                self.exp(e);
            }
            ExpKind::Parens(e) | ExpKind::Project(e, _) => self.exp(e),
            ExpKind::QualParens(path, inner) => self.scoped(|w| {
                if let Some(module) = w.whole_path(path.parts) {
                    if matches!(*module, ModVal::Functor(_)) {
                        let text = format!("Module \"{}\" is a parametric module.", path.text());
                        w.report(Diagnostic::error(path.span(), text));
                    }
                    w.terms.open(module);
                }
                w.exp(inner);
            }),
            ExpKind::Tuple(items) | ExpKind::Array(items) => items.iter().for_each(|e| self.exp(e)),
            ExpKind::Record(fields) => {
                for (name, value) in fields {
                    match value {
                        Some(value) => self.exp(value),
                        None => self.plain(name),
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
            ExpKind::BinOp(..) => {
                let (mut first, mut rest) = (exp, Vec::new());
                while let ExpKind::BinOp(op, left, right) = first.kind {
                    rest.push((op, right));
                    first = left;
                }
                self.exp(first);
                for (op, right) in rest.into_iter().rev() {
                    self.op(&op);
                    self.exp(right);
                }
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
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => {
                self.scoped(|w| {
                    let mut body = exp;
                    while let Some(next) = w.let_head(body) {
                        body = next;
                    }
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
            ExpKind::Constr(_, args) => args.iter().for_each(|e| self.exp(e)),
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

    /// What a `let` binds, which is then in scope for the body that it gives.
    fn let_head(&mut self, exp: &'a Exp<'a>) -> Option<&'a Exp<'a>> {
        match exp.kind {
            ExpKind::Let { sizes, pat, value, body } => {
                self.exp(value);
                for name in sizes {
                    self.bind(name.text, name.at.id);
                }
                self.pat(pat);
                Some(body)
            }
            ExpKind::LetFun { fun, body } => {
                self.defining.push(fun.name.text);
                self.val_bind(fun);
                self.defining.pop();
                self.bind(fun.name.text, fun.name.at.id);
                Some(body)
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                self.exp(old);
                self.steps(steps);
                self.exp(value);
                self.bind(name.text, name.at.id);
                Some(body)
            }
            _ => None,
        }
    }

    /// An occurrence of a name that is not qualified.
    fn plain(&mut self, name: &Name<'a>) {
        let parts = self.names.arena.alloc_slice_copy(&[*name]);
        self.term(name.at.id, &QualName { parts });
    }

    /// The names of a loop's pattern, as occurrences that give its initial value. A pattern node is a binding, never
    /// an occurrence, so its id is free to hold the use.
    fn implicit_init(&mut self, pat: &'a Pat<'a>) {
        match pat.kind {
            PatKind::Id(text) => self.plain(&Name { text, at: pat.at }),
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
