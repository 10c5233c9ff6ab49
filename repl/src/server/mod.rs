//! `galopvm server`: a program that is driven by lines on standard input, as Futhark's server executables are.
//!
//! - `words.rs`: a line as words. `state.rs`: what the server has, and the table of commands. `calls.rs`: entry points and
//!   files. `composite.rs`: arrays, records and sums. `report.rs`: what a profile says.
//!
//! Whatever comes in, the answer ends with `%%% OK`, after `%%% FAILURE` and a message if the command could not be carried
//! out. Only the end of the input ends the server.

mod calls;
mod composite;
mod report;
mod state;
mod words;

use crate::failure::{Failure, Outcome, say};
use crate::interrupt::Interrupts;
use crate::settings::Settings;
use crate::tuning::Tuning;
use crate::values::{Types, attributes};
use crate::{input, run};
use clap::ValueEnum;
use galopvm::Program;
use state::Server;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// Longest line that is read as a command, in bytes.
const LONGEST_LINE: u64 = 64 << 20;

/// Drive a program by commands on standard input, in Futhark's server protocol
///
/// FILE is Futhark source or a .gbc file. Each line is a command: `call`, `restore`, `store` and so on, as Futhark's server
/// executables take them; values stay in the server between commands. `%%% OK` on a line ends each answer, `%%% FAILURE`
/// comes before a message. Ctrl-C (SIGINT) ends the running call with a failure; the end of the input ends the server.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The program: Futhark source, or a .gbc file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How calls are written: `call` with one variable for the whole result and `output`, or with one for each component of a
    /// tuple and `outputs`, as before Futhark 0.26. Both are understood unless one is asked for
    #[arg(long, value_enum, value_name = "GENERATION", default_value = "both")]
    server_protocol: Generation,
    /// Collect what `report` tells, and print a summary to standard error at the end
    #[arg(short = 'P', long)]
    profile: bool,
    /// Print one line per event of the machine to standard error
    #[arg(short = 'L', long)]
    log: bool,
    /// Print everything that --profile and --log print
    #[arg(short = 'D', long)]
    debugging: bool,
    /// The source that the program was compiled from: attributes and the names of types are in it
    #[arg(long, value_name = "FILE", hide = true)]
    attributes_of: Option<PathBuf>,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    #[command(flatten)]
    tuning: Tuning,
    #[command(flatten)]
    settings: Settings,
}

/// The generations of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Generation {
    /// Either of the others, command by command.
    Both,
    /// One variable for the result of a call.
    Current,
    /// One variable for each component of a tuple.
    Legacy,
}

const EXAMPLES: &str = "\
Examples:
  galopvm server sum.fut                     then, on standard input:
    inputs main                              the types of the arguments
    restore xs.in xs []i32                   read a value from a file
    call main total xs                       call an entry point
    store total.out total                    write a value to a file, in the binary format
  galopvm server sum.gbc --backend x86 --threads 4

docs/server.md lists all commands.";

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let source = input::bytes_of(&args.file)?;
    let program = source.program(args.settings.compiling(), args.settings.bounds())?;
    if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
        say(&crate::failure::rendered(warnings));
    }
    let told = args.attributes_of.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let text = told.as_deref().or(source.text().ok());
    serve(&args, &program, text)
}

/// Answers commands until there are no more.
fn serve(args: &Args, program: &Program, source: Option<&str>) -> Outcome {
    let interrupts = Interrupts::listen();
    if args.tuning.print_params {
        let mut out = io::stdout().lock();
        return Ok(program.params().iter().try_for_each(|name| writeln!(out, "{name} (user)"))?);
    }
    let mut builder = args.settings.builder();
    if args.log || args.debugging {
        builder = builder.trace(Arc::new(|event| say(&event.to_string())));
    }
    let engine = builder.shows(Arc::new(run::show)).build();
    for note in engine.notes() {
        say(&format!("note: {note}; the interpreter does the work"));
    }
    let mut session = engine.session(program);
    args.tuning.apply(&mut session, &args.file)?;
    let mut server = Server {
        engine,
        program: program.clone(),
        session,
        types: Types::of(program.module(), source),
        attributes: source.map(attributes).unwrap_or_default(),
        variables: Default::default(),
        interrupts,
        generation: args.server_protocol,
        set: Vec::new(),
    };
    answer_all(&mut server)?;
    if args.profile || args.debugging {
        say(&server.session.memory_stats().to_string());
        galopvm_profile::site_lines(&server.session).iter().for_each(|line| say(line));
    }
    Ok(())
}

fn answer_all(server: &mut Server) -> Outcome {
    let (mut input, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut done = || -> io::Result<()> {
        out.write_all(b"%%% OK\n")?;
        out.flush()
    };
    done()?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| {
            Failure::user(format!("cannot read standard input: {}", galopvm_base::system_message(&error)), "")
        })? == 0
        {
            return Ok(());
        }
        if line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
            input.skip_until(b'\n').map_err(Failure::Output)?;
            line.clear();
        }
        let mut answer = String::new();
        if let Err(message) = server.answer(&String::from_utf8_lossy(&line), &mut answer) {
            answer.push_str("%%% FAILURE\n");
            message.lines().for_each(|line| {
                // Nothing in a message may be taken for the end of the answer.
                answer.push_str(if line.starts_with("%%%") { " " } else { "" });
                answer.push_str(line);
                answer.push('\n');
            });
        }
        io::stdout().lock().write_all(answer.as_bytes())?;
        done()?;
    }
}
