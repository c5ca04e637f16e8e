//! The constraints along a run.

use super::lift::Node;
use crate::constraint::{Reaction, Violation};
use crate::error::Result;
use crate::flow::{Field, Flow, Phase};
use crate::mechanics::Mechanics;
use crate::solve::NoSolution;

/// How well the constraints hold, and what they do.
///
/// The impulse at a node is the sum of what the step to it ends with and what the step from it begins with [TPC eq. 6a],
/// so a copy of the flow looks one step ahead.
pub(super) struct Constraints {
    violation: Violation,
    reaction: Reaction,
    ahead: Box<dyn Flow>,
    beyond: Phase,
    /// Where each multiplier of the reaction belongs among all constraints.
    is_one_point: Vec<bool>,
    /// What the last step ended with.
    pub(super) end: Vec<f64>,
}

impl Constraints {
    pub(super) fn new(mechanics: &Mechanics, flow: &dyn Flow, parameters: &[f64]) -> Result<Constraints> {
        let tangent = mechanics.tangent_constraints();
        Ok(Constraints {
            violation: Violation::new(mechanics, parameters)?,
            reaction: Reaction::new(mechanics, &tangent, parameters)?,
            ahead: flow.boxed_clone(),
            beyond: Phase { t: 0.0, z: vec![0.0; 2 * mechanics.n()] },
            is_one_point: mechanics.constraints.iter().map(|c| tangent.contains(&c.g)).collect(),
            end: vec![0.0; mechanics.constraints.len()],
        })
    }

    /// Begins a run.
    pub(super) fn restart(&mut self) {
        self.violation.largest = [0.0; 2];
        self.end.fill(0.0);
    }

    /// Looks at a node.
    pub(super) fn see(&mut self, z: &Phase, field: &mut Field) -> std::result::Result<(), NoSolution> {
        let v = field.velocity(z.t, &z.z)?;
        self.violation.see(z.t, z.q(), v);
        Ok(())
    }

    /// The largest |g| and |dg/dt| at a node so far.
    pub(super) fn largest_violation(&self) -> [f64; 2] {
        self.violation.largest
    }

    /// Adds the impulses and the force of the constraints to what is known of a state. Between nodes there is no sum of
    /// two steps: the impulse is then that of the force over a step.
    pub(super) fn describe(&mut self, z: &Phase, field: &mut Field, h: f64, is_node: bool, node: &mut Node) {
        let solved = field.velocity(z.t, &z.z).and_then(|v| self.reaction.at(z.t, z.q(), v));
        node.force = if solved.is_ok() { self.reaction.force().to_vec() } else { vec![f64::NAN; z.q().len()] };
        node.lambda = if is_node { self.at_node(z, h) } else { self.over_a_step(h) };
    }

    fn at_node(&mut self, z: &Phase, h: f64) -> Vec<f64> {
        let start = match self.ahead.step(z, h, &mut self.beyond) {
            Ok(()) => self.ahead.impulses().map(|impulses| &impulses.start[..]),
            Err(_) => None,
        };
        match start {
            Some(start) => self.end.iter().zip(start).map(|(end, start)| end + start).collect(),
            None => vec![f64::NAN; self.end.len()],
        }
    }

    fn over_a_step(&self, h: f64) -> Vec<f64> {
        let mut forces = self.reaction.multipliers().iter();
        let next =
            |is_one_point: &bool| if *is_one_point { forces.next().map_or(f64::NAN, |f| h * f) } else { f64::NAN };
        self.is_one_point.iter().map(next).collect()
    }
}
