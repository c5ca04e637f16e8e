//! What the figures of [TPC] have in common.

use super::Table;
use super::measure::{largest, model_of_text, range};
use crate::catalogue;
use crate::error::{Diagnostic, Result};
use crate::method::Method;
use crate::run::{Node, Simulation, View, Watcher};

/// A run of one of the paper's systems, node by node.
pub(super) struct Study {
    pub(super) nodes: Vec<Node>,
    /// Where q is in the plane.
    places: Vec<[f64; 2]>,
    /// How many steps it made.
    pub(super) steps: usize,
}

impl Watcher for Study {
    fn node(&mut self, view: &mut View) {
        self.nodes.push(view.node());
    }
}

impl Study {
    /// Runs a shipped model with the midpoint rule and the constraint as in `enforce`, after other changes of its text.
    pub(super) fn of(example: &str, enforce: &str, changes: &[(&str, &str)]) -> Result<Study> {
        let found =
            catalogue::find(example).ok_or_else(|| Diagnostic::new(format!("there is no example `{example}`")))?;
        let mut text = found.text.replace("enforce = \"one-point\"", enforce);
        for (from, to) in changes {
            text = text.replace(from, to);
        }
        let model = model_of_text(example, &text)?;
        let (step, until) = (model.run.step.unwrap_or(0.01), model.run.until.unwrap_or(1.0));
        let mut study = Study { nodes: Vec::new(), places: Vec::new(), steps: 0 };
        let outcome = Simulation::new(&model, &Method::named("midpoint", None)?, step, until)?.run(&mut study)?;
        study.steps = outcome.steps;
        let polar = model.system.coordinates[0].name == "theta";
        study.places = study.nodes.iter().map(|node| place(&node.q, polar)).collect();
        Ok(study)
    }

    /// λ from the first full step on.
    pub(super) fn lambdas(&self) -> Vec<f64> {
        self.nodes[1..].iter().map(|node| node.lambda[0]).collect()
    }

    /// The distances of neighbouring nodes.
    pub(super) fn strides(&self) -> Vec<f64> {
        self.places.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).collect()
    }

    /// How far the nodes are from a curve.
    pub(super) fn off(&self, distance: impl Fn(&[f64; 2]) -> f64) -> f64 {
        self.off_within(self.places.len() - 1, distance)
    }

    /// The same in the first steps.
    pub(super) fn off_within(&self, steps: usize, distance: impl Fn(&[f64; 2]) -> f64) -> f64 {
        largest(self.places.iter().take(steps + 1).map(|place| distance(place).abs()))
    }

    /// Largest less smallest λ.
    pub(super) fn lambda_range(&self) -> f64 {
        range(&self.lambdas())
    }

    /// t, x, y and λ at each node.
    pub(super) fn table(&self, name: &str) -> Table {
        let mut table = Table::new(name, &["t", "x", "y", "lambda"]);
        for (node, place) in self.nodes.iter().zip(&self.places) {
            table.push(vec![node.t, place[0], place[1], node.lambda[0]]);
        }
        table
    }
}

fn place(q: &[f64], polar: bool) -> [f64; 2] {
    if polar { [q[1] * q[0].cos(), q[1] * q[0].sin()] } else { [q[0], q[1]] }
}

/// How far a place is from the unit circle.
pub(super) fn from_circle(place: &[f64; 2]) -> f64 {
    place[0].hypot(place[1]) - 1.0
}

/// How far a place is from the line y = x + 1.
pub(super) fn from_line(place: &[f64; 2]) -> f64 {
    (place[1] - place[0] - 1.0) / 2f64.sqrt()
}

pub(super) const ONE_POINT: &str = "enforce = \"one-point\"";
pub(super) const TWO_POINT: &str = "enforce = \"two-point\"";
