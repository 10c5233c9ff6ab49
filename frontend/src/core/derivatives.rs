//! `jvp`, `vjp` and their family: the function is built as a block of core, which is then derived where it was asked for.
//!
//! Functions that are called by the block are expanded in it, so that each use is derived by what it depends on, and a
//! function's own derivative is seen (`with_vjp`). A parameter's tag, or what an empty record is held as, has no derivative:
//! a tangent has the tags of its value.

use super::build::{Builder, Built};
use super::derive::Derive;
use super::ir::*;
use super::value::*;
use galopvm_base::Span;
use galopvm_bytecode::ValueType;

/// A function built at an argument.
struct Function {
    block: Block,
    /// The argument's parts.
    args: Vec<Atom>,
    /// Which of them something can depend on.
    active: Vec<bool>,
    param: Structure,
    result: Structure,
}

impl<'a> Builder<'_, 'a, '_, '_> {
    /// The value of a function and its derivative in one direction.
    pub(super) fn jvp(
        &mut self,
        f: &Value<'a>,
        x: &Value<'a>,
        direction: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let function = self.function(f, x, span)?;
        let direction = direction.element().parts();
        self.derived(span, |b, place| {
            let Function { block, args, active, result, .. } = &function;
            let (values, moved) =
                Derive::new(&mut b.fun, place, block, args, active).forward(block, &direction)?;
            let moved = b.tangents(&moved, &values, result);
            Ok(vec![result.fill(&mut values.into_iter()), result.fill(&mut moved.into_iter())])
        })
    }

    /// The value of a function and its derivatives in several directions.
    pub(super) fn jmp(
        &mut self,
        f: &Value<'a>,
        x: &Value<'a>,
        directions: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let function = self.function(f, x, span)?;
        let width = self.length(directions, span)?;
        let directions = directions.parts();
        self.derived(span, |b, place| {
            let Function { block, args, active, result, .. } = &function;
            let values = Derive::new(&mut b.fun, place, block, args, active).values(block);
            let rows = b.fun.begin_rows(&directions);
            let again = Derive::new(&mut b.fun, place, block, args, active).again();
            let (again, moved) = again.forward(block, &rows)?;
            let moved = b.tangents(&moved, &again, result);
            let moved = b.fun.end_rows(width, &directions, &rows, moved);
            let all = result.array_of();
            Ok(vec![result.fill(&mut values.into_iter()), all.fill(&mut moved.into_iter())])
        })
    }

    /// The value of a function and its transposed derivative, applied to one adjoint.
    pub(super) fn vjp(
        &mut self,
        f: &Value<'a>,
        x: &Value<'a>,
        adjoint: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let function = self.function(f, x, span)?;
        let adjoint = adjoint.element().parts();
        self.derived(span, |b, place| {
            let Function { block, args, active, param, result } = &function;
            let mut derive = Derive::new(&mut b.fun, place, block, args, active);
            let values = derive.onward(block)?;
            let back = derive.backward(block, &adjoint)?;
            let back = b.tangents(&back, args, param);
            Ok(vec![result.fill(&mut values.into_iter()), param.fill(&mut back.into_iter())])
        })
    }

    /// The value of a function and its transposed derivative, applied to several adjoints.
    pub(super) fn mjp(
        &mut self,
        f: &Value<'a>,
        x: &Value<'a>,
        adjoints: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        let function = self.function(f, x, span)?;
        let width = self.length(adjoints, span)?;
        let adjoints = adjoints.parts();
        self.derived(span, |b, place| {
            let Function { block, args, active, param, result } = &function;
            let mut derive = Derive::new(&mut b.fun, place, block, args, active);
            let values = derive.onward(block)?;
            let rows = derive.begin_rows(&adjoints);
            let back = derive.backward(block, &rows)?;
            let back = b.tangents(&back, args, param);
            let back = b.fun.end_rows(width, &adjoints, &rows, back);
            let all = param.array_of();
            Ok(vec![result.fill(&mut values.into_iter()), all.fill(&mut back.into_iter())])
        })
    }

    /// A function that brings its own transposed derivative: the function's value; where that is going to be derived, as a
    /// branch that is always taken, with the derivative of the values and an adjoint as the other one.
    pub(super) fn with_vjp(
        &mut self,
        f: &Value<'a>,
        derivative: &Value<'a>,
        x: &Value<'a>,
        span: Span,
    ) -> Built<Value<'a>> {
        if !self.fun.is_derived() {
            return self.apply(f.clone(), vec![x.clone()], span);
        }
        self.fun.begin(&[]);
        let value = self.apply(f.clone(), vec![x.clone()], span)?;
        let structure = self.structure_of(&value, span)?;
        let then = self.fun.end(value.parts());
        let types = structure.types();
        if types.is_empty() {
            self.fun.splice(then);
            return Ok(value);
        }
        let params = self.fun.begin(&[types.as_slice(), types.as_slice()].concat());
        let (values, adjoints) = params.split_at(types.len());
        let pair = [values, adjoints].map(|atoms| structure.fill(&mut atoms.iter().copied()));
        let back = self.apply(derivative.clone(), pair.to_vec(), span)?;
        let mut otherwise = self.fun.end(back.parts());
        // What it is the derivative by is told by a result more for each part.
        otherwise.results.extend(x.parts());
        let parts = self.fun.emit_all(Op::If { cond: Atom::bool(true), then, otherwise }, &types);
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// Builds what a derivative is made of in a block of its own, drops of it what nobody needs, and puts it here.
    fn derived(
        &mut self,
        span: Span,
        build: impl FnOnce(&mut Self, Span) -> Built<Vec<Value<'a>>>,
    ) -> Built<Value<'a>> {
        let (place, within) = (self.fun.place(span), self.fun.within);
        let outer = self.fun.span;
        self.fun.begin(&[]);
        let values = build(self, place)?;
        let parts: Vec<Atom> = values.iter().flat_map(Value::parts).collect();
        let shapes: Vec<Vec<Option<Atom>>> = parts.iter().map(|part| self.fun.known_shape(*part)).collect();
        let block = self.fun.end_derived(parts.clone());
        self.fun.splice(block);
        for (part, shape) in parts.iter().zip(shapes) {
            let shape: Vec<Option<Atom>> =
                shape.into_iter().map(|e| e.filter(|e| self.fun.visible(*e))).collect();
            self.know_all(*part, &shape);
        }
        (self.fun.span, self.fun.within) = (outer, within);
        Ok(Value::tuple(values))
    }

    /// A function as a block over the parts of its argument.
    fn function(&mut self, f: &Value<'a>, x: &Value<'a>, span: Span) -> Built<Function> {
        let x = x.element();
        let (param, args) = (self.structure_of(&x, span)?, x.parts());
        let shapes: Vec<Vec<Atom>> = args.iter().map(|arg| self.fun.shape(*arg)).collect();
        let params = self.fun.begin_derived(&param.types());
        for (atom, shape) in params.iter().zip(shapes) {
            self.fun.know_shape(*atom, &shape);
        }
        let value = self.apply(f.clone(), vec![param.fill(&mut params.into_iter())], span)?.element();
        let result = self.structure_of(&value, span)?;
        let block = self.fun.end(value.parts());
        let mut active = Vec::new();
        param.moves(&mut active);
        Ok(Function { block, args, active, param, result })
    }

    /// Tangents, with the values' parts where there can be none.
    fn tangents(&mut self, tangents: &[Atom], values: &[Atom], structure: &Structure) -> Vec<Atom> {
        let mut moves = Vec::new();
        structure.moves(&mut moves);
        let each = tangents.iter().zip(values).zip(moves);
        each.map(|((tangent, value), moves)| if moves { *tangent } else { *value }).collect()
    }
}

impl Structure {
    /// Which of the parts can move: tags of sums cannot, and what empty records are held as.
    fn moves(&self, out: &mut Vec<bool>) {
        match self {
            Structure::Atom(_) => out.push(true),
            Structure::Unit(_) => out.push(false),
            Structure::Record(fields) => fields.iter().for_each(|(_, field)| field.moves(out)),
            Structure::Sum(layout, _) => {
                out.push(false);
                out.extend(layout.slots.iter().map(|_: &ValueType| true));
            }
            Structure::Acc(_, inner) => inner.moves(out),
        }
    }
}
