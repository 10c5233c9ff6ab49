//! What each iteration of a kernel reads of arrays outside, and which array its value is copied from.

use crate::affine::{Alternative, Atom, Form, Scope, Space, product};
use crate::index::Path;
use galopvm_base::{ScalarOp, TypedId};
use galopvm_kir::view::Place;
use galopvm_kir::walk::Part;
use galopvm_kir::{ArrayOp, Body, Exp, ObservedParam, Read, Region, Rhs, VarId};
use std::collections::BTreeSet;

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
    /// Names bound inside the kernel.
    inside: BTreeSet<VarId>,
    /// The conditions around what is walked now.
    under: Vec<Alternative>,
    /// The conditions of the branches that no loop is around, met so far, with the alternatives for yes and no.
    met: Vec<(&'a Exp, [Vec<Alternative>; 2])>,
    /// How many iteration variables the kernel itself has, with those outside.
    opened: usize,
    /// A number for the next index that has no name.
    unnamed: usize,
    pub accesses: Vec<Access>,
}

impl<'a> Walk<'a> {
    /// Walks the body of the kernel; its axes are opened with their numbers of iterations.
    pub fn new(scope: Scope<'a>, rhs: &'a Rhs) -> Walk<'a> {
        let region: &'a Region = scope.region();
        let unnamed = region.vars.len();
        let opened = scope.ranges().len();
        let mut walk = Walk {
            scope,
            met: Vec::new(),
            opened,
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
            let both = [true, false].map(|wanted| self.scope.alternatives(cond, wanted));
            let around = self.under.clone();
            for (alternatives, body) in both.iter().zip([then, otherwise]) {
                self.under = product(&around, alternatives);
                self.body(body);
            }
            self.under = around;
            if self.scope.ranges().len() == self.opened {
                self.met.push((cond, both));
            }
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
            } else if let Some((rhs, _)) = self.scope.binder(var).filter(|(rhs, _)| !is_fresh(rhs)) {
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
    fn resolve(&self, read: &Read) -> Option<(VarId, Vec<Place>)> {
        let Path { base, places, .. } = self.scope.paths().read(read);
        self.scope.binder(base).is_none_or(|(rhs, _)| is_fresh(rhs)).then_some((base, places))
    }

    /// The iterations that read and their index, for an index into an array.
    fn places(&mut self, array: VarId, places: &[Place]) -> Option<Vec<(Space, Vec<Form>)>> {
        let shape = self.shape(array)?;
        if places.len() != shape.len() {
            return None;
        }
        let mut ways = vec![(Vec::<Atom>::new(), Vec::<Form>::new())];
        let outside = self.scope.ranges().len();
        let mut known = true;
        for (place, size) in places.iter().zip(&shape) {
            let pieces = match &place.start {
                Some(start) if place.open.is_empty() => self.scope.pieces(start),
                _ => self.opened_place(place, *size).map(|form| vec![(Vec::new(), form)]),
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
        self.scope.close(ranges.len() - outside);
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

    /// The places of one dimension of this size, over an iteration variable for each dimension that is left open.
    fn opened_place(&mut self, place: &Place, size: i64) -> Option<Form> {
        let mut form = match &place.start {
            Some(start) => self.scope.form(start),
            None => Some(Form::default()),
        };
        for open in &place.open {
            let mut factors = open.factors.iter().map(|factor| self.scope.size(factor));
            let step = factors.try_fold(1i64, |step, factor| step.checked_mul(factor?));
            let count = open.count.as_ref().map_or(Some(size), |count| self.scope.size(count));
            let index = VarId::from_index(self.unnamed);
            self.unnamed += 1;
            self.scope.open(index, count.unwrap_or(i64::MAX));
            let known = form.zip(step).zip(count);
            form = known.and_then(|((form, step), _)| form.combine(1, &Form::variable(index), step));
        }
        form
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
                Exp::Var(var) => match (self.scope.definition(*var), self.scope.binder(*var)) {
                    (Some(exp), _) => return self.leaf(exp, under, depth + 1, out),
                    (None, Some((Rhs::If { cond, then, otherwise }, k))) => {
                        then.results.get(k).zip(otherwise.results.get(k)).map(|sides| (cond, sides))
                    }
                    _ => None,
                },
                Exp::Op(ScalarOp::Select, _, args) => match &args[..] {
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
                let met = self.met.iter().position(|(met, _)| std::ptr::eq(*met, cond));
                for (k, (wanted, side)) in [(true, yes), (false, no)].into_iter().enumerate() {
                    let under = match met {
                        Some(at) => product(under, &self.met[at].1[k]),
                        None => product(under, &self.scope.alternatives(cond, wanted)),
                    };
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

/// Whether the results of a right side are arrays of their own.
fn is_fresh(rhs: &Rhs) -> bool {
    match rhs {
        Rhs::Kernel { .. } | Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Manifest { .. } => true,
        Rhs::Array(op) => match op {
            ArrayOp::Concat { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Scratch { .. }
            | ArrayOp::Iota(_)
            | ArrayOp::Replicate { .. }
            | ArrayOp::Reduce { .. } => true,
            ArrayOp::View { .. } | ArrayOp::Call { .. } => false,
        },
        Rhs::Exps(_)
        | Rhs::For { .. }
        | Rhs::While { .. }
        | Rhs::If { .. }
        | Rhs::Update { .. }
        | Rhs::Scatter { .. } => false,
    }
}
