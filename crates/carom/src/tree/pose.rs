//! Places and velocities of all bodies.

use super::{Force, Joint, Mat3, Motion, Quaternion, Surroundings, Tree, Vec3};

/// A body in its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placed {
    /// R: its orientation.
    pub rotation: Mat3,
    /// p: the origin of its joint.
    pub p: Vec3,
    /// p − p_λ.
    pub r: Vec3,
    /// The axis of a joint with one freedom.
    pub axis: Vec3,
    /// d: the centre of mass from p.
    pub d: Vec3,
    /// V_λ taken to p.
    pub carried: Motion,
    /// V.
    pub velocity: Motion,
    /// Π = I V.
    pub momentum: Force,
}

impl Placed {
    /// Column k of S, for a freedom of a joint.
    #[inline(always)]
    pub fn s(&self, joint: Joint, k: usize) -> Motion {
        match joint {
            Joint::Revolute(_) => Motion { w: self.axis, v: Vec3::ZERO },
            Joint::Prismatic(_) => Motion { w: Vec3::ZERO, v: self.axis },
            Joint::Ball => Motion { w: self.rotation.columns()[k], v: Vec3::ZERO },
        }
    }

    /// SᵀF of a joint with one freedom, or three values for a ball, in body axes.
    #[inline(always)]
    pub fn project(&self, joint: Joint, force: Force) -> Vec3 {
        match joint {
            Joint::Revolute(_) => Vec3(self.axis.dot(force.n), 0.0, 0.0),
            Joint::Prismatic(_) => Vec3(self.axis.dot(force.f), 0.0, 0.0),
            Joint::Ball => self.rotation.tr_mul(force.n),
        }
    }

    /// S x, with x in the first entry for one freedom.
    #[inline(always)]
    pub fn motion(&self, joint: Joint, x: Vec3) -> Motion {
        match joint {
            Joint::Revolute(_) => Motion { w: self.axis * x.0, v: Vec3::ZERO },
            Joint::Prismatic(_) => Motion { w: Vec3::ZERO, v: self.axis * x.0 },
            Joint::Ball => Motion { w: self.rotation * x, v: Vec3::ZERO },
        }
    }
}

/// The places and velocities of all bodies of a tree.
#[derive(Clone, Debug)]
pub struct Pose {
    /// One entry for each body.
    pub bodies: Vec<Placed>,
}

impl Pose {
    /// Memory for a tree.
    pub fn new(tree: &Tree) -> Pose {
        Pose { bodies: vec![Placed::default(); tree.links.len()] }
    }

    /// Places the bodies at q with the rates v, from the roots to the leaves.
    pub fn place(&mut self, tree: &Tree, around: &Surroundings, q: &[f64], v: &[f64]) {
        for (i, link) in tree.links.iter().enumerate() {
            let body = &link.body;
            let (rotation, p, velocity) = match body.parent {
                Some(parent) => {
                    let parent = &self.bodies[parent];
                    (parent.rotation, parent.p, parent.velocity)
                }
                None => (Mat3::ONE, Vec3::ZERO, Motion::default()),
            };
            let (x, rate) = match link.freedoms {
                0 => (around.drives[link.q].q, Vec3(around.drives[link.q].v, 0.0, 0.0)),
                1 => (q[link.q], Vec3(v[link.v], 0.0, 0.0)),
                _ => (0.0, Vec3::read(&v[link.v..])),
            };
            let mut r = rotation * body.at;
            let mut axis = Vec3::ZERO;
            let rotation = match body.joint {
                Joint::Revolute(about) => {
                    let [constant, cosine, sine] = &link.turned;
                    let (sin, cos) = x.sin_cos();
                    let rotation = rotation * (*constant + *cosine * cos + *sine * sin);
                    axis = rotation * about;
                    rotation
                }
                Joint::Prismatic(along) => {
                    let rotation = rotation * body.turn;
                    axis = rotation * along;
                    r += axis * x;
                    rotation
                }
                Joint::Ball => rotation * body.turn * Quaternion::read(&q[link.q..]).matrix(),
            };
            let d = rotation * body.com;
            let carried = velocity.to(r);
            let velocity = carried
                + match body.joint {
                    Joint::Revolute(_) => Motion { w: axis * rate.0, v: Vec3::ZERO },
                    Joint::Prismatic(_) => Motion { w: Vec3::ZERO, v: axis * rate.0 },
                    Joint::Ball => Motion { w: rotation * rate, v: Vec3::ZERO },
                };
            let f = (velocity.v + velocity.w.cross(d)) * body.mass;
            let spin = rotation * (body.inertia * rotation.tr_mul(velocity.w));
            let momentum = Force { n: spin + d.cross(f), f };
            self.bodies[i] = Placed { rotation, p: p + r, r, axis, d, carried, velocity, momentum };
        }
    }
}
