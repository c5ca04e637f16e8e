//! Trees of rigid bodies: numbers only. Every sweep is linear in the number of bodies. [MECHANISMS]
//!
//! World axes throughout. Body i has its joint at p_i, the orientation R_i (body to world) and the parent λ; r_i = p_i − p_λ, and
//! d_i is the centre of mass from the joint. Spatial vectors of body i are taken about p_i.
//!
//! Coordinates `q` have four entries for a ball joint, a quaternion. Rates, momenta and gradients have three for it, in the axes
//! of the body; they are counted as freedoms.

mod acceleration;
mod articulated;
mod momentum;
mod point;
mod pose;
mod quaternion;
mod relations;
mod settle;
mod spatial;
mod step;

pub use articulated::Articulated;
pub use point::{BodyPoint, pull};
pub use pose::{Placed, Pose};
pub use quaternion::Quaternion;
pub use relations::{RelationValues, Relations, TangentSpace};
pub use spatial::{Force, Mat3, Motion, Vec3};
pub use step::{At, Equations, Load, MidpointStep, Over, Planar, PlanarRattle, Rattle, Solver, move_by};

/// An elementary joint. Its axis is a unit vector in the joint frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Turns about an axis.
    Revolute(Vec3),
    /// Slides along an axis.
    Prismatic(Vec3),
    /// Turns in any direction: a unit quaternion.
    Ball,
}

/// A body with the joint that holds it to its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// An earlier body, or `None` for the ground.
    pub parent: Option<usize>,
    /// The joint.
    pub joint: Joint,
    /// True if the coordinate of the joint is a given function of time.
    pub is_driven: bool,
    /// The origin of the joint in the frame of the parent.
    pub at: Vec3,
    /// The orientation of the joint frame in the frame of the parent.
    pub turn: Mat3,
    /// The mass; zero for the inner joints of a list.
    pub mass: f64,
    /// The centre of mass in the frame of the body.
    pub com: Vec3,
    /// The inertia about the centre of mass, in the axes of the body.
    pub inertia: Mat3,
    /// k of V = k(q − rest)²/2. Not for ball joints.
    pub stiffness: f64,
    /// Where the spring is at rest.
    pub rest: f64,
    /// The generalized force is −damping·q̇. Not for ball joints.
    pub damping: f64,
}

impl Body {
    /// A massless body at the origin of its parent.
    pub fn new(parent: Option<usize>, joint: Joint) -> Body {
        Body {
            parent,
            joint,
            is_driven: false,
            at: Vec3::ZERO,
            turn: Mat3::ONE,
            mass: 0.0,
            com: Vec3::ZERO,
            inertia: Mat3::default(),
            stiffness: 0.0,
            rest: 0.0,
            damping: 0.0,
        }
    }
}

/// A body of a tree, with its places in the lists of coordinates and freedoms.
#[derive(Clone, Debug)]
pub struct TreeLink {
    /// The body.
    pub body: Body,
    /// The index of its first coordinate, or of its drive.
    pub q: usize,
    /// The index of its first freedom.
    pub v: usize,
    /// The number of freedoms: 0, 1 or 3.
    pub freedoms: usize,
    /// True if the parent is the body before this one: sweeps then carry on what they have in hand.
    follows: bool,
    /// True if it has children that do not follow it.
    gathers: bool,
    /// turn·Rot(axis, q) = constant + cos q·cosine + sin q·sine, for a revolute joint.
    turned: [Mat3; 3],
}

/// A tree of bodies: topology and constants.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The bodies, each after its parent.
    pub links: Vec<TreeLink>,
    /// The number of coordinates that are not driven.
    pub coordinates: usize,
    /// The number of freedoms.
    pub freedoms: usize,
    /// The number of driven coordinates.
    pub drives: usize,
    /// A length that is typical of the bodies: the farthest joint or centre of mass from the origin of its frame.
    size: f64,
}

/// A driven coordinate at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drive {
    /// Its value.
    pub q: f64,
    /// Its rate.
    pub v: f64,
    /// Its acceleration.
    pub a: f64,
}

/// What acts on a tree at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// The acceleration of gravity.
    pub gravity: Vec3,
    /// The driven coordinates, in the order of the bodies.
    pub drives: Vec<Drive>,
}

impl Tree {
    /// Numbers the coordinates and freedoms of bodies, each of which comes after its parent.
    pub fn new(bodies: Vec<Body>) -> Tree {
        let mut tree =
            Tree { links: Vec::with_capacity(bodies.len()), coordinates: 0, freedoms: 0, drives: 0, size: 0.0 };
        for body in bodies {
            let (coordinates, freedoms) = match body.joint {
                Joint::Ball => (4, 3),
                Joint::Revolute(_) | Joint::Prismatic(_) => (1, 1),
            };
            let (q, freedoms) = if body.is_driven { (tree.drives, 0) } else { (tree.coordinates, freedoms) };
            let turned = turned(&body);
            let follows = body.parent.is_some_and(|parent| parent + 1 == tree.links.len());
            if let Some(parent) = body.parent.filter(|_| !follows) {
                tree.links[parent].gathers = true;
            }
            tree.links.push(TreeLink { q, v: tree.freedoms, freedoms, follows, gathers: false, turned, body });
            tree.freedoms += freedoms;
            match freedoms {
                0 => tree.drives += 1,
                _ => tree.coordinates += coordinates,
            }
        }
        tree.set_size();
        tree
    }

    /// Changes the constants of the bodies. Topology and joints stay.
    pub fn set(&mut self, change: impl Fn(usize, &mut Body)) {
        for (i, link) in self.links.iter_mut().enumerate() {
            change(i, &mut link.body);
            link.turned = turned(&link.body);
        }
        self.set_size();
    }

    fn set_size(&mut self) {
        let lengths = self.links.iter().map(|link| link.body.at.norm().max(link.body.com.norm()));
        self.size = lengths.fold(0.0, f64::max);
    }

    /// Converts tangents of the coordinates to the freedoms: rates with factor 2, momenta with ½.
    pub(crate) fn to_freedoms(&self, q: &[f64], tangent: &[f64], factor: f64, into: &mut [f64]) {
        if self.has_no_balls() {
            return into[..self.freedoms].copy_from_slice(&tangent[..self.freedoms]);
        }
        for link in &self.links {
            match link.freedoms {
                0 => {}
                1 => into[link.v] = tangent[link.q],
                _ => {
                    let unit = Quaternion::read(&q[link.q..]);
                    let turned = unit.body(Quaternion::read(&tangent[link.q..]), factor);
                    into[link.v..link.v + 3].copy_from_slice(&turned.array());
                }
            }
        }
    }

    /// Converts freedoms to tangents of the coordinates: rates with factor ½, momenta and gradients with 2.
    pub(crate) fn to_coordinates(&self, q: &[f64], freedoms: &[f64], factor: f64, into: &mut [f64]) {
        if self.has_no_balls() {
            return into[..self.freedoms].copy_from_slice(&freedoms[..self.freedoms]);
        }
        for link in &self.links {
            match link.freedoms {
                0 => {}
                1 => into[link.q] = freedoms[link.v],
                _ => {
                    let unit = Quaternion::read(&q[link.q..]);
                    let tangent = unit.tangent(Vec3::read(&freedoms[link.v..]), factor);
                    into[link.q..link.q + 4].copy_from_slice(&tangent.array());
                }
            }
        }
    }

    /// True if the coordinates are the freedoms, in the same order.
    pub(crate) fn has_no_balls(&self) -> bool {
        self.coordinates == self.freedoms
    }

    /// A length that is typical of the bodies: the farthest joint or centre of mass from the origin of its frame.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The springs: Σ k(q − rest)²/2.
    pub fn spring_energy(&self, q: &[f64]) -> f64 {
        let springs = self.links.iter().filter(|link| link.freedoms == 1);
        springs.map(|link| link.body.stiffness * (q[link.q] - link.body.rest).powi(2) / 2.0).sum()
    }
}

/// The parts of turn·Rot(axis, q), by Rodrigues' formula.
fn turned(body: &Body) -> [Mat3; 3] {
    let Joint::Revolute(axis) = body.joint else { return [body.turn; 3] };
    let along = body.turn * axis.outer(axis);
    [along, body.turn - along, body.turn * axis.hat()]
}
