//! What `report` says: the operators that ran, their time, and memory.

use galopvm::Session;
use galopvm_base::json::Json;

/// A JSON object on one line, with the events and the memory that Futhark's `report` has. An event here is an operator
/// with all its executions.
pub fn report(session: &Session) -> String {
    let sites = session.sites();
    let event = |site: &galopvm::SiteReport| {
        let profile = &site.profile;
        Json::Object(vec![
            ("name", site.name.operator.into()),
            ("provenance", (&site.name.place).into()),
            ("duration", (profile.launch_nanos as f64 / 1e3).into()),
            (
                "details",
                Json::Object(vec![
                    ("executions", profile.executions.into()),
                    ("launches", profile.launches.into()),
                    ("elements", profile.elements.into()),
                ]),
            ),
        ])
    };
    let events = sites.iter().filter(|site| site.profile.executions > 0).map(event).collect();
    let stats = session.memory_stats();
    let memory = Json::Object(vec![("default space", stats.peak_bytes.into())]);
    let text = Json::Object(vec![("memory", memory), ("events", Json::List(events))]).to_string();
    // Blanks at the ends of lines are never inside of texts, where line ends are written as `\n`.
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}
