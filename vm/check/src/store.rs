//! What the walk over a region asks of memory. There are two: `cells/` goes through elements one by one, `sets/`
//! through sets of them.

use crate::view::{Change, View};
use galopvm_kir::VarId;

/// Why a walk ends before the end of the region.
#[derive(Debug)]
pub(crate) enum Stop {
    /// This store cannot say, or not within its budget.
    TooLarge(&'static str),
    /// Something is found that should not be there.
    Refused(Fault),
}

/// What is wrong, as far as a store sees it.
#[derive(Debug)]
pub(crate) enum Fault {
    /// An element was read that is not there.
    Lost {
        /// The name that it was read by.
        array: VarId,
        /// Which of the elements that are read, in the order of their indices.
        element: i64,
        /// Where it should be.
        place: (usize, i64),
        /// The statement that made what is there instead, and which of its elements it is; nothing if it is not known.
        found: Option<(VarId, i64)>,
    },
    /// An element is read and changed by iterations in no order.
    Race {
        /// The name that it was read by.
        array: VarId,
        /// Where it is.
        place: (usize, i64),
        /// The statement that changes it.
        changed: VarId,
    },
    /// A block that others hold would be written.
    Held,
    /// A view is not inside its block.
    Outside {
        /// Elements of the block.
        elements: i64,
    },
    /// Something about the decisions themselves.
    Said(String),
}

/// Why a walk ends that takes too long.
pub(crate) const LONG: &str = "too many statements";

pub(crate) type Step<T> = Result<T, Stop>;

/// Where the memory of a new block is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// Its own.
    Own,
    /// From this byte of a memory on.
    At(u32, i64),
    /// That of another block, which it replaces.
    Of(usize),
}

/// Memory and what is in it.
pub(crate) trait Store {
    /// An array: its elements by the meaning of the region, and where they lie.
    type Array: Clone;
    /// What is known of a scalar that was read: which element it is.
    type Mark: Copy + PartialEq;
    /// Whether all iterations of a kernel are gone through at once, with their variables swept.
    const SWEEPS: bool;

    /// The statement that is executed from now on.
    fn at(&mut self, statement: VarId);

    /// A body is gone through once more, whether anything is stored in it or not: what it costs at least.
    fn once_more(&mut self) -> Step<()>;

    /// A new block; nothing is known of its elements. Of one without a number of elements nothing but the whole is
    /// ever used. `bytes` is the size of an element.
    fn block(&mut self, elements: Option<i64>, bytes: usize, piece: Piece, held: bool) -> Step<usize>;
    /// Whether somebody outside holds a block.
    fn is_held(&self, block: usize) -> bool;

    /// An array that is there at the beginning. All that are received from a block have the same elements.
    fn received(&mut self, block: usize, view: View) -> Step<Self::Array>;
    /// An array whose elements are still to be given. `exact` unless its size is not known.
    fn empty(&mut self, block: usize, view: View, exact: bool) -> Step<Self::Array>;
    /// An array equal to another one, in its place.
    fn updated(&mut self, of: &Self::Array) -> Step<Self::Array>;
    /// An array seen otherwise: `Ok(None)` if no view expresses it, `Err(None)` if an index is outside.
    fn changed(&mut self, of: &Self::Array, change: &Change) -> Result<Option<Self::Array>, Option<Stop>>;
    /// One of some arrays or their parts, nobody knows which.
    fn one_of(&mut self, all: &[Self::Array]) -> Self::Array;

    /// The extents of an array, if they are known.
    fn shape(&self, array: &Self::Array) -> Option<Vec<i64>>;
    /// Where it lies, if that is known.
    fn place(&self, array: &Self::Array) -> Option<(usize, View)>;

    /// The blocks that it may lie in, if it has elements.
    fn blocks(&self, array: &Self::Array) -> Vec<usize>;

    /// Every element is read.
    fn read(&mut self, array: &Self::Array, name: VarId) -> Step<Option<Self::Mark>>;
    /// What `changed` would give for a row whose indices are numbers; nothing if the store has no shorter way to it.
    fn row(&self, _array: &Self::Array, _index: &[i64]) -> Option<Self::Array> {
        None
    }
    /// What `changed` and `read` would give for one element whose indices are numbers; nothing if the store has no shorter way to it.
    fn element(
        &mut self,
        _array: &Self::Array,
        _index: &[i64],
        _name: VarId,
    ) -> Step<Option<Option<Self::Mark>>> {
        Ok(None)
    }
    /// Every element is written: with the scalar of a mark, or with new ones. If not `certain`, some are.
    fn assign(&mut self, array: &Self::Array, mark: Option<Self::Mark>, certain: bool) -> Step<()>;
    /// Elements are copied in any order, unless they are in their places.
    fn copy(&mut self, from: (&Self::Array, VarId), to: &Self::Array, certain: bool) -> Step<()>;

    /// What follows is done by strands in no order.
    fn begin(&mut self);
    /// A strand begins.
    fn strand(&mut self, number: u32);
    /// All strands are done.
    fn end(&mut self) -> Step<()>;
    /// A variable is swept from now on, for the strands or for rounds in order.
    fn open(&mut self, count: i64, strands: bool) -> u32;
    /// The variable that was opened last is closed.
    fn close(&mut self) -> Step<()>;

    /// What follows is done if something holds that nobody knows ..
    fn fork(&mut self);
    /// .. and this, if not ..
    fn otherwise(&mut self);
    /// .. and this, either way. Gives a number for what nobody knows.
    fn join(&mut self) -> Step<u32>;
    /// An array of one of the sides.
    fn either(&mut self, which: u32, then: &Self::Array, otherwise: &Self::Array) -> Step<Self::Array>;

    /// An array as it is now, which no write changes from now on; asked only if iterations are swept.
    fn kept(&mut self, of: &Self::Array) -> Step<Self::Array>;
    /// Whether an array lies where another one did, with nothing more lost.
    fn is_kept(&self, next: &Self::Array, kept: &Self::Array) -> bool;
    /// How many accesses of strands are known ..
    fn accesses(&self) -> usize;
    /// .. and what came later is forgotten.
    fn forget(&mut self, accesses: usize);

    /// How many things there are, for `state`.
    fn now(&self) -> (usize, usize);
    /// What memory and some arrays are, up to names of what came after `since`; nothing if that cannot be said.
    fn state(&mut self, since: (usize, usize), arrays: &[&Self::Array]) -> Step<Option<Vec<u64>>>;
}
