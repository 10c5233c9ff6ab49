//! The `galopvm` binary.
//!
//! One file per subcommand; each has its arguments, its help with examples, and one function that carries it out.
//! - `values/`: types and composite values for those who drive programs; `spec/`: test blocks. `tuning.rs`: tuning parameters.
//! - `bundle.rs`: executables with a program inside, which `stand.rs` and `upstream.rs` make. `header/`: programs as functions in C.
//! - `failure.rs`: how commands end, and with which exit code. `settings.rs`: options that choose back ends and limits.
//! - `foreign.rs`: options of Futhark's tools that have no effect. `files/`: tables and images. `wanted.rs`: what an entry point takes, by name. `given.rs`: options for inputs. `output.rs`: results.
//! - `input.rs`: programs and values from files and standard input. `interrupt.rs`: Ctrl-C. `stats.rs`: what happened. `perf_map.rs`: names for `perf`.
//!   `json.rs`: text for programs.
//!
//! Exit codes: 0 success; 1 the program failed while it ran; 2 the user's source, file or command line is wrong;
//! 70 a mistake of galopvm itself; 130 ended by Ctrl-C. `datacmp` alone says with 2 that values differ.
#![forbid(unsafe_code)]

mod asm;
mod bench;
mod bundle;
mod check;
mod compile;
mod completions;
mod datacmp;
mod dataset;
mod deadline;
mod dis;
mod doctor;
mod dump;
mod explain;
mod failure;
mod files;
mod foreign;
mod given;
mod header;
mod input;
mod interrupt;
mod man;
mod output;
mod perf_map;
mod profile;
mod repl;
mod run;
mod server;
mod settings;
mod source_line;
mod spec;
mod stand;
mod stats;
mod test;
mod tuning;
mod upstream;
mod values;
mod wanted;
mod words;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::Failure;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use upstream::Compiler;

/// Runs data-parallel array programs in the Futhark language, without a compile step.
#[derive(Parser)]
#[command(name = "galopvm", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  echo '[1, 2, 3]' | galopvm run sum.fut     run a program on values from standard input
  galopvm compile sum.fut -o sum.gbc         compile once, then `galopvm run sum.gbc`
  galopvm repl                               explore at a prompt
  galopvm doctor                             what this machine offers, and what will be used

`galopvm COMMAND --help` explains a command, with examples.";

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Test(test::Args),
    Bench(bench::Args),
    Server(server::Args),
    Check(check::Args),
    Compile(compile::Args),
    Stand(stand::Args),
    Header(header::Args),
    Dis(dis::Args),
    Asm(asm::Args),
    Dump(dump::Args),
    Explain(explain::Args),
    Profile(profile::Args),
    Words(words::Args),
    Dataset(dataset::Args),
    Datacmp(datacmp::Args),
    Doctor(doctor::Args),
    Repl(repl::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    C(upstream::Args),
    #[command(hide = true)]
    Multicore(upstream::Args),
    #[command(hide = true)]
    Vm(upstream::Args),
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(failure::report_panic));
    let code = failure::carried_out(|| {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        if let Some(code) = stand::standing(&arguments) {
            return code;
        }
        let is_futhark = upstream::is_called();
        if is_futhark && arguments.get(1).is_some_and(|word| word == "--version" || word == "-V") {
            let _ = writeln!(std::io::stdout(), "{}", upstream::version());
            return 0;
        }
        let mut command = if is_futhark { upstream::listed(Cli::command()) } else { Cli::command() };
        let parsed = command.try_get_matches_from_mut(&arguments).and_then(|found| {
            Cli::from_arg_matches(&found).map_err(|message| {
                // A complaint about options is one about those of the subcommand.
                let own = found.subcommand_name().and_then(|name| command.find_subcommand_mut(name));
                match own {
                    Some(own) => message.format(own),
                    None => message,
                }
            })
        });
        let cli = match parsed {
            Ok(cli) => cli,
            Err(message) => {
                // Help and version go to standard output with code 0, complaints to standard error with 2.
                let _ = message.print();
                return match message.use_stderr() {
                    true if is_futhark && upstream::names_no_command(&message) => upstream::NO_COMMAND,
                    true => failure::USER,
                    false => 0,
                };
            }
        };
        let result = match cli.command {
            Command::Run(args) => run::run(args),
            Command::Test(args) => test::run(args),
            Command::Bench(args) => bench::run(args),
            Command::Server(args) => server::run(args),
            Command::Check(args) => check::run(args),
            Command::Compile(args) => compile::run(args),
            Command::Stand(args) => stand::run(args),
            Command::Header(args) => header::run(args),
            Command::Dis(args) => dis::run(args),
            Command::Asm(args) => asm::run(args),
            Command::Dump(args) => dump::run(args),
            Command::Explain(args) => explain::run(args),
            Command::Profile(args) => profile::run(args),
            Command::Words(args) => words::run(args),
            Command::Dataset(args) => dataset::run(args),
            Command::Datacmp(args) => datacmp::run(args),
            Command::Doctor(args) => doctor::run(args),
            Command::Repl(args) => repl::run(args),
            Command::Completions(args) => completions::run(args),
            Command::Man(args) => man::run(args),
            Command::C(args) => upstream::run(args, Compiler::Sequential),
            Command::Multicore(args) => upstream::run(args, Compiler::Multicore),
            Command::Vm(args) => upstream::run(args, Compiler::Machine),
        };
        result.map_or_else(Failure::report, |()| 0)
    });
    let _ = std::io::stdout().flush();
    ExitCode::from(code)
}
