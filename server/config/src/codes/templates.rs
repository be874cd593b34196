//! Codes of templates.

use super::CodeSpec;
use crate::schema::Text;

pub(super) static UNTERMINATED_TEMPLATE: CodeSpec = CodeSpec {
    title: Text::en("`{{` without `}}`"),
    explanation: Text::en(
        "The expression is not closed, so at run time the text goes out as it is, braces \
         included.\n\n\
         Close it with `}}`. Two literal braces are written `{{'{{'}}`.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
          [adapters.notes.ops.search]\npath = \"/find/{{query\"\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
           [adapters.notes.ops.search]\npath = \"/find/{{query}}\"\n",
    ..CodeSpec::BASE
};

pub(super) static TEMPLATE_SYNTAX: CodeSpec = CodeSpec {
    title: Text::en("An expression that does not follow the template grammar"),
    explanation: Text::en(
        "An expression is `{{ head | filter | filter:argument }}`. The head is a dotted path, \
         `env.NAME` or a literal in quotes; each `|` is followed by a filter.\n\n\
         Correct the marked place. A `|`, `:` or `}}` that is meant literally goes into quotes: \
         `default:'a|b'`.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
          [adapters.notes.ops.search]\npath = \"/find/{{query|}}\"\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
           [adapters.notes.ops.search]\npath = \"/find/{{query|lower}}\"\n",
    ..CodeSpec::BASE
};

pub(super) static UNKNOWN_FILTER: CodeSpec = CodeSpec {
    title: Text::en("A filter that does not exist"),
    explanation: Text::en(
        "There is no filter of that name; at run time the value passes unchanged.\n\n\
         Use one of the filters of the reference. The message names the nearest.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
          [adapters.notes.ops.search]\npath = \"/find/{{query|lowercase}}\"\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
           [adapters.notes.ops.search]\npath = \"/find/{{query|lower}}\"\n",
    ..CodeSpec::BASE
};

pub(super) static BAD_FILTER_ARGUMENT: CodeSpec = CodeSpec {
    title: Text::en("An argument that the filter cannot use"),
    explanation: Text::en(
        "The filter needs an argument and has none, takes none and has one, or needs a number and \
         has something else. It then works as it does without an argument, or not at all.\n\n\
         Give the argument that the reference describes: `truncate:80`, `join:', '`.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
          [adapters.notes.ops.search]\npath = \"/find/{{query|truncate:short}}\"\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
           [adapters.notes.ops.search]\npath = \"/find/{{query|truncate:80}}\"\n",
    ..CodeSpec::BASE
};

pub(super) static UNKNOWN_ROOT: CodeSpec = CodeSpec {
    title: Text::en("A path that begins with nothing a template can see"),
    explanation: Text::en(
        "Templates see `repo`, `project`, `vars`, `env`, `now` and `adapter`, and the inputs of \
         the op they stand in. The first segment of this path is none of them, so the expression \
         is always empty.\n\n\
         Correct the first segment. A value of your own goes into `vars`.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
          [adapters.notes.ops.search]\npath = \"/find\"\nquery = { q = \"{{query}}\", b = \"{{git.branch}}\" }\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
           [adapters.notes.ops.search]\npath = \"/find\"\nquery = { q = \"{{query}}\", b = \"{{repo.branch}}\" }\n",
    ..CodeSpec::BASE
};

pub(super) static UNKNOWN_VARIABLE: CodeSpec = CodeSpec {
    title: Text::en("A name that has no value here"),
    explanation: Text::en(
        "The name is not among the inputs of this op, not a variable of `vars` in any layer, or \
         not a member of its root. The expression is then empty, and what it stands in may be left \
         out. Each op has its own inputs: `uri` belongs to `read`, `prompt` to `llm`.\n\n\
         Use one of the names that completion offers, or add the variable to `vars`.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
          [adapters.notes.ops.search]\npath = \"/find\"\nquery = { q = \"{{query}}\", at = \"{{uri}}\" }\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example\"\n\n\
           [adapters.notes.ops.search]\npath = \"/find\"\nquery = { q = \"{{query}}\", n = \"{{limit}}\" }\n",
    ..CodeSpec::BASE
};

pub(super) static VARS_CYCLE: CodeSpec = CodeSpec {
    title: Text::en("Variables that need each other"),
    explanation: Text::en(
        "The variable contains itself, directly or through others, so it has no value. Everything \
         that uses it is empty.\n\n\
         Break the circle: give one of the variables a value that does not use the others.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\
          vars = { team = \"{{vars.group}}\", group = \"{{vars.team}}\" }\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\
           vars = { team = \"core\", group = \"{{vars.team}}-all\" }\n",
    ..CodeSpec::BASE
};

pub(super) static NOT_A_TEMPLATE: CodeSpec = CodeSpec {
    title: Text::en("`{{` where nothing is rendered"),
    explanation: Text::en(
        "This field is not a template: the braces stay as they are. In `map`, only a value that \
         begins with `tpl:` is one.\n\n\
         Write the text itself, or put `tpl:` before a `map` value.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ndescription = \"Notes of {{project.name}}\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ndescription = \"Notes of the team\"\n",
    ..CodeSpec::BASE
};

pub(super) static DOLLAR_PLACEHOLDER: CodeSpec = CodeSpec {
    title: Text::en("`${X}` is not replaced here"),
    explanation: Text::en(
        "Other programs put environment variables in place of `${X}`, `${env:X}` or `$X`. Here the \
         text goes out as it is: a server gets the placeholder instead of the token.\n\n\
         Write `{{env.X}}`.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nenv = { NOTES_TOKEN = \"${NOTES_TOKEN}\" }\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nenv = { NOTES_TOKEN = \"{{env.NOTES_TOKEN}}\" }\n",
    ..CodeSpec::BASE
};
