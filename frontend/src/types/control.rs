//! Types of `let`, branches, `match` and loops.

use super::apply::pat_names;
use super::convert::Anonymous;
use super::report::Context;
use super::vars::{SizeOrigin, type_set};
use super::{Checker, Size, Type};
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType, Span};

/// Sizes in a type beyond which one that a `let` made is known by its value alone.
const LARGEST_SIZE: usize = 1000;

/// A `let` whose body is being checked.
pub(super) enum LetScope {
    /// The names that a pattern binds, and the type of what it takes apart.
    Pattern(Vec<NodeId>, Type),
    Function,
    Update,
}

/// How the body of a loop makes the size at one place of the loop's parameters.
enum Turn {
    /// As it was before the first turn.
    Same,
    /// As that of another parameter that began with the same size.
    Copies(usize),
    /// Anew.
    Fresh,
}

impl<'a> Checker<'a, '_, '_> {
    /// What a `let` binds, which is then in scope for the body that comes with it. Nothing for other expressions.
    pub(super) fn open_let(&mut self, exp: &'a Exp<'a>) -> Option<(LetScope, &'a Exp<'a>)> {
        Some(match exp.kind {
            ExpKind::Let { sizes, pat, value, body } => {
                let ty = self.infer(value);
                self.check_bound_twice(sizes, [pat]);
                self.vars.level += 1;
                let mut names: Vec<NodeId> = sizes.iter().map(|n| n.at.id).collect();
                for name in sizes {
                    self.bind(name, Type::SIZE);
                }
                self.size_binders = sizes.iter().map(|name| (name.at.id, self.size_binder(name))).collect();
                self.pat(pat, &ty, Anonymous::Infer);
                self.size_binders.clear();
                for name in sizes {
                    self.check_size_used(name, pat);
                }
                pat_names(pat, &mut names);
                (LetScope::Pattern(names, ty), body)
            }
            ExpKind::LetFun { fun, body } => {
                let scheme = self.local_function(fun);
                self.vars.written(fun.name.at, fun.name.text);
                self.locals.insert(fun.name.at.id, scheme);
                (LetScope::Function, body)
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                let ty = self.infer(old);
                let ty = self.update(old.at.span, &ty, steps, value);
                self.vars.level += 1;
                self.bind(&name, ty);
                (LetScope::Update, body)
            }
            _ => return None,
        })
    }

    fn size_binder(&mut self, name: &Name<'a>) -> Size {
        let origin = SizeOrigin {
            span: name.at.span,
            text: String::new(),
            name: Some(name.text.to_string()),
            must_be_known: true,
        };
        self.vars.size_from(origin, false)
    }

    /// The type of a `let` whose body has this type.
    pub(super) fn close_let(&mut self, exp: &'a Exp<'a>, scope: LetScope, result: Type) -> Type {
        let id = exp.at.id;
        match (exp.kind, scope) {
            (ExpKind::Let { value, .. }, LetScope::Pattern(names, ty)) => {
                self.vars.level -= 1;
                // A number has a size's value under another name.
                if let ([name], Type::Prim(ElemType::I64)) = (names.as_slice(), self.vars.resolve(&ty))
                    && let Some(size) = self.exp_size(value)
                {
                    let named = self.vars.replace_sizes(&result, &|n| (n == *name).then(|| size.clone()));
                    // Sizes that grow from `let` to `let` would fill any memory.
                    if self.large_sizes(&named).is_empty() {
                        return named;
                    }
                }
                self.unscope(id, value.at.span, &result, &names)
            }
            (ExpKind::LetFun { fun, .. }, _) => self.unscope(id, exp.at.span, &result, &[fun.name.at.id]),
            (ExpKind::LetWith { name, .. }, _) => {
                self.vars.level -= 1;
                self.unscope(id, exp.at.span, &result, &[name.at.id])
            }
            _ => result,
        }
    }

    /// The sizes of a type that are too large to be carried along.
    fn large_sizes(&self, ty: &Type) -> Vec<Size> {
        let mut large = Vec::new();
        self.outer_sizes(ty, true, &mut |checker, size, _| {
            let mut parts = 0;
            checker.vars.each_part(size, &mut |_| parts += 1);
            if parts > LARGEST_SIZE {
                large.push(size.clone());
            }
        });
        large
    }

    /// The type with names for sizes that grew from operator to operator: only the value tells them.
    pub(super) fn shortened(&mut self, exp: &Exp<'a>, ty: Type) -> Type {
        let mut named: Vec<(Size, NodeId)> = Vec::new();
        for size in self.large_sizes(&ty) {
            if !named.iter().any(|(other, _)| self.vars.same_size(other, &size)) {
                named.push((size, self.vars.unknown(exp.at.span, "d", "a size of too many parts")));
            }
        }
        if named.is_empty() {
            return ty;
        }
        self.creates(exp.at.id, named.iter().map(|(_, id)| *id).collect());
        let vars = &self.vars;
        vars.map_sizes(&ty, &mut |size| {
            named.iter().find(|(large, _)| vars.same_size(large, size)).map(|(_, id)| Size::Name(*id))
        })
    }

    fn check_size_used(&mut self, name: &Name<'a>, pat: &'a Pat<'a>) {
        fn types<'p>(pat: &'p Pat<'p>, out: &mut Vec<NodeId>) {
            match pat.kind {
                PatKind::Ascript(inner, ty) => {
                    out.push(ty.at.id);
                    types(inner, out);
                }
                PatKind::Parens(inner) | PatKind::Attr(_, inner) => types(inner, out),
                PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| types(p, out)),
                PatKind::Record(fields) => fields.iter().for_each(|(_, p)| types(p, out)),
                PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) => {}
            }
        }
        let mut written = Vec::new();
        types(pat, &mut written);
        let used = written
            .iter()
            .any(|id| self.types.get(*id).is_some_and(|ty| self.vars.mentions_name(ty, name.at.id)));
        if !used {
            let text = format!("Size [{}] unused in pattern.", name.text);
            self.report(
                Diagnostic::error(name.at.span, text).with_hint("use it in the pattern's type: `[n]t`"),
            );
            return;
        }
        let mut told = Vec::new();
        for id in &written {
            if let Some(ty) = self.types.get(*id).cloned() {
                self.witnesses(&ty, &mut told);
            }
        }
        if !told.contains(&name.at.id) {
            let text = format!(
                "Cannot bind [{}] as it is never used as the size of a concrete (non-function) value.",
                name.text
            );
            self.report(Diagnostic::error(name.at.span, text));
        }
    }

    /// The type of a choice between values of two types: sizes that differ become unknown.
    pub(super) fn branches(&mut self, id: NodeId, span: Span, a: &Type, b: &Type, other: Span) -> Type {
        if let Err(clash) = self.vars.unify_shape(a, b) {
            self.mismatch(span, a, b, &clash, &Context::Branch(other));
            return a.clone();
        }
        let mut pairs = Vec::new();
        let mut created = Vec::new();
        let ty = self.common(a, b, span, &mut pairs, &mut created);
        self.creates(id, created);
        ty
    }

    fn common(
        &mut self,
        a: &Type,
        b: &Type,
        span: Span,
        pairs: &mut Vec<(Size, Size, NodeId)>,
        created: &mut Vec<NodeId>,
    ) -> Type {
        match (self.vars.resolve(a), self.vars.resolve(b)) {
            (Type::Array(n, x), Type::Array(m, y)) => {
                let size = self.common_size(&n, &m, span, pairs, created);
                Type::array(size, self.common(&x, &y, span, pairs, created))
            }
            (Type::Record(xs), Type::Record(ys)) => Type::Record(
                xs.iter()
                    .zip(ys.iter())
                    .map(|(x, y)| (x.0.clone(), self.common(&x.1, &y.1, span, pairs, created)))
                    .collect(),
            ),
            (Type::Sum(xs), Type::Sum(ys)) => Type::Sum(
                xs.iter()
                    .zip(ys.iter())
                    .map(|(x, y)| {
                        let payload = x.1.iter().zip(y.1.iter());
                        (x.0.clone(), payload.map(|(x, y)| self.common(x, y, span, pairs, created)).collect())
                    })
                    .collect(),
            ),
            (Type::Opaque(id, xs), Type::Opaque(_, ys)) => Type::Opaque(
                id,
                xs.iter()
                    .zip(ys.iter())
                    .map(|(x, y)| match (x, y) {
                        (super::TypeArgument::Size(x), super::TypeArgument::Size(y)) => {
                            super::TypeArgument::Size(self.common_size(x, y, span, pairs, created))
                        }
                        (x, _) => x.clone(),
                    })
                    .collect(),
            ),
            (x, _) => x,
        }
    }

    fn common_size(
        &mut self,
        a: &Size,
        b: &Size,
        span: Span,
        pairs: &mut Vec<(Size, Size, NodeId)>,
        created: &mut Vec<NodeId>,
    ) -> Size {
        let (a, b) = (self.vars.zonk_size(a), self.vars.zonk_size(b));
        if self.vars.same_size(&a, &b) {
            return a;
        }
        if let Some((_, _, id)) =
            pairs.iter().find(|(x, y, _)| self.vars.same_size(x, &a) && self.vars.same_size(y, &b))
        {
            return Size::Name(*id);
        }
        let text = format!(
            "a size that is [{}] in one branch and [{}] in the other",
            self.vars.show_size(&a),
            self.vars.show_size(&b)
        );
        let id = self.vars.unknown(span, "d", text);
        created.push(id);
        pairs.push((a, b, id));
        Size::Name(id)
    }

    pub(super) fn match_exp(
        &mut self,
        exp: &'a Exp<'a>,
        subject: &'a Exp<'a>,
        cases: &'a [(Pat<'a>, Exp<'a>)],
    ) -> Type {
        let ty = self.infer(subject);
        let mut result: Option<(Type, Span)> = None;
        for (pat, value) in cases {
            self.vars.level += 1;
            self.check_bound_twice(&[], [pat]);
            self.pat(pat, &ty, Anonymous::Infer);
            let found = self.infer(value);
            self.vars.level -= 1;
            let mut names = Vec::new();
            pat_names(pat, &mut names);
            let found = self.unscope(exp.at.id, value.at.span, &found, &names);
            result = Some(match result {
                None => (found, value.at.span),
                Some((before, place)) => {
                    (self.branches(exp.at.id, value.at.span, &before, &found, place), place)
                }
            });
        }
        let ty = result.map_or(Type::Error, |(ty, _)| ty);
        self.data(exp.at.span, &ty, "Match-expression", "match-results");
        ty
    }

    pub(super) fn loop_exp(
        &mut self,
        exp: &'a Exp<'a>,
        pat: &'a Pat<'a>,
        init: Option<&'a Exp<'a>>,
        form: &LoopForm<'a>,
        body: &'a Exp<'a>,
    ) -> Type {
        let span = exp.at.span;
        let start = match init {
            Some(init) => self.infer(init),
            None => self.implicit_init(pat),
        };
        let start = self.without_marks(&start);
        self.check_bound_twice(&[], [pat]);
        // Each size of the first value may change from turn to turn; what the body makes of it decides.
        let mut initial = Vec::new();
        self.vars.level += 1;
        let carried = self.open_sizes(&start, span, &mut initial);
        match form {
            LoopForm::For(name, bound) => {
                let ty = self.infer(bound);
                self.require(bound.at.span, &ty, type_set(ElemType::is_int), "for");
                self.bind(name, ty);
            }
            LoopForm::ForIn(element, array) => {
                let ty = self.infer(array);
                match self.vars.resolve(&ty) {
                    Type::Array(_, elem) => self.pat(element, &elem, Anonymous::Infer),
                    Type::Error => self.pat(element, &Type::Error, Anonymous::Infer),
                    Type::Var(_) => {
                        let size = self.vars.fresh_size(array.at.span, "iteration");
                        let elem = self.vars.fresh(array.at.span);
                        let wanted = Type::array(size, elem.clone());
                        if let Err(clash) = self.vars.unify(&wanted, &ty) {
                            self.mismatch(array.at.span, &wanted, &ty, &clash, &Context::Being("an array"));
                        }
                        self.pat(element, &elem, Anonymous::Infer);
                    }
                    _ => {
                        let shown = self.vars.show(&ty);
                        let text = format!(
                            "Iteratee of a for-in loop must be an array, but expression has type {shown}"
                        );
                        self.report(Diagnostic::error(array.at.span, text));
                        self.pat(element, &Type::Error, Anonymous::Infer);
                    }
                }
            }
            LoopForm::While(_) => {}
        }
        self.pat(pat, &carried, Anonymous::Infer);
        if let LoopForm::While(condition) = form {
            self.check(condition, &Type::BOOL, &Context::Being("the condition of a 'while' loop, bool"));
        }
        self.vars.level += 1;
        let found = self.infer(body);
        self.vars.level -= 1;
        if let Err(clash) = self.vars.unify_shape(&carried, &found) {
            self.mismatch(body.at.span, &carried, &found, &clash, &Context::LoopBody(pat.at.span));
        }
        let variant = self.variant(&carried, &found, &initial);
        let mut sizes = Vec::new();
        for i in &variant {
            // Places that must have equal sizes share one.
            if let Size::Var(open) = self.vars.resolve_size(&initial[*i].0) {
                if self.vars.free_size(open).is_some_and(|(_, level)| level < self.vars.level) {
                    self.escaped(pat.at.span, body.at.span);
                    self.vars.set_size(open, Size::Any);
                    continue;
                }
                let name = self.vars.fresh_name("loop");
                self.vars.levels.insert(name, self.vars.level - 1);
                self.vars.set_size(open, Size::Name(name));
                sizes.push(name);
            }
        }
        for (var, size) in &initial {
            if let Size::Var(open) = self.vars.resolve_size(var) {
                // A mismatch here is told below, with the whole types.
                let _ = self.vars.unify_size(&Size::Var(open), size);
            }
        }
        self.vars.level -= 1;
        self.creates(pat.at.id, sizes.clone());
        let parameter = self.types.get(pat.at.id).cloned().unwrap_or(carried);
        let parameter = self.without_marks(&parameter);
        // What a turn gives may mention names of the turn.
        self.vars.level += 2;
        let wanted = self.fresh_loop_sizes(&parameter, &sizes, span);
        self.vars.level -= 2;
        if let Err(clash) = self.vars.unify(&wanted, &found) {
            self.mismatch(body.at.span, &parameter, &found, &clash, &Context::LoopBody(pat.at.span));
        }
        let wanted = self.fresh_loop_sizes(&parameter, &sizes, span);
        if let Err(clash) = self.vars.unify(&wanted, &start) {
            let at = init.map_or(pat.at.span, |e| e.at.span);
            self.mismatch(at, &parameter, &start, &clash, &Context::LoopInitial(pat.at.span));
        }
        self.unlifted(&parameter, Lifted::Size);
        self.pending.loop_parameters.push((pat.at.span, parameter.clone()));
        let killed = |_: &super::Vars, id: &NodeId| sizes.contains(id);
        let (ty, mut created) = self.replace_killed(&parameter, &killed, &mut |vars, _| {
            vars.unknown(span, "loop", "a size that changes inside of a loop")
        });
        let mut names = Vec::new();
        pat_names(pat, &mut names);
        self.creates(exp.at.id, std::mem::take(&mut created));
        self.unscope(exp.at.id, span, &ty, &names)
    }

    /// Says that something outside of a loop has the size of a parameter that changes from turn to turn.
    fn escaped(&mut self, pat: Span, body: Span) {
        let text = "Loop-variant size has escaped into type that occurs outside of loop.";
        self.report(
            Diagnostic::error(pat, text)
                .with_label("a size of this changes from turn to turn")
                .with_place(body, "something from outside of the loop would have it here")
                .with_hint("write the type of what comes from outside, or keep the size with `e :> t`"),
        );
    }

    /// The type with a new open size in place of each of its own; gives them with the old ones.
    pub(super) fn open_sizes(&mut self, ty: &Type, span: Span, out: &mut Vec<(Size, Size)>) -> Type {
        match self.vars.resolve(ty) {
            Type::Array(size, elem) => {
                let open = self.vars.fresh_size(span, "loop parameter");
                out.push((open.clone(), self.vars.zonk_size(&size)));
                Type::array(open, self.open_sizes(&elem, span, out))
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (n.clone(), self.open_sizes(t, span, out))).collect())
            }
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(n, ts)| (n.clone(), ts.iter().map(|t| self.open_sizes(t, span, out)).collect()))
                    .collect(),
            ),
            Type::Arrow(name, from, to) => {
                let from = self.open_sizes(&from, span, out);
                Type::Arrow(name, from.into(), self.open_sizes(&to, span, out).into())
            }
            Type::Opaque(id, args) => Type::Opaque(
                id,
                args.iter()
                    .map(|arg| match arg {
                        super::TypeArgument::Size(size) => {
                            let open = self.vars.fresh_size(span, "loop parameter");
                            out.push((open.clone(), self.vars.zonk_size(size)));
                            super::TypeArgument::Size(open)
                        }
                        other => other.clone(),
                    })
                    .collect(),
            ),
            other => other,
        }
    }

    fn fresh_loop_sizes(&mut self, ty: &Type, sizes: &[NodeId], span: Span) -> Type {
        let open: Vec<Size> = sizes.iter().map(|_| self.vars.fresh_size(span, "loop")).collect();
        self.vars.replace_sizes(ty, &|id| sizes.iter().position(|s| *s == id).map(|i| open[i].clone()))
    }

    /// Places of the loop's parameters whose size changes from turn to turn.
    fn variant(&mut self, carried: &Type, found: &Type, initial: &[(Size, Size)]) -> Vec<usize> {
        let (mut wanted, mut made) = (Vec::new(), Vec::new());
        self.flat_sizes(carried, &mut wanted);
        self.flat_sizes(found, &mut made);
        let place = |checker: &Self, size: &Size| match checker.vars.resolve_size(size) {
            Size::Var(var) => initial
                .iter()
                .position(|(open, _)| matches!(checker.vars.resolve_size(open), Size::Var(v) if v == var)),
            _ => None,
        };
        let mut turns: Vec<(usize, Turn)> = Vec::new();
        for (want, have) in wanted.iter().zip(&made) {
            let Some(i) = place(self, want) else { continue };
            let have = self.vars.zonk_size(have);
            if self.vars.same_size(&have, want) {
                continue;
            }
            let before = &initial[i].1;
            let turn = match place(self, &have) {
                _ if self.vars.same_size(&have, before) => Turn::Same,
                Some(j) if self.vars.same_size(&initial[j].1, before) => Turn::Copies(j),
                // A size that nothing decides yet will be the one from before.
                None if matches!(have, Size::Var(_)) => Turn::Same,
                _ => Turn::Fresh,
            };
            turns.push((i, turn));
        }
        let mut variant: Vec<usize> =
            turns.iter().filter(|(_, t)| matches!(t, Turn::Fresh)).map(|(i, _)| *i).collect();
        loop {
            let more: Vec<usize> = turns
                .iter()
                .filter(|(i, t)| matches!(t, Turn::Copies(j) if variant.contains(j)) && !variant.contains(i))
                .map(|(i, _)| *i)
                .collect();
            if more.is_empty() {
                break;
            }
            variant.extend(more);
        }
        variant.sort_unstable();
        variant.dedup();
        variant
    }

    /// The sizes of a type that is not a function, in order.
    fn flat_sizes(&self, ty: &Type, out: &mut Vec<Size>) {
        match self.vars.resolve(ty) {
            Type::Array(size, elem) => {
                out.push(size);
                self.flat_sizes(&elem, out);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.flat_sizes(t, out)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.flat_sizes(t, out)),
            Type::Opaque(_, args) => args.iter().for_each(|arg| {
                if let super::TypeArgument::Size(size) = arg {
                    out.push(size.clone());
                }
            }),
            _ => {}
        }
    }

    fn implicit_init(&mut self, pat: &'a Pat<'a>) -> Type {
        match pat.kind {
            PatKind::Id(text) => {
                let name = self.names.arena.alloc_slice_copy(&[Name { text, at: pat.at }]);
                self.occurrence(pat.at.id, pat.at.span, &QualName { parts: name })
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.implicit_init(inner)
            }
            PatKind::Tuple(items) => Type::tuple(items.iter().map(|p| self.implicit_init(p)).collect()),
            PatKind::Record(fields) => {
                Type::record(fields.iter().map(|(n, p)| (n.text.into(), self.implicit_init(p))).collect())
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => Type::Error,
        }
    }
}
