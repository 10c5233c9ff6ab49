//! `galopvm words`: what the words mean that `explain`, `profile` and `run --stats` use.

use crate::failure::{Failure, Outcome};
use galopvm_explain::GLOSSARY;
use std::io::Write;

/// Tell what the words mean that explain, profile and run --stats use
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm words                all of them
  galopvm words RDS            those with RDS in them")]
pub struct Args {
    /// Only those words that have this in them, in letters of either size
    #[arg(value_name = "WORD")]
    word: Option<String>,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let wanted = args.word.as_deref().unwrap_or_default().to_lowercase();
    let mut text = String::new();
    for words in GLOSSARY {
        let rows: Vec<_> =
            words.rows.iter().filter(|(word, _)| word.to_lowercase().contains(&wanted)).collect();
        let width = rows.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
        if !rows.is_empty() {
            text.push_str(&format!("{}{}\n", if text.is_empty() { "" } else { "\n" }, words.about));
        }
        for (word, meaning) in rows {
            text.push_str(&format!("  {word:width$}  {meaning}\n"));
        }
    }
    if text.is_empty() {
        return Err(Failure::user(
            format!("there is no word with `{wanted}` in it"),
            "galopvm words shows all of them",
        ));
    }
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
