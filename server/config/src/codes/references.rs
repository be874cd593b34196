//! Codes of names: ops, tools, adapters, URIs.

use super::{CodeSpec, Tag};
use crate::schema::Text;

pub(super) static UNKNOWN_OP: CodeSpec = CodeSpec {
    title: Text::en("An op that the adapter does not have"),
    explanation: Text::en(
        "`on` and `tools` name an op of the same adapter. No layer defines this one, so the event \
         could not be delivered, or the tool could not be called.\n\n\
         Correct the name, or add `[adapters.NAME.ops.OP]`.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.store]\ntool = \"add_note\"\n\n\
          [[adapters.notes.on]]\nevent = \"sync\"\nop = \"stroe\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.store]\ntool = \"add_note\"\n\n\
           [[adapters.notes.on]]\nevent = \"sync\"\nop = \"store\"\n",
    ..CodeSpec::BASE
};

pub(super) static UNUSED_OP: CodeSpec = CodeSpec {
    title: Text::en("An op that nothing calls by itself"),
    explanation: Text::en(
        "Only the well-known ops (search, history, code, read, brief, store, llm, health) have a \
         caller of their own. An op with another name runs where `on` or `tools` names it; this \
         one is named nowhere. It can still be called by name.\n\n\
         Name it in `on` or `tools`, delete it, or correct its name where a well-known one was \
         meant.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.remember]\ntool = \"add_note\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.remember]\ntool = \"add_note\"\n\n\
           [[adapters.notes.on]]\nevent = \"promote\"\nop = \"remember\"\n",
    tag: Some(Tag::Unnecessary),
    ..CodeSpec::BASE
};

pub(super) static INVALID_OP_NAME: CodeSpec = CodeSpec {
    title: Text::en("An op name with unusual characters"),
    explanation: Text::en(
        "The name of an op is typed on the command line and by agents. Letters, digits, `_` and \
         `-` work everywhere; blanks, dots and other characters do not.\n\n\
         Rename the op, here and where `on` and `tools` name it.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.\"keep it\"]\ntool = \"add_note\"\n\n\
          [[adapters.notes.on]]\nevent = \"sync\"\nop = \"keep it\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.keep_it]\ntool = \"add_note\"\n\n\
           [[adapters.notes.on]]\nevent = \"sync\"\nop = \"keep_it\"\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_TOOL_NAME: CodeSpec = CodeSpec {
    title: Text::en("A name that tools cannot have"),
    explanation: Text::en(
        "Agents accept tool names of letters, digits, `_` and `-`, 1 to 64 characters long. Any \
         other name is changed before it is published: other characters become `_`, and what is \
         too long is cut and ends in a short hash.\n\n\
         Choose a name that needs no change.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.search]\ntool = \"find\"\n\n\
          [[adapters.notes.tools]]\nname = \"find notes\"\nop = \"search\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.search]\ntool = \"find\"\n\n\
           [[adapters.notes.tools]]\nname = \"find_notes\"\nop = \"search\"\n",
    ..CodeSpec::BASE
};

pub(super) static DUPLICATE_TOOL: CodeSpec = CodeSpec {
    title: Text::en("Two declared tools with one name"),
    explanation: Text::en(
        "Agents tell tools apart by name. The first in the order of the configuration keeps the \
         name; this one is left out.\n\n\
         Rename one of them.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.search]\ntool = \"find\"\n\n\
          [[adapters.notes.tools]]\nname = \"find_notes\"\nop = \"search\"\n\n\
          [[adapters.notes.tools]]\nname = \"find_notes\"\nop = \"search\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.search]\ntool = \"find\"\n\n\
           [[adapters.notes.tools]]\nname = \"find_notes\"\nop = \"search\"\n\n\
           [[adapters.notes.tools]]\nname = \"find_more_notes\"\nop = \"search\"\n",
    ..CodeSpec::BASE
};

pub(super) static PREFIX_NOT_TOOL_NAME: CodeSpec = CodeSpec {
    title: Text::en("The prefix of re-published tools does not fit tool names"),
    explanation: Text::en(
        "Re-published tools are named by the prefix, which is the adapter's name and `_` unless \
         `prefix` says otherwise. Tool names have letters, digits, `_` and `-` only, so other \
         characters are replaced, and two adapters can come to share a prefix.\n\n\
         Set `prefix` to something that fits, or rename the adapter.",
    ),
    bad: "[adapters.\"team.wiki\"]\ndriver = \"mcp\"\ncommand = [\"wiki-mcp\"]\nexpose = \"all\"\n",
    good: "[adapters.\"team.wiki\"]\ndriver = \"mcp\"\ncommand = [\"wiki-mcp\"]\nexpose = \"all\"\nprefix = \"wiki_\"\n",
    ..CodeSpec::BASE
};

pub(super) static INVALID_PARAMS: CodeSpec = CodeSpec {
    title: Text::en("Parameters that are neither types nor a JSON Schema"),
    explanation: Text::en(
        "`params` is a table of name and type, where a type is `string`, `integer`, `number`, \
         `boolean`, `array` or `object`, with `!` behind it for a required parameter. Or it is a \
         whole JSON Schema of an object: with `type = \"object\"`, `properties` or `$ref`.\n\n\
         Correct the type, or write the whole schema.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.search]\ntool = \"find\"\n\n\
          [[adapters.notes.tools]]\nname = \"find_notes\"\nparams = { query = \"text!\" }\nop = \"search\"\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.search]\ntool = \"find\"\n\n\
           [[adapters.notes.tools]]\nname = \"find_notes\"\nparams = { query = \"string!\" }\nop = \"search\"\n",
    ..CodeSpec::BASE
};

pub(super) static OWNS_OVERLAP: CodeSpec = CodeSpec {
    title: Text::en("Two adapters read the same URIs"),
    explanation: Text::en(
        "Both say with `owns` that they read URIs with this beginning. The longest match decides; \
         where two are equally long, the first in the order of the configuration is asked and the \
         other never.\n\n\
         Make one of them longer, or delete it.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.read]\ntool = \"get\"\nowns = [\"notes://\"]\n\n\
          [adapters.archive]\ndriver = \"mcp\"\ncommand = [\"archive-mcp\"]\n\n\
          [adapters.archive.ops.read]\ntool = \"get\"\nowns = [\"notes://\"]\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.read]\ntool = \"get\"\nowns = [\"notes://\"]\n\n\
           [adapters.archive]\ndriver = \"mcp\"\ncommand = [\"archive-mcp\"]\n\n\
           [adapters.archive.ops.read]\ntool = \"get\"\nowns = [\"archive://\"]\n",
    ..CodeSpec::BASE
};

pub(super) static OWNS_EVERYTHING: CodeSpec = CodeSpec {
    title: Text::en("An adapter reads every URI there is"),
    explanation: Text::en(
        "Every URI begins with the empty text, so this adapter is asked for each document that no \
         other adapter owns, those of other programs included.\n\n\
         Write what its own URIs begin with, or delete the element.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.read]\ntool = \"get\"\nowns = [\"\"]\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.read]\ntool = \"get\"\nowns = [\"notes://\"]\n",
    ..CodeSpec::BASE
};

pub(super) static UNKNOWN_ADAPTER: CodeSpec = CodeSpec {
    title: Text::en("A setting names an adapter that does not exist"),
    explanation: Text::en(
        "No layer defines an adapter of that name, so the setting has no effect for it.\n\n\
         Correct the name, or define the adapter.",
    ),
    bad: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
          [adapters.notes.ops.search]\ntool = \"find\"\n\n[companion.notices]\nadapters = [\"nots\"]\n",
    good: "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes-mcp\"]\n\n\
           [adapters.notes.ops.search]\ntool = \"find\"\n\n[companion.notices]\nadapters = [\"notes\"]\n",
    ..CodeSpec::BASE
};
