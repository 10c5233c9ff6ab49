//! What a region needs while it is executed, left for the next one of the thread: many launches are over before a list is allocated.
//!
//! Invariant: what is left has no values of any launch. Columns of numbers are left, since each says of which number it is.

use crate::body::Value;
use crate::column::Splat;
use std::cell::RefCell;

/// Registers whose columns of numbers are left.
const MOST_SPLATS: usize = 64;

/// A place for each register.
pub(crate) struct Frame<'a> {
    /// The values of registers that have one now.
    pub values: Vec<Option<Value<'a>>>,
    /// Numbers in registers as columns.
    pub splats: Vec<Splat>,
}

thread_local! {
    static LEFT: RefCell<Frame<'static>> = const { RefCell::new(Frame::empty()) };
}

impl<'a> Frame<'a> {
    /// A frame of so many registers without values.
    pub fn of(registers: usize) -> Frame<'a> {
        let Frame { mut values, mut splats }: Frame<'a> = LEFT.replace(Frame::empty());
        values.resize(registers, None);
        if splats.len() < registers {
            splats.resize_with(registers, Splat::default);
        }
        Frame { values, splats }
    }

    /// Leaves the frame to the next region.
    pub fn leave(self) {
        let Frame { values, mut splats } = self;
        splats.truncate(MOST_SPLATS);
        LEFT.set(Frame { values: emptied(values), splats });
    }

    const fn empty() -> Frame<'a> {
        Frame { values: Vec::new(), splats: Vec::new() }
    }
}

/// The room of a list without its values.
fn emptied<'a>(mut values: Vec<Option<Value<'_>>>) -> Vec<Option<Value<'a>>> {
    values.clear();
    values.into_iter().map(|_| None).collect()
}
