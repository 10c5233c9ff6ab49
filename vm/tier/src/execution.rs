//! An execution of an operator, as far as anybody has to know it who does not execute it.

use galopvm_base::Scalar;
use galopvm_bytecode::{BlockId, FuncId, Function, RegId};
use galopvm_lift::region::Seen;
use galopvm_store::array::Array;

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

impl Registers for galopvm_interp::Registers<'_> {
    fn function(&self) -> FuncId {
        self.function
    }

    fn code(&self) -> &Function {
        self.code
    }

    fn scalar(&self, reg: RegId) -> Scalar {
        galopvm_interp::Registers::scalar(self, reg)
    }

    fn array_of(&self, reg: RegId) -> Option<&Array> {
        galopvm_interp::Registers::array_of(self, reg)
    }
}
