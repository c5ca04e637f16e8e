//! The answer to a control problem.

use super::blame::Unmet;
use super::check::Check;
use super::interior::{Solution, SolverEnding};
use super::replay::{RunLeg, replay, settings};
use super::transcription::{Found, Transcription};
use crate::error::Result;
use crate::method::Method;
use crate::model::Model;
use crate::model::control::Setting;

/// How an optimisation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At a local optimum.
    Optimal,
    /// The conditions cannot be met, at least near the guess.
    Infeasible,
    /// No step improves the point.
    Stalled,
    /// After too many iterations.
    Iterations,
    /// By request.
    Interrupted,
    /// The problem is not defined at the guess.
    Failed,
}

impl Verdict {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Optimal => "optimal",
            Verdict::Infeasible => "infeasible",
            Verdict::Stalled => "stalled",
            Verdict::Iterations => "iterations",
            Verdict::Interrupted => "interrupted",
            Verdict::Failed => "failed",
        }
    }
}

/// The answer to a control problem: the motion and the controls, with what is known of them.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The method.
    pub method: String,
    /// How the search ended.
    pub status: Verdict,
    /// Why, if it did not end at an optimum.
    pub message: Option<String>,
    /// The cost.
    pub cost: f64,
    /// The steps of each phase.
    pub steps: Vec<usize>,
    /// The motion, the controls, the impulses and the multipliers.
    pub found: Found,
    /// The number of iterations.
    pub iterations: usize,
    /// The largest violation of a condition.
    pub feasibility: f64,
    /// The largest entry of the dual equation, scaled.
    pub optimality: f64,
    /// The largest product of a distance to a bound and its multiplier, scaled.
    pub complementarity: f64,
    /// The number of unknowns and of rows.
    pub size: [usize; 2],
    /// The steps and the cost of each mesh.
    pub refinement: Vec<(Vec<usize>, f64)>,
    /// The estimated error of the cost, if the mesh was refined.
    pub cost_error: Option<f64>,
    /// The conditions that cannot be met, if the problem is infeasible; the largest misfit first.
    pub cannot_meet: Vec<Unmet>,
    /// Independent runs with the controls found.
    pub check: Option<Check>,
    /// What is seldom meant.
    pub warnings: Vec<String>,
    /// The number of different minima that were found.
    pub minima: usize,
    /// The time for compiling, in seconds.
    pub compile_seconds: f64,
    /// The time for solving, in seconds.
    pub solve_seconds: f64,
}

impl Answer {
    pub(super) fn new(method: &Method, problem: &mut Transcription, solution: &Solution) -> Result<Answer> {
        let status = match solution.ending {
            SolverEnding::Optimal => Verdict::Optimal,
            SolverEnding::Infeasible => Verdict::Infeasible,
            SolverEnding::Stalled => Verdict::Stalled,
            SolverEnding::Iterations => Verdict::Iterations,
            SolverEnding::Interrupted => Verdict::Interrupted,
            SolverEnding::Failed => Verdict::Failed,
        };
        let message = match status {
            Verdict::Optimal => None,
            Verdict::Infeasible => Some("the conditions cannot all be met near this guess"),
            Verdict::Stalled => Some("no step improves the point any further"),
            Verdict::Iterations => Some("the largest number of iterations was reached"),
            Verdict::Interrupted => Some("interrupted: this is the best point so far"),
            Verdict::Failed => Some("the problem is not defined at the first guess"),
        };
        Ok(Answer {
            method: method.name.clone(),
            status,
            message: message.map(str::to_string),
            cost: solution.last.objective,
            steps: problem.steps.clone(),
            found: problem.read_off(solution)?,
            iterations: solution.last.iteration,
            feasibility: solution.last.feasibility,
            optimality: solution.last.optimality,
            complementarity: solution.last.complementarity,
            size: problem.size(),
            refinement: vec![(problem.steps.clone(), solution.last.objective)],
            cost_error: None,
            cannot_meet: Vec::new(),
            check: None,
            warnings: Vec::new(),
            minima: 0,
            compile_seconds: 0.0,
            solve_seconds: 0.0,
        })
    }
}

impl Answer {
    /// The end time.
    pub fn t_end(&self) -> f64 {
        self.found.last.t
    }

    /// The controls along the time, for [`Simulation::controls`](crate::Simulation::controls).
    pub fn settings(&self) -> Vec<Setting> {
        settings(&self.found, &self.steps)
    }

    /// Runs the model along the phases, with the controls found.
    pub fn replay(&self, model: &Model, run: &mut RunLeg) -> Result<()> {
        replay(model, &self.method, &self.found, &self.steps, run).map(drop)
    }

    /// Notes impacts without an impulse, and steps so long that the motion between nodes may be another.
    pub(super) fn note_oddities(&mut self, model: &Model) {
        /// A step that moves a coordinate by more than this part of its range is long.
        const LONG: f64 = 1.0 / 3.0;
        /// Smaller impulses are none.
        const NONE: f64 = 1e-6;
        for hit in self.found.hits.iter().filter(|hit| hit.lambda < NONE) {
            let (wall, t) = (&model.system.walls[hit.wall].name, hit.before.t);
            let advice = "ask for an impulse: `lambda = {min = …}`";
            self.warnings.push(format!("the motion touches `{wall}` at t = {t} without an impulse; {advice}"));
        }
        for (i, coordinate) in model.system.coordinates.iter().enumerate() {
            let values: Vec<f64> = self.found.nodes.iter().map(|node| node.q[i]).collect();
            let range = values.iter().fold(f64::MIN, |a, b| a.max(*b)) - values.iter().fold(f64::MAX, |a, b| a.min(*b));
            let step = values.windows(2).fold(0.0f64, |all, pair| all.max((pair[1] - pair[0]).abs()));
            if values.len() > 10 && step > LONG * range && range > 0.0 {
                let message =
                    format!("a step moves `{}` by {step:.3}, more than a third of its range", coordinate.name);
                self.warnings.push(message + ": give more steps, or another guess");
            }
        }
        self.warnings.extend(self.check.iter().flat_map(|check| check.warnings.clone()));
    }
}
