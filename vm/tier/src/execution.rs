//! An execution of an operator, as far as anybody has to know it who does not execute it.

use galopvm_base::Scalar;
use galopvm_bytecode::{BlockId, FuncId, Function, RegId};
use galopvm_lift::region::Seen;
use galopvm_store::array::Array;

/// A parallel operator in the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Site {
    /// Its function.
    pub function: FuncId,
    /// Its block.
    pub block: BlockId,
    /// The number of the instruction in its block.
    pub index: usize,
}

/// An execution of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    /// The block that the operator stands in.
    pub block: BlockId,
    /// The number of the instruction in its block.
    pub index: usize,
    /// The number of its site.
    pub site: u32,
    /// Its iterations.
    pub width: i64,
    /// An estimate of their operations.
    pub work: u64,
}

impl Execution {
    /// Where the instruction stands.
    pub fn at(self) -> (BlockId, usize) {
        (self.block, self.index)
    }
}

/// An estimate of the operations of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// All of them.
    pub all: u64,
    /// Those of the blocks executed once, with one round of each sequential loop.
    pub round: u64,
}

impl Work {
    /// Without loops.
    pub fn flat(all: u64) -> Work {
        Work { all, round: all }
    }

    /// Both, one after the other.
    pub fn plus(self, other: Work) -> Work {
        Work { all: self.all.saturating_add(other.all), round: self.round.saturating_add(other.round) }
    }

    /// The longer one of two ways.
    pub fn max(self, other: Work) -> Work {
        Work { all: self.all.max(other.all), round: self.round.max(other.round) }
    }
}

/// The registers of the call that an operator is executed in.
pub trait Registers {
    /// The function that is called.
    fn function(&self) -> FuncId;

    /// Its code.
    fn code(&self) -> &Function;

    /// A scalar register.
    fn scalar(&self, reg: RegId) -> Scalar;

    /// An array register, if it has a value now.
    fn array_of(&self, reg: RegId) -> Option<&Array>;

    /// What a register holds, as a recording asks for it; nothing for an array that is not there.
    fn seen(&self, reg: RegId) -> Option<Seen> {
        if self.code().regs[reg].is_scalar() {
            return Some(Seen::Scalar(self.scalar(reg)));
        }
        let array = self.array_of(reg)?;
        let block = array.block();
        Some(Seen::Array {
            elem: array.elem(),
            lmad: array.lmad().clone(),
            block: block.id(),
            block_elements: (block.len() / array.elem().bytes()) as i64,
            references: match block.is_own() {
                true => u32::try_from(block.references()).unwrap_or(u32::MAX),
                // What somebody else owns is never written.
                false => u32::MAX,
            },
        })
    }
}

/// The form in which the interpreter executes an operator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormTaken {
    /// Its name.
    pub form: &'static str,
    /// The faster ones, each with what stands in its way.
    pub declined: Vec<(&'static str, String)>,
}
