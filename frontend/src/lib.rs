//! Futhark source to checked, first-order core to bytecode; never runs anything.
//!
//! - `syntax/`: text to tree, with recovery; the tree back to canonical text.
//! - `names/`: which definition each name means.
//! - `types/`: inference, sizes.
//! - `modules/`: the module language, elaborated away.
//! - `matching/`: do patterns cover every value.
//! - `consume/`: nothing is used after it was consumed; what function results may share.
//! - `warnings/`: what is probably not meant.
//! - `core/`: first-order, monomorphic code; its text form; simplification; fusion; lowering to bytecode.
//! - `compile.rs`: the calls that others make.
#![forbid(unsafe_code)]

pub mod compile;
pub mod consume;
pub mod core;
mod habits;
pub mod matching;
pub mod modules;
pub mod names;
pub mod stack;
pub mod syntax;
pub mod types;
pub mod warnings;

pub use compile::{
    CheckReport, Compilation, CoreReport, EXPRESSION_ENTRY, ExpressionReport, ModuleReport, Options,
    Question, check, check_with, compile, compile_expression, compile_with, core_program, module_type,
    syntax_text,
};
pub use names::Imports;
