//! Lifting the parallel operators, and giving arrays that are formulas a place in memory.
//!
//! A map becomes a `kernel`. A kernel whose body does little more than compute rows takes the rows' dimensions as
//! further axes; what the body computes before its rows is then computed again for each element.

use super::build::{Lift, Lifter};
use super::tidy::{is_cheap, is_harmless};
use super::uses::Origin;
use super::value::{Array, Source, Value};
use super::{LiftRefusal, refuse};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Def, Instr, Operand, Operator, Role};
use galopvm_kir::algebra;
use galopvm_kir::{Axis, Body, Combine, Exp, Rhs, Type, VarId};
use std::rc::Rc;

/// What a reduction or scan goes over.
#[derive(Clone)]
struct Rows {
    width: Exp,
    arrays: Vec<Array>,
    /// The block that makes what is combined of rows of the arrays; nothing if these are combined themselves.
    items: Option<BlockId>,
}

impl Lifter<'_> {
    /// An operator that makes its results of what its blocks give.
    pub fn lift_operator(&mut self, instr: &Instr) -> Lift<()> {
        let Some(Operator { gives, dsts, width, neutral, arrays, items, combine, .. }) = instr.operator()
        else {
            return refuse(format!("`{}`", instr.row().mnemonic));
        };
        let (width, arrays) = self.operands(width, arrays)?;
        let Some(combine) = combine else {
            let body = items.ok_or_else(|| LiftRefusal::new("an operator without a block"))?;
            return self.lift_map(dsts, width, arrays, body);
        };
        let rows = Rows { width, arrays, items };
        if gives == Role::Prefixes {
            return self.lift_scan(dsts, neutral, &rows, combine);
        }
        let neutral = neutral.iter().map(|n| self.value(*n)).collect();
        let elems: Vec<ElemType> = dsts.iter().map(|d| self.reg_type(d.0).elem).collect();
        let results = self.reduction(neutral, rows, combine, &elems)?;
        for (dst, value) in dsts.iter().zip(results) {
            self.define(dst.0, value);
        }
        Ok(())
    }

    /// What the block of an operator that chooses rows answers for each.
    pub fn lift_answers(&mut self, instr: &Instr) -> Lift<Vec<Array>> {
        let Some(Operator { width, arrays, items: Some(body), .. }) = instr.operator() else {
            return refuse("an operator without a block");
        };
        let (width, arrays) = self.operands(width, arrays)?;
        let results = self.code().blocks[body].results.iter();
        let elems: Vec<ElemType> = results.map(|result| self.reg_type(result.reg).elem).collect();
        self.rows_made(width, arrays, body, &elems)
    }

    fn lift_map(&mut self, dsts: &[Def], width: Exp, arrays: Vec<Array>, body: BlockId) -> Lift<()> {
        let elems: Vec<ElemType> = dsts.iter().map(|d| self.reg_type(d.0).elem).collect();
        let made = self.rows_made(width, arrays, body, &elems)?;
        for (dst, array) in dsts.iter().zip(made) {
            self.define(dst.0, Value::Array(array));
        }
        Ok(())
    }

    /// Arrays of what a block makes of rows.
    fn rows_made(
        &mut self,
        width: Exp,
        arrays: Vec<Array>,
        body: BlockId,
        elems: &[ElemType],
    ) -> Lift<Vec<Array>> {
        self.kernel(width, elems, |lifter, index| {
            let rows = lifter.rows(&arrays, index)?;
            lifter.lift_block(body, rows)
        })
    }

    /// A size as it reads outside the bodies from `depth` on; rows must all have the same shape.
    pub fn outside(&self, size: &Exp, depth: usize) -> Lift<Exp> {
        let size = self.expand(size);
        match self.is_known_outside(&size, depth) {
            true => Ok(size),
            false => refuse("rows whose extents are computed inside the operator"),
        }
    }

    /// The width and the arrays of an operator; the arrays have that many rows.
    pub fn operands(&mut self, width: Operand, arrays: &[Operand]) -> Lift<(Exp, Vec<Array>)> {
        for array in arrays {
            self.spell_out(width, *array)?;
        }
        let width = self.scalar(width)?;
        let arrays = self.arrays(arrays)?;
        if arrays.is_empty() {
            self.require(algebra::int(ScalarOp::Le, Exp::int(0), width.clone()));
        }
        for array in &arrays {
            match array.shape.first() {
                Some(extent) => self.equate(&extent.clone(), &width),
                None => return refuse("a scalar where an array belongs"),
            }
        }
        Ok((self.expand(&width), arrays))
    }

    /// An `iota`, or one constant again and again, that was made before the region for an operator of its own width need not be
    /// read.
    fn spell_out(&mut self, width: Operand, array: Operand) -> Lift<()> {
        if self.env.contains_key(&array.reg) {
            return Ok(());
        }
        let uses = self.uses(self.function);
        let constant =
            |reg| if let Some(Origin::Const(c)) = uses.origin(reg) { Some(Exp::Const(c)) } else { None };
        let source = match uses.origin(array.reg) {
            Some(Origin::Iota(count, [start, step])) if count == width.reg => {
                match (constant(start), constant(step)) {
                    (Some(start), Some(step)) => Source::Iota { start, step },
                    _ => return Ok(()),
                }
            }
            Some(Origin::Replicate(count, value)) if count == width.reg => match constant(value) {
                Some(value) => Source::Replicate(Rc::new(Value::Scalar(value))),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let shape = vec![self.scalar(width)?];
        let elem = self.reg_type(array.reg).elem;
        self.define(array.reg, Value::Array(Array::whole(elem, shape, source)));
        Ok(())
    }

    /// A kernel over an axis, whose body is given by a function of the index. Results are whole arrays.
    fn kernel(
        &mut self,
        width: Exp,
        elems: &[ElemType],
        body: impl FnOnce(&mut Self, &Exp) -> Lift<Vec<Value>>,
    ) -> Lift<Vec<Array>> {
        let depth = self.depth() + 1;
        self.open();
        let mut axes = vec![self.axis(width)];
        let values = body(self, &Exp::Var(axes[0].var))?;
        let values = self.add_axes(&mut axes, values, depth)?;
        let mut results = Vec::new();
        let mut types = Vec::new();
        for (value, elem) in values.into_iter().zip(elems) {
            let mut shape: Vec<Exp> = axes.iter().map(|a| a.bound.clone()).collect();
            results.push(match value {
                Value::Scalar(exp) => exp,
                Value::Array(row) => {
                    for extent in &row.shape {
                        shape.push(self.outside(extent, depth)?);
                    }
                    Exp::Var(row.as_name().ok_or_else(|| LiftRefusal::new("a row without a name"))?)
                }
            });
            types.push(Type { elem: *elem, shape });
        }
        let body = self.close(results);
        self.require_rows(&axes, &types);
        let mut pat = Vec::new();
        let mut made = Vec::new();
        for ty in types {
            let var = self.local(ty.clone());
            pat.push(var);
            made.push(Array::whole(ty.elem, ty.shape, Source::Name(var)));
        }
        self.emit(pat, Rhs::Kernel { axes, body });
        Ok(made)
    }

    /// Traps where rows would have extents of less than nothing. Where there are no rows, nothing in them asks; the interpreter
    /// has the array with extents of 0 then, and every size that is made of them is another one.
    fn require_rows(&mut self, axes: &[Axis], types: &[Type]) {
        let some = axes.first().is_some_and(|axis| self.is_at_least(&axis.bound, 1));
        if !some {
            for extent in types.iter().flat_map(|ty| ty.shape.iter().skip(1)) {
                self.require(algebra::int(ScalarOp::Le, Exp::int(0), extent.clone()));
            }
        }
    }

    /// Makes the dimensions of rows axes of the kernel around them while that costs little; rows that remain
    /// become kernels inside.
    fn add_axes(&mut self, axes: &mut Vec<Axis>, mut values: Vec<Value>, depth: usize) -> Lift<Vec<Value>> {
        loop {
            let rows: Vec<&Array> =
                values.iter().filter_map(|v| if let Value::Array(a) = v { Some(a) } else { None }).collect();
            let Some(first) = rows.first() else { return Ok(values) };
            let extent = first.shape[0].clone();
            let together = rows.len() == values.len() && rows.iter().all(|r| self.same(&r.shape[0], &extent));
            let extent = self.outside(&extent, depth)?;
            // Without elements nothing before the rows would be computed any more.
            let may_repeat = together
                && is_cheap(self.stms())
                && (self.stms().iter().all(|stm| is_harmless(&stm.rhs, &self.safe))
                    || self.guard_not_empty(std::slice::from_ref(&extent)));
            if !may_repeat {
                return self.materialise_rows(values);
            }
            let rows: Vec<Array> = rows.into_iter().cloned().collect();
            let axis = self.axis(extent);
            values = self.rows(&rows, &Exp::Var(axis.var))?;
            axes.push(axis);
        }
    }

    /// Rows as arrays of the region, those of equal width by one kernel.
    fn materialise_rows(&mut self, mut values: Vec<Value>) -> Lift<Vec<Value>> {
        let mut missing: Vec<(usize, Array)> = Vec::new();
        for (k, value) in values.iter().enumerate() {
            if let Value::Array(array) = value
                && !self.is_own(array)
            {
                missing.push((k, array.clone()));
            }
        }
        while let Some((_, first)) = missing.first() {
            let width = first.shape[0].clone();
            let (now, later): (Vec<_>, Vec<_>) =
                missing.into_iter().partition(|(_, array)| self.same(&array.shape[0], &width));
            let arrays: Vec<Array> = now.iter().map(|(_, array)| array.clone()).collect();
            for ((k, _), array) in now.into_iter().zip(self.tabulate(&arrays)?) {
                values[k] = Value::Array(array);
            }
            missing = later;
        }
        Ok(values)
    }

    /// True for an array that the region computes, seen as it is.
    fn is_own(&self, array: &Array) -> bool {
        array.as_name().is_some_and(|var| self.known[var].depth > 0)
    }

    /// Arrays of equal width, computed into memory by one kernel.
    fn tabulate(&mut self, arrays: &[Array]) -> Lift<Vec<Array>> {
        let Some(first) = arrays.first() else { return Ok(Vec::new()) };
        let width = self.expand(&first.shape[0]);
        let elems: Vec<ElemType> = arrays.iter().map(|a| a.elem).collect();
        self.kernel(width, &elems, |lifter, index| lifter.rows(arrays, index))
    }

    /// An array of the region with these elements: itself if it is one, else a new one.
    pub fn materialise(&mut self, array: Array) -> Lift<Array> {
        if self.is_own(&array) || array.rank() == 0 {
            return Ok(array);
        }
        self.tabulate(&[array])?.pop().ok_or_else(|| LiftRefusal::new("an array without elements to compute"))
    }

    /// The body that gives what is combined, over its axis.
    fn items(&mut self, rows: &Rows) -> Lift<(Axis, Body)> {
        self.open();
        let axis = self.axis(rows.width.clone());
        let mut items = self.rows(&rows.arrays, &Exp::Var(axis.var))?;
        if let Some(block) = rows.items {
            items = self.lift_block(block, items)?;
        }
        Ok((axis, self.close_scalars(items)?))
    }

    /// The operator block of a reduction or scan, with its neutral elements.
    pub fn combine(&mut self, neutral: Vec<Exp>, body: BlockId) -> Lift<Combine> {
        let params = self.code().blocks[body].params.clone();
        self.open();
        let mut vars = Vec::new();
        for param in &params {
            let ty = self.reg_type(*param);
            if !ty.is_scalar() {
                return refuse("an operator that combines arrays");
            }
            vars.push(self.local(Type::scalar(ty.elem)));
        }
        let args = vars.iter().map(|v| Value::Scalar(Exp::Var(*v))).collect();
        let results = self.lift_block(body, args)?;
        let body = self.close(scalars(results, "an operator")?);
        let item = vars.split_off(neutral.len().min(vars.len()));
        Ok(Combine { acc: vars, neutral, item, body })
    }

    /// The combination of rows. Rows that are arrays are combined element by element, if that is what the operator
    /// does: a reduction of maps is a kernel of reductions.
    fn reduction(
        &mut self,

        neutral: Vec<Value>,
        rows: Rows,
        body: BlockId,
        elems: &[ElemType],
    ) -> Lift<Vec<Value>> {
        let arrays = &rows.arrays;
        if rows.items.is_none()
            && let Some(extent) = arrays.iter().find_map(|array| array.shape.get(1).cloned())
        {
            let inner = self.row_operator(body, &neutral, &extent)?;
            let starts = arrays_of(neutral)?;
            for shape in arrays.iter().map(|a| a.shape.get(1)).chain(starts.iter().map(|a| a.shape.first())) {
                match shape.cloned() {
                    Some(other) => self.equate(&other, &extent),
                    None => return refuse("a reduction of scalars together with arrays"),
                }
            }
            let extent = self.expand(&extent);
            let made = self.kernel(extent, elems, |lifter, index| {
                let neutral = lifter.rows(&starts, index)?;
                let arrays = arrays.iter().map(|array| array.fix(1, index)).collect();
                lifter.reduction(neutral, Rows { arrays, ..rows.clone() }, inner, elems)
            })?;
            return Ok(made.into_iter().map(Value::Array).collect());
        }
        let neutral = scalars(neutral, "a reduction's neutral elements")?;
        let (axis, items) = self.items(&rows)?;
        let combine = self.combine(neutral, body)?;
        let pat: Vec<VarId> = elems.iter().map(|elem| self.local(Type::scalar(*elem))).collect();
        let results = pat.iter().map(|var| Value::Scalar(Exp::Var(*var))).collect();
        self.emit(pat, Rhs::Reduce { axes: vec![axis], body: items, combine });
        Ok(results)
    }

    /// The block that an operator on rows applies to their elements: the operator is one map of both operands, with
    /// nothing but constants and extents before it.
    pub fn row_operator(&mut self, body: BlockId, neutral: &[Value], extent: &Exp) -> Lift<BlockId> {
        let module = self.module;
        let block = &module.functions[self.function].blocks[body];
        let no = || LiftRefusal::new("an operator on arrays that is not a map of its operands");
        let (last, before) = block.code.split_last().ok_or_else(no)?;
        let Instr::Map { dsts, width, arrays, body: inner } = last else { return Err(no()) };
        let in_order = arrays.iter().map(|o| o.reg).eq(block.params.iter().copied())
            && block.results.iter().map(|o| o.reg).eq(dsts.iter().map(|d| d.0));
        let plain = before.iter().all(|instr| matches!(instr, Instr::Const { .. } | Instr::Dim { .. }));
        if !in_order || !plain {
            return Err(no());
        }
        // Both operands have the shape of the neutral element.
        for (param, value) in block.params.iter().zip(neutral.iter().chain(neutral)) {
            self.define(*param, value.clone());
        }
        for instr in before {
            self.lift_instr(instr)?;
        }
        let width = self.scalar(*width)?;
        self.equate(&width, extent);
        Ok(*inner)
    }

    fn lift_scan(&mut self, dsts: &[Def], neutral: &[Operand], rows: &Rows, body: BlockId) -> Lift<()> {
        let (axis, items) = self.items(rows)?;
        let neutral: Vec<Exp> = neutral.iter().map(|n| self.scalar(*n)).collect::<Lift<_>>()?;
        let combine = self.combine(neutral, body)?;
        let mut pat: Vec<VarId> = Vec::new();
        let accumulators = self.code().blocks[body].params.iter().take(combine.acc.len());
        let elems: Vec<ElemType> = accumulators.map(|param| self.reg_type(*param).elem).collect();
        for (k, elem) in elems.into_iter().enumerate() {
            let ty = Type { elem, shape: vec![rows.width.clone()] };
            let var = self.local(ty.clone());
            // The prefixes of the other components are nobody's.
            if let Some(dst) = dsts.get(k) {
                self.define(dst.0, Value::Array(Array::whole(ty.elem, ty.shape, Source::Name(var))));
            }
            pat.push(var);
        }
        self.emit(pat, Rhs::Scan { axis, body: items, combine });
        Ok(())
    }

    pub fn close_scalars(&mut self, values: Vec<Value>) -> Lift<Body> {
        let results = scalars(values, "a body that combines or chooses scalars")?;
        Ok(self.close(results))
    }
}

fn arrays_of(values: Vec<Value>) -> Lift<Vec<Array>> {
    let array = |value| match value {
        Value::Array(array) => Ok(array),
        Value::Scalar(_) => refuse("a reduction of scalars together with arrays"),
    };
    values.into_iter().map(array).collect()
}

pub(super) fn scalars(values: Vec<Value>, whose: &str) -> Lift<Vec<Exp>> {
    let scalar = |value| match value {
        Value::Scalar(exp) => Ok(exp),
        Value::Array(_) => refuse(format!("arrays as values of {whose}")),
    };
    values.into_iter().map(scalar).collect()
}
