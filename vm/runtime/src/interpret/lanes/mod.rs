//! Operators in lock step: each step of the block is done for a group of rows before the next one is.
//!
//! Columns do that for code without loops and arrays; this is for the rest: loops and inner operators with the same
//! trip counts for all rows, arrays that the block makes, views, branches by masks. Numbers that are the same for all rows
//! are computed once for the group.
//!
//! - `varying.rs`: what differs from row to row. `program.rs`: what a block becomes. `translate.rs` with `flow.rs` (branches,
//!   loops, inner operators) and `arrays.rs`: from the block to its program.
//! - `run.rs`: a program at work, on `memory.rs`. `dot.rs`: reductions of two rows as loops of their own.
//! - `mod.rs`: operators by groups of rows, and whether that is worth it.
//!
//! Arrays that the block makes have the elements of the group's rows side by side. Rows of inputs that are read again and
//! again are brought into that order first.
//!
//! Invariants: results have the bits that executing the block row by row would give; a program only writes memory of
//! its own, so that one which may trap is given up, and the operator executed by others.

mod arrays;
mod dot;
mod flow;
mod memory;
mod program;
mod run;
mod translate;
mod varying;

use super::soac::Arrays;
use super::{ENOUGH_ROWS, Interpreter, Outcome, Registers, columns};
use crate::coverage::Met;
use crate::interpret::refused::{Made, NO_FORM, NO_SUCH_OPERATION, Refused};
use galopvm_base::Bits;
use galopvm_bytecode::{BlockId, Def, Function, Instr, Operand};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, Granted};
use galopvm_store::error::ErrorKind;
use galopvm_vector::loops::{self, Fold};
use memory::{Rows, copy_rows};
use program::{Across, Need, Number, Param, Program, Result as Left};
use run::{Done, Running, Stopped};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below so many rows a group is not worth it.
const FEW_ROWS: i64 = 32;

/// Rows of a group at most, and at least where their arrays take much memory.
const MOST_ROWS: i64 = 512;
const LEAST_ROWS: i64 = 32;

/// Bytes that the arrays of a group should take: what a second-level cache has.
const CACHE: f64 = 1e6;

/// Bytes of a group's rows that are brought together at most.
const MOST_PACKED: i64 = 16 << 20;

/// The guess for an extent or a trip count that is not known at the start.
const UNKNOWN: f64 = 16.0;

/// After so many programs that were given up there is no further try.
const TRIES: u32 = 3;

/// An operator in lock step.
#[derive(Debug)]
pub(crate) struct Lanes {
    program: Program,
    /// For each accumulator of a reduction how it takes items.
    folds: Vec<Fold>,
    /// Whether there are operators in the block, which back ends want to see.
    has_operators: bool,
    given_up: AtomicU32,
}

impl Lanes {
    /// The form of an operator, if it has one.
    fn of(function: &Function, instr: &Instr) -> Made<Lanes> {
        let operator = instr.operator().ok_or(Refused::instruction(instr))?;
        let body = operator.items.ok_or(Refused::Because("nothing is computed from rows"))?;
        let folds = match operator.combine {
            Some(block) => columns::combinations(function, block).ok_or(columns::NOT_ONE_OPERATION)?,
            None => Vec::new(),
        };
        let folds = folds
            .into_iter()
            .map(|(op, ty)| loops::fold(op, ty))
            .collect::<Option<_>>()
            .ok_or(NO_SUCH_OPERATION)?;
        let program = translate::translate(function, body)?;
        let has_operators = function.has_operators(body);
        Ok(Lanes { program, folds, has_operators, given_up: AtomicU32::new(0) })
    }
}

/// Places of results: given, or those of fresh arrays as soon as the extents are known.
type Places = [Option<Granted>];

impl<'a> Interpreter<'a> {
    /// The lanes of an operator, if it has that form and there are rows enough.
    pub(super) fn lanes(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
        width: i64,
    ) -> Option<&'a Lanes> {
        self.lanes_or_why(registers, block, index, width).ok()
    }

    /// The same, or why not.
    pub(super) fn lanes_or_why(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
        width: i64,
    ) -> Made<&'a Lanes> {
        if !self.switches.lanes {
            return Err(Refused::SwitchedOff);
        }
        if width < self.few_lanes() {
            return Err(Refused::FewRows(self.few_lanes()));
        }
        let translated = registers.prepared.blocks[block].translated(index).ok_or(NO_FORM)?;
        let instr = &registers.code.blocks[block].code[index];
        let lanes = translated
            .lanes
            .get_or_init(|| Lanes::of(registers.code, instr).map(Box::new))
            .as_deref()
            .map_err(|refused| *refused)?;
        let site = registers.prepared.blocks[block].site(index);
        if lanes.has_operators && !site.is_none_or(|site| self.tiers.leaves_rows(site)) {
            return Err(Refused::Because("the operators in it are worth a kernel each"));
        }
        if lanes.given_up.load(Ordering::Relaxed) >= TRIES {
            return Err(Refused::Because("its program gave up several times"));
        }
        Ok(lanes)
    }

    /// Whether an operator over these arrays is going to be executed in lock step, unless its program gives up.
    pub(super) fn runs_in_lanes(
        &self,
        registers: &Registers<'a>,
        (block, index): (BlockId, usize),
        width: i64,
        arrays: &[Operand],
    ) -> bool {
        let Some(lanes) = self.lanes(registers, block, index, width) else { return false };
        let inputs: Arrays = arrays.iter().map(|operand| registers.array(*operand).clone()).collect();
        let mut run = Running::new(&lanes.program, self.memory);
        enter(&mut run, registers, &inputs);
        self.is_worth(&run)
    }

    /// Whether a program is faster than other ways of executing its operator, or there are none.
    fn is_worth(&self, run: &Running<'_>) -> bool {
        !self.switches.machine || self.eager || worth(run) > 0.0
    }

    /// Below so many rows other ways are faster, if they are allowed.
    fn few_lanes(&self) -> i64 {
        match self.switches.machine {
            true if self.eager => ENOUGH_ROWS,
            true => FEW_ROWS,
            false => 1,
        }
    }

    /// What the block makes of all rows, if that can be found in lock step.
    pub(super) fn lane_rows(
        &mut self,
        registers: &Registers<'a>,
        lanes: &Lanes,
        width: i64,
        inputs: &[Array],
    ) -> Outcome<Option<Arrays>> {
        let mut places: SmallVec<[Option<Granted>; 4]> =
            SmallVec::from_elem(None, lanes.program.results.len());
        let paid_until = (self.until_look, self.fuel);
        if self.place_lanes(registers, lanes, width, inputs, &mut places)? < width {
            (self.until_look, self.fuel) = paid_until;
            return Ok(None);
        }
        Ok(Some(places.into_iter().flatten().map(Granted::into_array).collect()))
    }

    /// Puts what the block makes of rows in their places, in lock step, as far as that goes; says how many rows are
    /// done. The rows of a group are stored when all of them are computed; where a group is given up, none of its rows
    /// is stored.
    pub(super) fn place_lanes(
        &mut self,
        registers: &Registers<'a>,
        lanes: &Lanes,
        width: i64,
        inputs: &[Array],
        places: &mut Places,
    ) -> Outcome<i64> {
        self.in_groups(registers, lanes, width, inputs, |this, run, start| {
            let results = || lanes.program.results.iter();
            for (left, place) in results().zip(&mut *places) {
                this.make_room(run, left, place, width)?;
            }
            results()
                .zip(&mut *places)
                .try_for_each(|(left, place)| this.put_rows_of(run, left, place, start))
        })
    }

    /// Reduces what the block makes of rows; says whether it did.
    pub(super) fn reduce_lanes(
        &mut self,
        registers: &mut Registers<'a>,
        lanes: &Lanes,
        width: i64,
        dsts: &[Def],
        neutral: &[Operand],
        inputs: &[Array],
    ) -> Outcome<bool> {
        let mut values: SmallVec<[Bits; 4]> =
            neutral.iter().map(|operand| registers.bits(*operand)).collect();
        let paid_until = (self.until_look, self.fuel);
        let done = self.in_groups(registers, lanes, width, inputs, |_, run, _| {
            for ((value, left), fold) in values.iter_mut().zip(&lanes.program.results).zip(&lanes.folds) {
                let Left::Lane(lane, _) = left else { return Err(Stopped::GivesUp) };
                *value = fold(*value, run.lane(*lane)).map_err(|_| Stopped::GivesUp)?;
            }
            Ok(())
        })?;
        if done < width {
            (self.until_look, self.fuel) = paid_until;
            return Ok(false);
        }
        dsts.iter().zip(values).for_each(|(dst, bits)| registers.set_bits(dst.0, bits));
        Ok(true)
    }

    /// Executes the block group by group, and `put` after each with its first row; says for how many rows that was
    /// possible. What was paid for others is given back.
    fn in_groups(
        &mut self,
        registers: &Registers<'a>,
        lanes: &Lanes,
        width: i64,
        inputs: &[Array],
        put: impl FnMut(&mut Self, &Running<'_>, i64) -> Done,
    ) -> Outcome<i64> {
        let memory = self.memory;
        let mut run = Running::new(&lanes.program, memory);
        enter(&mut run, registers, inputs);
        if !self.is_worth(&run) {
            return Ok(0);
        }
        run.set_capacity(capacity(&run, width));
        let mut done = (0, self.until_look, self.fuel);
        match self.groups(&mut run, width, inputs, put, &mut done) {
            Ok(()) => {
                self.tiers.coverage.met(Met::RunLanes);
                Ok(width)
            }
            Err(Stopped::Error(error)) if error.kind != ErrorKind::OutOfFuel => Err(error),
            // Some row may end the call before the fuel is used up.
            Err(_) => {
                (self.until_look, self.fuel) = (done.1, done.2);
                lanes.given_up.fetch_add(1, Ordering::Relaxed);
                self.tiers.coverage.met(Met::RunLanesGaveUp);
                Ok(done.0)
            }
        }
    }

    fn groups(
        &mut self,
        run: &mut Running<'_>,
        width: i64,
        inputs: &[Array],
        mut put: impl FnMut(&mut Self, &Running<'_>, i64) -> Done,
        done: &mut (i64, u64, u64),
    ) -> Done {
        let program = run.program;
        self.lane_steps(run, &program.once)?;
        let mut start = 0;
        while start < width {
            run.len = (width - start).min(run.capacity as i64) as usize;
            self.pay(program.cost.saturating_mul(run.len as u64)).map_err(Stopped::Error)?;
            for (param, input) in program.params.iter().zip(inputs) {
                self.rows_of(run, param, input, start)?;
            }
            self.lane_steps(run, &program.steps)?;
            put(self, run, start)?;
            start += run.len as i64;
            *done = (start, self.until_look, self.fuel);
        }
        Ok(())
    }

    /// Lets a parameter be the rows of a group.
    fn rows_of(&mut self, run: &mut Running<'_>, param: &Param, input: &Array, start: i64) -> Done {
        let row = &param.row;
        let dims = &input.lmad().dims;
        let mut stride = dims[0].stride;
        let source = Lmad {
            offset: input.lmad().offset.wrapping_add(start.wrapping_mul(stride)),
            dims: dims[1..].into(),
        };
        let (mut base, mut view) = (row.owner, source.clone());
        let elements = source.elements();
        let room = elements.saturating_mul(run.capacity as i64).saturating_mul(row.width() as i64);
        if let Some(packed) = param.packed
            && stride != 0
            && stride != 1
            && room <= MOST_PACKED
        {
            run.bases.reserve(run.memory, packed, room.max(0) as usize)?;
            self.pay_elements(elements.saturating_mul(run.len as i64)).map_err(Stopped::Error)?;
            view = Lmad::row_major(&source.shape());
            view.dims.iter_mut().for_each(|dim| dim.stride *= run.capacity as i64);
            let mut target = run.bases.take(packed);
            if let Some(bytes) = target.bytes_mut() {
                let rows = (Rows::Stride(stride), Rows::Stride(1));
                let source = (input.block().bytes(), &source);
                copy_rows(run.memory, (bytes, &view), source, rows, row.width(), run.len, None)?;
            }
            run.bases.put(packed, target);
            (base, stride) = (packed, 1);
        }
        run.set(row.base, base as i64);
        run.set(row.offset, view.offset);
        run.set_dims(row, &view);
        if let Across::Stride(across) = row.across {
            run.set(across, stride);
        }
        Ok(())
    }

    /// Sees to it that a result has a place with room for all rows, and pays for what is stored there. After this
    /// nothing makes the group be given up.
    fn make_room(&mut self, run: &Running<'_>, left: &Left, place: &mut Option<Granted>, width: i64) -> Done {
        let (elem, row) = match left {
            Left::Lane(_, elem) => (*elem, SmallVec::new()),
            Left::Array(view) => (view.elem, run.sizes(view)),
        };
        if matches!(left, Left::Array(_)) {
            let count = row.iter().fold(run.len as i64, |count, size| count.saturating_mul(*size));
            self.pay_elements(count).map_err(Stopped::Error)?;
        }
        let shape: SmallVec<[i64; 4]> = std::iter::once(width).chain(row).collect();
        match place {
            Some(place) if place.array().shape() == shape => Ok(()),
            Some(_) => Err(Stopped::GivesUp),
            None => {
                *place = Granted::new(Array::fresh(self.memory, elem, &shape)?, 1);
                Ok(())
            }
        }
    }

    /// Puts a result of a group where it stays.
    fn put_rows_of(
        &mut self,
        run: &Running<'_>,
        left: &Left,
        place: &mut Option<Granted>,
        start: i64,
    ) -> Done {
        let Some(place) = place else { return Err(Stopped::GivesUp) };
        match left {
            Left::Lane(lane, _) => place.store_column(start, run.lane(*lane)),
            Left::Array(view) => {
                let (to, elem) = (place.array().lmad().triplet(0, start, run.len as i64, 1), view.elem);
                let source = run.lmad(view);
                let target = Lmad { offset: to.offset, dims: to.dims[1..].into() };
                let rows = (run.rows(view.across), Rows::Stride(to.dims[0].stride));
                let (memory, len) = (self.memory, run.len);
                place.store_from(run.bases.bytes(run.base(view)), |bytes, from| {
                    copy_rows(memory, (bytes, &target), (from, &source), rows, elem.bytes(), len, None)
                })?;
            }
        }
        Ok(())
    }
}

/// Sets what a program gets from outside.
fn enter<'v>(run: &mut Running<'v>, registers: &'v Registers<'_>, inputs: &'v [Array]) {
    let program = run.program;
    for (number, bits) in &program.constants {
        run.numbers[*number as usize] = *bits;
    }
    for (reg, number) in &program.scalars {
        run.numbers[*number as usize] = registers.bits(Operand::new(*reg));
    }
    for (reg, view) in &program.arrays {
        let array = registers.array(Operand::new(*reg));
        run.bases.share(view.owner, array.block());
        run.set(view.offset, array.lmad().offset);
        run.set_dims(view, array.lmad());
    }
    for (param, input) in program.params.iter().zip(inputs) {
        run.bases.share(param.row.owner, input.block());
        let row = Lmad { offset: 0, dims: input.lmad().dims[1..].into() };
        run.set_dims(&param.row, &row);
    }
}

/// Operations that a program saves for each row, by a guess.
fn worth(run: &Running<'_>) -> f64 {
    let times = |number: &Option<Number>| number.map_or(UNKNOWN, |number| run.int(number).max(0) as f64);
    run.program.weights.iter().map(|w| w.gain * w.times.iter().map(times).product::<f64>()).sum()
}

/// How many rows a group should have.
fn capacity(run: &Running<'_>, width: i64) -> usize {
    let bytes = |need: &Need| match &need.sizes {
        None => UNKNOWN * need.bytes as f64,
        Some(sizes) => {
            sizes.iter().map(|size| run.int(*size).max(0) as f64).product::<f64>() * need.bytes as f64
        }
    };
    let each: f64 = run.program.needs.iter().map(bytes).sum();
    let rows = if each > 0.0 { (CACHE / each) as i64 } else { MOST_ROWS };
    let rows = (rows / LEAST_ROWS * LEAST_ROWS).clamp(LEAST_ROWS, MOST_ROWS);
    rows.min(width).max(1) as usize
}
