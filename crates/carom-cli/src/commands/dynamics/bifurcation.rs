//! `carom bifurcation`.

use std::process::ExitCode;

use carom::lab::phase::Phase;
use carom::lab::sweep::{observe, period_of, quick_simulation};
use carom::sweep::{Axis, Plan};
use carom::{Diagnostic, Result};
use carom_report::chart::{self, Chart, Mark, Series};

use super::super::{load, spinner, watch_for_interrupt};
use super::{Points, Results, at, shown};
use crate::args;
use crate::json::{Object, list_of};
use crate::style::{STRONG, paint};

/// The long-run motion at one value of the parameter.
struct Found {
    value: f64,
    is_back: bool,
    period: Option<usize>,
    count: usize,
}

/// Follows the long-run motion along a parameter.
pub fn bifurcation(arguments: &args::Bifurcation) -> Result<ExitCode> {
    let looks = &arguments.looks;
    let model = load(&looks.varied.model())?;
    let results = Results::new(looks, &looks.varied.model.model)?;
    let at = at(&model, looks)?;
    let [axis] = &looks.varied.vary[..] else {
        let error = Diagnostic::new("a bifurcation diagram has one parameter");
        return Err(error.with_help("give one `--vary name=from:to:count`").into());
    };
    let axis = Axis::parse(axis)?;
    let name = axis.name.clone();
    let plan = Plan::new(vec![axis], None, 0)?;
    let values = || (0..plan.rows()).filter_map(|row| plan.values(row).next());
    let way: Vec<(f64, bool)> = match arguments.back {
        true => values()
            .map(|x| (x, false))
            .chain(values().collect::<Vec<_>>().into_iter().rev().map(|x| (x, true)))
            .collect(),
        false => values().map(|x| (x, false)).collect(),
    };
    let mut points = Points::new(&[&name, "back"], &model);
    let first = &model.system.coordinates[0].name;
    let usual = if looks.at == "strobe" { first.clone() } else { format!("{first}'") };
    let shown = shown(looks, &[usual]);
    let y = points.column(&shown[0])?;
    let base = quick_simulation(&model).set(&name, way[0].0);
    // A wrong name is an error before the first run.
    base.initial()?;
    let interrupted = watch_for_interrupt();
    let bar = spinner();
    let (mut found, mut carried) = (Vec::new(), None::<Phase>);
    for &(value, is_back) in &way {
        if interrupted() {
            break;
        }
        bar.set_message(format!("{name} = {value}"));
        let simulation = base.clone().set(&name, value);
        let follow =
            |from: Option<&Phase>| observe(&simulation, &at, from, [looks.transient, looks.keep], &interrupted);
        // Where the state of the last value cannot go on, the motion begins anew.
        let seen = match follow(carried.as_ref()) {
            Err(_) if carried.is_some() => follow(None)?,
            seen => seen?,
        };
        seen.nodes.iter().for_each(|node| points.push(&[value, f64::from(is_back)], node));
        found.push(Found { value, is_back, period: period_of(&seen.nodes), count: seen.nodes.len() });
        carried = Some(seen.last);
    }
    bar.finish_and_clear();
    let mut chart = Chart::new("", chart::Axis::new(&name), chart::Axis::new(&shown[0]));
    for (label, back) in [("forwards", 0.0), ("back", 1.0)] {
        let points = points.pairs(0, y, |row| row[1] == back);
        if !points.is_empty() {
            chart.series.push(Series { label: label.into(), mark: Mark::Dots, points });
        }
    }
    let title = format!("{}, at each {}", model.title, looks.at);
    results.write(&title, &points, &chart, &summary(&title, &name, &found), &json(&points, &found))?;
    Ok(ExitCode::SUCCESS)
}

/// One line for each run of values with the same period.
fn summary(title: &str, name: &str, found: &[Found]) -> String {
    let mut text = paint(STRONG, title) + "\n";
    let key = |found: &Found| (found.is_back, found.period, found.count == 0);
    for part in found.chunk_by(|a, b| key(a) == key(b)) {
        let (first, last) = (&part[0], &part[part.len() - 1]);
        let what = match (first.count, first.period) {
            (0, _) => "no such event".to_string(),
            (_, Some(period)) => format!("period {period}"),
            (_, None) => "no period found".to_string(),
        };
        let back = if first.is_back { ", back" } else { "" };
        text += &format!("  {name} from {:.6} to {:.6}: {what}{back}\n", first.value, last.value);
    }
    text
}

fn json(points: &Points, found: &[Found]) -> String {
    let one = |found: &Found| {
        Object::default()
            .number("value", found.value)
            .raw("back", if found.is_back { "true" } else { "false" })
            .raw("period", &found.period.map_or("null".into(), |period| period.to_string()))
            .raw("points", &found.count.to_string())
            .finish()
    };
    Object::default()
        .raw("values", &list_of(&found.iter().map(one).collect::<Vec<_>>()))
        .raw("columns", &points.json_columns())
        .raw("points", &points.json())
        .finish()
}
