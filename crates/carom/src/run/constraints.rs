//! Violation and forces of the constraints along a run.

use super::observer::{Look, Observer};
use crate::mechanics::Node;
use crate::phase::Phase;
use crate::plant::Violated;
use crate::solve::{Solved, larger};
use crate::step::{State, StepLog};

/// Tracks the violation of the constraints, and their impulses and forces.
#[derive(Clone, Debug)]
pub struct Constraints {
    /// The largest violation at a node so far.
    pub largest: Violated,
    is_one_point: Vec<bool>,
    /// The number of constraints that are shown.
    stated: usize,
    /// The impulses at the end of the last step.
    end: Vec<f64>,
    beyond: Phase,
}

impl Constraints {
    /// `is_one_point` has one entry per constraint, of which the first `stated` are shown; `nowhere` gives the size of a state.
    pub fn new(is_one_point: &[bool], stated: usize, nowhere: Phase) -> Constraints {
        Constraints {
            largest: Violated::default(),
            is_one_point: is_one_point.to_vec(),
            stated,
            end: vec![0.0; is_one_point.len()],
            beyond: nowhere,
        }
    }

    fn look_at(&mut self, z: &Phase, look: &mut Look) -> Solved<()> {
        let Violated { position, rate } = look.evaluator.violation(z)?;
        self.largest.position = larger(self.largest.position, position);
        self.largest.rate = larger(self.largest.rate, rate);
        Ok(())
    }

    /// Adds the impulses and the force of the constraints to the description of a state, in which walls may also be active.
    ///
    /// The impulse at a node is the sum of the impulse at the end of the step before and that at the start of the next step
    /// [TPC eq. 6a], so the flow computes one step ahead. Between nodes that sum is not defined; the impulse is then the force
    /// times the step.
    pub fn describe(&mut self, z: &Phase, holding: &[usize], h: f64, is_node: bool, look: &mut Look, node: &mut Node) {
        let forces = match look.looker.contact(holding) {
            Ok(Some(contact)) => contact.reaction(z),
            Ok(None) => look.evaluator.reaction(z),
            Err(e) => Err(e),
        };
        node.force.clear();
        node.lambda.clear();
        match &forces {
            Ok(forces) => node.force.extend_from_slice(forces.force),
            Err(_) => node.force.resize(z.q().len(), f64::NAN),
        }
        if !is_node {
            let mut multipliers = forces.iter().flat_map(|forces| forces.multipliers);
            let mut next =
                |known: &bool| if *known { multipliers.next().map_or(f64::NAN, |f| h * f) } else { f64::NAN };
            node.lambda.extend(self.is_one_point[..self.stated].iter().map(&mut next));
            return;
        }
        let ahead = look.looker.full(holding).and_then(|flow| flow.step(z, h, &mut self.beyond).map(|()| flow));
        match ahead.ok().and_then(|flow| flow.impulses()) {
            Some(impulses) => node.lambda.extend(self.end.iter().zip(&impulses.start).map(|(end, start)| end + start)),
            None => node.lambda.resize(self.end.len(), f64::NAN),
        }
        node.lambda.truncate(self.stated);
    }
}

impl Observer for Constraints {
    fn begin(&mut self, state: &State, _is_resumed: bool, look: &mut Look) -> Solved<()> {
        self.look_at(&state.z, look)
    }

    fn see(&mut self, log: &StepLog, look: &mut Look) -> Solved<()> {
        self.end.copy_from_slice(&log.impulses);
        self.look_at(&log.end.z, look)
    }
}
