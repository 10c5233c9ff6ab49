//! Scalars, branches, loops and calls of the shadow, and how it reads.

use super::plain::Plain;
use super::sensitivity::Chance;
use super::{Halt, Held, Step};
use galopvm_base::scalar::{convert, eval1, eval2, eval3};
use galopvm_base::{Bits, ElemType, TypedId};
use galopvm_bytecode::{
    BlockId, Def, FuncId, Function, Instr, Module, Operand, RegId, module::BODY, on_arrays,
};
use galopvm_interp::Registers;

/// Calls and blocks nested in each other that the shadow goes into.
const MOST_DEPTH: u32 = 100;

/// The running program where it has stopped.
#[derive(Clone, Copy)]
pub(super) struct Real<'s> {
    pub registers: &'s Registers<'s>,
    /// Whether its arrays are looked at.
    pub looks: bool,
}

/// Executes instructions on the registers of one call.
pub(super) struct Evaluator<'s> {
    module: &'s Module,
    code: &'s Function,
    real: Real<'s>,
    frame: &'s mut Vec<Option<Held>>,
    left: &'s mut u64,
    compared: &'s mut u64,
    depth: u32,
    /// Whether the language leaves open what came out.
    pub open: bool,
    /// By what floats are rounded otherwise.
    chance: Option<Chance>,
}

impl<'s> Evaluator<'s> {
    pub fn new(
        module: &'s Module,
        real: Real<'s>,
        frame: &'s mut Vec<Option<Held>>,
        (left, compared): (&'s mut u64, &'s mut u64),
    ) -> Evaluator<'s> {
        let code = real.registers.code;
        Evaluator { module, code, real, frame, left, compared, depth: 0, open: false, chance: None }
    }

    /// From now on floats are rounded otherwise.
    pub fn shake(&mut self, number: u64) {
        self.chance = Some(Chance::new(number));
    }

    /// Counts steps.
    pub fn pay(&mut self, steps: i64) -> Step<()> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        match self.left.checked_sub(steps) {
            Some(left) => {
                *self.left = left;
                Ok(())
            }
            None => {
                *self.left = 0;
                Err(Halt::Unknown)
            }
        }
    }

    pub fn held(&self, reg: RegId) -> Step<&Held> {
        self.frame[reg.index()].as_ref().ok_or(Halt::Unknown)
    }

    pub fn bits(&self, operand: Operand) -> Step<Bits> {
        match self.held(operand.reg)? {
            Held::Scalar(bits) => Ok(*bits),
            Held::Array(_) => Err(Halt::Unknown),
        }
    }

    pub fn int(&self, operand: Operand) -> Step<i64> {
        self.bits(operand).map(|bits| bits as i64)
    }

    pub fn ints(&self, operands: &[Operand]) -> Step<Vec<i64>> {
        operands.iter().map(|operand| self.int(*operand)).collect()
    }

    /// An array, shared.
    pub fn array(&self, operand: Operand) -> Step<Plain> {
        match self.held(operand.reg)? {
            Held::Array(array) => Ok(array.clone()),
            Held::Scalar(_) => Err(Halt::Unknown),
        }
    }

    /// An array, out of its register if that is its last use.
    pub fn take_array(&mut self, operand: Operand) -> Step<Plain> {
        let array = self.array(operand)?;
        if operand.last {
            self.frame[operand.reg.index()] = None;
        }
        Ok(array)
    }

    pub fn arrays(&self, operands: &[Operand]) -> Step<Vec<Plain>> {
        operands.iter().map(|operand| self.array(*operand)).collect()
    }

    pub fn is_array(&self, reg: RegId) -> bool {
        !self.code.regs[reg].is_scalar()
    }

    pub fn elem(&self, reg: RegId) -> ElemType {
        self.code.regs[reg].elem
    }

    pub fn params(&self, block: BlockId) -> &'s [RegId] {
        &self.code.blocks[block].params
    }

    pub fn results(&self, block: BlockId) -> &'s [Operand] {
        &self.code.blocks[block].results
    }

    pub fn hold(&mut self, reg: RegId, held: Held) {
        self.frame[reg.index()] = Some(held);
    }

    pub fn set_bits(&mut self, reg: RegId, bits: Bits) {
        self.frame[reg.index()] = Some(Held::Scalar(bits));
    }

    /// What an operation on scalars gives.
    fn set_computed(&mut self, reg: RegId, bits: Bits) {
        let elem = self.elem(reg);
        let bits = match &mut self.chance {
            Some(chance) if elem.is_float() => chance.beside(elem, bits),
            _ => bits,
        };
        self.set_bits(reg, bits);
    }

    pub fn set_array(&mut self, reg: RegId, array: Plain) {
        self.frame[reg.index()] = Some(Held::Array(array));
    }

    /// The element at a place of an array: the program must have the same one there.
    pub fn load(&mut self, array: &Plain, place: i64) -> Step<Bits> {
        self.pay(1)?;
        if let Some(reg) = array.home.filter(|_| self.real.looks)
            && let Some(real) = self.real.registers.array_of(reg)
            && !real.is_unmade()
        {
            *self.compared += 1;
            if let Some(difference) = array.contradicted_by(real, place) {
                return Err(Halt::Wrong(format!("It reads: {}", difference.text(array.elem, reg))));
            }
        }
        Ok(array.at(place))
    }

    /// Puts row `i` of each array into a register.
    pub fn set_rows(&mut self, params: &[RegId], arrays: &[Plain], i: i64) -> Step<()> {
        for (param, array) in params.iter().zip(arrays) {
            let row = array.view.fix(0, i);
            if row.rank() == 0 {
                let bits = self.load(array, row.offset)?;
                self.set_bits(*param, bits);
            } else {
                self.set_array(*param, array.seen(row));
            }
        }
        Ok(())
    }

    /// The values of operands, out of their registers where that is the last use.
    fn take(&mut self, operands: &[Operand]) -> Step<Vec<Held>> {
        let mut values = Vec::with_capacity(operands.len());
        for operand in operands {
            let place = &mut self.frame[operand.reg.index()];
            let value = if operand.last { place.take() } else { place.clone() };
            values.push(value.ok_or(Halt::Unknown)?);
        }
        Ok(values)
    }

    fn put(&mut self, regs: impl IntoIterator<Item = RegId>, values: Vec<Held>) {
        for (reg, value) in regs.into_iter().zip(values) {
            self.frame[reg.index()] = Some(value);
        }
    }

    /// Registers get the values of operands, as if all at once.
    pub fn moves(&mut self, from: &[Operand], to: impl IntoIterator<Item = RegId>) -> Step<()> {
        let values = self.take(from)?;
        self.put(to, values);
        Ok(())
    }

    /// Every instruction of a block.
    pub fn block(&mut self, block: BlockId) -> Step<()> {
        if self.depth >= MOST_DEPTH {
            return Err(Halt::Unknown);
        }
        self.depth += 1;
        let code = self.code;
        let outcome = code.blocks[block].code.iter().try_for_each(|instr| self.instruction(instr));
        self.depth -= 1;
        outcome
    }

    pub fn instruction(&mut self, instr: &Instr) -> Step<()> {
        self.pay(1)?;
        match instr {
            Instr::Const { dst, value } => self.set_bits(dst.0, value.bits),
            Instr::Op1 { dst, op, ty, a } => {
                let bits = eval1(*op, *ty, self.bits(*a)?);
                self.set_computed(dst.0, bits);
            }
            Instr::Op2 { dst, op, ty, a, b } => {
                let bits = eval2(*op, *ty, self.bits(*a)?, self.bits(*b)?).map_err(|_| Halt::Trap)?;
                self.set_computed(dst.0, bits);
            }
            Instr::Op3 { dst, op, ty, a, b, c } => {
                let bits = eval3(*op, *ty, self.bits(*a)?, self.bits(*b)?, self.bits(*c)?);
                self.set_computed(dst.0, bits);
            }
            Instr::Convert { dst, from, to, a } => {
                let bits = convert(*from, *to, self.bits(*a)?);
                self.set_bits(dst.0, bits);
            }
            Instr::If { dsts, cond, then, otherwise } => {
                let taken = if self.bits(*cond)? != 0 { *then } else { *otherwise };
                self.block(taken)?;
                self.moves(self.results(taken), dsts.iter().map(|dst| dst.0))?;
            }
            Instr::For { dsts, bound, init, body } => self.count(dsts, *bound, init, *body)?,
            Instr::While { dsts, init, cond, body } => self.repeat(dsts, init, *cond, *body)?,
            Instr::Call { dsts, function, args } => self.call(dsts, *function, args)?,
            Instr::Assert { cond, .. } => {
                if self.bits(*cond)? == 0 {
                    return Err(Halt::Trap);
                }
            }
            Instr::Fail { .. } => return Err(Halt::Trap),
            Instr::Trace { values, .. } => self.look_at(values)?,
            // Only the host knows.
            Instr::Param { .. } => return Err(Halt::Unknown),
            Instr::Map { .. }
            | Instr::Reduce { .. }
            | Instr::Scan { .. }
            | Instr::Redomap { .. }
            | Instr::Filter { .. }
            | Instr::Partition { .. } => self.operator(instr)?,
            Instr::Scatter { .. } | Instr::Hist { .. } | Instr::Stream { .. } | Instr::AccWrite { .. } => {
                self.at_computed_places(instr)?;
            }
            on_arrays!() => self.on_arrays(instr)?,
        }
        Ok(())
    }

    /// Reads all elements of arrays that the program shows; scalars were compared when they were defined.
    fn look_at(&mut self, values: &[Operand]) -> Step<()> {
        for value in values {
            if !self.is_array(value.reg) {
                continue;
            }
            let array = self.take_array(*value)?;
            for place in array.view.places() {
                self.load(&array, place)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, dsts: &[Def], bound: Operand, init: &[Operand], body: BlockId) -> Step<()> {
        let bound = self.int(bound)?;
        let Some((counter, carried)) = self.params(body).split_first() else { return Err(Halt::Unknown) };
        let mut values = self.take(init)?;
        for i in 0..bound {
            self.set_bits(*counter, i as Bits);
            self.put(carried.iter().copied(), values);
            self.block(body)?;
            values = self.take(self.results(body))?;
        }
        self.put(dsts.iter().map(|dst| dst.0), values);
        Ok(())
    }

    fn repeat(&mut self, dsts: &[Def], init: &[Operand], cond: BlockId, body: BlockId) -> Step<()> {
        let (test, carried) = (self.params(cond), self.params(body));
        let [answer] = self.results(cond) else { return Err(Halt::Unknown) };
        let mut values = self.take(init)?;
        loop {
            self.put(test.iter().copied(), values.clone());
            self.block(cond)?;
            if self.bits(*answer)? == 0 {
                break;
            }
            self.put(carried.iter().copied(), values);
            self.block(body)?;
            values = self.take(self.results(body))?;
        }
        self.put(dsts.iter().map(|dst| dst.0), values);
        Ok(())
    }

    fn call(&mut self, dsts: &[Def], function: FuncId, args: &[Operand]) -> Step<()> {
        let args = self.take(args)?;
        let code = &self.module.functions[function];
        let mut frame = vec![None; code.regs.len()];
        let mut callee = Evaluator {
            module: self.module,
            code,
            real: self.real,
            frame: &mut frame,
            left: self.left,
            compared: self.compared,
            depth: self.depth,
            open: self.open,
            chance: self.chance,
        };
        callee.put(code.params.iter().copied(), args);
        callee.block(BODY)?;
        let results = callee.take(&code.blocks[BODY].results)?;
        (self.open, self.chance) = (callee.open, callee.chance);
        self.put(dsts.iter().map(|dst| dst.0), results);
        Ok(())
    }
}
