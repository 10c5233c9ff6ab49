//! Scalars and **the** table of operations on them.
//!
//! - `table.rs`: one row per operation (name, typing, algebra, precision, traps, documentation).
//! - `eval.rs`: the meaning of each operation on every type.
//! - `library/`: exponentials, logarithms, angles.
//! - `convert.rs`: the meaning of conversions between types.
//! - `typed.rs`: functions for an operation and a type.
//! - `value.rs`: a scalar with its type, its text form.

mod convert;
mod eval;
mod library;
mod table;
mod typed;
mod value;

pub use convert::{convert, convert_inlined};
pub use eval::{Native, ScalarTrap, eval, eval1, eval2, eval3};
pub use library::steps::{At, Step, Steps, steps_of};
pub use table::{Domain, Identity, OpInfo, Precision, ResultType, ScalarOp, TrapRule};
pub use typed::operation;
pub use value::{Bits, Scalar, parse_float, parse_scalar};
