//! `carom sweep`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use carom::sweep::Sweep;
use carom::{Diagnostic, Model, Result};
use carom_sweep::{Reduction, STATUSES, Summary, SweepJob, read_share, run, time_left};
use indicatif::{ProgressBar, ProgressStyle};

use super::{count, load, watch_for_interrupt, with_options};
use crate::args;
use crate::json::{Object, list_of};
use crate::output::print;
use crate::session;
use crate::style::{QUIET, STRONG, paint};

/// Sweeps a model.
pub fn sweep(arguments: &args::Sweep) -> Result<ExitCode> {
    let model = load(&arguments.varied.model())?;
    let share = arguments.part.as_deref().map_or(Ok((1, 1)), read_share)?;
    let reductions: Vec<Reduction> =
        arguments.reduce.iter().map(|text| Reduction::parse(text)).collect::<Result<_>>()?;
    let sweep = build(&model, arguments, &reductions)?;
    let threads = threads(arguments.threads)?;
    let records = arguments.record.as_slice();
    let folder = arguments.out.clone();
    let job = SweepJob { model: &model, sweep: &sweep, records, reductions: &reductions, folder, threads, share };
    let interrupted = watch_for_interrupt();
    let began = Instant::now();
    let bar = bar();
    let summary = run(&job, &|summary| show(&bar, summary, began.elapsed()), &interrupted);
    bar.finish_and_clear();
    let summary = summary?;
    print(&if arguments.json {
        json(&summary, &sweep, &reductions)
    } else {
        text(&model, &summary, &job, began.elapsed())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The sweep that the arguments describe.
fn build(model: &Model, arguments: &args::Sweep, reductions: &[Reduction]) -> Result<Sweep> {
    let mut builder = model.sweep().seed(arguments.varied.seed.unwrap_or(0));
    for axis in &arguments.varied.vary {
        builder = builder.vary(axis)?;
    }
    if let Some(samples) = arguments.varied.samples {
        builder = builder.samples(samples);
    }
    for records in &arguments.record {
        builder = builder.record(records)?;
    }
    let axis =
        |name: &str| arguments.varied.vary.iter().any(|text| text.split('=').next().map(str::trim) == Some(name));
    for reduction in reductions.iter().filter(|reduction| !reduction.is_fixed() && !axis(&reduction.column)) {
        builder = builder.record(&reduction.column)?;
    }
    let limit = arguments.timeout.unwrap_or(60.0);
    if !(limit > 0.0 && limit <= 1e9) {
        return Err(Diagnostic::new(format!("`--timeout` must be a positive number of seconds, not {limit}")).into());
    }
    builder.limit(Duration::from_secs_f64(limit)).build()
}

/// The number of threads: that of the processors if it is not given.
fn threads(given: Option<usize>) -> Result<usize> {
    match given {
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
        Some(0) => Err(Diagnostic::new("`--threads` must be at least 1").into()),
        Some(threads) => Ok(threads.min(1024)),
    }
}

fn bar() -> ProgressBar {
    if session::is_called() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} rows, {msg}") {
        bar.set_style(style);
    }
    bar
}

fn show(bar: &ProgressBar, summary: &Summary, since: Duration) {
    bar.set_length(summary.rows);
    bar.set_position(summary.known + summary.made);
    let left =
        time_left(summary, since).map_or(String::new(), |left| format!("{:.0} s left, ", left.as_secs_f64().ceil()));
    bar.set_message(left + &by_status(summary));
}

/// `990 completed, 10 refused`.
fn by_status(summary: &Summary) -> String {
    let parts = STATUSES.iter().zip(summary.by_status).filter(|(_, count)| *count > 0);
    parts.map(|(status, count)| format!("{count} {}", status.name())).collect::<Vec<_>>().join(", ")
}

fn text(model: &Model, summary: &Summary, job: &SweepJob, time: Duration) -> String {
    let Summary { rows, known, made, missing, .. } = summary;
    let method = if job.sweep.has_lanes() {
        format!("{}, several runs at once", job.sweep.method())
    } else {
        job.sweep.method().into()
    };
    let mut text = format!("{}\n{}\n", paint(STRONG, &model.title), paint(QUIET, &method));
    let was = if *known > 0 { format!(", {known} were there") } else { String::new() };
    text += &format!(
        "{} of {}{was}, in {:.1} s with {}\n",
        made,
        count(*rows as usize, "row"),
        time.as_secs_f64(),
        count(job.threads, "thread")
    );
    if *made > 0 {
        text += &format!("  {}\n", by_status(summary));
    }
    if *missing > 0 {
        let parts = count(*missing as usize, "part");
        text += &format!("{parts} of the sweep are missing; the same command goes on\n");
    }
    for (reduction, statistics) in job.reductions.iter().zip(&summary.statistics) {
        text += &format!("  {} = {}\n", reduction.text, statistics.of(reduction));
    }
    text + &format!("written    {}\n", job.folder.display())
}

fn json(summary: &Summary, sweep: &Sweep, reductions: &[Reduction]) -> String {
    let number = |x: u64| x.to_string();
    let statuses = STATUSES.iter().zip(summary.by_status);
    let statuses =
        statuses.fold(Object::default(), |object, (status, count)| object.raw(status.name(), &number(count)));
    let reduced = reductions.iter().zip(&summary.statistics);
    let reduced = reduced.map(|(reduction, all)| {
        Object::default().text("reduce", &reduction.text).raw("value", &all.of(reduction).to_string()).finish()
    });
    let object = Object::default()
        .text("method", sweep.method())
        .raw("rows", &number(summary.rows))
        .raw("known", &number(summary.known))
        .raw("made", &number(summary.made))
        .raw("missing_parts", &number(summary.missing))
        .raw("status", &statuses.finish())
        .raw("statistics", &list_of(&reduced.collect::<Vec<_>>()));
    object.finish() + "\n"
}

impl args::Varied {
    /// The model with the options of `[run]`.
    pub fn model(&self) -> args::Model {
        let args::Varied { model, method, step, tolerance, until, .. } = self;
        with_options(model, &[("--method", method), ("--step", step), ("--tolerance", tolerance), ("--until", until)])
    }
}
