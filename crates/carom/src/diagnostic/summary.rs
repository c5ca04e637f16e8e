/// The summary of a diagnostic whose values are not stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The first value.
    pub initial: f64,
    /// The lowest and the highest value.
    pub bounds: [f64; 2],
    /// The largest |x − x(0)|.
    pub drift: f64,
    /// The time of the largest drift.
    pub at: f64,
    /// The number of nodes without a value.
    pub missing: usize,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary {
            initial: f64::NAN,
            bounds: [f64::INFINITY, f64::NEG_INFINITY],
            drift: f64::NAN,
            at: f64::NAN,
            missing: 0,
        }
    }
}

impl Summary {
    /// Adds a value. NaN is only counted. Drifts are measured from the first value that is not NaN.
    pub fn see(&mut self, t: f64, value: f64) {
        if value.is_nan() {
            self.missing += 1;
            return;
        }
        if self.initial.is_nan() {
            (self.initial, self.drift, self.at) = (value, 0.0, t);
        }
        self.bounds = [self.bounds[0].min(value), self.bounds[1].max(value)];
        let drift = (value - self.initial).abs();
        if drift > self.drift {
            (self.drift, self.at) = (drift, t);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_is_counted_and_hides_no_drift() {
        let mut summary = Summary::default();
        for (t, value) in [(0.0, f64::NAN), (1.0, 2.0), (2.0, 5.0), (3.0, f64::NAN), (4.0, 1.0)] {
            summary.see(t, value);
        }
        assert_eq!(summary, Summary { initial: 2.0, bounds: [1.0, 5.0], drift: 3.0, at: 2.0, missing: 2 });
    }
}
