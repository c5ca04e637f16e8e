//! When Newton's method for a step ends: factor once, correct until the corrections stagnate, and halve those that go too far.

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
/// A correction is halved at most so often.
const HALVINGS: usize = 6;

/// Working memory of Newton's method. Sizes are in radians, or in sizes of the mechanism.
#[derive(Clone, Debug)]
pub(in crate::tree) struct Memory {
    pub(in crate::tree) r: Vec<f64>,
    /// δ
    pub(in crate::tree) delta: Vec<f64>,
    /// The part of δ and of δλ that was added last.
    pub(in crate::tree) taken: Vec<f64>,
    /// 1 over the unit of each freedom: 1 rad, or the size of the mechanism.
    weights: Vec<f64>,
}

impl Memory {
    pub(in crate::tree) fn new(freedoms: usize, constraints: usize) -> Memory {
        Memory {
            r: vec![0.0; freedoms],
            delta: vec![0.0; freedoms],
            taken: vec![0.0; freedoms + constraints],
            weights: vec![1.0; freedoms],
        }
    }

    /// Takes the units of a tree at a start from which the guess moves by u.
    pub(in crate::tree) fn set_units(&mut self, tree: &Tree, q0: &[f64], u: &[f64]) {
        let slides =
            || tree.links.iter().filter(|link| matches!(link.body.joint, Joint::Prismatic(_)) && link.freedoms == 1);
        let slid = slides().map(|link| q0[link.q].abs() + u[link.v].abs()).fold(0.0, f64::max);
        let size = tree.size().max(slid);
        let weight = if size > 0.0 { 1.0 / size } else { 1.0 };
        slides().for_each(|link| self.weights[link.v] = weight);
    }

    /// The largest entry.
    pub(in crate::tree) fn size(&self, x: &[f64]) -> f64 {
        x.iter().zip(&self.weights).map(|(x, weight)| (x * weight).abs()).fold(0.0, larger)
    }

    pub(in crate::tree) fn size_of_correction(&self) -> f64 {
        self.size(&self.delta)
    }
}

/// What the last corrections tell.
pub(in crate::tree) struct Progress {
    /// The size of the last correction.
    last: f64,
    pub(in crate::tree) count: usize,
    halvings: usize,
}

/// What to do with a correction that was computed with the last factors.
pub(in crate::tree) enum Verdict {
    /// It is the last one.
    Done,
    /// Add it.
    Fast,
    /// Compute it with new factors.
    Slow,
    /// The one before went too far: it would grow.
    TooFar,
}

impl Progress {
    pub(in crate::tree) fn new() -> Progress {
        Progress { last: f64::INFINITY, count: 0, halvings: 0 }
    }

    /// The part of a correction of size nd that is added.
    pub(in crate::tree) fn part(&mut self, nd: f64) -> f64 {
        self.count += 1;
        self.halvings = 0;
        self.last = nd;
        if nd > LONGEST { LONGEST / nd } else { 1.0 }
    }

    /// Judges a correction of size nd to unknowns of size nu.
    pub(in crate::tree) fn judge(&mut self, nd: f64, nu: f64) -> Solved<Verdict> {
        if !(nd + nu).is_finite() || self.count >= MOST {
            return Err(NoSolution::Diverged);
        }
        let small = TOLERANCE * (nu + SMALL);
        let roundoff = STAGNATES * (1.0 + nu);
        if nd <= small || self.count > 0 && nd * (nd / self.last) <= 0.1 * small {
            return Ok(Verdict::Done);
        }
        if self.count > 1 && nd >= 0.3 * self.last && nd < roundoff {
            return Ok(Verdict::Done);
        }
        if nd > self.last && nd > roundoff {
            self.halvings += 1;
            return if self.halvings > HALVINGS { Err(NoSolution::Diverged) } else { Ok(Verdict::TooFar) };
        }
        Ok(if nd > SLOW * self.last { Verdict::Slow } else { Verdict::Fast })
    }
}
