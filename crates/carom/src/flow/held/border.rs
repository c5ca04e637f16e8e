//! Constraints and walls in the equations of a step.

use crate::mechanics::Row;

/// Adds rows to the residuals and the Jacobian.
pub(super) struct Border<'a> {
    n: usize,
    residuals: &'a mut [f64],
    sizes: &'a mut [f64],
    matrix: &'a mut [f64],
}

impl<'a> Border<'a> {
    pub(super) fn new(residuals: &'a mut [f64], sizes: &'a mut [f64], matrix: &'a mut [f64], n: usize) -> Border<'a> {
        Border { n, residuals, sizes, matrix }
    }

    /// Sets equation `at` to g/h, evaluated at fraction `part` of the way to a point.
    pub(super) fn hold(&mut self, row: &Row, at: usize, point: usize, part: f64, h: f64) {
        self.residuals[at] = row.g / h;
        self.sizes[at] = row.size / h.abs();
        let begin = at * self.residuals.len() + (point - 1) * self.n;
        row.support.iter().zip(row.grad).for_each(|(&i, slope)| self.matrix[begin + i] = part * slope);
    }

    /// Subtracts weight·λ·Dg, with Dg on its support, from the equations of point e, where λ is unknown number `at`.
    pub(super) fn pull(
        &mut self,
        (support, grad): (&[usize], &[f64]),
        (at, lambda): (usize, f64),
        e: usize,
        weight: f64,
    ) {
        let size = self.residuals.len();
        for (&i, slope) in support.iter().zip(grad) {
            let (equation, slope) = (e * self.n + i, weight * slope);
            self.residuals[equation] -= lambda * slope;
            self.sizes[equation] += (lambda * slope).abs();
            self.matrix[equation * size + at] = -slope;
        }
    }

    /// Subtracts what U of a point changes in weight·λ·Dg at point e: the derivative of Dg by that U is `factor`·∇²g.
    pub(super) fn bend(&mut self, row: &Row, lambda: f64, e: usize, weight: f64, (point, factor): (usize, f64)) {
        let (size, m) = (self.residuals.len(), row.support.len());
        for (a, &i) in row.support.iter().enumerate() {
            let begin = (e * self.n + i) * size + (point - 1) * self.n;
            let bends = row.support.iter().zip(&row.hessian[a * m..]);
            bends.for_each(|(&j, bend)| self.matrix[begin + j] -= weight * lambda * factor * bend);
        }
    }
}
