//! The sequence problem of a region: its kernels in order, each lane priced, each layout that somebody wishes for.

use super::sequence::{Access, Kernel, Lane, MOST_LAYOUTS, Problem, Write};
use crate::layout::{Candidate, Condition, Pricing, Role, candidates, wish};
use galopvm_kir::VarId;
use galopvm_lmad::Lmad;

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
    let kernels = pricing.kernels();
    let lanes: Vec<Vec<VarId>> = kernels
        .iter()
        .map(|kernel| {
            let mut axes = pricing.lane_axes(*kernel);
            axes.reverse();
            axes
        })
        .collect();
    let mut arrays: Vec<VarId> = Vec::new();
    for row in table.rows.iter().filter(|row| table.kernel(row).is_some()) {
        if !arrays.contains(&row.array) {
            arrays.push(row.array);
        }
    }
    let layouts: Vec<Vec<Candidate>> =
        arrays.iter().map(|array| layouts_of(pricing, *array, &lanes)).collect();
    let shape = |array: usize| table.array(arrays[array]).and_then(|info| info.shape.as_ref());
    let price = |pricing: &Pricing<'_>, row: usize, lane: VarId, array: usize, layout: usize| {
        let here = &table.rows[row];
        match (layout, shape(array)) {
            (1.., Some(shape)) => {
                let lmad = Lmad::manifest(shape, &layouts[array][layout].order);
                pricing.access(here, lane, Some(&lmad)).time
            }
            _ => pricing.access_now(here, lane).time,
        }
    };
    let lane_of = |kernel: VarId, lane: VarId, number: usize| {
        let mut way = Lane { name: format!("lane {number}"), ..Lane::default() };
        let shared = pricing.shared(kernel);
        for row in pricing.rows_of(kernel) {
            let here = &table.rows[row];
            let Some(array) = arrays.iter().position(|array| *array == here.array) else { continue };
            let time =
                (0..layouts[array].len()).map(|layout| price(&shared, row, lane, array, layout)).collect();
            match here.role {
                Role::Read(_) => way.reads.push(Access { array, time }),
                Role::Update => way.writes.push(Write { array, time, fresh: false }),
                Role::Fresh => way.writes.push(Write { array, time, fresh: true }),
            }
        }
        way
    };
    let last_use = |array: VarId| {
        let uses =
            |kernel: &VarId| pricing.rows_of(*kernel).iter().any(|row| table.rows[*row].array == array);
        kernels.iter().rposition(uses)
    };
    let problem_kernels = kernels
        .iter()
        .enumerate()
        .map(|(k, kernel)| {
            let first = pricing.rows_of(*kernel).first().copied();
            let outer = first.map_or(&[][..], |row| table.outer(&table.rows[row]));
            let ways = lanes[k].iter().enumerate().map(|(l, lane)| lane_of(*kernel, *lane, l)).collect();
            let dead = (0..arrays.len())
                .filter(|array| last_use(arrays[*array]) == Some(k) && !results.contains(&arrays[*array]));
            Kernel {
                lanes: ways,
                dead: dead.collect(),
                runs: outer.iter().map(|axis| table.trips(*axis)).fold(1, u64::saturating_mul),
            }
        })
        .collect();
    let initial = arrays.iter().map(|array| {
        let fresh = table.array(*array).is_some_and(|info| info.fresh);
        (!fresh).then_some(0)
    });
    let copy = arrays.iter().zip(&layouts).map(|(array, layouts)| copies_of(pricing, *array, layouts));
    let problem = Problem { initial: initial.collect(), copy: copy.collect(), kernels: problem_kernels };
    let is_read = |row: &usize| matches!(table.rows[*row].role, Role::Read(_));
    let reads =
        kernels.iter().map(|kernel| pricing.rows_of(*kernel).into_iter().filter(is_read).collect()).collect();
    Recorded { problem, arrays, layouts, kernels, lanes, reads }
}

/// The present layout, and what the reads of an array wish along some lane.
fn layouts_of(pricing: &Pricing<'_>, array: VarId, lanes: &[Vec<VarId>]) -> Vec<Candidate> {
    let table = pricing.table;
    let rank = table.rows.iter().find(|row| row.array == array).map_or(0, |row| row.dims.len());
    let lmad = table.array(array).and_then(|info| info.lmad.as_ref());
    let now = lmad.map_or_else(|| (0..rank).collect(), crate::layout::memory_order);
    let mut found = vec![Candidate { order: now, generic: false }];
    for row in table.reads().filter(|row| row.array == array) {
        for lane in lanes.iter().flatten().filter(|lane| row.nest.contains(lane)) {
            for candidate in candidates(table, row, *lane, pricing.target) {
                let known = found.iter().any(|known| known.order == candidate.order);
                if !known && found.len() < MOST_LAYOUTS {
                    found.push(candidate);
                }
            }
        }
    }
    found
}

fn copies_of(pricing: &Pricing<'_>, array: VarId, layouts: &[Candidate]) -> Vec<u64> {
    let table = pricing.table;
    let forbidden = table.reads().filter(|row| row.array == array).any(|row| {
        let against = wish(table, row, pricing.target).against;
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
