//! A line of a program with marks under what is meant.

use galopvm_bytecode::Place;

/// The line of a text where a place begins, with marks under as much of the place as is on it.
pub fn marked(text: &str, place: Place) -> Option<String> {
    let line = text.lines().nth((place.start.line as usize).checked_sub(1)?)?;
    let length = line.chars().count();
    let column = (place.start.column as usize).clamp(1, length.max(1));
    let end = if place.end.line == place.start.line { place.end.column as usize } else { length };
    let number = place.start.line.to_string();
    let (margin, blank) = (" ".repeat(number.len()), " ".repeat(column - 1));
    let marks =
        "^".repeat((end + 1).saturating_sub(column).clamp(1, (length + 1).saturating_sub(column).max(1)));
    Some(format!("{margin} |\n{number} | {line}\n{margin} | {blank}{marks}"))
}
