//! The array bytecode: **the** opcode table and what derives from it.
//!
//! - `op.rs`: the table, one row per instruction. `role.rs`: what a field is to its instruction, and so its type.
//!   `field.rs`: the types of fields; each knows how to encode, decode, print, parse and visit itself, so a new row needs
//!   none of that. `parts.rs`: instructions taken apart by role.
//! - `module.rs`: modules, functions, code blocks, entry points, source places. `scope.rs`: pieces of a function that run as a whole.
//! - `form.rs`: how values of the language are made of values of the machine. `purpose.rs`: what programs show them for.
//! - `file.rs`: the `.gbc` container. `wire.rs`: its primitive encodings.
//! - `text/`: assembler and disassembler. `verify/`: what may be relied on before anything runs.
//!
//! The form is structured: a function is a tree of code blocks; `if`, loops and the parallel operators refer to
//! blocks. Registers are typed, belong to the function, and are defined exactly once. Each operand says whether it
//! is the last use of its register.
#![forbid(unsafe_code)]

pub mod field;
pub mod file;
pub mod form;
pub mod module;
pub mod op;
pub mod parts;
pub mod purpose;
pub mod reference;
pub mod role;
pub mod scope;
pub mod text;
pub mod verify;
mod wire;

pub use field::{BlockId, Def, FuncId, Operand, RegId, SliceDim};
pub use file::{FormatError, VERSION, decode, encode};
pub use form::Form;
pub use module::{CodeBlock, Entry, EntryValue, Function, Module, Place, ValueType};
pub use op::{Effect, Instr, OpRow, Opcode};
pub use parts::{Given, GivenAll, Operator, Parts};
pub use purpose::Purpose;
pub use role::Role;
pub use scope::Scope;
pub use verify::{VerifiedModule, VerifyError, verify};
