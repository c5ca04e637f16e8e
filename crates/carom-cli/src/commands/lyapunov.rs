//! `carom lyapunov`.

use std::process::ExitCode;
use std::time::Instant;

use carom::analysis::Exponents;
use carom::{Model, Result, Status};
use carom_report::chart::{Axis, Chart, Series};

use super::picture::{theme, write_plot};
use super::sensitivity::status;
use super::{count, load, plot_target, with_equal_steps, written};
use crate::args;
use crate::json::Object;
use crate::output::{aside, print};
use crate::style::{STRONG, paint, rounded, warning};

/// The number of points of a curve.
const POINTS: usize = 2000;

/// Computes Lyapunov exponents.
pub fn lyapunov(arguments: &args::Lyapunov) -> Result<ExitCode> {
    let plot = plot_target(arguments.plot.as_deref(), &arguments.model.model)?;
    let model = load(&with_equal_steps(&arguments.model, &arguments.run))?;
    let begin = Instant::now();
    let mut lyapunov = model.simulation().lyapunov();
    lyapunov = arguments.count.into_iter().fold(lyapunov, |lyapunov, count| lyapunov.count(count));
    lyapunov = arguments.every.into_iter().fold(lyapunov, |lyapunov, every| lyapunov.every(every));
    lyapunov = arguments.discard.into_iter().fold(lyapunov, |lyapunov, discard| lyapunov.discard(discard));
    let found = lyapunov.run()?;
    let seconds = [found.compile_seconds, begin.elapsed().as_secs_f64() - found.compile_seconds];
    if let Some(target) = &plot {
        write_plot(target, &model.title, &[chart(&found)], theme(arguments.dark))?;
    }
    let files = plot.iter().map(written).collect::<String>();
    print(&if arguments.run.json { json(&model, &found, seconds) + "\n" } else { table(&model, &found) + &files })?;
    for message in &found.warnings {
        aside(&warning(message));
    }
    Ok(if found.status == Status::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn json(model: &Model, found: &Exponents, seconds: [f64; 2]) -> String {
    let (status, message) = status(model, &found.status);
    let mut object =
        Object::default().text("model", &model.title).text("method", &found.method).number("step", found.step);
    object = object.text("status", status);
    if let Some(message) = message {
        object = object.text("message", &message);
    }
    object
        .number("until", found.until)
        .number("every", found.every)
        .raw("impacts", &found.impacts.to_string())
        .numbers("exponents", &found.exponents)
        .numbers("errors", &found.errors)
        .number("sum", found.exponents.iter().sum())
        .text("version", env!("CARGO_PKG_VERSION"))
        .text("model_hash", &model.hash())
        .raw("seconds", &Object::default().number("compile", seconds[0]).number("run", seconds[1]).finish())
        .finish()
}

fn table(model: &Model, found: &Exponents) -> String {
    let mut page = format!(
        "{}\n{}, step {}, up to t = {}; {} after the transient\n\n",
        paint(STRONG, &model.title),
        found.method,
        rounded(found.step, 6),
        found.until,
        count(found.impacts, "impact")
    );
    if let (_, Some(message)) = status(model, &found.status) {
        page += &format!("{}\n", paint(STRONG, &message));
    }
    for (k, (exponent, error)) in found.exponents.iter().zip(&found.errors).enumerate() {
        page += &format!("λ{:<3} {exponent:14.8} ± {error:.1e}\n", k + 1);
    }
    page + &format!("sum  {:14.8}\n", found.exponents.iter().sum::<f64>())
}

/// The exponents against the length of the run.
fn chart(found: &Exponents) -> Chart {
    let ends = [found.history.first(), found.history.last()].map(|entry| entry.map_or(0.0, |entry| entry.0));
    let mut chart = Chart::new("Lyapunov exponents up to t", Axis::time(ends), Axis::new("λ"));
    let stride = found.history.len().div_ceil(POINTS).max(1);
    for k in 0..found.exponents.len() {
        let points = found.history.iter().step_by(stride).map(|(t, all)| [*t, all[k]]).collect();
        chart.series.push(Series::line(format!("λ{}", k + 1), points));
    }
    chart
}
