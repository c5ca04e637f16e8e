//! The table of diagnostics for a terminal.

use carom::lab::diagnostic::{Panel, Summary, entry};
use carom::{Diagnostic, Model, Ready, Result};

use super::report::Report;
use crate::commands::count;
use crate::style::{QUIET, STRONG, left, paint, right, room, visible};

/// The diagnostics in a list such as `energy,shadow`; all if the list is empty. None may have the name of an output.
pub fn panel(list: &str, model: &Model, ready: &Ready) -> Result<Panel> {
    let panel = Panel::new(model, ready.plant(), ready.method(), ready.step(), &names(list))?;
    let is_output = |(key, _): &&(String, String)| model.outputs.iter().any(|output| output.name == *key);
    match panel.names().iter().find(is_output) {
        None => Ok(panel),
        Some((key, _)) => {
            let error = Diagnostic::new(format!("the output `{key}` has the name of a diagnostic"));
            Err(error.with_help("rename the output, or list other diagnostics: `--diagnostics=gap`").into())
        }
    }
}

/// Returns an error if the list has an unknown name.
pub fn check(list: &str) -> Result<()> {
    names(list).into_iter().try_for_each(|name| entry(name).map(|_| ()))
}

fn names(list: &str) -> Vec<&str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

impl Report<'_> {
    /// For each diagnostic its first value, its bounds, its largest drift and the time of that; then the diagnostics left out.
    pub(super) fn diagnostics_table(&self) -> String {
        let Some(panel) = &self.record.panel else { return String::new() };
        let names: Vec<String> = panel.names().iter().map(|(_, name)| visible(name)).collect();
        let width = names.iter().map(|name| room(name)).max().unwrap_or(0).max("diagnostic".len());
        let headings = ["initial", "lowest", "highest", "largest drift", "at t"].map(|text| right(text, 14)).concat();
        let mut text = format!("\n{}\n", paint(STRONG, &format!("{}{headings}", left("diagnostic", width))));
        for (name, summary) in names.iter().zip(panel.summaries()) {
            text += &format!("{}{}\n", left(name, width), cells(summary));
        }
        text + &note(panel)
    }
}

fn cells(summary: &Summary) -> String {
    let Summary { initial, bounds: [lowest, highest], drift, at, missing } = *summary;
    if initial.is_nan() {
        return right("no value", 14);
    }
    let missing = if missing == 0 { String::new() } else { format!("  no value at {}", count(missing, "node")) };
    let values = [initial, lowest, highest].map(|x| right(&six(x), 14)).concat();
    format!("{values}{}{}{missing}", right(&format!("{drift:.2e}"), 14), right(&format!("{at:.4}"), 14))
}

/// A number with about seven digits.
fn six(x: f64) -> String {
    if x == 0.0 || (1e-2..1e6).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.3e}") }
}

/// Lists the diagnostics left out, grouped by reason.
fn note(panel: &Panel) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for out in panel.left_out() {
        match groups.iter_mut().find(|(why, _)| *why == out.why) {
            Some((_, names)) => names.push(out.name),
            None => groups.push((&out.why, vec![out.name])),
        }
    }
    let line = |(why, names): &(&str, Vec<&str>)| {
        format!("{}\n", paint(QUIET, &format!("left out: {} ({why})", names.join(", "))))
    };
    groups.iter().map(line).collect()
}
