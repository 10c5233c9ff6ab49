//! Which decisions the cases met, as a table, and added up in a file over several runs.
//!
//! The point are the rows that were never met: a decision that no case comes to is not tested.

use galopvm_runtime::{Coverage, Met};
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

/// The table: what was met most often first, what was never met last, and marked.
pub fn table(met: &Coverage) -> String {
    let mut rows: Vec<(u64, Met)> = Met::ALL.iter().map(|row| (met.of(*row), *row)).collect();
    rows.sort_by_key(|(count, row)| (std::cmp::Reverse(*count), row.name()));
    let mut text = String::new();
    for (count, row) in &rows {
        let count = if *count == 0 { "NEVER".to_string() } else { count.to_string() };
        let _ = writeln!(text, "{count:>16}  {:<22} {}", row.name(), row.meaning());
    }
    let never = rows.iter().filter(|(count, _)| *count == 0).count();
    let _ = writeln!(text, "{} of {} decisions were met, {never} never", rows.len() - never, rows.len());
    text
}

/// What a file says was met before; nothing if there is no such file.
pub fn read(file: &Path) -> Result<Coverage, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => text.parse().map_err(|why| format!("{}: {why}", file.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Coverage::default()),
        Err(error) => Err(format!("{}: {error}", file.display())),
    }
}

/// Writes what was met in all runs: a line with name and count for each decision.
pub fn write(file: &Path, met: &Coverage) -> Result<(), String> {
    std::fs::write(file, met.to_string()).map_err(|error| format!("{}: {error}", file.display()))
}
