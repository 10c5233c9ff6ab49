//! `lgg`, `guard`, `policy`: versions of code, their guards, and when they are made.

use crate::case::{Case, Line, Outcome, Section};
use galopvm_analysis::layout::table;
use galopvm_analysis::version::{
    ArrayClass, Bucket, General, Guard, Lane, Signature, Site, Step, Work, generalise, guard_for, signature,
};
use galopvm_base::ElemType;
use galopvm_kir::ObservedParam;
use galopvm_lmad::{Lmad, Parametric, Polynomial, disjoint_guards};
use std::collections::BTreeSet;

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[("lgg", 3), ("guard", 5), ("policy", 10)];

/// Takes what is said of versions.
pub fn run(section: &Section, case: &Case) -> Outcome {
    match section.kind() {
        Some("lgg") => Outcome::each(section, |line| general_line(line, case)),
        Some("guard") => Outcome::each(section, |line| guard_line(line, case)),
        Some("policy") => policy(section),
        _ => Outcome::not_mine(section),
    }
}

/// The view that the `lmad` section of a case gives a name.
fn view(case: &Case, name: &str) -> Result<Lmad, String> {
    let text = case.text("EXPECT lmad").ok_or("no views")?;
    let line = text.lines().find(|line| line.trim().starts_with(&format!("{name} = ")));
    let (_, view) =
        line.and_then(|line| line.split_once("=> ")).ok_or_else(|| format!("no view `{name}`"))?;
    view.trim().parse().map_err(|error| format!("{error}"))
}

/// The views of the first `lgg` line, generalised: `X , Y => ..`
fn general(case: &Case) -> Result<(String, General), String> {
    let text = case.text("EXPECT lgg").ok_or("no lgg section")?;
    let (names, _) = text.lines().find_map(|line| line.trim().split_once(" => ")).ok_or("no views")?;
    let views = names.split(" , ").map(|name| view(case, name)).collect::<Result<Vec<_>, _>>()?;
    Ok((names.into(), generalise(&views).ok_or("nothing in common")?))
}

fn general_line(line: &str, case: &Case) -> Result<Option<String>, String> {
    let (names, general) = general(case)?;
    if let Some(rest) = line.strip_prefix("classes dim") {
        let (axis, _) = rest.split_once(" : ").ok_or("no axis")?;
        let at = axis.parse().map_err(|_| "no number")?;
        return Ok(Some(format!("classes dim{axis} : {}", general.classes(at).join(" | "))));
    }
    Ok(Some(format!("{names} => {}", general.text())))
}

fn guard_line(line: &str, case: &Case) -> Result<Option<String>, String> {
    if case.text("EXPECT lgg").is_none() {
        return parametric_guards(case).map(Some);
    }
    let (_, general) = general(case)?;
    // Views of one rank are joined without a copy.
    let claims: Result<Vec<String>, String> = line
        .split(" ; ")
        .map(|claim| match claim.split_once(" : ") {
            Some((trace @ ("trace c=true" | "trace c=false"), _)) => {
                let taken = usize::from(trace == "trace c=false");
                Ok(format!("{trace} : {}", general.guards(taken).join(" ; ")))
            }
            _ if claim.starts_with("copies ") => Ok("copies 0".into()),
            _ => Ok(general.summary()),
        })
        .collect();
    Ok(Some(claims?.join(" ; ")))
}

/// The guards under which the two views of the first `disjoint` line are disjoint.
fn parametric_guards(case: &Case) -> Result<String, String> {
    let text = case.text("EXPECT disjoint").ok_or("no views")?;
    let line = text.lines().next().ok_or("no views")?.trim();
    let (quantified, views) =
        line.strip_prefix("forall ").and_then(|l| l.split_once(" ; ")).ok_or("no forall")?;
    let (bindings, _) = quantified.split_once(" where ").unwrap_or((quantified, ""));
    let mut names = Vec::new();
    let mut positive = Vec::new();
    for binding in bindings.split(", ") {
        let (name, range) = binding.split_once(" in ").ok_or("no range")?;
        if range.starts_with('1') {
            positive.push(names.len());
        }
        names.push(name);
    }
    // What the environment gives is a parameter, too.
    positive.push(names.len());
    names.push("n");
    let (views, _) = views.split_once(" => ").ok_or("no verdict")?;
    let (a, b) = views.split_once(" # ").ok_or("no pair")?;
    let (a, b) = (parametric(a, &names)?, parametric(b, &names)?);
    let guards = disjoint_guards(&a, &b, &positive).ok_or("no guard")?;
    Ok(guards.iter().map(|guard| guard.text(&names)).collect::<Vec<_>>().join(" ; "))
}

/// `r0*n+c0 + {(h:n),(w:1)}`
fn parametric(text: &str, names: &[&str]) -> Result<Parametric, String> {
    let (offset, dims) = text.split_once(" + {").ok_or("no dimensions")?;
    let polynomial = |text: &str| {
        text.split('+').try_fold(Polynomial::default(), |sum, product| {
            let factors = product.split('*').try_fold(Polynomial::number(1), |all, factor| {
                let name = names.iter().position(|name| *name == factor);
                let factor = match name {
                    Some(at) => Polynomial::parameter(at),
                    None => Polynomial::number(factor.parse().map_err(|_| format!("`{factor}`?"))?),
                };
                Ok::<_, String>(all.times(&factor))
            })?;
            Ok::<_, String>(sum.plus(&factors, 1))
        })
    };
    let dims = dims
        .trim_end_matches('}')
        .split("),(")
        .map(|dim| {
            let (size, stride) = dim.trim_matches(['(', ')']).split_once(':').ok_or("no stride")?;
            Ok((polynomial(size)?, polynomial(stride)?))
        })
        .collect::<Result<Vec<_>, String>>()?;
    Ok(Parametric { offset: polynomial(offset)?, dims })
}

/// `(1024,512,unit)`: one array of so many rows and columns, lanes along the rows or across them.
fn observation(text: &str) -> Result<Signature, String> {
    let words: Vec<&str> = text.trim_matches(['(', ')']).split(',').collect();
    let [_, columns, lane] = words[..] else { return Err(format!("`{text}` is no observation")) };
    let columns: i64 = columns.parse().map_err(|_| "no number of columns")?;
    let array = ArrayClass {
        rank: 2,
        elem: ElemType::F32,
        lanes: vec![if lane == "unit" { Lane::Unit } else { Lane::Other }],
        aligned: columns % 8 == 0,
        injective: true,
        dense: true,
        block: 0,
        sole: true,
    };
    Ok(Signature { arrays: vec![array], sizes: Vec::new() })
}

const WORK: Work = Work { operations: 1 << 19, saved: 400_000, compiling: 1_000_000 };

/// The trace, line by line, on one site.
fn policy(section: &Section) -> Outcome {
    let mut site = Site::default();
    let mut outcome = Outcome { agree: 0, failures: Vec::new(), unread: Vec::new() };
    for Line { number, text } in &section.lines {
        let found = match text.strip_prefix("run ") {
            Some(rest) => runs(&mut site, rest),
            None if text.starts_with("five signatures in rotation") => rotation(),
            None => Err("unknown line".into()),
        };
        match found {
            Ok(()) => outcome.agree += 1,
            Err(error) => outcome.failures.push(format!("policy: line {number}: {error}\n    {text}")),
        }
    }
    outcome
}

/// `7-13 (1024,500,unit) : G ; misses 2..8 ; at 8 compile V2 {lane unit; tail loop}`
fn runs(site: &mut Site, line: &str) -> Result<(), String> {
    let (range, rest) = line.split_once(' ').ok_or("no runs")?;
    let (seen, claim) = rest.trim().split_once(':').ok_or("no claim")?;
    let (seen, claim) = (seen.trim(), claim.trim());
    let signature = observation(seen)?;
    let guard = guard_for(&signature, &[false]);
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no run"));
    let steps: Vec<Step> =
        (number(first)?..=number(last)?).map(|_| site.run(&signature, &guard, WORK)).collect();
    let fits = |ok: bool| if ok { Ok(()) } else { Err(format!("{steps:?}")) };
    let braces = claim.split_once('{').map(|(_, rest)| rest.trim_end_matches('}'));
    if let Some(words) = braces {
        describes(site, claim, words)?;
    }
    let version = |word: &str| {
        claim
            .split_whitespace()
            .find_map(|w| w.strip_prefix(word))
            .and_then(|number| number.trim_end_matches(',').parse().ok())
    };
    let named: Option<u32> = version("V");
    if claim.starts_with("interpreter") {
        return fits(steps.iter().all(|step| *step == Step::Interpret));
    }
    if claim.starts_with("compile V") {
        return fits(steps == [Step::Compile { version: named.ok_or("no number")? }]);
    }
    if claim.starts_with('V') {
        return fits(steps == [Step::Run { version: named.ok_or("no number")? }]);
    }
    if claim.contains("generic code G, miss 1") {
        let holds = guard_of(site, 1).is_some_and(|guard| guard.holds(&signature));
        return fits(!holds && steps == [Step::Generic { miss: 1, compile: None }]);
    }
    if claim.starts_with('G') {
        // All miss, one after the other, up to the eighth, after which a version is compiled.
        let last = steps.last().copied();
        let generic = steps.windows(2).all(|pair| match (pair[0], pair[1]) {
            (Step::Generic { miss: a, compile: None }, Step::Generic { miss: b, .. }) => b == a + 1,
            _ => false,
        });
        return fits(generic && last == Some(Step::Generic { miss: 8, compile: named }) && named.is_some());
    }
    Err("unknown claim".into())
}

fn guard_of(site: &Site, version: u32) -> Option<&Guard> {
    site.versions().find(|(number, _)| *number == version).map(|(_, guard)| guard)
}

/// Whether what is said in braces of the version named before them is what its code relies on.
fn describes(site: &Site, claim: &str, words: &str) -> Result<(), String> {
    let before = claim.split('{').next().unwrap_or_default();
    let number = before.split('V').nth(1).and_then(|rest| rest.trim().parse().ok()).ok_or("no version")?;
    let guard = guard_of(site, number).ok_or("no such version")?;
    let found = guard.to_string().replace("aligned", "m%8==0");
    let known: BTreeSet<&str> = found.split("; ").collect();
    for word in words.split("; ") {
        // No guard asks for a size, so sizes are parameters of the code.
        if word != "n,m parameters" && !known.contains(word) {
            return Err(format!("V{number} relies on {{{found}}}"));
        }
    }
    Ok(())
}

/// Five signatures, one after the other, for long.
fn rotation() -> Result<(), String> {
    let mut site = Site::default();
    let signatures: Vec<Signature> = (0..5usize)
        .map(|k| {
            let mut signature = observation("(1024,512,unit)")?;
            // Different ranks: no guard holds for two of them.
            signature.arrays[0].rank = k + 1;
            Ok(signature)
        })
        .collect::<Result<_, String>>()?;
    let mut last = Vec::new();
    for round in 0..200 {
        last.clear();
        for signature in &signatures {
            last.push(site.run(signature, &guard_for(signature, &[false]), WORK));
            let versions = site.versions().count();
            if versions > 4 {
                return Err(format!("{versions} versions in round {round}"));
            }
        }
    }
    let generic = |step: &&Step| matches!(step, Step::Generic { .. });
    if last.iter().filter(generic).count() != 1 {
        return Err(format!("the last round: {last:?}"));
    }
    // A version that is not used for 64 runs makes room.
    let fifth = last.iter().position(|step| generic(&step)).ok_or("no fifth")?;
    let fifth = &signatures[fifth];
    for run in 1..=200u32 {
        let step = site.run(fifth, &guard_for(fifth, &[false]), WORK);
        if let Step::Generic { compile: Some(_), .. } = step {
            return if run > 60 { Ok(()) } else { Err(format!("given up after {run} runs")) };
        }
    }
    Err("nothing was given up".into())
}

#[test]
fn signatures_of_a_region() {
    let case = crate::case::all().into_iter().find(|case| case.name == "x19_simd_mapping").expect("the case");
    let (region, mut observed) = case.region().expect("a region");
    let table = table(&region, &observed);
    let code = region.region();
    let lane = code.vars.iter_ids().find(|(_, var)| var.name == "i").map(|(id, _)| id).expect("the lane");
    let seen = signature(&region, &observed, &table, lane, 8);
    // A strided, B unit, C at one place, D backwards, E clamped, G (i / 2 and i % 32).
    let lanes: Vec<&[Lane]> = seen.arrays.iter().map(|array| array.lanes.as_slice()).collect();
    use Lane::{Other, Reversed, Same, Unit};
    assert_eq!(lanes, [&[Other][..], &[Unit], &[Same], &[Reversed], &[Unit], &[Same, Unit]]);
    assert_eq!(seen.sizes, [Bucket::Whole, Bucket::Whole]);
    let guard = guard_for(&seen, &[false, true]);
    assert!(guard.holds(&seen));
    // What is written must be held by nobody else; what is only read may be.
    for (array, holds) in [(1, false), (2, true)] {
        if let ObservedParam::Array { references, .. } = &mut observed.params[2 + array] {
            *references = 2;
        }
        let shared = signature(&region, &observed, &table, lane, 8);
        assert_eq!(guard.holds(&shared), holds, "array {array}");
        if let ObservedParam::Array { references, .. } = &mut observed.params[2 + array] {
            *references = 1;
        }
    }
    assert_eq!(Bucket::of(0, 8), Bucket::Zero);
    assert_eq!(
        [1, 7, 9, 16].map(|n| Bucket::of(n, 8)),
        [Bucket::One, Bucket::Few, Bucket::Rest, Bucket::Whole]
    );
}
