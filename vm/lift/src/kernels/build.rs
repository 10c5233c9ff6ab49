//! The region under construction: names, parameters, open bodies, and what is known about sizes.
//!
//! Extents of parameters are names of the region. Where code can only go on if two extents are equal, an extent
//! of a parameter simply takes the other's place: the shapes of a region's parameters are checked at launch, so a
//! launch that breaks the equality is left to the interpreter.

use super::uses::{Origin, Uses};
use super::value::{Array, Source, Value};
use super::{Binding, LiftRefusal};
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp};
use galopvm_bytecode::{FuncId, Module, RegId};
use galopvm_kir::algebra::{self, constant, is_atom, may_trap};
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Name, Read, ReadId, Region, Rhs, Stm, Type, Var, VarId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The result of everything that may find that code cannot be lifted.
pub(super) type Lift<T> = Result<T, LiftRefusal>;

/// Instructions that one region may be made of, repetitions included.
const FUEL: u32 = 4096;
/// Largest expression that is kept for comparing sizes.
const LARGEST_SIZE: usize = 16;

/// What a name stands for; it decides how the name is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A scalar parameter that is an extent or a count.
    Size,
    /// Another scalar parameter.
    Scalar,
    /// An array parameter.
    Array,
    /// What the region defines itself.
    Local,
}

/// What the lifter knows of a name besides what the region says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub role: Role,
    /// How many bodies were open where it was defined; parameters have 0.
    pub depth: usize,
}

/// A parameter, in the order of discovery.
pub(super) struct Param {
    pub var: VarId,
    pub binding: Binding,
}

/// A body that is being filled.
#[derive(Default)]
struct Scope {
    stms: Vec<Stm>,
    /// Conditions that trapped if they did not hold.
    required: Vec<Exp>,
    /// Axes of the body's statement: inside, their bounds are at least 1.
    axes: Vec<VarId>,
}

/// The state of a lift.
pub(super) struct Lifter<'m> {
    pub module: &'m Module,
    /// The function of the operator.
    root: FuncId,
    /// The function that is being lifted: that one, or one that is called.
    pub function: FuncId,
    pub region: Region,
    pub known: IdVec<VarId, Known>,
    pub params: Vec<Param>,
    /// Extents of parameters that were replaced by other sizes.
    pub merged: BTreeMap<VarId, Exp>,
    /// What the sizes and scalars of a launch must satisfy.
    pub guards: Vec<Exp>,
    /// Reads that cannot leave their array.
    pub safe: BTreeSet<ReadId>,
    /// The values of its registers.
    pub env: HashMap<RegId, Value>,
    pub nesting: u32,
    fuel: u32,
    sizes: BTreeMap<VarId, Exp>,
    bounds: BTreeMap<VarId, Exp>,
    scopes: Vec<Scope>,
    /// Conditions that a launch knows. Where one holds, the code at hand is not reached.
    passed_by: Vec<Exp>,
    uses: HashMap<FuncId, Rc<Uses>>,
}

impl<'m> Lifter<'m> {
    pub fn new(module: &'m Module, root: FuncId) -> Lifter<'m> {
        Lifter {
            module,
            root,
            function: root,
            region: Region::default(),
            known: IdVec::new(),
            params: Vec::new(),
            merged: BTreeMap::new(),
            guards: Vec::new(),
            safe: BTreeSet::new(),
            env: HashMap::new(),
            nesting: 0,
            fuel: FUEL,
            sizes: BTreeMap::new(),
            bounds: BTreeMap::new(),
            scopes: vec![Scope::default()],
            passed_by: Vec::new(),
            uses: HashMap::new(),
        }
    }

    /// Counts an instruction.
    pub fn burn(&mut self) -> Lift<()> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| {
            LiftRefusal::new(format!("more than {FUEL} instructions, counting inlined and repeated ones"))
        })?;
        Ok(())
    }

    /// The uses of the registers of a function.
    pub fn uses(&mut self, function: FuncId) -> Rc<Uses> {
        let code = &self.module.functions[function];
        self.uses.entry(function).or_insert_with(|| Rc::new(Uses::of(code))).clone()
    }

    // Names and bodies

    fn name(&mut self, role: Role, ty: Type, depth: usize) -> VarId {
        // The last step of a lift gives the names that people see.
        let name = Name::numbered("v", self.region.vars.len());
        self.known.push(Known { role, depth });
        self.region.vars.push(Var { name, ty: Some(ty) })
    }

    /// A new name for a value computed in the open body.
    pub fn local(&mut self, ty: Type) -> VarId {
        self.name(Role::Local, ty, self.scopes.len())
    }

    /// A new iteration variable of the open body.
    pub fn axis(&mut self, bound: Exp) -> Axis {
        if let Exp::Var(size) = &bound
            && self.known[*size].depth == 0
        {
            self.known[*size].role = Role::Size;
        }
        let var = self.local(Type::scalar(ElemType::I64));
        self.bounds.insert(var, bound.clone());
        if let Some(scope) = self.scopes.last_mut() {
            scope.axes.push(var);
        }
        Axis { var, bound }
    }

    /// Starts a body inside the open one.
    pub fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Ends the innermost body.
    pub fn close(&mut self, results: Vec<Exp>) -> Body {
        let scope = self.scopes.pop().unwrap_or_default();
        Body { stms: scope.stms, results }
    }

    /// How many bodies are open.
    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// The statements of the open body so far.
    pub fn stms(&self) -> &[Stm] {
        self.scopes.last().map_or(&[], |s| &s.stms)
    }

    /// Adds a statement to the open body.
    pub fn emit(&mut self, pat: Vec<VarId>, rhs: Rhs) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.stms.push(Stm { pat, rhs });
        }
    }

    /// Names a scalar expression, unless it is an atom.
    pub fn bind(&mut self, elem: ElemType, exp: Exp) -> Exp {
        if is_atom(&exp) {
            return exp;
        }
        let var = self.local(Type::scalar(elem));
        if matches!(elem, ElemType::I64 | ElemType::Bool) {
            let size = self.expand(&exp);
            if is_size(&size) {
                self.sizes.insert(var, size);
            }
        }
        self.emit(vec![var], Rhs::Exps(vec![exp]));
        Exp::Var(var)
    }

    /// An element of a named array.
    pub fn read(&mut self, array: VarId, elem: ElemType, index: Vec<Exp>, safe: bool) -> Exp {
        let id = ReadId(self.region.reads);
        self.region.reads += 1;
        // A launch that does not come here may do so with any sizes.
        if safe && self.passed_by.is_empty() {
            self.safe.insert(id);
        }
        let index = Index::Dims(index.into_iter().map(DimIndex::At).collect());
        self.bind(elem, Exp::Read(Read { id, array, index }))
    }

    // Parameters

    /// The value of a register that the code does not define.
    pub fn capture(&mut self, reg: RegId, elem: ElemType, rank: usize) -> Value {
        let origin = self.uses(self.root).origin(reg);
        if let Some(Origin::Const(value)) = origin {
            return Value::Scalar(Exp::Const(value));
        }
        if rank == 0 {
            if let Some(Origin::Dim(array, dim)) = origin
                && let Some(extent) = self.extent_of(array, dim)
            {
                return Value::Scalar(extent);
            }
            return Value::Scalar(Exp::Var(self.param(
                Role::Scalar,
                Type::scalar(elem),
                Binding::Scalar(reg),
            )));
        }
        let shape: Vec<Exp> = (0..rank as u32)
            .map(|dim| {
                if let Some(known) = self.scalar_that_is(Origin::Dim(reg, dim)) {
                    self.known[known].role = Role::Size;
                    return Exp::Var(known);
                }
                let ty = Type::scalar(ElemType::I64);
                Exp::Var(self.param(Role::Size, ty, Binding::Extent { array: reg, dim }))
            })
            .collect();
        let var = self.param(Role::Array, Type { elem, shape: shape.clone() }, Binding::Array(reg));
        Value::Array(Array::whole(elem, shape, Source::Name(var)))
    }

    /// An extent of an array that is a parameter.
    fn extent_of(&self, array: RegId, dim: u32) -> Option<Exp> {
        let param = self.params.iter().find(|p| p.binding == Binding::Array(array))?;
        self.region.vars[param.var].ty.as_ref()?.shape.get(dim as usize).cloned()
    }

    /// The scalar parameter that has this origin.
    fn scalar_that_is(&mut self, origin: Origin) -> Option<VarId> {
        let uses = self.uses(self.root);
        let is = |p: &&Param| matches!(p.binding, Binding::Scalar(reg) if uses.origin(reg) == Some(origin));
        self.params.iter().find(is).map(|p| p.var)
    }

    /// The guards as they are in the end: without those that hold by the shapes of parameters.
    pub fn settled_guards(&mut self) -> Vec<Exp> {
        let uses = self.uses(self.root);
        let mut guards: Vec<Exp> = Vec::new();
        for guard in std::mem::take(&mut self.guards) {
            let origin = match &guard {
                Exp::Var(var) => self.params.iter().find(|p| p.var == *var).and_then(|p| match p.binding {
                    Binding::Scalar(reg) => uses.origin(reg),
                    _ => None,
                }),
                _ => None,
            };
            // The value of a comparison that was made before the region need not be asked if both sides are here.
            let size = |reg: RegId| match uses.origin(reg)? {
                Origin::Dim(array, dim) => self.extent_of(array, dim),
                Origin::Const(value) => Some(Exp::Const(value)),
                _ => None,
            };
            let guard = match origin {
                Some(Origin::Equal(a, b)) => match (size(a), size(b)) {
                    (Some(a), Some(b)) => algebra::int(ScalarOp::Eq, a, b),
                    _ => guard,
                },
                _ => guard,
            };
            let guard = self.expand(&guard);
            if !self.is_certain(&guard) && !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        guards
    }

    fn param(&mut self, role: Role, ty: Type, binding: Binding) -> VarId {
        let var = self.name(role, ty, 0);
        self.region.params.push(var);
        self.params.push(Param { var, binding });
        var
    }

    /// True for a size that takes its value from the array whose shape it is in, and so may give way to another.
    fn is_extent(&self, var: VarId) -> bool {
        self.params.iter().any(|p| p.var == var && matches!(p.binding, Binding::Extent { .. }))
    }

    /// True for a size that is an extent of some array, and so not negative.
    fn is_some_extent(&self, var: VarId) -> bool {
        let uses = self.uses.get(&self.root);
        let dim = |reg| matches!(uses.and_then(|u| u.origin(reg)), Some(Origin::Dim(..)));
        self.is_extent(var)
            || self
                .params
                .iter()
                .any(|p| p.var == var && matches!(p.binding, Binding::Scalar(reg) if dim(reg)))
    }

    // Sizes

    /// The expression with replaced extents replaced.
    pub fn resolve(&self, exp: &Exp) -> Exp {
        exp.substitute(&|var| self.merged.get(&var).map(|e| self.resolve(e)))
    }

    /// The expression over parameters, as far as names stand for sizes.
    pub fn expand(&self, exp: &Exp) -> Exp {
        let expand = |var| self.sizes.get(&var).map(|size| self.resolve(size));
        self.resolve(exp).substitute(&expand)
    }

    /// True if the two are certainly equal.
    pub fn same(&self, a: &Exp, b: &Exp) -> bool {
        a == b || self.expand(a) == self.expand(b)
    }

    /// Lifts what is not reached where a condition holds. Launches that know the condition are asked for what they come to.
    pub fn unless<T>(&mut self, cond: &Exp, lift: impl FnOnce(&mut Self) -> Lift<T>) -> Lift<T> {
        let cond = self.expand(cond);
        if !self.is_known_outside(&cond, 1) {
            return lift(self);
        }
        self.passed_by.push(cond);
        let made = lift(self);
        self.passed_by.pop();
        made
    }

    /// True if nothing in the expression was defined inside `depth` or more open bodies.
    pub fn is_known_outside(&self, exp: &Exp, depth: usize) -> bool {
        let mut outside = true;
        exp.visit(&mut |part| match part {
            Exp::Var(var) => outside &= self.known[*var].depth < depth,
            Exp::Read(_) | Exp::Opaque(..) => outside = false,
            _ => {}
        });
        outside
    }

    /// Makes two sizes equal: they are, or an extent of a parameter gives way, or code is emitted that traps
    /// unless they are.
    pub fn equate(&mut self, a: &Exp, b: &Exp) {
        let (a, b) = (self.expand(a), self.expand(b));
        if a == b || self.merge(&a, &b) || self.merge(&b, &a) {
            return;
        }
        self.require(algebra::int(ScalarOp::Eq, a, b));
    }

    /// True if a condition certainly holds. What is known at entry is made to hold: an extent gives way, or
    /// launches are asked.
    pub fn holds(&mut self, cond: &Exp) -> bool {
        let cond = self.expand(cond);
        if let Exp::Op(ScalarOp::Eq, _, sides) = &cond
            && (sides[0] == sides[1] || self.merge(&sides[0], &sides[1]) || self.merge(&sides[1], &sides[0]))
        {
            return true;
        }
        let known = self.is_known_outside(&cond, 1);
        if known {
            self.require(cond.clone());
        }
        known || self.is_certain(&cond)
    }

    fn merge(&mut self, extent: &Exp, size: &Exp) -> bool {
        let Exp::Var(var) = extent else { return false };
        let simple = match size {
            Exp::Var(size) => self.known[*size].depth == 0,
            // An extent is never negative: the two are compared, and differ.
            Exp::Const(number) => number.as_i64() >= 0,
            _ => false,
        };
        if !simple || extent == size || !self.is_extent(*var) || !self.passed_by.is_empty() {
            return false;
        }
        self.merged.insert(*var, size.clone());
        if let Exp::Var(name) = size {
            self.known[*name].role = Role::Size;
            // A launch takes a negative size for an extent of 0.
            self.require(algebra::int(ScalarOp::Le, Exp::int(0), size.clone()));
        }
        true
    }

    /// True if an index certainly lies below an extent and is not negative.
    pub fn is_inside(&self, index: &Exp, extent: &Exp) -> bool {
        match (index, constant(&self.expand(extent))) {
            (Exp::Const(_), Some(extent)) => constant(index).is_some_and(|i| 0 <= i && i < extent),
            (Exp::Var(var), _) => self.bounds.get(var).is_some_and(|bound| self.same(bound, extent)),
            _ => false,
        }
    }

    /// True if a size is certainly not less than `least`, which is 0 or 1.
    pub fn is_at_least(&self, size: &Exp, least: i64) -> bool {
        let size = self.expand(size);
        if let Some(value) = constant(&size) {
            return value >= least;
        }
        let mut axes = self.scopes.iter().flat_map(|s| &s.axes);
        if axes.any(|axis| self.bounds.get(axis).is_some_and(|bound| self.expand(bound) == size)) {
            return true;
        }
        least == 0 && matches!(size, Exp::Var(var) if self.is_some_extent(var))
    }

    fn is_axis(&self, exp: &Exp) -> bool {
        matches!(exp, Exp::Var(var) if self.bounds.contains_key(var))
    }

    /// True if a condition certainly holds where the code stands.
    pub fn is_certain(&self, cond: &Exp) -> bool {
        let Exp::Op(op, _, sides) = cond else { return algebra::is_true(cond) };
        let low = sides.first().and_then(constant);
        match (op, low) {
            (ScalarOp::Le, Some(low)) if low <= 0 && self.is_axis(&sides[1]) => true,
            (ScalarOp::Le, Some(low)) if low <= 1 => self.is_at_least(&sides[1], low.max(0)),
            (ScalarOp::Lt, Some(low)) if low <= 0 => {
                self.is_at_least(&sides[1], low.saturating_add(1).max(0))
            }
            (ScalarOp::Le | ScalarOp::Eq, _) => sides[0] == sides[1],
            _ => false,
        }
    }

    /// Emits a trap for the case that a condition does not hold: a division by zero. A condition over parameters
    /// is one for launches instead.
    pub fn require(&mut self, cond: Exp) {
        let cond = self.expand(&cond);
        if let Exp::Op(ScalarOp::And, _, sides) = cond {
            // Parts that hold at entry leave a shorter question.
            let (known, open): (Vec<Exp>, Vec<Exp>) =
                conjuncts(sides).into_iter().partition(|c| self.is_known_outside(c, 1));
            known.into_iter().for_each(|c| self.require(c));
            let open = open.into_iter().filter(|c| !self.is_certain(c)).reduce(algebra::and);
            if let Some(cond) = open {
                self.trap_unless(cond);
            }
        } else if cond == Exp::Const(Scalar::bool(false)) {
            self.trap();
        } else if self.is_known_outside(&cond, 1) {
            if !self.is_certain(&cond) && !self.guards.contains(&cond) {
                self.guards.push(self.passed_by.iter().cloned().fold(cond, algebra::or));
            }
        } else if !self.is_certain(&cond) {
            self.trap_unless(cond);
        }
    }

    /// Emits a trap for every time the code is reached.
    pub fn trap(&mut self) {
        self.trap_unless(Exp::Const(Scalar::bool(false)));
    }

    fn trap_unless(&mut self, cond: Exp) {
        if self.scopes.iter().any(|s| s.required.contains(&cond)) {
            return;
        }
        let number = algebra::convert(ElemType::Bool, ElemType::I64, cond.clone());
        let check = Exp::Op(ScalarOp::Div, ElemType::I64, vec![Exp::int(1), number]);
        let var = self.local(Type::scalar(ElemType::I64));
        self.emit(vec![var], Rhs::Exps(vec![check]));
        if let Some(scope) = self.scopes.last_mut() {
            scope.required.push(cond);
        }
    }

    /// Emits a trap for the case that an index lies outside an extent.
    pub fn require_inside(&mut self, index: &Exp, extent: &Exp) {
        if let Exp::Var(var) = index
            && let Some(bound) = self.bounds.get(var).map(|b| self.expand(b))
            && self.is_known_outside(&bound, 1)
            && self.is_known_outside(&self.expand(extent), 1)
        {
            // All indices of an axis are inside if the last one is.
            if !self.same(&bound, extent) {
                self.require(algebra::int(ScalarOp::Le, bound, extent.clone()));
            }
        } else if !self.is_inside(index, extent) {
            let low = algebra::int(ScalarOp::Le, Exp::int(0), index.clone());
            let high = algebra::int(ScalarOp::Lt, index.clone(), extent.clone());
            self.require(algebra::and(low, high));
        }
    }

    /// Asks every launch for extents of at least 1; false if they are not known at entry.
    pub fn guard_not_empty(&mut self, shape: &[Exp]) -> bool {
        let shape: Vec<Exp> = shape.iter().map(|e| self.expand(e)).collect();
        let known = shape.iter().all(|e| self.is_known_outside(e, 1));
        if known {
            shape.into_iter().for_each(|e| self.require(algebra::int(ScalarOp::Lt, Exp::int(0), e)));
        }
        known
    }
}

fn conjuncts(sides: Vec<Exp>) -> Vec<Exp> {
    let part = |side| match side {
        Exp::Op(ScalarOp::And, _, sides) => conjuncts(sides),
        other => vec![other],
    };
    sides.into_iter().flat_map(part).collect()
}

/// True for small expressions whose value depends on nothing but names and which cannot trap.
fn is_size(exp: &Exp) -> bool {
    let (mut parts, mut total) = (0, true);
    exp.visit(&mut |part| {
        parts += 1;
        total &= match part {
            Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => true,
            Exp::Op(op, _, args) => !may_trap(*op, ElemType::I64, args),
            Exp::Read(_) | Exp::Opaque(..) => false,
        }
    });
    total && parts <= LARGEST_SIZE
}
