//! The derivatives of rest and release.

use super::local::{Columns, Local};
use super::reset::rate_slope;
use super::step::Tangent;
use crate::phase::Phase;
use crate::solve::matrix::{Matrix, add, dot, solve};
use crate::solve::{NoSolution, Solved};

impl Tangent {
    /// dτ where the force N of a wall vanishes.
    pub(super) fn release(&mut self, end: &Phase, rows: &[usize], number: Option<usize>) -> Solved<Vec<f64>> {
        let (n, columns) = (self.local.code.n, self.columns());
        let number = self.local.code.constraints + number.ok_or(NoSolution::Diverged)?;
        let velocity = self.local.velocity(end, rows)?;
        // One more column for the length of the piece.
        let m = self.local.code.theta.len();
        let mut of = Columns::zeros(n, columns + 1);
        let shift = |from: &[f64], b: f64| -> Vec<f64> {
            from[..columns - m].iter().copied().chain([b]).chain(from[columns - m..].iter().copied()).collect()
        };
        for i in 0..n {
            of.q.row_mut(i).copy_from_slice(&shift(self.at.q.row(i), self.piece.slopes.at(i, 2 * n + 1)));
            of.p.row_mut(i).copy_from_slice(&shift(self.at.p.row(i), self.piece.slopes.at(n + i, 2 * n + 1)));
        }
        of.t = shift(&self.at.t, 1.0);
        let dv = velocity.slope(&of)?;
        self.local.place(end.t, end.q(), &velocity.v);
        let acceleration = self.local.acceleration(rows, Some((&of.q, &dv, &of.t)))?;
        let mut slope = acceleration.slope.row(n + number).to_vec();
        let by_length = slope.remove(columns - m);
        Ok(slope.iter().map(|x| -x / by_length).collect())
    }

    /// φ̈ of a wall before an impact, while the walls in `holding` hold.
    pub(super) fn second(&mut self, wall: usize, z: &Phase, holding: &[usize]) -> Solved<f64> {
        let rows = self.local.rows_with(holding);
        let velocity = self.local.velocity(z, &rows)?;
        self.local.place(z.t, z.q(), &velocity.v);
        let acceleration = self.local.acceleration(&rows, None)?;
        Ok(self.local.second(self.local.code.constraints + wall, &acceleration, None)?.0)
    }

    /// The derivative of the time that infinitely many bounces take, T = 2φ̇⁺/(|φ̈|(1 − e)).
    pub(super) fn wait(&mut self, wall: usize, wait: f64, z: &Phase) -> Solved<Vec<f64>> {
        let rows = self.local.rows_with(&[]);
        let velocity = self.local.velocity(z, &rows)?;
        let dv = velocity.slope(&self.at)?;
        self.local.place(z.t, z.q(), &velocity.v);
        let number = self.local.code.constraints + wall;
        self.local.row(number, &mut self.row)?;
        let rate = dot(&self.row.grad, &velocity.v) + self.row.g_t;
        let drate = rate_slope(&self.row, &velocity, &dv, &self.at);
        let of = Some((&self.at.q, &dv, &self.at.t[..]));
        let acceleration = self.local.acceleration(&rows, of)?;
        let (second, dsecond) = self.local.second(number, &acceleration, of)?;
        let (e, de) = self.local.restitution(wall);
        let mut sum = vec![0.0; self.columns()];
        add(&mut sum, wait / rate, &drate);
        add(&mut sum, -wait / second, &dsecond);
        let first = sum.len() - de.len();
        add(&mut sum[first..], wait / (1.0 - e), de);
        Ok(sum)
    }

    /// Projects the derivatives of a state onto the walls that hold it: what is normal to them is lost.
    pub(super) fn settle(&mut self, z: &Phase, holding: &[usize], at: &mut Columns) -> Solved<()> {
        if holding.is_empty() {
            return Ok(());
        }
        let rows = self.local.rows_with(holding);
        project(&mut self.local, z, &rows, at)
    }
}

/// Projects derivatives of a state onto rows: q with the smallest change in the mass metric, p onto the tangent space.
///
/// ```text
/// M dδ + Gᵀdν = 0,   G(dq + dδ) + g_t dt + g_θ dθ = 0
/// ```
pub(super) fn project(local: &mut Local, z: &Phase, rows: &[usize], at: &mut Columns) -> Solved<()> {
    let n = local.code.n;
    let velocity = local.velocity(z, rows)?;
    let mut right = Matrix::zeros(n + rows.len(), at.t.len());
    for (k, row) in velocity.rows.iter().enumerate() {
        let mut slope = vec![0.0; at.t.len()];
        row.slope(&at.q, &at.t, &mut slope);
        add(right.row_mut(n + k), -1.0, &slope);
    }
    if !solve(&mut velocity.bordered(), &mut right) {
        return Err(NoSolution::Singular);
    }
    (0..n).for_each(|i| add(at.q.row_mut(i), 1.0, right.row(i)));
    let dv = velocity.slope(at)?;
    let mut p = Matrix::zeros(n, at.t.len());
    velocity.momentum(at, &dv, &mut p);
    at.p = p;
    Ok(())
}
