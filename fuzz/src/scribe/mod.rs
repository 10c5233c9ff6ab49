//! Programs that reach far: arrays of one to three dimensions with sizes by name, in views, updates, loops inside rows,
//! histograms, scatters, records, sums, and functions that give copies, views, parts and several arrays.
//!
//! Every array has extents of two sizes, `n` and `m`, so that nearly everything fits nearly everything else. In some programs both
//! are one less than those of what is given, so that often there are no rows, or nothing in them. Elements differ from
//! each other as far as their types allow. Only operations that every tier gives bit for bit are used, so floats are
//! added and multiplied element by element and combined by their greatest alone.
//!
//! `chains.rs`, `changes.rs`, `elements.rs`, `folds.rs`, `products.rs`, `turns.rs`: the statements.

mod chains;
mod changes;
mod elements;
mod folds;
mod products;
mod turns;

use crate::author::{Elem, EntryPoint, Param, Program, late};
use galopvm_testkit::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The extents of arrays, by name.
const SIZES: [&str; 2] = ["n", "m"];

/// Element types; most arrays are of the first two, so that they meet.
const ELEMS: [Elem; 14] = [
    Elem::I64,
    Elem::I64,
    Elem::I64,
    Elem::I64,
    Elem::I64,
    Elem::F32,
    Elem::F32,
    Elem::F32,
    Elem::F64,
    Elem::I32,
    Elem::F16,
    Elem::U8,
    Elem::I16,
    Elem::U64,
];

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
    /// Sizes may be 0.
    is_thin: bool,
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
    let is_thin = random.one_in(5);
    let mut helpers: Vec<Helper> = Vec::new();
    for k in 0..random.below(4) {
        let mut scribe = Scribe::new(random, helpers.clone(), is_thin);
        let helper = scribe.helper(k);
        source.push_str(&scribe.text);
        helpers.push(helper);
    }
    let mut entries = Vec::new();
    for k in 0..2 + random.below(2) {
        let mut scribe = Scribe::new(random, helpers.clone(), is_thin);
        let entry = scribe.entry(k);
        source.push_str(&scribe.text);
        entries.push(entry);
    }
    let used = Elem::ALL.iter().copied();
    let used = used.filter(|elem| source.contains(&format!("put_{}", elem.word())));
    let first: String = used.map(accumulated).collect();
    Program { source: first + &source, entries }
}

fn shape(dims: &[usize]) -> String {
    dims.iter().map(|dim| format!("[{}]", SIZES[*dim])).collect()
}

impl<'a> Scribe<'a> {
    fn new(random: &'a mut Random, helpers: Vec<Helper>, is_thin: bool) -> Scribe<'a> {
        Scribe {
            random,
            text: String::new(),
            indent: 1,
            held: Vec::new(),
            next: 0,
            depth: 0,
            helpers,
            is_thin,
        }
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
                // The array that it gives already, once more.
                _ if !unique && !values.is_empty() && self.random.one_in(3) => {
                    let (first, (dims, _)) = (&values[0], &results[0]);
                    (String::clone(first), Vec::clone(dims), false)
                }
                Some(held) if self.random.one_in(2) => (format!("copy {}", held.name), held.dims, true),
                // A view of what it was given, or that itself.
                Some(held) if !unique && held.dims.len() == 2 && self.random.one_in(2) => {
                    let turned = held.dims.iter().rev().copied().collect();
                    (format!("transpose {}", held.name), turned, false)
                }
                Some(held) if !unique => (held.name, held.dims, false),
                _ => (self.tabulated(elem, &dims), dims.clone(), true),
            };
            // Each has a name, so that two results may be one array.
            let name = self.name();
            self.line(&format!("let {name} = {exp}"));
            types.push(Self::ty(elem, &dims));
            values.push(name);
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
        let (less, part) = if self.is_thin { (" - 1", "[:n, :m]") } else { ("", "") };
        self.line(&format!("let n = length p0{less}"));
        self.line(&format!("let m = length p0[0]{less}"));
        let star = if params[0].unique { "*" } else { "" };
        self.line(&format!("let a0 = p0{part} :> {star}[n][m]{}", elem.word()));
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

    /// An array is shown as it is now, under its own name or another one.
    fn traced(&mut self, array: &Held) {
        let name = &array.name;
        if self.random.one_in(2) {
            return self.line(&format!("let _ = #[trace({name})] {name}"));
        }
        self.seen(array, array.dims.clone(), &format!("#[trace({name})] {name}"));
    }

    fn some(&mut self, fits: impl Fn(&Held) -> bool) -> Option<Held> {
        late(self.random, &self.held, fits).cloned()
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
        let size =
            if self.is_thin { format!("(i64.max 1 {})", SIZES[size]) } else { SIZES[size].to_string() };
        match self.random.below(6) {
            0 => "0".into(),
            1 => format!("({size} - 1)"),
            2 => format!("(k % {size})"),
            3 => format!("(q % {size})"),
            4 => format!("(i64.f64 x % {size})"),
            _ => format!("((k + q) % {size})"),
        }
    }

    /// A number, not less than 0, that only an element of an array tells.
    fn told_by(&mut self, array: &Held) -> String {
        let places: Vec<String> = array.dims.iter().map(|dim| self.below(*dim)).collect();
        let number = array.elem.as_number(&format!("{}[{}]", array.name, places.join(", ")));
        match self.is_thin {
            true => {
                let some: Vec<String> = array.dims.iter().map(|dim| format!("{} > 0", SIZES[*dim])).collect();
                format!("(if {} then {number} else k % 3)", some.join(" && "))
            }
            false => number,
        }
    }

    /// What holds or not: the arguments tell, or an element of an array does.
    fn holds(&mut self, array: &Held) -> String {
        match self.random.below(6) {
            0 => "k % 2 == 0".into(),
            1 => "q % 2 == 0".into(),
            2 => "k > 3".into(),
            _ => format!("{} % 2 == 0", self.told_by(array)),
        }
    }

    /// First and last place of a part that may be empty, with a name each.
    fn part(&mut self, size: usize) -> (String, String) {
        let (low, high) = (self.name(), self.name());
        // Now and then all of it.
        let is_all = self.random.one_in(5);
        let (first, word) = (if is_all { "0".into() } else { self.below(size) }, SIZES[size]);
        self.line(&format!("let {low} = {first}"));
        let end = match self.random.below(5) {
            _ if is_all => word.to_string(),
            0 => word.to_string(),
            _ if self.is_thin => format!("i64.min {word} ({low} + q % 3)"),
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
            3 if !elem.is_float() && self.random.one_in(3) => {
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
            elem if elem.is_float() => (format!("{}.max", elem.word()), format!("{}.lowest", elem.word())),
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
        match self.random.below(25) {
            0 => self.whole(&array),
            24 => self.before_and_after(&array),
            17..=19 => self.chain(&array),
            15 | 16 => self.turns(&array),
            20 | 21 => self.products(&array),
            22 | 23 => self.folded(&array),
            1 => self.view(&array),
            2 | 3 => self.update(&array),
            4 | 5 => self.rounds(&array),
            6 => self.rows(&array),
            7 => self.combined(&array),
            8 => self.computed_places(&array),
            9 | 10 => self.helped(&array),
            11 => self.composed(&array),
            12 => self.traced(&array),
            _ => self.stencil(&array),
        }
    }
}
