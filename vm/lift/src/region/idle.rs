//! Which scalar instructions of a function are idle: where arrays lie and are copied does not depend on what they compute.
//!
//! What an extent, an index, a count or a condition is computed from is not idle. An element of an array is a value that
//! nothing is known of, whatever it is computed from: most of the arithmetic between reading an element and writing one is
//! idle, and no region needs a statement of it.
//!
//! Layouts depend on a little more: on the iteration variables that an element may change with. So it is told whether
//! anything that matters comes from elements, or from values that a loop carries.

use galopvm_base::{IdVec, TypedId};
use galopvm_bytecode::{
    BlockId, CodeBlock, Def, Function, Given, Instr, Operand, RegId, field::Fields, module::BODY, on_arrays,
    over_rows,
};

/// The idle instructions of a function.
#[derive(Debug)]
pub(super) struct Idle {
    /// By block and number.
    instrs: IdVec<BlockId, Vec<bool>>,
    /// Whether something that matters is computed from elements or carried by a loop.
    pub has_data: bool,
}

impl Idle {
    /// Finds them. What the function gives matters if it is called by what is recorded.
    pub(super) fn of(code: &Function, is_called: bool) -> Idle {
        let mut flow = Flow {
            code,
            heads: vec![NONE; code.regs.len()],
            links: Vec::new(),
            open: Vec::new(),
            calm: code.blocks.iter().map(|_| None).collect(),
            counts: vec![false; code.regs.len()],
            data: Vec::new(),
            calls: false,
        };
        flow.block(BODY);
        if is_called {
            flow.matter(&code.blocks[BODY].results);
        }
        let matters = flow.that_matter();
        let has_data = flow.calls || flow.data.iter().any(|reg| matters[reg.index()]);
        let is_idle = |instr: &Instr, flow: &mut Flow<'_>| {
            let idle = |dst: &Def| !matters[dst.0.index()];
            match instr {
                Instr::Op1 { dst, .. }
                | Instr::Op2 { dst, .. }
                | Instr::Op3 { dst, .. }
                | Instr::Convert { dst, .. } => idle(dst),
                Instr::If { dsts, .. } | Instr::For { dsts, .. } | Instr::While { dsts, .. } => {
                    dsts.iter().all(idle) && flow.is_calm_instr(instr)
                }
                Instr::Const { .. }
                | Instr::Call { .. }
                | Instr::Assert { .. }
                | Instr::Fail { .. }
                | Instr::Trace { .. }
                | Instr::Param { .. }
                | on_arrays!()
                | over_rows!() => false,
            }
        };
        let of_block = |block: &CodeBlock| block.code.iter().map(|instr| is_idle(instr, &mut flow)).collect();
        let instrs = code.blocks.iter().map(of_block).collect();
        Idle { instrs, has_data }
    }

    /// Whether the instruction at a position of the code is idle.
    pub(super) fn has(&self, block: BlockId, index: usize) -> bool {
        self.instrs.get(block).and_then(|block| block.get(index)).copied().unwrap_or(false)
    }
}

/// The end of a list.
const NONE: u32 = u32::MAX;

/// Where the values of scalar registers come from.
struct Flow<'a> {
    code: &'a Function,
    /// By register: the first link.
    heads: Vec<u32>,
    /// A register that another one is computed from, and that one's next link.
    links: Vec<(RegId, u32)>,
    /// Registers that matter, and that were not looked at.
    open: Vec<RegId>,
    /// By block: whether there is nothing in it but scalars.
    calm: IdVec<BlockId, Option<bool>>,
    /// By register: whether it is an array of numbers that need not be read.
    counts: Vec<bool>,
    /// Scalars that elements or loops give.
    data: Vec<RegId>,
    /// Whether arrays are given to functions or by them, whose elements may matter there.
    calls: bool,
}

impl Flow<'_> {
    fn link(&mut self, reg: RegId, from: RegId) {
        let head = std::mem::replace(&mut self.heads[reg.index()], self.links.len() as u32);
        self.links.push((from, head));
    }

    /// Scalars among these matter.
    fn matter(&mut self, operands: &[Operand]) {
        let code = self.code;
        let scalars = operands.iter().map(|operand| operand.reg).filter(|reg| code.regs[*reg].is_scalar());
        self.open.extend(scalars);
    }

    fn are_scalars(&self, dsts: &[Def]) -> bool {
        dsts.iter().all(|dst| self.code.regs[dst.0].is_scalar())
    }

    /// Whether an instruction has to do with scalars only, and can be described.
    fn is_calm_instr(&mut self, instr: &Instr) -> bool {
        match instr {
            Instr::Const { .. }
            | Instr::Op1 { .. }
            | Instr::Op2 { .. }
            | Instr::Op3 { .. }
            | Instr::Convert { .. }
            | Instr::Assert { .. } => true,
            Instr::If { dsts, then, otherwise, .. } => {
                self.are_scalars(dsts) && self.is_calm(*then) && self.is_calm(*otherwise)
            }
            Instr::For { dsts, body, .. } => self.are_scalars(dsts) && self.is_calm(*body),
            Instr::While { dsts, cond, body, .. } => {
                self.are_scalars(dsts) && self.is_calm(*cond) && self.is_calm(*body)
            }
            Instr::Call { .. }
            | Instr::Fail { .. }
            | Instr::Trace { .. }
            | Instr::Param { .. }
            | on_arrays!()
            | over_rows!() => false,
        }
    }

    /// The verifier bounds how deep blocks nest.
    fn is_calm(&mut self, id: BlockId) -> bool {
        if let Some(known) = self.calm[id] {
            return known;
        }
        let code = self.code;
        let calm = code.blocks[id].code.iter().all(|instr| self.is_calm_instr(instr));
        self.calm[id] = Some(calm);
        calm
    }

    fn block(&mut self, id: BlockId) {
        let code = self.code;
        code.blocks[id].code.iter().for_each(|instr| self.instruction(instr));
    }

    fn instruction(&mut self, instr: &Instr) {
        let mut computed = |dst: &Def, operands: &[&Operand]| {
            operands.iter().for_each(|operand| self.link(dst.0, operand.reg));
        };
        match instr {
            Instr::Const { .. } | Instr::Assert { .. } => {}
            Instr::Op1 { dst, a, .. } | Instr::Convert { dst, a, .. } => computed(dst, &[a]),
            Instr::Op2 { dst, a, b, .. } => computed(dst, &[a, b]),
            Instr::Op3 { dst, a, b, c, .. } => computed(dst, &[a, b, c]),
            // An extent is known, or a name of its own.
            Instr::Dim { .. } => {}
            Instr::If { dsts, cond, then, otherwise } => {
                self.choice(instr, dsts, *cond, [*then, *otherwise]);
            }
            Instr::For { dsts, bound, init, body } => {
                self.block(*body);
                let params = self.code.blocks[*body].params.get(1..).unwrap_or(&[]);
                self.carried(dsts, params, init, *body);
                if !self.is_calm_instr(instr) {
                    return self.matter(&[*bound]);
                }
                dsts.iter().for_each(|dst| self.link(dst.0, bound.reg));
            }
            Instr::While { dsts, init, cond, body } => {
                self.block(*cond);
                self.block(*body);
                self.carried(dsts, &self.code.blocks[*body].params, init, *body);
                self.matter(&self.code.blocks[*cond].results);
            }
            // An element that is written is like all others of its array.
            Instr::Update { value, .. } if self.code.regs[value.reg].is_scalar() => {
                let mut operands = Fields::of(instr).operands;
                if let Some(at) = operands.iter().position(|operand| operand == value) {
                    operands.remove(at);
                }
                self.matter(&operands);
            }
            Instr::Call { .. }
            | Instr::Fail { .. }
            | Instr::Trace { .. }
            | Instr::Param { .. }
            | on_arrays!()
            | over_rows!() => self.other(instr),
        }
    }

    fn choice(&mut self, instr: &Instr, dsts: &[Def], cond: Operand, sides: [BlockId; 2]) {
        let code = self.code;
        for side in sides {
            self.block(side);
            for (dst, result) in dsts.iter().zip(&code.blocks[side].results) {
                self.link(dst.0, result.reg);
            }
        }
        if !self.is_calm_instr(instr) {
            return self.matter(&[cond]);
        }
        dsts.iter().for_each(|dst| self.link(dst.0, cond.reg));
    }

    /// What a loop carries and gives.
    fn carried(&mut self, dsts: &[Def], params: &[RegId], init: &[Operand], body: BlockId) {
        let code = self.code;
        let next = init.iter().zip(&code.blocks[body].results);
        for ((dst, param), (first, next)) in dsts.iter().zip(params).zip(next) {
            for reg in [dst.0, *param] {
                self.link(reg, first.reg);
                self.link(reg, next.reg);
                self.data.push(reg);
            }
        }
    }

    fn other(&mut self, instr: &Instr) {
        let code = self.code;
        let fields = Fields::of(instr);
        self.matter(&fields.operands);
        self.data.extend(fields.defs.iter().map(|def| def.0));
        match instr {
            Instr::Iota { dst, .. } => self.counts[dst.0.index()] = true,
            // What gives scalars alone is not gone through.
            Instr::Call { dsts, .. } => self.calls |= !self.are_scalars(dsts),
            _ => {}
        }
        // Only of a block that makes items of rows a region says which row it is.
        let counting =
            instr.operator().filter(|_| instr.goes_over_rows()).and_then(|operator| operator.items);
        for (block, given) in instr.given(code) {
            self.block(block);
            for (param, given) in code.blocks[block].params.iter().zip(given) {
                let is_counter = matches!(given, Given::Row(array) if self.counts[array.reg.index()]);
                let is_count = is_counter && counting == Some(block);
                if !is_count {
                    self.data.push(*param);
                }
            }
        }
    }

    /// By register: whether it matters.
    fn that_matter(&mut self) -> Vec<bool> {
        let mut matters = vec![false; self.heads.len()];
        while let Some(reg) = self.open.pop() {
            if std::mem::replace(&mut matters[reg.index()], true) {
                continue;
            }
            let mut at = self.heads[reg.index()];
            while let Some((from, next)) = self.links.get(at as usize) {
                self.open.push(*from);
                at = *next;
            }
        }
        matters
    }
}
