//! A simulation that is ready to run.

use std::sync::Arc;
use std::time::Instant;

use super::compiled::Chosen;
use super::dense::Dense;
use super::runner::{Plan, Pool, Runner};
use super::start::Begin;
use super::tolerance::{Estimate, Tuned, estimate, tune};
use super::{Simulation, warnings};
use crate::error::{Diagnostic, Result};
use crate::limits::{CHECKPOINTS, MOST_SAMPLES, MOST_WINDOW};
use crate::method::Method;
use crate::model::{Model, Start};
use crate::run::{Audience, Outcome, Sections, Watcher};
use crate::step::{Scheme, State};

/// A simulation with a known step and a checked start.
pub struct Ready {
    pub(super) scheme: Scheme,
    pool: Arc<Pool>,
    pub(super) model: Arc<Model>,
    state: State,
    is_resumed: bool,
    start: Option<Start>,
    sections: Sections,
    step: f64,
    until: f64,
    every: Option<f64>,
    checkpoints: usize,
    estimate: Option<Estimate>,
    warnings: Vec<String>,
    /// The time for compiling and checking, in seconds.
    pub compile_seconds: f64,
    /// True if carom found the step.
    is_tuned: bool,
}

impl Ready {
    pub(super) fn new(simulation: &Simulation, stop: &dyn Watcher) -> Result<Ready> {
        if let Some(trouble) = &simulation.trouble {
            return Err(trouble.clone());
        }
        let began = Instant::now();
        let no_end = || Diagnostic::new("the run has no end time").with_help("set `until` in [run], or `--until T`");
        let until = simulation.until.ok_or_else(no_end)?;
        let chosen = simulation.scheme()?;
        check_window(simulation, &chosen.scheme, until)?;
        let Chosen { scheme, pool, mut warnings } = chosen;
        let Begin { state, is_resumed, start } = simulation.start_state(&scheme, simulation.step.unwrap_or(until))?;
        if state.z.t >= until {
            let message = format!("the run starts at t = {}, which is not before its end time {until}", state.z.t);
            return Err(Diagnostic::new(message).with_help("give a later end time").into());
        }
        let sections = simulation.model.sections.iter().map(|section| (section.direction, section.stop));
        let sections = Sections { list: sections.collect() };
        let compile_seconds = began.elapsed().as_secs_f64();
        let mut runner = Runner::new(&scheme, &pool, state.clone(), is_resumed, sections.clone());
        let (step, estimate) = match simulation.step {
            Some(step) if simulation.wants_estimate => {
                (step, estimate(&mut runner, step, until, simulation.tolerance, stop)?)
            }
            Some(step) => (step, None),
            None => {
                let order = scheme.order();
                let Tuned { step, estimate, warning } = tune(&mut runner, until, order, simulation.tolerance, stop)?;
                warnings.extend(warning);
                (step, estimate)
            }
        };
        // Nodes that are closer together than the checkpoints make the checkpoints unnecessary.
        let far = step * CHECKPOINTS as f64 > until - state.z.t;
        let is_tuned = simulation.step.is_none();
        let checkpoints = if is_tuned || (simulation.looks_for_walls && far) { CHECKPOINTS } else { 0 };
        Ok(Ready {
            model: simulation.model.clone(),
            every: simulation.every,
            scheme,
            pool,
            state,
            is_resumed,
            start,
            sections,
            step,
            until,
            checkpoints,
            estimate,
            warnings,
            compile_seconds,
            is_tuned,
        })
    }

    /// The step h.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The end time.
    pub fn until(&self) -> f64 {
        self.until
    }

    /// The start time.
    pub fn begin(&self) -> f64 {
        self.state.z.t
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.scheme.method
    }

    /// Sets the sampling interval for [`Watcher::sample`].
    pub fn every(mut self, dt: Option<f64>) -> Ready {
        self.every = dt;
        self
    }

    /// Notes for the user before the run, for example about a start that was moved.
    pub fn notes(&self) -> Vec<String> {
        warnings::notes(&self.model, self.start.as_ref())
    }

    /// An empty dense output for a run, which records at most the first `most` arcs.
    pub fn dense(&self, most: usize) -> Result<Dense> {
        Dense::new(&self.scheme, &self.state.parameters, most)
    }

    /// Runs the simulation and reports events to a watcher.
    pub fn watch(&self, watcher: &mut dyn Watcher) -> Result<Outcome> {
        self.show(&mut [Audience { watcher, every: self.every }])
    }

    /// Runs the simulation and reports events to several watchers.
    pub fn show(&self, audience: &mut [Audience]) -> Result<Outcome> {
        let (state, sections) = (self.state.clone(), self.sections.clone());
        let mut runner = Runner::new(&self.scheme, &self.pool, state, self.is_resumed, sections);
        let Ready { step, until, checkpoints, .. } = *self;
        for every in audience.iter().filter_map(|audience| audience.every) {
            let count = (until - self.state.z.t) / every;
            if count > MOST_SAMPLES {
                let message =
                    format!("a sampling interval of {every:e} makes {count:.1e} samples, more than {MOST_SAMPLES:e}");
                return Err(Diagnostic::new(message)
                    .with_help("give a longer interval, or an earlier end time")
                    .into());
            }
        }
        let mut outcome = runner.run(Plan { step, until, checkpoints }, audience)?;
        outcome.step = step;
        let estimate = self.estimate.as_ref().filter(|_| outcome.status == crate::run::Status::Completed);
        outcome.error_estimate = estimate.map(|estimate| estimate.error);
        outcome.error_scale = estimate.map(|estimate| estimate.scale.clone());
        let restitution = std::mem::take(&mut outcome.restitution);
        let facts = self.scheme.plant.facts();
        outcome.warnings = warnings::after(&self.model, facts, &restitution, &outcome, self.is_tuned);
        let start =
            self.start.iter().flat_map(|start| &start.warnings).chain(&self.model.warnings).map(Diagnostic::body);
        outcome.warnings = start.chain(self.warnings.iter().cloned()).chain(outcome.warnings).collect();
        Ok(outcome)
    }
}

/// The window of `mhc` must have room in memory. Without a step, the shortest that is searched decides.
fn check_window(simulation: &Simulation, scheme: &Scheme, until: f64) -> Result<()> {
    let window = simulation.model.run.mhc.window;
    let count = window.min(until) / simulation.step.unwrap_or(until / MOST_WINDOW);
    if !scheme.method.name.contains("mhc") || count <= MOST_WINDOW {
        return Ok(());
    }
    let message = format!("the window of `mhc` has {count:.1e} nodes, more than {MOST_WINDOW:e}");
    Err(Diagnostic::new(message).with_help("give a shorter `window` in `run.mhc`, or a longer step").into())
}
