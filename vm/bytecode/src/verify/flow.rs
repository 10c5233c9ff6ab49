//! Structure, scopes and last uses: one walk over the block tree.

use super::{MAX_DEPTH, VerifyError, lookup, types};
use crate::field::{BlockId, Fields, FuncId, Operand, RegId};
use crate::module::{BODY, Function};
use crate::op::{Instr, Opcode};
use galopvm_base::{IdVec, TypedId};

/// What the walk knows of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Undefined,
    Live,
    /// After a use marked as the last.
    Dead,
    /// Defined in a block that was left.
    Gone,
}

struct Walk<'a> {
    functions: &'a IdVec<FuncId, Function>,
    function: &'a Function,
    states: Vec<State>,
    /// For each register, the repeated block that it was defined in (by count of such blocks entered).
    region: Vec<u32>,
    regions: u32,
    seen: Vec<bool>,
    /// Registers that died since the innermost `if` was entered.
    died: Vec<RegId>,
}

pub(super) fn check(functions: &IdVec<FuncId, Function>, function: &Function) -> Result<(), VerifyError> {
    let count = function.regs.len();
    let mut walk = Walk {
        functions,
        function,
        states: vec![State::Undefined; count],
        region: vec![0; count],
        regions: 0,
        seen: vec![false; function.blocks.len()],
        died: Vec::new(),
    };
    let at_body = |message| VerifyError { block: Some(BODY), ..VerifyError::in_module(message) };
    for param in &function.params {
        walk.define(*param, 0).map_err(at_body)?;
    }
    walk.block(BODY, 0, 0)?;
    let results: Vec<RegId> = function.blocks[BODY].results.iter().map(|o| o.reg).collect();
    types::same(function, &results, &function.results, "the function's results").map_err(at_body)?;
    if let Some(unused) = walk.seen.iter().position(|s| !s) {
        return Err(VerifyError::in_module(format!("no instruction names block b{unused}")));
    }
    if let Some(reg) = walk.states.iter().position(|s| *s == State::Undefined) {
        return Err(VerifyError::in_module(format!("register r{reg} is never defined")));
    }
    Ok(())
}

impl Walk<'_> {
    fn define(&mut self, reg: RegId, region: u32) -> Result<(), String> {
        lookup(&self.function.regs, reg, "register")?;
        if self.states[reg.index()] != State::Undefined {
            return Err(format!("register {reg} is defined twice"));
        }
        self.states[reg.index()] = State::Live;
        self.region[reg.index()] = region;
        Ok(())
    }

    fn use_of(&mut self, operand: Operand, region: u32) -> Result<(), String> {
        let Operand { reg, last } = operand;
        lookup(&self.function.regs, reg, "register")?;
        match self.states[reg.index()] {
            State::Live => {}
            State::Undefined => return Err(format!("register {reg} is used before its definition")),
            State::Dead => return Err(format!("register {reg} is used after its last use")),
            State::Gone => return Err(format!("register {reg} is used outside its scope")),
        }
        if last {
            if self.region[reg.index()] != region {
                return Err(format!(
                    "register {reg} comes from outside a repeated block and is marked as used up in it"
                ));
            }
            self.states[reg.index()] = State::Dead;
            self.died.push(reg);
        }
        Ok(())
    }

    fn block(&mut self, id: BlockId, region: u32, depth: usize) -> Result<(), VerifyError> {
        let here = |instruction: Option<usize>| {
            move |message: String| VerifyError {
                block: Some(id),
                instruction,
                ..VerifyError::in_module(message)
            }
        };
        let function = self.function;
        let block = lookup(&function.blocks, id, "block").map_err(here(None))?;
        if depth > MAX_DEPTH {
            return Err(here(None)(format!("blocks nest deeper than {MAX_DEPTH}")));
        }
        if std::mem::replace(&mut self.seen[id.index()], true) {
            return Err(here(None)(format!("block {id} is named twice")));
        }
        if !block.places.is_empty() && block.places.len() != block.code.len() {
            return Err(here(None)("places and instructions differ in number".into()));
        }
        let mut defined = Vec::new();
        for param in &block.params {
            self.define(*param, region).map_err(here(None))?;
            defined.push(*param);
        }
        for (k, instr) in block.code.iter().enumerate() {
            let fields = Fields::of(instr);
            for operand in &fields.operands {
                self.use_of(*operand, region).map_err(here(Some(k)))?;
            }
            self.children(instr, &fields, region, depth).map_err(|mut e| {
                e.block = e.block.or(Some(id));
                e.instruction = e.instruction.or(Some(k));
                e
            })?;
            for def in &fields.defs {
                self.define(def.0, region).map_err(here(Some(k)))?;
                defined.push(def.0);
            }
            types::instruction(self.functions, self.function, instr).map_err(here(Some(k)))?;
        }
        for operand in &block.results {
            self.use_of(*operand, region).map_err(here(None))?;
        }
        for reg in defined {
            self.states[reg.index()] = State::Gone;
        }
        Ok(())
    }

    fn children(
        &mut self,
        instr: &Instr,
        fields: &Fields,
        region: u32,
        depth: usize,
    ) -> Result<(), VerifyError> {
        if fields.blocks.is_empty() {
            return Ok(());
        }
        if instr.opcode() != Opcode::If {
            for block in &fields.blocks {
                self.regions += 1;
                let inner = self.regions;
                self.block(*block, inner, depth + 1)?;
            }
            return Ok(());
        }
        // Only one of the blocks runs: each starts with what was live before, and what either uses up is gone after.
        let outer = std::mem::take(&mut self.died);
        let mut died = Vec::new();
        for block in &fields.blocks {
            self.block(*block, region, depth + 1)?;
            for reg in self.died.drain(..) {
                if self.states[reg.index()] == State::Dead {
                    self.states[reg.index()] = State::Live;
                    died.push(reg);
                }
            }
        }
        for reg in &died {
            self.states[reg.index()] = State::Dead;
        }
        self.died = outer;
        self.died.extend(died);
        Ok(())
    }
}
