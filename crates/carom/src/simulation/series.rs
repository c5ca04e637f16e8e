//! Diagnostics along a run.

use super::Simulation;
use crate::diagnostic::{MonitorColumn, Panel, Table};
use crate::error::Result;
use crate::method::Method;
use crate::model::Model;
use crate::run::{Status, View, Watcher};

/// Runs a model and records diagnostics at the nodes: those named in `only`, or all if it is empty.
pub fn series(model: &Model, method: &Method, step: f64, until: f64, only: &[&str]) -> Result<Table> {
    let simulation = Simulation::new(model, method, step, until)?;
    let ready = simulation.prepare()?;
    let panel = Panel::new(model, ready.plant(), method, Some(step), only)?;
    let column =
        |(key, name): &(String, String)| MonitorColumn { key: key.clone(), name: name.clone(), values: Vec::new() };
    let columns = panel.names.iter().map(column).collect();
    let mut keep = Keep { panel, t: Vec::new(), columns };
    let outcome = ready.watch(&mut keep)?;
    if let Status::Failed(why) = outcome.status {
        return Err((*why).into());
    }
    let Keep { panel, t, columns } = keep;
    Ok(Table { t, columns, summaries: panel.summaries, left_out: panel.left_out })
}

struct Keep {
    panel: Panel,
    t: Vec<f64>,
    columns: Vec<MonitorColumn>,
}

impl Watcher for Keep {
    fn node(&mut self, view: &mut View) {
        self.t.push(view.t());
        let values = self.panel.at(view.phase());
        self.columns.iter_mut().zip(values).for_each(|(column, &value)| column.values.push(value));
    }

    fn wants_impacts(&self) -> bool {
        false
    }
}
