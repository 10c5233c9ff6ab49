//! Room for recursion: the walks over a tree of bounded depth run on a stack that is large enough for it, whatever the
//! stack of the thread that calls.

use galopvm_base::{Diagnostic, FileId, Span};

/// Bytes of stack for every walk over a tree of [`crate::syntax::MAX_DEPTH`] levels. Reserved, not touched:
/// only the part in use takes memory.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` on a thread with room for the deepest tree the parser lets through. Nothing if no such thread can be
/// started.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("frontend".into()).stack_size(STACK_BYTES);
        let handle = thread.spawn_scoped(scope, work).ok()?;
        Some(handle.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)))
    })
}

/// What to say then.
pub(crate) fn no_room(file: FileId) -> Vec<Diagnostic> {
    let text = format!("there is no memory for the compiler's stack of {} MB", STACK_BYTES >> 20);
    let hint = "this file was not compiled; the address space of the process may be limited";
    vec![Diagnostic::error(Span::new(file, 0, 0), text).with_hint(hint)]
}
