//! The correction of the inertia. [Wächter & Biegler 2006, §3.1]

use super::kkt::Kkt;
use crate::optimize::nlp::{NlpDerivatives, Structure};

const FIRST: f64 = 1e-4;
const LEAST: f64 = 1e-20;
const MOST: f64 = 1e20;

/// The shift δ_w of the Hessian that was needed last.
#[derive(Default)]
pub(super) struct Correction {
    last: f64,
}

impl Correction {
    /// Solves with the smallest shift tried for which the matrix has as many positive eigenvalues as variables, and as many
    /// negative ones as rows. None if there is no such shift.
    pub(super) fn solve(
        &mut self,
        kkt: &mut Kkt,
        structure: &Structure,
        derivatives: &NlpDerivatives,
        sigma: &[f64],
        rhs: &[f64],
        mu: f64,
    ) -> Option<Vec<f64>> {
        let mut solution = vec![0.0; rhs.len()];
        let (mut dw, mut dc, mut extra) = (0.0, 0.0, 1.0);
        loop {
            if kkt.factor(derivatives, sigma, [dw, dc], extra) {
                if kkt.solve(structure, derivatives, rhs, &mut solution) {
                    if dw > 0.0 {
                        self.last = dw;
                    }
                    return Some(solution);
                }
                // Rows that repeat each other, or almost: more regularisation, and at last a shift of the rows.
                if extra < 1e3 {
                    extra *= 10.0;
                    continue;
                }
                if dc == 0.0 {
                    (dc, extra) = (1e-8 * mu.powf(0.25), 1.0);
                    continue;
                }
            }
            dw = match (dw == 0.0, self.last == 0.0) {
                (true, true) => FIRST,
                (true, false) => (self.last / 3.0).max(LEAST),
                (false, true) => 100.0 * dw,
                (false, false) => 8.0 * dw,
            };
            if dw > MOST {
                return None;
            }
        }
    }
}
