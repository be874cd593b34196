//! The environment of the process and the folders that follow from it.

use std::path::PathBuf;

use kontext_config::facts::Env;

/// Whose rules for paths and variables apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux, macOS and their kin.
    Unix,
    /// Windows.
    Windows,
}

impl Platform {
    /// The platform this program was built for.
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else {
            Self::Unix
        }
    }

    /// Whether `text` is an absolute path on this platform. On Windows that takes a drive or a
    /// share: `\x` alone depends on the current drive.
    pub fn is_absolute(self, text: &str) -> bool {
        match self {
            Self::Unix => text.starts_with('/'),
            Self::Windows => {
                let mut chars = text.chars();
                match (chars.next(), chars.next(), chars.next()) {
                    (Some('\\' | '/'), Some('\\' | '/'), _) => true,
                    (Some(drive), Some(':'), Some('\\' | '/')) => drive.is_ascii_alphabetic(),
                    _ => false,
                }
            }
        }
    }

    /// Whether `c` separates the segments of a path.
    pub const fn is_separator(self, c: char) -> bool {
        matches!((self, c), (_, '/') | (Self::Windows, '\\'))
    }

    /// What separates the folders in `PATH`.
    pub(super) const fn list_separator(self) -> char {
        match self {
            Self::Unix => ':',
            Self::Windows => ';',
        }
    }

    fn join(self, base: &str, rest: &[&str]) -> String {
        let separator = match self {
            Self::Unix => '/',
            Self::Windows => '\\',
        };
        let mut out = base.to_owned();
        for segment in rest {
            if !out.ends_with(|c| self.is_separator(c)) {
                out.push(separator);
            }
            out.push_str(segment);
        }
        out
    }
}

/// The environment of this process. Names and values that are not UTF-8 come with U+FFFD where
/// they are not.
pub fn process_env() -> Env {
    let vars = std::env::vars_os().map(|(k, v)| {
        (
            k.to_string_lossy().into_owned(),
            v.to_string_lossy().into_owned(),
        )
    });
    Env::new(vars, cfg!(windows))
}

/// The person's home folder: `HOME` (Windows: `USERPROFILE`), else what the system knows of the
/// account. `None` where even that knows nothing.
pub fn home(env: &Env, platform: Platform) -> Option<PathBuf> {
    home_text(env, platform)
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().filter(|home| home.is_absolute()))
}

fn home_text(env: &Env, platform: Platform) -> Option<String> {
    let name = match platform {
        Platform::Unix => "HOME",
        Platform::Windows => "USERPROFILE",
    };
    absolute(env, name, platform)
}

/// The folder of the personal layers (adapters.md section 1): `$KONTEXT_CONFIG_DIR`, else
/// `$XDG_CONFIG_HOME/kontext`, else `~/.config/kontext` (Windows: `%APPDATA%\kontext`).
///
/// A variable that is empty counts as not set. `KONTEXT_CONFIG_DIR` may begin with `~/`; relative,
/// it is taken from the current folder, as the shell that set it meant it. A relative
/// `XDG_CONFIG_HOME` or `APPDATA` is ignored, as the XDG base directory specification asks.
///
/// `None` only where no variable and no account names a home folder.
pub fn config_home(env: &Env, platform: Platform) -> Option<PathBuf> {
    // A relative one would make a folder of the repository a trusted layer.
    if let Some(own) = env
        .get("KONTEXT_CONFIG_DIR")
        .and_then(|own| own_folder(own, env, platform))
    {
        return Some(own);
    }
    if let Some(xdg) = absolute(env, "XDG_CONFIG_HOME", platform) {
        return Some(platform.join(&xdg, &["kontext"]).into());
    }
    match platform {
        Platform::Windows => absolute(env, "APPDATA", platform)
            .map(|data| platform.join(&data, &["kontext"]).into())
            .or_else(|| {
                let home = home(env, platform)?;
                let home = home.to_string_lossy();
                Some(
                    platform
                        .join(&home, &["AppData", "Roaming", "kontext"])
                        .into(),
                )
            }),
        Platform::Unix => home(env, platform).map(|home| home.join(".config").join("kontext")),
    }
}

fn own_folder(own: &str, env: &Env, platform: Platform) -> Option<PathBuf> {
    let below_home = match own.strip_prefix('~') {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(|c| platform.is_separator(c)),
        None => None,
    };
    if let (Some(rest), Some(home)) = (below_home, home(env, platform)) {
        return Some(if rest.is_empty() {
            home
        } else {
            home.join(rest)
        });
    }
    platform.is_absolute(own).then(|| PathBuf::from(own))
}

fn absolute(env: &Env, name: &str, platform: Platform) -> Option<String> {
    env.get(name)
        .filter(|value| platform.is_absolute(value))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)], platform: Platform) -> Env {
        let vars = vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Env::new(vars, platform == Platform::Windows)
    }

    fn unix(vars: &[(&str, &str)]) -> Option<PathBuf> {
        config_home(&env(vars, Platform::Unix), Platform::Unix)
    }

    fn windows(vars: &[(&str, &str)]) -> Option<String> {
        config_home(&env(vars, Platform::Windows), Platform::Windows)
            .map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let all = [
            ("KONTEXT_CONFIG_DIR", "/k"),
            ("XDG_CONFIG_HOME", "/xdg"),
            ("HOME", "/home/mei"),
        ];
        assert_eq!(unix(&all), Some("/k".into()));
        assert_eq!(unix(&all[1..]), Some("/xdg/kontext".into()));
        assert_eq!(unix(&all[2..]), Some("/home/mei/.config/kontext".into()));
    }

    #[test]
    fn empty_and_relative_values_do_not_mislead() {
        let home = ("HOME", "/h");
        assert_eq!(
            unix(&[("KONTEXT_CONFIG_DIR", ""), home]),
            Some("/h/.config/kontext".into())
        );
        assert_eq!(
            unix(&[("XDG_CONFIG_HOME", ""), home]),
            Some("/h/.config/kontext".into())
        );
        assert_eq!(
            unix(&[("XDG_CONFIG_HOME", "rel"), home]),
            Some("/h/.config/kontext".into())
        );
        assert_eq!(
            unix(&[("KONTEXT_CONFIG_DIR", "~/k"), home]),
            Some("/h/k".into())
        );
        assert_eq!(
            unix(&[("KONTEXT_CONFIG_DIR", "~"), home]),
            Some("/h".into())
        );
        // A relative folder would lie in whatever repository is looked at.
        for relative in ["conf", "./conf", "~k"] {
            assert_eq!(
                unix(&[("KONTEXT_CONFIG_DIR", relative), home]),
                Some("/h/.config/kontext".into())
            );
        }
    }

    #[test]
    fn windows_uses_appdata_and_ignores_case() {
        assert_eq!(
            windows(&[("AppData", r"C:\Users\mei\AppData\Roaming")]).as_deref(),
            Some(r"C:\Users\mei\AppData\Roaming\kontext")
        );
        assert_eq!(
            windows(&[("USERPROFILE", r"C:\Users\mei\")]).as_deref(),
            Some(r"C:\Users\mei\AppData\Roaming\kontext")
        );
        assert_eq!(
            windows(&[("XDG_CONFIG_HOME", "D:/conf"), ("APPDATA", r"C:\x")]).as_deref(),
            Some(r"D:/conf\kontext")
        );
        assert_eq!(
            windows(&[("XDG_CONFIG_HOME", "/no-drive"), ("APPDATA", r"C:\x")]).as_deref(),
            Some(r"C:\x\kontext")
        );
    }

    #[test]
    fn absolute_paths_per_platform() {
        assert!(Platform::Windows.is_absolute(r"\\server\share"));
        assert!(Platform::Windows.is_absolute("c:/x"));
        assert!(!Platform::Windows.is_absolute("c:x"));
        assert!(!Platform::Windows.is_absolute(""));
        assert!(Platform::Unix.is_absolute("/"));
        assert!(!Platform::Unix.is_absolute("c:/x"));
    }

    #[test]
    fn process_env_is_read_and_its_debug_shows_names_only() {
        let env = process_env();
        assert!(env.is_set("PATH"));
        assert!(!format!("{env:?}").contains(env.get("PATH").unwrap()));
    }
}
