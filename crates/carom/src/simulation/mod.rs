//! The main entry point: [`Simulation`] runs a model and returns a [`Trajectory`].

mod chaos;
mod compiled;
mod controlled;
mod dense;
mod departure;
mod ensemble;
mod estimate;
mod explicit;
mod follow;
mod pilot;
mod quiet;
mod ready;
mod reason;
mod record;
mod roundoff;
mod runner;
mod scale;
mod scout;
mod series;
mod short;
mod start;
mod study;
mod tolerance;
mod trajectory;
mod warnings;

use std::sync::Arc;

pub use dense::Dense;
pub use ensemble::RowStatus;
pub(crate) use ensemble::{Ended, Ensemble};
pub use ready::Ready;
pub use record::Record;
pub use series::series;
pub use study::study;
pub use trajectory::{RunError, Side, Trajectory};

use crate::error::{Diagnostic, Error, Result};
use crate::method::Method;
use crate::model::control::Setting;
use crate::model::{AUTO, Model, suggestion};
use crate::phase::Phase;
use crate::run::{Feedback, Outcome, Watcher};
use crate::step::{Scheme, State};
use compiled::Compiled;

/// A model with a method, a step and an end time. It can be run many times.
///
/// Clones are cheap, share the compiled code, and may run in other threads. Setting a parameter, a start, a step or an end time
/// compiles nothing; a new method is compiled on its first run. The next run reports any mistake in a setting.
///
/// ```
/// let model = carom::Model::load("double-pendulum")?;
/// let run = model.simulation().method("gauss4+ctec").step(0.01).until(5.0).set("m1", 2.0).run()?;
/// assert_eq!(run.t().len(), 501);
/// assert!((run.q("theta1")?[0] - 0.5647).abs() < 1e-12);
/// # Ok::<(), carom::RunError>(())
/// ```
#[derive(Clone)]
pub struct Simulation {
    model: Arc<Model>,
    compiled: Arc<Compiled>,
    parameters: Arc<[f64]>,
    method: Option<Arc<Method>>,
    /// The user asks for the default method.
    is_auto: bool,
    step: Option<f64>,
    until: Option<f64>,
    tolerance: f64,
    every: Option<f64>,
    from: From,
    record: Record,
    estimated: Estimated,
    /// Check for walls that the steps may have missed.
    looks_for_walls: bool,
    /// The controls, constant from one of these times to the next; empty if they never change.
    controls: Arc<[Setting]>,
    /// The plan that the controls follow.
    feedback: Option<Arc<Feedback>>,
    trouble: Option<Error>,
}

/// Which runs have an error estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Estimated {
    /// Those whose steps carom finds.
    Found,
    /// All.
    Always,
    /// None, unless the search for a step needs it.
    Never,
}

/// The initial state of a run.
#[derive(Clone)]
enum From {
    /// The start of the model.
    Model,
    /// A phase point of the free coordinates.
    Phase(Phase),
    /// A time, with q and p of all coordinates, including driven ones.
    All { t: f64, q: Vec<f64>, p: Vec<f64> },
    /// The final state of an earlier run.
    State(State),
}

impl Model {
    /// Creates a simulation with the method, the step and the end time of the model, or the defaults.
    pub fn simulation(&self) -> Simulation {
        Simulation::of(self)
    }

    /// Runs the model with its own method, step and end time, or the defaults.
    pub fn simulate(&self) -> std::result::Result<Trajectory, RunError> {
        self.simulation().run()
    }
}

impl Simulation {
    /// Creates a simulation with the settings of a model.
    pub fn of(model: &Model) -> Simulation {
        let run = &model.run;
        Simulation {
            parameters: model.system.parameters.iter().map(|parameter| parameter.value).collect(),
            compiled: Arc::default(),
            method: None,
            is_auto: false,
            step: run.step,
            until: run.until,
            tolerance: run.tolerance,
            every: None,
            from: From::Model,
            record: Record::Nodes,
            estimated: Estimated::Found,
            looks_for_walls: false,
            controls: model.control_settings(run.until).into(),
            feedback: None,
            trouble: None,
            model: Arc::new(model.clone()),
        }
    }

    /// Creates a simulation with a method, a step and an end time, and compiles it at once.
    pub fn new(model: &Model, method: &Method, step: f64, until: f64) -> Result<Simulation> {
        let mut simulation = Simulation::of(model).step(step).until(until);
        simulation.method = Some(Arc::new(method.clone()));
        simulation.initial()?;
        Ok(simulation)
    }

    /// Stores a mistake in a setting; the next run reports it.
    fn blame(mut self, error: Error) -> Simulation {
        self.trouble.get_or_insert(error);
        self
    }

    /// Sets the method by name, such as `gauss4+ctec`; see [`crate::methods`]. `auto` is the default for the model.
    pub fn method(mut self, name: &str) -> Simulation {
        self.is_auto = name == AUTO;
        if self.is_auto {
            self.method = None;
            return self;
        }
        match Method::named(name, self.model.run.alpha) {
            Ok(method) => self.method = Some(Arc::new(method)),
            Err(error) => return self.blame(error),
        }
        self
    }

    /// Sets the step h. Without a step, carom finds one from the tolerance.
    pub fn step(mut self, step: f64) -> Simulation {
        if step > 0.0 && step.is_finite() {
            self.step = Some(step);
            return self;
        }
        self.blame(Diagnostic::new(format!("the step must be positive, not {step}")).into())
    }

    /// Sets the end time. Controls that the model lists without phases are on equal parts of the run.
    pub fn until(mut self, until: f64) -> Simulation {
        if until.is_finite() {
            if *self.controls == *self.model.control_settings(self.until) {
                self.controls = self.model.control_settings(Some(until)).into();
            }
            self.until = Some(until);
            return self;
        }
        self.blame(Diagnostic::new(format!("the end time must be a finite number, not {until}")).into())
    }

    /// Sets the error tolerance from which carom finds the step.
    pub fn tolerance(mut self, tolerance: f64) -> Simulation {
        if tolerance > 0.0 && tolerance.is_finite() {
            (self.tolerance, self.step) = (tolerance, None);
            return self;
        }
        self.blame(Diagnostic::new(format!("the tolerance must be positive, not {tolerance}")).into())
    }

    /// Sets a parameter of the model.
    pub fn set(mut self, name: &str, value: f64) -> Simulation {
        let parameters = &self.model.system.parameters;
        let Some(number) = parameters.iter().position(|parameter| parameter.name == name) else {
            let near = suggestion(name, parameters.iter().map(|parameter| parameter.name.as_str()));
            let error = Diagnostic::new(format!("the model has no parameter `{name}`"));
            let error = match near {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            };
            return self.blame(error.into());
        };
        if self.model.structural.iter().any(|structural| structural == name) {
            let error =
                Diagnostic::new(format!("`{name}` is the bound of a repetition and cannot be changed after loading"));
            return self.blame(error.with_help("load the model again with the new value").into());
        }
        if !value.is_finite() {
            let error = Diagnostic::new(format!("the parameter `{name}` must be a finite number, not {value}"));
            return self.blame(error.into());
        }
        let mut values = self.parameters.to_vec();
        values[number] = value;
        self.parameters = values.into();
        self
    }

    /// This simulation with a control for each step of the phases, where each control was constant along the run.
    pub(crate) fn with_control_steps(mut self) -> Simulation {
        if self.controls.is_empty() && !self.model.problem.phases.is_empty() {
            let mut settings = self.model.settings_of_steps(self.until);
            let plain = self.model.plain_parameters().len();
            settings.iter_mut().for_each(|setting| setting.controls.copy_from_slice(&self.parameters[plain..]));
            self.controls = settings.into();
        }
        self
    }

    /// Sets the controls: each list of values holds from its time to the next. Steps end at these times.
    pub fn controls(mut self, settings: Vec<Setting>) -> Simulation {
        self.controls = settings.into();
        self
    }

    /// Starts at t = 0 with these values of q and v. Each slice has one entry per coordinate of the model.
    pub fn start(mut self, q: &[f64], v: &[f64]) -> Simulation {
        let n = self.model.system.coordinates.len();
        if q.len() != n || v.len() != n {
            let message = format!("a start has {n} coordinates and {n} velocities, not {} and {}", q.len(), v.len());
            return self.blame(Diagnostic::new(message).into());
        }
        let started = self.model.starting_at(q, v);
        self.model = Arc::new(started);
        self.from = From::Model;
        self
    }

    /// Starts at a phase point of the free coordinates.
    pub fn start_from(mut self, z: Phase) -> Simulation {
        self.from = From::Phase(z);
        self
    }

    /// Starts at time t with q and p of all coordinates, including driven ones.
    pub fn start_at(mut self, t: f64, q: &[f64], p: &[f64]) -> Simulation {
        let n = self.model.system.coordinates.len();
        if q.len() != n || p.len() != n {
            let message = format!("a start has {n} coordinates and {n} momenta, not {} and {}", q.len(), p.len());
            return self.blame(Diagnostic::new(message).into());
        }
        self.from = From::All { t, q: q.to_vec(), p: p.to_vec() };
        self
    }

    /// Resumes from the final state of an earlier run.
    pub fn resume(mut self, state: State) -> Simulation {
        self.parameters = state.parameters.clone();
        self.from = From::State(state);
        self
    }

    /// Sets what the trajectory records.
    pub fn record(mut self, record: Record) -> Simulation {
        if let Record::Every(dt) = record
            && !(dt > 0.0 && dt.is_finite())
        {
            return self.blame(Diagnostic::new(format!("the sampling interval must be positive, not {dt}")).into());
        }
        self.record = record;
        self
    }

    /// Sets the sampling interval for [`Watcher::sample`].
    pub fn every(mut self, dt: f64) -> Simulation {
        self.every = Some(dt);
        self
    }

    /// Requests an error estimate even if the step is given.
    pub fn estimate(mut self) -> Simulation {
        self.estimated = Estimated::Always;
        self
    }

    /// Skips the error estimate of a run whose steps carom controls: it takes one pass, and not three. Without the estimate, no
    /// warning says that the tolerance was not met.
    pub fn without_estimate(mut self) -> Simulation {
        self.estimated = Estimated::Never;
        self
    }

    /// Warns of walls that the steps may have missed: where nodes are farther apart, the walls are also checked at 255 equally
    /// spaced times. The search for a step always does this.
    pub fn look_for_walls(mut self) -> Simulation {
        self.looks_for_walls = true;
        self
    }

    /// The initial state of a run, including the walls that are active there.
    pub fn initial(&self) -> Result<State> {
        Ok(self.start_state(&self.scheme()?.scheme, self.step.unwrap_or(1.0))?.state)
    }

    /// The compiled plant and method, which create steppers.
    pub fn compiled_scheme(&self) -> Result<Scheme> {
        Ok(self.scheme()?.scheme)
    }

    /// The end time, if there is one.
    pub fn end(&self) -> Option<f64> {
        self.until
    }

    /// The values of the parameters.
    pub(crate) fn parameters(&self) -> &Arc<[f64]> {
        &self.parameters
    }

    /// The end time, if there is one.
    pub(crate) fn end_time(&self) -> Option<f64> {
        self.until
    }

    /// True if the run begins with the start of the model.
    pub(crate) fn starts_with_model(&self) -> bool {
        matches!(self.from, From::Model)
    }

    /// The same with steps of equal length: the default method then finds one step for the whole run.
    pub(crate) fn with_equal_steps(self) -> Simulation {
        if !self.has_default_method() {
            return self;
        }
        let name = self.default_method();
        self.method(name)
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Compiles, checks the start, and finds the step if none is given.
    pub fn prepare(&self) -> Result<Ready> {
        Ready::new(self, &())
    }

    /// Like [`Simulation::prepare`], but ends the search for a step when `stop` requests it.
    pub fn prepare_unless(&self, stop: &dyn Watcher) -> Result<Ready> {
        Ready::new(self, stop)
    }

    /// Runs the simulation and reports events to a watcher.
    pub fn watch(&self, watcher: &mut dyn Watcher) -> Result<Outcome> {
        Ready::new(self, watcher)?.watch(watcher)
    }

    /// Runs the simulation and records the trajectory. If the run fails, the error carries the trajectory so far.
    pub fn run(&self) -> std::result::Result<Trajectory, RunError> {
        Trajectory::of(self)
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Simulation { step, until, tolerance, .. } = self;
        let title = &self.model.title;
        f.debug_struct("Simulation")
            .field("model", title)
            .field("step", step)
            .field("until", until)
            .field("tolerance", tolerance)
            .finish_non_exhaustive()
    }
}
