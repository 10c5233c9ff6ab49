//! Scatters and histograms as compiled code.
//!
//! A destination is written where it lies if this is the last use of it and nobody else holds its block, and copied
//! otherwise, as the interpreter does it (`index_space.rs`); the copy is made when it is launched (`tier/launch.rs`).

use super::shape::Amount;
use super::{Interpreter, Outcome, Registers, shape};
use crate::tier::{Interpreted, Run, Wish};
use galopvm_bytecode::{BlockId, Instr, Operand, field::Fields};
use galopvm_lmad::Lmad;
use galopvm_store::array::Granted;

/// What became of an attempt.
pub(super) enum Written {
    /// The results are there.
    Done,
    /// The interpreter has to do it.
    No,
    /// The interpreter has to do it, since compiled code at this site trapped.
    Trapped(u32),
}

impl<'a> Interpreter<'a> {
    /// Executes a scatter or histogram by compiled code, if that is the thing to do, or if it ran already, together with
    /// an operator before it.
    pub(super) fn write_compiled(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<Written> {
        let (width, dests, op) = match instr {
            Instr::Scatter { width, dests, .. } => (width, dests, None),
            Instr::Hist { width, dests, op, .. } => (width, dests, Some(*op)),
            _ => return Ok(Written::No),
        };
        let width = registers.int(*width);
        let Some(site) = registers.prepared.blocks[block].site(index) else { return Ok(Written::No) };
        if width < 0 {
            return Ok(Written::No);
        }
        let work = self.tiers.estimate(site, width, || match (op, instr) {
            (None, Instr::Scatter { dests, index, .. }) => {
                let rows = |dest: &Operand| {
                    Lmad::row_major(&registers.array(*dest).shape()[index.len()..]).elements()
                };
                let all = dests.iter().map(rows).fold(1, i64::saturating_add).saturating_mul(width);
                shape::Work::flat(all as u64)
            }
            _ => shape::work(registers, op.into_iter(), width),
        });
        if !self.done.is_empty() && self.is_done(registers, (block, index), instr) {
            self.pay(work)?;
            return Ok(Written::Done);
        }
        let place = |dest: &Operand| {
            let array = registers.array_of(dest.reg).filter(|_| dest.last)?;
            // The register, and the place itself.
            Granted::new(array.clone(), 2)
        };
        let places: Vec<Option<Granted>> = match self.tiers.has_backends() {
            true => dests.iter().map(place).collect(),
            false => Vec::new(),
        };
        let (amount, wish) = (Amount { width, work }, Wish { places: &places, changes: None });
        match self.tiers.run(site, registers, self.memory, amount, Interpreted::Loop, wish)? {
            Run::Done(values) => {
                drop(places);
                self.pay(work)?;
                let fields = Fields::of(instr);
                for operand in fields.operands {
                    if registers.is_array(operand.reg) {
                        registers.drop_last(operand);
                    }
                }
                for (dst, value) in fields.defs.iter().zip(values) {
                    registers.set_value(dst.0, value);
                }
                Ok(Written::Done)
            }
            Run::Interpret => Ok(Written::No),
            Run::Trapped => Ok(Written::Trapped(site)),
        }
    }

    /// Executes a scatter or histogram.
    pub(super) fn write(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        let written = self.write_compiled(registers, (block, index), instr)?;
        match (&written, instr) {
            (Written::Done, _) => return Ok(()),
            (_, Instr::Scatter { dsts, width, dests, index, values }) => {
                self.scatter(registers, dsts, *width, [dests, index, values])?;
            }
            (_, Instr::Hist { dsts, width, dests, neutral, index: places, values, op }) => {
                let operands = [&dests[..], neutral, places, values];
                self.hist(registers, (block, index), dsts, *width, operands, *op)?;
            }
            _ => unreachable!("only scatters and histograms come here"),
        }
        if let Written::Trapped(site) = written {
            self.tiers.false_trap(site);
        }
        Ok(())
    }
}
