//! What the analyses say and change, a module for each; `../cases/` has the golden cases.

mod bounds;
mod cells;
mod decisions;
mod deltas;
mod fusion;
mod fusion_random;
mod layout;
mod paths;
mod plan;
mod recorded;
mod rounds;
mod sequence;
mod transform;
