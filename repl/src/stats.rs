//! What `--stats` prints: where the time of the command goes, memory, page faults, code, and what the analyses did.

use crate::failure::say;
use galopvm::{Program, Session};
use galopvm_profile::{Recorder, analysis_lines, code_lines, made_lines, shown, site_lines, whole_lines};
use std::time::{Duration, Instant};

/// The phases of a command, one after the other.
pub struct Phases {
    start: Instant,
    faults: Faults,
    done: Vec<(&'static str, Duration)>,
}

impl Phases {
    /// The first phase starts.
    pub fn start() -> Phases {
        Phases { start: Instant::now(), faults: Faults::now(), done: Vec::new() }
    }

    /// The phase that ran until now had this name.
    pub fn end(&mut self, name: &'static str) {
        self.done.push((name, self.start.elapsed()));
        self.start = Instant::now();
    }

    /// The phases so far, with their times.
    pub fn done(&self) -> &[(&'static str, Duration)] {
        &self.done
    }

    /// Says on standard error where the time of a command went whose calls a recorder heard, and what the machine did.
    pub fn report_calls(&self, session: &Session, program: &Program, recorder: &Recorder) {
        whole_lines(recorder, program, session, &self.done).iter().for_each(|line| say(line));
        say("");
        self.report_machine(session, &made_lines(session));
    }

    /// The same of phases whose calls nobody heard: what became of the operators is what the session knows.
    pub fn report(&self, session: &Session) {
        for (name, time) in &self.done {
            say(&format!("{name}: {}", shown(*time)));
        }
        self.report_machine(session, &site_lines(session));
    }

    /// Memory, page faults, code, that of operators in these lines, and what the analyses did.
    fn report_machine(&self, session: &Session, operators: &[String]) {
        say(&session.memory_stats().to_string());
        let (now, before) = (Faults::now(), self.faults);
        say(&format!(
            "page faults: {} minor, {} major; most memory of the process: {}",
            now.minor.saturating_sub(before.minor),
            now.major.saturating_sub(before.major),
            process_peak().map_or("unknown".into(), |bytes| format!("{bytes} bytes"))
        ));
        code_lines(session).iter().for_each(|line| say(line));
        operators.iter().for_each(|line| say(&format!("  {line}")));
        let analyses = analysis_lines(session);
        if !analyses.is_empty() {
            say("what the analyses did, whose words `galopvm words` explains:");
            analyses.iter().for_each(|line| say(&format!("  {line}")));
        }
    }
}

/// Page faults of the process.
#[derive(Clone, Copy, Default)]
struct Faults {
    minor: u64,
    major: u64,
}

impl Faults {
    /// So far; none on systems that do not say.
    fn now() -> Faults {
        let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The name of the program, in parentheses, may hold blanks. The state is the first field after it.
        let fields: Vec<&str> =
            text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
        let field = |at: usize| fields.get(at).and_then(|f| f.parse().ok()).unwrap_or(0);
        Faults { minor: field(7), major: field(9) }
    }
}

/// Most bytes of memory that the process had, if the system says it.
fn process_peak() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}
