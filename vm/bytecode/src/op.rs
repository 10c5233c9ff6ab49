//! **The** opcode table.
//!
//! A row gives: code (never reused), variant, mnemonic, effect, results in brackets and the other fields in braces with
//! their roles (`role.rs`), meaning. The instruction enum, encoder, decoder, assembler, disassembler, operand visitor,
//! how instructions are taken apart and the reference page are expansions of it, and so are the statements of core
//! (`frontend/src/core/ir.rs`) with their text, visitors and lowering. A new instruction is a row, its typing rule
//! (`verify/types.rs`) and its execution (interpreter).

use crate::field::{Def, Defines, Field, FieldVisitor, Fields, Operand, RegId};
use crate::parts::{Blocks, Operator, Parts};
use crate::role::{Role, types};
use crate::text::{Reader, TextError};
use crate::wire::{Decoder, Encoder, WireError};

/// What executing an instruction can do besides defining its registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Nothing: it may be removed, repeated or moved.
    Pure,
    /// It can end the program with an error; it may be repeated or moved where it would run anyway.
    Trap,
    /// It takes memory for its result; otherwise pure.
    Alloc,
    /// It takes memory and can end the program with an error.
    AllocTrap,
    /// Whatever its blocks or its callee do.
    Control,
    /// It is seen from outside: it is neither dropped, repeated nor moved past another such instruction.
    Seen,
}

impl Effect {
    /// The word in reference pages.
    pub const fn name(self) -> &'static str {
        match self {
            Effect::Pure => "pure",
            Effect::Trap => "trap",
            Effect::Alloc => "alloc",
            Effect::AllocTrap => "alloc, trap",
            Effect::Control => "control",
            Effect::Seen => "seen",
        }
    }
}

/// What the table says of an opcode.
#[derive(Clone, Copy, Debug)]
pub struct OpRow {
    /// The opcode.
    pub opcode: Opcode,
    /// The byte in files.
    pub code: u8,
    /// The word in assembly.
    pub mnemonic: &'static str,
    /// Its effect.
    pub effect: Effect,
    /// Names and roles of its fields, in the order of encoding; results come first.
    pub fields: &'static [(&'static str, Role)],
    /// Its meaning.
    pub doc: &'static str,
}

/// The table: gives its rows to a macro, which expands them to what it needs.
#[macro_export]
macro_rules! opcode_table {
    ($expand:ident) => {
        $expand! {
            // Scalars
            0x01 Const "const" Pure [dst: Def] { value: Constant }
                "A constant.";
            0x02 Op1 "op1" Pure [dst: Def] { op: Operation, ty: Type, a: Value }
                "A unary scalar operation on a type.";
            0x03 Op2 "op2" Trap [dst: Def] { op: Operation, ty: Type, a: Value, b: Value }
                "A binary scalar operation on a type; division traps on an integer zero.";
            0x04 Op3 "op3" Pure [dst: Def] { op: Operation, ty: Type, a: Value, b: Value, c: Value }
                "A ternary scalar operation on a type.";
            0x05 Convert "convert" Pure [dst: Def] { from: Type, to: Type, a: Value }
                "Conversion between element types.";
            // Control
            0x10 If "if" Control [dsts: Joined] { cond: Condition, then: Branch, otherwise: Branch }
                "Executes one of two blocks (no parameters) and defines the registers as its results.";
            0x11 For "for" Control [dsts: Carried] { bound: Extent, init: Initial, body: Round }
                "Counts i from 0 below an i64 bound; block parameters: i, then the carried values, whose next values are the results.";
            0x12 While "while" Control [dsts: Carried] { init: Initial, cond: Test, body: Round }
                "Repeats the body while the condition block gives true; both take the carried values.";
            0x13 Call "call" Control [dsts: Returned] { function: Function, args: Args }
                "Calls a function.";
            0x14 Assert "assert" Trap [] { cond: Claim, message: Text, args: Values }
                "Ends the program with the message unless the condition holds; each `{}` in it shows the next scalar argument.";
            0x15 Fail "fail" Trap [dsts: Never] { message: Text, args: Values }
                "Ends the program with the message, written as for `assert`; the registers may have any types and never get a value.";
            0x16 Trace "trace" Seen [] { label: Text, form: Form, purpose: Number, values: Values }
                "Shows the value that the form makes of the values, under a label, to whoever listens. `purpose` is 0 where the value is of interest, 1 where a debugger may stop, 2 where the label is a name that means the value at the next such place, 3 where a debugger may stop if the first value is NaN and no other one is.";
            0x17 Param "param" Pure [given: Def, value: Def] { name: Text }
                "The tuning parameter of this name: whether the host has given it a value (bool), and that value (i64), else 0.";
            // Arrays
            0x20 Dim "dim" Pure [dst: Measured] { array: Array, dim: Number }
                "The extent of one dimension, as i64.";
            0x21 Index "index" Trap [dst: Seen] { array: Array, index: Positions }
                "The element, or the sub-array (a view), at i64 indices of the first dimensions; outside: a trap.";
            0x22 Slice "slice" Trap [dst: Seen] { array: Array, dims: Slice }
                "A view: per dimension an index, or a range start:end:step with Futhark's defaults; trailing dimensions stay whole.";
            0x23 Update "update" AllocTrap [dst: Def] { array: Array, dims: Slice, value: Value }
                "The array with an element or slice replaced; in place if this is the last use and nobody else holds the block.";
            0x24 Permute "permute" Pure [dst: Turned] { array: Array, perm: Numbers }
                "A view whose dimension k is the array's dimension perm[k].";
            0x25 Reverse "reverse" Pure [dst: Turned] { array: Array, dim: Number }
                "A view with one dimension reversed.";
            0x26 Reshape "reshape" AllocTrap [dst: Seen] { array: Array, shape: Extents }
                "The elements in row-major order under a new shape of the same size; a view where one LMAD can say it, else a copy.";
            0x27 Concat "concat" AllocTrap [dst: Def] { arrays: Arrays, dim: Number }
                "Arrays one after the other along a dimension; other extents must agree.";
            0x28 Replicate "replicate" AllocTrap [dst: Def] { count: Extent, value: Value }
                "An array of i64 count copies of a value; a negative count is a trap.";
            0x29 Iota "iota" AllocTrap [dst: Def] { ty: Type, count: Extent, start: Value, step: Value }
                "start, start + step, .. in an integer type; a negative count is a trap.";
            0x2a Array "array" AllocTrap [dst: Def] { ty: Type, rank: Number, rows: Values }
                "An array (of this rank) of the given rows, which must have equal shapes.";
            0x2b Copy "copy" Alloc [dst: Def] { array: Array }
                "The same value in a row-major block of its own.";
            0x2c Manifest "manifest" Alloc [dst: Def] { array: Array }
                "The same value, row-major: the array itself if it lies like that, else a copy.";
            0x2d Rotate "rotate" Alloc [dst: Def] { array: Array, dim: Number, amount: Position }
                "Index i of the dimension is index (i + amount) mod extent of the array, for any i64 amount.";
            0x2e Equal "equal" Pure [dst: Def] { a: Array, b: Array }
                "Whether two arrays of one type have equal shapes and elements that are equal as `eq` says (NaN equals nothing), as bool.";
            0x2f FlatIndex "flat_index" Trap [dst: Seen] { array: Array, offset: Position, sizes: Extents, strides: Positions }
                "A view: index (i1, .., ik) is row offset + i1*stride1 + .. + ik*stridek of the array (all i64); a place outside, or a negative size, is a trap. Rows may be arrays: the rank is k more than theirs.";
            0x30 FlatUpdate "flat_update" AllocTrap [dst: Def] { array: Array, offset: Position, strides: Positions, value: Array }
                "The array with the rows that `flat_index` means replaced by the value, whose first k extents are the sizes; different values for the same row are a trap. In place as `update`.";
            // Parallel operators
            0x40 Map "map" Control [dsts: Made] { width: Width, arrays: Rows, body: Items }
                "Applies the block to rows of arrays of i64 extent `width`; results become rows of the defined arrays.";
            0x41 Reduce "reduce" Control [dsts: Totals] { width: Width, neutral: Neutral, arrays: Rows, body: Combine }
                "Combines rows with an associative block (accumulators, then items) that has the given neutral elements.";
            0x42 Scan "scan" Control [dsts: Prefixes] { width: Width, neutral: Neutral, arrays: Rows, body: Combine }
                "All inclusive prefixes of `reduce`, those of the first components that have a result; the others are not kept.";
            0x43 Redomap "redomap" Control [dsts: Totals] { width: Width, neutral: Neutral, arrays: Rows, map: Items, op: Combine }
                "Applies the map block to rows and combines its results, which are scalars, with the operator block as `reduce` does.";
            0x44 Scatter "scatter" AllocTrap [dsts: Changed] { width: Width, dests: Dests, index: Index, values: Written }
                "Each destination with row i of its value array in place of the element (or sub-array) at index (index1[i], .., indexd[i]) of its first d dimensions, for i from 0 below `width`; outside indices are ignored, the last write stays. The index arrays are d []i64; destinations agree in the first d extents. In place as `update`.";
            0x45 Hist "hist" Control [dsts: Changed] { width: Width, dests: Dests, neutral: Neutral, index: Index, values: Written, op: Combine }
                "As `scatter`, but what is written is the operator block (elements of all destinations, then rows of all value arrays, to new elements): associative, commutative, with the given neutral elements.";
            0x46 Filter "filter" Control [dsts: Chosen] { width: Width, arrays: Rows, body: Items }
                "Keeps the rows for which the block gives true, in order: defines their number (i64), then one array for each given one.";
            0x47 Partition "partition" Control [dsts: Chosen] { classes: Number, width: Width, arrays: Rows, body: Items }
                "Sorts rows stably by the class that the block gives (i64; what is not in 0 up to classes-1 counts as the last): defines the number of rows of each class (i64), then one array for each given one.";
            0x48 Stream "stream" Control [dsts: Changed] { width: Width, accs: Dests, arrays: Rows, body: Pass }
                "Passes accumulators (arrays) through the block for each row: block parameters are accumulators, then rows; results the accumulators. The block changes them by `acc_write` alone, so that rows may be taken in any order.";
            0x49 AccWrite "acc_write" Control [dsts: Changed] { accs: Dests, index: Positions, values: Values, op: Combine }
                "The accumulators with, at d i64 indices of their first dimensions, the operator block (elements of all, then the values, to new elements) in place; outside they stay. A block that only gives back the values replaces. In place as `update`.";
        }
    };
}

macro_rules! instructions {
    ($($code:literal $variant:ident $mnemonic:literal $effect:ident
       [$($def:ident : $gives:ident),*] { $($field:ident : $role:ident),* } $doc:literal;)+) => {
        /// An opcode.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub enum Opcode {
            $(#[doc = $doc] $variant = $code),+
        }

        /// An instruction.
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[allow(missing_docs, reason = "fields are described by the row's text")]
        pub enum Instr {
            $(#[doc = $doc] $variant { $($def: types::$gives,)* $($field: types::$role),* }),+
        }

        static ROWS: &[OpRow] = &[$(OpRow {
            opcode: Opcode::$variant,
            code: $code,
            mnemonic: $mnemonic,
            effect: Effect::$effect,
            fields: &[$((stringify!($def), Role::$gives),)* $((stringify!($field), Role::$role)),*],
            doc: $doc,
        }),+];

        $(const _: () = assert!(
            Role::can_be_parts(&[$(Role::$role),*], Blocks::MOST),
            concat!("fields of `", $mnemonic, "` cannot be told apart by their roles"),
        );)+

        $(const _: () = assert!(
            Role::tells_of_first(&[$(Role::$gives),*], &[$(Role::$role),*]),
            concat!("`", $mnemonic, "` tells of an array that is not its first field"),
        );)+

        impl Opcode {
            /// Every row of the table.
            pub fn rows() -> &'static [OpRow] {
                ROWS
            }
        }

        impl Instr {
            /// The opcode.
            pub fn opcode(&self) -> Opcode {
                match self { $(Instr::$variant { .. } => Opcode::$variant),+ }
            }

            /// Calls the visitor for each field in order.
            pub fn visit(&self, visitor: &mut dyn FieldVisitor) {
                match self {
                    $(Instr::$variant { $($def,)* $($field),* } => {
                        $($def.visit(Role::$gives, visitor);)*
                        $($field.visit(Role::$role, visitor);)*
                    })+
                }
            }

            /// Adds its uses, in the order of the fields.
            pub fn operands_mut<'i>(&'i mut self, out: &mut Vec<&'i mut Operand>) {
                match self {
                    $(Instr::$variant { $($def: _,)* $($field),* } => { $($field.operands_mut(out);)* let _ = out; })+
                }
            }

            /// The fields by role.
            pub fn parts(&self) -> Parts<'_> {
                let mut parts = Parts::default();
                match self {
                    $(Instr::$variant { $($def,)* $($field),* } => {
                        $($def.part(Role::$gives, &mut parts);)*
                        $($field.part(Role::$role, &mut parts);)*
                    })+
                }
                parts
            }

            /// The instruction as an operator over rows, if it is one. Asked at each execution, so each row of the table
            /// becomes code of its own.
            pub fn operator(&self) -> Option<Operator<'_>> {
                match self {
                    $(Instr::$variant { $($def,)* $($field),* } => {
                        const GIVES: Option<Role> = Role::first(&[$(Role::$gives),*]);
                        let mut parts = Parts::default();
                        $($def.part(Role::$gives, &mut parts);)*
                        $($field.part(Role::$role, &mut parts);)*
                        parts.operator(GIVES)
                    })+
                }
            }

            /// What its results are to it, if it has any.
            #[inline]
            pub fn gives(&self) -> Option<Role> {
                match self {
                    $(Instr::$variant { .. } => const { Role::first(&[$(Role::$gives),*]) },)+
                }
            }

            pub(crate) fn encode(&self, out: &mut Encoder<'_>) {
                out.byte(self.row().code);
                match self {
                    $(Instr::$variant { $($def,)* $($field),* } => {
                        $($def.encode(out);)*
                        $($field.encode(out);)*
                    })+
                }
            }

            pub(crate) fn decode(input: &mut Decoder<'_>) -> Result<Instr, WireError> {
                let code = input.byte()?;
                match code {
                    $($code => Ok(Instr::$variant {
                        $($def: Field::decode(input)?,)*
                        $($field: Field::decode(input)?),*
                    }),)+
                    _ => Err(input.error(format!("unknown opcode {code}"))),
                }
            }

            pub(crate) fn print_fields(&self, out: &mut Vec<String>) {
                match self {
                    $(Instr::$variant { $($def: _,)* $($field),* } => { $(out.push($field.print());)* })+
                }
            }

            pub(crate) fn parse(defs: Vec<Def>, mnemonic: &str, input: &mut Reader<'_>) -> Result<Instr, TextError> {
                let mut defs = defs.into_iter();
                let instr = match mnemonic {
                    $($mnemonic => Instr::$variant {
                        $($def: Defines::from_defs(&mut defs).ok_or_else(|| input.error("a definition is missing"))?,)*
                        $($field: Field::parse(input)?),*
                    },)+
                    _ => return Err(input.error(format!("unknown instruction `{mnemonic}`"))),
                };
                if defs.next().is_some() {
                    return Err(input.error(format!("`{mnemonic}` defines fewer registers")));
                }
                Ok(instr)
            }
        }
    };
}

opcode_table!(instructions);

/// The pattern of the instructions that are not about whole arrays: scalars, control and operators over rows. A match that
/// says what becomes of each array instruction ends with it, so that the compiler names the match to a new one.
/// Given is the name of another enum that is an expansion of the table, as core's statements are.
#[macro_export]
macro_rules! not_on_arrays {
    () => {
        $crate::not_on_arrays!(Instr)
    };
    ($form:ident) => {
        $form::Const { .. }
            | $form::Op1 { .. }
            | $form::Op2 { .. }
            | $form::Op3 { .. }
            | $form::Convert { .. }
            | $form::If { .. }
            | $form::For { .. }
            | $form::While { .. }
            | $form::Call { .. }
            | $form::Assert { .. }
            | $form::Fail { .. }
            | $form::Trace { .. }
            | $form::Param { .. }
            | $crate::over_rows!($form)
    };
}

/// The pattern of the instructions on whole arrays: for a match that treats all of them alike.
#[macro_export]
macro_rules! on_arrays {
    () => {
        $crate::on_arrays!(Instr)
    };
    ($form:ident) => {
        $form::Dim { .. }
            | $form::Index { .. }
            | $form::Slice { .. }
            | $form::Update { .. }
            | $form::Permute { .. }
            | $form::Reverse { .. }
            | $form::Reshape { .. }
            | $form::Concat { .. }
            | $form::Replicate { .. }
            | $form::Iota { .. }
            | $form::Array { .. }
            | $form::Copy { .. }
            | $form::Manifest { .. }
            | $form::Rotate { .. }
            | $form::Equal { .. }
            | $form::FlatIndex { .. }
            | $form::FlatUpdate { .. }
    };
}

/// The pattern of the operators over rows, and of what is written at computed places.
#[macro_export]
macro_rules! over_rows {
    () => {
        $crate::over_rows!(Instr)
    };
    ($form:ident) => {
        $form::Map { .. }
            | $form::Reduce { .. }
            | $form::Scan { .. }
            | $form::Redomap { .. }
            | $form::Scatter { .. }
            | $form::Hist { .. }
            | $form::Filter { .. }
            | $form::Partition { .. }
            | $form::Stream { .. }
            | $form::AccWrite { .. }
    };
}

/// The pattern of the instructions that are more than one operation on scalars: a match that says what becomes of each
/// operation on scalars ends with it.
#[macro_export]
macro_rules! not_on_scalars {
    () => {
        $crate::not_on_scalars!(Instr)
    };
    ($form:ident) => {
        $form::If { .. }
            | $form::For { .. }
            | $form::While { .. }
            | $form::Call { .. }
            | $form::Assert { .. }
            | $form::Fail { .. }
            | $form::Trace { .. }
            | $form::Param { .. }
            | $crate::on_arrays!($form)
            | $crate::over_rows!($form)
    };
}

impl Opcode {
    /// The opcode's row.
    pub fn row(self) -> &'static OpRow {
        // The table is complete by construction: each variant comes from a row.
        ROWS.iter().find(|r| r.opcode == self).expect("every opcode has a row")
    }
}

impl Instr {
    /// The row of the instruction's opcode.
    pub fn row(&self) -> &'static OpRow {
        self.opcode().row()
    }

    /// Its result and the array that this shows, if it does nothing but show one.
    pub fn shows(&self) -> Option<(RegId, RegId)> {
        self.gives().filter(|gives| gives.is_view())?;
        let fields = Fields::of(self);
        Some((fields.defs.first()?.0, fields.operands.first()?.reg))
    }

    /// Whether it is a parallel operator that executes a block for each row.
    pub fn goes_over_rows(&self) -> bool {
        matches!(self.gives(), Some(Role::Made | Role::Totals | Role::Prefixes))
    }

    /// Whether back ends may be asked to execute it, or its block for all rows.
    pub fn has_kernel(&self) -> bool {
        self.is_parallel() || self.gives() == Some(Role::Chosen)
    }

    /// Whether back ends may be asked to execute it: an operator over rows, or writes at computed places.
    pub fn is_parallel(&self) -> bool {
        self.goes_over_rows() || matches!(self, Instr::Scatter { .. } | Instr::Hist { .. })
    }
}
