//! A simulation that is ready to run.

use std::sync::Arc;
use std::time::Instant;

use super::chaos::chaos;
use super::compiled::Chosen;
use super::controlled::{quick_plan, tune_controlled};
use super::dense::Dense;
use super::estimate::{estimate, estimate_of};
use super::runner::{Plan, Pool, Runner};
use super::start::Begin;
use super::tolerance::{Estimate, FIRST_STEPS, Shortest, Tuned, tune};
use super::{Estimated, From, Simulation, explicit, follow, short, warnings};
use crate::error::{Diagnostic, Failure, Result};
use crate::interval::Piece;
use crate::limits::{CHECKPOINTS, COMPARED, MOST_SAMPLES, MOST_STEPS, MOST_WINDOW};
use crate::method::Method;
use crate::model::{Model, Start};
use crate::plant::Plant;
use crate::run::{Audience, Feedback, Mesh, Outcome, STICKS, Schedule, Sections, Status, Watcher, failure};
use crate::step::{Scheme, State, Variant};

/// A simulation with a known step and a checked start.
pub struct Ready {
    pub(super) scheme: Scheme,
    pool: Arc<Pool>,
    pub(super) model: Arc<Model>,
    state: Arc<State>,
    is_resumed: bool,
    start: Option<Start>,
    sections: Sections,
    plan: Plan,
    every: Option<f64>,
    estimate: Option<Estimate>,
    warnings: Vec<String>,
    /// The time for compiling and checking, in seconds.
    pub compile_seconds: f64,
    /// True if carom found the step.
    is_tuned: bool,
    /// Where functions of time allow only shorter steps.
    short: Arc<[Piece]>,
    /// Parameters that change with the time.
    schedule: Arc<Schedule>,
    /// The plan that the controls follow.
    feedback: Option<Arc<Feedback>>,
    /// How the run fails: no step conserves the energy. It ends before.
    broken: Option<Broken>,
    /// True if the run continues an earlier one.
    is_restarted: bool,
}

/// A failure, and the time up to which a run is right.
struct Broken {
    failure: Failure,
    until: f64,
}

impl Ready {
    pub(super) fn new(simulation: &Simulation, stop: &dyn Watcher) -> Result<Ready> {
        if let Some(trouble) = &simulation.trouble {
            return Err(trouble.clone());
        }
        let began = Instant::now();
        let no_end = || Diagnostic::new("the run has no end time").with_help("give `until`, or set it in [run]");
        let until = simulation.until.ok_or_else(no_end)?;
        let quick = simulation.quick_scheme();
        let is_quick = quick.is_some();
        let chosen = quick.map_or_else(|| simulation.scheme(), Ok)?;
        let Chosen { mut scheme, mut pool, mut warnings } = chosen;
        let Begin { state, is_resumed, start } = simulation.start_state(&scheme, simulation.step.unwrap_or(until))?;
        let state = Arc::new(state);
        if state.z.t >= until {
            let message = format!("the run starts at t = {}, which is not before its end time {until}", state.z.t);
            return Err(Diagnostic::new(message).with_help("give a later end time").into());
        }
        let shortest = shortest_step(simulation, &scheme, until - state.z.t)?;
        let sections = simulation.model.sections.iter().map(|section| (section.direction, section.stop));
        let sections = Sections::new(sections.collect());
        let compile_seconds = began.elapsed().as_secs_f64();
        let short = short::find(simulation, &scheme, &state, until)?;
        warnings.extend(short.warning);
        let mut short_pieces = short.pieces;
        let pieces = simulation.controls.iter().map(|setting| (setting.from, setting.controls.clone()));
        let schedule = Arc::new(Schedule::new(&simulation.parameters, pieces));
        let mut runner = Runner::new(
            &scheme,
            &pool,
            state.clone(),
            is_resumed,
            sections.ending(),
            short_pieces.clone(),
            schedule.clone(),
        );
        let tolerance = simulation.tolerance;
        let (mut lost, mut fails) = (None, false);
        let (plan, estimate) = match simulation.step {
            Some(step) => {
                // Nodes that are closer together than the checkpoints make the checkpoints unnecessary.
                let far = step * CHECKPOINTS as f64 > until - state.z.t;
                let checkpoints = if simulation.looks_for_walls && far { COMPARED } else { 0 };
                let wanted = simulation.estimated == Estimated::Always;
                let estimate = if wanted { estimate(&mut runner, step, until, tolerance, stop)? } else { None };
                (Plan { step, until, checkpoints, ..Plan::default() }, estimate)
            }
            None if is_quick && simulation.estimated == Estimated::Never => {
                (quick_plan(&state, until, tolerance), None)
            }
            None if scheme.is_pair() => {
                let plan = explicit::plan(tolerance, state.z.t, until, &short_pieces, simulation.looks_for_walls);
                short_pieces = Arc::default();
                runner.forget_short();
                let wanted = simulation.estimated == Estimated::Always;
                (plan, if wanted { estimate_of(&mut runner, plan, tolerance, stop)? } else { None })
            }
            None => {
                let can_control = simulation.has_default_method() && scheme.can_control();
                let controlled = if can_control {
                    tune_controlled(&mut runner, until, scheme.order(), tolerance, stop)?
                } else {
                    None
                };
                let tuned = match controlled {
                    Some(tuned) if tuned.warning.is_none() && !tuned.fails => tuned,
                    Some(tuned) if tuned.is_hopeless => tuned,
                    // Where controlled steps do not meet the tolerance, steps of equal length may.
                    other => {
                        let named = simulation.scheme()?;
                        let mut runner = runner.with(&named.scheme, &named.pool);
                        let measuring = runner.with(&named.scheme, &named.pool);
                        let chaos = || chaos(simulation, &measuring, until, stop);
                        let equal = tune(&mut runner, until, named.scheme.order(), tolerance, &shortest, &chaos, stop);
                        let with_cause = |error| match warnings::function(&simulation.model) {
                            Some(cause) => cause.into(),
                            None => warnings::with_kinks(error, &simulation.model, &named.scheme),
                        };
                        let (tuned, is_equal) = better(other, equal.map_err(with_cause))?;
                        if is_equal {
                            (scheme, pool) = (named.scheme, named.pool);
                        }
                        tuned
                    }
                };
                let is_slow = tuned.is_slow && tuned.warning.is_some();
                let kinks = if is_slow { warnings::kinks(&simulation.model, &scheme) } else { None };
                let help = kinks.map_or(String::new(), |kinks| format!("\nhelp: {kinks}"));
                warnings.extend(tuned.warning.map(|reason| format!("{reason}{help}")));
                (lost, fails) = (tuned.lost, tuned.fails);
                (tuned.plan, tuned.estimate)
            }
        };
        let jump = lost.and_then(|lost| warnings::broken_energy(&simulation.model, scheme.plant.facts(), &lost));
        let jump = jump.filter(|_| !fails);
        let broken = jump.map(|(jump, failure)| Broken { failure, until: jump.t - plan.step });
        // What no step is known to see is not in the estimate either.
        let estimate = estimate.filter(|_| short.is_complete);
        Ok(Ready {
            model: simulation.model.clone(),
            every: simulation.every,
            scheme,
            pool,
            state,
            is_resumed,
            start,
            sections,
            plan,
            estimate,
            warnings,
            compile_seconds,
            is_tuned: simulation.step.is_none(),
            short: short_pieces,
            schedule,
            feedback: simulation.feedback.clone(),
            broken,
            is_restarted: matches!(simulation.from, From::State(_) | From::All { .. }),
        })
    }

    /// The step h; none if carom controls the length of steps.
    pub fn step(&self) -> Option<f64> {
        self.plan.control.is_none().then_some(self.plan.step)
    }

    /// The nodes; if carom controls the length of steps, as if they were all as long as the longest allowed.
    pub(super) fn mesh(&self) -> Mesh<'static> {
        Mesh::new(self.begin(), self.plan.step, self.plan.until)
    }

    /// The state at the beginning of the first step, with what the method needs to know.
    pub(crate) fn first_state(&self) -> Result<State> {
        let mut state = State::clone(&self.state);
        if !self.is_resumed {
            let mut stepper = self.scheme.stepper(Variant::Whole)?;
            stepper.begin(&state.parameters);
            stepper.start(&mut state, self.plan.step).map_err(|e| failure(e, &self.state.z))?;
        }
        Ok(state)
    }

    /// The number of equal steps.
    pub(crate) fn steps(&self) -> usize {
        self.mesh().count()
    }

    /// The controls of the run along the time.
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// When each of the equal steps begins.
    pub(crate) fn step_beginnings(&self) -> Vec<f64> {
        let nodes = self.mesh();
        let mut all: Vec<f64> = std::iter::once(self.begin()).chain(nodes.nodes()).collect();
        all.pop();
        all
    }

    /// The plant and the method.
    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The compiled system.
    pub fn plant(&self) -> &dyn Plant {
        &*self.scheme.plant
    }

    /// The values of the parameters.
    pub fn parameters(&self) -> &[f64] {
        &self.state.parameters
    }

    /// The end time.
    pub fn until(&self) -> f64 {
        self.plan.until
    }

    /// The start time.
    pub fn begin(&self) -> f64 {
        self.state.z.t
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.scheme.method
    }

    /// True if the bodies of the model are evaluated by recursive kernels, and not as compiled expressions.
    pub fn is_recursive(&self) -> bool {
        self.scheme.plant.is_recursive()
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

    fn runner(&self) -> Runner<'_> {
        let (state, sections) = (self.state.clone(), self.sections.clone());
        let (short, schedule) = (self.short.clone(), self.schedule.clone());
        let runner = Runner::new(&self.scheme, &self.pool, state, self.is_resumed, sections, short, schedule);
        runner.following(self.feedback.clone())
    }

    /// Runs the simulation with one unit of roundoff more in every step and at every impact; none where that cannot be done.
    pub(crate) fn show_disturbed(&self, seed: u64, audience: &mut [Audience]) -> Result<Option<Outcome>> {
        let mut runner = self.runner();
        let plan = Plan { checkpoints: 0, ..self.plan };
        runner.run_disturbed(plan, seed, audience)
    }

    /// Runs the simulation and reports events to several watchers.
    pub fn show(&self, audience: &mut [Audience]) -> Result<Outcome> {
        let mut runner = self.runner();
        let mut plan = self.plan;
        if let Some(Broken { until: end, .. }) = self.broken.as_ref().filter(|broken| broken.until > self.begin()) {
            plan.until = *end;
        }
        let until = plan.until;
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
        let mut outcome = runner.run(plan, audience)?;
        let planned = self.feedback.as_ref().map(|feedback| feedback.tracks[0].step());
        outcome.step = planned.or(self.step());
        let facts = self.scheme.plant.facts();
        if let Some(Broken { failure, .. }) = self.broken.as_ref().filter(|_| outcome.status == Status::Completed) {
            let z = &outcome.state.z;
            let failure = Failure { t: z.t, q: z.q().to_vec(), p: z.p().to_vec(), ..failure.clone() };
            outcome.status = Status::Failed(Box::new(failure));
        }
        if let (Status::Failed(failure), Some(cause)) = (&mut outcome.status, warnings::function(&self.model)) {
            (failure.message, failure.hint) = (cause.message, cause.help.unwrap_or_default());
        } else if let Status::Failed(failure) = &mut outcome.status {
            let is_stuck = failure.message == STICKS;
            let named = if is_stuck { warnings::jumps } else { warnings::kinks };
            if let Some(named) = named(&self.model, &self.scheme) {
                failure.hint = format!("{}; {named}", failure.hint);
            }
        }
        let estimate = self.estimate.as_ref().filter(|_| outcome.status == Status::Completed);
        outcome.error_estimate = estimate.map(|estimate| estimate.error);
        outcome.error_scale = estimate.map(|estimate| estimate.scale.clone());
        outcome.error_since = estimate.filter(|_| self.is_restarted).map(|_| self.begin());
        outcome.warnings = warnings::after(&self.model, facts, &outcome, self.is_tuned);
        outcome.notes.extend(warnings::unmet(&self.model, &outcome));
        let start =
            self.start.iter().flat_map(|start| &start.warnings).chain(&self.model.warnings).map(Diagnostic::body);
        let followed = outcome.followed.iter().flat_map(|followed| follow::warnings(&self.model, followed));
        outcome.warnings.extend(followed.collect::<Vec<_>>());
        outcome.warnings = start.chain(self.warnings.iter().cloned()).chain(outcome.warnings).collect();
        Ok(outcome)
    }
}

/// Of controlled steps and steps of equal length those with the smaller estimated error; whether these are of equal length.
fn better(controlled: Option<Tuned>, equal: Result<Tuned>) -> Result<(Tuned, bool)> {
    let error = |tuned: &Tuned| tuned.estimate.as_ref().map_or(f64::INFINITY, |estimate| estimate.error);
    match (controlled, equal) {
        (None, equal) => equal.map(|equal| (equal, true)),
        // A motion that ends in a singularity comes nearer to it with controlled steps; equal steps jump over it.
        (Some(controlled), equal) if controlled.fails => {
            let jumps = |lost: &Outcome| lost.energy.jump.is_some();
            let is_lost = |equal: &Tuned| equal.estimate.is_none() || equal.lost.as_ref().is_some_and(jumps);
            equal.map(|equal| if is_lost(&equal) { (controlled, false) } else { (equal, true) })
        }
        (Some(controlled), Ok(equal)) if error(&equal) < error(&controlled) => Ok((equal, true)),
        (Some(controlled), _) => Ok((controlled, false)),
    }
}

/// The shortest step of a run over `time`: a run has a limited number of steps, and the window of `mhc` of nodes. An error if a
/// given step, or the longest that is tried without one, makes a larger window.
fn shortest_step(simulation: &Simulation, scheme: &Scheme, time: f64) -> Result<Shortest> {
    let by_count = Shortest { step: time / MOST_STEPS, nodes: None };
    let window = simulation.model.run.mhc.window;
    if !scheme.method.name.contains("mhc") {
        return Ok(by_count);
    }
    let count = window / simulation.step.unwrap_or(time / FIRST_STEPS);
    if count > MOST_WINDOW {
        let message = format!("the window of `mhc` has {count:.1e} nodes, more than {MOST_WINDOW:e}");
        return Err(Diagnostic::new(message)
            .with_help("give a shorter `window` in `run.mhc`, or a longer step")
            .into());
    }
    let by_window = window / MOST_WINDOW;
    if by_window <= by_count.step {
        return Ok(by_count);
    }
    Ok(Shortest { step: by_window, nodes: Some(MOST_WINDOW) })
}
