//! Codes of keys and values.

use super::{CodeSpec, Tag};
use crate::schema::Text;

pub(super) static UNKNOWN_KEY: CodeSpec = CodeSpec {
    title: Text::en("A key that does not exist here"),
    explanation: Text::en(
        "No table of this kind has that key, so it would have no effect. The message names the \
         key that was most likely meant: by its spelling, or by what other programs call it.\n\n\
         Correct the key or delete it. The reference lists the keys of every table.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ntimeout = 5000\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ntimeout_ms = 5000\n",
    ..CodeSpec::BASE
};

pub(super) static UNKNOWN_TABLE: CodeSpec = CodeSpec {
    title: Text::en("A top-level table that is not part of the format"),
    explanation: Text::en(
        "The table is not one of the configuration format. It is left in peace and has no effect \
         on adapters.\n\n\
         If it was meant as one of the known tables, correct its name. If it belongs to another \
         program, set this code to `off`.",
    ),
    bad: "[metrics]\nport = 9000\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n",
    ..CodeSpec::BASE
};

pub(super) static DOTTED_NAME: CodeSpec = CodeSpec {
    title: Text::en("A dot splits what was meant as one adapter name"),
    explanation: Text::en(
        "In a header a dot separates keys: `[adapters.my.srv]` is a field `srv` of the adapter \
         `my`, not an adapter `my.srv`. Adapters have no such field.\n\n\
         Put the name in quotes, `[adapters.\"my.srv\"]`, or better choose one without a dot: \
         tool names are made from it.",
    ),
    bad: "[adapters.my]\ndriver = \"mcp\"\ncommand = [\"my-mcp\"]\n\n\
          [adapters.my.srv]\ndriver = \"mcp\"\ncommand = [\"my-srv\"]\n",
    good: "[adapters.my]\ndriver = \"mcp\"\ncommand = [\"my-mcp\"]\n\n\
           [adapters.\"my.srv\"]\ndriver = \"mcp\"\ncommand = [\"my-srv\"]\n",
    ..CodeSpec::BASE
};

pub(super) static WRONG_TYPE: CodeSpec = CodeSpec {
    title: Text::en("A value of the wrong type"),
    explanation: Text::en(
        "The field takes another type of value. The value is ignored: the field counts as not \
         given in this layer, and all others keep working.\n\n\
         Write a value of the type that the message names. Note the quotes: `\"true\"` is a string, \
         `true` a boolean.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nenabled = \"yes\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nenabled = true\n",
    ..CodeSpec::BASE
};

pub(super) static COMMAND_STRING: CodeSpec = CodeSpec {
    title: Text::en("`command` is one string, not an array"),
    explanation: Text::en(
        "The program and its arguments are the elements of an array. No shell takes part, so a \
         string is not split into words: that would leave open what a blank in a path or in an \
         input means.\n\n\
         Write each word as an element. Arguments that another program keeps in `args` belong \
         behind them.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = \"npx -y notes-mcp\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"npx\", \"-y\", \"notes-mcp\"]\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_VALUE: CodeSpec = CodeSpec {
    title: Text::en("A value that is not among the allowed ones"),
    explanation: Text::en(
        "The field takes one of a few values, or a value of a certain form. This one is ignored: \
         the field counts as not given in this layer.\n\n\
         Choose one of the values that the message and completion name. Upper and lower case \
         matter, except for HTTP methods.",
    ),
    bad: "[adapters.grep]\ndriver = \"command\"\n\n[adapters.grep.ops.search]\n\
          command = [\"rg\", \"--json\", \"--\", \"{{query}}\"]\nformat = \"yaml\"\n",
    good: "[adapters.grep]\ndriver = \"command\"\n\n[adapters.grep.ops.search]\n\
           command = [\"rg\", \"--json\", \"--\", \"{{query}}\"]\nformat = \"jsonl\"\n",
    ..CodeSpec::BASE
};

pub(super) static OUT_OF_RANGE: CodeSpec = CodeSpec {
    title: Text::en("A number outside its range"),
    explanation: Text::en(
        "The number is smaller than the field allows, or not a number at all (`nan`, `inf`). It is \
         ignored, and the default counts.\n\n\
         Write a number in the range that the message names. A limit cannot be switched off with \
         0 or a negative number; write a large one instead.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ntimeout_ms = 0\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\ntimeout_ms = 60000\n",
    ..CodeSpec::BASE
};

pub(super) static EMPTY_ARRAY: CodeSpec = CodeSpec {
    title: Text::en("An empty array where an element is needed"),
    explanation: Text::en(
        "The array needs at least one element: a `command` without a program cannot be started, \
         and a condition without a name says nothing.\n\n\
         Add an element, or delete the field.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = []\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n",
    ..CodeSpec::BASE
};

pub(super) static MISSING_FIELD: CodeSpec = CodeSpec {
    title: Text::en("A required field is missing"),
    explanation: Text::en(
        "The table does not work without this field, so the whole entry is left out.\n\n\
         Add the field. Arrays of tables (`on`, `tools`) are not merged between layers: each entry \
         must be complete where it stands.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.store]\ntool = \"add_note\"\n\n[[adapters.notes.on]]\nop = \"store\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.store]\ntool = \"add_note\"\n\n\
           [[adapters.notes.on]]\nevent = \"sync\"\nop = \"store\"\n",
    ..CodeSpec::BASE
};

pub(super) static MISSING_DRIVER: CodeSpec = CodeSpec {
    title: Text::en("The adapter has no driver"),
    explanation: Text::en(
        "No layer says what the adapter is reached through, so it is invalid and never called. A \
         single layer may leave `driver` out: what counts is what all layers give together.\n\n\
         Add `driver = \"mcp\"`, `\"http\"` or `\"command\"`. If the table was meant to change an \
         adapter of another layer, check the spelling of its name.",
    ),
    bad: "[adapters.notes]\ncommand = [\"notes-mcp\"]\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n",
    ..CodeSpec::BASE
};

pub(super) static MISSING_TARGET: CodeSpec = CodeSpec {
    title: Text::en("Nothing says what is started or called"),
    explanation: Text::en(
        "Driver mcp needs `command` or `url`. Driver http needs `base_url` or `url`, or an \
         absolute `url` in each op. Driver command needs `command` on the adapter or in each \
         op.\n\n\
         Add the field that the message names.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\nurl = \"https://notes.example/mcp\"\n",
    ..CodeSpec::BASE
};

pub(super) static UNUSED_BY_DRIVER: CodeSpec = CodeSpec {
    title: Text::en("A field that the adapter's driver does not use"),
    explanation: Text::en(
        "The field belongs to another driver and has no effect here. Often the driver was changed, \
         or two examples were mixed.\n\n\
         Delete the field, or change `driver`.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\nexpose = \"all\"\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\n",
    tag: Some(Tag::Unnecessary),
    ..CodeSpec::BASE
};

pub(super) static URL_WINS: CodeSpec = CodeSpec {
    title: Text::en("`command` has no effect beside `url`"),
    explanation: Text::en(
        "An mcp adapter reaches its server by `url` where there is one; `command` is then not \
         started, and `env` and `cwd` are not used.\n\n\
         Delete one of the two.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nurl = \"https://notes.example/mcp\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\nurl = \"https://notes.example/mcp\"\n",
    tag: Some(Tag::Unnecessary),
    ..CodeSpec::BASE
};

pub(super) static INVALID_REGEX: CodeSpec = CodeSpec {
    title: Text::en("A regular expression that does not compile"),
    explanation: Text::en(
        "The expression cannot be used, so the condition or the field behind it never matches. \
         Look-around and back-references do not exist in this dialect.\n\n\
         Correct it at the marked place. In single quotes backslashes need no doubling.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nwhen = { repo = \"github.com/(acme\" }\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nwhen = { repo = \"github.com/(acme|shop)/\" }\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_URL: CodeSpec = CodeSpec {
    title: Text::en("Not an absolute http or https URL"),
    explanation: Text::en(
        "A URL begins with `http://` or `https://` and names a host. A template may stand anywhere \
         in it, also for the whole beginning.\n\n\
         Write the scheme and the host.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"notes.example/api\"\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_ENV_NAME: CodeSpec = CodeSpec {
    title: Text::en("Not the name of an environment variable"),
    explanation: Text::en(
        "Here the bare name of a variable is expected: letters, digits and `_`, not beginning with \
         a digit. `$NAME`, `{{env.NAME}}` and `NAME=value` are not names.\n\n\
         Write the name alone.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nwhen = { env = \"NOTES_TOKEN=1\" }\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nwhen = { env = \"NOTES_TOKEN\" }\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_HEADER: CodeSpec = CodeSpec {
    title: Text::en("A header that HTTP does not allow"),
    explanation: Text::en(
        "The name of a header consists of letters, digits and ``!#$%&'*+-.^_`|~``, without blanks; \
         its value holds no line break. A request with such a header is not sent.\n\n\
         Correct the name, or take the line break out of the value.",
    ),
    bad: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\nheaders = { \"X Client\" = \"kontext\" }\n",
    good: "[adapters.notes]\ndriver = \"http\"\nbase_url = \"https://notes.example/api\"\nheaders = { X-Client = \"kontext\" }\n",
    ..CodeSpec::BASE
};

pub(super) static PATH_SYNTAX: CodeSpec = CodeSpec {
    title: Text::en("A path that does not follow the path language"),
    explanation: Text::en(
        "A path into an answer is written `a.b`, `a[0]`, `a[-1]`, `a[*]`, `*` or `a[\"k.x\"]`; \
         alternatives are separated by `|`. A path that cannot be read selects nothing.\n\n\
         Correct the marked place. A key with a dot, a blank or a bracket goes into \
         `[\"…\"]`.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.search]\ntool = \"find\"\nitems = \"hits[\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.search]\ntool = \"find\"\nitems = \"hits[*]\"\n",
    ..CodeSpec::BASE
};

pub(super) static MISPLACED_WILDCARD: CodeSpec = CodeSpec {
    title: Text::en("A wildcard before the last segment"),
    explanation: Text::en(
        "In `when.exists`, `*` and `?` match within the last segment of the path only: one folder \
         is looked into, never a whole tree.\n\n\
         Name the folders, and keep the wildcard for the last segment.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nwhen = { exists = \"~/.notes/*/index.json\" }\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\nwhen = { exists = \"~/.notes/*.json\" }\n",
    ..CodeSpec::BASE
};
