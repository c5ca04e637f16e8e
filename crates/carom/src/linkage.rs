//! The bodies of a system as a tree of numbers, where recursive kernels apply.

use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, eval, substitute};
use crate::limits::SMALL_MECHANISM;
use crate::mechanism::{Kinematics, Link, LinkJoint, Mechanism};
use crate::system::{Enforce, System};
use crate::tree::{self, Body, Mat3, Tree, Vec3};

/// The numbers of a link among the constants: at, turn, axis, mass, com, inertia, stiffness, rest, damping.
pub(crate) const OF_LINK: usize = 3 + 9 + 3 + 1 + 3 + 9 + 3;

/// True if the system is a mechanism that is large enough for recursive kernels, and they apply.
pub(crate) fn is_large(system: &System) -> bool {
    large(system).is_some()
}

/// The mechanism, and what the user adds to its Lagrangian, if it is large enough for recursive kernels and they apply: the bodies have
/// all coordinates of the system and all of its kinetic energy.
pub(crate) fn large(system: &System) -> Option<(&Mechanism, Expr)> {
    let mechanism = system.mechanism.as_deref()?;
    let is_driven = |link: &Link| system.coordinates[link.coordinate].prescribed.is_some();
    let applies = system.coordinates.len() > SMALL_MECHANISM
        && system.stated_constraints().iter().all(|constraint| constraint.enforce == Enforce::OnePoint)
        && mechanism.links.iter().all(|link| link.joint != LinkJoint::Ball || !is_driven(link))
        && owners(system, mechanism).is_ok();
    let added = applies.then(|| added_lagrangian(system, mechanism).ok())??;
    Some((mechanism, added))
}

/// Why a system has no recursive kernel.
pub(crate) fn refuse(why: &str) -> Diagnostic {
    Diagnostic::new(format!("the recursive kernel of mechanisms does not apply: {why}"))
}

/// For each free coordinate its link and its place there. The bodies must have all coordinates, in their order.
pub(crate) fn owners(system: &System, mechanism: &Mechanism) -> Result<Vec<(usize, usize)>> {
    let mut all: Vec<(usize, (usize, usize))> = Vec::new();
    for (i, link) in mechanism.links.iter().enumerate() {
        all.extend((0..link.joint.coordinates()).map(|k| (link.coordinate + k, (i, k))));
    }
    if all.len() != system.coordinates.len() || all.iter().enumerate().any(|(i, (at, _))| i != *at) {
        return Err(refuse("the model has coordinates that belong to no body").into());
    }
    Ok(system.free().iter().map(|&i| all[i].1).collect())
}

/// What the user adds to the Lagrangian of the bodies: it may not contain velocities.
pub(crate) fn added_lagrangian(system: &System, mechanism: &Mechanism) -> Result<Expr> {
    let (zero, q, v) = (Expr::constant(0.0), system.q(), system.v());
    let kinematics = Kinematics::new(mechanism, &q, &v);
    let own = [kinematics.kinetic(), kinematics.potential()];
    let added = substitute(&[system.lagrangian.l], &own, &[zero, zero])[0];
    match added.depends_on(&v) {
        true => Err(refuse("the Lagrangian has kinetic energy that belongs to no body").into()),
        false => Ok(added),
    }
}

/// The bodies with their joints; the constants follow from the parameters.
pub(crate) fn bodies(system: &System, mechanism: &Mechanism) -> Vec<Body> {
    let body = |link: &Link| {
        let is_driven = system.coordinates[link.coordinate].prescribed.is_some();
        Body { is_driven, ..Body::new(link.parent, joint(link)) }
    };
    mechanism.links.iter().map(body).collect()
}

/// The numbers of all links, as expressions of the parameters.
pub(crate) fn constants(mechanism: &Mechanism) -> Vec<Expr> {
    mechanism.links.iter().flat_map(numbers_of).collect()
}

/// The tree for these values of the parameters.
pub fn tree(system: &System, mechanism: &Mechanism, parameters: &[(Expr, f64)]) -> Tree {
    let numbers = eval(&constants(mechanism), parameters);
    let mut tree = Tree::new(bodies(system, mechanism));
    tree.set(|i, body| read_body(&numbers[OF_LINK * i..], body));
    tree
}

fn joint(link: &Link) -> tree::Joint {
    match link.joint {
        LinkJoint::Revolute(_) => tree::Joint::Revolute(Vec3::ZERO),
        LinkJoint::Prismatic(_) => tree::Joint::Prismatic(Vec3::ZERO),
        LinkJoint::Ball => tree::Joint::Ball,
    }
}

fn numbers_of(link: &Link) -> Vec<Expr> {
    let axis = match link.joint {
        LinkJoint::Revolute(axis) | LinkJoint::Prismatic(axis) => axis,
        LinkJoint::Ball => [Expr::constant(0.0); 3],
    };
    let (turn, inertia) = (link.turn.concat(), &link.inertia);
    [
        &link.at[..],
        &turn,
        &axis,
        &[inertia.mass],
        &inertia.com,
        &inertia.about_com.concat(),
        &[link.stiffness, link.rest, link.damping],
    ]
    .concat()
}

/// Reads the numbers of a link.
pub(crate) fn read_body(numbers: &[f64], body: &mut Body) {
    let matrix =
        |at: usize| Mat3(Vec3::read(&numbers[at..]), Vec3::read(&numbers[at + 3..]), Vec3::read(&numbers[at + 6..]));
    body.at = Vec3::read(numbers);
    body.turn = matrix(3);
    let axis = Vec3::read(&numbers[12..]);
    match &mut body.joint {
        tree::Joint::Revolute(of) | tree::Joint::Prismatic(of) => *of = axis,
        tree::Joint::Ball => {}
    }
    body.mass = numbers[15];
    body.com = Vec3::read(&numbers[16..]);
    body.inertia = matrix(19);
    (body.stiffness, body.rest, body.damping) = (numbers[28], numbers[29], numbers[30]);
}
