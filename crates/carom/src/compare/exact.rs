//! The reference motion for comparisons.

use super::Recorded;
use crate::error::Result;
use crate::limits::{DISTURBED_RUNS, ROUNDOFF_SAFETY};
use crate::method::Method;
use crate::model::Model;
use crate::run::{Impact, Outcome, Status, View, Watcher};
use crate::simulation::Simulation;
use crate::solve::larger;

/// A method of order 16: its error is at roundoff level, unless the motion is chaotic.
const METHOD: &str = "gauss8+ctec";
/// Two runs that differ by less, relative to the size of q, agree to double precision.
const ENOUGH: f64 = 1e-13;
/// The step is halved at most this often.
const HALVINGS: usize = 8;

/// A reference motion at the nodes of a mesh, computed by `gauss8+ctec` with a step that is halved until the result converges.
#[derive(Clone, Debug)]
pub struct Exact {
    /// The end time.
    pub until: f64,
    /// q at the nodes k·h, and at the end time.
    pub q: Vec<Vec<f64>>,
    /// The times of impacts.
    pub impact_times: Vec<f64>,
    /// The estimated L² error: the larger of the difference from a run with twice the step, and of ROUNDOFF_SAFETY times the
    /// largest difference from disturbed runs, which is the error of roundoff.
    pub error: f64,
    /// The step h of the mesh.
    step: f64,
}

/// Records q at the samples and the times of impacts.
#[derive(Default)]
struct Record {
    q: Vec<Vec<f64>>,
    impact_times: Vec<f64>,
}

impl Watcher for Record {
    fn sample(&mut self, view: &mut View) {
        self.q.push(view.phase().q().to_vec());
    }

    fn impact(&mut self, impact: Impact) {
        self.impact_times.push(impact.minus.t);
    }
}

impl Exact {
    /// Computes the reference motion of a model on a mesh.
    pub fn new(model: &Model, step: f64, until: f64) -> Result<Exact> {
        let mut h = (until / 40.0).min(0.1);
        let simulation = Simulation::new(model, &Method::named(METHOD, None)?, h, until)?.every(step);
        let mut best = Exact::with(&simulation, step, until)?;
        for _ in 0..HALVINGS {
            h *= 0.5;
            let mut finer = Exact::with(&simulation.clone().step(h), step, until)?;
            finer.error = l2(&best.q, &finer.q, step);
            // If halving no longer helps, the difference is roundoff.
            let stuck = finer.error > 0.5 * best.error;
            let size = finer.q.iter().flatten().fold(1.0, |m: f64, q| m.max(q.abs()));
            let done = finer.error <= ENOUGH * size || (stuck && finer.error < 1e-6);
            best = finer;
            if done {
                break;
            }
        }
        for seed in 0..DISTURBED_RUNS as u64 {
            let mut record = Record::default();
            if let Some(outcome) = simulation.clone().step(h).prepare()?.watch_disturbed(seed, &mut record)? {
                let other = Exact::of(outcome, record, step, until)?;
                best.error = larger(best.error, ROUNDOFF_SAFETY * l2(&best.q, &other.q, step));
            }
        }
        Ok(best)
    }

    fn with(simulation: &Simulation, step: f64, until: f64) -> Result<Exact> {
        let mut record = Record::default();
        let outcome = simulation.watch(&mut record)?;
        Exact::of(outcome, record, step, until)
    }

    fn of(outcome: Outcome, mut record: Record, step: f64, until: f64) -> Result<Exact> {
        if let Status::Failed(failure) = outcome.status {
            return Err((*failure).into());
        }
        record.q.push(outcome.state.z.q().to_vec());
        let Record { q, impact_times } = record;
        Ok(Exact { until, q, impact_times, error: f64::INFINITY, step })
    }

    /// sqrt(h Σ |q_k − q(t_k)|²) over the nodes of a run with the same mesh.
    pub fn l2_error(&self, trajectory: &Recorded) -> f64 {
        let q: Vec<Vec<f64>> = trajectory.nodes.iter().map(|z| z.q().to_vec()).collect();
        l2(&self.q, &q, self.step)
    }
}

/// The L² norm over the nodes that both have. If the end time is on the mesh, it occurs twice in a reference motion and once in
/// a run.
fn l2(a: &[Vec<f64>], b: &[Vec<f64>], h: f64) -> f64 {
    let squares = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    (h * a.iter().zip(b).map(squares).sum::<f64>()).sqrt()
}
