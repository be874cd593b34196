//! The real binary as a process: its shell, its exit codes, and what it survives.

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::harness::{Client, Fixture, PATIENCE};

fn spawn(command: std::process::Command) -> Child {
    Command::from(command).kill_on_drop(true).spawn().unwrap()
}

async fn code(mut child: Child) -> Option<i32> {
    tokio::time::timeout(PATIENCE, child.wait())
        .await
        .unwrap()
        .unwrap()
        .code()
}

#[test]
fn version_and_help_go_to_standard_output() {
    let place = Fixture::new(&[]);
    let (code, out, err) = place.run(&["--version"]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(out, format!("kontext-ls {}\n", env!("CARGO_PKG_VERSION")));
    let (code, out, err) = place.run(&["--help"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for command in ["lsp", "mcp", "check", "adapters", "schema", "fmt", "tour"] {
        assert!(out.contains(command), "{out}");
    }
    assert!(!out.contains('\x1b'), "colour without a terminal: {out}");
}

#[test]
fn a_wrong_command_line_is_code_2_on_standard_error() {
    let place = Fixture::new(&[]);
    for args in [
        &["chek"][..],
        &["--port", "99999"],
        &["lsp", "--port", "1", "--pipe", "x"],
        &["check", "--format", "yaml"],
    ] {
        let (code, out, err) = place.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains("error"), "{args:?}: {err}");
        assert!(!err.contains('\x1b'), "{args:?}: {err}");
    }
    let (_, _, err) = place.run(&["chek"]);
    assert!(err.contains("'check'"), "no near name: {err}");
}

#[test]
fn an_editor_that_cannot_be_reached_is_code_2() {
    let place = Fixture::new(&[]);
    let (code, out, err) = place.run(&["lsp", "--pipe", "no-such-socket"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("no-such-socket"), "{err}");
}

#[tokio::test]
async fn exit_after_shutdown_is_code_0() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    let result = client.initialize(json!({})).await;
    assert_eq!(result["serverInfo"]["name"], "kontext-ls");
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn without_a_command_it_is_the_language_server() {
    let place = Fixture::new(&[]);
    for args in [&[][..], &["--stdio"], &["lsp", "--stdio"]] {
        let mut client = Client::spawn_command(place.command(args));
        client.initialize(json!({})).await;
        assert_eq!(client.quit().await, Some(0));
    }
}

#[tokio::test]
async fn shutdown_with_null_params_is_a_shutdown() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    client.initialize(json!({})).await;
    client.send(&json!({"jsonrpc": "2.0", "id": "s", "method": "shutdown", "params": null}));
    assert_eq!(client.response("s").await["result"], Value::Null);
    client.notify("exit", Value::Null);
    assert_eq!(client.exited().await, Some(0));
}

#[tokio::test]
async fn exit_without_shutdown_is_code_1() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    client.initialize(json!({})).await;
    client.notify("exit", Value::Null);
    assert_eq!(client.exited().await, Some(1));

    let mut client = Client::spawn(&place);
    client.notify("exit", Value::Null);
    assert_eq!(client.exited().await, Some(1));
}

#[tokio::test]
async fn the_end_of_input_ends_it() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    client.initialize(json!({})).await;
    client.close_input();
    assert_eq!(client.exited().await, Some(1));

    let mut client = Client::spawn(&place);
    client.initialize(json!({})).await;
    client.request("shutdown", Value::Null).await;
    client.close_input();
    assert_eq!(client.exited().await, Some(0));

    // In the middle of a message, and before any.
    for start in ["", "Content-Length: 100\r\n\r\n{\"jsonrpc\""] {
        let mut client = Client::spawn(&place);
        client.send_raw(start.as_bytes());
        client.close_input();
        assert_eq!(client.exited().await, Some(1));
    }
}

#[tokio::test]
async fn requests_sent_before_the_end_of_input_are_answered() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    let id = client.start("initialize", json!({"capabilities": {}}));
    client.close_input();
    assert_eq!(
        client.response(id).await["result"]["serverInfo"]["name"],
        "kontext-ls"
    );
    assert_eq!(client.exited().await, Some(1));
}

#[tokio::test]
async fn garbage_is_answered_and_survived() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    client.send_raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(client.response(Value::Null).await["error"]["code"], -32700);
    client.send_body(b"{\"jsonrpc\":\"2.0\",\"method\":");
    assert_eq!(client.response(Value::Null).await["error"]["code"], -32700);
    client.send_body(b"\xff\xfe");
    assert_eq!(client.response(Value::Null).await["error"]["code"], -32700);
    client.send_body(b"[1]");
    assert_eq!(client.response(Value::Null).await["error"]["code"], -32600);
    client.send_raw(b"Content-Length: 99999999999999\r\n\r\n");
    assert_eq!(client.response(Value::Null).await["error"]["code"], -32700);
    client.initialize(json!({})).await;
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn before_initialize_requests_are_refused() {
    let place = Fixture::new(&[]);
    let mut client = Client::spawn(&place);
    let refusal = client.ask("textDocument/hover", json!({})).await;
    assert_eq!(refusal["error"]["code"], -32002);
    client.initialize(json!({})).await;
    assert_eq!(client.quit().await, Some(0));
}

#[tokio::test]
async fn it_connects_to_a_port() {
    let place = Fixture::new(&[]);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0))
        .await
        .unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let child = spawn(place.command(&["lsp", "--port", &port]));
    let (stream, _) = listener.accept().await.unwrap();
    let mut client = Client::over(stream);
    client.initialize(json!({})).await;
    client.request("shutdown", Value::Null).await;
    client.notify("exit", Value::Null);
    client.closed().await;
    assert_eq!(code(child).await, Some(0));
}

#[cfg(unix)]
#[tokio::test]
async fn it_connects_to_a_pipe() {
    let place = Fixture::new(&[]);
    let listener = tokio::net::UnixListener::bind(place.path("editor.sock")).unwrap();
    let child = spawn(place.command(&["--pipe=editor.sock"]));
    let (stream, _) = listener.accept().await.unwrap();
    let mut client = Client::over(stream);
    client.initialize(json!({})).await;
    client.close_input();
    assert_eq!(code(child).await, Some(1));
}

/// Node.js, and so VS Code, gives its children sockets for standard input and output.
#[cfg(unix)]
#[tokio::test]
async fn stdio_may_be_sockets_or_files() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let place = Fixture::new(&[]);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = place.command(&["lsp"]);
    command
        .stdin(OwnedFd::from(theirs.try_clone().unwrap()))
        .stdout(OwnedFd::from(theirs));
    let child = spawn(command);
    ours.set_nonblocking(true).unwrap();
    let mut client = Client::over(tokio::net::UnixStream::from_std(ours).unwrap());
    client.initialize(json!({})).await;
    client.request("shutdown", Value::Null).await;
    client.notify("exit", Value::Null);
    client.closed().await;
    assert_eq!(code(child).await, Some(0));

    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    place.write(
        "in",
        &format!("Content-Length: {}\r\n\r\n{body}", body.len()),
    );
    let input = std::fs::File::open(place.path("in")).unwrap();
    let output = std::fs::File::create(place.path("out")).unwrap();
    let status = place
        .command(&["lsp"])
        .stdin(input)
        .stdout(output)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
    assert!(
        place.read("out").contains("\"serverInfo\""),
        "{}",
        place.read("out")
    );
}
