//! Generated programs: trees of operations, conversions, reads, ifs and loops over all types, compared with the
//! reference bit for bit. Library functions and operations that can trap are left out; the other tests have them.

use crate::support::*;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_testkit::rounds;
use std::fmt::Write;

/// Makes one program.
struct Maker {
    random: Random,
    /// Names in scope with their types.
    names: Vec<(String, ElemType)>,
    count: usize,
    exact: Vec<ScalarOp>,
}

const TYPES: [ElemType; 11] = [
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
    ElemType::Bool,
];

impl Maker {
    fn ty(&mut self) -> ElemType {
        TYPES[self.random.below(TYPES.len())]
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("t{}", self.count)
    }

    /// An expression of a type.
    fn exp(&mut self, ty: ElemType, depth: usize) -> String {
        let here: Vec<String> = self.names.iter().filter(|(_, t)| *t == ty).map(|(n, _)| n.clone()).collect();
        let pick = self.random.below(10);
        if depth == 0 || pick < 2 {
            if pick % 3 != 2 && !here.is_empty() {
                return here[self.random.below(here.len())].clone();
            }
            if pick % 3 == 1 {
                let (name, _) = self.names[self.random.below(self.names.len())].clone();
                return format!("to_{ty}({name})");
            }
            let bits = value_of(ty, &mut self.random);
            let bits = if ty.is_float() && !Scalar::new(ty, bits).as_f64().is_finite() { 0 } else { bits };
            return Scalar::new(ty, bits).to_string();
        }
        if pick < 4 {
            let from = self.ty();
            let inner = self.exp(from, depth - 1);
            return format!("to_{ty}({inner})");
        }
        for _ in 0..30 {
            let op = self.exact[self.random.below(self.exact.len())];
            let on = if op.result_type(ElemType::I32) == ElemType::I32
                && op.result_type(ElemType::F32) != ElemType::Bool
            {
                ty
            } else {
                self.ty()
            };
            if op.accepts(on) && op.result_type(on) == ty && !op.can_trap(on) && op.is_exact(on) {
                let args: Vec<String> =
                    (0..op.arity()).map(|k| self.exp(op.operand_type(k, on), depth - 1)).collect();
                return format!("{op}({})", args.join(", "));
            }
        }
        self.exp(ty, 0)
    }

    /// `let` statements; new names stay in scope.
    fn statements(&mut self, text: &mut String, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            let (name, ty) = (self.fresh(), self.ty());
            let kind = self.random.below(if depth == 0 { 1 } else { 6 });
            let known = self.names.len();
            match kind {
                3 => {
                    let cond = self.exp(ElemType::Bool, 2);
                    let _ = write!(text, "let {name} : {ty} = if {cond} then ");
                    for word in [" else ", "\n"] {
                        self.statements(text, depth - 1);
                        let result = self.exp(ty, 2);
                        let _ = write!(text, " in {result}{word}");
                        self.names.truncate(known);
                    }
                }
                4 => {
                    let (carried, counter) = (self.fresh(), self.fresh());
                    let (init, bound) = (self.exp(ty, 1), self.random.below(6));
                    let bound = match self.random.below(3) {
                        0 => format!("(i % {})", bound + 1),
                        1 => "(k % 5)".to_string(),
                        _ => bound.to_string(),
                    };
                    let _ = write!(
                        text,
                        "let {name} : {ty} = loop ({carried} : {ty}) = ({init}) for {counter} < {bound} do "
                    );
                    self.names.extend([(carried, ty), (counter, ElemType::I64)]);
                    self.statements(text, depth - 1);
                    let result = self.exp(ty, 2);
                    let _ = writeln!(text, " in {result}");
                    self.names.truncate(known);
                }
                5 => {
                    let (carried, left, init) = (self.fresh(), self.fresh(), self.exp(ty, 1));
                    let start = self.exp(ElemType::I64, 1);
                    let other = self.fresh();
                    let _ = write!(
                        text,
                        "let ({name} : {ty}, {other} : i64) = loop ({carried} : {ty}, {left} : i64) = ({init}, {start} % 7) while {left} > 0 do "
                    );
                    self.names.extend([(carried, ty), (left.clone(), ElemType::I64)]);
                    self.statements(text, depth - 1);
                    let result = self.exp(ty, 2);
                    let _ = writeln!(text, " in ({result}, {left} - 1)");
                    self.names.truncate(known);
                    self.names.push((other, ElemType::I64));
                }
                _ => {
                    let exp = self.exp(ty, 3);
                    let _ = writeln!(text, "let {name} : {ty} = {exp}");
                }
            }
            self.names.push((name, ty));
        }
    }
}

fn program(seed: u64) -> (String, Vec<ElemType>) {
    let exact = ScalarOp::ALL.iter().copied().filter(|op| *op != ScalarOp::Pow).collect();
    let mut maker = Maker { random: Random::new(seed), names: Vec::new(), count: 0, exact };
    let inputs: Vec<ElemType> = (0..3).map(|_| maker.ty()).collect();
    let mut text = "region r (n : i64, k : i64".to_string();
    for (at, ty) in inputs.iter().enumerate() {
        let _ = write!(text, ", x{at} : [n]{ty}");
    }
    let results: Vec<ElemType> = (0..2).map(|_| maker.ty()).collect();
    let _ = write!(text, ")\nlet (r0 : [n]{}, r1 : [n]{}) = kernel i < n do\n", results[0], results[1]);
    maker.names.extend([("i".to_string(), ElemType::I64), ("k".to_string(), ElemType::I64)]);
    for (at, ty) in inputs.iter().enumerate() {
        let index = ["i", "n - 1 - i", "i % 3 * 0", "(i * 5 + k) % n"][maker.random.below(4)];
        let _ = writeln!(text, "let v{at} : {ty} = x{at}[{index}]");
        maker.names.push((format!("v{at}"), *ty));
    }
    maker.statements(&mut text, 2);
    let (a, b) = (maker.exp(results[0], 2), maker.exp(results[1], 2));
    let _ = write!(text, "in ({a}, {b})\nin (r0, r1)");
    (text, inputs)
}

#[test]
fn programs_mean_the_same_everywhere() {
    let rounds = rounds(300);
    for seed in 1..=rounds {
        let (text, inputs) = program(seed);
        let mut random = Random::new(!seed);
        let n = SIZES[1 + random.below(SIZES.len() - 2)];
        let mut args = vec![size(n), size(random.below(20))];
        args.extend(inputs.iter().map(|ty| array(*ty, &[n as i64], &mut random)));
        check(&text, &args);
    }
}

#[test]
fn programs_are_varied() {
    let texts: Vec<String> = (1..=100u64).map(|seed| program(seed).0).collect();
    for word in ["while", " for ", "= if ", "to_u16", "f64", "sqrt", "popc", "select"] {
        let with = texts.iter().filter(|t| t.contains(word)).count();
        assert!(with >= 5, "{word} is in {with} of 100 programs\n{}", texts[3]);
    }
}
