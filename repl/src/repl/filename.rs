//! Names of files in what is typed. A blank in one stands behind a backslash, as the Tab key writes it, or the name stands in
//! double quotes.

use crate::failure::complaint;
use rustyline::completion::unescape;
use std::path::PathBuf;

/// What takes the meaning from a blank; where it separates folders, nothing does.
const ESCAPE: Option<char> = if cfg!(windows) { None } else { Some('\\') };

/// Where the first blank is that ends a name.
fn end_of_name(text: &str) -> usize {
    let quoted = text.strip_prefix('"').and_then(|rest| rest.find('"'));
    if let Some(length) = quoted {
        return length + 2;
    }
    let mut before = None;
    let ends = |(_, c): &(usize, char)| {
        let is_end = c.is_whitespace() && (ESCAPE.is_none() || before != ESCAPE);
        before = Some(*c);
        is_end
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

/// Where the last name begins.
pub fn start_of_last(text: &str) -> usize {
    if let Some(start) = text.strip_suffix('"').and_then(|rest| rest.rfind('"')) {
        return start;
    }
    let starts = text
        .char_indices()
        .rev()
        .find(|(at, c)| c.is_whitespace() && (ESCAPE.is_none() || text[..*at].chars().next_back() != ESCAPE));
    starts.map_or(0, |(at, c)| at + c.len_utf8())
}

/// The file that is meant by all of a text.
pub fn whole(text: &str) -> PathBuf {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match quoted {
        Some(name) => name.into(),
        None => unescape(text, ESCAPE).into_owned().into(),
    }
}

/// The file that is meant by the first word of a text, and the rest.
pub fn first(text: &str) -> (PathBuf, &str) {
    let (name, rest) = text.split_at(end_of_name(text));
    (whole(name), rest.trim())
}

/// Endings of pictures, whoever writes them.
const PICTURES: [&str; 10] = ["png", "svg", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff", "pdf"];

/// What is wrong with a picture at the end of a text that ends as none of these; nothing if there is no picture.
pub fn complaint_of_picture(text: &str, endings: &[&str]) -> Option<String> {
    let file = match (last(text, &PICTURES), last(text, endings)) {
        ((_, Some(file)), (_, None)) => file,
        _ => return None,
    };
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    let message = format!("{}: only {} files are written", file.display(), endings.join(" and "));
    Some(complaint(&message, "give it another ending; an expression that looks so stands in parentheses"))
}

/// A text without the file at its end, if there is one whose name ends as one of these.
pub fn last<'a>(text: &'a str, endings: &[&str]) -> (&'a str, Option<PathBuf>) {
    let (before, name) = text.split_at(start_of_last(text));
    let file = whole(name);
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.is_some_and(|ending| !before.is_empty() && endings.contains(&ending.as_str())) {
        true => (before.trim(), Some(file)),
        false => (text, None),
    }
}

#[test]
fn a_file_stands_at_the_end() {
    let split = |text| {
        let (expression, file) = last(text, &["png", "svg"]);
        (expression, file.map(|file| file.display().to_string()))
    };
    assert_eq!(split("iota 10 a.png"), ("iota 10", Some("a.png".into())));
    assert_eq!(split("f x  dir/b.SVG"), ("f x", Some("dir/b.SVG".into())));
    assert_eq!(split("f x' \"my dir/b.svg\""), ("f x'", Some("my dir/b.svg".into())));
    assert_eq!(split("x.png"), ("x.png", None));
    assert_eq!(split("f x.1"), ("f x.1", None));
    assert_eq!(split("f \"a\""), ("f \"a\"", None));
}

#[cfg(not(windows))]
#[test]
fn blanks_belong_to_names_behind_a_backslash() {
    assert_eq!(last("map (\\x -> x) a my\\ b.png", &["png"]), ("map (\\x -> x) a", Some("my b.png".into())));
    assert_eq!(first("my\\ file.fut  main 1"), ("my file.fut".into(), "main 1"));
    assert_eq!(first("\"my file.fut\" main"), ("my file.fut".into(), "main"));
    assert_eq!(whole(" my file.fut "), PathBuf::from("my file.fut"));
    assert_eq!(whole("my\\ file.fut"), PathBuf::from("my file.fut"));
    assert_eq!(start_of_last("x \"a"), 2);
}
