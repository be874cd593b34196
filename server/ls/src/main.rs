//! The `kontext-ls` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    kontext_ls::cli::main()
}
