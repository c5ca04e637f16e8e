//! Plants: a system as numbers.
//!
//! A [`Plant`] is compiled once, immutable, and shared by all threads. Each thread has an [`Evaluator`] of its own, with its
//! working memory; parameters are numbers that an evaluator, a flow or a contact is given, and are never compiled in. What a
//! run may never need (contacts that hold, forces of constraints, H̃) is compiled when it is first asked for.
//!
//! Nothing above this seam reads an expression. What needs L itself asks for [`Plant::lagrangian`], which a plant may refuse.

mod contact;
mod evaluator;
mod expression;

use std::sync::Arc;

pub use expression::Expressions;

use crate::error::Result;
use crate::flow::FlowKind;
use crate::mechanics::{Field, Manifold, Mechanics, Node, Sources};
use crate::modified::{Formula, ModifiedHamiltonian};
use crate::phase::{Flow, MOMENTS, Moments, Phase};
use crate::solve::Solved;

/// A compiled system: what makes evaluators and one-step maps. All of them begin with parameters that are zero.
pub trait Plant: Send + Sync {
    /// What is known of the system without numbers.
    fn facts(&self) -> &Facts;

    /// Working memory for one thread.
    fn evaluator(&self) -> Box<dyn Evaluator>;

    /// The map Φ_h of a flow.
    fn flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>>;

    /// The motion while these walls hold, by a flow.
    fn contact(&self, kind: &FlowKind, walls: &[usize]) -> Result<Box<dyn Contact>>;

    /// The way onto the constraints that hold at nodes, and the velocities along them.
    fn onto_constraints(&self) -> Result<(Manifold, Field)>;

    /// A modified Hamiltonian of a flow, or why there is none.
    fn modified(&self, which: &Modified) -> Result<Box<dyn ModifiedHamiltonian>>;

    /// The Lagrangian and all that follows from it, as expressions; an error where the plant has none.
    fn lagrangian(&self) -> Result<&Mechanics>;
}

/// A plant that several owners share.
pub type SharedPlant = Arc<dyn Plant>;

/// Which modified Hamiltonian.
pub enum Modified<'a> {
    /// By a closed formula.
    Closed(Formula),
    /// By the series of the discrete Lagrangian of a flow, cut below h^order.
    Series(&'a FlowKind, usize),
}

/// What is known of a system without numbers.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The number of free coordinates.
    pub n: usize,
    /// The number of parameters.
    pub parameters: usize,
    /// The number of walls.
    pub walls: usize,
    /// For each constraint, whether it holds at nodes (one-point) or over steps (two-point).
    pub is_one_point: Vec<bool>,
    /// L is quadratic in the velocities.
    pub is_quadratic: bool,
    /// Coordinates are driven: the energy is not H of the free ones.
    pub is_driven: bool,
    /// What can change the energy.
    pub sources: Sources,
}

impl Facts {
    /// A phase point at rest in the origin, at t = 0.
    pub fn nowhere(&self) -> Phase {
        Phase { t: 0.0, z: vec![0.0; 2 * self.n] }
    }
}

/// Everything that turns a state into numbers, with the working memory of one thread. At the same state again, velocities,
/// energies and gaps cost nothing.
pub trait Evaluator: Send {
    /// Takes other values of the parameters.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Forgets the last states, from which implicit velocities are searched.
    fn forget(&mut self);

    /// e of every wall.
    fn restitution(&self) -> &[f64];

    /// The velocities v = H_p.
    fn velocity(&mut self, z: &Phase) -> Solved<&[f64]>;

    /// H of the free coordinates.
    fn hamiltonian(&mut self, z: &Phase) -> Solved<f64>;

    /// H and p·v, which is twice the kinetic energy where L is quadratic in v.
    fn hamiltonian_and_power(&mut self, z: &Phase) -> Solved<(f64, f64)>;

    /// The energy of the model: H, or T + V where coordinates are driven.
    fn energy(&mut self, z: &Phase) -> Solved<f64>;

    /// Moves p onto the tangent space of the constraints.
    fn project(&mut self, z: &mut Phase) -> Solved<()>;

    /// Computes φ and φ̇ of every wall at both ends of a step, for [`Evaluator::ends`].
    fn look_at_ends(&mut self, z0: &Phase, z1: &Phase) -> Solved<()>;

    /// φ and φ̇ of a wall at the two ends of the step.
    fn ends(&self, wall: usize) -> [(f64, f64); 2];

    /// The moments inside the step.
    fn moments(&mut self) -> &mut Moments;

    /// Writes moment k of the step from z0: the state z, τ later.
    fn write_moment(&mut self, k: usize, z0: &Phase, tau: f64, z: &Phase) -> Solved<()>;

    /// φ, then φ̇, of a wall at the moments.
    fn inside(&mut self, wall: usize) -> Solved<[f64; 2 * MOMENTS]>;

    /// φ and φ̇ of a wall.
    fn gap_and_rate(&mut self, wall: usize, z: &Phase) -> Solved<(f64, f64)>;

    /// The size of what adds up to φ̇: |φ_t| + Σ|∂φ/∂qᵢ vᵢ|. The roundoff of φ̇ is a part of it.
    fn size_of_rate(&mut self, wall: usize, z: &Phase) -> Solved<f64>;

    /// The size of what adds up to φ: the sum of its absolute terms, and Σ|∂φ/∂qᵢ|(|qᵢ| + |Δqᵢ|) + |φ_t t|, where the last step
    /// moved the coordinates by Δq. The roundoff of φ is a part of it.
    fn size_of_gap(&mut self, wall: usize, z: &Phase, moved: &[f64]) -> Solved<f64>;

    /// φ_t of a wall, and ∇φ into `gradient`.
    fn normal(&mut self, wall: usize, z: &Phase, gradient: &mut [f64]) -> f64;

    /// Writes φ̈ of these walls where no wall pushes, zero where it is roundoff. Returns √(a·Ma) of the acceleration a.
    fn accelerations(&mut self, z: &Phase, walls: &[usize], into: &mut Vec<f64>) -> Solved<f64>;

    /// The largest |g| and |dg/dt| of a constraint.
    fn violation(&mut self, z: &Phase) -> Solved<Violated>;

    /// The force of the constraints.
    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>>;

    /// The power of forces, and that of drives.
    fn power(&mut self, z: &Phase) -> Solved<Power>;

    /// The power of constraints that move, where no wall holds.
    fn power_of_constraints(&mut self, z: &Phase) -> Solved<f64>;

    /// The values of g of all sections.
    fn sections(&mut self, z: &Phase) -> Solved<&[f64]>;

    /// Writes the state in all coordinates, with the outputs; NaN where there are no velocities.
    fn node(&mut self, z: &Phase, node: &mut Node);

    /// The phase point of a state in all coordinates.
    fn free_phase(&mut self, t: f64, q: &[f64], p: &[f64]) -> Phase;

    /// The free ones of all coordinates.
    fn free_of(&self, q: &[f64]) -> Vec<f64>;
}

/// How far a state is off the constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Violated {
    /// The largest |g|.
    pub position: f64,
    /// The largest |dg/dt|.
    pub rate: f64,
}

/// Powers, by where they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// F·v of forces and pushes.
    pub forces: f64,
    /// Of what moves by itself.
    pub drives: f64,
}

/// What constraints do at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Forces<'a> {
    /// The multiplier λ of each constraint that holds at nodes.
    pub multipliers: &'a [f64],
    /// The generalized force −Gᵀλ on the free coordinates.
    pub force: &'a [f64],
}

/// The motion while some walls hold it, together with the constraints of the model.
pub trait Contact: Send {
    /// Takes other values of the parameters.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Forgets the last states.
    fn forget(&mut self);

    /// The numbers of the walls that hold, in rising order.
    fn walls(&self) -> &[usize];

    /// The map of a step along the walls.
    fn flow(&mut self) -> &mut Box<dyn Flow>;

    /// Moves a state onto the walls, and its momenta along them. Returns the work of walls and constraints that move.
    fn settle(&mut self, z: &mut Phase) -> Solved<f64>;

    /// The forces N of the walls.
    fn forces(&mut self, z: &Phase) -> Solved<&[f64]>;

    /// The forces N of the walls at moment k inside a step.
    fn forces_inside(&mut self, moments: &Moments, k: usize) -> Solved<&[f64]>;

    /// The power of the walls, −N φ_t, and of the constraints, λ·g_t, which they have where they move.
    fn power(&mut self, z: &Phase) -> Solved<f64>;

    /// The force of the constraints of the model beside that of the walls.
    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>>;

    /// A copy of its own, which shares the compiled code.
    fn boxed_clone(&self) -> Box<dyn Contact>;
}

impl Clone for Box<dyn Contact> {
    fn clone(&self) -> Box<dyn Contact> {
        self.boxed_clone()
    }
}
