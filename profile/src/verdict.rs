//! Who executed something, why nobody faster did, and what can be done about it, in words for people.
//!
//! Reasons come from whoever declined. The table here has plain words and advice for those that users meet; any other reason is
//! told as it is.

use super::record::Spent;
use crate::figures::shown;
use galopvm::{SiteReport, Tier, Way};
use galopvm_bytecode::{Instr, not_on_arrays, over_rows};
use galopvm_tier::Why;
use std::time::Duration;

/// The way into code and back is worth a word from so many launches on, if it is more than one of so many parts of the time in code.
const MANY: u64 = 100;
const WAY: u64 = 2;

/// From this time of a launch on, in nanoseconds, threads would be felt.
const LONG: u64 = 1_000_000;

/// The interpreter's part is worth a word if it is more than one of so many parts of that of the code.
const PART: u64 = 5;

/// A verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// Who executed it.
    pub executor: String,
    /// Why not somebody faster, or why it takes long all the same.
    pub because: Option<String>,
    /// What the user can do.
    pub advice: Option<&'static str>,
}

impl Verdict {
    /// Who, and why, as a part of a sentence.
    pub fn text(&self) -> String {
        let because = self.because.as_ref().map(|why| format!(", because {why}")).unwrap_or_default();
        format!("{}{because}", self.executor)
    }
}

/// Advice for those who have not done it.
const AGAIN: &str = "--runs 5 (in Python runs=5) measures it when its code is there";

const NUMBERS: &str =
    "make tuples of numbers of small arrays, and combine large ones element by element, with map2";

/// A reason: words that it has in it, what people are told instead, and what they can do.
struct Row(&'static str, &'static str, Option<&'static str>);

/// The first row that fits counts.
const REASONS: &[Row] = &[
    Row(
        "there is no back end",
        "the options leave no back end",
        Some("leave out --backend interp and --no jit"),
    ),
    Row("there is nothing to do", "there are no rows", None),
    Row(
        "too little work for a launch",
        "each time there is too little to do for compiled code",
        Some("do more at once: one operator over everything in the place of many small ones"),
    ),
    Row("not hot yet", "it had not run for long enough to be compiled", Some(AGAIN)),
    Row("being compiled", "its code was still being made", Some(AGAIN)),
    Row(
        "compiled code trapped",
        "its code met an index outside or a division by zero that the program does not use",
        Some("keep indices and divisors valid in every row"),
    ),
    Row(
        "arrays as values of",
        "it combines arrays, and only numbers are combined by compiled code",
        Some(NUMBERS),
    ),
    Row(
        "an operator that combines arrays",
        "it combines arrays, and only numbers are combined by compiled code",
        Some(NUMBERS),
    ),
    Row(
        "a reduction of scalars together with arrays",
        "it combines numbers together with arrays",
        Some("make two of it: one for the numbers, one for the arrays"),
    ),
    Row(
        "an operator on arrays that is not a map of its operands",
        "it combines arrays in a way that is not element by element",
        Some(NUMBERS),
    ),
    Row(
        "an array that comes out of",
        "an array comes out of a loop or a branch inside it",
        Some("let loops and branches inside it give numbers, or make the array outside"),
    ),
    Row(
        "rows whose extents are computed inside",
        "the size of its rows is computed inside it",
        Some("compute the size before it, the same for all rows"),
    ),
    Row("`filter`", "it has a filter inside", Some("filter once, outside: the flat array of all rows")),
    Row(
        "`partition`",
        "it has a partition inside",
        Some("partition once, outside: the flat array of all rows"),
    ),
    Row("`trace`", "it shows values", Some("take trace and break out")),
    Row("(recursion?)", "calls in it nest too deep for compiled code", Some("write a loop")),
    Row(
        "instructions, counting inlined",
        "it is too long for compiled code",
        Some("split it into several operators"),
    ),
    Row("it is mostly library functions", "it is mostly functions such as exp and sin", None),
    Row("the sizes do not satisfy", "these sizes are not those that its code is for", None),
];

/// What stands behind a reason.
fn plain(reason: &str) -> (String, Option<&'static str>) {
    match REASONS.iter().find(|row| reason.contains(row.0)) {
        Some(Row(_, plain, advice)) => ((*plain).into(), *advice),
        None => (reason.strip_prefix("not lifted: ").unwrap_or(reason).into(), None),
    }
}

/// Who may execute something.
#[derive(Clone, Copy)]
pub struct Executors {
    /// Threads that work may be divided among.
    pub threads: usize,
    /// Whether anybody makes code.
    pub compile: bool,
    /// Whether later runs, which have it, could be measured in place of these.
    pub is_first: bool,
}

/// What is said of an instruction that took this.
pub fn verdict(
    instr: Option<&Instr>,
    spent: &Spent,
    report: Option<&SiteReport>,
    executors: Executors,
) -> Verdict {
    let mut verdict = told(instr, spent, report, executors);
    verdict.advice = verdict.advice.filter(|advice| executors.is_first || *advice != AGAIN);
    verdict
}

/// What is said of an operator or a loop that is interpreted, since what is around it is: that one's reason counts.
pub fn inside(own: Verdict, around: &str, outer: Verdict) -> Verdict {
    match outer.because {
        Some(because) if own.because.as_ref() != Some(&because) => Verdict {
            executor: own.executor,
            because: Some(format!("the {around} is interpreted: {because}")),
            advice: outer.advice,
        },
        _ => own,
    }
}

fn told(instr: Option<&Instr>, spent: &Spent, report: Option<&SiteReport>, executors: Executors) -> Verdict {
    let in_code: u64 = spent.code.iter().map(|code| code.nanos).sum();
    match instr {
        Some(over_rows!(Instr)) => {}
        Some(Instr::For { .. } | Instr::While { .. }) if in_code == 0 => {
            return of_loop(spent, report, executors);
        }
        Some(Instr::For { .. } | Instr::While { .. }) => {}
        Some(Instr::Call { .. }) => {
            return Verdict {
                executor: "interpreted: numbers outside of operators and loops, and the way there and back"
                    .into(),
                because: None,
                advice: None,
            };
        }
        other => return of_elements(other),
    }
    match in_code == 0 {
        true => interpreted(spent, report),
        false => compiled(instr, spent, report, executors.threads, in_code),
    }
}

/// An instruction on whole arrays.
fn of_elements(instr: Option<&Instr>) -> Verdict {
    let (executor, advice) = match instr {
        Some(Instr::Iota { .. } | Instr::Replicate { .. }) => ("elements are written", None),
        Some(Instr::Equal { .. }) => ("elements are compared", None),
        Some(Instr::Rotate { .. }) => ("elements are copied", None),
        // The analysis of copies has a verdict on each of these.
        Some(
            Instr::Concat { .. }
            | Instr::Copy { .. }
            | Instr::Manifest { .. }
            | Instr::Update { .. }
            | Instr::FlatUpdate { .. }
            | Instr::Array { .. },
        ) => ("elements are copied", Some("galopvm explain says at its place why that is needed")),
        // These make no elements, and are not told of.
        Some(
            Instr::Dim { .. }
            | Instr::Index { .. }
            | Instr::Slice { .. }
            | Instr::Permute { .. }
            | Instr::Reverse { .. }
            | Instr::Reshape { .. }
            | Instr::FlatIndex { .. }
            | not_on_arrays!(),
        )
        | None => ("elements are copied", None),
    };
    Verdict { executor: executor.into(), because: None, advice }
}

/// A loop that the interpreter executed.
fn of_loop(spent: &Spent, report: Option<&SiteReport>, executors: Executors) -> Verdict {
    let reason = report.filter(|report| report.profile.tier == Tier::Interpreter);
    let reason = reason.map(|report| report.profile.reason.as_str()).filter(|reason| !reason.is_empty());
    if spent.ways.iter().any(|(way, _)| *way == Way::Unit) {
        // A loop that nobody asked for is no site yet.
        let unasked = if executors.compile { Why::LittleWork } else { Why::NoBackEnd };
        let (because, advice) = plain(reason.unwrap_or(unasked.text()));
        return Verdict { executor: "interpreted as flat code".into(), because: Some(because), advice };
    }
    Verdict {
        executor: "interpreted round by round; the operators in it have lines of their own".into(),
        because: None,
        advice: Some("fewer rounds that do more each would take less"),
    }
}

fn interpreted(spent: &Spent, report: Option<&SiteReport>) -> Verdict {
    let reason = report.map(|report| report.profile.reason.as_str()).filter(|reason| !reason.is_empty());
    if let (Some(Tier::Group), Some(reason)) = (report.map(|report| report.profile.tier), reason) {
        return Verdict { executor: format!("run {reason}"), because: None, advice: None };
    }
    let (because, advice) = reason.map(plain).unzip();
    Verdict { executor: way(spent).into(), because, advice: advice.flatten() }
}

/// How the interpreter executed most of it.
fn way(spent: &Spent) -> &'static str {
    match spent.ways.iter().filter(|(way, _)| *way != Way::UnitLeft).max_by_key(|(_, count)| *count) {
        Some((Way::Unit, _)) => "interpreted as flat code",
        Some((Way::Blocks, _)) => "interpreted row by row",
        Some((Way::Strands, _)) => "interpreted, several rows at a time",
        _ => "interpreted",
    }
}

fn compiled(
    instr: Option<&Instr>,
    spent: &Spent,
    report: Option<&SiteReport>,
    threads: usize,
    in_code: u64,
) -> Verdict {
    let mut names: Vec<_> = spent.code.iter().collect();
    names.sort_by_key(|code| std::cmp::Reverse(code.nanos));
    let names: Vec<&str> = names.iter().map(|code| backend(code.backend)).collect();
    let mut executor = names.join(" and ");
    let launches: u64 = spent.code.iter().map(|code| code.count).sum();
    let mean = in_code / launches.max(1);
    let is_loop = matches!(instr, Some(Instr::For { .. } | Instr::While { .. }));
    let is_group = report.is_some_and(|report| report.profile.tier == Tier::Group);
    if is_group {
        executor.push_str(", together with operators that follow");
    }
    let on_one = threads > 1 && mean >= LONG && !is_group && report.is_some_and(is_on_one_thread);
    if is_loop || on_one {
        executor.push_str(" on one thread");
    }
    let is_left = spent.ways.iter().any(|(way, _)| *way != Way::UnitLeft);
    if is_left && spent.own.saturating_mul(PART) > in_code {
        executor.push_str(", partly interpreted");
    }
    if launches >= MANY && !is_left && spent.own.saturating_mul(WAY) > in_code {
        let (each, way) = (shown(Duration::from_nanos(mean)), Duration::from_nanos(spent.own / launches));
        return Verdict {
            executor,
            because: Some(format!("each launch takes {each}, and the way there and back {}", shown(way))),
            advice: Some("do more at once: one operator over everything in the place of many small ones"),
        };
    }
    if is_loop {
        return Verdict {
            executor,
            because: (threads > 1).then(|| "rounds of a loop come one after the other".into()),
            advice: (threads > 1 && mean >= LONG)
                .then_some("if they do not need each other, map, reduce and scan use all threads"),
        };
    }
    let refused = report.and_then(|report| report.profile.reason.split_once("refused by "));
    let because = refused.map(|(_, refusal)| match refusal.split_once(": ") {
        Some((who, why)) => format!("{who} declined: {}", plain(why).0),
        None => refusal.to_string(),
    });
    Verdict { executor, because, advice: None }
}

/// Whether none of its code divides the work among threads.
fn is_on_one_thread(report: &SiteReport) -> bool {
    let mut made = report.versions.iter().filter(|version| version.launches > 0).peekable();
    let is_x86 = |name: &str| name == "x86";
    made.peek().is_some()
        && made.all(|version| {
            version.code.as_ref().is_some_and(|(name, _)| is_x86(name))
                && version.plan.plan().threads().is_none()
        })
}

/// What people call the code of a back end.
pub fn backend(name: &str) -> &str {
    match name {
        "x86" => "machine code",
        "vector" => "vector code",
        "vulkan" => "the GPU",
        "reference" => "the reference evaluator",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_plain_words() {
        let (words, advice) = plain("not lifted: arrays as values of a scan");
        assert!(words.contains("only numbers") && advice.is_some());
        assert_eq!(
            plain("not lifted: something that nobody has met"),
            ("something that nobody has met".into(), None)
        );
        let verdict = Verdict { executor: "interpreted".into(), because: Some(words), advice };
        assert!(verdict.text().starts_with("interpreted, because it combines arrays"));
    }

    /// Reasons are written elsewhere: whoever changes one there finds its row here.
    #[test]
    fn somebody_gives_every_reason() {
        let vm = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut sources = String::new();
        for folder in ["vm/tier/src", "vm/lift/src", "jit/src"] {
            add(&vm.join(folder), &mut sources);
        }
        // Mnemonics stand in the table of opcodes.
        for Row(words, ..) in REASONS.iter().filter(|row| !row.0.starts_with('`')) {
            assert!(sources.contains(words), "nobody says: {words}");
        }
    }

    fn add(folder: &std::path::Path, text: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources").filter_map(Result::ok) {
            let path = entry.path();
            match path.is_dir() {
                true => add(&path, text),
                false => text.push_str(&std::fs::read_to_string(&path).unwrap_or_default()),
            }
        }
    }
}
