//! A picture in memory.

use super::colour::{Colour, WHITE};
use super::digits;

/// Points of colour, row by row from the top.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Raster {
    width: usize,
    points: Vec<Colour>,
}

impl Raster {
    /// A white one.
    pub fn new(width: usize, height: usize) -> Raster {
        Raster { width, points: vec![WHITE; width * height] }
    }

    /// One of these points, which are whole rows.
    pub fn of_points(width: usize, points: Vec<Colour>) -> Raster {
        Raster { width, points }
    }

    /// Points in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.points.len() / self.width.max(1)
    }

    /// All points.
    pub fn points(&self) -> &[Colour] {
        &self.points
    }

    /// The colour of a point, which is there.
    pub fn at(&self, x: usize, y: usize) -> Colour {
        self.points[y * self.width + x]
    }

    /// Gives a point a colour; outside there is nothing to be done.
    pub fn set(&mut self, x: usize, y: usize, colour: Colour) {
        if x < self.width
            && let Some(point) = self.points.get_mut(y * self.width + x)
        {
            *point = colour;
        }
    }

    /// Gives all points from one to another, that one excluded, a colour.
    pub fn fill(&mut self, (x0, y0): (usize, usize), (x1, y1): (usize, usize), colour: Colour) {
        for y in y0..y1 {
            for x in x0..x1 {
                self.set(x, y, colour);
            }
        }
    }

    /// Writes a number with its upper left corner at a point.
    pub fn write(&mut self, (x, y): (usize, usize), text: &str, colour: Colour) {
        for (dx, dy) in digits::points(text) {
            self.set(x + dx, y + dy, colour);
        }
    }

    /// The same picture with other extents: points are means where there are fewer, and repeated where there are more.
    pub fn scaled(&self, width: usize, height: usize) -> Raster {
        let span = |k: usize, new: usize, old: usize| {
            let start = (k * old / new).min(old.saturating_sub(1));
            start..((k + 1) * old).div_ceil(new).clamp(start + 1, old.max(start + 1))
        };
        // Wide spans are looked at in a few places: a picture is not worth more than a moment.
        let some = |span: std::ops::Range<usize>| {
            let step = span.len().div_ceil(8);
            span.step_by(step.max(1))
        };
        let mut points = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = span(y, height, self.height());
            for x in 0..width {
                let columns = span(x, width, self.width);
                let (mut sum, mut count) = ([0u32; 3], 0u32);
                for row in some(rows.clone()) {
                    for column in some(columns.clone()) {
                        let colour = self.at(column, row);
                        sum = std::array::from_fn(|k| sum[k] + u32::from(colour[k]));
                        count += 1;
                    }
                }
                points.push(sum.map(|sum| ((sum + count / 2) / count.max(1)) as u8));
            }
        }
        Raster { width, points }
    }
}

#[test]
fn pictures_shrink_to_means_and_grow_by_repetition() {
    let raster = Raster::of_points(2, vec![[0; 3], [100; 3], [200; 3], [100; 3]]);
    assert_eq!(raster.scaled(1, 1).points(), [[100; 3]]);
    assert_eq!(raster.scaled(4, 2).points()[..4], [[0; 3], [0; 3], [100; 3], [100; 3]]);
}
