//! All diagnostics that apply, at the nodes of a run.

use super::{Monitor, MonitorKind, REGISTRY, Subject, Summary, entry};
use crate::error::{Error, Result};
use crate::mechanics::Mechanics;
use crate::method::Method;
use crate::model::Model;
use crate::phase::{Flow, Phase};
use crate::run::Mesh;

/// The diagnostics for a model, a method and a step. Stores no values, so runs of any length are possible.
pub struct Panel {
    diagnostics: Vec<Box<dyn Monitor>>,
    pub(crate) names: Vec<(String, String)>,
    pub(crate) left_out: Vec<LeftOut>,
    flow: Box<dyn Flow>,
    h: f64,
    /// The time of the first node.
    start: Option<f64>,
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
pub struct Column {
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
    pub columns: Vec<Column>,
    /// One summary per diagnostic.
    pub summaries: Vec<Summary>,
    /// The diagnostics that do not apply, with reasons.
    pub left_out: Vec<LeftOut>,
}

impl Panel {
    /// Creates the diagnostics named in `only`, or all if it is empty. Those that do not apply are left out.
    pub fn new(model: &Model, method: &Method, step: f64, only: &[&str]) -> Result<Panel> {
        let mechanics = Mechanics::new(&model.system);
        let parameters: Vec<f64> = model.system.parameters.iter().map(|p| p.value).collect();
        let (system, flow) = (&model.system, &method.flow);
        let subject = Subject { system, mechanics: &mechanics, flow, parameters: &parameters };
        let mut panel = Panel {
            diagnostics: Vec::new(),
            names: Vec::new(),
            left_out: Vec::new(),
            flow: flow.build(&mechanics, &parameters)?,
            h: step,
            start: None,
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
        match (entry.make)(subject) {
            Ok(made) => {
                self.names.extend(made.iter().map(|one| (entry.key(one.part()), one.name())));
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

    /// The mesh of the run. Its first node is at `t` if no node has been seen.
    fn mesh_from(&mut self, t: f64) -> Mesh {
        Mesh { start: *self.start.get_or_insert(t), step: self.h, until: f64::INFINITY }
    }

    /// The values at a node of the run; NaN if there is none.
    pub fn at(&mut self, z: &Phase) -> &[f64] {
        for (diagnostic, value) in self.diagnostics.iter_mut().zip(&mut self.values) {
            *value = diagnostic.at(z, self.h, &mut *self.flow).unwrap_or(f64::NAN);
        }
        if self.mesh_from(z.t).contains(z.t) {
            self.summaries.iter_mut().zip(&self.values).for_each(|(summary, &value)| summary.see(z.t, value));
        }
        &self.values
    }
}
