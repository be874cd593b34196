"""A language client for measurements: one thread, no waiting in Python while a server works.

A message is stamped when its last byte has been read, before its JSON is looked at; sending is
stamped before its first byte is written, and after its JSON has been made.
"""

import json
import os
import selectors
import subprocess
import time

now = time.perf_counter


class Gone(Exception):
    """The server closed its output, or did not answer in time."""


class Client:
    def __init__(self, command, cwd, env):
        self.started = now()
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.input = self.process.stdin.fileno()
        self.output = self.process.stdout.fileno()
        for pipe in (self.input, self.output):
            os.set_blocking(pipe, False)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.output, selectors.EVENT_READ)
        self.unread, self.unsent, self.writing = bytearray(), bytearray(), False
        self.last_id = 0
        self.replies = {}
        self.published = []  # (time, params) of every publish since the last clear

    # -- the wire

    @staticmethod
    def frame(message):
        body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    def _send(self, message):
        return self.send_frame(self.frame(message))

    def send_frame(self, data):
        """-> when sending began"""
        sent = now()
        self.unsent += data
        if not self.writing:  # else an answer to the server, while a long message is under way
            self._flush(sent + 60)
        return sent

    def _flush(self, deadline):
        self.writing = True
        try:
            while self.unsent:
                try:
                    del self.unsent[: os.write(self.input, self.unsent)]
                except BlockingIOError:
                    # The pipe is full: read meanwhile, or both sides could wait for each other.
                    self._wait_writable(deadline)
                except BrokenPipeError as fault:
                    raise Gone("the server closed its input") from fault
        finally:
            self.writing = False

    def _wait_writable(self, deadline):
        self.selector.register(self.input, selectors.EVENT_WRITE)
        try:
            ready = self.selector.select(max(0, deadline - now()))
        finally:
            self.selector.unregister(self.input)
        if not ready:
            raise Gone("the server does not read its input")
        if any(key.fd == self.output for key, _ in ready):
            self._read()

    def _read(self):
        try:
            data = os.read(self.output, 1 << 20)
        except BlockingIOError:
            return
        stamp = now()
        if not data:
            raise Gone("the server closed its output")
        self.unread += data
        while True:
            end = self.unread.find(b"\r\n\r\n")
            if end < 0:
                return
            headers = bytes(self.unread[:end]).lower().split(b"\r\n")
            length = next(int(one.split(b":")[1]) for one in headers if one.startswith(b"content-length"))
            if len(self.unread) < end + 4 + length:
                return
            body = bytes(self.unread[end + 4 : end + 4 + length])
            del self.unread[: end + 4 + length]
            self._take(stamp, json.loads(body))

    def _take(self, stamp, message):
        method = message.get("method")
        if method is None:
            self.replies[message["id"]] = (stamp, message)
        elif "id" in message:
            result = None
            if method == "workspace/configuration":
                result = [None] * len(message["params"]["items"])
            self._send({"id": message["id"], "result": result})
        elif method == "textDocument/publishDiagnostics":
            self.published.append((stamp, message["params"]))

    def until(self, condition, seconds):
        """Reads until `condition()` gives something; None after `seconds`."""
        deadline = now() + seconds
        while True:
            found = condition()
            if found is not None:
                return found
            left = deadline - now()
            if left <= 0:
                return None
            if self.selector.select(left):
                self._read()

    # -- messages

    def notify(self, method, params):
        return self._send({"method": method, "params": params})

    def request(self, method, params=None, seconds=60):
        """-> (when sent, when answered, result)"""
        self.last_id += 1
        wanted = self.last_id
        message = {"id": wanted, "method": method}
        if params is not None:
            message["params"] = params
        sent = self._send(message)
        reply = self.until(lambda: self.replies.pop(wanted, None), seconds)
        if reply is None:
            raise Gone(f"no answer to {method}")
        stamp, message = reply
        if "error" in message:
            raise Gone(f"{method}: {message['error']}")
        return sent, stamp, message.get("result")

    def peak_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

    def quit(self):
        try:
            self.request("shutdown", seconds=5)
            self.notify("exit", None)
            self.process.wait(5)
        except (Gone, subprocess.TimeoutExpired):
            pass
        finally:
            self.process.kill()
            self.process.wait()
            self.selector.close()
            self.process.stdin.close()
            self.process.stdout.close()
