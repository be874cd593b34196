//! Codes of the text itself: TOML, encoding, other formats.

use super::{CodeSpec, Setting};
use crate::schema::Text;

pub(super) static TOML_SYNTAX: CodeSpec = CodeSpec {
    title: Text::en("The text does not follow TOML"),
    explanation: Text::en(
        "The marked place cannot be read as TOML 1.1. Only the entry it belongs to is left out; \
         the rest of the file is read and checked as usual.\n\n\
         Complete or correct the marked place. Common causes: a missing value after `=`, a \
         missing comma or quote, a bracket that is not closed, a bare word as value.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ndescription =\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ndescription = \"Notes\"\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_ESCAPE: CodeSpec = CodeSpec {
    title: Text::en("A backslash escape that TOML does not know"),
    explanation: Text::en(
        "In a string in double quotes a backslash begins an escape, and only `\\b`, `\\t`, `\\n`, \
         `\\f`, `\\r`, `\\e`, `\\\"`, `\\\\`, `\\xHH`, `\\uHHHH` and `\\UHHHHHHHH` exist. Most often \
         the string is a Windows path or a regular expression.\n\n\
         Write the string in single quotes, where a backslash is just a backslash, or double \
         each backslash.",
    ),
    bad: "[adapters.build]\ndriver = \"command\"\ncommand = [\"build\"]\ncwd = \"D:\\work\"\n",
    good: "[adapters.build]\ndriver = \"command\"\ncommand = [\"build\"]\ncwd = 'D:\\work'\n",
    ..CodeSpec::BASE
};

pub(super) static BOM_INSIDE: CodeSpec = CodeSpec {
    title: Text::en("A byte order mark inside the file"),
    explanation: Text::en(
        "An invisible character, the byte order mark U+FEFF, stands in the middle of the file. At \
         the very beginning it is allowed and ignored; anywhere else TOML forbids it. It gets \
         there when a program joins two files or writes its own mark before each part.\n\n\
         Delete the character. If it does not show, delete the line and type it again.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\u{feff}weight = 0.5\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nweight = 0.5\n",
    ..CodeSpec::BASE
};

pub(super) static DUPLICATE_KEY: CodeSpec = CodeSpec {
    title: Text::en("A key is given twice in one table"),
    explanation: Text::en(
        "A table can hold each key once. Which of the two values was meant cannot be known, so \
         the first one is used and this one is ignored.\n\n\
         Delete one of them, or rename it.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nweight = 0.5\nweight = 0.7\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nweight = 0.7\n",
    ..CodeSpec::BASE
};

pub(super) static TABLE_CONFLICT: CodeSpec = CodeSpec {
    title: Text::en("A table is defined twice, or a key is both a value and a table"),
    explanation: Text::en(
        "A table can be opened by one `[header]` only, an inline table `{ … }` cannot be added to \
         afterwards, and a key that holds a value cannot be a table as well.\n\n\
         Put all keys of the table in one place.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\
          when = { env = \"NOTES_TOKEN\" }\n\n[adapters.notes.when]\nfile = \".notes\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.when]\nenv = \"NOTES_TOKEN\"\nfile = \".notes\"\n",
    ..CodeSpec::BASE
};

macro_rules! brackets {
    ($bracket:literal) => {
        concat!(
            $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket,
            $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket,
            $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket,
            $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket, $bracket,
        )
    };
}

pub(super) static TOO_DEEP: CodeSpec = CodeSpec {
    title: Text::en("Values are nested too deeply"),
    explanation: Text::en(
        "Arrays and inline tables are read to a depth of 96. No configuration needs more; such a \
         text is most likely a mistake or an attempt to exhaust the memory of what reads it. The \
         value is left out, the rest of the file is read as usual.\n\n\
         Delete the value, or make it flatter.",
    ),
    bad: concat!(
        "[sources]\nlist = ",
        brackets!("[[[["),
        brackets!("]]]]"),
        "\n"
    ),
    good: "[sources]\nlist = [[[[]]]]\n",
    ..CodeSpec::BASE
};

pub(super) static JSON_PASTED: CodeSpec = CodeSpec {
    title: Text::en("JSON where TOML is expected"),
    explanation: Text::en(
        "The marked text is JSON. Many programs keep their servers in JSON (`mcpServers`, \
         `servers`, an export of the MCP Inspector); here they are TOML.\n\n\
         Write the entry as a table `[adapters.NAME]`: `driver = \"mcp\"`; `command` and `args` \
         together as the array `command`; `url`, `headers` and `env` as they are, with \
         `{{env.NAME}}` in place of secrets.",
    ),
    bad: "{\n  \"mcpServers\": {\n    \"notes\": { \"command\": \"notes-mcp\", \"args\": [\"--stdio\"] }\n  }\n}\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\", \"--stdio\"]\n",
    ..CodeSpec::BASE
};

pub(super) static FOREIGN_FORMAT: CodeSpec = CodeSpec {
    title: Text::en("A server entry in the format of another program"),
    explanation: Text::en(
        "The table holds MCP servers as another agent's configuration has them (`mcp_servers`, \
         `mcpServers`, `context_servers`). It is not read here, so these servers do not exist for \
         kontext-ls.\n\n\
         Write each as `[adapters.NAME]` with `driver = \"mcp\"` and the program and its `args` \
         together in the array `command`. If the table is there for the other program, leave it, \
         or set this code to `off`.",
    ),
    bad: "[mcp_servers.notes]\ncommand = \"notes-mcp\"\nargs = [\"--stdio\"]\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\", \"--stdio\"]\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_UTF8: CodeSpec = CodeSpec {
    title: Text::en("The file is not UTF-8"),
    explanation: Text::en(
        "TOML is always UTF-8. The marked place holds bytes of another encoding, often Latin-1, a \
         Windows code page or UTF-16. The readable parts are checked, but nothing of the file is \
         used until it is saved as UTF-8.\n\n\
         Save the file as UTF-8; most editors offer that as “save with encoding”.",
    ),
    bad: "# the file on the disk contains bytes that are not UTF-8\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ndescription = \"poznámky\"\n",
    setting: Setting::Unreadable,
    ..CodeSpec::BASE
};

pub(super) static UNREADABLE_LAYER: CodeSpec = CodeSpec {
    title: Text::en("The file of a layer cannot be read"),
    explanation: Text::en(
        "The file exists but cannot be read: it is a folder, permission is missing, or the disk \
         gives an error. The other layers keep working; status says that this one is not in \
         force.\n\n\
         Give your user the right to read the file, or remove what stands in its place.",
    ),
    bad: "# the file on the disk may not be read by this user\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n",
    setting: Setting::Unreadable,
    ..CodeSpec::BASE
};
