//! `:plot`: numbers as pictures, in the terminal or in a file.
//!
//! - `figure.rs`: what a value looks like: marks, and axes. `surface.rs`: marks on any grid of points.
//! - `terminal.rs`: as characters. `file.rs`: as PNG and SVG.
//!
//! `:plot [line|scatter|hist|heat] EXPRESSION [FILE.png|FILE.svg]`. Without a word the type decides: an array of numbers is
//! a line, pairs of them are points, a matrix is a heat map.

mod figure;
mod file;
mod surface;
mod terminal;

use super::evaluation::Expression;
use super::filename;
use super::screen::Screen;
use super::{Repl, print};
use crate::failure::{complaint, say};
use figure::{Figure, Kind};
use galopvm_base::system_message;
use std::io;

/// Endings of the files that a figure can be written to.
const ENDINGS: [&str; 2] = ["png", "svg"];

impl Repl {
    /// Shows an expression as a figure.
    pub(super) fn plot(&mut self, text: &str) -> io::Result<()> {
        if let Some(complaint) = filename::complaint_of_picture(text, &ENDINGS) {
            say(&complaint);
            return Ok(());
        }
        let (text, file) = filename::last(text, &ENDINGS);
        let (kind, text) = kind_of(text);
        let Some(value) = self.value(Expression::typed(text)) else { return Ok(()) };
        let figure = match Figure::of(&value, kind) {
            Ok(figure) => figure,
            Err(why) => {
                let hint = "arrays of numbers, two of them of the same length, and matrices can be; :plot hist \
                            EXPRESSION counts";
                say(&complaint(&format!("`{text}` is {}, which cannot be plotted: {why}", value.ty), hint));
                return Ok(());
            }
        };
        match file {
            Some(file) => {
                let written = file::encoded(&figure, &file).and_then(|bytes| std::fs::write(&file, bytes));
                match written {
                    Ok(()) => print(&format!("written to {}", file.display()))?,
                    Err(error) => {
                        say(&complaint(&format!("{}: {}", file.display(), system_message(&error)), ""))
                    }
                }
            }
            None => print(terminal::drawn(&figure, Screen::of_output(&mut self.lines)).trim_end())?,
        }
        figure.left_out().map_or(Ok(()), |text| print(&text))
    }
}

/// The word in front that says what is drawn, and the rest.
fn kind_of(text: &str) -> (Option<Kind>, &str) {
    let split =
        text.split_once(char::is_whitespace).and_then(|(word, rest)| Some((Kind::named(word)?, rest)));
    match split {
        Some((kind, rest)) => (Some(kind), rest.trim()),
        None => (None, text),
    }
}
