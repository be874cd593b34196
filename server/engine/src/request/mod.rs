//! The request an op would make, as a value (adapters.md section 7).
