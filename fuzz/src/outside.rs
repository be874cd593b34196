//! What comes from other programs, and what formatting makes of a text.

use kontext_engine::driver::mcp::sse::{Event, Parser};
use kontext_ide::format::{FormatOptions, apply, format as edits_of};
use kontext_mcp::jsonrpc;
use kontext_syntax::toml::Document;

/// One line of an agent: whatever it is, an answer to it is one line of JSON.
pub fn jsonrpc_line(data: &[u8]) {
    match jsonrpc::parse(data) {
        Ok(message) => {
            let _ = message.params();
            let value = message.clone().into_value().to_string();
            assert_eq!(jsonrpc::parse(value.as_bytes()), Ok(message));
        }
        Err(fault) => {
            if let Some(answer) = fault.answer {
                assert!(!answer.contains('\n'), "{answer:?}");
                assert!(
                    jsonrpc::parse(answer.as_bytes()).is_ok() || answer.starts_with('['),
                    "{answer:?}"
                );
            }
        }
    }
}

/// Git's configuration files.
pub fn git_config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let entries = kontext_ls::world::git_config::parse(&text);
    let remotes = kontext_ls::world::git_config::remotes(&entries);
    assert!(remotes.iter().all(|remote| !remote.url.is_empty()));
    let _ = kontext_ls::world::git_config::setting(&entries, "core", "worktree");
}

/// A stream of events: how it is cut into chunks, by the first byte, makes no difference.
pub fn sse(data: &[u8]) {
    let Some((size, stream)) = data.split_first() else {
        return;
    };
    let read = |size: usize| -> Vec<Event> {
        let mut parser = Parser::new(1 << 20);
        let mut events = Vec::new();
        for chunk in stream.chunks(size) {
            events.extend(parser.feed(chunk).unwrap_or_default());
        }
        events.extend(parser.finish());
        events
    };
    let events = read(usize::from(*size % 16) + 1);
    assert!(events.iter().all(|event| !event.data.contains('\r')));
    assert_eq!(events, read(stream.len().max(1)));
}

/// Formatting changes blanks alone, and once formatted a text stays as it is.
pub fn format(data: &[u8]) {
    let text = String::from_utf8_lossy(data.get(..4096).unwrap_or(data));
    let options = FormatOptions::default();
    let Ok(edits) = edits_of(&text, &options, None) else {
        return;
    };
    let mut at = 0;
    for edit in &edits {
        assert!(at <= edit.range.start && edit.range.start <= edit.range.end);
        at = edit.range.end;
    }
    let formatted = apply(&text, &edits);
    assert_eq!(
        Document::parse(&*formatted).faults().count(),
        0,
        "{text:?} became {formatted:?}"
    );
    let again = edits_of(&formatted, &options, None);
    assert_eq!(again, Ok(Vec::new()), "{text:?} became {formatted:?}");
}
