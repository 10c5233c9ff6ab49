//! What was told, kept until the run is over.

use super::names::{Lines, Names};
use super::operators::operator_part;
use super::regions::{refused_part, region_part};
use super::relaid::Relaid;
use super::{Document, ExplainSink, Explained, Part, ReuseAnswer, Unasked};
use crate::interpret::Site;
use crate::lift::Lifted;
use crate::region::{Recorded, Scope};
use crate::tier::SiteReport;
use galopvm_analysis::circuit::Circuits;
use galopvm_analysis::layout::{Costs, Means, Target};
use galopvm_bytecode::{FuncId, Module, Place, RegId};
use galopvm_kir::{Machine, Observed};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A region that was told.
pub(super) struct KeptRegion {
    pub function: FuncId,
    pub scope: Scope,
    pub place: Option<Place>,
    pub micros: u64,
    /// The region with its verdicts, or why there is none.
    pub recorded: Result<(Recorded, Circuits), String>,
}

/// An operator that was told, at its largest execution.
pub(super) struct KeptOperator {
    pub place: String,
    pub operator: &'static str,
    pub width: i64,
    pub work: u64,
    pub kernel: Result<(Lifted, Observed), String>,
}

/// What became of a result that could have been written over an array.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Happened {
    /// It was written over this register's array.
    Over(RegId),
    /// The analysis says no, or not with what dies here.
    No,
    /// Nobody asked.
    Unasked(Unasked),
}

#[derive(Default)]
struct Kept {
    regions: Vec<KeptRegion>,
    operators: BTreeMap<Site, KeptOperator>,
    happened: BTreeMap<(Site, usize), BTreeMap<Happened, u64>>,
    /// How often plans were applied, and to which registers.
    applied: HashMap<(FuncId, Scope), (u64, BTreeSet<RegId>)>,
    relaid: BTreeMap<Site, Relaid>,
    /// Layouts that were decided at run time, in text.
    advised: HashMap<(FuncId, Scope), Vec<String>>,
}

/// Keeps what its sink is told.
#[derive(Clone, Default)]
pub struct Collector(Arc<Mutex<Kept>>);

/// What a document needs to know besides what was told.
pub(super) struct Setting<'a> {
    pub module: &'a Module,
    pub lines: &'a Lines<'a>,
    pub machine: &'a Machine,
    pub costs: &'a Costs,
    pub target: Target,
    pub means: Means,
}

impl Setting<'_> {
    /// Names of the registers of a function.
    pub fn names(&self, function: FuncId) -> Option<Names> {
        self.module.functions.get(function).map(|code| Names::new(self.module, code, self.lines))
    }
}

/// What is told of a run besides its facts.
pub struct Heading<'a> {
    /// The program.
    pub program: &'a str,
    /// The entry point that was called.
    pub entry: &'a str,
    /// Where its arguments came from.
    pub input: &'a str,
    /// What is switched off.
    pub off: Vec<&'static str>,
}

impl Collector {
    /// A sink that keeps everything.
    pub fn sink(&self) -> ExplainSink {
        let kept = self.clone();
        Arc::new(move |told| kept.keep(told))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What was kept before a panic elsewhere is still right.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, told: Explained<'_>) {
        let mut kept = self.kept();
        match told {
            Explained::Region(seen) => kept.regions.push(KeptRegion {
                function: seen.function,
                scope: seen.scope,
                place: seen.place,
                micros: seen.micros,
                recorded: Ok((seen.recorded.clone(), seen.circuits.clone())),
            }),
            Explained::Unrecorded(seen) => kept.regions.push(KeptRegion {
                function: seen.function,
                scope: seen.scope,
                place: seen.place,
                micros: 0,
                recorded: Err(seen.refusal.reason.clone()),
            }),
            Explained::Applied(seen) => {
                let (times, moved) = kept.applied.entry((seen.function, seen.scope)).or_default();
                *times += 1;
                moved.extend(seen.moved);
            }
            Explained::Advised(seen) => {
                kept.advised.insert((seen.function, seen.scope), seen.lines);
            }
            Explained::Operator(seen) => {
                let kernel = seen.kernel.map(|(lifted, observed)| (lifted.clone(), observed.clone()));
                let operator = KeptOperator {
                    place: seen.site.place,
                    operator: seen.site.operator,
                    width: seen.width,
                    work: seen.work,
                    kernel: kernel.map_err(str::to_string),
                };
                kept.operators.insert(seen.site.site, operator);
            }
            Explained::Relaid(seen) => kept.relaid.entry(seen.site.site).or_default().keep(&seen),
            Explained::Reuse(seen) => {
                let happened = match seen.answer {
                    ReuseAnswer::Analysed { over: Some(reg), .. }
                    | ReuseAnswer::Known { over: Some(reg) } => Happened::Over(reg),
                    ReuseAnswer::Analysed { .. } | ReuseAnswer::Known { .. } => Happened::No,
                    ReuseAnswer::Unasked(why) => Happened::Unasked(why),
                };
                let counts = kept.happened.entry((seen.site.site, seen.result)).or_default();
                *counts.entry(happened).or_default() += 1;
            }
        }
    }

    /// The facts of what was told so far, with prices of a machine. `reports` are the session's; `read` gives the text
    /// of a source file.
    pub fn document(
        &self,
        heading: Heading<'_>,
        module: &Module,
        reports: &[SiteReport],
        (machine, costs, target): (&Machine, &Costs, Target),
        read: &dyn Fn(&str) -> Option<String>,
    ) -> Document {
        let lines = Lines::new(read);
        let means = Means::default();
        let setting = Setting { module, lines: &lines, machine, costs, target, means };
        let kept = self.kept();
        let mut parts: Vec<Part> = Vec::new();
        for region in &kept.regions {
            parts.push(Part::Region(match &region.recorded {
                Ok((recorded, circuits)) => {
                    let applied = kept.applied.get(&(region.function, region.scope));
                    let mut part = region_part(&setting, region, recorded, circuits, applied);
                    let advised = kept.advised.get(&(region.function, region.scope));
                    part.strategy
                        .extend(advised.into_iter().flatten().map(|line| format!("at run time: {line}")));
                    part
                }
                Err(reason) => refused_part(&setting, region, reason),
            }));
        }
        for (site, operator) in &kept.operators {
            let profile =
                reports.iter().find(|report| report.name.site == *site).map(|report| &report.profile);
            let happened = |result: usize| kept.happened.get(&(*site, result));
            let mut part = operator_part(&setting, *site, operator, profile, &happened);
            if let (Some(relaid), Some(names)) = (kept.relaid.get(site), setting.names(site.function)) {
                part.relaid = relaid.facts(&names);
            }
            parts.push(Part::Operator(part));
        }
        // The program itself comes before what it imports, regions before the operators in them.
        parts.sort_by_key(|part| {
            let spot = part.spot();
            let place =
                spot.map(|spot| (spot.file != heading.program, spot.file.clone(), spot.line, spot.column));
            (spot.is_none(), place, matches!(part, Part::Operator(_)))
        });
        Document {
            program: heading.program.into(),
            entry: heading.entry.into(),
            input: heading.input.into(),
            target: target.name(),
            off: heading.off,
            parts,
        }
    }
}
