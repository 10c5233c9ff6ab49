//! Arrays of a lane program: views, which only compute numbers, and fresh arrays.

use super::program::{Across, Number, Part, Step, Value, View};
use super::translate::Translator;
use crate::interpret::refused::{Made, Refused};
use galopvm_bytecode::{Def, Instr, Operand, SliceDim};
use smallvec::SmallVec;

impl<'a> Translator<'a> {
    pub(super) fn array_instruction(&mut self, instr: &'a Instr) -> Made<()> {
        match instr {
            Instr::Dim { dst, array, dim } => {
                let view = self.view(array.reg)?;
                self.values.insert(dst.0, Value::One(view.dims[*dim as usize].0));
            }
            Instr::Index { dst, array, index } => {
                let view = self.view(array.reg)?;
                let index: Made<Vec<Value>> = index.iter().map(|i| self.value(i.reg)).collect();
                let part = self.at(&view, &index?)?;
                self.define_part(*dst, part)?;
            }
            Instr::Slice { dst, array, dims } => {
                let view = self.view(array.reg)?;
                let part = self.slice(&view, dims)?;
                self.define_part(*dst, part)?;
            }
            Instr::Update { dst, array, dims, value } => self.update(*dst, *array, dims, *value)?,
            Instr::Permute { dst, array, perm } => {
                let mut view = self.view(array.reg)?;
                view.dims = perm.iter().map(|d| view.dims[*d as usize]).collect();
                self.define_view(dst.0, view);
            }
            Instr::Reverse { dst, array, dim } => {
                let mut view = self.view(array.reg)?;
                let (size, stride) = view.dims[*dim as usize];
                let from = Part { offset: view.offset, size, stride };
                let to = Part { offset: self.number(), size, stride: self.number() };
                self.emit(Step::Reverse { from, to });
                view.offset = to.offset;
                view.dims[*dim as usize].1 = to.stride;
                self.define_view(dst.0, view);
            }
            Instr::Reshape { dst, array, shape } => {
                let from = self.view(array.reg)?;
                let shape = self.ones(shape)?;
                let mut to = from.clone();
                let spare = self.base();
                (to.base, to.offset) = (self.number(), self.number());
                to.dims = shape.iter().map(|_| (self.number(), self.number())).collect();
                if let Across::Stride(_) = from.across {
                    to.across = Across::Stride(self.number());
                }
                // Where it is a copy, nobody else sees it; that is not known here.
                self.emit(Step::Reshape { from, to: to.clone(), shape, spare });
                self.define_view(dst.0, to);
            }
            Instr::FlatIndex { dst, array, offset, sizes, strides } => {
                let from = self.view(array.reg)?;
                let (offset, sizes) = (self.one(offset.reg)?, self.ones(sizes)?);
                let strides = self.ones(strides)?;
                let mut to = from.clone();
                to.offset = self.number();
                to.overlaps = true;
                let rows = sizes.iter().map(|_| (self.number(), self.number()));
                to.dims = rows.chain(from.dims[1..].iter().copied()).collect();
                self.emit(Step::Flat { from, to: to.clone(), offset, sizes, strides });
                self.define_view(dst.0, to);
            }
            // Whoever writes to the result sees that somebody else has the array, and copies it.
            Instr::Copy { dst, array } | Instr::Manifest { dst, array } => {
                let view = self.view(array.reg)?;
                self.define_view(dst.0, view);
            }
            Instr::Replicate { dst, count, value } => self.replicate(*dst, *count, *value)?,
            Instr::Iota { dst, count, start, step, .. } => {
                let (count, start, step) = (self.one(count.reg)?, self.one(start.reg)?, self.one(step.reg)?);
                let to = self.own_view(self.elem(dst.0), 1, false);
                self.emit(Step::Iota { to: to.clone(), count, start, step });
                self.define_view(dst.0, to);
            }
            Instr::Array { dst, ty, rank, rows } => {
                let to = self.own_view(*ty, *rank as usize, self.varies(dst.0));
                let width = self.constant(rows.len() as u64);
                if *rank == 1 {
                    if self.varies(dst.0) {
                        self.need(std::iter::once(width), *ty);
                    }
                    self.emit(Step::Reserve { to: to.clone(), sizes: std::iter::once(width).collect() });
                } else if rows.is_empty() {
                    return Err(Refused::Because("an array literal without rows"));
                }
                for (k, row) in rows.iter().enumerate() {
                    let index = self.constant(k as u64);
                    if *rank == 1 {
                        let value = self.value(row.reg)?;
                        let place = self.part(&to, index);
                        self.store(&place, value, None)?;
                    } else {
                        let from = self.view(row.reg)?;
                        self.emit(Step::PutRow { from, to: to.clone(), index, width });
                    }
                }
                self.define_view(dst.0, to);
            }
            Instr::Rotate { dst, array, dim, amount } => {
                let (from, amount) = (self.view(array.reg)?, self.one(amount.reg)?);
                let to = self.like(&from);
                self.emit(Step::Rotate { from, to: to.clone(), dim: *dim as usize, amount });
                self.define_view(dst.0, to);
            }
            Instr::Concat { dst, arrays, dim } => {
                let parts: Made<Vec<View>> = arrays.iter().map(|array| self.view(array.reg)).collect();
                let parts = parts?;
                let ty = self.function.regs[dst.0];
                let to = self.own_view(ty.elem, ty.rank as usize, self.varies(dst.0));
                for part in parts.iter().filter(|_| to.across != Across::Same) {
                    self.need(part.dims.iter().map(|(size, _)| *size), ty.elem);
                }
                self.emit(Step::Concat { parts, to: to.clone(), dim: *dim as usize });
                self.define_view(dst.0, to);
            }
            _ => return Err(Refused::instruction(instr)),
        }
        Ok(())
    }

    /// A fresh view for an array of the same type, extents and rows.
    fn like(&mut self, from: &View) -> View {
        let lanes = from.across != Across::Same;
        if lanes {
            self.need(from.dims.iter().map(|(size, _)| *size), from.elem);
        }
        self.own_view(from.elem, from.dims.len(), lanes)
    }

    fn define_part(&mut self, dst: Def, part: View) -> Made<()> {
        if self.is_array(dst.0) {
            self.define_view(dst.0, part);
        } else {
            let value = self.load(&part)?;
            self.values.insert(dst.0, value);
        }
        Ok(())
    }

    /// The row at an index that is known to be inside.
    pub(super) fn part(&mut self, view: &View, index: Number) -> View {
        let mut part = view.clone();
        let (_, stride) = part.dims.remove(0);
        part.offset = self.number();
        self.emit(Step::Advance { dst: part.offset, offset: view.offset, index, stride });
        part
    }

    /// A view at an index of dimension `dim`.
    fn fixed(&mut self, view: &View, dim: usize, index: Value) -> Made<View> {
        let mut part = view.clone();
        let (size, stride) = part.dims.remove(dim);
        match index {
            Value::One(index) => {
                self.emit(Step::Inside { index, size });
                part.offset = self.number();
                self.emit(Step::Advance { dst: part.offset, offset: view.offset, index, stride });
            }
            Value::Many(index) => {
                let dst = self.lane(8)?;
                let mask = self.mask;
                self.emit(Step::AdvanceEach { dst, from: view.across, index, size, stride, mask });
                part.across = Across::Each(dst);
            }
        }
        Ok(part)
    }

    fn at(&mut self, view: &View, index: &[Value]) -> Made<View> {
        let mut part = view.clone();
        for index in index {
            part = self.fixed(&part, 0, *index)?;
        }
        Ok(part)
    }

    fn slice(&mut self, view: &View, dims: &[SliceDim]) -> Made<View> {
        let mut part = view.clone();
        let mut at = 0;
        for dim in dims {
            match dim {
                SliceDim::At(index) => {
                    let index = self.value(index.reg)?;
                    part = self.fixed(&part, at, index)?;
                }
                SliceDim::Range { start: None, end: None, step: None } => at += 1,
                SliceDim::Range { start, end, step } => {
                    let mut number = |operand: &Option<Operand>| -> Made<Option<Number>> {
                        operand.map(|operand| self.one(operand.reg)).transpose()
                    };
                    let (start, end, step) = (number(start)?, number(end)?, number(step)?);
                    let (size, stride) = part.dims[at];
                    let from = Part { offset: part.offset, size, stride };
                    let to = Part { offset: self.number(), size: self.number(), stride: self.number() };
                    self.emit(Step::Range { from, to, start, end, step });
                    part.offset = to.offset;
                    part.dims[at] = (to.size, to.stride);
                    at += 1;
                }
            }
        }
        Ok(part)
    }

    /// The element of a view without dimensions.
    pub(super) fn load(&mut self, view: &View) -> Made<Value> {
        let dst = match view.across {
            Across::Same => Value::One(self.number()),
            _ => Value::Many(self.lane(view.width())?),
        };
        if let Across::Stride(_) = view.across {
            self.read_from_param(view.owner);
        }
        let (base, offset, across) = (view.base, view.offset, view.across);
        self.emit(Step::Load { dst, base, offset, across, width: view.width() });
        Ok(dst)
    }

    /// Elements of the operator's arrays that are read more often than once are brought together first.
    fn read_from_param(&mut self, owner: usize) {
        let depth = self.depth();
        let Some(k) = self.program.params.iter().position(|param| param.row.owner == owner) else { return };
        let rank = self.program.params[k].row.dims.len();
        if rank == 0 || depth <= rank {
            self.weigh(-1.0);
        } else if self.program.params[k].packed.is_none() {
            let base = self.base();
            let row = self.program.params[k].row.clone();
            self.need(row.dims.iter().map(|(size, _)| *size), row.elem);
            self.program.params[k].packed = Some(base);
        }
    }

    /// Stores to a place of an array of the program's own.
    pub(super) fn store(
        &mut self,
        place: &View,
        value: Value,
        mask: Option<super::program::Lane>,
    ) -> Made<()> {
        let value = match place.across {
            Across::Same => match value {
                Value::One(_) => value,
                Value::Many(_) => {
                    return Err(Refused::Because(
                        "elements that differ from row to row in an array that is the same for all",
                    ));
                }
            },
            _ => Value::Many(self.many(value, place.elem)?),
        };
        let (base, offset, across, width) = (place.base, place.offset, place.across, place.width());
        self.emit(Step::Store { base, offset, across, width, value, mask });
        Ok(())
    }

    fn replicate(&mut self, dst: Def, count: Operand, value: Operand) -> Made<()> {
        let count = self.one(count.reg)?;
        self.emit(Step::Width { width: count, extents: Vec::new(), least: 0 });
        let varies = self.varies(dst.0);
        let to = if self.is_array(value.reg) {
            let mut from = self.view(value.reg)?;
            let zero = self.constant(0);
            from.dims.insert(0, (count, zero));
            let varies = from.across != Across::Same;
            self.materialize(from, varies)
        } else {
            let value = self.value(value.reg)?;
            let lanes = varies && matches!(value, Value::Many(_));
            let to = self.own_view(self.elem(dst.0), 1, lanes);
            if lanes {
                self.need(std::iter::once(count), to.elem);
            }
            self.emit(Step::Fill { to: to.clone(), count, value });
            to
        };
        self.define_view(dst.0, to);
        Ok(())
    }

    /// The array as one that may be written to: itself if nobody else sees it.
    fn writable(&mut self, array: Operand, lanes: bool) -> Made<View> {
        let view = self.view(array.reg)?;
        let others = self.alive.iter().any(|(reg, owner)| *reg != array.reg && *owner == view.owner);
        let fits = lanes == (view.across != Across::Same);
        // Rows that a branch leaves out still see a common array as it was.
        let is_common = !lanes && self.mask.is_some();
        if array.last && !others && fits && !view.overlaps && !is_common && self.own.contains(&view.owner) {
            return Ok(view);
        }
        Ok(self.materialize(view, lanes))
    }

    fn update(&mut self, dst: Def, array: Operand, dims: &[SliceDim], value: Operand) -> Made<()> {
        let view = self.writable(array, self.varies(dst.0))?;
        let mut part = self.slice(&view, dims)?;
        if part.across != view.across && view.across == Across::Same {
            return Err(Refused::Because(
                "a part that differs from row to row of an array that is the same for all",
            ));
        }
        if self.is_array(value.reg) {
            let mut from = self.view(value.reg)?;
            if from.owner == view.owner {
                from = self.materialize(from.clone(), from.across != Across::Same);
            }
            if part.across == Across::Same && from.across != Across::Same {
                return Err(Refused::Because(
                    "elements that differ from row to row in an array that is the same for all",
                ));
            }
            let mask = self.mask;
            self.emit(Step::Assign { from, to: part, mask });
        } else {
            let value = self.value(value.reg)?;
            part.dims = SmallVec::new();
            let mask = self.mask;
            self.store(&part, value, mask)?;
        }
        self.alive.remove(&array.reg);
        self.define_view(dst.0, view);
        Ok(())
    }
}
