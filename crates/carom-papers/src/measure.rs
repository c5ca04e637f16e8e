//! Measurements that several figures and tables use.

use super::{Drawing, Mark};
use carom::lab::catalogue;
use carom::lab::compare::{Exact, Recorded, build_flow};
use carom::lab::error::{Diagnostic, Error, Result};
use carom::lab::mechanics::Mechanics;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::modified::Shadow;
use carom::lab::phase::Phase;
use carom::lab::run::Status;
use carom::lab::run::failure;
use carom::lab::simulation::Simulation;
use carom::lab::solve::NoSolution;

/// A shipped model with settings.
pub(crate) fn model(example: &str, settings: &[&str]) -> Result<Model> {
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let found = catalogue::find(example).ok_or_else(|| Diagnostic::new(format!("there is no example `{example}`")))?;
    Model::from_text(&format!("{example}.toml"), found.text, &settings)
}

/// A model from this text.
pub(crate) fn model_of_text(name: &str, text: &str) -> Result<Model> {
    Model::from_text(&format!("{name}.toml"), text, &[])
}

/// The values of the parameters.
pub(crate) fn parameters(model: &Model) -> Vec<f64> {
    model.system.parameters.iter().map(|p| p.value).collect()
}

/// A model with a method and a step.
pub(crate) struct Case {
    pub(crate) model: Model,
    pub(crate) method: Method,
    pub(crate) step: f64,
    pub(crate) until: f64,
}

impl Case {
    pub(crate) fn new(example: &str, settings: &[&str], method: &str, step: f64, until: f64) -> Result<Case> {
        Ok(Case { model: model(example, settings)?, method: Method::named(method, None)?, step, until })
    }

    pub(crate) fn simulation(&self) -> Result<Simulation> {
        Simulation::new(&self.model, &self.method, self.step, self.until)
    }

    /// Runs the case; a failed run is an error.
    pub(crate) fn run(&self) -> Result<Recorded> {
        let trajectory = Recorded::of(&self.simulation()?)?;
        match trajectory.outcome.status {
            Status::Failed(failure) => Err((*failure).into()),
            _ => Ok(trajectory),
        }
    }

    /// H̃ at these nodes.
    pub(crate) fn shadow(&self, shadow: &mut Shadow, nodes: &[&Phase]) -> Result<Vec<f64>> {
        let mut flow = build_flow(&self.model, &self.method, &Mechanics::new(&self.model.system))?;
        nodes.iter().map(|z| shadow.at(&mut *flow, z, self.step).map_err(|e| unsolved(e, z))).collect()
    }

    /// The jump of the shadow energy at each impact, with its time: the windowed H̃ (m = 8, ±10 nodes) at the first node after
    /// the impact minus that at the last node before it.
    pub(crate) fn jumps(&self, trajectory: &Recorded) -> Result<Vec<(f64, f64)>> {
        let sides = trajectory.last_nodes.iter().flat_map(|&last| [last, last + 1]);
        let nodes: Vec<&Phase> = sides.map(|k| &trajectory.nodes[k]).collect();
        let values = self.shadow(&mut Shadow::windowed(8, 10), &nodes)?;
        let times = trajectory.impacts.iter().map(|impact| impact.minus.t);
        Ok(times.zip(values.chunks(2)).map(|(t, sides)| (t, sides[1] - sides[0])).collect())
    }

    /// The largest relative drift of H̃_h with m = 7 over the nodes.
    pub(crate) fn relative_drift(&self, trajectory: &Recorded) -> Result<f64> {
        let nodes: Vec<&Phase> = trajectory.nodes.iter().collect();
        let values = self.shadow(&mut Shadow::new(7), &nodes)?;
        Ok(values.iter().map(|value| (value / values[0] - 1.0).abs()).fold(0.0, f64::max))
    }

    /// The L² error against the reference motion.
    pub(crate) fn l2(&self, exact: &Exact) -> Result<f64> {
        Ok(exact.l2_error(&self.run()?))
    }
}

/// The error for a diagnostic that could not be computed.
pub(crate) fn unsolved(e: NoSolution, z: &Phase) -> Error {
    failure(e, z).into()
}

/// The median.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    if count == 0 { f64::NAN } else { 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]) }
}

/// The largest value.
pub(crate) fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, f64::max)
}

/// The largest minus the smallest value.
pub(crate) fn range(values: &[f64]) -> f64 {
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    high - low
}

/// The slope of log y against log x, by least squares.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let (top, bottom) = logs.iter().fold((0.0, 0.0), |(top, bottom), (x, y)| {
        (top + (x - mean_x) * (y - mean_y), bottom + (x - mean_x) * (x - mean_x))
    });
    top / bottom
}

/// A drawing of λ over the time of each impact; the table has the columns `t` and `lambda`.
pub(crate) fn impulses() -> Drawing {
    Drawing::new("impulse of each impact", "t", ["t [s]", "λ [N s]"]).curve("lambda", "", Mark::Stems)
}
