//! A motion that follows a planned one by feedback: u = ū − K (z − z̄).
//!
//! The plan is a list of tracks, one for each phase between two impacts. Each track goes on beyond its ends: backward from the
//! impact at which it begins, and forward beyond the impact at which it ends. The motion follows a track until it hits the wall
//! that ends it, whenever that is, and then the next one. So it is never compared with a reference on the other side of an
//! impact (reference spreading).

use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::solve::Solved;
use crate::step::{EventKind, State, StepLog, Stepper};

/// A planned motion with the gains that keep a motion near it.
#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// The method of the plan.
    pub method: String,
    /// The end time.
    pub until: f64,
    /// The start.
    pub start: PlannedStart,
    /// The phases, in order.
    pub tracks: Vec<Track>,
    /// The lower and the upper bound of each control.
    pub limits: Vec<[f64; 2]>,
}

/// The start of a plan, in all coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedStart {
    /// The coordinates.
    pub q: Vec<f64>,
    /// The velocities.
    pub v: Vec<f64>,
    /// The momenta.
    pub p: Vec<f64>,
}

/// The motion planned for one phase, at nodes of equal distance. Node k has the state z̄ and begins a step with the control ū.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// The times of the nodes.
    pub t: Vec<f64>,
    /// z̄ = (q, p) of the free coordinates.
    pub z: Vec<Vec<f64>>,
    /// ū.
    pub u: Vec<Vec<f64>>,
    /// K, one row for each control.
    pub gain: Vec<Vec<Vec<f64>>>,
    /// The number of the node at which the phase begins; those before it lead to it.
    pub first: usize,
    /// The number of the node at which the phase ends.
    pub last: usize,
    /// The wall that is hit there.
    pub wall: Option<usize>,
}

/// How a motion followed its plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followed {
    /// For each control, on how many steps a bound cut it.
    pub clipped: Vec<usize>,
    /// For each control, the most that a bound took away.
    pub excess: Vec<f64>,
    /// The number of planned impacts that the motion had, and of those that it should have had.
    pub impacts: [usize; 2],
    /// The time of the first step that was so far from the nodes of its track that it had no feedback.
    pub lost: Option<f64>,
    /// The first impact that the plan does not have: its time and its wall.
    pub unplanned: Option<(f64, usize)>,
}

/// A node within this part of a step is there.
const THERE: f64 = 1e-9;
/// A control that is beyond its bound by this part of its size is not cut.
const ROUNDOFF: f64 = 1e-9;

impl Feedback {
    /// The largest |ū| of a control.
    fn largest(&self, control: usize) -> f64 {
        let planned = self.tracks.iter().flat_map(|track| &track.u).map(|u| u[control].abs());
        planned.fold(0.0, f64::max)
    }
}

impl Track {
    /// The distance of the nodes.
    pub fn step(&self) -> f64 {
        (self.t[self.t.len() - 1] - self.t[0]) / (self.t.len() - 1) as f64
    }

    /// The node nearest to t, and (t − t_m)/h.
    fn nearest(&self, t: f64) -> (usize, f64) {
        let x = (t - self.t[0]) / self.step();
        let m = x.round().clamp(0.0, (self.t.len() - 1) as f64);
        (m as usize, x - m)
    }

    /// The end of a step from t, near node m. A step to the wall goes on until it is there: no node is at the impact.
    fn end(&self, t: f64, m: usize) -> f64 {
        let h = self.step();
        let skips = m + 1 == self.last && self.wall.is_some();
        let next = self.t[0] + h * (m + if skips { 2 } else { 1 }) as f64;
        let is_node = m + 1 == self.last && !skips;
        if is_node {
            self.t[self.last]
        } else if next - t > 2.5 * h || next - t < THERE * h {
            // Far from all nodes.
            t + h
        } else {
            next
        }
    }

    /// z̄ at t = t_m + x h: the parabola through node m and its neighbours.
    fn state(&self, m: usize, x: f64, i: usize) -> f64 {
        let z = |k: usize| self.z[k][i];
        if x.abs() < THERE {
            return z(m);
        }
        match (m.checked_sub(1), m + 1 < self.z.len()) {
            (Some(before), true) => {
                let (rise, bend) = (z(m + 1) - z(before), z(m + 1) - 2.0 * z(m) + z(before));
                z(m) + 0.5 * x * (rise + x * bend)
            }
            (None, true) => z(m) + x * (z(m + 1) - z(m)),
            (Some(before), false) => z(m) + x * (z(m) - z(before)),
            (None, false) => z(m),
        }
    }

    /// dz̄/dt at node m, by the difference of its neighbours.
    pub fn rate(&self, m: usize) -> Vec<f64> {
        let (h, last) = (self.step(), self.z.len() - 1);
        let (a, b) = (m.saturating_sub(1), (m + 1).min(last));
        let scale = 1.0 / (h * (b - a) as f64);
        self.z[a].iter().zip(&self.z[b]).map(|(a, b)| scale * (b - a)).collect()
    }
}

/// A stepper whose controls follow a plan.
pub struct Following<'a> {
    stepper: &'a mut dyn Stepper,
    feedback: &'a Feedback,
    evaluator: Box<dyn Evaluator>,
    from: State,
    parameters: Vec<f64>,
    /// The number of the track; that of the tracks after the last planned impact.
    track: usize,
    u: Vec<f64>,
    /// The largest |ū| of each control.
    sizes: Vec<f64>,
    /// How it went so far.
    pub followed: Followed,
}

impl<'a> Following<'a> {
    /// A stepper for a run from a state.
    pub fn new(
        stepper: &'a mut dyn Stepper,
        feedback: &'a Feedback,
        evaluator: Box<dyn Evaluator>,
        state: &State,
    ) -> Following<'a> {
        let count = feedback.limits.len();
        let planned = feedback.tracks.iter().filter(|track| track.wall.is_some()).count();
        Following {
            stepper,
            feedback,
            evaluator,
            from: state.clone(),
            parameters: state.parameters.to_vec(),
            track: 0,
            u: vec![0.0; count],
            sizes: (0..count).map(|k| feedback.largest(k)).collect(),
            followed: Followed {
                clipped: vec![0; count],
                excess: vec![0.0; count],
                impacts: [0, planned],
                ..Followed::default()
            },
        }
    }

    /// Gives the first state of a run its controls.
    pub fn begin_at(&mut self, state: &mut State) {
        let before = self.followed.clone();
        self.decide(&state.z, f64::INFINITY);
        self.followed = before;
        let first = self.parameters.len() - self.u.len();
        self.parameters[first..].copy_from_slice(&self.u);
        state.parameters = self.parameters[..].into();
    }

    /// Sets the controls for a step from z, and returns its end.
    fn decide(&mut self, z: &Phase, until: f64) -> f64 {
        let tracks = &self.feedback.tracks;
        // A phase without an impact ends at its time.
        while self.track + 1 < tracks.len()
            && tracks[self.track].wall.is_none()
            && z.t >= tracks[self.track].t[tracks[self.track].last] - THERE * tracks[self.track].step()
        {
            self.track += 1;
        }
        let Some(track) = tracks.get(self.track) else {
            // After an impact at the very end nothing is planned.
            let last = tracks.iter().rev().find_map(|track| track.u.last());
            last.into_iter().for_each(|u| self.u.copy_from_slice(u));
            return until;
        };
        let (m, x) = track.nearest(z.t);
        self.u.copy_from_slice(&track.u[m]);
        if x.abs() > 0.5 + THERE {
            self.followed.lost.get_or_insert(z.t);
        } else {
            for (u, row) in self.u.iter_mut().zip(&track.gain[m]) {
                *u -= row.iter().zip(&z.z).enumerate().map(|(i, (k, z))| k * (z - track.state(m, x, i))).sum::<f64>();
            }
        }
        for (k, (u, &[min, max])) in self.u.iter_mut().zip(&self.feedback.limits).enumerate() {
            let cut = u.max(min).min(max);
            // A planned control at its bound may be beyond it by roundoff.
            if (*u - cut).abs() > ROUNDOFF * self.sizes[k].max(cut.abs()) {
                self.followed.clipped[k] += 1;
                self.followed.excess[k] = self.followed.excess[k].max((*u - cut).abs());
            }
            *u = cut;
        }
        let end = track.end(z.t, m);
        if end < until - THERE * (until - z.t) { end } else { until }
    }

    /// Ends a step at the planned impact in it, where the next track begins.
    fn see(&mut self, log: &mut StepLog) -> Solved<()> {
        for (number, event) in log.events().iter().enumerate() {
            let EventKind::Impact(impact) = event.kind else { continue };
            let wall = log.impact(impact).wall;
            if self.feedback.tracks.get(self.track).is_none_or(|track| track.wall != Some(wall)) {
                self.followed.unplanned.get_or_insert((event.t, wall));
                continue;
            }
            self.track += 1;
            self.followed.impacts[0] += 1;
            if let Some(arc) = log.arcs().iter().position(|arc| arc.events > number) {
                let start = log.arcs()[arc].start.clone();
                log.cut(arc, &start, None);
                self.evaluator.set_parameters(&log.end.parameters);
                return log.note_energies(&mut *self.evaluator);
            }
        }
        Ok(())
    }
}

impl Stepper for Following<'_> {
    fn begin(&mut self, parameters: &[f64]) {
        self.stepper.begin(parameters);
    }

    fn start(&mut self, state: &mut State, h: f64) -> Solved<()> {
        self.stepper.start(state, h)
    }

    fn step(&mut self, from: &State, until: f64, log: &mut StepLog) -> Solved<()> {
        let end = self.decide(&from.z, until);
        let first = self.parameters.len() - self.u.len();
        self.parameters[first..].copy_from_slice(&self.u);
        self.from.copy_from(from);
        self.from.parameters = self.parameters[..].into();
        self.stepper.begin(&self.parameters);
        self.stepper.step(&self.from, end, log)?;
        self.see(log)
    }

    fn order(&self) -> usize {
        self.stepper.order()
    }
}
