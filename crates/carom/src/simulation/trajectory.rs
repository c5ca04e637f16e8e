//! The record of a run.

use std::fmt;
use std::sync::Arc;

use super::dense::{Arcs, Dense};
use super::record::{Record, Recorder};
use super::{Ready, Simulation};
use crate::error::{Diagnostic, Error, Result};
use crate::mechanics::Node;
use crate::model::{Model, suggestion};
use crate::run::{Account, Crossing, Holding, Impact, Outcome, Status};
use crate::step::{Scheme, State};

/// The record of a run: columns by name, impacts, and the state at any time.
#[derive(Clone)]
pub struct Trajectory {
    model: Arc<Model>,
    scheme: Scheme,
    columns: Vec<Vec<f64>>,
    impacts: Vec<Impact>,
    crossings: Vec<Crossing>,
    contacts: Vec<Holding>,
    arcs: Arcs,
    begin: f64,
    outcome: Outcome,
    notes: Vec<String>,
}

/// Selects the state before or after an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The state before the impact.
    Before,
    /// The state after the impact.
    After,
}

/// Why a run has no trajectory, or an incomplete one.
#[derive(Clone)]
pub enum RunError {
    /// The model or a setting is wrong, or the initial state cannot be computed.
    Refused(Error),
    /// A step could not be computed. Carries the trajectory up to that time.
    Failed(Box<Trajectory>),
}

impl Trajectory {
    pub(super) fn of(simulation: &Simulation) -> std::result::Result<Trajectory, RunError> {
        let record = simulation.record;
        let every = if let Record::Every(dt) = record { Some(dt) } else { None };
        let ready = simulation.prepare()?.every(every);
        let (begin, mesh) = (ready.begin(), ready.mesh());
        let rows = match every {
            Some(dt) => (((mesh.until - mesh.start) / dt) as usize).saturating_add(2),
            None => mesh.count().saturating_add(1),
        };
        let (model, facts) = (simulation.model.clone(), ready.scheme.plant.facts());
        let constraints = model.system.stated_constraints().len();
        let count = 2 + 3 * model.system.coordinates.len() + model.outputs.len() + constraints;
        let mut recorder = Recorder::new(record, rows, count, 2 * facts.n);
        let outcome = ready.watch(&mut recorder)?;
        let Recorder { columns, impacts, crossings, mut contacts, arcs, .. } = recorder;
        // A step reports the accumulation point of impacts when it finds it, which may be after a later change.
        contacts.sort_by(|a, b| a.t.total_cmp(&b.t));
        let (notes, Ready { scheme, .. }) = (ready.notes(), ready);
        let run = Trajectory { model, scheme, columns, impacts, crossings, contacts, arcs, begin, outcome, notes };
        match run.outcome.status {
            Status::Failed(_) => Err(RunError::Failed(Box::new(run))),
            _ => Ok(run),
        }
    }

    /// The time of each row.
    pub fn t(&self) -> &[f64] {
        &self.columns[0]
    }

    /// The values of a coordinate.
    pub fn q(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.columns[1 + self.coordinate(name)?])
    }

    /// The velocities of a coordinate.
    pub fn v(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.columns[1 + self.model.system.coordinates.len() + self.coordinate(name)?])
    }

    /// The momenta of a coordinate.
    pub fn p(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.columns[1 + 2 * self.model.system.coordinates.len() + self.coordinate(name)?])
    }

    /// The values of an output of the model.
    pub fn output(&self, name: &str) -> Result<&[f64]> {
        let names = self.model.outputs.iter().map(|output| output.name.as_str());
        Ok(&self.columns[1 + 3 * self.model.system.coordinates.len() + find("output", name, names)?])
    }

    /// The impulse of a constraint per step, with the sign of [TPC eq. 6a].
    pub fn lambda(&self, name: &str) -> Result<&[f64]> {
        let names = self.model.system.stated_constraints().iter().map(|constraint| constraint.name.as_str());
        let first = 1 + 3 * self.model.system.coordinates.len() + self.model.outputs.len();
        Ok(&self.columns[first + find("constraint", name, names)?])
    }

    /// The energy in each row.
    pub fn energy(&self) -> &[f64] {
        self.columns.last().map_or(&[], |column| column)
    }

    /// The impacts.
    pub fn impacts(&self) -> &[Impact] {
        &self.impacts
    }

    /// The name of the wall that an impact hit.
    pub fn wall(&self, impact: &Impact) -> &str {
        &self.model.system.walls[impact.wall].name
    }

    /// The crossings of sections.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// The times at which walls begin and cease to hold the motion.
    pub fn contacts(&self) -> &[Holding] {
        &self.contacts
    }

    /// The energy account, if forces, drives, moving walls or losses can change the energy.
    pub fn account(&self) -> Option<Account> {
        self.outcome.account
    }

    /// How the run ended.
    pub fn status(&self) -> &Status {
        &self.outcome.status
    }

    /// The estimated error, if carom found the step or an estimate was requested.
    pub fn error_estimate(&self) -> Option<f64> {
        self.outcome.error_estimate
    }

    /// The step; none if carom controls the length of steps.
    pub fn step(&self) -> Option<f64> {
        self.outcome.step
    }

    /// The final state, complete enough to resume from.
    pub fn state(&self) -> &State {
        &self.outcome.state
    }

    /// The results of the run as a whole.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Warnings: a start that was moved, a tolerance that was not reached, a wall that was missed.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().chain(&self.outcome.warnings).map(String::as_str)
    }

    /// The state at time t, to the order of the method. At an impact this is the state after it. The run must record its nodes.
    pub fn at(&self, t: f64) -> Result<Node> {
        self.at_side(t, Side::After)
    }

    /// Like [`Trajectory::at`], but at an impact on the given side of it.
    pub fn at_side(&self, t: f64, side: Side) -> Result<Node> {
        let (begin, end) = (self.begin, self.outcome.state.z.t);
        if !(begin..=end).contains(&t) {
            return Err(Diagnostic::new(format!("t = {t} is outside the run, which goes from {begin} to {end}")).into());
        }
        let unrecorded = || Diagnostic::new("the run did not record its nodes").with_help("use `Record::Nodes`");
        let arc = self.arcs.find(t, side == Side::Before).ok_or_else(unrecorded)?;
        let (arcs, mut node) = (self.arcs.only(arc), Node::default());
        Dense::of(&self.scheme, &self.outcome.state.parameters, arcs, 0)?.at(t, side == Side::Before, &mut node)?;
        Ok(node)
    }

    fn coordinate(&self, name: &str) -> Result<usize> {
        find("coordinate", name, self.model.system.coordinates.iter().map(|coordinate| coordinate.name.as_str()))
    }
}

/// The index of a name, or an error with a suggestion.
fn find<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<usize> {
    names.clone().position(|known| known == name).ok_or_else(|| {
        let error = Diagnostic::new(format!("the model has no {what} `{name}`"));
        let all: Vec<&str> = names.clone().collect();
        let help = match suggestion(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None if all.is_empty() => format!("it has no {what} at all"),
            None => format!("there are {}", all.join(", ")),
        };
        error.with_help(help).into()
    })
}

impl From<Error> for RunError {
    fn from(error: Error) -> RunError {
        RunError::Refused(error)
    }
}

impl std::error::Error for RunError {}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            RunError::Refused(error) => error.fmt(f),
            RunError::Failed(run) => match run.status() {
                Status::Failed(failure) => failure.fmt(f),
                _ => f.write_str("the run failed"),
            },
        }
    }
}

/// Same text as `Display`, because `?` in `main` prints the `Debug` form.
impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Trajectory {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Trajectory")
            .field("model", &self.model.title)
            .field("rows", &self.t().len())
            .field("impacts", &self.impacts.len())
            .field("status", &self.outcome.status)
            .finish_non_exhaustive()
    }
}
