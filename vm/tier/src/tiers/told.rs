//! What the sink of explanations is told about parallel operators.

use super::{Tiers, launch};
use crate::told::{Explained, ReuseAnswer, ReuseSeen, Unasked};
use crate::{Execution, FormTaken, Registers};
use galopvm_lift::LiftRefusal;

impl Tiers {
    /// Tells of an operator that is about to be executed, with its kernel and the numbers of this execution.
    pub fn tell_operator(&mut self, execution: Execution, registers: &dyn Registers, form: FormTaken) {
        let site = execution.site;
        let name = self.name(site);
        let Some(explainer) = &mut self.explainer else { return };
        if !explainer.wants_operator(self.module.module(), &name, execution.work) {
            return;
        }
        let kernel = self.lifted(site).and_then(|lifted| {
            let gathered = launch::gather(&lifted, registers).map_err(LiftRefusal::new)?;
            let observed = gathered.observed(&lifted.region);
            Ok((lifted, observed))
        });
        let kernel = kernel.as_ref().map(|(lifted, observed)| (lifted, observed));
        if let Some(explainer) = &mut self.explainer {
            explainer.operator(name, execution, kernel, form);
        }
    }

    /// Tells of an operator that has run together with an earlier one.
    pub fn tell_covered(&mut self, execution: Execution, first: u32, form: FormTaken) {
        let (name, earlier) = (self.name(execution.site), self.name(first));
        let Some(explainer) = &mut self.explainer else { return };
        if explainer.wants_operator(self.module.module(), &name, execution.work) {
            let refusal = LiftRefusal::new(format!("that of {earlier} computes it"));
            explainer.operator(name, execution, Err(&refusal), form);
        }
    }

    /// Tells what became of the wish to write result `k` of a map over an array.
    pub(super) fn tell_reuse(&self, site: u32, k: usize, answer: ReuseAnswer<'_>) {
        self.coverage.reuse(&answer);
        if let Some(explainer) = &self.explainer {
            explainer.tell(Explained::Reuse(ReuseSeen { site: self.name(site), result: k, answer }));
        }
    }

    /// Tells why nobody asked whether results of a map may be written over arrays.
    pub fn tell_unasked(&self, site: u32, results: std::ops::Range<usize>, why: Unasked) {
        results.for_each(|k| self.tell_reuse(site, k, ReuseAnswer::Unasked(why)));
    }
}
