//! Shapes of values that were never computed, and the work that a block will be.
//!
//! Both look at code with the registers as they are now: what is defined outside a block is known, what is defined in
//! it is worked out as far as it depends on sizes alone, in the functions that are called as well. Nothing traps, and nothing is
//! computed but scalars.

use crate::prepare::UNKNOWN_TRIPS;
use crate::stack::on_fresh;
use crate::{Adviser, Interpreter, Registers};
use galopvm_base::scalar::{convert, eval1, eval2, eval3};
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::{
    BlockId, Function, Given, Instr, Module, Operand, RegId, Role, SliceDim, field::Fields, module::BODY,
    not_on_arrays, not_on_scalars,
};
use smallvec::SmallVec;
use std::collections::HashMap;

/// An estimate of the operations of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// All of them.
    pub all: u64,
    /// Those of the blocks executed once, with one round of each sequential loop.
    pub round: u64,
}

impl Work {
    /// Without loops.
    pub fn flat(all: u64) -> Work {
        Work { all, round: all }
    }

    /// Both, one after the other.
    pub fn plus(self, other: Work) -> Work {
        Work { all: self.all.saturating_add(other.all), round: self.round.saturating_add(other.round) }
    }

    /// The longer one of two ways.
    pub fn max(self, other: Work) -> Work {
        Work { all: self.all.max(other.all), round: self.round.max(other.round) }
    }
}

type Shape = SmallVec<[i64; 4]>;

/// What stands for an extent that is not known.
const UNKNOWN: i64 = 0;

/// How far definitions are followed: every step goes to an earlier definition, or into a function that is called, which may call
/// itself.
const EFFORT: u32 = 4096;

/// Definitions that are followed into each other on the stack that is there; those behind are followed on a fresh one, which has
/// room for as many as the effort allows.
const NEAR: u32 = 128;

/// Where registers of a block and of the blocks in it are defined.
struct Definitions<'r, 'a> {
    /// What is called; nothing if calls are not followed.
    module: Option<&'a Module>,
    code: &'a Function,
    /// What registers hold; a function that was never called has none.
    registers: Option<&'r Registers<'a>>,
    /// Parameters whose shapes are known.
    given: HashMap<RegId, Shape>,
    /// Scalar parameters whose values are known.
    numbers: HashMap<RegId, Bits>,
    at: HashMap<RegId, Definition<'a>>,
    effort: u32,
    /// How many definitions have been followed into each other.
    depth: u32,
}

#[derive(Clone, Copy)]
enum Definition<'a> {
    /// Result number `k` of an instruction.
    Result(&'a Instr, usize),
    /// A row of an array.
    Row(RegId),
    /// The same shape as another register.
    Like(RegId),
    /// Something else.
    Unknown,
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// The shape of result `k` of an operator's block that was not executed, whose array parameters would have had these
    /// shapes; extents that only executing could tell are 0.
    pub(super) fn row_shape(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
        k: usize,
        params: impl Iterator<Item = Shape>,
    ) -> Shape {
        let result = registers.code.blocks[block].results[k].reg;
        let given = registers.code.blocks[block].params.iter().copied().zip(params).collect();
        let mut definitions = Definitions { given, ..Definitions::of(Some(self.module), registers) };
        definitions.collect(block);
        let rank = registers.ty(result).rank as usize;
        let mut shape = definitions.shape(result).unwrap_or_else(|| SmallVec::from_elem(UNKNOWN, rank));
        shape.iter_mut().for_each(|extent| *extent = (*extent).max(0));
        shape
    }
}

/// An estimate of the operations of executing blocks so many times. Trip counts that depend on what happens inside
/// are guessed.
pub fn work(registers: &Registers<'_>, blocks: impl Iterator<Item = BlockId>, times: i64) -> Work {
    let once = blocks.fold(Work::flat(1), |sum, block| sum.plus(work_once(registers, block)));
    Work { all: once.all.saturating_mul(times as u64), ..once }
}

fn work_once(registers: &Registers<'_>, block: BlockId) -> Work {
    let nested = registers.code.blocks[block].code.iter().any(|instr| !Fields::of(instr).blocks.is_empty());
    if nested {
        let mut definitions = Definitions::of(None, registers);
        definitions.collect(block);
        definitions.work(block)
    } else {
        Work::flat(registers.prepared.blocks[block].weight)
    }
}

impl<'r, 'a> Definitions<'r, 'a> {
    /// Those of a function that is being executed, before its code was looked at.
    fn of(module: Option<&'a Module>, registers: &'r Registers<'a>) -> Definitions<'r, 'a> {
        Definitions {
            module,
            code: registers.code,
            registers: Some(registers),
            given: HashMap::new(),
            numbers: HashMap::new(),
            at: HashMap::new(),
            effort: EFFORT,
            depth: 0,
        }
    }

    fn work(&mut self, block: BlockId) -> Work {
        let code = &self.code.blocks[block].code;
        code.iter().fold(Work::flat(0), |sum, instr| sum.plus(self.instruction_work(instr)))
    }

    fn instruction_work(&mut self, instr: &'a Instr) -> Work {
        let one = Work::flat(1);
        let parts = instr.parts();
        let blocks = parts.blocks.iter().map(|(_, block)| block);
        let is_loop = match instr.gives() {
            Some(Role::Joined) => {
                return blocks.fold(Work::flat(0), |most, block| most.max(self.work(block))).plus(one);
            }
            Some(Role::Returned) => return Work::flat(UNKNOWN_TRIPS),
            gives => gives == Some(Role::Carried),
        };
        let once = blocks.fold(one, |sum, block| sum.plus(self.work(block)));
        if !is_loop && parts.width.is_none() {
            return once;
        }
        let bound = if is_loop { parts.extent } else { parts.width };
        let trips = bound.and_then(|b| self.int(b.reg)).map_or(UNKNOWN_TRIPS, |n| n.max(0) as u64);
        let round = if is_loop { once.round } else { trips.saturating_mul(once.round) };
        Work { all: trips.saturating_mul(once.all), round }.plus(one)
    }

    /// Parameters of the blocks that an instruction names.
    fn parameters(&mut self, instr: &Instr) {
        let code = self.code;
        for (block, all) in instr.given(code) {
            let define = |given: Given| match given {
                Given::Counter => Definition::Unknown,
                Given::Like(operand) => Definition::Like(operand.reg),
                Given::Row(array) => Definition::Row(array.reg),
                Given::Result(block, k) => Definition::Like(code.blocks[block].results[k].reg),
            };
            self.at.extend(code.blocks[block].params.iter().copied().zip(all.into_iter().map(define)));
        }
    }

    /// All definitions in a block and in the blocks below it; the verifier bounds how deep they nest.
    fn collect(&mut self, block: BlockId) {
        for instr in &self.code.blocks[block].code {
            let fields = Fields::of(instr);
            self.at
                .extend(fields.defs.iter().enumerate().map(|(k, def)| (def.0, Definition::Result(instr, k))));
            self.parameters(instr);
            fields.blocks.iter().for_each(|b| self.collect(*b));
        }
    }

    /// Follows a definition.
    fn followed<T: Send>(&mut self, to: impl FnOnce(&mut Self) -> Option<T> + Send) -> Option<T> {
        self.effort = self.effort.checked_sub(1)?;
        self.depth += 1;
        let found = match self.depth {
            NEAR => on_fresh(|| to(self)).flatten(),
            _ => to(self),
        };
        self.depth -= 1;
        found
    }

    fn shape(&mut self, reg: RegId) -> Option<Shape> {
        self.followed(|definitions| definitions.shape_of(reg))
    }

    fn shape_of(&mut self, reg: RegId) -> Option<Shape> {
        if let Some(shape) = self.given.get(&reg) {
            return Some(shape.clone());
        }
        match self.at.get(&reg).copied() {
            None => self.registers?.array_of(reg).map(|array| array.shape()),
            Some(Definition::Unknown) => None,
            Some(Definition::Like(other)) => self.shape(other),
            Some(Definition::Row(array)) => self.shape(array).map(|shape| shape[1..].into()),
            Some(Definition::Result(instr, k)) => self.result_shape(instr, k),
        }
    }

    fn result_shape(&mut self, instr: &'a Instr, k: usize) -> Option<Shape> {
        let parts = instr.parts();
        let blocks = &self.code.blocks;
        match instr.gives()? {
            Role::Made | Role::Prefixes => {
                let operator = instr.operator()?;
                let result = blocks[operator.last_block()].results[k].reg;
                let width = self.extent(operator.width.reg);
                let row = self.row(result)?;
                Some([width].into_iter().chain(row).collect())
            }
            Role::Totals => self.shape(parts.neutral[k].reg),
            Role::Carried => self.shape(parts.initial[k].reg),
            Role::Changed => self.shape(parts.dests[k].reg),
            Role::Chosen => {
                let numbers = parts.dsts.len() - parts.rows.len();
                let mut shape = self.shape(parts.rows.get(k.checked_sub(numbers)?)?.reg)?;
                // The classes of a partition are all rows.
                if let Instr::Filter { .. } = instr {
                    shape[0] = UNKNOWN;
                }
                Some(shape)
            }
            Role::Joined => match self.taken(instr) {
                Some(block) => self.shape(blocks[block].results[k].reg),
                None => parts.blocks.iter().find_map(|(_, block)| self.shape(blocks[block].results[k].reg)),
            },
            Role::Returned => self.of_call(instr, k, Definitions::shape),
            _ => self.own_shape(instr),
        }
    }

    /// The shape of what becomes a row; that of a scalar is empty.
    fn row(&mut self, reg: RegId) -> Option<Shape> {
        if self.code.regs[reg].is_scalar() { Some(Shape::new()) } else { self.shape(reg) }
    }

    /// The branch that is taken, if the condition depends on what is known.
    fn taken(&mut self, instr: &Instr) -> Option<BlockId> {
        let Instr::If { cond, then, otherwise, .. } = instr else { return None };
        Some(if self.bits(cond.reg)? != 0 { *then } else { *otherwise })
    }

    /// What is asked of the register that result `k` of a call comes from, in the function that is called.
    fn of_call<T>(
        &mut self,
        call: &'a Instr,
        k: usize,
        ask: impl FnOnce(&mut Definitions<'r, 'a>, RegId) -> Option<T>,
    ) -> Option<T> {
        let Instr::Call { function, args, .. } = call else { return None };
        let module = self.module?;
        let code = module.functions.get(*function)?;
        self.effort = self.effort.checked_sub(u32::try_from(code.regs.len()).ok()?)?;
        let (mut given, mut numbers) = (HashMap::new(), HashMap::new());
        for (param, arg) in code.params.iter().zip(args) {
            if code.regs[*param].is_scalar() {
                numbers.extend(self.bits(arg.reg).map(|bits| (*param, bits)));
            } else {
                given.extend(self.shape(arg.reg).map(|shape| (*param, shape)));
            }
        }
        let mut callee = Definitions {
            module: Some(module),
            code,
            registers: None,
            given,
            numbers,
            at: HashMap::new(),
            effort: self.effort,
            depth: self.depth,
        };
        callee.collect(BODY);
        let answer = ask(&mut callee, code.blocks[BODY].results.get(k)?.reg);
        self.effort = callee.effort;
        answer
    }

    /// The shape of an instruction's only result.
    fn own_shape(&mut self, instr: &'a Instr) -> Option<Shape> {
        match instr {
            Instr::Slice { array, dims, .. } => {
                let shape = self.shape(array.reg)?;
                let mut kept = Shape::new();
                for (extent, dim) in shape.iter().zip(dims) {
                    if let SliceDim::Range { start, end, step } = dim {
                        let whole = start.is_none() && end.is_none() && step.is_none();
                        kept.push(if whole { *extent } else { self.range(*extent, *start, *end, *step) });
                    }
                }
                kept.extend_from_slice(&shape[dims.len()..]);
                Some(kept)
            }
            Instr::Index { array, index, .. } => {
                self.shape(array.reg).map(|shape| shape[index.len()..].into())
            }
            Instr::Update { array, .. }
            | Instr::Reverse { array, .. }
            | Instr::Copy { array, .. }
            | Instr::Manifest { array, .. }
            | Instr::Rotate { array, .. }
            | Instr::FlatUpdate { array, .. } => self.shape(array.reg),
            Instr::FlatIndex { array, sizes, .. } => {
                let rows = self.shape(array.reg)?;
                Some(sizes.iter().map(|n| self.extent(n.reg)).chain(rows[1..].iter().copied()).collect())
            }
            Instr::Permute { array, perm, .. } => {
                self.shape(array.reg).map(|shape| perm.iter().map(|d| shape[*d as usize]).collect())
            }
            Instr::Reshape { shape, .. } => Some(shape.iter().map(|n| self.extent(n.reg)).collect()),
            Instr::Concat { arrays, dim, .. } => {
                let mut shape = self.shape(arrays[0].reg)?;
                for array in &arrays[1..] {
                    let other = self.shape(array.reg)?;
                    shape[*dim as usize] = shape[*dim as usize].saturating_add(other[*dim as usize]);
                }
                Some(shape)
            }
            Instr::Replicate { count, value, .. } => {
                let count = self.extent(count.reg);
                let row = self.row(value.reg)?;
                Some([count].into_iter().chain(row).collect())
            }
            Instr::Iota { count, .. } => Some(std::iter::once(self.extent(count.reg)).collect()),
            Instr::Array { rank, rows, .. } => {
                let row = match rows.first() {
                    Some(first) if *rank > 1 => self.shape(first.reg)?,
                    _ => SmallVec::from_elem(UNKNOWN, *rank as usize - 1),
                };
                Some([rows.len() as i64].into_iter().chain(row).collect())
            }
            Instr::Dim { .. } | Instr::Equal { .. } | not_on_arrays!() => None,
        }
    }

    fn range(
        &mut self,
        extent: i64,
        start: Option<Operand>,
        end: Option<Operand>,
        step: Option<Operand>,
    ) -> i64 {
        let mut part = |operand: Option<Operand>| match operand {
            None => Some(None),
            Some(operand) => self.int(operand.reg).map(Some),
        };
        let (Some(start), Some(end), Some(step)) = (part(start), part(end), part(step)) else {
            return UNKNOWN;
        };
        if step.is_none() {
            // What types say of it, wherever it begins: no row is there that it could be outside of, and what is put together again
            // from parts of rows has their extent.
            return end.unwrap_or(extent).saturating_sub(start.unwrap_or(0));
        }
        let index = galopvm_store::array::SliceIndex::Range { start, end, step };
        let view = galopvm_lmad::Lmad::row_major(&[extent]);
        galopvm_store::array::view::slice(&view, &[index]).map_or(UNKNOWN, |view| view.dims[0].size)
    }

    /// An extent: unknown or impossible ones count as nothing.
    fn extent(&mut self, reg: RegId) -> i64 {
        self.int(reg).unwrap_or(UNKNOWN).max(0)
    }

    /// An `i64` scalar, as far as it depends on sizes and on what is known.
    fn int(&mut self, reg: RegId) -> Option<i64> {
        self.bits(reg).filter(|_| self.code.regs[reg].elem == ElemType::I64).map(|bits| bits as i64)
    }

    fn bits(&mut self, reg: RegId) -> Option<Bits> {
        self.followed(|definitions| definitions.bits_of(reg))
    }

    fn bits_of(&mut self, reg: RegId) -> Option<Bits> {
        match self.at.get(&reg).copied() {
            None => self.numbers.get(&reg).copied().or_else(|| self.registers.map(|r| r.scalar(reg).bits)),
            Some(Definition::Like(other)) => self.bits(other),
            Some(Definition::Row(_) | Definition::Unknown) => None,
            Some(Definition::Result(instr, k)) => match instr {
                Instr::Call { .. } => self.of_call(instr, k, Definitions::bits),
                Instr::If { .. } => {
                    let block = self.taken(instr)?;
                    self.bits(self.code.blocks[block].results.get(k)?.reg)
                }
                Instr::Const { value, .. } => Some(value.bits),
                Instr::Op1 { op, ty, a, .. } => Some(eval1(*op, *ty, self.bits(a.reg)?)),
                Instr::Op2 { op, ty, a, b, .. } => eval2(*op, *ty, self.bits(a.reg)?, self.bits(b.reg)?).ok(),
                Instr::Convert { from, to, a, .. } => Some(convert(*from, *to, self.bits(a.reg)?)),
                Instr::Dim { array, dim, .. } => {
                    self.shape(array.reg).map(|shape| shape[*dim as usize] as u64)
                }
                Instr::Op3 { op, ty, a, b, c, .. } => {
                    let [a, b, c] = [self.bits(a.reg)?, self.bits(b.reg)?, self.bits(c.reg)?];
                    Some(eval3(*op, *ty, a, b, c))
                }
                not_on_scalars!() => None,
            },
        }
    }
}
