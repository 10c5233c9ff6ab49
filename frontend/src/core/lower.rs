//! Core to bytecode: registers for variables and constants, code blocks, places, last uses.
//!
//! A constant is materialised in the block that uses it, once for the block and the loops and branches inside; the
//! body of a parallel operator has its own, so that it stays one self-contained piece.

use super::ir::*;
use galopvm_base::{Diagnostic, ElemType, FileId, IdVec, Scalar, ScalarOp, Sources, Span, TypedId};
use galopvm_bytecode::{
    self as bc, BlockId, CodeBlock, Def, Form, FuncId, Function, Instr, Module, Operand, Place, RegId, Role,
    ValueType, opcode_table,
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
            Atom::Var(var) => return Operand::new(reg(var)),
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
        let instr = self.instruction(stm, depth)?;
        let place = self.files.place(stm.origin);
        self.code.push((instr, place));
        Ok(())
    }
}

macro_rules! lowering {
    ($($code:literal $variant:ident $mnemonic:literal $effect:ident
       [$($def:ident : $gives:ident),*] { $($field:ident : $role:ident),* } $doc:literal;)+) => {
        impl Lower<'_, '_> {
            /// The statement's instruction: operands in the order of the fields, then blocks.
            fn instruction(&mut self, stm: &Stm, depth: usize) -> Result<Instr, Box<Diagnostic>> {
                let mut defs = stm.defs.iter().map(|var| Def(reg(*var)));
                match &stm.op {
                    $(Op::$variant { $($field),* } => {
                        $(let $def = Defined::of(&mut defs).ok_or_else(|| wrong_results(stm))?;)*
                        if defs.next().is_some() {
                            return Err(wrong_results(stm));
                        }
                        $(let $field = $field.lower(self, (Role::$role, depth))?;)*
                        Ok(Instr::$variant { $($def,)* $($field),* })
                    })+
                }
            }
        }
    };
}

opcode_table!(lowering);

/// Cannot happen to what the front end makes of a source: the number of a statement's variables is its row's.
fn wrong_results(stm: &Stm) -> Box<Diagnostic> {
    let span = stm.origin.span.unwrap_or(Span::new(FileId(0), 0, 0));
    Box::new(Diagnostic::error(span, "a statement of core defines too few variables, or too many"))
}

/// The registers that an instruction defines, taken from those of its statement.
trait Defined: Sized {
    fn of(defs: &mut dyn Iterator<Item = Def>) -> Option<Self>;
}

impl Defined for Def {
    fn of(defs: &mut dyn Iterator<Item = Def>) -> Option<Def> {
        defs.next()
    }
}

impl Defined for Vec<Def> {
    fn of(defs: &mut dyn Iterator<Item = Def>) -> Option<Vec<Def>> {
        Some(defs.collect())
    }
}

/// What a type of fields becomes, with the field's role and how deep the statement is.
trait Lowered {
    type To;
    fn lower(&self, lower: &mut Lower<'_, '_>, place: (Role, usize)) -> Result<Self::To, Box<Diagnostic>>;
}

macro_rules! stays_the_same {
    ($($type:ty),+) => {
        $(impl Lowered for $type {
            type To = $type;
            fn lower(&self, _: &mut Lower<'_, '_>, _: (Role, usize)) -> Result<$type, Box<Diagnostic>> {
                Ok(self.clone())
            }
        })+
    };
}

stays_the_same!(Scalar, ScalarOp, ElemType, u32, String, Form, FuncId);

impl Lowered for Atom {
    type To = Operand;
    fn lower(&self, lower: &mut Lower<'_, '_>, _: (Role, usize)) -> Result<Operand, Box<Diagnostic>> {
        Ok(lower.operand(*self))
    }
}

impl Lowered for Var {
    type To = Operand;
    fn lower(&self, _: &mut Lower<'_, '_>, _: (Role, usize)) -> Result<Operand, Box<Diagnostic>> {
        Ok(Operand::new(reg(*self)))
    }
}

impl Lowered for SliceDim {
    type To = bc::SliceDim;
    fn lower(&self, lower: &mut Lower<'_, '_>, _: (Role, usize)) -> Result<bc::SliceDim, Box<Diagnostic>> {
        Ok(match *self {
            SliceDim::At(at) => bc::SliceDim::At(lower.operand(at)),
            SliceDim::Range(start, end, step) => {
                let [start, end, step] = [start, end, step].map(|part| part.map(|at| lower.operand(at)));
                bc::SliceDim::Range { start, end, step }
            }
        })
    }
}

impl<T: Lowered> Lowered for Vec<T> {
    type To = Vec<T::To>;
    fn lower(&self, lower: &mut Lower<'_, '_>, place: (Role, usize)) -> Result<Vec<T::To>, Box<Diagnostic>> {
        self.iter().map(|item| item.lower(lower, place)).collect()
    }
}

impl Lowered for Block {
    type To = BlockId;
    fn lower(
        &self,
        lower: &mut Lower<'_, '_>,
        (role, depth): (Role, usize),
    ) -> Result<BlockId, Box<Diagnostic>> {
        lower.block(self, role.is_for_rows(), depth + 1)
    }
}
