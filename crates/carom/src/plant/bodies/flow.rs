//! A rule on a tree of bodies as a flow: single steps, or compositions of them.

use std::sync::Arc;

use super::code::Code;
use super::newton::Single;
use super::within::Within;
use crate::flow::Past;
use crate::phase::{Discrete, Flow, Impulses, Phase};
use crate::solve::Solved;
use crate::tree::Equations;

/// Φ_{γ_s h} ∘ … ∘ Φ_{γ₁h} of a rule, with the constraints and the walls that hold the motion. Each part extrapolates its guesses
/// from its own solutions in the last steps, or from the parts before it.
#[derive(Clone)]
pub(super) struct Steps<E> {
    single: Single<E>,
    parts: &'static [f64],
    order: usize,
    pasts: Vec<Past>,
    within: Within,
    /// The states between the parts.
    middle: [Phase; 2],
    /// The start and the length of the last step.
    last: (Phase, f64),
    impulses: Impulses,
}

impl<E: Equations> Steps<E> {
    pub(super) fn new(
        code: &Arc<Code>,
        walls: &[usize],
        rule: fn(&crate::tree::Tree) -> E,
        (parts, order): (&'static [f64], usize),
    ) -> Steps<E> {
        let (single, nowhere) = (Single::new(code, walls, rule), code.facts.nowhere());
        Steps {
            pasts: vec![Past::new(code.facts.n, single.unknowns.len()); parts.len()],
            middle: [nowhere.clone(), nowhere.clone()],
            within: Within::new(parts, single.freedoms()),
            last: (nowhere, 0.0),
            impulses: single.impulses.clone(),
            single,
            parts,
            order,
        }
    }

    /// Makes all parts of a step. Shows each to `look` when it is made.
    fn compose(&mut self, z0: &Phase, h: f64, mut look: impl FnMut(f64, &mut Single<E>)) -> Solved<()> {
        let goes_on = self.pasts.last().is_some_and(|past| past.ends_near(z0));
        if !goes_on {
            self.pasts.iter_mut().for_each(Past::forget);
        }
        self.within.forget();
        self.middle[0].copy_from(z0);
        for (k, (&part, past)) in self.parts.iter().zip(&mut self.pasts).enumerate() {
            let [begin, end] = &mut self.middle;
            self.single.step(begin, part * h, end, past, (&mut self.within, k))?;
            look(part, &mut self.single);
            if k == 0 {
                self.impulses.copy_from(&self.single.impulses);
            } else {
                self.impulses.append(&self.single.impulses);
            }
            self.middle.swap(0, 1);
        }
        Ok(())
    }
}

impl<E: Equations + Clone + Send + 'static> Flow for Steps<E> {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Solved<()> {
        if h == 0.0 {
            z1.copy_from(z0);
            return Ok(());
        }
        self.compose(z0, h, |_, _| {})?;
        self.last.0.copy_from(z0);
        self.last.1 = h;
        z1.copy_from(&self.middle[0]);
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        if self.single.set_parameters(parameters) {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.pasts.iter_mut().for_each(Past::forget);
    }

    /// L_d is the sum of the parts' L_d, and −D₃L_d that of the parts' −D₃L_d with weights γ. For a Lagrangian that contains the time,
    /// −D₃L_d has parts that are not computed.
    fn discrete(&mut self) -> Option<Discrete> {
        if self.single.is_timed_or_loaded() {
            return None;
        }
        if self.parts.len() == 1 {
            return Some(self.single.discrete());
        }
        let (z0, h) = self.last.clone();
        let mut sum = Discrete { action: 0.0, energy: 0.0 };
        let add = |part: f64, single: &mut Single<E>| {
            let Discrete { action, energy } = single.discrete();
            sum.action += action;
            sum.energy += part * energy;
        };
        self.forget();
        self.compose(&z0, h, add).ok()?;
        Some(sum)
    }

    fn impulses(&self) -> Option<&Impulses> {
        Some(&self.impulses)
    }

    fn order(&self) -> usize {
        self.order
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::plant::{Bodies, Plant};
    use crate::tree::{MidpointStep, Planar, PlanarRattle, Rattle};

    const CHAIN: &str = "[mechanism]\ndimension = 2\ngravity = [0, -9.81]\n[[body]]\nname = \"link[1..9]\"\n\
        parent = \"link[i-1]\"\nat = [0, \"-min(i - 1, 1)\"]\nmass = 1\ncom = [0, -0.5]\ninertia = \"1/12\"\n\
        [initial.q]\n\"link[1]\" = 0.8\n[run]\nuntil = 1\n";

    /// A history must grow: a step whose guess is not extrapolated takes three corrections more.
    #[test]
    fn guesses_are_extrapolated_from_the_third_step_on() {
        let model = Model::from_text("chain", CHAIN, &[]).expect("it is right");
        let bodies = Bodies::new(&model.system, &[], &[]).expect("recursive kernels apply");
        let start = model.start().expect("it starts");
        let mut z = bodies.evaluator().free_phase(0.0, &start.q, &start.p);
        let mut flow = Steps::new(&bodies.code, &[], Planar::new, (&[1.0], 2));
        let (h, mut next) = (0.01, z.clone());
        for k in 0..10 {
            let mut guess = flow.single.unknowns.clone();
            assert_eq!(flow.pasts[0].extrapolate(h, &mut guess), k > 1, "step {k}");
            flow.step(&z, h, &mut next).expect("it has a solution");
            std::mem::swap(&mut z, &mut next);
        }
    }

    /// `bodies` takes the end of a step for the start of the next one: a step has the bits of one that was made by itself.
    fn repeats<E: Equations + Clone + Send + 'static>(bodies: &Bodies, z: &Phase, rule: fn(&crate::tree::Tree) -> E) {
        let new = || Steps::new(&bodies.code, &[], rule, (&[1.0], 2));
        let (mut flow, mut first, mut second) = (new(), z.clone(), z.clone());
        flow.step(z, 0.01, &mut first).expect("it has a solution");
        flow.step(&first, 0.01, &mut second).expect("it has a solution");
        let mut alone = z.clone();
        new().step(&first, 0.01, &mut alone).expect("it has a solution");
        assert_eq!(second.z, alone.z, "the next step");
        flow.forget();
        flow.step(z, 0.01, &mut alone).expect("it has a solution");
        assert_eq!(first.z, alone.z, "a step from elsewhere");
    }

    #[test]
    fn steps_do_not_know_what_was_placed_before() {
        let model = Model::from_text("chain", CHAIN, &[]).expect("it is right");
        let bodies = Bodies::new(&model.system, &[], &[]).expect("recursive kernels apply");
        let start = model.start().expect("it starts");
        let z = bodies.evaluator().free_phase(0.0, &start.q, &start.p);
        repeats(&bodies, &z, Planar::new);
        repeats(&bodies, &z, MidpointStep::new);
        repeats(&bodies, &z, PlanarRattle::new);
        repeats(&bodies, &z, Rattle::new);
    }
}
