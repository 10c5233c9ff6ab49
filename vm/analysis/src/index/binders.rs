//! Which statement binds a name.

use galopvm_base::TypedId;
use galopvm_kir::{Body, Exp, Region, Rhs, VarId};

/// The statements that bind the names of a region.
pub struct Binders<'a> {
    /// By variable: the right side and the number of the result; nothing for parameters, iteration variables, and what loops
    /// and operators bind.
    by_name: Vec<Option<(&'a Rhs, usize)>>,
}

impl<'a> Binders<'a> {
    /// Looks at every statement.
    pub fn new(region: &'a Region) -> Binders<'a> {
        let mut binders = Binders { by_name: vec![None; region.vars.len()] };
        binders.note(&region.body);
        binders
    }

    fn note(&mut self, body: &'a Body) {
        for stm in &body.stms {
            for (k, var) in stm.pat.iter().enumerate() {
                if let Some(slot) = self.by_name.get_mut(var.index()) {
                    *slot = Some((&stm.rhs, k));
                }
            }
            match &stm.rhs {
                Rhs::Kernel { body, .. } | Rhs::For { body, .. } | Rhs::While { body, .. } => self.note(body),
                Rhs::Reduce { body, combine, .. } | Rhs::Scan { body, combine, .. } => {
                    self.note(body);
                    self.note(&combine.body);
                }
                Rhs::Scatter { body, combine, .. } => {
                    self.note(body);
                    combine.iter().for_each(|combine| self.note(&combine.body));
                }
                Rhs::If { then, otherwise, .. } => {
                    self.note(then);
                    self.note(otherwise);
                }
                Rhs::Exps(_) | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array(_) => {}
            }
        }
    }

    /// The right side that binds a name, and the number of the result that it is a name for.
    pub fn of(&self, name: VarId) -> Option<(&'a Rhs, usize)> {
        self.by_name.get(name.index()).copied().flatten()
    }

    /// The expression that a name stands for.
    pub fn definition(&self, name: VarId) -> Option<&'a Exp> {
        let (Rhs::Exps(exps), k) = self.of(name)? else { return None };
        exps.get(k)
    }
}
