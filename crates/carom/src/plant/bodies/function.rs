//! Functions of points, coordinates and time: walls, constraints and potentials of the user.

use super::code::{Places, interpreted, used};
use super::machine::Machine;
use crate::error::Result;
use crate::expr::{Expr, directional, grad};
use crate::kernel::Kernel;
use crate::mechanics::sum_of_terms;
use crate::system::{System, time};
use crate::tree::{Articulated, At, Pose, Quaternion, Vec3, pull};

/// f(x_a, q, t) with its derivatives: compiled by the few points and coordinates that occur in it. Derivatives by the freedoms go
/// through the chains of the bodies.
#[derive(Clone)]
pub(super) struct Function {
    /// The points, and the free coordinates, that f depends on.
    points: Vec<usize>,
    coordinates: Vec<usize>,
    /// (parameters, t, q, places) → f, f_t, the sum of the absolute terms of f, ∂f/∂q, ∂f/∂x
    kernel: Kernel,
    /// (parameters, t, q, places, q̇, velocities) → d²f/dt² without accelerations
    curvature: Kernel,
    /// True if f depends explicitly on the time.
    pub(super) is_timed: bool,
}

/// Working memory for functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

/// The number of outputs before the derivatives.
const BEFORE: usize = 3;

impl Function {
    pub(super) fn new(
        system: &System,
        parameters: &[Expr],
        places: &Places,
        free: &[usize],
        f: Expr,
    ) -> Result<Function> {
        let f = system.drive(&places.replace(&[f]))[0];
        let (q, v) = (system.q(), system.v());
        let pick = |all: &[Expr]| free.iter().map(|&i| all[i]).collect::<Vec<Expr>>();
        let (coordinates, f_q) = used(f, &pick(&q));
        let present = f.symbols();
        let points: Vec<usize> =
            (0..places.symbols.len()).filter(|&i| places.symbols[i].iter().any(|x| present.contains(x))).collect();
        let places: Vec<Expr> = points.iter().flat_map(|&i| places.symbols[i]).collect();
        let f_x = grad(f, &places);
        let q: Vec<Expr> = coordinates.iter().map(|&i| pick(&q)[i]).collect();
        let v: Vec<Expr> = coordinates.iter().map(|&i| pick(&v)[i]).collect();
        let rates: Vec<Expr> = (0..places.len()).map(|i| Expr::symbol(&format!("rate of place {i}"))).collect();
        let inputs = [parameters, &[time()], &q, &places].concat();
        let slopes = q.iter().zip(&v).chain(places.iter().zip(&rates)).map(|(x, rate)| (*x, *rate));
        let seeds: Vec<(Expr, Expr)> = slopes.chain([(time(), Expr::constant(1.0))]).collect();
        let curvature = directional(&directional(&[f], &seeds), &seeds);
        let outputs = [vec![f, f.diff(time()), sum_of_terms(f)], f_q, f_x].concat();
        Ok(Function {
            kernel: interpreted(&inputs, &outputs)?,
            curvature: interpreted(&[inputs, v, rates].concat(), &curvature)?,
            is_timed: f.depends_on(&[time()]),
            points,
            coordinates,
        })
    }

    /// Evaluates f and its derivatives at a pose.
    pub(super) fn evaluate(&self, machine: &Machine, work: &mut Work, pose: &Pose, q: &[f64], t: f64) {
        work.inputs.clear();
        work.inputs.extend_from_slice(&machine.parameters);
        work.inputs.push(t);
        work.inputs.extend(self.coordinates.iter().map(|&i| q[i]));
        self.points.iter().for_each(|&i| work.inputs.extend(machine.points[i].place(pose).array()));
        work.outputs.resize(BEFORE + self.coordinates.len() + 3 * self.points.len(), 0.0);
        self.kernel.eval(&work.inputs, &mut work.outputs);
    }

    /// Adds `factor` times the gradient by the freedoms, after `evaluate` at this pose.
    pub(super) fn add_gradient(
        &self,
        machine: &Machine,
        work: &Work,
        pose: &Pose,
        q: &[f64],
        factor: f64,
        into: &mut [f64],
    ) {
        let (f_q, f_x) = self.slopes(work);
        for (&i, slope) in self.coordinates.iter().zip(f_q) {
            let (link, k) = machine.code.owners[i];
            let link = &machine.tree.links[link];
            if link.freedoms == 3 {
                let turned = Quaternion::read(&q[link.q..]).body(component(k, factor * slope), 0.5).array();
                into[link.v..link.v + 3].iter_mut().zip(turned).for_each(|(sum, part)| *sum += part);
            } else {
                into[link.v] += factor * slope;
            }
        }
        for (&i, slope) in self.points.iter().zip(f_x.chunks_exact(3)) {
            let (point, f) = (&machine.points[i], Vec3::read(slope) * factor);
            pull(&machine.tree, pose, point.body, point.place(pose), f, into);
        }
    }

    /// df/dt, after `evaluate`, with the velocities of the pose and the rates q̇ of the coordinates.
    pub(super) fn rate(&self, machine: &Machine, work: &Work, pose: &Pose, q_dot: &[f64]) -> f64 {
        let by_q: f64 = self.coordinates.iter().zip(self.slopes(work).0).map(|(&i, slope)| slope * q_dot[i]).sum();
        work.by_time() + by_q + self.by_places(machine, work, pose)
    }

    /// The part of df/dt that comes from the velocities of the points.
    pub(super) fn by_places(&self, machine: &Machine, work: &Work, pose: &Pose) -> f64 {
        let places = self.points.iter().zip(self.slopes(work).1.chunks_exact(3));
        places.map(|(&i, slope)| Vec3::read(slope).dot(machine.points[i].velocity(pose))).sum()
    }

    /// d²f/dt² without the accelerations of the freedoms, at a pose that moves. `f` was evaluated there; `mass` is memory.
    pub(super) fn drift(
        &self,
        machine: &Machine,
        work: &mut Work,
        mass: &mut Articulated,
        at: &At,
        q_dot: &[f64],
    ) -> f64 {
        let At { pose, around, q, .. } = *at;
        work.inputs.extend(self.coordinates.iter().map(|&i| q_dot[i]));
        self.points.iter().for_each(|&i| work.inputs.extend(machine.points[i].velocity(pose).array()));
        let mut drift = [0.0];
        self.curvature.eval(&work.inputs, &mut drift);
        let (f_q, f_x) = self.slopes(work);
        // A unit quaternion with constant rates turns on a great circle: q̈ = −|q̇|²q.
        for (&i, slope) in self.coordinates.iter().zip(f_q) {
            let link = &machine.tree.links[machine.code.owners[i].0];
            if link.freedoms == 3 {
                let squared: f64 = q_dot[link.q..link.q + 4].iter().map(|rate| rate * rate).sum();
                drift[0] -= slope * squared * q[i];
            }
        }
        let acceleration = mass.point_accelerations(&machine.tree, pose, around, &[]);
        for (&i, slope) in self.points.iter().zip(f_x.chunks_exact(3)) {
            let point = &machine.points[i];
            if let Some(body) = point.body {
                drift[0] += Vec3::read(slope).dot(acceleration(body, point.place(pose)));
            }
        }
        drift[0]
    }

    fn slopes<'a>(&self, work: &'a Work) -> (&'a [f64], &'a [f64]) {
        work.outputs[BEFORE..].split_at(self.coordinates.len())
    }
}

impl Work {
    /// f of the last evaluation.
    pub(super) fn value(&self) -> f64 {
        self.outputs[0]
    }

    /// The explicit time derivative.
    pub(super) fn by_time(&self) -> f64 {
        self.outputs[1]
    }

    /// The sum of the absolute terms of f.
    pub(super) fn terms(&self) -> f64 {
        self.outputs[2]
    }
}

/// The quaternion with one entry.
fn component(k: usize, value: f64) -> Quaternion {
    let mut entries = [0.0; 4];
    entries[k] = value;
    Quaternion::read(&entries)
}
