//! Arrays that need no memory: an `iota`, or the same constant again and again, that only operators of its own block go over is made
//! when one of them wants it in memory. Kernels count for themselves (`vm/lift/src/kernels/operator.rs`), so most of the time nobody
//! does.
//!
//! Invariant: what is in the register of such an array until then - a shape without a block - is seen by
//! parallel operators alone, and by `dim`.

use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Function, Instr, Operand, RegId};
use galopvm_store::array::Array;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Arrays of fewer bytes are made at once: asking costs more.
const DELAYED_FROM: i64 = 1 << 16;

/// Elements from which they wait where little is enough ([`Setup::eager`](crate::Setup::eager)): some are still made at once.
const ENOUGH: i64 = 5;

/// What an array that can wait consists of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Elements {
    /// A first element and a step.
    Range(Bits, Bits),
    /// One value.
    Same(Bits),
}

/// Each array that can wait.
pub(crate) type Delayed = FxHashMap<RegId, Elements>;

/// The arrays of a function that can wait.
pub(super) fn delayed(function: &Function) -> Delayed {
    let may_wait = |instr: &Instr| matches!(instr, Instr::Iota { .. } | Instr::Replicate { .. });
    if !function.blocks.iter().any(|block| block.code.iter().any(may_wait)) {
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
            let constant = |operand: &Operand| constants.get(&operand.reg).copied();
            let (dst, count, elements) = match instr {
                Instr::Iota { dst, count, start, step, .. } => {
                    let range = constant(start).zip(constant(step));
                    (dst, count, range.map(|(start, step)| Elements::Range(start, step)))
                }
                Instr::Replicate { dst, count, value } => (dst, count, constant(value).map(Elements::Same)),
                _ => continue,
            };
            let Some(elements) = elements else { continue };
            let gone_over: usize =
                block.code.iter().map(|instr| times_gone_over(instr, dst.0, count.reg)).sum();
            if gone_over > 0 && uses.get(&dst.0) == Some(&gone_over) {
                delayed.insert(dst.0, elements);
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
    /// Whether an array of so many elements is to wait.
    pub(super) fn may_wait(&self, registers: &Registers<'a>, reg: RegId, elem: ElemType, count: i64) -> bool {
        let is_large = count >= DELAYED_FROM / elem.bytes() as i64 || self.eager && count >= ENOUGH;
        is_large && registers.prepared.is_delayed(reg)
    }

    /// Makes the arrays among operands that were not made yet.
    pub fn make_delayed(&mut self, registers: &mut Registers<'a>, operands: &[Operand]) -> Outcome<()> {
        for operand in operands {
            let array = registers.array(*operand);
            if array.is_unmade()
                && let Some(elements) = registers.prepared.delayed.get(&operand.reg).copied()
            {
                let (elem, count) = (array.elem(), array.elements());
                let made: Array = match elements {
                    Elements::Range(start, step) => self.range(elem, count, start, step)?,
                    Elements::Same(value) => self.filled(elem, count, value)?,
                };
                registers.set_array(operand.reg, made);
            }
        }
        Ok(())
    }
}
