//! Plans: the verdicts of short-circuiting, applied while a region runs.
//!
//! When a function or a loop is about to run that copies arrays into others, it is recorded (`region/`), the analysis
//! says which arrays can be built in the place they would be copied to, and what is left is a *plan*: for registers, the
//! block and the view that their value is made in (`build.rs`). While the region runs, instructions that make arrays ask
//! for the place of their result (`place.rs`). Where a copy finds that its source lies in its target already, there is
//! nothing to do (`arrays.rs`, `placed.rs`): so the plan is needed where arrays are made only.
//!
//! Invariants: a plan is used only with the numbers it was made for. A place is given only in a block that nobody holds
//! but registers that the plan knows; otherwise an array is made as always, and the copy is done.

mod build;
mod place;

pub(crate) use build::RegionPlan;

use super::{Interpreter, Registers};
use crate::array::{Array, Granted};
use crate::explain::{AppliedSeen, Explained};
use crate::region::{self, Scope, Seen};
use galopvm_analysis::circuit::Outcome;
use galopvm_bytecode::{BlockId, FuncId, Function, Instr, Operand, RegId, field::Fields, module::BODY};
use galopvm_lmad::Lmad;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Numbers that one place is planned for without asking whether it pays.
const FREE: u32 = 32;

/// Plans that are kept for one place.
const MOST_PLANS: usize = 8;

/// Beyond the first ones, plans are made as long as the analysis takes at most this part of the time that runs take.
const PART: u32 = 8;

/// Fewer elements are not worth a plan.
const LEAST_ELEMENTS: i64 = 256;

/// All plans of a session.
#[derive(Default)]
pub(crate) struct Plans {
    sites: HashMap<(FuncId, Scope), SitePlans>,
}

/// What is known of one function or loop.
#[derive(Default)]
struct SitePlans {
    /// The registers from outside that the code uses.
    free: Arc<[RegId]>,
    /// Whether anything in it copies arrays into others, and whether there are loops.
    copies: bool,
    loops: bool,
    known: Vec<(Numbers, Option<Arc<RegionPlan>>)>,
    made: u32,
    analysed: Duration,
    ran: Duration,
}

/// What a plan depends on.
#[derive(Clone, PartialEq, Debug, Default)]
struct Numbers {
    scalars: Vec<u64>,
    /// For each array its view, which of the arrays has the same block first, and whether others hold it.
    arrays: Vec<(Lmad, usize, bool)>,
}

/// A plan in use.
pub(crate) struct Active {
    plan: Arc<RegionPlan>,
    /// How deep calls are nested where it holds.
    depth: usize,
    /// The rows that operators with a place are at, innermost last.
    rows: Vec<(BlockId, i64)>,
    /// Places whose arrays are being made.
    making: Vec<(galopvm_kir::VarId, Granted)>,
}

/// To be given back when the region ends.
pub(super) struct Running {
    site: (FuncId, Scope),
    start: Instant,
}

impl<'a> Interpreter<'a> {
    /// Takes a plan for what is about to run, if there is one.
    pub(super) fn begin_region(&mut self, registers: &Registers<'a>, scope: Scope) -> Option<Running> {
        self.explain(registers, scope);
        if !self.switches.shortcircuit || self.plan_here().is_some() {
            return None;
        }
        let site = (registers.function, scope);
        let known = self.plans.sites.entry(site).or_insert_with(|| SitePlans::of(registers.code, scope));
        // Where no plan ever helped there will be no more.
        let is_hopeless = known.made >= FREE && known.ran.is_zero() && !self.eager;
        if !known.copies || is_hopeless {
            return None;
        }
        let (free, has_loops) = (known.free.clone(), known.loops);
        let numbers = numbers(registers, &free)?;
        let plan = match known.known.iter().find(|(other, _)| *other == numbers) {
            Some((_, plan)) => plan.clone(),
            None if !self.eager && known.made >= FREE && known.analysed > known.ran / PART => return None,
            None => {
                let start = Instant::now();
                let plan = self.make_plan(registers, scope, &free, has_loops).map(Arc::new);
                let known = self.plans.sites.entry(site).or_default();
                known.analysed += start.elapsed();
                known.made += 1;
                if known.known.len() >= MOST_PLANS {
                    known.known.remove(0);
                }
                known.known.push((numbers, plan.clone()));
                plan
            }
        };
        let plan = plan?;
        if let Some(explainer) = &self.tiers.explainer {
            let (function, scope) = site;
            let moved = plan.made.keys().copied().collect();
            explainer.tell(Explained::Applied(AppliedSeen { function, scope, moved }));
        }
        self.active.push(Active { plan, depth: self.depth, rows: Vec::new(), making: Vec::new() });
        Some(Running { site, start: Instant::now() })
    }

    /// Gives the plan back.
    pub(super) fn end_region(&mut self, running: Option<Running>) {
        let Some(Running { site, start }) = running else { return };
        if self.plan_here().is_some() {
            self.active.pop();
        }
        if let Some(known) = self.plans.sites.get_mut(&site) {
            known.ran += start.elapsed();
        }
    }

    /// The plan that holds for the running call.
    fn plan_here(&self) -> Option<&Active> {
        self.active.last().filter(|active| active.depth == self.depth)
    }

    fn make_plan(
        &self,
        registers: &Registers<'a>,
        scope: Scope,
        free: &[RegId],
        has_loops: bool,
    ) -> Option<RegionPlan> {
        let value = |reg: RegId| match registers.is_array(reg) {
            true => registers.array_of(reg).map(seen),
            false => Some(Seen::Scalar(registers.scalar(reg))),
        };
        let large = |reg: &RegId| registers.array_of(*reg).is_some_and(|a| a.elements() >= LEAST_ELEMENTS);
        let is_large = free.iter().filter(|reg| registers.is_array(**reg)).any(large);
        let counts =
            |reg: &RegId| !registers.is_array(*reg) && registers.scalar(*reg).as_i64() >= LEAST_ELEMENTS;
        if !self.eager && !is_large && !free.iter().any(counts) {
            return None;
        }
        let recorded = region::record(self.module, registers.function, scope, &value).ok()?;
        let circuits = galopvm_analysis::circuit::circuits(recorded.region.region(), &recorded.observed);
        // What a loop hides from the analysis may be plain to see in each of its rounds.
        let fails = |outcome: &Outcome| !outcome.implicit && !outcome.is_no_op();
        if !matches!(scope, Scope::Round { .. }) && has_loops && circuits.outcomes.iter().any(fails) {
            return None;
        }
        let is_unit = |block: BlockId, index: usize| self.unit(registers, block, index).is_some();
        RegionPlan::new(registers.code, &recorded, &circuits, &is_unit)
    }
}

impl SitePlans {
    fn of(code: &Function, scope: Scope) -> SitePlans {
        let mut seen = Uses::default();
        match scope {
            Scope::Function => seen.body(code, BODY, &code.params),
            Scope::Round { body } => seen.body(code, body, &code.blocks[body].params),
            Scope::Loop { block, index } => {
                let fields = Fields::of(&code.blocks[block].code[index]);
                seen.used.extend(fields.operands.iter().map(|operand| operand.reg));
                fields.blocks.into_iter().for_each(|inner| seen.walk(code, inner));
                seen.loops = true;
            }
        }
        let free = seen.used.difference(&seen.made).copied().collect();
        SitePlans { free, copies: seen.copies, loops: seen.loops, ..SitePlans::default() }
    }
}

/// What code does with registers.
#[derive(Default)]
struct Uses {
    used: BTreeSet<RegId>,
    made: BTreeSet<RegId>,
    /// Whether it copies arrays into others.
    copies: bool,
    loops: bool,
}

impl Uses {
    /// A block whose parameters have their values from outside.
    fn body(&mut self, code: &Function, block: BlockId, params: &[RegId]) {
        self.walk(code, block);
        self.used.extend(params);
        self.made.retain(|reg| !params.contains(reg));
    }

    fn walk(&mut self, code: &Function, block: BlockId) {
        let block = &code.blocks[block];
        let is_array = |operand: &Operand| !code.regs[operand.reg].is_scalar();
        self.made.extend(&block.params);
        for instr in &block.code {
            self.copies |= match instr {
                Instr::Concat { .. } | Instr::Copy { .. } | Instr::FlatUpdate { .. } => true,
                Instr::Update { value, .. } => is_array(value),
                Instr::Map { body, .. } => code.blocks[*body].results.iter().any(is_array),
                _ => false,
            };
            self.loops |= matches!(instr, Instr::For { .. } | Instr::While { .. });
            let fields = Fields::of(instr);
            self.made.extend(fields.defs.iter().map(|def| def.0));
            self.used.extend(fields.operands.iter().map(|operand| operand.reg));
            fields.blocks.into_iter().for_each(|inner| self.walk(code, inner));
        }
        self.used.extend(block.results.iter().map(|operand| operand.reg));
    }
}

fn seen(array: &Array) -> Seen {
    Seen::Array {
        elem: array.elem(),
        lmad: array.lmad().clone(),
        block: array.block().id(),
        block_elements: (array.block().len() / array.elem().bytes()) as i64,
        references: match array.block().is_own() {
            true => u32::try_from(array.block().references()).unwrap_or(u32::MAX),
            // What somebody else owns is never written.
            false => u32::MAX,
        },
    }
}

/// The numbers of a region now; nothing if an array is not there.
fn numbers(registers: &Registers<'_>, free: &[RegId]) -> Option<Numbers> {
    let mut numbers = Numbers::default();
    let arrays: Vec<&Array> = free
        .iter()
        .filter(|reg| registers.is_array(**reg))
        .map(|reg| registers.array_of(*reg))
        .collect::<Option<_>>()?;
    for reg in free.iter().filter(|reg| !registers.is_array(**reg)) {
        // Floats as well: the recorder computes with them, and a place may be made of one.
        numbers.scalars.push(registers.bits(Operand::new(*reg)));
    }
    for array in &arrays {
        let same = |other: &&Array| other.block().same(array.block());
        let first = arrays.iter().position(|other| other.block().same(array.block())).unwrap_or(0);
        let held = array.block().references() > arrays.iter().copied().filter(same).count();
        numbers.arrays.push((array.lmad().clone(), first, held || !array.block().is_own()));
    }
    Some(numbers)
}
