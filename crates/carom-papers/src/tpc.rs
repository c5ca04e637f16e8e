//! Code shared by the figures of [TPC].

use super::measure::{largest, model_of_text, range};
use super::{Drawing, Mark, Table};
use carom::lab::catalogue;
use carom::lab::error::{Diagnostic, Result};
use carom::lab::mechanics::Node;
use carom::lab::method::Method;
use carom::lab::run::{View, Watcher};
use carom::lab::simulation::Simulation;

/// A run of one of the paper's systems, node by node.
pub(crate) struct Study {
    pub(crate) nodes: Vec<Node>,
    /// The positions in the plane.
    places: Vec<[f64; 2]>,
    /// The number of steps.
    pub(crate) steps: usize,
    /// The run has left the picture if |x| or |y| exceeds this.
    reach: f64,
}

impl Watcher for Study {
    fn node(&mut self, view: &mut View) {
        self.nodes.push(view.node());
    }
}

/// The paper's step, in seconds.
const STEP: f64 = 0.01;

impl Study {
    /// Runs a shipped model with the midpoint rule and the constraint as in `enforce`, after further changes of its text.
    pub(crate) fn of(example: &str, enforce: &str, changes: &[(&str, &str)]) -> Result<Study> {
        let found =
            catalogue::find(example).ok_or_else(|| Diagnostic::new(format!("there is no example `{example}`")))?;
        let mut text = found.text.replace("enforce = \"one-point\"", enforce);
        for (from, to) in changes {
            text = text.replace(from, to);
        }
        let model = model_of_text(example, &text)?;
        let until = model.run.until.unwrap_or(1.0);
        let reach = if example.starts_with("circle") { 1.5 } else { 3.0 };
        let mut study = Study { nodes: Vec::new(), places: Vec::new(), steps: 0, reach };
        let outcome = Simulation::new(&model, &Method::named("midpoint", None)?, STEP, until)?.watch(&mut study)?;
        study.steps = outcome.steps;
        let polar = model.system.coordinates[0].name == "theta";
        study.places = study.nodes.iter().map(|node| place(&node.q, polar)).collect();
        Ok(study)
    }

    /// λ from the first full step on.
    pub(crate) fn lambdas(&self) -> Vec<f64> {
        self.nodes[1..].iter().map(|node| node.lambda[0]).collect()
    }

    /// The distances between consecutive nodes.
    pub(crate) fn strides(&self) -> Vec<f64> {
        self.places.windows(2).map(|pair| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1])).collect()
    }

    /// The largest distance of the nodes from a curve.
    pub(crate) fn off(&self, distance: impl Fn(&[f64; 2]) -> f64) -> f64 {
        self.off_within(self.places.len() - 1, distance)
    }

    /// The largest distance of the nodes of the first steps from a curve.
    pub(crate) fn off_within(&self, steps: usize, distance: impl Fn(&[f64; 2]) -> f64) -> f64 {
        largest(self.places.iter().take(steps + 1).map(|place| distance(place).abs()))
    }

    /// The largest minus the smallest λ.
    pub(crate) fn lambda_range(&self) -> f64 {
        range(&self.lambdas())
    }

    /// The number of steps before it leaves the picture; all steps if it does not.
    pub(crate) fn steps_in_picture(&self) -> usize {
        let is_outside = |place: &[f64; 2]| !place.iter().all(|x| x.abs() <= self.reach);
        self.places.iter().position(is_outside).unwrap_or(self.places.len()).saturating_sub(1)
    }

    /// t, x, y and λ at each node inside the picture. λ belongs to two steps, so the first node has none.
    pub(crate) fn table(&self, name: &str) -> Table {
        let mut table = Table::new(name, &["t", "x", "y", "lambda"]);
        for (k, (node, place)) in self.nodes.iter().zip(&self.places).take(self.steps_in_picture() + 1).enumerate() {
            table.push(vec![node.t, place[0], place[1], if k > 0 { node.lambda[0] } else { f64::NAN }]);
        }
        table
    }

    /// The title of a panel; says when the run leaves the picture.
    pub(crate) fn panel(&self, title: &str) -> String {
        let steps = self.steps_in_picture();
        if steps + 1 == self.places.len() { title.into() } else { format!("{title}, the first {steps} steps") }
    }
}

/// The trajectory in the plane, each node marked.
pub(crate) fn trajectory(panel: &str) -> Drawing {
    Drawing::plane(panel).curve("y", "nodes", Mark::Both)
}

/// λ over t.
pub(crate) fn lambda(panel: &str, label: &str) -> Drawing {
    Drawing::new(panel, "t", ["t [s]", "λ"]).curve("lambda", label, Mark::Both)
}

/// Adds the λ of both runs, in neighbouring panels, to their trajectories.
pub(crate) fn lambda_of_both(tables: Vec<Table>) -> Vec<Table> {
    let draw = |table: Table| match table.name.as_str() {
        "one-point" => table.drawn(lambda("(a) λ, one-point", "")),
        "two-point" => table.drawn(lambda("(b) λ, two-point", "")),
        _ => table,
    };
    tables.into_iter().map(draw).collect()
}

/// The unit circle, in each of the panels.
pub(crate) fn circle(panels: &[&str]) -> Table {
    let places = (0..=180).map(|k| (f64::from(k) * std::f64::consts::PI / 90.0).sin_cos());
    constraint(panels, places.map(|(sin, cos)| [cos, sin]))
}

/// The line y = x + 1 over the range of the motion, in each of the panels.
pub(crate) fn line(panels: &[&str]) -> Table {
    constraint(panels, [[-1.2, -0.2], [1.6, 2.6]])
}

/// The one-point and the two-point run in neighbouring panels, with their constraint.
pub(crate) fn trajectories(one: &Study, two: &Study, constraint: fn(&[&str]) -> Table) -> Vec<Table> {
    let panels = [one.panel("(a) one-point"), two.panel("(b) two-point")];
    vec![
        constraint(&panels.each_ref().map(String::as_str)),
        one.table("one-point").drawn(trajectory(&panels[0])),
        two.table("two-point").drawn(trajectory(&panels[1])),
    ]
}

fn constraint(panels: &[&str], places: impl IntoIterator<Item = [f64; 2]>) -> Table {
    let table = Table::new("constraint", &["x", "y"]);
    let draw = |table: Table, panel: &&str| table.drawn(Drawing::plane(*panel).curve("y", "constraint", Mark::Line));
    let mut table = panels.iter().fold(table, draw);
    places.into_iter().for_each(|place| table.push(place.to_vec()));
    table
}

fn place(q: &[f64], polar: bool) -> [f64; 2] {
    if polar { [q[1] * q[0].cos(), q[1] * q[0].sin()] } else { [q[0], q[1]] }
}

/// The distance of a point from the unit circle.
pub(crate) fn from_circle(place: &[f64; 2]) -> f64 {
    place[0].hypot(place[1]) - 1.0
}

/// The distance of a point from the line y = x + 1.
pub(crate) fn from_line(place: &[f64; 2]) -> f64 {
    (place[1] - place[0] - 1.0) / 2f64.sqrt()
}

pub(crate) const ONE_POINT: &str = "enforce = \"one-point\"";
pub(crate) const TWO_POINT: &str = "enforce = \"two-point\"";
