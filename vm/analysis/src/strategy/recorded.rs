//! The sequence problem of a region: its kernels in order, each lane priced, each layout that somebody wishes for.

use super::sequence::{Access, Kernel, Lane, MOST_LAYOUTS, Problem, Write};
use crate::index::{Role, Row};
use crate::layout::{Candidate, Condition, Pricing, candidates, wish};
use galopvm_kir::VarId;
use galopvm_lmad::Lmad;
use std::collections::BTreeMap;

/// More than any copy costs, less than what overflows when summed.
const FORBIDDEN: u64 = u64::MAX >> 16;

/// A problem and what its numbers stand for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// The problem.
    pub problem: Problem,
    /// By number.
    pub arrays: Vec<VarId>,
    /// By array and layout: dimensions, outermost in memory first; number 0 is the present one.
    pub layouts: Vec<Vec<Candidate>>,
    /// By number.
    pub kernels: Vec<VarId>,
    /// By kernel and lane, innermost variables first.
    pub lanes: Vec<Vec<VarId>>,
    /// By kernel: the rows that the reads of each lane stand for.
    pub reads: Vec<Vec<usize>>,
}

/// The problem of the kernels of a region; `results` are read by somebody else afterwards.
pub fn recorded(pricing: &Pricing<'_>, results: &[VarId]) -> Recorded {
    let table = pricing.table;
    let (kernels, rows): (Vec<VarId>, Vec<Vec<usize>>) = pricing.rows_by_kernel().into_iter().unzip();
    let lanes: Vec<Vec<VarId>> = rows
        .iter()
        .map(|rows| {
            let mut axes = pricing.lane_axes_of(rows);
            axes.reverse();
            axes
        })
        .collect();
    // By array: its number, the rows that read it, the last kernel that needs it.
    let mut numbers: BTreeMap<VarId, usize> = BTreeMap::new();
    let mut arrays: Vec<VarId> = Vec::new();
    let mut readers: Vec<Vec<usize>> = Vec::new();
    let mut last_use: Vec<usize> = Vec::new();
    for (k, rows) in rows.iter().enumerate() {
        for row in rows {
            let here = &table.rows[*row];
            let number = *numbers.entry(here.array).or_insert_with(|| {
                arrays.push(here.array);
                readers.push(Vec::new());
                last_use.push(k);
                arrays.len() - 1
            });
            last_use[number] = k;
            if matches!(here.role, Role::Read(_)) {
                readers[number].push(*row);
            }
        }
    }
    let layouts: Vec<Vec<Candidate>> =
        arrays.iter().zip(&readers).map(|(array, readers)| layouts_of(pricing, *array, readers)).collect();
    let way = |pricing: &Pricing<'_>, rows: &[usize], lane: VarId, number: usize| {
        let mut way = Lane { name: format!("lane {number}"), ..Lane::default() };
        for row in rows {
            let here = &table.rows[*row];
            let array = numbers[&here.array];
            let shape = table.array(here.array).and_then(|info| info.shape.as_ref());
            // What cannot be born otherwise has one layout to choose from when it is made.
            let is_fixed = here.role == Role::Fresh && pricing.profile.fixed.contains(&here.array);
            let count = if is_fixed { 1 } else { layouts[array].len() };
            let time = (0..count).map(|layout| match (layout, shape) {
                (1.., Some(shape)) => {
                    let lmad = Lmad::manifest(shape, &layouts[array][layout].order);
                    pricing.access(here, lane, Some(&lmad)).time
                }
                _ => pricing.access_now(here, lane).time,
            });
            let time = time.collect();
            match here.role {
                Role::Read(_) => way.reads.push(Access { array, time }),
                Role::Update => way.writes.push(Write { array, time, fresh: false }),
                Role::Fresh => way.writes.push(Write { array, time, fresh: true }),
            }
        }
        way
    };
    let mut problem = Problem::default();
    for (k, rows) in rows.iter().enumerate() {
        let shared = Pricing { sharing: pricing.arrays_of(rows).len() as u64, ..*pricing };
        let outer = rows.first().map_or(&[][..], |row| table.outer(&table.rows[*row]));
        let dead =
            (0..arrays.len()).filter(|array| last_use[*array] == k && !results.contains(&arrays[*array]));
        problem.kernels.push(Kernel {
            lanes: lanes[k].iter().enumerate().map(|(l, lane)| way(&shared, rows, *lane, l)).collect(),
            dead: dead.collect(),
            runs: outer.iter().map(|axis| table.trips(*axis)).fold(1, u64::saturating_mul),
        });
    }
    for (k, array) in arrays.iter().enumerate() {
        // What no access writes is there when somebody reads it, in its own layout.
        let is_written = |row: &Row| row.array == *array && row.role == Role::Fresh;
        let fresh = table.array(*array).is_some_and(|info| info.fresh) && table.rows.iter().any(is_written);
        problem.initial.push((!fresh).then_some(0));
        problem.copy.push(copies_of(pricing, *array, &readers[k], &layouts[k]));
    }
    let is_read = |row: &&usize| matches!(table.rows[**row].role, Role::Read(_));
    let reads = rows.iter().map(|rows| rows.iter().filter(is_read).copied().collect()).collect();
    Recorded { problem, arrays, layouts, kernels, lanes, reads }
}

/// The present layout, and what the reads of an array wish along some lane.
fn layouts_of(pricing: &Pricing<'_>, array: VarId, readers: &[usize]) -> Vec<Candidate> {
    let table = pricing.table;
    let info = table.array(array);
    let rank = info.and_then(|info| info.shape.as_ref()).map_or(0, Vec::len);
    let lmad = info.and_then(|info| info.lmad.as_ref());
    let now = lmad.map_or_else(|| (0..rank).collect(), crate::layout::memory_order);
    let mut found = vec![Candidate { order: now, generic: false }];
    for row in readers {
        for lane in pricing.lane_axes_of(&[*row]) {
            for candidate in candidates(table, &table.rows[*row], lane, pricing.target) {
                let known = found.iter().any(|known| known.order == candidate.order);
                if !known && found.len() < MOST_LAYOUTS {
                    found.push(candidate);
                }
            }
        }
    }
    found
}

fn copies_of(pricing: &Pricing<'_>, array: VarId, readers: &[usize], layouts: &[Candidate]) -> Vec<u64> {
    let table = pricing.table;
    let forbidden = readers.iter().any(|row| {
        let against = wish(table, &table.rows[*row], pricing.target).against;
        against.contains(&Condition::MadeInside) || against.contains(&Condition::Rebuilt)
    });
    let Some((info, elements)) = table.array(array).and_then(|info| Some((info, info.elements()?))) else {
        return vec![FORBIDDEN; layouts.len()];
    };
    let cost = pricing.copy(elements.unsigned_abs(), info.element_bytes().unsigned_abs());
    let each = |layout: &Candidate| match forbidden {
        true => FORBIDDEN,
        false if layout.generic => cost.saturating_mul(3),
        false => cost,
    };
    layouts.iter().map(each).collect()
}
