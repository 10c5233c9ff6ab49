//! Why a faster form of an operator or a loop does not exist, or is not taken; and which form the interpreter takes.

use super::{Interpreter, Registers};
use galopvm_bytecode::{BlockId, Instr, Opcode};
use galopvm_tier::FormTaken;
use std::fmt;

/// What stands in the way of a faster form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// The form is switched off.
    SwitchedOff,
    /// This.
    Because(&'static str),
    /// An instruction that the form does not have.
    Instruction(Opcode),
}

/// What the code of a faster form is made with.
pub(super) type Made<T> = Result<T, Refused>;

/// An operation on scalars that the form does not have.
pub(super) const NO_SUCH_OPERATION: Refused = Refused::Because("a scalar operation that it does not have");

/// The code is not that of a loop or an operator.
pub(super) const NO_FORM: Refused = Refused::Because("it has no such form");

/// There is no number left for something.
pub(super) const TOO_LARGE: Refused = Refused::Because("its code is too large");

impl<'a> Interpreter<'a> {
    /// The form in which the interpreter executes an operator over so many rows, unless a program gives up on its numbers.
    pub(super) fn form_of(
        &self,
        registers: &Registers<'a>,
        (block, index): (BlockId, usize),
        width: i64,
    ) -> FormTaken {
        let mut declined = Vec::new();
        let (form, outcome) = match self.strands(registers, (block, index), width) {
            Some(strands) => ("strands", self.items_in_strands(registers, (block, index), strands).map(drop)),
            None => ("a unit", self.unit_or_why(registers, block, index).map(drop)),
        };
        match outcome {
            Ok(()) => return FormTaken { form, declined },
            Err(refused) => declined.push((form, refused.to_string())),
        }
        FormTaken { form: "single rows", declined }
    }
}

impl Refused {
    /// The form does not have this instruction.
    pub(super) fn instruction(instr: &Instr) -> Refused {
        Refused::Instruction(instr.opcode())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::SwitchedOff => f.write_str("switched off"),
            Refused::Because(reason) => f.write_str(reason),
            Refused::Instruction(opcode) => write!(f, "`{}` in it", opcode.row().mnemonic),
        }
    }
}
