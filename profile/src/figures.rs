//! What a session knows of its calls without a clock of ours, in lines: its parallel operators, analyses, kernels, moves to a device.

use galopvm::{PlanFigures, Session, SiteReport, Switch};
use galopvm_tier::Version;
use std::time::Duration;

/// The analyses and checks of a session's calls.
pub fn analysis_lines(session: &Session) -> Vec<String> {
    let mut lines = Vec::new();
    let figures = session.analysis_figures();
    let asked = figures.iter().filter(|(_, figures)| *figures != PlanFigures::default());
    lines.extend(asked.map(|(switch, figures)| analysis_line(*switch, figures)));
    if let Some(figures) = session.shadow_figures() {
        lines.push(format!(
            "check: {} elements compared, {} instructions and {} calls only in part",
            figures.compared, figures.taken_over, figures.given_up
        ));
    }
    lines
}

/// What was compiled for a session's engine, and what moved to and from a device.
pub fn code_lines(session: &Session) -> Vec<String> {
    let engine = session.engine();
    let moved = engine.traffic().map(|traffic| traffic.to_string());
    std::iter::once(engine.kernel_figures().to_string()).chain(moved).collect()
}

/// What became of each parallel operator that was executed by itself, those with most time in compiled code first.
pub fn site_lines(session: &Session) -> Vec<String> {
    let mut sites = session.sites();
    sites.retain(|site| site.profile.executions > 0);
    sites.sort_by_key(|site| std::cmp::Reverse(site.profile.launch_nanos));
    sites.iter().map(site_line).collect()
}

/// What an analysis cost and gave.
fn analysis_line(switch: Switch, figures: &PlanFigures) -> String {
    let PlanFigures {
        made,
        useful,
        making,
        longest,
        longest_phases,
        found,
        finding,
        longest_find,
        applied,
        ..
    } = *figures;
    let mut line = format!(
        "{}: {made} analysed in {} (the longest {}: {}), {useful} with something to do; \
         {found} known looked up in {} (the longest {}); applied {applied} times",
        switch.name(),
        shown(making),
        shown(longest),
        phases_text(&longest_phases),
        shown(finding),
        shown(longest_find),
    );
    for (count, what) in [
        (figures.refused, "refused by the checker"),
        (figures.thorough, "analysed again with more effort"),
        (figures.dropped, "given up"),
    ] {
        if count > 0 {
            line.push_str(&format!("; {count} {what}"));
        }
    }
    line
}

/// What one analysis took, part by part.
fn phases_text(parts: &galopvm::PlanPhases) -> String {
    let [record, analyse, plan, check] = [parts.record, parts.analyse, parts.plan, parts.check].map(shown);
    format!("recorded in {record}, analysed in {analyse}, planned in {plan}, checked in {check}")
}

/// The code of each parallel operator that has any.
pub fn made_lines(session: &Session) -> Vec<String> {
    let sites = session.sites();
    let line = |site: &SiteReport| {
        let made = made(site);
        (!made.is_empty()).then(|| format!("{}: {}", site.name, made.join(", ")))
    };
    sites.iter().filter_map(line).collect()
}

/// The code of a site, version by version.
fn made(site: &SiteReport) -> Vec<String> {
    let of_version = |version: &Version| {
        let (backend, _) = version.code.as_ref()?;
        let compiled = shown(Duration::from_micros(version.micros));
        let views = if version.key.is_generic { " for any views" } else { "" };
        let how = if version.is_shared { "code found of" } else { "compiled by" };
        Some(format!("{how} {backend}{views} in {compiled}, {} launches", version.launches))
    };
    site.versions.iter().filter_map(of_version).collect()
}

/// What became of one parallel operator.
pub(crate) fn site_line(site: &SiteReport) -> String {
    let profile = &site.profile;
    let mut line = format!("{}: {} executions, {} elements", site.name, profile.executions, profile.elements);
    made(site).iter().for_each(|made| line.push_str(&format!(", {made}")));
    if profile.launches > 0 {
        line.push_str(&format!(", {} in kernels", shown(Duration::from_nanos(profile.launch_nanos))));
    }
    if profile.executions > profile.launches {
        line.push_str(&format!(", interpreted: {}", profile.reason));
    }
    line
}

/// A duration with a unit that keeps it readable.
pub fn shown(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    match us {
        ..10.0 => format!("{us:.2} us"),
        ..1e3 => format!("{us:.0} us"),
        1e3..1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.3} s", us / 1e6),
    }
}
