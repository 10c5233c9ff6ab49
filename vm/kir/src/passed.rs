//! The launch that passed the check last: an equal one passes as well.
//!
//! Invariants: all that the check looks at is kept and compared - the region, the arguments, where results go, and of each buffer its
//! length and whether it may be written - so that [`Passed::holds`] never says more than the check would. Of scalars that no
//! extent depends on the check asks only whether they are of their type. What a back end keeps goes with the launch that it
//! is kept for.

use crate::backend::{Argument, Buffer, Launch, ResultView};
use crate::ir::{Exp, VarId};
use crate::verify::VerifiedRegion;
use smallvec::SmallVec;
use std::any::Any;
use std::collections::HashSet;

/// What passed the check last; nothing at first.
#[derive(Default, Debug)]
pub struct Passed {
    region: Option<VerifiedRegion>,
    /// For each parameter whether it is a scalar that no extent depends on.
    is_free: Vec<bool>,
    arguments: Vec<Argument>,
    results: Vec<ResultView>,
    buffers: SmallVec<[Room; 4]>,
    /// Launches that were another one, since one was equal.
    misses: u32,
    pub(crate) kept: Kept,
}

/// What a back end keeps of a launch: whatever follows from extents, from views of arguments and results, and from the lengths of
/// buffers. Values of other scalars, and addresses, may be different in the next launch that is given it.
#[derive(Default, Debug)]
pub struct Kept(Option<Box<dyn Any + Send>>);

impl Kept {
    /// What was kept, if it is of this type.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_ref()?.downcast_ref()
    }

    /// Keeps something in the place of what was there.
    pub fn set<T: Any + Send>(&mut self, what: T) {
        self.0 = Some(Box::new(what));
    }
}

/// What the check looks at in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Room {
    bytes: usize,
    is_written: bool,
}

impl Room {
    fn of(buffer: &Buffer<'_>) -> Room {
        Room { bytes: buffer.size(), is_written: buffer.is_written() }
    }
}

impl Passed {
    /// Whether a launch is the one that passed.
    pub(crate) fn holds(&mut self, launch: &Launch<'_>, region: &VerifiedRegion) -> bool {
        let holds = self.region.as_ref() == Some(region)
            && self.has_arguments(launch, region)
            && self.results == launch.results
            && self.buffers.iter().copied().eq(launch.buffers.iter().map(Room::of));
        self.misses = if holds { 0 } else { self.misses.saturating_add(1) };
        holds
    }

    fn has_arguments(&self, launch: &Launch<'_>, region: &VerifiedRegion) -> bool {
        let params = region.region().params.iter().zip(&self.is_free);
        let known = self.arguments.iter().zip(launch.arguments.iter());
        self.arguments.len() == launch.arguments.len()
            && params.zip(known).all(|((param, is_free), (known, new))| match new {
                Argument::Scalar(bits) if *is_free => bits & !region.type_of(*param).elem.mask() == 0,
                new => known == new,
            })
    }

    /// Keeps a launch that passed, and says whether it did. Where each is another one that is seldom done: it would be in vain.
    pub(crate) fn keep(&mut self, launch: &Launch<'_>, region: &VerifiedRegion) -> bool {
        let keeps = self.misses.is_power_of_two();
        if keeps {
            if self.region.as_ref() != Some(region) {
                self.is_free = free_scalars(region);
                self.region = Some(region.clone());
            }
            self.arguments.clear();
            self.arguments.extend_from_slice(&launch.arguments);
            self.results.clone_from(&launch.results);
            self.buffers = launch.buffers.iter().map(Room::of).collect();
            self.kept = Kept::default();
        }
        keeps
    }
}

/// For each parameter whether it is a scalar that no extent depends on, neither of an array nor of an axis.
fn free_scalars(region: &VerifiedRegion) -> Vec<bool> {
    let (code, mut needed) = (region.region(), HashSet::<VarId>::new());
    let mut add = |exp: &Exp| exp.each_use(&mut |var| needed.extend([var]));
    let params = code.params.iter().map(|param| region.type_of(*param));
    params.chain(region.results()).flat_map(|ty| &ty.shape).for_each(&mut add);
    code.axes().iter().for_each(|axis| add(&axis.bound));
    // What a name is made of comes before it.
    for stm in code.body.stms.iter().rev() {
        if stm.pat.iter().any(|name| needed.contains(name)) {
            needed.extend(stm.free_vars());
        }
    }
    code.params.iter().map(|param| region.type_of(*param).is_scalar() && !needed.contains(param)).collect()
}
