//! Cases that look for mistakes: damaged programs, sessions of several calls, pairs of views.
//!
//! - `main.rs`: the cases one by one, in threads.
//! - `corpus.rs`: the programs that damage starts from. `mutate.rs`: the damage. `case.rs`: what is done with a case,
//!   and what is wrong about it.
//! - `sessions.rs`: calls of one session against sessions of their own. `author.rs`, `scribe.rs`: programs for that. `reduce.rs`: smaller
//!   scripts that still go wrong.
//! - `views.rs`: the algebra of views against enumeration.
//!
//! A case is a pure function of its number.
#![forbid(unsafe_code)]

mod author;
mod case;
mod corpus;
#[path = "../../tests/programs/generate.rs"]
#[allow(dead_code, reason = "the differential tests look at the parameters as well")]
mod generate;
mod mutate;
#[path = "../../tests/programs/random.rs"]
mod random;
mod reduce;
mod scribe;
mod sessions;
mod views;

use case::{Outcome, Tally};
use corpus::Corpus;
use sessions::Programs;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// Cases of a run that says nothing else: short enough for every change.
const COUNT: u64 = 20_000;

/// What cases are about.
enum Target {
    /// Damaged programs.
    Damage(Corpus),
    /// Sessions of several calls.
    Sessions(Programs),
    /// Pairs of views.
    Views,
}

impl Target {
    fn run(&self, number: u64) -> Outcome {
        match self {
            Target::Damage(corpus) => case::run(corpus, number),
            Target::Sessions(programs) => sessions::run(*programs, number),
            Target::Views => views::run(number),
        }
    }

    fn shown(&self, number: u64) -> String {
        match self {
            Target::Damage(corpus) => case::shown(corpus, number),
            Target::Sessions(programs) => sessions::shown(*programs, number),
            Target::Views => views::shown(number),
        }
    }
}

struct Args {
    target: Target,
    start: u64,
    count: u64,
    threads: usize,
}

fn arguments() -> Result<Args, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut words = std::env::args().skip(1).peekable();
    let target = match words.next_if(|word| !word.starts_with('-')).as_deref() {
        None | Some("damage") => Target::Damage(Corpus::load()),
        Some("sessions") => Target::Sessions(Programs::Plain),
        Some("far") => Target::Sessions(Programs::Far),
        Some("views") => Target::Views,
        Some(other) => return Err(format!("{other} is not known")),
    };
    let mut args = Args { target, start: 0, count: COUNT, threads };
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.replace('_', "").parse::<u64>().ok());
        let value = value.ok_or_else(|| format!("{word} wants a number"))?;
        match word.as_str() {
            "--start" => args.start = value,
            "--count" => args.count = value,
            "--threads" => args.threads = usize::try_from(value).unwrap_or(1).clamp(1, 1024),
            _ => return Err(format!("{word} is not known")),
        }
    }
    Ok(args)
}

fn main() -> ExitCode {
    let args = match arguments() {
        Ok(args) => args,
        Err(complaint) => {
            eprintln!(
                "{complaint}\nusage: galopvm-fuzz [damage | sessions | far | views] [--start N] [--count N] [--threads N]"
            );
            return ExitCode::from(2);
        }
    };
    let target = &args.target;
    let begin = Instant::now();
    let (next, stop) = (AtomicU64::new(args.start), AtomicBool::new(false));
    let end = args.start.saturating_add(args.count);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= end || stop.load(Relaxed) {
                return tally;
            }
            let outcome = target.run(number);
            if matches!(outcome, Outcome::Wrong(_)) {
                stop.store(true, Relaxed);
                eprintln!("case {number}: {outcome}\n{}", target.shown(number));
            } else if args.count == 1 {
                println!("case {number}: {outcome}\n{}", target.shown(number));
            }
            tally.add(&outcome);
            if tally.cases.is_multiple_of(50_000) {
                eprintln!("{number}: {:?}", begin.elapsed());
            }
        }
    };
    let tally = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..args.threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_default()).fold(Tally::default(), Tally::sum)
    });
    println!("{tally} in {:.1} s", begin.elapsed().as_secs_f64());
    // A thread that ended by a panic of the tool itself lacks its cases.
    let all_done = tally.cases == args.count || tally.wrong > 0;
    if tally.wrong == 0 && all_done { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
