//! Bodies of kernels to statements of a shader: expressions, choices, loops, reductions inside an invocation.

use super::convert::convert;
use super::program::{Slot, Source, Table, Top, describe};
use super::scalar::{self, Trap, reg};
use super::view::{Dim, Stride, Value, View};
use crate::shader::{BinOp, Binding, Cell, Code, Ty, UnOp, Val, Width, loop_of};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{ArrayOp, Axis, Body, Combine, Exp, ObservedParam, Refusal, Rhs, Stm, Type, VarId};
use std::collections::HashMap;
use std::rc::Rc;

/// A number that no launch has among its own, as good as.
const UNLIKE: u64 = 0x7ff4_6a3d_91c5_0be7;

/// One shader being lowered.
pub struct Lower<'t, 'a> {
    /// The shader.
    pub c: Code,
    /// What all shaders of the region share.
    pub table: &'t mut Table<'a>,
    /// How this shader traps.
    pub trap: Trap,
    /// What its bindings stand for.
    pub sources: Vec<Source>,
    bindings: HashMap<Source, Binding>,
    env: HashMap<VarId, Value>,
    numbers: HashMap<usize, Val>,
}

impl<'t, 'a> Lower<'t, 'a> {
    /// A shader whose first bindings are the launch's numbers and the trap flag.
    pub fn new(table: &'t mut Table<'a>, group_size: u32) -> Lower<'t, 'a> {
        let mut c = Code::new(group_size);
        c.computes_as(table.features.singles, table.features.doubles);
        let params = c.buffer(Width::W64, false);
        let flag = c.buffer(Width::W32, true);
        let cell = c.cell(Ty::Bool);
        let no = c.truth(false);
        c.set(cell, no);
        if !table.features.all_rounds {
            let (first, unlike) = (c.constant(Ty::B32, 0), c.constant(Ty::B64, UNLIKE));
            let number = c.load(params, first);
            let veil = c.bin(BinOp::Ne, number, unlike);
            c.doubt_loops(veil);
        }
        Lower {
            c,
            table,
            trap: Trap { flag, cell },
            sources: vec![Source::Params, Source::Flag],
            bindings: HashMap::from([(Source::Params, params), (Source::Flag, flag)]),
            env: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// The binding of a buffer that is read.
    fn reading(&mut self, source: Source, elem: ElemType) -> Binding {
        if let Some(known) = self.bindings.get(&source) {
            return *known;
        }
        let binding = self.c.buffer(Width::of(elem), false);
        self.sources.push(source);
        self.bindings.insert(source, binding);
        binding
    }

    /// The binding of a buffer that is written.
    pub fn writing(&mut self, temp: usize) -> Binding {
        let elem = self.table.program.temps[temp].elem;
        let binding = self.c.buffer(Width::of(elem), true);
        self.sources.push(Source::Temp(temp));
        binding
    }

    /// An element of a buffer between stages, by its place.
    pub fn load_temp(&mut self, temp: usize, elem: ElemType, place: Val) -> Val {
        let buffer = self.reading(Source::Temp(temp), elem);
        let bits = self.c.load(buffer, place);
        scalar::from_bits(&mut self.c, elem, bits)
    }

    /// Binds a name.
    pub fn bind(&mut self, var: VarId, value: Value) {
        self.env.insert(var, value);
    }

    /// A number of the launch, as 64 bits.
    pub fn number_of(&mut self, slot: Slot) -> Val {
        let place = self.table.slot(slot);
        if let Some(known) = self.numbers.get(&place) {
            return *known;
        }
        let params = self.bindings[&Source::Params];
        let value = self.c.at_entry(|c| {
            let index = c.constant(Ty::B32, place as u64);
            c.load(params, index)
        });
        self.numbers.insert(place, value);
        value
    }

    /// A number of the launch that the host keeps below 2^32 (or whose low half is all that is asked for), and its
    /// zero-extension.
    pub fn low_number(&mut self, slot: Slot) -> (Val, Val) {
        let wide = self.number_of(slot);
        self.c.at_entry(|c| {
            let low = c.un(UnOp::Narrow, wide);
            (low, c.un(UnOp::ZeroExtend, low))
        })
    }

    /// The value of a name.
    pub fn var(&mut self, var: VarId) -> Result<Value, Refusal> {
        if let Some(value) = self.env.get(&var) {
            return Ok(value.clone());
        }
        let name = || Refusal::new("a name without a value");
        let top = *self.table.top.get(&var).ok_or_else(name)?;
        let ty = self.table.unit.region.type_of(var).clone();
        let value = match top {
            Top::Param(k) if !ty.is_scalar() => Value::View(self.param(k, &ty)),
            Top::Param(_) | Top::Host => {
                let bits = self.number_of(Slot::Scalar(var));
                let elem = ty.elem;
                let value = self.c.at_entry(|c| {
                    let bits = if elem.bytes() < 8 { c.un(UnOp::Narrow, bits) } else { bits };
                    scalar::from_bits(c, elem, bits)
                });
                Value::Scalar(elem, value)
            }
            Top::Temp(temp) => self.temp_value(temp, &ty)?,
            Top::View(stm, k) => self.deferred(stm, k)?,
        };
        self.env.insert(var, value.clone());
        Ok(value)
    }

    /// Something that is computed at the start of the shader, wherever it is used first.
    fn entry<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let inner = self.c.suspend();
        let answer = write(self);
        self.c.resume(inner);
        answer
    }

    fn param(&mut self, k: usize, ty: &Type) -> View {
        let buffer = self.reading(Source::Array(k), ty.elem);
        let classes: Vec<StrideClass> = match self.table.unit.observed.params.get(k) {
            Some(ObservedParam::Array { lmad, .. }) => lmad
                .dims
                .iter()
                .map(|d| if d.size <= 1 { StrideClass::Unit } else { stride_class(d.stride) })
                .collect(),
            _ => Vec::new(),
        };
        let offset = self.low_number(Slot::Offset(k)).0;
        let dims = (0..ty.rank())
            .map(|d| {
                let extent = self.low_number(Slot::Extent(k, d)).1;
                let stride = match classes.get(d) {
                    Some(class) if *class != StrideClass::Other => Stride::Class(*class),
                    _ => Stride::Number(self.low_number(Slot::Stride(k, d)).0),
                };
                Dim { extent, stride }
            })
            .collect();
        View { buffer, elem: ty.elem, offset, dims }
    }

    fn temp_value(&mut self, temp: usize, ty: &Type) -> Result<Value, Refusal> {
        let buffer = self.reading(Source::Temp(temp), ty.elem);
        self.entry(|l| {
            let extents = l.extents(&ty.shape)?;
            let offset = l.c.constant(Ty::B32, 0);
            let dims = l.row_major(&extents);
            let view = View { buffer, elem: ty.elem, offset, dims };
            Ok(if ty.is_scalar() { Value::Scalar(ty.elem, l.element(&view, &[])) } else { Value::View(view) })
        })
    }

    /// Dimensions of a row-major array.
    pub fn row_major(&mut self, extents: &[Val]) -> Vec<Dim> {
        let mut stride = Stride::Class(StrideClass::Unit);
        let mut product = self.c.constant(Ty::B32, 1);
        let mut dims: Vec<Dim> = Vec::new();
        for extent in extents.iter().rev() {
            dims.push(Dim { extent: *extent, stride });
            let low = self.c.un(UnOp::Narrow, *extent);
            product = self.c.bin(BinOp::Mul, product, low);
            stride = Stride::Number(product);
        }
        dims.reverse();
        dims
    }

    fn deferred(&mut self, stm: &'a Stm, k: usize) -> Result<Value, Refusal> {
        self.entry(|l| match &stm.rhs {
            Rhs::Exps(exps) => match exps.get(k) {
                Some(exp) => l.exp(exp),
                None => Err(Refusal::new("a name without a value")),
            },
            Rhs::Array(ArrayOp::View { change, array }) => l.change(change, array),
            other => Err(Refusal::new(format!("{} is not lowered", describe(other)))),
        })
    }

    /// Extents that the host knows: zero-extended, negative ones are 0. The host keeps them below 2^32.
    pub fn extents(&mut self, shape: &[Exp]) -> Result<Vec<Val>, Refusal> {
        shape
            .iter()
            .map(|extent| {
                let value = self.i64_value(extent)?;
                let low =
                    self.bound(extent, value).ok_or_else(|| Refusal::new("an extent of unknown size"))?;
                Ok(self.c.un(UnOp::ZeroExtend, low))
            })
            .collect()
    }

    /// A bound as a `B32`, negative ones as 0, if it is known to fit or the host can see to it.
    fn bound(&mut self, exp: &Exp, value: Val) -> Option<Val> {
        if let Some(low) = self.c.low_half(value) {
            return Some(low);
        }
        self.table.known_to_host(exp).ok()?;
        self.table.program.small.push(exp.clone());
        let zero = self.c.constant(Ty::B64, 0);
        let positive = self.c.bin(BinOp::Slt, zero, value);
        let value = self.c.select(positive, value, zero);
        Some(self.c.un(UnOp::Narrow, value))
    }

    /// An expression of type i64.
    pub fn i64_value(&mut self, exp: &Exp) -> Result<Val, Refusal> {
        match self.exp(exp)? {
            Value::Scalar(ElemType::I64, val) => Ok(val),
            _ => Err(Refusal::new("an index that is not an i64")),
        }
    }

    fn scalar(&mut self, exp: &Exp) -> Result<(ElemType, Val), Refusal> {
        match self.exp(exp)? {
            Value::Scalar(ty, val) => Ok((ty, val)),
            Value::View(_) | Value::Made(..) => Err(Refusal::new("an array where a scalar is needed")),
        }
    }

    /// A constant. A zero of a float type is hidden: there are drivers that make 0 of `0 * x`, and `x` of `x + 0`, though they
    /// promise the NaNs and zeros of IEEE.
    fn constant(&mut self, value: Scalar) -> Val {
        if !value.ty.is_float() || value.as_f64() != 0.0 {
            return scalar::constant(&mut self.c, value);
        }
        let zeros = self.number_of(Slot::Zeros);
        self.c.at_entry(|c| {
            let zeros = if value.ty.bytes() < 8 { c.un(UnOp::Narrow, zeros) } else { zeros };
            let sign = c.constant(c.ty(zeros), value.bits);
            let bits = c.bin(BinOp::Xor, zeros, sign);
            scalar::from_bits(c, value.ty, bits)
        })
    }

    /// An expression.
    pub fn exp(&mut self, exp: &Exp) -> Result<Value, Refusal> {
        match exp {
            Exp::Const(value) => Ok(Value::Scalar(value.ty, self.constant(*value))),
            Exp::Var(var) => self.var(*var),
            Exp::Op(..) | Exp::Convert(..) if let Some(value) = scalar_value(exp, &|_| None) => {
                Ok(Value::Scalar(value.ty, self.constant(value)))
            }
            Exp::Op(op, elem, args) => {
                let operands = args.iter().map(|a| Ok(self.scalar(a)?.1));
                let operands = operands.collect::<Result<Vec<Val>, Refusal>>()?;
                let value =
                    scalar::apply(&mut self.c, *op, *elem, &operands, self.trap).map_err(Refusal::new)?;
                Ok(Value::Scalar(op.result_type(*elem), value))
            }
            Exp::Convert(to, arg) => {
                let (from, value) = self.scalar(arg)?;
                Ok(Value::Scalar(*to, convert(&mut self.c, from, *to, value)))
            }
            Exp::Read(read) => self.read(read),
            Exp::Opaque(name, _) => Err(Refusal::new(format!("nothing is known of `{name}`"))),
        }
    }

    /// Statements, then results.
    pub fn body(&mut self, body: &Body) -> Result<Vec<Value>, Refusal> {
        for stm in &body.stms {
            // What is not written anywhere would not be computed, and could not trap.
            let written = |var: &VarId| body.results.contains(&Exp::Var(*var));
            if matches!(stm.rhs, Rhs::Kernel { .. }) && !stm.pat.iter().all(written) {
                return Err(Refusal::new("an array made inside a kernel that is not its result"));
            }
            self.statement(stm)?;
        }
        body.results.iter().map(|e| self.exp(e)).collect()
    }

    /// The scalar results of a body.
    pub fn scalars(&mut self, body: &Body) -> Result<Vec<Val>, Refusal> {
        self.body(body)?
            .into_iter()
            .map(|value| match value {
                Value::Scalar(_, val) => Ok(val),
                Value::View(_) | Value::Made(..) => {
                    Err(Refusal::new("an array carried by a choice, loop or reduction"))
                }
            })
            .collect()
    }

    fn statement(&mut self, stm: &Stm) -> Result<(), Refusal> {
        match &stm.rhs {
            Rhs::Exps(exps) => {
                let values = exps.iter().map(|e| self.exp(e)).collect::<Result<Vec<_>, _>>()?;
                for (var, value) in stm.pat.iter().zip(values) {
                    self.bind(*var, value);
                }
                Ok(())
            }
            Rhs::If { cond, then, otherwise } => {
                let (_, cond) = self.scalar(cond)?;
                let cells = self.cells(&stm.pat)?;
                let mut blocks = Vec::new();
                for body in [then, otherwise] {
                    self.c.open();
                    let values = self.scalars(body)?;
                    self.fill(&cells, &values);
                    blocks.push(self.c.close());
                }
                let otherwise = blocks.pop().unwrap_or_default();
                let then = blocks.pop().unwrap_or_default();
                self.c.branch(cond, then, otherwise);
                self.bind_cells(&stm.pat, &cells);
                Ok(())
            }
            Rhs::For { carried, init, axis, body } => {
                let cells = self.carry(carried, init)?;
                self.nest(std::slice::from_ref(axis), &mut |l| {
                    l.bind_cells(carried, &cells);
                    let next = l.scalars(body)?;
                    l.fill(&cells, &next);
                    Ok(())
                })?;
                self.bind_cells(&stm.pat, &cells);
                Ok(())
            }
            Rhs::While { carried, init, cond, body } => {
                let cells = self.carry(carried, init)?;
                let test = &mut |l: &mut Self| {
                    l.bind_cells(carried, &cells);
                    let (_, cond) = l.scalar(cond)?;
                    // A loop fed with what a trap left behind need not end.
                    let trapped = l.c.get(l.trap.cell);
                    let well = l.c.un(UnOp::Not, trapped);
                    Ok(l.c.bin(BinOp::LAnd, cond, well))
                };
                self.while_(test, |l| {
                    let next = l.scalars(body)?;
                    l.fill(&cells, &next);
                    Ok(())
                })?;
                self.bind_cells(&stm.pat, &cells);
                Ok(())
            }
            Rhs::Reduce { axes, body, combine } => {
                let cells = self.carry_neutral(combine)?;
                self.nest(axes, &mut |l| {
                    let items = l.scalars(body)?;
                    l.combine(combine, &cells, &items)
                })?;
                self.bind_cells(&stm.pat, &cells);
                Ok(())
            }
            Rhs::Array(ArrayOp::View { change, array }) if !change.is_reshape() => {
                let value = self.change(change, array)?;
                if let Some(var) = stm.pat.first() {
                    self.bind(*var, value);
                }
                Ok(())
            }
            Rhs::Kernel { axes, body } => {
                let kernel = Rc::new((axes.clone(), body.clone()));
                for (k, var) in stm.pat.iter().enumerate() {
                    self.bind(*var, Value::Made(kernel.clone(), k));
                }
                Ok(())
            }
            other => Err(Refusal::new(format!("{} inside a kernel is not lowered", describe(other)))),
        }
    }

    fn cells(&mut self, vars: &[VarId]) -> Result<Vec<(ElemType, Cell)>, Refusal> {
        vars.iter()
            .map(|var| {
                let ty = self.table.unit.region.type_of(*var);
                if !ty.is_scalar() {
                    return Err(Refusal::new("an array carried by a choice, loop or reduction"));
                }
                Ok((ty.elem, self.c.cell(reg(ty.elem))))
            })
            .collect()
    }

    /// Fills all cells at once: values may come from the cells themselves.
    pub fn fill(&mut self, cells: &[(ElemType, Cell)], values: &[Val]) {
        for ((_, cell), value) in cells.iter().zip(values) {
            self.c.set(*cell, *value);
        }
    }

    /// Binds names to what the cells hold now.
    pub fn bind_cells(&mut self, vars: &[VarId], cells: &[(ElemType, Cell)]) {
        for (var, (elem, cell)) in vars.iter().zip(cells) {
            let value = self.c.get(*cell);
            self.bind(*var, Value::Scalar(*elem, value));
        }
    }

    fn carry(&mut self, carried: &[VarId], init: &[Exp]) -> Result<Vec<(ElemType, Cell)>, Refusal> {
        let cells = self.cells(carried)?;
        let values = init.iter().map(|e| self.scalar(e).map(|v| v.1)).collect::<Result<Vec<_>, _>>()?;
        self.fill(&cells, &values);
        Ok(cells)
    }

    /// Cells for the running values of a reduction, filled with the neutral elements.
    pub fn carry_neutral(&mut self, combine: &Combine) -> Result<Vec<(ElemType, Cell)>, Refusal> {
        self.carry(&combine.acc, &combine.neutral)
    }

    /// Combines what the cells hold with items to the right of it.
    pub fn combine(
        &mut self,
        combine: &Combine,
        cells: &[(ElemType, Cell)],
        items: &[Val],
    ) -> Result<(), Refusal> {
        self.bind_cells(&combine.acc, cells);
        for ((var, (elem, _)), item) in combine.item.iter().zip(cells).zip(items) {
            self.bind(*var, Value::Scalar(*elem, *item));
        }
        let values = self.scalars(&combine.body)?;
        self.fill(cells, &values);
        Ok(())
    }

    /// Sequential loops over axes, outermost first.
    pub fn nest(
        &mut self,
        axes: &[Axis],
        inside: &mut dyn FnMut(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some((axis, rest)) = axes.split_first() else { return inside(self) };
        let wide_bound = self.i64_value(&axis.bound)?;
        let (bound, ty, less) = match self.bound(&axis.bound, wide_bound) {
            Some(bound) => (bound, Ty::B32, BinOp::Ult),
            None => (wide_bound, Ty::B64, BinOp::Slt),
        };
        let (zero, one) = (self.c.constant(ty, 0), self.c.constant(ty, 1));
        self.count((ty, less), (zero, bound, one), |l, i| {
            let index = if ty == Ty::B32 { l.c.un(UnOp::ZeroExtend, i) } else { i };
            l.bind(axis.var, Value::Scalar(ElemType::I64, index));
            l.nest(rest, inside)
        })
    }

    /// A loop that counts from a first number to an end, in steps, in registers of a type that are compared so.
    pub fn count(
        &mut self,
        (ty, less): (Ty, BinOp),
        (start, end, step): (Val, Val, Val),
        inside: impl FnOnce(&mut Self, Val) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let (counter, now) = (self.c.cell(ty), std::cell::Cell::new(start));
        self.c.set(counter, start);
        let test = &mut |l: &mut Self| {
            now.set(l.c.get(counter));
            Ok(l.c.bin(less, now.get(), end))
        };
        self.while_(test, |l| {
            let i = now.get();
            inside(l, i)?;
            let next = l.c.bin(BinOp::Add, i, step);
            l.c.set(counter, next);
            Ok(())
        })
    }

    /// A loop: `test` computes whether to go on, `body` is what is done then.
    pub fn while_(
        &mut self,
        test: &mut dyn FnMut(&mut Self) -> Result<Val, Refusal>,
        body: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        loop_of(self, &mut |l| &mut l.c, test, body)
    }
}
