//! `:watch FILE [EXPRESSION]`: loads a file and evaluates an expression, again each time that the file changes.
//!
//! Ctrl-C ends it, while something is evaluated as well as between. Errors are shown, and the next change may mend them.

use super::evaluation::Telling;
use super::{Repl, filename, print};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

/// How often the file is looked at.
const PACE: Duration = Duration::from_millis(100);

/// What tells that a file has changed: when that was, and its length; nothing if it is not there.
fn state(file: &Path) -> Option<(SystemTime, u64)> {
    let about = std::fs::metadata(file).ok()?;
    Some((about.modified().ok()?, about.len()))
}

impl Repl {
    /// Loads and evaluates until Ctrl-C. Without an expression it only says whether all is right.
    pub(super) fn watch(&mut self, text: &str) -> io::Result<()> {
        let (file, expression) = filename::first(text);
        let stopped = Arc::new(AtomicBool::new(false));
        let before = self.interrupts.running(Some(stopped.clone()));
        let depth = self.before.len();
        let outcome = self.watch_until(&stopped, &file, expression);
        self.interrupts.running(before);
        // All that was loaded meanwhile is taken back at once.
        self.before.truncate(depth + 1);
        outcome
    }

    fn watch_until(&mut self, stopped: &AtomicBool, file: &Path, expression: &str) -> io::Result<()> {
        let mut seen = state(file);
        let mut last = seen;
        self.look(file, expression)?;
        while !stopped.load(Ordering::Relaxed) {
            thread::sleep(PACE);
            let now = state(file);
            // Programs that write files do so in steps, or put another one in its place: it counts what stays.
            if now != seen && now == last {
                seen = now;
                self.look(file, expression)?;
            }
            last = now;
        }
        Ok(())
    }

    fn look(&mut self, file: &Path, expression: &str) -> io::Result<()> {
        match self.load(file) {
            false => Ok(()),
            true if expression.is_empty() => print(&format!("{} is loaded", file.display())),
            true => self.evaluate(expression, Telling::Nothing),
        }
    }
}
