//! A lane program at work.

use super::memory::{Bases, Rows};
use super::program::{Across, Lane, Number, Program, Step, Value, View};
use crate::interpret::Interpreter;
use crate::interpret::machine::functions;
use galopvm_base::Bits;
use galopvm_base::scalar::eval2;
use galopvm_lmad::{Dim, Lmad};
use galopvm_store::array::{load, store, view};
use galopvm_store::error::{RuntimeError, Trap};
use galopvm_store::memory::{Memory, OutOfMemory};
use galopvm_vector::loops;
use smallvec::SmallVec;

/// Why a program does not go on.
pub(super) enum Stopped {
    /// Something may trap, or has another shape: others execute the operator, and say what it is.
    GivesUp,
    /// The end of everything.
    Error(Box<RuntimeError>),
}

impl From<Trap> for Stopped {
    fn from(trap: Trap) -> Stopped {
        Stopped::Error(trap.into())
    }
}

impl From<OutOfMemory> for Stopped {
    fn from(_: OutOfMemory) -> Stopped {
        // Row by row may take less.
        Stopped::GivesUp
    }
}

pub(super) type Done = Result<(), Stopped>;

/// Turns of a reduction between two looks at whether to go on.
const DOT_TURNS: i64 = 1 << 14;

fn unless(holds: bool) -> Done {
    if holds { Ok(()) } else { Err(Stopped::GivesUp) }
}

/// A program with its values.
pub(super) struct Running<'v> {
    pub(super) program: &'v Program,
    pub(super) numbers: Vec<Bits>,
    pub(super) lanes: Vec<Vec<u8>>,
    pub(super) bases: Bases<'v>,
    /// How many rows there are in this group, and at most.
    pub(super) len: usize,
    pub(super) capacity: usize,
    pub(super) memory: &'v Memory,
}

impl<'v> Running<'v> {
    pub(super) fn new(program: &'v Program, memory: &'v Memory) -> Running<'v> {
        Running {
            program,
            numbers: vec![0; program.numbers],
            lanes: Vec::new(),
            bases: Bases::new(program.bases),
            len: 0,
            capacity: 0,
            memory,
        }
    }

    /// Makes room for groups of so many rows.
    pub(super) fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.len = capacity;
        self.set(self.program.capacity, capacity as i64);
        self.lanes = self.program.lanes.iter().map(|width| vec![0; width * capacity]).collect();
    }

    pub(super) fn int(&self, number: Number) -> i64 {
        self.numbers[number as usize] as i64
    }

    pub(super) fn set(&mut self, number: Number, value: i64) {
        self.numbers[number as usize] = value as Bits;
    }

    fn bits(&self, number: Number) -> Bits {
        self.numbers[number as usize]
    }

    pub(super) fn lane(&self, lane: Lane) -> &[u8] {
        let width = self.program.lanes[lane as usize];
        &self.lanes[lane as usize][..self.len * width]
    }

    /// Writes a lane register while others are read. What is written must not be read: its old value is away.
    fn write<T>(&mut self, lane: Lane, f: impl FnOnce(&Self, &mut [u8]) -> T) -> T {
        let mut out = std::mem::take(&mut self.lanes[lane as usize]);
        let bytes = self.len * self.program.lanes[lane as usize];
        let done = f(self, &mut out[..bytes]);
        self.lanes[lane as usize] = out;
        done
    }

    pub(super) fn dims(&self, view: &View) -> galopvm_lmad::Dims {
        view.dims.iter().map(|(size, stride)| Dim::new(self.int(*size), self.int(*stride))).collect()
    }

    /// The view of the first row's array.
    pub(super) fn lmad(&self, view: &View) -> Lmad {
        Lmad { offset: self.int(view.offset), dims: self.dims(view) }
    }

    fn set_view(&mut self, to: &View, lmad: &Lmad) {
        self.set(to.offset, lmad.offset);
        self.set_dims(to, lmad);
    }

    pub(super) fn set_dims(&mut self, to: &View, lmad: &Lmad) {
        for ((size, stride), dim) in to.dims.iter().zip(&lmad.dims) {
            self.set(*size, dim.size);
            self.set(*stride, dim.stride);
        }
    }

    pub(super) fn base(&self, view: &View) -> usize {
        self.bits(view.base) as usize
    }

    pub(super) fn rows(&self, across: Across) -> Rows<'_> {
        match across {
            Across::Same => Rows::Stride(0),
            Across::Stride(stride) => Rows::Stride(self.int(stride)),
            Across::Each(lane) => Rows::Each(self.lane(lane)),
        }
    }

    pub(super) fn sizes(&self, view: &View) -> SmallVec<[i64; 4]> {
        view.dims.iter().map(|(size, _)| self.int(*size)).collect()
    }

    /// A fresh array of the program's own.
    fn reserve(&mut self, to: &View, sizes: &[i64]) -> Done {
        let lanes = if to.across == Across::Same { 1 } else { self.capacity as i64 };
        let mut lmad = Lmad::row_major(sizes);
        let elements = lmad.elements().max(0);
        let bytes = i128::from(elements) * i128::from(lanes) * to.width() as i128;
        let bytes = usize::try_from(bytes).ok().filter(|_| elements < i64::MAX);
        lmad.dims.iter_mut().for_each(|dim| dim.stride = dim.stride.saturating_mul(lanes));
        self.set_dims(to, &lmad);
        self.bases.reserve(self.memory, to.owner, bytes.ok_or(Stopped::GivesUp)?)?;
        Ok(())
    }

    /// Copies elements to a view of the same shape, for the rows of a mask.
    fn assign(&mut self, from: &View, to: &View, mask: Option<Lane>) -> Done {
        let (source, target) = (self.base(from), self.base(to));
        let (from_lmad, to_lmad) = (self.lmad(from), self.lmad(to));
        self.copy((source, from_lmad, from.across), (target, to_lmad, to.across), to.width(), mask)
    }

    /// The same for any bases and views.
    fn copy(
        &mut self,
        (source, from, from_across): (usize, Lmad, Across),
        (target, to, to_across): (usize, Lmad, Across),
        width: usize,
        mask: Option<Lane>,
    ) -> Done {
        let mut out = self.bases.take(target);
        // Of the same base there are elements to read as they were.
        let before = if source == target { out.bytes().to_vec() } else { Vec::new() };
        let bytes = if source == target { &before[..] } else { self.bases.bytes(source) };
        let rows = (self.rows(from_across), self.rows(to_across));
        let mask = mask.map(|mask| self.lane(mask));
        let len = if to_across == Across::Same { 1 } else { self.len };
        let mut outcome = Ok(());
        if let Some(target) = out.bytes_mut() {
            let (target, source) = ((target, &to), (bytes, &from));
            outcome = super::memory::copy_rows(self.memory, target, source, rows, width, len, mask);
        }
        self.bases.put(target, out);
        Ok(outcome?)
    }
}

impl Interpreter<'_> {
    /// Executes steps for the rows of a group.
    pub(super) fn lane_steps(&mut self, run: &mut Running<'_>, steps: &[Step]) -> Done {
        steps.iter().try_for_each(|step| self.lane_step(run, step))
    }

    fn lane_step(&mut self, run: &mut Running<'_>, step: &Step) -> Done {
        match step {
            Step::One1 { run: function, dst, a } => run.numbers[*dst as usize] = function(run.bits(*a)),
            Step::One2 { run: function, dst, a, b } => match function(run.bits(*a), run.bits(*b)) {
                Ok(bits) => run.numbers[*dst as usize] = bits,
                Err(_) => return Err(Stopped::GivesUp),
            },
            Step::One3 { op, ty, dst, args: [a, b, c] } => {
                run.numbers[*dst as usize] =
                    functions::ternary(*op, *ty, run.bits(*a), run.bits(*b), run.bits(*c));
            }
            Step::Move { dst, a } => run.numbers[*dst as usize] = run.bits(*a),
            Step::Many1 { run: kernel, dst, a } => run.write(*dst, |run, out| kernel(out, run.lane(*a))),
            Step::Many2 { run: kernel, dst, a, b, op, ty, mask } => {
                let trapped = run.write(*dst, |run, out| kernel(out, run.lane(*a), run.lane(*b)));
                if trapped {
                    let Some(mask) = mask else { return Err(Stopped::GivesUp) };
                    let (a, b) = (run.lane(*a), run.lane(*b));
                    let width = ty.bytes();
                    let counts = run.lane(*mask).iter().enumerate().filter(|(_, counts)| **counts != 0);
                    for (k, _) in counts {
                        let (a, b) = (load(a, width, k as i64), load(b, width, k as i64));
                        unless(eval2(*op, *ty, a, b).is_ok())?;
                    }
                }
            }
            Step::Many3 { run: kernel, dst, a, b, c } => {
                run.write(*dst, |run, out| kernel(out, run.lane(*a), run.lane(*b), run.lane(*c)));
            }
            Step::Splat { dst, a } => {
                let width = run.program.lanes[*dst as usize];
                run.write(*dst, |run, out| loops::splat(out, width, run.bits(*a)));
            }
            Step::Copy { dst, a } => run.write(*dst, |run, out| out.copy_from_slice(run.lane(*a))),
            Step::Swap { a, b } => run.lanes.swap(*a as usize, *b as usize),
            Step::Narrow { dst, outer, cond, holds } => run.write(*dst, |run, out| {
                let cond = run.lane(*cond);
                match outer.map(|outer| run.lane(outer)) {
                    None => {
                        out.iter_mut().zip(cond).for_each(|(out, c)| *out = u8::from((*c != 0) == *holds))
                    }
                    Some(outer) => {
                        out.iter_mut().zip(cond.iter().zip(outer)).for_each(|(out, (c, outer))| {
                            *out = u8::from(((*c != 0) == *holds) & (*outer != 0));
                        })
                    }
                }
            }),
            Step::Inside { index, size } => unless(run.bits(*index) < run.bits(*size))?,
            Step::Advance { dst, offset, index, stride } => {
                let place = run.int(*offset).wrapping_add(run.int(*index).wrapping_mul(run.int(*stride)));
                run.set(*dst, place);
            }
            Step::AdvanceEach { dst, from, index, size, stride, mask } => {
                let outside = run.write(*dst, |run, out| {
                    match run.rows(*from) {
                        Rows::Each(from) => out.copy_from_slice(from),
                        Rows::Stride(stride) => {
                            for (k, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
                                *out = (k as i64).wrapping_mul(stride).to_le_bytes();
                            }
                        }
                    }
                    let mask = mask.map(|mask| run.lane(mask));
                    loops::advance(out, run.lane(*index), mask, run.int(*size), run.int(*stride))
                });
                unless(!outside)?;
            }
            Step::Load { dst, base, offset, across, width } => {
                let offset = run.int(*offset);
                let base = run.bits(*base) as usize;
                match *dst {
                    Value::One(dst) => {
                        run.numbers[dst as usize] = load(run.bases.bytes(base), *width, offset);
                    }
                    Value::Many(dst) => run.write(dst, |run, out| {
                        super::memory::read_rows(
                            out,
                            run.bases.bytes(base),
                            offset,
                            run.rows(*across),
                            *width,
                        );
                    }),
                }
            }
            Step::Store { base, offset, across, width, value, mask } => {
                let offset = run.int(*offset);
                let base = run.bits(*base) as usize;
                let mut target = run.bases.take(base);
                if let Some(bytes) = target.bytes_mut() {
                    match *value {
                        Value::One(value) => store(bytes, *width, offset, run.bits(value)),
                        Value::Many(value) => {
                            let mask = mask.map(|mask| run.lane(mask));
                            let values = run.lane(value);
                            super::memory::write_rows(bytes, offset, run.rows(*across), *width, values, mask);
                        }
                    }
                }
                run.bases.put(base, target);
            }
            Step::Check { cond: Value::One(cond), .. } => unless(run.bits(*cond) != 0)?,
            Step::Check { cond: Value::Many(cond), mask } => {
                unless(!loops::fails(run.lane(*cond), mask.map(|mask| run.lane(mask))))?;
            }
            Step::Fail => return Err(Stopped::GivesUp),
            Step::Width { width, extents, least } => {
                let same = extents.iter().all(|extent| run.bits(*extent) == run.bits(*width));
                unless(same && run.int(*width) >= *least)?;
            }
            Step::Loop { counter, bound, cost, steps } => {
                let bound = run.int(*bound);
                for k in 0..bound {
                    run.set(*counter, k);
                    self.pay(cost.saturating_mul(run.len as u64)).map_err(Stopped::Error)?;
                    self.lane_steps(run, steps)?;
                }
            }
            Step::While { test, answer, cost, steps } => loop {
                self.lane_steps(run, test)?;
                if run.bits(*answer) == 0 {
                    break;
                }
                self.pay(cost.saturating_mul(run.len as u64)).map_err(Stopped::Error)?;
                self.lane_steps(run, steps)?;
            },
            Step::If { cond, then, otherwise } => {
                let taken = if run.bits(*cond) != 0 { then } else { otherwise };
                self.lane_steps(run, taken)?;
            }
            Step::Any { mask, steps } => {
                if run.lane(*mask).iter().any(|counts| *counts != 0) {
                    self.lane_steps(run, steps)?;
                }
            }
            Step::Dot(dot) if dot.fits(run) => {
                let width = run.int(dot.width);
                let mut from = 0;
                while from < width {
                    let count = (width - from).min(DOT_TURNS);
                    let cost = dot.cost.saturating_mul(run.len as u64).saturating_mul(count as u64);
                    self.pay(cost).map_err(Stopped::Error)?;
                    dot.execute(run, from, count);
                    from += count;
                }
            }
            Step::Dot(dot) => self.lane_step(run, &dot.turns)?,
            _ => self.lane_array(run, step)?,
        }
        Ok(())
    }

    fn lane_array(&mut self, run: &mut Running<'_>, step: &Step) -> Done {
        match step {
            Step::Reserve { to, sizes } => {
                let sizes: SmallVec<[i64; 4]> = sizes.iter().map(|size| run.int(*size)).collect();
                run.reserve(to, &sizes)?;
            }
            Step::Materialize { from, to } => self.materialize(run, from, to)?,
            Step::Join { from, to, mask, made } => {
                if run.int(*made) == 0 {
                    self.materialize(run, from, to)?;
                    run.set(*made, 1);
                } else {
                    unless(run.sizes(from) == run.sizes(to))?;
                    run.assign(from, to, Some(*mask))?;
                }
            }
            Step::PutRow { from, to, index, width } => {
                let row = run.sizes(from);
                let index = run.int(*index);
                if index == 0 {
                    let sizes: SmallVec<[i64; 4]> =
                        std::iter::once(run.int(*width)).chain(row.iter().copied()).collect();
                    run.reserve(to, &sizes)?;
                }
                let view = run.lmad(to);
                unless(view.dims.iter().skip(1).map(|dim| dim.size).eq(row.iter().copied()))?;
                self.pay_lanes(run, Lmad::row_major(&row).elements(), to)?;
                let source = (run.base(from), run.lmad(from), from.across);
                let target = (run.base(to), view.fix(0, index), to.across);
                run.copy(source, target, to.width(), None)?;
            }
            Step::Assign { from, to, mask } => {
                unless(run.sizes(from) == run.sizes(to))?;
                self.pay_lanes(run, run.lmad(to).elements(), to)?;
                run.assign(from, to, *mask)?;
            }
            Step::Fill { to, count, value } => {
                let count = run.int(*count);
                run.reserve(to, &[count])?;
                self.pay_lanes(run, count, to)?;
                let mut target = run.bases.take(to.owner);
                if let Some(bytes) = target.bytes_mut() {
                    let width = to.width();
                    match *value {
                        Value::One(value) => {
                            let bytes = &mut bytes[..count as usize * width];
                            loops::splat(bytes, width, run.bits(value));
                        }
                        Value::Many(value) => {
                            let (each, values) = (run.capacity * width, run.lane(value));
                            for row in bytes.chunks_exact_mut(each.max(1)).take(count as usize) {
                                row[..values.len()].copy_from_slice(values);
                            }
                        }
                    }
                }
                run.bases.put(to.owner, target);
            }
            Step::Iota { to, count, start, step } => {
                let (count, step) = (run.int(*count), run.bits(*step));
                unless(count >= 0)?;
                run.reserve(to, &[count])?;
                self.pay_lanes(run, count, to)?;
                let mut target = run.bases.take(to.owner);
                let mut value = run.bits(*start);
                if let Some(bytes) = target.bytes_mut() {
                    for k in 0..count {
                        store(bytes, to.width(), k, value);
                        value = value.wrapping_add(step);
                    }
                }
                run.bases.put(to.owner, target);
            }
            Step::Rotate { from, to, dim, amount } => {
                let sizes = run.sizes(from);
                run.reserve(to, &sizes)?;
                let (source, target) = (run.lmad(from), run.lmad(to));
                self.pay_lanes(run, source.elements(), to)?;
                let extent = sizes[*dim];
                if extent > 0 && !source.is_empty() {
                    let first = run.int(*amount).rem_euclid(extent);
                    for (at, start, count) in [(0, first, extent - first), (extent - first, 0, first)] {
                        let part = (run.base(from), source.triplet(*dim, start, count, 1), from.across);
                        let place = (run.base(to), target.triplet(*dim, at, count, 1), to.across);
                        run.copy(part, place, to.width(), None)?;
                    }
                }
            }
            Step::Concat { parts, to, dim } => {
                let mut sizes = run.sizes(&parts[0]);
                let mut total = 0i64;
                for part in parts {
                    let other = run.sizes(part);
                    let agree = other.iter().zip(&sizes).enumerate().all(|(d, (a, b))| d == *dim || a == b);
                    unless(agree)?;
                    total = total.checked_add(other[*dim]).ok_or(Stopped::GivesUp)?;
                }
                sizes[*dim] = total;
                run.reserve(to, &sizes)?;
                let target = run.lmad(to);
                self.pay_lanes(run, target.elements(), to)?;
                let mut at = 0;
                for part in parts {
                    let count = run.sizes(part)[*dim];
                    let place = (run.base(to), target.triplet(*dim, at, count, 1), to.across);
                    run.copy((run.base(part), run.lmad(part), part.across), place, to.width(), None)?;
                    at += count;
                }
            }
            Step::Range { from, to, start, end, step } => {
                let lmad = Lmad {
                    offset: run.int(from.offset),
                    dims: std::iter::once(Dim::new(run.int(from.size), run.int(from.stride))).collect(),
                };
                let number = |number: &Option<Number>| number.map(|number| run.int(number));
                let index = galopvm_store::array::SliceIndex::Range {
                    start: number(start),
                    end: number(end),
                    step: number(step),
                };
                let part = view::slice(&lmad, &[index]).map_err(|_| Stopped::GivesUp)?;
                run.set(to.offset, part.offset);
                run.set(to.size, part.dims[0].size);
                run.set(to.stride, part.dims[0].stride);
            }
            Step::Reverse { from, to } => {
                let dim = Dim::new(run.int(from.size), run.int(from.stride));
                let lmad = Lmad { offset: run.int(from.offset), dims: std::iter::once(dim).collect() };
                let part = lmad.reverse(0);
                run.set(to.offset, part.offset);
                run.set(to.stride, part.dims[0].stride);
            }
            Step::Reshape { from, to, shape, spare } => {
                let shape: SmallVec<[i64; 4]> = shape.iter().map(|size| run.int(*size)).collect();
                let source = run.lmad(from);
                let count = view::exact_count(&shape);
                let same = count.is_some() && count == view::exact_count(&source.shape());
                unless(shape.iter().all(|size| *size >= 0) && same)?;
                if let Some(part) = source.reshape(&shape) {
                    run.numbers[to.base as usize] = run.bits(from.base);
                    run.set_view(to, &part);
                    if let (Across::Stride(old), Across::Stride(new)) = (from.across, to.across) {
                        run.numbers[new as usize] = run.bits(old);
                    }
                    return Ok(());
                }
                // A copy of what each row has, in the shape that it had.
                let Across::Stride(stride) = to.across else {
                    unless(to.across == Across::Same)?;
                    return self.reshape_copy(run, (from, to, *spare), &shape);
                };
                run.set(stride, 1);
                self.reshape_copy(run, (from, to, *spare), &shape)?;
            }
            Step::Flat { from, to, offset, sizes, strides } => {
                let ints = |numbers: &[Number]| numbers.iter().map(|n| run.int(*n)).collect::<Vec<i64>>();
                let flat = view::flat(&run.lmad(from), run.int(*offset), &ints(sizes), &ints(strides));
                let flat = flat.map_err(|_| Stopped::GivesUp)?;
                run.set_view(to, &flat);
            }
            _ => return Err(Stopped::GivesUp),
        }
        Ok(())
    }

    fn pay_lanes(&mut self, run: &Running<'_>, elements: i64, to: &View) -> Done {
        let rows = if to.across == Across::Same { 1 } else { run.len as i64 };
        self.pay_elements(elements.saturating_mul(rows)).map_err(Stopped::Error)
    }

    fn materialize(&mut self, run: &mut Running<'_>, from: &View, to: &View) -> Done {
        let sizes = run.sizes(from);
        run.reserve(to, &sizes)?;
        self.pay_lanes(run, run.lmad(to).elements(), to)?;
        run.assign(from, to, None)
    }

    fn reshape_copy(
        &mut self,
        run: &mut Running<'_>,
        (from, to, spare): (&View, &View, usize),
        shape: &[i64],
    ) -> Done {
        // Row-major in the old shape is row-major in the new one.
        let mut target = to.clone();
        target.owner = spare;
        run.set(to.base, spare as i64);
        run.set(to.offset, 0);
        run.reserve(&target, shape)?;
        let lanes = if to.across == Across::Same { 1 } else { run.capacity as i64 };
        let mut old = Lmad::row_major(&run.sizes(from));
        old.dims.iter_mut().for_each(|dim| dim.stride = dim.stride.saturating_mul(lanes));
        self.pay_lanes(run, old.elements(), to)?;
        let source = (run.base(from), run.lmad(from), from.across);
        run.copy(source, (spare, old, to.across), to.width(), None)
    }
}
