//! Operators that run together: which do, and running their kernels.
//!
//! What is found out about an operator is kept at its site; each kernel of a group is a site of its own, so that it
//! is compiled, launched and told about like any other.

use super::apart::{Comparison, Found};
use super::launch;
use super::{Attempt, Code, Event, SiteState, Tiers, Wanted};
use crate::coverage::Met;
use crate::fused::{Fate, Group, Scans, group};
use crate::profile::Tier;
use crate::site::{Asking, rules};
use crate::told::{DecisionKind, DecisionSeen, Doing, Explained, FusedSeen};
use crate::{Execution, PlanPhases, Registers, Site};
use galopvm_bytecode::RegId;
use galopvm_data::Value;
use galopvm_lift::lift_sequence;
use galopvm_store::array::Granted;
use galopvm_store::error::Trap;
use galopvm_store::memory::Memory;
use std::sync::Arc;
use std::time::Instant;

/// What is known of groups at a site.
pub(super) struct FusedState {
    /// The group that its operator starts, once it was looked for.
    pub(super) found: Option<Found>,
    /// Whether one is looked for and run: not after launches that did not come off for another reason than that code was not
    /// ready.
    pub(super) asking: Asking,
    /// What can be compiled here of scans and writes at computed places.
    pub(super) scans: Scans,
    /// Whether its operators are faster apart.
    pub(super) comparison: Comparison,
}

impl Default for FusedState {
    fn default() -> FusedState {
        FusedState {
            found: None,
            asking: Asking::new(&rules::GROUPS),
            scans: Scans::default(),
            comparison: Comparison::default(),
        }
    }
}

impl Tiers {
    /// The group that starts with an operator.
    pub fn group(&mut self, site: u32, registers: &dyn Registers) -> Option<Arc<Group>> {
        let state = &self.sites[site as usize];
        if state.fused.asking.is_given_up() || self.runs_apart(site) {
            return None;
        }
        let state = &self.sites[site as usize];
        if state.fused.asking.is_given_up() {
            return None;
        }
        let start = Instant::now();
        if let Some(Found { group, .. }) = &state.fused.found {
            let group = group.clone();
            self.fused_figures.count(start.elapsed(), true, None);
            return Some(group);
        }
        let found = self.moments.during(Doing::Deciding, || self.look_for(site, registers));
        let found = found.map(|group| (Arc::new(group), self.sites.len() as u32));
        let took = start.elapsed();
        let phases = PlanPhases { analyse: took, ..PlanPhases::default() };
        self.fused_figures.count(took, found.is_ok(), Some(&phases));
        self.coverage.met(if found.is_ok() { Met::FusionGroup } else { Met::FusionAlone });
        let name = self.name(site);
        match &found {
            Ok((group, _)) => self.announce(site, group),
            Err(reason) => self.tell(site, |_| Event::Alone { site: name, reason }),
        }
        let fused = &mut self.sites[site as usize].fused;
        match found {
            Ok((group, first)) => {
                fused.found = Some(Found { group: group.clone(), first });
                Some(group)
            }
            Err(_) => {
                fused.asking.give_up();
                None
            }
        }
    }

    fn look_for(&self, site: u32, registers: &dyn Registers) -> Result<Group, String> {
        let Site { function, block, index } = self.names[site as usize];
        let scans = self.sites[site as usize].fused.scans;
        let sequence = lift_sequence(&self.module, function, block, index, scans != Scans::Out)
            .map_err(|refusal| refusal.reason)?;
        let gathered = launch::gather(&sequence.lifted, registers)?;
        let observed = gathered.observed(&sequence.lifted.region);
        group(&sequence, &observed, index, scans == Scans::Fed)
    }

    /// Gives each kernel of a group a site, and tells what was decided.
    fn announce(&mut self, site: u32, group: &Group) {
        let first = self.names[site as usize];
        group.lines.iter().for_each(|line| self.coverage.met((&line.fate).into()));
        for step in &group.steps {
            let state = SiteState {
                lifted: Some(Ok(Arc::new(step.lifted.clone()))),
                group: Some(first),
                ..SiteState::default()
            };
            self.names.push(Site { index: step.operator, ..first });
            self.sites.push(state);
        }
        for line in group.lines.iter().filter(|line| line.fate != Fate::Kept) {
            self.tell(site, |name| Event::Fused { site: name, line });
        }
        if let Some(explainer) = &self.explainer {
            let Site { function, block, .. } = first;
            let code = &self.module.module().functions[function].blocks[block];
            for line in group.lines.iter().filter(|line| line.fate != Fate::Kept) {
                explainer.tell(Explained::Decided(DecisionSeen {
                    kind: DecisionKind::Fusion,
                    function,
                    place: code.place(first.index),
                    what: line.what(),
                    outcome: Ok(line.bytes()),
                }));
            }
            explainer.tell(Explained::Fused(FusedSeen { site: self.name(site), lines: &group.lines }));
        }
    }

    /// Runs a kernel of the group that starts at a site: nothing if that cannot be.
    pub fn run_step(
        &mut self,
        Execution { site, width, work, .. }: Execution,
        step: usize,
        registers: &dyn Registers,
        memory: &Memory,
    ) -> Result<Option<Vec<Value>>, Trap> {
        self.collect();
        let Some(Found { group, first }) = &self.sites[site as usize].fused.found else { return Ok(None) };
        let place = |over: &Option<RegId>| {
            let array = registers.array_of((*over)?)?;
            // The register, and the place itself.
            Granted::new(array.clone(), 2)
        };
        let places: Vec<Option<Granted>> = group.steps[step].over.iter().map(place).collect();
        let kernel = first + step as u32;
        let code = Code::Planned { waits: self.waits(work), stands_in: false };
        let wanted = Wanted { code, work, places: &places, insists: false };
        let profile = &mut self.sites[kernel as usize].profile;
        profile.executions += 1;
        profile.elements = profile.elements.saturating_add(width as u64);
        let reason = match self.attempt(kernel, registers, memory, wanted)? {
            Attempt::Done(values) => return Ok(Some(values)),
            Attempt::Trapped => "a trap".to_string(),
            Attempt::Interpret(reason) => reason,
        };
        self.tell(kernel, |name| Event::FellBack { site: name, reason: &reason });
        let state = &self.sites[kernel as usize];
        if !state.pending {
            let is_refused = state.versions.iter().all(|version| version.code.is_none());
            self.did_not_run(site, is_refused);
        }
        self.sites[kernel as usize].profile.choose(Tier::Interpreter, &reason);
        Ok(None)
    }

    /// Notes that an operator has run in the group that starts with the first of its operators.
    pub fn ran_in_group(&mut self, Execution { site, width, .. }: Execution, first: u32) {
        if site == first {
            self.ran_together(first);
        }
        let is_new = self.sites[site as usize].profile.tier != Tier::Group;
        let reason = is_new.then(|| match site == first {
            true => "together with operators that follow".into(),
            false => format!("together with {}", self.name(first)),
        });
        let profile = &mut self.sites[site as usize].profile;
        profile.grouped += 1;
        profile.elements = profile.elements.saturating_add(width as u64);
        if let Some(reason) = reason {
            profile.choose(Tier::Group, &reason);
        }
    }

    /// After some failures a group is given up; if scans or writes at computed places may have been the reason, one is looked for that
    /// asks less of the back end.
    pub fn did_not_run(&mut self, site: u32, is_refused: bool) {
        let fused = &mut self.sites[site as usize].fused;
        fused.asking.fail();
        let less = fused.found.as_ref().and_then(|found| fused.scans.less(&found.group));
        if is_refused && let Some(less) = less {
            fused.scans = less;
            fused.asking.forgive();
            fused.found = None;
        } else if is_refused || fused.asking.is_given_up() {
            fused.asking.give_up();
            fused.found = None;
        }
    }
}
