//! Do the cases of every `match` cover all values, and does no other pattern refuse one?
//!
//! [`cases`] is the pure part: patterns and a type to what is left over. This file walks over one checked definition
//! and reports.
//!
//! Invariant: a definition that passes has no value of a type for which a pattern is missing; core may take the last
//! case without a test.

pub mod cases;

use crate::syntax::ast::*;
use crate::types::{Checker, Type};
use cases::{MOST_WITNESSES, Shape, Witness, unmatched};
use galopvm_base::{Diagnostic, Scalar, Span};

/// Witnesses that a message names.
const SHOWN: usize = 4;

/// Checks the patterns of one definition whose types are known.
pub fn check_bind<'a>(checker: &mut Checker<'a, '_, '_>, bind: &ValBind<'a>) {
    let mut walk = Walk { checker, found: Vec::new() };
    walk.bind(bind);
    let found = walk.found;
    checker.names.diagnostics.extend(found);
}

/// Checks the patterns of one expression whose types are known.
pub fn check_exp<'a>(checker: &mut Checker<'a, '_, '_>, exp: &Exp<'a>) {
    let mut walk = Walk { checker, found: Vec::new() };
    walk.exp(exp);
    let found = walk.found;
    checker.names.diagnostics.extend(found);
}

struct Walk<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    found: Vec<Diagnostic>,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    fn bind(&mut self, bind: &ValBind<'a>) {
        bind.params.iter().for_each(|p| self.irrefutable(p));
        bind.result.iter().for_each(|t| self.type_exp(t));
        self.exp(bind.body);
    }

    fn type_of(&self, id: NodeId) -> Type {
        self.checker.types.get(&id).cloned().unwrap_or(Type::Error)
    }

    /// A pattern where there is no other case.
    fn irrefutable(&mut self, pat: &Pat<'a>) {
        self.pat(pat);
        let shape = shape(pat);
        if shape.irrefutable() {
            return;
        }
        let ty = self.type_of(pat.at.id);
        let span = pat.at.span;
        match unmatched(&[shape], &ty).as_deref() {
            Ok([]) => {}
            Ok(left) => self.found.push(
                Diagnostic::error(span, "Refutable pattern not allowed here")
                    .with_label(format!("Unmatched cases: {}", list(left)))
                    .with_hint("`match` tells cases apart: `match x case ... -> ... case _ -> ...`"),
            ),
            Err(_) => self.found.push(intricate(span)),
        }
    }

    fn cases(&mut self, whole: &Exp<'a>, subject: &Exp<'a>, cases: &[(Pat<'a>, Exp<'a>)]) {
        let shapes: Vec<Shape> = cases.iter().map(|(pat, _)| shape(pat)).collect();
        let ty = self.type_of(subject.at.id);
        let span = Span { end: subject.at.span.end, ..whole.at.span };
        match unmatched(&shapes, &ty).as_deref() {
            Ok([]) => {}
            Ok(left) => {
                let example = match left {
                    [one] if *one != Witness::Any => format!("`case {one} -> ...`"),
                    [Witness::Any] => "`case _ -> ...`".to_string(),
                    _ => "what is missing, or `case _ -> ...` for all of it".to_string(),
                };
                self.found.push(
                    Diagnostic::error(span, "Unmatched cases in match expression")
                        .with_label(format!("not matched: {}", list(left)))
                        .with_hint(format!("add {example}")),
                );
            }
            Err(_) => self.found.push(intricate(span)),
        }
    }

    /// Sizes inside the types of a pattern.
    fn pat(&mut self, pat: &Pat<'a>) {
        match pat.kind {
            PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) => {}
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.pat(inner),
            PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| self.pat(p)),
            PatKind::Record(fields) => fields.iter().for_each(|(_, p)| self.pat(p)),
            PatKind::Ascript(inner, ty) => {
                self.pat(inner);
                self.type_exp(ty);
            }
        }
    }

    fn type_exp(&mut self, ty: &TypeExp<'a>) {
        match ty.kind {
            TypeExpKind::Var(_) | TypeExpKind::Error => {}
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) => {
                self.type_exp(inner);
            }
            TypeExpKind::Tuple(items) => items.iter().for_each(|t| self.type_exp(t)),
            TypeExpKind::Record(fields) => fields.iter().for_each(|(_, t)| self.type_exp(t)),
            TypeExpKind::Array(size, inner) => {
                size.size.iter().for_each(|e| self.exp(e));
                self.type_exp(inner);
            }
            TypeExpKind::Apply(head, arg) => {
                self.type_exp(head);
                match arg {
                    TypeArg::Size(size) => size.size.iter().for_each(|e| self.exp(e)),
                    TypeArg::Type(ty) => self.type_exp(ty),
                }
            }
            TypeExpKind::Arrow(_, from, to) => {
                self.type_exp(from);
                self.type_exp(to);
            }
            TypeExpKind::Sum(clauses) => {
                clauses.iter().flat_map(|(_, payload)| payload.iter()).for_each(|t| self.type_exp(t));
            }
        }
    }

    fn exps(&mut self, exps: &[&Exp<'a>]) {
        exps.iter().for_each(|e| self.exp(e));
    }

    fn dims(&mut self, dims: &[DimIndex<'a>]) {
        for dim in dims {
            match dim {
                DimIndex::Fix(index) => self.exp(index),
                DimIndex::Slice(from, to, step) => {
                    [from, to, step].into_iter().flatten().for_each(|e| self.exp(e));
                }
            }
        }
    }

    fn steps(&mut self, steps: &[Step<'a>]) {
        for step in steps {
            match step {
                Step::Index(dims) => self.dims(dims),
                Step::Field(_) => {}
            }
        }
    }

    fn exp(&mut self, exp: &Exp<'a>) {
        match exp.kind {
            ExpKind::Literal(_)
            | ExpKind::Number(_)
            | ExpKind::String(..)
            | ExpKind::Var(_)
            | ExpKind::Hole
            | ExpKind::Section(_)
            | ExpKind::Error => {}
            ExpKind::Parens(inner)
            | ExpKind::QualParens(_, inner)
            | ExpKind::Project(inner, _)
            | ExpKind::Negate(inner)
            | ExpKind::Not(inner)
            | ExpKind::SectionLeft(_, inner)
            | ExpKind::SectionRight(_, inner)
            | ExpKind::Attr(_, inner) => self.exp(inner),
            ExpKind::Tuple(items) | ExpKind::Array(items) | ExpKind::Constr(_, items) => {
                items.iter().for_each(|e| self.exp(e));
            }
            ExpKind::Record(fields) => {
                fields.iter().filter_map(|(_, value)| value.as_ref()).for_each(|e| self.exp(e));
            }
            ExpKind::Index(array, dims) => {
                self.exp(array);
                self.dims(dims);
            }
            ExpKind::Apply(function, args) => {
                self.exp(function);
                args.iter().for_each(|e| self.exp(e));
            }
            ExpKind::BinOp(_, left, right) | ExpKind::Assert(left, right) => self.exps(&[left, right]),
            ExpKind::Lambda(params, result, body) => {
                params.iter().for_each(|p| self.irrefutable(p));
                result.iter().for_each(|t| self.type_exp(t));
                self.exp(body);
            }
            ExpKind::SectionPath(steps) => self.steps(steps),
            ExpKind::If(condition, yes, no) => self.exps(&[condition, yes, no]),
            ExpKind::Let { pat, value, body, .. } => {
                self.irrefutable(pat);
                self.exps(&[value, body]);
            }
            ExpKind::LetFun { fun, body } => {
                self.bind(fun);
                self.exp(body);
            }
            ExpKind::LetWith { steps, value, body, .. } => {
                self.steps(steps);
                self.exps(&[value, body]);
            }
            ExpKind::Loop { pat, init, form, body } => {
                self.irrefutable(pat);
                init.iter().for_each(|e| self.exp(e));
                match form {
                    LoopForm::For(_, bound) => self.exp(bound),
                    LoopForm::ForIn(element, array) => {
                        self.irrefutable(element);
                        self.exp(array);
                    }
                    LoopForm::While(condition) => self.exp(condition),
                }
                self.exp(body);
            }
            ExpKind::Match(subject, cases) => {
                self.exp(subject);
                self.cases(exp, subject, cases);
                for (pat, body) in cases {
                    self.pat(pat);
                    self.exp(body);
                }
            }
            ExpKind::Range { first, second, last, .. } => {
                self.exp(first);
                second.iter().for_each(|e| self.exp(e));
                self.exp(last);
            }
            ExpKind::Update(value, steps, new) => {
                self.exps(&[value, new]);
                self.steps(steps);
            }
            ExpKind::Ascript(inner, ty) | ExpKind::Coerce(inner, ty) => {
                self.exp(inner);
                self.type_exp(ty);
            }
        }
    }
}

/// What decides about a match with the pattern.
fn shape<'a>(pat: &Pat<'a>) -> Shape<'a> {
    match pat.kind {
        PatKind::Id(_) | PatKind::Wildcard => Shape::Any,
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => shape(inner),
        PatKind::Tuple(items) => {
            Shape::Fields(items.iter().enumerate().map(|(i, p)| (i.to_string().into(), shape(p))).collect())
        }
        PatKind::Record(fields) => {
            Shape::Fields(fields.iter().map(|(n, p)| (n.text.into(), shape(p))).collect())
        }
        PatKind::Lit(literal) => match literal.kind {
            ExpKind::Literal(scalar) if scalar == Scalar::bool(true) => Shape::Bool(true),
            ExpKind::Literal(scalar) if scalar == Scalar::bool(false) => Shape::Bool(false),
            _ => Shape::Literal,
        },
        PatKind::Constr(name, args) => Shape::Constr(name, args.iter().map(shape).collect()),
    }
}

fn list(left: &[Witness]) -> String {
    let shown: Vec<String> = left.iter().take(SHOWN).map(|w| format!("`{w}`")).collect();
    let more = match left.len() {
        n if n >= MOST_WITNESSES => " and more".to_string(),
        n if n > SHOWN => format!(" and {} more", n - SHOWN),
        _ => String::new(),
    };
    shown.join(", ") + &more
}

fn intricate(span: Span) -> Diagnostic {
    Diagnostic::error(span, "these patterns are too many and too mixed to see whether they match every value")
        .with_hint("end with `case _ -> ...`")
}
