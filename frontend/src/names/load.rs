//! Files that a program imports.

use super::Names;
use galopvm_base::{FileId, Span};
use std::path::{Component, Path, PathBuf};

/// What looking for an imported file gave.
pub enum Loaded {
    /// Its text, now one of the sources.
    File(FileId, String),
    /// It cannot be read, and why.
    Missing(String),
}

impl Names<'_, '_> {
    /// The path that `import "name"` means in the file of `span`.
    pub fn import_path(&self, span: Span, name: &str) -> String {
        let from = Path::new(self.sources.name(span.file)).parent().unwrap_or(Path::new(""));
        let mut path = PathBuf::new();
        for part in from.join(format!("{name}.fut")).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir
                    if path.components().next_back().is_some_and(|c| matches!(c, Component::Normal(_))) =>
                {
                    path.pop();
                }
                other => path.push(other),
            }
        }
        path.to_string_lossy().into_owned()
    }

    /// Reads a file.
    pub fn load(&mut self, path: &str) -> Loaded {
        match std::fs::read_to_string(path) {
            Ok(text) => Loaded::File(self.sources.add(path, text.as_str()), text),
            Err(error) => Loaded::Missing(error.to_string()),
        }
    }
}
