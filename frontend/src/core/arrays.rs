//! Arrays, parallel operators, ranges and loops.

use super::apply::OperatorBlock;
use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::{ElemType, Scalar, ScalarOp, Span};
use galopvm_bytecode::ValueType;

/// Builds one turn of a counted loop: the builder, the names in scope, the counter.
type Turn<'t, B, C> = dyn FnMut(&mut B, &mut C, Atom) -> Built<Vec<Atom>> + 't;

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
            Value::Record(fields) => {
                let mut parts = Vec::new();
                for (name, part) in fields.iter() {
                    parts.push((name.clone(), self.each(part, span, f)?));
                }
                Value::Record(parts.into())
            }
            Value::Fun(_) => return self.refuse(span, "a function as an element of an array"),
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
        let result = self.fun.emit(Op::Reshape(array, shape), ty);
        self.know_all(result, &known);
        result
    }

    /// The extent of the outer dimension of an array.
    pub(super) fn length(&mut self, value: &Value<'a>, span: Span) -> Built<Atom> {
        match value.parts().first() {
            Some(leaf) if !self.fun.type_of(*leaf).is_scalar() => Ok(self.fun.dim(*leaf, 0)),
            _ => self.refuse(span, "an array of ()"),
        }
    }

    fn array_vars(&self, value: &Value<'a>, span: Span) -> Built<Vec<Var>> {
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
            _ => self.refuse(span, "an array of ()"),
        }
    }

    /// The structure of the rows of an array.
    fn row_structure(&self, value: &Value<'a>, span: Span) -> Built<Structure> {
        fn row(structure: Structure) -> Structure {
            match structure {
                Structure::Atom(ty) => Structure::Atom(ty.row().unwrap_or(ty)),
                Structure::Record(fields) => {
                    Structure::Record(fields.into_iter().map(|(n, s)| (n, row(s))).collect())
                }
            }
        }
        Ok(row(self.structure_of(value, span)?))
    }

    /// The extents of the rows of an array: every row has them.
    fn row_shape(&mut self, array: Atom) -> Vec<Option<Atom>> {
        (1..self.fun.type_of(array).rank as u32).map(|d| Some(self.fun.dim(array, d))).collect()
    }

    pub(super) fn zip(&mut self, arrays: &[Value<'a>], span: Span) -> Built<Value<'a>> {
        let Some((first, rest)) = arrays.split_first() else { return self.refuse(span, "an empty zip") };
        let n = self.length(first, span)?;
        for array in rest {
            let m = self.length(array, span)?;
            self.fun.assert_equal(n, m, "Arrays of {} and {} elements cannot be zipped.", &[n, m]);
            for part in array.parts() {
                self.fun.know(part, 0, n);
            }
        }
        Ok(Value::tuple(arrays.to_vec()))
    }

    pub(super) fn map(&mut self, function: &Value<'a>, arrays: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let width = self.length(arrays, span)?;
        let vars = self.array_vars(arrays, span)?;
        let row = self.row_structure(arrays, span)?;
        let shapes: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let body = self.operator_block(function, &[row], &shapes, span)?;
        let mut types = Vec::new();
        let structure = body.structure.array_of();
        structure.leaves(&mut types);
        if types.is_empty() {
            return self.refuse(span, "an array of ()");
        }
        let parts = self.fun.emit_all(Op::Map { width, arrays: vars, body: body.block }, &types);
        for (part, shape) in parts.iter().zip(body.shapes) {
            let whole: Vec<Option<Atom>> = [Some(width)].into_iter().chain(shape).collect();
            self.know_all(*part, &whole);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    pub(super) fn reduce(
        &mut self,
        op: &Value<'a>,
        neutral: &Value<'a>,
        arrays: &Value<'a>,
        scan: bool,
        span: Span,
    ) -> Built<Value<'a>> {
        let width = self.length(arrays, span)?;
        let vars = self.array_vars(arrays, span)?;
        let row = self.structure_of(neutral, span)?;
        let known: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let twice = [known.as_slice(), known.as_slice()].concat();
        let OperatorBlock { block: body, structure, .. } =
            self.operator_block(op, &[row.clone(), row], &twice, span)?;
        let neutral = neutral.parts();
        let mut types = Vec::new();
        if scan {
            let structure = structure.array_of();
            structure.leaves(&mut types);
            let parts = self.fun.emit_all(Op::Scan { width, neutral, arrays: vars, body }, &types);
            for part in &parts {
                self.fun.know(*part, 0, width);
            }
            return Ok(structure.fill(&mut parts.into_iter()));
        }
        structure.leaves(&mut types);
        let parts = self.fun.emit_all(Op::Reduce { width, neutral, arrays: vars, body }, &types);
        Ok(structure.fill(&mut parts.into_iter()))
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
        self.each(value, span, &mut |b, part| {
            let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
            if let Some(indices) = &indices {
                let taken = indices.len() as u8;
                let ty = ValueType { rank: ty.rank.saturating_sub(taken), ..ty };
                let known: Vec<Option<Atom>> =
                    (0..ty.rank as u32).map(|d| Some(b.fun.dim(part, d + taken as u32))).collect();
                let result = b.fun.emit(Op::Index(var, indices.clone()), ty);
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
            let result = b.fun.emit(Op::Slice(var, dims.to_vec()), ty);
            b.know_all(result, &known);
            result
        })
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
                let mut news = new.parts().into_iter();
                self.each(old, span, &mut |b, part| {
                    let (Atom::Var(var), Some(value)) = (part, news.next()) else { return part };
                    let ty = b.fun.type_of(part);
                    let known: Vec<Option<Atom>> =
                        (0..ty.rank as u32).map(|d| b.fun.known(part, d)).collect();
                    let result = b.fun.emit(Op::Update(var, dims.clone(), value), ty);
                    b.know_all(result, &known);
                    result
                })
            }
        }
    }

    /// The array that a range stands for.
    pub(super) fn range(
        &mut self,
        span: Span,
        first: &'a Exp<'a>,
        second: Option<&'a Exp<'a>>,
        kind: RangeKind,
        last: &'a Exp<'a>,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
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
        // Counted in i64, where neither a difference of smaller types nor -step wraps.
        let wide = |b: &mut Self, a: Atom| b.fun.convert(ty, ElemType::I64, a);
        let (from, to) = (wide(self, first), wide(self, last));
        let by = match values.as_slice() {
            [_, second, _] => {
                let second = wide(self, *second);
                self.fun.size_op(ScalarOp::Sub, second, from)
            }
            _ => Atom::i64(if kind == RangeKind::Downto { -1 } else { 1 }),
        };
        let zero = Atom::i64(0);
        let up = self.fun.size_op(ScalarOp::Gt, by, zero);
        let down = self.fun.size_op(ScalarOp::Lt, by, zero);
        let rises = self.fun.size_op(ScalarOp::Le, from, to);
        let falls = self.fun.size_op(ScalarOp::Ge, from, to);
        let bools = ElemType::Bool;
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
        let distance = self.fun.size_op(ScalarOp::Sub, to, from);
        let distance = self.fun.scalar(ScalarOp::Abs, ElemType::I64, &[distance]);
        let stride = self.fun.scalar(ScalarOp::Abs, ElemType::I64, &[by]);
        let count = match kind {
            RangeKind::Inclusive => {
                let whole = self.fun.size_op(ScalarOp::Quot, distance, stride);
                self.fun.size_op(ScalarOp::Add, whole, Atom::i64(1))
            }
            _ if stride == Atom::i64(1) && from == zero && kind == RangeKind::Upto => to,
            _ => {
                let less_one = self.fun.size_op(ScalarOp::Sub, stride, Atom::i64(1));
                let padded = self.fun.size_op(ScalarOp::Add, distance, less_one);
                self.fun.size_op(ScalarOp::Quot, padded, stride)
            }
        };
        self.fun.span = Some(span);
        let array = self.fun.emit(Op::Iota { ty, count, start: first, step }, ValueType::array(ty, 1));
        self.fun.know(array, 0, count);
        Ok(Value::Atom(array))
    }

    /// A loop.
    pub(super) fn loop_exp(
        &mut self,
        span: Span,
        pat: &'a Pat<'a>,
        init: Option<&'a Exp<'a>>,
        form: &LoopForm<'a>,
        body: &'a Exp<'a>,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let init = match init {
            Some(init) => self.eval(init, ctx)?,
            None => self.implicit_init(pat, ctx)?,
        };
        let structure = self.structure_of(&init, span)?;
        let mut types = Vec::new();
        structure.leaves(&mut types);
        let op = match form {
            LoopForm::While(condition) => {
                let cond = self.turn(&structure, &types, pat, ctx, &mut |b, scope| {
                    let value = b.eval(condition, scope)?;
                    Ok(vec![b.atom(&value, condition.at.span)?])
                })?;
                let body = self
                    .turn(&structure, &types, pat, ctx, &mut |b, scope| Ok(b.eval(body, scope)?.parts()))?;
                Op::While { init: init.parts(), cond, body }
            }
            LoopForm::For(name, bound) => {
                let value = self.eval(bound, ctx)?;
                let given = self.atom(&value, bound.at.span)?;
                let elem = self.fun.type_of(given).elem;
                let bound = self.fun.convert(elem, ElemType::I64, given);
                let body = self.counted(&structure, &types, pat, ctx, &mut |b, scope, i| {
                    let i = b.fun.convert(ElemType::I64, elem, i);
                    scope.bind(name.at.id, Value::Atom(i));
                    Ok(b.eval(body, scope)?.parts())
                })?;
                Op::For { bound, init: init.parts(), body }
            }
            LoopForm::ForIn(element, array) => {
                let array = self.eval(array, ctx)?;
                let bound = self.length(&array, span)?;
                let body = self.counted(&structure, &types, pat, ctx, &mut |b, scope, i| {
                    let row = b.index(&array, &[SliceDim::At(i)], span)?;
                    b.bind(scope, element, &row)?;
                    Ok(b.eval(body, scope)?.parts())
                })?;
                Op::For { bound, init: init.parts(), body }
            }
        };
        let parts = self.fun.emit_all(op, &types);
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// A block over the carried values.
    fn turn(
        &mut self,
        structure: &Structure,
        types: &[ValueType],
        pat: &'a Pat<'a>,
        ctx: &Context<'a>,
        inner: &mut dyn FnMut(&mut Self, &Context<'a>) -> Built<Vec<Atom>>,
    ) -> Built<Block> {
        let mut params = self.fun.begin(types).into_iter();
        let value = structure.fill(&mut params);
        let mut scope = ctx.clone();
        self.bind(&mut scope, pat, &value)?;
        let results = inner(self, &scope)?;
        Ok(self.fun.end(results))
    }

    /// A block over a counter and the carried values.
    fn counted(
        &mut self,
        structure: &Structure,
        types: &[ValueType],
        pat: &'a Pat<'a>,
        ctx: &Context<'a>,
        inner: &mut Turn<'_, Self, Context<'a>>,
    ) -> Built<Block> {
        let all: Vec<ValueType> =
            [ValueType::scalar(ElemType::I64)].into_iter().chain(types.iter().copied()).collect();
        let params = self.fun.begin(&all);
        let value = structure.fill(&mut params[1..].iter().copied());
        let mut scope = ctx.clone();
        self.bind(&mut scope, pat, &value)?;
        let results = inner(self, &mut scope, params[0])?;
        Ok(self.fun.end(results))
    }

    /// The initial value that a loop's pattern names.
    fn implicit_init(&mut self, pat: &'a Pat<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        match pat.kind {
            PatKind::Id(_) => {
                let res = self.checker.names.uses.get(&pat.at.id).map_or(Res::Error, |u| u.res);
                self.resolved(res, Use::none(), pat.at.span, ctx)
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.implicit_init(inner, ctx)
            }
            PatKind::Tuple(items) => {
                let items: Built<Vec<_>> = items.iter().map(|p| self.implicit_init(p, ctx)).collect();
                Ok(Value::tuple(items?))
            }
            PatKind::Record(fields) => {
                let mut values = Vec::new();
                for (name, field) in fields {
                    values.push((name.text.into(), self.implicit_init(field, ctx)?));
                }
                values.sort_by(|a: &(std::rc::Rc<str>, _), b| crate::types::field_order(&a.0, &b.0));
                Ok(Value::Record(values.into()))
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {
                self.refuse(pat.at.span, "this loop")
            }
        }
    }
}
