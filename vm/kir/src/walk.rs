//! Visiting regions: every traversal that analyses, the printer, the verifier and the back ends need.
//!
//! The order is always that of the text form: names of a pattern before what its right side binds, an access
//! before the accesses in its index, conditions before branches. Read ids and variable ids follow this order in
//! parsed and in [renumbered](Region::renumbered) regions.

use crate::ir::*;
use galopvm_base::{IdVec, TypedId};
use std::collections::BTreeSet;

impl Exp {
    /// Calls `f` on this expression and on all its parts at any depth, outer ones first.
    pub fn visit<'a>(&'a self, f: &mut dyn FnMut(&'a Exp)) {
        f(self);
        self.each_part(&mut |part| part.visit(f));
    }

    /// As [`Exp::visit`], for changing.
    pub fn visit_mut(&mut self, f: &mut dyn FnMut(&mut Exp)) {
        f(self);
        self.each_part_mut(&mut |part| part.visit_mut(f));
    }

    /// Calls `f` on each use of a name: plain ones and arrays of reads.
    pub fn each_use(&self, f: &mut dyn FnMut(VarId)) {
        self.visit(&mut |exp| match exp {
            Exp::Var(var) => f(*var),
            Exp::Read(read) => f(read.array),
            _ => {}
        });
    }

    /// The expression with names replaced. An array that is read can only be replaced by a name; otherwise it
    /// stays.
    pub fn substitute(&self, with: &dyn Fn(VarId) -> Option<Exp>) -> Exp {
        let all = |exps: &[Exp]| exps.iter().map(|exp| exp.substitute(with)).collect();
        match self {
            Exp::Const(value) => Exp::Const(*value),
            Exp::Var(var) => with(*var).unwrap_or(Exp::Var(*var)),
            Exp::Op(op, elem, args) => Exp::Op(*op, *elem, all(args)),
            Exp::Convert(to, arg) => Exp::Convert(*to, Box::new(arg.substitute(with))),
            Exp::Read(read) => {
                let mut read = read.clone();
                if let Some(Exp::Var(var)) = with(read.array) {
                    read.array = var;
                }
                read.index.each_exp_mut(&mut |exp| *exp = exp.substitute(with));
                Exp::Read(read)
            }
            Exp::Opaque(name, args) => Exp::Opaque(name.clone(), all(args)),
        }
    }
}

impl Type {
    /// The type with names of its shape replaced.
    pub fn substitute(&self, with: &dyn Fn(VarId) -> Option<Exp>) -> Type {
        Type { elem: self.elem, shape: self.shape.iter().map(|e| e.substitute(with)).collect() }
    }
}

impl ArrayOp {
    /// Calls `f` on each array and each other value that the operation is given; extents are none of them.
    pub fn each_operand<'a>(&'a self, f: &mut dyn FnMut(&'a Exp)) {
        match self {
            ArrayOp::Concat { first, rest } => std::iter::once(first).chain(rest).for_each(f),
            ArrayOp::Copy(array) | ArrayOp::View { array, .. } | ArrayOp::Reduce { array, .. } => f(array),
            ArrayOp::Replicate { shape: _, value } => f(value),
            ArrayOp::Call { args, .. } => args.iter().for_each(f),
            ArrayOp::Scratch { .. } | ArrayOp::Iota(_) => {}
        }
    }

    /// The extents that are written in the operation.
    pub fn extents(&self) -> &[Exp] {
        match self {
            ArrayOp::Scratch { shape, .. }
            | ArrayOp::Replicate { shape, .. }
            | ArrayOp::Call { shape, .. }
            | ArrayOp::View { change: ViewChange::Reshape(shape), .. } => shape,
            ArrayOp::Iota(extent) => std::slice::from_ref(extent),
            ArrayOp::Concat { .. } | ArrayOp::Copy(_) | ArrayOp::View { .. } | ArrayOp::Reduce { .. } => &[],
        }
    }
}

/// A piece of a right side, in text order.
pub enum Part<'a> {
    /// An expression.
    Exp(&'a Exp),
    /// An array that is used by name alone (updates, manifests and scatters).
    Use(VarId),
    /// A name that is bound for what follows.
    Bind(VarId),
    /// A body.
    Body(&'a Body),
}

/// A piece of a right side, for changing.
pub enum PartMut<'a> {
    /// An expression.
    Exp(&'a mut Exp),
    /// An array that is used by name alone (updates, manifests and scatters).
    Use(&'a mut VarId),
    /// A name that is bound for what follows.
    Bind(&'a mut VarId),
    /// A body.
    Body(&'a mut Body),
}

/// The name itself: a part that is looked at copies it.
fn looked_at(name: &VarId) -> VarId {
    *name
}

/// Visitors for looking at a region and for changing it, written once: both see the same pieces in the same order.
macro_rules! visitors {
    ($part:ident, ($($mutable:tt)?), $name:path, $only:path, $each_exp:ident, $each_part:ident, $visit_exps:ident) => {
        impl Index {
            /// Calls `f` on each expression of the index, left to right (not on parts of expressions).
            pub fn $each_exp<'a>(&'a $($mutable)? self, f: &mut dyn FnMut(&'a $($mutable)? Exp)) {
                match self {
                    Index::Dims(dims) => {
                        for dim in dims {
                            match dim {
                                DimIndex::At(at) => f(at),
                                DimIndex::Slice { start, count, step } => {
                                    f(start);
                                    f(count);
                                    f(step);
                                }
                            }
                        }
                    }
                    Index::Lmad { offset, dims } => {
                        f(offset);
                        for (extent, stride) in dims {
                            f(extent);
                            f(stride);
                        }
                    }
                }
            }
        }

        impl Exp {
            /// Calls `f` on each direct part.
            pub fn $each_part<'a>(&'a $($mutable)? self, f: &mut dyn FnMut(&'a $($mutable)? Exp)) {
                match self {
                    Exp::Const(_) | Exp::Var(_) => {}
                    Exp::Op(_, _, args) | Exp::Opaque(_, args) => args.into_iter().for_each(f),
                    Exp::Convert(_, arg) => f(arg),
                    Exp::Read(read) => read.index.$each_exp(f),
                }
            }
        }

        impl ArrayOp {
            fn $each_exp<'a>(&'a $($mutable)? self, f: &mut dyn FnMut(&'a $($mutable)? Exp)) {
                match self {
                    ArrayOp::Concat { first, rest } => std::iter::once(first).chain(rest).for_each(f),
                    ArrayOp::View { change: ViewChange::Reshape(shape), array: value }
                    | ArrayOp::Replicate { shape, value } => shape.into_iter().chain([value]).for_each(f),
                    ArrayOp::Copy(array) | ArrayOp::View { array, .. } | ArrayOp::Reduce { array, .. } => f(array),
                    ArrayOp::Scratch { shape, .. } => shape.into_iter().for_each(f),
                    ArrayOp::Iota(extent) => f(extent),
                    ArrayOp::Call { args, shape, .. } => args.into_iter().chain(shape).for_each(f),
                }
            }
        }

        impl Combine {
            fn $each_part<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($part<'a>)) {
                let Combine { acc, neutral, item, body } = self;
                neutral.into_iter().for_each(|exp| f($part::Exp(exp)));
                acc.into_iter().chain(item).for_each(|name| f($part::Bind($name(name))));
                f($part::Body(body));
            }
        }

        impl Rhs {
            /// Calls `f` on each piece, in the order in which names are bound and reads are numbered. What is bound is
            /// in scope in the bodies (and in the condition of a while loop) that follow, up to the next bound names of
            /// an operator, which see neither axes nor names of the first body.
            pub fn $each_part<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($part<'a>)) {
                fn axes_parts<'a>(axes: &'a $($mutable)? [Axis], f: &mut dyn FnMut($part<'a>)) {
                    let mut names = Vec::with_capacity(axes.len());
                    for Axis { var, bound } in axes {
                        f($part::Exp(bound));
                        names.push(var);
                    }
                    names.into_iter().for_each(|name| f($part::Bind($name(name))));
                }
                match self {
                    Rhs::Exps(exps) => exps.into_iter().for_each(|exp| f($part::Exp(exp))),
                    Rhs::Kernel { axes, body } => {
                        axes_parts(axes, f);
                        f($part::Body(body));
                    }
                    Rhs::Reduce { axes, body, combine } => {
                        axes_parts(axes, f);
                        f($part::Body(body));
                        combine.$each_part(f);
                    }
                    Rhs::Scan { axis, body, combine } => {
                        axes_parts($only(axis), f);
                        f($part::Body(body));
                        combine.$each_part(f);
                    }
                    Rhs::For { carried, init, axis: Axis { var, bound }, body } => {
                        init.into_iter().chain([bound]).for_each(|exp| f($part::Exp(exp)));
                        carried.into_iter().chain([var]).for_each(|name| f($part::Bind($name(name))));
                        f($part::Body(body));
                    }
                    Rhs::While { carried, init, cond, body } => {
                        init.into_iter().for_each(|exp| f($part::Exp(exp)));
                        carried.into_iter().for_each(|name| f($part::Bind($name(name))));
                        f($part::Exp(cond));
                        f($part::Body(body));
                    }
                    Rhs::If { cond, then, otherwise } => {
                        f($part::Exp(cond));
                        f($part::Body(then));
                        f($part::Body(otherwise));
                    }
                    Rhs::Update { array, index, value } => {
                        f($part::Use($name(array)));
                        index.$each_exp(&mut |exp| f($part::Exp(exp)));
                        f($part::Exp(value));
                    }
                    Rhs::Manifest { perm: _, array } => f($part::Use($name(array))),
                    Rhs::Scatter { arrays, axes, body, combine } => {
                        arrays.into_iter().for_each(|array| f($part::Use($name(array))));
                        axes_parts(axes, f);
                        f($part::Body(body));
                        if let Some(combine) = combine {
                            combine.$each_part(f);
                        }
                    }
                    Rhs::Array(op) => op.$each_exp(&mut |exp| f($part::Exp(exp))),
                }
            }
        }

        impl Body {
            /// Calls `f` on each expression at any depth, whole ones only (see [`Exp::visit`] for their parts).
            pub fn $visit_exps<'a>(&'a $($mutable)? self, f: &mut dyn FnMut(&'a $($mutable)? Exp)) {
                let Body { stms, results } = self;
                for stm in stms {
                    stm.rhs.$each_part(&mut |part| match part {
                        $part::Exp(exp) => f(exp),
                        $part::Body(body) => body.$visit_exps(f),
                        $part::Use(_) | $part::Bind(_) => {}
                    });
                }
                results.into_iter().for_each(f);
            }
        }
    };
}

visitors!(Part, (), looked_at, std::slice::from_ref, each_exp, each_part, visit_exps);
visitors!(PartMut, (mut), std::convert::identity, std::slice::from_mut, each_exp_mut, each_part_mut, visit_exps_mut);

impl Rhs {
    /// The axes of a kernel, reduction or scan.
    pub fn parallel_axes(&self) -> &[Axis] {
        match self {
            Rhs::Kernel { axes, .. } | Rhs::Reduce { axes, .. } => axes,
            Rhs::Scan { axis, .. } => std::slice::from_ref(axis),
            Rhs::Exps(_)
            | Rhs::Scatter { .. }
            | Rhs::For { .. }
            | Rhs::While { .. }
            | Rhs::If { .. }
            | Rhs::Update { .. }
            | Rhs::Manifest { .. }
            | Rhs::Array { .. } => &[],
        }
    }

    /// The axes of any kind, sequential ones too.
    pub fn axes(&self) -> &[Axis] {
        match self {
            Rhs::For { axis, .. } => std::slice::from_ref(axis),
            Rhs::Scatter { axes, .. } => axes,
            other => other.parallel_axes(),
        }
    }

    /// Calls `f` on each use of a name, at any depth.
    pub fn each_use(&self, f: &mut dyn FnMut(VarId)) {
        self.each_part(&mut |part| match part {
            Part::Exp(exp) => exp.each_use(f),
            Part::Use(var) => f(var),
            Part::Body(body) => body.each_use(f),
            Part::Bind(_) => {}
        });
    }

    /// Calls `f` on each name that is bound inside, at any depth, in text order.
    pub fn each_bound(&self, f: &mut dyn FnMut(VarId)) {
        self.each_part(&mut |part| match part {
            Part::Bind(var) => f(var),
            Part::Body(body) => {
                for stm in &body.stms {
                    stm.pat.iter().for_each(|var| f(*var));
                    stm.rhs.each_bound(f);
                }
            }
            Part::Exp(_) | Part::Use(_) => {}
        });
    }
}

impl Stm {
    /// Every name bound by the statement or inside it, in text order.
    pub fn bound_vars(&self) -> Vec<VarId> {
        let mut bound = self.pat.clone();
        self.rhs.each_bound(&mut |var| bound.push(var));
        bound
    }

    /// The names that the statement uses and does not bind.
    pub fn free_vars(&self) -> BTreeSet<VarId> {
        let mut free = BTreeSet::new();
        self.rhs.each_use(&mut |var| _ = free.insert(var));
        self.bound_vars().iter().for_each(|var| _ = free.remove(var));
        free
    }
}

impl Body {
    /// Calls `f` on each statement at any depth; a statement comes before the statements inside it.
    pub fn visit_stms<'a>(&'a self, f: &mut dyn FnMut(&'a Stm)) {
        for stm in &self.stms {
            f(stm);
            stm.rhs.each_part(&mut |part| {
                if let Part::Body(body) = part {
                    body.visit_stms(f);
                }
            });
        }
    }

    /// Calls `f` on each read access at any depth, in program order.
    pub fn visit_reads<'a>(&'a self, f: &mut dyn FnMut(&'a Read)) {
        self.visit_exps(&mut |exp| {
            exp.visit(&mut |part| {
                if let Exp::Read(read) = part {
                    f(read);
                }
            })
        });
    }

    /// Every name bound in the body, at any depth, in text order.
    pub fn bound_vars(&self) -> Vec<VarId> {
        let mut bound = Vec::new();
        for stm in &self.stms {
            bound.extend(&stm.pat);
            stm.rhs.each_bound(&mut |var| bound.push(var));
        }
        bound
    }

    /// The names that the body uses and does not bind, in the order of their ids. (Names are unique in a region,
    /// so what is bound somewhere inside is not free.)
    pub fn free_vars(&self) -> BTreeSet<VarId> {
        let mut used = BTreeSet::new();
        self.each_use(&mut |var| {
            used.insert(var);
        });
        for var in self.bound_vars() {
            used.remove(&var);
        }
        used
    }

    /// Calls `f` on each use of a name, at any depth.
    pub fn each_use(&self, f: &mut dyn FnMut(VarId)) {
        self.stms.iter().for_each(|stm| stm.rhs.each_use(f));
        self.results.iter().for_each(|exp| exp.each_use(f));
    }

    fn rename(&mut self, name: &dyn Fn(VarId) -> VarId) {
        for stm in &mut self.stms {
            stm.pat.iter_mut().for_each(|var| *var = name(*var));
            stm.rhs.each_part_mut(&mut |part| match part {
                PartMut::Exp(exp) => rename_exp(exp, name),
                PartMut::Use(var) | PartMut::Bind(var) => *var = name(*var),
                PartMut::Body(body) => body.rename(name),
            });
        }
        self.results.iter_mut().for_each(|exp| rename_exp(exp, name));
    }
}

fn rename_exp(exp: &mut Exp, name: &dyn Fn(VarId) -> VarId) {
    exp.visit_mut(&mut |part| match part {
        Exp::Var(var) => *var = name(*var),
        Exp::Read(read) => read.array = name(read.array),
        _ => {}
    });
}

impl Region {
    /// The variables of all axes of kernels, reductions and scans, at any depth, in text order.
    pub fn parallel_axes(&self) -> Vec<VarId> {
        let mut axes = Vec::new();
        self.body.visit_stms(&mut |stm| axes.extend(stm.rhs.parallel_axes().iter().map(|a| a.var)));
        axes
    }

    /// Every axis of the region, sequential ones too, in text order.
    pub fn axes(&self) -> Vec<&Axis> {
        let mut axes = Vec::new();
        self.body.visit_stms(&mut |stm| axes.extend(stm.rhs.axes()));
        axes
    }

    /// Every read access of the region, in program order.
    pub fn all_reads(&self) -> Vec<&Read> {
        let mut reads = Vec::new();
        self.body.visit_reads(&mut |read| reads.push(read));
        reads
    }

    /// The same region with variables numbered in the order of their definitions (parameters first), reads in
    /// program order, and variables that nothing defines dropped: what parsing the printed region gives. Names
    /// that are used without a definition are kept, at the end.
    pub fn renumbered(&self) -> Region {
        let mut order: Vec<VarId> = self.params.clone();
        order.extend(self.body.bound_vars());
        let mut loose = BTreeSet::new();
        self.body.each_use(&mut |var| {
            loose.insert(var);
        });
        for var in &self.params {
            let shape = self.vars.get(*var).and_then(|v| v.ty.as_ref()).map_or(&[][..], |ty| &ty.shape);
            for extent in shape {
                extent.each_use(&mut |v| {
                    loose.insert(v);
                });
            }
        }
        order.extend(loose);
        let mut numbers: Vec<Option<VarId>> = vec![None; self.vars.len()];
        let mut vars: IdVec<VarId, Var> = IdVec::new();
        for var in order {
            if let (Some(known), Some(slot)) = (self.vars.get(var), numbers.get_mut(var.index()))
                && slot.is_none()
            {
                *slot = Some(vars.push(known.clone()));
            }
        }
        let number = |var: VarId| numbers.get(var.index()).copied().flatten().unwrap_or(var);
        for var in vars.iter_mut() {
            if let Some(ty) = &mut var.ty {
                ty.shape.iter_mut().for_each(|e| rename_exp(e, &number));
            }
        }
        let mut body = self.body.clone();
        body.rename(&number);
        let mut reads = 0;
        body.visit_exps_mut(&mut |exp| {
            exp.visit_mut(&mut |part| {
                if let Exp::Read(read) = part {
                    read.id = ReadId(reads);
                    reads += 1;
                }
            })
        });
        let params = self.params.iter().map(|v| number(*v)).collect();
        Region { name: self.name.clone(), vars, params, body, reads }
    }
}
