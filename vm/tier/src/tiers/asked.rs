//! What others ask about operators before they run.

use super::{Tiers, launch};
use crate::Registers;
use crate::told::{Explained, RelaidAnswer, RelaidSeen};
use galopvm_bytecode::RegId;
use galopvm_kir::Observed;
use galopvm_lift::{Binding, Lifted};
use std::sync::Arc;

impl Tiers {
    /// The registers of the arrays that a site's kernel reads; none if it has no kernel.
    pub fn arrays_read(&mut self, site: u32) -> Vec<RegId> {
        let Ok(lifted) = self.lifted(site) else { return Vec::new() };
        let mut found = Vec::new();
        for binding in &lifted.bindings {
            if let Binding::Array(reg) = binding
                && !found.contains(reg)
            {
                found.push(*reg);
            }
        }
        found
    }

    /// The kernel of a site, and what its parameters are now; nothing if it cannot be launched.
    pub fn kernel(&mut self, site: u32, registers: &dyn Registers) -> Option<(Arc<Lifted>, Observed)> {
        let lifted = self.lifted(site).ok()?;
        let gathered = launch::gather(&lifted, registers).ok()?;
        let observed = gathered.observed(&lifted.region);
        Some((lifted, observed))
    }

    /// Tells what became of the wish of an operator for an array in another layout.
    pub fn tell_relaid(&self, site: u32, register: RegId, order: &[usize], answer: RelaidAnswer) {
        self.coverage.met(answer.into());
        if let Some(explainer) = &self.explainer {
            let site = self.name(site);
            explainer.tell(Explained::Relaid(RelaidSeen { site, register, order, answer }));
        }
    }
}
