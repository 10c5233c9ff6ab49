//! `galopvm completions`: what a shell has to know to complete the command line.

use crate::failure::Outcome;
use clap::CommandFactory;
use clap_complete::{Shell, generate};
use std::io::Write;

/// Print the script that completes galopvm's commands and options in a shell
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm completions bash > ~/.local/share/bash-completion/completions/galopvm
  galopvm completions fish > ~/.config/fish/completions/galopvm.fish
  galopvm completions zsh > ~/.zfunc/_galopvm      with ~/.zfunc in fpath")]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::Cli::command(), "galopvm", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}
