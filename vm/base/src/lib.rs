//! What every crate shares: element types, **the** scalar-operation table with its meaning, typed ids, spans,
//! diagnostics, the worker threads of a call, the words for copies on a device.
//!
//! Invariants:
//! - A scalar travels as [`Bits`]: the value's own bits, zero-extended to 64. Nothing else is ever in the high bits.
//! - [`scalar::ScalarOp`] is defined by one table row; typing, algebra, text and the reference page derive from it.
//! - [`scalar::eval`] is the meaning of every scalar operation; each faster path is tested against it.
#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod elem;
pub mod element;
pub mod id;
pub mod json;
pub mod path;
pub mod quote;
pub mod reference;
pub mod resident;
pub mod scalar;
pub mod source;
mod system;
pub mod threads;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use elem::ElemType;
pub use id::{IdHasher, IdMap, IdSet, IdTable, IdVec, TypedId};
pub use json::Json;
pub use scalar::{Bits, Scalar, ScalarOp};
pub use source::{FileId, Pos, Sources, Span};
pub use system::system_message;
