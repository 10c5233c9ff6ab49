//! What varies between lanes: names whose values depend on the lane, followed through a body.
//!
//! An over-estimate is harmless (a uniform value is then kept once per lane); names are only ever added.

use super::Lower;
use super::access::View;
use galopvm_kir::{Body, Exp, Index, Rhs, VarId};
use std::collections::HashSet;

impl Lower<'_> {
    /// The names bound so far that vary.
    pub fn varying(&self) -> HashSet<VarId> {
        let scalars = self.scalars.iter().filter(|(_, v)| v.varies()).map(|(k, _)| *k);
        let is_across = |view: &View| view.made.is_some_and(|made| made.across);
        let views = self
            .views
            .iter()
            .filter(|(_, v)| is_across(v) || v.fixed.iter().any(|(i, _)| i.varies()))
            .map(|(k, _)| *k);
        // In the flat form the axes are not bound; what is read at them varies.
        let flat =
            self.flat.iter().filter(|_| self.lanes.is_some()).flat_map(|(axes, _)| axes.iter().copied());
        scalars.chain(views).chain(flat).collect()
    }

    /// True if an expression depends on a name that varies.
    pub fn spreads(&self, varying: &HashSet<VarId>, exp: &Exp) -> bool {
        let mut found = false;
        exp.visit(&mut |part| match part {
            Exp::Var(var) => found |= varying.contains(var),
            Exp::Read(read) => {
                found |= varying.contains(&read.array) || matches!(read.index, Index::Lmad { .. })
            }
            _ => {}
        });
        found
    }

    /// Adds the names of a body that vary.
    pub fn spread_body(&self, varying: &mut HashSet<VarId>, body: &Body) {
        for stm in &body.stms {
            match &stm.rhs {
                Rhs::Exps(exps) => {
                    for (var, exp) in stm.pat.iter().zip(exps) {
                        if self.spreads(varying, exp) {
                            varying.insert(*var);
                        }
                    }
                }
                Rhs::If { cond, then, otherwise } => {
                    self.spread_body(varying, then);
                    self.spread_body(varying, otherwise);
                    let all = self.spreads(varying, cond);
                    for (k, var) in stm.pat.iter().enumerate() {
                        let sides = [&then.results[k], &otherwise.results[k]];
                        if all || sides.iter().any(|e| self.spreads(varying, e)) {
                            varying.insert(*var);
                        }
                    }
                }
                Rhs::For { carried, init, axis, body } => {
                    self.spread_loop(varying, carried, init, &axis.bound, body, &stm.pat);
                }
                Rhs::While { carried, init, cond, body } => {
                    self.spread_loop(varying, carried, init, cond, body, &stm.pat);
                }
                Rhs::Reduce { axes, body, combine } => {
                    self.spread_body(varying, body);
                    let any = body.results.iter().chain(&combine.neutral).any(|e| self.spreads(varying, e))
                        || axes.iter().any(|a| self.spreads(varying, &a.bound));
                    if any {
                        varying.extend(stm.pat.iter().chain(&combine.acc).chain(&combine.item));
                    }
                }
                _ => varying.extend(&stm.pat),
            }
        }
    }

    /// Whether a body makes arrays whose extents may differ between the lanes of an axis: then its rows come one by one.
    pub fn makes_uneven(&self, body: &Body, lane: VarId) -> bool {
        let mut varying = self.varying();
        varying.insert(lane);
        let mut known = 0;
        while known < varying.len() {
            known = varying.len();
            body.visit_stms(&mut |stm| {
                if stm.free_vars().iter().any(|var| varying.contains(var)) {
                    varying.extend(&stm.pat);
                    match &stm.rhs {
                        Rhs::For { carried, .. } | Rhs::While { carried, .. } => varying.extend(carried),
                        Rhs::Reduce { combine, .. } | Rhs::Scan { combine, .. } => {
                            varying.extend(combine.acc.iter().chain(&combine.item));
                        }
                        _ => {}
                    }
                }
            });
        }
        let mut is_uneven = false;
        body.visit_stms(&mut |stm| {
            let extents = stm.pat.iter().flat_map(|var| &self.region.type_of(*var).shape);
            is_uneven |= extents.into_iter().any(|extent| self.spreads(&varying, extent));
        });
        is_uneven
    }

    fn spread_loop(
        &self,
        varying: &mut HashSet<VarId>,
        carried: &[VarId],
        init: &[Exp],
        rule: &Exp,
        body: &Body,
        pat: &[VarId],
    ) {
        loop {
            let before = varying.len();
            self.spread_body(varying, body);
            let all = self.spreads(varying, rule);
            for (k, var) in carried.iter().enumerate() {
                if all || self.spreads(varying, &init[k]) || self.spreads(varying, &body.results[k]) {
                    varying.insert(*var);
                    varying.extend(pat.get(k));
                }
            }
            if varying.len() == before {
                return;
            }
        }
    }
}
