"""A small MCP client on stdio, as an agent is one: it keeps results as they come, as JSON."""

import json
import pathlib
import queue
import subprocess
import threading

PATIENCE = 60
PROTOCOL = "2025-06-18"


class Refused(Exception):
    """The error of a JSON-RPC answer."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.error = error


class Session:
    """One server process and what it says. Leaving the `with` ends it: by the end of its input, or
    with a signal where `patient` is false."""

    def __init__(self, command, env, cwd, patient=True):
        self._patient = patient
        self.process = subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self.root = cwd
        self._lock = threading.Lock()
        self._last = 0
        self._answers = {}
        self.notifications = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.about = self.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                # As kontext-ls says of itself: some servers offer tools by it.
                "capabilities": {"roots": {"listChanged": True}},
                "clientInfo": {"name": "kontext-ls-tests", "version": "1"},
            },
        )
        self.notify("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._lock:
            self.process.stdin.close()
        if not self._patient:
            self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(PATIENCE)

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], **self._reply(message["method"])})
                else:
                    self.notifications.put(message)
            else:
                self._slot(message.get("id")).put(message)
        # Whoever still waits is told.
        with self._lock:
            for slot in self._answers.values():
                slot.put(None)

    def _reply(self, method):
        if method == "ping":
            return {"result": {}}
        if method == "roots/list":
            return {"result": {"roots": [{"uri": pathlib.Path(self.root).as_uri()}]}}
        return {"error": {"code": -32601, "message": "not offered"}}

    def _slot(self, number):
        with self._lock:
            return self._answers.setdefault(number, queue.Queue())

    def _send(self, message):
        line = json.dumps({"jsonrpc": "2.0", **message})
        with self._lock:
            if not self.process.stdin.closed:
                self.process.stdin.write(line + "\n")
                self.process.stdin.flush()

    def notify(self, method, params=None):
        self._send({"method": method, **({"params": params} if params else {})})

    def begin(self, method, params=None):
        """Sends a request; the number it is told by."""
        self._last += 1
        self._slot(self._last)
        self._send({"id": self._last, "method": method, "params": params or {}})
        return self._last

    def result(self, number, patience=PATIENCE):
        """Waits for the answer to a request; its result."""
        try:
            message = self._slot(number).get(timeout=patience)
        except queue.Empty:
            raise TimeoutError(f"no answer to request {number}") from None
        if message is None:
            raise EOFError("the server has ended")
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def answered(self, number):
        """Whether an answer to a request has come already."""
        return not self._slot(number).empty()

    def request(self, method, params=None):
        return self.result(self.begin(method, params))

    def call(self, tool, arguments=None, meta=None):
        params = {"name": tool, "arguments": arguments or {}}
        if meta:
            params["_meta"] = meta
        return self.request("tools/call", params)

    def tools(self):
        """All tools by name, over all pages."""
        found, cursor = {}, None
        while True:
            page = self.request("tools/list", {"cursor": cursor} if cursor else {})
            found.update((tool["name"], tool) for tool in page["tools"])
            cursor = page.get("nextCursor")
            if not cursor:
                return found

    def awaited(self, method):
        """Waits for a notification; its params."""
        while True:
            message = self.notifications.get(timeout=PATIENCE)
            if message["method"] == method:
                return message.get("params", {})


def text_of(result):
    """All text blocks of a tool's result."""
    blocks = result.get("content", [])
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")
