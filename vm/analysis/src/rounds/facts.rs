//! What a round of a loop does: scalars, and sweeps over parts of the carried array, with the place of every read of it.

use super::{LARGEST_SHIFT, MOST_DIMENSIONS, Reason};
use crate::affine::Form;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::algebra::{and, constant, int};
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Read, ReadId, Rhs, Stm, VarId, VerifiedRegion};
use std::collections::{BTreeMap, HashMap};

/// A round.
pub(super) struct Round {
    /// The number of the loop among the statements of the region.
    pub at: usize,
    /// The array in a round.
    pub carried: VarId,
    /// The loop's counter and bound.
    pub axis: Axis,
    /// In order.
    pub steps: Vec<Step>,
    /// Where the reads of the carried array go.
    pub places: BTreeMap<ReadId, Place>,
    /// What holds in every round that does not trap; over the loop's counter and the scalars of the round.
    pub checks: Vec<Exp>,
}

/// A step of a round.
pub(super) enum Step {
    /// A scalar.
    Scalar(VarId, Exp),
    /// A change of a part of the array.
    Sweep(Sweep),
}

/// A change of a part of the array: each of its elements gets a value.
pub(super) struct Sweep {
    /// The names for an element's number in the part, one for each dimension that is a range.
    pub axes: Vec<VarId>,
    /// Scalars for an element.
    pub lets: Vec<(VarId, Exp)>,
    /// The new element.
    pub value: Exp,
    /// The part.
    pub part: Vec<Span>,
}

/// One dimension of a part: a range, or a single index, which has no axis.
pub(super) struct Span {
    pub low: Form,
    /// Not included.
    pub high: Form,
    /// The number of its axis.
    pub axis: Option<usize>,
}

/// Where a read of the array goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    /// How many sweeps of the round came before.
    pub version: usize,
    pub dims: Vec<At>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// The index of the element that is computed.
    Own,
    /// The round's number and a constant.
    Line(i64),
}

impl Place {
    /// The dimensions in which it is in a line.
    pub fn lines(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let line = |(dim, at): (usize, &At)| match at {
            At::Line(shift) => Some((dim, *shift)),
            At::Own => None,
        };
        self.dims.iter().enumerate().filter_map(line)
    }
}

impl Round {
    pub fn sweeps(&self) -> impl Iterator<Item = &Sweep> {
        self.steps.iter().filter_map(|step| match step {
            Step::Sweep(sweep) => Some(sweep),
            Step::Scalar(..) => None,
        })
    }
}

/// What an operator of the round makes, until it is written.
struct Made {
    axes: Vec<Axis>,
    lets: Vec<(VarId, Exp)>,
    value: Exp,
    /// How many sweeps came before.
    version: usize,
}

struct Gathering<'r> {
    region: &'r VerifiedRegion,
    round: Round,
    /// The carried array after each number of sweeps.
    versions: Vec<VarId>,
    made: HashMap<VarId, Made>,
    /// Which sweep wrote what an operator made.
    written: HashMap<VarId, usize>,
    /// Forms of the integers that the round computes; none for those that have no form.
    forms: HashMap<VarId, Option<Form>>,
}

/// The round of a region that is a loop.
pub(super) fn gather(region: &VerifiedRegion) -> Result<Round, Reason> {
    let stms = &region.region().body.stms;
    let (last, front) = stms.split_last().ok_or(Reason::NoLoop)?;
    let Rhs::For { carried, axis, body, .. } = &last.rhs else { return Err(Reason::NoLoop) };
    let [carried] = carried[..] else { return Err(Reason::NoLoop) };
    let rank = region.type_of(carried).rank();
    if rank == 0 {
        return Err(Reason::NoLoop);
    }
    if rank > MOST_DIMENSIONS {
        return Err(Reason::Dimensions);
    }
    let round = Round {
        at: front.len(),
        carried,
        axis: axis.clone(),
        steps: Vec::new(),
        places: BTreeMap::new(),
        checks: Vec::new(),
    };
    let mut gathering = Gathering {
        region,
        round,
        versions: vec![carried],
        made: HashMap::new(),
        written: HashMap::new(),
        forms: HashMap::new(),
    };
    body.stms.iter().try_for_each(|stm| gathering.statement(stm))?;
    let last = gathering.versions.last().copied();
    match &body.results[..] {
        [Exp::Var(result)] if Some(*result) == last && last != Some(carried) => Ok(gathering.round),
        _ => Err(Reason::Result),
    }
}

impl Gathering<'_> {
    fn version(&self) -> usize {
        self.versions.len() - 1
    }

    fn statement(&mut self, stm: &Stm) -> Result<(), Reason> {
        match &stm.rhs {
            Rhs::Exps(exps) => stm.pat.iter().zip(exps).try_for_each(|(var, exp)| self.scalar(*var, exp)),
            Rhs::Kernel { axes, body } => self.kernel(stm, axes, body),
            Rhs::Update { array, index, value } => self.update(stm, *array, index, value),
            Rhs::Reduce { .. } => Err(Reason::Statement("a reduction")),
            Rhs::Scan { .. } => Err(Reason::Statement("a scan")),
            Rhs::For { .. } | Rhs::While { .. } => Err(Reason::Statement("a loop")),
            Rhs::If { .. } => Err(Reason::Statement("an if")),
            Rhs::Scatter { .. } => Err(Reason::Statement("a scatter")),
            Rhs::Manifest { .. } | Rhs::Array(_) => Err(Reason::Statement("a whole array")),
        }
    }

    fn scalar(&mut self, var: VarId, exp: &Exp) -> Result<(), Reason> {
        if !self.region.type_of(var).is_scalar() {
            return Err(Reason::Statement("a view"));
        }
        self.places_of(exp, self.version(), None)?;
        let form = self.form(exp);
        self.forms.insert(var, form);
        self.round.steps.push(Step::Scalar(var, exp.clone()));
        Ok(())
    }

    /// An operator, which may have operators for its rows at its end: together they compute elements.
    fn kernel(&mut self, stm: &Stm, axes: &[Axis], body: &Body) -> Result<(), Reason> {
        let ([array], [result]) = (&stm.pat[..], &body.results[..]) else { return Err(Reason::Body) };
        let version = self.version();
        let mut made = Made { axes: axes.to_vec(), lets: Vec::new(), value: result.clone(), version };
        let mut stms = &body.stms[..];
        loop {
            let inner = stms.last().and_then(|last| match (&last.rhs, &last.pat[..]) {
                (Rhs::Kernel { axes, body }, [rows]) if made.value == Exp::Var(*rows) => Some((axes, body)),
                _ => None,
            });
            let front = if inner.is_some() { &stms[..stms.len() - 1] } else { stms };
            let before = made.lets.len();
            self.lets(front, &mut made)?;
            let Some((axes, body)) = inner else { break };
            let [value] = &body.results[..] else { return Err(Reason::Body) };
            // What reads for a row may trap though the row has no elements.
            let mut reads = false;
            made.lets[before..].iter().for_each(|(_, exp)| exp.visit(&mut |exp| reads |= is_partial(exp)));
            if reads {
                self.rows_have_elements(&made.axes, axes);
            }
            made.axes.extend(axes.iter().cloned());
            (made.value, stms) = (value.clone(), &body.stms);
        }
        if self.region.rank(&made.value) != Some(0) {
            return Err(Reason::Body);
        }
        self.made.insert(*array, made);
        Ok(())
    }

    /// The scalars of an operator's body. Those that are the same for all elements are the round's.
    fn lets(&mut self, stms: &[Stm], made: &mut Made) -> Result<(), Reason> {
        for stm in stms {
            let Rhs::Exps(exps) = &stm.rhs else { return Err(Reason::Body) };
            for (var, exp) in stm.pat.iter().zip(exps) {
                if !self.region.type_of(*var).is_scalar() {
                    return Err(Reason::Body);
                }
                let mut varies = false;
                exp.each_use(&mut |used| {
                    varies |= made.axes.iter().any(|axis| axis.var == used);
                    varies |= made.lets.iter().any(|(var, _)| *var == used);
                });
                if varies {
                    let form = self.form(exp);
                    self.forms.insert(*var, form);
                    made.lets.push((*var, exp.clone()));
                } else {
                    self.scalar(*var, exp)?;
                }
            }
        }
        Ok(())
    }

    fn rows_have_elements(&mut self, outer: &[Axis], inner: &[Axis]) {
        let some = |axes: &[Axis]| {
            let each = axes.iter().map(|axis| int(ScalarOp::Lt, Exp::int(0), axis.bound.clone()));
            each.reduce(and).unwrap_or(Exp::int(0))
        };
        let none = Exp::Op(ScalarOp::Not, ElemType::Bool, vec![some(outer)]);
        self.round.checks.push(Exp::Op(ScalarOp::Or, ElemType::Bool, vec![none, some(inner)]));
    }

    fn update(&mut self, stm: &Stm, array: VarId, index: &Index, value: &Exp) -> Result<(), Reason> {
        let version = self.version();
        let (Some(now), [new]) = (self.versions.last(), &stm.pat[..]) else { return Err(Reason::Result) };
        if array != *now {
            return Err(Reason::Result);
        }
        let made = match value {
            Exp::Var(array) if self.region.rank(value) != Some(0) => {
                let made = self.made.remove(array).ok_or(Reason::Unwritten)?;
                self.written.insert(*array, version);
                made
            }
            value if self.region.rank(value) == Some(0) => {
                Made { axes: Vec::new(), lets: Vec::new(), value: value.clone(), version }
            }
            _ => return Err(Reason::Statement("a view")),
        };
        let part = self.part(index, &made.axes)?;
        let own: Vec<Form> = part.iter().map(|span| own_form(span, &made.axes)).collect::<Result<_, _>>()?;
        for exp in made.lets.iter().map(|(_, exp)| exp).chain([&made.value]) {
            self.places_of(exp, made.version, Some((version, &own)))?;
        }
        let axes = made.axes.iter().map(|axis| axis.var).collect();
        self.round.steps.push(Step::Sweep(Sweep { axes, lets: made.lets, value: made.value, part }));
        self.versions.push(*new);
        Ok(())
    }

    /// The part of an update, whose ranges are the axes of what is written.
    fn part(&mut self, index: &Index, axes: &[Axis]) -> Result<Vec<Span>, Reason> {
        let Index::Dims(dims) = index else { return Err(Reason::Index) };
        let region = self.region;
        let shape = &region.type_of(self.round.carried).shape;
        let mut part = Vec::with_capacity(shape.len());
        let mut number = 0;
        for (k, extent) in shape.iter().enumerate() {
            let (low, count, axis) = match dims.get(k) {
                Some(DimIndex::At(at)) => (at.clone(), Exp::int(1), None),
                Some(DimIndex::Slice { start, count, step }) if constant(step) == Some(1) => {
                    (start.clone(), count.clone(), Some(number))
                }
                Some(DimIndex::Slice { .. }) => return Err(Reason::Index),
                None => (Exp::int(0), extent.clone(), Some(number)),
            };
            let form = |exp: &Exp| self.form(exp).ok_or(Reason::Index);
            let (from, length) = (form(&low)?, form(&count)?);
            if let Some(axis) = axis {
                number += 1;
                if form(&axes.get(axis).ok_or(Reason::Body)?.bound)? != length {
                    return Err(Reason::Index);
                }
            }
            let high = from.plus(&length).ok_or(Reason::Index)?;
            self.check_inside(&low, &count, extent);
            part.push(Span { low: from, high, axis });
        }
        if number == axes.len() { Ok(part) } else { Err(Reason::Body) }
    }

    fn check_inside(&mut self, low: &Exp, count: &Exp, extent: &Exp) {
        let le = |a: Exp, b: Exp| int(ScalarOp::Le, a, b);
        let room = galopvm_kir::algebra::sub(extent.clone(), low.clone());
        let begins = and(le(Exp::int(0), low.clone()), le(low.clone(), extent.clone()));
        let fits = and(le(Exp::int(0), count.clone()), le(count.clone(), room));
        self.round.checks.push(and(begins, fits));
    }

    /// Notes the places of the reads in an expression. `own`: the number of the sweep, and the index of its element.
    fn places_of(&mut self, exp: &Exp, version: usize, own: Option<(usize, &[Form])>) -> Result<(), Reason> {
        let mut outcome = Ok(());
        exp.visit(&mut |part| {
            if let (Exp::Read(read), Ok(())) = (part, &outcome) {
                outcome = self.note_read(read, version, own);
            }
        });
        outcome
    }

    fn note_read(
        &mut self,
        read: &Read,
        version: usize,
        own: Option<(usize, &[Form])>,
    ) -> Result<(), Reason> {
        let Index::Dims(dims) = &read.index else { return Err(Reason::Index) };
        let mut index = Vec::with_capacity(dims.len());
        for dim in dims {
            let DimIndex::At(at) = dim else { return Err(Reason::Body) };
            index.push(at);
        }
        let known = self.versions.iter().position(|known| *known == read.array);
        let (version, index) = match (known, self.written.get(&read.array)) {
            (Some(known), _) => (known, index.into_iter().map(|at| self.form(at)).collect()),
            // What was written is in the array.
            (None, Some(&sweep)) if sweep < version => (sweep + 1, self.in_part(sweep, &index)?),
            _ if self.is_made(read.array) => return Err(Reason::Unwritten),
            _ => return Ok(()),
        };
        let mut place = Place { version, dims: Vec::with_capacity(index.len()) };
        for (dim, form) in index.into_iter().enumerate() {
            let form = form.ok_or(Reason::Index)?;
            let is_own = own.is_some_and(|(_, own)| own[dim] == form);
            place.dims.push(if is_own { At::Own } else { At::Line(self.shift(&form).ok_or(Reason::Read)?) });
        }
        if let Some((sweep, _)) = own
            && place.lines().next().is_none()
            && place.version != sweep
        {
            return Err(Reason::Version);
        }
        self.round.places.insert(read.id, place);
        Ok(())
    }

    fn is_made(&self, array: VarId) -> bool {
        self.made.contains_key(&array) || self.written.contains_key(&array)
    }

    /// The index in the array of an element that a sweep wrote.
    fn in_part(&self, sweep: usize, index: &[&Exp]) -> Result<Vec<Option<Form>>, Reason> {
        let sweep = self.round.sweeps().nth(sweep).ok_or(Reason::Unwritten)?;
        let place = |span: &Span| match span.axis {
            None => Some(span.low.clone()),
            Some(axis) => self.form(index.get(axis)?)?.plus(&span.low),
        };
        Ok(sweep.part.iter().map(place).collect())
    }

    /// The constant in a form that is the round's number and a constant.
    fn shift(&self, form: &Form) -> Option<i64> {
        let shift = form.minus(&Form::variable(self.round.axis.var))?.number()?;
        (shift.unsigned_abs() <= LARGEST_SHIFT).then_some(shift)
    }

    /// The form of an integer expression.
    fn form(&self, exp: &Exp) -> Option<Form> {
        match exp {
            Exp::Const(value) if value.ty == ElemType::I64 => Some(Form::constant(constant(exp)?)),
            Exp::Var(var) => match self.forms.get(var) {
                Some(form) => form.clone(),
                None => {
                    let ty = self.region.type_of(*var);
                    (ty.is_scalar() && ty.elem == ElemType::I64).then(|| Form::variable(*var))
                }
            },
            Exp::Op(op, ElemType::I64, args) => {
                let [a, b] = &args[..] else { return None };
                let (a, b) = (self.form(a)?, self.form(b)?);
                match op {
                    ScalarOp::Add => a.plus(&b),
                    ScalarOp::Sub => a.minus(&b),
                    ScalarOp::Mul => a.product(&b),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The index of an element in one dimension.
fn own_form(span: &Span, axes: &[Axis]) -> Result<Form, Reason> {
    match span.axis {
        None => Ok(span.low.clone()),
        Some(axis) => span.low.plus(&Form::variable(axes[axis].var)).ok_or(Reason::Index),
    }
}

/// Whether an expression without its parts may trap.
fn is_partial(exp: &Exp) -> bool {
    match exp {
        Exp::Read(_) | Exp::Opaque(..) => true,
        Exp::Op(op, elem, args) => galopvm_kir::algebra::may_trap(*op, *elem, args),
        Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => false,
    }
}
