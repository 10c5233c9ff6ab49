//! Lowering: a region and its plan to low IR, the same way for every target.
//!
//! - `value.rs`: what a value is while lowering (constant, uniform, linear in the lane, one per lane).
//! - `primitive.rs`: steps on values; `scalar.rs`, `divide.rs`, `bits.rs`, `convert.rs`: the operations of the language in
//!   such steps;
//!   `library.rs`: exponentials, logarithms, angles.
//! - `access.rs`: reads and writes. `control.rs`: ifs, forms of loops, masks. `carry.rs`: what loops carry. `turns.rs`: their
//!   turns in lanes. `reduce.rs`: reductions.
//!   `parts.rs`: those whose rows keep their order in lanes, `pairs.rs` if there are many. `lanes.rs`: the values of all lanes combined. `pieces.rs`: those of
//!   pieces. `scan.rs`: scans.
//! - `arrays.rs`: arrays that the code makes and changes. `owners.rs`: which of them in their place. `within.rs`: kernels, scans
//!   and scatters inside a body.
//! - `poll.rs`: where loops ask whether to go on.
//! - `tile.rs`: several rows of a kernel at once, for reductions that share operands. `stretch.rs`: such reductions, and those of
//!   neighbouring lanes, some iterations at a time. `sweep.rs`: kernels whose elements go straight to where an update puts them,
//!   several rows at once for loops that share operands.
//! - `nest.rs`: the top level: loops over the axes, the lane loop and its remainder. `spread.rs`: what varies.
//! - `inside.rs`: vectors away from borders. `around.rs`: those that go on at the other end of an array. `scatter.rs`: writes at
//!   computed places.
//! - `form.rs`: the outer shape of a region.
//!
//! In scalar mode there are no lanes and every value is uniform.

mod access;
mod around;
mod arrays;
mod bits;
mod carry;
mod control;
mod convert;
mod divide;
mod form;
mod inside;
mod lanes;
mod library;
mod nest;
mod owners;
mod pairs;
mod parts;
mod pieces;
mod poll;
mod primitive;
mod reduce;
mod scalar;
mod scan;
mod scatter;
mod spread;
mod stretch;
mod sweep;
mod tile;
mod turns;
mod value;
mod within;

pub use form::{Form, Shape, observed_scalar};
pub use nest::{Job, Places, Role, lower, piece_axis};

use crate::lir::build::Builder;
use crate::lir::{Addr, Bin, Cond, Label, Lane, Op, Reg, Width};
use crate::record::Layout;
use crate::target::Target;
use access::{View, ViewDim};
use carry::Carried;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::algebra::constant;
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::{
    Body, Exp, Observed, ObservedParam, Plan, ReadId, Refusal, Rhs, Stm, VarId, VerifiedRegion,
};
use owners::Owners;
use std::collections::{HashMap, HashSet};
use value::{Factor, Parts, Rep, Value, lane_of};

/// The lanes in use: groups of as many narrow lanes as a register has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Number of groups.
    pub groups: usize,
}

/// What is done at lanes.
type InLanes<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>) -> Result<(), Refusal>;

/// The state of lowering one region.
pub struct Lower<'a> {
    b: Builder,
    target: &'a dyn Target,
    region: &'a VerifiedRegion,
    plan: &'a Plan,
    observed: &'a Observed,
    layout: &'a Layout,
    scalars: HashMap<VarId, Value>,
    views: HashMap<VarId, View>,
    lanes: Option<Lanes>,
    /// Active lanes; none: all.
    mask: Option<Parts>,
    /// The mask of the lanes before the end of an axis that no whole vector is left of.
    rest: Option<Reg>,
    /// Stores of whole vectors go past the caches.
    stream: bool,
    strict: bool,
    /// Set in the flat form: the axes, whose reads in order are reads at the flat index.
    flat: Option<(Vec<VarId>, Option<Value>)>,
    /// Names that are used somewhere.
    used: HashSet<VarId>,
    /// Some result lies in a block that is read: what was loaded may be written before it is loaded again.
    over: bool,
    /// Scalar float loads by their result, so that a broadcast can load for itself.
    loads: HashMap<Reg, (Lane, Addr, Parts)>,
    /// Expressions whose value was asked for a whole vector.
    expected: Vec<(Exp, Value)>,
    /// Prefixes that are read as they are computed, at the current index.
    fed: HashMap<VarId, Value>,
    /// Reads whose elements are copied to arrays over an axis.
    packed: HashMap<ReadId, (VarId, View)>,
    /// Blocks that trap, to be placed at the end.
    cold: Vec<Label>,
    /// The read at hand fetches what it takes in the next turn as well.
    fetches: bool,
    /// What is stored at hand fetches the place of the next turn as well.
    readies: bool,
    /// Loops lowered so far.
    loops: usize,
    /// Rooms of arrays so far.
    rooms: u32,
    /// Which arrays are changed in their place.
    owners: Owners,
}

impl Lower<'_> {
    fn lane_count(&self) -> usize {
        self.groups() * self.target.lanes()
    }

    fn bind_scalar(&mut self, var: VarId, value: Value) {
        self.scalars.insert(var, value);
    }

    fn bind_all(&mut self, vars: &[VarId], values: &[Value]) {
        for (var, value) in vars.iter().zip(values) {
            self.bind_scalar(*var, value.clone());
        }
    }

    /// Binds the axis across the lanes; lane 0 is at `start`.
    fn bind_lane_axis(&mut self, var: VarId, start: Reg) {
        let rep = if self.lanes.is_some() {
            Rep::Linear { start, step: Factor::Const(1) }
        } else {
            Rep::Uniform(start)
        };
        self.bind_scalar(var, Value { ty: ElemType::I64, rep });
    }

    /// The end for a loop over the remainder in steps of one group.
    fn end_of_rest(&mut self, high: Reg) -> Reg {
        let lanes = self.target.lanes() as i32;
        self.b.op(Op::AluImm(Bin::Add, Width::W64, lanes - 1), &[high])
    }

    /// Makes the lanes from `counter` on that are below `high` the active ones.
    fn enter_rest(&mut self, counter: Reg, high: Reg) {
        let left = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[high, counter]);
        let left = self.b.op(Op::Splat(Lane::I32), &[left]);
        let numbers = self.b.op(Op::Iota(Lane::I32, 0), &[]);
        let mask = self.b.op(Op::Cmp(Cond::Lt, Lane::I32), &[numbers, left]);
        self.mask = Some(Parts::from_slice(&[mask]));
        self.rest = Some(mask);
    }

    fn exps(&mut self, exps: &[Exp]) -> Result<Vec<Value>, Refusal> {
        exps.iter().map(|e| self.exp(e)).collect()
    }

    fn exp(&mut self, exp: &Exp) -> Result<Value, Refusal> {
        match exp {
            Exp::Const(scalar) => Ok(Value::constant(*scalar)),
            Exp::Var(var) => self.scalar_var(*var),
            Exp::Op(op, elem, args) => {
                if let Some(value) = self.expected(exp) {
                    return Ok(value);
                }
                if let (ScalarOp::Div, [one, Exp::Convert(_, cond)]) = (op, &args[..])
                    && constant(one) == Some(1)
                {
                    // Of a condition that has to hold nothing but the trap is left.
                    let cond = self.exp(cond)?;
                    if cond.ty == ElemType::Bool {
                        return Ok(self.required(*elem, &cond));
                    }
                    let divisor = self.convert(&cond, *elem);
                    let one = self.exp(one)?;
                    return self.scalar_op(*op, *elem, &[one, divisor]);
                }
                let values = self.exps(args)?;
                self.scalar_op(*op, *elem, &values)
            }
            Exp::Convert(ty, inner) => {
                let value = self.exp(inner)?;
                Ok(self.convert(&value, *ty))
            }
            Exp::Read(read) => self.read(read),
            Exp::Opaque(name, _) => Err(Refusal::new(format!("the function {name} is unknown"))),
        }
    }

    fn scalar_var(&mut self, var: VarId) -> Result<Value, Refusal> {
        if let Some(value) = self.scalars.get(&var) {
            return Ok(value.clone());
        }
        let name = self.region.region().name_of(var);
        let ty = self.region.type_of(var);
        if !ty.is_scalar() {
            return Err(Refusal::new(format!("the array {name} is used as a value")));
        }
        let Some(word) = self.layout.param(var) else {
            return Err(Refusal::new(format!("{name} is not a parameter and has no value")));
        };
        let lane = lane_of(ty.elem);
        let mut reg = self.b.op(Op::Word(word), &[]);
        if lane.is_float() {
            reg = self.b.op(Op::ToFloat(lane), &[reg]);
        }
        let value = Value::uniform(ty.elem, reg);
        self.bind_scalar(var, value.clone());
        Ok(value)
    }

    /// The view of an array name: a parameter, or a part of one bound before.
    fn view(&mut self, var: VarId) -> Result<View, Refusal> {
        if let Some(view) = self.views.get(&var) {
            return Ok(view.clone());
        }
        let (Some(word), Some(position)) =
            (self.layout.param(var), self.region.region().params.iter().position(|p| *p == var))
        else {
            let name = self.region.region().name_of(var);
            return Err(Refusal::new(format!("{name} is an array made inside the region")));
        };
        let ty = self.region.type_of(var);
        let base = self.b.op(Op::Word(word), &[]);
        let mut dims = Vec::with_capacity(ty.rank());
        for k in 0..ty.rank() {
            let (Some(extent), Some(stride)) = (self.layout.extent(var, k), self.layout.stride(var, k))
            else {
                continue;
            };
            let extent = self.b.op(Op::Word(extent), &[]);
            let stride = match self.observed_class(position, k) {
                StrideClass::Same => Factor::Const(0),
                StrideClass::Unit => Factor::Const(1),
                StrideClass::Reversed => Factor::Const(-1),
                StrideClass::Other => Factor::Reg(self.b.op(Op::Word(stride), &[])),
            };
            dims.push(ViewDim { extent: Value::uniform(ElemType::I64, extent), stride });
        }
        let view = View { elem: ty.elem, base, fixed: Vec::new(), dims, made: None };
        self.views.insert(var, view.clone());
        Ok(view)
    }

    fn observed_class(&self, position: usize, dim: usize) -> StrideClass {
        observed_class(self.observed, position, dim)
    }

    /// Lowers the statements of a body and gives its results.
    fn body(&mut self, body: &Body) -> Result<Vec<Value>, Refusal> {
        self.statements(body)?;
        self.exps(&body.results)
    }

    fn statements(&mut self, body: &Body) -> Result<(), Refusal> {
        let mut stms = &body.stms[..];
        while let Some((stm, rest)) = stms.split_first() {
            match self.owners.sweep(stms) {
                Some(sweep) => {
                    self.lower_sweep(&sweep)?;
                    stms = &stms[2..];
                }
                None => {
                    self.stm(stm)?;
                    stms = rest;
                }
            }
        }
        Ok(())
    }

    /// Whether a read has to ask whether it stays inside.
    fn is_checked(&self, read: ReadId) -> bool {
        !self.plan.is_unchecked(read) && !self.owners.is_inside(read)
    }

    fn stm(&mut self, stm: &Stm) -> Result<(), Refusal> {
        let values = match &stm.rhs {
            Rhs::Exps(exps) => return self.lets(&stm.pat, exps),
            Rhs::Reduce { axes, body, combine } => self.lower_reduce(axes, None, body, combine)?,
            Rhs::For { carried, init, axis, body } => {
                return self.lower_for(&Carried { pat: &stm.pat, carried, init, body }, axis);
            }
            Rhs::While { carried, init, cond, body } => {
                return self.lower_while(&Carried { pat: &stm.pat, carried, init, body }, cond);
            }
            Rhs::If { cond, then, otherwise } => return self.lower_if(&stm.pat, cond, then, otherwise),
            Rhs::Kernel { axes, body } => return self.lower_kernel(stm, axes, body),
            Rhs::Scan { axis, body, combine } => return self.lower_scan(stm, axis, body, combine),
            Rhs::Update { array, index, value } => return self.lower_update(stm, *array, index, value),
            Rhs::Scatter { arrays, axes, body, combine } => {
                return self.lower_scatter(stm, arrays, axes, body, combine.as_ref());
            }
            // A layout is no part of a value.
            Rhs::Manifest { array, .. } => return self.lets(&stm.pat, &[Exp::Var(*array)]),
            Rhs::Array(op) => return self.lower_whole(stm, op),
        };
        self.bind_all(&stm.pat, &values);
        Ok(())
    }

    fn lets(&mut self, pat: &[VarId], exps: &[Exp]) -> Result<(), Refusal> {
        for (var, exp) in pat.iter().zip(exps) {
            if self.region.type_of(*var).is_scalar() {
                let value = self.exp(exp)?;
                self.bind_scalar(*var, value);
                continue;
            }
            let view = self.array_exp(exp)?;
            self.views.insert(*var, view);
        }
        Ok(())
    }
}

/// The stride class that code may rely on for a dimension of a parameter.
fn observed_class(observed: &Observed, position: usize, dim: usize) -> StrideClass {
    match observed.params.get(position) {
        Some(ObservedParam::Array { lmad, .. }) => match lmad.dims.get(dim) {
            Some(d) if d.size <= 1 => StrideClass::Unit,
            Some(d) => stride_class(d.stride),
            None => StrideClass::Other,
        },
        _ => StrideClass::Other,
    }
}
