"""Measures what kontext-ls adds to a tool call, beside a direct one, in one run. Linux.

  mcp_bench.py --server KONTEXT-LS --bare BARE-PROXY [--peer MCP-PROXY] [--rounds 5] [--calls 2000]
               [--json FILE]

All of them call `echo` of the same server (echo_server.py):

  direct   the server itself
  bare     a proxy that does nothing but pass calls on with rmcp (bare-proxy/)
  alone    `kontext-ls mcp` without a language server
  joined   `kontext-ls mcp` joined to a language server
  peer     PyPI mcp-proxy over streamable HTTP, where it is given

A round is one session of each, in turn: calls one after the other, then as many with 64 in flight.
The figure of a session is its median; the figure in the table is the median over the rounds.
Besides: a merged search over three HTTP services of which the slowest takes 100 ms, and `tools/list`
at once after the start with 50 servers configured.
"""

import argparse
import http.client
import http.server
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ECHO = [sys.executable, str(HERE / "echo_server.py")]
IN_FLIGHT = 64
GATES = "[companion]\nallow_write = true\nallow_external_call = true\n"


class Session:
    """An MCP session over pipes."""

    def __init__(self, command, env):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
        )
        self.ids = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", hello)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def frame(self, method, params):
        self.ids += 1
        message = {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}
        return self.ids, json.dumps(message).encode() + b"\n"

    def answer(self):
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("a server closed its output")
            message = json.loads(line)
            if "method" not in message:
                return message

    def ask(self, method, params):
        wanted, frame = self.frame(method, params)
        self.process.stdin.write(frame)
        self.process.stdin.flush()
        message = self.answer()
        assert message["id"] == wanted and "result" in message, message
        return message["result"]

    def tool(self, name, seconds=20):
        """Waits until the tool is offered; its name as it is offered."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for tool in self.ask("tools/list", {})["tools"]:
                if tool["name"] == name or tool["name"].endswith("_" + name):
                    return tool["name"]
            time.sleep(0.05)
        raise SystemExit(f"{name} is not offered")

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


class HttpSession:
    """An MCP session with a proxy that serves streamable HTTP; one call after the other."""

    def __init__(self, command):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        words = [command, "--port", str(self.port), "--", *ECHO]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        end = time.monotonic() + 30
        while True:
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
                self.connection.connect()
                break
            except OSError:
                if time.monotonic() > end:
                    raise SystemExit("the peer does not listen")
                time.sleep(0.05)
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.ids = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.ask("initialize", hello)
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message):
        self.connection.request("POST", "/mcp", json.dumps(message), self.headers)
        response = self.connection.getresponse()
        session = response.getheader("mcp-session-id")
        if session:
            self.headers["Mcp-Session-Id"] = session
        return response.read()

    def ask(self, method, params):
        self.ids += 1
        body = self.post({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params})
        data = [line[5:] for line in body.split(b"\n") if line.startswith(b"data:")]
        message = json.loads(data[-1] if data else body)
        assert "result" in message, message
        return message["result"]

    def tool(self, name):
        return name

    def close(self):
        self.process.terminate()
        self.process.wait(10)


def calls(session, count):
    """-> (microseconds of a call, calls a second with 64 in flight or None)"""
    name = session.tool("echo")
    params = {"name": name, "arguments": {"text": "x"}}
    for _ in range(100):
        session.ask("tools/call", params)
    took = []
    for _ in range(count):
        began = time.perf_counter()
        session.ask("tools/call", params)
        took.append((time.perf_counter() - began) * 1e6)
    if isinstance(session, HttpSession):
        return statistics.median(took), None
    frames = [session.frame("tools/call", params)[1] for _ in range(count * 2)]
    began = time.perf_counter()
    session.process.stdin.write(b"".join(frames[:IN_FLIGHT]))
    session.process.stdin.flush()
    sent = IN_FLIGHT
    for _ in range(len(frames)):
        assert "result" in session.answer()
        if sent < len(frames):
            session.process.stdin.write(frames[sent])
            session.process.stdin.flush()
            sent += 1
    return statistics.median(took), len(frames) / (time.perf_counter() - began)


class Place:
    """A work tree and a personal folder of their own."""

    def __init__(self, scratch, name, config):
        self.root = scratch / name
        self.root.mkdir()
        subprocess.run(["git", "init", "--quiet", str(self.root)], check=True)
        home = scratch / f"{name}-config"
        home.mkdir()
        (home / "config.toml").write_text(GATES + config)
        run = scratch / f"{name}-run"
        run.mkdir(mode=0o700)
        self.env = dict(os.environ, KONTEXT_CONFIG_DIR=str(home), XDG_RUNTIME_DIR=str(run), TMPDIR=str(run))


def language_server(server, place):
    process = subprocess.Popen(
        [server, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=place.env
    )
    folder = {"uri": place.root.as_uri(), "name": "bench"}
    for message in (
        {"id": 1, "method": "initialize", "params": {
            "processId": None, "rootUri": place.root.as_uri(), "capabilities": {}, "workspaceFolders": [folder]}},
        {"method": "initialized", "params": {}},
    ):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.flush()
    return process


def joined(session):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        status = session.ask("tools/call", {"name": "kontext_status", "arguments": {}})
        if status["structuredContent"]["editor"]:
            return
        time.sleep(0.05)
    raise SystemExit("the agent did not join the language server")


def array(words):
    return json.dumps([str(word) for word in words])


class Slow(http.server.BaseHTTPRequestHandler):
    """A service that answers after as many milliseconds as its path says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(int(self.path.split("/")[1]) / 1e3)
        body = b'[{"title": "one"}]'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def search_overhead(server, scratch):
    """-> milliseconds that a merged search takes over its slowest source"""
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    port = service.server_address[1]
    sources = "".join(
        f'[adapters.s{pause}]\ndriver = "http"\nbase_url = "http://127.0.0.1:{port}"\n'
        f'[adapters.s{pause}.ops.search]\npath = "{pause}"\n'
        for pause in (1, 50, 100)
    )
    place = Place(scratch, "search", sources)
    session = Session([server, "mcp", "--dir", str(place.root)], place.env)
    session.tool("kontext_search")
    direct = http.client.HTTPConnection("127.0.0.1", port)
    took, slowest = [], []
    for _ in range(15):
        began = time.perf_counter()
        session.ask("tools/call", {"name": "kontext_search", "arguments": {"query": "x"}})
        took.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        direct.request("GET", "/100/")
        direct.getresponse().read()
        slowest.append((time.perf_counter() - began) * 1e3)
    session.close()
    return statistics.median(took) - statistics.median(slowest)


def first_list(server, scratch):
    """-> milliseconds from `initialize` answered to the first list of tools, 50 servers configured"""
    pause = "import time; time.sleep(30)"
    servers = "".join(
        f'[adapters.c{n}]\ndriver = "mcp"\ncommand = {array([sys.executable, "-c", pause])}\nexpose = "all"\n'
        for n in range(50)
    )
    place = Place(scratch, "children", servers)
    session = Session([server, "mcp", "--dir", str(place.root)], place.env)
    began = time.perf_counter()
    session.ask("tools/list", {})
    first = (time.perf_counter() - began) * 1e3
    began = time.perf_counter()
    session.ask("tools/list", {})
    second = (time.perf_counter() - began) * 1e3
    session.close()
    return first, second


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the release build of kontext-ls")
    parser.add_argument("--bare", required=True, help="the release build of bare-proxy")
    parser.add_argument("--peer", help="mcp-proxy")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--json", help="also write the figures of every round to this file")
    options = parser.parse_args()
    server = str(pathlib.Path(options.server).resolve())
    echo = f'[adapters.e]\ndriver = "mcp"\ncommand = {array(ECHO)}\nexpose = "all"\n'
    figures = {}
    with tempfile.TemporaryDirectory(prefix="kontext-bench-") as scratch:
        scratch = pathlib.Path(scratch)
        alone, shared = Place(scratch, "alone", echo), Place(scratch, "joined", echo)
        editor = language_server(server, shared)
        contenders = {
            "direct": (ECHO, None),
            "bare": ([options.bare, *ECHO], None),
            "alone": ([server, "mcp", "--dir", str(alone.root)], alone.env),
            "joined": ([server, "mcp", "--dir", str(shared.root)], shared.env),
        }
        if options.peer:
            contenders["peer"] = (options.peer, None)
        for _ in range(options.rounds):
            for name, (command, env) in contenders.items():
                session = HttpSession(command) if name == "peer" else Session(command, env)
                if name == "joined":
                    joined(session)
                figures.setdefault(name, []).append(calls(session, options.calls))
                session.close()
        editor.stdin.close()
        editor.wait(10)
        overhead = search_overhead(server, scratch)
        first, second = first_list(server, scratch)
    def median(column):
        return None if None in column else statistics.median(column)

    table = {name: [median(column) for column in zip(*rows)] for name, rows in figures.items()}
    bare_call, bare_rate = table["bare"]
    goals = {"alone": (1.3, 0.8), "joined": (1.7, 0.8)}
    print(f"{'':8} {'µs a call':>10} {'to bare':>9} {'a second, 64 in flight':>24} {'to bare':>9}  targets")
    for name, (call, rate) in table.items():
        goal = ""
        if name in goals:
            most, least = goals[name]
            well = call <= most * bare_call and rate >= least * bare_rate
            goal = f"{'met' if well else 'MISSED'}: <= {most}x, >= {least}x"
        many = f"{'-':>24} {'-':>9}" if rate is None else f"{rate:24.0f} {rate / bare_rate:8.2f}x"
        print(f"{name:8} {call:10.0f} {call / bare_call:8.2f}x {many}  {goal}")
    if "peer" in table:
        times = table["peer"][0] / table["alone"][0]
        print(f"ahead of the peer by {times:.1f}x  {'met' if times >= 5 else 'MISSED'}: >= 5x")
    print(f"merged search: its slowest source + {overhead:.1f} ms  {'met' if overhead <= 2 else 'MISSED'}: <= 2 ms")
    print(f"50 servers that do not answer: first list after {first:.0f} ms, the next after {second:.1f} ms")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
