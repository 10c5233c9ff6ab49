//! A definition that was to use an outer one of the same name, and uses itself.
//!
//! A definition with parameters is in its own scope. Where its name means something outside, too, the messages about a
//! definition that misuses itself are one mistake: this page says it once.

use super::{Checker, Type};
use crate::names::{GlobalId, Res};
use crate::syntax::ast::*;
use crate::syntax::visit::{Visit, walk_exp};
use galopvm_base::{Diagnostic, Span};
use std::rc::Rc;

/// A use of the definition in its own body.
#[derive(Clone, Copy)]
struct OwnUse {
    /// The name.
    name: Span,
    /// The name with its arguments.
    whole: Span,
}

struct Walk<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    own: GlobalId,
    found: Vec<OwnUse>,
}

impl<'a> Checker<'a, '_, '_> {
    /// Makes one message of those since `before` if the definition uses itself where they are, and its name means
    /// something else outside. True if so.
    pub(super) fn means_itself(&mut self, id: GlobalId, bind: &ValBind<'a>, before: usize) -> bool {
        let mut walk = Walk { checker: self, own: id, found: Vec::new() };
        walk.exp(bind.body);
        let uses = walk.found;
        if uses.is_empty() || !self.names.is_known(bind.name.text) {
            return false;
        }
        let mut own = None;
        for error in self.names.diagnostics[before..].iter().filter(|d| d.is_error()) {
            let place = uses.iter().find(|used| meet(used.whole, error.span));
            if let Some(used) = place.or(uses.first().filter(|_| error.span == bind.name.at.span)) {
                own = Some((*used, error.message.clone()));
                break;
            }
        }
        let Some((used, message)) = own else { return false };
        let name = bind.name.text;
        let operator = !name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let outer = match operator {
            true => format!(
                "write the operator of a type, such as `i64.{name}`, or give the outer one a name before this definition: `def outer = ({name})`"
            ),
            false => {
                format!("to mean the outer one, give it a name before this definition: `def outer = {name}`")
            }
        };
        let text = format!(
            "\"{name}\" is this definition itself: definitions with parameters are in their own scope."
        );
        let found = self.names.diagnostics.split_off(before);
        self.names.diagnostics.extend(found.into_iter().filter(|d| !d.is_error()));
        self.report(
            Diagnostic::error(used.name, text)
                .with_label(message)
                .with_place(bind.name.at.span, "this definition")
                .with_hint(outer),
        );
        true
    }

    /// The type of a function of which only the parameters are known.
    pub(super) fn without_result(&self, ty: &Type, params: usize) -> Type {
        match self.vars.resolve(ty) {
            Type::Arrow(name, from, to) if params > 0 => {
                Type::Arrow(name, from, Rc::new(self.without_result(&to, params - 1)))
            }
            _ => Type::Error,
        }
    }
}

impl Walk<'_, '_, '_, '_> {
    fn see(&mut self, id: NodeId, name: Span, whole: Span) {
        let used = self.checker.names.uses.get(&id);
        if matches!(used, Some(used) if matches!(used.res, Res::Global(global) if global == self.own)) {
            self.found.push(OwnUse { name, whole });
        }
    }
}

impl<'a> Visit<'a> for Walk<'_, 'a, '_, '_> {
    fn exp(&mut self, exp: &Exp<'a>) {
        let span = exp.at.span;
        match exp.kind {
            ExpKind::Apply(head, _) if matches!(head.kind, ExpKind::Var(_)) => {
                self.see(head.at.id, head.at.span, span);
            }
            ExpKind::Var(_) => self.see(exp.at.id, span, span),
            ExpKind::BinOp(op, ..)
            | ExpKind::Section(op)
            | ExpKind::SectionLeft(op, _)
            | ExpKind::SectionRight(op, _) => self.see(op.at.id, op.at.span, span),
            _ => {}
        }
        walk_exp(self, exp);
    }
}

/// True if two places of a file overlap.
fn meet(a: Span, b: Span) -> bool {
    a.file == b.file && a.start < b.end && b.start < a.end
}
