//! Where measured costs are kept, and what is used of them.

use super::measure::{self, Timings};
use crate::compile::write_whole;
use crate::failure::{Failure, Outcome};
use crate::settings::Settings;
use galopvm::costs::{self, Measured};
use galopvm::{Costs, Engine};
use galopvm_base::system_message;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known of the costs of this machine.
pub struct Known {
    /// Where they are kept, if the user has a cache folder.
    pub file: Option<PathBuf>,
    /// What was measured.
    pub measured: Option<Measured>,
    /// What is wrong with the file.
    pub warning: Option<String>,
    /// The usual ones of such a machine.
    pub usual: Costs,
    /// Those that decisions count with.
    pub used: Costs,
    /// True if those were measured.
    pub is_measured: bool,
}

impl Known {
    /// Reads the file.
    pub fn collect(engine: &Engine) -> Known {
        let file = costs::file();
        let loaded = file.as_ref().map_or(Ok(None), |path| costs::load(path));
        let (measured, warning) = match loaded {
            Ok(measured) => (measured, None),
            Err(warning) => (None, Some(warning)),
        };
        let machine = engine.machine();
        let is_measured = measured.as_ref().is_some_and(|measured| measured.times(engine.cpu()).is_some());
        Known {
            file,
            measured,
            warning,
            usual: Costs::for_machine(machine),
            used: engine.costs().clone(),
            is_measured,
        }
    }
}

/// Measures this machine and keeps the result.
pub fn calibrate(settings: &Settings) -> Result<Timings, Failure> {
    let path = costs::file().ok_or_else(no_folder)?;
    let engine = settings.builder().build();
    let timings = measure::measure(engine.machine()).map_err(|reason| {
        Failure::Run(crate::failure::complaint(&format!("cannot measure: {reason}"), ""))
    })?;
    let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let modes = timings.modes.iter().map(|timing| (timing.mode, timing.times)).collect();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::user(
                format!("{}: cannot make this folder: {}", folder.display(), system_message(&error)),
                "",
            )
        })?;
    }
    let text = costs::replaced(&path, Some(&Measured { when, modes })).unwrap_or_default();
    write_whole(&path, text.as_bytes())?;
    Ok(timings)
}

/// Forgets what was measured of this machine; what a shared file says about others stays.
pub fn reset() -> Outcome {
    let path = costs::file().ok_or_else(no_folder)?;
    match costs::replaced(&path, None) {
        Some(text) => write_whole(&path, text.as_bytes()),
        None => match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::user(
                format!("{}: cannot remove: {}", path.display(), system_message(&error)),
                "",
            )),
            _ => Ok(()),
        },
    }
}

fn no_folder() -> Failure {
    Failure::user(
        "there is no cache folder: neither XDG_CACHE_HOME nor HOME is set",
        "set one of them to an absolute path",
    )
}
