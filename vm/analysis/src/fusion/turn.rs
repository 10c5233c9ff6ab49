//! The change that puts the first axes of a kernel inside the others: what does not depend on the first ones is computed once for
//! all of their iterations, and what others make over the remaining axes can be computed there.
//!
//! ```text
//! let c = kernel q < 3, i < n do in f(q, a[i])
//! ```
//! becomes
//! ```text
//! let c = kernel i < n do let x = a[i] let row = kernel q < 3 do in f(q, x) in row
//! let d = transpose c
//! ```
//! and `d` is what `c` was to all others.
//!
//! Invariants: the first axes have at least one iteration, so that what moves in front of them was computed before as well; each
//! element is computed as it was. A result is still written by nobody but this kernel.

use super::inline::rename;
use super::known::Known;
use super::reads::{Use, uses};
use galopvm_kir::kernel::{is_scalar_code, is_straight};
use galopvm_kir::{ArrayOp, Axis, Body, DimIndex, Exp, Index, Region, Rhs, Stm, Type, VarId, ViewChange};
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of the first axes at most: so many rows of a result are written at the same time.
pub(super) const MOST_TURNED: i64 = 32;

/// How many first axes of the statement at `user` may go inside, if it reads what the one at `at` makes over `made` alike for all of
/// their iterations.
pub(super) fn judge_turn(
    region: &Region,
    body: &Body,
    (at, made): (usize, &[Axis]),
    user: usize,
    known: &mut Known,
) -> Option<usize> {
    let Rhs::Kernel { axes, body: inner } = &body.stms[user].rhs else { return None };
    let first = axes.len().checked_sub(made.len()).filter(|first| *first > 0)?;
    let (turned, kept) = axes.split_at(first);
    let count = turned.iter().try_fold(1i64, |count, axis| match &axis.bound {
        Exp::Const(bound) if bound.as_i64() > 0 => count.checked_mul(bound.as_i64()),
        _ => None,
    });
    if count? > MOST_TURNED || !is_straight(inner) || !is_scalar_code(region, inner) {
        return None;
    }
    let is_turned = |var: VarId| turned.iter().any(|axis| axis.var == var);
    let mut is_fixed = true;
    kept.iter().for_each(|axis| axis.bound.each_use(&mut |var| is_fixed &= !is_turned(var)));
    let rank = axes.len();
    let are_scalars = body.stms[user]
        .pat
        .iter()
        .all(|var| region.vars[*var].ty.as_ref().is_some_and(|ty| ty.rank() == rank));
    if !is_fixed || !are_scalars {
        return None;
    }
    let own: Vec<Exp> = kept.iter().map(|axis| Exp::Var(axis.var)).collect();
    let found: Use = uses(region, body, at, made.len(), known).users.remove(&user)?;
    let sites = found.ok()?;
    let is_alike = sites.iter().all(|site| site.direct && site.rest.is_empty() && site.index == own);
    let prover = &mut known.prover;
    let same = kept.iter().zip(made).all(|(a, b)| prover.polynomial(&a.bound) == prover.polynomial(&b.bound));
    (is_alike && same && !sites.is_empty()).then_some(first)
}

/// Puts the first axes of a kernel inside the others. `region` has the names; gives those that others read the results by.
pub(super) fn turn(region: &mut Region, body: &mut Body, user: usize, first: usize) -> Vec<VarId> {
    let Rhs::Kernel { axes, body: whole } = &mut body.stms[user].rhs else { return Vec::new() };
    let kept = axes.split_off(first);
    let turned = std::mem::replace(axes, kept.clone());
    let mut inner = std::mem::take(whole);
    let mut front = in_front(region, &turned, &mut inner);
    let bounds = |axes: &[Axis]| axes.iter().map(|axis| axis.bound.clone()).collect::<Vec<Exp>>();
    let (rows, all): (Vec<Exp>, Vec<Exp>) = (bounds(&turned), bounds(&kept));
    let (mut row_names, mut views, mut names) = (Vec::new(), Vec::new(), BTreeMap::new());
    // Dimensions of the view: the first ones again, then the others.
    let order: Vec<usize> = (kept.len()..kept.len() + first).chain(0..kept.len()).collect();
    for var in body.stms[user].pat.clone() {
        let Some(before) = region.vars[var].ty.clone() else { continue };
        let name = region.name_of(var).to_string();
        let row = Type { elem: before.elem, shape: rows.clone() };
        row_names.push(region.fresh(&name, Some(row)));
        let shape = all.iter().chain(&rows).cloned().collect();
        region.vars[var].ty = Some(Type { elem: before.elem, shape });
        let view = region.fresh(&name, Some(before));
        let change = ViewChange::Rearrange(order.clone());
        views.push(Stm { pat: vec![view], rhs: Rhs::Array(ArrayOp::View { change, array: Exp::Var(var) }) });
        names.insert(var, Exp::Var(view));
    }
    let given = views.iter().flat_map(|stm| stm.pat.clone()).collect();
    let results = row_names.iter().map(|var| Exp::Var(*var)).collect();
    front.push(Stm { pat: row_names, rhs: Rhs::Kernel { axes: turned, body: inner } });
    body.stms[user].rhs = Rhs::Kernel { axes: kept, body: Body { stms: front, results } };
    let mut after = Body { stms: body.stms.split_off(user + 1), results: std::mem::take(&mut body.results) };
    rename(&mut after, &names);
    body.stms.append(&mut views);
    body.stms.append(&mut after.stms);
    body.results = after.results;
    given
}

/// Takes out of a body what does not depend on some axes: statements, and elements that the others read.
fn in_front(region: &mut Region, turned: &[Axis], body: &mut Body) -> Vec<Stm> {
    let mut moving: BTreeSet<VarId> = turned.iter().map(|axis| axis.var).collect();
    let mut front: Vec<Stm> = Vec::new();
    let mut rest = Vec::new();
    for stm in std::mem::take(&mut body.stms) {
        if stm.free_vars().iter().any(|var| moving.contains(var)) {
            moving.extend(&stm.pat);
            rest.push(stm);
        } else {
            front.push(stm);
        }
    }
    let mut elements: Vec<(VarId, Index, VarId)> = Vec::new();
    let mut take = |exp: &mut Exp| {
        exp.visit_mut(&mut |part| {
            let Exp::Read(read) = part else { return };
            let mut is_fixed = !moving.contains(&read.array);
            read.index.each_exp(&mut |at| at.each_use(&mut |var| is_fixed &= !moving.contains(&var)));
            let Some(ty) = region.vars[read.array].ty.clone() else { return };
            let is_element = matches!(&read.index, Index::Dims(dims)
                if dims.len() == ty.rank() && dims.iter().all(|dim| matches!(dim, DimIndex::At(_))));
            if !is_fixed || !is_element {
                return;
            }
            let known =
                elements.iter().find(|(array, index, _)| (array, index) == (&read.array, &read.index));
            let name = match known {
                Some((.., name)) => *name,
                None => {
                    let name = region.name_of(read.array).to_string();
                    let name = region.fresh(&name, Some(Type::scalar(ty.elem)));
                    elements.push((read.array, read.index.clone(), name));
                    front.push(Stm { pat: vec![name], rhs: Rhs::Exps(vec![Exp::Read(read.clone())]) });
                    name
                }
            };
            *part = Exp::Var(name);
        });
    };
    for stm in &mut rest {
        if let Rhs::Exps(exps) = &mut stm.rhs {
            exps.iter_mut().for_each(&mut take);
        }
    }
    body.results.iter_mut().for_each(take);
    body.stms = rest;
    front
}
