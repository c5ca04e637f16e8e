//! How high a body may still rise that rocks from contact to contact before it left, and for how long.

use crate::limits::UNCOUPLED;
use crate::solve::Lu;

/// A wall that would hold from here on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounce {
    /// Its index in the list of touching walls.
    pub(super) number: usize,
    pub(super) gap: f64,
    /// φ̇.
    pub(super) rate: f64,
    /// The force N with which it would hold.
    pub(super) force: f64,
    pub(super) restitution: f64,
}

/// What is left of the bounces at a wall when it begins to hold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    /// None of them is higher.
    pub(super) height: f64,
    /// About how long they take.
    pub(super) wait: f64,
    /// The impulse that stops them at once.
    pub(super) impulse: f64,
}

/// What is left of the bounces at walls that would hold. `w` is the matrix W of the m walls that touch, by rows.
///
/// N are the forces with which the walls hold, so that the motion in their normal directions is that of a body with the potential
/// energy Σ Nᵢφᵢ and the kinetic energy ½ φ̇ᵀW⁻¹φ̇, near the place where all gaps are closed:
///
/// ```text
/// E = ½ φ̇ᵀ W⁻¹ φ̇ + Σ Nᵢφᵢ,   W = G M⁻¹ Gᵀ
/// ```
///
/// Impacts do not increase E, and all φ stay ≥ 0: hence φᵢ ≤ E/Nᵢ in every later bounce. For one wall this is the height of the next.
/// But a foot that bears little of the weight rises high by what the bounce of another one hands to it, and falls slowly: while the
/// others hold, its flight takes
///
/// ```text
/// Tᵢ ≤ 2 √(2E (W⁻¹)ᵢᵢ) / Nᵢ
/// ```
///
/// The sum over all later flights is taken for T/(1 − e) of the longest, which is exact for one wall. Walls that do not answer to each
/// other's impulses have energies of their own.
pub(super) fn what_is_left(w: &[f64], m: usize, bounces: &[Bounce]) -> Vec<Left> {
    let mut left = vec![Left::default(); bounces.len()];
    let mut is_done = vec![false; bounces.len()];
    for first in 0..bounces.len() {
        if !std::mem::replace(&mut is_done[first], true) {
            let group = group_of(w, m, bounces, first, &mut is_done);
            rest_of(w, m, bounces, &group, &mut left);
        }
    }
    left
}

/// The walls that answer to an impulse at the first one, directly or through others.
fn group_of(w: &[f64], m: usize, bounces: &[Bounce], first: usize, is_done: &mut [bool]) -> Vec<usize> {
    let answers = |i: usize, j: usize| {
        let (i, j) = (bounces[i].number, bounces[j].number);
        w[i * m + j].powi(2) > UNCOUPLED * w[i * (m + 1)] * w[j * (m + 1)]
    };
    let (mut group, mut next) = (vec![first], 0);
    while next < group.len() {
        for j in 0..bounces.len() {
            if !is_done[j] && answers(group[next], j) {
                is_done[j] = true;
                group.push(j);
            }
        }
        next += 1;
    }
    group
}

/// What is left of the bounces at the walls of a group.
fn rest_of(w: &[f64], m: usize, bounces: &[Bounce], group: &[usize], left: &mut [Left]) {
    if group.iter().all(|&k| bounces[k].rate == 0.0 && bounces[k].gap == 0.0) {
        return;
    }
    let count = group.len();
    let entry = |i: usize, j: usize| w[bounces[i].number * m + bounces[j].number];
    let matrix: Vec<f64> = group.iter().flat_map(|&i| group.iter().map(move |&j| entry(i, j))).collect();
    let rates: Vec<f64> = group.iter().map(|&k| bounces[k].rate).collect();
    let mut lu = Lu::new(count);
    // The walls that bear a load do not depend on each other.
    let is_regular = lu.factor(&matrix);
    let solve = |b: &[f64]| {
        let mut x = vec![0.0; count];
        if is_regular {
            lu.solve(b, &mut x);
        }
        x
    };
    let x = solve(&rates);
    // It is no less than that of each wall on its own.
    let alone = group.iter().map(|&k| 0.5 * bounces[k].rate.powi(2) / entry(k, k));
    let kinetic = alone.fold(0.5 * x.iter().zip(&rates).map(|(x, rate)| x * rate).sum::<f64>(), f64::max);
    let energy = kinetic + group.iter().map(|&k| bounces[k].force * bounces[k].gap).sum::<f64>();
    let mut longest = 0.0_f64;
    for (place, &k) in group.iter().enumerate() {
        let Bounce { force, restitution, .. } = bounces[k];
        left[k] = Left { height: energy / force, impulse: -x[place], wait: 0.0 };
        if restitution < 1.0 {
            let mut unit = vec![0.0; count];
            unit[place] = 1.0;
            let mass = solve(&unit)[place].max(0.0);
            longest = longest.max(2.0 * (2.0 * kinetic * mass).sqrt() / (force * (1.0 - restitution)));
        }
    }
    group.iter().for_each(|&k| left[k].wait = longest);
}
