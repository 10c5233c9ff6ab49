//! Do the cases of every `match` cover all values, and does no other pattern refuse one?
//!
//! [`cases`] is the pure part: patterns and a type to what is left over. This file walks over one checked definition
//! and reports.
//!
//! Invariant: a definition that passes has no value of a type for which a pattern is missing; core may take the last
//! case without a test.

pub mod cases;

use crate::syntax::ast::*;
use crate::syntax::visit::{Visit, walk_bind};
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
    fn type_of(&self, id: NodeId) -> Type {
        self.checker.types.get(id).cloned().unwrap_or(Type::Error)
    }

    /// A pattern where there is no other case.
    fn irrefutable(&mut self, pat: &Pat<'a>) {
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
}

impl<'a> Visit<'a> for Walk<'_, 'a, '_, '_> {
    fn bind(&mut self, bind: &ValBind<'a>) {
        bind.params.iter().for_each(|p| self.irrefutable(p));
        walk_bind(self, bind);
    }

    fn see(&mut self, exp: &Exp<'a>) -> bool {
        match exp.kind {
            ExpKind::Lambda(params, ..) => params.iter().for_each(|p| self.irrefutable(p)),
            ExpKind::Let { pat, .. } => self.irrefutable(pat),
            ExpKind::Loop { pat, form, .. } => {
                self.irrefutable(pat);
                if let LoopForm::ForIn(element, _) = form {
                    self.irrefutable(element);
                }
            }
            ExpKind::Match(subject, cases) => self.cases(exp, subject, cases),
            _ => {}
        }
        true
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
