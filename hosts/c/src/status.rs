//! Errors as numbers, and as texts that the thread keeps.

use crate::boundary::export;
use galopvm::{Error, ErrorKind};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

macro_rules! statuses {
    ($($name:ident $number:literal $meaning:literal;)*) => {
        /// What became of a call of the library; `galopvm_status` of the header.
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Status {
            $(#[doc = $meaning] $name = $number,)*
        }

        /// Each status with its number, for the test that compares them with the header.
        pub const STATUSES: &[(&str, u32)] = &[$((stringify!($name), $number)),*];
    };
}

statuses! {
    Ok 0 "It was done.";
    Argument 1 "An argument of the function is missing or does not fit.";
    Compile 2 "The source does not compile; the message shows where.";
    Load 3 "A file cannot be read, or is no program.";
    Type 4 "A value has another type than was asked for.";
    Program 5 "The program failed: an index outside its array, a division by zero, a failed assertion.";
    Memory 6 "There is no memory, or the limit is reached.";
    Fuel 7 "The fuel is used up.";
    Time 8 "The time is used up.";
    Depth 9 "Calls are nested too deeply.";
    Cancelled 10 "The call was cancelled.";
    Busy 11 "Another thread is using the session.";
    Internal 12 "A mistake of galopvm itself. A session in which it happened takes no more calls.";
}

/// Why a function failed.
pub struct Failure {
    /// The number.
    pub status: Status,
    /// The text.
    pub message: String,
}

impl Failure {
    /// Something is wrong with an argument.
    pub fn argument(message: impl Into<String>) -> Failure {
        Failure { status: Status::Argument, message: message.into() }
    }

    /// The elements of an array are gone: its file became shorter, or its device was lost.
    pub fn gone() -> Failure {
        Failure { status: Status::Program, message: "The elements of the array are gone.".into() }
    }

    /// A value is not of the type that was asked for.
    pub fn ty(message: impl Into<String>) -> Failure {
        Failure { status: Status::Type, message: message.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match &error {
            Error::Compile(_) => Status::Compile,
            Error::Load { .. } => Status::Load,
            Error::Type(_) => Status::Type,
            Error::Internal(_) => Status::Internal,
            Error::Run(error) => match error.kind {
                ErrorKind::Program | ErrorKind::Input => Status::Program,
                ErrorKind::Usage => Status::Argument,
                ErrorKind::OutOfMemory => Status::Memory,
                ErrorKind::OutOfFuel => Status::Fuel,
                ErrorKind::CallDepth => Status::Depth,
                ErrorKind::Interrupted => Status::Cancelled,
                ErrorKind::Timeout => Status::Time,
                ErrorKind::Defect => Status::Internal,
            },
        };
        Failure { status, message: error.to_string() }
    }
}

thread_local! {
    /// What the last failure on this thread says.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Text for C: it ends where a zero is.
pub fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

fn keep(message: &str) {
    // A thread that ends has nobody left to tell.
    let _ = MESSAGE.try_with(|kept| *kept.borrow_mut() = c_text(message));
}

/// The result of what may not panic across the boundary; nothing, and a message, if it did.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.map_err(|_| keep("internal error: this is a mistake in galopvm; please report it")).ok()
}

/// The status of what may fail; the thread keeps the message.
pub fn status_of(work: impl FnOnce() -> Result<(), Failure>) -> Status {
    match guarded(work) {
        Some(Ok(())) => Status::Ok,
        Some(Err(failure)) => {
            keep(&failure.message);
            failure.status
        }
        None => Status::Internal,
    }
}

export! {
    /// The text of this thread's last failure. It stays until the thread's next failure.
    fn galopvm_message() -> *const c_char {
        MESSAGE.with(|kept| kept.borrow().as_ptr())
    } else c"".as_ptr();

    /// The version of the library.
    fn galopvm_version() -> *const c_char {
        const { match std::ffi::CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(text) => text,
            Err(_) => c"",
        } }.as_ptr()
    } else c"".as_ptr();
}
