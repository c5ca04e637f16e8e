//! Reference motions with about 25 correct digits, by other means than those of carom.
//!
//! Arithmetic is double-double. Flights with constant forces are exact; other motions are integrated by extrapolation of the
//! midpoint rule (order 16) with steps of their own. Impacts are found by a scan and by Newton's method. Only the Lagrangian, its
//! derivatives and the gaps come from carom. A motion that is reversed at its end comes back to its start, which tests the rest.

mod events;
mod field;
mod flow;
mod tape;

use carom::lab::model::Model;

use crate::double_double::Dd;
use field::Field;
pub use field::State;

/// Steps are at most this part of the run, so that a scan misses no impact.
const LONGEST: f64 = 1.0 / 400.0;
/// The step after an impact is this part of the longest: in a valley the next impact may follow soon.
const AFTER_IMPACT: f64 = 1e-3;

/// A reference motion.
pub struct Exact {
    field: Field,
    h: Dd,
    /// The time and the wall of each impact.
    pub impacts: Vec<(f64, usize)>,
}

impl Exact {
    /// The reference for a model without forces, drives and constraints, with elastic walls.
    pub fn new(model: &Model) -> Exact {
        Exact { field: Field::new(model), h: Dd::default(), impacts: Vec::new() }
    }

    /// p = L_v.
    pub fn momenta(&self, state: &State) -> Vec<Dd> {
        self.field.momenta(state)
    }

    /// The states at `parts` equally spaced times up to `until`, the end included.
    pub fn motion(&mut self, start: State, until: f64, parts: usize) -> Vec<State> {
        let longest = Dd::from(until * LONGEST);
        (self.h, self.impacts) = (longest, Vec::new());
        let (mut state, mut t, mut left) = (start, Dd::default(), None);
        let mut states = Vec::new();
        for k in 1..=parts {
            let end = Dd::from(until) * Dd::from(k as f64) / Dd::from(parts as f64);
            while t < end {
                let most = if longest < end - t { longest } else { end - t };
                let (next, h) = self.step(&state, most);
                (state, t, left) = match self.field.first_impact(&state, &next, h, left) {
                    None => (next, t + h, None),
                    Some((wall, tau)) => {
                        let mut hit = self.field.flow(&state, tau);
                        self.field.reflect(wall, &mut hit);
                        self.impacts.push(((t + tau).to_f64(), wall));
                        self.h = longest * Dd::from(AFTER_IMPACT);
                        (hit, t + tau, Some(wall))
                    }
                };
            }
            states.push(state.clone());
        }
        states
    }

    /// One step of at most `most`, and its length.
    fn step(&mut self, state: &State, most: Dd) -> (State, Dd) {
        loop {
            let h = if self.h < most { self.h } else { most };
            let (next, factor) = self.field.step(state, h);
            if factor >= 1.0 {
                // A step that was cut says little about the next.
                self.h = if h < self.h { self.h } else { self.h * Dd::from(factor.min(2.0)) };
                return (next, h);
            }
            self.h = h * Dd::from(factor.clamp(0.1, 0.9));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Backwards from its end, a motion comes to its start, in spite of the growth of 1e-32 by chaos.
    #[test]
    fn a_reversed_motion_comes_back() {
        let smooth = "T = \"(x'^2 + y'^2)/2\"\nV = \"(x^2 + y^2)/2 + x^2*y - y^3/3\"\n[[wall]]\nphi = \"0.2 - x\"\n";
        let comb = "T = \"(x'^2 + y'^2)/2\"\nV = \"9.8125*y\"\n[[wall]]\nphi = \"y - 0.0625*sin(16*x)\"\n";
        for (lagrangian, q, v, until) in [(smooth, [0.0, 0.1], [0.3, 0.2], 30.0), (comb, [0.0, 0.5], [0.4, 0.0], 4.0)] {
            let text =
                format!("coordinates = [\"x\", \"y\"]\n[lagrangian]\n{lagrangian}[initial]\nq = {q:?}\nv = {v:?}\n");
            let mut exact = Exact::new(&Model::from_text("model", &text, &[]).expect("it is right"));
            let start = State { q: q.map(Dd::from).to_vec(), v: v.map(Dd::from).to_vec() };
            let mut turned = exact.motion(start.clone(), until, 1).remove(0);
            let impacts = exact.impacts.len();
            assert!(impacts > 3, "{impacts} impacts");
            turned.v.iter_mut().for_each(|v| *v = -*v);
            let back = exact.motion(turned, until, 1).remove(0);
            let off = back.q.iter().zip(&start.q).map(|(a, b)| (*a - *b).to_f64().abs()).fold(0.0, f64::max);
            assert!(off < 1e-18, "{impacts} impacts: off by {off:e}");
        }
    }
}
