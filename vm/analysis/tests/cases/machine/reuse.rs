//! Results written over arrays: the counts and last uses that a launch would see, from the names that are still
//! used.

use super::Machine;
use super::memory::Array;
use super::task::{Frame, Task};
use galopvm_analysis::circuit::Circuits;
use galopvm_analysis::reuse::{Effort, Verdict, analyse};
use galopvm_kir::{Body, Observed, Region, Rhs, Stm, VarId};
use galopvm_lmad::Union;
use std::collections::{BTreeMap, BTreeSet};

/// By result of a kernel outside kernels: the arrays that it may be written over, those of which most is copied
/// first; and how many verdicts said yes and no.
pub fn candidates(
    region: &Region,
    observed: &Observed,
    circuits: &Circuits,
) -> (BTreeMap<VarId, Vec<VarId>>, usize, usize) {
    let mut over = BTreeMap::new();
    let (mut yes, mut no) = (0, 0);
    for stm in region.body.stms.iter().filter(|stm| matches!(stm.rhs, Rhs::Kernel { .. })) {
        for (k, var) in stm.pat.iter().enumerate() {
            let Some(reuse) = analyse(region, observed, stm, k, Effort::Quick) else { continue };
            let copied = |set: &Union| set.members().iter().map(|member| member.elements()).sum::<i64>();
            let mut arrays: Vec<(i64, VarId)> =
                reuse.candidates().map(|reuse| (-copied(&reuse.copied), reuse.array)).collect();
            yes += arrays.len();
            no += reuse.arrays.iter().filter(|reuse| reuse.verdict != Verdict::Candidate).count();
            arrays.sort_unstable();
            if circuits.places.get(var).is_some_and(|place| place.block == *var) {
                over.insert(*var, arrays.into_iter().map(|(_, array)| array).collect());
            }
        }
    }
    (over, yes, no)
}

fn uses(body: &Body, from: usize, live: &mut BTreeSet<VarId>) {
    let rest = Body { stms: body.stms[from..].to_vec(), results: body.results.clone() };
    live.extend(rest.free_vars());
}

impl<'a> Machine<'a> {
    /// The names that are used after the statement that is under way.
    fn live(&self, task: &Task<'a>) -> BTreeSet<VarId> {
        let mut live = BTreeSet::new();
        live.extend(self.region.body.stms.last().iter().flat_map(|stm| &stm.pat));
        for frame in &task.stack {
            match frame {
                Frame::Body { body, next } => uses(body, *next, &mut live),
                Frame::Loop { stm, .. } => {
                    let all = Body { stms: vec![(*stm).clone()], results: Vec::new() };
                    live.extend(all.free_vars());
                }
                Frame::If { .. } | Frame::Parallel(_) | Frame::Fold { .. } => {}
            }
        }
        live
    }

    /// The array that the result of a kernel is written over.
    pub(super) fn over(
        &mut self,
        task: &mut Task<'a>,
        stm: &'a Stm,
        var: VarId,
    ) -> Result<Option<Array>, String> {
        if let Some(array) = self.layout.forced.get(&var) {
            let array = task.names.array(*array).cloned().ok_or("no array")?;
            task.names.own(var, array.block);
            return Ok(Some(array));
        }
        let candidates = self.layout.over.get(&var).map_or(&[][..], Vec::as_slice);
        if candidates.is_empty() || task.inner || self.targets.contains(&var) {
            return Ok(None);
        }
        let live = self.live(task);
        for candidate in candidates {
            let Some(array) = task.names.array(*candidate).cloned() else { continue };
            let held = |name: &VarId| task.names.array(*name).is_some_and(|other| other.block == array.block);
            let taken =
                stm.pat.iter().any(|other| *other != var && task.names.owned(*other) == Some(array.block));
            if !self.memory.is_shared(array.block)
                && array.view.is_injective()
                && !taken
                && !live.iter().any(held)
            {
                self.reused += 1;
                task.names.own(var, array.block);
                return Ok(Some(array));
            }
        }
        Ok(None)
    }
}
