//! Operators of which the next one reads what the one before makes, as groups are made of: prefixes at their own places, sums that
//! are read alike in all iterations of first axes, loops of which a part is read by nobody.

use super::{Held, SIZES, Scribe};
use crate::author::Elem;

/// Iterations of the axis that goes in front of those of an array.
const FRONT: usize = 3;

impl Scribe<'_> {
    /// One of them.
    pub(super) fn chain(&mut self, array: &Held) {
        match (array.dims.len(), self.random.below(4)) {
            (1, 0) => self.fed(array),
            (1 | 2, 1 | 2) => self.alike(array),
            (1, _) => self.scattered(array),
            _ => self.partly(array),
        }
    }

    /// Another array like this one, or itself.
    fn beside(&mut self, array: &Held) -> String {
        self.like(array.elem, &array.dims).map_or(array.name.clone(), |held| held.name)
    }

    /// What stands at a place of a scan and in other arrays there.
    fn fed(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (other, step) = (self.beside(array), self.step(elem));
        let prefixes = self.prefixes(elem, &a);
        let exp = match self.random.below(3) {
            0 => format!("map2 (\\x y -> x - y) {prefixes} {other}"),
            1 => format!("map ({step}) {prefixes}"),
            _ => format!(
                "map2 (\\x i -> x + {other}[(i * 5 + k) % {n}]) {prefixes} (iota {n})",
                n = SIZES[dims[0]]
            ),
        };
        let first = self.made(elem, dims.clone(), &exp);
        if self.random.one_in(3) {
            let exp = format!("map2 (\\x y -> x + y) {prefixes} {}", first.name);
            self.made(elem, dims, &exp);
        }
    }

    /// The name of a scan of an array, or of what an element of it gives; now and then of one that starts again at some elements, or
    /// counts beside, of which nobody looks at the rest.
    fn prefixes(&mut self, elem: Elem, array: &str) -> String {
        let (name, step) = (self.name(), self.step(elem));
        let (op, neutral) = Self::greatest(elem);
        let of = if self.random.one_in(2) { format!("(map ({step}) {array})") } else { array.to_string() };
        let flag = format!("\\e -> {} % 3", elem.as_number("e"));
        let exp = match self.random.below(4) {
            0 => format!(
                "scan (\\(f, x) (g, y) -> (f || g, if g then y else {op} x y)) (false, {neutral}) (zip (map ({flag} == 0) {array}) {of}) |> map (.1)"
            ),
            1 => format!(
                "scan (\\(a, x, b) (c, y, d) -> (a + c, {op} x y, i64.max b d)) (0, {neutral}, i64.lowest) (zip3 (map ({flag}) {array}) {of} (map ({flag} + k) {array})) |> map (.1)"
            ),
            _ => format!("scan {op} {neutral} {of}"),
        };
        self.line(&format!("let {name} = {exp}"));
        name
    }

    /// Prefixes as the places of a scatter, one of them now and then outside.
    fn scattered(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let n = SIZES[dims[0]];
        let by = 2 + self.random.below(3);
        let (flags, places, value) = (self.name(), self.name(), self.step(elem));
        self.line(&format!("let {flags} = map (\\e -> i64.bool ({} % {by} == 0)) {a}", elem.as_number("e")));
        self.line(&format!("let {places} = scan (+) 0 {flags}"));
        let values = match self.random.below(3) {
            // Only those that have a place of their own are put anywhere.
            0 => {
                format!("(map2 (\\p f -> if f == 1 then p - 1 else -1) {places} {flags}) (map ({value}) {a})")
            }
            1 => format!(
                "(map2 (\\p i -> if {flags}[i] == 1 then p - 1 else {places}[{n} - 1] + i - p) {places} (iota {n})) {a}"
            ),
            _ => format!("(map2 (\\p f -> f * p - 1) {places} {flags}) {a}"),
        };
        let filled = self.tabulated(elem, &dims);
        let exp = match self.random.one_in(2) {
            true => format!("scatter ({filled}) {values}"),
            // Over the array itself, as sorting does.
            false => format!("scatter (copy {a}) {values}"),
        };
        self.made(elem, dims, &exp);
    }

    /// Something dear for each place, and a kernel with one more axis in front that reads it alike in all of its iterations.
    fn alike(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (dear, all) = (self.name(), self.name());
        let (op, neutral) = Self::greatest(elem);
        let other = self.beside(array);
        let terms = 2 + self.random.below(9);
        let c = elem.of_int("c");
        let (head, front, at, far, turned) = match dims[..] {
            [d] => {
                let n = SIZES[d];
                (
                    format!("tabulate {n} (\\i ->"),
                    format!("tabulate_2d {FRONT} {n} (\\c i ->"),
                    "i".to_string(),
                    format!("(i + l * 3) % {n}"),
                    format!("(i + c + k) % {n}"),
                )
            }
            [d, e, ..] => {
                let (n, m) = (SIZES[d], SIZES[e]);
                (
                    format!("tabulate_2d {n} {m} (\\i j ->"),
                    format!("tabulate_3d {FRONT} {n} {m} (\\c i j ->"),
                    "i, j".to_string(),
                    format!("(i + l) % {n}, (j + l * 5) % {m}"),
                    format!("(i + {n} - c % {n}) % {n}, (j + c) % {m}"),
                )
            }
            [] => return,
        };
        let term = format!("{other}[{far}] * {}", elem.of_int("l + 2"));
        self.line(&format!("let {dear} = {head} reduce {op} {neutral} (tabulate {terms} (\\l -> {term})))"));
        let value = match self.random.below(4) {
            0 => format!("{dear}[{at}] * {c} + {a}[{turned}]"),
            1 => format!("if {c} > {} then {dear}[{at}] - {a}[{at}] else {dear}[{at}]", elem.of_int("k % 3")),
            2 => format!("({dear}[{at}] + {a}[{at}]) * ({dear}[{at}] - {c})"),
            _ => format!("{dear}[{at}] + {dear}[{turned}] * {c}"),
        };
        self.line(&format!("let {all} = {front} {value})"));
        let exp = match self.random.below(3) {
            0 => format!("{head} {all}[(i + k) % {FRONT}, {at}])"),
            1 => format!("{head} {all}[0, {at}] + {all}[{}, {at}])", FRONT - 1),
            _ => format!("copy {all}[k % {FRONT}]"),
        };
        self.made(elem, dims.clone(), &exp);
        if self.random.one_in(3) {
            self.made(elem, dims, &dear);
        }
    }

    /// A loop that carries arrays and numbers of which only some are read afterwards, and which may fail for others.
    fn partly(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let other = self.beside(array);
        let [step, second] = [0, 1].map(|_| Self::mapped(&self.step(elem), dims.len()));
        let place = vec!["0"; dims.len()].join(", ");
        let bound = self.told_by(array);
        let next = ["s", "t", "u"][self.random.below(3)];
        let number = match self.random.below(4) {
            0 => "c / (c - 3)".to_string(),
            1 => format!("c + {}", elem.as_number(&format!("t[{place}]"))),
            2 => format!("c + {}", elem.as_number(&format!("u[{place}]"))),
            _ => "c + 1".to_string(),
        };
        let results = ["(r, _, _, _)", "(_, r, _, _)", "(r, _, g, _)", "(_, _, r, g)"][self.random.below(4)];
        let kept = match results.contains('g') {
            true if results.starts_with("(r") => format!("{step} g"),
            true => format!("if g > 5 then copy r else {second} r"),
            false => "copy r".to_string(),
        };
        let kept =
            if results.starts_with("(r, _, g") { format!("if k > 2 then copy r else {kept}") } else { kept };
        let exp = format!(
            "let {results} = loop (s, t, u, c) = ({a}, {other}, {a}, k % 5) for i < {bound} % 4 do ({step} s, {second} {next}, t, {number} + i) in {kept}"
        );
        self.made(elem, dims, &exp);
    }
}
