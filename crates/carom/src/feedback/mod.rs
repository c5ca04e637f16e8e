//! Feedback for what an optimisation found: the time-varying linear quadratic regulator along a planned motion with impacts.
//!
//! Around the plan (z̄, ū) the discrete motion is linear to first order, δz_{k+1} = A_k δz_k + B_k δu_k, with the exact derivatives of
//! its steps; the last step before an impact contains it (`linear.rs`). The gains K_k of u = ū_k − K_k (z − z̄_k) minimise
//!
//! ```text
//! Σ h (δzᵀQδz + δuᵀRδu) + δz_NᵀQ_Nδz_N
//! ```
//!
//! by the recursion of Riccati (`riccati.rs`). [`Answer::feedback`] is the entry point; [`crate::Simulation::follow`] runs a motion
//! with it.

mod linear;
mod reference;
pub mod riccati;

pub use linear::{Linear, LinearPhase, Saltation};

use crate::error::{Diagnostic, Result};
use crate::method::Method;
use crate::model::Model;
use crate::model::control::{PhaseEvent, Stage};
use crate::optimize::{Answer, Verdict};
use crate::run::{Feedback, PlannedStart, Track};
use reference::{Planned, Reference};
use riccati::{StepDerivatives, gain, product};

/// The weight of the final state, relative to the mean along the way, if the model gives none.
const FINAL: f64 = 100.0;

/// Gains, and the linear motion around the plan from which they were computed.
#[derive(Clone, Debug)]
pub struct Design {
    /// The plan with its gains.
    pub feedback: Feedback,
    /// The linear motion around it.
    pub linear: Linear,
    /// The diagonals of Q, R and Q_N.
    pub weights: [Vec<f64>; 3],
}

/// How an impact enters the gains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// With the change of its time: the whole derivative.
    Impact,
    /// As if it happened at a fixed time: for comparison, since these gains are wrong.
    FixedTime,
}

impl Answer {
    /// Computes the gains with which a motion follows this answer, with the weights of the model's `[feedback]`.
    ///
    /// ```
    /// let model = carom::Model::load("strike")?;
    /// let feedback = model.optimize().run()?.feedback(&model)?;
    /// let disturbed = model.simulation().start(&[0.01, 0.0], &[0.0, 0.0]);
    /// let run = disturbed.follow(&feedback).run()?;
    /// assert_eq!(run.impacts().len(), 1);
    /// # Ok::<(), carom::RunError>(())
    /// ```
    pub fn feedback(&self, model: &Model) -> Result<Feedback> {
        self.design(model, Through::Impact).map(|design| design.feedback)
    }

    /// Like [`Answer::feedback`], with the linear motion around the plan.
    pub fn design(&self, model: &Model, through: Through) -> Result<Design> {
        self.check_feedback(model)?;
        let planned = Reference::new(model, self)?.phases()?;
        let weights = self.weights(model);
        let mut phases: Vec<LinearPhase> = Vec::new();
        let mut tracks: Vec<Track> = Vec::new();
        let mut p = diagonal(&weights[2], 1.0);
        for (number, planned) in planned.iter().enumerate().rev() {
            // The rate of the next reference at its beginning.
            let next = tracks.last().map(|track| track.rate(track.first));
            let jump = planned.jump.as_ref().zip(next).map(|(jump, rate)| match through {
                Through::Impact => jump.matrix(&rate),
                Through::FixedTime => jump.at_fixed_time(),
            });
            let (track, start) = regulate(planned, jump.as_ref(), &weights, p);
            p = start;
            let jump = planned.jump.clone().filter(|_| number + 1 < self.steps.len());
            phases.push(LinearPhase { steps: planned.steps.clone(), jump });
            tracks.push(track);
        }
        phases.reverse();
        tracks.reverse();
        let start = &self.found.nodes[0];
        let limits = model.problem.controls.iter().map(|control| [control.span.min, control.span.max]);
        let feedback = Feedback {
            method: self.method.clone(),
            until: self.t_end(),
            start: PlannedStart { q: start.q.clone(), v: start.v.clone(), p: start.p.clone() },
            limits: limits.collect(),
            tracks,
        };
        Ok(Design { linear: Linear { phases }, feedback, weights })
    }

    /// Refuses what has no feedback.
    fn check_feedback(&self, model: &Model) -> Result<()> {
        let refuse = |what: String, help: &str| Err(Diagnostic::new(what).with_help(help).into());
        if self.status != Verdict::Optimal {
            return refuse(format!("the search ended `{}`: there is no motion to follow", self.status.name()), "");
        }
        if model.problem.controls.is_empty() {
            return refuse("feedback needs controls".into(), "add `[controls]`");
        }
        let changes = |stage: &&Stage| {
            let catches = matches!(stage.event, PhaseEvent::Catch { .. });
            catches || !stage.held_walls.is_empty() || !stage.held.is_empty()
        };
        if let Some(stage) = model.problem.phases.iter().find(changes) {
            let message =
                format!("there is no feedback for the phase `{}`, which holds or catches something", stage.name);
            return refuse(message, "feedback is for phases that end with impacts");
        }
        if Method::named(&self.method, model.run.alpha)?.rule_name() != "ctec" {
            let message = format!("there is no feedback for the impact rule of `{}`", self.method);
            return refuse(message, "use a method with the rule `ctec`, such as `cva` or `midpoint+ctec`");
        }
        Ok(())
    }

    /// The diagonals of Q, R and Q_N: those of the model; else each quantity is measured by its range along the plan.
    fn weights(&self, model: &Model) -> [Vec<f64>; 3] {
        let (given, free) = (&model.problem.weights, model.system.free());
        let (n, time) = (model.system.coordinates.len(), self.t_end());
        let entry =
            |i: usize| move |node: &crate::optimize::PlannedState| if i < n { node.q[i] } else { node.p[i - n] };
        let size = |i: usize| {
            let values = self.found.nodes.iter().map(entry(i));
            let [low, high] = values.fold([f64::MAX, f64::MIN], |[low, high], x| [low.min(x), high.max(x)]);
            if high > low { high - low } else { 1.0 }
        };
        let places: Vec<usize> = free.iter().copied().chain(free.iter().map(|i| n + i)).collect();
        let of_state = |given: &Option<Vec<f64>>, scale: f64| -> Vec<f64> {
            places.iter().map(|&i| given.as_ref().map_or_else(|| scale / size(i).powi(2), |all| all[i])).collect()
        };
        let of_control = |control: &Vec<f64>| {
            let largest = control.iter().fold(0.0, |largest: f64, u| largest.max(u.abs()));
            1.0 / (time * if largest > 0.0 { largest * largest } else { 1.0 })
        };
        let control = given.control.clone().unwrap_or_else(|| self.found.controls.iter().map(of_control).collect());
        [of_state(&given.state, 1.0 / time), control, of_state(&given.end, FINAL)]
    }
}

/// diag(weights)·factor.
fn diagonal(weights: &[f64], factor: f64) -> crate::tangent::Matrix {
    let mut matrix = crate::tangent::Matrix::zeros(weights.len(), weights.len());
    weights.iter().enumerate().for_each(|(i, weight)| matrix.row_mut(i)[i] = factor * weight);
    matrix
}

/// The track of a phase at whose end P is `p`, and P at its beginning.
fn regulate(
    planned: &Planned,
    jump: Option<&crate::tangent::Matrix>,
    weights: &[Vec<f64>; 3],
    mut p: crate::tangent::Matrix,
) -> (Track, crate::tangent::Matrix) {
    let (q, r) = (diagonal(&weights[0], planned.h), diagonal(&weights[1], planned.h));
    let mut gains = Vec::new();
    for (k, step) in planned.steps.iter().enumerate().rev() {
        let step = match jump.filter(|_| k + 1 == planned.steps.len()) {
            Some(jump) => StepDerivatives { a: product(jump, &step.a), b: product(jump, &step.b), ..step.clone() },
            None => step.clone(),
        };
        gains.push(gain(&step, &q, &r, &mut p));
    }
    let start = p.clone();
    for step in &planned.before {
        gains.push(gain(step, &q, &r, &mut p));
    }
    gains.reverse();
    let mut track = planned.track.clone();
    track.gain = gains.iter().map(|k| (0..k.rows()).map(|i| k.row(i).to_vec()).collect()).collect();
    // From the end on the last gain remains.
    while let Some(last) = track.gain.last().filter(|_| track.gain.len() < track.t.len()).cloned() {
        track.gain.push(last);
    }
    (track, start)
}
