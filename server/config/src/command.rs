//! What must not happen to an input in an argument vector: that a program takes it for an option,
//! that a shell runs it (adapters.md section 7).
//!
//! The editor asks about what is written, the engine about the same before it runs; both get the
//! answer from here.

use kontext_syntax::template::{Expr, Part, Template};

use crate::schema::root_of_template;

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
const OTHER_SHELLS: &[&str] = &["cmd", "powershell", "pwsh"];
/// Programs that start the program behind them.
const STARTERS: &[&str] = &[
    "env",
    "busybox",
    "sudo",
    "doas",
    "nice",
    "nohup",
    "time",
    "timeout",
    "setsid",
    "stdbuf",
    "exec",
    "xargs",
    "find",
    "fd",
    "parallel",
    "ionice",
    "chrt",
    "taskset",
    "chroot",
    "unshare",
    "nsenter",
    "setpriv",
    "prlimit",
    "strace",
    "bwrap",
    "firejail",
    "systemd-run",
];
/// Programs that hand what follows their `-c` to a shell.
const HANDS_ON: &[&str] = &["su", "runuser", "flock", "script"];

/// Inputs that do not come as free text from outside.
const HARMLESS: &[&str] = &["limit", "output_file"];

/// What could become of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Danger {
    /// It becomes a part of a script that a shell runs.
    Script,
    /// The argument begins with it, and no `--` stands before: it may be read as an option.
    Option,
}

impl Danger {
    /// What is wrong and what to do; `input` is the name the expression reads.
    pub fn message(self, input: &str) -> String {
        match self {
            Self::Script => format!(
                "the shell runs what the input `{input}` holds; call the program without a shell, or pass the input behind the script and use it as \"$1\""
            ),
            Self::Option => format!(
                "an input `{input}` that begins with `-` would be read as an option; put the element \"--\" before it, or join it to an option: \"--name={{{{{input}}}}}\""
            ),
        }
    }
}

/// Whether a name is an input that may hold any text.
pub fn is_free_input(name: &str) -> bool {
    root_of_template(name).is_none() && !HARMLESS.contains(&name)
}

/// The first segment of what an expression reads.
pub fn name_read(expr: &Expr) -> Option<&str> {
    expr.path().and_then(|path| path.key(0))
}

/// What could become of an input in the element at `at` (0-based) of an argument vector, and the
/// expression that puts it there. `argv` holds the elements as written, `None` where one is not a
/// string; `template` is the element, parsed; `is_input` tells whether a terminated expression
/// inserts an input.
pub fn danger<'t>(
    argv: &[Option<&str>],
    at: usize,
    template: &'t Template,
    is_input: impl Fn(&Expr) -> bool,
) -> Option<(Danger, &'t Expr)> {
    if is_script(argv, at) {
        let expr = template.exprs().find(|expr| is_input(expr))?;
        return Some((Danger::Script, expr));
    }
    let Some(Part::Expr(first)) = template.parts.first() else {
        return None;
    };
    let may_lead = first.terminated && !ends_in(first, "slug") && is_input(first);
    (may_lead && at > 0 && !is_protected(argv, at)).then_some((Danger::Option, first))
}

/// Whether `--` stands before the element at `at`.
pub fn is_protected(argv: &[Option<&str>], at: usize) -> bool {
    argv.iter().take(at).any(|element| *element == Some("--"))
}

/// Whether the last filter of an expression is the one of this name.
pub fn ends_in(expr: &Expr, filter: &str) -> bool {
    expr.filters.last().is_some_and(|last| last.name == filter)
}

/// Whether the element at `at` is text that a shell reads as a script.
pub fn is_script(argv: &[Option<&str>], at: usize) -> bool {
    let Some((shell, name)) = shell(argv, &[SHELLS, OTHER_SHELLS, HANDS_ON]) else {
        return false;
    };
    let behind = |is_flag: fn(&str) -> bool| {
        let mut between = shell + 1..at;
        between.find(|at| text(argv, *at).is_some_and(is_flag))
    };
    if OTHER_SHELLS.contains(&name.as_str()) {
        // Everything behind the flag is joined to the script.
        let flag = behind(|flag| {
            let flag = flag.to_ascii_lowercase();
            matches!(
                flag.as_str(),
                "/c" | "/k" | "/s" | "-c" | "-command" | "-commandwithargs" | "--command"
            )
        });
        return flag.is_some();
    }
    // The first operand behind the flag is the script, the rest are its arguments.
    let flag = behind(|flag| {
        flag == "--command"
            || flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c')
    });
    let is_operand = |at: &usize| text(argv, *at).is_none_or(|text| !is_option(text));
    flag.is_some_and(|flag| (flag + 1..).find(is_operand) == Some(at))
}

/// Whether the program reads its standard input as a script: a shell without one among its
/// arguments.
pub fn reads_script(argv: &[Option<&str>]) -> bool {
    let Some((shell, _)) = shell(argv, &[SHELLS]) else {
        return false;
    };
    let mut arguments = (shell + 1..argv.len()).filter_map(|at| text(argv, at));
    let says_so = |argument: &str| {
        is_option(argument) && !argument.starts_with("--") && argument.contains('s')
    };
    arguments.clone().any(says_so) || arguments.all(is_option)
}

/// Where the first program of `shells` stands, and its name: at the front, or behind a program
/// that starts others, whose own options and settings may stand between.
fn shell(argv: &[Option<&str>], shells: &[&[&str]]) -> Option<(usize, String)> {
    let is_shell = |name: &str| shells.iter().any(|names| names.contains(&name));
    let name = |at| text(argv, at).map(program_name);
    let first = name(0)?;
    if is_shell(&first) {
        return Some((0, first));
    }
    let starts = STARTERS.contains(&first.as_str()) || HANDS_ON.contains(&first.as_str());
    let mut behind = 1..if starts { argv.len() } else { 0 };
    behind.find_map(|at| Some((at, name(at).filter(|name| is_shell(name))?)))
}

fn text<'a>(argv: &[Option<&'a str>], at: usize) -> Option<&'a str> {
    argv.get(at).copied().flatten()
}

fn is_option(argument: &str) -> bool {
    argument.starts_with(['-', '+'])
}

/// The file name of a program, without `.exe`, in small letters.
fn program_name(program: &str) -> String {
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let lower = file.to_ascii_lowercase();
    lower.strip_suffix(".exe").unwrap_or(&lower).to_owned()
}
