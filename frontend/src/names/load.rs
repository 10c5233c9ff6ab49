//! Files that a program imports.

use super::Names;
use galopvm_base::{FileId, Span, path, system_message};
use std::path::{Path, PathBuf};

/// Where imported files may lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Imports {
    /// Wherever the program says.
    #[default]
    Anywhere,
    /// In the folder of the program and below, links followed: for programs that nobody trusts.
    Confined,
}

/// What looking for an imported file gave.
pub enum Loaded {
    /// Its text, now one of the sources.
    File(FileId, String),
    /// It cannot be read, and why.
    Missing(String),
    /// It lies where this program may not look.
    Outside,
}

impl Names<'_, '_> {
    /// The path that `import "name"` means in the file of `span`.
    pub fn import_path(&self, span: Span, name: &str) -> String {
        let from = path::folder(self.sources.name(span.file));
        path::normal(&from.join(format!("{name}.fut"))).to_string_lossy().into_owned()
    }

    /// Reads a file.
    pub fn load(&mut self, path: &str) -> Loaded {
        let found = match &self.confined {
            Some(folder) => match confined(folder, Path::new(path)) {
                Ok(Some(found)) => found,
                Ok(None) => return Loaded::Outside,
                Err(error) => return Loaded::Missing(system_message(&error)),
            },
            None => PathBuf::from(path),
        };
        match std::fs::read_to_string(found) {
            Ok(text) => {
                let file = self.sources.add(path, text);
                Loaded::File(file, self.sources.text(file).to_string())
            }
            Err(error) => Loaded::Missing(system_message(&error)),
        }
    }
}

/// Where a file lies when all links are followed; nothing if that is not in the folder. What its name alone puts outside
/// is not even looked for.
fn confined(folder: &Path, file: &Path) -> std::io::Result<Option<PathBuf>> {
    let inside = match folder.as_os_str().is_empty() {
        true => !file.is_absolute() && !file.starts_with(".."),
        false => file.starts_with(folder),
    };
    if !inside {
        return Ok(None);
    }
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (folder, file) = (here.canonicalize()?, file.canonicalize()?);
    Ok(file.starts_with(folder).then_some(file))
}
