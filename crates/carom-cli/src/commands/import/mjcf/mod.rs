//! The common core of MJCF, the format of MuJoCo: bodies with hinges, slides, balls and free joints, their mass from `inertial` or
//! from simple geoms, `connect`, `weld` and `joint` equalities, sites, and the first keyframe.
//!
//! A frame of MuJoCo has its origin anywhere on the body, one of carom at the joint; a joint with a reference angle is counted from
//! it. Otherwise coordinates and velocities are the same, those of balls and free joints too.

mod compiler;
mod equality;
mod geom;
mod loops;
mod read;
mod tie;
mod write;

#[cfg(test)]
mod tests;

use carom::lab::error::Result;
use carom::lab::model::Source;
use roxmltree::Document;

use super::turn::{Matrix, Vector};

/// What a file says.
pub struct Scene {
    pub name: String,
    pub gravity: Vector,
    /// A parent comes before its children.
    pub bodies: Vec<Body>,
    pub sites: Vec<Site>,
    pub equalities: Vec<Equality>,
    /// Where the first keyframe, or the file, puts the joints: in the order of the bodies and their joints.
    pub start: Option<Key>,
    /// What has no meaning in a model, one line each.
    pub left_out: Vec<String>,
}

/// A body, placed where its joints are at their reference.
pub struct Body {
    pub name: String,
    /// None is the world.
    pub parent: Option<usize>,
    /// In the frame of the parent.
    pub at: Vector,
    pub turn: Matrix,
    pub joints: Vec<Joint>,
    pub mass: Mass,
    pub geoms: Vec<Drawn>,
}

/// A mass, its centre, and its inertia about the centre in the axes of the body.
#[derive(Clone, Copy, Default)]
pub struct Mass {
    pub mass: f64,
    pub com: Vector,
    pub inertia: Matrix,
}

/// How a body moves in its parent.
pub struct Joint {
    pub name: Option<String>,
    pub kind: Kind,
    /// In the frame of the body.
    pub at: Vector,
    pub axis: Vector,
    /// Limits, rest position of the spring: counted from the reference.
    pub limits: Option<[f64; 2]>,
    pub damping: f64,
    pub stiffness: f64,
    pub rest: f64,
    pub reference: f64,
    pub armature: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    Hinge,
    Slide,
    Ball,
    Free,
}

/// A shape to draw, in the frame of its body.
pub enum Drawn {
    Sphere(Vector, f64),
    Capsule([Vector; 2], f64),
    /// Centre, orientation and half the edges.
    Box(Vector, Matrix, Vector),
}

/// A named place on a body.
pub struct Site {
    pub name: String,
    pub body: Option<usize>,
    pub at: Vector,
}

/// A place on a body, in its frame.
#[derive(Clone, Copy)]
pub struct Spot {
    pub body: Option<usize>,
    pub at: Vector,
}

/// Two places that are one.
pub struct Loop {
    pub ends: [Spot; 2],
    /// The body that carries the loop. None is the world.
    pub base: Option<usize>,
    /// The axes of that body along which the places are to be one; the joints of the loop do the rest.
    pub axes: Vec<usize>,
    /// Of a weld, the axes of the second body about which it is held.
    pub turns: Vec<usize>,
}

pub enum Equality {
    /// Two places are one.
    Connect(Loop),
    /// Two places are one, and axes of the first body, turned, are those of the second.
    Weld(Loop, Matrix),
    /// q₁ = Σ c_k q₂^k, of joints by number.
    Joint(usize, Option<usize>, [f64; 5]),
}

/// A state: what each joint has, in the order of the bodies and their joints.
pub struct Key {
    pub qpos: Vec<f64>,
    pub qvel: Vec<f64>,
}

impl Kind {
    /// The numbers of a joint in qpos and in qvel.
    pub fn counts(self) -> [usize; 2] {
        match self {
            Kind::Hinge | Kind::Slide => [1, 1],
            Kind::Ball => [4, 3],
            Kind::Free => [7, 6],
        }
    }
}

impl Scene {
    /// All joints, in the order of their numbers.
    pub fn joints(&self) -> impl Iterator<Item = &Joint> {
        self.bodies.iter().flat_map(|body| &body.joints)
    }
}

/// The text of the model for an MJCF file.
pub fn model(source: &Source, document: &Document) -> Result<String> {
    Ok(write::model(&read::scene(source, document)?))
}
