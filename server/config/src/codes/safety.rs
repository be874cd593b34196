//! Codes of what can do harm.

use super::CodeSpec;
use crate::schema::Text;

pub(super) static SECRET_IN_FILE: CodeSpec = CodeSpec {
    title: Text::en("What looks like a secret stands in the file"),
    explanation: Text::en(
        "The value looks like a token, a key or a password. Files are copied, committed and shown \
         to agents; environment variables are not. The message never repeats the value.\n\n\
         Put the secret into an environment variable and write `{{env.NAME}}`. A secret that has \
         been committed must be renewed.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\n\
          headers = { Authorization = \"Bearer 3f9a7c2e51d84b06a1c7e2d95b80f4c3\" }\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\n\
           headers = { Authorization = \"Bearer {{env.NOTES_TOKEN}}\" }\n",
    ..CodeSpec::BASE
};

pub(super) static CONTROL_CHARACTER: CodeSpec = CodeSpec {
    title: Text::en("A control character in what looks like a path"),
    explanation: Text::en(
        "In double quotes `\\t` is a tab, `\\n` a line break, `\\b` a backspace: a Windows path such \
         as `\"C:\\temp\\new\"` is valid TOML and names no file. Nothing is started with such a \
         name.\n\n\
         Write the path in single quotes, or double the backslashes.",
    ),
    bad: "[adapters.build]\ndriver = \"command\"\ncommand = [\"build\"]\ncwd = \"C:\\temp\\repo\"\n",
    good: "[adapters.build]\ndriver = \"command\"\ncommand = [\"build\"]\ncwd = 'C:\\temp\\repo'\n",
    ..CodeSpec::BASE
};

pub(super) static OPTION_INJECTION: CodeSpec = CodeSpec {
    title: Text::en("An input that the program could take for an option"),
    explanation: Text::en(
        "The argument is an input as a whole. One that begins with `-` would be read as an option, \
         and options can run programs or write files: whoever words the search would decide what \
         happens. At run time such a value is refused.\n\n\
         Put the element `\"--\"` before it where the program knows that, or join the input to an \
         option: `\"--regexp={{query}}\"`.",
    ),
    bad: "[adapters.grep]\ndriver = \"command\"\n\n[adapters.grep.ops.search]\n\
          command = [\"rg\", \"--json\", \"{{query}}\"]\nformat = \"jsonl\"\n",
    good: "[adapters.grep]\ndriver = \"command\"\n\n[adapters.grep.ops.search]\n\
           command = [\"rg\", \"--json\", \"--\", \"{{query}}\"]\nformat = \"jsonl\"\n",
    ..CodeSpec::BASE
};

pub(super) static SHELL_INJECTION: CodeSpec = CodeSpec {
    title: Text::en("An input inside the script of a shell"),
    explanation: Text::en(
        "The shell reads the script after the input has been put in, so an input with `;`, \
         backquotes or `$(…)` runs as a command. At run time such a call is refused.\n\n\
         Best call the program without a shell. Where a shell is needed, pass the input behind \
         the script and use it by position: `[\"sh\", \"-c\", \"grep -- \\\"$1\\\" notes.txt\", \
         \"--\", \"{{query}}\"]`.",
    ),
    bad: "[adapters.grep]\ndriver = \"command\"\n\n[adapters.grep.ops.search]\n\
          command = [\"sh\", \"-c\", \"grep -- {{query}} notes.txt\"]\nformat = \"lines\"\n",
    good: "[adapters.grep]\ndriver = \"command\"\n\n[adapters.grep.ops.search]\n\
           command = [\"grep\", \"--\", \"{{query}}\", \"notes.txt\"]\nformat = \"lines\"\n",
    ..CodeSpec::BASE
};
