//! The reference back end: loads what a launch gives, evaluates, stores.

use super::value::{Value, each_index, elements, room};
use super::{evaluate, failed};
use crate::backend::{Argument, Backend, Compiled, Launch, Listing, Refusal, RunError, Unit};
use crate::verify::VerifiedRegion;
use galopvm_base::scalar::Bits;
use galopvm_base::{ElemType, Scalar};
use galopvm_lmad::Lmad;
use std::sync::Arc;

/// The back end that runs every verified region, slowly.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reference;

impl Backend for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        Ok(Arc::new(Code { region: unit.region.clone() }))
    }
}

struct Code {
    region: VerifiedRegion,
}

impl Compiled for Code {
    fn run(&self, launch: &mut Launch<'_>) -> Result<(), RunError> {
        launch.check(&self.region).map_err(|error| failed(error.0))?;
        let mut values = Vec::new();
        for (param, argument) in self.region.region().params.iter().zip(&launch.arguments) {
            let elem = self.region.type_of(*param).elem;
            values.push(match argument {
                Argument::Scalar(bits) => Value::Scalar(Scalar::new(elem, *bits)),
                Argument::Array { buffer, lmad } => load(elem, launch.buffers[*buffer].bytes(), lmad)?,
            });
        }
        let results = evaluate(&self.region, &values)?;
        for (view, value) in launch.results.iter().zip(&results) {
            // `check` made sure that it may be written.
            let bytes =
                launch.buffers[view.buffer].bytes_mut().ok_or_else(|| failed("a result is only read"))?;
            store(value, bytes, &view.lmad)?;
        }
        Ok(())
    }

    fn listing(&self, _kind: Listing) -> Option<String> {
        None
    }
}

/// The bytes of one element.
fn range(elem: ElemType, lmad: &Lmad, index: &[i64]) -> std::ops::Range<usize> {
    let start = lmad.place(index) as usize * elem.bytes();
    start..start + elem.bytes()
}

fn load(elem: ElemType, bytes: &[u8], lmad: &Lmad) -> Result<Value, RunError> {
    let shape = lmad.shape().to_vec();
    let mut data: Vec<Bits> = room(elements(&shape)?)?;
    each_index(&shape, |index| {
        let mut wide = [0; 8];
        wide[..elem.bytes()].copy_from_slice(&bytes[range(elem, lmad, index)]);
        let bits = Bits::from_le_bytes(wide);
        data.push(if elem == ElemType::Bool { Bits::from(bits != 0) } else { bits });
        Ok(())
    })?;
    Ok(Value::new(elem, shape, data))
}

fn store(value: &Value, bytes: &mut [u8], lmad: &Lmad) -> Result<(), RunError> {
    let elem = value.elem();
    if value.shape() != lmad.shape().as_slice() {
        return Err(failed("a result has another shape than its view"));
    }
    let mut elements = value.data().iter();
    each_index(value.shape(), |index| {
        if let Some(bits) = elements.next() {
            bytes[range(elem, lmad, index)].copy_from_slice(&bits.to_le_bytes()[..elem.bytes()]);
        }
        Ok(())
    })
}
