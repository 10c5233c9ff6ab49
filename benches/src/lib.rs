//! The anchor tasks.
