//! The last step of a lift: statements that nobody needs vanish, expressions move to their only use, kernels inside others
//! are put into them, parameters and names are put in order.

use super::build::{Lift, Lifter, Role};
use super::{Binding, LiftRefusal, Lifted};
use galopvm_analysis::cells::with_cells_as_scalars;
use galopvm_analysis::fusion::fuse;
use galopvm_base::{ElemType, IdVec, ScalarOp, TypedId};
use galopvm_bytecode::RegId;
use galopvm_kir::algebra::{int, is_true, may_trap, size};
use galopvm_kir::walk::{Part, PartMut};
use galopvm_kir::{
    Axis, Body, Exp, Observed, ReadId, Region, Rhs, Stm, VarId, VerifiedRegion, VerifyError, verify,
};
use std::collections::BTreeSet;

/// Largest expression that one statement may grow to.
const LARGEST: usize = 32;

/// Element operations that may be computed again for each element of a row.
const CHEAP: usize = 16;

impl Lifter<'_> {
    /// The finished region, without the arrays inside it that need not be made.
    pub fn finish(self, name: String, results: Vec<Exp>) -> Lift<Lifted> {
        let (mut lifted, _) = self.finish_named(name, results)?;
        if !feeds_itself(&lifted.region.region().body) {
            return Ok(lifted);
        }
        let fused = fuse(&lifted.region, &Observed::default());
        // The kernel is for all sizes.
        if fused.is_for_sizes {
            return Ok(lifted);
        }
        let mut region = fused.region.region().clone();
        let mut body = std::mem::take(&mut region.body);
        // The numbers of reads are new ones: none is known to be safe.
        flatten(&mut body, &region.params, &BTreeSet::new(), &mut lifted.guards);
        region.body = body;
        Ok(Lifted { region: tidied(region)?, ..lifted })
    }

    /// The finished region, and what each of the lifter's names is called in it.
    pub fn finish_named(mut self, name: String, results: Vec<Exp>) -> Lift<(Lifted, IdVec<VarId, String>)> {
        let mut body = self.close(results);
        body.visit_exps_mut(&mut |exp| *exp = self.resolve(exp));
        let mut guards = self.settled_guards();
        let mut region = std::mem::take(&mut self.region);
        for var in region.vars.iter_mut() {
            if let Some(ty) = &mut var.ty {
                ty.shape.iter_mut().for_each(|e| *e = self.resolve(e));
            }
        }
        while drop_unused(&mut body, &region, &self.safe) {}
        flatten(&mut body, &region.params, &self.safe, &mut guards);
        forward(&mut body, &region);
        region.name = name;
        region.body = body;

        let mut used = vec![false; region.vars.len()];
        region.body.each_use(&mut |var| used[var.index()] = true);
        let shapes: Vec<Exp> = region
            .vars
            .iter_ids()
            .filter(|(id, _)| used[id.index()])
            .flat_map(|(_, v)| v.ty.iter().flat_map(|ty| ty.shape.iter().cloned()))
            .collect();
        // The launch checks shapes of the arrays it is given; an extent of another one is asked for by itself.
        let given = |array: RegId| {
            self.params.iter().any(|p| p.binding == Binding::Array(array) && used[p.var.index()])
        };
        for param in &self.params {
            if let Binding::Extent { array, .. } = param.binding
                && let Some(size) = self.merged.get(&param.var)
                && !given(array)
            {
                guards.push(Exp::Op(
                    ScalarOp::Eq,
                    ElemType::I64,
                    vec![Exp::Var(param.var), self.resolve(size)],
                ));
            }
        }
        shapes.iter().chain(&guards).for_each(|e| e.each_use(&mut |var| used[var.index()] = true));
        let mut params: Vec<_> = self.params.into_iter().filter(|p| used[p.var.index()]).collect();
        params.sort_by_key(|p| match self.known[p.var].role {
            Role::Size => 0,
            Role::Scalar => 1,
            _ => 2,
        });
        region.params = params.iter().map(|p| p.var).collect();
        let mut counts = [0; 3];
        for param in &region.params {
            let role = self.known[*param].role;
            let count = &mut counts[role as usize];
            region.vars[*param].name = param_name(role, *count).into();
            *count += 1;
        }
        name_locals(&mut region);
        // Renumbering gives parameters the first numbers.
        let number = |var: VarId| region.params.iter().position(|p| *p == var);
        let renumbered = |var| number(var).map(|k| Exp::Var(VarId::from_index(k)));
        let guards = guards.iter().map(|guard| guard.substitute(&renumbered)).collect();
        let bindings: Vec<Binding> = params.into_iter().map(|p| p.binding).collect();
        let names = region.vars.iter().map(|var| var.name.to_string()).collect();
        let region = verify(region.renumbered()).map_err(unsayable)?;
        Ok((Lifted { region, bindings, guards }, names))
    }
}

/// The region with expressions at their only use and names in order.
fn tidied(mut region: Region) -> Lift<VerifiedRegion> {
    let mut body = std::mem::take(&mut region.body);
    forward(&mut body, &region);
    region.body = body;
    let mut region = region.renumbered();
    name_locals(&mut region);
    verify(region).map_err(unsayable)
}

impl Lifted {
    /// Loops hand on as scalars what a turn reads where the turn before has written it.
    pub(super) fn with_cells(self) -> Lift<Lifted> {
        match with_cells_as_scalars(self.region.region()) {
            Some(region) => Ok(Lifted { region: tidied(region)?, ..self }),
            None => Ok(self),
        }
    }
}

fn unsayable(errors: Vec<VerifyError>) -> LiftRefusal {
    let first = errors.first().map_or_else(String::new, |e| e.to_string());
    LiftRefusal::new(format!("code that the kernel IR cannot say ({first})"))
}

/// The letter of this number, or a name with the number.
fn letter(letters: &[&str], more: &str, count: usize) -> String {
    letters.get(count).map_or_else(|| format!("{more}{count}"), |letter| letter.to_string())
}

/// The name of a parameter. Names cannot meet: each role has letters of its own, and so have the names of locals.
fn param_name(role: Role, count: usize) -> String {
    match role {
        Role::Size => letter(&["n", "m"], "n", count),
        Role::Array => letter(&["A", "B", "C", "D", "E", "F", "G", "H"], "A", count),
        Role::Scalar | Role::Local => format!("s{count}"),
    }
}

/// Names what a region defines itself, in order: axes, scalars, arrays.
fn name_locals(region: &mut Region) {
    let axes: BTreeSet<VarId> = region.axes().iter().map(|axis| axis.var).collect();
    let (mut counters, mut scalars, mut arrays) = (0.., 0.., 0..);
    for var in region.body.bound_vars() {
        let is_scalar = region.vars[var].ty.as_ref().is_none_or(|ty| ty.is_scalar());
        let name = match (axes.contains(&var), is_scalar) {
            (true, _) => counters.next().map(|count| letter(&["i", "j", "k", "l"], "k", count)),
            (_, true) => scalars.next().map(|count: usize| format!("x{count}")),
            (_, false) => arrays.next().map(|count: usize| format!("y{count}")),
        };
        region.vars[var].name = name.unwrap_or_default().into();
    }
}

/// Whether a statement inside another one reads what a kernel beside it makes.
fn feeds_itself(body: &Body) -> bool {
    let feeds = |body: &Body| {
        let mut made: BTreeSet<VarId> = BTreeSet::new();
        body.stms.iter().any(|stm| {
            let mut feeds = false;
            stm.rhs.each_use(&mut |var| feeds |= made.contains(&var));
            if matches!(stm.rhs, Rhs::Kernel { .. }) {
                made.extend(&stm.pat);
            }
            feeds
        })
    };
    let mut found = false;
    body.visit_stms(&mut |stm| {
        stm.rhs.each_part(&mut |part| {
            if let Part::Body(body) = part {
                found = found || feeds(body);
            }
        });
    });
    found
}

/// A kernel whose body is little more than another kernel becomes one kernel with it. Without elements nothing of the body
/// would be computed any more: if that may trap, launches are asked for elements.
fn flatten(body: &mut Body, params: &[VarId], safe: &BTreeSet<ReadId>, guards: &mut Vec<Exp>) {
    for stm in &mut body.stms {
        stm.rhs.each_part_mut(&mut |part| {
            if let PartMut::Body(body) = part {
                flatten(body, params, safe, guards);
            }
        });
        if let Rhs::Kernel { axes, body } = &mut stm.rhs
            && let Some(asked) = may_flatten(axes, body, params, safe)
            && let Some(Stm { rhs: Rhs::Kernel { axes: more, body: core }, .. }) = body.stms.pop()
        {
            axes.extend(more);
            body.stms.extend(core.stms);
            body.results = core.results;
            for guard in asked {
                if !guards.contains(&guard) {
                    guards.push(guard);
                }
            }
        }
    }
}

/// Whether the last statement of a kernel's body is a kernel that makes all of its results, and the rest may be computed for
/// each of its elements; gives what launches are to be asked then.
fn may_flatten(axes: &[Axis], body: &Body, params: &[VarId], safe: &BTreeSet<ReadId>) -> Option<Vec<Exp>> {
    let (last, before) = body.stms.split_last()?;
    let Rhs::Kernel { axes: more, .. } = &last.rhs else { return None };
    let is_all = last.pat.iter().map(|var| Exp::Var(*var)).eq(body.results.iter().cloned());
    let mut inside: BTreeSet<VarId> = before.iter().flat_map(|stm| stm.pat.iter().copied()).collect();
    inside.extend(axes.iter().map(|axis| axis.var));
    let (mut known_outside, mut known_at_entry) = (true, true);
    for axis in more {
        axis.bound.each_use(&mut |var| {
            known_outside &= !inside.contains(&var);
            known_at_entry &= params.contains(&var);
        });
    }
    if !is_all || !known_outside || !is_cheap(before) {
        return None;
    }
    if before.iter().all(|stm| is_harmless(&stm.rhs, safe)) {
        return Some(Vec::new());
    }
    let not_empty = more.iter().map(|axis| int(ScalarOp::Lt, Exp::int(0), axis.bound.clone()));
    known_at_entry.then(|| not_empty.filter(|guard| !is_true(guard)).collect())
}

/// True if computing the statements again for every element of a row costs little.
pub(super) fn is_cheap(stms: &[Stm]) -> bool {
    let mut parts = 0;
    let simple = stms.iter().all(|stm| match &stm.rhs {
        Rhs::Exps(exps) => {
            exps.iter().for_each(|e| e.visit(&mut |_| parts += 1));
            true
        }
        _ => false,
    });
    simple && parts <= 3 * CHEAP
}

/// How often each name is used, in bodies and in the shapes of names.
fn count_uses(body: &Body, region: &Region) -> Vec<u32> {
    let mut counts = vec![0u32; region.vars.len()];
    body.each_use(&mut |var| counts[var.index()] += 1);
    for var in region.vars.iter() {
        // A shape is written at each use of its name: what it needs must stay.
        for extent in var.ty.iter().flat_map(|ty| &ty.shape) {
            extent.each_use(&mut |var| counts[var.index()] += 2);
        }
    }
    counts
}

fn drop_unused(body: &mut Body, region: &Region, safe: &BTreeSet<ReadId>) -> bool {
    let counts = count_uses(body, region);
    let mut changed = false;
    drop_in(body, &mut changed, &|stm| {
        stm.pat.iter().all(|var| counts[var.index()] == 0) && is_harmless(&stm.rhs, safe)
    });
    changed
}

fn drop_in(body: &mut Body, changed: &mut bool, unused: &dyn Fn(&Stm) -> bool) {
    let before = body.stms.len();
    body.stms.retain(|stm| !unused(stm));
    *changed |= body.stms.len() != before;
    for stm in &mut body.stms {
        stm.rhs.each_part_mut(&mut |part| {
            if let PartMut::Body(body) = part {
                drop_in(body, changed, unused);
            }
        });
    }
}

/// True if leaving the statement out cannot be noticed: it ends, and it does not trap.
pub(super) fn is_harmless(rhs: &Rhs, safe: &BTreeSet<ReadId>) -> bool {
    let mut harmless = !matches!(rhs, Rhs::While { .. } | Rhs::Update { .. });
    rhs.each_part(&mut |part| match part {
        Part::Exp(exp) => exp.visit(&mut |part| harmless &= cannot_trap(part, safe)),
        Part::Body(body) => {
            harmless &= body.stms.iter().all(|stm| is_harmless(&stm.rhs, safe));
            body.results.iter().for_each(|exp| {
                exp.visit(&mut |part| harmless &= cannot_trap(part, safe));
            });
        }
        Part::Use(_) | Part::Bind(_) => {}
    });
    harmless
}

/// About an expression without its parts.
fn cannot_trap(exp: &Exp, safe: &BTreeSet<ReadId>) -> bool {
    match exp {
        Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => true,
        Exp::Read(read) => safe.contains(&read.id),
        Exp::Op(op, elem, args) => !may_trap(*op, *elem, args),
        Exp::Opaque(..) => false,
    }
}

/// Moves expressions to their only use, if that is in the same body: statements become formulas again.
pub(super) fn forward(body: &mut Body, region: &Region) {
    let counts = count_uses(body, region);
    forward_in(body, &counts, region);
}

fn forward_in(body: &mut Body, counts: &[u32], region: &Region) {
    let mut direct = BTreeSet::new();
    let mut look = |exp: &mut Exp| {
        exp.each_use(&mut |var| {
            direct.insert(var);
        })
    };
    body.stms.iter_mut().for_each(|stm| receivers(&mut stm.rhs, &mut look));
    body.results.iter_mut().for_each(&mut look);

    let mut pending: Vec<(VarId, Exp)> = Vec::new();
    let mut kept = Vec::new();
    for mut stm in std::mem::take(&mut body.stms) {
        receivers(&mut stm.rhs, &mut |exp| insert(exp, &mut pending));
        if matches!(stm.rhs, Rhs::While { .. }) {
            // Nothing that may trap moves behind a loop that may not end.
            kept.extend(
                pending.drain(..).map(|(var, exp)| Stm { pat: vec![var], rhs: Rhs::Exps(vec![exp]) }),
            );
        }
        stm.rhs.each_part_mut(&mut |part| {
            if let PartMut::Body(body) = part {
                forward_in(body, counts, region);
            }
        });
        match (&stm.pat[..], &mut stm.rhs) {
            ([var], Rhs::Exps(exps))
                if counts[var.index()] == 1
                    && direct.contains(var)
                    && exps.len() == 1
                    && size(&exps[0]) <= LARGEST
                    && !reads_local(&exps[0], region) =>
            {
                pending.push((*var, exps.swap_remove(0)));
            }
            _ => kept.push(stm),
        }
    }
    body.results.iter_mut().for_each(|exp| insert(exp, &mut pending));
    kept.extend(pending.into_iter().map(|(var, exp)| Stm { pat: vec![var], rhs: Rhs::Exps(vec![exp]) }));
    body.stms = kept;
}

/// The expressions of a statement that are evaluated once, where it stands, and may be of any form.
fn receivers(rhs: &mut Rhs, f: &mut dyn FnMut(&mut Exp)) {
    match rhs {
        Rhs::Exps(exps) => exps.iter_mut().for_each(f),
        Rhs::For { init, .. } | Rhs::While { init, .. } => init.iter_mut().for_each(f),
        Rhs::If { cond, .. } => f(cond),
        Rhs::Update { index, value, .. } => {
            index.each_exp_mut(f);
            f(value);
        }
        Rhs::Kernel { .. }
        | Rhs::Reduce { .. }
        | Rhs::Scan { .. }
        | Rhs::Scatter { .. }
        | Rhs::Manifest { .. }
        | Rhs::Array(_) => {}
    }
}

fn insert(exp: &mut Exp, pending: &mut Vec<(VarId, Exp)>) {
    if let Exp::Var(var) = exp {
        if let Some(at) = pending.iter().position(|(v, _)| v == var) {
            *exp = pending.remove(at).1;
        }
        return;
    }
    exp.each_part_mut(&mut |part| insert(part, pending));
}

fn reads_local(exp: &Exp, region: &Region) -> bool {
    let mut local = false;
    exp.visit(&mut |part| {
        if let Exp::Read(read) = part {
            local |= !region.params.contains(&read.array);
        }
    });
    local
}
