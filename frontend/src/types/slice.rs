//! Types of indexing, slicing and ranges: what their extents are.

use super::report::Context;
use super::vars::{SizeOrigin, type_set};
use super::{Checker, Size, Type};
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType, Span};

impl<'a> Checker<'a, '_, '_> {
    /// The type of `ty[dims]` in the expression `id`; without one, of a part to be updated: what replaces it decides
    /// its extents.
    pub(super) fn index(
        &mut self,
        id: Option<NodeId>,
        span: Span,
        ty: &Type,
        dims: &'a [DimIndex<'a>],
    ) -> Type {
        let mut kept = Vec::new();
        let mut rest = ty.clone();
        for dim in dims {
            let (size, elem) = match self.vars.resolve(&rest) {
                Type::Array(size, elem) => (size, (*elem).clone()),
                Type::Error => (Size::Any, Type::Error),
                Type::Var(_) => {
                    let origin =
                        SizeOrigin { span, text: "indexing".into(), name: None, must_be_known: false };
                    let (size, elem) = (self.vars.size_from(origin, true), self.vars.fresh(span));
                    let array = Type::array(size.clone(), elem.clone());
                    if let Err(clash) = self.vars.unify(&array, &rest) {
                        self.mismatch(span, &array, &rest, &clash, &Context::Being("an array"));
                    }
                    (size, elem)
                }
                _ => {
                    let shown = self.vars.show(ty);
                    let text = format!("Cannot index {} times into array of type {shown}.", dims.len());
                    self.report(
                        Diagnostic::error(span, text).with_label("not an array of that many dimensions"),
                    );
                    (Size::Any, Type::Error)
                }
            };
            match dim {
                DimIndex::Fix(index) => {
                    let found = self.infer(index);
                    self.require(index.at.span, &found, type_set(ElemType::is_int), "[..]");
                }
                DimIndex::Slice(from, to, step) => {
                    for part in [from, to, step].into_iter().flatten() {
                        self.check(part, &Type::SIZE, &Context::With("the bound of a slice, i64", span));
                    }
                    kept.push(match id {
                        Some(id) => self.slice_size(id, span, &size, *from, *to, *step),
                        None => self.vars.fresh_size(span, "size of slice"),
                    });
                }
            }
            rest = elem;
        }
        kept.into_iter().rev().fold(rest, |elem, size| Type::array(size, elem))
    }

    /// The extent of `l:h:s` of a dimension, as far as it can be said without computing.
    fn slice_size(
        &mut self,
        id: NodeId,
        span: Span,
        size: &Size,
        from: Option<&'a Exp<'a>>,
        to: Option<&'a Exp<'a>>,
        step: Option<&'a Exp<'a>>,
    ) -> Size {
        let number = |c: &Self, e: Option<&'a Exp<'a>>, default: i64| match e {
            None => Some(default),
            Some(e) => c.exp_size(e).and_then(|s| match s {
                Size::Exp(exp) if matches!(exp.head, super::SizeHead::Negate) => {
                    exp.args[0].value().map(|n| -n)
                }
                other => other.value(),
            }),
        };
        let by = number(self, step, 1);
        let known = match (from, to, by) {
            (_, None, Some(1)) if number(self, from, 0) == Some(0) => Some(size.clone()),
            (_, Some(to), Some(1)) if number(self, from, 0) == Some(0) => self.exp_size(to),
            (Some(from), to, Some(1)) => {
                let to = to.map_or(Some(size.clone()), |to| self.exp_size(to));
                to.zip(self.exp_size(from)).map(|(to, from)| Size::op("-", to, from))
            }
            (None, None, Some(-1)) => Some(size.clone()),
            (Some(from), Some(to), Some(-1)) => {
                let parts = self.exp_size(from).zip(self.exp_size(to));
                parts.map(|(from, to)| Size::op("-", from, to))
            }
            _ => None,
        };
        known.unwrap_or_else(|| {
            let shown = self.snippet(span);
            let unknown =
                self.vars.unknown(span, "slice_dim", format!("the unknown size of a slice of \"{shown}\""));
            self.creates(id, vec![unknown]);
            Size::Name(unknown)
        })
    }

    pub(super) fn range(
        &mut self,
        exp: &'a Exp<'a>,
        first: &'a Exp<'a>,
        second: Option<&'a Exp<'a>>,
        kind: RangeKind,
        last: &'a Exp<'a>,
    ) -> Type {
        let ty = self.infer(first);
        for part in [second, Some(last)].into_iter().flatten() {
            self.check(part, &ty, &Context::With("the start of the range", first.at.span));
        }
        self.require(first.at.span, &ty, type_set(ElemType::is_int), "..");
        let size = self.range_size(&ty, first, second, kind, last).unwrap_or_else(|| {
            let unknown = self.vars.unknown(exp.at.span, "range_dim", "the unknown length of range");
            self.creates(exp.at.id, vec![unknown]);
            Size::Name(unknown)
        });
        Type::array(size, ty)
    }

    fn range_size(
        &mut self,
        ty: &Type,
        first: &'a Exp<'a>,
        second: Option<&'a Exp<'a>>,
        kind: RangeKind,
        last: &'a Exp<'a>,
    ) -> Option<Size> {
        // A number whose type is still open may become i64, but must not count on it.
        if !matches!(self.vars.resolve(ty), Type::Prim(ElemType::I64)) {
            return None;
        }
        let (from, to) = (self.exp_size(first)?, self.exp_size(last)?);
        let next = match second {
            Some(second) => Some(self.exp_size(second)?.value()),
            None => None,
        };
        match (from.value(), next, kind) {
            (Some(0), None | Some(Some(1)), RangeKind::Upto) => Some(to),
            (_, None, RangeKind::Upto) => Some(Size::op("-", to, from)),
            (_, None, RangeKind::Inclusive) => Some(Size::op("+", Size::op("-", to, from), Size::Const(1))),
            (Some(1), Some(Some(2)), RangeKind::Inclusive) => Some(to),
            _ => None,
        }
    }
}
