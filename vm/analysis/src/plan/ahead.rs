//! Reads that are fetched ahead, and where results are written: those of a loop inside of the lanes whose turns go from one stretch of
//! memory to another, more of them than processors follow by themselves.
//!
//! Each turn of the lanes goes through all turns of that loop, and takes of each stretch what follows on what it took before. A
//! processor sees that for some stretches at a time, and waits for memory in all others.

use super::Facts;
use crate::layout::Class;
use galopvm_kir::plan::LEAST_AHEAD;
use galopvm_kir::{ArrayOp, Axis, Body, Decision, Exp, Plan, ReadId, Rhs, Stm, VarId, ViewChange};

impl Facts<'_> {
    pub(super) fn choose_ahead(&self, main: &Stm, plan: &mut Plan) {
        let Some((axes, body, lane)) = self.kernel_with_lanes(main, plan) else { return };
        if plan.tile().is_some() || plan.stretch().is_some() {
            return;
        }
        self.choose_read_ahead(body, lane, plan);
        let along = axes.iter().position(|axis| axis.var == lane);
        if along.is_some_and(|along| self.are_large() && self.lie_along(main, along)) {
            self.choose_ready(body, lane, plan);
        }
    }

    /// The reads of the first loop of a kernel that takes so many stretches, and nothing that it read before. What loops behind it
    /// read of the same arrays is near by then.
    fn choose_read_ahead(&self, body: &Body, lane: VarId, plan: &mut Plan) {
        for stm in &body.stms {
            let (Rhs::Reduce { axes, body, .. } | Rhs::Kernel { axes, body }) = &stm.rhs else { continue };
            let [axis] = axes.as_slice() else { continue };
            let mut reads = Vec::new();
            body.visit_reads(&mut |read| reads.push(read.id));
            let found: Vec<(ReadId, i64)> = reads
                .into_iter()
                .filter_map(|read| Some((read, self.far_apart(read, axis, lane)?)))
                .collect();
            let Some((_, apart)) = found.first() else { continue };
            if let Some(stretches) = self.stretches(axis, found.len(), lane, plan) {
                let followed = self.machine.followed;
                let reason = format!(
                    "{stretches} stretches of memory in turn, {apart} bytes apart, more than the {followed} that processors follow by themselves"
                );
                plan.decide(Decision::Ahead(found.into_iter().map(|(read, _)| read).collect()), reason);
            }
            return;
        }
    }

    /// The kernel at the end of a body, whose results are those of the region.
    fn choose_ready(&self, body: &Body, lane: VarId, plan: &mut Plan) {
        let Some(Stm { rhs: Rhs::Kernel { axes, .. }, pat }) = body.stms.last() else { return };
        let [axis] = axes.as_slice() else { return };
        if let Some(stretches) = self.stretches(axis, pat.len(), lane, plan) {
            let followed = self.machine.followed;
            let reason = format!(
                "{stretches} stretches of memory are written in turn, more than the {followed} that processors follow by themselves"
            );
            plan.decide(Decision::Ready(axis.var), reason);
        }
    }

    /// Whether the results of the region are those of a kernel turned so that neighbours are neighbours along one of its axes.
    fn lie_along(&self, main: &Stm, along: usize) -> bool {
        let body = &self.region.region().body;
        body.results.iter().all(|result| {
            let Exp::Var(result) = result else { return false };
            body.stms.iter().any(|stm| match &stm.rhs {
                Rhs::Array(ArrayOp::View {
                    change: ViewChange::Rearrange(order),
                    array: Exp::Var(array),
                }) => {
                    stm.pat == [*result]
                        && main.pat.contains(array)
                        && order.last().is_some_and(|last| *last == along)
                }
                _ => false,
            })
        })
    }

    /// Whether some result of the region does not fit into the second-level cache.
    fn are_large(&self) -> bool {
        self.region.results().iter().any(|ty| {
            let sizes = ty.shape.iter().map(|extent| self.numbers.size(extent));
            let elements = sizes.into_iter().try_fold(1i64, |all, size| all.checked_mul(size?));
            elements.is_some_and(|n| n.saturating_mul(ty.elem.bytes() as i64) > self.machine.l2_bytes as i64)
        })
    }

    /// How many stretches a loop with so many accesses goes through, if they are too many to be followed, and what is fetched of
    /// them is there still when it is wanted.
    fn stretches(&self, axis: &Axis, accesses: usize, lane: VarId, plan: &Plan) -> Option<u64> {
        let stretches = self.trips(axis.var).saturating_mul(accesses as u64);
        let turn = plan.groups(lane).unwrap_or(1) * self.machine.vectors.bytes();
        let fetched = stretches.saturating_mul(turn.max(LEAST_AHEAD) as u64);
        (stretches > self.machine.followed && fetched <= self.machine.l1_bytes as u64).then_some(stretches)
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
        apart.map(i64::abs).max().filter(|apart| *apart >= self.machine.page_bytes as i64)
    }
}
