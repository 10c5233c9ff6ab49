//! From low IR to bytes: registers are allocated, then a target's assembler is given one thing after the other.
//!
//! What stands here is alike on every machine: the order of blocks, jumps over blocks that only jump on, which side of
//! a branch follows, and the allocator's moves.

use crate::allocate::Flat;
use crate::lir::{Code, Inst, Label, Op};
use crate::target::{Assembler, Target, class_of, lacks};
use galopvm_kir::Refusal;
use regalloc2::{Allocation, Edit, InstOrEdit, Output};

/// Turns a complete function into machine code.
pub fn assemble(code: &Code, target: &dyn Target) -> Result<Vec<u8>, Refusal> {
    let flat = Flat::new(code, target)?;
    let output = flat.allocate()?;
    let blocks: Vec<Vec<InstOrEdit<'_>>> = (0..code.order.len())
        .map(|k| output.block_insts_and_edits(&flat, regalloc2::Block::new(k)).collect())
        .collect();
    let driver = Driver {
        asm: target.assembler(blocks.len(), output.num_spillslots),
        forward: (0..blocks.len()).map(|k| destination(&flat, &blocks, k)).collect(),
        flat: &flat,
        output: &output,
    };
    driver.function(&blocks)
}

/// Where a jump to a block really leads: past blocks that only jump on.
fn destination(flat: &Flat<'_>, blocks: &[Vec<InstOrEdit<'_>>], mut k: usize) -> usize {
    // A chain of empty blocks is short and has no cycle, since loops contain a branch.
    for _ in 0..blocks.len() {
        match blocks[k].as_slice() {
            [InstOrEdit::Inst(only)] => match flat.insts[only.index()].op {
                Op::Jump(label) => k = flat.position(label),
                _ => break,
            },
            _ => break,
        }
    }
    k
}

struct Driver<'a> {
    asm: Box<dyn Assembler>,
    flat: &'a Flat<'a>,
    output: &'a Output,
    /// The destination of jumps to the block at each position.
    forward: Vec<usize>,
}

impl Driver<'_> {
    fn function(mut self, blocks: &[Vec<InstOrEdit<'_>>]) -> Result<Vec<u8>, Refusal> {
        self.asm.enter();
        for (k, block) in blocks.iter().enumerate() {
            self.asm.begin(k);
            if k > 0 && self.forward[k] != k && !blocks[k - 1].is_empty() {
                // Everybody jumps past this block, and nobody falls into it.
                continue;
            }
            for item in block {
                match item {
                    InstOrEdit::Edit(Edit::Move { from, to }) => self.move_between(*from, *to)?,
                    InstOrEdit::Inst(index) => self.inst(*index, k)?,
                }
            }
        }
        self.asm.finish()
    }

    fn target(&self, label: Label) -> usize {
        self.forward[self.flat.position(label)]
    }

    /// Whether a block follows in the emitted code: blocks that only jump on are not there.
    fn falls_to(&self, position: usize, target: usize) -> bool {
        let mut next = position + 1;
        while next < self.forward.len() && self.forward[next] != next {
            next += 1;
        }
        next == target
    }

    fn inst(&mut self, index: regalloc2::Inst, position: usize) -> Result<(), Refusal> {
        let inst = self.flat.insts[index.index()];
        let allocations = self.output.inst_allocs(index).iter();
        let registers =
            allocations.map(|at| number(*at)).collect::<Result<smallvec::SmallVec<[u8; 8]>, _>>()?;
        let (args, out) = match (inst.out, registers.as_slice()) {
            (None, args) => (args, None),
            (Some(_), [args @ .., out]) => (args, Some(*out)),
            (Some(_), []) => return Err(lacks(inst.op)),
        };
        self.dispatch(inst, args, out, position)
    }

    fn dispatch(
        &mut self,
        inst: &Inst,
        args: &[u8],
        out: Option<u8>,
        position: usize,
    ) -> Result<(), Refusal> {
        match *inst.op.targets() {
            [] => self.asm.op(inst.op, out, args),
            [to] => {
                self.jump(self.target(to), position);
                Ok(())
            }
            [yes, no, ..] => {
                let (yes, no) = (self.target(yes), self.target(no));
                if self.falls_to(position, yes) {
                    return self.asm.branch(inst.op, args, false, no);
                }
                self.asm.branch(inst.op, args, true, yes)?;
                self.jump(no, position);
                Ok(())
            }
        }
    }

    fn jump(&mut self, to: usize, position: usize) {
        if !self.falls_to(position, to) {
            self.asm.jump(to);
        }
    }

    fn move_between(&mut self, from: Allocation, to: Allocation) -> Result<(), Refusal> {
        let slot = |at: Allocation| at.as_stack().map(|slot| slot.index());
        match (from.as_reg(), slot(from), to.as_reg(), slot(to)) {
            (Some(from), _, Some(to), _) => {
                self.asm.copy(class_of(to.class()), to.hw_enc() as u8, from.hw_enc() as u8)
            }
            (None, Some(slot), Some(to), _) => self.asm.load(class_of(to.class()), to.hw_enc() as u8, slot),
            (Some(from), _, None, Some(slot)) => {
                self.asm.store(class_of(from.class()), from.hw_enc() as u8, slot)
            }
            _ => Err(lacks(format_args!("a move from {from} to {to}"))),
        }
    }
}

/// The number of the register that was allocated.
fn number(allocation: Allocation) -> Result<u8, Refusal> {
    let register = allocation.as_reg().ok_or_else(|| lacks(format_args!("an operand in {allocation}")))?;
    Ok(register.hw_enc() as u8)
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
