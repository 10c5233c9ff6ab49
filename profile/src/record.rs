//! Moments of calls with a clock: how long each instruction took, and what was done when.
//!
//! Invariants: time is counted once, for what was begun last. Sums are of all calls that count; the course of time is that of the
//! last one. A span lies within the one it was begun in, and stays as long as its parts: where there are too many, all that are
//! shorter than some time are left out.

use galopvm::{Doing, Memory, Moment, MomentSink, Site, Way};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Spans of the course of time that are kept, at most.
const MOST_SPANS: usize = 1 << 15;

/// The first time below which spans are left out when there are too many: nanoseconds.
const FIRST_LEAST: u64 = 1000;

/// Points of memory over time that are kept, at most.
const MOST_POINTS: usize = 1 << 12;

/// What the instructions at one place of the code took, in nanoseconds.
#[derive(Clone, Default)]
pub struct Spent {
    /// How often they ran.
    pub executions: u64,
    /// In the interpreter: not what was begun inside.
    pub own: u64,
    /// In the code of back ends.
    pub code: Vec<Launches>,
    /// How often the interpreter executed them in which way.
    pub ways: Vec<(Way, u64)>,
    /// The instruction that they were done inside of, the first time.
    pub within: Option<Site>,
}

/// Launches of the code of one back end.
#[derive(Clone, Copy)]
pub struct Launches {
    /// The back end.
    pub backend: &'static str,
    /// How many.
    pub count: u64,
    /// Nanoseconds of all.
    pub nanos: u64,
}

/// What was done beside the program's own work, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub struct Aside {
    /// Making code.
    pub compiling: u64,
    /// Analyses.
    pub deciding: u64,
    /// Copies into other layouts.
    pub relaying: u64,
}

/// Something that was done in the last call.
#[derive(Clone, Copy)]
pub struct Span {
    /// What.
    pub doing: Doing,
    /// The instruction that it was done for, or is.
    pub site: Option<Site>,
    /// When, in nanoseconds of the call.
    pub begin: u64,
    /// Until when.
    pub end: u64,
    /// In how many others it lies.
    pub depth: usize,
}

/// What is known of the calls.
#[derive(Default)]
pub struct Record {
    /// The calls that count.
    pub calls: u64,
    /// Nanoseconds of all.
    pub nanos: u64,
    /// By place of the code.
    pub spent: HashMap<Site, Spent>,
    /// What belongs to no place.
    pub aside: Aside,
    /// The course of the last call, in the order in which things began.
    pub spans: Vec<Span>,
    /// Nanoseconds of the last call.
    pub last: u64,
    /// Spans that are shorter are left out, in nanoseconds.
    pub least: u64,
    /// Bytes in use, at nanoseconds of the last call.
    pub memory: Vec<(u64, u64)>,
}

/// Something that has begun.
struct Open {
    doing: Doing,
    site: Option<Site>,
    /// The instruction around it.
    within: Option<Site>,
    begin: u64,
    /// Nanoseconds of what was begun inside.
    inside: u64,
}

#[derive(Default)]
struct State {
    record: Record,
    open: Vec<Open>,
    /// When the call began, if one runs that counts.
    start: Option<Instant>,
    memory: Option<Memory>,
}

/// Takes moments down. Clones share what they know.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<State>>);

impl Recorder {
    /// What an engine tells.
    pub fn sink(&self) -> MomentSink {
        let recorder = self.clone();
        Arc::new(move |moment| recorder.state().take(moment))
    }

    /// Does a call that counts, whose values live in this memory.
    pub fn call<T>(&self, memory: &Memory, call: impl FnOnce() -> T) -> T {
        self.state().begin(memory);
        let done = call();
        self.state().end();
        done
    }

    /// All that is known; the recorder forgets it.
    pub fn record(&self) -> Record {
        let mut record = std::mem::take(&mut self.state().record);
        record.spans.sort_by_key(|span| (span.begin, span.depth));
        record
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn begin(&mut self, memory: &Memory) {
        self.memory = Some(memory.clone());
        let record = &mut self.record;
        record.spans.clear();
        record.memory.clear();
        record.least = 0;
        self.open.clear();
        self.start = Some(Instant::now());
        self.look_at_memory(0);
    }

    fn end(&mut self) {
        // An error may leave something behind that has not ended.
        while !self.open.is_empty() {
            self.take(Moment::Ends);
        }
        let now = self.now();
        self.look_at_memory(now);
        self.start = None;
        self.record.calls += 1;
        self.record.nanos = self.record.nanos.saturating_add(now);
        self.record.last = now;
    }

    /// Nanoseconds of the running call.
    fn now(&self) -> u64 {
        self.start.map_or(0, |start| u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn take(&mut self, moment: Moment) {
        if self.start.is_none() {
            return;
        }
        match moment {
            Moment::Begins(doing) => {
                let within = self.open.last().and_then(|open| open.site);
                let site = match doing {
                    Doing::Instruction(site) => Some(site),
                    _ => within,
                };
                let begin = self.now();
                self.open.push(Open { doing, site, within, begin, inside: 0 });
            }
            Moment::Interprets(way) => {
                if let Some(site) = self.open.last().and_then(|open| open.site) {
                    let ways = &mut self.record.spent.entry(site).or_default().ways;
                    match ways.iter_mut().find(|(known, _)| *known == way) {
                        Some((_, count)) => *count += 1,
                        None => ways.push((way, 1)),
                    }
                }
            }
            Moment::Ends => {
                let end = self.now();
                let Some(open) = self.open.pop() else { return };
                let took = end.saturating_sub(open.begin);
                if let Some(outer) = self.open.last_mut() {
                    outer.inside = outer.inside.saturating_add(took);
                }
                self.count(&open, took.saturating_sub(open.inside));
                self.keep(open, end);
                self.look_at_memory(end);
            }
        }
    }

    fn count(&mut self, open: &Open, own: u64) {
        let Record { spent, aside, .. } = &mut self.record;
        match (open.doing, open.site) {
            (Doing::Instruction(site), _) => {
                let spent = spent.entry(site).or_default();
                if spent.executions == 0 {
                    spent.within = open.within;
                }
                spent.executions += 1;
                spent.own += own;
            }
            (Doing::Code(backend), Some(site)) => {
                let code = &mut spent.entry(site).or_default().code;
                match code.iter_mut().find(|known| known.backend == backend) {
                    Some(known) => {
                        known.count += 1;
                        known.nanos += own;
                    }
                    None => code.push(Launches { backend, count: 1, nanos: own }),
                }
            }
            // Code runs for an instruction, and for nothing else.
            (Doing::Code(_), None) => {}
            (Doing::Compiling, _) => aside.compiling += own,
            (Doing::Deciding, _) => aside.deciding += own,
            (Doing::Relaying, _) => aside.relaying += own,
        }
    }

    fn keep(&mut self, Open { doing, site, begin, .. }: Open, end: u64) {
        let record = &mut self.record;
        if end - begin < record.least {
            return;
        }
        record.spans.push(Span { doing, site, begin, end, depth: self.open.len() });
        while record.spans.len() > MOST_SPANS {
            record.least = record.least.saturating_mul(2).max(FIRST_LEAST);
            record.spans.retain(|span| span.end - span.begin >= record.least);
        }
    }

    /// Notes the bytes in use, if they have changed.
    fn look_at_memory(&mut self, now: u64) {
        let Some(memory) = &self.memory else { return };
        let bytes = memory.stats().live_bytes;
        let points = &mut self.record.memory;
        if points.last().is_none_or(|(_, before)| *before != bytes) {
            points.push((now, bytes));
        }
        if points.len() > MOST_POINTS {
            // Of two neighbours the greater one is worth seeing.
            let greater = |pair: &[(u64, u64)]| pair.iter().copied().max_by_key(|(_, bytes)| *bytes);
            *points = points.chunks(2).filter_map(greater).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_bytecode::{BlockId, FuncId};

    fn site(index: usize) -> Site {
        Site { function: FuncId(0), block: BlockId(0), index }
    }

    #[test]
    fn time_counts_once_and_spans_lie_within_each_other() {
        let recorder = Recorder::default();
        let sink = recorder.sink();
        let instruction = |index| Moment::Begins(Doing::Instruction(site(index)));
        // Nobody asked for this one.
        sink(instruction(7));
        sink(Moment::Ends);
        recorder.call(&Memory::default(), || {
            sink(instruction(1));
            sink(Moment::Begins(Doing::Deciding));
            sink(Moment::Ends);
            for _ in 0..2 * MOST_SPANS {
                sink(instruction(2));
                sink(Moment::Interprets(Way::Unit));
                sink(Moment::Begins(Doing::Code("x86")));
                sink(Moment::Ends);
                sink(Moment::Ends);
            }
            // An error ends the call here.
        });
        let record = recorder.record();
        assert_eq!((record.calls, record.spent.len()), (1, 2));
        let (outer, inner) = (&record.spent[&site(1)], &record.spent[&site(2)]);
        assert_eq!((outer.executions, inner.executions), (1, 2 * MOST_SPANS as u64));
        assert_eq!((outer.within, inner.within), (None, Some(site(1))));
        assert_eq!(
            (inner.code[0].count, inner.ways[0]),
            (2 * MOST_SPANS as u64, (Way::Unit, inner.executions))
        );
        let code: u64 = record.spent.values().flat_map(|spent| &spent.code).map(|code| code.nanos).sum();
        let own: u64 = record.spent.values().map(|spent| spent.own).sum();
        assert!(code + own + record.aside.deciding <= record.nanos);
        assert!(record.spans.len() <= MOST_SPANS && record.least > 0);
        let whole = record.spans.first().expect("the longest span stays");
        assert_eq!((whole.site, whole.depth), (Some(site(1)), 0));
        for pair in record.spans.windows(2) {
            assert!(pair[0].begin <= pair[1].begin && pair[1].end <= whole.end);
        }
    }
}
