use super::{diagnostics, fixed, only};

/// The text after the only diagnostic's fix.
fn converted(text: &str) -> String {
    let one = only(text);
    assert_eq!(one.code.id(), "json-pasted");
    let after = fixed(text, &one);
    assert_eq!(diagnostics(&after), [], "{after}");
    after
}

#[test]
fn a_whole_file_of_servers() {
    insta::assert_snapshot!(converted(r#"{
  "mcpServers": {
    "notes": { "command": "npx", "args": ["-y", "notes-mcp", "--dir=${NOTES}"], "env": { "TOKEN": "${env:NOTES_TOKEN}", "N": 3 } },
    "team wiki": { "type": "http", "url": "https://wiki.example/mcp", "headers": { "Authorization": "Bearer q7Zp2Lx9Vt4Rk8Bw" }, "disabled": true },
  }
}
"#), @r#"
    [adapters.notes]
    driver = "mcp"
    command = ["npx", "-y", "notes-mcp", "--dir={{env.NOTES}}"]
    env = { TOKEN = "{{env.NOTES_TOKEN}}", N = "3" }

    [adapters."team wiki"]
    driver = "mcp"
    url = "https://wiki.example/mcp"
    headers = { Authorization = "Bearer {{env.TEAM_WIKI_TOKEN}}" }
    enabled = false
    "#);
}

#[test]
fn an_entry_of_the_inspector_below_a_header() {
    insta::assert_snapshot!(converted(r#"[adapters.notes]
description = "Notes"
"command": "notes-mcp",
"args": ["--stdio"],
"env": {}
"#), @r#"
    [adapters.notes]
    description = "Notes"
    driver = "mcp"
    command = ["notes-mcp", "--stdio"]
    "#);
}

#[test]
fn other_shapes_of_the_same() {
    for (text, expected) in [
        (
            "{\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}\n",
            "[adapters.mcp-server-time]\ndriver = \"mcp\"\ncommand = [\"uvx\", \"mcp-server-time\"]\n",
        ),
        (
            "\"notes\": {\n  \"command\": \"notes-mcp --stdio\"\n},\n",
            "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\", \"--stdio\"]\n",
        ),
        (
            "{\n  // VS Code\n  \"servers\": { \"a\": { \"type\": \"stdio\", \"command\": \"a\", \"cwd\": \"${workspaceFolder}/x\" } },\n  \"inputs\": []\n}\n",
            "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a\"]\ncwd = \"{{repo.root}}/x\"\n",
        ),
        (
            "{\"context_servers\": {\"z\": {\"command\": {\"path\": \"z\", \"args\": [\"-q\"], \"env\": {\"A\": \"1\"}}}}}\n",
            "[adapters.z]\ndriver = \"mcp\"\ncommand = [\"z\", \"-q\"]\nenv = { A = \"1\" }\n",
        ),
        (
            "[ {\"name\": \"n\", \"url\": \"https://n.example/mcp\"} ]\n",
            "[adapters.n]\ndriver = \"mcp\"\nurl = \"https://n.example/mcp\"\n",
        ),
    ] {
        assert_eq!(converted(text), expected, "{text}");
    }
}

#[test]
fn the_message_says_what_it_is_without_repeating_values() {
    let text =
        "{\"mcpServers\": {\"n\": {\"command\": \"n\", \"args\": [\"--key=q7Zp2Lx9Vt4Rk8Bw\"]}}}\n";
    assert_eq!(
        only(text).message,
        "this is JSON of an MCP server as other programs keep it; write [adapters.n] with `driver = \"mcp\"` and the program with its arguments as `command = […]`"
    );
}

#[test]
fn other_json_is_one_diagnostic_without_a_fix() {
    for text in [
        "{\n  \"schemes\": [ { \"name\": \"Dark\", \"black\": \"#0C0C0C\" } ],\n  \"n\": 1e3, \"t\": true, \"x\": null\n}\n",
        "{ \"mcpServers\": { \"n\": \n",
        "{ \"mcpServers\": {} }\n",
        "{ \"command\": 3 }\n",
    ] {
        let one = only(text);
        assert_eq!((one.code.id(), one.fix), ("json-pasted", None), "{text}");
    }
}
