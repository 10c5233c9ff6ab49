//! Tiering: which operators run compiled, and when they are compiled.
//!
//! - `told.rs`: what is told to people. `asked.rs`: what others want to know of operators.
//! - `choice.rs`: the policy. `mod.rs`: what happens at a site. `version.rs`: compiled versions and what they were compiled for; which
//!   of them goes for another one is up to the site (`site/turnover.rs`).
//!   `kernels.rs`: code that sessions share. `quick.rs`: code that is made at once. `launch.rs`: from registers to a launch and back. `worker.rs`: compilation in the
//!   background.
//!   `fused.rs`: operators that run together. `apart.rs`: whether they are faster apart. `over.rs`: whether a result may be written over an array.
//!   `part.rs`: kernels for a part of the iterations. `rounds.rs`: loops around operators. `traps.rs`: whether a kernel can trap. `trace.rs`: the events.
//!
//! Invariants: the interpreter is always a way out, and its result is the meaning; whatever refuses or fails leaves
//! its reason; a version is launched only with arrays of its stride classes, and only when every read it does not
//! check is proven for that launch.

mod apart;
mod asked;
mod choice;
mod fused;
mod kernels;
mod launch;
mod over;
mod part;
mod quick;
mod rounds;
mod told;
mod trace;
mod traps;
mod version;
mod worker;

pub use kernels::{KernelFigures, Kernels};
pub use trace::{Event, TraceSink};
use version::{Asked, Proven};
pub use version::{Version, VersionKey};

pub use choice::{Choice, Code, Interpreted, Why};
pub use over::Over;

use crate::coverage::{Coverage, Met};
use crate::profile::{SiteName, SiteProfile, Tier};
use crate::site::{Asking, MOST_VERSIONS, Memo, Turnover, nanos, rules};
use crate::told::{Doing, ExplainSink, Explainer, Moments};
use crate::{Changes, Execution, PlanFigures, Registers, Site, Work};
use galopvm_analysis::rows::few_long_rows;
use galopvm_bytecode::VerifiedModule;
use galopvm_data::Value;
use galopvm_kir::{Backend, Machine, Plan, RunError, VerifiedPlan};
use galopvm_lift::{self as lift, LiftRefusal, Lifted};
use galopvm_store::array::Granted;
use galopvm_store::error::Trap;
use galopvm_store::memory::Memory;
use galopvm_store::stop::Stop;
use launch::{Gathered, Places};
use part::PartKernel;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;
use worker::{Job, Worker};

/// When operators are compiled, and by whom.
#[derive(Clone)]
pub struct Tiering {
    /// Code generators, best first.
    pub backends: Vec<Arc<dyn Backend>>,
    /// Makes code in no time, for what is not hot enough for the others.
    pub quick: Option<Arc<dyn Backend>>,
    /// The machine that code is made for.
    pub machine: Machine,
    /// Estimated operations from which a single execution is worth compiling for; sites that were interpreted for as
    /// long as that in all are compiled in the background.
    pub threshold: u64,
    /// Compile every operator that can be, whatever its size: somebody asked for these back ends by name.
    pub always: bool,
    /// Whether small hot sites are compiled on a thread of their own, else at once.
    pub background: bool,
    /// The code that these back ends made so far, for whatever has the same ones.
    pub kernels: Kernels,
}

impl Tiering {
    /// The interpreter alone.
    pub fn interpreter() -> Tiering {
        Tiering {
            backends: Vec::new(),
            quick: None,
            machine: Machine::default(),
            threshold: 1 << 16,
            always: false,
            background: true,
            kernels: Kernels::default(),
        }
    }
}

impl Default for Tiering {
    fn default() -> Tiering {
        Tiering::interpreter()
    }
}

/// What is known of a site.
struct SiteState {
    profile: SiteProfile,
    lifted: Option<Result<Arc<Lifted>, LiftRefusal>>,
    versions: Vec<Version>,
    /// Code that was made at once, for whatever comes while there is no version.
    quick: Option<Version>,
    turnover: Turnover,
    /// Something is being compiled in the background.
    pending: bool,
    /// Whether compiled code is tried: not where it trapped and the interpreter did not.
    trying: Asking,
    /// The estimate of the last width.
    estimate: Option<Estimate>,
    /// The arguments of the last launch, without its blocks.
    gathered: Option<Box<Gathered>>,
    /// The versions of the last launches, or why they had none: equal ones need no decision.
    chosen: Memo<Result<usize, String>>,
    /// Whether its result may be written over an array.
    over: over::Found,
    /// Whether it starts a group of operators that run together.
    fused: fused::FusedState,
    /// The first operator of the group that it is a kernel of.
    group: Option<Site>,
    /// Whether it is a loop that is done in blocks of rounds.
    in_blocks: bool,
    /// Whether it goes over a part of another site's iterations, which is what it is to people.
    is_part: bool,
    /// Kernels for parts of its iterations; nothing where there is none.
    parts: Vec<(part::Kind, Option<PartSite>)>,
}

impl Default for SiteState {
    fn default() -> SiteState {
        SiteState {
            profile: SiteProfile::default(),
            lifted: None,
            versions: Vec::new(),
            quick: None,
            turnover: Turnover::default(),
            pending: false,
            trying: Asking::new(&rules::CODE),
            estimate: None,
            gathered: None,
            chosen: Memo::new(rules::MOST_LAUNCHES),
            over: over::Found::default(),
            fused: fused::FusedState::default(),
            group: None,
            in_blocks: false,
            is_part: false,
            parts: Vec::new(),
        }
    }
}

/// An estimate of an operator over so many rows.
#[derive(Clone, Copy)]
struct Estimate {
    width: i64,
    work: Work,
}

/// The kernel for a part of a site's iterations.
#[derive(Clone)]
struct PartSite {
    /// The site that it has for itself.
    site: u32,
    kernel: Arc<PartKernel>,
}

/// What results of an operator are wished to be.
#[derive(Clone, Copy, Default)]
pub struct Wish<'w> {
    /// For each result the place where it is to be made, if it has one.
    pub places: &'w [Option<Granted>],
    /// The elements of the result that change, if all others may be left as they are.
    pub changes: Option<&'w Changes>,
    /// The others have to be left as they are: they may be what an earlier pass over other parts made of them.
    pub others_stay: bool,
    /// Somebody else makes a result in its place, if code cannot: it is not to make a copy of the array first.
    pub insists: bool,
}

/// What is wanted of a launch.
#[derive(Clone, Copy)]
struct Wanted<'w> {
    code: Code,
    /// Estimated operations.
    work: u64,
    /// For each result the place where it is to be made, if it has one.
    places: &'w [Option<Granted>],
    /// Whether it is not to be launched if it cannot have them.
    insists: bool,
}

/// Code of a site.
#[derive(Clone, Copy)]
enum Chosen {
    /// What was made at once.
    Quick,
    /// A version, by position.
    Version(usize),
}

/// The kernel of a site.
#[derive(Clone, Copy)]
struct Kernel<'k> {
    site: u32,
    lifted: &'k Lifted,
}

/// A site as `explain` and `dump` show it.
pub struct SiteReport {
    /// The site.
    pub name: SiteName,
    /// Its figures.
    pub profile: SiteProfile,
    /// Its kernel, or why there is none; nothing if nobody asked.
    pub lifted: Option<Result<Arc<Lifted>, LiftRefusal>>,
    /// Its versions.
    pub versions: Vec<Version>,
    /// For a kernel of several operators: the first of those that run together.
    pub group: Option<Site>,
}

/// The tiers of a session.
pub struct Tiers {
    tiering: Tiering,
    trace: Option<TraceSink>,
    module: VerifiedModule,
    /// The sites of the module, and then those of groups and of parts.
    sites: Vec<SiteState>,
    names: Vec<Site>,
    /// The sites that loops are.
    loops: FxHashMap<Site, u32>,
    /// The sites that loops in blocks of rounds are.
    rounds: FxHashMap<Site, u32>,
    worker: Option<Worker>,
    stop: Stop,
    /// How many groups are being compared with their operators by themselves: meanwhile all launches are timed.
    comparing: usize,
    /// Tells what is decided, if somebody wants to know.
    pub explainer: Option<Explainer>,
    /// Tells what a call is doing, if somebody has a clock.
    pub moments: Moments,
    /// Counts what was decided, here and wherever else programs are executed.
    pub coverage: Coverage,
    /// What asking whether results may be written over arrays cost and gave.
    pub over_figures: PlanFigures,
    /// What was wrong with the last such answer that the checker refused.
    pub violation: Option<String>,
    /// What looking for operators that run together cost and gave.
    pub fused_figures: PlanFigures,
}

/// Who executes a site.
pub enum Run {
    /// Compiled code did; these are the results.
    Done(Vec<Value>),
    /// The interpreter has to.
    Interpret,
    /// The interpreter has to, since compiled code trapped. If it does not, [`Tiers::false_trap`] wants to know.
    Trapped,
}

/// What became of an attempt to run compiled code.
enum Attempt {
    Done(Vec<Value>),
    /// A trap: the interpreter finds out which one.
    Trapped,
    /// Not possible, with the reason.
    Interpret(String),
}

impl Tiers {
    /// Nothing is known yet of the sites of a module.
    pub fn new(
        module: VerifiedModule,
        names: &[Site],
        tiering: Tiering,
        trace: Option<TraceSink>,
        explain: Option<ExplainSink>,
    ) -> Tiers {
        let sites = names.iter().map(|_| SiteState::default()).collect();
        let explainer = explain.map(Explainer::new);
        let (names, stop) = (names.to_vec(), Stop::default());
        Tiers {
            tiering,
            trace,
            module,
            sites,
            names,
            loops: FxHashMap::default(),
            rounds: FxHashMap::default(),
            worker: None,
            stop,
            comparing: 0,
            explainer,
            moments: Moments::default(),
            coverage: Coverage::default(),
            over_figures: PlanFigures::default(),
            violation: None,
            fused_figures: PlanFigures::default(),
        }
    }

    /// What ends launches from now on.
    pub fn set_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// Whether anybody can compile operators.
    pub fn has_backends(&self) -> bool {
        !self.tiering.backends.is_empty() || self.tiering.quick.is_some()
    }

    /// Whether everything that can be compiled is to be, however small.
    pub fn compiles_all(&self) -> bool {
        self.tiering.always
    }

    /// The remembered estimate of the operations of a site at this width.
    pub fn estimate(&mut self, site: u32, width: i64, work: impl FnOnce() -> Work) -> u64 {
        let state = &mut self.sites[site as usize];
        match state.estimate {
            Some(known) if known.width == width => known.work.all,
            _ => {
                let work = work();
                state.estimate = Some(Estimate { width, work });
                work.all
            }
        }
    }

    /// The number of the site that a loop is, which has one from the first time on that somebody asks.
    pub fn loop_site(&mut self, site: Site) -> u32 {
        if let Some(known) = self.loops.get(&site) {
            return *known;
        }
        let number = self.sites.len() as u32;
        self.sites.push(SiteState::default());
        self.names.push(site);
        self.loops.insert(site, number);
        number
    }

    /// Executes a site by code, if that is the choice and can be.
    pub fn run(
        &mut self,
        Execution { site, width, work, .. }: Execution,
        choice: Choice,
        registers: &dyn Registers,
        memory: &Memory,
        wish: Wish<'_>,
    ) -> Result<Run, Trap> {
        let profile = &mut self.sites[site as usize].profile;
        profile.executions += 1;
        profile.elements = profile.elements.saturating_add(width as u64);
        let code = match choice {
            Choice::Code(code) => code,
            Choice::Interpreter(why) => {
                self.interpreted(site, why, work);
                return Ok(Run::Interpret);
            }
        };
        let wanted = Wanted { code, work, places: wish.places, insists: wish.insists };
        if let (Some(changes), [Some(place)]) = (wish.changes, wish.places)
            && self.attempt_changes(site, registers, memory, wanted, place, changes)?
        {
            return Ok(Run::Done(vec![Value::Array(place.array().clone())]));
        }
        if wish.others_stay {
            self.fell_back(site, "only a part of a row is made", work);
            return Ok(Run::Interpret);
        }
        match self.attempt(site, registers, memory, wanted)? {
            Attempt::Done(values) => Ok(Run::Done(values)),
            Attempt::Trapped => {
                self.coverage.met(Met::RunTrapped);
                self.tell(site, |name| Event::FellBack { site: name, reason: "a trap" });
                self.fell_back(site, "compiled code trapped", work);
                Ok(Run::Trapped)
            }
            Attempt::Interpret(reason) => {
                if self.sites[site as usize].profile.reason != reason {
                    self.tell(site, |name| Event::FellBack { site: name, reason: &reason });
                }
                self.fell_back(site, &reason, work);
                Ok(Run::Interpret)
            }
        }
    }

    /// Notes that the interpreter executes a site by choice.
    fn interpreted(&mut self, site: u32, why: Why, work: u64) {
        if let (Why::NotLifted, Some(Err(refusal))) = (why, &self.sites[site as usize].lifted) {
            self.coverage.met(Met::RunUnlifted);
            let reason = format!("not lifted: {refusal}");
            return self.fell_back(site, &reason, work);
        }
        self.fell_back(site, why.text(), work);
    }

    /// Notes that the interpreter executes a site.
    fn fell_back(&mut self, site: u32, reason: &str, work: u64) {
        let profile = &mut self.sites[site as usize].profile;
        profile.interpreted_work = profile.interpreted_work.saturating_add(work);
        profile.choose(Tier::Interpreter, reason);
    }

    /// Computes only the elements that change, if there is code for that; says whether it did.
    fn attempt_changes(
        &mut self,
        site: u32,
        registers: &dyn Registers,
        memory: &Memory,
        wanted: Wanted<'_>,
        place: &Granted,
        changes: &Changes,
    ) -> Result<bool, Trap> {
        // After the first of several parts nobody could go back.
        let [part] = changes.parts() else { return Ok(changes.parts().is_empty()) };
        let Ok(whole) = self.lifted(site) else { return Ok(false) };
        let Some(PartSite { site: part_site, kernel }) = self.part(site, &whole, part::Kind::of(part)) else {
            return Ok(false);
        };
        let gathered = launch::gather(&whole, registers).ok();
        let Some(mut gathered) = gathered.and_then(|gathered| kernel.gathered(gathered, part)) else {
            return Ok(false);
        };
        let places = [Some(part::place(place, part))];
        let kernel = Kernel { site: part_site, lifted: &kernel.lifted };
        let wanted = Wanted { places: &places, ..wanted };
        let outcome = self.attempt_with(kernel, &mut gathered, memory, wanted)?;
        let Attempt::Done(values) = outcome else { return Ok(false) };
        self.coverage.met(Met::ChangesCompiled);
        if let ([Value::Array(made)], [Some(mut place)]) = (&values[..], places) {
            place.store_all(memory, made)?;
        }
        // To people it is one site.
        let profile = &self.sites[part_site as usize].profile;
        let (tier, nanos) = (profile.tier, profile.launch_nanos);
        self.sites[part_site as usize].profile.launch_nanos = 0;
        let profile = &mut self.sites[site as usize].profile;
        profile.launches += 1;
        profile.launch_nanos = profile.launch_nanos.saturating_add(nanos);
        profile.choose(tier, "compiled");
        Ok(true)
    }

    /// The kernel for parts of a kind, and its site.
    fn part(&mut self, site: u32, lifted: &Lifted, kind: part::Kind) -> Option<PartSite> {
        let parts = &self.sites[site as usize].parts;
        if let Some((_, known)) = parts.iter().find(|(known, _)| *known == kind) {
            return known.clone();
        }
        if parts.len() == rules::MOST_KINDS {
            return None;
        }
        let made = part::restricted(lifted, kind).map(|kernel| {
            let number = self.sites.len() as u32;
            self.sites.push(SiteState { is_part: true, ..SiteState::default() });
            self.names.push(self.names[site as usize]);
            PartSite { site: number, kernel: Arc::new(kernel) }
        });
        self.sites[site as usize].parts.push((kind, made.clone()));
        made
    }

    fn attempt(
        &mut self,
        site: u32,
        registers: &dyn Registers,
        memory: &Memory,
        wanted: Wanted<'_>,
    ) -> Result<Attempt, Trap> {
        let lifted = match self.lifted(site) {
            Ok(lifted) => lifted,
            Err(refusal) => {
                self.coverage.met(Met::RunUnlifted);
                return Ok(Attempt::Interpret(format!("not lifted: {refusal}")));
            }
        };
        let mut gathered = self.sites[site as usize].gathered.take().unwrap_or_default();
        let attempt = match gathered.collect(&lifted, registers) {
            Ok(()) => self.attempt_with(Kernel { site, lifted: &lifted }, &mut gathered, memory, wanted),
            Err(reason) => {
                self.coverage.met(Met::RunUnfit);
                Ok(Attempt::Interpret(reason))
            }
        };
        gathered.release();
        self.sites[site as usize].gathered = Some(gathered);
        attempt
    }

    fn attempt_with(
        &mut self,
        kernel: Kernel<'_>,
        gathered: &mut Gathered,
        memory: &Memory,
        wanted: Wanted<'_>,
    ) -> Result<Attempt, Trap> {
        let Wanted { code, work, .. } = wanted;
        let (waits, stands_in) = match code {
            Code::Planned { waits, stands_in } => (waits, stands_in),
            Code::Quick => {
                return match self.make_quick(kernel, gathered, work) {
                    true => self.launch(kernel, Chosen::Quick, gathered, memory, wanted),
                    false => Ok(Attempt::Interpret(Why::NotHot.text().into())),
                };
            }
        };
        let signature = gathered.signature();
        let known = self.sites[kernel.site as usize].chosen.find(signature).cloned();
        let version = match known {
            Some(Ok(version)) => Ok(version),
            Some(Err(reason)) => return Ok(Attempt::Interpret(reason)),
            None => {
                if let Some(reason) = self.left_to_rows(kernel, gathered) {
                    return Ok(Attempt::Interpret(reason));
                }
                self.version(kernel, gathered, waits, work).inspect(|version| {
                    // Launches of the generic one are counted one by one.
                    let state = &mut self.sites[kernel.site as usize];
                    if !state.versions[*version].key.is_generic {
                        state.chosen.keep(signature, Ok(*version), 1);
                    }
                })
            }
        };
        let versions = &self.sites[kernel.site as usize].versions;
        let has_code = version.as_ref().is_ok_and(|version| versions[*version].code.is_some());
        let chosen = match version {
            _ if !has_code && stands_in && self.make_quick(kernel, gathered, work) => Chosen::Quick,
            Ok(version) => Chosen::Version(version),
            Err(reason) => return Ok(Attempt::Interpret(reason)),
        };
        self.launch(kernel, chosen, gathered, memory, wanted)
    }

    /// Why the rows of a launch that is not known yet are left to the interpreter, whose operators then ask by themselves.
    fn left_to_rows(&mut self, Kernel { site, lifted }: Kernel<'_>, gathered: &Gathered) -> Option<String> {
        if self.tiering.always {
            return None;
        }
        let observed = gathered.observed(&lifted.region);
        let reason = few_long_rows(&lifted.region, &observed, &self.tiering.machine)?;
        self.coverage.met(Met::RunRowByRow);
        self.sites[site as usize].chosen.keep(gathered.signature(), Err(reason.clone()), 1);
        Some(reason)
    }

    /// The kernel of a site, lifted at the first request.
    fn lifted(&mut self, site: u32) -> Result<Arc<Lifted>, LiftRefusal> {
        if let Some(known) = &self.sites[site as usize].lifted {
            return known.clone();
        }
        let Site { function, block, index } = self.names[site as usize];
        let lifted = self.moments.during(Doing::Deciding, || {
            let lifted = lift::lift(&self.module, function, block, index);
            match self.sites[site as usize].in_blocks {
                true => lifted.and_then(|lifted| self.in_blocks(site, lifted)),
                false => lifted,
            }
        });
        let lifted = lifted.map(Arc::new);
        match &lifted {
            Ok(lifted) => self.tell(site, |name| Event::Lifted { site: name, region: &lifted.region }),
            Err(refusal) => self.tell(site, |name| Event::NotLifted { site: name, reason: &refusal.reason }),
        }
        self.sites[site as usize].lifted = Some(lifted.clone());
        lifted
    }

    /// The version for a launch, compiled now if need be; the error says why there is none.
    fn version(
        &mut self,
        Kernel { site, lifted }: Kernel<'_>,
        gathered: &Gathered,
        waits: bool,
        work: u64,
    ) -> Result<usize, String> {
        let observed = gathered.observed(&lifted.region);
        let classes = gathered.classes();
        let proven = Proven::of(&lifted.region, &observed);
        let state = &mut self.sites[site as usize];
        if let Some(version) = version::find_similar(&state.versions, &classes, &proven, work) {
            return Ok(version);
        }
        let special = state.versions.iter().filter(|version| !version.key.is_generic).count();
        let is_full = special >= MOST_VERSIONS;
        let mut given_up = None;
        if is_full {
            if let Some(version) = version::find_usable(&state.versions, &classes, &proven) {
                return Ok(version);
            }
            let kind = version::kind(&classes, &proven);
            given_up = state.turnover.miss(&kind, version::used(&state.versions));
            if let (None, Some(generic)) = (given_up, version::find_generic(&state.versions)) {
                return Ok(generic);
            }
        }
        if state.pending && !waits {
            return Err("being compiled".into());
        }
        let is_generic = is_full && given_up.is_none();
        let decide = || galopvm_analysis::plan::decide(&lifted.region, &observed, &self.tiering.machine);
        let mut plan = self.moments.during(Doing::Deciding, decide);
        if is_generic {
            plan.lines.retain(|line| line.decision.claim().is_none());
        }
        // A plan that does not fit is a mistake of the analysis; without decisions the code is only slower.
        let plan = VerifiedPlan::new(plan, lifted.region.region())
            .or_else(|_| VerifiedPlan::new(Plan::default(), lifted.region.region()))?;
        let key = if is_generic { VersionKey::generic(&plan) } else { VersionKey::new(classes, &plan) };
        let state = &mut self.sites[site as usize];
        if let Some(version) = version::find(&state.versions, &key) {
            return Ok(version);
        }
        if let Some(given_up) = given_up {
            state.chosen.clear();
            state.versions.remove(given_up);
            self.coverage.met(Met::VersionGivenUp);
        }
        self.tell(site, |name| Event::Planned { site: name, plan: plan.plan() });
        let job = Job {
            site,
            name: self.name(site).to_string(),
            key,
            work,
            region: lifted.region.clone(),
            plan,
            observed: if is_generic { version::generic(&observed) } else { observed },
            tiering: self.tiering.clone(),
        };
        if waits {
            let version = self.moments.during(Doing::Compiling, || job.compile());
            return Ok(self.add(site, version));
        }
        let worker = self.worker.get_or_insert_with(Worker::new);
        worker.send(job).map_err(|()| "the background compiler has stopped")?;
        self.sites[site as usize].pending = true;
        Err("being compiled".into())
    }

    /// Takes over what the background compiler has finished.
    fn collect(&mut self) {
        while let Some((site, version)) = self.worker.as_ref().and_then(Worker::receive) {
            self.sites[site as usize].pending = false;
            self.add(site, version);
        }
    }

    /// Adds a version.
    fn add(&mut self, site: u32, version: Version) -> usize {
        self.tell_made(site, &version);
        let state = &mut self.sites[site as usize];
        state.versions.push(version);
        state.versions.len() - 1
    }

    /// Tells of code that was made, or why none was.
    fn tell_made(&self, site: u32, version: &Version) {
        for (backend, reason) in &version.refusals {
            self.tell(site, |name| Event::Refused { site: name, backend, reason });
        }
        if let Some((backend, _)) = &version.code {
            let (micros, is_shared) = (version.micros, version.is_shared);
            self.coverage.met(if is_shared { Met::CodeShared } else { Met::CodeMade });
            version.plan.plan().lines.iter().for_each(|line| self.coverage.met((&line.decision).into()));
            self.tell(site, |name| Event::Compiled { site: name, backend, micros, is_shared });
        }
    }

    fn launch(
        &mut self,
        Kernel { site, lifted }: Kernel<'_>,
        chosen: Chosen,
        gathered: &mut Gathered,
        memory: &Memory,
        Wanted { work, places, insists, .. }: Wanted<'_>,
    ) -> Result<Attempt, Trap> {
        loop {
            let state = &mut self.sites[site as usize];
            let used = state.turnover.launch();
            let is_measured = self.trace.is_some() || self.comparing > 0 || state.group.is_some();
            let weight = if is_measured { 1 } else { state.profile.weight_of_time(work) };
            let Some(version) = state.code_of(chosen) else {
                return Ok(Attempt::Interpret("there is no code".into()));
            };
            let Some((backend, code)) = version.code.clone() else {
                self.coverage.met(Met::RunRefused);
                return Ok(Attempt::Interpret(version.refusal()));
            };
            version.launches += 1;
            version.used = used;
            let start = (weight > 0).then(Instant::now);
            let insists = insists || matches!(chosen, Chosen::Quick);
            let places = Places { places, unchecked: &version.key.unchecked, insists };
            let launch = || gathered.launch(lifted, memory, &*code, places, &self.stop);
            let outcome = self.moments.during(Doing::Code(backend), launch);
            let nanos = start.map_or(0, |start| nanos(start.elapsed()));
            match outcome? {
                Ok(values) => {
                    self.coverage.launch(backend, &self.tiering.machine, &version.key);
                    self.coverage.add(Met::RunQuick, matches!(chosen, Chosen::Quick).into());
                    self.coverage.add(Met::RunPlaced, places.places.iter().any(Option::is_some).into());
                    self.sites[site as usize].launched(chosen, backend, nanos.saturating_mul(weight), work);
                    self.tell(site, |name| Event::Launched {
                        site: name,
                        backend,
                        micros: nanos / 1000,
                        work,
                    });
                    return Ok(Attempt::Done(values));
                }
                Err(launch::Failure::Unfit(reason)) => {
                    self.coverage.met(Met::RunUnfit);
                    return Ok(Attempt::Interpret(reason));
                }
                Err(launch::Failure::Run(RunError::Trap)) => return Ok(Attempt::Trapped),
                Err(launch::Failure::Run(RunError::Stopped)) => {
                    self.stop.check()?;
                    return Ok(Attempt::Interpret("it was stopped for no reason".into()));
                }
                Err(launch::Failure::Run(RunError::TooLarge(refusal)))
                    if matches!(chosen, Chosen::Version(_)) =>
                {
                    let reason = format!("too large for {backend}: {refusal}");
                    self.coverage.met(Met::RunTooLarge);
                    self.sites[site as usize].chosen.keep(gathered.signature(), Err(reason.clone()), 1);
                    return Ok(Attempt::Interpret(reason));
                }
                Err(launch::Failure::Run(RunError::Failed(refusal) | RunError::TooLarge(refusal))) => {
                    self.tell(site, |name| Event::Refused { site: name, backend, reason: &refusal.reason });
                    let (name, observed) = (self.name(site).to_string(), gathered.observed(&lifted.region));
                    let asked = Asked { name: &name, region: &lifted.region, observed: &observed };
                    if let Some(version) = self.sites[site as usize].code_of(chosen) {
                        let next = || version.without(backend, refusal, asked, &self.tiering);
                        *version = self.moments.during(Doing::Compiling, next);
                    }
                }
            }
        }
    }

    /// Compiled code trapped at a site and the interpreter did not: kernels may be stricter than the bytecode.
    pub fn false_trap(&mut self, site: u32) {
        self.sites[site as usize].trying.fail();
        self.coverage.met(Met::RunFalseTrap);
    }

    /// What is known of all sites.
    pub fn reports(&self) -> Vec<SiteReport> {
        let report = |(k, state): (usize, &SiteState)| SiteReport {
            name: self.name(k as u32),
            profile: state.profile.clone(),
            lifted: state.lifted.clone(),
            versions: state.quick.iter().chain(&state.versions).cloned().collect(),
            group: state.group,
        };
        self.sites.iter().enumerate().filter(|(_, state)| !state.is_part).map(report).collect()
    }

    fn name(&self, number: u32) -> SiteName {
        let is_fused = self.sites[number as usize].group.is_some();
        let site = self.names[number as usize];
        let module = self.module.module();
        let function = &module.functions[site.function];
        let block = &function.blocks[site.block];
        let place = block.place(site.index).and_then(|place| {
            let file = module.files.get(place.file as usize)?;
            Some(format!("{file}:{}:{}", place.start.line, place.start.column))
        });
        let place = place.unwrap_or_else(|| format!("{}:{}:{}", function.name, site.block, site.index));
        let operator = if is_fused { "fused" } else { block.code[site.index].row().mnemonic };
        SiteName { site, place, operator }
    }

    /// Tells the sink, if there is one.
    fn tell<'e>(&self, site: u32, event: impl FnOnce(SiteName) -> Event<'e>) {
        if let Some(sink) = &self.trace {
            sink(&event(self.name(site)));
        }
    }
}
