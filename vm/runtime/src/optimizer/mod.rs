//! What stands beside the interpreter in a session, and makes programs faster: tiers, plans, layouts; and the shadow that
//! checks it.
//!
//! - `order.rs`: what becomes of an operator, decided once; `execute.rs`: done. `residence.rs`: where the results of an operator live.
//! - `plan/`: where arrays of a region are made. `placed.rs`, `over.rs`: making them there. `fused.rs`: operators that run together.
//! - `loops.rs`: loops of scalar code, and those around operators that are done in blocks of rounds, by machine code.
//! - `layouts/`: arrays in the layout that operators read, for operators and for functions and loops as a whole.
//! - `shadowed.rs`: where an execution that checks this one looks. `timed.rs`: the instructions that are told to those with a clock.
//!
//! Invariants: what is decided changes no value and no error. Decisions are methods of [`Optimizer`] and execute nothing; whatever
//! executes is a function over the interpreter with the optimizer beside it ([`Executing`]). A decision of one call is not
//! that of a call inside it: what holds is kept with the depth of its call.

mod execute;
mod fused;
mod layouts;
mod loops;
mod order;
mod over;
mod placed;
mod plan;
mod residence;
mod shadowed;
mod timed;

pub(crate) use layouts::{Advices, Layouts};
pub(crate) use plan::Plans;

use crate::costs::LazyCosts;
use crate::shadow::Shadow;
use crate::switches::Switches;
use fused::Done;
use galopvm_bytecode::{BlockId, FuncId, Instr, Module, Operand, RegId, Scope};
use galopvm_data::Value;
use galopvm_interp::{Adviser, Forms, Interpreter, LoopRun, Outcome, Registers, Way};
use galopvm_lift::region::Code;
use galopvm_store::array::{Array, Granted};
use galopvm_store::memory::Memory;
use galopvm_tier::{Met, Tiers};
use layouts::{Advised, Advising};
use plan::{Active, RegionPlan, Reserves, Running};
use residence::Target;
use shadowed::Beside;
use std::sync::Arc;

/// The interpreter with the optimizer beside it.
pub(crate) type Executing<'a> = Interpreter<'a, Optimizer<'a>>;

/// What makes a session's calls faster, during one of them.
pub(crate) struct Optimizer<'a> {
    pub(crate) module: &'a Module,
    /// What recording wants to know.
    pub(crate) code: &'a Code,
    pub(crate) memory: &'a Memory,
    pub(crate) tiers: &'a mut Tiers,
    pub(crate) switches: Switches,
    /// The forms in which the interpreter executes what is left to it.
    pub(crate) forms: Forms,
    /// Whether analyses are asked, and fast ways taken, however little there is to gain.
    pub(crate) eager: bool,
    /// What decisions count with.
    pub(crate) costs: &'a LazyCosts,
    /// What is known of regions.
    pub(crate) plans: &'a mut Plans,
    /// What is known of the layouts that operators like.
    pub(crate) layouts: &'a mut Layouts,
    /// What was decided for functions and loops.
    pub(crate) advices: &'a mut Advices,
    /// The execution that checks this one.
    pub(crate) shadow: Option<&'a mut Shadow>,
    /// Whether anybody wants to see instructions: it, or somebody with a clock.
    pub(crate) is_watched: bool,
    /// What holds in the calls that are running.
    pub(crate) holding: Holding,
}

/// What holds in the calls that are running; nothing when one from outside begins.
#[derive(Default)]
pub(crate) struct Holding {
    /// Places that were set for values of registers.
    targets: Vec<Target>,
    /// The plans in use, of the innermost call last.
    active: Vec<Active>,
    /// The advice in use, of the innermost call last.
    advising: Vec<Advising>,
    /// Operators that ran together with an earlier one.
    done: Vec<Done>,
    /// What is set aside in the loops that run, the innermost last.
    loops: Vec<Reserves>,
}

/// What holds while a function, loop or round runs.
#[derive(Default)]
pub(crate) struct Region {
    advised: Option<Advised>,
    running: Option<Running>,
    is_loop: bool,
}

/// What holds while an instruction runs.
#[derive(Default)]
pub(crate) struct Noted {
    /// Homes are offered for what it makes.
    has_homes: bool,
    beside: Beside,
    /// Its end is to be told.
    is_told: bool,
}

impl<'a> Adviser<'a> for Optimizer<'a> {
    /// A plan that has homes for what the block makes.
    type Block = Option<Arc<RegionPlan>>;
    type Beside = Noted;
    type Region = Region;

    fn starts(&mut self, registers: &Registers<'a>, args: &[Value]) {
        if let Some(shadow) = &mut self.shadow {
            shadow.begin(registers.code, args);
        }
    }

    fn ends(&mut self, registers: &Registers<'a>) -> Outcome<()> {
        self.shadow_ends(registers)
    }

    fn begin_region(&mut self, registers: &Registers<'a>, scope: Scope) -> Region {
        if let Some(explainer) = &mut self.tiers.explainer {
            explainer.region(self.module, registers, scope);
        }
        let mut told = None;
        let advised = self.begin_advised(registers, scope, &mut told);
        let running = self.begin_planned(registers, scope, told);
        let is_loop = matches!(scope, Scope::Loop { .. });
        if is_loop {
            // What its rounds set aside is kept until it ends.
            self.holding.loops.push(Reserves::default());
        }
        Region { advised, running, is_loop }
    }

    fn end_region(&mut self, registers: &Registers<'a>, region: Region) {
        if region.is_loop {
            self.holding.loops.pop();
        }
        self.end_advised(registers, region.advised);
        self.end_planned(registers, region.running);
    }

    #[inline]
    fn begin_block(&self, registers: &Registers<'a>, block: BlockId) -> Option<Arc<RegionPlan>> {
        if self.holding.active.is_empty() { None } else { self.homes(registers, block) }
    }

    #[inline]
    fn before(
        &mut self,
        registers: &Registers<'a>,
        block: &Option<Arc<RegionPlan>>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Noted {
        if block.is_none() && !self.is_watched {
            return Noted::default();
        }
        let has_homes = block.as_ref().is_some_and(|plan| self.offer(registers, plan, at));
        let beside = self.shadow_before(registers, at, instr);
        Noted { has_homes, beside, is_told: self.tells_of(registers, at, instr) }
    }

    #[inline]
    fn after(
        &mut self,
        registers: &Registers<'a>,
        block: &Option<Arc<RegionPlan>>,
        at: (BlockId, usize),
        instr: &'a Instr,
        noted: Noted,
        outcome: Outcome<()>,
    ) -> Outcome<()> {
        if block.is_none() && !self.is_watched {
            return outcome;
        }
        if noted.is_told {
            self.tiers.moments.ends();
        }
        self.shadow_after(registers, instr, noted.beside, outcome)?;
        if let Some(plan) = block.as_ref().filter(|_| noted.has_homes) {
            self.withdraw(plan, at);
        }
        Ok(())
    }

    fn operator(
        interpreter: &mut Executing<'a>,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        execute::execute(interpreter, registers, at, instr)
    }

    fn runs_loop(
        interpreter: &mut Executing<'a>,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<LoopRun> {
        loops::run_loop(interpreter, registers, at, instr)
    }

    fn runs_rounds(
        interpreter: &mut Executing<'a>,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<LoopRun> {
        loops::run_rounds(interpreter, registers, at, instr)
    }

    fn trapped_falsely(&mut self, site: u32) {
        self.tiers.false_trap(site);
    }

    #[inline]
    fn has_run(&mut self, registers: &mut Registers<'a>, at: (BlockId, usize), instr: &'a Instr) -> bool {
        !self.holding.done.is_empty() && self.ran_with(registers, at, instr).is_some()
    }

    #[inline]
    fn opens(&mut self, registers: &Registers<'a>, (block, index): (BlockId, usize)) -> bool {
        self.tiers.explainer.as_mut().is_some_and(|told| told.opens(registers, block, index))
    }

    #[inline]
    fn place(&mut self, registers: &Registers<'a>, result: RegId) -> Outcome<Option<Granted>> {
        if self.holding.active.is_empty() { Ok(None) } else { self.planned_one(registers, result) }
    }

    #[inline]
    fn may_write(&self, registers: &Registers<'a>, result: RegId, array: &Array) -> Option<usize> {
        if self.holding.active.is_empty() { None } else { self.may_update(registers, result, array) }
    }

    fn moves(&mut self, from: &[Operand], to: impl IntoIterator<Item = RegId>) {
        self.shadow_moves(from, to);
    }

    fn counts(&mut self, counter: RegId, number: i64) {
        self.shadow_counts(counter, number);
    }

    fn enters(&mut self, function: FuncId, args: &[Operand]) {
        self.shadow_enters(function, args);
    }

    fn leaves(&mut self, function: FuncId, to: impl IntoIterator<Item = RegId>) {
        self.shadow_leaves(function, to);
    }

    #[inline]
    fn executed(&self, way: Way) {
        self.tiers.moments.interprets(way);
        self.tiers.coverage.met(match way {
            Way::Blocks => Met::RunBlocks,
            Way::Loop => Met::RunLoop,
            Way::Unit => Met::RunUnit,
            Way::UnitLeft => Met::RunUnitLeft,
            Way::Strands => Met::RunStrands,
        });
    }
}
