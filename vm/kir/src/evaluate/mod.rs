//! Slow, obvious execution of verified regions: what every back end is compared with.
//!
//! Arrays are whole row-major copies, reductions are left folds that start from the neutral element, in the order
//! of the axes, scalar operations are `galopvm_base::scalar::eval`. Nothing is shared, reordered or skipped.
//!
//! - `value.rs`: scalars and arrays. `statement.rs`: bodies and right sides. `expression.rs`: expressions and
//!   indices. `array.rs`: operations on whole arrays. `reference.rs`: the [`Reference`] back end.
//! - `layout.rs`: values in bytes, in every representation. `trial.rs`: launching code on values, for tests.

mod array;
mod expression;
mod layout;
mod reference;
mod statement;
mod trial;
mod value;

pub use layout::{Layout, load, store};
pub use reference::Reference;
pub use trial::Trial;
pub use value::{Array, Value};

use crate::backend::{Refusal, RunError};
use crate::ir::VarId;
use crate::verify::VerifiedRegion;
use galopvm_base::TypedId;

/// Computes the results of a region from one value for each parameter.
pub fn evaluate(region: &VerifiedRegion, arguments: &[Value]) -> Result<Vec<Value>, RunError> {
    let params = &region.region().params;
    if params.len() != arguments.len() {
        return Err(failed(format!("{} arguments for {} parameters", arguments.len(), params.len())));
    }
    let mut evaluation = Evaluation { region, values: vec![None; region.region().vars.len()] };
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
