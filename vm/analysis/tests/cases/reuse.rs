//! `reuse`, `reuse-text`, `refcount`, `decisions`, `values`: writing a kernel's result over an array it reads.
//!
//! Sets are compared as sets; a `candidates` line is confirmed by running the kernel over each array, in random
//! orders of its iterations.

use crate::case::{Outcome, region};
use crate::inplace;
use galopvm_analysis::reuse::{
    ArrayReuse, Choice, Effort, Fresh, Holding, Reuse, Verdict, analyse, choose, decide, outcome,
};
use galopvm_kir::{CheckedRegion, Observed, Region};
use galopvm_lmad::{Lmad, Union};
use galopvm_testkit::cases::{Case, Section};
use std::collections::BTreeSet;

/// What this group takes.
pub const LINES: &[(&str, usize)] =
    &[("reuse", 38), ("reuse-text", 1), ("refcount", 3), ("decisions", 7), ("values", 4)];

/// Takes what is said of reuse.
pub fn run(section: &Section, case: &Case) -> Outcome {
    match section.kind() {
        Some("reuse") => match Subject::of(case) {
            Ok(subject) => Outcome::each(section, |line| subject.sets(line)),
            Err(error) => Outcome::whole(section, Err(error)),
        },
        Some("reuse-text") => {
            let computed = Subject::of(case).map(|subject| vec![subject.summary()]);
            Outcome::whole(section, computed)
        }
        Some("refcount") => match Subject::of(case) {
            Ok(subject) => Outcome::each(section, |line| subject.counts(line)),
            Err(error) => Outcome::whole(section, Err(error)),
        },
        Some("decisions") => Outcome::each(section, decision),
        Some("values") if case.text("INPUT").is_some() => Outcome::each(section, |line| values(line, case)),
        Some("values") => Outcome::each(section, |line| flattened(line, case)),
        _ => Outcome::not_mine(section),
    }
}

/// The last kernel of a case, analysed.
struct Subject {
    region: CheckedRegion,
    observed: Observed,
    reuse: Reuse,
}

impl Subject {
    fn of(case: &Case) -> Result<Subject, String> {
        let (region, observed) = region(case)?;
        let stm = region.region().body.stms.last().ok_or("no statement")?;
        let reuse =
            analyse(region.region(), &observed, stm, 0, Effort::Quick).ok_or("not a kernel of known size")?;
        Ok(Subject { region, observed, reuse })
    }

    fn code(&self) -> &Region {
        self.region.region()
    }

    fn array(&self, name: &str) -> Result<&ArrayReuse, String> {
        let find = |reuse: &&ArrayReuse| self.code().name_of(reuse.array) == name;
        self.reuse.arrays.iter().find(find).ok_or_else(|| format!("`{name}` is not read"))
    }

    fn sets(&self, line: &str) -> Result<Option<String>, String> {
        let (what, expected) = line.split_once(" =").ok_or("no =")?;
        let words: Vec<&str> = what.split(' ').collect();
        let found = match words[..] {
            [kind @ ("RDS" | "CDS" | "MOD"), name] => {
                let reuse = self.array(name)?;
                let set = match kind {
                    "RDS" => &reuse.read,
                    "CDS" => &reuse.copied,
                    _ => &reuse.changed,
                };
                if places(set) == listed(expected)? { expected.trim().into() } else { set.to_string() }
            }
            ["candidates"] => {
                for reuse in &self.reuse.arrays {
                    let keeps = inplace::keeps_its_value(&self.region, &self.observed, reuse.array)?;
                    if keeps != (reuse.verdict == Verdict::Candidate) && !reuse.copied.is_empty() {
                        let name = self.code().name_of(reuse.array);
                        return Err(format!("run over `{name}`, the value is kept: {keeps}"));
                    }
                }
                let names: Vec<&str> =
                    self.reuse.candidates().map(|reuse| self.code().name_of(reuse.array)).collect();
                names.join(" ")
            }
            ["choice"] => {
                let choice = choose(self.reuse.candidates()).ok_or("no candidate")?;
                self.code().name_of(choice.array).into()
            }
            ["conflict", name] => match self.array(name)?.verdict {
                Verdict::Conflict { place } => place.to_string(),
                verdict => verdict.to_string(),
            },
            _ => return Ok(None),
        };
        let text = self.reuse.text(self.code());
        if !what.starts_with("CDS") && !text.lines().any(|line| line.starts_with(what)) {
            return Err(format!("the report has no such line:\n{text}"));
        }
        Ok(Some(format!("{what} = {found}").trim_end().into()))
    }

    /// `A no reason data-index ; b yes ; CDS b = ..`
    fn summary(&self) -> String {
        let name = |reuse: &ArrayReuse| self.code().name_of(reuse.array).to_string();
        let mut parts: Vec<String> =
            self.reuse.arrays.iter().map(|reuse| format!("{} {}", name(reuse), reuse.verdict)).collect();
        parts.extend(self.reuse.candidates().map(|reuse| format!("CDS {} = {}", name(reuse), reuse.copied)));
        parts.join(" ; ")
    }

    fn counts(&self, line: &str) -> Result<Option<String>, String> {
        if line.starts_with("paths : ") {
            return Ok(Some(format!("paths : {}", self.reuse.paths_text(self.code()))));
        }
        let parts = line.split(" ; ").map(|part| {
            if let Some((rc, _)) = part.split_once(" : ") {
                return Ok(format!("{rc} : {}", self.outcome(rc)?));
            }
            let (holdings, _) = part.split_once(" -> ").ok_or("no ->")?;
            Ok(format!("{holdings} -> {}", self.chosen(holdings)?))
        });
        Ok(Some(parts.collect::<Result<Vec<_>, String>>()?.join(" ; ")))
    }

    /// `rc 2`, of the only array.
    fn outcome(&self, rc: &str) -> Result<String, String> {
        let [reuse] = &self.reuse.arrays[..] else { return Err("several arrays".into()) };
        let holding = Holding { references: references(rc)?, ..Holding::SOLE };
        Ok(outcome(reuse, decide(reuse.verdict == Verdict::Candidate, &holding)))
    }

    /// `a rc 2, b rc 1`; last uses unless it says otherwise.
    fn chosen(&self, holdings: &str) -> Result<String, String> {
        let mut left: Vec<&ArrayReuse> = Vec::new();
        for holding in holdings.split(", ") {
            let (name, rc) = holding.split_once(' ').ok_or("no name")?;
            let rc = rc.strip_suffix(" last-use yes").unwrap_or(rc);
            let reuse = self.array(name)?;
            let holding = Holding { references: references(rc)?, ..Holding::SOLE };
            if let Choice::InPlace { .. } = decide(reuse.verdict == Verdict::Candidate, &holding) {
                left.push(reuse);
            }
        }
        Ok(match choose(left.into_iter()) {
            Some(reuse) => format!("reuse {}", self.code().name_of(reuse.array)),
            None => "fresh block, no copy saved".into(),
        })
    }
}

fn references(rc: &str) -> Result<u32, String> {
    let number = rc.strip_prefix("rc ").ok_or("no count")?;
    number.parse().map_err(|_| format!("`{number}` is no count"))
}

fn places(set: &Union) -> BTreeSet<i64> {
    set.members().iter().flat_map(Lmad::places).collect()
}

fn listed(text: &str) -> Result<BTreeSet<i64>, String> {
    let mut all = BTreeSet::new();
    for member in text.trim().split(" U ").filter(|member| *member != "{}") {
        let view: Lmad = member.parse().map_err(|error| format!("{error}"))?;
        all.extend(view.places());
    }
    Ok(all)
}

/// `static candidate, rc 1, last use -> in place`
fn decision(line: &str) -> Result<Option<String>, String> {
    let (facts, _) = line.split_once("->").ok_or("no ->")?;
    let mut holding = Holding::SOLE;
    let mut candidate = true;
    for fact in facts.trim().split(", ") {
        match fact {
            "static candidate" | "rc 1" | "last use" | "other views dead" => {}
            "not a candidate" => candidate = false,
            "not last use" => holding.last_use = false,
            "rc 2" => holding.references = 2,
            "view of a bigger block with rc 1" => holding.part_of_block = true,
            "self-overlapping LMAD" => holding.injective = false,
            "block owned by the embedding program" => holding.borrowed = true,
            _ => return Ok(None),
        }
    }
    let choice = decide(candidate, &holding);
    if holding.borrowed {
        // "Unless passed as unique" is a claim of its own.
        let passed = decide(candidate, &Holding { borrowed: false, ..holding });
        if !matches!((choice, passed), (Choice::Fresh(Fresh::Borrowed), Choice::InPlace { .. })) {
            return Err(format!("{choice}; passed as unique: {passed}"));
        }
    }
    Ok(Some(format!("{facts}-> {choice}")))
}

/// `[[1,2,3],[4,5,6]] -> [[2,3,4],[4,5,6]]`: the value of the kernel, computed plainly and in place.
fn values(line: &str, case: &Case) -> Result<Option<String>, String> {
    let Some((input, _)) = line.split_once(" -> ") else { return Ok(None) };
    let (region, observed) = region(case)?;
    Ok(Some(format!("{input} -> {}", inplace::value_of(&region, &observed, input)?)))
}

/// `A = 1 2 3 4 5 6 ; flatten(transpose A) = ..`: the copy that makes `D` from `T`, views that the case has.
fn flattened(line: &str, case: &Case) -> Result<Option<String>, String> {
    let Some((given, _)) = line.split_once(" ; flatten(transpose A) = ") else { return Ok(None) };
    let elements: Vec<&str> = given.trim_start_matches("A = ").split(' ').collect();
    let views = case.text("EXPECT lmad").ok_or("no views")?;
    let view = |name: &str| -> Result<Lmad, String> {
        let line =
            views.lines().find(|line| line.trim().starts_with(&format!("{name} = "))).ok_or("no view")?;
        let (_, view) = line.split_once("=> ").ok_or("no value")?;
        view.trim().parse().map_err(|error| format!("{error}"))
    };
    let (to, from) = (view("D")?, view("T")?);
    let mut copied = vec!["?"; elements.len()];
    for (place, source) in to.places().zip(from.places()) {
        copied[place as usize] = elements[source as usize];
    }
    Ok(Some(format!("{given} ; flatten(transpose A) = {}", copied.join(" "))))
}
