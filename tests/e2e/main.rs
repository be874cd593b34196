//! End-to-end tests over the real wires. How to write one: see [`harness`].
//!
//! One file a subject; a new one is named here.

mod harness;

mod binary;
mod wire;
