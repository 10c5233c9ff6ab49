//! The verifier: the only way to a [`CheckedRegion`], which is what analyses are given, and to a
//! [`VerifiedRegion`], which is what back ends are given.
//!
//! A checked region may hold what has no meaning of its own here: functions that nothing is known of, `call`, loops
//! that carry nothing (they give the values of their last round), extents that are equal for reasons that are not
//! written down, and arrays whose extents are scalars that the same loop carries or the same statement gives. A verified
//! region holds none of that; it can be executed.
//!
//! Checked:
//! - names are unique, plain ([`crate::text::is_name`]), defined exactly once, and used where they are in scope:
//!   after their definition, inside the body (or bodies) that their statement gives them; bounds of axes and
//!   initial values see only what is outside; an operator sees what is outside its statement and its operands,
//!   neither axes nor names of the reduced body;
//! - every name has a type; extents are `i64` expressions of constants, names in scope and operations, without
//!   reads; extents of parameters are over `i64` parameters alone; axes are `i64` scalars;
//! - expressions: operations have their number of operands, all of the type that the operation says and the table
//!   accepts (`select`: a bool in front); operands, indices and conversions are scalars; nothing opaque (if verified);
//! - reads have numbers of their own below `region.reads`, no more indices than dimensions, LMAD slices are of
//!   arrays;
//! - statements: as many names as results, and the types of the results are the types of the names, extents
//!   included (compared as expressions after folding constants); both branches, all rounds of a loop, both
//!   operands and the neutral element of an operator likewise; conditions are bools; loops carry at least one
//!   value; updates have the element type and the shape of the place, a scatter has an index for each dimension of
//!   its arrays, which are of one shape, and a scalar for each of them; permutations are permutations; array
//!   operations have fitting arguments, `call` is refused;
//! - results of the region are names, and their extents can be written over parameters and constants (scalar
//!   statements of the top level are put in).
//!
//! Not proved, and therefore traps or claims: that indices are inside (trap, or `Unchecked` in a plan), divisors
//! not zero (trap), slice extents not negative (trap), reshapes keep the number of elements (trap), update places
//! distinct (trap), operators associative with that neutral element (the language's contract), while loops end.

use crate::algebra::simplified;
use crate::ir::*;
use crate::kernel::begins_as;
use crate::text::{is_name, parse_region, print_exp, print_region, print_type};
use crate::types::{
    array_op_type, elem_of, indexed_shape, infer, is_permutation, operand_elem, rhs_types, scalar_value,
    type_of,
};
use galopvm_base::{ElemType, Scalar, ScalarOp, TypedId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// One thing that is wrong with a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The name whose definition is meant, if it is about one.
    pub place: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "in `{place}`: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for VerifyError {}

/// A region whose names, scopes and types are right. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CheckedRegion(Arc<Checked>);

/// A region that passed every check: a [`CheckedRegion`] that can be executed. Cheap to clone.
#[derive(Clone, PartialEq, Debug)]
pub struct VerifiedRegion(CheckedRegion);

impl Deref for VerifiedRegion {
    type Target = CheckedRegion;

    fn deref(&self) -> &CheckedRegion {
        &self.0
    }
}

#[derive(Debug)]
struct Checked {
    region: Region,
    results: Vec<Type>,
    /// Computed when somebody asks for it.
    hash: OnceLock<u128>,
}

impl PartialEq for CheckedRegion {
    fn eq(&self, other: &CheckedRegion) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.region == other.0.region
    }
}

impl CheckedRegion {
    /// The region.
    pub fn region(&self) -> &Region {
        &self.0.region
    }

    /// The type of a name of the region.
    pub fn type_of(&self, var: VarId) -> &Type {
        self.0.region.vars[var].ty.as_ref().expect("in a checked region every name has a type")
    }

    /// The types of the region's results; their extents are over parameters and constants.
    pub fn results(&self) -> &[Type] {
        &self.0.results
    }

    /// The value of an `i64` expression without reads, given values of the names in it, each of the type of its name.
    pub fn size_with(&self, exp: &Exp, lookup: &dyn Fn(VarId) -> Option<Scalar>) -> Option<i64> {
        let value = scalar_value(exp, lookup)?;
        (value.ty == ElemType::I64).then(|| value.as_i64())
    }

    /// The element type of an expression of the region.
    pub fn exp_type(&self, exp: &Exp) -> Option<ElemType> {
        elem_of(&self.0.region.vars, exp)
    }

    /// The type of an expression of the region.
    pub fn type_of_exp(&self, exp: &Exp) -> Option<Type> {
        type_of(&self.0.region.vars, exp).map(Cow::into_owned)
    }

    /// The number of dimensions of an expression of the region; 0 for scalars.
    pub fn rank(&self, exp: &Exp) -> Option<usize> {
        type_of(&self.0.region.vars, exp).map(|ty| ty.rank())
    }

    /// The array parameter whose elements a result begins with: what a scatter or histogram of the region's own body
    /// is written over, or what a loop of it begins with, if that comes from outside.
    pub fn begins_as(&self, result: usize) -> Option<VarId> {
        begins_as(&self.0.region, result)
    }

    /// A number of the content (text form and read numbers) that is the same in every process; for caches.
    pub fn content_hash(&self) -> u128 {
        *self.0.hash.get_or_init(|| content_hash(&self.0.region))
    }
}

/// Checks a region for execution.
pub fn verify(region: Region) -> Result<VerifiedRegion, Vec<VerifyError>> {
    checked(region, true).map(VerifiedRegion)
}

/// Checks a region for analysis.
pub fn check(region: Region) -> Result<CheckedRegion, Vec<VerifyError>> {
    checked(region, false)
}

fn checked(region: Region, executable: bool) -> Result<CheckedRegion, Vec<VerifyError>> {
    let mut verifier = Verifier {
        region: &region,
        executable,
        defined: vec![false; region.vars.len()],
        in_scope: vec![false; region.vars.len()],
        reads: vec![false; region.reads as usize],
        place: None,
        errors: Vec::new(),
    };
    verifier.region();
    let results = verifier.results();
    if !verifier.errors.is_empty() {
        return Err(verifier.errors);
    }
    Ok(CheckedRegion(Arc::new(Checked { region, results, hash: OnceLock::new() })))
}

/// Reads, infers and checks a region in text form; the error says what is wrong, for people.
pub fn verified_from_text(text: &str) -> Result<VerifiedRegion, String> {
    let mut region = parse_region(text).map_err(|error| error.to_string())?;
    infer(&mut region);
    verify(region).map_err(|errors| errors.iter().map(VerifyError::to_string).collect::<Vec<_>>().join("\n"))
}

/// FNV-1a, 128 bits.
fn content_hash(region: &Region) -> u128 {
    let mut hash: u128 = 0x6c62272e07bb014262b821756295c58d;
    let mut feed = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u128::from(*byte)).wrapping_mul(0x0000000001000000000000000000013b);
        }
    };
    feed(print_region(region).as_bytes());
    for read in region.all_reads() {
        feed(&read.id.0.to_le_bytes());
    }
    hash
}

/// FNV-1a, 64 bits: names are short, and nothing comes of it if many fall together but time.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What an error is about, in words only if there is one.
#[derive(Clone, Copy)]
enum What<'a> {
    Text(&'a str),
    /// Some words, and a name.
    Of(&'a str, VarId),
    Operand(ScalarOp),
}

struct Verifier<'a> {
    region: &'a Region,
    /// Nothing without a meaning is let through.
    executable: bool,
    /// Names whose definition was seen.
    defined: Vec<bool>,
    /// Names that may be used here.
    in_scope: Vec<bool>,
    /// Reads that were seen, by number.
    reads: Vec<bool>,
    place: Option<VarId>,
    errors: Vec<VerifyError>,
}

impl<'a> Verifier<'a> {
    fn error(&mut self, message: impl Into<String>) {
        let place = self.place.map(|var| self.name(var));
        self.errors.push(VerifyError { place, message: message.into() });
    }

    fn words(&self, what: What<'_>) -> String {
        match what {
            What::Text(text) => text.into(),
            What::Of("", var) => format!("`{}`", self.name(var)),
            What::Of(text, var) => format!("{text} `{}`", self.name(var)),
            What::Operand(op) => format!("an operand of `{op}`"),
        }
    }

    fn text(&self, exp: &Exp) -> String {
        print_exp(self.region, exp)
    }

    fn type_text(&self, ty: &Type) -> String {
        print_type(self.region, ty)
    }

    fn name(&self, var: VarId) -> String {
        self.region.vars.get(var).map_or_else(|| var.to_string(), |v| v.name.to_string())
    }

    fn var_type(&self, var: VarId) -> Option<&'a Type> {
        self.region.vars.get(var)?.ty.as_ref()
    }

    fn region(&mut self) {
        let mut seen: HashMap<&str, VarId, BuildHasherDefault<NameHasher>> = HashMap::default();
        seen.reserve(self.region.vars.len());
        for (id, var) in self.region.vars.iter_ids() {
            if !is_name(&var.name) {
                self.error(format!("`{}` cannot be a name", var.name));
            }
            if seen.insert(var.name.as_str(), id).is_some() {
                self.error(format!("the name `{}` is not unique", var.name));
            }
        }
        // Extents of array parameters may use scalar parameters that come later.
        for param in &self.region.params {
            self.bring_in(*param);
        }
        for param in &self.region.params {
            self.place = Some(*param);
            self.declared_type(*param);
            let shape = self.var_type(*param).map_or(&[][..], |ty| ty.shape.as_slice());
            let mut bad = false;
            for extent in shape {
                extent.each_use(&mut |v| bad |= self.var_type(v).is_none_or(|ty| !ty.is_scalar()));
            }
            if bad {
                self.error("its extents are not over scalar parameters");
            }
        }
        self.place = None;
        for stm in &self.region.body.stms {
            self.statement(stm);
        }
        self.place = None;
        for exp in &self.region.body.results {
            self.value(exp);
        }
        for (id, var) in self.region.vars.iter_ids() {
            if !self.defined[id.index()] {
                self.error(format!("the name `{}` is never defined", var.name));
            }
        }
    }

    /// Types of the region's results over parameters and constants.
    fn results(&mut self) -> Vec<Type> {
        let region = self.region;
        let mut scalars: HashMap<VarId, Exp> = HashMap::new();
        let is_sized = |exp: &Exp| match exp {
            Exp::Var(var) => {
                let shape = self.var_type(*var).map_or(&[][..], |ty| ty.shape.as_slice());
                shape.iter().all(|extent| matches!(extent, Exp::Const(_)))
            }
            _ => true,
        };
        let all_sized = region.body.results.iter().all(is_sized);
        let stms = if all_sized { &[][..] } else { region.body.stms.as_slice() };
        for stm in stms {
            if let Rhs::Exps(exps) = &stm.rhs {
                for (var, exp) in stm.pat.iter().zip(exps) {
                    let whole = exp.substitute(&|v| scalars.get(&v).cloned());
                    if self.var_type(*var).is_some_and(Type::is_scalar) && size_of_exp(&whole) <= 64 {
                        scalars.insert(*var, whole);
                    }
                }
            }
        }
        let mut types = Vec::new();
        for exp in &region.body.results {
            let Exp::Var(var) = exp else {
                let text = self.text(exp);
                self.error(format!("a result of the region is not a name: {text}"));
                continue;
            };
            let Some(ty) = self.var_type(*var) else { continue };
            let ty = ty.substitute(&|v| scalars.get(&v).cloned());
            let mut open = None;
            for extent in &ty.shape {
                extent.visit(&mut |part| match part {
                    Exp::Var(v) if !region.params.contains(v) => open = Some(self.name(*v)),
                    Exp::Read(read) => open = Some(self.name(read.array)),
                    _ => {}
                });
            }
            if let Some(name) = open {
                let result = self.name(*var);
                self.error(format!(
                    "the shape of the result `{result}` depends on `{name}`, which is not known at entry"
                ));
            }
            types.push(Type { elem: ty.elem, shape: ty.shape.iter().map(simplified).collect() });
        }
        types
    }

    /// A definition: in scope from here on.
    fn bring_in(&mut self, var: VarId) {
        match self.defined.get_mut(var.index()) {
            Some(defined) if *defined => {
                let name = self.name(var);
                self.error(format!("the name `{name}` is defined twice"));
            }
            Some(defined) => {
                *defined = true;
                self.in_scope[var.index()] = true;
            }
            None => self.error(format!("{var} is not a name of the region")),
        }
    }

    fn declared_type(&mut self, var: VarId) {
        match self.var_type(var) {
            None => {
                let name = self.name(var);
                self.error(format!("`{name}` has no type"));
            }
            Some(ty) => {
                for extent in &ty.shape {
                    self.extent(extent);
                }
            }
        }
    }

    fn extent(&mut self, exp: &Exp) {
        if is_number(exp, ElemType::I64) {
            return;
        }
        let mut reads = false;
        exp.visit(&mut |part| reads |= matches!(part, Exp::Read(_)));
        if reads {
            let text = self.text(exp);
            self.error(format!("an extent reads memory: {text}"));
        } else {
            self.scalar_of(exp, ElemType::I64, What::Text("an extent"));
        }
    }

    /// Names that are defined together. Their types are over what is outside, and, where nothing is executed, over the
    /// scalars among them: sizes that only the statement itself tells.
    fn define(&mut self, vars: &[VarId]) {
        let is_size = |v: &Self, var: &VarId| !v.executable && v.var_type(*var).is_some_and(Type::is_scalar);
        for sizes in [true, false] {
            for var in vars {
                if is_size(self, var) == sizes {
                    self.declared_type(*var);
                }
            }
            for var in vars {
                if is_size(self, var) == sizes {
                    self.bring_in(*var);
                }
            }
        }
    }

    /// Definitions of a statement's insides; gone from scope when `inside` is done.
    fn with_names(&mut self, vars: &[VarId], inside: impl FnOnce(&mut Self)) {
        self.define(vars);
        inside(self);
        for var in vars {
            if let Some(slot) = self.in_scope.get_mut(var.index()) {
                *slot = false;
            }
        }
    }

    /// The statements and results of a body; gives the types of the results, checked to be visible outside only
    /// by whoever compares them with declared types.
    fn body(&mut self, body: &Body) -> Vec<Option<Cow<'a, Type>>> {
        let place = self.place;
        for stm in &body.stms {
            self.statement(stm);
        }
        self.place = place;
        let types = body.results.iter().map(|exp| self.value(exp)).collect();
        for stm in &body.stms {
            for var in &stm.pat {
                if let Some(slot) = self.in_scope.get_mut(var.index()) {
                    *slot = false;
                }
            }
        }
        types
    }

    fn statement(&mut self, stm: &Stm) {
        self.place = stm.pat.first().copied();
        let errors = self.errors.len();
        if let (Rhs::Exps(exps), [var]) = (&stm.rhs, &stm.pat[..])
            && let [exp] = &exps[..]
        {
            // Most statements are like that, and what they give was found when it was checked.
            let ty = self.value(exp);
            if self.errors.len() == errors {
                self.same_type(What::Of("", *var), self.var_type(*var), ty.as_deref());
            }
            return self.define(&stm.pat);
        }
        self.rhs(&stm.rhs);
        self.place = stm.pat.first().copied();
        let results = rhs_types(&self.region.vars, &stm.rhs);
        if results.len() != stm.pat.len() {
            self.error(format!("{} names are bound to {} results", stm.pat.len(), results.len()));
        } else if self.errors.len() == errors {
            for (var, ty) in stm.pat.iter().zip(&results) {
                self.same_type(What::Of("", *var), self.var_type(*var), ty.as_deref());
            }
        }
        self.define(&stm.pat);
    }

    fn same_type(&mut self, what: What<'_>, declared: Option<&Type>, found: Option<&Type>) {
        let (Some(declared), Some(found)) = (declared, found) else { return };
        let same = std::ptr::eq(declared, found)
            || declared.elem == found.elem
                && declared.rank() == found.rank()
                && declared.shape.iter().zip(&found.shape).all(|(a, b)| self.same_extent(a, b));
        if !same {
            let (declared, found) = (self.type_text(declared), self.type_text(found));
            let what = self.words(what);
            self.error(format!("{what} has type {declared}, but its value has type {found}"));
        }
    }

    fn same_extent(&self, a: &Exp, b: &Exp) -> bool {
        if a == b {
            return true;
        }
        let (a, b) = (simplified(a), simplified(b));
        let open = |exp: &Exp| !matches!(exp, Exp::Const(_));
        a == b || !self.executable && (open(&a) || open(&b))
    }

    fn same_types(&mut self, what: &str, vars: &[VarId], found: &[Option<Cow<'_, Type>>]) {
        if vars.len() != found.len() {
            self.error(format!("{what}: {} values for {} names", found.len(), vars.len()));
        }
        for (var, ty) in vars.iter().zip(found) {
            self.same_type(What::Of(what, *var), self.var_type(*var), ty.as_deref());
        }
    }

    fn axes(&mut self, axes: &[Axis]) -> Vec<VarId> {
        if axes.is_empty() {
            self.error("there is no axis");
        }
        for axis in axes {
            self.extent(&axis.bound);
            if self.var_type(axis.var).is_some_and(|ty| *ty != Type::scalar(ElemType::I64)) {
                let name = self.name(axis.var);
                self.error(format!("the iteration variable `{name}` is not an i64"));
            }
        }
        axes.iter().map(|axis| axis.var).collect()
    }

    fn combine(&mut self, combine: &Combine, items: &[Option<Cow<'_, Type>>]) {
        let Combine { acc, neutral, item, body } = combine;
        if acc.is_empty() {
            self.error("the operator combines nothing");
        }
        let neutral: Vec<_> = neutral.iter().map(|exp| self.value(exp)).collect();
        self.same_types("the neutral element of", acc, &neutral);
        let acc_types: Vec<_> = acc.iter().map(|var| self.var_type(*var).map(Cow::Borrowed)).collect();
        self.same_types("the right operand", item, &acc_types);
        self.same_types("the combined value of", acc, items);
        let both: Vec<VarId> = acc.iter().chain(item).copied().collect();
        self.with_names(&both, |v| {
            let results = v.body(body);
            v.same_types("the combination of", acc, &results);
        });
    }

    fn rhs(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Exps(exps) => exps.iter().for_each(|exp| drop(self.value(exp))),
            Rhs::Kernel { axes, body } => {
                let vars = self.axes(axes);
                self.with_names(&vars, |v| drop(v.body(body)));
            }
            Rhs::Reduce { axes, body, combine } => {
                let vars = self.axes(axes);
                let mut items = Vec::new();
                self.with_names(&vars, |v| items = v.body(body));
                self.combine(combine, &items);
            }
            Rhs::Scan { axis, body, combine } => {
                let vars = self.axes(std::slice::from_ref(axis));
                let mut items = Vec::new();
                self.with_names(&vars, |v| items = v.body(body));
                self.combine(combine, &items);
            }
            Rhs::For { carried, init, axis, body } => {
                self.initial(carried, init);
                let mut vars = self.axes(std::slice::from_ref(axis));
                vars.extend(carried);
                self.with_names(&vars, |v| {
                    let next = v.body(body);
                    if !carried.is_empty() {
                        v.same_types("the next", carried, &next);
                    }
                });
            }
            Rhs::While { carried, init, cond, body } => {
                self.initial(carried, init);
                self.with_names(carried, |v| {
                    v.scalar_of(cond, ElemType::Bool, What::Text("a condition"));
                    let next = v.body(body);
                    v.same_types("the next", carried, &next);
                });
            }
            Rhs::If { cond, then, otherwise } => {
                self.scalar_of(cond, ElemType::Bool, What::Text("a condition"));
                let then = self.body(then);
                let otherwise = self.body(otherwise);
                if then.len() != otherwise.len() {
                    self.error(format!("the branches have {} and {} results", then.len(), otherwise.len()));
                }
                for (a, b) in then.iter().zip(&otherwise) {
                    self.same_type(What::Text("the result of one branch"), a.as_deref(), b.as_deref());
                }
            }
            Rhs::Update { array, index, value } => self.update(*array, index, value),
            Rhs::Manifest { perm, array } => {
                self.used(*array);
                let rank = self.var_type(*array).map_or(0, Type::rank);
                if !is_permutation(perm, rank) {
                    self.error(format!("{perm:?} is not a permutation of {rank} dimensions"));
                }
            }
            Rhs::Scatter { arrays, axes, body, combine } => {
                self.scatter(arrays, axes, body, combine.as_ref());
            }
            Rhs::Array(op) => self.array_op(op),
        }
    }

    fn initial(&mut self, carried: &[VarId], init: &[Exp]) {
        if carried.is_empty() && self.executable {
            self.error("the loop carries nothing");
        }
        let types: Vec<_> = init.iter().map(|exp| self.value(exp)).collect();
        self.same_types("the initial", carried, &types);
    }

    fn update(&mut self, array: VarId, index: &Index, value: &Exp) {
        self.used(array);
        let value = self.value(value);
        let Some(ty) = self.var_type(array) else { return };
        self.index(array, ty, index);
        if let Some(shape) = indexed_shape(&ty.shape, index) {
            let place = Type { elem: ty.elem, shape };
            self.same_type(What::Text("the place of the update"), Some(&place), value.as_deref());
        }
    }

    fn scatter(&mut self, arrays: &[VarId], axes: &[Axis], body: &Body, combine: Option<&Combine>) {
        arrays.iter().for_each(|array| self.used(*array));
        let vars = self.axes(axes);
        let mut results = Vec::new();
        self.with_names(&vars, |v| results = v.body(body));
        let Some(first) = arrays.first().and_then(|array| self.var_type(*array)) else {
            return self.error("there is nothing to write to");
        };
        if first.is_scalar() || results.len() != first.rank() + arrays.len() {
            let (given, wanted) = (results.len(), first.rank());
            return self.error(format!(
                "{given} values for {wanted} indices and a value for each of {} arrays",
                arrays.len()
            ));
        }
        let values = results.split_off(first.rank());
        for index in &results {
            self.same_type(What::Text("an index"), Some(&Type::scalar(ElemType::I64)), index.as_deref());
        }
        for (array, value) in arrays.iter().zip(&values) {
            let Some(ty) = self.var_type(*array) else { continue };
            let beside = Type { elem: ty.elem, shape: first.shape.clone() };
            self.same_type(What::Of("", *array), Some(&beside), Some(ty));
            let place = Type::scalar(ty.elem);
            self.same_type(What::Text("the place of the update"), Some(&place), value.as_deref());
        }
        if let Some(combine) = combine {
            self.combine(combine, &values);
        }
    }

    fn array_op(&mut self, op: &ArrayOp) {
        if matches!(op, ArrayOp::Call { .. }) && self.executable {
            return self.error("`call` has no meaning here");
        }
        op.extents().iter().for_each(|extent| self.extent(extent));
        let mut types = Vec::new();
        op.each_operand(&mut |exp| types.extend(self.value(exp)));
        if !matches!(op, ArrayOp::Call { .. }) && array_op_type(&self.region.vars, op).is_none() {
            return self.error(format!("`{}` does not take these arguments", op.word()));
        }
        match (op, types.as_slice()) {
            (ArrayOp::Concat { .. }, [first, rest @ ..]) => {
                let inner = |ty: &Type| Type { elem: ty.elem, shape: ty.shape[1..].to_vec() };
                for ty in rest {
                    let (first, other) = (inner(first), inner(ty));
                    self.same_type(What::Text("the first array's element"), Some(&first), Some(&other));
                }
            }
            (ArrayOp::Reduce { op, .. }, [ty]) => {
                let fits = op.arity() == 2 && op.accepts(ty.elem) && op.result_type(ty.elem) == ty.elem;
                if !fits || op.info().identity.is_none() || ty.rank() != 1 {
                    self.error(format!("`{op}` does not reduce an array of type {}", self.type_text(ty)));
                }
            }
            _ => {}
        }
    }

    fn used(&mut self, var: VarId) {
        if !self.in_scope.get(var.index()).copied().unwrap_or(false) {
            let name = self.name(var);
            self.error(format!("`{name}` is not in scope"));
        }
    }

    /// A scalar or a whole array.
    fn value(&mut self, exp: &Exp) -> Option<Cow<'a, Type>> {
        match exp {
            Exp::Const(value) => {
                if value.bits & !value.ty.mask() != 0 {
                    self.error("a constant has bits beyond its type");
                }
            }
            Exp::Var(var) => self.used(*var),
            Exp::Op(op, elem, args) => {
                if args.len() != op.arity() {
                    self.error(format!("`{op}` takes {} operands, not {}", op.arity(), args.len()));
                    return None;
                }
                let Some(ty) = operand_elem(&self.region.vars, *op, args) else {
                    args.iter().for_each(|arg| drop(self.value(arg)));
                    return None;
                };
                if ty != *elem {
                    self.error(format!(
                        "`{op}` is said to work on {elem}, but its operands are of type {ty}"
                    ));
                }
                if !op.accepts(ty) {
                    self.error(format!("`{op}` does not work on {ty}"));
                }
                for (k, arg) in args.iter().enumerate() {
                    self.scalar_of(arg, op.operand_type(k, ty), What::Operand(*op));
                }
            }
            Exp::Convert(_, arg) => {
                if self.value(arg).is_some_and(|ty| !ty.is_scalar()) {
                    self.error("an array cannot be converted");
                }
            }
            Exp::Read(read) => {
                let seen = self.reads.get_mut(read.id.0 as usize);
                if seen.is_none_or(|seen| std::mem::replace(seen, true)) {
                    self.error(format!("{} is not a number of its own below {}", read.id, self.region.reads));
                }
                self.used(read.array);
                let ty = self.var_type(read.array)?;
                self.index(read.array, ty, &read.index);
            }
            Exp::Opaque(name, _) if self.executable => {
                self.error(format!("nothing is known of `{name}`"));
            }
            Exp::Opaque(_, args) => args.iter().for_each(|arg| drop(self.value(arg))),
        }
        type_of(&self.region.vars, exp)
    }

    fn scalar_of(&mut self, exp: &Exp, elem: ElemType, what: What<'_>) {
        if is_number(exp, elem) {
            return;
        }
        if let Some(ty) = self.value(exp)
            && (ty.elem != elem || !ty.is_scalar())
        {
            let (text, found) = (self.text(exp), self.type_text(&ty));
            let what = self.words(what);
            self.error(format!("{what} should be of type {elem}: {text} has type {found}"));
        }
    }

    fn index(&mut self, array: VarId, ty: &Type, index: &Index) {
        let used = match index {
            Index::Dims(dims) => dims.len(),
            Index::Lmad { .. } => 1,
        };
        if used > ty.rank() {
            let name = self.name(array);
            self.error(format!("`{name}` has {} dimensions and is indexed with {used}", ty.rank()));
        }
        match index {
            Index::Dims(dims) => {
                for dim in dims {
                    match dim {
                        DimIndex::At(at) => self.scalar_of(at, ElemType::I64, What::Text("an index")),
                        DimIndex::Slice { start, count, step } => {
                            self.scalar_of(start, ElemType::I64, What::Text("an index"));
                            self.extent(count);
                            self.scalar_of(step, ElemType::I64, What::Text("an index"));
                        }
                    }
                }
            }
            Index::Lmad { offset, dims } => {
                self.scalar_of(offset, ElemType::I64, What::Text("an index"));
                for (extent, stride) in dims {
                    self.extent(extent);
                    self.scalar_of(stride, ElemType::I64, What::Text("an index"));
                }
            }
        }
    }
}

/// Whether an expression is a constant of a type, with no bits beyond it.
fn is_number(exp: &Exp, elem: ElemType) -> bool {
    matches!(exp, Exp::Const(value) if value.ty == elem && value.bits & !elem.mask() == 0)
}

fn size_of_exp(exp: &Exp) -> usize {
    let mut size = 0;
    exp.visit(&mut |_| size += 1);
    size
}
