//! What the constraints did in a step.

use crate::mechanics::Mechanics;
use crate::system::Enforce;

/// The impulses of the holonomic constraints in a step, one for each, in the sign of [TPC eq. 6a].
#[derive(Clone, Debug, Default)]
pub struct Impulses {
    /// At the beginning of the step.
    pub start: Vec<f64>,
    /// After it, up to its end: at inner points, and where p is moved onto the tangent space.
    pub end: Vec<f64>,
    is_one_point: Vec<bool>,
    /// How many multipliers the equations of a step have.
    pub(super) count: usize,
}

impl Impulses {
    /// None yet, for a step with so many multipliers.
    pub(super) fn new(mechanics: &Mechanics, count: usize) -> Impulses {
        Impulses::of(mechanics.constraints.iter().map(|c| c.enforce == Enforce::OnePoint).collect(), count)
    }

    /// None yet, for constraints of which it is known which are one-point.
    pub(super) fn of(is_one_point: Vec<bool>, count: usize) -> Impulses {
        let zero = vec![0.0; is_one_point.len()];
        Impulses { start: zero.clone(), end: zero, is_one_point, count }
    }

    /// Notes those of a step: its multipliers are the last of the unknowns, μ that of the projection of its end.
    pub(super) fn note(&mut self, unknowns: &[f64], mu: &[f64]) {
        let lambda = &unknowns[unknowns.len() - self.count..];
        let two_point = self.is_one_point.len() - mu.len();
        let (at_points, over_steps) = lambda.split_at(self.count - two_point);
        let (mut one, mut two) = (0, 0);
        for (constraint, is_one_point) in self.is_one_point.iter().enumerate() {
            if *is_one_point {
                self.start[constraint] = at_points[one];
                let inner: f64 = at_points[one..].iter().step_by(mu.len()).skip(1).sum();
                self.end[constraint] = inner + mu[one];
                one += 1;
            } else {
                self.end[constraint] = over_steps[two];
                two += 1;
            }
        }
    }

    /// Adds those of the step that followed.
    pub(super) fn append(&mut self, next: &Impulses) {
        for (sum, (start, end)) in self.end.iter_mut().zip(next.start.iter().zip(&next.end)) {
            *sum += start + end;
        }
    }

    /// Becomes a copy of `other`.
    pub(super) fn copy_from(&mut self, other: &Impulses) {
        self.start.clone_from(&other.start);
        self.end.clone_from(&other.end);
    }
}
