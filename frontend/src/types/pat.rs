//! Patterns against the type of what they match.

use super::convert::Anonymous;
use super::{Checker, Scheme, Type};
use crate::syntax::ast::*;
use galopvm_base::Diagnostic;
use std::rc::Rc;

impl<'a> Checker<'a, '_, '_> {
    /// Binds the names of a pattern that matches values of a type.
    pub(super) fn pat(&mut self, pat: &'a Pat<'a>, ty: &Type, anonymous: Anonymous) {
        match pat.kind {
            PatKind::Id(name) => {
                self.vars.names.insert(pat.at.id, name.to_string());
                self.locals.insert(pat.at.id, Scheme::mono(ty.clone()));
            }
            PatKind::Wildcard => {}
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.pat(inner, ty, anonymous),
            PatKind::Ascript(inner, written) => {
                let wanted = self.type_exp(written, anonymous);
                if let Err(clash) = self.vars.unify(&wanted, ty) {
                    self.mismatch(
                        pat.at.span,
                        &wanted,
                        ty,
                        &clash,
                        Some((written.at.span, "the type written here")),
                    );
                }
                self.pat(inner, &wanted, anonymous);
            }
            PatKind::Tuple(items) => {
                let parts: Vec<Type> = items.iter().map(|p| self.vars.fresh(p.at.span)).collect();
                let tuple = Type::tuple(parts.clone());
                self.take_apart(pat, ty, &tuple);
                for (item, part) in items.iter().zip(&parts) {
                    self.pat(item, part, anonymous);
                }
            }
            PatKind::Record(fields) => {
                let parts: Vec<(Rc<str>, Type)> =
                    fields.iter().map(|(n, p)| (n.text.into(), self.vars.fresh(p.at.span))).collect();
                self.take_apart(pat, ty, &Type::record(parts.clone()));
                for ((_, item), (_, part)) in fields.iter().zip(&parts) {
                    self.pat(item, part, anonymous);
                }
            }
            PatKind::Lit(_) | PatKind::Constr(..) => {
                self.names.unsupported(pat.at.span, "a pattern that can fail");
            }
        }
    }

    fn take_apart(&mut self, pat: &Pat<'a>, ty: &Type, wanted: &Type) {
        if self.vars.unify(ty, wanted).is_err() {
            let (pattern, value) = (self.vars.show(wanted), self.vars.show(ty));
            let text = format!("this pattern takes apart `{pattern}`, the value is `{value}`");
            self.report(Diagnostic::error(pat.at.span, text).with_label(format!("the value is `{value}`")));
        }
    }
}
