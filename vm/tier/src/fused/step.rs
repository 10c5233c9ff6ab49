//! One statement of a fused region as a region of its own: with the scalars it needs in front of it, and what other
//! statements make as parameters.

use super::Step;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::RegId;
use galopvm_kir::{ArrayOp, Body, Exp, Region, Rhs, Stm, Type, VarId, verify};
use galopvm_lift::{Binding, Lifted, Sequence};
use std::collections::{BTreeSet, HashMap};

/// Statements that are kernels, or could be.
pub(super) fn is_operator(stm: &Stm) -> bool {
    matches!(stm.rhs, Rhs::Kernel { .. } | Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. })
}

/// A fused region and what its names were before.
pub(super) struct Parts<'a> {
    sequence: &'a Sequence,
    region: &'a Region,
    /// The statement of the region's own body that binds a name.
    binders: HashMap<VarId, usize>,
    /// Results whose dimensions change places behind the kernel, by the names that all others know them by.
    turned: HashMap<VarId, VarId>,
}

/// What a statement needs.
#[derive(Default)]
pub(super) struct Needs {
    /// Scalar statements, in order.
    pub lets: BTreeSet<usize>,
    /// Statements that are kernels.
    pub operators: BTreeSet<usize>,
    /// Parameters: of the region, and what operators make.
    params: BTreeSet<VarId>,
}

impl<'a> Parts<'a> {
    pub fn new(sequence: &'a Sequence, region: &'a Region) -> Parts<'a> {
        let stms = region.body.stms.iter().enumerate();
        let binders: HashMap<VarId, usize> =
            stms.flat_map(|(at, stm)| stm.pat.iter().map(move |var| (*var, at))).collect();
        let mut uses: HashMap<VarId, usize> = HashMap::new();
        region.body.each_use(&mut |var| *uses.entry(var).or_default() += 1);
        let is_made = |var: VarId| binders.get(&var).is_some_and(|at| is_operator(&region.body.stms[*at]));
        // A view that the program has is a value of its own beside the array, with a register of its own.
        let is_new = |var: VarId| !sequence.registers.contains_key(region.name_of(var));
        let turned = region.body.stms.iter().filter_map(|stm| match (&stm.rhs, stm.pat.as_slice()) {
            (Rhs::Array(ArrayOp::View { change, array: Exp::Var(array) }), [var]) => {
                let rank = region.vars[*array].ty.as_ref().map_or(0, Type::rank);
                let stands_for_it = is_made(*array) && is_new(*var) && uses.get(array) == Some(&1);
                change.permutation(rank).filter(|_| stands_for_it).map(|_| (*var, *array))
            }
            _ => None,
        });
        Parts { sequence, region, turned: turned.collect(), binders }
    }

    fn register(&self, var: VarId) -> Option<RegId> {
        let var = self.turned.get(&var).copied().unwrap_or(var);
        self.sequence.registers.get(self.region.name_of(var)).copied()
    }

    /// The operators in the code that a statement comes from.
    pub fn origins(&self, stm: &Stm) -> BTreeSet<usize> {
        let origin = |var: &VarId| self.sequence.origins.get(self.region.name_of(*var)).copied();
        stm.pat.iter().filter_map(origin).collect()
    }

    /// One of the operators in the code that a statement comes from.
    pub fn origin(&self, stm: &Stm) -> Option<usize> {
        self.origins(stm).pop_last()
    }

    /// The registers of what statements still make.
    pub fn made(&self) -> impl Iterator<Item = RegId> {
        let operators = self.region.body.stms.iter().filter(|stm| is_operator(stm));
        operators.flat_map(|stm| &stm.pat).filter_map(|var| self.register(*var))
    }

    /// What is there only because it may fail, or never end, by its number: nobody uses what it makes.
    pub fn unused(&self) -> impl Iterator<Item = (usize, &'a Stm)> {
        let mut used: BTreeSet<VarId> = BTreeSet::new();
        self.region.body.each_use(&mut |var| _ = used.insert(var));
        let stms = self.region.body.stms.iter().enumerate();
        stms.filter(move |(_, stm)| !is_operator(stm) && !stm.pat.iter().any(|var| used.contains(var)))
    }

    /// What a kernel of the region's own body needs.
    pub fn needs(&self, at: usize) -> Result<Needs, String> {
        let mut needs = Needs::default();
        let mut open: Vec<VarId> = Vec::new();
        self.used_by(&self.region.body.stms[at], &mut open);
        // A check is meant for what comes after it.
        for (number, stm) in self.unused().filter(|(number, stm)| *number < at && is_check(stm)) {
            needs.lets.insert(number);
            self.used_by(stm, &mut open);
        }
        let mut seen: BTreeSet<VarId> = BTreeSet::new();
        while let Some(var) = open.pop() {
            if !seen.insert(var) {
                continue;
            }
            match self.binders.get(&var) {
                None => {
                    // What is bound inside the statement is bound nowhere else, and no parameter.
                    if self.region.params.contains(&var) {
                        needs.params.insert(var);
                        self.in_shape(var, &mut open);
                    }
                }
                Some(number) => {
                    let made = self.turned.get(&var).and_then(|array| self.binders.get(array));
                    let number = made.unwrap_or(number);
                    let stm = &self.region.body.stms[*number];
                    if is_operator(stm) {
                        needs.operators.insert(*number);
                        needs.params.insert(var);
                        self.in_shape(var, &mut open);
                    } else if matches!(stm.rhs, Rhs::Exps(_))
                        && stm.pat.iter().all(|var| self.is_scalar(*var))
                    {
                        needs.lets.insert(*number);
                        self.used_by(stm, &mut open);
                    } else {
                        return Err("something that is no kernel lies in between".into());
                    }
                }
            }
        }
        needs.operators.remove(&at);
        Ok(needs)
    }

    fn is_scalar(&self, var: VarId) -> bool {
        self.region.vars[var].ty.as_ref().is_some_and(Type::is_scalar)
    }

    fn in_shape(&self, var: VarId, out: &mut Vec<VarId>) {
        let shape = self.region.vars[var].ty.as_ref().map_or(&[][..], |ty| &ty.shape);
        shape.iter().for_each(|extent| extent.each_use(&mut |var| out.push(var)));
    }

    /// The names that a statement uses, in the shapes of what it binds as well.
    fn used_by(&self, stm: &Stm, out: &mut Vec<VarId>) {
        out.extend(stm.free_vars());
        stm.bound_vars().into_iter().for_each(|var| self.in_shape(var, out));
        out.retain(|var| !stm.pat.contains(var));
    }

    /// Extents over parameters: scalars that are computed are written out.
    fn written_out(&self, exp: &Exp) -> Exp {
        exp.substitute(&|var| {
            let stm = &self.region.body.stms[*self.binders.get(&var)?];
            let Rhs::Exps(exps) = &stm.rhs else { return None };
            let at = stm.pat.iter().position(|bound| *bound == var)?;
            Some(self.written_out(&exps[at]))
        })
    }
}

/// A statement that traps unless a condition holds (`vm/lift/src/kernels/build.rs` makes them).
fn is_check(stm: &Stm) -> bool {
    let Rhs::Exps(exps) = &stm.rhs else { return false };
    let is_condition = |exp: &Exp| matches!(exp, Exp::Convert(ElemType::I64, _) | Exp::Const(_));
    matches!(exps.as_slice(), [Exp::Op(ScalarOp::Div, _, args)] if args[0] == Exp::int(1) && is_condition(&args[1]))
}

/// The region of one statement, with the scan that feeds it, if there is one.
pub(super) fn step(parts: &Parts<'_>, feed: Option<usize>, at: usize) -> Result<Step, String> {
    let mut needs = parts.needs(at)?;
    let Parts { region: fused, sequence, .. } = parts;
    let stm = &fused.body.stms[at];
    let mut others = Body { stms: fused.body.stms.clone(), results: fused.body.results.clone() };
    others.stms.remove(at);
    if let Some(feed) = feed {
        let Needs { lets, params, .. } = parts.needs(feed)?;
        needs.lets.extend(lets);
        needs.params.extend(params);
        needs.params.retain(|var| !fused.body.stms[feed].pat.contains(var));
    }
    let mut wanted = BTreeSet::new();
    others.each_use(&mut |var| _ = wanted.insert(var));
    let (mut results, mut registers) = (Vec::new(), Vec::new());
    let mut views = Vec::new();
    for var in &stm.pat {
        let view = parts.turned.iter().find(|(_, array)| *array == var).map(|(view, _)| *view);
        let given = view.unwrap_or(*var);
        if !wanted.contains(&given) {
            continue;
        }
        registers.push(parts.register(*var).ok_or("what another kernel reads has no register")?);
        results.push(given);
        views.extend(view.map(|view| fused.body.stms[parts.binders[&view]].clone()));
    }
    let mut params: Vec<VarId> = needs.params.into_iter().collect();
    params.sort_by_key(|var| !parts.is_scalar(*var));
    let mut bindings = Vec::new();
    for var in &params {
        let known = fused.params.iter().position(|param| param == var);
        bindings.push(match (known, parts.register(*var)) {
            (Some(at), _) => sequence.lifted.bindings[at],
            (None, Some(reg)) if parts.is_scalar(*var) => Binding::Scalar(reg),
            (None, Some(reg)) => Binding::Array(reg),
            (None, None) => return Err("what another kernel makes has no register".into()),
        });
    }
    let numbers = needs.lets.iter().copied().chain(feed).chain([at]);
    let mut stms: Vec<Stm> = numbers.map(|at| fused.body.stms[at].clone()).collect();
    stms.append(&mut views);
    let mut region = Region {
        name: format!("{}_{at}", fused.name),
        vars: fused.vars.clone(),
        body: Body { stms, results: results.into_iter().map(Exp::Var).collect() },
        params,
        reads: fused.reads,
    };
    for var in region.params.clone() {
        if let Some(ty) = &mut region.vars[var].ty {
            ty.shape.iter_mut().for_each(|extent| *extent = parts.written_out(extent));
        }
    }
    let region = verify(region.renumbered()).map_err(|errors| {
        errors.first().map_or_else(|| "a kernel that is not well-formed".to_string(), ToString::to_string)
    })?;
    let operator = parts.origin(stm).ok_or("a kernel that no operator stands for")?;
    let over = |k: usize| {
        let param = region.begins_as(k)?;
        let at = region.region().params.iter().position(|known| *known == param)?;
        match bindings[at] {
            Binding::Array(reg) => sequence.consumed.contains(&reg).then_some(reg),
            Binding::Scalar(_) | Binding::Extent { .. } => None,
        }
    };
    let over = (0..registers.len()).map(over).collect();
    let lifted = Lifted { region, bindings, guards: Vec::new() };
    Ok(Step { lifted, results: registers, over, operator })
}
