//! Consecutive steps far from all walls, in positions and velocities: momenta and energies of their ends are computed at once.

use super::OnePass;
use super::solve::{Corrected, Guess};
use crate::limits::PREDICTS;
use crate::phase::{FLIGHT, Flight, Goal, Phase, Polynomial, Predicted, Quick};

impl OnePass {
    /// Begins a flight after a step with this polynomial. False if the gaps of the walls are not computed with the accelerations.
    pub(super) fn begin_flight(&mut self, (z0, v0): (&Phase, &[f64]), past: &Polynomial) -> bool {
        if self.code.walls.is_none() || past.rates.len() != self.stages.a.len() {
            return false;
        }
        let OnePass { stages, last, .. } = self;
        last.begin.copy_from(z0);
        last.v.copy_from_slice(v0);
        last.h = past.h;
        stages.a.copy_from_slice(&past.rates);
        stages.forget();
        true
    }

    /// Solves the next step of a flight. None if that fails.
    pub(super) fn next_of_flight(&mut self, h: f64, goal: Goal, flight: &Flight) -> Option<Predicted> {
        let OnePass { code, parameters, stages, matrix, last, .. } = self;
        if let Some(end) = flight.last() {
            let n = last.v.len();
            last.begin.z[..n].iter_mut().chain(&mut last.v).zip(end).for_each(|(to, x)| *to = x);
        }
        if h > PREDICTS * last.h {
            return None;
        }
        let guess = Guess::Within { m: code.tables.ahead(h / last.h, matrix) };
        (last.h, last.is_known) = (h, false);
        let Corrected { first, next } =
            stages.solve(guess, &code.step(parameters, &last.begin, &last.v, h, goal)).ok()?;
        Some(Predicted { this: Some(first), next })
    }

    /// Adds the step that was solved to the flight; it ends at the time t.
    pub(super) fn advance(&mut self, t: f64, flight: &mut Flight) {
        let OnePass { stages, last, .. } = self;
        let (k, h, n) = (flight.count, last.h, last.v.len());
        last.begin.t = t;
        flight.ends[k] = t;
        for i in 0..n {
            let [once, twice] = stages.swept[i];
            flight.ends[(1 + i) * FLIGHT + k] = last.begin.z[i] + h * (last.v[i] + h * twice);
            flight.ends[(1 + n + i) * FLIGHT + k] = last.v[i] + h * once;
        }
        let polynomial = &mut flight.polynomials[k];
        polynomial.h = h;
        polynomial.rates.clear();
        polynomial.rates.extend_from_slice(&stages.a);
        flight.count += 1;
    }

    /// Computes p, H and p·v at the ends of all steps of a flight.
    pub(super) fn end_flight(&mut self, flight: &mut Flight) {
        self.forget_last();
        let last = flight.count - 1;
        for lanes in flight.ends.chunks_mut(FLIGHT) {
            let end = lanes[last];
            lanes[flight.count..].fill(end);
        }
        self.code.ends.eval(&flight.ends, &self.parameters, &mut flight.values);
    }
}
