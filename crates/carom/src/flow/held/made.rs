//! Recent steps, whose polynomials give initial guesses.

use super::code::HeldCode;
use crate::discrete::quadrature::lagrange;
use crate::flow::past::is_same_time;
use crate::phase::Phase;

/// A completed step. Its points lie on the polynomial q0 + h P(c), P(c) = Σ_k ℓ_k(c) U_k, which approximates the motion.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) begin: Phase,
    end: Phase,
    pub(super) h: f64,
    pub(super) unknowns: Vec<f64>,
}

/// The last two steps, for example both halves of a halved step.
#[derive(Clone)]
pub(super) struct LastSteps {
    steps: [Made; 2],
    newest: usize,
}

impl LastSteps {
    /// An empty history, for n coordinates and this number of unknowns.
    pub(super) fn new(n: usize, unknowns: usize) -> LastSteps {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; 2 * n] };
        let none = Made { begin: nowhere.clone(), end: nowhere, h: 0.0, unknowns: vec![0.0; unknowns] };
        LastSteps { steps: [none.clone(), none], newest: 0 }
    }

    pub(super) fn forget(&mut self) {
        self.steps.iter_mut().for_each(|step| (step.begin.t, step.end.t) = (f64::NAN, f64::NAN));
    }

    pub(super) fn newest(&self) -> &Made {
        &self.steps[self.newest]
    }

    /// Stores a step. It replaces a step from the same state if there is one, otherwise the older of the two.
    pub(super) fn remember(&mut self, begin: &Phase, h: f64, end: &Phase, unknowns: &[f64]) {
        if !self.newest().begins_in(begin) {
            self.newest = 1 - self.newest;
        }
        let made = &mut self.steps[self.newest];
        made.begin.copy_from(begin);
        made.end.copy_from(end);
        made.h = h;
        made.unknowns.copy_from_slice(unknowns);
    }

    /// Writes a guess for the step from z0 with length h: the polynomial of a step from the same state, or the extrapolation of
    /// a step that ended there. Returns false if there is no such step.
    pub(super) fn guess(&self, code: &HeldCode, z0: &Phase, h: f64, unknowns: &mut [f64]) -> bool {
        let near = |step: &&Made| h * step.h > 0.0 && h.abs() <= 2.0 * step.h.abs();
        let find = |is_there: &dyn Fn(&Made) -> bool| self.steps.iter().filter(near).find(|step| is_there(step));
        if let Some(step) = find(&|step| step.begins_in(z0)) {
            step.follow(code, 0.0, h / step.h, unknowns);
        } else if let Some(step) = find(&|step| is_at(&step.end, z0)) {
            step.follow(code, 1.0, h / step.h, unknowns);
        } else {
            return false;
        }
        true
    }
}

impl Made {
    fn begins_in(&self, z: &Phase) -> bool {
        is_at(&self.begin, z)
    }

    /// The points of a step that begins at fraction `from` of this step and is `ratio` times as long.
    fn follow(&self, code: &HeldCode, from: f64, ratio: f64, unknowns: &mut [f64]) {
        let n = code.local.n;
        let (points, multipliers) = unknowns.split_at_mut(n * code.last());
        let (known, impulses) = self.unknowns.split_at(points.len());
        for (u, c) in points.chunks_mut(n).zip(&code.times[1..]) {
            u.fill(0.0);
            for (k, known) in known.chunks(n).enumerate() {
                let value = |x: f64| lagrange(&code.times, k + 1, x);
                let weight = (value(from + c * ratio) - value(from)) / ratio;
                u.iter_mut().zip(known).for_each(|(u, known)| *u += weight * known);
            }
        }
        multipliers.iter_mut().zip(impulses).for_each(|(x, known)| *x = ratio * known);
    }
}

fn is_at(a: &Phase, b: &Phase) -> bool {
    is_same_time(a.t, b.t) && a.z == b.z
}
