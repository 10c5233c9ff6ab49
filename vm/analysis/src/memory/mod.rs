//! Memory of a region: how long each block is needed, and how little memory holds all of them.
//!
//! - `lifetimes.rs`: the blocks that a region makes, with sizes and lifetimes in statement numbers.
//! - `order.rs`: numbers for statements, inside loops and branches as well.
//! - `packing.rs`: offsets in one block for lifetimes that do not meet; colours where sizes are not known.
//! - `schedule.rs`: where and how often each block is made: at entry, in turn, or in each round.
//! - `buffers.rs`: the blocks that a loop uses in turn.
//!
//! Invariant: two blocks share a place only if no statement needs both.

mod buffers;
mod lifetimes;
mod order;
mod packing;
mod schedule;

pub use buffers::{LoopBlocks, loop_blocks};
pub use lifetimes::{Allocation, allocations};
pub use packing::{
    Colours, Lifetime, Packing, Slot, colours, edges, interference_text, most_live, pack, pack_by_size,
    pack_by_start,
};
pub use schedule::{Home, IN_TURN, Schedule, schedule, schedule_of};
