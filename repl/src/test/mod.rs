//! `galopvm test`: do programs do what their test blocks say?
//!
//! - `program.rs`: one program, checked and called. `difference.rs`: results that are not the expected ones. `property.rs`: entry
//!   points that have to be true. `limited.rs`: compiling, which has a limit of time as well. `report.rs`: what is said while tests
//!   run, and at the end. `order.rs`: which programs come first.
//!
//! Programs are tested in threads of this process: a run that fails, or reaches a limit, ends its case only.

pub mod difference;
mod limited;
mod order;
mod program;
mod property;
mod report;

use crate::failure::{Failure, Outcome};
use crate::foreign::Foreign;
use crate::settings::{self, Settings};
use crate::spec;
use galopvm::BackendChoice;
use report::Report;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Most time of a case, if nothing is said.
const TIME: Duration = Duration::from_secs(300);

/// Operations after which a case that says no result has just to run: nothing trusted more is fast enough.
const REFERENCE_FUEL: u64 = 10_000_000;

/// Stack of a thread that tests programs; those that compile and run have their own where this is not enough.
const STACK: usize = 16 << 20;

/// Test programs against the test blocks in their comments
///
/// Every .fut file of a folder is tested. A program is checked, and each case of its test blocks is run: on given, random and
/// scripted inputs, against given outputs, errors and warnings. Prints what is wrong, and how many programs passed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_override_self = true, mut_arg("backend", settings::takes_futharks))]
pub struct Args {
    /// Programs, and folders of programs
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Do not run what has this tag, besides `disable`, `notest` and `no_` with the name of the back end
    #[arg(long, value_name = "TAG")]
    exclude: Vec<String>,
    /// Only run this entry point
    #[arg(short, long, visible_alias = "entry-point", value_name = "NAME")]
    entry: Option<String>,
    /// Programs tested at the same time [default: one for each hardware thread]
    #[arg(long, value_name = "N", value_parser = settings::threads)]
    concurrency: Option<usize>,
    /// Only check the programs
    #[arg(short = 't', conflicts_with = "compile_only")]
    check_only: bool,
    /// Only compile the programs
    #[arg(short = 'C')]
    compile_only: bool,
    /// Run compiled programs, which is done anyway
    #[arg(short = 'c')]
    compiled: bool,
    /// Run the programs with the interpreter alone, and leave out cases tagged `compiled`
    #[arg(short = 'i')]
    interpreted: bool,
    /// Print no line that changes while tests run
    #[arg(long)]
    no_terminal: bool,
    /// Do not look for tuning files
    #[arg(long)]
    no_tuning: bool,
    /// The ending of tuning files
    #[arg(long, value_name = "EXTENSION", default_value = "tuning")]
    tuning: String,
    /// Where the random values of properties start
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write every verdict to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Only compare the operators of compiled programs with those that test blocks list
    #[arg(short = 's', long, hide = true)]
    structure: bool,
    #[command(flatten)]
    foreign: Foreign,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  galopvm test sum.fut
  galopvm test tests/ --exclude slow --timeout 10s
  galopvm test tests/ --backend x86 --cpu avx2 --concurrency 4
  galopvm test tests/ --check                every operation checked by a second execution

Exit codes: 0 all passed, 1 some did not, 2 a mistake on the command line. docs/testing-programs.md explains test blocks.";

/// How programs are tested; the same for all.
struct Plan {
    engine: galopvm::Engine,
    /// What makes the results of cases that say none.
    reference: Option<galopvm::Engine>,
    args: Args,
    excluded: Vec<String>,
    /// Most time of a case, and of compiling.
    time: Duration,
}

impl Plan {
    fn new(mut args: Args, concurrency: usize) -> Plan {
        // Programs that are tested side by side would wait for each other's kernels.
        if concurrency > 1 {
            args.settings.threads.get_or_insert(1);
        }
        if args.interpreted {
            args.settings.backend = BackendChoice::Interp;
        }
        let time = args.settings.timeout.unwrap_or(TIME);
        let backend = args.settings.backend;
        let mut excluded = args.exclude.clone();
        excluded.extend(["disable".into(), "notest".into(), format!("no_{backend}")]);
        let engine = args.settings.builder().timeout(time).build();
        let reference = (backend != BackendChoice::Interp).then(|| {
            let builder = args.settings.builder().timeout(time).fuel(REFERENCE_FUEL);
            builder.backend(BackendChoice::Interp).check(false).build()
        });
        Plan { engine, reference, args, excluded, time }
    }

    fn excludes(&self, tags: &[String]) -> bool {
        tags.iter().any(|tag| self.excluded.contains(tag))
    }
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    args.foreign.note(&[("-s", args.structure)]);
    let programs = order::longest_first(spec::programs(&args.paths)?);
    let json = args.json.clone();
    let threads =
        args.concurrency.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let threads = threads.min(programs.len());
    let mut report = Report::new(programs.len(), !args.no_terminal);
    let plan = Arc::new(Plan::new(args, threads));
    let programs = Arc::new(programs);
    let next = Arc::new(AtomicUsize::new(0));
    let (tell, told) = mpsc::channel();
    for _ in 0..threads {
        let (plan, programs, next, tell) = (plan.clone(), programs.clone(), next.clone(), tell.clone());
        let work = move || {
            while let Some(path) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                if tell.send((path.clone(), program::test(&plan, path))).is_err() {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().stack_size(STACK).spawn(work);
        started.map_err(|error| {
            Failure::user(format!("cannot start a thread: {error}"), "try --concurrency 1")
        })?;
    }
    drop(tell);
    for (path, verdicts) in told {
        report.program(&path, verdicts)?;
    }
    report.end(json.as_deref())
}
