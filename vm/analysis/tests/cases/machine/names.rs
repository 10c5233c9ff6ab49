//! What the names of a region stand for at a moment of one task.

use super::memory::Array;
use galopvm_base::{Scalar, TypedId};
use galopvm_kir::VarId;
use std::collections::BTreeMap;

/// A value.
#[derive(Clone, Debug)]
pub enum Val {
    /// A scalar, if it is known.
    Scalar(Option<Scalar>),
    /// An array.
    Array(Array),
}

/// Values by name, and the present block of each array that has one of its own.
#[derive(Clone)]
pub struct Names {
    values: Vec<Option<Val>>,
    owned: Vec<Option<usize>>,
}

impl Names {
    /// No names.
    pub fn new(count: usize) -> Names {
        Names { values: vec![None; count], owned: vec![None; count] }
    }

    /// The value of a name.
    pub fn get(&self, var: VarId) -> Option<&Val> {
        self.values.get(var.index())?.as_ref()
    }

    /// The array of a name.
    pub fn array(&self, var: VarId) -> Option<&Array> {
        match self.get(var)? {
            Val::Array(array) => Some(array),
            Val::Scalar(_) => None,
        }
    }

    /// Binds a name.
    pub fn set(&mut self, var: VarId, value: Val) {
        self.values[var.index()] = Some(value);
    }

    /// The block that was made for an array.
    pub fn owned(&self, var: VarId) -> Option<usize> {
        self.owned[var.index()]
    }

    /// A block is made for an array.
    pub fn own(&mut self, var: VarId, block: usize) {
        self.owned[var.index()] = Some(block);
    }

    /// The block of each array.
    pub fn blocks(&self) -> BTreeMap<VarId, usize> {
        let block = |(at, owned): (usize, &Option<usize>)| {
            let var = VarId(at as u32);
            Some((var, self.array(var).map(|array| array.block).or(*owned)?))
        };
        self.owned.iter().enumerate().filter_map(block).collect()
    }
}
