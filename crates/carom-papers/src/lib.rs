//! The figures and tables of the papers, recomputed, each with the paper's claim and our finding.
//!
//! To add one, add a file here and a line in [`REGISTRY`].

mod bea_fig1;
mod bea_fig2;
mod dlm_fig1;
mod dlm_fig3;
mod dlm_fig4;
mod dlm_table1;
mod dlm_table2;
mod drawing;
mod gp_bar;
mod gp_constrained_bar;
mod gp_fig1;
mod gp_pendulum;
mod measure;
mod tpc;
mod tpc_fig2;
mod tpc_fig4;
mod tpc_fig5;
mod tpc_fig6;
mod tpc_fig7;
mod tpc_fig8;
mod tpc_fig9;

pub use drawing::{Curve, Drawing, Mark};

use std::fmt::Write;

use carom::lab::error::{Diagnostic, Result};
use carom::lab::model::suggestion;

/// Whether a claim of a paper is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All of it is.
    Holds,
    /// A part of it is.
    Partly,
    /// None of it is.
    DoesNot,
}

impl Verdict {
    /// `Holds` if all of the parts hold, `DoesNot` if none does.
    fn of(parts: &[bool]) -> Verdict {
        match (parts.iter().all(|part| *part), parts.iter().any(|part| *part)) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Partly,
            (false, false) => Verdict::DoesNot,
        }
    }

    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Partly => "holds in part",
            Verdict::DoesNot => "does not hold",
        }
    }
}

/// A number that summarizes a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its meaning.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// The data of a figure or a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// A part of the file name.
    pub name: String,
    /// The headings.
    pub columns: Vec<String>,
    /// The rows: a label, if the table has labels, and one number for each other column.
    pub rows: Vec<(Option<String>, Vec<f64>)>,
    /// How to draw it, if the default does not fit; one drawing per panel.
    pub drawings: Vec<Drawing>,
}

/// The result of a computation.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The result in words, with the important numbers.
    pub finding: String,
    /// Whether the paper's claim holds.
    pub verdict: Verdict,
    /// The numbers.
    pub numbers: Vec<Number>,
    /// The data.
    pub tables: Vec<Table>,
}

/// Receives progress messages.
pub type Tell<'a> = &'a mut dyn FnMut(&str);

/// A figure or a table.
pub struct Entry {
    /// The name in `carom paper`.
    pub id: &'static str,
    /// The paper.
    pub document: &'static str,
    /// The content.
    pub title: &'static str,
    /// The paper's claim.
    pub claim: &'static str,
    compute: fn(Tell) -> Result<Finding>,
}

/// All figures and tables.
pub static REGISTRY: [Entry; 18] = [
    bea_fig1::ENTRY,
    bea_fig2::ENTRY,
    dlm_fig1::ENTRY,
    dlm_fig3::ENTRY,
    dlm_fig4::ENTRY,
    dlm_table1::ENTRY,
    dlm_table2::ENTRY,
    gp_fig1::ENTRY,
    gp_bar::ENTRY,
    gp_constrained_bar::ENTRY,
    gp_pendulum::ENTRY,
    tpc_fig2::ENTRY,
    tpc_fig4::ENTRY,
    tpc_fig5::ENTRY,
    tpc_fig6::ENTRY,
    tpc_fig7::ENTRY,
    tpc_fig8::ENTRY,
    tpc_fig9::ENTRY,
];

/// The entry with this name.
pub fn named(id: &str) -> Result<&'static Entry> {
    REGISTRY.iter().find(|entry| entry.id == id).ok_or_else(|| {
        let help = match suggestion(id, REGISTRY.iter().map(|entry| entry.id)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`carom paper list` lists them".into(),
        };
        Diagnostic::new(format!("there is no figure or table `{id}`")).with_help(help).into()
    })
}

impl Entry {
    /// Computes the finding; `tell` receives progress messages.
    pub fn compute(&self, tell: Tell) -> Result<Finding> {
        (self.compute)(tell)
    }
}

impl Finding {
    /// The number with this name.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.numbers.iter().find(|number| number.name == name).map(|number| number.value)
    }
}

impl Number {
    fn new(name: impl Into<String>, value: f64) -> Number {
        Number { name: name.into(), value }
    }
}

impl Table {
    fn new(name: impl Into<String>, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|c| c.to_string()).collect();
        Table { name: name.into(), columns, rows: Vec::new(), drawings: Vec::new() }
    }

    /// Adds a drawing. A table may have several, one per panel.
    fn drawn(mut self, drawing: Drawing) -> Table {
        let has_all = drawing.columns().all(|column| self.columns.contains(column));
        debug_assert!(has_all, "the table {} has not all columns of {drawing:?}", self.name);
        self.drawings.push(drawing);
        self
    }

    /// The numbers of a column, by its heading; None for a column of labels.
    pub fn column(&self, heading: &str) -> Option<Vec<f64>> {
        let place = self.columns.iter().position(|column| column == heading)?;
        let first = usize::from(self.rows.first().is_some_and(|(label, _)| label.is_some()));
        let place = place.checked_sub(first)?;
        Some(self.rows.iter().map(|(_, row)| row.get(place).copied().unwrap_or(f64::NAN)).collect())
    }

    fn push(&mut self, row: Vec<f64>) {
        self.rows.push((None, row));
    }

    fn push_labelled(&mut self, label: &str, row: Vec<f64>) {
        self.rows.push((Some(label.into()), row));
    }

    /// The table as CSV, with a line of headings.
    pub fn csv(&self) -> String {
        let mut text = self.columns.join(",");
        for (label, row) in &self.rows {
            let numbers = row.iter().map(|x| format!("{x:e}"));
            let cells: Vec<String> = label.iter().cloned().chain(numbers).collect();
            let _ = write!(text, "\n{}", cells.join(","));
        }
        text.push('\n');
        text
    }
}
