//! What a model has compiled, and whether two models share it.

use super::{Model, Run};
use crate::expr::Expr;
use crate::system::{Enforce, Observed};

impl Model {
    /// What a plant computes beside the motion.
    pub(crate) fn observed(&self) -> Observed {
        Observed {
            outputs: self.outputs.iter().map(|output| output.value).collect(),
            sections: self.sections.iter().map(|section| section.g).collect(),
            stops: self.sections.iter().filter(|section| section.stop).map(|section| section.g).collect(),
        }
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
