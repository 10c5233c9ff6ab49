//! Plans: the verdicts of short-circuiting, applied while a region runs.
//!
//! When a function or a loop is about to run that copies arrays into others, it is recorded (`vm/lift/src/region/`), the analysis
//! says which arrays can be built in the place they would be copied to, and what is left is a *plan* (`build.rs`): for
//! registers, the block and the view that their value is made in (`record.rs`). While the region runs, instructions that make arrays ask
//! for the place of their result (`place.rs`). Where a copy finds that its source lies in its target already, there is
//! nothing to do (`arrays.rs`, `placed.rs`): so the plan is needed where arrays are made only.
//!
//! A block can have a *home* (`homes.rs`): a place in one block for the region, or one of two blocks in turn (`merge.rs`). It is
//! in the record as well.
//!
//! A plan that a checker refuses, which shares nothing with the analyses, is not used (`checked.rs`).
//!
//! Plans are kept by the numbers they depend on (`key.rs`), for each function, loop and round (`site.rs`), and what they
//! cost and give is counted (`figures.rs` in `vm/tier`). `spoil/` plants wrong decisions for tests.
//!
//! Invariants: a plan is used only with the numbers it was made for. A place is given only in a block that nobody holds
//! but registers that the plan knows, and that lie in it as the plan has them; otherwise an array is made as always, and the copy is done.

mod build;
mod checked;
mod homes;
pub(super) mod key;
mod merge;
mod place;
mod record;
pub(super) mod site;
#[cfg(all(test, debug_assertions))]
mod spoil;

pub(crate) use build::RegionPlan;
pub(crate) use merge::Reserves;

use super::Optimizer;
use galopvm_analysis::Effort;
use galopvm_analysis::circuit::{self, Circuits, Outcome, Witness};
use galopvm_bytecode::{BlockId, FuncId, Function, RegId, Scope};
use galopvm_check::{Budget, Verdict};
use galopvm_interp::Registers;
use galopvm_lift::region::{self, Purpose, Recorded};
use galopvm_store::array::Granted;
use galopvm_tier::site::{Found, nanos, rules};
use galopvm_tier::told::{AppliedSeen, Explained, Unplanned, UnplannedSeen};
use galopvm_tier::{Doing, Met, PlanFigures, PlanPhases, Registers as _, Watch};
use key::Inputs;
use rustc_hash::FxHashMap;
use site::{Planned, SitePlans};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Fewer elements are not worth a plan.
const LEAST_ELEMENTS: i64 = 256;

/// All plans of a session.
#[derive(Default)]
pub(crate) struct Plans {
    sites: FxHashMap<(FuncId, Scope), SitePlans>,
    /// Room for the numbers of a region.
    words: Vec<u64>,
    pub(crate) figures: PlanFigures,
    /// What was wrong with the plan that the checker refused last.
    pub(crate) violation: Option<String>,
}

impl Plans {
    /// What is known of a function, loop or round.
    fn site(&mut self, site: (FuncId, Scope), code: &Function) -> &mut SitePlans {
        self.sites.entry(site).or_insert_with(|| SitePlans::of(code, site.1))
    }

    /// What its plans and its advice depend on.
    pub(super) fn inputs(&mut self, site: (FuncId, Scope), code: &Function) -> Arc<Inputs> {
        self.site(site, code).inputs.clone()
    }
}

/// A plan in use.
pub(super) struct Active {
    plan: Arc<RegionPlan>,
    site: (FuncId, Scope),
    /// How deep calls are nested where it holds.
    depth: usize,
    /// How many loops are around it.
    loops: usize,
    /// The rows that operators with a place are at, innermost last.
    rows: Vec<(BlockId, i64)>,
    /// Registers whose values were made before their turn, by a group of operators: wherever they lie, it is not in a block of the
    /// plan, which has them made later.
    strays: Vec<RegId>,
    /// Places whose arrays are being made.
    making: Vec<(galopvm_kir::VarId, Granted)>,
    /// What is set aside for the region, if no loop is around it.
    reserves: Reserves,
    /// Whether anybody asked for a place.
    has_helped: bool,
}

/// To be given back when the region ends.
pub(super) struct Running {
    site: (FuncId, Scope),
    start: Instant,
}

/// The plan that is wanted.
struct Wanted {
    scope: Scope,
    /// Whether there are loops in it.
    has_loops: bool,
    effort: Effort,
    /// What checking it may cost; nothing if it is not checked.
    budget: Option<Budget>,
}

/// What is known already of what is about to run.
#[derive(Default)]
struct Told {
    recorded: Option<Recorded>,
    circuits: Option<Circuits>,
}

/// What an analysis gave.
struct Analysed {
    plan: Result<RegionPlan, Unplanned>,
    /// A limit cut it short.
    is_bounded: bool,
    /// What the checker said of it, if it was asked.
    verdict: Option<Verdict>,
}

impl<'a> Optimizer<'a> {
    /// Takes a plan for what is about to run, if there is one. `told` is what was recorded just now, if it was.
    pub(super) fn begin_planned(
        &mut self,
        registers: &Registers<'a>,
        scope: Scope,
        told: Option<Recorded>,
    ) -> Option<Running> {
        let (moves, merges) = (self.switches.shortcircuit, self.switches.merge);
        let site = (registers.function, scope);
        if !(moves || merges) {
            return self.unplanned(site, Unplanned::SwitchedOff);
        }
        if self.plan_here(registers).is_some() {
            return self.unplanned(site, Unplanned::Around);
        }
        let known = self.plans.site(site, registers.code);
        if !(moves && known.copies || merges && known.makes) {
            return None;
        }
        known.answers.asking.come();
        let mut words = std::mem::take(&mut self.plans.words);
        let plan = self.find_plan(registers, site, &mut words, told);
        self.plans.words = words;
        let plan = match plan {
            Ok(plan) => plan,
            Err(why) => return self.unplanned(site, why),
        };
        if let Some(explainer) = &self.tiers.explainer {
            let (function, scope) = site;
            let moved = plan.record.moved().collect();
            explainer.tell(Explained::Applied(AppliedSeen { function, scope, moved }));
        }
        self.plans.figures.applied += 1;
        self.tiers.coverage.met(Met::PlanApplied);
        self.holding.active.push(Active {
            plan,
            site,
            depth: registers.depth,
            loops: self.holding.loops.len(),
            rows: Vec::new(),
            strays: Vec::new(),
            making: Vec::new(),
            reserves: Reserves::default(),
            has_helped: false,
        });
        Some(Running { site, start: Instant::now() })
    }

    /// Tells why something runs without a plan.
    fn unplanned(&self, (function, scope): (FuncId, Scope), why: Unplanned) -> Option<Running> {
        self.tiers.coverage.met(why.into());
        if let Some(explainer) = &self.tiers.explainer {
            explainer.tell(Explained::Unplanned(UnplannedSeen { function, scope, why }));
        }
        None
    }

    /// Gives the plan back.
    pub(super) fn end_planned(&mut self, registers: &Registers<'_>, running: Option<Running>) {
        let Some(Running { site, start }) = running else { return };
        let depth = registers.depth;
        let ended = self.holding.active.pop_if(|active| active.depth == depth);
        self.tiers.coverage.add(Met::PlanHelped, ended.as_ref().map_or(0, |ended| ended.has_helped.into()));
        let has_helped = ended.is_some_and(|Active { plan, has_helped, .. }| {
            plan.count_run(has_helped);
            has_helped
        });
        if let Some(known) = self.plans.sites.get_mut(&site) {
            if has_helped {
                known.answers.asking.served(nanos(start.elapsed()));
            }
            known.answers.asking.learn(has_helped);
        }
    }

    /// The plan that holds for the running call.
    fn plan_here(&self, registers: &Registers<'_>) -> Option<&Active> {
        self.holding.active.last().filter(|active| active.depth == registers.depth)
    }

    /// The plan for the numbers that are there now: a known one, or a new one if that may pay.
    fn find_plan(
        &mut self,
        registers: &Registers<'a>,
        site: (FuncId, Scope),
        words: &mut Vec<u64>,
        recorded: Option<Recorded>,
    ) -> Result<Arc<RegionPlan>, Unplanned> {
        let start = Instant::now();
        let budget = self.check_budget();
        let known = self.plans.sites.get_mut(&site).ok_or(Unplanned::Nothing)?;
        if !known.inputs.words(registers, words) {
            return Err(Unplanned::Unrecorded);
        }
        let (mut instead, mut effort) = (None, Effort::Quick);
        match known.find(words, self.eager) {
            Found::Known(Planned::Known(plan)) => {
                self.plans.figures.count_found(start.elapsed());
                let plan = plan.ok_or(Unplanned::Known)?;
                return if plan.is_idle() && !self.eager { Err(Unplanned::Idle) } else { Ok(plan) };
            }
            Found::Known(Planned::Bounded(plan)) => {
                if !self.eager && !known.answers.asking.may_spend(rules::HARDER) {
                    return plan.ok_or(Unplanned::Known);
                }
                (instead, effort) = (plan, Effort::Thorough);
            }
            Found::Ask => {}
            Found::Wait => return Err(Unplanned::Waiting),
        }
        let (inputs, has_loops, looking) = (known.inputs.clone(), known.loops, known.looking);
        let budget = Some(budget).filter(|budget| *budget != Budget::BRIEF || known.checking.comes_to_ask());
        if !self.eager && !inputs.are_large(registers, LEAST_ELEMENTS, LEAST_ELEMENTS) {
            return Err(Unplanned::Small);
        }
        // Whoever explains has recorded it just now, with the numbers that are there.
        let told = self.tiers.explainer.as_mut().and_then(|explainer| explainer.take_fresh());
        let told = told.filter(|_| effort == Effort::Quick && self.switches.shortcircuit);
        let start = Instant::now();
        let told = match told {
            Some((recorded, circuits)) => Told { recorded: Some(recorded), circuits: Some(circuits) },
            None => Told { recorded, circuits: None },
        };
        let mut phases = PlanPhases::default();
        let wanted = Wanted { scope: site.1, has_loops, effort, budget };
        let make = || self.make_plan(registers, wanted, told, &mut phases);
        let Analysed { plan, is_bounded, verdict } = self.tiers.moments.during(Doing::Deciding, make);
        let (plan, why) = match plan {
            Ok(plan) => (Some(Arc::new(plan)), Unplanned::Nothing),
            Err(why) => (instead, why),
        };
        // The first one pays for what is known of the code.
        let took = start.elapsed() + looking;
        phases.record += looking;
        let figures = &mut self.plans.figures;
        figures.count_made(took, &phases, plan.is_some());
        figures.thorough += u64::from(effort == Effort::Thorough);
        let known = self.plans.sites.get_mut(&site).ok_or(why)?;
        known.looking = Duration::ZERO;
        if let Some(verdict) = &verdict {
            known.checking.learn(!matches!(verdict, Verdict::TooLarge(_)));
        }
        if let Some(Verdict::Refused(violation)) = verdict {
            figures.refused += 1;
            self.plans.violation = Some(violation.text);
        }
        let is_bounded = is_bounded && effort == Effort::Quick;
        figures.dropped += known.keep(words, plan.clone(), is_bounded, nanos(took));
        plan.ok_or(why)
    }

    fn make_plan(
        &self,
        registers: &Registers<'a>,
        wanted: Wanted,
        told: Told,
        phases: &mut PlanPhases,
    ) -> Analysed {
        let Wanted { scope, has_loops, effort, budget } = wanted;
        let nothing = |why, is_bounded| Analysed { plan: Err(why), is_bounded, verdict: None };
        let mut watch = Watch::start();
        let recorded = told.recorded.or_else(|| self.record(registers, scope, Purpose::Places));
        phases.record = watch.lap();
        let Some(recorded) = recorded else { return nothing(Unplanned::Unrecorded, false) };
        let (region, observed) = (recorded.region.region(), &recorded.observed);
        let circuits = told.circuits.unwrap_or_else(|| match self.switches.shortcircuit {
            true => circuit::circuits_within(region, observed, None, effort, Witness::First),
            false => circuit::unmoved(region, observed),
        });
        #[cfg(all(test, debug_assertions))]
        let circuits = spoil::misplaced(circuits, &recorded);
        phases.analyse = watch.lap();
        self.tiers.coverage.circuits(&circuits);
        // What a loop hides from the analysis may be plain to see in each of its rounds.
        if !matches!(scope, Scope::Round { .. })
            && has_loops
            && circuits.outcomes.iter().any(Outcome::is_open)
        {
            return nothing(Unplanned::Rounds, circuits.is_bounded());
        }
        let is_unit = |block: BlockId, index: usize| self.forms.unit(registers, block, index).is_some();
        let is_delayed = |reg| registers.prepared.is_delayed(reg);
        let plan = RegionPlan::new(
            registers.code,
            &recorded,
            &circuits,
            &is_unit,
            &is_delayed,
            self.switches.merge.then_some(scope),
            has_loops,
        );
        phases.plan = watch.lap();
        let verdict = match (&plan, budget) {
            (Some(plan), Some(budget)) => {
                Some(checked::verdict(plan, &recorded, &circuits, budget, &self.tiers.coverage))
            }
            (Some(_), None) => {
                self.tiers.coverage.met(Met::CheckSkipped);
                None
            }
            (None, _) => None,
        };
        phases.check = watch.lap();
        let plan = match plan {
            Some(_) if matches!(verdict, Some(Verdict::Refused(_))) => Err(Unplanned::Refused),
            plan => plan.ok_or(Unplanned::Nothing),
        };
        Analysed { plan, is_bounded: circuits.is_bounded(), verdict }
    }

    /// What checking a decision may cost.
    pub(super) fn check_budget(&self) -> Budget {
        if self.eager || self.shadow.is_some() { Budget::default() } else { Budget::BRIEF }
    }

    /// What is about to run as a region, with the numbers that are there now.
    pub(super) fn record(
        &self,
        registers: &Registers<'a>,
        scope: Scope,
        purpose: Purpose,
    ) -> Option<Recorded> {
        let value = |reg: RegId| registers.seen(reg);
        let code = (self.module, self.code);
        // People want to see everything.
        let purpose = if self.tiers.explainer.is_some() { Purpose::Everything } else { purpose };
        region::record_for(purpose, code, registers.function, scope, &value).ok()
    }
}
