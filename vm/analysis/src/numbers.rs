//! The numbers behind the names of a region at one launch.

use galopvm_base::{ElemType, TypedId};
use galopvm_kir::{CheckedRegion, Exp, Observed, ObservedParam, VarId};
use galopvm_lmad::Lmad;

/// Looks up what was observed by name.
pub(crate) struct Numbers<'a> {
    pub region: &'a CheckedRegion,
    /// By variable: the position of the parameter.
    position: Vec<Option<u32>>,
    observed: &'a Observed,
}

impl<'a> Numbers<'a> {
    pub fn new(region: &'a CheckedRegion, observed: &'a Observed) -> Numbers<'a> {
        let mut position = vec![None; region.region().vars.len()];
        for (k, param) in region.region().params.iter().enumerate() {
            position[param.index()] = Some(k as u32);
        }
        Numbers { region, position, observed }
    }

    fn param(&self, var: VarId) -> Option<&'a ObservedParam> {
        let k = self.position.get(var.index()).copied().flatten()?;
        self.observed.params.get(k as usize)
    }

    /// The value of an integer or bool parameter.
    pub fn integer(&self, var: VarId) -> Option<i128> {
        match self.param(var)? {
            // Unsigned 64-bit values do not fit i64.
            ObservedParam::Scalar(value) if value.ty == ElemType::U64 => Some(i128::from(value.bits)),
            ObservedParam::Scalar(value) if !value.ty.is_float() => Some(i128::from(value.as_i64())),
            _ => None,
        }
    }

    /// The view of an array parameter.
    pub fn lmad(&self, var: VarId) -> Option<&'a Lmad> {
        match self.param(var)? {
            ObservedParam::Array { lmad, .. } => Some(lmad),
            ObservedParam::Scalar(_) => None,
        }
    }

    /// The value of a size over parameters and constants.
    pub fn size(&self, exp: &Exp) -> Option<i64> {
        let lookup = |var| match self.param(var)? {
            ObservedParam::Scalar(value) => Some(*value),
            ObservedParam::Array { .. } => None,
        };
        self.region.size_with(exp, &lookup)
    }
}
