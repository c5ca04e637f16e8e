//! The constraints along a run.

use super::lift::Node;
use super::rest::Hold;
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

    /// Adds the impulses and the force of the constraints to what is known of a state, in which walls may `hold` too. Between
    /// nodes there is no sum of two steps: the impulse is then that of the force over a step.
    pub(super) fn describe(
        &mut self,
        z: &Phase,
        field: &mut Field,
        (h, is_node): (f64, bool),
        hold: Option<&mut Hold>,
        node: &mut Node,
    ) {
        let v = field.velocity(z.t, &z.z);
        let (ahead, solved) = match hold {
            Some(Hold { active, ahead: Some(ahead) }) => {
                let solved = v.and_then(|v| active.react(z.t, z.q(), v));
                (ahead, solved.map(|()| (active.force(), active.multipliers())))
            }
            _ => {
                let reaction = &mut self.reaction;
                let solved = v.and_then(|v| reaction.at(z.t, z.q(), v));
                (&mut self.ahead, solved.map(|()| (reaction.force(), reaction.multipliers())))
            }
        };
        let (force, multipliers) = solved.unwrap_or((&[], &[]));
        node.force = force.to_vec();
        node.force.resize(z.q().len(), f64::NAN);
        node.lambda = if is_node {
            let start = ahead.step(z, h, &mut self.beyond).ok().and_then(|()| ahead.impulses());
            let start = start.map_or(vec![f64::NAN; self.end.len()], |impulses| impulses.start.clone());
            self.end.iter().zip(start).map(|(end, start)| end + start).collect()
        } else {
            let mut forces = multipliers.iter();
            let mut next = |known: &bool| if *known { forces.next().map_or(f64::NAN, |f| h * f) } else { f64::NAN };
            self.is_one_point.iter().map(&mut next).collect()
        };
    }
}
