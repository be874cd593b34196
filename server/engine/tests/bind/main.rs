//! Binding the parameters of MCP tools by name.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod args;
mod call;
mod properties;
mod rules;
mod schemas;
