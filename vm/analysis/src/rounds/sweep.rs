//! The rounds of a block for the elements of one class: in the array itself, in a slab of it, or on one element.

use super::build::Build;
use super::facts::{At, Place, Step, Sweep};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::algebra::{add, int, sub};
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Read, ReadId, Rhs, Stm, Type, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Indices by dimension.
type ByDim = BTreeMap<usize, Exp>;

/// What is carried from round to round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    Array,
    Slab,
    Element,
}

/// A round of a class under construction.
struct Scene<'s> {
    class: &'s [usize],
    home: Home,
    /// The number of the round in the loop, and in its block.
    number: Exp,
    turn: Exp,
    /// The values of the round's names.
    names: BTreeMap<VarId, Exp>,
    /// What is carried, after each number of sweeps.
    versions: Vec<Exp>,
    /// The index of the element in the dimensions outside of lines, in the array and from where the class begins.
    absolute: &'s ByDim,
    numbers: ByDim,
    /// The index of the element in the other ones, in the array and in what is carried.
    inner: ByDim,
    here: ByDim,
    /// Copies of lines.
    lines: &'s [(Vec<At>, VarId)],
    /// Reads that were made before a sweep.
    before: BTreeMap<ReadId, Exp>,
}

impl Build<'_> {
    /// The scalars that the sweeps of a class need.
    pub fn needed(&self, class: &[usize]) -> BTreeSet<VarId> {
        let mut needed = BTreeSet::new();
        let is_all = class.len() == self.rank();
        for step in self.round.steps.iter().rev() {
            match step {
                Step::Scalar(var, exp) if is_all || needed.contains(var) => {
                    needed.insert(*var);
                    exp.each_use(&mut |var| _ = needed.insert(var));
                }
                Step::Sweep(sweep) if self.is_active(sweep, class) => {
                    let exps = sweep.lets.iter().map(|(_, exp)| exp).chain([&sweep.value]);
                    exps.for_each(|exp| exp.each_use(&mut |var| _ = needed.insert(var)));
                }
                _ => {}
            }
        }
        needed
    }

    /// All rounds in the array itself; gives its name.
    pub fn rounds(&mut self, stms: &mut Vec<Stm>, class: &[usize], begun: Exp, ty: Type) -> VarId {
        let empty = ByDim::new();
        self.carry(stms, (class, Home::Array), (&empty, ByDim::new()), &[], begun, ty)
    }

    /// All rounds on a slab.
    pub fn rounds_of(
        &mut self,
        stms: &mut Vec<Stm>,
        class: &[usize],
        absolute: &ByDim,
        begun: Exp,
        ty: Type,
    ) -> Exp {
        Exp::Var(self.carry(stms, (class, Home::Slab), (absolute, ByDim::new()), &[], begun, ty))
    }

    /// All rounds on an element.
    pub fn rounds_of_element(
        &mut self,
        stms: &mut Vec<Stm>,
        (absolute, numbers): (&ByDim, &ByDim),
        lines: Vec<(Vec<At>, VarId)>,
        begun: Exp,
    ) -> Exp {
        let ty = Type::scalar(self.ty.elem);
        Exp::Var(self.carry(stms, (&[], Home::Element), (absolute, numbers.clone()), &lines, begun, ty))
    }

    fn carry(
        &mut self,
        stms: &mut Vec<Stm>,
        (class, home): (&[usize], Home),
        (absolute, numbers): (&ByDim, ByDim),
        lines: &[(Vec<At>, VarId)],
        begun: Exp,
        ty: Type,
    ) -> VarId {
        let carried = self.region.fresh("y", Some(ty.clone()));
        let axis = Axis { var: self.var("p"), bound: self.count.clone() };
        let mut body = Vec::new();
        let number = add(self.first.clone(), Exp::Var(axis.var));
        let number = self.name(&mut body, "k", number);
        let mut scene = Scene {
            class,
            home,
            names: BTreeMap::from([(self.round.axis.var, number.clone())]),
            number,
            turn: Exp::Var(axis.var),
            versions: vec![Exp::Var(carried)],
            absolute,
            numbers,
            inner: ByDim::new(),
            here: ByDim::new(),
            lines,
            before: BTreeMap::new(),
        };
        let needed = self.needed(class);
        let round = self.round;
        for step in &round.steps {
            match step {
                Step::Scalar(var, exp) if needed.contains(var) => {
                    let exp = self.placed(exp, &scene);
                    self.rename(&mut body, *var, exp, &mut scene.names);
                }
                Step::Scalar(..) => {}
                Step::Sweep(sweep) if self.is_active(sweep, class) => {
                    self.sweep(&mut body, sweep, &mut scene)
                }
                Step::Sweep(_) => scene.versions.extend(scene.versions.last().cloned()),
            }
        }
        if home == Home::Array {
            self.emit_checks(&mut body, &scene.names);
        }
        let last = scene.versions.pop().unwrap_or(Exp::Var(carried));
        let body = Body { stms: body, results: vec![last] };
        let done = self.region.fresh("y", Some(ty));
        let rhs = Rhs::For { carried: vec![carried], init: vec![begun], axis, body };
        stms.push(Stm { pat: vec![done], rhs });
        done
    }

    /// Where the home begins in a dimension of the class.
    fn origin(&self, dim: usize, home: Home) -> Exp {
        match (home, &self.bands[dim]) {
            (Home::Slab, Some(band)) => band.first.clone(),
            _ => Exp::int(0),
        }
    }

    fn sweep(&mut self, stms: &mut Vec<Stm>, sweep: &Sweep, scene: &mut Scene<'_>) {
        let (mut axes, mut part) = (Vec::new(), Vec::new());
        scene.inner.clear();
        scene.here.clear();
        for &dim in scene.class {
            let span = &sweep.part[dim];
            let low = self.exp(&span.low, &scene.number);
            let low = self.name(stms, "low", low);
            let from = sub(low.clone(), self.origin(dim, scene.home));
            let from = self.name(stms, "from", from);
            let Some(at) = span.axis else {
                part.push(DimIndex::At(from.clone()));
                scene.here.insert(dim, from);
                scene.inner.insert(dim, low);
                continue;
            };
            let high = self.exp(&span.high, &scene.number);
            let high = match &self.bands[dim] {
                Some(band) => int(ScalarOp::Min, high, band.end.clone()),
                None => high,
            };
            let count = int(ScalarOp::Max, sub(high, low.clone()), Exp::int(0));
            let count = self.name(stms, "count", count);
            let axis = Axis { var: self.var("j"), bound: count.clone() };
            scene.names.insert(sweep.axes[at], Exp::Var(axis.var));
            scene.inner.insert(dim, add(low, Exp::Var(axis.var)));
            scene.here.insert(dim, add(from.clone(), Exp::Var(axis.var)));
            part.push(DimIndex::Slice { start: from, count, step: Exp::int(1) });
            axes.push(axis);
        }
        for (dim, index) in scene.absolute {
            // The number of the element in the part.
            if let Some(at) = sweep.part[*dim].axis {
                let low = self.exp(&sweep.part[*dim].low, &scene.number);
                scene.names.insert(sweep.axes[at], sub(index.clone(), low));
            }
        }
        self.read_before(stms, sweep, scene, &axes);
        let mut inside = Vec::new();
        let into = if axes.is_empty() { &mut *stms } else { &mut inside };
        for (var, exp) in &sweep.lets {
            let exp = self.placed(exp, scene);
            self.rename(into, *var, exp, &mut scene.names);
        }
        let value = self.placed(&sweep.value, scene);
        scene.before.clear();
        let now = match scene.versions.last() {
            Some(Exp::Var(now)) if scene.home != Home::Element => *now,
            _ => {
                let new = self.region.fresh("e", Some(Type::scalar(self.ty.elem)));
                stms.push(Stm { pat: vec![new], rhs: Rhs::Exps(vec![value]) });
                scene.versions.push(Exp::Var(new));
                return;
            }
        };
        let value = match axes.is_empty() {
            true => value,
            false => {
                let shape = axes.iter().map(|axis| axis.bound.clone()).collect();
                let made = self.region.fresh("z", Some(Type { elem: self.ty.elem, shape }));
                let body = Body { stms: inside, results: vec![value] };
                stms.push(Stm { pat: vec![made], rhs: Rhs::Kernel { axes, body } });
                Exp::Var(made)
            }
        };
        let ty = self.region.vars[now].ty.clone();
        let new = self.region.fresh("y", ty);
        stms.push(Stm { pat: vec![new], rhs: Rhs::Update { array: now, index: Index::Dims(part), value } });
        scene.versions.push(Exp::Var(new));
    }

    /// Names for what a sweep reads for all elements alike.
    fn read_before(&mut self, stms: &mut Vec<Stm>, sweep: &Sweep, scene: &mut Scene<'_>, axes: &[Axis]) {
        if axes.is_empty() {
            return;
        }
        let mut reads: Vec<&Read> = Vec::new();
        for exp in sweep.lets.iter().map(|(_, exp)| exp).chain([&sweep.value]) {
            exp.visit(&mut |part| {
                if let Exp::Read(read) = part {
                    reads.push(read);
                }
            });
        }
        for read in reads {
            let Some(place) = self.round.places.get(&read.id) else { continue };
            let varies = |dim: &usize| place.dims[*dim] == At::Own && sweep.part[*dim].axis.is_some();
            if scene.class.iter().any(varies) {
                continue;
            }
            let value = self.place(&place.clone(), scene);
            let var = self.region.fresh("l", Some(Type::scalar(self.ty.elem)));
            stms.push(Stm { pat: vec![var], rhs: Rhs::Exps(vec![value]) });
            scene.before.insert(read.id, Exp::Var(var));
        }
    }

    /// An expression of the round as it is for an element of the class.
    fn placed(&mut self, exp: &Exp, scene: &Scene<'_>) -> Exp {
        match exp {
            Exp::Const(_) => exp.clone(),
            Exp::Var(var) => scene.names.get(var).cloned().unwrap_or(Exp::Var(*var)),
            Exp::Op(op, elem, args) => {
                let args = args.iter().map(|arg| self.placed(arg, scene)).collect();
                match elem {
                    ElemType::I64 => galopvm_kir::algebra::op(*op, *elem, args),
                    _ => Exp::Op(*op, *elem, args),
                }
            }
            Exp::Convert(to, arg) => Exp::Convert(*to, Box::new(self.placed(arg, scene))),
            Exp::Read(read) => match (scene.before.get(&read.id), self.round.places.get(&read.id)) {
                (Some(known), _) => known.clone(),
                (None, Some(place)) => self.place(&place.clone(), scene),
                (None, None) => {
                    let mut index = read.index.clone();
                    index.each_exp_mut(&mut |exp| *exp = self.placed(exp, scene));
                    let id = ReadId(self.region.reads);
                    self.region.reads += 1;
                    Exp::Read(Read { id, array: read.array, index })
                }
            },
            Exp::Opaque(name, args) => {
                Exp::Opaque(name.clone(), args.iter().map(|arg| self.placed(arg, scene)).collect())
            }
        }
    }

    /// A read of the array.
    fn place(&mut self, place: &Place, scene: &Scene<'_>) -> Exp {
        let number = |shift: i64| add(scene.number.clone(), Exp::int(shift));
        let is_here = place.lines().all(|(dim, _)| scene.class.contains(&dim));
        if is_here {
            let home = scene.versions.get(place.version).cloned().unwrap_or(Exp::int(0));
            let Exp::Var(array) = home else { return home };
            if scene.home == Home::Element {
                return home;
            }
            let index = scene.class.iter().map(|dim| match place.dims[*dim] {
                At::Own => scene.here.get(dim).cloned().unwrap_or(Exp::int(0)),
                At::Line(shift) => sub(number(shift), self.origin(*dim, scene.home)),
            });
            let index = index.collect();
            return self.region.read(array, index);
        }
        if let Some((_, line)) = scene.lines.iter().find(|(dims, _)| *dims == place.dims) {
            let mut has_line = false;
            let mut index = Vec::new();
            for (dim, at) in place.dims.iter().enumerate() {
                match at {
                    At::Own => index.extend(scene.numbers.get(&dim).cloned()),
                    At::Line(_) if !has_line => {
                        has_line = true;
                        index.push(scene.turn.clone());
                    }
                    At::Line(_) => {}
                }
            }
            return self.region.read(*line, index);
        }
        let index = place.dims.iter().enumerate().map(|(dim, at)| match at {
            At::Line(shift) => number(*shift),
            At::Own => {
                let own = scene.absolute.get(&dim).or(scene.inner.get(&dim));
                own.cloned().unwrap_or(Exp::int(0))
            }
        });
        let index = index.collect();
        self.region.read(self.now, index)
    }
}
