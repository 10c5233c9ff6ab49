//! What becomes of an operator that is about to run: decided once, as data, and then carried out (`execute.rs`).
//!
//! In this order, each knowing what was decided before:
//! 1. the *choice*: code that was planned, code that is made at once, or the interpreter (`choice.rs` in `vm/tier`);
//! 2. the *group*: kernels that the operator shares with those that follow it, which run in its place (`fused.rs`);
//! 3. the *copies*: arrays that it reads in another layout (`layouts/`);
//! 4. the *outputs*: where its results live (`residence.rs`), and those that are born in the layout of their readers
//!    (`layouts/regions.rs`).
//!
//! Invariants: deciding changes no register and makes no array. An order without its copies and births means the same and
//! takes no memory but that of the results.

use super::Optimizer;
use super::layouts::advice::BirthAdvice;
use super::residence::Placing;
use galopvm_bytecode::{Operator, RegId};
use galopvm_interp::{Outcome, Registers};
use galopvm_tier::{Choice, Execution, Executor};

/// What becomes of an execution that runs alone.
pub(super) struct Order {
    pub(super) choice: Choice,
    pub(super) copies: Copies,
    pub(super) outputs: Placing,
    pub(super) births: Vec<BirthAdvice>,
}

/// Arrays that an operator reads in other layouts.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) all: Vec<Relay>,
    /// Who was thought to execute the operator, if anybody asked.
    pub(super) asked_for: Option<Executor>,
}

/// A register that is given a copy of its array while an operator runs.
pub(super) struct Relay {
    pub(super) reg: RegId,
    /// The dimensions of the copy, outermost in memory first.
    pub(super) order: Vec<usize>,
    /// Nobody needs the array afterwards.
    pub(super) is_free: bool,
}

impl<'a> Optimizer<'a> {
    /// The order for an execution that runs alone.
    pub(super) fn order(
        &mut self,
        registers: &Registers<'a>,
        execution: Execution,
        operator: &Operator<'_>,
        choice: Choice,
    ) -> Outcome<Order> {
        let copies = self.copies(registers, execution, operator, choice);
        let outputs = self.residences(registers, execution, operator, choice)?;
        let births = self.births(registers, execution, operator, &outputs);
        Ok(Order { choice, copies, outputs, births })
    }
}
