//! Independent runs with the controls found: do they do what was asked?

use super::replay::{Replay, replay};
use super::transcription::{Found, PlannedState};
use crate::error::{Error, Result};
use crate::model::Model;
use crate::run::{Impact, Status, Watcher};

/// The flow of high order that shows the error of the discretisation; the first that runs.
const FINE: [&str; 3] = ["gauss4+ctec", "gauss2+ctec", "midpoint+ctec"];

/// How far independent runs end from the answer.
#[derive(Clone, Debug)]
pub struct Check {
    /// The largest difference of q and p at the end, on the same mesh.
    pub final_error: f64,
    /// The largest difference of the times of impacts.
    pub impact_time_error: f64,
    /// The number of impacts of the run.
    pub impacts: usize,
    /// The flow of high order.
    pub fine_method: &'static str,
    /// The largest difference of q and p at the end of a run with it.
    pub fine_final_error: f64,
    /// What went wrong, or differs from the plan.
    pub warnings: Vec<String>,
}

/// Runs the answer on its own mesh, and with a flow of high order.
pub(super) fn check(model: &Model, method: &str, found: &Found, steps: &[usize]) -> Check {
    let mut check = Check {
        final_error: f64::NAN,
        impact_time_error: f64::NAN,
        impacts: 0,
        fine_method: FINE[0],
        fine_final_error: f64::NAN,
        warnings: Vec::new(),
    };
    match run(model, method, found, steps) {
        Err(why) => check.warnings.push(format!("the run with these controls fails: {}", reason(&why))),
        Ok(run) => {
            check.final_error = difference(&run.last, &found.last);
            check.impacts = run.impacts.len();
            let times = found.hits.iter().zip(&run.impacts).map(|(hit, (t, _))| (hit.before.t - t).abs());
            check.impact_time_error = times.fold(0.0, f64::max);
            if run.impacts.len() > found.hits.len() {
                let planned = |t: f64| found.hits.iter().any(|hit| (hit.before.t - t).abs() < 1e-6 * (1.0 + t.abs()));
                if let Some((t, wall)) = run.impacts.iter().find(|(t, _)| !planned(*t)) {
                    let advice = "walls are asked for at the nodes only: give more steps, or a phase for it";
                    let wall = &model.system.walls[*wall].name;
                    check.warnings.push(format!("the run also hits `{wall}` at t = {t}: {advice}"));
                }
            }
        }
    }
    for fine in FINE {
        if let Ok(run) = run(model, fine, found, steps) {
            (check.fine_method, check.fine_final_error) = (fine, difference(&run.last, &found.last));
            break;
        }
    }
    check
}

fn reason(error: &Error) -> &str {
    match error {
        Error::Model(diagnostic) => &diagnostic.message,
        Error::Numerical(failure) => &failure.message,
    }
}

fn difference(a: &PlannedState, b: &PlannedState) -> f64 {
    let pairs = a.q.iter().zip(&b.q).chain(a.p.iter().zip(&b.p));
    pairs.fold(0.0, |all, (a, b)| crate::solve::larger(all, (a - b).abs()))
}

/// A run along the phases. Nothing but its impacts is asked for: the energy account of a run with controls costs more than the run.
fn run(model: &Model, method: &str, found: &Found, steps: &[usize]) -> Result<Replay> {
    replay(model, method, found, steps, &mut |leg| {
        let mut hits = Hits::default();
        let outcome = leg.simulation(&leg.model).watch(&mut hits)?;
        match outcome.status {
            Status::Failed(failure) => Err(Error::Numerical(failure)),
            _ => Ok((outcome, hits.0)),
        }
    })
}

/// The impacts of a run.
#[derive(Default)]
struct Hits(Vec<Impact>);

impl Watcher for Hits {
    fn impact(&mut self, impact: Impact) {
        self.0.push(impact);
    }

    fn wants_nodes(&self) -> bool {
        false
    }
}
