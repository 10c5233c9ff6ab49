//! Pictures: points of colour, where they are kept, and how they are written.
//!
//! - `raster.rs`: a picture in memory. `colour.rs`: colours, and numbers as colours. `digits.rs`: numbers as points.
//! - `png.rs`: the file format. `base64.rs`: bytes in texts. `characters.rs`: pictures of characters.

pub mod base64;
pub mod characters;
pub mod colour;
pub mod digits;
pub mod png;
mod raster;

pub use raster::Raster;

use std::path::Path;

/// What was typed without the file at its end, if there is one whose name ends as one of these.
pub fn with_file<'a>(text: &'a str, endings: &[&str]) -> (&'a str, Option<&'a Path>) {
    let Some((before, last)) = text.rsplit_once(char::is_whitespace) else { return (text, None) };
    let ending = last.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.is_some_and(|ending| endings.contains(&ending.as_str())) {
        true => (before.trim(), Some(Path::new(last))),
        false => (text, None),
    }
}

#[test]
fn a_file_stands_at_the_end() {
    let split = |text| {
        let (expression, file) = with_file(text, &["png", "svg"]);
        (expression, file.map(|file| file.display().to_string()))
    };
    assert_eq!(split("iota 10 a.png"), ("iota 10", Some("a.png".into())));
    assert_eq!(split("f x  dir/b.SVG"), ("f x", Some("dir/b.SVG".into())));
    assert_eq!(split("x.png"), ("x.png", None));
    assert_eq!(split("f x.1"), ("f x.1", None));
}
