//! Running a region plainly (every array in a block of its own, updates copy), and with arrays where a plan puts
//! them: iterations of kernels and elements of copies in random orders. Unknown functions give numbers that depend
//! on all they are given; places nobody wrote hold nothing, and what is computed from nothing is nothing.

use crate::inplace::Random;
use galopvm_analysis::circuit::{Moving, Places};
use galopvm_base::scalar::{convert, eval};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::{
    ArrayArg, ArrayOp, Body, CheckedRegion, DimIndex, Exp, Index, Observed, ObservedParam, Region, Rhs, Stm,
    VarId,
};
use galopvm_lmad::Lmad;
use std::collections::BTreeMap;

/// An element: nothing if nobody wrote it.
type Cell = Option<u64>;

/// An array: a block and a view of it.
#[derive(Clone, PartialEq, Debug)]
struct Array {
    block: usize,
    view: Lmad,
}

/// A run of a region.
struct Run<'a> {
    region: &'a Region,
    /// Where arrays lie; nothing for the plain run.
    places: Option<&'a Places>,
    random: Random,
    blocks: Vec<Vec<Cell>>,
    /// The present block of each array that has one of its own.
    owners: BTreeMap<VarId, usize>,
    arrays: BTreeMap<VarId, Array>,
    scalars: BTreeMap<VarId, Option<Scalar>>,
}

/// The values of the arrays that a region's last statement defines.
pub fn run(
    region: &CheckedRegion,
    observed: &Observed,
    places: Option<&Places>,
    seed: u64,
) -> Result<Vec<Vec<Cell>>, String> {
    let code = region.region();
    let mut run = Run {
        region: code,
        places,
        random: Random(seed),
        blocks: Vec::new(),
        owners: BTreeMap::new(),
        arrays: BTreeMap::new(),
        scalars: BTreeMap::new(),
    };
    let mut numbers = BTreeMap::new();
    for (var, param) in code.params.iter().zip(&observed.params) {
        match param {
            ObservedParam::Scalar(value) => {
                run.scalars.insert(*var, Some(*value));
            }
            ObservedParam::Array { lmad, block, block_elements, .. } => {
                // Integers are used as indices.
                let limit = if run.elem(*var) == ElemType::I64 { 8 } else { 50 };
                let fill = |at: i64| Some(hash(&[u64::from(*block), at as u64]) % limit);
                let at = *numbers.entry(*block).or_insert_with(|| {
                    run.blocks.push((0..*block_elements).map(fill).collect());
                    run.blocks.len() - 1
                });
                run.owners.insert(*var, at);
                run.arrays.insert(*var, Array { block: at, view: lmad.clone() });
            }
        }
    }
    for param in &code.params {
        if run.arrays.contains_key(param) || run.scalars.contains_key(param) {
            continue;
        }
        match run.shape(*param)? {
            shape if shape.is_empty() => {
                let value = Scalar::from_int(run.elem(*param), 1);
                run.scalars.insert(*param, Some(value));
            }
            shape => {
                let array = run.new_block(*param, &shape);
                for (at, cell) in run.blocks[array.block].iter_mut().enumerate() {
                    *cell = Some(hash(&[u64::from(param.0), 77, at as u64]) % 50);
                }
                run.arrays.insert(*param, array);
            }
        }
    }
    run.body(&code.body)?;
    let last = code.body.stms.last().ok_or("no statement")?;
    last.pat.iter().map(|var| Ok(run.cells(run.arrays.get(var).ok_or("no array")?))).collect()
}

/// Whether all that the plain run knows is the same with the plan.
pub fn agree(plain: &[Vec<Cell>], planned: &[Vec<Cell>]) -> bool {
    plain.len() == planned.len()
        && plain
            .iter()
            .zip(planned)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_none() || a == b))
}

fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0x9e37_79b9, |hash, word| {
        let mixed = (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 29)
    })
}

impl Run<'_> {
    fn elem(&self, var: VarId) -> ElemType {
        self.region.vars[var].ty.as_ref().map_or(ElemType::I64, |ty| ty.elem)
    }

    fn shape(&mut self, var: VarId) -> Result<Vec<i64>, String> {
        let ty = self.region.vars[var].ty.clone().ok_or("no type")?;
        ty.shape.iter().map(|extent| self.int(extent)).collect()
    }

    fn new_block(&mut self, owner: VarId, shape: &[i64]) -> Array {
        let view = Lmad::row_major(shape);
        self.blocks.push(vec![None; view.elements() as usize]);
        let block = self.blocks.len() - 1;
        self.owners.insert(owner, block);
        Array { block, view }
    }

    fn cells(&self, array: &Array) -> Vec<Cell> {
        array.view.places().map(|place| self.blocks[array.block][place as usize]).collect()
    }

    fn at(&self, array: &Array, place: i64) -> Result<Cell, String> {
        let block = &self.blocks[array.block];
        let cell = usize::try_from(place).ok().and_then(|place| block.get(place));
        cell.copied().ok_or_else(|| format!("place {place} of {}", block.len()))
    }

    fn set(&mut self, array: &Array, place: i64, value: Cell) -> Result<(), String> {
        let block = &mut self.blocks[array.block];
        let cell = usize::try_from(place).ok().and_then(|place| block.get_mut(place));
        *cell.ok_or_else(|| format!("place {place}"))? = value;
        Ok(())
    }

    /// The numbers of a moving view at this point.
    fn lmad(&self, view: &Moving) -> Result<Lmad, String> {
        let mut now = view.clone();
        for var in view.variables() {
            let value = self.scalars.get(&var).copied().flatten().ok_or("a variable without a value")?;
            let by = galopvm_analysis::affine::Form::constant(value.as_i64());
            now.offset = now.offset.substitute(var, &by).ok_or("overflow")?;
            for (size, stride) in &mut now.dims {
                *size = size.substitute(var, &by).ok_or("overflow")?;
                *stride = stride.substitute(var, &by).ok_or("overflow")?;
            }
        }
        now.lmad().ok_or_else(|| "a view that is no number".into())
    }

    /// Where the plan puts an array, if it says so.
    fn planned(&mut self, var: VarId) -> Result<Option<Array>, String> {
        let Some(place) = self.places.and_then(|places| places.get(&var)) else { return Ok(None) };
        let view = self.lmad(&place.view)?;
        let block = match self.owners.get(&place.block) {
            Some(block) => *block,
            None => {
                // The block is made before the array it is named after.
                let shape = self.shape(place.block)?;
                self.new_block(place.block, &shape).block
            }
        };
        Ok(Some(Array { block, view }))
    }

    /// A new array: where the plan puts it, or in a block of its own.
    fn make(&mut self, var: VarId) -> Result<Array, String> {
        let planned = self.places.and_then(|places| places.get(&var));
        let moved = planned.is_some_and(|place| place.block != var);
        if moved && let Some(array) = self.planned(var)? {
            return Ok(array);
        }
        let own = match planned {
            Some(place) => Some(self.lmad(&place.view)?),
            None => None,
        };
        let shape = self.shape(var)?;
        let ready = self.owners.get(&var).copied().filter(|block| !self.is_defined(*block));
        let block = match ready {
            Some(block) => block,
            None => self.new_block(var, &shape).block,
        };
        Ok(Array { block, view: own.unwrap_or_else(|| Lmad::row_major(&shape)) })
    }

    /// Whether an array of this block is bound now under the name of the block.
    fn is_defined(&self, block: usize) -> bool {
        self.arrays.iter().any(|(var, array)| array.block == block && self.owners.get(var) == Some(&block))
    }

    fn copy(&mut self, from: &Array, to: &Array) -> Result<(), String> {
        if from == to {
            return Ok(());
        }
        let places: Vec<(i64, i64)> = from.view.places().zip(to.view.places()).collect();
        for k in self.random.order(places.len()) {
            let value = self.at(from, places[k].0)?;
            self.set(to, places[k].1, value)?;
        }
        Ok(())
    }

    fn int(&mut self, exp: &Exp) -> Result<i64, String> {
        self.scalar(exp, ElemType::I64)?.map(Scalar::as_i64).ok_or_else(|| "an index of nothing".into())
    }

    fn scalar(&mut self, exp: &Exp, wanted: ElemType) -> Result<Option<Scalar>, String> {
        match exp {
            Exp::Const(value) => Ok(Some(*value)),
            Exp::Var(var) => self
                .scalars
                .get(var)
                .copied()
                .ok_or_else(|| format!("`{}` has no value", self.region.name_of(*var))),
            Exp::Convert(to, arg) => {
                let value = self.scalar(arg, wanted)?;
                Ok(value.map(|v| Scalar::new(*to, convert(v.ty, *to, v.bits))))
            }
            Exp::Op(op, args) => {
                let mut bits = Vec::new();
                let mut ty = wanted;
                for (k, arg) in args.iter().enumerate() {
                    let elem = self.region.exp_type(arg).unwrap_or(wanted);
                    let Some(value) = self.scalar(arg, elem)? else { return Ok(None) };
                    if k + 1 == args.len() {
                        ty = value.ty;
                    }
                    bits.push(value.bits);
                }
                Ok(eval(*op, ty, &bits).ok().map(|bits| Scalar::new(op.result_type(ty), bits)))
            }
            Exp::Read(read) => {
                let array = self.arrays.get(&read.array).cloned().ok_or("no array")?;
                let part = self.part(&array.view, &read.index)?;
                if part.rank() > 0 {
                    return Err("an array where a scalar should be".into());
                }
                let cell = self.at(&array, part.offset)?;
                Ok(cell.map(|bits| Scalar::new(self.elem(read.array), bits)))
            }
            Exp::Opaque(name, args) => {
                let words = self.words(name, args, None)?;
                Ok(words.map(|words| Scalar::from_int(wanted, (hash(&words) % 50) as i64)))
            }
        }
    }

    /// All that an unknown function is given, but for the array that it fills; nothing if a part of it is.
    fn words(
        &mut self,
        name: &str,
        args: &[Exp],
        filled: Option<&Array>,
    ) -> Result<Option<Vec<u64>>, String> {
        let mut words: Vec<u64> = name.bytes().map(u64::from).collect();
        let mut known = true;
        for arg in args {
            match self.array(arg)? {
                Some(array) if Some(&array) == filled => {}
                Some(array) => {
                    // A scratch array is given to be filled: what is in it does not matter.
                    let cells = self.cells(&array);
                    if cells.iter().any(Option::is_some) {
                        known &= cells.iter().all(Option::is_some);
                        words.extend(cells.iter().map(|cell| cell.unwrap_or(0)));
                    }
                }
                None => match self.scalar(arg, ElemType::I64)? {
                    Some(value) => words.push(value.bits),
                    None => known = false,
                },
            }
        }
        Ok(known.then_some(words))
    }

    /// The array of an expression, if it is one.
    fn array(&mut self, exp: &Exp) -> Result<Option<Array>, String> {
        match exp {
            Exp::Var(var) => Ok(self.arrays.get(var).cloned()),
            Exp::Read(read) => {
                let Some(array) = self.arrays.get(&read.array).cloned() else { return Ok(None) };
                let view = self.part(&array.view, &read.index)?;
                Ok((view.rank() > 0).then_some(Array { block: array.block, view }))
            }
            _ => Ok(None),
        }
    }

    fn part(&mut self, view: &Lmad, index: &Index) -> Result<Lmad, String> {
        match index {
            Index::Lmad { offset, dims } => {
                let offset = self.int(offset)?;
                let mut slice = Vec::new();
                for (count, stride) in dims {
                    slice.push(galopvm_lmad::Dim::new(self.int(count)?, self.int(stride)?));
                }
                Ok(view.slice_lmad(&Lmad::new(offset, slice)))
            }
            Index::Dims(dims) => {
                let mut view = view.clone();
                let mut axis = 0;
                for dim in dims {
                    match dim {
                        DimIndex::At(at) => view = view.fix(axis, self.int(at)?),
                        DimIndex::Slice { start, count, step } => {
                            let (start, count) = (self.int(start)?, self.int(count)?);
                            view = view.triplet(axis, start, count, self.int(step)?);
                            axis += 1;
                        }
                    }
                }
                Ok(view)
            }
        }
    }

    fn body(&mut self, body: &Body) -> Result<(), String> {
        body.stms.iter().try_for_each(|stm| self.statement(stm))
    }

    fn bind(&mut self, var: VarId, exp: &Exp) -> Result<(), String> {
        match self.array(exp)? {
            Some(array) => {
                self.arrays.insert(var, array);
            }
            None => {
                let value = self.scalar(exp, self.elem(var))?;
                self.scalars.insert(var, value);
            }
        }
        Ok(())
    }

    fn statement(&mut self, stm: &Stm) -> Result<(), String> {
        match &stm.rhs {
            Rhs::Exps(exps) => stm.pat.iter().zip(exps).try_for_each(|(var, exp)| self.bind(*var, exp)),
            Rhs::Kernel { axes, body } => {
                let mut shape = Vec::new();
                for axis in axes {
                    shape.push(self.int(&axis.bound)?.max(0));
                }
                let mut results = Vec::new();
                for var in &stm.pat {
                    results.push(self.make(*var)?);
                    self.arrays.remove(var);
                }
                let all = Lmad::row_major(&shape);
                for flat in self.random.order(all.elements() as usize) {
                    let mut rest = flat as i64;
                    let mut index = vec![0; shape.len()];
                    for k in (0..shape.len()).rev() {
                        index[k] = rest % shape[k];
                        rest /= shape[k];
                    }
                    for (axis, i) in axes.iter().zip(&index) {
                        self.scalars.insert(axis.var, Some(Scalar::i64(*i)));
                    }
                    self.forget(body);
                    self.body(body)?;
                    for ((var, exp), array) in stm.pat.iter().zip(&body.results).zip(&results) {
                        let row = index.iter().fold(array.view.clone(), |view, i| view.fix(0, *i));
                        let row = Array { block: array.block, view: row };
                        match self.array(exp)? {
                            Some(from) => self.copy(&from, &row)?,
                            None => {
                                let value = self.scalar(exp, self.elem(*var))?;
                                self.set(&row, row.view.offset, value.map(|v| v.bits))?;
                            }
                        }
                    }
                }
                for (var, array) in stm.pat.iter().zip(results) {
                    self.arrays.insert(*var, array);
                }
                Ok(())
            }
            Rhs::For { carried, init, axis, body } => {
                let trips = self.int(&axis.bound)?;
                for (var, exp) in carried.iter().zip(init) {
                    self.bind(*var, exp)?;
                }
                for i in 0..trips {
                    self.scalars.insert(axis.var, Some(Scalar::i64(i)));
                    self.forget(body);
                    self.body(body)?;
                    self.rebind(carried, &body.results)?;
                }
                let names: Vec<Exp> = carried.iter().map(|var| Exp::Var(*var)).collect();
                stm.pat.iter().zip(&names).try_for_each(|(var, exp)| self.bind(*var, exp))
            }
            Rhs::If { cond, then, otherwise } => {
                let taken = self.scalar(cond, ElemType::Bool)?.is_some_and(|value| value.bits & 1 == 1);
                let body = if taken { then } else { otherwise };
                self.body(body)?;
                stm.pat.iter().zip(&body.results).try_for_each(|(var, exp)| self.bind(*var, exp))
            }
            Rhs::Update { array, index, value } => {
                let var = stm.pat[0];
                let old = self.arrays.get(array).cloned().ok_or("no array")?;
                // It stays where it is if the plan has both in one place.
                let moved = self.places.and_then(|places| places.get(&var)).map(|place| place.block != var);
                let stays = match moved {
                    Some(true) => self.planned(var)?.as_ref() == Some(&old),
                    _ => false,
                };
                let new = if stays {
                    old
                } else {
                    let new = self.make(var)?;
                    self.copy(&old, &new)?;
                    new
                };
                let part = Array { block: new.block, view: self.part(&new.view, index)? };
                match self.array(value)? {
                    Some(from) => self.copy(&from, &part)?,
                    None => {
                        let value = self.scalar(value, self.elem(var))?;
                        self.set(&part, part.view.offset, value.map(|v| v.bits))?;
                    }
                }
                self.arrays.insert(var, new);
                Ok(())
            }
            Rhs::Array { op, args } => self.array_op(stm.pat[0], *op, args),
            Rhs::Manifest { array, .. } => {
                let from = self.arrays.get(array).cloned().ok_or("no array")?;
                let to = self.make(stm.pat[0])?;
                self.copy(&from, &to)?;
                self.arrays.insert(stm.pat[0], to);
                Ok(())
            }
            Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::While { .. } => Err("not run here".into()),
        }
    }

    /// The names of a body mean nothing yet in a new round.
    fn forget(&mut self, body: &Body) {
        for var in body.bound_vars() {
            self.arrays.remove(&var);
            self.owners.remove(&var);
        }
    }

    /// The next values of carried names, all computed before any is bound.
    fn rebind(&mut self, carried: &[VarId], results: &[Exp]) -> Result<(), String> {
        let mut arrays = Vec::new();
        for (var, exp) in carried.iter().zip(results) {
            match self.array(exp)? {
                Some(array) => arrays.push((*var, Ok(array))),
                None => arrays.push((*var, Err(self.scalar(exp, self.elem(*var))?))),
            }
        }
        for (var, value) in arrays {
            match value {
                Ok(array) => drop(self.arrays.insert(var, array)),
                Err(value) => drop(self.scalars.insert(var, value)),
            }
        }
        Ok(())
    }

    fn array_op(&mut self, var: VarId, op: ArrayOp, args: &[ArrayArg]) -> Result<(), String> {
        let first = args.iter().find_map(|arg| match arg {
            ArrayArg::Exp(exp) => Some(exp.clone()),
            _ => None,
        });
        let of = match &first {
            Some(exp) => self.array(exp)?,
            None => None,
        };
        let view = |view: Lmad, of: &Array| Some(Array { block: of.block, view });
        let seen = match (op, &of) {
            (ArrayOp::Transpose, Some(of)) => view(of.view.transpose(), of),
            (ArrayOp::Reverse, Some(of)) => view(of.view.reverse(0), of),
            (ArrayOp::Rearrange, Some(of)) => match args {
                [ArrayArg::Perm(perm), _] => view(of.view.permute(perm), of),
                _ => None,
            },
            (ArrayOp::Reshape | ArrayOp::Flatten, Some(of)) => {
                let shape = self.shape(var)?;
                of.view.reshape(&shape).and_then(|seen| view(seen, of))
            }
            _ => None,
        };
        if let Some(array) = seen {
            self.arrays.insert(var, array);
            return Ok(());
        }
        let to = self.make(var)?;
        match (op, first) {
            (ArrayOp::Scratch, _) => {}
            (ArrayOp::Replicate, Some(exp)) => {
                let value = self.scalar(&exp, self.elem(var))?;
                for place in to.view.places() {
                    self.set(&to, place, value.map(|v| v.bits))?;
                }
            }
            (ArrayOp::Copy, _) => self.copy(&of.ok_or("no array")?, &to)?,
            (ArrayOp::Reshape | ArrayOp::Flatten, _) => {
                let of = of.ok_or("no array")?;
                let same = Array { block: to.block, view: Lmad::row_major(&of.view.shape()) };
                self.copy(&of, &same)?;
            }
            (ArrayOp::Concat, _) => {
                let mut start = 0;
                for arg in args {
                    let ArrayArg::Exp(exp) = arg else { continue };
                    let from = self.array(exp)?.ok_or("no array")?;
                    let rows = from.view.shape()[0];
                    let part = to.view.triplet(0, start, rows, 1);
                    self.copy(&from, &Array { block: to.block, view: part })?;
                    start += rows;
                }
            }
            (ArrayOp::Call, Some(Exp::Opaque(name, args))) => {
                let places: Vec<i64> = to.view.places().collect();
                let elem = self.elem(var);
                for k in self.random.order(places.len()) {
                    let words = self.words(&name, &args, Some(&to))?;
                    let value = words.map(|mut words| {
                        words.push(k as u64);
                        Scalar::from_int(elem, (hash(&words) % 50) as i64).bits
                    });
                    self.set(&to, places[k], value)?;
                }
            }
            _ => return Err(format!("{op:?} is not run here")),
        }
        self.arrays.insert(var, to);
        Ok(())
    }
}
