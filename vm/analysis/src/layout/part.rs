//! Copying the part of an array that is read, where copying all of it would move more than is ever read.
//!
//! Text: `manifest A[0 :+ 4096 * 1, 0 :+ 4 * 1] (1,0) : cost 1212416 ; x lane i : time 524288 -> 65536 ; ..`.

use super::candidates::Candidate;
use super::choice::{Copy, Means};
use super::cost::Pricing;
use super::manifest::{Gate, Verdict, runs_text};
use super::order::{order_text, wish};
use crate::index::{Role, Row, Table};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::Lmad;

/// A copy of a rectangle of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartCopy {
    /// By dimension: the first index and how many.
    pub part: Vec<(i64, i64)>,
    /// The copy, with the cost of that part.
    pub copy: Copy,
}

impl Pricing<'_> {
    /// The indices that an access reads, dimension by dimension; nothing if that may be all of them.
    pub fn part_read(&self, row: &Row) -> Option<Vec<(i64, i64)>> {
        let shape = self.table.array(row.array)?.shape.as_ref()?;
        let part: Option<Vec<(i64, i64)>> = shape
            .iter()
            .zip(&row.dims)
            .map(|(size, dim)| {
                let low = i64::try_from(dim.value.range.low).ok()?.max(0);
                let high = i64::try_from(dim.value.range.high).ok()?.min(size - 1);
                (!dim.value.data && low <= high).then(|| (low, high - low + 1))
            })
            .collect();
        part.filter(|part| part.iter().zip(shape).any(|((_, count), size)| count < size))
    }

    /// The copies of parts that pay for the reads among some rows, where a copy of the whole would move more than is
    /// ever read.
    pub fn parts_of(&self, rows: &[usize], lane: VarId, means: &Means) -> Vec<PartCopy> {
        let pays = |row: &usize| {
            let here = self.table.rows.get(*row)?;
            if !matches!(here.role, Role::Read(_)) {
                return None;
            }
            let order = wish(self.table, here, self.target).order;
            let candidate = Candidate { order: order.clone(), generic: false };
            let whole = self.copy_for(&[*row], lane, &candidate, means)?;
            let left = whole.verdict == Verdict::No(Some(Gate::Uses));
            let part = self.part_copy(*row, lane, &order, means).filter(|_| left)?;
            (part.copy.verdict == Verdict::Manifest).then_some(part)
        };
        rows.iter().filter_map(pays).collect()
    }

    /// A copy of the part that an access reads, judged like any other copy.
    pub fn part_copy(&self, row: usize, lane: VarId, order: &[usize], means: &Means) -> Option<PartCopy> {
        let here = self.table.rows.get(row)?;
        let part = self.part_read(here)?;
        let candidate = Candidate { order: order.to_vec(), generic: false };
        let mut copy = self.copy_for(&[row], lane, &candidate, means)?;
        let counts: Vec<i64> = part.iter().map(|(_, count)| *count).collect();
        let elements = counts.iter().fold(1u64, |n, count| n.saturating_mul(count.unsigned_abs()));
        let bytes = self.table.array(here.array)?.element_bytes().unsigned_abs();
        // Steps are the same wherever the part starts.
        copy.question.after = self.access(here, lane, Some(&Lmad::manifest(&counts, order))).time;
        copy.question.elements = elements;
        copy.question.bytes = elements.saturating_mul(bytes);
        copy.question.cost = self.copy(elements, bytes);
        copy.verdict = copy.question.judge();
        Some(PartCopy { part, copy })
    }
}

impl PartCopy {
    /// The copy in text.
    pub fn text(&self, region: &Region, table: &Table, lane: VarId) -> String {
        let part: Vec<String> =
            self.part.iter().map(|(start, count)| format!("{start} :+ {count} * 1")).collect();
        let names: Vec<String> = self.copy.rows.iter().map(|row| table.rows[*row].name(region)).collect();
        let question = &self.copy.question;
        format!(
            "manifest {}[{}] {} : cost {} ; {} lane {} : time {} -> {} ; benefit {} ; min_runs {}",
            region.name_of(self.copy.array),
            part.join(", "),
            order_text(&self.copy.order),
            question.cost,
            names.join(", "),
            region.name_of(lane),
            question.before,
            question.after,
            question.benefit(),
            runs_text(question.min_runs()),
        )
    }
}
