//! Programs as people write them, with mistakes: source text of which some tokens, groups or lines are changed goes through the
//! whole front end. What it makes of them has to pass the verifier, and mean the same to everybody.
//!
//! Words take the places of words, groups in brackets those of other groups, also of another program, and groups get something around them, so
//! that much of it still has a type.

use crate::author;
use crate::case::{self, Outcome};
use crate::clock::Clock;
use crate::generate;
use crate::mutate;
use crate::scribe;
use galopvm_base::Sources;
use galopvm_bytecode::verify;
use galopvm_runtime::Coverage;
use galopvm_testkit::Random;
use std::fs;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Generated programs of each kind.
const GENERATED: u64 = 40;

/// The front end takes longer for nothing of this size; other cases may work beside.
const LONGEST: Duration = Duration::from_secs(10);

/// Tokens that are near: mostly of the same definition.
const NEAR: usize = 200;

/// Programs, each with the name of its file, which imports start from.
pub struct Written {
    /// Those that compile.
    right: Vec<(String, String)>,
    /// Those of which some definition is refused.
    wrong: Vec<(String, String)>,
}

impl Written {
    /// Those of the tests and examples, and some generated ones, always in the same order.
    pub fn load() -> Written {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut written = Written { right: Vec::new(), wrong: Vec::new() };
        for folder in ["tests/golden", "examples", "benches/programs"] {
            written.add_folder(&root.join(folder)).unwrap_or_else(|why| panic!("{why}"));
        }
        for seed in 0..GENERATED {
            let mut random = Random::new(seed);
            written.add(format!("generated {seed}"), generate::program(seed).source);
            written.add(format!("authored {seed}"), author::program(&mut random).source);
            written.add(format!("scribed {seed}"), scribe::program(&mut random).source);
        }
        written
    }

    /// Those of a folder, and of those in it, as well.
    pub fn add_folder(&mut self, folder: &Path) -> Result<(), String> {
        let mut files = Vec::new();
        collect(folder, &mut files)?;
        files.sort();
        for path in files {
            // What is no text is no source.
            if let Ok(text) = fs::read_to_string(&path) {
                self.add(path.display().to_string(), text);
            }
        }
        Ok(())
    }

    fn add(&mut self, name: String, text: String) {
        let mut sources = Sources::new();
        let file = sources.add(&name, text.as_str());
        match galopvm_frontend::compile(&mut sources, file).module {
            Some(_) => self.right.push((name, text)),
            None => self.wrong.push((name, text)),
        }
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        match path.is_dir() {
            true => collect(&path, found)?,
            false if path.extension().is_some_and(|extension| extension == "fut") => found.push(path),
            false => {}
        }
    }
    Ok(())
}

/// The case for people.
pub fn shown(written: &Written, number: u64) -> String {
    let (name, text) = mutant(written, &mut case::random_of(number));
    format!("{name}:\n{text}")
}

/// Carries out a case; counts the decisions that it meets.
pub fn run(written: &Written, number: u64, met: &Coverage) -> Outcome {
    let clock = Clock::together();
    // Nothing is used again after a panic: the run ends.
    let outcome = catch_unwind(AssertUnwindSafe(|| attempt(written, number, met)));
    match outcome {
        Err(_) => Outcome::Wrong("a panic".into()),
        Ok(Err(what)) => Outcome::Wrong(what),
        Ok(Ok(_)) if clock.elapsed() > LONGEST => Outcome::Wrong(format!("it took {:?}", clock.elapsed())),
        Ok(Ok(outcome)) => outcome,
    }
}

fn attempt(written: &Written, number: u64, met: &Coverage) -> Result<Outcome, String> {
    let mut random = case::random_of(number);
    let (name, text) = mutant(written, &mut random);
    let mut sources = Sources::new();
    let file = sources.add(&name, text.as_str());
    let compiled = galopvm_frontend::compile(&mut sources, file);
    // Whoever wrote that gets to see it.
    let told: Vec<String> = compiled.diagnostics.iter().map(|one| one.render(&sources, false)).collect();
    let has_errors = compiled.diagnostics.iter().any(|one| one.is_error());
    match compiled.module {
        Some(_) if has_errors => Err(format!("there is a module, and an error: {}", told.concat())),
        None if !has_errors => Err("there is no module, and no error".into()),
        None => Ok(Outcome::Unreadable(told.into_iter().next().unwrap_or_default())),
        Some(module) => match verify(module.clone()) {
            Err(why) => Err(format!("the verifier refuses what was made of it: {why}")),
            Ok(_) => case::check(module, &mut random, met),
        },
    }
}

fn mutant(written: &Written, random: &mut Random) -> (String, String) {
    let programs = if random.one_in(8) { &written.wrong } else { &written.right };
    let (name, text) = random.pick(programs);
    let other = &random.pick(&written.right).1;
    let mut changed = text.clone();
    let most = if random.one_in(4) { 4 } else { 1 };
    for _ in 0..1 + random.below(most) {
        changed = change(random, &changed, other);
    }
    (name.clone(), changed)
}

/// What tokens are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Number,
    Keyword,
    Word,
    Sign,
    Open,
    Close,
}

const KEYWORDS: [&str; 28] = [
    "let", "in", "def", "entry", "if", "then", "else", "loop", "for", "while", "do", "with", "match", "case",
    "type", "module", "open", "import", "include", "val", "local", "assert", "copy", "true", "false",
    "where", "sig", "rec",
];

const SIGNS: [&str; 30] = [
    "+", "-", "*", "/", "%", "//", "%%", "**", "==", "!=", "<", ">", "<=", ">=", "&&", "||", "&", "|", "^",
    "<<", ">>", "|>", "<|", "++", "::", ":>", ":", "->", "=", ",",
];

/// Words that make trouble, or are of every program.
const WORDS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "2i8",
    "255u8",
    "9223372036854775807",
    "18446744073709551615u64",
    "0x10",
    "0b11",
    "1e400",
    "1.5",
    "f32.nan",
    "0x1.8p3",
    "1_000",
    "'a'",
    "\"text\"",
    "i8",
    "u16",
    "i64",
    "f16",
    "f64",
    "bool",
    "[]i32",
    "n",
    "x",
    "_",
    "map",
    "reduce",
    "scan",
    "filter",
    "zip",
    "unzip",
    "flatten",
    "transpose",
    "iota",
    "replicate",
    "scatter",
    "vjp",
    "length",
    "rotate",
];

fn kind(token: &str) -> Kind {
    match token.chars().next().unwrap_or(' ') {
        c if c.is_whitespace() => Kind::Blank,
        '0'..='9' => Kind::Number,
        '(' | '[' | '{' => Kind::Open,
        ')' | ']' | '}' => Kind::Close,
        c if c.is_alphabetic() || c == '_' || c == '#' || c == '\'' => match KEYWORDS.contains(&token) {
            true => Kind::Keyword,
            false => Kind::Word,
        },
        _ => Kind::Sign,
    }
}

/// The text in tokens: words, runs of signs, brackets one by one, blanks.
pub fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '#' | '\'');
    let is_sign = |c: char| "+-*/%=!<>&|^:@?~$\\`".contains(c);
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = |is: &dyn Fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let length = match first {
            c if is_word(c) => end(&is_word),
            c if is_sign(c) => end(&is_sign),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after;
    }
    found
}

/// What stands between brackets, with these.
pub fn groups(all: &[&str]) -> Vec<Range<usize>> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for (at, token) in all.iter().enumerate() {
        match kind(token) {
            Kind::Open => open.push(at),
            Kind::Close => found.extend(open.pop().map(|from| from..at + 1)),
            _ => {}
        }
    }
    found
}

/// One change.
fn change(random: &mut Random, text: &str, other: &str) -> String {
    match random.below(14) {
        0 => lines(random, text, other),
        1 | 2 => one_group_for_another(random, text, other),
        3..=5 => around(random, text),
        6 => exchanged(random, text),
        _ => token(random, text),
    }
}

/// Another token in the place of one, one less or one more.
fn token(random: &mut Random, text: &str) -> String {
    let mut all = tokens(text);
    let solid: Vec<usize> = (0..all.len()).filter(|at| kind(all[*at]) != Kind::Blank).collect();
    if solid.is_empty() {
        return text.into();
    }
    let at = *random.pick(&solid);
    let here = kind(all[at]);
    match random.below(12) {
        0 => drop(all.remove(at)),
        1 => {
            let copy = all[*random.pick(&solid)];
            all.splice(at..at, [copy, " "]);
        }
        2 => all[at] = *random.pick(&KEYWORDS),
        3 => all[at] = *random.pick(&WORDS),
        4 if here == Kind::Sign => all[at] = *random.pick(&SIGNS),
        _ => {
            let near = at.saturating_sub(NEAR)..(at + NEAR).min(all.len());
            let alike: Vec<usize> = near.filter(|k| kind(all[*k]) == here).collect();
            all[at] = all[*random.pick(&alike)];
        }
    }
    all.concat()
}

/// A group of this or another program in the place of one.
fn one_group_for_another(random: &mut Random, text: &str, other: &str) -> String {
    let (all, others) = (tokens(text), tokens(if random.one_in(3) { other } else { text }));
    let (here, there) = (groups(&all), groups(&others));
    if here.is_empty() || there.is_empty() {
        return text.into();
    }
    let (here, there) = (random.pick(&here).clone(), random.pick(&there).clone());
    [&all[..here.start], &others[there], &all[here.end..]].concat().concat()
}

/// Two groups of a program in each other's place.
fn exchanged(random: &mut Random, text: &str) -> String {
    let all = tokens(text);
    let all_groups = groups(&all);
    if all_groups.is_empty() {
        return text.into();
    }
    let (a, b) = (random.pick(&all_groups).clone(), random.pick(&all_groups).clone());
    let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
    if a.end > b.start {
        return text.into();
    }
    let parts = [&all[..a.start], &all[b.clone()], &all[a.end..b.start], &all[a], &all[b.end..]];
    parts.concat().concat()
}

/// Something around a group or a word.
fn around(random: &mut Random, text: &str) -> String {
    let all = tokens(text);
    let mut places = groups(&all);
    if random.one_in(2) || places.is_empty() {
        places = (0..all.len()).filter(|at| kind(all[*at]) == Kind::Word).map(|at| at..at + 1).collect();
    }
    if places.is_empty() {
        return text.into();
    }
    let place = random.pick(&places).clone();
    let group = all[place.clone()].concat();
    let new = match random.below(20) {
        0 => format!("({group}, {group})"),
        1 => format!("(copy {group})"),
        2 => format!("(if true then {group} else {group})"),
        3 => format!("(loop a = {group} for i < 2 do a)"),
        4 => format!("(loop a = {group} while false do a)"),
        5 => format!("(match {group} case b -> b)"),
        6 => format!("(\\c -> {group})"),
        7 => format!("(let d = {group} in d)"),
        8 => format!("(assert true {group})"),
        9 => format!("(map id {group})"),
        10 => format!("({group} :> [n]i64)"),
        11 => format!("[{group}, {group}]"),
        12 => format!("{{e = {group}}}.e"),
        13 => format!("(#[trace] {group})"),
        14 => format!("(id {group})"),
        15 => format!("((\\f -> f) {group})"),
        16 => format!("{group}[0]"),
        17 => format!("(reverse {group})"),
        18 => format!("(jvp (\\g -> g) {group} {group})"),
        _ => format!("(#some {group})"),
    };
    [&all[..place.start], &[new.as_str()], &all[place.end..]].concat().concat()
}

/// A line of another program more, or one less, twice, or at another place.
fn lines(random: &mut Random, text: &str, other: &str) -> String {
    let others: Vec<&str> = other.lines().collect();
    if others.is_empty() || !random.one_in(4) {
        return mutate::lines(random, text);
    }
    let mut all: Vec<&str> = text.lines().collect();
    let at = random.below(all.len() + 1);
    all.insert(at, *random.pick(&others));
    all.join("\n")
}
