//! Layouts at run time: equal arrays that lie in memory as their readers like it.
//!
//! A value is a view of a block, so a register may always be given an equal array that lies otherwise. When a parallel
//! operator is about to run, it is asked how it walks through its arrays (`decide.rs`, with the prices of whoever
//! executes it: `executor.rs`). Where a copy pays, the operator is given one (`copies.rs`), which stays with the block
//! that it is a copy of (`memory/shelf.rs`) and is used by whoever asks next; afterwards the registers have their arrays
//! back. `interpret/layouts.rs` does that. `advice.rs` is what was decided for a function or loop as a whole.
//!
//! Invariants: decisions change where elements lie, never what they are. A copy is as new as its block. Nothing here is
//! an error: for want of memory the array stays as it is.

pub(crate) mod advice;
pub(crate) mod copies;
pub(crate) mod decide;
pub(crate) mod executor;

use crate::interpret::PlanFigures;
use decide::Wants;
use executor::Executor;
use galopvm_analysis::layout::Profile;
use galopvm_analysis::version::Trust;
use galopvm_bytecode::RegId;
use galopvm_lmad::Dims;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Fewer operations are not worth a question.
pub(crate) const LEAST_WORK: u64 = 1 << 16;

/// Decisions that are kept for a site.
const MOST_KNOWN: usize = 8;

/// Beyond the first ones, decisions are made as long as that takes at most this part of the time that the site takes.
const PART: u32 = 8;

/// What is known of all operators of a session.
#[derive(Default)]
pub(crate) struct Layouts {
    sites: HashMap<u32, SiteLayouts>,
    pub(crate) figures: PlanFigures,
}

/// What a decision depends on: who executes, and how the arrays lie.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Key {
    pub(crate) executor: Executor,
    pub(crate) views: SmallVec<[Dims; 2]>,
}

/// What is known of one operator.
#[derive(Default)]
pub(crate) struct SiteLayouts {
    /// The arrays that its kernel reads, those with several dimensions; `None` before anybody asked.
    pub(crate) arrays: Option<Arc<[RegId]>>,
    known: Vec<(Key, Arc<Wants>)>,
    made: usize,
    analysed: Duration,
    ran: Duration,
    /// By register: how often a version was read, on average, and how often the last one was until now.
    reads: Vec<(RegId, u64, u64)>,
    judged: Judged,
}

/// What measurements say.
#[derive(Default)]
struct Judged {
    /// Whom it was that was measured.
    executor: Option<Executor>,
    runs: u64,
    trust: Trust,
    /// The time of a piece of work without copies.
    before: Option<u64>,
    /// Whether copies are being judged. Their first run is not counted: it may have compiled.
    judging: bool,
}

/// After so many runs with copies, one is made without for comparison.
const RUNS_UNJUDGED: u64 = 4;

impl Layouts {
    /// What is known of a site.
    pub(crate) fn site(&mut self, site: u32) -> &mut SiteLayouts {
        self.sites.entry(site).or_default()
    }
}

impl SiteLayouts {
    /// The decision for such a launch, if there is one.
    pub(crate) fn known(&mut self, key: &Key) -> Option<Arc<Wants>> {
        let at = self.known.iter().position(|(other, _)| other == key)?;
        Some(self.known[at].1.clone())
    }

    /// Whether a further decision may be made now.
    pub(crate) fn may_ask(&self) -> bool {
        self.made < MOST_KNOWN || self.analysed <= self.ran / PART
    }

    /// Keeps a decision.
    pub(crate) fn keep(&mut self, key: Key, wants: Wants, took: Duration) -> Arc<Wants> {
        let wants = Arc::new(wants);
        self.made += 1;
        self.analysed += took;
        if self.known.len() == MOST_KNOWN {
            self.known.remove(0);
        }
        self.known.push((key, wants.clone()));
        wants
    }

    /// How often a version of a register's array will be read, if it was asked for `seen` times until now.
    pub(crate) fn runs(&mut self, reg: RegId, seen: u64) -> u64 {
        let at = self.reads.iter().position(|(other, ..)| *other == reg).unwrap_or_else(|| {
            self.reads.push((reg, 0, 0));
            self.reads.len() - 1
        });
        let (_, mean, last) = &mut self.reads[at];
        if seen == 1 && *last > 0 {
            *mean = Profile::mean(*mean, *last);
        }
        *last = seen;
        seen.max(*mean)
    }

    /// Whether copies may be used: measurements have not shown that they do not help, and none is missing.
    pub(crate) fn is_trusted(&self, executor: Executor) -> bool {
        let judged = &self.judged;
        let is_known = judged.before.is_some() || judged.runs < RUNS_UNJUDGED;
        judged.executor != Some(executor) || is_known && judged.trust.allows(judged.runs)
    }

    /// An execution took so long, with or without copies.
    pub(crate) fn ran(&mut self, executor: Executor, time: Duration, work: u64, with_copies: bool) {
        self.ran += time;
        if self.judged.executor != Some(executor) {
            self.judged = Judged { executor: Some(executor), ..Judged::default() };
        }
        let judged = &mut self.judged;
        judged.runs += 1;
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let each = nanos.saturating_mul(1024) / work.max(1);
        match (with_copies, judged.before) {
            (false, before) => judged.before = Some(before.map_or(each, |before| before.min(each))),
            (true, None) => {}
            (true, Some(before)) if !judged.judging => {
                judged.judging = true;
                judged.trust.begin(before);
            }
            (true, Some(_)) => judged.judging = judged.trust.measured(judged.runs, each),
        }
    }
}
