//! Code that is made at once: for operators that are too much for the interpreter and not hot enough to be planned and compiled.
//!
//! There is one for a site, without decisions: it runs whatever the kernel admits, in any layout, and checks every read.
//!
//! Invariant: a site with versions has no use for it but while a further one is being compiled.

use super::launch::Gathered;
use super::version::{Asked, VersionKey};
use super::{Chosen, Kernel, SiteState, Tiers, Version};
use crate::profile::Tier;
use crate::told::Doing;
use galopvm_kir::{Plan, VerifiedPlan};
use galopvm_vector::FEW_ROWS;

/// Estimated operations of one execution, and of all so far, from which code is made at once: parts of what is hot.
const WORTH_MAKING: u64 = 16;
const WORTH_MAKING_IN_ALL: u64 = 4;

/// Operations of a row, or of one round of the loops in it, up to which its operators are not worth launches. Rows of maps
/// and scans side by side were 20 times as fast with about 2^10 operations, as fast with 2^13, and took three times as long
/// with 2^16. A loop of many rounds launches in each, so their number does not matter.
const MOST_ROW_WORK: u64 = 1 << 13;

/// Operations that take as long by this code as one does that is interpreted.
const TIMES_AS_FAST: u64 = 4;

impl Tiers {
    /// Whether such code suits a site and so many rows, if it can be made.
    pub(super) fn suits_quick(&self, site: u32, width: i64) -> bool {
        if self.tiering.quick.is_none() {
            return false;
        }
        let state = &self.sites[site as usize];
        let is_small = || state.estimate.is_some_and(|known| known.work.round <= MOST_ROW_WORK);
        let name = self.names[site as usize];
        let function = &self.module.module().functions[name.function];
        let has_operators = || {
            let blocks = function.blocks[name.block].code[name.index].parts().blocks;
            blocks.iter().any(|(_, block)| function.has_operators(block))
        };
        width >= FEW_ROWS && is_small() || !has_operators()
    }

    /// Whether code for a site is there, or worth making for an execution of so many operations.
    pub(super) fn is_worth_making(&self, site: u32, work: u64) -> bool {
        let state = &self.sites[site as usize];
        match &state.quick {
            Some(made) => made.code.is_some(),
            None => {
                let so_far = state.profile.interpreted_work.saturating_add(work);
                let hot = self.tiering.threshold;
                work >= hot / WORTH_MAKING || so_far >= hot / WORTH_MAKING_IN_ALL
            }
        }
    }

    /// Whether there is such code.
    fn has_quick(&self, site: u32) -> bool {
        self.sites[site as usize].quick.as_ref().is_some_and(|made| made.code.is_some())
    }

    /// Makes the code of a site, if nobody did; says whether there is any.
    pub(super) fn make_quick(
        &mut self,
        Kernel { site, lifted }: Kernel<'_>,
        gathered: &Gathered,
        work: u64,
    ) -> bool {
        if self.sites[site as usize].quick.is_none()
            && let Some(backend) = self.tiering.quick.clone()
            && let Ok(plan) = VerifiedPlan::new(Plan::default(), lifted.region.region())
        {
            let key = VersionKey::generic(&plan);
            let observed = gathered.observed(&lifted.region);
            let name = self.name(site).to_string();
            let asked = Asked { name: &name, region: &lifted.region, observed: &observed };
            let make = || Version::compile(work, key, plan, asked, &self.tiering, &[backend]);
            let made = self.moments.during(Doing::Compiling, make);
            self.tell_made(site, &made);
            self.sites[site as usize].quick = Some(made);
        }
        self.has_quick(site)
    }
}

impl SiteState {
    /// The code that was chosen.
    pub(super) fn code_of(&mut self, chosen: Chosen) -> Option<&mut Version> {
        match chosen {
            Chosen::Quick => self.quick.as_mut(),
            Chosen::Version(at) => self.versions.get_mut(at),
        }
    }

    /// Notes a launch of so many nanoseconds.
    pub(super) fn launched(&mut self, chosen: Chosen, backend: &'static str, nanos: u64, work: u64) {
        let profile = &mut self.profile;
        profile.launches += 1;
        profile.launch_nanos = profile.launch_nanos.saturating_add(nanos);
        if let Chosen::Quick = chosen {
            // It becomes hot as if it was interpreted, only later.
            profile.interpreted_work = profile.interpreted_work.saturating_add(work / TIMES_AS_FAST);
        }
        let tier = Tier::Compiled(backend);
        if profile.tier != tier {
            let how = match chosen {
                Chosen::Quick => "made at once".into(),
                Chosen::Version(at) => self.versions[at].how(),
            };
            self.profile.choose(tier, &how);
        }
    }
}
