//! What each fuzz target does with its input. A panic is a find.
//!
//! The targets themselves (`fuzz_targets/`) only call these, so that `cargo test` can run every
//! seed, and every find that became one, without the fuzzer.

mod grammar;
mod input;
mod outside;
mod request;
mod text;

pub use grammar::{result_path, template};
pub use outside::{format, git_config, jsonrpc_line, sse};
pub use request::request;
pub use text::{text_edits, toml_document, units_check};

/// Every target by name.
pub const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("toml_document", toml_document),
    ("template", template),
    ("result_path", result_path),
    ("units_check", units_check),
    ("text_edits", text_edits),
    ("jsonrpc_line", jsonrpc_line),
    ("git_config", git_config),
    ("format", format),
    ("request", request),
    ("sse", sse),
];
