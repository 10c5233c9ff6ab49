//! The strategies of a kernel, and what they say of the lane that was chosen with real sizes.

use super::restriction::{Restriction, fold};
use crate::index::{Row, Table};
use crate::layout::order::STRIDE_LIMIT;
use crate::layout::{LaneChoice, Pricing, class};
use galopvm_kir::{Region, VarId};

/// The demands that make an access cheap: invariant along the lane, or one of its dimensions innermost.
pub fn access_strategies(table: &Table, row: &Row) -> Vec<Restriction> {
    let axes: Vec<VarId> = table.inner(row).iter().copied().filter(|axis| table.is_parallel(*axis)).collect();
    let varies = |axis: &VarId| row.dims.iter().any(|dim| dim.value.depends_on(*axis));
    let variant: Vec<VarId> = axes.iter().copied().filter(varies).collect();
    let mut demands = Vec::new();
    if variant.len() < axes.len() {
        demands.push(Restriction { out: variant.iter().copied().collect(), ..Restriction::default() });
    }
    for (depth, dim) in row.dims.iter().rev().enumerate() {
        for axis in &variant {
            if (1..=STRIDE_LIMIT).contains(&dim.value.step(*axis).delta.unsigned_abs()) {
                let inner = [(row.array, depth)].into_iter().collect();
                demands.push(Restriction { lane: Some(*axis), inner, ..Restriction::default() });
            }
        }
    }
    demands
}

/// All ways to meet the demands of every access of a kernel, one layout for each array.
pub fn kernel_strategies(pricing: &Pricing<'_>, kernel: VarId) -> Vec<Restriction> {
    let rows = reads(pricing, kernel);
    let accesses: Vec<Vec<Restriction>> =
        rows.iter().map(|row| access_strategies(pricing.table, row)).collect();
    fold(&accesses, &pricing.lane_axes(kernel))
}

fn reads<'a>(pricing: &Pricing<'a>, kernel: VarId) -> Vec<&'a Row> {
    pricing.table.reads().filter(|row| pricing.table.kernel(row) == Some(kernel)).collect()
}

/// The strategy that a chosen lane follows, if one meets every demand.
pub fn strategy_of(strategies: &[Restriction], lane: VarId) -> Option<&Restriction> {
    let demanded = strategies.iter().find(|strategy| strategy.lane == Some(lane));
    demanded.or_else(|| strategies.iter().find(|strategy| strategy.lane.is_none() && strategy.allows(lane)))
}

/// The elements of the arrays that a strategy transposes.
pub fn moved(table: &Table, strategy: &Restriction) -> u64 {
    let elements = |array| table.array(array).and_then(|info| info.elements()).unwrap_or(0).unsigned_abs();
    strategy.transposed().map(elements).fold(0, u64::saturating_add)
}

/// What each strategy moves: `transposes 1 each ; elements moved : in q 1000000 ; in i 1000000 ; in j 20000`.
pub fn moved_text(region: &Region, table: &Table, strategies: &[Restriction]) -> String {
    let counts: Vec<usize> = strategies.iter().map(|strategy| strategy.transposed().count()).collect();
    let transposes = match counts.split_first() {
        Some((first, rest)) if rest.iter().all(|count| count == first) => format!("{first} each"),
        _ => counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
    };
    let moved = strategies.iter().map(|strategy| {
        let lane = strategy.lane.map_or("-", |lane| region.name_of(lane));
        format!("in {lane} {}", moved(table, strategy))
    });
    format!("transposes {transposes} ; elements moved : {}", moved.collect::<Vec<_>>().join(" ; "))
}

/// How many accesses lie well along each lane as they stand: `satisfied : lane p1 1 of 3 ; lane p2 0 of 3`.
pub fn satisfied_text(region: &Region, pricing: &Pricing<'_>, kernel: VarId) -> String {
    let rows = reads(pricing, kernel);
    let lanes = pricing.lane_axes(kernel);
    let lane = |lane: &VarId| {
        let good = rows.iter().filter(|row| class(pricing.table, row, *lane).is_best()).count();
        format!("lane {} {good} of {}", region.name_of(*lane), rows.len())
    };
    format!("satisfied : {}", lanes.iter().map(lane).collect::<Vec<_>>().join(" ; "))
}

/// The choice in text: the strategy that is followed, else the lane: `choose {in j; out q; bias->0 xs->1}`.
pub fn choice_text(region: &Region, strategies: &[Restriction], choice: &LaneChoice) -> String {
    match strategy_of(strategies, choice.lane) {
        Some(strategy) => format!("choose {}", strategy.text(region)),
        None => format!("choose lane {}", region.name_of(choice.lane)),
    }
}

/// The order of the variables of a kernel with the lane innermost: `interchange i,q,j`.
pub fn interchange_text(region: &Region, pricing: &Pricing<'_>, kernel: VarId, lane: VarId) -> String {
    let mut axes = pricing.lane_axes(kernel);
    axes.retain(|axis| *axis != lane);
    axes.push(lane);
    let names: Vec<&str> = axes.iter().map(|axis| region.name_of(*axis)).collect();
    format!("interchange {}", names.join(","))
}
