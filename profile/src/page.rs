//! A profile as one page that needs nothing else: table, last run over time, memory, source.
//!
//! Invariant: whatever comes from outside - names, source, reasons - is text to a browser, never markup.

use super::table::{Left, Row};
use super::{Kind, Profile, Task};
use crate::figures::shown;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};
use std::time::Duration;

/// The least share in percent that is seen.
const SEEN: f64 = 0.05;

/// The page; `read` gives the text of a source file.
pub fn page(profile: &Profile<'_>, read: &dyn Fn(&str) -> Option<String>) -> String {
    let mut page = String::new();
    // Writing to text does not fail.
    let _ = write(profile, read, &mut page);
    page
}

fn write(profile: &Profile<'_>, read: &dyn Fn(&str) -> Option<String>, page: &mut String) -> fmt::Result {
    let title = text(&format!("{}: {}", profile.named.program, profile.named.entry));
    writeln!(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(page, "<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>", include_str!("page.css"))?;
    writeln!(page, "<h1>{title}</h1>\n<p>{}</p>", text(&profile.heading()))?;
    if let Some(before) = profile.before() {
        writeln!(page, "<p class=\"soft\">{}</p>", text(&before))?;
    }
    for note in profile.notes() {
        writeln!(page, "<p class=\"note\">{}</p>", text(&note))?;
    }
    table(profile, page)?;
    time(profile, page)?;
    sources(profile, read, page)?;
    writeln!(page, "<h2>Details</h2>\n<pre>{}</pre>", text(&profile.details.join("\n")))?;
    // Inside a script nothing is markup but the end of it.
    let data = data(profile).to_string().replace('<', "\\u003c");
    writeln!(page, "<script type=\"application/json\" id=\"data\">{data}</script>")?;
    writeln!(page, "<script>\n{}</script>\n</body>\n</html>", include_str!("page.js"))
}

fn table(profile: &Profile<'_>, page: &mut String) -> fmt::Result {
    let table = &profile.table;
    writeln!(page, "<h2>Where the time goes</h2>\n<div class=\"wide\"><table>")?;
    writeln!(
        page,
        "<tr><th>place</th><th>what</th><th class=\"number\">%</th><th></th><th class=\"number\">a run</th>\
         <th class=\"number\">times</th><th>executed by</th></tr>"
    )?;
    let runs = table.calls.max(1);
    let is_seen = |row: &&Row| table.share(row.nanos) >= SEEN;
    for row in table.rows.iter().filter(is_seen) {
        let share = table.share(row.nanos);
        writeln!(
            page,
            "<tr><td class=\"where\">{}</td><td class=\"what\">{}</td>{}<td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"by\">{}</td></tr>",
            link(profile, row),
            text(&row.what(profile.named.program)),
            bar(share, class(row)),
            shown(Duration::from_nanos(row.nanos / runs)),
            row.spent.executions / runs,
            verdict(row)
        )?;
    }
    let others = table.rows.iter().filter(|row| !is_seen(row)).map(|row| row.nanos).sum();
    let left = Left { others, ..table.left }.parts();
    for (what, nanos) in left.into_iter().filter(|(_, nanos)| table.share(*nanos) >= SEEN) {
        writeln!(
            page,
            "<tr><td></td><td class=\"soft\">{}</td>{}<td class=\"number\">{}</td><td></td><td></td></tr>",
            text(what),
            bar(table.share(nanos), "left"),
            shown(Duration::from_nanos(nanos / runs))
        )?;
    }
    writeln!(page, "</table></div>")
}

/// The cells of a share.
fn bar(share: f64, class: &str) -> String {
    format!(
        "<td class=\"number\">{share:.1}</td><td class=\"share\"><span class=\"bar\"><span class=\"{class}\" \
         style=\"width:{share:.2}%\"></span></span></td>"
    )
}

/// The colour of most of a row.
fn class(row: &Row) -> &'static str {
    let in_code = row.spent.code.iter().map(|code| code.nanos).sum::<u64>();
    if in_code > row.spent.own { "code" } else { "interpreter" }
}

fn verdict(row: &Row) -> String {
    let verdict = &row.verdict;
    let advice = verdict.advice.map(|advice| format!("<br><span class=\"advice\">{}</span>", text(advice)));
    format!("{}{}", text(&verdict.text()), advice.unwrap_or_default())
}

fn link(profile: &Profile<'_>, row: &Row) -> String {
    let label = text(&row.spot.label(profile.named.program));
    match &row.spot.place {
        Some(place) => format!("<a href=\"#{}\">{label}</a>", anchor(&place.file, place.line as usize)),
        None => label,
    }
}

/// The name of a line on the page.
fn anchor(file: &str, line: usize) -> String {
    text(&format!("{}-{line}", file.replace(char::is_whitespace, "_")))
}

fn time(profile: &Profile<'_>, page: &mut String) -> fmt::Result {
    let record = &profile.record;
    writeln!(page, "<h2>The last run over time</h2>\n<div class=\"keys\">")?;
    for (kind, word) in Kind::ALL {
        writeln!(page, "<span><i class=\"{}\"></i>{word}</span>", CLASSES[kind.number()])?;
    }
    writeln!(page, "<span>the wheel zooms, dragging moves, a double click shows all</span></div>")?;
    writeln!(page, "<canvas id=\"time\"></canvas>")?;
    if !record.memory.is_empty() {
        writeln!(page, "<canvas id=\"memory\"></canvas>")?;
    }
    writeln!(page, "<p id=\"said\" class=\"soft\"></p>")?;
    if record.least > 0 {
        let least = shown(Duration::from_nanos(record.least));
        writeln!(page, "<p class=\"soft\">What took less than {least} is not shown here.</p>")?;
    }
    Ok(())
}

/// The names of the kinds' colours, in the order of their numbers; `page.js` has the same.
const CLASSES: [&str; 5] = ["interpreter", "code", "compiling", "deciding", "relaying"];

fn data(profile: &Profile<'_>) -> serde_json::Value {
    let mut tasks = Vec::new();
    let mut known: HashMap<Task, usize> = HashMap::new();
    let mut number = |task: Task| {
        *known.entry(task.clone()).or_insert_with(|| {
            let place = task.place.as_ref().map(|place| place.to_string());
            tasks.push(json!([task.name, place.unwrap_or_default(), task.kind.number()]));
            tasks.len() - 1
        })
    };
    let record = &profile.record;
    let spans: Vec<_> = record
        .spans
        .iter()
        .map(|span| json!([span.begin, span.end, span.depth, number(profile.task(span))]))
        .collect();
    json!({ "last": record.last, "tasks": tasks, "spans": spans, "memory": record.memory })
}

/// The source of all files that have a place in the table, the program's own first.
fn sources(profile: &Profile<'_>, read: &dyn Fn(&str) -> Option<String>, page: &mut String) -> fmt::Result {
    let mut files: BTreeMap<(bool, &str), BTreeMap<u32, Vec<&Row>>> = BTreeMap::new();
    for row in profile.table.rows.iter().filter(|row| profile.table.share(row.nanos) >= SEEN) {
        if let Some(place) = &row.spot.place {
            let file = files.entry((place.file != profile.named.program, &place.file)).or_default();
            file.entry(place.line).or_default().push(row);
        }
    }
    for ((_, file), lines) in files {
        let Some(source) = read(file) else { continue };
        writeln!(page, "<h2>{}</h2>\n<div class=\"wide\"><table class=\"source\">", text(file))?;
        for (k, line) in source.lines().enumerate() {
            let number = k + 1;
            let rows = lines.get(&(number as u32)).map_or(&[][..], |rows| rows);
            let share = profile.table.share(rows.iter().map(|row| row.nanos).sum());
            let anchor = anchor(file, number);
            if rows.is_empty() {
                writeln!(
                    page,
                    "<tr id=\"{anchor}\"><td class=\"line\">{number}</td><td class=\"percent\"></td><td>{}</td></tr>",
                    text(line)
                )?;
                continue;
            }
            let part = share / 100.0;
            writeln!(
                page,
                "<tr id=\"{anchor}\" class=\"hot\" style=\"--part:{part:.3}\"><td class=\"line\">{number}</td>\
                 <td class=\"percent\">{share:.1} %</td><td>{}</td></tr>",
                text(line)
            )?;
            let is_felt = |row: &&&Row| profile.table.share(row.nanos) >= 1.0;
            for row in rows.iter().filter(is_felt) {
                writeln!(
                    page,
                    "<tr><td></td><td></td><td class=\"verdict\">{}: {}</td></tr>",
                    text(&row.what(profile.named.program)),
                    verdict(row)
                )?;
            }
        }
        writeln!(page, "</table></div>")?;
    }
    Ok(())
}

/// Text as it is written in a page.
fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
