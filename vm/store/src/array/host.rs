//! A host's elements as arrays without a copy, and arrays as the host's elements.
//!
//! A vector moves in and out. What a host lends lies where it lay: an array is then a view of it, given by the place of the
//! first element, extents, and distances in elements, which may be negative.

use super::element::elements_of;
use super::{Array, Element, view};
use crate::error::Trap;
use crate::memory::{Block, Given};
use galopvm_base::ElemType;
use galopvm_lmad::{Dim, Lmad};
use smallvec::SmallVec;

/// The error if so many elements do not make an array of this shape.
pub(super) fn check_count(count: usize, shape: &[i64]) -> Result<(), Trap> {
    let fits = view::exact_count(shape) == Some(count as i128) && shape.iter().all(|extent| *extent >= 0);
    if fits {
        return Ok(());
    }
    let shape = view::shape_text(shape);
    Err(Trap::new(format!("{count} elements do not make an array of shape {shape}.")))
}

/// The view that begins at a place and goes by these distances.
fn strided(first: i64, shape: &[i64], strides: &[i64]) -> Result<Lmad, Trap> {
    if shape.len() != strides.len() {
        let (extents, strides) = (shape.len(), strides.len());
        return Err(Trap::new(format!("{extents} extents and {strides} strides do not make a view.")));
    }
    Ok(Lmad::new(first, shape.iter().zip(strides).map(|(size, stride)| Dim::new(*size, *stride))))
}

impl Array {
    /// The elements of a vector in row-major order, which must be as many as the shape says. The vector becomes the array's
    /// memory; a program that consumes the array writes in it.
    pub fn from_vec<T: Element>(elements: Vec<T>, shape: &[i64]) -> Result<Array, Trap> {
        check_count(elements.len(), shape)?;
        Ok(Array { block: Block::given(Box::new(elements)), elem: T::TYPE, lmad: Lmad::row_major(shape) })
    }

    /// The elements of an owner in row-major order, which must be as many as the shape says. The owner is held as long as
    /// anybody holds the array or a view of it, and its elements are never written.
    pub fn lent<T: Element>(
        owner: impl AsRef<[T]> + Send + Sync + 'static,
        shape: &[i64],
    ) -> Result<Array, Trap> {
        check_count(owner.as_ref().len(), shape)?;
        Ok(Array { block: Block::lent(owner), elem: T::TYPE, lmad: Lmad::row_major(shape) })
    }

    /// A view of the elements of an owner: the element at index 0 is number `first` of them, and the distances between neighbours
    /// are `strides`, in elements. Otherwise as [`Array::lent`].
    pub fn lent_view<T: Element>(
        owner: impl AsRef<[T]> + Send + Sync + 'static,
        first: i64,
        shape: &[i64],
        strides: &[i64],
    ) -> Result<Array, Trap> {
        Array::view_of(Block::lent(owner), T::TYPE, first, shape, strides)
    }

    /// The memory that a host gave, seen as elements of a type; otherwise as [`Array::lent_view`].
    pub fn given_view(
        memory: Box<dyn Given>,
        elem: ElemType,
        first: i64,
        shape: &[i64],
        strides: &[i64],
    ) -> Result<Array, Trap> {
        Array::view_of(Block::given(memory), elem, first, shape, strides)
    }

    /// A view of a block as elements of a type.
    pub fn view_of(
        block: Block,
        elem: ElemType,
        first: i64,
        shape: &[i64],
        strides: &[i64],
    ) -> Result<Array, Trap> {
        let view = strided(first, shape, strides)?;
        let elements = block.len() / elem.bytes();
        Array::from_block(block, elem, view.clone()).ok_or_else(|| {
            let problem = match elem {
                ElemType::Bool => ", or there are other bytes than 0 and 1 among them",
                _ => "",
            };
            Trap::new(format!("The view {view} does not lie within {elements} elements{problem}."))
        })
    }

    /// The distances between neighbours in each dimension, in elements.
    #[inline]
    pub fn strides(&self) -> SmallVec<[i64; 4]> {
        self.lmad.dims.iter().map(|dim| dim.stride).collect()
    }

    /// Where the element at index 0 of all dimensions lies; where the block begins if there is none. Elements are at distances of
    /// [`Array::strides`] from it as long as this array lives and is not changed.
    #[inline]
    pub fn first_element(&self) -> *const u8 {
        let place = if self.lmad.is_empty() { 0 } else { self.lmad.offset as usize };
        self.block.bytes().as_ptr().wrapping_add(place * self.elem.bytes())
    }

    /// The elements where they are, if they have this type and lie in row-major order one after the other, at addresses that
    /// Rust allows.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        if T::TYPE != self.elem {
            return None;
        }
        let elements = elements_of(self.row_major_bytes()?);
        elements.filter(|_| self.block.is_intact())
    }

    /// The elements in row-major order, if they have this type and are still there.
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        if T::TYPE != self.elem {
            return None;
        }
        let elements = match (self.as_slice(), self.row_major_bytes()) {
            (Some(elements), _) => elements.to_vec(),
            (None, Some(bytes)) => bytes.chunks_exact(T::TYPE.bytes()).map(T::read).collect(),
            (None, None) => self.iter_bits().map(|bits| T::read(&bits.to_le_bytes())).collect(),
        };
        self.block.is_intact().then_some(elements)
    }

    /// The elements in row-major order, or the array if they have another type. Nothing is copied if the array is the only one
    /// in the memory of a vector that was given, and is all of it.
    pub fn into_vec<T: Element>(self) -> Result<Vec<T>, Array> {
        if T::TYPE != self.elem {
            return Err(self);
        }
        let bytes = self.elements() as usize * self.elem.bytes();
        let is_whole = self.lmad.is_row_major() && bytes == self.block.len();
        let array = match is_whole {
            true => match self.block.into_vec() {
                Ok(elements) => return Ok(elements),
                Err(block) => Array { block, elem: self.elem, lmad: self.lmad },
            },
            false => self,
        };
        array.to_vec().ok_or(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;
    use std::sync::Arc;

    #[test]
    fn vectors_move_in_and_out() {
        let elements: Vec<i32> = (0..6).collect();
        let place = elements.as_ptr();
        let array = Array::from_vec(elements, &[2, 3]).unwrap();
        assert_eq!((array.first_element(), array.as_slice::<i32>().unwrap().as_ptr()), (place.cast(), place));
        assert!(array.is_writable() && array.as_slice::<u32>().is_none());
        let array = array.into_vec::<f32>().unwrap_err();
        let elements = array.into_vec::<i32>().unwrap();
        assert_eq!((elements.as_ptr(), elements.as_slice()), (place, &[0, 1, 2, 3, 4, 5][..]));
        // A part, and what is held by others, is copied.
        let array = Array::from_vec(elements, &[6]).unwrap();
        let other = array.clone();
        let copy = array.into_vec::<i32>().unwrap();
        assert!(copy.as_ptr() != place && copy == other.to_vec::<i32>().unwrap());
        let part = other.clone().into_view(other.lmad().triplet(0, 0, 3, 1));
        drop(other);
        assert_eq!(part.into_vec::<i32>().unwrap(), [0, 1, 2]);
        assert!(Array::from_vec(vec![1u8; 3], &[2, 2]).is_err());
        assert!(Array::from_vec(vec![1u8; 4], &[-2, -2]).is_err());
        assert_eq!(Array::from_vec(Vec::<f64>::new(), &[3, 0]).unwrap().into_vec::<f64>().unwrap(), []);
    }

    #[test]
    fn what_is_lent_is_seen_by_any_view_and_copied_before_it_changes() {
        let memory = Memory::default();
        let owner: Arc<[i16]> = (0..12).collect();
        // First element, extents, strides; and the elements that are seen.
        type Seen = (i64, [i64; 2], [i64; 2], Vec<i16>);
        let views: [Seen; 5] = [
            (0, [3, 4], [4, 1], (0..12).collect()),
            (0, [4, 3], [1, 4], vec![0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
            (11, [3, 4], [-4, -1], (0..12).rev().collect()),
            (1, [2, 2], [8, 2], vec![1, 3, 9, 11]),
            (5, [2, 2], [0, 0], vec![5; 4]),
        ];
        for (first, shape, strides, expected) in views {
            let array = Array::lent_view::<i16>(owner.clone(), first, &shape, &strides).unwrap();
            assert_eq!(array.to_vec::<i16>().unwrap(), expected);
            assert_eq!((array.shape().as_slice(), array.strides().as_slice()), (&shape[..], &strides[..]));
            assert_eq!(array.first_element(), (&raw const owner[first as usize]).cast());
            let mut changed = array.clone();
            changed.set(&memory, &[0, 0], galopvm_base::Scalar::new(ElemType::I16, 77)).unwrap();
            assert_eq!((changed.get(&[0, 0]).unwrap().bits, &*owner), (77, &*(0..12).collect::<Vec<i16>>()));
        }
        assert_eq!((memory.stats().allocations, Arc::strong_count(&owner)), (5, 1));
        let wrong: [(i64, &[i64], &[i64]); 5] =
            [(0, &[13], &[1]), (0, &[2], &[-1]), (0, &[2, 3], &[1]), (-1, &[1], &[1]), (0, &[-1], &[1])];
        for (first, shape, strides) in wrong {
            assert!(Array::lent_view::<i16>(owner.clone(), first, shape, strides).is_err());
        }
        assert!(Array::lent_view::<i16>(owner.clone(), 40, &[0, 3], &[i64::MAX, 1]).is_ok());
    }

    #[test]
    fn bytes_are_elements_only_where_they_can_be() {
        let bytes = Block::given(Box::new(vec![2u8; 16]));
        assert!(Array::view_of(bytes.clone(), ElemType::Bool, 0, &[16], &[1]).is_err());
        let numbers = Array::view_of(bytes, ElemType::U16, 0, &[8], &[1]).unwrap();
        assert_eq!(numbers.to_vec::<u16>().unwrap(), [0x0202; 8]);
        let truths = Array::lent(vec![true, false], &[2]).unwrap();
        assert_eq!(truths.as_slice::<bool>(), Some(&[true, false][..]));
        // One of two neighbouring bytes is at an even address.
        let owner: Arc<Vec<u8>> = Arc::new((0..17).collect());
        let slices = (0..2).filter(|k| {
            let block = Block::foreign(owner.clone(), *k..*k + 16).unwrap();
            let array = Array::view_of(block, ElemType::U16, 0, &[8], &[1]).unwrap();
            assert_eq!(array.to_vec::<u16>().unwrap()[0], u16::from_le_bytes([*k as u8, *k as u8 + 1]));
            array.as_slice::<u16>().is_some()
        });
        assert_eq!(slices.count(), 1);
    }
}
