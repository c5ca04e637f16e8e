//! Hamilton's equations from the Lagrangian.

use std::sync::{Arc, OnceLock};

use super::bordered::Bordered;
use super::eliminate::{eliminate, work};
use super::local::LocalCode;
use super::tangent::Tangent;
use super::{Mechanics, Newton, numbered};
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, any_depends_on, grad, jacobian};
use crate::kernel::{Backend, Kernel, Tape};
use crate::phase::{Phase, copy};
use crate::solve::NoSolution;
use crate::system::time;

/// The largest number of products for which M is eliminated symbolically: those of eleven coordinates that all depend on each other.
/// The elimination of fifty is a tape of 10⁵ instructions; M itself has a tenth of them, and is factored in numbers.
const MOST_PRODUCTS: usize = 400;

/// v = H_p, ṗ = −H_q + F and H at a phase point, where p = L_v(q, v):
///
/// ```text
/// ṗ = L_q(q, v) + F,   H = p·v − L(q, v)
/// ```
///
/// With holonomic constraints g = 0 and G = g_q, the velocity lies on their tangent space, and p may differ from L_v by a
/// multiple of the constraint gradients:
///
/// ```text
/// p = L_v(q, v) + Gᵀμ,   G v + g_t = 0
/// ```
#[derive(Clone, Debug)]
pub struct Field {
    n: usize,
    parameters: usize,
    velocity: Velocity,
    /// The initial guess of an implicit v.
    guess: Vec<f64>,
    /// Whether the values depend on the time.
    depends_on_time: bool,
    /// The last point and, if v is explicit, the one before: impacts look at two states in turn.
    points: [Point; 2],
    /// The number of the last point.
    now: usize,
    /// True if an implicit velocity starts from the last one, false if always from rest.
    remembers: bool,
    /// The number of values that were asked for beside those of the motion.
    extra: usize,
}

/// A point and its values.
#[derive(Clone, Debug)]
struct Point {
    /// The parameters, t, q, p and, if v is implicit, v.
    inputs: Vec<f64>,
    /// v, ṗ, H; with constraints, then L_v and μ; else what was asked for beside these.
    values: Vec<f64>,
    /// Which of the values are up to date for `inputs`.
    known: Known,
}

impl Point {
    fn new(parameters: &[f64], others: usize, values: usize) -> Point {
        let mut inputs = parameters.to_vec();
        inputs.resize(parameters.len() + others, 0.0);
        Point { inputs, values: vec![0.0; values], known: Known::Nothing }
    }
}

/// How to compute v from p.
#[derive(Clone, Debug)]
enum Velocity {
    /// L is quadratic in v: v is eliminated symbolically.
    Explicit(Box<Explicit>),
    /// Newton's method, if L is not quadratic in v, the elimination is long, or there are constraints.
    Implicit(Newton),
    /// The tangent velocity while walls hold the motion.
    Held(Box<Tangent>),
}

/// Two kernels, because most callers need only v or H.
#[derive(Clone, Debug)]
struct Explicit {
    /// → v, zeros for ṗ, H, and the extra values
    motion: Kernel,
    /// → v, ṗ, H, and the extra values. Compiled on first use, once for all clones.
    all: Arc<OnceLock<Kernel>>,
    tape: Arc<Tape>,
    backend: Backend,
}

/// Which values are known at a point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Known {
    Nothing,
    /// v and H.
    Motion,
    /// v, ṗ and H.
    All,
}

impl Field {
    /// Compiles the equations of a system.
    pub fn new(mechanics: &Mechanics, parameters: &[f64]) -> Result<Field> {
        Field::with(mechanics, parameters, &[])
    }

    /// Compiles the equations of a system and further functions of (t, q, v) into one kernel; [`Field::extra`] returns the values of
    /// these functions. They are left out if v is implicit.
    pub(crate) fn with(mechanics: &Mechanics, parameters: &[f64], extra: &[Expr]) -> Result<Field> {
        let (n, p) = (mechanics.n(), mechanics.p());
        let given: Vec<Expr> = [time()].iter().chain(&mechanics.q).chain(&p).copied().collect();
        let constraints = mechanics.tangent_constraints();
        let all = equations(mechanics, &p);
        let depends_on_time = any_depends_on(&[&all[..], &constraints, extra].concat(), &[time()]);
        let explicit = explicit_velocity(mechanics, &p).filter(|_| constraints.is_empty());
        let (mut values, mut unknowns, mut extra_values) = (2 * n + 1 + extra.len(), 0, extra.len());
        let velocity = match explicit {
            Some(v) => {
                let outputs: Vec<Expr> = all.iter().chain(extra).copied().collect();
                let outputs = mechanics.at(&outputs, &mechanics.q, &v, time());
                Velocity::Explicit(Box::new(Explicit::new(mechanics, &given, &outputs)?))
            }
            None => {
                let (symbols, residuals, outputs) = tangent(mechanics, &constraints);
                (values, unknowns, extra_values) = (outputs.len(), symbols.len(), 0);
                Velocity::Implicit(Newton::new(mechanics, &given, &symbols, &residuals, &outputs)?)
            }
        };
        let point = Point::new(parameters, 1 + 2 * n + unknowns, values);
        Ok(Field {
            n,
            parameters: parameters.len(),
            velocity,
            guess: vec![0.0; unknowns],
            depends_on_time,
            points: [point.clone(), point],
            now: 0,
            remembers: true,
            extra: extra_values,
        })
    }

    /// The equations while these walls hold the motion as additional constraints after those of the model.
    pub(crate) fn held(code: &Arc<LocalCode>, walls: &[usize], parameters: &[f64]) -> Field {
        let tangent = Tangent::new(code, &code.rows_with(walls), parameters);
        let point = Point::new(parameters, 1 + 2 * code.n, tangent.values());
        Field {
            n: code.n,
            parameters: parameters.len(),
            guess: Vec::new(),
            depends_on_time: code.depends_on_time,
            velocity: Velocity::Held(Box::new(tangent)),
            points: [point.clone(), point],
            now: 0,
            remembers: true,
            extra: 0,
        }
    }

    /// Sets the parameter values.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.points.iter_mut().for_each(|point| point.inputs[..self.parameters].copy_from_slice(parameters));
        if let Velocity::Held(tangent) = &mut self.velocity {
            tangent.set_parameters(parameters);
        }
        self.forget();
    }

    /// Forgets the last point, which is the initial guess for an implicit velocity.
    pub fn forget(&mut self) {
        let unknowns = self.parameters + 1 + 2 * self.n;
        for point in &mut self.points {
            point.known = Known::Nothing;
            point.inputs[unknowns..].fill(0.0);
        }
        if let Velocity::Held(tangent) = &mut self.velocity {
            tangent.forget();
        }
    }

    /// Starts every implicit velocity from rest from now on, so that its last bits do not depend on the points before it.
    pub fn remember_nothing(&mut self) {
        self.remembers = false;
        self.forget();
    }

    /// v, ṗ and H as expressions of the time, the coordinates and the momenta ([`Mechanics::p`]). None if v is implicit.
    pub fn expressions(mechanics: &Mechanics) -> Option<Vec<Expr>> {
        let p = mechanics.p();
        let v = explicit_velocity(mechanics, &p)?;
        Some(mechanics.at(&equations(mechanics, &p), &mechanics.q, &v, time()))
    }

    /// Evaluates (v, ṗ, H) at (t, q, p).
    pub fn at(&mut self, t: f64, z: &[f64]) -> std::result::Result<&[f64], NoSolution> {
        Ok(&self.know(Known::All, t, z)?.values)
    }

    /// The velocities v = H_p.
    pub fn velocity(&mut self, t: f64, z: &[f64]) -> std::result::Result<&[f64], NoSolution> {
        let n = self.n;
        Ok(&self.know(Known::Motion, t, z)?.values[..n])
    }

    /// The velocities and H.
    pub fn motion(&mut self, t: f64, z: &[f64]) -> std::result::Result<(&[f64], f64), NoSolution> {
        let n = self.n;
        let values = &self.know(Known::Motion, t, z)?.values;
        Ok((&values[..n], values[2 * n]))
    }

    /// The energy H.
    pub fn energy(&mut self, t: f64, z: &[f64]) -> std::result::Result<f64, NoSolution> {
        Ok(self.motion(t, z)?.1)
    }

    /// Projects p onto the tangent space of the constraints and stores μ in [`Field::multipliers`]. Does nothing if there are
    /// none.
    pub fn project(&mut self, z: &mut Phase) -> std::result::Result<(), NoSolution> {
        if self.multipliers().is_empty() {
            return Ok(());
        }
        let n = self.n;
        let values = self.at(z.t, &z.z)?;
        z.p_mut().copy_from_slice(&values[2 * n + 1..3 * n + 1]);
        Ok(())
    }

    /// The linear system of the last projection while walls hold the motion, if that was at this state.
    pub(crate) fn projection_at(&self, z: &Phase) -> Option<&Bordered> {
        let Velocity::Held(tangent) = &self.velocity else { return None };
        self.is_at(Known::All, z.t, &z.z).then(|| tangent.equations())
    }

    /// μ of the last point.
    pub fn multipliers(&self) -> &[f64] {
        let first = if self.extra == 0 { 3 * self.n + 1 } else { usize::MAX };
        self.points[self.now].values.get(first..).unwrap_or(&[])
    }

    /// True if the functions of [`Field::with`] are computed with the motion.
    pub(crate) fn has_extra(&self) -> bool {
        self.extra > 0
    }

    /// The functions of [`Field::with`].
    pub(crate) fn extra(&mut self, t: f64, z: &[f64]) -> std::result::Result<&[f64], NoSolution> {
        let n = self.n;
        Ok(&self.know(Known::Motion, t, z)?.values[2 * n + 1..])
    }

    /// True if the wanted values of the last point are those at (t, z).
    #[inline]
    fn is_at(&self, wanted: Known, t: f64, z: &[f64]) -> bool {
        let Point { inputs, known, .. } = &self.points[self.now];
        let [time, state @ ..] = &inputs[self.parameters..] else { return false };
        *known >= wanted && state.starts_with(z) && (*time == t || !self.depends_on_time)
    }

    /// Computes the wanted values at a point. Repeated calls at one point are free, because the energy, the walls and the
    /// outputs all need the same values.
    #[inline]
    fn know(&mut self, wanted: Known, t: f64, z: &[f64]) -> std::result::Result<&Point, NoSolution> {
        if !self.is_at(wanted, t, z) {
            self.find(wanted, t, z)?;
        }
        Ok(&self.points[self.now])
    }

    /// Computes the wanted values at a point that is not the last one.
    fn find(&mut self, wanted: Known, t: f64, z: &[f64]) -> std::result::Result<(), NoSolution> {
        if matches!(self.velocity, Velocity::Explicit(_)) {
            self.now = 1 - self.now;
            if self.is_at(wanted, t, z) {
                return Ok(());
            }
        }
        let Point { inputs, values, known } = &mut self.points[self.now];
        inputs[self.parameters] = t;
        copy(&mut inputs[self.parameters + 1..][..z.len()], z);
        *known = Known::Nothing;
        match &mut self.velocity {
            Velocity::Explicit(explicit) => {
                explicit.eval(wanted, inputs, values);
                *known = wanted;
            }
            // Start from the last velocity; if that fails, carefully; if that fails, from rest. If p = L_v(q, v) is strongly
            // nonlinear, as in relativity, full Newton steps lead to inadmissible velocities.
            Velocity::Implicit(newton) => {
                let unknowns = self.parameters + 1 + z.len();
                if !self.remembers {
                    inputs[unknowns..].fill(0.0);
                }
                self.guess.copy_from_slice(&inputs[unknowns..]);
                if newton.solve(inputs, values).is_err() {
                    inputs[unknowns..].copy_from_slice(&self.guess);
                    if newton.solve_carefully(inputs, values).is_err() {
                        inputs[unknowns..].fill(0.0);
                        newton.solve_carefully(inputs, values)?;
                    }
                }
                *known = Known::All;
            }
            Velocity::Held(tangent) => {
                tangent.eval(t, z, values)?;
                *known = Known::All;
            }
        }
        Ok(())
    }
}

impl Explicit {
    /// `all` has v, ṗ, H and the extra values as expressions of `given`.
    fn new(mechanics: &Mechanics, given: &[Expr], all: &[Expr]) -> Result<Explicit> {
        let (n, inputs) = (mechanics.n(), [&mechanics.parameters, given].concat());
        let mut motion = all.to_vec();
        motion[n..2 * n].fill(Expr::constant(0.0));
        let tape = Tape::new(&inputs, all).map_err(|e| Diagnostic::new(e.to_string()))?;
        let motion = mechanics.kernel(given, &motion)?;
        Ok(Explicit { motion, all: Arc::default(), tape: Arc::new(tape), backend: mechanics.backend })
    }

    /// Writes all values, or all but ṗ.
    fn eval(&mut self, wanted: Known, inputs: &[f64], values: &mut [f64]) {
        let kernel = match wanted {
            Known::All => self.all.get_or_init(|| Kernel::of_tape(&self.tape, self.backend)),
            Known::Motion | Known::Nothing => &self.motion,
        };
        kernel.eval(inputs, values);
    }
}

/// Returns the unknowns v and μ, their equations, and the results v, ṗ, H, L_v, μ.
fn tangent(mechanics: &Mechanics, constraints: &[Expr]) -> (Vec<Expr>, Vec<Expr>, Vec<Expr>) {
    let (l_v, mu) = (mechanics.momenta(), numbered("mu", constraints.len()));
    let slopes = jacobian(constraints, &mechanics.q);
    let push = |i: usize| slopes.iter().zip(&mu).map(|(row, &mu)| mu * row[i]).sum::<Expr>();
    let momenta = mechanics.p().into_iter().enumerate().map(|(i, p)| l_v[i] + push(i) - p);
    let rate = |(row, g): (&Vec<Expr>, &Expr)| {
        row.iter().zip(&mechanics.v).map(|(&slope, &v)| slope * v).sum::<Expr>() + g.diff(time())
    };
    let residuals = momenta.chain(slopes.iter().zip(constraints).map(rate)).collect();
    let mut outputs = equations(mechanics, &l_v);
    if !mu.is_empty() {
        outputs.extend(l_v.iter().chain(&mu));
    }
    (mechanics.v.iter().chain(&mu).copied().collect(), residuals, outputs)
}

/// v, ṗ, H as expressions of q, v, p.
pub(super) fn equations(mechanics: &Mechanics, p: &[Expr]) -> Vec<Expr> {
    let mut rates = grad(mechanics.l, &mechanics.q);
    if let Some(forces) = &mechanics.forces {
        rates.iter_mut().zip(forces).for_each(|(rate, &force)| *rate = *rate + force);
    }
    let power: Expr = p.iter().zip(&mechanics.v).map(|(&p, &v)| p * v).sum();
    mechanics.v.iter().copied().chain(rates).chain([power - mechanics.l]).collect()
}

/// Solves M v = p − L_v|₀ symbolically. None if L is not quadratic in v, or if this takes too many products.
pub(super) fn explicit_velocity(mechanics: &Mechanics, p: &[Expr]) -> Option<Vec<Expr>> {
    if !mechanics.is_quadratic() || work(&mechanics.mass()) > MOST_PRODUCTS {
        return None;
    }
    let at_rest = vec![Expr::constant(0.0); mechanics.n()];
    let offset = mechanics.at(&mechanics.momenta(), &mechanics.q, &at_rest, time());
    let column: Vec<Expr> = p.iter().zip(offset).map(|(&p, b)| p - b).collect();
    Some(eliminate(mechanics.mass(), column))
}
