//! What is compiled of a tree of bodies: its constants, its surroundings, and the functions that the user writes.

use super::function::Function;
use super::output::Outputs;
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, directional, grad, substitute};
use crate::kernel::{Backend, Kernel};
use crate::linkage::{self, refuse};
use crate::mechanics::Sources;
use crate::mechanism::{Kinematics, Mechanism};
use crate::plant::Facts;
use crate::system::{Enforce, System, time};
use crate::tree::Body;

/// The numbers of the surroundings before those of the drives: gravity and its rate.
pub(super) const OF_GRAVITY: usize = 6;

/// The compiled parts, shared by all threads.
pub(super) struct Code {
    pub(super) facts: Facts,
    /// The bodies with their joints; the constants follow from the parameters.
    pub(super) bodies: Vec<Body>,
    /// parameters → the numbers of each link, then the place of each point in its frame.
    pub(super) constants: Kernel,
    /// (parameters, t) → gravity, its rate, and q, q̇, q̈ of each drive.
    pub(super) surroundings: Kernel,
    /// The bodies that carry the points.
    pub(super) carriers: Vec<Option<usize>>,
    /// For each free coordinate its link, and its place among the coordinates of the link.
    pub(super) owners: Vec<(usize, usize)>,
    /// The free coordinates among all.
    pub(super) free: Vec<usize>,
    /// The driven coordinates among all.
    pub(super) driven: Vec<usize>,
    pub(super) walls: Vec<Function>,
    pub(super) constraints: Vec<Function>,
    /// The potentials that the user adds, with a minus sign: their gradients are forces.
    pub(super) potential: Option<Function>,
    pub(super) outputs: Outputs,
    /// parameters → e of every wall
    pub(super) restitution: Kernel,
    /// True if the surroundings depend on the time.
    pub(super) is_timed: bool,
    /// True if all bodies move in the plane.
    is_planar: bool,
}

/// Compiles a kernel that is interpreted: what the user writes is short, and compiling it takes longer than it saves.
pub(super) fn interpreted(inputs: &[Expr], outputs: &[Expr]) -> Result<Kernel> {
    Kernel::with_backend(inputs, outputs, Backend::Interpreter).map_err(|e| Diagnostic::new(e.to_string()).into())
}

impl Code {
    pub(super) fn new(system: &System, outputs: &[Expr], sections: &[Expr]) -> Result<Code> {
        let mechanism = system.mechanism.as_deref().ok_or_else(|| refuse("the model has no bodies"))?;
        let parameters: Vec<Expr> = system.parameters.iter().map(|p| p.symbol).collect();
        let (free, q, v) = (system.free(), system.q(), system.v());
        let owners = linkage::owners(system, mechanism)?;
        let kinematics = Kinematics::new(mechanism, &q, &v);
        let places = Places::new(mechanism, &kinematics);
        let function = |f: Expr| Function::new(system, &parameters, &places, &free, f);
        let walls = system.walls.iter().map(|wall| function(wall.phi)).collect::<Result<Vec<_>>>()?;
        let stated = system.stated_constraints();
        if stated.iter().any(|constraint| constraint.enforce != Enforce::OnePoint) {
            return Err(refuse("it has no two-point constraints").into());
        }
        let constraints = stated.iter().map(|constraint| function(constraint.g)).collect::<Result<Vec<_>>>()?;
        let added = linkage::added_lagrangian(system, mechanism)?;
        let potential = (!added.is_zero()).then(|| function(added)).transpose()?;
        let mut constants = linkage::constants(mechanism);
        constants.extend(mechanism.points.iter().flat_map(|point| point.at));
        let driven: Vec<usize> = (0..q.len()).filter(|i| !free.contains(i)).collect();
        let (around, is_timed) = surroundings(system, mechanism, &driven);
        let timed: Vec<Expr> = parameters.iter().copied().chain([time()]).collect();
        let restitution: Vec<Expr> = system.walls.iter().map(|wall| wall.restitution).collect();
        let outputs = Outputs::new(system, &parameters, &places, outputs, sections)?;
        let sources = Sources {
            forces: system.forces.iter().any(|force| !force.is_zero()),
            time: is_timed || potential.as_ref().is_some_and(|f| f.is_timed),
            walls: walls.iter().any(|wall| wall.is_timed) || !driven.is_empty(),
            constraints: constraints.iter().any(|g| g.is_timed) || !driven.is_empty(),
        };
        Ok(Code {
            facts: Facts {
                n: free.len(),
                parameters: parameters.len(),
                walls: walls.len(),
                kinks: 0,
                kinks_of_velocities: 0,
                has_other_kinks: false,
                is_one_point: vec![true; constraints.len()],
                stated: constraints.len(),
                is_quadratic: true,
                is_driven: !driven.is_empty(),
                sources,
                has_function: false,
            },
            bodies: linkage::bodies(system, mechanism),
            constants: interpreted(&parameters, &constants)?,
            surroundings: interpreted(&timed, &around)?,
            carriers: mechanism.points.iter().map(|point| point.link).collect(),
            owners,
            free,
            driven,
            walls,
            constraints,
            potential,
            outputs,
            restitution: interpreted(&parameters, &restitution)?,
            is_timed,
            is_planar: mechanism.dimension == 2,
        })
    }
}

impl Code {
    /// True if the kernel for the plane applies: it knows no forces of the user.
    pub(super) fn is_plainly_planar(&self) -> bool {
        self.is_planar && !self.is_loaded()
    }

    /// True if forces or potentials of the user act.
    pub(super) fn is_loaded(&self) -> bool {
        self.potential.is_some() || self.outputs.has_forces()
    }

    /// True if anything that the model states depends explicitly on the time.
    pub(super) fn is_any_timed(&self) -> bool {
        let sources = &self.facts.sources;
        self.is_timed || sources.time || sources.walls || sources.constraints || self.outputs.has_timed_forces
    }
}

/// The places of the points as expressions of the coordinates, and the symbols that replace them: what the user writes is then
/// short, and its gradients go through the sweeps.
pub(super) struct Places {
    pub(super) from: Vec<Expr>,
    /// x, y, z of each point.
    pub(super) symbols: Vec<[Expr; 3]>,
}

impl Places {
    fn new(mechanism: &Mechanism, kinematics: &Kinematics) -> Places {
        let place = |point: &crate::mechanism::Attached| kinematics.pose_of(point.link).place(point.at);
        let symbol = |(i, _): (usize, _)| ["x", "y", "z"].map(|axis| Expr::symbol(&format!("point {i} {axis}")));
        Places {
            from: mechanism.points.iter().flat_map(place).collect(),
            symbols: mechanism.points.iter().enumerate().map(symbol).collect(),
        }
    }

    /// Expressions in which the places of points are symbols. A place that is a number, or a coordinate, stays.
    pub(super) fn replace(&self, fs: &[Expr]) -> Vec<Expr> {
        let pairs = self.from.iter().zip(self.symbols.iter().flatten());
        let (from, to): (Vec<Expr>, Vec<Expr>) = pairs.filter(|(from, _)| from.symbols().len() > 1).unzip();
        substitute(fs, &from, &to)
    }
}

/// Gravity, its rate, and q, q̇, q̈ of each drive; and whether they depend on the time.
fn surroundings(system: &System, mechanism: &Mechanism, driven: &[usize]) -> (Vec<Expr>, bool) {
    let rate = |f: Expr| directional(&[f], &[(time(), Expr::constant(1.0))])[0];
    let mut all: Vec<Expr> = mechanism.gravity.to_vec();
    all.extend(mechanism.gravity.iter().map(|g| rate(*g)));
    for q in system.drive(&driven.iter().map(|&i| system.coordinates[i].q).collect::<Vec<_>>()) {
        let v = rate(q);
        all.extend([q, v, rate(v)]);
    }
    let is_timed = all.iter().any(|f| f.depends_on(&[time()]));
    (all, is_timed)
}

/// ∂f/∂x of each symbol that f depends on, with the indices of these symbols.
pub(super) fn used(f: Expr, symbols: &[Expr]) -> (Vec<usize>, Vec<Expr>) {
    let present = f.symbols();
    let indices: Vec<usize> = (0..symbols.len()).filter(|&i| present.contains(&symbols[i])).collect();
    let of: Vec<Expr> = indices.iter().map(|&i| symbols[i]).collect();
    let slopes = grad(f, &of);
    (indices, slopes)
}
