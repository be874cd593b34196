//! What the shell starts ends with it.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};

use rustix::process::{Pid, Signal, kill_process};

use super::place;
use crate::harness::PATIENCE;

/// Holds the other end of a pipe for as long as anything of it runs, and ends only when killed.
const USER: &str = r#"
[adapters.slow]
driver = "command"
command = ["sh", "-c", "exec 3>pipe; trap '' INT TERM; (trap '' INT TERM; echo deep >&3; while :; do sleep 600; done) & echo here >&3; while :; do sleep 600; done"]
timeout_ms = 600000
[adapters.slow.ops.search]

[adapters.child]
driver = "mcp"
command = ["sh", "-c", "exec 3>pipe; trap '' INT TERM; (trap '' INT TERM; echo deep >&3; while :; do sleep 600; done) & echo here >&3; while :; do sleep 600; done"]
timeout_ms = 600000
[adapters.child.ops.search]
tool = "find"
"#;

fn leaves_nothing(signal: Signal, adapter: &str) {
    let place = place(USER, &[]);
    let pipe = place.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    // Open for both, opening it waits for nobody; the second end is the one that is read.
    let mut options = OpenOptions::new();
    let both = options.read(true).write(true).open(&pipe).unwrap();
    let reader = OpenOptions::new().read(true).open(&pipe).unwrap();
    let mut command = place.command(&["adapters", "test", adapter]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut shell = command.stderr(Stdio::null()).spawn().unwrap();

    let (sender, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines() {
            let _ = sender.send(line.unwrap());
        }
    });
    for _ in 0..2 {
        heard.recv_timeout(PATIENCE).unwrap();
    }
    drop(both);
    kill_process(Pid::from_child(&shell), signal).unwrap();
    let code = shell.wait().unwrap().code();
    assert_eq!(
        code,
        Some(2),
        "it ends in good order, and says that it did not finish"
    );
    // The pipe ends once nobody holds it any more.
    let end = heard.recv_timeout(PATIENCE);
    assert_eq!(
        end,
        Err(RecvTimeoutError::Disconnected),
        "something still runs"
    );
}

#[test]
fn an_interrupt_leaves_no_program() {
    leaves_nothing(Signal::INT, "slow");
}

#[test]
fn a_termination_leaves_no_program() {
    leaves_nothing(Signal::TERM, "slow");
}

#[test]
fn an_interrupt_leaves_no_server() {
    leaves_nothing(Signal::INT, "child");
}

#[test]
fn a_termination_leaves_no_server() {
    leaves_nothing(Signal::TERM, "child");
}
