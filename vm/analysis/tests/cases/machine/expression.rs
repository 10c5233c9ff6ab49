//! Scalars, indices and views.

use super::memory::Array;
use super::names::{Names, Val};
use super::{Access, Cell, Machine, hash};
use galopvm_analysis::circuit::Moving;
use galopvm_base::scalar::{convert, eval};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::{DimIndex, Exp, Index, VarId};
use galopvm_lmad::{Dim, Lmad};

impl Machine<'_> {
    fn note(&mut self, block: usize, place: i64, name: VarId, write: bool) {
        if self.way.watch {
            let (iteration, time) = (self.iteration, self.time);
            self.accesses.push(Access { block, place, name, write, iteration, time });
        }
    }

    pub(super) fn at(&mut self, array: &Array, place: i64, name: VarId) -> Result<Cell, String> {
        self.count(1)?;
        self.note(array.block, place, name, false);
        self.memory.get(array.block, place)
    }

    pub(super) fn put(&mut self, array: &Array, place: i64, value: Cell, name: VarId) -> Result<(), String> {
        self.count(1)?;
        self.note(array.block, place, name, true);
        self.memory.set(array.block, place, value)
    }

    pub(super) fn shape(&mut self, names: &Names, var: VarId) -> Result<Vec<i64>, String> {
        let ty = self.region.vars[var].ty.clone().ok_or("no type")?;
        ty.shape.iter().map(|extent| self.int(names, extent)).collect()
    }

    /// The numbers of a moving view at this point.
    pub(super) fn numbers(&self, names: &Names, view: &Moving) -> Result<Lmad, String> {
        let value = |var| match names.get(var) {
            Some(Val::Scalar(Some(value))) => Some(value.as_i64()),
            _ => None,
        };
        view.at(&value).ok_or_else(|| "a view that is no number".into())
    }

    pub(super) fn int(&mut self, names: &Names, exp: &Exp) -> Result<i64, String> {
        let value = self.scalar(names, exp, ElemType::I64)?;
        value.map(Scalar::as_i64).ok_or_else(|| "an index of nothing".into())
    }

    /// The value of an expression, a scalar or an array.
    pub(super) fn value(&mut self, names: &Names, exp: &Exp, wanted: ElemType) -> Result<Val, String> {
        match self.array(names, exp)? {
            Some((array, _)) => Ok(Val::Array(array)),
            None => Ok(Val::Scalar(self.scalar(names, exp, wanted)?)),
        }
    }

    pub(super) fn scalar(
        &mut self,
        names: &Names,
        exp: &Exp,
        wanted: ElemType,
    ) -> Result<Option<Scalar>, String> {
        match exp {
            Exp::Const(value) => Ok(Some(*value)),
            Exp::Var(var) => match names.get(*var) {
                Some(Val::Scalar(value)) => Ok(*value),
                _ => Err(format!("`{}` has no value", self.region.name_of(*var))),
            },
            Exp::Convert(to, arg) => {
                let value = self.scalar(names, arg, wanted)?;
                Ok(value.map(|v| Scalar::new(*to, convert(v.ty, *to, v.bits))))
            }
            Exp::Op(op, _, args) => {
                let mut bits = Vec::new();
                let mut ty = wanted;
                for (k, arg) in args.iter().enumerate() {
                    let elem = self.region.exp_type(arg).unwrap_or(wanted);
                    let Some(value) = self.scalar(names, arg, elem)? else { return Ok(None) };
                    if k + 1 == args.len() {
                        ty = value.ty;
                    }
                    bits.push(value.bits);
                }
                Ok(eval(*op, ty, &bits).ok().map(|bits| Scalar::new(op.result_type(ty), bits)))
            }
            Exp::Read(read) => {
                let array = names.array(read.array).cloned().ok_or("no array")?;
                let part = self.part(names, &array.view, &read.index)?;
                if part.rank() > 0 {
                    return Err("an array where a scalar should be".into());
                }
                let cell = self.at(&array, part.offset, read.array)?;
                Ok(cell.map(|bits| Scalar::new(self.elem(read.array), bits)))
            }
            // A change of width keeps the number.
            Exp::Opaque(name, args) if args.len() == 1 && matches!(name.as_str(), "sext" | "zext") => {
                self.scalar(names, &args[0], wanted)
            }
            Exp::Opaque(name, args) => {
                let words = self.words(names, name, args, &[])?;
                Ok(words.map(|words| Scalar::from_int(wanted, (hash(&words) % 50) as i64)))
            }
        }
    }

    /// All that an unknown function is given, but for scratch arrays of the shape that it fills; nothing if a part of
    /// it is.
    pub(super) fn words(
        &mut self,
        names: &Names,
        name: &str,
        args: &[Exp],
        filled: &[i64],
    ) -> Result<Option<Vec<u64>>, String> {
        let mut words: Vec<u64> = name.bytes().map(u64::from).collect();
        let mut known = true;
        for arg in args {
            match self.array(names, arg)? {
                Some((array, name)) => {
                    if *arg == Exp::Var(name)
                        && self.scratch.contains(&name)
                        && array.view.shape().as_slice() == filled
                    {
                        continue;
                    }
                    for place in array.view.places() {
                        match self.at(&array, place, name)? {
                            Some(value) => words.push(value),
                            None => known = false,
                        }
                    }
                }
                None => match self.scalar(names, arg, ElemType::I64)? {
                    Some(value) => words.push(value.bits),
                    None => known = false,
                },
            }
        }
        Ok(known.then_some(words))
    }

    /// The array of an expression, if it is one, and the name that it goes by.
    pub(super) fn array(&mut self, names: &Names, exp: &Exp) -> Result<Option<(Array, VarId)>, String> {
        match exp {
            Exp::Var(var) => Ok(names.array(*var).map(|array| (array.clone(), *var))),
            Exp::Read(read) => {
                let Some(array) = names.array(read.array).cloned() else { return Ok(None) };
                let view = self.part(names, &array.view, &read.index)?;
                Ok((view.rank() > 0).then_some((Array { block: array.block, view }, read.array)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn part(&mut self, names: &Names, view: &Lmad, index: &Index) -> Result<Lmad, String> {
        match index {
            Index::Lmad { offset, dims } => {
                let offset = self.int(names, offset)?;
                let mut slice = Vec::new();
                for (count, stride) in dims {
                    slice.push(Dim::new(self.int(names, count)?, self.int(names, stride)?));
                }
                Ok(view.slice_lmad(&Lmad::new(offset, slice)))
            }
            Index::Dims(dims) => {
                let mut view = view.clone();
                let mut axis = 0;
                for dim in dims {
                    match dim {
                        DimIndex::At(at) => view = view.fix(axis, self.int(names, at)?),
                        DimIndex::Slice { start, count, step } => {
                            let (start, count) = (self.int(names, start)?, self.int(names, count)?);
                            view = view.triplet(axis, start, count, self.int(names, step)?);
                            axis += 1;
                        }
                    }
                }
                Ok(view)
            }
        }
    }
}
