//! Programs that reach far: arrays of one to three dimensions with sizes by name, in views, updates, loops inside rows,
//! histograms, scatters, records, sums, and functions that give copies, views, parts and several arrays.
//!
//! Every array has extents of two sizes, `n` and `m`, so that nearly everything fits nearly everything else. Elements differ from
//! each other as far as their types allow. Only operations that every tier gives bit for bit are used, so floats are
//! added and multiplied element by element and combined by their greatest alone.

use crate::author::{Elem, EntryPoint, Param, Program};
use crate::random::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The extents of arrays, by name.
const SIZES: [&str; 2] = ["n", "m"];

/// Element types; most arrays are of the first two, so that they meet.
const ELEMS: [Elem; 7] = [Elem::I64, Elem::I64, Elem::I64, Elem::F32, Elem::F32, Elem::I32, Elem::F16];

/// An array that can be named.
#[derive(Clone)]
struct Held {
    name: String,
    elem: Elem,
    /// Its extents, by number of the size.
    dims: Vec<usize>,
    /// Nobody else has its memory, as far as types tell: it may be used up.
    own: bool,
    /// The arrays whose memory it may share, itself included.
    roots: BTreeSet<usize>,
}

/// A function of the program: what it takes besides two sizes and a number, and the shape of what it gives.
#[derive(Clone)]
struct Helper {
    name: String,
    elem: Elem,
    dims: Vec<usize>,
    unique: bool,
    /// Extents of each result, and whether it is a new array.
    results: Vec<(Vec<usize>, bool)>,
}

struct Scribe<'a> {
    random: &'a mut Random,
    text: String,
    indent: usize,
    held: Vec<Held>,
    next: usize,
    depth: usize,
    helpers: Vec<Helper>,
}

/// Functions that write to accumulators, as streams want them: two places each, of which one may be outside.
fn accumulated(elem: Elem) -> String {
    let word = elem.word();
    format!(
        "def put_{word} [s] (a: *intrinsics.acc ([s]{word})) (i: i64): intrinsics.acc ([s]{word}) =\n  \
         intrinsics.acc_write (intrinsics.acc_write a (i * 3 % (s + 1)) {}) ((i + 1) % s) {}\n\n",
        elem.of_int("i % 7"),
        elem.of_int("i % 5 + 20"),
    )
}

/// The program that these random numbers say.
pub fn program(random: &mut Random) -> Program {
    let mut source = String::new();
    let mut helpers: Vec<Helper> = Vec::new();
    for k in 0..random.below(4) {
        let mut scribe = Scribe::new(random, helpers.clone());
        let helper = scribe.helper(k);
        source.push_str(&scribe.text);
        helpers.push(helper);
    }
    let mut entries = Vec::new();
    for k in 0..2 + random.below(2) {
        let mut scribe = Scribe::new(random, helpers.clone());
        let entry = scribe.entry(k);
        source.push_str(&scribe.text);
        entries.push(entry);
    }
    let used = [Elem::I64, Elem::I32, Elem::F32, Elem::F16].into_iter();
    let used = used.filter(|elem| source.contains(&format!("put_{}", elem.word())));
    let first: String = used.map(accumulated).collect();
    Program { source: first + &source, entries }
}

fn shape(dims: &[usize]) -> String {
    dims.iter().map(|dim| format!("[{}]", SIZES[*dim])).collect()
}

impl<'a> Scribe<'a> {
    fn new(random: &'a mut Random, helpers: Vec<Helper>) -> Scribe<'a> {
        Scribe { random, text: String::new(), indent: 1, held: Vec::new(), next: 0, depth: 0, helpers }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = 2 * self.indent);
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    fn elem(&mut self) -> Elem {
        *self.random.pick(&ELEMS)
    }

    fn dims(&mut self) -> Vec<usize> {
        let rank = [1, 1, 2, 2, 2, 2, 3][self.random.below(7)];
        (0..rank).map(|_| self.random.below(2)).collect()
    }

    fn ty(elem: Elem, dims: &[usize]) -> String {
        format!("{}{}", shape(dims), elem.word())
    }

    /// A helper function; its body works like that of an entry point.
    fn helper(&mut self, k: usize) -> Helper {
        let (elem, dims, unique) = (self.elem(), self.dims(), self.random.one_in(3));
        let name = format!("helper{k}");
        let star = if unique { "*" } else { "" };
        self.hold("a", elem, dims.clone(), unique);
        self.line("let q = k / 2");
        self.line("let x = f64.i64 (k % 7)");
        let steps = self.random.below(4);
        (0..steps).for_each(|_| self.statement());
        let (mut results, mut values, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..1 + self.random.below(2) {
            let found = self.some(|held| held.elem == elem);
            let (exp, dims, is_new) = match found {
                Some(held) if self.random.one_in(2) => (format!("copy {}", held.name), held.dims, true),
                // A view of what it was given, or that itself.
                Some(held) if !unique && held.dims.len() == 2 && self.random.one_in(2) => {
                    let turned = held.dims.iter().rev().copied().collect();
                    (format!("transpose {}", held.name), turned, false)
                }
                Some(held) if !unique => (held.name, held.dims, false),
                _ => (self.tabulated(elem, &dims), dims.clone(), true),
            };
            types.push(Self::ty(elem, &dims));
            values.push(exp);
            results.push((dims, is_new));
        }
        let inline = if self.random.one_in(2) { "#[noinline]\n" } else { "" };
        let (types, values) = (types.join(", "), values.join(", "));
        let body = std::mem::take(&mut self.text);
        self.text = format!(
            "{inline}def {name} (n: i64) (m: i64) (k: i64) (a: {star}{}): ({types}) =\n{body}  in ({values})\n\n",
            Self::ty(elem, &dims),
        );
        Helper { name, elem, dims, unique, results }
    }

    fn entry(&mut self, number: usize) -> EntryPoint {
        let elem = self.elem();
        let mut params = vec![Param { elem, rank: 2, unique: self.random.one_in(3) }];
        for _ in 0..self.random.below(3) {
            let (elem, rank) = (self.elem(), 1 + self.random.below(2));
            params.push(Param { elem, rank, unique: self.random.one_in(4) });
        }
        let mut list = String::new();
        for (i, param) in params.iter().enumerate() {
            let star = if param.unique { "*" } else { "" };
            let _ = write!(list, " (p{i}: {star}{}{})", "[]".repeat(param.rank), param.elem.word());
        }
        self.line("let n = length p0");
        self.line("let m = length p0[0]");
        let star = if params[0].unique { "*" } else { "" };
        self.line(&format!("let a0 = p0 :> {star}[n][m]{}", elem.word()));
        self.hold("a0", elem, vec![0, 1], params[0].unique);
        for (i, param) in params.iter().enumerate().skip(1) {
            let dims: Vec<usize> = (0..param.rank).map(|_| self.random.below(2)).collect();
            let exp = match &dims[..] {
                [d] => format!("tabulate {} (\\i -> p{i}[i % length p{i}])", SIZES[*d]),
                [d, e] => format!(
                    "tabulate_2d {} {} (\\i j -> p{i}[i % length p{i}, j % length p{i}[0]])",
                    SIZES[*d], SIZES[*e]
                ),
                _ => continue,
            };
            self.made(param.elem, dims, &exp);
        }
        let steps = 3 + self.random.below(8);
        (0..steps).for_each(|_| self.statement());
        let count = 1 + self.random.below(3);
        let from = self.held.len().saturating_sub(count);
        let mut chosen: Vec<Held> = self.held[from..].to_vec();
        if self.random.one_in(2) {
            chosen.extend(self.some(|_| true));
        }
        let empty = |held: &Held| format!("{}{}", "[]".repeat(held.dims.len()), held.elem.word());
        let types: Vec<String> = chosen.iter().map(empty).collect();
        let values: Vec<String> = chosen.iter().map(|held| held.name.clone()).collect();
        let body = std::mem::take(&mut self.text);
        let name = format!("entry{number}");
        self.text = format!(
            "entry {name} (k: i64) (q: i64) (x: f64){list}: ({}) =\n{body}  in ({})\n\n",
            types.join(", "),
            values.join(", ")
        );
        EntryPoint { name, params }
    }

    fn hold(&mut self, name: &str, elem: Elem, dims: Vec<usize>, own: bool) -> Held {
        self.next += 1;
        let held = Held { name: name.into(), elem, dims, own, roots: BTreeSet::from([self.next]) };
        self.held.push(held.clone());
        held
    }

    /// A new array.
    fn made(&mut self, elem: Elem, dims: Vec<usize>, exp: &str) -> Held {
        let name = self.name();
        self.line(&format!("let {name} = ({exp}) :> {}", Self::ty(elem, &dims)));
        self.hold(&name, elem, dims, true)
    }

    /// Another view of an array.
    fn seen(&mut self, of: &Held, dims: Vec<usize>, exp: &str) {
        let name = self.name();
        self.line(&format!("let {name} = {exp}"));
        self.held.push(Held { name, dims, own: false, ..of.clone() });
    }

    fn some(&mut self, fits: impl Fn(&Held) -> bool) -> Option<Held> {
        let fitting: Vec<&Held> = self.held.iter().filter(|held| fits(held)).collect();
        if fitting.is_empty() {
            return None;
        }
        let from = if self.random.one_in(2) { fitting.len() / 2 } else { 0 };
        Some(fitting[from + self.random.below(fitting.len() - from)].clone())
    }

    fn like(&mut self, elem: Elem, dims: &[usize]) -> Option<Held> {
        self.some(|held| held.elem == elem && held.dims == dims)
    }

    /// An array that is used up now: one of its own, else a copy.
    fn taken(&mut self, array: &Held) -> String {
        if !array.own || self.random.one_in(4) {
            return format!("(copy {})", array.name);
        }
        self.held.retain(|held| held.roots.is_disjoint(&array.roots));
        array.name.clone()
    }

    /// A number that the arguments tell, from 0 on and below a size.
    fn below(&mut self, size: usize) -> String {
        let size = SIZES[size];
        match self.random.below(6) {
            0 => "0".into(),
            1 => format!("({size} - 1)"),
            2 => format!("(k % {size})"),
            3 => format!("(q % {size})"),
            4 => format!("(i64.f64 x % {size})"),
            _ => format!("((k + q) % {size})"),
        }
    }

    /// First and last place of a part that may be empty, with a name each.
    fn part(&mut self, size: usize) -> (String, String) {
        let (low, high) = (self.name(), self.name());
        let (first, word) = (self.below(size), SIZES[size]);
        self.line(&format!("let {low} = {first}"));
        let end = match self.random.below(5) {
            0 => word.to_string(),
            1 => format!("{low} + 1"),
            2 => low.clone(),
            _ => format!("{low} + 1 + q % ({word} - {low})"),
        };
        self.line(&format!("let {high} = {end}"));
        (low, high)
    }

    /// A function of one element. Some end the program for some numbers.
    fn step(&mut self, elem: Elem) -> String {
        let constant = elem.of_int(&(1 + self.random.below(9)).to_string());
        match self.random.below(5) {
            3 if matches!(elem, Elem::I64 | Elem::I32) && self.random.one_in(3) => {
                format!("\\e -> {constant} / (e - {}) - e", elem.of_int("if q % 7 == 3 then k else 1000000"))
            }
            0 => format!("\\e -> e + {}", elem.of_int("q")),
            1 => format!("\\e -> e * {constant}"),
            2 => format!("\\e -> if e > {constant} then e - {constant} else e"),
            3 => format!("\\e -> {constant} - e"),
            _ => format!("\\e -> e + e * {constant}"),
        }
    }

    fn mapped(step: &str, rank: usize) -> String {
        let mut function = format!("({step})");
        for _ in 1..rank {
            function = format!("(map {function})");
        }
        format!("map {function}")
    }

    /// The greater one: what floats can be combined by.
    fn greatest(elem: Elem) -> (String, String) {
        match elem {
            Elem::F32 | Elem::F16 => (format!("{}.max", elem.word()), format!("{}.lowest", elem.word())),
            _ => ("(+)".into(), elem.of_int("0")),
        }
    }

    /// A new array of a type, from nothing.
    fn tabulated(&mut self, elem: Elem, dims: &[usize]) -> String {
        let salt = self.random.below(50);
        let exp = |text: &str| elem.of_int(&format!("({text}) % 97"));
        match dims {
            [d] => format!("tabulate {} (\\i -> {})", SIZES[*d], exp(&format!("i * 7 + {salt} + k"))),
            [d, e] => format!(
                "tabulate_2d {} {} (\\i j -> {})",
                SIZES[*d],
                SIZES[*e],
                exp(&format!("i * 13 + j * 5 + {salt}"))
            ),
            [d, e, f, ..] => format!(
                "tabulate_3d {} {} {} (\\i j l -> {})",
                SIZES[*d],
                SIZES[*e],
                SIZES[*f],
                exp(&format!("i * 13 + j * 5 + l * 3 + {salt}"))
            ),
            [] => exp("k"),
        }
    }

    fn statement(&mut self) {
        let Some(array) = self.some(|_| true) else { return };
        match self.random.below(12) {
            0 => self.whole(&array),
            1 => self.view(&array),
            2 | 3 => self.update(&array),
            4 | 5 => self.rounds(&array),
            6 => self.rows(&array),
            7 => self.combined(&array),
            8 => self.computed_places(&array),
            9 => self.helped(&array),
            10 => self.composed(&array),
            _ => self.stencil(&array),
        }
    }

    /// Element by element.
    fn whole(&mut self, array: &Held) {
        let (elem, dims, a) = (array.elem, array.dims.clone(), array.name.clone());
        let step = self.step(elem);
        let other = self.like(elem, &dims).map_or(a.clone(), |held| held.name);
        let exp = match self.random.below(4) {
            0 => format!("{} {a}", Self::mapped(&step, dims.len())),
            1 if dims.len() == 1 => format!("map2 (\\x y -> x + y) {a} {other}"),
            1 if dims.len() == 2 => format!("map2 (map2 (\\x y -> x - y)) {a} {other}"),
            2 => format!("copy {a}"),
            3 => self.tabulated(elem, &dims),
            _ => format!("{} {other}", Self::mapped(&step, dims.len())),
        };
        self.made(elem, dims, &exp);
    }

    fn view(&mut self, array: &Held) {
        let (a, dims) = (array.name.clone(), array.dims.clone());
        match (dims.len(), self.random.below(5)) {
            (1, _) => self.seen(array, dims, &format!("reverse {a}")),
            (_, 0 | 1) => {
                let mut turned = dims;
                turned.swap(0, 1);
                self.seen(array, turned, &format!("transpose {a}"));
            }
            (_, 2) => {
                let at = self.below(dims[0]);
                self.seen(array, dims[1..].to_vec(), &format!("{a}[{at}]"));
            }
            (2, 3) => {
                let at = self.below(dims[1]);
                self.seen(array, vec![dims[0]], &format!("{a}[:, {at}]"));
            }
            (3, 3) => self.seen(array, vec![dims[0], dims[2], dims[1]], &format!("map transpose {a}")),
            // Round in a circle, which is not its own opposite.
            (3, _) if self.random.one_in(2) => {
                self.seen(array, vec![dims[2], dims[0], dims[1]], &format!("transpose (map transpose {a})"));
            }
            _ => self.seen(array, dims, &format!("{a}[::-1]")),
        }
    }

    /// A part is replaced by what is computed from the array itself or another one.
    fn update(&mut self, array: &Held) {
        let (elem, dims, word) = (array.elem, array.dims.clone(), array.elem.word());
        let step = self.step(elem);
        let source = self.like(elem, &dims).map_or(array.name.clone(), |held| held.name);
        let (index, value) = match (dims.len(), self.random.below(4)) {
            (1, 0) => (self.below(dims[0]), format!("({step}) {source}[{}]", self.below(dims[0]))),
            (1, _) => {
                let (low, high) = self.part(dims[0]);
                // The part itself, backwards, or as many elements that lie further on or before.
                let from = match self.random.below(4) {
                    0 => format!("{source}[{low}:{high}]"),
                    1 => format!("reverse {source}[{low}:{high}]"),
                    2 => format!("{source}[{} - ({high} - {low}):]", SIZES[dims[0]]),
                    _ => format!("{source}[:{high} - {low}]"),
                };
                let value = format!("map ({step}) ({from}) :> [{high} - {low}]{word}");
                (format!("{low}:{high}"), value)
            }
            (2, 0) => {
                let (to, from) = (self.below(dims[0]), self.below(dims[0]));
                (to, format!("map ({step}) {source}[{from}]"))
            }
            (2, 1) => {
                let (to, from) = (self.below(dims[1]), self.below(dims[1]));
                (format!(":, {to}"), format!("map ({step}) {source}[:, {from}]"))
            }
            (2, _) => {
                let ((low, high), (left, right)) = (self.part(dims[0]), self.part(dims[1]));
                let part = match self.random.below(3) {
                    0 => format!("{source}[{low}:{high}, {left}:{right}]"),
                    1 => format!("{source}[:{high} - {low}, {left}:{right}]"),
                    _ => format!("{source}[{low}:{high}, {} - ({right} - {left}):]", SIZES[dims[1]]),
                };
                let value = format!("map (map ({step})) {part} :> [{high} - {low}][{right} - {left}]{word}");
                (format!("{low}:{high}, {left}:{right}"), value)
            }
            (_, 0) => {
                let (i, j, from) = (self.below(dims[0]), self.below(dims[1]), self.below(dims[0]));
                (format!("{i}, {j}"), format!("map ({step}) {source}[{from}, {j}]"))
            }
            (_, _) => {
                let (to, from) = (self.below(dims[0]), self.below(dims[0]));
                (to, format!("map (map ({step})) {source}[{from}]"))
            }
        };
        let new = self.name();
        self.line(&format!("let {new} = {value}"));
        let target = self.taken(array);
        self.made(elem, dims, &format!("{target} with [{index}] = {new}"));
    }

    /// A loop that carries an array, of its own or one that is used again, with statements inside.
    fn rounds(&mut self, array: &Held) {
        if self.depth > 1 {
            return;
        }
        let (elem, dims) = (array.elem, array.dims.clone());
        let ty = Self::ty(elem, &dims);
        let is_own = !self.random.one_in(3);
        let (start, star) = if is_own { (self.taken(array), "*") } else { (array.name.clone(), "") };
        let (carried, counter, result) = (self.name(), self.name(), self.name());
        self.line(&format!("let {result} ="));
        self.indent += 1;
        let bound = ["k % 4", "q % 5", "3", "m"][self.random.below(4)];
        self.line(&format!("loop {carried}: {star}{ty} = {start} for {counter} < {bound} do"));
        self.indent += 1;
        self.depth += 1;
        let outer = self.held.clone();
        self.held.iter_mut().for_each(|held| held.own = false);
        let inner = self.hold(&carried, elem, dims.clone(), is_own);
        let before = self.text.len();
        let steps = self.random.below(3);
        (0..steps).for_each(|_| self.statement());
        let word = if self.text[before..].contains("let") { "in " } else { "" };
        let found = self.some(|held| held.elem == elem && held.dims == dims && held.own);
        let body = match (found, self.random.below(3)) {
            (Some(held), 0) => held.name,
            (Some(held), 1) if held.dims.len() == 1 => {
                let at = self.below(dims[0]);
                format!(
                    "{} with [({at} + {counter}) % {}] = {}",
                    held.name,
                    SIZES[dims[0]],
                    elem.of_int(&counter)
                )
            }
            (Some(held), _) if held.dims.len() == 2 => {
                let row = format!("({counter} + 1) % {}", SIZES[dims[0]]);
                let step = self.step(elem);
                format!(
                    "let r = map ({step}) {}[{counter} % {}] in {} with [{row}] = r",
                    held.name, SIZES[dims[0]], held.name
                )
            }
            (found, choice) => {
                let name = found.map_or(inner.name, |held| held.name);
                let step = self.step(elem);
                match choice {
                    // Rows read what others write.
                    1 if dims.len() == 1 => format!("map2 (\\x y -> x - y) {name} (reverse {name})"),
                    1 if dims.len() == 2 => format!("map2 (map2 (\\x y -> x - y)) {name} (reverse {name})"),
                    _ => format!("{} {name}", Self::mapped(&step, dims.len())),
                }
            }
        };
        self.line(&format!("{word}{body}"));
        self.indent -= 2;
        self.depth -= 1;
        self.held = outer;
        let other =
            if !is_own && self.random.one_in(2) { Some(array.clone()) } else { self.like(elem, &dims) };
        match other {
            // It is copied, and used no more.
            Some(other) if self.random.one_in(2) => {
                let (size, from) = (SIZES[dims[0]], self.random.below(2));
                let exp = format!("({result} ++ {})[{from}:{from} + {size}]", other.name);
                self.made(elem, dims, &exp);
            }
            _ if is_own => drop(self.hold(&result, elem, dims, true)),
            // After no round it is the first value.
            _ => self.held.push(Held { name: result, own: false, ..array.clone() }),
        }
    }

    /// Rows that make arrays, update them, go through loops.
    fn rows(&mut self, array: &Held) {
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
            (_, 0) => ("\\r -> transpose r".into(), vec![dims[0], dims[2], dims[1]]),
            (_, 1) => (format!("\\r -> map (\\s -> reduce {op} {neutral} s) r"), vec![dims[0], dims[1]]),
            (_, _) => (format!("\\r -> map (\\s -> scan {op} {neutral} (map ({step}) s)) r"), dims),
        };
        self.made(elem, dims, &format!("map ({function}) {a}"));
    }

    /// Reductions, scans, products, joins.
    fn combined(&mut self, array: &Held) {
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
            (2, 1) if elem == Elem::I64 || elem == Elem::I32 => {
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
    fn computed_places(&mut self, array: &Held) {
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

    fn helped(&mut self, array: &Held) {
        let fits = |helper: &&Helper| helper.elem == array.elem && helper.dims == array.dims;
        let fitting: Vec<Helper> = self.helpers.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return self.whole(array);
        }
        let helper = self.random.pick(&fitting).clone();
        let argument = if helper.unique { self.taken(array) } else { array.name.clone() };
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
    fn composed(&mut self, array: &Held) {
        let (a, elem, dims) = (array.name.clone(), array.elem, array.dims.clone());
        let other = self.like(elem, &dims).map_or(a.clone(), |held| held.name);
        let (step, rank, ty) = (self.step(elem), dims.len(), Self::ty(elem, &dims));
        let word = elem.word();
        let mapped = Self::mapped(&step, rank);
        let exp = match self.random.below(6) {
            5 => format!("let c = if k % 2 == 0 then {a} else {other} in copy c"),
            0 => format!("let p = {{x = {a}, y = {mapped} {other}}} in if k % 2 == 0 then copy p.x else p.y"),
            1 => format!(
                "let s: #left ({ty}) | #right ({ty}) i64 = if q % 2 == 0 then #left {other} else #right ({mapped} {a}) k in match s case #left l -> {mapped} l case #right r i -> if i > 3 then r else copy r"
            ),
            2 => format!("if k > 3 then {mapped} {a} else copy {other}"),
            3 if rank == 1 => format!(
                "let t: {}(#big {word} | #small) = map (\\e -> if e > {} then #big e else #small) {a} in map (\\s -> match s case #big e -> e case #small -> {}) t",
                shape(&dims),
                elem.of_int("3"),
                elem.of_int("k"),
            ),
            _ => format!(
                "let (u, v) = loop (u, v) = (copy {a}, {mapped} {other}) for i < q % 4 do (v, {mapped} u) in if k % 3 == 0 then u else v"
            ),
        };
        self.made(elem, dims, &exp);
    }

    /// Some elements are computed from others of the array, the rest stay as they are.
    fn stencil(&mut self, array: &Held) {
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
                let changed = [
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
                let changed = [
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
