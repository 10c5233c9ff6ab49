//! Carrying out the orders of operators (`order.rs`): by compiled code where there is some, else by the interpreter.
//!
//! Whatever an order gave an operator - copies in other layouts, places - the result is that of the interpreter; where code
//! traps, the interpreter runs the operator again and says which error it is.

use super::order::Order;
use super::residence::Placing;
use super::{Interpreter, Outcome, Registers, shape};
use galopvm_bytecode::{BlockId, Instr, Operand, Operator, field::Fields};
use galopvm_data::Value;
use galopvm_lmad::Lmad;
use galopvm_store::array::Granted;
use galopvm_store::error::{ErrorKind, Trap};
use galopvm_tier::{Choice, Execution, Interpreted, Run, Wish, Work};

impl<'a> Interpreter<'a> {
    /// Executes an operator over rows.
    pub(super) fn operator(
        &mut self,
        registers: &mut Registers<'a>,
        block: BlockId,
        index: usize,
        instr: &'a Instr,
    ) -> Outcome<()> {
        let operator = instr.operator().expect("only parallel operators come here");
        let execution = self.execution(registers, (block, index), operator.width, |registers, width| {
            shape::work(registers, operator.blocks(), width)
        })?;
        if !self.done.is_empty() && self.is_done(registers, execution, instr)? {
            return Ok(());
        }
        let choice = self.tiers.choose(execution, Interpreted::Rows);
        self.tell_operator(registers, execution);
        if self.switches.fusion && choice.allows_groups(self.eager) && self.run_group(registers, execution)? {
            return self.pay(execution.work);
        }
        let order = self.order(registers, execution, &operator, choice)?;
        self.carry_out(registers, execution, &operator, order)
    }

    /// An execution of the operator at a place of the code.
    pub(super) fn execution(
        &mut self,
        registers: &Registers<'a>,
        (block, index): (BlockId, usize),
        width: Operand,
        work: impl FnOnce(&Registers<'a>, i64) -> Work,
    ) -> Outcome<Execution> {
        let site = registers.prepared.blocks[block].site(index).expect("every parallel operator is a site");
        let width = registers.int(width);
        if width < 0 {
            return Err(Trap::new(format!("An operator cannot have {width} iterations.")).into());
        }
        let work = self.tiers.estimate(site, width, || work(registers, width));
        Ok(Execution { block, index, site, width, work })
    }

    /// Tells of an execution, if somebody wants to know.
    pub(super) fn tell_operator(&mut self, registers: &Registers<'a>, execution: Execution) {
        if self.tiers.explainer.is_some() {
            let form = self.form_of(registers, execution.at(), execution.width);
            self.tiers.tell_operator(execution, registers, form);
        }
    }

    fn carry_out(
        &mut self,
        registers: &mut Registers<'a>,
        execution: Execution,
        operator: &Operator<'a>,
        order: Order,
    ) -> Outcome<()> {
        let choice = order.choice;
        // What has been written over an array cannot be made again.
        let is_repeatable = order.outputs.is_repeatable();
        let mut relaying = self.relay(registers, execution, &order.copies, operator)?;
        let outcome = self.with_births(registers, operator, order);
        let mut outcome =
            outcome.and_then(|outputs| self.run_operator(registers, execution, operator, choice, outputs));
        let is_short = outcome.as_ref().is_err_and(|error| error.kind == ErrorKind::OutOfMemory);
        if is_repeatable && is_short && self.relay_undone(registers, &mut relaying) {
            let outputs = Placing::none(operator.dsts.len());
            outcome = self.run_operator(registers, execution, operator, choice, outputs);
        }
        self.relay_back(registers, execution, relaying);
        outcome
    }

    /// Executes an operator over rows, compiled or interpreted.
    fn run_operator(
        &mut self,
        registers: &mut Registers<'a>,
        execution: Execution,
        operator: &Operator<'a>,
        choice: Choice,
        outputs: Placing,
    ) -> Outcome<()> {
        let Execution { block, index, site, width, .. } = execution;
        let wish = Wish { places: &outputs.places, changes: outputs.changes().map(|changes| &**changes) };
        match self.run_code(registers, execution, choice, wish)? {
            Run::Done(values) => {
                // As the interpreter would have: what is used up is given up.
                registers.drop_all(operator.arrays.iter().chain(operator.neutral));
                operator.dsts.iter().zip(values).for_each(|(dst, value)| registers.set_value(dst.0, value));
                Ok(())
            }
            Run::Interpret => match outputs.is_empty() {
                true => self.interpret_operator(registers, block, index, width, operator),
                false => self.map_placed(registers, (block, index), width, operator, outputs),
            },
            Run::Trapped => {
                drop(outputs);
                self.interpret_operator(registers, block, index, width, operator)?;
                self.tiers.false_trap(site);
                Ok(())
            }
        }
    }

    /// Runs the code of an operator, if that is the choice and can be. The interpreter's operations are paid for.
    pub(super) fn run_code(
        &mut self,
        registers: &Registers<'a>,
        execution: Execution,
        choice: Choice,
        wish: Wish<'_>,
    ) -> Outcome<Run> {
        let run = self.tiers.run(execution, choice, registers, self.memory, wish)?;
        if let Run::Done(_) = run {
            self.pay(execution.work)?;
        }
        Ok(run)
    }

    /// Executes a scatter or histogram. A destination is written where it lies if this is the last use of it and nobody else
    /// holds its block, and copied otherwise, by whoever executes it (`index_space.rs`, `tiers/launch.rs`).
    pub(super) fn write(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        let parts = instr.parts();
        let width = parts.width.expect("only scatters and histograms come here");
        let execution = self.execution(registers, at, width, |registers, width| match instr {
            Instr::Scatter { dests, index, .. } => {
                let row = |dest: &Operand| {
                    Lmad::row_major(&registers.array(*dest).shape()[index.len()..]).elements()
                };
                let all = dests.iter().map(row).fold(1, i64::saturating_add).saturating_mul(width);
                Work::flat(all as u64)
            }
            _ => shape::work(registers, parts.blocks.iter().map(|(_, block)| block), width),
        })?;
        if !self.done.is_empty() && self.is_done(registers, execution, instr)? {
            return Ok(());
        }
        let choice = self.tiers.choose(execution, Interpreted::Loop);
        self.tell_operator(registers, execution);
        let place = |dest: &Operand| {
            let array = registers.array_of(dest.reg).filter(|_| dest.last)?;
            // The register, and the place itself.
            Granted::new(array.clone(), 2)
        };
        let places: Vec<Option<Granted>> = match choice {
            Choice::Interpreter(_) => Vec::new(),
            _ => parts.dests.iter().map(place).collect(),
        };
        let run = self.run_code(registers, execution, choice, Wish { places: &places, changes: None })?;
        drop(places);
        if let Run::Done(values) = run {
            registers.drop_all(&Fields::of(instr).operands);
            parts.dsts.iter().zip(values).for_each(|(dst, value)| registers.set_value(dst.0, value));
            return Ok(());
        }
        self.interpret_write(registers, at, instr)?;
        if let Run::Trapped = run {
            self.tiers.false_trap(execution.site);
        }
        Ok(())
    }

    /// Executes a `filter` or `partition`: the code of its block gives an answer for each row.
    pub(super) fn select(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        let operator = instr.operator().expect("only operators that choose rows come here");
        let execution = self.execution(registers, at, operator.width, |registers, width| {
            shape::work(registers, operator.blocks(), width)
        })?;
        let choice = self.tiers.choose(execution, Interpreted::Rows);
        self.tell_operator(registers, execution);
        let run = self.run_code(registers, execution, choice, Wish::default())?;
        let trapped = matches!(run, Run::Trapped);
        let answers = match run {
            Run::Done(values) => match values.into_iter().next() {
                Some(Value::Array(answers)) => Some(answers),
                _ => None,
            },
            Run::Interpret | Run::Trapped => None,
        };
        self.choose_rows(registers, execution, &operator, answers)?;
        if trapped {
            self.tiers.false_trap(execution.site);
        }
        Ok(())
    }
}
