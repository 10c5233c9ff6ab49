//! Reductions in stretches: where what is read again, or what lies side by side, would not stay in the caches.
//!
//! - *Columns.* Neighbours in memory along the lanes, rows far apart: a stripe as wide as a few vectors touches another page in
//!   every iteration. In stretches of some rows, with the results of a whole row waiting in the first-level cache, memory is
//!   read along the rows.
//! - *Packed operands.* Rows that are computed together share what is read along the lanes. If that lies apart or turned, so
//!   that it falls into a few sets of a cache or is gathered, it is copied once for all rows, for a stretch that stays in a
//!   quarter of the second-level cache with the results that wait.

use super::Facts;
use super::vectors::{is_short_fold, tiled};
use crate::index::Quality;
use crate::layout::Class;
use galopvm_kir::kernel::Rows;
use galopvm_kir::plan::MOST_WAITING;
use galopvm_kir::{Axis, Body, Decision, Plan, Read, ReadId, Rhs, Stm, VarId};

/// Rows of memory that are read side by side.
const SIDE_BY_SIDE: u32 = 8;

/// Bytes from one row to the next from which that pays, and of a row: so many, or this share of a smaller first-level cache.
const FAR: u64 = 2048;
const FAR_SHARE: u64 = 16;

/// Stretches from which the results may wait in between.
const WORTH: u64 = 4;

/// Sets of caches have so many lines.
const WAYS: u64 = 8;

/// What a vector costs more if it comes from the second-level cache, or from beyond.
const SECOND: u64 = 1;
const BEYOND: u64 = 3;

/// Pieces that a thread takes of an axis.
const PIECES: u64 = 4;

/// How the elements of a read lie along the iterations of a reduction.
struct Lie {
    class: Class,
    /// Bytes from one iteration to the next.
    apart: u64,
    /// Bytes of an element.
    bytes: u64,
}

impl Facts<'_> {
    /// Columns that are folded row by row.
    pub(super) fn choose_columns(&self, main: &Stm, plan: &mut Plan) {
        let Some((axes, body, lane)) = self.kernel_with_lanes(main, plan) else { return };
        let Ok(parts) = Rows::of(body, None, lane) else { return };
        let [axis] = parts.axes else { return };
        if tiled(axes, body, lane).is_some() || !is_short_fold(&[body]) {
            return;
        }
        let reads = self.reads_along(&parts, axis.var, lane);
        let Some(reads) = reads.filter(|reads| !reads.is_empty()) else { return };
        let far = FAR.min(self.machine.l1_bytes as u64 / FAR_SHARE);
        let is_row = |lie: &Lie| {
            let row = self.trips(lane).saturating_mul(lie.bytes);
            matches!(lie.class, Class::Unit | Class::UnitReversed) && lie.apart >= far && row >= far
        };
        let bytes =
            |lie: &Lie| lie.bytes.saturating_mul(self.trips(lane)).saturating_mul(self.trips(axis.var));
        let all = reads.iter().fold(0, |sum: u64, lie| sum.saturating_add(bytes(lie)));
        let is_long = self.trips(axis.var) >= WORTH * u64::from(SIDE_BY_SIDE);
        if !reads.iter().all(is_row) || all <= self.machine.l2_bytes as u64 || !is_long {
            return;
        }
        let apart = reads.iter().map(|lie| lie.apart).max().unwrap_or(0);
        let each = self.bytes_of_results(&parts);
        // Whole vectors, however many of them are computed together.
        let unit = 8 * self.machine.vectors.lanes as u64;
        let places = (self.machine.l1_bytes as u64 / 2 / each / unit * unit).clamp(unit, MOST_WAITING.into());
        let reason = format!(
            "{all} bytes, {apart} from row to row: {SIDE_BY_SIDE} rows side by side, while {} bytes of results wait",
            places * each
        );
        plan.decide(Decision::Stretch(axis.var, SIDE_BY_SIDE, lane, places as u32), reason);
    }

    /// Operands that are copied for the rows that share them.
    pub(super) fn choose_packed(&self, main: &Stm, plan: &mut Plan) {
        let Some((_, body, lane)) = self.kernel_with_lanes(main, plan) else { return };
        let Some((row, together)) = plan.tile() else { return };
        let Ok(parts) = Rows::of(body, Some(row), lane) else { return };
        let [axis] = parts.axes else { return };
        let lanes = (plan.groups(lane).unwrap_or(1) * self.machine.vectors.lanes) as u64;
        let rows = match plan.threads() == Some(row) {
            true => self.trips(row) / (PIECES * self.machine.threads as u64),
            false => self.trips(row),
        };
        let (rows, trips) = (rows.min(self.trips(row)), self.trips(axis.var));
        let mut chosen: Vec<(&Read, String)> = Vec::new();
        let mut width = 0;
        for read in parts.shared_reads(self.region.region(), row, lane) {
            let Some(lie) = self.lie(read, axis.var, lane).filter(|lie| lie.apart > 0) else { continue };
            let panel = lanes * lie.bytes;
            let (now, then) = (self.vector_cost(&lie, panel, trips), self.packed_cost(panel, trips));
            let saved = (rows / together as u64).saturating_mul(now.saturating_sub(then));
            if saved > now + 1 {
                let reason = format!(
                    "{} for {trips} iterations {} bytes apart: a vector costs {now}, packed {then}; {rows} rows share it",
                    how(lie.class),
                    lie.apart,
                );
                width += panel;
                chosen.push((read, reason));
            }
        }
        if chosen.is_empty() {
            return;
        }
        let count = self.stretch_of(width);
        let each = self.bytes_of_results(&parts) * lanes;
        let together = together as u64;
        let places = (self.machine.l2_bytes as u64 / 8 / each / together).max(1) * together;
        let places = places.min(u64::from(MOST_WAITING) / together * together);
        let reason = format!(
            "{} bytes of operands and {} of results are a quarter of the second-level cache at most",
            count * width,
            places * each
        );
        plan.decide(Decision::Stretch(axis.var, count as u32, row, places as u32), reason);
        for (read, reason) in chosen {
            plan.decide(Decision::Pack(read.id), reason);
        }
    }

    /// Whether a read is packed for rows if the lanes go across an axis, as far as that can be told before the plan is complete.
    pub(super) fn would_be_packed(&self, main: &Stm, read: ReadId, lane: VarId) -> Option<u64> {
        let Rhs::Kernel { axes, body } = &main.rhs else { return None };
        if self.machine.vectors.lanes == 1 {
            return None;
        }
        let (row, parts) = tiled(axes, body, lane)?;
        let is_shared =
            parts.shared_reads(self.region.region(), row, lane).iter().any(|shared| shared.id == read);
        (is_shared && matches!(parts.axes, [_])).then(|| self.trips(row).max(1))
    }

    /// The main statement as a kernel with lanes across one of its axes.
    pub(super) fn kernel_with_lanes<'s>(
        &self,
        main: &'s Stm,
        plan: &Plan,
    ) -> Option<(&'s [Axis], &'s Body, VarId)> {
        let Rhs::Kernel { axes, body } = &main.rhs else { return None };
        let lane = plan.lane()?;
        let has_lanes = self.machine.vectors.lanes > 1 && axes.iter().any(|axis| axis.var == lane);
        has_lanes.then_some((axes, body, lane))
    }

    /// How what differs between lanes and iterations lies, if that is known of all of it.
    fn reads_along(&self, parts: &Rows<'_>, axis: VarId, lane: VarId) -> Option<Vec<Lie>> {
        let mut reads = Vec::new();
        parts.items.visit_reads(&mut |read| reads.push(read));
        let lies = reads.into_iter().map(|read| self.lie(read, axis, lane));
        let lies = lies.collect::<Option<Vec<Lie>>>()?;
        Some(lies.into_iter().filter(|lie| lie.class != Class::Broadcast && lie.apart > 0).collect())
    }

    fn lie(&self, read: &Read, axis: VarId, lane: VarId) -> Option<Lie> {
        let apart = self.bytes_apart(read.id, axis)?;
        let bytes = self.table.array(self.table.read(read.id)?.array)?.elem.bytes() as u64;
        Some(Lie { class: self.class(read.id, lane), apart, bytes })
    }

    /// Bytes between what a read takes in neighbouring turns of a loop, if they are the same everywhere and known.
    pub(super) fn bytes_apart(&self, read: ReadId, axis: VarId) -> Option<u64> {
        let row = self.table.read(read)?;
        let info = self.table.array(row.array)?;
        let step = self.table.flat_step(row, axis, info.lmad.as_ref()?);
        let apart = step.delta.unsigned_abs().saturating_mul(info.elem.bytes() as u64);
        (step.quality == Quality::Exact).then_some(apart)
    }

    /// What a vector of an operand costs as it lies; `panel` is how many bytes of it are read together.
    fn vector_cost(&self, lie: &Lie, panel: u64, trips: u64) -> u64 {
        let lanes = self.machine.vectors.bytes() as u64 / lie.bytes.max(4);
        let (reads, is_row) = match lie.class {
            Class::Unit | Class::Broadcast => (1, true),
            Class::UnitReversed => (2, true),
            Class::Gather(_) | Class::Tile(_) | Class::Data => (lanes, false),
        };
        let all = panel.saturating_mul(trips);
        let usable = |cache: u64| {
            // Iterations whose distance is a multiple of a power of two meet in some of the sets.
            let distance = lie.apart & lie.apart.wrapping_neg();
            let sets = cache / WAYS;
            match is_row && distance > panel {
                true => cache * panel / distance.min(sets.max(panel)),
                false => cache,
            }
        };
        reads + self.wait(all, usable)
    }

    /// What a vector of a packed operand costs.
    fn packed_cost(&self, panel: u64, trips: u64) -> u64 {
        1 + self.wait(panel * trips.min(self.stretch_of(panel)), |cache| cache)
    }

    /// What is waited for a vector of so many bytes, given how much of a cache they can lie in.
    fn wait(&self, bytes: u64, usable: impl Fn(u64) -> u64) -> u64 {
        let fits = |cache: usize| bytes <= usable(cache as u64) / 2;
        match (fits(self.machine.l1_bytes), fits(self.machine.l2_bytes)) {
            (true, _) => 0,
            (_, true) => SECOND,
            _ => BEYOND,
        }
    }

    /// Iterations whose operands, so many bytes for each, fill an eighth of the second-level cache.
    fn stretch_of(&self, width: u64) -> u64 {
        let count = (self.machine.l2_bytes as u64 / 8 / width.max(1)).max(1);
        (1 << count.ilog2()).min(u64::from(MOST_WAITING))
    }

    /// Bytes of the results of a reduction, of one place.
    fn bytes_of_results(&self, parts: &Rows<'_>) -> u64 {
        parts.pat.iter().map(|var| self.region.type_of(*var).elem.bytes() as u64).sum::<u64>().max(1)
    }
}

/// The words for how neighbouring lanes lie.
fn how(class: Class) -> &'static str {
    match class {
        Class::Unit => "rows of neighbours",
        Class::UnitReversed => "rows of neighbours, backwards,",
        Class::Broadcast => "one element",
        Class::Gather(_) | Class::Tile(_) | Class::Data => "lanes apart from each other",
    }
}
