//! Values as the prompt shows them: a matrix in rows, what is long without its middle, all else as programs write it.
//!
//! What is shown does not depend on where it goes: a pipe gets what a terminal gets.

use crate::values::type_text;
use galopvm::{Array, Shown, Value, data};
use galopvm_bytecode::Form;
use std::io::{self, Write};

/// Most bytes of a value that is written as programs write it.
const WHOLE: usize = 4096;

/// Most bytes of a value that stands behind its name and type.
const SHORT: usize = 72;

/// Most bytes of a vector that is shown whole.
const VECTOR: usize = 1000;

/// Most rows, and bytes of a row, of a matrix that is shown whole.
const MATRIX: (usize, usize) = (40, 100);

/// Most rows that are shown with gaps: an array of many dimensions has more, however short it is in each.
const ROWS: usize = 400;

/// How many elements are shown before and behind a gap; of arrays of more than three dimensions, one.
const EDGE: i64 = 3;

/// What stands in a gap.
const GAP: &str = "..";

/// A value, of one or more lines without the last end.
pub fn value_text(form: &Form, values: &[Value]) -> String {
    let array = match form {
        Form::Value(number) => values.get(*number as usize).and_then(Value::as_array),
        _ => None,
    };
    match array.filter(|array| array.elements() > 0) {
        Some(array) if array.rank() > 1 => {
            Matrix::of(array).map_or_else(|| written(WHOLE, form, values), |matrix| matrix.text())
        }
        Some(array) => vector(array, form, values),
        None => written(WHOLE, form, values),
    }
}

/// The value of something that a program shows, on one line.
pub fn shown_text(shown: &Shown<'_>) -> String {
    limited(WHOLE, &[], &mut |out| shown.write_value(out))
}

/// The beginning of a value, for where there is room for no more.
pub fn short_text(form: &Form, values: &[Value]) -> String {
    written(SHORT, form, values)
}

/// A value as programs write it, up to so many bytes.
fn written(most: usize, form: &Form, values: &[Value]) -> String {
    limited(most, values, &mut |out| data::write_form(out, form, values, data::Style::Program))
}

fn vector(array: &Array, form: &Form, values: &[Value]) -> String {
    // Each element takes two bytes at least.
    let few = array.elements() <= VECTOR as i64 / 2;
    let text = few.then(|| written(WHOLE, form, values)).filter(|text| text.len() <= VECTOR);
    text.unwrap_or_else(|| {
        let cells = edges(array.elements(), EDGE).into_iter().map(|at| cell(array, at.map(|i| vec![i])));
        let cells: Vec<String> = cells.collect();
        format!("[{}] : {}", cells.join(", "), array_type(array))
    })
}

fn array_type(array: &Array) -> String {
    type_text(&Value::Array(array.clone()))
}

/// The element at an index, without its type; the gap at none.
fn cell(array: &Array, index: Option<Vec<i64>>) -> String {
    let Some(scalar) = index.and_then(|index| array.get(&index)) else { return GAP.into() };
    let mut text = Vec::new();
    // Nothing fails that writes to memory.
    let _ = data::write_form(&mut text, &Form::Value(0), &[Value::Scalar(scalar)], data::Style::Bare);
    String::from_utf8_lossy(&text).into_owned()
}

/// All positions below an extent.
fn all(extent: i64) -> Vec<Option<i64>> {
    (0..extent).map(Some).collect()
}

/// The first and last positions below an extent, with a gap between them; all if there are not more.
fn edges(extent: i64, edge: i64) -> Vec<Option<i64>> {
    match extent > 2 * edge {
        true => (0..edge).map(Some).chain([None]).chain((extent - edge..extent).map(Some)).collect(),
        false => all(extent),
    }
}

/// An array of two or more dimensions on its way to rows.
struct Matrix<'a> {
    array: &'a Array,
    /// The positions that are shown, dimension by dimension.
    positions: Vec<Vec<Option<i64>>>,
    lines: Vec<Line>,
}

/// A line of a matrix.
enum Line {
    /// A row, and how many brackets open before and close behind it.
    Row { opens: usize, cells: Vec<String>, closes: usize },
    /// What is left out, so many brackets deep.
    Gap(usize),
}

impl<'a> Matrix<'a> {
    /// None if it would be too long with gaps, too.
    fn of(array: &'a Array) -> Option<Matrix<'a>> {
        let shape = array.shape();
        let outer = &shape[..shape.len() - 1];
        let edge = if shape.len() > 3 { 1 } else { EDGE };
        let rows = outer.iter().fold(1i64, |rows, extent| rows.saturating_mul(*extent));
        let shown = |extent: &i64| if rows > MATRIX.0 as i64 { edges(*extent, edge) } else { all(*extent) };
        let mut positions: Vec<_> = outer.iter().map(shown).collect();
        let rows_shown = positions.iter().fold(1, |rows: usize, shown| rows.saturating_mul(shown.len()));
        if rows_shown > ROWS {
            return None;
        }
        let columns = shape[outer.len()];
        // A number with its comma and blank takes three bytes at least.
        let narrow = columns <= MATRIX.1 as i64 / 3;
        positions.push(if narrow { all(columns) } else { edges(columns, EDGE) });
        let mut matrix = Matrix { array, positions, lines: Vec::new() };
        matrix.collect(&mut Vec::new(), 0, 0);
        if narrow && matrix.width() > MATRIX.1 {
            matrix.positions[outer.len()] = edges(columns, EDGE);
            matrix.lines.clear();
            matrix.collect(&mut Vec::new(), 0, 0);
        }
        Some(matrix)
    }

    /// The lines of the part at an index, behind and before so many brackets of what is around it.
    fn collect(&mut self, index: &mut Vec<i64>, opens: usize, closes: usize) {
        let depth = index.len();
        let positions = self.positions[depth].clone();
        if depth + 1 == self.positions.len() {
            let at = |last: i64| index.iter().copied().chain([last]).collect();
            let cells = positions.iter().map(|last| cell(self.array, last.map(at))).collect();
            self.lines.push(Line::Row { opens: opens + 1, cells, closes: closes + 1 });
            return;
        }
        for (k, position) in positions.iter().enumerate() {
            let Some(i) = position else {
                self.lines.push(Line::Gap(depth + 1));
                continue;
            };
            index.push(*i);
            let opens = if k == 0 { opens + 1 } else { 0 };
            let closes = if k + 1 == positions.len() { closes + 1 } else { 0 };
            self.collect(index, opens, closes);
            index.pop();
        }
    }

    /// How wide each column is.
    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for line in &self.lines {
            let Line::Row { cells, .. } = line else { continue };
            widths.resize(cells.len(), 0);
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = cell.len().max(*width);
            }
        }
        widths
    }

    /// How wide a row is.
    fn width(&self) -> usize {
        self.widths().iter().map(|width| width + 2).sum()
    }

    fn text(&self) -> String {
        let (widths, rank) = (self.widths(), self.positions.len());
        let mut text = array_type(self.array);
        for line in &self.lines {
            text.push('\n');
            match line {
                Line::Gap(depth) => text.push_str(&format!("{:depth$}{GAP},", "")),
                Line::Row { opens, cells, closes } => {
                    let cells: Vec<String> =
                        cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
                    let (before, behind) = ("[".repeat(*opens), "]".repeat(*closes));
                    let ends = if *closes == rank { "" } else { "," };
                    text.push_str(&format!("{before:>rank$}{}{behind}{ends}", cells.join(", ")));
                    // An empty line between blocks.
                    if *closes > 1 && *closes < rank {
                        text.push('\n');
                    }
                }
            }
        }
        text
    }
}

/// What is written, cut off behind an element where it gets too long.
fn limited(most: usize, values: &[Value], write: &mut dyn FnMut(&mut Limited) -> io::Result<()>) -> String {
    let mut out = Limited { text: Vec::new(), left: most };
    let is_whole = write(&mut out).is_ok();
    let mut text = String::from_utf8_lossy(&out.text).into_owned();
    if !is_whole {
        text.truncate(text.rfind(", ").map_or(text.len(), |at| at + 1));
        let elements = values.iter().filter_map(Value::as_array).map(|array| array.elements()).max();
        text.push_str(&elements.map_or(format!(" {GAP}"), |n| format!(" {GAP} ({n} elements)")));
    }
    text
}

/// Takes some bytes, then no more.
struct Limited {
    text: Vec<u8>,
    left: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.text.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() { Err(io::Error::other("long enough")) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm::Memory;

    fn text(elements: &[i64], shape: &[i64]) -> String {
        let array = Array::from_slice(&Memory::default(), elements, shape).expect("a small array");
        value_text(&Form::Value(0), &[Value::Array(array)])
    }

    fn counted(shape: &[i64]) -> String {
        text(&(0..shape.iter().product()).collect::<Vec<_>>(), shape)
    }

    #[test]
    fn columns_of_matrices_are_aligned() {
        assert_eq!(text(&[1, -20, 300, 4], &[2, 2]), "[2][2]i64\n[[  1, -20],\n [300,   4]]");
        assert_eq!(counted(&[2, 1, 2]), "[2][1][2]i64\n[[[0, 1]],\n\n [[2, 3]]]");
    }

    #[test]
    fn the_middle_of_what_is_long_is_left_out() {
        assert_eq!(counted(&[3]), "[0i64, 1i64, 2i64]");
        assert_eq!(counted(&[1000]), "[0, 1, 2, .., 997, 998, 999] : [1000]i64");
        let tall = "[50][1]i64\n[[ 0],\n [ 1],\n [ 2],\n ..,\n [47],\n [48],\n [49]]";
        assert_eq!(counted(&[50, 1]), tall);
        assert_eq!(counted(&[1, 50]), "[1][50]i64\n[[0, 1, 2, .., 47, 48, 49]]");
        // Wide numbers leave room for fewer.
        let wide = text(&[1_000_000_000_000; 10], &[1, 10]);
        assert_eq!(wide.matches("1000000000000").count(), 6, "{wide}");
        let deep = counted(&[7, 7, 7, 2]);
        assert!(deep.lines().count() < 30 && deep.contains("\n .."), "{deep}");
        // Two to the power of 16 rows, none of which a gap would leave out.
        let deepest = counted(&[2; 17]);
        assert!(deepest.len() < 2 * WHOLE && deepest.ends_with(".. (131072 elements)"), "{deepest}");
    }

    #[test]
    fn no_number_is_cut() {
        let form = Form::Array(0, Box::new(Form::Tuple(vec![Form::Value(0), Form::Value(0)])));
        let elements: Vec<i64> = (0..1000).map(|n| 1_000_000 + n).collect();
        let array = Array::from_slice(&Memory::default(), &elements, &[1000]).expect("a small array");
        let text = value_text(&form, &[Value::Array(array)]);
        assert!(
            text.ends_with("i64, .. (1000 elements)") || text.ends_with("i64), .. (1000 elements)"),
            "{text}"
        );
    }
}
