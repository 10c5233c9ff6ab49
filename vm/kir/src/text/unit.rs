//! Units in text, to be told apart: the machine, the region, the decisions, what was observed. Reasons of decisions are left out.

use super::{print_decision, print_observed, print_region};
use crate::backend::Unit;
use std::fmt::Write;

/// The text of a unit. Equal units have equal texts, and those of different units differ unless their regions differ in nothing but
/// the numbers of their names.
pub fn print_unit(unit: &Unit<'_>) -> String {
    let region = unit.region.region();
    let mut text = format!("{}\n{}\n", unit.machine, print_region(region));
    for line in &unit.plan.plan().lines {
        let _ = writeln!(text, "{}", print_decision(region, &line.decision));
    }
    text.push_str(&print_observed(region, unit.observed));
    text
}
