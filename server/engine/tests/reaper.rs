//! What is left of a process that was killed: nothing.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test fails by panicking"
)]

mod child;

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use child::Fixture;
use kontext_engine::driver::reaper;

const PART: &str = "KONTEXT_TEST_PART";

/// This very program, as one of the parts below.
fn part(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--ignored", "--nocapture"])
        .env(PART, name);
    command
}

/// Whether this process was started as that part, and not by somebody who runs ignored tests.
fn is_part(name: &str) -> bool {
    std::env::var(PART).is_ok_and(|part| part == name)
}

#[test]
#[ignore = "the guardian's part of the tests below"]
fn guardian() {
    if is_part("guardian") {
        reaper::run(std::io::stdin().lock());
    }
}

#[test]
#[ignore = "the part of the program that is killed"]
fn victim() {
    if !is_part("victim") {
        return;
    }
    reaper::install(part("guardian")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        print!("\nstarted");
        let servers = ["launcher", "detacher", "wiper"].map(Fixture::new);
        for server in &servers {
            server.find().await.unwrap();
            print!(" {}", server.pids()[0]);
        }
        println!();
        std::future::pending::<()>().await;
    });
}

#[test]
fn servers_that_ignore_everything_end_with_a_killed_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut victim = part("victim")
        .env("TMPDIR", folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let started = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.strip_prefix("started ")?.to_owned()));
    let pids: Vec<i32> = started
        .unwrap()
        .split(' ')
        .map(|pid| pid.parse().unwrap())
        .collect();
    assert!(pids.len() == 3 && pids.iter().all(|&pid| child::runs(pid)));
    victim.kill().unwrap();
    victim.wait().unwrap();
    child::wait_gone(&pids);
}

#[test]
fn only_what_has_not_ended_is_ended() {
    let sleeper = || {
        Command::new("sleep")
            .arg("600")
            .process_group(0)
            .spawn()
            .unwrap()
    };
    let (mut kept, mut left) = (sleeper(), sleeper());
    let text = format!(
        "+{0}\n+{1}\nnonsense\n+0\n+1\n+-1\n-{0}\n-7\n",
        kept.id(),
        left.id()
    );
    reaper::run(text.as_bytes());
    assert!(child::runs(i32::try_from(kept.id()).unwrap()));
    assert!(!left.wait().unwrap().success());
    kept.kill().unwrap();
    kept.wait().unwrap();
}
