//! Axes: what a sweep varies, and how.

use std::path::Path;

use super::normal::inverse_normal;
use super::philox::{open_unit, unit};
use crate::error::{Diagnostic, Result};

/// A quantity that a sweep varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// A parameter, or an entry of the start such as `initial.q[0]`.
    pub name: String,
    /// As the user wrote it.
    pub text: String,
    /// Its values.
    pub values: Values,
}

/// The values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `from:to:count`: equally spaced, with both ends.
    Grid {
        /// The first value.
        from: f64,
        /// The last value.
        to: f64,
        /// The number of values.
        count: u64,
    },
    /// `a,b,c`: these values.
    List(Vec<f64>),
    /// A column of a CSV file. Columns of one file vary together.
    Column {
        /// The file, as the user wrote it.
        file: String,
        /// The values.
        values: Vec<f64>,
    },
    /// `uniform(a,b)`: between a and b.
    Uniform(f64, f64),
    /// `normal(mean,sd)`: by a normal distribution.
    Normal(f64, f64),
    /// `sobol(a,b)`: between a and b, by a sequence that fills the space evenly.
    Sobol(f64, f64),
}

impl Values {
    /// The number of values, if they are given one by one; random axes have a number of samples.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Values::Grid { count, .. } => Some(*count),
            Values::List(values) | Values::Column { values, .. } => Some(values.len() as u64),
            Values::Uniform(..) | Values::Normal(..) | Values::Sobol(..) => None,
        }
    }

    /// The value with this number.
    pub(super) fn at(&self, i: u64) -> f64 {
        match self {
            Values::Grid { from, count: 1, .. } => *from,
            Values::Grid { to, count, .. } if i + 1 == *count => *to,
            Values::Grid { from, to, count } => from + (to - from) * (i as f64 / (count - 1) as f64),
            Values::List(values) | Values::Column { values, .. } => values[i as usize],
            Values::Uniform(..) | Values::Normal(..) | Values::Sobol(..) => f64::NAN,
        }
    }

    /// The value for these random bits.
    pub(super) fn of_bits(&self, bits: u64) -> f64 {
        match self {
            Values::Uniform(a, b) | Values::Sobol(a, b) => a + (b - a) * unit(bits),
            Values::Normal(mean, sd) => mean + sd * inverse_normal(open_unit(bits)),
            Values::Grid { .. } | Values::List(_) | Values::Column { .. } => f64::NAN,
        }
    }
}

impl Axis {
    /// Reads `name=values`, where the values are `from:to:count`, `a,b,c`, `uniform(a,b)`, `normal(mean,sd)`, `sobol(a,b)`,
    /// `file.csv`, or `file.csv:column`.
    pub fn parse(text: &str) -> Result<Axis> {
        let Some((name, values)) = text.split_once('=') else {
            return Err(wrong(text, "there is no `=` in it"));
        };
        let (name, values) = (name.trim(), values.trim());
        if name.is_empty() {
            return Err(wrong(text, "there is no name before `=`"));
        }
        let values = read(text, name, values)?;
        Ok(Axis { name: name.into(), text: text.into(), values })
    }

    /// True if each row draws its own value.
    pub(super) fn is_random(&self) -> bool {
        self.values.count().is_none()
    }
}

fn read(text: &str, name: &str, values: &str) -> Result<Values> {
    if let Some((file, column)) = csv(values) {
        return Ok(Values::Column { file: file.into(), values: read_column(text, file, column.unwrap_or(name))? });
    }
    if let Some((kind, arguments)) = values.strip_suffix(')').and_then(|values| values.split_once('(')) {
        let numbers = numbers(text, arguments)?;
        let &[a, b] = &numbers[..] else {
            return Err(wrong(text, &format!("`{kind}` takes two numbers, not {}", numbers.len())));
        };
        return match kind.trim() {
            "uniform" | "sobol" if a >= b => {
                Err(wrong(text, &format!("its lower end {a} is not below its upper end {b}")))
            }
            "uniform" => Ok(Values::Uniform(a, b)),
            "sobol" => Ok(Values::Sobol(a, b)),
            "normal" if b <= 0.0 => Err(wrong(text, &format!("its standard deviation {b} is not positive"))),
            "normal" => Ok(Values::Normal(a, b)),
            other => Err(wrong(text, &format!("there is no distribution `{other}`"))),
        };
    }
    if values.contains(':') {
        let parts: Vec<&str> = values.split(':').collect();
        let &[from, to, count] = &parts[..] else {
            return Err(wrong(text, "a grid is `from:to:count`"));
        };
        let Some(count) = count.trim().parse::<u64>().ok().filter(|count| *count > 0) else {
            return Err(wrong(text, &format!("`{count}` is not a number of values")));
        };
        return Ok(Values::Grid { from: number(text, from)?, to: number(text, to)?, count });
    }
    numbers(text, values).map(Values::List)
}

/// Splits `file.csv:column`.
fn csv(values: &str) -> Option<(&str, Option<&str>)> {
    if values.ends_with(".csv") {
        return Some((values, None));
    }
    let (file, column) = values.rsplit_once(':')?;
    file.ends_with(".csv").then_some((file, Some(column)))
}

fn read_column(text: &str, file: &str, column: &str) -> Result<Vec<f64>> {
    let content = std::fs::read_to_string(Path::new(file))
        .map_err(|e| Diagnostic::new(format!("cannot read `{file}` of the axis `{text}`: {e}")))?;
    let mut lines = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let cells = |line: &str| line.split(',').map(|cell| cell.trim().trim_matches('"').to_string()).collect::<Vec<_>>();
    let header = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
    let Some(at) = header.iter().position(|cell| cell == column) else {
        let error = Diagnostic::new(format!("`{file}` has no column `{column}`"));
        return Err(error.with_help(format!("its columns are {}", header.join(", "))).into());
    };
    let value = |(line, content): (usize, &str)| {
        let cell = cells(content).get(at).cloned().unwrap_or_default();
        cell.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
            Diagnostic::new(format!("`{file}`, line {}: `{cell}` in column `{column}` is not a number", line + 1))
                .into()
        })
    };
    let values: Vec<f64> = lines.map(value).collect::<Result<_>>()?;
    if values.is_empty() {
        return Err(Diagnostic::new(format!("`{file}` has no rows")).into());
    }
    Ok(values)
}

fn numbers(text: &str, list: &str) -> Result<Vec<f64>> {
    list.split(',').map(|item| number(text, item)).collect()
}

fn number(text: &str, item: &str) -> Result<f64> {
    let value = item.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    value.ok_or_else(|| wrong(text, &format!("`{}` is not a number", item.trim())))
}

fn wrong(text: &str, why: &str) -> crate::error::Error {
    let help = "write `name=from:to:count`, `name=a,b,c`, `name=uniform(a,b)`, `name=normal(mean,sd)`, `name=sobol(a,b)` or \
                `name=file.csv:column`";
    Diagnostic::new(format!("the axis `{text}`: {why}")).with_help(help).into()
}
