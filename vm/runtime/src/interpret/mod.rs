//! The interpreter: the meaning of the bytecode.
//!
//! - `mod.rs`: calls, blocks, the one loop over instructions; fuel, interrupts, back traces. `frame.rs`: registers.
//!   `prepare.rs`: facts of the code. `scalar.rs`, `arrays.rs`, `control.rs`, `soac.rs`, `index_space.rs`, `select.rs`: instructions
//!   by family.
//!   `show.rs`: what programs show and what hosts tell them.
//!   `delay.rs`: ranges that need no memory. `machine/`: loops and operators of scalar code as flat code. `strands.rs`: the
//!   order in which reductions combine.
//!   `order.rs`: what becomes of an operator, decided once; `execute.rs`: done.
//!   `residence.rs`: where the results of an operator live. `plan/`: where arrays of a region are made. `placed.rs`, `over.rs`,
//!   `join.rs`: making them there, `fused.rs`: operators that run together.
//!   `layouts.rs`: copies in the layout that operators read. `advised.rs`: layouts for functions and loops as a whole.
//!   `shadowed.rs`: where an execution that checks this one looks.
//!   `shape.rs`: shapes of values that were never computed, and the work that a block will be.
//!
//! Recursion over blocks and calls uses the Rust stack; where that gets short, the next block continues on a thread
//! with a fresh stack, so that only the call-depth limit bounds programs.

mod advised;
mod arrays;
mod control;
mod delay;
mod execute;
mod frame;
mod fused;
mod index_space;
mod join;
mod layouts;
mod machine;
mod order;
mod over;
mod placed;
mod plan;
mod prepare;
mod refused;
mod residence;
mod scalar;
mod select;
mod shadowed;
mod shape;
mod show;
mod soac;
mod strands;

pub use show::{ShowSink, Shown};

pub(crate) use advised::Advices;
pub(crate) use frame::{Frame, Registers};
pub(crate) use machine::Slots;
pub(crate) use plan::Plans;
pub(crate) use prepare::Prepared;
pub(crate) use show::Host;

use advised::Advising;
use fused::Done;
use plan::{Active, Reserves};
use residence::Target;

use crate::costs::LazyCosts;
use crate::layouts::Layouts;
use crate::shadow::Shadow;
use crate::stack;
use crate::switches::Switches;
use galopvm_base::scalar::{convert, eval1, eval3};
use galopvm_bytecode::{BlockId, CodeBlock, FuncId, Instr, Module, Place, module::BODY, on_arrays};
use galopvm_data::Value;
use galopvm_lift::region::Scope;
use galopvm_store::error::{CallSite, ErrorKind, RuntimeError, Trap};
use galopvm_store::memory::Memory;
use galopvm_store::stop::Stop;
use galopvm_tier::Tiers;
use std::time::Duration;

/// A result, or an error with as much of its back trace as is known.
pub(crate) type Outcome<T> = Result<T, Box<RuntimeError>>;

/// Operations between two looks at the interrupt flag.
const LOOK_AFTER: u64 = 4096;

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

/// One execution, from a call from outside to its return.
pub(crate) struct Interpreter<'a> {
    module: &'a Module,
    prepared: &'a Prepared,
    memory: &'a Memory,
    stop: &'a Stop,
    tiers: &'a mut Tiers,
    /// Operations until the next look at the flag.
    until_look: u64,
    /// Operations left after those.
    fuel: u64,
    depth: usize,
    depth_limit: usize,
    /// Where the stack is too short for another block.
    stack_floor: usize,
    /// Frames for further calls.
    spare: Vec<Frame>,
    switches: Switches,
    /// Whether analyses are asked, and fast ways taken, however little there is to gain.
    pub(crate) eager: bool,
    /// What the host gives besides arguments.
    pub(crate) host: Host<'a>,
    /// The slots of units, as soon as one has run.
    pub(crate) slots: Option<Box<Slots>>,
    /// Places that were set for values of registers.
    targets: Vec<Target>,
    /// What is known of regions.
    pub(crate) plans: Plans,
    /// The plans in use, of the innermost call last.
    active: Vec<Active>,
    /// Operators that ran together with an earlier one.
    done: Vec<Done>,
    /// What is known of the layouts that operators like.
    pub(crate) layouts: Layouts,
    /// What was decided for functions and loops, and what of it holds now, of the innermost call last.
    pub(crate) advices: Advices,
    advising: Vec<Advising>,
    /// What decisions count with.
    pub(crate) costs: LazyCosts,
    /// What is set aside in the loops that run, the innermost last.
    loops: Vec<Reserves>,
    /// The execution that checks this one.
    pub(crate) shadow: Option<Box<Shadow>>,
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(
        module: &'a Module,
        prepared: &'a Prepared,
        memory: &'a Memory,
        stop: &'a Stop,
        tiers: &'a mut Tiers,
        limits: &Limits,
        switches: Switches,
    ) -> Interpreter<'a> {
        Interpreter {
            module,
            prepared,
            memory,
            stop,
            tiers,
            until_look: 0,
            fuel: limits.fuel.unwrap_or(u64::MAX),
            depth: 0,
            depth_limit: limits.call_depth,
            stack_floor: stack::floor(),
            spare: Vec::new(),
            switches,
            eager: false,
            host: Host::default(),
            slots: None,
            targets: Vec::new(),
            plans: Plans::default(),
            active: Vec::new(),
            done: Vec::new(),
            layouts: Layouts::default(),
            advices: Advices::default(),
            advising: Vec::new(),
            costs: LazyCosts::default(),
            loops: Vec::new(),
            shadow: None,
        }
    }

    /// Calls a function with arguments of its types.
    pub(crate) fn run(&mut self, function: FuncId, args: Vec<Value>) -> Outcome<Vec<Value>> {
        // The thread that runs need not be the one that prepared the call.
        self.stack_floor = stack::floor();
        let mut registers = self.enter(function)?;
        if let Some(shadow) = &mut self.shadow {
            shadow.begin(registers.code, &args);
        }
        for (param, value) in registers.code.params.iter().zip(args) {
            registers.set_value(*param, value);
        }
        let region = self.begin_region(&registers, Scope::Function);
        let outcome =
            self.block(&mut registers, BODY).and_then(|()| self.shadow_ends(&registers)).map(|()| {
                let body = &registers.code.blocks[BODY];
                body.results.iter().map(|operand| registers.value(*operand)).collect()
            });
        self.end_region(region);
        self.leave(registers);
        outcome
    }

    /// Records what is about to run, if somebody wants to know what becomes of its copies.
    fn explain(&mut self, registers: &Registers<'a>, scope: Scope) {
        if let Some(explainer) = &mut self.tiers.explainer {
            explainer.region(self.module, registers, scope);
        }
    }

    /// A frame for a call.
    fn enter(&mut self, function: FuncId) -> Outcome<Registers<'a>> {
        if self.depth >= self.depth_limit {
            let message = format!("Calls are nested more than {} deep.", self.depth_limit);
            return Err(Trap::of_kind(ErrorKind::CallDepth, message).into());
        }
        self.depth += 1;
        let prepared = &self.prepared.functions[function];
        let mut frame = self.spare.pop().unwrap_or_default();
        frame.resize(prepared);
        Ok(Registers { function, code: &self.module.functions[function], prepared, frame })
    }

    fn leave(&mut self, registers: Registers<'a>) {
        self.depth -= 1;
        let mut frame = registers.frame;
        frame.clear();
        self.spare.push(frame);
    }

    /// Pays for some operations, and now and then looks whether to go on.
    #[inline]
    pub(crate) fn pay(&mut self, operations: u64) -> Outcome<()> {
        match self.until_look.checked_sub(operations) {
            Some(left) => {
                self.until_look = left;
                Ok(())
            }
            None => self.look(operations),
        }
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
    pub(crate) fn block(&mut self, registers: &mut Registers<'a>, id: BlockId) -> Outcome<()> {
        if stack::position() <= self.stack_floor {
            return self.block_on_fresh_stack(registers, id);
        }
        let block: &'a CodeBlock = &registers.code.blocks[id];
        self.pay(block.code.len() as u64 + 1)?;
        let mut captured = registers.prepared.blocks[id].captured.iter();
        let mut next = captured.next();
        let homes = if self.active.is_empty() { None } else { self.homes(id) };
        for (index, instr) in block.code.iter().enumerate() {
            let offers = homes.as_ref().filter(|plan| self.offer(plan, id, index));
            let outcome = match self.shadow {
                None => self.instruction(registers, id, index, instr),
                Some(_) => {
                    let beside = self.shadow_before(registers, (id, index), instr);
                    let outcome = self.instruction(registers, id, index, instr);
                    self.shadow_after(registers, instr, beside, outcome)
                }
            };
            if let Err(mut error) = outcome {
                if error.trace.is_empty() || matches!(instr, Instr::Call { .. }) {
                    self.trace(&mut error.trace, registers, block, index);
                }
                return Err(error);
            }
            if let Some(plan) = offers {
                self.withdraw(plan, id, index);
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
    fn trace(&self, trace: &mut Vec<CallSite>, registers: &Registers<'a>, block: &CodeBlock, index: usize) {
        let site = |place: Option<Place>| {
            let file = place.and_then(|p| self.module.files.get(p.file as usize)).cloned();
            CallSite { function: registers.code.name.clone(), file, place }
        };
        match block.place(index) {
            Some(place) => trace.extend(self.module.call_chain(place).map(|place| site(Some(place)))),
            None => trace.push(site(None)),
        }
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
                if !self.done.is_empty() && self.ran_with(registers, (block, at), instr).is_some() => {}
            Instr::Map { .. } | Instr::Reduce { .. } | Instr::Scan { .. } | Instr::Redomap { .. } => {
                return self.operator(registers, block, at, instr);
            }
            Instr::Scatter { .. } | Instr::Hist { .. } => return self.write(registers, (block, at), instr),
            Instr::Filter { .. } | Instr::Partition { .. } => {
                return self.select(registers, (block, at), instr);
            }
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
}
