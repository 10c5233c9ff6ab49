//! What calls took, place by place of the source: the longest first, and what is left.
//!
//! Invariant: the times of all rows and of what is left are the time of the calls, and shares in percent add up to 100.

use super::places::{self, Spot};
use super::record::{Aside, Launches, Record, Spent};
use super::verdict::{self, Executors, Verdict, verdict};
use galopvm::{BackendChoice, Program, Session, Site, SiteReport};
use galopvm_bytecode::{Instr, Module, over_rows};
use std::collections::BTreeMap;

/// Rows that are shown, at most.
const MOST_ROWS: usize = 9;

/// Instructions around another one that are looked at, at most: recursion goes on without end.
const DEEPEST: usize = 64;

/// A place is shown if it took one of so many parts of the time.
const PART: u64 = 100;

/// Which places of the source have rows of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Lines.
    Line,
    /// Lines and columns.
    Column,
}

/// What is told together.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The file, the line, and the column if it counts; without places of the source each site stands for itself.
    place: Result<(String, u32, Option<u32>), Site>,
    word: String,
}

/// What was done in one line of the source by operators of one kind.
pub struct Row {
    /// What stands there, where most of it is.
    pub spot: Spot,
    /// The operator or loop that it is done inside of.
    pub within: Option<Spot>,
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
    /// What it is, and inside of what, to people who look at a program of this name.
    pub fn what(&self, program: &str) -> String {
        let word = &self.spot.word;
        match &self.within {
            Some(outer) if outer.place.is_some() => {
                format!("{word}, inside the {} of {}", outer.word, outer.label(program))
            }
            Some(outer) => format!("{word}, inside a {}", outer.word),
            None => word.clone(),
        }
    }
}

/// Nanoseconds that no row has which is shown.
#[derive(Clone, Copy)]
pub struct Left {
    /// What was done beside the program's own work.
    pub aside: Aside,
    /// All other rows.
    pub others: u64,
    /// What belongs to no place.
    pub rest: u64,
}

impl Left {
    /// What it is, and nanoseconds.
    pub fn parts(&self) -> [(&'static str, u64); 5] {
        let Left { aside: Aside { compiling, deciding, relaying }, others, rest } = *self;
        [
            ("compiling", compiling),
            ("analyses", deciding),
            ("copies into other layouts", relaying),
            ("other places", others),
            ("the rest of the program", rest),
        ]
    }
}

/// The time of calls.
pub struct Table {
    /// The places, the longest first.
    pub rows: Vec<Row>,
    /// How many of them are shown one by one.
    pub shown: usize,
    /// What is left.
    pub left: Left,
    /// Nanoseconds of all calls.
    pub nanos: u64,
    /// How many calls.
    pub calls: u64,
}

impl Table {
    /// What a record says of the calls of a session; `is_first` is whether later ones could be measured in their place.
    pub fn new(record: &Record, program: &Program, session: &Session, is_first: bool, by: By) -> Table {
        let module = program.module().module();
        let engine = session.engine();
        let executors = Executors {
            threads: engine.machine().threads,
            compile: engine.switches().jit && engine.backend() != BackendChoice::Interp,
            is_first,
        };
        let known = Known { record, module, reports: session.sites(), executors };
        let mut together: BTreeMap<Key, Vec<Site>> = BTreeMap::new();
        for site in record.spent.keys() {
            let Spot { place, word, .. } = Spot::of(module, *site);
            let column = |column| (by == By::Column).then_some(column);
            let place = place.map(|place| (place.file, place.line, column(place.column))).ok_or(*site);
            together.entry(Key { place, word }).or_default().push(*site);
        }
        let mut rows: Vec<Row> = together.into_values().filter_map(|sites| known.row(sites)).collect();
        let order = |row: &Row| (std::cmp::Reverse(row.nanos), row.spot.place.clone());
        rows.sort_by_cached_key(order);
        let is_long = |row: &&Row| row.nanos > 0 && row.nanos >= record.nanos / PART;
        let shown = rows.iter().take_while(is_long).count().min(MOST_ROWS);
        let others = rows[shown..].iter().map(|row| row.nanos).sum();
        let aside = record.aside;
        let of_rows = rows.iter().map(|row| row.nanos).sum::<u64>();
        let rest = record.nanos.saturating_sub(of_rows + aside.compiling + aside.deciding + aside.relaying);
        let left = Left { aside, others, rest };
        Table { rows, shown, left, nanos: record.nanos, calls: record.calls }
    }

    /// The share of the time in percent of each row that is shown, and then of each part that is left.
    pub fn percents(&self) -> Vec<u64> {
        let rows = self.rows[..self.shown].iter().map(|row| row.nanos);
        shares(100, &rows.chain(self.left.parts().map(|(_, nanos)| nanos)).collect::<Vec<_>>())
    }

    /// A part of the time in percent.
    pub fn share(&self, nanos: u64) -> f64 {
        nanos as f64 * 100.0 / self.nanos.max(1) as f64
    }
}

/// What rows are made from.
struct Known<'k> {
    record: &'k Record,
    module: &'k Module,
    reports: Vec<SiteReport>,
    executors: Executors,
}

impl Known<'_> {
    /// The row of some sites; there is none without any.
    fn row(&self, mut sites: Vec<Site>) -> Option<Row> {
        let nanos_of = |site: &Site| self.record.spent.get(site).map_or(0, nanos);
        // The site that took longest speaks for all.
        sites.sort_by_key(|site| (std::cmp::Reverse(nanos_of(site)), *site));
        let first = *sites.first()?;
        let mut spent = Spent::default();
        sites.iter().filter_map(|site| self.record.spent.get(site)).for_each(|other| add(&mut spent, other));
        let mut verdict = self.verdict(first, &spent);
        let is_call = |site: &Site| self.is(*site, |instr| matches!(instr, Instr::Call { .. }));
        let is_operator = |site: &Site| self.is(*site, |instr| matches!(instr, over_rows!(Instr)));
        let mut within = self.around(first).find(|site| !is_call(site));
        // Why the outermost operator is interpreted is why all are that lie in it.
        let outermost = self.around(first).filter(is_operator).last();
        let is_loop = |instr: &Instr| matches!(instr, Instr::For { .. } | Instr::While { .. });
        let is_led = spent.code.is_empty() && (is_operator(&first) || self.is(first, is_loop));
        if let Some(outer) = outermost.filter(|_| is_led)
            && let Some(its) = self.record.spent.get(&outer)
        {
            let around = format!("{} around it", places::word(self.module, outer));
            verdict = verdict::inside(verdict, &around, self.verdict(outer, its));
            within = Some(outer);
        }
        let spot = |site| Spot::of(self.module, site);
        let nanos = nanos(&spent);
        Some(Row { spot: spot(first), within: within.map(spot), nanos, spent, verdict, sites })
    }

    /// What is said of a site that took this.
    fn verdict(&self, site: Site, spent: &Spent) -> Verdict {
        let of_site = |report: &&SiteReport| report.name.site == site && report.group.is_none();
        let report = self.reports.iter().filter(of_site).max_by_key(|report| {
            let profile = &report.profile;
            profile.executions + profile.grouped
        });
        verdict(places::instruction(self.module, site), spent, report, self.executors)
    }

    /// The instructions around a site, the innermost first.
    fn around(&self, site: Site) -> impl Iterator<Item = Site> + '_ {
        let outer = |site: &Site| self.record.spent.get(site).and_then(|spent| spent.within);
        std::iter::successors(outer(&site), outer).take(DEEPEST)
    }

    fn is(&self, site: Site, kind: impl Fn(&Instr) -> bool) -> bool {
        places::instruction(self.module, site).is_some_and(kind)
    }
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

/// Parts of a whole as whole numbers that add up to `all`, if there is anything: each is rounded down, and what is missing goes to
/// those that lost most.
pub fn shares(all: u64, parts: &[u64]) -> Vec<u64> {
    let whole: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    if whole == 0 {
        return vec![0; parts.len()];
    }
    let exact = |part: &u64| u128::from(*part) * u128::from(all);
    let mut shares: Vec<u64> = parts.iter().map(|part| (exact(part) / whole) as u64).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|k| std::cmp::Reverse(exact(&parts[*k]) % whole));
    let missing = (all - shares.iter().sum::<u64>()) as usize;
    order.into_iter().take(missing).for_each(|k| shares[k] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn shares_add_up() {
        assert_eq!(shares(100, &[1, 1, 1]), [34, 33, 33]);
        assert_eq!(shares(100, &[0, 0]), [0, 0]);
        assert_eq!(shares(1000, &[999, 1]), [999, 1]);
        assert_eq!(shares(100, &[999, 1]), [100, 0]);
        assert_eq!(shares(100, &[u64::MAX, u64::MAX / 3]).iter().sum::<u64>(), 100);
    }
}
