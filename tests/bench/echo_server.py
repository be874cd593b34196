"""A small and fast MCP server on stdio: `echo` gives back its text. Standard library only."""

import json
import sys

TOOL = {
    "name": "echo",
    "description": "Gives the text back",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
    return {}


for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" in message and "method" in message:
        result = answer(message["method"], message.get("params"))
        frame = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        sys.stdout.buffer.write(frame.encode() + b"\n")
        sys.stdout.buffer.flush()
