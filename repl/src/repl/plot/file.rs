//! Figures as files: PNG, and SVG for those whose name says so.

use super::figure::{Cells, Figure, Marks};
use super::surface::{Surface, draw};
use super::terminal;
use crate::repl::numbers::short;
use crate::repl::picture::colour::{BLACK, Colour, INK, of_fraction};
use crate::repl::picture::{Raster, base64, digits, png};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// A figure's extents.
const SIZE: (usize, usize) = (800, 500);

/// Where the axes meet outside: left, top, right, bottom.
const FRAME: (usize, usize, usize, usize) = (110, 20, 780, 460);

/// Room at the right for the meaning of colours.
const KEY: usize = 130;

/// What a figure is drawn into.
struct Frame {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Frame {
    fn of(figure: &Figure) -> Frame {
        let (left, top, right, bottom) = FRAME;
        let right = if matches!(figure.marks, Marks::Cells(_)) { right - KEY } else { right };
        Frame { left, top, width: right - left, height: bottom - top }
    }

    fn right(&self) -> usize {
        self.left + self.width
    }

    fn bottom(&self) -> usize {
        self.top + self.height
    }

    /// What is written around it: each text with its upper left corner.
    fn labels(&self, figure: &Figure) -> Vec<((usize, usize), String)> {
        let (top, bottom) = match figure.marks {
            Marks::Cells(_) => (figure.y.low, figure.y.high),
            _ => (figure.y.high, figure.y.low),
        };
        let before = |text: &str| self.left.saturating_sub(digits::width(text) + 6);
        let (top, bottom) = (short(top), short(bottom));
        let (low, high) = (short(figure.x.low), short(figure.x.high));
        let under = self.bottom() + 8;
        let mut labels = vec![
            ((before(&top), self.top), top),
            ((before(&bottom), self.bottom() - digits::HEIGHT), bottom),
            ((self.left, under), low),
            ((self.right() - digits::width(&high), under), high),
        ];
        if let Marks::Cells(cells) = &figure.marks {
            let key = self.key();
            labels.push(((key.right() + 6, key.top), short(cells.range.high)));
            labels.push(((key.right() + 6, key.bottom() - digits::HEIGHT), short(cells.range.low)));
        }
        labels
    }

    /// Where the meaning of colours is shown.
    fn key(&self) -> Frame {
        Frame { left: self.right() + 15, top: self.top, width: 16, height: self.height }
    }
}

/// The part of a picture that marks are made in.
struct Window<'a> {
    raster: &'a mut Raster,
    frame: &'a Frame,
    /// How far marks reach around their point.
    reach: usize,
}

impl Surface for Window<'_> {
    fn size(&self) -> (usize, usize) {
        (self.frame.width, self.frame.height)
    }

    fn mark(&mut self, x: usize, y: usize) {
        let (x, y) = (x + self.frame.left, y + self.frame.top);
        self.raster.fill((x - self.reach, y - self.reach), (x + self.reach + 1, y + self.reach + 1), INK);
    }
}

/// The bytes of the file of this name.
pub fn encoded(figure: &Figure, file: &Path) -> io::Result<Vec<u8>> {
    match file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
        true => Ok(svg(figure)?.into_bytes()),
        false => png::encoded(&raster(figure)),
    }
}

fn raster(figure: &Figure) -> Raster {
    let frame = Frame::of(figure);
    let mut raster = Raster::new(SIZE.0, SIZE.1);
    match &figure.marks {
        Marks::Cells(cells) => {
            copy(&mut raster, &frame, &terminal::raster(cells).scaled(frame.width, frame.height));
            copy(&mut raster, &frame.key(), &key(frame.height));
        }
        marks => {
            let reach = match marks {
                Marks::Points(_) => 2,
                Marks::Line(_) => 1,
                _ => 0,
            };
            draw(figure, &mut Window { raster: &mut raster, frame: &frame, reach });
        }
    }
    let (left, bottom) = (frame.left - 2, frame.bottom() + 1);
    raster.fill((left, frame.top), (left + 1, bottom + 1), BLACK);
    raster.fill((left, bottom), (frame.right(), bottom + 1), BLACK);
    for (corner, text) in frame.labels(figure) {
        raster.write(corner, &text, BLACK);
    }
    raster
}

fn copy(raster: &mut Raster, frame: &Frame, from: &Raster) {
    for y in 0..from.height() {
        for x in 0..from.width() {
            raster.set(frame.left + x, frame.top + y, from.at(x, y));
        }
    }
}

/// All colours, the high ones above.
fn key(height: usize) -> Raster {
    let shade = |y: usize| of_fraction(Some(1.0 - y as f64 / height.max(2) as f64));
    Raster::of_points(16, (0..height).flat_map(|y| [shade(y); 16]).collect())
}

fn svg(figure: &Figure) -> io::Result<String> {
    let frame = Frame::of(figure);
    let (width, height) = SIZE;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let place = |(x, y): &(f64, f64)| {
        let (x, y) = (figure.x.fraction(*x)?, figure.y.fraction(*y)?);
        let (x, y) = (x * (frame.width - 1) as f64, (1.0 - y) * (frame.height - 1) as f64);
        Some(format!("{:.1},{:.1}", frame.left as f64 + x, frame.top as f64 + y))
    };
    let ink = hex(INK);
    match &figure.marks {
        Marks::Line(points) => {
            for piece in points.split(|point| place(point).is_none()).filter(|piece| !piece.is_empty()) {
                let path: Vec<String> = piece.iter().filter_map(place).collect();
                // A piece of one point is a point: a line there and back, with round ends.
                let path = if path.len() == 1 { [path.clone(), path].concat() } else { path };
                line(
                    &mut text,
                    &format!(
                        "<polyline points=\"{}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"2\" \
                     stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
                        path.join(" ")
                    ),
                );
            }
        }
        Marks::Points(points) => {
            for place in points.iter().filter_map(place) {
                let (x, y) = place.split_once(',').unwrap_or((&place, "0"));
                line(&mut text, &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"2.5\" fill=\"{ink}\"/>"));
            }
        }
        Marks::Columns(columns) => {
            let wide = frame.width as f64 / columns.len().max(1) as f64;
            for (k, count) in columns.iter().enumerate().filter(|(_, count)| **count > 0) {
                let high = figure.y.fraction(*count as f64).unwrap_or(0.0) * frame.height as f64;
                line(
                    &mut text,
                    &format!(
                        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" fill=\"{ink}\" \
                     stroke=\"white\"/>",
                        frame.left as f64 + k as f64 * wide,
                        frame.bottom() as f64 - high
                    ),
                );
            }
        }
        Marks::Cells(cells) => cells_of_svg(&mut text, cells, &frame)?,
    }
    let (left, top, right, bottom) = (frame.left - 2, frame.top, frame.right(), frame.bottom() + 1);
    line(&mut text, &format!("<path d=\"M{left} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>"));
    for ((x, y), label) in frame.labels(figure) {
        let (y, length) = (y + digits::HEIGHT, digits::width(&label));
        line(
            &mut text,
            &format!(
                "<text x=\"{x}\" y=\"{y}\" font-family=\"monospace\" font-size=\"18\" textLength=\"{length}\" \
             lengthAdjust=\"spacingAndGlyphs\">{label}</text>"
            ),
        );
    }
    text.push_str("</svg>\n");
    Ok(text)
}

/// Cells as a picture in the picture, a point for each, and what the colours mean.
fn cells_of_svg(text: &mut String, cells: &Cells, frame: &Frame) -> io::Result<()> {
    for (frame, raster) in [(frame, &terminal::raster(cells)), (&frame.key(), &key(64))] {
        line(
            text,
            &format!(
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
                frame.left,
                frame.top,
                frame.width,
                frame.height,
                base64::encoded(&png::encoded(raster)?)
            ),
        );
    }
    Ok(())
}

fn line(text: &mut String, element: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{element}");
}

fn hex(colour: Colour) -> String {
    let [red, green, blue] = colour;
    format!("#{red:02x}{green:02x}{blue:02x}")
}
