//! A map made in two half steps.

use crate::phase::{Discrete, Flow, Impulses, MOMENTS, Moments, Phase, Polynomial};
use crate::solve::NoSolution;

/// Φ_{h/2} ∘ Φ_{h/2} instead of Φ_h. Gives an independent result for every step, including partial steps, which a smaller h
/// need not change.
pub(crate) struct Halved {
    map: Box<dyn Flow>,
    /// The start and the length of the last step.
    last: (Phase, f64),
    middle: Phase,
    /// The moments inside the first half, if the map provides them.
    first: Moments,
    has_first: bool,
    /// The polynomials of both halves, if the map has them; that of the second is only written where a polynomial is read.
    halves: [Polynomial; 2],
}

impl Halved {
    /// Makes the steps of `map` in halves; `size` is the length of a state.
    pub(crate) fn new(map: Box<dyn Flow>, size: usize) -> Halved {
        let nowhere = Phase { t: f64::NAN, z: vec![0.0; size] };
        let (last, first, halves) = ((nowhere.clone(), 0.0), Moments::new(size / 2), Default::default());
        Halved { map, last, middle: nowhere, first, has_first: false, halves }
    }
}

impl Flow for Halved {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        self.last.0.t = f64::NAN;
        self.map.step(z0, 0.5 * h, &mut self.middle)?;
        self.has_first = self.map.write_moments(z0, 0.5 * h, &mut self.first);
        if !self.map.write_polynomial(z0, 0.5 * h, &mut self.halves[0]) {
            self.halves[0].forget();
        }
        self.map.step(&self.middle, 0.5 * h, z1)?;
        self.last.0.copy_from(z0);
        self.last.1 = h;
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.map.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.map.forget();
    }

    /// None: each half has its own discrete Lagrangian.
    fn discrete(&mut self) -> Option<Discrete> {
        None
    }

    fn impulses(&self) -> Option<&Impulses> {
        self.map.impulses()
    }

    fn order(&self) -> usize {
        self.map.order()
    }

    fn moments(&self) -> usize {
        self.map.moments()
    }

    /// Writes every other moment of both halves.
    fn write_moments(&mut self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        let is_known = self.has_first && self.last.1 == h && self.last.0 == *z0;
        if !is_known || !self.map.write_moments(&self.middle, 0.5 * h, moments) {
            return false;
        }
        let count = moments.count;
        let (early, late) = (count.div_ceil(2), count / 2);
        // Moves the moments of the second half to the end, from the last to the first, so that none is overwritten before it is
        // read.
        for k in (0..late).rev() {
            let (from, to) = (count - 1 - 2 * (late - 1 - k), early + k);
            moments.tau[to] = 0.5 * h + moments.tau[from];
            moments.lanes.chunks_mut(MOMENTS).for_each(|lanes| lanes[to] = lanes[from]);
        }
        for k in 0..early {
            moments.tau[k] = self.first.tau[2 * k];
            let pairs = moments.lanes.chunks_mut(MOMENTS).zip(self.first.lanes.chunks(MOMENTS));
            pairs.for_each(|(lanes, first)| lanes[k] = first[2 * k]);
        }
        true
    }

    /// Writes the polynomial of the second half, that of the first, and the state between them.
    fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        let is_known = self.halves[0].h > 0.0 && self.last.1 == h && self.last.0 == *z0;
        if !is_known || !self.map.write_polynomial(&self.middle, 0.5 * h, polynomial) {
            return false;
        }
        polynomial.h = h;
        polynomial.rates.extend_from_slice(&self.halves[0].rates);
        polynomial.rates.extend_from_slice(&self.middle.z);
        true
    }

    fn read(&mut self, z0: &Phase, polynomial: &Polynomial, tau: f64, z: &mut Phase) -> bool {
        let Halved { map, last, middle, halves, .. } = self;
        let Some(rates) = polynomial.rates.len().checked_sub(middle.z.len()) else { return false };
        let (half, [first, second]) = (0.5 * polynomial.h, halves);
        last.0.t = f64::NAN;
        for (to, rates) in
            [(&mut *second, &polynomial.rates[..rates / 2]), (&mut *first, &polynomial.rates[rates / 2..rates])]
        {
            to.h = half;
            to.rates.clear();
            to.rates.extend_from_slice(rates);
        }
        middle.t = z0.t + half;
        middle.z.copy_from_slice(&polynomial.rates[rates..]);
        // That of the first half is the guess of a partial step, also where it ends in the second.
        map.read(z0, first, tau.min(half), z) && (tau <= half || map.read(middle, second, tau - half, z))
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(Halved::new(self.map.boxed_clone(), self.middle.z.len()))
    }
}
