//! `galopvm man`: manual pages, made from what `--help` says.

use crate::compile::write_whole;
use crate::failure::{Failure, Outcome};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use galopvm_base::system_message;
use std::path::{Path, PathBuf};

/// Write a manual page for galopvm, and one for each command, into a folder
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm man ~/.local/share/man/man1      then `man galopvm-run`")]
pub struct Args {
    /// The folder, which is made if need be
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    std::fs::create_dir_all(&args.folder).map_err(|error| {
        Failure::user(format!("{}: cannot make it: {}", args.folder.display(), system_message(&error)), "")
    })?;
    let mut command = crate::Cli::command();
    command.build();
    page(&args.folder, command.clone(), "galopvm")?;
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in commands.filter(|command| command.get_name() != "help") {
        page(&args.folder, command.clone(), &format!("galopvm-{}", command.get_name()))?;
    }
    Ok(())
}

fn page(folder: &Path, command: Command, name: &str) -> Outcome {
    let mut page = Vec::new();
    Man::new(command).title(name).render(&mut page)?;
    write_whole(&folder.join(format!("{name}.1")), &page)
}
