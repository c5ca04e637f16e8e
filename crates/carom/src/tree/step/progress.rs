//! When Newton's method for a step ends: factor once, correct until the corrections stagnate, and halve those that go too far.

use crate::solve::{NoSolution, Solved, larger};
use crate::tree::{Joint, Tree, TreeLink};

/// The solution is known when the next correction would be this part of u.
const TOLERANCE: f64 = 1e-13;
/// Corrections are compared with |u| and with this part of a radian, or of the size of the mechanism.
const SMALL: f64 = 1e-3;
/// Corrections below this part of (1 + |u|) are roundoff if they no longer decrease.
const STAGNATES: f64 = 1e5 * f64::EPSILON;
/// A correction is the last one if it is expected to leave an error of this part of the smallest that counts, or of this part of the
/// roundoff of one radian.
const ENOUGH: [f64; 2] = [0.01, 0.1];
/// An error below this part of corrections that were roundoff is not worth one more.
const NOISE: f64 = 0.01;
/// The factors are computed anew if a correction is more than this part of the one before.
const SLOW: f64 = 0.03;
/// A bound on |J⁻¹J′| for a step whose corrections have not measured it yet. Chains of 20 to 1,000 links have 1 to 4; light bodies
/// at ball joints more.
const CURVATURE: f64 = 1e3;
/// The longest correction, in radians or sizes of the mechanism.
const LONGEST: f64 = 0.5;
/// No step takes more corrections.
const MOST: usize = 60;
/// The largest number of times that a correction is halved.
const HALVINGS: usize = 6;

/// Working memory of Newton's method. Sizes are in radians, or in sizes of the mechanism.
#[derive(Clone, Debug)]
pub(in crate::tree) struct Memory {
    pub(in crate::tree) r: Vec<f64>,
    /// δ
    pub(in crate::tree) delta: Vec<f64>,
    /// The part of δ and of δλ that was added last.
    pub(in crate::tree) taken: Vec<f64>,
    /// The size of corrections that are roundoff, as far as the last steps have shown it; else 0. Long chains have 1e-11.
    pub(in crate::tree) noise: f64,
    /// 1 over the unit of each freedom: 1 rad, or the size of the mechanism.
    weights: Vec<f64>,
    /// The coordinates and freedoms of slides.
    slides: Vec<(usize, usize)>,
}

impl Memory {
    pub(in crate::tree) fn new(tree: &Tree, constraints: usize) -> Memory {
        let is_slide = |link: &&TreeLink| matches!(link.body.joint, Joint::Prismatic(_)) && link.freedoms == 1;
        Memory {
            r: vec![0.0; tree.freedoms],
            delta: vec![0.0; tree.freedoms],
            taken: vec![0.0; tree.freedoms + constraints],
            noise: 0.0,
            weights: vec![1.0; tree.freedoms],
            slides: tree.links.iter().filter(is_slide).map(|link| (link.q, link.v)).collect(),
        }
    }

    /// Takes the units of a tree at a start from which the guess moves by u.
    pub(in crate::tree) fn set_units(&mut self, tree: &Tree, q0: &[f64], u: &[f64]) {
        let slid = self.slides.iter().map(|&(q, v)| q0[q].abs() + u[v].abs()).fold(0.0, f64::max);
        let size = tree.size().max(slid);
        let weight = if size > 0.0 { 1.0 / size } else { 1.0 };
        self.slides.iter().for_each(|&(_, v)| self.weights[v] = weight);
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
    /// How far the unknowns have moved since the factors were computed.
    moved: f64,
    /// The product of this way and the last correction: the error that is left is |J⁻¹J′| times it.
    product: f64,
    /// |J⁻¹J′|: Newton's matrix changes by this part for each radian. The corrections of a step measure it.
    curvature: f64,
    /// See [`Memory`].
    pub(in crate::tree) noise: f64,
    is_exact: bool,
    pub(in crate::tree) count: usize,
    halvings: usize,
}

/// What to do with a correction.
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
    /// `is_exact` if Newton's matrix is the derivative of the residual. Then the error after a correction δ is |J⁻¹J′| times δ and
    /// the way since the factors were computed; else it is only known from the decrease of corrections.
    pub(in crate::tree) fn new(is_exact: bool, noise: f64) -> Progress {
        let (last, curvature) = (f64::INFINITY, if is_exact { CURVATURE } else { f64::INFINITY });
        Progress { last, moved: 0.0, product: 0.0, curvature, noise, is_exact, count: 0, halvings: 0 }
    }

    /// The part of a correction of size nd that is added.
    pub(in crate::tree) fn part(&mut self, nd: f64) -> f64 {
        let part = if nd > LONGEST { LONGEST / nd } else { 1.0 };
        self.count += 1;
        self.halvings = 0;
        self.last = nd;
        self.moved += part * nd;
        self.product = self.moved * nd;
        part
    }

    /// Notes that the factors are computed here.
    pub(in crate::tree) fn renew(&mut self) {
        self.moved = 0.0;
    }

    /// True if the next correction of unknowns of size nu will be the last one with new factors, but not with those of before.
    pub(in crate::tree) fn should_renew(&self, nu: f64) -> bool {
        let expected = self.curvature * self.product;
        let (old, new) = (self.curvature * self.moved * expected, self.curvature * expected * expected);
        self.count == 0 || old > self.enough(nu) && new <= exact(nu)
    }

    /// Judges a correction of size nd to unknowns of size nu.
    pub(in crate::tree) fn judge(&mut self, nd: f64, nu: f64) -> Solved<Verdict> {
        if !(nd + nu).is_finite() || self.count >= MOST {
            return Err(NoSolution::Diverged);
        }
        if self.is_exact && self.product > 0.0 {
            self.curvature = nd / self.product;
        }
        let (small, roundoff) = (small(nu), STAGNATES * (1.0 + nu));
        let rest = self.curvature * (self.moved + nd) * nd;
        if nd <= small || rest <= self.enough(nu) || self.count > 0 && nd * (nd / self.last) <= 0.1 * small {
            self.noise = self.noise.min(nd);
            return Ok(Verdict::Done);
        }
        let is_noise = self.count > 1 && nd >= 0.3 * self.last || self.is_exact && CURVATURE * self.product < nd;
        if self.count > 0 && is_noise && nd < roundoff {
            self.noise = nd;
            return Ok(Verdict::Done);
        }
        if nd > self.last && nd > roundoff {
            self.halvings += 1;
            return if self.halvings > HALVINGS { Err(NoSolution::Diverged) } else { Ok(Verdict::TooFar) };
        }
        Ok(if nd > SLOW * self.last { Verdict::Slow } else { Verdict::Fast })
    }

    /// The error that no further correction of unknowns of size nu is worth.
    fn enough(&self, nu: f64) -> f64 {
        exact(nu).max(NOISE * self.noise)
    }
}

/// The smallest correction that counts, of unknowns of size nu.
fn small(nu: f64) -> f64 {
    TOLERANCE * (nu + SMALL)
}

/// The error that no further correction of unknowns of size nu is worth, while no step has shown how large roundoff is.
fn exact(nu: f64) -> f64 {
    (ENOUGH[0] * small(nu)).max(ENOUGH[1] * f64::EPSILON)
}
