//! The worker threads of a call: those of a pool, where a host wants so many, else those of the process.
//!
//! A call runs on the thread that calls. Only a loop that is divided goes to the pool, since changing threads takes longer than many
//! a call.

use rayon::ThreadPool;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The pool of the call that runs on this thread.
    static POOL: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
}

/// Puts back what was the pool before.
struct Before(Option<Arc<ThreadPool>>);

impl Drop for Before {
    fn drop(&mut self) {
        POOL.set(self.0.take());
    }
}

/// Does work that divides its loops among the threads of a pool, or of the process if there is none.
pub fn with_pool<T>(pool: Option<Arc<ThreadPool>>, work: impl FnOnce() -> T) -> T {
    let _before = Before(POOL.replace(pool));
    work()
}

/// The pool of the call that runs on this thread.
pub fn pool() -> Option<Arc<ThreadPool>> {
    POOL.with_borrow(Clone::clone)
}

/// Runs a loop that rayon divides, among the threads of the call.
pub fn divided<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(run),
        None => run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use std::panic::AssertUnwindSafe;

    #[test]
    fn only_divided_loops_leave_the_thread() {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(3).build().expect("threads"));
        let here = std::thread::current().id();
        let count = || divided(rayon::current_num_threads);
        let seen = with_pool(Some(pool.clone()), || {
            let inner = with_pool(None, pool_of_this);
            (std::thread::current().id() == here, count(), inner, pool_of_this())
        });
        assert_eq!(seen, (true, 3, false, true));
        let work = AssertUnwindSafe(|| with_pool(Some(pool), || panic!("on purpose")));
        let panicked = std::panic::catch_unwind(work);
        assert!(panicked.is_err() && !pool_of_this());
    }

    fn pool_of_this() -> bool {
        pool().is_some()
    }
}
