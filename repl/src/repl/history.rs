//! Where the prompt's history is kept.

use std::path::PathBuf;

/// The history file in the user's data directory, if the user has one.
pub fn file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let data = variable("XDG_DATA_HOME").filter(|p| p.is_absolute());
    let data = data.or_else(|| variable("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("galopvm").join("history"))
}
