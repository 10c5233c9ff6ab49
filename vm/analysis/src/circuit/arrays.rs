//! The arrays of a region by number, and sets of them.
//!
//! Arrays are numbered without gaps, in the order of their names' ids, so that a set is a few words.

use super::facts::Array;
use galopvm_base::TypedId;
use galopvm_kir::VarId;
use smallvec::SmallVec;

/// No number.
const NONE: u32 = u32::MAX;

/// Every array of a region.
#[derive(Clone, PartialEq, Debug)]
pub struct Arrays {
    /// By number; what is not defined (yet) is nothing.
    slots: Vec<(VarId, Option<Array>)>,
    /// By variable: the number.
    numbers: Vec<u32>,
}

impl Arrays {
    /// Room for those of so many variables that are arrays.
    pub(super) fn new(variables: usize, is_array: impl Fn(VarId) -> bool) -> Arrays {
        let mut arrays =
            Arrays { slots: Vec::with_capacity(variables), numbers: Vec::with_capacity(variables) };
        for var in (0..variables).map(VarId::from_index) {
            let number = if is_array(var) { arrays.slots.len() as u32 } else { NONE };
            arrays.numbers.push(number);
            if number != NONE {
                arrays.slots.push((var, None));
            }
        }
        arrays
    }

    /// The number of an array, defined or not.
    pub(crate) fn number(&self, var: VarId) -> Option<usize> {
        self.numbers.get(var.index()).filter(|number| **number != NONE).map(|number| *number as usize)
    }

    /// The name of an array.
    pub(super) fn name(&self, number: usize) -> VarId {
        self.slots[number].0
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// Defines an array; nothing if the name stands for none.
    pub(super) fn define(&mut self, var: VarId, array: Array) {
        if let Some(number) = self.number(var) {
            self.slots[number].1 = Some(array);
        }
    }

    /// An array by its number.
    pub(crate) fn at(&self, number: usize) -> Option<&Array> {
        self.slots.get(number)?.1.as_ref()
    }

    /// An array by its name.
    pub fn get(&self, var: &VarId) -> Option<&Array> {
        self.at(self.number(*var)?)
    }

    /// The arrays in the order of their names' ids, for changing.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (VarId, &mut Array)> {
        self.slots.iter_mut().filter_map(|(var, array)| Some((*var, array.as_mut()?)))
    }

    /// The arrays in the order of their names' ids.
    pub fn iter(&self) -> impl Iterator<Item = (&VarId, &Array)> {
        self.slots.iter().filter_map(|(var, array)| Some((var, array.as_ref()?)))
    }

    /// The same without the names.
    pub fn values(&self) -> impl Iterator<Item = &Array> {
        self.iter().map(|(_, array)| array)
    }
}

/// A set of arrays, by their numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Names {
    words: SmallVec<[u64; 4]>,
}

impl Names {
    /// The empty set.
    pub fn new() -> Names {
        Names::default()
    }

    /// Adds a number; whether it was not there.
    pub fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        is_new
    }

    /// Whether a number is there.
    pub fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Takes the numbers of another set out.
    pub fn remove_all(&mut self, other: &Names) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, others)| *word &= !others);
    }

    /// The numbers, rising.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let next = |word: &u64| (*word != 0).then_some(*word);
            let bits = std::iter::successors(next(word), move |word| next(&(word & (word - 1))));
            bits.map(move |word| at * 64 + word.trailing_zeros() as usize)
        })
    }
}

impl FromIterator<usize> for Names {
    fn from_iter<T: IntoIterator<Item = usize>>(numbers: T) -> Names {
        let mut names = Names::new();
        numbers.into_iter().for_each(|number| {
            names.insert(number);
        });
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_is_put_in() {
        let mut names = Names::new();
        for number in [200, 3, 64, 3, 63] {
            names.insert(number);
        }
        assert!(!names.insert(64) && names.contains(200) && !names.contains(65) && !names.contains(1000));
        assert_eq!(names.iter().collect::<Vec<_>>(), [3, 63, 64, 200]);
        let mut others = Names::new();
        others.insert(63);
        names.remove_all(&others);
        assert_eq!(names.iter().collect::<Vec<_>>(), [3, 64, 200]);
    }
}
