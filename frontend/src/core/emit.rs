//! Statements of the function being built: constants are folded, equal pure statements are shared, and extents
//! that are known are remembered.

use super::elements::Known;
use super::ir::*;
use super::simplify::{mark_sure, prune};
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, Span, TypedId, scalar};
use galopvm_bytecode::ValueType;
use std::collections::{HashMap, HashSet};

/// The greatest exponent of integers that is written as products: three of them or four.
const MOST_FACTORS: u64 = 8;

/// What makes two statements equal: they say the same and give the same type.
type Key = (Op, ValueType);

/// An open block.
#[derive(Default)]
pub(super) struct Open {
    id: u32,
    /// It runs more than once each time the block around it runs.
    repeated: bool,
    /// It is going to be derived.
    derived: bool,
    params: Vec<Var>,
    stms: Vec<Stm>,
    known: HashMap<Key, Atom>,
    shapes: HashMap<(Var, u32), Atom>,
    /// Truth values that are known in it: of its condition, and of its assertions so far.
    facts: HashMap<Atom, bool>,
}

/// A function being built.
#[derive(Default)]
pub(super) struct FunState {
    pub vars: IdVec<Var, ValueType>,
    /// The block that defines each variable.
    homes: IdVec<Var, u32>,
    open: Vec<Open>,
    blocks: u32,
    /// Variables that are one of two constants, and what decides.
    choices: HashMap<Atom, (Var, Scalar, Scalar)>,
    /// Truth values and what they are the negation of.
    opposites: HashMap<Atom, Atom>,
    /// Numbers that are not negative.
    naturals: HashSet<Atom>,
    /// Arrays of the numbers from 0.
    pub counters: HashSet<Atom>,
    /// Numbers that are not negative, and what they are below.
    pub below: HashMap<Atom, Atom>,
    /// Arrays of copies of a value.
    pub copied: HashMap<Atom, Atom>,
    /// Small arrays and their elements, or rows.
    pub elements: HashMap<Var, Vec<Atom>>,
    /// Variables whose statements cannot end the program, though such statements can.
    pub sure: HashSet<Var>,
    /// What loops carry, and how many levels of loops over blocks they are where they are gone through backwards.
    pub levels: HashMap<Var, u32>,
    /// Tuning parameters that were read: whether they are given, and their values.
    params: HashMap<String, (Atom, Atom)>,
    /// How many parallel operators enclose the current block.
    pub soacs: u32,
    /// How many `#[unsafe]` enclose the expression being built.
    pub unchecked: u32,
    /// Where the expression being built stands.
    pub span: Option<Span>,
    /// What the definition being expanded was expanded in.
    pub within: Within,
}

/// What is known of the place of an expression besides its span.
#[derive(Clone, Copy, Default)]
pub(super) struct Within {
    /// The call that was expanded.
    pub inside: Option<u32>,
    /// The place that counts instead of all others while a definition of the prelude is expanded.
    pub held: Option<Span>,
}

impl FunState {
    /// A function without blocks yet.
    pub fn at(span: Span) -> FunState {
        FunState { span: Some(span), ..FunState::default() }
    }

    /// The place that a message about an expression points to.
    pub fn place(&self, span: Span) -> Span {
        self.within.held.unwrap_or(span)
    }

    /// Where statements come from now.
    pub fn origin(&self) -> Origin {
        Origin { span: self.within.held.or(self.span), inside: self.within.inside }
    }

    /// A new variable.
    pub fn var(&mut self, ty: ValueType) -> Var {
        self.homes.push(self.open.last().map_or(0, |o| o.id));
        self.vars.push(ty)
    }

    /// True if an atom may be used in the current block.
    pub fn visible(&self, atom: Atom) -> bool {
        match atom {
            Atom::Const(_) => true,
            Atom::Var(var) => self.open.iter().any(|o| o.id == self.homes[var]),
        }
    }

    pub fn type_of(&self, atom: Atom) -> ValueType {
        match atom {
            Atom::Const(scalar) => ValueType::scalar(scalar.ty),
            Atom::Var(var) => self.vars[var],
        }
    }

    /// Opens the body of a function or branch, with parameters of these types.
    pub fn begin(&mut self, types: &[ValueType]) -> Vec<Atom> {
        self.begin_block(types, false)
    }

    /// Opens the body of a loop or operator, with parameters of these types.
    pub fn begin_repeated(&mut self, types: &[ValueType]) -> Vec<Atom> {
        self.begin_block(types, true)
    }

    /// Opens the body of a function that is going to be derived, with parameters of these types.
    pub fn begin_derived(&mut self, types: &[ValueType]) -> Vec<Atom> {
        let params = self.begin(types);
        self.open.iter_mut().last().iter_mut().for_each(|open| open.derived = true);
        params
    }

    /// True inside of a function that is going to be derived.
    pub fn is_derived(&self) -> bool {
        self.open.iter().any(|open| open.derived)
    }

    /// The statements of the current block.
    pub fn current(&self) -> &[Stm] {
        self.open.last().map_or(&[], |open| &open.stms)
    }

    /// The parameters of the current block.
    pub fn params(&self) -> Vec<Atom> {
        self.open.last().map_or(Vec::new(), |open| open.params.iter().map(|var| Atom::Var(*var)).collect())
    }

    /// True if an atom may be used outside of the current block.
    pub fn is_outside(&self, atom: Atom) -> bool {
        let Atom::Var(var) = atom else { return true };
        self.home(var).is_some_and(|home| home + 1 < self.open.len())
    }

    /// What is emitted next comes from there.
    pub fn stand_at(&mut self, origin: Origin) {
        self.span = origin.span;
        self.within = Within { inside: origin.inside, held: None };
    }

    fn begin_block(&mut self, types: &[ValueType], repeated: bool) -> Vec<Atom> {
        self.blocks += 1;
        self.open.push(Open { id: self.blocks, repeated, ..Open::default() });
        let params: Vec<Var> = types.iter().map(|t| self.var(*t)).collect();
        let atoms = params.iter().map(|v| Atom::Var(*v)).collect();
        if let Some(open) = self.open.last_mut() {
            open.params = params;
        }
        atoms
    }

    /// Closes the innermost block.
    pub fn end(&mut self, results: Vec<Atom>) -> Block {
        let open = self.open.pop().unwrap_or_default();
        Block { params: open.params, stms: open.stms, results }
    }

    /// Closes the innermost block, which a derivation made: what nobody needs of it is dropped.
    pub fn end_derived(&mut self, results: Vec<Atom>) -> Block {
        let mut block = self.end(results);
        self.tell_sure(&mut block);
        prune(&mut block, self.vars.len());
        block
    }

    /// Tells the statements of a block which of them are known not to end the program.
    pub fn tell_sure(&self, block: &mut Block) {
        mark_sure(block, &|stm| stm.defs.iter().any(|def| self.sure.contains(def)));
    }

    /// Sets all but the outermost block aside, so that statements go to the function's beginning.
    pub fn at_root(&mut self) -> Vec<Open> {
        self.open.split_off(1.min(self.open.len()))
    }

    /// Takes up the blocks set aside.
    pub fn back(&mut self, aside: Vec<Open>) {
        self.open.extend(aside);
    }

    /// Puts the statements of a closed block into the current one.
    pub fn splice(&mut self, block: Block) {
        for stm in block.stms {
            let target = self.target(&stm.op);
            let Some(open) = self.open.get_mut(target) else { return };
            for var in &stm.defs {
                self.homes[*var] = open.id;
            }
            open.stms.push(stm);
        }
    }

    fn push(&mut self, op: Op, types: &[ValueType]) -> Vec<Atom> {
        self.push_into(self.open.len().saturating_sub(1), op, types)
    }

    /// Appends a statement to the open block of this number.
    fn push_into(&mut self, target: usize, op: Op, types: &[ValueType]) -> Vec<Atom> {
        let home = self.open.get(target).map_or(0, |o| o.id);
        let mut defs = Vec::with_capacity(types.len());
        for ty in types {
            self.homes.push(home);
            defs.push(self.vars.push(*ty));
        }
        let atoms: Vec<Atom> = defs.iter().map(|v| Atom::Var(*v)).collect();
        if matches!(&op, Op::Iota { start, step, .. } if (*start, *step) == (Atom::i64(0), Atom::i64(1))) {
            self.counters.extend(&atoms);
        }
        let origin = self.origin();
        if let Some(open) = self.open.get_mut(target) {
            open.stms.push(Stm::new(defs, op, origin));
        }
        atoms
    }

    /// The block for a statement: the current one; for views and extents, which cost nothing, the one that defines
    /// the array, so that operators and loops find them outside; for arithmetic that cannot fail, outside of the loops
    /// and operators that do not change it.
    fn target(&self, op: &Op) -> usize {
        let current = self.open.len().saturating_sub(1);
        if let Some(array) = op.told_of() {
            return self.home(array).unwrap_or(current);
        }
        if !op.can_be_shared() || !op.is_pure() {
            return current;
        }
        let (mut needed, mut is_arithmetic) = (0, true);
        op.atoms(&mut |atom| {
            is_arithmetic &= self.type_of(atom).is_scalar();
            if let Atom::Var(var) = atom {
                needed = needed.max(self.home(var).unwrap_or(current));
            }
        });
        let mut target = current;
        while is_arithmetic && target > needed && self.open[target].repeated {
            target -= 1;
        }
        target
    }

    /// The number of the open block that defines a variable.
    fn home(&self, var: Var) -> Option<usize> {
        self.open.iter().rposition(|o| o.id == self.homes[var])
    }

    /// A statement that defines several variables.
    pub fn emit_all(&mut self, op: Op, types: &[ValueType]) -> Vec<Atom> {
        self.push(op, types)
    }

    /// A statement that defines one variable.
    pub fn emit(&mut self, op: Op, ty: ValueType) -> Atom {
        let op = match self.known_elements(&op, ty) {
            Some(Known::Value(value)) => return value,
            Some(Known::Array(rows)) => Op::Array { ty: ty.elem, rank: 1, rows },
            None => op,
        };
        let key = op.can_be_shared().then(|| (in_order(&op), ty));
        if let Some(known) = key.as_ref().and_then(|k| self.open.iter().rev().find_map(|o| o.known.get(k))) {
            return *known;
        }
        let target = self.target(&op);
        let turned = if let Op::Permute { array, perm } = &op { Some((*array, perm.clone())) } else { None };
        let elements = self.elements_of(&op);
        let is_sure = self.is_sure(&op);
        let atom = self.push_into(target, op, &[ty])[0];
        self.sure.extend(atom.var().filter(|_| is_sure));
        self.elements.extend(atom.var().zip(elements));
        if let (Some(key), Some(open)) = (key, self.open.get_mut(target)) {
            open.known.insert(key, atom);
        }
        if let Some((array, perm)) = turned {
            self.know_turned(target, array, &perm, atom);
        }
        atom
    }

    /// Whether a statement cannot end the program: as many copies or numbers as an array has elements, elements at indices that number
    /// those of an array, as a map's rows are numbered, and parts between constants.
    fn is_sure(&mut self, op: &Op) -> bool {
        match op {
            Op::Replicate { count, .. } | Op::Iota { count, .. } => self.is_natural(*count),
            Op::Index { array, index } => index
                .iter()
                .enumerate()
                .all(|(d, at)| self.is_inside(*at, self.known(Atom::Var(*array), d as u32))),
            Op::Slice { array, dims } => dims.iter().enumerate().all(|(d, dim)| {
                let extent = self.known(Atom::Var(*array), d as u32);
                match dim {
                    SliceDim::At(at) => self.is_inside(*at, extent),
                    SliceDim::Range(None, None, None) => true,
                    SliceDim::Range(from, to, step) => step.is_none() && is_part(*from, *to, extent),
                }
            }),
            _ => false,
        }
    }

    /// Whether a number is known to be the index of an element where there are so many.
    fn is_inside(&self, at: Atom, extent: Option<Atom>) -> bool {
        let Some(extent) = extent else { return false };
        match (at.constant(), extent.constant()) {
            (Some(at), Some(extent)) => (0..extent.as_i64()).contains(&at.as_i64()),
            _ => self.below.get(&at) == Some(&extent),
        }
    }

    /// Whether an array is known to have as many elements as a shape, and that to be one, if the array was made: the number of elements
    /// of one that was not may be more than there are numbers.
    pub fn has_as_many(&mut self, array: Var, shape: &[Atom]) -> bool {
        let own: Option<Vec<Atom>> = self.known_shape(Atom::Var(array)).into_iter().collect();
        let Some(own) = own else { return false };
        let is_shape = shape.len() == 1 || shape.iter().all(|extent| self.is_natural(*extent));
        is_shape && self.count(&own) == self.count(shape)
    }

    /// Remembers the extents of a view where it stands, which may be outside of the current block: those of its array that are known
    /// there, in another order.
    fn know_turned(&mut self, at: usize, array: Var, perm: &[u32], view: Atom) {
        let Atom::Var(view) = view else { return };
        for (d, from) in perm.iter().enumerate() {
            let known =
                self.open.iter().take(at + 1).rev().find_map(|o| o.shapes.get(&(array, *from))).copied();
            if let (Some(extent), Some(open)) = (known, self.open.get_mut(at)) {
                open.shapes.insert((view, d as u32), extent);
            }
        }
    }

    /// A tuning parameter, read once at the function's beginning: whether it is given, and its value.
    pub fn param(&mut self, name: &str) -> (Atom, Atom) {
        if let Some(known) = self.params.get(name) {
            return *known;
        }
        let types = [ValueType::scalar(ElemType::Bool), ValueType::scalar(ElemType::I64)];
        let atoms = self.push_into(0, Op::Param { name: name.to_string() }, &types);
        let pair = (atoms[0], atoms[1]);
        self.params.insert(name.to_string(), pair);
        pair
    }

    /// A check that ends the program; nothing if it is known to hold.
    pub fn assert(&mut self, cond: Atom, message: String, args: Vec<Atom>) {
        if self.unchecked == 0 && self.fact(cond) != Some(true) {
            self.push(Op::Assert { cond, message, args }, &[]);
            self.learn(cond, true);
        }
    }

    /// Remembers a truth value for as long as the current block is open.
    pub fn learn(&mut self, cond: Atom, value: bool) {
        if let Some(open) = self.open.last_mut() {
            open.facts.insert(cond, value);
        }
    }

    /// What is known of a truth value.
    pub fn fact(&self, cond: Atom) -> Option<bool> {
        if let Atom::Const(value) = cond {
            return Some(value.bits != 0);
        }
        let known = |atom: &Atom| self.open.iter().rev().find_map(|open| open.facts.get(atom)).copied();
        known(&cond).or_else(|| known(self.opposites.get(&cond)?).map(|value| !value))
    }

    /// A scalar operation.
    pub fn scalar(&mut self, op: ScalarOp, ty: ElemType, args: &[Atom]) -> Atom {
        let simple = simplify(op, ty, args).or_else(|| self.sign(op, args));
        if let (None, ScalarOp::Eq | ScalarOp::Ne, ElemType::Bool, [a, Atom::Const(b)]) =
            (simple, op, ty, args)
        {
            let same = (b.bits != 0) == (op == ScalarOp::Eq);
            return if same { *a } else { self.scalar(ScalarOp::Not, ty, &[*a]) };
        }
        if let (None, ScalarOp::Not, ElemType::Bool, [a]) = (simple, op, ty, args) {
            return self.opposite(*a);
        }
        if let Some(simple) = simple.or_else(|| self.choice(op, ty, args)) {
            return simple;
        }
        if let (ScalarOp::Pow, [base, Atom::Const(exponent)]) = (op, args)
            && let Some(count) = factors(ty, *exponent)
        {
            return self.product(ty, *base, count);
        }
        if let (ScalarOp::Select, [Atom::Var(condition), Atom::Const(yes), Atom::Const(no)]) = (op, args) {
            let atom = self.emit(Op::scalar(op, ty, args), ValueType::scalar(ty));
            self.choices.insert(atom, (*condition, *yes, *no));
            return atom;
        }
        self.emit(Op::scalar(op, ty, args), ValueType::scalar(op.result_type(ty)))
    }

    /// The product of so many factors, at least one, that are all the same.
    fn product(&mut self, ty: ElemType, factor: Atom, count: u64) -> Atom {
        if count == 1 {
            return factor;
        }
        let half = self.product(ty, factor, count / 2);
        let even = self.scalar(ScalarOp::Mul, ty, &[half, half]);
        if count.is_multiple_of(2) { even } else { self.scalar(ScalarOp::Mul, ty, &[even, factor]) }
    }

    /// Remembers that an i64 is not negative.
    pub fn natural(&mut self, atom: Atom) {
        self.naturals.insert(atom);
    }

    /// Remembers that a number counts up to a bound.
    pub fn number_below(&mut self, atom: Atom, bound: Atom) {
        self.natural(atom);
        self.below.insert(atom, bound);
    }

    /// Whether an i64 is known not to be negative.
    pub fn is_natural(&self, atom: Atom) -> bool {
        self.naturals.contains(&atom) || atom.constant().is_some_and(|c| c.as_i64() >= 0)
    }

    /// A comparison of a number that is not negative with 0.
    fn sign(&self, op: ScalarOp, args: &[Atom]) -> Option<Atom> {
        let zero = Atom::i64(0);
        let natural = |atom: &Atom| self.is_natural(*atom);
        match (op, args) {
            (ScalarOp::Ge, [a, b]) if *b == zero && natural(a) => Some(Atom::bool(true)),
            (ScalarOp::Le, [a, b]) if *a == zero && natural(b) => Some(Atom::bool(true)),
            (ScalarOp::Lt, [a, b]) if *b == zero && natural(a) => Some(Atom::bool(false)),
            (ScalarOp::Gt, [a, b]) if *a == zero && natural(b) => Some(Atom::bool(false)),
            _ => None,
        }
    }

    fn opposite(&mut self, a: Atom) -> Atom {
        if let Some(known) = self.opposites.get(&a) {
            return *known;
        }
        let op = Op::scalar(ScalarOp::Not, ElemType::Bool, &[a]);
        let atom = self.emit(op, ValueType::scalar(ElemType::Bool));
        self.opposites.insert(atom, a);
        atom
    }

    /// A comparison with a value chosen among constants, as the tags of sum types are.
    fn choice(&mut self, op: ScalarOp, ty: ElemType, args: &[Atom]) -> Option<Atom> {
        let (ScalarOp::Eq, [a, Atom::Const(wanted)]) = (op, args) else { return None };
        let (condition, yes, no) = *self.choices.get(a)?;
        if ty.is_float() {
            return None;
        }
        match (yes == *wanted, no == *wanted) {
            (true, true) => Some(Atom::bool(true)),
            (false, false) => Some(Atom::bool(false)),
            (true, false) => Some(Atom::Var(condition)),
            (false, true) => Some(self.scalar(ScalarOp::Not, ElemType::Bool, &[Atom::Var(condition)])),
        }
    }

    /// An operation on i64.
    pub fn size_op(&mut self, op: ScalarOp, a: Atom, b: Atom) -> Atom {
        self.scalar(op, ElemType::I64, &[a, b])
    }

    /// A conversion.
    pub fn convert(&mut self, from: ElemType, to: ElemType, a: Atom) -> Atom {
        if from == to {
            return a;
        }
        if let Atom::Const(value) = a {
            return Atom::Const(Scalar::new(to, scalar::convert(from, to, value.bits)));
        }
        self.emit(Op::Convert { from, to, a }, ValueType::scalar(to))
    }

    /// An extent of an array.
    pub fn dim(&mut self, array: Atom, dim: u32) -> Atom {
        let Atom::Var(var) = array else { return Atom::i64(0) };
        if let Some(known) = self.known(array, dim) {
            return known;
        }
        let extent = self.emit(Op::Dim { array: var, dim }, ValueType::scalar(ElemType::I64));
        self.natural(extent);
        extent
    }

    /// Remembers an extent, for as long as the current block is open.
    pub fn know(&mut self, array: Atom, dim: u32, extent: Atom) {
        if let (Atom::Var(var), Some(open)) = (array, self.open.last_mut()) {
            open.shapes.insert((var, dim), extent);
        }
    }

    /// The known extents of all dimensions of an array.
    pub fn known_shape(&self, array: Atom) -> Vec<Option<Atom>> {
        (0..self.type_of(array).rank as u32).map(|d| self.known(array, d)).collect()
    }

    /// What is remembered of an extent.
    pub fn known(&self, array: Atom, dim: u32) -> Option<Atom> {
        let Atom::Var(var) = array else { return None };
        self.open.iter().rev().find_map(|o| o.shapes.get(&(var, dim))).copied()
    }
}

/// The statement, its operands in one order for both ways to write a commutative operation. Floats are left alone: which NaN comes
/// out may depend on the order.
pub(super) fn in_order(statement: &Op) -> Op {
    match statement.as_scalar() {
        Some((op, ty, mut args)) if op.info().commutative && !op.result_type(ty).is_float() => {
            args.sort_by_key(|atom| match atom {
                Atom::Var(var) => (0, var.index() as u64),
                Atom::Const(value) => (1, value.bits),
            });
            Op::scalar(op, ty, &args)
        }
        _ => statement.clone(),
    }
}

/// The factors of the product that a power with this exponent has the bits of, if they are few: of floats only the square is
/// one, integers wrap in any order.
fn factors(ty: ElemType, exponent: Scalar) -> Option<u64> {
    match ty.is_float() {
        true => (exponent.as_f64() == 2.0).then_some(2),
        false => (1..=MOST_FACTORS).contains(&exponent.bits).then_some(exponent.bits),
    }
}

/// The value of an operation that needs no statement.
fn simplify(op: ScalarOp, ty: ElemType, args: &[Atom]) -> Option<Atom> {
    let constants: Option<Vec<u64>> = args.iter().map(|a| a.constant().map(|c| c.bits)).collect();
    if let Some(bits) = constants {
        let value = scalar::eval(op, ty, &bits).ok().map(|bits| Scalar::new(op.result_type(ty), bits));
        // What makes NaN is executed: a debugger may stop there.
        let is_nan = value.is_some_and(|value| value.ty.is_float() && value.as_f64().is_nan());
        return value.filter(|_| !is_nan).map(Atom::Const);
    }
    if let (ScalarOp::Select, [Atom::Const(c), yes, no]) = (op, args) {
        return Some(if c.bits != 0 { *yes } else { *no });
    }
    if let (ScalarOp::Select, [condition, yes, no]) = (op, args) {
        if yes == no {
            return Some(*yes);
        }
        if (*yes, *no) == (Atom::bool(true), Atom::bool(false)) {
            return Some(*condition);
        }
    }
    // Floats are left alone: x + 0 is not always x.
    let [a, b] = args else { return None };
    if ty.is_float() {
        return None;
    }
    let is =
        |atom: &Atom, value: i64| atom.constant().is_some_and(|c| c.bits == Scalar::from_int(ty, value).bits);
    match op {
        ScalarOp::Add | ScalarOp::Or | ScalarOp::Xor if is(b, 0) => Some(*a),
        ScalarOp::Add | ScalarOp::Or | ScalarOp::Xor if is(a, 0) => Some(*b),
        ScalarOp::Sub if is(b, 0) => Some(*a),
        ScalarOp::Mul if is(b, 1) => Some(*a),
        ScalarOp::Mul if is(a, 1) => Some(*b),
        ScalarOp::Mul | ScalarOp::And if is(a, 0) || is(b, 0) => Some(Atom::Const(Scalar::from_int(ty, 0))),
        ScalarOp::Div | ScalarOp::Quot if is(b, 1) => Some(*a),
        ScalarOp::And if ty == ElemType::Bool && is(a, 1) => Some(*b),
        ScalarOp::And if ty == ElemType::Bool && is(b, 1) => Some(*a),
        ScalarOp::Eq | ScalarOp::Le | ScalarOp::Ge if a == b => Some(Atom::bool(true)),
        ScalarOp::Ne | ScalarOp::Lt | ScalarOp::Gt if a == b => Some(Atom::bool(false)),
        _ => None,
    }
}

/// Whether constants are the ends of a part of so many elements.
fn is_part(from: Option<Atom>, to: Option<Atom>, extent: Option<Atom>) -> bool {
    let number = |atom: Atom| atom.constant().map(Scalar::as_i64);
    let extent = extent.and_then(number);
    let from = from.map_or(Some(0), number);
    let to = to.map_or(extent, number);
    matches!((from, to, extent), (Some(from), Some(to), Some(extent)) if 0 <= from && from <= to && to <= extent)
}
