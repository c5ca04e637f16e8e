//! `carom sensitivity`.

use std::process::ExitCode;
use std::time::Instant;

use carom::analysis::{Approach, Derivatives, Fixed, Mode};
use carom::{Diagnostic, Model, Result, Status};
use carom_report::chart::{Axis, Chart, Series};
use carom_report::plots::pretty;

use super::picture::{theme, write_plot};
use super::{load, plot_target, with_equal_steps, written};
use crate::args;
use crate::json::{Object, list_of, number, text};
use crate::output::{aside, print};
use crate::style::{QUIET, STRONG, paint, right, rounded, visible, warning};

/// The number of derivatives in a row of the table.
const COLUMNS: usize = 6;
/// The number of curves in a chart.
const CURVES: usize = 10;

/// Differentiates the results of a run.
pub fn sensitivity(arguments: &args::Sensitivity) -> Result<ExitCode> {
    if arguments.plot.is_some() && arguments.mode == args::Mode::Adjoint {
        let error =
            Diagnostic::new("`--plot` shows derivatives along the motion, which `--mode adjoint` does not compute");
        return Err(error.with_help("leave out `--mode adjoint`").into());
    }
    let plot = plot_target(arguments.plot.as_deref(), &arguments.model.model)?;
    let model = load(&with_equal_steps(&arguments.model, &arguments.run))?;
    let begin = Instant::now();
    let mut sensitivity = model.simulation().sensitivity().of(&arguments.of).by(&arguments.by);
    if let Some(fixed) = arguments.fixed {
        sensitivity = sensitivity.fixed(if fixed == args::Fixed::V { Fixed::Velocity } else { Fixed::Momentum });
    }
    if arguments.mode == args::Mode::Adjoint {
        sensitivity = sensitivity.mode(Mode::Adjoint);
    }
    if plot.is_some() {
        sensitivity = sensitivity.keep_path();
    }
    let found = sensitivity.run()?;
    let seconds = [found.compile_seconds, begin.elapsed().as_secs_f64() - found.compile_seconds];
    if let Some(target) = &plot {
        write_plot(target, &model.title, &charts(&model, &found), theme(arguments.dark))?;
    }
    let files = plot.iter().map(written).collect::<String>();
    print(&if arguments.run.json {
        json(&model, &found, arguments, seconds) + "\n"
    } else {
        table(&model, &found) + &files
    })?;
    for message in &found.warnings {
        aside(&warning(message));
    }
    Ok(if found.status == Status::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The status, and a message if there is more to say.
pub fn status(model: &Model, status: &Status) -> (&'static str, Option<String>) {
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

fn json(model: &Model, found: &Derivatives, arguments: &args::Sensitivity, seconds: [f64; 2]) -> String {
    let (status, message) = status(model, &found.status);
    let names = |names: &[String]| list_of(&names.iter().map(|name| text(name)).collect::<Vec<_>>());
    let fixed = match arguments.fixed {
        None => "null".to_string(),
        Some(args::Fixed::V) => text("v"),
        Some(args::Fixed::P) => text("p"),
    };
    let mut object = Object::default()
        .text("model", &model.title)
        .text("method", &found.method)
        .number("step", found.step)
        .number("until", found.until)
        .text("status", status);
    if let Some(message) = message {
        object = object.text("message", &message);
    }
    let rows = found.derivatives.iter().map(|row| list_of(&row.iter().map(|&x| number(x)).collect::<Vec<_>>()));
    let wall = |number: usize| &model.system.walls[number].name;
    let impact = |impact: &Approach| {
        Object::default()
            .number("t", impact.t)
            .text("wall", wall(impact.wall))
            .number("phi_dot_minus", impact.phi_dot_minus)
            .number("phi_ddot_minus", impact.phi_ddot_minus)
            .number("margin", impact.margin.unwrap_or(f64::NAN))
            .raw("grazing", &impact.grazing.to_string())
            .finish()
    };
    let miss = found.nearest_miss.map_or("null".into(), |miss| {
        Object::default().number("t", miss.t).text("wall", wall(miss.wall)).number("phi", miss.phi).finish()
    });
    object
        .text("mode", if arguments.mode == args::Mode::Forward { "forward" } else { "adjoint" })
        .raw("fixed", &fixed)
        .raw("of", &names(&found.of))
        .raw("by", &names(&found.by))
        .numbers("values", &found.values)
        .raw("derivatives", &list_of(&rows.collect::<Vec<_>>()))
        .raw("impacts", &list_of(&found.impacts.iter().map(impact).collect::<Vec<_>>()))
        .raw("nearest_miss", &miss)
        .raw("warnings", &names(&found.warnings))
        .text("version", env!("CARGO_PKG_VERSION"))
        .text("model_hash", &model.hash())
        .raw("seconds", &Object::default().number("compile", seconds[0]).number("run", seconds[1]).finish())
        .finish()
}

/// A number of the table.
fn cell(x: f64) -> String {
    match x.abs() {
        size if size.is_nan() => "–".into(),
        size if size < 5e-13 => "0".into(),
        size if !(1e-4..1e6).contains(&size) => format!("{x:.8e}"),
        _ => format!("{x:.9}"),
    }
}

/// The table for the terminal.
fn table(model: &Model, found: &Derivatives) -> String {
    let mut page = format!(
        "{}\n{}, step {}, up to t = {}\n",
        paint(STRONG, &model.title),
        found.method,
        rounded(found.step, 6),
        found.until
    );
    if let (_, Some(message)) = status(model, &found.status) {
        page += &format!("{}\n", paint(STRONG, &message));
    }
    let width = found.of.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(8);
    let columns: Vec<usize> = (0..found.by.len()).collect();
    for part in columns.chunks(COLUMNS) {
        let widths: Vec<usize> = part
            .iter()
            .map(|&j| {
                let cells = found.derivatives.iter().map(|row| cell(row[j]).chars().count());
                cells.max().unwrap_or(0).max(found.by[j].chars().count() + 5)
            })
            .collect();
        let values = found.values.iter().map(|&x| cell(x).chars().count()).max().unwrap_or(0).max(5);
        let heads: Vec<String> =
            part.iter().zip(&widths).map(|(&j, &w)| right(&format!("by {}", visible(&found.by[j])), w)).collect();
        page += &format!("\n{:width$}  {}  {}\n", "", right("value", values), heads.join("  "));
        for ((of, value), row) in found.of.iter().zip(&found.values).zip(&found.derivatives) {
            let cells: Vec<String> = part.iter().zip(&widths).map(|(&j, &w)| right(&cell(row[j]), w)).collect();
            page += &format!("{:width$}  {}  {}\n", visible(of), right(&cell(*value), values), cells.join("  "));
        }
    }
    if !found.impacts.is_empty() {
        page += &format!(
            "\n{} {} {} {}  wall\n",
            right("impact at t", 16),
            right("φ̇ before", 13),
            right("φ̈ before", 13),
            right("margin", 12)
        );
    }
    for impact in found.impacts.iter().take(20) {
        let margin = impact.margin.map_or("no limit".to_string(), |margin| format!("{margin:.4e}"));
        let mark = if impact.grazing { "  grazing" } else { "" };
        let wall = visible(&model.system.walls[impact.wall].name);
        page += &format!(
            "{:16.9} {:13.6} {:13.6} {}  {wall}{mark}\n",
            impact.t,
            impact.phi_dot_minus,
            impact.phi_ddot_minus,
            right(&margin, 12)
        );
    }
    if found.impacts.len() > 20 {
        page += &format!("… {} impacts in total\n", found.impacts.len());
    }
    if let Some(miss) = found.nearest_miss {
        let wall = visible(&model.system.walls[miss.wall].name);
        page += &paint(QUIET, &format!("nearest miss: φ = {:.6e} of `{wall}` at t = {:.6}", miss.phi, miss.t));
        page += "\n";
    }
    page
}

/// The derivatives of each free coordinate along the motion, one chart for each variable.
fn charts(model: &Model, found: &Derivatives) -> Vec<Chart> {
    let free: Vec<&str> = model.system.free().iter().map(|&i| model.system.coordinates[i].name.as_str()).collect();
    let (first, last) = (found.path.first().map_or(0.0, |p| p.0), found.path.last().map_or(1.0, |p| p.0));
    let impacts: Vec<f64> = found.impacts.iter().map(|impact| impact.t).collect();
    let columns = found.by.len();
    let chart = |(j, by): (usize, &String)| {
        let title = format!("derivatives by {}", pretty(by));
        let mut chart = Chart::new(title, Axis::time([first, last]), Axis::new(format!("∂/∂{}", pretty(by))));
        for (i, name) in free.iter().enumerate().take(CURVES) {
            let points = found.path.iter().map(|(t, d)| [*t, d[i * columns + j]]).collect();
            chart.series.push(Series::line(pretty(name), points));
        }
        chart.with_impacts(&impacts)
    };
    found.by.iter().enumerate().map(chart).filter(|chart| !chart.is_empty()).collect()
}
