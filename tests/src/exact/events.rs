//! The first impact of a step in double-double arithmetic.

use super::field::{Field, State};
use crate::double_double::Dd;

/// Gaps are looked at so often in a step.
const LOOKS: usize = 12;

impl Field {
    /// The first wall that is met on a step from `a` to `b`, and when. `left` is the wall that `a` has just left.
    pub fn first_impact(&self, a: &State, b: &State, h: Dd, left: Option<usize>) -> Option<(usize, Dd)> {
        let inside = self.interpolant(a, b, h);
        let times: Vec<Dd> = (0..=LOOKS).map(|k| h * Dd::from(k as f64) / Dd::from(LOOKS as f64)).collect();
        let gaps: Vec<Vec<Dd>> = times.iter().map(|tau| self.gaps(&inside(*tau))).collect();
        let mut first: Option<(usize, Dd)> = None;
        for wall in 0..gaps[0].len() {
            let gap_at = |tau: Dd| self.gaps(&inside(tau))[wall].to_f64();
            let g: Vec<f64> = gaps.iter().map(|gaps| gaps[wall].to_f64()).collect();
            let is_left = left == Some(wall);
            let shut = (1..=LOOKS).find_map(|k| match g[k] < 0.0 {
                true => Some(times[k]),
                false if k < LOOKS && g[k] < g[k - 1] && g[k] < g[k + 1] => {
                    let lowest = lowest(gap_at, times[k - 1], times[k + 1], g[k - 1] - 2.0 * g[k] + g[k + 1]);
                    (gap_at(lowest) < 0.0).then_some(lowest)
                }
                false => None,
            });
            let Some(shut) = shut else { continue };
            let mut open =
                times.iter().zip(&g).rev().find(|(tau, gap)| **tau < shut && **gap > 0.0).map(|(tau, _)| *tau);
            if is_left && open.is_none_or(|open| open.to_f64() == 0.0) {
                // The motion leaves the wall and comes back before the first look.
                let halves = (1..40).map(|k| shut * Dd::from(0.5f64.powi(k)));
                open = halves.into_iter().find(|tau| gap_at(*tau) > 0.0);
            }
            let Some(open) = open else { continue };
            let tau = self.root(wall, a, open, shut);
            if first.is_none_or(|(_, before)| tau < before) {
                first = Some((wall, tau));
            }
        }
        first
    }

    /// The motion inside a step by the polynomial of degree 5 through q, q̇ and q̈ at its ends: exact for parabolas.
    fn interpolant(&self, a: &State, b: &State, h: Dd) -> impl Fn(Dd) -> State {
        let [one, half, three, six] = [1.0, 0.5, 3.0, 6.0].map(Dd::from);
        let [a0, b0] = [self.acceleration(a), self.acceleration(b)];
        // q = q₀ + τv₀ + τ²a₀/2 + s³(A + (s − 1)(B + (s − 1)C)), s = τ/h, so that q, q̇, q̈ agree at both ends.
        let rest: Vec<[Dd; 3]> = (0..a.q.len())
            .map(|i| {
                let off = b.q[i] - (a.q[i] + h * (a.v[i] + half * h * a0[i]));
                let rate = h * (b.v[i] - (a.v[i] + h * a0[i]));
                let bend = h * h * (b0[i] - a0[i]);
                let second = rate - three * off;
                [off, second, half * (bend - six * off - six * second)]
            })
            .collect();
        let (a, a0) = (a.clone(), a0);
        move |tau: Dd| {
            let s = tau / h;
            let q = (0..a.q.len()).map(|i| {
                let [off, second, third] = rest[i];
                let bump = s * s * s * (off + (s - one) * (second + (s - one) * third));
                a.q[i] + tau * (a.v[i] + half * tau * a0[i]) + bump
            });
            State { q: q.collect(), v: a.v.clone() }
        }
    }

    /// The root of φ between two times, on the flow from `a`: halving, then Newton's method.
    fn root(&self, wall: usize, a: &State, mut open: Dd, mut shut: Dd) -> Dd {
        let half = Dd::from(0.5);
        for _ in 0..14 {
            let middle = half * (open + shut);
            let gap = self.gaps(&self.flow(a, middle))[wall].to_f64();
            *(if gap > 0.0 { &mut open } else { &mut shut }) = middle;
        }
        let (low, high, mut tau) = (open, shut, half * (open + shut));
        for _ in 0..12 {
            let state = self.flow(a, tau);
            let correction = self.gaps(&state)[wall] / self.rate(wall, &state);
            let next = tau - correction;
            tau = if next < low {
                low
            } else if next > high {
                high
            } else {
                next
            };
            if correction.abs().to_f64() <= 1e-30 * high.to_f64() {
                break;
            }
        }
        tau
    }
}

/// Where a gap is lowest between two times; nowhere else than at the second if it bends the other way.
fn lowest(gap_at: impl Fn(Dd) -> f64, mut a: Dd, mut b: Dd, bend: f64) -> Dd {
    let third = Dd::from(1.0) / Dd::from(3.0);
    for _ in 0..if bend > 0.0 { 60 } else { 0 } {
        let (near, far) = (a + third * (b - a), b - third * (b - a));
        *(if gap_at(near) < gap_at(far) { &mut b } else { &mut a }) =
            if gap_at(near) < gap_at(far) { far } else { near };
    }
    b
}
