//! Running a region plainly (every array in a block of its own, updates copy), and with arrays where a plan puts
//! them. What has no order is done in a random one: iterations of kernels advance statement by statement, mixed with
//! others of the same kernel; elements of copies are copied in any order. Unknown functions give numbers that depend
//! on all they are given; places nobody wrote hold nothing, and what is computed from nothing is nothing.
//!
//! - `memory.rs`: blocks. `expression.rs`: scalars, indices, views. `task.rs`: what is under way, step by step.
//!   `statement.rs`: statements that take one step. `array.rs`: operations on whole arrays. `reuse.rs`: results
//!   written over arrays that nobody needs any more. `names.rs`: what each name stands for.

mod array;
mod expression;
mod memory;
mod names;
mod reuse;
mod statement;
mod task;

pub use reuse::candidates;

use galopvm_analysis::circuit::{Circuits, Places};
use galopvm_analysis::memory::{Home, schedule};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::{ArrayOp, CheckedRegion, Observed, ObservedParam, Region, Rhs, VarId};
use galopvm_testkit::Random;
use memory::{Array, Memory};
use names::{Names, Val};
use std::collections::{BTreeMap, BTreeSet};
use task::Task;

/// An element: nothing if nobody wrote it.
pub type Cell = Option<u64>;

/// Where arrays lie.
#[derive(Clone, Default)]
pub struct Layout {
    /// Places by short-circuiting; nothing for the plain run.
    pub places: Option<Places>,
    /// By result of a kernel: the arrays it may be written over.
    pub over: BTreeMap<VarId, Vec<VarId>>,
    /// Results that are written over an array no matter who needs it.
    pub forced: BTreeMap<VarId, VarId>,
    /// Places are taken on trust: they may be wrong.
    pub trusted: bool,
    /// Offsets in bytes of blocks in one memory.
    pub slots: BTreeMap<VarId, usize>,
    /// The bytes of that memory.
    pub bytes: usize,
    /// Arrays that take two blocks in turn.
    pub turns: BTreeSet<VarId>,
}

impl Layout {
    /// Arrays where short-circuiting puts them.
    pub fn placed(places: &Places) -> Layout {
        Layout { places: Some(places.clone()), ..Layout::default() }
    }

    /// Also, blocks whose lifetimes do not meet in the same memory.
    pub fn packed(region: &Region, circuits: &Circuits) -> Layout {
        let mut layout = Layout::placed(&circuits.places);
        let schedule = schedule(region, circuits, 1);
        layout.bytes = schedule.packing.total as usize;
        for (made, home) in &schedule.blocks {
            match home {
                Home::Entry { offset } => drop(layout.slots.insert(made.array, *offset as usize)),
                Home::Turns => drop(layout.turns.insert(made.array)),
                Home::Round => {}
            }
        }
        layout
    }
}

/// An access to an element.
#[derive(Clone, Copy)]
pub struct Access {
    pub block: usize,
    pub place: i64,
    /// The name that it goes by.
    pub name: VarId,
    pub write: bool,
    /// The iteration of the outermost kernel around.
    pub iteration: Option<usize>,
    /// The number of statements that were finished before it, by the first task.
    pub time: usize,
}

/// What came out.
pub struct Finished {
    /// The elements of what the last statement defines.
    pub results: Vec<Vec<Cell>>,
    /// Accesses in order, if they were asked for.
    pub accesses: Vec<Access>,
    /// The block of each array at the end.
    pub blocks: BTreeMap<VarId, usize>,
    /// When each name was bound for the last time.
    pub bound: BTreeMap<VarId, usize>,
    /// By iteration of a kernel whose result was forced over an array: whether its place got another value.
    pub changed: BTreeMap<i64, bool>,
    /// Results that were written over an array.
    pub reused: usize,
    /// Blocks that were made.
    pub made: usize,
    /// Elements accessed and statements executed.
    pub work: u64,
}

/// How a run goes.
#[derive(Clone, Copy)]
pub struct Way {
    /// Decides the order.
    pub order: u64,
    /// Decides the contents of arrays and the values of names without a value.
    pub inputs: u64,
    /// Keep the list of accesses.
    pub watch: bool,
    /// Most elements and statements.
    pub limit: u64,
}

impl Default for Way {
    fn default() -> Way {
        Way { order: 0, inputs: 0, watch: false, limit: 4_000_000 }
    }
}

/// Said when a run takes more than its limit.
pub const TOO_LONG: &str = "too long";

/// A run of a region.
struct Machine<'a> {
    region: &'a Region,
    layout: &'a Layout,
    /// Blocks that something else than their own array lies in.
    targets: BTreeSet<VarId>,
    /// Arrays of unspecified contents, which functions fill.
    scratch: BTreeSet<VarId>,
    arena: Option<usize>,
    /// The blocks of arrays that take them in turn, the next one first.
    turns: BTreeMap<VarId, Vec<usize>>,
    random: Random,
    way: Way,
    memory: Memory,
    accesses: Vec<Access>,
    /// The iteration of the outermost kernel that advances now.
    iteration: Option<usize>,
    bound: BTreeMap<VarId, usize>,
    changed: BTreeMap<i64, bool>,
    time: usize,
    reused: usize,
}

/// Runs a region.
pub fn run(
    region: &CheckedRegion,
    observed: &Observed,
    layout: &Layout,
    way: Way,
) -> Result<Finished, String> {
    let code = region.region();
    let mut targets = BTreeSet::new();
    for (var, place) in layout.places.iter().flat_map(Places::iter) {
        if place.block != *var {
            targets.insert(place.block);
        }
    }
    let mut scratch = BTreeSet::new();
    code.body.visit_stms(&mut |stm| {
        if let Rhs::Array(ArrayOp::Scratch { .. }) = stm.rhs {
            scratch.extend(&stm.pat);
        }
    });
    let mut memory = Memory::default();
    let arena = (!layout.slots.is_empty()).then(|| memory.arena(layout.bytes));
    let mut machine = Machine {
        region: code,
        layout,
        targets,
        scratch,
        arena,
        turns: BTreeMap::new(),
        random: Random::new(way.order),
        way,
        memory,
        accesses: Vec::new(),
        iteration: None,
        bound: BTreeMap::new(),
        changed: BTreeMap::new(),
        time: 0,
        reused: 0,
    };
    let names = machine.arguments(observed)?;
    let mut task = Task::new(names);
    machine.enter(&mut task, &code.body)?;
    while !machine.step(&mut task)? {}
    let last = code.body.stms.last().ok_or("no statement")?;
    let mut results = Vec::new();
    for var in &last.pat {
        results.push(match task.names.get(*var) {
            Some(Val::Array(array)) => machine.memory.cells(array)?,
            Some(Val::Scalar(value)) => vec![value.map(|value| value.bits)],
            None => return Err(format!("`{}` has no value", code.name_of(*var))),
        });
    }
    Ok(Finished {
        results,
        accesses: machine.accesses,
        blocks: task.names.blocks(),
        bound: machine.bound,
        changed: machine.changed,
        reused: machine.reused,
        made: machine.memory.count(),
        work: way.limit - machine.way.limit,
    })
}

/// Whether all that the plain run knows is the same with the plan.
pub fn agree(plain: &Finished, planned: &Finished) -> bool {
    plain.results.len() == planned.results.len()
        && plain
            .results
            .iter()
            .zip(&planned.results)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_none() || a == b))
}

pub(crate) fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x9e37_79b9, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 29)
    })
}

impl Machine<'_> {
    /// The parameters: what was observed, contents by chance. What was not observed is an array that others hold, or
    /// a small number.
    fn arguments(&mut self, observed: &Observed) -> Result<Names, String> {
        let code = self.region;
        let mut names = Names::new(code.vars.len());
        let mut numbers = BTreeMap::new();
        for (var, param) in code.params.iter().zip(&observed.params) {
            match param {
                ObservedParam::Scalar(value) => names.set(*var, Val::Scalar(Some(*value))),
                ObservedParam::Array { lmad, block, block_elements, references } => {
                    let at = match numbers.get(block) {
                        Some(at) => *at,
                        None => {
                            let at = self.memory.block(*block_elements);
                            self.fill(at, self.elem(*var), u64::from(*block))?;
                            numbers.insert(*block, at);
                            at
                        }
                    };
                    if *references != 1 {
                        self.memory.share(at);
                    }
                    names.own(*var, at);
                    names.set(*var, Val::Array(Array { block: at, view: lmad.clone() }));
                }
            }
        }
        for param in &code.params {
            if names.get(*param).is_some() {
                continue;
            }
            let elem = self.elem(*param);
            let shape = self.shape(&names, *param)?;
            if shape.is_empty() {
                let value = match self.way.inputs {
                    0 => 1,
                    inputs => (hash(&[u64::from(param.0), inputs]) % 2) as i64,
                };
                names.set(*param, Val::Scalar(Some(Scalar::from_int(elem, value))));
                continue;
            }
            let view = galopvm_lmad::Lmad::row_major(&shape);
            let block = self.memory.block(view.elements());
            self.fill(block, elem, 1000 + u64::from(param.0))?;
            self.memory.share(block);
            names.own(*param, block);
            names.set(*param, Val::Array(Array { block, view }));
        }
        Ok(names)
    }

    /// Contents by chance; integers of 64 bits are used as indices.
    fn fill(&mut self, block: usize, elem: ElemType, number: u64) -> Result<(), String> {
        let limit = if elem == ElemType::I64 { 8 } else { 50 };
        for place in 0..self.memory.elements(block) as i64 {
            let value = hash(&[number, place as u64, self.way.inputs]) % limit;
            self.memory.set(block, place, Some(Scalar::from_int(elem, value as i64).bits))?;
        }
        Ok(())
    }

    fn elem(&self, var: VarId) -> ElemType {
        self.region.vars[var].ty.as_ref().map_or(ElemType::I64, |ty| ty.elem)
    }

    fn count(&mut self, work: u64) -> Result<(), String> {
        self.way.limit = self.way.limit.checked_sub(work).ok_or(TOO_LONG)?;
        Ok(())
    }
}
