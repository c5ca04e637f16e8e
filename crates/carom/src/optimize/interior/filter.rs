//! What a line search accepts. [Wächter & Biegler 2006, §2.3]

/// Points that later ones must improve on: in the violation θ or in the barrier function φ.
pub(super) struct Filter {
    entries: Vec<[f64; 2]>,
    /// Larger violations are never accepted.
    most: f64,
    /// Below this violation a step of descent must reduce φ.
    pub(super) small: f64,
}

/// θ must fall by this part of itself, or φ by this part of θ.
pub(super) const FALL: [f64; 2] = [1e-5, 1e-8];

impl Filter {
    /// An empty filter for a start with this violation.
    pub(super) fn new(violation: f64) -> Filter {
        let size = violation.max(1.0);
        Filter { entries: Vec::new(), most: 1e4 * size, small: 1e-4 * size }
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// From now on, points must improve on (θ, φ).
    pub(super) fn add(&mut self, theta: f64, barrier: f64) {
        let entry = [(1.0 - FALL[0]) * theta, barrier - FALL[1] * theta];
        self.entries.retain(|[t, b]| *t < entry[0] || *b < entry[1]);
        self.entries.push(entry);
    }

    /// True if no entry dominates (θ, φ).
    pub(super) fn accepts(&self, theta: f64, barrier: f64) -> bool {
        theta <= self.most && self.entries.iter().all(|[t, b]| theta <= *t || barrier <= *b)
    }
}
