//! Memory of a host as blocks, without a copy.
//!
//! What a host *gives* is a block's alone: the block may be written by its only holder, and the memory can be had back
//! ([`Block::into_vec`]). What a host *lends* is only read, for as long as somebody holds the block. Either goes back to its
//! owner by being dropped, on whatever thread drops the last holder. The pool keeps no account of it, and no budget is
//! asked: the host has that memory already.

use super::Block;
use super::block::Source;
use crate::array::Element;
use crate::array::element::{bytes_of, bytes_of_mut};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// Memory that a host gives up. Every look gives the same bytes, unless they were written through this.
pub trait Given: Any + Send + Sync {
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// The bytes for writing.
    fn bytes_mut(&mut self) -> &mut [u8];
}

impl<T: Element> Given for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytes_of_mut(self)
    }
}

/// An owner of elements as an owner of bytes.
struct Lent<T, O> {
    owner: O,
    element: PhantomData<fn() -> T>,
}

impl<T: Element, O: AsRef<[T]>> AsRef<[u8]> for Lent<T, O> {
    fn as_ref(&self) -> &[u8] {
        bytes_of(self.owner.as_ref())
    }
}

impl Block {
    /// A block of memory that is the block's alone from now on.
    pub fn given(memory: Box<dyn Given>) -> Block {
        let bytes = memory.bytes().len();
        Block::of_source(Source::Given(memory), bytes)
    }

    /// A block of elements that somebody else owns; it is never written.
    pub fn lent<T: Element>(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Block {
        let owner = Lent { owner, element: PhantomData };
        let bytes = owner.as_ref().len();
        Block::of_source(Source::Foreign { owner: Arc::new(owner), range: 0..bytes }, bytes)
    }

    /// The vector that was given, if this is its only holder; else the block.
    pub fn into_vec<T: Element>(mut self) -> Result<Vec<T>, Block> {
        let vector = self.given_mut().and_then(|memory| (memory as &mut dyn Any).downcast_mut::<Vec<T>>());
        // The block ends here, and nobody looks at what is left.
        vector.map(std::mem::take).ok_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_written_by_its_only_holder_and_can_be_had_back() {
        let mut vector = Vec::with_capacity(7);
        vector.extend([1u32, 2, 3]);
        let place = vector.as_ptr() as usize;
        let mut block = Block::given(Box::new(vector));
        assert!(block.is_own() && block.is_unique() && !block.is_foreign() && block.is_intact());
        assert_eq!((block.len(), block.bytes().as_ptr() as usize), (12, place));
        let other = block.clone();
        assert!(!block.is_unique() && block.bytes_mut().is_none());
        let block = block.into_vec::<u32>().unwrap_err();
        drop(other);
        let mut block = block.into_vec::<i32>().unwrap_err();
        block.bytes_mut().unwrap()[4] = 9;
        let mut own = block.exclusive().unwrap();
        own.bytes_mut()[8] = 8;
        let vector = own.share().into_vec::<u32>().unwrap();
        assert_eq!(
            (vector.as_slice(), vector.capacity(), vector.as_ptr() as usize),
            (&[1, 9, 8][..], 7, place)
        );
    }

    #[test]
    fn what_is_lent_is_never_written_and_goes_back() {
        let owner: Arc<[f64]> = Arc::from([1.5, 2.5]);
        let mut block = Block::lent::<f64>(owner.clone());
        assert!(block.is_foreign() && !block.is_unique() && block.bytes_mut().is_none());
        assert_eq!(block.bytes().as_ptr(), owner.as_ptr().cast());
        let block = block.exclusive().err().unwrap().into_vec::<f64>().unwrap_err();
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(block);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn no_elements_are_memory_as_well() {
        let block = Block::given(Box::new(Vec::<u16>::new()));
        assert!(block.is_empty() && block.bytes().is_empty());
        assert_eq!(block.into_vec::<u16>().unwrap(), [0u16; 0]);
        assert!(Block::lent::<bool>(Vec::new()).is_empty());
    }
}
