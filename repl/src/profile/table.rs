//! What calls took, place by place of the source: the longest first, and what is left.
//!
//! Invariant: the times of all rows and of what is left are the time of the calls, and shares in percent add up to 100.

use super::places::{self, Place};
use super::record::{Launches, Record, Spent};
use super::verdict::{Executors, Verdict, verdict};
use galopvm::{BackendChoice, Program, Session, Site, SiteReport};
use galopvm_bytecode::Module;
use std::collections::BTreeMap;

/// Rows that are shown, at most.
const MOST_ROWS: usize = 9;

/// A place is shown if it took one of so many parts of the time.
const PART: u64 = 100;

/// What was done in one line of the source by operators of one kind.
pub struct Row {
    /// Where most of it is; nothing if the program does not say.
    pub place: Option<Place>,
    /// What stands there.
    pub word: String,
    /// Nanoseconds of all calls.
    pub nanos: u64,
    /// What was spent there, and on what.
    pub spent: Spent,
    /// Who executed it, and why.
    pub verdict: Verdict,
    /// Where it is in the code: what the compiler copied is there more than once.
    pub sites: Vec<Site>,
}

impl Row {
    /// Where it is to people who look at a program of this name.
    pub fn label(&self, program: &str) -> String {
        match &self.place {
            Some(place) if place.file == program => format!("line {}", place.line),
            Some(place) => format!("{} line {}", place.file, place.line),
            None => "somewhere".into(),
        }
    }
}

/// The time of calls.
pub struct Table {
    /// The places, the longest first.
    pub rows: Vec<Row>,
    /// How many of them are shown one by one.
    pub shown: usize,
    /// What is left: what it is, and nanoseconds.
    pub left: Vec<(&'static str, u64)>,
    /// Nanoseconds of all calls.
    pub nanos: u64,
    /// How many calls.
    pub calls: u64,
}

impl Table {
    /// What a record says of the calls of a session.
    pub fn new(record: &Record, program: &Program, session: &Session) -> Table {
        let module = program.module().module();
        let reports = session.sites();
        let mut together: BTreeMap<(Option<(String, u32)>, String, Option<Site>), Vec<Site>> =
            BTreeMap::new();
        for site in record.spent.keys() {
            let line = places::place(module, *site).map(|place| (place.file, place.line));
            // Without places of the source each stands for itself.
            let alone = line.is_none().then_some(*site);
            together.entry((line, places::word(module, *site), alone)).or_default().push(*site);
        }
        let engine = session.engine();
        let executors = Executors {
            threads: engine.machine().threads,
            compile: engine.switches().jit && engine.backend() != BackendChoice::Interp,
        };
        let row = |((_, word, _), sites)| row(record, module, &reports, executors, word, sites);
        let mut rows: Vec<Row> = together.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.nanos.cmp(&a.nanos).then_with(|| a.place.cmp(&b.place)));
        let is_long = |row: &&Row| row.nanos > 0 && row.nanos >= record.nanos / PART;
        let shown = rows.iter().take_while(is_long).count().min(MOST_ROWS);
        let others = rows[shown..].iter().map(|row| row.nanos).sum();
        let aside = &record.aside;
        let known = rows.iter().map(|row| row.nanos).sum::<u64>();
        let rest = record.nanos.saturating_sub(known + aside.compiling + aside.deciding + aside.relaying);
        let left = vec![
            ("compiling", aside.compiling),
            ("analyses", aside.deciding),
            ("copies into other layouts", aside.relaying),
            ("other places", others),
            ("the rest of the program", rest),
        ];
        Table { rows, shown, left, nanos: record.nanos, calls: record.calls }
    }

    /// The share of the time in percent of each row that is shown, and then of each part that is left.
    pub fn percents(&self) -> Vec<u64> {
        let rows = self.rows[..self.shown].iter().map(|row| row.nanos);
        percents(&rows.chain(self.left.iter().map(|(_, nanos)| *nanos)).collect::<Vec<_>>())
    }

    /// A part of the time in percent.
    pub fn share(&self, nanos: u64) -> f64 {
        nanos as f64 * 100.0 / self.nanos.max(1) as f64
    }
}

fn row(
    record: &Record,
    module: &Module,
    reports: &[SiteReport],
    executors: Executors,
    word: String,
    mut sites: Vec<Site>,
) -> Row {
    let nanos_of = |site: &Site| record.spent.get(site).map_or(0, nanos);
    // The site that took longest speaks for all.
    sites.sort_by_key(|site| (std::cmp::Reverse(nanos_of(site)), *site));
    let mut spent = Spent::default();
    sites.iter().filter_map(|site| record.spent.get(site)).for_each(|other| add(&mut spent, other));
    let of_site = |report: &&SiteReport| sites.first() == Some(&report.name.site) && report.group.is_none();
    let report = reports.iter().filter(of_site).max_by_key(|report| {
        let profile = &report.profile;
        profile.executions + profile.grouped
    });
    let place = sites.first().and_then(|site| places::place(module, *site));
    let instr = sites.first().and_then(|site| places::instruction(module, *site));
    let verdict = verdict(instr, &spent, report, executors);
    Row { place, word, nanos: nanos(&spent), spent, verdict, sites }
}

/// Nanoseconds of all that was done at a place.
fn nanos(spent: &Spent) -> u64 {
    spent.code.iter().fold(spent.own, |sum, code| sum.saturating_add(code.nanos))
}

fn add(spent: &mut Spent, other: &Spent) {
    spent.executions += other.executions;
    spent.own = spent.own.saturating_add(other.own);
    for Launches { backend, count, nanos } in &other.code {
        match spent.code.iter_mut().find(|known| known.backend == *backend) {
            Some(known) => {
                known.count += count;
                known.nanos = known.nanos.saturating_add(*nanos);
            }
            None => spent.code.push(Launches { backend, count: *count, nanos: *nanos }),
        }
    }
    for (way, count) in &other.ways {
        match spent.ways.iter_mut().find(|(known, _)| known == way) {
            Some((_, known)) => *known += count,
            None => spent.ways.push((*way, *count)),
        }
    }
}

/// Parts of a whole in whole percents that add up to 100, if there is anything: each is rounded down, and what is missing goes to
/// those that lost most.
fn percents(parts: &[u64]) -> Vec<u64> {
    let whole: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    if whole == 0 {
        return vec![0; parts.len()];
    }
    let exact = |part: &u64| u128::from(*part) * 100;
    let mut percents: Vec<u64> = parts.iter().map(|part| (exact(part) / whole) as u64).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|k| std::cmp::Reverse(exact(&parts[*k]) % whole));
    let missing = 100 - percents.iter().sum::<u64>() as usize;
    order.into_iter().take(missing).for_each(|k| percents[k] += 1);
    percents
}

#[cfg(test)]
mod tests {
    use super::percents;

    #[test]
    fn percents_add_up() {
        assert_eq!(percents(&[1, 1, 1]), [34, 33, 33]);
        assert_eq!(percents(&[0, 0]), [0, 0]);
        assert_eq!(percents(&[999, 1]), [100, 0]);
        assert_eq!(percents(&[u64::MAX, u64::MAX / 3]).iter().sum::<u64>(), 100);
    }
}
