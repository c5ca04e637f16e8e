//! Models that were read, with their compiled code: a bounded cache for the process.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use carom::lab::catalogue;
use carom::lab::model::suggestion;
use carom::{Diagnostic, Model, Result, Simulation};

use crate::force::Force;
use crate::room::{self, make_room};

/// The most models that the cache keeps alive.
const MOST: usize = 32;

/// A model that was read.
pub struct Loaded {
    pub name: String,
    pub text: String,
    /// `name=value`, or options such as `--step 0.1`.
    pub settings: Vec<String>,
    pub model: Model,
    pub simulation: Simulation,
    /// What the final states of its runs say about it.
    pub origin: OnceLock<String>,
    /// True if it was prepared before, so that nothing is left to compile.
    pub is_warm: AtomicBool,
}

/// The models that were used last, the latest first.
static CACHE: Mutex<VecDeque<Arc<Loaded>>> = Mutex::new(VecDeque::new());

/// A model of Python. What was read is dropped when memory is short, and read again when it is used.
pub struct Slot {
    pub name: String,
    pub text: String,
    pub settings: Vec<String>,
    /// A force that is a function of Python.
    pub force: Option<Force>,
    loaded: Mutex<Option<Arc<Loaded>>>,
}

impl Slot {
    pub fn new(loaded: Arc<Loaded>, force: Option<Force>) -> Arc<Slot> {
        let (name, text, settings) = (loaded.name.clone(), loaded.text.clone(), loaded.settings.clone());
        let slot = Arc::new(Slot { name, text, settings, force, loaded: Mutex::new(Some(loaded)) });
        room::note_model(&slot);
        slot
    }

    /// The model, read again if it was dropped.
    pub fn loaded(&self) -> Result<Arc<Loaded>> {
        if let Some(loaded) = &*self.lock() {
            return Ok(loaded.clone());
        }
        let loaded = match &self.force {
            None => Loaded::new(&self.name, &self.text, &self.settings)?,
            Some(force) => Loaded::with_force(&self.name, &self.text, &self.settings, force, None)?,
        };
        *self.lock() = Some(loaded.clone());
        Ok(loaded)
    }

    /// The model of this text with other settings.
    pub fn with_settings(&self, settings: &[String]) -> Result<Arc<Slot>> {
        let loaded = match &self.force {
            None => Loaded::new(&self.name, &self.text, settings)?,
            Some(force) => Loaded::with_force(&self.name, &self.text, settings, force, Some(&*self.loaded()?))?,
        };
        Ok(Slot::new(loaded, self.force.clone()))
    }

    pub fn drop_loaded(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Loaded>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops all models of the cache.
pub fn empty_cache() {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

impl Loaded {
    /// The model with this text and these settings, read only if it is not in the cache. It shares the compiled code of a model
    /// that differs in numbers only.
    pub fn new(name: &str, text: &str, settings: &[String]) -> Result<Arc<Loaded>> {
        let lock = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        let like = |known: &Arc<Loaded>| known.name == name && known.text == text;
        let is_known = |known: &Arc<Loaded>| known.settings == settings && like(known);
        let mut cache = lock();
        if let Some(known) = cache.iter().position(is_known).and_then(|place| cache.remove(place)) {
            cache.push_front(known.clone());
            return Ok(known);
        }
        drop(cache);
        make_room();
        let cache = lock();
        let relatives: Vec<Arc<Loaded>> = cache.iter().filter(|known| like(known)).cloned().collect();
        drop(cache);
        let relatives: Vec<&Loaded> = relatives.iter().map(|relative| &**relative).collect();
        let loaded = Loaded::of(name, text, settings, Model::from_text(name, text, settings)?, &relatives);
        let mut cache = lock();
        cache.push_front(loaded.clone());
        cache.truncate(MOST);
        Ok(loaded)
    }

    /// A model with a force that is a function of Python, which lives no longer than its model: it is not in the cache. It shares
    /// the compiled code of a relative that differs in numbers only.
    pub fn with_force(
        name: &str,
        text: &str,
        settings: &[String],
        force: &Force,
        relative: Option<&Loaded>,
    ) -> Result<Arc<Loaded>> {
        make_room();
        let model = Model::from_text(name, text, settings)?.with_force(force.law().clone())?;
        let loaded = Loaded::of(name, text, settings, model, relative.as_slice());
        // The function is called in the thread that asks for a run, so that nothing is prepared in another.
        loaded.is_warm.store(true, Ordering::Relaxed);
        Ok(loaded)
    }

    fn of(name: &str, text: &str, settings: &[String], model: Model, relatives: &[&Loaded]) -> Arc<Loaded> {
        let mut simulation = model.simulation().look_for_walls();
        if model.run.step.is_none() {
            simulation = simulation.estimate();
        }
        for relative in relatives {
            simulation = simulation.sharing(&relative.simulation);
        }
        let (name, text, settings) = (name.to_string(), text.to_string(), settings.to_vec());
        let (origin, is_warm) = (OnceLock::new(), AtomicBool::new(false));
        Arc::new(Loaded { name, text, settings, model, simulation, origin, is_warm })
    }
}

/// The name and the text of a file, or of a shipped model.
pub fn read(path: &Path) -> Result<(String, String)> {
    let name = path.display().to_string();
    let shipped = catalogue::find(&name).filter(|_| !path.exists());
    if let Some(example) = shipped {
        return Ok((format!("{}.toml", example.name), example.text.into()));
    }
    let near = suggestion(&name, catalogue::EXAMPLES.iter().map(|example| example.name));
    if let Some(near) = near.filter(|_| !path.exists()) {
        let message = format!("`{name}` is neither a file nor a shipped model");
        return Err(Diagnostic::new(message).with_help(format!("did you mean `{near}`?")).into());
    }
    Ok((name, Model::from_file(path, &[])?.source.text().into()))
}
