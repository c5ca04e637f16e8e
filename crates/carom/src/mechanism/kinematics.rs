//! Poses, velocities and energies of the links as expressions of the coordinates, from the ground to the ends.

use super::vector::{
    Matrix3, Vector, add, apply, apply_transposed, axis_rotation, cross, dot, identity, product, scaled, zero,
};
use super::{Link, LinkJoint, Mechanism, quaternion};
use crate::expr::Expr;

/// Where a link is.
#[derive(Clone, Copy, Debug)]
pub struct LinkPose {
    /// Its orientation: takes body axes to world axes.
    pub r: Matrix3,
    /// The origin of its joint, in world axes.
    pub p: Vector,
    /// The angle about z, if it has turned about z only.
    angle: Option<Expr>,
}

/// How a link moves, in its own axes.
#[derive(Clone, Copy, Debug)]
pub struct LinkMotion {
    /// The angular velocity.
    pub omega: Vector,
    /// The velocity of its origin.
    pub v: Vector,
}

/// All links of a mechanism, at the coordinates q with the rates v.
///
/// Velocities in body axes do not contain the attitude of the root, and take O(n) operations:
///
/// ```text
/// revolute, ball   ω_i = Rᵀω_λ + j,     v_i = Rᵀ(v_λ + ω_λ×at)
/// prismatic        ω_i = Rᵀω_λ,         v_i = Rᵀ(v_λ + ω_λ×(at + turn·axis q)) + axis q̇
/// j = axis q̇ (revolute),  2 Im(q̄⊗q̇)/|q|² (ball);   R takes the axes of the link to those of its parent λ
/// ```
pub struct Kinematics<'a> {
    mechanism: &'a Mechanism,
    q: &'a [Expr],
    /// One for each link.
    pub poses: Vec<LinkPose>,
    /// One for each link.
    pub motions: Vec<LinkMotion>,
}

impl LinkPose {
    fn ground() -> LinkPose {
        LinkPose { r: identity(), p: zero(), angle: Some(Expr::constant(0.0)) }
    }

    /// A place that is given in the frame of the link.
    pub fn place(&self, at: Vector) -> Vector {
        add(self.p, apply(self.r, at))
    }
}

impl<'a> Kinematics<'a> {
    /// Places all links. `q` and `v` have an entry for each coordinate of the system.
    pub fn new(mechanism: &'a Mechanism, q: &'a [Expr], v: &'a [Expr]) -> Kinematics<'a> {
        let mut all = Kinematics { mechanism, q, poses: Vec::new(), motions: Vec::new() };
        for link in &mechanism.links {
            let pose = all.pose_of(link.parent);
            let motion = link.parent.map_or(LinkMotion { omega: zero(), v: zero() }, |parent| all.motions[parent]);
            let (r, at, own) = joint(link, q, v);
            all.poses.push(next(&pose, link, r, at, q));
            let carried = add(motion.v, cross(motion.omega, at));
            all.motions.push(LinkMotion {
                omega: add(apply_transposed(r, motion.omega), own.omega),
                v: add(apply_transposed(r, carried), own.v),
            });
        }
        all
    }

    /// Where a link is; none is the ground.
    pub fn pose_of(&self, link: Option<usize>) -> LinkPose {
        link.map_or_else(LinkPose::ground, |link| self.poses[link])
    }

    /// T = Σ m|v + ω×com|²/2 + ω·Iω/2.
    pub fn kinetic(&self) -> Expr {
        let of = |(link, motion): (&Link, &LinkMotion)| {
            let inertia = &link.inertia;
            let v = add(motion.v, cross(motion.omega, inertia.com));
            let turning = dot(motion.omega, apply(inertia.about_com, motion.omega));
            inertia.mass * dot(v, v) / 2.0 + turning / 2.0
        };
        self.mechanism.links.iter().zip(&self.motions).map(of).sum()
    }

    /// V = −Σ m g·c + Σ k (q − rest)²/2.
    pub fn potential(&self) -> Expr {
        let of = |(link, pose): (&Link, &LinkPose)| {
            let stretch = self.q[link.coordinate] - link.rest;
            let weight = link.inertia.mass * dot(self.mechanism.gravity, pose.place(link.inertia.com));
            link.stiffness * stretch.squared() / 2.0 - weight
        };
        self.mechanism.links.iter().zip(&self.poses).map(of).sum()
    }
}

/// The rotation of a link in its parent, the place of its origin there, and what its joint adds to the velocities.
fn joint(link: &Link, q: &[Expr], v: &[Expr]) -> (Matrix3, Vector, LinkMotion) {
    let i = link.coordinate;
    match link.joint {
        LinkJoint::Revolute(axis) => {
            let own = LinkMotion { omega: scaled(v[i], axis), v: zero() };
            (product(link.turn, axis_rotation(axis, q[i])), link.at, own)
        }
        LinkJoint::Prismatic(axis) => {
            let own = LinkMotion { omega: zero(), v: scaled(v[i], axis) };
            (link.turn, add(link.at, apply(link.turn, scaled(q[i], axis))), own)
        }
        LinkJoint::Ball => {
            let (q, v) = ([0, 1, 2, 3].map(|k| q[i + k]), [0, 1, 2, 3].map(|k| v[i + k]));
            let own = LinkMotion { omega: quaternion::body_rate(q, v), v: zero() };
            (product(link.turn, quaternion::matrix(q)), link.at, own)
        }
    }
}

/// The pose of a link on a parent. Angles about z are added up: cos(a + b) is shorter than the product of two rotations.
fn next(parent: &LinkPose, link: &Link, r: Matrix3, at: Vector, q: &[Expr]) -> LinkPose {
    let p = parent.place(at);
    let z = identity()[2];
    let turned = match link.joint {
        LinkJoint::Revolute(axis) if axis == z => Some(q[link.coordinate]),
        LinkJoint::Prismatic(_) => Some(Expr::constant(0.0)),
        _ => None,
    };
    let is_plain = link.turn == identity();
    match (parent.angle, turned.filter(|_| is_plain)) {
        (Some(before), Some(turned)) => {
            let angle = before + turned;
            LinkPose { r: axis_rotation(z, angle), p, angle: Some(angle) }
        }
        _ => LinkPose { r: product(parent.r, r), p, angle: None },
    }
}
