//! What is accepted but probably not meant: names nobody uses, declarations without effect, constructs that will go.
//!
//! Everything is found by walks over the user's definitions once the whole program has been checked; nothing here
//! can make a program wrong. A definition of a parametric module is there once per application, and is warned about
//! once.

mod unused;

use crate::names::Res;
use crate::syntax::ast::*;
use crate::syntax::visit::{Visit, walk_type};
use crate::types::{Checker, Type};
use galopvm_base::{Diagnostic, Span};
use std::collections::HashSet;

/// Warnings about all definitions of a program that has been checked, in the order of the source.
pub fn warnings(checker: &Checker) -> Vec<Diagnostic> {
    let used = unused::used_names(checker);
    let mut found = Vec::new();
    for global in checker.names.globals.iter().filter(|g| g.user) {
        unused::unused_names(global.bind, &used, &mut found);
        let mut walk = Walk { checker, found: &mut found };
        walk.bind(global.bind);
    }
    for (span, ty) in &checker.defaulted {
        found.push(
            Diagnostic::warning(*span, format!("Defaulting ambiguous type to {ty}."))
                .with_hint("write the type of the definition"),
        );
    }
    let mut seen = HashSet::new();
    found.retain(|warning| seen.insert((warning.span, warning.message.clone())));
    found.sort_by_key(|warning| (warning.span.file, warning.span.start));
    found
}

struct Walk<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    found: &'c mut Vec<Diagnostic>,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    fn warn(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    fn res(&self, id: NodeId) -> Option<Res> {
        self.checker.names.uses.get(&id).map(|u| u.res)
    }

    fn type_of(&self, exp: &Exp<'a>) -> Option<Type> {
        self.checker.types.get(exp.at.id).map(|ty| self.checker.vars.resolve(ty))
    }

    fn comparison(&mut self, op: &OpName<'a>, left: &Exp<'a>) {
        let compares = matches!(self.res(op.at.id), Some(Res::Operator("==" | "!=")));
        if compares && matches!(self.type_of(left), Some(Type::Array(..))) {
            let text = format!(
                "Comparing arrays with \"{}\" is deprecated and will stop working in a future revision of the language.",
                op.name.text()
            );
            self.warn(
                Diagnostic::warning(op.at.span, text)
                    .with_hint("compare the elements: `and (map2 (==) xs ys)`"),
            );
        }
    }

    fn range(&mut self, first: &Exp<'a>, second: Option<&Exp<'a>>, kind: RangeKind, last: &Exp<'a>) {
        if let Some(second) = second
            && same(first, second)
        {
            let text = "First and second element of range are identical, this will produce an empty array.";
            self.warn(
                Diagnostic::warning(first.at.span.to(second.at.span), text)
                    .with_hint("their difference is the step"),
            );
        }
        let number = |exp: &Exp, value| matches!(exp.kind, ExpKind::Number(Number::Int(n)) if n == value);
        if kind == RangeKind::Upto && number(first, 0) && second.is_none_or(|s| number(s, 1)) {
            self.size_binding(last);
        }
    }

    /// An expression whose value would be a size of a type, if it bound no names.
    fn size_binding(&mut self, exp: &Exp<'a>) {
        let mut binds = Binds(false);
        binds.exp(exp);
        if binds.0 {
            let text = "Size expression with binding is replaced by unknown size.";
            self.warn(
                Diagnostic::warning(exp.at.span, text)
                    .with_hint("bind the size with `let` before, and use its name here"),
            );
        }
    }

    fn application(&mut self, function: &Exp<'a>, args: &[Exp<'a>]) {
        let Some(mut ty) = self.type_of(function) else { return };
        for arg in args {
            let Type::Arrow(name, _, to) = ty else { return };
            if name.is_some_and(|name| self.checker.vars.mentions_name(&to, name)) {
                self.size_binding(arg);
            }
            ty = self.checker.vars.resolve(&to);
        }
    }

    fn attribute(&mut self, attr: &Attr<'a>, exp: &Exp<'a>) {
        let mut inner = exp;
        while let ExpKind::Parens(next) | ExpKind::Attr(_, next) = inner.kind {
            inner = next;
        }
        let counted = |bound: &Exp| matches!(bound.kind, ExpKind::Number(_) | ExpKind::Literal(_));
        let unknown = match inner.kind {
            ExpKind::Loop { form: LoopForm::For(_, bound), .. } => !counted(bound),
            ExpKind::Loop { form: LoopForm::While(_), .. } => true,
            _ => false,
        };
        if attr.name == "unroll" && unknown {
            let text = "#[unroll] on a loop whose number of iterations is not a constant has no effect.";
            self.warn(Diagnostic::warning(attr.at.span, text));
        }
        let asks = attr.args.is_some_and(|args| args.iter().any(|a| a.name == "safety_checks"));
        if attr.name == "warn" && asks {
            let mut checks = Checks { checker: self.checker, found: Vec::new(), entered: HashSet::new() };
            checks.exp(exp);
            for span in checks.found {
                self.warn(
                    Diagnostic::warning(span, "Safety check required here.")
                        .with_place(attr.at.span, "asked for here"),
                );
            }
        }
    }

    /// False if values of the type have no part that could be shared.
    fn may_hold_arrays(&self, ty: &TypeExp<'a>) -> bool {
        match ty.kind {
            TypeExpKind::Var(name) => match self.res(name.parts[0].at.id) {
                Some(Res::Prim(_)) => false,
                Some(Res::Abbr(id)) => {
                    self.checker.bindings.get(&id).is_none_or(|binding| holds_arrays(&binding.ty))
                }
                _ => true,
            },
            TypeExpKind::Tuple(items) => items.iter().any(|t| self.may_hold_arrays(t)),
            TypeExpKind::Record(fields) => fields.iter().any(|(_, t)| self.may_hold_arrays(t)),
            TypeExpKind::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).any(|t| self.may_hold_arrays(t)),
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) => {
                self.may_hold_arrays(inner)
            }
            TypeExpKind::Arrow(..) => false,
            TypeExpKind::Array(..) | TypeExpKind::Apply(..) | TypeExpKind::Error => true,
        }
    }
}

impl<'a> Visit<'a> for Walk<'_, 'a, '_, '_> {
    fn see(&mut self, exp: &Exp<'a>) -> bool {
        match exp.kind {
            ExpKind::BinOp(op, left, _) => self.comparison(&op, left),
            ExpKind::Range { first, second, kind, last } => self.range(first, second, kind, last),
            ExpKind::Apply(function, args) => self.application(function, args),
            ExpKind::Attr(attr, inner) => self.attribute(&attr, inner),
            ExpKind::Index(_, dims) => {
                for dim in dims {
                    if let DimIndex::Slice(from, to, _) = dim {
                        [from, to].into_iter().flatten().for_each(|e| self.size_binding(e));
                    }
                }
            }
            _ => {}
        }
        true
    }

    fn type_exp(&mut self, ty: &TypeExp<'a>) {
        if let TypeExpKind::Unique(inner) = ty.kind
            && !self.may_hold_arrays(inner)
        {
            let shown = crate::syntax::print_type(inner);
            let text = format!("Declaring \"{shown}\" as unique has no effect.");
            self.warn(Diagnostic::warning(ty.at.span, text).with_hint("leave the `*` out"));
        }
        walk_type(self, ty);
    }
}

fn holds_arrays(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Arrow(..) => false,
        Type::Record(fields) => fields.iter().any(|(_, t)| holds_arrays(t)),
        Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).any(holds_arrays),
        Type::Unique(inner) | Type::Exists(_, inner) => holds_arrays(inner),
        _ => true,
    }
}

/// The same literal or name.
fn same(a: &Exp, b: &Exp) -> bool {
    matches!(a.kind, ExpKind::Literal(_) | ExpKind::Number(_) | ExpKind::Var(_)) && a.kind == b.kind
}

/// Does an expression bind names?
struct Binds(bool);

impl<'a> Visit<'a> for Binds {
    fn pat(&mut self, _: &Pat<'a>) {
        self.0 = true;
    }
}

/// Places that the program checks when it runs, also in the functions that an expression names.
struct Checks<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    found: Vec<Span>,
    entered: HashSet<NodeId>,
}

impl<'a> Visit<'a> for Checks<'_, 'a, '_, '_> {
    fn see(&mut self, exp: &Exp<'a>) -> bool {
        match exp.kind {
            ExpKind::Index(..) | ExpKind::Update(..) | ExpKind::LetWith { .. } | ExpKind::Coerce(..) => {
                self.found.push(exp.at.span);
            }
            ExpKind::Var(_) => {
                if let Some(Res::Global(id)) = self.checker.names.uses.get(&exp.at.id).map(|u| u.res) {
                    let global = self.checker.names.globals[id];
                    if global.user && self.entered.insert(global.bind.name.at.id) {
                        self.bind(global.bind);
                    }
                }
            }
            _ => {}
        }
        true
    }
}
