//! A map with roundoff of its own.

use crate::phase::{
    Discrete, FLIGHT, Flight, Flow, Gaps, Goal, Impulses, Moments, Phase, Polynomial, Predicted, Quick,
};
use crate::solve::NoSolution;

/// A map whose steps end one unit of roundoff off in every component, up or down: how far such a motion strays shows how much
/// roundoff matters. The signs follow from where a step begins and from its length, so that the same step has the same end.
/// Impacts are disturbed too ([`disturb`]).
pub(crate) struct Disturbed {
    map: Box<dyn Flow>,
    seed: u64,
    /// q and v at both ends of a step of a flight.
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Disturbed {
    pub(crate) fn new(map: Box<dyn Flow>, seed: u64) -> Disturbed {
        Disturbed { map, seed, before: Vec::new(), after: Vec::new() }
    }
}

/// Moves each number of `to` by one unit of roundoff of itself or of `from`, whichever is larger. The signs follow from the seed,
/// a time and a length. Where nothing moves, nothing is rounded.
pub(crate) fn disturb(seed: u64, t: f64, h: f64, from: &[f64], to: &mut [f64]) {
    if from == &*to {
        return;
    }
    let mut signs = mix(seed ^ mix(t.to_bits() ^ mix(h.to_bits())));
    for (x, from) in to.iter_mut().zip(from) {
        let ulp = f64::EPSILON * from.abs().max(x.abs());
        *x += if signs & 1 == 0 { ulp } else { -ulp };
        signs = mix(signs);
    }
}

/// The finalizer of SplitMix64 [Steele, Lea & Flood 2014].
fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Disturbed {
    fn quick_map(&mut self) -> Result<&mut dyn Quick, NoSolution> {
        self.map.quick().ok_or(NoSolution::Diverged)
    }
}

impl Quick for Disturbed {
    fn attempt(
        &mut self,
        start: (&Phase, &[f64]),
        h: f64,
        goal: Goal,
        past: &Polynomial,
    ) -> Result<Predicted, NoSolution> {
        self.quick_map()?.attempt(start, h, goal, past)
    }

    fn finish(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        self.quick_map()?.finish(z0, h, z1)?;
        disturb(self.seed, z0.t, h, &z0.z, &mut z1.z);
        Ok(())
    }

    fn shorten(&mut self, z0: &Phase, h: f64, goal: Goal, z1: &mut Phase) -> Result<(), NoSolution> {
        self.quick_map()?.shorten(z0, h, goal, z1)?;
        disturb(self.seed, z0.t, h, &z0.z, &mut z1.z);
        Ok(())
    }

    fn forget_last(&mut self) {
        if let Some(quick) = self.map.quick() {
            quick.forget_last();
        }
    }

    fn first_step(&mut self, z0: &Phase, goal: Goal) -> Result<f64, NoSolution> {
        self.quick_map()?.first_step(z0, goal)
    }

    fn gaps(&mut self) -> Option<Gaps<'_>> {
        self.map.quick()?.gaps()
    }

    fn take_off(&mut self, start: (&Phase, &[f64]), past: &Polynomial) -> bool {
        let (z0, v0) = start;
        self.before.clear();
        self.before.extend(z0.q().iter().chain(v0));
        self.map.quick().is_some_and(|quick| quick.take_off(start, past))
    }

    fn fly(&mut self, h: f64, goal: Goal, flight: &Flight) -> Option<Predicted> {
        self.map.quick()?.fly(h, goal, flight)
    }

    fn keep_flying(&mut self, t: f64, flight: &mut Flight) {
        let Some(quick) = self.map.quick() else { return };
        let k = flight.count;
        quick.keep_flying(t, flight);
        self.after.clear();
        self.after.extend(flight.last().into_iter().flatten());
        disturb(self.seed, t, flight.polynomials[k].h, &self.before, &mut self.after);
        flight.ends.chunks_mut(FLIGHT).skip(1).zip(&self.after).for_each(|(lanes, x)| lanes[k] = *x);
        std::mem::swap(&mut self.before, &mut self.after);
    }

    fn land(&mut self, flight: &mut Flight) {
        if let Some(quick) = self.map.quick() {
            quick.land(flight);
        }
    }
}

impl Flow for Disturbed {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution> {
        self.map.step(z0, h, z1)?;
        disturb(self.seed, z0.t, h, &z0.z, &mut z1.z);
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.map.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.map.forget();
    }

    fn set_full_step(&mut self, h: f64) {
        self.map.set_full_step(h);
    }

    fn discrete(&mut self) -> Option<Discrete> {
        self.map.discrete()
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

    fn write_moments(&mut self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        self.map.write_moments(z0, h, moments)
    }

    fn glance(&mut self, z0: &Phase, tau: f64, z: &mut Phase) -> Result<(), NoSolution> {
        self.map.glance(z0, tau, z)?;
        disturb(self.seed, z0.t, tau, &z0.z, &mut z.z);
        Ok(())
    }

    fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        self.map.write_polynomial(z0, h, polynomial)
    }

    fn read(&mut self, z0: &Phase, polynomial: &Polynomial, tau: f64, z: &mut Phase) -> bool {
        self.map.read(z0, polynomial, tau, z)
    }

    fn quick(&mut self) -> Option<&mut dyn Quick> {
        if self.map.quick().is_some() { Some(self) } else { None }
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(Disturbed::new(self.map.boxed_clone(), self.seed))
    }
}
