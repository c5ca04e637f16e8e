//! When Newton's method for a step ends: factor once, correct until the corrections stagnate.

use crate::solve::{NoSolution, Solved, larger};
use crate::tree::{Joint, Tree};

/// The solution is known when the next correction would be this part of u.
const TOLERANCE: f64 = 1e-13;
/// Corrections are compared with |u| and with this part of a radian, or of the size of the mechanism.
const SMALL: f64 = 1e-3;
/// Corrections below this part of (1 + |u|) are roundoff if they no longer decrease.
const STAGNATES: f64 = 1e5 * f64::EPSILON;
/// The factors are computed anew if a correction is more than this part of the one before.
const SLOW: f64 = 0.03;
/// The longest correction, in radians or sizes of the mechanism.
const LONGEST: f64 = 0.5;
/// No step takes more corrections.
const MOST: usize = 60;

/// Working memory of Newton's method.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pub(super) r: Vec<f64>,
    pub(super) delta: Vec<f64>,
    /// 1 over the unit of each freedom: 1 rad, or the size of the mechanism.
    pub(super) weights: Vec<f64>,
}

impl Memory {
    pub(super) fn new(freedoms: usize) -> Memory {
        Memory { r: vec![0.0; freedoms], delta: vec![0.0; freedoms], weights: vec![1.0; freedoms] }
    }

    /// Takes the units of a tree at a start from which the guess moves by u.
    pub(super) fn set_units(&mut self, tree: &Tree, q0: &[f64], u: &[f64]) {
        let slides =
            || tree.links.iter().filter(|link| matches!(link.body.joint, Joint::Prismatic(_)) && link.freedoms == 1);
        let slid = slides().map(|link| q0[link.q].abs() + u[link.v].abs()).fold(0.0, f64::max);
        let size = tree.size().max(slid);
        let weight = if size > 0.0 { 1.0 / size } else { 1.0 };
        slides().for_each(|link| self.weights[link.v] = weight);
    }
}

/// What the last corrections tell.
pub(super) struct Progress {
    /// The size of the last correction.
    pub(super) last: f64,
    pub(super) count: usize,
}

pub(super) enum Verdict {
    Done,
    GoOn { is_slow: bool },
}

impl Progress {
    pub(super) fn new() -> Progress {
        Progress { last: f64::INFINITY, count: 0 }
    }

    /// Judges a correction of size nd, after which the unknowns have the size nu.
    pub(super) fn judge(&mut self, nd: f64, nu: f64) -> Solved<Verdict> {
        self.count += 1;
        if !(nd + nu).is_finite() || self.count > MOST {
            return Err(NoSolution::Diverged);
        }
        let small = TOLERANCE * (nu + SMALL);
        let is_predicted = self.count > 1 && nd * (nd / self.last) <= 0.1 * small;
        let stagnates = self.count > 2 && nd >= 0.3 * self.last && nd < STAGNATES * (1.0 + nu);
        let is_slow = nd > SLOW * self.last;
        self.last = nd;
        Ok(if nd <= small || is_predicted || stagnates { Verdict::Done } else { Verdict::GoOn { is_slow } })
    }
}

/// u ← u + δ, with δ cut to the longest correction. Returns the sizes of δ and of u.
pub(super) fn advance(delta: &mut [f64], weights: &[f64], u: &mut [f64]) -> (f64, f64) {
    let size = |x: &[f64]| x.iter().zip(weights).map(|(x, w)| (x * w).abs()).fold(0.0, larger);
    let nd = size(delta);
    let part = if nd > LONGEST { LONGEST / nd } else { 1.0 };
    u.iter_mut().zip(delta).for_each(|(u, delta)| *u += part * *delta);
    (nd, size(u))
}
