//! What a run says when it is over.

use std::fmt::Write as _;
use std::path::Path;

use carom::error::{Diagnostic, Result};
use carom::method::Method;
use carom::model::Model;
use carom::run::{Impact, Node, Status, Tuned};

use super::record::{LAST, Record, SHOWN};
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
    pub fn status(&self) -> (&'static str, Option<String>) {
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
    pub fn summary(&self) -> String {
        let [compile, run] = self.seconds;
        let (outcome, step) = (&self.tuned.outcome, plain(self.tuned.step));
        let steps = if outcome.steps == 1 { "1 step".into() } else { format!("{} steps", outcome.steps) };
        let times = format!("compiled in {:.1} ms, run in {:.3} ms", 1e3 * compile, 1e3 * run);
        let mut text = format!("{}\n", paint(STRONG, &self.model.title));
        text += &format!("{}, step {step}, {steps}; {}\n", self.method.name, paint(QUIET, &times));
        text += &self.impact_table();
        if let (_, Some(message)) = self.status() {
            text += &format!("\n{}\n", paint(STRONG, &message));
        }
        text += &format!("\nat t = {}\n", plain(outcome.last.t));
        text += &self.last_state();
        if self.tuned.error.is_finite() {
            text += &format!("estimated error of this state {:.1e}\n", self.tuned.error);
        }
        let [initial, end, drift] = outcome.energy;
        text += &format!("energy {initial:.9} at the start, {end:.9} at the end, largest drift {drift:.3e}\n");
        let times: Vec<f64> = self.record.impacts.iter().map(|impact| impact.minus.t).collect();
        let all_times = if times.len() == self.record.impact_count { times.as_slice() } else { &[] };
        let plot = self.record.energy.as_ref().and_then(|energy| energy.draw(all_times));
        text + &plot.unwrap_or_default()
    }

    fn last_state(&self) -> String {
        let last = &self.tuned.outcome.last;
        let mut text = String::new();
        for (i, c) in self.model.system.coordinates.iter().enumerate() {
            text += &format!("  {:<10} {:>16.9}   {}' = {:.9}\n", c.name, last.q[i], c.name, last.v[i]);
        }
        for (output, value) in self.model.outputs.iter().zip(&last.outputs) {
            text += &format!("  {:<10} {value:>16.9}\n", output.name);
        }
        if !self.model.sections.is_empty() {
            text += &format!("{} crossings of sections\n", self.record.crossings.len());
        }
        text
    }

    fn impact_table(&self) -> String {
        let impacts = &self.record.impacts;
        if impacts.is_empty() {
            return String::new();
        }
        let heading = format!("{:>4} {:>14} {:>12}  wall", "", "impact at t", "λ");
        let mut text = format!("\n{}\n", paint(STRONG, &heading));
        let line = |number: usize, impact: &Impact| {
            let (t, lambda, wall) = (impact.minus.t, impact.lambda, self.wall(impact));
            format!("{number:>4} {t:>14.9} {lambda:>12.6}  {wall}\n")
        };
        let count = self.record.impact_count;
        let shown = if count > SHOWN { SHOWN - 2 * LAST } else { SHOWN };
        text.extend(impacts.iter().take(shown).enumerate().map(|(k, impact)| line(k + 1, impact)));
        if count > SHOWN {
            text += &format!("   … {count} impacts in all\n");
            let last = impacts.iter().chain(&self.record.last_impacts).rev().take(LAST).collect::<Vec<_>>();
            text.extend(last.iter().enumerate().rev().map(|(k, impact)| line(count - k, impact)));
        }
        text
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

/// A number as it was given, unless that would be a long row of zeros.
pub fn plain(x: f64) -> String {
    if x == 0.0 || (1e-5..1e15).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}
