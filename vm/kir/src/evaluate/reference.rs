//! The reference back end: loads what a launch gives, evaluates, stores.

use super::bytes::{load, store};
use super::{Value, evaluate_until, failed};
use crate::backend::{Argument, Backend, CheckedLaunch, Compiled, Listing, Refusal, RunError, Unit};
use crate::verify::VerifiedRegion;
use galopvm_base::Scalar;
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
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError> {
        let launch = launch.of(&self.region)?;
        let mut values = Vec::new();
        for (param, argument) in self.region.region().params.iter().zip(launch.arguments.iter()) {
            let elem = self.region.type_of(*param).elem;
            values.push(match argument {
                Argument::Scalar(bits) => Value::Scalar(Scalar::new(elem, *bits)),
                Argument::Array { buffer, lmad } => load(elem, launch.buffers[*buffer].bytes(), lmad)?,
            });
        }
        let results = evaluate_until(&self.region, &values, stop)?;
        for (view, value) in launch.results.iter().zip(&results) {
            // `check` made sure that it may be written.
            let bytes =
                launch.buffers[view.buffer].bytes_mut().ok_or_else(|| failed("a result is only read"))?;
            store(value, bytes, &view.lmad)?;
        }
        Ok(())
    }

    /// Everything is computed before anything is stored.
    fn takes_places(&self) -> bool {
        true
    }

    fn listing(&self, _kind: Listing) -> Option<String> {
        None
    }
}
