//! Instructions on whole arrays.

use super::Maker;
use super::record::{Known, Named, Recorder, Rows, Step};
use crate::meaning::Range;
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Instr, Operand, RegId, SliceDim, not_on_arrays};
use galopvm_kir::algebra::{add, constant, sub};
use galopvm_kir::{ArrayOp, DimIndex, Exp, Index, Read, ReadId, Rhs, Type, VarId, ViewChange};
use std::rc::Rc;

impl<'a> Recorder<'a> {
    pub(super) fn on_arrays(&mut self, block: BlockId, index: usize, instr: &'a Instr) -> Step<()> {
        let maker = Some(Maker { block, index, result: 0 });
        match instr {
            Instr::Dim { dst, array, dim } => {
                let extent = self.array(*array)?.shape[*dim as usize].clone();
                self.define(dst.0, extent)
            }
            Instr::Index { dst, array, index } => {
                let array = self.array(*array)?;
                let places = self.scalars(index)?;
                self.element(dst.0, &array, places)
            }
            Instr::Slice { dst, array, dims } => {
                let array = self.array(*array)?;
                let (dims, shape) = self.part(&array, dims)?;
                self.show(dst.0, &array, Index::Dims(dims), shape)
            }
            Instr::FlatIndex { dst, array, offset, sizes, strides } => {
                let array = self.array(*array)?;
                let offset = Box::new(self.scalar(*offset)?);
                let (sizes, strides) = (self.scalars(sizes)?, self.scalars(strides)?);
                let shape = [sizes.as_slice(), &array.shape[1..]].concat();
                let dims = sizes.into_iter().zip(strides).collect();
                self.show(dst.0, &array, Index::Lmad { offset, dims }, shape)
            }
            Instr::Update { dst, array, dims, value } => {
                let array = self.array(*array)?;
                let (dims, shape) = self.part(&array, dims)?;
                if let Known::Array(value) = self.known(value.reg)?
                    && differ(&shape, &value.shape)
                {
                    return self.refuse(block, index, "an update with a value of another shape");
                }
                let value = self.operand(*value)?;
                self.update(dst.0, &array, Index::Dims(dims), value)
            }
            Instr::FlatUpdate { dst, array, offset, strides, value } => {
                let array = self.array(*array)?;
                let offset = Box::new(self.scalar(*offset)?);
                let strides = self.scalars(strides)?;
                let value = self.array(*value)?;
                let dims = value.shape.iter().cloned().zip(strides).collect();
                self.update(dst.0, &array, Index::Lmad { offset, dims }, Exp::Var(value.var))
            }
            Instr::Permute { dst, array, perm } => {
                let array = self.array(*array)?;
                let perm: Vec<usize> = perm.iter().map(|dim| *dim as usize).collect();
                let shape = perm.iter().map(|dim| array.shape[*dim].clone()).collect();
                self.make(dst.0, None, shape, seen(ViewChange::Rearrange(perm), array.var)).map(drop)
            }
            Instr::Reverse { dst, array, dim } => {
                let array = self.array(*array)?;
                self.reverse(dst.0, &array, *dim as usize)
            }
            Instr::Reshape { dst, array, shape } => {
                let array = self.array(*array)?;
                let shape = self.scalars(shape)?;
                let rhs = reshape(&shape, array.var);
                self.make(dst.0, None, shape, rhs).map(drop)
            }
            Instr::Concat { dst, arrays, dim } => {
                self.concat((block, index), dst.0, maker, arrays, *dim as usize)
            }
            Instr::Replicate { dst, count, value } => {
                let count = self.scalar(*count)?;
                let row = self.known(value.reg)?;
                let (inner, rows, exp) = match row {
                    Known::Scalar(exp) => (Vec::new(), Some(Rows::Same(exp.clone())), exp),
                    Known::Array(array) => (array.shape.clone(), None, Exp::Var(array.var)),
                };
                let shape = [&[count.clone()][..], &inner].concat();
                let op = ArrayOp::Replicate { shape: vec![count], value: exp };
                self.make(dst.0, maker, shape, Rhs::Array(op))?;
                self.with_rows(dst.0, rows)
            }
            Instr::Iota { dst, ty, count, start, step } => {
                let (count, start) = (self.scalar(*count)?, self.scalar(*start)?);
                let step = self.scalar(*step)?;
                let shape = vec![count.clone()];
                if *ty != ElemType::I64 {
                    return self.call(dst.0, maker, "iota", vec![start, step], shape);
                }
                self.make(dst.0, maker, shape, Rhs::Array(ArrayOp::Iota(count)))?;
                self.with_rows(dst.0, Some(Rows::Steps(start, step)))
            }
            Instr::Array { dst, rank, rows, .. } => {
                self.literal((block, index), dst.0, maker, *rank as usize, rows)
            }
            Instr::Copy { dst, array } => {
                let array = self.array(*array)?;
                let copy = ArrayOp::Copy(Exp::Var(array.var));
                self.make(dst.0, maker, array.shape.clone(), Rhs::Array(copy)).map(drop)
            }
            // It may be the array itself, so all that holds of the array has to hold of it.
            Instr::Manifest { dst, array } => {
                let array = self.array(*array)?;
                let shape = array.shape.clone();
                self.make(dst.0, None, shape, Rhs::Exps(vec![Exp::Var(array.var)])).map(drop)
            }
            Instr::Rotate { dst, array, amount, .. } => {
                let array = self.array(*array)?;
                let amount = self.scalar(*amount)?;
                let args = vec![Exp::Var(array.var), amount];
                self.call(dst.0, maker, "rotate", args, array.shape.clone())
            }
            Instr::Equal { dst, a, b } => {
                let args = vec![self.operand(*a)?, self.operand(*b)?];
                self.define(dst.0, Exp::Opaque("equal".into(), args))
            }
            not_on_arrays!() => self.refuse(block, index, "an instruction that no region describes"),
        }
    }

    /// The element, or the sub-array, at indices of the first dimensions.
    pub(super) fn element(&mut self, dst: RegId, array: &Named, places: Vec<Exp>) -> Step<()> {
        if let (Some(rows), [place]) = (&array.rows, places.as_slice()) {
            self.unread.insert(array.var);
            let row = Recorder::row_of(rows, place.clone());
            return self.define(dst, row);
        }
        let shape = array.shape[places.len()..].to_vec();
        let dims = places.into_iter().map(DimIndex::At).collect();
        self.show(dst, array, Index::Dims(dims), shape)
    }

    /// A part of an array under another name, without a copy; an element if the shape is empty.
    fn show(&mut self, dst: RegId, array: &Named, index: Index, shape: Vec<Exp>) -> Step<()> {
        let id = ReadId(self.region.reads);
        self.region.reads += 1;
        let read = Exp::Read(Read { id, array: array.var, index });
        if !self.is_array(dst) {
            return self.define(dst, read);
        }
        self.make(dst, None, shape, Rhs::Exps(vec![read])).map(drop)
    }

    pub(super) fn update(&mut self, dst: RegId, array: &Named, index: Index, value: Exp) -> Step<()> {
        let rhs = Rhs::Update { array: array.var, index, value };
        self.make(dst, None, array.shape.clone(), rhs).map(drop)
    }

    /// Something that the region does not look into, and that makes a new array.
    pub(super) fn call(
        &mut self,
        dst: RegId,
        maker: Option<Maker>,
        name: &str,
        args: Vec<Exp>,
        shape: Vec<Exp>,
    ) -> Step<()> {
        self.make(dst, maker, shape.clone(), unknown(name, args, shape)).map(drop)
    }

    fn with_rows(&mut self, dst: RegId, rows: Option<Rows>) -> Step<()> {
        let Known::Array(array) = self.known(dst)? else { return Ok(()) };
        self.set(dst, Known::Array(Rc::new(Named { rows, ..Named::clone(&array) })));
        Ok(())
    }

    fn temporary_array(&mut self, elem: ElemType, shape: Vec<Exp>, rhs: Rhs) -> Step<Rc<Named>> {
        let var = self.temporary(Type { elem, shape: shape.clone() });
        self.push(vec![var], rhs)?;
        Ok(Rc::new(Named { var, elem, shape, rows: None }))
    }

    fn swapped(&mut self, array: &Named, dim: usize) -> Step<Rc<Named>> {
        let mut perm: Vec<usize> = (0..array.shape.len()).collect();
        perm.swap(0, dim);
        let shape = perm.iter().map(|dim| array.shape[*dim].clone()).collect();
        self.temporary_array(array.elem, shape, seen(ViewChange::Rearrange(perm), array.var))
    }

    fn reverse(&mut self, dst: RegId, array: &Named, dim: usize) -> Step<()> {
        let reversed = |of| seen(ViewChange::Reverse, of);
        if dim == 0 {
            return self.make(dst, None, array.shape.clone(), reversed(array.var)).map(drop);
        }
        let first = self.swapped(array, dim)?;
        let turned = self.temporary_array(first.elem, first.shape.clone(), reversed(first.var))?;
        let back = self.swapped(&turned, dim)?;
        self.make(dst, None, array.shape.clone(), Rhs::Exps(vec![Exp::Var(back.var)])).map(drop)
    }

    fn concat(
        &mut self,
        (block, index): (BlockId, usize),
        dst: RegId,
        maker: Option<Maker>,
        arrays: &[Operand],
        dim: usize,
    ) -> Step<()> {
        let mut parts = Vec::new();
        for operand in arrays {
            parts.push(self.array(*operand)?);
        }
        let mut shape = parts[0].shape.clone();
        for part in &parts[1..] {
            let others = |shape: &[Exp]| [&shape[..dim], &shape[dim + 1..]].concat();
            if differ(&others(&part.shape), &others(&shape)) {
                return self.refuse(block, index, "a concatenation of arrays of different shapes");
            }
            shape[dim] = add(shape[dim].clone(), part.shape[dim].clone());
        }
        if dim != 0 {
            let args = parts.iter().map(|part| Exp::Var(part.var)).collect();
            return self.call(dst, maker, "concat", args, shape);
        }
        self.join(dst, maker, &parts, shape)
    }

    fn join(&mut self, dst: RegId, maker: Option<Maker>, parts: &[Rc<Named>], shape: Vec<Exp>) -> Step<()> {
        let first = Exp::Var(parts[0].var);
        let rest = parts[1..].iter().map(|part| Exp::Var(part.var)).collect();
        self.make(dst, maker, shape, Rhs::Array(ArrayOp::Concat { first, rest })).map(drop)
    }

    /// `[a, b, ..]`: of one array another shape of it, of several a concatenation.
    fn literal(
        &mut self,
        (block, index): (BlockId, usize),
        dst: RegId,
        maker: Option<Maker>,
        rank: usize,
        rows: &[Operand],
    ) -> Step<()> {
        let count = Exp::int(rows.len() as i64);
        if rank == 1 {
            let args = self.scalars(rows)?;
            return self.call(dst, maker, "array", args, vec![count]);
        }
        let mut parts = Vec::new();
        for row in rows {
            let row = self.array(*row)?;
            let shape = [&[Exp::int(1)][..], &row.shape].concat();
            if rows.len() == 1 {
                let rhs = reshape(&shape, row.var);
                return self.make(dst, None, shape, rhs).map(drop);
            }
            let rhs = reshape(&shape, row.var);
            parts.push(self.temporary_array(row.elem, shape, rhs)?);
        }
        let Some(first) = parts.first() else {
            let empty = vec![Exp::int(0); rank];
            return self.call(dst, maker, "array", Vec::new(), empty);
        };
        if parts.iter().any(|part| differ(&part.shape, &first.shape)) {
            return self.refuse(block, index, "an array of rows of different shapes");
        }
        let shape = [&[count][..], &first.shape[1..]].concat();
        self.join(dst, maker, &parts, shape)
    }

    /// First place and number of places of `start:end:step`, with Futhark's defaults.
    fn range(&mut self, extent: &Exp, start: Option<Exp>, end: Option<Exp>, step: &Exp) -> Step<(Exp, Exp)> {
        let Some(step) = constant(step) else {
            // Which way it goes decides where it begins and ends.
            let start = start.map_or_else(|| self.unknown_size(), Ok)?;
            return Ok((start, self.unknown_size()?));
        };
        let range = Range::new(extent, start, end, step);
        let length = sub(range.high.clone(), range.low.clone());
        // Ends the wrong way round are an error when it runs.
        let is_empty = constant(&length).is_some_and(|length| length <= 0) && step.unsigned_abs() > 1;
        let count = if is_empty { Exp::int(0) } else { range.count(length) };
        Ok((range.first, count))
    }

    /// The dimensions of a slice, and the shape of the part.
    fn part(&mut self, array: &Named, dims: &[SliceDim]) -> Step<(Vec<DimIndex>, Vec<Exp>)> {
        let mut index = Vec::new();
        let mut shape = Vec::new();
        for (dim, extent) in dims.iter().zip(&array.shape) {
            match dim {
                SliceDim::At(at) => index.push(DimIndex::At(self.scalar(*at)?)),
                SliceDim::Range { start, end, step } => {
                    let mut bound = |operand: &Option<Operand>| match operand {
                        Some(operand) => self.scalar(*operand).map(Some),
                        None => Ok(None),
                    };
                    let (start, end) = (bound(start)?, bound(end)?);
                    let step = bound(step)?.unwrap_or(Exp::int(1));
                    let (start, count) = self.range(extent, start, end, &step)?;
                    shape.push(count.clone());
                    index.push(DimIndex::Slice { start, count, step });
                }
            }
        }
        shape.extend_from_slice(&array.shape[dims.len().min(array.shape.len())..]);
        Ok((index, shape))
    }
}

/// `reshape [shape] array`
fn reshape(shape: &[Exp], array: VarId) -> Rhs {
    seen(ViewChange::Reshape(shape.to_vec()), array)
}

/// `array`, seen otherwise.
fn seen(change: ViewChange, array: VarId) -> Rhs {
    Rhs::Array(ArrayOp::View { change, array: Exp::Var(array) })
}

/// `call name(args) [shape]`
pub(super) fn unknown(name: &str, args: Vec<Exp>, shape: Vec<Exp>) -> Rhs {
    Rhs::Array(ArrayOp::Call { function: name.into(), args, shape })
}

/// Whether two shapes are known to be different: whoever relies on the opposite fails when it is executed.
fn differ(a: &[Exp], b: &[Exp]) -> bool {
    let known = |(a, b)| constant(a).zip(constant(b)).is_some_and(|(a, b)| a != b);
    a.len() != b.len() || a.iter().zip(b).any(known)
}
