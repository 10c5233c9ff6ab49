//! `galopvm profile`: what it tells, with times masked, and the files that it writes.

use super::process::Folder;
use galopvm_testkit::golden::Golden;
use galopvm_testkit::{read, root};
use serde_json::Value;
use std::path::PathBuf;

fn golden(name: &str) -> PathBuf {
    root().join("tests/golden/profile").join(name)
}

/// Programs of `tests/golden/profile` with the entry point and the back end.
const PROGRAMS: [(&str, &str, &str); 6] = [
    ("loops", "main", "interp"),
    ("loops", "steps", "interp"),
    ("loops", "main", "reference"),
    ("rows", "main", "interp"),
    ("rows", "main", "reference"),
    ("rows", "main", "auto"),
];

/// Places with a smaller share may come and go from machine to machine, in percent: each program has one that takes most of the time.
const SURE: u64 = 40;

/// The lines before the details that are the same in every run: times are dots, and only places that take long stay.
fn masked(text: &str) -> String {
    let short = text.split("\n\nDetails").next().unwrap_or(text);
    let mut lines = Vec::new();
    for line in short.lines().filter(|line| !line.starts_with("These inputs are small")) {
        if line.starts_with("left: ") {
            lines.push("left: ..".into());
            continue;
        }
        match line.split_once(" % of the time").and_then(|(before, _)| before.rsplit(' ').next()) {
            Some(percent) if percent.parse::<u64>().is_ok_and(|percent| percent < SURE) => {}
            _ => lines.push(without_numbers(line)),
        }
    }
    lines.join("\n") + "\n"
}

/// A line with dots in the place of shares and times.
fn without_numbers(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_unit = |word: &str| {
        let word = word.trim_end_matches([',', ';']);
        ["%", "ns", "us", "ms", "s"].contains(&word)
    };
    let masked = |(k, word): (usize, &&str)| {
        let is_measured = word.parse::<f64>().is_ok() && words.get(k + 1).is_some_and(|next| is_unit(next));
        let is_its_unit =
            k > 0 && words[k - 1].parse::<f64>().is_ok() && is_unit(word) && !word.starts_with('%');
        match (is_measured, is_its_unit) {
            (true, _) => "..".to_string(),
            (_, true) => word.trim_start_matches(|c: char| c.is_alphabetic()).to_string(),
            _ => word.to_string(),
        }
    };
    words.iter().enumerate().map(masked).collect::<Vec<_>>().join(" ").replace(".. ,", "..,")
}

#[test]
fn the_first_lines_say_where_the_time_goes() {
    let mut wanted = Golden::new();
    for (name, entry, backend) in PROGRAMS {
        let folder = Folder::new(&format!("profile-{name}-{entry}-{backend}"));
        let file = format!("{name}.fut");
        folder.write(&file, read(&golden(&file)));
        let ran = folder.run(&format!("profile {file} -e {entry} --backend {backend} --threads 1 -r 1"), "");
        ran.succeeds();
        wanted.compare(&golden(&format!("{name}_{entry}_{backend}.txt")), &masked(&ran.text()));
    }
    wanted.finish();
}

#[test]
fn the_facts_are_those_of_the_text() {
    let folder = Folder::new("profile-json");
    folder.write("rows.fut", read(&golden("rows.fut")));
    let ran = folder.run("profile rows.fut --backend interp --threads 1 -r 2 --json", "");
    ran.succeeds();
    let facts: Value = serde_json::from_str(&ran.text()).expect("one document");
    assert_eq!((&facts["version"], &facts["runs"], &facts["first"]), (&1.into(), &2.into(), &false.into()));
    let of = |part: &Value, field: &str| part[field].as_f64().unwrap_or(f64::NAN);
    let parts = || ["rows", "left"].into_iter().flat_map(|list| facts[list].as_array().expect("a list"));
    assert!((parts().map(|part| of(part, "percent")).sum::<f64>() - 100.0).abs() < 0.01);
    let seconds = parts().map(|part| of(part, "seconds")).sum::<f64>();
    assert!((seconds - of(&facts, "seconds")).abs() < 1e-6 * (1.0 + seconds));
    let first = &facts["rows"][0];
    assert_eq!((&first["label"], &first["place"]["line"]), (&"line 6".into(), &6.into()));
    assert!(first["executor"].as_str().is_some_and(|word| word.starts_with("interpreted")));
    assert!(first["because"].is_string() && first["advice"].is_string());
}

#[test]
fn shares_add_up_and_details_follow() {
    let folder = Folder::new("profile-shares");
    folder.write("loops.fut", read(&golden("loops.fut")));
    for options in ["", "-r 2", "-e steps --backend reference", "--no jit,machine"] {
        let text = folder.run(&format!("profile loops.fut {options}"), "").succeeds().text();
        let first = text.split("\n\nDetails").next().unwrap_or_default();
        let lines = first.lines().filter(|line| line.contains(" % "));
        let words: Vec<&str> = lines.flat_map(|line| line.split(' ')).collect();
        let percents = words.windows(2).filter(|pair| pair[1].trim_end_matches(',') == "%");
        let all: u64 = percents.filter_map(|pair| pair[0].parse::<u64>().ok()).sum();
        assert_eq!(all, 100, "{text}");
        super::in_order(
            options,
            &text,
            &["left: ", "before the run: ", "the front end", "Details", "memory:", "code:"],
        );
    }
    folder.run("profile loops.fut", "3i64").succeeds().shows(&["standard input", "These inputs are small"]);
    folder.run("profile loops.fut -e none", "").fails(2, &["no entry point `none`"]);
    folder.write("free.fut", "entry main (n: i64) = iota n\n");
    folder
        .run("profile free.fut", "")
        .fails(2, &["no values for `main`", "galopvm profile free.fut -e main"]);
    folder
        .run("profile free.fut --html no/such/page.html", "3")
        .fails(2, &["no/such/page.html: cannot write"]);
    folder.run("compile free.fut --strip -o bare.gbc", "").succeeds();
    folder.run("profile bare.gbc", "100000").succeeds().shows(&["no places of its source", "in main: iota"]);
    // What was found before an error is told as well.
    folder.write("wrong.fut", "entry main (xs: []i32) = map (\\i -> xs[i]) (iota 3)\n");
    folder.run("profile wrong.fut --backend interp", "[1]").fails(1, &["out of bounds"]).shows(&["left: "]);
}

#[test]
fn speedscope_reads_balanced_events() {
    let folder = Folder::new("profile-speedscope");
    folder.write("loops.fut", read(&golden("loops.fut")));
    for options in ["-e steps -r 1", "-e steps --backend reference", "-e steps --backend interp --no machine"]
    {
        folder.run(&format!("profile loops.fut {options} --speedscope out.json"), "").succeeds();
        let document: Value = serde_json::from_slice(&folder.read("out.json")).expect("JSON");
        let frames = document["shared"]["frames"].as_array().expect("frames");
        assert!(frames.iter().all(|frame| frame["name"].is_string()));
        assert!(frames.iter().any(|frame| frame["file"] == "loops.fut" && frame["line"] == 14), "{frames:?}");
        let profile = &document["profiles"][0];
        assert_eq!((&profile["type"], &profile["unit"]), (&"evented".into(), &"nanoseconds".into()));
        let (mut open, mut last) = (Vec::new(), profile["startValue"].as_u64().expect("a start"));
        for event in profile["events"].as_array().expect("events") {
            let at = event["at"].as_u64().expect("a time");
            assert!(at >= last, "{event} after {last}");
            last = at;
            let frame = event["frame"].as_u64().expect("a frame");
            assert!((frame as usize) < frames.len());
            match event["type"].as_str() {
                Some("O") => open.push(frame),
                Some("C") => assert_eq!(open.pop(), Some(frame), "{event}"),
                _ => panic!("{event}"),
            }
        }
        assert!(open.is_empty());
        assert_eq!(profile["endValue"].as_u64(), Some(last));
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let folder = Folder::new("profile-page");
    folder.write("loops.fut", read(&golden("loops.fut")));
    folder.run("profile loops.fut -e steps --html page.html", "").succeeds();
    let page = String::from_utf8(folder.read("page.html")).expect("text");
    for part in ["http", "src=", "@import", "url(", "<link"] {
        assert!(!page.contains(part), "{part} in the page");
    }
    super::in_order(
        "page",
        &page,
        &["<!DOCTYPE html>", "Where the time goes", "over time", "loops.fut", "<script"],
    );
    // Source is text.
    assert!(page.contains("let xs = loop xs = tabulate n f64.i64 for _i &lt; rounds do"));
    let data =
        page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert!(data["spans"].as_array().is_some_and(|spans| !spans.is_empty()));
}

#[test]
fn the_prompt_has_it_too() {
    let folder = Folder::new("profile-prompt");
    let ran = folder
        .run("repl --backend interp", ":profile i64.sum (map (\\x -> x * x) (iota 100000))\n:pro 1 + 1\n");
    ran.succeeds().shows(&[
        "[0], entry point",
        "map and reduce",
        "interpreted",
        "left: ",
        "[1], entry point",
        "left: ",
    ]);
}
