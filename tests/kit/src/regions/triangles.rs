//! Random regions, as text, of loops that put a part into a matrix in each round, whose place and size follow the counter:
//! triangles, bands and steps, read and written in each other's neighbourhood.

use crate::Random;
use std::fmt::Write;

/// Rows and columns of the matrix, and the most rounds of the loop: few, or more than anybody lists.
const SIZES: [([i64; 2], i64); 4] = [([6, 5], 4), ([6, 5], 4), ([20, 3], 19), ([3, 20], 19)];

/// `start + t * by` up to so many values of `t`.
#[derive(Clone, Copy)]
struct Line {
    start: i64,
    by: i64,
}

impl Line {
    fn text(self) -> String {
        match self.by {
            0 => self.start.to_string(),
            by => format!("({} + t * {by})", self.start),
        }
    }

    fn at(self, t: i64) -> i64 {
        self.start + t * self.by
    }

    /// The least and the greatest value.
    fn range(self, trips: i64) -> (i64, i64) {
        let (first, last) = (self.start, self.at(trips - 1));
        (first.min(last), first.max(last))
    }
}

struct Writer {
    random: Random,
    text: String,
    names: usize,
    trips: i64,
    extents: [i64; 2],
    /// The name of the matrix.
    whole: String,
}

/// From where on a part lies in a dimension, and how far it goes.
#[derive(Clone, Copy)]
struct Stretch {
    from: Line,
    count: Line,
}

/// For each dimension the variable that goes along it in a part, if one does.
type Axes = [Option<(String, Stretch)>; 2];

impl Writer {
    fn below(&mut self, limit: i64) -> i64 {
        self.random.below(limit)
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}_{}", self.names)
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(depth + 1));
    }

    /// A stretch that stays inside of a dimension in all rounds.
    fn stretch(&mut self, extent: i64) -> Stretch {
        loop {
            let from = Line { start: self.below(extent), by: self.below(3) - 1 };
            let end = Line { start: 1 + self.below(extent), by: [0, 0, 1, -1][self.below(4) as usize] };
            let count = Line { start: end.start - from.start, by: end.by - from.by };
            let (least, (low, high)) = (count.range(self.trips).0, end.range(self.trips));
            // Now and then there is nothing in some round.
            let is_inside = from.range(self.trips).0 >= 0 && low >= 0 && high <= extent;
            if is_inside && (least > 0 || least == 0 && self.below(4) == 0) {
                return Stretch { from, count };
            }
        }
    }

    /// An index into a dimension: of the part's own neighbourhood, or of a row that all look at.
    fn index(&mut self, own: Option<(&str, Stretch)>, extent: i64) -> String {
        for _ in 0..4 {
            // Most often the place that is written.
            let aside = match self.below(2) {
                0 => Line { start: 0, by: 0 },
                _ => Line { start: self.below(5) - 2, by: [0, 0, 1, -1][self.below(4) as usize] },
            };
            let Some((var, stretch)) = own.filter(|_| aside.start != 2 || aside.by == 0) else { break };
            let from = Line { start: stretch.from.start + aside.start, by: stretch.from.by + aside.by };
            let end = Line { start: from.start + stretch.count.start, by: from.by + stretch.count.by };
            if from.range(self.trips).0 >= 0 && end.range(self.trips).1 <= extent {
                return format!("{} + {var}", from.text());
            }
            if aside.start == 1 && from.range(self.trips).0 >= 0 && from.range(self.trips).1 < extent {
                return from.text();
            }
        }
        let line = Line { start: self.below(extent), by: self.below(3) - 1 };
        let (low, high) = line.range(self.trips);
        if low >= 0 && high < extent { line.text() } else { self.below(extent).to_string() }
    }

    fn value(&mut self, depth: usize, axes: &Axes) -> String {
        let mut terms = vec![(1 + self.below(9)).to_string()];
        terms.extend(axes.iter().flatten().map(|(var, _)| format!("{var} * {}", 1 + self.names)));
        for _ in 0..1 + self.below(2) {
            let own = |k: usize| axes[k].as_ref().map(|(var, stretch)| (var.as_str(), *stretch));
            let (row, col) = (self.index(own(0), self.extents[0]), self.index(own(1), self.extents[1]));
            terms.push(format!("{}[{row}, {col}]", self.whole));
        }
        if self.below(4) == 0 {
            terms.push(self.sum(depth, axes));
        }
        let name = self.name("v");
        let terms = terms.join(" + ");
        self.line(depth, &format!("let {name} = {terms}"));
        name
    }

    /// A sum over the places up to an index, in a row that everybody looks at.
    fn sum(&mut self, depth: usize, axes: &Axes) -> String {
        let (name, k, a, b, v) =
            (self.name("s"), self.name("k"), self.name("a"), self.name("b"), self.name("v"));
        let bound = match &axes[self.below(2) as usize] {
            Some((var, stretch)) if stretch.count.range(self.trips).1 < self.extents[1] => {
                format!("{var} + 1")
            }
            _ if self.trips <= self.extents[1] => "t + 1".to_string(),
            _ => self.extents[1].to_string(),
        };
        let row = self.index(None, self.extents[0]);
        let whole = self.whole.clone();
        self.line(depth, &format!("let {name} ="));
        self.line(depth + 1, &format!("red {k} < {bound} do"));
        self.line(depth + 2, &format!("let {v} = {whole}[{row}, {k}]"));
        self.line(depth + 2, &format!("in {v}"));
        self.line(depth + 1, &format!("by ({a} : i64 = 0) ({b} : i64) do"));
        self.line(depth + 2, &format!("in {a} + {b}"));
        name
    }

    /// An array of the extents of a part, made by one kernel or by one in another.
    fn part(&mut self, depth: usize, axes: &Axes) -> String {
        let name = self.name("p");
        let lists: Vec<String> =
            axes.iter().flatten().map(|(var, stretch)| format!("{var} < {}", stretch.count.text())).collect();
        self.line(depth, &format!("let {name} ="));
        match &lists[..] {
            [row, col] if self.below(2) == 0 => {
                let inner = self.name("r");
                self.line(depth + 1, &format!("kernel {row} do"));
                self.line(depth + 2, &format!("let {inner} ="));
                self.line(depth + 3, &format!("kernel {col} do"));
                let value = self.value(depth + 4, axes);
                self.line(depth + 4, &format!("in {value}"));
                self.line(depth + 2, &format!("in {inner}"));
            }
            _ => {
                self.line(depth + 1, &format!("kernel {} do", lists.join(", ")));
                let value = self.value(depth + 2, axes);
                self.line(depth + 2, &format!("in {value}"));
            }
        }
        name
    }

    /// An update of a part, which is of a row, of a column, or of several of both; perhaps backwards.
    fn update(&mut self, depth: usize) {
        let (mut axes, mut index) = (Axes::default(), Vec::new());
        let one = self.below(5);
        for (k, extent) in self.extents.into_iter().enumerate() {
            if one == k as i64 {
                index.push(self.index(None, extent));
                continue;
            }
            let stretch = self.stretch(extent);
            let Stretch { from, count } = stretch;
            let last = Line { start: from.start + count.start - 1, by: from.by + count.by };
            index.push(match self.below(6) {
                0 if count.range(self.trips).0 > 0 => format!("{} :+ {} * -1", last.text(), count.text()),
                _ => format!("{} :+ {} * 1", from.text(), count.text()),
            });
            axes[k] = Some((self.name(["i", "j"][k]), stretch));
        }
        let part = self.part(depth, &axes);
        let (next, whole) = (self.name("x"), self.whole.clone());
        self.line(depth, &format!("let {next} = {whole} with [{}] = {part}", index.join(", ")));
        self.whole = next;
    }

    fn region(&mut self) {
        let (extents, most) = SIZES[self.below(4) as usize];
        (self.extents, self.trips) = (extents, most - self.below(4));
        let (rows, x, whole) = (self.name("l"), self.name("x"), self.whole.clone());
        self.line(0, &format!("let {rows} ="));
        self.line(1, &format!("loop {x} = {whole} for t < {} do", self.trips));
        self.whole = x;
        for _ in 0..1 + self.below(2) {
            self.update(2);
        }
        let last = self.whole.clone();
        self.line(2, &format!("in {last}"));
        self.line(0, &format!("let end = call h({rows}) [4]"));
    }
}

/// What was observed, and a region, by the number of a seed.
pub fn written(seed: u64) -> (String, String) {
    let mut writer = Writer {
        random: Random::new(seed),
        text: String::new(),
        names: 0,
        trips: 1,
        extents: [1, 1],
        whole: "M".into(),
    };
    writer.region();
    let [rows, cols] = writer.extents;
    (format!("array M : [{rows}][{cols}]i64 rc 1\n"), writer.text)
}
