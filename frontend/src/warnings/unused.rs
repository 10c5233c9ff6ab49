//! Names that are bound and never used.

use crate::names::Res;
use crate::syntax::ast::*;
use crate::syntax::visit::{Visit, walk_pat, walk_type};
use crate::types::Checker;
use galopvm_base::Diagnostic;
use std::collections::HashSet;

/// The bindings that some occurrence means.
pub(super) fn used_names(checker: &Checker) -> HashSet<NodeId> {
    let local = |res| match res {
        Res::Local(id) | Res::TypeParam(id) => Some(id),
        _ => None,
    };
    checker.names.uses.values().filter_map(|u| local(u.res)).collect()
}

/// Warns of the names inside a definition that nothing uses. A name that begins with `_` says that this is meant.
pub(super) fn unused_names(bind: &ValBind, used: &HashSet<NodeId>, found: &mut Vec<Diagnostic>) {
    let mut walk = Unused { used, found };
    walk.bind(bind);
}

struct Unused<'c> {
    used: &'c HashSet<NodeId>,
    found: &'c mut Vec<Diagnostic>,
}

impl Unused<'_> {
    fn name(&mut self, text: &str, at: At) {
        if !self.used.contains(&at.id) && !text.starts_with('_') {
            self.found.push(
                Diagnostic::warning(at.span, format!("Unused name \"{text}\"."))
                    .with_hint(format!("`_{text}` says that this is meant")),
            );
        }
    }
}

impl<'a> Visit<'a> for Unused<'_> {
    fn see(&mut self, exp: &Exp<'a>) -> bool {
        match exp.kind {
            ExpKind::Let { sizes, .. } => sizes.iter().for_each(|s| self.name(s.text, s.at)),
            ExpKind::LetFun { fun, .. } => self.name(fun.name.text, fun.name.at),
            ExpKind::LetWith { name, .. } => self.name(name.text, name.at),
            ExpKind::Loop { form: LoopForm::For(name, _), .. } => self.name(name.text, name.at),
            _ => {}
        }
        true
    }

    fn pat(&mut self, pat: &Pat<'a>) {
        if let PatKind::Id(name) = pat.kind {
            self.name(name, pat.at);
        }
        walk_pat(self, pat);
    }

    fn type_exp(&mut self, ty: &TypeExp<'a>) {
        match ty.kind {
            TypeExpKind::Arrow(Some(name), ..) => self.name(name.text, name.at),
            TypeExpKind::Exists(sizes, _) => sizes.iter().for_each(|s| self.name(s.text, s.at)),
            _ => {}
        }
        walk_type(self, ty);
    }
}
