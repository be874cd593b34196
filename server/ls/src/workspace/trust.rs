use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::facts::{Facts, Repo};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;

use super::root::Root;
use super::state::State;
use crate::world;
use crate::world::trust::{Pins, Stamps};

/// The shared layer of a root, as it is saved: what a yes is given to.
#[derive(Clone, Debug)]
pub(crate) struct SharedLayer {
    /// Root of the work tree.
    pub(crate) root: PathBuf,
    /// Its file.
    pub(crate) path: PathBuf,
    /// The repository.
    pub(crate) repo: Repo,
    /// Its text.
    pub(crate) source: Arc<Source>,
    /// The file of pins.
    pub(crate) trust_file: PathBuf,
    /// Whether this text was looked at before.
    pub(super) judged: bool,
}

/// What a look at a shared layer has shown.
#[derive(Clone, Debug)]
pub(super) struct Judgement {
    accepted: bool,
    stamps: Arc<Stamps>,
    fault: Option<String>,
}

impl Judgement {
    /// Reads the pins and compares them with what the look has found.
    pub(super) fn of(layer: &SharedLayer, look: &world::trust::Look) -> Self {
        let stamps = Arc::clone(&look.stamps);
        match Pins::read(&layer.trust_file) {
            Ok(pins) => Self {
                stamps,
                accepted: look
                    .canonical
                    .as_ref()
                    .is_some_and(|form| pins.accepts(&layer.repo.id, form.pin())),
                fault: None,
            },
            Err(fault) => {
                tracing::warn!(%fault, "no pin counts");
                Self {
                    stamps,
                    accepted: false,
                    fault: Some(fault.to_string()),
                }
            }
        }
    }
}

impl State {
    /// The shared layer of a root, as it is saved.
    pub(super) fn shared_layer(&self, root: &Root) -> Option<SharedLayer> {
        let mut layers = root.layers.iter();
        let (_, path, key) = layers.find(|(kind, _, _)| *kind == LayerKind::Shared)?;
        let file = self.disk.get(key).filter(|file| file.fault.is_none())?;
        Some(SharedLayer {
            root: root.places.root.clone(),
            path: path.clone(),
            repo: root.repo().clone(),
            source: Arc::clone(&file.source),
            trust_file: world::trust::trust_file(&self.options.config_home()),
            judged: root.is_judged(&file.source),
        })
    }

    /// Looks whether the shared layers that were not looked at are accepted. Roots are new then, and
    /// the disk is looked at for them anyway.
    pub(super) fn judge(&mut self) {
        let scripts = Arc::clone(&self.scripts);
        let roots = self.roots.iter();
        let layers: Vec<_> = roots
            .filter_map(|root| self.shared_layer(root))
            .filter(|layer| !layer.judged)
            .collect();
        for layer in layers {
            let look = world::trust::look(&layer.source, &layer.repo, &scripts);
            let judgement = Judgement::of(&layer, &look);
            self.take_judgement(&layer, judgement);
        }
    }

    /// Takes in what a look has shown. True where it is news.
    pub(super) fn take_judgement(&mut self, layer: &SharedLayer, judgement: Judgement) -> bool {
        let mut roots = self.roots.iter_mut();
        let Some(root) = roots.find(|root| root.places.root == layer.root) else {
            return false;
        };
        let mut news = root.judge(&layer.source, judgement.accepted, judgement.stamps);
        if root.facts.trust_fault != judgement.fault {
            let mut facts = Facts::clone(&root.facts);
            facts.trust_fault = judgement.fault;
            root.facts = Arc::new(facts);
            news = true;
        }
        news
    }
}
