//! The golden cases of the algebra: every `EXPECT lmad`, `EXPECT disjoint` and `EXPECT verify` line of the case
//! files, computed and compared; disjointness is compared with enumeration as well.

#[path = "cases/expression.rs"]
mod expression;

use galopvm_testkit::cases::{Case, Line, Section, all};
use std::collections::BTreeSet;

use expression::{Environment, Value, evaluate};
use galopvm_lmad::{Lmad, Overlap, disjoint};

/// How many lines of each kind were checked, how many instances those of `forall` lines stand for, and what failed.
#[derive(Default)]
struct Tally {
    lmad: usize,
    disjoint: usize,
    instances: usize,
    verify: usize,
    failures: Vec<String>,
}

/// The sizes an ENV section names; later ones may use earlier ones.
fn sizes(sections: &[Section]) -> Result<Environment, String> {
    let mut sizes = Environment::new();
    let env = sections.iter().filter(|section| section.header == "ENV").flat_map(|section| &section.lines);
    for line in env {
        for definition in line.text.strip_prefix("size ").into_iter().flat_map(|list| list.split(',')) {
            let (name, value) = definition.split_once('=').ok_or_else(|| format!("no size: {definition}"))?;
            let value = evaluate(value, &sizes)?;
            sizes.insert(name.trim().to_string(), value);
        }
    }
    Ok(sizes)
}

/// Checks `name = expression => value` (which binds the name) or `expression => value`.
fn check_lmad(line: &str, names: &mut Environment) -> Result<(), String> {
    let (expression, expected) = line.split_once("=>").ok_or("no =>")?;
    let definition =
        expression.split_once('=').filter(|(name, _)| name.trim().chars().all(char::is_alphanumeric));
    let value = evaluate(definition.map_or(expression, |(_, expression)| expression), names)?;
    let found = value.to_string();
    if let Some((name, _)) = definition {
        names.insert(name.trim().to_string(), value);
    }
    if let Ok(view) = expected.trim().parse::<Lmad>()
        && view.rank() > 0
        && view.to_string() != expected.trim()
    {
        return Err(format!("{view} is not printed as it was read"));
    }
    if found == expected.trim() { Ok(()) } else { Err(format!("found {found}")) }
}

/// The environments a quantifier `v in a..b, w=e where c` goes over.
fn instances(quantifier: &str, sizes: &Environment) -> Result<Vec<Environment>, String> {
    let (bindings, condition) = match quantifier.split_once(" where ") {
        Some((bindings, condition)) => (bindings, Some(condition)),
        None => (quantifier, None),
    };
    let mut all = vec![sizes.clone()];
    for binding in bindings.split(", ") {
        let mut next = Vec::new();
        for names in &all {
            let (name, low, high) = if let Some((name, range)) = binding.split_once(" in ") {
                let (low, high) = range.split_once("..").ok_or_else(|| format!("no range: {range}"))?;
                (name, evaluate(low, names)?.int()?, evaluate(high, names)?.int()?)
            } else {
                let (name, value) =
                    binding.split_once('=').ok_or_else(|| format!("no binding: {binding}"))?;
                let value = evaluate(value, names)?.int()?;
                (name, value, value)
            };
            next.extend((low..=high).map(|value| {
                let mut names = names.clone();
                names.insert(name.trim().to_string(), Value::Int(value));
                names
            }));
        }
        all = next;
    }
    let mut kept = Vec::new();
    for names in all {
        let holds = match condition {
            Some(condition) => evaluate(condition, &names)?.int()? != 0,
            None => true,
        };
        if holds {
            kept.push(names);
        }
    }
    Ok(kept)
}

/// Checks `[forall quantifier ;] A # B => empty | overlap [witness k]`; answers how many instances that was.
fn check_disjoint(line: &str, sizes: &Environment) -> Result<usize, String> {
    let (claim, verdict) = line.split_once(" => ").ok_or("no =>")?;
    let (quantified, pair) = match claim.strip_prefix("forall ") {
        Some(rest) => {
            let (quantifier, pair) = rest.split_once(" ; ").ok_or("no ; after forall")?;
            (instances(quantifier, sizes)?, pair)
        }
        None => (vec![sizes.clone()], claim),
    };
    let (left, right) = pair.split_once(" # ").ok_or("no #")?;
    let least = match verdict.strip_prefix("overlap witness ") {
        Some(place) => Some(place.parse::<i64>().map_err(|error| error.to_string())?),
        None if verdict == "empty" || verdict == "overlap" => None,
        None => return Err(format!("unknown verdict {verdict}")),
    };
    for names in &quantified {
        let (left, right) = (evaluate(left, names)?, evaluate(right, names)?);
        let (left, right) = (left.view()?, right.view()?);
        let places: BTreeSet<i64> = left.places().collect();
        let common: BTreeSet<i64> = right.places().filter(|place| places.contains(place)).collect();
        let found = disjoint(left, right);
        let agrees = match found {
            Overlap::Disjoint => verdict == "empty" && common.is_empty(),
            Overlap::Overlap { witness } => verdict != "empty" && common.contains(&witness),
            Overlap::Unknown => false,
        };
        if !agrees || disjoint(right, left) == Overlap::Unknown {
            return Err(format!("{left} # {right} is {found:?}, common places {common:?}"));
        }
        if least.is_some_and(|least| common.first() != Some(&least)) {
            return Err(format!("least common place {:?}", common.first()));
        }
    }
    if quantified.is_empty() { Err("no instance".to_string()) } else { Ok(quantified.len()) }
}

/// Checks `V on block of n elements : ok | out of bounds [(low) | (needs k)] [; on n : ..]`.
fn check_verify(line: &str, names: &Environment) -> Result<(), String> {
    let (name, claims) = line.split_once(" on block of ").ok_or("no block")?;
    let view = evaluate(name, names)?;
    let view = view.view()?;
    let (low, high) = view.bounds().ok_or("an empty view fits everywhere")?;
    for claim in claims.split(" ; ") {
        let (block, verdict) = claim.split_once(" : ").ok_or("no verdict")?;
        let digits = block.trim_start_matches("on ").trim_end_matches(" elements");
        let block: i64 = digits.parse().map_err(|error| format!("{digits}: {error}"))?;
        let reason = verdict.strip_prefix("out of bounds").map(str::trim);
        if view.fits(block) != reason.is_none() {
            return Err(format!("fits({block}) is {}", view.fits(block)));
        }
        let reason_holds = match reason {
            None if verdict == "ok" => true,
            Some("") => true,
            Some("(low)") => low < 0,
            Some(needs) => needs == format!("(needs {})", high + 1),
            None => false,
        };
        if !reason_holds {
            return Err(format!("{verdict}: places {low}..{high}"));
        }
    }
    Ok(())
}

fn check_case(case: &Case, tally: &mut Tally) -> Result<(), String> {
    let sizes = sizes(&case.sections)?;
    let mut names = sizes.clone();
    for section in &case.sections {
        for Line { number, text } in &section.lines {
            let words: Vec<&str> = text.split_whitespace().collect();
            let line = words.join(" ");
            let outcome = match section.header.as_str() {
                "EXPECT lmad" => {
                    tally.lmad += 1;
                    check_lmad(&line, &mut names)
                }
                "EXPECT disjoint" => {
                    tally.disjoint += 1;
                    check_disjoint(&line, &sizes).map(|count| tally.instances += count)
                }
                "EXPECT verify" => {
                    tally.verify += 1;
                    check_verify(&line, &names)
                }
                _ => continue,
            };
            if let Err(reason) = outcome {
                tally.failures.push(format!("line {number}: {line}\n    {reason}"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_line_of_the_cases() {
    let mut tally = Tally::default();
    let files = all();
    for file in &files {
        let before = tally.failures.len();
        if let Err(reason) = check_case(file, &mut tally) {
            tally.failures.push(reason);
        }
        for failure in &mut tally.failures[before..] {
            *failure = format!("{}: {failure}", file.name);
        }
    }
    println!(
        "{} files: {} lmad lines, {} disjoint lines ({} instances), {} verify lines",
        files.len(),
        tally.lmad,
        tally.disjoint,
        tally.instances,
        tally.verify
    );
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    // A reader that skips lines would pass everything: so many were there when this was written.
    let counts = [files.len(), tally.lmad, tally.disjoint, tally.instances, tally.verify];
    let least = [86, 179, 56, 8525, 3];
    assert!(counts.iter().zip(least).all(|(&count, least)| count >= least), "{counts:?} below {least:?}");
}
