//! Reads and writes through views.
//!
//! An index is split into what is the same in all lanes and how it moves from lane to lane; the latter decides the
//! instruction: the same place (one load, broadcast where needed), neighbours (vector load), every second place (two of them),
//! neighbours in reverse, or anything (gather). Address arithmetic that does not change in a loop moves out of it by itself (see
//! `lir::build`): terms are added outermost first.

use super::Lower;
use super::primitive::Raw;
use super::value::{Factor, Parts, Rep, Value, lane_of};
use crate::lir::{Addr, Bin, Cond, Lane, Mem, Op, Reg, Width};
use crate::rooms::LINE;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::plan::LEAST_AHEAD;
use galopvm_kir::{DimIndex, Index, Read, Refusal, VarId};
use smallvec::SmallVec;

/// One dimension of a view.
#[derive(Clone, Debug)]
pub struct ViewDim {
    /// Number of places, an `i64`.
    pub extent: Value,
    /// Distance of neighbours in elements.
    pub stride: Factor,
}

/// What is known of an array that the code makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made {
    /// Its address under its first name: others are versions of it.
    pub root: Reg,
    /// Each lane has one, and they are interleaved.
    pub across: bool,
}

/// An array, or a part of one, while its code is lowered.
#[derive(Clone, Debug)]
pub struct View {
    /// Element type.
    pub elem: ElemType,
    /// Address of the element with index 0 everywhere.
    pub base: Reg,
    /// Indices of dimensions that are fixed already.
    pub fixed: Vec<(Value, Factor)>,
    /// The dimensions left.
    pub dims: Vec<ViewDim>,
    /// Whether the code makes it, and how.
    pub made: Option<Made>,
}

/// An address split by lanes.
pub struct Spot {
    /// Registers of the address of lane 0 without `varying`.
    regs: SmallVec<[Reg; 2]>,
    addr: Addr,
    /// Distance of neighbouring lanes in elements.
    step: Factor,
    /// An index for each lane on top.
    varying: Option<Raw>,
}

/// What memory holds for a type.
pub fn mem_of(ty: ElemType) -> Mem {
    match ty {
        ElemType::I8 => Mem::S8,
        ElemType::U8 | ElemType::Bool => Mem::U8,
        ElemType::I16 => Mem::S16,
        ElemType::U16 | ElemType::F16 => Mem::U16,
        ElemType::I32 | ElemType::U32 | ElemType::F32 => Mem::B32,
        ElemType::I64 | ElemType::U64 | ElemType::F64 => Mem::B64,
    }
}

impl Lower<'_> {
    /// A read of one element.
    pub fn read(&mut self, read: &Read) -> Result<Value, Refusal> {
        if let Some(value) = self.fed.get(&read.array) {
            return Ok(value.clone());
        }
        if let Some((axis, view)) = self.packed.get(&read.id).cloned() {
            let at = self.scalar_var(axis)?;
            return Ok(self.load(&view.row(&[at]), false));
        }
        if self.is_flat_read(read) {
            let place = self.flat_view(read.array)?;
            return Ok(self.load(&place, false));
        }
        let checked = self.is_checked(read.id);
        let view = self.indexed(read.array, &read.index, checked)?;
        if !view.dims.is_empty() {
            return Err(Refusal::new(format!("{} is read as an array inside an expression", read.array)));
        }
        self.fetches = self.plan.is_ahead(read.id);
        let value = self.load(&view, checked);
        self.fetches = false;
        Ok(value)
    }

    /// The part of an array that an index selects.
    pub fn indexed(&mut self, array: VarId, index: &Index, checked: bool) -> Result<View, Refusal> {
        let view = self.view(array)?;
        self.part_of(view, index, checked)
    }

    /// The part of a view that an index selects.
    pub fn part_of(&mut self, mut view: View, index: &Index, checked: bool) -> Result<View, Refusal> {
        let Index::Dims(entries) = index else {
            return Err(Refusal::new("an LMAD slice is read"));
        };
        let rest = view.dims.split_off(entries.len().min(view.dims.len()));
        let front = std::mem::replace(&mut view.dims, rest);
        let mut sliced = Vec::new();
        for (entry, dim) in entries.iter().zip(front) {
            match entry {
                DimIndex::At(exp) => {
                    let value = self.exp(exp)?;
                    if checked {
                        self.check_index(&value, &dim.extent);
                    }
                    view.fixed.push((value, dim.stride));
                }
                DimIndex::Slice { start, count, step } => {
                    let (start, count, step) = (self.exp(start)?, self.exp(count)?, self.exp(step)?);
                    if checked {
                        self.check_slice(&start, &count, &step, &dim.extent)?;
                    }
                    let step = match step.rep {
                        Rep::Const(bits) => Factor::Const(bits as i64),
                        Rep::Uniform(reg) => Factor::Reg(reg),
                        _ => return Err(Refusal::new("a slice whose step differs between lanes")),
                    };
                    let stride = self.factor_product(step, dim.stride);
                    sliced.push(ViewDim { extent: count, stride });
                    view.fixed.push((start, dim.stride));
                }
            }
        }
        view.dims.splice(0..0, sliced);
        Ok(view)
    }

    /// Traps unless the count is not negative and first and last place are inside, or there is none.
    fn check_slice(
        &mut self,
        start: &Value,
        count: &Value,
        step: &Value,
        extent: &Value,
    ) -> Result<(), Refusal> {
        // A small step and no more places than the array has: nothing below overflows.
        let small = step.known().is_some_and(|bits| (1..1 << 15).contains(&(bits as i64).abs()));
        if !small {
            return Err(Refusal::new("a slice with a large or unknown step is not proven to be inside"));
        }
        let ty = ElemType::I64;
        let mut op = |op, ty, a: &Value, b: &Value| self.scalar_op(op, ty, &[a.clone(), b.clone()]);
        let zero = Value::int(0);
        let distance = op(ScalarOp::Sub, ty, count, &Value::int(1))?;
        let distance = op(ScalarOp::Mul, ty, &distance, step)?;
        let last = op(ScalarOp::Add, ty, start, &distance)?;
        let mut outside = op(ScalarOp::Lt, ty, extent, count)?;
        for place in [start, &last] {
            let below = op(ScalarOp::Lt, ty, place, &zero)?;
            let beyond = op(ScalarOp::Le, ty, extent, place)?;
            for side in [below, beyond] {
                outside = op(ScalarOp::Or, ElemType::Bool, &outside, &side)?;
            }
        }
        let some = op(ScalarOp::Lt, ty, &zero, count)?;
        let outside = op(ScalarOp::And, ElemType::Bool, &outside, &some)?;
        let negative = op(ScalarOp::Lt, ty, count, &zero)?;
        let bad = op(ScalarOp::Or, ElemType::Bool, &outside, &negative)?;
        if bad.known() != Some(0) {
            let raw = self.raw(&bad, bad.varies());
            self.trap_where(&raw);
        }
        Ok(())
    }

    fn check_index(&mut self, index: &Value, extent: &Value) {
        let limit = self.uniform(extent);
        let below = |l: &mut Self, reg: Reg| {
            let inside = l.b.op(Op::Set(Cond::Below, Width::W64), &[reg, limit]);
            l.trap_unless(inside);
        };
        match &index.rep {
            Rep::Const(_) | Rep::Uniform(_) => {
                let reg = self.uniform(index);
                below(self, reg);
            }
            // Both ends inside means all inside, as long as nothing wraps in between.
            Rep::Linear { start, step: Factor::Const(step) }
                if self.mask.is_none() && step.abs() < 1 << 31 =>
            {
                let last = *step * (self.lane_count() as i64 - 1);
                let end = self.b.int(last);
                let end = self.b.op(Op::Alu(Bin::Add, Width::W64), &[*start, end]);
                below(self, *start);
                below(self, end);
            }
            _ => {
                let (index, limit) = (self.raw(index, true), self.raw(extent, true));
                let outside = self.cmp(Cond::BelowEq, Lane::I64, &limit, &index);
                self.trap_where(&outside);
            }
        }
    }

    /// Adds up the fixed indices of a view without dimensions.
    pub fn spot(&mut self, view: &View) -> Spot {
        let (mut uniform, mut constant) = (Vec::new(), 0i64);
        let across = view.made.is_some_and(|made| made.across);
        let mut step = Factor::Const(i64::from(across));
        let mut varying: Option<Raw> = None;
        for (index, stride) in &view.fixed {
            let start = match &index.rep {
                Rep::Const(bits) => match stride {
                    Factor::Const(s) => {
                        constant = constant.wrapping_add((*bits as i64).wrapping_mul(*s));
                        continue;
                    }
                    Factor::Reg(_) if *bits == 0 => continue,
                    Factor::Reg(r) => self.times(*r, Factor::Const(*bits as i64)),
                },
                Rep::Uniform(reg) => self.times(*reg, *stride),
                Rep::Linear { start, step: s } => {
                    let lane_step = self.factor_product(*s, *stride);
                    step = self.factor_sum(step, lane_step);
                    self.times(*start, *stride)
                }
                Rep::Around { .. } | Rep::Lanes(_) => {
                    let index = self.raw(index, true);
                    let term = match stride {
                        Factor::Const(1) => index,
                        stride => {
                            let reg = self.factor_reg(*stride);
                            let by = Raw::Many(self.parts(&Value::uniform(ElemType::I64, reg)));
                            self.bin(Bin::Mul, Lane::I64, &index, &by)
                        }
                    };
                    varying = Some(match varying {
                        None => term,
                        Some(sum) => self.bin(Bin::Add, Lane::I64, &sum, &term),
                    });
                    continue;
                }
            };
            uniform.push(start);
        }
        let size = view.elem.bytes();
        // What changes least goes in first, so that the sums move out of the loops they do not change in.
        uniform.sort_by_key(|r| self.b.level(*r));
        let last = uniform.pop();
        let mut base = view.base;
        let mut sum: Option<Reg> = None;
        for term in uniform {
            sum = Some(match sum {
                None => term,
                Some(sum) => self.b.op(Op::Alu(Bin::Add, Width::W64), &[sum, term]),
            });
        }
        if let Some(sum) = sum {
            base = self.lea(base, sum, size);
        }
        let bytes = constant.wrapping_mul(size as i64);
        // Room for the offsets of the parts of a vector.
        let disp = match i32::try_from(bytes) {
            Ok(disp) if disp.abs() < 1 << 30 => disp,
            _ => {
                let bytes = self.b.int(bytes);
                base = self.b.op(Op::Alu(Bin::Add, Width::W64), &[base, bytes]);
                0
            }
        };
        let mut regs = SmallVec::from_slice(&[base]);
        regs.extend(last);
        let scale = if last.is_some() { size as u8 } else { 0 };
        Spot { regs, addr: Addr { scale, disp }, step, varying }
    }

    fn memory(&mut self, op: Op, args: &[Reg], stay: bool) -> Reg {
        if stay { self.b.op_here(op, args) } else { self.b.op(op, args) }
    }

    /// The element at a view without dimensions. `stay`: not before what was emitted so far (a check).
    pub fn load(&mut self, view: &View, stay: bool) -> Value {
        if let Some(value) = self.load_around(view, stay) {
            return value;
        }
        let (mem, lane, ty) = (mem_of(view.elem), lane_of(view.elem), view.elem);
        let spot = self.spot(view);
        if spot.varying.is_none() && spot.step == Factor::Const(0) {
            let op = if lane.is_float() { Op::LoadFloat(lane, spot.addr) } else { Op::Load(mem, spot.addr) };
            let reg = self.memory(op, &spot.regs, stay);
            if lane.is_float() && !stay && !self.over && view.made.is_none() {
                self.loads.insert(reg, (lane, spot.addr, Parts::from_slice(&spot.regs)));
            }
            return Value::uniform(ty, reg);
        }
        let direct = self.target.has_masked(mem);
        let mask = self.mask_at(view, &spot);
        let raw = match (&spot.varying, spot.step, mask) {
            (None, Factor::Const(1), None) => self.load_neighbours(mem, lane, &spot, None, stay),
            (None, Factor::Const(1), Some(mask)) if direct => {
                self.load_neighbours(mem, lane, &spot, Some(mask), stay)
            }
            (None, Factor::Const(2), None) => self.load_alternate(mem, lane, &spot, stay),
            (None, Factor::Const(-1), None) => self.load_reversed(mem, lane, &spot, stay),
            (None, step, None) if step != Factor::Const(0) && !self.target.has_quick_gather(mem) => {
                let (spaced, distance) = self.spaced(mem, lane, &spot);
                let load = |first: &Reg| self.memory(Op::LoadSpaced(mem), &[*first, distance], stay);
                Raw::Many(spaced.iter().map(load).collect())
            }
            _ => self.gather(mem, lane, &spot, stay),
        };
        self.as_read(ty, raw)
    }

    /// What was read as a value of its type.
    pub fn as_read(&mut self, ty: ElemType, raw: Raw) -> Value {
        if ty == ElemType::Bool {
            let zero = self.raw_const(Lane::I32, 0, true);
            return self.cmp(Cond::Ne, Lane::I32, &raw, &zero).typed(ty);
        }
        raw.typed(ty)
    }

    /// The lanes that may go to a place of a view. Where each lane has an array of its own and all go to the same index, those
    /// behind the end of an axis go along: nobody looks at what is theirs, and masked stores cost more.
    fn mask_at(&self, view: &View, spot: &Spot) -> Option<Parts> {
        let same_index = spot.varying.is_none() && spot.step == Factor::Const(1);
        let is_own = same_index && view.made.is_some_and(|made| made.across);
        self.mask.clone().filter(|mask| !(is_own && self.rest == mask.first().copied()))
    }

    /// Lanes of one register with these lanes.
    fn lanes_per_part(&self, lane: Lane) -> usize {
        self.target.vectors().bytes() / lane.bytes()
    }

    pub fn load_neighbours(
        &mut self,
        mem: Mem,
        lane: Lane,
        spot: &Spot,
        mask: Option<Parts>,
        stay: bool,
    ) -> Raw {
        let per_part = self.lanes_per_part(lane);
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        if self.fetches {
            self.fetch_next(count * per_part * mem.bytes(), spot);
        }
        let parts = (0..count)
            .map(|k| {
                let addr = Addr { disp: spot.addr.disp + (k * per_part * mem.bytes()) as i32, ..spot.addr };
                match &mask {
                    None => self.memory(Op::VLoad(mem, addr), &spot.regs, stay),
                    Some(masks) => {
                        let mut args: Parts = SmallVec::from_slice(&[self.part_mask(masks, lane, k)]);
                        args.extend(spot.regs.iter().copied());
                        self.memory(Op::VLoadMask(mem, addr), &args, stay)
                    }
                }
            })
            .collect();
        Raw::Many(parts)
    }

    /// Fetches what follows these bytes, which the next turn of the lanes reads or writes. Where a turn takes little, it would come
    /// too late: then what a later turn takes.
    fn fetch_next(&mut self, bytes: usize, spot: &Spot) {
        for line in (0..bytes).step_by(LINE) {
            let disp = spot.addr.disp + (bytes.max(LEAST_AHEAD) + line) as i32;
            self.b.act(Op::Prefetch(Addr { disp, ..spot.addr }), &spot.regs);
        }
    }

    /// Every second place, the first and the last one included: nothing outside of them is touched.
    fn load_alternate(&mut self, mem: Mem, lane: Lane, spot: &Spot, stay: bool) -> Raw {
        let per_part = self.lanes_per_part(lane);
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        let parts = (0..count)
            .map(|k| {
                let first = 2 * k * per_part;
                let both = [first, first + per_part - 1].map(|place| {
                    let addr = Addr { disp: spot.addr.disp + (place * mem.bytes()) as i32, ..spot.addr };
                    self.memory(Op::VLoad(mem, addr), &spot.regs, stay)
                });
                self.b.op(Op::Alternate(lane), &both)
            })
            .collect();
        Raw::Many(parts)
    }

    fn load_reversed(&mut self, mem: Mem, lane: Lane, spot: &Spot, stay: bool) -> Raw {
        let per_part = self.lanes_per_part(lane);
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        let parts = (0..count)
            .map(|k| {
                let last = ((k + 1) * per_part - 1) * mem.bytes();
                let addr = Addr { disp: spot.addr.disp - last as i32, ..spot.addr };
                let forward = self.memory(Op::VLoad(mem, addr), &spot.regs, stay);
                self.b.op(Op::Reverse(lane.as_int()), &[forward])
            })
            .collect();
        Raw::Many(parts)
    }

    /// The address of lane 0 in one register, and the 64-bit index of each lane on top of it.
    fn scattered(&mut self, spot: &Spot) -> (Reg, Parts) {
        let base = self.b.op(Op::Lea(spot.addr), &spot.regs);
        let linear = match spot.step {
            Factor::Const(0) => None,
            step => {
                let zero = self.b.int(0);
                let rep = Rep::Linear { start: zero, step };
                Some(Raw::Many(self.parts(&Value { ty: ElemType::I64, rep })))
            }
        };
        let sum = match (&spot.varying, linear) {
            (Some(varying), Some(linear)) => self.bin(Bin::Add, Lane::I64, varying, &linear),
            (Some(varying), None) => varying.clone(),
            (None, Some(linear)) => linear,
            (None, None) => self.raw_const(Lane::I64, 0, true),
        };
        match sum {
            Raw::Many(parts) => (base, parts),
            Raw::One(reg) => (base, SmallVec::from_slice(&[reg])),
        }
    }

    /// Where lanes are at equal distances: the first address of each register of them, and the distance in bytes.
    fn spaced(&mut self, mem: Mem, lane: Lane, spot: &Spot) -> (Parts, Reg) {
        let distance = self.factor_product(spot.step, Factor::Const(mem.bytes() as i64));
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        let further = self.factor_product(distance, Factor::Const(self.lanes_per_part(lane) as i64));
        let mut firsts: Parts = SmallVec::from_slice(&[self.b.op(Op::Lea(spot.addr), &spot.regs)]);
        for k in 1..count {
            let further = self.factor_reg(further);
            firsts.push(self.b.op(Op::Alu(Bin::Add, Width::W64), &[firsts[k - 1], further]));
        }
        (firsts, self.factor_reg(distance))
    }

    fn gather(&mut self, mem: Mem, lane: Lane, spot: &Spot, stay: bool) -> Raw {
        let (base, indices) = self.scattered(spot);
        let masks = self.mask_or_all();
        let op = if mem.bytes() >= 4 { Op::Gather(mem) } else { Op::GatherEach(mem) };
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        let parts = (0..count)
            .map(|k| {
                let mask = self.part_mask(&masks, lane, k);
                let mut args: Parts = SmallVec::from_slice(&[mask, base]);
                if lane.is_wide() {
                    args.push(indices[k]);
                } else {
                    args.extend_from_slice(&indices[2 * k..2 * k + 2]);
                }
                self.memory(op, &args, stay)
            })
            .collect();
        Raw::Many(parts)
    }

    /// Stores a value at a view without dimensions.
    pub fn store(&mut self, view: &View, value: &Value) {
        let (mem, mut lane) = (mem_of(view.elem), lane_of(view.elem));
        let spot = self.spot(view);
        if self.lanes.is_none() {
            let reg = self.uniform(value);
            let mut args: Parts = SmallVec::from_slice(&[reg]);
            args.extend(spot.regs.iter().copied());
            let op =
                if lane.is_float() { Op::StoreFloat(lane, spot.addr) } else { Op::Store(mem, spot.addr) };
            self.b.act(op, &args);
            return;
        }
        let mut raw = self.raw(value, true);
        if view.elem == ElemType::Bool {
            let (one, zero) = (self.raw_const(Lane::I32, 1, true), self.raw_const(Lane::I32, 0, true));
            raw = self.select(&raw, Lane::I32, &one, &zero);
            lane = Lane::I32;
        }
        let Raw::Many(parts) = raw else { return };
        let per_part = self.lanes_per_part(lane);
        let direct = self.target.has_masked(mem);
        let neighbours = spot.varying.is_none() && spot.step == Factor::Const(1);
        let mask = self.mask_at(view, &spot);
        if neighbours && (mask.is_none() || direct) {
            if self.readies && !self.stream {
                self.fetch_next(parts.len() * per_part * mem.bytes(), &spot);
            }
            for (k, part) in parts.iter().enumerate() {
                let addr = Addr { disp: spot.addr.disp + (k * per_part * mem.bytes()) as i32, ..spot.addr };
                let mut args: Parts = SmallVec::from_slice(&[*part]);
                let op = match &mask {
                    None => Op::VStore(mem, addr, self.stream && mem.bytes() >= 4),
                    Some(masks) => {
                        args.push(self.part_mask(masks, lane, k));
                        Op::VStoreMask(mem, addr)
                    }
                };
                args.extend(spot.regs.iter().copied());
                self.b.act(op, &args);
            }
            return;
        }
        if mask.is_none() && spot.varying.is_none() && spot.step != Factor::Const(0) {
            let (firsts, distance) = self.spaced(mem, lane, &spot);
            for (part, first) in parts.iter().zip(firsts) {
                self.b.act(Op::StoreSpaced(mem), &[*part, first, distance]);
            }
            return;
        }
        let (base, indices) = self.scattered(&spot);
        let masks = self.mask_or_all();
        for (k, part) in parts.iter().enumerate() {
            let mask = self.part_mask(&masks, lane, k);
            let mut args: Parts = SmallVec::from_slice(&[*part, mask, base]);
            if lane.is_wide() {
                args.push(indices[k]);
            } else {
                args.extend_from_slice(&indices[2 * k..2 * k + 2]);
            }
            self.b.act(Op::ScatterEach(mem), &args);
        }
    }
}
