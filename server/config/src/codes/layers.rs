//! Codes of layers and trust.

use super::{CodeSpec, Setting};
use crate::schema::Text;

pub(super) static LAYER_CONFLICT: CodeSpec = CodeSpec {
    title: Text::en("The shared layer changes what a personal adapter runs or calls"),
    explanation: Text::en(
        "A personal layer defines the adapter, and the committed file gives it another `command`, \
         `url`, `base_url`, `headers` or `env`. Once the file is trusted, your credentials may go \
         where the repository says. What is shown for trust is the merged result.\n\n\
         If the two are different things, give one another name. If the change is wanted, look at \
         it and trust it.",
    ),
    bad: "[adapters.wiki]\nbase_url = \"https://wiki.other.example\"\n",
    good: "[adapters.wiki]\ndescription = \"The wiki of the team\"\n",
    setting: Setting::SharedOver(
        "[adapters.wiki]\ndriver = \"http\"\nbase_url = \"https://wiki.example\"\n\
         headers = { Authorization = \"Bearer {{env.WIKI_TOKEN}}\" }\n",
    ),
    ..CodeSpec::BASE
};

pub(super) static UNTRUSTED_LAYER: CodeSpec = CodeSpec {
    title: Text::en("The adapters of the shared layer wait for trust"),
    explanation: Text::en(
        "The file comes with the repository. Until you have looked at it and accepted it, nothing \
         in it is started or called, and its `[vars]` and `[project]` have no effect.\n\n\
         `kontext-ls trust` in a shell shows what the adapters would run, call and send, and asks. \
         The yes holds for what the file says at that moment, and for the scripts in the \
         repository that its commands name; any change needs a new one. (In CI and sandboxes \
         `KONTEXT_TRUST_REPO_ADAPTERS=1` in the environment trusts everything.)",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n",
    good: "[store]\ndir = \".ai\"\n",
    setting: Setting::Shared,
    ..CodeSpec::BASE
};

pub(super) static GATE_IN_SHARED: CodeSpec = CodeSpec {
    title: Text::en("`[companion]` has no effect in the shared layer"),
    explanation: Text::en(
        "What agents may do, and how diagnostics are shown, is decided by the person, not by a \
         repository. `[companion]` is therefore read from personal layers only.\n\n\
         Move the table to `config.toml` in your configuration folder, to the file of this \
         repository there, or to the clone's own layer.",
    ),
    bad: "[companion]\nallow_write = true\n",
    good: "[store]\ndir = \".ai\"\n",
    setting: Setting::Shared,
    ..CodeSpec::BASE
};
