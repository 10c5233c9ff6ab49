//! One line while an evaluation takes long: for how long it has run, what it is at, and the memory of its values. It goes with the
//! evaluation.

use super::running::Running;
use galopvm::{Memory, MomentSink};
use galopvm_bytecode::Module;
use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long an evaluation runs before something is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a line stays as it is.
const PACE: Duration = Duration::from_millis(200);

/// To the beginning of the line, and nothing in it.
const ERASED: &str = "\r\x1b[K";

/// The line, which clones share.
#[derive(Clone)]
pub struct Progress {
    is_wanted: bool,
    line: Arc<Mutex<State>>,
    running: Arc<Running>,
}

/// What is known of the line.
#[derive(Default)]
struct State {
    is_there: bool,
    /// How many wait for it to stay away.
    pauses: u32,
}

impl Progress {
    /// On standard error, if that is a terminal that can erase.
    pub fn on_terminal() -> Progress {
        let can_erase = std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        Progress {
            is_wanted: can_erase && io::stderr().is_terminal(),
            line: Arc::default(),
            running: Arc::default(),
        }
    }

    /// Who is to hear what calls are at, if the line is shown.
    pub fn listener(&self) -> Option<MomentSink> {
        let running = self.running.clone();
        self.is_wanted.then(|| -> MomentSink { Arc::new(move |moment| running.hear(moment)) })
    }

    /// Calls a program, and shows meanwhile how long it takes.
    pub fn during<T>(&self, memory: &Memory, module: &Module, work: impl FnOnce() -> T) -> T {
        if !self.is_wanted {
            return work();
        }
        let (running, ended) = channel();
        thread::scope(|scope| {
            self.running.begin();
            scope.spawn(move || self.show_until(&ended, memory, module));
            let result = work();
            drop(running);
            result
        })
    }

    /// Writes to standard error where the line is, which comes again below.
    pub fn aside(&self, write: impl FnOnce()) {
        let mut line = self.lock();
        erase(&mut line);
        write();
    }

    /// Does something, and shows nothing meanwhile.
    pub fn paused<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut line = self.lock();
        erase(&mut line);
        line.pauses += 1;
        drop(line);
        let result = work();
        self.lock().pauses -= 1;
        result
    }

    fn show_until(&self, ended: &Receiver<()>, memory: &Memory, module: &Module) {
        let start = Instant::now();
        let mut wait = PATIENCE;
        while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            let (seconds, bytes) = (start.elapsed().as_secs(), memory.stats().live_bytes);
            let mebibytes = bytes as f64 / f64::from(1 << 20);
            wait = PACE;
            let at = self.running.words(module).map_or_else(String::new, |at| format!(": {at}"));
            let mut line = self.lock();
            if line.pauses > 0 {
                continue;
            }
            // If nobody listens there, so be it.
            let _ =
                write!(io::stderr(), "{ERASED}running for {seconds} s{at}, values take {mebibytes:.1} MiB");
            line.is_there = true;
        }
        erase(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What is known of the line is right whatever happened elsewhere.
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn erase(line: &mut State) {
    if std::mem::take(&mut line.is_there) {
        let _ = write!(io::stderr(), "{ERASED}");
    }
}
