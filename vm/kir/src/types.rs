//! Types of expressions and right sides, and filling in what a text left out.
//!
//! [`infer`] never fails and never changes a type that is there; what stays unknown or does not fit is the
//! verifier's to report. Rules: iteration variables are `i64`; reads follow their arrays; results of kernels and
//! scans get the extents of the axes in front; an integer constant without suffix (which is an `i64` constant in
//! the IR) takes the type of the other operand, of the other branch, or of the name it is bound to; an untyped
//! name that is an operand is a scalar of the other operand's type.

use crate::algebra::{add, mul};
use crate::ir::*;
use galopvm_base::scalar::eval;
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, TypedId};
use std::borrow::Cow;

/// The names of a region with what is known of them.
pub type Vars = IdVec<VarId, Var>;

impl Region {
    /// The element type of an expression, as far as types are known.
    pub fn exp_type(&self, exp: &Exp) -> Option<ElemType> {
        match exp {
            Exp::Op(op, elem, _) => Some(op.result_type(*elem)),
            other => elem_of(&self.vars, other),
        }
    }

    /// The whole type of an expression, as far as types are known.
    pub fn type_of_exp(&self, exp: &Exp) -> Option<Type> {
        type_of(&self.vars, exp).map(Cow::into_owned)
    }
}

/// The element type of an expression. Operations are not asked what they work on: their operands say it, so this holds
/// before inference as well, and the verifier compares.
pub(crate) fn elem_of(vars: &Vars, exp: &Exp) -> Option<ElemType> {
    match exp {
        Exp::Const(value) => Some(value.ty),
        Exp::Var(var) => Some(vars.get(*var)?.ty.as_ref()?.elem),
        Exp::Op(op, _, args) => Some(op.result_type(operand_elem(vars, *op, args)?)),
        Exp::Convert(ty, _) => Some(*ty),
        Exp::Read(read) => Some(vars.get(read.array)?.ty.as_ref()?.elem),
        Exp::Opaque(..) => None,
    }
}

/// What an operation works on as long as nothing is known of its operands, and if nothing ever is.
pub(crate) const OPEN: ElemType = ElemType::I64;

/// The type an operation works on: that of its operands, constants without suffix last.
pub(crate) fn operand_elem(vars: &Vars, op: ScalarOp, args: &[Exp]) -> Option<ElemType> {
    let operands = || args.iter().skip(usize::from(op == ScalarOp::Select));
    operands()
        .filter(|arg| !is_bare(arg))
        .find_map(|arg| elem_of(vars, arg))
        .or_else(|| operands().find_map(|arg| elem_of(vars, arg)))
}

/// An integer constant without suffix, or operations on such alone: takes the type of its surroundings.
fn is_bare(exp: &Exp) -> bool {
    match exp {
        Exp::Const(value) => value.ty == ElemType::I64,
        Exp::Op(op, _, args) => {
            let operands = &args[usize::from(*op == ScalarOp::Select).min(args.len())..];
            op.result_type(ElemType::I64) == ElemType::I64
                && op.result_type(ElemType::I8) == ElemType::I8
                && operands.iter().all(is_bare)
        }
        _ => false,
    }
}

/// The type of an expression.
pub fn type_of<'v>(vars: &'v Vars, exp: &Exp) -> Option<Cow<'v, Type>> {
    match exp {
        Exp::Var(var) => vars.get(*var)?.ty.as_ref().map(Cow::Borrowed),
        Exp::Read(read) => {
            let array = vars.get(read.array)?.ty.as_ref()?;
            Some(Cow::Owned(Type { elem: array.elem, shape: indexed_shape(&array.shape, &read.index)? }))
        }
        other => Some(Cow::Owned(Type::scalar(elem_of(vars, other)?))),
    }
}

/// What is left of a shape under an index; nothing if the index does not fit the rank.
pub(crate) fn indexed_shape(shape: &[Exp], index: &Index) -> Option<Vec<Exp>> {
    let (mut left, used): (Vec<Exp>, usize) = match index {
        Index::Dims(dims) => {
            let slices = dims.iter().filter_map(|dim| match dim {
                DimIndex::At(_) => None,
                DimIndex::Slice { count, .. } => Some(count.clone()),
            });
            (slices.collect(), dims.len())
        }
        Index::Lmad { dims, .. } => (dims.iter().map(|(extent, _)| extent.clone()).collect(), 1),
    };
    left.extend_from_slice(shape.get(used..)?);
    Some(left)
}

fn in_front<'v>(axes: &[Axis], ty: Option<Cow<'v, Type>>) -> Option<Cow<'v, Type>> {
    let ty = ty?;
    let shape = axes.iter().map(|a| &a.bound).chain(&ty.shape).cloned().collect();
    Some(Cow::Owned(Type { elem: ty.elem, shape }))
}

/// The types of a right side's results, as far as the names in it have types.
pub(crate) fn rhs_types<'v>(vars: &'v Vars, rhs: &Rhs) -> Vec<Option<Cow<'v, Type>>> {
    let of_var = |var: &VarId| vars.get(*var).and_then(|v| v.ty.as_ref()).map(Cow::Borrowed);
    let of_exps = |exps: &[Exp]| exps.iter().map(|e| type_of(vars, e)).collect::<Vec<_>>();
    match rhs {
        Rhs::Exps(exps) => of_exps(exps),
        Rhs::Kernel { axes, body } => body.results.iter().map(|e| in_front(axes, type_of(vars, e))).collect(),
        Rhs::Reduce { combine, .. } => combine.acc.iter().map(of_var).collect(),
        Rhs::Scan { axis, combine, .. } => {
            combine.acc.iter().map(|v| in_front(std::slice::from_ref(axis), of_var(v))).collect()
        }
        // A loop that carries nothing gives the values of its last round (texts written by hand).
        Rhs::For { carried, body, .. } if carried.is_empty() => of_exps(&body.results),
        Rhs::For { carried, .. } | Rhs::While { carried, .. } => carried.iter().map(of_var).collect(),
        Rhs::If { then, otherwise, .. } => {
            let sides = of_exps(&then.results).into_iter().zip(of_exps(&otherwise.results));
            sides.map(|(a, b)| a.or(b)).collect()
        }
        Rhs::Update { array, .. } | Rhs::Manifest { array, .. } => vec![of_var(array)],
        Rhs::Scatter { arrays, .. } => arrays.iter().map(of_var).collect(),
        Rhs::Array(op) => vec![array_op_type(vars, op).map(Cow::Owned)],
    }
}

/// The type of an operation on arrays, if its operands have types that it takes; nothing is known of a `call`.
pub(crate) fn array_op_type(vars: &Vars, op: &ArrayOp) -> Option<Type> {
    let array = |exp: &Exp| type_of(vars, exp).filter(|ty| !ty.is_scalar()).map(Cow::into_owned);
    match op {
        ArrayOp::Concat { first, rest } => {
            let mut ty = array(first)?;
            for exp in rest {
                let extent = array(exp)?.shape.swap_remove(0);
                ty.shape[0] = add(ty.shape[0].clone(), extent);
            }
            Some(ty)
        }
        ArrayOp::Copy(exp) => array(exp),
        // An array has a dimension.
        ArrayOp::Scratch { shape, .. }
        | ArrayOp::Replicate { shape, .. }
        | ArrayOp::View { change: ViewChange::Reshape(shape), .. }
            if shape.is_empty() =>
        {
            None
        }
        ArrayOp::Scratch { shape, elem } => Some(Type { elem: *elem, shape: shape.clone() }),
        ArrayOp::Iota(extent) => Some(Type { elem: ElemType::I64, shape: vec![extent.clone()] }),
        ArrayOp::Replicate { shape, value } => {
            let ty = type_of(vars, value)?;
            Some(Type { elem: ty.elem, shape: shape.iter().chain(&ty.shape).cloned().collect() })
        }
        ArrayOp::View { change, array: exp } => {
            let ty = array(exp)?;
            Some(Type { elem: ty.elem, shape: view_shape(change, ty.shape)? })
        }
        ArrayOp::Call { .. } => None,
        ArrayOp::Reduce { op: _, array: exp } => {
            let mut ty = array(exp)?;
            ty.shape.remove(0);
            Some(ty)
        }
    }
}

/// The shape of an array of this shape that is seen otherwise, if it can be.
fn view_shape(change: &ViewChange, mut shape: Vec<Exp>) -> Option<Vec<Exp>> {
    match change {
        ViewChange::Transpose => {
            let perm = change.permutation(shape.len())?;
            Some(perm.iter().map(|dim| shape[*dim].clone()).collect())
        }
        ViewChange::Rearrange(perm) if is_permutation(perm, shape.len()) => {
            Some(perm.iter().map(|dim| shape[*dim].clone()).collect())
        }
        ViewChange::Rearrange(_) => None,
        ViewChange::Reverse => Some(shape),
        ViewChange::Reshape(shape) => Some(shape.clone()),
        ViewChange::Flatten if shape.len() >= 2 => {
            let inner = shape.remove(1);
            shape[0] = mul(shape[0].clone(), inner);
            Some(shape)
        }
        ViewChange::Flatten => None,
    }
}

/// True if `perm` names each of `rank` dimensions once.
pub(crate) fn is_permutation(perm: &[usize], rank: usize) -> bool {
    perm.len() == rank && (0..rank).all(|dim| perm.contains(&dim))
}

/// The value of an expression over constants and the names that `lookup` knows; nothing if it needs anything
/// else or divides by zero.
pub fn scalar_value(exp: &Exp, lookup: &dyn Fn(VarId) -> Option<Scalar>) -> Option<Scalar> {
    match exp {
        Exp::Const(value) => Some(*value),
        Exp::Var(var) => lookup(*var),
        Exp::Convert(ty, arg) => {
            let value = scalar_value(arg, lookup)?;
            Some(Scalar::new(*ty, galopvm_base::scalar::convert(value.ty, *ty, value.bits)))
        }
        Exp::Op(op, elem, args) => {
            // No operation has more operands.
            let mut bits = [0; 3];
            for (k, arg) in args.iter().enumerate() {
                *bits.get_mut(k)? = scalar_value(arg, lookup)?.bits;
            }
            Some(Scalar::new(op.result_type(*elem), eval(*op, *elem, bits.get(..op.arity())?).ok()?))
        }
        Exp::Read(_) | Exp::Opaque(..) => None,
    }
}

/// Fills in missing types and gives constants without suffix the type of their surroundings.
///
/// Goes over the region until nothing new is found: later statements say what earlier ones are. What a function that
/// is not known gives is of the element type that is wanted of it, of its first argument's or `i64`.
pub fn infer(region: &mut Region) {
    let mut body = std::mem::take(&mut region.body);
    let vars = std::mem::take(&mut region.vars);
    let mut inference = Inference { hints: vec![None; vars.len()], vars, settled: false };
    loop {
        let before = inference.known();
        inference.body(&mut body, &[]);
        let after = inference.known();
        if after.0 == inference.vars.len() || inference.settled {
            break;
        }
        inference.settled = before == after;
    }
    region.vars = inference.vars;
    region.body = body;
    settle_operations(region);
}

/// Says of every operation what it works on, as far as its operands tell; the others work on [`OPEN`].
pub(crate) fn settle_operations(region: &mut Region) {
    fn settle(vars: &Vars, exp: &mut Exp) {
        exp.each_part_mut(&mut |part| settle(vars, part));
        if let Exp::Op(op, elem, args) = exp {
            *elem = operand_elem(vars, *op, args).unwrap_or(OPEN);
        }
    }
    let vars = &region.vars;
    region.body.visit_exps_mut(&mut |exp| settle(vars, exp));
}

struct Inference {
    vars: Vars,
    /// Element types of names whose shape is not known yet.
    hints: Vec<Option<ElemType>>,
    /// Nothing more will be found: what is open gets the usual types.
    settled: bool,
}

impl Inference {
    fn set(&mut self, var: VarId, ty: Option<Type>) {
        if let Some(known) = self.vars.get_mut(var)
            && known.ty.is_none()
        {
            known.ty = ty;
        }
    }

    fn var_type(&self, var: VarId) -> Option<Type> {
        self.vars.get(var)?.ty.clone()
    }

    /// How many types and how many hints there are.
    fn known(&self) -> (usize, usize) {
        (self.vars.iter().filter(|var| var.ty.is_some()).count(), self.hints.iter().flatten().count())
    }

    fn elem(&self, var: VarId) -> Option<ElemType> {
        self.var_type(var).map(|ty| ty.elem).or(self.hints.get(var.index()).copied().flatten())
    }

    fn elems(&self, vars: &[VarId]) -> Vec<Option<ElemType>> {
        vars.iter().map(|v| self.elem(*v)).collect()
    }

    fn hint(&mut self, exp: &Exp, elem: Option<ElemType>) {
        if let Exp::Var(var) = exp
            && let Some(hint) = self.hints.get_mut(var.index())
        {
            *hint = hint.or(elem);
        }
    }

    /// Statements, then results, whose constants take the wanted types.
    fn body(&mut self, body: &mut Body, wanted: &[Option<ElemType>]) {
        for stm in &mut body.stms {
            self.statement(stm);
        }
        self.exps(&mut body.results, wanted);
    }

    fn exps(&mut self, exps: &mut [Exp], wanted: &[Option<ElemType>]) {
        for (k, exp) in exps.iter_mut().enumerate() {
            self.value(exp, wanted.get(k).copied().flatten());
        }
    }

    /// A scalar or an array.
    fn value(&mut self, exp: &mut Exp, wanted: Option<ElemType>) {
        match exp {
            Exp::Var(_) if !self.settled => self.hint(exp, wanted),
            _ => self.exp(exp, wanted),
        }
    }

    fn exp(&mut self, exp: &mut Exp, wanted: Option<ElemType>) {
        match exp {
            Exp::Const(value) => {
                if let Some(ty) = wanted
                    && value.ty == ElemType::I64
                    && ty != ElemType::Bool
                {
                    *value = Scalar::from_int(ty, value.as_i64());
                }
            }
            Exp::Var(var) => self.set(*var, wanted.map(Type::scalar)),
            Exp::Op(op, _, args) => {
                let known = args.iter().skip(usize::from(*op == ScalarOp::Select));
                let known = known.filter(|arg| !is_bare(arg)).find_map(|arg| elem_of(&self.vars, arg));
                let same = op.result_type(ElemType::I64) == ElemType::I64
                    && op.result_type(ElemType::I8) == ElemType::I8;
                let ty = known.or(wanted.filter(|_| same));
                let ty = ty.or((self.settled || args.iter().all(is_bare)).then_some(ElemType::I64));
                for (k, arg) in args.iter_mut().enumerate() {
                    self.exp(arg, ty.map(|ty| op.operand_type(k, ty)));
                }
            }
            Exp::Convert(_, arg) => self.exp(arg, None),
            Exp::Read(read) => self.index(&mut read.index),
            Exp::Opaque(_, args) => self.exps(args, &[]),
        }
    }

    fn index(&mut self, index: &mut Index) {
        index.each_exp_mut(&mut |exp| self.exp(exp, Some(ElemType::I64)));
    }

    fn axes(&mut self, axes: &mut [Axis]) {
        for axis in axes {
            self.exp(&mut axis.bound, Some(ElemType::I64));
            self.set(axis.var, Some(Type::scalar(ElemType::I64)));
        }
    }

    fn statement(&mut self, stm: &mut Stm) {
        let wanted = self.elems(&stm.pat);
        match &mut stm.rhs {
            Rhs::Exps(exps) => self.exps(exps, &wanted),
            Rhs::Kernel { axes, body } => {
                self.axes(axes);
                self.body(body, &wanted);
            }
            Rhs::Reduce { axes, body, combine } => {
                self.axes(axes);
                self.combined(body, combine, &wanted);
            }
            Rhs::Scan { axis, body, combine } => {
                self.axes(std::slice::from_mut(axis));
                self.combined(body, combine, &wanted);
            }
            Rhs::For { carried, init, axis, body } => {
                self.axes(std::slice::from_mut(axis));
                self.carried(carried, init, &wanted);
                let known = self.elems(carried);
                self.body(body, &known);
                self.settle(carried, init, body);
            }
            Rhs::While { carried, init, cond, body } => {
                self.carried(carried, init, &wanted);
                let known = self.elems(carried);
                self.body(body, &known);
                self.settle(carried, init, body);
                self.exp(cond, Some(ElemType::Bool));
            }
            Rhs::If { cond, then, otherwise } => {
                self.exp(cond, Some(ElemType::Bool));
                self.body(then, &wanted);
                self.body(otherwise, &wanted);
                let sides = then.results.iter_mut().zip(&mut otherwise.results);
                for (a, b) in sides {
                    match (is_bare(a), is_bare(b)) {
                        (true, false) => self.exp(a, elem_of(&self.vars, b)),
                        (false, true) => self.exp(b, elem_of(&self.vars, a)),
                        _ => {}
                    }
                }
            }
            Rhs::Update { array, index, value } => {
                self.index(index);
                let ty = self.var_type(*array);
                if let (Exp::Var(var), Some(ty)) = (&*value, &ty) {
                    let shape = indexed_shape(&ty.shape, index);
                    self.set(*var, shape.map(|shape| Type { elem: ty.elem, shape }));
                }
                self.value(value, ty.map(|ty| ty.elem));
            }
            Rhs::Manifest { .. } => {}
            Rhs::Scatter { arrays, axes, body, combine } => {
                self.axes(axes);
                let elems = self.elems(arrays);
                let depth = body.results.len().saturating_sub(arrays.len());
                let wanted = [vec![Some(ElemType::I64); depth], elems.clone()].concat();
                self.body(body, &wanted);
                if let Some(combine) = combine {
                    for (k, elem) in elems.iter().enumerate() {
                        let operands = combine.acc.get(k).into_iter().chain(combine.item.get(k));
                        operands.for_each(|var| self.set(*var, elem.map(Type::scalar)));
                    }
                    self.exps(&mut combine.neutral, &elems);
                    self.body(&mut combine.body, &elems);
                }
            }
            Rhs::Array(op) => self.array_op(op, wanted.first().copied().flatten()),
        }
        let types: Vec<_> =
            rhs_types(&self.vars, &stm.rhs).into_iter().map(|ty| ty.map(Cow::into_owned)).collect();
        for (k, (var, ty)) in stm.pat.iter().zip(types).enumerate() {
            let ty = ty.or_else(|| self.opaque_type(&stm.rhs, k, wanted.get(k).copied().flatten()));
            self.set(*var, ty);
        }
    }

    fn array_op(&mut self, op: &mut ArrayOp, elem: Option<ElemType>) {
        match op {
            ArrayOp::Concat { first, rest } => {
                std::iter::once(first).chain(rest).for_each(|array| self.alike(array, elem));
            }
            ArrayOp::Copy(array) => self.alike(array, elem),
            ArrayOp::View { change, array } => {
                self.alike(array, elem);
                if let ViewChange::Reshape(shape) = change {
                    self.extents(shape);
                }
            }
            ArrayOp::Scratch { shape, elem: _ } => self.extents(shape),
            ArrayOp::Iota(extent) => self.extents(std::slice::from_mut(extent)),
            ArrayOp::Replicate { shape, value } => {
                self.extents(shape);
                let elem = elem.filter(|_| is_bare(value));
                self.value(value, elem);
            }
            ArrayOp::Call { args, shape, .. } => {
                self.exps(args, &[]);
                self.extents(shape);
            }
            ArrayOp::Reduce { op: _, array } => self.value(array, None),
        }
    }

    /// An array of which the result has the element type.
    fn alike(&mut self, array: &mut Exp, elem: Option<ElemType>) {
        self.hint(array, elem);
        self.value(array, None);
    }

    fn extents(&mut self, extents: &mut [Exp]) {
        extents.iter_mut().for_each(|extent| self.exp(extent, Some(ElemType::I64)));
    }

    /// The type of what a function gives that nothing is known of.
    fn opaque_type(&self, rhs: &Rhs, result: usize, wanted: Option<ElemType>) -> Option<Type> {
        let (args, shape) = match rhs {
            Rhs::Exps(exps) => match exps.get(result) {
                Some(Exp::Opaque(_, args)) => (args, Vec::new()),
                _ => return None,
            },
            Rhs::Array(ArrayOp::Call { args, shape, .. }) => (args, shape.clone()),
            _ => return None,
        };
        let usual = || args.iter().find_map(|arg| elem_of(&self.vars, arg)).unwrap_or(ElemType::I64);
        let elem = wanted.or_else(|| self.settled.then(usual))?;
        Some(Type { elem, shape })
    }

    /// Carried names take the types of their initial values, unless these are constants without suffix.
    fn carried(&mut self, carried: &[VarId], init: &mut [Exp], wanted: &[Option<ElemType>]) {
        for (k, (var, exp)) in carried.iter().zip(init).enumerate() {
            let elem = self.elem(*var).or(wanted.get(k).copied().flatten());
            self.value(exp, elem);
            if !is_bare(exp) || elem.is_some() {
                let ty = type_of(&self.vars, exp).map(Cow::into_owned);
                self.set(*var, ty);
            }
        }
    }

    /// After the body: what it says of carried names that are still open, and of constants among its results.
    fn settle(&mut self, carried: &[VarId], init: &mut [Exp], body: &mut Body) {
        for (k, var) in carried.iter().enumerate() {
            if let Some(result) = body.results.get(k).filter(|r| !is_bare(r)) {
                let ty = type_of(&self.vars, result).map(Cow::into_owned);
                self.set(*var, ty);
            }
            if self.settled {
                self.set(*var, Some(Type::scalar(ElemType::I64)));
            }
        }
        let known = self.elems(carried);
        self.exps(init, &known);
        self.exps(&mut body.results, &known);
    }

    fn combined(&mut self, body: &mut Body, combine: &mut Combine, wanted: &[Option<ElemType>]) {
        self.body(body, wanted);
        for k in 0..combine.acc.len() {
            let (acc, item) = (Some(combine.acc[k]), combine.item.get(k).copied());
            let declared = [acc, item].into_iter().flatten().find_map(|v| self.var_type(v));
            let from = |exp: Option<&Exp>| {
                exp.filter(|e| !is_bare(e)).and_then(|e| type_of(&self.vars, e)).map(Cow::into_owned)
            };
            let ty = declared
                .or_else(|| from(body.results.get(k)))
                .or_else(|| from(combine.neutral.get(k)))
                .or_else(|| wanted.get(k).copied().flatten().map(Type::scalar))
                .or_else(|| self.settled.then_some(Type::scalar(ElemType::I64)));
            for var in [acc, item].into_iter().flatten() {
                self.set(var, ty.clone());
            }
        }
        let known = self.elems(&combine.acc);
        self.exps(&mut body.results, &known);
        self.exps(&mut combine.neutral, &known);
        self.body(&mut combine.body, &known);
    }
}
