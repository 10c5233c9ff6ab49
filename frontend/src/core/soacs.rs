//! Parallel operators.

use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use galopvm_base::Span;
use galopvm_bytecode::{ValueType, not_on_arrays};

/// The body of a parallel operator.
pub(super) struct OperatorBlock {
    pub block: Block,
    /// The structure of its results.
    pub structure: Structure,
    /// Known extents of each result.
    pub shapes: Vec<Vec<Option<Atom>>>,
}

impl<'a> Builder<'_, 'a, '_, '_> {
    /// A function's body as a block over parameters of these structures, whose extents are those given; also what
    /// is known outside of the block about the extents of its results.
    pub(super) fn operator_block(
        &mut self,
        function: &Value<'a>,
        params: &[Structure],
        shapes: &[Vec<Option<Atom>>],
        span: Span,
    ) -> Built<OperatorBlock> {
        self.operator_body(params, shapes, span, &mut |b, args| b.apply(function.clone(), args, span))
    }

    /// As `operator_block`, with a body made of the parameters by other means.
    pub(super) fn operator_body(
        &mut self,
        params: &[Structure],
        shapes: &[Vec<Option<Atom>>],
        span: Span,
        body: &mut dyn FnMut(&mut Self, Vec<Value<'a>>) -> Built<Value<'a>>,
    ) -> Built<OperatorBlock> {
        let types: Vec<_> = params.iter().flat_map(Structure::types).collect();
        self.fun.soacs += 1;
        let atoms = self.fun.begin_repeated(&types);
        for (atom, shape) in atoms.iter().zip(shapes) {
            self.know_all(*atom, shape);
        }
        let mut atoms = atoms.into_iter();
        let args = params.iter().map(|s| s.fill(&mut atoms)).collect();
        let value = body(self, args)?.element();
        let structure = self.structure_of(&value, span)?;
        let results = value.parts();
        let mut shapes: Vec<Vec<Option<Atom>>> = results.iter().map(|r| self.fun.known_shape(*r)).collect();
        let block = self.fun.end(results);
        self.fun.soacs -= 1;
        for extent in shapes.iter_mut().flatten() {
            *extent = extent.filter(|e| self.fun.visible(*e));
        }
        Ok(OperatorBlock { block, structure, shapes })
    }

    pub(super) fn zip(&mut self, arrays: &[Value<'a>], span: Span) -> Built<Value<'a>> {
        let Some((first, rest)) = arrays.split_first() else { return self.refuse(span, "an empty zip") };
        let n = self.length(first, span)?;
        // The checker has seen that they are equally long.
        for array in rest {
            for part in array.parts() {
                self.fun.know(part, 0, n);
            }
        }
        Ok(Value::tuple(arrays.to_vec()))
    }

    pub(super) fn map(&mut self, function: &Value<'a>, arrays: &Value<'a>, span: Span) -> Built<Value<'a>> {
        let width = self.length(arrays, span)?;
        let vars = self.array_vars(arrays, span)?;
        let row = self.structure_of(arrays, span)?.row();
        let shapes: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let over = arrays.parts();
        let OperatorBlock { mut block, structure, shapes } =
            self.operator_body(&[row], &shapes, span, &mut |b, args| {
                let rows = args.iter().flat_map(Value::parts).zip(&over);
                for (number, _) in
                    rows.filter(|(_, array)| b.fun.counters.contains(array)).collect::<Vec<_>>()
                {
                    b.fun.number_below(number, width);
                }
                b.apply(function.clone(), args, span)
            })?;
        let structure = structure.array_of();
        let mut parts: Vec<Option<Atom>> = Vec::new();
        for (result, ty) in block.results.iter().zip(structure.types()) {
            parts.push(self.without_map(*result, &block, &vars, width, ty));
        }
        let mut left: Vec<usize> = (0..parts.len()).filter(|k| parts[*k].is_none()).collect();
        if left.is_empty() && block.stms.iter().any(|stm| !stm.is_pure()) {
            // What can end the program stays, with a result that nobody reads.
            left.push(0);
        }
        if !left.is_empty() {
            let types = structure.types();
            let types: Vec<_> = left.iter().map(|k| types[*k]).collect();
            block.results = left.iter().map(|k| block.results[*k]).collect();
            let mapped = self.fun.emit_all(Op::Map { width, arrays: vars, body: block }, &types);
            for (k, part) in left.into_iter().zip(mapped) {
                parts[k].get_or_insert(part);
            }
        }
        let parts: Vec<Atom> = parts.into_iter().flatten().collect();
        for (part, shape) in parts.iter().zip(shapes) {
            let whole: Vec<Option<Atom>> = [Some(width)].into_iter().chain(shape).collect();
            self.know_all(*part, &whole);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// The result of a map that gives back a row, a row under another view, or the same scalar for every row.
    fn without_map(
        &mut self,
        result: Atom,
        block: &Block,
        arrays: &[Var],
        width: Atom,
        ty: ValueType,
    ) -> Option<Atom> {
        if let Atom::Var(var) = result
            && let Some(array) = self.view_of_rows(var, block, arrays)
        {
            return Some(array);
        }
        let same = ty.rank == 1 && self.fun.visible(result);
        same.then(|| self.fun.emit(Op::Replicate { count: width, value: result }, ty))
    }

    /// The view of an array whose rows a variable of an operator's block is, if the block only permutes and reverses
    /// dimensions of its row.
    fn view_of_rows(&mut self, var: Var, block: &Block, arrays: &[Var]) -> Option<Atom> {
        if let Some(k) = block.params.iter().position(|p| *p == var) {
            return Some(Atom::Var(arrays[k]));
        }
        let maker = block.stms.iter().find(|stm| stm.defs == [var])?;
        match &maker.op {
            Op::Permute { array: row, perm } => {
                let array = self.view_of_rows(*row, block, arrays)?;
                let perm: Vec<u32> = [0].into_iter().chain(perm.iter().map(|d| d + 1)).collect();
                Some(self.permute(array, perm))
            }
            Op::Reverse { array: row, dim } => {
                let array = self.view_of_rows(*row, block, arrays)?;
                Some(self.reverse(array, dim + 1))
            }
            Op::Dim { .. }
            | Op::Index { .. }
            | Op::Slice { .. }
            | Op::Update { .. }
            | Op::Reshape { .. }
            | Op::Concat { .. }
            | Op::Replicate { .. }
            | Op::Iota { .. }
            | Op::Array { .. }
            | Op::Copy { .. }
            | Op::Manifest { .. }
            | Op::Rotate { .. }
            | Op::Equal { .. }
            | Op::FlatIndex { .. }
            | Op::FlatUpdate { .. }
            | not_on_arrays!(Op) => None,
        }
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
        let neutral = neutral.element();
        let row = self.structure_of(&neutral, span)?;
        let known: Vec<Vec<Option<Atom>>> = arrays.parts().into_iter().map(|a| self.row_shape(a)).collect();
        let twice = [known.as_slice(), known.as_slice()].concat();
        let OperatorBlock { block: body, structure, .. } =
            self.operator_block(op, &[row.clone(), row], &twice, span)?;
        let neutral = neutral.parts();
        if scan {
            let structure = structure.array_of();
            let scan = Op::Scan { width, neutral, arrays: vars, body };
            let parts = self.fun.emit_all(scan, &structure.types());
            for (part, row) in parts.iter().zip(known) {
                let whole: Vec<Option<Atom>> = [Some(width)].into_iter().chain(row).collect();
                self.know_all(*part, &whole);
            }
            return Ok(structure.fill(&mut parts.into_iter()));
        }
        let reduce = Op::Reduce { width, neutral, arrays: vars, body };
        let parts = self.fun.emit_all(reduce, &structure.types());
        for (part, row) in parts.iter().zip(known) {
            self.know_all(*part, &row);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }
}
