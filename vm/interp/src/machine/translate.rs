//! From verified bytecode to a unit.
//!
//! Every register of the unit has a slot for itself, except that a value carried around a loop and its next value share
//! one where the old value is not used any more (`share.rs`). A unit that needs what the machine does not have
//! is refused; the interpreter executes that instruction block by block then.

use super::code::{Ins, Op, canonical};
use super::functions;
use super::run;
use super::unit::{Access, Assertion, Base, CellPlan, Left, Origin, Place, Slot, Source, Unit};
use crate::refused::{Made, NO_FORM, NO_SUCH_OPERATION, Refused, TOO_LARGE};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Def, Function, Instr, Operand, RegId, SliceDim};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Instructions that a unit has at most: jumps name them in 16 bits.
const MOST_CODE: usize = 60_000;

/// What becomes of operators inside a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inner {
    /// Loops of it.
    Loops,
    /// Loops of it, if it is known at the start how many turns they take: back ends do long ones.
    Short,
    /// There must not be any: back ends do all.
    Nothing,
}

/// The unit of an instruction, or of the items of a reduction alone, or why there is none.
pub(super) fn translate(
    function: &Function,
    block: BlockId,
    index: usize,
    inner: Inner,
    only_items: bool,
) -> Made<Unit> {
    let instr = &function.blocks[block].code[index];
    let mut translator =
        Translator::new(function, (block, u32::try_from(index).map_err(|_| TOO_LARGE)?), inner);
    translator.outermost(instr, only_items)?;
    Ok(translator.unit)
}

pub(super) struct Translator<'a> {
    pub(super) function: &'a Function,
    pub(super) unit: Unit,
    slots: HashMap<RegId, Slot>,
    pub(super) places: HashMap<RegId, Place>,
    constants: HashMap<Bits, Slot>,
    extents: HashMap<(Base, u32), Slot>,
    /// Slots that registers which are not defined yet will have.
    pub(super) wanted: HashMap<RegId, Slot>,
    /// For such a slot the register whose value is in it until then.
    pub(super) occupants: HashMap<Slot, RegId>,
    /// What was in the slots of the parameters of loops around, outermost first.
    pub(super) covered: Vec<(Slot, Option<RegId>)>,
    pub(super) inner: Inner,
    /// The instruction that is being translated.
    pub(super) origin: (BlockId, u32),
    /// The last instruction that something jumps to.
    label: usize,
    next: Slot,
}

impl<'a> Translator<'a> {
    pub(super) fn new(function: &'a Function, origin: (BlockId, u32), inner: Inner) -> Translator<'a> {
        Translator {
            function,
            unit: Unit::default(),
            slots: HashMap::new(),
            places: HashMap::new(),
            constants: HashMap::new(),
            extents: HashMap::new(),
            wanted: HashMap::new(),
            occupants: HashMap::new(),
            covered: Vec::new(),
            inner,
            origin,
            label: 0,
            next: 0,
        }
    }

    pub(super) fn is_array(&self, reg: RegId) -> bool {
        !self.function.regs[reg].is_scalar()
    }

    pub(super) fn fresh(&mut self) -> Made<Slot> {
        let slot = self.next;
        self.next = self.next.checked_add(1).ok_or(TOO_LARGE)?;
        Ok(slot)
    }

    pub(super) fn emit(&mut self, op: Op, a: Slot, b: Slot, c: Slot) -> Made<usize> {
        if self.unit.code.len() >= MOST_CODE {
            return Err(TOO_LARGE);
        }
        if run::wants_pause(self.unit.code.len()) {
            self.unit.code.push(Ins { op: Op::Pause, a: 0, b: 0, c: 0, d: 0 });
            self.unit.origins.push(self.origin);
        }
        self.unit.code.push(Ins { op, a, b, c, d: 0 });
        self.unit.origins.push(self.origin);
        Ok(self.unit.code.len() - 1)
    }

    /// The place of the next instruction, which something jumps to.
    pub(super) fn here(&mut self) -> Slot {
        self.label = self.unit.code.len();
        // `MOST_CODE` fits.
        self.label as Slot
    }

    /// Lets the jump at `at` go to the next instruction.
    pub(super) fn land(&mut self, at: usize) {
        self.unit.code[at].c = self.here();
    }

    /// Takes back the last instruction if it compares into this slot and nothing jumps behind it.
    pub(super) fn take_compare(&mut self, slot: Slot) -> Option<(Op, Op, Slot, Slot)> {
        let last = self.unit.code.last().filter(|_| self.label < self.unit.code.len())?;
        let (unless, again) = last.op.jumps().filter(|_| last.a == slot)?;
        let (b, c) = (last.b, last.c);
        self.unit.code.pop();
        self.unit.origins.pop();
        Some((unless, again, b, c))
    }

    /// The slot of a scalar that is used; those not known yet come from outside.
    pub(super) fn slot(&mut self, reg: RegId) -> Made<Slot> {
        if let Some(slot) = self.slots.get(&reg) {
            return Ok(*slot);
        }
        let slot = self.fresh()?;
        self.slots.insert(reg, slot);
        self.unit.scalars.push((reg, slot));
        Ok(slot)
    }

    /// The slot of the number of rows that the unit is entered for. The register that says how many the operator has is another
    /// scalar: of a piece there are fewer.
    pub(super) fn rows(&mut self) -> Made<Slot> {
        let slot = self.fresh()?;
        self.unit.rows = Some(slot);
        Ok(slot)
    }

    /// The slot of a scalar that is being defined.
    pub(super) fn define(&mut self, reg: RegId) -> Made<Slot> {
        let slot = match self.wanted.remove(&reg) {
            Some(slot) => slot,
            None => self.fresh()?,
        };
        self.slots.insert(reg, slot);
        Ok(slot)
    }

    /// Lets a register have a slot that is there already.
    pub(super) fn bind(&mut self, reg: RegId, slot: Slot) {
        self.slots.insert(reg, slot);
    }

    pub(super) fn constant(&mut self, bits: Bits) -> Made<Slot> {
        if let Some(slot) = self.constants.get(&bits) {
            return Ok(*slot);
        }
        let slot = self.fresh()?;
        self.constants.insert(bits, slot);
        self.unit.constants.push((slot, bits));
        Ok(slot)
    }

    /// The place of an array that is used; those not known yet come from outside.
    pub(super) fn place(&mut self, reg: RegId) -> Made<Place> {
        if let Some(place) = self.places.get(&reg) {
            return Ok(place.clone());
        }
        let place = self.input(Source::Free(reg))?;
        self.places.insert(reg, place.clone());
        Ok(place)
    }

    pub(super) fn input(&mut self, source: Source) -> Made<Place> {
        let number = Slot::try_from(self.unit.inputs.len()).map_err(|_| TOO_LARGE)?;
        self.unit.inputs.push(source);
        Ok(Place { base: Base::Input(number), lead: SmallVec::new() })
    }

    pub(super) fn cell(&mut self, origin: Origin) -> Made<u16> {
        let number = Slot::try_from(self.unit.cells.len()).map_err(|_| TOO_LARGE)?;
        self.unit.cells.push(CellPlan { origin, stored: false });
        Ok(number)
    }

    pub(super) fn access(&mut self, access: Access) -> Made<u16> {
        number(&mut self.unit.accesses, access)
    }

    /// The slot of an extent.
    pub(super) fn extent(&mut self, place: &Place, dim: u32) -> Made<Slot> {
        let key = (place.base, place.lead.len() as u32 + dim);
        if let Some(slot) = self.extents.get(&key) {
            return Ok(*slot);
        }
        let slot = self.fresh()?;
        self.extents.insert(key, slot);
        self.unit.extents.push((slot, key.0, key.1));
        Ok(slot)
    }

    /// Moves values between slots as if all at once.
    pub(super) fn moves(&mut self, mut moves: Vec<(Slot, Slot)>) -> Made<()> {
        moves.retain(|(to, from)| to != from);
        while !moves.is_empty() {
            // A target that no other move reads can be written now.
            match moves.iter().position(|(to, _)| moves.iter().all(|(_, from)| from != to)) {
                Some(k) => {
                    let (to, from) = moves.swap_remove(k);
                    self.emit(Op::Move, to, from, 0)?;
                }
                None => {
                    // Only circles are left: one value waits elsewhere.
                    let (to, _) = moves[0];
                    let spare = self.fresh()?;
                    self.emit(Op::Move, spare, to, 0)?;
                    moves.iter_mut().filter(|(_, from)| *from == to).for_each(|m| m.1 = spare);
                }
            }
        }
        Ok(())
    }

    fn outermost(&mut self, instr: &'a Instr, only_items: bool) -> Made<()> {
        match instr {
            Instr::For { dsts, bound, init, body } => {
                self.count(dsts, *bound, init, *body, true)?;
                self.leave(dsts)?;
            }
            Instr::While { dsts, init, cond, body } => {
                self.repeat(dsts, init, *cond, *body, true)?;
                self.leave(dsts)?;
            }
            Instr::Hist { .. } => self.outer_histogram(instr)?,
            _ => {
                let operator = instr.operator().ok_or(Refused::instruction(instr))?;
                let operator = if only_items { operator.items_alone().ok_or(NO_FORM)? } else { operator };
                self.outer_operator(&operator)?
            }
        }
        self.emit(Op::End, 0, 0, 0)?;
        self.unit.words = run::words(&self.unit.code);
        Ok(())
    }

    /// Whether a slot has its value before the unit starts.
    pub(super) fn is_known(&self, slot: Slot) -> bool {
        let unit = &self.unit;
        unit.rows == Some(slot)
            || unit.scalars.iter().any(|(_, s)| *s == slot)
            || unit.constants.iter().any(|(s, _)| *s == slot)
            || unit.extents.iter().any(|(s, ..)| *s == slot)
    }

    /// The results of the outermost loop.
    fn leave(&mut self, dsts: &[Def]) -> Made<()> {
        for dst in dsts {
            let left = match self.places.get(&dst.0) {
                Some(Place { base: Base::Cell(cell), .. }) => Left::Cell(*cell),
                Some(_) => return Err(Refused::Because("a result that is a view")),
                None => Left::Scalar(self.slot(dst.0)?),
            };
            self.unit.results.push(left);
        }
        Ok(())
    }

    /// The instructions of a block; its results are not looked at.
    pub(super) fn block(&mut self, id: BlockId) -> Made<()> {
        let outer = self.origin;
        for (index, instr) in self.function.blocks[id].code.iter().enumerate() {
            self.origin = (id, index as u32);
            self.instruction(instr)?;
        }
        self.origin = outer;
        Ok(())
    }

    fn instruction(&mut self, instr: &'a Instr) -> Made<()> {
        match instr {
            Instr::Const { dst, value } => {
                let slot = self.constant(value.bits)?;
                self.bind(dst.0, slot);
            }
            Instr::Op1 { dst, op, ty, a } => {
                let a = self.slot(a.reg)?;
                let ty = canonical(*op, *ty);
                match Op::unary(*op, ty) {
                    Some(code) => {
                        let dst = self.define(dst.0)?;
                        self.emit(code, dst, a, 0)?;
                    }
                    None => self.call1(dst.0, functions::unary(*op, ty).ok_or(NO_SUCH_OPERATION)?, a)?,
                }
            }
            Instr::Op2 { dst, op, ty, a, b } => self.binary(dst.0, *op, *ty, *a, *b)?,
            Instr::Op3 { dst, op, ty, a, b, c } => {
                let (a, b, c) = (self.slot(a.reg)?, self.slot(b.reg)?, self.slot(c.reg)?);
                let dst = self.define(dst.0)?;
                if *op == ScalarOp::Select {
                    let at = self.emit(Op::Select, dst, a, b)?;
                    self.unit.code[at].d = c;
                } else {
                    let number = number(&mut self.unit.ternary, (*op, *ty, c))?;
                    let at = self.emit(Op::Call3, dst, a, b)?;
                    self.unit.code[at].d = number;
                }
            }
            Instr::Convert { dst, from, to, a } => self.convert(dst.0, *from, *to, *a)?,
            Instr::If { dsts, cond, then, otherwise } => self.branch(dsts, *cond, *then, *otherwise)?,
            Instr::For { dsts, bound, init, body } => self.count(dsts, *bound, init, *body, false)?,
            Instr::While { dsts, init, cond, body } => self.repeat(dsts, init, *cond, *body, false)?,
            Instr::Assert { cond, message, args } => {
                let cond = self.slot(cond.reg)?;
                self.assert(cond, message, args)?;
            }
            Instr::Fail { dsts, message, args } => {
                let never = self.constant(0)?;
                self.assert(never, message, args)?;
                for dst in dsts {
                    if self.is_array(dst.0) {
                        return Err(Refused::Because("an array that never gets a value"));
                    }
                    self.define(dst.0)?;
                }
            }
            Instr::Dim { dst, array, dim } => {
                let place = self.place(array.reg)?;
                let slot = self.extent(&place, *dim)?;
                self.bind(dst.0, slot);
            }
            Instr::Index { dst, array, index } => {
                let place = self.place(array.reg)?;
                let index: Made<SmallVec<[Slot; 4]>> = index.iter().map(|i| self.slot(i.reg)).collect();
                self.index(dst.0, array.reg, &place, &index?)?;
            }
            Instr::Update { dst, array, dims, value } => self.update(dst.0, *array, dims, *value)?,
            Instr::Reduce { .. } | Instr::Redomap { .. } if self.inner != Inner::Nothing => {
                self.inner_operator(instr)?;
            }
            _ => return Err(Refused::instruction(instr)),
        }
        Ok(())
    }

    fn assert(&mut self, cond: Slot, message: &str, args: &[Operand]) -> Made<()> {
        let args: Made<Vec<_>> =
            args.iter().map(|a| Ok((self.slot(a.reg)?, self.function.regs[a.reg].elem))).collect();
        let assertion = Assertion { message: message.to_string(), args: args? };
        let number = number(&mut self.unit.assertions, assertion)?;
        self.emit(Op::Assert, cond, number, 0)?;
        Ok(())
    }

    fn call1(&mut self, dst: RegId, function: functions::Function1, a: Slot) -> Made<()> {
        let number = number(&mut self.unit.unary, function)?;
        let dst = self.define(dst)?;
        self.emit(Op::Call1, dst, a, number)?;
        Ok(())
    }

    fn binary(&mut self, dst: RegId, op: ScalarOp, ty: ElemType, a: Operand, b: Operand) -> Made<()> {
        let (a, b) = (self.slot(a.reg)?, self.slot(b.reg)?);
        let (op, a, b) = match op {
            ScalarOp::Gt => (ScalarOp::Lt, b, a),
            ScalarOp::Ge => (ScalarOp::Le, b, a),
            op => (op, a, b),
        };
        let ty = canonical(op, ty);
        let dst = self.define(dst)?;
        match Op::compare(op, ty).or_else(|| Op::binary(op, ty)) {
            Some(code) => {
                self.emit(code, dst, a, b)?;
            }
            None => {
                let number =
                    number(&mut self.unit.binary, functions::binary(op, ty).ok_or(NO_SUCH_OPERATION)?)?;
                let at = self.emit(Op::Call2, dst, a, b)?;
                self.unit.code[at].d = number;
            }
        }
        Ok(())
    }

    fn convert(&mut self, dst: RegId, from: ElemType, to: ElemType, a: Operand) -> Made<()> {
        let a = self.slot(a.reg)?;
        let whole = |ty: ElemType| ty.is_int() || ty == ElemType::Bool;
        // Zero extension, and the same width under another sign, leave the bits as they are.
        let same = from == to
            || whole(from)
                && to.is_int()
                && (to.bits() == from.bits() || !from.is_signed() && to.bits() > from.bits());
        let code = if same { Some(Op::Move) } else { Op::convert(from, to) };
        match code {
            Some(code) => {
                let dst = self.define(dst)?;
                self.emit(code, dst, a, 0)?;
                Ok(())
            }
            None => self.call1(dst, functions::conversion(from, to), a),
        }
    }

    /// An element or a part of an array.
    pub(super) fn index(&mut self, dst: RegId, array: RegId, place: &Place, index: &[Slot]) -> Made<()> {
        let elem = self.function.regs[array].elem;
        let partial = self.is_array(dst);
        let indices = || place.lead.iter().chain(index).copied();
        let lead = place.lead.len();
        match place.base {
            Base::Input(base) if partial => {
                let access = Access { base, index: indices().collect(), lead };
                let number = self.access(access)?;
                self.emit(Op::Inside, 0, number, 0)?;
                self.places.insert(dst, Place { base: place.base, lead: indices().collect() });
            }
            // A part of a cell would see later updates.
            Base::Cell(_) if partial => return Err(Refused::Because("a part of an array that is changed")),
            Base::Input(base) | Base::Cell(base) => {
                let is_cell = matches!(place.base, Base::Cell(_));
                if let ([index], 0) = (index, lead) {
                    let dst = self.define(dst)?;
                    self.emit(by_width(elem, is_cell), dst, base, *index)?;
                } else {
                    let access = Access { base, index: indices().collect(), lead };
                    let number = self.access(access)?;
                    let dst = self.define(dst)?;
                    self.emit(if is_cell { Op::FetchAt } else { Op::LoadAt }, dst, number, 0)?;
                }
            }
        }
        Ok(())
    }

    fn update(&mut self, dst: RegId, array: Operand, dims: &[SliceDim], value: Operand) -> Made<()> {
        let place = self.place(array.reg)?;
        let Base::Cell(cell) = place.base else {
            return Err(Refused::Because("a change of an array from outside"));
        };
        let ty = self.function.regs[array.reg];
        // The value before the update must not be seen any more.
        if !array.last || self.is_array(value.reg) || dims.len() != usize::from(ty.rank) {
            return Err(Refused::Because(
                "a change of an array that is used again, or of more than an element",
            ));
        }
        let mut index = SmallVec::<[Slot; 4]>::new();
        for dim in dims {
            let SliceDim::At(at) = dim else {
                return Err(Refused::Because("a change of more than an element"));
            };
            index.push(self.slot(at.reg)?);
        }
        let value = self.slot(value.reg)?;
        self.unit.cells[usize::from(cell)].stored = true;
        if let [index] = index[..] {
            self.emit(stored_by_width(ty.elem), cell, index, value)?;
        } else {
            let number = self.access(Access { base: cell, index, lead: 0 })?;
            self.emit(Op::StoreAt, 0, number, value)?;
        }
        self.places.insert(dst, place);
        Ok(())
    }
}

/// Appends to a table of the unit.
fn number<T>(table: &mut Vec<T>, item: T) -> Made<u16> {
    table.push(item);
    u16::try_from(table.len() - 1).map_err(|_| TOO_LARGE)
}

fn by_width(elem: ElemType, cell: bool) -> Op {
    match (elem.bytes(), cell) {
        (1, false) => Op::Load1,
        (2, false) => Op::Load2,
        (4, false) => Op::Load4,
        (_, false) => Op::Load8,
        (1, true) => Op::Fetch1,
        (2, true) => Op::Fetch2,
        (4, true) => Op::Fetch4,
        (_, true) => Op::Fetch8,
    }
}

/// The instruction that stores an element to a vector in a cell.
pub(super) fn stored_by_width(elem: ElemType) -> Op {
    match elem.bytes() {
        1 => Op::Store1,
        2 => Op::Store2,
        4 => Op::Store4,
        _ => Op::Store8,
    }
}
