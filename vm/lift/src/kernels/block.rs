//! Lifting code blocks: scalar instructions, control, views.

use super::build::{Lift, Lifter};
use super::scatter::Writes;
use super::value::{Array, Source, Value};
use super::{LiftRefusal, refuse};
use crate::meaning::{Range, Scalar, scalar};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::module::BODY;
use galopvm_bytecode::{
    BlockId, CodeBlock, Def, FuncId, Function, Instr, Operand, RegId, SliceDim, ValueType, field::Fields,
};
use galopvm_kir::algebra::{self, add, constant, sub};
use galopvm_kir::{Body, DimIndex, Exp, Index, Rhs, Type, VarId};
use std::cmp::Ordering;
use std::rc::Rc;

/// Blocks and calls may nest this deep.
const DEEPEST: u32 = 48;

/// Rotations by so many places are to neighbours.
const SHORT_WAY: u64 = 64;

impl Lifter<'_> {
    /// The code of the function that is being lifted.
    pub fn code(&self) -> &Function {
        &self.module.functions[self.function]
    }

    fn block(&self, block: BlockId) -> &CodeBlock {
        &self.code().blocks[block]
    }

    /// The type of a register.
    pub fn reg_type(&self, reg: RegId) -> ValueType {
        self.code().regs[reg]
    }

    /// Gives a register its value.
    pub fn define(&mut self, reg: RegId, value: Value) {
        self.env.insert(reg, value);
    }

    /// The value of a register; what the region's code does not define becomes a parameter.
    pub fn value(&mut self, operand: Operand) -> Value {
        if let Some(value) = self.env.get(&operand.reg) {
            return value.clone();
        }
        let ty = self.reg_type(operand.reg);
        let value = self.capture(operand.reg, ty.elem, ty.rank as usize);
        self.define(operand.reg, value.clone());
        value
    }

    /// The value of a scalar register.
    pub fn scalar(&mut self, operand: Operand) -> Lift<Exp> {
        match self.value(operand) {
            Value::Scalar(exp) => Ok(exp),
            Value::Array(_) => refuse("an array where a scalar belongs"),
        }
    }

    /// The value of an array register.
    pub fn array(&mut self, operand: Operand) -> Lift<Array> {
        match self.value(operand) {
            Value::Array(array) => Ok(array),
            Value::Scalar(_) => refuse("a scalar where an array belongs"),
        }
    }

    /// The values of several array registers.
    pub fn arrays(&mut self, operands: &[Operand]) -> Lift<Vec<Array>> {
        operands.iter().map(|o| self.array(*o)).collect()
    }

    /// Lifts a block into the open body and gives its results.
    pub fn lift_block(&mut self, block: BlockId, args: Vec<Value>) -> Lift<Vec<Value>> {
        self.nesting += 1;
        if self.nesting > DEEPEST {
            return refuse(format!("blocks or calls that nest more than {DEEPEST} deep (recursion?)"));
        }
        let module = self.module;
        let code = &module.functions[self.function].blocks[block];
        for (param, arg) in code.params.iter().zip(args) {
            self.define(*param, arg);
        }
        for instr in &code.code {
            self.burn()?;
            self.lift_instr(instr)?;
            // What is not defined here would be taken for a register from outside.
            if Fields::of(instr).defs.iter().any(|def| !self.env.contains_key(&def.0)) {
                return refuse(format!("`{}`, whose results have no kernel IR", instr.row().mnemonic));
            }
        }
        let results = code.results.iter().map(|r| self.value(*r)).collect();
        self.nesting -= 1;
        Ok(results)
    }

    /// Lifts a block whose results are scalars into a body of its own.
    pub fn scalar_body(&mut self, block: BlockId, args: Vec<Value>, whose: &str) -> Lift<Body> {
        self.open();
        let mut results = Vec::new();
        for value in self.lift_block(block, args)? {
            match value {
                Value::Scalar(exp) => results.push(exp),
                Value::Array(_) => return refuse(format!("an array that comes out of {whose}")),
            }
        }
        Ok(self.close(results))
    }

    pub fn lift_instr(&mut self, instr: &Instr) -> Lift<()> {
        if let Some(Scalar { dst, elem, exp }) = scalar(instr, &mut |operand| self.scalar(operand))? {
            let exp = self.bind(elem, exp);
            self.define(dst, Value::Scalar(exp));
            return Ok(());
        }
        match instr {
            Instr::Const { .. }
            | Instr::Op1 { .. }
            | Instr::Op2 { .. }
            | Instr::Op3 { .. }
            | Instr::Convert { .. } => return refuse("a scalar operation without kernel IR"),
            Instr::If { dsts, cond, then, otherwise } => self.lift_if(dsts, *cond, *then, *otherwise)?,
            Instr::For { dsts, bound, init, body } => self.lift_for(dsts, *bound, init, *body)?,
            Instr::While { dsts, init, cond, body } => self.lift_while(dsts, init, *cond, *body)?,
            Instr::Call { dsts, function, args } => self.lift_call(dsts, *function, args)?,
            Instr::Assert { cond, .. } => {
                let cond = self.scalar(*cond)?;
                if !self.holds(&cond) {
                    self.require(cond);
                }
            }
            Instr::Fail { dsts, .. } => {
                self.trap();
                for dst in dsts {
                    let ty = self.reg_type(dst.0);
                    if !ty.is_scalar() {
                        return refuse("an error in the place of an array");
                    }
                    // Nobody looks at the results of a launch that traps.
                    self.define(dst.0, Value::Scalar(Exp::Const(galopvm_base::Scalar::new(ty.elem, 0))));
                }
            }
            Instr::Dim { dst, array, dim } => {
                let array = self.array(*array)?;
                let extent = self.expand(dimension(&array.shape, *dim)?);
                let extent = self.bind(ElemType::I64, extent);
                self.define(dst.0, Value::Scalar(extent));
            }
            Instr::Index { dst, array, index } => {
                let array = self.array(*array)?;
                let index: Vec<Exp> = index.iter().map(|i| self.scalar(*i)).collect::<Lift<_>>()?;
                let whole = self.uses(self.function).is_read_whole(dst.0);
                let value = self.index(array, &index, whole)?;
                self.define(dst.0, value);
            }
            Instr::Slice { dst, array, dims } => {
                let array = self.array(*array)?;
                let value = self.slice(array, dims)?;
                self.define(dst.0, value);
            }
            Instr::Update { dst, array, dims, value } => self.lift_update(*dst, *array, dims, *value)?,
            Instr::Permute { dst, array, perm } => {
                let perm: Vec<usize> = perm.iter().map(|p| *p as usize).collect();
                let view = self.array(*array)?.permute(&perm);
                self.define(dst.0, Value::Array(view));
            }
            Instr::Reverse { dst, array, dim } => {
                let array = self.array(*array)?;
                dimension(&array.shape, *dim)?;
                let view = array.reverse(*dim as usize);
                let view = self.with_short_starts(view);
                self.define(dst.0, Value::Array(view));
            }
            Instr::Reshape { dst, array, shape } => {
                let array = self.array(*array)?;
                let shape: Vec<Exp> = shape.iter().map(|s| self.scalar(*s)).collect::<Lift<_>>()?;
                let value = self.reshape(array, shape)?;
                self.define(dst.0, value);
            }
            Instr::Replicate { dst, count, value } => {
                let count = self.count(*count)?;
                let value = self.value(*value);
                let (elem, mut shape) = match &value {
                    Value::Scalar(_) => (self.reg_type(dst.0).elem, Vec::new()),
                    Value::Array(row) => (row.elem, row.shape.clone()),
                };
                shape.insert(0, count);
                let array = Array::whole(elem, shape, Source::Replicate(Rc::new(value)));
                self.define(dst.0, Value::Array(array));
            }
            Instr::Iota { dst, ty, count, start, step } => {
                let count = self.count(*count)?;
                let source = Source::Iota { start: self.scalar(*start)?, step: self.scalar(*step)? };
                self.define(dst.0, Value::Array(Array::whole(*ty, vec![count], source)));
            }
            Instr::Array { dst, ty, rank, rows } => {
                let rows: Vec<Value> = rows.iter().map(|r| self.value(*r)).collect();
                let mut shape = vec![Exp::int(rows.len() as i64)];
                match rows.first() {
                    Some(Value::Array(first)) => shape.extend(first.shape.iter().cloned()),
                    Some(Value::Scalar(_)) => {}
                    None => shape.resize(*rank as usize, Exp::int(0)),
                }
                for row in rows.iter().skip(1) {
                    if let Value::Array(row) = row {
                        for (a, b) in shape.clone()[1..].iter().zip(&row.shape) {
                            self.equate(a, b);
                        }
                    }
                }
                let mut array = Array::whole(*ty, shape, Source::Rows(Rc::new(rows)));
                if !self.uses(self.function).is_row(dst.0) {
                    array = self.literal(array)?;
                }
                self.define(dst.0, Value::Array(array));
            }
            Instr::Copy { dst, array } | Instr::Manifest { dst, array } => {
                let array = self.array(*array)?;
                self.define(dst.0, Value::Array(array));
            }
            Instr::Concat { dst, arrays, dim } => {
                let value = self.concat(arrays, *dim as usize)?;
                self.define(dst.0, value);
            }
            Instr::Map { .. } | Instr::Reduce { .. } | Instr::Scan { .. } | Instr::Redomap { .. } => {
                self.lift_operator(instr)?;
            }
            Instr::Scatter { dsts, width, dests, index, values } => {
                self.lift_scatter(dsts, *width, Writes { dests, index, values }, None)?
            }
            Instr::Hist { dsts, width, dests, neutral, index, values, op } => {
                let writes = Writes { dests, index, values };
                self.lift_scatter(dsts, *width, writes, Some((neutral, *op)))?
            }
            Instr::Rotate { dst, array, dim, amount } => {
                let value = self.rotate(*array, *dim, *amount)?;
                self.define(dst.0, value);
            }
            Instr::Trace { .. }
            | Instr::Param { .. }
            | Instr::Equal { .. }
            | Instr::FlatIndex { .. }
            | Instr::FlatUpdate { .. }
            | Instr::Filter { .. }
            | Instr::Partition { .. }
            | Instr::Stream { .. }
            | Instr::AccWrite { .. } => return refuse(format!("`{}`", instr.row().mnemonic)),
        }
        Ok(())
    }

    /// A number of elements; a negative one traps.
    fn count(&mut self, count: Operand) -> Lift<Exp> {
        let count = self.scalar(count)?;
        self.require(algebra::int(ScalarOp::Le, Exp::int(0), count.clone()));
        Ok(count)
    }

    fn lift_if(&mut self, dsts: &[Def], cond: Operand, then: BlockId, otherwise: BlockId) -> Lift<()> {
        let cond = self.scalar(cond)?;
        if let Exp::Const(known) = cond {
            let taken = if known.bits != 0 { then } else { otherwise };
            let values = self.lift_block(taken, Vec::new())?;
            self.define_all(dsts, values);
            return Ok(());
        }
        let not = algebra::not(cond.clone());
        let (then, types) = self.unless(&not, |lifter| lifter.branch(dsts, then))?;
        let (otherwise, other_types) = self.unless(&cond, |lifter| lifter.branch(dsts, otherwise))?;
        for (one, other) in types.iter().zip(&other_types) {
            for (a, b) in one.shape.iter().zip(&other.shape) {
                self.equate(a, b);
            }
        }
        let mut pat = Vec::new();
        for (dst, ty) in dsts.iter().zip(types) {
            let var = self.local(ty.clone());
            self.define(dst.0, carried_value(var, ty));
            pat.push(var);
        }
        self.emit(pat, Rhs::If { cond, then, otherwise });
        Ok(())
    }

    /// One side of an `if`, and the types of its values; arrays are computed into memory.
    fn branch(&mut self, dsts: &[Def], block: BlockId) -> Lift<(Body, Vec<Type>)> {
        let depth = self.depth() + 1;
        self.open();
        let (mut results, mut types) = (Vec::new(), Vec::new());
        for (value, dst) in self.lift_block(block, Vec::new())?.into_iter().zip(dsts) {
            let elem = self.reg_type(dst.0).elem;
            match value {
                Value::Scalar(exp) => {
                    results.push(exp);
                    types.push(Type::scalar(elem));
                }
                Value::Array(array) => {
                    let array = self.materialise(array)?;
                    let shape = array.shape.iter().map(|e| self.outside(e, depth)).collect::<Lift<_>>()?;
                    results.push(name_of(&array)?);
                    types.push(Type { elem, shape });
                }
            }
        }
        Ok((self.close(results), types))
    }

    /// The part from some index on, and then the part before it.
    fn rotate(&mut self, array: Operand, dim: u32, amount: Operand) -> Lift<Value> {
        let (array, amount) = (self.array(array)?, self.scalar(amount)?);
        let extent = dimension(&array.shape, dim)?.clone();
        let is_short = |by: &i64| by.unsigned_abs() <= SHORT_WAY;
        let first = match constant(&amount).filter(is_short) {
            // Without a remainder it is plain which index is a neighbour's. Launches with fewer rows than that are not taken.
            Some(by) if self.is_known_outside(&self.expand(&extent), 1) => {
                self.require(algebra::int(ScalarOp::Le, Exp::int(by.abs()), extent.clone()));
                if by < 0 { sub(extent.clone(), Exp::int(-by)) } else { Exp::int(by) }
            }
            _ => {
                // An empty dimension is no reason to trap.
                let divisor = algebra::int(ScalarOp::Max, extent.clone(), Exp::int(1));
                algebra::int(ScalarOp::Mod, amount, divisor)
            }
        };
        let first = self.bind(ElemType::I64, first);
        let rest = self.bind(ElemType::I64, sub(extent.clone(), first.clone()));
        let dim = dim as usize;
        let tail = array.slice(dim, &first, &rest, 1);
        let head = array.slice(dim, &Exp::int(0), &first, 1);
        let value = self.one_after_other(vec![tail, head], dim)?;
        if let Value::Array(mut rotated) = value {
            rotated.shape[dim] = extent;
            return Ok(Value::Array(rotated));
        }
        Ok(value)
    }

    fn concat(&mut self, arrays: &[Operand], dim: usize) -> Lift<Value> {
        let arrays = self.arrays(arrays)?;
        self.one_after_other(arrays, dim)
    }

    /// Arrays one after the other along a dimension.
    fn one_after_other(&mut self, arrays: Vec<Array>, dim: usize) -> Lift<Value> {
        let Some(first) = arrays.first() else { return refuse("a concatenation of nothing") };
        // The dimension goes to the front, and back afterwards.
        let mut perm: Vec<usize> = (0..first.rank()).filter(|d| *d != dim).collect();
        let back: Vec<usize> = (0..first.rank())
            .map(|d| match d.cmp(&dim) {
                Ordering::Less => d + 1,
                Ordering::Equal => 0,
                Ordering::Greater => d,
            })
            .collect();
        perm.insert(0, dim);
        let parts: Vec<Array> = arrays.iter().map(|a| a.permute(&perm)).collect();
        let mut shape = parts[0].shape.clone();
        for part in &parts[1..] {
            // Parts of one array often make it up again.
            let total = add(self.expand(&shape[0]), self.expand(&part.shape[0]));
            // Of two numbers that are not negative, the sum is if it does not fit.
            self.require(algebra::int(ScalarOp::Le, Exp::int(0), total.clone()));
            shape[0] = total;
            for (a, b) in part.shape[1..].iter().zip(&shape.clone()[1..]) {
                self.equate(a, b);
            }
        }
        let total = self.expand(&shape[0]);
        shape[0] = self.bind(ElemType::I64, total);
        let elem = parts[0].elem;
        let all = Array::whole(elem, shape, Source::Concat(Rc::new(parts)));
        Ok(Value::Array(all.permute(&back)))
    }

    /// Gives registers values that other code computed.
    fn define_all(&mut self, dsts: &[Def], values: Vec<Value>) {
        dsts.iter().zip(values).for_each(|(dst, value)| self.define(dst.0, value));
    }

    fn lift_call(&mut self, dsts: &[Def], function: FuncId, args: &[Operand]) -> Lift<()> {
        let params = self.module.functions[function].params.iter();
        let env = params.zip(args).map(|(param, arg)| (*param, self.value(*arg))).collect();
        let caller = (std::mem::replace(&mut self.function, function), std::mem::replace(&mut self.env, env));
        let values = self.lift_block(BODY, Vec::new())?;
        (self.function, self.env) = caller;
        self.define_all(dsts, values);
        Ok(())
    }

    // Loops

    /// Names for carried values, their initial values, and the values that the loop's blocks see.
    fn carried(&mut self, init: &[Operand], params: &[RegId]) -> Lift<(Vec<VarId>, Vec<Exp>, Vec<Value>)> {
        let (mut vars, mut inits, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (operand, param) in init.iter().zip(params) {
            let (ty, start) = match self.value(*operand) {
                Value::Scalar(exp) => (Type::scalar(self.reg_type(*param).elem), exp),
                Value::Array(array) => {
                    // A loop that is all of a region begins with what it is given.
                    let is_given = self.depth() <= 1 && array.as_name().is_some();
                    let array = if is_given { array } else { self.materialise(array)? };
                    (Type { elem: array.elem, shape: array.shape.clone() }, name_of(&array)?)
                }
            };
            let var = self.local(ty.clone());
            values.push(carried_value(var, ty));
            vars.push(var);
            inits.push(start);
        }
        Ok((vars, inits, values))
    }

    /// The results of a loop's body as the next carried values.
    fn next_values(&mut self, values: Vec<Value>, carried: &[VarId]) -> Lift<Vec<Exp>> {
        let mut next = Vec::new();
        for (value, var) in values.into_iter().zip(carried) {
            next.push(match value {
                Value::Scalar(exp) => exp,
                Value::Array(array) => {
                    let array = self.materialise(array)?;
                    let shape = self.type_of(*var).shape;
                    for (a, b) in array.shape.iter().zip(&shape) {
                        self.equate(a, b);
                    }
                    name_of(&array)?
                }
            });
        }
        Ok(next)
    }

    /// The type of a name.
    pub fn type_of(&self, var: VarId) -> Type {
        self.region.vars[var].ty.clone().unwrap_or(Type::scalar(ElemType::I64))
    }

    /// Names for the results of a loop, with the types of its carried names.
    fn loop_results(&mut self, dsts: &[Def], carried: &[VarId]) -> Vec<VarId> {
        let mut pat = Vec::new();
        for (dst, var) in dsts.iter().zip(carried) {
            let ty = self.type_of(*var);
            let result = self.local(ty.clone());
            self.define(dst.0, carried_value(result, ty));
            pat.push(result);
        }
        pat
    }

    fn lift_for(&mut self, dsts: &[Def], bound: Operand, init: &[Operand], body: BlockId) -> Lift<()> {
        let bound = self.scalar(bound)?;
        let params = self.block(body).params.clone();
        let (carried, init, values) = self.carried(init, params.get(1..).unwrap_or_default())?;
        self.open();
        let axis = self.axis(bound);
        let args = [Value::Scalar(Exp::Var(axis.var))].into_iter().chain(values).collect();
        let results = self.lift_block(body, args)?;
        let next = self.next_values(results, &carried)?;
        let body = self.close(next);
        let pat = self.loop_results(dsts, &carried);
        self.emit(pat, Rhs::For { carried, init, axis, body });
        Ok(())
    }

    /// The condition of a `while` is an expression in the region. If the condition block is more than that, its
    /// value is carried: computed before the loop, and again at the end of each iteration.
    fn lift_while(&mut self, dsts: &[Def], init: &[Operand], cond: BlockId, body: BlockId) -> Lift<()> {
        let params = self.block(body).params.clone();
        let (mut carried, mut init, values) = self.carried(init, &params)?;
        let mut asked = self.scalar_body(cond, values.clone(), "a loop condition")?;
        super::tidy::forward(&mut asked, &self.region);
        let simple = asked.stms.is_empty();
        let [mut asked] = <[Exp; 1]>::try_from(asked.results)
            .map_err(|_| LiftRefusal::new("a loop condition that is not one value"))?;
        let vars = carried.clone();
        if !simple {
            let initial = init.iter().zip(&vars).map(|(e, v)| given(e, self.type_of(*v))).collect();
            let first = self.condition(cond, initial)?;
            let going = self.local(Type::scalar(ElemType::Bool));
            carried.insert(0, going);
            init.insert(0, first);
            asked = Exp::Var(going);
        }
        self.open();
        let results = self.lift_block(body, values)?;
        let mut next = self.next_values(results, &vars)?;
        if !simple {
            let now = next.iter().zip(&vars).map(|(e, v)| given(e, self.type_of(*v))).collect();
            next.insert(0, self.condition(cond, now)?);
        }
        let body = self.close(next);
        let mut pat = self.loop_results(dsts, &vars);
        if !simple {
            let stopped = self.local(Type::scalar(ElemType::Bool));
            pat.insert(0, stopped);
        }
        self.emit(pat, Rhs::While { carried, init, cond: asked, body });
        Ok(())
    }

    fn condition(&mut self, cond: BlockId, args: Vec<Value>) -> Lift<Exp> {
        match self.lift_block(cond, args)?.pop() {
            Some(Value::Scalar(exp)) => Ok(exp),
            _ => refuse("a loop condition that is not one value"),
        }
    }

    // Arrays

    /// An element or a view at indices of the first dimensions. Leaving the array is a trap: of the read where the
    /// read asks the same question, else of a check of its own. `whole`: every element of the result is read.
    pub fn index(&mut self, array: Array, index: &[Exp], whole: bool) -> Lift<Value> {
        let named = matches!(array.source, Source::Name(_));
        // The elements of a row ask for the row, provided there are any.
        let rest = array.rank() - index.len().min(array.rank());
        let asked = named && (rest == 0 || rest == 1 && whole && self.guard_rest(&array, index));
        let mut safe = true;
        for (axis, at) in index.iter().enumerate() {
            if self.is_inside(at, &array.shape[axis]) {
                continue;
            }
            if asked && array.is_whole(axis) {
                safe = false;
            } else {
                self.require_inside(at, &array.shape[axis]);
            }
        }
        let mut view = index.iter().fold(array, |view, at| view.fix(0, at));
        view.proven &= safe;
        self.reach(view)
    }

    /// True if rows at these indices have elements in every launch; asks the launches for it.
    fn guard_rest(&mut self, array: &Array, index: &[Exp]) -> bool {
        let inside = index.iter().zip(&array.shape).all(|(at, extent)| self.is_inside(at, extent));
        !inside && self.guard_not_empty(&array.shape[index.len()..])
    }

    fn slice(&mut self, array: Array, dims: &[SliceDim]) -> Lift<Value> {
        let mut view = array;
        let full = dims.iter().all(|d| matches!(d, SliceDim::At(_))) && dims.len() == view.rank();
        if full {
            let index: Vec<Exp> = dims.iter().map(|d| self.slice_index(d)).collect::<Lift<_>>()?;
            return self.index(view, &index, false);
        }
        let mut dim = 0;
        for part in dims {
            let extent = dimension(&view.shape, dim as u32)?.clone();
            match part {
                SliceDim::At(at) => {
                    let at = self.scalar(*at)?;
                    self.require_inside(&at, &extent);
                    view = view.fix(dim, &at);
                }
                SliceDim::Range { start, end, step } => {
                    view = self.range(&view, dim, [*start, *end, *step])?;
                    dim += 1;
                }
            }
        }
        let view = self.with_short_starts(view);
        self.reach(view)
    }

    fn slice_index(&mut self, dim: &SliceDim) -> Lift<Exp> {
        match dim {
            SliceDim::At(at) => self.scalar(*at),
            SliceDim::Range { .. } => refuse("a range where an index belongs"),
        }
    }

    /// One dimension restricted to `start:end:step`.
    fn range(&mut self, view: &Array, dim: usize, parts: [Option<Operand>; 3]) -> Lift<Array> {
        let extent = view.shape[dim].clone();
        Ok(match self.part(&extent, parts)? {
            Part::Whole => view.clone(),
            Part::Reversed => view.reverse(dim),
            Part::Range { first, count, step } => view.slice(dim, &first, &count, step),
        })
    }

    /// The part `start:end:step` of an extent. Ranges that leave it or run the wrong way trap.
    fn part(&mut self, extent: &Exp, parts: [Option<Operand>; 3]) -> Lift<Part> {
        let [start, end, step] = parts.map(|p| p.map(|o| self.scalar(o)).transpose());
        let (start, end, step) = (start?, end?, step?);
        let step = match step.as_ref().map(constant) {
            None => 1,
            Some(Some(step)) if step != 0 && step != i64::MIN => step,
            Some(_) => return refuse("a slice whose step is not a constant other than 0"),
        };
        if start.is_none() && end.is_none() && step == 1 {
            return Ok(Part::Whole);
        }
        if start.is_none() && end.is_none() && step == -1 {
            return Ok(Part::Reversed);
        }
        let range = Range::new(extent, start, end, step);
        let Range { low, high, .. } = &range;
        let inside = algebra::and(
            algebra::int(ScalarOp::Le, Exp::int(0), low.clone()),
            algebra::and(
                algebra::int(ScalarOp::Le, low.clone(), high.clone()),
                algebra::int(ScalarOp::Le, high.clone(), extent.clone()),
            ),
        );
        self.require(inside);
        let length = sub(self.expand(high), self.expand(low));
        let count = range.count(length);
        let first = self.bind(ElemType::I64, range.first);
        let count = self.bind(ElemType::I64, count);
        Ok(Part::Range { first, count, step })
    }

    fn reshape(&mut self, array: Array, shape: Vec<Exp>) -> Lift<Value> {
        for extent in &shape {
            self.require(algebra::int(ScalarOp::Le, Exp::int(0), extent.clone()));
        }
        if shape != array.shape {
            let (old, new) = (self.exact_product(&array.shape), self.exact_product(&shape));
            self.equate(&old, &new);
        }
        let elem = array.elem;
        let source = Source::Reshape(Rc::new(array), shape.clone());
        Ok(Value::Array(Array::whole(elem, shape, source)))
    }

    /// The product of extents, none of which is negative; a launch, or the place, where it does not fit is left to
    /// the interpreter.
    fn exact_product(&mut self, extents: &[Exp]) -> Exp {
        let mut product = Exp::int(1);
        for extent in extents {
            let is_small = |exp: &Exp| constant(exp).is_some_and(|n| n == 0 || n == 1);
            let exact = is_small(&product) || is_small(extent);
            let next = algebra::mul(product.clone(), extent.clone());
            if !exact {
                let high = algebra::int(ScalarOp::MulHi, product, extent.clone());
                self.require(algebra::int(ScalarOp::Eq, high, Exp::int(0)));
                self.require(algebra::int(ScalarOp::Le, Exp::int(0), next.clone()));
            }
            product = next;
        }
        product
    }

    /// An update of an element or a part. Trailing dimensions may be left whole.
    fn lift_update(&mut self, dst: Def, array: Operand, dims: &[SliceDim], value: Operand) -> Lift<()> {
        let array = self.array(array)?;
        let mut index = Vec::with_capacity(dims.len());
        let mut shape = Vec::new();
        for (dim, part) in dims.iter().enumerate() {
            let extent = dimension(&array.shape, dim as u32)?.clone();
            index.push(match part {
                // The update itself asks whether an element is inside.
                SliceDim::At(at) => DimIndex::At(self.scalar(*at)?),
                SliceDim::Range { start, end, step } => {
                    let (start, count, step) = match self.part(&extent, [*start, *end, *step])? {
                        Part::Whole => (Exp::int(0), extent, 1),
                        Part::Reversed => (sub(extent.clone(), Exp::int(1)), extent, -1),
                        Part::Range { first, count, step } => (first, count, step),
                    };
                    shape.push(count.clone());
                    DimIndex::Slice { start, count, step: Exp::int(step) }
                }
            });
        }
        shape.extend(array.shape[dims.len()..].iter().cloned());
        let value = match self.value(value) {
            Value::Scalar(value) if shape.is_empty() => value,
            Value::Array(part) if part.rank() == shape.len() && !shape.is_empty() => {
                for (a, b) in part.shape.iter().zip(&shape) {
                    self.equate(a, b);
                }
                // As many places as there are elements: the same numbers, if it has come so far.
                let part = self.materialise(part)?;
                let mut extents = part.shape.iter();
                for dim in &mut index {
                    if let DimIndex::Slice { count, .. } = dim
                        && let Some(extent) = extents.next()
                    {
                        *count = extent.clone();
                    }
                }
                name_of(&part)?
            }
            _ => return refuse("an update by a value of another rank"),
        };
        let old = self.materialise(array)?;
        let Source::Name(name) = old.source else { return refuse("an update of something without a name") };
        let ty = Type { elem: old.elem, shape: old.shape.clone() };
        let new = self.local(ty.clone());
        self.emit(vec![new], Rhs::Update { array: name, index: Index::Dims(index), value });
        self.define(dst.0, carried_value(new, ty));
        Ok(())
    }
}

/// A part of a dimension.
enum Part {
    Whole,
    Reversed,
    Range { first: Exp, count: Exp, step: i64 },
}

/// The value of a name that stands for itself.
fn carried_value(var: VarId, ty: Type) -> Value {
    match ty.shape.is_empty() {
        true => Value::Scalar(Exp::Var(var)),
        false => Value::Array(Array::whole(ty.elem, ty.shape, Source::Name(var))),
    }
}

/// The value of an expression that is a scalar, or the name of an array.
fn given(exp: &Exp, ty: Type) -> Value {
    match exp {
        Exp::Var(var) => carried_value(*var, ty),
        exp => Value::Scalar(exp.clone()),
    }
}

fn name_of(array: &Array) -> Lift<Exp> {
    array.as_name().map(Exp::Var).ok_or_else(|| LiftRefusal::new("an array without a name"))
}

fn dimension(shape: &[Exp], dim: u32) -> Lift<&Exp> {
    shape.get(dim as usize).ok_or_else(|| LiftRefusal::new("a dimension that the array does not have"))
}
