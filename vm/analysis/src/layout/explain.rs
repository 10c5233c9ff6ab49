//! The whole analysis of a region in text: what was found, what each lane would cost, what was decided and why.

use super::choice::Means;
use super::class::class;
use super::cost::{Pricing, price_text};
use super::manifest::Gate;
use super::order::{order_text, wish};
use crate::index::{Role, Row};
use galopvm_kir::{CheckedRegion, VarId};
use galopvm_lmad::Lmad;
use std::fmt::Write;

impl Pricing<'_> {
    /// One block for each kernel: its accesses with the layouts that its nest asks for, its lanes with their costs, the
    /// choice with the copies that it makes, and how each access is then made.
    pub fn explain(&self, region: &CheckedRegion, means: &Means) -> String {
        let mut text = String::new();
        for (k, kernel) in self.kernels().into_iter().enumerate() {
            let _ = writeln!(text, "kernel {} on {}", k + 1, self.target.name());
            self.shared(kernel).explain_kernel(region, kernel, means, &mut text);
        }
        text
    }

    fn explain_kernel(&self, region: &CheckedRegion, kernel: VarId, means: &Means, text: &mut String) {
        let code = region.region();
        let rows = self.rows_of(kernel);
        for row in &rows {
            let row = &self.table.rows[*row];
            let _ = write!(text, "  {}", row.text(self.table, region));
            let _ = match wish_of(self, row) {
                Some(wish) => writeln!(text, " -> {wish}"),
                None => writeln!(text, " -> written"),
            };
        }
        let choices = self.lane_choices(kernel, means);
        for choice in &choices {
            let _ = writeln!(
                text,
                "  lane {} : time {} ; transposes {} ; {}",
                code.name_of(choice.lane),
                choice.time,
                choice.transposes,
                choice.copies_text(code)
            );
        }
        let Some(best) = choices.first() else { return };
        let _ = writeln!(text, "  {}", self.threads_text(code, kernel, best.lane));
        for copy in best.copies() {
            let _ = writeln!(text, "  {}", copy.text(code, self.table, best.lane));
        }
        for (array, order) in &best.born {
            let _ = writeln!(text, "  {} is born {}", code.name_of(*array), order_text(order));
        }
        for row in &rows {
            let here = &self.table.rows[*row];
            let _ =
                writeln!(text, "  {}", price_text(code, here, best.lane, &self.access_now(here, best.lane)));
            let copy = best.copies().find(|copy| copy.rows.contains(row)).map(|copy| &copy.order);
            let born = best.born.iter().find(|(array, _)| *array == here.array).map(|(_, order)| order);
            let shape = self.table.array(here.array).and_then(|info| info.shape.as_ref());
            let lmad = match (copy.or(born), shape) {
                (Some(order), Some(shape)) => Some(Lmad::manifest(shape, order)),
                _ => self.table.array(here.array).and_then(|info| info.lmad.clone()),
            };
            if let Some(lmad) = lmad {
                let _ =
                    writeln!(text, "  {}", self.reach_text(code, here, self.reach(here, best.lane, &lmad)));
            }
            if copy.is_none() && wish_of(self, here).is_some() {
                self.explain_part(region, *row, best.lane, means, text);
            }
        }
    }

    /// A part that would pay where the whole does not.
    fn explain_part(
        &self,
        region: &CheckedRegion,
        row: usize,
        lane: VarId,
        means: &Means,
        text: &mut String,
    ) {
        let here = &self.table.rows[row];
        if class(self.table, here, lane).is_best() {
            return;
        }
        let order = wish(self.table, here, self.target).order;
        let candidate = super::Candidate { order: order.clone(), generic: false };
        let Some(whole) = self.copy_for(&[row], lane, &candidate, means) else { return };
        if whole.verdict == super::Verdict::No(Some(Gate::Uses))
            && let Some(part) = self.part_copy(row, lane, &order, means)
        {
            let _ =
                writeln!(text, "  {} ; {}", part.text(region.region(), self.table, lane), part.copy.verdict);
        }
    }
}

fn wish_of(pricing: &Pricing<'_>, row: &Row) -> Option<String> {
    matches!(row.role, Role::Read(_)).then(|| wish(pricing.table, row, pricing.target).to_string())
}
