//! The words in which memory and back ends speak of copies that blocks have on a device.
//!
//! A block belongs to the memory of the host, a copy to the back end that made it: neither knows what the other is. A block
//! keeps its copy for the next launch, or its bytes are nowhere but there, until the host looks.
//!
//! Invariants: a copy has the bytes that its block has at this moment - whoever keeps a block lets go of the copy before it
//! lends bytes for writing, and a back end never writes into a copy; a landing is given back once, whatever became of the
//! bytes.

use std::any::Any;
use std::sync::Arc;

/// Memory of the host that waits for bytes from a device.
pub trait Landing: Any + Send {
    /// Where the bytes go.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// A landing that comes back.
pub struct Arrival {
    /// The memory.
    pub landing: Box<dyn Landing>,
    /// Whether the bytes are in it; the device has lost them if not.
    pub is_whole: bool,
}

/// A copy of the bytes of a block on a device.
pub trait Resident: Any + Send + Sync {
    /// Brings the bytes into the landing that the copy was made with; nothing if it was made without, or this was asked before.
    /// The copy stays a copy.
    fn bring(&self) -> Option<Arrival>;
}

/// A block that is only read.
pub trait Stored: Sync {
    /// Number of bytes. The bytes stay where they are.
    fn size(&self) -> usize;
    /// The bytes, which are on the host from now on.
    fn bytes(&self) -> &[u8];
    /// The copy that was kept, if nobody has written since.
    fn copy(&self) -> Option<Arc<dyn Resident>>;
    /// Keeps a copy in the place of another one.
    fn keep(&self, copy: Arc<dyn Resident>);
}

/// A block that nobody has seen yet: the result of a launch.
pub trait Fresh: Send + Sync {
    /// Number of bytes.
    fn size(&self) -> usize;
    /// The bytes.
    fn bytes(&self) -> &[u8];
    /// The bytes for writing.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// Keeps a copy of the bytes.
    fn keep(&mut self, copy: Arc<dyn Resident>);
    /// From now on the bytes are those of a copy, which `make` makes with a landing for them. Does nothing and says so if the
    /// block is not one that can be without its bytes.
    fn leave(&mut self, make: &mut dyn FnMut(Box<dyn Landing>) -> Arc<dyn Resident>) -> bool;
}
