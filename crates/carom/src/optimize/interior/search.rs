//! The line search. [Wächter & Biegler 2006, §2.3 and §2.4]

use super::filter::{FALL, Filter};
use super::kkt::Kkt;
use super::point::{Point, barrier, distances};
use crate::optimize::nlp::{Nlp, NlpDerivatives, Structure};

/// What a line search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Found {
    /// A better point.
    Step,
    /// None.
    Nothing,
}

/// The direction of a step.
pub(super) struct Step {
    dx: Vec<f64>,
    dy: Vec<f64>,
    /// The right-hand side of the linear system.
    rhs: Vec<f64>,
    /// ∇φ_μ·dx.
    slope: f64,
}

impl Step {
    pub(super) fn new(
        point: &Point,
        structure: &Structure,
        derivatives: &NlpDerivatives,
        solution: Vec<f64>,
        rhs: Vec<f64>,
        mu: f64,
    ) -> Step {
        let (dx, dy) = solution.split_at(structure.variables());
        let slope =
            point.barrier_gradient(structure, &derivatives.gradient, mu).iter().zip(dx).map(|(g, d)| g * d).sum();
        Step { dx: dx.to_vec(), dy: dy.to_vec(), rhs, slope }
    }

    pub(super) fn is_tiny(&self, point: &Point, tiny: f64) -> bool {
        self.dx.iter().zip(&point.x).all(|(d, x)| d.abs() < tiny * (1.0 + x.abs()))
    }

    /// The shortest length that is tried. [eq. 23]
    fn shortest(&self, theta: f64, small: f64) -> f64 {
        const SAFETY: f64 = 0.05;
        let mut length = FALL[0];
        if self.slope < 0.0 {
            length = length.min(FALL[1] * theta / -self.slope);
            if theta <= small {
                length = length.min(theta.powf(1.1) / (-self.slope).powf(2.3));
            }
        }
        (SAFETY * length).max(1e-16)
    }
}

/// The longest step along d that keeps this part of the distances to the bounds.
fn to_boundary(structure: &Structure, x: &[f64], d: &[f64], tau: f64) -> f64 {
    let lengths = distances(structure, x).zip(d).map(|([low, up], d)| {
        let room = if *d < 0.0 { low } else { up };
        if *d == 0.0 || room.is_infinite() { 1.0 } else { tau * room / d.abs() }
    });
    lengths.fold(1.0, f64::min)
}

/// Takes the step as far as the filter accepts it; a tiny one as it is.
#[allow(clippy::too_many_arguments)]
pub(super) fn advance(
    nlp: &mut dyn Nlp,
    kkt: &mut Kkt,
    structure: &Structure,
    derivatives: &NlpDerivatives,
    filter: &mut Filter,
    point: &mut Point,
    step: Step,
    mu: f64,
    is_tiny: bool,
) -> Found {
    let tau = (1.0 - mu).max(0.99);
    let longest = to_boundary(structure, &point.x, &step.dx, tau);
    let (theta, phi) = (point.violation(), point.barrier(structure, mu));
    let shortest = step.shortest(theta, filter.small);
    let mut trial = Trial::new(structure);
    let mut alpha = longest;
    loop {
        trial.evaluate(nlp, structure, &point.x, &step.dx, alpha, mu);
        let mut is_accepted = is_tiny && trial.is_defined() || accepts(filter, &trial, theta, phi, alpha, step.slope);
        if !is_accepted && alpha == longest && trial.theta >= theta && trial.is_defined() {
            is_accepted = correct(nlp, kkt, structure, derivatives, filter, point, &step, &mut trial, alpha, mu, tau);
        }
        if is_accepted {
            break;
        }
        alpha *= 0.5;
        if alpha < shortest {
            return Found::Nothing;
        }
    }
    if !is_descent(theta, alpha, step.slope, filter.small) || trial.phi > phi + 1e-8 * alpha * step.slope {
        filter.add(theta, phi);
    }
    take(structure, point, &step, trial, alpha, mu, tau);
    Found::Step
}

/// Takes the step as far as the bounds allow.
pub(super) fn take_whole(nlp: &mut dyn Nlp, structure: &Structure, point: &mut Point, step: Step, mu: f64) {
    let tau = (1.0 - mu).max(0.99);
    let alpha = to_boundary(structure, &point.x, &step.dx, tau);
    let mut trial = Trial::new(structure);
    trial.evaluate(nlp, structure, &point.x, &step.dx, alpha, mu);
    take(structure, point, &step, trial, alpha, mu, tau);
}

/// Moves the point: x as found, y along with it, and the multipliers of the bounds by a length of their own.
fn take(structure: &Structure, point: &mut Point, step: &Step, trial: Trial, alpha: f64, mu: f64, tau: f64) {
    let dz = |z: f64, d: f64, dd: f64| if d.is_finite() { mu / d - z - z / d * dd } else { 0.0 };
    let changes: Vec<[f64; 2]> = distances(structure, &point.x)
        .zip(&step.dx)
        .enumerate()
        .map(|(i, ([low, up], &dx))| [dz(point.zl[i], low, dx), dz(point.zu[i], up, -dx)])
        .collect();
    let length = |z: f64, dz: f64| if dz < 0.0 { -tau * z / dz } else { 1.0 };
    let lengths = changes.iter().enumerate().map(|(i, [l, u])| length(point.zl[i], *l).min(length(point.zu[i], *u)));
    let dual = lengths.fold(1.0, f64::min);
    for (i, [l, u]) in changes.iter().enumerate() {
        point.zl[i] += dual * l;
        point.zu[i] += dual * u;
    }
    point.y.iter_mut().zip(&step.dy).for_each(|(y, d)| *y += alpha * d);
    (point.x, point.c, point.f) = (trial.x, trial.c, trial.f);
    point.clip_multipliers(structure, mu);
}

/// The step is one of descent for φ, and θ is small. [eq. 19]
fn is_descent(theta: f64, alpha: f64, slope: f64, small: f64) -> bool {
    slope < 0.0 && theta <= small && alpha * (-slope).powf(2.3) > theta.powf(1.1)
}

fn accepts(filter: &Filter, trial: &Trial, theta: f64, phi: f64, alpha: f64, slope: f64) -> bool {
    if !trial.is_defined() || !filter.accepts(trial.theta, trial.phi) {
        return false;
    }
    let roundoff = 10.0 * f64::EPSILON * phi.abs();
    if is_descent(theta, alpha, slope, filter.small) {
        return trial.phi - phi - roundoff <= 1e-8 * alpha * slope;
    }
    trial.theta <= (1.0 - FALL[0]) * theta || trial.phi - roundoff <= phi - FALL[1] * theta
}

/// Second-order corrections: the same factors with the rows at the trial point. [§2.4]
#[allow(clippy::too_many_arguments)]
fn correct(
    nlp: &mut dyn Nlp,
    kkt: &mut Kkt,
    structure: &Structure,
    derivatives: &NlpDerivatives,
    filter: &Filter,
    point: &Point,
    step: &Step,
    trial: &mut Trial,
    alpha: f64,
    mu: f64,
    tau: f64,
) -> bool {
    const MOST: usize = 4;
    let n = structure.variables();
    let (theta, phi) = (point.violation(), point.barrier(structure, mu));
    let mut rhs = step.rhs.clone();
    let mut sum: Vec<f64> = point.c.iter().zip(&trial.c).map(|(c, trial)| alpha * c + trial).collect();
    let (mut solution, mut last) = (vec![0.0; rhs.len()], trial.theta);
    let mut corrected = Trial::new(structure);
    for _ in 0..MOST {
        rhs[n..].iter_mut().zip(&sum).for_each(|(rhs, c)| *rhs = -c);
        if !kkt.solve(structure, derivatives, &rhs, &mut solution) {
            return false;
        }
        let length = to_boundary(structure, &point.x, &solution[..n], tau);
        corrected.evaluate(nlp, structure, &point.x, &solution[..n], length, mu);
        if accepts(filter, &corrected, theta, phi, alpha, step.slope) {
            *trial = corrected;
            return true;
        }
        if !corrected.is_defined() || corrected.theta > 0.99 * last {
            return false;
        }
        last = corrected.theta;
        sum.iter_mut().zip(&corrected.c).for_each(|(sum, c)| *sum = length * *sum + c);
    }
    false
}

/// A point on the way.
#[derive(Default)]
struct Trial {
    x: Vec<f64>,
    c: Vec<f64>,
    f: f64,
    theta: f64,
    phi: f64,
}

impl Trial {
    fn new(structure: &Structure) -> Trial {
        Trial { c: vec![0.0; structure.rows], ..Trial::default() }
    }

    fn evaluate(&mut self, nlp: &mut dyn Nlp, structure: &Structure, x: &[f64], dx: &[f64], alpha: f64, mu: f64) {
        self.x.clear();
        self.x.extend(x.iter().zip(dx).map(|(x, d)| x + alpha * d));
        self.f = nlp.values(&self.x, &mut self.c);
        self.theta = self.c.iter().map(|c| c.abs()).sum();
        self.phi = barrier(structure, &self.x, self.f, mu);
    }

    fn is_defined(&self) -> bool {
        self.theta.is_finite() && self.phi.is_finite()
    }
}
