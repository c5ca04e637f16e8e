//! The reference motion for comparisons.

use super::Recorded;
use crate::error::Result;
use crate::limits::{DISTURBED_RUNS, ROUNDOFF_SAFETY};
use crate::method::Method;
use crate::model::Model;
use crate::run::{Audience, Impact, Outcome, Status, View, Watcher};
use crate::simulation::Simulation;
use crate::solve::larger;

/// A method of order 16: its error is at roundoff level, unless the motion is chaotic.
const METHOD: &str = "gauss8+ctec";
/// Two runs that differ by less, relative to the size of q, agree to double precision.
const ENOUGH: f64 = 1e-13;
/// The step is halved at most this often.
const HALVINGS: usize = 8;
/// The step is not halved for a run that would be more work than this, in steps of a system with few coordinates.
const MOST_REFERENCE: f64 = 1e6;

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

/// Records q at the nodes of a mesh, and the times of impacts.
struct Record {
    /// The step of the mesh.
    step: f64,
    q: Vec<Vec<f64>>,
    impact_times: Vec<f64>,
}

impl Record {
    fn for_meshes(steps: &[f64]) -> Vec<Record> {
        steps.iter().map(|&step| Record { step, q: Vec::new(), impact_times: Vec::new() }).collect()
    }

    fn audience(records: &mut [Record]) -> Vec<Audience<'_>> {
        records.iter_mut().map(|record| Audience { every: Some(record.step), watcher: record }).collect()
    }
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
        Ok(Exact::on_meshes(model, &[step], until)?.remove(0))
    }

    /// Computes the reference motion of a model on several meshes, by the same runs.
    pub fn on_meshes(model: &Model, steps: &[f64], until: f64) -> Result<Vec<Exact>> {
        let mut h = (until / 40.0).min(0.1);
        let simulation = Simulation::new(model, &Method::named(METHOD, None)?, h, until)?;
        let work = simulation.work_of_step()? * until;
        let mut best = Exact::with(&simulation, steps)?;
        for _ in 0..HALVINGS {
            // Of a long run the reference is known less well, as its error says.
            if work / (0.5 * h) > MOST_REFERENCE {
                break;
            }
            h *= 0.5;
            let mut finer = Exact::with(&simulation.clone().step(h), steps)?;
            let mut is_done = true;
            for (best, finer) in best.iter().zip(&mut finer) {
                finer.error = l2(&best.q, &finer.q, finer.step);
                // If halving no longer helps, the difference is roundoff.
                let stuck = finer.error > 0.5 * best.error;
                let size = finer.q.iter().flatten().fold(1.0, |m: f64, q| m.max(q.abs()));
                is_done &= finer.error <= ENOUGH * size || (stuck && finer.error < 1e-6);
            }
            best = finer;
            if is_done {
                break;
            }
        }
        for seed in 0..DISTURBED_RUNS as u64 {
            let mut records = Record::for_meshes(steps);
            let ready = simulation.clone().step(h).prepare()?;
            if let Some(outcome) = ready.show_disturbed(seed, &mut Record::audience(&mut records))? {
                for (best, other) in best.iter_mut().zip(Exact::of(&outcome, records, until)?) {
                    best.error = larger(best.error, ROUNDOFF_SAFETY * l2(&best.q, &other.q, best.step));
                }
            }
        }
        Ok(best)
    }

    fn with(simulation: &Simulation, steps: &[f64]) -> Result<Vec<Exact>> {
        let mut records = Record::for_meshes(steps);
        let ready = simulation.prepare()?;
        let outcome = ready.show(&mut Record::audience(&mut records))?;
        Exact::of(&outcome, records, ready.until())
    }

    fn of(outcome: &Outcome, records: Vec<Record>, until: f64) -> Result<Vec<Exact>> {
        if let Status::Failed(failure) = &outcome.status {
            return Err((**failure).clone().into());
        }
        let exact = |Record { step, mut q, impact_times }| {
            q.push(outcome.state.z.q().to_vec());
            Exact { until, q, impact_times, error: f64::INFINITY, step }
        };
        Ok(records.into_iter().map(exact).collect())
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
