//! Work that cannot be asked to stop, with a limit to the time that is waited for it.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// What the work gives, if it is done in time. Otherwise its thread is left to itself until the process ends: what it holds is its
/// own, and nobody looks at it any more.
pub fn within<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let (tell, told) = channel();
    let work = move || {
        // If nobody listens any more, it took too long.
        let _ = tell.send(work());
    };
    let thread = Builder::new().stack_size(super::STACK).spawn(work);
    let thread = thread.map_err(|error| format!("Cannot start a thread: {error}"))?;
    match told.recv_timeout(time) {
        Ok(made) => Ok(made),
        Err(RecvTimeoutError::Timeout) => {
            Err(format!("Compiling the program took longer than its time of {time:?}."))
        }
        // It ended without a word.
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => resume_unwind(panic),
            Ok(()) => Err("Compiling the program gave nothing.".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_waited_for_as_long_as_it_may_take() {
        assert_eq!(within(Duration::from_secs(60), || 7), Ok(7));
        let (held, hold) = channel::<()>();
        let late = within(Duration::from_millis(1), move || hold.recv().is_ok());
        assert_eq!(late, Err("Compiling the program took longer than its time of 1ms.".into()));
        drop(held);
        let mistake = std::panic::catch_unwind(|| within(Duration::from_secs(60), || panic!("a mistake")));
        assert!(mistake.is_err());
    }
}
