//! Slow, obvious execution of verified regions: what every back end is compared with.
//!
//! Arrays are whole row-major copies, reductions are left folds that start from the neutral element, in the order
//! of the axes, scalar operations are `galopvm_base::scalar::eval`. Nothing is shared, reordered or skipped.
//!
//! - `value.rs`: scalars and arrays. `statement.rs`: bodies and right sides. `expression.rs`: expressions and
//!   indices. `array.rs`: operations on whole arrays. `reference.rs`: the [`Reference`] back end.
//! - `bytes.rs`: values in bytes, under any view. `trial.rs`: launching code on values, for tests.

mod array;
mod bytes;
mod expression;
mod reference;
mod statement;
mod trial;
mod value;

pub use bytes::{load, store};
pub use reference::Reference;
pub use trial::Trial;
pub use value::{Array, Value, each_index};

use crate::backend::{Refusal, RunError};
use crate::ir::VarId;
use crate::verify::VerifiedRegion;
use galopvm_base::TypedId;

/// Bodies between two looks at whether to go on.
const LOOK_AFTER: u32 = 256;

/// Whether whoever wanted the results no longer wants them.
type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// Computes the results of a region from one value for each parameter.
pub fn evaluate(region: &VerifiedRegion, arguments: &[Value]) -> Result<Vec<Value>, RunError> {
    evaluate_until(region, arguments, &|| false)
}

/// The same, until `stop` says that it is to end.
fn evaluate_until(
    region: &VerifiedRegion,
    arguments: &[Value],
    stop: Stop<'_>,
) -> Result<Vec<Value>, RunError> {
    let params = &region.region().params;
    if params.len() != arguments.len() {
        return Err(failed(format!("{} arguments for {} parameters", arguments.len(), params.len())));
    }
    let values = vec![None; region.region().vars.len()];
    let mut evaluation = Evaluation { region, values, stop, until_look: 0 };
    for (param, argument) in params.iter().zip(arguments) {
        let ty = region.type_of(*param);
        if argument.elem() != ty.elem || argument.shape().len() != ty.rank() {
            return Err(failed(format!(
                "the argument for {} has another type",
                region.region().name_of(*param)
            )));
        }
        evaluation.bind(*param, argument.clone());
    }
    evaluation.body(&region.region().body)
}

/// A region in the middle of its execution.
struct Evaluation<'a> {
    region: &'a VerifiedRegion,
    /// The values of names that have one now.
    values: Vec<Option<Value>>,
    stop: Stop<'a>,
    /// Bodies until it is asked.
    until_look: u32,
}

impl Evaluation<'_> {
    fn bind(&mut self, var: VarId, value: Value) {
        self.values[var.index()] = Some(value);
    }

    fn bind_all(&mut self, vars: &[VarId], values: Vec<Value>) {
        for (var, value) in vars.iter().zip(values) {
            self.bind(*var, value);
        }
    }

    fn value_of(&self, var: VarId) -> Result<&Value, RunError> {
        // Verified names are defined before they are used.
        self.values[var.index()].as_ref().ok_or_else(|| failed(format!("{var} has no value")))
    }
}

fn failed(reason: impl Into<String>) -> RunError {
    RunError::Failed(Refusal::new(reason))
}
