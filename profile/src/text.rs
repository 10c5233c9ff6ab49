//! A profile as text: at most ten lines that say where the time goes, and the details below.

use super::Profile;
use crate::figures::{analysis_lines, code_lines, shown, site_line};
use std::fmt::Write;
use std::time::Duration;

/// The least percent that is worth advice.
const FELT: u64 = 5;

/// The whole text.
pub fn text(profile: &Profile<'_>) -> String {
    let mut text = String::new();
    // Writing to text does not fail.
    let _ = write(profile, &mut text);
    text
}

fn write(profile: &Profile<'_>, text: &mut String) -> std::fmt::Result {
    writeln!(text, "{}", profile.heading())?;
    profile.notes().iter().try_for_each(|note| writeln!(text, "{note}"))?;
    writeln!(text)?;
    let table = &profile.table;
    let percents = table.percents();
    let (of_rows, of_left) = percents.split_at(table.shown);
    let mut given = Vec::new();
    for (row, percent) in table.rows.iter().zip(of_rows) {
        let (label, what) = (row.spot.label(profile.named.program), row.what(profile.named.program));
        write!(text, "{label}: {what}, {percent} % of the time, {}", row.verdict.text())?;
        // The same advice helps but once, and none where there is little to gain.
        let advice = row.verdict.advice.filter(|advice| *percent >= FELT && !given.contains(advice));
        if let Some(advice) = advice {
            write!(text, "; {advice}")?;
            given.push(advice);
        }
        writeln!(text)?;
    }
    let parts = table.left.parts().into_iter().zip(of_left).filter(|(_, percent)| **percent > 0);
    let parts: Vec<String> = parts.map(|((what, _), percent)| format!("{percent} % {what}")).collect();
    write!(text, "left: {}", if parts.is_empty() { "nothing".into() } else { parts.join(", ") })?;
    if let Some(before) = profile.before() {
        write!(text, "; {before}")?;
    }
    if let Some(advice) = profile.advice() {
        write!(text, "; {advice}")?;
    }
    writeln!(text)?;
    if !profile.details.is_empty() {
        writeln!(text, "\nDetails, whose words `galopvm words` explains:")?;
        profile.details.iter().try_for_each(|line| writeln!(text, "  {line}"))?;
    }
    Ok(())
}

/// What the machine knows of the places that took longest, and of everything else.
pub fn details(profile: &Profile<'_>, session: &galopvm::Session) -> Vec<String> {
    let mut lines = Vec::new();
    let reports = session.sites();
    for row in &profile.table.rows[..profile.table.shown] {
        let spent = &row.spent;
        let label = row.spot.label(profile.named.program);
        let mut line = format!("{label} {}: {} executions", row.spot.word, spent.executions);
        for code in &spent.code {
            let time = shown(Duration::from_nanos(code.nanos));
            let _ = write!(line, ", {} launches of {} in {time}", code.count, code.backend);
        }
        let _ = write!(line, ", {} outside of code", shown(Duration::from_nanos(spent.own)));
        lines.push(line);
        let of_row = reports.iter().filter(|report| row.sites.contains(&report.name.site));
        for report in of_row.filter(|report| report.profile.executions > 0) {
            lines.push(format!("  in all calls: {}", site_line(report)));
            let made = report.versions.iter().filter(|version| version.launches > 0);
            let Some(version) = made.max_by_key(|version| version.launches) else { continue };
            let decisions: Vec<&str> =
                version.plan.plan().lines.iter().map(|line| line.decision.word()).collect();
            if !decisions.is_empty() {
                lines.push(format!("  plan: {}", decisions.join(", ")));
            }
        }
    }
    lines.extend(session.memory_stats().to_string().lines().map(str::to_string));
    lines.extend(code_lines(session));
    lines.extend(analysis_lines(session));
    lines
}
