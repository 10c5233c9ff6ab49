//! What each iteration of a kernel reads of arrays outside, and which array its value is copied from.

use crate::affine::{Alternative, Atom, Form, Scope, Space, product};
use galopvm_base::{ScalarOp, TypedId};
use galopvm_kir::walk::Part;
use galopvm_kir::{ArrayArg, ArrayOp, Body, DimIndex, Exp, Index, ObservedParam, Read, Region, Rhs, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// A read of an array from outside the kernel.
pub(super) struct Access {
    /// The array whose block is read.
    pub array: VarId,
    /// The iterations (of the kernel and of what is inside it) that read, with the index; nothing if the place is
    /// not known.
    pub places: Option<Vec<(Space, Vec<Form>)>>,
}

/// A way through the branches of the body to its value.
pub(super) struct Leaf {
    /// The conditions on the way.
    pub alternative: Alternative,
    /// The value is this element of an array from outside.
    pub copy: Option<(VarId, Vec<Form>)>,
}

/// The walk over a kernel's body.
pub(super) struct Walk<'a> {
    scope: Scope<'a>,
    /// Names bound by statements that are not plain expressions.
    bound: BTreeMap<VarId, (&'a Rhs, usize)>,
    /// Names bound inside the kernel.
    inside: BTreeSet<VarId>,
    /// The conditions around what is walked now.
    under: Vec<Alternative>,
    /// A number for the next index that has no name.
    unnamed: usize,
    pub accesses: Vec<Access>,
}

/// Where one dimension of a view goes in its array.
#[derive(Clone)]
enum Along {
    At(Exp),
    Slice { start: Exp, count: Option<Exp>, step: Exp },
}

impl<'a> Walk<'a> {
    /// Walks the body of the kernel; its axes are opened with their numbers of iterations.
    pub fn new(scope: Scope<'a>, rhs: &'a Rhs) -> Walk<'a> {
        let mut bound = BTreeMap::new();
        let region: &'a Region = scope.region();
        region.body.visit_stms(&mut |stm| {
            if !matches!(stm.rhs, Rhs::Exps(_)) {
                for (k, var) in stm.pat.iter().enumerate() {
                    bound.insert(*var, (&stm.rhs, k));
                }
            }
        });
        let unnamed = region.vars.len();
        let mut walk = Walk {
            scope,
            bound,
            inside: BTreeSet::new(),
            under: vec![Alternative::default()],
            unnamed,
            accesses: Vec::new(),
        };
        if let Rhs::Kernel { body, .. } = rhs {
            walk.inside.extend(body.bound_vars());
            walk.body(body);
        }
        walk
    }

    /// The scope, for more questions.
    pub fn scope(&self) -> &Scope<'a> {
        &self.scope
    }

    fn body(&mut self, body: &'a Body) {
        for stm in &body.stms {
            self.rhs(&stm.rhs);
        }
        body.results.iter().for_each(|exp| self.exp(exp));
    }

    fn rhs(&mut self, rhs: &'a Rhs) {
        if let Rhs::If { cond, then, otherwise } = rhs {
            self.exp(cond);
            let around = self.under.clone();
            for (wanted, body) in [(true, then), (false, otherwise)] {
                self.under = product(&around, &self.scope.alternatives(cond, wanted));
                self.body(body);
            }
            self.under = around;
            return;
        }
        // Bounds are outside their own axes.
        for axis in rhs.axes() {
            self.exp(&axis.bound);
        }
        for axis in rhs.axes() {
            // Without a known number of rounds nothing is known of places that depend on the variable.
            let trips = self.scope.size(&axis.bound).unwrap_or(i64::MAX);
            self.scope.open(axis.var, trips);
        }
        rhs.each_part(&mut |part| match part {
            Part::Exp(exp) => self.exp(exp),
            Part::Use(array) => self.whole(array),
            Part::Body(body) => self.body(body),
            Part::Bind(_) => {}
        });
        self.scope.close(rhs.axes().len());
    }

    fn exp(&mut self, exp: &Exp) {
        match exp {
            Exp::Read(read) => {
                read.index.each_exp(&mut |part| self.exp(part));
                self.read(read);
            }
            Exp::Var(var) => {
                if self.is_array(*var) {
                    self.whole(*var);
                }
            }
            other => other.each_part(&mut |part| self.exp(part)),
        }
    }

    fn is_array(&self, var: VarId) -> bool {
        matches!(self.scope.observed(var), Some(ObservedParam::Array { .. }))
            || self.scope.region().vars[var].ty.as_ref().is_some_and(|ty| !ty.is_scalar())
    }

    /// All of an array may be read here.
    fn whole(&mut self, var: VarId) {
        for array in self.may_be(var, 0) {
            self.accesses.push(Access { array, places: None });
        }
    }

    /// The arrays from outside whose block a name may stand for.
    fn may_be(&self, var: VarId, depth: u32) -> BTreeSet<VarId> {
        let mut arrays = BTreeSet::new();
        if depth < 50 {
            let mut used = |used: VarId| {
                if self.is_array(used) {
                    arrays.extend(self.may_be(used, depth + 1));
                }
            };
            if let Some(exp) = self.scope.definition(var) {
                exp.each_use(&mut used);
            } else if let Some((rhs, _)) = self.bound.get(&var).filter(|(rhs, _)| !is_fresh(rhs)) {
                rhs.each_part(&mut |part| match part {
                    Part::Exp(exp) => exp.each_use(&mut used),
                    Part::Use(var) => used(var),
                    Part::Body(body) => body.results.iter().for_each(|exp| exp.each_use(&mut used)),
                    Part::Bind(_) => {}
                });
            }
        }
        if !self.inside.contains(&var) {
            arrays.insert(var);
        }
        arrays
    }

    fn read(&mut self, read: &Read) {
        let Some((array, dims)) = self.resolve(read) else {
            self.whole(read.array);
            return;
        };
        if self.inside.contains(&array) {
            return;
        }
        let places = self.places(array, &dims);
        self.accesses.push(Access { array, places });
    }

    /// The array at the bottom of a chain of views, and where the read goes in it. Nothing if that is not known.
    fn resolve(&self, read: &Read) -> Option<(VarId, Vec<Along>)> {
        let Index::Dims(index) = &read.index else { return None };
        let dims = index.iter().map(|dim| match dim {
            DimIndex::At(at) => Along::At(at.clone()),
            DimIndex::Slice { start, count, step } => {
                Along::Slice { start: start.clone(), count: Some(count.clone()), step: step.clone() }
            }
        });
        self.through(read.array, dims.collect(), 0)
    }

    /// Index `dims` of the array or view `var`, as an index of what that is made of.
    fn through(&self, var: VarId, dims: Vec<Along>, depth: u32) -> Option<(VarId, Vec<Along>)> {
        if depth > 50 {
            return None;
        }
        match self.scope.definition(var) {
            None => {}
            Some(Exp::Var(other)) => return self.through(*other, dims, depth + 1),
            Some(Exp::Read(view)) => {
                let (array, outer) = self.resolve(view)?;
                return Some((array, inside_of(outer, dims)));
            }
            Some(_) => return None,
        }
        match self.bound.get(&var) {
            None => Some((var, dims)),
            Some((rhs, _)) if is_fresh(rhs) => Some((var, dims)),
            Some((Rhs::Array { op, args }, _)) => {
                let rank = self.scope.region().vars[var].ty.as_ref()?.rank();
                let mut dims = dims;
                dims.resize(rank.max(dims.len()), everything());
                let (array, dims) = match (op, &args[..]) {
                    (ArrayOp::Transpose, [ArrayArg::Exp(Exp::Var(array))]) if rank >= 2 => {
                        dims.swap(0, 1);
                        (array, dims)
                    }
                    (ArrayOp::Rearrange, [ArrayArg::Perm(perm), ArrayArg::Exp(Exp::Var(array))]) => {
                        let mut old = vec![everything(); rank];
                        for (axis, dim) in perm.iter().zip(dims) {
                            *old.get_mut(*axis)? = dim;
                        }
                        (array, old)
                    }
                    _ => return None,
                };
                self.through(*array, dims, depth + 1)
            }
            Some(_) => None,
        }
    }

    /// The iterations that read and their index, for an index into an array.
    fn places(&mut self, array: VarId, dims: &[Along]) -> Option<Vec<(Space, Vec<Form>)>> {
        let shape = self.shape(array)?;
        if dims.len() > shape.len() {
            return None;
        }
        let mut ways = vec![(Vec::<Atom>::new(), Vec::<Form>::new())];
        let mut opened = 0;
        let mut known = true;
        for (axis, size) in shape.iter().enumerate() {
            let pieces = match dims.get(axis) {
                Some(Along::At(at)) => self.scope.pieces(at),
                other => {
                    let start = other.map_or(Some(Form::default()), |along| match along {
                        Along::Slice { start, .. } => self.scope.form(start),
                        Along::At(_) => None,
                    });
                    let step = other.map_or(Some(1), |along| match along {
                        Along::Slice { step, .. } => self.scope.size(step),
                        Along::At(_) => None,
                    });
                    let count = match other {
                        Some(Along::Slice { count: Some(count), .. }) => self.scope.size(count),
                        _ => Some(*size),
                    };
                    let index = VarId::from_index(self.unnamed);
                    self.unnamed += 1;
                    self.scope.open(index, count.unwrap_or(i64::MAX));
                    opened += 1;
                    let form = start
                        .zip(step)
                        .zip(count)
                        .and_then(|((start, step), _)| start.combine(1, &Form::variable(index), step));
                    form.map(|form| vec![(Vec::new(), form)])
                }
            };
            let Some(pieces) = pieces else {
                known = false;
                break;
            };
            ways = ways
                .iter()
                .flat_map(|(atoms, forms)| {
                    pieces.iter().map(move |(more, form)| {
                        let atoms = [atoms.as_slice(), more].concat();
                        (atoms, [forms.as_slice(), std::slice::from_ref(form)].concat())
                    })
                })
                .collect();
        }
        let ranges = self.scope.ranges().to_vec();
        self.scope.close(opened);
        if !known || ways.len().saturating_mul(self.under.len()) > crate::affine::MOST_PIECES {
            return None;
        }
        let space = |under: &Alternative, atoms: &[Atom]| Space {
            ranges: ranges.clone(),
            atoms: [under.atoms.as_slice(), atoms].concat(),
        };
        let all = self
            .under
            .iter()
            .flat_map(|under| ways.iter().map(move |(atoms, forms)| (space(under, atoms), forms.clone())));
        Some(all.collect())
    }

    /// The extents of an array.
    pub fn shape(&self, array: VarId) -> Option<Vec<i64>> {
        if let Some(ObservedParam::Array { lmad, .. }) = self.scope.observed(array) {
            return Some(lmad.shape().to_vec());
        }
        let ty = self.scope.region().vars[array].ty.as_ref()?;
        ty.shape.iter().map(|extent| self.scope.size(extent)).collect()
    }

    /// The ways to a result of the body.
    pub fn leaves(&mut self, result: &Exp) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.leaf(result, &[Alternative::default()], 0, &mut leaves);
        leaves
    }

    fn leaf(&mut self, exp: &Exp, under: &[Alternative], depth: u32, out: &mut Vec<Leaf>) {
        if depth < 50 {
            let branches = match exp {
                Exp::Var(var) => match (self.scope.definition(*var), self.bound.get(var)) {
                    (Some(exp), _) => return self.leaf(exp, under, depth + 1, out),
                    (None, Some((Rhs::If { cond, then, otherwise }, k))) => {
                        then.results.get(*k).zip(otherwise.results.get(*k)).map(|sides| (cond, sides))
                    }
                    _ => None,
                },
                Exp::Op(ScalarOp::Select, args) => match &args[..] {
                    [cond, yes, no] => Some((cond, (yes, no))),
                    _ => None,
                },
                Exp::Read(read) => {
                    let copies = self.copies(read, under);
                    out.extend(copies);
                    return;
                }
                _ => None,
            };
            if let Some((cond, (yes, no))) = branches {
                for (wanted, side) in [(true, yes), (false, no)] {
                    let under = product(under, &self.scope.alternatives(cond, wanted));
                    self.leaf(side, &under, depth + 1, out);
                }
                return;
            }
        }
        out.extend(under.iter().map(|alternative| Leaf { alternative: alternative.clone(), copy: None }));
    }

    /// The leaves of a value that is read from an array.
    fn copies(&mut self, read: &Read, under: &[Alternative]) -> Vec<Leaf> {
        let elements = self.resolve(read).filter(|(array, _)| !self.inside.contains(array));
        let around = std::mem::replace(&mut self.under, under.to_vec());
        let places = elements.and_then(|(array, dims)| Some((array, self.places(array, &dims)?)));
        self.under = around;
        let Some((array, places)) = places else {
            return under.iter().map(|a| Leaf { alternative: a.clone(), copy: None }).collect();
        };
        // `places` has the same number of entries for each alternative.
        let ways = places.len() / under.len().max(1);
        places
            .into_iter()
            .enumerate()
            .map(|(at, (space, forms))| {
                let loose = under[at / ways.max(1)].loose;
                let alternative = Alternative { atoms: space.atoms, loose };
                Leaf { alternative, copy: Some((array, forms)) }
            })
            .collect()
    }
}

/// Every index of a dimension.
fn everything() -> Along {
    Along::Slice { start: Exp::int(0), count: None, step: Exp::int(1) }
}

/// Index `dims` of the view whose index in an array is `outer`.
fn inside_of(outer: Vec<Along>, dims: Vec<Along>) -> Vec<Along> {
    let sum = |start: &Exp, at: Exp, step: &Exp| {
        let along = Exp::Op(ScalarOp::Mul, vec![at, step.clone()]);
        Exp::Op(ScalarOp::Add, vec![start.clone(), along])
    };
    let mut dims = dims.into_iter();
    let mut all: Vec<Along> = outer
        .into_iter()
        .map(|along| match along {
            Along::At(at) => Along::At(at),
            Along::Slice { start, count, step } => match dims.next() {
                None => Along::Slice { start, count, step },
                Some(Along::At(at)) => Along::At(sum(&start, at, &step)),
                Some(Along::Slice { start: s, count: c, step: t }) => Along::Slice {
                    start: sum(&start, s, &step),
                    count: c.or(count),
                    step: Exp::Op(ScalarOp::Mul, vec![t, step]),
                },
            },
        })
        .collect();
    all.extend(dims);
    all
}

/// Whether the results of a right side are arrays of their own.
fn is_fresh(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Kernel { .. } | Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Manifest { .. } => true,
        Rhs::Array { op, .. } => matches!(
            op,
            ArrayOp::Concat
                | ArrayOp::Copy
                | ArrayOp::Scratch
                | ArrayOp::Iota
                | ArrayOp::Replicate
                | ArrayOp::Reduce
        ),
        Rhs::Exps(_)
        | Rhs::For { .. }
        | Rhs::While { .. }
        | Rhs::If { .. }
        | Rhs::Update { .. }
        | Rhs::Scatter { .. } => false,
    }
}
