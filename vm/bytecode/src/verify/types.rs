//! The typing rule of each instruction: what the roles of its fields say, and what is left. Registers exist and are defined:
//! `flow.rs` has checked that.

use super::lookup;
use crate::field::{BlockId, Def, FieldVisitor, FuncId, Operand, RegId, SliceDim};
use crate::module::{CodeBlock, Function, ValueType};
use crate::op::Instr;
use crate::parts::{Given, Parts};
use crate::purpose::Purpose;
use crate::role::Role;
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
        let fixed = dims.iter().filter(|dim| matches!(dim, SliceDim::At(_))).count();
        let rank = ty.rank.saturating_sub(fixed as u8);
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
}

/// The typing rule of an instruction: that of the roles of its fields, and what is its own.
pub(super) fn instruction(
    functions: &IdVec<FuncId, Function>,
    function: &Function,
    instr: &Instr,
) -> Result<(), String> {
    let t = Types { function };
    t.operands(instr)?;
    t.own_rule(functions, instr)?;
    t.blocks(instr)?;
    t.results(instr)
}

/// Checks the operands by their roles.
struct Operands<'a> {
    types: &'a Types<'a>,
    outcome: Result<(), String>,
}

impl FieldVisitor for Operands<'_> {
    fn operand(&mut self, role: Role, operand: Operand) {
        let t = self.types;
        let check = match role {
            Role::Width | Role::Extent | Role::Extents | Role::Position | Role::Positions | Role::Slice => {
                t.expect(operand, SIZE, "an index or extent")
            }
            Role::Condition | Role::Claim => t.expect(operand, BOOL, "the condition"),
            Role::Index => t.expect(operand, ValueType::array(ElemType::I64, 1), "an array of indices"),
            Role::Array | Role::Arrays | Role::Rows | Role::Dests | Role::Written => {
                t.array(operand).map(drop)
            }
            _ => Ok(()),
        };
        self.outcome = std::mem::replace(&mut self.outcome, Ok(())).and(check);
    }
}

impl Types<'_> {
    /// What the roles of an instruction's fields do not say.
    fn own_rule(&self, functions: &IdVec<FuncId, Function>, instr: &Instr) -> Result<(), String> {
        match instr {
            Instr::Const { dst, value } => self.define(*dst, ValueType::scalar(value.ty)),
            Instr::Op1 { dst, op, ty, a } => self.scalar_op(*dst, *op, *ty, &[*a]),
            Instr::Op2 { dst, op, ty, a, b } => self.scalar_op(*dst, *op, *ty, &[*a, *b]),
            Instr::Op3 { dst, op, ty, a, b, c } => self.scalar_op(*dst, *op, *ty, &[*a, *b, *c]),
            Instr::Convert { dst, from, to, a } => {
                self.expect(*a, ValueType::scalar(*from), "the operand")?;
                self.define(*dst, ValueType::scalar(*to))
            }
            // Their roles say it all.
            Instr::If { .. }
            | Instr::For { .. }
            | Instr::While { .. }
            | Instr::Map { .. }
            | Instr::Reduce { .. }
            | Instr::Scan { .. }
            | Instr::Filter { .. }
            | Instr::Partition { .. }
            | Instr::Stream { .. } => Ok(()),
            Instr::Call { dsts, function: callee, args } => {
                let callee = lookup(functions, *callee, "function")?;
                let params: Result<Vec<ValueType>, String> =
                    callee.params.iter().map(|p| lookup(&callee.regs, *p, "register").copied()).collect();
                same(self.function, &regs_of(args), &params?, "the arguments")?;
                self.define_all(dsts, &callee.results)
            }
            Instr::Assert { cond: _, message, args } => self.message(message, args),
            Instr::Fail { dsts: _, message, args } => self.message(message, args),
            Instr::Trace { label: _, form, purpose, values } => {
                let types = self.all(values);
                match Purpose::of_number(*purpose) {
                    None => return Err(format!("`purpose` is {purpose}, not 0, 1, 2 or 3")),
                    Some(Purpose::Nan) if !types.iter().all(|ty| ty.is_scalar()) => {
                        return Err("an array is no operand of an operation that makes NaN".into());
                    }
                    Some(_) => {}
                }
                if form.fits(&types) {
                    Ok(())
                } else {
                    Err(format!("the form {form} does not fit the values"))
                }
            }
            Instr::Param { given, value, name: _ } => {
                self.define(*given, BOOL)?;
                self.define(*value, SIZE)
            }
            Instr::Dim { dst, array, dim } => {
                self.dimension(*array, *dim)?;
                self.define(*dst, SIZE)
            }
            Instr::Index { dst, array, index } => {
                let dims: Vec<SliceDim> = index.iter().map(|i| SliceDim::At(*i)).collect();
                self.define(*dst, self.slice(*array, &dims)?)
            }
            Instr::Slice { dst, array, dims } => self.define(*dst, self.slice(*array, dims)?),
            Instr::Update { dst, array, dims, value } => {
                self.expect(*value, self.slice(*array, dims)?, "the new value")?;
                self.define(*dst, self.of(*array))
            }
            Instr::Permute { dst, array, perm } => {
                let ty = self.of(*array);
                let mut sorted = perm.clone();
                sorted.sort_unstable();
                if sorted.iter().copied().ne(0..ty.rank as u32) {
                    return Err(format!("{perm:?} is not a permutation of {} dimensions", ty.rank));
                }
                self.define(*dst, ty)
            }
            Instr::Reverse { dst, array, dim } | Instr::Rotate { dst, array, dim, amount: _ } => {
                self.define(*dst, self.dimension(*array, *dim)?)
            }
            Instr::Reshape { dst, array, shape } => {
                let rank = u8::try_from(shape.len()).unwrap_or(u8::MAX);
                self.define(*dst, ValueType { rank, ..self.of(*array) })?;
                if rank == 0 { Err("a reshape leaves at least one dimension".into()) } else { Ok(()) }
            }
            Instr::Concat { dst, arrays, dim } => {
                let Some(first) = arrays.first() else { return Err("nothing to concatenate".into()) };
                let ty = self.dimension(*first, *dim)?;
                arrays.iter().try_for_each(|a| self.expect(*a, ty, "an array"))?;
                self.define(*dst, ty)
            }
            Instr::Replicate { dst, count: _, value } => self.define(*dst, self.of(*value).array_of()),
            Instr::Iota { dst, ty, count: _, start, step } => {
                if !ty.is_int() {
                    return Err(format!("iota of {ty}: only integers count"));
                }
                self.expect(*start, ValueType::scalar(*ty), "the start")?;
                self.expect(*step, ValueType::scalar(*ty), "the step")?;
                self.define(*dst, ValueType::array(*ty, 1))
            }
            Instr::Array { dst, ty, rank, rows } => {
                let rank = u8::try_from(*rank)
                    .ok()
                    .filter(|r| *r > 0)
                    .ok_or("the rank of an array literal is wrong")?;
                let whole = ValueType::array(*ty, rank);
                let row = ValueType { rank: rank - 1, ..whole };
                rows.iter().try_for_each(|r| self.expect(*r, row, "a row"))?;
                self.define(*dst, whole)
            }
            Instr::Copy { dst, array } | Instr::Manifest { dst, array } => self.define(*dst, self.of(*array)),
            Instr::Equal { dst, a, b } => {
                self.expect(*b, self.of(*a), "the second array")?;
                self.define(*dst, BOOL)
            }
            Instr::FlatIndex { dst, array, offset: _, sizes, strides } => {
                if sizes.len() != strides.len() {
                    return Err(format!("{} sizes and {} strides", sizes.len(), strides.len()));
                }
                self.define(*dst, self.flat(*array, strides)?)
            }
            Instr::FlatUpdate { dst, array, offset: _, strides, value } => {
                self.expect(*value, self.flat(*array, strides)?, "the new value")?;
                self.define(*dst, self.of(*array))
            }
            Instr::Redomap { neutral, .. } => match neutral.iter().find(|n| !self.of(**n).is_scalar()) {
                Some(wide) => {
                    Err(format!("redomap combines scalars: {} has type {}", wide.reg, self.of(*wide)))
                }
                None => Ok(()),
            },
            Instr::Scatter { dsts: _, width: _, dests, index, values } => {
                self.written(values, &self.index_space(dests, index.len())?)
            }
            Instr::Hist { dsts: _, width: _, dests, neutral, index, values, op: _ } => {
                let elements = self.index_space(dests, index.len())?;
                self.written(values, &elements)?;
                same(self.function, &regs_of(neutral), &elements, "the neutral elements")
            }
            Instr::AccWrite { dsts: _, accs, index, values, op: _ } => {
                let elements = self.index_space(accs, index.len())?;
                same(self.function, &regs_of(values), &elements, "the values")
            }
        }
    }

    /// The operands have the types of their roles.
    fn operands(&self, instr: &Instr) -> Result<(), String> {
        let mut operands = Operands { types: self, outcome: Ok(()) };
        instr.visit(&mut operands);
        operands.outcome
    }

    /// The blocks take what they are given, and give what their roles say.
    fn blocks(&self, instr: &Instr) -> Result<(), String> {
        let parts = instr.parts();
        for (_, block) in parts.blocks.iter() {
            self.block(block)?;
        }
        for ((role, block), (_, given)) in parts.blocks.iter().zip(instr.given(self.function)) {
            let block = self.block(block)?;
            let params: Vec<ValueType> =
                given.iter().map(|given| self.given(*given)).collect::<Result<_, _>>()?;
            same(self.function, &block.params, &params, "block parameters")?;
            let results = match (role, instr) {
                (Role::Branch, _) => self.branch(&parts)?,
                (Role::Round, _) => self.all(parts.initial),
                (Role::Test, _) | (Role::Items, Instr::Filter { .. }) => vec![BOOL],
                (Role::Items, Instr::Partition { .. }) => vec![SIZE],
                (Role::Items, Instr::Redomap { neutral, .. }) => self.all(neutral),
                (Role::Combine, _) => {
                    // Items are as many as accumulators, and of their types.
                    let types = self.all(parts.accumulators());
                    if params.get(types.len()..) != Some(&types) {
                        return Err("neutral elements and rows of the arrays differ in type".into());
                    }
                    types
                }
                (Role::Pass, _) => self.all(parts.dests),
                _ => continue,
            };
            same(self.function, &regs_of(&block.results), &results, "block results")?;
        }
        Ok(())
    }

    /// The type of what a parameter of a block is given.
    fn given(&self, given: Given) -> Result<ValueType, String> {
        match given {
            Given::Counter => Ok(SIZE),
            Given::Like(operand) => Ok(self.of(operand)),
            Given::Row(array) => self.of(array).row().ok_or_else(|| format!("{} is not an array", array.reg)),
            Given::Result(block, at) => {
                let result = self.block(block)?.results.get(at).ok_or("a block gives too little")?;
                Ok(self.of(*result))
            }
        }
    }

    /// What the first of two branches gives.
    fn branch(&self, parts: &Parts<'_>) -> Result<Vec<ValueType>, String> {
        let first = parts.block(Role::Branch).ok_or("a branch without blocks")?;
        Ok(self.all(&self.block(first)?.results))
    }

    /// The results have the types that follow from the other fields.
    fn results(&self, instr: &Instr) -> Result<(), String> {
        let parts = instr.parts();
        let arrays_of = |types: Vec<ValueType>| types.iter().map(|ty| ty.array_of()).collect::<Vec<_>>();
        let types = match instr.gives() {
            Some(Role::Joined) => self.branch(&parts)?,
            Some(Role::Carried) => self.all(parts.initial),
            Some(Role::Made) => {
                let items = parts.block(Role::Items).ok_or("an operator without a block")?;
                arrays_of(self.all(&self.block(items)?.results))
            }
            Some(Role::Totals) => self.all(parts.neutral),
            Some(Role::Prefixes) => {
                let mut types = arrays_of(self.all(parts.neutral));
                if !types.is_empty() && parts.dsts.is_empty() {
                    return Err("a scan that keeps no prefixes".into());
                }
                types.truncate(parts.dsts.len());
                types
            }
            Some(Role::Changed) => self.all(parts.dests),
            Some(Role::Chosen) => {
                let numbers = if let Instr::Partition { classes, .. } = instr { *classes } else { 1 };
                // Compared first: the number of classes may be anything.
                if numbers == 0 || parts.dsts.len() as u64 != u64::from(numbers) + parts.rows.len() as u64 {
                    let (arrays, results) = (parts.rows.len(), parts.dsts.len());
                    let what = if let Instr::Filter { .. } = instr { "number" } else { "classes" };
                    return Err(format!("{numbers} {what}, {arrays} arrays, {results} results"));
                }
                [vec![SIZE; numbers as usize], self.all(parts.rows)].concat()
            }
            // Their own rules say it.
            Some(Role::Def | Role::Turned | Role::Measured | Role::Seen | Role::Returned | Role::Never)
            | None => {
                return Ok(());
            }
            Some(_) => return Err("results that are no results".into()),
        };
        self.define_all(parts.dsts, &types)
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
    fn flat(&self, array: Operand, strides: &[Operand]) -> Result<ValueType, String> {
        let ty = self.array(array)?;
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

    /// Arrays with rows of these types.
    fn written(&self, values: &[Operand], elements: &[ValueType]) -> Result<(), String> {
        let rows: Vec<ValueType> = elements.iter().map(|e| e.array_of()).collect();
        same(self.function, &regs_of(values), &rows, "the arrays of values")
    }
}
