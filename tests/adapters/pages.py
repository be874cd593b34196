"""Plays the pages of docs/walkthroughs as a reader would who does everything in them.

What a page may hold, so that it can be played:

- a line that ends with a path in backticks and a colon, before a code block: the block is that
  file of the repository; named again, it is continued;
- a block `console`: lines that begin with `$ ` are run, the lines behind one are what it prints.
  `export NAME=VALUE` sets a variable for the rest of the page, `COMMAND &` runs on until its end;
- a block whose first line is `> TOOL {ARGUMENTS}`: an agent's call; the rest is its answer.

In what is printed, `…` stands for any text on a line, a line with nothing else for any lines.
"""

import contextlib
import json
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import threading

from client import PATIENCE, Refused, text_of
from place import Place

PAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "walkthroughs"
NAMED = re.compile(r"`([^`]+)`:$")
# The port that pages write; another may be free where they are played.
PORT = "8765"


def pages(checks, server):
    found = sorted(PAGES.glob("*.md"))
    checks.ok("there are walkthroughs", found)
    for page in found:
        with checks.part(f"docs/walkthroughs/{page.name}"), Place(server, "page") as place:
            for file in PAGES.glob("*.py"):
                shutil.copy(file, place.work)
            text = page.read_text(encoding="utf-8")
            with socket.create_server(("127.0.0.1", 0)) as free:
                text = text.replace(PORT, str(free.getsockname()[1]))
            with contextlib.ExitStack() as running:
                played = [play(checks, place, running, *block) for block in blocks(text)]
            kinds = {kind for kind in played if kind}
            checks.same("it writes files, runs commands and shows an agent", kinds, {"file", "console", "agent"})


def blocks(text):
    """The code blocks of a page: `(what stands before, language, lines)`."""
    before, language, block = "", None, []
    for line in text.splitlines():
        if line.startswith("```"):
            if language is None:
                language, block = line[3:].strip(), []
            else:
                yield before, language, block
                before, language = "", None
        elif language is not None:
            block.append(line)
        elif line.strip():
            before = line.strip()
    if language is not None:
        raise RuntimeError("a code block is not closed")


def play(checks, place, running, before, language, block):
    named = NAMED.search(before)
    if named:
        path = place.work / named[1]
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            if file.tell():
                file.write("\n")
            file.write("\n".join(block) + "\n")
        return "file"
    if language == "console":
        for command, wanted in commands(block):
            run(checks, place, running, command, wanted)
        return "console"
    if block and block[0].startswith("> "):
        tool, _, arguments = block[0][2:].partition(" ")
        with place.agent() as agent:
            try:
                seen = text_of(agent.call(tool, json.loads(arguments or "{}")))
            except Refused as refused:
                seen = str(refused)
        compare(checks, block[0][2:], seen, block[1:])
        return "agent"
    return None


def commands(block):
    found = []
    for line in block:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        else:
            raise RuntimeError(f"a block of commands begins with its output: {line}")
    return found


def run(checks, place, running, command, wanted):
    if command.startswith("export "):
        for assignment in shlex.split(command)[1:]:
            name, _, value = assignment.partition("=")
            place.env[name] = value
        return
    if command.endswith(" &"):
        background(checks, place, running, command, wanted)
        return
    done = place.run("sh", "-c", command)
    compare(checks, command, done.stdout + done.stderr, wanted)


def background(checks, place, running, command, wanted):
    """Starts what runs on, and waits until it has printed what the page says of it."""
    process = subprocess.Popen(
        shlex.split(command[:-2]),
        cwd=place.work,
        env=place.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    limit = threading.Timer(PATIENCE, process.kill)
    limit.start()

    def end():
        limit.cancel()
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()

    running.callback(end)
    seen = "".join(process.stdout.readline() for _ in wanted)
    limit.cancel()
    compare(checks, command, seen, wanted)


def compare(checks, what, seen, wanted):
    """Whether a text is what a page says, but for blanks at line ends and blank lines around."""
    seen = "\n".join(line.rstrip() for line in seen.strip("\n").splitlines())
    while wanted and not wanted[-1].strip():
        wanted = wanted[:-1]
    lines = ["[\\s\\S]*?" if line.strip() == "…" else line_pattern(line) for line in wanted]
    checks.ok(f"$ {what}", re.fullmatch("\n".join(lines), seen), {"seen": seen, "wanted": wanted})


def line_pattern(line):
    return re.escape(line.rstrip()).replace("…", ".*")
