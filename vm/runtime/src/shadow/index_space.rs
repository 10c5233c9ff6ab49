//! Writing at computed places, as the shadow executes it: `scatter`, `hist`, `stream`, `acc_write`.

use super::evaluate::Evaluator;
use super::plain::Plain;
use super::{Halt, Step};
use galopvm_base::Bits;
use galopvm_bytecode::{BlockId, Def, Instr, Operand};
use galopvm_lmad::Lmad;

impl Evaluator<'_> {
    pub(super) fn at_computed_places(&mut self, instr: &Instr) -> Step<()> {
        match instr {
            Instr::Scatter { dsts, width, dests, index, values } => {
                let (_, values) = self.rows(*width, values)?;
                let (width, index) = self.rows(*width, index)?;
                let mut dests = self.destinations(dests, index.len())?;
                for (dest, values) in dests.iter_mut().zip(&values) {
                    if values.shape()[1..] != dest.shape()[index.len()..] {
                        return Err(Halt::Trap);
                    }
                    for i in 0..width {
                        let at = self.indices(&index, i)?;
                        if let Some(part) = part(&dest.view, &at) {
                            self.write(dest, &part, &values.seen(values.view.fix(0, i)))?;
                        }
                    }
                }
                self.set_destinations(dsts, dests);
            }
            Instr::Hist { dsts, width, dests, index, values, op, .. } => {
                let (_, values) = self.rows(*width, values)?;
                let (width, index) = self.rows(*width, index)?;
                let mut dests = self.destinations(dests, index.len())?;
                for i in 0..width {
                    let at = self.indices(&index, i)?;
                    let items = &self.params(*op)[dests.len()..];
                    self.set_rows(items, &values, i)?;
                    self.combine_at(&mut dests, &at, *op)?;
                }
                self.set_destinations(dsts, dests);
            }
            Instr::AccWrite { dsts, accs, index, values, op } => {
                let at = self.ints(index)?;
                let items = &self.params(*op)[accs.len()..];
                self.moves(values, items.iter().copied())?;
                let mut accs = self.destinations(accs, at.len())?;
                self.combine_at(&mut accs, &at, *op)?;
                self.set_destinations(dsts, accs);
            }
            Instr::Stream { dsts, width, accs, arrays, body } => {
                let (width, arrays) = self.rows(*width, arrays)?;
                let (params, items) = self.params(*body).split_at(accs.len());
                self.moves(accs, params.iter().copied())?;
                for i in 0..width {
                    self.set_rows(items, &arrays, i)?;
                    self.block(*body)?;
                    self.moves(self.results(*body), params.iter().copied())?;
                }
                let last: Vec<Operand> = params.iter().map(|param| Operand::last(*param)).collect();
                self.moves(&last, dsts.iter().map(|dst| dst.0))?;
            }
            _ => return Err(Halt::Unknown),
        }
        Ok(())
    }

    fn set_destinations(&mut self, dsts: &[Def], arrays: Vec<Plain>) {
        dsts.iter().zip(arrays).for_each(|(dst, array)| self.set_array(dst.0, array));
    }

    /// The arrays to write to; their first `depth` extents must agree.
    fn destinations(&mut self, operands: &[Operand], depth: usize) -> Step<Vec<Plain>> {
        let mut dests: Vec<Plain> = Vec::new();
        for operand in operands {
            let dest = self.take_array(*operand)?.into_changing();
            if dests.first().is_some_and(|first| first.shape()[..depth] != dest.shape()[..depth]) {
                return Err(Halt::Trap);
            }
            dests.push(dest);
        }
        Ok(dests)
    }

    fn indices(&mut self, index: &[Plain], i: i64) -> Step<Vec<i64>> {
        index
            .iter()
            .map(|array| self.load(array, array.view.fix(0, i).offset).map(|bits| bits as i64))
            .collect()
    }

    /// Writes the elements of a row to a part of an array.
    fn write(&mut self, dest: &mut Plain, part: &Lmad, row: &Plain) -> Step<()> {
        if row.shape() != part.shape() {
            return Err(Halt::Trap);
        }
        self.pay(part.elements())?;
        let values: Vec<Bits> = row.moved().collect();
        let elements = dest.elements_mut();
        part.places().zip(values).for_each(|(place, bits)| elements[place as usize] = bits);
        Ok(())
    }

    /// Combines the elements at an index with the new values, which are in the block's registers.
    fn combine_at(&mut self, dests: &mut [Plain], at: &[i64], op: BlockId) -> Step<()> {
        let Some(first) = dests.first().map(|dest| part(&dest.view, at)) else { return Ok(()) };
        if first.is_none() {
            return Ok(());
        }
        let mut parts = Vec::new();
        for (param, dest) in self.params(op).iter().zip(dests.iter()) {
            let part = part(&dest.view, at).ok_or(Halt::Unknown)?;
            match part.rank() {
                0 => self.set_bits(*param, dest.at(part.offset)),
                _ => self.set_array(*param, dest.seen(part.clone())),
            }
            parts.push(part);
        }
        self.block(op)?;
        // All results are there before the first of them is written.
        let mut rows = Vec::new();
        for result in self.results(op) {
            rows.push(match self.is_array(result.reg) {
                true => {
                    let row = self.array(*result)?;
                    self.moved(&row)?
                }
                false => Plain::new(self.elem(result.reg), &[], vec![self.bits(*result)?]),
            });
        }
        for ((dest, part), row) in dests.iter_mut().zip(&parts).zip(&rows) {
            self.write(dest, part, row)?;
        }
        Ok(())
    }
}

/// The element, or part, at indices of the first dimensions; nothing outside.
fn part(view: &Lmad, at: &[i64]) -> Option<Lmad> {
    let is_inside = view.dims.iter().zip(at).all(|(dim, i)| (0..dim.size).contains(i));
    is_inside.then(|| at.iter().fold(view.clone(), |view, i| view.fix(0, *i)))
}
