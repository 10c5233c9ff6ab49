//! Marks on a grid of points, whatever the points are.

use super::figure::{Figure, Marks};

/// A grid of points that marks are made on; the first row is at the top.
pub trait Surface {
    /// Columns and rows.
    fn size(&self) -> (usize, usize);

    /// Marks a point, which is within.
    fn mark(&mut self, x: usize, y: usize);
}

/// Draws what is within the axes, cells excepted.
pub fn draw(figure: &Figure, surface: &mut dyn Surface) {
    let (width, height) = surface.size();
    let place = |point: &(f64, f64)| {
        let (x, y) = (figure.x.fraction(point.0)?, figure.y.fraction(point.1)?);
        Some((nearest(x, width), nearest(1.0 - y, height)))
    };
    match &figure.marks {
        Marks::Line(points) => {
            let mut before = None;
            for point in points {
                let now = place(point);
                match (before, now) {
                    (Some(before), Some(now)) => line(surface, before, now),
                    (None, Some((x, y))) => surface.mark(x, y),
                    _ => {}
                }
                before = now;
            }
        }
        Marks::Points(points) => {
            for (x, y) in points.iter().filter_map(place) {
                surface.mark(x, y);
            }
        }
        Marks::Columns(columns) => {
            for x in 0..width {
                let count = columns[x * columns.len() / width];
                let high = figure.y.fraction(count as f64).unwrap_or(0.0) * height as f64;
                // What is not nothing is seen.
                let high = if count > 0 { high.round().max(1.0) } else { 0.0 };
                (height - (high as usize).min(height)..height).for_each(|y| surface.mark(x, y));
            }
        }
        Marks::Cells(_) => {}
    }
}

/// The point of so many at a fraction of the way.
fn nearest(fraction: f64, count: usize) -> usize {
    ((fraction * (count.saturating_sub(1)) as f64).round() as usize).min(count.saturating_sub(1))
}

/// Marks the points between two, both included (Bresenham's algorithm).
fn line(surface: &mut dyn Surface, (mut x, mut y): (usize, usize), (x1, y1): (usize, usize)) {
    let (dx, dy) = (x.abs_diff(x1) as i64, -(y.abs_diff(y1) as i64));
    let mut error = dx + dy;
    loop {
        surface.mark(x, y);
        if (x, y) == (x1, y1) {
            return;
        }
        let twice = 2 * error;
        if twice >= dy {
            error += dy;
            x = if x < x1 { x + 1 } else { x - 1 };
        }
        if twice <= dx {
            error += dx;
            y = if y < y1 { y + 1 } else { y - 1 };
        }
    }
}
