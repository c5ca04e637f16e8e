//! Walls that hold the motion as constraints do.

use super::expression::Compiled;
use super::{Contact, Forces};
use crate::error::Result;
use crate::expr::Expr;
use crate::flow::FlowKind;
use crate::mechanics::{Field, Holonomic, Manifold, Reaction};
use crate::phase::{Flow, Phase};
use crate::solve::Solved;
use crate::system::Enforce;

/// A contact whose equations are compiled with its walls as constraints, after those of the model.
#[derive(Clone)]
pub(super) struct Compound {
    walls: Vec<usize>,
    flow: Box<dyn Flow>,
    /// v on the tangent space of constraints and walls.
    field: Field,
    manifold: Manifold,
    reaction: Reaction,
    /// How many multipliers are those of the constraints.
    constraints: usize,
    forces: Vec<f64>,
}

impl Compound {
    pub(super) fn new(code: &Compiled, kind: &FlowKind, walls: &[usize]) -> Result<Compound> {
        let (mut mechanics, parameters) = (code.mechanics.clone(), vec![0.0; code.mechanics.parameters.len()]);
        let others = mechanics.tangent_constraints();
        let gaps: Vec<Expr> = walls.iter().map(|&wall| mechanics.walls[wall]).collect();
        mechanics.constraints.extend(gaps.iter().map(|&g| Holonomic { g, enforce: Enforce::OnePoint }));
        Ok(Compound {
            walls: walls.to_vec(),
            flow: kind.build(&mechanics, &parameters)?,
            field: Field::new(&mechanics, &parameters)?,
            manifold: Manifold::new(&mechanics, &parameters)?,
            reaction: Reaction::with_walls(&mechanics, &others, &gaps, &parameters)?,
            constraints: others.len(),
            forces: vec![0.0; walls.len()],
        })
    }

    fn react(&mut self, z: &Phase) -> Solved<()> {
        let v = self.field.velocity(z.t, &z.z)?;
        self.reaction.at(z.t, z.q(), v)
    }
}

impl Contact for Compound {
    fn set_parameters(&mut self, parameters: &[f64]) {
        self.flow.set_parameters(parameters);
        self.field.set_parameters(parameters);
        self.manifold.set_parameters(parameters);
        self.reaction.set_parameters(parameters);
    }

    fn forget(&mut self) {
        self.flow.forget();
        self.field.forget();
    }

    fn walls(&self) -> &[usize] {
        &self.walls
    }

    fn flow(&mut self) -> &mut Box<dyn Flow> {
        &mut self.flow
    }

    fn settle(&mut self, z: &mut Phase) -> Solved<f64> {
        self.manifold.project(z, &mut self.field)?;
        let impulses = self.field.multipliers().to_vec();
        self.react(z)?;
        Ok(impulses.iter().zip(self.reaction.rates()).map(|(mu, rate)| mu * rate).sum())
    }

    fn forces(&mut self, z: &Phase) -> Solved<&[f64]> {
        self.react(z)?;
        let multipliers = &self.reaction.multipliers()[self.constraints..];
        self.forces.iter_mut().zip(multipliers).for_each(|(force, lambda)| *force = -lambda);
        Ok(&self.forces)
    }

    fn power(&mut self, z: &Phase) -> Solved<f64> {
        self.react(z)?;
        Ok(self.reaction.power())
    }

    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>> {
        self.react(z)?;
        Ok(Forces { multipliers: self.reaction.multipliers(), force: self.reaction.force() })
    }

    fn boxed_clone(&self) -> Box<dyn Contact> {
        Box::new(self.clone())
    }
}
