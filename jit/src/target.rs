//! What a machine is to the rest of the crate.
//!
//! The lowering asks a [`Target`] what its vectors can do and makes nothing else. The allocator asks for its registers, and
//! what operations do with them. `assemble.rs` drives an [`Assembler`], which alone knows instructions. Registers are
//! numbers of one class each; what a number means is the target's.
//!
//! Invariant: an operation or a move that the target has no instructions for is an error of its assembler, never nothing.

use crate::lir::{Bin, Change, Class, Lane, Mem, Op};
use galopvm_kir::{Refusal, Vectors};
use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

/// A machine with the instruction set in use.
pub trait Target: std::fmt::Debug + Send + Sync {
    /// The word for it in listings.
    fn name(&self) -> &'static str;

    /// The shape of its vectors. With one lane there are none, and every value is uniform. With `fma`, scalar floats
    /// have rounding and fused multiply-add.
    fn vectors(&self) -> Vectors;

    /// Narrow (32-bit) lanes of a vector register.
    fn lanes(&self) -> usize {
        self.vectors().lanes
    }

    /// Where masks live.
    fn masks(&self) -> Class {
        if self.vectors().masks { Class::Mask } else { Class::Vec }
    }

    /// True if vectors have this operation on these lanes.
    fn has_bin(&self, bin: Bin, lane: Lane) -> bool;

    /// True if vectors have this conversion.
    fn has_change(&self, change: Change, from: Lane, to: Lane) -> bool;

    /// True if neighbouring elements of this kind can be read and written under a mask.
    fn has_masked(&self, mem: Mem) -> bool;

    /// True if a gather of elements of this kind takes less than a load for each of them.
    fn has_quick_gather(&self, mem: Mem) -> bool;

    /// The registers that values can have, and one of each class for moves between places in memory.
    fn registers(&self) -> MachineEnv;

    /// Where an operation leaves its result.
    fn result(&self, op: Op) -> ResultPlace;

    /// The registers that do not survive an operation whose effect is a call.
    fn call_clobbers(&self, op: Op) -> PRegSet;

    /// Words of a spill slot.
    fn slot_words(&self, class: Class) -> usize;

    /// An assembler for a function of so many blocks and words of spill slots.
    fn assembler(&self, blocks: usize, spill_words: usize) -> Box<dyn Assembler>;

    /// Code as text under a header line.
    fn disassemble(&self, header: &str, code: &[u8]) -> String;
}

/// Where an operation leaves its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultPlace {
    /// In any register; also in that of an operand which is not used again.
    Anywhere,
    /// In a register of no operand: it is written before all operands are read.
    Apart,
    /// In the register of this operand.
    Replacing(usize),
    /// In this register.
    In(PReg),
}

/// What makes the bytes of one function, `extern "C" fn(record: *mut u64) -> u64`, which gives 0 if all is well.
///
/// Blocks are known by number, in the order in which they lie in memory. Slots of the frame are numbered in words.
pub trait Assembler {
    /// The beginning of the function: the frame, and the launch record where the code expects it.
    fn enter(&mut self);

    /// Block `number` begins here.
    fn begin(&mut self, number: usize);

    /// On to a block.
    fn jump(&mut self, to: usize);

    /// On to a block if a branch's condition comes out as `holds`; else to what follows.
    fn branch(&mut self, branch: Op, args: &[u8], holds: bool, to: usize) -> Result<(), Refusal>;

    /// An operation that ends no block, a return or a trap. The operands are as many as the table of operations says,
    /// and there is a result where it says so.
    fn op(&mut self, op: Op, out: Option<u8>, args: &[u8]) -> Result<(), Refusal>;

    /// A register's value into another.
    fn copy(&mut self, class: Class, to: u8, from: u8) -> Result<(), Refusal>;

    /// A slot's value into a register.
    fn load(&mut self, class: Class, to: u8, slot: usize) -> Result<(), Refusal>;

    /// A register's value into a slot.
    fn store(&mut self, class: Class, from: u8, slot: usize) -> Result<(), Refusal>;

    /// The end of the function: its bytes.
    fn finish(self: Box<Self>) -> Result<Vec<u8>, Refusal>;
}

/// The refusal of what there are no instructions for.
pub fn lacks(what: impl std::fmt::Debug) -> Refusal {
    Refusal::new(format!("no machine code for {what:?}"))
}

/// The class of registers as the allocator names them.
pub fn reg_class(class: Class) -> RegClass {
    match class {
        Class::Int => RegClass::Int,
        Class::Vec => RegClass::Float,
        Class::Mask => RegClass::Vector,
    }
}

/// The reverse of [`reg_class`].
pub fn class_of(class: RegClass) -> Class {
    match class {
        RegClass::Int => Class::Int,
        RegClass::Float => Class::Vec,
        RegClass::Vector => Class::Mask,
    }
}
