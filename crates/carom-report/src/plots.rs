//! The plots of a run and of a comparison.

use carom::lab::compare::{Comparison, Measures};
use carom::lab::expr::print::{Layout, text};
use carom::lab::model::Model;

use crate::chart::{Axis, Chart, Mark, Series};
use crate::recording::{MOST_PORTRAITS, Recording};
use crate::thin::Thinned;

/// The largest number of curves of one kind.
const MOST_CURVES: usize = 10;
/// Energies with a smaller relative difference are plotted as differences.
const CLOSE: f64 = 1e-3;

/// A name of the model in mathematical notation: `theta1'` is θ̇₁.
pub fn pretty(name: &str) -> String {
    text::render(&Layout::name(name))
}

/// Charts of coordinates, phase portrait, energy, gaps, impulses and outputs, as far as they exist.
pub fn of_run(model: &Model, recording: &Recording) -> Vec<Chart> {
    let impacts = recording.impact_times();
    let mut charts = vec![coordinates(model, recording).with_impacts(&impacts), portrait(model, recording)];
    charts.push(energy(recording).with_impacts(&impacts));
    let walls: Vec<String> = model.system.walls.iter().map(|wall| wall.name.clone()).collect();
    if !walls.is_empty() {
        let gaps = over_time(recording.span, "gap of each wall", "φ", &walls, &recording.gaps);
        charts.push(gaps.with_impacts(&impacts));
    }
    if recording.impact_count > 0 {
        charts.push(impulses(recording));
    }
    let constraints: Vec<String> = model.system.constraints.iter().map(|constraint| constraint.name.clone()).collect();
    if !constraints.is_empty() {
        let (title, label) = ("impulse of each constraint in a step", "λ");
        let chart = over_time(recording.span, title, label, &constraints, &recording.constraints);
        charts.push(chart.with_impacts(&impacts));
    }
    let outputs: Vec<String> = model.outputs.iter().map(|output| pretty(&output.name)).collect();
    if !outputs.is_empty() {
        let label = if outputs.len() == 1 { outputs[0].clone() } else { "outputs".into() };
        charts.push(over_time(recording.span, "outputs", &label, &outputs, &recording.outputs).with_impacts(&impacts));
    }
    charts
}

fn over_time(span: [f64; 2], title: &str, label: &str, names: &[String], values: &[Thinned]) -> Chart {
    let shown = if names.len() > MOST_CURVES { format!(" (the first {MOST_CURVES})") } else { String::new() };
    let mut chart = Chart::new(format!("{title}{shown}"), Axis::time(span), Axis::new(label));
    let curves = names.iter().zip(values).take(MOST_CURVES);
    chart.series = curves.map(|(name, values)| Series::line(name, values.over_time(0))).collect();
    chart
}

fn coordinates(model: &Model, recording: &Recording) -> Chart {
    let names: Vec<String> = model.system.coordinates.iter().map(|c| pretty(&c.name)).collect();
    let label = if names.len() == 1 { names[0].clone() } else { "coordinates".into() };
    over_time(recording.span, "coordinates", &label, &names, &recording.coordinates)
}

fn portrait(model: &Model, recording: &Recording) -> Chart {
    let names: Vec<&str> = model.system.coordinates.iter().map(|c| c.name.as_str()).collect();
    let (x, y) = match names.as_slice() {
        [name] => (pretty(name), pretty(&format!("{name}'"))),
        _ => ("coordinate".into(), "velocity".into()),
    };
    let shown = if names.len() > MOST_PORTRAITS { format!(" (the first {MOST_PORTRAITS})") } else { String::new() };
    let mut chart = Chart::new(format!("phase portrait{shown}"), Axis::new(x), Axis::new(y));
    for (k, (name, dots)) in names.iter().zip(&recording.portraits).enumerate() {
        let values = &recording.coordinates[k];
        // Use dots if the states are too far apart in time for lines.
        let (mark, points) = if values.is_sparse() {
            (Mark::Dots, [dots.as_slice(), &values.extremes()].concat())
        } else {
            (Mark::Line, values.pairs(0, 1))
        };
        chart.series.push(Series { label: pretty(name), mark, points });
    }
    chart
}

fn energy(recording: &Recording) -> Chart {
    let span = recording.span;
    let initial = recording.energies[0].1.rows[0].values[0];
    let all = recording.energies.iter().flat_map(|(_, values)| &values.rows).map(|row| row.values[0] - initial);
    let spread = all.fold(0.0_f64, |m, x| m.max(x.abs()));
    let is_close = spread < CLOSE * initial.abs();
    let (label, shift) = if is_close { ("energy − H(0)", initial) } else { ("energy", 0.0) };
    let mut chart = Chart::new("energy at the nodes", Axis::time(span), Axis::new(label));
    for (name, values) in &recording.energies {
        let points = values.over_time(0).into_iter().map(|[t, energy]| [t, energy - shift]).collect();
        chart.series.push(Series::line(name, points));
    }
    chart
}

fn impulses(recording: &Recording) -> Chart {
    let mut chart = Chart::new("impulse of each impact", Axis::time(recording.span), Axis::new("λ"));
    let points = recording.lambda.over_time(0);
    let mark = if points.len() > 200 { Mark::Dots } else { Mark::Stems };
    chart.series.push(Series { label: String::new(), mark, points });
    chart
}

/// Charts of convergence, work against precision, energy drift and, if there are impacts, the error of impact times.
pub fn of_comparison(comparison: &Comparison) -> Vec<Chart> {
    let panel = |title: &str, x: &str, y: &str, pick: &dyn Fn(f64, &Measures) -> Option<[f64; 2]>| {
        let mut chart = Chart::new(title, Axis::log(x), Axis::log(y));
        for row in &comparison.rows {
            if chart.series.last().is_none_or(|series| series.label != row.method) {
                chart.series.push(Series { label: row.method.clone(), mark: Mark::Both, points: Vec::new() });
            }
            let point = row.measures.as_ref().ok().and_then(|measures| pick(row.step, measures));
            if let (Some(point), Some(series)) = (point, chart.series.last_mut()) {
                series.points.push(point);
            }
        }
        chart
    };
    let charts = [
        panel("convergence", "h", "L² error", &|h, m| Some([h, m.l2])),
        panel("work and precision", "seconds for a run", "L² error", &|_, m| Some([m.seconds, m.l2])),
        panel("drift of the energy", "h", "largest |H − H(0)|", &|h, m| Some([h, m.energy_drift])),
        panel("drift of the shadow energy", "h", "largest |H̃ − H̃(0)|", &|h, m| m.shadow_drift.map(|d| [h, d])),
        panel("impact times", "h", "largest error", &|h, m| m.impact_time_error.map(|e| [h, e])),
    ];
    charts.into_iter().filter(|chart| !chart.is_empty()).collect()
}
