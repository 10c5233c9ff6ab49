//! Launching compiled code on values: what tests of back ends compare with [`super::evaluate`].

use super::bytes::{load, store};
use super::{Value, failed};
use crate::backend::{Argument, Buffer, Compiled, Launch, ResultView, RunError};
use crate::observed::{Observed, ObservedParam};
use crate::verify::VerifiedRegion;
use galopvm_lmad::Lmad;

/// Arguments of a region in memory.
pub struct Trial {
    region: VerifiedRegion,
    blocks: Vec<Vec<u8>>,
    arguments: Vec<Argument>,
    results: Vec<Lmad>,
}

impl Trial {
    /// Lays the arguments out in memory, each array in a block of its own whose other bytes are garbage: `place` says of a
    /// shape under which view, in how many elements.
    pub fn new(
        region: &VerifiedRegion,
        arguments: &[Value],
        place: impl Fn(&[i64]) -> (Lmad, i64),
    ) -> Result<Trial, RunError> {
        let mut blocks = Vec::new();
        let mut placed = Vec::new();
        for value in arguments {
            match value {
                Value::Scalar(scalar) => placed.push(Argument::Scalar(scalar.bits)),
                Value::Array(array) => {
                    let (lmad, elements) = place(&array.shape);
                    let bytes =
                        usize::try_from(elements).ok().and_then(|n| n.checked_mul(array.elem.bytes()));
                    let mut block = vec![0xa5; bytes.ok_or_else(|| failed("a block is too large"))?];
                    store(value, &mut block, &lmad)?;
                    placed.push(Argument::Array { buffer: blocks.len(), lmad });
                    blocks.push(block);
                }
            }
        }
        let mut trial = Trial { region: region.clone(), blocks, arguments: placed, results: Vec::new() };
        let launch =
            Launch { buffers: Vec::new(), arguments: (&trial.arguments[..]).into(), results: Vec::new() };
        for ty in region.results() {
            let shape = launch.shape(region, ty).ok_or_else(|| failed("the shape of a result is unknown"))?;
            trial.results.push(Lmad::row_major(&shape));
        }
        Ok(trial)
    }

    /// What a decision sees of the arguments.
    pub fn observed(&self) -> Observed {
        let region = self.region.region();
        let observe = |(param, argument): (&crate::ir::VarId, &Argument)| match argument {
            Argument::Scalar(bits) => {
                ObservedParam::Scalar(galopvm_base::Scalar::new(self.region.type_of(*param).elem, *bits))
            }
            Argument::Array { buffer, lmad } => {
                let bytes = self.region.type_of(*param).elem.bytes();
                let elements = self.blocks[*buffer].len() / bytes;
                ObservedParam::Array {
                    lmad: lmad.clone(),
                    block: u32::try_from(*buffer).unwrap_or(u32::MAX),
                    block_elements: i64::try_from(elements).unwrap_or(i64::MAX),
                    references: 1,
                }
            }
        };
        Observed { params: region.params.iter().zip(&self.arguments).map(observe).collect() }
    }

    /// Runs compiled code of the region; results are fresh, row-major, in blocks filled with garbage.
    pub fn run(&self, code: &dyn Compiled) -> Result<Vec<Value>, RunError> {
        let types = self.region.results();
        let mut fresh = Vec::new();
        for (ty, lmad) in types.iter().zip(&self.results) {
            let bytes = usize::try_from(lmad.elements()).ok().and_then(|n| n.checked_mul(ty.elem.bytes()));
            fresh.push(vec![0xa5; bytes.ok_or_else(|| failed("a result is too large"))?]);
        }
        for (k, lmad) in self.results.iter().enumerate() {
            if let Some(param) = self.region.begins_as(k)
                && let Some(at) = self.region.region().params.iter().position(|known| *known == param)
                && let Argument::Array { buffer, lmad: view } = &self.arguments[at]
            {
                store(&load(types[k].elem, &self.blocks[*buffer], view)?, &mut fresh[k], lmad)?;
            }
        }
        let mut buffers: Vec<Buffer<'_>> = self.blocks.iter().map(|block| Buffer::Read(block)).collect();
        let first = buffers.len();
        buffers.extend(fresh.iter_mut().map(|block| Buffer::Write(block)));
        let view = |(k, lmad): (usize, &Lmad)| ResultView { buffer: first + k, lmad: lmad.clone() };
        let results = self.results.iter().enumerate().map(view).collect();
        let mut launch = Launch { buffers, arguments: (&self.arguments[..]).into(), results };
        code.run(launch.check(&self.region).map_err(|error| failed(error.0))?)?;
        drop(launch);
        fresh
            .iter()
            .zip(types)
            .zip(&self.results)
            .map(|((block, ty), lmad)| load(ty.elem, block, lmad))
            .collect()
    }
}
