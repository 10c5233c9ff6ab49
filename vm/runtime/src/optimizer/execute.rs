//! Carrying out the orders of operators (`order.rs`): by compiled code where there is some, else by the interpreter.
//!
//! Whatever an order gave an operator - copies in other layouts, places - the result is that of the interpreter; where code
//! traps, the interpreter runs the operator again and says which error it is.

use super::order::Order;
use super::placed::map_placed;
use super::residence::Placing;
use super::{Executing, Optimizer};
use galopvm_bytecode::{BlockId, Instr, Operand, Operator, Role, field::Fields};
use galopvm_data::Value;
use galopvm_interp::{Outcome, Registers, Work, iterations, work};
use galopvm_lmad::Lmad;
use galopvm_store::array::Granted;
use galopvm_store::error::ErrorKind;
use galopvm_tier::{Changes, Choice, Execution, Interpreted, Run, Wish};

/// Executes an operator, a scatter or a histogram.
pub(super) fn execute<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    at: (BlockId, usize),
    instr: &'a Instr,
) -> Outcome<()> {
    match (instr.operator(), instr.gives()) {
        (Some(operator), Some(Role::Chosen)) => select(run, registers, at, &operator),
        (Some(operator), _) => over_rows(run, registers, at, instr, &operator),
        (None, _) => write(run, registers, at, instr),
    }
}

/// Executes an operator that makes something of rows.
fn over_rows<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    at: (BlockId, usize),
    instr: &'a Instr,
    operator: &Operator<'a>,
) -> Outcome<()> {
    let execution = run.adviser.execution(registers, at, operator.width, |registers, width| {
        work(registers, operator.blocks(), width)
    })?;
    if run.adviser.is_done(registers, execution, instr) {
        return run.pay(execution.work);
    }
    let choice = run.adviser.tiers.choose(execution, Interpreted::Rows);
    run.adviser.tell_operator(registers, execution);
    let allows_groups = run.adviser.switches.fusion && choice.allows_groups(run.adviser.eager);
    if allows_groups && run.adviser.run_group(registers, execution)? {
        return run.pay(execution.work);
    }
    let order = run.adviser.order(registers, execution, operator, choice)?;
    carry_out(run, registers, execution, operator, order)
}

fn carry_out<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    execution: Execution,
    operator: &Operator<'a>,
    order: Order,
) -> Outcome<()> {
    let choice = order.choice;
    // What has been written over an array cannot be made again.
    let is_repeatable = order.outputs.is_repeatable();
    let mut relaying = run.adviser.relay(registers, execution, &order.copies, operator)?;
    let outcome = run.adviser.with_births(registers, operator, order);
    let mut outcome =
        outcome.and_then(|outputs| run_operator(run, registers, execution, operator, choice, outputs));
    let is_short = outcome.as_ref().is_err_and(|error| error.kind == ErrorKind::OutOfMemory);
    if is_repeatable && is_short && run.adviser.relay_undone(registers, &mut relaying) {
        let outputs = Placing::none(operator.dsts.len());
        outcome = run_operator(run, registers, execution, operator, choice, outputs);
    }
    run.adviser.relay_back(registers, execution, relaying);
    outcome
}

/// Executes an operator over rows, compiled or interpreted.
fn run_operator<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    execution: Execution,
    operator: &Operator<'a>,
    choice: Choice,
    outputs: Placing,
) -> Outcome<()> {
    let Execution { site, width, .. } = execution;
    let window = outputs.window().map(Changes::rows);
    let wish = Wish {
        places: &outputs.places,
        changes: outputs.changes().map(|changes| &**changes).or(window.as_ref()),
        others_stay: window.is_some(),
        insists: false,
    };
    match run_code(run, registers, execution, choice, wish)? {
        Run::Done(values) => {
            // As the interpreter would have: what is used up is given up.
            registers.drop_all(operator.arrays.iter().chain(operator.neutral));
            operator.dsts.iter().zip(values).for_each(|(dst, value)| registers.set_value(dst.0, value));
            Ok(())
        }
        Run::Interpret => match outputs.is_empty() {
            true => run.interpret_operator(registers, execution.at(), width, operator),
            false => map_placed(run, registers, execution.at(), width, operator, outputs),
        },
        Run::Trapped => {
            drop(outputs);
            run.interpret_operator(registers, execution.at(), width, operator)?;
            run.adviser.tiers.false_trap(site);
            Ok(())
        }
    }
}

/// Runs the code of an operator, if that is the choice and can be. The interpreter's operations are paid for.
fn run_code<'a>(
    run: &mut Executing<'a>,
    registers: &Registers<'a>,
    execution: Execution,
    choice: Choice,
    wish: Wish<'_>,
) -> Outcome<Run> {
    let Optimizer { tiers, memory, .. } = &mut run.adviser;
    let ran = tiers.run(execution, choice, registers, memory, wish)?;
    if let Run::Done(_) = ran {
        run.pay(execution.work)?;
    }
    Ok(ran)
}

/// Executes a scatter or histogram. A destination is written where it lies if this is the last use of it and nobody else
/// holds its block, and copied otherwise, by whoever executes it (`index_space.rs`, `tiers/launch.rs`).
fn write<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    at: (BlockId, usize),
    instr: &'a Instr,
) -> Outcome<()> {
    let parts = instr.parts();
    let width = parts.width.expect("only scatters and histograms come here");
    let execution = run.adviser.execution(registers, at, width, |registers, width| match instr {
        Instr::Scatter { dests, index, .. } => {
            let row =
                |dest: &Operand| Lmad::row_major(&registers.array(*dest).shape()[index.len()..]).elements();
            let all = dests.iter().map(row).fold(1, i64::saturating_add).saturating_mul(width);
            Work::flat(all as u64)
        }
        _ => work(registers, parts.blocks.iter().map(|(_, block)| block), width),
    })?;
    if run.adviser.is_done(registers, execution, instr) {
        return run.pay(execution.work);
    }
    let choice = run.adviser.tiers.choose(execution, Interpreted::Loop);
    run.adviser.tell_operator(registers, execution);
    let place = |dest: &Operand| {
        let array = registers.array_of(dest.reg).filter(|_| dest.last)?;
        // The register, and the place itself.
        Granted::new(array.clone(), 2)
    };
    let places: Vec<Option<Granted>> = match choice {
        Choice::Interpreter(_) => Vec::new(),
        _ => parts.dests.iter().map(place).collect(),
    };
    let ran = run_code(run, registers, execution, choice, Wish { places: &places, ..Wish::default() })?;
    drop(places);
    if let Run::Done(values) = ran {
        registers.drop_all(&Fields::of(instr).operands);
        parts.dsts.iter().zip(values).for_each(|(dst, value)| registers.set_value(dst.0, value));
        return Ok(());
    }
    run.interpret_write(registers, at, instr)?;
    if let Run::Trapped = ran {
        run.adviser.tiers.false_trap(execution.site);
    }
    Ok(())
}

/// Executes a `filter` or `partition`: the code of its block gives an answer for each row.
fn select<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    at: (BlockId, usize),
    operator: &Operator<'a>,
) -> Outcome<()> {
    let execution = run.adviser.execution(registers, at, operator.width, |registers, width| {
        work(registers, operator.blocks(), width)
    })?;
    let choice = run.adviser.tiers.choose(execution, Interpreted::Rows);
    run.adviser.tell_operator(registers, execution);
    let ran = run_code(run, registers, execution, choice, Wish::default())?;
    let trapped = matches!(ran, Run::Trapped);
    let answers = match ran {
        Run::Done(values) => match values.into_iter().next() {
            Some(Value::Array(answers)) => Some(answers),
            _ => None,
        },
        Run::Interpret | Run::Trapped => None,
    };
    run.choose_rows(registers, at, execution.width, operator, answers)?;
    if trapped {
        run.adviser.tiers.false_trap(execution.site);
    }
    Ok(())
}

impl<'a> Optimizer<'a> {
    /// An execution of the operator at a place of the code.
    fn execution(
        &mut self,
        registers: &Registers<'a>,
        (block, index): (BlockId, usize),
        width: Operand,
        work: impl FnOnce(&Registers<'a>, i64) -> Work,
    ) -> Outcome<Execution> {
        let site = registers.prepared.blocks[block].site(index).expect("every parallel operator is a site");
        let width = iterations(registers, width)?;
        let work = self.tiers.estimate(site, width, || work(registers, width));
        Ok(Execution { block, index, site, width, work })
    }

    /// Tells of an execution, if somebody wants to know.
    fn tell_operator(&mut self, registers: &Registers<'a>, execution: Execution) {
        if self.tiers.explainer.is_some() {
            let form = self.forms.form_of(registers, execution.at(), execution.width);
            self.tiers.tell_operator(execution, registers, form);
        }
    }
}
