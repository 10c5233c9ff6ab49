//! The back end: a launch as values, and values as the results of a launch.

use crate::array::{Across, Array, Store, copy_view};
use crate::body::{Rows, Value, failed};
use crate::column::{Buffers, Scalars};
use crate::lives::Lives;
use galopvm_base::element;
use galopvm_kir::{
    Argument, ArrayOp, Backend, Buffer, Compiled, Exp, Launch, Listing, Plan, Refusal, Rhs, RunError, Unit,
    VarId, VerifiedRegion,
};
use galopvm_lmad::Lmad;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The back end that needs no machine code.
#[derive(Clone, Copy, Default, Debug)]
pub struct Vector;

impl Backend for Vector {
    fn name(&self) -> &'static str {
        "vector"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        let region = unit.region;
        let mut unknown = None;
        region.region().body.visit_stms(&mut |stm| {
            if let Rhs::Array(ArrayOp::Call { function, .. }) = &stm.rhs {
                unknown = Some(format!("nothing is known of `{function}`"));
            }
        });
        match unknown {
            Some(reason) => Err(Refusal::new(reason)),
            None => Ok(Arc::new(Code {
                region: region.clone(),
                plan: unit.plan.plan().clone(),
                lives: Lives::of(region.region()),
            })),
        }
    }
}

struct Code {
    region: VerifiedRegion,
    plan: Plan,
    lives: Lives,
}

/// Where a result of the region goes.
pub(crate) struct Target<'a> {
    pub bytes: &'a mut [u8],
    /// How it lies there.
    pub view: Lmad,
    /// Whether the elements are there already that it begins as.
    pub has_begun: bool,
}

impl Compiled for Code {
    fn run(&self, launch: &mut Launch<'_>) -> Result<(), RunError> {
        self.run_until(launch, &|| false)
    }

    fn run_until(&self, launch: &mut Launch<'_>, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), RunError> {
        launch.check(&self.region).map_err(|error| failed(error.0))?;
        let region = self.region.region();
        let Launch { buffers, arguments, results } = launch;
        let (mut read, mut written): (Vec<&[u8]>, Vec<Option<&mut [u8]>>) = (Vec::new(), Vec::new());
        for buffer in buffers.iter_mut() {
            match buffer {
                Buffer::Read(bytes) => {
                    read.push(bytes);
                    written.push(None);
                }
                // Of such a block only what a result begins as is used, and that is found there.
                Buffer::Write(bytes) => {
                    read.push(&[]);
                    written.push(Some(bytes));
                }
            }
        }
        let stores: Vec<Rc<Store<'_>>> = read.into_iter().map(|bytes| Rc::new(Store::Given(bytes))).collect();
        let mut rows = Rows {
            region: &self.region,
            plan: &self.plan,
            lives: &self.lives,
            stop,
            values: vec![None; region.vars.len()],
            group: None,
            mask: None,
            buffers: Buffers::default(),
            targets: HashMap::new(),
            until_look: 0,
        };
        let begun: Vec<VarId> = (0..results.len()).filter_map(|k| self.region.begins_as(k)).collect();
        for (param, argument) in region.params.iter().zip(arguments.iter()) {
            if let Argument::Array { buffer, .. } = argument
                && written[*buffer].is_some()
                && !begun.contains(param)
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
            rows.bind(*param, value);
        }
        drop(stores);
        let mut places: Vec<Option<Target<'_>>> = Vec::with_capacity(results.len());
        let mut names: Vec<Option<VarId>> = Vec::with_capacity(results.len());
        for (k, (result, exp)) in results.iter().zip(&region.body.results).enumerate() {
            // `check` made sure that it may be written, and that no other result lies there.
            let bytes = written[result.buffer].take().ok_or_else(|| failed("a result is only read"))?;
            let has_begun = self.region.begins_as(k).is_some();
            let target = Target { bytes, view: result.lmad.clone(), has_begun };
            match exp {
                Exp::Var(var) if !region.params.contains(var) && !rows.targets.contains_key(var) => {
                    rows.targets.insert(*var, target);
                    places.push(None);
                    names.push(Some(*var));
                }
                _ => {
                    places.push(Some(target));
                    names.push(None);
                }
            }
        }
        let values = rows.body(&region.body)?;
        for (((value, place), name), ty) in values.iter().zip(places).zip(names).zip(self.region.results()) {
            // What is not there any more has its elements.
            let Some(target) = place.or_else(|| rows.targets.remove(&name?)) else { continue };
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
