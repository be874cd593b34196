//! Children and their groups.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use kontext_config::facts::Env;
use kontext_engine::driver::process::{Spawn, spawn};
use kontext_engine::{FaultKind, MayStart};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

fn env(path: &str) -> Env {
    let vars = [("PATH", path), ("LC_ALL", "C")];
    Env::new(vars.map(|(n, v)| (n.to_owned(), v.to_owned())), false)
}

fn of(argv: &[&str], cwd: &Path, path: &str) -> Spawn {
    Spawn {
        argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: cwd.to_owned(),
        env: env(path),
        stdin: false,
        may_start: MayStart::default(),
    }
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn what_cannot_be_started_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    write(&d.join("noexec/ctx2"), "#!/bin/sh\n", 0o644);
    fs::create_dir_all(d.join("dirs/ctx3")).unwrap();
    write(&d.join("bad/ctx4"), "#!/no/such/interp -x\n", 0o755);
    write(&d.join("bad/ctx5"), "#!/no/such/crlf\r\n", 0o755);
    write(&d.join("file"), "", 0o644);
    let shown = d.display();
    let path = format!("{shown}/noexec:{shown}/dirs:{shown}/bad:relative::/gone");
    let fault = |argv: &[&str], cwd: &Path| {
        let fault = spawn(&of(argv, cwd, &path)).unwrap_err();
        (fault.kind, fault.message().to_owned())
    };
    for (argv, expected) in [
        (
            "ctx-none",
            "`ctx-none` was not found in the 4 folders of PATH; install it, or name it by its path"
                .to_owned(),
        ),
        (
            "ctx2",
            "`ctx2`, found on PATH, is not executable; give it the permission (chmod +x)"
                .to_owned(),
        ),
        ("ctx3", "`ctx3`, found on PATH, is a folder, not a program".to_owned()),
        (
            "ctx4",
            "`ctx4` is a script whose interpreter `/no/such/interp` does not exist".to_owned(),
        ),
        (
            "ctx5",
            "`ctx5` is a script whose interpreter `/no/such/crlf\\r` does not exist".to_owned(),
        ),
        (
            "~/bin/ctx",
            "`~/bin/ctx` does not exist: `~` is not expanded in a command, write `{{env.HOME}}` in its place"
                .to_owned(),
        ),
        (
            "./tools/ctx",
            format!("`./tools/ctx` does not exist in the working folder `{shown}`"),
        ),
        ("./dirs", "`./dirs` is a folder, not a program".to_owned()),
        ("/no/such", "`/no/such` does not exist".to_owned()),
    ] {
        assert_eq!(fault(&[argv], d), (FaultKind::Unreachable, expected));
    }
    let (kind, words) = fault(&["sh"], &d.join("gone"));
    assert_eq!(kind, FaultKind::Unreachable);
    assert_eq!(
        words,
        format!("the working folder `{shown}/gone` does not exist")
    );
    let (_, words) = fault(&["sh"], &d.join("file"));
    assert_eq!(
        words,
        format!("the working folder `{shown}/file` is not a folder")
    );
    assert_eq!(fault(&[], d).0, FaultKind::Refused);
    assert_eq!(fault(&[""], d).0, FaultKind::Refused);
    assert_eq!(fault(&["sh", "a\0b"], d).0, FaultKind::Refused);
}

#[tokio::test]
async fn programs_are_looked_up_for_the_child() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    std::os::unix::fs::symlink("/bin/pwd", d.join("where")).unwrap();
    fs::create_dir_all(d.join("sub")).unwrap();
    for (argv, cwd, path) in [
        ("where", d.to_owned(), d.display().to_string()),
        ("../where", d.join("sub"), String::new()),
    ] {
        let mut group = spawn(&of(&[argv, "-P"], &cwd, &path)).unwrap();
        let mut text = String::new();
        let mut out = group.stdout().unwrap();
        out.read_to_string(&mut text).await.unwrap();
        assert!(group.wait().await.unwrap().success());
        assert_eq!(
            Path::new(text.trim()),
            fs::canonicalize(&cwd).unwrap(),
            "{argv}"
        );
    }
}

/// A shell that starts a shell; both print their number and stay. The second ignores requests to
/// end.
const STUBBORN: &str =
    "(trap '' TERM; echo $(exec sh -c 'echo $PPID'); while :; do sleep 1; done) & echo $$; wait";

/// Until no process holds the other end of a pipe.
async fn closed(mut out: impl AsyncReadExt + Unpin) {
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).await.unwrap();
}

#[tokio::test]
async fn the_whole_group_ends() {
    for how in ["end", "kill", "drop", "after the leader"] {
        let script = if how == "after the leader" {
            "(trap '' TERM; while :; do sleep 1; done) & echo $$; echo $!; exit 3"
        } else {
            STUBBORN
        };
        let mut group = spawn(&of(&["sh", "-c", script], Path::new("/"), "/usr/bin:/bin")).unwrap();
        let mut out = BufReader::new(group.stdout().unwrap());
        for _ in 0..2 {
            let mut line = String::new();
            out.read_line(&mut line).await.unwrap();
            assert!(line.trim().parse::<u32>().is_ok(), "{how}: {line:?}");
        }
        match how {
            "end" => group.end(Duration::from_millis(50)).await,
            "kill" => group.kill().await,
            "drop" => drop(group),
            _ => {
                assert_eq!(group.wait().await.unwrap().code(), Some(3));
                group.end(Duration::from_millis(50)).await;
            }
        }
        // Each of them, and each `sleep`, held the pipe.
        closed(out).await;
    }
}

/// What makes a session of its own, with its parent or orphaned, is not in the group any more. The
/// third has wiped its environment as well.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_has_left_the_group_ends_as_well() {
    let stubborn = "trap '' TERM; echo ready; while :; do sleep 1; done";
    let script = r#"(setsid sh -c "$1" &) ; setsid sh -c "$1" & env -i setsid sh -c "$1" &
        trap '' TERM; wait; wait; wait"#;
    for how in ["end", "kill", "drop"] {
        let argv = ["sh", "-c", script, "sh", stubborn];
        let mut group = spawn(&of(&argv, Path::new("/"), "/usr/bin:/bin")).unwrap();
        let mut out = BufReader::new(group.stdout().unwrap());
        for _ in 0..3 {
            let mut line = String::new();
            out.read_line(&mut line).await.unwrap();
            assert_eq!(line, "ready\n", "{how}");
        }
        match how {
            "end" => group.end(Duration::from_millis(50)).await,
            "kill" => group.kill().await,
            _ => drop(group),
        }
        closed(out).await;
    }
}

/// A daemon that a program has left behind on purpose goes on; what it forgot does not.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_has_ended_may_leave_a_daemon() {
    let script = "(sleep 1000 >/dev/null 2>&1 & echo $!); \
                  (setsid sh -c 'echo $$; exec sleep 1000' 2>/dev/null &)";
    let mut group = spawn(&of(&["sh", "-c", script], Path::new("/"), "/usr/bin:/bin")).unwrap();
    let mut out = BufReader::new(group.stdout().unwrap());
    let mut pids = Vec::new();
    for _ in 0..2 {
        let mut line = String::new();
        out.read_line(&mut line).await.unwrap();
        pids.push(line.trim().parse::<i32>().unwrap());
    }
    let [forgotten, daemon] = pids[..] else {
        panic!("{pids:?}")
    };
    assert!(group.wait().await.unwrap().success());
    group.leave().await;
    let state = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    while state(forgotten).contains(" S ") {
        tokio::task::yield_now().await;
    }
    assert!(state(daemon).contains(" S ") || state(daemon).contains(" R "));
    let daemon = rustix::process::Pid::from_raw(daemon).unwrap();
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test]
async fn a_group_that_ends_when_asked_is_not_killed() {
    let script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let mut group = spawn(&of(&["sh", "-c", script], Path::new("/"), "/usr/bin:/bin")).unwrap();
    let mut out = BufReader::new(group.stdout().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).await.unwrap();
    assert_eq!(line, "ready\n");
    group.end(Duration::from_secs(600)).await;
    line.clear();
    out.read_line(&mut line).await.unwrap();
    assert_eq!(line, "bye\n");
    assert!(group.wait().await.unwrap().success());
}
