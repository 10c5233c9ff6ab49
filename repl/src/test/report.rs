//! What is said while programs are tested, and at the end.

use super::program::{Ended, Kind, Verdict};
use crate::compile::write_whole;
use crate::failure::{Failure, Outcome};
use galopvm_base::json::Json;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two lines where nothing can be written over.
const PERIOD: Duration = Duration::from_secs(60);

/// Columns of a line that is written over, where the terminal does not say.
const COLUMNS: usize = 78;

/// What has been found out so far.
pub struct Report {
    total: usize,
    passed: usize,
    failed: usize,
    excluded: usize,
    verdicts: Vec<(PathBuf, Vec<Verdict>)>,
    /// Whether a line is kept that changes.
    live: bool,
    said: Instant,
}

impl Report {
    /// For so many programs.
    pub fn new(total: usize, may_be_live: bool) -> Report {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        let live = may_be_live && io::stdout().is_terminal() && !dumb;
        Report { total, passed: 0, failed: 0, excluded: 0, verdicts: Vec::new(), live, said: Instant::now() }
    }

    /// A program was tested.
    pub fn program(&mut self, path: &Path, verdicts: Vec<Verdict>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let failures: Vec<&Verdict> =
            verdicts.iter().filter(|v| matches!(v.ended, Ended::Failed(_))).collect();
        if verdicts.iter().any(|verdict| verdict.kind == Kind::Program) {
            self.excluded += 1;
        } else if failures.is_empty() {
            self.passed += 1;
        } else {
            self.failed += 1;
            if self.live {
                write!(out, "\r{:COLUMNS$}\r", "")?;
            }
            writeln!(out, "{}:", path.display())?;
            for verdict in failures {
                if !verdict.context.is_empty() {
                    writeln!(out, "{}:", verdict.context)?;
                }
                if let Ended::Failed(reason) = &verdict.ended {
                    writeln!(out, "{}", reason.trim_end())?;
                }
            }
            writeln!(out)?;
        }
        self.verdicts.push((path.into(), verdicts));
        self.progress(&mut out)?;
        out.flush()
    }

    fn progress(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let left = self.total - self.passed - self.failed - self.excluded;
        let line = format!("{} failed, {} passed, {left} to go.", self.failed, self.passed);
        if self.live {
            return write!(out, "\r{line:COLUMNS$}");
        }
        if self.said.elapsed() >= PERIOD {
            self.said = Instant::now();
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// The last lines, and the outcome of the command.
    pub fn end(mut self, json: Option<&Path>) -> Outcome {
        let mut out = io::stdout().lock();
        if self.live {
            write!(out, "\r{:COLUMNS$}\r", "")?;
        }
        writeln!(out, "{}/{} passed.", self.passed, self.total - self.excluded)?;
        if self.excluded > 0 {
            writeln!(out, "{} program(s) excluded.", self.excluded)?;
        }
        out.flush()?;
        if let Some(path) = json {
            self.verdicts.sort_by(|a, b| a.0.cmp(&b.0));
            write_whole(path, format!("{}\n", self.document()).as_bytes())?;
        }
        if self.failed == 0 { Ok(()) } else { Err(Failure::Failed) }
    }

    /// Every verdict.
    fn document(&self) -> Json {
        let mut results = Vec::new();
        for (path, verdicts) in &self.verdicts {
            for verdict in verdicts {
                let (status, detail) = match &verdict.ended {
                    Ended::Passed => ("pass", ""),
                    Ended::Failed(reason) => ("fail", reason.as_str()),
                    Ended::Skipped(reason) => ("skip", reason.as_str()),
                };
                results.push(Json::Object(vec![
                    ("file", path.display().to_string().into()),
                    ("case", (&verdict.case).into()),
                    ("kind", verdict.kind.name().into()),
                    ("status", status.into()),
                    ("detail", detail.into()),
                    ("seconds", verdict.seconds.into()),
                ]));
            }
        }
        Json::Object(vec![("results", Json::List(results))])
    }
}
