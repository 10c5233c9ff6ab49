//! Moving elements from one view to another of the same shape, counted, and only as long as the call is to go on.

use crate::error::Trap;
use crate::memory::{CopyKind, Memory};
use galopvm_lmad::{CopyClass, Lmad, transfer};

/// Copies the elements of `source_view` to the places of `target_view`, which has the same shape and no place twice.
/// Both views lie in their bytes. The copy is counted. Ends early, with the error to end with, if the call that `memory`
/// is for is to end.
pub fn copy_elements(
    memory: &Memory,
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
) -> Result<(), Trap> {
    if let Some(kind) = move_elements(memory, target, target_view, source, source_view, width)? {
        memory.count_copy(kind, source_view.elements() as u64 * width as u64);
    }
    Ok(())
}

/// As [`copy_elements`], not counted: for what is a value on its way to its place. Gives the kind
/// of copy, if there was anything to do.
pub fn move_elements(
    memory: &Memory,
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
) -> Result<Option<CopyKind>, Trap> {
    let mut pace = memory.stop().pace();
    let class = transfer(target, target_view, source, source_view, width, &mut |bytes| pace.go(bytes))?;
    Ok(match class {
        CopyClass::Empty => None,
        CopyClass::Memcpy { .. } => Some(CopyKind::Memcpy),
        CopyClass::Rows { .. } => Some(CopyKind::Rows),
        CopyClass::Transpose { .. } => Some(CopyKind::Transpose),
        CopyClass::Strided { .. } => Some(CopyKind::Strided),
    })
}
