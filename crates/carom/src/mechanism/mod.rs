//! Trees of rigid bodies: what `[mechanism]` and `[[body]]` say, as numbers and expressions.
//!
//! A [`Mechanism`] is plain data. [`Kinematics`] turns it into expressions of the coordinates: poses, T and V. Bodies are taken
//! apart into [`Link`]s with one elementary joint each: `free` is three slides and a ball, a list of joints is a chain of links of
//! which all but the last are massless, and a fixed body is part of the link that carries it.

mod inertia;
mod kinematics;
mod quaternion;
mod vector;

pub use inertia::Inertia;
pub use kinematics::{Kinematics, LinkMotion, LinkPose};
pub use quaternion::{
    QuaternionOfExpr, body_rate, conjugate_momentum, norm_squared, of_rotation_vector, rate_of, torque_on,
};
pub use vector::{
    Matrix3, Vector, add, apply, apply_transposed, axis_rotation, cross, difference, dot, identity, length, product,
    rotation, scaled, zero,
};

use crate::expr::Expr;

/// A tree of links with the points on it. Every expression is of the parameters; gravity may also contain the time.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// 2 or 3. In the plane all vectors have z = 0, joints turn about z or slide along x and y, and `Inertia` has one entry, zz.
    pub dimension: usize,
    /// The acceleration of gravity, in world axes.
    pub gravity: Vector,
    /// The links; a parent comes before its children.
    pub links: Vec<Link>,
    /// The bodies, in the order of the model.
    pub bodies: Vec<BodyFrame>,
    /// The points that are fixed to a body.
    pub points: Vec<Attached>,
}

/// A rigid body with one elementary joint to its parent.
#[derive(Clone, Debug)]
pub struct Link {
    /// The index of its parent; none for the ground.
    pub parent: Option<usize>,
    /// The joint.
    pub joint: LinkJoint,
    /// The origin of the joint in the frame of the parent.
    pub at: Vector,
    /// The orientation of the joint frame in the parent, a rotation matrix by rows.
    pub turn: Matrix3,
    /// Its mass, with the bodies that are fixed to it.
    pub inertia: Inertia,
    /// k of V = k (q − rest)²/2; 0 for a ball.
    pub stiffness: Expr,
    /// The rest position of the spring.
    pub rest: Expr,
    /// d of the force −d q̇; 0 for a ball.
    pub damping: Expr,
    /// The index of its first coordinate in the system; a ball has four.
    pub coordinate: usize,
}

/// An elementary joint. Axes are unit vectors of the joint frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkJoint {
    /// Turns about the axis.
    Revolute(Vector),
    /// Slides along the axis.
    Prismatic(Vector),
    /// Turns freely: a unit quaternion (w, x, y, z).
    Ball,
}

/// A body as the model has it: a frame that is fixed to a link.
#[derive(Clone, Debug)]
pub struct BodyFrame {
    /// Its name.
    pub name: String,
    /// The link that it is, or is fixed to; none for the ground.
    pub link: Option<usize>,
    /// Its origin in the frame of the link; 0 unless it is a fixed body.
    pub at: Vector,
    /// Its orientation in the link.
    pub turn: Matrix3,
    /// Its joint.
    pub kind: JointKind,
    /// The indices of its coordinates in the system, in the order of the output.
    pub coordinates: std::ops::Range<usize>,
}

/// How a body is joined to its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// Welded.
    Fixed,
    /// By elementary joints.
    Joints,
    /// By a ball: four coordinates.
    Ball,
    /// Not at all: in space three coordinates and a quaternion, in the plane x, y and an angle.
    Free,
}

/// A point that is fixed to a link.
#[derive(Clone, Debug)]
pub struct Attached {
    /// Its name.
    pub name: String,
    /// The link; none for the ground.
    pub link: Option<usize>,
    /// Where, in the frame of the link.
    pub at: Vector,
}

impl LinkJoint {
    /// The number of its coordinates.
    pub fn coordinates(self) -> usize {
        match self {
            LinkJoint::Revolute(_) | LinkJoint::Prismatic(_) => 1,
            LinkJoint::Ball => 4,
        }
    }
}

impl BodyFrame {
    /// The index of the first coordinate of its quaternion, if it has one.
    pub fn quaternion(&self, dimension: usize) -> Option<usize> {
        match self.kind {
            JointKind::Ball => Some(self.coordinates.start),
            JointKind::Free if dimension == 3 => Some(self.coordinates.start + 3),
            _ => None,
        }
    }
}
