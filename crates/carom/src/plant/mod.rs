//! Plants: compiled systems.
//!
//! A [`Plant`] is compiled once, immutable, and shared by all threads. Each thread has its own [`Evaluator`] with working
//! memory. Parameters are inputs of evaluators, flows and contacts, and are never compiled in. Parts that many runs never need
//! (contact modes, constraint forces, H̃) are compiled on first use.
//!
//! No module above this interface reads expressions. What needs L itself asks [`Plant::lagrangian`], which a plant may refuse.

mod bodies;
mod contact;
mod evaluator;
mod expression;
mod two_configurations;

use std::sync::Arc;

pub use bodies::Bodies;
pub use expression::Expressions;
pub(crate) use two_configurations::{FirstStep, aim, two_states};

use crate::error::{Diagnostic, Result};
use crate::flow::FlowKind;
use crate::kernel::Lanes;
use crate::lanes::LaneCode;
use crate::mechanics::{Field, FunctionsOfTime, Manifold, Mechanics, Node, Sources};
use crate::modified::{Formula, ModifiedHamiltonian};
use crate::phase::{Flow, MOMENTS, Moments, Phase};
use crate::slopes::Slopes;
use crate::solve::Solved;

/// A compiled system. It creates evaluators and one-step maps; their parameters are initially zero.
pub trait Plant: Send + Sync {
    /// Properties of the system that do not depend on numbers.
    fn facts(&self) -> &Facts;

    /// True if the bodies of the system are evaluated by recursive kernels.
    fn is_recursive(&self) -> bool {
        false
    }

    /// Creates an evaluator for one thread.
    fn evaluator(&self) -> Box<dyn Evaluator>;

    /// Creates the map Φ_h of a flow.
    fn flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>>;

    /// Creates the map Φ_h of a flow on one side of each kink. Its parameters are those of the system, then the sides.
    fn smooth_flow(&self, kind: &FlowKind) -> Result<Box<dyn Flow>>;

    /// Creates the contact mode in which these walls hold the motion, for a flow, with the sides of the kinks as further
    /// parameters.
    fn contact(&self, kind: &FlowKind, walls: &[usize]) -> Result<Box<dyn Contact>>;

    /// Creates the projection onto the one-point constraints, and the field of velocities tangent to them.
    fn onto_constraints(&self) -> Result<(Manifold, Field)>;

    /// Creates a modified Hamiltonian of a flow. Returns an error with the reason if there is none.
    fn modified(&self, which: &Modified) -> Result<Box<dyn ModifiedHamiltonian>>;

    /// The kernels of motions in lanes. Returns an error with the reason if there are none.
    fn lane_code(&self, _lanes: Lanes) -> Result<Arc<LaneCode>> {
        Err(Diagnostic::new("this plant has no kernels for lanes").into())
    }

    /// What the system computes from a state, with its slopes by (q, v, t, θ), where θ are the parameters with these numbers. Returns an
    /// error with the reason if there are none.
    fn slopes(&self, theta: &[usize]) -> Result<Arc<Slopes>>;

    /// The Lagrangian and the quantities derived from it, as expressions. Returns an error if the plant has none.
    fn lagrangian(&self) -> Result<&Mechanics>;

    /// The functions of time in the equations. Returns an error if the plant has no expressions.
    fn functions_of_time(&self) -> Result<&FunctionsOfTime>;
}

/// A shared plant.
pub type SharedPlant = Arc<dyn Plant>;

/// Selects a modified Hamiltonian.
pub enum Modified<'a> {
    /// A closed formula.
    Closed(Formula),
    /// The series of the discrete Lagrangian of a flow, truncated below h^order.
    Series(&'a FlowKind, usize),
}

/// Properties of a system that do not depend on numbers.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The number of free coordinates.
    pub n: usize,
    /// The number of parameters.
    pub parameters: usize,
    /// The number of walls.
    pub walls: usize,
    /// The number of kinks that are located. For evaluators their arguments follow the walls.
    pub kinks: usize,
    /// How many of these have arguments that contain velocities; they are the last.
    pub kinks_of_velocities: usize,
    /// True if there are kinks that are not located, other than ends of square roots.
    pub has_other_kinks: bool,
    /// For each constraint, true if it is enforced at nodes (one-point), false if it is enforced between nodes (two-point).
    pub is_one_point: Vec<bool>,
    /// How many of them the model states; the others belong to ball joints.
    pub stated: usize,
    /// True if L is quadratic in the velocities.
    pub is_quadratic: bool,
    /// True if there are driven coordinates, so that the energy differs from H of the free coordinates.
    pub is_driven: bool,
    /// What can change the energy.
    pub sources: Sources,
    /// True if a force is a function, whose derivatives are not known.
    pub has_function: bool,
}

impl Facts {
    /// A phase point at rest in the origin, at t = 0.
    pub fn nowhere(&self) -> Phase {
        Phase { t: 0.0, z: vec![0.0; 2 * self.n] }
    }
}

/// Computes numbers from a state, with working memory for one thread. Velocities, energies and gaps are cached for the last
/// state.
pub trait Evaluator: Send {
    /// Sets the parameter values.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Forgets the last states, which serve as initial guesses for implicit velocities.
    fn forget(&mut self);

    /// Forgets the last state before every evaluation from now on: what observers ask for first must not change what they are
    /// told later.
    fn remember_nothing(&mut self);

    /// The coefficient of restitution of every wall.
    fn restitution(&self) -> &[f64];

    /// The velocities v = H_p.
    fn velocity(&mut self, z: &Phase) -> Solved<&[f64]>;

    /// √(M⁻¹)ᵢᵢ of each coordinate at a state: how fast momentum i moves it. The constraints of the model are left out: what they hold
    /// fixed would have roundoff for its size.
    fn roots_of_inverse_mass(&mut self, z: &Phase) -> Vec<f64>;

    /// H of the free coordinates.
    fn hamiltonian(&mut self, z: &Phase) -> Solved<f64>;

    /// H and p·v, which is twice the kinetic energy if L is quadratic in v.
    fn hamiltonian_and_power(&mut self, z: &Phase) -> Solved<(f64, f64)>;

    /// The energy of the model: H, or T + V if there are driven coordinates.
    fn energy(&mut self, z: &Phase) -> Solved<f64>;

    /// Projects p onto the tangent space of the constraints.
    fn project(&mut self, z: &mut Phase) -> Solved<()>;

    /// Computes φ and φ̇ of every wall at both ends of a step, for [`Evaluator::ends`].
    fn look_at_ends(&mut self, z0: &Phase, z1: &Phase) -> Solved<()>;

    /// φ and φ̇ of a wall at the two ends of the step.
    fn ends(&self, wall: usize) -> [(f64, f64); 2];

    /// At least what [`Evaluator::size_of_gap`] is at the first of these ends, where a step of length h has moved the coordinates
    /// by hv; infinite if it is not known without a further evaluation.
    fn most_of_gap(&self, _wall: usize, _h: f64) -> f64 {
        f64::INFINITY
    }

    /// The moments inside the step.
    fn moments(&mut self) -> &mut Moments;

    /// Stores moment k of the step from z0: the state z, at time τ after z0.
    fn write_moment(&mut self, k: usize, z0: &Phase, tau: f64, z: &Phase) -> Solved<()>;

    /// φ at all moments, then φ̇ at all moments, of one wall.
    fn inside(&mut self, wall: usize) -> Solved<[f64; 2 * MOMENTS]>;

    /// φ and φ̇ of a wall at a state.
    fn gap_and_rate(&mut self, wall: usize, z: &Phase) -> Solved<(f64, f64)>;

    /// The sum of absolute terms in φ̇: |φ_t| + Σ|∂φ/∂qᵢ vᵢ|. The roundoff of φ̇ is proportional to it.
    fn size_of_rate(&mut self, wall: usize, z: &Phase) -> Solved<f64>;

    /// The sum of absolute terms in φ, and Σ|∂φ/∂qᵢ|(|qᵢ| + |Δqᵢ|) + |φ_t t|, where the last step moved the coordinates by Δq. The
    /// roundoff of φ is proportional to it.
    fn size_of_gap(&mut self, wall: usize, z: &Phase, moved: &[f64]) -> Solved<f64>;

    /// Returns φ_t of a wall and writes ∇φ into `gradient`.
    fn normal(&mut self, wall: usize, z: &Phase, gradient: &mut [f64]) -> f64;

    /// Writes φ̈ of these walls for the motion without wall forces; values at roundoff level become zero. Returns √(a·Ma) of
    /// the acceleration a.
    fn accelerations(&mut self, z: &Phase, walls: &[usize], into: &mut Vec<f64>) -> Solved<f64>;

    /// The largest |g| and the largest |dg/dt| over all constraints.
    fn violation(&mut self, z: &Phase) -> Solved<Violated>;

    /// The multipliers and the force of the constraints.
    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>>;

    /// The power of forces and the power of drives.
    fn power(&mut self, z: &Phase) -> Solved<Power>;

    /// The power of moving constraints while no wall holds the motion.
    fn power_of_constraints(&mut self, z: &Phase) -> Solved<f64>;

    /// The values of g of all sections.
    fn sections(&mut self, z: &Phase) -> Solved<&[f64]>;

    /// True if an output contains the normal force of a wall.
    fn wants_forces(&self) -> bool;

    /// Sets the normal forces of the walls that hold the motion, for the outputs of the next states.
    fn set_forces(&mut self, holding: &[usize], forces: &[f64]);

    /// Writes the state in all coordinates, with the outputs; NaN if the velocities cannot be computed.
    fn node(&mut self, z: &Phase, node: &mut Node);

    /// Converts a state in all coordinates to a phase point of the free coordinates.
    fn free_phase(&mut self, t: f64, q: &[f64], p: &[f64]) -> Phase;

    /// Selects the free coordinates from all coordinates.
    fn free_of(&self, q: &[f64]) -> Vec<f64>;
}

/// The violation of the constraints at a state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Violated {
    /// The largest |g|.
    pub position: f64,
    /// The largest |dg/dt|.
    pub rate: f64,
}

/// The power that enters the system, by origin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// F·v of forces and pushes.
    pub forces: f64,
    /// The power of driven coordinates, moving walls and an explicitly time-dependent L.
    pub drives: f64,
}

/// The action of the constraints at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Forces<'a> {
    /// The multiplier λ of each one-point constraint.
    pub multipliers: &'a [f64],
    /// The generalized force −Gᵀλ on the free coordinates.
    pub force: &'a [f64],
}

/// A contact mode: the motion while some walls hold it, in addition to the constraints of the model.
pub trait Contact: Send {
    /// Sets the parameter values.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Forgets the last state, from which an implicit velocity starts: the last bits of forces depend on it.
    fn forget(&mut self);

    /// The indices of the walls that hold the motion, in ascending order.
    fn walls(&self) -> &[usize];

    /// The one-step map along the walls.
    fn flow(&mut self) -> &mut Box<dyn Flow>;

    /// Projects q onto the walls and p onto their tangent space. Returns the work of moving walls and constraints.
    fn settle(&mut self, z: &mut Phase) -> Solved<f64>;

    /// The normal forces N of the walls.
    fn forces(&mut self, z: &Phase) -> Solved<&[f64]>;

    /// The normal forces N of the walls at moment k inside a step.
    fn forces_inside(&mut self, moments: &Moments, k: usize) -> Solved<&[f64]>;

    /// The power of moving walls, −N φ_t, and of moving constraints, λ·g_t.
    fn power(&mut self, z: &Phase) -> Solved<f64>;

    /// The force of the model's constraints, without that of the walls.
    fn reaction(&mut self, z: &Phase) -> Solved<Forces<'_>>;

    /// Clones this contact mode. The clone shares the compiled code.
    fn boxed_clone(&self) -> Box<dyn Contact>;
}

impl Clone for Box<dyn Contact> {
    fn clone(&self) -> Box<dyn Contact> {
        self.boxed_clone()
    }
}
