//! Whether operators are faster together or apart, by measuring both.
//!
//! A group that the best back end refuses runs by the second best one. Apart, its operators may be faster, since the best one may take
//! some of them. So the group runs some times, then its operators run apart as often, and the faster way stays.
//!
//! Invariants: the least times that launches took are compared. Operators that are not launched, each of them once in each run, are
//! not faster.

use super::{SiteState, Tiers, Version};
use crate::Site;
use crate::fused::Group;
use std::sync::Arc;

/// Runs of each way that are measured.
const RUNS: u32 = 3;

/// A group that was found, and the site of its first kernel.
pub(super) struct Found {
    pub(super) group: Arc<Group>,
    pub(super) first: u32,
}

/// What is known of the two ways.
pub(super) enum Comparison {
    /// The group runs.
    Together(Runs),
    /// Its operators run apart.
    Apart(Apart),
    /// Nothing is left to find out.
    Settled,
}

/// A group whose operators run apart for some time.
pub(super) struct Apart {
    group: Found,
    /// Nanoseconds of its fastest run.
    together: u64,
    /// The sites of its operators.
    operators: Vec<u32>,
    runs: Runs,
}

/// Runs of one way.
#[derive(Default)]
pub(super) struct Runs {
    /// How often launches were counted: the first time there is nothing to compare with.
    counted: u32,
    /// The launches until then, and their time.
    launches: u64,
    nanos: u64,
    /// Nanoseconds of the fastest run.
    least: Option<u64>,
    /// Whether something was not launched in a run, or more than once.
    is_partial: bool,
}

impl Default for Comparison {
    fn default() -> Comparison {
        Comparison::Together(Runs::default())
    }
}

impl Runs {
    /// Counts the launches of sites after a run; says whether there were enough runs.
    fn count<'s>(&mut self, sites: impl ExactSizeIterator<Item = &'s SiteState>) -> bool {
        let expected = sites.len() as u64;
        let (launches, nanos) = sites.fold((0u64, 0u64), |(launches, nanos), site| {
            (launches + site.profile.launches, nanos.saturating_add(site.profile.launch_nanos))
        });
        if self.counted > 0 {
            let took = nanos.saturating_sub(self.nanos);
            self.is_partial |= launches.saturating_sub(self.launches) != expected;
            self.least = Some(self.least.map_or(took, |least| least.min(took)));
        }
        self.counted += 1;
        (self.launches, self.nanos) = (launches, nanos);
        self.counted > RUNS
    }
}

impl Tiers {
    /// The group that starts at a site has run. If it ran often enough, and the best back end refused one of its kernels that
    /// another one took, its operators run apart next.
    pub(super) fn ran_together(&mut self, first: u32) {
        let fused = &mut self.sites[first as usize].fused;
        let Comparison::Together(runs) = &mut fused.comparison else { return };
        let mut runs = std::mem::take(runs);
        let Some(Found { group, first: kernel }) = &fused.found else { return };
        let (group, kernel) = (group.clone(), *kernel as usize);
        let kernels = &self.sites[kernel..][..group.steps.len()];
        let is_second_best = |version: &Version| version.code.is_some() && !version.refusals.is_empty();
        if !kernels.iter().any(|kernel| kernel.versions.iter().any(is_second_best)) {
            return;
        }
        let is_known = runs.count(kernels.iter());
        let operators = if is_known { self.operators_of(first, &group.covered) } else { Vec::new() };
        let fused = &mut self.sites[first as usize].fused;
        fused.comparison = match (is_known, runs.least) {
            (true, Some(together)) => match fused.found.take() {
                Some(group) => {
                    self.comparing += 1;
                    Comparison::Apart(Apart { group, together, operators, runs: Runs::default() })
                }
                None => Comparison::Settled,
            },
            _ => Comparison::Together(runs),
        };
    }

    /// Whether the operators of the group that starts at a site run apart, to find out how long that takes. When that is known, they
    /// stay apart or are a group again.
    pub(super) fn runs_apart(&mut self, first: u32) -> bool {
        let comparison = &mut self.sites[first as usize].fused.comparison;
        if !matches!(comparison, Comparison::Apart(_)) {
            return false;
        }
        let Comparison::Apart(mut apart) = std::mem::replace(comparison, Comparison::Settled) else {
            return false;
        };
        let is_known = apart.runs.count(apart.operators.iter().map(|site| &self.sites[*site as usize]));
        let fused = &mut self.sites[first as usize].fused;
        if !is_known {
            fused.comparison = Comparison::Apart(apart);
            return true;
        }
        self.comparing -= 1;
        let Apart { group, together, runs, .. } = apart;
        if runs.is_partial || runs.least.is_none_or(|least| least >= together) {
            fused.found = Some(group);
        } else if let Some(less) = fused.scans.less(&group.group) {
            // There may be a smaller one.
            fused.scans = less;
            fused.comparison = Comparison::default();
        } else {
            fused.asking.give_up();
        }
        false
    }

    /// The sites of the operators of a block that a group covers.
    fn operators_of(&self, first: u32, covered: &[usize]) -> Vec<u32> {
        let own = self.names[first as usize];
        let is_covered = |site: &Site| {
            (site.function, site.block) == (own.function, own.block) && covered.contains(&site.index)
        };
        let of_code = |state: &SiteState| state.group.is_none() && !state.is_part;
        let all = self.names.iter().zip(&self.sites).enumerate();
        let operators = all.filter(|(_, (name, state))| of_code(state) && is_covered(name));
        operators.map(|(site, _)| site as u32).collect()
    }
}
