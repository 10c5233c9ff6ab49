//! What was told, kept until the run is over.

use super::document::{Applied, Decision, Reason};
use super::fused::fused_part;
use super::kept::{Happened, KeptOperator, KeptRegion, Ran, Setting};
use super::names::{Lines, Names};
use super::operators::operator_part;
use super::regions::{refused_part, region_part};
use super::relaid::Relaid;
use super::{Document, Part};
use galopvm_analysis::layout::{Costs, Means, Target};
use galopvm_bytecode::{FuncId, Module, Scope};
use galopvm_kir::Machine;
use galopvm_tier::fused::Line;
use galopvm_tier::told::{DecisionSeen, ExplainSink, Explained, ReuseAnswer};
use galopvm_tier::{Site, SiteReport};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Kept {
    regions: Vec<KeptRegion>,
    operators: BTreeMap<Site, KeptOperator>,
    /// By the first of them: operators that run together.
    fused: BTreeMap<Site, Vec<Line>>,
    happened: BTreeMap<(Site, usize), BTreeMap<Happened, u64>>,
    relaid: BTreeMap<Site, Relaid>,
    /// Layouts that were decided at run time, in text.
    advised: HashMap<(FuncId, Scope), Vec<String>>,
    ran: HashMap<(FuncId, Scope), Ran>,
    /// Each decision once, with how often it was told.
    decisions: Vec<(DecisionSeen, u64)>,
}

/// Keeps what its sink is told.
#[derive(Clone, Default)]
pub struct Collector(Arc<Mutex<Kept>>);

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
                let ran = kept.ran.entry((seen.function, seen.scope)).or_default();
                ran.planned += 1;
                ran.moved.extend(seen.moved);
            }
            Explained::Advised(seen) => {
                kept.advised.insert((seen.function, seen.scope), seen.lines);
            }
            Explained::Unplanned(seen) => {
                let ran = kept.ran.entry((seen.function, seen.scope)).or_default();
                *ran.unplanned.entry(seen.why).or_default() += 1;
            }
            Explained::Decided(seen) => match kept.decisions.iter_mut().find(|(known, _)| *known == seen) {
                Some((_, times)) => *times += 1,
                None => kept.decisions.push((seen, 1)),
            },
            Explained::Operator(seen) => {
                let kernel = seen.kernel.map(|(lifted, observed)| (lifted.clone(), observed.clone()));
                let operator = KeptOperator {
                    place: seen.site.place,
                    operator: seen.site.operator,
                    width: seen.width,
                    work: seen.work,
                    kernel: kernel.map_err(str::to_string),
                    form: seen.form,
                };
                kept.operators.insert(seen.site.site, operator);
            }
            Explained::Fused(seen) => {
                kept.fused.insert(seen.site.site, seen.lines.to_vec());
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
                    let ran = kept.ran.get(&(region.function, region.scope)).cloned().unwrap_or_default();
                    let mut part = region_part(&setting, region, recorded, circuits, &ran);
                    let advised = kept.advised.get(&(region.function, region.scope));
                    part.strategy
                        .extend(advised.into_iter().flatten().map(|line| format!("at run time: {line}")));
                    part
                }
                Err(reason) => refused_part(&setting, region, reason),
            }));
        }
        for (site, operator) in &kept.operators {
            let profile = reports
                .iter()
                .find(|report| report.name.site == *site && report.group.is_none())
                .map(|report| &report.profile);
            let happened = |result: usize| kept.happened.get(&(*site, result));
            let mut part = operator_part(&setting, *site, operator, profile, &happened);
            if let (Some(relaid), Some(names)) = (kept.relaid.get(site), setting.names(site.function)) {
                part.relaid = relaid.facts(&names);
            }
            parts.push(Part::Operator(part));
        }
        for (site, lines) in &kept.fused {
            let kernels = reports.iter().filter(|report| report.group == Some(*site));
            let launches = kernels.map(|report| report.profile.launches).max().unwrap_or(0);
            parts.push(Part::Fused(fused_part(&setting, *site, lines, launches)));
        }
        // The program itself comes before what it imports, regions before the operators in them.
        parts.sort_by_key(|part| {
            let spot = part.spot();
            let place =
                spot.map(|spot| (spot.file != heading.program, spot.file.clone(), spot.line, spot.column));
            (spot.is_none(), place, !matches!(part, Part::Region(_)))
        });
        Document {
            program: heading.program.into(),
            entry: heading.entry.into(),
            input: heading.input.into(),
            target: target.name(),
            off: heading.off,
            decisions: decisions(&setting, &kept.decisions),
            parts,
        }
    }
}

/// What was told of decisions, each once with what came of it.
fn decisions(setting: &Setting<'_>, kept: &[(DecisionSeen, u64)]) -> Vec<Decision> {
    let mut names: HashMap<FuncId, Option<Names>> = HashMap::new();
    let mut shown: Vec<Decision> = Vec::new();
    for (seen, times) in kept {
        let names = names.entry(seen.function).or_insert_with(|| setting.names(seen.function));
        let what =
            seen.what.named(|reg| names.as_ref().map_or_else(|| reg.to_string(), |names| names.called(reg)));
        let spot = seen.place.and_then(|place| setting.lines.spot(setting.module, place));
        let kind = seen.kind.name();
        let same = |other: &Decision| (other.kind, &other.spot, &other.what) == (kind, &spot, &what);
        let at = shown.iter().position(same).unwrap_or_else(|| {
            let applied = Applied::default();
            shown.push(Decision { spot: spot.clone(), kind, what: what.clone(), applied, bytes: None });
            shown.len() - 1
        });
        let Some(decision) = shown.get_mut(at) else { continue };
        match &seen.outcome {
            Ok(bytes) => {
                decision.applied.times += times;
                let all = bytes.map(|bytes| bytes.saturating_mul(*times));
                let before = decision.bytes.unwrap_or(0);
                decision.bytes = all.map(|all| all.saturating_add(before)).or(decision.bytes);
            }
            Err(not) => {
                let reason = Reason { plain: not.plain.clone(), exact: not.exact.clone() };
                decision.applied.not.push((reason, *times));
            }
        }
    }
    shown.sort_by(|a, b| (a.spot.is_none(), &a.spot).cmp(&(b.spot.is_none(), &b.spot)));
    shown
}
