//! The decision for a whole region: a lane for each kernel, copies, and the layouts in which results are born.
//!
//! The cheapest way through the sequence of kernels; then each copy is judged once more by the benefit for all accesses
//! that take it, so that a copy has to be worth 1.25 times its cost here as everywhere.
//!
//! Text: a line for each kernel, copy and birth: `kernel 2 : lane i`, `Y is born (1,0)`,
//! `manifest Y (1,0) : cost 3670016 ; time 8388608 -> 1048576 ; benefit 7340032 ; s#1`.

use super::recorded::{Recorded, recorded};
use super::sequence::{Solution, solve};
use crate::layout::{Copy, Means, Pricing, Question, Verdict, order_text};
use galopvm_kir::{Region, VarId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is decided for a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionChoice {
    /// Kernels, by their outermost variables, with their lanes.
    pub lanes: Vec<(VarId, VarId)>,
    /// Copies that are made, with the rows that use them.
    pub copies: Vec<Copy>,
    /// Copies that the sequence would make, but that are not worth enough.
    pub left: Vec<Copy>,
    /// Results that are born in another order than their own.
    pub born: Vec<(VarId, Vec<usize>)>,
    /// The estimated time of all.
    pub total: u64,
    /// There were too many possibilities to look at all of them.
    pub bounded: bool,
}

/// Decides for a region; `results` are read by somebody else afterwards.
pub fn decide(pricing: &Pricing<'_>, results: &[VarId], means: &Means) -> RegionChoice {
    let recorded = recorded(pricing, results);
    let solution = solve(&recorded.problem, means.effort);
    let lanes = recorded.kernels.iter().zip(&recorded.lanes).zip(&solution.steps);
    let lanes = lanes.filter_map(|((kernel, lanes), step)| Some((*kernel, *lanes.get(step.lane)?))).collect();
    let (copies, left) = copies(pricing, &recorded, &solution, means)
        .into_iter()
        .partition(|copy| copy.verdict == Verdict::Manifest);
    RegionChoice {
        lanes,
        copies,
        left,
        born: births(&recorded, &solution),
        total: solution.total,
        bounded: solution.bounded,
    }
}

/// An access that takes a copy, with its times.
struct Taker {
    row: usize,
    before: u64,
    after: u64,
}

/// The copies of a solution, each judged by all accesses that take it.
fn copies(pricing: &Pricing<'_>, recorded: &Recorded, solution: &Solution, means: &Means) -> Vec<Copy> {
    let table = pricing.table;
    let mut takers: BTreeMap<(usize, usize), Vec<Taker>> = BTreeMap::new();
    for (k, step) in solution.steps.iter().enumerate() {
        let kernel = &recorded.problem.kernels[k];
        let reads = kernel.lanes[step.lane].reads.iter().zip(&recorded.reads[k]).zip(&step.taken);
        for ((access, row), layout) in reads {
            let born = recorded.problem.initial[access.array].is_none();
            // What a result is born in is no copy.
            let own = if born { born_in(solution, access.array) } else { Some(0) };
            if own == Some(*layout) {
                continue;
            }
            let time =
                |layout: usize| access.time.get(layout).copied().unwrap_or(0).saturating_mul(kernel.runs);
            let taker = Taker { row: *row, before: time(own.unwrap_or(0)), after: time(*layout) };
            takers.entry((access.array, *layout)).or_default().push(taker);
        }
    }
    let mut copies = Vec::new();
    for ((array, layout), takers) in takers {
        let var = recorded.arrays[array];
        let Some((info, elements)) = table.array(var).and_then(|info| Some((info, info.elements()?))) else {
            continue;
        };
        let order = recorded.layouts[array][layout].order.clone();
        let bytes = elements.unsigned_abs().saturating_mul(info.element_bytes().unsigned_abs());
        let sum = |times: &mut dyn Iterator<Item = u64>| times.fold(0, u64::saturating_add);
        let trips = |row: usize| {
            let nest = table.rows[row].nest.iter();
            nest.map(|axis| table.trips(*axis)).fold(1, u64::saturating_mul)
        };
        let question = Question {
            best_already: false,
            fits: false,
            misses_only: false,
            runs: 1,
            read: sum(&mut takers.iter().map(|taker| trips(taker.row))),
            elements: elements.unsigned_abs(),
            before: sum(&mut takers.iter().map(|taker| taker.before)),
            after: sum(&mut takers.iter().map(|taker| taker.after)),
            cost: recorded.problem.copy[array][layout],
            rebuilt: false,
            bytes,
            budget: means.budget,
            held: means.held.contains(&(var, order.clone())),
        };
        let verdict = question.judge();
        let rows = takers.iter().map(|taker| taker.row).collect();
        copies.push(Copy { array: var, order, rows, question, verdict });
    }
    copies
}

/// The layout that a fresh array has after the kernel that makes it.
fn born_in(solution: &Solution, array: usize) -> Option<usize> {
    let held = solution.steps.iter().map(|step| step.held[array]).find(|held| !held.is_empty())?;
    held.iter().next()
}

fn births(recorded: &Recorded, solution: &Solution) -> Vec<(VarId, Vec<usize>)> {
    let fresh = (0..recorded.arrays.len()).filter(|array| recorded.problem.initial[*array].is_none());
    let birth = |array: usize| {
        let layout = born_in(solution, array).filter(|layout| *layout != 0)?;
        Some((recorded.arrays[array], recorded.layouts[array][layout].order.clone()))
    };
    fresh.filter_map(birth).collect()
}

impl RegionChoice {
    /// The decision in text.
    pub fn text(&self, region: &Region, pricing: &Pricing<'_>) -> String {
        let mut text = String::new();
        for (k, (_, lane)) in self.lanes.iter().enumerate() {
            let _ = writeln!(text, "kernel {} : lane {}", k + 1, region.name_of(*lane));
        }
        for copy in self.copies.iter().chain(&self.left) {
            let names: Vec<String> =
                copy.rows.iter().map(|row| pricing.table.rows[*row].name(region)).collect();
            let Question { cost, before, after, .. } = &copy.question;
            let _ = write!(
                text,
                "manifest {} {} : cost {cost} ; time {before} -> {after} ; benefit {} ; {}",
                region.name_of(copy.array),
                order_text(&copy.order),
                copy.question.benefit(),
                names.join(", ")
            );
            if copy.verdict != Verdict::Manifest {
                let _ = write!(text, " ; {}", copy.verdict);
            }
            text.push('\n');
        }
        for (array, order) in &self.born {
            let _ = writeln!(text, "{} is born {}", region.name_of(*array), order_text(order));
        }
        let bounded = if self.bounded { " ; BOUNDED" } else { "" };
        let _ = writeln!(text, "total {}{bounded}", self.total);
        text
    }
}
