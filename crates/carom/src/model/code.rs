//! What a model has compiled beside the motion, and whether two models share all of their code.

use super::{Model, Run};
use crate::expr::Expr;
use crate::system::{Enforce, Observed, StateFunctions, normal_force};

impl Model {
    /// What a plant computes beside the motion.
    pub(crate) fn observed(&self) -> Observed {
        Observed {
            outputs: self.outputs.iter().map(|output| output.value).collect(),
            sections: self.sections.iter().map(|section| section.g).collect(),
            stops: self.sections.iter().filter(|section| section.stop).map(|section| section.g).collect(),
        }
    }

    /// For each output, true if it is a function of the state: it contains no force of a wall.
    pub(crate) fn outputs_of_state(&self) -> Vec<bool> {
        let forces: Vec<Expr> = (0..self.system.walls.len()).map(normal_force).collect();
        self.outputs.iter().map(|output| !output.value.depends_on(&forces)).collect()
    }

    /// All coordinates, velocities and momenta, then all outputs, where those that are no functions of the state are 0; then what the
    /// objective adds at the end, if it is wanted.
    pub(crate) fn functions_of_state(&self, wants_objective: bool) -> StateFunctions {
        let zero = Expr::constant(0.0);
        let outputs = self.outputs.iter().zip(self.outputs_of_state());
        let outputs = outputs.map(|(output, of_state)| if of_state { output.value } else { zero });
        let end = wants_objective.then_some(self.problem.objective.end.unwrap_or(zero));
        StateFunctions { has_state: true, others: outputs.chain(end).collect() }
    }

    /// What the objective adds on the way, if it does.
    pub(crate) fn running_cost(&self) -> Option<StateFunctions> {
        let running = self.problem.objective.running?;
        Some(StateFunctions { has_state: false, others: vec![running] })
    }

    /// True if the plants and the schemes of both models have the same code: the models differ in numbers only.
    pub(crate) fn has_code_of(&self, other: &Model) -> bool {
        equations_of(self) == equations_of(other)
            && observed_in(self) == observed_in(other)
            && rules_of(self) == rules_of(other)
    }
}

/// The equations, without the values of parameters.
fn equations_of(model: &Model) -> impl PartialEq {
    let system = &model.system;
    let parameters: Vec<Expr> = system.parameters.iter().map(|parameter| parameter.symbol).collect();
    let coordinates: Vec<(Expr, Option<Expr>)> = system.coordinates.iter().map(|c| (c.q, c.prescribed)).collect();
    let walls: Vec<(Expr, Expr)> = system.walls.iter().map(|wall| (wall.phi, wall.restitution)).collect();
    let constraints: Vec<(Expr, Enforce)> = system.constraints.iter().map(|c| (c.g, c.enforce)).collect();
    let lagrangian = (system.lagrangian.l, system.lagrangian.parts);
    (lagrangian, parameters, coordinates, walls, constraints, system.forces.clone(), system.function.clone())
}

/// What is computed beside the motion, and which sections end a run.
fn observed_in(model: &Model) -> impl PartialEq {
    let stops: Vec<bool> = model.sections.iter().map(|section| section.stop).collect();
    (model.observed(), stops)
}

/// The settings that schemes are built with.
fn rules_of(model: &Model) -> impl PartialEq {
    let run = Run { method: None, step: None, until: None, tolerance: 1.0, ..model.run.clone() };
    (run, model.projection.clone())
}
