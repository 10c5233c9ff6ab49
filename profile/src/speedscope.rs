//! The course of a call as a profile for speedscope, in its "evented" form.
//!
//! Invariants: what opens closes, in the reverse order, and no event lies before the one in front of it.

use super::{Profile, Task};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The document.
pub fn document(profile: &Profile<'_>) -> Value {
    let mut frames = vec![json!({ "name": profile.named.entry, "file": profile.named.program })];
    let mut known: HashMap<Task, usize> = HashMap::new();
    let mut events = vec![event("O", 0, 0)];
    let mut open: Vec<(usize, u64, usize)> = Vec::new();
    for span in &profile.record.spans {
        while let Some((frame, end, _)) = open.pop_if(|(_, _, depth)| *depth >= span.depth) {
            events.push(event("C", frame, end));
        }
        let task = profile.task(span);
        let frame = *known.entry(task.clone()).or_insert_with(|| {
            frames.push(frame(&task));
            frames.len() - 1
        });
        events.push(event("O", frame, span.begin));
        open.push((frame, span.end, span.depth));
    }
    while let Some((frame, end, _)) = open.pop() {
        events.push(event("C", frame, end));
    }
    events.push(event("C", 0, profile.record.last));
    let name = format!("{} {}", profile.named.program, profile.named.entry);
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": name,
        "exporter": concat!("galopvm ", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "evented",
            "name": name,
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": profile.record.last,
            "events": events,
        }],
    })
}

fn event(kind: &str, frame: usize, at: u64) -> Value {
    json!({ "type": kind, "frame": frame, "at": at })
}

fn frame(task: &Task) -> Value {
    match &task.place {
        Some(place) => {
            json!({ "name": task.name, "file": place.file, "line": place.line, "col": place.column })
        }
        None => json!({ "name": task.name }),
    }
}
