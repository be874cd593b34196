//! What a workspace's answers depend on, as paths to watch.

use std::collections::BTreeSet;
use std::path::PathBuf;

use kontext_config::facts::{Env, Question, Repo};

use super::env::Platform;
use super::layers::Places;
use super::lookup;
use super::repo::head_file;

/// The paths whose change can change an answer: layer files and the places where one may appear,
/// the repository's `HEAD` and remotes, every file that would be a program or path that a
/// condition names (the folder, where a pattern stands in its last segment).
pub fn watch_set<'a>(
    places: &Places,
    repo: &Repo,
    questions: impl IntoIterator<Item = &'a Question>,
    env: &Env,
) -> BTreeSet<PathBuf> {
    let platform = Platform::current();
    let mut paths: BTreeSet<PathBuf> = [places.user.clone(), places.repository.clone()].into();
    paths.extend(places.shared_candidates.iter().cloned());
    paths.extend(places.clone.clone());
    match (&repo.common_dir, head_file(repo)) {
        (Some(common), Some(head)) => {
            paths.insert(head);
            paths.insert(common.join("config"));
        }
        // A repository may be made here later. (Of one that is there only two files matter: the
        // `.git` folder itself changes at every command.)
        _ => {
            paths.insert(repo.root.join(".git"));
        }
    }
    let folders = lookup::path_folders(env, platform);
    for question in questions {
        match question {
            Question::Program(name) => {
                let is_path = name.contains(|c| platform.is_separator(c));
                let folders = if is_path { &[] } else { folders.as_slice() };
                paths.extend(lookup::candidates(name, folders, env, platform));
            }
            Question::Path(pattern) => {
                paths.insert(match lookup::split_pattern(pattern, platform) {
                    Some(glob) => glob.folder.components().collect(),
                    None => PathBuf::from(pattern),
                });
            }
        }
    }
    paths.retain(|path| path.is_absolute());
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn repo(common: Option<&str>, worktree: Option<&str>) -> Repo {
        Repo {
            slug: "s".into(),
            root: "/r".into(),
            common_dir: common.map(PathBuf::from),
            worktree: worktree.map(str::to_owned),
            ..Repo::default()
        }
    }

    fn set(repo: &Repo, questions: &[Question]) -> String {
        let places = Places::new(repo, Path::new("/c"), Some("mem"));
        let env = Env::new([("PATH".to_owned(), "/bin:/opt/x".to_owned())], false);
        let paths = watch_set(&places, repo, questions, &env);
        paths
            .iter()
            .map(|path| format!("{}\n", path.display()))
            .collect()
    }

    #[cfg(unix)]
    #[test]
    fn everything_an_answer_depends_on() {
        let questions = [
            Question::Program("rg".into()),
            Question::Program("/r/tool".into()),
            Question::Program("rel/tool".into()),
            Question::Path("/r/docs/*.md".into()),
            Question::Path("/r/Cargo.toml".into()),
            Question::Path("odd".into()),
        ];
        insta::assert_snapshot!(set(&repo(Some("/g/.git"), Some("fix")), &questions), @r"
        /bin/rg
        /c/config.toml
        /c/repos/s.toml
        /g/.git/config
        /g/.git/kontext/config.toml
        /g/.git/worktrees/fix/HEAD
        /opt/x/rg
        /r/.ai/kontext.toml
        /r/.kontext.toml
        /r/Cargo.toml
        /r/docs
        /r/mem/kontext.toml
        /r/tool
        ");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_without_repository_waits_for_one() {
        insta::assert_snapshot!(set(&repo(None, None), &[]), @r"
        /c/config.toml
        /c/repos/s.toml
        /r/.ai/kontext.toml
        /r/.git
        /r/.kontext.toml
        /r/mem/kontext.toml
        ");
    }
}
