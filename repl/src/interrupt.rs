//! Ctrl-C: it ends the running call with an error, and the process if nothing runs or it comes twice.

use crate::failure::{INTERRUPTED, say};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What Ctrl-C is to end. Clones share it.
#[derive(Clone, Default)]
pub struct Interrupts(Arc<Mutex<Option<Arc<AtomicBool>>>>);

impl Interrupts {
    /// Listens from now on.
    pub fn listen() -> Interrupts {
        let interrupts = Interrupts::default();
        let running = interrupts.clone();
        let interrupt = move || {
            let flag = running.0.lock().unwrap_or_else(PoisonError::into_inner);
            match &*flag {
                Some(flag) if !flag.swap(true, Ordering::Relaxed) => {}
                _ => std::process::exit(INTERRUPTED.into()),
            }
        };
        if let Err(error) = ctrlc::set_handler(interrupt) {
            say(&format!("note: Ctrl-C ends galopvm at once: {error}"));
        }
        interrupts
    }

    /// Says whose flag Ctrl-C sets from now on; gives the one that it has set so far.
    pub fn running(&self, flag: Option<Arc<AtomicBool>>) -> Option<Arc<AtomicBool>> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), flag)
    }
}
