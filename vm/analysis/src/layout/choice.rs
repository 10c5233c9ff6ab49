//! Layouts of one array for a lane: the cheapest set of copies, at most two.
//!
//! For a given lane the accesses of different arrays are independent, so the choice is made array by array: each
//! access takes the cheapest of the present layout and the copies, and a set of copies is allowed only if each of
//! them is judged to pay for the accesses that take it.

use super::candidates::{Candidate, candidates};
use super::cost::{Price, Pricing};
use super::manifest::{Question, Verdict, runs_text};
use super::order::{Condition, Target, order_text, wish};
use crate::Effort;
use crate::index::{Role, Row, Table};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::Lmad;

/// A generic copy has to be worth this many times as much.
const GENERIC: u64 = 3;

/// What the choice may count on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Means {
    /// Bytes that may be used for copies.
    pub budget: u64,
    /// Copies that are there.
    pub held: Vec<(VarId, Vec<usize>)>,
    /// What the choice itself may cost.
    pub effort: Effort,
}

impl Default for Means {
    fn default() -> Means {
        Means { budget: u64::MAX, held: Vec::new(), effort: Effort::Quick }
    }
}

/// A copy of an array into another layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copy {
    /// The array.
    pub array: VarId,
    /// Dimensions of the array, outermost in memory first.
    pub order: Vec<usize>,
    /// The rows of the table that use it.
    pub rows: Vec<usize>,
    /// What was decided on.
    pub question: Question,
    /// The decision.
    pub verdict: Verdict,
}

impl Copy {
    /// Text: `manifest A (1,0) : cost 6291456 ; x0 lane i : time 16777216 -> 2097152 ; benefit 14680064 ; min_runs 1`
    pub fn text(&self, region: &Region, table: &Table, lane: VarId) -> String {
        let Question { cost, before, after, .. } = &self.question;
        let names: Vec<String> = self.rows.iter().map(|row| table.rows[*row].name(region)).collect();
        format!(
            "manifest {} {} : cost {cost} ; {} lane {} : time {before} -> {after} ; benefit {} ; min_runs {}",
            region.name_of(self.array),
            order_text(&self.order),
            names.join(", "),
            region.name_of(lane),
            self.question.benefit(),
            runs_text(self.question.min_runs()),
        )
    }
}

/// How one array is read along a lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayChoice {
    /// The array.
    pub array: VarId,
    /// The copies that are made or kept.
    pub copies: Vec<Copy>,
    /// Time of the accesses in one run.
    pub time: u64,
    /// The cost of the copies, spread over the expected runs.
    pub spread: u64,
}

impl Pricing<'_> {
    /// How often a launch reads this value of an array, at least: loops around the kernel that do not change it.
    pub fn runs(&self, row: &Row) -> u64 {
        let made: &[VarId] = self.table.array(row.array).map_or(&[], |info| &info.nest);
        let again = self.table.outer(row).iter().filter(|axis| !made.contains(axis));
        let counted = again.map(|axis| self.table.trips(*axis)).fold(1, u64::saturating_mul);
        counted.max(self.profile.reads.get(&row.array).copied().unwrap_or(0)).max(1)
    }

    /// The outermost loop around the kernel that a copy can be made in front of.
    pub fn hoist(&self, row: &Row) -> Option<VarId> {
        let made: &[VarId] = self.table.array(row.array).map_or(&[], |info| &info.nest);
        self.table.outer(row).iter().copied().find(|axis| !made.contains(axis))
    }

    /// The question whether a copy pays for these rows.
    pub fn copy_for(
        &self,
        rows: &[usize],
        lane: VarId,
        candidate: &Candidate,
        means: &Means,
    ) -> Option<Copy> {
        let first = &self.table.rows[*rows.first()?];
        let info = self.table.array(first.array)?;
        let elements = u64::try_from(info.elements()?).ok()?;
        let lmad = Lmad::manifest(info.shape.as_ref()?, &candidate.order);
        let element_bytes = info.element_bytes().unsigned_abs();
        let now = || rows.iter().map(|row| self.access_now(&self.table.rows[*row], lane));
        let then = || rows.iter().map(|row| self.access(&self.table.rows[*row], lane, Some(&lmad)));
        let sum =
            |prices: &mut dyn Iterator<Item = Price>| prices.map(|p| p.time).fold(0, u64::saturating_add);
        let bytes = elements.saturating_mul(element_bytes);
        let penalty = if candidate.generic { GENERIC } else { 1 };
        let order = candidate.order.clone();
        let question = Question {
            best_already: now().all(|price| price.class.is_best()),
            fits: self.target == Target::Cpu && bytes <= self.costs.cpu.l1_bytes / 2,
            misses_only: now().zip(then()).all(|(now, then)| now.class.is_like(then.class)),
            runs: rows.iter().map(|row| self.runs(&self.table.rows[*row])).max().unwrap_or(1),
            read: rows
                .iter()
                .map(|row| self.elements_read(&self.table.rows[*row]))
                .fold(0, u64::saturating_add),
            elements,
            before: sum(&mut now()),
            after: sum(&mut then()),
            cost: self.copy(elements, element_bytes).saturating_mul(penalty),
            rebuilt: wish(self.table, first, self.target).against.contains(&Condition::Rebuilt),
            bytes,
            budget: means.budget,
            held: means.held.contains(&(first.array, order.clone())),
        };
        let verdict = question.judge();
        Some(Copy { array: first.array, order, rows: rows.to_vec(), question, verdict })
    }

    /// Elements that an access reads in one run.
    fn elements_read(&self, row: &Row) -> u64 {
        self.table.inner(row).iter().map(|axis| self.table.trips(*axis)).fold(1, u64::saturating_mul)
    }

    /// The cheapest copies of an array for these rows.
    pub fn array_choice(&self, array: VarId, rows: &[usize], lane: VarId, means: &Means) -> ArrayChoice {
        let time = |copies: &[Copy]| {
            let mut total = 0u64;
            for row in rows {
                let here = &self.table.rows[*row];
                let lmad = self.lmad_for(*row, copies);
                let price = match &lmad {
                    Some(lmad) => self.access(here, lane, Some(lmad)),
                    None => self.access_now(here, lane),
                };
                total = total.saturating_add(price.time);
            }
            total
        };
        let spread = |copies: &[Copy]| {
            let cost = |copy: &Copy| {
                if copy.question.held { 0 } else { copy.question.cost.div_ceil(copy.question.runs) }
            };
            copies.iter().map(cost).fold(0, u64::saturating_add)
        };
        let mut best = ArrayChoice { array, time: time(&[]), spread: 0, copies: Vec::new() };
        let reads: Vec<usize> =
            rows.iter().copied().filter(|row| matches!(self.table.rows[*row].role, Role::Read(_))).collect();
        let mut options: Vec<Candidate> = Vec::new();
        for row in &reads {
            for candidate in candidates(self.table, &self.table.rows[*row], lane, self.target) {
                if !options.contains(&candidate) {
                    options.push(candidate);
                }
            }
        }
        let mut sets: Vec<Vec<&Candidate>> = options.iter().map(|one| vec![one]).collect();
        for (k, one) in options.iter().enumerate() {
            sets.extend(options[k + 1..].iter().map(|other| vec![one, other]));
        }
        for set in sets {
            let Some(copies) = self.copies_of(&set, &reads, lane, means) else { continue };
            let found = ArrayChoice { array, time: time(&copies), spread: spread(&copies), copies };
            if found.time.saturating_add(found.spread) < best.time.saturating_add(best.spread) {
                best = found;
            }
        }
        best
    }

    /// The copies of a set, each for the rows that it is best for; nothing if one of them does not pay.
    fn copies_of(
        &self,
        set: &[&Candidate],
        reads: &[usize],
        lane: VarId,
        means: &Means,
    ) -> Option<Vec<Copy>> {
        let mut takers: Vec<Vec<usize>> = vec![Vec::new(); set.len()];
        for row in reads {
            let here = &self.table.rows[*row];
            let shape = self.table.array(here.array)?.shape.clone()?;
            let times = set.iter().map(|candidate| {
                let lmad = Lmad::manifest(&shape, &candidate.order);
                self.access(here, lane, Some(&lmad)).time
            });
            let (k, time) = times.enumerate().min_by_key(|(_, time)| *time)?;
            if time < self.access_now(here, lane).time {
                takers[k].push(*row);
            }
        }
        set.iter()
            .zip(&takers)
            .map(|(candidate, rows)| {
                self.copy_for(rows, lane, candidate, means).filter(|copy| copy.verdict == Verdict::Manifest)
            })
            .collect()
    }

    /// The layout of the copy that a row takes.
    fn lmad_for(&self, row: usize, copies: &[Copy]) -> Option<Lmad> {
        let copy = copies.iter().find(|copy| copy.rows.contains(&row))?;
        let shape = self.table.array(copy.array)?.shape.as_ref()?;
        Some(Lmad::manifest(shape, &copy.order))
    }
}
