//! From a region to steps: expressions are taken apart, each operation finds its loop.

use crate::code::{
    AxisCode, Block, Code, CombineCode, DimPart, Dot, Factor, Given, Kernel, NewArray, Operation, Part,
    Reduce, Reg, Regs, Rounds, Scan, Scatter, Step, Taken, Whole, Work,
};
use crate::lives::Lives;
use crate::loops;
use galopvm_base::{Bits, ElemType, ScalarOp, TypedId};
use galopvm_kir::{
    ArrayOp, Axis, Body, Combine, DimIndex, Exp, Index, Plan, Read, Refusal, Rhs, Stm, VarId, VerifiedRegion,
    ViewChange,
};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

type Made<T> = Result<T, Refusal>;

/// The steps of a region.
pub(crate) fn translate(region: &VerifiedRegion, plan: &Plan) -> Made<Code> {
    let lives = Lives::of(region.region());
    let registers = region.region().vars.len();
    let mut translation = Translation { region, plan, lives, registers, constants: HashMap::new() };
    let body = translation.body(&region.region().body, &[])?;
    let constants = translation.constants.iter().map(|((bits, _), reg)| (*reg, *bits)).collect();
    let mut read = HashSet::new();
    body.steps.iter().for_each(|step| step.work.each_use(&mut |reg| _ = read.insert(reg)));
    let is_given_once = |reg: &Reg| body.results.iter().filter(|result| *result == reg).count() == 1;
    let unread =
        body.results.iter().copied().filter(|reg| !read.contains(reg) && is_given_once(reg)).collect();
    Ok(Code { body, unread, registers: translation.registers, constants })
}

struct Translation<'k> {
    region: &'k VerifiedRegion,
    plan: &'k Plan,
    lives: Lives,
    registers: usize,
    constants: HashMap<(Bits, ElemType), Reg>,
}

/// Steps of a block that is being made.
type Steps = Vec<Step>;

fn reg(var: VarId) -> Reg {
    Reg::from_index(var.index())
}

fn regs(vars: &[VarId]) -> Regs {
    vars.iter().copied().map(reg).collect()
}

fn push(steps: &mut Steps, work: Work) {
    steps.push(Step { work, dies: Regs::new() });
}

/// A block of steps: says what dies where.
fn block(params: Regs, mut steps: Steps, results: Regs) -> Block {
    let mut own: HashSet<Reg> = params.iter().copied().collect();
    own.extend(steps.iter().flat_map(|step| step.work.sets()));
    let mut read: HashSet<Reg> = results.iter().copied().collect();
    for step in steps.iter_mut().rev() {
        let Step { work, dies } = step;
        let mut last = |reg| {
            if own.contains(&reg) && read.insert(reg) {
                dies.push(reg);
            }
        };
        work.sets().into_iter().for_each(&mut last);
        work.each_use(&mut last);
    }
    let leaves = |(k, result): (usize, &Reg)| own.contains(result) && !results[k + 1..].contains(result);
    let leaving = results.iter().enumerate().map(leaves).collect();
    Block { params, steps, results, leaving }
}

impl Translation<'_> {
    fn body(&mut self, body: &Body, params: &[VarId]) -> Made<Block> {
        let mut steps = Steps::new();
        for stm in &body.stms {
            self.statement(stm, &mut steps)?;
        }
        let results = self.operands(&body.results, &mut steps)?;
        Ok(block(regs(params), steps, results))
    }

    fn fresh(&mut self) -> Reg {
        self.registers += 1;
        Reg::from_index(self.registers - 1)
    }

    fn elem_of(&self, exp: &Exp) -> Made<ElemType> {
        self.region.exp_type(exp).ok_or_else(|| Refusal::new("a value without a type"))
    }

    fn elem(&self, var: VarId) -> ElemType {
        self.region.type_of(var).elem
    }

    // Expressions

    /// The register that has the value of an expression.
    fn operand(&mut self, exp: &Exp, steps: &mut Steps) -> Made<Reg> {
        match exp {
            Exp::Var(var) => Ok(reg(*var)),
            Exp::Const(value) => {
                let key = (value.bits, value.ty);
                if let Some(known) = self.constants.get(&key) {
                    return Ok(*known);
                }
                let made = self.fresh();
                self.constants.insert(key, made);
                Ok(made)
            }
            Exp::Op(..) | Exp::Convert(..) | Exp::Read(_) | Exp::Opaque(..) => {
                let made = self.fresh();
                self.compute(exp, made, steps)?;
                Ok(made)
            }
        }
    }

    fn operands<'e>(&mut self, exps: impl IntoIterator<Item = &'e Exp>, steps: &mut Steps) -> Made<Regs> {
        exps.into_iter().map(|exp| self.operand(exp, steps)).collect()
    }

    /// Computes an expression into a register.
    fn compute(&mut self, exp: &Exp, dst: Reg, steps: &mut Steps) -> Made<()> {
        let work = match exp {
            Exp::Const(_) | Exp::Var(_) => Work::Copy { dst, from: self.operand(exp, steps)? },
            Exp::Op(op, ty, args) => self.operation(dst, *op, *ty, args, steps)?,
            Exp::Convert(to, arg) => {
                let (from, to) = (self.elem_of(arg)?, *to);
                Work::Convert {
                    dst,
                    a: self.operand(arg, steps)?,
                    from,
                    to,
                    run: loops::conversion(from, to),
                }
            }
            Exp::Read(read) => {
                Work::Read { dst, array: reg(read.array), part: self.part(&read.index, steps)? }
            }
            Exp::Opaque(name, _) => return Err(Refusal::new(format!("nothing is known of `{name}`"))),
        };
        push(steps, work);
        Ok(())
    }

    fn operation(
        &mut self,
        dst: Reg,
        op: ScalarOp,
        ty: ElemType,
        args: &[Exp],
        steps: &mut Steps,
    ) -> Made<Work> {
        let operands = self.operands(args, steps)?;
        let none = || no_such(op, ty);
        Ok(match operands[..] {
            [a] => Work::Unary { dst, a, op, ty, run: loops::unary(op, ty).ok_or_else(none)? },
            [a, b] => Work::Binary { dst, a, b, op, ty, run: loops::binary(op, ty).ok_or_else(none)? },
            [a, b, c] => {
                let run = match op {
                    ScalarOp::Select => loops::selection(ty.bytes()),
                    _ => loops::ternary(op, ty).ok_or_else(none)?,
                };
                Work::Ternary { dst, operands: [a, b, c], op, ty, run }
            }
            _ => return Err(none()),
        })
    }

    fn part(&mut self, index: &Index, steps: &mut Steps) -> Made<Part> {
        Ok(match index {
            Index::Dims(entries) => {
                let entry = |entry: &DimIndex| {
                    Ok(match entry {
                        DimIndex::At(at) => DimPart::At(self.operand(at, steps)?),
                        DimIndex::Slice { start, count, step } => DimPart::Slice {
                            start: self.operand(start, steps)?,
                            count: self.operand(count, steps)?,
                            step: self.operand(step, steps)?,
                        },
                    })
                };
                Part::Dims(entries.iter().map(entry).collect::<Made<_>>()?)
            }
            Index::Lmad { offset, dims } => {
                let offset = self.operand(offset, steps)?;
                let dim = |(extent, stride): &(Exp, Exp)| {
                    Ok((self.operand(extent, steps)?, self.operand(stride, steps)?))
                };
                Part::Flat { offset, dims: dims.iter().map(dim).collect::<Made<_>>()? }
            }
        })
    }

    // Statements

    fn statement(&mut self, stm: &Stm, steps: &mut Steps) -> Made<()> {
        let work = match &stm.rhs {
            Rhs::Exps(exps) => {
                return stm
                    .pat
                    .iter()
                    .zip(exps)
                    .try_for_each(|(var, exp)| self.compute(exp, reg(*var), steps));
            }
            Rhs::Kernel { axes, body } => {
                let made = self.new_arrays(&stm.pat, axes.len(), steps)?;
                let rounds = self.rounds(axes, body, steps)?;
                let lane = self.plan.lane().and_then(|var| axes.iter().position(|axis| axis.var == var));
                Work::Kernel(Box::new(Kernel { made, rounds, lane }))
            }
            Rhs::Reduce { axes, body, combine } => {
                let rounds = self.rounds(axes, body, steps)?;
                let combine_code = self.combine(combine, steps)?;
                let dot = self.dot(axes, body, &combine_code)?;
                let given = self.given(&stm.pat);
                Work::Reduce(Box::new(Reduce { given, rounds, combine: combine_code, dot }))
            }
            Rhs::Scan { axis, body, combine } => {
                let made = self.new_arrays(&stm.pat, 1, steps)?;
                let rounds = self.rounds(std::slice::from_ref(axis), body, steps)?;
                Work::Scan(Box::new(Scan { made, rounds, combine: self.combine(combine, steps)? }))
            }
            Rhs::Scatter { arrays, axes, body, combine } => {
                let rounds = self.rounds(axes, body, steps)?;
                let combine = combine.as_ref().map(|combine| self.combine(combine, steps)).transpose()?;
                let arrays = arrays.iter().map(|array| self.taken(&stm.pat, *array)).collect();
                Work::Scatter(Box::new(Scatter { dsts: regs(&stm.pat), arrays, rounds, combine }))
            }
            Rhs::For { carried, init, axis, body } => {
                let init = self.operands(init, steps)?;
                let bound = self.operand(&axis.bound, steps)?;
                let body = self.body(body, carried)?;
                Work::Count { given: self.given(&stm.pat), init, counter: reg(axis.var), bound, body }
            }
            Rhs::While { carried, init, cond, body } => {
                let init = self.operands(init, steps)?;
                let mut asked = Steps::new();
                let results = self.operands([cond], &mut asked)?;
                let cond = block(Regs::new(), asked, results);
                Work::Repeat { given: self.given(&stm.pat), init, cond, body: self.body(body, carried)? }
            }
            Rhs::If { cond, then, otherwise } => {
                let cond = self.operand(cond, steps)?;
                let (then, otherwise) = (self.body(then, &[])?, self.body(otherwise, &[])?);
                Work::Branch { given: self.given(&stm.pat), cond, then, otherwise }
            }
            Rhs::Update { array, index, value } => {
                let value = self.operand(value, steps)?;
                let part = self.part(index, steps)?;
                Work::Update { dst: self.dst(stm)?, array: self.taken(&stm.pat, *array), part, value }
            }
            // A layout is no part of a value.
            Rhs::Manifest { array, .. } => Work::Copy { dst: self.dst(stm)?, from: reg(*array) },
            Rhs::Array(op) => return self.whole(self.dst(stm)?, op, steps),
        };
        push(steps, work);
        Ok(())
    }

    fn dst(&self, stm: &Stm) -> Made<Reg> {
        stm.pat.first().copied().map(reg).ok_or_else(|| Refusal::new("an operation without a result"))
    }

    fn given(&self, pat: &[VarId]) -> Given {
        Given { dsts: regs(pat), elems: pat.iter().map(|var| self.elem(*var)).collect() }
    }

    fn taken(&self, pat: &[VarId], array: VarId) -> Taken {
        Taken { from: reg(array), ends: self.lives.ends(pat, array) }
    }

    fn new_arrays(&mut self, pat: &[VarId], axes: usize, steps: &mut Steps) -> Made<SmallVec<[NewArray; 2]>> {
        let region = self.region;
        let new = |var: &VarId| {
            let ty = region.type_of(*var);
            let extents = self.operands(ty.shape.get(axes..).unwrap_or(&[]), steps)?;
            Ok(NewArray { dst: reg(*var), elem: ty.elem, extents })
        };
        pat.iter().map(new).collect()
    }

    fn rounds(&mut self, axes: &[Axis], body: &Body, steps: &mut Steps) -> Made<Rounds> {
        let mut divisors = Vec::new();
        body.visit_exps(&mut |exp| {
            exp.visit(&mut |part| {
                use ScalarOp::{Div, Mod, Quot, Rem};
                if let Exp::Op(Div | Mod | Quot | Rem, ElemType::I64, args) = part
                    && let [Exp::Var(dividend), divisor @ (Exp::Const(_) | Exp::Var(_))] = &args[..]
                    && axes.iter().any(|axis| axis.var == *dividend)
                {
                    divisors.push((*dividend, divisor.clone()));
                }
            });
        });
        let axis =
            |axis: &Axis| Ok(AxisCode { counter: reg(axis.var), bound: self.operand(&axis.bound, steps)? });
        let axes = axes.iter().map(axis).collect::<Made<_>>()?;
        let divisor = |(counter, divisor): &(VarId, Exp)| Ok((reg(*counter), self.operand(divisor, steps)?));
        let divisors = divisors.iter().map(divisor).collect::<Made<_>>()?;
        let mut makes_arrays = false;
        body.visit_stms(&mut |stm| {
            makes_arrays |= !matches!(
                stm.rhs,
                Rhs::Exps(_) | Rhs::Reduce { .. } | Rhs::For { .. } | Rhs::While { .. } | Rhs::If { .. }
            );
        });
        let has_operators = has_operators(body);
        Ok(Rounds { axes, body: self.body(body, &[])?, divisors, makes_arrays, has_operators })
    }

    fn combine(&mut self, combine: &Combine, steps: &mut Steps) -> Made<CombineCode> {
        let params: Vec<VarId> = combine.acc.iter().chain(&combine.item).copied().collect();
        let operations = combine.scalar_ops().and_then(|ops| {
            let operation = |(op, acc): (ScalarOp, &VarId)| {
                let ty = self.elem(*acc);
                Some(Operation {
                    op,
                    ty,
                    run: loops::binary(op, ty)?,
                    fold: loops::fold(op, ty)?,
                    strands: loops::fold_strands(op, ty),
                    prefixes: loops::prefixes(op, ty)?,
                    accumulate: loops::accumulate(op, ty)?,
                })
            };
            ops.into_iter().zip(&combine.acc).map(operation).collect()
        });
        Ok(CombineCode {
            neutral: self.operands(&combine.neutral, steps)?,
            elems: combine.acc.iter().map(|acc| self.elem(*acc)).collect(),
            is_scalar: combine.acc.iter().all(|acc| self.region.type_of(*acc).is_scalar()),
            operations,
            body: self.body(&combine.body, &params)?,
        })
    }

    /// A reduction as a sum of products, if it is one.
    fn dot(&mut self, axes: &[Axis], body: &Body, combine: &CombineCode) -> Made<Option<Dot>> {
        let (Some(operations), [axis], []) = (&combine.operations, axes, &body.stms[..]) else {
            return Ok(None);
        };
        let ([Operation { op, ty, .. }], [Exp::Op(map, _, args)]) = (&operations[..], &body.results[..])
        else {
            return Ok(None);
        };
        let (Some(runs), [Exp::Read(a), Exp::Read(b)]) = (loops::dot::runs(*map, *op, *ty), &args[..]) else {
            return Ok(None);
        };
        let (mut places, mut indices) = (Steps::new(), Regs::new());
        let mut factors = SmallVec::<[Factor; 2]>::new();
        for read in [a, b] {
            let Some(is_counter) = Self::along(read, axis.var) else { return Ok(None) };
            if let Index::Dims(dims) = &read.index {
                for (dim, is_counter) in dims.iter().zip(&is_counter) {
                    if let (DimIndex::At(index), false) = (dim, is_counter) {
                        indices.push(self.operand(index, &mut places)?);
                    }
                }
            }
            factors.push(Factor { array: reg(read.array), is_counter });
        }
        let places = block(Regs::new(), places, indices);
        let factors = factors.into_inner().ok();
        Ok(factors.map(|factors| Dot { elem: *ty, runs, places, factors }))
    }

    /// For each dimension of an array whether it is read at a counter that nothing else depends on, if that is so.
    fn along(read: &Read, counter: VarId) -> Option<SmallVec<[bool; 2]>> {
        let Index::Dims(dims) = &read.index else { return None };
        let is_counter = |dim: &DimIndex| {
            let DimIndex::At(index) = dim else { return None };
            let mut uses = false;
            index.each_use(&mut |var| uses |= var == counter);
            let is_counter = matches!(index, Exp::Var(var) if *var == counter);
            (is_counter || !uses).then_some(is_counter)
        };
        dims.iter().map(is_counter).collect()
    }

    fn whole(&mut self, dst: Reg, op: &ArrayOp, steps: &mut Steps) -> Made<()> {
        let work = match op {
            ArrayOp::Copy(exp) => return self.compute(exp, dst, steps),
            ArrayOp::Concat { first, rest } => {
                Whole::Concat(self.operands(std::iter::once(first).chain(rest), steps)?)
            }
            ArrayOp::Scratch { shape, elem } => {
                Whole::Scratch { shape: self.operands(shape, steps)?, elem: *elem }
            }
            ArrayOp::Iota(extent) => Whole::Iota(self.operand(extent, steps)?),
            ArrayOp::Replicate { shape, value } => {
                let elem = self.elem_of(value)?;
                let shape = self.operands(shape, steps)?;
                Whole::Replicate { shape, value: self.operand(value, steps)?, elem }
            }
            ArrayOp::View { change, array } => {
                let array = self.operand(array, steps)?;
                match change {
                    ViewChange::Transpose => Whole::Transpose(array),
                    ViewChange::Rearrange(order) => Whole::Rearrange { order: order.clone(), array },
                    ViewChange::Reverse => Whole::Reverse(array),
                    ViewChange::Reshape(shape) => {
                        Whole::Reshape { shape: self.operands(shape, steps)?, array }
                    }
                    ViewChange::Flatten => Whole::Flatten(array),
                }
            }
            ArrayOp::Reduce { op, array } => Whole::Fold { op: *op, array: self.operand(array, steps)? },
            ArrayOp::Call { function, .. } => {
                return Err(Refusal::new(format!("nothing is known of `{function}`")));
            }
        };
        push(steps, Work::Whole { dst, work });
        Ok(())
    }
}

fn no_such(op: ScalarOp, ty: ElemType) -> Refusal {
    Refusal::new(format!("there is no `{op}` on {ty}"))
}

/// Whether there is something in rows that can be cut into groups.
pub(crate) fn has_operators(body: &Body) -> bool {
    let mut found = false;
    body.visit_stms(&mut |stm| {
        found |= matches!(
            stm.rhs,
            Rhs::Kernel { .. } | Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. }
        );
    });
    found
}
