//! The tour: it runs green, and says what a newcomer has to know.

use crate::harness::Fixture;

#[test]
fn the_tour_shows_the_main_job_over_both_wires() {
    let place = Fixture::new(&[]);
    let (code, out, err) = place.run(&["tour", "--dir", "sample"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let titles: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    insta::assert_snapshot!(titles.join("\n"), @r"
    1. The sample
    2. What is wrong
    3. What fits
    4. What is active
    5. An agent joins
    6. An unsaved edit
    7. The editor goes and comes back
    8. Now you
    ");
    for sentence in [
        "An adapter connects an agent to one source of context",
        "error [unknown-key]: ",
        "    timeout_ms ",
        "inactive: `notes-mcp` is not on PATH",
        "kontext_status, kontext_snapshot, kontext_check, kontext_explain",
        "- `NOTES_TOKEN` is not set",
        "unsaved changes",
        "The same session of the agent goes on, from the files on disk",
        "nvim --cmd",
    ] {
        assert!(out.contains(sentence), "{sentence:?} is not in {out}");
    }
    // The sample stays, and is not written over.
    assert!(place.path("sample/shop/.git/kontext/config.toml").is_file());
    let (code, _, err) = place.run(&["tour", "--dir", "sample"]);
    assert_eq!(code, 2);
    assert!(err.contains("is not empty"), "{err}");
}

#[test]
fn the_tour_is_the_same_every_time() {
    let place = Fixture::new(&[]);
    let told = |folder: &str| {
        let (_, out, _) = place.run(&["tour", "--dir", folder]);
        out.replace(folder, "[DIR]")
    };
    assert_eq!(told("first-sample"), told("second-sample"));
}
