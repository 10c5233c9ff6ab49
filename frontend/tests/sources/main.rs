//! Source to bytecode: a module for each kind of test.

mod documentation;
mod expression;
mod golden;
mod precedence;
mod prelude;
mod robust;
