//! Lifting a part of a block, from one of its operators on: all operators together are one region, one statement for
//! each, so that what one makes and another reads can be seen.
//!
//! What cannot be lifted is left out, and so is what uses what was left out: the region is a function of what is in the
//! registers in front of its first instruction.
//!
//! Invariants: every operator of the part that is not left out is a statement of the region's own body. A value that
//! somebody may look at who is not such an operator - the rest of the code, or an instruction that was left out -
//! is a result of the region, and so is what an operator is given and its statement does not read. Views and extents of an array are no look at it: they need its shape alone.

use super::build::{Lift, Lifter};
use super::value::Value;
use super::{LiftRefusal, Lifted, refuse};
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{BlockId, Effect, FuncId, Function, Instr, RegId, VerifiedModule};
use galopvm_kir::{Exp, Rhs, VarId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Instructions of a part at most.
const LONGEST: usize = 128;

/// How often a part is tried, each time without the instruction that could not be lifted.
const MOST_TRIES: usize = 12;

/// What is known of a part before it is lifted.
struct Part<'m> {
    code: &'m Function,
    block: BlockId,
    from: usize,
    /// Arrays that a scatter or histogram changes, and that nothing else uses from the beginning of the part on, with the
    /// place where that is.
    changed: BTreeMap<RegId, usize>,
}

/// A part of a block as a region.
#[derive(Debug)]
pub struct Sequence {
    /// The region. Its parameters are bound to registers as they are in front of the first instruction.
    pub lifted: Lifted,
    /// The registers of what operators define, by their names in the region.
    pub registers: HashMap<String, RegId>,
    /// The instruction that each statement of the region's own body comes from, by the names it binds.
    pub origins: HashMap<String, usize>,
    /// Destinations of scatters and histograms that nothing else of the part uses, nor what comes after it.
    pub consumed: BTreeSet<RegId>,
    /// Instructions that repeat a value for one operator of the part and nobody else, by their numbers in the block: each with
    /// the operator, whose statement has the value itself.
    pub repeated: Vec<(usize, usize)>,
}

/// Lifts the instructions of a block from an operator on. With `scans`, operators that not every back end takes - scans,
/// scatters, histograms - are operators, too.
pub fn lift_sequence(
    module: &VerifiedModule,
    function: FuncId,
    block: BlockId,
    from: usize,
    scans: bool,
) -> Lift<Sequence> {
    let code = &module.module().functions[function];
    let instrs = &code.blocks[block].code;
    let range = from..instrs.len().min(from + LONGEST);
    let Destinations { changed, copied } = destinations(code, block, from);
    let is_left = |k: &usize| !range.contains(k) || copied.contains(k) || !may_lift(code, &instrs[*k], scans);
    let mut left: BTreeSet<usize> = (from..instrs.len()).filter(is_left).collect();
    let part = Part { code, block, from, changed };
    let mut given: BTreeSet<RegId> = BTreeSet::new();
    for _ in 0..MOST_TRIES {
        spread(code, instrs, from, &mut left);
        let operators =
            range.clone().filter(|k| !left.contains(k) && part.is_operator(*k)).collect::<Vec<_>>();
        if operators.first() != Some(&from) || operators.len() < 2 {
            return refuse("there is no other operator that could run together with it");
        }
        match attempt(module, function, &part, &left, &given) {
            // An operator may be given an array that it does not look at; by itself it would go over it.
            Ok(sequence) => match unread(&part, &left, &sequence) {
                unread if unread.is_subset(&given) => return Ok(sequence),
                unread => given.extend(unread),
            },
            Err((at, refusal)) if at == from => return Err(refusal),
            Err((at, _)) => drop(left.insert(at)),
        }
    }
    refuse("too many instructions around it cannot be lifted")
}

/// Whether it is worth trying to lift an instruction that stands next to operators.
fn may_lift(code: &Function, instr: &Instr, scans: bool) -> bool {
    match instr {
        Instr::Const { .. }
        | Instr::Op1 { .. }
        | Instr::Op2 { .. }
        | Instr::Op3 { .. }
        | Instr::Convert { .. }
        | Instr::Assert { .. }
        | Instr::Dim { .. }
        | Instr::Index { .. }
        | Instr::Slice { .. }
        | Instr::Permute { .. }
        | Instr::Reverse { .. }
        | Instr::Reshape { .. }
        | Instr::Replicate { .. }
        | Instr::Iota { .. }
        | Instr::Copy { .. }
        | Instr::Manifest { .. }
        | Instr::Call { .. }
        | Instr::Map { .. }
        | Instr::Reduce { .. }
        | Instr::Redomap { .. } => true,
        Instr::Scan { .. } | Instr::Scatter { .. } | Instr::Hist { .. } => scans,
        Instr::If { dsts, then, otherwise, .. } => {
            let scalar =
                |block: &BlockId| code.blocks[*block].code.iter().all(|instr| is_scalar(code, instr));
            dsts.iter().all(|dst| code.regs[dst.0].is_scalar()) && scalar(then) && scalar(otherwise)
        }
        Instr::For { .. }
        | Instr::While { .. }
        | Instr::Fail { .. }
        | Instr::Trace { .. }
        | Instr::Param { .. }
        | Instr::Update { .. }
        | Instr::Concat { .. }
        | Instr::Array { .. }
        | Instr::Rotate { .. }
        | Instr::Equal { .. }
        | Instr::FlatIndex { .. }
        | Instr::FlatUpdate { .. }
        | Instr::Filter { .. }
        | Instr::Partition { .. }
        | Instr::Stream { .. }
        | Instr::AccWrite { .. } => false,
    }
}

/// Whether an instruction is about scalars alone.
fn is_scalar(code: &Function, instr: &Instr) -> bool {
    let fields = Fields::of(instr);
    let regs = fields.operands.iter().map(|operand| operand.reg).chain(fields.defs.iter().map(|def| def.0));
    fields.blocks.is_empty()
        && fields.functions.is_empty()
        && regs.into_iter().all(|reg| code.regs[reg].is_scalar())
}

impl Part<'_> {
    fn instrs(&self) -> &[Instr] {
        &self.code.blocks[self.block].code
    }

    /// Instructions that may be executed together with others.
    fn is_operator(&self, at: usize) -> bool {
        let instr = &self.instrs()[at];
        instr.is_parallel() || matches!(instr, Instr::Call { .. }) || self.is_fill(at)
    }

    /// Whether it makes a copy of a value or an array that is nothing but the destination of a scatter or histogram.
    fn is_fill(&self, at: usize) -> bool {
        let instr = &self.instrs()[at];
        let (Instr::Replicate { dst, .. } | Instr::Copy { dst, .. }) = instr else { return false };
        self.changed.contains_key(&dst.0)
    }

    /// What repeats a value for one operator that goes over it, and for nobody else.
    fn repeated(&self, left: &BTreeSet<usize>) -> Vec<(usize, usize)> {
        let readers = |reg: RegId| {
            let mut readers = Vec::new();
            for (at, instr) in self.instrs().iter().enumerate() {
                self.code.each_use(instr, &mut |used| readers.extend((used == reg).then_some(at)));
            }
            let results = &self.code.blocks[self.block].results;
            readers.extend(results.iter().filter(|result| result.reg == reg).map(|_| self.instrs().len()));
            readers
        };
        let mut repeated = Vec::new();
        for (at, instr) in self.instrs().iter().enumerate().skip(self.from) {
            let Instr::Replicate { dst, .. } = instr else { continue };
            if let [reader] = readers(dst.0)[..]
                && ![at, reader].iter().any(|at| left.contains(at) || *at == self.instrs().len())
                && self.instrs()[reader].is_parallel()
                && !self.is_fill(at)
            {
                repeated.push((at, reader));
            }
        }
        repeated
    }
}

/// The destinations of scatters and histograms, from an instruction on.
struct Destinations {
    /// Those that nothing else uses from there on, with the instruction that changes them.
    changed: BTreeMap<RegId, usize>,
    /// Instructions that could change one in its place where they stand, but not at the beginning, since it is used in between: a
    /// copy of all of it is more than what is saved.
    copied: BTreeSet<usize>,
}

fn destinations(code: &Function, block: BlockId, from: usize) -> Destinations {
    let whole = &code.blocks[block];
    let mut uses: HashMap<RegId, usize> = HashMap::new();
    let mut count = |reg| *uses.entry(reg).or_default() += 1;
    whole.code[from..].iter().for_each(|instr| code.each_use(instr, &mut count));
    whole.results.iter().for_each(|operand| count(operand.reg));
    let (mut changed, mut copied) = (BTreeMap::new(), BTreeSet::new());
    for (at, instr) in whole.code.iter().enumerate().skip(from).filter(|(_, instr)| instr.is_parallel()) {
        for dest in instr.parts().dests.iter().filter(|dest| dest.last) {
            match uses.get(&dest.reg) {
                Some(1) => drop(changed.insert(dest.reg, at)),
                _ => drop(copied.insert(at)),
            }
        }
    }
    Destinations { changed, copied }
}

impl Lifter<'_> {
    /// Computes the arrays that an instruction defines into memory.
    fn make(&mut self, instr: &Instr) -> Lift<()> {
        for def in Fields::of(instr).defs {
            if let Some(Value::Array(array)) = self.env.get(&def.0).cloned() {
                let made = self.materialise(array)?;
                self.define(def.0, Value::Array(made));
            }
        }
        Ok(())
    }
}

/// Leaves out what uses what is left out.
fn spread(code: &Function, instrs: &[Instr], from: usize, left: &mut BTreeSet<usize>) {
    let mut late: BTreeSet<RegId> = BTreeSet::new();
    for (k, instr) in instrs.iter().enumerate().skip(from) {
        let mut uses = false;
        code.each_use(instr, &mut |reg| uses |= late.contains(&reg));
        if uses {
            left.insert(k);
        }
        if left.contains(&k) {
            late.extend(Fields::of(instr).defs.iter().map(|def| def.0));
        }
    }
}

/// The region without what is left out, or which instruction stands in the way. Besides what is looked at, its results are
/// the given registers.
fn attempt(
    module: &VerifiedModule,
    function: FuncId,
    part: &Part<'_>,
    left: &BTreeSet<usize>,
    given: &BTreeSet<RegId>,
) -> Result<Sequence, (usize, LiftRefusal)> {
    let Part { code, from, .. } = *part;
    let instrs = part.instrs();
    let mut lifter = Lifter::new(module.module(), function);
    let mut origins: HashMap<VarId, usize> = HashMap::new();
    let mut registers: HashMap<VarId, RegId> = HashMap::new();
    for (k, instr) in instrs.iter().enumerate().skip(from).filter(|(k, _)| !left.contains(k)) {
        let before = lifter.stms().len();
        lifter.burn().and_then(|()| lifter.lift_instr(instr)).map_err(|refusal| (k, refusal))?;
        if part.is_fill(k) {
            lifter.make(instr).map_err(|refusal| (k, refusal))?;
        }
        let mut made: BTreeSet<VarId> = BTreeSet::new();
        for stm in &lifter.stms()[before..] {
            origins.extend(stm.pat.iter().map(|var| (*var, k)));
            if let Rhs::Kernel { .. } | Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. } = &stm.rhs
            {
                made.extend(&stm.pat);
            }
        }
        for dst in Fields::of(instr).defs.iter().filter(|_| part.is_operator(k)) {
            let var = match lifter.env.get(&dst.0) {
                Some(Value::Scalar(Exp::Var(var))) => Some(*var),
                Some(Value::Array(array)) => array.as_name(),
                _ => None,
            };
            // Two results of a call may be one array, of which one register would get the value.
            match var.filter(|var| made.contains(var) && !registers.contains_key(var)) {
                Some(var) => drop(registers.insert(var, dst.0)),
                None => return Err((k, LiftRefusal::new("a result that no statement makes for it alone"))),
            }
        }
    }
    let needed = needed(part, left);
    let mut results: Vec<VarId> = registers.keys().copied().collect();
    results.retain(|var| needed.contains(&registers[var]) || given.contains(&registers[var]));
    results.sort_unstable();
    let name = format!("{}_{}", code.name, from);
    let results = results.into_iter().map(Exp::Var).collect();
    let (lifted, names) =
        lifter.finish_named(galopvm_kir::text::as_name(&name), results).map_err(|refusal| (from, refusal))?;
    let named = |var: VarId| names[var].clone();
    let registers = registers.into_iter().map(|(var, reg)| (named(var), reg)).collect();
    let origins = origins.into_iter().map(|(var, at)| (named(var), at)).collect();
    let consumed = part.changed.iter().filter(|(_, at)| !left.contains(at)).map(|(reg, _)| *reg).collect();
    let repeated = part.repeated(left);
    Ok(Sequence { lifted, registers, origins, consumed, repeated })
}

/// The array that a view shows, for views that are no look at it.
fn shown(part: &Part<'_>, left: &BTreeSet<usize>) -> HashMap<RegId, RegId> {
    let mut shown: HashMap<RegId, RegId> = HashMap::new();
    for (_, instr) in part.instrs().iter().enumerate().skip(part.from).filter(|(k, _)| !left.contains(k)) {
        let Some((dst, array)) = instr.shows().filter(|(dst, _)| !part.code.regs[*dst].is_scalar()) else {
            continue;
        };
        // A view of a view may have to be copied.
        let may_copy = matches!(instr.row().effect, Effect::Alloc | Effect::AllocTrap);
        if !may_copy || !shown.contains_key(&array) {
            shown.insert(dst, array);
        }
    }
    shown
}

/// What operators define, others are given, and these do not look at.
fn unread(part: &Part<'_>, left: &BTreeSet<usize>, sequence: &Sequence) -> BTreeSet<RegId> {
    let region = sequence.lifted.region.region();
    let mut read: BTreeSet<(usize, RegId)> = BTreeSet::new();
    for stm in &region.body.stms {
        let name = stm.pat.first().map_or("", |var| region.name_of(*var));
        let Some(at) = sequence.origins.get(name) else { continue };
        stm.rhs.each_use(&mut |var| {
            read.extend(sequence.registers.get(region.name_of(var)).map(|reg| (*at, *reg)));
        });
    }
    let shown = shown(part, left);
    let made: BTreeSet<RegId> = sequence.registers.values().copied().collect();
    let mut unread = BTreeSet::new();
    for (at, instr) in part.instrs().iter().enumerate().skip(part.from) {
        if left.contains(&at) || !part.is_operator(at) {
            continue;
        }
        part.code.each_use(instr, &mut |mut reg| {
            while let Some(array) = shown.get(&reg) {
                reg = *array;
            }
            if made.contains(&reg) && !read.contains(&(at, reg)) {
                unread.insert(reg);
            }
        });
    }
    unread
}

/// What operators define and somebody else may look at. Scalars always count as looked at.
fn needed(part: &Part<'_>, left: &BTreeSet<usize>) -> BTreeSet<RegId> {
    let Part { code, from, .. } = *part;
    let block = &code.blocks[part.block];
    let mut needed: BTreeSet<RegId> = block.results.iter().map(|operand| operand.reg).collect();
    let shown = shown(part, left);
    let mut made: BTreeSet<RegId> = BTreeSet::new();
    for (k, instr) in block.code.iter().enumerate().skip(from) {
        let is_here = !left.contains(&k);
        let is_view = || Fields::of(instr).defs.iter().any(|def| shown.contains_key(&def.0));
        match instr {
            Instr::Dim { .. } => {}
            _ if is_here && part.is_operator(k) => {
                made.extend(Fields::of(instr).defs.iter().map(|def| def.0));
            }
            _ if is_here && is_view() => {}
            _ => code.each_use(instr, &mut |reg| _ = needed.insert(reg)),
        }
    }
    let looked_at: Vec<RegId> = needed.iter().copied().collect();
    for mut reg in looked_at {
        while let Some(array) = shown.get(&reg) {
            reg = *array;
            needed.insert(reg);
        }
    }
    needed.extend(made.into_iter().filter(|reg| code.regs[*reg].is_scalar()));
    needed
}
