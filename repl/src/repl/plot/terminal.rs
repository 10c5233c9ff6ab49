//! Figures as characters: dots of braille, half blocks of colour, or plain letters.

use super::figure::{Cells, Figure, Marks};
use super::surface::{Surface, draw};
use crate::repl::numbers::short;
use crate::repl::picture::{Raster, characters, colour};
use crate::repl::screen::{Colours, Screen};

/// Rows of a figure, and the most columns: wider ones are hard to read.
const SIZE: (usize, usize) = (16, 100);

/// Dots in one character: two columns of four.
struct Dots {
    columns: usize,
    rows: usize,
    /// Dots across and down in a character.
    within: (usize, usize),
    bits: Vec<u8>,
}

impl Surface for Dots {
    fn size(&self) -> (usize, usize) {
        (self.columns * self.within.0, self.rows * self.within.1)
    }

    fn mark(&mut self, x: usize, y: usize) {
        // The numbers of the dots in a character of braille, from the top, first the left ones.
        const BITS: [[u8; 2]; 4] = [[0, 3], [1, 4], [2, 5], [6, 7]];
        let (across, down) = self.within;
        let bit = BITS[y % down][x % across];
        self.bits[y / down * self.columns + x / across] |= 1 << bit;
    }
}

/// The lines of a figure, with its axes.
pub fn drawn(figure: &Figure, screen: Screen) -> String {
    let (top, bottom) = match figure.marks {
        Marks::Cells(_) => (short(figure.y.low), short(figure.y.high)),
        _ => (short(figure.y.high), short(figure.y.low)),
    };
    let margin = top.len().max(bottom.len());
    let columns = screen.columns.min(SIZE.1).saturating_sub(margin + 3).max(10);
    let lines = match &figure.marks {
        Marks::Cells(cells) => cell_lines(cells, columns, screen),
        _ => dot_lines(figure, columns, screen),
    };
    let width = match &figure.marks {
        Marks::Cells(cells) => cells.columns.min(columns),
        _ => columns,
    };
    let last = lines.len().saturating_sub(1);
    let (side, corner, floor) = if screen.is_plain { ("|", "+", "-") } else { ("│", "└", "─") };
    let mut text = String::new();
    for (k, line) in lines.iter().enumerate() {
        let name = match k {
            0 => &top,
            k if k == last => &bottom,
            _ => "",
        };
        text.push_str(&format!("{name:>margin$} {side}{line}\n"));
    }
    let (left, right) = (short(figure.x.low), short(figure.x.high));
    let blank = width.saturating_sub(left.len() + right.len()).max(1);
    text.push_str(&format!("{:margin$} {corner}{}\n", "", floor.repeat(width)));
    text.push_str(&format!("{:margin$}  {left}{:blank$}{right}\n", "", ""));
    if let Marks::Cells(cells) = &figure.marks {
        text.push_str(&format!("{:margin$}  {}\n", "", key(cells, screen)));
    }
    text
}

fn dot_lines(figure: &Figure, columns: usize, screen: Screen) -> Vec<String> {
    let rows = SIZE.0.min(screen.rows.saturating_sub(4));
    let within = if screen.is_plain { (1, 1) } else { (2, 4) };
    let mut dots = Dots { columns, rows, within, bits: vec![0; columns * rows] };
    draw(figure, &mut dots);
    let filled = if matches!(figure.marks, Marks::Columns(_)) { '#' } else { '*' };
    let character = |bits: &u8| match *bits {
        0 => ' ',
        _ if screen.is_plain => filled,
        bits => char::from_u32(0x2800 + u32::from(bits)).unwrap_or(filled),
    };
    let line = |row: &[u8]| row.iter().map(character).collect::<String>().trim_end().to_string();
    dots.bits.chunks(columns).map(line).collect()
}

fn cell_lines(cells: &Cells, columns: usize, screen: Screen) -> Vec<String> {
    let rows = screen.rows.saturating_sub(5);
    if screen.colours == Colours::None {
        let cells = cells.within(rows, columns);
        let character = |number: &f64| match cells.range.fraction(*number) {
            Some(fraction) => characters::of_lightness(fraction),
            None => '?',
        };
        return cells.numbers.chunks(cells.columns).map(|row| row.iter().map(character).collect()).collect();
    }
    let cells = cells.within(2 * rows, columns);
    characters::half_blocks(&raster(&cells), screen.colours)
}

/// Cells as points of colour.
pub fn raster(cells: &Cells) -> Raster {
    let points = cells.numbers.iter().map(|n| colour::of_fraction(cells.range.fraction(*n))).collect();
    Raster::of_points(cells.columns, points)
}

/// What the shades mean.
fn key(cells: &Cells, screen: Screen) -> String {
    let (low, high) = (short(cells.range.low), short(cells.range.high));
    let steps = (0..10).map(|k| f64::from(k) / 9.0);
    let scale = match screen.colours {
        Colours::None => steps.map(characters::of_lightness).collect(),
        colours => {
            let points: Vec<_> = steps.map(|fraction| colour::of_fraction(Some(fraction))).collect();
            let raster = Raster::of_points(points.len(), [points.clone(), points].concat());
            characters::half_blocks(&raster, colours).concat()
        }
    };
    format!("{low} [{scale}] {high}")
}
