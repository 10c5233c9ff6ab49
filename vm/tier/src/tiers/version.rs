//! Compiled versions of a site, and what a launch must be like to use one.

use super::Tiering;
use galopvm_analysis::bounds::bounds;
use galopvm_base::TypedId;
use galopvm_kir::backend::StrideClass;
use galopvm_kir::{
    Backend, Claim, Compiled, Decision, Observed, ObservedParam, ReadId, Refusal, Unit, VarId, VerifiedPlan,
    VerifiedRegion,
};
use galopvm_lmad::{Dim, Lmad};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// What a version was compiled for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VersionKey {
    /// The classes of all strides of all arrays.
    pub classes: Vec<StrideClass>,
    /// The reads and updates that it does not check.
    pub unchecked: Proven,
    /// The axis that is cut for threads.
    pub threads: Option<VarId>,
    /// The axis across lanes.
    pub lane: Option<VarId>,
    /// What depends on how far elements are apart and on how many there are: iterations that run one by one, stretches, and
    /// reads that are packed.
    pub order: Vec<Decision>,
    /// It is for whatever no other version is for: any strides, and every read is checked.
    pub is_generic: bool,
}

impl VersionKey {
    pub(super) fn new(classes: Vec<StrideClass>, plan: &VerifiedPlan) -> VersionKey {
        let plan = plan.plan();
        let mut unchecked = Proven::default();
        for claim in plan.lines.iter().filter_map(|line| line.decision.claim()) {
            match claim {
                Claim::Inside(reads) => unchecked.reads.extend_from_slice(reads),
                Claim::Contained(updates) => unchecked.updates.extend_from_slice(updates),
            }
        }
        let unchecked = unchecked.in_order();
        let order = plan.lines.iter().map(|line| line.decision.clone());
        let order = order
            .filter(|d| matches!(d, Decision::Singly(_) | Decision::Stretch(..) | Decision::Pack(_)))
            .collect();
        VersionKey {
            classes,
            unchecked,
            threads: plan.threads(),
            lane: plan.lane(),
            order,
            is_generic: false,
        }
    }

    /// The key of the version that runs whatever no other one is for.
    pub(super) fn generic(plan: &VerifiedPlan) -> VersionKey {
        VersionKey { is_generic: true, ..VersionKey::new(Vec::new(), plan) }
    }
}

/// Code for some launches of a site, or why there is none for them.
#[derive(Clone)]
pub struct Version {
    /// What it was compiled for.
    pub key: VersionKey,
    /// The decisions.
    pub plan: VerifiedPlan,
    /// The back end and its code.
    pub code: Option<(&'static str, Arc<dyn Compiled>)>,
    /// Back ends that refused, with their reasons.
    pub refusals: Vec<(&'static str, String)>,
    /// Microseconds of compilation.
    pub micros: u64,
    /// The code was there, or being made, when it was asked for: another site or session has it as well.
    pub is_shared: bool,
    /// How often it was launched, and the launch of the site that it was used for last.
    pub launches: u64,
    pub(super) used: u64,
    /// Estimated operations of the launch that it was planned for.
    pub work: u64,
}

/// What code is asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    /// The site, to people.
    pub(super) name: &'a str,
    pub(super) region: &'a VerifiedRegion,
    pub(super) observed: &'a Observed,
}

impl Version {
    /// Compiles by the first back end that does not refuse.
    pub(super) fn compile(
        work: u64,
        key: VersionKey,
        plan: VerifiedPlan,
        Asked { name, region, observed }: Asked<'_>,
        tiering: &Tiering,
        backends: &[Arc<dyn Backend>],
    ) -> Version {
        let start = Instant::now();
        let mut version = Version {
            key,
            plan,
            code: None,
            refusals: Vec::new(),
            micros: 0,
            is_shared: false,
            launches: 0,
            used: 0,
            work,
        };
        for backend in backends {
            let unit = Unit { name, region, plan: &version.plan, observed, machine: &tiering.machine };
            let (made, is_shared) = tiering.kernels.compile(backend, unit);
            match made {
                Ok(code) => {
                    version.code = Some((backend.name(), code));
                    version.is_shared = is_shared;
                    break;
                }
                Err(refusal) => version.refusals.push((backend.name(), refusal.reason)),
            }
        }
        version.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        version
    }

    /// The version of the back ends after one that failed to run.
    pub(super) fn without(
        &self,
        failed: &'static str,
        refusal: Refusal,
        asked: Asked<'_>,
        tiering: &Tiering,
    ) -> Version {
        let position = tiering.backends.iter().position(|b| b.name() == failed);
        let rest = &tiering.backends[position.map_or(tiering.backends.len(), |p| p + 1)..];
        let (key, plan) = (self.key.clone(), self.plan.clone());
        let next = Version::compile(self.work, key, plan, asked, tiering, rest);
        let mut refusals = self.refusals.clone();
        refusals.push((failed, refusal.reason));
        refusals.extend(next.refusals);
        Version { refusals, launches: self.launches, used: self.used, ..next }
    }

    /// How a launch of it goes, to people: the back ends that are before it do not take it.
    pub(super) fn how(&self) -> Cow<'static, str> {
        match self.refusals.is_empty() {
            true => "compiled".into(),
            false => format!("compiled; {}", self.refusal()).into(),
        }
    }

    /// All refusals in one line.
    pub(super) fn refusal(&self) -> String {
        if self.refusals.is_empty() {
            return "no back end was asked".into();
        }
        let reasons: Vec<String> =
            self.refusals.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
        format!("refused by {}", reasons.join("; "))
    }
}

/// A stride of no class.
const ANY_STRIDE: i64 = 1 << 20;

/// How far the work of a launch may be from what a version was planned for.
const SIMILAR: u64 = 4;

/// Accesses that are proven to stay inside their arrays.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Proven {
    /// Reads, in order.
    pub reads: Vec<ReadId>,
    /// Updates, by what they make, in order.
    pub updates: Vec<VarId>,
}

impl Proven {
    /// What is proven for a launch with these numbers.
    pub(super) fn of(region: &VerifiedRegion, observed: &Observed) -> Proven {
        let bounds = bounds(region, observed);
        Proven { reads: bounds.proven(), updates: bounds.contained() }.in_order()
    }

    fn in_order(mut self) -> Proven {
        self.reads.sort_unstable();
        self.reads.dedup();
        self.updates.sort_unstable();
        self.updates.dedup();
        self
    }

    /// Whether nothing is proven.
    pub fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.updates.is_empty()
    }

    /// Whether all that is claimed is proven.
    fn covers(&self, claimed: &Proven) -> bool {
        claimed.reads.iter().all(|read| self.reads.binary_search(read).is_ok())
            && claimed.updates.iter().all(|made| self.updates.binary_search(made).is_ok())
    }
}

/// A version for the same strides and about as much work that leaves out the checks that can be left out: another
/// decision would hardly be different.
pub(super) fn find_similar(
    versions: &[Version],
    classes: &[StrideClass],
    proven: &Proven,
    work: u64,
) -> Option<usize> {
    let similar = |v: &Version| work / SIMILAR <= v.work && v.work / SIMILAR <= work;
    let is_for = |v: &Version| !v.key.is_generic && v.key.classes == classes && v.key.unchecked == *proven;
    versions.iter().position(|v| is_for(v) && similar(v))
}

/// The version for a key.
pub(super) fn find(versions: &[Version], key: &VersionKey) -> Option<usize> {
    versions.iter().position(|v| v.key == *key)
}

/// A version for the same strides that claims no more than is proven: where there is no room for a better one.
pub(super) fn find_usable(versions: &[Version], classes: &[StrideClass], proven: &Proven) -> Option<usize> {
    let claims_less = |v: &Version| proven.covers(&v.key.unchecked);
    versions
        .iter()
        .position(|v| v.code.is_some() && !v.key.is_generic && v.key.classes == classes && claims_less(v))
}

/// The version for everything.
pub(super) fn find_generic(versions: &[Version]) -> Option<usize> {
    versions.iter().position(|v| v.key.is_generic)
}

/// What a launch that no version is for looks like, in numbers: the classes of its strides, and what is proven for it.
pub(super) fn kind(classes: &[StrideClass], proven: &Proven) -> Vec<u64> {
    let classes = classes.iter().map(|class| *class as u64);
    let reads = proven.reads.iter().map(|read| u64::from(read.0));
    // Names and reads have numbers of their own: one of them goes downwards.
    let updates = proven.updates.iter().map(|made| u64::MAX - made.index() as u64);
    classes.chain(reads).chain(updates).collect()
}

/// The versions that may go for another one, by position, and the launches that used them last.
pub(super) fn used(versions: &[Version]) -> impl Iterator<Item = (usize, u64)> {
    let special = versions.iter().enumerate().filter(|(_, version)| !version.key.is_generic);
    special.map(|(at, version)| (at, version.used))
}

/// What code for everything is made for: arrays of more than one index in every dimension, with strides of no class.
pub(super) fn generic(observed: &Observed) -> Observed {
    let any = |param: &ObservedParam| match param {
        ObservedParam::Scalar(value) => ObservedParam::Scalar(*value),
        ObservedParam::Array { lmad, block, block_elements, references } => {
            let dims = lmad.dims.iter().map(|dim| Dim::new(dim.size.max(2), ANY_STRIDE));
            ObservedParam::Array {
                lmad: Lmad::new(lmad.offset, dims.collect::<Vec<_>>()),
                block: *block,
                block_elements: *block_elements,
                references: *references,
            }
        }
    };
    Observed { params: observed.params.iter().map(any).collect() }
}
