//! The walk over the code of a region.

use super::idle::Idle;
use super::sizes::Definitions;
use super::{ByName, Code, Counter, Maker, Purpose, RecordRefusal, Recorded, Seen};
use crate::meaning::{Scalar, counted, scalar};
use galopvm_base::{ElemType, TypedId};
use galopvm_bytecode::{
    BlockId, CodeBlock, Def, FuncId, Function, Instr, Module, Operand, RegId, Scope, module::BODY, on_arrays,
};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{Exp, Name, Observed, ObservedParam, Region, Rhs, Stm, Type, Var, VarId, check};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Most statements of a region.
const MOST_STATEMENTS: usize = 2000;

pub(super) type Step<T> = Result<T, RecordRefusal>;

/// What a register stands for in the region.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// A constant or a name.
    Scalar(Exp),
    /// An array.
    Array(Rc<Named>),
}

/// An array of the region.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub var: VarId,
    pub elem: ElemType,
    pub shape: Vec<Exp>,
    /// What its rows are, if that can be said without reading it.
    pub rows: Option<Rows>,
}

/// Rows of an array that need not be read.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// `start + i * step`, both `i64`.
    Steps(Exp, Exp),
    /// Always the same scalar.
    Same(Exp),
}

/// The function to come back to after a call.
pub(super) struct Caller<'a> {
    code: &'a Function,
    env: Vec<Option<Known>>,
    idle: Option<&'a Idle>,
}

/// The region while it is made.
pub(super) struct Recorder<'a> {
    pub code: &'a Function,
    module: &'a Module,
    pub facts: &'a Code,
    purpose: Purpose,
    /// The instructions that are left out.
    idle: Option<&'a Idle>,
    value: &'a dyn Fn(RegId) -> Option<Seen>,
    /// The functions whose code is being gone through, outermost first.
    pub calls: Vec<FuncId>,
    /// Registers from outside whose arrays the region may use up, with the number of further holders each has.
    own: Vec<(RegId, u32)>,
    /// By register.
    env: Vec<Option<Known>>,
    pub region: Region,
    observed: Observed,
    /// The identities of blocks, by number.
    blocks: Vec<usize>,
    /// The statements of the bodies that are open, innermost last.
    pub open: Vec<Vec<Stm>>,
    statements: usize,
    pub registers: ByName<RegId>,
    pub inner: ByName<(FuncId, RegId)>,
    pub makers: ByName<Maker>,
    pub counters: ByName<Counter>,
    pub definitions: Definitions,
    /// Arrays that never get a value.
    pub never: BTreeSet<VarId>,
    /// Arrays with elements that were said without reading them.
    pub unread: BTreeSet<VarId>,
}

/// Records what is about to run. `value` tells what the registers hold that are defined outside.
pub fn record(
    module: &Module,
    function: FuncId,
    scope: Scope,
    value: &dyn Fn(RegId) -> Option<Seen>,
) -> Result<Recorded, RecordRefusal> {
    record_for(Purpose::Everything, (module, &Code::new(module)), function, scope, value)
}

/// The same for a purpose, with facts of the module's code.
pub fn record_for(
    purpose: Purpose,
    (module, facts): (&Module, &Code),
    function: FuncId,
    scope: Scope,
    value: &dyn Fn(RegId) -> Option<Seen>,
) -> Result<Recorded, RecordRefusal> {
    let refusal = || RecordRefusal { reason: "there is no such code".into() };
    let code = module.functions.get(function).ok_or_else(refusal)?;
    let mut recorder = Recorder {
        code,
        module,
        facts,
        purpose,
        idle: idle(facts, purpose, function, code, false),
        value,
        calls: vec![function],
        own: Vec::new(),
        env: unknown(code),
        region: Region { name: galopvm_kir::text::as_name(&code.name), ..Region::default() },
        observed: Observed::default(),
        blocks: Vec::new(),
        open: vec![Vec::new()],
        statements: 0,
        registers: ByName::default(),
        inner: ByName::default(),
        makers: ByName::default(),
        counters: ByName::default(),
        definitions: Definitions::default(),
        never: BTreeSet::new(),
        unread: BTreeSet::new(),
    };
    let results = match scope {
        Scope::Function => {
            recorder.own(code.params.iter().map(|param| (*param, true)));
            recorder.block(BODY)?;
            code.blocks[BODY].results.clone()
        }
        Scope::Round { body } => {
            let block = code.blocks.get(body).ok_or_else(refusal)?;
            recorder.own(block.params.iter().map(|param| (*param, true)));
            recorder.block(body)?;
            block.results.clone()
        }
        Scope::Loop { block, index } => {
            let instr = code.blocks.get(block).and_then(|b| b.code.get(index)).ok_or_else(refusal)?;
            let (Instr::For { init, dsts, .. } | Instr::While { init, dsts, .. }) = instr else {
                return Err(refusal());
            };
            recorder.own(init.iter().map(|operand| (operand.reg, operand.last)));
            recorder.instruction(block, index, instr)?;
            dsts.iter().map(|dst| Operand::new(dst.0)).collect()
        }
    };
    recorder.finish(&results)
}

/// The instructions of a function that are left out.
fn idle<'a>(
    facts: &'a Code,
    purpose: Purpose,
    function: FuncId,
    code: &Function,
    is_called: bool,
) -> Option<&'a Idle> {
    match purpose {
        Purpose::Everything => None,
        Purpose::Places => facts.idle(function, code, is_called),
        Purpose::Layouts => facts.idle(function, code, is_called).filter(|idle| !idle.has_data),
    }
}

/// Nothing is known of any register of a function.
fn unknown(code: &Function) -> Vec<Option<Known>> {
    let mut env = Vec::new();
    env.resize_with(code.regs.len(), || None);
    env
}

impl<'a> Recorder<'a> {
    /// Says which registers' arrays may be used up, and whether the region is their last use.
    fn own(&mut self, regs: impl Iterator<Item = (RegId, bool)>) {
        let mut arrays: Vec<(RegId, bool, usize, u32)> = Vec::new();
        for (reg, last) in regs {
            if self.is_array(reg)
                && arrays.iter().all(|(other, ..)| *other != reg)
                && let Some(Seen::Array { block, references, .. }) = (self.value)(reg)
            {
                arrays.push((reg, last, block, references));
            }
        }
        for (reg, last, block, references) in &arrays {
            let holders = arrays.iter().filter(|(_, _, other, _)| other == block).count() as u32;
            let further = references.saturating_sub(holders) + u32::from(!last);
            self.own.push((*reg, further));
        }
    }

    fn finish(mut self, results: &[Operand]) -> Result<Recorded, RecordRefusal> {
        let mut names = Vec::new();
        for operand in results {
            names.push(match self.known(operand.reg)? {
                Known::Array(array) if self.is_sized(&array) => Exp::Var(array.var),
                // The shape of a result has to be known at entry. What matters is that somebody reads the array.
                Known::Array(array) => {
                    let var = self.temporary(Type::scalar(ElemType::I64));
                    let used = Exp::Opaque("result".into(), vec![Exp::Var(array.var)]);
                    self.push(vec![var], Rhs::Exps(vec![used]))?;
                    Exp::Var(var)
                }
                Known::Scalar(Exp::Var(var)) => Exp::Var(var),
                Known::Scalar(exp) => {
                    let elem = self.code.regs[operand.reg].elem;
                    let var = self.temporary(Type::scalar(elem));
                    self.push(vec![var], Rhs::Exps(vec![exp]))?;
                    Exp::Var(var)
                }
            });
        }
        self.region.body.stms = self.open.pop().unwrap_or_default();
        self.region.body.results = names;
        let region = check(self.region).map_err(|errors| {
            let first = errors.first().map_or_else(String::new, ToString::to_string);
            RecordRefusal { reason: format!("the recorded region is not well-formed: {first}") }
        })?;
        let Recorder { observed, registers, inner, makers, counters, unread, .. } = self;
        Ok(Recorded { region, observed, registers, inner, makers, counters, unread })
    }

    /// Whether all extents of an array are numbers.
    fn is_sized(&self, array: &Named) -> bool {
        let mut known = true;
        array.shape.iter().for_each(|extent| extent.each_use(&mut |_| known = false));
        known
    }

    /// Ends the recording: the instruction at this place cannot be described.
    pub fn refuse<T>(&self, block: BlockId, index: usize, what: &str) -> Step<T> {
        let place = self.code.blocks[block].place(index).and_then(|place| {
            let file = self.module.files.get(place.file as usize)?;
            Some(format!("{file}:{}:{}: ", place.start.line, place.start.column))
        });
        Err(RecordRefusal { reason: format!("{}{what}", place.unwrap_or_default()) })
    }

    /// Whether a function of the module has this form.
    pub fn callee(&self, function: FuncId) -> &'a Function {
        &self.module.functions[function]
    }

    /// Goes on with the code of another function, whose parameters stand for these values; gives what to come back to.
    /// Nothing if that function is gone through already.
    pub fn enter_function(&mut self, function: FuncId, args: Vec<Known>) -> Option<Caller<'a>> {
        if self.calls.contains(&function) {
            return None;
        }
        let code = &self.module.functions[function];
        let mut env = unknown(code);
        for (param, arg) in code.params.iter().zip(args) {
            env[param.index()] = Some(arg);
        }
        self.calls.push(function);
        Some(Caller {
            idle: std::mem::replace(&mut self.idle, idle(self.facts, self.purpose, function, code, true)),
            code: std::mem::replace(&mut self.code, code),
            env: std::mem::replace(&mut self.env, env),
        })
    }

    /// Comes back to the caller.
    pub fn leave_function(&mut self, caller: Caller<'a>) {
        self.calls.pop();
        self.code = caller.code;
        self.idle = caller.idle;
        self.env = caller.env;
    }

    /// What a register stands for; one from outside becomes a constant or a parameter.
    pub fn known(&mut self, reg: RegId) -> Step<Known> {
        if let Some(known) = self.seen(reg) {
            return Ok(known.clone());
        }
        let gone = || RecordRefusal { reason: format!("{reg} has no value") };
        let known = match (self.value)(reg).ok_or_else(gone)? {
            Seen::Scalar(scalar) => Known::Scalar(Exp::Const(scalar)),
            Seen::Array { elem, lmad, block, block_elements, references } => {
                let shape: Vec<Exp> = lmad.shape().iter().map(|extent| Exp::int(*extent)).collect();
                let var = self.name(reg, Type { elem, shape: shape.clone() });
                let number = self.blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
                    self.blocks.push(block);
                    self.blocks.len() - 1
                });
                let block = number as u32;
                // What is not used up by the region is needed again, whoever holds it now.
                let own = self.own.iter().find(|(other, _)| *other == reg);
                let references =
                    own.map_or(references.max(1).saturating_add(1), |(_, further)| further.saturating_add(1));
                self.region.params.push(var);
                let seen = ObservedParam::Array { lmad, block, block_elements, references };
                self.observed.params.push(seen);
                Known::Array(Rc::new(Named { var, elem, shape, rows: None }))
            }
        };
        self.set(reg, known.clone());
        Ok(known)
    }

    /// What a register stands for, if it does already.
    pub fn seen(&self, reg: RegId) -> Option<&Known> {
        self.env.get(reg.index())?.as_ref()
    }

    /// A scalar operand.
    pub fn scalar(&mut self, operand: Operand) -> Step<Exp> {
        if let Some(Known::Scalar(exp)) = self.seen(operand.reg) {
            return Ok(exp.clone());
        }
        match self.known(operand.reg)? {
            Known::Scalar(exp) => Ok(exp),
            Known::Array(_) => Err(RecordRefusal { reason: format!("{} is no scalar", operand.reg) }),
        }
    }

    /// Scalar operands.
    pub fn scalars(&mut self, operands: &[Operand]) -> Step<Vec<Exp>> {
        let mut all = Vec::with_capacity(operands.len());
        for operand in operands {
            all.push(self.scalar(*operand)?);
        }
        Ok(all)
    }

    /// An array operand.
    pub fn array(&mut self, operand: Operand) -> Step<Rc<Named>> {
        match self.known(operand.reg)? {
            Known::Array(array) => Ok(array),
            Known::Scalar(_) => Err(RecordRefusal { reason: format!("{} is no array", operand.reg) }),
        }
    }

    /// Any operand, as an expression.
    pub fn operand(&mut self, operand: Operand) -> Step<Exp> {
        Ok(self.known(operand.reg)?.exp())
    }

    /// Whether a register is an array.
    pub fn is_array(&self, reg: RegId) -> bool {
        !self.code.regs[reg].is_scalar()
    }

    /// A name for a register.
    pub fn name(&mut self, reg: RegId, ty: Type) -> VarId {
        if let [_, .., function] = self.calls[..] {
            let var = self.temporary(ty);
            self.inner.set(var, (function, reg));
            return var;
        }
        let var = self.named(Name::numbered("r", reg.index()), ty);
        self.registers.set(var, reg);
        var
    }

    /// A name that no register has.
    pub fn temporary(&mut self, ty: Type) -> VarId {
        self.named(Name::numbered("t", self.region.vars.len()), ty)
    }

    /// A name that is not a register's own.
    pub fn named(&mut self, name: Name, ty: Type) -> VarId {
        self.region.vars.push(Var { name, ty: Some(ty) })
    }

    /// Says what a register stands for.
    pub fn set(&mut self, reg: RegId, known: Known) {
        self.env[reg.index()] = Some(known);
    }

    /// Adds a statement.
    pub fn push(&mut self, pat: Vec<VarId>, rhs: Rhs) -> Step<()> {
        self.statements += 1;
        if self.statements > MOST_STATEMENTS {
            let reason = format!("there are more than {MOST_STATEMENTS} statements");
            return Err(RecordRefusal { reason });
        }
        self.open.last_mut().expect("the outermost body is open").push(Stm { pat, rhs });
        Ok(())
    }

    /// Opens a body: what is pushed from now on goes there, about as much as a block has instructions.
    pub fn enter(&mut self, block: BlockId) {
        self.open.push(Vec::with_capacity(self.code.blocks[block].code.len() + 2));
    }

    /// Closes the innermost body.
    pub fn leave(&mut self) -> Vec<Stm> {
        self.open.pop().unwrap_or_default()
    }

    /// Defines a register as a scalar: as a constant if that can be computed now.
    pub fn define(&mut self, reg: RegId, exp: Exp) -> Step<()> {
        let known = match scalar_value(&exp, &|_| None) {
            Some(value) => Exp::Const(value),
            None if matches!(exp, Exp::Var(_)) => exp,
            None => {
                let var = self.name(reg, Type::scalar(self.code.regs[reg].elem));
                self.definitions.add(var, &exp);
                self.push(vec![var], Rhs::Exps(vec![exp]))?;
                Exp::Var(var)
            }
        };
        self.set(reg, Known::Scalar(known));
        Ok(())
    }

    /// Defines a register as an array that a statement makes.
    pub fn make(&mut self, reg: RegId, maker: Option<Maker>, shape: Vec<Exp>, rhs: Rhs) -> Step<VarId> {
        let var = self.announce(reg, maker, shape);
        self.push(vec![var], rhs)?;
        Ok(var)
    }

    /// Names an array whose statement is pushed by the caller.
    pub fn announce(&mut self, reg: RegId, maker: Option<Maker>, shape: Vec<Exp>) -> VarId {
        let elem = self.code.regs[reg].elem;
        let var = self.name(reg, Type { elem, shape: shape.clone() });
        if let Some(maker) = maker.filter(|_| self.calls.len() == 1) {
            self.makers.set(var, maker);
        }
        self.set(reg, Known::Array(Rc::new(Named { var, elem, shape, rows: None })));
        var
    }

    /// Every instruction of a block.
    pub fn block(&mut self, id: BlockId) -> Step<()> {
        let block: &'a CodeBlock = &self.code.blocks[id];
        for (index, instr) in block.code.iter().enumerate() {
            self.instruction(id, index, instr)?;
        }
        Ok(())
    }

    /// Whether an instruction was left out, since no result of it matters. Where one is needed, it is 0.
    fn left_out(&mut self, block: BlockId, index: usize, instr: &Instr) -> bool {
        if !self.idle.is_some_and(|idle| idle.has(block, index)) {
            return false;
        }
        let mut leave = |dst: &Def| {
            let nothing = Exp::Const(galopvm_base::Scalar::new(self.code.regs[dst.0].elem, 0));
            self.set(dst.0, Known::Scalar(nothing));
        };
        match instr {
            Instr::Op1 { dst, .. }
            | Instr::Op2 { dst, .. }
            | Instr::Op3 { dst, .. }
            | Instr::Convert { dst, .. } => leave(dst),
            Instr::If { dsts, .. } | Instr::For { dsts, .. } | Instr::While { dsts, .. } => {
                dsts.iter().for_each(leave);
            }
            _ => return false,
        }
        true
    }

    fn instruction(&mut self, block: BlockId, index: usize, instr: &'a Instr) -> Step<()> {
        if self.left_out(block, index, instr) {
            return Ok(());
        }
        if let Some(Scalar { dst, exp, .. }) = scalar(instr, &mut |operand| self.scalar(operand))? {
            return self.define(dst, exp);
        }
        match instr {
            Instr::Assert { .. } => {}
            // Somebody looks at the values as they are then.
            Instr::Trace { values, .. } => {
                let seen = Exp::Opaque("trace".into(), self.operands(values)?);
                let var = self.temporary(Type::scalar(ElemType::I64));
                self.push(vec![var], Rhs::Exps(vec![seen]))?;
            }
            // The host may say another one in the next call.
            Instr::Param { given, value, .. } => self.opaque("param", &[*given, *value], Vec::new())?,
            Instr::If { .. }
            | Instr::For { .. }
            | Instr::While { .. }
            | Instr::Call { .. }
            | Instr::Fail { .. }
            | Instr::Map { .. }
            | Instr::Reduce { .. }
            | Instr::Scan { .. }
            | Instr::Redomap { .. }
            | Instr::Scatter { .. }
            | Instr::Hist { .. }
            | Instr::Filter { .. }
            | Instr::Partition { .. }
            | Instr::Stream { .. }
            | Instr::AccWrite { .. } => self.with_blocks(block, index, instr)?,
            on_arrays!() => self.on_arrays(block, index, instr)?,
            Instr::Const { .. }
            | Instr::Op1 { .. }
            | Instr::Op2 { .. }
            | Instr::Op3 { .. }
            | Instr::Convert { .. } => {
                self.refuse(block, index, "a scalar operation that no region describes")?;
            }
        }
        Ok(())
    }

    /// What a scalar would be if it were read there, for rows that need not be read.
    pub fn row_of(rows: &Rows, index: Exp) -> Exp {
        match rows {
            Rows::Same(value) => value.clone(),
            Rows::Steps(start, step) => counted(ElemType::I64, index, start, step),
        }
    }
}
