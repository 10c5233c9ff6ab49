//! First-order, monomorphic core: the form between checked source and bytecode.

mod apply;
mod arrays;
mod build;
mod call;
mod common;
mod derivatives;
mod derive;
mod elements;
mod emit;
mod env;
mod exp;
mod form;
mod fuse;
mod interchange;
mod intrinsics;
pub mod ir;
mod last_use;
mod loops;
mod lower;
mod parse;
mod prefixes;
mod print;
mod simplify;
mod sizes;
mod soacs;
mod structure;
mod substitute;
mod sums;
mod value;
mod watch;

pub use build::{build, build_expression};
pub use fuse::fuse;
pub use lower::lower;
pub use parse::{CoreTextError, parse};
pub use print::print;
pub use watch::watch_nan;
