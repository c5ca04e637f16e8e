//! Models and their runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use carom::lab::diagnostic::Panel;
use carom::lab::model::InitialMotion;
use carom::{Audience, Ready, Simulation};
use carom_cli::restart;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::call::sorted;
use crate::dense::Dense;
use crate::drawing::drawing;
use crate::ensemble::{self, Request, Starts};
use crate::errors::to_python;
use crate::force::{Force, Trouble};
use crate::loaded::{Loaded, Slot, read};
use crate::recorder::Recorder;
use crate::result::{Finished, dictionary};
use crate::signals::{Flag, Signals, patiently};

/// The largest number of rows for which a run reserves memory.
const MOST_RESERVED: f64 = 1e7;

/// A model: its text, with settings that override values.
#[pyclass(frozen, module = "carom._carom")]
pub struct Model(Arc<Slot>);

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (name, text, settings, force=None))]
    fn new(py: Python<'_>, name: &str, text: &str, settings: Vec<String>, force: Option<Py<PyAny>>) -> PyResult<Model> {
        let force = force.map(|function| Force::new(py, function)).transpose()?;
        let loaded = py.detach(|| match &force {
            None => Loaded::new(name, text, &settings),
            Some(force) => Loaded::with_force(name, text, &settings, force, None),
        });
        Ok(Model(Slot::new(loaded.map_err(|error| to_python(py, &error))?, force)))
    }

    /// Reads a file, or a shipped model.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let loaded = py.detach(|| read(&path).and_then(|(name, text)| Loaded::new(&name, &text, &[])));
        Ok(Model(Slot::new(loaded.map_err(|error| to_python(py, &error))?, None)))
    }

    /// The text of this model with more settings: `name=value`, or options such as `--step 0.1`.
    fn with_settings(&self, py: Python<'_>, settings: Vec<String>) -> PyResult<Model> {
        let all: Vec<String> = self.0.settings.iter().cloned().chain(settings).collect();
        py.detach(|| self.0.with_settings(&all)).map(Model).map_err(|error| to_python(py, &error))
    }

    /// The name in messages.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The text, without settings.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The settings.
    #[getter]
    fn settings(&self) -> Vec<String> {
        self.0.settings.clone()
    }

    /// The function that is a force.
    #[getter]
    fn force(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.0.force.as_ref().map(|force| force.function().clone_ref(py))
    }

    /// The title, the names of all parts, and the values of parameters and of `[run]`.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loaded = self.loaded(py)?;
        let (model, facts) = (&loaded.model, PyDict::new(py));
        let system = &model.system;
        let parameters = PyDict::new(py);
        for parameter in &system.parameters {
            parameters.set_item(&parameter.name, parameter.value)?;
        }
        facts.set_item("title", &model.title)?;
        facts.set_item("coordinates", names(system.coordinates.iter().map(|c| &c.name)))?;
        facts.set_item("parameters", parameters)?;
        facts.set_item("walls", names(system.walls.iter().map(|wall| &wall.name)))?;
        facts.set_item("constraints", names(system.stated_constraints().iter().map(|c| &c.name)))?;
        facts.set_item("outputs", names(model.outputs.iter().map(|output| &output.name)))?;
        facts.set_item("sections", names(model.sections.iter().map(|section| &section.name)))?;
        let motion = model.initial.as_ref().map(|initial| match initial.motion {
            InitialMotion::Velocity(_) => "v",
            InitialMotion::Momentum(_) => "p",
            InitialMotion::Next(_) => "q1",
        });
        facts.set_item("motion", motion)?;
        facts.set_item("until", model.run.until)?;
        facts.set_item("step", model.run.step)?;
        facts.set_item("method", &model.run.method)?;
        facts.set_item("tolerance", model.run.tolerance)?;
        facts.set_item("hash", model.hash())?;
        Ok(facts)
    }

    /// Runs the model and returns what it recorded: nodes, or samples at intervals `every`. `start` is the final state of an earlier
    /// run as text. Dense output keeps at most `arcs` arcs. `diagnostics` lists the quantities that are followed, separated by commas.
    #[pyo3(signature = (*, start=None, every=None, arcs=0, diagnostics=None, progress=None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        start: Option<&str>,
        every: Option<f64>,
        arcs: usize,
        diagnostics: Option<&str>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let loaded = self.loaded(py)?;
        let model = &loaded.model;
        let (simulation, said) = resumed(&loaded, start).map_err(|error| to_python(py, &error))?;
        let work = || -> PyResult<carom::Result<_>> {
            let (began, signals) = (Instant::now(), Signals::new(progress));
            let ready = match prepare(&loaded, simulation, &signals)? {
                Ok(ready) => ready,
                Err(error) => return Ok(Err(error)),
            };
            signals.check()?;
            let finished = run(&loaded, &ready, every, arcs, diagnostics, &signals);
            signals.check()?;
            Ok(finished.map(|finished| Finished { seconds: began.elapsed().as_secs_f64(), ..finished }))
        };
        let finished = Trouble::watch(|| py.detach(work))??;
        dictionary(py, model, finished.map_err(|error| to_python(py, &error))?, sorted(said))
    }

    /// The drawing at the start as PNG, in the frame that the whole motion needs.
    fn drawing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let loaded = self.loaded(py)?;
        let draw = || patiently(move |stop| drawing(&loaded, &Flag(stop.clone())));
        let drawn = Trouble::watch(|| py.detach(draw))??;
        Ok(PyBytes::new(py, &drawn.map_err(|error| to_python(py, &error))?))
    }

    /// The expressions of the mechanics as text: L, or T and V; walls, constraints, forces, prescribed motions, the start.
    fn expressions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loaded = self.loaded(py)?;
        let (model, all) = (&loaded.model, PyDict::new(py));
        let system = &model.system;
        all.set_item("L", system.lagrangian.l.to_source())?;
        all.set_item("parts", system.lagrangian.parts.map(|(t, v)| (t.to_source(), v.to_source())))?;
        let walls = system.walls.iter().map(|w| (&w.name, w.phi.to_source(), w.restitution.to_source()));
        all.set_item("walls", walls.collect::<Vec<_>>())?;
        let constraints = system.stated_constraints().iter().map(|c| (&c.name, c.g.to_source()));
        all.set_item("constraints", constraints.collect::<Vec<_>>())?;
        all.set_item("forces", system.forces.iter().map(|force| force.to_source()).collect::<Vec<_>>())?;
        let driven = system.coordinates.iter().map(|c| c.prescribed.map(|motion| motion.to_source()));
        all.set_item("prescribed", driven.collect::<Vec<_>>())?;
        Ok(all)
    }

    /// Runs many motions that differ in their axes, in memory. Each axis is `name=values`, as the option `--vary` has it, or a name
    /// with its values, which vary together. Returns the columns of the table.
    #[pyo3(signature = (*, axes, lists, samples, seed, records, timeout, threads, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn sweep<'py>(
        &self,
        py: Python<'py>,
        axes: Vec<String>,
        lists: Vec<(String, PyReadonlyArray1<'py, f64>)>,
        samples: Option<u64>,
        seed: u64,
        records: Vec<String>,
        timeout: f64,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let lists: Vec<(String, Vec<f64>)> = lists
            .iter()
            .map(|(name, values)| Ok((name.clone(), values.as_slice()?.to_vec())))
            .collect::<PyResult<_>>()?;
        let request = Request { axes, lists, samples, seed, records, timeout, threads };
        ensemble::table(py, self.loaded(py)?, request, progress)
    }

    /// Runs a motion from each start and returns t, q, v and p at some times, each (trajectory, time, coordinate), and how each ended.
    /// The starts are rows of coordinates, and of velocities or momenta.
    #[pyo3(signature = (*, q, motion, is_momentum, times, threads))]
    fn samples<'py>(
        &self,
        py: Python<'py>,
        q: PyReadonlyArray2<'py, f64>,
        motion: PyReadonlyArray2<'py, f64>,
        is_momentum: bool,
        times: PyReadonlyArray1<'py, f64>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let starts = Starts { q: q.as_slice()?.to_vec(), motion: motion.as_slice()?.to_vec(), is_momentum };
        ensemble::samples(py, self.loaded(py)?, starts, times.as_slice()?.to_vec(), threads)
    }

    /// The equations of motion and the impact law: `text`, `latex`, `document` (in LaTeX) or `html`.
    fn derive(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let (loaded, format) = (self.loaded(py)?, format.to_string());
        py.detach(|| {
            patiently(move |_| {
                let derivation = carom::derive(&loaded.model.system, &loaded.model.title);
                match format.as_str() {
                    "latex" => derivation.to_latex_equations(),
                    "document" => derivation.to_latex(),
                    "html" => derivation.to_html(),
                    _ => derivation.to_text(),
                }
            })
        })
    }
}

fn names<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    all.map(String::as_str).collect()
}

impl Model {
    fn loaded(&self, py: Python<'_>) -> PyResult<Arc<Loaded>> {
        py.detach(|| self.0.loaded()).map_err(|error| to_python(py, &error))
    }
}

/// The simulation, which goes on from the final state of an earlier run if there is one.
fn resumed(loaded: &Loaded, start: Option<&str>) -> carom::Result<(Simulation, Vec<carom_cli::Said>)> {
    let simulation = loaded.simulation.clone();
    let Some(start) = start else { return Ok((simulation, Vec::new())) };
    let (simulation, said) = restart::read(simulation, start, &loaded.model);
    Ok((simulation?, said))
}

/// Compiles in another thread, since no compiler asks for signals, unless there is nothing left to compile.
fn prepare(loaded: &Loaded, simulation: Simulation, signals: &Signals) -> PyResult<carom::Result<Ready>> {
    if loaded.is_warm.load(Ordering::Relaxed) {
        return Ok(simulation.prepare_unless(signals));
    }
    let ready = patiently(move |stop| simulation.prepare_unless(&Flag(stop.clone())))?;
    loaded.is_warm.store(true, Ordering::Relaxed);
    Ok(ready)
}

fn run(
    loaded: &Loaded,
    ready: &Ready,
    every: Option<f64>,
    arcs: usize,
    diagnostics: Option<&str>,
    signals: &Signals,
) -> carom::Result<Finished> {
    let model = &loaded.model;
    let listed: Option<Vec<&str>> = diagnostics.map(|list| list.split(',').filter(|name| !name.is_empty()).collect());
    let panel =
        listed.map(|names| Panel::new(model, ready.plant(), ready.method(), ready.step(), &names)).transpose()?;
    let counts = [model.system.coordinates.len(), model.outputs.len(), model.system.stated_constraints().len()];
    let length = every.or(ready.step()).map_or(64.0, |step| ((ready.until() - ready.begin()) / step).ceil() + 1.0);
    let mut recorder =
        Recorder::new(every.is_some(), length.clamp(1.0, MOST_RESERVED) as usize, counts, panel, signals);
    let mut dense = ready.dense(arcs)?;
    let mut audience = vec![Audience { watcher: &mut recorder, every }];
    if arcs > 0 {
        audience.push(Audience { watcher: &mut dense, every: None });
    }
    let outcome = ready.show(&mut audience)?;
    Ok(Finished {
        record: recorder.finish(),
        restart: restart::write(model, &outcome, loaded.origin.get_or_init(|| restart::of_model(model))),
        outcome,
        dense: (arcs > 0).then(|| Dense::new(dense)),
        method: ready.method().name.clone(),
        begin: ready.begin(),
        until: ready.until(),
        notes: ready.notes(),
        seconds: 0.0,
    })
}
