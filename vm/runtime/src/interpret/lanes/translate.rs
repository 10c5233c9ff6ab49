//! From the block of an operator to a lane program: scalars, blocks, and what a program is worth.
//!
//! What needs values that differ from row to row where numbers are wanted (extents, trip counts) is refused.

use super::program::{Across, Lane, Need, Number, Param, Program, Result as Left, Step, Value, View, Weight};
use super::varying::varying;
use crate::interpret::machine::{cost, functions};
use crate::interpret::refused::{Made, NO_SUCH_OPERATION, Refused, TOO_LARGE};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Function, Instr, Operand, RegId, field::Fields};
use galopvm_vector::loops;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// Lane registers of a program at most.
const MOST_LANES: usize = 4000;

/// What executing an operator block by block costs, in operations of a lane program.
const ENTRY: f64 = 200.0;

pub(super) struct Translator<'a> {
    pub(super) function: &'a Function,
    pub(super) program: Program,
    varying: HashSet<RegId>,
    pub(super) values: HashMap<RegId, Value>,
    pub(super) views: HashMap<RegId, View>,
    /// Registers that hold an array of an owner and may still be read.
    pub(super) alive: HashMap<RegId, usize>,
    /// Owners that the program makes.
    pub(super) own: HashSet<usize>,
    constants: HashMap<Bits, Number>,
    splats: HashMap<(Number, usize), Lane>,
    /// Numbers that are known at the start.
    early: HashSet<Number>,
    /// The rows that the code being translated is executed for; nothing: all.
    pub(super) mask: Option<Lane>,
    steps: Vec<Step>,
    /// The bounds of the loops around, as far as they are known at the start.
    loops: Vec<Option<Number>>,
    /// The innermost loop, and for each lane register the loop that it is computed in.
    level: usize,
    levels: Vec<usize>,
    next_level: usize,
    /// Whether the code is that of an operator which columns could do as well.
    pub(super) elementwise: bool,
    weights: HashMap<Vec<Option<Number>>, f64>,
}

/// The program of a block that takes rows of arrays.
pub(super) fn translate(function: &Function, block: BlockId) -> Made<Program> {
    let mut translator = Translator::new(function, block);
    translator.whole(block)?;
    Ok(translator.program)
}

impl<'a> Translator<'a> {
    fn new(function: &'a Function, block: BlockId) -> Translator<'a> {
        Translator {
            function,
            program: Program::default(),
            varying: varying(function, block),
            values: HashMap::new(),
            views: HashMap::new(),
            alive: HashMap::new(),
            own: HashSet::new(),
            constants: HashMap::new(),
            splats: HashMap::new(),
            early: HashSet::new(),
            mask: None,
            steps: Vec::new(),
            loops: Vec::new(),
            level: 0,
            levels: Vec::new(),
            next_level: 1,
            elementwise: false,
            weights: HashMap::new(),
        }
    }

    fn whole(&mut self, block: BlockId) -> Made<()> {
        let function = self.function;
        let code = &function.blocks[block];
        self.program.capacity = self.early_number();
        for param in &code.params {
            self.param(*param)?;
        }
        self.block(block)?;
        for result in &code.results {
            let left = if self.is_array(result.reg) {
                let view = self.view(result.reg)?;
                let times = view.dims.iter().map(|(size, _)| self.if_early(*size)).collect();
                *self.weights.entry(times).or_default() -= 1.0;
                Left::Array(view)
            } else {
                let (value, elem) = (self.value(result.reg)?, self.elem(result.reg));
                Left::Lane(self.many(value, elem)?, elem)
            };
            self.program.results.push(left);
        }
        self.program.steps = std::mem::take(&mut self.steps);
        self.program.cost = cost(function, block);
        self.program.weights = self.weights.drain().map(|(times, gain)| Weight { times, gain }).collect();
        Ok(())
    }

    fn param(&mut self, param: RegId) -> Made<()> {
        let ty = self.function.regs[param];
        let owner = self.base();
        let (base, offset, stride) = (self.number(), self.number(), self.number());
        let dims = (0..ty.rank).map(|_| (self.early_number(), self.number())).collect();
        let across = Across::Stride(stride);
        let row = View { base, offset, across, dims, elem: ty.elem, owner, overlaps: false };
        self.program.params.push(Param { row: row.clone(), packed: None });
        if ty.is_scalar() {
            let value = self.load(&row)?;
            self.values.insert(param, value);
        } else {
            self.define_view(param, row);
        }
        Ok(())
    }

    pub(super) fn is_array(&self, reg: RegId) -> bool {
        !self.function.regs[reg].is_scalar()
    }

    pub(super) fn elem(&self, reg: RegId) -> ElemType {
        self.function.regs[reg].elem
    }

    pub(super) fn varies(&self, reg: RegId) -> bool {
        self.varying.contains(&reg)
    }

    pub(super) fn emit(&mut self, step: Step) {
        if !self.elementwise
            && !self.loops.is_empty()
            && matches!(step, Step::Many1 { .. } | Step::Many2 { .. } | Step::Many3 { .. })
        {
            self.weigh(1.0);
        }
        self.steps.push(step);
    }

    /// What code here is worth, for each time that it is executed.
    pub(super) fn weigh(&mut self, gain: f64) {
        *self.weights.entry(self.loops.clone()).or_default() += gain;
    }

    /// An operator that would be executed block by block otherwise.
    pub(super) fn weigh_entry(&mut self) {
        self.weigh(ENTRY);
    }

    /// The steps that something emits.
    pub(super) fn apart(&mut self, f: impl FnOnce(&mut Self) -> Made<()>) -> Made<Vec<Step>> {
        let outer = std::mem::take(&mut self.steps);
        let outcome = f(self);
        let steps = std::mem::replace(&mut self.steps, outer);
        outcome.map(|()| steps)
    }

    /// The steps of a loop's turn.
    pub(super) fn turn(
        &mut self,
        bound: Option<Number>,
        f: impl FnOnce(&mut Self) -> Made<()>,
    ) -> Made<Vec<Step>> {
        let bound = bound.and_then(|bound| self.if_early(bound));
        self.loops.push(bound);
        let outer = std::mem::replace(&mut self.level, self.next_level);
        self.next_level += 1;
        let steps = self.apart(f);
        self.level = outer;
        self.loops.pop();
        steps
    }

    pub(super) fn if_early(&self, number: Number) -> Option<Number> {
        self.early.contains(&number).then_some(number)
    }

    /// How many loops there are around.
    pub(super) fn depth(&self) -> usize {
        self.loops.len()
    }

    pub(super) fn number(&mut self) -> Number {
        self.program.numbers += 1;
        (self.program.numbers - 1) as Number
    }

    pub(super) fn early_number(&mut self) -> Number {
        let number = self.number();
        self.early.insert(number);
        number
    }

    pub(super) fn base(&mut self) -> usize {
        self.program.bases += 1;
        self.program.bases - 1
    }

    pub(super) fn lane(&mut self, width: usize) -> Made<Lane> {
        if self.program.lanes.len() >= MOST_LANES {
            return Err(TOO_LARGE);
        }
        self.program.lanes.push(width);
        self.levels.push(self.level);
        Ok((self.program.lanes.len() - 1) as Lane)
    }

    /// Whether a lane register is computed anew in each turn of the innermost loop.
    pub(super) fn is_of_this_turn(&self, lane: Lane) -> bool {
        self.levels[lane as usize] == self.level
    }

    pub(super) fn constant(&mut self, bits: Bits) -> Number {
        if let Some(number) = self.constants.get(&bits) {
            return *number;
        }
        let number = self.early_number();
        self.constants.insert(bits, number);
        self.program.constants.push((number, bits));
        number
    }

    /// A scalar that is used; those not known yet come from outside.
    pub(super) fn value(&mut self, reg: RegId) -> Made<Value> {
        if let Some(value) = self.values.get(&reg) {
            return Ok(*value);
        }
        if self.is_array(reg) {
            return Err(Refused::Because("an array where a scalar belongs"));
        }
        let number = self.early_number();
        self.program.scalars.push((reg, number));
        self.values.insert(reg, Value::One(number));
        Ok(Value::One(number))
    }

    /// A scalar that must be the same for all rows.
    pub(super) fn one(&mut self, reg: RegId) -> Made<Number> {
        match self.value(reg)? {
            Value::One(number) => Ok(number),
            Value::Many(_) => Err(Refused::Because(
                "an extent, a trip count or a place of a part that differs from row to row",
            )),
        }
    }

    pub(super) fn ones(&mut self, operands: &[Operand]) -> Made<Vec<Number>> {
        operands.iter().map(|operand| self.one(operand.reg)).collect()
    }

    /// A value as a lane register.
    pub(super) fn many(&mut self, value: Value, elem: ElemType) -> Made<Lane> {
        let number = match value {
            Value::Many(lane) => return Ok(lane),
            Value::One(number) => number,
        };
        let width = elem.bytes();
        if let Some(lane) = self.splats.get(&(number, width)) {
            return Ok(*lane);
        }
        let early = self.early.contains(&number);
        let outer = self.level;
        if early {
            self.level = 0;
        }
        let lane = self.lane(width)?;
        self.level = outer;
        if early {
            self.splats.insert((number, width), lane);
            self.program.once.push(Step::Splat { dst: lane, a: number });
        } else {
            self.emit(Step::Splat { dst: lane, a: number });
        }
        Ok(lane)
    }

    /// The array of a register; those not known yet come from outside.
    pub(super) fn view(&mut self, reg: RegId) -> Made<View> {
        if let Some(view) = self.views.get(&reg) {
            return Ok(view.clone());
        }
        let ty = self.function.regs[reg];
        let owner = self.base();
        let base = self.constant(owner as Bits);
        let offset = self.early_number();
        let dims = (0..ty.rank).map(|_| (self.early_number(), self.early_number())).collect();
        let view = View { base, offset, across: Across::Same, dims, elem: ty.elem, owner, overlaps: false };
        self.program.arrays.push((reg, view.clone()));
        self.views.insert(reg, view.clone());
        Ok(view)
    }

    pub(super) fn define_view(&mut self, reg: RegId, view: View) {
        self.alive.insert(reg, view.owner);
        self.views.insert(reg, view);
    }

    /// A view of memory of the program's own, whose extents are not known yet.
    pub(super) fn own_view(&mut self, elem: ElemType, rank: usize, lanes: bool) -> View {
        let owner = self.base();
        self.own.insert(owner);
        let (base, offset) = (self.constant(owner as Bits), self.constant(0));
        let across = if lanes { Across::Stride(self.constant(1)) } else { Across::Same };
        let dims = (0..rank).map(|_| (self.number(), self.number())).collect();
        View { base, offset, across, dims, elem, owner, overlaps: false }
    }

    /// That memory is taken for each row.
    pub(super) fn need(&mut self, sizes: impl Iterator<Item = Number>, elem: ElemType) {
        let sizes: Option<SmallVec<[Number; 2]>> = sizes.map(|size| self.if_early(size)).collect();
        self.program.needs.push(Need { sizes, bytes: elem.bytes() });
    }

    /// The instructions of a block; its results are not looked at.
    pub(super) fn block(&mut self, id: BlockId) -> Made<()> {
        for instr in &self.function.blocks[id].code {
            self.instruction(instr)?;
            for operand in Fields::of(instr).operands {
                if operand.last {
                    self.alive.remove(&operand.reg);
                }
            }
        }
        Ok(())
    }

    /// Results of a block are used for the last time.
    pub(super) fn end_block(&mut self, id: BlockId) {
        for result in &self.function.blocks[id].results {
            if result.last {
                self.alive.remove(&result.reg);
            }
        }
    }

    fn instruction(&mut self, instr: &'a Instr) -> Made<()> {
        match instr {
            Instr::Const { dst, value } => {
                let number = self.constant(value.bits);
                self.values.insert(dst.0, Value::One(number));
                Ok(())
            }
            Instr::Op1 { dst, op, ty, a } => {
                let (one, many) = (functions::unary(*op, *ty), loops::unary(*op, *ty));
                self.unary(dst.0, *ty, *a, one.ok_or(NO_SUCH_OPERATION)?, many.ok_or(NO_SUCH_OPERATION)?)
            }
            Instr::Convert { dst, from, to, a } => {
                let (one, many) = (functions::conversion(*from, *to), loops::conversion(*from, *to));
                self.unary(dst.0, *from, *a, one, many)
            }
            Instr::Op2 { dst, op, ty, a, b } => {
                let result = match (self.value(a.reg)?, self.value(b.reg)?) {
                    (Value::One(a), Value::One(b)) => {
                        let run = functions::binary(*op, *ty).ok_or(NO_SUCH_OPERATION)?;
                        let dst = self.number();
                        self.emit(Step::One2 { run, dst, a, b });
                        Value::One(dst)
                    }
                    (first, second) => {
                        let run = loops::binary(*op, *ty).ok_or(NO_SUCH_OPERATION)?;
                        let (first, second) = (self.many(first, *ty)?, self.many(second, self.elem(b.reg))?);
                        let lane = self.lane(self.elem(dst.0).bytes())?;
                        let (op, ty, mask) = (*op, *ty, self.mask);
                        self.emit(Step::Many2 { run, dst: lane, a: first, b: second, op, ty, mask });
                        Value::Many(lane)
                    }
                };
                self.values.insert(dst.0, result);
                Ok(())
            }
            Instr::Op3 { dst, op, ty, a, b, c } => {
                let operands = [self.value(a.reg)?, self.value(b.reg)?, self.value(c.reg)?];
                let result = match operands {
                    [Value::One(a), Value::One(b), Value::One(c)] => {
                        let dst = self.number();
                        self.emit(Step::One3 { op: *op, ty: *ty, dst, args: [a, b, c] });
                        Value::One(dst)
                    }
                    [first, second, third] => {
                        let run = match op {
                            ScalarOp::Select => loops::selection(ty.bytes()),
                            _ => loops::ternary(*op, *ty).ok_or(NO_SUCH_OPERATION)?,
                        };
                        let a = self.many(first, self.elem(a.reg))?;
                        let b = self.many(second, self.elem(b.reg))?;
                        let c = self.many(third, self.elem(c.reg))?;
                        let lane = self.lane(self.elem(dst.0).bytes())?;
                        self.emit(Step::Many3 { run, dst: lane, a, b, c });
                        Value::Many(lane)
                    }
                };
                self.values.insert(dst.0, result);
                Ok(())
            }
            Instr::Assert { cond, .. } => {
                let (cond, mask) = (self.value(cond.reg)?, self.mask);
                self.emit(Step::Check { cond, mask });
                Ok(())
            }
            Instr::Fail { dsts, .. } => {
                self.emit(Step::Fail);
                for dst in dsts {
                    if self.is_array(dst.0) {
                        return Err(Refused::Because("an array that never gets a value"));
                    }
                    let zero = self.constant(0);
                    self.values.insert(dst.0, Value::One(zero));
                }
                Ok(())
            }
            Instr::If { dsts, cond, then, otherwise } => self.branch(dsts, *cond, [*then, *otherwise]),
            Instr::For { dsts, bound, init, body } => self.count(dsts, *bound, init, *body),
            Instr::While { dsts, init, cond, body } => self.repeat(dsts, init, *cond, *body),
            Instr::Map { .. } | Instr::Reduce { .. } | Instr::Scan { .. } | Instr::Redomap { .. } => {
                self.operator(instr)
            }
            _ => self.array_instruction(instr),
        }
    }

    fn unary(
        &mut self,
        dst: RegId,
        ty: ElemType,
        a: Operand,
        one: functions::Function1,
        many: loops::Kernel1,
    ) -> Made<()> {
        let result = match self.value(a.reg)? {
            Value::One(a) => {
                let dst = self.number();
                self.emit(Step::One1 { run: one, dst, a });
                Value::One(dst)
            }
            value @ Value::Many(_) => {
                let a = self.many(value, ty)?;
                let lane = self.lane(self.elem(dst).bytes())?;
                self.emit(Step::Many1 { run: many, dst: lane, a });
                Value::Many(lane)
            }
        };
        self.values.insert(dst, result);
        Ok(())
    }
}
