//! Whole programs on every engine: examples, generated programs, damaged bytecode.
#![forbid(unsafe_code)]

mod blocks;
mod checked;
mod checkpoints;
mod derivatives;
mod differential;
mod examples;
mod extents;
mod failures;
mod fused;
mod generate;
mod handwritten;
mod loops;
mod merging;
mod mutation;
mod places;
mod rows;
mod seeds;
mod sequences;
mod shared;
mod support;
mod traces;
mod typed;
mod unused;
mod versions;
mod zeros;
