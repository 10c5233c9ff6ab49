//! Reductions, scans and histograms whose operator is about several values, or may not exchange them, and rows that take as many
//! rounds as their elements say.

use super::{Held, SIZES, Scribe};
use crate::author::Elem;

impl Scribe<'_> {
    /// One of them.
    pub(super) fn folded(&mut self, array: &Held) {
        match (array.dims.len(), self.random.below(8)) {
            (1, 0 | 1) => self.whole_fold(array),
            (1, 2 | 3) => self.prefix_fold(array),
            (1, 4) => self.counted(array),
            (1 | 2, 5) => self.uneven(array),
            (1, _) => self.private(array),
            (2, 0 | 1) => self.counted_rows(array),
            (2, _) => self.row_folds(array),
            _ => self.rows(array),
        }
    }

    /// A number that a fold of an array of numbers gives.
    fn fold(&mut self, numbers: &str) -> String {
        match self.random.below(6) {
            // The first of the least ones.
            0 => format!(
                "(reduce_comm (\\(a, i) (b, j) -> if a < b || (a == b && i < j) then (a, i) else (b, j)) (i64.highest, i64.highest) (zip {numbers} (indices {numbers}))).1"
            ),
            // Products of matrices of two rows.
            1 => format!(
                "let (a, b, c, d) = reduce (\\(a, b, c, d) (e, f, g, h) -> (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)) (1, 0, 0, 1) (map (\\x -> (x, 1, x % 3, 2)) {numbers}) in a ^ b ^ c ^ d"
            ),
            // The last one that is not small.
            2 => format!(
                "reduce (\\a b -> if b == -1 then a else b) (-1) (map (\\x -> if x > k + 3 then x else -1) {numbers})"
            ),
            // The greatest sum of a part.
            3 => format!(
                "let best = reduce (\\(a, b, c, d) (e, f, g, h) -> (i64.max (i64.max a e) (c + f), i64.max b (d + f), i64.max g (c + h), d + h)) (0, 0, 0, 0) (map (\\x -> let v = x - 9 in (i64.max v 0, i64.max v 0, i64.max v 0, v)) {numbers}) in best.0"
            ),
            // Linear functions, one after the other.
            4 => format!(
                "(reduce (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x % 5 + 1, x)) {numbers})).1"
            ),
            _ => format!("reduce_comm i64.min i64.highest {numbers} + reduce (^) 0 {numbers}"),
        }
    }

    /// The elements of an array as numbers from 0 on, under a name of their own.
    fn numbers(&mut self, array: &str, elem: Elem) -> String {
        let name = self.name();
        self.line(&format!("let {name} = map (\\e -> {}) {array}", elem.as_number("e")));
        name
    }

    fn whole_fold(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let numbers = self.numbers(&a, elem);
        let (fold, number) = (self.fold(&numbers), self.name());
        self.line(&format!("let {number} = {fold}"));
        let value = elem.of_int(&format!("{number} % 1000"));
        self.made(elem, dims, &format!("map (\\e -> e - {value}) {a}"));
    }

    /// Folds of rows.
    fn row_folds(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let rows = if self.random.one_in(3) { format!("(transpose {a})") } else { a };
        let size = if rows.starts_with('(') { dims[1] } else { dims[0] };
        let (fold, number) = (self.fold("s"), elem.as_number("e"));
        let value = elem.of_int("f % 1000");
        let exp = format!("map (\\r -> let s = map (\\e -> {number}) r let f = {fold} in {value}) {rows}");
        self.made(elem, vec![size], &exp);
    }

    fn prefix_fold(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let numbers = self.numbers(&a, elem);
        let prefixes = match self.random.below(4) {
            0 => format!(
                "scan (\\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\\x -> (x % 5 + 1, x)) {numbers}) |> map (.1)"
            ),
            1 => format!(
                "scan (\\(a, i) (b, j) -> if a > b || (a == b && i < j) then (a, i) else (b, j)) (-1, i64.highest) (zip {numbers} (indices {numbers})) |> map (.1)"
            ),
            2 => format!(
                "scan (\\(a, b, c, d) (e, f, g, h) -> (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)) (1, 0, 0, 1) (map (\\x -> (x, 1, x % 3, 2)) {numbers}) |> map (\\(a, _, c, _) -> a - c)"
            ),
            _ => format!("scan (\\a b -> if b % 3 == 0 then a else b) 0 {numbers}"),
        };
        let value = elem.of_int("p % 1000");
        self.made(elem, dims, &format!("map (\\p -> {value}) ({prefixes})"));
    }

    /// Histograms of pairs, and of places in a matrix.
    fn counted(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let numbers = self.numbers(&a, elem);
        let size = SIZES[dims[0]];
        let places = format!("(map (\\x -> (x + k) % ({size} + 1)) {numbers})");
        if self.random.one_in(2) {
            let value = elem.of_int("x - i");
            let exp = format!(
                "reduce_by_index (replicate {size} (i64.highest, -1)) (\\(a, i) (b, j) -> if a < b || (a == b && i > j) then (a, i) else (b, j)) (i64.highest, -1) {places} (zip {numbers} (indices {numbers})) |> map (\\(x, i) -> {value})"
            );
            self.made(elem, dims, &exp);
            return;
        }
        let (rows, columns) = (self.random.below(2), self.random.below(2));
        let (n, m) = (SIZES[rows], SIZES[columns]);
        let (op, neutral) = Self::greatest(elem);
        let exp = format!(
            "reduce_by_index_2d (replicate {n} (replicate {m} {neutral})) {op} {neutral} (map2 (\\x i -> (x % {n}, (i * 5 + q) % ({m} + 1))) {numbers} (indices {numbers})) {a}"
        );
        self.made(elem, vec![rows, columns], &exp);
    }

    /// Rows that are put at places, or added up at them.
    fn counted_rows(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (op, neutral) = Self::greatest(elem);
        let (n, m) = (SIZES[dims[0]], SIZES[dims[1]]);
        let places = format!("(tabulate {n} (\\i -> (i * 3 + k) % ({n} + 1)))");
        let exp = match self.random.below(2) {
            0 => format!(
                "reduce_by_index (copy {a}) (map2 ({op})) (replicate {m} {neutral}) {places} (reverse {a})"
            ),
            _ => {
                // Nothing is put twice at a place.
                let places = format!("(tabulate {n} (\\i -> if i % 3 == k % 3 then -1 else {n} - 1 - i))");
                format!("scatter (copy {a}) {places} {a}")
            }
        };
        self.made(elem, dims, &exp);
    }

    /// As many rounds as an element says.
    fn uneven(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let number = elem.as_number("e");
        let function = match self.random.below(3) {
            0 => format!(
                "\\e -> let (c, _) = loop (c, y) = (0, {number}) while y > 1 && c < 40 do (c + 1, if y % 2 == 0 then y / 2 else y * 3 + 1) in {}",
                elem.of_int("c")
            ),
            1 => format!(
                "\\e -> let s = loop s = k for i < {number} % 23 do if s % 3 == 0 then s + i else s ^ (i * 5) in {}",
                elem.of_int("s % 1000")
            ),
            _ => format!(
                "\\e -> let (x, y) = loop (x, y) = ({number}, 1) while y > 0 && x > 3 do (y + x / 2, x % (y + 2)) in {}",
                elem.of_int("(x - y) % 1000")
            ),
        };
        self.made(elem, dims.clone(), &format!("{} {a}", Self::mapped(&function, dims.len())));
    }

    /// A short array of each element's own, written in a loop and read at computed places.
    fn private(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (length, number, word) = (2 + self.random.below(6), elem.as_number("e"), elem.word());
        let start = match self.random.below(3) {
            0 => format!("replicate {length} e"),
            1 => format!("tabulate {length} (\\j -> {})", elem.of_int("j * k")),
            _ => format!("map (\\j -> e - {}) (iota {length})", elem.of_int("j")),
        };
        let change = match self.random.below(3) {
            0 => format!("t with [j + 1] = t[j] + t[j + 1] * {}", elem.of_int("2")),
            1 => format!("t with [(j * 3 + {number}) % {length}] = t[j] - e"),
            _ => "let u = t[j] in t with [j] = t[j + 1] with [j + 1] = u".to_string(),
        };
        let last = match self.random.below(3) {
            0 => format!("t[{number} % {length}]"),
            1 => format!("t[0] - t[{length} - 1]"),
            _ => format!("(loop s = t[0] for x in t do {word}.max s x)"),
        };
        let function = format!("\\e -> let t = loop t = {start} for j < {length} - 1 do {change} in {last}");
        self.made(elem, dims, &format!("map ({function}) {a}"));
    }
}
