//! A run as JSON.

use carom::lab::diagnostic::Panel;
use carom::{Crossing, Followed, Impact, Model, Node, State};

use super::report::Report;
use super::{account, rest, resume};
use crate::json::{Object, impact_object, list_of, text};

impl Report<'_> {
    /// The run as one JSON object.
    pub fn json(&self, with_nodes: bool) -> String {
        let (status, message) = self.status();
        let mut object = Object::default()
            .text("model", &self.model.title)
            .text("method", &self.method.name)
            .number("step", self.outcome.step.unwrap_or(f64::NAN))
            .number("longest_step", self.outcome.longest_step)
            .number("until", self.until)
            .text("status", status);
        if self.model.system.mechanism.is_some() {
            object = object.text("kernel", if self.is_recursive { "recursive" } else { "expressions" });
        }
        if let Some(message) = message {
            object = object.text("message", &message);
        }
        let impacts = self.record.impacts.iter().map(|impact| self.json_impact(impact));
        object = object.list("impacts", impacts).raw("final", &self.json_final());
        object = object.raw("energy", &self.json_energy()).raw("steps", &self.outcome.steps.to_string());
        if let Some(violated) = self.outcome.violation {
            let violation = Object::default().number("max_violation", violated.position);
            let violation = violation.number("max_rate_violation", violated.rate);
            object = object.raw("constraints", &violation.finish());
        }
        if let Some(followed) = &self.outcome.followed {
            object = object.raw("follow", &self.json_followed(followed));
        }
        if let Some(account) = &self.outcome.account {
            object = object.raw("account", &account::json(account));
        }
        if !self.record.holdings.is_empty() {
            object = object.raw("rest", &rest::json(self.model, &self.record.holdings));
        }
        if !self.model.sections.is_empty() {
            object = object.raw("sections", &self.json_sections());
        }
        if with_nodes {
            let node = |k: usize| self.json_node(&self.record.nodes[k], self.record.diagnostics.get(k));
            object = object.list("nodes", (0..self.record.nodes.len()).map(node));
        }
        if let Some(panel) = &self.record.panel {
            object = object.raw("diagnostics", &json_panel(panel));
        }
        let (compile, run) = (self.compile_seconds, self.run_seconds);
        if let Some(scale) = &self.outcome.error_scale {
            let scale = Object::default().numbers("q", &scale.q).numbers("p", &scale.p);
            object = object.raw("error_scale", &scale.finish());
        }
        if let Some(t) = self.outcome.error_since {
            object = object.number("error_estimate_since", t);
        }
        let object = object.number("error_estimate", self.outcome.error_estimate.unwrap_or(f64::NAN));
        origin(object, self.model)
            .raw("seconds", &Object::default().number("compile", compile).number("run", run).finish())
            .finish()
    }

    fn json_followed(&self, followed: &Followed) -> String {
        let whole = |numbers: &[usize]| list_of(&numbers.iter().map(usize::to_string).collect::<Vec<_>>());
        let names: Vec<String> = self.model.problem.controls.iter().map(|control| text(&control.name)).collect();
        Object::default()
            .raw("controls", &list_of(&names))
            .raw("clipped_steps", &whole(&followed.clipped))
            .numbers("clipped_by", &followed.excess)
            .raw("impacts", &followed.impacts[0].to_string())
            .raw("planned_impacts", &followed.impacts[1].to_string())
            .number("lost_at", followed.lost.unwrap_or(f64::NAN))
            .finish()
    }

    fn json_energy(&self) -> String {
        let energy = &self.outcome.energy;
        let ends = Object::default().number("initial", energy.initial).number("final", energy.last);
        ends.number("max_drift", energy.max_drift).finish()
    }

    /// The final state, complete enough to resume from.
    fn json_final(&self) -> String {
        final_object(self.model, &self.outcome.last, &self.outcome.state).finish()
    }

    fn json_impact(&self, impact: &Impact) -> String {
        impact_object(self.wall(impact), impact)
    }

    fn json_node(&self, node: &Node, diagnostics: Option<&Vec<f64>>) -> String {
        self.node_object(node, diagnostics).finish()
    }

    fn node_object(&self, node: &Node, diagnostics: Option<&Vec<f64>>) -> Object {
        let mut object = node_object(self.model, node);
        if let (Some(values), Some(panel)) = (diagnostics, &self.record.panel) {
            let named = panel.names().iter().zip(values);
            let all = named.fold(Object::default(), |all, ((key, _), &value)| all.number(key, value));
            object = object.raw("diagnostics", &all.finish());
        }
        object
    }

    fn json_sections(&self) -> String {
        let crossing = |crossing: &Crossing| {
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
}

/// What tells whether a final state is one of a model: the version, the mechanics, the parameters.
pub fn origin(object: Object, model: &Model) -> Object {
    let parameters: Vec<f64> = model.system.parameters.iter().map(|parameter| parameter.value).collect();
    let names: Vec<String> = model.system.coordinates.iter().map(|c| text(&c.name)).collect();
    object
        .text("version", env!("CARGO_PKG_VERSION"))
        .text("model_hash", &model.hash())
        .text("mechanics_hash", &model.mechanics_hash())
        .raw("coordinates", &list_of(&names))
        .numbers("parameters", &parameters)
}

/// A final state, complete enough to resume from.
pub fn final_object(model: &Model, last: &Node, state: &State) -> Object {
    node_object(model, last).raw("state", &resume::json(state))
}

fn node_object(model: &Model, node: &Node) -> Object {
    let mut object =
        Object::default().number("t", node.t).numbers("q", &node.q).numbers("v", &node.v).numbers("p", &node.p);
    if !model.outputs.is_empty() {
        let named = model.outputs.iter().zip(&node.outputs);
        let outputs = named.fold(Object::default(), |all, (output, &value)| all.number(&output.name, value));
        object = object.raw("outputs", &outputs.finish());
    }
    if !node.lambda.is_empty() {
        object = object.numbers("lambda", &node.lambda).numbers("constraint_force", &node.force);
    }
    object
}

/// The summary of each diagnostic, and the reasons why others were left out.
fn json_panel(panel: &Panel) -> String {
    let named = panel.names().iter().zip(panel.summaries());
    let all = named.fold(Object::default(), |all, ((key, name), summary)| {
        let one = Object::default()
            .text("name", name)
            .number("initial", summary.initial)
            .number("lowest", summary.bounds[0])
            .number("highest", summary.bounds[1])
            .number("max_drift", summary.drift)
            .number("at", summary.at)
            .raw("missing", &summary.missing.to_string());
        all.raw(key, &one.finish())
    });
    let left_out = panel.left_out().iter().fold(Object::default(), |all, out| all.text(out.name, &out.why));
    Object::default().raw("followed", &all.finish()).raw("left_out", &left_out.finish()).finish()
}
