"""MCP servers that others wrote, as adapters: what an agent gets is what the server says."""

import contextlib
import json
import socket
import subprocess
import threading

from client import PATIENCE, text_of
from place import Place

# Calls whose answers are the same each time. The names and arguments are the server's.
VERBATIM = [
    ("echo", {"message": "a panda \u2028 \U0001f43c"}),
    ("get-sum", {"a": 2, "b": 3.5}),
    ("get-tiny-image", {}),
    ("get-resource-links", {"count": 4}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    # Arguments that do not fit: its own words must come through.
    ("get-sum", {"a": "two"}),
    ("get-structured-content", {"location": "Atlantis"}),
]
LONG = "trigger-long-running-operation"
LATE = "get-roots-list"

EVERYTHING = """
[adapters.everything]
driver = "mcp"
{reached}
expose = "all"
timeout_ms = 60000

[adapters.everything.ops.search]
tool = "echo"
"""


def everything(checks, server):
    with Place(server, "everything") as place:
        with checks.part("server-everything on stdio"):
            everything_at(checks, place, 'command = ["mcp-server-everything"]')
        with checks.part("server-everything over streamable HTTP"):
            with served(place) as url:
                everything_at(checks, place, f'url = "{url}"')


@contextlib.contextmanager
def served(place):
    """Serves it on a free port; its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["mcp-server-everything", "streamableHttp"],
        cwd=place.work,
        env={**place.env, "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    limit = threading.Timer(PATIENCE, process.kill)
    limit.start()
    try:
        for line in process.stdout:
            if "listening" in line.lower():
                break
        else:
            raise RuntimeError("server-everything ended before it listened")
        limit.cancel()
        # What it says further on is nobody's concern, but must not fill the pipe.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        limit.cancel()
        process.terminate()
        process.wait(PATIENCE)


def everything_at(checks, place, reached):
    place.configure(EVERYTHING.format(reached=reached))
    with place.direct("mcp-server-everything") as direct:
        # It has tools that depend on its client's roots, and makes them once it has asked.
        direct.awaited("notifications/tools/list_changed")
        offered = direct.tools()
        answers = [direct.call(*call) for call in VERBATIM]

    code, seen = place.inspect("everything")
    checks.same("inspect ends with 0", code, 0)
    checks.same("inspect names the server", seen["server"]["info"]["name"], "mcp-servers/everything")
    # The tool that depends on the roots may come after the first list.
    by_name = {tool["name"]: tool for tool in seen["tools"]}
    by_name[LATE] = offered[LATE]
    checks.same("inspect shows every tool as the server has it", by_name, offered)
    checks.same("search is bound by name", seen["ops"]["search"]["parameters"].keys(), {"message"})

    code, ops = place.test("everything", "--query", "red panda")
    checks.same("test ends with 0", code, 0)
    titles = [hit["title"] for hit in ops["search"]["hits"]]
    checks.same("test finds the echo", titles, ["Echo: red panda"])

    with place.agent() as agent:
        # The first call waits for the server, however slow the machine is.
        through = [agent.call(f"everything_{tool}", args) for tool, args in VERBATIM]
        for (tool, args), seen, wanted in zip(VERBATIM, through, answers):
            checks.same(f"{tool} {json.dumps(args)} passes verbatim", seen, wanted)
        kinds = {block["type"] for answer in through for block in answer["content"]}
        checks.same("text, images and links were among it", kinds, {"text", "image", "resource_link"})

        listed = agent.tools()
        while f"everything_{LATE}" not in listed:
            agent.awaited("notifications/tools/list_changed")
            listed = agent.tools()
        roots = text_of(agent.call(f"everything_{LATE}"))
        checks.ok("the server knows the root", place.work.as_uri() in roots, roots)
        ours = {name: tool for name, tool in listed.items() if name.startswith("everything_")}
        checks.same("tools/list is complete", set(ours), {f"everything_{name}" for name in offered})
        differing = []
        for name, tool in offered.items():
            shown = dict(ours.get(f"everything_{name}", {}), name=name)
            lead, _, description = shown.get("description", "").partition("] ")
            shown["description"] = description
            if shown != tool or lead != "[everything":
                differing.append([shown, tool])
        checks.same("but for name and lead each tool is as the server has it", differing, [])

        weather = agent.call("everything_get-structured-content", {"location": "Chicago"})
        structured = weather.get("structuredContent", {})
        schema = ours["everything_get-structured-content"]["outputSchema"]
        checks.same("structured content has what its schema requires", set(structured), set(schema["required"]))
        checks.same("and its text is the same", json.loads(text_of(weather)), structured)

        reference = agent.call("everything_get-resource-reference", {"resourceType": "Blob", "resourceId": 2})
        embedded = [block["resource"] for block in reference["content"] if block["type"] == "resource"]
        checks.ok("an embedded resource passes", embedded and embedded[0].get("blob"), reference)

        texts = [f"{number} " + "\u7af9 bamboo " * 10 for number in range(40)]
        begun = [agent.begin("tools/call", {"name": "everything_echo", "arguments": {"message": text}}) for text in texts]
        echoed = [text_of(agent.result(number)) for number in begun]
        checks.same("forty calls at once get each its own answer", echoed, [f"Echo: {text}" for text in texts])
        big = "\u7af9" * 500_000
        echoed = text_of(agent.call("everything_echo", {"message": big}))
        checks.ok("one and a half megabytes pass both ways", echoed == f"Echo: {big}", echoed[:200])

        long = f"everything_{LONG}"
        done = agent.call(long, {"duration": 0.4, "steps": 4}, {"progressToken": "tok-1"})
        checks.ok("the long operation ends", "completed" in text_of(done), done)
        steps = [agent.awaited("notifications/progress") for _ in range(4)]
        checks.same("its progress comes under the agent's own token", {step["progressToken"] for step in steps}, {"tok-1"})
        checks.same("step by step", [(step["progress"], step["total"]) for step in steps], [(n, 4) for n in range(1, 5)])

        # Cancelled once it is under way; it would take an hour.
        arguments = {"duration": 3600, "steps": 36000}
        meta = {"progressToken": "tok-2"}
        begun = agent.begin("tools/call", {"name": long, "arguments": arguments, "_meta": meta})
        while agent.awaited("notifications/progress")["progressToken"] != "tok-2":
            pass
        agent.notify("notifications/cancelled", {"requestId": begun, "reason": "enough"})
        after = agent.call("everything_echo", {"message": "still there"})
        checks.same("a cancelled call leaves the server at work", text_of(after), "Echo: still there")
        checks.ok("and is not answered", not agent.answered(begun))


MEMORY = """
[adapters.memory]
driver = "mcp"
command = ["mcp-server-memory"]
env = { MEMORY_FILE_PATH = "{{repo.root}}/memory.jsonl" }
expose = ["create_entities", "create_relations"]

[adapters.memory.ops.search]
tool = "search_nodes"
items = "entities"
map = { title = "name", snippet = "observations", kind = "entityType", uri = "tpl:memory://{{name|slug}}" }

[adapters.memory.ops.read]
tool = "open_nodes"
args = { names = ["{{uri|after:://}}"] }
text = "entities[*].observations[*]"
owns = ["memory://"]
"""


def memory(checks, server):
    with checks.part("server-memory"), Place(server, "memory") as place:
        place.configure(MEMORY)
        with place.agent() as agent:
            panda = {"name": "bao", "entityType": "panda", "observations": ["eats bamboo", "sleeps a lot"]}
            crane = {"name": "sora", "entityType": "crane", "observations": ["dances at dawn"]}
            made = agent.call("memory_create_entities", {"entities": [panda, crane]})
            checks.same("entities are created", made["structuredContent"], {"entities": [panda, crane]})
            exposed = {name for name in agent.tools() if name.startswith("memory_")}
            checks.same("only what is exposed is offered", exposed, {"memory_create_entities", "memory_create_relations"})

            found = agent.call("kontext_search", {"query": "bamboo"})["structuredContent"]
            hits = [{key: hit.get(key) for key in ("source", "title", "kind", "uri")} for hit in found["hits"]]
            checks.same("the agent finds one", hits, [{"source": "memory", "title": "bao", "kind": "panda", "uri": "memory://bao"}])
            checks.ok("with what is known of it", "sleeps a lot" in found["hits"][0]["snippet"], found)
            read = agent.call("kontext_read", {"uri": "memory://bao"})["structuredContent"]
            checks.same("and reads it", read["texts"], [{"source": "memory", "text": "eats bamboo\nsleeps a lot"}])
            nothing = agent.call("kontext_search", {"query": "walrus"})["structuredContent"]
            checks.same("what is not there gives no hits, and no notes", nothing, {"hits": [], "notes": []})

        code, ops = place.test("memory", "--query", "dances")
        checks.same("test ends with 0", code, 0)
        checks.same("and reads the document of its hit", ops["read"]["text"], "dances at dawn")


FILES = """
[adapters.files]
driver = "mcp"
command = ["mcp-server-filesystem", "{{repo.root}}/manual"]
expose = ["list_directory", "read_text_file", "write_file"]
prefix = "manual_"

[adapters.files.ops.read]
tool = "read_text_file"
args = { path = "{{repo.root}}/manual/{{uri|after:://}}" }
text = "content"
owns = ["manual://"]
"""


def filesystem(checks, server):
    with checks.part("server-filesystem"), Place(server, "filesystem") as place:
        text = "# Feeding\n\nBamboo, ten kilograms a day. \U0001f43c\n"
        page = place.write("manual/feeding.md", text)
        place.configure(FILES)
        with place.agent() as agent:
            read = agent.call("kontext_read", {"uri": "manual://feeding.md"})["structuredContent"]
            checks.same("a file is read by its URI", read["texts"], [{"source": "files", "text": text}])
            # The server takes the repository that it is told of for what it may read.
            escape = agent.call("kontext_read", {"uri": "manual://../../config/config.toml"})
            refused = escape.get("isError") and "files" in text_of(escape)
            checks.ok("what the server refuses is an error with its adapter", refused, escape)
            missing = agent.call("kontext_read", {"uri": "nobody://x"})
            checks.ok("a URI that nobody owns is an error", missing.get("isError"), missing)

            arguments = {"path": str(place.work / "manual")}
            listing = agent.call("manual_list_directory", arguments)
            with place.direct("mcp-server-filesystem", arguments["path"]) as direct:
                checks.same("a tool under its prefix answers as the server does", listing, direct.call("list_directory", arguments))
            exposed = {name for name in agent.tools() if not name.startswith("kontext_")}
            checks.same("the tools have the prefix", exposed, {"manual_list_directory", "manual_read_text_file", "manual_write_file"})
            agent.call("manual_write_file", {"path": str(page), "content": "changed\n"})
            checks.same("and write", page.read_text(encoding="utf-8"), "changed\n")

        code, ops = place.test("files", "--uri", "manual://feeding.md")
        checks.same("test ends with 0", code, 0)
        checks.same("and reads", ops["read"]["text"], "changed\n")
        code, ops = place.test("files", "--uri", "manual://gone.md")
        checks.same("a file that is not there is a failure", code, 1)
        checks.ok("in the server's words", "ENOENT" in ops["read"].get("error", ""), ops)


GIT = """
[adapters.git]
driver = "mcp"
command = ["mcp-server-git", "--repository", "{{repo.root}}"]

[adapters.git.ops.history]
tool = "git_log"
args = { repo_path = "{{repo.root}}", max_count = "{{limit}}" }
split = "Commit: "
map = { title = 're:Message: (.*)', uri = "tpl:git://{{title}}", date = 're:Date: (.*)' }
"""


def git(checks, server):
    with checks.part("mcp-server-git"), Place(server, "git") as place:
        for name in ("gate", "pond", "lift"):
            place.write(f"{name}.txt", name)
            place.git("add", ".")
            place.git("commit", "--quiet", "--message", f"Build the {name}")
        place.configure(GIT)
        code, ops = place.test("git", "--query", "pond.txt")
        checks.same("test ends with 0", code, 0)
        titles = [hit["title"] for hit in ops["history"]["hits"]]
        checks.same("the newest commit comes first", titles, ["Build the lift", "Build the pond", "Build the gate"])
        with place.agent() as agent:
            arguments = {"target": "pond.txt", "limit": 2}
            found = agent.call("kontext_history", arguments)["structuredContent"]
            titles = [hit["title"] for hit in found["hits"]]
            checks.same("the agent gets as many as it asked for", titles, ["Build the lift", "Build the pond"])
            newest = place.run("git", "rev-parse", "HEAD").stdout.strip()
            checks.same("each with its commit", found["hits"][0]["uri"], f"git://{newest}")
            dated = all(hit.get("date", "").startswith("20") for hit in found["hits"])
            checks.ok("and its date", dated, found)
            # It was not exposed.
            offered = [name for name in agent.tools() if name.startswith("git")]
            checks.same("no tool of a server that is not exposed is offered", offered, [])


TIME = """
[adapters.clock]
driver = "mcp"
command = ["mcp-server-time", "--local-timezone", "Etc/UTC"]

[[adapters.clock.tools]]
name = "noon_elsewhere"
description = "What time it is elsewhere when it is noon here"
params = { zone = "string!", time = "string" }
op = { tool = "convert_time", args = { source_timezone = "UTC", time = "{{time|default:'12:00'}}", target_timezone = "{{zone}}" }, text = "target.datetime" }
"""


def clock(checks, server):
    with checks.part("mcp-server-time"), Place(server, "time") as place:
        place.configure(TIME)
        code, seen = place.inspect("clock")
        checks.same("inspect ends with 0", code, 0)
        names = {tool["name"] for tool in seen["tools"]}
        checks.same("and lists its tools", names, {"get_current_time", "convert_time"})
        with place.agent() as agent:
            tool = agent.tools().get("noon_elsewhere", {})
            checks.same("the declared tool requires its parameter", tool.get("inputSchema", {}).get("required"), ["zone"])
            seen = text_of(agent.call("noon_elsewhere", {"zone": "Asia/Tokyo"}))
            checks.ok("it answers with the text alone", seen.endswith("T21:00:00+09:00"), seen)
            seen = text_of(agent.call("noon_elsewhere", {"zone": "Asia/Tokyo", "time": "01:30"}))
            checks.ok("an optional argument is used", seen.endswith("T10:30:00+09:00"), seen)
            wrong = agent.call("noon_elsewhere", {"zone": 7})
            checks.ok("an argument of the wrong type is refused by name", wrong.get("isError") and "zone" in text_of(wrong), wrong)
            for arguments in ({}, {"time": "12:00"}):
                none = agent.call("noon_elsewhere", arguments)
                refused = none.get("isError") and "schema of `noon_elsewhere`" in text_of(none)
                checks.ok(f"without the required one nothing is called: {arguments}", refused, none)
            unknown = agent.call("noon_elsewhere", {"zone": "Mars/Olympus"})
            checks.ok("the server's own error comes through", unknown.get("isError") and "Mars/Olympus" in text_of(unknown), unknown)
