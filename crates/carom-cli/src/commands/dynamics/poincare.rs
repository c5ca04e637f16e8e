//! `carom poincare`.

use std::process::ExitCode;

use carom::Result;
use carom::lab::sweep::{Family, observe};
use carom_report::chart::{self, Chart, Mark, Series};

use super::super::{count, load, spinner, watch_for_interrupt};
use super::{Points, Results, at, shown};
use crate::args;
use crate::json::Object;
use crate::style::{STRONG, paint};

/// The largest number of starts that have a colour each.
const COLOURS: u64 = 8;

/// Draws the points at which motions cross a section or leave a wall.
pub fn poincare(arguments: &args::Poincare) -> Result<ExitCode> {
    let looks = &arguments.looks;
    let model = load(&looks.varied.model())?;
    let results = Results::new(looks, &looks.varied.model.model)?;
    let at = at(&model, looks)?;
    let samples = arguments.starts.or(looks.varied.samples);
    let family = Family::new(&model, &looks.varied.vary, samples, looks.varied.seed.unwrap_or(0))?;
    let mut points = Points::new(&["start"], &model);
    let first = &model.system.coordinates[0].name;
    let names = shown(looks, &[first.clone(), format!("{first}'")]);
    let [x, y] = [points.column(&names[0])?, points.column(names.get(1).unwrap_or(&names[0]))?];
    let interrupted = watch_for_interrupt();
    let bar = spinner();
    let mut refused = 0;
    let rows = family.plan().rows();
    for row in 0..rows {
        if interrupted() {
            break;
        }
        bar.set_message(format!("start {} of {rows}", row + 1));
        match observe(&family.member(row), &at, None, [looks.transient, looks.keep], &interrupted) {
            Ok(seen) => seen.nodes.iter().for_each(|node| points.push(&[row as f64], node)),
            Err(error) if rows == 1 => return Err(error),
            Err(_) => refused += 1,
        }
    }
    bar.finish_and_clear();
    let mut chart = Chart::new("", chart::Axis::new(&names[0]), chart::Axis::new(&points.columns[y]));
    if rows <= COLOURS {
        for row in 0..rows {
            let points = points.pairs(x, y, |point| point[0] == row as f64);
            chart.series.push(Series { label: format!("start {row}"), mark: Mark::Dots, points });
        }
    } else {
        chart.series.push(Series {
            label: count(rows as usize, "start"),
            mark: Mark::Dots,
            points: points.pairs(x, y, |_| true),
        });
    }
    let title = format!("{}, at each {}", model.title, looks.at);
    let mut summary = format!("{}\n", paint(STRONG, &title));
    summary += &format!("{} of {}\n", count(points.rows.len(), "point"), count(rows as usize, "start"));
    if refused > 0 {
        summary += &format!("{} could not begin\n", count(refused, "start"));
    }
    let json = Object::default()
        .raw("starts", &rows.to_string())
        .raw("refused", &refused.to_string())
        .raw("columns", &points.json_columns())
        .raw("points", &points.json())
        .finish();
    results.write(&title, &points, &chart, &summary, &json)?;
    Ok(ExitCode::SUCCESS)
}
