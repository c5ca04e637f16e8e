//! Variational steps of a tree: two discrete Lagrangians, each in space and in the plane, and Newton's method for all.

mod ball;
mod elimination;
mod midpoint;
mod narrow;
mod planar;
mod planar_rattle;
mod plane;
mod progress;
mod rattle;
mod solver;

pub use midpoint::MidpointStep;
pub use planar::Planar;
pub use planar_rattle::PlanarRattle;
pub(super) use progress::{Memory, Progress, Verdict};
pub use rattle::Rattle;
pub use solver::Solver;

use crate::solve::Solved;
use crate::tree::{Pose, Quaternion, Surroundings, Tree, Vec3};

/// A step: its start, its length, and its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Over<'a> {
    /// The coordinates at the start.
    pub q: &'a [f64],
    /// The momentum of each freedom at the start.
    pub p: &'a [f64],
    /// The length of the step.
    pub h: f64,
    /// The time of the start.
    pub t: f64,
    /// The surroundings at the start, the middle and the end.
    pub around: [&'a Surroundings; 3],
}

/// A pose at which forces act.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The pose.
    pub pose: &'a Pose,
    /// Its surroundings.
    pub around: &'a Surroundings,
    /// Its time.
    pub t: f64,
    /// Its coordinates.
    pub q: &'a [f64],
    /// The rates of the freedoms.
    pub v: &'a [f64],
}

/// A force of the user: adds its generalized force.
pub type Load<'a> = dyn FnMut(At, &mut [f64]) + 'a;

/// The discrete Euler–Lagrange equations r(u) = p0 + D₁L_d + f⁻ = 0 of a step that moves by u, three numbers for a ball joint.
pub trait Equations {
    /// Takes the constants of the bodies, which have changed.
    fn set_constants(&mut self, _tree: &Tree) {}

    /// Tells whether forces of the user act. They do unless it is told.
    fn set_loaded(&mut self, _is_loaded: bool) {}

    /// Writes the residual r.
    fn residual(&mut self, tree: &Tree, over: Over, load: &mut Load, u: &[f64], r: &mut [f64]);

    /// Factors J = ∂r/∂u at the u of the last residual. Forces of the user are not part of it.
    fn factor(&mut self, tree: &Tree, over: Over, u: &[f64]) -> Solved<()>;

    /// x ← J⁻¹x.
    fn apply_inverse(&mut self, tree: &Tree, x: &mut [f64]);

    /// Writes p1 = D₂L_d + f⁺ at the u of the last residual, plus the part `r` of the residual, taken to the axes of the end.
    fn momenta(&self, tree: &Tree, h: f64, u: &[f64], r: &[f64], p1: &mut [f64]);

    /// L_d and −D₃L_d at the u of the last residual, for surroundings that do not change.
    fn discrete(&self, tree: &Tree, over: Over) -> (f64, f64);
}

/// Writes q1 = q0 + u. A ball turns by C(u/4)², where C is the Cayley map.
pub fn move_by(tree: &Tree, q0: &[f64], u: &[f64], q1: &mut [f64]) {
    if tree.has_no_balls() {
        return q1.iter_mut().zip(q0).zip(u).for_each(|((q1, q0), u)| *q1 = q0 + u);
    }
    for link in &tree.links {
        match link.freedoms {
            0 => {}
            1 => q1[link.q] = q0[link.q] + u[link.v],
            _ => {
                let whole = Quaternion::cayley(Vec3::read(&u[link.v..]) * 0.25)[0];
                let end = (Quaternion::read(&q0[link.q..]) * whole).normalised();
                q1[link.q..link.q + 4].copy_from_slice(&end.array());
            }
        }
    }
}
