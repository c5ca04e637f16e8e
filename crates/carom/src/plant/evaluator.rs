//! Evaluation of compiled expressions.

use std::sync::Arc;

use super::expression::Compiled;
use super::{Evaluator, Forces, Power, Violated};
use crate::limits::SLOW;
use crate::mechanics::{
    Active, Field, Function, Inputs, Lift, Node, Reaction, Violation, Walls, roots_of_inverse_mass,
};
use crate::phase::{MOMENTS, Moments, Phase};
use crate::solve::{NoSolution, Solved};

/// A change of a velocity below this, relative to the velocity, has too few digits: a larger change of the momentum is tried, so often.
const CLEAR_CHANGE: f64 = 1e-6;
const LARGER_CHANGES: usize = 4;

/// The evaluator of [`super::Expressions`].
pub(super) struct Evaluate {
    code: Arc<Compiled>,
    parameters: Vec<f64>,
    field: Field,
    walls: Walls,
    lift: Lift,
    inputs: Inputs,
    restitution: Vec<f64>,
    /// Copies of the parts that the plant compiles on first use.
    violation: Option<Violation>,
    reaction: Option<Reaction>,
    /// The acceleration without wall forces.
    free: Option<Active>,
    /// A force that is a function.
    function: Option<Function>,
}

impl Evaluate {
    pub(super) fn new(code: &Arc<Compiled>) -> Evaluate {
        let parameters = vec![0.0; code.mechanics.parameters.len()];
        let mut restitution = vec![0.0; code.facts.walls];
        code.restitution.eval(&parameters, &mut restitution);
        Evaluate {
            restitution,
            field: code.field.clone(),
            walls: code.walls.clone(),
            lift: code.lift.clone(),
            inputs: Inputs::new(&parameters, code.mechanics.n()),
            violation: None,
            reaction: None,
            free: None,
            function: code.mechanics.function.as_ref().map(|law| Function::new(law, code.facts.n)),
            parameters,
            code: code.clone(),
        }
    }

    /// Solves for the acceleration without wall forces.
    fn react(&mut self, z: &Phase) -> Solved<&mut Active> {
        if self.free.is_none() {
            let code = self.code.local().map_err(|_| NoSolution::Singular)?;
            self.free = Some(Active::new(code, &[], &self.parameters));
        }
        let free = self.free.as_mut().ok_or(NoSolution::Singular)?;
        free.react(z.t, z.q(), self.field.velocity(z.t, &z.z)?)?;
        Ok(free)
    }

    /// √(M⁻¹)ᵢᵢ of each coordinate, from the velocities with another momentum.
    fn roots_by_momenta(&mut self, z: &Phase) -> Vec<f64> {
        let n = z.q().len();
        let before = self.velocity(z).map(<[f64]>::to_vec).unwrap_or(vec![0.0; n]);
        let mut moved = z.clone();
        let root = |i: usize| {
            let mut change = Some(z.p()[i].abs()).filter(|p| *p > 0.0).unwrap_or(1.0);
            for _ in 0..LARGER_CHANGES {
                moved.copy_from(z);
                moved.p_mut()[i] += change;
                let answer = self.velocity(&moved).map_or(0.0, |v| v[i] - before[i]);
                if answer.abs() >= CLEAR_CHANGE * before[i].abs() {
                    return (answer / change).max(0.0).sqrt();
                }
                change /= CLEAR_CHANGE;
            }
            0.0
        };
        (0..n).map(root).collect()
    }

    /// √(M⁻¹)ᵢᵢ of each coordinate without the constraints of the model; none if M is singular without them.
    fn roots_without_constraints(&mut self, z: &Phase) -> Option<Vec<f64>> {
        let Evaluate { code, parameters, field, .. } = self;
        let v = field.velocity(z.t, &z.z).ok()?;
        roots_of_inverse_mass(code.local().ok()?, code.facts.stated, parameters, (z.t, z.q(), v))
    }

    /// Returns this evaluator's copy of the reaction, which the plant compiles on first use. Fails as unsolvable if it does not
    /// compile.
    fn copy_reaction(&mut self) -> Solved<&mut Reaction> {
        if self.reaction.is_none() {
            let mut copy = self.code.reaction().map_err(|_| NoSolution::Singular)?.clone();
            copy.set_parameters(&self.parameters);
            self.reaction = Some(copy);
        }
        self.reaction.as_mut().ok_or(NoSolution::Singular)
    }
}

impl Evaluator for Evaluate {
    fn set_parameters(&mut self, parameters: &[f64]) {
        if self.parameters == parameters {
            return;
        }
        self.parameters.copy_from_slice(parameters);
        self.field.set_parameters(parameters);
        self.walls.set_parameters(parameters);
        self.lift.set_parameters(parameters);
        self.code.restitution.eval(parameters, &mut self.restitution);
        self.inputs.set_parameters(parameters);
        self.violation.iter_mut().for_each(|violation| violation.set_parameters(parameters));
        self.reaction.iter_mut().for_each(|reaction| reaction.set_parameters(parameters));
        self.free.iter_mut().for_each(|free| free.set_parameters(parameters));
    }

    fn forget(&mut self) {
        self.field.forget();
        self.walls.forget();
    }

    fn remember_nothing(&mut self) {
        self.field.remember_nothing();
    }

    fn restitution(&self) -> &[f64] {
        &self.restitution
    }

    fn velocity(&mut self, z: &Phase) -> Solved<&[f64]> {
        self.field.velocity(z.t, &z.z)
    }

    fn roots_of_inverse_mass(&mut self, z: &Phase) -> Vec<f64> {
        let is_held = self.code.facts.stated > 0;
        let free = if is_held { self.roots_without_constraints(z) } else { None };
        free.unwrap_or_else(|| self.roots_by_momenta(z))
    }

    fn hamiltonian(&mut self, z: &Phase) -> Solved<f64> {
        self.field.energy(z.t, &z.z)
    }

    fn hamiltonian_and_power(&mut self, z: &Phase) -> Solved<(f64, f64)> {
        let (v, hamiltonian) = self.field.motion(z.t, &z.z)?;
        Ok((hamiltonian, z.p().iter().zip(v).map(|(p, v)| p * v).sum()))
    }

    fn energy(&mut self, z: &Phase) -> Solved<f64> {
        if !self.lift.has_energy() {
            return self.hamiltonian(z);
        }
        let v = self.field.velocity(z.t, &z.z)?;
        Ok(self.lift.energy(z.t, z.q(), v).unwrap_or(f64::NAN))
    }

    fn project(&mut self, z: &mut Phase) -> Solved<()> {
        self.field.project(z)
    }

    fn look_at_ends(&mut self, z0: &Phase, z1: &Phase) -> Solved<()> {
        self.walls.look_at_ends(z0, z1, &mut self.field)
    }

    fn ends(&self, wall: usize) -> [(f64, f64); 2] {
        self.walls.ends(wall)
    }

    fn most_of_gap(&self, wall: usize, h: f64) -> f64 {
        self.walls.most_of_gap(wall, h)
    }

    fn moments(&mut self) -> &mut Moments {
        &mut self.walls.moments
    }

    fn write_moment(&mut self, k: usize, z0: &Phase, tau: f64, z: &Phase) -> Solved<()> {
        let v = self.field.velocity(z.t, &z.z)?;
        self.walls.moments.set(k, z0, tau, z.q().iter().chain(v));
        Ok(())
    }

    fn inside(&mut self, wall: usize) -> Solved<[f64; 2 * MOMENTS]> {
        self.walls.inside(wall)
    }

    fn gap_and_rate(&mut self, wall: usize, z: &Phase) -> Solved<(f64, f64)> {
        self.walls.gap_and_rate(wall, z, &mut self.field)
    }

    fn size_of_rate(&mut self, wall: usize, z: &Phase) -> Solved<f64> {
        self.walls.size_of_rate(wall, z, &mut self.field)
    }

    fn size_of_gap(&mut self, wall: usize, z: &Phase, moved: &[f64]) -> Solved<f64> {
        self.walls.size_of_gap(wall, z, moved, &mut self.field)
    }

    fn normal(&mut self, wall: usize, z: &Phase, gradient: &mut [f64]) -> f64 {
        self.walls.normal(wall, z, gradient)
    }

    fn accelerations(&mut self, z: &Phase, walls: &[usize], into: &mut Vec<f64>) -> Solved<f64> {
        let free = self.react(z)?;
        into.clear();
        into.extend(walls.iter().map(|&wall| {
            let (acceleration, size) = free.acceleration_of(wall);
            if acceleration.abs() <= SLOW * size { 0.0 } else { acceleration }
        }));
        Ok(free.size_of_acceleration())
    }

    fn violation(&mut self, z: &Phase) -> Solved<Violated> {
        if self.violation.is_none() {
            let mut copy = self.code.violation().map_err(|_| NoSolution::Singular)?.clone();
            copy.set_parameters(&self.parameters);
            self.violation = Some(copy);
        }
        let v = self.field.velocity(z.t, &z.z)?;
        let violation = self.violation.as_mut().ok_or(NoSolution::Singular)?;
        let [position, rate] = violation.at(z.t, z.q(), v);
        Ok(Violated { position, rate })
    }

    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>> {
        if self.function.is_some() {
            let free = self.react(z)?;
            return Ok(Forces { multipliers: free.multipliers(), force: free.force() });
        }
        self.copy_reaction()?;
        let v = self.field.velocity(z.t, &z.z)?;
        let reaction = self.reaction.as_mut().ok_or(NoSolution::Singular)?;
        reaction.at(z.t, z.q(), v)?;
        Ok(Forces { multipliers: reaction.multipliers(), force: reaction.force() })
    }

    fn power(&mut self, z: &Phase) -> Solved<Power> {
        let kernel = self.code.power().map_err(|_| NoSolution::Singular)?;
        let v = self.field.velocity(z.t, &z.z)?;
        self.inputs.place(z.t, z.q(), v);
        let mut values = [0.0; 2];
        kernel.eval(self.inputs.all(), &mut values);
        let [mut forces, drives] = values;
        if let Some(function) = &mut self.function {
            let (t, q, v) = self.inputs.state();
            forces += function.at(t, q, v).iter().zip(v).map(|(force, v)| force * v).sum::<f64>();
        }
        Ok(Power { forces, drives })
    }

    fn power_of_constraints(&mut self, z: &Phase) -> Solved<f64> {
        if !self.code.facts.sources.constraints {
            return Ok(0.0);
        }
        if self.function.is_some() {
            return Ok(self.react(z)?.power());
        }
        self.copy_reaction()?;
        let v = self.field.velocity(z.t, &z.z)?;
        let reaction = self.reaction.as_mut().ok_or(NoSolution::Singular)?;
        reaction.at(z.t, z.q(), v)?;
        Ok(reaction.power())
    }

    fn sections(&mut self, z: &Phase) -> Solved<&[f64]> {
        let v = self.field.velocity(z.t, &z.z)?;
        Ok(self.lift.sections(z.t, z.q(), v))
    }

    fn wants_forces(&self) -> bool {
        self.lift.wants_forces()
    }

    fn set_forces(&mut self, holding: &[usize], forces: &[f64]) {
        self.lift.set_forces(holding, forces);
    }

    fn node(&mut self, z: &Phase, node: &mut Node) {
        let v = self.field.velocity(z.t, &z.z).ok();
        self.lift.node(z.t, z.q(), v, node);
    }

    fn free_phase(&mut self, t: f64, q: &[f64], p: &[f64]) -> Phase {
        self.lift.free_phase(t, q, p)
    }

    fn free_of(&self, q: &[f64]) -> Vec<f64> {
        self.lift.free_of(q)
    }
}
