//! What an access costs along a lane, and what a copy into another layout costs: the cost model.
//!
//! Integers only, so that a decision is the same everywhere. The unit of [`Target::Gpu`] is a byte moved, that of
//! [`Target::Cpu`] a cycle. Constants come in as [`Costs`]: the machine's, measured once, or the usual ones.
//!
//! Text: `A x0 lane i : class gather(512) vecops 16384 mem 16777216 time 16777216`.

use super::class::Class;
use super::constants::{Costs, CpuCosts, GpuCosts};
use super::order::Target;
use crate::index::{Quality, Role, Row, Step, Table};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::Lmad;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What earlier runs showed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Profile {
    /// By the first name that an `if` binds: how often of a thousand it was true. Unknown: one half, for counting.
    pub taken: BTreeMap<VarId, u32>,
    /// By array: how often one version of it was read before it died or changed.
    pub reads: BTreeMap<VarId, u64>,
    /// By the outermost variable of a kernel: its lane, where whoever executes it has no choice.
    pub lanes: BTreeMap<VarId, VarId>,
    /// Fresh results that cannot be born in another order than their own.
    pub fixed: BTreeSet<VarId>,
}

impl Profile {
    /// The moving mean of reads of a version, after one more version.
    pub fn mean(before: u64, seen: u64) -> u64 {
        (3 * u128::from(before) + u128::from(seen)).div_ceil(4).min(u64::MAX.into()) as u64
    }

    /// How often of a thousand a side is taken, if it was seen.
    pub fn share(&self, branch: VarId, side: bool) -> Option<u32> {
        let taken = (*self.taken.get(&branch)?).min(1000);
        Some(if side { taken } else { 1000 - taken })
    }
}

/// What an access costs in one launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Price {
    /// How its lanes lie.
    pub class: Class,
    /// Vector operations.
    pub vector_ops: u64,
    /// Bytes (GPU) or cache lines (CPU) moved.
    pub memory: u64,
    /// Bytes (GPU) or cycles (CPU) altogether.
    pub time: u64,
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Price { class, vector_ops, memory, time } = self;
        write!(f, "class {class} vecops {vector_ops} mem {memory} time {time}")
    }
}

/// What prices are computed from.
#[derive(Clone, Copy)]
pub struct Pricing<'a> {
    /// The accesses.
    pub table: &'a Table,
    /// The machine.
    pub costs: &'a Costs,
    /// What runs the kernel.
    pub target: Target,
    /// What earlier runs showed.
    pub profile: &'a Profile,
    /// How many arrays share the cache.
    pub sharing: u64,
}

/// One loop around an access: its trips, and the bytes between its steps.
#[derive(Clone, Copy)]
struct Loop {
    trips: u64,
    bytes: u64,
}

impl Pricing<'_> {
    /// The price of an access along a lane, if its array lay like this; nothing is known of other layouts.
    pub fn access(&self, row: &Row, lane: VarId, lmad: Option<&Lmad>) -> Price {
        let bytes = self.table.array(row.array).map_or(8, |info| info.element_bytes()).unsigned_abs().max(1);
        let price = match self.target {
            Target::Gpu => self.on_gpu(row, lane, lmad, bytes),
            Target::Cpu => self.on_cpu(row, lane, lmad, bytes),
        };
        self.as_often_as_branches(row, price)
    }

    /// The price where the array lies now.
    pub fn access_now(&self, row: &Row, lane: VarId) -> Price {
        self.access(row, lane, self.table.array(row.array).and_then(|info| info.lmad.as_ref()))
    }

    /// The cost of a copy of so many elements into another layout.
    pub fn copy(&self, elements: u64, element_bytes: u64) -> u64 {
        let bytes = u128::from(elements) * u128::from(element_bytes);
        let cost = match self.target {
            // Read and written, a quarter more for the transposition.
            Target::Gpu => bytes * 2 * 5 / 4 + u128::from(self.costs.gpu.launch_bytes),
            Target::Cpu => {
                let CpuCosts { line_bytes, copy_line, copy_start, .. } = self.costs.cpu;
                u128::from(copy_line) * bytes.div_ceil(line_bytes.into()) + u128::from(copy_start)
            }
        };
        saturated(cost)
    }

    /// Elements of an array in a vector.
    pub fn lanes(&self, element_bytes: u64) -> u64 {
        match self.target {
            Target::Gpu => self.costs.gpu.lanes,
            Target::Cpu => (self.costs.cpu.vector_bytes / element_bytes.max(1)).max(1),
        }
    }

    fn step(&self, row: &Row, axis: VarId, lmad: Option<&Lmad>) -> Step {
        match lmad {
            Some(lmad) => self.table.flat_step(row, axis, lmad),
            None if row.dims.iter().any(|dim| dim.value.depends_on(axis)) => Step::DATA,
            None => Step::NONE,
        }
    }

    /// Bytes between steps; far apart where nothing is known.
    fn stride(&self, row: &Row, axis: VarId, lmad: Option<&Lmad>, bytes: u64) -> u64 {
        let step = self.step(row, axis, lmad);
        match step.quality {
            Quality::Data => 1 << 20,
            _ => step.delta.unsigned_abs().saturating_mul(bytes),
        }
    }

    fn on_gpu(&self, row: &Row, lane: VarId, lmad: Option<&Lmad>, bytes: u64) -> Price {
        let GpuCosts { lanes, sector_bytes, .. } = self.costs.gpu;
        let step = self.step(row, lane, lmad);
        let class = Class::of(step);
        let vector_ops = self.vector_ops(row, lane, lanes);
        let mut stride = u128::from(self.stride(row, lane, lmad, bytes));
        let uneven = match step.quality {
            Quality::Periodic(period) => period % lanes != 0,
            quality => quality == Quality::Piecewise,
        };
        if uneven {
            // Lanes that share an element now and then go on to its neighbour in between.
            stride = stride.max(bytes.into());
        }
        let reach = u128::from(lanes - 1) * stride + u128::from(bytes);
        let sectors = match stride {
            0 => 1,
            _ => reach.div_ceil(sector_bytes.into()).min(lanes.into()),
        };
        let time = saturated(u128::from(vector_ops) * sectors * u128::from(sector_bytes));
        Price { class, vector_ops, memory: time, time }
    }

    /// Trips of all loops, those of the lane in vectors.
    fn vector_ops(&self, row: &Row, lane: VarId, lanes: u64) -> u64 {
        let trips = self.table.inner(row).iter().map(|axis| {
            let trips = self.table.trips(*axis);
            if *axis == lane { trips.div_ceil(lanes) } else { trips }
        });
        trips.fold(1, u64::saturating_mul)
    }

    fn on_cpu(&self, row: &Row, lane: VarId, lmad: Option<&Lmad>, bytes: u64) -> Price {
        let cpu = &self.costs.cpu;
        let lanes = self.lanes(bytes);
        let step = self.step(row, lane, lmad);
        let a_loop = |axis: &VarId| Loop {
            trips: self.table.trips(*axis),
            bytes: self.stride(row, *axis, lmad, bytes),
        };
        let others = || self.table.inner(row).iter().filter(|axis| **axis != lane);
        let parallel: Vec<Loop> =
            others().filter(|axis| self.table.is_parallel(**axis)).map(a_loop).collect();
        let sequential: Vec<Loop> =
            others().filter(|axis| !self.table.is_parallel(**axis)).map(a_loop).collect();
        // The lane is cut into strips of vectors, which go outside the loops of each iteration.
        let mut order = parallel;
        if self.table.inner(row).contains(&lane) {
            let across = a_loop(&lane);
            let strips =
                Loop { trips: across.trips.div_ceil(lanes), bytes: across.bytes.saturating_mul(lanes) };
            let vector = Loop { trips: across.trips.min(lanes), bytes: across.bytes };
            if self.table.is_parallel(lane) {
                order.push(strips);
                order.extend(&sequential);
            } else {
                order.extend(&sequential);
                order.push(strips);
            }
            order.push(vector);
        } else {
            order.extend(&sequential);
        }
        let misses = self.misses(&order, bytes);
        let neighbours = order.iter().rev().filter(|l| l.bytes != 0).take(2);
        let ahead = neighbours.into_iter().any(|l| l.bytes <= cpu.line_bytes);
        let line = if ahead { cpu.near_line } else { cpu.far_line };
        let mut class = Class::of(step);
        if let Class::Gather(distance) = class
            && self.table.is_parallel(lane)
            && sequential.last().is_some_and(|last| last.bytes == bytes && last.trips >= lanes)
        {
            class = Class::Tile(distance);
        }
        let each = match (class, step.quality) {
            (_, Quality::Piecewise | Quality::Data) => lanes * cpu.gather_lane,
            (_, Quality::Periodic(period)) if period % lanes != 0 => lanes * cpu.gather_lane,
            (Class::Unit | Class::Broadcast, _) => 1,
            (Class::UnitReversed, _) => cpu.reversed,
            (Class::Tile(_), _) => cpu.tile,
            (Class::Gather(_) | Class::Data, _) => lanes * cpu.gather_lane,
        };
        // A line that is written is fetched and written back.
        let ways = if matches!(row.role, Role::Read(_)) { 1 } else { 2 };
        let vector_ops = self.vector_ops(row, lane, lanes);
        let time = u128::from(vector_ops) * u128::from(each) + u128::from(misses) * u128::from(line);
        Price { class, vector_ops, memory: misses, time: saturated(time * ways) }
    }

    /// Lines that are fetched: what the innermost loops touch, each time that the cache does not hold it any more.
    fn misses(&self, order: &[Loop], bytes: u64) -> u64 {
        let cache = (self.costs.cpu.cache_lines / self.sharing.max(1)).max(1);
        let fits =
            (0..=order.len()).find(|k| self.lines(&order[*k..], bytes) <= cache).unwrap_or(order.len());
        let again = fits.saturating_sub(1);
        let times = order[..again].iter().fold(1u128, |n, l| n.saturating_mul(l.trips.into()));
        saturated(times.saturating_mul(self.lines(&order[again..], bytes).into()))
    }

    /// Lines that some loops touch.
    fn lines(&self, loops: &[Loop], bytes: u64) -> u64 {
        let line = u128::from(self.costs.cpu.line_bytes);
        let mut sorted: Vec<&Loop> = loops.iter().filter(|l| l.trips > 1 && l.bytes != 0).collect();
        sorted.sort_by_key(|l| l.bytes);
        let (mut stretch, mut stretches) = (u128::from(bytes), 1u128);
        for l in sorted {
            if u128::from(l.bytes) <= stretch.max(line) {
                stretch = stretch.saturating_add(u128::from(l.trips - 1) * u128::from(l.bytes));
            } else {
                stretches = stretches.saturating_mul(l.trips.into());
            }
        }
        saturated(stretches.saturating_mul(stretch.div_ceil(line)))
    }

    fn as_often_as_branches(&self, row: &Row, price: Price) -> Price {
        let mut price = price;
        for (branch, side) in &row.branches {
            let share = u128::from(self.profile.share(*branch, *side).unwrap_or(500));
            let part = |count: u64| saturated((u128::from(count) * share).div_ceil(1000));
            price.vector_ops = part(price.vector_ops);
            price.memory = part(price.memory);
            price.time = part(price.time);
        }
        price
    }

    /// The price of a GPU access whose strided reads are staged through workgroup memory; only where the
    /// innermost sequential loop goes through neighbours.
    pub fn staged(&self, row: &Row, lane: VarId) -> Option<u64> {
        let info = self.table.array(row.array)?;
        let lmad = info.lmad.as_ref()?;
        let sequential = self.table.inner(row).iter().rev().find(|axis| !self.table.is_parallel(**axis))?;
        let strided = matches!(Class::of(self.table.flat_step(row, lane, lmad)), Class::Gather(_));
        let unit = self.table.flat_step(row, *sequential, lmad).delta == 1;
        if self.target != Target::Gpu || !strided || !unit {
            return None;
        }
        let GpuCosts { lanes, .. } = self.costs.gpu;
        let moved = u128::from(self.vector_ops(row, lane, lanes)) * u128::from(lanes);
        Some(saturated(moved * u128::from(info.element_bytes().unsigned_abs()) * 5 / 4))
    }
}

/// A price in text.
pub fn price_text(region: &Region, row: &Row, lane: VarId, price: &Price) -> String {
    format!("{} lane {} : {price}", row.title(region), region.name_of(lane))
}

pub(super) fn saturated(count: u128) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
