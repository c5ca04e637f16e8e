//! The derivative of impacts.

use super::local::{Columns, Local, Velocity};
use crate::phase::Phase;
use crate::slopes::Row;
use crate::solve::matrix::{Matrix, add, dot, solve};
use crate::solve::{NoSolution, Solved};
use crate::step::LoggedImpact;

/// Which energy an impact keeps, as a linear equation between the derivatives dp⁺ and dλ:
///
/// ```text
/// weights·dp⁺ + (by q, t, θ) = d(before) + d(λκ),   κ = (1 − e)φ̇⁻/2 − φ_t
/// ```
pub(super) struct Kept {
    /// The derivatives of the energy after the impact by (q, p⁺).
    pub(super) after: Vec<f64>,
    /// Those by the time of the impact and by θ.
    pub(super) after_t: f64,
    pub(super) after_theta: Vec<f64>,
    /// The derivative of the energy before the impact.
    pub(super) before: Vec<f64>,
}

/// dp⁺ and dλ of impulses that act at once, from the equations
///
/// ```text
/// L_v(q, v⁺) + Gᵀμ − Σλ∇φ = p⁻,   G v⁺ + g_t = 0,   ∇φ·v⁺ + φ_t = −e(∇φ·v⁻ + φ_t)
/// ```
///
/// of which the last is replaced for an impact that keeps another energy. `of` has the derivatives of the state before, and then
/// those of the state after. Returns dλ, one row for each impulse.
pub(super) fn reset(
    local: &mut Local,
    impacts: &[LoggedImpact],
    kept: Option<Kept>,
    of: &mut Columns,
) -> Solved<Matrix> {
    let first = &impacts[0];
    let constraints = local.rows_with(&[]);
    let minus = local.velocity(&first.minus, &constraints)?;
    let dv_minus = minus.slope(of)?;
    let mut kicked: Phase = first.minus.clone();
    let mut walls = vec![Row::default(); impacts.len()];
    for (row, impact) in walls.iter_mut().zip(impacts) {
        local.place(first.minus.t, first.minus.q(), &minus.v);
        local.row(local.code.constraints + impact.wall, row)?;
        add(kicked.p_mut(), impact.impulse.normal(), &row.grad);
    }
    let plus = local.velocity(&kicked, &constraints)?;
    let (n, m, columns) = (local.code.n, constraints.len(), of.t.len());
    let size = n + m + walls.len();
    let (mut matrix, mut right) = (Matrix::zeros(size, size), Matrix::zeros(size, columns));
    let bordered = plus.bordered();
    for i in 0..n + m {
        matrix.row_mut(i)[..n + m].copy_from_slice(bordered.row(i));
    }
    for i in 0..n {
        let unit: Vec<f64> = (0..n).map(|j| f64::from(i == j)).collect();
        let mut sum = vec![0.0; columns];
        plus.momentum_at_rest(i, of, &mut sum);
        let pulls = plus.rows.iter().zip(plus.mu.iter().copied());
        let pushes = walls.iter().zip(impacts.iter().map(|impact| -impact.impulse.normal()));
        for (row, factor) in pulls.chain(pushes) {
            let mut turn = vec![0.0; columns];
            row.turn(&unit, &of.q, &of.t, &mut turn);
            add(&mut sum, factor, &turn);
        }
        for (k, row) in walls.iter().enumerate() {
            matrix.row_mut(i)[n + m + k] = -row.grad[i];
        }
        right.row_mut(i).copy_from_slice(of.p.row(i));
        add(right.row_mut(i), -1.0, &sum);
    }
    for (k, row) in plus.rows.iter().enumerate() {
        let mut sum = vec![0.0; columns];
        row.turn(&plus.v, &of.q, &of.t, &mut sum);
        row.slope_t(&of.q, &of.t, &mut sum);
        add(right.row_mut(n + k), -1.0, &sum);
    }
    for (k, (row, impact)) in walls.iter().zip(impacts).enumerate() {
        let at = n + m + k;
        let theta = columns - local.code.theta.len();
        // Without a rebound e is 0, whatever the parameters.
        let (e, de) = match impact.at_once {
            Some(_) if impact.restitution != local.restitution(impact.wall).0 => (impact.restitution, Vec::new()),
            _ => (impact.restitution, local.restitution(impact.wall).1.to_vec()),
        };
        let rate = dot(&row.grad, &minus.v) + row.g_t;
        let drate = rate_slope(row, &minus, &dv_minus, of);
        let Some(kept) = &kept else {
            matrix.row_mut(at)[..n].copy_from_slice(&row.grad);
            let mut sum = vec![0.0; columns];
            row.turn(&plus.v, &of.q, &of.t, &mut sum);
            row.slope_t(&of.q, &of.t, &mut sum);
            add(&mut sum, e, &drate);
            add(&mut sum[theta..], rate, &de);
            add(right.row_mut(at), -1.0, &sum);
            continue;
        };
        let (lambda, kappa) = (impact.impulse.normal(), 0.5 * (1.0 - e) * rate - row.g_t);
        let mut dkappa = vec![0.0; columns];
        add(&mut dkappa, 0.5 * (1.0 - e), &drate);
        add(&mut dkappa[theta..], -0.5 * rate, &de);
        let mut by_t = vec![0.0; columns];
        row.slope_t(&of.q, &of.t, &mut by_t);
        add(&mut dkappa, -1.0, &by_t);
        let mut sum = kept.before.clone();
        add(&mut sum, lambda, &dkappa);
        let (by_q, by_p) = kept.after.split_at(n);
        for i in 0..n {
            add(&mut sum, -by_q[i], of.q.row(i));
            let mut at_rest = vec![0.0; columns];
            plus.momentum_at_rest(i, of, &mut at_rest);
            add(&mut sum, -by_p[i], &at_rest);
            add(&mut matrix.row_mut(at)[..n], by_p[i], &plus.slopes.row(i)[n..2 * n]);
        }
        add(&mut sum, -kept.after_t, &of.t);
        add(&mut sum[theta..], -1.0, &kept.after_theta);
        matrix.row_mut(at)[at] = -kappa;
        right.row_mut(at).copy_from_slice(&sum);
    }
    if !solve(&mut matrix, &mut right) {
        return Err(NoSolution::Singular);
    }
    let mut p = Matrix::zeros(n, columns);
    plus.momentum(of, &right, &mut p);
    of.p = p;
    Ok(Matrix { columns, data: right.data[(n + m) * columns..].to_vec() })
}

/// The derivative of φ̇ = ∇φ·v + φ_t.
pub(super) fn rate_slope(row: &Row, velocity: &Velocity, dv: &Matrix, of: &Columns) -> Vec<f64> {
    let mut sum = vec![0.0; of.t.len()];
    row.turn(&velocity.v, &of.q, &of.t, &mut sum);
    row.slope_t(&of.q, &of.t, &mut sum);
    row.grad.iter().enumerate().for_each(|(i, slope)| add(&mut sum, *slope, dv.row(i)));
    sum
}

/// The derivatives of H(q, p) = p·v − L by (q, p), t and θ, at a velocity.
pub(super) fn hamiltonian(local: &mut Local, z: &Phase, velocity: &Velocity) -> Solved<(Vec<f64>, f64, Vec<f64>)> {
    let n = velocity.v.len();
    local.place(z.t, z.q(), &velocity.v);
    let values = local.energy()?;
    let by_q = values[1..=n].iter().map(|x| -x);
    let by_theta = values[n + 2..].iter().map(|x| -x).collect();
    Ok((by_q.chain(velocity.v.iter().copied()).collect(), -values[n + 1], by_theta))
}
