//! The facts of a profile as one JSON document.

use super::places::Place;
use super::table::{Left, Row};
use super::{Measured, Profile};
use serde_json::{Value, json};

/// Grows when what is there changes its meaning or goes.
const VERSION: u32 = 1;

/// The document.
pub fn document(profile: &Profile<'_>) -> Value {
    let table = &profile.table;
    let runs = table.calls.max(1);
    let seconds = |nanos: u64| nanos as f64 / 1e9 / runs as f64;
    // Every place has its row here.
    let left = Left { others: 0, ..table.left }.parts().into_iter().filter(|(_, nanos)| *nanos > 0);
    let left: Vec<Value> = left
        .map(
            |(what, nanos)| json!({ "what": what, "percent": table.share(nanos), "seconds": seconds(nanos) }),
        )
        .collect();
    let before: Vec<Value> = profile
        .before
        .iter()
        .map(|(what, time)| json!({ "what": what, "seconds": time.as_secs_f64() }))
        .collect();
    json!({
        "version": VERSION,
        "program": profile.named.program,
        "entry": profile.named.entry,
        "input": profile.named.input,
        "heading": profile.heading(),
        "runs": table.calls,
        "first": profile.measured != Measured::Later,
        "seconds": seconds(table.nanos),
        "notes": profile.notes(),
        "advice": profile.advice(),
        "rows": table.rows.iter().map(|row| self::row(profile, row)).collect::<Vec<_>>(),
        "left": left,
        "before": before,
        "details": profile.details,
    })
}

fn row(profile: &Profile<'_>, row: &Row) -> Value {
    let table = &profile.table;
    let runs = table.calls.max(1) as f64;
    let seconds = |nanos: u64| nanos as f64 / 1e9 / runs;
    let place =
        |Place { file, line, column }: &Place| json!({ "file": file, "line": line, "column": column });
    let code: Vec<Value> = row
        .spent
        .code
        .iter()
        .map(|code| {
            json!({ "backend": code.backend, "launches": code.count as f64 / runs, "seconds": seconds(code.nanos) })
        })
        .collect();
    json!({
        "place": row.spot.place.as_ref().map(place),
        "label": row.spot.label(profile.named.program),
        "what": row.what(profile.named.program),
        "percent": table.share(row.nanos),
        "seconds": seconds(row.nanos),
        "executions": row.spent.executions as f64 / runs,
        "code": code,
        "executor": row.verdict.executor,
        "because": row.verdict.because,
        "advice": row.verdict.advice,
    })
}
