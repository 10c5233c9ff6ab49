//! What a fusion costs and what it saves, by the observed sizes.
//!
//! Work is counted in additions (the weights of `work.rs`); an element that is loaded or stored counts as [`ACCESS`] of
//! them. Sizes that were not observed are taken as [`ASSUMED_TRIPS`], and bytes are then told for each element.

use super::lines::Saving;
use super::reads::Round;
use crate::work::ASSUMED_TRIPS;
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::borders::turns;
use galopvm_kir::linear::Definitions;
use galopvm_kir::types::scalar_value;
use galopvm_kir::walk::Part;
use galopvm_kir::{Axis, Body, Exp, Observed, ObservedParam, Region, Rhs, Stm, VarId};
use std::collections::BTreeMap;

/// What loading or storing an element costs, in additions.
pub(super) const ACCESS: u64 = 4;

/// What goes on in turn beside a write to a place that nobody foresees, and takes no longer than that, in additions.
pub(super) const BESIDE_A_WRITE: u64 = 8 * ACCESS;

/// The numbers behind the names of a region.
#[derive(Clone, Default)]
pub(super) struct Sizes {
    exact: BTreeMap<VarId, Scalar>,
    /// Values in the middle of what iteration variables can be, and what follows from them.
    typical: BTreeMap<VarId, Scalar>,
}

impl Sizes {
    /// What was observed of the parameters, and the names that follow from it.
    pub fn new(region: &Region, observed: &Observed) -> Sizes {
        let scalars = observed.params.iter().map(|param| match param {
            ObservedParam::Scalar(value) => Some(*value),
            ObservedParam::Array { .. } => None,
        });
        Sizes::of(region, scalars)
    }

    /// What follows from the scalars among the parameters.
    fn of(region: &Region, scalars: impl Iterator<Item = Option<Scalar>>) -> Sizes {
        let mut sizes = Sizes::default();
        let known = region.params.iter().zip(scalars);
        sizes.exact.extend(known.filter_map(|(var, value)| Some((*var, value?))));
        sizes.body(&region.body);
        sizes
    }

    /// The names of a statement that was changed.
    pub fn redefine(&mut self, stm: &Stm) {
        for var in stm.bound_vars() {
            self.exact.remove(&var);
            self.typical.remove(&var);
        }
        self.stm(stm);
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.stm(stm));
    }

    fn stm(&mut self, stm: &Stm) {
        if let Rhs::Exps(exps) = &stm.rhs {
            for (var, exp) in stm.pat.iter().zip(exps) {
                if let Some(value) = scalar_value(exp, &|var| self.exact.get(&var).copied()) {
                    self.exact.insert(*var, value);
                } else if let Some(value) = self.typical(exp) {
                    self.typical.insert(*var, value);
                }
            }
        }
        for axis in stm.rhs.axes() {
            let middle = self.trips(&axis.bound) / 2;
            self.typical.insert(axis.var, Scalar::i64(i64::try_from(middle).unwrap_or(i64::MAX)));
        }
        stm.rhs.each_part(&mut |part| {
            if let Part::Body(inner) = part {
                self.body(inner);
            }
        });
    }

    fn typical(&self, exp: &Exp) -> Option<Scalar> {
        scalar_value(exp, &|var| self.exact.get(&var).or_else(|| self.typical.get(&var)).copied())
    }

    /// How often an axis runs.
    pub fn trips(&self, bound: &Exp) -> u64 {
        let value = self.typical(bound).filter(|value| value.ty == ElemType::I64);
        value.map_or(ASSUMED_TRIPS, |value| u64::try_from(value.as_i64()).unwrap_or(0))
    }

    /// Whether the number of iterations follows from what was observed.
    pub fn are_known(&self, axes: &[Axis]) -> bool {
        axes.iter().all(|axis| scalar_value(&axis.bound, &|var| self.exact.get(&var).copied()).is_some())
    }

    /// How often the places of these axes are reached.
    pub fn runs(&self, axes: &[Axis]) -> u64 {
        axes.iter().fold(1, |runs, axis| runs.saturating_mul(self.trips(&axis.bound)))
    }

    /// How often a place is reached; a branch counts as taken.
    pub fn runs_around(&self, around: &[Round]) -> u64 {
        around.iter().fold(1, |runs, round| match round {
            Round::Axis(axis) | Round::Loop(axis) => runs.saturating_mul(self.trips(&axis.bound)),
            Round::While => runs.saturating_mul(ASSUMED_TRIPS),
            Round::Branch => runs,
        })
    }

    /// What one execution of a body costs, and the bytes that it loads.
    pub fn cost(&self, region: &Region, body: &Body) -> Cost {
        let mut cost = Cost::default();
        for stm in &body.stms {
            let rounds = match &stm.rhs {
                Rhs::While { .. } => ASSUMED_TRIPS,
                rhs => self.runs(rhs.axes()),
            };
            stm.rhs.each_part(&mut |part| match part {
                Part::Exp(exp) => {
                    cost.exp(region, exp);
                }
                Part::Body(inner) => cost.add(self.cost(region, inner), rounds),
                Part::Use(_) | Part::Bind(_) => {}
            });
            if let Rhs::Scatter { arrays, .. } = &stm.rhs {
                let writes = rounds.saturating_mul(arrays.len() as u64);
                cost.work = cost.work.saturating_add(writes.saturating_mul(ACCESS));
            }
            if let Rhs::Array(_) | Rhs::Manifest { .. } = &stm.rhs {
                let extents = stm.pat.iter().filter_map(|var| region.vars[*var].ty.as_ref());
                let elements = extents.map(|ty| self.elements(&ty.shape)).sum::<u64>();
                cost.work = cost.work.saturating_add(elements.saturating_mul(ACCESS));
            }
        }
        for exp in &body.results {
            cost.exp(region, exp);
        }
        cost
    }

    /// What one element costs that is computed over axes, where what only changes with the first of them is computed once for
    /// each of their iterations, and a remainder turns at the end of an array.
    pub fn cost_over(&self, region: &Region, axes: &[Axis], body: &Body) -> Cost {
        let (Some(last), true) = (axes.last(), body.stms.iter().all(|stm| matches!(stm.rhs, Rhs::Exps(_))))
        else {
            return self.cost(region, body);
        };
        let mut depths: BTreeMap<VarId, usize> = BTreeMap::new();
        depths.extend(axes.iter().enumerate().map(|(at, axis)| (axis.var, at + 1)));
        let runs: Vec<u64> = (0..=axes.len()).map(|depth| self.runs(&axes[..depth])).collect();
        let definitions = Definitions::of(body);
        let mut over = Over { region, last: last.var, definitions, depths, runs, cost: Cost::default() };
        for stm in &body.stms {
            let Rhs::Exps(exps) = &stm.rhs else { continue };
            for (var, exp) in stm.pat.iter().zip(exps) {
                let depth = over.exp(exp);
                over.depths.insert(*var, depth);
            }
        }
        body.results.iter().for_each(|exp| _ = over.exp(exp));
        let elements = over.runs[axes.len()].max(1);
        let Cost { work, bytes } = over.cost;
        Cost { work: work.div_ceil(elements), bytes: bytes.div_ceil(elements) }
    }

    /// How many elements an array of this shape has.
    pub fn elements(&self, shape: &[Exp]) -> u64 {
        shape.iter().fold(1, |count, extent| count.saturating_mul(self.trips(extent)))
    }
}

/// The work of a region for these scalars among its parameters, in additions; what its kernels store does not count.
pub fn work(region: &Region, scalars: impl Iterator<Item = Option<Scalar>>) -> u64 {
    Sizes::of(region, scalars).cost(region, &region.body).work
}

/// What one execution costs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Cost {
    /// In additions, accesses included.
    pub work: u64,
    /// Bytes that are loaded.
    pub bytes: u64,
}

impl Cost {
    fn add(&mut self, other: Cost, rounds: u64) {
        self.work = self.work.saturating_add(other.work.saturating_mul(rounds));
        self.bytes = self.bytes.saturating_add(other.bytes.saturating_mul(rounds));
    }

    /// Adds an expression.
    fn exp(&mut self, region: &Region, exp: &Exp) {
        let (work, bytes) = match exp {
            Exp::Const(_) | Exp::Var(_) | Exp::Opaque(..) => (0, 0),
            Exp::Op(op, elem, _) => (op.weight(*elem), 0),
            Exp::Convert(..) => (1, 0),
            Exp::Read(read) => {
                (ACCESS, region.vars[read.array].ty.as_ref().map_or(0, |ty| ty.elem.bytes() as u64))
            }
        };
        self.add(Cost { work, bytes }, 1);
        exp.each_part(&mut |part| self.exp(region, part));
    }
}

/// What the elements of a body cost, all together.
struct Over<'a> {
    region: &'a Region,
    last: VarId,
    definitions: Definitions<'a>,
    /// After how many axes a name is known.
    depths: BTreeMap<VarId, usize>,
    /// How often code is executed that stands after so many axes.
    runs: Vec<u64>,
    cost: Cost,
}

impl Over<'_> {
    /// Adds an expression; gives after how many axes it is known.
    fn exp(&mut self, exp: &Exp) -> usize {
        let mut depth = 0;
        exp.each_part(&mut |part| depth = depth.max(self.exp(part)));
        let (work, bytes) = match exp {
            Exp::Const(_) | Exp::Opaque(..) => (0, 0),
            Exp::Var(var) => {
                depth = self.depths.get(var).copied().unwrap_or(0);
                (0, 0)
            }
            Exp::Op(..) if turns(exp, self.last, &self.definitions) => (1, 0),
            Exp::Op(op, elem, _) => (op.weight(*elem), 0),
            Exp::Convert(..) => (1, 0),
            Exp::Read(read) => {
                (ACCESS, self.region.vars[read.array].ty.as_ref().map_or(0, |ty| ty.elem.bytes() as u64))
            }
        };
        self.cost.add(Cost { work, bytes }, self.runs[depth]);
        depth
    }
}

/// What no longer goes to memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Unwritten {
    /// Bytes altogether.
    pub bytes: u64,
    /// The number of elements that sizes were taken for, if one of them was not observed.
    pub assumed: Option<u64>,
}

impl Unwritten {
    /// For a body that is executed so often; `true` if that is assumed.
    pub fn times(self, (rounds, unknown): (u64, bool)) -> Unwritten {
        let times = |count: u64| count.saturating_mul(rounds);
        let bytes = times(self.bytes);
        match self.assumed {
            None if unknown => self,
            assumed => Unwritten { bytes, assumed: assumed.map(times) },
        }
    }

    /// As the decision tells it.
    pub fn told(self) -> Saving {
        match self.assumed {
            None => Saving::Bytes(self.bytes),
            Some(elements) => Saving::BytesEach(self.bytes / elements.max(1)),
        }
    }
}
