//! Measurements as JSON, in the form that `futhark bench` writes and `futhark benchcmp` reads.
//!
//! ```text
//! {"p.fut": {"datasets": {"case": {"runtimes": [microseconds], "bytes": {"default space": n}}, "other": "error"}}}
//! ```

use crate::failure::Failure;
use galopvm_base::json::Json;
use serde_json::Value;
use std::path::Path;

/// The measurement of one case.
pub struct Measured {
    /// The program, and the entry point if it is not `main`.
    pub program: String,
    /// The case.
    pub dataset: String,
    /// Most bytes in use at one time so far.
    pub bytes: u64,
    /// Microseconds of each run, or what went wrong.
    pub times: Result<Vec<u64>, String>,
}

/// The document of all measurements.
pub fn document(all: &[Measured]) -> String {
    let mut programs: Vec<(String, Vec<(String, Json)>)> = Vec::new();
    for measured in all {
        let result = match &measured.times {
            Ok(times) => Json::Object(vec![
                ("runtimes", times.iter().copied().collect()),
                ("bytes", Json::Map(vec![("default space".into(), measured.bytes.into())])),
            ]),
            Err(wrong) => wrong.into(),
        };
        let datasets = match programs.iter_mut().find(|(name, _)| *name == measured.program) {
            Some((_, datasets)) => datasets,
            None => {
                programs.push((measured.program.clone(), Vec::new()));
                let last = programs.len() - 1;
                &mut programs[last].1
            }
        };
        datasets.push((measured.dataset.clone(), result));
    }
    let entry = |(name, datasets)| (name, Json::Object(vec![("datasets", Json::Map(datasets))]));
    format!("{}\n", Json::Map(programs.into_iter().map(entry).collect()))
}

/// Measurements of an earlier file.
pub struct Earlier(Value);

impl Earlier {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Earlier, Failure> {
        let bytes = galopvm::program::read(path)?;
        let found = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::user(
                format!("{}: this is no file of measurements: {error}", path.display()),
                "name a file that --json wrote",
            )
        });
        Ok(Earlier(found?))
    }

    /// The times of a case, if they are there.
    pub fn times(&self, program: &str, dataset: &str) -> Option<Vec<u64>> {
        let runs = self.0.get(program)?.get("datasets")?.get(dataset)?.get("runtimes")?;
        runs.as_array()?.iter().map(|time| time.as_f64().map(|time| time as u64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let measured = |program: &str, dataset: &str, times| Measured {
            program: program.into(),
            dataset: dataset.into(),
            bytes: 64,
            times,
        };
        let text = document(&[
            measured("p.fut", "#0 (\"1\")", Ok(vec![3, 4])),
            measured("p.fut:f", "x", Err("no \"x\"".into())),
            measured("p.fut", "y", Ok(vec![])),
        ]);
        let earlier = Earlier(serde_json::from_str(&text).expect("JSON"));
        assert_eq!(earlier.times("p.fut", "#0 (\"1\")"), Some(vec![3, 4]));
        assert_eq!(earlier.times("p.fut", "y"), Some(vec![]));
        assert_eq!(earlier.times("p.fut:f", "x"), None);
        assert_eq!(earlier.0["p.fut:f"]["datasets"]["x"], "no \"x\"");
        assert_eq!(earlier.0["p.fut"]["datasets"]["#0 (\"1\")"]["bytes"]["default space"], 64);
    }
}
