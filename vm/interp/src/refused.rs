//! Why a faster form of an operator or a loop does not exist, or is not taken; and which form the interpreter takes.

use crate::strands::{items_in_strands, strands};
use crate::{Forms, Registers};
use galopvm_bytecode::{BlockId, Instr, Opcode};
use std::fmt;

/// What stands in the way of a faster form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The form is switched off.
    SwitchedOff,
    /// This.
    Because(&'static str),
    /// An instruction that the form does not have.
    Instruction(Opcode),
}

/// What the code of a faster form is made with.
pub(crate) type Made<T> = Result<T, Refused>;

/// An operation on scalars that the form does not have.
pub(crate) const NO_SUCH_OPERATION: Refused = Refused::Because("a scalar operation that it does not have");

/// The code is not that of a loop or an operator.
pub(crate) const NO_FORM: Refused = Refused::Because("it has no such form");

/// There is no number left for something.
pub(crate) const TOO_LARGE: Refused = Refused::Because("its code is too large");

/// The form in which the interpreter executes an operator, and the faster one that it does not take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FormTaken {
    /// Its name.
    pub name: &'static str,
    /// The name of the other one, and what stands in its way.
    pub declined: Option<(&'static str, Refused)>,
}

impl Forms {
    /// The form in which an operator over so many rows is executed, unless a program gives up on its numbers.
    pub fn form_of(
        self,
        registers: &Registers<'_>,
        (block, index): (BlockId, usize),
        width: i64,
    ) -> FormTaken {
        let (name, outcome) = match strands(registers, (block, index), width) {
            Some(found) => ("strands", items_in_strands(self, registers, (block, index), found).map(drop)),
            None => ("a unit", self.unit_or_why(registers, block, index).map(drop)),
        };
        match outcome {
            Ok(()) => FormTaken { name, declined: None },
            Err(refused) => FormTaken { name: "single rows", declined: Some((name, refused)) },
        }
    }
}

impl Refused {
    /// The form does not have this instruction.
    pub(crate) fn instruction(instr: &Instr) -> Refused {
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
