//! Derivatives of functions of a state.

use super::contact::project;
use super::local::Columns;
use super::step::Tangent;
use crate::phase::Phase;
use crate::slopes::OutputCode;
use crate::solve::Solved;
use crate::solve::matrix::{Matrix, add};

impl Tangent {
    /// The values of functions at a state on which these walls hold, and their derivatives by (q, p, t, θ).
    pub fn look(&mut self, code: &OutputCode, z: &Phase, holding: &[usize]) -> Solved<(Vec<f64>, Matrix)> {
        let (n, m) = (self.local.code.n, self.local.code.theta.len());
        let rows = self.local.rows_with(holding);
        let velocity = self.local.velocity(z, &rows)?;
        let of = unit(n, m);
        let dv = velocity.slope(&of)?;
        self.local.place(z.t, z.q(), &velocity.v);
        let (mut values, mut slopes) = (Vec::new(), Matrix::zeros(code.count(), 2 * n + 1 + m));
        code.eval(self.local.state(), &mut values, &mut slopes);
        values.truncate(code.count());
        let mut total = Matrix::zeros(code.count(), of.t.len());
        for i in 0..code.count() {
            let (slope, to) = (slopes.row(i), total.row_mut(i));
            add(&mut to[..n], 1.0, &slope[..n]);
            (0..n).for_each(|j| add(to, slope[n + j], dv.row(j)));
            add(&mut to[2 * n..], 1.0, &slope[2 * n..]);
        }
        Ok((values, total))
    }

    /// ∂L_v/∂(q, v, t, θ) at a state.
    pub fn momentum_slopes(&mut self, z: &Phase) -> Solved<Matrix> {
        let rows = self.local.rows_with(&[]);
        let mut slopes = self.local.velocity(z, &rows)?.slopes;
        slopes.data.truncate(slopes.data.len() / 2);
        Ok(slopes)
    }

    /// The derivative of the projection of a state onto the constraints and the walls that hold it, by (q, p, θ).
    pub fn projection(&mut self, z: &Phase, holding: &[usize]) -> Solved<Matrix> {
        let (n, m) = (self.local.code.n, self.local.code.theta.len());
        let mut at = Columns::zeros(n, 2 * n + m);
        for i in 0..n {
            (at.q.row_mut(i)[i], at.p.row_mut(i)[n + i]) = (1.0, 1.0);
        }
        let rows = self.local.rows_with(holding);
        if !rows.is_empty() {
            project(&mut self.local, z, &rows, &mut at)?;
        }
        Ok(Matrix { columns: 2 * n + m, data: [at.q.data, at.p.data].concat() })
    }
}

/// The unit matrix by (q, p, t, θ).
fn unit(n: usize, m: usize) -> Columns {
    let mut at = Columns::zeros(n, 2 * n + 1 + m);
    for i in 0..n {
        (at.q.row_mut(i)[i], at.p.row_mut(i)[n + i]) = (1.0, 1.0);
    }
    at.t[2 * n] = 1.0;
    at
}
