//! Ranges that need no memory: an `iota` that only operators of its own block go over is made when one of them wants it
//! in memory. Kernels count for themselves (`vm/lift/src/kernels/operator.rs`), so most of the time nobody does.
//!
//! Invariant: what is in the register of such an `iota` until then - a shape without a block - is seen by
//! parallel operators alone, and by `dim`.

use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::Bits;
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Function, Instr, Operand, RegId};
use galopvm_store::array::Array;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Ranges of fewer bytes are made at once: asking costs more.
pub(super) const DELAYED_FROM: i64 = 1 << 16;

/// Elements from which ranges wait where little is enough ([`Setup::eager`](crate::Setup::eager)): some are still made at once.
pub(super) const ENOUGH: i64 = 5;

/// First element and step of each `iota` that can wait.
pub(crate) type Delayed = FxHashMap<RegId, (Bits, Bits)>;

/// The ranges of a function that can wait.
pub(super) fn delayed(function: &Function) -> Delayed {
    let is_range = |instr: &Instr| matches!(instr, Instr::Iota { .. });
    if !function.blocks.iter().any(|block| block.code.iter().any(is_range)) {
        return Delayed::default();
    }
    let mut uses: HashMap<RegId, usize> = HashMap::new();
    for block in function.blocks.iter() {
        for instr in &block.code {
            if !matches!(instr, Instr::Dim { .. }) {
                Fields::of(instr).operands.iter().for_each(|o| *uses.entry(o.reg).or_default() += 1);
            }
        }
        block.results.iter().for_each(|o| *uses.entry(o.reg).or_default() += 1);
    }
    let all = || function.blocks.iter().flat_map(|block| &block.code);
    let constants: HashMap<RegId, Bits> = all()
        .filter_map(|instr| match instr {
            Instr::Const { dst, value } => Some((dst.0, value.bits)),
            _ => None,
        })
        .collect();
    let mut delayed = Delayed::default();
    for block in function.blocks.iter() {
        for instr in &block.code {
            if let Instr::Iota { dst, count, start, step, .. } = instr
                && let (Some(start), Some(step)) = (constants.get(&start.reg), constants.get(&step.reg))
            {
                let gone_over: usize =
                    block.code.iter().map(|instr| times_gone_over(instr, dst.0, count.reg)).sum();
                if gone_over > 0 && uses.get(&dst.0) == Some(&gone_over) {
                    delayed.insert(dst.0, (*start, *step));
                }
            }
        }
    }
    delayed
}

/// How often an instruction goes over an array with as many rows as a register says.
fn times_gone_over(instr: &Instr, array: RegId, rows: RegId) -> usize {
    let operator = instr.operator().filter(|operator| instr.goes_over_rows() && operator.width.reg == rows);
    operator.map_or(0, |operator| operator.arrays.iter().filter(|operand| operand.reg == array).count())
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// Makes the ranges among operands that were not made yet.
    pub fn make_delayed(&mut self, registers: &mut Registers<'a>, operands: &[Operand]) -> Outcome<()> {
        for operand in operands {
            let array = registers.array(*operand);
            if array.is_unmade()
                && let Some((start, step)) = registers.prepared.delayed.get(&operand.reg).copied()
            {
                let (elem, count) = (array.elem(), array.elements());
                let made: Array = self.range(elem, count, start, step)?;
                registers.set_array(operand.reg, made);
            }
        }
        Ok(())
    }
}
