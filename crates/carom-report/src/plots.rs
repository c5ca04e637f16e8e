//! The plots of a run and of a comparison.

use carom::lab::compare::{Comparison, Measures};
use carom::lab::expr::print::{Layout, text};
use carom::lab::model::{Model, Shape};

use crate::chart::{Axis, Chart, Mark, Series};
use crate::choice::{Choice, Panel};
use crate::recording::{MOST_PORTRAITS, Recording};
use crate::thin::Thinned;

/// The largest number of curves of one kind.
const MOST_CURVES: usize = 10;
/// The largest number of gaps, which often look alike.
const MOST_GAPS: usize = 6;
/// The largest number of paths.
const MOST_PATHS: usize = 6;
/// Energies with a smaller relative difference are plotted as differences.
const CLOSE: f64 = 1e-3;

/// A name of the model in mathematical notation: `theta1'` is θ̇₁.
pub fn pretty(name: &str) -> String {
    text::render(&Layout::name(name))
}

/// The charts of a run: those that were chosen or, without a choice, all that the model has something for.
pub fn of_run(model: &Model, recording: &Recording, choice: Option<&Choice>) -> Vec<Chart> {
    let impacts = recording.impact_times();
    let Some(choice) = choice else {
        let all = [Panel::Coordinates, Panel::Phase, Panel::Paths, Panel::Energy, Panel::Gaps, Panel::Impulses];
        let all = all.into_iter().chain([Panel::Constraints, Panel::Outputs]);
        let charts = all.map(|panel| chart(model, recording, panel, &[]));
        return charts.filter(|chart| !chart.is_empty()).map(|chart| marked(chart, &impacts)).collect();
    };
    choice.panels.iter().map(|(panel, chosen)| marked(chart(model, recording, *panel, chosen), &impacts)).collect()
}

/// Marks the impacts in a chart over the time, except where they are the curve.
fn marked(chart: Chart, impacts: &[f64]) -> Chart {
    let is_over_time = chart.x.extent.is_some() && chart.series.iter().all(|series| series.mark == Mark::Line);
    if is_over_time { chart.with_impacts(impacts) } else { chart }
}

fn chart(model: &Model, recording: &Recording, panel: Panel, chosen: &[usize]) -> Chart {
    let system = &model.system;
    let span = recording.span;
    let pretty_names = |prime: &str| system.coordinates.iter().map(|c| pretty(&format!("{}{prime}", c.name))).collect();
    match panel {
        Panel::Coordinates => Curves { title: "coordinates", label: "", names: pretty_names(""), most: MOST_CURVES }
            .over_time(span, &recording.coordinates, 0, chosen, &[]),
        Panel::Velocities => Curves { title: "velocities", label: "", names: pretty_names("'"), most: MOST_CURVES }
            .over_time(span, &recording.coordinates, 1, chosen, &[]),
        Panel::Phase => portrait(model, recording),
        Panel::Paths => paths(model, recording, chosen),
        Panel::Energy => energy(recording),
        Panel::Gaps => {
            let names = system.walls.iter().map(|wall| wall.name.clone()).collect();
            Curves { title: "gap of each wall", label: "φ", names, most: MOST_GAPS }.over_time(
                span,
                &recording.gaps,
                0,
                chosen,
                &recording.hit,
            )
        }
        Panel::Impulses => impulses(recording),
        Panel::Constraints => {
            // None are recorded where other constraints hold in each part of the run.
            let recorded = system.stated_constraints().iter().zip(&recording.constraints);
            let names = recorded.map(|(constraint, _)| constraint.name.clone()).collect();
            Curves { title: "impulse of each constraint in a step", label: "λ", names, most: MOST_CURVES }.over_time(
                span,
                &recording.constraints,
                0,
                chosen,
                &[],
            )
        }
        Panel::Outputs => {
            let names = model.outputs.iter().map(|output| pretty(&output.name)).collect();
            Curves { title: "outputs", label: "", names, most: MOST_CURVES }.over_time(
                span,
                &recording.outputs,
                0,
                chosen,
                &[],
            )
        }
    }
}

/// The names of the curves of one panel.
struct Curves {
    title: &'static str,
    /// The label of the axis; empty for the name of the only curve, or the title.
    label: &'static str,
    names: Vec<String>,
    /// The largest number of curves.
    most: usize,
}

impl Curves {
    /// The chosen curves or, without a choice, `first` and then the others, as many as there is room for.
    fn over_time(self, span: [f64; 2], values: &[Thinned], channel: usize, chosen: &[usize], first: &[usize]) -> Chart {
        let all = self.names.len();
        let mut shown: Vec<usize> = chosen.to_vec();
        if chosen.is_empty() {
            shown = first.iter().copied().chain((0..all).filter(|k| !first.contains(k))).take(self.most).collect();
            shown.sort_unstable();
        }
        let which = match (chosen.is_empty() && shown.len() < all, first.is_empty()) {
            (false, _) => String::new(),
            (true, true) => format!(" (the first {} of {all})", shown.len()),
            (true, false) => format!(" ({} of {all}, hit first)", shown.len()),
        };
        let label = match (self.label, shown.as_slice()) {
            ("", [only]) => self.names[*only].clone(),
            ("", _) => self.title.into(),
            (label, _) => label.into(),
        };
        let mut chart = Chart::new(format!("{}{which}", self.title), Axis::time(span), Axis::new(label));
        let curve = |k: usize| Series::line(&self.names[k], values[k].over_time(channel));
        chart.series = shown.into_iter().map(curve).collect();
        chart
    }
}

/// The paths of points in the plane: those that were chosen, or those around which disks are drawn, or all; a point that only
/// moves along an axis has none.
fn paths(model: &Model, recording: &Recording, chosen: &[usize]) -> Chart {
    let mut chart = Chart::new("paths of points", Axis::new("x"), Axis::new("y"));
    chart.equal = true;
    let is_disk = |k: &usize| {
        let at = model.points[*k].at;
        model
            .drawings
            .iter()
            .any(|drawing| matches!(&drawing.shape, Shape::Disk(center, _) | Shape::Sphere(center, _) if *center == at))
    };
    let all: Vec<usize> = recording.paths.iter().map(|(k, _)| *k).collect();
    let disks: Vec<usize> = all.iter().copied().filter(is_disk).collect();
    let shown = if !chosen.is_empty() {
        chosen
    } else if disks.is_empty() {
        &all
    } else {
        &disks
    };
    let is_plane = |values: &Thinned| {
        [0, 1].iter().all(|k| {
            let [low, high] = values.range(*k);
            high > low
        })
    };
    for (k, values) in recording.paths.iter().filter(|(k, _)| shown.contains(k)) {
        if chart.series.len() < MOST_PATHS && (is_plane(values) || !chosen.is_empty()) {
            let mark = if values.is_sparse() { Mark::Dots } else { Mark::Line };
            chart.series.push(Series { label: pretty(&model.points[*k].name), mark, points: values.pairs(0, 1) });
        }
    }
    chart
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
    let mut chart = Chart::new("energy", Axis::time(span), Axis::new(label));
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
