//! Reads that are fetched ahead: those of a loop inside of the lanes whose turns go from one stretch of memory to another, more of them
//! than processors follow by themselves.
//!
//! Each turn of the lanes goes through all turns of that loop, and takes of each stretch what follows on what it took before. A
//! processor sees that for some stretches at a time, and waits for memory in all others.

use super::Facts;
use crate::layout::Class;
use galopvm_kir::{Axis, Decision, Plan, ReadId, Rhs, Stm, VarId};
use std::fmt::Write;

/// Stretches that processors follow by themselves.
const FOLLOWED: u64 = 12;
/// Bytes that are fetched of each, at least.
const FETCHED: u64 = 256;
/// Bytes apart from which on places belong to different stretches: processors do not look beyond a page.
const PAGE: i64 = 4096;

impl Facts<'_> {
    /// The reads of the first loop of a kernel that takes so many stretches, and nothing that it read before. What loops behind it
    /// read of the same arrays is near by then.
    pub(super) fn choose_ahead(&self, main: &Stm, plan: &mut Plan) {
        let Some((_, body, lane)) = self.kernel_with_lanes(main, plan) else { return };
        if plan.tile().is_some() || plan.stretch().is_some() {
            return;
        }
        for stm in &body.stms {
            let (Rhs::Reduce { axes, body, .. } | Rhs::Kernel { axes, body }) = &stm.rhs else { continue };
            let [axis] = axes.as_slice() else { continue };
            let mut reads = Vec::new();
            body.visit_reads(&mut |read| reads.push(read.id));
            let found: Vec<(ReadId, i64)> = reads
                .into_iter()
                .filter_map(|read| Some((read, self.far_apart(read, axis, lane)?)))
                .collect();
            let stretches = self.trips(axis.var).saturating_mul(found.len() as u64);
            let Some((_, apart)) = found.first() else { continue };
            // What is fetched has to be there still when it is read.
            let turn = (plan.groups(lane).unwrap_or(1) * self.machine.vectors.bytes()) as u64;
            let fetched = stretches.saturating_mul(turn.max(FETCHED));
            if stretches > FOLLOWED && fetched <= self.machine.l1_bytes as u64 {
                let mut reason = format!("{stretches} stretches of memory in turn, {apart} bytes apart");
                let _ = write!(reason, ", more than the {FOLLOWED} that processors follow by themselves");
                plan.decide(Decision::Ahead(found.into_iter().map(|(read, _)| read).collect()), reason);
            }
            return;
        }
    }

    /// How many bytes apart turns of a loop read, if the lanes read neighbours, the turns far from each other, and the array does not
    /// fit into the second-level cache.
    fn far_apart(&self, read: ReadId, axis: &Axis, lane: VarId) -> Option<i64> {
        let row = self.table.read(read)?;
        let array = self.table.array(row.array)?;
        let bytes = array.elements()?.checked_mul(array.element_bytes())?;
        let strides = &array.lmad.as_ref()?.dims;
        if bytes <= self.machine.l2_bytes as i64 || self.class(read, lane) != Class::Unit {
            return None;
        }
        let apart = row.dims.iter().zip(strides).filter_map(|(dim, lies)| {
            let step = dim.value.step(axis.var);
            step.delta.checked_mul(lies.stride)?.checked_mul(array.element_bytes())
        });
        apart.map(i64::abs).max().filter(|apart| *apart >= PAGE)
    }
}
