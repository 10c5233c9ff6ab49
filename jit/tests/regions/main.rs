//! Regions in text form, compiled, against the reference evaluator: a module for each kind. One program, since each that links the
//! whole back end takes seconds.

mod access;
mod borders;
mod control;
mod door;
mod feeds;
mod generated;
mod library;
mod maps;
mod places;
mod plans;
mod reductions;
mod rows;
mod scalar_ops;
mod scans;
mod scatters;
mod stop;
mod stretches;
mod support;
mod sweeps;
mod turns;
