//! Programs that nobody wrote: well-typed source text around the parallel operators.
//!
//! Only operations whose result every tier must give bit for bit are used, except in reductions of floats, which
//! use `min` and `max`. Division by zero is rare but possible: then every tier must report it.

use galopvm_base::ElemType;
use galopvm_testkit::Random;

/// A generated program with one entry `main`.
pub struct Program {
    /// Its text.
    pub source: String,
    /// Its parameters.
    pub params: Vec<Param>,
}

/// A parameter: a scalar, or an array over the extents `n` (0) and `m` (1).
pub struct Param {
    /// Element type.
    pub elem: ElemType,
    /// Which extents, outermost first; empty for a scalar.
    pub dims: Vec<usize>,
}

const NUMBERS: [ElemType; 10] = [
    ElemType::I8,
    ElemType::I16,
    ElemType::I32,
    ElemType::I64,
    ElemType::U8,
    ElemType::U16,
    ElemType::U32,
    ElemType::U64,
    ElemType::F32,
    ElemType::F64,
];

struct Names(Vec<(String, ElemType)>);

/// The program of this seed.
pub fn program(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let shapes = [
        elementwise,
        elementwise,
        grid,
        row_reduction,
        whole_reduction,
        gather,
        loops,
        while_loop,
        prefix,
        tuples,
    ];
    let shape = *random.pick(&shapes);
    shape(&mut random)
}

fn number_type(random: &mut Random) -> ElemType {
    // The common types come more often.
    match random.below(3) {
        0 => *random.pick(&[ElemType::I32, ElemType::F32, ElemType::I64, ElemType::F64]),
        _ => *random.pick(&NUMBERS),
    }
}

fn array(elem: ElemType, dims: &[usize]) -> Param {
    Param { elem, dims: dims.to_vec() }
}

fn names(items: &[(&str, ElemType)]) -> Names {
    Names(items.iter().map(|(n, t)| (n.to_string(), *t)).collect())
}

fn elementwise(r: &mut Random) -> Program {
    let (a, b, s, out) = (number_type(r), number_type(r), number_type(r), number_type(r));
    let body = expression(r, out, &names(&[("x", a), ("y", b), ("s", s)]), 4);
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}) (ys: [n]{b}) (s: {s}): [n]{out} =\n  map2 (\\x y -> {body}) xs ys\n"
        ),
        params: vec![array(a, &[0]), array(b, &[0]), array(s, &[])],
    }
}

fn grid(r: &mut Random) -> Program {
    let (a, b, out) = (number_type(r), number_type(r), number_type(r));
    let body = expression(r, out, &names(&[("x", a), ("y", b)]), 3);
    let (order, inner) = if r.one_in(2) { ("[m][n]", "transpose bs") } else { ("[n][m]", "bs") };
    let dims: &[usize] = if order == "[m][n]" { &[1, 0] } else { &[0, 1] };
    Program {
        source: format!(
            "def main [n][m] (as: [n][m]{a}) (bs: {order}{b}): [n][m]{out} =\n  \
             map2 (\\xs ys -> map2 (\\x y -> {body}) xs ys) as ({inner})\n"
        ),
        params: vec![array(a, &[0, 1]), array(b, dims)],
    }
}

/// An operator with its neutral element that gives the same bits in any order.
pub fn operator(r: &mut Random, ty: ElemType) -> (String, String) {
    let named = |op: &str, neutral: &str| (format!("{ty}.{op}"), format!("{ty}.{neutral}"));
    match r.below(if ty.is_int() { 5 } else { 2 }) {
        0 => named("min", "highest"),
        1 => named("max", "lowest"),
        2 => ("(+)".into(), format!("0{ty}")),
        3 => ("(*)".into(), format!("1{ty}")),
        _ => ("(^)".into(), format!("0{ty}")),
    }
}

fn row_reduction(r: &mut Random) -> Program {
    let (a, out) = (number_type(r), number_type(r));
    let body = expression(r, out, &names(&[("x", a)]), 2);
    let (op, neutral) = operator(r, out);
    let (source, size) = if r.one_in(2) { ("as", "n") } else { ("transpose as", "m") };
    Program {
        source: format!(
            "def main [n][m] (as: [n][m]{a}): [{size}]{out} =\n  \
             map (\\row -> reduce {op} {neutral} (map (\\x -> {body}) row)) ({source})\n"
        ),
        params: vec![array(a, &[0, 1])],
    }
}

fn whole_reduction(r: &mut Random) -> Program {
    let (a, b, out) = (number_type(r), number_type(r), number_type(r));
    let body = expression(r, out, &names(&[("x", a), ("y", b)]), 2);
    let (op, neutral) = operator(r, out);
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}) (ys: [n]{b}): {out} =\n  reduce {op} {neutral} (map2 (\\x y -> {body}) xs ys)\n"
        ),
        params: vec![array(a, &[0]), array(b, &[0])],
    }
}

fn gather(r: &mut Random) -> Program {
    let (a, out) = (number_type(r), number_type(r));
    // Now and then an index leaves the array: then every tier reports the same place.
    let wrap = if r.one_in(8) { "" } else { " % n" };
    let step = *r.pick(&["i + k", "i * k", "n - 1 - i", "k - i", "i"]);
    let body = expression(r, out, &names(&[("x", a), ("k", ElemType::I64)]), 2);
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}) (k: i64): [n]{out} =\n  \
             map (\\i -> let x = xs[({step}){wrap}] in {body}) (iota n)\n"
        ),
        params: vec![array(a, &[0]), array(ElemType::I64, &[])],
    }
}

fn loops(r: &mut Random) -> Program {
    let (a, c) = (number_type(r), number_type(r));
    let next = expression(r, c, &names(&[("x", a), ("acc", c), ("k", ElemType::I64)]), 2);
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}) (rounds: u8): [n]{c} =\n  \
             map (\\x -> loop acc = {c}.{a} x for k < i64.u8 (rounds & 7) do {next}) xs\n"
        ),
        params: vec![array(a, &[0]), array(ElemType::U8, &[])],
    }
}

fn while_loop(r: &mut Random) -> Program {
    let (a, c) = (number_type(r), number_type(r));
    let next = expression(r, c, &names(&[("x", a), ("acc", c)]), 2);
    let go = expression(r, ElemType::Bool, &names(&[("x", a), ("acc", c)]), 2);
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}): ([n]{c}, [n]i32) =\n  unzip (map (\\x ->\n    \
             loop (acc, k) = ({c}.{a} x, 0i32) while k < 9 && ({go}) do ({next}, k + 1)) xs)\n"
        ),
        params: vec![array(a, &[0])],
    }
}

fn prefix(r: &mut Random) -> Program {
    let (a, out) = (number_type(r), number_type(r));
    let body = expression(r, out, &names(&[("x", a)]), 2);
    let (op, neutral) = operator(r, out);
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}): [n]{out} =\n  scan {op} {neutral} (map (\\x -> {body}) xs)\n"
        ),
        params: vec![array(a, &[0])],
    }
}

fn tuples(r: &mut Random) -> Program {
    let (a, b, c, d) = (number_type(r), number_type(r), number_type(r), number_type(r));
    let scope = names(&[("x", a), ("y", b)]);
    let (left, right) = (expression(r, c, &scope, 3), expression(r, d, &scope, 3));
    let ((op, neutral), (op2, neutral2)) = (operator(r, c), operator(r, d));
    Program {
        source: format!(
            "def main [n] (xs: [n]{a}) (ys: [n]{b}): ([n]{c}, {c}, {d}) =\n  \
             let (ps, qs) = unzip (map2 (\\x y -> ({left}, {right})) xs ys)\n  \
             let (p, q) = reduce (\\(p1, q1) (p2, q2) -> ({op} p1 p2, {op2} q1 q2)) ({neutral}, {neutral2}) (zip ps qs)\n  \
             in (ps, p, q)\n"
        ),
        params: vec![array(a, &[0]), array(b, &[0])],
    }
}

/// A number of a type, or a truth value.
pub fn literal(r: &mut Random, ty: ElemType) -> String {
    if ty == ElemType::Bool {
        return r.one_in(2).to_string();
    }
    if ty.is_float() {
        let value = *r.pick(&["0.0", "1.0", "0.5", "2.25", "1000.0", "0.001", "3.0e8"]);
        return format!("{value}{ty}");
    }
    format!("{}{ty}", r.pick(&[0, 1, 2, 3, 7, 13, 100, 127]))
}

/// An expression of a type over names.
fn expression(r: &mut Random, ty: ElemType, scope: &Names, depth: usize) -> String {
    let fitting: Vec<&String> = scope.0.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n).collect();
    if depth == 0 {
        if !fitting.is_empty() && !r.one_in(4) {
            return fitting[r.below(fitting.len())].clone();
        }
        let (name, from) = scope.0[r.below(scope.0.len())].clone();
        if ty == ElemType::Bool || r.one_in(3) {
            return literal(r, ty);
        }
        return if from == ty { name } else { format!("{ty}.{from} {name}") };
    }
    let part = |r: &mut Random, t: ElemType| expression(r, t, scope, depth - 1);
    if ty == ElemType::Bool {
        let operand = number_type(r);
        let (a, b) = (part(r, operand), part(r, operand));
        return match r.below(4) {
            0 => format!("({}) && ({})", part(r, ElemType::Bool), part(r, ElemType::Bool)),
            1 => format!("!({})", part(r, ElemType::Bool)),
            _ => format!("({a}) {} ({b})", r.pick(&["<", "<=", ">", ">=", "==", "!="])),
        };
    }
    match r.below(9) {
        0 => {
            let from = number_type(r);
            let inner = part(r, from);
            if from == ty { inner } else { format!("{ty}.{from} ({inner})") }
        }
        1 => {
            let (cond, a, b) = (part(r, ElemType::Bool), part(r, ty), part(r, ty));
            format!("if {cond} then {a} else {b}")
        }
        2 => {
            let op = *r.pick(&["min", "max"]);
            format!("{ty}.{op} ({}) ({})", part(r, ty), part(r, ty))
        }
        3 if ty.is_float() => {
            let op = *r.pick(&["sqrt", "floor", "ceil", "trunc", "round", "abs", "neg"]);
            format!("{ty}.{op} ({})", part(r, ty))
        }
        3 => {
            let op = *r.pick(&["abs", "neg", "not", "sgn"]);
            format!("{ty}.{op} ({})", part(r, ty))
        }
        4 if ty.is_int() => {
            let op = *r.pick(&["/", "%", "//", "%%"]);
            let divisor = part(r, ty);
            let divisor = if r.one_in(12) { divisor } else { format!("({divisor}) | 1") };
            format!("({}) {op} ({divisor})", part(r, ty))
        }
        5 if ty.is_int() => {
            let op = *r.pick(&["<<", ">>", "&", "|", "^"]);
            format!("({}) {op} ({})", part(r, ty), part(r, ty))
        }
        4 => format!("({}) / ({})", part(r, ty), part(r, ty)),
        _ => {
            let op = *r.pick(&["+", "-", "*"]);
            format!("({}) {op} ({})", part(r, ty), part(r, ty))
        }
    }
}
