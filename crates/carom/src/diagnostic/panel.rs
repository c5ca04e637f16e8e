//! All diagnostics that apply, at the nodes of a run.

use super::{Monitor, MonitorKind, REGISTRY, Subject, Summary, entry};
use crate::error::{Error, Result};
use crate::method::Method;
use crate::model::Model;
use crate::phase::{Flow, Phase};
use crate::plant::Plant;
use crate::run::Mesh;

/// Diagnostics that are not asked for by name make at most this many steps before they leave out nodes.
const STEPS_OF_DIAGNOSTIC: usize = 200_000;

/// The diagnostics for a model, a method and a step. Stores no values, so runs of any length are possible.
pub struct Panel {
    diagnostics: Vec<Box<dyn Monitor>>,
    /// For each diagnostic, true if it has a value at nodes only.
    of_step: Vec<bool>,
    pub(crate) names: Vec<(String, String)>,
    pub(crate) left_out: Vec<LeftOut>,
    flow: Box<dyn Flow>,
    /// The step; none if carom controls the length of steps.
    h: Option<f64>,
    /// The time of the first node.
    start: Option<f64>,
    /// The number of nodes so far.
    nodes: usize,
    /// Without names, diagnostics that take many steps have values at some of the nodes of a long run only.
    thins: bool,
    values: Vec<f64>,
    pub(crate) summaries: Vec<Summary>,
}

/// A diagnostic that does not apply.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Its registered name.
    pub name: &'static str,
    /// The reason.
    pub why: String,
}

/// The values of one diagnostic along the nodes.
#[derive(Clone, Debug)]
pub struct MonitorColumn {
    /// The name in files, such as `discrete_energy` or `momentum_x`.
    pub key: String,
    /// The name in tables and plots, such as −D₃L_d.
    pub name: String,
    /// One value per node; NaN if there is none.
    pub values: Vec<f64>,
}

/// Diagnostics along the nodes of a run.
#[derive(Clone, Debug)]
pub struct Table {
    /// The times of the nodes.
    pub t: Vec<f64>,
    /// One column per diagnostic.
    pub columns: Vec<MonitorColumn>,
    /// One summary per diagnostic.
    pub summaries: Vec<Summary>,
    /// The diagnostics that do not apply, with reasons.
    pub left_out: Vec<LeftOut>,
}

impl Panel {
    /// Creates the diagnostics named in `only`, or all if it is empty. Those that do not apply are left out; without a step of
    /// constant length, those are that belong to a step.
    pub fn new(model: &Model, plant: &dyn Plant, method: &Method, step: Option<f64>, only: &[&str]) -> Result<Panel> {
        let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
        let subject = Subject { system: &model.system, plant, flow: &method.flow, parameters: &parameters };
        let mut panel = Panel {
            diagnostics: Vec::new(),
            of_step: Vec::new(),
            names: Vec::new(),
            left_out: Vec::new(),
            flow: subject.steps()?,
            h: step,
            start: None,
            nodes: 0,
            thins: only.is_empty(),
            values: Vec::new(),
            summaries: Vec::new(),
        };
        let wanted: Vec<&MonitorKind> = match only {
            [] => REGISTRY.iter().collect(),
            names => names.iter().map(|name| entry(name)).collect::<Result<_>>()?,
        };
        for entry in wanted {
            panel.add(entry, &subject)?;
        }
        panel.values = vec![f64::NAN; panel.diagnostics.len()];
        panel.summaries = vec![Summary::default(); panel.diagnostics.len()];
        Ok(panel)
    }

    fn add(&mut self, entry: &'static MonitorKind, subject: &Subject) -> Result<()> {
        if entry.of_step && self.h.is_none() {
            let why = "the steps have no constant length; name a method and a step".into();
            self.left_out.push(LeftOut { name: entry.name, why });
            return Ok(());
        }
        match (entry.make)(subject) {
            Ok(made) => {
                self.names.extend(made.iter().map(|one| (entry.key(one.part()), one.name())));
                self.of_step.resize(self.of_step.len() + made.len(), entry.of_step);
                self.diagnostics.extend(made);
            }
            Err(Error::Model(why)) => self.left_out.push(LeftOut { name: entry.name, why: why.message }),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// For each diagnostic, its name in files and its name in tables and plots.
    pub fn names(&self) -> &[(String, String)] {
        &self.names
    }

    /// The diagnostics that do not apply, with reasons.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The summaries so far. They exclude a last node reached by a shorter step, because H̃ depends on the step.
    pub fn summaries(&self) -> &[Summary] {
        &self.summaries
    }

    /// True if t is a node of the mesh; its first node is at `t` if no node has been seen.
    fn is_node(&mut self, t: f64) -> bool {
        let start = *self.start.get_or_insert(t);
        self.h.is_none_or(|step| Mesh::new(start, step, f64::INFINITY).contains(t))
    }

    /// The values at a sample of the run, which is a node or lies between two: diagnostics of a step have a value at nodes only.
    /// Samples are not part of the summaries.
    pub fn sample(&mut self, z: &Phase, is_node: bool) -> &[f64] {
        let h = self.h.unwrap_or(f64::NAN);
        for (k, (diagnostic, value)) in self.diagnostics.iter_mut().zip(&mut self.values).enumerate() {
            let is_due = !self.thins || is_due(self.nodes, diagnostic.steps());
            let has_value = (is_node && is_due) || !self.of_step[k];
            let found = has_value.then(|| diagnostic.at(z, h, &mut *self.flow).ok()).flatten();
            *value = found.unwrap_or(f64::NAN);
        }
        self.nodes += usize::from(is_node);
        &self.values
    }

    /// The values at a node of the run; NaN if there is none.
    pub fn at(&mut self, z: &Phase) -> &[f64] {
        self.sample(z, true);
        if self.is_node(z.t) {
            self.summaries.iter_mut().zip(&self.values).for_each(|(summary, &value)| summary.see(z.t, value));
        }
        &self.values
    }
}

/// True if a diagnostic that takes so many steps has a value at this node. It has one at all of the first nodes, as many as
/// [`STEPS_OF_DIAGNOSTIC`] allow; whenever their number has doubled, at half as many of those that follow. So the work grows with the
/// logarithm of the length of a run.
fn is_due(node: usize, steps: usize) -> bool {
    let times = node * steps / STEPS_OF_DIAGNOSTIC;
    node.is_multiple_of(1 << times.checked_ilog2().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_diagnostic_is_bounded() {
        let values = |nodes: usize, steps| (0..nodes).filter(|&node| is_due(node, steps)).count();
        assert_eq!(values(STEPS_OF_DIAGNOSTIC / 50, 50), STEPS_OF_DIAGNOSTIC / 50, "short runs have all");
        assert_eq!(values(10_000_000, 0), 10_000_000, "what takes no steps has all");
        for (nodes, steps) in [(80_000, 50), (10_000_000, 50), (10_000_000, 200)] {
            let work = (values(nodes, steps) * steps) as f64 / STEPS_OF_DIAGNOSTIC as f64;
            let most = 1.0 + ((nodes * steps) as f64 / STEPS_OF_DIAGNOSTIC as f64).log2();
            assert!(work <= most + 0.1, "{work} times the first steps for {nodes} nodes, more than {most}");
        }
    }
}
