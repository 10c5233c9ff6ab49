//! Loops by machine code: those that would be units of the interpreter, those around operators that can be done in blocks of
//! rounds (`vm/analysis/src/rounds/`), and those around operators that are so small that launches are most of their time.
//!
//! A loop is a site from the first time on that it runs as a unit, and whether code runs it is the tiers' choice, as for an
//! operator. Code changes copies of the arrays that a loop carries, unless it cannot trap and nobody else holds them: where
//! that would cost more than the loop, it is left to the unit, which changes them in their place. So are loops under a limit of
//! fuel: of turns that code has made nobody knows.

use super::{Executing, Optimizer};
use galopvm_bytecode::{BlockId, Instr, Operand};
use galopvm_interp::{LoopRun, Outcome, Registers, Site, work};
use galopvm_store::array::{Array, Granted};
use galopvm_tier::{Choice, Code, Execution, Interpreted, Met, Run, Why, Wish};

/// Operations for each element that is copied, at least.
const LEAST_WORK_FOR_A_COPY: u64 = 4;

/// Operations from which on it pays to ask for code.
const LEAST_WORK: u64 = 2048;

/// Operations of a loop around operators from which on it pays to ask whether it can be done in blocks of rounds.
const LEAST_WORK_OF_ROUNDS: u64 = 1 << 16;

/// Rounds from which on it does.
const LEAST_ROUNDS: i64 = 16;

/// Operations of a round, at most, for code of the loop as it stands: more are worth launches, with threads, layouts and operators
/// that run together.
const MOST_WORK_OF_A_ROUND: u64 = 1 << 15;

/// What a round changes of the array, on the average: one part of so many.
const PART_OF_A_ROUND: u64 = 3;

/// Turns that a `while` is taken to have.
const WHILE_TURNS: i64 = 64;

/// Executes a loop by code, if that is the choice and can be.
pub(super) fn run_loop<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    (block, index): (BlockId, usize),
    instr: &'a Instr,
) -> Outcome<LoopRun> {
    let (init, body, turns) = match instr {
        Instr::For { bound, init, body, .. } => (init, *body, registers.int(*bound).max(0)),
        Instr::While { init, body, .. } => (init, *body, WHILE_TURNS),
        _ => return Ok(LoopRun::Left),
    };
    // Only the interpreter ends a loop without end when the fuel is used up.
    let is_counted = run.has_fuel_limit();
    let Optimizer { tiers, .. } = &mut run.adviser;
    // Most loops are short: those cost no more than this.
    let least = registers.prepared.blocks[body].weight().saturating_mul(turns as u64);
    if !tiers.has_backends() || is_counted || least < LEAST_WORK && !tiers.compiles_all() {
        return Ok(LoopRun::Left);
    }
    let site = tiers.loop_site(Site { function: registers.function, block, index });
    let work = tiers.estimate(site, turns, || work(registers, std::iter::once(body), turns));
    let insists = elements(registers, init).saturating_mul(LEAST_WORK_FOR_A_COPY) > work;
    let execution = Execution { block, index, site, width: turns, work };
    run_code(run, registers, execution, instr, insists, Met::RunLoopCode)
}

/// Executes a loop around operators by code, on the one thread that such code has: in blocks of rounds, if it can be, or else as it
/// stands where a round is so little work that its operators are better off without launches of their own.
pub(super) fn run_rounds<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    (block, index): (BlockId, usize),
    instr: &'a Instr,
) -> Outcome<LoopRun> {
    let Instr::For { bound, init, body, .. } = instr else { return Ok(LoopRun::Left) };
    let turns = registers.int(*bound).max(0);
    // A shadow goes along, round by round.
    let is_followed = run.has_fuel_limit() || run.adviser.shadow.is_some();
    let tiers = &mut run.adviser.tiers;
    let insists_on_code = tiers.compiles_all();
    if is_followed || !tiers.has_backends() || turns < LEAST_ROUNDS && !insists_on_code {
        return Ok(LoopRun::Left);
    }
    let place = Site { function: registers.function, block, index };
    let carried = elements(registers, init);
    // What rounds change shrinks, or stays.
    let in_blocks = carried.saturating_mul(turns as u64) / PART_OF_A_ROUND;
    if (in_blocks >= LEAST_WORK_OF_ROUNDS || insists_on_code)
        && let Some(site) = tiers.rounds_site(place, in_blocks, turns)
    {
        let execution = Execution { block, index, site, width: turns, work: in_blocks };
        let ran = run_code(run, registers, execution, instr, false, Met::RunLoopBlocks)?;
        if ran != LoopRun::Left || !run.adviser.tiers.is_no_kernel(site) {
            return Ok(ran);
        }
    }
    if turns < LEAST_ROUNDS {
        return Ok(LoopRun::Left);
    }
    let Some(site) = run.adviser.tiers.small_rounds_site(place) else { return Ok(LoopRun::Left) };
    let work = work(registers, std::iter::once(*body), turns);
    let per_round = work.all / turns.unsigned_abs();
    if work.all < LEAST_WORK || per_round > MOST_WORK_OF_A_ROUND {
        return Ok(LoopRun::Left);
    }
    let insists = carried.saturating_mul(LEAST_WORK_FOR_A_COPY) > work.all;
    let execution = Execution { block, index, site, width: turns, work: work.all };
    run_code(run, registers, execution, instr, insists, Met::RunLoopWhole)
}

fn run_code<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    execution: Execution,
    instr: &'a Instr,
    insists: bool,
    done: Met,
) -> Outcome<LoopRun> {
    let (Instr::For { dsts, init, .. } | Instr::While { dsts, init, .. }) = instr else {
        return Ok(LoopRun::Left);
    };
    let Optimizer { tiers, memory, .. } = &mut run.adviser;
    let choice = match tiers.choose(execution, Interpreted::Loop) {
        Choice::Code(Code::Planned { waits, .. }) => Choice::Code(Code::Planned { waits, stands_in: false }),
        // Code that is made at once is no faster than a unit.
        Choice::Code(Code::Quick) => Choice::Interpreter(Why::NotHot),
        interpreted => interpreted,
    };
    let place = |operand: &Operand| {
        let array = array_of(registers, operand).filter(|_| operand.last)?;
        // The register, and the place itself.
        Granted::new(array.clone(), 2)
    };
    let places: Vec<Option<Granted>> = init.iter().map(place).collect();
    let wish = Wish { places: &places, insists, ..Wish::default() };
    let ran = tiers.run(execution, choice, registers, memory, wish)?;
    drop(places);
    match ran {
        Run::Done(values) => {
            run.adviser.tiers.coverage.met(done);
            run.pay(execution.work)?;
            registers.drop_all(init);
            dsts.iter().zip(values).for_each(|(dst, value)| registers.set_value(dst.0, value));
            Ok(LoopRun::Done)
        }
        Run::Interpret => Ok(LoopRun::Left),
        Run::Trapped => Ok(LoopRun::Trapped(execution.site)),
    }
}

fn array_of<'r>(registers: &'r Registers<'_>, operand: &Operand) -> Option<&'r Array> {
    registers.is_array(operand.reg).then(|| registers.array_of(operand.reg)).flatten()
}

/// Elements of the arrays that a loop begins with.
fn elements(registers: &Registers<'_>, init: &[Operand]) -> u64 {
    let arrays = init.iter().filter_map(|operand| array_of(registers, operand));
    arrays.fold(0, |sum, array| sum.saturating_add(array.elements() as u64))
}
