//! Programs of several entry points that copy, update, slice, transpose and rebuild arrays, in loops and under
//! conditions: what plans, places and layouts are decided for. Which numbers decide sizes, places and branches comes with
//! the arguments.
//!
//! Everything is well-typed: sizes that the type checker cannot see equal are coerced, and what an update uses up is not
//! named again. Only operations that every tier gives bit for bit are used.

use galopvm_base::ElemType;
use galopvm_testkit::Random;
use std::collections::BTreeSet;
use std::fmt::Write;

macro_rules! elems {
    ($($variant:ident $word:literal,)*) => {
        /// Element types.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Elem {
            $(#[doc = $word] $variant,)*
        }

        impl Elem {
            /// All of them.
            pub const ALL: &[Elem] = &[$(Elem::$variant,)*];

            /// Its name.
            pub fn word(self) -> &'static str {
                match self {
                    $(Elem::$variant => $word,)*
                }
            }

            /// The type that it is in memory.
            pub fn ty(self) -> ElemType {
                match self {
                    $(Elem::$variant => ElemType::$variant,)*
                }
            }
        }
    };
}

elems! {
    I64 "i64",
    I32 "i32",
    I16 "i16",
    U8 "u8",
    U64 "u64",
    F64 "f64",
    F32 "f32",
    F16 "f16",
}

impl Elem {
    /// Whether it is a type of floats.
    pub fn is_float(self) -> bool {
        matches!(self, Elem::F64 | Elem::F32 | Elem::F16)
    }

    /// An expression of this type from one of type `i64`.
    pub fn of_int(self, exp: &str) -> String {
        match self {
            Elem::I64 => format!("({exp})"),
            Elem::F16 => format!("(f16.i64 (({exp}) % 100))"),
            Elem::F32 | Elem::F64 => format!("({}.i64 (({exp}) % 1000))", self.word()),
            Elem::I32 | Elem::I16 | Elem::U8 | Elem::U64 => format!("({}.i64 ({exp}))", self.word()),
        }
    }

    /// A number, not less than 0, from an expression of this type.
    pub fn as_number(self, exp: &str) -> String {
        match self {
            Elem::I64 => format!("(i64.abs {exp} & 1023)"),
            other => format!("(i64.{} {exp} & 1023)", other.word()),
        }
    }
}

/// One of the things that fit, late ones more often.
pub fn late<'h, T>(random: &mut Random, all: &'h [T], fits: impl Fn(&T) -> bool) -> Option<&'h T> {
    let fitting: Vec<&T> = all.iter().filter(|one| fits(one)).collect();
    if fitting.is_empty() {
        return None;
    }
    let from = if random.one_in(2) { fitting.len() / 2 } else { 0 };
    Some(fitting[from + random.below(fitting.len() - from)])
}

/// What an entry point takes, after the numbers `k`, `q` and the float `x`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param {
    /// Element type.
    pub elem: Elem,
    /// Dimensions, 1 or 2.
    pub rank: usize,
    /// The entry point may use it up.
    pub unique: bool,
}

/// An entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// Its arrays.
    pub params: Vec<Param>,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// Its text.
    pub source: String,
    /// Its entry points, at least two.
    pub entries: Vec<EntryPoint>,
}

/// An array that can be named.
#[derive(Clone)]
struct Held {
    name: String,
    elem: Elem,
    rank: usize,
    /// Nobody else has its memory, as far as types tell: it may be used up.
    own: bool,
    /// The arrays whose memory it may share, itself included.
    roots: BTreeSet<usize>,
}

struct Author<'a> {
    random: &'a mut Random,
    text: String,
    indent: usize,
    held: Vec<Held>,
    /// `i64` names.
    numbers: Vec<String>,
    next: usize,
    /// How deep loops are nested.
    depth: usize,
    /// Helper functions: name, element type, rank. They take an array, a number and give a new array of the same type.
    helpers: Vec<(String, Elem, usize)>,
}

/// The program that these random numbers say.
pub fn program(random: &mut Random) -> Program {
    let mut source = String::new();
    let mut helpers = Vec::new();
    for k in 0..random.below(3) {
        let (elem, rank) = (elem(random), 1 + random.below(2));
        let name = format!("helper{k}");
        let ty = format!("{}{}", "[]".repeat(rank), elem.word());
        let mut author = Author::new(random, helpers.clone());
        author.param("a", Param { elem, rank, unique: false });
        let steps = 1 + author.random.below(3);
        author.steps(steps);
        let result = author.fresh_like(elem, rank);
        let _ = writeln!(
            source,
            "def {name} (a: {ty}) (k: i64): {ty} =\n  let q = k / 2\n{}  in {result}\n",
            author.text
        );
        helpers.push((name, elem, rank));
    }
    let mut entries = Vec::new();
    for k in 0..2 + random.below(3) {
        let name = format!("entry{k}");
        let params: Vec<Param> = (0..1 + random.below(3))
            .map(|_| Param { elem: elem(random), rank: 1 + random.below(2), unique: random.one_in(3) })
            .collect();
        let mut author = Author::new(random, helpers.clone());
        author.numbers.push("p".into());
        let mut list = String::new();
        for (i, param) in params.iter().enumerate() {
            let name = format!("a{i}");
            author.param(&name, *param);
            let star = if param.unique { "*" } else { "" };
            let _ = write!(list, " ({name}: {star}{}{})", "[]".repeat(param.rank), param.elem.word());
        }
        let steps = 3 + author.random.below(8);
        author.steps(steps);
        let (types, values) = author.results();
        let _ = writeln!(
            source,
            "entry {name} (k: i64) (q: i64) (x: f64){list}: {types} =\n  let p = i64.f64 x\n{}  in {values}\n",
            author.text
        );
        entries.push(EntryPoint { name, params });
    }
    Program { source, entries }
}

fn elem(random: &mut Random) -> Elem {
    *random.pick(&[Elem::I64, Elem::I64, Elem::I32, Elem::F32])
}

impl<'a> Author<'a> {
    fn new(random: &'a mut Random, helpers: Vec<(String, Elem, usize)>) -> Author<'a> {
        let numbers = vec!["k".into(), "q".into()];
        Author {
            random,
            text: String::new(),
            indent: 1,
            held: Vec::new(),
            numbers,
            next: 0,
            depth: 0,
            helpers,
        }
    }

    fn param(&mut self, name: &str, param: Param) {
        let roots = BTreeSet::from([self.held.len()]);
        self.next = self.next.max(self.held.len() + 1);
        self.held.push(Held {
            name: name.into(),
            elem: param.elem,
            rank: param.rank,
            own: param.unique,
            roots,
        });
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:width$}{text}", "", width = 2 * self.indent);
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// A new array of its own.
    fn made(&mut self, elem: Elem, rank: usize, exp: &str) -> Held {
        let name = self.name();
        self.line(&format!("let {name} = {exp}"));
        let held = Held { name, elem, rank, own: true, roots: BTreeSet::from([self.next]) };
        self.held.push(held.clone());
        held
    }

    /// Another view of an array.
    fn seen(&mut self, of: &Held, rank: usize, exp: &str) {
        let name = self.name();
        self.line(&format!("let {name} = {exp}"));
        self.held.push(Held { name, rank, own: false, ..of.clone() });
    }

    fn number(&mut self, exp: &str) -> String {
        let name = self.name();
        self.line(&format!("let {name} = {exp}"));
        self.numbers.push(name.clone());
        name
    }

    fn some_number(&mut self) -> String {
        let from = if self.random.one_in(2) { self.numbers.len() / 2 } else { 0 };
        let numbers = &self.numbers[from..];
        numbers[self.random.below(numbers.len())].clone()
    }

    fn some(&mut self, fits: impl Fn(&Held) -> bool) -> Option<Held> {
        late(self.random, &self.held, fits).cloned()
    }

    /// An array that is used up now: one of its own, else a copy.
    fn taken(&mut self, array: &Held) -> String {
        if !array.own || self.random.one_in(4) {
            return format!("(copy {})", array.name);
        }
        self.held.retain(|held| held.roots.is_disjoint(&array.roots));
        array.name.clone()
    }

    /// First place and the one behind the last of a part that is not empty.
    fn part(&mut self, length: &str) -> (String, String) {
        let (first, count) = (self.some_number(), self.some_number());
        let low = self.number(&format!("{first} % {length}"));
        let high = match self.random.below(4) {
            0 => length.to_string(),
            1 => format!("{low} + 1"),
            _ => format!("{low} + 1 + {count} % ({length} - {low})"),
        };
        let high = self.number(&high);
        (low, high)
    }

    /// A function from an element to one of the same type.
    fn step(&mut self, elem: Elem) -> String {
        let number = self.some_number();
        let constant = elem.of_int(&self.random.below(9).to_string());
        match self.random.below(9) {
            0 | 1 => format!("\\e -> e + {}", elem.of_int(&number)),
            2 | 3 => format!("\\e -> e * {constant}"),
            4 | 5 => format!("\\e -> if e > {constant} then e - {constant} else e"),
            6 | 7 => format!("\\e -> {constant} - e"),
            // What comes out is the same array to the compiler, and a new one to types.
            _ => "\\e -> e".into(),
        }
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.statement();
        }
    }

    fn statement(&mut self) {
        let Some(array) = self.some(|_| true) else { return };
        match array.rank {
            1 => self.on_vector(&array),
            _ => self.on_matrix(&array),
        }
    }

    fn length(&mut self, array: &Held) -> String {
        self.number(&format!("length {}", array.name))
    }

    fn on_vector(&mut self, array: &Held) {
        let (a, elem) = (array.name.clone(), array.elem);
        let like = |held: &Held| held.rank == 1 && held.elem == elem;
        let Some(other) = self.some(like) else { return };
        let b = other.name.clone();
        let number = self.some_number();
        match self.random.below(22) {
            20 | 21 => {
                let n = self.length(array);
                let (low, high) = self.part(&n);
                let (step, other) = (self.step(elem), self.step(elem));
                let exp =
                    format!("[{a}[0]] ++ map ({step}) {a}[{low}:{high}] ++ (map ({other}) {b} ++ [{b}[0]])");
                self.made(elem, 1, &exp);
            }
            0 => {
                let step = self.step(elem);
                self.made(elem, 1, &format!("map ({step}) {a}"));
            }
            1 => {
                let exp = format!("tabulate (length {a}) (\\i -> {a}[i] + {b}[(i + {number}) % length {b}])");
                self.made(elem, 1, &exp);
            }
            2 => {
                // Most of it is copied.
                let n = self.length(array);
                let step = self.step(elem);
                let changed = ["i", "n - 1 - i", "(i + 1) % n"][self.random.below(3)].replace('n', &n);
                let test = ["i > l", "i % 3 == 0", "i == l", "i < l && i > 2"][self.random.below(4)];
                let test = test.replace('l', &format!("({number} % {n})"));
                let exp = format!("tabulate {n} (\\i -> if {test} then ({step}) {a}[{changed}] else {a}[i])");
                self.made(elem, 1, &exp);
            }
            3 => {
                let step = self.step(elem);
                let exp = match self.random.below(3) {
                    0 => format!("{a} ++ map ({step}) {b}"),
                    1 => format!("map ({step}) {b} ++ {a} ++ map ({step}) {a}"),
                    _ => format!("concat {a} {b}"),
                };
                self.made(elem, 1, &exp);
            }
            4 => {
                let n = self.length(array);
                let (low, high) = self.part(&n);
                self.seen(array, 1, &format!("{a}[{low}:{high}]"));
            }
            5 => {
                let by = self.random.below(3) + 2;
                let exp = match self.random.below(4) {
                    0 => format!("reverse {a}"),
                    1 => format!("{a}[::-1]"),
                    2 => format!("{a}[::{by}]"),
                    _ => format!("{a}[::1 + {number} % 3]"),
                };
                self.seen(array, 1, &exp);
            }
            6 | 7 => self.update(array, &b),
            8 | 9 => self.rounds(array, &b),
            10 => self.growing(array, &b),
            11 => self.sides(array, &b),
            12 => {
                let exp = format!("filter (> {}) {a} ++ {a}[0:1]", elem.of_int(&number));
                self.made(elem, 1, &exp);
            }
            13 => {
                let (op, neutral) = match elem {
                    Elem::F32 => ("f32.max".to_string(), "f32.lowest".to_string()),
                    _ => ("(+)".to_string(), elem.of_int("0")),
                };
                self.made(elem, 1, &format!("scan {op} {neutral} {a}"));
            }
            14 => {
                let (n, by) = (self.length(&other), 1 + self.random.below(3));
                let target = self.taken(array);
                if !self.held.iter().any(|held| held.name == b) {
                    return self.restore(elem, &target);
                }
                let places = format!("map (\\i -> i * {by} + {number} % 5) (iota {n})");
                let exp = format!("scatter {target} ({places}) ({b} :> [{n}]{})", elem.word());
                self.made(elem, 1, &exp);
            }
            15 | 16 => self.matrix(array),
            17 => self.flat(array),
            18 => self.helped(array),
            _ => {
                if elem == Elem::F32 {
                    let greatest = format!("reduce f32.max f32.lowest {a}");
                    self.made(elem, 1, &format!("replicate (length {b}) ({greatest})"));
                    return;
                }
                let first = if elem == Elem::I64 { format!("{a}[0]") } else { format!("i64.i32 {a}[0]") };
                self.number(&format!("{first} % 7"));
            }
        }
    }

    /// An array that was to be used up stays.
    fn restore(&mut self, elem: Elem, text: &str) {
        self.made(elem, 1, text);
    }

    fn update(&mut self, array: &Held, b: &str) {
        let elem = array.elem;
        let n = self.length(array);
        let (low, high) = self.part(&n);
        let (step, number) = (self.step(elem), self.some_number());
        let value = match self.random.below(4) {
            0 => format!("map ({step}) {}[{low}:{high}]", array.name),
            1 => format!("tabulate ({high} - {low}) (\\i -> {b}[(i + {number}) % length {b}])"),
            2 => format!("map ({step}) (reverse {}[{low}:{high}])", array.name),
            _ => {
                let made = format!("tabulate ({high} - {low}) (\\i -> {b}[i % length {b}])");
                let made = self.made(elem, 1, &made);
                let step = self.step(elem);
                self.made(elem, 1, &format!("map ({step}) {}", made.name)).name
            }
        };
        let value = self.made(elem, 1, &format!("{value} :> [{high} - {low}]{}", elem.word())).name;
        let target = self.taken(array);
        self.made(elem, 1, &format!("{target} with [{low}:{high}] = {value}"));
    }

    /// A loop whose body is what `inner` writes; it carries an array of fixed size and of its own.
    fn rounds(&mut self, array: &Held, b: &str) {
        if self.depth > 1 {
            return;
        }
        let (elem, n) = (array.elem, self.length(array));
        let (bound, word) = (self.some_number(), elem.word());
        let start = self.taken(array);
        let (carried, counter, result) = (self.name(), self.name(), self.name());
        let own = self.next;
        self.line(&format!("let {result} ="));
        self.indent += 1;
        self.line(&format!(
            "loop {carried}: *[{n}]{word} = {start} :> *[{n}]{word} for {counter} < {bound} % 5 do"
        ));
        let outer = (self.held.clone(), self.numbers.clone());
        // What is outside cannot be used up inside.
        self.held.iter_mut().for_each(|held| held.own = false);
        self.indent += 1;
        self.depth += 1;
        self.numbers.push(counter);
        let roots = BTreeSet::from([own]);
        self.held.push(Held { name: carried.clone(), elem, rank: 1, own: true, roots });
        let body = match self.random.below(3) {
            0 => {
                let step = self.step(elem);
                let l = self.some_number();
                format!("tabulate {n} (\\i -> if i > {l} % {n} then ({step}) {carried}[i] else {carried}[i])")
            }
            1 => {
                let steps = 1 + self.random.below(2);
                self.steps(steps);
                let name = self.fresh_like(elem, 1);
                format!("(tabulate {n} (\\i -> ({name})[i % length ({name})]))")
            }
            _ => {
                let (low, high) = self.part(&n);
                let step = self.step(elem);
                let from = match self.held.iter().any(|held| held.name == b) && self.random.one_in(2) {
                    true => format!("tabulate ({high} - {low}) (\\i -> {b}[i % length {b}])"),
                    false => format!("{carried}[{low}:{high}]"),
                };
                format!("{carried} with [{low}:{high}] = (map ({step}) ({from}) :> [{high} - {low}]{word})")
            }
        };
        let keyword = if self.text.lines().last().is_some_and(|line| line.trim_start().starts_with("let")) {
            "in "
        } else {
            ""
        };
        self.line(&format!("{keyword}{body}"));
        self.indent -= 2;
        self.depth -= 1;
        (self.held, self.numbers) = outer;
        self.held.push(Held { name: result, elem, rank: 1, own: true, roots: BTreeSet::from([own]) });
    }

    /// A loop that carries an array of changing size.
    fn growing(&mut self, array: &Held, b: &str) {
        let (elem, number) = (array.elem, self.some_number());
        let (step, carried) = (self.step(elem), self.name());
        let (a, word) = (&array.name, elem.word());
        let exp = match self.random.below(3) {
            0 => format!(
                "loop {carried}: []{word} = {a} for _i < {number} % 4 do {carried} ++ map ({step}) {b}"
            ),
            1 => format!(
                "loop {carried}: []{word} = {a} while length {carried} > 3 do map ({step}) {carried}[1:]"
            ),
            _ => format!(
                "loop {carried}: []{word} = {a} for i < {number} % 4 do {carried}[0:1 + i % length {carried}] ++ {b}"
            ),
        };
        let made = self.made(elem, 1, &exp).name;
        if let Some(held) = self.held.iter_mut().find(|held| held.name == made) {
            // It may be the first value itself.
            held.own = false;
            held.roots.extend(&array.roots);
        }
    }

    fn sides(&mut self, array: &Held, b: &str) {
        let (a, elem) = (&array.name, array.elem);
        let (number, step) = (self.some_number(), self.step(elem));
        let exp = match self.random.below(3) {
            0 => format!("if {number} % 2 == 0 then map ({step}) {b} else {a} ++ {b}"),
            1 => format!("if {number} % 3 == 0 then copy {a}[0:1] else map ({step}) {a}"),
            _ => format!(
                "if length {a} > {number} % 20 then {a} ++ {a} else scan (\\_ e -> e) {} {b}",
                elem.of_int("0")
            ),
        };
        self.made(elem, 1, &exp);
    }

    /// A matrix from an array, or the array under two indices.
    fn matrix(&mut self, array: &Held) {
        let (a, elem) = (array.name.clone(), array.elem);
        let number = self.some_number();
        let n = self.length(array);
        let rows = self.number(&format!("1 + {number} % 6"));
        let step = self.step(elem);
        let exp = match self.random.below(4) {
            0 => format!("tabulate_2d {rows} {n} (\\i j -> {a}[j] + {})", elem.of_int("i * 10")),
            1 => format!("map (\\r -> map (\\e -> e + {}) {a}) (iota {rows})", elem.of_int("r")),
            2 => format!(
                "tabulate {rows} (\\r -> let row = map ({step}) {a} in row with [r % {n}] = {})",
                elem.of_int("r")
            ),
            _ => format!(
                "tabulate {rows} (\\r -> tabulate {n} (\\j -> {a}[(j + r) % {n}]) ++ map ({step}) {a} :> [{n} + {n}]{})",
                elem.word()
            ),
        };
        self.made(elem, 2, &exp);
    }

    /// A block of an array under an LMAD slice.
    fn flat(&mut self, array: &Held) {
        let (elem, word, n) = (array.elem, array.elem.word(), self.length(array));
        let (number, step) = (self.some_number(), self.step(elem));
        let rows = self.number(&format!("if {n} > 1 then 1 + {number} % 2 else 1"));
        let columns = self.number(&format!("{n} / {rows}"));
        // Rows side by side, or between each other.
        let (over, along) =
            if self.random.one_in(2) { (columns.clone(), "1".into()) } else { ("1".into(), rows.clone()) };
        let seen = format!("intrinsics.flat_index_2d {} 0 {rows} {over} {columns} {along}", array.name);
        let value = format!("map (map ({step})) ({seen} :> [{rows}][{columns}]{word})");
        let value = self.made(elem, 2, &value).name;
        let target = self.taken(array);
        self.made(elem, 1, &format!("intrinsics.flat_update_2d {target} 0 {over} {along} {value}"));
    }

    fn helped(&mut self, array: &Held) {
        let fits: Vec<String> = self
            .helpers
            .iter()
            .filter(|(_, elem, rank)| *elem == array.elem && *rank == array.rank)
            .map(|(name, ..)| name.clone())
            .collect();
        if let Some(helper) = fits.first() {
            let number = self.some_number();
            self.made(array.elem, array.rank, &format!("{helper} {} ({number} % 50)", array.name));
        }
    }

    fn on_matrix(&mut self, array: &Held) {
        let (m, elem, word) = (array.name.clone(), array.elem, array.elem.word());
        let rows = self.length(array);
        let columns = self.number(&format!("length {m}[0]"));
        let (number, step) = (self.some_number(), self.step(elem));
        match self.random.below(18) {
            15..=17 => {
                // Pieces around a middle, along rows, columns, or first one and then the other.
                let row = |at: &str| format!("[map ({step}) {m}[{at}] :> [{columns}]{word}]");
                let column = |at: &str| format!("[tabulate {rows} (\\i -> {m}[i, {at}]) :> [{rows}]{word}]");
                let middle = format!("(map (map ({step})) {m} :> [{rows}][{columns}]{word})");
                let around_rows = format!("{} ++ {middle} ++ {}", row("0"), row(&format!("{rows} - 1")));
                let turned = format!(
                    "{} ++ transpose {middle} ++ {}",
                    column("0"),
                    column(&format!("{number} % {columns}"))
                );
                let exp = match self.random.below(3) {
                    0 => around_rows,
                    1 => format!("transpose ({turned})"),
                    _ => {
                        let long = format!("[2 + {columns}]{word}");
                        let edge = format!(
                            "[tabulate (2 + {columns}) (\\i -> {m}[i % {rows}, i % {columns}]) :> {long}]"
                        );
                        let turned = format!("(({turned}) :> [2 + {columns}][{rows}]{word})");
                        format!("{edge} ++ transpose {turned} ++ {edge}")
                    }
                };
                self.made(elem, 2, &exp);
            }
            0 => self.seen(array, 2, &format!("transpose {m}")),
            1 => self.seen(array, 1, &format!("{m}[{number} % {rows}]")),
            2 => self.seen(array, 1, &format!("{m}[:, {number} % {columns}]")),
            3 => self.seen(array, 1, &format!("flatten {m}")),
            4 => {
                let (low, high) = self.part(&rows);
                let (left, right) = self.part(&columns);
                self.seen(array, 2, &format!("{m}[{low}:{high}, {left}:{right}]"));
            }
            5 => {
                self.made(elem, 2, &format!("map (map ({step})) {m}"));
            }
            6 => {
                self.made(
                    elem,
                    2,
                    &format!(
                        "map (\\row -> scan (\\a b -> if a > b then a else b) {} row) {m}",
                        elem.of_int("0 - 9")
                    ),
                );
            }
            7 => {
                self.made(elem, 1, &format!("map (\\row -> row[{number} % length row]) {m}"));
            }
            8 | 9 => {
                let (low, high) = self.part(&rows);
                let (left, right) = self.part(&columns);
                let value = match self.random.below(2) {
                    0 => format!("map (map ({step})) {m}[{low}:{high}, {left}:{right}]"),
                    _ => format!(
                        "tabulate_2d ({high} - {low}) ({right} - {left}) (\\i j -> {m}[j % {rows}, i % {columns}])"
                    ),
                };
                let value =
                    self.made(elem, 2, &format!("{value} :> [{high} - {low}][{right} - {left}]{word}")).name;
                let target = self.taken(array);
                self.made(elem, 2, &format!("{target} with [{low}:{high}, {left}:{right}] = {value}"));
            }
            10 => {
                let row = self
                    .made(elem, 1, &format!("map ({step}) {m}[{number} % {rows}] :> [{columns}]{word}"))
                    .name;
                let target = self.taken(array);
                let exp = format!("{target} :> *[{rows}][{columns}]{word}");
                let target = self.made(elem, 2, &exp);
                self.held.retain(|held| held.name != target.name);
                self.made(elem, 2, &format!("{} with [{number} % {rows}] = {row}", target.name));
            }
            11 | 12 => {
                // As in a decomposition: each step rebuilds all of it and changes a part.
                let (carried, step_number) = (self.name(), self.some_number());
                let start = self.taken(array);
                let exp = format!(
                    "loop {carried}: *[{rows}][{columns}]{word} = {start} :> *[{rows}][{columns}]{word} for s < {step_number} % 4 do \
                     tabulate_2d {rows} {columns} (\\i j -> if i > s && j > s then {carried}[i, j] - {carried}[i, s % {columns}] * {carried}[s % {rows}, j] else {carried}[i, j])"
                );
                self.made(elem, 2, &exp);
            }
            13 => {
                let exp = match self.random.below(2) {
                    0 => format!("{m} ++ map (map ({step})) {m}"),
                    _ => {
                        format!("map (\\row -> map ({step}) row ++ row :> [{columns} + {columns}]{word}) {m}")
                    }
                };
                self.made(elem, 2, &exp);
            }
            _ => self.helped(array),
        }
    }

    /// A new array of a type, as an expression.
    fn fresh_like(&mut self, elem: Elem, rank: usize) -> String {
        match self.some(|held| held.elem == elem && held.rank == rank) {
            Some(held) => format!("copy {}", held.name),
            None => match rank {
                1 => format!("replicate 3 {}", elem.of_int("k")),
                _ => format!("replicate 2 (replicate 3 {})", elem.of_int("k")),
            },
        }
    }

    /// Types and values of an entry point's results.
    fn results(&mut self) -> (String, String) {
        let count = 1 + self.random.below(3);
        let first = self.held.len().saturating_sub(count);
        let mut chosen: Vec<Held> = self.held[first..].to_vec();
        if self.random.one_in(2) {
            chosen.extend(self.some(|_| true));
        }
        let types: Vec<String> =
            chosen.iter().map(|held| format!("{}{}", "[]".repeat(held.rank), held.elem.word())).collect();
        let values: Vec<String> = chosen.iter().map(|held| held.name.clone()).collect();
        match chosen.len() {
            1 => (types[0].clone(), values[0].clone()),
            _ => (format!("({})", types.join(", ")), format!("({})", values.join(", "))),
        }
    }
}
