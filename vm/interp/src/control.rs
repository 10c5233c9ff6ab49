//! Branches, loops, calls, assertions.

use crate::adviser::{LoopRun, Way};
use crate::machine::Entry;
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::Scalar;
use galopvm_bytecode::{BlockId, Def, FuncId, Instr, Operand, Scope, module::BODY};
use galopvm_store::error::Trap;
use smallvec::SmallVec;

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    pub(super) fn control(
        &mut self,
        registers: &mut Registers<'a>,
        block: BlockId,
        index: usize,
        instr: &'a Instr,
    ) -> Outcome<()> {
        match instr {
            Instr::Call { .. } if self.adviser.has_run(registers, (block, index), instr) => {}
            Instr::For { dsts, init, .. } | Instr::While { dsts, init, .. }
                if self.loop_unit(registers, (block, index), instr, dsts, init)? => {}
            Instr::If { dsts, cond, then, otherwise } => {
                let taken = if registers.bits(*cond) != 0 { *then } else { *otherwise };
                self.block(registers, taken)?;
                self.end_block(registers, taken, dsts);
            }
            Instr::For { dsts, bound, init, body } => {
                let run = match self.adviser.opens(registers, (block, index)) {
                    true => LoopRun::Left,
                    false => A::runs_rounds(self, registers, (block, index), instr)?,
                };
                if run == LoopRun::Done {
                    return Ok(());
                }
                let region = self.adviser.begin_region(registers, Scope::Loop { block, index });
                self.adviser.executed(Way::Loop);
                self.count(registers, dsts, *bound, init, *body)?;
                self.adviser.end_region(registers, region);
                if let LoopRun::Trapped(site) = run {
                    self.adviser.trapped_falsely(site);
                }
            }
            Instr::While { dsts, init, cond, body } => {
                let region = self.adviser.begin_region(registers, Scope::Loop { block, index });
                self.adviser.executed(Way::Loop);
                self.repeat(registers, dsts, init, *cond, *body)?;
                self.adviser.end_region(registers, region);
            }
            Instr::Call { dsts, function, args } => {
                self.call(registers, (block, index), dsts, *function, args)?
            }
            Instr::Assert { cond, message, args } => {
                if registers.bits(*cond) == 0 {
                    let args = args.iter().map(|arg| registers.scalar(arg.reg));
                    return Err(Trap::new(assert_message(message, args)).into());
                }
            }
            Instr::Fail { dsts: _, message, args } => {
                let args = args.iter().map(|arg| registers.scalar(arg.reg));
                return Err(Trap::new(assert_message(message, args)).into());
            }
            _ => unreachable!("only control instructions come here"),
        }
        Ok(())
    }

    /// Executes a loop as a unit, if it is one, or as the adviser does what would be one.
    fn loop_unit(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
        dsts: &[Def],
        init: &[Operand],
    ) -> Outcome<bool> {
        if self.adviser.opens(registers, at) {
            return Ok(false);
        }
        let Some(unit) = self.forms.unit(registers, at.0, at.1) else { return Ok(false) };
        let run = match unit.keeps_operators(registers, &[], init) {
            true => A::runs_loop(self, registers, at, instr)?,
            false => LoopRun::Left,
        };
        if run == LoopRun::Done {
            return Ok(true);
        }
        let done = self.enter_unit(registers, unit, dsts, &Entry::of_loop(init))?;
        if let LoopRun::Trapped(site) = run {
            self.adviser.trapped_falsely(site);
        }
        Ok(done)
    }

    /// Moves the results of a block that was executed, and ends the scope of its registers.
    pub(super) fn end_block(&mut self, registers: &mut Registers<'a>, block: BlockId, dsts: &[Def]) {
        let results = &registers.code.blocks[block].results;
        let prepared = &registers.prepared.blocks[block];
        self.adviser.moves(results, dsts.iter().map(|dst| dst.0));
        if prepared.scalar_results {
            registers.move_scalars(results, dsts.iter().map(|d| d.0));
            registers.release(&prepared.arrays);
            return;
        }
        let results = registers.take_all(results);
        registers.release(&prepared.arrays);
        registers.put_all(dsts.iter().map(|d| d.0), results);
    }

    fn count(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        bound: Operand,
        init: &[Operand],
        body: BlockId,
    ) -> Outcome<()> {
        let bound = registers.int(bound);
        let block = &registers.code.blocks[body];
        let scope = &registers.prepared.blocks[body].arrays;
        let (&counter, carried) = block.params.split_first().expect("a verified loop body has a counter");
        self.adviser.moves(init, carried.iter().copied());
        if registers.prepared.blocks[body].scalar_results {
            registers.move_scalars(init, carried.iter().copied());
            for i in 0..bound {
                registers.set_bits(counter, i as u64);
                self.adviser.counts(counter, i);
                self.block(registers, body)?;
                self.adviser.moves(&block.results, carried.iter().copied());
                registers.move_scalars(&block.results, carried.iter().copied());
                registers.release(scope);
            }
            let last: SmallVec<[Operand; 4]> = carried.iter().map(|reg| Operand::new(*reg)).collect();
            self.adviser.moves(&last, dsts.iter().map(|dst| dst.0));
            registers.move_scalars(&last, dsts.iter().map(|d| d.0));
            return Ok(());
        }
        let mut values = registers.take_all(init);
        for i in 0..bound {
            registers.set_bits(counter, i as u64);
            registers.put_all(carried.iter().copied(), values);
            self.adviser.counts(counter, i);
            let region = self.adviser.begin_region(registers, Scope::Round { body });
            self.block(registers, body)?;
            self.adviser.end_region(registers, region);
            self.adviser.moves(&block.results, carried.iter().copied());
            values = registers.take_all(&block.results);
            registers.release(scope);
        }
        let last: SmallVec<[Operand; 4]> = carried.iter().map(|reg| Operand::last(*reg)).collect();
        self.adviser.moves(&last, dsts.iter().map(|dst| dst.0));
        registers.put_all(dsts.iter().map(|d| d.0), values);
        Ok(())
    }

    fn repeat(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        init: &[Operand],
        cond: BlockId,
        body: BlockId,
    ) -> Outcome<()> {
        let test = &registers.code.blocks[cond];
        let block = &registers.code.blocks[body];
        self.adviser.moves(init, block.params.iter().copied());
        let mut values = registers.take_all(init);
        loop {
            // The test looks at copies of the carried values that share their blocks, and gives them up again before
            // the body runs, so that the body can still update in place.
            registers.put_all(block.params.iter().copied(), values);
            for (test_param, param) in test.params.iter().zip(&block.params) {
                let value = registers.value(Operand::new(*param));
                registers.set_value(*test_param, value);
            }
            let shared: SmallVec<[Operand; 4]> = block.params.iter().map(|p| Operand::new(*p)).collect();
            self.adviser.moves(&shared, test.params.iter().copied());
            self.block(registers, cond)?;
            let answer = registers.bits(test.results[0]) != 0;
            registers.release(&registers.prepared.blocks[cond].arrays);
            if !answer {
                let last: Vec<Operand> = block.params.iter().map(|p| Operand::last(*p)).collect();
                self.adviser.moves(&last, dsts.iter().map(|dst| dst.0));
                values = registers.take_all(&last);
                break;
            }
            let region = self.adviser.begin_region(registers, Scope::Round { body });
            self.block(registers, body)?;
            self.adviser.end_region(registers, region);
            self.adviser.moves(&block.results, block.params.iter().copied());
            values = registers.take_all(&block.results);
            registers.release(&registers.prepared.blocks[body].arrays);
        }
        registers.put_all(dsts.iter().map(|d| d.0), values);
        Ok(())
    }

    fn call(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        dsts: &[Def],
        function: FuncId,
        args: &[Operand],
    ) -> Outcome<()> {
        let mut callee = self.enter(function)?;
        self.callers.push((registers.code, at));
        self.adviser.enters(function, args);
        let args = registers.take_all(args);
        callee.put_all(callee.code.params.iter().copied(), args);
        let region = self.adviser.begin_region(&callee, Scope::Function);
        let outcome = self.block(&mut callee, BODY);
        self.adviser.end_region(&callee, region);
        if outcome.is_ok() {
            self.adviser.leaves(function, dsts.iter().map(|dst| dst.0));
            let results = callee.take_all(&callee.code.blocks[BODY].results);
            registers.put_all(dsts.iter().map(|d| d.0), results);
        }
        self.callers.pop();
        self.leave(callee);
        outcome
    }
}

/// The message, with each `{}` replaced by the next argument.
pub(super) fn assert_message(message: &str, args: impl Iterator<Item = Scalar>) -> String {
    let mut pieces = message.split("{}");
    let mut text = pieces.next().unwrap_or("").to_string();
    for (piece, arg) in pieces.zip(args) {
        text.push_str(&arg.plain());
        text.push_str(piece);
    }
    text
}
