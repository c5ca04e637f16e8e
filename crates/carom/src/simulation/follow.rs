//! Runs that follow a plan by feedback.

use std::sync::Arc;

use super::Simulation;
use crate::error::{Diagnostic, plain};
use crate::model::Model;
use crate::run::{Feedback, Followed, PlannedStart, Track};

impl Simulation {
    /// Follows a plan: on each step of the plan the controls are u = ū − K (z − z̄), within their bounds, from the start of the
    /// model to the end of the plan. Sets the method, the steps and the end time to those of the plan. Entries of `[initial]` that
    /// are free begin as planned.
    pub fn follow(mut self, feedback: &Feedback) -> Simulation {
        let (n, controls) = (self.model.system.free().len(), self.model.problem.controls.len());
        let fits = |track: &Track| {
            let count = track.t.len();
            let rows = track.gain.iter().flatten();
            count > 1
                && [track.z.len(), track.u.len(), track.gain.len()] == [count; 3]
                && track.first <= track.last
                && track.last < count
                && track.z.iter().all(|z| z.len() == 2 * n)
                && track.u.iter().all(|u| u.len() == controls)
                && track.gain.iter().all(|gain| gain.len() == controls)
                && rows.clone().all(|row| row.len() == 2 * n)
                && track.wall.is_none_or(|wall| wall < self.model.system.walls.len())
        };
        if feedback.tracks.is_empty() || feedback.limits.len() != controls || !feedback.tracks.iter().all(fits) {
            return self.blame(Diagnostic::new("the plan to follow is not one of this model").into());
        }
        self = self.method(&feedback.method).until(feedback.until).step(2.0 * feedback.until.max(f64::MIN_POSITIVE));
        self.controls = Arc::from([]);
        self.feedback = Some(Arc::new(feedback.clone()));
        self.start_as_planned(&feedback.start)
    }

    fn start_as_planned(mut self, start: &PlannedStart) -> Simulation {
        if let Some(model) = self.model.with_free_start(&start.q, &start.v, &start.p) {
            self.model = Arc::new(model);
        }
        self
    }
}

/// What a user should know of a run that followed a plan.
pub(super) fn warnings(model: &Model, followed: &Followed) -> Vec<String> {
    let mut all = Vec::new();
    for ((control, &count), excess) in model.problem.controls.iter().zip(&followed.clipped).zip(&followed.excess) {
        if count > 0 {
            let steps = if count == 1 { "step" } else { "steps" };
            let name = &control.name;
            all.push(format!("the bounds of `{name}` cut the feedback on {count} {steps}, by up to {excess:.3e}"));
        }
    }
    let [had, planned] = followed.impacts;
    if had < planned {
        all.push(format!("the motion had {had} of the {planned} impacts that were planned"));
    }
    if let Some((t, wall)) = followed.unplanned {
        let wall = &model.system.walls[wall].name;
        all.push(format!("the motion hit `{wall}` at t = {}, which was not planned", plain(t)));
    }
    if let Some(t) = followed.lost {
        all.push(format!("an impact was so far from its planned time that there is no feedback at t = {}", plain(t)));
    }
    all
}
