//! Diagnostics towards the editor: one worker, the newest text, never a version twice or back.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use kontext_ide::{Diagnostic, File, FileId, Snapshot};
use rustc_hash::FxHasher;
use tokio::sync::watch;
use tower_lsp::Client;
use tower_lsp::lsp_types as lsp;

use super::pace::Pace;
use super::profile::Profile;
use super::spelling::{Publish, PublishParams, Spellings};
use super::to_proto::Places;

/// What was last published for a file.
#[derive(Clone)]
struct Published {
    id: FileId,
    uri: Arc<str>,
    version: Option<i32>,
    open: bool,
    /// To know it again. A text that is out of date is not kept for that.
    file: Weak<File>,
    diagnostics: Arc<[Diagnostic]>,
    /// As the client has them: lines and characters may move where bytes do not.
    sent: Arc<[lsp::Diagnostic]>,
}

/// Publishes the diagnostics of every snapshot to come, until the store is gone. While one is
/// being worked on, newer ones replace each other: a burst of edits is published once or twice.
pub(super) async fn push(
    client: Client,
    profile: Arc<Profile>,
    spellings: Arc<Spellings>,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
) {
    let send = async |uri: &str, diagnostics: Vec<lsp::Diagnostic>, version| {
        let uri = spellings.of(uri);
        let params = PublishParams {
            uri,
            diagnostics,
            version,
        };
        client.send_notification::<Publish>(params).await;
    };
    let mut published: HashMap<FileId, Published> = HashMap::new();
    let mut pace = Pace::default();
    snapshots.mark_changed();
    while snapshots.changed().await.is_ok() {
        let snapshot = pace.settled(&mut snapshots).await;
        let work = {
            let (snapshot, profile) = (Arc::clone(&snapshot), Arc::clone(&profile));
            let known = published.clone();
            tokio::task::spawn_blocking(move || changed(&snapshot, &profile, &known))
        };
        let Ok(changed) = work.await else { continue };
        if pace.overtaken(&snapshots) {
            continue;
        }
        for now in changed {
            let (version, diagnostics) = (now.version, now.sent.to_vec());
            let own = Arc::clone(&now.uri);
            let before = published.insert(now.id, now);
            // The same file under another URI: the old one must not keep what it showed.
            if let Some(before) = before.filter(|before| before.uri != own) {
                send(&before.uri, Vec::new(), None).await;
            }
            send(&own, diagnostics, version).await;
        }
        let gone: Vec<FileId> = published
            .keys()
            .copied()
            .filter(|id| snapshot.file(*id).is_none())
            .collect();
        for id in gone {
            if let Some(last) = published.remove(&id)
                && (!last.sent.is_empty() || last.open)
            {
                send(&last.uri, Vec::new(), None).await;
            }
        }
    }
}

/// The files whose diagnostics, or whose version, differ from what was published.
fn changed(
    snapshot: &Snapshot,
    profile: &Profile,
    known: &HashMap<FileId, Published>,
) -> Vec<Published> {
    let mut work = Vec::new();
    for file in &snapshot.files {
        let diagnostics = snapshot.diagnostics(file);
        let before = known.get(&file.id);
        // The very same outcome needs no second look.
        if before.is_some_and(|before| {
            std::ptr::eq(before.file.as_ptr(), &**file)
                && Arc::ptr_eq(&before.diagnostics, &diagnostics)
        }) {
            continue;
        }
        let sent: Arc<[lsp::Diagnostic]> = Places::of(file, profile)
            .diagnostics(snapshot, file, &diagnostics)
            .into();
        let same = match before {
            Some(before) => {
                before.version == file.version && before.uri == file.uri && before.sent == sent
            }
            // A file nobody has open and nothing is wrong with needs no word.
            None => !file.open && sent.is_empty(),
        };
        if !same {
            work.push(Published {
                id: file.id,
                uri: Arc::clone(&file.uri),
                version: file.version,
                open: file.open,
                file: Arc::downgrade(file),
                diagnostics,
                sent,
            });
        }
    }
    work
}

/// Names an outcome: the same id means the client has these very diagnostics already, at these
/// lines and characters.
pub(super) fn result_id(file: &File, items: &[lsp::Diagnostic]) -> String {
    let mut hasher = FxHasher::default();
    file.uri.hash(&mut hasher);
    for one in items {
        // What goes out is what counts: places, fixes and related places among it.
        serde_json::to_vec(one)
            .unwrap_or_default()
            .hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}

/// The files that diagnostics are shown for when nobody has them open.
pub(super) fn workspace_files(snapshot: &Snapshot) -> impl Iterator<Item = &Arc<File>> {
    snapshot
        .files
        .iter()
        .filter(|file| file.open || !file.roles.is_empty())
}

/// Tells a client that pulls diagnostics, or shows hints, when something other than the text it
/// asked about has changed: another layer, the world, a setting.
pub(super) async fn refresh(
    client: Client,
    profile: Arc<Profile>,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
) {
    let mut last: Option<Arc<Snapshot>> = None;
    while snapshots.changed().await.is_ok() {
        let snapshot = Arc::clone(&snapshots.borrow_and_update());
        let changed = last
            .as_ref()
            .is_none_or(|last| surroundings_differ(last, &snapshot));
        last = Some(snapshot);
        if !changed {
            continue;
        }
        // The client may take its time to answer: nobody waits for that here.
        if profile.pulls_diagnostics {
            let client = client.clone();
            tokio::spawn(async move { client.workspace_diagnostic_refresh().await });
        }
        if profile.refreshes_hints {
            let client = client.clone();
            tokio::spawn(async move { client.inlay_hint_refresh().await });
        }
    }
}

/// Whether anything but the text of open documents differs.
fn surroundings_differ(a: &Snapshot, b: &Snapshot) -> bool {
    let facts = a.workspaces.len() != b.workspaces.len()
        || a.workspaces
            .iter()
            .zip(&b.workspaces)
            .any(|(a, b)| !Arc::ptr_eq(&a.facts, &b.facts) || a.severities != b.severities);
    let layers = || {
        let open = |file: &File| (file.id, file.open, file.roles.clone());
        let changed = |file: &&Arc<File>| {
            a.file(file.id).is_none_or(|before| {
                open(before) != open(file)
                    || !file.open && !Arc::ptr_eq(&before.source, &file.source)
            })
        };
        a.files.len() != b.files.len() || b.files.iter().any(|file| changed(&file))
    };
    // One layer being edited changes what is wrong in the others.
    let neighbours = || {
        let several = |snapshot: &Snapshot| {
            snapshot
                .files
                .iter()
                .filter(|file| !file.roles.is_empty())
                .count()
                > 1
        };
        several(b)
            && a.workspaces
                .iter()
                .zip(&b.workspaces)
                .any(|(a, b)| !Arc::ptr_eq(&a.stack, &b.stack))
    };
    facts || layers() || neighbours()
}
