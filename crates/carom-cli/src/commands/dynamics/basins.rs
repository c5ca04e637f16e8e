//! `carom basins`.

use std::process::ExitCode;

use carom::lab::sweep::{Family, SampledAt, Seen, observe, period_of};
use carom::{Diagnostic, Model, Node, Result};
use carom_report::chart::{self, Chart, Mark, Series};

use super::super::{count, load, spinner, watch_for_interrupt};
use super::{Points, Results, at};
use crate::args;
use crate::json::{Object, list_of};
use crate::style::{STRONG, paint};

/// Two states belong to one attractor if they differ by no more than this, relative to the size of the motion.
const NEAR: f64 = 1e-3;
/// More attractors than this are taken for a failure of their distinction, such as motions that have not settled.
const MOST: usize = 32;

/// A motion in the long run, with the starts that lead to it.
struct Attractor {
    nodes: Vec<Node>,
    starts: usize,
}

/// Finds which starts lead to which motion in the long run.
pub fn basins(arguments: &args::Basins) -> Result<ExitCode> {
    let looks = &arguments.looks;
    let model = load(&looks.varied.model())?;
    let results = Results::new(looks, &looks.varied.model.model)?;
    let at = at(&model, looks)?;
    let family = Family::new(&model, &looks.varied.vary, looks.varied.samples, looks.varied.seed.unwrap_or(0))?;
    let [a, b] = family.plan().axes() else {
        let error = Diagnostic::new("basins are drawn over two axes");
        return Err(error.with_help("give `--vary` twice, such as `--vary initial.q[0]=-1:1:100`").into());
    };
    let (a, b) = (a.name.clone(), b.name.clone());
    let interrupted = watch_for_interrupt();
    let seen = follow_all(&family, &at, looks, &interrupted)?;
    let sizes = sizes(&model, &seen);
    let mut attractors: Vec<Attractor> = Vec::new();
    let mut points = Points { columns: vec![a.clone(), b.clone(), "attractor".into()], rows: Vec::new() };
    for (row, seen) in seen.iter().enumerate() {
        let number = seen.as_ref().and_then(|seen| classify(&mut attractors, &seen.nodes, &sizes));
        let label = number.map_or(-1.0, |number| number as f64);
        points.rows.push(family.plan().values(row as u64).chain([label]).collect());
    }
    let mut chart = Chart::new("", chart::Axis::new(&a), chart::Axis::new(&b));
    for (number, attractor) in attractors.iter().enumerate() {
        let points = points.pairs(0, 1, |row| row[2] == number as f64);
        chart.series.push(Series { label: name(number, attractor), mark: Mark::Dots, points });
    }
    let title = format!("{}, basins at each {}", model.title, looks.at);
    let mut summary = format!("{}\n", paint(STRONG, &title));
    for (number, attractor) in attractors.iter().enumerate() {
        summary += &format!("  {}: {}\n", name(number, attractor), count(attractor.starts, "start"));
    }
    let without = points.rows.iter().filter(|row| row[2] < 0.0).count();
    if without > 0 {
        summary += &format!("  {} without one: refused, or without such events\n", count(without, "start"));
    }
    let json = |(number, attractor): (usize, &Attractor)| {
        Object::default()
            .raw("attractor", &number.to_string())
            .raw("period", &period_of(&attractor.nodes).map_or("null".into(), |period| period.to_string()))
            .raw("starts", &attractor.starts.to_string())
            .finish()
    };
    let json = Object::default()
        .raw("attractors", &list_of(&attractors.iter().enumerate().map(json).collect::<Vec<_>>()))
        .raw("columns", &points.json_columns())
        .raw("points", &points.json())
        .finish();
    results.write(&title, &points, &chart, &summary, &json)?;
    Ok(ExitCode::SUCCESS)
}

fn name(number: usize, attractor: &Attractor) -> String {
    match period_of(&attractor.nodes) {
        Some(period) => format!("attractor {number}, period {period}"),
        None => format!("attractor {number}, no period found"),
    }
}

/// The motion of every start in the long run, on all processors; none where it cannot begin.
fn follow_all(
    family: &Family,
    at: &SampledAt,
    looks: &args::Looks,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Option<Seen>>> {
    let rows = family.plan().rows();
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let bar = spinner();
    bar.set_message(format!("{rows} starts"));
    let part = |first: u64| {
        let mut all = Vec::new();
        for row in (first..rows).step_by(threads as usize) {
            let simulation = family.member(row);
            let seen = observe(&simulation, at, None, [looks.transient, looks.keep], interrupted);
            all.push((row, seen.ok()));
        }
        all
    };
    // An error that all starts have is shown as such.
    observe(&family.member(0), at, None, [0, 1], interrupted)
        .or_else(|error| observe(&family.member(rows - 1), at, None, [0, 1], interrupted).map_err(|_| error))?;
    let mut all: Vec<(u64, Option<Seen>)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap_or_default()).collect()
    });
    bar.finish_and_clear();
    all.sort_by_key(|(row, _)| *row);
    Ok(all.into_iter().map(|(_, seen)| seen).collect())
}

/// The extent of each coordinate and velocity over all motions.
fn sizes(model: &Model, seen: &[Option<Seen>]) -> Vec<f64> {
    let n = model.system.coordinates.len();
    let mut extents = vec![[f64::INFINITY, f64::NEG_INFINITY]; 2 * n];
    for node in seen.iter().flatten().flat_map(|seen| &seen.nodes) {
        for ([low, high], x) in extents.iter_mut().zip(node.q.iter().chain(&node.v)) {
            (*low, *high) = (low.min(*x), high.max(*x));
        }
    }
    extents.iter().map(|[low, high]| (high - low).max(low.abs().max(high.abs()) * 1e-3)).collect()
}

/// The attractor that a motion has come to, or a new one; none if there are too many.
fn classify(attractors: &mut Vec<Attractor>, nodes: &[Node], sizes: &[f64]) -> Option<usize> {
    let last = nodes.last()?;
    let is_near = |node: &Node| {
        let pairs = node.q.iter().chain(&node.v).zip(last.q.iter().chain(&last.v));
        pairs.zip(sizes).all(|((a, b), size)| (a - b).abs() <= NEAR * size)
    };
    let known = attractors.iter().position(|attractor| attractor.nodes.iter().any(is_near));
    let number = match known {
        Some(number) => number,
        // Motions without a period hardly come twice to the same place: they count as one.
        None if period_of(nodes).is_none() => {
            match attractors.iter().position(|attractor| period_of(&attractor.nodes).is_none()) {
                Some(number) => number,
                None => begin(attractors, nodes)?,
            }
        }
        None => begin(attractors, nodes)?,
    };
    attractors[number].starts += 1;
    Some(number)
}

fn begin(attractors: &mut Vec<Attractor>, nodes: &[Node]) -> Option<usize> {
    if attractors.len() == MOST {
        return None;
    }
    attractors.push(Attractor { nodes: nodes.to_vec(), starts: 0 });
    Some(attractors.len() - 1)
}
