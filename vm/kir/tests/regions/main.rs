//! Regions, their text, their verifier and their meaning: a module for each.

mod algebra;
mod cases;
mod golden;
mod launch;
mod random;
mod rejected;
