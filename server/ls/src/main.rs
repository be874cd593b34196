//! The `kontext-ls` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    share_one_heap();
    kontext_ls::cli::main()
}

/// The tree of a long text is built on one thread, replaced on another and dropped on a third. With
/// an arena for each, as glibc has them, what one has given back is of no use to the others: a
/// seventh of all memory at 50,000 lines, for nothing that could be measured.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn share_one_heap() {
    #[expect(unsafe_code, reason = "the one call that no safe crate has")]
    // SAFETY: it takes two numbers, and no other thread has been started that could allocate.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn share_one_heap() {}
