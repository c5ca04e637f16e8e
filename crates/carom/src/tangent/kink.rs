//! The time at which a motion passes a kink whose argument contains velocities.

use super::local::{Columns, chain};
use super::step::Tangent;
use crate::phase::Phase;
use crate::solve::Solved;
use crate::solve::matrix::Matrix;

impl Tangent {
    /// dτ of a piece that ends where u(q, v, t) = 0: du = u_q dq + u_v dv + u_t dt + u_θ dθ is zero, where the end of the piece moves
    /// with its length.
    pub(super) fn reversal(&mut self, argument: usize, end: &Phase, rows: &[usize]) -> Solved<Vec<f64>> {
        let (n, columns) = (self.local.code.n, self.columns());
        let velocity = self.local.velocity(end, rows)?;
        let (mut room, mut slopes) = (Vec::new(), Matrix::zeros(1, columns - 1));
        self.local.code.argument(argument)?.eval(self.local.state(), &mut room, &mut slopes);
        let change = |of: &Columns| {
            let (dv, mut du) = (velocity.slope(of)?, vec![0.0; columns]);
            chain(slopes.row(0), &of.q, &dv, &of.t, &mut du);
            Ok(du)
        };
        let length = 2 * n + 1;
        let mut along = Columns::zeros(n, columns);
        for i in 0..n {
            along.q.row_mut(i)[length] = self.piece.slopes.at(i, length);
            along.p.row_mut(i)[length] = self.piece.slopes.at(n + i, length);
        }
        along.t[length] = 1.0;
        let factor = -1.0 / change(&along)?[length];
        Ok(change(&self.at)?.iter().map(|x| factor * x).collect())
    }
}
