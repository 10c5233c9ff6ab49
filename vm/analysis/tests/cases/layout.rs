//! Layout analysis: lane classes.

use crate::case::{Case, Outcome, Section};
use galopvm_analysis::access::{Access, accesses};
use galopvm_kir::walk::Part;
use galopvm_kir::{Region, VarId};

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[("class", 40)];

/// Takes `class`.
pub fn run(section: &Section, case: &Case) -> Outcome {
    match section.kind() {
        Some("class") => Outcome::each(section, |line| class(line, case).map(Some)),
        _ => Outcome::not_mine(section),
    }
}

/// `A x lane i = class`
fn class(line: &str, case: &Case) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [array, access, "lane", lane, "=", _] = words[..] else { return Err("cannot be read".into()) };
    let (region, observed) = case.region()?;
    let code = region.region();
    let table = accesses(&region, &observed);
    let found = named(code, &table, array, access).zip(var(code, lane)).ok_or("no such access")?;
    Ok(format!("{array} {access} lane {lane} = {}", found.0.step(found.1).class()))
}

fn var(region: &Region, name: &str) -> Option<VarId> {
    region.vars.iter_ids().find(|(_, var)| var.name == name).map(|(id, _)| id)
}

/// The access of `array` that a case calls `name`: of the statement that binds the name, or the k-th one of it
/// (`name#k`).
fn named<'a>(region: &Region, table: &'a [Access], array: &str, name: &str) -> Option<&'a Access> {
    let (name, number) = name.split_once('#').map_or((name, 1), |(n, k)| (n, k.parse().unwrap_or(1)));
    let (array, name) = (var(region, array)?, var(region, name)?);
    let mut reads = Vec::new();
    region.body.visit_stms(&mut |stm| {
        if stm.pat.contains(&name) {
            stm.rhs.each_part(&mut |part| {
                if let Part::Exp(exp) = part {
                    exp.visit(&mut |e| {
                        if let galopvm_kir::Exp::Read(read) = e {
                            reads.push(read.id);
                        }
                    });
                }
            });
        }
    });
    let read = if reads.len() == 1 { reads[0] } else { *reads.get(number - 1)? };
    table.iter().find(|access| access.read == read && access.array == array)
}
