//! The change that computes elements where they are read.
//!
//! Each copy of the computation stands in front of the first statement that needs it. One copy keeps the names of the
//! original, which is gone; others get names close to them.

use super::judge::{Copy, Fuse};
use crate::layout::transform::{Site as Spot, rebuilt};
use galopvm_base::ElemType;
use galopvm_kir::algebra::size;
use galopvm_kir::walk::PartMut;
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Read, ReadId, Region, Rhs, Stm, Type, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Most parts of an expression that is put into another one.
const MOST_INLINE: usize = 24;

/// Computes what the statement at `at` makes where others of the body read it, and removes the statement. `region`
/// has the names; gives the first names of the statements that changed.
pub(super) fn inline(region: &mut Region, body: &mut Body, at: usize, fuse: Fuse) -> Vec<VarId> {
    let results = body.stms[at].pat.clone();
    let mut added: BTreeMap<Spot, Vec<Stm>> = BTreeMap::new();
    let mut values: BTreeMap<ReadId, Exp> = BTreeMap::new();
    let mut changed = Vec::new();
    let mut left = fuse.copies.values().map(Vec::len).sum::<usize>();
    for (user, copies) in &fuse.copies {
        changed.push(body.stms[*user].pat[0]);
        for copy in copies {
            left -= 1;
            let (stms, elements) =
                instance(region, &fuse.maker.axes, &fuse.maker.body, &copy.index, left == 0);
            let stms = place(region, copy, &results, stms, elements, &mut values);
            added.entry(Spot { way: copy.way.clone(), stm: copy.stm }).or_default().extend(stms);
        }
    }
    for user in fuse.copies.keys() {
        body.stms[*user].rhs.each_part_mut(&mut |part| match part {
            PartMut::Exp(exp) => set_reads(exp, &values),
            PartMut::Body(inner) => inner.visit_exps_mut(&mut |exp| set_reads(exp, &values)),
            PartMut::Use(_) | PartMut::Bind(_) => {}
        });
    }
    // Nothing is added in front of a statement of the body itself, so the number still holds.
    for user in fuse.copies.keys() {
        let mut number = 0;
        body.stms[*user].rhs.each_part_mut(&mut |part| {
            if let PartMut::Body(inner) = part {
                let way = vec![(*user, number)];
                *inner = rebuilt(std::mem::take(inner), &way, &added, &BTreeMap::new());
                number += 1;
            }
        });
    }
    body.stms.remove(at);
    remove_views(body, &fuse.views);
    changed
}

/// Statements of a copy, with a name for each element that is read; notes what the reads become.
fn place(
    region: &mut Region,
    copy: &Copy,
    results: &[VarId],
    mut stms: Vec<Stm>,
    elements: Vec<Exp>,
    values: &mut BTreeMap<ReadId, Exp>,
) -> Vec<Stm> {
    for (result, element) in results.iter().zip(elements) {
        let sites: Vec<_> = copy.sites.iter().filter(|site| site.of == *result).collect();
        let alone =
            matches!(sites.as_slice(), [site] if site.own && site.stm == copy.stm && site.rest.is_empty());
        // Expressions stay short.
        let alone = alone && size(&element) <= MOST_INLINE;
        let plain = matches!(element, Exp::Var(_) | Exp::Const(_));
        if sites.is_empty() {
            continue;
        }
        let name = if plain || alone {
            element
        } else {
            let ty = region.type_of_exp(&element);
            let name = region.name_of(*result).to_string();
            let var = region.fresh(&name, ty);
            stms.push(Stm { pat: vec![var], rhs: Rhs::Exps(vec![element]) });
            Exp::Var(var)
        };
        for site in sites {
            let value = match &name {
                Exp::Var(var) if !site.rest.is_empty() => {
                    let index = Index::Dims(site.rest.iter().cloned().map(DimIndex::At).collect());
                    Exp::Read(Read { id: site.read, array: *var, index })
                }
                other => other.clone(),
            };
            values.insert(site.read, value);
        }
    }
    stms
}

pub(super) fn set_reads(exp: &mut Exp, values: &BTreeMap<ReadId, Exp>) {
    if let Exp::Read(read) = exp
        && let Some(value) = values.get(&read.id)
    {
        *exp = value.clone();
        // The index of a read of a row is as it was.
        return;
    }
    exp.each_part_mut(&mut |part| set_reads(part, values));
}

/// The statements and results of a body for one index. `original`: with the body's own names.
fn instance(
    region: &mut Region,
    axes: &[Axis],
    body: &Body,
    index: &[Exp],
    original: bool,
) -> (Vec<Stm>, Vec<Exp>) {
    let mut stms = Vec::new();
    let mut names: BTreeMap<VarId, Exp> = BTreeMap::new();
    for (axis, at) in axes.iter().zip(index) {
        if matches!(at, Exp::Var(_) | Exp::Const(_)) {
            names.insert(axis.var, at.clone());
            continue;
        }
        let name = region.name_of(axis.var).to_string();
        let var = if original { axis.var } else { region.fresh(&name, Some(Type::scalar(ElemType::I64))) };
        names.insert(axis.var, Exp::Var(var));
        stms.push(Stm { pat: vec![var], rhs: Rhs::Exps(vec![at.clone()]) });
    }
    let mut copy = body.clone();
    let bound = copy.bound_vars();
    if !original {
        for var in &bound {
            let name = region.name_of(*var).to_string();
            let fresh = region.fresh(&name, region.vars[*var].ty.clone());
            names.insert(*var, Exp::Var(fresh));
        }
        copy.visit_exps_mut(&mut |exp| {
            exp.visit_mut(&mut |part| {
                if let Exp::Read(read) = part {
                    read.id = ReadId(region.reads);
                    region.reads += 1;
                }
            });
        });
    }
    for var in bound {
        let now = match names.get(&var) {
            Some(Exp::Var(now)) => *now,
            _ => var,
        };
        retype(region, now, &names);
    }
    rename(&mut copy, &names);
    stms.extend(copy.stms);
    (stms, copy.results)
}

/// Puts expressions in place of names in the type of a name.
pub(super) fn retype(region: &mut Region, var: VarId, names: &BTreeMap<VarId, Exp>) {
    let ty = region.vars[var].ty.take();
    region.vars[var].ty = ty.map(|ty| ty.substitute(&|var| names.get(&var).cloned()));
}

/// Puts expressions in place of names; names that are bound can only become names.
pub(super) fn rename(body: &mut Body, names: &BTreeMap<VarId, Exp>) {
    let name = |var: &mut VarId| {
        if let Some(Exp::Var(now)) = names.get(var) {
            *var = *now;
        }
    };
    let with = |var: VarId| names.get(&var).cloned();
    for stm in &mut body.stms {
        stm.pat.iter_mut().for_each(name);
        stm.rhs.each_part_mut(&mut |part| match part {
            PartMut::Exp(exp) => *exp = exp.substitute(&with),
            PartMut::Use(var) | PartMut::Bind(var) => name(var),
            PartMut::Body(inner) => rename(inner, names),
        });
    }
    body.results.iter_mut().for_each(|exp| *exp = exp.substitute(&with));
}

/// Removes the statements that only make these views.
fn remove_views(body: &mut Body, views: &BTreeSet<VarId>) {
    if views.is_empty() {
        return;
    }
    body.stms.retain(|stm| !stm.pat.iter().all(|var| views.contains(var)));
    for stm in &mut body.stms {
        stm.rhs.each_part_mut(&mut |part| {
            if let PartMut::Body(inner) = part {
                remove_views(inner, views);
            }
        });
    }
}
