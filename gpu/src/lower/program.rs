//! A region as a sequence of dispatches.
//!
//! Each top-level statement becomes a stage (a reduction two). Scalars of the top level that need no memory are
//! left to the host; views of arrays are computed anew in each stage that reads through them. Between stages,
//! values lie in device buffers: one per name, row-major.

use super::stage;
use crate::info::Features;
use crate::shader::{Shader, Ty, Width};
use galopvm_base::ElemType;
use galopvm_kir::{ArrayOp, Body, Exp, Refusal, Rhs, Stm, Unit, VarId};
use std::collections::HashMap;

/// A number that the host puts into the parameter buffer, 64 bits each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    /// The bits of a scalar parameter or of a scalar the host computed.
    Scalar(VarId),
    /// Where an array parameter starts in its device buffer, in elements.
    Offset(usize),
    /// Extent of a dimension of an array parameter.
    Extent(usize, usize),
    /// Stride of a dimension of an array parameter, in elements.
    Stride(usize, usize),
    /// Number of workgroups of a stage.
    Groups(usize),
    /// Number of points of a stage.
    Points(usize),
    /// Nothing but zeros, which no driver knows.
    Zeros,
}

/// What stands behind a binding of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// The numbers of the launch.
    Params,
    /// The trap flag.
    Flag,
    /// An array parameter.
    Array(usize),
    /// A value between stages.
    Temp(usize),
}

/// A device buffer between stages.
#[derive(Clone, PartialEq, Debug)]
pub struct Temp {
    /// Element type.
    pub elem: ElemType,
    /// Extents, over parameters and host scalars.
    pub shape: Vec<Exp>,
}

/// How many workgroups a stage takes.
#[derive(Clone, PartialEq, Debug)]
pub enum Count {
    /// One invocation for each point of these extents.
    Points(Vec<Exp>),
    /// As many as are worth it for so many points, at most [`stage::MOST_GROUPS`].
    Chunks(Vec<Exp>),
    /// One.
    One,
}

/// One dispatch.
#[derive(Clone, PartialEq, Debug)]
pub struct Stage {
    /// What it computes, for listings.
    pub name: String,
    /// The shader.
    pub shader: Shader,
    /// What its bindings stand for.
    pub sources: Vec<Source>,
    /// Its workgroups.
    pub count: Count,
}

/// Where a result of the region comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A device buffer.
    Temp(usize),
    /// A scalar of the host.
    Host(VarId),
}

/// A lowered region.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// In the order of execution.
    pub stages: Vec<Stage>,
    /// The layout of the parameter buffer.
    pub slots: Vec<Slot>,
    /// The buffers between stages.
    pub temps: Vec<Temp>,
    /// Scalars the host computes before anything runs, in order.
    pub hosts: Vec<(VarId, Exp)>,
    /// Extents and bounds that must be below 2^32, or the program does not fit the launch.
    pub small: Vec<Exp>,
    /// The results of the region.
    pub results: Vec<Outcome>,
}

/// What a name of the top level is.
#[derive(Clone, Copy)]
pub enum Top<'a> {
    /// Parameter number so and so.
    Param(usize),
    /// A scalar of the host.
    Host,
    /// A value in a device buffer.
    Temp(usize),
    /// A view: the statement that makes it, and which of its names.
    View(&'a Stm, usize),
}

/// What all stages of a region share while they are lowered.
pub struct Table<'a> {
    /// The region, the plan and what was observed.
    pub unit: Unit<'a>,
    /// What the device can do.
    pub features: &'a Features,
    /// The program so far.
    pub program: Program,
    /// The names of the top level.
    pub top: HashMap<VarId, Top<'a>>,
    slots: HashMap<Slot, usize>,
}

impl<'a> Table<'a> {
    /// The place of a number in the parameter buffer.
    pub fn slot(&mut self, slot: Slot) -> usize {
        let slots = &mut self.program.slots;
        *self.slots.entry(slot).or_insert_with(|| {
            slots.push(slot);
            slots.len() - 1
        })
    }

    /// A new buffer for a value of this type.
    pub fn temp(&mut self, elem: ElemType, shape: Vec<Exp>) -> Result<usize, Refusal> {
        for extent in &shape {
            self.known_to_host(extent)?;
        }
        self.program.temps.push(Temp { elem, shape });
        Ok(self.program.temps.len() - 1)
    }

    /// Refuses extents that are only known on the device.
    pub fn known_to_host(&self, exp: &Exp) -> Result<(), Refusal> {
        let mut unknown = None;
        exp.visit(&mut |part| match part {
            Exp::Var(var) if self.is_host(*var) => {}
            Exp::Var(var) => unknown = Some(self.unit.region.region().name_of(*var).to_string()),
            Exp::Read(read) => unknown = Some(self.unit.region.region().name_of(read.array).to_string()),
            _ => {}
        });
        match unknown {
            Some(name) => {
                Err(Refusal::new(format!("an extent depends on `{name}`, which is computed on the device")))
            }
            None => Ok(()),
        }
    }

    fn is_host(&self, var: VarId) -> bool {
        match self.top.get(&var) {
            Some(Top::Param(_)) => self.unit.region.type_of(var).is_scalar(),
            Some(Top::Host) => true,
            _ => false,
        }
    }
}

/// Lowers a region for a device with these features.
pub fn lower<'a>(unit: Unit<'a>, features: &'a Features) -> Result<Program, Refusal> {
    let region = unit.region.region();
    let program = Program::default();
    let mut table = Table { unit, features, program, top: HashMap::new(), slots: HashMap::new() };
    for (k, param) in region.params.iter().enumerate() {
        table.top.insert(*param, Top::Param(k));
    }
    for stm in &region.body.stms {
        statement(&mut table, stm)?;
    }
    for (result, ty) in region.body.results.iter().zip(unit.region.results()) {
        let Exp::Var(var) = result else {
            return Err(Refusal::new("a result of the region is not a name"));
        };
        let outcome = match table.top.get(var) {
            Some(Top::Temp(temp)) => Outcome::Temp(*temp),
            Some(Top::Host) => Outcome::Host(*var),
            Some(Top::Param(_)) if ty.is_scalar() => Outcome::Host(*var),
            Some(Top::Param(_) | Top::View(..)) => Outcome::Temp(stage::copy(&mut table, *var)?),
            None => return Err(Refusal::new(format!("`{}` has no value", region.name_of(*var)))),
        };
        table.program.results.push(outcome);
    }
    for stage in &table.program.stages {
        check(&stage.shader, features)?;
    }
    Ok(table.program)
}

fn statement<'a>(table: &mut Table<'a>, stm: &'a Stm) -> Result<(), Refusal> {
    let region = table.unit.region;
    match &stm.rhs {
        Rhs::Kernel { axes, body } => stage::map(table, &stm.pat, axes, body),
        Rhs::Reduce { axes, body, combine } => stage::reduce(table, &stm.pat, axes, body, combine),
        Rhs::Exps(exps) => {
            for (k, (var, exp)) in stm.pat.iter().zip(exps).enumerate() {
                if !region.type_of(*var).is_scalar() {
                    table.top.insert(*var, Top::View(stm, k));
                } else if table.known_to_host(exp).is_ok() {
                    table.program.hosts.push((*var, exp.clone()));
                    table.top.insert(*var, Top::Host);
                } else {
                    let body = Body { stms: Vec::new(), results: vec![exp.clone()] };
                    stage::single(table, &[*var], &body)?;
                }
            }
            Ok(())
        }
        Rhs::If { .. } | Rhs::For { .. } | Rhs::While { .. }
            if stm.pat.iter().all(|var| region.type_of(*var).is_scalar()) =>
        {
            let results = stm.pat.iter().map(|var| Exp::Var(*var)).collect();
            stage::single(table, &stm.pat, &Body { stms: vec![stm.clone()], results })
        }
        Rhs::Array(ArrayOp::View { change, .. }) if !change.is_reshape() => {
            for (k, var) in stm.pat.iter().enumerate() {
                table.top.insert(*var, Top::View(stm, k));
            }
            Ok(())
        }
        Rhs::Manifest { array, .. } => {
            let temp = stage::copy(table, *array)?;
            for var in &stm.pat {
                table.top.insert(*var, Top::Temp(temp));
            }
            Ok(())
        }
        other => Err(Refusal::new(format!("{} outside kernels is not lowered", describe(other)))),
    }
}

/// What a right side is, for reasons.
pub fn describe(rhs: &Rhs) -> String {
    match rhs {
        Rhs::Exps(_) => "a binding".into(),
        Rhs::Kernel { .. } => "a kernel".into(),
        Rhs::Reduce { .. } => "a reduction".into(),
        Rhs::Scan { .. } => "a scan".into(),
        Rhs::For { .. } | Rhs::While { .. } => "a loop that carries arrays".into(),
        Rhs::If { .. } => "a choice between arrays".into(),
        Rhs::Update { .. } => "an update".into(),
        Rhs::Scatter { combine: None, .. } => "a scatter".into(),
        Rhs::Scatter { .. } => "a histogram".into(),
        Rhs::Manifest { .. } => "a change of layout".into(),
        Rhs::Array(op) => format!("`{}`", op.word()),
    }
}

/// What a shader asks of the device.
fn check(shader: &Shader, features: &Features) -> Result<(), Refusal> {
    for (needed, there, what) in [
        (shader.uses(Ty::B64) || shader.stores(Width::W64), features.int64, "64-bit integers"),
        (shader.uses(Ty::F64), features.float64, "64-bit floats"),
        (shader.stores(Width::W8), features.storage8, "8-bit storage"),
        (shader.stores(Width::W16), features.storage16, "16-bit storage"),
    ] {
        if needed && !there {
            return Err(Refusal::new(format!("the device has no {what}")));
        }
    }
    Ok(())
}
