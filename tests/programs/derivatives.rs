//! Derivatives of generated programs: forward mode is what differences of values say, reverse mode is its transposed, and second
//! derivatives do not depend on how modes are mixed.

use crate::support::{candidates, interpreter};
use galopvm::{Engine, Program, Session};
use galopvm_base::ScalarOp;
use galopvm_testkit::{Random, rounds};
use std::fmt::Write;

/// The extents of what is derived by: a number, a vector of `N` and a matrix of `N` rows of `K`.
const N: usize = 5;
const K: usize = 3;
/// How many numbers these are.
const ALL: usize = 1 + N + N * K;

/// A program in the making: the names so far, by rank.
struct Author<'r> {
    random: &'r mut Random,
    text: String,
    names: [Vec<String>; 3],
    next: usize,
}

impl Author<'_> {
    fn name(&mut self, rank: usize) -> String {
        let names = &self.names[rank];
        names[self.random.below(names.len())].clone()
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("t{}", self.next)
    }

    /// A number made of some of these, and of numbers around.
    fn scalar(&mut self, here: &[&str], depth: usize) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => format!("{:.2}", self.random.real(-1.5, 1.5)).replace('-', "0-"),
                1 => self.name(0),
                2 if !here.is_empty() => self.random.pick(here).to_string(),
                2 => format!("{}[{}]", self.name(1), self.random.below(N)),
                _ if !here.is_empty() => self.random.pick(here).to_string(),
                _ => format!("{}[{}, {}]", self.name(2), self.random.below(N), self.random.below(K)),
            };
        }
        let a = self.scalar(here, depth - 1);
        let b = self.scalar(here, depth - 1);
        match self.random.below(18) {
            0 | 1 => format!("(({a}) + ({b}))"),
            2 => format!("(({a}) - ({b}))"),
            3 | 4 => format!("(({a}) * ({b}))"),
            5 => format!("(({a}) / (1.5 + f64.sin ({b})))"),
            6 => format!("f64.sin ({a})"),
            7 => format!("f64.exp (f64.tanh ({a}))"),
            8 => format!("f64.log (1.5 + ({a}) * ({a}))"),
            9 => format!("f64.sqrt (1 + ({a}) * ({a}))"),
            10 => format!("f64.atan2 ({a}) (2 + f64.cos ({b}))"),
            11 => format!("(f64.max ({a}) ({b}))"),
            12 => format!("(f64.min ({a}) ({b}))"),
            13 => format!("(if ({a}) < ({b}) then ({a}) * 2 else f64.cos ({b}))"),
            14 => format!("((1.5 + f64.tanh ({a})) ** (f64.sin ({b})))"),
            15 => format!("f64.abs ({a})"),
            16 => format!("f64.hypot ({a}) (1 + ({b}) * ({b}))"),
            _ => format!("(f64.tanh ({a}) + f64.i64 (i64.f64 (f64.floor 2.5)))"),
        }
    }

    fn index(&mut self, of: &str, extent: usize) -> String {
        format!("(({of}) * {} + {}) % {extent}", self.random.below(7), self.random.below(5))
    }

    fn vector(&mut self) -> String {
        let (x, y, m) = (self.name(1), self.name(1), self.name(2));
        let (k, s) = (self.random.below(K), self.scalar(&[], 1));
        let at = self.index("i", N);
        match self.random.below(30) {
            0 => format!("map (\\v -> {}) {x}", self.scalar(&["v"], 2)),
            1 => format!("map2 (\\v w -> {}) {x} {y}", self.scalar(&["v", "w"], 2)),
            2 => format!("scan (+) 0 {x}"),
            3 => format!("scan (*) 1 (map f64.cos {x})"),
            4 => format!("scan f64.max f64.lowest {x}"),
            5 => format!("scan (\\a b -> a + b + a * b) 0 (map f64.sin {x})"),
            6 => format!("map (\\i -> {x}[{at}] * {y}[i]) (iota {N})"),
            7 => format!("reverse {x}"),
            8 => format!("rotate ({}) {x}", self.random.between(-7, 7)),
            9 => format!("map (\\r -> f64.sum (map f64.sin r)) {m}"),
            10 => format!("map (\\r -> f64.product (map f64.cos r)) {m}"),
            11 => format!("map (\\r -> reduce f64.max f64.lowest r) {m}"),
            12 => format!("{m}[:, {k}]"),
            13 => format!("copy {x} with [{}] = {s}", self.random.below(N)),
            14 => format!("copy {x} with [1:3] = {y}[2:4]"),
            15 => format!("loop a = copy {x} for i < {N} do a with [i] = f64.sin (a[{at}] * {y}[i])"),
            16 => format!("loop a = {x} for i < 3 do map2 (\\v w -> f64.sin (v * w) + f64.i64 i) a {y}"),
            17 => {
                format!("(loop (a, j) = ({x}, 0) while j < 3 do (map (\\v -> f64.sin (v + {s})) a, j + 1)).0")
            }
            18 => format!("scatter (copy {x}) (map (\\i -> {at}) (iota {N})) {y}"),
            19 => format!("reduce_by_index (copy {x}) (+) 0 (map (\\i -> {at}) (iota {N})) {y}"),
            20 => format!("reduce_by_index (copy {x}) f64.max f64.lowest (map (\\i -> {at}) (iota {N})) {y}"),
            21 => format!("reduce_by_index (copy {x}) (*) 1 (map (\\i -> {at}) (iota {N})) {y}"),
            22 => {
                format!("if {s} < {} then {x} else map (* {}) {y}", self.scalar(&[], 1), self.scalar(&[], 1))
            }
            23 => format!("scan (\\(a, b) (c, d) -> (c * a, d + c * b)) (1, 0) (zip {x} {y}) |> map (.1)"),
            24 => format!(
                "map (\\i -> f64.sum (map (\\j -> {x}[(i + j) % {N}] * {m}[j, {k}]) (iota {N}))) (iota {N})"
            ),
            25 => {
                format!("map (\\i -> loop a = {x}[i] for j < {K} do f64.sin (a * {m}[{at}, j])) (iota {N})")
            }
            26 => format!("map (\\v -> if v < {s} then {x}[1] * v else {y}[2]) {x}"),
            27 => format!("(concat {x}[1:] [{s}]) :> [{N}]f64"),
            28 => format!(
                "map (\\r -> let h = loop h = copy r for j < {K} - 1 do h with [j + 1] = f64.sin (h[j] + r[j] * {s}) in h[{k}]) {m}"
            ),
            _ => format!("hist (+) 0 {N} (map (\\i -> {at}) (iota {N})) {y}"),
        }
    }

    fn matrix(&mut self) -> String {
        let (x, m, o) = (self.name(1), self.name(2), self.name(2));
        let s = self.scalar(&["v"], 2);
        let at = self.index("i", N);
        match self.random.below(12) {
            0 => format!("map (map (\\v -> {s})) {m}"),
            1 => format!("map2 (map2 (\\v w -> {})) {m} {o}", self.scalar(&["v", "w"], 2)),
            2 => format!("map2 (\\r w -> map (* w) r) {m} {x}"),
            3 => format!("transpose (map (\\c -> scan (+) 0 (map f64.sin c)) (transpose {m}))"),
            4 => format!("scan (map2 (+)) (replicate {K} 0) {m}"),
            5 => format!("copy {m} with [{}] = {o}[1]", self.random.below(N)),
            6 => format!(
                "loop a = copy {m} for i < {N} do a with [i, {}] = f64.sin {x}[i] * a[{at}, 0]",
                self.random.below(K)
            ),
            7 => format!("map (\\r -> map (\\i -> r[(i * 2) % {K}] * {x}[i]) (iota {K})) {m}"),
            8 => format!("unflatten (reverse (flatten {m}) :> [{N} * {K}]f64)"),
            9 => format!("map (\\w -> map (\\j -> w * {m}[{}, j]) (iota {K})) {x}", self.random.below(N)),
            10 => format!("scatter (copy {m}) (map (\\i -> {at}) (iota {N})) {o}"),
            _ => format!("replicate {N} {m}[{}]", self.random.below(N)),
        }
    }

    fn number(&mut self) -> String {
        let (x, y, m) = (self.name(1), self.name(1), self.name(2));
        match self.random.below(13) {
            0 | 1 => self.scalar(&[], 3),
            2 => format!("f64.sum {x}"),
            3 => format!("f64.product (map f64.cos {x})"),
            4 => format!("f64.maximum {x} * f64.minimum {y}"),
            5 => format!("reduce (\\a b -> a + b + a * b) 0 (map f64.sin {x})"),
            6 => format!(
                "let (a, b) = reduce (\\(a, b) (c, d) -> (a * c, a * d + b)) (1, 0) (zip (map f64.cos {x}) {y}) in a + b"
            ),
            7 => format!("f64.sum (map2 (*) {x} {y})"),
            8 => format!("f64.sum (filter (> {}) {x})", self.scalar(&[], 1)),
            9 => format!("f64.sum (reduce (map2 (*)) (replicate {K} 1) (map (map f64.cos) {m}))"),
            10 => format!("loop a = {} for v in {x} do f64.sin (a * v + {y}[1])", self.scalar(&[], 1)),
            11 => {
                format!("let (a, b) = partition (> {}) {x} in f64.sum a - f64.product b", self.scalar(&[], 1))
            }
            _ => format!("f64.sum (map (\\r -> f64.maximum r * r[1]) {m})"),
        }
    }

    /// One more name. What it stands for is kept small.
    fn statement(&mut self) {
        let rank = self.random.below(3);
        let value = match rank {
            0 => format!("f64.sin ({})", self.number()),
            1 => format!("map f64.sin ({})", self.vector()),
            _ => format!("map (map f64.sin) ({})", self.matrix()),
        };
        let name = self.fresh();
        let _ = writeln!(self.text, "  let {name} = {value}");
        self.names[rank].push(name);
    }
}

/// A program whose `f` goes from a number, a vector and a matrix to a number and a vector.
fn program(random: &mut Random) -> String {
    let names = [vec!["x".to_string()], vec!["xs".to_string()], vec!["m".to_string()]];
    let mut author = Author { random, text: String::new(), names, next: 0 };
    let count = 2 + author.random.below(5);
    (0..count).for_each(|_| author.statement());
    let last = author.names.each_ref().map(|names| names.last().cloned().unwrap_or_default());
    let (body, [x, xs, m]) = (author.text, last);
    format!(
        "type all = (f64, [{N}]f64, [{N}][{K}]f64)
def f ((x, xs, m): all) : (f64, [{N}]f64) =
{body}  in ({x} + f64.sum (map f64.sum {m}), {xs})
def unpack (p: [{ALL}]f64) : all = (p[0], p[1:{one}] :> [{N}]f64, unflatten (p[{one}:] :> [{N} * {K}]f64))
def pack ((x, xs, m): all) : [{ALL}]f64 = (concat [x] (concat xs (flatten m))) :> [{ALL}]f64
def out (y: f64, ys: [{N}]f64) = (concat [y] ys) :> [1 + {N}]f64
def cut (a: [1 + {N}]f64) : (f64, [{N}]f64) = (a[0], a[1:] :> [{N}]f64)
def gradient (a: [1 + {N}]f64) (p: all) : all = vjp f p (cut a)
entry value (p: [{ALL}]f64) = out (f (unpack p))
entry forward (p: [{ALL}]f64) (d: [{ALL}]f64) = out (jvp f (unpack p) (unpack d))
entry both (p: [{ALL}]f64) (d: [{ALL}]f64) = let (y, _) = jvp2 f (unpack p) (unpack d) in out y
entry reverse (p: [{ALL}]f64) (a: [1 + {N}]f64) = pack (gradient a (unpack p))
entry forward_reverse (p: [{ALL}]f64) (a: [1 + {N}]f64) (d: [{ALL}]f64) = pack (jvp (gradient a) (unpack p) (unpack d))
entry reverse_reverse (p: [{ALL}]f64) (a: [1 + {N}]f64) (d: [{ALL}]f64) = pack (vjp (gradient a) (unpack p) (unpack d))
entry forwards (p: [{ALL}]f64) (ds: [2][{ALL}]f64) = map out (jmp f (unpack p) (map unpack ds))
entry reverses (p: [{ALL}]f64) (as: [2][1 + {N}]f64) = map pack (mjp f (unpack p) (map cut as))
",
        one = N + 1
    )
}

fn numbers(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.real(-1.2, 1.2)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn size(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |most, v| most.max(v.abs()))
}

struct Case {
    session: Session,
    text: String,
}

impl Case {
    fn call(&mut self, entry: &str, arguments: &[&[f64]]) -> Vec<f64> {
        let result = match arguments {
            [a] => self.session.call(entry, (*a,)),
            [a, b] => self.session.call(entry, (*a, *b)),
            [a, b, c] => self.session.call(entry, (*a, *b, *c)),
            _ => unreachable!("entry points take one to three vectors"),
        };
        result.unwrap_or_else(|error| panic!("{entry}: {error}\n{}", self.text))
    }

    fn same(&self, what: &str, a: &[f64], b: &[f64], tolerance: f64) {
        let scale = 1.0 + size(a).max(size(b));
        let fits = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * scale);
        assert!(fits && a.len() == b.len(), "{what}:\n{a:?}\n{b:?}\n{}", self.text);
    }
}

/// What a direction moves the values by, as two differences say; nothing where they disagree, as at a kink.
fn difference(case: &mut Case, p: &[f64], d: &[f64]) -> Option<Vec<f64>> {
    let mut slope = |h: f64| {
        let moved = |h: f64| p.iter().zip(d).map(|(p, d)| p + h * d).collect::<Vec<f64>>();
        let (up, down) = (case.call("value", &[&moved(h)]), case.call("value", &[&moved(-h)]));
        up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * h)).collect::<Vec<f64>>()
    };
    let (wide, near) = (slope(1e-4), slope(1e-5));
    let scale = 1.0 + size(&near);
    wide.iter().zip(&near).all(|(a, b)| (a - b).abs() <= 1e-5 * scale).then_some(near)
}

/// Checks a program; true if differences said something.
fn check(engine: &Engine, random: &mut Random) -> bool {
    let text = program(random);
    let program = match Program::from_source("derived.fut", &text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    };
    let mut case = Case { session: engine.session(&program), text };
    let (p, d, e) = (numbers(random, ALL), numbers(random, ALL), numbers(random, ALL));
    let (a, b) = (numbers(random, 1 + N), numbers(random, 1 + N));
    let value = case.call("value", &[&p]);
    let forward = case.call("forward", &[&p, &d]);
    let reverse = case.call("reverse", &[&p, &a]);
    let beside = case.call("both", &[&p, &d]);
    case.same("values beside tangents", &value, &beside, 0.0);
    case.same("transposed", &[dot(&forward, &a)], &[dot(&d, &reverse)], 1e-10);
    let says = difference(&mut case, &p, &d);
    says.iter().for_each(|slope| case.same("differences", slope, &forward, 1e-4));
    let here = case.call("forward_reverse", &[&p, &a, &d]);
    let there = case.call("forward_reverse", &[&p, &a, &e]);
    case.same("symmetric", &[dot(&here, &e)], &[dot(&there, &d)], 1e-9);
    let twice = case.call("reverse_reverse", &[&p, &a, &d]);
    case.same("twice reversed", &here, &twice, 1e-9);
    many(&mut case, (&p, &d, &a, &b), (&forward, &reverse));
    says.is_some()
}

/// Several directions at once.
fn many(
    case: &mut Case,
    (p, d, a, b): (&[f64], &[f64], &[f64], &[f64]),
    (forward, reverse): (&[f64], &[f64]),
) {
    let pair = |case: &Case, x: &[f64], y: &[f64]| {
        case.session.array(&[x, y].concat(), &[2, x.len() as i64]).expect("an array of two rows")
    };
    let (directions, adjoints) = (pair(case, p, d), pair(case, a, b));
    let rows: galopvm::Array =
        case.session.call("forwards", (p, directions)).unwrap_or_else(|e| panic!("{e}\n{}", case.text));
    let rows = rows.into_vec::<f64>().expect("numbers");
    case.same("the second of two directions", &rows[1 + N..], forward, 1e-12);
    let rows: galopvm::Array =
        case.session.call("reverses", (p, adjoints)).unwrap_or_else(|e| panic!("{e}\n{}", case.text));
    let rows = rows.into_vec::<f64>().expect("numbers");
    case.same("the first of two adjoints", &rows[..ALL], reverse, 1e-10);
}

#[test]
fn derivatives_of_generated_programs_agree_with_differences_and_with_each_other() {
    let engine = interpreter();
    let count = rounds(150);
    let mut told = 0;
    for seed in 0..count {
        let mut random = Random::new(0xde51 + seed);
        told += u64::from(check(&engine, &mut random));
    }
    assert!(told * 2 > count, "differences said something of {told} of {count} programs");
}

/// An expression in `x` and `y` that is one scalar operation, and where they lie; nothing for operations that no number moves by.
fn expression(op: ScalarOp) -> Option<(&'static str, [f64; 2])> {
    use ScalarOp::*;
    let around = [-2.0, 2.0];
    let (positive, small, above) = ([0.1, 3.0], [-0.9, 0.9], [1.1, 4.0]);
    Some(match op {
        Add => ("x + y", around),
        Sub => ("x - y", around),
        Mul => ("x * y", around),
        Div => ("x / (y + 4)", around),
        Mod => ("x % (y + 4)", around),
        Pow => ("(x + 3) ** y", around),
        Min => ("f64.min x y", around),
        Max => ("f64.max x y", around),
        Neg => ("f64.neg x * y", around),
        Abs => ("f64.abs x * y", around),
        Sqrt => ("f64.sqrt x * y", positive),
        CopySign => ("f64.copysign x y", around),
        Fma => ("f64.fma x y (x * 2)", around),
        Select => ("if x < y then x else y * 2", around),
        Rsqrt => ("f64.rsqrt x * y", positive),
        Cbrt => ("f64.cbrt x * y", positive),
        Exp => ("f64.exp x * y", around),
        Log => ("f64.log x * y", positive),
        Log2 => ("f64.log2 x * y", positive),
        Log10 => ("f64.log10 x * y", positive),
        Log1p => ("f64.log1p x * y", small),
        Sin => ("f64.sin x * y", around),
        Cos => ("f64.cos x * y", around),
        Tan => ("f64.tan x * y", small),
        Asin => ("f64.asin x * y", small),
        Acos => ("f64.acos x * y", small),
        Atan => ("f64.atan x * y", around),
        Sinh => ("f64.sinh x * y", around),
        Cosh => ("f64.cosh x * y", around),
        Tanh => ("f64.tanh x * y", around),
        Asinh => ("f64.asinh x * y", around),
        Acosh => ("f64.acosh x * y", above),
        Atanh => ("f64.atanh x * y", small),
        Erf => ("f64.erf x * y", around),
        Erfc => ("f64.erfc x * y", around),
        Atan2 => ("f64.atan2 x y", around),
        Hypot => ("f64.hypot x y", around),
        Gamma => ("f64.gamma x * y", above),
        Lgamma => ("f64.lgamma x * y", positive),
        Scale => ("f64.ldexp x 3 * y", around),
        NextAfter => ("f64.nextafter x y * y", around),
        // They are constant but for jumps, or are no functions on floats to floats.
        Sgn | Floor | Ceil | Trunc | Round | IsNan | IsInf | Eq | Ne | Lt | Le | Gt | Ge => {
            return None;
        }
        Quot | Rem | And | Or | Xor | Shl | Shr | Ushr | Not | Popc | Clz | Ctz | MulHi | ToBits
        | FromBits => {
            return None;
        }
    })
}

#[test]
fn every_scalar_operation_has_the_derivative_that_differences_say() {
    let engine = interpreter();
    let mut random = Random::new(0x5ca1);
    for op in ScalarOp::ALL {
        let Some((body, [low, high])) = expression(*op) else { continue };
        let text = format!(
            "def f (x: f64, y: f64) = {body}
             entry value (x: f64) (y: f64) = f (x, y)
             entry forward (x: f64) (y: f64) = [jvp f (x, y) (1, 0), jvp f (x, y) (0, 1)]
             entry reverse (x: f64) (y: f64) = let (a, b) = vjp f (x, y) 1 in [a, b]"
        );
        let program = Program::from_source("operation.fut", &text).unwrap_or_else(|e| panic!("{op}: {e}"));
        let mut session = engine.session(&program);
        let mut told = 0;
        for _ in 0..100 {
            let (x, y) = (random.real(low, high), random.real(low, high));
            let mut value = |x: f64, y: f64| session.call::<f64>("value", (x, y)).expect("a number");
            let slopes = |value: &mut dyn FnMut(f64, f64) -> f64, h: f64| {
                let by_x = (value(x + h, y) - value(x - h, y)) / (2.0 * h);
                [by_x, (value(x, y + h) - value(x, y - h)) / (2.0 * h)]
            };
            let (wide, near) = (slopes(&mut value, 1e-4), slopes(&mut value, 1e-5));
            let close = |a: &[f64], b: &[f64], most: f64| {
                a.iter().zip(b).all(|(a, b)| (a - b).abs() <= most * (1.0 + b.abs()))
            };
            let forward: Vec<f64> = session.call("forward", (x, y)).expect("two numbers");
            let reverse: Vec<f64> = session.call("reverse", (x, y)).expect("two numbers");
            assert!(close(&forward, &reverse, 1e-14), "{op} at {x}, {y}: {forward:?}, {reverse:?}");
            if close(&wide, &near, 1e-5) {
                told += 1;
                assert!(close(&forward, &near, 1e-5), "{op} at {x}, {y}: {forward:?}, differences {near:?}");
            }
        }
        assert!(told > 80, "{op}: differences said something at {told} of 100 points");
    }
}

#[test]
fn derivatives_do_not_depend_on_the_engine() {
    let plain = interpreter();
    for seed in 0..rounds(12) {
        let mut random = Random::new(0xe9 + seed);
        let text = program(&mut random);
        let program = Program::from_source("derived.fut", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (p, a) = (numbers(&mut random, ALL), numbers(&mut random, 1 + N));
        let reverse = |engine: &Engine| {
            let result: Result<Vec<f64>, _> = engine.session(&program).call("reverse", (&p[..], &a[..]));
            result.unwrap_or_else(|e| panic!("{e}\n{text}"))
        };
        let meaning = reverse(&plain);
        for candidate in candidates() {
            let found = reverse(&candidate.engine);
            let scale = 1.0 + size(&meaning);
            let fits = meaning.iter().zip(&found).all(|(a, b)| (a - b).abs() <= 1e-5 * scale);
            assert!(fits, "{}: {meaning:?}\n{found:?}\n{text}", candidate.name);
        }
    }
}

/// Histograms by an operator that is one up to 15, and by one that has no derivative at its neutral element.
const NEUTRAL: &str = "
def up_to_15 (x: f64) (y: f64) : f64 = if 15 - x < y then 15 else x + y
def ones [n] 't (one: t) : [n]t = replicate n one

entry numbers [n] [m] (is: [n]i64) (dest: [m]f64) (xs: [n]f64) : ([m]f64, [n]f64) =
  vjp (\\(d, xs) -> reduce_by_index (copy d) up_to_15 0 is xs) (dest, xs) (ones 1)

entry pairs [n] [m] (is: [n]i64) (dest: [m]f64) (xs: [n]f64) : ([m]f64, [n]f64) =
  let f (d, xs) =
    reduce_by_index (copy (zip d d)) (\\(a, b) (c, d) -> (up_to_15 a c, b * d)) (0, 1) is (zip xs xs)
    |> map (\\(a, _) -> a)
  in vjp f (dest, xs) (ones 1)

entry rows [n] [m] (is: [n]i64) (dest: [m]f64) (xs: [n]f64) : ([m]f64, [n]f64) =
  let f (d, xs) =
    reduce_by_index (map (replicate 2) d) (map2 up_to_15) (replicate 2 0) is (map (replicate 2) xs)
    |> map (\\row -> row[1])
  in vjp f (dest, xs) (ones 1)

entry places [n] [m] (is: [n]i64) (dest: [m]f64) (xs: [n]f64) : ([m]f64, [n]f64) =
  let f (d, xs) =
    reduce_by_index_2d [copy d] up_to_15 0 (map (\\i -> (0, i)) is) xs
    |> head
  in vjp f (dest, xs) (ones 1)

entry logs [n] [m] (is: [n]i64) (dest: [m]f64) (xs: [n]f64) : ([m]f64, [n]f64) =
  let f (d, xs) = reduce_by_index (copy d) (\\a b -> f64.log (f64.exp a + f64.exp b)) (-f64.inf) is xs
  in vjp f (dest, xs) (ones 1)
";

#[test]
fn what_a_neutral_element_changes_is_derived_as_changed() {
    let indices = [0i64, 2, 4, 4, -1, 9];
    let dest = [15.0, 16.0, 1.0, 15.0, 14.0, f64::NEG_INFINITY];
    let rows = [2.0, 3.0, 0.5, 0.25, 7.0, 7.0];
    let program = Program::from_source("neutral.fut", NEUTRAL).unwrap_or_else(|e| panic!("{e}"));
    let engines = candidates().into_iter().map(|candidate| (candidate.name, candidate.engine));
    for (name, engine) in engines.chain([("interpreter".into(), interpreter())]) {
        let mut session = engine.session(&program);
        for entry in ["numbers", "pairs", "rows", "places"] {
            let found: (Vec<f64>, Vec<f64>) =
                session.call(entry, (&indices[..], &dest[..], &rows[..])).unwrap();
            let meant = (vec![0.0, 0.0, 1.0, 1.0, 1.0, 1.0], vec![0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
            assert_eq!(found, meant, "{name}: {entry}");
        }
        let found: (Vec<f64>, Vec<f64>) = session.call("logs", (&indices[..], &dest[..], &rows[..])).unwrap();
        assert_eq!([found.0[1], found.0[3], found.0[5]], [1.0; 3], "{name}: elements without rows");
    }
}

/// Reductions that begin with what is derived by, or whose operators use it: they are gone through row by row.
const BY_ROUNDS: &str = "
def starts (b: []f64) (v: f64) = reduce (+) v b
def least (b: []f64) (v: f64) = reduce f64.min v b
def uses (b: []f64) (v: f64) = reduce (\\a c -> a + c + a * c * v) 0 (map (* v) b)
def rows (b: []f64) (v: f64) = f64.sum (reduce (map2 f64.max) (replicate 2 v) (map (replicate 2) b))
def both (f: []f64 -> f64 -> f64) (b: []f64) (v: f64) = (jvp (f b) v 1, vjp (f b) v 1)
entry main (b: []f64) (v: f64) : [4](f64, f64) = [both starts b v, both least b v, both uses b v, both rows b v]
";

#[test]
fn reductions_depend_on_where_they_begin() {
    let program = Program::from_source("rounds.fut", BY_ROUNDS).unwrap_or_else(|e| panic!("{e}"));
    let mut session = interpreter().session(&program);
    for (v, wanted) in [(0.25, [1.0, 1.0]), (3.0, [1.0, 0.0])] {
        let (forth, back): (Vec<f64>, Vec<f64>) =
            session.call("main", (&[0.5, 2.0, 1.5][..], v)).expect("tangents and adjoints");
        assert!(forth.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{forth:?} {back:?}");
        assert_eq!(back[..2], wanted, "of {v}");
    }
}
