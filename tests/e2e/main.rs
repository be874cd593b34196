//! End-to-end tests over the real wires. How to write one: see [`harness`].
//!
//! One file a subject; a new one is named here.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(unreachable_pub, reason = "the harness is written like a library")]

#[allow(
    dead_code,
    unused_imports,
    reason = "it offers more than the tests of today use"
)]
mod harness;

mod agents;
mod binary;
mod cases;
mod disk;
mod folders;
mod layers;
mod minimal;
mod pull;
#[cfg(unix)]
mod servers;
mod shell;
#[cfg(unix)]
mod sources;
mod sync;
mod tour;
mod trust;
mod wire;
