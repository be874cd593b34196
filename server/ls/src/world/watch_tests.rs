//! The watcher against a real disk. Each test waits for reports, never for time to pass.

use std::fs;
use std::path::Path;

use super::*;

struct Rig {
    _guard: tempfile::TempDir,
    at: PathBuf,
    watcher: Watcher,
    reports: mpsc::Receiver<Changed>,
}

impl Rig {
    fn new() -> Self {
        Self::with(Watcher::new)
    }

    fn with(make: impl FnOnce(mpsc::Sender<Changed>) -> Watcher) -> Self {
        let guard = tempfile::tempdir().unwrap();
        let at = fs::canonicalize(guard.path()).unwrap();
        let (sender, reports) = mpsc::channel(8);
        Self {
            _guard: guard,
            at,
            watcher: make(sender),
            reports,
        }
    }

    fn set(&self, paths: &[&str]) {
        self.watcher
            .set(paths.iter().map(|path| self.at.join(path)).collect());
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    async fn next(&mut self) -> Vec<String> {
        let limit = Duration::from_secs(60);
        let report = tokio::time::timeout(limit, self.reports.recv()).await;
        let paths = report
            .expect("a report comes")
            .expect("the watcher lives")
            .paths;
        let relative = |path: &Path| path.strip_prefix(&self.at).unwrap().display().to_string();
        paths.iter().map(|path| relative(path)).collect()
    }

    /// Reports until all of `paths` came; anything else in them is a fault.
    async fn all(&mut self, paths: &[&str]) {
        let mut open: BTreeSet<&str> = paths.iter().copied().collect();
        while !open.is_empty() {
            for path in self.next().await {
                assert!(paths.contains(&path.as_str()), "{path} was not expected");
                open.remove(path.as_str());
            }
        }
    }

    /// Takes what is still under way of earlier changes, up to the report of `mark`.
    async fn settle(&mut self, mark: &str) {
        self.write(mark, "mark");
        while !self.next().await.iter().any(|path| path == mark) {}
    }
}

#[tokio::test]
async fn a_write_is_reported_and_a_neighbour_s_is_not() {
    let mut rig = Rig::new();
    rig.write("a.toml", "1");
    rig.set(&["a.toml"]);
    rig.write("neighbour.toml", "1");
    rig.write("a.toml", "2");
    rig.all(&["a.toml"]).await;
}

#[tokio::test]
async fn the_same_length_in_the_same_tick_is_still_a_change() {
    let mut rig = Rig::new();
    rig.set(&["a", "mark"]);
    for text in ["1", "2", "3"] {
        rig.write("a", text);
        rig.all(&["a"]).await;
        rig.settle("mark").await;
    }
}

#[tokio::test]
async fn atomic_saves_deletion_and_recreation() {
    let mut rig = Rig::new();
    rig.write("a", "1");
    rig.set(&["a", "mark"]);
    for round in 0..3 {
        rig.write("a.tmp", &format!("round {round}"));
        fs::rename(rig.at.join("a.tmp"), rig.at.join("a")).unwrap();
        rig.all(&["a"]).await;
        rig.settle("mark").await;
        fs::remove_file(rig.at.join("a")).unwrap();
        rig.all(&["a"]).await;
        rig.settle("mark").await;
        rig.write("a", "again");
        rig.all(&["a"]).await;
        rig.settle("mark").await;
    }
}

#[tokio::test]
async fn a_file_whose_folders_appear_later_and_go_and_come_back() {
    let mut rig = Rig::new();
    rig.set(&["x/y/z/file", "mark"]);
    for _ in 0..3 {
        rig.write("x/y/z/file", "1");
        rig.all(&["x/y/z/file"]).await;
        rig.settle("mark").await;
        rig.write("x/y/z/file", "22");
        rig.all(&["x/y/z/file"]).await;
        rig.settle("mark").await;
        fs::remove_dir_all(rig.at.join("x")).unwrap();
        rig.all(&["x/y/z/file"]).await;
        rig.settle("mark").await;
    }
    // Step by step, with nothing to report on the way.
    fs::create_dir(rig.at.join("x")).unwrap();
    rig.settle("mark").await;
    fs::create_dir(rig.at.join("x/y")).unwrap();
    rig.settle("mark").await;
    rig.write("x/y/z/file", "1");
    rig.all(&["x/y/z/file"]).await;
}

#[tokio::test]
async fn a_folder_reports_its_entries_and_not_what_lies_deeper() {
    let mut rig = Rig::new();
    rig.write("docs/deep/x", "1");
    rig.set(&["docs", "mark"]);
    rig.write("docs/deep/y", "1");
    rig.write("mark", "1");
    rig.all(&["mark"]).await;
    rig.write("docs/new.md", "1");
    rig.all(&["docs"]).await;
    rig.settle("mark").await;
    fs::remove_file(rig.at.join("docs/new.md")).unwrap();
    rig.all(&["docs"]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_reports_its_target_and_its_own_replacement() {
    use std::os::unix::fs::symlink;
    let mut rig = Rig::new();
    rig.write("dot/k.toml", "1");
    rig.write("dot/other.toml", "1");
    fs::create_dir(rig.at.join("home")).unwrap();
    symlink("../dot/k.toml", rig.at.join("home/config.toml")).unwrap();
    rig.set(&["home/config.toml", "mark"]);
    rig.write("dot/k.toml", "22");
    rig.all(&["home/config.toml"]).await;
    rig.settle("mark").await;
    symlink("../dot/other.toml", rig.at.join("home/new")).unwrap();
    fs::rename(rig.at.join("home/new"), rig.at.join("home/config.toml")).unwrap();
    rig.all(&["home/config.toml"]).await;
    rig.settle("mark").await;
    rig.write("dot/other.toml", "333");
    rig.all(&["home/config.toml"]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn two_ways_to_one_folder_are_both_reported() {
    use std::os::unix::fs::symlink;
    let mut rig = Rig::new();
    rig.write("real/a", "1");
    symlink("real", rig.at.join("link")).unwrap();
    rig.set(&["real/a", "link/a"]);
    rig.write("real/a", "22");
    rig.all(&["real/a", "link/a"]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_becomes_executable() {
    use std::os::unix::fs::PermissionsExt;
    let mut rig = Rig::new();
    rig.write("bin/tool", "1");
    rig.set(&["bin/tool"]);
    fs::set_permissions(rig.at.join("bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    rig.all(&["bin/tool"]).await;
}

#[tokio::test]
async fn what_is_no_longer_asked_for_is_not_reported() {
    let mut rig = Rig::new();
    rig.write("old/a", "1");
    rig.set(&["old/a"]);
    rig.set(&["new/b"]);
    rig.write("old/a", "2");
    rig.write("new/b", "1");
    rig.all(&["new/b"]).await;
    rig.set(&[]);
}

#[tokio::test]
async fn a_burst_is_few_reports_and_a_slow_reader_loses_nothing() {
    let mut rig = Rig::new();
    let names: Vec<String> = (0..40).map(|n| format!("f{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    rig.set(&names);
    for round in 0..20 {
        for name in &names {
            rig.write(name, &format!("{round}"));
        }
    }
    rig.all(&names).await;
}

#[tokio::test]
async fn without_events_it_looks_for_itself() {
    let mut rig = Rig::with(|sender| Watcher::polling(sender, Duration::from_millis(5)));
    rig.write("a", "1");
    rig.set(&["a", "later/b"]);
    rig.write("a", "22");
    rig.all(&["a"]).await;
    rig.write("later/b", "1");
    rig.all(&["later/b"]).await;
    fs::remove_file(rig.at.join("a")).unwrap();
    rig.all(&["a"]).await;
}

#[tokio::test]
async fn odd_paths_and_a_dropped_watcher() {
    let mut rig = Rig::new();
    rig.watcher.set(
        [
            PathBuf::from("/"),
            PathBuf::new(),
            PathBuf::from("/a\u{0}b/c"),
        ]
        .into(),
    );
    rig.set(&["a"]);
    rig.write("a", "1");
    rig.all(&["a"]).await;
    let Rig {
        watcher,
        mut reports,
        ..
    } = rig;
    drop(watcher);
    while reports.recv().await.is_some() {}
}
