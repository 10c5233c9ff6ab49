//! What verdicts promise, by execution: a region gives the same results plainly, with arrays where short-circuiting
//! puts them, with results written over arrays, and with blocks packed into one memory, in random orders; and where a
//! verdict names a place that speaks against it, that place is written before it is used.

use crate::case::{region, region_of};
use crate::machine::{Access, Finished, Layout, TOO_LONG, Way, agree, candidates, run};
use galopvm_analysis::circuit::{Outcome, Reason, Witness, circuits, circuits_within};
use galopvm_analysis::reuse::{Effort, Verdict, analyse};
use galopvm_kir::{CheckedRegion, Observed, Rhs, VarId};
use galopvm_testkit::cases::{Case, all};
use std::collections::BTreeMap;

/// Elements and statements for one region in all orders.
const WORK: u64 = 400_000;

/// Orders in which a place that speaks against a verdict is looked for.
const TRIES: u64 = 200;

/// What was confirmed.
#[derive(Default, Clone, Copy, Debug)]
pub struct Tally {
    /// Arrays that are built in their place.
    pub moved: usize,
    /// Refusals with a place, and those whose place was seen to be written and then used.
    pub refused: usize,
    pub shown: usize,
    /// Of these, the ones that give another result if the refusal is not heeded.
    pub spoilt: usize,
    /// Candidates for reuse, and results that were written over one, run by run.
    pub candidates: usize,
    pub reused: usize,
    /// Arrays that are no candidates because of a place, and those whose place was seen to be changed and then read.
    pub conflicts: usize,
    pub conflicts_shown: usize,
    /// Blocks of the plain run, and of the one with arrays in their places.
    pub plain_blocks: usize,
    pub planned_blocks: usize,
}

impl Tally {
    /// Both together.
    pub fn add(&mut self, other: &Tally) {
        self.moved += other.moved;
        self.refused += other.refused;
        self.shown += other.shown;
        self.spoilt += other.spoilt;
        self.candidates += other.candidates;
        self.reused += other.reused;
        self.conflicts += other.conflicts;
        self.conflicts_shown += other.conflicts_shown;
        self.plain_blocks += other.plain_blocks;
        self.planned_blocks += other.planned_blocks;
    }
}

/// Runs the region plainly and as planned, in random orders, and compares.
pub fn confirm(region: &CheckedRegion, observed: &Observed, orders: u64) -> Result<Tally, String> {
    let code = region.region();
    let circuits = circuits(code, observed);
    // A plan wants verdicts only.
    let brief = circuits_within(code, observed, None, Effort::Quick, Witness::First);
    if !brief.places.iter().eq(circuits.places.iter()) {
        return Err(format!(
            "other places without names for what speaks against them {}",
            circuits.text(code)
        ));
    }
    let entries = circuits.outcomes.iter().flat_map(|outcome| &outcome.entries);
    let mut tally =
        Tally { moved: entries.filter(|entry| entry.outcome.is_ok()).count(), ..Tally::default() };
    let (over, yes, _) = candidates(code, observed, &circuits);
    tally.candidates = yes;
    let placed = Layout::placed(&circuits.places);
    let layouts = [
        ("in their places", placed.clone()),
        ("written over others", Layout { over: over.clone(), ..placed }),
        ("plain, written over others", Layout { over, ..Layout::default() }),
        ("packed", Layout::packed(code, &circuits)),
    ];
    for inputs in 0..3 {
        let way = Way { inputs, ..Way::default() };
        let plain = run(region, observed, &Layout::default(), way)?;
        tally.plain_blocks = plain.made;
        let orders = orders.min(WORK / (plain.work + 1)).div_ceil(if inputs == 0 { 1 } else { 3 });
        for seed in 1..=orders.max(2) {
            for (name, layout) in &layouts {
                let way = Way { order: seed + 1000 * inputs, ..way };
                let text = || format!("{name}, order {seed}\n{}", circuits.text(code));
                let planned =
                    run(region, observed, layout, way).map_err(|error| format!("{error}; {}", text()))?;
                tally.reused += planned.reused;
                if *name == "in their places" {
                    tally.planned_blocks = planned.made;
                }
                if !agree(&plain, &planned) {
                    return Err(format!("another result {}", text()));
                }
            }
        }
    }
    Ok(tally)
}

/// Looks for the places that speak against moving arrays and against reuse.
pub fn witnesses(region: &CheckedRegion, observed: &Observed) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let circuits = circuits(region.region(), observed);
    for outcome in &circuits.outcomes {
        for operand in &outcome.operands {
            let reason = outcome.entries.iter().find_map(|entry| {
                let reason = entry.outcome.as_ref().err()?;
                (Some(entry.array) == operand.array).then_some(reason)
            });
            if let (Some(reason), false) = (reason, operand.refused.is_empty())
                && matches!(reason, Reason::Overlap(_) | Reason::OverlapLater { .. })
            {
                tally.refused += 1;
                // What was put into a block that is elsewhere now stays outside.
                let gone = |block: &VarId| operand.refused.iter().any(|(var, _)| var == block);
                let places = circuits.places.iter().map(|(var, place)| (*var, place.clone()));
                let left = places.filter(|(_, place)| !gone(&place.block));
                let forced = left.chain(operand.refused.iter().cloned()).collect();
                let (shown, spoilt) = against(region, observed, outcome, reason, &forced);
                tally.shown += usize::from(shown);
                tally.spoilt += usize::from(spoilt);
            }
        }
    }
    let stms = region.region().body.stms.iter().filter(|stm| matches!(stm.rhs, Rhs::Kernel { .. }));
    for (stm, k) in stms.flat_map(|stm| (0..stm.pat.len()).map(move |k| (stm, k))) {
        let Some(reuse) = analyse(region.region(), observed, stm, k, Effort::Quick) else { continue };
        for array in &reuse.arrays {
            if let Verdict::Conflict { place } = array.verdict {
                tally.conflicts += 1;
                let shown = changed_and_read(region, observed, stm.pat[k], array.array, place);
                tally.conflicts_shown += usize::from(shown);
            }
        }
    }
    Ok(tally)
}

/// Whether the place of a refusal is written by what was to be moved and used afterwards, before the point; and
/// whether another result comes out then.
fn against(
    region: &CheckedRegion,
    observed: &Observed,
    outcome: &Outcome,
    reason: &Reason,
    forced: &galopvm_analysis::circuit::Places,
) -> (bool, bool) {
    let (mut shown, mut spoilt) = (false, false);
    let layout = Layout { trusted: true, ..Layout::placed(forced) };
    for order in 1..=TRIES {
        let way = Way { order, inputs: order % 3, watch: true, ..Way::default() };
        let Ok(moved) = run(region, observed, &layout, way) else { continue };
        let plain = Way { watch: false, order: 0, ..way };
        if let Ok(plain) = run(region, observed, &Layout::default(), plain) {
            spoilt |= !agree(&plain, &moved);
        }
        shown |= written_then_used(&moved, outcome, reason);
        if shown && spoilt {
            break;
        }
    }
    (shown, spoilt)
}

fn written_then_used(run: &Finished, outcome: &Outcome, reason: &Reason) -> bool {
    let (names, witness, apart) = match reason {
        Reason::Overlap(overlap) => (Some((overlap.write.0, overlap.used.0)), overlap.witness, false),
        Reason::OverlapLater { witness, later, .. } => (None, *witness, !later),
        _ => return false,
    };
    let built: Vec<VarId> = outcome.operands.iter().flat_map(|o| &o.refused).map(|(var, _)| *var).collect();
    let last = run.bound.get(&outcome.target).copied().unwrap_or(usize::MAX);
    let accesses: Vec<&Access> = run.accesses.iter().filter(|access| access.place == witness).collect();
    accesses.iter().enumerate().any(|(at, write)| {
        let writes =
            write.write && built.contains(&write.name) && names.is_none_or(|(name, _)| name == write.name);
        // Within one statement that nothing is known of, writes may come before reads.
        let mut after = accesses[at + 1..].iter();
        let mut meanwhile = accesses[..at].iter().rev().take_while(|used| used.time == write.time);
        let uses = |used: &Access| {
            used.block == write.block
                && !built.contains(&used.name)
                && names.is_none_or(|(_, name)| name == used.name)
                && used.time <= last
                && (!apart || used.iteration != write.iteration)
        };
        writes && (after.any(|used| uses(used)) || meanwhile.any(|used| uses(used)))
    })
}

/// Whether a place of `array` is changed by the iteration of that place of `result`, written over it, and then read
/// by another one.
fn changed_and_read(
    region: &CheckedRegion,
    observed: &Observed,
    result: VarId,
    array: VarId,
    place: i64,
) -> bool {
    let layout = Layout { forced: BTreeMap::from([(result, array)]), ..Layout::default() };
    (1..=TRIES).any(|order| {
        let way = Way { order, inputs: order % 5, watch: true, ..Way::default() };
        let Ok(over) = run(region, observed, &layout, way) else { return false };
        let (Some(block), Some(changed)) = (over.blocks.get(&array), over.changed.get(&place)) else {
            return false;
        };
        over.accesses.iter().enumerate().any(|(at, write)| {
            write.write
                && write.name == result
                && write.block == *block
                && write.iteration == Some(place as usize)
                && *changed
                && over.accesses[at + 1..].iter().any(|read| {
                    !read.write
                        && read.block == *block
                        && read.place == write.place
                        && read.iteration.is_some_and(|other| other != place as usize)
                })
        })
    })
}

/// The region of a case, with small numbers for its sizes if it takes long.
fn executable(case: &Case) -> Result<(CheckedRegion, Observed, bool), String> {
    let (region, observed) = region(case)?;
    let way = Way { limit: 20_000, ..Way::default() };
    match run(&region, &observed, &Layout::default(), way) {
        Ok(_) => return Ok((region, observed, false)),
        // One case reads outside its arrays, unless they are as long as they are wide.
        Err(error) if error == TOO_LONG || error.starts_with("place ") => {}
        Err(error) => return Err(error),
    }
    let small = |word: &str| match word.trim_end_matches(',').parse::<i64>() {
        Ok(number) if number > 12 => word.replace(&number.to_string(), "12"),
        _ => word.to_string(),
    };
    let line = |line: &str| match line.trim_start().starts_with("size ") {
        true => line.split(' ').map(small).collect::<Vec<_>>().join(" "),
        false => line.to_string(),
    };
    let env: Vec<String> = case.text("ENV").unwrap_or_default().lines().map(line).collect();
    let (region, observed) = region_of(&env.join("\n"), case.text("INPUT").unwrap_or_default())?;
    Ok((region, observed, true))
}

#[test]
fn every_case_gives_the_same_results_as_planned() {
    let mut failures = Vec::new();
    let (mut all_of_them, mut count) = (Tally::default(), 0);
    println!(
        "{:28} {:>5} {:>8} {:>6} {:>9} {:>6} {:>10} {:>6}",
        "case", "moved", "refused", "shown", "conflicts", "shown", "candidates", "blocks"
    );
    for case in all().iter().filter(|case| case.text("INPUT").is_some()) {
        let found = executable(case).and_then(|(region, observed, small)| {
            let mut tally = confirm(&region, &observed, 24)?;
            tally.add(&witnesses(&region, &observed)?);
            Ok((tally, small))
        });
        match found {
            Err(error) => failures.push(format!("{}: {error}", case.name)),
            Ok((tally, small)) => {
                count += 1;
                all_of_them.add(&tally);
                println!(
                    "{:28} {:5} {:8} {:6} {:9} {:6} {:10} {:>3}->{}{}",
                    case.name,
                    tally.moved,
                    tally.refused,
                    tally.shown,
                    tally.conflicts,
                    tally.conflicts_shown,
                    tally.candidates,
                    tally.plain_blocks,
                    tally.planned_blocks,
                    if small { "  with small sizes" } else { "" }
                );
                if tally.shown < tally.refused || tally.conflicts_shown < tally.conflicts {
                    failures.push(format!("{}: a place was not seen to speak against it", case.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(count, 71);
    println!("{all_of_them:?}");
    assert!(all_of_them.moved >= 30 && all_of_them.conflicts >= 5, "{all_of_them:?}");
}
