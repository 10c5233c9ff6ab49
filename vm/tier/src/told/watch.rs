//! Who tells what happens: every function and loop once, every operator at its largest execution so far.

use super::{ExplainSink, Explained, OperatorSeen, RefusalSeen, RegionSeen};
use crate::profile::SiteName;
use crate::{Execution, FormTaken, Registers};
use galopvm_analysis::circuit::{Circuits, Outcome, circuits};
use galopvm_bytecode::{BlockId, FuncId, Module, Place, Scope, field::Fields, module::BODY};
use galopvm_kir::Observed;
use galopvm_lift::region::{Recorded, record};
use galopvm_lift::{LiftRefusal, Lifted};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

/// Tells a sink what is looked at.
pub struct Explainer {
    sink: ExplainSink,
    /// What was met already.
    met: HashSet<(FuncId, Scope)>,
    /// Whether loops have parallel operators in them.
    loops: HashMap<(FuncId, BlockId, usize), bool>,
    /// Functions and loops, and whether they were recorded and none of their copies is left.
    regions: HashMap<(FuncId, Scope), bool>,
    /// Operators with the work of their largest execution.
    operators: HashMap<(FuncId, BlockId, usize), u64>,
    /// Operators that are kernels: what is inside is told with them.
    kernels: HashSet<(FuncId, BlockId, usize)>,
    /// What was recorded and analysed for what is about to run, so that it need not be done again for its plan.
    fresh: Option<(Recorded, Circuits)>,
}

impl Explainer {
    /// Nothing was told yet.
    pub fn new(sink: ExplainSink) -> Explainer {
        Explainer {
            sink,
            met: HashSet::new(),
            loops: HashMap::new(),
            regions: HashMap::new(),
            operators: HashMap::new(),
            kernels: HashSet::new(),
            fresh: None,
        }
    }

    /// Tells something that somebody else found.
    pub fn tell(&self, what: Explained<'_>) {
        (self.sink)(what);
    }

    /// Records a function, a loop or a round that is about to run, unless that was done before or all was told with
    /// something around it, and tells what becomes of its copies.
    pub fn region(&mut self, module: &Module, registers: &dyn Registers, scope: Scope) {
        let function = registers.function();
        self.fresh = None;
        if !self.met.insert((function, scope)) {
            return;
        }
        if self.is_covered(module, function, scope) {
            return;
        }
        let start = Instant::now();
        let recorded = record(module, function, scope, &|reg| registers.seen(reg));
        let place = place_of(module, function, scope);
        match recorded {
            Ok(recorded) => {
                let circuits = circuits(recorded.region.region(), &recorded.observed);
                let is_left = |outcome: &Outcome| !outcome.implicit && !outcome.is_no_op();
                let settled = !circuits.outcomes.iter().any(is_left);
                self.regions.insert((function, scope), settled);
                let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
                let seen =
                    RegionSeen { function, scope, place, recorded: &recorded, circuits: &circuits, micros };
                self.tell(Explained::Region(seen));
                self.fresh = Some((recorded, circuits));
            }
            Err(refusal) => {
                self.tell(Explained::Unrecorded(RefusalSeen { function, scope, place, refusal: &refusal }));
            }
        }
    }

    /// What was just recorded for what is about to run.
    pub fn take_fresh(&mut self) -> Option<(Recorded, Circuits)> {
        self.fresh.take()
    }

    /// Whether an operator is to be told: one that is larger than before and not inside a kernel.
    pub fn wants_operator(&mut self, module: &Module, site: &SiteName, work: u64) -> bool {
        let key = (site.site.function, site.site.block, site.site.index);
        if self.operators.get(&key).is_some_and(|known| *known >= work) {
            return false;
        }
        let inside = |at: &(BlockId, usize)| self.kernels.contains(&(key.0, at.0, at.1));
        if around(module, key.0, key.1).iter().any(inside) {
            return false;
        }
        self.operators.insert(key, work);
        true
    }

    /// Tells an operator.
    pub fn operator(
        &mut self,
        site: SiteName,
        Execution { width, work, .. }: Execution,
        kernel: Result<(&Arc<Lifted>, &Observed), &LiftRefusal>,
        form: FormTaken,
    ) {
        let kernel = match kernel {
            Ok((lifted, observed)) => {
                self.kernels.insert((site.site.function, site.site.block, site.site.index));
                Ok((&**lifted, observed))
            }
            Err(refusal) => Err(refusal.reason.as_str()),
        };
        self.tell(Explained::Operator(OperatorSeen { site, width, work, kernel, form }));
    }

    /// Whether a loop has parallel operators in it, which are to be seen one by one.
    pub fn opens(&mut self, registers: &dyn Registers, block: BlockId, index: usize) -> bool {
        let code = registers.code();
        let inside = || Fields::of(&code.blocks[block].code[index]).blocks;
        let ask = || inside().into_iter().any(|inner| code.has_operators(inner));
        *self.loops.entry((registers.function(), block, index)).or_insert_with(ask)
    }

    /// Whether a loop or a round of one lies in something of which all is told, or in a kernel.
    fn is_covered(&self, module: &Module, function: FuncId, scope: Scope) -> bool {
        let block = match scope {
            Scope::Function => return false,
            Scope::Loop { block, .. } => block,
            Scope::Round { body } => body,
        };
        if self.regions.get(&(function, Scope::Function)) == Some(&true) {
            return true;
        }
        around(module, function, block).into_iter().any(|(block, index)| {
            let body = module.functions[function].blocks[block].code.get(index).map(Fields::of);
            let mut rounds = body.into_iter().flat_map(|fields| fields.blocks);
            rounds.any(|body| self.regions.get(&(function, Scope::Round { body })) == Some(&true))
                || self.regions.get(&(function, Scope::Loop { block, index })) == Some(&true)
                || self.kernels.contains(&(function, block, index))
        })
    }
}

/// The instructions around a block, innermost first.
fn around(module: &Module, function: FuncId, mut block: BlockId) -> Vec<(BlockId, usize)> {
    let mut found = Vec::new();
    let Some(code) = module.functions.get(function) else { return found };
    // Blocks form a tree, whose root is the body.
    while block != BODY {
        let owner = code.blocks.iter_ids().find_map(|(id, outer)| {
            let at = outer.code.iter().position(|instr| Fields::of(instr).blocks.contains(&block))?;
            Some((id, at))
        });
        let Some(owner) = owner else { break };
        found.push(owner);
        block = owner.0;
    }
    found
}

/// Where a function or loop begins in the source; for a function, the first place of its own code.
pub(super) fn place_of(module: &Module, function: FuncId, scope: Scope) -> Option<Place> {
    let code = module.functions.get(function)?;
    match scope {
        Scope::Loop { block, index } => code.blocks.get(block)?.place(index),
        Scope::Round { body } => {
            let (block, index) = *around(module, function, body).first()?;
            code.blocks.get(block)?.place(index)
        }
        Scope::Function => {
            let places = code.blocks.iter().flat_map(|block| block.places.iter().flatten());
            let own = places.filter_map(|place| module.call_chain(*place).last());
            own.min_by_key(|place| (place.file, place.start.line, place.start.column))
        }
    }
}
