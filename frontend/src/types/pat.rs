//! Patterns against the type of what they match.

use super::convert::Anonymous;
use super::report::Context;
use super::vars::{Constraint, type_set};
use super::{Checker, Scheme, Type};
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType};
use std::rc::Rc;

impl<'a> Checker<'a, '_, '_> {
    /// Binds the names of a pattern that matches values of a type.
    pub(super) fn pat(&mut self, pat: &'a Pat<'a>, ty: &Type, anonymous: Anonymous) {
        let found = self.pat_kind(pat, ty, anonymous);
        self.types.set(pat.at.id, found);
        self.pending.recent.push(pat.at.id);
    }

    fn pat_type(&self, pat: &Pat) -> Type {
        self.types.get(pat.at.id).cloned().unwrap_or(Type::Error)
    }

    /// Checks a pattern; gives its type, which says at least as much as the value's.
    fn pat_kind(&mut self, pat: &'a Pat<'a>, ty: &Type, anonymous: Anonymous) -> Type {
        match pat.kind {
            PatKind::Id(name) => {
                self.vars.written(pat.at, name);
                self.vars.bind_level(pat.at.id);
                self.locals.insert(pat.at.id, Scheme::mono(ty.clone()));
                ty.clone()
            }
            PatKind::Wildcard => ty.clone(),
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => {
                self.pat(inner, ty, anonymous);
                self.pat_type(inner)
            }
            PatKind::Ascript(inner, written) => {
                let marked = self.type_exp(written, anonymous);
                let wanted = self.without_marks(&marked);
                // Sizes that this pattern binds are whatever the value has.
                let open = self.size_binders.clone();
                let loose = self.vars.replace_sizes(&wanted, &|id| {
                    open.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone())
                });
                if let Err(clash) = self.vars.unify(&loose, ty) {
                    self.mismatch(pat.at.span, &wanted, ty, &clash, &Context::Pattern);
                }
                self.pat(inner, &wanted, anonymous);
                wanted
            }
            PatKind::Tuple(items) => {
                let parts = match self.vars.resolve(ty) {
                    Type::Record(fields) if Type::is_tuple(&fields) && fields.len() == items.len() => {
                        fields.iter().map(|(_, t)| t.clone()).collect()
                    }
                    _ => {
                        let parts: Vec<Type> = items.iter().map(|p| self.vars.fresh(p.at.span)).collect();
                        self.take_apart(pat, ty, &Type::tuple(parts.clone()));
                        parts
                    }
                };
                for (item, part) in items.iter().zip(&parts) {
                    self.pat(item, part, anonymous);
                }
                Type::tuple(items.iter().map(|p| self.pat_type(p)).collect())
            }
            PatKind::Record(fields) => {
                for (i, (name, _)) in fields.iter().enumerate() {
                    if let Some((first, _)) = fields[..i].iter().find(|(n, _)| n.text == name.text) {
                        let text = format!("Duplicate fields in record pattern: {}", name.text);
                        self.report(
                            Diagnostic::error(name.at.span, text).with_place(first.at.span, "the first one"),
                        );
                    }
                }
                let parts: Vec<(Rc<str>, Type)> =
                    fields.iter().map(|(n, p)| (n.text.into(), self.vars.fresh(p.at.span))).collect();
                self.take_apart(pat, ty, &Type::record(parts.clone()));
                for ((_, item), (_, part)) in fields.iter().zip(&parts) {
                    let part = self.vars.resolve(part);
                    self.pat(item, &part, anonymous);
                }
                Type::record(fields.iter().map(|(n, p)| (n.text.into(), self.pat_type(p))).collect())
            }
            PatKind::Lit(literal) => {
                let found = self.infer_literal(literal);
                if let Err(clash) = self.vars.unify(ty, &found) {
                    self.mismatch(pat.at.span, ty, &found, &clash, &Context::Pattern);
                }
                ty.clone()
            }
            PatKind::Constr(name, args) => {
                let payload: Rc<[Type]> = match self.vars.resolve(ty) {
                    Type::Sum(cs) if cs.iter().any(|(n, ts)| **n == *name && ts.len() == args.len()) => cs
                        .iter()
                        .find(|(n, _)| **n == *name)
                        .map_or_else(|| Rc::from([]), |(_, ts)| ts.clone()),
                    _ => {
                        let payload: Rc<[Type]> = args.iter().map(|p| self.vars.fresh(p.at.span)).collect();
                        let constraint = Constraint {
                            constructors: vec![(name.into(), payload.clone())],
                            ..Constraint::default()
                        };
                        let wanted = self.vars.constrained(constraint, pat.at.span);
                        if let Err(clash) = self.vars.unify(&wanted, ty) {
                            self.mismatch(pat.at.span, &wanted, ty, &clash, &Context::Pattern);
                        }
                        payload
                    }
                };
                for (item, part) in args.iter().zip(payload.iter()) {
                    self.pat(item, part, anonymous);
                }
                ty.clone()
            }
        }
    }

    fn infer_literal(&mut self, literal: &'a Exp<'a>) -> Type {
        let ty = self.infer(literal);
        let scalars = self.vars.one_of(type_set(|_: ElemType| true), literal.at.span);
        // Only scalars are written as literals.
        let _ = self.vars.unify_shape(&scalars, &ty);
        ty
    }

    fn take_apart(&mut self, pat: &Pat<'a>, ty: &Type, wanted: &Type) {
        if let Err(clash) = self.vars.unify(wanted, ty) {
            self.mismatch(pat.at.span, wanted, ty, &clash, &Context::Pattern);
        }
    }

    /// The type of a parameter with the marks of uniqueness it was written with.
    pub(super) fn marked(&self, pat: &Pat, ty: Type) -> Type {
        match pat.kind {
            PatKind::Ascript(_, written) => self.types.get(written.at.id).cloned().unwrap_or(ty),
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.marked(inner, ty),
            PatKind::Tuple(items) => match self.vars.resolve(&ty) {
                Type::Record(fields) if fields.len() == items.len() => Type::Record(
                    fields
                        .iter()
                        .zip(items)
                        .map(|((n, t), p)| (n.clone(), self.marked(p, t.clone())))
                        .collect(),
                ),
                _ => ty,
            },
            _ => ty,
        }
    }
}
