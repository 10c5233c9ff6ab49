//! Derivatives: a block of core becomes one that also gives tangents (forward mode) or takes adjoints back to its
//! parameters (reverse mode).
//!
//! - `activity.rs`: which variables depend on the parameters.
//! - `scalar.rs`: the derivative of each scalar operation.
//! - `forward.rs`: every active variable gets a tangent beside it.
//! - `reverse/`: statements are executed, and then gone through backwards with an adjoint for every active variable.
//! - `code.rs`: what both modes emit.
//!
//! Invariants:
//! - The block is executed again, with fresh variables, where the derivative is asked for: what is emitted is ordinary
//!   core, which can be derived once more.
//! - Values are never overwritten: an update in core gives another variable, and only the run decides to do it in place.
//!   So whatever the way back needs is a variable, or kept by the loop that made it.
//! - What has no derivative is refused, never taken as zero by silence.

mod activity;
mod code;
mod forward;
mod reverse;
mod scalar;

use super::emit::FunState;
use super::ir::*;
use activity::Activity;
use galopvm_base::{Diagnostic, Span};
use galopvm_bytecode::{ValueType, not_on_arrays};
use reverse::Return;
use std::collections::HashMap;

/// What a derivation gives, or why there is none.
pub(super) type Derived<T> = Result<T, Box<Diagnostic>>;

/// A block being derived.
pub(super) struct Derive<'f> {
    fun: &'f mut FunState,
    /// Where the derivative is asked for.
    place: Span,
    activity: Activity,
    /// What stands for the block's variables.
    values: HashMap<Var, Atom>,
    /// Tangents of active variables.
    tangents: HashMap<Var, Atom>,
    /// What the way back knows.
    back: Return,
    /// Statements are executed a second time: they do not fail, and show nothing.
    again: bool,
    /// How many maps the way back is in.
    depth: u32,
}

impl<'f> Derive<'f> {
    /// The derivation of a block at these arguments; some of them are constant.
    pub fn new(fun: &'f mut FunState, place: Span, block: &Block, args: &[Atom], active: &[bool]) -> Self {
        let mut activity = Activity::default();
        for (param, active) in block.params.iter().zip(active) {
            if *active {
                activity.mark(*param);
            }
        }
        activity.block(block);
        let values = block.params.iter().copied().zip(args.iter().copied()).collect();
        let (tangents, back) = (HashMap::new(), Return::default());
        Derive { fun, place, activity, values, tangents, back, again: false, depth: 0 }
    }

    /// The same where the block has been executed before.
    pub fn again(mut self) -> Self {
        self.again = true;
        self
    }

    /// The values of a block's results.
    pub fn values(mut self, block: &Block) -> Vec<Atom> {
        self.copy_stms(&block.stms);
        self.all_values(&block.results)
    }

    /// A message about something that has no derivative.
    fn refuse<T>(&self, stm: &Stm, what: &str) -> Derived<T> {
        let mut diagnostic = Diagnostic::error(self.place, format!("{what} has no derivative here"));
        if let Some(span) = stm.origin.span
            && span != self.place
        {
            diagnostic = diagnostic.with_place(span, "this depends on what is derived by");
        }
        let hint = "a function can bring a derivative of its own: `with_vjp`, for `vjp`";
        Err(Box::new(diagnostic.with_hint(hint)))
    }

    /// What stands for an operand.
    fn value(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.values.get(&var).copied().unwrap_or(atom),
            Atom::Const(_) => atom,
        }
    }

    fn all_values(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|a| self.value(*a)).collect()
    }

    /// The array that stands for one.
    fn array(&self, var: Var) -> Var {
        self.value(Atom::Var(var)).var().unwrap_or(var)
    }

    fn arrays(&self, vars: &[Var]) -> Vec<Var> {
        vars.iter().map(|var| self.array(*var)).collect()
    }

    fn bind(&mut self, vars: &[Var], atoms: &[Atom]) {
        self.values.extend(vars.iter().copied().zip(atoms.iter().copied()));
    }

    fn types(&self, vars: &[Var]) -> Vec<ValueType> {
        vars.iter().map(|var| self.fun.vars[*var]).collect()
    }

    /// What is emitted next comes from where a statement does.
    fn stand_at(&mut self, stm: &Stm) {
        self.fun.stand_at(stm.origin);
    }

    /// The branch that is taken, where that is known, or the function of one that brings its own derivative.
    fn branch<'b>(&self, op: &'b Op) -> Option<&'b Block> {
        let Op::If { cond, then, otherwise } = op else { return None };
        let cond = self.value(*cond).constant()?;
        Some(if cond.bits != 0 { then } else { otherwise })
    }

    /// Executes the statements of a block as they are.
    fn copy_stms(&mut self, stms: &[Stm]) {
        stms.iter().for_each(|stm| self.copy_stm(stm));
    }

    /// Executes a statement as it is.
    fn copy_stm(&mut self, stm: &Stm) {
        if self.again && matches!(stm.op, Op::Assert { .. } | Op::Trace { .. }) {
            return;
        }
        self.stand_at(stm);
        if let Some(atom) = self.copy_simple(&stm.op) {
            self.bind(&stm.defs, &[atom]);
            return;
        }
        if let Some(branch) = self.branch(&stm.op) {
            self.copy_stms(&branch.stms);
            let results = self.all_values(&branch.results);
            self.bind(&stm.defs, &results);
            return;
        }
        match &stm.op {
            Op::Assert { cond, message, args } => {
                let (cond, args) = (self.value(*cond), self.all_values(args));
                self.fun.assert(cond, message.clone(), args);
            }
            Op::AccWrite { accs, .. } if self.again => {
                // Nobody reads what is written but who takes the sums.
                let accs = activity::vars(&self.arrays(accs));
                self.bind(&stm.defs, &accs);
            }
            Op::Map { width, arrays, body } => {
                let types = self.types(&stm.defs);
                let atoms = self.copy_map(*width, arrays, body, &types);
                self.bind(&stm.defs, &atoms);
            }
            op => {
                let (op, types) = (self.copy_op(op), self.types(&stm.defs));
                let atoms = match types[..] {
                    [ty] => vec![self.fun.emit(op, ty)],
                    _ => self.fun.emit_all(op, &types),
                };
                self.bind(&stm.defs, &atoms);
                self.know_results(&stm.op, &atoms);
                self.know_reshaped(&stm.op, &atoms);
            }
        }
    }

    /// Executes a map, whose rows have the extents that those of its arrays have.
    fn copy_map(&mut self, width: Atom, arrays: &[Var], body: &Block, types: &[ValueType]) -> Vec<Atom> {
        let (width, arrays) = (self.value(width), self.arrays(arrays));
        let rows = self.types(&body.params);
        let shapes: Vec<Vec<Option<Atom>>> =
            arrays.iter().map(|array| self.fun.known_shape(Atom::Var(*array))).collect();
        let params = self.fun.begin_repeated(&rows);
        for ((param, array), shape) in params.iter().zip(&arrays).zip(&shapes) {
            self.know_row(*param, *array, shape, width);
        }
        self.bind(&body.params, &params);
        self.copy_stms(&body.stms);
        let results = self.all_values(&body.results);
        let shapes: Vec<Vec<Option<Atom>>> = results.iter().map(|a| self.fun.known_shape(*a)).collect();
        let body = self.fun.end(results);
        let atoms = self.fun.emit_all(Op::Map { width, arrays, body }, types);
        self.know_rows(&atoms, width, shapes);
        atoms
    }

    /// What is known of a map's parameter: the extents of its array's rows, and of a number that it counts rows.
    fn know_row(&mut self, param: Atom, array: Var, shape: &[Option<Atom>], width: Atom) {
        self.know_some(param, shape.get(1..).unwrap_or(&[]), 0);
        if self.fun.counters.contains(&Atom::Var(array)) {
            self.fun.number_below(param, width);
        }
    }

    /// What is known of a map's results, from the extents of their rows.
    fn know_rows(&mut self, atoms: &[Atom], width: Atom, shapes: Vec<Vec<Option<Atom>>>) {
        for (atom, shape) in atoms.iter().zip(shapes) {
            let shape: Vec<Option<Atom>> =
                shape.into_iter().map(|extent| extent.filter(|e| self.fun.visible(*e))).collect();
            self.fun.know(*atom, 0, width);
            self.know_some(*atom, &shape, 1);
        }
    }

    /// Remembers the extents of an array's dimensions, from one on, that are known.
    fn know_some(&mut self, array: Atom, shape: &[Option<Atom>], from: u32) {
        for (d, extent) in shape.iter().enumerate() {
            extent.iter().for_each(|extent| self.fun.know(array, from + d as u32, *extent));
        }
    }

    /// What is known of the extents of a statement's results, from those of its operands.
    fn know_results(&mut self, op: &Op, results: &[Atom]) {
        match op {
            Op::Replicate { count, .. } | Op::Iota { count, .. } => {
                let count = self.value(*count);
                results.iter().for_each(|result| self.fun.know(*result, 0, count));
            }
            Op::Scan { arrays: like, .. }
            | Op::Scatter { dests: like, .. }
            | Op::Hist { dests: like, .. } => {
                like.iter().zip(results).for_each(|(like, result)| self.know_like(*result, *like, 0));
            }
            Op::Update { array, .. }
            | Op::Copy { array }
            | Op::Manifest { array }
            | Op::Reverse { array, .. }
            | Op::Rotate { array, .. } => {
                results.iter().for_each(|result| self.know_like(*result, *array, 0));
            }
            Op::Index { array, index } => {
                results.iter().for_each(|result| self.know_like(*result, *array, index.len()));
            }
            Op::Reshape { shape, .. } => {
                let shape = self.all_values(shape);
                results.iter().for_each(|result| self.fun.know_shape(*result, &shape));
            }
            Op::Array { rows, .. } => {
                let count = Atom::i64(rows.len() as i64);
                let row = rows.first().map_or(Vec::new(), |row| self.fun.known_shape(self.value(*row)));
                for result in results {
                    self.fun.know(*result, 0, count);
                    self.know_some(*result, &row, 1);
                }
            }
            Op::Dim { .. }
            | Op::Slice { .. }
            | Op::Permute { .. }
            | Op::Concat { .. }
            | Op::Equal { .. }
            | Op::FlatIndex { .. }
            | Op::FlatUpdate { .. }
            | not_on_arrays!(Op) => {}
        }
    }

    /// What has another shape with as many elements cannot fail.
    fn know_reshaped(&mut self, op: &Op, results: &[Atom]) {
        let Op::Reshape { array, shape } = op else { return };
        let (array, shape) = (self.array(*array), self.all_values(shape));
        if self.fun.has_as_many(array, &shape) {
            self.fun.sure.extend(results.iter().filter_map(|atom| atom.var()));
        }
    }

    /// A value has the extents of an array, or of its elements at so many indices.
    fn know_like(&mut self, value: Atom, array: Var, depth: usize) {
        let shape = self.fun.known_shape(self.value(Atom::Var(array)));
        self.know_some(value, shape.get(depth..).unwrap_or(&[]), 0);
    }

    /// The value of a statement that may need none: arithmetic and extents.
    fn copy_simple(&mut self, op: &Op) -> Option<Atom> {
        if let Some((op, ty, args)) = op.as_scalar() {
            let args = self.all_values(&args);
            return Some(self.fun.scalar(op, ty, &args));
        }
        match op {
            Op::Convert { from, to, a } => Some(self.fun.convert(*from, *to, self.value(*a))),
            Op::Dim { array, dim } => Some(self.fun.dim(self.value(Atom::Var(*array)), *dim)),
            _ => None,
        }
    }

    /// A statement with what stands for its operands, and blocks with fresh variables.
    fn copy_op(&mut self, op: &Op) -> Op {
        let repeated = !matches!(op, Op::If { .. });
        let bound = if let Op::For { bound, .. } = op { Some(self.value(*bound)) } else { None };
        let mut copies: Vec<Block> =
            op.blocks().into_iter().map(|block| self.copy_block(block, repeated, bound)).collect();
        let mut op = op.clone();
        op.atoms_mut(&mut |atom| *atom = self.value(*atom));
        for (block, copy) in op.blocks_mut().into_iter().zip(copies.drain(..)) {
            *block = copy;
        }
        op
    }

    /// A block with fresh variables; one with a bound has a counter in front.
    fn copy_block(&mut self, block: &Block, repeated: bool, bound: Option<Atom>) -> Block {
        let types = self.types(&block.params);
        let params = if repeated { self.fun.begin_repeated(&types) } else { self.fun.begin(&types) };
        params
            .first()
            .zip(bound)
            .into_iter()
            .for_each(|(counter, bound)| self.fun.number_below(*counter, bound));
        self.bind(&block.params, &params);
        self.copy_stms(&block.stms);
        let results = self.all_values(&block.results);
        self.fun.end(results)
    }
}
