//! `circuit`: arrays built in the place they are copied to. Each line is a list of claims that the report must make.

use crate::case::{Outcome, region, region_of};
use crate::oracle::confirm;
use galopvm_analysis::circuit::circuits;
use galopvm_kir::{CheckedRegion, Observed, ObservedParam, Region};
use galopvm_testkit::cases::{Case, Section};
use std::collections::BTreeSet;

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[("circuit", 61)];

/// Takes what is said of short-circuiting.
pub fn run(section: &Section, case: &Case) -> Outcome {
    if section.kind() != Some("circuit") {
        return Outcome::not_mine(section);
    }
    if case.text("INPUT").is_none() {
        return Outcome::each(section, safety);
    }
    let (region, observed) = match region(case) {
        Ok(found) => found,
        Err(error) => return Outcome::whole(section, Err(error)),
    };
    if let Err(error) = confirm(&region, &observed, 12) {
        return Outcome::whole(section, Err(error));
    }
    Outcome::each(section, |line| claims(line, case, &region, &observed))
}

/// The claims of a report: its lines, cut at ` ; `.
fn report(region: &CheckedRegion, observed: &Observed) -> (BTreeSet<String>, String) {
    let text = circuits(region.region(), observed).text(region.region());
    (text.lines().flat_map(|line| line.split(" ; ")).map(str::to_string).collect(), text)
}

fn claims(
    line: &str,
    case: &Case,
    region: &CheckedRegion,
    observed: &Observed,
) -> Result<Option<String>, String> {
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
        let known = computed.contains(claim)
            || copies(claim, region.region(), &observed, &computed)?
            || unless_copied(claim, case, &computed)?;
        if known {
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

/// `green -> yes-if no coalescing copy`: it is built in place as it is, and is not where it is copied into a layout
/// with its last two dimensions exchanged.
fn unless_copied(claim: &str, case: &Case, computed: &BTreeSet<String>) -> Result<bool, String> {
    let Some(array) = claim.strip_suffix(" -> yes-if no coalescing copy") else { return Ok(false) };
    let legal = computed.iter().any(|line| line.starts_with(&format!("{array} -> yes block ")));
    let (region, _) = region(case)?;
    let code = region.region();
    let ty = code.vars.iter().find(|var| var.name == array).and_then(|var| var.ty.as_ref());
    let rank = ty.ok_or("no such array")?.rank();
    let mut perm: Vec<String> = (0..rank).map(|dim| dim.to_string()).collect();
    perm.swap(rank - 2, rank - 1);
    let input = case.text("INPUT").unwrap_or_default();
    let copied: String = input
        .lines()
        .map(|line| match line.strip_suffix(&format!(" = {array}")) {
            Some(update) => {
                let copy = format!("  let {array}_copy = manifest(({}), {array})", perm.join(", "));
                format!("{copy}\n{update} = {array}_copy\n")
            }
            None => format!("{line}\n"),
        })
        .collect();
    let (region, observed) = region_of(case.text("ENV").unwrap_or_default(), &copied)?;
    confirm(&region, &observed, 6)?;
    let (computed, _) = report(&region, &observed);
    Ok(legal && computed.contains(&format!("{array}_copy -> no reason layout-chosen({array}_copy)")))
}

/// The small programs behind `P1 no ; P2 no ; ..`, with the array they are about and the reason.
const SAFETY: &[(&str, &str, &str, &str)] = &[
    (
        "P1",
        "let ys = kernel j < n do let v : f32 = f(j) in v
         let xs2 = xs with [i, 0 :+ n * 1] = ys
         let zs = kernel j2 < n do let w = ys[j2] in w",
        "ys",
        "not-last-use",
    ),
    (
        "P2",
        "let xs0 = replicate [4][4] 1f32
         let xs2 = xs0 with [i, 0 :+ n * 1] = ys",
        "ys",
        "block-not-in-scope",
    ),
    (
        "P3",
        "let ys = kernel j < n do let v : f32 = f(j) in v
         let zs = kernel j2 < n do let w = xs[i, j2] in w
         let xs2 = xs with [i, 0 :+ n * 1] = ys",
        "ys",
        "overlap(write ys j+4, use xs j2+4, witness 4)",
    ),
    (
        "P4",
        "let zs = kernel j < n, k < n do let v : f32 = f(j, k) in v
         let row = zs[i]
         let xs2 = xs with [i, 0 :+ n * 1] = row",
        "row",
        "not-invertible(zs,row)",
    ),
    (
        "P5",
        "let t0 = kernel j < n do let u : i64 = g(j) let v = u % 8 in v
         let i1 = t0[i]
         let t2 = t1 with [i1, 0 :+ n * 1] = t0",
        "t0",
        "ixfn-not-available(i1)",
    ),
    (
        "P6",
        "let a = kernel j < n do let v : f32 = f(j) in v
         let b = kernel k < n do let w : f32 = f(k) in w
         let c = if i < z then in a else in b
         let xs2 = xs with [i, 0 :+ n * 1] = c",
        "c",
        "two-live-sources",
    ),
    (
        "P7",
        "let b0 = scratch [4] f32
         let b1 = b0 with [1 :+ 2 * 1] = line[6 :+ 2 * 1]
         let line2 = line with [0 :+ 4 * 1] = b1",
        "b1",
        "yes",
    ),
    (
        "P8",
        "let b0 = scratch [4] f32
         let b1 = b0 with [1 :+ 2 * 1] = line[2 :+ 2 * 1]
         let line2 = line with [0 :+ 4 * 1] = b1",
        "b1",
        "overlap(write b1 1 + {(2:1)}, use line 2 + {(2:1)}, witness 2)",
    ),
];

/// `P1 no ; P2 no ; ..`
fn safety(line: &str) -> Result<Option<String>, String> {
    let env = "size n = 4, i = 1, z = 2
        array xs : [n][n]f32 rc 1
        array ys : [n]f32 rc 1
        array line : [10]f32 rc 1
        array t1 : [8][n]i64 rc 1";
    let mut found = Vec::new();
    for (name, text, array, wanted) in SAFETY {
        // A parameter of that name would hide the array of the program.
        let env: String = env
            .lines()
            .filter(|l| *name == "P2" || !l.contains("array ys"))
            .map(|l| format!("{l}\n"))
            .collect();
        let (region, observed) = region_of(&env, text)?;
        confirm(&region, &observed, 12).map_err(|error| format!("{name}: {error}"))?;
        let (computed, text) = report(&region, &observed);
        let yes = computed.iter().any(|line| line.starts_with(&format!("{array} -> yes block ")));
        let no = computed.contains(&format!("{array} -> no reason {wanted}"));
        if yes != (*wanted == "yes") || no == yes {
            return Err(format!("{name}: {array} {wanted}?\n{text}"));
        }
        found.push(format!("{name} {}", if yes { "yes" } else { "no" }));
    }
    let found = found.join(" ; ");
    Ok((line == found).then_some(found))
}
