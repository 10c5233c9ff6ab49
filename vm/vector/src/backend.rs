//! The back end: a launch as values, and values as the results of a launch.

use crate::array::{Across, Array, Store, copy_view};
use crate::body::{Rows, Value, failed};
use crate::code::{Code, Reg};
use crate::column::Scalars;
use crate::groups::FEW_ROWS;
use crate::translate::{has_operators, translate};
use galopvm_base::{TypedId, element};
use galopvm_kir::{
    Argument, Backend, Buffer, CheckedLaunch, Compiled, Exp, Launch, Listing, ObservedParam, Refusal, Region,
    Rhs, RunError, Unit, VerifiedRegion,
};
use galopvm_lmad::Lmad;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// The back end that needs no machine code.
#[derive(Clone, Copy, Default, Debug)]
pub struct Vector {
    /// Leaves kernels of few rows with operators in them to others, which are faster.
    pub leaves_few_rows: bool,
    /// Leaves loops outside of operators to others, which are faster.
    pub leaves_loops: bool,
}

impl Backend for Vector {
    fn name(&self) -> &'static str {
        "vector"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        if self.leaves_few_rows && has_few_rows(&unit) {
            return Err(Refusal::new("few rows, each of which has operators of its own"));
        }
        if self.leaves_loops && is_loop(unit.region.region()) {
            return Err(Refusal::new("a loop outside of all operators, which has no rows"));
        }
        let code = translate(unit.region, unit.plan.plan())?;
        Ok(Arc::new(Translated { region: unit.region.clone(), code }))
    }
}

/// Whether a region is a loop that is in no operator.
fn is_loop(region: &Region) -> bool {
    region.body.stms.iter().any(|stm| matches!(stm.rhs, Rhs::For { .. } | Rhs::While { .. }))
}

/// Whether the first launch has a kernel of so few rows that they come one after the other, with operators in them: whoever
/// executes these by themselves is faster.
fn has_few_rows(unit: &Unit<'_>) -> bool {
    let Region { params, body, .. } = unit.region.region();
    let known = |var| {
        let at = params.iter().position(|param| *param == var)?;
        match unit.observed.params.get(at)? {
            ObservedParam::Scalar(value) => Some(*value),
            ObservedParam::Array { .. } => None,
        }
    };
    body.stms.iter().any(|stm| match &stm.rhs {
        Rhs::Kernel { axes, body } => {
            let extents = axes.iter().map(|axis| unit.region.size_with(&axis.bound, &known));
            let rows = extents.map(|extent| extent.map_or(i64::MAX, |extent| extent.max(0)));
            has_operators(body) && rows.fold(1, i64::saturating_mul) < FEW_ROWS
        }
        _ => false,
    })
}

/// A region and its steps.
struct Translated {
    region: VerifiedRegion,
    code: Code,
}

/// Where a result of the region goes.
pub(crate) struct Target<'a> {
    pub bytes: &'a mut [u8],
    /// How it lies there.
    pub view: Lmad,
    /// Whether the elements are there already that it begins as.
    pub has_begun: bool,
    /// Whether a step reads it.
    pub is_read: bool,
}

/// How a result comes where it goes.
enum Delivery<'a> {
    /// Who makes the array of a register makes it there.
    Made(Reg),
    /// It is copied.
    Copied(Target<'a>),
}

impl Compiled for Translated {
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError> {
        let launch = launch.of(&self.region)?;
        let region = self.region.region();
        let Launch { buffers, arguments, results } = launch;
        // Of a block that is written only what a result begins as is used, and that is found there.
        let mut stores: SmallVec<[Option<Rc<Store<'_>>>; 4]> = SmallVec::new();
        let mut written: SmallVec<[Option<&mut [u8]>; 4]> = SmallVec::new();
        for buffer in buffers.iter_mut() {
            let (read, write) = match buffer {
                Buffer::Read(bytes) => (Some(Rc::new(Store::Given(bytes))), None),
                Buffer::Stored(block) => (Some(Rc::new(Store::Given(block.bytes()))), None),
                Buffer::Write(bytes) => (None, Some(&mut **bytes)),
                Buffer::Fresh(block) => (None, Some(block.bytes_mut())),
            };
            stores.push(read);
            written.push(write);
        }
        let mut rows = Rows::new(&self.code, stop);
        for (param, argument) in region.params.iter().zip(arguments.iter()) {
            if let Argument::Array { buffer, .. } = argument
                && written[*buffer].is_some()
                && (0..results.len()).all(|k| self.region.begins_as(k) != Some(*param))
            {
                return Err(failed("a result lies in a block that is read"));
            }
            let elem = self.region.type_of(*param).elem;
            let value = match argument {
                Argument::Scalar(bits) => Value::Scalars(Scalars::One(*bits)),
                Argument::Array { buffer, lmad } => Value::Array(Rc::new(Array {
                    store: stores[*buffer].get_or_insert_with(|| Rc::new(Store::Given(&[]))).clone(),
                    elem,
                    view: lmad.clone(),
                    across: Across::Same,
                })),
            };
            rows.set(Reg::from_index(param.index()), value);
        }
        drop(stores);
        let mut deliveries: SmallVec<[Delivery<'_>; 2]> = SmallVec::new();
        for (k, (result, exp)) in results.iter().zip(&region.body.results).enumerate() {
            // `check` made sure that it may be written, and that no other result lies there.
            let bytes = written[result.buffer].take().ok_or_else(|| failed("a result is only read"))?;
            let has_begun = self.region.begins_as(k).is_some();
            let mut target = Target { bytes, view: result.lmad.clone(), has_begun, is_read: true };
            let name = match exp {
                Exp::Var(var) if !region.params.contains(var) => Some(Reg::from_index(var.index())),
                _ => None,
            };
            deliveries.push(match name.filter(|name| rows.targets.iter().all(|(known, _)| known != name)) {
                Some(name) => {
                    target.is_read = !self.code.unread.contains(&name);
                    rows.targets.push((name, target));
                    Delivery::Made(name)
                }
                None => Delivery::Copied(target),
            });
        }
        let values = rows.block(&self.code.body)?;
        for ((value, delivery), ty) in values.iter().zip(deliveries).zip(self.region.results()) {
            let target = match delivery {
                Delivery::Copied(target) => Some(target),
                // What is not there any more has its elements.
                Delivery::Made(name) => rows.target(name),
            };
            let Some(target) = target else { continue };
            match value {
                Value::Scalars(Scalars::One(bits)) => {
                    element::store(target.bytes, ty.elem.bytes(), target.view.offset, *bits);
                }
                Value::Scalars(_) => return Err(failed("a result that differs from row to row")),
                Value::Array(array) => {
                    if array.view.shape() != target.view.shape() {
                        return Err(failed("a result has another shape than it should have"));
                    }
                    let source = array.store.bytes();
                    copy_view(target.bytes, &target.view, source, &array.view, array.elem.bytes())?;
                }
                Value::Delivered => return Err(failed("a result lies where another one goes")),
            }
        }
        drop(values);
        rows.end();
        Ok(())
    }

    fn listing(&self, _kind: Listing) -> Option<String> {
        None
    }
}
