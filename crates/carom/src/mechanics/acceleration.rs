//! The acceleration as an expression of the state, with its slopes.

use super::Mechanics;
use super::eliminate::{eliminate, eliminate_columns};
use super::numbered;
use crate::expr::{Expr, directional, grad, jacobian, substitute};
use crate::system::time;

impl Mechanics {
    /// M = L_vv and g = ṗ − L_vq v − L_vt, with ṗ = L_q + F: the equations of motion are M a = g(t, q, v).
    fn balance(&self) -> (Vec<Vec<Expr>>, Vec<Expr>) {
        let g = if self.is_quadratic() { self.christoffel() } else { self.rates_less_drift() };
        let forced = match &self.forces {
            Some(forces) => g.iter().zip(forces).map(|(&g, &force)| g + force).collect(),
            None => g,
        };
        (self.mass(), forced)
    }

    /// L_q − L_vq v − L_vt.
    fn rates_less_drift(&self) -> Vec<Expr> {
        let state = self.q.iter().copied().zip(self.v.iter().copied());
        let seeds: Vec<(Expr, Expr)> = state.chain([(time(), Expr::constant(1.0))]).collect();
        let drift = directional(&self.momenta(), &seeds);
        grad(self.l, &self.q).into_iter().zip(drift).map(|(rate, drift)| rate - drift).collect()
    }

    /// L_q − L_vq v − L_vt of L = ½ vᵀM v + b·v + L₀, where terms that cancel are not formed:
    ///
    /// ```text
    /// gᵢ = ∂L₀/∂qᵢ − ∂bᵢ/∂t − Σⱼ (∂Mᵢⱼ/∂t + ∂bᵢ/∂qⱼ − ∂bⱼ/∂qᵢ) vⱼ − ½ Σⱼₖ (∂Mᵢⱼ/∂qₖ + ∂Mᵢₖ/∂qⱼ − ∂Mⱼₖ/∂qᵢ) vⱼvₖ
    /// ```
    fn christoffel(&self) -> Vec<Expr> {
        let (n, mass) = (self.n(), self.mass());
        let at_rest = |fs: &[Expr]| substitute(fs, &self.v, &vec![Expr::constant(0.0); n]);
        let b = at_rest(&self.momenta());
        let slopes = grad(at_rest(&[self.l])[0], &self.q);
        let entries: Vec<Expr> = (0..n).flat_map(|i| mass[i][..=i].to_vec()).chain(b.iter().copied()).collect();
        let by_q = jacobian(&entries, &self.q);
        let of_mass = |i: usize, j: usize, k: usize| {
            let (i, j) = (i.max(j), i.min(j));
            by_q[i * (i + 1) / 2 + j][k]
        };
        let of_b = |i: usize, k: usize| by_q[n * (n + 1) / 2 + i][k];
        let entry = |i: usize| {
            let mut g = slopes[i] - b[i].diff(time());
            for j in 0..n {
                let turn = mass[i][j].diff(time()) + (of_b(i, j) - of_b(j, i));
                let mut factor = turn + (of_mass(i, j, j) - 0.5 * of_mass(j, j, i)) * self.v[j];
                for k in 0..j {
                    factor = factor + (of_mass(i, j, k) - of_mass(j, k, i) + of_mass(i, k, j)) * self.v[k];
                }
                g = g - factor * self.v[j];
            }
            g
        };
        (0..n).map(entry).collect()
    }

    /// The acceleration a(t, q, v) without walls and constraints: M a = g.
    pub(crate) fn accelerations(&self) -> Vec<Expr> {
        let (mass, g) = self.balance();
        eliminate(mass, g)
    }

    /// a, ∂a/∂q by rows and ∂a/∂v by rows, as expressions of the state (t, q, v). At fixed a
    ///
    /// ```text
    /// ∂a/∂x = M⁻¹ ∂(g − M a)/∂x
    /// ```
    ///
    /// so that no derivative of M⁻¹ is formed.
    pub(crate) fn acceleration(&self) -> Vec<Expr> {
        let n = self.n();
        let (mass, g) = self.balance();
        let fixed = numbered("a", n);
        let left = |row: &[Expr]| row.iter().zip(&fixed).map(|(&m, &a)| m * a).sum::<Expr>();
        let residual: Vec<Expr> = g.iter().zip(&mass).map(|(&g, row)| g - left(row)).collect();
        let state: Vec<Expr> = self.q.iter().chain(&self.v).copied().collect();
        let rows = jacobian(&residual, &state);
        let column = |x: usize| rows.iter().map(|row| row[x]).collect::<Vec<Expr>>();
        let mut columns = eliminate_columns(mass, [g].into_iter().chain((0..2 * n).map(column)).collect());
        let a = columns.remove(0);
        let entry = |x: usize, i: usize| columns[x][i];
        let slopes = [0, n].into_iter().flat_map(|x| (0..n * n).map(move |at| (x + at % n, at / n)));
        let slopes: Vec<Expr> = slopes.map(|(x, i)| entry(x, i)).collect();
        a.iter().copied().chain(substitute(&slopes, &fixed, &a)).collect()
    }

    /// df/dt along a motion with these accelerations.
    pub(crate) fn rate_along(&self, f: Expr, accelerations: &[Expr]) -> Expr {
        let by_q: Expr = grad(f, &self.q).into_iter().zip(&self.v).map(|(slope, &v)| slope * v).sum();
        let by_v: Expr = grad(f, &self.v).into_iter().zip(accelerations).map(|(slope, &a)| slope * a).sum();
        f.diff(time()) + by_q + by_v
    }

    /// v⁺, λ, φ̇⁻ and W of an impact on a wall with restitution e, for L quadratic in v: φ̇⁺ = −e φ̇⁻.
    ///
    /// ```text
    /// W = ∇φ·M⁻¹∇φ,   λ = −(1 + e) φ̇⁻/W,   v⁺ = v⁻ + λ M⁻¹∇φ
    /// ```
    pub(crate) fn reflection(&self, phi: Expr, e: Expr) -> Vec<Expr> {
        let normal = grad(phi, &self.q);
        let swept: Expr = normal.iter().zip(&self.v).map(|(&slope, &v)| slope * v).sum();
        let rate = phi.diff(time()) + swept;
        let response = eliminate_columns(self.mass(), vec![normal.clone()]).swap_remove(0);
        let w: Expr = normal.iter().zip(&response).map(|(&normal, &response)| normal * response).sum();
        let lambda = -(1.0 + e) * rate / w;
        let plus = self.v.iter().zip(&response).map(|(&v, &response)| v + lambda * response);
        plus.chain([lambda, rate, w]).collect()
    }

    /// (M⁻¹)ᵢᵢ of each coordinate.
    pub(crate) fn mobility(&self) -> Vec<Expr> {
        let unit = |i: usize| (0..self.n()).map(|j| Expr::constant(if i == j { 1.0 } else { 0.0 })).collect();
        let columns = eliminate_columns(self.mass(), (0..self.n()).map(unit).collect());
        columns.iter().enumerate().map(|(i, column)| column[i]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;
    use crate::expr::eval;
    use crate::model::Model;

    /// The slopes are the derivatives of the acceleration, and M a = g.
    #[test]
    fn slopes_are_derivatives() {
        for name in ["cart-pendulum", "double-pendulum", "driven-double-pendulum", "chain-3"] {
            let model = Model::from_text(name, find(name).expect("it ships").text, &[]).expect("it is right");
            let mechanics = Mechanics::new(&model.system);
            let n = mechanics.n();
            let all = mechanics.acceleration();
            let state: Vec<Expr> = mechanics.q.iter().chain(&mechanics.v).copied().collect();
            let values: Vec<(Expr, f64)> = state.iter().enumerate().map(|(i, &x)| (x, 0.3 + 0.2 * i as f64)).collect();
            let values: Vec<(Expr, f64)> =
                values.into_iter().chain([(time(), 0.7)]).chain(model.parameter_values()).collect();
            let expected = jacobian(&all[..n], &state);
            let [by_q, by_v] = [0, n].map(|x| expected.iter().flat_map(move |row| row[x..x + n].to_vec()));
            let expected: Vec<Expr> = by_q.chain(by_v).collect();
            for (k, (a, b)) in eval(&all[n..], &values).iter().zip(eval(&expected, &values)).enumerate() {
                assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{name}, entry {k}: {a}, not {b}");
            }
            let (mass, g) = mechanics.balance();
            let a = eval(&all[..n], &values);
            for (row, g) in mass.iter().zip(eval(&g, &values)) {
                let sum: f64 = eval(row, &values).iter().zip(&a).map(|(m, a)| m * a).sum();
                assert!((sum - g).abs() <= 1e-12 * (1.0 + g.abs()), "{name}: {sum}, not {g}");
            }
        }
    }
}
