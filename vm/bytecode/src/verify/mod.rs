//! The verifier: what may be relied on before anything runs.
//!
//! Proved for every function of a [`VerifiedModule`]:
//! - blocks form a tree below the body, every block in it exactly once, at most [`MAX_DEPTH`] deep;
//! - every register mentioned exists, is defined exactly once, and each use lies in the scope of its definition
//!   (the rest of its block and the blocks named there) and after it;
//! - no register is used after a use marked as the last on the same path; a mark never stands inside a
//!   repeated block (loop, operator) for a register defined outside of it;
//! - operand, result and block types are what the opcode's rule says; scalar operations accept their type;
//! - dimension numbers, permutations and ranks fit; ranks are at most [`MAX_RANK`]; callees exist and agree;
//! - calls that places refer to exist and refer to earlier ones;
//! - entry points exist, their values add up to the function's parameters and results, names are unique.
//!
//! Not proved: extents (shape agreement, bounds, sizes are checked when they happen), termination, recursion
//! depth, memory needs. The interpreter bounds those at run time.

mod flow;
mod types;

use crate::field::{BlockId, FuncId};
use crate::module::{Entry, EntryValue, Function, Module};
use galopvm_base::{IdVec, TypedId};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Greatest number of dimensions.
pub const MAX_RANK: u8 = 32;

/// Greatest nesting of code blocks: interpreters recurse over blocks.
pub const MAX_DEPTH: usize = 200;

/// A module that passed the verifier. Cheap to clone.
#[derive(Clone, Debug)]
pub struct VerifiedModule(Arc<Module>);

impl VerifiedModule {
    /// The module.
    pub fn module(&self) -> &Module {
        &self.0
    }
}

/// What a correct compiler cannot produce.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The function, if the error is in one.
    pub function: Option<FuncId>,
    /// The block, if the error is in one.
    pub block: Option<BlockId>,
    /// The number of the instruction in its block, if the error is in one.
    pub instruction: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = self.function {
            write!(f, "function {function}")?;
            if let Some(block) = self.block {
                write!(f, ", block {block}")?;
            }
            if let Some(instruction) = self.instruction {
                write!(f, ", instruction {instruction}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for VerifyError {}

impl VerifyError {
    fn in_module(message: impl Into<String>) -> VerifyError {
        VerifyError { function: None, block: None, instruction: None, message: message.into() }
    }
}

/// Verifies a module; the error is the first one found.
pub fn verify(module: Module) -> Result<VerifiedModule, VerifyError> {
    for (id, function) in module.functions.iter_ids() {
        let places = |e: VerifyError| VerifyError { function: Some(id), ..e };
        signature(function).map_err(places)?;
        flow::check(&module.functions, function).map_err(places)?;
    }
    entries(&module)?;
    calls(&module)?;
    Ok(VerifiedModule(Arc::new(module)))
}

fn signature(function: &Function) -> Result<(), VerifyError> {
    let fail = |message: String| Err(VerifyError::in_module(message));
    for ty in function.regs.iter().chain(&function.results) {
        if ty.rank > MAX_RANK {
            return fail(format!("rank {} is greater than {MAX_RANK}", ty.rank));
        }
    }
    match function.blocks.as_slice().first() {
        None => fail("a function needs a body".into()),
        Some(body) if !body.params.is_empty() => {
            fail("the body of a function has no parameters of its own".into())
        }
        Some(_) => Ok(()),
    }
}

fn entries(module: &Module) -> Result<(), VerifyError> {
    let mut names = HashSet::new();
    for entry in &module.entries {
        let fail =
            |message: String| Err(VerifyError::in_module(format!("entry {:?}: {message}", entry.name)));
        if !names.insert(entry.name.as_str()) {
            return fail("the name is taken".into());
        }
        let Some(function) = module.functions.get(entry.function) else {
            return fail(format!("there is no function {}", entry.function));
        };
        let Entry { params, results, .. } = entry;
        for (values, count, what) in
            [(params, function.params.len(), "parameters"), (results, function.results.len(), "results")]
        {
            let total: u64 = values.iter().map(|v: &EntryValue| v.values as u64).sum();
            if total != count as u64 {
                return fail(format!("its {what} are {total} values, the function has {count}"));
            }
        }
    }
    Ok(())
}

/// Calls that places refer to exist, and each refers to an earlier one.
fn calls(module: &Module) -> Result<(), VerifyError> {
    let missing = |call: u32| VerifyError::in_module(format!("a place refers to call {call}"));
    for (k, place) in module.calls.iter().enumerate() {
        if let Some(call) = place.call.filter(|call| *call as usize >= k) {
            return Err(missing(call));
        }
    }
    let blocks = module.functions.iter().flat_map(|f| f.blocks.iter());
    let called = blocks.flat_map(|b| b.places.iter().flatten()).filter_map(|place| place.call);
    match called.max() {
        Some(call) if call as usize >= module.calls.len() => Err(missing(call)),
        _ => Ok(()),
    }
}

/// The item of an id, or an error that names it.
fn lookup<'a, I: TypedId + fmt::Display, T>(
    items: &'a IdVec<I, T>,
    id: I,
    what: &str,
) -> Result<&'a T, String> {
    items.get(id).ok_or_else(|| format!("there is no {what} {id}"))
}
