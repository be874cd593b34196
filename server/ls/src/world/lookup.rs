//! Answers to the questions that conditions ask of the disk (adapters.md section 3).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kontext_config::facts::{Env, Facts, PathFact, ProgramFact, Question};

use super::env::Platform;
use super::layers::is_missing;

/// `base` with the answers to these questions in the place of those it held.
pub fn gather<'a>(questions: impl IntoIterator<Item = &'a Question>, mut base: Facts) -> Facts {
    let platform = Platform::current();
    base.programs.clear();
    base.paths.clear();
    for question in questions {
        match question {
            Question::Program(name) if !base.programs.contains_key(name) => {
                let fact = program(name, &base.env, platform);
                base.programs.insert(name.clone(), fact);
            }
            Question::Path(pattern) if !base.paths.contains_key(pattern) => {
                base.paths.insert(pattern.clone(), path(pattern, platform));
            }
            Question::Program(_) | Question::Path(_) => {}
        }
    }
    base
}

/// The folders of `PATH`, each once. Empty and relative entries are left out: they mean whatever
/// folder a program happens to stand in, which is not this process's.
pub fn path_folders(env: &Env, platform: Platform) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in env
        .get("PATH")
        .unwrap_or_default()
        .split(platform.list_separator())
    {
        let entry = match platform {
            Platform::Windows => entry.trim_matches('"'),
            Platform::Unix => entry,
        };
        if platform.is_absolute(entry) && !folders.iter().any(|known| known == Path::new(entry)) {
            folders.push(PathBuf::from(entry));
        }
    }
    folders
}

/// Whether a program can be started. A name without a separator is looked up on `PATH`, the first
/// that can be executed wins; any other is an absolute path. On Windows the extensions of
/// `PATHEXT` are tried.
pub fn program(name: &str, env: &Env, platform: Platform) -> ProgramFact {
    if name.is_empty() {
        return ProgramFact::Missing { searched: 0 };
    }
    let folders = if name.contains(|c| platform.is_separator(c)) {
        if !platform.is_absolute(name) {
            return ProgramFact::Missing { searched: 0 };
        }
        Vec::new()
    } else {
        path_folders(env, platform)
    };
    // What would do but for one thing; shown only where nothing better turns up.
    let mut near: Option<ProgramFact> = None;
    for candidate in candidates(name, &folders, env, platform) {
        let Ok(meta) = fs::metadata(&candidate) else {
            continue;
        };
        if meta.is_dir() {
            near.get_or_insert(ProgramFact::Directory(candidate));
        } else if !is_executable(&meta, platform) {
            // A file that lacks a permission says more than a folder of the same name.
            if !matches!(near, Some(ProgramFact::NotExecutable(_))) {
                near = Some(ProgramFact::NotExecutable(candidate));
            }
        } else {
            return ProgramFact::Found(candidate);
        }
    }
    near.unwrap_or(ProgramFact::Missing {
        searched: folders.len(),
    })
}

/// The names of all programs on `PATH`, sorted, each once. On Windows without their extension.
pub fn programs(env: &Env) -> Vec<String> {
    let platform = Platform::current();
    let mut names: Vec<String> = Vec::new();
    for folder in path_folders(env, platform) {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let runs = fs::metadata(entry.path())
                .is_ok_and(|meta| meta.is_file() && is_executable(&meta, platform));
            let name = if platform == Platform::Windows {
                Path::new(&entry.file_name())
                    .file_stem()
                    .map(ToOwned::to_owned)
            } else {
                Some(entry.file_name())
            };
            if let Some(name) = name
                .and_then(|name| name.into_string().ok())
                .filter(|_| runs)
            {
                names.push(name);
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Every file that would be the program `name`, in the order of preference. With no folders,
/// `name` is a path.
pub(super) fn candidates(
    name: &str,
    folders: &[PathBuf],
    env: &Env,
    platform: Platform,
) -> Vec<PathBuf> {
    let names = file_names(name, env, platform);
    if folders.is_empty() {
        return if name.contains(|c| platform.is_separator(c)) {
            names.into_iter().map(PathBuf::from).collect()
        } else {
            Vec::new()
        };
    }
    folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)))
        .collect()
}

fn file_names(name: &str, env: &Env, platform: Platform) -> Vec<String> {
    if platform == Platform::Unix {
        return vec![name.to_owned()];
    }
    let listed = env.get("PATHEXT").filter(|list| !list.is_empty());
    let extensions: Vec<&str> = listed
        .unwrap_or(".COM;.EXE;.BAT;.CMD")
        .split(';')
        .filter(|ext| !ext.is_empty())
        .collect();
    let lower = name.to_lowercase();
    if extensions
        .iter()
        .any(|extension| lower.ends_with(&extension.to_lowercase()))
    {
        return vec![name.to_owned()];
    }
    extensions
        .iter()
        .map(|extension| format!("{name}{extension}"))
        .collect()
}

fn is_executable(meta: &fs::Metadata, platform: Platform) -> bool {
    #[cfg(unix)]
    if platform == Platform::Unix {
        use std::os::unix::fs::PermissionsExt;
        return meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    }
    let _ = platform;
    meta.is_file()
}

/// Whether an absolute path exists. `*` (any run of characters) and `?` (one character) count in
/// the last segment only; a name that begins with a dot is matched only by a pattern that does. A
/// trailing separator asks for a folder. Stops at the first match.
pub fn path(pattern: &str, platform: Platform) -> PathFact {
    if !platform.is_absolute(pattern) {
        return PathFact::Missing;
    }
    match split_pattern(pattern, platform) {
        Some(glob) => any_match(&glob, platform),
        None => match fs::metadata(pattern) {
            Ok(_) => PathFact::Exists,
            Err(error) => fact_of(&error),
        },
    }
}

/// A path pattern taken apart.
pub(super) struct Glob<'a> {
    /// The folder that holds the matches.
    pub(super) folder: &'a Path,
    segment: &'a str,
    wants_folder: bool,
}

/// The parts of a pattern with `*` or `?` in its last segment; `None` for a plain path.
pub(super) fn split_pattern(pattern: &str, platform: Platform) -> Option<Glob<'_>> {
    let trimmed = pattern.trim_end_matches(|c| platform.is_separator(c));
    let at = trimmed.rfind(|c| platform.is_separator(c))?;
    let (folder, segment) = trimmed.split_at(at + 1);
    let has_wildcard = segment.contains(['*', '?']);
    let wants_folder = trimmed.len() < pattern.len();
    has_wildcard.then(|| Glob {
        folder: Path::new(folder),
        segment,
        wants_folder,
    })
}

fn any_match(glob: &Glob<'_>, platform: Platform) -> PathFact {
    let entries = match fs::read_dir(glob.folder) {
        Ok(entries) => entries,
        Err(error) => return fact_of(&error),
    };
    let hidden = glob.segment.starts_with('.');
    let mut fact = PathFact::Missing;
    for entry in entries {
        let Ok(entry) = entry else {
            // The rest of the folder is out of reach; "missing" would be a guess.
            return PathFact::Unreadable;
        };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') != hidden && !hidden {
            continue;
        }
        if !matches(glob.segment, &name, platform) {
            continue;
        }
        // As for a plain path, a link that leads nowhere does not exist.
        match fs::metadata(entry.path()) {
            Ok(meta) if !glob.wants_folder || meta.is_dir() => return PathFact::Exists,
            Ok(_) => {}
            Err(error) => {
                if fact_of(&error) == PathFact::Unreadable {
                    fact = PathFact::Unreadable;
                }
            }
        }
    }
    fact
}

fn fact_of(error: &io::Error) -> PathFact {
    if is_missing(error) {
        PathFact::Missing
    } else {
        PathFact::Unreadable
    }
}

/// Whether the whole of `name` matches. Linear in practice: of several stars only the last one
/// seen is tried again.
fn matches(pattern: &str, name: &str, platform: Platform) -> bool {
    let fold = |text: &str| -> Vec<char> {
        match platform {
            Platform::Windows => text.to_lowercase().chars().collect(),
            Platform::Unix => text.chars().collect(),
        }
    };
    let (pattern, name) = (fold(pattern), fold(name));
    let (mut p, mut n) = (0, 0);
    // Where the last star stands, and how much of the name it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&c) = name.get(n) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some('?') => {
                p += 1;
                n += 1;
            }
            Some(&literal) if literal == c => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn env(vars: &[(&str, &str)], platform: Platform) -> Env {
        let vars = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Env::new(vars, platform == Platform::Windows)
    }

    fn write(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn programs_on_path() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path();
        let executable = |path: &str| {
            write(&d.join(path));
            fs::set_permissions(d.join(path), fs::Permissions::from_mode(0o755)).unwrap();
        };
        executable("b/tool");
        write(&d.join("a/tool"));
        write(&d.join("a/plain"));
        fs::create_dir_all(d.join("a/folder")).unwrap();
        fs::create_dir_all(d.join("a/both")).unwrap();
        write(&d.join("b/both"));
        let a = d.join("a").display().to_string();
        let b = d.join("b").display().to_string();
        let env = env(
            &[("PATH", &format!("{a}::rel:.:{b}:{a}:/gone"))],
            Platform::Unix,
        );
        let ask = |name: &str| program(name, &env, Platform::Unix);
        assert_eq!(path_folders(&env, Platform::Unix).len(), 3);
        // A file that may not be executed does not hide one further on.
        assert_eq!(ask("tool"), ProgramFact::Found(d.join("b/tool")));
        assert_eq!(ask("plain"), ProgramFact::NotExecutable(d.join("a/plain")));
        assert_eq!(ask("folder"), ProgramFact::Directory(d.join("a/folder")));
        assert_eq!(ask("both"), ProgramFact::NotExecutable(d.join("b/both")));
        assert_eq!(ask("nope"), ProgramFact::Missing { searched: 3 });
        assert_eq!(ask(""), ProgramFact::Missing { searched: 0 });
        assert_eq!(ask("a\u{0}b"), ProgramFact::Missing { searched: 3 });
        assert_eq!(
            ask(&format!("{b}/tool")),
            ProgramFact::Found(d.join("b/tool"))
        );
        assert_eq!(
            ask(&format!("{a}/tool")),
            ProgramFact::NotExecutable(d.join("a/tool"))
        );
        assert_eq!(ask(&format!("{a}/x")), ProgramFact::Missing { searched: 0 });
        assert_eq!(ask("rel/tool"), ProgramFact::Missing { searched: 0 });
        let empty = program("tool", &Env::default(), Platform::Unix);
        assert_eq!(empty, ProgramFact::Missing { searched: 0 });
    }

    #[test]
    fn pathext_on_windows() {
        let env = env(
            &[("Path", r#""C:\a";rel;D:\b"#), ("PATHEXT", ".EXE;.cmd")],
            Platform::Windows,
        );
        let folders = path_folders(&env, Platform::Windows);
        assert_eq!(folders, [PathBuf::from(r"C:\a"), PathBuf::from(r"D:\b")]);
        assert_eq!(
            file_names("rg", &env, Platform::Windows),
            ["rg.EXE", "rg.cmd"]
        );
        assert_eq!(file_names("rg.exe", &env, Platform::Windows), ["rg.exe"]);
        assert_eq!(
            file_names("a.b", &env, Platform::Windows),
            ["a.b.EXE", "a.b.cmd"]
        );
        let none = Env::default();
        assert_eq!(file_names("x", &none, Platform::Windows).len(), 4);
        assert!(candidates("x", &[], &none, Platform::Windows).is_empty());
    }

    #[test]
    fn paths_and_patterns() {
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path().display().to_string();
        write(&dir.path().join("docs/guide.md"));
        write(&dir.path().join("docs/.hidden.md"));
        write(&dir.path().join("docs/sub-a/x"));
        let ask = |pattern: &str| path(&format!("{d}/{pattern}"), Platform::Unix);
        for pattern in [
            "docs",
            "docs/",
            "docs/guide.md",
            "docs/*",
            "docs/*.md",
            "docs/g?ide.*",
            "docs/.*",
            "docs/.h*.md",
            "docs/sub*/",
            "docs/**",
            "*",
        ] {
            assert_eq!(ask(pattern), PathFact::Exists, "{pattern}");
        }
        for pattern in [
            "gone",
            "docs/*.txt",
            "docs/*hidden.md",
            "docs/?hidden.md",
            "docs/guide.md/",
            "docs/guide*/",
            "d*/guide.md",
            "docs/guide.md/*",
            "gone/*",
            "docs/a\u{0}",
            "docs/???",
        ] {
            assert_eq!(ask(pattern), PathFact::Missing, "{pattern}");
        }
        assert_eq!(ask(&"x".repeat(5000)), PathFact::Missing);
        assert_eq!(path("docs", Platform::Unix), PathFact::Missing);
        assert_eq!(path("", Platform::Unix), PathFact::Missing);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_or_round_in_circles() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path().display().to_string();
        symlink("gone", dir.path().join("dead")).unwrap();
        assert_eq!(
            path(&format!("{d}/dead"), Platform::Unix),
            PathFact::Missing
        );
        assert_eq!(path(&format!("{d}/d*"), Platform::Unix), PathFact::Missing);
        symlink("loop", dir.path().join("loop")).unwrap();
        assert_eq!(
            path(&format!("{d}/loop"), Platform::Unix),
            PathFact::Unreadable
        );
        assert_eq!(
            path(&format!("{d}/loop/*"), Platform::Unix),
            PathFact::Unreadable
        );
        assert_eq!(
            path(&format!("{d}/l*"), Platform::Unix),
            PathFact::Unreadable
        );
    }

    #[test]
    fn gather_answers_each_question_once_and_keeps_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().display().to_string();
        let questions = [
            Question::Path(here.clone()),
            Question::Path(here.clone()),
            Question::Program("surely-no-such-program".into()),
        ];
        let mut base = Facts {
            env: super::super::process_env(),
            ..Facts::default()
        };
        base.paths.insert("stale".into(), PathFact::Exists);
        let facts = gather(&questions, base.clone());
        assert_eq!(facts.env, base.env);
        assert_eq!(
            facts.paths.into_iter().collect::<Vec<_>>(),
            [(here, PathFact::Exists)]
        );
        let program = facts.programs.get("surely-no-such-program");
        assert!(matches!(
            program,
            Some(ProgramFact::Missing { searched: 1.. })
        ));
    }

    #[test]
    fn windows_matches_without_case() {
        assert!(matches("*.MD", "a.md", Platform::Windows));
        assert!(!matches("*.MD", "a.md", Platform::Unix));
    }

    /// The plain definition, exponential but obvious.
    fn slow(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) => {
                slow(rest, name)
                    || name
                        .split_first()
                        .is_some_and(|(_, name)| slow(pattern, name))
            }
            (Some((p, rest)), Some((n, name))) => (*p == '?' || p == n) && slow(rest, name),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_its_definition(pattern in "[ab*?]{0,8}", name in "[ab]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let want = slow(&chars(&pattern), &chars(&name));
            prop_assert_eq!(matches(&pattern, &name, Platform::Unix), want);
        }
    }
}
