//! Which reads and updates stay inside their arrays: index expressions evaluated over ranges.
//!
//! Parameters have the values observed, axes run over their ranges, values from memory may be anything their type
//! allows, values carried by loops likewise. Inside a branch the condition narrows the names it compares. An axis whose bound
//! is the extent of a dimension stays inside that, whatever the two are. What is
//! proven holds for every launch with the same sizes and scalars, whatever the arrays contain.
//!
//! The ranges of the index table know no conditions: with them, 20 of the 551 proofs of the golden files would be missing,
//! the borders of stencils among them. A table whose values were narrowed by branches would lead to other layouts.

use crate::interval::{Interval, apply, convert};
use crate::numbers::Numbers;
use galopvm_base::{ElemType, ScalarOp, TypedId};
use galopvm_kir::view::{Place, places};
use galopvm_kir::{Axis, Body, CheckedRegion, Combine, Exp, Index, Observed, Read, ReadId, Rhs, VarId};
use std::collections::HashMap;
use std::fmt::Write;

/// What is known of one read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadBounds {
    /// The array.
    pub array: VarId,
    /// For each dimension that is indexed: the places it may go to, and how many places there are at least.
    pub dims: Vec<(Interval, i128)>,
    /// True if no launch with these numbers leaves the array here.
    pub inside: bool,
}

/// What is known of the reads and updates of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// By read number.
    pub reads: Vec<Option<ReadBounds>>,
    /// The updates, by the names of what they make, and whether each stays inside.
    pub updates: Vec<(VarId, bool)>,
}

impl Bounds {
    /// The reads that are proven to stay inside, in order.
    pub fn proven(&self) -> Vec<ReadId> {
        let inside = |(k, read): (usize, &Option<ReadBounds>)| {
            read.as_ref().is_some_and(|r| r.inside).then_some(ReadId::from_index(k))
        };
        self.reads.iter().enumerate().filter_map(inside).collect()
    }

    /// The updates that are proven to stay inside.
    pub fn contained(&self) -> Vec<VarId> {
        self.updates.iter().filter(|(_, inside)| *inside).map(|(made, _)| *made).collect()
    }

    /// One line for each read.
    pub fn report(&self, region: &CheckedRegion) -> String {
        let mut text = String::new();
        for (k, read) in self.reads.iter().enumerate() {
            let Some(read) = read else { continue };
            let name = region.region().name_of(read.array);
            let dims: Vec<String> =
                read.dims.iter().map(|(range, extent)| format!("{range} of {extent}")).collect();
            let verdict = if read.inside { "inside" } else { "checked" };
            let _ = writeln!(text, "read{k} {name}[{}] : {verdict}", dims.join(", "));
        }
        text
    }
}

/// Finds out where the reads of a region go.
pub fn bounds(region: &CheckedRegion, observed: &Observed) -> Bounds {
    let code = region.region();
    let numbers = Numbers::new(region, observed);
    let range = |(id, var): (VarId, &galopvm_kir::Var)| {
        let ty = var.ty.as_ref().map_or(ElemType::I64, |ty| ty.elem);
        let known = numbers.integer(id).map(Interval::point);
        known.unwrap_or(Interval::of_type(ty))
    };
    let ranges = code.vars.iter_ids().map(range).collect();
    let mut prover = Prover {
        numbers,
        ranges,
        bounds: HashMap::new(),
        reads: vec![None; code.reads as usize],
        updates: Vec::new(),
    };
    prover.body(&code.body);
    Bounds { reads: prover.reads, updates: prover.updates }
}

struct Prover<'a> {
    numbers: Numbers<'a>,
    /// By variable.
    ranges: Vec<Interval>,
    /// The bounds of axes.
    bounds: HashMap<VarId, Exp>,
    reads: Vec<Option<ReadBounds>>,
    updates: Vec<(VarId, bool)>,
}

impl Prover<'_> {
    fn elem(&self, var: VarId) -> ElemType {
        self.numbers.region.type_of(var).elem
    }

    fn body(&mut self, body: &Body) -> Vec<Interval> {
        for stm in &body.stms {
            if let Rhs::Update { array, index, .. } = &stm.rhs {
                let (_, inside) = self.index(*array, index);
                self.updates.extend(stm.pat.iter().map(|made| (*made, inside)));
            }
            if let Some(ranges) = self.rhs(&stm.rhs) {
                for (var, range) in stm.pat.iter().zip(ranges) {
                    self.ranges[var.index()] = range;
                }
            }
        }
        body.results.iter().map(|exp| self.exp(exp)).collect()
    }

    /// The ranges of the values, unless all that is known are their types.
    fn rhs(&mut self, rhs: &Rhs) -> Option<Vec<Interval>> {
        match rhs {
            Rhs::Exps(exps) => return Some(exps.iter().map(|exp| self.exp(exp)).collect()),
            Rhs::Kernel { axes, body } => {
                self.axes(axes);
                self.body(body);
            }
            Rhs::Reduce { axes, body, combine } => {
                self.axes(axes);
                self.body(body);
                self.combine(combine);
            }
            Rhs::Scan { axis, body, combine } => {
                self.axes(std::slice::from_ref(axis));
                self.body(body);
                self.combine(combine);
            }
            Rhs::Scatter { arrays: _, axes, body, combine } => {
                self.axes(axes);
                self.body(body);
                combine.iter().for_each(|combine| self.combine(combine));
            }
            Rhs::For { carried: _, init, axis, body } => {
                init.iter().for_each(|exp| self.look(exp));
                self.axes(std::slice::from_ref(axis));
                self.body(body);
            }
            Rhs::While { carried: _, init, cond, body } => {
                init.iter().for_each(|exp| self.look(exp));
                self.look(cond);
                self.narrowed(cond, true, |prover| drop(prover.body(body)));
            }
            Rhs::If { cond, then, otherwise } => {
                self.look(cond);
                let (mut one, mut other) = (Vec::new(), Vec::new());
                self.narrowed(cond, true, |prover| one = prover.body(then));
                self.narrowed(cond, false, |prover| other = prover.body(otherwise));
                return Some(one.into_iter().zip(other).map(|(a, b)| a.join(b)).collect());
            }
            Rhs::Update { array: _, index: _, value } => self.look(value),
            Rhs::Manifest { .. } => {}
            Rhs::Array(_) => rhs.each_part(&mut |part| {
                if let galopvm_kir::walk::Part::Exp(exp) = part {
                    self.exp(exp);
                }
            }),
        }
        None
    }

    fn axes(&mut self, axes: &[Axis]) {
        for axis in axes {
            self.bounds.insert(axis.var, axis.bound.clone());
            let bound = self.exp(&axis.bound);
            // Where the range is empty the body is not executed; any range will do.
            self.ranges[axis.var.index()] = Interval { low: 0, high: (bound.high - 1).max(0) };
        }
    }

    fn combine(&mut self, combine: &Combine) {
        combine.neutral.iter().for_each(|exp| self.look(exp));
        self.body(&combine.body);
    }

    /// Looks at the reads of an expression whose value is not needed.
    fn look(&mut self, exp: &Exp) {
        let _ = self.exp(exp);
    }

    fn exp(&mut self, exp: &Exp) -> Interval {
        match exp {
            Exp::Const(value) if value.ty == ElemType::U64 => Interval::point(value.bits.into()),
            Exp::Const(value) if value.ty.is_float() => Interval::of_type(ElemType::I64),
            Exp::Const(value) => Interval::point(value.as_i64().into()),
            Exp::Var(var) => self.ranges[var.index()],
            Exp::Op(op, elem, args) => {
                let args: [Option<Interval>; 3] = [0, 1, 2].map(|k| args.get(k).map(|arg| self.exp(arg)));
                let known = args.iter().take_while(|a| a.is_some()).count();
                let args = args.map(|a| a.unwrap_or(Interval::point(0)));
                apply(*op, *elem, &args[..known])
            }
            Exp::Convert(to, arg) => {
                let from = self.type_of(arg).unwrap_or(ElemType::F64);
                let value = self.exp(arg);
                convert(from, *to, value)
            }
            Exp::Read(read) => {
                self.read(read);
                Interval::of_type(self.elem(read.array))
            }
            Exp::Opaque(_, args) => {
                args.iter().for_each(|arg| self.look(arg));
                Interval::of_type(ElemType::I64)
            }
        }
    }

    fn type_of(&self, exp: &Exp) -> Option<ElemType> {
        self.numbers.region.region().exp_type(exp)
    }

    /// Where an index goes in each dimension, with the places that there are, and whether it stays inside.
    fn index(&mut self, array: VarId, index: &Index) -> (Vec<(Interval, i128)>, bool) {
        let mut dims = Vec::new();
        // Of a flat view it is not known that it stays inside.
        let mut inside = matches!(index, Index::Dims(_));
        if inside {
            for (dim, place) in places(index).iter().enumerate() {
                let range = self.places(place);
                let extent = self.extent(array, dim);
                inside &= self.is_slice(place);
                inside &= range.low >= 0 && range.high < extent || self.is_whole(array, dim, place);
                dims.push((range, extent));
            }
        } else {
            index.each_exp(&mut |exp| self.look(exp));
        }
        (dims, inside)
    }

    fn read(&mut self, read: &Read) {
        let (dims, inside) = self.index(read.array, &read.index);
        if let Some(slot) = self.reads.get_mut(read.id.index()) {
            *slot = Some(ReadBounds { array: read.array, dims, inside });
        }
    }

    /// Where the index of a dimension may go.
    fn places(&mut self, place: &Place<&Exp>) -> Interval {
        let mut range = place.start.map_or(Interval::point(0), |start| self.exp(start));
        let ty = ElemType::I64;
        for open in &place.open {
            let count = open.count.map_or(Interval::of_type(ty), |count| self.exp(count));
            let last = Interval { low: (count.low - 1).max(0), high: (count.high - 1).max(0) };
            let by = |far, factor: &&Exp| apply(ScalarOp::Mul, ty, &[far, self.exp(factor)]);
            let far = open.factors.iter().fold(last, by);
            range = range.join(apply(ScalarOp::Add, ty, &[range, far]));
        }
        range
    }

    /// Whether a slice is one at all: a negative count and a step of 0 are errors, wherever the places are.
    fn is_slice(&mut self, place: &Place<&Exp>) -> bool {
        place.open.iter().all(|open| {
            let is_counted = open.count.is_none_or(|count| self.exp(count).low >= 0);
            is_counted && open.factors.iter().all(|step| !Interval::point(0).lies_in(self.exp(step)))
        })
    }

    /// Whether a place is that of an axis which goes over all of the dimension, whatever its extent.
    fn is_whole(&self, array: VarId, dim: usize, place: &Place<&Exp>) -> bool {
        let Some(Exp::Var(axis)) = place.start else { return false };
        let bound = self.bounds.get(axis);
        let shape = &self.numbers.region.type_of(array).shape;
        place.open.is_empty() && bound.is_some() && bound == shape.get(dim)
    }

    /// The least number of places of a dimension.
    fn extent(&mut self, array: VarId, dim: usize) -> i128 {
        if let Some(lmad) = self.numbers.lmad(array) {
            return lmad.dims.get(dim).map_or(0, |d| d.size.into());
        }
        let region = self.numbers.region;
        region.type_of(array).shape.get(dim).map_or(0, |extent| self.exp(extent).low)
    }

    /// Looks at something that is only executed if the condition has this value.
    fn narrowed(&mut self, cond: &Exp, value: bool, inside: impl FnOnce(&mut Self)) {
        let mut before = Vec::new();
        self.narrow(cond, value, &mut before);
        inside(self);
        for (var, range) in before.into_iter().rev() {
            self.ranges[var.index()] = range;
        }
    }

    fn narrow(&mut self, cond: &Exp, value: bool, before: &mut Vec<(VarId, Interval)>) {
        let Exp::Op(op, _, args) = cond else { return };
        match (op, &args[..]) {
            (ScalarOp::Not, [cond]) => self.narrow(cond, !value, before),
            (ScalarOp::And, [a, b]) if value && self.type_of(a) == Some(ElemType::Bool) => {
                self.narrow(a, true, before);
                self.narrow(b, true, before);
            }
            (ScalarOp::Or, [a, b]) if !value && self.type_of(a) == Some(ElemType::Bool) => {
                self.narrow(a, false, before);
                self.narrow(b, false, before);
            }
            (_, [a, b]) if self.type_of(a).is_some_and(ElemType::is_int) => {
                let (Some(op), Some(turned)) = (comparison(*op, value), turned(*op)) else { return };
                let turned = comparison(turned, value).unwrap_or(op);
                let (left, right) = (self.exp(a), self.exp(b));
                self.limit(a, op, right, before);
                self.limit(b, turned, left, before);
            }
            _ => {}
        }
    }

    /// Narrows a name, or a name with a constant added, that compares to a range.
    fn limit(&mut self, exp: &Exp, op: ScalarOp, other: Interval, before: &mut Vec<(VarId, Interval)>) {
        let (var, offset) = match exp {
            Exp::Var(var) => (*var, 0),
            Exp::Op(sign @ (ScalarOp::Add | ScalarOp::Sub), _, args) => match &args[..] {
                [Exp::Var(var), Exp::Const(c)] if c.ty == ElemType::I64 => {
                    let c = i128::from(c.as_i64());
                    (*var, if *sign == ScalarOp::Add { c } else { -c })
                }
                _ => return,
            },
            _ => return,
        };
        let now = self.ranges[var.index()];
        let sum = Interval { low: now.low + offset, high: now.high + offset };
        if !sum.lies_in(Interval::of_type(self.elem(var))) {
            return;
        }
        let limit = match op {
            ScalarOp::Lt => Interval { low: i128::MIN, high: other.high - 1 },
            ScalarOp::Le => Interval { low: i128::MIN, high: other.high },
            ScalarOp::Gt => Interval { low: other.low + 1, high: i128::MAX },
            ScalarOp::Ge => Interval { low: other.low, high: i128::MAX },
            ScalarOp::Eq => other,
            // One number is no longer possible: that is a range where it was the first or the last one.
            ScalarOp::Ne if other.low == other.high => Interval {
                low: if sum.low == other.low { sum.low + 1 } else { sum.low },
                high: if sum.high == other.high { sum.high - 1 } else { sum.high },
            },
            _ => return,
        };
        // Nothing left: the branch is never taken, so the old range is as good as any.
        if let Some(narrow) = sum.meet(limit) {
            before.push((var, now));
            self.ranges[var.index()] = Interval { low: narrow.low - offset, high: narrow.high - offset };
        }
    }
}

/// The comparison that holds if this one has the given value.
fn comparison(op: ScalarOp, value: bool) -> Option<ScalarOp> {
    Some(match (op, value) {
        (ScalarOp::Lt, true) | (ScalarOp::Ge, false) => ScalarOp::Lt,
        (ScalarOp::Le, true) | (ScalarOp::Gt, false) => ScalarOp::Le,
        (ScalarOp::Gt, true) | (ScalarOp::Le, false) => ScalarOp::Gt,
        (ScalarOp::Ge, true) | (ScalarOp::Lt, false) => ScalarOp::Ge,
        (ScalarOp::Eq, true) | (ScalarOp::Ne, false) => ScalarOp::Eq,
        (ScalarOp::Ne, true) | (ScalarOp::Eq, false) => ScalarOp::Ne,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
fn turned(op: ScalarOp) -> Option<ScalarOp> {
    Some(match op {
        ScalarOp::Lt => ScalarOp::Gt,
        ScalarOp::Le => ScalarOp::Ge,
        ScalarOp::Gt => ScalarOp::Lt,
        ScalarOp::Ge => ScalarOp::Le,
        ScalarOp::Eq => ScalarOp::Eq,
        ScalarOp::Ne => ScalarOp::Ne,
        _ => return None,
    })
}
