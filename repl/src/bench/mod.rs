//! `galopvm bench`: how long do programs take on the inputs of their test blocks?
//!
//! - `measure.rs`: runs of one case, until they say enough. `statistics.rs`: means and how sure they are. `document.rs`: measurements as JSON,
//!   written and read again.
//!
//! One run is one call: values stay in the session, and code that was compiled for one run serves the next.

mod document;
mod measure;
mod statistics;

use crate::failure::{Failure, Outcome, complaint, say};
use crate::foreign::Foreign;
use crate::settings::{self, Settings};
use crate::spec::{self, Case, Expected, Spec};
use crate::tuning;
use document::{Earlier, Measured};
use galopvm::{Engine, Program};
use measure::Runs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest name of a case in a line.
const NAME: usize = 40;

/// Measure programs on the inputs of their test blocks
///
/// Each case that expects no error is run once to warm up, then at least so often as asked for and for half a second, and on
/// until the mean is certain. Prints the arithmetic mean and its 95% confidence interval; writes all times as JSON.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true, mut_arg("backend", settings::takes_futharks))]
pub struct Args {
    /// Programs, and folders of programs
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Least runs of a case
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Only run this entry point
    #[arg(short, long, visible_alias = "entry-point", value_name = "NAME")]
    entry: Option<String>,
    /// Do not run what has this tag, besides `nobench`, `disable` and `no_` with the name of the back end
    #[arg(long, value_name = "TAG")]
    exclude_case: Vec<String>,
    /// Leave out programs whose path this regular expression matches
    #[arg(long, value_name = "REGEX")]
    ignore_files: Vec<String>,
    /// Take the test blocks from this file, without the marks of comments
    #[arg(long, value_name = "FILE")]
    spec_file: Option<PathBuf>,
    /// Write all times to this file, as JSON that Futhark's tools read
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare with an earlier file of --json, galopvm's or Futhark's
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Stop after the least runs, however uncertain the mean is
    #[arg(long)]
    no_convergence_phase: bool,
    /// Most time for becoming certain of a mean
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    convergence_max_seconds: u64,
    /// Programs are compiled in any case: this is taken for the sake of Futhark's tools
    #[arg(long, hide = true)]
    skip_compilation: bool,
    /// Do not look for tuning files
    #[arg(long)]
    no_tuning: bool,
    /// The ending of tuning files
    #[arg(long, value_name = "EXTENSION", default_value = "tuning")]
    tuning: String,
    /// Programs compiled at the same time
    #[arg(long, hide = true, value_name = "N", value_parser = settings::threads)]
    concurrency: Option<usize>,
    /// Print no line that changes, which is not done in any case
    #[arg(long, hide = true)]
    no_terminal: bool,
    #[command(flatten)]
    foreign: Foreign,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  galopvm bench sum.fut
  galopvm bench benchmarks/ --json new.json --compare old.json
  galopvm bench sum.fut -r 100 --no-convergence-phase --backend x86 --threads 1

--timeout is the time for all runs of a case. Exit codes: 0 all ran, 1 a case failed, 2 a program is wrong or cannot be read.";

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    args.foreign.note(&[("--concurrency", args.concurrency.is_some())]);
    let earlier = args.compare.as_deref().map(Earlier::read).transpose()?;
    let mut programs = Vec::new();
    for path in spec::programs(&args.paths)? {
        let name = path.display().to_string();
        if args.ignore_files.iter().any(|pattern| spec::matches(pattern, &name)) {
            continue;
        }
        if let Some(found) = prepared(&args, &path)? {
            programs.push((path, found));
        }
    }
    let runs = args.runs;
    print(&format!(
        "Reporting arithmetic mean runtime of at least {runs} runs for each dataset (min 0.5s).\n"
    ))?;
    if !args.no_convergence_phase {
        let most = args.convergence_max_seconds;
        print(&format!(
            "More runs automatically performed for up to {most}s to ensure accurate measurement.\n"
        ))?;
    }
    let engine = args.settings.builder().build();
    engine.notes().iter().for_each(|note| say(&format!("note: {note}; the interpreter does the work")));
    let mut all = Vec::new();
    for (path, (program, spec)) in &programs {
        bench(&args, &engine, path, program, spec, earlier.as_ref(), &mut all)?;
    }
    let failed = all.iter().any(|measured| measured.times.is_err());
    if let Some(path) = &args.json {
        crate::compile::write_whole(path, document::document(&all).as_bytes())?;
    }
    if failed { Err(Failure::Failed) } else { Ok(()) }
}

/// The program of a file, and the cases to run; nothing if there are none.
fn prepared(args: &Args, path: &Path) -> Result<Option<(Program, Spec)>, Failure> {
    let source = crate::input::bytes_of(path)?;
    let name = path.display().to_string();
    let blocks = match &args.spec_file {
        Some(file) => commented(&galopvm::program::read(file)?),
        None => source.text()?.to_string(),
    };
    let mut spec = spec::parse(&blocks)
        .map_err(|wrong| Failure::User(complaint(&format!("{name}: test block, {wrong}"), "")))?;
    if spec.cases.is_empty() {
        say(&format!("note: {name}: no test block has an input, so that there is nothing to measure"));
    }
    let excluded = |tags: &[String]| {
        let backend = format!("no_{}", args.settings.backend);
        let always = ["nobench".to_string(), "disable".into(), backend];
        tags.iter().any(|tag| args.exclude_case.contains(tag) || always.contains(tag))
    };
    spec.cases.retain(|case| {
        let wanted = args.entry.as_ref().is_none_or(|entry| *entry == case.entry);
        wanted && !excluded(&case.tags) && !matches!(case.expected, Expected::Error(_))
    });
    if excluded(&spec.tags) || spec.cases.is_empty() {
        return Ok(None);
    }
    print(&format!("Compiling {name}...\n"))?;
    let program = source.program(args.settings.compiling(), args.settings.bounds())?;
    Ok(Some((program, spec)))
}

/// The text of a file of test blocks as a comment.
fn commented(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(start) = lines.iter().position(|line| line.trim() == "==") {
        lines.drain(..start);
    }
    lines.iter().map(|line| format!("-- {line}\n")).collect()
}

fn bench(
    args: &Args,
    engine: &Engine,
    path: &Path,
    program: &Program,
    spec: &Spec,
    earlier: Option<&Earlier>,
    all: &mut Vec<Measured>,
) -> Outcome {
    let mut session = engine.session(program);
    let tuned = tuning::beside(path, &args.tuning).filter(|_| !args.no_tuning);
    if let Some(file) = &tuned {
        tuning::apply_file(&mut session, file, false)?;
    }
    let tuned = tuned.map_or("no tuning file".into(), |file| format!("using {}", file.display()));
    let most = Duration::from_secs(args.convergence_max_seconds);
    let converge = (!args.no_convergence_phase).then_some(most);
    let runs = Runs { least: args.runs, converge, most: args.settings.timeout };
    let width = spec.cases.iter().map(|case| short(case).chars().count()).max().unwrap_or(0);
    let mut entry = None;
    for case in &spec.cases {
        let name = match case.entry.as_str() {
            "main" => path.display().to_string(),
            other => format!("{}:{other}", path.display()),
        };
        if entry.replace(&case.entry) != Some(&case.entry) {
            print(&format!("\n{name} ({tuned}):\n"))?;
        }
        print(&format!("{:width$} ", format!("{}:", short(case)), width = width + 1))?;
        let times = runs.of(&mut session, program, path, case);
        match &times {
            Ok(times) => {
                let (low, high) = statistics::interval(times);
                print(&format!("{:10.0}μs (95% CI: [{low:10.1}, {high:10.1}])", statistics::mean(times)))?;
                let before = earlier.and_then(|earlier| earlier.times(&name, &case.description));
                print(&before.map_or_else(String::new, |before| statistics::comparison(&before, times)))?;
                print("\n")?;
            }
            Err(wrong) => print(&format!("\n{}\n", wrong.trim_end()))?,
        }
        let bytes = session.memory_stats().peak_bytes;
        all.push(Measured { program: name, dataset: case.description.clone(), bytes, times });
    }
    Ok(())
}

fn short(case: &Case) -> String {
    let name = &case.description;
    if name.chars().count() <= NAME {
        name.clone()
    } else {
        name.chars().take(NAME - 3).chain("...".chars()).collect()
    }
}

/// Prints at once: measurements take their time.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
