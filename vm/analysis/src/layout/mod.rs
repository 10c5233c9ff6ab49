//! Layout analysis at run time: who reads what in which order, and what another layout would be worth.
//!
//! - Facts, from the index table: `class.rs` (how lanes lie in memory), `order.rs` (what a nest asks for, and what speaks
//!   against it).
//! - Prices: `constants.rs` (numbers of the machine), `times.rs` (those that are measured), `cost.rs` (accesses and copies), `candidates.rs` (layouts worth a price).
//! - Decisions: `manifest.rs` (whether a copy pays), `choice.rs` (copies of an array), `lane.rs` (the lane of a kernel),
//!   `producer.rs` (results born in the layout of their consumer), `part.rs` (copies of a part), `mapping.rs` (instructions
//!   and threads).
//! - The change: `transform.rs`. All of it in words: `explain.rs`.

pub mod candidates;
pub mod choice;
pub mod class;
pub mod constants;
pub mod cost;
pub mod explain;
pub mod lane;
pub mod manifest;
pub mod mapping;
pub mod order;
pub mod part;
pub mod producer;
pub mod times;
pub mod transform;

pub use candidates::{Candidate, candidates, memory_order};
pub use choice::{ArrayChoice, Copy, Means};
pub use class::{Class, class, class_in, class_text};
pub use constants::{Costs, CpuCosts, GpuCosts};
pub use cost::{Price, Pricing, Profile, price_text};
pub use lane::{LaneChoice, ties_text};
pub use manifest::{Gate, Question, Verdict, pays, runs_text};
pub use mapping::Reach;
pub use order::{Condition, Target, Wish, order_text, wish, wish_text};
pub use part::PartCopy;
pub use times::CpuTimes;
pub use transform::{plain_text, transform, transform_with_parts};
