//! Servers over HTTP.

use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{agent, place, search, titles};

/// Answers every request as an event stream, framed as oddly as is allowed. Prints its port.
const STREAM: &str = r#"
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL = {"name": "find", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}
HIT = {"title": "žltý kôň 🐴", "summary": "a\u2028b", "url": "sse://1"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def head(self, status, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def do_GET(self):
        self.head(405, Content_Length="0")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            return self.head(202, Content_Length="0")
        result = {
            "initialize": lambda: {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stream", "version": "1"},
            },
            "tools/list": lambda: {"tools": [TOOL]},
            "tools/call": lambda: {"content": [], "structuredContent": {"results": [HIT]}},
        }[message["method"]]()
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        answer = json.dumps(answer, ensure_ascii=False, indent=1).split("\n")
        progress = {"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": "nobody", "progress": 1}}
        lines = [": still here", "", "event: message", "id: 1", "retry: 10",
                 "data:" + json.dumps(progress), "", "id: 2", "event: message",
                 *("data: " + line for line in answer), "", ": bye", ""]
        data = "".join(line + "\r\n" for line in lines).encode()
        self.head(200, Content_Type="text/event-stream; charset=utf-8", Transfer_Encoding="chunked")
        for at in range(0, len(data), 7):
            piece = data[at:at + 7]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"#;

#[tokio::test]
async fn an_event_stream_may_be_framed_in_any_way_that_is_allowed() {
    let mut server = tokio::process::Command::new("python3")
        .args(["-c", STREAM])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut port = String::new();
    let mut lines = BufReader::new(server.stdout.take().unwrap());
    lines.read_line(&mut port).await.unwrap();
    let config = "[adapters.sse]\ndriver = \"mcp\"\nurl = \"http://127.0.0.1:{{env.PORT}}/mcp\"\ntimeout_ms = 60000\nops.search.tool = \"find\"\n";
    let place = place(&[], config).env("PORT", port.trim());
    let mut agent = agent(&place).await;
    for _ in 0..2 {
        let found = search(&mut agent).await;
        assert_eq!(titles(&found), ["žltý kôň 🐴"], "{found}");
        let hit = &found["hits"][0];
        assert_eq!(hit["uri"], "sse://1");
        assert!(
            ["a b", "a\u{2028}b"].contains(&hit["snippet"].as_str().unwrap()),
            "{hit}"
        );
    }
    let start = json!({"adapter": "sse"});
    let spawned = agent.structured("kontext_spawn", start).await;
    assert_eq!(spawned["tools"][0]["name"], "find");
}
