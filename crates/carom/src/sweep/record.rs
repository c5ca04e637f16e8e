//! What is recorded of each run.

use super::axis::Axis;
use crate::error::{Diagnostic, Result};
use crate::mechanics::Node;
use crate::model::{Model, suggestion};

/// The columns that every table of a sweep has, besides the axes and the records.
pub const FIXED: [&str; 7] = ["run", "status", "message", "t_end", "impacts", "error", "seconds"];

/// A recorded column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: a coordinate, a velocity such as `theta'`, an output, or a momentum such as `p_theta`.
    pub name: String,
    from: Source,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    Coordinate(usize),
    Velocity(usize),
    Output(usize),
    Momentum(usize),
}

/// Picks the recorded numbers from a final state.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    columns: Vec<Column>,
}

impl Recorder {
    pub(super) fn new(model: &Model, axes: &[Axis], records: &[String]) -> Result<Recorder> {
        let coordinates = model.system.coordinates.iter().enumerate();
        let q = coordinates.clone().map(|(i, c)| Column { name: c.name.clone(), from: Source::Coordinate(i) });
        let v = coordinates.map(|(i, c)| Column { name: format!("{}'", c.name), from: Source::Velocity(i) });
        let last: Vec<Column> = q.chain(v).collect();
        let outputs = model.outputs.iter().enumerate();
        let outputs = outputs.map(|(i, output)| Column { name: output.name.clone(), from: Source::Output(i) });
        let momenta = model.system.coordinates.iter().enumerate();
        let momenta = momenta.map(|(i, c)| Column { name: format!("p_{}", c.name), from: Source::Momentum(i) });
        let known: Vec<Column> = last.iter().cloned().chain(outputs).chain(momenta).collect();
        let mut columns: Vec<Column> = Vec::new();
        for record in records {
            let more: Vec<Column> = match record.as_str() {
                "final" => last.clone(),
                "impacts.count" => Vec::new(),
                name => vec![
                    known.iter().find(|column| column.name == name).cloned().ok_or_else(|| unknown(name, &known))?,
                ],
            };
            columns.extend(more.into_iter().filter(|column| !columns.contains(column)).collect::<Vec<_>>());
        }
        check_names(axes, &columns)?;
        Ok(Recorder { columns })
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The recorded numbers.
    pub(super) fn of(&self, last: &Node) -> Vec<f64> {
        let pick = |column: &Column| match column.from {
            Source::Coordinate(i) => last.q.get(i).copied(),
            Source::Velocity(i) => last.v.get(i).copied(),
            Source::Output(i) => last.outputs.get(i).copied(),
            Source::Momentum(i) => last.p.get(i).copied(),
        };
        self.columns.iter().map(|column| pick(column).unwrap_or(f64::NAN)).collect()
    }
}

/// Names of columns must differ from each other and from those that are always there.
fn check_names(axes: &[Axis], columns: &[Column]) -> Result<()> {
    let names: Vec<&str> =
        axes.iter().map(|axis| axis.name.as_str()).chain(columns.iter().map(|column| column.name.as_str())).collect();
    for (i, name) in names.iter().enumerate() {
        if FIXED.contains(name) {
            let error =
                Diagnostic::new(format!("`{name}` cannot be a column: every sweep has a column with this name"));
            return Err(error.with_help("rename it in the model").into());
        }
        if names[..i].contains(name) {
            let error = Diagnostic::new(format!("there would be two columns `{name}`"));
            return Err(error.with_help("rename one of them in the model, or record less").into());
        }
    }
    Ok(())
}

fn unknown(name: &str, known: &[Column]) -> crate::error::Error {
    let names = || known.iter().map(|column| column.name.as_str());
    let help = match suggestion(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("record `final`, `impacts.count`, or some of {}", names().collect::<Vec<_>>().join(", ")),
    };
    Diagnostic::new(format!("`{name}` cannot be recorded")).with_help(help).into()
}
