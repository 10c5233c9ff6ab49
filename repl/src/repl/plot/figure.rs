//! What a value looks like: marks within axes.

use crate::repl::evaluation::Evaluated;
use crate::repl::numbers;
use galopvm::Value;
use galopvm_bytecode::Form;

/// Most stretches of a line that are drawn: each is as high as its numbers are.
const STRETCHES: usize = 2048;

/// Most places for points, and for cells, in each direction.
const PLACES: usize = 512;

/// Most columns of a histogram.
const COLUMNS: usize = 60;

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Line,
    Scatter,
    Histogram,
    Heat,
}

impl Kind {
    /// The kind that a word means.
    pub fn named(word: &str) -> Option<Kind> {
        Some(match word {
            "line" => Kind::Line,
            "scatter" => Kind::Scatter,
            "hist" => Kind::Histogram,
            "heat" => Kind::Heat,
            _ => return None,
        })
    }
}

/// From the lowest to the highest of some numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    /// That of the finite ones among these, made wider if it has no width; nothing if there are none.
    fn of(numbers: impl Iterator<Item = f64>) -> Option<Range> {
        let finite = numbers.filter(|number| number.is_finite());
        let (low, high) =
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), n| (low.min(n), high.max(n)));
        let room = if low.abs() < 1e15 { 0.5 } else { low.abs() / 2.0 };
        match (low < high, low == high) {
            (true, _) => Some(Range { low, high }),
            // Nothing lies beyond the greatest number, and a place in the middle is not worth an infinity.
            (_, true) => Some(Range { low: low - room, high: (high + room).min(f64::MAX) }),
            _ => None,
        }
    }

    /// Where a number lies, from zero to one; nothing for what is not finite.
    pub fn fraction(&self, number: f64) -> Option<f64> {
        // Halves, since the whole may be more than the greatest number.
        let part = (number / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        number.is_finite().then_some(part.clamp(0.0, 1.0))
    }
}

/// Numbers in rows, from the top.
pub struct Cells {
    pub columns: usize,
    pub numbers: Vec<f64>,
    /// Of all of them.
    pub range: Range,
}

impl Cells {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.numbers.len() / self.columns.max(1)
    }

    /// The same with at most so many rows and columns: means of neighbours.
    pub fn within(&self, rows: usize, columns: usize) -> Cells {
        let (rows, columns) = (rows.min(self.rows()), columns.min(self.columns));
        let span = |k: usize, new: usize, old: usize| k * old / new..(k + 1) * old / new;
        let mean = |r: usize, c: usize| {
            let rows = span(r, rows, self.rows());
            let all = rows.flat_map(|row| {
                span(c, columns, self.columns).map(move |column| self.numbers[row * self.columns + column])
            });
            let (sum, count) =
                all.filter(|n| n.is_finite()).fold((0.0, 0.0), |(sum, count), n| (sum + n, count + 1.0));
            if count > 0.0 { sum / count } else { f64::NAN }
        };
        let numbers = (0..rows * columns).map(|k| mean(k / columns, k % columns)).collect();
        Cells { columns, numbers, range: self.range }
    }
}

/// What is within the axes.
pub enum Marks {
    /// Points that are joined; a number that is none is a gap.
    Line(Vec<(f64, f64)>),
    /// Points.
    Points(Vec<(f64, f64)>),
    /// Columns of the same width over the whole axis.
    Columns(Vec<u64>),
    /// Numbers as colours.
    Cells(Cells),
}

/// A figure.
pub struct Figure {
    pub marks: Marks,
    pub x: Range,
    /// From below; of cells from above.
    pub y: Range,
    /// Numbers that have no place: no numbers at all, and infinities.
    nans: usize,
    infinities: usize,
}

impl Figure {
    /// The figure of a value; why there is none otherwise.
    pub fn of(value: &Evaluated, kind: Option<Kind>) -> Result<Figure, String> {
        numbers::few_enough(&value.values)?;
        let slots = numbers::leaves(&value.form).ok_or("it holds a sum")?;
        let leaves: Vec<&Value> = slots.iter().filter_map(|slot| value.values.get(*slot as usize)).collect();
        let shapes: Vec<Vec<i64>> = leaves.iter().map(|leaf| numbers::shape(leaf)).collect();
        let is_list = |k: usize| shapes[k].len() == 1;
        let pairs = |slots: [usize; 2]| {
            numbers::all(leaves[slots[0]]).into_iter().zip(numbers::all(leaves[slots[1]]))
        };
        let joined = kind == Some(Kind::Line);
        match (leaves.len(), kind) {
            (1.., Some(Kind::Histogram)) => {
                let all: Vec<f64> = leaves.iter().flat_map(|leaf| numbers::all(leaf)).collect();
                let whole = leaves.iter().all(|leaf| !leaf.elem().is_float());
                Figure::histogram(&all, whole)
            }
            (1, None | Some(Kind::Line)) if is_list(0) => {
                let ys = numbers::all(leaves[0]).into_iter();
                Figure::of_points(ys.enumerate().map(|(k, y)| (k as f64, y)).collect(), true)
            }
            (1, Some(Kind::Scatter)) if is_list(0) => {
                let ys = numbers::all(leaves[0]).into_iter();
                Figure::of_points(ys.enumerate().map(|(k, y)| (k as f64, y)).collect(), false)
            }
            (1, Some(Kind::Scatter | Kind::Line)) if shapes[0].len() == 2 && shapes[0][1] == 2 => {
                let all = numbers::all(leaves[0]);
                Figure::of_points(all.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(), joined)
            }
            (1, None | Some(Kind::Heat)) if shapes[0].len() == 2 => {
                Figure::of_cells(numbers::all(leaves[0]), shapes[0][1])
            }
            (2, None | Some(Kind::Scatter | Kind::Line)) if is_list(0) && is_list(1) => {
                match shapes[0] == shapes[1] {
                    true => Figure::of_points(pairs([0, 1]).collect(), joined),
                    false => Err(format!("one has {} elements, the other {}", shapes[0][0], shapes[1][0])),
                }
            }
            _ if matches!(value.form, Form::Value(_)) && shapes.iter().all(Vec::is_empty) => {
                Err("it is a single number".into())
            }
            _ => Err("there is no such figure of it".into()),
        }
    }

    fn of_points(points: Vec<(f64, f64)>, joined: bool) -> Result<Figure, String> {
        let nans = points.iter().filter(|(x, y)| x.is_nan() || y.is_nan()).count();
        let infinities = points.iter().filter(|(x, y)| x.is_infinite() || y.is_infinite()).count();
        let shown = || points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let (Some(x), Some(y)) = (Range::of(shown().map(|p| p.0)), Range::of(shown().map(|p| p.1))) else {
            return Err(
                if points.is_empty() { "it is empty" } else { "none of its numbers is finite" }.into()
            );
        };
        let marks = match joined {
            true => Marks::Line(thinner(points)),
            false => Marks::Points(apart(points, &x, &y)),
        };
        Ok(Figure { marks, x, y, nans, infinities })
    }

    fn of_cells(numbers: Vec<f64>, columns: i64) -> Result<Figure, String> {
        let nans = numbers.iter().filter(|n| n.is_nan()).count();
        let infinities = numbers.iter().filter(|n| n.is_infinite()).count();
        let Some(range) = Range::of(numbers.iter().copied()) else {
            return Err(
                if numbers.is_empty() { "it is empty" } else { "none of its numbers is finite" }.into()
            );
        };
        let cells = Cells { columns: columns as usize, numbers, range };
        let last = |count: usize| Range { low: 0.0, high: count.saturating_sub(1) as f64 };
        let (x, y) = (last(cells.columns), last(cells.rows()));
        Ok(Figure { marks: Marks::Cells(cells.within(PLACES, PLACES)), x, y, nans, infinities })
    }

    fn histogram(numbers: &[f64], whole: bool) -> Result<Figure, String> {
        let nans = numbers.iter().filter(|n| n.is_nan()).count();
        let infinities = numbers.iter().filter(|n| n.is_infinite()).count();
        let Some(range) = Range::of(numbers.iter().copied()) else {
            return Err(
                if numbers.is_empty() { "it is empty" } else { "none of its numbers is finite" }.into()
            );
        };
        let finite = numbers.len() - nans - infinities;
        // Few whole numbers have a column each, around them; of others there are as many as Rice's rule gives.
        let least = numbers.iter().copied().filter(|n| n.is_finite()).fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().filter(|n| n.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        let (x, count) = match whole && most - least < COLUMNS as f64 {
            true => (Range { low: least - 0.5, high: most + 0.5 }, (most - least) as usize + 1),
            false => (range, ((2.0 * (finite as f64).cbrt()).ceil() as usize).clamp(5, COLUMNS)),
        };
        let mut columns = vec![0u64; count];
        for fraction in numbers.iter().filter_map(|n| x.fraction(*n)) {
            columns[((fraction * count as f64) as usize).min(count - 1)] += 1;
        }
        let highest = columns.iter().copied().max().unwrap_or(0) as f64;
        Ok(Figure {
            marks: Marks::Columns(columns),
            x,
            y: Range { low: 0.0, high: highest },
            nans,
            infinities,
        })
    }

    /// What is not in the figure, if there is something.
    pub fn left_out(&self) -> Option<String> {
        let counted = [(self.nans, "NaN"), (self.infinities, "infinite")];
        let parts: Vec<String> = counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        (!parts.is_empty()).then(|| format!("left out: {}", parts.join(", ")))
    }
}

/// The same line of fewer points: of each stretch the lowest and the highest, in their order.
fn thinner(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= 2 * STRETCHES {
        return points;
    }
    let mut thin = Vec::with_capacity(2 * STRETCHES + 2);
    for stretch in points.chunks(points.len().div_ceil(STRETCHES)) {
        let by_height = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let finite = || stretch.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        match (finite().min_by(by_height), finite().max_by(by_height)) {
            (Some(low), Some(high)) if low.0 <= high.0 => thin.extend([*low, *high]),
            (Some(low), Some(high)) => thin.extend([*high, *low]),
            _ => thin.push((f64::NAN, f64::NAN)),
        }
    }
    thin
}

/// The same points without those where one is already.
fn apart(mut points: Vec<(f64, f64)>, x: &Range, y: &Range) -> Vec<(f64, f64)> {
    let mut taken = vec![false; PLACES * PLACES];
    let place = |fraction: f64| ((fraction * PLACES as f64) as usize).min(PLACES - 1);
    points.retain(|point| match (x.fraction(point.0), y.fraction(point.1)) {
        (Some(x), Some(y)) => !std::mem::replace(&mut taken[place(y) * PLACES + place(x)], true),
        _ => false,
    });
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_a_width_and_leave_out_what_is_not_finite() {
        let of = |numbers: &[f64]| Range::of(numbers.iter().copied());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[f64::NAN, f64::INFINITY]), None);
        assert_eq!(of(&[2.0, f64::NAN]), Some(Range { low: 1.5, high: 2.5 }));
        assert_eq!(of(&[1.0, f64::INFINITY, -1.0]), Some(Range { low: -1.0, high: 1.0 }));
        let all = Range { low: -f64::MAX, high: f64::MAX };
        assert_eq!(all.fraction(0.0), Some(0.5));
        assert_eq!(all.fraction(f64::NAN), None);
        assert!(of(&[f64::MAX]).is_some_and(|range| range.low < range.high && range.high.is_finite()));
        assert!(of(&[1e20]).is_some_and(|range| range.fraction(1e20) == Some(0.5)));
    }

    #[test]
    fn long_lines_keep_their_heights() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|k| (f64::from(k), 0.0)).collect();
        points[77_777].1 = 9.0;
        let thin = thinner(points);
        assert!(thin.len() <= 2 * STRETCHES + 2 && thin.contains(&(77_777.0, 9.0)), "{}", thin.len());
    }
}
