//! What was measured of this machine, kept in a file of the user's cache folder.
//!
//! `galopvm doctor --calibrate` measures and writes; engines read when a decision first needs costs. The file holds a
//! section for each processor, so that machines can share a home folder. Whatever is wrong with it, engines go on
//! with the usual costs; [`load`] says what it was. Text:
//!
//! ```text
//! galopvm costs 1
//!
//! processor Some Processor @ 2.80GHz, L1 48K, L2 1280K, L3 49152K
//! with galopvm 0.1.0
//! measured 1763713249
//! avx2 near 8 far 20 reversed 2 tile 4 gather 1 copyline 30 copystart 2000
//! ```

use crate::machine;
use galopvm_analysis::layout::{Costs, CpuTimes};
use galopvm_jit::CpuMode;
use galopvm_kir::Machine;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The first line; another format has another number.
const HEADER: &str = "galopvm costs 1";

/// No file of ours is longer.
const MOST_BYTES: u64 = 1 << 20;

/// What was measured of one machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Measured {
    /// Seconds since 1970.
    pub when: u64,
    /// Times by instruction set.
    pub modes: Vec<(CpuMode, CpuTimes)>,
}

impl Measured {
    /// The times of code for an instruction set.
    pub fn times(&self, mode: CpuMode) -> Option<&CpuTimes> {
        self.modes.iter().find(|(known, _)| *known == mode).map(|(_, times)| times)
    }
}

/// The user's cache folder of galopvm, if the user has one.
pub fn folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("galopvm"))
}

/// The file in it.
pub fn file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("costs"))
}

/// Reads what was measured of this machine.
///
/// ```
/// use galopvm::{CpuMode, Engine, costs};
///
/// match costs::file().map(|file| costs::load(&file)) {
///     Some(Ok(Some(measured))) => println!("AVX2 was measured: {}", measured.times(CpuMode::Avx2).is_some()),
///     Some(Err(error)) => println!("{error}"),
///     _ => println!("galopvm doctor --calibrate was not run here"),
/// }
/// assert_eq!(costs::file().is_some(), costs::folder().is_some());
///
/// // What engines count with on this machine.
/// let engine = Engine::new();
/// assert_eq!(costs::of(engine.machine()), *engine.costs());
///
/// // The text of a file that is not there, with nothing measured: no file is needed.
/// assert_eq!(costs::replaced("nothing/costs".as_ref(), None), None);
/// ```
///
/// What the file says about this machine: nothing if it is not there or speaks of others, an error if it is broken
/// or old. The error says what is wrong, for people.
pub fn load(path: &Path) -> Result<Option<Measured>, String> {
    Ok(match text(path)? {
        Some(text) => parse(&text, &machine::signature())?,
        None => None,
    })
}

/// The costs of this machine: the measured times where there are any, the usual ones otherwise.
pub fn of(machine: &Machine) -> Costs {
    let measured = file().and_then(|path| load(&path).ok().flatten());
    let mut costs = Costs::for_machine(machine);
    if let Some(times) = measured.as_ref().and_then(|measured| measured.times(CpuMode::of(machine.vectors))) {
        costs.cpu = costs.cpu.with_times(times);
    }
    costs
}

/// The file's text with this machine's section replaced, or removed; nothing if no section is left. What cannot be
/// read as such a file is dropped.
pub fn replaced(path: &Path, measured: Option<&Measured>) -> Option<String> {
    let old = text(path).ok().flatten().unwrap_or_default();
    let text = replace(&old, &machine::signature(), measured);
    (text != format!("{HEADER}\n")).then_some(text)
}

fn text(path: &Path) -> Result<Option<String>, String> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| "is not text".to_string())?;
    if text.lines().next() == Some(HEADER) {
        Ok(Some(text))
    } else {
        Err(format!("does not begin with `{HEADER}`: it is no such file, or of another version of galopvm"))
    }
}

/// The sections of a file: what comes after `processor`, and the lines below it.
fn sections(text: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    text.split("\nprocessor ").skip(1).map(|section| {
        let mut lines = section.lines();
        (lines.next().unwrap_or_default(), lines.filter(|line| !line.is_empty()).collect())
    })
}

fn parse(text: &str, processor: &str) -> Result<Option<Measured>, String> {
    let Some((_, lines)) = sections(text).find(|(name, _)| *name == processor) else { return Ok(None) };
    let mut measured = Measured { when: 0, modes: Vec::new() };
    let mut version = None;
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (word, word.parse::<CpuMode>()) {
            ("with", _) => version = rest.strip_prefix("galopvm "),
            ("measured", _) => {
                measured.when = rest.parse().map_err(|_| format!("`{rest}` is not a time"))?;
            }
            (_, Ok(mode)) if measured.times(mode).is_none() => measured.modes.push((mode, rest.parse()?)),
            _ => return Err(format!("`{line}` is not understood")),
        }
    }
    let version = version.ok_or("does not say what it was measured with")?;
    if version != env!("CARGO_PKG_VERSION") {
        return Err(format!("was measured with galopvm {version}"));
    }
    Ok(Some(measured))
}

fn replace(old: &str, processor: &str, measured: Option<&Measured>) -> String {
    let mut text = format!("{HEADER}\n");
    for (name, lines) in sections(old).filter(|(name, _)| *name != processor) {
        let _ = write!(text, "\nprocessor {name}\n{}\n", lines.join("\n"));
    }
    if let Some(Measured { when, modes }) = measured {
        let version = env!("CARGO_PKG_VERSION");
        let _ = write!(text, "\nprocessor {processor}\nwith galopvm {version}\nmeasured {when}\n");
        for (mode, times) in modes {
            let _ = writeln!(text, "{mode} {times}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(far_line: u64) -> Measured {
        let times = CpuTimes { far_line, ..CpuTimes::default() };
        Measured { when: 5, modes: vec![(CpuMode::Scalar, CpuTimes::default()), (CpuMode::Avx2, times)] }
    }

    #[test]
    fn each_processor_has_its_section() {
        let one = replace("", "one", Some(&measured(21)));
        let two = replace(&one, "two", Some(&measured(22)));
        assert_eq!(parse(&two, "one"), Ok(Some(measured(21))));
        assert_eq!(parse(&two, "two"), Ok(Some(measured(22))));
        assert_eq!(parse(&two, "three"), Ok(None));
        let again = replace(&two, "one", Some(&measured(23)));
        assert_eq!(parse(&again, "one"), Ok(Some(measured(23))));
        assert_eq!(parse(&again, "two"), Ok(Some(measured(22))));
        assert_eq!(replace(&replace(&again, "one", None), "two", None), format!("{HEADER}\n"));
        assert_eq!(measured(9).times(CpuMode::Avx2).map(|t| t.far_line), Some(9));
        assert_eq!(measured(9).times(CpuMode::Avx512), None);
    }

    #[test]
    fn what_is_broken_is_told_and_not_used() {
        let good = replace("", "one", Some(&measured(21)));
        for (from, to) in [
            ("near 8", "near 0"),
            ("near 8", "nearly 8"),
            ("far 21", "far 99999999999"),
            (" copystart 2000", ""),
            ("measured 5", "measured yesterday"),
            ("avx2", "avx3"),
            ("avx2", "scalar"),
            ("with galopvm ", "with galopvm 9."),
            ("with galopvm ", "without "),
        ] {
            let broken = good.replacen(from, to, 1);
            assert_ne!(broken, good);
            assert!(parse(&broken, "one").is_err(), "{broken}");
            assert_eq!(parse(&broken, "two"), Ok(None));
        }
    }

    #[test]
    fn files_of_others_are_refused() {
        let folder = std::env::temp_dir().join(format!("galopvm-costs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("costs");
        assert_eq!(load(&path), Ok(None));
        for bytes in [&b""[..], b"galopvm costs 2\n", b"\xff\xfe", b"#!/bin/sh\n"] {
            std::fs::write(&path, bytes).unwrap();
            assert!(load(&path).is_err(), "{bytes:?}");
        }
        assert!(load(&folder).is_err(), "a folder");
        std::fs::write(&path, replaced(&path, Some(&measured(33))).unwrap()).unwrap();
        assert_eq!(load(&path), Ok(Some(measured(33))));
        assert_eq!(replaced(&path, None), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
