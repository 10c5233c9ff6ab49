//! Sum types: constructors, `match`, and equality of all values.

use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use crate::syntax::ast::*;
use galopvm_base::{ElemType, Scalar, ScalarOp, Span};
use galopvm_bytecode::ValueType;
use std::rc::Rc;

impl<'a> SumValue<'a> {
    /// The payload of a constructor, which means something if the value has that constructor.
    pub(super) fn payload(&self, index: usize) -> Vec<Value<'a>> {
        if let Some((known, payload)) = &self.known
            && *known == index
        {
            return payload.clone();
        }
        let constructor = &self.layout.constructors[index];
        let mut parts = constructor.slots.iter().map(|slot| self.parts[slot + 1]);
        constructor.payload.iter().map(|s| s.fill(&mut parts)).collect()
    }
}

impl<'a> Builder<'_, 'a, '_, '_> {
    /// `#name args`
    pub(super) fn constructor(
        &mut self,
        exp: &Exp<'a>,
        name: &str,
        args: &'a [Exp<'a>],
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let span = exp.at.span;
        let payload: Built<Vec<_>> = args.iter().map(|e| self.eval(e, ctx)).collect();
        let payload = payload?;
        let ty = self.type_of(exp, ctx);
        let Structure::Sum(layout, 0) = self.structure(&ty, span)? else {
            return self.refuse(span, "this constructor");
        };
        let Some(index) = layout.position(name) else { return self.refuse(span, "this constructor") };
        let own = &layout.constructors[index].slots;
        let mut given = Vec::new();
        payload.iter().for_each(|value| value.leaves(&mut given));
        let mut slots: Vec<Option<Atom>> = vec![None; layout.slots.len()];
        for (slot, part) in own.iter().zip(given) {
            slots[*slot] = Some(part);
        }
        let arrays = slots.iter().zip(&layout.slots).any(|(slot, ty)| slot.is_none() && !ty.is_scalar());
        // Rows of an array of such values must have equal extents, whatever their constructors are.
        let extents = if arrays { self.part_extents(&ty, ctx, span) } else { Vec::new() };
        let mut parts = vec![SumLayout::tag(index)];
        for (k, (slot, ty)) in slots.into_iter().zip(&layout.slots).enumerate() {
            let part = match (slot, extents.get(k + 1)) {
                (Some(part), _) => part,
                (None, Some(extents)) if extents.len() == ty.rank as usize => self.zeros(ty.elem, extents),
                (None, _) => self.zeros(ty.elem, &vec![Atom::i64(0); ty.rank as usize]),
            };
            parts.push(part);
        }
        Ok(Value::Sum(Rc::new(SumValue { layout, parts, known: Some((index, payload)) })))
    }

    /// The first case whose pattern matches; the checker has seen that there is one.
    pub(super) fn match_exp(
        &mut self,
        value: &Value<'a>,
        cases: &'a [(Pat<'a>, Exp<'a>)],
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let Some(((pat, body), rest)) = cases.split_first() else { return self.refuse(span, "this `match`") };
        let matches = if rest.is_empty() { Atom::bool(true) } else { self.matches(pat, value, ctx)? };
        self.if_exp(
            matches,
            span,
            &mut |b| {
                let mut scope = ctx.clone();
                b.bind(&mut scope, pat, value)?;
                b.eval(body, &scope)
            },
            &mut |b| b.match_exp(value, rest, span, ctx),
        )
    }

    /// Whether a pattern matches a value.
    fn matches(&mut self, pat: &'a Pat<'a>, value: &Value<'a>, ctx: &Context<'a>) -> Built<Atom> {
        let span = pat.at.span;
        match pat.kind {
            PatKind::Id(_) | PatKind::Wildcard => Ok(Atom::bool(true)),
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.matches(inner, value, ctx)
            }
            PatKind::Lit(literal) => {
                let literal = self.eval(literal, ctx)?;
                self.equal(value, &literal, span)
            }
            PatKind::Tuple(items) => {
                let mut all = Atom::bool(true);
                for (i, item) in items.iter().enumerate() {
                    let part = self.part(value, &i.to_string(), item.at.span)?;
                    let one = self.matches(item, &part, ctx)?;
                    all = self.both(all, one);
                }
                Ok(all)
            }
            PatKind::Record(fields) => {
                let mut all = Atom::bool(true);
                for (name, item) in fields {
                    let part = self.part(value, name.text, item.at.span)?;
                    let one = self.matches(item, &part, ctx)?;
                    all = self.both(all, one);
                }
                Ok(all)
            }
            PatKind::Constr(name, items) => {
                let (sum, index) = self.case(value, name, span)?;
                let mut all = self.has_tag(&sum, index);
                if all.constant().is_some_and(|c| c.bits == 0) {
                    return Ok(all);
                }
                for (item, part) in items.iter().zip(sum.payload(index)) {
                    let one = self.matches(item, &part, ctx)?;
                    all = self.both(all, one);
                }
                Ok(all)
            }
        }
    }

    /// A value as one of a sum type, and the number of a constructor.
    pub(super) fn case(&self, value: &Value<'a>, name: &str, span: Span) -> Built<(Rc<SumValue<'a>>, usize)> {
        let Value::Sum(sum) = value else { return self.refuse(span, "this pattern") };
        match sum.layout.position(name) {
            Some(index) => Ok((sum.clone(), index)),
            None => self.refuse(span, "this pattern"),
        }
    }

    fn has_tag(&mut self, sum: &SumValue<'a>, index: usize) -> Atom {
        match (&sum.known, sum.parts.first()) {
            (Some((known, _)), _) => Atom::bool(*known == index),
            (None, Some(tag)) if sum.layout.constructors.len() > 1 => {
                self.fun.scalar(ScalarOp::Eq, SumLayout::TAG, &[*tag, SumLayout::tag(index)])
            }
            (None, _) => Atom::bool(true),
        }
    }

    pub(super) fn both(&mut self, a: Atom, b: Atom) -> Atom {
        self.fun.scalar(ScalarOp::And, ElemType::Bool, &[a, b])
    }

    pub(super) fn part(&self, value: &Value<'a>, name: &str, span: Span) -> Built<Value<'a>> {
        match value.field(name) {
            Some(part) => Ok(part.clone()),
            // An element of an array of empty records has no fields, and nothing asks for them.
            None => self.refuse(span, "this pattern"),
        }
    }

    /// Whether two values are equal.
    pub(super) fn equal(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Built<Atom> {
        match (a, b) {
            (Value::Atom(a), Value::Atom(b)) | (Value::Unit(a), Value::Unit(b)) => {
                let ty = self.fun.type_of(*a);
                if ty.is_scalar() {
                    return Ok(self.fun.scalar(ScalarOp::Eq, ty.elem, &[*a, *b]));
                }
                Ok(self.equal_arrays(*a, *b))
            }
            (Value::Record(xs), Value::Record(ys)) => {
                let mut all = Atom::bool(true);
                for ((_, x), (_, y)) in xs.iter().zip(ys.iter()) {
                    let part = self.equal(x, y, span)?;
                    all = self.both(all, part);
                }
                Ok(all)
            }
            (Value::Sum(x), Value::Sum(y)) => {
                let rank = x.parts.first().map_or(0, |tag| self.fun.type_of(*tag).rank);
                if rank > 0 { self.equal_rows(a, b, span) } else { self.equal_sums(x, y, span) }
            }
            _ => self.refuse(span, "comparing functions"),
        }
    }

    fn equal_sums(&mut self, x: &SumValue<'a>, y: &SumValue<'a>, span: Span) -> Built<Atom> {
        if let (Some((k, xs)), Some((l, ys))) = (&x.known, &y.known) {
            if k != l {
                return Ok(Atom::bool(false));
            }
            return self.equal(&Value::tuple(xs.clone()), &Value::tuple(ys.clone()), span);
        }
        let (Some(p), Some(q)) = (x.parts.first(), y.parts.first()) else { return Ok(Atom::bool(true)) };
        let mut all = self.fun.scalar(ScalarOp::Eq, SumLayout::TAG, &[*p, *q]);
        for (k, constructor) in x.layout.constructors.iter().enumerate() {
            if constructor.slots.is_empty() {
                continue;
            }
            let same = self.equal(&Value::tuple(x.payload(k)), &Value::tuple(y.payload(k)), span)?;
            let other = self.has_tag(x, k);
            let other = self.fun.scalar(ScalarOp::Not, ElemType::Bool, &[other]);
            let fine = self.fun.scalar(ScalarOp::Or, ElemType::Bool, &[other, same]);
            all = self.both(all, fine);
        }
        Ok(all)
    }

    /// Whether two arrays have equal extents and equal elements.
    fn equal_arrays(&mut self, a: Atom, b: Atom) -> Atom {
        match (a, b) {
            (Atom::Var(x), Atom::Var(y)) => {
                self.fun.emit(Op::Equal { a: x, b: y }, ValueType::scalar(ElemType::Bool))
            }
            _ => Atom::bool(a == b),
        }
    }

    /// `if` with one truth value as its result.
    fn branch(&mut self, condition: Atom, yes: Block, no: Block) -> Atom {
        if condition.constant().is_some_and(|c| c.bits != 0) {
            let result = yes.results[0];
            self.fun.splice(yes);
            return result;
        }
        self.fun.emit(Op::If { cond: condition, then: yes, otherwise: no }, ValueType::scalar(ElemType::Bool))
    }

    /// Whether two arrays have equal lengths and equal rows, row by row.
    fn equal_rows(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Built<Atom> {
        let (n, m) = (self.length(a, span)?, self.length(b, span)?);
        let same = self.fun.size_op(ScalarOp::Eq, n, m);
        self.fun.begin(&[]);
        let row = self.structure_of(a, span)?.row();
        let arrays = [self.array_vars(a, span)?, self.array_vars(b, span)?].concat();
        let types = row.types();
        let params = self.fun.begin_repeated(&[types.as_slice(), types.as_slice()].concat());
        let mut params = params.into_iter();
        let (x, y) = (row.fill(&mut params), row.fill(&mut params));
        let equal = self.equal(&x, &y, span)?;
        let map = self.fun.end(vec![equal]);
        let bools = ValueType::scalar(ElemType::Bool);
        let sides = self.fun.begin_repeated(&[bools, bools]);
        let and = self.fun.scalar(ScalarOp::And, ElemType::Bool, &sides);
        let op = self.fun.end(vec![and]);
        let redomap = Op::Redomap { width: n, neutral: vec![Atom::bool(true)], arrays, map, op };
        let all = self.fun.emit_all(redomap, &[bools]);
        let yes = self.fun.end(all);
        let no = Block { results: vec![Atom::bool(false)], ..Block::default() };
        Ok(self.branch(same, yes, no))
    }

    /// What `#[blank]` and `#[scratch]` make of an expression: zeros of its type. The expression is evaluated only if
    /// nothing else tells the extents, or for the numbers that `#[scratch]` leaves alone.
    pub(super) fn unread(&mut self, blank: bool, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let ty = self.type_of(exp, ctx);
        let Ok(structure) = self.structure(&ty, exp.at.span) else { return self.eval(exp, ctx) };
        let types = structure.types();
        if self.has_arrow(&ty) {
            return self.eval(exp, ctx);
        }
        let replaced = |ty: &ValueType| blank || !ty.is_scalar();
        if types.iter().all(replaced) && self.tells_extents(&ty, ctx) {
            return self.blank(&ty, exp.at.span, ctx);
        }
        let value = self.eval(exp, ctx)?;
        let mut parts = value.parts();
        for (part, ty) in parts.iter_mut().zip(types).filter(|(_, ty)| replaced(ty)) {
            let extents: Vec<Atom> = (0..ty.rank as u32).map(|d| self.fun.dim(*part, d)).collect();
            *part = self.zeros(ty.elem, &extents);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// A value of a type that nobody reads: zeros.
    pub(super) fn blank(
        &mut self,
        ty: &crate::types::Type,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let structure = self.structure(ty, span)?;
        let extents = self.part_extents(ty, ctx, span);
        let mut parts = Vec::new();
        for (ty, extents) in structure.types().into_iter().zip(extents) {
            parts.push(if ty.is_scalar() {
                Atom::Const(Scalar::new(ty.elem, 0))
            } else {
                self.zeros(ty.elem, &extents)
            });
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }
}
