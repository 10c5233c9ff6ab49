//! The change that makes one statement of two over the same axes. The second takes the axes of the first; what it read
//! of the first's results it now has at hand.

use super::inline::{rename, retype, set_reads};
use super::judge::Join;
use galopvm_kir::{Body, Exp, ReadId, Region, Rhs, Stm, VarId};
use std::collections::BTreeMap;

/// Joins two statements of a body, in this order; gives the first name of the joined one. `region` has the names.
pub(super) fn join(region: &mut Region, body: &mut Body, first: usize, second: usize, join: &Join) -> VarId {
    let mut b = body.stms.remove(second);
    let mut a = body.stms.remove(first);
    let mut names: BTreeMap<VarId, Exp> = BTreeMap::new();
    for (old, new) in b.rhs.parallel_axes().iter().zip(a.rhs.parallel_axes()) {
        names.insert(old.var, Exp::Var(new.var));
    }
    b.bound_vars().into_iter().for_each(|var| retype(region, var, &names));
    if let (Some(mine), Some(theirs)) = (body_of(&mut a.rhs), body_of(&mut b.rhs)) {
        rename(theirs, &names);
        let mut values: BTreeMap<ReadId, Exp> = BTreeMap::new();
        for site in &join.sites {
            let Some(k) = a.pat.iter().position(|var| *var == site.of) else { continue };
            values.insert(site.read, named_result(region, mine, k, site.of));
        }
        theirs.visit_exps_mut(&mut |exp| set_reads(exp, &values));
        // What was only read here is no longer an array.
        let mut kept = a.pat.iter().map(|var| !join.unread.contains(var));
        mine.results.retain(|_| kept.next().unwrap_or(true));
        a.pat.retain(|var| !join.unread.contains(var));
        mine.stms.append(&mut theirs.stms);
        mine.results.append(&mut theirs.results);
    }
    if let (
        Rhs::Reduce { combine: x, .. } | Rhs::Scan { combine: x, .. },
        Rhs::Reduce { combine: y, .. } | Rhs::Scan { combine: y, .. },
    ) = (&mut a.rhs, &mut b.rhs)
    {
        x.acc.append(&mut y.acc);
        x.neutral.append(&mut y.neutral);
        x.item.append(&mut y.item);
        x.body.stms.append(&mut y.body.stms);
        x.body.results.append(&mut y.body.results);
    }
    a.pat.append(&mut b.pat);
    let name = a.pat[0];
    body.stms.insert(if join.late { second - 1 } else { first }, a);
    name
}

fn body_of(rhs: &mut Rhs) -> Option<&mut Body> {
    match rhs {
        Rhs::Kernel { body, .. } | Rhs::Reduce { body, .. } | Rhs::Scan { body, .. } => Some(body),
        _ => None,
    }
}

/// A result of a body as a name or a constant.
fn named_result(region: &mut Region, body: &mut Body, k: usize, result: VarId) -> Exp {
    if !matches!(body.results[k], Exp::Var(_) | Exp::Const(_)) {
        let ty = region.type_of_exp(&body.results[k]);
        let name = region.name_of(result).to_string();
        let var = region.fresh(&name, ty);
        let value = std::mem::replace(&mut body.results[k], Exp::Var(var));
        body.stms.push(Stm { pat: vec![var], rhs: Rhs::Exps(vec![value]) });
    }
    body.results[k].clone()
}
