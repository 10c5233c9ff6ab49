//! `check`: predicates over the sizes of the environment, which other sections lean on.

use crate::case::{Outcome, region_with};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{ObservedParam, Rhs};
use galopvm_testkit::cases::{Case, Section};

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[("check", 13)];

/// Takes `check`.
pub fn run(section: &Section, case: &Case) -> Outcome {
    match section.kind() {
        Some("check") => Outcome::each(section, |line| holds(line, case).map(Some)),
        _ => Outcome::not_mine(section),
    }
}

/// The line, if it is true.
fn holds(line: &str, case: &Case) -> Result<String, String> {
    let (region, observed) = region_with(case, &format!("let it_holds = {line}\n"))?;
    let code = region.region();
    let known = |var| {
        let k = code.params.iter().position(|param| *param == var)?;
        match observed.params.get(k)? {
            ObservedParam::Scalar(value) => Some(*value),
            ObservedParam::Array { .. } => None,
        }
    };
    let Some(Rhs::Exps(exps)) = code.body.stms.last().map(|stm| &stm.rhs) else {
        return Err("no predicate".into());
    };
    match exps.first().and_then(|exp| scalar_value(exp, &known)) {
        Some(value) if value.bits == 1 => Ok(line.into()),
        Some(_) => Ok("false".into()),
        None => Err("no value".into()),
    }
}
