//! Several walls at one instant, all at once.

use crate::limits::IMPULSE_ROUNDOFF;
use crate::solve::Lu;

/// Moreau's impact law: the impulses λ of all walls that touch, as one problem of complementarity.
/// [Moreau 1988; Glocker 2001, §7]
///
/// ```text
/// 0 ≤ λ  ⊥  u⁺ + E u⁻ ≥ 0,   u⁺ = u⁻ + Wλ,   W = G M⁻¹ Gᵀ
/// ```
///
/// u holds the rates φ̇ of the walls, G their gradients, E their restitutions. A wall with an impulse reverses, u⁺ = −e u⁻;
/// one without leaves at least as fast as that. With one e for all this is a reflection at the cone of feasible
/// velocities in the mass metric, v⁺ = −e v⁻ + (1 + e) proj v⁻. The energy changes by ½ Σ (1 − e) u⁻ λ ≤ 0, if no wall
/// opens before: all u⁻ ≤ 0.
///
/// λ minimizes ½ λᵀWλ + λᵀ(1 + E)u⁻ over λ ≥ 0, which is found by Lawson and Hanson's active sets (1974, ch. 23): exact
/// after finitely many sets, also where walls repeat each other and W is singular.
///
/// `w` is by rows. None if no λ does it: the walls leave no way out.
pub fn moreau(w: &[f64], u_minus: &[f64], restitution: &[f64]) -> Option<Vec<f64>> {
    let m = u_minus.len();
    let demand: Vec<f64> = u_minus.iter().zip(restitution).map(|(u, e)| -(1.0 + e) * u).collect();
    let total = demand.iter().map(|d| d.abs()).sum::<f64>();
    // A sum, so that no NaN gets lost.
    if !(total + w.iter().sum::<f64>()).is_finite() {
        return None;
    }
    let mut lambda = vec![0.0; m];
    let mut active: Vec<usize> = Vec::new();
    // Each set is met at most once; a bound on their number is a guard against roundoff alone.
    for _ in 0..=10 * m {
        // Large impulses that nearly cancel, as in a sharp corner, have the roundoff of their size.
        let lack = |i: usize| {
            let pushes = (0..m).map(|j| w[i * m + j] * lambda[j]);
            let (sum, size) = pushes.fold((0.0, total), |(sum, size), push| (sum + push, size + push.abs()));
            demand[i] - sum - IMPULSE_ROUNDOFF * size
        };
        let waiting = (0..m).filter(|i| !active.contains(i)).map(|i| (i, lack(i))).filter(|(_, lack)| *lack > 0.0);
        let Some((next, _)) = waiting.reduce(|best, other| if other.1 > best.1 { other } else { best }) else {
            return finite(lambda);
        };
        active.push(next);
        settle(w, &demand, &mut active, &mut lambda)?;
    }
    None
}

/// Solves for the impulses of the active walls; walls whose impulse would pull are let go, the first to do so first.
fn settle(w: &[f64], demand: &[f64], active: &mut Vec<usize>, lambda: &mut [f64]) -> Option<()> {
    let m = demand.len();
    while !active.is_empty() {
        let matrix: Vec<f64> = active.iter().flat_map(|&i| active.iter().map(move |&j| w[i * m + j])).collect();
        let right: Vec<f64> = active.iter().map(|&i| demand[i]).collect();
        let mut full = vec![0.0; active.len()];
        let mut lu = Lu::new(active.len());
        if !lu.factor(&matrix) {
            return None;
        }
        lu.solve(&right, &mut full);
        let limit = |(&i, &s): (&usize, &f64)| if s > 0.0 { 1.0 } else { lambda[i] / (lambda[i] - s) };
        let part = active.iter().zip(&full).map(limit).fold(1.0, f64::min);
        for (&i, &s) in active.iter().zip(&full) {
            lambda[i] += part * (s - lambda[i]);
        }
        if part == 1.0 {
            return Some(());
        }
        let most = lambda.iter().sum::<f64>();
        active.retain(|&i| {
            let stays = lambda[i] > IMPULSE_ROUNDOFF * most;
            if !stays {
                lambda[i] = 0.0;
            }
            stays
        });
    }
    Some(())
}

fn finite(lambda: Vec<f64>) -> Option<Vec<f64>> {
    lambda.iter().sum::<f64>().is_finite().then_some(lambda)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// W of a row of equal balls in contact, where each wall is the gap between neighbours.
    fn cradle(walls: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        (0..walls * walls).map(|k| entry(k / walls, k % walls)).collect()
    }

    fn rates_after(w: &[f64], u: &[f64], lambda: &[f64]) -> Vec<f64> {
        let m = u.len();
        (0..m).map(|i| u[i] + (0..m).map(|j| w[i * m + j] * lambda[j]).sum::<f64>()).collect()
    }

    #[test]
    fn a_ball_that_hits_four_in_a_row_moves_them_all() {
        let (w, u) = (cradle(4), [-1.0, 0.0, 0.0, 0.0]);
        let lambda = moreau(&w, &u, &[1.0; 4]).expect("there is a way out");
        // v = (−0.6, 0.4, 0.4, 0.4, 0.4): impulses between the balls 1.6, 1.2, 0.8, 0.4.
        for (found, due) in lambda.iter().zip([1.6, 1.2, 0.8, 0.4]) {
            assert!((found - due).abs() < 1e-14, "{lambda:?}");
        }
    }

    #[test]
    fn orthogonal_walls_reverse_each_on_its_own() {
        let lambda = moreau(&[2.0, 0.0, 0.0, 0.5], &[-3.0, -1.0], &[1.0, 0.5]).expect("there is a way out");
        assert_eq!(lambda, [3.0, 3.0]);
    }

    #[test]
    fn a_wall_that_another_opens_is_not_pushed() {
        // Two walls of an obtuse corner: to reverse the first alone opens the second fast enough.
        let (w, u) = ([1.0, 0.9, 0.9, 1.0], [-1.0, -0.1]);
        let lambda = moreau(&w, &u, &[1.0; 2]).expect("there is a way out");
        assert_eq!(lambda[1], 0.0, "{lambda:?}");
        assert!((rates_after(&w, &u, &lambda)[0] - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_wall_that_stands_there_twice_counts_once() {
        let lambda = moreau(&[1.0; 4], &[-1.0; 2], &[1.0; 2]).expect("there is a way out");
        assert!((lambda[0] + lambda[1] - 2.0).abs() < 1e-15, "{lambda:?}");
    }

    #[test]
    fn between_two_jaws_that_close_there_is_no_way_out() {
        assert_eq!(moreau(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -0.5], &[1.0; 2]), None);
        assert_eq!(moreau(&[f64::NAN], &[-1.0], &[1.0]), None);
    }

    /// λ ≥ 0, u⁺ + E u⁻ ≥ 0, one of them zero, and no energy made, for random corners.
    #[test]
    fn random_corners_satisfy_the_law() {
        let mut seed = 1u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        for case in 0..2000 {
            let (m, n) = (1 + case % 5, 5);
            let g: Vec<f64> = (0..m * n).map(|_| 2.0 * random() - 1.0).collect();
            let product = |i: usize, j: usize| (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum::<f64>();
            let w: Vec<f64> = (0..m * m).map(|k| product(k / m, k % m)).collect();
            let u: Vec<f64> = (0..m).map(|_| -random()).collect();
            let e: Vec<f64> = (0..m).map(|_| random()).collect();
            let lambda = moreau(&w, &u, &e).unwrap_or_else(|| panic!("case {case} has a solution"));
            let after = rates_after(&w, &u, &lambda);
            let size = 1.0 + lambda.iter().sum::<f64>();
            for i in 0..m {
                let slack = after[i] + e[i] * u[i];
                assert!(lambda[i] >= 0.0 && slack >= -1e-11 * size, "case {case}: {lambda:?}, {slack}");
                assert!(lambda[i] * slack.abs() <= 1e-10 * size * size, "case {case}: {} · {slack}", lambda[i]);
            }
            let gain: f64 = (0..m).map(|i| 0.5 * lambda[i] * (u[i] + after[i])).sum();
            assert!(gain <= 1e-12 * size, "case {case}: {gain:e}");
        }
    }
}
