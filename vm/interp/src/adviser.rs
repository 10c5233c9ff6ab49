//! Who stands beside the interpreter: the door for everything that makes programs faster, and for everything that looks on.
//!
//! An adviser may execute an operator in another way, say in which block an array is made, and see what happens. Each
//! question has the answer of somebody who knows nothing as its default, and [`Plain`] gives all of these.
//!
//! Invariants: whoever advises, values and errors are those of the plain meaning. A region that was begun is ended, unless
//! the call ends with an error. What an adviser is asked for at an instruction, it is asked before operands are taken.

use crate::{Interpreter, Outcome, Registers};
use galopvm_bytecode::{BlockId, FuncId, Instr, Operand, RegId, Scope};
use galopvm_data::Value;
use galopvm_store::array::{Array, Granted};

/// In which way the interpreter executes something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// An operator, a block for each row.
    Blocks,
    /// A loop, block by block.
    Loop,
    /// An operator or a loop as a unit.
    Unit,
    /// A unit was left to those that see the operators in it.
    UnitLeft,
    /// A reduction in strands.
    Strands,
}

/// What an adviser did with a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopRun {
    /// It has run, and its results are in their registers.
    Done,
    /// It is the interpreter's.
    Left,
    /// It is the interpreter's, since code of this site trapped.
    Trapped(u32),
}

/// Somebody beside the interpreter.
pub trait Adviser<'a>: Sized + Send {
    /// What is known of a block while it is executed.
    type Block: Default;
    /// What is known of an instruction while it is executed.
    type Beside: Default;
    /// What is known of a function, loop or round while it runs.
    type Region: Default;

    /// A call from outside begins.
    fn starts(&mut self, _registers: &Registers<'a>, _args: &[Value]) {}

    /// It ends without an error; an error says that something is wrong with the machine.
    fn ends(&mut self, _registers: &Registers<'a>) -> Outcome<()> {
        Ok(())
    }

    /// A function, loop or round is about to run.
    fn begin_region(&mut self, _registers: &Registers<'a>, _scope: Scope) -> Self::Region {
        Self::Region::default()
    }

    /// It has run without an error.
    fn end_region(&mut self, _registers: &Registers<'a>, _region: Self::Region) {}

    /// A block is about to run.
    fn begin_block(&self, _registers: &Registers<'a>, _block: BlockId) -> Self::Block {
        Self::Block::default()
    }

    /// An instruction is about to run.
    fn before(
        &mut self,
        _registers: &Registers<'a>,
        _block: &Self::Block,
        _at: (BlockId, usize),
        _instr: &'a Instr,
    ) -> Self::Beside {
        Self::Beside::default()
    }

    /// An instruction has run, or failed; what is given back is its outcome.
    fn after(
        &mut self,
        _registers: &Registers<'a>,
        _block: &Self::Block,
        _at: (BlockId, usize),
        _instr: &'a Instr,
        _beside: Self::Beside,
        outcome: Outcome<()>,
    ) -> Outcome<()> {
        outcome
    }

    /// Executes an operator, a scatter or a histogram.
    fn operator(
        interpreter: &mut Interpreter<'a, Self>,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        interpreter.interpret(registers, at, instr)
    }

    /// Executes a loop that would be a unit, if there is a faster way.
    fn runs_loop(
        _interpreter: &mut Interpreter<'a, Self>,
        _registers: &mut Registers<'a>,
        _at: (BlockId, usize),
        _instr: &'a Instr,
    ) -> Outcome<LoopRun> {
        Ok(LoopRun::Left)
    }

    /// Executes a loop around operators, if there is a faster way than round by round.
    fn runs_rounds(
        _interpreter: &mut Interpreter<'a, Self>,
        _registers: &mut Registers<'a>,
        _at: (BlockId, usize),
        _instr: &'a Instr,
    ) -> Outcome<LoopRun> {
        Ok(LoopRun::Left)
    }

    /// Code of a site trapped, and the interpreter did not.
    fn trapped_falsely(&mut self, _site: u32) {}

    /// Whether an instruction has run already, together with an operator before it.
    fn has_run(&mut self, _registers: &mut Registers<'a>, _at: (BlockId, usize), _instr: &'a Instr) -> bool {
        false
    }

    /// Whether a loop is to be executed block by block, since somebody wants to see what is in it.
    fn opens(&mut self, _registers: &Registers<'a>, _at: (BlockId, usize)) -> bool {
        false
    }

    /// The place where the value of a register is to be made, if it has one.
    fn place(&mut self, _registers: &Registers<'a>, _result: RegId) -> Outcome<Option<Granted>> {
        Ok(None)
    }

    /// How many hold the block of an array that an update may change although it is not the only holder.
    fn may_write(&self, _registers: &Registers<'a>, _result: RegId, _array: &Array) -> Option<usize> {
        None
    }

    /// Registers get the values of operands.
    fn moves(&mut self, _from: &[Operand], _to: impl IntoIterator<Item = RegId>) {}

    /// A loop's counter gets a number.
    fn counts(&mut self, _counter: RegId, _number: i64) {}

    /// A call begins.
    fn enters(&mut self, _function: FuncId, _args: &[Operand]) {}

    /// A call ends.
    fn leaves(&mut self, _function: FuncId, _to: impl IntoIterator<Item = RegId>) {}

    /// Something was executed in such a way.
    fn executed(&self, _way: Way) {}
}

/// Nobody: the program means what it means.
#[derive(Clone, Copy, Default, Debug)]
pub struct Plain;

impl Adviser<'_> for Plain {
    type Block = ();
    type Beside = ();
    type Region = ();
}
