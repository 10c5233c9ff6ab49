//! Pictures as characters: half blocks with colours, or letters.

use super::Raster;
use super::colour::{Colour, in_palette, lightness};
use crate::repl::screen::Colours;

/// From dark to light.
const LETTERS: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// The letter of a lightness from zero to one.
pub fn of_lightness(fraction: f64) -> char {
    LETTERS[((fraction * LETTERS.len() as f64) as usize).min(LETTERS.len() - 1)]
}

/// A letter for each point, line by line.
pub fn letters(raster: &Raster) -> Vec<String> {
    let letter = |colour: &Colour| of_lightness(f64::from(lightness(*colour)) / 255.0);
    let line = |row: &[Colour]| row.iter().map(letter).collect::<String>().trim_end().to_string();
    raster.points().chunks(raster.width().max(1)).map(line).collect()
}

/// A character for two points, one above the other, line by line. Colours end with the line.
pub fn half_blocks(raster: &Raster, colours: Colours) -> Vec<String> {
    let code = |colour: Colour| match colours {
        Colours::Full => format!("2;{};{};{}", colour[0], colour[1], colour[2]),
        Colours::Palette | Colours::None => format!("5;{}", in_palette(colour)),
    };
    let mut lines = Vec::new();
    for y in (0..raster.height()).step_by(2) {
        let mut line = String::new();
        let mut before = None;
        for x in 0..raster.width() {
            let upper = raster.at(x, y);
            let lower = (y + 1 < raster.height()).then(|| raster.at(x, y + 1));
            if before != Some((upper, lower)) {
                let behind = lower.map_or("49".into(), |lower| format!("48;{}", code(lower)));
                line.push_str(&format!("\x1b[38;{};{behind}m", code(upper)));
                before = Some((upper, lower));
            }
            line.push('▀');
        }
        line.push_str("\x1b[0m");
        lines.push(line);
    }
    lines
}

#[test]
fn two_points_share_a_character() {
    let raster = Raster::of_points(2, vec![[0; 3], [0; 3], [255, 0, 0], [255, 0, 0], [255; 3], [0; 3]]);
    let lines = half_blocks(&raster, Colours::Full);
    assert_eq!(lines[0], "\x1b[38;2;0;0;0;48;2;255;0;0m▀▀\x1b[0m");
    assert_eq!(lines[1], "\x1b[38;2;255;255;255;49m▀\x1b[38;2;0;0;0;49m▀\x1b[0m");
    assert_eq!(half_blocks(&raster, Colours::Palette)[0], "\x1b[38;5;16;48;5;196m▀▀\x1b[0m");
    assert_eq!(letters(&raster), ["", "::", "@"]);
}
