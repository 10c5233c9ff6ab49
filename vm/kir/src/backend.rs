//! The one door to code generators.
//!
//! A back end turns a [`Unit`] into something that can be launched, or refuses with a reason; the caller then
//! uses another back end. A launch gives it blocks of memory as byte slices and views into them; the launch is
//! checked once ([`Launch::check`]): a [`CheckedLaunch`] may be trusted.

use crate::ir::{Exp, Type, VarId};
use crate::machine::Machine;
use crate::observed::Observed;
use crate::passed::{Kept, Passed};
use crate::plan::VerifiedPlan;
use crate::verify::VerifiedRegion;
use galopvm_base::resident::{Fresh, Stored};
use galopvm_base::scalar::Bits;
use galopvm_base::{ElemType, Scalar};
use galopvm_lmad::Lmad;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Everything a back end may look at when it compiles.
#[derive(Clone, Copy)]
pub struct Unit<'a> {
    /// What it is to people who look at the code, such as `rows.fut:3:5 map`. Nothing else depends on it: units that are equal but for
    /// their names share their code, which has the name that it was asked for by first.
    pub name: &'a str,
    /// The code.
    pub region: &'a VerifiedRegion,
    /// The decisions. The reads it calls unchecked are proven for every launch that will be given to the result.
    pub plan: &'a VerifiedPlan,
    /// The numbers of the first launch. Code may be specialised on stride *classes* seen here (see
    /// [`StrideClass`]); everything else must come from the launch.
    pub observed: &'a Observed,
    /// The machine.
    pub machine: &'a Machine,
}

/// What code may be specialised on: whether neighbours along a dimension are equal, adjacent, adjacent in
/// reverse, or neither. A compiled unit is only launched with arrays whose strides have, dimension by dimension,
/// the classes of the observation it was compiled for (dimensions of extent 0 or 1 count as `Unit`); where that has
/// `Other`, they may have any. Results may lie anyhow if the unit takes places, else they are row-major in blocks that are
/// not read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum StrideClass {
    /// Stride 0.
    Same,
    /// Stride 1.
    Unit,
    /// Stride -1.
    Reversed,
    /// Any stride.
    Other,
}

/// The class of a stride.
pub fn stride_class(stride: i64) -> StrideClass {
    match stride {
        0 => StrideClass::Same,
        1 => StrideClass::Unit,
        -1 => StrideClass::Reversed,
        _ => StrideClass::Other,
    }
}

/// Why a back end does not take a unit. Never a user's error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// For `explain` and `--trace`.
    pub reason: String,
}

impl Refusal {
    /// A refusal with its reason.
    pub fn new(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Why a launch did not produce results. The result blocks then hold unspecified values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunError {
    /// Some read left its array or some division had a zero divisor. The interpreter, run again, finds the first.
    Trap,
    /// The back end could not carry it out (device lost, out of device memory).
    Failed(Refusal),
    /// These sizes are too large for the code. Others may not be.
    TooLarge(Refusal),
    /// The host wanted it to end.
    Stopped,
}

/// Texts that a compiled unit can show.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Listing {
    /// The code generator's own code, before registers are allocated.
    Lir,
    /// Machine code, disassembled.
    Asm,
    /// SPIR-V, disassembled.
    Spirv,
    /// GLSL source.
    Glsl,
}

/// A code generator.
pub trait Backend: Send + Sync {
    /// The word on the command line.
    fn name(&self) -> &'static str;

    /// Compiles, or says why not.
    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal>;
}

/// A unit that can be launched, from any thread.
pub trait Compiled: Send + Sync {
    /// Computes the results of the region into the result views of the launch. Asks every few milliseconds whether to go on,
    /// if the back end can; where `stop` says at the start that it is not to, it never does anything.
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError>;

    /// The same to the end.
    fn run(&self, launch: CheckedLaunch<'_, '_>) -> Result<(), RunError> {
        self.run_until(launch, &|| false)
    }

    /// Whether results may be any injective views, and lie in blocks that are read (see [`ResultView`]).
    fn takes_places(&self) -> bool {
        false
    }

    /// Whether blocks may be anywhere: they come as [`Buffer::Stored`] and [`Buffer::Fresh`] where they can.
    fn keeps_copies(&self) -> bool {
        false
    }

    /// Whether no launch needs memory besides that of its results, so that it fails only by a trap.
    fn needs_no_memory(&self) -> bool {
        false
    }

    /// A text of the code, if this back end has one of that kind.
    fn listing(&self, kind: Listing) -> Option<String>;
}

/// A block of memory during a launch. Element `k` of a view with element type `t` lies at bytes
/// `k * t.bytes()` of its block; elements need not be aligned.
pub enum Buffer<'a> {
    /// Only read.
    Read(&'a [u8]),
    /// Written, and possibly read through parameters of the same block.
    Write(&'a mut [u8]),
    /// Only read, with the copy that a back end keeps of it.
    Stored(&'a dyn Stored),
    /// Written, a block of its own: its bytes may be left where the back end has made them.
    Fresh(&'a mut dyn Fresh),
}

impl Buffer<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Buffer::Read(bytes) => bytes,
            Buffer::Write(bytes) => bytes,
            Buffer::Stored(block) => block.bytes(),
            Buffer::Fresh(block) => block.bytes(),
        }
    }

    /// The bytes for writing, if the block may be written.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Buffer::Read(_) | Buffer::Stored(_) => None,
            Buffer::Write(bytes) => Some(bytes),
            Buffer::Fresh(block) => Some(block.bytes_mut()),
        }
    }

    /// Number of bytes, wherever they are.
    pub fn size(&self) -> usize {
        match self {
            Buffer::Read(bytes) => bytes.len(),
            Buffer::Write(bytes) => bytes.len(),
            Buffer::Stored(block) => block.size(),
            Buffer::Fresh(block) => block.size(),
        }
    }

    /// Whether the block may be written.
    pub fn is_written(&self) -> bool {
        matches!(self, Buffer::Write(_) | Buffer::Fresh(_))
    }
}

/// The value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// A scalar of the parameter's type.
    Scalar(Bits),
    /// An array: a view of a buffer.
    Array {
        /// Index into `Launch::buffers`.
        buffer: usize,
        /// How it lies there, in elements.
        lmad: Lmad,
    },
}

/// Where a result goes. A scalar result is a view of rank 0.
///
/// It may lie in a block that is read through parameters, if no iteration of a kernel reads a place that another one
/// writes, and each iteration writes after it has read: nothing may depend on the order of iterations. Who launches has
/// found that out. If the launch traps then, what was in the block is lost.
///
/// A result that begins as a parameter ([`CheckedRegion::begins_as`](crate::CheckedRegion::begins_as)) lies in memory that
/// holds the elements of that parameter when the launch begins: a copy of them or, if nothing else of the region reads
/// them, the parameter itself.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultView {
    /// Index into `Launch::buffers`; that buffer may be written.
    pub buffer: usize,
    /// How it lies there; injective.
    pub lmad: Lmad,
}

/// Everything a compiled unit works on.
pub struct Launch<'a> {
    /// Each block once.
    pub buffers: Vec<Buffer<'a>>,
    /// One for each parameter of the region.
    pub arguments: Cow<'a, [Argument]>,
    /// One for each result of the region.
    pub results: Vec<ResultView>,
}

/// What is wrong with a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchError(pub String);

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A launch that fits a region. Only [`Launch::check`] and [`Launch::check_after`] make one, and nobody can change it before a
/// back end has it, so that back ends need not look again.
pub struct CheckedLaunch<'l, 'a> {
    launch: &'l mut Launch<'a>,
    region: &'l VerifiedRegion,
    kept: Option<&'l mut Kept>,
}

impl<'l, 'a> CheckedLaunch<'l, 'a> {
    /// The launch, if it was checked for this region.
    pub fn of(self, region: &VerifiedRegion) -> Result<&'l mut Launch<'a>, RunError> {
        self.with_kept(region).map(|(launch, _)| launch)
    }

    /// The same with what a back end has kept, or may keep, for launches of the same extents and views.
    pub fn with_kept(
        self,
        region: &VerifiedRegion,
    ) -> Result<(&'l mut Launch<'a>, Option<&'l mut Kept>), RunError> {
        if self.region == region {
            return Ok((self.launch, self.kept));
        }
        Err(RunError::Failed(Refusal::new("the launch was checked for another region")))
    }
}

impl<'a> Deref for CheckedLaunch<'_, 'a> {
    type Target = Launch<'a>;

    fn deref(&self) -> &Launch<'a> {
        self.launch
    }
}

impl<'a> Launch<'a> {
    /// Checks counts, types, that every view stays inside its buffer, that the shapes of array parameters agree
    /// with the size parameters, and that result views have the shapes the region says, are injective, and that
    /// no two of them share a buffer.
    pub fn check<'l>(&'l mut self, region: &'l VerifiedRegion) -> Result<CheckedLaunch<'l, 'a>, LaunchError> {
        self.check_all(region)?;
        Ok(CheckedLaunch { launch: self, region, kept: None })
    }

    /// The same after another launch: one that is equal in all that is checked passes without being looked at again.
    pub fn check_after<'l>(
        &'l mut self,
        region: &'l VerifiedRegion,
        passed: &'l mut Passed,
    ) -> Result<CheckedLaunch<'l, 'a>, LaunchError> {
        let mut is_kept = passed.holds(self, region);
        if !is_kept {
            self.check_all(region)?;
            is_kept = passed.keep(self, region);
        }
        Ok(CheckedLaunch { launch: self, region, kept: is_kept.then_some(&mut passed.kept) })
    }

    fn check_all(&self, region: &VerifiedRegion) -> Result<(), LaunchError> {
        let fail = |text: String| Err(LaunchError(text));
        let params = &region.region().params;
        if params.len() != self.arguments.len() || region.results().len() != self.results.len() {
            return fail("the number of arguments or results is not the region's".into());
        }
        for (&param, argument) in params.iter().zip(self.arguments.iter()) {
            let ty = region.type_of(param);
            match argument {
                Argument::Scalar(bits) if ty.is_scalar() && bits & !ty.elem.mask() == 0 => {}
                Argument::Array { buffer, lmad } if !ty.is_scalar() => {
                    let who = || region.region().name_of(param).to_string();
                    self.check_view(region, ty, *buffer, lmad, &who)?;
                }
                _ => return fail(format!("argument {} has the wrong kind", region.region().name_of(param))),
            }
        }
        for (k, (ty, result)) in region.results().iter().zip(&self.results).enumerate() {
            self.check_view(region, ty, result.buffer, &result.lmad, &|| format!("result {k}"))?;
            if !self.buffers.get(result.buffer).is_some_and(Buffer::is_written) {
                return fail(format!("result {k} lies in a buffer that is only read"));
            }
            if !result.lmad.is_injective() {
                return fail(format!("result {k} stores two elements at one place"));
            }
            if self.results[..k].iter().any(|other| other.buffer == result.buffer) {
                return fail(format!("result {k} shares its buffer with another result"));
            }
        }
        Ok(())
    }

    fn check_view(
        &self,
        region: &VerifiedRegion,
        ty: &Type,
        buffer: usize,
        lmad: &Lmad,
        who: &dyn Fn() -> String,
    ) -> Result<(), LaunchError> {
        let fail = |what: String| Err(LaunchError(format!("{}{what}", who())));
        let Some(block) = self.buffers.get(buffer) else {
            return fail(" names a buffer that is not there".into());
        };
        let elements = block.size() / ty.elem.bytes();
        if !lmad.fits(i64::try_from(elements).unwrap_or(i64::MAX)) {
            return fail(format!(" leaves its buffer: {lmad} in {elements} elements"));
        }
        let extent = |exp| self.size(region, exp).map(|extent| extent.max(0));
        let fits = lmad.rank() == ty.rank()
            && lmad.dims.iter().zip(&ty.shape).all(|(dim, exp)| extent(exp) == Some(dim.size));
        if !fits {
            let shape: Option<Vec<i64>> = ty.shape.iter().map(extent).collect();
            return match shape {
                Some(shape) => fail(format!(" has shape {:?}, expected {shape:?}", lmad.shape())),
                None => fail(" has a shape that is unknown".into()),
            };
        }
        Ok(())
    }

    /// The extents of a type under the arguments of this launch; negative ones count as 0.
    pub fn shape(&self, region: &VerifiedRegion, ty: &Type) -> Option<Vec<i64>> {
        ty.shape.iter().map(|e| Some(self.size(region, e)?.max(0))).collect()
    }

    /// An `i64` expression over parameters and constants.
    pub fn size(&self, region: &VerifiedRegion, exp: &Exp) -> Option<i64> {
        region.size_with(exp, &|var| self.scalar(region, var))
    }

    /// The value of a scalar parameter.
    pub fn scalar(&self, region: &VerifiedRegion, var: VarId) -> Option<Scalar> {
        let at = region.region().params.iter().position(|p| *p == var)?;
        match self.arguments.get(at)? {
            Argument::Scalar(bits) => Some(Scalar::new(region.type_of(var).elem, *bits)),
            Argument::Array { .. } => None,
        }
    }

    /// The element type and view of an array parameter.
    pub fn array(&self, region: &VerifiedRegion, var: VarId) -> Option<(ElemType, usize, &Lmad)> {
        let at = region.region().params.iter().position(|p| *p == var)?;
        match self.arguments.get(at)? {
            Argument::Scalar(_) => None,
            Argument::Array { buffer, lmad } => Some((region.type_of(var).elem, *buffer, lmad)),
        }
    }
}
