//! Sweeps: many runs of one model that differ in parameters or starts.

mod axis;
pub(crate) mod events;
mod normal;
mod philox;
mod plan;
mod record;
mod sobol;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub use axis::{Axis, Values};
pub use plan::Plan;
pub use record::{Column, FIXED};

pub use crate::simulation::RowStatus;

use crate::error::Result;
use crate::model::{AUTO, Model};
use crate::simulation::{Ended, Ensemble, Simulation};
use record::Recorder;

/// The method of a sweep that names none, where its motions can be in lanes.
pub const LANES: &str = "dop853";

/// A sweep of a model: a plan, and what is recorded of each run.
///
/// ```
/// let model = carom::Model::load("pendulum")?;
/// let sweep = model.sweep().vary("g=1.6,9.8")?.vary("initial.q[0]=0.2:1:5")?.record("final")?.build()?;
/// let rows = sweep.run(0..sweep.rows(), &|| false)?;
/// assert_eq!(rows.len(), 10);
/// assert_eq!(rows[6].values, [9.8, 0.4]);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone)]
pub struct SweepBuilder {
    model: Model,
    axes: Vec<Axis>,
    samples: Option<u64>,
    seed: u64,
    records: Vec<String>,
    limit: Duration,
}

/// A sweep that is ready to run.
pub struct Sweep {
    plan: Plan,
    recorder: Recorder,
    ensemble: Ensemble,
    base: Vec<f64>,
    numbers: Vec<usize>,
}

/// A run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The number of the row.
    pub run: u64,
    /// The values of the axes.
    pub values: Vec<f64>,
    /// How the run ended.
    pub status: RowStatus,
    /// Why, if it did not complete.
    pub message: Option<String>,
    /// When it ended; NaN if it was refused.
    pub t_end: f64,
    /// The number of impacts.
    pub impacts: usize,
    /// The estimated error, if there is one.
    pub error: Option<f64>,
    /// What was recorded, NaN if the run was refused.
    pub records: Vec<f64>,
    /// The time that it took. Runs in lanes share their time equally.
    pub seconds: f64,
}

impl RowStatus {
    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        match self {
            RowStatus::Completed => "completed",
            RowStatus::Stopped => "stopped",
            RowStatus::Failed => "failed",
            RowStatus::Refused => "refused",
            RowStatus::Timeout => "timeout",
        }
    }
}

impl Model {
    /// Begins a sweep of this model.
    pub fn sweep(&self) -> SweepBuilder {
        SweepBuilder {
            model: self.clone(),
            axes: Vec::new(),
            samples: None,
            seed: 0,
            records: Vec::new(),
            limit: Duration::from_secs(60),
        }
    }
}

impl SweepBuilder {
    /// Varies a parameter or an entry of the start, as in `A=0.5:0.9:400`; see [`Axis::parse`].
    pub fn vary(mut self, axis: &str) -> Result<SweepBuilder> {
        self.axes.push(Axis::parse(axis)?);
        Ok(self)
    }

    /// Varies an axis that is not written as text.
    pub fn axis(mut self, axis: Axis) -> SweepBuilder {
        self.axes.push(axis);
        self
    }

    /// The number of samples of random axes for each point of the grid.
    pub fn samples(mut self, samples: u64) -> SweepBuilder {
        self.samples = Some(samples);
        self
    }

    /// The seed of random axes; 0 if it is not set.
    pub fn seed(mut self, seed: u64) -> SweepBuilder {
        self.seed = seed;
        self
    }

    /// Records `final` (all coordinates and velocities at the end), a coordinate, a velocity, an output of the model or
    /// `impacts.count`; several separated by commas.
    pub fn record(mut self, names: &str) -> Result<SweepBuilder> {
        self.records.extend(names.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty()));
        Ok(self)
    }

    /// Gives a run up after this time; one minute if it is not set.
    pub fn limit(mut self, limit: Duration) -> SweepBuilder {
        self.limit = limit;
        self
    }

    /// Checks the sweep and compiles the model.
    pub fn build(self) -> Result<Sweep> {
        self.model.refuse_function("a sweep")?;
        let recorder = Recorder::new(&self.model, &self.axes, &self.records)?;
        let names: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
        let (model, numbers) = self.model.varying(&names)?;
        let plan = Plan::new(self.axes, self.samples, self.seed)?;
        let simulation = model.simulation();
        let ensemble = self::ensemble(&model, simulation, &numbers, self.limit)?;
        let base = model.system.parameters.iter().map(|parameter| parameter.value).collect();
        Ok(Sweep { plan, recorder, ensemble, base, numbers })
    }
}

/// In lanes if the model names neither a method nor a step, and lanes can do it.
fn ensemble(model: &Model, simulation: Simulation, numbers: &[usize], limit: Duration) -> Result<Ensemble> {
    let is_default = model.run.step.is_none() && model.run.method.as_deref().is_none_or(|method| method == AUTO);
    if is_default
        && let Ok(ensemble) = Ensemble::new(&simulation.clone().method(LANES), numbers, limit)
        && ensemble.has_lanes()
    {
        return Ok(ensemble);
    }
    Ensemble::new(&simulation, numbers, limit)
}

/// Puts rows in order. Motions end nearly in the order in which they begin, so that few rows wait.
struct InOrder {
    rows: Vec<Row>,
    /// The number of the first row that waits, or has not ended.
    next: u64,
    waiting: VecDeque<Option<Row>>,
}

impl InOrder {
    fn new(first: u64, count: usize) -> InOrder {
        InOrder { rows: Vec::with_capacity(count), next: first, waiting: VecDeque::new() }
    }

    fn push(&mut self, row: Row) {
        let place = (row.run - self.next) as usize;
        if place >= self.waiting.len() {
            self.waiting.resize_with(place + 1, || None);
        }
        self.waiting[place] = Some(row);
        while let Some(row) = self.waiting.front_mut().and_then(Option::take) {
            self.rows.push(row);
            self.waiting.pop_front();
            self.next += 1;
        }
    }

    /// All rows that have ended.
    fn finish(mut self) -> Vec<Row> {
        self.rows.extend(self.waiting.into_iter().flatten());
        self.rows
    }
}

impl Sweep {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.plan.rows()
    }

    /// The columns that are recorded.
    pub fn columns(&self) -> &[Column] {
        self.recorder.columns()
    }

    /// The method of the runs.
    pub fn method(&self) -> &str {
        self.ensemble.method()
    }

    /// True if several runs are made at once, one in each lane.
    pub fn has_lanes(&self) -> bool {
        self.ensemble.has_lanes()
    }

    /// Runs some of the rows in this thread, and returns them in order. Ends early if `stop` says so, and then returns the rows that
    /// have ended.
    pub fn run(&self, rows: std::ops::Range<u64>, stop: &dyn Fn() -> bool) -> Result<Vec<Row>> {
        let mut worker = self.ensemble.worker()?;
        let (mut left, end) = (rows.start, rows.end.min(self.rows()));
        let mut next = |parameters: &mut Vec<f64>| {
            let row = Some(left).filter(|row| *row < end)?;
            left += 1;
            parameters.clone_from(&self.base);
            self.numbers.iter().zip(self.plan.values(row)).for_each(|(&number, value)| parameters[number] = value);
            Some(row)
        };
        let mut all = InOrder::new(rows.start, usize::try_from(end.saturating_sub(rows.start)).unwrap_or(0));
        let (began, has_lanes) = (Instant::now(), self.has_lanes());
        let mut last = began;
        let mut done = |row: u64, ended: &Ended| {
            let now = if has_lanes { last } else { Instant::now() };
            let seconds = (now - std::mem::replace(&mut last, now)).as_secs_f64();
            all.push(self.row(row, ended, seconds));
        };
        worker.run(&mut next, &mut done, stop);
        let mut all = all.finish();
        if has_lanes {
            let mean = began.elapsed().as_secs_f64() / all.len().max(1) as f64;
            all.iter_mut().for_each(|row| row.seconds = mean);
        }
        Ok(all)
    }

    fn row(&self, run: u64, ended: &Ended, seconds: f64) -> Row {
        let &Ended { status, ref message, ref last, impacts, error } = ended;
        let is_refused = status == RowStatus::Refused;
        Row {
            run,
            values: self.plan.values(run).collect(),
            records: if is_refused { vec![f64::NAN; self.columns().len()] } else { self.recorder.of(last) },
            t_end: if is_refused { f64::NAN } else { last.t },
            status,
            message: message.clone(),
            impacts,
            error,
            seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows come in order, also if some before them never end.
    #[test]
    fn rows_are_in_order() {
        let row = |run| Row {
            run,
            values: Vec::new(),
            status: RowStatus::Completed,
            message: None,
            t_end: 0.0,
            impacts: 0,
            error: None,
            records: Vec::new(),
            seconds: 0.0,
        };
        let mut rows = InOrder::new(3, 8);
        [5, 3, 4, 9, 6, 8].into_iter().for_each(|run| rows.push(row(run)));
        assert_eq!(rows.finish().iter().map(|row| row.run).collect::<Vec<_>>(), [3, 4, 5, 6, 8, 9]);
    }
}
