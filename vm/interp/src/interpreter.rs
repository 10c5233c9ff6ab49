//! Executing code: calls, blocks, the one loop over instructions; fuel, interrupts, back traces.

use crate::adviser::Adviser;
use crate::frame::Frame;
use crate::machine::{Forms, Slots};
use crate::prepare::Prepared;
use crate::show::Host;
use crate::{Registers, arrays, scalar, stack};
use galopvm_base::scalar::{convert, eval1, eval3};
use galopvm_bytecode::{
    BlockId, CodeBlock, FuncId, Function, Instr, Module, Operand, Place, Scope, module::BODY, on_arrays,
};
use galopvm_data::Value;
use galopvm_store::error::{CallSite, ErrorKind, RuntimeError, Trap, open_row};
use galopvm_store::memory::Memory;
use galopvm_store::stop::Stop;
use std::time::Duration;

/// A result, or an error with as much of its back trace as is known.
pub type Outcome<T> = Result<T, Box<RuntimeError>>;

/// Operations between two looks at the interrupt flag.
const LOOK_AFTER: u64 = 4096;

/// Frames that are kept for further calls, at most.
const MOST_SPARE: usize = 64;

/// What bounds an execution.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Operations (instructions, and elements of bulk work) that one call from outside may execute.
    pub fuel: Option<u64>,
    /// Bytes in use at one time.
    pub memory: Option<u64>,
    /// Time that one call from outside may take.
    pub timeout: Option<Duration>,
    /// Calls nested in each other.
    pub call_depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { fuel: None, memory: None, timeout: None, call_depth: 100_000 }
    }
}

/// What an execution is given.
pub struct Setup<'a> {
    /// The program.
    pub module: &'a Module,
    /// What is known of its code.
    pub prepared: &'a Prepared,
    /// Where arrays are made.
    pub memory: &'a Memory,
    /// What ends the call.
    pub stop: &'a Stop,
    /// What else bounds it.
    pub limits: &'a Limits,
    /// The faster forms that are taken.
    pub forms: Forms,
    /// Whether ranges wait until they are wanted, however short they are.
    pub eager: bool,
    /// What the host gives besides arguments.
    pub host: Host<'a>,
    /// What earlier executions left to be used again.
    pub rooms: &'a mut Rooms,
}

/// Memory that executions use one after the other. What is in it between them has no meaning.
#[derive(Default)]
pub struct Rooms {
    /// The slots of units, as soon as one has run.
    pub(crate) slots: Option<Box<Slots>>,
    /// Frames for further calls.
    spare: Vec<Frame>,
}

/// One execution, from a call from outside to its return.
pub struct Interpreter<'a, A> {
    /// Who stands beside it.
    pub adviser: A,
    pub(crate) module: &'a Module,
    prepared: &'a Prepared,
    pub(crate) memory: &'a Memory,
    pub(crate) stop: &'a Stop,
    pub(crate) forms: Forms,
    pub(crate) eager: bool,
    pub(crate) host: Host<'a>,
    pub(crate) rooms: &'a mut Rooms,
    /// Operations until the next look at the flag.
    pub(crate) until_look: u64,
    /// Operations left after those.
    fuel: u64,
    depth: usize,
    depth_limit: usize,
    /// Where the stack is too short for another block.
    stack_floor: usize,
    /// The calls that are being executed: whose code, and where it calls.
    pub(crate) callers: Vec<(&'a Function, (BlockId, usize))>,
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// An execution with somebody beside it.
    pub fn new(setup: Setup<'a>, adviser: A) -> Interpreter<'a, A> {
        let Setup { module, prepared, memory, stop, limits, forms, eager, host, rooms } = setup;
        Interpreter {
            adviser,
            module,
            prepared,
            memory,
            stop,
            forms,
            eager,
            host,
            rooms,
            until_look: 0,
            fuel: limits.fuel.unwrap_or(u64::MAX),
            depth: 0,
            depth_limit: limits.call_depth,
            stack_floor: stack::floor(),
            callers: Vec::new(),
        }
    }

    /// Calls a function with arguments of its types.
    pub fn run(&mut self, function: FuncId, args: Vec<Value>) -> Outcome<Vec<Value>> {
        // The thread that runs need not be the one that prepared the call.
        self.stack_floor = stack::floor();
        let mut registers = self.enter(function)?;
        self.adviser.starts(&registers, &args);
        for (param, value) in registers.code.params.iter().zip(args) {
            registers.set_value(*param, value);
        }
        let region = self.adviser.begin_region(&registers, Scope::Function);
        let outcome =
            self.block(&mut registers, BODY).and_then(|()| self.adviser.ends(&registers)).map(|()| {
                let body = &registers.code.blocks[BODY];
                body.results.iter().map(|operand| registers.value(*operand)).collect()
            });
        self.adviser.end_region(&registers, region);
        self.leave(registers);
        outcome
    }

    /// A frame for a call.
    pub(crate) fn enter(&mut self, function: FuncId) -> Outcome<Registers<'a>> {
        if self.depth >= self.depth_limit {
            let message = format!("Calls are nested more than {} deep.", self.depth_limit);
            return Err(Trap::of_kind(ErrorKind::CallDepth, message).into());
        }
        self.depth += 1;
        let prepared = &self.prepared.functions[function];
        let mut frame = self.rooms.spare.pop().unwrap_or_default();
        frame.resize(prepared);
        Ok(Registers { function, code: &self.module.functions[function], prepared, depth: self.depth, frame })
    }

    pub(crate) fn leave(&mut self, registers: Registers<'a>) {
        self.depth -= 1;
        let mut frame = registers.frame;
        frame.clear();
        if self.rooms.spare.len() < MOST_SPARE {
            self.rooms.spare.push(frame);
        }
    }

    /// Pays for some operations, and now and then looks whether to go on.
    #[inline]
    pub fn pay(&mut self, operations: u64) -> Outcome<()> {
        match self.until_look.checked_sub(operations) {
            Some(left) => {
                self.until_look = left;
                Ok(())
            }
            None => self.look(operations),
        }
    }

    /// Whether operations are counted, since there is a limit of them.
    pub fn has_fuel_limit(&self) -> bool {
        self.fuel != u64::MAX
    }

    #[cold]
    fn look(&mut self, operations: u64) -> Outcome<()> {
        self.stop.check()?;
        let missing = operations - self.until_look;
        let Some(left) = self.fuel.checked_sub(missing) else {
            return Err(Trap::of_kind(ErrorKind::OutOfFuel, "Out of fuel.").into());
        };
        self.until_look = left.min(LOOK_AFTER);
        // Without a limit the fuel is refilled by never being taken.
        self.fuel = if self.fuel == u64::MAX { u64::MAX } else { left - self.until_look };
        Ok(())
    }

    /// Executes a block; its results are then in the registers that it names.
    pub fn block(&mut self, registers: &mut Registers<'a>, id: BlockId) -> Outcome<()> {
        if stack::position() <= self.stack_floor {
            return self.block_on_fresh_stack(registers, id);
        }
        let block: &'a CodeBlock = &registers.code.blocks[id];
        self.pay(block.code.len() as u64 + 1)?;
        let mut captured = registers.prepared.blocks[id].captured.iter();
        let mut next = captured.next();
        let known = self.adviser.begin_block(registers, id);
        for (index, instr) in block.code.iter().enumerate() {
            let at = (id, index);
            let beside = self.adviser.before(registers, &known, at, instr);
            let outcome = self.instruction(registers, id, index, instr);
            let outcome = self.adviser.after(registers, &known, at, instr, beside, outcome);
            if let Err(mut error) = outcome {
                if error.trace.is_empty() || matches!(instr, Instr::Call { .. }) {
                    self.trace(&mut error.trace, registers.code, block, index);
                }
                if let Some(row) = open_row(&mut error) {
                    row.operator = Some(self.site(registers, block, index));
                }
                return Err(error);
            }
            if let Some((_, slots)) = next.filter(|(at, _)| *at == index) {
                registers.release(slots);
                next = captured.next();
            }
        }
        Ok(())
    }

    fn block_on_fresh_stack(&mut self, registers: &mut Registers<'a>, id: BlockId) -> Outcome<()> {
        let floor = self.stack_floor;
        let outcome = stack::on_fresh(|| {
            self.stack_floor = stack::fresh_floor();
            self.block(registers, id)
        });
        self.stack_floor = floor;
        outcome.unwrap_or_else(|| Err(stack::no_room().into()))
    }

    /// Adds an instruction to a back trace, with the calls whose callees' bodies it stands in.
    pub(crate) fn trace(&self, trace: &mut Vec<CallSite>, code: &Function, block: &CodeBlock, index: usize) {
        match block.place(index) {
            Some(place) => {
                trace.extend(self.module.call_chain(place).map(|place| self.site_of(code, Some(place))))
            }
            None => trace.push(self.site_of(code, None)),
        }
    }

    /// Where an instruction comes from.
    pub(crate) fn site(&self, registers: &Registers<'a>, block: &CodeBlock, index: usize) -> CallSite {
        let innermost = block.place(index).and_then(|place| self.module.call_chain(place).next());
        self.site_of(registers.code, innermost)
    }

    fn site_of(&self, code: &Function, place: Option<Place>) -> CallSite {
        let file = place.and_then(|place| self.module.files.get(place.file as usize)).cloned();
        CallSite { function: code.name.clone(), file, place }
    }

    #[inline]
    fn instruction(
        &mut self,
        registers: &mut Registers<'a>,
        block: BlockId,
        at: usize,
        instr: &'a Instr,
    ) -> Outcome<()> {
        match instr {
            Instr::Const { dst, value } => registers.set_bits(dst.0, value.bits),
            Instr::Op1 { dst, op, ty, a } => registers.set_bits(dst.0, eval1(*op, *ty, registers.bits(*a))),
            Instr::Op2 { dst, op, ty, a, b } => {
                match scalar::op2(*op, *ty, registers.bits(*a), registers.bits(*b)) {
                    Ok(bits) => registers.set_bits(dst.0, bits),
                    Err(trap) => return Err(Trap::new(trap.to_string()).into()),
                }
            }
            Instr::Op3 { dst, op, ty, a, b, c } => {
                let bits = eval3(*op, *ty, registers.bits(*a), registers.bits(*b), registers.bits(*c));
                registers.set_bits(dst.0, bits);
            }
            Instr::Convert { dst, from, to, a } => {
                registers.set_bits(dst.0, convert(*from, *to, registers.bits(*a)));
            }
            Instr::If { .. }
            | Instr::For { .. }
            | Instr::While { .. }
            | Instr::Call { .. }
            | Instr::Assert { .. }
            | Instr::Fail { .. } => {
                return self.control(registers, block, at, instr);
            }
            Instr::Trace { .. } | Instr::Param { .. } => {
                return self.show_instruction(registers, block, at, instr);
            }
            Instr::Dim { dst, array, dim } => {
                let extent = registers.array(*array).lmad().dims[*dim as usize].size;
                registers.set_bits(dst.0, extent as u64);
                registers.drop_last(*array);
            }
            Instr::Index { dst, array, index } => return arrays::index(registers, *dst, *array, index),
            Instr::Replicate { .. } | Instr::Copy { .. }
                if self.adviser.has_run(registers, (block, at), instr) => {}
            Instr::Map { .. }
            | Instr::Reduce { .. }
            | Instr::Scan { .. }
            | Instr::Redomap { .. }
            | Instr::Scatter { .. }
            | Instr::Hist { .. }
            | Instr::Filter { .. }
            | Instr::Partition { .. } => return A::operator(self, registers, (block, at), instr),
            Instr::Stream { dsts, width, accs, arrays, body } => {
                return self.stream(registers, dsts, *width, [accs, arrays], *body);
            }
            Instr::AccWrite { dsts, accs, index, values, op } => {
                return self.acc_write(registers, dsts, [accs, index, values], *op);
            }
            on_arrays!() => return self.array_instruction(registers, instr),
        }
        Ok(())
    }

    /// Executes an operator, a scatter or a histogram row after row: what it means.
    pub fn interpret(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        let width = iterations(registers, instr.parts().width.expect("whatever goes over rows has a width"))?;
        match (instr.operator(), instr) {
            (Some(operator), Instr::Filter { .. } | Instr::Partition { .. }) => {
                self.choose_rows(registers, at, width, &operator, None)
            }
            (Some(operator), _) => self.interpret_operator(registers, at, width, &operator),
            (None, _) => self.interpret_write(registers, at, instr),
        }
    }
}

/// The iterations of an operator.
pub fn iterations(registers: &Registers<'_>, width: Operand) -> Outcome<i64> {
    let width = registers.int(width);
    match width < 0 {
        true => Err(Trap::new(format!("An operator cannot have {width} iterations.")).into()),
        false => Ok(width),
    }
}
