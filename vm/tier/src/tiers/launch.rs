//! From registers to a launch, and from its results to values.
//!
//! A result that has a place is written there, if the code can do that. The place may lie in a block that the kernel reads: an
//! analysis has shown that no iteration reads what another one writes. If the kernel traps then, it has to be run again by
//! the interpreter, with the arrays as they were; so a kernel that may trap only gets a place that it does not read. The same
//! goes for a destination that a scatter changes where it lies; otherwise a copy is changed.
//!
//! Invariant: what is kept from launch to launch follows from the arguments alone, which are compared each time; no block is held
//! between launches.

use super::traps::{cannot_trap, needs_memory};
use super::version::Proven;
use crate::Registers;
use galopvm_base::{Bits, Scalar};
use galopvm_data::Value;
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::{
    Argument, Buffer, Compiled, Launch, Observed, ObservedParam, Passed, ResultView, RunError, Type, VarId,
    VerifiedRegion,
};
use galopvm_lift::{Binding, Lifted};
use galopvm_lmad::{Lmad, Overlap, disjoint};
use galopvm_store::array::{Array, Granted};
use galopvm_store::error::Trap;
use galopvm_store::memory::{Block, Memory};
use galopvm_store::stop::Stop;
use smallvec::SmallVec;

/// Rows without elements that kernels go through.
const MOST_EMPTY_ROWS: i64 = 1 << 10;

/// The arguments of a launch, and what is known of them. Used again for the next launch of the same region, it keeps what follows
/// from the arguments alone, as long as they are the same.
#[derive(Default)]
pub(super) struct Gathered {
    arguments: Vec<Argument>,
    /// Each block once; arguments refer to them by position.
    blocks: SmallVec<[Block; 4]>,
    /// How many held each block before this launch did.
    references: SmallVec<[u32; 4]>,
    /// As much of the arguments as a decision about code may depend on: no proof and no estimate looks at floats.
    signature: SmallVec<[u64; 16]>,
    /// Whether the arguments satisfy the guards, as far as that is known.
    is_admitted: bool,
    /// The shapes of the results, as far as they are known.
    shapes: SmallVec<[Vec<i64>; 1]>,
    /// The launch that was checked last.
    passed: Passed,
    /// Room for the views of results.
    views: Vec<ResultView>,
}

/// Where results are wanted.
#[derive(Clone, Copy)]
pub(super) struct Places<'p> {
    /// For each result a place, if it has one.
    pub(super) places: &'p [Option<Granted>],
    /// What is proven to stay inside.
    pub(super) unchecked: &'p Proven,
    /// Whether somebody else makes a result in its place, if this code cannot.
    pub(super) insists: bool,
}

/// Why a launch has no results.
pub(super) enum Failure {
    /// The arguments are not the region's; the interpreter says what is wrong with them, if anything is.
    Unfit(String),
    Run(RunError),
}

/// Collects the arguments of a region; the error says why this cannot be launched.
pub(super) fn gather(lifted: &Lifted, registers: &dyn Registers) -> Result<Gathered, String> {
    let mut gathered = Gathered::default();
    gathered.collect(lifted, registers)?;
    Ok(gathered)
}

/// A place that is wanted cannot be had.
fn no_place() -> Failure {
    Failure::Unfit("a result has a place that the code might read after a trap".into())
}

/// The rows without elements that one index of the outermost dimension has: kernels go through them, bulk operations do not.
fn empty_rows(shape: &[i64]) -> i64 {
    match shape.iter().position(|extent| *extent == 0) {
        None | Some(0) => 0,
        Some(empty) => shape[1..empty].iter().copied().fold(1, i64::saturating_mul),
    }
}

/// The shape of a result, if that can be made.
fn shape_of(launch: &Launch<'_>, region: &VerifiedRegion, ty: &Type) -> Result<Vec<i64>, Failure> {
    let unfit = |reason: &str| Err(Failure::Unfit(reason.into()));
    match launch.shape(region, ty) {
        None => unfit("the shape of a result is unknown"),
        Some(shape) if shape.iter().any(|extent| *extent < 0) => unfit("an extent of a result is negative"),
        Some(shape) if empty_rows(&shape) > MOST_EMPTY_ROWS => {
            unfit("a result has many rows without elements")
        }
        Some(shape) => Ok(shape),
    }
}

/// A view in numbers; its rank is that of the parameter.
fn numbers_of(view: &Lmad, numbers: &mut impl Extend<u64>) {
    numbers.extend([view.offset as u64]);
    numbers.extend(view.dims.iter().flat_map(|dim| [dim.size as u64, dim.stride as u64]));
}

impl Gathered {
    /// Collects the arguments of the next launch of a region; the error says why this cannot be launched.
    pub(super) fn collect(&mut self, lifted: &Lifted, registers: &dyn Registers) -> Result<(), String> {
        self.release();
        self.references.clear();
        self.signature.clear();
        // What is known stays known only if all of this comes to its end.
        let mut is_known = std::mem::take(&mut self.is_admitted);
        let array_of = |reg| registers.array_of(reg).ok_or("an array of the kernel is gone");
        for (at, binding) in lifted.bindings.iter().enumerate() {
            is_known &= match *binding {
                Binding::Scalar(reg) => {
                    let Scalar { ty, bits } = registers.scalar(reg);
                    if !ty.is_float() {
                        self.signature.push(bits);
                    }
                    self.set_scalar(at, bits)
                }
                Binding::Extent { array, dim } => {
                    let dim = array_of(array)?
                        .lmad()
                        .dims
                        .get(dim as usize)
                        .ok_or("an extent of the kernel is gone")?;
                    self.signature.push(dim.size as u64);
                    self.set_scalar(at, dim.size as u64)
                }
                Binding::Array(reg) => {
                    let array = array_of(reg)?;
                    if array.is_unmade() {
                        return Err("a range is not in memory".into());
                    }
                    let known = self.blocks.iter().position(|b| b.same(array.block()));
                    let buffer = known.unwrap_or_else(|| {
                        self.references.push(u32::try_from(array.block().references()).unwrap_or(u32::MAX));
                        self.blocks.push(array.block().clone());
                        self.blocks.len() - 1
                    });
                    numbers_of(array.lmad(), &mut self.signature);
                    self.set_array(at, buffer, array.lmad())
                }
            };
        }
        if !is_known {
            self.shapes.clear();
            if !lifted.admits(&|var| self.scalar(&lifted.region, var)) {
                return Err("the sizes do not satisfy the kernel's guards".into());
            }
        }
        self.is_admitted = true;
        Ok(())
    }

    /// Lets go of the blocks: between launches they are not held.
    pub(super) fn release(&mut self) {
        self.blocks.clear();
    }

    /// Sets an argument, the next one or a known one; says whether it was the same.
    fn set_scalar(&mut self, at: usize, bits: Bits) -> bool {
        let is_same = matches!(self.arguments.get(at), Some(Argument::Scalar(known)) if *known == bits);
        if !is_same {
            self.set(at, Argument::Scalar(bits));
        }
        is_same
    }

    fn set_array(&mut self, at: usize, buffer: usize, lmad: &Lmad) -> bool {
        let is_same = matches!(self.arguments.get(at),
            Some(Argument::Array { buffer: known, lmad: view }) if *known == buffer && view == lmad);
        if !is_same {
            self.set(at, Argument::Array { buffer, lmad: lmad.clone() });
        }
        is_same
    }

    fn set(&mut self, at: usize, argument: Argument) {
        match self.arguments.get_mut(at) {
            Some(known) => *known = argument,
            None => self.arguments.push(argument),
        }
    }

    /// The value of a scalar parameter.
    fn scalar(&self, region: &VerifiedRegion, param: VarId) -> Option<Scalar> {
        let at = region.region().params.iter().position(|known| *known == param)?;
        match self.arguments.get(at)? {
            Argument::Scalar(bits) => Some(Scalar::new(region.type_of(param).elem, *bits)),
            Argument::Array { .. } => None,
        }
    }

    /// The same with integers for parameters in front of all others.
    pub(super) fn with_scalars(mut self, numbers: &[i64]) -> Gathered {
        let scalars = || numbers.iter().map(|number| *number as u64);
        self.arguments.splice(0..0, scalars().map(Argument::Scalar));
        self.signature.insert_many(0, scalars());
        self.shapes.clear();
        self
    }

    /// Two launches with equal signatures get the same decisions.
    pub(super) fn signature(&self) -> &[u64] {
        &self.signature
    }

    /// All that an analysis can see of this launch, in numbers.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let mut numbers = Vec::with_capacity(2 * self.signature.len() + self.arguments.len());
        for argument in &self.arguments {
            match argument {
                Argument::Scalar(bits) => numbers.push(*bits),
                Argument::Array { buffer, lmad } => {
                    let (bytes, references) = (self.blocks[*buffer].len(), self.references[*buffer]);
                    numbers.extend([*buffer as u64, bytes as u64, references.into()]);
                    numbers_of(lmad, &mut numbers);
                }
            }
        }
        numbers
    }

    /// The classes of all strides; dimensions of at most one index count as `Unit`.
    pub(super) fn classes(&self) -> Vec<StrideClass> {
        let class = |dim: &galopvm_lmad::Dim| {
            if dim.size <= 1 { StrideClass::Unit } else { stride_class(dim.stride) }
        };
        let dims = |argument: &Argument| match argument {
            Argument::Array { lmad, .. } => lmad.dims.iter().map(class).collect(),
            Argument::Scalar(_) => SmallVec::<[StrideClass; 4]>::new(),
        };
        self.arguments.iter().flat_map(dims).collect()
    }

    /// What decisions may look at.
    pub(super) fn observed(&self, region: &VerifiedRegion) -> Observed {
        let observe = |(param, argument): (&galopvm_kir::VarId, &Argument)| {
            let elem = region.type_of(*param).elem;
            match argument {
                Argument::Scalar(bits) => ObservedParam::Scalar(Scalar::new(elem, *bits)),
                Argument::Array { buffer, lmad } => ObservedParam::Array {
                    lmad: lmad.clone(),
                    block: *buffer as u32,
                    block_elements: (self.blocks[*buffer].len() / elem.bytes()) as i64,
                    references: self.references[*buffer],
                },
            }
        };
        Observed { params: region.region().params.iter().zip(&self.arguments).map(observe).collect() }
    }

    /// Runs code into the places of its results; those without one get fresh row-major arrays.
    pub(super) fn launch(
        &mut self,
        lifted: &Lifted,
        memory: &Memory,
        code: &dyn Compiled,
        places: Places<'_>,
        stop: &Stop,
    ) -> Result<Result<Vec<Value>, Failure>, Trap> {
        let region = &lifted.region;
        let count = region.results().len();
        let mut buffers = Vec::with_capacity(self.blocks.len() + count);
        let keeps_copies = code.keeps_copies();
        buffers.extend(self.blocks.iter().map(|block| match keeps_copies {
            true => Buffer::Stored(block),
            false => Buffer::Read(block.bytes()),
        }));
        let views = std::mem::take(&mut self.views);
        let mut launch = Launch { buffers, arguments: (&self.arguments[..]).into(), results: views };
        if self.shapes.len() != count {
            self.shapes.clear();
            for ty in region.results() {
                match shape_of(&launch, region, ty) {
                    Ok(shape) => self.shapes.push(shape),
                    Err(failure) => return Ok(Err(failure)),
                }
            }
        }
        let mut results: SmallVec<[Granted; 2]> = SmallVec::new();
        for (k, (ty, shape)) in region.results().iter().zip(&self.shapes).enumerate() {
            let given = places.places.get(k).and_then(Option::as_ref);
            let is_taken = |place: &Granted| {
                results.iter().any(|other| other.array().block().same(place.array().block()))
            };
            if let Some(param) = region.begins_as(k) {
                let Some(old) = self.array(region, param) else {
                    return Ok(Err(Failure::Unfit("a destination is not a view of its block".into())));
                };
                let place = given.filter(|place| {
                    let may_be = code.takes_places() && place.holds(&old) && !is_taken(place);
                    may_be && self.may_be_changed(param, lifted, code, places)
                });
                results.push(match place {
                    Some(place) => place.clone(),
                    None if given.is_some() && places.insists => return Ok(Err(no_place())),
                    None => {
                        let copy = Granted::new(old.copy(memory)?, 1);
                        copy.expect("nobody else has seen a fresh block")
                    }
                });
                continue;
            }
            let place = given.filter(|place| {
                let array = place.array();
                let has_type = array.elem() == ty.elem && array.shape()[..] == shape[..];
                code.takes_places()
                    && has_type
                    && !is_taken(place)
                    && self.may_be_written(array, lifted, code, places)
            });
            results.push(match place {
                Some(place) => place.clone(),
                None if given.is_some() && places.insists => return Ok(Err(no_place())),
                None => Granted::fresh(memory, ty.elem, shape)?,
            });
        }
        for (k, place) in results.iter_mut().enumerate() {
            let lmad = place.array().lmad().clone();
            let read = self.blocks.iter().position(|block| block.same(place.array().block()));
            let buffer = read.unwrap_or(launch.buffers.len());
            // Nobody else has the bytes any more.
            match launch.buffers.get_mut(buffer) {
                Some(known) => *known = Buffer::Read(&[]),
                None => launch.buffers.push(Buffer::Read(&[])),
            }
            // What a result begins as is on the host, and a block that is read stays there.
            launch.buffers[buffer] = match keeps_copies && read.is_none() && region.begins_as(k).is_none() {
                true => Buffer::Fresh(place),
                false => Buffer::Write(place.bytes_mut()),
            };
            launch.results.push(ResultView { buffer, lmad });
        }
        let checked = match launch.check_after(region, &mut self.passed) {
            Ok(checked) => checked,
            Err(error) => return Ok(Err(Failure::Unfit(format!("the launch does not fit: {error}")))),
        };
        if let Err(error) = code.run_until(checked, &|| stop.is_set()) {
            return Ok(Err(Failure::Run(error)));
        }
        let Launch { results: mut views, .. } = launch;
        views.clear();
        self.views = views;
        let mut values = Vec::with_capacity(count);
        for place in results {
            let array = place.into_array();
            values.push(match array.rank() {
                0 => Value::Scalar(Scalar::new(array.elem(), array.load(0))),
                _ => Value::Array(array),
            });
        }
        Ok(Ok(values))
    }

    /// The array that a parameter is given.
    fn array(&self, region: &VerifiedRegion, param: VarId) -> Option<Array> {
        let at = region.region().params.iter().position(|known| *known == param)?;
        let Argument::Array { buffer, lmad } = self.arguments.get(at)? else { return None };
        Array::from_block(self.blocks[*buffer].clone(), region.type_of(param).elem, lmad.clone())
    }

    /// Whether the array that a parameter is given may be changed in its place: nothing else reads it, and nobody has to
    /// run the kernel again.
    fn may_be_changed(&self, param: VarId, lifted: &Lifted, made: &dyn Compiled, places: Places<'_>) -> bool {
        let code = lifted.region.region();
        let mut uses = 0;
        code.body.each_use(&mut |var| uses += usize::from(var == param));
        let buffer_of = |argument: &Argument| match argument {
            Argument::Array { buffer, .. } => Some(*buffer),
            Argument::Scalar(_) => None,
        };
        let at = code.params.iter().position(|known| *known == param);
        let own = at.and_then(|at| buffer_of(&self.arguments[at]));
        let others = self.arguments.iter().filter(|argument| buffer_of(argument) == own).count();
        uses == 1 && others == 1 && self.cannot_fail(lifted, made, places)
    }

    /// Whether all is as it was for whoever has to run the kernel again after it trapped in the middle.
    fn may_be_written(
        &self,
        place: &Array,
        lifted: &Lifted,
        made: &dyn Compiled,
        places: Places<'_>,
    ) -> bool {
        let is_read = |argument: &Argument| match argument {
            Argument::Array { buffer, lmad } => {
                self.blocks[*buffer].same(place.block()) && disjoint(lmad, place.lmad()) != Overlap::Disjoint
            }
            Argument::Scalar(_) => false,
        };
        !self.arguments.iter().any(is_read) || self.cannot_fail(lifted, made, places)
    }

    /// Whether a launch of the code comes to its end, unless it is stopped.
    fn cannot_fail(&self, lifted: &Lifted, made: &dyn Compiled, places: Places<'_>) -> bool {
        let region = lifted.region.region();
        (made.needs_no_memory() || !needs_memory(region)) && cannot_trap(region, places.unchecked)
    }
}
