//! Code that derivatives are made of: zeros, sums, maps over arrays.
//!
//! Invariant: nothing here can end the program when the arrays given have the extents that the names say.

use super::super::emit::FunState;
use super::super::ir::*;
use super::super::simplify::prune_sure;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_bytecode::ValueType;

/// The rows that the widest vectors take at a time.
const ROWS_OF_VECTORS: i64 = 16;

/// A zero of a type.
pub(super) fn zero(ty: ElemType) -> Atom {
    Atom::Const(Scalar::new(ty, 0))
}

/// True for a constant zero.
pub(super) fn is_zero(atom: Atom) -> bool {
    matches!(atom, Atom::Const(value) if value.bits == 0)
}

/// The array that an atom is. A constant is no array; of such there is no row, so what is asked for one is nothing.
pub(super) fn arrays_of(atoms: &[Atom]) -> Vec<Var> {
    atoms.iter().filter_map(|atom| atom.var()).collect()
}

impl FunState {
    /// The extents of a value.
    pub fn shape(&mut self, value: Atom) -> Vec<Atom> {
        (0..self.type_of(value).rank as u32).map(|d| self.dim(value, d)).collect()
    }

    /// Remembers all extents of a value.
    pub fn know_shape(&mut self, value: Atom, shape: &[Atom]) {
        shape.iter().enumerate().for_each(|(d, extent)| self.know(value, d as u32, *extent));
    }

    /// Copies of a value.
    pub fn copies(&mut self, count: Atom, value: Atom) -> Atom {
        let ty = self.type_of(value).array_of();
        let rows = self.shape(value);
        let array = self.emit(Op::Replicate { count, value }, ty);
        self.know_shape(array, &[&[count], rows.as_slice()].concat());
        self.copied.insert(array, value);
        array
    }

    /// Zeros of this shape.
    pub fn zeros_of(&mut self, ty: ElemType, shape: &[Atom]) -> Atom {
        shape.iter().rev().fold(zero(ty), |row, extent| self.copies(*extent, row))
    }

    /// A zero for each element of a value.
    pub fn zeros_like(&mut self, value: Atom) -> Atom {
        let shape = self.shape(value);
        self.zeros_of(self.type_of(value).elem, &shape)
    }

    /// The numbers from 0.
    pub fn numbers(&mut self, count: Atom) -> Atom {
        let op = Op::Iota { ty: ElemType::I64, count, start: Atom::i64(0), step: Atom::i64(1) };
        let array = self.emit(op, ValueType::array(ElemType::I64, 1));
        self.know(array, 0, count);
        array
    }

    /// The element or row at an index.
    pub fn row_at(&mut self, array: Atom, index: &[Atom]) -> Atom {
        let (Atom::Var(var), false) = (array, index.is_empty()) else { return array };
        let ty = self.type_of(array);
        let shape = self.shape(array);
        let ty = ValueType { rank: ty.rank.saturating_sub(index.len() as u8), ..ty };
        let row = self.emit(Op::Index { array: var, index: index.to_vec() }, ty);
        self.know_shape(row, &shape[index.len().min(shape.len())..]);
        row
    }

    /// An array with a slice replaced.
    pub fn with(&mut self, array: Atom, dims: &[SliceDim], value: Atom) -> Atom {
        let Atom::Var(var) = array else { return array };
        let shape = self.shape(array);
        let updated = self.emit(Op::Update { array: var, dims: dims.to_vec(), value }, self.type_of(array));
        self.know_shape(updated, &shape);
        updated
    }

    /// The rows of an array from one to another.
    pub fn some_rows(&mut self, array: Atom, (from, to): (Atom, Atom), count: Atom) -> Atom {
        let Atom::Var(var) = array else { return array };
        let mut shape = self.shape(array);
        let dims = vec![SliceDim::Range(Some(from), Some(to), None)];
        let rows = self.emit(Op::Slice { array: var, dims }, self.type_of(array));
        shape.iter_mut().take(1).for_each(|extent| *extent = count);
        self.know_shape(rows, &shape);
        rows
    }

    /// The number of elements in an array of this shape.
    pub fn count(&mut self, shape: &[Atom]) -> Atom {
        shape.iter().fold(Atom::i64(1), |count, extent| self.size_op(ScalarOp::Mul, count, *extent))
    }

    /// How many rows of so many elements have room at a time: at least one, and not more than there are. Where there is room for
    /// more than few, whole vectors of them: what is left over for half a vector takes longer than its rows are worth.
    pub fn room_for(&mut self, room: i64, elements: Atom, count: Atom) -> Atom {
        let rows = self.size_op(ScalarOp::Quot, Atom::i64(room), elements);
        let vectors = self.size_op(ScalarOp::And, rows, Atom::i64(-ROWS_OF_VECTORS));
        let few = self.size_op(ScalarOp::Min, rows, Atom::i64(ROWS_OF_VECTORS - 1));
        let rows = self.size_op(ScalarOp::Max, vectors, few);
        let rows = self.size_op(ScalarOp::Min, rows, count);
        self.size_op(ScalarOp::Max, rows, Atom::i64(1))
    }

    /// How many pieces of so many rows there are of all rows.
    pub fn pieces(&mut self, count: Atom, rows: Atom) -> Atom {
        let more = self.size_op(ScalarOp::Add, count, rows);
        let more = self.size_op(ScalarOp::Sub, more, Atom::i64(1));
        self.size_op(ScalarOp::Quot, more, rows)
    }

    /// Where a piece begins and ends, and how many rows it has.
    pub fn piece(&mut self, number: Atom, rows: Atom, count: Atom) -> (Atom, Atom, Atom) {
        let from = self.size_op(ScalarOp::Mul, number, rows);
        let to = self.size_op(ScalarOp::Add, from, rows);
        let to = self.size_op(ScalarOp::Min, to, count);
        (from, to, self.size_op(ScalarOp::Sub, to, from))
    }

    /// A view with the dimensions in another order.
    pub fn permuted(&mut self, array: Atom, perm: Vec<u32>) -> Atom {
        let Atom::Var(var) = array else { return array };
        let shape = self.shape(array);
        let view = self.emit(Op::Permute { array: var, perm: perm.clone() }, self.type_of(array));
        let shape: Vec<Atom> = perm.iter().filter_map(|d| shape.get(*d as usize).copied()).collect();
        self.know_shape(view, &shape);
        view
    }

    /// A view with the first dimension backwards.
    pub fn backwards(&mut self, array: Atom) -> Atom {
        let Atom::Var(var) = array else { return array };
        let shape = self.shape(array);
        let view = self.emit(Op::Reverse { array: var, dim: 0 }, self.type_of(array));
        self.know_shape(view, &shape);
        view
    }

    /// The same elements in another shape.
    pub fn reshaped(&mut self, array: Atom, shape: &[Atom]) -> Atom {
        let Atom::Var(var) = array else { return array };
        let ty = ValueType::array(self.type_of(array).elem, shape.len() as u8);
        let reshaped = self.emit(Op::Reshape { array: var, shape: shape.to_vec() }, ty);
        self.know_shape(reshaped, shape);
        reshaped
    }

    /// Opens the block of an operator over rows of arrays; gives its parameters.
    pub fn begin_rows(&mut self, arrays: &[Atom]) -> Vec<Atom> {
        let types: Vec<ValueType> =
            arrays.iter().map(|a| self.type_of(*a)).map(|ty| ty.row().unwrap_or(ty)).collect();
        let shapes: Vec<Vec<Atom>> = arrays.iter().map(|a| self.shape(*a)).collect();
        let params = self.begin_repeated(&types);
        for (param, shape) in params.iter().zip(shapes) {
            self.know_shape(*param, shape.get(1..).unwrap_or(&[]));
        }
        params
    }

    /// Opens the body of a loop over numbers that carries what begins as these; gives its parameters, the number first. Arrays keep
    /// their extents from round to round.
    pub fn begin_loop(&mut self, init: &[Atom]) -> Vec<Atom> {
        let number = ValueType::scalar(ElemType::I64);
        let types: Vec<ValueType> =
            [number].into_iter().chain(init.iter().map(|a| self.type_of(*a))).collect();
        let shapes: Vec<Vec<Atom>> = init.iter().map(|a| self.shape(*a)).collect();
        let params = self.begin_repeated(&types);
        params[1..].iter().zip(&shapes).for_each(|(param, shape)| self.know_shape(*param, shape));
        params
    }

    /// The values of such a loop after its rounds.
    pub fn end_loop(&mut self, bound: Atom, init: Vec<Atom>, body: Block) -> Vec<Atom> {
        let types: Vec<ValueType> = init.iter().map(|a| self.type_of(*a)).collect();
        let shapes: Vec<Vec<Atom>> = init.iter().map(|a| self.shape(*a)).collect();
        let atoms = self.emit_all(Op::For { bound, init, body }, &types);
        atoms.iter().zip(&shapes).for_each(|(atom, shape)| self.know_shape(*atom, shape));
        atoms
    }

    /// Closes the block of a map whose statements cannot fail, and applies it to all rows. What is a row itself, or the same for
    /// all rows, needs no map.
    pub fn end_rows(
        &mut self,
        width: Atom,
        arrays: &[Atom],
        params: &[Atom],
        results: Vec<Atom>,
    ) -> Vec<Atom> {
        let direct: Vec<Option<Atom>> =
            results.iter().map(|result| self.outside(*result, params, arrays)).collect();
        let mut made: Vec<Atom> = Vec::new();
        for (result, _) in results.iter().zip(&direct).filter(|(_, direct)| direct.is_none()) {
            if !made.contains(result) {
                made.push(*result);
            }
        }
        let types: Vec<ValueType> = made.iter().map(|a| self.type_of(*a).array_of()).collect();
        let mut shapes: Vec<Vec<Option<Atom>>> = made.iter().map(|a| self.known_shape(*a)).collect();
        let body = self.end_sure(made.clone());
        for extent in shapes.iter_mut().flatten() {
            *extent = extent.filter(|e| self.visible(*e));
        }
        let mapped = match types.is_empty() {
            true => Vec::new(),
            false => self.emit_all(Op::Map { width, arrays: arrays_of(arrays), body }, &types),
        };
        for (array, shape) in mapped.iter().zip(shapes) {
            self.know(*array, 0, width);
            for (d, extent) in shape.iter().enumerate() {
                extent.iter().for_each(|extent| self.know(*array, d as u32 + 1, *extent));
            }
        }
        let array_of = |result: Atom| made.iter().position(|own| *own == result).map(|k| mapped[k]);
        let mut all = Vec::new();
        for (result, direct) in results.into_iter().zip(direct) {
            all.push(match direct {
                Some(atom) if atom == result => self.copies(width, atom),
                Some(array) => array,
                None => array_of(result).unwrap_or(result),
            });
        }
        all
    }

    /// What stands for a block's result outside of it: the array whose row it is, or itself if it is the same for all rows.
    fn outside(&self, result: Atom, params: &[Atom], arrays: &[Atom]) -> Option<Atom> {
        if let Some(k) = params.iter().position(|param| *param == result) {
            return arrays.get(k).copied();
        }
        self.is_outside(result).then_some(result)
    }

    /// Closes a block none of whose statements can fail: what nobody uses of it is dropped.
    pub fn end_sure(&mut self, results: Vec<Atom>) -> Block {
        let mut block = self.end(results);
        prune_sure(&mut block, self.vars.len());
        block
    }

    /// The array of what a function gives for each row of arrays.
    pub fn map_rows(
        &mut self,
        width: Atom,
        arrays: &[Atom],
        body: &mut dyn FnMut(&mut FunState, &[Atom]) -> Atom,
    ) -> Atom {
        let params = self.begin_rows(arrays);
        let result = body(self, &params);
        self.end_rows(width, arrays, &params, vec![result]).pop().unwrap_or(result)
    }

    /// A scalar operation applied to values of one shape, element by element.
    pub fn each(&mut self, values: &[Atom], op: &mut dyn FnMut(&mut FunState, &[Atom]) -> Atom) -> Atom {
        let [first, ..] = values else { return op(self, values) };
        if self.type_of(*first).is_scalar() {
            return op(self, values);
        }
        let width = self.dim(*first, 0);
        self.map_rows(width, values, &mut |fun, rows| fun.each(rows, op))
    }

    /// The sum of two values of one shape.
    pub fn plus(&mut self, a: Atom, b: Atom) -> Atom {
        if is_zero(a) {
            return b;
        }
        if is_zero(b) {
            return a;
        }
        self.each(&[a, b], &mut |fun, pair| fun.plus_scalars(pair[0], pair[1]))
    }

    fn plus_scalars(&mut self, a: Atom, b: Atom) -> Atom {
        let ty = self.type_of(a).elem;
        let op = if ty == ElemType::Bool { ScalarOp::Or } else { ScalarOp::Add };
        self.scalar(op, ty, &[a, b])
    }

    /// The block that adds values of a type.
    pub fn adding(&mut self, row: Atom) -> Block {
        let (ty, shape) = (self.type_of(row), self.shape(row));
        let params = self.begin_repeated(&[ty, ty]);
        params.iter().for_each(|param| self.know_shape(*param, &shape));
        let sum = self.plus(params[0], params[1]);
        self.end_sure(vec![sum])
    }

    /// The sum of the rows of an array.
    pub fn sum_rows(&mut self, array: Atom) -> Atom {
        let ty = self.type_of(array);
        if ty.rank > 1 {
            // Sums of columns: each is a reduction of scalars.
            let mut perm: Vec<u32> = (0..ty.rank as u32).collect();
            perm.rotate_left(1);
            let columns = self.permuted(array, perm);
            return self.sum_last(columns);
        }
        self.sum_last(array)
    }

    /// Sums along the last dimension.
    fn sum_last(&mut self, array: Atom) -> Atom {
        let ty = self.type_of(array);
        let width = self.dim(array, 0);
        if ty.rank > 1 {
            return self.map_rows(width, &[array], &mut |fun, rows| fun.sum_last(rows[0]));
        }
        let neutral = zero(ty.elem);
        let body = self.adding(neutral);
        let op = Op::Reduce { width, neutral: vec![neutral], arrays: arrays_of(&[array]), body };
        self.emit_all(op, &[ValueType::scalar(ty.elem)]).pop().unwrap_or(neutral)
    }

    /// An array with values added to its elements, or rows, at indices; outside they are dropped.
    pub fn add_at(&mut self, dest: Atom, index: &[Atom], values: Atom) -> Atom {
        let (Atom::Var(var), [first, ..]) = (dest, index) else { return dest };
        let (ty, shape) = (self.type_of(dest), self.shape(dest));
        let row = self.zeros_of(ty.elem, shape.get(index.len()..).unwrap_or(&[]));
        let op = self.adding(row);
        let width = self.dim(*first, 0);
        let (index, values) = (arrays_of(index), arrays_of(&[values]));
        let hist = Op::Hist { width, dests: vec![var], neutral: vec![row], index, values, op };
        let added = self.emit_all(hist, &[ty]).pop().unwrap_or(dest);
        self.know_shape(added, &shape);
        added
    }

    /// Whether indices lie inside of an array.
    pub fn inside(&mut self, array: Atom, index: &[Atom]) -> Atom {
        let mut inside = Atom::bool(true);
        for (d, at) in index.iter().enumerate() {
            let extent = self.dim(array, d as u32);
            let from = self.size_op(ScalarOp::Ge, *at, Atom::i64(0));
            let to = self.size_op(ScalarOp::Lt, *at, extent);
            let both = self.scalar(ScalarOp::And, ElemType::Bool, &[from, to]);
            inside = self.scalar(ScalarOp::And, ElemType::Bool, &[inside, both]);
        }
        inside
    }

    /// One of two values.
    pub fn choose(
        &mut self,
        cond: Atom,
        ty: ValueType,
        yes: &mut dyn FnMut(&mut FunState) -> Atom,
        no: &mut dyn FnMut(&mut FunState) -> Atom,
    ) -> Atom {
        self.begin(&[]);
        let value = yes(self);
        let then = self.end_sure(vec![value]);
        self.begin(&[]);
        let value = no(self);
        let otherwise = self.end_sure(vec![value]);
        self.emit_all(Op::If { cond, then, otherwise }, &[ty]).pop().unwrap_or(value)
    }
}
