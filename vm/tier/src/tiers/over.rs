//! Whether the result of a map may be written over an array that dies with it, and which of its elements change then.
//!
//! The analysis looks at the lifted operator with the numbers of this launch. Its verdict holds for launches with equal
//! numbers, which are remembered; a site at which it keeps saying no is asked less and less often (`site/`).

use super::Tiers;
use super::launch;
use super::traps::{cannot_trap, needs_memory};
use super::version::Proven;
use crate::coverage::Met;
use crate::site::{Asking, Memo, rules};
use crate::told::{Doing, ReuseAnswer, Unasked};
use crate::{Changes, PlanPhases, Registers, Watch};
use galopvm_analysis::reuse::{self, Effort};
use galopvm_bytecode::RegId;
use galopvm_check::{Budget, Decisions, Verdict, check};
use galopvm_kir::{Body, Exp, Observed, ObservedParam, Rhs, VarId};
use galopvm_lift::{Binding, Lifted};
use std::sync::Arc;
use std::time::Instant;

/// An array that a result may be written over, and the elements that change, if all others may be left as they are.
pub type Over = (RegId, Option<Arc<Changes>>);

/// A result of a site's operator.
#[derive(Clone, Copy)]
struct Asked {
    site: u32,
    result: usize,
}

/// The kernel of a site with the numbers of a launch.
#[derive(Clone, Copy)]
struct Launched<'l> {
    lifted: &'l Lifted,
    observed: &'l Observed,
}

/// What was found at one site.
#[derive(Debug)]
pub(super) struct Found {
    /// The answers of the analysis.
    known: Memo<Option<Over>>,
    /// Whether the analysis is asked again.
    asking: Asking,
    /// Whether the checker is asked again.
    checking: Asking,
}

impl Default for Found {
    fn default() -> Found {
        Found {
            known: Memo::new(rules::MOST_REUSE),
            asking: Asking::new(&rules::REUSE),
            checking: Asking::new(&rules::CHECKS),
        }
    }
}

impl Tiers {
    /// The register of an array that result `k` of a map may be written over; `eligible` are those whose array is not
    /// needed afterwards.
    pub fn over(
        &mut self,
        site: u32,
        registers: &dyn Registers,
        k: usize,
        eligible: &[RegId],
        budget: Budget,
    ) -> Option<Over> {
        if !self.sites[site as usize].over.asking.comes_to_ask() {
            self.tell_reuse(site, k, ReuseAnswer::Unasked(Unasked::Waiting));
            return None;
        }
        let start = Instant::now();
        let mut phases = PlanPhases::default();
        self.moments.begins(Doing::Deciding);
        let (answer, is_known) =
            self.ask(Asked { site, result: k }, registers, eligible, budget, &mut phases);
        self.moments.ends();
        let phases = (!is_known).then_some(&phases);
        self.over_figures.count(start.elapsed(), answer.is_some(), phases);
        if let Some((_, Some(changes))) = &answer {
            self.coverage.changes(changes);
        }
        self.sites[site as usize].over.asking.learn(answer.is_some());
        answer
    }

    /// The answer, and whether it was known.
    fn ask(
        &mut self,
        asked: Asked,
        registers: &dyn Registers,
        eligible: &[RegId],
        budget: Budget,
        phases: &mut PlanPhases,
    ) -> (Option<Over>, bool) {
        let mut watch = Watch::start();
        let Asked { site, result } = asked;
        let launched = self.lifted(site).ok().and_then(|lifted| {
            let gathered = launch::gather(&lifted, registers).ok()?;
            Some((lifted, gathered))
        });
        let Some((lifted, gathered)) = launched else {
            self.tell_reuse(site, result, ReuseAnswer::Unasked(Unasked::NoKernel));
            return (None, false);
        };
        let array_of = |reg: RegId| registers.array_of(reg);
        // Another name of the block would change under the kernel's hands without the analysis knowing.
        let sole = |reg: RegId| {
            let block = array_of(reg).map(|array| array.block().id());
            lifted.bindings.iter().all(|binding| match binding {
                Binding::Array(other) => *other == reg || array_of(*other).map(|a| a.block().id()) != block,
                _ => true,
            })
        };
        let mut numbers = gathered.numbers();
        numbers.push(result as u64);
        if let Some(answer) = self.sites[site as usize].over.known.find(&numbers) {
            let over = answer.clone().filter(|(reg, _)| eligible.contains(reg) && sole(*reg));
            self.tell_reuse(site, result, ReuseAnswer::Known { over: over.as_ref().map(|(reg, _)| *reg) });
            return (over, true);
        }
        let observed = gathered.observed(&lifted.region);
        phases.record = watch.lap();
        let fits = |reg| eligible.contains(&reg) && sole(reg);
        let launched = Launched { lifted: &lifted, observed: &observed };
        let answer = self.analysed(asked, registers, launched, &fits, budget, phases);
        if let Some(answer) = &answer {
            self.sites[site as usize].over.known.keep(&numbers, answer.clone(), 1);
        }
        (answer.flatten(), false)
    }

    /// Asks the analysis, and a checker what it thinks of the answer; `fits` says which registers' arrays may be written over.
    /// Nothing if there is nothing to analyse.
    fn analysed(
        &mut self,
        Asked { site, result: k }: Asked,
        registers: &dyn Registers,
        launched: Launched<'_>,
        fits: &dyn Fn(RegId) -> bool,
        budget: Budget,
        phases: &mut PlanPhases,
    ) -> Option<Option<Over>> {
        let mut watch = Watch::start();
        let Launched { lifted, observed } = launched;
        let region = lifted.region.region();
        let Some(Exp::Var(result)) = region.body.results.get(k) else { return None };
        let stm = region.body.stms.iter().find(|stm| stm.pat.contains(result))?;
        let position = stm.pat.iter().position(|var| var == result)?;
        if !matches!(stm.rhs, Rhs::Kernel { .. }) {
            return None;
        }
        let register = |var| {
            let at = region.params.iter().position(|param| *param == var)?;
            match lifted.bindings.get(at)? {
                Binding::Array(reg) => Some(*reg),
                _ => None,
            }
        };
        // The analysis has seen one statement: nothing else may read the array.
        let others = region.body.stms.iter().filter(|other| !std::ptr::eq(*other, stm)).cloned().collect();
        let others = Body { stms: others, results: region.body.results.clone() }.free_vars();
        let wanted = |array| !others.contains(&array) && register(array).is_some_and(fits);
        let all = self.explainer.is_some();
        let reuse = reuse::analyse_first(region, observed, (stm, position), Effort::Quick, &wanted, all)?;
        phases.analyse = watch.lap();
        let candidates = reuse.candidates().filter(|candidate| wanted(candidate.array));
        let chosen = reuse::choose(candidates).and_then(|chosen| Some((register(chosen.array)?, chosen)));
        let is_refused = chosen
            .as_ref()
            .is_some_and(|(_, chosen)| self.is_refused(site, launched, *result, chosen.array, budget));
        phases.check = watch.lap();
        self.over_figures.refused += u64::from(is_refused);
        let chosen = chosen.filter(|_| !is_refused);
        let over = chosen.as_ref().map(|(reg, _)| *reg);
        self.tell_reuse(site, k, ReuseAnswer::Analysed { region, reuse: &reuse, over });
        let answer = chosen.map(|(reg, chosen)| {
            let shape = registers.array_of(reg).map(|array| array.shape());
            let changes = shape.and_then(|shape| Changes::of(&chosen.changed, &shape));
            // An iteration that is left out must not be one that ends the program.
            let changes = changes.filter(|_| {
                cannot_trap(region, &Proven::of(&lifted.region, observed)) && !needs_memory(region)
            });
            (reg, changes.map(Arc::new))
        });
        phases.plan = watch.lap();
        Some(answer)
    }

    /// Whether a checker that shares nothing with the analysis finds that a result cannot be written over a parameter. Whoever
    /// asks knows that nobody else holds that one. What is too large for a brief check is checked less and less often.
    fn is_refused(
        &mut self,
        site: u32,
        Launched { lifted, observed }: Launched<'_>,
        result: VarId,
        array: VarId,
        budget: Budget,
    ) -> bool {
        let checking = &mut self.sites[site as usize].over.checking;
        if budget == Budget::BRIEF && !checking.comes_to_ask() {
            self.coverage.met(Met::CheckSkipped);
            return false;
        }
        let mut observed = observed.clone();
        let position = lifted.region.region().params.iter().position(|param| *param == array);
        let param = position.and_then(|at| observed.params.get_mut(at));
        if let Some(ObservedParam::Array { references, .. }) = param {
            *references = 1;
        }
        let decisions = Decisions { over: [(result, array)].into(), ..Decisions::default() };
        let verdict = check(&lifted.region, &observed, &decisions, budget);
        checking.learn(!matches!(verdict, Verdict::TooLarge(_)));
        self.coverage.met(Met::from(&verdict));
        let Verdict::Refused(violation) = verdict else { return false };
        self.violation = Some(violation.text);
        true
    }
}
