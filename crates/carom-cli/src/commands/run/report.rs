//! What a run says when it is over.

use std::fmt::Write as _;
use std::path::Path;

use carom::error::{Diagnostic, Result};
use carom::method::Method;
use carom::model::Model;
use carom::run::{Impact, Node, Status, Tuned};

use super::record::{Record, SHOWN};
use crate::json::{Object, list_of};
use crate::style::{QUIET, STRONG, paint};

/// A run that is over.
pub struct Report<'a> {
    pub model: &'a Model,
    pub method: &'a Method,
    pub until: f64,
    pub record: &'a Record,
    pub tuned: &'a Tuned,
    pub seconds: [f64; 2],
}

impl Report<'_> {
    fn wall(&self, impact: &Impact) -> &str {
        &self.model.system.walls[impact.wall].name
    }

    /// The status, and a message where there is more to say.
    fn status(&self) -> (&'static str, Option<String>) {
        match &self.tuned.outcome.status {
            Status::Completed => ("completed", None),
            Status::Stopped(section) => {
                ("stopped", Some(format!("the section `{}` was crossed", self.model.sections[*section].name)))
            }
            Status::Interrupted => ("interrupted", Some("the run was interrupted".into())),
            Status::Failed(failure) => ("failed", Some(format!("{}; {}", failure.message, failure.hint))),
        }
    }

    pub fn json(&self, with_nodes: bool) -> String {
        let (status, message) = self.status();
        let mut object = Object::default()
            .text("model", &self.model.title)
            .text("method", &self.method.name)
            .number("step", self.tuned.step)
            .number("until", self.until)
            .text("status", status);
        if let Some(message) = message {
            object = object.text("message", &message);
        }
        let impacts: Vec<String> = self.record.impacts.iter().map(|impact| self.json_impact(impact)).collect();
        object = object.raw("impacts", &list_of(&impacts)).raw("final", &self.json_node(&self.tuned.outcome.last));
        object = object.raw("energy", &self.json_energy()).raw("steps", &self.tuned.outcome.steps.to_string());
        if !self.model.sections.is_empty() {
            object = object.raw("sections", &self.json_sections());
        }
        if with_nodes {
            let nodes: Vec<String> = self.record.nodes.iter().map(|node| self.json_node(node)).collect();
            object = object.raw("nodes", &list_of(&nodes));
        }
        let [compile, run] = self.seconds;
        object
            .number("error_estimate", self.tuned.error)
            .text("version", env!("CARGO_PKG_VERSION"))
            .text("model_hash", &self.model.hash())
            .raw("seconds", &Object::default().number("compile", compile).number("run", run).finish())
            .finish()
    }

    fn json_energy(&self) -> String {
        let [initial, last, drift] = self.tuned.outcome.energy;
        Object::default().number("initial", initial).number("final", last).number("max_drift", drift).finish()
    }

    fn json_impact(&self, impact: &Impact) -> String {
        Object::default()
            .number("t", impact.minus.t)
            .text("wall", self.wall(impact))
            .number("lambda", impact.lambda)
            .numbers("q", &impact.minus.q)
            .numbers("v_minus", &impact.minus.v)
            .numbers("v_plus", &impact.plus.v)
            .numbers("p_minus", &impact.minus.p)
            .numbers("p_plus", &impact.plus.p)
            .finish()
    }

    fn json_node(&self, node: &Node) -> String {
        let mut object =
            Object::default().number("t", node.t).numbers("q", &node.q).numbers("v", &node.v).numbers("p", &node.p);
        if !self.model.outputs.is_empty() {
            let named = self.model.outputs.iter().zip(&node.outputs);
            let outputs = named.fold(Object::default(), |all, (output, &value)| all.number(&output.name, value));
            object = object.raw("outputs", &outputs.finish());
        }
        object.finish()
    }

    fn json_sections(&self) -> String {
        let crossing = |crossing: &carom::run::Crossing| {
            Object::default()
                .text("section", &self.model.sections[crossing.section].name)
                .number("t", crossing.node.t)
                .numbers("q", &crossing.node.q)
                .numbers("v", &crossing.node.v)
                .numbers("p", &crossing.node.p)
                .finish()
        };
        list_of(&self.record.crossings.iter().map(crossing).collect::<Vec<_>>())
    }

    /// The summary for a terminal.
    pub fn print(&self) {
        let [compile, run] = self.seconds;
        anstream::println!("{}", paint(STRONG, &self.model.title));
        let how = format!("{}, step {}, {} steps", self.method.name, self.tuned.step, self.tuned.outcome.steps);
        let times = format!("compiled in {:.1} ms, run in {:.3} ms", 1e3 * compile, 1e3 * run);
        anstream::println!("{how}; {}", paint(QUIET, &times));
        self.print_impacts();
        if let (_, Some(message)) = self.status() {
            anstream::println!("\n{}", paint(STRONG, &message));
        }
        let last = &self.tuned.outcome.last;
        anstream::println!("\nat t = {}", last.t);
        for (i, c) in self.model.system.coordinates.iter().enumerate() {
            anstream::println!("  {:<10} {:>16.9}   {}' = {:.9}", c.name, last.q[i], c.name, last.v[i]);
        }
        for (output, value) in self.model.outputs.iter().zip(&last.outputs) {
            anstream::println!("  {:<10} {value:>16.9}", output.name);
        }
        if !self.model.sections.is_empty() {
            anstream::println!("{} crossings of sections", self.record.crossings.len());
        }
        if self.tuned.error.is_finite() {
            anstream::println!("estimated error of this state {:.1e}", self.tuned.error);
        }
        let [initial, end, drift] = self.tuned.outcome.energy;
        anstream::println!("energy {initial:.9} at the start, {end:.9} at the end, largest drift {drift:.3e}");
    }

    fn print_impacts(&self) {
        let impacts = &self.record.impacts;
        if impacts.is_empty() {
            return;
        }
        anstream::println!("\n{}", paint(STRONG, &format!("{:>4} {:>14} {:>12}  wall", "", "impact at t", "λ")));
        for (number, impact) in impacts.iter().enumerate().take(SHOWN) {
            let (t, lambda) = (impact.minus.t, impact.lambda);
            anstream::println!("{:>4} {t:>14.9} {lambda:>12.6}  {}", number + 1, self.wall(impact));
        }
        if self.record.impact_count > SHOWN {
            anstream::println!("     … {} impacts in all", self.record.impact_count);
        }
    }

    /// Writes the nodes, or the samples, as CSV.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        let mut text = String::from("t");
        for letter in ["q", "v", "p"] {
            for c in &self.model.system.coordinates {
                let _ = write!(text, ",{letter}_{}", c.name);
            }
        }
        for output in &self.model.outputs {
            let _ = write!(text, ",{}", output.name);
        }
        for node in &self.record.nodes {
            let _ = write!(text, "\n{:e}", node.t);
            for x in node.q.iter().chain(&node.v).chain(&node.p).chain(&node.outputs) {
                let _ = write!(text, ",{x:e}");
            }
        }
        text.push('\n');
        let unwritable = |e| Diagnostic::new(format!("cannot write `{}`: {e}", path.display()));
        std::fs::write(path, text).map_err(unwritable).map_err(Into::into)
    }
}
