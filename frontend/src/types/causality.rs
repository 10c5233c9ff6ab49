//! Are sizes known before they are needed?
//!
//! An empty array, a constructor, a function or a hole has to be made with all the sizes of its type. A size that
//! only some value tells must have been told by then, in the order of evaluation: arguments from the last to the
//! first, then the function.

use super::{Checker, Type};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, IdSet, Span};
use std::fmt;

type Known = IdSet<NodeId>;

/// What has to be made with all the sizes of its type.
#[derive(Clone, Copy)]
enum Made<'w> {
    Variable(QualName<'w>),
    Constructor(&'w str),
    Other(&'static str),
}

impl fmt::Display for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Made::Variable(name) => write!(f, "\"{}\"", name.text()),
            Made::Constructor(name) => write!(f, "\"#{name}\""),
            Made::Other(what) => f.write_str(what),
        }
    }
}

struct Walk<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    found: Vec<Diagnostic>,
}

impl<'a> Checker<'a, '_, '_> {
    /// Checks one definition whose types are known.
    pub(super) fn causality(&mut self, bind: &ValBind<'a>) {
        let mut walk = Walk { checker: self, found: Vec::new() };
        walk.exp(bind.body, &Known::default());
        // One size too late makes others too late.
        if let Some(first) = walk.found.into_iter().next() {
            self.report(first);
        }
    }
}

impl Checker<'_, '_, '_> {
    /// Sizes that results of functions in the type hide.
    fn hidden_in(&self, ty: &Type, out: &mut Vec<NodeId>) {
        match self.vars.resolve(ty) {
            Type::Exists(ids, inner) => {
                out.extend(ids.iter());
                self.hidden_in(&inner, out);
            }
            Type::Arrow(_, from, to) => {
                self.hidden_in(&from, out);
                self.hidden_in(&to, out);
            }
            Type::Array(_, inner) => self.hidden_in(&inner, out),
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.hidden_in(t, out)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.hidden_in(t, out)),
            _ => {}
        }
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    fn need(&mut self, what: Made<'_>, id: NodeId, span: Span, known: &Known) {
        let Some(ty) = self.checker.types.get(id) else { return };
        if !self.checker.created.is_empty() {
            self.need_type(what, ty, span, known);
        }
    }

    fn need_type(&mut self, what: Made<'_>, ty: &Type, span: Span, known: &Known) {
        let vars = &self.checker.vars;
        let mut hidden = Vec::new();
        self.checker.hidden_in(ty, &mut hidden);
        for name in vars.size_names(ty).into_iter().filter(|name| !hidden.contains(name)) {
            let Some(unknown) = vars.unknowns.get(&name) else { continue };
            if known.contains(&name) || !self.checker.created.contains(&name) {
                continue;
            }
            // What a function's result hides may be anything where a variable stands for the function.
            if matches!(what, Made::Variable(_)) && vars.is_absorbed(name) {
                continue;
            }
            let shown = vars.names.get(&name).cloned().unwrap_or_default();
            let text = format!(
                "Causality check: size \"{shown}\" needed for type of {what}: {}. But \"{shown}\" is computed at {}.",
                vars.show(ty),
                self.checker.names.sources.place(unknown.span)
            );
            self.found.push(
                Diagnostic::error(span, text)
                    .with_label(format!("needs size \"{shown}\""))
                    .with_place(unknown.span, format!("\"{shown}\" is told only by this value"))
                    .with_hint(format!("bind the expression producing \"{shown}\" with `let` before"))
                    .with_hint(
                        "see https://futhark.readthedocs.io/en/latest/error-index.html#causality-check",
                    ),
            );
            return;
        }
    }

    fn exts(&self, id: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        self.checker.exts.get(&id).cloned().unwrap_or_default().into_iter()
    }

    /// `first`, then `then`, which may need what the first tells.
    fn sequence(&mut self, first: &Exp<'a>, then: &Exp<'a>, known: &Known) -> Known {
        let mut told = self.exp(first, known);
        let both: Known = known.union(&told).copied().collect();
        told.extend(self.exp(then, &both));
        told
    }

    fn all<'e>(&mut self, exps: impl IntoIterator<Item = &'e Exp<'a>>, known: &Known) -> Known
    where
        'a: 'e,
    {
        let mut told = Known::default();
        for exp in exps {
            let so_far: Known = known.union(&told).copied().collect();
            told.extend(self.exp(exp, &so_far));
        }
        told
    }

    fn dims(&mut self, dims: &[DimIndex<'a>], known: &Known) -> Known {
        let mut told = Known::default();
        for dim in dims {
            match dim {
                DimIndex::Fix(index) => told.extend(self.exp(index, known)),
                DimIndex::Slice(from, to, step) => {
                    for part in [from, to, step].into_iter().flatten() {
                        told.extend(self.exp(part, known));
                    }
                }
            }
        }
        told
    }

    /// What evaluating the expression tells. It goes along `let`s and operators in a loop.
    fn exp(&mut self, exp: &Exp<'a>, known: &Known) -> Known {
        match exp.kind {
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => self.lets(exp, known),
            ExpKind::BinOp(..) => self.operators(exp, known),
            _ => self.one(exp, known),
        }
    }

    /// `let`s in each other's bodies, and the value of the innermost one.
    fn lets(&mut self, exp: &Exp<'a>, known: &Known) -> Known {
        let (mut body, mut told, mut both) = (exp, Known::default(), known.clone());
        let mut ids = Vec::new();
        loop {
            let next = match body.kind {
                ExpKind::Let { value, body, .. } => {
                    let new = self.exp(value, &both);
                    both.extend(&new);
                    told.extend(new);
                    body
                }
                ExpKind::LetFun { fun, body } => {
                    self.exp(fun.body, &both);
                    body
                }
                ExpKind::LetWith { old, steps, value, body, .. } => {
                    let mut new = self.exp(old, &both);
                    for step in steps {
                        if let Step::Index(dims) = step {
                            new.extend(self.dims(dims, &both));
                        }
                    }
                    both.extend(&new);
                    let value = self.exp(value, &both);
                    both.extend(&value);
                    told.extend(new);
                    told.extend(value);
                    body
                }
                _ => break,
            };
            ids.push(body.at.id);
            body = next;
        }
        told.extend(self.exp(body, &both));
        ids.into_iter().for_each(|id| told.extend(self.exts(id)));
        told
    }

    /// Operators that group to the left.
    fn operators(&mut self, exp: &Exp<'a>, known: &Known) -> Known {
        let (mut first, mut rest) = (exp, Vec::new());
        while let ExpKind::BinOp(op, left, right) = first.kind {
            rest.push((first.at.id, op, right));
            first = left;
        }
        let mut told = self.exp(first, known);
        let mut both: Known = known.union(&told).copied().collect();
        for (id, op, right) in rest.into_iter().rev() {
            let new = self.exp(right, &both);
            both.extend(&new);
            told.extend(new);
            if !matches!(self.checker.names.uses.get(&op.at.id).map(|u| u.res), Some(Res::Operator(_))) {
                both.extend(self.exts(id));
                self.need(Made::Variable(op.name), op.at.id, op.at.span, &both);
            }
            both.extend(self.exts(id));
            told.extend(self.exts(id));
        }
        told
    }

    fn one(&mut self, exp: &Exp<'a>, known: &Known) -> Known {
        let (id, span) = (exp.at.id, exp.at.span);
        let mut told = match exp.kind {
            ExpKind::Var(name) => {
                self.need(Made::Variable(name), id, span, known);
                Known::default()
            }
            ExpKind::Hole => {
                self.need(Made::Other("hole"), id, span, known);
                Known::default()
            }
            ExpKind::SectionPath(_) => {
                self.need(Made::Other("projection section"), id, span, known);
                Known::default()
            }
            ExpKind::SectionLeft(_, e) | ExpKind::SectionRight(_, e) => {
                let own: Known = known.iter().copied().chain(self.exts(id)).collect();
                self.need(Made::Other("operator section"), id, span, &own);
                self.exp(e, known)
            }
            ExpKind::Array([]) => {
                self.need(Made::Other("empty array"), id, span, known);
                Known::default()
            }
            ExpKind::Lambda(params, _, body) => {
                for pat in params {
                    self.need(Made::Other("a parameter"), pat.at.id, pat.at.span, known);
                }
                self.exp(body, known);
                Known::default()
            }
            ExpKind::Apply(head, args) => {
                let told = self.all(args.iter().rev(), known);
                let both: Known = known.union(&told).copied().chain(self.exts(id)).collect();
                self.exp(head, &both);
                told
            }
            ExpKind::Constr(name, args) => {
                let told = self.all(args, known);
                let both: Known = known.union(&told).copied().collect();
                self.need(Made::Constructor(name), id, span, &both);
                told
            }
            ExpKind::BinOp(..) | ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => {
                self.exp(exp, known)
            }
            ExpKind::Match(subject, cases) => {
                let told = self.exp(subject, known);
                let both: Known = known.union(&told).copied().collect();
                for (_, value) in cases {
                    self.exp(value, &both);
                }
                told
            }
            ExpKind::If(condition, yes, no) => {
                let told = self.exp(condition, known);
                let both: Known = known.union(&told).copied().collect();
                self.exp(yes, &both);
                self.exp(no, &both);
                told
            }
            ExpKind::Loop { init, form, body, .. } => {
                let mut told = init.map_or_else(Known::default, |init| self.exp(init, known));
                let both: Known = known.union(&told).copied().collect();
                match form {
                    LoopForm::For(_, e) | LoopForm::ForIn(_, e) => told.extend(self.exp(e, &both)),
                    LoopForm::While(e) => {
                        self.exp(e, &both);
                    }
                }
                let both: Known = known.union(&told).copied().collect();
                self.exp(body, &both);
                told
            }
            ExpKind::Parens(e)
            | ExpKind::QualParens(_, e)
            | ExpKind::Project(e, _)
            | ExpKind::Attr(_, e)
            | ExpKind::Negate(e)
            | ExpKind::Not(e)
            | ExpKind::Ascript(e, _)
            | ExpKind::Coerce(e, _) => self.exp(e, known),
            ExpKind::Tuple(items) | ExpKind::Array(items) => {
                let mut told = Known::default();
                items.iter().for_each(|e| told.extend(self.exp(e, known)));
                told
            }
            ExpKind::Record(fields) => {
                let mut told = Known::default();
                fields.iter().filter_map(|(_, e)| e.as_ref()).for_each(|e| told.extend(self.exp(e, known)));
                told
            }
            ExpKind::Index(e, dims) => {
                let mut told = self.exp(e, known);
                told.extend(self.dims(dims, known));
                told
            }
            ExpKind::Update(e, steps, value) => {
                let mut told = self.exp(e, known);
                for step in steps {
                    if let Step::Index(dims) = step {
                        told.extend(self.dims(dims, known));
                    }
                }
                told.extend(self.exp(value, known));
                told
            }
            ExpKind::Assert(condition, e) => self.sequence(condition, e, known),
            ExpKind::Range { first, second, last, .. } => {
                self.all([Some(first), second, Some(last)].into_iter().flatten(), known)
            }
            ExpKind::Literal(_)
            | ExpKind::Number(_)
            | ExpKind::String(..)
            | ExpKind::Section(_)
            | ExpKind::Error => Known::default(),
        };
        told.extend(self.exts(id));
        told
    }
}
