//! Several walls at one instant, all at once.

use crate::limits::{IMPULSE_ROUNDOFF, NEARLY_REDUNDANT, REDUNDANT};
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
/// `w` is by rows. None if no λ does it: the walls leave no way out. Walls may repeat each other: how they share a load is not
/// unique, and this is one way.
pub fn moreau(w: &[f64], u_minus: &[f64], restitution: &[f64]) -> Option<Vec<f64>> {
    let demand: Vec<f64> = u_minus.iter().zip(restitution).map(|(u, e)| -(1.0 + e) * u).collect();
    share(w, &demand, |_| 0.0)
}

/// λ ≥ 0 with Wλ ≥ demand, where a wall with λ > 0 gets no more than it demands.
///
/// λ minimizes ½ λᵀWλ − λᵀdemand over λ ≥ 0, which is found by Lawson and Hanson's active sets (1974, ch. 23): exact after
/// finitely many sets. The walls with λ > 0 never depend on each other, also where others repeat them and W is singular.
///
/// ∇φ of a wall that nearly depends on those that push is a combination of theirs and a small remainder r. They give the wall
/// what it demands up to r·v, or r·a, which is at most |r| times `size_at` the wall: the norm of what moves in the mass metric.
pub(crate) fn share(w: &[f64], demand: &[f64], size_at: impl Fn(usize) -> f64) -> Option<Vec<f64>> {
    let m = demand.len();
    let (w, norms) = normalized(w, m);
    let (w, demand): (&[f64], Vec<f64>) = (&w, demand.iter().zip(&norms).map(|(demand, norm)| demand / norm).collect());
    let total = demand.iter().map(|d| d.abs()).sum::<f64>();
    // A sum, so that no NaN gets lost.
    if !(total + w.iter().sum::<f64>()).is_finite() {
        return None;
    }
    let mut lambda = vec![0.0; m];
    let mut active: Vec<usize> = Vec::new();
    let mut is_satisfied = vec![false; m];
    // Each set is met at most once; a bound on their number is a guard against roundoff alone.
    for _ in 0..=10 * m {
        // Large impulses that nearly cancel, as in a sharp corner, have the roundoff of their size.
        let lack = |i: usize| {
            let pushes = (0..m).map(|j| w[i * m + j] * lambda[j]);
            let (sum, size) = pushes.fold((0.0, total), |(sum, size), push| (sum + push, size + push.abs()));
            demand[i] - sum - IMPULSE_ROUNDOFF * size
        };
        let idle = (0..m).filter(|i| !active.contains(i) && !is_satisfied[*i]);
        let waiting = idle.map(|i| (i, lack(i))).filter(|(_, lack)| *lack > 0.0);
        let Some((next, lack)) = waiting.reduce(|best, other| if other.1 > best.1 { other } else { best }) else {
            return finite(lambda.iter().zip(&norms).map(|(lambda, norm)| lambda / norm).collect());
        };
        let parts = parts_of(w, m, &active, next)?;
        let (left, whole) = (left_of(w, m, &active, &parts, next), w[next * m + next]);
        if left <= NEARLY_REDUNDANT * whole && lack <= left.max(REDUNDANT * whole).sqrt() * size_at(next) {
            is_satisfied[next] = true;
            continue;
        }
        if left <= REDUNDANT * whole {
            exchange(&mut active, &mut lambda, &parts, next)?;
        }
        active.push(next);
        settle(w, &demand, &mut active, &mut lambda)?;
    }
    None
}

/// W of walls whose gradients have about the norm 1 in the mass metric, so that no unit of φ matters; and the powers of two
/// that they were divided by, without roundoff. A wall that constraints block has no norm.
fn normalized(w: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
    let norm = |i: usize| if w[i * m + i] > 0.0 { (0.5 * w[i * m + i].log2()).round().exp2() } else { 1.0 };
    let norms: Vec<f64> = (0..m).map(norm).collect();
    ((0..m * m).map(|k| w[k] / (norms[k / m] * norms[k % m])).collect(), norms)
}

/// What is left of W of wall `next` when all others are eliminated, if it nearly depends on them.
pub(crate) fn left_of_redundant(w: &[f64], m: usize, next: usize) -> Option<f64> {
    let (w, norms) = normalized(w, m);
    depend(&w, m, next).map(|(_, _, left)| left * norms[next].powi(2))
}

/// Σ cᵢxᵢ for a wall whose gradient is nearly a combination Σ cᵢ∇φᵢ of those of the others; none if it is not.
pub(crate) fn by_others(w: &[f64], m: usize, next: usize, x: &[f64]) -> Option<f64> {
    let (w, norms) = normalized(w, m);
    let (others, parts, _) = depend(&w, m, next)?;
    Some(norms[next] * others.iter().zip(parts).map(|(&i, part)| part * x[i] / norms[i]).sum::<f64>())
}

/// The other walls that are independent, c, and what is left of W of wall `next`, if it nearly depends on them.
fn depend(w: &[f64], m: usize, next: usize) -> Option<(Vec<usize>, Vec<f64>, f64)> {
    let mut others: Vec<usize> = Vec::new();
    for i in (0..m).filter(|&i| i != next) {
        let left = parts_of(w, m, &others, i).map_or(0.0, |parts| left_of(w, m, &others, &parts, i));
        if left > REDUNDANT * w[i * m + i] {
            others.push(i);
        }
    }
    let parts = parts_of(w, m, &others, next)?;
    let left = left_of(w, m, &others, &parts, next);
    (left <= NEARLY_REDUNDANT * w[next * m + next]).then_some((others, parts, left))
}

/// c of wall `next` for gradients of about the same norm, if it nearly depends on the first `count` walls, which are
/// independent.
pub(crate) fn parts_of_redundant(w: &[f64], m: usize, count: usize, next: usize) -> Option<Vec<f64>> {
    let (w, _) = normalized(w, m);
    let active: Vec<usize> = (0..count).collect();
    let is_near = |parts: &Vec<f64>| left_of(&w, m, &active, parts, next) <= NEARLY_REDUNDANT * w[next * m + next];
    parts_of(&w, m, &active, next).filter(is_near)
}

/// c with W_AA c = W_A,next: the impulses of the active walls that do what one of `next` does to them.
fn parts_of(w: &[f64], m: usize, active: &[usize], next: usize) -> Option<Vec<f64>> {
    solve(w, m, active, |i| w[i * m + next])
}

/// W_nn − W_nA c: what is left of W_nn when the active walls are eliminated.
fn left_of(w: &[f64], m: usize, active: &[usize], parts: &[f64], next: usize) -> f64 {
    w[next * m + next] - active.iter().zip(parts).map(|(&i, part)| w[next * m + i] * part).sum::<f64>()
}

/// Hands the load of active walls over to `next`, which depends on them, until the first of them has none and leaves the set.
/// None where that is none of them: the more `next` pushes, the more must they.
fn exchange(active: &mut Vec<usize>, lambda: &mut [f64], parts: &[f64], next: usize) -> Option<()> {
    let limits = active.iter().zip(parts).filter(|(_, part)| **part > 0.0).map(|(&i, part)| (i, lambda[i] / part));
    let (leaves, push) = limits.reduce(|first, other| if other.1 < first.1 { other } else { first })?;
    active.iter().zip(parts).for_each(|(&i, part)| lambda[i] = (lambda[i] - push * part).max(0.0));
    (lambda[leaves], lambda[next]) = (0.0, push);
    active.retain(|&i| i != leaves);
    Some(())
}

/// x with W_AA x = b for the active walls.
fn solve(w: &[f64], m: usize, active: &[usize], b: impl Fn(usize) -> f64) -> Option<Vec<f64>> {
    let matrix: Vec<f64> = active.iter().flat_map(|&i| active.iter().map(move |&j| w[i * m + j])).collect();
    let right: Vec<f64> = active.iter().map(|&i| b(i)).collect();
    let (mut x, mut lu) = (vec![0.0; active.len()], Lu::new(active.len()));
    lu.factor(&matrix).then(|| lu.solve(&right, &mut x))?;
    Some(x)
}

/// Solves for the impulses of the active walls; walls whose impulse would pull are let go, the first to do so first.
fn settle(w: &[f64], demand: &[f64], active: &mut Vec<usize>, lambda: &mut [f64]) -> Option<()> {
    while !active.is_empty() {
        let full = solve(w, demand.len(), active, |i| demand[i])?;
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

    /// Random walls, many of them combinations of others: λ ≥ 0, none is entered, and those that push are independent.
    #[test]
    fn walls_that_depend_on_each_other_share_a_load() {
        let mut seed = 3u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for case in 0..500 {
            let (m, n) = (4 + case % 9, 3);
            let unit: Vec<f64> = (0..m).map(|k| 10f64.powi((case + 3 * k) as i32 % 7 - 3)).collect();
            // Of all gradients the last component is positive: there is a way out.
            let g: Vec<f64> = (0..m * n).map(|k| if k % n == n - 1 { 0.6 } else { random() } * unit[k / n]).collect();
            let product = |i: usize, j: usize| (0..n).map(|k| g[i * n + k] * g[j * n + k]).sum::<f64>();
            let w: Vec<f64> = (0..m * m).map(|k| product(k / m, k % m)).collect();
            let v: Vec<f64> = (0..n).map(|_| random()).collect();
            let u: Vec<f64> = (0..m).map(|i| (0..n).map(|k| g[i * n + k] * v[k]).sum::<f64>()).collect();
            let lambda = moreau(&w, &u, &vec![0.0; m]).unwrap_or_else(|| panic!("case {case} has a solution"));
            let after = rates_after(&w, &u, &lambda);
            assert!(lambda.iter().filter(|lambda| **lambda > 0.0).count() <= n, "case {case}: {lambda:?}");
            for i in 0..m {
                assert!(lambda[i] >= 0.0 && after[i] >= -1e-9 * unit[i], "case {case}: {lambda:?}, {after:?}");
            }
        }
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
