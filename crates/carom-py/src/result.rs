//! A finished run as a dictionary of arrays and facts.

use carom::{Crossing, Holding, Impact, Model, Node, Outcome, Status};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{column, rows};
use crate::dense::Dense;
use crate::recorder::Record;

/// A finished run.
pub struct Finished {
    pub record: Record,
    pub outcome: Outcome,
    /// The final state as text.
    pub restart: String,
    pub dense: Option<Dense>,
    pub method: String,
    pub begin: f64,
    pub until: f64,
    pub notes: Vec<String>,
    /// The time that it took, without that for Python.
    pub seconds: f64,
}

/// What the package makes a `Solution` from.
pub fn dictionary<'py>(
    py: Python<'py>,
    model: &Model,
    finished: Finished,
    (said, mut notes): (Vec<String>, Vec<String>),
) -> PyResult<Bound<'py, PyDict>> {
    let Finished { record, outcome, restart, dense, method, begin, until, notes: before, seconds } = finished;
    let n = model.system.coordinates.len();
    let all = PyDict::new(py);
    let length = record.t.len();
    all.set_item("t", column(py, record.t))?;
    for (name, values) in [("q", record.q), ("v", record.v), ("p", record.p)] {
        all.set_item(name, rows(py, values, n)?)?;
    }
    all.set_item("energy", column(py, record.energy))?;
    for (name, values) in [("outputs", record.outputs), ("lambda", record.lambda)] {
        let count = values.len().checked_div(length).unwrap_or(0);
        all.set_item(name, rows(py, values, count)?)?;
    }
    if let Some(panel) = &record.panel {
        let keys: Vec<&str> = panel.names().iter().map(|(key, _)| key.as_str()).collect();
        let left_out: Vec<(&str, &str)> = panel.left_out().iter().map(|out| (out.name, out.why.as_str())).collect();
        all.set_item("diagnostics", rows(py, record.diagnostics, keys.len())?)?;
        all.set_item("diagnostic_names", keys)?;
        all.set_item("left_out", left_out)?;
    }
    all.set_item("impacts", impacts(py, model, &record.impacts)?)?;
    all.set_item("sections", sections(py, model, &record.crossings)?)?;
    all.set_item("rest", rest(model, &record.holdings))?;
    all.set_item("dense", dense)?;
    let (status, message) = status(model, &outcome.status);
    all.set_item("status", status)?;
    all.set_item("message", message)?;
    notes.extend(before);
    notes.extend(outcome.notes);
    all.set_item("warnings", said.into_iter().chain(outcome.warnings).collect::<Vec<_>>())?;
    all.set_item("notes", notes)?;
    all.set_item("account", outcome.account.map(|all| [all.work, all.drives, all.impacts, all.unexplained]))?;
    all.set_item("error", outcome.error_estimate)?;
    all.set_item("method", method)?;
    all.set_item("step", outcome.step)?;
    all.set_item("longest_step", outcome.longest_step)?;
    all.set_item("steps", outcome.steps)?;
    all.set_item("span", (begin, outcome.last.t))?;
    all.set_item("until", until)?;
    all.set_item("seconds", seconds)?;
    all.set_item("drift", outcome.energy.max_drift)?;
    all.set_item("violation", outcome.violation.map(|violated| (violated.position, violated.rate)))?;
    let Node { t, q, v, p, .. } = outcome.last;
    all.set_item("final", (t, column(py, q), column(py, v), column(py, p), restart))?;
    Ok(all)
}

fn status(model: &Model, status: &Status) -> (&'static str, Option<String>) {
    match status {
        Status::Completed => ("completed", None),
        Status::Stopped(section) => {
            ("stopped", Some(format!("the section `{}` was crossed", model.sections[*section].name)))
        }
        Status::Zeno(wall) => {
            ("zeno", Some(format!("impacts accumulate on the wall `{}`", model.system.walls[*wall].name)))
        }
        Status::Interrupted => ("interrupted", Some("the run was interrupted".into())),
        Status::Failed(failure) => ("failed", Some(format!("{}; {}", failure.message, failure.hint))),
    }
}

fn impacts<'py>(py: Python<'py>, model: &Model, all: &[Impact]) -> PyResult<Bound<'py, PyDict>> {
    let n = model.system.coordinates.len();
    let list = |of: fn(&Impact) -> f64| column(py, all.iter().map(of).collect());
    let table = |of: fn(&Impact) -> &[f64]| rows(py, all.iter().flat_map(of).copied().collect(), n);
    let impacts = PyDict::new(py);
    impacts.set_item("t", list(|impact| impact.minus.t))?;
    impacts.set_item("impulse", list(|impact| impact.lambda))?;
    impacts.set_item("q", table(|impact| &impact.minus.q)?)?;
    impacts.set_item("v_minus", table(|impact| &impact.minus.v)?)?;
    impacts.set_item("v_plus", table(|impact| &impact.plus.v)?)?;
    impacts.set_item("p_minus", table(|impact| &impact.minus.p)?)?;
    impacts.set_item("p_plus", table(|impact| &impact.plus.p)?)?;
    let walls: Vec<&str> = all.iter().map(|impact| model.system.walls[impact.wall].name.as_str()).collect();
    impacts.set_item("wall", walls)?;
    Ok(impacts)
}

fn sections<'py>(py: Python<'py>, model: &Model, all: &[Crossing]) -> PyResult<Bound<'py, PyDict>> {
    let n = model.system.coordinates.len();
    let sections = PyDict::new(py);
    for (number, section) in model.sections.iter().enumerate() {
        let nodes = || all.iter().filter(|crossing| crossing.section == number).map(|crossing| &crossing.node);
        let table = |of: fn(&Node) -> &[f64]| rows(py, nodes().flat_map(of).copied().collect(), n);
        let crossings = PyDict::new(py);
        crossings.set_item("t", column(py, nodes().map(|node| node.t).collect()))?;
        crossings.set_item("q", table(|node| &node.q)?)?;
        crossings.set_item("v", table(|node| &node.v)?)?;
        crossings.set_item("p", table(|node| &node.p)?)?;
        sections.set_item(&section.name, crossings)?;
    }
    Ok(sections)
}

/// The times at which walls begin and cease to hold the motion, with their names and what happens.
fn rest(model: &Model, all: &[Holding]) -> Vec<(f64, String, &'static str)> {
    let name = |holding: &Holding| model.system.walls[holding.wall].name.clone();
    all.iter().map(|holding| (holding.t, name(holding), if holding.begins { "rest" } else { "release" })).collect()
}
