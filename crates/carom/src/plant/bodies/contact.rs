//! Contact modes of a tree: walls that hold the motion are further constraints.

use std::sync::Arc;

use super::code::Code;
use super::instant::{Instant, dot};
use super::machine::{Machine, Rows};
use crate::phase::{Flow, MOMENTS, Moments, Phase};
use crate::plant::{Contact, Forces};
use crate::solve::Solved;

/// The contact mode of a set of walls.
#[derive(Clone)]
pub(super) struct Holding {
    machine: Machine,
    flow: Box<dyn Flow>,
    now: Instant,
    forces: Vec<f64>,
    reaction: Vec<f64>,
    /// q and q̇ at a moment.
    moment: [Vec<f64>; 2],
}

impl Holding {
    pub(super) fn new(code: &Arc<Code>, walls: &[usize], flow: Box<dyn Flow>) -> Holding {
        let (machine, n) = (Machine::new(code), code.facts.n);
        Holding {
            now: Instant::new(&machine, walls),
            flow,
            forces: vec![0.0; walls.len()],
            reaction: vec![0.0; n],
            moment: [vec![0.0; n], vec![0.0; n]],
            machine,
        }
    }

    fn react(&mut self, z: &Phase) -> Solved<()> {
        self.now.look(&self.machine, z)?;
        self.now.react(&self.machine, z.t, z.q());
        Ok(())
    }

    /// N = −λ of the walls.
    fn last_forces(&mut self) -> &[f64] {
        let first = self.machine.code.constraints.len();
        self.forces.iter_mut().zip(&self.now.lambda[first..]).for_each(|(force, lambda)| *force = -lambda);
        &self.forces
    }
}

impl Contact for Holding {
    fn set_parameters(&mut self, parameters: &[f64]) {
        self.machine.set_parameters(parameters);
        self.now.forget();
        self.flow.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.now.forget();
    }

    fn walls(&self) -> &[usize] {
        &self.now.walls
    }

    fn flow(&mut self) -> &mut Box<dyn Flow> {
        &mut self.flow
    }

    fn settle(&mut self, z: &mut Phase) -> Solved<f64> {
        let Holding { machine, now, .. } = self;
        let (q, p) = z.z.split_at_mut(machine.code.facts.n);
        machine.surround(z.t, &mut now.around, &mut now.memory);
        machine.tree.to_freedoms(q, p, 0.5, &mut now.p);
        now.forget();
        let mut rows = Rows { machine, walls: &now.walls, work: &mut now.memory.work };
        now.tangent.settle(&machine.tree, &now.around, &mut rows, q, z.t)?;
        now.tangent.project(&machine.tree, &mut now.p, &mut now.v);
        machine.tree.to_coordinates(q, &now.p, 2.0, p);
        Ok(dot(&now.tangent.nu, &now.tangent.g_t))
    }

    fn forces(&mut self, z: &Phase) -> Solved<&[f64]> {
        self.react(z)?;
        Ok(self.last_forces())
    }

    fn forces_inside(&mut self, moments: &Moments, k: usize) -> Solved<&[f64]> {
        let [q, q_dot] = &mut self.moment;
        let mut lanes = moments.lanes.chunks(MOMENTS).map(|lanes| lanes[k]);
        let t = lanes.next().unwrap_or(f64::NAN);
        q.iter_mut().chain(&mut *q_dot).zip(lanes).for_each(|(x, lane)| *x = lane);
        self.now.look_at(&self.machine, t, q, q_dot)?;
        self.now.react(&self.machine, t, q);
        Ok(self.last_forces())
    }

    fn power(&mut self, z: &Phase) -> Solved<f64> {
        self.react(z)?;
        Ok(self.now.power_of_rows())
    }

    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>> {
        self.react(z)?;
        self.now.write_reaction(&self.machine, z.q(), &mut self.reaction);
        Ok(Forces { multipliers: &self.now.lambda, force: &self.reaction })
    }

    fn boxed_clone(&self) -> Box<dyn Contact> {
        Box::new(self.clone())
    }
}
