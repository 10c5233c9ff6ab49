//! `circuit`: arrays built in the place they are copied to. Each line is a list of claims that the report must make.

use crate::case::{Case, Outcome, Section};
use crate::execute;
use galopvm_analysis::circuit::circuits;
use galopvm_kir::{CheckedRegion, Observed, ObservedParam, Region};
use std::collections::BTreeSet;

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[("circuit", 1)];

/// Takes what is said of short-circuiting.
pub fn run(section: &Section, case: &Case) -> Outcome {
    if section.kind() != Some("circuit") || case.text("INPUT").is_none() {
        return Outcome::not_mine(section);
    }
    let (region, observed) = match case.region() {
        Ok(found) => found,
        Err(error) => return Outcome::whole(section, Err(error)),
    };
    if let Err(error) = confirm(&region, &observed, 12) {
        return Outcome::whole(section, Err(error));
    }
    Outcome::each(section, |line| claims(line, &region, &observed))
}

/// Runs the region plainly and as planned, in random orders, and compares.
pub fn confirm(region: &CheckedRegion, observed: &Observed, orders: u64) -> Result<(), String> {
    let circuits = circuits(region.region(), observed);
    let plain = execute::run(region, observed, None, 0)?;
    for seed in 1..=orders {
        let planned = execute::run(region, observed, Some(&circuits.places), seed)?;
        if !execute::agree(&plain, &planned) {
            let text = circuits.text(region.region());
            return Err(format!("order {seed} gives another result\n{text}"));
        }
    }
    Ok(())
}

/// The claims of a report: its lines, cut at ` ; `.
fn report(region: &CheckedRegion, observed: &Observed) -> (BTreeSet<String>, String) {
    let text = circuits(region.region(), observed).text(region.region());
    (text.lines().flat_map(|line| line.split(" ; ")).map(str::to_string).collect(), text)
}

fn claims(line: &str, region: &CheckedRegion, observed: &Observed) -> Result<Option<String>, String> {
    let mut observed = observed.clone();
    let mut rest = line;
    if let Some(condition) = line.strip_prefix("rc(") {
        // `rc(xss) = 2 : ..`
        let (name, more) = condition.split_once(") = ").ok_or("no count")?;
        let (count, claims) = more.split_once(" : ").ok_or("no claims")?;
        let count = count.parse().map_err(|_| format!("`{count}` is no count"))?;
        set_references(region.region(), &mut observed, name, count)?;
        rest = claims;
    }
    let (computed, text) = report(region, &observed);
    for claim in rest.split(" ; ") {
        if computed.contains(claim) || copies(claim, region.region(), &observed, &computed)? {
            continue;
        }
        return Err(format!("`{claim}` is not in\n{text}"));
    }
    Ok(Some(line.into()))
}

fn set_references(region: &Region, observed: &mut Observed, name: &str, count: u32) -> Result<(), String> {
    let at = region.params.iter().position(|param| region.name_of(*param) == name).ok_or("no such array")?;
    match &mut observed.params[at] {
        ObservedParam::Array { references, .. } => *references = count,
        ObservedParam::Scalar(_) => return Err(format!("`{name}` is no array")),
    }
    Ok(())
}

/// `fresh block for bs, xss2 = copy of 16 elements, then 4 elements`: nothing is built in place, so the update of a
/// shared block copies all of it, and then the part.
fn copies(
    claim: &str,
    region: &Region,
    observed: &Observed,
    computed: &BTreeSet<String>,
) -> Result<bool, String> {
    let Some(rest) = claim.strip_prefix("fresh block for ") else { return Ok(false) };
    let (array, rest) = rest.split_once(", ").ok_or("no comma")?;
    let (target, counts) = rest.split_once(" = copy of ").ok_or("no copy")?;
    let places = circuits(region, observed).places;
    let elements = |name: &str| {
        let var = region.vars.iter_ids().find(|(_, var)| var.name == name).map(|(id, _)| id)?;
        let place = places.get(&var)?;
        Some((region.name_of(place.block) == name, place.view.lmad()?.elements()))
    };
    let (own, part) = elements(array).ok_or("no place")?;
    let (_, whole) = elements(target).ok_or("no place")?;
    let stays = computed.contains(&format!("{array} -> no reason not-unique"));
    Ok(own && stays && counts == format!("{whole} elements, then {part} elements"))
}
