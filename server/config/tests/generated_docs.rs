//! The pages made from the table of fields and the list of codes are up to date.
//!
//! `UPDATE_DOCS=1 cargo test -p kontext-config --test generated_docs` writes them.

#![allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by a panic"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use kontext_config::schema::reference::{diagnostics_markdown, reference_markdown};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Compare the pages with what lies in the folder, or write them. A page nobody makes any more is
/// stale too.
fn check(folder: &str, pages: Vec<(String, String)>) -> io::Result<()> {
    let folder = docs().join(folder);
    let update = env::var_os("UPDATE_DOCS").is_some();
    if update {
        fs::create_dir_all(&folder)?;
    }
    let made: BTreeSet<String> = pages.iter().map(|(name, _)| name.clone()).collect();
    let mut stale = Vec::new();
    for (name, text) in pages {
        let path = folder.join(&name);
        // A checkout may have turned line ends.
        let there = fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        if there == text {
            continue;
        }
        if update {
            fs::write(&path, text)?;
        } else {
            stale.push(name);
        }
    }
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if made.contains(&name) {
            continue;
        }
        if update {
            fs::remove_file(entry.path())?;
        } else {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "stale: {stale:?}; run this test with UPDATE_DOCS=1"
    );
    Ok(())
}

#[test]
fn the_reference_is_up_to_date() -> io::Result<()> {
    check("reference", reference_markdown())
}

#[test]
fn the_pages_of_the_diagnostics_are_up_to_date() -> io::Result<()> {
    check("diagnostics", diagnostics_markdown())
}
