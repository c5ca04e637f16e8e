//! The start and the constraints.

use super::Check;
use crate::error::Result;
use crate::expr::{Expr, eval, grad};
use crate::kernel::Backend;
use crate::limits::{DEPENDENT, ON_CONSTRAINT, START_TOUCHES};
use crate::mechanics::Field;
use crate::mechanics::Mechanics;
use crate::mechanics::{Manifold, growth_factor, turn};
use crate::model::{InitialMotion, Model};
use crate::phase::Phase;
use crate::solve::{Lu, NoSolution, Solved};
use crate::system::{Constraint, Enforce, time};

/// The largest number of attempts to move a start onto the constraints.
const ROUNDS: usize = 3;

impl Model {
    /// For each two-point constraint its name, and by which factor theory says that an error in it grows in the first step
    /// ([`growth_factor`]). Nothing where the step is not known.
    pub fn two_point_growth(&self) -> Result<Vec<(String, f64)>> {
        let two_point = |constraint: &&Constraint| constraint.enforce != Enforce::OnePoint;
        let (Some(h), true) = (self.run.step, self.system.constraints.iter().any(|c| two_point(&c))) else {
            return Ok(Vec::new());
        };
        let start = self.start()?;
        let check = Check::new(self);
        let mass = check.at(&check.mass().concat(), &start.q, &start.v);
        let ahead: Vec<f64> = start.q.iter().zip(&start.v).map(|(q, v)| q + h * v).collect();
        let growth = |constraint: &Constraint| {
            let normal = |q: &[f64]| check.gradient(constraint.g, q);
            let delta = turn(&mass, &normal(&start.q), &normal(&ahead)).unwrap_or(f64::NAN);
            (constraint.name.clone(), growth_factor(delta))
        };
        Ok(self.system.constraints.iter().filter(two_point).map(growth).collect())
    }
}

impl Check<'_> {
    /// Moves q onto the constraints.
    pub(super) fn project_q(&self, q: &mut [f64]) -> Result<()> {
        if self.model.system.stated_constraints().is_empty() {
            return self.normalise(q, None);
        }
        let mut projected = q.to_vec();
        if self.correct(&mut projected).is_ok() {
            q.copy_from_slice(&projected);
            return Ok(());
        }
        let nearest = self.nearest(q);
        q.copy_from_slice(&nearest.q);
        if nearest.is_near && self.correct(q).is_ok() {
            return Ok(());
        }
        q.copy_from_slice(&nearest.q);
        if nearest.is_near {
            self.independent(q)?;
        }
        Err(self.cannot_close(&nearest))
    }

    /// Moves q onto the constraints by Newton's method.
    fn correct(&self, q: &mut [f64]) -> Solved<()> {
        if let Some(recursive) = &self.recursive {
            return recursive.project(self, q, None);
        }
        let Some((mut manifold, mut field)) = self.manifold().map_err(|_| NoSolution::Singular)? else { return Ok(()) };
        let free = self.model.system.free();
        let mut z = self.free_phase(q, &vec![0.0; q.len()]);
        // From far away the corrections are small beside the way long before they are small.
        for _ in 0..ROUNDS {
            manifold.project(&mut z, &mut field)?;
        }
        free.iter().zip(z.q()).for_each(|(&i, &x)| q[i] = x);
        Ok(())
    }

    /// Moves v onto the tangent space of the constraints.
    pub(super) fn project_v(&self, q: &mut [f64], v: &mut Vec<f64>) -> Result<()> {
        if self.model.system.stated_constraints().is_empty() {
            return self.normalise(q, Some(v));
        }
        let impossible = |_| {
            let message = "the velocities of the start cannot be moved onto the constraints";
            self.model.error(&self.model.places.motion, message, "")
        };
        self.independent(q)?;
        if let Some(recursive) = &self.recursive {
            return recursive.project(self, q, Some(v)).map_err(impossible);
        }
        let Some((_, mut field)) = self.manifold()? else { return Ok(()) };
        let z = self.free_phase(q, v);
        let tangent = field.velocity(0.0, &z.z).map_err(impossible)?;
        self.model.system.free().iter().zip(tangent).for_each(|(&i, &x)| v[i] = x);
        Ok(())
    }

    /// The constraints that a projection meets, as compiled equations; none if there are none.
    fn manifold(&self) -> Result<Option<(Manifold, Field)>> {
        let system = &self.model.system;
        // Solved once: compiling would take longer.
        let mut mechanics = Mechanics { backend: Backend::Interpreter, ..Mechanics::new(system) };
        // Without a second configuration a start is on a two-point constraint as it is on any other.
        if !self.has_second_configuration() {
            mechanics.constraints.iter_mut().for_each(|constraint| constraint.enforce = Enforce::OnePoint);
        }
        if mechanics.tangent_constraints().is_empty() {
            return Ok(None);
        }
        let numbers: Vec<f64> = system.parameters.iter().map(|p| p.value).collect();
        Ok(Some((Manifold::new(&mechanics, &numbers)?, Field::new(&mechanics, &numbers)?)))
    }

    /// The free coordinates and their momenta at q and v.
    fn free_phase(&self, q: &[f64], v: &[f64]) -> Phase {
        let system = &self.model.system;
        let pick = |all: &[f64]| system.free().iter().map(|&i| all[i]).collect::<Vec<f64>>();
        Phase::new(0.0, &pick(q), &pick(&self.at(&grad(system.lagrangian.l, &system.v()), q, v)))
    }

    /// Ball joints are all that is to be projected: q/|q|, and v without its part along q, in which L_vv is singular.
    fn normalise(&self, q: &mut [f64], mut v: Option<&mut Vec<f64>>) -> Result<()> {
        let Some(mechanism) = &self.model.system.mechanism else { return Ok(()) };
        for first in mechanism.bodies.iter().filter_map(|body| body.quaternion(mechanism.dimension)) {
            let four = first..first + 4;
            let size = q[four.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
            if !(size > 0.0 && size.is_finite()) {
                let name = &self.model.system.coordinates[first].name;
                let message = format!("the quaternion of `{name}` is no rotation");
                return Err(self.model.error(&self.model.places.q, message, format!("its length is {size}")));
            }
            // A quaternion that is a unit up to roundoff keeps its digits.
            if (size - 1.0).abs() > f64::EPSILON {
                q[four.clone()].iter_mut().for_each(|x| *x /= size);
            }
            if let Some(v) = &mut v {
                let along: f64 = four.clone().map(|i| q[i] * v[i]).sum();
                four.for_each(|i| v[i] -= along * q[i]);
            }
        }
        Ok(())
    }

    fn has_second_configuration(&self) -> bool {
        self.model.initial.as_ref().is_some_and(|initial| matches!(initial.motion, InitialMotion::Next(_)))
    }

    /// The constraints must not repeat each other.
    pub(super) fn independent(&self, q: &[f64]) -> Result<()> {
        let constraints = self.acting();
        let units = self.units(q);
        let gradients: Vec<Vec<f64>> = constraints.iter().map(|c| self.normal(c.g, q, &units)).collect();
        for (i, constraint) in constraints.iter().enumerate() {
            let Some(others) = combination(&gradients[..i], &gradients[i]) else { continue };
            let name = &constraint.name;
            let (message, label) = match names(&others, constraints) {
                names if names.is_empty() => (
                    format!("the constraint `{name}` cannot be enforced at the start"),
                    format!("its gradient is zero at q = {q:?}"),
                ),
                names => (
                    format!("the constraint `{name}` is redundant at the start"),
                    format!("it holds the same motion as {names}; leave one of them out"),
                ),
            };
            return Err(self.model.error(&self.model.places.constraints[i], message, label));
        }
        Ok(())
    }

    /// A wall that is touched must not be tangent to the constraints.
    pub(super) fn walls_can_push(&self, q: &[f64]) -> Result<()> {
        let system = &self.model.system;
        let units = self.units(q);
        let gradients: Vec<Vec<f64>> = self.acting().iter().map(|c| self.normal(c.g, q, &units)).collect();
        for (wall, span) in system.walls.iter().zip(&self.model.places.walls) {
            let touches = self.at(&[wall.phi], q, q)[0].abs() <= START_TOUCHES * self.size(wall.phi, q, q);
            let Some(others) = combination(&gradients, &self.normal(wall.phi, q, &units)).filter(|_| touches) else {
                continue;
            };
            let message = format!("the wall `{}` cannot push at the start", wall.name);
            let label = match names(&others, self.acting()) {
                names if names.is_empty() => format!("the gradient of its gap is zero at q = {q:?}"),
                names => format!("its gap is tangent to {names}, so no impulse changes it"),
            };
            return Err(self.model.error(span, message, label));
        }
        Ok(())
    }

    /// The constraints that may repeat each other: those of ball joints have no part in the freedoms of a tree.
    pub(super) fn acting(&self) -> &[Constraint] {
        let system = &self.model.system;
        if self.is_recursive() { system.stated_constraints() } else { &system.constraints }
    }

    /// 1/√(L_vv)ᵢᵢ of each free coordinate at rest: the unit in which its gradients have the unit of an energy. 1 for a coordinate
    /// without a mass.
    pub(super) fn units(&self, q: &[f64]) -> Vec<f64> {
        let unit = |mass: f64| Some(1.0 / mass.abs().sqrt()).filter(|unit| unit.is_normal()).unwrap_or(1.0);
        if let Some(recursive) = &self.recursive {
            return recursive.masses(q).into_iter().map(unit).collect();
        }
        let masses: Vec<Expr> = self.mass().iter().enumerate().map(|(i, row)| row[i]).collect();
        self.at(&masses, q, &vec![0.0; q.len()]).into_iter().map(unit).collect()
    }

    /// The gradient of f in these units.
    pub(super) fn normal(&self, f: Expr, q: &[f64], units: &[f64]) -> Vec<f64> {
        let slopes = self.gradient(f, q);
        let slopes = self.recursive.as_ref().map_or(slopes.clone(), |recursive| recursive.gradient(q, &slopes));
        slopes.iter().zip(units).map(|(slope, unit)| slope * unit).collect()
    }

    /// ∂f/∂q of the free coordinates.
    fn gradient(&self, f: Expr, q: &[f64]) -> Vec<f64> {
        let system = &self.model.system;
        let qs: Vec<Expr> = system.free().into_iter().map(|i| system.coordinates[i].q).collect();
        self.at(&grad(f, &qs), q, q)
    }

    /// The start must be on the constraints.
    pub(super) fn constraints(&self, q: &[f64], v: &[f64], next: Option<&[f64]>) {
        let (system, h) = (&self.model.system, self.model.run.step.unwrap_or(0.0));
        for (constraint, span) in system.constraints.iter().zip(&self.model.places.constraints) {
            let (g, dot) = (constraint.g, system.time_derivative(constraint.g));
            let second = match next {
                None => ("dg/dt", self.at(&[dot], q, v)[0], dot),
                Some(q1) => ("g(q1)", self.later(g, q1, h), g),
            };
            if let (Some(q1), Enforce::TwoPoint { .. }) = (next, constraint.enforce) {
                let part = self.model.run.alpha.unwrap_or(0.5);
                let middle: Vec<f64> = q.iter().zip(q1).map(|(a, b)| (1.0 - part) * a + part * b).collect();
                if self.later(g, &middle, part * h).abs() <= ON_CONSTRAINT * self.size(g, q, v) {
                    continue;
                }
            }
            let is_off = |&(_, value, f): &(&str, f64, Expr)| self.exceeds(value, ON_CONSTRAINT, f, q, v);
            let first = ("g", self.at(&[g], q, v)[0], g);
            if let Some((what, value, _)) = [first, second].into_iter().find(is_off) {
                let message = format!("the start is off the constraint `{}`", constraint.name);
                let label = format!("{what} = {value} at q = {q:?}; `initial.project = true` moves it there");
                self.mistake(self.model.error(span, message, label));
            }
        }
    }

    /// f(q, t) at another configuration and time.
    pub(super) fn later(&self, f: Expr, q: &[f64], t: f64) -> f64 {
        let mut values = self.parameters.clone();
        values.push((time(), t));
        values.extend(self.model.system.q().into_iter().zip(q.iter().copied()));
        eval(&[f], &values)[0]
    }
}

/// The numbers of the gradients of which another is a combination; None if it is none.
fn combination(gradients: &[Vec<f64>], other: &[f64]) -> Option<Vec<usize>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (m, size) = (gradients.len(), dot(other, other).sqrt());
    if size == 0.0 {
        return Some(Vec::new());
    }
    // The nearest combination, by the normal equations.
    let products: Vec<f64> = gradients.iter().flat_map(|a| gradients.iter().map(move |b| dot(a, b))).collect();
    let mut lu = Lu::new(m);
    if m == 0 || !lu.factor(&products) {
        return None;
    }
    let mut parts = vec![0.0; m];
    lu.solve(&gradients.iter().map(|a| dot(a, other)).collect::<Vec<f64>>(), &mut parts);
    let left = |i: usize| other[i] - parts.iter().zip(gradients).map(|(part, a)| part * a[i]).sum::<f64>();
    let rest = (0..other.len()).map(|i| left(i).powi(2)).sum::<f64>().sqrt();
    let is_used = |&j: &usize| parts[j].abs() * dot(&gradients[j], &gradients[j]).sqrt() > 1e-8 * size;
    (rest <= DEPENDENT * size).then(|| (0..m).filter(is_used).collect())
}

fn names(numbers: &[usize], constraints: &[Constraint]) -> String {
    numbers.iter().map(|&j| format!("`{}`", constraints[j].name)).collect::<Vec<String>>().join(", ")
}
