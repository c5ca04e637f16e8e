//! `carom orbit`.

use std::process::ExitCode;
use std::time::Instant;

use carom::analysis::{BranchPoint, ClosedOrbit, Mark};
use carom::lab::method::default_for;
use carom::{Diagnostic, Error, Impact, Model, Node, Result};
use carom_report::chart::{Axis, Chart, Mark as Drawn, Series};
use carom_report::plots::pretty;

use super::picture::{theme, write_plot};
use super::{load, plot_target, warn, with_equal_steps, written};
use crate::args;
use crate::json::{Object, impact_object, list_of, text};
use crate::output::{aside, print};
use crate::style::{STRONG, paint, rounded, visible, warning};

/// Finds a periodic orbit.
pub fn orbit(arguments: &args::Orbit) -> Result<ExitCode> {
    let plot = plot_target(arguments.plot.as_deref(), &arguments.model.model)?;
    let model = load(&with_equal_steps(&arguments.model, &arguments.run))?;
    let begin = Instant::now();
    let mut orbit = model.simulation().orbit();
    if let Some(period) = &arguments.period {
        orbit = orbit.period(period)?;
    }
    orbit = arguments.impacts.into_iter().fold(orbit, |orbit, count| orbit.impacts(count));
    if let Some(discard) = arguments.discard {
        if !(discard >= 0.0 && discard.is_finite()) {
            return Err(Diagnostic::new(format!("`--discard` must not be negative, not {discard}")).into());
        }
        orbit = orbit.discard(discard);
    }
    let along = arguments.along.as_deref().map(range).transpose()?;
    if let Some((name, from, to)) = &along {
        orbit = orbit.along(name, *from, *to);
    }
    let found = match orbit.find() {
        Err(Error::Numerical(failure)) if arguments.run.json => {
            let seconds =
                Object::default().number("compile", 0.0).number("run", begin.elapsed().as_secs_f64()).finish();
            let method = model.run.method.clone().unwrap_or(default_for(&model, None).into());
            let object = Object::default()
                .text("model", &model.title)
                .text("method", &method)
                .text("status", "failed")
                .text("message", &format!("{}; {}", failure.message, failure.hint))
                .text("version", env!("CARGO_PKG_VERSION"))
                .text("model_hash", &model.hash())
                .raw("seconds", &seconds);
            print(&(object.finish() + "\n"))?;
            return Ok(ExitCode::FAILURE);
        }
        found => found?,
    };
    let seconds = [found.compile_seconds, begin.elapsed().as_secs_f64() - found.compile_seconds];
    if let Some(target) = &plot {
        let charts = charts(&model, &found, along.as_ref().map(|along| along.0.as_str()));
        write_plot(target, &model.title, &charts, theme(arguments.dark))?;
    }
    let files = plot.iter().map(written).collect::<String>();
    print(&if arguments.run.json {
        json(&model, &found, along.is_some(), seconds) + "\n"
    } else {
        table(&model, &found, along.as_ref().map(|along| along.0.as_str())) + &files
    })?;
    warn(&model.warnings);
    if let Some(ended) = &found.ended {
        aside(&warning(ended));
    }
    Ok(ExitCode::SUCCESS)
}

/// `name=from:to`.
fn range(argument: &str) -> Result<(String, f64, f64)> {
    let parts = argument.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once(':')?)));
    let found = parts.and_then(|(name, (from, to))| {
        Some((name.trim().to_string(), from.trim().parse().ok()?, to.trim().parse().ok()?))
    });
    let wrong = || {
        let error = Diagnostic::new(format!("`{argument}` is no range of a parameter"));
        error.with_help("write `--continue name=from:to`, as in `--continue omega=0.8:0.95`").into()
    };
    found.ok_or_else(wrong)
}

fn json(model: &Model, found: &ClosedOrbit, has_branch: bool, seconds: [f64; 2]) -> String {
    let impact = |impact: &Impact| impact_object(&model.system.walls[impact.wall].name, impact);
    let start = |node: &Node| {
        let object = Object::default().number("t", node.t).numbers("q", &node.q);
        object.numbers("v", &node.v).numbers("p", &node.p).finish()
    };
    let mut object = Object::default()
        .text("model", &model.title)
        .text("method", &found.method)
        .text("status", "converged")
        .number("step", found.step)
        .number("period", found.period)
        .raw("start", &start(&found.start))
        .raw("impacts", &list_of(&found.impacts.iter().map(impact).collect::<Vec<_>>()))
        .raw("multipliers", &multipliers(&found.multipliers))
        .raw("stable", &found.is_stable.to_string())
        .number("residual", found.residual)
        .raw("iterations", &found.iterations.to_string());
    if has_branch {
        let point = |point: &BranchPoint| {
            Object::default()
                .number("value", point.value)
                .number("period", point.period)
                .raw("multipliers", &multipliers(&point.multipliers))
                .raw("impacts", &point.impacts.to_string())
                .raw("mark", &point.mark.map_or("null".into(), |mark| text(mark.name())))
                .finish()
        };
        object = object.raw("branch", &list_of(&found.branch.iter().map(point).collect::<Vec<_>>()));
    }
    if let Some(ended) = &found.ended {
        object = object.text("message", ended);
    }
    object
        .text("version", env!("CARGO_PKG_VERSION"))
        .text("model_hash", &model.hash())
        .raw("seconds", &Object::default().number("compile", seconds[0]).number("run", seconds[1]).finish())
        .finish()
}

fn multipliers(list: &[(f64, f64)]) -> String {
    let one = |&(re, im): &(f64, f64)| {
        Object::default().number("re", re).number("im", im).number("abs", re.hypot(im)).finish()
    };
    list_of(&list.iter().map(one).collect::<Vec<_>>())
}

/// A multiplier for the terminal.
fn shown(&(re, im): &(f64, f64)) -> String {
    if im == 0.0 {
        format!("{re:.9}")
    } else {
        format!("{re:.9} {} {:.9} i", if im < 0.0 { '−' } else { '+' }, im.abs())
    }
}

fn table(model: &Model, found: &ClosedOrbit, along: Option<&str>) -> String {
    let stability = if found.is_stable { "stable" } else { "unstable" };
    let mut page = format!(
        "{}\n{}, step {}\n\nperiod {:.12}, {stability}; closed to {:.1e} after {} iterations\n",
        paint(STRONG, &model.title),
        found.method,
        rounded(found.step, 6),
        found.period,
        found.residual,
        found.iterations
    );
    for (i, c) in model.system.coordinates.iter().enumerate() {
        page += &format!(
            "  {:<12} {:16.12}   {}' = {:.12}\n",
            visible(&c.name),
            found.start.q[i],
            visible(&c.name),
            found.start.v[i]
        );
    }
    for impact in &found.impacts {
        let wall = visible(&model.system.walls[impact.wall].name);
        page += &format!("impact at t = {:.12}, λ = {:.9}, {wall}\n", impact.minus.t, impact.lambda);
    }
    for multiplier in &found.multipliers {
        page += &format!("multiplier {}   |μ| = {:.9}\n", shown(multiplier), multiplier.0.hypot(multiplier.1));
    }
    if let Some(name) = along {
        page += &format!("\n{} orbits along {}\n", found.branch.len(), visible(name));
        for point in found.branch.iter().filter(|point| point.mark.is_some()) {
            let list: Vec<String> = point.multipliers.iter().map(shown).collect();
            let mark = point.mark.map_or("", Mark::name);
            page +=
                &format!("{mark:<8} at {} = {:.12}   multipliers {}\n", visible(name), point.value, list.join(", "));
        }
        if let Some(last) = found.branch.last() {
            page += &format!("the branch ends at {} = {}\n", visible(name), last.value);
        }
    }
    page
}

/// The points of a branch, with a gap wherever the period begins at another time than before.
fn with_gaps(branch: &[BranchPoint], y: &dyn Fn(&BranchPoint) -> f64) -> Vec<[f64; 2]> {
    let mut points = Vec::new();
    let mut begin = branch.first().map(|point| point.start.t);
    for point in branch {
        if begin.replace(point.start.t) != Some(point.start.t) {
            points.push([f64::NAN; 2]);
        }
        points.push([point.value, y(point)]);
    }
    points
}

/// The branch and the moduli of its multipliers, with marks; or the multipliers of one orbit.
fn charts(model: &Model, found: &ClosedOrbit, along: Option<&str>) -> Vec<Chart> {
    let Some(name) = along else {
        let mut chart = Chart::new("multipliers", Axis::new("Re μ"), Axis::new("Im μ"));
        chart.equal = true;
        let circle = (0..=200).map(|k| std::f64::consts::TAU * f64::from(k) / 200.0).map(|a| [a.cos(), a.sin()]);
        chart.series.push(Series::line("unit circle", circle.collect()));
        let points = found.multipliers.iter().map(|&(re, im)| [re, im]).collect();
        chart.series.push(Series { label: "μ".into(), mark: Drawn::Dots, points });
        return vec![chart];
    };
    let marked = |y: &dyn Fn(&BranchPoint) -> f64| {
        let marks = [Mark::Fold, Mark::Flip, Mark::Torus, Mark::Grazing];
        let series = marks.map(|mark| {
            let points = found.branch.iter().filter(|point| point.mark == Some(mark));
            Series {
                label: mark.name().into(),
                mark: Drawn::Dots,
                points: points.map(|point| [point.value, y(point)]).collect(),
            }
        });
        series.into_iter().filter(|series| !series.points.is_empty()).collect::<Vec<_>>()
    };
    let free = model.system.free();
    let mut charts = Vec::new();
    for (place, &i) in free.iter().enumerate().take(4) {
        let coordinate = pretty(&model.system.coordinates[i].name);
        let y = |point: &BranchPoint| point.start.q()[place];
        let mut chart = Chart::new(
            format!("{coordinate} at the start of the period"),
            Axis::new(pretty(name)),
            Axis::new(coordinate),
        );
        chart.series.push(Series::line("", with_gaps(&found.branch, &y)));
        chart.series.extend(marked(&y));
        charts.push(chart);
    }
    let largest = |point: &BranchPoint| point.multipliers.iter().map(|m| m.0.hypot(m.1)).fold(0.0, f64::max);
    let mut chart = Chart::new("largest multiplier", Axis::new(pretty(name)), Axis::new("|μ|"));
    chart.series.push(Series::line("", found.branch.iter().map(|point| [point.value, largest(point)]).collect()));
    chart.series.extend(marked(&largest));
    charts.push(chart);
    charts
}
