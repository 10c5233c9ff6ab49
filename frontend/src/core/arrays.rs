//! Arrays: indexing, updates, ranges, and what is known of extents.

use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use crate::syntax::ast::*;
use galopvm_base::{ElemType, Scalar, ScalarOp, Span};
use galopvm_bytecode::ValueType;
use std::rc::Rc;

/// A range as it is written.
#[derive(Clone, Copy)]
pub(super) struct RangeEnds<'a> {
    pub(super) first: &'a Exp<'a>,
    pub(super) second: Option<&'a Exp<'a>>,
    pub(super) kind: RangeKind,
    pub(super) last: &'a Exp<'a>,
}

/// A range in numbers.
#[derive(Clone, Copy)]
pub(super) struct Range {
    ty: ElemType,
    /// How many there are, an `i64`.
    pub(super) count: Atom,
    start: Atom,
    step: Atom,
}

impl<'a> Builder<'_, 'a, '_, '_> {
    /// Applies a function to every part of a value.
    pub(super) fn each(
        &mut self,
        value: &Value<'a>,
        span: Span,
        f: &mut dyn FnMut(&mut Self, Atom) -> Atom,
    ) -> Built<Value<'a>> {
        Ok(match value {
            Value::Atom(atom) => Value::Atom(f(self, *atom)),
            Value::Unit(atom) => {
                let part = f(self, *atom);
                if self.fun.type_of(part).is_scalar() { Value::tuple(Vec::new()) } else { Value::Unit(part) }
            }
            Value::Record(fields) => {
                let mut parts = Vec::new();
                for (name, part) in fields.iter() {
                    parts.push((name.clone(), self.each(part, span, f)?));
                }
                Value::Record(parts.into())
            }
            Value::Sum(sum) => {
                let parts = sum.parts.iter().map(|part| f(self, *part)).collect();
                Value::Sum(Rc::new(SumValue { layout: sum.layout.clone(), parts, known: None }))
            }
            Value::Acc(..) | Value::Fun(_) | Value::Size(_) => {
                return self.refuse(span, "a function as an element of an array");
            }
        })
    }

    /// Remembers extents that are known.
    pub(super) fn know_all(&mut self, array: Atom, extents: &[Option<Atom>]) {
        for (d, extent) in extents.iter().enumerate() {
            if let Some(extent) = extent {
                self.fun.know(array, d as u32, *extent);
            }
        }
    }

    pub(super) fn reshape(&mut self, array: Var, shape: Vec<Atom>, elem: ElemType) -> Atom {
        let ty = ValueType::array(elem, shape.len() as u8);
        let known: Vec<Option<Atom>> = shape.iter().copied().map(Some).collect();
        let result = self.fun.emit(Op::Reshape { array, shape }, ty);
        self.know_all(result, &known);
        result
    }

    /// The extent of the outer dimension of an array.
    pub(super) fn length(&mut self, value: &Value<'a>, span: Span) -> Built<Atom> {
        match value.parts().first() {
            Some(leaf) if !self.fun.type_of(*leaf).is_scalar() => Ok(self.fun.dim(*leaf, 0)),
            _ => self.refuse(span, "this array"),
        }
    }

    pub(super) fn array_vars(&self, value: &Value<'a>, span: Span) -> Built<Vec<Var>> {
        let vars: Option<Vec<Var>> = value
            .parts()
            .into_iter()
            .map(|a| match a {
                Atom::Var(var) if !self.fun.type_of(a).is_scalar() => Some(var),
                _ => None,
            })
            .collect();
        match vars {
            Some(vars) if !vars.is_empty() => Ok(vars),
            _ => self.refuse(span, "this array"),
        }
    }

    /// The extents of the rows of an array: every row has them.
    pub(super) fn row_shape(&mut self, array: Atom) -> Vec<Option<Atom>> {
        (1..self.fun.type_of(array).rank as u32).map(|d| Some(self.fun.dim(array, d))).collect()
    }

    /// The indices of one bracket.
    pub(super) fn dims(&mut self, dims: &'a [DimIndex<'a>], ctx: &Context<'a>) -> Built<Vec<SliceDim>> {
        let mut result = Vec::new();
        for dim in dims {
            result.push(match dim {
                DimIndex::Fix(index) => SliceDim::At(self.eval_size(index, ctx)?),
                DimIndex::Slice(from, to, step) => {
                    let mut parts = [None; 3];
                    for (slot, exp) in parts.iter_mut().zip([from, to, step]) {
                        if let Some(exp) = exp {
                            *slot = Some(self.eval_size(exp, ctx)?);
                        }
                    }
                    SliceDim::Range(parts[0], parts[1], parts[2])
                }
            });
        }
        Ok(result)
    }

    /// `value[dims]`
    pub(super) fn index(&mut self, value: &Value<'a>, dims: &[SliceDim], span: Span) -> Built<Value<'a>> {
        let indices: Option<Vec<Atom>> = dims
            .iter()
            .map(|d| match d {
                SliceDim::At(a) => Some(*a),
                SliceDim::Range(..) => None,
            })
            .collect();
        let backwards = backwards(dims);
        self.each(value, span, &mut |b, part| {
            let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
            if let Some(backwards) = &backwards {
                return backwards.iter().fold(part, |array, dim| b.reverse(array, *dim));
            }
            if let Some(indices) = &indices {
                let taken = indices.len() as u8;
                let ty = ValueType { rank: ty.rank.saturating_sub(taken), ..ty };
                let known: Vec<Option<Atom>> =
                    (0..ty.rank as u32).map(|d| Some(b.fun.dim(part, d + taken as u32))).collect();
                let result = b.fun.emit(Op::Index { array: var, index: indices.clone() }, ty);
                b.know_all(result, &known);
                return result;
            }
            let fixed = dims.iter().filter(|d| matches!(d, SliceDim::At(_))).count() as u8;
            let ty = ValueType { rank: ty.rank.saturating_sub(fixed), ..ty };
            let mut known = Vec::new();
            for (d, dim) in dims.iter().enumerate() {
                match dim {
                    SliceDim::At(_) => {}
                    SliceDim::Range(None, None, None) => known.push(b.fun.known(part, d as u32)),
                    SliceDim::Range(from, Some(to), None)
                        if from.is_none_or(|f| f.constant().is_some_and(|c| c.bits == 0)) =>
                    {
                        known.push(Some(*to));
                    }
                    SliceDim::Range(..) => known.push(None),
                }
            }
            known.extend((dims.len() as u32..b.fun.type_of(part).rank as u32).map(|d| b.fun.known(part, d)));
            let result = b.fun.emit(Op::Slice { array: var, dims: dims.to_vec() }, ty);
            b.know_all(result, &known);
            result
        })
    }

    /// A view whose dimension `k` is dimension `perm[k]`.
    pub(super) fn permute(&mut self, array: Atom, perm: Vec<u32>) -> Atom {
        let Atom::Var(var) = array else { return array };
        let known: Vec<Option<Atom>> = perm.iter().map(|d| Some(self.fun.dim(array, *d))).collect();
        let permuted = self.fun.emit(Op::Permute { array: var, perm }, self.fun.type_of(array));
        self.know_all(permuted, &known);
        permuted
    }

    /// A view with one dimension backwards.
    pub(super) fn reverse(&mut self, array: Atom, dim: u32) -> Atom {
        let Atom::Var(var) = array else { return array };
        let known: Vec<Option<Atom>> =
            (0..self.fun.type_of(array).rank as u32).map(|d| Some(self.fun.dim(array, d))).collect();
        let reversed = self.fun.emit(Op::Reverse { array: var, dim }, self.fun.type_of(array));
        self.know_all(reversed, &known);
        reversed
    }

    /// `old with path = new`
    pub(super) fn update(
        &mut self,
        old: &Value<'a>,
        steps: &'a [Step<'a>],
        new: Value<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let Some((step, rest)) = steps.split_first() else { return Ok(new) };
        match step {
            Step::Field(name) => {
                let Value::Record(fields) = old else { return self.refuse(span, "this update") };
                let mut parts = Vec::new();
                for (field, part) in fields.iter() {
                    let part = if **field == *name.text {
                        self.update(part, rest, new.clone(), span, ctx)?
                    } else {
                        part.clone()
                    };
                    parts.push((field.clone(), part));
                }
                Ok(Value::Record(parts.into()))
            }
            Step::Index(dims) => {
                let dims = self.dims(dims, ctx)?;
                let new = if rest.is_empty() {
                    new
                } else {
                    let part = self.index(old, &dims, span)?;
                    self.update(&part, rest, new, span, ctx)?
                };
                let mut news = new.element().parts().into_iter();
                self.each(old, span, &mut |b, part| {
                    let (Atom::Var(var), Some(value)) = (part, news.next()) else { return part };
                    let ty = b.fun.type_of(part);
                    let known: Vec<Option<Atom>> =
                        (0..ty.rank as u32).map(|d| b.fun.known(part, d)).collect();
                    let result = b.fun.emit(Op::Update { array: var, dims: dims.clone(), value }, ty);
                    b.know_all(result, &known);
                    result
                })
            }
        }
    }

    /// The array that a range stands for.
    pub(super) fn range(&mut self, span: Span, ends: RangeEnds<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let Range { ty, count, start, step } = self.range_numbers(ends, ctx)?;
        self.fun.span = Some(span);
        let array = self.fun.emit(Op::Iota { ty, count, start, step }, ValueType::array(ty, 1));
        self.fun.know(array, 0, count);
        Ok(Value::Atom(array))
    }

    /// The numbers of a range, which is valid from here on.
    pub(super) fn range_numbers(
        &mut self,
        RangeEnds { first, second, kind, last }: RangeEnds<'a>,
        ctx: &Context<'a>,
    ) -> Built<Range> {
        let mut values = Vec::new();
        for exp in [Some(first), second, Some(last)].into_iter().flatten() {
            let value = self.eval(exp, ctx)?;
            values.push(self.atom(&value, exp.at.span)?);
        }
        let (first, last) = (values[0], values[values.len() - 1]);
        let ty = self.fun.type_of(first).elem;
        let number = |n: i64| Atom::Const(Scalar::from_int(ty, n));
        let step = match values.as_slice() {
            [_, second, _] => self.fun.scalar(ScalarOp::Sub, ty, &[*second, first]),
            _ => number(if kind == RangeKind::Downto { -1 } else { 1 }),
        };
        let second = (values.len() == 3).then(|| values[1]);
        let bools = ElemType::Bool;
        let (up, down) = self.direction(ty, first, second, kind);
        let rises = self.fun.scalar(ScalarOp::Le, ty, &[first, last]);
        let falls = self.fun.scalar(ScalarOp::Ge, ty, &[first, last]);
        let rising = self.fun.scalar(ScalarOp::And, bools, &[up, rises]);
        let falling = self.fun.scalar(ScalarOp::And, bools, &[down, falls]);
        let valid = match kind {
            RangeKind::Upto => rising,
            RangeKind::Downto => falling,
            RangeKind::Inclusive => self.fun.scalar(ScalarOp::Or, bools, &[rising, falling]),
        };
        let dots = match kind {
            RangeKind::Inclusive => "...",
            RangeKind::Upto => "..<",
            RangeKind::Downto => "..>",
        };
        let message = match values.len() {
            3 => format!("Range {{}}..{{}}{dots}{{}} is invalid."),
            _ => format!("Range {{}}{dots}{{}} is invalid."),
        };
        self.fun.assert(valid, message, values.clone());
        let count = self.range_count(ty, (first, second, last), kind, up);
        Ok(Range { ty, count, start: first, step })
    }

    /// A number of a range.
    pub(super) fn range_number(&mut self, range: &Range, at: Atom) -> Atom {
        let at = self.fun.convert(ElemType::I64, range.ty, at);
        let far = self.fun.scalar(ScalarOp::Mul, range.ty, &[at, range.step]);
        self.fun.scalar(ScalarOp::Add, range.ty, &[range.start, far])
    }

    /// Whether a range goes up, and whether it goes down.
    fn direction(
        &mut self,
        ty: ElemType,
        first: Atom,
        second: Option<Atom>,
        kind: RangeKind,
    ) -> (Atom, Atom) {
        let Some(second) = second else {
            return (Atom::bool(kind != RangeKind::Downto), Atom::bool(kind == RangeKind::Downto));
        };
        let up = self.fun.scalar(ScalarOp::Gt, ty, &[second, first]);
        (up, self.fun.scalar(ScalarOp::Lt, ty, &[second, first]))
    }

    /// The number of elements of a valid range.
    fn range_count(
        &mut self,
        ty: ElemType,
        (first, second, last): (Atom, Option<Atom>, Atom),
        kind: RangeKind,
        up: Atom,
    ) -> Atom {
        // Differences of narrow types fit into i64; those of wide ones are numbers of 64 bits without a sign.
        let wide = if ty.bytes() < 8 || (second.is_none() && ty.is_signed()) {
            ElemType::I64
        } else {
            ElemType::U64
        };
        let [first, last] = [first, last].map(|a| self.fun.convert(ty, wide, a));
        let second = second.map(|a| self.fun.convert(ty, wide, a));
        if wide == ElemType::I64 && second.is_none() && kind == RangeKind::Upto && first == Atom::i64(0) {
            return last;
        }
        let apart = |b: &mut Self, to: Atom| {
            let over = b.fun.scalar(ScalarOp::Sub, wide, &[to, first]);
            let under = b.fun.scalar(ScalarOp::Sub, wide, &[first, to]);
            b.fun.scalar(ScalarOp::Select, wide, &[up, over, under])
        };
        let distance = apart(self, last);
        let stride = match second {
            Some(second) => apart(self, second),
            None => Atom::Const(Scalar::from_int(wide, 1)),
        };
        let whole = self.fun.scalar(ScalarOp::Quot, wide, &[distance, stride]);
        let whole = self.fun.convert(wide, ElemType::I64, whole);
        let more = match (kind, second) {
            // More numbers than an extent can say are a negative number of them, and have to stay it.
            (RangeKind::Inclusive, _)
                if ty.bytes() == 8 && first.constant().is_none_or(|c| c.as_i64() < 0) =>
            {
                let fits = self.fun.size_op(ScalarOp::Ge, whole, Atom::i64(0));
                self.fun.convert(ElemType::Bool, ElemType::I64, fits)
            }
            (RangeKind::Inclusive, _) => Atom::i64(1),
            (_, None) => Atom::i64(0),
            (_, Some(_)) => {
                let rest = self.fun.scalar(ScalarOp::Rem, wide, &[distance, stride]);
                let zero = Atom::Const(Scalar::from_int(wide, 0));
                let some = self.fun.scalar(ScalarOp::Ne, wide, &[rest, zero]);
                self.fun.convert(ElemType::Bool, ElemType::I64, some)
            }
        };
        self.fun.size_op(ScalarOp::Add, whole, more)
    }
}

/// The dimensions that a slice takes backwards, if it takes all of every dimension.
fn backwards(dims: &[SliceDim]) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for (d, dim) in dims.iter().enumerate() {
        match dim {
            SliceDim::Range(None, None, None) => {}
            SliceDim::Range(None, None, Some(step)) if *step == Atom::i64(-1) => found.push(d as u32),
            _ => return None,
        }
    }
    Some(found)
}
