//! Phase points, and the one-step maps between them.

mod impulses;

pub use impulses::Impulses;

use crate::solve::NoSolution;

/// A phase point: the time, and z = (q, p) of the free coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The time.
    pub t: f64,
    /// q, then p.
    pub z: Vec<f64>,
}

impl Phase {
    /// The point (t, q, p).
    pub fn new(t: f64, q: &[f64], p: &[f64]) -> Phase {
        Phase { t, z: q.iter().chain(p).copied().collect() }
    }

    /// The coordinates.
    pub fn q(&self) -> &[f64] {
        &self.z[..self.z.len() / 2]
    }

    /// The momenta.
    pub fn p(&self) -> &[f64] {
        &self.z[self.z.len() / 2..]
    }

    /// The momenta, writable.
    pub fn p_mut(&mut self) -> &mut [f64] {
        let n = self.z.len() / 2;
        &mut self.z[n..]
    }

    /// Copies `other` without allocating.
    #[inline]
    pub fn copy_from(&mut self, other: &Phase) {
        self.t = other.t;
        copy(&mut self.z, &other.z);
    }
}

/// Copies numbers. A call of the C library for a few of them takes longer than the copy.
#[inline]
pub(crate) fn copy(to: &mut [f64], from: &[f64]) {
    match (&mut *to, from) {
        ([a, b], &[x, y]) => (*a, *b) = (x, y),
        ([a, b, c, d], &[x, y, z, w]) => (*a, *b, *c, *d) = (x, y, z, w),
        _ => to.copy_from_slice(from),
    }
}

/// The discrete action and energy of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discrete {
    /// L_d.
    pub action: f64,
    /// −D₃L_d.
    pub energy: f64,
}

/// The largest number of moments inside a step.
pub const MOMENTS: usize = 8;

/// Moments inside a step, at which the motion is known.
#[derive(Clone, Debug)]
pub struct Moments {
    /// The number of moments.
    pub count: usize,
    /// Their times after the start of the step.
    pub tau: [f64; MOMENTS],
    /// t, then q, then v = q̇: component i of moment k is at i·MOMENTS + k. Entries beyond `count` are undefined.
    pub lanes: Vec<f64>,
}

impl Moments {
    /// Memory for a system with n coordinates.
    pub fn new(n: usize) -> Moments {
        Moments { count: 0, tau: [0.0; MOMENTS], lanes: vec![0.0; (1 + 2 * n) * MOMENTS] }
    }

    /// Writes moment k, at time τ after the start z0 of the step.
    pub fn set<'a>(&mut self, k: usize, z0: &Phase, tau: f64, q_and_v: impl Iterator<Item = &'a f64>) {
        self.tau[k] = tau;
        self.lanes[k] = z0.t + tau;
        for (lanes, x) in self.lanes.chunks_mut(MOMENTS).skip(1).zip(q_and_v) {
            lanes[k] = *x;
        }
    }
}

/// The motion of a step as a polynomial in time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polynomial {
    /// The length of the step; 0 if there is none.
    pub h: f64,
    /// Its rates at the stages of the step; the flow that made them knows of what.
    pub rates: Vec<f64>,
}

impl Polynomial {
    /// Copies `other` without allocating.
    pub fn copy_from(&mut self, other: &Polynomial) {
        self.h = other.h;
        self.rates.clone_from(&other.rates);
    }

    /// Forgets the polynomial; keeps its memory.
    pub fn forget(&mut self) {
        self.h = 0.0;
        self.rates.clear();
    }
}

/// The largest number of steps in a flight: their ends are the lanes of one vector.
pub const FLIGHT: usize = 8;

/// Consecutive steps of a free motion that is far from all walls.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The number of steps.
    pub count: usize,
    /// Their polynomials.
    pub polynomials: [Polynomial; FLIGHT],
    /// t, q and v at their ends: component i of the end of step k is at i·FLIGHT + k.
    pub ends: Vec<f64>,
    /// p, H and p·v there.
    pub values: Vec<f64>,
}

impl Flight {
    /// Memory for a system with n coordinates.
    pub fn new(n: usize) -> Flight {
        Flight {
            count: 0,
            polynomials: std::array::from_fn(|_| Polynomial::default()),
            ends: vec![0.0; (1 + 2 * n) * FLIGHT],
            values: vec![0.0; (n + 2) * FLIGHT],
        }
    }

    /// q and v at the end of the last step; none if there is none.
    pub fn last(&self) -> Option<impl Iterator<Item = f64>> {
        let k = self.count.checked_sub(1)?;
        Some(self.ends.chunks(FLIGHT).skip(1).map(move |lanes| lanes[k]))
    }

    /// Writes the end of step k to z; returns H and p·v there.
    pub fn write_end(&self, k: usize, z: &mut Phase) -> [f64; 2] {
        let n = z.z.len() / 2;
        z.t = self.ends[k];
        for i in 0..n {
            z.z[i] = self.ends[(1 + i) * FLIGHT + k];
            z.z[n + i] = self.values[i * FLIGHT + k];
        }
        [self.values[n * FLIGHT + k], self.values[(n + 1) * FLIGHT + k]]
    }
}

/// How exactly a step is solved.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// Newton's method ends with a correction of the velocities below this, relative to them: the next would be its square.
    pub root: f64,
    /// How far the prediction of a step may be off, relative to the velocities.
    pub prediction: f64,
    /// √(2K) of the motion so far.
    pub speed: f64,
    /// √(M⁻¹)ᵢᵢ of each coordinate.
    pub roots: &'a [f64],
}

/// How well steps are predicted by the polynomials of the steps before them: the mean change of the velocities, relative to them.
#[derive(Clone, Copy, Debug)]
pub struct Predicted {
    /// The error of the prediction of this step; none if it was not predicted.
    pub this: Option<f64>,
    /// About the error of a prediction of a next step of the same length.
    pub next: f64,
}

/// The gaps of all walls at the stages of a step.
#[derive(Clone, Copy, Debug)]
pub struct Gaps<'a> {
    /// When the stages are, as parts of the step.
    pub c: &'a [f64; MOMENTS],
    /// φ and φ̇ of each wall.
    pub of_walls: &'a [[[f64; MOMENTS]; 2]],
}

/// A flow whose steps can be solved to a tolerance, from the polynomial of the step before.
pub trait Quick {
    /// Solves a step from z0, where the velocities are v0. The polynomial `past` of the step before predicts it.
    fn attempt(
        &mut self,
        start: (&Phase, &[f64]),
        h: f64,
        goal: Goal,
        past: &Polynomial,
    ) -> Result<Predicted, NoSolution>;

    /// Writes the end of the step from z0 with length h, which was solved last.
    fn finish(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution>;

    /// Makes a step from the same start as the last, with its polynomial as the guess.
    fn shorten(&mut self, z0: &Phase, h: f64, goal: Goal, z1: &mut Phase) -> Result<(), NoSolution>;

    /// Forgets the last step.
    fn forget_last(&mut self);

    /// A length for a first step from z0.
    fn first_step(&mut self, z0: &Phase, goal: Goal) -> Result<f64, NoSolution>;

    /// The gaps at the stages of the last step; none if they are not computed with it.
    fn gaps(&mut self) -> Option<Gaps<'_>> {
        None
    }

    /// Begins a flight in z0, where the velocities are v0, after a step with this polynomial. Returns false if the map does not
    /// know where the walls are.
    fn take_off(&mut self, _start: (&Phase, &[f64]), _past: &Polynomial) -> bool {
        false
    }

    /// Solves the next step of a flight, from the end of its last one. None if it has no solution.
    fn fly(&mut self, _h: f64, _goal: Goal, _flight: &Flight) -> Option<Predicted> {
        None
    }

    /// Takes the step that was tried into the flight. It ends at the time t.
    fn keep_flying(&mut self, _t: f64, _flight: &mut Flight) {}

    /// Ends a flight: computes p, H and p·v at the ends of its steps.
    fn land(&mut self, _flight: &mut Flight) {}
}

/// A one-step map. It may use earlier steps for a better initial guess, which changes the result at most by roundoff.
pub trait Flow: Send {
    /// z1 = Φ_h(z0); h may be negative.
    fn step(&mut self, z0: &Phase, h: f64, z1: &mut Phase) -> Result<(), NoSolution>;

    /// Sets the parameter values.
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Forgets the last steps, which serve as initial guesses. The next step then has the same bits as a first step.
    fn forget(&mut self);

    /// Solves z1 = Φ_h(z0) for z0. A map that is not symmetric must override this. The action of the last step is then that of
    /// the backward step, −L_d(q0, q1, h).
    fn step_back(&mut self, z1: &Phase, h: f64, z0: &mut Phase) -> Result<(), NoSolution> {
        self.step(z1, -h, z0)
    }

    /// Sets the length of the full steps, for a map that makes partial steps.
    fn set_full_step(&mut self, _h: f64) {}

    /// L_d and −D₃L_d of the last step, if the map is variational.
    fn discrete(&mut self) -> Option<Discrete>;

    /// The impulses of the constraints in the last step, if the map supports constraints.
    fn impulses(&self) -> Option<&Impulses> {
        None
    }

    /// The order of the map.
    fn order(&self) -> usize;

    /// The number of moments inside a step at which its motion is known; at most [`MOMENTS`].
    fn moments(&self) -> usize {
        0
    }

    /// Writes the moments inside the last step, in order of time: q and v = q̇ on its polynomial, accurate enough to search for
    /// events. Returns false if the last step was not the step from z0 with length h.
    fn write_moments(&mut self, _z0: &Phase, _h: f64, _moments: &mut Moments) -> bool {
        false
    }

    /// The state at time τ after z0, accurate enough to search for events: on the polynomial of the last step, if the map has one
    /// that began in z0; else by a step.
    fn glance(&mut self, z0: &Phase, tau: f64, z: &mut Phase) -> Result<(), NoSolution> {
        self.step(z0, tau, z)
    }

    /// Writes the polynomial of the last step. Returns false if the map has none, or if the last step was not the step from z0
    /// with length h.
    fn write_polynomial(&self, _z0: &Phase, _h: f64, _polynomial: &mut Polynomial) -> bool {
        false
    }

    /// Writes the state at time τ on the polynomial of a step from z0. Returns false if the map has no polynomials.
    fn read(&mut self, _z0: &Phase, _polynomial: &Polynomial, _tau: f64, _z: &mut Phase) -> bool {
        false
    }

    /// Writes the moments inside a step from z0 that is known by its polynomial. Returns false if the map has none.
    fn read_moments(&self, _z0: &Phase, _polynomial: &Polynomial, _moments: &mut Moments) -> bool {
        false
    }

    /// The map as one that solves its steps to a tolerance, if it can.
    fn quick(&mut self) -> Option<&mut dyn Quick> {
        None
    }

    /// Clones this map. The clone shares the compiled code.
    fn boxed_clone(&self) -> Box<dyn Flow>;
}

impl Clone for Box<dyn Flow> {
    fn clone(&self) -> Box<dyn Flow> {
        self.boxed_clone()
    }
}
