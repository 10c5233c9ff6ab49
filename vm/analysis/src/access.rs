//! How each read moves through memory: the index table, with the distance in elements that a step of an axis makes.
//!
//! Index expressions are followed through statements. What is affine in an axis has a delta; what depends on an
//! axis in another way, or on memory, has none. Deltas are taken with the strides that the arrays have now.

use crate::numbers::Numbers;
use galopvm_base::{ScalarOp, TypedId};
use galopvm_kir::text::print_exp;
use galopvm_kir::{Body, CheckedRegion, DimIndex, Exp, Index, Observed, Read, ReadId, Rhs, VarId};
use galopvm_lmad::{Dim, Lmad};
use std::fmt::{self, Write};

/// How an expression depends on the axes around it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Form {
    /// The value, if it does not depend on anything.
    pub constant: Option<i64>,
    /// Axes that it is affine in, with the change for a step; never 0.
    pub deltas: Vec<(VarId, i64)>,
    /// Axes that it depends on in another way.
    pub rough: Vec<VarId>,
    /// The deltas are those of most steps; at borders (of a clamp, a row, a choice) they are others.
    pub mostly: bool,
    /// It depends on memory or on values carried by a loop.
    pub data: bool,
}

/// The change of an expression or a place for a step of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delta {
    /// Always this much.
    Exact(i64),
    /// Not the same everywhere.
    Unknown,
}

impl Form {
    fn constant(value: i64) -> Form {
        Form { constant: Some(value), ..Form::default() }
    }

    fn axis(var: VarId) -> Form {
        Form { deltas: vec![(var, 1)], ..Form::default() }
    }

    fn data() -> Form {
        Form { data: true, ..Form::default() }
    }

    /// The change for a step of an axis. Data may change with every axis that reached it.
    pub fn delta(&self, axis: VarId) -> Delta {
        if self.rough.contains(&axis) {
            return Delta::Unknown;
        }
        Delta::Exact(self.deltas.iter().find(|(v, _)| *v == axis).map_or(0, |(_, d)| *d))
    }

    fn depends(&self) -> impl Iterator<Item = VarId> {
        self.deltas.iter().map(|(v, _)| *v).chain(self.rough.iter().copied())
    }

    /// `self * scale + other * other_scale`, for scales that are known.
    fn plus(mut self, scale: i64, other: &Form, other_scale: i64) -> Form {
        let sum = |(a, b): (i64, i64)| a.wrapping_mul(scale).wrapping_add(b.wrapping_mul(other_scale));
        self.constant = self.constant.zip(other.constant).map(sum);
        self.deltas.iter_mut().for_each(|(_, d)| *d = d.wrapping_mul(scale));
        for (var, delta) in &other.deltas {
            let delta = delta.wrapping_mul(other_scale);
            match self.deltas.iter_mut().find(|(v, _)| v == var) {
                Some((_, sum)) => *sum = sum.wrapping_add(delta),
                None => self.deltas.push((*var, delta)),
            }
        }
        self.deltas.retain(|(_, d)| *d != 0);
        for var in &other.rough {
            if !self.rough.contains(var) {
                self.rough.push(*var);
            }
        }
        self.data |= other.data;
        self.mostly |= other.mostly;
        self
    }

    /// The same dependences without order.
    fn roughened(mut self) -> Form {
        for (var, _) in std::mem::take(&mut self.deltas) {
            if !self.rough.contains(&var) {
                self.rough.push(var);
            }
        }
        self.constant = None;
        self
    }

    /// The value of most steps when something happens to it at borders only.
    fn at_borders(self) -> Form {
        Form { constant: None, mostly: !self.is_invariant(), ..self }
    }

    /// The quotient by a positive number: what moves by less than the divisor mostly stands still.
    fn quotient(self, divisor: i64) -> Form {
        if self.deltas.iter().any(|(_, d)| d % divisor != 0 && d.unsigned_abs() > divisor.unsigned_abs()) {
            return self.roughened();
        }
        let mut form = self.at_borders();
        form.deltas.iter_mut().for_each(|(_, d)| *d /= divisor);
        form.deltas.retain(|(_, d)| *d != 0);
        form
    }

    /// The remainder of a division by a positive number: what moves by less mostly moves the same.
    fn remainder(self, divisor: i64) -> Form {
        if self.deltas.iter().any(|(_, d)| d % divisor != 0 && d.unsigned_abs() > divisor.unsigned_abs()) {
            return self.roughened();
        }
        let mut form = self.at_borders();
        form.deltas.retain(|(_, d)| d % divisor != 0);
        form
    }

    fn is_invariant(&self) -> bool {
        self.deltas.is_empty() && self.rough.is_empty() && !self.data
    }
}

/// One read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Its number.
    pub read: ReadId,
    /// The array.
    pub array: VarId,
    /// For each dimension that is indexed, how the index depends on axes.
    pub dims: Vec<Form>,
    /// Axes that the place depends on, with the distance in elements for a step.
    pub steps: Vec<(VarId, Delta)>,
    /// The index depends on memory.
    pub data: bool,
}

/// How the lanes of a vector lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// One after the other.
    Unit,
    /// One after the other, backwards.
    UnitReversed,
    /// All at the same place.
    Broadcast,
    /// So many elements apart.
    Gather(i64),
    /// Anywhere.
    Data,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Unit => f.write_str("unit"),
            Class::UnitReversed => f.write_str("unit-rev"),
            Class::Broadcast => f.write_str("bcast"),
            Class::Gather(distance) => write!(f, "gather({distance})"),
            Class::Data => f.write_str("gather(data)"),
        }
    }
}

impl Delta {
    /// The class of an access with this distance between lanes.
    pub fn class(self) -> Class {
        match self {
            Delta::Exact(0) => Class::Broadcast,
            Delta::Exact(1) => Class::Unit,
            Delta::Exact(-1) => Class::UnitReversed,
            Delta::Exact(distance) => Class::Gather(distance),
            Delta::Unknown => Class::Data,
        }
    }
}

impl Access {
    /// The distance in elements for a step of an axis.
    pub fn step(&self, axis: VarId) -> Delta {
        self.steps.iter().find(|(v, _)| *v == axis).map_or(Delta::Exact(0), |(_, d)| *d)
    }
}

/// The index table of a region, in program order.
pub fn accesses(region: &CheckedRegion, observed: &Observed) -> Vec<Access> {
    let numbers = Numbers::new(region, observed);
    let vars = &region.region().vars;
    let forms = vars.iter_ids().map(|(var, _)| Form {
        constant: numbers.integer(var).and_then(|value| i64::try_from(value).ok()),
        ..Form::default()
    });
    let forms = forms.collect();
    let mut table = Table { forms, numbers, views: vec![None; vars.len()], accesses: Vec::new() };
    table.body(&region.region().body);
    table.accesses
}

/// The index table in text: per dimension the index and its axes, then the distance for each axis.
pub fn report(region: &CheckedRegion, accesses: &[Access]) -> String {
    let code = region.region();
    let mut text = String::new();
    let all = code.all_reads();
    for access in accesses {
        let source = all.iter().find(|read| read.id == access.read);
        let at = source.map_or(String::new(), |read| print_exp(code, &Exp::Read((*read).clone())));
        let dims: Vec<String> = access
            .dims
            .iter()
            .map(|form| {
                let mut parts: Vec<String> =
                    form.deltas.iter().map(|(v, d)| format!("{} {d:+}", code.name_of(*v))).collect();
                parts.extend(form.rough.iter().map(|v| format!("{} ?", code.name_of(*v))));
                if form.mostly {
                    parts.push("mostly".into());
                }
                if form.data {
                    parts.push("data".into());
                }
                format!("{{{}}}", parts.join(", "))
            })
            .collect();
        let steps: Vec<String> = access
            .steps
            .iter()
            .map(|(v, delta)| match delta {
                Delta::Exact(step) => format!("{} {step:+}", code.name_of(*v)),
                Delta::Unknown => format!("{} ?", code.name_of(*v)),
            })
            .collect();
        let _ = writeln!(text, "{} {at} : {} ; step {}", access.read, dims.join(" ; "), steps.join(", "));
    }
    text
}

struct Table<'a> {
    numbers: Numbers<'a>,
    /// By variable.
    forms: Vec<Form>,
    /// By variable: the array that a view is of, and its dimensions.
    views: Vec<Option<(VarId, Vec<Place>)>>,
    accesses: Vec<Access>,
}

/// Where a view goes in one dimension of its array.
#[derive(Clone)]
enum Place {
    At(Form),
    /// `start + step * index`; a step that is not known is 0.
    Along {
        axis: usize,
        start: Form,
        step: i64,
    },
}

impl Table<'_> {
    fn body(&mut self, body: &Body) -> Vec<Form> {
        for stm in &body.stms {
            let forms = self.rhs(&stm.rhs, stm.pat.len());
            for (var, form) in stm.pat.iter().zip(forms) {
                self.forms[var.index()] = form;
            }
            if let (Rhs::Exps(exps), [var]) = (&stm.rhs, &stm.pat[..])
                && let [Exp::Read(read)] = &exps[..]
            {
                self.set_view(*var, read);
            }
        }
        body.results.iter().map(|exp| self.exp(exp)).collect()
    }

    fn axes(&mut self, rhs: &Rhs) {
        for axis in rhs.axes() {
            self.exp(&axis.bound);
            self.forms[axis.var.index()] = Form::axis(axis.var);
        }
    }

    fn set_data(&mut self, vars: &[VarId]) {
        for var in vars {
            self.forms[var.index()] = Form::data();
        }
    }

    fn rhs(&mut self, rhs: &Rhs, results: usize) -> Vec<Form> {
        match rhs {
            Rhs::Exps(exps) => return exps.iter().map(|exp| self.exp(exp)).collect(),
            Rhs::Kernel { body, .. } => {
                self.axes(rhs);
                self.body(body);
            }
            Rhs::Reduce { body, combine, .. } | Rhs::Scan { body, combine, .. } => {
                self.axes(rhs);
                let forms = self.body(body);
                combine.neutral.iter().for_each(|exp| drop(self.exp(exp)));
                self.set_data(&combine.acc);
                self.set_data(&combine.item);
                self.body(&combine.body);
                // A combined value depends on what its items depend on, the axes of the reduction apart.
                let gone: Vec<VarId> = rhs.axes().iter().map(|axis| axis.var).collect();
                return forms.into_iter().map(|form| without(form.roughened(), &gone)).collect();
            }
            Rhs::For { carried, init, body, axis } => {
                let first: Vec<Form> = init.iter().map(|exp| self.exp(exp)).collect();
                self.axes(rhs);
                self.set_data(carried);
                let next = self.body(body);
                let both = first.into_iter().zip(next);
                return both.map(|(a, b)| without(merged(a, b), &[axis.var])).collect();
            }
            Rhs::While { carried, init, cond, body } => {
                let first: Vec<Form> = init.iter().map(|exp| self.exp(exp)).collect();
                self.set_data(carried);
                self.exp(cond);
                let next = self.body(body);
                return first.into_iter().zip(next).map(|(a, b)| merged(a, b)).collect();
            }
            Rhs::If { cond, then, otherwise } => {
                let cond = self.exp(cond);
                let (one, other) = (self.body(then), self.body(otherwise));
                let join = |(a, b): (Form, Form)| {
                    if a == b { a } else { merged(a, b).plus(1, &cond.clone().roughened(), 1) }
                };
                return one.into_iter().zip(other).map(join).collect();
            }
            Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array { .. } => {
                rhs.each_part(&mut |part| {
                    if let galopvm_kir::walk::Part::Exp(exp) = part {
                        self.exp(exp);
                    }
                });
            }
        }
        vec![Form::data(); results]
    }

    fn exp(&mut self, exp: &Exp) -> Form {
        match exp {
            Exp::Const(value) if value.ty.is_float() => Form::default(),
            Exp::Const(value) => Form::constant(value.as_i64()),
            Exp::Var(var) => self.forms[var.index()].clone(),
            Exp::Convert(to, arg) => {
                let form = self.exp(arg);
                // From integer to integer: as if the value fits, which is all a distance between neighbours needs.
                if to.is_int() && self.numbers.region.exp_type(arg).is_some_and(|ty| ty.is_int()) {
                    form
                } else {
                    form.roughened()
                }
            }
            Exp::Op(op, args) => self.op(*op, args),
            Exp::Read(read) => self.read(read),
            Exp::Opaque(_, args) => {
                let forms: Vec<Form> = args.iter().map(|arg| self.exp(arg)).collect();
                forms.iter().fold(Form::data(), |all, form| merged(all, form.clone()))
            }
        }
    }

    fn op(&mut self, op: ScalarOp, args: &[Exp]) -> Form {
        let forms: Vec<Form> = args.iter().map(|arg| self.exp(arg)).collect();
        match (op, &forms[..]) {
            (ScalarOp::Add, [a, b]) => a.clone().plus(1, b, 1),
            (ScalarOp::Sub, [a, b]) => a.clone().plus(1, b, -1),
            (ScalarOp::Neg, [a]) => Form::constant(0).plus(1, a, -1),
            (ScalarOp::Mul, [a, Form { constant: Some(c), .. }])
            | (ScalarOp::Mul, [Form { constant: Some(c), .. }, a]) => Form::constant(0).plus(1, a, *c),
            // Clamped: what it is away from the border.
            (ScalarOp::Min | ScalarOp::Max, [a, b]) if b.is_invariant() => a.clone().at_borders(),
            (ScalarOp::Min | ScalarOp::Max, [a, b]) if a.is_invariant() => b.clone().at_borders(),
            (ScalarOp::Select, [q, a, b])
                if !q.data && !a.data && a.rough == b.rough && a.deltas == b.deltas =>
            {
                if a == b {
                    a.clone()
                } else {
                    a.clone().at_borders()
                }
            }
            (ScalarOp::Div | ScalarOp::Quot, [a, Form { constant: Some(c), .. }]) if *c > 0 => {
                a.clone().quotient(*c)
            }
            (ScalarOp::Mod | ScalarOp::Rem, [a, Form { constant: Some(c), .. }]) if *c > 0 => {
                a.clone().remainder(*c)
            }
            (ScalarOp::Shr, [a, Form { constant: Some(c @ 0..=62), .. }]) => a.clone().quotient(1 << c),
            (ScalarOp::Shl, [a, Form { constant: Some(c @ 0..=62), .. }]) => {
                Form::constant(0).plus(1, a, 1 << c)
            }
            (ScalarOp::And, [a, Form { constant: Some(c), .. }]) if *c >= 0 && (c + 1).count_ones() == 1 => {
                a.clone().remainder(c + 1)
            }
            _ => {
                let mut all = Form { constant: None, ..Form::default() };
                for form in forms {
                    all = merged(all, form.roughened());
                }
                all
            }
        }
    }

    fn read(&mut self, read: &Read) -> Form {
        let (array, places) = self.places(read);
        let dims =
            places.into_iter().map(|(Place::At(form) | Place::Along { start: form, .. })| form).collect();
        let local;
        let lmad = match self.numbers.lmad(array) {
            Some(lmad) => Some(lmad),
            None => {
                local = self.local_view(array);
                local.as_ref()
            }
        };
        let access = access(read.id, array, dims, lmad);
        let mut value = Form::data();
        value.rough = access.steps.iter().map(|(var, _)| *var).collect();
        // The index of a view is looked at again with each view of it.
        if !self.accesses.iter().any(|known| known.read == access.read) {
            self.accesses.push(access);
        }
        value
    }

    /// The array that a read reaches, through views, and where it goes in each dimension that it says something of.
    fn places(&mut self, read: &Read) -> (VarId, Vec<Place>) {
        let own = self.own_places(read);
        let Some((base, view)) = &self.views[read.array.index()] else { return (read.array, own) };
        let through = |place: &Place| match place {
            Place::At(form) => Place::At(form.clone()),
            Place::Along { axis, start, step } => match own.get(*axis) {
                Some(Place::At(form)) => Place::At(start.clone().plus(1, form, *step)),
                Some(Place::Along { axis, start: inner, step: by }) => Place::Along {
                    axis: *axis,
                    start: start.clone().plus(1, inner, *step),
                    step: step.wrapping_mul(*by),
                },
                // A dimension that is left whole.
                None => place.clone(),
            },
        };
        (*base, view.iter().map(through).collect())
    }

    fn own_places(&mut self, read: &Read) -> Vec<Place> {
        match &read.index {
            Index::Dims(dims) => {
                let mut places = Vec::with_capacity(dims.len());
                let mut axis = 0;
                for dim in dims {
                    places.push(match dim {
                        DimIndex::At(at) => Place::At(self.exp(at)),
                        DimIndex::Slice { start, count, step } => {
                            let (start, step) = (self.exp(start), self.exp(step));
                            self.exp(count);
                            axis += 1;
                            Place::Along { axis: axis - 1, start, step: step.constant.unwrap_or(0) }
                        }
                    });
                }
                places
            }
            Index::Lmad { .. } => {
                let mut all = Form::default();
                read.index.each_exp(&mut |exp| {
                    let form = self.exp(exp);
                    all = merged(std::mem::take(&mut all), form.roughened());
                });
                vec![Place::At(all)]
            }
        }
    }

    /// Remembers that a name is a view, which a read of it is then composed with.
    fn set_view(&mut self, var: VarId, read: &Read) {
        let rank = self.numbers.region.type_of(var).rank();
        if rank == 0 || matches!(read.index, Index::Lmad { .. }) {
            return;
        }
        let (base, mut places) = self.places(read);
        let used = places.iter().filter(|place| matches!(place, Place::Along { .. })).count();
        let whole = |axis| Place::Along { axis, start: Form::constant(0), step: 1 };
        places.extend((used..rank).map(whole));
        self.views[var.index()] = Some((base, places));
    }

    /// An array of the region lies in row-major order.
    fn local_view(&self, array: VarId) -> Option<Lmad> {
        let shape = &self.numbers.region.type_of(array).shape;
        let sizes: Option<Vec<i64>> = shape.iter().map(|extent| self.numbers.size(extent)).collect();
        sizes.map(|sizes| Lmad::row_major(&sizes))
    }
}

fn access(read: ReadId, array: VarId, dims: Vec<Form>, lmad: Option<&Lmad>) -> Access {
    let mut steps: Vec<(VarId, Delta)> = Vec::new();
    for form in &dims {
        for var in form.depends() {
            if !steps.iter().any(|(v, _)| *v == var) {
                steps.push((var, Delta::Exact(0)));
            }
        }
    }
    for (var, step) in &mut steps {
        let mut sum = Some(0i64);
        for (dim, form) in dims.iter().enumerate() {
            let stride = lmad.and_then(|l| l.dims.get(dim)).map(|d: &Dim| d.stride);
            sum = match form.delta(*var) {
                Delta::Exact(0) => sum,
                Delta::Exact(delta) => {
                    let far = stride.and_then(|stride| stride.checked_mul(delta));
                    sum.zip(far).and_then(|(a, b)| a.checked_add(b))
                }
                Delta::Unknown => None,
            };
        }
        *step = sum.map_or(Delta::Unknown, Delta::Exact);
    }
    steps.retain(|(_, step)| *step != Delta::Exact(0));
    let data = dims.iter().any(|form| form.data);
    Access { read, array, dims, steps, data }
}

/// Either of two values.
fn merged(a: Form, b: Form) -> Form {
    if a == b {
        return a;
    }
    let deltas = a.deltas == b.deltas;
    let (a, b) = if deltas { (a, b) } else { (a.roughened(), b.roughened()) };
    let kept = a.deltas.clone();
    let mut both = a.plus(1, &Form { deltas: Vec::new(), ..b }, 1);
    both.deltas = kept;
    both.constant = None;
    both
}

fn without(mut form: Form, gone: &[VarId]) -> Form {
    form.deltas.retain(|(var, _)| !gone.contains(var));
    form.rough.retain(|var| !gone.contains(var));
    form
}
