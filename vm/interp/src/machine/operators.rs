//! Parallel operators of a unit: loops over rows.

use super::code::Op;
use super::translate::{Inner, Translator, stored_by_width};
use super::unit::{Access, Base, Left, Origin, Place, RowLoop, Slot, Source};
use super::{LONG, WIDE};
use crate::prepare::in_operators;
use crate::refused::{Made, Refused};
use crate::strands::Strands;
use galopvm_bytecode::{BlockId, Instr, Operator, RegId};
use smallvec::SmallVec;

impl<'a> Translator<'a> {
    /// The operator that a unit consists of; whoever enters it has looked at the arrays' extents.
    pub(super) fn outer_operator(&mut self, operator: &Operator<'a>) -> Made<()> {
        let arrays: Made<Vec<Place>> =
            (0..operator.arrays.len()).map(|k| self.input(Source::Operand(k))).collect();
        let mut outputs = Vec::new();
        if operator.has_rows() {
            let last = operator.last_block();
            for result in operator.kept(&self.function.blocks[last].results) {
                let elem = self.function.regs[result.reg].elem;
                let cell = self.cell(Origin::Output(elem))?;
                self.unit.cells[usize::from(cell)].stored = true;
                self.unit.results.push(Left::Cell(cell));
                outputs.push(cell);
            }
        }
        let width = self.rows()?;
        let accumulators = self.operator(operator, width, &arrays?, &outputs)?;
        if !operator.has_rows() {
            self.unit.results = accumulators.into_iter().map(Left::Scalar).collect();
        }
        Ok(())
    }

    /// A histogram of scalars: its destinations are cells.
    pub(super) fn outer_histogram(&mut self, instr: &'a Instr) -> Made<()> {
        let Instr::Hist { dests, index, values, op, .. } = instr else {
            return Err(Refused::instruction(instr));
        };
        let function = self.function;
        let block = &function.blocks[*op];
        if block.params.iter().any(|param| self.is_array(*param)) {
            return Err(Refused::Because("elements that are arrays"));
        }
        let mut cells = Vec::new();
        for k in 0..dests.len() {
            let cell = self.cell(Origin::Given(k))?;
            self.unit.cells[usize::from(cell)].stored = true;
            self.unit.results.push(Left::Cell(cell));
            cells.push(cell);
        }
        let arrays: Made<Vec<Place>> =
            (0..index.len() + values.len()).map(|k| self.input(Source::Operand(k))).collect();
        let arrays = arrays?;
        let (index, values) = arrays.split_at(index.len());
        let width = self.rows()?;
        let counter = self.fresh()?;
        let start = self.start_counting(counter, width)?;
        let mut at = SmallVec::<[Slot; 4]>::new();
        for place in index {
            let Base::Input(base) = place.base else {
                return Err(Refused::Because("an index array that it makes itself"));
            };
            let slot = self.fresh()?;
            self.emit(Op::Load8, slot, base, counter)?;
            at.push(slot);
        }
        let mut accesses = Vec::new();
        for cell in &cells {
            accesses.push(self.access(Access { base: *cell, index: at.clone(), lead: 0 })?);
        }
        // All destinations have the same extents in these dimensions.
        let outside = self.emit(Op::Within, 0, accesses[0], 0)?;
        let (elements, items) = block.params.split_at(cells.len());
        for (element, access) in elements.iter().zip(&accesses) {
            let slot = self.define(*element)?;
            self.emit(Op::FetchAt, slot, *access, 0)?;
        }
        for (place, item) in values.iter().zip(items) {
            self.row(place, *item, counter)?;
        }
        self.block(*op)?;
        let results: Made<Vec<Slot>> = block.results.iter().map(|result| self.slot(result.reg)).collect();
        for (access, result) in accesses.iter().zip(results?) {
            self.emit(Op::StoreAt, 0, *access, result)?;
        }
        self.land(outside);
        self.end_of_rows(start, &[*op])
    }

    /// An operator inside a unit, which leaves scalars.
    pub(super) fn inner_operator(&mut self, instr: &'a Instr) -> Made<()> {
        let operator =
            instr.operator().filter(|operator| !operator.has_rows()).ok_or(Refused::instruction(instr))?;
        let arrays: Made<Vec<Place>> = operator.arrays.iter().map(|o| self.place(o.reg)).collect();
        let arrays = arrays?;
        let width = self.slot(operator.width.reg)?;
        self.emit(Op::Width, width, 0, 0)?;
        for place in &arrays {
            let extent = self.extent(place, 0)?;
            self.emit(Op::Extent, width, extent, 0)?;
        }
        let is_known = self.is_known(width);
        if self.inner == Inner::Short && !is_known {
            return Err(Refused::Because(
                "an operator in it whose width is known late: back ends do long ones",
            ));
        }
        if Strands::of(self.function, instr).is_some() && !in_operators(self.function)[self.origin.0] {
            // Many rows are combined in another order than that of a loop.
            if !is_known {
                return Err(Refused::Because("an operator in it whose rows are combined in strands"));
            }
            self.unit.limits.push((width, WIDE));
        } else if self.inner == Inner::Short {
            self.unit.limits.push((width, LONG));
        }
        self.operator(&operator, width, &arrays, &[])?;
        Ok(())
    }

    /// The loop; gives the slots of the accumulators.
    fn operator(
        &mut self,
        operator: &Operator<'a>,
        width: Slot,
        arrays: &[Place],
        outputs: &[u16],
    ) -> Made<Vec<Slot>> {
        let function = self.function;
        let params = operator.combine.map_or(&[][..], |block| &function.blocks[block].params);
        let (accumulators, items) = params.split_at(operator.neutral.len());
        let outer = self.covered.len();
        let mut slots = Vec::new();
        let mut moves = Vec::new();
        for (k, (neutral, param)) in operator.neutral.iter().zip(accumulators).enumerate() {
            if self.is_array(*param) {
                return Err(Refused::Because("arrays are combined"));
            }
            let from = self.slot(neutral.reg)?;
            let slot = if operator.has_rows() { self.fresh()? } else { self.define(operator.dsts[k].0)? };
            self.carry_in(*param, slot);
            moves.push((slot, from));
            slots.push(slot);
        }
        self.moves(moves)?;
        let counter = self.fresh()?;
        let start = self.start_counting(counter, width)?;
        let rows = operator.items.map_or(items, |block| &function.blocks[block].params);
        for (place, row) in arrays.iter().zip(rows) {
            self.row(place, *row, counter)?;
        }
        if let Some(map) = operator.items {
            self.block(map)?;
            let results = &function.blocks[map].results;
            for (result, item) in results.iter().zip(items) {
                let slot = self.slot(result.reg)?;
                self.bind(*item, slot);
            }
        }
        if let Some(combine) = operator.combine {
            let targets: Vec<Option<Slot>> = slots.iter().copied().map(Some).collect();
            self.turn(combine, accumulators, &targets)?;
        }
        self.end_carrying(outer);
        for (k, output) in outputs.iter().enumerate() {
            let (value, reg) = match operator.combine {
                Some(_) => (slots[k], accumulators[k]),
                None => {
                    let result = operator
                        .items
                        .map(|block| function.blocks[block].results[k].reg)
                        .ok_or(Refused::Because("an operator without a block"))?;
                    if self.is_array(result) {
                        return Err(Refused::Because("rows that are arrays"));
                    }
                    (self.slot(result)?, result)
                }
            };
            self.emit(stored_by_width(function.regs[reg].elem), *output, counter, value)?;
        }
        let blocks: Vec<BlockId> = operator.blocks().collect();
        self.end_of_rows(start, &blocks)?;
        Ok(slots)
    }

    /// The end of a loop over rows.
    fn end_of_rows(&mut self, start: (Slot, Slot, usize), blocks: &[BlockId]) -> Made<()> {
        let (counter, bound, over) = start;
        let code = over..self.unit.code.len();
        let operator = (self.unit.rows != Some(bound)).then_some(self.origin);
        self.unit.row_loops.push(RowLoop { code, counter, operator });
        self.go_on_counting(start, blocks)
    }

    /// The row of an array for a turn.
    fn row(&mut self, place: &Place, row: RegId, counter: Slot) -> Made<()> {
        if self.is_array(row) {
            let Base::Input(_) = place.base else {
                return Err(Refused::Because("rows of an array that it makes itself"));
            };
            let mut part = place.clone();
            part.lead.push(counter);
            self.places.insert(row, part);
            return Ok(());
        }
        self.index(row, row, place, &[counter])
    }
}
