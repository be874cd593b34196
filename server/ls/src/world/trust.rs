//! What the person has accepted, and whether a shared layer is among it (adapters.md section 10).
//!
//! The pins lie in `<config_home>/companion/trust.toml`. It is replaced as a whole, by rename, under
//! a lock beside it, so that a reader sees one state or the next and no writer undoes another's.
//! Where it cannot be read, nothing is trusted.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kontext_config::facts::Repo;
use kontext_config::source::Source;
use kontext_config::trust::{self, Canonical, Pin, ScriptFact, Scripts};
use kontext_syntax::toml::write::string as toml_string;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::layers::is_missing;
use super::stamp::Stamp;

/// Largest form that is kept beside its pin, in bytes. Without it a later change is not shown as a
/// difference.
pub const MAX_FORM: usize = 256 * 1024;

/// Largest file of pins that is read, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// How many pins of one repository keep their form, the newest ones.
const FORMS_PER_REPOSITORY: usize = 16;

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The file of pins below the folder of the personal layers.
pub fn trust_file(config_home: &Path) -> PathBuf {
    config_home.join("companion").join("trust.toml")
}

/// One yes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Accepted {
    /// What it was given to.
    #[serde(serialize_with = "as_text")]
    pub pin: Pin,
    /// The repository it counts in, by its id.
    pub repository: String,
    /// The work tree it was given in, for people.
    pub root: String,
    /// The moment, RFC 3339 in UTC.
    pub accepted: String,
    /// The canonical form of the layer, where it is kept.
    #[serde(skip)]
    pub form: Option<String>,
}

fn as_text<S: serde::Serializer>(pin: &Pin, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pin.as_str())
}

/// Everything the person has accepted, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins(Vec<Accepted>);

/// Why the pins cannot be used or changed. The sentence is for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustFault {
    /// It is there, and the system does not let it be read.
    #[error("the pins of trust in {} cannot be read, so nothing of a repository is trusted: {reason}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// What is in it is no list of pins.
    #[error("{} is no list of pins, so nothing of a repository is trusted; mend or remove it: {reason}", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Somebody else could have written it.
    #[error("{} can be written by others, so nothing of a repository is trusted; make it yours alone (mode 0600)", .0.display())]
    NotPrivate(PathBuf),
    /// It cannot be written.
    #[error("the pins of trust cannot be kept in {}: {reason}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// Another process has held the lock for seconds.
    #[error("another process is changing {}; try again", .0.display())]
    Busy(PathBuf),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    #[serde(default)]
    pin: Vec<WrittenPin>,
}

#[derive(Deserialize)]
struct WrittenPin {
    pin: String,
    repository: String,
    #[serde(default)]
    root: String,
    #[serde(default)]
    accepted: String,
    form: Option<String>,
}

impl Pins {
    /// What the file holds; nothing where there is none.
    ///
    /// # Errors
    /// A [`TrustFault`] where it is there and cannot be used.
    pub fn read(path: &Path) -> Result<Self, TrustFault> {
        let unreadable = |error: &io::Error| TrustFault::Unreadable {
            path: path.to_path_buf(),
            reason: error.to_string(),
        };
        // Looked at before it is opened: to open a pipe would wait for its writer.
        let meta = match fs::metadata(path) {
            Ok(meta) => meta,
            Err(error) if is_missing(&error) => return Ok(Self::default()),
            Err(error) => return Err(unreadable(&error)),
        };
        let corrupt = |reason: String| TrustFault::Corrupt {
            path: path.to_path_buf(),
            reason,
        };
        if !meta.is_file() || meta.len() > MAX_FILE {
            return Err(corrupt("it is no ordinary file of a usual size".to_owned()));
        }
        if !is_private(&meta) {
            return Err(TrustFault::NotPrivate(path.to_path_buf()));
        }
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_FILE).read_to_string(&mut text));
        match read {
            Ok(_) => Self::parse(&text).map_err(corrupt),
            Err(error) if is_missing(&error) => Ok(Self::default()),
            Err(error) => Err(unreadable(&error)),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if written.version != 1 {
            return Err(format!(
                "its version is {}, and this program knows 1",
                written.version
            ));
        }
        let pins = written.pin.into_iter().map(|one| {
            Ok(Accepted {
                pin: Pin::parse(&one.pin)
                    .ok_or_else(|| "a pin is not 64 hexadecimal digits".to_owned())?,
                repository: one.repository,
                root: one.root,
                accepted: one.accepted,
                form: one.form,
            })
        });
        pins.collect::<Result<_, String>>().map(Self)
    }

    fn text(&self) -> String {
        use std::fmt::Write as _;
        let mut out = String::from(
            "# What you have accepted with `kontext-ls trust`; `kontext-ls trust --revoke` takes it back.\nversion = 1\n",
        );
        for one in &self.0 {
            let _ = write!(
                out,
                "\n[[pin]]\npin = {}\nrepository = {}\nroot = {}\naccepted = {}\n",
                toml_string(one.pin.as_str()),
                toml_string(&one.repository),
                toml_string(&one.root),
                toml_string(&one.accepted),
            );
            if let Some(form) = &one.form {
                let _ = writeln!(out, "form = {}", toml_string(form));
            }
        }
        out
    }

    /// Changes the file under the lock: what it holds by then goes in, what `change` leaves of it is
    /// written.
    ///
    /// # Errors
    /// As [`Self::read`], and where it cannot be written. The file is as it was then.
    pub fn update<T>(path: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, TrustFault> {
        let unwritable = |error: &io::Error| TrustFault::Unwritable {
            path: path.to_path_buf(),
            reason: error.to_string(),
        };
        let folder = path
            .parent()
            .ok_or_else(|| unwritable(&io::ErrorKind::InvalidFilename.into()))?;
        private_folder(folder).map_err(|error| unwritable(&error))?;
        let lock = private_file(&folder.join("trust.lock")).map_err(|error| unwritable(&error))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(fs::TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(fs::TryLockError::WouldBlock) => {
                    return Err(TrustFault::Busy(path.to_path_buf()));
                }
                Err(fs::TryLockError::Error(error)) => return Err(unwritable(&error)),
            }
        }
        let before = Self::read(path)?;
        let mut pins = before.clone();
        let answer = change(&mut pins);
        pins.forget_old_forms();
        if pins != before {
            write(folder, path, &pins.text()).map_err(|error| unwritable(&error))?;
        }
        Ok(answer)
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> &[Accepted] {
        &self.0
    }

    /// Those of a repository, the oldest first.
    pub fn of<'a>(&'a self, repository: &'a str) -> impl DoubleEndedIterator<Item = &'a Accepted> {
        self.0
            .iter()
            .filter(move |one| one.repository == repository)
    }

    /// Whether a state of a repository's layer is accepted.
    pub fn accepts(&self, repository: &str, pin: &Pin) -> bool {
        self.of(repository).any(|one| one.pin == *pin)
    }

    /// Takes a yes in; one that is there already becomes the newest.
    pub fn accept(&mut self, repo: &Repo, canonical: &Canonical, accepted: String) {
        let same = |one: &Accepted| one.repository == repo.id && one.pin == *canonical.pin();
        self.0.retain(|one| !same(one));
        let form = canonical.text();
        self.0.push(Accepted {
            pin: canonical.pin().clone(),
            repository: repo.id.clone(),
            root: repo.root.to_string_lossy().into_owned(),
            accepted,
            form: (form.len() <= MAX_FORM).then_some(form),
        });
    }

    /// Takes back the yes to every state of a repository, or to those that `digits` name; how many
    /// there were.
    pub fn revoke(&mut self, repository: &str, digits: Option<&str>) -> usize {
        let before = self.0.len();
        self.0.retain(|one| {
            one.repository != repository
                || digits.is_some_and(|digits| !one.pin.is_named_by(digits))
        });
        before - self.0.len()
    }

    fn forget_old_forms(&mut self) {
        let mut kept: HashMap<String, usize> = HashMap::new();
        for one in self.0.iter_mut().rev() {
            let count = kept.entry(one.repository.clone()).or_default();
            *count += 1;
            if *count > FORMS_PER_REPOSITORY {
                one.form = None;
            }
        }
    }
}

fn write(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    // Made with mode 0600.
    let mut file = tempfile::Builder::new()
        .prefix(".trust-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(unix)]
fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    if let Some(above) = folder.parent() {
        fs::create_dir_all(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(not(unix))]
fn private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whether nobody but this user (and root) can have written it.
#[cfg(unix)]
fn is_private(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

/// Hashes of scripts, kept while the file looks the same.
#[derive(Debug, Default)]
pub struct ScriptCache {
    hashes: Mutex<HashMap<PathBuf, (Stamp, Option<ScriptFact>)>>,
    /// By root: the layer that was last asked about, and what it names.
    paths: Mutex<HashMap<PathBuf, Named>>,
}

#[derive(Debug)]
struct Named {
    source: Arc<Source>,
    repo: Repo,
    paths: Option<Arc<BTreeSet<String>>>,
}

/// A shared layer as it is on disk, with its scripts.
#[derive(Clone, Debug)]
pub struct Look {
    /// Its form; `None` where nothing in it waits for trust, and where it names too many files.
    pub canonical: Option<Canonical>,
    /// The scripts that are there.
    pub scripts: Scripts,
    /// Every file whose change can change the form.
    pub stamps: Arc<Stamps>,
    /// It names more files than can be looked at, and cannot be trusted.
    pub too_many: bool,
}

/// What files, by absolute path, were when they were looked at.
#[derive(Clone, Debug, Default)]
pub struct Stamps(Vec<Seen>);

#[derive(Clone, Debug)]
struct Seen {
    path: PathBuf,
    stamp: Stamp,
    fact: Option<ScriptFact>,
}

impl Stamps {
    /// Whether each is what it was. Looks at the disk; reads what may have changed.
    pub fn hold(&self) -> bool {
        self.0.iter().all(|seen| {
            Stamp::of(&seen.path).is_still(&seen.stamp) || fact(&seen.path) == seen.fact
        })
    }
}

/// Looks at the scripts a layer names. Reads each of them that has changed.
pub fn look(source: &Arc<Source>, repo: &Repo, cache: &ScriptCache) -> Look {
    let Some(paths) = cache.paths(source, repo) else {
        return Look {
            canonical: None,
            scripts: Scripts::new(),
            stamps: Arc::default(),
            too_many: true,
        };
    };
    let mut scripts = Scripts::new();
    let mut stamps = Vec::with_capacity(paths.len());
    for path in &*paths {
        let file = repo.root.join(path);
        // Before it is read: what changes meanwhile has another stamp.
        let stamp = Stamp::of(&file);
        let fact = cache.fact(&file, &stamp);
        scripts.extend(fact.clone().map(|fact| (path.clone(), fact)));
        stamps.push(Seen {
            path: file,
            stamp,
            fact,
        });
    }
    Look {
        canonical: Canonical::of(source, &scripts),
        scripts,
        stamps: Arc::new(Stamps(stamps)),
        too_many: false,
    }
}

impl ScriptCache {
    /// What the layer names, relative to the root; `None` where that is too much.
    pub fn paths(&self, source: &Arc<Source>, repo: &Repo) -> Option<Arc<BTreeSet<String>>> {
        let lock = || self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(named) = lock().get(&repo.root)
            && Arc::ptr_eq(&named.source, source)
            && named.repo == *repo
        {
            return named.paths.clone();
        }
        let paths = trust::scripts(source, repo).ok().map(Arc::new);
        let named = Named {
            source: Arc::clone(source),
            repo: repo.clone(),
            paths: paths.clone(),
        };
        lock().insert(repo.root.clone(), named);
        paths
    }

    /// As [`fact`], where the file is known by its stamp without reading it.
    fn fact(&self, path: &Path, stamp: &Stamp) -> Option<ScriptFact> {
        let lock = || self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, fact)) = lock().get(path)
            && stamp.is_still(known)
        {
            return fact.clone();
        }
        let fact = fact(path);
        // What changed while it was read is read again the next time.
        if Stamp::of(path).is_still(stamp) {
            lock().insert(path.to_path_buf(), (stamp.clone(), fact.clone()));
        }
        fact
    }
}

/// Reads a file. `None` where there is none, or it is a folder.
fn fact(path: &Path) -> Option<ScriptFact> {
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return None,
        // A pipe or device would never come to an end.
        Ok(meta) if !meta.is_file() => return Some(ScriptFact::Unreadable),
        Ok(_) => {}
        Err(error) if is_missing(&error) => return None,
        Err(_) => return Some(ScriptFact::Unreadable),
    }
    Some(hash(path).map_or(ScriptFact::Unreadable, ScriptFact::Sha256))
}

fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(trust::hex(&hasher.finalize())),
            Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> Canonical {
        Canonical::of(&Arc::new(Source::parse(text)), &Scripts::new()).unwrap()
    }

    fn repo(id: &str) -> Repo {
        Repo {
            id: id.to_owned(),
            root: "/r \"\u{7f}\u{1}".into(),
            ..Repo::default()
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = trust_file(&dir.path().join("not/there"));
        assert_eq!(Pins::read(&file), Ok(Pins::default()));
        let big = "x".repeat(MAX_FORM);
        for text in [
            "[vars]\na = \"\\u007f\\u0001 ä\\\\\"\n".to_owned(),
            format!("[vars]\na = \"{big}\"\n"),
        ] {
            Pins::update(&file, |pins| {
                pins.accept(&repo("a/b"), &form(&text), "now".into())
            })
            .unwrap();
        }
        let pins = Pins::read(&file).unwrap();
        let first = form("[vars]\na = \"\\u007f\\u0001 ä\\\\\"\n");
        assert_eq!(pins.all().len(), 2);
        assert_eq!(pins.all()[0].form, Some(first.text()));
        assert_eq!(pins.all()[0].root, repo("").root.to_str().unwrap());
        // It counts, though it is too large to be compared with later.
        assert_eq!(pins.all()[1].form, None);
        assert!(pins.accepts("a/b", first.pin()) && !pins.accepts("a/c", first.pin()));
        // Nothing is left beside it.
        let names = fs::read_dir(file.parent().unwrap()).unwrap();
        let mut names: Vec<_> = names.map(|one| one.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["trust.lock", "trust.toml"]);
    }

    #[test]
    fn the_newest_forms_are_kept_and_all_pins() {
        let mut pins = Pins::default();
        for at in 0..40 {
            let form = form(&format!("[vars]\na = {at}\n"));
            pins.accept(&repo(["x", "y"][at % 2]), &form, String::new());
        }
        // A second yes is the newest, not one more.
        pins.accept(&repo("x"), &form("[vars]\na = 0\n"), "again".to_owned());
        pins.forget_old_forms();
        for id in ["x", "y"] {
            assert_eq!(pins.of(id).count(), 20);
            assert_eq!(pins.of(id).filter(|one| one.form.is_some()).count(), 16);
        }
        assert_eq!(pins.of("x").next_back().unwrap().accepted, "again");
        let pin = pins.of("x").next().unwrap().pin.clone();
        assert_eq!(pins.revoke("y", Some(pin.short())), 0);
        assert_eq!(pins.revoke("x", Some(pin.short())), 1);
        assert_eq!((pins.revoke("x", None), pins.all().len()), (19, 20));
    }

    #[test]
    fn a_script_is_read_again_when_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo {
            root: dir.path().to_path_buf(),
            ..Repo::default()
        };
        let text = "[adapters.a]\ncommand = [\"sh\", \"a.sh\", \"folder\"]\n";
        let source = Arc::new(Source::parse(text));
        let cache = ScriptCache::default();
        let pin = |look: &Look| look.canonical.as_ref().unwrap().pin().clone();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let before = look(&source, &repo, &cache);
        assert!(before.scripts.is_empty());
        assert!(before.stamps.hold());
        fs::write(dir.path().join("a.sh"), "1").unwrap();
        assert!(!before.stamps.hold());
        let there = look(&source, &repo, &cache);
        assert_eq!(there.scripts.keys().collect::<Vec<_>>(), ["a.sh"]);
        fs::write(dir.path().join("a.sh"), "22").unwrap();
        let changed = look(&source, &repo, &cache);
        fs::remove_file(dir.path().join("a.sh")).unwrap();
        let gone = look(&source, &repo, &cache);
        assert_eq!(pin(&before), pin(&gone));
        assert_ne!(pin(&before), pin(&there));
        assert_ne!(pin(&there), pin(&changed));
    }
}
