//! The translation of each intrinsic.

use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use crate::types::Type;
use galopvm_base::{Diagnostic, ElemType, ScalarOp, Span};
use galopvm_bytecode::{Purpose, ValueType};
use galopvm_stdlib::{Intrinsic, Lowering};

impl<'a> Builder<'_, 'a, '_, '_> {
    pub(super) fn intrinsic(
        &mut self,
        row: &'static Intrinsic,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        match (row.lowering, args.as_slice()) {
            (Lowering::Map, [function, arrays]) => self.map(function, arrays, span),
            (Lowering::Reduce, [op, neutral, arrays]) => self.reduce(op, neutral, arrays, false, span),
            (Lowering::Scan, [op, neutral, arrays]) => self.reduce(op, neutral, arrays, true, span),
            (Lowering::Zip, arrays) => self.zip(arrays, span),
            (Lowering::Unzip | Lowering::Identity, [value]) => Ok(value.clone()),
            (Lowering::Trace | Lowering::Break, [value]) => {
                let (label, purpose) = match row.lowering {
                    Lowering::Break => ("", Purpose::Stop),
                    _ => (row.name, Purpose::Value),
                };
                let ty = instance.types.first().map_or(Type::Error, |(_, ty)| ty.clone());
                self.show(label, purpose, &ty, value, span);
                Ok(value.clone())
            }
            (Lowering::Iota, [count]) => {
                let count = self.atom(count, span)?;
                let ty = ElemType::I64;
                let op = Op::Iota { ty, count, start: Atom::i64(0), step: Atom::i64(1) };
                let array = self.fun.emit(op, ValueType::array(ty, 1));
                self.fun.know(array, 0, count);
                Ok(Value::Atom(array))
            }
            (Lowering::Replicate, [count, value]) => {
                let count = self.atom(count, span)?;
                self.replicate(count, value, span)
            }
            (Lowering::Transpose, [value]) => self.each(value, span, &mut |b, part| {
                let mut perm: Vec<u32> = (0..b.fun.type_of(part).rank as u32).collect();
                perm.swap(0, 1);
                b.permute(part, perm)
            }),
            (Lowering::Flatten, [value]) => self.each(value, span, &mut |b, part| {
                let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
                let extents: Vec<Atom> = (0..ty.rank as u32).map(|d| b.fun.dim(part, d)).collect();
                let outer = b.fun.size_op(ScalarOp::Mul, extents[0], extents[1]);
                b.check_product(&extents, "Cannot flatten array of shape [{}][{}]");
                let shape: Vec<Atom> = [outer].into_iter().chain(extents[2..].iter().copied()).collect();
                b.reshape(var, shape, ty.elem)
            }),
            (Lowering::Unflatten, [value]) => self.unflatten(instance, value, span),
            (Lowering::Concat, [a, b]) => self.concat(a, b, span),
            (Lowering::Length, [value]) => Ok(Value::Atom(self.length(value, span)?)),
            (Lowering::Copy, [value]) => self.same_shape(value, span, &mut |var| Op::Copy { array: var }),
            (Lowering::Manifest, [value]) => {
                self.same_shape(value, span, &mut |var| Op::Manifest { array: var })
            }
            (Lowering::Rotate, [amount, value]) => {
                let amount = self.atom(amount, span)?;
                self.same_shape(value, span, &mut |var| Op::Rotate { array: var, dim: 0, amount })
            }
            (Lowering::Scatter(_), [dest, index, values]) => self.scatter(dest, index, values, span),
            (Lowering::Hist(_), [dest, op, neutral, index, values]) => {
                self.hist(dest, (op, neutral), index, values, span)
            }
            (Lowering::Filter, [p, arrays]) => self.filter(p, arrays, span),
            (Lowering::Partition, [tests @ .., arrays]) | (Lowering::Partition2, [tests @ .., arrays]) => {
                self.partition(tests, arrays, span)
            }
            (Lowering::FlatMap, [f, arrays]) => self.flatmap(instance, f, arrays, span),
            (Lowering::AccScatter, [dest, f, arrays]) => self.stream(dest, None, f, arrays, span),
            (Lowering::AccHist, [dest, op, _, f, arrays]) => self.stream(dest, Some(op), f, arrays, span),
            (Lowering::AccWrite, [acc, index, value]) => self.acc_write(acc, index, value, span),
            (Lowering::FlatIndex(_), [array, numbers @ ..]) => self.flat_index(array, numbers, span),
            (Lowering::FlatUpdate(_), [array, numbers @ .., value]) => {
                self.flat_update(array, numbers, value, span)
            }
            (Lowering::Jvp, [f, x, direction]) => self.jvp(f, x, direction, span),
            (Lowering::Jmp, [f, x, directions]) => self.jmp(f, x, directions, span),
            (Lowering::Vjp, [f, x, adjoint]) => self.vjp(f, x, adjoint, span),
            (Lowering::Mjp, [f, x, adjoints]) => self.mjp(f, x, adjoints, span),
            (Lowering::WithVjp, [f, derivative, x]) => self.with_vjp(f, derivative, x, span),
            _ => self.refuse(span, "this intrinsic"),
        }
    }

    fn replicate(&mut self, count: Atom, value: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let value = value.element();
        let structure = self.structure_of(&value, span)?.array_of();
        let mut parts = Vec::new();
        for part in value.parts() {
            let ty = self.fun.type_of(part).array_of();
            let array = self.fun.emit(Op::Replicate { count, value: part }, ty);
            self.fun.know(array, 0, count);
            for d in 1..ty.rank as u32 {
                if let Some(extent) = self.fun.known(part, d - 1) {
                    self.fun.know(array, d, extent);
                }
            }
            parts.push(array);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// An operation on each part that keeps its shape; scalars stay as they are.
    fn same_shape(
        &mut self,
        value: &Value<'a>,
        span: Span,
        op: &mut dyn FnMut(Var) -> Op,
    ) -> Built<Value<'a>> {
        self.each(value, span, &mut |b, part| {
            let ty = b.fun.type_of(part);
            match part {
                Atom::Var(var) if !ty.is_scalar() => {
                    let known = b.fun.known_shape(part);
                    let array = b.fun.emit(op(var), ty);
                    b.know_all(array, &known);
                    array
                }
                _ => part,
            }
        })
    }

    fn unflatten(&mut self, instance: &Use<'a>, value: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let mut sizes = Vec::new();
        for (_, size) in instance.sizes.iter() {
            let atom = match size {
                Value::Size(lazy) => self.force(lazy),
                Value::Atom(atom) => Some(*atom),
                _ => None,
            };
            sizes.push(atom);
        }
        // Sizes in the element type come first; the table gives the two extents last.
        let [.., Some(n), Some(m)] = sizes.as_slice() else {
            return Err(Box::new(
                Diagnostic::error(
                    self.fun.place(span),
                    "the extents of the result of `unflatten` cannot be inferred",
                )
                .with_hint("write the argument's type as a product: `unflatten (xs :> [n * m]t)`"),
            ));
        };
        let (n, m) = (*n, *m);
        self.each(value, span, &mut |b, part| {
            let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
            let product = b.fun.size_op(ScalarOp::Mul, n, m);
            let extent = b.fun.dim(part, 0);
            let zero = Atom::i64(0);
            let fits = b.fun.size_op(ScalarOp::Eq, extent, product);
            let (rows, columns) =
                (b.fun.size_op(ScalarOp::Ge, n, zero), b.fun.size_op(ScalarOp::Ge, m, zero));
            let valid = b.both(rows, columns);
            let fits = b.both(fits, valid);
            let message = "Cannot unflatten array of shape [{}] to array of shape [{}][{}]";
            b.fun.assert(fits, message.to_string(), vec![extent, n, m]);
            let mut shape = vec![n, m];
            shape.extend((1..ty.rank as u32).map(|d| b.fun.dim(part, d)));
            b.check_product(&shape, "Cannot unflatten array to array of shape [{}][{}]");
            b.reshape(var, shape, ty.elem)
        })
    }

    /// The program ends if the product of the first two extents of a shape does not fit. Where rows cannot be empty,
    /// there would be no memory for so many of them, and the reshaping of such an array is refused by its count.
    fn check_product(&mut self, shape: &[Atom], what: &str) {
        let [n, m, rows @ ..] = shape else { return };
        let known = |atom: &Atom| atom.constant().map(|scalar| scalar.as_i64());
        let small = [n, m].into_iter().any(|atom| known(atom).is_some_and(|n| n == 0 || n == 1));
        if small || rows.iter().all(|atom| known(atom).is_some_and(|n| n > 0)) {
            return;
        }
        let zero = Atom::i64(0);
        let (high, low) =
            (self.fun.size_op(ScalarOp::MulHi, *n, *m), self.fun.size_op(ScalarOp::Mul, *n, *m));
        let high = self.fun.size_op(ScalarOp::Eq, high, zero);
        let low = self.fun.size_op(ScalarOp::Ge, low, zero);
        let fits = self.both(high, low);
        self.fun.assert(fits, format!("{what}: the product is more than {}.", i64::MAX), vec![*n, *m]);
    }

    fn concat(&mut self, a: &Value<'a>, b: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let (xs, ys) = (self.array_vars(a, span)?, self.array_vars(b, span)?);
        let structure = self.structure_of(a, span)?;
        let mut parts = Vec::new();
        for (left, right) in xs.into_iter().zip(ys) {
            let (x, y) = (Atom::Var(left), Atom::Var(right));
            let ty = self.fun.type_of(x);
            let (n, m) = (self.fun.dim(x, 0), self.fun.dim(y, 0));
            let total = self.fun.size_op(ScalarOp::Add, n, m);
            let rows = self.fun.known_shape(x);
            let array = self.fun.emit(Op::Concat { arrays: vec![left, right], dim: 0 }, ty);
            self.know_all(array, &rows);
            self.fun.know(array, 0, total);
            parts.push(array);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// Destinations with their parts changed: they keep their extents.
    fn changed(&mut self, dest: &Value<'a>, op: Op, span: Span) -> Built<Value<'a>> {
        let structure = self.structure_of(dest, span)?;
        let shapes: Vec<Vec<Option<Atom>>> = dest.parts().iter().map(|p| self.fun.known_shape(*p)).collect();
        let parts = self.fun.emit_all(op, &structure.types());
        for (part, shape) in parts.iter().zip(shapes) {
            self.know_all(*part, &shape);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    fn scatter(
        &mut self,
        dest: &Value<'a>,
        index: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let width = self.length(index, span)?;
        let (dests, index) = (self.array_vars(dest, span)?, self.array_vars(index, span)?);
        let values = self.array_vars(values, span)?;
        self.changed(dest, Op::Scatter { width, dests, index, values }, span)
    }

    fn hist(
        &mut self,
        dest: &Value<'a>,
        (op, neutral): (&Value<'a>, &Value<'a>),
        index: &Value<'a>,
        values: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let width = self.length(index, span)?;
        let (dests, index) = (self.array_vars(dest, span)?, self.array_vars(index, span)?);
        let shapes: Vec<Vec<Option<Atom>>> = values.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let values = self.array_vars(values, span)?;
        let neutral = neutral.element();
        let row = self.structure_of(&neutral, span)?;
        let twice = [shapes.as_slice(), shapes.as_slice()].concat();
        let op = self.operator_block(op, &[row.clone(), row], &twice, span)?.block;
        let hist = Op::Hist { width, dests, neutral: neutral.parts(), index, values, op };
        self.changed(dest, hist, span)
    }

    fn filter(&mut self, p: &Value<'a>, arrays: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let width = self.length(arrays, span)?;
        let (vars, structure) = (self.array_vars(arrays, span)?, self.structure_of(arrays, span)?);
        let shapes: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let body = self.operator_block(p, &[structure.row()], &shapes, span)?.block;
        let mut types = vec![ValueType::scalar(ElemType::I64)];
        structure.leaves(&mut types);
        let parts = self.fun.emit_all(Op::Filter { width, arrays: vars, body }, &types);
        for (part, shape) in parts[1..].iter().zip(shapes) {
            let whole: Vec<Option<Atom>> = [Some(parts[0])].into_iter().chain(shape).collect();
            self.know_all(*part, &whole);
        }
        Ok(structure.fill(&mut parts.into_iter().skip(1)))
    }

    /// Rows by the first test that holds: a tuple with an array for each test and one for the others.
    fn partition(&mut self, tests: &[Value<'a>], arrays: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let classes = tests.len() as u32 + 1;
        let width = self.length(arrays, span)?;
        let (vars, structure) = (self.array_vars(arrays, span)?, self.structure_of(arrays, span)?);
        let shapes: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let body = self
            .operator_body(&[structure.row()], &shapes, span, &mut |b, row| b.class(tests, 0, &row, span))?;
        let body = body.block;
        let mut types = vec![ValueType::scalar(ElemType::I64); classes as usize];
        structure.leaves(&mut types);
        let parts = self.fun.emit_all(Op::Partition { classes, width, arrays: vars, body }, &types);
        let (counts, sorted) = parts.split_at(classes as usize);
        for (part, shape) in sorted.iter().zip(shapes) {
            let whole: Vec<Option<Atom>> = [Some(width)].into_iter().chain(shape).collect();
            self.know_all(*part, &whole);
        }
        let sorted = structure.fill(&mut sorted.iter().copied());
        let mut items = Vec::new();
        let mut from = Atom::i64(0);
        for (k, count) in counts.iter().enumerate() {
            let last = k + 1 == counts.len();
            let to = if last { width } else { self.fun.size_op(ScalarOp::Add, from, *count) };
            let range = SliceDim::Range((k > 0).then_some(from), (!last).then_some(to), None);
            let item = self.index(&sorted, &[range], span)?;
            let left = if last { self.fun.size_op(ScalarOp::Sub, to, from) } else { *count };
            for part in item.parts() {
                self.fun.know(part, 0, left);
            }
            items.push(item);
            from = to;
        }
        Ok(Value::tuple(items))
    }

    /// The number of the first test that holds, from some test on.
    fn class(&mut self, tests: &[Value<'a>], from: i64, row: &[Value<'a>], span: Span) -> Built<Value<'a>> {
        let Some((test, rest)) = tests.split_first() else { return Ok(Value::Atom(Atom::i64(from))) };
        let holds = self.apply(test.clone(), row.to_vec(), span)?;
        let holds = self.atom(&holds, span)?;
        self.if_exp(holds, span, &mut |_| Ok(Value::Atom(Atom::i64(from))), &mut |b| {
            b.class(rest, from + 1, row, span)
        })
    }

    /// Arrays of varying lengths, one after the other: their lengths, a mark at the first element of each, where each
    /// begins, the elements, and what the function gives besides.
    fn flatmap(
        &mut self,
        instance: &Use<'a>,
        f: &Value<'a>,
        arrays: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let width = self.length(arrays, span)?;
        let row = self.structure_of(arrays, span)?.row();
        let shapes: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let vars = self.array_vars(arrays, span)?;
        // The types of the elements and of the other results, in the order of the table.
        let mut ctx = Context::empty();
        instance.sizes.iter().for_each(|(id, size)| ctx.bind(*id, size.clone()));
        let [_, (_, element), _] = &*instance.types else { return self.refuse(span, "this `flatmap`") };
        let element_structure = self.structure(element, span)?.array_of();
        let element_extents = self.part_extents(element, &ctx, span);
        // First every length and every other result; then the elements, at places known by then.
        let rows = vars.clone();
        let first = self.operator_body(&[row], &shapes, span, &mut |b, row| {
            let value = b.apply(f.clone(), row, span)?;
            let (inner, other) = (b.part(&value, "0", span)?, b.part(&value, "1", span)?);
            Ok(Value::tuple(vec![Value::Atom(b.length(&inner, span)?), other]))
        })?;
        let structure = first.structure.array_of();
        let parts = self.fun.emit_all(Op::Map { width, arrays: rows, body: first.block }, &structure.types());
        for part in &parts {
            self.fun.know(*part, 0, width);
        }
        let both = structure.fill(&mut parts.into_iter());
        let (lengths, others) = (self.part(&both, "0", span)?, self.part(&both, "1", span)?);
        let Value::Atom(Atom::Var(lengths)) = lengths else { return self.refuse(span, "this `flatmap`") };
        let ends = self.sums(lengths, width);
        let total = self.last_or_zero(ends, width);
        let sizes = ValueType::array(ElemType::I64, 1);
        let params = self.fun.begin_repeated(&[ValueType::scalar(ElemType::I64); 2]);
        // The first sum that does not fit is negative.
        let fits = self.fun.size_op(ScalarOp::Ge, params[0], Atom::i64(0));
        let message =
            format!("Cannot join the arrays of `flatmap`: together they have more than {} rows.", i64::MAX);
        self.fun.assert(fits, message, Vec::new());
        let begin = self.fun.size_op(ScalarOp::Sub, params[0], params[1]);
        let body = self.fun.end(vec![begin]);
        let offsets = self.fun.emit(Op::Map { width, arrays: vec![ends, lengths], body }, sizes);
        self.fun.know(offsets, 0, width);
        let flags = self.starts(offsets, lengths, width, total);
        let mut empty = Vec::new();
        for (ty, extents) in element_structure.types().into_iter().zip(element_extents) {
            let extents: Vec<Atom> = [total].into_iter().chain(extents).collect();
            empty.push(self.zeros(ty.elem, &extents));
        }
        let values = self.fill_segments(f, (arrays, width), offsets, (&element_structure, empty), span)?;
        Ok(Value::tuple(vec![
            Value::Atom(Atom::Var(lengths)),
            Value::Atom(flags),
            Value::Atom(offsets),
            values,
            others,
        ]))
    }

    /// The inclusive sums of an array of i64.
    fn sums(&mut self, array: Var, width: Atom) -> Var {
        let scalar = ValueType::scalar(ElemType::I64);
        let params = self.fun.begin_repeated(&[scalar, scalar]);
        let sum = self.fun.size_op(ScalarOp::Add, params[0], params[1]);
        let body = self.fun.end(vec![sum]);
        let scan = Op::Scan { width, neutral: vec![Atom::i64(0)], arrays: vec![array], body };
        match self.fun.emit_all(scan, &[scalar.array_of()])[0] {
            Atom::Var(var) => var,
            Atom::Const(_) => array,
        }
    }

    fn last_or_zero(&mut self, array: Var, width: Atom) -> Atom {
        let scalar = ValueType::scalar(ElemType::I64);
        let some = self.fun.size_op(ScalarOp::Gt, width, Atom::i64(0));
        self.fun.begin(&[]);
        let last = self.fun.size_op(ScalarOp::Sub, width, Atom::i64(1));
        let last = self.fun.emit(Op::Index { array, index: vec![last] }, scalar);
        let yes = self.fun.end(vec![last]);
        let no = Block { results: vec![Atom::i64(0)], ..Block::default() };
        self.fun.emit_all(Op::If { cond: some, then: yes, otherwise: no }, &[scalar])[0]
    }

    /// True at the first element of each segment.
    fn starts(&mut self, offsets: Atom, lengths: Var, width: Atom, total: Atom) -> Atom {
        let Atom::Var(offsets) = offsets else { return offsets };
        let size = ValueType::scalar(ElemType::I64);
        // An empty segment begins nowhere.
        let params = self.fun.begin_repeated(&[size, size]);
        let some = self.fun.size_op(ScalarOp::Gt, params[1], Atom::i64(0));
        let place = self.fun.scalar(ScalarOp::Select, ElemType::I64, &[some, params[0], Atom::i64(-1)]);
        let body = self.fun.end(vec![place]);
        let places = self.fun.emit(Op::Map { width, arrays: vec![offsets, lengths], body }, size.array_of());
        let bools = ValueType::array(ElemType::Bool, 1);
        let none = self.zeros(ElemType::Bool, &[total]);
        let marks = self.fun.emit(Op::Replicate { count: width, value: Atom::bool(true) }, bools);
        let (Atom::Var(places), Atom::Var(none), Atom::Var(marks)) = (places, none, marks) else {
            return none;
        };
        let scatter = Op::Scatter { width, dests: vec![none], index: vec![places], values: vec![marks] };
        let flags = self.fun.emit_all(scatter, &[bools])[0];
        self.fun.know(flags, 0, total);
        flags
    }

    /// Writes what a function gives for each row at its place.
    fn fill_segments(
        &mut self,
        f: &Value<'a>,
        (arrays, width): (&Value<'a>, Atom),
        offsets: Atom,
        (structure, empty): (&Structure, Vec<Atom>),
        span: Span,
    ) -> Built<Value<'a>> {
        let types = structure.types();
        let all: Vec<ValueType> =
            [ValueType::scalar(ElemType::I64)].into_iter().chain(types.iter().copied()).collect();
        let params = self.fun.begin_repeated(&all);
        let row = self.index(arrays, &[SliceDim::At(params[0])], span)?;
        let value = self.apply(f.clone(), vec![row], span)?;
        let segment = self.part(&value, "0", span)?;
        let length = self.length(&segment, span)?;
        let from = self.index(&Value::Atom(offsets), &[SliceDim::At(params[0])], span)?;
        let from = self.atom(&from, span)?;
        let to = self.fun.size_op(ScalarOp::Add, from, length);
        let place = vec![SliceDim::Range(Some(from), Some(to), None)];
        let mut results = Vec::new();
        for ((old, new), ty) in params[1..].iter().zip(segment.parts()).zip(&types) {
            let Atom::Var(old) = old else { continue };
            results.push(self.fun.emit(Op::Update { array: *old, dims: place.clone(), value: new }, *ty));
        }
        let body = self.fun.end(results);
        let shapes: Vec<Vec<Option<Atom>>> = empty.iter().map(|e| self.fun.known_shape(*e)).collect();
        let parts = self.fun.emit_all(Op::For { bound: width, init: empty, body }, &types);
        for (part, shape) in parts.iter().zip(shapes) {
            self.know_all(*part, &shape);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// Passes accumulators of a destination through a function for each row.
    fn stream(
        &mut self,
        dest: &Value<'a>,
        op: Option<&Value<'a>>,
        f: &Value<'a>,
        arrays: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let width = self.length(arrays, span)?;
        let accs = self.array_vars(dest, span)?;
        let vars = self.array_vars(arrays, span)?;
        let (inner, row) = (self.structure_of(dest, span)?, self.structure_of(arrays, span)?.row());
        let mut shapes: Vec<Vec<Option<Atom>>> =
            dest.parts().iter().map(|p| self.fun.known_shape(*p)).collect();
        for part in arrays.parts() {
            shapes.push(self.row_shape(part));
        }
        self.accs.push(op.cloned());
        let acc = Structure::Acc(self.accs.len() - 1, Box::new(inner));
        let body = self.operator_block(f, &[acc, row], &shapes, span)?.block;
        self.changed(dest, Op::Stream { width, accs, arrays: vars, body }, span)
    }

    fn acc_write(
        &mut self,
        acc: &Value<'a>,
        index: &Value<'a>,
        value: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let Value::Acc(number, inner) = acc else { return self.refuse(span, "this accumulator") };
        let accs = self.array_vars(inner, span)?;
        let index = vec![self.atom(index, span)?];
        let value = value.element();
        let row = self.structure_of(inner, span)?.row();
        let shapes: Vec<Vec<Option<Atom>>> = inner.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let op = match self.accs[*number].clone() {
            Some(op) => {
                let twice = [shapes.as_slice(), shapes.as_slice()].concat();
                self.operator_block(&op, &[row.clone(), row], &twice, span)?.block
            }
            None => {
                let types = row.types();
                let params = self.fun.begin_repeated(&[types.as_slice(), types.as_slice()].concat());
                self.fun.end(params[types.len()..].to_vec())
            }
        };
        let write = Op::AccWrite { accs, index, values: value.parts(), op };
        let changed = self.changed(inner, write, span)?;
        Ok(Value::Acc(*number, std::rc::Rc::new(changed)))
    }

    /// The numbers of a flat index: the offset, then the others in turns.
    fn numbers(&self, values: &[Value<'a>], span: Span) -> Built<Vec<Atom>> {
        values.iter().map(|v| self.atom(v, span)).collect()
    }

    fn flat_index(&mut self, array: &Value<'a>, numbers: &[Value<'a>], span: Span) -> Built<Value<'a>> {
        let numbers = self.numbers(numbers, span)?;
        let Some((offset, pairs)) = numbers.split_first() else { return self.refuse(span, "this index") };
        let sizes: Vec<Atom> = pairs.iter().step_by(2).copied().collect();
        let strides: Vec<Atom> = pairs.iter().skip(1).step_by(2).copied().collect();
        self.each(array, span, &mut |b, part| {
            let (Atom::Var(var), ty) = (part, b.fun.type_of(part)) else { return part };
            let rows = b.row_shape(part);
            let ty = ValueType { rank: ty.rank + sizes.len() as u8 - 1, ..ty };
            let op =
                Op::FlatIndex { array: var, offset: *offset, sizes: sizes.clone(), strides: strides.clone() };
            let view = b.fun.emit(op, ty);
            let whole: Vec<Option<Atom>> = sizes.iter().copied().map(Some).chain(rows).collect();
            b.know_all(view, &whole);
            view
        })
    }

    fn flat_update(
        &mut self,
        array: &Value<'a>,
        numbers: &[Value<'a>],
        value: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let numbers = self.numbers(numbers, span)?;
        let Some((offset, strides)) = numbers.split_first() else { return self.refuse(span, "this update") };
        let mut news = self.array_vars(value, span)?.into_iter();
        self.each(array, span, &mut |b, part| {
            let (Atom::Var(var), Some(value)) = (part, news.next()) else { return part };
            let (ty, known) = (b.fun.type_of(part), b.fun.known_shape(part));
            let strides = strides.to_vec();
            let updated = b.fun.emit(Op::FlatUpdate { array: var, offset: *offset, strides, value }, ty);
            b.know_all(updated, &known);
            updated
        })
    }
}
