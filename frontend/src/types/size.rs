//! Expressions as sizes.

use super::{Checker, Size, SizeHead, Type};
use crate::names::Res;
use crate::syntax::ast::*;
use std::rc::Rc;

impl<'a> Checker<'a, '_, '_> {
    /// The size that an expression stands for; none if it binds names of its own, so that it cannot be repeated in
    /// a type.
    pub(super) fn exp_size(&self, exp: &Exp<'a>) -> Option<Size> {
        let all = |exps: &[Exp<'a>]| exps.iter().map(|e| self.exp_size(e)).collect::<Option<Vec<Size>>>();
        match exp.kind {
            ExpKind::Parens(inner) | ExpKind::Ascript(inner, _) | ExpKind::Coerce(inner, _) => {
                self.exp_size(inner)
            }
            ExpKind::Attr(_, inner) | ExpKind::Assert(_, inner) => self.exp_size(inner),
            ExpKind::Number(Number::Int(value)) => {
                let elem = self.types.get(exp.at.id).map(|t| self.vars.resolve(t));
                match elem {
                    Some(Type::Prim(elem)) if elem != galopvm_base::ElemType::I64 => {
                        let scalar = galopvm_base::Scalar::from_int(elem, i64::try_from(value).ok()?);
                        Some(Size::exp(SizeHead::Literal(scalar), Vec::new()))
                    }
                    _ => i64::try_from(value).ok().map(Size::Const),
                }
            }
            ExpKind::Number(Number::Float(text)) => {
                let elem = match self.types.get(exp.at.id).map(|t| self.vars.resolve(t)) {
                    Some(Type::Prim(elem)) => elem,
                    _ => galopvm_base::ElemType::F64,
                };
                let scalar = galopvm_base::scalar::parse_float(elem, text)?;
                Some(Size::exp(SizeHead::Literal(scalar), Vec::new()))
            }
            ExpKind::Literal(scalar) if scalar.ty == galopvm_base::ElemType::I64 => {
                Some(Size::Const(scalar.as_i64()))
            }
            ExpKind::Literal(scalar) => Some(Size::exp(SizeHead::Literal(scalar), Vec::new())),
            ExpKind::Var(name) => self.name_size(exp.at.id, &name),
            ExpKind::Tuple(items) => Some(Size::exp(SizeHead::Tuple, all(items)?)),
            ExpKind::Array(items) => Some(Size::exp(SizeHead::Array, all(items)?)),
            ExpKind::Record(fields) => {
                let (mut names, mut args) = (Vec::new(), Vec::new());
                for (name, value) in fields {
                    names.push(Rc::from(name.text));
                    args.push(match value {
                        Some(value) => self.exp_size(value)?,
                        None => {
                            self.name_size(name.at.id, &QualName { parts: std::slice::from_ref(name) })?
                        }
                    });
                }
                Some(Size::exp(SizeHead::Record(names.into()), args))
            }
            ExpKind::Project(inner, field) => {
                Some(Size::exp(SizeHead::Field(field.text.into()), vec![self.exp_size(inner)?]))
            }
            ExpKind::Index(inner, dims) => {
                let mut args = vec![self.exp_size(inner)?];
                for dim in dims {
                    match dim {
                        DimIndex::Fix(index) => args.push(self.exp_size(index)?),
                        DimIndex::Slice(..) => return None,
                    }
                }
                Some(Size::exp(SizeHead::Index, args))
            }
            ExpKind::Apply(head, given) => {
                let mut args = vec![self.exp_size(head)?];
                args.extend(all(given)?);
                Some(Size::exp(SizeHead::Apply, args))
            }
            ExpKind::BinOp(op, left, right) if !is_long(exp) => {
                let (a, b) = (self.exp_size(left)?, self.exp_size(right)?);
                match self.names.uses.get(&op.at.id).map(|u| u.res) {
                    Some(Res::Operator(op)) => Some(Size::op(op, a, b)),
                    _ => Some(Size::exp(SizeHead::Apply, vec![self.name_size(op.at.id, &op.name)?, a, b])),
                }
            }
            ExpKind::Section(op) => self.name_size(op.at.id, &op.name),
            ExpKind::SectionLeft(op, left) => Some(Size::exp(
                SizeHead::Apply,
                vec![self.name_size(op.at.id, &op.name)?, self.exp_size(left)?],
            )),
            ExpKind::Negate(inner) => Some(Size::exp(SizeHead::Negate, vec![self.exp_size(inner)?])),
            ExpKind::Not(inner) => Some(Size::exp(SizeHead::Not, vec![self.exp_size(inner)?])),
            ExpKind::If(condition, yes, no) => {
                let parts = vec![self.exp_size(condition)?, self.exp_size(yes)?, self.exp_size(no)?];
                Some(Size::exp(SizeHead::If, parts))
            }
            _ => None,
        }
    }

    fn name_size(&self, id: NodeId, name: &QualName) -> Option<Size> {
        let used = self.names.uses.get(&id)?;
        let mut size = match used.res {
            Res::Local(binder) => Size::Name(binder),
            Res::Global(global) if self.names.globals[global].bind.params.is_empty() => {
                Size::Name(self.names.globals[global].bind.name.at.id)
            }
            Res::View(view) => Size::Name(self.names.views[view].id),
            Res::Error => Size::Any,
            res => Size::exp(SizeHead::Global(res, id, name.text().into()), Vec::new()),
        };
        for field in &name.parts[name.parts.len() - used.fields..] {
            size = Size::exp(SizeHead::Field(field.text.into()), vec![size]);
        }
        Some(size)
    }
}

/// Operators that group to the left beyond which their value is no size.
const LONGEST: usize = 500;

fn is_long(exp: &Exp<'_>) -> bool {
    let mut lefts = std::iter::successors(Some(exp), |exp| match exp.kind {
        ExpKind::BinOp(_, left, _) => Some(left),
        _ => None,
    });
    lefts.nth(LONGEST).is_some()
}
