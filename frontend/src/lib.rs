//! Futhark source to checked, first-order core to bytecode; never runs anything.
