//! The galopvm binary.
