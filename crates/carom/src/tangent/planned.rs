//! Derivatives of planned steps and impacts, which no run has made.

use super::step::Tangent;
use crate::phase::Phase;
use crate::solve::Solved;
use crate::solve::matrix::Matrix;
use crate::step::{Impulse, LoggedImpact};

impl Tangent {
    /// The end of a step of length h from z0 without events, and ∂(q1, p1)/∂(q0, p0, t, h, θ). The length may be negative.
    pub fn smooth(&mut self, z0: &Phase, h: f64) -> Solved<(Phase, Matrix)> {
        let rows = self.local.rows_with(&[]);
        self.piece.follow(&mut self.local, z0, h, &rows, None, false)?;
        Ok((self.piece.end.clone(), self.piece.slopes.clone()))
    }

    /// ∂(q⁺, p⁺)/∂(q⁻, p⁻, t) of an impact with the impulse λ by `ctec`.
    pub fn jump(&mut self, wall: usize, lambda: f64, minus: &Phase, plus: &Phase) -> Solved<Matrix> {
        let n = self.local.code.n;
        let impact = LoggedImpact {
            wall,
            impulse: Impulse::normal_only(lambda),
            minus: minus.clone(),
            plus: plus.clone(),
            rate_minus: f64::NAN,
            phi_t: f64::NAN,
            restitution: self.local.restitution(wall).0,
            at_once: None,
        };
        self.start();
        self.reset(minus.t, &[impact], None)?;
        let rows = (0..n).map(|i| self.at.q.row(i)).chain((0..n).map(|i| self.at.p.row(i)));
        let data = rows.flat_map(|row| row[..=2 * n].to_vec()).collect();
        Ok(Matrix { columns: 2 * n + 1, data })
    }

    /// ∇φ and φ_t of a wall.
    pub fn gap_slopes(&mut self, wall: usize, z: &Phase) -> Solved<(Vec<f64>, f64)> {
        let n = self.local.code.n;
        self.local.place(z.t, z.q(), &vec![0.0; n]);
        self.local.row(self.local.code.constraints + wall, &mut self.row)?;
        Ok((self.row.grad.clone(), self.row.g_t))
    }
}
