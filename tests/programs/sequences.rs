//! Programs of many statements that read each other's results: what fusion has to keep apart, and what it may put
//! together. Values are exact in every tier: integers, and floats without sums over them.

use galopvm_testkit::Random;
use std::fmt::Write;

/// The text of a program with the entry `main`: parameters are two rows of integers, a row of floats and a matrix of integers.
pub fn program(seed: u64) -> String {
    let mut maker = Maker {
        random: Random::new(seed),
        text: String::new(),
        ints: vec!["as".into(), "bs".into()],
        floats: vec!["fs".into()],
        matrices: vec!["xss".into()],
        scalars: vec!["3".into(), "n".into()],
        next: 0,
    };
    let statements = 3 + maker.random.below(8);
    (0..statements).for_each(|_| maker.statement());
    let mut results = Vec::new();
    for (names, ty) in [(&maker.ints, "[n]i64"), (&maker.floats, "[n]f64"), (&maker.matrices, "[n][m]i64")] {
        // Late ones more often: somebody has to look at what early ones made.
        let from = names.len().saturating_sub(1 + maker.random.below(3));
        results.extend(names[from..].iter().map(|name| (name.clone(), ty)));
    }
    results.extend(maker.scalars.iter().skip(2).map(|name| (name.clone(), "i64")));
    let values: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    let types: Vec<&str> = results.iter().map(|(_, ty)| *ty).collect();
    format!(
        "#[noinline]\ndef apart [k] (vs: [k]i64) (c: i64): ([k]i64, i64) =\n  \
         let us = map (\\v -> v * c + 1) vs\n  in (us, reduce i64.min i64.highest us)\n\n\
         entry main [n] [m] (as: [n]i64) (bs: [n]i64) (fs: [n]f64) (xss: [n][m]i64): ({}) =\n{}  in ({})\n",
        types.join(", "),
        maker.text,
        values.join(", ")
    )
}

struct Maker {
    random: Random,
    text: String,
    ints: Vec<String>,
    floats: Vec<String>,
    matrices: Vec<String>,
    scalars: Vec<String>,
    next: usize,
}

impl Maker {
    fn fresh(&mut self, letter: &str) -> String {
        self.next += 1;
        format!("{letter}{}", self.next)
    }

    fn line(&mut self, text: String) {
        let _ = writeln!(self.text, "  {text}");
    }

    fn pick(&mut self, names: fn(&Maker) -> &Vec<String>) -> String {
        let count = names(self).len();
        // The last ones more often.
        let at = self.random.below(count).max(self.random.below(count));
        names(self)[at].clone()
    }

    fn int(&mut self) -> String {
        self.pick(|maker| &maker.ints)
    }

    fn scalar(&mut self) -> String {
        self.pick(|maker| &maker.scalars)
    }

    /// An integer expression over two integers.
    fn formula(&mut self, x: &str, y: &str) -> String {
        let (a, s) = (self.int(), self.scalar());
        match self.random.below(14) {
            0 => format!("{x} + {y}"),
            1 => format!("{x} * 2 - {y}"),
            2 => format!("i64.min {x} ({y} + {s})"),
            3 => format!("if {x} > {y} then {x} - {s} else {y}"),
            4 => format!("i64.max {x} {y}"),
            5 => format!("{a}[{x} %% n] + {y}"),
            6 => format!("{a}[i64.max 0 (i64.min (n - 1) {y})] - {x}"),
            7 => format!("{x} ^ ({y} >> 1)"),
            8 => format!("{x} + {s}"),
            9 if self.random.one_in(3) => format!("{x} / ({y} - {s})"),
            10 if self.random.one_in(4) => format!("{a}[{x}] + {y}"),
            11 => format!("(loop c = {x} for i < 3 do c * 2 - {y} + i)"),
            12 => format!("{x} // 3 + {y} %% 5"),
            _ => format!("{x} & {y} | {s}"),
        }
    }

    /// Indices, mostly inside of `n`: as they are, or computed.
    fn places(&mut self) -> String {
        let (a, formula) = (self.int(), self.formula("x", "i"));
        match self.random.below(4) {
            0 => a,
            1 => format!("(map (\\x -> x %% (n + 1)) {a})"),
            2 => "(map (\\i -> n - 1 - i) (iota n))".to_string(),
            _ => format!("(map2 (\\x i -> ({formula}) %% (n + 2) - 1) {a} (iota n))"),
        }
    }

    /// Values, as they are or computed.
    fn values(&mut self) -> String {
        let (a, formula) = (self.int(), self.formula("x", "x"));
        if self.random.one_in(3) { a } else { format!("(map (\\x -> {formula}) {a})") }
    }

    /// Something to write to, of `n` integers.
    fn room(&mut self) -> String {
        let (a, s) = (self.int(), self.scalar());
        match self.random.below(4) {
            0 => format!("(copy {a})"),
            1 => format!("(map (+ {s}) {a})"),
            _ => format!("(replicate n {s})"),
        }
    }

    /// Writes at computed places.
    fn write(&mut self) {
        let (name, room, at, values) = (self.fresh("a"), self.room(), self.places(), self.values());
        match self.random.below(9) {
            0..3 => {
                self.line(format!("let {name} = scatter {room} {at} {values}"));
                self.ints.push(name);
            }
            3 | 4 => {
                let operator =
                    *self.random.pick(&["(+) 0", "i64.max i64.lowest", "(*) 1", "(\\x y -> x + y) 0"]);
                self.line(format!("let {name} = reduce_by_index {room} {operator} {at} {values}"));
                self.ints.push(name);
            }
            5 => {
                let (f, g) = (self.pick(|maker| &maker.floats), self.pick(|maker| &maker.floats));
                let operator = *self.random.pick(&["(+) 0", "f64.max f64.lowest"]);
                let name = self.fresh("f");
                self.line(format!(
                    "let {name} = reduce_by_index (copy {f}) {operator} {at} (map (\\x -> x * 1.1 + 0.3) {g})"
                ));
                self.floats.push(name);
            }
            6 => {
                let (name, other) = (self.fresh("a"), self.fresh("b"));
                let second = self.values();
                self.line(format!(
                    "let ({name}, {other}) = unzip (reduce_by_index (zip {room} (iota n)) \
                     (\\(a, i) (b, j) -> if a < b then (b, j) else (a, i)) (i64.lowest, -1) {at} \
                     (zip {values} {second}))"
                ));
                self.ints.extend([name, other]);
            }
            7 => {
                let (a, b) = (self.pick(|maker| &maker.matrices), self.pick(|maker| &maker.matrices));
                let name = self.fresh("m");
                let rows = *self.random.pick(&["", "map (map (+ 2)) ", "map reverse "]);
                let line = match self.random.below(3) {
                    0 => format!("scatter (copy {a}) {at} ({rows}{b})"),
                    1 => format!("reduce_by_index (copy {a}) (map2 (+)) (replicate m 0) {at} ({rows}{b})"),
                    _ => format!(
                        "transpose (scatter (copy (transpose {a})) (map (+ 1) (iota m)) (transpose {b}))"
                    ),
                };
                self.line(format!("let {name} = {line}"));
                self.matrices.push(name);
            }
            _ => {
                let (name, a) = (self.fresh("m"), self.pick(|maker| &maker.matrices));
                self.line(format!("let {name} = scatter_2d (copy {a}) (zip {at} {room}) {values}"));
                self.matrices.push(name);
            }
        }
    }

    fn statement(&mut self) {
        match self.random.below(27) {
            22.. => self.write(),
            0..6 => {
                let (name, a, b) = (self.fresh("a"), self.int(), self.int());
                let formula = self.formula("x", "y");
                self.line(format!("let {name} = map2 (\\x y -> {formula}) {a} {b}"));
                self.ints.push(name);
            }
            6 => {
                let (name, other, a) = (self.fresh("a"), self.fresh("b"), self.int());
                let (f, g) = (self.formula("x", "x"), self.formula("x", "7"));
                self.line(format!("let ({name}, {other}) = unzip (map (\\x -> ({f}, {g})) {a})"));
                self.ints.extend([name, other]);
            }
            7..10 => {
                let (name, a) = (self.fresh("s"), self.int());
                let operator =
                    *self.random.pick(&["(+) 0", "i64.max i64.lowest", "i64.min i64.highest", "(*) 1"]);
                let formula = self.formula("x", "2");
                let mapped = if self.random.one_in(2) { format!("(map (\\x -> {formula}) {a})") } else { a };
                self.line(format!("let {name} = reduce {operator} {mapped}"));
                self.scalars.push(name);
            }
            10 => {
                let (name, a) = (self.fresh("a"), self.int());
                let view = *self.random.pick(&["reverse", "rotate 1", "scan (+) 0", "copy"]);
                self.line(format!("let {name} = {view} {a}"));
                self.ints.push(name);
            }
            11 => {
                let (name, a, s) = (self.fresh("a"), self.int(), self.scalar());
                self.line(format!("let {name} = if n > 0 then copy {a} with [{s} %% n] = {s} else {a}"));
                self.ints.push(name);
            }
            12 => {
                let (name, f, s) = (self.fresh("f"), self.pick(|maker| &maker.floats), self.scalar());
                let formula = *self.random.pick(&["x * 2 + 1", "f64.sqrt (f64.abs x)", "x / 3 - x * x"]);
                self.line(format!("let {name} = map (\\x -> {formula} + f64.i64 {s}) {f}"));
                self.floats.push(name);
            }
            13 => {
                let (name, f, a) = (self.fresh("f"), self.pick(|maker| &maker.floats), self.int());
                self.line(format!("let {name} = map2 (\\x y -> if y > 3 then x else x + f64.i64 y) {f} {a}"));
                self.floats.push(name);
            }
            14 => {
                let (name, f) = (self.fresh("s"), self.pick(|maker| &maker.floats));
                self.line(format!("let {name} = i64.f64 (f64.min 1e9 (reduce f64.max 0 {f}))"));
                self.scalars.push(name);
            }
            15..17 => {
                let (name, a, b) = (self.fresh("m"), self.pick(|maker| &maker.matrices), self.int());
                let formula = self.formula("x", "y");
                self.line(format!("let {name} = map2 (\\row y -> map (\\x -> {formula}) row) {a} {b}"));
                self.matrices.push(name);
            }
            17 => {
                let (name, a) = (self.fresh("a"), self.pick(|maker| &maker.matrices));
                self.line(format!("let {name} = map (\\row -> reduce (+) 0 row) {a}"));
                self.ints.push(name);
            }
            18 => {
                let (name, a) = (self.fresh("s"), self.pick(|maker| &maker.matrices));
                let rows = *self.random.pick(&["transpose", "reverse", "map reverse"]);
                self.line(format!(
                    "let {name} = reduce i64.max 0 (map (\\row -> reduce (+) 1 row) ({rows} {a}))"
                ));
                self.scalars.push(name);
            }
            19 => {
                let (name, a) = (self.fresh("a"), self.int());
                let formula = self.formula("c", "i");
                self.line(format!("let {name} = loop cs = {a} for i < 3 do map (\\c -> {formula}) cs"));
                self.ints.push(name);
            }
            20 => {
                let (name, least, a, s) = (self.fresh("a"), self.fresh("s"), self.int(), self.scalar());
                self.line(format!("let ({name}, {least}) = apart {a} {s}"));
                self.ints.push(name);
                self.scalars.push(least);
            }
            _ => {
                let (name, a, b, s) = (self.fresh("a"), self.int(), self.int(), self.scalar());
                self.line(format!("let {name} = if {s} > 20 then map (\\x -> x - {s}) {a} else {b}"));
                self.ints.push(name);
            }
        }
    }
}
