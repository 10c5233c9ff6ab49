//! Random regions of every construct, as text: kernels in kernels, loops with and without a count, branches, reductions
//! and scans, private arrays, concatenations, views, slices of all kinds, kernels that change a part of an array.

use crate::Random;
use std::fmt::Write;

/// What can be named at a place.
#[derive(Clone, Default)]
struct Scope {
    /// Iteration variables, with the number of their values.
    steps: Vec<(String, i64)>,
    arrays: Vec<(String, Vec<i64>)>,
    depth: usize,
    /// Constructs around.
    nested: usize,
}

impl Scope {
    fn inside(&self) -> Scope {
        Scope { depth: self.depth + 2, nested: self.nested + 1, ..self.clone() }
    }
}

struct Writer {
    random: Random,
    text: String,
    names: usize,
}

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

    /// An index into a dimension.
    fn index(&mut self, scope: &Scope, extent: i64) -> String {
        if scope.steps.is_empty() || self.below(6) == 0 {
            return self.below(extent).to_string();
        }
        let at = self.below(scope.steps.len() as i64) as usize;
        let (step, count) = scope.steps[at].clone();
        let room = extent - count;
        match self.below(6) {
            0 => format!("min({step} + {}, {})", 1 + self.below(2), extent - 1),
            1 if room >= 0 => format!("{} - {step}", extent - 1),
            2 if count * 2 <= extent => format!("{step} * 2 + {}", self.below(2)),
            3 if room > 0 => format!("{step} + {}", self.below(room + 1)),
            _ if room >= 0 => step,
            _ => format!("{step} % {extent}"),
        }
    }

    fn read(&mut self, scope: &Scope) -> Option<String> {
        if scope.arrays.is_empty() {
            return None;
        }
        // What was made last is read most.
        let count = scope.arrays.len() as i64;
        let at = (count - 1 - self.below(count).min(self.below(count))) as usize;
        let (array, shape) = scope.arrays[at].clone();
        let index: Vec<String> = shape.iter().map(|extent| self.index(scope, *extent)).collect();
        Some(format!("{array}[{}]", index.join(", ")))
    }

    /// A number.
    fn element(&mut self, scope: &Scope) -> String {
        let mut terms = vec![(1 + self.below(9)).to_string()];
        if let Some((step, _)) = scope.steps.last() {
            terms.push(format!("{step} * {}", 1 + self.below(7)));
        }
        for _ in 0..1 + self.below(2) {
            terms.extend(self.read(scope));
        }
        terms.join(" + ")
    }

    /// A statement that binds a number; perhaps with a branch or a reduction.
    fn number(&mut self, scope: &Scope) -> String {
        let name = self.name("v");
        match self.below(8) {
            0 => {
                let (cond, inner) = (self.index(scope, 5), scope.inside());
                self.line(scope.depth, &format!("let {name} ="));
                self.line(scope.depth + 1, &format!("if {cond} < {} then", self.names % 5));
                for side in ["else", ""] {
                    let value = self.number(&Scope { nested: 9, ..inner.clone() });
                    self.line(inner.depth, &format!("in {value}"));
                    if !side.is_empty() {
                        self.line(scope.depth + 1, side);
                    }
                }
            }
            1 if scope.nested < 4 => {
                let (k, count) = (self.name("k"), 1 + self.below(3));
                let (a, b) = (self.name("a"), self.name("b"));
                let mut inner = scope.inside();
                inner.steps.push((k.clone(), count));
                self.line(scope.depth, &format!("let {name} ="));
                self.line(scope.depth + 1, &format!("red {k} < {count} do"));
                let value = self.number(&Scope { nested: 9, ..inner.clone() });
                self.line(inner.depth, &format!("in {value}"));
                self.line(scope.depth + 1, &format!("by ({a} : i64 = 0) ({b} : i64) do"));
                self.line(inner.depth, &format!("in {a} + {b}"));
            }
            _ => {
                let element = self.element(scope);
                self.line(scope.depth, &format!("let {name} = {element}"));
            }
        }
        name
    }

    fn shape_text(shape: &[i64]) -> String {
        shape.iter().map(|extent| format!("[{extent}]")).collect()
    }

    /// `start :+ count * step` in a dimension of this size, with the count.
    fn slice(&mut self, size: i64, count: i64, scope: &Scope) -> String {
        let step = 1 + self.below(((size - 1) / count.max(1)).clamp(1, 3));
        let reach = (count - 1) * step;
        let room = size - reach;
        if room <= 0 {
            return format!("0 :+ {count} * 1");
        }
        if let Some((var, most)) = scope.steps.last().cloned()
            && self.below(2) == 0
        {
            // It moves with the iteration.
            let by = if most > 1 { ((room - 1) / (most - 1)).min(1 + self.below(count * 2)) } else { 1 };
            let start = self.below(room - by * (most - 1));
            return format!("{start} + {var} * {by} :+ {count} * {step}");
        }
        let start = self.below(room);
        match self.below(5) {
            0 => format!("{} :+ {count} * {}", start + reach, -step),
            _ => format!("{start} :+ {count} * {step}"),
        }
    }

    /// The index of a part of an array, and the shape of the part.
    fn part(&mut self, scope: &Scope, shape: &[i64]) -> (String, Vec<i64>) {
        if let [size] = *shape
            && size >= 12
            && self.below(2) == 0
        {
            // Rows of places far apart, or that overlap where they should not.
            let (rows, columns) = (1 + self.below(3), 1 + self.below(4));
            let inner = 1 + self.below(2);
            let outer = (columns * inner).max(1 + self.below((size - columns * inner) / rows.max(1)));
            let reach = (rows - 1) * outer + (columns - 1) * inner;
            if reach < size {
                let start = self.below(size - reach);
                return (
                    format!("[[{start} + {{({rows}:{outer}),({columns}:{inner})}}]]"),
                    vec![rows, columns],
                );
            }
        }
        let mut index = Vec::new();
        let mut left = Vec::new();
        for (k, extent) in shape.iter().enumerate() {
            if shape.len() > 1 && self.below(3) == 0 && (k == 0 || !left.is_empty()) {
                index.push(self.index(scope, *extent));
            } else {
                let count = 1 + self.below(*extent);
                index.push(self.slice(*extent, count, scope));
                left.push(count);
            }
        }
        (format!("[{}]", index.join(", ")), left)
    }

    fn bind(&mut self, scope: &mut Scope, stem: &str, shape: &[i64], rhs: &str) -> String {
        let name = self.name(stem);
        self.line(scope.depth, &format!("let {name} = {rhs}"));
        scope.arrays.push((name.clone(), shape.to_vec()));
        name
    }

    fn kernel(&mut self, scope: &mut Scope, shape: &[i64]) -> String {
        let name = self.name("k");
        self.line(scope.depth, &format!("let {name} ="));
        let mut inner = scope.inside();
        let row_wise = shape.len() > 1 && scope.nested < 2 && self.below(2) == 0;
        let axes = if row_wise { 1 } else { shape.len() };
        let mut list = Vec::new();
        for extent in &shape[..axes] {
            let i = self.name("i");
            list.push(format!("{i} < {extent}"));
            inner.steps.push((i, *extent));
        }
        self.line(scope.depth + 1, &format!("kernel {} do", list.join(", ")));
        let value = match row_wise {
            true => self.make(&mut inner, &shape[1..]),
            false => self.number(&inner),
        };
        self.line(inner.depth, &format!("in {value}"));
        scope.arrays.push((name.clone(), shape.to_vec()));
        name
    }

    /// An array with a part replaced; the old name is hardly ever used again.
    fn update(&mut self, scope: &mut Scope, old: &str, shape: &[i64]) -> String {
        let (index, part) = self.part(scope, shape);
        let value = match part.is_empty() {
            true => self.number(scope),
            false => self.make(scope, &part),
        };
        if self.below(3) == 0 {
            // Something is read in between.
            self.kernel(scope, &[3]);
        }
        if self.below(12) > 0 {
            scope.arrays.retain(|(array, _)| array != old);
        }
        if self.below(10) > 0 {
            scope.arrays.retain(|(array, _)| *array != value);
        }
        self.bind(scope, "u", shape, &format!("{old} with {index} = {value}"))
    }

    /// The rounds of a loop that carries an array.
    fn rounds(&mut self, scope: &mut Scope, init: &str, shape: &[i64]) -> String {
        let (name, x, t) = (self.name("l"), self.name("x"), self.name("t"));
        let trips = 1 + self.below(3);
        let mut inner = scope.inside();
        inner.arrays.retain(|(array, _)| array != init);
        inner.arrays.push((x.clone(), shape.to_vec()));
        self.line(scope.depth, &format!("let {name} ="));
        let counted = self.below(4) > 0;
        if counted {
            inner.steps.push((t.clone(), trips));
            self.line(scope.depth + 1, &format!("loop {x} = {init} for {t} < {trips} do"));
        } else {
            // The counter is carried, and never known.
            self.text.truncate(self.text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1));
            let last = self.name("n");
            self.line(scope.depth, &format!("let ({name}, {last}) ="));
            self.line(scope.depth + 1, &format!("loop ({x}, {t}) = ({init}, 0) while {t} < {trips} do"));
        }
        let next = match self.below(3) {
            0 => self.kernel(&mut inner, shape),
            1 => self.change(&mut inner, &x, shape),
            _ => self.update(&mut inner, &x, shape),
        };
        match counted {
            true => self.line(inner.depth, &format!("in {next}")),
            false => {
                let more = self.name("m");
                self.line(inner.depth, &format!("let {more} = {t} + 1"));
                self.line(inner.depth, &format!("in ({next}, {more})"));
            }
        }
        if self.below(10) > 0 {
            scope.arrays.retain(|(array, _)| array != init);
        }
        scope.arrays.push((name.clone(), shape.to_vec()));
        name
    }

    /// A kernel that changes some places of an array and copies the others.
    fn change(&mut self, scope: &mut Scope, old: &str, shape: &[i64]) -> String {
        let name = self.name("c");
        let mut inner = scope.inside();
        let axes: Vec<String> = shape.iter().map(|_| self.name("i")).collect();
        let list: Vec<String> = axes.iter().zip(shape).map(|(i, extent)| format!("{i} < {extent}")).collect();
        inner.steps = axes.iter().cloned().zip(shape.iter().copied()).collect();
        let at = self.below(axes.len() as i64) as usize;
        let cond = match self.below(4) {
            0 => format!("{} == {}", axes[at], self.below(shape[at])),
            1 => format!("{} % 2 == {}", axes[at], self.below(2)),
            _ => format!("{} < {}", axes[at], 1 + self.below(shape[at])),
        };
        let v = self.name("v");
        self.line(scope.depth, &format!("let {name} ="));
        self.line(scope.depth + 1, &format!("kernel {} do", list.join(", ")));
        self.line(inner.depth, &format!("let {v} ="));
        self.line(inner.depth + 1, &format!("if {cond} then"));
        let deeper = Scope { nested: 9, ..inner.inside() };
        let few = match self.below(3) {
            // Only the own place of the array itself.
            0 => {
                let arrays = deeper.arrays.iter().filter(|(array, _)| array != old).cloned().collect();
                Scope { arrays, ..deeper.clone() }
            }
            _ => deeper.clone(),
        };
        let value = self.number(&few);
        self.line(deeper.depth, &format!("in {value}"));
        self.line(inner.depth + 1, "else");
        let own = self.name("o");
        self.line(deeper.depth, &format!("let {own} = {old}[{}]", axes.join(", ")));
        self.line(deeper.depth, &format!("in {own}"));
        self.line(inner.depth, &format!("in {v}"));
        if self.below(8) > 0 {
            scope.arrays.retain(|(array, _)| array != old);
        }
        scope.arrays.push((name.clone(), shape.to_vec()));
        name
    }

    /// An array of this shape, made in one of many ways.
    fn make(&mut self, scope: &mut Scope, shape: &[i64]) -> String {
        if scope.nested > 3 {
            return self.kernel(scope, shape);
        }
        let text = Self::shape_text(shape);
        match (self.below(13), shape) {
            (0, _) => {
                let start = match self.below(2) {
                    0 => format!("scratch {text} i64"),
                    _ => format!("replicate {text} {}", self.below(9)),
                };
                let first = self.bind(scope, "s", shape, &start);
                scope.arrays.retain(|(array, _)| *array != first);
                let mut last = first;
                for _ in 0..1 + self.below(2) {
                    last = self.update(scope, &last, shape);
                }
                last
            }
            (1, _) => {
                let init = self.make(scope, shape);
                self.rounds(scope, &init, shape)
            }
            (2, _) => {
                let name = self.name("b");
                let (inner, limit) = (scope.inside(), self.below(3));
                self.line(scope.depth, &format!("let {name} ="));
                self.line(scope.depth + 1, &format!("if z < {limit} then"));
                for side in ["else", ""] {
                    let value = self.make(&mut inner.clone(), shape);
                    self.line(inner.depth, &format!("in {value}"));
                    if !side.is_empty() {
                        self.line(scope.depth + 1, side);
                    }
                }
                scope.arrays.push((name.clone(), shape.to_vec()));
                name
            }
            (3, [n, m]) => {
                let of = self.make(scope, &[*m, *n]);
                self.view(scope, &of, shape, &format!("transpose {of}"))
            }
            (3, [n]) if n % 2 == 0 => {
                let of = self.make(scope, &[2, n / 2]);
                self.view(scope, &of, shape, &format!("flatten {of}"))
            }
            (4, _) => {
                let of = self.make(scope, shape);
                self.view(scope, &of, shape, &format!("reverse {of}"))
            }
            (5, [n, rest @ ..]) if *n > 1 => {
                let first = 1 + self.below(n - 1);
                let a = self.make(scope, &[&[first], rest].concat());
                let b = self.make(scope, &[&[n - first], rest].concat());
                if self.below(8) > 0 {
                    scope.arrays.retain(|(array, _)| *array != a && *array != b);
                }
                self.bind(scope, "c", shape, &format!("concat {a} {b}"))
            }
            (6, _) => {
                let of = self.make(scope, shape);
                scope.arrays.retain(|(array, _)| *array != of);
                self.bind(scope, "c", shape, &format!("copy {of}"))
            }
            (7, [n]) => {
                let (name, i, a, b) = (self.name("p"), self.name("i"), self.name("a"), self.name("b"));
                let mut inner = scope.inside();
                inner.steps.push((i.clone(), *n));
                self.line(scope.depth, &format!("let {name} : [{n}]i64 ="));
                self.line(scope.depth + 1, &format!("scan {i} < {n} do"));
                let value = self.number(&inner);
                self.line(inner.depth, &format!("in {value}"));
                self.line(scope.depth + 1, &format!("by ({a} : i64 = 0) ({b} : i64) do"));
                self.line(inner.depth, &format!("in {a} + {b}"));
                scope.arrays.push((name.clone(), shape.to_vec()));
                name
            }
            (8, [n, m]) => {
                let of = self.make(scope, &[n * m]);
                self.view(scope, &of, shape, &format!("reshape [{n}][{m}] {of}"))
            }
            (8 | 9, [n]) => {
                let whole = scope.arrays.iter().rev().find(|(_, other)| other.len() == 1 && other[0] >= *n);
                let Some((whole, size)) = whole.map(|(name, shape)| (name.clone(), shape[0])) else {
                    return self.kernel(scope, shape);
                };
                let slice = self.slice(size, *n, scope);
                let part = self.bind(scope, "w", shape, &format!("{whole}[{slice}]"));
                self.bind(scope, "g", shape, &format!("call g({part}) {text}"))
            }
            (10, _) => {
                let of = self.make(scope, shape);
                self.change(scope, &of, shape)
            }
            _ => self.kernel(scope, shape),
        }
    }

    fn view(&mut self, scope: &mut Scope, of: &str, shape: &[i64], rhs: &str) -> String {
        if self.below(4) > 0 {
            scope.arrays.retain(|(array, _)| array != of);
        }
        self.bind(scope, "w", shape, rhs)
    }

    fn region(mut self) -> String {
        let mut scope = Scope::default();
        let mut wholes = [("A".to_string(), vec![40]), ("M".to_string(), vec![6, 5])];
        scope.arrays.extend(wholes.iter().cloned());
        for _ in 0..1 + self.below(3) {
            let at = self.below(2) as usize;
            let (name, shape) = wholes[at].clone();
            wholes[at].0 = match self.below(6) {
                0 | 1 => self.change(&mut scope, &name, &shape),
                2 => self.rounds(&mut scope, &name, &shape),
                _ => self.update(&mut scope, &name, &shape),
            };
        }
        let mut last: Vec<String> = wholes.iter().map(|(name, _)| name.clone()).collect();
        last.extend(
            scope.arrays.iter().rev().take(self.random.below(3) as usize).map(|(name, _)| name.clone()),
        );
        let end = self.name("end");
        self.line(0, &format!("let {end} = call h({}) [4]", last.join(", ")));
        self.text
    }
}

/// What was observed, and a region, by the number of a seed.
pub fn written(seed: u64) -> (String, String) {
    let text = Writer { random: Random::new(seed), text: String::new(), names: 0 }.region();
    let (count_a, count_m) = (1 + u64::from(seed % 7 == 3), 1 + u64::from(seed % 11 == 5));
    let env =
        format!("size z = {}\narray A : [40]i64 rc {count_a}\narray M : [6][5]i64 rc {count_m}\n", seed % 3);
    (env, text)
}
