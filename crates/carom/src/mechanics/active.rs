//! Projection onto a set of walls, and the forces of these walls.

use std::sync::Arc;

use super::Field;
use super::bordered::Bordered;
use super::local::{Local, LocalCode};
use crate::limits::ROUNDOFF;
use crate::phase::Phase;
use crate::solve::{NoSolution, Solved, StopRule, larger};

/// Walls that hold the motion, treated as additional constraints after those of the model. Needs no compilation for a new set.
#[derive(Clone, Debug)]
pub struct Active {
    local: Local,
    equations: Bordered,
    /// The number of rows that are constraints of the model.
    constraints: usize,
    /// ∂g/∂t of each row, and the generalized force of the constraints, at the last state.
    rates: Vec<f64>,
    force: Vec<f64>,
    moved: Vec<f64>,
    steps: Vec<f64>,
    /// M a at the last state.
    inertia: Vec<f64>,
    /// The last state (t, q, v); the time is NaN if there is none.
    at: Vec<f64>,
    /// The right-hand sides of the equations there.
    loads: Vec<f64>,
}

impl Active {
    /// Creates the set. The walls must be independent.
    pub fn new(code: &Arc<LocalCode>, walls: &[usize], parameters: &[f64]) -> Active {
        let rows = code.rows_with(walls);
        let local = Local::new(code, parameters);
        Active {
            equations: Bordered::new(&local, &rows),
            constraints: rows.len() - walls.len(),
            rates: vec![0.0; rows.len()],
            force: vec![0.0; code.n],
            moved: vec![0.0; code.n],
            steps: vec![0.0; code.n],
            inertia: vec![0.0; code.n],
            at: vec![f64::NAN; 1 + 2 * code.n],
            loads: vec![0.0; code.n + rows.len()],
            local,
        }
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.local.set_parameters(parameters);
        self.at[0] = f64::NAN;
    }

    /// Projects q onto the rows g = 0 along their gradients, with the smallest correction in the mass metric, and p onto their
    /// tangent space:
    ///
    /// ```text
    /// M(q) δ + G(q)ᵀν = 0,   g(q + δ, t) = 0
    /// ```
    ///
    /// L_vv is evaluated at v = 0; this makes no difference if L is quadratic in v.
    pub fn project(&mut self, z: &mut Phase, field: &mut Field) -> Solved<()> {
        let Active { local, equations, moved, steps, at, .. } = self;
        at[0] = f64::NAN;
        moved.fill(0.0);
        local.place(z.t, z.q(), moved);
        let n = local.code.n;
        equations.set_mass(&local.inertia()[n..]);
        for k in 0..equations.rows.len() {
            equations.set_column(k, &local.row(equations.rows[k]));
        }
        moved.copy_from_slice(z.q());
        let mut rule = StopRule::default();
        loop {
            local.state_mut(z.t).0.copy_from_slice(moved);
            let mut part = 0.0;
            for k in 0..equations.rows.len() {
                let row = local.row(equations.rows[k]);
                equations.set_row(k, &row);
                // Uses δ itself as the unknown: G δ_new = G δ − g.
                let swept: f64 = row.support.iter().zip(row.grad).map(|(&i, s)| s * (moved[i] - z.q()[i])).sum();
                part = larger(part, if row.g == 0.0 { 0.0 } else { row.g.abs() / row.size });
                equations.right().1[k] = swept - row.g;
            }
            if part <= 2.0 * f64::EPSILON || (rule.iterations > 0 && rule.is_roundoff(part)) {
                break;
            }
            equations.right().0.fill(0.0);
            let (delta, _) = equations.solve().ok_or(NoSolution::Singular)?;
            let mut moves = false;
            for (((moved, q), delta), step) in moved.iter_mut().zip(z.q()).zip(delta).zip(&mut *steps) {
                *step = q + delta - *moved;
                moves |= step.abs() > ROUNDOFF * q.abs();
                *moved = q + delta;
            }
            if rule.is_last(steps, delta)? || !moves {
                break;
            }
        }
        z.z[..n].copy_from_slice(moved);
        field.project(z)
    }

    /// Solves for the acceleration and the multipliers at (t, q, v):
    ///
    /// ```text
    /// M a + Gᵀλ = F + L_q − L_vq v − L_vt,   G a = −(d²g/dt² without acceleration)
    /// ```
    ///
    /// The end of a step is the beginning of the next: at the last state nothing is computed.
    pub fn react(&mut self, t: f64, q: &[f64], v: &[f64]) -> Solved<()> {
        let Active { local, equations, force, rates, constraints, inertia, loads, at, .. } = self;
        let (known_q, known_v) = at[1..].split_at(q.len());
        if at[0] == t && known_q == q && known_v == v {
            return Ok(());
        }
        at[0] = f64::NAN;
        local.place(t, q, v);
        let n = local.code.n;
        let values = local.balance();
        equations.right().0.copy_from_slice(&values[..n]);
        inertia.copy_from_slice(&values[..n]);
        equations.set_mass(&values[n..]);
        for (k, rate) in rates.iter_mut().enumerate() {
            let row = local.row(equations.rows[k]);
            equations.set_row(k, &row);
            equations.set_column(k, &row);
            equations.right().1[k] = -row.drift;
            *rate = row.g_t;
        }
        let (balance, drifts) = loads.split_at_mut(n);
        balance.copy_from_slice(equations.right().0);
        drifts.copy_from_slice(equations.right().1);
        equations.solve().ok_or(NoSolution::Singular)?;
        force.fill(0.0);
        for k in 0..equations.rows.len() {
            let (support, lambda) = (local.code.support(equations.rows[k]), equations.solution().1[k]);
            for &i in support {
                let pull = -lambda * equations.slope(k, i);
                inertia[i] += pull;
                force[i] += if k < *constraints { pull } else { 0.0 };
            }
        }
        at[0] = t;
        at[1..].iter_mut().zip(q.iter().chain(v)).for_each(|(to, x)| *to = *x);
        Ok(())
    }

    /// The acceleration at the last state.
    pub fn acceleration(&self) -> &[f64] {
        self.equations.solution().0
    }

    /// √(a·M a) at the last state.
    pub fn size_of_acceleration(&self) -> f64 {
        self.acceleration().iter().zip(&self.inertia).map(|(a, f)| a * f).sum::<f64>().max(0.0).sqrt()
    }

    /// d²φ/dt² of a wall for the acceleration at the last state, and the sum of absolute terms in it: those of ∇φ·a, and those of
    /// the loads F that make up a, w·F with w = M⁻¹∇φ on the constraints. In free fall the latter cancel.
    pub fn acceleration_of(&mut self, wall: usize) -> (f64, f64) {
        let row = self.local.row(self.local.code.row_of_wall(wall));
        let a = self.equations.solution().0;
        let by_a: f64 = row.support.iter().zip(row.grad).map(|(&i, slope)| (slope * a[i]).abs()).sum();
        let acceleration = row.dot(a) + row.drift;
        let response = self.equations.respond(&row);
        let by_loads: f64 = response.iter().zip(&self.loads).map(|(w, load)| (w * load).abs()).sum();
        (acceleration, by_a + by_loads)
    }

    /// λ of the constraints, then of the walls, at the last state.
    pub fn multipliers(&self) -> &[f64] {
        self.equations.solution().1
    }

    /// The forces N = −λ of the walls at the last state.
    pub fn forces(&self) -> impl Iterator<Item = f64> {
        self.multipliers()[self.constraints..].iter().map(|lambda| -lambda)
    }

    /// ∂g/∂t at the last state.
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// The power λ·∂g/∂t of the force −Gᵀλ at the last state, since dg/dt = 0.
    pub fn power(&self) -> f64 {
        self.multipliers().iter().zip(&self.rates).map(|(lambda, rate)| lambda * rate).sum()
    }

    /// Forgets the sequence of pivots.
    pub(crate) fn forget(&mut self) {
        self.equations.forget();
    }

    /// The generalized force −Gᵀλ of the constraints at the last state.
    pub fn force(&self) -> &[f64] {
        &self.force
    }
}
