//! Statements whose elements are reductions over an axis that two arrays share: products of matrices and of batches of them,
//! distances, windows, columns, with operands as they lie, turned, and of a part.

use super::{Held, SIZES, Scribe};
use crate::author::Elem;

/// Rows and columns of a product, at most: all of a large matrix would take too long.
const MOST: usize = 24;

impl Scribe<'_> {
    /// One of them.
    pub(super) fn products(&mut self, array: &Held) {
        match (array.dims.len(), self.random.below(6)) {
            (1, _) => self.windows(array),
            (2, 0) => self.columns(array),
            (2, 1) => self.windows(array),
            (2, _) => self.product(array),
            _ => self.batches(array),
        }
    }

    /// What two elements give, and how these are combined, in a way in which the order of floats does not show: by their greatest,
    /// or sums of small whole numbers.
    fn contraction(&mut self, elem: Elem) -> (String, String, String) {
        let word = elem.word();
        let (op, neutral) = Self::greatest(elem);
        match self.random.below(4) {
            0 => (format!("{word}.min"), op, neutral),
            1 if elem.is_float() => (format!("\\x y -> {word}.abs (x - y)"), op, neutral),
            1 => ("\\x y -> (x - y) * (x - y)".into(), op, neutral),
            _ if elem == Elem::F16 => ("\\x y -> x + y".into(), op, neutral),
            _ if elem.is_float() => {
                let small = |exp: &str| format!("{word}.i64 ({} % 8)", elem.as_number(exp));
                (format!("\\x y -> {} * {}", small("x"), small("y")), "(+)".into(), elem.of_int("0"))
            }
            _ => ("(*)".into(), op, neutral),
        }
    }

    /// Each row of a matrix with each row of another one, or with each of its columns.
    fn product(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let shared = dims[1];
        let other =
            self.some(|held| held.elem == elem && held.dims.len() == 2 && held.dims.contains(&shared));
        let (b, b_dims) = other.map_or((a.clone(), dims.clone()), |held| (held.name, held.dims));
        // As rows of the shared extent.
        let (b, others) = match b_dims[1] == shared && (b_dims[0] != shared || self.random.one_in(2)) {
            true => (b, b_dims[0]),
            false => (format!("(transpose {b})"), b_dims[1]),
        };
        let (with, op, neutral) = self.contraction(elem);
        let (rows, columns) = (SIZES[dims[0]], SIZES[others]);
        let (first, second, all) = (self.name(), self.name(), self.name());
        let from = if self.random.one_in(3) { "1" } else { "0" };
        self.line(&format!("let {first} = {a}[i64.min {from} ({rows} - 1):i64.min {MOST} {rows}]"));
        self.line(&format!("let {second} = {b}[:i64.min {MOST} {columns}]"));
        let (outer, inner) = if self.random.one_in(4) { (&second, &first) } else { (&first, &second) };
        self.line(&format!(
            "let {all} = map (\\r -> map (\\c -> reduce {op} {neutral} (map2 ({with}) r c)) {inner}) {outer}"
        ));
        let (rows, columns) = if outer == &first { (dims[0], others) } else { (others, dims[0]) };
        let step = self.step(elem);
        let value = match self.random.below(3) {
            0 => format!("({step}) {all}[i % length {all}, j % length {all}[0]]"),
            _ => format!("{all}[i % length {all}, j % length {all}[0]]"),
        };
        let exp = format!("tabulate_2d {} {} (\\i j -> {value})", SIZES[rows], SIZES[columns]);
        self.made(elem, vec![rows, columns], &exp);
    }

    /// Columns, each by itself or all of them row by row.
    fn columns(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let m = SIZES[dims[1]];
        let (with, op, neutral) = self.contraction(elem);
        let other = self.like(elem, &[dims[1]]).map_or(format!("{a}[0]"), |held| held.name);
        let exp = match self.random.below(4) {
            0 => format!("reduce (map2 ({op})) (replicate {m} {neutral}) {a}"),
            1 => format!("let s = scan (map2 ({op})) (replicate {m} {neutral}) {a} in s[length s - 1]"),
            2 => format!(
                "map2 (\\c e -> reduce {op} {neutral} (map (\\x -> ({with}) x e) c)) (transpose {a}) {other}"
            ),
            _ => format!("map (\\c -> reduce {op} {neutral} (map2 ({with}) c {a}[:, 0])) (transpose {a})"),
        };
        self.made(elem, vec![dims[1]], &exp);
    }

    /// Neighbours with the elements of a short array.
    fn windows(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (with, op, neutral) = self.contraction(elem);
        let (width, short) = (1 + self.random.below(5), self.name());
        self.line(&format!("let {short} = tabulate {width} (\\l -> {})", elem.of_int("l * 3 + k % 4")));
        let (head, place) = match dims[..] {
            [d] => (format!("tabulate {} (\\i ->", SIZES[d]), format!("(i + l) % {}", SIZES[d])),
            [d, e, ..] => {
                let (n, m) = (SIZES[d], SIZES[e]);
                let place = match self.random.one_in(2) {
                    true => format!("(i + l) % {n}, j"),
                    false => format!("i, (j + l) % {m}"),
                };
                (format!("tabulate_2d {n} {m} (\\i j ->"), place)
            }
            [] => return,
        };
        let exp = format!(
            "{head} reduce {op} {neutral} (tabulate {width} (\\l -> ({with}) {a}[{place}] {short}[l])))"
        );
        self.made(elem, dims, &exp);
    }

    /// A product for each matrix of an array of them.
    fn batches(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (with, op, neutral) = self.contraction(elem);
        let few = |name: &str, size: usize| format!("{name}[:i64.min 7 {}]", SIZES[size]);
        let (outer, all) = (few(&a, dims[0]), self.name());
        let rows = few("s", dims[1]);
        self.line(&format!(
            "let {all} = map (\\s -> let t = {rows} in map (\\r -> map (\\c -> reduce {op} {neutral} (map2 ({with}) r c)) t) t) {outer}"
        ));
        let exp = format!(
            "tabulate_2d {} {} (\\i j -> {all}[i % length {all}, j % length {all}[0], (i + j) % length {all}[0]])",
            SIZES[dims[0]], SIZES[dims[1]]
        );
        self.made(elem, vec![dims[0], dims[1]], &exp);
    }
}
