//! The `EXPECT class` lines of the golden cases: how an access lies in memory along a lane.

use galopvm_analysis::access::{Access, accesses};
use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::walk::Part;
use galopvm_kir::{Region, VarId, types, verify};
use std::fs;
use std::path::Path;

/// The lines of a section, without the leading blanks.
fn section<'a>(case: &'a str, header: &str) -> Option<Vec<&'a str>> {
    let mut lines = case.lines().skip_while(|line| line.trim_end() != header);
    lines.next()?;
    Some(lines.take_while(|line| !line.starts_with(|c: char| c.is_ascii_uppercase())).collect())
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

#[test]
fn classes_of_the_golden_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the golden cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let (mut checked, mut skipped, mut failures) = (0, Vec::new(), Vec::new());
    for file in files {
        let case = fs::read_to_string(&file).expect("a case");
        let Some(expected) = section(&case, "EXPECT class") else { continue };
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = |header| section(&case, header).unwrap_or_default().join("\n");
        let (known, observed) = parse_env(&text("ENV")).expect("ENV parses, as vm/kir checks");
        let mut region = parse_region_in(known, &text("INPUT")).expect("INPUT parses, as vm/kir checks");
        types::infer(&mut region);
        let region = match verify(region) {
            Ok(region) => region,
            Err(errors) => {
                skipped.push(format!("{name}: {}", errors[0]));
                continue;
            }
        };
        let table = accesses(&region, &observed);
        for line in expected.iter().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("--")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [array, access, "lane", lane, "=", class] = words[..] else {
                failures.push(format!("{name}: cannot read `{line}`"));
                continue;
            };
            let code = region.region();
            let found = named(code, &table, array, access)
                .zip(var(code, lane))
                .map(|(access, lane)| access.step(lane).class().to_string());
            match found {
                Some(found) if found == class => checked += 1,
                other => failures.push(format!("{name}: {line}: {other:?}")),
            }
        }
    }
    println!("{checked} lines; not verifiable: {skipped:#?}");
    assert!(failures.is_empty(), "{checked} agree, but\n{}", failures.join("\n"));
    assert!(checked >= 10, "only {checked} lines were checked; not verifiable: {skipped:#?}");
}
