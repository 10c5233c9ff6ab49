//! Which loops have their turns computed in lanes.
//!
//! Where turns hand on no more than prefixes of a number (`galopvm_kir::turns`), and what they read and write are neighbours or
//! the same. That depends on the classes of strides alone, as code does.

use super::Facts;
use crate::layout::Class;
use galopvm_kir::linear::{Definitions, Linear};
use galopvm_kir::turns::Turns;
use galopvm_kir::{Axis, Body, Decision, DimIndex, Index, Plan, Read, Rhs, VarId};

impl Facts<'_> {
    /// Loops outside of operators, at any depth of each other.
    pub(super) fn choose_turns(&self, plan: &mut Plan) {
        if self.machine.vectors.lanes == 1 {
            return;
        }
        let body = &self.region.region().body;
        self.turns_in(body, &Definitions::of(body), plan);
    }

    fn turns_in(&self, body: &Body, definitions: &Definitions<'_>, plan: &mut Plan) {
        for stm in &body.stms {
            match &stm.rhs {
                Rhs::For { carried, axis, body, .. } => {
                    self.turns_in(body, definitions, plan);
                    self.turns_of(carried, axis, body, definitions, plan);
                }
                Rhs::While { body, .. } => self.turns_in(body, definitions, plan),
                Rhs::If { then, otherwise, .. } => {
                    self.turns_in(then, definitions, plan);
                    self.turns_in(otherwise, definitions, plan);
                }
                Rhs::Exps(_)
                | Rhs::Kernel { .. }
                | Rhs::Reduce { .. }
                | Rhs::Scan { .. }
                | Rhs::Scatter { .. }
                | Rhs::Update { .. }
                | Rhs::Manifest { .. }
                | Rhs::Array(_) => {}
            }
        }
    }

    fn turns_of(
        &self,
        carried: &[VarId],
        axis: &Axis,
        body: &Body,
        definitions: &Definitions<'_>,
        plan: &mut Plan,
    ) {
        let region = self.region.region();
        let Ok(turns) = Turns::of(region, (carried, axis.var, body), definitions) else { return };
        let mut are_neighbours = turns.are_neighbours;
        let inside = body.bound_vars();
        body.visit_reads(&mut |read| {
            are_neighbours &= self.is_neighbour(read, (axis.var, &inside), definitions)
        });
        if !are_neighbours {
            return;
        }
        let reason = match &turns.handed {
            Some(handed) => {
                let name = region.name_of(carried[handed.position]);
                format!("turns hand on prefixes of one number, {name}, and read and write neighbours")
            }
            None => "turns hand on nothing, and read and write neighbours".into(),
        };
        plan.decide(Decision::Groups(axis.var, 1), reason);
    }

    /// Whether turns read neighbours or the same place.
    fn is_neighbour(
        &self,
        read: &Read,
        (counter, inside): (VarId, &[VarId]),
        definitions: &Definitions<'_>,
    ) -> bool {
        if self.region.region().params.contains(&read.array) {
            return matches!(self.class(read.id, counter), Class::Unit | Class::Broadcast);
        }
        // An array of the loop lies in rows.
        let Index::Dims(entries) = &read.index else { return false };
        let step = |entry: &DimIndex| match entry {
            DimIndex::At(exp) => Linear::of(exp, definitions)
                .filter(|sum| sum.names().all(|name| !inside.contains(&name)))
                .map(|sum| sum.coefficient(counter)),
            DimIndex::Slice { .. } => None,
        };
        let steps: Option<Vec<i64>> = entries.iter().map(step).collect();
        steps.is_some_and(|steps| match steps.split_last() {
            Some((last, others)) => others.iter().all(|step| *step == 0) && (0..=1).contains(last),
            None => false,
        })
    }
}
