//! The prelude in Futhark and the table of intrinsics.
