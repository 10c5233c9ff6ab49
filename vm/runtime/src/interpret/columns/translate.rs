//! From the block of an operator to a column program.
//!
//! Values are told apart: numbers are the same for all rows and are computed once, lines grow by the same number from row to
//! row, columns differ. Reading at lines is reading another view of the array, not element by element. Both branches of an
//! `if` are computed for all rows, and a mask picks; what could trap in a branch looks at the mask of its rows. Code with
//! loops, calls, or arrays of its own is refused.

use super::program::{Column, Gathered, Input, Line, Number, Once, Place, Program, Step};
use crate::interpret::refused::{Made, NO_SUCH_OPERATION, Refused, TOO_LARGE};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Def, Function, Instr, Operand, RegId};
use galopvm_vector::loops;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Columns of a program at most.
const MOST_COLUMNS: usize = 4000;

#[derive(Clone, Copy)]
enum Value {
    Number(Number),
    Line(Line),
    Column(Column),
}

struct Translator<'a> {
    function: &'a Function,
    program: Program,
    values: HashMap<RegId, Value>,
    /// Array parameters.
    rows: HashMap<RegId, u16>,
    constants: HashMap<Bits, Number>,
    splats: HashMap<(Number, usize), Column>,
    counts: HashMap<Line, Column>,
    /// The rows that the code being translated is executed for; nothing: all.
    mask: Option<Column>,
}

/// The program of a block that takes rows of arrays. Its results become outputs, or stay columns for `reduce`.
pub(super) fn translate(
    function: &Function,
    block: BlockId,
    arrays: &[Operand],
    outputs: bool,
) -> Made<Program> {
    let code = &function.blocks[block];
    if code.results.iter().any(|result| !function.regs[result.reg].is_scalar()) {
        return Err(Refused::Because("rows that are arrays"));
    }
    let mut translator = Translator::new(function);
    translator.params(&code.params, arrays)?;
    translator.block(block)?;
    let results: Vec<RegId> = code.results.iter().map(|result| result.reg).collect();
    translator.finish(&results, outputs)
}

/// The program whose results are the rows themselves.
pub(super) fn rows(function: &Function, params: &[RegId], arrays: &[Operand]) -> Made<Program> {
    if params.iter().any(|param| !function.regs[*param].is_scalar()) {
        return Err(Refused::Because("rows that are arrays"));
    }
    let mut translator = Translator::new(function);
    translator.params(params, arrays)?;
    translator.finish(params, false)
}

/// First number and step of an array that is a range.
fn range(function: &Function, array: RegId) -> Option<(RegId, RegId)> {
    let mut code = function.blocks.iter().flat_map(|block| &block.code);
    code.find_map(|instr| match instr {
        Instr::Iota { dst, ty: ElemType::I64, start, step, .. } if dst.0 == array => {
            Some((start.reg, step.reg))
        }
        _ => None,
    })
}

impl<'a> Translator<'a> {
    fn new(function: &'a Function) -> Translator<'a> {
        Translator {
            function,
            program: Program::default(),
            values: HashMap::new(),
            rows: HashMap::new(),
            constants: HashMap::new(),
            splats: HashMap::new(),
            counts: HashMap::new(),
            mask: None,
        }
    }

    fn params(&mut self, params: &[RegId], arrays: &[Operand]) -> Made<()> {
        for (k, (param, array)) in params.iter().zip(arrays).enumerate() {
            let k = u16::try_from(k).map_err(|_| TOO_LARGE)?;
            if !self.function.regs[*param].is_scalar() {
                self.rows.insert(*param, k);
            } else if let Some((start, step)) = range(self.function, array.reg) {
                let (start, step) = (self.outside(start)?, self.outside(step)?);
                let before = self.first()?;
                let before = self.computed(ScalarOp::Mul, step, before)?;
                let start = self.computed(ScalarOp::Add, start, before)?;
                self.values.insert(*param, Value::Line(Line { start, step }));
            } else {
                let (column, _) = self.input(Input::Rows(k), self.elem(*param))?;
                self.values.insert(*param, Value::Column(column));
            }
        }
        Ok(())
    }

    /// A column that is there, and its number among these.
    fn input(&mut self, input: Input, elem: ElemType) -> Made<(Column, u16)> {
        let column = self.column(elem)?;
        let number = u16::try_from(self.program.inputs.len()).map_err(|_| TOO_LARGE)?;
        self.program.places[usize::from(column)] = Place::Input(number);
        self.program.inputs.push(input);
        Ok((column, number))
    }

    fn elem(&self, reg: RegId) -> ElemType {
        self.function.regs[reg].elem
    }

    /// A new column; where it is, is decided at the end.
    fn column(&mut self, elem: ElemType) -> Made<Column> {
        if self.program.widths.len() >= MOST_COLUMNS {
            return Err(TOO_LARGE);
        }
        self.program.widths.push(elem.bytes());
        self.program.places.push(Place::Buffer(u16::MAX));
        Ok((self.program.widths.len() - 1) as Column)
    }

    fn number(&mut self) -> Made<Number> {
        let number = Number::try_from(self.program.numbers).map_err(|_| TOO_LARGE)?;
        self.program.numbers += 1;
        Ok(number)
    }

    fn constant(&mut self, bits: Bits) -> Made<Number> {
        if let Some(number) = self.constants.get(&bits) {
            return Ok(*number);
        }
        let number = self.number()?;
        self.constants.insert(bits, number);
        self.program.constants.push((number, bits));
        Ok(number)
    }

    /// The value of a scalar; those not known yet come from outside.
    fn value(&mut self, reg: RegId) -> Made<Value> {
        if let Some(value) = self.values.get(&reg) {
            return Ok(*value);
        }
        let number = self.outside(reg)?;
        self.values.insert(reg, Value::Number(number));
        Ok(Value::Number(number))
    }

    /// A scalar from outside.
    fn outside(&mut self, reg: RegId) -> Made<Number> {
        let number = self.number()?;
        self.program.free.push((reg, number));
        Ok(number)
    }

    /// The first row's number.
    fn first(&mut self) -> Made<Number> {
        if let Some(number) = self.program.first {
            return Ok(number);
        }
        let number = self.number()?;
        self.program.first = Some(number);
        Ok(number)
    }

    /// What an operation gives on two `i64`.
    fn computed(&mut self, op: ScalarOp, a: Number, b: Number) -> Made<Number> {
        let number = self.number()?;
        let args = SmallVec::from_slice(&[a, b]);
        self.program.once.push(Once::Op { op, ty: ElemType::I64, dst: number, args });
        Ok(number)
    }

    /// The numbers of a line as a column.
    fn count(&mut self, line: Line) -> Made<Column> {
        if let Some(column) = self.counts.get(&line) {
            return Ok(*column);
        }
        let dst = self.column(ElemType::I64)?;
        self.program.steps.push(Step::Count { dst, line });
        self.counts.insert(line, dst);
        Ok(dst)
    }

    /// A value as a column of elements of this type.
    fn as_column(&mut self, value: Value, elem: ElemType) -> Made<Column> {
        match value {
            Value::Column(column) => Ok(column),
            Value::Line(line) => self.count(line),
            Value::Number(number) => {
                let key = (number, elem.bytes());
                if let Some(column) = self.splats.get(&key) {
                    return Ok(*column);
                }
                let column = self.column(elem)?;
                self.splats.insert(key, column);
                self.program.splats.push((number, column));
                Ok(column)
            }
        }
    }

    fn operand(&mut self, operand: Operand) -> Made<Column> {
        let value = self.value(operand.reg)?;
        self.as_column(value, self.elem(operand.reg))
    }

    /// All operands as numbers, if they are.
    fn numbers<const N: usize>(&mut self, operands: &[Operand]) -> Made<Option<SmallVec<[Number; N]>>>
    where
        [Number; N]: smallvec::Array<Item = Number>,
    {
        let mut numbers = SmallVec::new();
        for operand in operands {
            match self.value(operand.reg)? {
                Value::Number(number) => numbers.push(number),
                Value::Line(_) | Value::Column(_) => return Ok(None),
            }
        }
        Ok(Some(numbers))
    }

    fn define(&mut self, dst: Def, value: Value) {
        self.values.insert(dst.0, value);
    }

    fn step(&mut self, dst: Def, step: impl FnOnce(Column) -> Step) -> Made<()> {
        let column = self.column(self.elem(dst.0))?;
        self.program.steps.push(step(column));
        self.define(dst, Value::Column(column));
        Ok(())
    }

    fn block(&mut self, block: BlockId) -> Made<()> {
        let function = self.function;
        function.blocks[block].code.iter().try_for_each(|instr| self.instruction(instr))
    }

    fn instruction(&mut self, instr: &Instr) -> Made<()> {
        match instr {
            Instr::Const { dst, value } => {
                let number = self.constant(value.bits)?;
                self.define(*dst, Value::Number(number));
                Ok(())
            }
            Instr::Op1 { dst, op, ty, a } => self.operation(*dst, *op, *ty, &[*a]),
            Instr::Op2 { dst, op, ty, a, b } => self.operation(*dst, *op, *ty, &[*a, *b]),
            Instr::Op3 { dst, op, ty, a, b, c } => self.operation(*dst, *op, *ty, &[*a, *b, *c]),
            Instr::Convert { dst, from, to, a } => {
                if let Value::Number(a) = self.value(a.reg)? {
                    let number = self.number()?;
                    self.program.once.push(Once::Convert { from: *from, to: *to, dst: number, a });
                    self.define(*dst, Value::Number(number));
                    return Ok(());
                }
                let a = self.operand(*a)?;
                let run = loops::conversion(*from, *to);
                self.step(*dst, |dst| Step::One { run, dst, a })
            }
            Instr::If { dsts, cond, then, otherwise } => self.branch(dsts, *cond, *then, *otherwise),
            Instr::Assert { cond, .. } => {
                let cond = self.operand(*cond)?;
                self.program.steps.push(Step::Check { cond, mask: self.mask });
                Ok(())
            }
            Instr::Fail { dsts, .. } => {
                let zero = self.constant(0)?;
                let cond = self.as_column(Value::Number(zero), ElemType::Bool)?;
                self.program.steps.push(Step::Check { cond, mask: self.mask });
                if dsts.iter().any(|dst| !self.function.regs[dst.0].is_scalar()) {
                    return Err(Refused::Because("an array that never gets a value"));
                }
                dsts.iter().for_each(|dst| self.define(*dst, Value::Number(zero)));
                Ok(())
            }
            Instr::Dim { dst, array, dim } => {
                let array = self.gathered(array.reg)?;
                let number = self.number()?;
                self.program.once.push(Once::Extent { dst: number, array, dim: *dim });
                self.define(*dst, Value::Number(number));
                Ok(())
            }
            Instr::Index { dst, array, index } => self.index(*dst, *array, index),
            _ => Err(Refused::instruction(instr)),
        }
    }

    /// An array that the code may read: a parameter or one from outside, since the code makes none.
    fn gathered(&mut self, reg: RegId) -> Made<Gathered> {
        Ok(self.rows.get(&reg).map_or(Gathered::Free(reg), |k| Gathered::Rows(*k)))
    }

    fn operation(&mut self, dst: Def, op: ScalarOp, ty: ElemType, operands: &[Operand]) -> Made<()> {
        // A number that may have no value, and is wanted for some rows only, is left to those.
        let once = self.mask.is_none() || !op.can_trap(ty);
        if let Some(args) = self.numbers(operands)?.filter(|_| once) {
            let number = self.number()?;
            self.program.once.push(Once::Op { op, ty, dst: number, args });
            self.define(dst, Value::Number(number));
            return Ok(());
        }
        if let (ElemType::I64, [a, b]) = (ty, operands)
            && let Some(line) = self.line(op, *a, *b)?
        {
            self.define(dst, Value::Line(line));
            return Ok(());
        }
        match *operands {
            [a] => {
                let a = self.operand(a)?;
                let run = loops::unary(op, ty).ok_or(NO_SUCH_OPERATION)?;
                self.step(dst, |dst| Step::One { run, dst, a })
            }
            [a, b] => {
                let (a, mut b) = (self.operand(a)?, self.operand(b)?);
                let run = loops::binary(op, ty).ok_or(NO_SUCH_OPERATION)?;
                if let Some(mask) = self.mask.filter(|_| op.can_trap(ty)) {
                    // Rows that do not count divide by 1.
                    let one = self.constant(1)?;
                    let one = self.as_column(Value::Number(one), ty)?;
                    b = self.selected(mask, b, one, ty)?;
                }
                let traps = op.can_trap(ty);
                self.step(dst, |dst| Step::Two { run, dst, a, b, traps })
            }
            [a, b, c] => {
                let (a, b, c) = (self.operand(a)?, self.operand(b)?, self.operand(c)?);
                let run = match op {
                    ScalarOp::Select => loops::selection(ty.bytes()),
                    _ => loops::ternary(op, ty).ok_or(NO_SUCH_OPERATION)?,
                };
                self.step(dst, |dst| Step::Three { run, dst, a, b, c })
            }
            _ => Err(NO_SUCH_OPERATION),
        }
    }

    /// What an operation on lines and numbers gives, if that is a line.
    fn line(&mut self, op: ScalarOp, a: Operand, b: Operand) -> Made<Option<Line>> {
        let (a, b) = (self.value(a.reg)?, self.value(b.reg)?);
        let zero = self.constant(0)?;
        let as_line = |value| match value {
            Value::Number(start) => Some(Line { start, step: zero }),
            Value::Line(line) => Some(line),
            Value::Column(_) => None,
        };
        Ok(match (op, a, b) {
            (ScalarOp::Add | ScalarOp::Sub, a, b) => match (as_line(a), as_line(b)) {
                (Some(a), Some(b)) => Some(Line {
                    start: self.computed(op, a.start, b.start)?,
                    step: self.computed(op, a.step, b.step)?,
                }),
                _ => None,
            },
            (ScalarOp::Mul, Value::Line(line), Value::Number(by))
            | (ScalarOp::Mul, Value::Number(by), Value::Line(line)) => Some(Line {
                start: self.computed(op, line.start, by)?,
                step: self.computed(op, line.step, by)?,
            }),
            _ => None,
        })
    }

    fn selected(&mut self, mask: Column, yes: Column, no: Column, elem: ElemType) -> Made<Column> {
        let dst = self.column(elem)?;
        let run = loops::selection(elem.bytes());
        self.program.steps.push(Step::Three { run, dst, a: mask, b: yes, c: no });
        Ok(dst)
    }

    fn index(&mut self, dst: Def, array: Operand, index: &[Operand]) -> Made<()> {
        if !self.function.regs[dst.0].is_scalar() {
            return Err(Refused::Because("a part of an array"));
        }
        let gathered = self.gathered(array.reg)?;
        if let (Gathered::Free(array), None) = (gathered, self.mask)
            && let Some(index) = self.numbers(index)?
        {
            let number = self.number()?;
            self.program.once.push(Once::Element { dst: number, array, index });
            self.define(dst, Value::Number(number));
            return Ok(());
        }
        if let Some(index) = self.lines(index)? {
            let view = Input::View { array: gathered, index };
            let (column, input) = self.input(view, self.elem(dst.0))?;
            self.program.steps.push(Step::Inside { input, mask: self.mask });
            self.define(dst, Value::Column(column));
            return Ok(());
        }
        let index: Made<SmallVec<[Column; 2]>> = index.iter().map(|i| self.operand(*i)).collect();
        let (index, mask) = (index?, self.mask);
        let places = self.column(ElemType::I64)?;
        self.step(dst, |dst| Step::Gather { dst, places, array: gathered, index, mask })
    }

    /// All indices as lines, if they are lines and numbers.
    fn lines(&mut self, index: &[Operand]) -> Made<Option<SmallVec<[Line; 2]>>> {
        let zero = self.constant(0)?;
        let mut lines = SmallVec::new();
        for index in index {
            match self.value(index.reg)? {
                Value::Number(start) => lines.push(Line { start, step: zero }),
                Value::Line(line) => lines.push(line),
                Value::Column(_) => return Ok(None),
            }
        }
        Ok(Some(lines))
    }

    fn branch(&mut self, dsts: &[Def], cond: Operand, then: BlockId, otherwise: BlockId) -> Made<()> {
        let outer = self.mask;
        let cond = self.operand(cond)?;
        self.mask = Some(self.narrowed(outer, cond)?);
        let first = self.arm(then)?;
        let opposite = self.column(ElemType::Bool)?;
        let not = loops::unary(ScalarOp::Not, ElemType::Bool).ok_or(NO_SUCH_OPERATION)?;
        self.program.steps.push(Step::One { run: not, dst: opposite, a: cond });
        self.mask = Some(self.narrowed(outer, opposite)?);
        let second = self.arm(otherwise)?;
        self.mask = outer;
        for ((dst, yes), no) in dsts.iter().zip(first).zip(second) {
            let elem = self.elem(dst.0);
            let (yes, no) = (self.as_column(yes, elem)?, self.as_column(no, elem)?);
            let chosen = self.selected(cond, yes, no, elem)?;
            self.define(*dst, Value::Column(chosen));
        }
        Ok(())
    }

    fn arm(&mut self, block: BlockId) -> Made<Vec<Value>> {
        self.block(block)?;
        let function = self.function;
        let results = &function.blocks[block].results;
        if results.iter().any(|result| !function.regs[result.reg].is_scalar()) {
            return Err(Refused::Because("a branch that gives arrays"));
        }
        results.iter().map(|result| self.value(result.reg)).collect()
    }

    /// The rows of a mask for which a condition holds too.
    fn narrowed(&mut self, mask: Option<Column>, cond: Column) -> Made<Column> {
        let Some(mask) = mask else { return Ok(cond) };
        let dst = self.column(ElemType::Bool)?;
        let and = loops::binary(ScalarOp::And, ElemType::Bool).ok_or(NO_SUCH_OPERATION)?;
        self.program.steps.push(Step::Two { run: and, dst, a: mask, b: cond, traps: false });
        Ok(dst)
    }

    /// Decides where columns are.
    fn finish(mut self, results: &[RegId], outputs: bool) -> Made<Program> {
        for (k, reg) in results.iter().enumerate() {
            let value = self.value(*reg)?;
            let mut column = self.as_column(value, self.elem(*reg))?;
            if outputs {
                let computed = self.program.steps.iter().any(|step| step.targets().contains(&column));
                let taken = self.program.places[usize::from(column)] != Place::Buffer(u16::MAX);
                if !computed || taken {
                    // Somebody else's column cannot be the output.
                    let dst = self.column(self.elem(*reg))?;
                    self.program.steps.push(Step::Copy { dst, a: column });
                    column = dst;
                }
                self.program.places[usize::from(column)] =
                    Place::Output(u16::try_from(k).map_err(|_| TOO_LARGE)?);
            }
            self.program.results.push(column);
        }
        let mut program = self.program;
        drop_unused(&mut program);
        place_columns(&mut program);
        Ok(program)
    }
}

/// Drops steps that cannot trap and whose results nobody reads, as masks often are.
fn drop_unused(program: &mut Program) {
    let mut wanted = vec![false; program.widths.len()];
    program.results.iter().for_each(|column| wanted[usize::from(*column)] = true);
    let mut kept = Vec::with_capacity(program.steps.len());
    for step in std::mem::take(&mut program.steps).into_iter().rev() {
        let may_trap = matches!(
            step,
            Step::Two { traps: true, .. } | Step::Gather { .. } | Step::Inside { .. } | Step::Check { .. }
        );
        if may_trap || step.targets().iter().any(|column| wanted[usize::from(*column)]) {
            step.operands().iter().for_each(|column| wanted[usize::from(*column)] = true);
            kept.push(step);
        }
    }
    kept.reverse();
    program.steps = kept;
    program.splats.retain(|(_, column)| wanted[usize::from(*column)]);
}

/// Gives columns buffers: one that nobody reads any more leaves its buffer to later ones.
fn place_columns(program: &mut Program) {
    let mut last = vec![0; program.widths.len()];
    for (at, step) in program.steps.iter().enumerate() {
        step.operands().iter().for_each(|column| last[usize::from(*column)] = at);
    }
    program.results.iter().for_each(|column| last[usize::from(*column)] = usize::MAX);
    let mut count = 0u16;
    // What is the same for all blocks stays where it is.
    for (_, column) in &program.splats {
        program.places[usize::from(*column)] = Place::Buffer(count);
        last[usize::from(*column)] = usize::MAX;
        count += 1;
    }
    let mut free: Vec<u16> = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        let targets = step.targets();
        for column in &targets {
            let place = &mut program.places[usize::from(*column)];
            if *place == Place::Buffer(u16::MAX) {
                *place = Place::Buffer(free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                }));
            }
        }
        let done = |column: &&Column| last[usize::from(**column)] <= at;
        let mut operands = step.operands();
        operands.sort_unstable();
        operands.dedup();
        for column in operands.iter().chain(&targets).filter(done) {
            if let Place::Buffer(buffer) = program.places[usize::from(*column)] {
                free.push(buffer);
            }
        }
    }
    program.buffers = usize::from(count);
}
