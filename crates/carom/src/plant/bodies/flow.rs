//! A rule on a tree of bodies as a flow: single steps, or compositions of them.

use std::sync::Arc;

use super::code::Code;
use super::newton::Single;
use crate::flow::Past;
use crate::phase::{Discrete, Flow, Impulses, Phase};
use crate::solve::Solved;
use crate::tree::Equations;

/// Φ_{γ_s h} ∘ … ∘ Φ_{γ₁h} of a rule, with the constraints and the walls that hold the motion. Each part extrapolates its guesses
/// from its own solutions in the last steps.
#[derive(Clone)]
pub(super) struct Steps<E> {
    single: Single<E>,
    parts: &'static [f64],
    order: usize,
    pasts: Vec<Past>,
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
        self.middle[0].copy_from(z0);
        for (k, (&part, past)) in self.parts.iter().zip(&mut self.pasts).enumerate() {
            let [begin, end] = &mut self.middle;
            self.single.step(begin, part * h, end, past)?;
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
