//! Room for recursion: the walks over a tree of bounded depth run on a stack that is large enough for it.

/// Bytes of stack for every walk over a tree of [`crate::syntax::MAX_DEPTH`] levels. Reserved, not touched:
/// only the part in use takes memory.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` on a thread with room for the deepest tree the parser lets through.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("frontend".into()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, work) {
            Ok(handle) => match handle.join() {
                Ok(value) => value,
                Err(payload) => std::panic::resume_unwind(payload),
            },
            // Without threads there is no such room; a shallow program still fits where we are, but `work` has
            // been moved, so this is the end.
            Err(error) => panic!("cannot start the front end's thread: {error}"),
        }
    })
}
