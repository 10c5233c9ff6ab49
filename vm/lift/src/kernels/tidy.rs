//! The last step of a lift: statements that nobody needs vanish, expressions move to their only use, parameters
//! and names are put in order.

use super::algebra::{constant, size};
use super::build::{Known, Lift, Lifter, Role};
use super::{Binding, LiftRefusal, Lifted};
use galopvm_base::{ElemType, IdVec, ScalarOp, TypedId};
use galopvm_bytecode::RegId;
use galopvm_kir::walk::Part;
use galopvm_kir::{Body, Exp, ReadId, Region, Rhs, Stm, VarId, verify};
use std::collections::BTreeSet;

/// Largest expression that one statement may grow to.
const LARGEST: usize = 32;

impl Lifter<'_> {
    /// The finished region.
    pub fn finish(self, name: String, results: Vec<Exp>) -> Lift<Lifted> {
        self.finish_named(name, results).map(|(lifted, _)| lifted)
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
        forward(&mut body, &region, &self.known);
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
        name_all(&mut region, &self.known);
        // Renumbering gives parameters the first numbers.
        let number = |var: VarId| region.params.iter().position(|p| *p == var);
        let renumbered = |var| number(var).map(|k| Exp::Var(VarId::from_index(k)));
        let guards = guards.iter().map(|guard| guard.substitute(&renumbered)).collect();
        let bindings: Vec<Binding> = params.into_iter().map(|p| p.binding).collect();
        let names = region.vars.iter().map(|var| var.name.to_string()).collect();
        match verify(region.renumbered()) {
            Ok(region) => Ok((Lifted { region, bindings, guards }, names)),
            Err(errors) => {
                let first = errors.first().map_or_else(String::new, |e| e.to_string());
                Err(LiftRefusal::new(format!("code that the kernel IR cannot say ({first})")))
            }
        }
    }
}

fn name_all(region: &mut Region, known: &IdVec<VarId, Known>) {
    let mut order = region.params.clone();
    order.extend(region.body.bound_vars());
    let mut counts = [0usize; 6];
    for var in order {
        let role = known[var].role;
        let count = &mut counts[role as usize];
        region.vars[var].name = spelled(role, *count).into();
        *count += 1;
    }
}

/// Names that cannot meet: each role has letters of its own.
fn spelled(role: Role, count: usize) -> String {
    let first = |letters: &[&str], more: &str| match letters.get(count) {
        Some(letter) => letter.to_string(),
        None => format!("{more}{count}"),
    };
    match role {
        Role::Size => first(&["n", "m"], "n"),
        Role::Scalar => format!("s{count}"),
        Role::Array => first(&["A", "B", "C", "D", "E", "F", "G", "H"], "A"),
        Role::Axis => first(&["i", "j", "k", "l"], "k"),
        Role::Local => format!("x{count}"),
        Role::LocalArray => format!("y{count}"),
    }
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
            if let galopvm_kir::walk::PartMut::Body(body) = part {
                drop_in(body, changed, unused);
            }
        });
    }
}

/// True if leaving the statement out cannot be noticed: it ends, and it does not trap.
fn is_harmless(rhs: &Rhs, safe: &BTreeSet<ReadId>) -> bool {
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
        Exp::Op(op, elem, args) => {
            !op.can_trap(*elem) || args.get(1).and_then(constant).is_some_and(|divisor| divisor != 0)
        }
        Exp::Opaque(..) => false,
    }
}

/// Moves expressions to their only use, if that is in the same body: statements become formulas again.
pub(super) fn forward(body: &mut Body, region: &Region, known: &IdVec<VarId, Known>) {
    let counts = count_uses(body, region);
    forward_in(body, &counts, known);
}

fn forward_in(body: &mut Body, counts: &[u32], known: &IdVec<VarId, Known>) {
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
            if let galopvm_kir::walk::PartMut::Body(body) = part {
                forward_in(body, counts, known);
            }
        });
        match (&stm.pat[..], &mut stm.rhs) {
            ([var], Rhs::Exps(exps))
                if counts[var.index()] == 1
                    && direct.contains(var)
                    && exps.len() == 1
                    && size(&exps[0]) <= LARGEST
                    && !reads_local(&exps[0], known) =>
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

fn reads_local(exp: &Exp, known: &IdVec<VarId, Known>) -> bool {
    let mut local = false;
    exp.visit(&mut |part| {
        if let Exp::Read(read) = part {
            local |= known[read.array].role == Role::LocalArray;
        }
    });
    local
}
