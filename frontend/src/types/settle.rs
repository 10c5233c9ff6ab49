//! The end of a definition's check: defaults for what is still open, and rules about types that are known only now.

use super::{Checker, Constraint, Size, Type};
use crate::syntax::ast::Number;
use galopvm_base::{Diagnostic, ElemType, Scalar, scalar::parse_float};

impl Checker<'_, '_, '_> {
    /// Gives defaults to the variables made since `mark` that are still open; those that `keep` mentions and that
    /// may be anything stay.
    pub(super) fn settle(&mut self, mark: (usize, usize), keep: Option<&Type>) {
        let mut kept = Vec::new();
        if let Some(ty) = keep {
            self.vars.free_vars(ty, &mut kept);
        }
        for var in self.vars.since(mark).0 {
            let Some((constraint, span)) = self.vars.free(var) else { continue };
            let constraint: Constraint = constraint.clone();
            if let Some(set) = constraint.set {
                let has = |ty: ElemType| set & (1 << ty.code()) != 0;
                let default = [ElemType::I32, ElemType::F64].into_iter().find(|t| has(*t));
                let default = default.or_else(|| super::vars::set_members(set).next());
                if let Some(ty) = default.filter(|_| kept.contains(&var)) {
                    self.defaulted.push((span, ty));
                }
                self.vars.set(var, default.map_or(Type::Error, Type::Prim));
            } else if let Some((name, _)) = constraint.fields.first() {
                let text =
                    format!("Type is ambiguous: a record with field \"{name}\" (Full type not known).");
                self.vars.set(var, Type::Error);
                self.report(
                    Diagnostic::error(span, text)
                        .with_label("its type is needed here")
                        .with_hint("write its type: `(x: t)`"),
                );
            } else if let Some((name, _)) = constraint.constructors.first() {
                let text = format!("Type is ambiguous: a sum type with constructor #{name}.");
                self.vars.set(var, Type::Error);
                self.report(
                    Diagnostic::error(span, text)
                        .with_label("which other constructors it has is not known")
                        .with_hint("write the type: `#c x : t`"),
                );
            } else if constraint.equality && kept.contains(&var) {
                let text = "Type is ambiguous: a type parameter does not support equality.";
                self.vars.set(var, Type::Error);
                self.report(Diagnostic::error(span, text).with_hint("write the type"));
            } else if !kept.contains(&var) {
                // Nothing depends on it: any type will do.
                self.vars.set(var, Type::tuple(Vec::new()));
            }
        }
    }

    /// Replaces variables in what was recorded, and checks what could not be checked before.
    pub(super) fn finish(&mut self, mark: (usize, usize), diagnostics: usize) {
        // A size that nothing decides makes no difference to anybody.
        for var in self.vars.since(mark).1 {
            let Some((origin, _)) = self.vars.free_size(var) else { continue };
            let origin = origin.clone();
            self.vars.set_size(var, Size::Any);
            if origin.must_be_known && !self.failed_since(diagnostics) {
                let name = origin.name.as_deref().unwrap_or("d");
                let from = match origin.text.as_str() {
                    "" => String::new(),
                    text => format!(" arising from {text}"),
                };
                let text = format!("Ambiguous size \"{name}\"{from}.");
                self.report(
                    Diagnostic::error(origin.span, text)
                        .with_label("nothing says what this size is")
                        .with_hint("write the type: `e : [n]t`"),
                );
            }
        }
        for id in std::mem::take(&mut self.pending.recent) {
            if let Some(ty) = self.types.get_mut(id) {
                *ty = self.vars.zonk(ty);
            }
        }
        for id in std::mem::take(&mut self.pending.recent_uses) {
            if let Some(mut instance) = self.instances.remove(&id) {
                instance.types.iter_mut().for_each(|(_, t)| *t = self.vars.zonk(t));
                instance.sizes.iter_mut().for_each(|(_, s)| *s = self.vars.zonk_size(s));
                self.instances.insert(id, instance);
            }
        }
        self.check_literals();
        for (span, ty) in std::mem::take(&mut self.pending.elements) {
            self.array_element(span, &ty);
        }
        for (span, ty, what, results) in std::mem::take(&mut self.pending.results) {
            if self.may_be_functional(&ty) {
                let shown = self.vars.show(&ty);
                let text =
                    format!("{what} returns type \"{shown}\" but {results} may not be of function type.");
                self.report(Diagnostic::error(span, text));
            }
        }
        for (span, ty) in std::mem::take(&mut self.pending.loop_parameters) {
            if self.may_be_functional(&ty) {
                let shown = self.vars.show(&ty);
                let text = format!(
                    "Loop parameter inferred to have type \"{shown}\" but a loop parameter may not be of function type."
                );
                self.report(Diagnostic::error(span, text));
            }
        }
    }

    fn check_literals(&mut self) {
        for literal in std::mem::take(&mut self.pending.literals) {
            let Type::Prim(ty) = self.vars.resolve(&literal.ty) else { continue };
            let text = || match literal.number {
                Number::Int(value) => value.to_string(),
                Number::Float(text) => text.to_string(),
            };
            let is_finite = |scalar: Option<Scalar>| scalar.is_none_or(|scalar| scalar.as_f64().is_finite());
            let fits = match literal.number {
                Number::Int(value) if ty.is_int() => value <= ty.reach(literal.negated).into(),
                Number::Float(text) if ty.is_float() => is_finite(parse_float(ty, text)),
                Number::Int(value) if ty.is_float() => is_finite(parse_float(ty, &value.to_string())),
                _ => true,
            };
            if !fits {
                let sign = if literal.negated { "-" } else { "" };
                let text = format!("Literal {sign}{} out of bounds for inferred type {ty}.", text());
                let diagnostic =
                    Diagnostic::error(literal.span, text).with_label(format!("does not fit {ty}"));
                self.report(match ty {
                    ElemType::F64 => diagnostic.with_hint("`f64.inf` is what is greater than all others"),
                    _ if ty.is_float() => diagnostic.with_hint("a suffix chooses another type: `1e40f64`"),
                    _ => diagnostic.with_hint("a suffix chooses another type: `1i64`"),
                });
            }
        }
    }
}
