//! Cells that a loop reads right after writing them.
//!
//! Where a turn of a loop looks at the cell of an array that the turn before has written, the loop carries the element as a
//! scalar as well, and the turn takes it from there: it need not wait for memory. What it begins with is read before the loop,
//! if there is a turn.
//!
//! Facts about places are symbolic (`galopvm_kir::linear`), so that the rewritten region serves all numbers.

use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_kir::algebra::int;
use galopvm_kir::linear::Definitions;
use galopvm_kir::turns::{Moving, Relation};
use galopvm_kir::types::type_of;
use galopvm_kir::walk::{Part, PartMut};
use galopvm_kir::{Body, DimIndex, Exp, Index, ReadId, Region, Rhs, Stm, Type, VarId};
use std::collections::BTreeSet;

/// A cell of an array that a loop carries.
struct Cell {
    /// The position of the array among what the loop carries.
    array: usize,
    elem: ElemType,
    /// The statement that writes it.
    writer: usize,
    /// Where the turn before has written, in the words of a turn.
    before: Vec<Exp>,
    /// The reads of it.
    reads: BTreeSet<ReadId>,
}

/// The region with cells that loops hand on as scalars; nothing if there are none.
pub fn with_cells_as_scalars(region: &Region) -> Option<Region> {
    let mut changed = region.clone();
    let mut body = std::mem::take(&mut changed.body);
    let mut found = false;
    in_body(&mut changed, &mut body, &Definitions::of(&region.body), &mut found);
    changed.body = body;
    found.then(|| changed.renumbered())
}

/// Loops inside of kernels are left alone: there the lanes go across the kernel's rows, and memory is waited for less.
fn in_body(region: &mut Region, body: &mut Body, definitions: &Definitions<'_>, found: &mut bool) {
    let mut stms = Vec::with_capacity(body.stms.len());
    for mut stm in std::mem::take(&mut body.stms) {
        if matches!(stm.rhs, Rhs::For { .. } | Rhs::While { .. } | Rhs::If { .. }) {
            stm.rhs.each_part_mut(&mut |part| {
                if let PartMut::Body(body) = part {
                    in_body(region, body, definitions, found);
                }
            });
        }
        while let Some(cell) = Cell::of(region, &stm, definitions) {
            *found = true;
            let first = cell.carry(region, &mut stm);
            stms.extend(first);
        }
        stms.push(stm);
    }
    body.stms = stms;
}

impl Cell {
    /// A cell that a turn of the loop reads after the turn before has written it, and nothing else between.
    fn of(region: &Region, stm: &Stm, definitions: &Definitions<'_>) -> Option<Cell> {
        let Rhs::For { carried, init, axis, body } = &stm.rhs else { return None };
        let mut inside: BTreeSet<VarId> = body.bound_vars().into_iter().collect();
        inside.extend(carried.iter().copied().chain([axis.var]));
        let is_fixed = |var: VarId| !inside.contains(&var);
        (0..carried.len()).find_map(|at| {
            let ty = region.vars[carried[at]].ty.as_ref().filter(|ty| !ty.is_scalar())?;
            if !matches!(init[at], Exp::Var(_)) {
                return None;
            }
            let Exp::Var(made) = body.results[at] else { return None };
            let writer = body.stms.iter().position(|stm| stm.pat == [made])?;
            let Rhs::Update { array, index, value } = &body.stms[writer].rhs else { return None };
            let is_element = *array == carried[at] && type_of(&region.vars, value)?.is_scalar();
            // Nobody else changes the array or looks at it as a whole.
            let mut names = 0;
            let mut reads_of_it = 0;
            body.each_use(&mut |var| names += usize::from(var == carried[at]));
            body.visit_reads(&mut |read| reads_of_it += usize::from(read.array == carried[at]));
            if !is_element || names != reads_of_it + 1 {
                return None;
            }
            let moving = Moving::of(index, axis.var, &is_fixed, definitions)?;
            let mut reads = BTreeSet::new();
            let mut are_known = true;
            body.visit_reads(&mut |read| {
                if read.array == carried[at] {
                    match moving.relation(&read.index, definitions) {
                        Some(Relation::Earlier(1)) => _ = reads.insert(read.id),
                        Some(_) => {}
                        None => are_known = false,
                    }
                }
            });
            let Index::Dims(entries) = index else { return None };
            let before = |(k, entry): (usize, &DimIndex)| match entry {
                DimIndex::At(exp) if k == moving.along => Some(int(ScalarOp::Sub, exp.clone(), Exp::int(1))),
                DimIndex::At(exp) => Some(exp.clone()),
                DimIndex::Slice { .. } => None,
            };
            let before: Option<Vec<Exp>> = entries.iter().enumerate().map(before).collect();
            let found = Cell { array: at, elem: ty.elem, writer, before: before?, reads };
            // A read that some turns pass by may be one that the first turn must not do.
            let is_read = |stm: &Stm| {
                let mut is_read = false;
                stm.rhs.each_part(&mut |part| {
                    if let Part::Exp(exp) = part {
                        exp.visit(&mut |part| {
                            is_read |= matches!(part, Exp::Read(read) if found.reads.contains(&read.id));
                        });
                    }
                });
                is_read
            };
            (are_known && body.stms.iter().any(is_read)).then_some(found)
        })
    }

    /// Makes the loop carry it. Gives the statements that read what it begins with.
    fn carry(self, region: &mut Region, stm: &mut Stm) -> Vec<Stm> {
        let Cell { array, elem, writer, before, reads } = self;
        let scalar = Some(Type::scalar(elem));
        let [first, now, next, last] =
            ["first", "now", "next", "last"].map(|name| region.fresh(name, scalar.clone()));
        let Rhs::For { carried, init, axis, body } = &mut stm.rhs else { return Vec::new() };
        body.visit_exps_mut(&mut |exp| {
            exp.visit_mut(&mut |part| {
                if matches!(part, Exp::Read(read) if reads.contains(&read.id)) {
                    *part = Exp::Var(now);
                }
            });
        });
        if let Rhs::Update { value, .. } = &mut body.stms[writer].rhs {
            let value = std::mem::replace(value, Exp::Var(next));
            body.stms.insert(writer, Stm { pat: vec![next], rhs: Rhs::Exps(vec![value]) });
        }
        body.results.push(Exp::Var(next));
        stm.pat.push(last);
        carried.push(now);
        init.push(Exp::Var(first));
        let Exp::Var(begins) = init[array] else { return Vec::new() };
        // The names of a turn, as they are in the first one.
        let defined: Vec<(VarId, Exp)> = body
            .stms
            .iter()
            .filter_map(|stm| match &stm.rhs {
                Rhs::Exps(exps) => Some(stm.pat.iter().copied().zip(exps.iter().cloned())),
                _ => None,
            })
            .flatten()
            .collect();
        let counter = axis.var;
        let index = before.iter().map(|exp| in_first_turn(exp, counter, &defined)).collect();
        let read = region.read(begins, index);
        let zero = Exp::Const(Scalar::new(elem, 0));
        let bodies = [read, zero].map(|exp| Body { stms: Vec::new(), results: vec![exp] });
        let [then, otherwise] = bodies;
        let cond = Exp::Op(ScalarOp::Lt, ElemType::I64, vec![Exp::int(0), axis.bound.clone()]);
        vec![Stm { pat: vec![first], rhs: Rhs::If { cond, then, otherwise } }]
    }
}

/// An index of a turn without the names that the turn defines, for the first turn.
fn in_first_turn(exp: &Exp, counter: VarId, defined: &[(VarId, Exp)]) -> Exp {
    exp.substitute(&|var| {
        if var == counter {
            return Some(Exp::int(0));
        }
        let (_, exp) = defined.iter().find(|(name, _)| *name == var)?;
        Some(in_first_turn(exp, counter, defined))
    })
}
