//! What was observed, as case files write it:
//! ```text
//! size n = 8, m = n*2
//! scalar x = 1.5f32
//! array A : [n][m]f32 @ 0 + {(n:m),(m:1)} rc 1 block 0 of 128
//! ```
//! A missing `@` means row-major at 0, a missing `rc` one reference, a missing `block` a block of its own that
//! ends after the last element. Printed observations spell everything out in numbers.

use super::ParseError;
use super::parse::Parser;
use crate::ir::*;
use crate::observed::{Observed, ObservedParam};
use crate::types::scalar_value;
use galopvm_base::{ElemType, Scalar, TypedId};
use galopvm_lmad::{Dim, Lmad};
use std::fmt::Write;

/// Reads the lines of an environment: a region that has only parameters, and what was observed of them. The
/// region is then given to [`super::parse_region_in`].
pub fn parse_env(text: &str) -> Result<(Region, Observed), ParseError> {
    let mut env = Env { parser: Parser::new(text)?, observed: Observed::default() };
    loop {
        if env.parser.skip_word("size") {
            env.sizes()?;
        } else if env.parser.skip_word("scalar") {
            env.scalar()?;
        } else if env.parser.skip_word("array") {
            env.array()?;
        } else {
            env.parser.expect_end()?;
            return Ok((env.parser.region, env.observed));
        }
    }
}

struct Env {
    parser: Parser,
    observed: Observed,
}

impl Env {
    fn add(&mut self, var: VarId, param: ObservedParam) {
        self.parser.region.params.push(var);
        self.observed.params.push(param);
    }

    /// The value of an expression over the sizes so far.
    fn value(&self, mark: usize, exp: &Exp) -> Result<Scalar, ParseError> {
        let known = |var: VarId| match self.observed.params.get(var.index()) {
            Some(ObservedParam::Scalar(value)) => Some(*value),
            _ => None,
        };
        scalar_value(exp, &known).ok_or_else(|| self.parser.error_at(mark, "this has no value here"))
    }

    fn number(&mut self) -> Result<i64, ParseError> {
        let mark = self.parser.mark();
        let exp = self.parser.exp()?;
        Ok(self.value(mark, &exp)?.as_i64())
    }

    fn sizes(&mut self) -> Result<(), ParseError> {
        loop {
            let var = self.parser.define(Some(Type::scalar(ElemType::I64)))?;
            self.parser.expect_sign("=")?;
            let value = self.number()?;
            self.add(var, ObservedParam::Scalar(Scalar::i64(value)));
            if !self.parser.skip_sign(",") {
                return Ok(());
            }
        }
    }

    fn scalar(&mut self) -> Result<(), ParseError> {
        let var = self.parser.define(None)?;
        self.parser.expect_sign("=")?;
        let mark = self.parser.mark();
        let exp = self.parser.exp()?;
        let value = self.value(mark, &exp)?;
        self.parser.region.vars[var].ty = Some(Type::scalar(value.ty));
        self.add(var, ObservedParam::Scalar(value));
        Ok(())
    }

    fn array(&mut self) -> Result<(), ParseError> {
        let var = self.parser.define(None)?;
        self.parser.expect_sign(":")?;
        let mark = self.parser.mark();
        let ty = self.parser.ty()?;
        let shape = ty
            .shape
            .iter()
            .map(|extent| Ok(self.value(mark, extent)?.as_i64().max(0)))
            .collect::<Result<Vec<i64>, ParseError>>()?;
        self.parser.region.vars[var].ty = Some(ty);
        let lmad = if self.parser.skip_sign("@") { self.lmad()? } else { Lmad::row_major(&shape) };
        if lmad.shape().as_slice() != shape.as_slice() {
            return Err(self.parser.error_at(mark, "the view has another shape than the type says"));
        }
        let references = if self.parser.skip_word("rc") { self.parser.plain_number()? } else { 1 };
        let unused = |param: &ObservedParam| match param {
            ObservedParam::Array { block, .. } => block.saturating_add(1),
            ObservedParam::Scalar(_) => 0,
        };
        let mut block = self.observed.params.iter().map(unused).max().unwrap_or(0) as usize;
        let mut elements = end_of(&lmad);
        if self.parser.skip_word("block") {
            block = self.parser.plain_number()?;
            self.parser.expect_word("of")?;
            elements = i64::try_from(self.parser.plain_number()?).unwrap_or(i64::MAX);
        }
        let clip = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.add(
            var,
            ObservedParam::Array {
                lmad,
                block: clip(block),
                block_elements: elements,
                references: clip(references),
            },
        );
        Ok(())
    }

    /// `o + {(n:s),(m:t)}` over sizes.
    fn lmad(&mut self) -> Result<Lmad, ParseError> {
        let mark = self.parser.mark();
        let offset = self.parser.bound()?;
        let offset = self.value(mark, &offset)?.as_i64();
        let mut dims = Vec::new();
        if self.parser.skip_sign("+") {
            self.parser.expect_sign("{")?;
            while self.parser.skip_sign("(") {
                let size = self.number()?;
                self.parser.expect_sign(":")?;
                dims.push(Dim::new(size, self.number()?));
                self.parser.expect_sign(")")?;
                self.parser.skip_sign(",");
            }
            self.parser.expect_sign("}")?;
        }
        Ok(Lmad::new(offset, dims))
    }
}

/// One past the last place of a view.
fn end_of(lmad: &Lmad) -> i64 {
    if lmad.is_empty() {
        return 0;
    }
    let reach = |dim: &Dim| (dim.size - 1).saturating_mul(dim.stride).max(0);
    lmad.dims.iter().fold(lmad.offset, |end, dim| end.saturating_add(reach(dim))).saturating_add(1)
}

/// The lines of an environment for the parameters of a region that were observed.
pub fn print_observed(region: &Region, observed: &Observed) -> String {
    let mut text = String::new();
    for (var, param) in region.params.iter().zip(&observed.params) {
        let name = region.name_of(*var);
        let _ = match param {
            ObservedParam::Scalar(value) if value.ty == ElemType::I64 => {
                writeln!(text, "size {name} = {}", value.plain())
            }
            ObservedParam::Scalar(value) => writeln!(text, "scalar {name} = {value}"),
            ObservedParam::Array { lmad, block, block_elements, references } => {
                let ty = region.vars[*var].ty.as_ref().map_or(ElemType::I64, |ty| ty.elem);
                let shape: String = lmad.shape().iter().map(|n| format!("[{n}]")).collect();
                let rest = format!("rc {references} block {block} of {block_elements}");
                writeln!(text, "array {name} : {shape}{ty} @ {lmad} {rest}")
            }
        };
    }
    text
}
