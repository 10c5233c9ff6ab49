//! What is known of one function, loop or round: what its plan depends on, the plans made so far, and whether another one may
//! be made (`site/`).

use super::build::RegionPlan;
use super::key::{Flow, Inputs};
use galopvm_base::TypedId;
use galopvm_bytecode::{
    BlockId, Function, Instr, Operand, RegId, Scope, field::Fields, module::BODY, not_on_arrays,
};
use galopvm_tier::site::{Answers, Asking, Found, Made, rules};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is known of one function, loop or round.
pub(in crate::optimizer) struct SitePlans {
    pub inputs: Arc<Inputs>,
    /// Whether anything in it copies arrays into others, and whether there are loops.
    pub copies: bool,
    pub loops: bool,
    /// Whether it makes arrays in a round of a loop.
    pub makes: bool,
    /// Time that finding out about the code took, until it is counted.
    pub looking: Duration,
    pub answers: Answers<Known>,
    /// Whether plans are checked: not always if they tend to be too large for that.
    pub checking: Asking,
}

/// What was found out for some numbers.
pub(in crate::optimizer) struct Known {
    plan: Option<Arc<RegionPlan>>,
    /// How many runs used it.
    uses: u32,
    /// A limit cut the analysis short.
    is_bounded: bool,
}

/// What is known for some numbers.
pub(super) enum Planned {
    /// A plan, or that there is none.
    Known(Option<Arc<RegionPlan>>),
    /// As before, but runs often, and more effort may give a better one.
    Bounded(Option<Arc<RegionPlan>>),
}

impl SitePlans {
    pub fn of(code: &Function, scope: Scope) -> SitePlans {
        let start = Instant::now();
        let (mut seen, mut flow) = (Uses::new(code), Flow::new(code));
        match scope {
            Scope::Function => {
                seen.body(code, BODY, &code.params);
                flow.block(code, BODY);
            }
            Scope::Round { body } => {
                seen.body(code, body, &code.blocks[body].params);
                flow.block(code, body);
            }
            Scope::Loop { block, index } => {
                let instr = &code.blocks[block].code[index];
                let fields = Fields::of(instr);
                fields.operands.iter().for_each(|operand| seen.used[operand.reg.index()] = true);
                fields.blocks.into_iter().for_each(|inner| seen.walk(code, inner));
                seen.loops = true;
                flow.instruction(code, instr);
            }
        }
        let matter = flow.that_matter();
        let free = code.regs.ids().filter(|reg| seen.used[reg.index()] && !seen.made[reg.index()]);
        let (mut scalars, arrays): (Vec<RegId>, Vec<RegId>) =
            free.partition(|reg| code.regs[*reg].is_scalar());
        scalars.retain(|reg| matter[reg.index()]);
        let inputs = Arc::new(Inputs { arrays, scalars });
        let makes = seen.makes && matches!(scope, Scope::Round { .. });
        SitePlans {
            inputs,
            copies: seen.copies,
            loops: seen.loops,
            makes,
            looking: start.elapsed(),
            answers: Answers::new(
                if seen.copies { &rules::PLANS } else { &rules::MERGES },
                rules::PLAN_WORDS,
            ),
            checking: Asking::new(&rules::CHECKS),
        }
    }

    /// What is known for these numbers, or whether to find out.
    pub(super) fn find(&mut self, words: &[u64], eager: bool) -> Found<Planned> {
        self.answers.find(words, eager).map(|known| {
            known.uses = known.uses.saturating_add(1);
            match known.is_bounded && known.uses >= rules::OFTEN {
                true => {
                    known.is_bounded = false;
                    Planned::Bounded(known.plan.clone())
                }
                false => Planned::Known(known.plan.clone()),
            }
        })
    }

    /// Keeps what was found out in so many nanoseconds; gives the number of plans that had to go for it.
    pub fn keep(
        &mut self,
        words: &[u64],
        plan: Option<Arc<RegionPlan>>,
        is_bounded: bool,
        nanos: u64,
    ) -> u64 {
        let weight = words.len() + 8 + plan.as_deref().map_or(0, RegionPlan::words);
        let is_useful = plan.is_some();
        let value = Known { plan, uses: 0, is_bounded };
        self.answers.keep(words, Made { value, weight, nanos, is_useful })
    }
}

/// What code does with registers.
#[derive(Default)]
struct Uses {
    /// By register.
    used: Vec<bool>,
    made: Vec<bool>,
    /// Whether it copies arrays into others.
    copies: bool,
    loops: bool,
    /// Whether instructions outside operators make arrays.
    makes: bool,
    /// How deep operators are nested.
    inside: usize,
}

impl Uses {
    fn new(code: &Function) -> Uses {
        let none = vec![false; code.regs.len()];
        Uses { used: none.clone(), made: none, ..Uses::default() }
    }

    /// A block whose parameters have their values from outside.
    fn body(&mut self, code: &Function, block: BlockId, params: &[RegId]) {
        self.walk(code, block);
        for param in params {
            self.used[param.index()] = true;
            self.made[param.index()] = false;
        }
    }

    fn walk(&mut self, code: &Function, block: BlockId) {
        let block = &code.blocks[block];
        let is_array = |operand: &Operand| !code.regs[operand.reg].is_scalar();
        block.params.iter().for_each(|param| self.made[param.index()] = true);
        for instr in &block.code {
            // Whether it copies arrays that could be made where they go, and whether it makes one that has other arrays in it.
            let (copies, joins) = match instr {
                Instr::Concat { .. } | Instr::Copy { .. } => (true, true),
                Instr::FlatUpdate { .. } => (true, false),
                Instr::Replicate { .. } => (false, true),
                Instr::Update { value, .. } => (is_array(value), false),
                Instr::Map { body, .. } => (code.blocks[*body].results.iter().any(is_array), false),
                // These make arrays anew, or copy where no plan could save it.
                Instr::Dim { .. }
                | Instr::Index { .. }
                | Instr::Slice { .. }
                | Instr::Permute { .. }
                | Instr::Reverse { .. }
                | Instr::Reshape { .. }
                | Instr::Iota { .. }
                | Instr::Array { .. }
                | Instr::Manifest { .. }
                | Instr::Rotate { .. }
                | Instr::Equal { .. }
                | Instr::FlatIndex { .. }
                | not_on_arrays!() => (false, false),
            };
            self.copies |= copies;
            let is_operator = instr.goes_over_rows();
            let gives = |def: &galopvm_bytecode::Def| !code.regs[def.0].is_scalar();
            self.loops |= matches!(instr, Instr::For { .. } | Instr::While { .. });
            let fields = Fields::of(instr);
            fields.defs.iter().for_each(|def| self.made[def.0.index()] = true);
            fields.operands.iter().for_each(|operand| self.used[operand.reg.index()] = true);
            self.makes |= self.inside == 0 && (joins || is_operator && fields.defs.iter().any(gives));
            self.inside += usize::from(is_operator);
            fields.blocks.into_iter().for_each(|inner| self.walk(code, inner));
            self.inside -= usize::from(is_operator);
        }
        block.results.iter().for_each(|operand| self.used[operand.reg.index()] = true);
    }
}
