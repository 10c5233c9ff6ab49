//! Names of machine code for Linux's `perf`: a line for each piece of it in `/tmp/perf-PID.map`, where `perf report` looks.
//!
//! Invariants: a line is written at once, so that code which several threads make has lines of its own. That the file cannot be
//! written is said once, and ends nothing.

use crate::failure::say;
use galopvm::{Installed, InstalledSink};
use galopvm_base::system_message;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Asks for the file as the option does, if it is set, and neither empty nor 0.
const VARIABLE: &str = "GALOPVM_PERF_MAP";

/// The file of the process, whatever number of engines it has; nothing after an error.
static MAP: OnceLock<Mutex<Option<File>>> = OnceLock::new();

/// Who writes the file, if the option or the environment asks for it.
pub fn wanted(option: bool) -> Option<InstalledSink> {
    let is_set = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    (option || is_set).then(|| Arc::new(write) as InstalledSink)
}

/// Where `perf` looks for the names of the code of this process.
fn path() -> PathBuf {
    format!("/tmp/perf-{}.map", std::process::id()).into()
}

/// The file, made anew: everybody may write to that folder, and what lies there may be a link to something else.
fn made() -> io::Result<File> {
    // An old file of a process with this number; if it stays, the next line says so.
    let _ = std::fs::remove_file(path());
    File::create_new(path())
}

/// Says what went wrong.
fn lost(error: &io::Error) {
    say(&format!(
        "note: {}: {}; perf will not know the names of the code",
        path().display(),
        system_message(error)
    ));
}

/// Writes the line of a piece of code.
fn write(code: &Installed<'_>) {
    let map = MAP.get_or_init(|| Mutex::new(made().inspect_err(lost).ok()));
    let mut file = map.lock().unwrap_or_else(PoisonError::into_inner);
    let written = file.as_mut().map_or(Ok(()), |file| file.write_all(line(code).as_bytes()));
    if let Err(error) = written {
        lost(&error);
        *file = None;
    }
}

/// What `perf` reads: where code begins and its size, both in hexadecimal digits, and its name, to the end of the line.
fn line(Installed { name, form, address, bytes }: &Installed<'_>) -> String {
    // The place and the operator in one word: reports have columns.
    let name: String = name.chars().map(|c| if c.is_whitespace() { ':' } else { c }).collect();
    let form = form.replace(' ', "-");
    format!("{address:x} {bytes:x} galopvm:{name}:{form}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_perf_reads() {
        let code =
            Installed { name: "rows.fut:3:5 map", form: "nest into rows", address: 0x7f00, bytes: 0x10 };
        assert_eq!(line(&code), "7f00 10 galopvm:rows.fut:3:5:map:nest-into-rows\n");
    }
}
