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
}

impl Backend for Vector {
    fn name(&self) -> &'static str {
        "vector"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        if self.leaves_few_rows && has_few_rows(&unit) {
            return Err(Refusal::new("few rows, each of which has operators of its own"));
        }
        let code = translate(unit.region, unit.plan.plan())?;
        Ok(Arc::new(Translated { region: unit.region.clone(), code }))
    }
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
        let mut stores: SmallVec<[Rc<Store<'_>>; 4]> = SmallVec::new();
        let mut written: SmallVec<[Option<&mut [u8]>; 4]> = SmallVec::new();
        for buffer in buffers.iter_mut() {
            // Of a block that is written only what a result begins as is used, and that is found there.
            let (read, write): (&[u8], _) = match buffer {
                Buffer::Read(bytes) => (bytes, None),
                Buffer::Write(bytes) => (&[], Some(&mut **bytes)),
            };
            stores.push(Rc::new(Store::Given(read)));
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
                    store: stores[*buffer].clone(),
                    elem,
                    view: lmad.clone(),
                    across: Across::Same,
                })),
            };
            rows.set(Reg::from_index(param.index()), value);
        }
        drop(stores);
        let mut places: SmallVec<[Option<Target<'_>>; 2]> = SmallVec::new();
        let mut names: SmallVec<[Option<Reg>; 2]> = SmallVec::new();
        for (k, (result, exp)) in results.iter().zip(&region.body.results).enumerate() {
            // `check` made sure that it may be written, and that no other result lies there.
            let bytes = written[result.buffer].take().ok_or_else(|| failed("a result is only read"))?;
            let has_begun = self.region.begins_as(k).is_some();
            let target = Target { bytes, view: result.lmad.clone(), has_begun };
            let name = match exp {
                Exp::Var(var) if !region.params.contains(var) => Some(Reg::from_index(var.index())),
                _ => None,
            };
            match name.filter(|name| rows.targets.iter().all(|(known, _)| known != name)) {
                Some(name) => {
                    rows.targets.push((name, target));
                    places.push(None);
                    names.push(Some(name));
                }
                None => {
                    places.push(Some(target));
                    names.push(None);
                }
            }
        }
        let values = rows.block(&self.code.body)?;
        for (((value, place), name), ty) in values.iter().zip(places).zip(names).zip(self.region.results()) {
            // What is not there any more has its elements.
            let Some(target) = place.or_else(|| rows.target(name?)) else { continue };
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
                    copy_view(target.bytes, &target.view, source, &array.view, array.elem.bytes());
                }
            }
        }
        Ok(())
    }

    fn listing(&self, _kind: Listing) -> Option<String> {
        None
    }
}
