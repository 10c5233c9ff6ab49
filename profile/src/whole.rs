//! The time of a whole command as a table: each place where operators, loops, calls or copies ran, the longest first, and then what is
//! left.
//!
//! Invariant: the times of all lines are that of the command, and the shares in percent add up to 100.

use super::figures::shown;
use super::record::Recorder;
use super::table::{By, Row, Table, shares};
use galopvm::{Program, Session, SiteReport};
use std::fmt::Write;
use std::time::Duration;

/// The phase in which the calls are.
pub const CALLS: &str = "calls";

/// A line of the table.
struct Line {
    nanos: u64,
    /// How often it ran, and how many elements it had in all: nothing for what is left, and where nobody counts.
    executions: Option<u64>,
    elements: Option<u64>,
    place: String,
    what: String,
    /// Who executed it, and why nobody faster did.
    who: String,
}

/// The table of a command that had these phases; a recorder heard all of its calls.
pub fn whole_lines(
    recorder: &Recorder,
    program: &Program,
    session: &Session,
    phases: &[(&'static str, Duration)],
) -> Vec<String> {
    let table = Table::new(&recorder.record(), program, session, false, By::Column);
    let reports = session.sites();
    let mut lines: Vec<Line> = table.rows.iter().map(|row| Line::of(row, &reports)).collect();
    let left = lines.len();
    let calls = phases.iter().filter(|(phase, _)| *phase == CALLS).map(|(_, time)| nanos(*time)).sum::<u64>();
    // Giving values to calls and taking results is neither in the calls nor in another phase.
    let around = calls.saturating_sub(table.nanos);
    let aside = table.left.aside;
    let of_calls = [
        ("compiling", aside.compiling),
        ("analyses", aside.deciding),
        ("copies into other layouts", aside.relaying),
        (
            "the rest of the program: numbers outside of operators, the calls themselves",
            table.left.rest + around,
        ),
    ];
    lines.extend(
        of_calls.into_iter().filter(|(_, nanos)| *nanos > 0).map(|(what, nanos)| Line::left(what, nanos)),
    );
    let others = phases.iter().filter(|(phase, _)| *phase != CALLS);
    lines.extend(others.map(|(phase, time)| Line::left(phase, nanos(*time))));
    lines[left..].sort_by_key(|line| std::cmp::Reverse(line.nanos));
    let times: Vec<u64> = lines.iter().map(|line| line.nanos).collect();
    let all = shown(Duration::from_nanos(times.iter().sum()));
    let calls = if table.calls == 1 { "1 call".to_string() } else { format!("{} calls", table.calls) };
    let width = |text: fn(&Line) -> &String| {
        lines[..left].iter().map(|line| text(line).chars().count()).max().unwrap_or(0)
    };
    let widths = (width(|line| &line.place), width(|line| &line.what));
    let mut text = vec![format!("where the time goes: {all} in all, {calls}")];
    text.push(format!(
        "{:>9} {:>8} {:>10} {:>12}  place and operator, who executed it",
        "time", "share", "executions", "elements"
    ));
    let tenths = shares(1000, &times);
    text.extend(lines.iter().zip(tenths).map(|(line, tenths)| line.text(tenths, widths)));
    text
}

impl Line {
    /// What was done at a place.
    fn of(row: &Row, reports: &[SiteReport]) -> Line {
        let of_row =
            reports.iter().filter(|report| row.sites.contains(&report.name.site) && report.group.is_none());
        let elements = of_row.map(|report| report.profile.elements).sum::<u64>();
        let place = row.spot.place.as_ref().map_or_else(|| row.spot.label(""), ToString::to_string);
        Line {
            nanos: row.nanos,
            executions: Some(row.spent.executions),
            elements: (elements > 0).then_some(elements),
            place,
            what: row.spot.word.clone(),
            who: row.verdict.text(),
        }
    }

    /// What belongs to no place.
    fn left(what: &str, nanos: u64) -> Line {
        let (place, who) = (String::new(), String::new());
        Line { nanos, executions: None, elements: None, place, what: what.into(), who }
    }

    /// The line, with the widths of places and of what stands there.
    fn text(&self, tenths: u64, (place, what): (usize, usize)) -> String {
        let count = |count: Option<u64>| count.map_or("-".into(), |count| count.to_string());
        let time = shown(Duration::from_nanos(self.nanos));
        let mut text = format!("{time:>9} {:>4}.{} %", tenths / 10, tenths % 10);
        let _ = match self.executions {
            Some(executions) => write!(
                text,
                " {executions:>10} {:>12}  {:place$}  {:what$}  {}",
                count(self.elements),
                self.place,
                self.what,
                self.who
            ),
            None => write!(text, "{:>25}{}", "", self.what),
        };
        text
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
