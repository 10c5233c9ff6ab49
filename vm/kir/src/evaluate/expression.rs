//! Values of expressions, and the places that an index stands for.

use super::value::{Value, each_index, elements, room};
use super::{Evaluation, failed};
use crate::backend::RunError;
use crate::ir::*;
use galopvm_base::scalar::{Bits, convert, eval};
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_lmad::{Dim, Lmad};

impl Evaluation<'_> {
    pub(super) fn exps(&self, exps: &[Exp]) -> Result<Vec<Value>, RunError> {
        exps.iter().map(|exp| self.exp(exp)).collect()
    }

    pub(super) fn exp(&self, exp: &Exp) -> Result<Value, RunError> {
        match exp {
            Exp::Const(value) => Ok(Value::Scalar(*value)),
            Exp::Var(var) => self.value_of(*var).cloned(),
            Exp::Op(op, elem, args) => self.operation(*op, *elem, args),
            Exp::Convert(ty, arg) => {
                let value = self.scalar(arg)?;
                Ok(Value::Scalar(Scalar::new(*ty, convert(value.ty, *ty, value.bits))))
            }
            Exp::Read(read) => self.read(read),
            Exp::Opaque(name, _) => Err(failed(format!("nothing is known of `{name}`"))),
        }
    }

    /// All operands are computed first: `select` and the logical operations are no branches.
    fn operation(&self, op: ScalarOp, elem: ElemType, args: &[Exp]) -> Result<Value, RunError> {
        let operands = args.iter().map(|arg| Ok(self.scalar(arg)?.bits));
        let operands = operands.collect::<Result<Vec<Bits>, RunError>>()?;
        let result = eval(op, elem, &operands).map_err(|_| RunError::Trap)?;
        Ok(Value::Scalar(Scalar::new(op.result_type(elem), result)))
    }

    pub(super) fn scalar(&self, exp: &Exp) -> Result<Scalar, RunError> {
        self.exp(exp)?.scalar()
    }

    pub(super) fn int(&self, exp: &Exp) -> Result<i64, RunError> {
        Ok(self.scalar(exp)?.as_i64())
    }

    /// The extents of an array to be made: a negative one is a trap.
    pub(super) fn extents(&self, extents: &[Exp]) -> Result<Vec<i64>, RunError> {
        extents.iter().map(|extent| not_negative(self.int(extent)?)).collect()
    }

    fn read(&self, read: &Read) -> Result<Value, RunError> {
        let array = self.value_of(read.array)?.array()?;
        let view = self.view(&array.shape, &read.index)?;
        let shape = view.shape().to_vec();
        let mut data = room(elements(&shape)?)?;
        each_index(&shape, |index| {
            data.push(array.data[place(&view, index)]);
            Ok(())
        })?;
        Ok(Value::new(array.elem, shape, data))
    }

    /// The places of an index in an array of this shape that lies row-major. Traps if one of them is outside.
    pub(super) fn view(&self, shape: &[i64], index: &Index) -> Result<Lmad, RunError> {
        let whole = Lmad::row_major(shape);
        let mut offset = 0i64;
        let mut dims = Vec::new();
        let used = match index {
            Index::Dims(entries) => {
                for (entry, dim) in entries.iter().zip(&whole.dims) {
                    match entry {
                        DimIndex::At(at) => {
                            let at = inside(self.int(at)?.into(), dim.size)?;
                            offset = offset.saturating_add(step(at, dim));
                        }
                        DimIndex::Slice { start, count, step } => {
                            let start = self.int(start)?;
                            let slice = [(not_negative(self.int(count)?)?, self.int(step)?)];
                            offset = offset.saturating_add(slice_of(dim, start, &slice, &mut dims)?);
                        }
                    }
                }
                entries.len()
            }
            Index::Lmad { offset: start, dims: entries } => {
                let dim = whole.dims.first().ok_or_else(|| failed("a slice of a scalar"))?;
                let start = self.int(start)?;
                let mut slice = Vec::new();
                for (extent, stride) in entries {
                    slice.push((not_negative(self.int(extent)?)?, self.int(stride)?));
                }
                offset = offset.saturating_add(slice_of(dim, start, &slice, &mut dims)?);
                1
            }
        };
        dims.extend_from_slice(whole.dims.get(used..).unwrap_or(&[]));
        Ok(Lmad::new(offset, dims))
    }
}

/// Adds the dimensions of a slice `start + {(extent:stride),..}` of a dimension; gives its first place.
fn slice_of(dim: &Dim, start: i64, slice: &[(i64, i64)], dims: &mut Vec<Dim>) -> Result<i64, RunError> {
    let empty = slice.iter().any(|(extent, _)| *extent == 0);
    let reach = |wanted: fn(i128) -> bool| {
        let far = slice.iter().map(|(extent, stride)| (i128::from(*extent) - 1) * i128::from(*stride));
        i128::from(start) + far.filter(|far| wanted(*far)).sum::<i128>()
    };
    if !empty {
        inside(reach(|far| far < 0), dim.size)?;
        inside(reach(|far| far > 0), dim.size)?;
    }
    for (extent, stride) in slice {
        // Strides that nothing is reached with may be of any size.
        let stride = if *extent <= 1 || empty { 0 } else { step(*stride, dim) };
        dims.push(Dim::new(*extent, stride));
    }
    Ok(if empty { 0 } else { step(start, dim) })
}

/// The distance of `count` indices. Exact in arrays with elements; in empty ones, whose strides may be of any
/// size, nothing is ever reached.
fn step(count: i64, dim: &Dim) -> i64 {
    count.saturating_mul(dim.stride)
}

/// An index that lies inside an extent.
fn inside(index: i128, extent: i64) -> Result<i64, RunError> {
    let found = i64::try_from(index).ok().filter(|index| (0..extent).contains(index));
    found.ok_or(RunError::Trap)
}

pub(super) fn not_negative(extent: i64) -> Result<i64, RunError> {
    if extent < 0 { Err(RunError::Trap) } else { Ok(extent) }
}

/// The place of an index of a view that lies inside its array.
pub(super) fn place(view: &Lmad, index: &[i64]) -> usize {
    view.place(index) as usize
}
