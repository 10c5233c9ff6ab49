//! Programs in assembly, made at random: an operator or a loop with scalar code in it.

mod choose;
mod nest;

use crate::values;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_testkit::Random;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A scalar register.
type Reg = (u32, ElemType);

/// A program in the making: one function.
pub struct Generator {
    random: Random,
    next_reg: u32,
    next_block: u32,
    /// Blocks that are complete, by number, in text.
    blocks: BTreeMap<u32, String>,
    /// Scalars that code may use.
    scalars: Vec<Reg>,
    /// Arrays that code may read: register, element type, rank.
    arrays: Vec<(u32, ElemType, usize)>,
    params: Vec<String>,
    /// Instructions that may still be made.
    budget: usize,
    body: String,
    results: Vec<(u32, String)>,
    /// Whether code may make arrays.
    nests: bool,
    /// Whether reductions and scans have one result, whatever the order in which they combine.
    in_any_order: bool,
}

impl Generator {
    pub fn new(random: Random) -> Generator {
        Generator {
            random,
            next_reg: 0,
            next_block: 1,
            blocks: BTreeMap::new(),
            scalars: Vec::new(),
            arrays: Vec::new(),
            params: Vec::new(),
            budget: 14,
            body: String::new(),
            results: Vec::new(),
            nests: false,
            in_any_order: false,
        }
    }

    /// A generator of programs whose reductions and scans may be combined in any order.
    pub fn in_any_order(random: Random) -> Generator {
        Generator { in_any_order: true, ..Generator::new(random) }
    }

    pub fn finish(self) -> String {
        let results: Vec<&str> = self.results.iter().map(|(_, ty)| ty.as_str()).collect();
        let regs: Vec<String> = self.results.iter().map(|(reg, _)| format!("r{reg}!")).collect();
        format!(
            "module\nfile \"f.fut\"\nfn @0 \"f\" ({}) -> ({})\nb0 ():\n{}  => ({})\n{}",
            self.params.join(", "),
            results.join(", "),
            self.body,
            regs.join(", "),
            self.blocks.into_values().collect::<String>()
        )
    }

    fn reg(&mut self) -> u32 {
        self.next_reg += 1;
        self.next_reg - 1
    }

    fn elem(&mut self) -> ElemType {
        // The frequent types more often.
        match self.random.below(3) {
            0 => *self.random.pick(&ElemType::ALL),
            _ => *self.random.pick(&[
                ElemType::I64,
                ElemType::I32,
                ElemType::F32,
                ElemType::F64,
                ElemType::Bool,
            ]),
        }
    }

    fn param(&mut self, elem: ElemType, rank: usize) -> u32 {
        let reg = self.reg();
        self.params.push(format!("r{reg} : {}{elem}", "[]".repeat(rank)));
        reg
    }

    /// Parameters that any code may use.
    fn surroundings(&mut self) {
        let n = self.param(ElemType::I64, 0);
        self.scalars.push((n, ElemType::I64));
        for _ in 0..self.random.below(3) {
            let elem = self.elem();
            let reg = self.param(elem, 0);
            self.scalars.push((reg, elem));
        }
        for _ in 0..self.random.below(3) {
            let (elem, rank) = (self.elem(), 1 + self.random.below(2));
            let reg = self.param(elem, rank);
            self.arrays.push((reg, elem, rank));
        }
    }

    /// An operator over one to three arrays.
    pub fn operator(&mut self) {
        self.surroundings();
        let kind = *self.random.pick(&["map", "map", "map", "reduce", "scan", "redomap"]);
        let (accumulators, inputs) = match kind {
            "map" | "redomap" => (self.random.below(2) + 1, 1 + self.random.below(3)),
            _ => {
                let count = 1 + self.random.below(2);
                (count, count)
            }
        };
        let combined: Vec<ElemType> = (0..accumulators).map(|_| self.elem()).collect();
        let mut arrays = Vec::new();
        let types: Vec<(ElemType, usize)> = match kind {
            "map" | "redomap" => {
                (0..inputs).map(|_| (self.elem(), 1 + usize::from(self.random.one_in(4)))).collect()
            }
            _ => combined.iter().map(|elem| (*elem, 1)).collect(),
        };
        for (elem, rank) in types {
            let reg = self.param(elem, rank);
            arrays.push((reg, elem, rank));
        }
        let width = self.reg();
        let _ = writeln!(self.body, "  r{width} : i64 = dim r{} 0", arrays[0].0);
        let list: Vec<String> = arrays.iter().map(|(reg, ..)| format!("r{reg}")).collect();
        let list = list.join(", ");
        let result_rank = usize::from(matches!(kind, "map" | "scan"));
        let row_block = |this: &mut Generator| {
            let params: Vec<(ElemType, usize)> = arrays.iter().map(|(_, e, r)| (*e, r - 1)).collect();
            this.block(&params, &combined.clone())
        };
        let dsts: Vec<String> = combined
            .clone()
            .iter()
            .map(|elem| {
                let reg = self.reg();
                let ty = format!("{}{elem}", "[]".repeat(result_rank));
                self.results.push((reg, ty.clone()));
                format!("r{reg} : {ty}")
            })
            .collect();
        let dsts = dsts.join(", ");
        let line = match kind {
            "map" => format!("map r{width} ({list}) b{}", row_block(self)),
            "redomap" => {
                let (neutral, op) = self.combination_in_body(&combined);
                let map = row_block(self);
                format!("redomap r{width} ({neutral}) ({list}) b{map} b{op}")
            }
            _ => {
                let (neutral, op) = self.combination_in_body(&combined);
                format!("{kind} r{width} ({neutral}) ({list}) b{op}")
            }
        };
        let _ = writeln!(self.body, "  {dsts} = {line} @ 0 1:1-1:9");
    }

    /// A loop that carries scalars and perhaps an array that it updates.
    pub fn a_loop(&mut self) {
        self.surroundings();
        self.budget = 10;
        let (array_elem, array_rank) = (self.elem(), 1 + usize::from(self.random.one_in(4)));
        let array = self.random.one_in(2).then(|| self.param(array_elem, array_rank));
        let carried: Vec<ElemType> = (0..1 + self.random.below(3)).map(|_| self.elem()).collect();
        let init: Vec<String> =
            carried.clone().iter().map(|elem| format!("r{}", self.scalar_in_body(*elem))).collect();
        let bound = self.scalars[0].0;
        let block = self.next_block();
        let outer = (self.scalars.clone(), self.arrays.clone());
        let counter = self.reg();
        self.scalars.push((counter, ElemType::I64));
        let mut params = vec![format!("r{counter} : i64")];
        for elem in &carried {
            let reg = self.reg();
            params.push(format!("r{reg} : {elem}"));
            self.scalars.push((reg, *elem));
        }
        let mut code = String::new();
        let mut updated = None;
        let ty = format!("{}{array_elem}", "[]".repeat(array_rank));
        if array.is_some() {
            let reg = self.reg();
            params.push(format!("r{reg} : {ty}"));
            self.arrays.push((reg, array_elem, array_rank));
            self.code(&mut code, 3);
            let indices: Vec<String> = (0..array_rank).map(|d| self.some_index(&mut code, reg, d)).collect();
            let value = self.some_scalar(&mut code, array_elem);
            let new = self.reg();
            let _ = writeln!(
                code,
                "  r{new} : {ty} = update r{reg}! ({}) r{value} @ 0 4:4-4:5",
                indices.join(", ")
            );
            self.arrays.retain(|(r, ..)| *r != reg);
            self.arrays.push((new, array_elem, array_rank));
            updated = Some(new);
        }
        self.code(&mut code, 3);
        let mut results: Vec<String> =
            carried.clone().iter().map(|elem| format!("r{}", self.some_scalar(&mut code, *elem))).collect();
        results.extend(updated.map(|reg| format!("r{reg}!")));
        (self.scalars, self.arrays) = outer;
        self.blocks.insert(
            block,
            format!("b{block} ({}):\n{code}  => ({})\n", params.join(", "), results.join(", ")),
        );
        let mut dsts = Vec::new();
        let types = carried.iter().map(ToString::to_string).chain(array.map(|_| ty.clone()));
        for ty in types.collect::<Vec<_>>() {
            let reg = self.reg();
            dsts.push(format!("r{reg} : {ty}"));
            self.results.push((reg, ty));
        }
        let init = init.into_iter().chain(array.map(|reg| format!("r{reg}!"))).collect::<Vec<_>>().join(", ");
        let dsts = dsts.join(", ");
        let _ = writeln!(self.body, "  {dsts} = for r{bound} ({init}) b{block} @ 0 1:1-1:9");
    }

    fn next_block(&mut self) -> u32 {
        self.next_block += 1;
        self.next_block - 1
    }

    /// A block that combines accumulators and items: mostly each by one operation.
    fn combination(&mut self, code: &mut String, elems: &[ElemType]) -> (String, u32) {
        let is_any = !self.in_any_order && self.random.one_in(3);
        let block = if is_any { None } else { Some(self.next_block()) };
        let mut neutral = Vec::new();
        let mut ops = Vec::new();
        for elem in elems {
            let suits =
                |op: &ScalarOp| op.arity() == 2 && op.accepts(*elem) && op.result_type(*elem) == *elem;
            let identity = |op: ScalarOp| op.info().identity.filter(|_| op.order_free(*elem));
            let fits = |op: &ScalarOp| suits(op) && (!self.in_any_order || identity(*op).is_some());
            let all: Vec<ScalarOp> = ScalarOp::ALL.iter().copied().filter(fits).collect();
            let op = *self.random.pick(&all);
            neutral.push(match identity(op).filter(|_| self.in_any_order) {
                Some(identity) => {
                    let reg = self.reg();
                    let _ = writeln!(code, "  r{reg} : {elem} = const {}", identity.of(*elem));
                    format!("r{reg}")
                }
                None => format!("r{}", self.some_scalar(code, *elem)),
            });
            ops.push(op);
        }
        let params: Vec<(ElemType, usize)> = elems.iter().chain(elems).map(|elem| (*elem, 0)).collect();
        let Some(block) = block else { return (neutral.join(", "), self.block(&params, elems)) };
        let first = self.next_reg;
        let names: Vec<String> = params.iter().map(|(elem, _)| format!("r{} : {elem}", self.reg())).collect();
        let mut body = String::new();
        let mut made = Vec::new();
        for (k, (elem, op)) in elems.iter().zip(ops).enumerate() {
            let (a, b) = (first + k as u32, first + (elems.len() + k) as u32);
            let reg = self.reg();
            let _ = writeln!(body, "  r{reg} : {elem} = op2 {op} {elem} r{a} r{b} @ 0 2:2-2:3");
            made.push(format!("r{reg}"));
        }
        self.blocks
            .insert(block, format!("b{block} ({}):\n{body}  => ({})\n", names.join(", "), made.join(", ")));
        (neutral.join(", "), block)
    }

    fn combination_in_body(&mut self, elems: &[ElemType]) -> (String, u32) {
        let mut code = String::new();
        let made = self.combination(&mut code, elems);
        self.body += &code;
        made
    }

    /// A block of some code.
    fn block(&mut self, params: &[(ElemType, usize)], results: &[ElemType]) -> u32 {
        let block = self.next_block();
        let outer = (self.scalars.clone(), self.arrays.clone());
        let mut names = Vec::new();
        for (elem, rank) in params {
            let reg = self.reg();
            names.push(format!("r{reg} : {}{elem}", "[]".repeat(*rank)));
            if *rank == 0 {
                self.scalars.push((reg, *elem));
            } else {
                self.arrays.push((reg, *elem, *rank));
            }
        }
        let mut code = String::new();
        let length = 1 + self.random.below(8);
        self.code(&mut code, length);
        let results: Vec<String> =
            results.iter().map(|elem| format!("r{}", self.some_scalar(&mut code, *elem))).collect();
        (self.scalars, self.arrays) = outer;
        self.blocks.insert(
            block,
            format!("b{block} ({}):\n{code}  => ({})\n", names.join(", "), results.join(", ")),
        );
        block
    }

    fn code(&mut self, code: &mut String, length: usize) {
        for _ in 0..length {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            self.instruction(code);
        }
    }

    /// A scalar of this type, mostly one that is there.
    fn some_scalar(&mut self, code: &mut String, elem: ElemType) -> u32 {
        let there: Vec<u32> = self.scalars.iter().filter(|(_, e)| *e == elem).map(|(r, _)| *r).collect();
        if !there.is_empty() && !self.random.one_in(6) {
            // Later ones more often.
            let first = if self.random.one_in(2) { there.len() / 2 } else { 0 };
            return *self.random.pick(&there[first..]);
        }
        let reg = self.reg();
        match self.scalars.last().copied() {
            Some((from, other)) if self.random.one_in(2) && other != elem => {
                let _ = writeln!(code, "  r{reg} : {elem} = convert {other} {elem} r{from}");
            }
            _ => {
                let value = values::scalar(&mut self.random, elem);
                let value = if value.ty.is_float() && value.as_f64().is_nan() {
                    galopvm_base::Scalar::from_int(elem, 3)
                } else {
                    value
                };
                let _ = writeln!(code, "  r{reg} : {elem} = const {value}");
            }
        }
        self.scalars.push((reg, elem));
        reg
    }

    fn scalar_in_body(&mut self, elem: ElemType) -> u32 {
        let mut code = String::new();
        let reg = self.some_scalar(&mut code, elem);
        self.body += &code;
        reg
    }

    /// An index into a dimension, mostly inside.
    fn some_index(&mut self, code: &mut String, array: u32, dim: usize) -> String {
        let index = self.some_scalar(code, ElemType::I64);
        if self.random.one_in(25) {
            return format!("r{index}");
        }
        let (extent, one, least, reg) = (self.reg(), self.reg(), self.reg(), self.reg());
        let _ = writeln!(code, "  r{extent} : i64 = dim r{array} {dim}");
        let _ = writeln!(code, "  r{one} : i64 = const 1i64");
        let _ = writeln!(code, "  r{least} : i64 = op2 max i64 r{extent} r{one}");
        let _ = writeln!(code, "  r{reg} : i64 = op2 mod i64 r{index} r{least}");
        format!("r{reg}")
    }

    fn instruction(&mut self, code: &mut String) {
        if self.nests && self.random.one_in(2) {
            return self.array_instruction(code);
        }
        match self.random.below(14) {
            0 | 1 => self.branch(code),
            2 | 3 if !self.arrays.is_empty() => self.index(code),
            4 => self.inner_loop(code),
            5 if self.random.one_in(3) => {
                let cond = self.some_scalar(code, ElemType::Bool);
                let shown = self.some_scalar(code, ElemType::I32);
                let other = self.reg();
                let _ = writeln!(code, "  r{other} : bool = op2 le i32 r{shown} r{shown}");
                let reg = self.reg();
                let _ = writeln!(code, "  r{reg} : bool = op2 or bool r{cond} r{other}");
                let _ = writeln!(
                    code,
                    "  assert r{} \"shown: {{}}\" (r{shown})",
                    if self.random.one_in(9) { cond } else { reg }
                );
            }
            6 if !self.arrays.is_empty() => self.inner_reduce(code),
            _ => self.operation(code),
        }
    }

    fn operation(&mut self, code: &mut String) {
        let elem = self.elem();
        let ops: Vec<ScalarOp> = ScalarOp::ALL.iter().copied().filter(|op| op.accepts(elem)).collect();
        let mut op = *self.random.pick(&ops);
        if self.random.one_in(2) {
            // The sign of a NaN is nobody's promise.
            let frequent =
                [ScalarOp::Add, ScalarOp::Mul, ScalarOp::Sub, ScalarOp::Lt, ScalarOp::Le, ScalarOp::Max];
            op = frequent.into_iter().find(|op| op.accepts(elem) && self.random.one_in(3)).unwrap_or(op);
        }
        if op == ScalarOp::CopySign {
            op = ScalarOp::Add;
        }
        let args: Vec<u32> =
            (0..op.arity()).map(|k| self.some_scalar(code, op.operand_type(k, elem))).collect();
        let mut args = args;
        if op.can_trap(elem) && !self.random.one_in(12) {
            // Mostly not by zero.
            let (one, least) = (self.reg(), self.reg());
            let _ = writeln!(code, "  r{one} : {elem} = const 1{elem}");
            let _ = writeln!(code, "  r{least} : {elem} = op2 max {elem} r{} r{one}", args[1]);
            args[1] = least;
        }
        let args: Vec<String> = args.iter().map(|r| format!("r{r}")).collect();
        let (reg, result) = (self.reg(), op.result_type(elem));
        let _ = writeln!(
            code,
            "  r{reg} : {result} = op{} {op} {elem} {} @ 0 3:3-3:4",
            op.arity(),
            args.join(" ")
        );
        self.scalars.push((reg, result));
    }

    fn index(&mut self, code: &mut String) {
        let (array, elem, rank) = *self.random.pick(&self.arrays.clone());
        let count = 1 + self.random.below(rank);
        let indices: Vec<String> = (0..count).map(|d| self.some_index(code, array, d)).collect();
        let reg = self.reg();
        let left = rank - count;
        let ty = format!("{}{elem}", "[]".repeat(left));
        let _ = writeln!(code, "  r{reg} : {ty} = index r{array} ({}) @ 0 5:5-5:6", indices.join(", "));
        if left == 0 {
            self.scalars.push((reg, elem));
        } else {
            self.arrays.push((reg, elem, left));
        }
    }

    fn branch(&mut self, code: &mut String) {
        let cond = self.some_scalar(code, ElemType::Bool);
        let types: Vec<ElemType> = (0..1 + self.random.below(2)).map(|_| self.elem()).collect();
        let (then, otherwise) = (self.block(&[], &types), self.block(&[], &types));
        let dsts: Vec<String> =
            types.iter().map(|elem| format!("r{} : {elem}", self.define(*elem))).collect();
        let _ = writeln!(code, "  {} = if r{cond} b{then} b{otherwise}", dsts.join(", "));
    }

    fn define(&mut self, elem: ElemType) -> u32 {
        let reg = self.reg();
        self.scalars.push((reg, elem));
        reg
    }

    fn inner_loop(&mut self, code: &mut String) {
        let types: Vec<ElemType> = (0..1 + self.random.below(2)).map(|_| self.elem()).collect();
        let init: Vec<String> =
            types.clone().iter().map(|elem| format!("r{}", self.some_scalar(code, *elem))).collect();
        if self.random.one_in(2) {
            let bound = self.reg();
            let _ = writeln!(code, "  r{bound} : i64 = const {}i64", self.random.below(4));
            let params: Vec<(ElemType, usize)> =
                std::iter::once(ElemType::I64).chain(types.iter().copied()).map(|e| (e, 0)).collect();
            let body = self.block(&params, &types);
            let dsts: Vec<String> =
                types.iter().map(|elem| format!("r{} : {elem}", self.define(*elem))).collect();
            let _ = writeln!(code, "  {} = for r{bound} ({}) b{body}", dsts.join(", "), init.join(", "));
            return;
        }
        // A count first, so that it ends.
        let (zero, limit) = (self.reg(), self.reg());
        let _ = writeln!(code, "  r{zero} : i32 = const 0i32");
        let (test, body) = (self.next_block(), self.next_block());
        let (tested, answer) = (self.reg(), self.reg());
        let tests: Vec<String> = types.iter().map(|elem| format!("r{} : {elem}", self.reg())).collect();
        let list = |first: String, rest: &[String]| {
            std::iter::once(first).chain(rest.iter().cloned()).collect::<Vec<_>>().join(", ")
        };
        self.blocks.insert(test, format!("b{test} ({}):\n  r{limit} : i32 = const {}i32\n  r{answer} : bool = op2 lt i32 r{tested} r{limit}\n  => (r{answer})\n",
            list(format!("r{tested} : i32"), &tests),
            self.random.below(4)
        ));
        let outer = (self.scalars.clone(), self.arrays.clone());
        let (count, one, next) = (self.reg(), self.reg(), self.reg());
        let params: Vec<String> =
            types.iter().map(|elem| format!("r{} : {elem}", self.define(*elem))).collect();
        let mut inner =
            format!("  r{one} : i32 = const 1i32\n  r{next} : i32 = op2 add i32 r{count} r{one}\n");
        self.code(&mut inner, 3);
        let results: Vec<String> =
            types.iter().map(|elem| format!("r{}", self.some_scalar(&mut inner, *elem))).collect();
        (self.scalars, self.arrays) = outer;
        self.blocks.insert(
            body,
            format!(
                "b{body} ({}):\n{inner}  => ({})\n",
                list(format!("r{count} : i32"), &params),
                list(format!("r{next}"), &results)
            ),
        );
        let last = self.reg();
        let dsts: Vec<String> =
            types.iter().map(|elem| format!("r{} : {elem}", self.define(*elem))).collect();
        let _ = writeln!(
            code,
            "  {} = while ({}) b{test} b{body}",
            list(format!("r{last} : i32"), &dsts),
            list(format!("r{zero}"), &init)
        );
    }

    /// A reduction of an array that is there.
    fn inner_reduce(&mut self, code: &mut String) {
        let (array, elem, rank) = *self.random.pick(&self.arrays.clone());
        if rank != 1 {
            return;
        }
        let width = self.reg();
        let _ = writeln!(code, "  r{width} : i64 = dim r{array} 0");
        let (neutral, op) = self.combination(code, &[elem]);
        let reg = self.define(elem);
        let _ = writeln!(code, "  r{reg} : {elem} = reduce r{width} ({neutral}) (r{array}) b{op}");
    }
}
