//! Contact modes: walls that hold the motion, treated as constraints.

use std::sync::Arc;

use super::{Contact, Forces};
use crate::flow::{FlowKind, HeldCode};
use crate::mechanics::{Active, Field};
use crate::phase::{Flow, MOMENTS, Moments, Phase};
use crate::solve::Solved;

/// A contact mode: a set of walls treated as additional constraints after those of the model. Its equations are assembled from
/// kernels that the plant compiles once for all sets of walls.
#[derive(Clone)]
pub(super) struct Holding {
    walls: Vec<usize>,
    flow: Box<dyn Flow>,
    /// v on the tangent space of constraints and walls.
    field: Field,
    active: Active,
    forces: Vec<f64>,
    /// t, q and v at a moment inside a step.
    moment: Vec<f64>,
}

impl Holding {
    pub(super) fn new(code: &Arc<HeldCode>, kind: &FlowKind, walls: &[usize], parameters: &[f64]) -> Holding {
        Holding {
            walls: walls.to_vec(),
            flow: kind.held(code, walls, parameters),
            field: Field::held(code.local(), walls, parameters),
            active: Active::new(code.local(), walls, parameters),
            forces: vec![0.0; walls.len()],
            moment: vec![0.0; 1 + 2 * code.local().n],
        }
    }

    fn react(&mut self, z: &Phase) -> Solved<()> {
        let v = self.field.velocity(z.t, &z.z)?;
        self.active.react(z.t, z.q(), v)
    }

    /// The wall forces at the last state.
    fn last_forces(&mut self) -> &[f64] {
        self.forces.iter_mut().zip(self.active.forces()).for_each(|(force, n)| *force = n);
        &self.forces
    }
}

impl Contact for Holding {
    fn set_parameters(&mut self, parameters: &[f64]) {
        self.flow.set_parameters(parameters);
        self.field.set_parameters(parameters);
        self.active.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.field.forget();
        self.active.forget();
    }

    fn walls(&self) -> &[usize] {
        &self.walls
    }

    fn flow(&mut self) -> &mut Box<dyn Flow> {
        &mut self.flow
    }

    fn settle(&mut self, z: &mut Phase) -> Solved<f64> {
        self.active.project(z, &mut self.field)?;
        let impulses = self.field.multipliers().to_vec();
        self.react(z)?;
        Ok(impulses.iter().zip(self.active.rates()).map(|(mu, rate)| mu * rate).sum())
    }

    fn forces(&mut self, z: &Phase) -> Solved<&[f64]> {
        self.react(z)?;
        Ok(self.last_forces())
    }

    fn forces_inside(&mut self, moments: &Moments, k: usize) -> Solved<&[f64]> {
        self.moment.iter_mut().zip(moments.lanes.chunks(MOMENTS)).for_each(|(x, lanes)| *x = lanes[k]);
        let (q, v) = self.moment[1..].split_at(self.moment.len() / 2);
        self.active.react(self.moment[0], q, v)?;
        Ok(self.last_forces())
    }

    fn power(&mut self, z: &Phase) -> Solved<f64> {
        self.react(z)?;
        Ok(self.active.power())
    }

    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>> {
        self.react(z)?;
        Ok(Forces { multipliers: self.active.multipliers(), force: self.active.force() })
    }

    fn boxed_clone(&self) -> Box<dyn Contact> {
        Box::new(self.clone())
    }
}
