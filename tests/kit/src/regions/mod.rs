//! Random regions of kernel IR, as text, for the analyses and the checker of their decisions: a seed gives what is known of the
//! parameters, and the statements.

pub mod constructs;
pub mod parts;
pub mod triangles;
