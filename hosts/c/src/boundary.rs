//! What crosses the boundary to C, and how.
//!
//! Handles are boxes that C holds as pointers. A parameter that may be missing is an `Option`, whose nothing is C's `NULL`; an output
//! is memory that need not be initialised. So the functions themselves need no `unsafe`: what they trust C with is what
//! `galopvm.h` asks of it - that a pointer is `NULL` or one of its kind, and that nobody uses a handle that is freed.
#![allow(unsafe_code)]

use crate::status::Failure;
use smallvec::SmallVec;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

/// Exports functions under their names. Those with `-> Status` have a body that may fail; others give the value after `else` when there
/// is nothing to tell.
macro_rules! export {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> Status $body:block)+) => {$(
        $(#[$doc])*
        #[allow(unsafe_code, reason = "an exported name is unique: all begin with the name of the library")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $crate::status::Status {
            $crate::status::status_of(move || -> Result<(), $crate::status::Failure> { $body; Ok(()) })
        }
    )+};
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty { $body:expr } else $default:expr;)+) => {$(
        $(#[$doc])*
        #[allow(unsafe_code, reason = "an exported name is unique: all begin with the name of the library")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($arg: $ty),*) -> $out {
            $crate::status::guarded(move || $body).unwrap_or($default)
        }
    )+};
}
pub(crate) use export;

/// Where a result goes.
pub type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Where a new handle goes.
pub type OutHandle<'a, T> = Out<'a, Option<Box<T>>>;

/// An argument that must be there.
pub fn given<T>(argument: Option<T>, name: &str) -> Result<T, Failure> {
    argument.ok_or_else(|| Failure::argument(format!("`{name}` is NULL.")))
}

/// Text from C, which ends with a zero.
pub fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return given(None, name);
    }
    // SAFETY: the header asks for a text that ends with a zero, and that stays as it is during the call; what is borrowed here is
    // not kept longer.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::argument(format!("`{name}` is not UTF-8.")))
}

/// Values that lie one after the other in C's memory. There may be no memory for no values.
pub fn values<'a, T>(first: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    if first.is_null() || !first.is_aligned() || !fits {
        return Err(Failure::argument(format!("`{name}` is NULL, or not {count} values.")));
    }
    // SAFETY: the header asks for so many values of the type, which stay as they are during the call; what is borrowed here is not kept
    // longer. The pointer is aligned, and the size is one that memory has.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// As [`values`], for writing. The memory need not be initialised.
pub fn places<'a, T>(first: *mut T, count: usize, name: &str) -> Result<&'a mut [MaybeUninit<T>], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    if first.is_null() || !first.is_aligned() || !fits {
        return Err(Failure::argument(format!("`{name}` is NULL, or not {count} places.")));
    }
    // SAFETY: the header asks for memory of so many values that nobody else uses during the call; bytes that are not initialised are
    // only written.
    Ok(unsafe { std::slice::from_raw_parts_mut(first.cast(), count) })
}

/// Takes the handles out of places that C filled; `NULL` stays there.
pub fn taken<T>(places: &mut [MaybeUninit<Option<Box<T>>>]) -> SmallVec<[Option<Box<T>>; 4]> {
    let take = |place: &mut MaybeUninit<Option<Box<T>>>| {
        // SAFETY: the header asks for places that hold a handle each, or `NULL`. What is taken is replaced, so it is not taken twice.
        unsafe { std::mem::replace(place, MaybeUninit::new(None)).assume_init() }
    };
    places.iter_mut().map(take).collect()
}
