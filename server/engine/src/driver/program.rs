//! Which file a program's name means.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf, is_separator};

use kontext_config::facts::Env;
use kontext_syntax::text::quoted;

use crate::fault::{Fault, FaultKind};

/// How much of a file is read to find the interpreter it names; kernels read no more.
const MOST_OF_SCRIPT: u64 = 512;

/// The file that `name` means in `cwd` (absolute) with the environment of the child: a name with a
/// separator is a path, relative to `cwd`; any other is looked up on the child's `PATH`, where the
/// first that can be executed wins. Relative and empty entries of `PATH` are left out, as they are
/// for `when.command`; on Windows the extensions of `PATHEXT` are tried.
///
/// # Errors
///
/// Nothing of that name can be started; the words say where it was looked for. Folders of `PATH`
/// are counted, not named: they are the value of a variable.
pub fn find(name: &str, cwd: &Path, env: &Env) -> Result<PathBuf, Fault> {
    let shown = quoted(name);
    let fault = |words: String| Err(Fault::new(FaultKind::Unreachable, words));
    if name.is_empty() {
        return Err(Fault::refused(
            "the command's first element, the program, is empty",
        ));
    }
    if name.contains(is_separator) {
        let path = cwd.join(name);
        return match first(std::slice::from_ref(&path), env) {
            Ok(found) => Ok(found),
            Err(None) if name.starts_with('~') => fault(format!(
                "{shown} does not exist: `~` is not expanded in a command, write `{{{{env.HOME}}}}` in its place"
            )),
            Err(None) if Path::new(name).is_absolute() => fault(format!("{shown} does not exist")),
            Err(None) => fault(format!(
                "{shown} does not exist in the working folder {}",
                quoted(&cwd.to_string_lossy())
            )),
            Err(Some(near)) => fault(near.words(&shown, "")),
        };
    }
    let folders = path_folders(env);
    let candidates: Vec<PathBuf> = folders.iter().map(|folder| folder.join(name)).collect();
    match first(&candidates, env) {
        Ok(found) => Ok(found),
        Err(Some(near)) => fault(near.words(&shown, ", found on PATH,")),
        Err(None) if env.get("PATH").is_none() => fault(format!(
            "{shown} was not found: the program would run without a PATH"
        )),
        Err(None) => {
            let count = folders.len();
            let folders = if count == 1 { "folder" } else { "folders" };
            fault(format!(
                "{shown} was not found in the {count} {folders} of PATH; install it, or name it by its path"
            ))
        }
    }
}

/// The interpreter that a script names behind `#!`, where that file does not exist.
pub fn missing_interpreter(script: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = fs::File::open(script).ok()?;
    file.take(MOST_OF_SCRIPT).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let line = start.strip_prefix("#!")?.split('\n').next()?;
    // With a carriage return at the end the kernel looks for a file of that name.
    let interpreter = line.trim_start().split([' ', '\t']).next()?;
    (!interpreter.is_empty() && !Path::new(interpreter).exists())
        .then(|| interpreter.escape_default().to_string())
}

/// What would have done but for one thing.
enum Near {
    NotExecutable,
    Folder,
}

impl Near {
    fn words(&self, shown: &str, place: &str) -> String {
        match self {
            Self::NotExecutable => {
                format!("{shown}{place} is not executable; give it the permission (chmod +x)")
            }
            Self::Folder => format!("{shown}{place} is a folder, not a program"),
        }
    }
}

/// The first that can be executed, else the most telling thing that stood in the way.
fn first(candidates: &[PathBuf], env: &Env) -> Result<PathBuf, Option<Near>> {
    let mut near = None;
    for candidate in candidates
        .iter()
        .flat_map(|path| with_extensions(path, env))
    {
        let Ok(meta) = fs::metadata(&candidate) else {
            continue;
        };
        if meta.is_dir() {
            near.get_or_insert(Near::Folder);
        } else if is_executable(&meta) {
            return Ok(candidate);
        } else {
            near = Some(Near::NotExecutable);
        }
    }
    Err(near)
}

/// The absolute folders of the child's `PATH`, each once.
fn path_folders(env: &Env) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in std::env::split_paths(env.get("PATH").unwrap_or_default()) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

#[cfg(not(windows))]
fn with_extensions(path: &Path, _env: &Env) -> Vec<PathBuf> {
    vec![path.to_owned()]
}

#[cfg(windows)]
fn with_extensions(path: &Path, env: &Env) -> Vec<PathBuf> {
    let listed = env.get("PATHEXT").filter(|list| !list.is_empty());
    let extensions: Vec<&str> = listed
        .unwrap_or(".COM;.EXE;.BAT;.CMD")
        .split(';')
        .filter(|extension| !extension.is_empty())
        .collect();
    let lower = path.to_string_lossy().to_lowercase();
    if extensions
        .iter()
        .any(|extension| lower.ends_with(&extension.to_lowercase()))
    {
        return vec![path.to_owned()];
    }
    let appended = |extension: &&str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    extensions.iter().map(appended).collect()
}

#[cfg(unix)]
fn is_executable(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.is_file() && meta.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(meta: &fs::Metadata) -> bool {
    meta.is_file()
}
