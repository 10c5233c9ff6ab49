//! Pure facts and decisions over kernels.
