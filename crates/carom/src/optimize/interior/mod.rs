//! A primal-dual interior point. [Wächter & Biegler, Math. Program. 106, 2006, with simplifications]
//!
//! ```text
//! min f(x) − μ Σ ln(x − l) − μ Σ ln(b − x)   subject to c(x) = 0,   μ → 0
//! ```
//!
//! `point.rs` has the iterate and its measures, `kkt.rs` the linear system, `inertia.rs` its correction, `filter.rs` what a line
//! search accepts, `search.rs` the line search, `elastic.rs` programs in which conditions may be violated, at a cost.

mod elastic;
mod filter;
mod inertia;
mod kkt;
mod point;
mod search;

pub use elastic::Elastic;

use super::nlp::{Nlp, NlpDerivatives, Scaled, Structure};
use filter::Filter;
use inertia::Correction;
use kkt::Kkt;
use point::{Errors, Point};
use search::{Found, Step};

/// The first barrier parameter.
const FIRST_MU: f64 = 0.1;
/// The barrier problem is solved to this multiple of μ.
const BARRIER_ERROR: f64 = 10.0;
/// Steps below this part of x are accepted without a line search.
const TINY: f64 = 1e-14;
/// The barrier problem ends after this number of tiny steps in a row.
const MOST_TINY: usize = 2;
/// An optimum meets the rows to this part of the tolerance, or as well as this number of further steps can: a violation costs its multiplier.
const POLISHED: f64 = 1e-3;
const MOST_POLISHING: usize = 4;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest scaled error of an optimum.
    pub tolerance: f64,
    /// The most iterations.
    pub iterations: usize,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverEnding {
    /// At an optimum.
    Optimal,
    /// Where the conditions cannot be met, nor their violation be reduced.
    Infeasible,
    /// No step improves the point.
    Stalled,
    /// After too many iterations.
    Iterations,
    /// By request.
    Interrupted,
    /// The program is not defined at the start.
    Failed,
}

/// An iteration, for those who watch.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Its number.
    pub iteration: usize,
    /// f.
    pub objective: f64,
    /// The largest |c|.
    pub feasibility: f64,
    /// The largest entry of the dual equation, scaled.
    pub optimality: f64,
    /// The largest product of a distance and its multiplier, scaled.
    pub complementarity: f64,
    /// True while only the violation of the conditions is reduced.
    pub is_restoring: bool,
}

/// The result of a solve.
#[derive(Clone, Debug)]
pub struct Solution {
    /// How it ended.
    pub ending: SolverEnding,
    /// The point.
    pub x: Vec<f64>,
    /// The multipliers of the rows.
    pub y: Vec<f64>,
    /// The multipliers of the upper bounds minus those of the lower ones.
    pub z: Vec<f64>,
    /// The measures there, and the number of iterations.
    pub last: Progress,
}

/// True to stop.
pub type SolverWatch<'a> = dyn FnMut(&Progress, &[f64]) -> bool + 'a;

/// Minimises from x.
pub fn solve(nlp: &mut dyn Nlp, x: &[f64], limits: Limits, watch: &mut SolverWatch) -> Solution {
    let start = Point::inside(nlp.structure(), x);
    let scaled = Scaled::new(nlp, &start);
    Solver::new(scaled, start, FIRST_MU, 0).run(limits, watch, Role::Whole)
}

/// Minimises again from the solution of a similar program.
pub fn solve_warm(nlp: &mut dyn Nlp, x: &[f64], mu: f64, limits: Limits, watch: &mut SolverWatch) -> Solution {
    let start = Point::inside_by(nlp.structure(), x, mu.min(1e-2));
    let scaled = Scaled::new(nlp, &start);
    Solver::new(scaled, start, mu, 0).run(limits, watch, Role::Whole)
}

/// Whether a solver may restore feasibility, or does so.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Whole,
    Restoration,
}

struct Solver<'a> {
    nlp: Scaled<'a>,
    structure: Structure,
    kkt: Kkt,
    correction: Correction,
    filter: Filter,
    point: Point,
    derivatives: NlpDerivatives,
    mu: f64,
    iteration: usize,
    tiny: usize,
    polishing: usize,
    best: Option<(f64, Vec<f64>, Progress)>,
}

impl<'a> Solver<'a> {
    fn new(mut nlp: Scaled<'a>, x: Vec<f64>, mu: f64, iteration: usize) -> Solver<'a> {
        let structure = nlp.structure().clone();
        let point = Point::new(&mut nlp, &structure, x);
        Solver {
            kkt: Kkt::new(&structure),
            correction: Correction::default(),
            filter: Filter::new(point.violation()),
            derivatives: NlpDerivatives::new(&structure),
            structure,
            nlp,
            point,
            mu,
            iteration,
            tiny: 0,
            polishing: 0,
            best: None,
        }
    }

    fn run(mut self, limits: Limits, watch: &mut SolverWatch, role: Role) -> Solution {
        if !self.point.is_defined() {
            return self.end(SolverEnding::Failed, limits);
        }
        self.differentiate();
        self.multipliers_by_least_squares();
        loop {
            self.differentiate();
            let errors = self.errors(0.0);
            if role == Role::Whole {
                self.keep_best(limits);
            }
            if watch(&self.progress(role), &self.point.x) {
                return self.end(SolverEnding::Interrupted, limits);
            }
            let is_optimal = errors.largest() <= limits.tolerance;
            if is_optimal && (errors.primal <= POLISHED * limits.tolerance || self.polishing >= MOST_POLISHING) {
                return self.end(SolverEnding::Optimal, limits);
            }
            self.polishing += usize::from(is_optimal);
            if self.iteration >= limits.iterations {
                return self.end(SolverEnding::Iterations, limits);
            }
            self.reduce_barrier(limits.tolerance);
            self.iteration += 1;
            let found = match self.step() {
                Some(step) => self.advance(step),
                None => Found::Nothing,
            };
            if found == Found::Nothing && !self.advance_softly() {
                if is_optimal {
                    return self.end(SolverEnding::Optimal, limits);
                }
                match self.restore(limits, watch, role) {
                    Ok(()) => {}
                    Err(ending) => return self.end(ending, limits),
                }
            }
        }
    }

    fn differentiate(&mut self) {
        self.nlp.derivatives(&self.point.x, 1.0, &self.point.y, &mut self.derivatives);
    }

    fn errors(&self, mu: f64) -> Errors {
        self.point.errors(&self.structure, &self.derivatives, mu)
    }

    /// Reduces μ while its barrier problem is solved.
    fn reduce_barrier(&mut self, tolerance: f64) {
        let smallest = tolerance / 10.0;
        while self.mu > smallest
            && (self.errors(self.mu).largest() <= BARRIER_ERROR * self.mu || self.tiny >= MOST_TINY)
        {
            self.mu = smallest.max((0.2 * self.mu).min(self.mu.powf(1.5)));
            self.filter.clear();
            self.tiny = 0;
        }
    }

    /// The step of Newton's method on the barrier problem; None if no correction of the inertia gives one.
    fn step(&mut self) -> Option<Step> {
        let sigma = self.point.sigma(&self.structure);
        let rhs = self.point.right_hand_side(&self.structure, &self.derivatives, self.mu);
        let Solver { kkt, correction, structure, derivatives, .. } = self;
        let solution = correction.solve(kkt, structure, derivatives, &sigma, &rhs, self.mu)?;
        Some(Step::new(&self.point, &self.structure, &self.derivatives, solution, rhs, self.mu))
    }

    /// Takes a step as far as the line search accepts it.
    fn advance(&mut self, step: Step) -> Found {
        let is_tiny = step.is_tiny(&self.point, TINY);
        self.tiny = if is_tiny { self.tiny + 1 } else { 0 };
        let Solver { nlp, kkt, structure, derivatives, filter, point, .. } = self;
        search::advance(nlp, kkt, structure, derivatives, filter, point, step, self.mu, is_tiny)
    }

    /// Takes the step of Newton's method if it reduces the errors of the barrier problem, whatever the filter says: near a
    /// solution θ and φ_μ are roundoff. [Wächter & Biegler 2006, §3.4]
    fn advance_softly(&mut self) -> bool {
        /// The errors must fall to this part.
        const FALLS: f64 = 0.99;
        let before = (self.point.clone(), self.errors(self.mu).largest());
        let Some(step) = self.step() else { return false };
        search::take_whole(&mut self.nlp, &self.structure, &mut self.point, step, self.mu);
        if self.point.is_defined() {
            self.differentiate();
            if self.errors(self.mu).largest() <= FALLS * before.1 {
                return true;
            }
        }
        self.point = before.0;
        self.differentiate();
        false
    }

    /// Minimises the violation of the rows, until it has fallen and the filter accepts the point.
    fn restore(&mut self, limits: Limits, watch: &mut SolverWatch, role: Role) -> Result<(), SolverEnding> {
        /// θ must fall to this part.
        const FALLS: f64 = 0.9;
        let violation = self.point.violation();
        if role == Role::Restoration || self.point.largest_violation() <= limits.tolerance {
            return Err(SolverEnding::Stalled);
        }
        let Solver { nlp, structure, filter, point, mu: outer_mu, .. } = self;
        filter.add(violation, point.barrier(structure, *outer_mu));
        let (mu, n) = (outer_mu.max(point.largest_violation()), structure.variables());
        let mut elastic = Elastic::around(nlp, &point.x, *outer_mu);
        let (start, last) = (elastic.start(&point.x, &point.c, mu), elastic.last());
        let (mut is_restored, mut is_stopped) = (false, false);
        let mut check = |progress: &Progress, x: &[f64]| {
            is_stopped = watch(progress, &x[..n]);
            let [f, theta] = last.get();
            let barrier = point::barrier(structure, &x[..n], f, *outer_mu);
            is_restored =
                progress.iteration > self.iteration && theta <= FALLS * violation && filter.accepts(theta, barrier);
            is_stopped || is_restored
        };
        let scaled = Scaled::new(&mut elastic, &start);
        let found = Solver::new(scaled, start, mu, self.iteration).run(limits, &mut check, Role::Restoration);
        self.iteration = found.last.iteration;
        if is_stopped {
            return Err(SolverEnding::Interrupted);
        }
        let before = self.point.largest_violation();
        let restored = Point::new(&mut self.nlp, &self.structure, found.x[..n].to_vec());
        if !restored.is_defined() {
            return Err(SolverEnding::Stalled);
        }
        self.point = restored;
        match found.ending {
            _ if is_restored => {}
            SolverEnding::Iterations => return Err(SolverEnding::Iterations),
            // The optimum of the violation may lie so near to a feasible point that Newton's method finds it.
            _ if self.point.largest_violation() <= limits.tolerance.max(1e-3 * before) => {}
            SolverEnding::Optimal => return Err(SolverEnding::Infeasible),
            _ => return Err(SolverEnding::Stalled),
        }
        self.point.reset_multipliers(&self.structure, self.mu);
        self.differentiate();
        self.multipliers_by_least_squares();
        Ok(())
    }

    /// y that makes the dual equation smallest; 0 if that is large. [Wächter & Biegler 2006, §3.6]
    fn multipliers_by_least_squares(&mut self) {
        /// Larger multipliers are not trusted.
        const LARGEST: f64 = 1e3;
        let (n, m) = (self.structure.variables(), self.structure.rows);
        let mut plain = self.derivatives.clone();
        plain.hessian.fill(0.0);
        self.point.y.fill(0.0);
        let ones = vec![1.0; n];
        let mut rhs = vec![0.0; n + m];
        for i in 0..n {
            rhs[i] = -(plain.gradient[i] - self.point.zl[i] + self.point.zu[i]);
        }
        let mut solution = vec![0.0; n + m];
        self.kkt.factor(&plain, &ones, [0.0, 0.0], 1.0);
        let is_accurate = self.kkt.solve(&self.structure, &plain, &rhs, &mut solution);
        let y = &solution[n..];
        if is_accurate && y.iter().all(|y| y.abs() <= LARGEST) {
            self.point.y.copy_from_slice(y);
        }
    }

    fn progress(&self, role: Role) -> Progress {
        let errors = self.errors(0.0);
        let unscaled =
            self.point.c.iter().zip(&self.nlp.rows).fold(0.0f64, |all, (c, scale)| all.max((c / scale).abs()));
        Progress {
            iteration: self.iteration,
            objective: self.point.f / self.nlp.objective,
            feasibility: unscaled,
            optimality: errors.dual,
            complementarity: errors.complementarity,
            is_restoring: role == Role::Restoration,
        }
    }

    /// Keeps the feasible point with the smallest objective.
    fn keep_best(&mut self, limits: Limits) {
        let is_better = self.best.as_ref().is_none_or(|(f, ..)| self.point.f < *f);
        if is_better && self.point.largest_violation() <= limits.tolerance.max(1e-8) {
            self.best = Some((self.point.f, self.point.x.clone(), self.progress(Role::Whole)));
        }
    }

    /// The result. Where the solve ended early, it is the best feasible point.
    fn end(self, ending: SolverEnding, limits: Limits) -> Solution {
        let mut last = self.progress(Role::Whole);
        let Solver { point, nlp, best, iteration, .. } = self;
        let mut x = point.x;
        let is_early = matches!(ending, SolverEnding::Stalled | SolverEnding::Iterations | SolverEnding::Interrupted);
        if let Some((_, point, progress)) = best.filter(|_| is_early && last.feasibility > limits.tolerance) {
            (x, last) = (point, Progress { iteration, ..progress });
        }
        let y = point.y.iter().zip(&nlp.rows).map(|(y, scale)| y * scale / nlp.objective).collect();
        let z = point.zu.iter().zip(&point.zl).map(|(up, low)| (up - low) / nlp.objective).collect();
        Solution { ending, x, y, z, last }
    }
}
