#!/usr/bin/env python3
"""Measures kontext-ls beside a peer, in alternation on the same machine. Linux, standard library.

  lsp_bench.py --server KONTEXT-LS --peer TOMBI [--rounds 3] [--edits 100] [--lines 60 5000 50000]
               [--json FILE]

A session: start -> initialize -> open -> diagnostics -> EDITS single characters typed in the middle
of the file, each until its diagnostics are there -> 20 characters without waiting -> hover,
completion of a value and of a half-typed key, document symbols -> shutdown. Each server has one
session with pushed and one with pulled diagnostics for each size and round. The figure of a session
is its median; the figure in the table is the median over the rounds. A ratio compares the slower
mode of kontext-ls with the faster mode of the peer.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from client import Client, Gone, now
from generate import PLANTED, configuration

BURST = 20
REPEATS = 20
MODES = ("push", "pull")

# What is promised: (size or None for all, figure) -> at most this share of the peer's figure.
TARGETS = {
    (None, "start_ms"): 1.5,
    (60, "keystroke_ms"): 0.6,
    (5_000, "keystroke_ms"): 1 / 25,
    (50_000, "keystroke_ms"): 1 / 40,
    (50_000, "burst_ms"): 1 / 15,
    (50_000, "hover_ms"): 1.0,
    (50_000, "complete_value_ms"): 1.0,
    (50_000, "complete_key_ms"): 1.0,
    (50_000, "peak_mb"): 1 / 4,
}
MOST_PUBLISHES = 3

FIGURES = (
    "open_ms", "keystroke_ms", "keystroke_p99_ms", "burst_ms", "burst_publishes",
    "hover_ms", "complete_value_ms", "complete_key_ms", "symbols_ms", "peak_mb",
)


def capabilities(mode):
    document = {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "completion": {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}},
        "hover": {"contentFormat": ["markdown"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    }
    if mode == "pull":
        document["diagnostic"] = {"dynamicRegistration": True}
    return {
        "general": {"positionEncodings": ["utf-8", "utf-16"]},
        "workspace": {"workspaceFolders": True, "configuration": True},
        "textDocument": document,
    }


def initialize(command, folder, env, mode):
    client = Client(command, folder, env)
    params = {
        "processId": os.getpid(),
        "rootUri": folder.as_uri(),
        "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name}],
        "capabilities": capabilities(mode),
    }
    _, answered, result = client.request("initialize", params)
    return client, (answered - client.started) * 1e3, result["capabilities"]


class Session:
    """One open document in one server. The text is ASCII: bytes and UTF-16 units are the same."""

    def __init__(self, command, folder, env, mode, path):
        self.client, _, offered = initialize(command, folder, env, mode)
        self.pull = mode == "pull" and bool(offered.get("diagnosticProvider"))
        sync = offered.get("textDocumentSync")
        self.whole = (sync.get("change") if isinstance(sync, dict) else sync) == 1
        self.uri, self.text, self.version = path.as_uri(), path.read_text(), 1
        self.client.notify("initialized", {})

    def position(self, offset):
        return {
            "line": self.text.count("\n", 0, offset),
            "character": offset - self.text.rfind("\n", 0, offset) - 1,
        }

    def behind(self, text):
        """The offset behind an occurrence of `text` near the middle of the document."""
        at = self.text.find(text, len(self.text) // 2)
        at = at if at >= 0 else self.text.rfind(text)
        if at < 0:
            raise Gone(f"{text!r} is not in the document")
        return at + len(text)

    def open(self):
        document = {"uri": self.uri, "languageId": "toml", "version": 1, "text": self.text}
        return self.client.notify("textDocument/didOpen", {"textDocument": document})

    def typed(self, offset, text):
        """The message that says that `text` was typed at `offset`."""
        self.version += 1
        place = self.position(offset)
        self.text = self.text[:offset] + text + self.text[offset:]
        change = {"text": self.text} if self.whole else {"range": {"start": place, "end": place}, "text": text}
        params = {"textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [change]}
        return {"method": "textDocument/didChange", "params": params}

    def type(self, offset, text):
        return self.client.send_frame(self.client.frame(self.typed(offset, text)))

    def settled(self, sent, seconds=60):
        """Milliseconds from `sent` until the planted fault is reported for this version."""
        if self.pull:
            deadline = now() + seconds
            while now() < deadline:
                _, stamp, report = self.client.request("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})
                if self.planted((report or {}).get("items", [])):
                    return (stamp - sent) * 1e3
        else:
            stamp = self.client.until(self.newest, seconds)
            if stamp is not None:
                return (stamp - sent) * 1e3
        raise Gone("the planted fault was not reported")

    @staticmethod
    def planted(diagnostics):
        return any(PLANTED in one["message"] for one in diagnostics)

    def newest(self):
        for stamp, params in self.client.published:
            fits = params["uri"] == self.uri and params.get("version") in (None, self.version)
            if fits and self.planted(params["diagnostics"]):
                return stamp
        return None

    def burst(self, offset):
        """-> (milliseconds until the last state is reported, publishes)"""
        self.client.published.clear()
        # Made beforehand: between two characters there is nothing but the write.
        frames = [self.client.frame(self.typed(offset + step, "z")) for step in range(BURST)]
        first = min([self.client.send_frame(frame) for frame in frames])
        if self.pull:
            return self.settled(first), None
        try:
            self.settled(first, 30)
        except Gone:  # the last state was never reported: no time, but there is more to measure
            return None, len(self.client.published)
        # Nothing for a second: what was published last is what the person is left with.
        while True:
            count = len(self.client.published)
            if self.client.until(lambda: len(self.client.published) > count or None, 1) is None:
                break
        stamps = [stamp for stamp, params in self.client.published if params["uri"] == self.uri]
        return (stamps[-1] - first) * 1e3, len(stamps)

    def ask(self, method, place=None):
        params = {"textDocument": {"uri": self.uri}}
        if place is not None:
            params["position"] = place
        took = []
        for _ in range(REPEATS):
            sent, answered, result = self.client.request(method, params)
            took.append((answered - sent) * 1e3)
        return statistics.median(took), result


def percentile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def measure(command, folder, env, mode, path, edits):
    """The figures of one session, and what was answered to the questions (for a look)."""
    session = Session(command, folder, env, mode, path)
    figures, notes = {}, {}
    try:
        session.client.until(lambda: None, 0.5)  # an editor's user is slower than that
        session.client.published.clear()
        try:
            figures["open_ms"] = session.settled(session.open(), 15)
        except Gone as fault:  # a server that loads its schema late reports with the next edit
            notes["open"] = str(fault)

        at, took = session.behind('description = "'), []
        for step in range(edits):
            session.client.published.clear()
            took.append(session.settled(session.type(at + step, "abcdefghij"[step % 10])))
        figures["keystroke_ms"] = statistics.median(took)
        figures["keystroke_p99_ms"] = percentile(took, 0.99)
        figures["burst_ms"], figures["burst_publishes"] = session.burst(at + edits)

        value = session.behind('driver = "')
        key = session.position(value - len('driver = "') + 1)
        figures["hover_ms"], answer = session.ask("textDocument/hover", key)
        notes["hover"] = answer is not None
        figures["complete_value_ms"], answer = session.ask("textDocument/completion", session.position(value))
        notes["complete_value"] = labels(answer)
        figures["symbols_ms"], answer = session.ask("textDocument/documentSymbol")
        notes["symbols"] = len(answer or [])
        at = session.behind("enabled = true\n")
        session.type(at, "t\n")
        figures["complete_key_ms"], answer = session.ask("textDocument/completion", session.position(at + 1))
        notes["complete_key"] = labels(answer)
        figures["peak_mb"] = session.client.peak_mb()
    except Gone as fault:
        notes["fault"] = str(fault)
    finally:
        session.client.quit()
    return figures, notes


def labels(answer):
    items = answer.get("items", []) if isinstance(answer, dict) else answer or []
    return [item["label"] for item in items][:12]


def starts(commands, folder, env, times):
    """Milliseconds from start to the answer to `initialize`, the servers in turn."""
    took = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            client, ms, _ = initialize(command, folder, env, "push")
            client.quit()
            took[name].append(ms)
    return {name: statistics.median(values) for name, values in took.items()}


def prepare(scratch, server, lines):
    """A repository with one configuration of each size, and an environment of its own."""
    env = {"PATH": os.environ.get("PATH", ""), "HOME": str(scratch / "home"), "LC_ALL": "C.UTF-8"}
    for name, folder in (("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "tmp"), ("KONTEXT_CONFIG_DIR", "config")):
        env[name] = str(scratch / folder)
    for folder in ("home", "run", "tmp", "config"):
        (scratch / folder).mkdir(mode=0o700)
    schema = subprocess.run([server, "schema"], env=env, check=True, capture_output=True).stdout
    folders = {}
    for size in lines:
        folder = scratch / f"work-{size}"
        for part in ("objects", "refs"):
            (folder / ".git" / part).mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        (folder / "schema.json").write_bytes(schema)
        (folder / ".kontext.toml").write_text(configuration(size, "./schema.json"))
        folders[size] = folder
    return env, folders


def median(runs, figure):
    values = [run[figure] for run in runs if run.get(figure) is not None]
    return statistics.median(values) if values else None


def number(value):
    return "-" if value is None else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def share(ratio):
    return f"{ratio:.2f}x" if ratio >= 0.1 else f"1/{1 / ratio:.0f}"


def judge(ours, theirs, target):
    if not ours or not theirs:
        return "-", "-"
    ratio = ours / theirs
    if target is None:
        return share(ratio), ""
    return share(ratio), f"{'met' if ratio <= target else 'MISSED'}: <= {share(target)}"


ROW = "{:>7}  {:<18}{:>13}{:>13}{:>12}{:>12}{:>10}  {}"


def table(results, start, lines):
    print(ROW.format("lines", "figure", "kontext push", "kontext pull", "peer push", "peer pull", "ratio", "target"))
    ratio, verdict = judge(start["kontext"], start["peer"], TARGETS[(None, "start_ms")])
    print(ROW.format("-", "start_ms", number(start["kontext"]), "", number(start["peer"]), "", ratio, verdict))
    for size in lines:
        for figure in FIGURES:
            cells = {(name, mode): median(results[size, name, mode], figure) for name in ("kontext", "peer") for mode in MODES}
            have = lambda name: [cells[name, mode] for mode in MODES if cells[name, mode] is not None]
            ours, theirs = max(have("kontext"), default=None), min(have("peer"), default=None)
            if figure == "burst_publishes":
                ratio, verdict = "", "" if ours is None else f"{'met' if ours <= MOST_PUBLISHES else 'MISSED'}: <= {MOST_PUBLISHES}"
            else:
                ratio, verdict = judge(ours, theirs, TARGETS.get((size, figure)))
            columns = [number(cells[name, mode]) for name in ("kontext", "peer") for mode in MODES]
            print(ROW.format(size, figure, *columns, ratio, verdict))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the release build of kontext-ls")
    parser.add_argument("--peer", required=True, help="tombi")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--edits", type=int, default=100)
    parser.add_argument("--lines", type=int, nargs="+", default=[60, 5_000, 50_000])
    parser.add_argument("--json", help="also write every session's figures to this file")
    options = parser.parse_args()
    # By absolute path, so that no launcher of a version manager is measured.
    found = {name: shutil.which(given) for name, given in (("kontext", options.server), ("peer", options.peer))}
    for name, program in found.items():
        if program is None:
            sys.exit(f"{name}: no such program")
    commands = {"kontext": [str(Path(found["kontext"]).resolve())], "peer": [os.path.abspath(found["peer"]), "lsp"]}

    with tempfile.TemporaryDirectory(prefix="kontext-bench-") as scratch:
        scratch = Path(scratch).resolve()
        env, folders = prepare(scratch, commands["kontext"][0], options.lines)
        start = starts(commands, folders[options.lines[0]], env, 5 * options.rounds)
        results = {(size, name, mode): [] for size in options.lines for name in commands for mode in MODES}
        record = []
        for turn in range(options.rounds):
            for size in options.lines:
                # Typing a hundred characters into a big file takes a slow server minutes.
                edits = options.edits if size <= 10_000 else min(options.edits, 30)
                for mode in MODES:
                    for name, command in commands.items():
                        path = folders[size] / ".kontext.toml"
                        figures, notes = measure(command, folders[size], env, mode, path, edits)
                        results[size, name, mode].append(figures)
                        record.append({"round": turn, "lines": size, "name": name, "mode": mode, **figures, "notes": notes})
                        if "fault" in notes:
                            print(f"{name}, {size} lines, {mode}: {notes['fault']}", file=sys.stderr)
    table(results, start, options.lines)
    if options.json:
        Path(options.json).write_text(json.dumps({"start_ms": start, "sessions": record}, indent=1) + "\n")
    if any("fault" in one["notes"] and one["name"] == "kontext" for one in record):
        sys.exit(1)


if __name__ == "__main__":
    main()
