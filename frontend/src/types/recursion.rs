//! What a function may not do when it calls itself: its result is data, and functions it takes are passed on as they
//! are.

use super::{Checker, Type, pat_name};
use crate::names::{GlobalId, Res};
use crate::syntax::ast::*;
use crate::syntax::visit::Visit;
use galopvm_base::{Diagnostic, Span};

struct Walk<'c, 'a, 'n, 's> {
    checker: &'c Checker<'a, 'n, 's>,
    own: GlobalId,
    bind: &'c ValBind<'a>,
    /// Which parameters are functions.
    functional: Vec<bool>,
    calls: usize,
    found: Vec<Diagnostic>,
}

impl<'a> Checker<'a, '_, '_> {
    /// Checks one definition whose types are known.
    pub(super) fn recursion(&mut self, id: GlobalId, bind: &ValBind<'a>, ty: &Type) {
        let mut functional = Vec::new();
        let mut rest = self.vars.resolve(ty);
        for _ in bind.params {
            let Type::Arrow(_, from, to) = rest else { break };
            functional.push(self.may_be_functional(&from));
            rest = self.vars.resolve(&to);
        }
        if let Type::Exists(_, inner) = rest {
            rest = self.vars.resolve(&inner);
        }
        let mut walk = Walk { checker: self, own: id, bind, functional, calls: 0, found: Vec::new() };
        walk.exp(bind.body);
        let (calls, found) = (walk.calls, walk.found);
        if calls > 0 && self.may_be_functional(&rest) {
            let text = format!(
                "Recursive function \"{}\" returns type {} which is not first-order.",
                bind.name.text,
                self.vars.show(&rest)
            );
            let hint = match rest {
                Type::Param(_) => "write its result type: nothing in the body says what it gives",
                _ => "write the function type as further parameters instead",
            };
            self.report(Diagnostic::error(bind.name.at.span, text).with_hint(hint));
        }
        self.names.diagnostics.extend(found);
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    fn is_own(&self, id: NodeId) -> bool {
        matches!(self.checker.names.uses.get(&id), Some(u) if matches!(u.res, Res::Global(g) if g == self.own))
    }

    fn reference(&mut self, span: Span) {
        self.calls += 1;
        if self.functional.contains(&true) {
            let text = format!(
                "Recursive reference to \"{}\" must be a fully saturated application, as it has a higher-order parameter.",
                self.bind.name.text
            );
            self.found.push(Diagnostic::error(span, text));
        }
    }

    fn call(&mut self, span: Span, args: &[Exp<'a>]) {
        self.calls += 1;
        if !self.functional.contains(&true) {
            return;
        }
        let (name, wanted) = (self.bind.name.text, self.bind.params.len());
        if args.len() != wanted {
            let text = format!(
                "Recursive application of \"{name}\" is not fully saturated: expected {wanted} arguments but got {}.",
                args.len()
            );
            self.found.push(Diagnostic::error(span, text));
        }
        for ((arg, param), functional) in args.iter().zip(self.bind.params).zip(&self.functional) {
            let mut inner = arg;
            while let ExpKind::Parens(e) = inner.kind {
                inner = e;
            }
            let same = matches!(inner.kind, ExpKind::Var(_))
                && matches!(self.checker.names.uses.get(&inner.at.id),
                    Some(u) if matches!(u.res, Res::Local(id) if Some(id) == pat_name(param)));
            if *functional && !same {
                let text = format!(
                    "Higher-order argument in recursive application of \"{name}\" must be passed unchanged, i.e. be the corresponding parameter."
                );
                self.found.push(Diagnostic::error(arg.at.span, text));
            }
        }
    }
}

impl<'a> Visit<'a> for Walk<'_, 'a, '_, '_> {
    fn see(&mut self, exp: &Exp<'a>) -> bool {
        match exp.kind {
            // The function's name in front of its arguments is no reference by itself.
            ExpKind::Apply(head, args) if matches!(head.kind, ExpKind::Var(_)) && self.is_own(head.at.id) => {
                self.call(exp.at.span, args);
                args.iter().for_each(|e| self.exp(e));
                return false;
            }
            ExpKind::Var(_) if self.is_own(exp.at.id) => self.reference(exp.at.span),
            ExpKind::BinOp(op, left, right) if self.is_own(op.at.id) => {
                self.call(exp.at.span, &[*left, *right]);
            }
            ExpKind::Section(op) | ExpKind::SectionLeft(op, _) | ExpKind::SectionRight(op, _)
                if self.is_own(op.at.id) =>
            {
                self.reference(exp.at.span);
            }
            _ => {}
        }
        true
    }
}
