//! Modules and their parts.

use crate::field::{BlockId, Fields, FuncId, Operand, RegId};
use crate::op::Instr;
use galopvm_base::{ElemType, IdVec, Pos};
use std::fmt;

/// The type of a register: a scalar (rank 0) or an array. Extents are values, not types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValueType {
    /// Element type.
    pub elem: ElemType,
    /// Number of dimensions.
    pub rank: u8,
}

impl ValueType {
    /// A scalar type.
    pub const fn scalar(elem: ElemType) -> ValueType {
        ValueType { elem, rank: 0 }
    }

    /// An array type.
    pub const fn array(elem: ElemType, rank: u8) -> ValueType {
        ValueType { elem, rank }
    }

    /// True for a scalar.
    pub const fn is_scalar(self) -> bool {
        self.rank == 0
    }

    /// The type of the rows of an array of this type; a scalar has none.
    pub fn row(self) -> Option<ValueType> {
        self.rank.checked_sub(1).map(|rank| ValueType { rank, ..self })
    }

    /// The type of an array whose rows have this type.
    pub fn array_of(self) -> ValueType {
        ValueType { rank: self.rank.saturating_add(1), ..self }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.rank {
            f.write_str("[]")?;
        }
        write!(f, "{}", self.elem)
    }
}

/// A place in a source file: first and last position, both inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Index into [`Module::files`].
    pub file: u32,
    /// First position.
    pub start: Pos,
    /// Last position.
    pub end: Pos,
    /// If the code came here by replacing a call with the callee's body: that call, an index into [`Module::calls`].
    pub call: Option<u32>,
}

/// A sequence of instructions with parameters and results. Blocks form a tree: each is the body of its function or is named
/// by exactly one instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeBlock {
    /// Registers that are given values from outside, as the naming instruction says.
    pub params: Vec<RegId>,
    /// The instructions, in order.
    pub code: Vec<Instr>,
    /// The values of the block.
    pub results: Vec<Operand>,
    /// The place of each instruction, or nothing if the source map was stripped or the instruction has none.
    /// Either as long as `code` or empty.
    pub places: Vec<Option<Place>>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// Its name in the source, for messages.
    pub name: String,
    /// The type of each register.
    pub regs: IdVec<RegId, ValueType>,
    /// Parameters; the body block has none of its own.
    pub params: Vec<RegId>,
    /// Types of the results.
    pub results: Vec<ValueType>,
    /// All blocks; the first is the body.
    pub blocks: IdVec<BlockId, CodeBlock>,
}

/// The id of every function's body.
pub const BODY: BlockId = BlockId(0);

/// One source-level parameter or result of an entry point, made of one or more values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryValue {
    /// Parameter name; empty for results.
    pub name: String,
    /// Its source type, as Futhark writes it; `*` in front if unique.
    pub ty: String,
    /// How many function parameters or results it consists of.
    pub values: u32,
}

/// A function that users can call by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// The function.
    pub function: FuncId,
    /// Source-level parameters.
    pub params: Vec<EntryValue>,
    /// Source-level results: the components of a tuple count one by one.
    pub results: Vec<EntryValue>,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Module {
    /// All functions.
    pub functions: IdVec<FuncId, Function>,
    /// Entry points, by source order.
    pub entries: Vec<Entry>,
    /// Names of source files, for places.
    pub files: Vec<String>,
    /// Calls that were replaced by the callee's body, for back traces. A call inside such a body refers to an earlier one.
    pub calls: Vec<Place>,
}

impl Module {
    /// The entry point of this name.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.name == name)
    }

    /// The names of the tuning parameters that the code reads, each once, in the order of the code.
    pub fn params(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for instr in self.functions.iter().flat_map(|f| f.blocks.iter()).flat_map(|b| &b.code) {
            if let Instr::Param { name, .. } = instr
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// A place and the calls that led there, innermost first.
    pub fn call_chain(&self, place: Place) -> impl Iterator<Item = Place> + '_ {
        // Each call refers to an earlier one, so this ends; a module that was not verified may lie.
        let outer = |inner: &Place| inner.call.and_then(|call| self.calls.get(call as usize)).copied();
        std::iter::successors(Some(place), outer).take(self.calls.len() + 1)
    }

    /// Removes all places.
    pub fn strip(&mut self) {
        for function in self.functions.iter_mut() {
            for block in function.blocks.iter_mut() {
                block.places.clear();
            }
        }
        self.files.clear();
        self.calls.clear();
    }
}

impl Function {
    /// Whether an operator over rows is in a block, or in one inside it.
    pub fn has_operators(&self, block: BlockId) -> bool {
        let inside = |instr: &Instr| Fields::of(instr).blocks.iter().any(|inner| self.has_operators(*inner));
        self.blocks[block].code.iter().any(|instr| instr.goes_over_rows() || inside(instr))
    }

    /// Calls `f` on every register that an instruction uses, in its blocks as well.
    pub fn each_use(&self, instr: &Instr, f: &mut dyn FnMut(RegId)) {
        let fields = Fields::of(instr);
        fields.operands.iter().for_each(|operand| f(operand.reg));
        for inner in fields.blocks {
            let inner = &self.blocks[inner];
            inner.code.iter().for_each(|instr| self.each_use(instr, f));
            inner.results.iter().for_each(|operand| f(operand.reg));
        }
    }
}

impl CodeBlock {
    /// The place of an instruction.
    pub fn place(&self, index: usize) -> Option<Place> {
        self.places.get(index).copied().flatten()
    }
}
