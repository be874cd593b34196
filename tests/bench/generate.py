"""Writes a large and valid adapter configuration with one planted fault.

The shape is that of real files: an adapter of each driver in turn, with conditions, templates,
ops, events and tools. The fault is the key PLANTED in the last adapter; it stays there while the
benchmark types elsewhere, so a server has settled when it reports it again.
"""

PLANTED = "planted_fault"

HTTP = """\
[adapters.wiki{n}]
driver = "http"
description = "Pages of house {n}, by full text"
enabled = true
base_url = "http://127.0.0.1:{port}/api"
timeout_ms = {timeout}
weight = 0.{tenth}
headers = {{ Accept = "application/json", X-Repo = "{{{{repo.slug}}}}" }}
when = {{ env = "HOME", file = "houses/{n}.md" }}
vars = {{ house = "{{{{repo.name|slug}}}}-{n}" }}

[adapters.wiki{n}.ops.search]
method = "POST"
path = "/search/{{{{vars.house}}}}"
body = {{ text = "{{{{query|trim}}}}", top = "{{{{limit}}}}" }}
items = "found.pages[*]"
map = {{ title = "heading|name", snippet = "excerpt", uri = "tpl:wiki{n}://{{{{id}}}}", score = "rank" }}

[adapters.wiki{n}.ops.note]
method = "PUT"
path = "/notes/{{{{id|urlencode}}}}"
body = {{ title = "{{{{title}}}}", text = "{{{{markdown}}}}" }}

[[adapters.wiki{n}.on]]
event = "sync"
op = "note"
"""

MCP = """\
[adapters.graph{n}]
driver = "mcp"
description = "Symbols and callers of part {n}"
enabled = true
command = ["graph-server", "--part", "{n}", "--root", "{{{{repo.root}}}}"]
env = {{ GRAPH_CACHE = "{{{{env.HOME|default:'.'}}}}/graph-{n}" }}
expose = ["callers", "outline"]
prefix = "graph{n}_"
when = {{ command = "graph-server", exists = "{{{{repo.root}}}}/part{n}/*.idx" }}

[adapters.graph{n}.ops.code]
tool = "lookup"
args = {{ symbol = "{{{{query}}}}", max = "{{{{limit}}}}" }}
timeout_ms = {timeout}

[adapters.graph{n}.ops.read]
tool = "fetch"
args = {{ id = "{{{{uri|after:'graph{n}://'}}}}" }}
owns = ["graph{n}://"]
"""

COMMAND = """\
[adapters.find{n}]
driver = "command"
description = "Lines of folder {n}"
enabled = true
cwd = "{{{{repo.root}}}}"
timeout_ms = {timeout}

[adapters.find{n}.ops.search]
command = ["rg", "--json", "--max-count", "{{{{limit|default:20}}}}", "--", "{{{{query}}}}", "part{n}"]
format = "jsonl"
where = {{ type = "match" }}
map = {{ title = "data.path.text", snippet = "data.lines.text", kind = "=line" }}

[[adapters.find{n}.tools]]
name = "find{n}"
description = "Search folder {n}"
params = {{ query = "string!", limit = "integer" }}
op = "search"
"""

LAST = f"""\
[adapters.last]
driver = "command"
command = ["true"]
{PLANTED} = 1
"""


def configuration(lines, schema):
    """About `lines` lines of TOML. `schema`: the file that the peer is told to validate against."""
    parts = [f"#:schema {schema}\n", '[project]\nname = "bench"\n']
    count = sum(part.count("\n") + 1 for part in parts) + LAST.count("\n")
    number = 0
    while True:
        template = (HTTP, MCP, COMMAND)[number % 3]
        part = template.format(
            n=number, port=8000 + number % 1000, timeout=1000 + number % 4000, tenth=number % 9 + 1
        )
        count += part.count("\n") + 1
        if count > lines and number > 0:
            return "\n".join([*parts, LAST])
        parts.append(part)
        number += 1
