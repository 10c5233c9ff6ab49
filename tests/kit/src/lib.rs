//! What the tests of all crates share, so that each of them is a few lines: where random numbers come from, how golden files
//! are compared and accepted, how files of cases are read, and in which ways an array may lie in memory.
//!
//! Crates use this one as a `dev-dependency` alone, so the lowest of them can.

#![forbid(unsafe_code)]

pub mod cases;
pub mod golden;
mod layout;
mod random;
pub mod regions;
mod sections;
pub mod sweeps;

pub use layout::{Layout, any_view};
pub use random::{Number, Random, rounds};
pub use sections::{before, find_section, parts, section};

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the kit lies two folders deep").into()
}

/// The files of a folder (from the root on) with this ending, by name; there are some.
pub fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap_or_else(|e| panic!("{}: {e}", folder.display())).path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{ending} files in {}", folder.display());
    files
}

/// The text of a file that has to be there.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The name of a file without its ending.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
