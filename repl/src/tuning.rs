//! Values of tuning parameters: from the command line, and from files beside programs.

use crate::failure::{Failure, say};
use galopvm::Session;
use std::path::{Path, PathBuf};

/// Values of the program's tuning parameters. There are no others: galopvm decides by the sizes that it sees.
#[derive(clap::Args)]
#[command(next_help_heading = "Tuning")]
pub struct Tuning {
    /// Give a tuning parameter, #[param(NAME)] in the source, a value
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    param: Vec<(String, i64)>,
    /// Read values of tuning parameters from this file, a line NAME=VALUE for each [default: FILE.tuning, if there is
    /// one]
    #[arg(long, value_name = "FILE", conflicts_with = "no_tuning")]
    tuning: Option<PathBuf>,
    /// Do not look for FILE.tuning
    #[arg(long)]
    no_tuning: bool,
    /// Print the tuning parameters of the program and their class, and end
    #[arg(long)]
    pub print_params: bool,
    /// Where compiled code may be kept; not used
    #[arg(long, value_name = "FILE")]
    cache_file: Option<PathBuf>,
}

impl Tuning {
    /// Gives parameters the values of a file, then those of the command line.
    pub fn apply(&self, session: &mut Session, program: &Path) -> Result<(), Failure> {
        let beside = beside(program, "tuning").filter(|_| !self.no_tuning);
        if let Some(path) = self.tuning.as_ref().or(beside.as_ref()) {
            apply_file(session, path, self.tuning.is_some())?;
        }
        for (param, value) in &self.param {
            session.set_param(param, *value)?;
        }
        Ok(())
    }
}

/// The file `PROGRAM.EXTENSION`, if there is one.
pub fn beside(program: &Path, extension: &str) -> Option<PathBuf> {
    let mut path = program.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    Some(PathBuf::from(path)).filter(|path| path.is_file())
}

/// Gives parameters the values of a file. Files are often made for several back ends: what the program does not have is no
/// mistake there, and told only if asked for.
pub fn apply_file(session: &mut Session, path: &Path, tell: bool) -> Result<(), Failure> {
    let bytes = galopvm::program::read(path)?;
    let name = path.display().to_string();
    for (k, line) in galopvm::program::source_text(&name, &bytes)?.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let (param, value) = assignment(line).map_err(|error| {
            Failure::user(
                format!("{name}:{}: {error}", k + 1),
                "write a line `NAME=NUMBER` for each parameter",
            )
        })?;
        if session.set_param(&param, value).is_err() && tell {
            say(&format!("note: {name}:{}: the program has no tuning parameter `{param}`", k + 1));
        }
    }
    Ok(())
}

/// An assignment of a tuning parameter.
fn assignment(text: &str) -> Result<(String, i64), String> {
    let parsed = text.split_once('=').and_then(|(name, value)| Some((name, value.trim().parse().ok()?)));
    match parsed {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_string(), value)),
        _ => Err("NAME=NUMBER is wanted".into()),
    }
}
