//! The nodes or samples as rows of numbers.

use carom::lab::diagnostic::Panel;
use carom::{Model, Node};

use super::report::Report;
use crate::commands::quoted;
use crate::style::{STRONG, paint, right};

/// The width of a column on a terminal.
const WIDTH: usize = 14;

/// t, then q, v and p of each coordinate, the outputs, the impulses of the constraints and the diagnostics.
pub fn columns(model: &Model, panel: Option<&Panel>) -> Vec<String> {
    let coordinates = &model.system.coordinates;
    let state = ["q", "v", "p"]
        .iter()
        .flat_map(|letter| coordinates.iter().map(move |coordinate| format!("{letter}_{}", coordinate.name)));
    let outputs = model.outputs.iter().map(|output| output.name.clone());
    let diagnostics = panel.into_iter().flat_map(|panel| panel.names()).map(|(key, _)| key.clone());
    let lambdas = model.system.stated_constraints().iter().map(|constraint| format!("lambda_{}", constraint.name));
    ["t".to_string()].into_iter().chain(state).chain(outputs).chain(lambdas).chain(diagnostics).collect()
}

/// The numbers of a node or sample.
pub fn row(node: &Node, diagnostics: &[f64]) -> Vec<f64> {
    let state = [node.t].into_iter().chain(node.q.iter().chain(&node.v).chain(&node.p).copied());
    state.chain(node.outputs.iter().chain(&node.lambda).chain(diagnostics).copied()).collect()
}

/// The names of the columns as a line of CSV.
pub fn csv_header(columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    names.join(",") + "\n"
}

/// A row as a line of CSV.
pub fn csv_line(row: &[f64]) -> String {
    let cells: Vec<String> = row.iter().map(|x| format!("{x:e}")).collect();
    cells.join(",") + "\n"
}

impl Report<'_> {
    fn diagnostics(&self, k: usize) -> &[f64] {
        self.record.diagnostics.get(k).map_or(&[], |values| values)
    }

    fn rows(&self) -> impl Iterator<Item = Vec<f64>> {
        self.record.nodes.iter().enumerate().map(|(k, node)| row(node, self.diagnostics(k)))
    }

    /// The rows as CSV.
    pub fn csv(&self) -> String {
        let header = csv_header(&columns(self.model, self.record.panel.as_ref()));
        header + &self.rows().map(|row| csv_line(&row)).collect::<String>()
    }

    /// The impacts as CSV: the time, the wall, λ, then q, v⁻, v⁺, p⁻ and p⁺ of each coordinate.
    pub fn impacts_csv(&self) -> String {
        let coordinates = &self.model.system.coordinates;
        let letters = ["q", "v_minus", "v_plus", "p_minus", "p_plus"];
        let names = letters.iter().flat_map(|letter| coordinates.iter().map(move |c| format!("{letter}_{}", c.name)));
        let columns = ["t", "wall", "lambda"].map(String::from).into_iter().chain(names).map(|name| quoted(&name));
        let mut text = columns.collect::<Vec<_>>().join(",");
        for impact in &self.record.impacts {
            let (minus, plus) = (&impact.minus, &impact.plus);
            let state = minus.q.iter().chain(&minus.v).chain(&plus.v).chain(&minus.p).chain(&plus.p);
            let numbers: Vec<String> = [&impact.lambda].into_iter().chain(state).map(|x| format!("{x:e}")).collect();
            text += &format!("\n{:e},{},{}", minus.t, quoted(self.wall(impact)), numbers.join(","));
        }
        text + "\n"
    }

    /// The rows as a table for a terminal; empty if no nodes were requested.
    pub(super) fn node_table(&self) -> String {
        if !self.record.shows_nodes {
            return String::new();
        }
        let columns = columns(self.model, self.record.panel.as_ref());
        let widths: Vec<usize> = columns.iter().map(|name| WIDTH.max(crate::style::room(name) + 2)).collect();
        let line = |cells: Vec<String>| -> String {
            cells.iter().zip(&widths).map(|(cell, &width)| right(cell, width)).collect()
        };
        let mut text = format!("\n{}\n", paint(STRONG, &line(columns.clone())));
        for row in self.rows() {
            text += &line(row.iter().map(|&x| short(x)).collect());
            text.push('\n');
        }
        text
    }
}

/// Six decimals, or exponential notation; a dash if there is no value.
fn short(x: f64) -> String {
    if x.is_nan() {
        return "–".into();
    }
    if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x:.6}") } else { format!("{x:.5e}") }
}
