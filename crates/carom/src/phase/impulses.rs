//! The impulses of the constraints in a step.

/// The impulse of each holonomic constraint in a step, with the sign of [TPC eq. 6a].
#[derive(Clone, Debug, Default)]
pub struct Impulses {
    /// The part at the start of the step.
    pub start: Vec<f64>,
    /// The part after the start: at inner points, and from the projection of p onto the tangent space.
    pub end: Vec<f64>,
    is_one_point: Vec<bool>,
    /// The number of multipliers in the equations of a step.
    pub(crate) count: usize,
}

impl Impulses {
    /// Zero impulses, for a step with `count` multipliers.
    pub(crate) fn new(is_one_point: Vec<bool>, count: usize) -> Impulses {
        let zero = vec![0.0; is_one_point.len()];
        Impulses { start: zero.clone(), end: zero, is_one_point, count }
    }

    /// Stores the impulses of a step. Its multipliers are the last of the unknowns; μ belongs to the projection at its end.
    pub(crate) fn note(&mut self, unknowns: &[f64], mu: &[f64]) {
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

    /// Adds the impulses of the step that follows.
    pub(crate) fn append(&mut self, next: &Impulses) {
        for (sum, (start, end)) in self.end.iter_mut().zip(next.start.iter().zip(&next.end)) {
            *sum += start + end;
        }
    }

    /// Copies `other`.
    pub(crate) fn copy_from(&mut self, other: &Impulses) {
        self.start.clone_from(&other.start);
        self.end.clone_from(&other.end);
    }
}
