//! Cases that look for mistakes: damaged programs and sources, values in files, sessions of several calls, pairs of views, passes.
//!
//! - `main.rs`: the cases one by one, in threads.
//! - `corpus.rs`: the programs that damage starts from. `mutate.rs`: the damage. `case.rs`: what is done with a case,
//!   and what is wrong about it.
//! - `sessions.rs`: calls of one session against sessions of their own. `author.rs`, `scribe/`: programs for that. `reduce.rs`: smaller
//!   scripts that still go wrong.
//!   `given.rs`: a program of a file in their place.
//! - `met.rs`: which decisions were met, and which never were.
//! - `sources.rs`: source text with mistakes, through the front end.
//! - `values.rs`: values in files, mostly damaged.
//! - `views.rs`: the algebra of views against enumeration.
//! - `passes/`: programs compiled with the passes over core and without.
//!
//! A case is a pure function of its number.
#![forbid(unsafe_code)]

mod author;
mod case;
mod clock;
mod corpus;
mod defined;
#[path = "../../tests/programs/generate.rs"]
#[allow(dead_code, reason = "the differential tests look at the parameters as well")]
mod generate;
mod given;
mod met;
mod mutate;
mod passes;
mod reduce;
mod scribe;
mod sessions;
mod sources;
mod values;
mod views;

use case::{Outcome, Tally};
use corpus::Corpus;
use galopvm_guard::Guarded;
use galopvm_runtime::Coverage;
use sessions::{Device, Kind, Programs};
use sources::Written;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Cases of a run that says nothing else: short enough for every change.
const COUNT: u64 = 20_000;

const USAGE: &str = "usage: galopvm-fuzz [damage | sources | values | sessions | far | views | passes] [--program FILE] [--with FOLDER] [--backend vulkan | rough-vulkan] \
[--start N] [--count N] [--seconds N] [--threads N] [--guard] [--coverage FILE]";

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

/// What cases are about.
enum Target {
    /// Damaged programs.
    Damage(Corpus),
    /// Source text with mistakes.
    Sources(Written),
    /// Sessions of several calls.
    Sessions(Kind),
    /// Values in files.
    Values,
    /// Pairs of views.
    Views,
    /// Programs with the passes over core, and without.
    Passes,
}

impl Target {
    fn run(&self, number: u64, met: &Coverage) -> Outcome {
        match self {
            Target::Damage(corpus) => case::run(corpus, number, met),
            Target::Sources(written) => sources::run(written, number, met),
            Target::Sessions(kind) => sessions::run(*kind, number, met),
            Target::Values => values::run(number),
            Target::Views => views::run(number),
            Target::Passes => passes::run(number),
        }
    }

    fn shown(&self, number: u64) -> String {
        match self {
            Target::Damage(corpus) => case::shown(corpus, number),
            Target::Sources(written) => sources::shown(written, number),
            Target::Sessions(kind) => sessions::shown(kind.programs, number),
            Target::Values => values::shown(number),
            Target::Views => views::shown(number),
            Target::Passes => passes::shown(number),
        }
    }
}

struct Args {
    target: Target,
    start: u64,
    count: u64,
    /// After this time no further case begins.
    longest: Option<Duration>,
    threads: usize,
    /// Where the decisions that were met are added up.
    coverage: Option<PathBuf>,
}

fn arguments() -> Result<Args, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut words = std::env::args().skip(1).peekable();
    let of_sessions = |programs| Target::Sessions(Kind { programs, device: None });
    let target = match words.next_if(|word| !word.starts_with('-')).as_deref() {
        None | Some("damage") => Target::Damage(Corpus::load()),
        Some("sources") => Target::Sources(Written::load()),
        Some("sessions") => of_sessions(Programs::Plain),
        Some("far") => of_sessions(Programs::Far),
        Some("values") => Target::Values,
        Some("views") => Target::Views,
        Some("passes") => Target::Passes,
        Some(other) => return Err(format!("{other} is not known")),
    };
    let mut args = Args { target, start: 0, count: COUNT, longest: None, threads, coverage: None };
    while let Some(word) = words.next() {
        if word == "--guard" {
            if !galopvm_guard::guard() {
                return Err("the system gives no addresses for --guard".into());
            }
            continue;
        }
        let value = words.next();
        let number = || {
            let number = value.as_ref().and_then(|value| value.replace('_', "").parse::<u64>().ok());
            number.ok_or_else(|| format!("{word} wants a number"))
        };
        match word.as_str() {
            "--start" => args.start = number()?,
            "--count" => args.count = number()?,
            "--seconds" => args.longest = Some(Duration::from_secs(number()?)),
            "--threads" => args.threads = usize::try_from(number()?).unwrap_or(1).clamp(1, 1024),
            "--coverage" => {
                args.coverage = Some(value.ok_or("--coverage wants a file")?.into());
            }
            "--program" => match (value.as_deref(), &mut args.target) {
                // As long as the run.
                (Some(file), Target::Sessions(kind)) => {
                    kind.programs = Programs::Given(Box::leak(Box::new(given::program(file.as_ref())?)));
                }
                (Some(_), _) => return Err("a program is for `sessions` and `far`".into()),
                _ => return Err("--program wants a file".into()),
            },
            "--with" => match (&value, &mut args.target) {
                (Some(folder), Target::Sources(written)) => written.add_folder(folder.as_ref())?,
                (Some(_), _) => return Err("more programs are for `sources`".into()),
                _ => return Err("--with wants a folder".into()),
            },
            "--backend" => match (value.as_deref(), &mut args.target) {
                (Some(name @ ("vulkan" | "rough-vulkan")), Target::Sessions(kind)) => {
                    let device = if name == "vulkan" { Device::Own } else { Device::Rough };
                    sessions::vulkan(device).map_err(|why| format!("there is no Vulkan: {why}"))?;
                    kind.device = Some(device);
                }
                (Some("vulkan" | "rough-vulkan"), _) => {
                    return Err("a back end is for `sessions` and `far`".into());
                }
                _ => return Err("--backend wants vulkan or rough-vulkan".into()),
            },
            _ => return Err(format!("{word} is not known")),
        }
    }
    Ok(args)
}

fn main() -> ExitCode {
    let outcome = arguments().and_then(|args| {
        // What was counted before is read before hours are spent.
        let before = args.coverage.as_deref().map(met::read).transpose()?;
        Ok((args, before.unwrap_or_default()))
    });
    let (args, before) = match outcome {
        Ok(outcome) => outcome,
        Err(complaint) => {
            eprintln!("{complaint}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    galopvm_guard::tell_cases();
    let (tally, met) = cases(&args);
    met.add_all(&before);
    if !matches!(args.target, Target::Values | Target::Views | Target::Passes) {
        print!("{}", met::table(&met));
    }
    if let Some(file) = &args.coverage
        && let Err(complaint) = met::write(file, &met)
    {
        eprintln!("{complaint}");
        return ExitCode::from(2);
    }
    // A thread that ended by a panic of the tool itself lacks its cases.
    let all_done = tally.cases == args.count || tally.wrong > 0 || args.longest.is_some();
    if tally.wrong == 0 && all_done { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Carries out all cases, until one is wrong.
fn cases(args: &Args) -> (Tally, Coverage) {
    let target = &args.target;
    let begin = Instant::now();
    let (next, stop) = (AtomicU64::new(args.start), AtomicBool::new(false));
    let end = args.start.saturating_add(args.count);
    let is_over = || stop.load(Relaxed) || args.longest.is_some_and(|longest| begin.elapsed() >= longest);
    let work = || {
        let (mut tally, met) = (Tally::default(), Coverage::default());
        let mut longest = (Duration::ZERO, 0);
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= end || is_over() {
                return (tally, met, longest);
            }
            galopvm_guard::at_case(number);
            let begun = Instant::now();
            let outcome = target.run(number, &met);
            longest = longest.max((begun.elapsed(), number));
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
    let (tally, met, (longest, number)) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..args.threads).map(|_| scope.spawn(work)).collect();
        let all = threads.into_iter().map(|thread| thread.join().unwrap_or_default());
        all.reduce(|(tally, met, longest), (other, more, longer)| {
            met.add_all(&more);
            (tally.sum(other), met, longest.max(longer))
        })
        .unwrap_or_default()
    });
    println!("{tally} in {:.1} s", begin.elapsed().as_secs_f64());
    println!("the longest case was {number}: {:.1} s", longest.as_secs_f64());
    (tally, met)
}
