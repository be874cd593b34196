"""Programs of the shell as adapters: ripgrep, git and cat."""

import pathlib

from client import text_of
from place import Place

CONFIG = """
[adapters.rg]
driver = "command"
when = { command = "rg" }

[adapters.rg.ops.search]
command = ["rg", "--json", "--sort", "path", "--", "{{query}}", "."]
format = "jsonl"
where = { type = "match" }
map = { title = "data.path.text", snippet = "data.lines.text", uri = "tpl:work:{{data.path.text|after:./}}", kind = "=text" }

[adapters.rg.ops.code]
command = ["rg", "--json", "--sort", "path", "--type", "rust", "--", "{{query}}", "."]
format = "jsonl"
where = { type = "match" }
map = { title = "data.lines.text", uri = "tpl:work:{{data.path.text|after:./}}#L{{data.line_number}}" }

[adapters.gitgrep]
driver = "command"
command = ["git", "grep", "--line-number", "-I", "--fixed-strings", "-e", "{{query}}", "--", "."]

[adapters.gitgrep.ops.search]
format = "lines"
map = { title = 're:^([^:]+:\\d+):', snippet = 're:^[^:]+:\\d+:(.*)', uri = 're:^([^:]+):' }

[adapters.cat]
driver = "command"

[adapters.cat.ops.read]
command = ["cat", "--", "{{uri|after:work:|before:#}}"]
owns = ["work:"]

[[adapters.cat.tools]]
name = "first_lines"
description = "The first lines of a file"
params = { file = "string!", count = "integer" }
op = { command = ["head", "-n{{count|default:2}}", "--", "{{file}}"], format = "text" }
"""


def commands(checks, server):
    with checks.part("rg, git grep and cat"), Place(server, "commands") as place:
        place.write("src/pen.rs", "/// Opens the pen.\nfn open_pen() {\n    let bamboo = 1;\n}\n")
        place.write("docs/bamboo day.md", "# Bamboo day\n\nBring bamboo, \u7af9.\n--help is no option\n")
        # Not UTF-8: ripgrep tells such lines in base64, and nothing else may suffer for it.
        raw = place.work / "docs" / "latin.txt"
        raw.write_bytes(b"bamboo caf\xe9\n")
        place.git("add", ".")
        place.git("commit", "--quiet", "--message", "All of it")
        place.configure(CONFIG)

        code, ops = place.test("rg", "--query", "bamboo")
        checks.same("test ends with 0", code, 0)
        search = ops["search"]
        uris = [hit.get("uri") for hit in search["hits"]]
        wanted = ["work:docs/bamboo day.md", "work:docs/latin.txt", "work:src/pen.rs"]
        checks.same("rg finds a line in each file", [uri and uri.replace("%20", " ") for uri in uris], wanted)
        checks.ok("where leaves out what is no match", search["filtered"] > 0, search)
        snippets = {hit.get("snippet") for hit in search["hits"]}
        checks.ok("snippets are on one line", "Bring bamboo, \u7af9." in snippets, search)
        checks.same("the code op is limited to Rust", [hit["uri"] for hit in ops["code"]["hits"]], ["work:src/pen.rs#L3"])
        code, ops = place.test("rg", "--query", "walrus")
        checks.same("nothing found is no failure", (code, ops["search"]["hits"]), (0, []))
        code, ops = place.test("rg", "--query", "(")
        checks.ok("what rg says of a bad pattern comes through", code == 1 and "regex" in ops["search"]["error"], ops)
        code, ops = place.test("rg", "--query=--help", "--op", "search")
        checks.ok("a query that looks like an option is none", code == 0 and len(ops["search"]["hits"]) == 1, ops)

        with place.agent() as agent:
            found = agent.call("kontext_search", {"query": "bamboo"})["structuredContent"]
            sources = {hit["source"] for hit in found["hits"]}
            checks.same("rg and git grep answer together", sources, {"rg", "gitgrep"})
            checks.same("without a note", found["notes"], [])
            hit = next(hit for hit in found["hits"] if hit["source"] == "gitgrep" and "pen" in hit["title"])
            wanted = ("src/pen.rs:3", "let bamboo = 1;", "src/pen.rs")
            checks.same("a line of git grep is taken apart", (hit["title"], hit["snippet"], hit["uri"]), wanted)
            only = agent.call("kontext_search", {"query": "bamboo", "sources": ["gitgrep"]})["structuredContent"]
            checks.same("one source alone can be asked", {hit["source"] for hit in only["hits"]}, {"gitgrep"})
            code = agent.call("kontext_code", {"query": "fn \\w+"})["structuredContent"]
            checks.same("the agent finds code", [hit["title"] for hit in code["hits"]], ["fn open_pen() {"])
            uri = code["hits"][0]["uri"]
            read = agent.call("kontext_read", {"uri": uri})["structuredContent"]
            whole = pathlib.Path(place.work, "src/pen.rs").read_text(encoding="utf-8")
            checks.same("and reads the file of a hit", read["texts"], [{"source": "cat", "text": whole}])
            lines = agent.call("first_lines", {"file": "src/pen.rs", "count": 1})
            checks.same("a declared tool runs its command", text_of(lines).strip(), "/// Opens the pen.")
            gone = agent.call("kontext_read", {"uri": "work:gone.md"})
            checks.ok("what cat says of a file that is not there comes through", gone.get("isError") and "gone.md" in text_of(gone), gone)

            refused = agent.call("kontext_search", {"query": "-rf", "sources": ["gitgrep"]})
            note = json_notes(refused)
            checks.ok("an input that would be an option is refused with the remedy", "--" in note and "-rf" not in note.split("--")[0], refused)


def json_notes(result):
    notes = result.get("structuredContent", {}).get("notes", [])
    return " ".join(note["message"] for note in notes) or text_of(result)
