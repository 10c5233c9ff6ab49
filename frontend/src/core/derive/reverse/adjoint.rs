//! Adjoints: what the results move by when a variable does, summed up while the way back goes.
//!
//! A contribution to an element of an array is kept as an index and a value until the array's adjoint is asked for, or the
//! block ends: in a map the indices and values of all rows become arrays, and are added to the adjoint at once.

use super::super::super::ir::*;
use super::super::Derive;
use super::super::code::is_zero;
use galopvm_base::Scalar;

/// A contribution to elements, or rows, of an array.
#[derive(Clone, Debug)]
pub(in super::super) struct Part {
    /// An index for each of the array's first dimensions: numbers, or arrays of them.
    pub index: Vec<Atom>,
    /// What is added there: one value, or an array of them.
    pub value: Atom,
    /// The extents of the arrays of indices; none for one index.
    pub extents: Vec<Atom>,
    /// Whether indices may lie outside of the array; nothing is added there.
    pub may_miss: bool,
}

/// What is known of a variable's adjoint.
#[derive(Clone, Default, Debug)]
pub(in super::super) struct Adjoint {
    /// The sum of whole contributions.
    pub whole: Option<Atom>,
    /// Contributions to parts, which are not in that sum.
    pub parts: Vec<Part>,
}

impl Derive<'_> {
    /// Adds to the adjoint of an operand.
    pub(super) fn contribute(&mut self, to: Atom, value: Atom) {
        let Atom::Var(var) = to else { return };
        if !self.activity.var(var) || is_zero(value) {
            return;
        }
        let before = self.back.adjoints.get(&var).and_then(|adjoint| adjoint.whole);
        let sum = before.map_or(value, |before| self.fun.plus(before, value));
        self.back.adjoints.entry(var).or_default().whole = Some(sum);
    }

    /// Adds to the adjoint of elements of an array.
    pub(super) fn contribute_part(&mut self, to: Var, part: Part) {
        if !self.activity.var(to) || is_zero(part.value) {
            return;
        }
        let array = self.value(Atom::Var(to));
        if self.is_each_once(array, &part) {
            return self.contribute(Atom::Var(to), part.value);
        }
        self.back.adjoints.entry(to).or_default().parts.push(part);
    }

    /// Adds to an array what was added to single elements of one of its rows, so that no row is made of zeros and these. In a map
    /// rows are better: there is one to add for each of the map's rows.
    pub(super) fn pass_parts(&mut self, row: Var, array: Var, index: &[Atom]) {
        let is_single = |adjoint: &Adjoint| {
            adjoint.whole.is_none() && adjoint.parts.iter().all(|part| part.extents.is_empty())
        };
        if self.depth > 0 || !self.back.adjoints.get(&row).is_some_and(is_single) {
            return;
        }
        let parts = self.back.adjoints.remove(&row).map_or(Vec::new(), |adjoint| adjoint.parts);
        let first = self.all_values(index);
        for part in parts {
            let index = [first.as_slice(), &part.index].concat();
            self.contribute_part(array, Part { index, ..part });
        }
    }

    /// Takes the adjoint of a variable, if anything depends on it.
    pub(super) fn take(&mut self, var: Var) -> Option<Atom> {
        let adjoint = self.back.adjoints.remove(&var)?;
        self.sum_up(var, adjoint)
    }

    /// Takes the adjoint of a variable, which may be zeros.
    pub(super) fn take_or_zeros(&mut self, var: Var) -> Atom {
        match self.take(var) {
            Some(adjoint) => adjoint,
            None => self.zeros_for(var),
        }
    }

    /// Zeros as the adjoint of a variable.
    pub(super) fn zeros_for(&mut self, var: Var) -> Atom {
        let value = self.value(Atom::Var(var));
        self.fun.zeros_like(value)
    }

    /// An adjoint as one value.
    pub(super) fn sum_up(&mut self, var: Var, adjoint: Adjoint) -> Option<Atom> {
        if adjoint.parts.is_empty() {
            return adjoint.whole;
        }
        let mut whole = adjoint.whole.unwrap_or_else(|| self.zeros_for(var));
        for part in adjoint.parts {
            whole = self.add_part(whole, &part);
        }
        Some(whole)
    }

    /// An adjoint with a contribution to some of its elements.
    fn add_part(&mut self, whole: Atom, part: &Part) -> Atom {
        if !part.extents.is_empty() {
            return self.add_parts(whole, part);
        }
        if part.may_miss {
            let index: Vec<Atom> = part.index.iter().map(|at| self.fun.copies(Atom::i64(1), *at)).collect();
            let value = self.fun.copies(Atom::i64(1), part.value);
            return self.fun.add_at(whole, &index, value);
        }
        let before = self.fun.row_at(whole, &part.index);
        let sum = self.fun.plus(before, part.value);
        let dims: Vec<SliceDim> = part.index.iter().map(|at| SliceDim::At(*at)).collect();
        self.fun.with(whole, &dims, sum)
    }

    /// An adjoint with contributions to many of its elements.
    fn add_parts(&mut self, whole: Atom, part: &Part) -> Atom {
        if self.is_each_once(whole, part) {
            return self.fun.plus(whole, part.value);
        }
        let count = self.fun.count(&part.extents);
        let mut index = Vec::new();
        for at in &part.index {
            index.push(self.fun.reshaped(*at, &[count]));
        }
        let shape = self.fun.shape(part.value);
        let mut flat = vec![count];
        flat.extend_from_slice(shape.get(part.extents.len()..).unwrap_or(&[]));
        let value = self.fun.reshaped(part.value, &flat);
        self.fun.add_at(whole, &index, value)
    }

    /// Whether a contribution is to each element of an array, once and in order.
    fn is_each_once(&mut self, array: Atom, part: &Part) -> bool {
        match (&part.index[..], &part.extents[..]) {
            ([at], [count]) => self.fun.counters.contains(at) && self.fun.dim(array, 0) == *count,
            _ => false,
        }
    }

    /// The adjoint of a free variable at the end of a block that is executed for each row of something: what can leave the
    /// block in parts does so, the rest becomes a whole.
    pub(super) fn leave(&mut self, var: Var) -> Adjoint {
        let Some(mut adjoint) = self.back.adjoints.remove(&var) else { return Adjoint::default() };
        let (parts, inside): (Vec<Part>, Vec<Part>) =
            adjoint.parts.into_iter().partition(|part| part.extents.iter().all(|e| self.fun.is_outside(*e)));
        adjoint.parts = inside;
        let whole = self.sum_up(var, adjoint);
        Adjoint { whole, parts }
    }

    /// Adds what left a block.
    pub(super) fn arrive(&mut self, var: Var, adjoint: Adjoint) {
        adjoint.whole.iter().for_each(|whole| self.contribute(Atom::Var(var), *whole));
        adjoint.parts.into_iter().for_each(|part| self.contribute_part(var, part));
    }

    /// The active variables that blocks take from outside.
    pub(super) fn free(&self, blocks: &[&Block]) -> Vec<Var> {
        self.activity.free(blocks)
    }
}

impl Part {
    /// A contribution to the elements at one index.
    pub fn at(index: Vec<Atom>, value: Atom) -> Part {
        Part { index, value, extents: Vec::new(), may_miss: false }
    }

    /// The atoms it is made of.
    pub fn atoms(&self) -> Vec<Atom> {
        let mut atoms = self.index.clone();
        atoms.push(self.value);
        atoms
    }

    /// The same with other atoms.
    pub fn with_atoms(&self, atoms: &[Atom]) -> Part {
        let (index, value) = atoms.split_at(self.index.len());
        Part { index: index.to_vec(), value: value[0], ..self.clone() }
    }

    /// Indices at which nothing is.
    pub fn nowhere(&self) -> Vec<Atom> {
        vec![Atom::Const(Scalar::i64(-1)); self.index.len()]
    }
}
