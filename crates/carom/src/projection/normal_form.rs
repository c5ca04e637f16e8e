//! Coordinates in which φ is the first coordinate.

use super::invert::solve_for;
use crate::expr::{Expr, grad, jacobian, substitute};
use crate::mechanics::Mechanics;
use crate::mechanics::eliminate;

/// The normal form of a system with one wall, φ monotone in q^c. [GP §III-A]
///
/// ```text
/// Ψ(q) = q̄ = (φ, q^i), i ≠ c      M̄ = Ψ'⁻ᵀ M Ψ'⁻¹
/// Δ_i = (M̄⁻¹)_{i1} / (M̄⁻¹)_{11}    Λ = ∂Δ/∂(q̄², …, q̄ⁿ)
/// ```
///
/// All are written as functions of q; M̄⁻¹ = Ψ' M⁻¹ Ψ'ᵀ gives (M̄⁻¹)_{:1} = Ψ' M⁻¹ ∇φ, and ∂/∂q̄^j = ∂/∂q^j − (φ_j/φ_c) ∂/∂q^c.
#[derive(Clone, Debug)]
pub struct NormalForm {
    /// The index of q^c among the free coordinates.
    pub coordinate: usize,
    /// The indices of the other coordinates, in order.
    pub others: Vec<usize>,
    /// The free coordinates q.
    pub q: Vec<Expr>,
    /// φ(q).
    pub phi: Expr,
    /// Ψ(q).
    pub psi: Vec<Expr>,
    /// Ψ'(q) by rows.
    pub jac_psi: Vec<Vec<Expr>>,
    /// M̄ by rows.
    pub mass_bar: Vec<Vec<Expr>>,
    /// Δ.
    pub delta: Vec<Expr>,
    /// Λ by rows.
    pub jac_delta: Vec<Vec<Expr>>,
    /// M_ii of the other coordinates.
    pub masses: Vec<Expr>,
}

impl NormalForm {
    /// The normal form of a system whose first wall is monotone in the free coordinate with index `coordinate`.
    pub fn new(mechanics: &Mechanics, coordinate: usize) -> NormalForm {
        let (q, phi) = (mechanics.q.clone(), mechanics.walls[0]);
        let others: Vec<usize> = (0..q.len()).filter(|&i| i != coordinate).collect();
        let psi: Vec<Expr> = [phi].into_iter().chain(others.iter().map(|&i| q[i])).collect();
        let grad_phi = grad(phi, &q);
        let mass = mechanics.mass();
        let masses = others.iter().map(|&i| mass[i][i]).collect();
        let normal = eliminate(mass, grad_phi.clone()); // M⁻¹∇φ
        let first: Expr = grad_phi.iter().zip(&normal).map(|(&a, &b)| a * b).sum();
        let delta: Vec<Expr> = others.iter().map(|&i| normal[i] / first).collect();
        let slope = |f: Expr, j: usize| f.diff(q[j]) - grad_phi[j] / grad_phi[coordinate] * f.diff(q[coordinate]);
        let jac_delta = delta.iter().map(|&f| others.iter().map(|&j| slope(f, j)).collect()).collect();
        let mass_bar = mass_bar(mechanics, coordinate, &others, &grad_phi);
        let jac_psi = jacobian(&psi, &q);
        NormalForm { coordinate, others, q, phi, psi, jac_psi, mass_bar, delta, jac_delta, masses }
    }

    /// Ψ⁻¹ at φ = `phi` with the other coordinates `others`; `None` if φ cannot be solved for q^c in closed form.
    pub fn inverse(&self, phi: Expr, others: &[Expr]) -> Option<Vec<Expr>> {
        let level = Expr::symbol("phi#0");
        let first = solve_for(self.phi, self.q[self.coordinate], level)?;
        let from: Vec<Expr> = self.others.iter().map(|&i| self.q[i]).chain([level]).collect();
        let to: Vec<Expr> = others.iter().copied().chain([phi]).collect();
        let first = substitute(&[first], &from, &to)[0];
        let mut q = self.q.clone();
        self.others.iter().zip(others).for_each(|(&i, &value)| q[i] = value);
        q[self.coordinate] = first;
        Some(q)
    }
}

/// M̄ = TᵀMT with T = Ψ'⁻¹. Row c of T is (1, −φ_j)/φ_c; the other rows are those of the identity.
fn mass_bar(mechanics: &Mechanics, coordinate: usize, others: &[usize], grad_phi: &[Expr]) -> Vec<Vec<Expr>> {
    let n = mechanics.n();
    let mass = mechanics.mass();
    let mut t = vec![vec![Expr::constant(0.0); n]; n];
    t[coordinate][0] = 1.0 / grad_phi[coordinate];
    for (j, &other) in others.iter().enumerate() {
        t[coordinate][j + 1] = -grad_phi[other] / grad_phi[coordinate];
        t[other][j + 1] = Expr::constant(1.0);
    }
    let entry = |i: usize, j: usize| -> Expr {
        (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).map(|(a, b)| t[a][i] * mass[a][b] * t[b][j]).sum()
    };
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}
