//! `carom bifurcation`, `carom basins` and `carom poincare`: what a motion does in the long run.

mod basins;
mod bifurcation;
mod poincare;

pub use basins::basins;
pub use bifurcation::bifurcation;
pub use poincare::poincare;

use carom::lab::sweep::SampledAt;
use carom::{Diagnostic, Model, Node, Result};
use carom_report::chart::Chart;
use carom_report::file::Target;

use super::picture::{PLOTS, theme, write_plot};
use super::{Table, keep_model, quoted, written};
use crate::args;
use crate::json::{list_of, number};
use crate::output::print;

/// Where the results of a command go.
pub struct Results<'a> {
    looks: &'a args::Looks,
    out: Option<Table>,
    plot: Option<Target>,
}

impl<'a> Results<'a> {
    /// Checks, before anything is computed, that the files can be written.
    fn new(looks: &'a args::Looks, model: &str) -> Result<Results<'a>> {
        let plot = looks.plot.as_deref().map(|path| Target::new(path, "--plot", &PLOTS)).transpose()?;
        Ok(Results {
            looks,
            out: looks.out.as_deref().map(|path| Table::new(path, "--out", model)).transpose()?,
            plot: plot.map(|plot| keep_model(plot, model)).transpose()?,
        })
    }

    /// Writes the files, then the summary or the JSON object.
    fn write(&self, title: &str, points: &Points, chart: &Chart, summary: &str, json: &str) -> Result<()> {
        if let Some(out) = &self.out {
            out.write(&points.csv())?;
        }
        if let Some(plot) = &self.plot {
            write_plot(plot, title, std::slice::from_ref(chart), theme(self.looks.dark))?;
        }
        if self.looks.json {
            return print(&format!("{json}\n"));
        }
        let files: String = self.out.iter().map(Table::written).chain(self.plot.iter().map(written)).collect();
        let hint = if self.plot.is_none() { "to see it, add --plot FILE.svg\n" } else { "" };
        print(&format!("{summary}{files}{hint}"))
    }
}

/// Rows of named numbers.
#[derive(Default)]
pub struct Points {
    columns: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Points {
    /// Columns of labels, then the time, coordinates and velocities of a model.
    fn new(labels: &[&str], model: &Model) -> Points {
        let coordinates = || model.system.coordinates.iter().map(|coordinate| &coordinate.name);
        let mut columns: Vec<String> = labels.iter().map(ToString::to_string).collect();
        columns.push("t".into());
        columns.extend(coordinates().cloned());
        columns.extend(coordinates().map(|name| format!("{name}'")));
        Points { columns, rows: Vec::new() }
    }

    fn push(&mut self, labels: &[f64], node: &Node) {
        self.rows.push(labels.iter().chain([&node.t]).chain(&node.q).chain(&node.v).copied().collect());
    }

    /// The number of a column.
    fn column(&self, name: &str) -> Result<usize> {
        self.columns.iter().position(|column| column == name).ok_or_else(|| {
            let error = Diagnostic::new(format!("`--show {name}`: there is no such column"));
            error.with_help(format!("the columns are {}", self.columns.join(", "))).into()
        })
    }

    /// A pair of columns as points, of the rows for which `keep` holds.
    fn pairs(&self, x: usize, y: usize, keep: impl Fn(&[f64]) -> bool) -> Vec<[f64; 2]> {
        self.rows.iter().filter(|row| keep(row)).map(|row| [row[x], row[y]]).collect()
    }

    fn csv(&self) -> String {
        let header: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        let mut text = header.join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
            text += &(cells.join(",") + "\n");
        }
        text
    }

    fn json(&self) -> String {
        let row = |row: &Vec<f64>| list_of(&row.iter().map(|x| number(*x)).collect::<Vec<_>>());
        list_of(&self.rows.iter().map(row).collect::<Vec<_>>())
    }

    fn json_columns(&self) -> String {
        list_of(&self.columns.iter().map(|name| crate::json::text(name)).collect::<Vec<_>>())
    }
}

/// Where the motion is looked at, from the options.
fn at(model: &Model, looks: &args::Looks) -> Result<SampledAt> {
    SampledAt::read(model, &looks.at, looks.period.as_deref())
}

/// The names in `--show`, or these.
fn shown(looks: &args::Looks, usual: &[String]) -> Vec<String> {
    match &looks.show {
        Some(list) => list.split(',').map(|name| name.trim().to_string()).collect(),
        None => usual.to_vec(),
    }
}
