//! Making a request: programs, HTTP services, MCP servers. All I/O of the room is here.

pub mod command;
pub mod http;
mod kin;
pub mod mcp;
pub mod process;
pub mod program;
pub mod reaper;

use std::time::Duration;

use kontext_config::model::{Adapter, Op};

use crate::fault::{Fault, FaultKind};

/// The most bytes of an answer that are read, decompressed.
pub const MOST_READ: usize = 8 * 1024 * 1024;

/// The limit of one call: the op's, else the adapter's.
pub fn limit(adapter: &Adapter, op: &Op) -> Duration {
    Duration::from_millis(op.timeout_ms.unwrap_or(adapter.timeout_ms))
}

/// An answer that is not read to its end; `source` says whose it is.
pub(crate) fn too_large(source: &str) -> Fault {
    let most = MOST_READ / (1024 * 1024);
    Fault::new(
        FaultKind::TooLarge,
        format!(
            "the answer of {source} is larger than {most} MiB, which is the most that is read; ask for less"
        ),
    )
}

/// A text on one line, without control and invisible formatting characters, of at most `most`
/// characters, `…` included.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let line = one_line(text);
    if line.chars().nth(most).is_none() {
        return line;
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

/// A text on one line, without control and invisible formatting characters.
pub(crate) fn one_line(text: &str) -> String {
    let invisible = |c: char| {
        matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    let plain: String = text
        .chars()
        .filter(|c| !invisible(*c))
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    plain.split_whitespace().collect::<Vec<&str>>().join(" ")
}
