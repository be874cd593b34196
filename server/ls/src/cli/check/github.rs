//! Diagnostics as workflow commands of GitHub Actions: one line each, which the runner turns into
//! annotations of the changed files.

use std::fmt::Write as _;

use kontext_mcp::answers::{Diagnostic, Severity};

use super::Report;

/// The commands. Lines and columns count from 1; the end column is the last one inside.
pub(super) fn commands(reports: &[Report<'_>]) -> String {
    let mut out = String::new();
    for diagnostic in reports.iter().flat_map(Report::in_shape) {
        command(&mut out, &diagnostic);
    }
    out
}

fn command(out: &mut String, one: &Diagnostic) {
    let level = match one.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "notice",
    };
    let (start, end) = (one.range.start, one.range.end);
    let _ = write!(out, "::{level} file={}", property(&one.path));
    let _ = write!(out, ",line={},endLine={}", start.line + 1, end.line + 1);
    // The runner takes columns within one line only.
    if start.line == end.line {
        let last = end.character.max(start.character + 1);
        let _ = write!(out, ",col={},endColumn={last}", start.character + 1);
    }
    let _ = write!(
        out,
        ",title={}::{}",
        property(&one.code),
        data(&one.message)
    );
    if let Some(fix) = &one.fix {
        let _ = write!(out, " ({})", data(&fix.title));
    }
    out.push('\n');
}

/// Text after `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use kontext_mcp::answers::{Fix, Position, Range};

    use super::*;

    #[test]
    fn what_would_end_a_value_is_escaped() {
        let at = |line, character| Position { line, character };
        let mut one = Diagnostic {
            path: "a,b:c%.toml".to_owned(),
            range: Range {
                start: at(2, 4),
                end: at(2, 4),
            },
            severity: Severity::Hint,
            code: "x".to_owned(),
            message: "50%: a\r\nb".to_owned(),
            fix: Some(Fix {
                title: "Do, it".to_owned(),
                edits: Vec::new(),
            }),
        };
        let mut out = String::new();
        command(&mut out, &one);
        assert_eq!(
            out,
            "::notice file=a%2Cb%3Ac%25.toml,line=3,endLine=3,col=5,endColumn=5,title=x::50%25: a%0D%0Ab (Do, it)\n"
        );
        one.range.end = at(3, 1);
        one.severity = Severity::Error;
        out.clear();
        command(&mut out, &one);
        assert!(
            out.starts_with("::error file=a%2Cb%3Ac%25.toml,line=3,endLine=4,title=x::"),
            "{out}"
        );
    }
}
