//! Forward mode: beside every active variable stands its tangent, which has its type.
//!
//! An operator over rows goes over rows of tangents as well; what it combines are pairs of a value and its tangent.

use super::super::ir::*;
use super::code::{arrays_of, zero};
use super::scalar::{Point, depends};
use super::{Derive, Derived, activity};
use galopvm_base::TypedId;
use galopvm_bytecode::{ValueType, not_on_arrays};

impl Derive<'_> {
    /// The values and the tangents of a block's results, where its active parameters move by these.
    pub fn forward(mut self, block: &Block, tangents: &[Atom]) -> Derived<(Vec<Atom>, Vec<Atom>)> {
        for (param, tangent) in block.params.iter().zip(tangents) {
            if self.activity.var(*param) {
                self.tangents.insert(*param, *tangent);
            }
        }
        self.forward_stms(&block.stms)?;
        let values = self.all_values(&block.results);
        let moved = block.results.iter().map(|result| self.tangent(*result)).collect();
        Ok((values, moved))
    }

    fn forward_stms(&mut self, stms: &[Stm]) -> Derived<()> {
        stms.iter().try_for_each(|stm| self.forward_stm(stm))
    }

    /// The tangent of an operand: zeros if it is constant.
    fn tangent(&mut self, atom: Atom) -> Atom {
        if let Atom::Var(var) = atom
            && self.activity.var(var)
            && let Some(tangent) = self.tangents.get(&var)
        {
            return *tangent;
        }
        let value = self.value(atom);
        self.fun.zeros_like(value)
    }

    fn tangent_array(&mut self, var: Var) -> Var {
        self.tangent(Atom::Var(var)).var().unwrap_or(var)
    }

    fn forward_stm(&mut self, stm: &Stm) -> Derived<()> {
        if let Some(branch) = self.branch(&stm.op) {
            self.forward_stms(&branch.stms)?;
            for (def, result) in stm.defs.iter().zip(&branch.results) {
                self.follow(*def, *result);
            }
            return Ok(());
        }
        if !stm.defs.iter().any(|def| self.activity.var(*def)) {
            self.copy_stm(stm);
            return Ok(());
        }
        if self.forward_pairs(stm)? {
            return Ok(());
        }
        self.copy_stm(stm);
        let tangent = self.tangent_of(stm)?;
        self.tangents.extend(stm.defs.first().map(|def| (*def, tangent)));
        Ok(())
    }

    /// A variable that stands for another atom.
    fn follow(&mut self, var: Var, atom: Atom) {
        let value = self.value(atom);
        self.values.insert(var, value);
        if self.activity.var(var) {
            let tangent = self.tangent(atom);
            self.tangents.insert(var, tangent);
        }
    }

    /// The tangent of a statement with one result, which was executed.
    fn tangent_of(&mut self, stm: &Stm) -> Derived<Atom> {
        self.stand_at(stm);
        let Some(def) = stm.defs.first().copied() else { return self.refuse(stm, "this") };
        if let Some((op, ty, args)) = stm.op.as_scalar() {
            let (values, value) = (self.all_values(&args), self.value(Atom::Var(def)));
            let at = Point { op, ty, args: &values, value };
            let to = op.result_type(ty);
            let mut sum = None;
            for (k, arg) in args.iter().enumerate().filter(|(k, _)| depends(op, ty, *k)) {
                if !self.activity.atom(*arg) {
                    continue;
                }
                let partial = self.fun.partial(&at, k);
                let tangent = self.tangent(*arg);
                let part = self.fun.through(partial, (ty, to), tangent);
                sum = Some(sum.map_or(part, |sum| self.fun.plus(sum, part)));
            }
            return Ok(sum.unwrap_or(zero(to)));
        }
        if let Op::Convert { from, to, a } = stm.op {
            let tangent = self.tangent(a);
            return Ok(self.fun.convert(from, to, tangent));
        }
        let mut op = stm.op.clone();
        op.atoms_mut(&mut |atom| *atom = self.value(*atom));
        self.linear(&stm.op, &mut op);
        let ty = self.fun.vars[def];
        let known = self.fun.known_shape(self.value(Atom::Var(def)));
        let tangent = match op {
            Op::Call { .. } => return self.refuse(stm, "a function that calls itself"),
            Op::Map { .. } | Op::Redomap { .. } => return self.refuse(stm, "this operator"),
            op => {
                let made = self.fun.vars.len();
                let tangent = self.fun.emit(op, ty);
                // The value was made of arrays of the same extents at the same indices.
                self.fun.sure.extend(tangent.var().filter(|var| var.index() >= made));
                tangent
            }
        };
        for (d, extent) in known.iter().enumerate() {
            extent.iter().for_each(|extent| self.fun.know(tangent, d as u32, *extent));
        }
        Ok(tangent)
    }

    /// Puts tangents where an operation on arrays has what its result depends on linearly. Without them the result would be that of the
    /// values: so each instruction has its arm.
    fn linear(&mut self, from: &Op, to: &mut Op) {
        match from {
            Op::Index { array, .. }
            | Op::Slice { array, .. }
            | Op::Permute { array, .. }
            | Op::Reverse { array, .. }
            | Op::Reshape { array, .. }
            | Op::Copy { array }
            | Op::Manifest { array }
            | Op::Rotate { array, .. }
            | Op::FlatIndex { array, .. } => {
                let tangent = self.tangent_array(*array);
                if let Op::Index { array, .. }
                | Op::Slice { array, .. }
                | Op::Permute { array, .. }
                | Op::Reverse { array, .. }
                | Op::Reshape { array, .. }
                | Op::Copy { array }
                | Op::Manifest { array }
                | Op::Rotate { array, .. }
                | Op::FlatIndex { array, .. } = to
                {
                    *array = tangent;
                }
            }
            Op::Update { array: old, value: other, .. } => {
                if let Op::Update { array, value, .. } = to {
                    (*array, *value) = (self.tangent_array(*old), self.tangent(*other));
                }
            }
            Op::FlatUpdate { array: old, value: other, .. } => {
                if let Op::FlatUpdate { array, value, .. } = to {
                    (*array, *value) = (self.tangent_array(*old), self.tangent_array(*other));
                }
            }
            Op::Concat { arrays: old, .. } => {
                if let Op::Concat { arrays, .. } = to {
                    *arrays = old.iter().map(|array| self.tangent_array(*array)).collect();
                }
            }
            Op::Replicate { value: old, .. } => {
                if let Op::Replicate { value, .. } = to {
                    *value = self.tangent(*old);
                }
            }
            Op::Array { rows: old, .. } => {
                if let Op::Array { rows, .. } = to {
                    *rows = old.iter().map(|row| self.tangent(*row)).collect();
                }
            }
            Op::Iota { start: one, step: two, .. } => {
                if let Op::Iota { start, step, .. } = to {
                    (*start, *step) = (self.tangent(*one), self.tangent(*two));
                }
            }
            // What has no derivative, or is not an instruction on arrays.
            Op::Dim { .. } | Op::Equal { .. } | not_on_arrays!(Op) => {}
        }
    }

    /// A statement with blocks, or several results, of which the active ones get tangents beside them; false if it is none.
    fn forward_pairs(&mut self, stm: &Stm) -> Derived<bool> {
        self.stand_at(stm);
        let wanted: Vec<bool> = stm.defs.iter().map(|def| self.activity.var(*def)).collect();
        if let Op::Map { width, arrays, body } = &stm.op {
            self.forward_map(stm, (*width, arrays, body), &wanted)?;
            return Ok(true);
        }
        let op = match &stm.op {
            Op::If { cond, then, otherwise } => Op::If {
                cond: self.value(*cond),
                then: self.dual(then, 0, &wanted, false)?,
                otherwise: self.dual(otherwise, 0, &wanted, false)?,
            },
            Op::For { bound, init, body } => {
                let (bound, init) = (self.value(*bound), self.with_tangents(init, &wanted));
                self.begin_dual(body, 0, true);
                let counter = self.fun.params().first().copied();
                counter.into_iter().for_each(|counter| self.fun.number_below(counter, bound));
                let results = self.dual_results(body, &wanted)?;
                Op::For { bound, init, body: self.fun.end(results) }
            }
            Op::While { init, cond, body } => {
                let init = self.with_tangents(init, &wanted);
                Op::While {
                    init,
                    cond: self.dual(cond, 0, &[false], true)?,
                    body: self.dual(body, 0, &wanted, true)?,
                }
            }
            Op::Reduce { width, neutral, arrays, body } => Op::Reduce {
                width: self.value(*width),
                neutral: self.with_tangents(neutral, &wanted),
                arrays: self.array_pairs(arrays, &wanted),
                body: self.dual(body, neutral.len(), &wanted, true)?,
            },
            Op::Scan { width, neutral, arrays, body } => Op::Scan {
                width: self.value(*width),
                neutral: self.with_tangents(neutral, &wanted),
                arrays: self.array_pairs(arrays, &wanted),
                body: self.dual(body, neutral.len(), &wanted, true)?,
            },
            Op::Scatter { width, dests, index, values } => Op::Scatter {
                width: self.value(*width),
                dests: self.array_pairs(dests, &wanted),
                index: self.arrays(index),
                values: self.array_pairs(values, &wanted),
            },
            Op::Hist { width, dests, neutral, index, values, op } => Op::Hist {
                width: self.value(*width),
                dests: self.array_pairs(dests, &wanted),
                neutral: self.with_tangents(neutral, &wanted),
                index: self.arrays(index),
                values: self.array_pairs(values, &wanted),
                op: self.dual(op, dests.len(), &wanted, true)?,
            },
            Op::Filter { width, arrays, body } => Op::Filter {
                width: self.value(*width),
                arrays: self.active_arrays(arrays),
                body: self.dual(body, 0, &[false], true)?,
            },
            Op::Partition { classes, width, arrays, body } => Op::Partition {
                classes: *classes,
                width: self.value(*width),
                arrays: self.active_arrays(arrays),
                body: self.dual(body, 0, &[false], true)?,
            },
            Op::Stream { width, accs, arrays, body } => Op::Stream {
                width: self.value(*width),
                accs: self.array_pairs(accs, &wanted),
                arrays: self.active_arrays(arrays),
                body: self.dual(body, accs.len(), &wanted, true)?,
            },
            Op::AccWrite { accs, index, values, op } => Op::AccWrite {
                accs: self.array_pairs(accs, &wanted),
                index: self.all_values(index),
                values: self.with_tangents(values, &wanted),
                op: self.dual(op, accs.len(), &wanted, true)?,
            },
            _ => return Ok(false),
        };
        self.stand_at(stm);
        self.emit_pairs(stm, op, &wanted);
        Ok(true)
    }

    /// A map with tangents, whose rows have the extents that those of its arrays have.
    fn forward_map(
        &mut self,
        stm: &Stm,
        (width, arrays, body): (Atom, &[Var], &Block),
        wanted: &[bool],
    ) -> Derived<()> {
        let (width, arrays) = (self.value(width), self.active_arrays(arrays));
        let shapes: Vec<Vec<Option<Atom>>> =
            arrays.iter().map(|array| self.fun.known_shape(Atom::Var(*array))).collect();
        self.begin_dual(body, 0, true);
        for ((param, array), shape) in self.fun.params().into_iter().zip(&arrays).zip(&shapes) {
            self.know_row(param, *array, shape, width);
        }
        let results = self.dual_results(body, wanted)?;
        let shapes: Vec<Vec<Option<Atom>>> = results.iter().map(|a| self.fun.known_shape(*a)).collect();
        let body = self.fun.end(results);
        self.stand_at(stm);
        let atoms = self.emit_pairs(stm, Op::Map { width, arrays, body }, wanted);
        self.know_rows(&atoms, width, shapes);
        Ok(())
    }

    /// Emits a statement with tangents of the active results behind all results.
    fn emit_pairs(&mut self, stm: &Stm, op: Op, wanted: &[bool]) -> Vec<Atom> {
        let mut types = self.types(&stm.defs);
        let active: Vec<Var> = chosen(&stm.defs, wanted);
        types.extend(self.types(&active));
        let atoms = self.fun.emit_all(op, &types);
        let (values, tangents) = atoms.split_at(stm.defs.len());
        self.bind(&stm.defs, values);
        self.tangents.extend(active.into_iter().zip(tangents.iter().copied()));
        atoms
    }

    /// Operands, then the tangents of those that are wanted.
    fn with_tangents(&mut self, atoms: &[Atom], wanted: &[bool]) -> Vec<Atom> {
        let mut all = self.all_values(atoms);
        for atom in chosen(atoms, wanted) {
            let tangent = self.tangent(atom);
            all.push(tangent);
        }
        all
    }

    fn array_pairs(&mut self, arrays: &[Var], wanted: &[bool]) -> Vec<Var> {
        arrays_of(&self.with_tangents(&activity::vars(arrays), wanted))
    }

    /// Arrays, then the tangents of the active ones.
    fn active_arrays(&mut self, arrays: &[Var]) -> Vec<Var> {
        let wanted: Vec<bool> = arrays.iter().map(|array| self.activity.var(*array)).collect();
        self.array_pairs(arrays, &wanted)
    }

    /// A block with tangents: behind its first parameters, which are a group of their own, come the tangents of the active
    /// ones among them, behind the others those of the others; behind its results the tangents that are wanted.
    fn dual(&mut self, block: &Block, first: usize, wanted: &[bool], repeated: bool) -> Derived<Block> {
        self.begin_dual(block, first, repeated);
        let results = self.dual_results(block, wanted)?;
        Ok(self.fun.end(results))
    }

    fn dual_results(&mut self, block: &Block, wanted: &[bool]) -> Derived<Vec<Atom>> {
        self.forward_stms(&block.stms)?;
        Ok(self.with_tangents(&block.results, wanted))
    }

    /// Opens a block with tangents.
    fn begin_dual(&mut self, block: &Block, first: usize, repeated: bool) {
        let (one, two) = block.params.split_at(first);
        let mut types: Vec<ValueType> = Vec::new();
        let mut order: Vec<(Var, bool)> = Vec::new();
        for group in [one, two] {
            let active: Vec<Var> = group.iter().copied().filter(|p| self.activity.var(*p)).collect();
            types.extend(self.types(group));
            types.extend(self.types(&active));
            order.extend(group.iter().map(|p| (*p, false)));
            order.extend(active.iter().map(|p| (*p, true)));
        }
        let params = if repeated { self.fun.begin_repeated(&types) } else { self.fun.begin(&types) };
        for ((var, is_tangent), atom) in order.into_iter().zip(params) {
            if is_tangent {
                self.tangents.insert(var, atom);
            } else {
                self.values.insert(var, atom);
            }
        }
    }
}

/// The items that are wanted.
fn chosen<T: Copy>(items: &[T], wanted: &[bool]) -> Vec<T> {
    items.iter().zip(wanted).filter(|(_, wanted)| **wanted).map(|(item, _)| *item).collect()
}
