//! Which programs are meant by files and folders.

use crate::failure::Failure;
use galopvm_base::system_message;
use std::path::{Path, PathBuf};

/// The files that were named, and every `.fut` file in the folders that were, sorted; each once.
pub fn programs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            add_folder(path, &mut found).map_err(|error| {
                Failure::user(format!("{}: {}", path.display(), system_message(&error)), "")
            })?;
        } else if path.exists() {
            found.push(path.clone());
        } else {
            let message = format!("{}: no such file or directory", path.display());
            return Err(Failure::user(message, "check the spelling and the current directory"));
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn add_folder(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            add_folder(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "fut") {
            found.push(path);
        }
    }
    Ok(())
}
