//! The one-step map in a contact mode.

mod border;
mod code;
mod equations;

use std::sync::Arc;

pub(crate) use code::{HeldCode, SampleCode};
use equations::Equations;

use super::last_steps::{Guess, LastSteps};
use super::past::Past;
use crate::limits::LATE;
use crate::mechanics::{Active, Field};
use crate::phase::{Discrete, Flow, Impulses, Moments, Phase, Polynomial};
use crate::solve::{NoSolution, Solved, StopRule};

/// Φ_h of a discrete Lagrangian while a set of walls holds the motion: the equations of [`super::Variational`] with each wall
/// as a one-point constraint, assembled numerically (`equations.rs`). Needs no compilation for a new set of walls.
#[derive(Clone)]
pub(crate) struct Held {
    equations: Equations,
    field: Field,
    /// The acceleration at the beginning of a step.
    active: Active,
    /// True if the acceleration is constant, as of bodies that lie on straight walls: then it gives the step without iterations.
    is_uniform: bool,
    past: Past,
    last: LastSteps,
    impulses: Impulses,
    iterations: usize,
    /// The map of the adjoint L_d, with which a map that is not symmetric makes steps backwards; and whether it made the last
    /// step.
    adjoint: Option<Box<Held>>,
    stepped_back: bool,
}

impl Held {
    /// Creates the map for a set of walls, which must be independent of each other and of the constraints.
    pub(crate) fn new(code: &Arc<HeldCode>, walls: &[usize], parameters: &[f64]) -> Held {
        let equations = Equations::new(code, walls, parameters);
        let (n, size) = (code.local.n, equations.unknowns.len());
        let is_one_point: Vec<bool> = (0..code.local.enforce.len() + walls.len())
            .map(|row| row >= code.local.enforce.len() || equations.one_point.contains(&row))
            .collect();
        Held {
            field: Field::held(&code.local, walls, parameters),
            active: Active::new(&code.local, walls, parameters),
            past: Past::new(n, size),
            last: LastSteps::new(n, size),
            impulses: Impulses::new(is_one_point, equations.multipliers()),
            iterations: 0,
            is_uniform: equations.are_uniform(),
            adjoint: code.adjoint.as_ref().map(|adjoint| Box::new(Held::new(adjoint, walls, parameters))),
            stepped_back: false,
            equations,
        }
    }

    /// Writes an initial guess of the unknowns.
    fn guess(&mut self, z0: &Phase, h: f64) -> Solved<Guess> {
        // Steps that do not end in z0 have been forgotten.
        if self.past.extrapolate(h, &mut self.equations.unknowns) {
            return Ok(Guess::Extrapolated);
        }
        let Equations { code, unknowns, .. } = &mut self.equations;
        if code.has_polynomial()
            && let Some(guess) = self.last.guess(&code.points, z0, h, unknowns)
        {
            return Ok(guess);
        }
        let v = self.field.velocity(z0.t, &z0.z)?;
        match self.active.react(z0.t, z0.q(), v) {
            Ok(()) => {
                self.equations.follow(h, v, self.active.acceleration(), self.active.multipliers());
                Ok(Guess::Accelerated)
            }
            Err(_) => self.go_straight(z0, h),
        }
    }

    /// Writes the motion with the acceleration at the beginning, where that is constant. The first multipliers also take what
    /// p0 = L_v + Gᵀμ has off the tangent space. Returns false if roundoff has moved the motion off the rows: Newton's method
    /// brings it back.
    fn accelerate(&mut self, z0: &Phase, h: f64) -> bool {
        let Held { equations, field, active, .. } = self;
        let Ok(v) = field.velocity(z0.t, &z0.z) else { return false };
        if active.react(z0.t, z0.q(), v).is_err() {
            return false;
        }
        equations.follow(h, v, active.acceleration(), active.multipliers());
        let first = equations.unknowns.len() - equations.multipliers();
        equations.unknowns[first..].iter_mut().zip(field.multipliers()).for_each(|(lambda, mu)| *lambda += mu);
        equations.ends_on_rows(z0, h)
    }

    /// Writes the motion along the velocity as the initial guess.
    fn go_straight(&mut self, z0: &Phase, h: f64) -> Solved<Guess> {
        let v = self.field.velocity(z0.t, &z0.z)?;
        self.equations.follow(h, v, &[], &[]);
        Ok(Guess::Straight)
    }

    fn forget_steps(&mut self) {
        self.past.forget();
        self.last.forget();
    }

    /// Newton's method from the guess. With walls that are straight the guess may be the solution.
    fn newton(&mut self, z0: &Phase, h: f64, guess: Guess) -> Solved<()> {
        let is_good = matches!(guess, Guess::Shortened | Guess::Accelerated);
        let points = self.equations.unknowns.len() - self.equations.multipliers();
        let mut rule = StopRule::default();
        let is_corrected = loop {
            self.iterations = rule.iterations + 1;
            self.equations.evaluate(z0, h);
            // Mostly the first correction is the last: then the residuals of a guess need not be compared with roundoff.
            if (rule.iterations > 0 || is_good) && self.is_roundoff(&mut rule, z0, h) {
                break false;
            }
            if !self.equations.correct() {
                let is_solved = rule.iterations == 0 && !is_good && self.is_roundoff(&mut rule, z0, h);
                if is_solved { break false } else { return Err(NoSolution::Singular) }
            }
            let Equations { correction, unknowns, .. } = &self.equations;
            if rule.is_last(&correction[..points], &unknowns[..points])? {
                break true;
            }
        };
        self.equations.finish(z0, h, is_corrected);
        Ok(())
    }

    /// True if the residuals are roundoff.
    fn is_roundoff(&mut self, rule: &mut StopRule, z0: &Phase, h: f64) -> bool {
        let is_late = rule.iterations >= LATE;
        rule.is_roundoff(self.equations.largest_part()) || (is_late && self.equations.is_roundoff_of_coordinates(z0, h))
    }

    /// Solves for the unknowns and for p1.
    fn solve(&mut self, z0: &Phase, h: f64) -> Solved<()> {
        if self.is_uniform && self.accelerate(z0, h) {
            self.iterations = 0;
            self.equations.end(z0, h);
            return Ok(());
        }
        self.equations.begin(z0, h, self.field.projection_at(z0));
        let guess = self.guess(z0, h)?;
        let solved = self.newton(z0, h, guess);
        if solved.is_ok() || guess == Guess::Straight {
            return solved;
        }
        // The guess failed: start along the velocity.
        self.forget_steps();
        let guess = self.go_straight(z0, h)?;
        self.newton(z0, h, guess)
    }
}

impl Flow for Held {
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Solved<()> {
        if h == 0.0 {
            // With h = 0 the constraint equations are undefined.
            z1.copy_from(z0);
            return Ok(());
        }
        if let Some(end) = self.last.repeated(z0, h) {
            z1.copy_from(end);
            self.stepped_back = false;
            return Ok(());
        }
        if !self.past.ends_near(z0) {
            self.past.forget();
        }
        self.solve(z0, h)?;
        let n = self.equations.p1.len();
        let Equations { unknowns, p1, .. } = &self.equations;
        let multipliers = self.equations.multipliers();
        let end = &unknowns[unknowns.len() - multipliers - n..][..n];
        z1.t = z0.t + h;
        z1.z[..n].iter_mut().zip(z0.q()).zip(end).for_each(|((q1, q0), u)| *q1 = q0 + h * u);
        z1.p_mut().copy_from_slice(p1);
        self.field.project(z1)?;
        self.impulses.note(unknowns, self.field.multipliers());
        self.past.remember(unknowns, h, z1, self.iterations);
        self.last.remember(z0, h, z1, unknowns);
        self.stepped_back = false;
        Ok(())
    }

    fn set_parameters(&mut self, parameters: &[f64]) {
        self.equations.local.set_parameters(parameters);
        self.field.set_parameters(parameters);
        self.active.set_parameters(parameters);
        self.forget_steps();
        self.adjoint.iter_mut().for_each(|adjoint| adjoint.set_parameters(parameters));
    }

    fn forget(&mut self) {
        self.field.forget();
        self.equations.lu.forget();
        self.active.forget();
        self.forget_steps();
        self.adjoint.iter_mut().for_each(|adjoint| adjoint.forget());
    }

    fn step_back(&mut self, z1: &Phase, h: f64, z0: &mut Phase) -> Solved<()> {
        let Some(adjoint) = &mut self.adjoint else { return self.step(z1, -h, z0) };
        self.stepped_back = true;
        adjoint.step(z1, -h, z0)
    }

    fn discrete(&mut self) -> Option<Discrete> {
        if let (true, Some(adjoint)) = (self.stepped_back, &mut self.adjoint) {
            return adjoint.discrete();
        }
        let last = self.last.newest();
        self.equations.unknowns.copy_from_slice(&last.unknowns);
        let [action, energy] = self.equations.discrete(&last.begin, last.h);
        Some(Discrete { action, energy })
    }

    fn impulses(&self) -> Option<&Impulses> {
        match (&self.adjoint, self.stepped_back) {
            (Some(adjoint), true) => adjoint.impulses(),
            _ => Some(&self.impulses),
        }
    }

    fn order(&self) -> usize {
        self.equations.code.order
    }

    fn moments(&self) -> usize {
        self.equations.code.points.moments()
    }

    /// Writes the inner points as moments, if they lie on a polynomial close to the motion.
    fn write_moments(&mut self, z0: &Phase, h: f64, moments: &mut Moments) -> bool {
        let code = &self.equations.code;
        code.has_polynomial() && self.last.write_moments(&code.points, z0, h, moments)
    }

    fn write_polynomial(&self, z0: &Phase, h: f64, polynomial: &mut Polynomial) -> bool {
        self.equations.code.has_polynomial() && self.last.write_polynomial(z0, h, polynomial)
    }

    fn read(&mut self, z0: &Phase, polynomial: &Polynomial, tau: f64, z: &mut Phase) -> bool {
        let Equations { code, local, .. } = &mut self.equations;
        if !code.has_polynomial() || !self.last.take(z0, polynomial) {
            return false;
        }
        let (q, v) = local.state_mut(z0.t + tau);
        self.last.look(&code.points, tau, q, v);
        let n = q.len();
        z.t = z0.t + tau;
        z.z[..n].copy_from_slice(q);
        z.p_mut().copy_from_slice(&local.inertia()[..n]);
        true
    }

    fn boxed_clone(&self) -> Box<dyn Flow> {
        Box::new(self.clone())
    }
}
