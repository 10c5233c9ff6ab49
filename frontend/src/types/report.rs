//! Messages about types that do not fit.

use super::unify::{Clash, set_name};
use super::{Checker, Type};
use galopvm_base::{Diagnostic, Span};

impl Checker<'_, '_, '_> {
    /// Says that a value has another type than the one wanted.
    pub(super) fn mismatch(
        &mut self,
        span: Span,
        wanted: &Type,
        found: &Type,
        clash: &Clash,
        place: Option<(Span, &str)>,
    ) {
        let (want, have) = (self.vars.show(wanted), self.vars.show(found));
        let mut diagnostic = match clash {
            Clash::Size(a, b) => {
                let (a, b) = (self.vars.show_size(a), self.vars.show_size(b));
                Diagnostic::error(span, format!("sizes `{a}` and `{b}` do not match"))
                    .with_label(format!("expected `{want}`, found `{have}`"))
                    .with_hint(format!(
                        "if they are always equal, say so: `e :> {want}` checks it at run time"
                    ))
            }
            Clash::Infinite => Diagnostic::error(span, "this would have a type that contains itself")
                .with_label(format!("`{have}` as `{want}`")),
            Clash::NotOneOf(set, ty) => {
                let (wanted, other) = (set_name(*set), self.vars.show(ty));
                Diagnostic::error(span, format!("expected `{want}`, found `{have}`"))
                    .with_label(format!("`{other}` is not {wanted}"))
            }
            Clash::NoField(name, ty) => {
                let other = self.vars.show(ty);
                Diagnostic::error(span, format!("`{other}` has no field `{name}`"))
            }
            Clash::Shape => Diagnostic::error(span, format!("expected `{want}`, found `{have}`"))
                .with_label(format!("this is `{have}`")),
        };
        if let (Type::Prim(want), Type::Prim(have)) = (self.vars.resolve(wanted), self.vars.resolve(found)) {
            diagnostic = diagnostic.with_hint(format!("convert it: `{want}.{have} e`"));
        }
        if let (Type::Arrow(..), Type::Prim(_) | Type::Array(..))
        | (Type::Prim(_) | Type::Array(..), Type::Arrow(..)) =
            (self.vars.resolve(wanted), self.vars.resolve(found))
        {
            diagnostic = diagnostic.with_hint("is an argument missing, or one too many?");
        }
        if let Some((place, text)) = place {
            diagnostic = diagnostic.with_place(place, text);
        }
        self.report(diagnostic);
    }
}
