//! Room for recursion: the walks over a tree of bounded depth run on a stack that is large enough for it.

use std::sync::Mutex;

/// Bytes of stack for every walk over a tree of [`crate::syntax::MAX_DEPTH`] levels. Reserved, not touched:
/// only the part in use takes memory.
const STACK_BYTES: usize = 256 << 20;

/// Runs `work` on a thread with room for the deepest tree the parser lets through. Where no thread can be started
/// it runs right here: all but extremely nested programs still fit.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let slot = Mutex::new(Some(work));
    let run = || slot.lock().ok().and_then(|mut slot| slot.take()).map(|work| work());
    let done = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("frontend".into()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, run) {
            Ok(handle) => handle.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload)),
            Err(_) => run(),
        }
    });
    done.expect("the work is taken once: by the thread, or here when there is none")
}
