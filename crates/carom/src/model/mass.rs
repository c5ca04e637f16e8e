//! Checks that masses are positive and that walls can push.

use super::start::Check;
use crate::error::{Diagnostic, Error, Result};
use crate::expr::{Expr, grad};
use crate::solve::Lu;

/// The weight of the constraints relative to L_vv, so large that only their tangent space matters.
const CONSTRAINTS_OUTWEIGH: f64 = 1e6;

impl Check<'_> {
    /// Checks L_vv, which must be nonsingular. An indefinite L_vv is valid mechanics, but rarely intended, and gives a warning.
    /// It is an error if a wall cannot push, ∇φᵀ L_vv⁻¹ ∇φ ≤ 0, because then no λ > 0 can reverse φ̇.
    pub(super) fn definite(&self, q: &[f64], v: &[f64]) -> Result<Option<Diagnostic>> {
        // The pivots of a tree were positive when it was found to be regular.
        if self.is_recursive() {
            return Ok(None);
        }
        let (bordered, n, m) = self.bordered();
        let matrix = self.at(&bordered, q, v);
        if is_positive_definite(&on_constraints(&matrix, n, m), n) {
            return Ok(None);
        }
        self.walls_push(&matrix, n + m, q, v)?;
        let message = "the mass matrix L_vv is not positive definite at the start";
        let label = "a mass is negative: is a sign wrong?";
        match self.model.error(&self.model.places.lagrangian, message, label) {
            Error::Model(diagnostic) => Ok(Some(*diagnostic)),
            other => Err(other),
        }
    }

    /// Returns an error if the mass along the direction of a wall is not positive.
    fn walls_push(&self, matrix: &[f64], size: usize, q: &[f64], v: &[f64]) -> Result<()> {
        let (system, places) = (&self.model.system, &self.model.places);
        let free: Vec<Expr> = system.free().iter().map(|&i| system.coordinates[i].q).collect();
        let mut lu = Lu::new(size);
        let mut response = vec![0.0; size];
        lu.factor(matrix);
        for (wall, span) in system.walls.iter().zip(&places.walls) {
            let mut gradient = self.at(&grad(wall.phi, &free), q, v);
            gradient.resize(size, 0.0);
            lu.solve(&gradient, &mut response);
            let push: f64 = gradient.iter().zip(&response).map(|(g, x)| g * x).sum();
            if push <= 0.0 && gradient.iter().any(|g| *g != 0.0) {
                let message =
                    format!("the wall `{}` cannot push: the mass along its direction is not positive", wall.name);
                let label = format!("∇φᵀ L_vv⁻¹ ∇φ is {push} at q = {q:?}; it must be > 0");
                return Err(self.model.error(span, message, label));
            }
        }
        Ok(())
    }
}

/// L_vv + c·GᵀG with a large c. It is positive definite if L_vv is positive definite on the tangent space of the constraints.
/// Each coordinate is in the unit 1/√|(L_vv)ᵢᵢ|, and each constraint in that of its largest entry.
fn on_constraints(bordered: &[f64], n: usize, m: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| bordered[i * (n + m) + j];
    let unit = |x: f64| Some(1.0 / x).filter(|unit| unit.is_normal()).unwrap_or(1.0);
    let units: Vec<f64> = (0..n).map(|i| unit(entry(i, i).abs().sqrt())).collect();
    let normal = |k: usize| {
        let scaled: Vec<f64> = (0..n).map(|i| entry(k, i) * units[i]).collect();
        let size = unit(scaled.iter().fold(0.0, |m: f64, x| m.max(x.abs())));
        scaled.into_iter().map(|x| x * size).collect::<Vec<f64>>()
    };
    let normals: Vec<Vec<f64>> = (n..n + m).map(normal).collect();
    let weighted = |i: usize, j: usize| {
        let pull: f64 = normals.iter().map(|normal| normal[i] * normal[j]).sum();
        entry(i, j) * units[i] * units[j] + CONSTRAINTS_OUTWEIGH * pull
    };
    (0..n * n).map(|k| weighted(k / n, k % n)).collect()
}

/// Tests a symmetric matrix by Cholesky decomposition.
fn is_positive_definite(matrix: &[f64], n: usize) -> bool {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let rest = matrix[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
            if i == j && (rest <= 0.0 || rest.is_nan()) {
                return false;
            }
            l[i * n + j] = if i == j { rest.sqrt() } else { rest / l[j * n + j] };
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definite_is_told_from_indefinite() {
        assert!(is_positive_definite(&[2.0, -1.0, -1.0, 2.0], 2));
        assert!(!is_positive_definite(&[1.0, 2.0, 2.0, 1.0], 2));
        assert!(!is_positive_definite(&[f64::NAN], 1));
        // M = diag(1, −1) is positive on y = 0, and not on x = 0.
        assert!(is_positive_definite(&on_constraints(&[1.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.0], 2, 1), 2));
        assert!(!is_positive_definite(&on_constraints(&[1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0], 2, 1), 2));
    }
}
