//! From registers to a launch, and from its results to values.

use crate::array::Array;
use crate::error::Trap;
use crate::interpret::Registers;
use crate::lift::{Binding, Lifted};
use crate::memory::{Block, Memory};
use crate::stop::Stop;
use crate::value::Value;
use galopvm_base::Scalar;
use galopvm_bytecode::Operand;
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::{
    Argument, Buffer, Compiled, Launch, Observed, ObservedParam, ResultView, RunError, VerifiedRegion,
};
use galopvm_lmad::Lmad;

/// The arguments of a launch.
pub(super) struct Gathered {
    arguments: Vec<Argument>,
    /// Each block once; arguments refer to them by position.
    blocks: Vec<Block>,
    /// How many held each block before this launch did.
    references: Vec<u32>,
    signature: Signature,
}

/// As much of the arguments as a decision may depend on: no proof and no estimate looks at floats.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Signature {
    scalars: Vec<u64>,
    pub(super) views: Vec<Lmad>,
}

/// Why a launch has no results.
pub(super) enum Failure {
    /// The arguments are not the region's; the interpreter says what is wrong with them, if anything is.
    Unfit(String),
    Run(RunError),
}

/// Collects the arguments of a region; the error says why this cannot be launched.
pub(super) fn gather(lifted: &Lifted, registers: &Registers<'_>) -> Result<Gathered, String> {
    let signature = Signature::default();
    let mut gathered =
        Gathered { arguments: Vec::new(), blocks: Vec::new(), references: Vec::new(), signature };
    let array_of = |reg| registers.array_of(reg).ok_or("an array of the kernel is gone");
    for binding in &lifted.bindings {
        let argument = match *binding {
            Binding::Scalar(reg) => {
                let bits = registers.bits(Operand::new(reg));
                if !registers.elem(reg).is_float() {
                    gathered.signature.scalars.push(bits);
                }
                Argument::Scalar(bits)
            }
            Binding::Extent { array, dim } => {
                let dim = array_of(array)?
                    .lmad()
                    .dims
                    .get(dim as usize)
                    .ok_or("an extent of the kernel is gone")?;
                gathered.signature.scalars.push(dim.size as u64);
                Argument::Scalar(dim.size as u64)
            }
            Binding::Array(reg) => {
                let array = array_of(reg)?;
                if array.is_unmade() {
                    return Err("a range is not in memory".into());
                }
                let known = gathered.blocks.iter().position(|b| b.same(array.block()));
                let buffer = known.unwrap_or_else(|| {
                    gathered.references.push(u32::try_from(array.block().references()).unwrap_or(u32::MAX));
                    gathered.blocks.push(array.block().clone());
                    gathered.blocks.len() - 1
                });
                gathered.signature.views.push(array.lmad().clone());
                Argument::Array { buffer, lmad: array.lmad().clone() }
            }
        };
        gathered.arguments.push(argument);
    }
    let params = &lifted.region.region().params;
    let scalar = |var| {
        let at = params.iter().position(|p| *p == var)?;
        match gathered.arguments.get(at)? {
            Argument::Scalar(bits) => Some(Scalar::new(lifted.region.type_of(var).elem, *bits)),
            Argument::Array { .. } => None,
        }
    };
    if !lifted.admits(&scalar) {
        return Err("the sizes do not satisfy the kernel's guards".into());
    }
    Ok(gathered)
}

impl Gathered {
    /// Two launches with equal signatures get the same decisions.
    pub(super) fn signature(&self) -> &Signature {
        &self.signature
    }

    /// The classes of all strides; dimensions of at most one index count as `Unit`.
    pub(super) fn classes(&self) -> Vec<StrideClass> {
        let class = |dim: &galopvm_lmad::Dim| {
            if dim.size <= 1 { StrideClass::Unit } else { stride_class(dim.stride) }
        };
        self.signature.views.iter().flat_map(|view| view.dims.iter().map(class)).collect()
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

    /// Runs code into fresh row-major arrays.
    pub(super) fn launch(
        &self,
        lifted: &Lifted,
        memory: &Memory,
        code: &dyn Compiled,
        stop: &Stop,
    ) -> Result<Result<Vec<Value>, Failure>, Trap> {
        let region = &lifted.region;
        let buffers = self.blocks.iter().map(|block| Buffer::Read(block.bytes())).collect();
        let mut launch = Launch { buffers, arguments: self.arguments.clone(), results: Vec::new() };
        let mut results = Vec::new();
        for ty in region.results() {
            let Some(shape) = launch.shape(region, ty) else {
                return Ok(Err(Failure::Unfit("the shape of a result is unknown".into())));
            };
            if shape.iter().any(|extent| *extent < 0) {
                return Ok(Err(Failure::Unfit("an extent of a result is negative".into())));
            }
            results.push(Array::fresh(memory, ty.elem, &shape)?);
        }
        for array in &mut results {
            let view = ResultView { buffer: launch.buffers.len(), lmad: array.lmad().clone() };
            let bytes = array.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
            launch.buffers.push(Buffer::Write(bytes));
            launch.results.push(view);
        }
        if let Err(error) = launch.check(region) {
            return Ok(Err(Failure::Unfit(format!("the launch does not fit: {error}"))));
        }
        if let Err(error) = code.run_until(&mut launch, &|| stop.is_set()) {
            return Ok(Err(Failure::Run(error)));
        }
        drop(launch);
        let value = |array: Array| match array.rank() {
            0 => Value::Scalar(Scalar::new(array.elem(), array.load(0))),
            _ => Value::Array(array),
        };
        Ok(Ok(results.into_iter().map(value).collect()))
    }
}
