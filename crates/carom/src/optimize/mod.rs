//! Optimal control with impacts: discrete mechanics and optimal control (DMOC).
//!
//! [`Optimization`] is the entry point. `transcription/` turns the control problem of a model into a nonlinear program
//! ([`nlp::Nlp`]), `interior/` solves it, `replay.rs` runs the model along its phases with the controls found, `check.rs` compares
//! that with the plan, `blame.rs` says which conditions of an infeasible problem cannot be met.

mod answer;
mod blame;
mod check;
pub mod interior;
pub mod nlp;
mod replay;
mod suggest;
mod transcription;

pub use answer::{Answer, Verdict};
use blame::Blame;
pub use blame::Unmet;
pub use check::Check;
pub use interior::Progress;
pub use replay::{Leg, RunLeg};
pub use transcription::{Caught, Found, ImpactMultipliers, PlannedImpact, PlannedState};

use std::time::Instant;

use crate::error::{Diagnostic, Error, Result};
use crate::kernel::Backend;
use crate::method::{Method, default_for};
use crate::model::Model;
use interior::{Limits, Solution, SolverEnding};
use transcription::{Options, Transcription};

/// A control problem with a method and a tolerance.
///
/// ```
/// let text = r#"
///     coordinates = ["x"]
///     lagrangian = {T = "x'^2/2"}
///     controls = {u = {}}
///     forces = {x = "u"}
///     initial = {q = [0], v = [0]}
///     final = {t = 1, q = [1], v = [0]}
///     objective = {running = "u^2"}
///     phase = [{steps = 20}]
/// "#;
/// let model = carom::Model::from_text("double-integrator.toml", text, &[])?;
/// let answer = model.optimize().method("svc").run()?;
/// assert!((answer.cost - 12.0 / (1.0 - 1.0 / 400.0)).abs() < 1e-9);
/// # Ok::<(), carom::Error>(())
/// ```
#[derive(Clone)]
pub struct Optimization<'m> {
    model: &'m Model,
    method: Option<String>,
    tolerance: f64,
    iterations: usize,
    tries: usize,
    refine: Option<f64>,
    restart: Option<(Found, Vec<usize>)>,
}

/// True to stop.
pub type Watch<'a> = dyn FnMut(&Progress) -> bool + 'a;

impl Model {
    /// Creates the optimisation of the model's control problem.
    pub fn optimize(&self) -> Optimization<'_> {
        Optimization {
            model: self,
            method: None,
            tolerance: 1e-8,
            iterations: 500,
            tries: 1,
            refine: None,
            restart: None,
        }
    }
}

impl<'m> Optimization<'m> {
    /// Sets the method by name: a variational flow with `ctec` or `dtec`.
    pub fn method(mut self, name: &str) -> Optimization<'m> {
        self.method = Some(name.into());
        self
    }

    /// Sets the largest scaled error of the optimality conditions.
    pub fn tolerance(mut self, tolerance: f64) -> Optimization<'m> {
        self.tolerance = tolerance;
        self
    }

    /// Sets the most iterations.
    pub fn iterations(mut self, iterations: usize) -> Optimization<'m> {
        self.iterations = iterations;
        self
    }

    /// Sets how many guesses are tried: the first as given, the others disturbed smoothly. The best answer wins.
    pub fn tries(mut self, tries: usize) -> Optimization<'m> {
        self.tries = tries.max(1);
        self
    }

    /// Doubles the steps until the error of the cost, estimated from two meshes, is below this part of it.
    pub fn refine(mut self, tolerance: f64) -> Optimization<'m> {
        self.refine = Some(tolerance);
        self
    }

    /// Starts from an earlier answer of the same problem, and the steps that its phases had.
    pub fn restart(mut self, found: Found, steps: Vec<usize>) -> Optimization<'m> {
        self.restart = Some((found, steps));
        self
    }

    /// Solves the problem.
    pub fn run(&self) -> Result<Answer> {
        self.watch(&mut |_| false)
    }

    /// Solves the problem, and shows each iteration; `watch` returns true to stop.
    pub fn watch(&self, watch: &mut Watch) -> Result<Answer> {
        self.check()?;
        let method = self.chosen_method()?;
        let limits = Limits { tolerance: self.tolerance, iterations: self.iterations };
        let mut answer = self.solve(&method, 1, None, limits, watch)?;
        if let Some(wanted) = self.refine {
            answer = self.refined(&method, answer, wanted, limits, watch)?;
        }
        self.finish(&mut answer, &method)?;
        Ok(answer)
    }

    /// Checks that the model has a control problem.
    fn check(&self) -> Result<()> {
        self.model.refuse_function("optimal control")?;
        let (problem, name) = (&self.model.problem, self.model.source.name());
        if problem.objective.is_empty() {
            let help = "add `[objective]` with `running = \"u^2\"`, or `final = \"t\"` for the least time";
            return Err(Diagnostic::new(format!("`{name}` has no [objective]")).with_help(help).into());
        }
        if problem.phases.is_empty() {
            let help = suggest::phases(self.model);
            return Err(Diagnostic::new(format!("`{name}` has no [[phase]]")).with_help(help).into());
        }
        Ok(())
    }

    /// Checks an answer by independent runs, or says why there is none.
    fn finish(&self, answer: &mut Answer, method: &Method) -> Result<()> {
        /// A search that stalls with a larger violation has not met the conditions.
        const VIOLATED: f64 = 1e-6;
        let is_violated = answer.status == Verdict::Stalled && answer.feasibility > VIOLATED;
        if answer.status == Verdict::Infeasible || is_violated {
            let finer = answer.steps[0] / self.model.problem.phases[0].steps;
            let Blame { unmet, limits, is_certain } =
                blame::blame(self.model, method, &answer.found, &answer.steps, finer)?;
            if is_violated && is_certain && !unmet.is_empty() {
                answer.status = Verdict::Infeasible;
            }
            let conditions = unmet.iter().map(|unmet| format!("{} (off by {:.3})", unmet.condition, unmet.off_by));
            let all: Vec<String> = conditions.chain(limits).collect();
            if answer.status == Verdict::Infeasible && !all.is_empty() {
                answer.message = Some(format!("cannot meet: {}", all.join(", ")));
                answer.cannot_meet = unmet;
            }
        }
        if answer.status != Verdict::Failed {
            answer.check = Some(check::check(self.model, &method.name, &answer.found, &answer.steps));
        }
        answer.note_oddities(self.model);
        Ok(())
    }

    fn chosen_method(&self) -> Result<Method> {
        let run = &self.model.run;
        let name = self.method.as_deref().or(run.method.as_deref()).unwrap_or_else(|| default_for(self.model, None));
        Method::named(name, run.alpha).map_err(|error| match error {
            Error::Model(diagnostic) if self.method.is_none() => {
                self.model.method_error(diagnostic.message, diagnostic.help.unwrap_or_default())
            }
            other => other,
        })
    }

    /// One mesh: all tries, of which the best wins.
    fn solve(
        &self,
        method: &Method,
        finer: usize,
        like: Option<(&Found, &[usize])>,
        limits: Limits,
        watch: &mut Watch,
    ) -> Result<Answer> {
        let began = Instant::now();
        let mut problem =
            Transcription::new(self.model, Options { method, finer, is_soft: false, backend: Backend::Interpreter })?;
        let compile = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let like = like.or(self.restart.as_ref().map(|(found, steps)| (found, &steps[..])));
        let guess = match like {
            Some((found, steps)) => problem.start_like(found, steps),
            None => problem.start(),
        };
        let mut see = |progress: &Progress, _: &[f64]| watch(progress);
        let mut best: Option<Solution> = None;
        let mut minima: Vec<f64> = Vec::new();
        let mut dice = dice();
        for number in 0..if finer == 1 { self.tries } else { 1 } {
            let start = if number == 0 { guess.clone() } else { problem.disturbed_start(&guess, &mut dice) };
            let solution = match like.filter(|_| number == 0) {
                Some(_) => interior::solve_warm(problem.program(), &start, 1e-3, limits, &mut see),
                None => interior::solve(problem.program(), &start, limits, &mut see),
            };
            let is_interrupted = solution.ending == SolverEnding::Interrupted;
            if solution.ending == SolverEnding::Optimal {
                let cost = solution.last.objective;
                if minima.iter().all(|known| (known - cost).abs() > 1e-6 * (1.0 + cost.abs())) {
                    minima.push(cost);
                }
            }
            if best.as_ref().is_none_or(|best| is_better(&solution, best)) {
                best = Some(solution);
            }
            if is_interrupted {
                break;
            }
        }
        let solution = best.ok_or_else(|| Diagnostic::new("nothing was tried"))?;
        let mut answer = Answer::new(method, &mut problem, &solution)?;
        answer.minima = minima.len();
        (answer.compile_seconds, answer.solve_seconds) = (compile, began.elapsed().as_secs_f64());
        Ok(answer)
    }

    /// Doubles the steps until the costs of two meshes agree.
    fn refined(
        &self,
        method: &Method,
        first: Answer,
        wanted: f64,
        limits: Limits,
        watch: &mut Watch,
    ) -> Result<Answer> {
        const MOST_DOUBLINGS: u32 = 8;
        let order = method.flow.order.min(2) as i32;
        let mut answer = first;
        for doubling in 1..=MOST_DOUBLINGS {
            if answer.status != Verdict::Optimal {
                break;
            }
            let mut finer = self.solve(method, 1 << doubling, Some((&answer.found, &answer.steps)), limits, watch)?;
            // The error of order r falls to 2⁻ʳ.
            let error = (finer.cost - answer.cost).abs() / (2f64.powi(order) - 1.0);
            finer.refinement = answer.refinement.iter().cloned().chain(finer.refinement).collect();
            finer.compile_seconds += answer.compile_seconds;
            finer.solve_seconds += answer.solve_seconds;
            finer.minima = answer.minima;
            answer = finer;
            answer.cost_error = Some(error);
            if error <= wanted * answer.cost.abs() {
                break;
            }
        }
        Ok(answer)
    }
}

/// True if a solution is preferred: optimal before others, then feasible, then cheap.
fn is_better(new: &Solution, old: &Solution) -> bool {
    let rank = |solution: &Solution| match solution.ending {
        SolverEnding::Optimal => 0,
        SolverEnding::Iterations | SolverEnding::Stalled | SolverEnding::Interrupted => 1,
        SolverEnding::Infeasible | SolverEnding::Failed => 2,
    };
    let key = |solution: &Solution| (rank(solution), solution.last.objective);
    key(new) < key(old)
}

/// Numbers from −1 to 1, the same in every run.
fn dice() -> impl FnMut() -> f64 {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
