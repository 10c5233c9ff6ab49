//! The register machine: loops and operators of scalar code, executed as a flat sequence of small instructions.
//!
//! - `code.rs`: **the** table of instructions. `functions.rs`: operations without one. `unit.rs`: what translated code
//!   consists of. `translate.rs`: from bytecode to a unit, with `flow.rs` (branches and loops), `operators.rs` (parallel
//!   operators as loops), `share.rs` (when two values may share a slot).
//! - `run.rs`: execution. `operands.rs`: arrays while a unit runs. `mod.rs`: entering and leaving.
//!
//! Invariants: a unit gives the bits, the errors and the back traces that executing its blocks one by one would give;
//! every turn of a loop is paid for, so that fuel and interrupts end it; no unit is entered inside a unit.

mod code;
mod flow;
mod functions;
mod operands;
mod operators;
mod run;
mod share;
mod translate;
mod unit;

pub(crate) use run::Slots;
pub use translate::Inner;
pub use unit::Unit;

use super::soac::Arrays;
use crate::Way;
use crate::refused::{Made, NO_FORM, Refused};
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::Bits;
use galopvm_bytecode::{BlockId, Def, Operand};
use galopvm_store::array::Array;
use galopvm_store::error::{in_row, open_row};
use operands::{Cell, Input};
use smallvec::SmallVec;
use unit::{Base, Left, Origin, Slot, Source};

/// Turns of an operator inside a unit from which rows are combined in strands.
const WIDE: i64 = galopvm_vector::MANY_ROWS;

/// Turns of an operator inside a unit from which a launch is faster, about.
const LONG: i64 = 1024;

/// The operands of the instruction that a unit stands for.
pub(super) struct Entry<'i> {
    /// Initial values of a loop.
    pub(super) init: &'i [Operand],
    /// The rows of an operator, and the arrays that it goes over.
    pub(super) width: i64,
    pub(super) arrays: &'i [Array],
    /// Arrays that the unit may write to and gives back: destinations of a histogram.
    pub(super) given: std::cell::Cell<Arrays>,
}

impl<'i> Entry<'i> {
    /// What a loop has.
    pub(super) fn of_loop(init: &'i [Operand]) -> Entry<'i> {
        Entry { init, width: 0, arrays: &[], given: Default::default() }
    }

    /// What an operator has.
    pub(super) fn of_rows(width: i64, arrays: &'i [Array]) -> Entry<'i> {
        Entry { init: &[], width, arrays, given: Default::default() }
    }
}

/// What a unit gives back.
enum Leaving {
    Scalar(Bits),
    Array(Array),
}

/// The faster forms that the interpreter takes.
#[derive(Clone, Copy, Debug)]
pub struct Forms {
    /// Whether there are units.
    pub units: bool,
    /// What becomes of operators inside units.
    pub inner: Inner,
}

impl Forms {
    /// The unit of an instruction, if there is one.
    pub fn unit<'a>(self, registers: &Registers<'a>, block: BlockId, index: usize) -> Option<&'a Unit> {
        self.unit_or_why(registers, block, index).ok()
    }

    /// The same, or why not.
    pub(crate) fn unit_or_why<'a>(
        self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
    ) -> Made<&'a Unit> {
        self.translation(registers, block, index, false)
    }

    /// The unit that makes the items of a reduction.
    pub(crate) fn unit_of_items<'a>(
        self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
    ) -> Made<&'a Unit> {
        self.translation(registers, block, index, true)
    }

    fn translation<'a>(
        self,
        registers: &Registers<'a>,
        block: BlockId,
        index: usize,
        only_items: bool,
    ) -> Made<&'a Unit> {
        let translated = registers.prepared.blocks[block].translated(index).ok_or(NO_FORM)?;
        if !self.units {
            return Err(Refused::SwitchedOff);
        }
        let make =
            || translate::translate(registers.code, block, index, self.inner, only_items).map(Box::new);
        let known = if only_items { &translated.items } else { &translated.unit };
        known.get_or_init(make).as_deref().map_err(|refused| *refused)
    }

    /// Whether an operator over these arrays is going to be executed as a unit.
    pub fn runs_as_unit(
        self,
        registers: &Registers<'_>,
        (block, index): (BlockId, usize),
        arrays: &[Operand],
    ) -> bool {
        self.unit(registers, block, index).is_some_and(|unit| unit.keeps_operators(registers, arrays, &[]))
    }
}

impl Unit {
    /// Whether no operator inside is so wide that the unit is left to those that see it: for a unit that goes over these arrays or
    /// has these initial values.
    pub(super) fn keeps_operators(
        &self,
        registers: &Registers<'_>,
        arrays: &[Operand],
        init: &[Operand],
    ) -> bool {
        let operand = |base: &Base| match base {
            Base::Input(k) => match self.inputs[usize::from(*k)] {
                Source::Free(reg) => Some(Operand::new(reg)),
                Source::Operand(k) => arrays.get(k).copied(),
            },
            Base::Cell(k) => match self.cells[usize::from(*k)].origin {
                Origin::Init(k) => init.get(k).copied(),
                // Others are not seen by the code.
                Origin::Given(_) | Origin::Output(_) => None,
            },
        };
        let value = |slot: &Slot| {
            let constant = self.constants.iter().find(|(to, _)| to == slot).map(|(_, bits)| *bits as i64);
            let scalar = || {
                let (reg, _) = self.scalars.iter().find(|(_, to)| to == slot)?;
                Some(registers.int(Operand::new(*reg)))
            };
            let extent = || {
                let (_, base, dim) = self.extents.iter().find(|(to, ..)| to == slot)?;
                Some(registers.array(operand(base)?).lmad().dims[*dim as usize].size)
            };
            constant.or_else(scalar).or_else(extent).unwrap_or(0)
        };
        self.limits.iter().all(|(slot, limit)| value(slot) < *limit)
    }
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// Executes a unit and defines registers as its results. Says whether it did: a unit whose inner operators are wide
    /// is left to those that see them.
    pub(super) fn enter_unit(
        &mut self,
        registers: &mut Registers<'a>,
        unit: &Unit,
        dsts: &[Def],
        entry: &Entry<'_>,
    ) -> Outcome<bool> {
        self.enter_unit_and(registers, unit, entry, |registers, k, result| match result {
            Leaving::Scalar(bits) => registers.set_bits(dsts[k].0, bits),
            Leaving::Array(array) => registers.set_array(dsts[k].0, array),
        })
    }

    /// The same for a unit that makes an array of each result of an operator's block.
    pub(super) fn unit_rows(
        &mut self,
        registers: &mut Registers<'a>,
        unit: &Unit,
        entry: &Entry<'_>,
    ) -> Outcome<Option<Arrays>> {
        let mut arrays = Arrays::new();
        let done = self.enter_unit_and(registers, unit, entry, |_, _, result| {
            if let Leaving::Array(array) = result {
                arrays.push(array);
            }
        })?;
        Ok(done.then_some(arrays))
    }

    fn enter_unit_and(
        &mut self,
        registers: &mut Registers<'a>,
        unit: &Unit,
        entry: &Entry<'_>,
        put: impl FnMut(&mut Registers<'a>, usize, Leaving),
    ) -> Outcome<bool> {
        let mut slots = self.rooms.slots.take().unwrap_or_else(blank_slots);
        let outcome = self.enter_with(registers, unit, entry, &mut slots, put);
        self.rooms.slots = Some(slots);
        outcome
    }

    fn enter_with(
        &mut self,
        registers: &mut Registers<'a>,
        unit: &Unit,
        entry: &Entry<'_>,
        slots: &mut Slots,
        mut put: impl FnMut(&mut Registers<'a>, usize, Leaving),
    ) -> Outcome<bool> {
        for (slot, bits) in &unit.constants {
            slots[usize::from(*slot)] = *bits;
        }
        for (reg, slot) in &unit.scalars {
            slots[usize::from(*slot)] = registers.bits(Operand::new(*reg));
        }
        if let Some(rows) = unit.rows {
            slots[usize::from(rows)] = entry.width as Bits;
        }
        for (slot, base, dim) in &unit.extents {
            let array = match base {
                Base::Input(k) => match unit.inputs[usize::from(*k)] {
                    Source::Free(reg) => registers.array(Operand::new(reg)),
                    Source::Operand(k) => &entry.arrays[k],
                },
                Base::Cell(k) => match unit.cells[usize::from(*k)].origin {
                    Origin::Init(k) => registers.array(entry.init[k]),
                    // Others are not seen by the code.
                    Origin::Given(_) | Origin::Output(_) => continue,
                },
            };
            slots[usize::from(*slot)] = array.lmad().dims[*dim as usize].size as Bits;
        }
        if unit.limits.iter().any(|(slot, limit)| slots[usize::from(*slot)] as i64 >= *limit) {
            self.adviser.executed(Way::UnitLeft);
            return Ok(false);
        }
        let mut cells = self.cells(registers, unit, entry)?;
        let inputs: SmallVec<[Input<'_>; 4]> = unit
            .inputs
            .iter()
            .map(|source| match source {
                Source::Free(reg) => Input::new(registers.array(Operand::new(*reg))),
                Source::Operand(k) => Input::new(&entry.arrays[*k]),
            })
            .collect();
        if let Err((at, mut error)) = self.execute(unit, slots, &inputs, &mut cells) {
            let (block, index) = unit.origins[at];
            self.trace(&mut error.trace, registers.code, &registers.code.blocks[block], index as usize);
            for row_loop in unit.row_loops.iter().filter(|row_loop| row_loop.code.contains(&at)) {
                error = in_row(error, slots[usize::from(row_loop.counter)] as i64);
                if let (Some((block, index)), Some(row)) = (row_loop.operator, open_row(&mut error)) {
                    row.operator = Some(self.site(registers, &registers.code.blocks[block], index as usize));
                }
            }
            return Err(error);
        }
        drop(inputs);
        self.adviser.executed(Way::Unit);
        let mut cells: SmallVec<[Option<Cell>; 2]> = cells.into_iter().map(Some).collect();
        for (result, left) in unit.results.iter().enumerate() {
            match left {
                Left::Scalar(slot) => put(registers, result, Leaving::Scalar(slots[usize::from(*slot)])),
                Left::Cell(k) => {
                    let cell = cells[usize::from(*k)].take().expect("each result has a cell of its own");
                    put(registers, result, Leaving::Array(cell.into_array()));
                }
            }
        }
        Ok(true)
    }

    fn cells(
        &mut self,
        registers: &mut Registers<'a>,
        unit: &Unit,
        entry: &Entry<'_>,
    ) -> Outcome<SmallVec<[Cell; 2]>> {
        let mut cells = SmallVec::new();
        let mut given = entry.given.take().into_iter();
        for plan in &unit.cells {
            let array = match plan.origin {
                Origin::Init(k) => {
                    let mut array = registers.take(entry.init[k]);
                    if plan.stored && !array.is_writable() {
                        self.pay_elements(array.elements())?;
                        array.make_writable(self.memory)?;
                    }
                    array
                }
                Origin::Given(_) => given.next().expect("there are as many as there are destinations"),
                Origin::Output(elem) => Array::fresh(self.memory, elem, &[entry.width])?,
            };
            cells.push(Cell::new(array));
        }
        Ok(cells)
    }
}

/// Slots without values. Memory for those that are not used is never touched.
fn blank_slots() -> Box<Slots> {
    let slots: Box<[Bits]> = vec![0; 1 << 16].into_boxed_slice();
    slots.try_into().expect("there are as many as the type says")
}
