//! Layouts at run time: equal arrays that lie in memory as their readers like it.
//!
//! A value is a view of a block, so a register may always be given an equal array that lies otherwise. When a parallel
//! operator is about to run, it is asked how it walks through its arrays (`decide.rs`, with the prices of whoever
//! executes it: `Executor`). Where a copy pays, the operator is given one (`copies.rs`), which stays with the block
//! that it is a copy of (`memory/shelf.rs`) and is used by whoever asks next; afterwards the registers have their arrays
//! back (`relay.rs`). What is decided for a function or loop as a whole (`regions.rs`) is its advice (`advice.rs`).
//!
//! Invariants: decisions change where elements lie, never what they are. A copy is as new as its block. Nothing here is
//! an error: for want of memory the array stays as it is.

pub(super) mod advice;
mod copies;
mod decide;
mod regions;
mod relay;

pub(crate) use regions::Advices;
pub(super) use regions::{Advised, Advising};

use decide::Wants;
use galopvm_analysis::layout::Profile;
use galopvm_bytecode::RegId;
use galopvm_tier::site::{Answers, Trust, rules};
use galopvm_tier::{Executor, PlanFigures};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Fewer operations are not worth a question.
pub(crate) const LEAST_WORK: u64 = 1 << 16;

/// What is known of all operators of a session.
#[derive(Default)]
pub(crate) struct Layouts {
    sites: FxHashMap<u32, SiteLayouts>,
    pub(crate) figures: PlanFigures,
}

/// What is known of one operator.
pub(crate) struct SiteLayouts {
    /// The arrays that its kernel reads, those with several dimensions; `None` before anybody asked.
    pub(crate) arrays: Option<Arc<[RegId]>>,
    /// Its wishes, by who executes it and how the arrays lie.
    pub(crate) answers: Answers<Arc<Wants>>,
    reads: Vec<Reads>,
    measured: Option<Measured>,
}

/// What measurements say of copies.
struct Measured {
    /// Whom it was that was measured.
    executor: Executor,
    trust: Trust,
}

/// How often versions of a register's array are read.
struct Reads {
    register: RegId,
    /// On average.
    mean: u64,
    /// The last one, until now.
    last: u64,
}

impl Default for SiteLayouts {
    fn default() -> SiteLayouts {
        SiteLayouts {
            arrays: None,
            answers: Answers::new(&rules::LAYOUTS, rules::MOST_LAYOUTS),
            reads: Vec::new(),
            measured: None,
        }
    }
}

impl Layouts {
    /// What is known of a site.
    pub(crate) fn site(&mut self, site: u32) -> &mut SiteLayouts {
        self.sites.entry(site).or_default()
    }
}

impl SiteLayouts {
    /// How often a version of a register's array will be read, if it was asked for `seen` times until now.
    pub(crate) fn runs(&mut self, register: RegId, seen: u64) -> u64 {
        let at = self.reads.iter().position(|reads| reads.register == register).unwrap_or_else(|| {
            self.reads.push(Reads { register, mean: 0, last: 0 });
            self.reads.len() - 1
        });
        let reads = &mut self.reads[at];
        if seen == 1 && reads.last > 0 {
            reads.mean = Profile::mean(reads.mean, reads.last);
        }
        reads.last = seen;
        seen.max(reads.mean)
    }

    /// Whether copies may be used: measurements have not shown that they do not help, and none is missing.
    pub(crate) fn is_trusted(&self, executor: Executor) -> bool {
        self.measured.as_ref().is_none_or(|known| known.executor != executor || known.trust.allows())
    }

    /// An execution took so many nanoseconds, with or without copies.
    pub(crate) fn ran(&mut self, executor: Executor, nanos: u64, work: u64, with_copies: bool) {
        self.answers.asking.served(nanos);
        let known = self.measured.take().filter(|known| known.executor == executor);
        let known = known.unwrap_or_else(|| Measured { executor, trust: Trust::default() });
        let Measured { trust, .. } = self.measured.insert(known);
        trust.ran(nanos.saturating_mul(1024) / work.max(1), with_copies);
    }
}
