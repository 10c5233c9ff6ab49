//! Core to bytecode: registers for variables and constants, code blocks, places, last uses.
//!
//! A constant is materialised in the block that uses it, once for the block and the loops and branches inside; the
//! body of a parallel operator has its own, so that it stays one self-contained piece.

use super::ir::*;
use galopvm_base::{Diagnostic, FileId, IdVec, Scalar, Sources, Span, TypedId};
use galopvm_bytecode::{
    self as bc, BlockId, CodeBlock, Def, Function, Instr, Module, Operand, Place, RegId, ValueType,
};
use std::collections::HashMap;

/// The bytecode of a program. Programs whose blocks nest deeper than bytecode allows are refused.
pub fn lower(program: &Program, sources: &Sources) -> Result<Module, Box<Diagnostic>> {
    let mut files = Files {
        sources,
        ids: Vec::new(),
        expansions: &program.expansions.0,
        numbers: HashMap::new(),
        calls: Vec::new(),
    };
    let mut module = Module { entries: program.entries.clone(), ..Module::default() };
    for fun in program.funs.iter() {
        let function = lower_fun(fun, &mut files)?;
        module.functions.push(function);
    }
    module.calls = files.calls;
    module.files = files.ids.iter().map(|f| sources.name(*f).to_string()).collect();
    Ok(module)
}

/// The source files and expanded calls that places mention, numbered by first mention.
struct Files<'s> {
    sources: &'s Sources,
    ids: Vec<FileId>,
    expansions: &'s [Origin],
    numbers: HashMap<u32, u32>,
    calls: Vec<Place>,
}

impl Files<'_> {
    fn place(&mut self, origin: Origin) -> Option<Place> {
        let span = origin.span?;
        let call = origin.inside.and_then(|expansion| self.call(expansion));
        let file = self.ids.iter().position(|f| *f == span.file).unwrap_or_else(|| {
            self.ids.push(span.file);
            self.ids.len() - 1
        });
        let (start, end) = self.sources.range(span);
        Some(Place { file: file as u32, start, end, call })
    }

    /// The number of an expanded call in the module; those around it come first.
    fn call(&mut self, expansion: u32) -> Option<u32> {
        if let Some(known) = self.numbers.get(&expansion) {
            return Some(*known);
        }
        let place = self.place(*self.expansions.get(expansion as usize)?)?;
        let number = self.calls.len() as u32;
        self.calls.push(place);
        self.numbers.insert(expansion, number);
        Some(number)
    }
}

/// Constants of one block.
struct Constants {
    regs: HashMap<Scalar, RegId>,
    /// Constants outside are not used inside.
    sealed: bool,
}

struct Lower<'f, 's> {
    files: &'f mut Files<'s>,
    function: Function,
    constants: Vec<Constants>,
    code: Vec<(Instr, Option<Place>)>,
}

fn lower_fun(fun: &Fun, files: &mut Files<'_>) -> Result<Function, Box<Diagnostic>> {
    let regs: IdVec<RegId, ValueType> = fun.vars.iter().copied().collect();
    let function = Function {
        name: fun.name.clone(),
        regs,
        params: fun.body.params.iter().map(|v| reg(*v)).collect(),
        results: fun.results.clone(),
        blocks: IdVec::new(),
    };
    let mut lower = Lower { files, function, constants: Vec::new(), code: Vec::new() };
    lower.block(&fun.body, true, 1)?;
    let mut function = lower.function;
    // The body's parameters are the function's.
    function.blocks[bc::module::BODY].params.clear();
    super::last_use::mark(&mut function);
    Ok(function)
}

fn reg(var: Var) -> RegId {
    RegId::from_index(var.index())
}

fn defs(vars: &[Var]) -> Vec<Def> {
    vars.iter().map(|v| Def(reg(*v))).collect()
}

fn array(var: Var) -> Operand {
    Operand::new(reg(var))
}

fn arrays(vars: &[Var]) -> Vec<Operand> {
    vars.iter().map(|v| array(*v)).collect()
}

impl Lower<'_, '_> {
    fn block(&mut self, block: &Block, sealed: bool, depth: usize) -> Result<BlockId, Box<Diagnostic>> {
        let id = self.function.blocks.push(CodeBlock::default());
        let outer = std::mem::take(&mut self.code);
        self.constants.push(Constants { regs: HashMap::new(), sealed });
        for stm in &block.stms {
            self.stm(stm, depth)?;
        }
        let results = self.operands(&block.results);
        self.constants.pop();
        let (code, mut places): (_, Vec<_>) = std::mem::replace(&mut self.code, outer).into_iter().unzip();
        if places.iter().all(Option::is_none) {
            // As the text form and stripped files have it.
            places.clear();
        }
        let params = block.params.iter().map(|v| reg(*v)).collect();
        self.function.blocks[id] = CodeBlock { params, code, results, places };
        Ok(id)
    }

    fn operands(&mut self, atoms: &[Atom]) -> Vec<Operand> {
        atoms.iter().map(|a| self.operand(*a)).collect()
    }

    fn operand(&mut self, atom: Atom) -> Operand {
        let value = match atom {
            Atom::Var(var) => return array(var),
            Atom::Const(value) => value,
        };
        for scope in self.constants.iter().rev() {
            if let Some(known) = scope.regs.get(&value) {
                return Operand::new(*known);
            }
            if scope.sealed {
                break;
            }
        }
        let dst = self.function.regs.push(ValueType::scalar(value.ty));
        self.code.push((Instr::Const { dst: Def(dst), value }, None));
        if let Some(scope) = self.constants.last_mut() {
            scope.regs.insert(value, dst);
        }
        Operand::new(dst)
    }

    fn dims(&mut self, dims: &[SliceDim]) -> Vec<bc::SliceDim> {
        let mut result = Vec::new();
        for dim in dims {
            result.push(match dim {
                SliceDim::At(a) => bc::SliceDim::At(self.operand(*a)),
                SliceDim::Range(start, end, step) => bc::SliceDim::Range {
                    start: start.map(|a| self.operand(a)),
                    end: end.map(|a| self.operand(a)),
                    step: step.map(|a| self.operand(a)),
                },
            });
        }
        result
    }

    fn stm(&mut self, stm: &Stm, depth: usize) -> Result<(), Box<Diagnostic>> {
        if depth >= bc::verify::MAX_DEPTH && !stm.op.blocks().is_empty() {
            let span = stm.origin.span.unwrap_or(Span::new(FileId(0), 0, 0));
            return Err(Box::new(Diagnostic::error(
                span,
                format!(
                    "branches, loops and operators are nested more than {} deep here",
                    bc::verify::MAX_DEPTH
                ),
            )));
        }
        let dsts = defs(&stm.defs);
        // Every statement that is not an assertion and has no list of results defines exactly one variable.
        let dst = dsts.first().copied().unwrap_or(Def(RegId(u32::MAX)));
        let instr = match &stm.op {
            Op::Scalar(op, ty, args) => {
                let args = self.operands(args);
                match args.as_slice() {
                    [a] => Instr::Op1 { dst, op: *op, ty: *ty, a: *a },
                    [a, b] => Instr::Op2 { dst, op: *op, ty: *ty, a: *a, b: *b },
                    [a, b, c, ..] => Instr::Op3 { dst, op: *op, ty: *ty, a: *a, b: *b, c: *c },
                    [] => return Ok(()),
                }
            }
            Op::Convert(from, to, a) => Instr::Convert { dst, from: *from, to: *to, a: self.operand(*a) },
            Op::If(cond, yes, no) => {
                let cond = self.operand(*cond);
                let then = self.block(yes, false, depth + 1)?;
                let otherwise = self.block(no, false, depth + 1)?;
                Instr::If { dsts, cond, then, otherwise }
            }
            Op::For { bound, init, body } => {
                let (bound, init) = (self.operand(*bound), self.operands(init));
                Instr::For { dsts, bound, init, body: self.block(body, false, depth + 1)? }
            }
            Op::While { init, cond, body } => {
                let init = self.operands(init);
                let cond = self.block(cond, false, depth + 1)?;
                Instr::While { dsts, init, cond, body: self.block(body, false, depth + 1)? }
            }
            Op::Call(function, args) => Instr::Call { dsts, function: *function, args: self.operands(args) },
            Op::Assert(cond, message, args) => {
                let (cond, args) = (self.operand(*cond), self.operands(args));
                Instr::Assert { cond, message: message.clone(), args }
            }
            Op::Fail(message, args) => {
                Instr::Fail { dsts, message: message.clone(), args: self.operands(args) }
            }
            Op::Trace { label, form, stops, values } => Instr::Trace {
                label: label.clone(),
                form: form.clone(),
                stops: u32::from(*stops),
                values: self.operands(values),
            },
            Op::Param(name) => match dsts.as_slice() {
                [given, value] => Instr::Param { given: *given, value: *value, name: name.clone() },
                _ => return Ok(()),
            },
            Op::Dim(v, dim) => Instr::Dim { dst, array: array(*v), dim: *dim },
            Op::Index(v, index) => Instr::Index { dst, array: array(*v), index: self.operands(index) },
            Op::Slice(v, dims) => Instr::Slice { dst, array: array(*v), dims: self.dims(dims) },
            Op::Update(v, dims, value) => {
                let dims = self.dims(dims);
                Instr::Update { dst, array: array(*v), dims, value: self.operand(*value) }
            }
            Op::Permute(v, perm) => Instr::Permute { dst, array: array(*v), perm: perm.clone() },
            Op::Reverse(v, dim) => Instr::Reverse { dst, array: array(*v), dim: *dim },
            Op::Reshape(v, shape) => Instr::Reshape { dst, array: array(*v), shape: self.operands(shape) },
            Op::Concat(parts, dim) => Instr::Concat { dst, arrays: arrays(parts), dim: *dim },
            Op::Replicate(count, value) => {
                Instr::Replicate { dst, count: self.operand(*count), value: self.operand(*value) }
            }
            Op::Iota { ty, count, start, step } => Instr::Iota {
                dst,
                ty: *ty,
                count: self.operand(*count),
                start: self.operand(*start),
                step: self.operand(*step),
            },
            Op::Array(ty, rank, rows) => {
                Instr::Array { dst, ty: *ty, rank: *rank, rows: self.operands(rows) }
            }
            Op::Copy(v) => Instr::Copy { dst, array: array(*v) },
            Op::Manifest(v) => Instr::Manifest { dst, array: array(*v) },
            Op::Rotate(v, dim, amount) => {
                Instr::Rotate { dst, array: array(*v), dim: *dim, amount: self.operand(*amount) }
            }
            Op::Equal(a, b) => Instr::Equal { dst, a: array(*a), b: array(*b) },
            Op::FlatIndex { array: v, offset, sizes, strides } => {
                let (offset, sizes) = (self.operand(*offset), self.operands(sizes));
                Instr::FlatIndex { dst, array: array(*v), offset, sizes, strides: self.operands(strides) }
            }
            Op::FlatUpdate { array: v, offset, strides, value } => {
                let (offset, strides) = (self.operand(*offset), self.operands(strides));
                Instr::FlatUpdate { dst, array: array(*v), offset, strides, value: array(*value) }
            }
            Op::Scatter { width, dests, index, values } => Instr::Scatter {
                dsts,
                width: self.operand(*width),
                dests: arrays(dests),
                index: arrays(index),
                values: arrays(values),
            },
            Op::Hist { width, dests, neutral, index, values, op } => {
                let (width, neutral) = (self.operand(*width), self.operands(neutral));
                let op = self.block(op, true, depth + 1)?;
                let (dests, index, values) = (arrays(dests), arrays(index), arrays(values));
                Instr::Hist { dsts, width, dests, neutral, index, values, op }
            }
            Op::Filter { width, arrays: rows, body } => {
                let width = self.operand(*width);
                Instr::Filter { dsts, width, arrays: arrays(rows), body: self.block(body, true, depth + 1)? }
            }
            Op::Partition { classes, width, arrays: rows, body } => {
                let (classes, width) = (*classes, self.operand(*width));
                let body = self.block(body, true, depth + 1)?;
                Instr::Partition { dsts, classes, width, arrays: arrays(rows), body }
            }
            Op::Stream { width, accs, arrays: rows, body } => {
                let width = self.operand(*width);
                let body = self.block(body, true, depth + 1)?;
                Instr::Stream { dsts, width, accs: arrays(accs), arrays: arrays(rows), body }
            }
            Op::AccWrite { accs, index, values, op } => {
                let (index, values) = (self.operands(index), self.operands(values));
                let op = self.block(op, true, depth + 1)?;
                Instr::AccWrite { dsts, accs: arrays(accs), index, values, op }
            }
            Op::Map { width, arrays: rows, body } => {
                let width = self.operand(*width);
                Instr::Map { dsts, width, arrays: arrays(rows), body: self.block(body, true, depth + 1)? }
            }
            Op::Reduce { width, neutral, arrays: rows, body } => {
                let (width, neutral) = (self.operand(*width), self.operands(neutral));
                let body = self.block(body, true, depth + 1)?;
                Instr::Reduce { dsts, width, neutral, arrays: arrays(rows), body }
            }
            Op::Scan { width, neutral, arrays: rows, body } => {
                let (width, neutral) = (self.operand(*width), self.operands(neutral));
                let body = self.block(body, true, depth + 1)?;
                Instr::Scan { dsts, width, neutral, arrays: arrays(rows), body }
            }
            Op::Redomap { width, neutral, arrays: rows, map, op } => {
                let (width, neutral) = (self.operand(*width), self.operands(neutral));
                let map = self.block(map, true, depth + 1)?;
                let op = self.block(op, true, depth + 1)?;
                Instr::Redomap { dsts, width, neutral, arrays: arrays(rows), map, op }
            }
        };
        let place = self.files.place(stm.origin);
        self.code.push((instr, place));
        Ok(())
    }
}
