//! The typing rule of each instruction. Registers exist and are defined: `flow.rs` has checked that.

use super::lookup;
use crate::field::{BlockId, Def, FuncId, Operand, RegId, SliceDim};
use crate::module::{CodeBlock, Function, ValueType};
use crate::op::Instr;
use galopvm_base::{ElemType, IdVec, ScalarOp};

const BOOL: ValueType = ValueType::scalar(ElemType::Bool);
const SIZE: ValueType = ValueType::scalar(ElemType::I64);

struct Types<'a> {
    function: &'a Function,
}

/// Checks that registers have these types.
pub(super) fn same(
    function: &Function,
    regs: &[RegId],
    types: &[ValueType],
    what: &str,
) -> Result<(), String> {
    if regs.len() != types.len() {
        return Err(format!("{what}: {} values, expected {}", regs.len(), types.len()));
    }
    for (reg, ty) in regs.iter().zip(types) {
        if function.regs[*reg] != *ty {
            return Err(format!("{what}: {reg} has type {}, expected {ty}", function.regs[*reg]));
        }
    }
    Ok(())
}

fn regs_of(operands: &[Operand]) -> Vec<RegId> {
    operands.iter().map(|o| o.reg).collect()
}

impl Types<'_> {
    fn of(&self, operand: Operand) -> ValueType {
        self.function.regs[operand.reg]
    }

    fn all(&self, operands: &[Operand]) -> Vec<ValueType> {
        operands.iter().map(|o| self.of(*o)).collect()
    }

    fn expect(&self, operand: Operand, ty: ValueType, what: &str) -> Result<(), String> {
        same(self.function, &[operand.reg], &[ty], what)
    }

    fn define(&self, dst: Def, ty: ValueType) -> Result<(), String> {
        same(self.function, &[dst.0], &[ty], "the result")
    }

    fn define_all(&self, dsts: &[Def], types: &[ValueType]) -> Result<(), String> {
        let regs: Vec<RegId> = dsts.iter().map(|d| d.0).collect();
        same(self.function, &regs, types, "the results")
    }

    /// An array operand's type.
    fn array(&self, operand: Operand) -> Result<ValueType, String> {
        let ty = self.of(operand);
        if ty.is_scalar() { Err(format!("{} is not an array", operand.reg)) } else { Ok(ty) }
    }

    fn block(&self, id: BlockId) -> Result<&CodeBlock, String> {
        lookup(&self.function.blocks, id, "block")
    }

    /// A block that takes and gives values of these types.
    fn block_is(&self, id: BlockId, params: &[ValueType], results: &[ValueType]) -> Result<(), String> {
        let block = self.block(id)?;
        same(self.function, &block.params, params, "block parameters")?;
        same(self.function, &regs_of(&block.results), results, "block results")
    }

    fn sizes(&self, operands: &[Operand]) -> Result<(), String> {
        operands.iter().try_for_each(|o| self.expect(*o, SIZE, "an index or extent"))
    }

    fn scalar_op(&self, dst: Def, op: ScalarOp, ty: ElemType, operands: &[Operand]) -> Result<(), String> {
        if op.arity() != operands.len() {
            return Err(format!("{op} takes {} operands", op.arity()));
        }
        if !op.accepts(ty) {
            return Err(format!("{op} does not exist on {ty}"));
        }
        for (k, operand) in operands.iter().enumerate() {
            self.expect(*operand, ValueType::scalar(op.operand_type(k, ty)), "an operand")?;
        }
        self.define(dst, ValueType::scalar(op.result_type(ty)))
    }

    /// The type that a slice of an array has.
    fn slice(&self, array: Operand, dims: &[SliceDim]) -> Result<ValueType, String> {
        let ty = self.array(array)?;
        if dims.len() > ty.rank as usize {
            return Err(format!("{} dimensions for an array of rank {}", dims.len(), ty.rank));
        }
        let mut rank = ty.rank;
        for dim in dims {
            match dim {
                SliceDim::At(index) => {
                    self.sizes(&[*index])?;
                    rank -= 1;
                }
                SliceDim::Range { start, end, step } => {
                    let given: Vec<Operand> = [start, end, step].into_iter().flatten().copied().collect();
                    self.sizes(&given)?;
                }
            }
        }
        Ok(ValueType { rank, ..ty })
    }

    fn dimension(&self, array: Operand, dim: u32) -> Result<ValueType, String> {
        let ty = self.array(array)?;
        if dim >= ty.rank as u32 {
            Err(format!("dimension {dim} of an array of rank {}", ty.rank))
        } else {
            Ok(ty)
        }
    }

    fn rows(&self, arrays: &[Operand]) -> Result<Vec<ValueType>, String> {
        let row = |o: &Operand| self.of(*o).row().ok_or_else(|| format!("{} is not an array", o.reg));
        arrays.iter().map(row).collect()
    }
}

/// The typing rule of an instruction.
pub(super) fn instruction(
    functions: &IdVec<FuncId, Function>,
    function: &Function,
    instr: &Instr,
) -> Result<(), String> {
    let t = Types { function };
    match instr {
        Instr::Const { dst, value } => t.define(*dst, ValueType::scalar(value.ty)),
        Instr::Op1 { dst, op, ty, a } => t.scalar_op(*dst, *op, *ty, &[*a]),
        Instr::Op2 { dst, op, ty, a, b } => t.scalar_op(*dst, *op, *ty, &[*a, *b]),
        Instr::Op3 { dst, op, ty, a, b, c } => t.scalar_op(*dst, *op, *ty, &[*a, *b, *c]),
        Instr::Convert { dst, from, to, a } => {
            t.expect(*a, ValueType::scalar(*from), "the operand")?;
            t.define(*dst, ValueType::scalar(*to))
        }
        Instr::If { dsts, cond, then, otherwise } => {
            t.expect(*cond, BOOL, "the condition")?;
            let types = t.all(&t.block(*then)?.results);
            t.block_is(*then, &[], &types)?;
            t.block_is(*otherwise, &[], &types)?;
            t.define_all(dsts, &types)
        }
        Instr::For { dsts, bound, init, body } => {
            t.sizes(&[*bound])?;
            let carried = t.all(init);
            let params: Vec<ValueType> = [SIZE].iter().chain(&carried).copied().collect();
            t.block_is(*body, &params, &carried)?;
            t.define_all(dsts, &carried)
        }
        Instr::While { dsts, init, cond, body } => {
            let carried = t.all(init);
            t.block_is(*cond, &carried, &[BOOL])?;
            t.block_is(*body, &carried, &carried)?;
            t.define_all(dsts, &carried)
        }
        Instr::Call { dsts, function: callee, args } => {
            let callee = lookup(functions, *callee, "function")?;
            let params: Result<Vec<ValueType>, String> =
                callee.params.iter().map(|p| lookup(&callee.regs, *p, "register").copied()).collect();
            same(function, &regs_of(args), &params?, "the arguments")?;
            t.define_all(dsts, &callee.results)
        }
        Instr::Assert { cond, message, args } => {
            t.expect(*cond, BOOL, "the condition")?;
            t.message(message, args)
        }
        Instr::Fail { dsts: _, message, args } => t.message(message, args),
        Instr::Trace { label: _, form, stops, values } => {
            if *stops > 1 {
                return Err(format!("`stops` is {stops}, not 0 or 1"));
            }
            if form.fits(&t.all(values)) {
                Ok(())
            } else {
                Err(format!("the form {form} does not fit the values"))
            }
        }
        Instr::Param { given, value, name: _ } => {
            t.define(*given, BOOL)?;
            t.define(*value, SIZE)
        }
        Instr::Dim { dst, array, dim } => {
            t.dimension(*array, *dim)?;
            t.define(*dst, SIZE)
        }
        Instr::Index { dst, array, index } => {
            let dims: Vec<SliceDim> = index.iter().map(|i| SliceDim::At(*i)).collect();
            t.define(*dst, t.slice(*array, &dims)?)
        }
        Instr::Slice { dst, array, dims } => t.define(*dst, t.slice(*array, dims)?),
        Instr::Update { dst, array, dims, value } => {
            t.expect(*value, t.slice(*array, dims)?, "the new value")?;
            t.define(*dst, t.array(*array)?)
        }
        Instr::Permute { dst, array, perm } => {
            let ty = t.array(*array)?;
            let mut sorted = perm.clone();
            sorted.sort_unstable();
            if sorted.iter().copied().ne(0..ty.rank as u32) {
                return Err(format!("{perm:?} is not a permutation of {} dimensions", ty.rank));
            }
            t.define(*dst, ty)
        }
        Instr::Reverse { dst, array, dim } => t.define(*dst, t.dimension(*array, *dim)?),
        Instr::Reshape { dst, array, shape } => {
            let ty = t.array(*array)?;
            t.sizes(shape)?;
            let rank = u8::try_from(shape.len()).unwrap_or(u8::MAX);
            t.define(*dst, ValueType { rank, ..ty })?;
            if rank == 0 { Err("a reshape leaves at least one dimension".into()) } else { Ok(()) }
        }
        Instr::Concat { dst, arrays, dim } => {
            let Some(first) = arrays.first() else { return Err("nothing to concatenate".into()) };
            let ty = t.dimension(*first, *dim)?;
            arrays.iter().try_for_each(|a| t.expect(*a, ty, "an array"))?;
            t.define(*dst, ty)
        }
        Instr::Replicate { dst, count, value } => {
            t.sizes(&[*count])?;
            t.define(*dst, t.of(*value).array_of())
        }
        Instr::Iota { dst, ty, count, start, step } => {
            if !ty.is_int() {
                return Err(format!("iota of {ty}: only integers count"));
            }
            t.sizes(&[*count])?;
            t.expect(*start, ValueType::scalar(*ty), "the start")?;
            t.expect(*step, ValueType::scalar(*ty), "the step")?;
            t.define(*dst, ValueType::array(*ty, 1))
        }
        Instr::Array { dst, ty, rank, rows } => {
            let rank =
                u8::try_from(*rank).ok().filter(|r| *r > 0).ok_or("the rank of an array literal is wrong")?;
            let whole = ValueType::array(*ty, rank);
            let row = ValueType { rank: rank - 1, ..whole };
            rows.iter().try_for_each(|r| t.expect(*r, row, "a row"))?;
            t.define(*dst, whole)
        }
        Instr::Copy { dst, array } | Instr::Manifest { dst, array } => t.define(*dst, t.array(*array)?),
        Instr::Rotate { dst, array, dim, amount } => {
            t.sizes(&[*amount])?;
            t.define(*dst, t.dimension(*array, *dim)?)
        }
        Instr::Equal { dst, a, b } => {
            t.expect(*b, t.array(*a)?, "the second array")?;
            t.define(*dst, BOOL)
        }
        Instr::FlatIndex { dst, array, offset, sizes, strides } => {
            t.sizes(sizes)?;
            if sizes.len() != strides.len() {
                return Err(format!("{} sizes and {} strides", sizes.len(), strides.len()));
            }
            t.define(*dst, t.flat(*array, *offset, strides)?)
        }
        Instr::FlatUpdate { dst, array, offset, strides, value } => {
            t.expect(*value, t.flat(*array, *offset, strides)?, "the new value")?;
            t.define(*dst, t.array(*array)?)
        }
        Instr::Map { dsts, width, arrays, body } => {
            t.sizes(&[*width])?;
            let results = t.all(&t.block(*body)?.results);
            t.block_is(*body, &t.rows(arrays)?, &results)?;
            t.define_all(dsts, &results.iter().map(|r| r.array_of()).collect::<Vec<_>>())
        }
        Instr::Reduce { dsts, width, neutral, arrays, body } => {
            let types = t.operator(*width, neutral, arrays, *body)?;
            t.define_all(dsts, &types)
        }
        Instr::Scan { dsts, width, neutral, arrays, body } => {
            let types = t.operator(*width, neutral, arrays, *body)?;
            t.define_all(dsts, &types.iter().map(|r| r.array_of()).collect::<Vec<_>>())
        }
        Instr::Redomap { dsts, width, neutral, arrays, map, op } => {
            t.sizes(&[*width])?;
            let types = t.all(neutral);
            if let Some(wide) = neutral.iter().find(|n| !t.of(**n).is_scalar()) {
                return Err(format!("redomap combines scalars: {} has type {}", wide.reg, t.of(*wide)));
            }
            t.block_is(*map, &t.rows(arrays)?, &types)?;
            t.combines(*op, &types)?;
            t.define_all(dsts, &types)
        }
        Instr::Scatter { dsts, width, dests, index, values } => {
            let elements = t.index_space(dests, index.len())?;
            t.indexed(*width, index, values, &elements)?;
            t.define_all(dsts, &t.all(dests))
        }
        Instr::Hist { dsts, width, dests, neutral, index, values, op } => {
            let elements = t.index_space(dests, index.len())?;
            t.indexed(*width, index, values, &elements)?;
            same(function, &regs_of(neutral), &elements, "the neutral elements")?;
            t.combines(*op, &elements)?;
            t.define_all(dsts, &t.all(dests))
        }
        Instr::Filter { dsts, width, arrays, body } => {
            t.sizes(&[*width])?;
            t.block_is(*body, &t.rows(arrays)?, &[BOOL])?;
            t.define_all(dsts, &[vec![SIZE], t.all(arrays)].concat())
        }
        Instr::Partition { dsts, classes, width, arrays, body } => {
            t.sizes(&[*width])?;
            t.block_is(*body, &t.rows(arrays)?, &[SIZE])?;
            // Compared first: the number of classes may be anything.
            if *classes == 0 || dsts.len() as u64 != u64::from(*classes) + arrays.len() as u64 {
                return Err(format!("{classes} classes, {} arrays, {} results", arrays.len(), dsts.len()));
            }
            t.define_all(dsts, &[vec![SIZE; *classes as usize], t.all(arrays)].concat())
        }
        Instr::Stream { dsts, width, accs, arrays, body } => {
            t.sizes(&[*width])?;
            t.rows(accs)?;
            let types = t.all(accs);
            t.block_is(*body, &[types.clone(), t.rows(arrays)?].concat(), &types)?;
            t.define_all(dsts, &types)
        }
        Instr::AccWrite { dsts, accs, index, values, op } => {
            let elements = t.index_space(accs, index.len())?;
            t.sizes(index)?;
            same(function, &regs_of(values), &elements, "the values")?;
            t.combines(*op, &elements)?;
            t.define_all(dsts, &t.all(accs))
        }
    }
}

impl Types<'_> {
    /// The rule that `reduce` and `scan` share; gives the types combined.
    fn operator(
        &self,
        width: Operand,
        neutral: &[Operand],
        arrays: &[Operand],
        body: BlockId,
    ) -> Result<Vec<ValueType>, String> {
        self.sizes(&[width])?;
        let types = self.all(neutral);
        if self.rows(arrays)? != types {
            return Err("neutral elements and rows of the arrays differ in type".into());
        }
        self.combines(body, &types)?;
        Ok(types)
    }

    /// A message and the scalars that it shows.
    fn message(&self, message: &str, args: &[Operand]) -> Result<(), String> {
        if let Some(array) = args.iter().find(|a| !self.of(**a).is_scalar()) {
            return Err(format!("{} is not a scalar", array.reg));
        }
        let shown = message.matches("{}").count();
        if shown == args.len() {
            Ok(())
        } else {
            Err(format!("the message shows {shown} values, {} are given", args.len()))
        }
    }

    /// The type of a view by offset and strides of the rows of an array.
    fn flat(&self, array: Operand, offset: Operand, strides: &[Operand]) -> Result<ValueType, String> {
        let ty = self.array(array)?;
        self.sizes(&[offset])?;
        self.sizes(strides)?;
        if strides.is_empty() {
            return Err("a flat view has at least one dimension".into());
        }
        let rank = usize::from(ty.rank) - 1 + strides.len();
        Ok(ValueType { rank: u8::try_from(rank).unwrap_or(u8::MAX), ..ty })
    }

    /// The types of the elements at `depth` indices of arrays.
    fn index_space(&self, arrays: &[Operand], depth: usize) -> Result<Vec<ValueType>, String> {
        if depth == 0 || arrays.is_empty() {
            return Err("at least one array and one index are needed".into());
        }
        let element = |o: &Operand| {
            let ty = self.of(*o);
            let rank = usize::from(ty.rank).checked_sub(depth).and_then(|r| u8::try_from(r).ok());
            rank.map(|rank| ValueType { rank, ..ty })
                .ok_or_else(|| format!("{} has type {ty}: {depth} indices are too many", o.reg))
        };
        arrays.iter().map(element).collect()
    }

    /// Index arrays, and value arrays with rows of these types.
    fn indexed(
        &self,
        width: Operand,
        index: &[Operand],
        values: &[Operand],
        elements: &[ValueType],
    ) -> Result<(), String> {
        self.sizes(&[width])?;
        index
            .iter()
            .try_for_each(|o| self.expect(*o, ValueType::array(ElemType::I64, 1), "an array of indices"))?;
        let rows: Vec<ValueType> = elements.iter().map(|e| e.array_of()).collect();
        same(self.function, &regs_of(values), &rows, "the arrays of values")
    }

    /// A block that combines two values of these types into one.
    fn combines(&self, body: BlockId, types: &[ValueType]) -> Result<(), String> {
        let twice: Vec<ValueType> = types.iter().chain(types).copied().collect();
        self.block_is(body, &twice, types)
    }
}
