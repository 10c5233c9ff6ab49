//! Blocks of bytes, where they come from and where they go when nobody holds them any more.
//!
//! - `block.rs`: a counted block. `pool.rs`: the budget, the free lists, the figures. `slab.rs`: small storage.
//!   `system.rs`: what the system can give. `mapped.rs`: files as blocks. `given.rs`: a host's memory as blocks. `shelf.rs`: copies in other layouts, kept with
//!   their block. `reserve.rs`: storage that blocks take in turn. `away.rs`: blocks whose bytes are on a device.
//!
//! Invariants: elements in blocks are little-endian; a fresh block has unspecified but initialised contents; running
//! out of memory is a value ([`OutOfMemory`]), never an abort.

mod away;
mod block;
mod given;
mod mapped;
mod pool;
mod reserve;
mod shelf;
mod slab;
mod system;

pub use away::{DEVICE_LOST, Losses};
pub use block::Block;
pub use block::Exclusive;
pub use given::Given;
pub use mapped::{MappedFile, SHORTENED};
pub use pool::{Memory, MemoryStats, OutOfMemory};
pub use system::available;

pub use block::LINE;
pub use pool::CopyKind;
pub use reserve::Reserve;
#[cfg(debug_assertions)]
pub use reserve::in_use;
pub use shelf::Wanted;
