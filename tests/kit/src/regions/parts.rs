//! Random regions, as text, that put parts into a whole: made by kernels, loops, branches and calls.

use crate::Random;
use std::fmt::Write;

/// What a generated region may use where it goes on.
struct Writer {
    random: Random,
    text: String,
    names: u32,
    /// Arrays of one dimension with their sizes; the last element of the chain of updated arrays comes first.
    arrays: Vec<(String, i64)>,
    /// The array that parts are put into, and its size.
    whole: (String, i64),
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let whole = ("xss".to_string(), 48);
        Writer { random: Random::new(seed), text: String::new(), names: 0, arrays: Vec::new(), whole }
    }

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

    /// A slice of `count` places in an array of `size`.
    fn slice(&mut self, size: i64, count: i64) -> String {
        let step = 1 + self.below(((size - 1) / count.max(1)).clamp(1, 3));
        let reach = (count - 1) * step;
        if reach >= size {
            return format!("0 :+ {count} * 1");
        }
        let start = self.below(size - reach);
        if self.below(4) == 0 {
            return format!("{} :+ {count} * {}", start + reach, -step);
        }
        format!("{start} :+ {count} * {step}")
    }

    /// Some array of one dimension.
    fn array(&mut self) -> Option<(String, i64)> {
        let count = self.arrays.len() as i64;
        (count > 0).then(|| {
            let at = self.below(count) as usize;
            self.arrays[at].clone()
        })
    }

    /// An expression over an index, the whole array and others; `i` runs over `size` places.
    fn element(&mut self, i: &str, size: i64) -> String {
        let mut terms = vec![format!("{i} * {}", 1 + self.below(5))];
        for _ in 0..self.below(3) {
            let (array, length) = match self.below(3) {
                0 => self.array().unwrap_or(self.whole.clone()),
                _ => self.whole.clone(),
            };
            let step = self.below(((length - 1) / size.max(1)).clamp(0, 3) + 1);
            let start = self.below(length - step * (size - 1));
            terms.push(match self.below(4) {
                0 => format!("{array}[min({i} + 1, {})]", length.min(size) - 1),
                _ => format!("{array}[{start} + {i} * {step}]"),
            });
        }
        terms.join(" + ")
    }

    fn kernel(&mut self, depth: usize, size: i64) -> String {
        let (name, i, v) = (self.name("k"), self.name("i"), self.name("v"));
        let element = self.element(&i, size);
        self.line(depth, &format!("let {name} ="));
        self.line(depth + 1, &format!("kernel {i} < {size} do"));
        self.line(depth + 2, &format!("let {v} = {element}"));
        self.line(depth + 2, &format!("in {v}"));
        self.arrays.push((name.clone(), size));
        name
    }

    /// A kernel whose rows are made by updates, flattened.
    fn rows(&mut self, depth: usize, rows: i64, size: i64) -> String {
        let (i, scratch, first, v) = (self.name("i"), self.name("s"), self.name("s"), self.name("v"));
        let (name, flat) = (self.name("r"), self.name("f"));
        let element = self.element(&i, rows);
        let part = self.slice(size, (size / 2).max(1));
        let from = self.slice(self.whole.1, (size / 2).max(1));
        let whole = self.whole.0.clone();
        self.line(depth, &format!("let {name} ="));
        self.line(depth + 1, &format!("kernel {i} < {rows} do"));
        self.line(depth + 2, &format!("let {scratch} = replicate [{size}] {i}"));
        self.line(depth + 2, &format!("let {v} = {element}"));
        self.line(depth + 2, &format!("let {first} = {scratch} with [{part}] = {whole}[{from}]"));
        let second = self.name("s");
        self.line(depth + 2, &format!("let {second} = {first} with [0] = {v}"));
        self.line(depth + 2, &format!("in {second}"));
        self.line(depth, &format!("let {flat} = flatten {name}"));
        self.arrays.push((flat.clone(), rows * size));
        flat
    }

    fn in_loop(&mut self, depth: usize, size: i64) -> String {
        let init = self.kernel(depth, size);
        let (name, x, t) = (self.name("l"), self.name("x"), self.name("t"));
        let before = self.arrays.clone();
        self.line(depth, &format!("let {name} ="));
        let trips = 1 + self.below(4);
        self.line(depth + 1, &format!("loop {x} = {init} for {t} < {trips} do"));
        self.arrays.retain(|(array, _)| *array != init);
        self.arrays.push((x.clone(), size));
        let next = match self.below(4) {
            0 => self.kernel(depth + 2, size),
            1 => {
                let (y, whole, width) = (self.name("y"), self.whole.0.clone(), self.whole.1);
                let from = self.slice(width, size);
                self.line(depth + 2, &format!("let {y} = call f({x}, {whole}[{from}]) [{size}]"));
                self.arrays.retain(|(array, _)| *array != x);
                self.arrays.push((y, size));
                self.kernel(depth + 2, size)
            }
            2 => {
                let y = self.name("y");
                let element = self.element(&t, 4);
                self.line(depth + 2, &format!("let {y} = {x} with [min({t}, {})] = {element}", size - 1));
                y
            }
            _ => {
                let (y, part) = (self.name("y"), self.slice(size, 1.max(size / 3)));
                let (whole, width) = self.whole.clone();
                let from = self.below(width - size / 3 - 4);
                let count = 1.max(size / 3);
                let line = format!("let {y} = {x} with [{part}] = {whole}[{from} + {t} :+ {count} * 1]");
                self.line(depth + 2, &line);
                y
            }
        };
        self.line(depth + 2, &format!("in {next}"));
        self.arrays = before;
        self.arrays.retain(|(array, _)| *array != init || self.names.is_multiple_of(5));
        self.arrays.push((name.clone(), size));
        name
    }

    fn choice(&mut self, depth: usize, size: i64) -> String {
        let name = self.name("b");
        let limit = self.below(3);
        let before = self.arrays.clone();
        self.line(depth, &format!("let {name} ="));
        self.line(depth + 1, &format!("if z < {limit} then"));
        let then = self.kernel(depth + 2, size);
        self.line(depth + 2, &format!("in {then}"));
        self.arrays = before.clone();
        self.line(depth + 1, "else");
        let otherwise = self.kernel(depth + 2, size);
        self.line(depth + 2, &format!("in {otherwise}"));
        self.arrays = before;
        self.arrays.push((name.clone(), size));
        name
    }

    /// An array of this size, made in one of many ways.
    fn make(&mut self, depth: usize, size: i64) -> String {
        match self.below(9) {
            0 => {
                let (first, second) = (self.name("s"), self.name("s"));
                let from = self.kernel(depth, 1.max(size / 2));
                let part = self.slice(size, 1.max(size / 2));
                self.line(depth, &format!("let {first} = replicate [{size}] 7"));
                self.line(depth, &format!("let {second} = {first} with [{part}] = {from}"));
                if self.below(3) == 0 {
                    self.arrays.push((first, size));
                }
                self.arrays.push((second.clone(), size));
                second
            }
            1 => {
                let (name, whole, width) = (self.name("c"), self.whole.0.clone(), self.whole.1);
                let part = self.slice(width, size.min(width));
                if self.below(2) == 0 {
                    let scratch = self.name("s");
                    self.line(depth, &format!("let {scratch} = scratch [{size}] i64"));
                    self.line(depth, &format!("let {name} = call g({scratch}, {whole}[{part}]) [{size}]"));
                    if self.below(3) == 0 {
                        let again = self.name("c");
                        self.line(depth, &format!("let {again} = call g({scratch}) [{size}]"));
                        self.arrays.push((again, size));
                    }
                } else {
                    self.line(depth, &format!("let {name} = call g({whole}[{part}]) [{size}]"));
                }
                self.arrays.push((name.clone(), size));
                name
            }
            2 if depth == 0 => self.in_loop(depth, size),
            3 if depth == 0 => self.choice(depth, size),
            4 => {
                let of = self.make(depth, size);
                let name = self.name("v");
                self.line(depth, &format!("let {name} = reverse {of}"));
                self.arrays.push((name.clone(), size));
                name
            }
            5 if size > 1 => {
                let (a, b) = (self.make(depth, size / 2), self.make(depth, size - size / 2));
                let name = self.name("c");
                self.line(depth, &format!("let {name} = concat {a} {b}"));
                self.arrays.push((name.clone(), size));
                name
            }
            6 if size % 2 == 0 => self.rows(depth, 2, size / 2),
            7 => {
                let of = self.make(depth, size);
                let name = self.name("c");
                self.line(depth, &format!("let {name} = copy {of}"));
                self.arrays.push((name.clone(), size));
                name
            }
            _ => self.kernel(depth, size),
        }
    }

    /// A loop that puts a part into the whole array in each round; the part moves with the counter.
    fn loop_of_parts(&mut self) {
        let (name, x, t, next) = (self.name("xss"), self.name("x"), self.name("t"), self.name("x"));
        let (whole, width) = self.whole.clone();
        let trips = 1 + self.below(4);
        let before = self.arrays.clone();
        self.line(0, &format!("let {name} ="));
        self.line(1, &format!("loop {x} = {whole} for {t} < {trips} do"));
        self.whole = (x.clone(), width);
        if self.below(2) == 0 {
            self.arrays.retain(|_| false);
        }
        let size = 1 + self.below(6);
        let part = self.make(2, size);
        let (step, move_by) = (1 + self.below(2), self.below(8));
        let start = self.below(width - (size - 1) * step - move_by * (trips - 1));
        self.line(
            2,
            &format!("let {next} = {x} with [{start} + {t} * {move_by} :+ {size} * {step}] = {part}"),
        );
        if self.below(4) == 0 {
            // A part of what was there before is read after its update.
            let late = self.name("k");
            let i = self.name("i");
            self.line(2, &format!("let {late} ="));
            self.line(3, &format!("kernel {i} < 3 do"));
            let v = self.name("v");
            self.line(4, &format!("let {v} = {next}[{i} * 2]"));
            self.line(4, &format!("in {v}"));
            let last = self.name("x");
            let at = self.below(width - 3);
            self.line(2, &format!("let {last} = {next} with [{at} :+ 3 * 1] = {late}"));
            self.line(2, &format!("in {last}"));
        } else {
            self.line(2, &format!("in {next}"));
        }
        self.arrays = before;
        self.whole = (name, width);
    }

    fn region(mut self) -> String {
        for _ in 0..1 + self.below(3) {
            if self.below(3) == 0 {
                self.loop_of_parts();
                continue;
            }
            let size = 1 + self.below(10);
            let part = self.make(0, size);
            if self.below(2) == 0 {
                let size = 1 + self.below(6);
                self.make(0, size);
            }
            let (whole, width) = self.whole.clone();
            let to = self.slice(width, size);
            let name = self.name("xss");
            self.line(0, &format!("let {name} = {whole} with [{to}] = {part}"));
            self.whole.0 = name;
        }
        let last = self.name("end");
        let others: Vec<String> = (0..self.below(3)).filter_map(|_| self.array()).map(|(a, _)| a).collect();
        let all = [vec![self.whole.0.clone()], others].concat().join(", ");
        let width = self.whole.1;
        self.line(0, &format!("let {last} = call h({all}) [{width}]"));
        self.text
    }
}

/// What was observed, and a region, by the number of a seed.
pub fn written(seed: u64) -> (String, String) {
    (format!("size z = {}\narray xss : [48]i64 rc 1\n", seed % 3), Writer::new(seed).region())
}
