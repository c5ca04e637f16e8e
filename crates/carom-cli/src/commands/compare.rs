//! `carom compare`.

use std::fmt::Write;
use std::process::ExitCode;

use carom::lab::compare::{Comparison, ComparisonPlan, ComparisonRow, Measures, compare as run_all, kind_of_time};
use carom::lab::error::{Diagnostic, Result};

use carom_report::file::Target;
use carom_report::plots;

use super::picture::{PLOTS, theme, write_plot};
use super::{Table, count, keep_model, load, spinner, with_options, written};
use crate::args;
use crate::output::{aside, print};
use crate::style::{QUIET, STRONG, paint, right, warning};

/// If the error of the reference motion exceeds this, a warning is printed.
const UNKNOWN: f64 = 1e-6;

/// Compares methods at several steps.
pub fn compare(arguments: &args::Compare) -> Result<ExitCode> {
    let plot = arguments.plot.as_deref().map(|path| Target::new(path, "--plot", &PLOTS)).transpose()?;
    let plot = plot.map(|plot| keep_model(plot, &arguments.model.model)).transpose()?;
    let out = arguments.out.as_deref().map(|path| Table::new(path, "--out", &arguments.model.model)).transpose()?;
    let model = load(&with_options(&arguments.model, &[("--until", &arguments.until)]))?;
    let no_horizon = || Diagnostic::new("the run has no end time").with_help("give `--until T`, or `until` in [run]");
    let until = model.run.until.ok_or_else(no_horizon)?;
    let plan = ComparisonPlan::new(&items(&arguments.methods), model.run.alpha, &steps(&arguments.steps)?, until)?;
    let bar = spinner();
    let comparison = run_all(&model, &plan, &mut |what| bar.set_message(what.to_string()));
    bar.finish_and_clear();
    let comparison = comparison?;
    if let Some(out) = &out {
        out.write(&csv(&comparison))?;
    }
    if let Some(target) = &plot {
        let title = format!("{} up to t = {until}", model.title);
        write_plot(target, &title, &plots::of_comparison(&comparison), theme(arguments.dark))?;
    }
    let files = out.iter().map(Table::written).chain(plot.iter().map(written)).collect::<String>();
    print(&format!("{} up to t = {until}\n{}{files}", paint(STRONG, &model.title), table(&comparison)))?;
    if comparison.exact_error > UNKNOWN {
        let message =
            format!("the reference has an error of about {:.0e}: errors near it mean little", comparison.exact_error);
        aside(&warning(&message));
    }
    Ok(ExitCode::SUCCESS)
}

fn items(list: &str) -> Vec<&str> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
}

fn steps(list: &str) -> Result<Vec<f64>> {
    let step = |item: &str| {
        let wrong = || Diagnostic::new(format!("a step is a number, not `{item}`"));
        item.parse().map_err(|_| wrong().with_help("separate steps by commas: `--steps 0.02,0.01`").into())
    };
    items(list).into_iter().map(step).collect()
}

const HEADINGS: [&str; 8] = ["h", "L² error", "order", "|H − H₀|", "|H̃ − H̃₀|", "impacts", "impact |Δt|", "steps"];

/// The table for the terminal.
fn table(comparison: &Comparison) -> String {
    let name = comparison.rows.iter().map(|row| row.method.chars().count()).max().unwrap_or(0).max("method".len());
    let time = format!("{} s", kind_of_time());
    let headings: Vec<String> = HEADINGS.into_iter().chain([&*time]).map(|heading| right(heading, 11)).collect();
    let mut text = paint(STRONG, &format!("{:<name$} {}", "method", headings.join(" "))) + "\n";
    for row in &comparison.rows {
        let cells = match &row.measures {
            Ok(measures) => cells(row, measures).join(" "),
            Err(why) => format!("{}  {why}", right(&format!("{}", row.step), 11)),
        };
        text += &format!("{:<name$} {cells}\n", row.method);
    }
    let exact = format!(
        "against gauss8+ctec: {}, L² error about {:.0e}; H̃ from iterates (m = 8, mean over ±10 nodes)",
        count(comparison.exact_impacts, "impact"),
        comparison.exact_error,
    );
    text + &paint(QUIET, &exact) + "\n"
}

fn cells(row: &ComparisonRow, measures: &Measures) -> Vec<String> {
    let number = |x: f64| format!("{x:.3e}");
    let maybe = |x: Option<f64>| x.map_or("–".to_string(), number);
    let texts = [
        format!("{}", row.step),
        number(measures.l2),
        row.order.map_or("–".to_string(), |order| format!("{order:.2}")),
        number(measures.energy_drift),
        maybe(measures.shadow_drift),
        measures.impacts.to_string(),
        maybe(measures.impact_time_error),
        measures.steps.to_string(),
        number(measures.seconds),
    ];
    texts.iter().map(|text| right(text, 11)).collect()
}

/// The table as CSV; an empty cell means that there is no value.
fn csv(comparison: &Comparison) -> String {
    let time = kind_of_time().to_lowercase();
    let mut text = format!(
        "method,step,l2_error,order,energy_drift,shadow_drift,impacts,impact_time_error,steps,{time}_seconds,message\n"
    );
    for row in &comparison.rows {
        let maybe = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:e}"));
        let rest = match &row.measures {
            Ok(m) => format!(
                "{:e},{},{:e},{},{},{},{},{:e},",
                m.l2,
                maybe(row.order),
                m.energy_drift,
                maybe(m.shadow_drift),
                m.impacts,
                maybe(m.impact_time_error),
                m.steps,
                m.seconds
            ),
            Err(why) => format!(",,,,,,,,\"{}\"", why.replace('"', "\"\"")),
        };
        let _ = writeln!(text, "{},{:e},{rest}", row.method, row.step);
    }
    text
}
