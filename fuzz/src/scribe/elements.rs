//! Statements that compute elements: rows, reductions and scans, computed places, calls, arrays put together, neighbours.

use super::{Held, Helper, SIZES, Scribe, shape};
use crate::author::Elem;

impl Scribe<'_> {
    /// Rows that make arrays, update them, go through loops.
    pub(super) fn rows(&mut self, array: &Held) {
        if array.dims.len() < 2 {
            return self.whole(array);
        }
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (row, step) = (SIZES[dims[1]], self.step(elem));
        let (op, neutral) = Self::greatest(elem);
        let one = elem.of_int("1");
        let (function, dims) = match (dims.len(), self.random.below(7)) {
            // Of a size that nobody knows.
            (2, 6) => {
                let function =
                    format!("\\r -> reduce {op} {neutral} (filter (> {}) r)", elem.of_int("k % 9"));
                (function, vec![dims[0]])
            }
            (2, 0) => (format!("\\r -> scan {op} {neutral} r"), dims),
            (2, 1) => (format!("\\r -> let s = copy r in s with [k % {row}] = s[q % {row}] + {one}"), dims),
            (2, 2) => (
                format!("\\r -> loop s = copy r for i < {row} - 1 do s with [i + 1] = s[i] + s[i + 1]"),
                dims,
            ),
            (2, 3) => (format!("\\r -> reduce {op} {neutral} (map ({step}) r)"), vec![dims[0]]),
            (2, 4) => {
                let function = format!(
                    "\\r -> let s = map ({step}) r let t = reverse s in tabulate {row} (\\j -> s[j] + t[(j + k) % {row}])"
                );
                (function, dims)
            }
            (2, _) => {
                ("\\r -> loop s = r for _i < k % 3 do map2 (\\x y -> x - y) s (reverse s)".into(), dims)
            }
            // Elements of the row, or those on the other side of its diagonal.
            (_, 3 | 4) if dims[1] == dims[2] => {
                let test = ["x > y", "y > x", "x > y + y"][self.random.below(3)];
                let function =
                    format!("\\r -> map2 (map2 (\\x y -> if {test} then y else x)) r (transpose r)");
                (function, dims)
            }
            (_, 0) => ("\\r -> transpose r".into(), vec![dims[0], dims[2], dims[1]]),
            (_, 1) => (format!("\\r -> map (\\s -> reduce {op} {neutral} s) r"), vec![dims[0], dims[1]]),
            (_, _) => (format!("\\r -> map (\\s -> scan {op} {neutral} (map ({step}) s)) r"), dims),
        };
        self.made(elem, dims, &format!("map ({function}) {a}"));
    }

    /// Reductions, scans, products, joins.
    pub(super) fn combined(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let (op, neutral) = Self::greatest(elem);
        match (dims.len(), self.random.below(7)) {
            (1, 0) => drop(self.made(elem, dims, &format!("scan {op} {neutral} {a}"))),
            (1, 5) => {
                let exp = format!("replicate {} (reduce {op} {neutral} {a})", SIZES[dims[0]]);
                self.made(elem, dims, &exp);
            }
            (1, 6) => {
                // Each round has another size.
                let size = SIZES[dims[0]];
                let exp = format!(
                    "let c: []{word} = loop c: []{word} = {a}[0:1] for i < k % 4 do tabulate (i + 1) (\\j -> {a}[j % {size}] + c[j % length c]) in (c ++ {a})[0:{size}]",
                    word = elem.word()
                );
                self.made(elem, dims, &exp);
            }
            (1, 1) => {
                let size = SIZES[dims[0]];
                let exp = format!(
                    "let f = filter (> {}) {a} in tabulate {size} (\\i -> if i < length f then f[i] else {neutral})",
                    elem.of_int("k % 20")
                );
                self.made(elem, dims, &exp);
            }
            (1, 2) => {
                let size = SIZES[dims[0]];
                let exp = format!(
                    "let (f, g) = partition (> {}) {a} let h = f ++ g in h :> [{size}]{}",
                    elem.of_int("q % 20"),
                    elem.word()
                );
                self.made(elem, dims, &exp);
            }
            (1, 3) => {
                let other = self.like(elem, &dims).map_or(a.clone(), |held| held.name);
                let (low, high) = self.part(dims[0]);
                let exp = format!("{other}[{low}:{high}] ++ {a}[:{low}] ++ {a}[{high}:]");
                self.made(elem, dims, &exp);
            }
            (1, _) => {
                let other = self.random.below(2);
                let exp = format!("replicate {} {a}", SIZES[other]);
                self.made(elem, vec![other, dims[0]], &exp);
            }
            (2, 0) => {
                let by_column = format!("map (\\c -> reduce {op} {neutral} c) (transpose {a})");
                self.made(elem, vec![dims[1]], &by_column);
            }
            (2, 1) if !elem.is_float() => {
                let exp = format!("map (\\r -> map (\\c -> reduce (+) {neutral} (map2 (*) r c)) {a}) {a}");
                self.made(elem, vec![dims[0], dims[0]], &exp);
            }
            (2, 2) => {
                let (low, high) = self.part(dims[0]);
                let step = self.step(elem);
                let exp = format!("map (map ({step})) {a}[{low}:{high}] ++ {a}[:{low}] ++ {a}[{high}:]");
                self.made(elem, dims, &exp);
            }
            (2, 3) => {
                let count = format!("{} * {}", SIZES[dims[0]], SIZES[dims[1]]);
                let exp =
                    format!("unflatten (scan {op} {neutral} (flatten {a} :> [{count}]{}))", elem.word());
                self.made(elem, dims, &exp);
            }
            (_, _) => {
                let step = self.step(elem);
                let at = self.below(dims[0]);
                let exp = format!(
                    "map (\\r -> {} r) ([{a}[{at}]] ++ {a}[1:])",
                    Self::mapped(&step, dims.len() - 1)
                );
                self.made(elem, dims, &exp);
            }
        }
    }

    /// Scatters and histograms.
    pub(super) fn computed_places(&mut self, array: &Held) {
        if array.dims.len() != 1 {
            let (elem, dims) = (array.elem, array.dims.clone());
            if dims.len() == 2 {
                let target = self.taken(array);
                let exp = format!(
                    "scatter_2d {target} (map (\\i -> ((i * 3 + k) % (n + 1), (i + q) % m)) (iota m)) (map (\\i -> {}) (iota m))",
                    elem.of_int("i * 11 % 50")
                );
                self.made(elem, dims, &exp);
            }
            return;
        }
        let (elem, dims) = (array.elem, array.dims.clone());
        let size = SIZES[dims[0]];
        let Some(values) = self.some(|held| held.elem == elem && held.dims.len() == 1) else { return };
        let (count, name) = (SIZES[values.dims[0]], values.name.clone());
        let (op, neutral) = Self::greatest(elem);
        let places =
            format!("map (\\i -> (i * {} + k) % ({size} + 1)) (iota {count})", 1 + self.random.below(4));
        let target = self.taken(array);
        if !self.held.iter().any(|held| held.name == name) {
            self.made(elem, dims, &target);
            return;
        }
        let word = elem.word();
        let exp = match self.random.below(4) {
            0 => format!("scatter {target} ({places}) {name}"),
            1 => format!("intrinsics.scatter_stream {target} put_{word} (iota {count})"),
            2 => format!("intrinsics.hist_stream {target} {op} {neutral} put_{word} (iota {count})"),
            _ => format!("reduce_by_index {target} {op} {neutral} ({places}) {name}"),
        };
        self.made(elem, dims, &exp);
    }

    /// A call of a helper, with an array that fits it: the given one if it does.
    pub(super) fn helped(&mut self, array: &Held) {
        let fits = |helper: &Helper, held: &Held| helper.elem == held.elem && helper.dims == held.dims;
        let held = &self.held;
        let known = self.helpers.iter().filter(|helper| held.iter().any(|held| fits(helper, held)));
        let (known, exact): (Vec<Helper>, Vec<Helper>) =
            known.cloned().partition(|helper| !fits(helper, array));
        let fitting = if exact.is_empty() { known } else { exact };
        if fitting.is_empty() {
            return self.whole(array);
        }
        let helper = self.random.pick(&fitting).clone();
        let found =
            if fits(&helper, array) { Some(array.clone()) } else { self.some(|held| fits(&helper, held)) };
        let Some(array) = found else { return };
        let argument = if helper.unique { self.taken(&array) } else { array.name.clone() };
        let names: Vec<String> = helper.results.iter().map(|_| self.name()).collect();
        let pattern = names.join(", ");
        self.line(&format!("let ({pattern}) = {} n m (k + {}) {argument}", helper.name, self.next % 3));
        for (name, (dims, _)) in names.iter().zip(helper.results) {
            // It may be a view of what was given.
            self.next += 1;
            let mut roots = array.roots.clone();
            roots.insert(self.next);
            self.held.push(Held { name: name.clone(), elem: helper.elem, dims, own: false, roots });
        }
    }

    /// Records, sums and branches that hold arrays.
    pub(super) fn composed(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let other = self.like(elem, &dims).map_or(a.clone(), |held| held.name);
        let (step, rank, ty) = (self.step(elem), dims.len(), Self::ty(elem, &dims));
        let word = elem.word();
        let (mapped, holds) = (Self::mapped(&step, rank), self.holds(array));
        let exp = match self.random.below(6) {
            5 => format!("let c = if {holds} then {a} else {other} in copy c"),
            0 => format!("let p = {{x = {a}, y = {mapped} {other}}} in if {holds} then copy p.x else p.y"),
            1 => format!(
                "let s: #left ({ty}) | #right ({ty}) i64 = if {holds} then #left {other} else #right ({mapped} {a}) k in match s case #left l -> {mapped} l case #right r i -> if i > 3 then r else copy r"
            ),
            2 => format!("if {holds} then {mapped} {a} else copy {other}"),
            3 if rank == 1 => format!(
                "let t: {}(#big {word} | #small) = map (\\e -> if e > {} then #big e else #small) {a} in map (\\s -> match s case #big e -> e case #small -> {}) t",
                shape(&dims),
                elem.of_int("3"),
                elem.of_int("k"),
            ),
            _ => format!(
                "let (u, v) = loop (u, v) = (copy {a}, {mapped} {other}) for i < q % 4 do (v, {mapped} u) in if {holds} then u else v"
            ),
        };
        self.made(elem, dims, &exp);
    }

    /// An element of an array of one dimension, at a place that only another element tells. For some elements, or for one of the
    /// rows that `i` counts, it may be outside: what is tried again after that has to find all as it was.
    pub(super) fn pointed_at(&mut self, elem: Elem, by: &str, rows: Option<&str>) -> String {
        let fitting = self.some(|held| held.elem == elem && held.dims.len() == 1);
        let Some(held) = fitting else { return by.into() };
        let (place, name, size) = (elem.as_number(by), held.name, SIZES[held.dims[0]]);
        let test = ["q % 4 == 3", "k % 4 == 3"][self.random.below(2)];
        let which = match rows {
            Some(rows) if !self.random.one_in(3) => format!("i == (k * 5 + q) % {rows}"),
            _ => "at % 8 == 3".into(),
        };
        format!("(let at = {place} in {name}[if {test} && {which} then at else at % {size}])")
    }

    /// Some elements are computed from others of the array, the rest stay as they are.
    pub(super) fn stencil(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        // The same array under another name.
        let other = self.name();
        let turned = if dims.len() == 2 && self.random.one_in(2) { "transpose" } else { "reverse" };
        self.line(&format!("let {other} = {turned} {a}"));
        if self.random.one_in(3) {
            // It is not used afterwards, so the result may be written over it.
            self.held.retain(|held| held.roots.is_disjoint(&array.roots));
        }
        match dims[..] {
            [d] => {
                let size = SIZES[d];
                let tests = [
                    "i > 0 && i < s - 1",
                    "i % 2 == 0",
                    "i >= k % s",
                    "i < 2 || i > s - 3",
                    "i == k % s || i == q % s",
                ];
                let test = self.random.pick(&tests).replace('s', size);
                let pointed = self.pointed_at(elem, &format!("{a}[i]"), Some(size));
                let changed = [
                    pointed.clone(),
                    pointed.clone(),
                    pointed,
                    format!("{a}[(i + 1) % {size}] - {a}[(i + {size} - 1) % {size}]"),
                    format!("{a}[i] + {a}[i]"),
                    format!("{other}[i]"),
                    format!("(if i > 0 then {a}[i - 1] else {a}[0])"),
                    format!("(if i + 1 < {size} then {a}[i + 1] else {a}[i]) + {a}[i]"),
                    format!("{a}[{} % {size}]", elem.as_number(&format!("{a}[i]"))),
                    // Outside of the array for some numbers.
                    format!("{a}[i + i64.bool (k % 9 == 4)]"),
                ];
                let changed = self.random.pick(&changed);
                // Computed for all of them, or where it is needed.
                let exp = match self.random.below(3) {
                    0 => {
                        format!("tabulate {size} (\\i -> let c = {changed} in if {test} then c else {a}[i])")
                    }
                    _ => format!("tabulate {size} (\\i -> if {test} then {changed} else {a}[i])"),
                };
                self.made(elem, dims, &exp);
            }
            [d, e] => {
                let (rows, columns) = (SIZES[d], SIZES[e]);
                let test = [
                    format!("i > 0 && i < {rows} - 1 && j > 0 && j < {columns} - 1"),
                    format!("i > k % {rows} && j > k % {columns}"),
                    format!("j == q % {columns}"),
                    "i == j".to_string(),
                    "i == j + k % 2".to_string(),
                    format!("i == 0 || i == {rows} - 1"),
                    format!("j == 0 || j == {columns} - 1"),
                ];
                let test = self.random.pick(&test).clone();
                let pointed = self.pointed_at(elem, &format!("{a}[i, j]"), Some(rows));
                let changed = [
                    pointed.clone(),
                    pointed.clone(),
                    pointed,
                    format!("{a}[i, j] - {a}[i, k % {columns}]"),
                    format!("{a}[(i + 1) % {rows}, j] + {a}[i, (j + 1) % {columns}]"),
                    format!("{a}[i, {columns} - 1 - j]"),
                    format!("{a}[i, j] + {a}[i, j]"),
                    format!("(if i < {columns} && j < {rows} then (transpose {a})[i, j] else {a}[i, j])"),
                    match turned {
                        "reverse" => format!("{other}[i, j]"),
                        _ => format!("(if i < {columns} && j < {rows} then {other}[i, j] else {a}[i, j])"),
                    },
                    format!("(if i > 0 then {a}[i - 1, j] else {a}[i, j]) + {a}[i, j]"),
                    format!("(if j + 1 < {columns} then {a}[i, j + 1] else {a}[i, j])"),
                    format!("{a}[{} % {rows}, j]", elem.as_number(&format!("{a}[i, j]"))),
                    // Outside of the array for some numbers.
                    format!("{a}[i + i64.bool (q % 9 == 4), j]"),
                ];
                let changed = self.random.pick(&changed).clone();
                let exp = format!(
                    "tabulate_2d {rows} {columns} (\\i j -> if {test} then {changed} else {a}[i, j])"
                );
                self.made(elem, dims, &exp);
            }
            _ => self.rows(array),
        }
    }
}
