use crate::solve::Lu;

/// The factor by which the error of a two-point constraint grows in a step in which the constraint's normal turns by δ; the
/// error changes sign in each step. Exact for uniform motion on a circle with the midpoint rule.
///
/// ```text
/// ρ + 1/ρ = 2 (cos δ + sin² δ)
/// ```
pub fn growth_factor(delta: f64) -> f64 {
    let half = delta.cos() + delta.sin().powi(2);
    // If half the right-hand side is below 1, both roots lie on the unit circle.
    half.max(1.0) + (half * half - 1.0).max(0.0).sqrt()
}

/// The angle, in the mass metric, between the normals of a constraint at two configurations.
pub fn turn(mass: &[f64], normal0: &[f64], normal1: &[f64]) -> Option<f64> {
    let mut lu = Lu::new(normal0.len());
    if !lu.factor(mass) {
        return None;
    }
    let mut lifted = vec![0.0; normal0.len()];
    let mut product = |a: &[f64], b: &[f64]| {
        lu.solve(b, &mut lifted);
        a.iter().zip(&lifted).map(|(a, b)| a * b).sum::<f64>()
    };
    let cosine = product(normal0, normal1) / (product(normal0, normal0) * product(normal1, normal1)).sqrt();
    // A constraint with the opposite sign is the same constraint.
    Some(cosine.abs().min(1.0).acos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_a_radian_grows_by_a_tenth() {
        assert!((growth_factor(0.1) - 1.1048030471570562).abs() < 1e-14);
        assert!((growth_factor(0.01) - 1.0100498304050367).abs() < 1e-14);
        assert_eq!(growth_factor(0.0), 1.0);
        let delta = turn(&[2.0, 0.0, 0.0, 2.0], &[2.0, 0.0], &[2.0 * 0.1f64.cos(), 2.0 * 0.1f64.sin()]);
        assert!((delta.expect("the mass matrix is regular") - 0.1).abs() < 1e-14);
    }
}
