//! What is known of one function, loop or round: what its plan depends on, the plans made so far, and whether making
//! another one is likely to pay.
//!
//! Counting is in runs. Time decides only whether a plan is made at all, never what is in it.

use super::build::RegionPlan;
use super::key::{Flow, Inputs};
use crate::patience::Patience;
use galopvm_analysis::version::Switch;
use galopvm_base::TypedId;
use galopvm_bytecode::{BlockId, Function, Instr, Operand, RegId, field::Fields, module::BODY};
use galopvm_lift::region::Scope;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Numbers that one place is planned for without asking whether it pays.
const FREE: u32 = 64;

/// The same where there is nothing to gain but fewer blocks.
const FREE_MERGES: u32 = 4;

/// Runs of such a place before the first plan.
const COLD_RUNS: u64 = 2;

/// Beyond the first ones, plans are made as long as the analysis takes at most this part of the time that planned runs
/// take.
const PART: u128 = 6;

/// Analyses that do not help, one after the other, before a site waits.
const FRUITLESS: u32 = 8;

/// Runs that it waits at first, and at most. The time doubles each time.
const WAIT: u64 = 64;
const LONGEST_WAIT: u64 = 1 << 20;

/// Words of numbers and places that the plans of one site take at most.
const MOST_WORDS: usize = 1 << 17;

/// Runs of a plan that was cut short by a limit before more effort is made.
const OFTEN: u32 = 16;

/// What is known of one function, loop or round.
#[derive(Default)]
pub(in crate::interpret) struct SitePlans {
    pub inputs: Arc<Inputs>,
    /// Whether anything in it copies arrays into others, and whether there are loops.
    pub copies: bool,
    pub loops: bool,
    /// Whether it makes arrays in a round of a loop.
    pub makes: bool,
    /// Time that finding out about the code took, until it is counted.
    pub looking: Duration,
    known: HashMap<Box<[u64]>, Known>,
    words: usize,
    pub policy: Policy,
    /// Whether plans are checked: not always if they tend to be too large for that.
    pub checking: Patience,
}

/// What was found out for some numbers.
struct Known {
    plan: Option<Arc<RegionPlan>>,
    /// The run of the site that used it last, and how many did.
    last: u64,
    uses: u32,
    /// A limit cut the analysis short.
    is_bounded: bool,
}

/// What there is for some numbers.
pub(super) enum Found {
    /// Nothing yet.
    New,
    /// A plan, or that there is none.
    Known(Option<Arc<RegionPlan>>),
    /// As before, but runs often, and more effort may give a better one.
    Bounded(Option<Arc<RegionPlan>>),
}

impl SitePlans {
    pub fn of(code: &Function, scope: Scope) -> SitePlans {
        let start = Instant::now();
        let (mut seen, mut flow) = (Uses::new(code), Flow::new(code));
        match scope {
            Scope::Function => {
                seen.body(code, BODY, &code.params);
                flow.block(code, BODY);
            }
            Scope::Round { body } => {
                seen.body(code, body, &code.blocks[body].params);
                flow.block(code, body);
            }
            Scope::Loop { block, index } => {
                let instr = &code.blocks[block].code[index];
                let fields = Fields::of(instr);
                fields.operands.iter().for_each(|operand| seen.used[operand.reg.index()] = true);
                fields.blocks.into_iter().for_each(|inner| seen.walk(code, inner));
                seen.loops = true;
                flow.instruction(code, instr);
            }
        }
        let matter = flow.that_matter();
        let free = code.regs.ids().filter(|reg| seen.used[reg.index()] && !seen.made[reg.index()]);
        let (mut scalars, arrays): (Vec<RegId>, Vec<RegId>) =
            free.partition(|reg| code.regs[*reg].is_scalar());
        scalars.retain(|reg| matter[reg.index()]);
        let inputs = Arc::new(Inputs { arrays, scalars });
        let makes = seen.makes && matches!(scope, Scope::Round { .. });
        let policy = Policy { free: if seen.copies { FREE } else { FREE_MERGES }, ..Policy::default() };
        let (copies, loops, looking) = (seen.copies, seen.loops, start.elapsed());
        SitePlans { inputs, copies, loops, makes, looking, policy, ..SitePlans::default() }
    }

    /// What is known for these numbers.
    pub(super) fn find(&mut self, words: &[u64]) -> Found {
        let Some(known) = self.known.get_mut(words) else { return Found::New };
        known.last = self.policy.runs;
        known.uses = known.uses.saturating_add(1);
        match known.is_bounded && known.uses >= OFTEN {
            true => {
                known.is_bounded = false;
                Found::Bounded(known.plan.clone())
            }
            false => Found::Known(known.plan.clone()),
        }
    }

    /// Keeps what was found out; gives the number of plans that had to go for it.
    pub fn keep(&mut self, words: &[u64], plan: Option<Arc<RegionPlan>>, is_bounded: bool) -> u64 {
        let before = self.known.len();
        if self.words >= MOST_WORDS {
            // The older half goes.
            let mut runs: Vec<u64> = self.known.values().map(|known| known.last).collect();
            runs.sort_unstable();
            let middle = runs[runs.len() / 2];
            self.known.retain(|_, known| known.last > middle);
            self.words = self.known.iter().map(|(words, known)| size(words, known.plan.as_deref())).sum();
        }
        let dropped = before - self.known.len();
        self.words += size(words, plan.as_deref());
        let known = Known { plan, last: self.policy.runs, uses: 0, is_bounded };
        if let Some(old) = self.known.insert(words.into(), known) {
            self.words = self.words.saturating_sub(size(words, old.plan.as_deref()));
        }
        dropped as u64
    }
}

/// About how many words a plan takes with its numbers.
fn size(words: &[u64], plan: Option<&RegionPlan>) -> usize {
    words.len() + 8 + plan.map_or(0, RegionPlan::words)
}

/// Whether a site goes on making plans.
#[derive(Default)]
pub(in crate::interpret) struct Policy {
    /// Runs so far.
    pub runs: u64,
    /// Plans that are made without asking.
    free: u32,
    made: u32,
    analysed: Duration,
    ran: Duration,
    pays: Switch,
    /// Analyses without a plan, and runs with one that nobody needed, since one helped.
    fruitless: u32,
    /// How often it has waited since a plan helped.
    waits: u32,
    /// The run from which on plans are made again.
    until: u64,
}

impl Policy {
    /// Whether a plan for new numbers is worth a try in this run.
    pub fn may_make(&mut self) -> bool {
        let is_cold = self.free < FREE && self.runs <= COLD_RUNS;
        if self.runs < self.until || is_cold {
            return false;
        }
        if self.made < self.free {
            return true;
        }
        self.pays.decide(self.runs, self.ran.as_nanos() / PART, self.analysed.as_nanos())
    }

    /// Whether ten times the effort is worth a try.
    pub fn may_try_harder(&self) -> bool {
        let each = self.analysed.as_nanos() / u128::from(self.made.max(1));
        self.analysed.as_nanos() + 10 * each <= self.ran.as_nanos() / PART
    }

    /// An analysis took so long, and gave a plan or not.
    pub fn count_made(&mut self, time: Duration, is_useful: bool) {
        self.made = self.made.saturating_add(1);
        self.analysed += time;
        if !is_useful {
            self.count_fruitless();
        }
    }

    fn count_fruitless(&mut self) {
        self.fruitless += 1;
        if self.fruitless >= FRUITLESS {
            self.until = self.runs.saturating_add((WAIT << self.waits.min(30)).min(LONGEST_WAIT));
            self.waits += 1;
            // One more without a plan is enough to wait again.
            self.fruitless = FRUITLESS - 1;
        }
    }

    /// A run with a plan took so long; the plan gave a place to somebody, or nobody asked.
    pub fn count_run(&mut self, time: Duration, has_helped: bool) {
        match has_helped {
            true => {
                self.ran += time;
                (self.fruitless, self.waits) = (0, 0);
            }
            false => self.count_fruitless(),
        }
    }
}

/// What code does with registers.
#[derive(Default)]
struct Uses {
    /// By register.
    used: Vec<bool>,
    made: Vec<bool>,
    /// Whether it copies arrays into others.
    copies: bool,
    loops: bool,
    /// Whether instructions outside operators make arrays.
    makes: bool,
    /// How deep operators are nested.
    inside: usize,
}

impl Uses {
    fn new(code: &Function) -> Uses {
        let none = vec![false; code.regs.len()];
        Uses { used: none.clone(), made: none, ..Uses::default() }
    }

    /// A block whose parameters have their values from outside.
    fn body(&mut self, code: &Function, block: BlockId, params: &[RegId]) {
        self.walk(code, block);
        for param in params {
            self.used[param.index()] = true;
            self.made[param.index()] = false;
        }
    }

    fn walk(&mut self, code: &Function, block: BlockId) {
        let block = &code.blocks[block];
        let is_array = |operand: &Operand| !code.regs[operand.reg].is_scalar();
        block.params.iter().for_each(|param| self.made[param.index()] = true);
        for instr in &block.code {
            self.copies |= match instr {
                Instr::Concat { .. } | Instr::Copy { .. } | Instr::FlatUpdate { .. } => true,
                Instr::Update { value, .. } => is_array(value),
                Instr::Map { body, .. } => code.blocks[*body].results.iter().any(is_array),
                _ => false,
            };
            let is_operator = instr.goes_over_rows();
            let gives = |def: &galopvm_bytecode::Def| !code.regs[def.0].is_scalar();
            let is_join =
                matches!(instr, Instr::Concat { .. } | Instr::Replicate { .. } | Instr::Copy { .. });
            self.loops |= matches!(instr, Instr::For { .. } | Instr::While { .. });
            let fields = Fields::of(instr);
            fields.defs.iter().for_each(|def| self.made[def.0.index()] = true);
            fields.operands.iter().for_each(|operand| self.used[operand.reg.index()] = true);
            self.makes |= self.inside == 0 && (is_join || is_operator && fields.defs.iter().any(gives));
            self.inside += usize::from(is_operator);
            fields.blocks.into_iter().for_each(|inner| self.walk(code, inner));
            self.inside -= usize::from(is_operator);
        }
        block.results.iter().for_each(|operand| self.used[operand.reg.index()] = true);
    }
}
