//! The language server: requests in, answers of `kontext_ide` out.
//!
//! Handlers change state before their first `await` and take their snapshot before it too (see
//! [`crate::wire`]); what takes longer than a moment goes on in a blocking thread.

mod answers;
mod features;
mod from_proto;
mod pace;
mod profile;
mod publish;
mod settings;
mod spelling;
mod to_proto;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use kontext_ide::{File, Snapshot};
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::*;
use tower_lsp::{Client, LanguageServer};

use crate::wire::{Freshness, Heard, aside};
use crate::workspace::{Options, Refresher, Store};
use crate::world::{self, Platform, identity};
use profile::Profile;
use spelling::Spellings;

/// The language server of one client.
pub struct Server {
    client: Client,
    store: Arc<Store>,
    session: OnceLock<Session>,
    on_ready: OnReady,
    spellings: Arc<Spellings>,
    programs: Arc<OnceLock<Arc<[String]>>>,
    programs_asked: std::sync::atomic::AtomicBool,
}

/// Called once when the folders of the client are known.
pub type OnReady = Box<dyn Fn(&Arc<Store>) + Send + Sync>;

/// What `initialize` settled.
struct Session {
    profile: Arc<Profile>,
    folders: std::sync::Mutex<Vec<PathBuf>>,
    started: OnceLock<()>,
    options: serde_json::Value,
}

impl Server {
    /// A server for this client. `on_ready` is called once, when the folders are known: the place
    /// to open the endpoint for agents.
    pub fn new(client: Client, options: Options, on_ready: OnReady) -> Self {
        Self {
            client,
            store: Store::new(options),
            session: OnceLock::new(),
            on_ready,
            spellings: Arc::default(),
            programs: Arc::default(),
            programs_asked: false.into(),
        }
    }

    /// The state behind it.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Whether the answer to a request about a document still stands when it is ready: the
    /// document must not have changed meanwhile.
    pub fn freshness(&self) -> Freshness {
        let store = Arc::clone(&self.store);
        Arc::new(move |request| {
            let uri = request.params()?.pointer("/textDocument/uri")?.as_str()?;
            let uri = Url::parse(uri).ok()?;
            let version = move |store: &Store| {
                let file = store.file(&store.snapshot(), uri.as_str());
                file.map(|file| file.version)
            };
            let then = version(&store);
            let store = Arc::clone(&store);
            Some(Box::new(move || version(&store) == then))
        })
    }

    /// To be shown every message before it is handled: what the types of LSP lose is kept.
    pub fn heard(&self) -> Heard {
        let spellings = Arc::clone(&self.spellings);
        Arc::new(move |request| spellings.hear(request))
    }

    fn profile(&self) -> Arc<Profile> {
        self.session
            .get()
            .map(|session| Arc::clone(&session.profile))
            .unwrap_or_default()
    }

    /// Finds the layers and starts the workers, once: with `initialized`, or with the first
    /// document of a client that never sends it.
    fn start(&self) {
        let Some(session) = self.session.get() else {
            return;
        };
        session.started.get_or_init(|| {
            let folders = session
                .folders
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .clone();
            self.store.set_folders(&folders);
            self.store
                .set_severities(settings::severities(&session.options));
            let profile = &session.profile;
            if !profile.pulls_diagnostics {
                tokio::spawn(publish::push(
                    self.client.clone(),
                    Arc::clone(profile),
                    Arc::clone(&self.spellings),
                    self.store.subscribe(),
                ));
            }
            tokio::spawn(publish::refresh(
                self.client.clone(),
                Arc::clone(profile),
                self.store.subscribe(),
            ));
            tokio::spawn(Refresher::new(&self.store).run());
            (self.on_ready)(&self.store);
            if profile.configuration {
                tokio::spawn(settings::ask(
                    self.client.clone(),
                    Arc::clone(&self.store),
                    session.options.clone(),
                ));
            }
        });
    }

    /// The newest snapshot, and the document a request is about; `None` where we do not have it.
    fn document(&self, uri: &Url) -> Option<(Arc<Snapshot>, Arc<File>)> {
        let snapshot = self.store.snapshot();
        let file = self.store.file(&snapshot, uri.as_str())?;
        Some((snapshot, file))
    }

    /// The names of the programs on `PATH`, looked up in the background the first time; empty
    /// until they are known.
    fn programs(&self) -> Arc<[String]> {
        if let Some(programs) = self.programs.get() {
            return Arc::clone(programs);
        }
        if !self
            .programs_asked
            .swap(true, std::sync::atomic::Ordering::Relaxed)
        {
            let programs = Arc::clone(&self.programs);
            tokio::task::spawn_blocking(move || {
                programs
                    .get_or_init(|| world::programs(&world::process_env()).into())
                    .len()
            });
        }
        Arc::default()
    }

    async fn format(
        &self,
        uri: Url,
        range: Option<Range>,
        options: FormattingOptions,
    ) -> Result<Option<Vec<TextEdit>>> {
        let outcome = self
            .answer(&uri, move |_, file, profile| {
                Some(features::format(file, range, &options, profile))
            })
            .await?;
        match outcome {
            Some(Ok(edits)) => Ok(Some(edits)),
            Some(Err(why)) => {
                // The text stays as it is; the person hears why.
                let client = self.client.clone();
                tokio::spawn(async move {
                    client
                        .show_message(MessageType::WARNING, format!("Not formatted: {why}"))
                        .await
                });
                Ok(None)
            }
            None => Ok(None),
        }
    }

    /// Computes an answer about a document on a thread of its own.
    async fn answer<T, F>(&self, uri: &Url, compute: F) -> Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&Snapshot, &File, &Profile) -> Option<T> + Send + 'static,
    {
        let Some((snapshot, file)) = self.document(uri) else {
            return Ok(None);
        };
        let profile = self.profile();
        aside().await;
        let work = tokio::task::spawn_blocking(move || compute(&snapshot, &file, &profile));
        work.await.map_err(|_| Error::internal_error())
    }
}

fn folders_of(params: &InitializeParams) -> Vec<PathBuf> {
    let path = |uri: &Url| identity::uri_to_path(uri.as_str(), Platform::current());
    let mut folders: Vec<PathBuf> = params
        .workspace_folders
        .iter()
        .flatten()
        .filter_map(|folder| path(&folder.uri))
        .collect();
    if folders.is_empty() {
        folders.extend(params.root_uri.as_ref().and_then(path));
    }
    #[expect(deprecated, reason = "old clients send nothing else")]
    if folders.is_empty() {
        folders.extend(
            params
                .root_path
                .as_ref()
                .map(PathBuf::from)
                .filter(|path| path.is_absolute()),
        );
    }
    folders
}

#[tower_lsp::async_trait]
impl LanguageServer for Server {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let profile = Arc::new(Profile::of(&params.capabilities));
        let result = InitializeResult {
            capabilities: answers::capabilities(&profile),
            server_info: Some(ServerInfo {
                name: "kontext-ls".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        };
        let session = Session {
            profile,
            folders: std::sync::Mutex::new(folders_of(&params)),
            started: OnceLock::new(),
            options: params.initialization_options.unwrap_or_default(),
        };
        // tower-lsp lets `initialize` through only once.
        let _ = self.session.set(session);
        Ok(result)
    }

    async fn initialized(&self, _: InitializedParams) {
        self.start();
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.start();
        let document = params.text_document;
        self.store
            .open(document.uri.as_str(), document.version, document.text);
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        let changes = params
            .content_changes
            .into_iter()
            .map(from_proto::change)
            .collect();
        let document = params.text_document;
        let encoding = self.profile().encoding;
        if let Err(fault) =
            self.store
                .change(document.uri.as_str(), document.version, changes, encoding)
        {
            tracing::warn!(uri = %document.uri, %fault, "change refused");
        }
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.store.save(params.text_document.uri.as_str());
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.store.close(params.text_document.uri.as_str());
    }

    async fn did_change_watched_files(&self, _: DidChangeWatchedFilesParams) {
        let store = Arc::clone(&self.store);
        // Whoever waits for what follows waits for this too: it is one look at a few files.
        let _ = tokio::task::spawn_blocking(move || store.reload()).await;
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        let Some(session) = self.session.get() else {
            return;
        };
        if session.profile.configuration {
            tokio::spawn(settings::ask(
                self.client.clone(),
                Arc::clone(&self.store),
                session.options.clone(),
            ));
        } else {
            self.store
                .set_severities(settings::merged(&session.options, &params.settings));
        }
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        let Some(session) = self.session.get() else {
            return;
        };
        let folders = {
            let mut folders = session
                .folders
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let path = |folder: &WorkspaceFolder| {
                identity::uri_to_path(folder.uri.as_str(), Platform::current())
            };
            let removed: Vec<_> = params.event.removed.iter().filter_map(path).collect();
            folders.retain(|folder| !removed.contains(folder));
            for added in params.event.added.iter().filter_map(path) {
                if !folders.contains(&added) {
                    folders.push(added);
                }
            }
            folders.clone()
        };
        self.store.set_folders(&folders);
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let known = params.previous_result_id;
        let report = self
            .answer(&params.text_document.uri, |snapshot, file, profile| {
                Some(answers::document_diagnostics(
                    snapshot, file, profile, known,
                ))
            })
            .await?;
        Ok(DocumentDiagnosticReportResult::Report(
            report.unwrap_or_else(|| {
                DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport::default())
            }),
        ))
    }

    async fn workspace_diagnostic(
        &self,
        params: WorkspaceDiagnosticParams,
    ) -> Result<WorkspaceDiagnosticReportResult> {
        let (snapshot, profile) = (self.store.snapshot(), self.profile());
        aside().await;
        let work = tokio::task::spawn_blocking(move || {
            answers::workspace_diagnostics(&snapshot, &profile, &params.previous_result_ids)
        });
        let items = work.await.map_err(|_| Error::internal_error())?;
        Ok(WorkspaceDiagnosticReportResult::Report(
            WorkspaceDiagnosticReport { items },
        ))
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let at = params.text_document_position;
        let programs = self.programs();
        self.answer(&at.text_document.uri, move |snapshot, file, profile| {
            Some(features::complete(
                snapshot,
                file,
                at.position,
                profile,
                &programs,
            ))
        })
        .await
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(features::resolve(item, &self.profile()))
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        self.answer(&at.text_document.uri, move |snapshot, file, profile| {
            features::hover_at(snapshot, file, at.position, profile)
        })
        .await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let range = params.range;
        self.answer(&params.text_document.uri, move |snapshot, file, profile| {
            Some(features::hints(snapshot, file, range, profile))
        })
        .await
    }

    async fn document_symbol(
        &self,
        params: DocumentSymbolParams,
    ) -> Result<Option<DocumentSymbolResponse>> {
        self.answer(&params.text_document.uri, |_, file, profile| {
            Some(features::outline(file, profile))
        })
        .await
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        self.format(params.text_document.uri, None, params.options)
            .await
    }

    async fn range_formatting(
        &self,
        params: DocumentRangeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        self.format(params.text_document.uri, Some(params.range), params.options)
            .await
    }
}
