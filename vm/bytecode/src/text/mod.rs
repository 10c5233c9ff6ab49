//! Assembly text: what `dis` prints and `asm` reads.
//!
//! ```text
//! module
//! file "dot.fut"
//! entry "main" @0 (xs : "[]f32", ys : "[]f32") -> ("f32")
//! fn @0 "main" (r0 : []f32, r1 : []f32) -> (f32)
//! b0 ():
//!   r2 : i64 = dim r0 0
//!   r3 : f32 = const 0.0f32
//!   r4 : []f32 = map r2 (r0!, r1!) b1
//!   r7 : f32 = reduce r2! (r3!) (r4!) b2 @ 0 1:5-1:30
//!   => (r7!)
//! b1 (r5 : f32, r6 : f32):
//!   ..
//! ```
//! Definitions stand in front of `=` with their types; `!` marks a last use; `@ file start-end` is the place; `;`
//! starts a comment. Entry values of more or fewer than one function value add `* count`.

mod parse;
mod print;
mod read;

pub use parse::parse;
pub use print::{print, print_function, print_instr};
pub use read::{Reader, TextError};
