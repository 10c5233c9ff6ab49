//! Programs in assembly and in bytecode files, executed: a module for each kind.

mod frozen;
mod layouts;
mod mutants;
mod run;
mod views;
