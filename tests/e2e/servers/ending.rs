//! However the program ends, nothing that it has started is left.

use serde_json::json;

use super::{Lives, mentions, place, search, searching, text_of, titles, tools_until};
use crate::harness::{Client, Fixture, McpClient, pair};

/// A server that ignores the end of its input and the request to end.
const STUBBORN: &str = r#"
class Own(Server):
    def __init__(self):
        super().__init__()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def call(self, id, params):
        if params["arguments"]["query"] != "hang":
            super().call(id, params)
        else:
            self.tell("notifications/progress", progressToken=params["_meta"]["progressToken"], progress=1)

    def ended(self):
        time.sleep(600)
"#;

/// Started by a shell that starts the server as its child and waits.
const LAUNCHER: &str = "exec 3<&0\npython3 \"$(dirname \"$0\")/stubborn.py\" <&3 &\nwait $!\n";

fn stubborn(lives: &Lives) -> Fixture {
    let launched = "[adapters.launched]\ndriver = \"mcp\"\ncommand = [\"sh\", \"{{repo.root}}/launch.sh\"]\nexpose = \"all\"\nops.search.tool = \"find\"\n";
    let config = searching("alone", "expose = \"all\"") + launched;
    let place = place(&[("stubborn", STUBBORN), ("alone", STUBBORN)], &config);
    place.write("launch.sh", LAUNCHER);
    lives.in_env_of(place)
}

/// Both servers at work, one of them in the middle of a call: its id.
async fn at_work(agent: &mut McpClient, lives: &mut Lives) -> i64 {
    tools_until(agent, |tools| tools.len() == 2).await;
    assert_eq!(titles(&search(agent).await).len(), 2);
    let mut born = [lives.born().await, lives.born().await];
    born.sort_unstable();
    assert_eq!(born, ["alone.py", "stubborn.py"]);
    let call = json!({
        "name": "launched_find",
        "arguments": {"query": "hang"},
        "_meta": {"progressToken": 1},
    });
    let id = agent.start("tools/call", call);
    agent.notification("notifications/progress", |_| true).await;
    id
}

fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// `shutdown` and `exit`, for an agent the end of its input.
    Orderly,
    /// The end of the input alone.
    Input,
    Terminated,
    /// By a signal that nobody waits for, as Ctrl+C sends it.
    Interrupted,
    Killed,
}

#[tokio::test]
async fn nothing_is_left_of_an_agents_own_process() {
    for end in [End::Input, End::Terminated, End::Interrupted, End::Killed] {
        let mut lives = Lives::new().await;
        let place = stubborn(&lives);
        let mut agent = McpClient::spawn(&place, &[]);
        agent.initialize("2025-06-18").await;
        at_work(&mut agent, &mut lives).await;
        match end {
            End::Orderly | End::Input => {
                agent.close_input();
                assert_eq!(agent.exited().await, Some(0));
            }
            End::Terminated => {
                signal(agent.pid(), "TERM");
                assert_eq!(agent.exited().await, Some(0));
            }
            End::Interrupted => {
                signal(agent.pid(), "INT");
                agent.exited().await;
            }
            End::Killed => agent.kill().await,
        }
        lives.gone().await;
    }
}

async fn joined(place: &Fixture, lives: &mut Lives) -> (Client, McpClient) {
    let client = pair::editor(place).await;
    let mut agent = pair::agent(place).await;
    agent.until("kontext_status", json!({}), pair::joined).await;
    at_work(&mut agent, lives).await;
    (client, agent)
}

#[tokio::test]
async fn nothing_is_left_of_a_language_server() {
    for end in [
        End::Orderly,
        End::Input,
        End::Terminated,
        End::Interrupted,
        End::Killed,
    ] {
        let mut lives = Lives::new().await;
        let place = stubborn(&lives);
        let (mut client, agent) = joined(&place, &mut lives).await;
        // The agent alone would start servers of its own afterwards.
        drop(agent);
        match end {
            End::Orderly => assert_eq!(client.quit().await, Some(0)),
            End::Input => {
                client.close_input();
                assert_eq!(client.exited().await, Some(1));
            }
            End::Terminated | End::Interrupted => {
                let name = if matches!(end, End::Terminated) {
                    "TERM"
                } else {
                    "INT"
                };
                signal(client.pid(), name);
                client.exited().await;
            }
            End::Killed => client.kill().await,
        }
        lives.gone().await;
    }
}

/// A program that an op runs, with a child of its own; both ignore the request to end.
const PROGRAM: &str = r#"
from child import *

signal.signal(signal.SIGTERM, signal.SIG_IGN)
line = live()
if len(sys.argv) == 1:
    subprocess.Popen([sys.executable, PATH, "child"])
time.sleep(600)
"#;

#[tokio::test]
async fn nothing_is_left_of_a_program_that_an_op_runs() {
    let config = "[adapters.p]\ndriver = \"command\"\ncommand = [\"python3\", \"{{repo.root}}/program.py\"]\ntimeout_ms = 600000\nops.search = {}\n";
    for end in [End::Orderly, End::Input, End::Terminated, End::Killed] {
        let mut lives = Lives::new().await;
        let place = lives.in_env_of(place(&[], config));
        place.write("program.py", PROGRAM);
        let mut agent = McpClient::spawn(&place, &[]);
        agent.initialize("2025-06-18").await;
        let call = json!({"name": "kontext_search", "arguments": {"query": "q"}});
        let id = agent.start("tools/call", call);
        for _ in 0..2 {
            assert_eq!(lives.born().await, "program.py");
        }
        match end {
            // For a call that is a cancellation; the session goes on.
            End::Orderly => agent.notify("notifications/cancelled", json!({"requestId": id})),
            End::Input => agent.close_input(),
            End::Terminated => signal(agent.pid(), "TERM"),
            End::Interrupted => signal(agent.pid(), "INT"),
            End::Killed => agent.kill().await,
        }
        lives.gone().await;
        if matches!(end, End::Orderly) {
            agent.structured("kontext_status", json!({})).await;
        }
    }
}

#[tokio::test]
async fn an_adapter_that_is_switched_off_ends_its_server_and_no_other() {
    let mut lives = Lives::new().await;
    let place = stubborn(&lives);
    let mut agent = pair::agent(&place).await;
    let call = at_work(&mut agent, &mut lives).await;
    let config = std::fs::read_to_string(place.config_path("config.toml")).unwrap();
    let off = config.replace("ops.search.tool = \"find\"\n", "enabled = false\n");
    assert_ne!(config, off);
    place.write_config("config.toml", &off);
    lives.gone_one().await;
    let answer = agent.response(call).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    mentions(text_of(&answer["result"]), &["launched"]);
    tools_until(&mut agent, |tools| tools == ["alone_find"]).await;
    assert_eq!(titles(&search(&mut agent).await), ["Alpha", "Beta"]);
    assert_eq!(super::seen_of(&place, "alone", "initialize").len(), 1);
}
