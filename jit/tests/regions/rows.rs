//! Arrays that a kernel makes for each index: kernels, scans, scatters, updates and loops that carry arrays inside of it; and
//! loops outside of all operators. Each choice of lanes is compared with the reference, on written programs and on generated ones.

use crate::support::*;
use galopvm_base::ElemType;
use galopvm_testkit::rounds;
use std::fmt::Write;

const F32: ElemType = ElemType::F32;

/// Rows, of few and of many elements.
const SHAPES: [(usize, usize); 9] =
    [(0, 3), (3, 0), (1, 1), (2, 5), (17, 16), (16, 17), (33, 8), (70, 3), (5, 70)];

/// Compares launches with a matrix of each shape.
fn check_shapes(text: &str, seed: u64) {
    let mut random = Random::new(seed);
    let launches: Vec<Vec<Arg>> = SHAPES
        .iter()
        .map(|(n, m)| vec![size(*n), size(*m), array(F32, &[*n as i64, *m as i64], &mut random)])
        .collect();
    check_launches(text, "", &launches, 0.0);
}

#[test]
fn a_loop_changes_a_copy_of_a_row() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let p : [n][m]f32 = kernel i < n do
          let a : [m]f32 = kernel j < m do in A[i, j]
          let b : [m]f32 = loop c : [m]f32 = a for k < m - 1 do
            let d : [m]f32 = c with [k + 1] = c[k] * 0.5f32 + c[k + 1]
            in d
          in b
        in p";
    check_shapes(text, 41);
}

#[test]
fn an_old_array_that_is_used_later_stays_as_it_was() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let (p : [n][m]f32, q : [n][m]f32, s : [n]f32) = kernel i < n do
          let a : [m]f32 = kernel j < m do in A[i, j] + 1.0f32
          let v : [m]f32 = reverse a
          let b : [m]f32 = loop c : [m]f32 = a for k < m do
            let d : [m]f32 = c with [k] = a[m - 1 - k] * 2.0f32
            in d
          let t : f32 = loop u : f32 = 0.0f32 for k2 < m do in max(u, v[k2])
          in (b, v, t)
        in (p, q, s)";
    check_shapes(text, 42);
}

#[test]
fn arrays_change_places_from_round_to_round() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let (p : [n][m]f32, q : [n][m]f32) = kernel i < n do
          let a : [m]f32 = kernel j < m do in A[i, j]
          let b : [m]f32 = replicate [m] 2.0f32
          let (c : [m]f32, d : [m]f32) = loop (e : [m]f32, f : [m]f32) = (a, b) for k < i % 5 + 1 do
            let g : [m]f32 = kernel l < m do in e[l] + f[m - 1 - l]
            in (f, g)
          let (h : [m]f32, o : [m]f32) = loop (x : [m]f32, y : [m]f32) = (c, d) for z < 3 do in (y, x)
          in (h, o)
        in (p, q)";
    check_shapes(text, 43);
}

#[test]
fn a_branch_changes_an_array_or_leaves_it() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let p : [n][m]f32 = kernel i < n do
          let a : [m]f32 = copy A[i, 0 :+ m * 1]
          let b : [m]f32 = loop c : [m]f32 = a for k < m do
            let d : [m]f32 = if c[k] > 0.0f32 then
                let e : [m]f32 = c with [k] = c[k] - 1.0f32
                in e
              else in c
            let f : [m]f32 = if (i + k) % 3 == 0 then
                let g : [m]f32 = kernel l < m do in d[m - 1 - l]
                in g
              else
                let h : [m]f32 = d with [m - 1 - k] = 7.0f32
                in h
            in f
          in b
        in p";
    check_shapes(text, 44);
}

#[test]
fn a_loop_that_lanes_leave_one_by_one() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let (p : [n][m]f32, q : [n]i64) = kernel i < n do
          let a : [m]f32 = kernel j < m do in A[i, j]
          let (b : [m]f32, t : i64) = loop (c : [m]f32, s : i64) = (a, 0) while s < m && s < i do
            let d : [m]f32 = c with [s] = to_f32(s * i)
            in (d, s + 1)
          in (b, t)
        in (p, q)";
    check_shapes(text, 45);
}

#[test]
fn scans_and_scatters_of_rows() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let (p : [n][m]f32, q : [n][4]i32, w : [n][m]i64) = kernel i < n do
          let a : [m]f32 = scan j < m do in A[i, j] by (x : f32 = 0.0f32) (y : f32) do in max(x, y)
          let z : [4]i32 = replicate [4] 0i32
          let h : [4]i32 = hist z k < m do in ((k * 7 + i) % 5, 3i32) by (u : i32 = 0i32) (v : i32) do in u + v
          let o : [m]i64 = iota [m]
          let s : [m]i64 = scatter o l < m do in (l * 2 - i % 3, o[m - 1 - l])
          in (a, h, s)
        in (p, q, w)";
    check_shapes(text, 46);
}

#[test]
fn parts_of_arrays_are_replaced_and_joined() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let (p : [n][m]f32, q : [n][m]f32) = kernel i < n do
          let a : [m]f32 = kernel j < m do in A[i, j]
          let h : i64 = m / 2
          let l : i64 = m - h
          let b : [m]f32 = a with [0 :+ h * 1] = a[l :+ h * 1]
          let c : [m]f32 = b with [m % 2 :+ h * 1] = b[0 :+ h * 1]
          let v : [h]f32 = a[l :+ h * 1]
          let w : [l]f32 = a[0 :+ l * 1]
          let d : [h + l]f32 = concat v w
          let e : [m]f32 = kernel k < m do in d[k]
          in (c, e)
        in (p, q)";
    check_shapes(text, 47);
}

#[test]
fn rows_of_different_lengths_come_one_by_one() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let p : [n]f32 = kernel i < n do
          let l : i64 = min(m, i % 7)
          let a : [l]f32 = kernel j < l do in A[i, j] + 1.0f32
          let b : [l]f32 = scan k < l do in a[l - 1 - k] by (x : f32 = 0.0f32) (y : f32) do in max(x, y)
          let s : f32 = loop t : f32 = 0.0f32 for q < l do in t * 0.5f32 + b[q]
          in s
        in p";
    check_shapes(text, 50);
}

#[test]
fn an_index_outside_of_a_made_array_is_a_trap() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let p : [n][m]f32 = kernel i < n do
          let a : [m]f32 = kernel j < m do in A[i, j]
          let b : [m]f32 = a with [i] = 1.0f32
          in b
        in p";
    check_shapes(text, 48);
}

/// Makes programs whose rows are arrays of `m` elements.
struct Maker {
    random: Random,
    text: String,
    arrays: Vec<String>,
    scalars: Vec<String>,
    /// Variables that are indices of the arrays.
    places: Vec<String>,
    count: usize,
    indent: usize,
}

impl Maker {
    fn fresh(&mut self, letter: char) -> String {
        self.count += 1;
        format!("{letter}{}", self.count)
    }

    fn line(&mut self, text: &str) {
        let indent = self.indent;
        writeln!(self.text, "{:indent$}{text}", "").expect("a text takes lines");
    }

    fn array(&mut self) -> String {
        self.random.pick(&self.arrays).clone()
    }

    /// An index that is mostly inside.
    fn place(&mut self) -> String {
        let number = self.random.below(9);
        if !self.places.is_empty() && self.random.below(3) > 0 {
            let at = self.random.pick(&self.places).clone();
            return if self.random.one_in(3) { format!("(m - 1 - {at})") } else { at };
        }
        match self.random.below(3) {
            0 => format!("((i + {number}) % m)"),
            1 => format!("(({} * 3) % m)", self.random.pick(&self.scalars).clone()),
            _ => format!("({number} % m)"),
        }
    }

    fn scalar(&mut self, depth: usize) -> String {
        match self.random.below(if depth == 0 { 3 } else { 6 }) {
            0 => self.random.pick(&self.scalars).clone(),
            1 => format!("{}", self.random.below(20)),
            2 => {
                let (array, place) = (self.array(), self.place());
                format!("{array}[{place}]")
            }
            kind => {
                let (a, b) = (self.scalar(depth - 1), self.scalar(depth - 1));
                let op = [" + ", " - ", " * "][self.random.below(3)];
                if kind == 3 { format!("max({a}, {b})") } else { format!("({a}{op}{b})") }
            }
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.scalar(1), self.random.below(12));
        match self.random.below(3) {
            0 => format!("n % 2 == {}", b % 2),
            1 => format!("{a} % 3 == {}", b % 3),
            _ => format!("{a} < {b}"),
        }
    }

    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    /// Statements of a body of their own, and what is in scope behind it again.
    fn inside(&mut self, count: usize, depth: usize, results: &dyn Fn(&mut Maker) -> String) {
        let scope = (self.arrays.clone(), self.scalars.clone(), self.places.clone());
        self.indent += 2;
        self.statements(count, depth);
        let results = results(self);
        self.line(&format!("in {results}"));
        self.indent -= 2;
        (self.arrays, self.scalars, self.places) = scope;
    }

    fn statement(&mut self, depth: usize) {
        let new = self.fresh('a');
        match self.random.below(if depth == 0 { 7 } else { 12 }) {
            0 => {
                let at = self.fresh('k');
                self.line(&format!("let {new} : [m]i64 = kernel {at} < m do"));
                let scope = self.places.clone();
                self.places.push(at.clone());
                self.scalars.push(at);
                self.inside(0, 0, &|maker| maker.scalar(2));
                self.scalars.pop();
                self.places = scope;
            }
            1 | 2 => {
                let (array, place, value) = (self.array(), self.place(), self.scalar(2));
                self.line(&format!("let {new} : [m]i64 = {array} with [{place}] = {value}"));
            }
            3 => {
                let array = self.array();
                let word = ["copy", "reverse"][self.random.below(2)];
                self.line(&format!("let {new} : [m]i64 = {word} {array}"));
            }
            4 => {
                let value = self.scalar(1);
                self.line(&format!("let {new} : [m]i64 = replicate [m] {value}"));
            }
            5 => {
                let value = self.scalar(2);
                let name = self.fresh('s');
                self.line(&format!("let {name} : i64 = {value}"));
                self.scalars.push(name);
                return;
            }
            6 => {
                let (to, from, half) = (self.array(), self.array(), self.fresh('h'));
                self.line(&format!("let {half} : i64 = m / 2"));
                self.line(&format!(
                    "let {new} : [m]i64 = {to} with [0 :+ {half} * 1] = {from}[m - {half} :+ {half} * 1]"
                ));
            }
            7 => {
                let (x, y, at) = (self.fresh('x'), self.fresh('y'), self.fresh('j'));
                let array = self.array();
                self.line(&format!(
                    "let {new} : [m]i64 = scan {at} < m do in {array}[{at}] by ({x} : i64 = 0) ({y} : i64) do in {x} + {y}"
                ));
            }
            8 => {
                let (array, other, at) = (self.array(), self.array(), self.fresh('j'));
                self.line(&format!(
                    "let {new} : [m]i64 = scatter {array} {at} < m do in ({other}[{at}] % (m + 1), {array}[m - 1 - {at}])"
                ));
            }
            9 => {
                let condition = self.condition();
                self.line(&format!("let {new} : [m]i64 = if {condition} then"));
                self.inside(2, depth - 1, &Maker::array);
                self.line("else");
                self.inside(2, depth - 1, &Maker::array);
            }
            _ => self.repeat(&new, depth),
        }
        self.arrays.push(new);
    }

    /// A loop that carries an array or two, and a number.
    fn repeat(&mut self, new: &str, depth: usize) {
        let (other, number) = (self.fresh('a'), self.fresh('s'));
        let (one, two, three) = (self.fresh('b'), self.fresh('b'), self.fresh('t'));
        let (first, second, start) = (self.array(), self.array(), self.scalar(1));
        let at = self.fresh('k');
        let rule = match self.random.below(4) {
            0 => format!("for {at} < i % 4"),
            1 => format!("while {three} % 7 > 2"),
            _ => format!("for {at} < min(m, 5)"),
        };
        self.line(&format!(
            "let ({new} : [m]i64, {other} : [m]i64, {number} : i64) = \
             loop ({one} : [m]i64, {two} : [m]i64, {three} : i64) = ({first}, {second}, {start}) {rule} do"
        ));
        let scope = (self.arrays.clone(), self.scalars.clone(), self.places.clone());
        self.arrays.extend([one.clone(), two.clone()]);
        self.scalars.push(three.clone());
        if rule.contains("min") {
            self.places.push(at);
        }
        let falls = rule.starts_with("while");
        let next: &dyn Fn(&mut Maker) -> String = &|maker| {
            let number = if falls { format!("abs({three} / 2)") } else { maker.scalar(1) };
            let (a, b) = match maker.random.below(4) {
                0 => (two.clone(), one.clone()),
                1 => (one.clone(), maker.array()),
                _ => (maker.array(), maker.array()),
            };
            format!("({a}, {b}, {number})")
        };
        self.inside(2, depth - 1, next);
        (self.arrays, self.scalars, self.places) = scope;
        self.arrays.push(other);
        self.scalars.push(number);
    }
}

impl Maker {
    fn new(seed: u64, arrays: &[&str], scalars: &[&str]) -> Maker {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        Maker {
            random: Random::new(seed),
            text: String::new(),
            arrays: names(arrays),
            scalars: names(scalars),
            places: Vec::new(),
            count: 0,
            indent: 12,
        }
    }
}

/// A loop outside of all operators, over two arrays and a number.
fn generated_loop(seed: u64) -> String {
    let mut maker = Maker::new(seed, &["r0", "r1", "A"], &["i", "c", "s0"]);
    let count = 2 + maker.random.below(4);
    maker.statements(count, 2);
    let (one, other, number) = (maker.array(), maker.array(), maker.scalar(2));
    let (rule, number) = match maker.random.below(3) {
        0 => ("while s0 % 9 > 1", "abs(s0 / 2)".to_string()),
        _ => ("for i < n", number),
    };
    // Statements know a counter.
    let counter = if rule.starts_with("while") { "            let i : i64 = s0 + 1\n" } else { "" };
    let text = format!("{counter}{}", maker.text);
    format!(
        "region r (n : i64, m : i64, c : i64, A : [m]i64, B : [m]i64)
        let (p : [m]i64, q : [m]i64, w : i64) = loop (r0 : [m]i64, r1 : [m]i64, s0 : i64) = (A, B, c) {rule} do
{text}            in ({one}, {other}, {number})
        in (p, q, w)"
    )
}

#[test]
fn generated_loops() {
    for seed in 0..rounds(40) {
        let text = generated_loop(seed);
        let mut random = Random::new(seed ^ 0x10095);
        let launches: Vec<Vec<Arg>> = [(0, 1), (1, 1), (3, 2), (7, 17), (4, 40)]
            .iter()
            .map(|(n, m)| {
                let mut array = || {
                    let elements = (0..*m).map(|_| random.between(-30, 30) as u64).collect();
                    Arg::Array(ElemType::I64, elements, galopvm_lmad::Lmad::row_major(&[*m]))
                };
                let (a, b) = (array(), array());
                vec![size(*n as usize), size(*m as usize), size(8), a, b]
            })
            .collect();
        check_launches(&text, "", &launches, 0.0);
    }
}

/// A program over the rows of a matrix.
fn generated(seed: u64) -> String {
    let mut maker = Maker::new(seed, &["r0"], &["i", "c"]);
    let count = 3 + maker.random.below(4);
    maker.statements(count, 2);
    let last = maker.arrays.last().cloned().unwrap_or_default();
    let (other, number) = (maker.array(), maker.scalar(2));
    let (depth, text) = (maker.random.below(2), maker.text);
    let head = "region r (n : i64, m : i64, c : i64, A : [n][m]i64)\n        \
                let (p : [n][m]i64, q : [n][m]i64, w : [n]i64) = kernel i < n do\n            ";
    let row = if depth == 0 { "let r0 : [m]i64 = A[i]" } else { "let r0 : [m]i64 = copy A[i]" };
    format!("{head}{row}\n{text}            in ({last}, {other}, {number})\n        in (p, q, w)")
}

#[test]
fn generated_rows() {
    for seed in 0..rounds(40) {
        let text = generated(seed);
        let mut random = Random::new(seed ^ 0x5eed);
        let launches: Vec<Vec<Arg>> = [(1, 1), (3, 2), (17, 5), (35, 9), (4, 40)]
            .iter()
            .map(|(n, m)| {
                let elements = (0..n * m).map(|_| random.between(-30, 30) as u64).collect();
                let view = galopvm_lmad::Lmad::row_major(&[*n, *m]);
                vec![size(*n as usize), size(*m as usize), size(5), Arg::Array(ElemType::I64, elements, view)]
            })
            .collect();
        check_launches(&text, "", &launches, 0.0);
    }
}

#[test]
fn rows_of_several_kinds() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let (p : [n][m]i32, q : [n][m]f32) = kernel i < n do
          let a : [m]i32 = kernel j < m do in to_i32(A[i, j] > 0.0f32) + to_i32(j)
          let b : [m]i32 = scan k < m do in a[k] by (x : i32 = 0i32) (y : i32) do in x + y
          in (b, A[i])
        in (p, q)";
    check_shapes(text, 49);
}

/// Rows that a kernel makes for each of its lanes, as results with the dimensions in another order; results lie anyhow.
#[test]
fn results_whose_dimensions_change_places() {
    let text = "region r (n : i64, m : i64, x : [3][n][m]f32, w : [n][m]f64)
        let (u : [n][m][3]f32, v : [n][m][3]i32) = kernel i < n, j < m do
          let s : f32 = red k < 3 do let e : f32 = x[k, i, j] in e by (f : f32 = 0.0f32) (g : f32) do in f + g
          let t : f64 = w[i, j]
          let (p : [3]f32, q : [3]i32) = kernel l < 3 do
            in (x[l, i, j] / s, to_i32(t) + to_i32(l))
          in (p, q)
        let a : [3][n][m]f32 = rearrange (2, 0, 1) u
        let b : [m][n][3]i32 = transpose v
        in (a, b)";
    let mut random = Random::new(12);
    let mut launches = Vec::new();
    for (n, m) in [(1i64, 1i64), (4, 16), (3, 37), (0, 5), (5, 0), (40, 70)] {
        for layout in [Layout::Contiguous, Layout::Padded, Layout::Transposed] {
            let (view, count) = layout.view(&[3, n, m]);
            let x = (0..count).map(|_| u64::from((1.0 + random.below(9) as f32).to_bits())).collect();
            launches.push(vec![
                size(n as usize),
                size(m as usize),
                Arg::Array(ElemType::F32, x, view),
                tame(ElemType::F64, &[n, m], &mut random),
            ]);
        }
    }
    for plan in [
        "",
        "plan\n lane j : a test",
        "plan\n lane j : a test\n groups j 4 : a test",
        "plan\n lane i : a test",
    ] {
        check_launches(text, plan, &launches, 0.0);
    }
}
