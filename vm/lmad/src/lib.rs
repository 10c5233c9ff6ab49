//! The LMAD algebra: views of arrays, their classification and overlap.
