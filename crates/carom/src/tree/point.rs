//! Points on bodies, and the gradients of functions of their places.

use super::{Force, Pose, Tree, Vec3};

/// A point fixed to a body, or to the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPoint {
    /// The body; `None` for the ground.
    pub body: Option<usize>,
    /// The place in the frame of the body.
    pub at: Vec3,
}

impl BodyPoint {
    /// Its place in the world.
    #[inline(always)]
    pub fn place(&self, pose: &Pose) -> Vec3 {
        match self.body {
            Some(body) => pose.bodies[body].p + pose.bodies[body].rotation * self.at,
            None => self.at,
        }
    }

    /// Its velocity.
    #[inline(always)]
    pub fn velocity(&self, pose: &Pose) -> Vec3 {
        self.body.map_or(Vec3::ZERO, |body| pose.velocity_of(body, self.place(pose)))
    }
}

/// Adds the generalized force of a force at the place x of a body: S_iᵀ((x − p_i)×f ; f) for the body and its ancestors. If f is
/// the derivative of a function by x, this is its gradient by the freedoms.
pub fn pull(tree: &Tree, pose: &Pose, body: Option<usize>, x: Vec3, f: Vec3, into: &mut [f64]) {
    let mut next = body;
    while let Some(i) = next {
        let (link, placed) = (&tree.links[i], &pose.bodies[i]);
        let force = Force { n: (x - placed.p).cross(f), f };
        let projected = placed.project(link.body.joint, force).array();
        into[link.v..link.v + link.freedoms].iter_mut().zip(projected).for_each(|(sum, part)| *sum += part);
        next = link.body.parent;
    }
}
