//! Operators by columns: an operation of the block is executed for thousands of rows before the next one is.
//!
//! The loops are those of galopvm-vector.
//!
//! - `program.rs`: what a block becomes. `translate.rs`: from the block to its program. `run.rs`: a program at work.
//! - `strands.rs`: the order in which reductions combine. `mod.rs`: operators by blocks of rows.
//!
//! Invariants: results have the bits that executing the block row by row would give (accumulators take items in the order
//! that `strands.rs` says); where a row traps, its block of rows is given back and executed row by row, which finds the
//! first one and its message.

mod program;
mod run;
mod strands;
mod translate;

use super::delay::Windows;
use super::soac::Targets;
use super::{ENOUGH_ROWS, Interpreter, Outcome, Registers, machine};
use crate::interpret::refused::{Made, NO_FORM, Refused};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Function, Instr, RegId, Role};
use galopvm_store::array::Granted;
use galopvm_vector::loops;
use program::Program;
use run::{Outputs, Running};
use smallvec::SmallVec;
use std::ops::Range;
pub(super) use strands::Accumulators;
use strands::Folds;

/// Rows that are computed at a time: a few columns of them fit the first-level cache.
pub(super) const BLOCK: usize = 2048;

/// Below so many rows setting columns up is not worth it.
const FEW_ROWS: i64 = 24;

/// Items are combined by more than one operation each.
pub(super) const NOT_ONE_OPERATION: Refused =
    Refused::Because("accumulators are combined by more than an operation each");

/// An operator by columns.
#[derive(Debug)]
pub(crate) struct Columns {
    /// From rows to results or items.
    program: Program,
    /// For each accumulator the operation that combines it with its item.
    combine: Vec<(ScalarOp, ElemType)>,
    /// Whether only the last values of the accumulators are wanted.
    reduces: bool,
    /// What a row costs.
    cost: u64,
}

impl Columns {
    /// The form of an operator, if it has one.
    pub(super) fn of(function: &Function, instr: &Instr) -> Made<Columns> {
        let operator = instr.operator().ok_or(Refused::instruction(instr))?;
        let arrays = operator.arrays;
        let combine = match operator.combine {
            Some(block) => combinations(function, block).ok_or(NOT_ONE_OPERATION)?,
            None => Vec::new(),
        };
        let program = match operator.items {
            Some(block) => translate::translate(function, block, arrays, operator.combine.is_none())?,
            None => {
                let params = &function.blocks[operator.last_block()].params;
                translate::rows(function, &params[operator.neutral.len()..], arrays)?
            }
        };
        let cost = operator.blocks().map(|block| machine::cost(function, block)).sum();
        let reduces = operator.gives != Role::Prefixes;
        Ok(Columns { program, combine, reduces, cost })
    }

    /// Whether an array that the operator goes over is looked at by columns.
    pub(super) fn reads(&self, array: usize) -> bool {
        u16::try_from(array).is_ok_and(|array| self.program.reads(array))
    }

    /// Whether many rows are combined in strands.
    pub(super) fn has_strands(&self) -> bool {
        self.reduces && self.combine.iter().any(|(op, ty)| loops::start_of_strand(*op, *ty).is_some())
    }
}

/// A block that combines each accumulator with its item by one operation.
pub(super) fn combinations(function: &Function, block: BlockId) -> Option<Vec<(ScalarOp, ElemType)>> {
    let code = &function.blocks[block];
    let (accumulators, items) = code.params.split_at(code.results.len());
    let combination = |(k, result): (usize, RegId)| {
        code.code.iter().find_map(|instr| match instr {
            Instr::Op2 { dst, op, ty, a, b }
                if dst.0 == result && a.reg == accumulators[k] && b.reg == items[k] =>
            {
                Some((*op, *ty))
            }
            _ => None,
        })
    };
    let found: Option<Vec<_>> = code.results.iter().map(|o| o.reg).enumerate().map(combination).collect();
    // Anything else in the block could trap.
    found.filter(|found| found.len() == code.code.len())
}

impl<'a> Interpreter<'a> {
    /// The columns of an operator, if it has that form and there are rows enough.
    pub(super) fn columns(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
        width: i64,
    ) -> Option<&'a Columns> {
        self.columns_or_why(registers, block, index, width).ok()
    }

    /// The same, or why not.
    pub(super) fn columns_or_why(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
        width: i64,
    ) -> Made<&'a Columns> {
        let few = if self.eager { ENOUGH_ROWS } else { FEW_ROWS };
        match () {
            () if !self.switches.columns => Err(Refused::SwitchedOff),
            () if width < few => Err(Refused::FewRows(few)),
            () => self.column_form(registers, block, index),
        }
    }

    /// The columns of an operator whose rows are combined in strands, whoever executes it.
    pub(super) fn columns_in_strands(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
        width: i64,
    ) -> Option<&'a Columns> {
        if width < loops::MANY_ROWS || registers.prepared.blocks[block].in_operator {
            return None;
        }
        self.column_form(registers, block, index).ok().filter(|columns| columns.has_strands())
    }

    fn column_form(&self, registers: &Registers<'a>, block: BlockId, index: usize) -> Made<&'a Columns> {
        let translated = registers.prepared.blocks[block].translated(index).ok_or(NO_FORM)?;
        let instr = &registers.code.blocks[block].code[index];
        let make = || Columns::of(registers.code, instr).map(Box::new);
        translated.columns.get_or_init(make).as_deref().map_err(|refused| *refused)
    }

    /// Computes rows of a map; gives the row where it stopped: one of the next [`BLOCK`] rows may trap.
    pub(super) fn map_columns(
        &mut self,
        registers: &Registers<'a>,
        columns: &Columns,
        inputs: &Windows,
        targets: &mut Targets<'_>,
        rows: Range<i64>,
    ) -> Outcome<i64> {
        self.in_blocks(registers, columns, inputs, rows, |running, at, len| {
            running.block(at, len, parts(targets, at, len))
        })
    }

    /// The same with results that have places. The rows of a block are stored when all of them are computed, so each
    /// row has read what it wants to read before any of them is written.
    pub(super) fn place_columns(
        &mut self,
        registers: &Registers<'a>,
        columns: &Columns,
        inputs: &Windows,
        places: &mut [Option<Granted>],
        rows: Range<i64>,
    ) -> Outcome<i64> {
        let mut staging = std::mem::take(&mut self.staging);
        let room = BLOCK.min(usize::try_from(rows.end - rows.start).unwrap_or(0)) * 8;
        if staging.len() < places.len() {
            staging.resize_with(places.len(), Vec::new);
        }
        for buffer in staging.iter_mut().take(places.len()).filter(|buffer| buffer.len() < room) {
            buffer.resize(room, 0);
        }
        let width = |place: &Option<Granted>| place.as_ref().map_or(0, |place| place.array().elem().bytes());
        let outcome = self.in_blocks(registers, columns, inputs, rows, |running, at, len| {
            let parts =
                staging.iter_mut().zip(&*places).map(|(buffer, place)| &mut buffer[..len * width(place)]);
            let done = running.block(at, len, parts.collect());
            if done {
                for (place, buffer) in places.iter_mut().zip(&staging) {
                    let bytes = len * width(place);
                    place.as_mut().into_iter().for_each(|place| place.store_column(at, &buffer[..bytes]));
                }
            }
            done
        });
        self.staging = staging;
        outcome
    }

    /// Combines rows with accumulators; gives the row where it stopped.
    pub(super) fn reduce_columns(
        &mut self,
        registers: &Registers<'a>,
        columns: &Columns,
        inputs: &Windows,
        accumulators: &mut Accumulators,
        rows: Range<i64>,
    ) -> Outcome<i64> {
        let Some(folds) = Folds::of(&columns.combine) else { return Ok(rows.start) };
        self.in_blocks(registers, columns, inputs, rows, |running, at, len| {
            running.block(at, len, SmallVec::new())
                && folds.apply(accumulators, |k| running.result(k)).is_ok()
        })
    }

    /// Makes all prefixes; gives the row where it stopped.
    pub(super) fn scan_columns(
        &mut self,
        registers: &Registers<'a>,
        columns: &Columns,
        inputs: &Windows,
        accumulators: &mut SmallVec<[Bits; 4]>,
        targets: &mut Targets<'_>,
        rows: Range<i64>,
    ) -> Outcome<i64> {
        let combine = columns.combine.iter().map(|(op, ty)| loops::prefixes(*op, *ty));
        let Some(loops) = combine.collect::<Option<SmallVec<[_; 4]>>>() else { return Ok(rows.start) };
        self.in_blocks(registers, columns, inputs, rows, |running, at, len| {
            if !running.block(at, len, SmallVec::new()) {
                return false;
            }
            let mut next = accumulators.clone();
            for (k, part) in parts(targets, at, len).into_iter().enumerate() {
                match loops[k](next[k], running.result(k), part) {
                    Ok(value) => next[k] = value,
                    Err(_) => return false,
                }
            }
            *accumulators = next;
            true
        })
    }

    fn in_blocks<'v>(
        &mut self,
        registers: &'v Registers<'a>,
        columns: &'v Columns,
        inputs: &'v Windows,
        rows: Range<i64>,
        mut block: impl FnMut(&mut Running<'v>, i64, usize) -> bool,
    ) -> Outcome<i64> {
        let buffers = std::mem::take(&mut self.column_buffers);
        let count = usize::try_from(rows.end - rows.start).unwrap_or(0);
        let mut running =
            match Running::new(&columns.program, registers, (&inputs.arrays, inputs.first), count, buffers) {
                Ok(running) => running,
                Err(buffers) => {
                    self.column_buffers = buffers;
                    return Ok(rows.start);
                }
            };
        let mut at = rows.start;
        let mut outcome = Ok(());
        while at < rows.end {
            let len = BLOCK.min((rows.end - at) as usize);
            outcome = self.pay(columns.cost.saturating_mul(len as u64));
            if outcome.is_err() || !block(&mut running, at, len) {
                break;
            }
            at += len as i64;
        }
        self.column_buffers = running.into_buffers();
        outcome.map(|()| at)
    }
}

/// The parts of targets that some rows fill.
fn parts<'t>(targets: &'t mut Targets<'_>, at: i64, len: usize) -> Outputs<'t> {
    let part = |(_, width, bytes): &'t mut (usize, usize, &mut [u8])| {
        let from = at as usize * *width;
        &mut bytes[from..from + len * *width]
    };
    targets.iter_mut().map(part).collect()
}
