//! `--report`, `--plot`, `--animate`.

use carom::{Audience, Dense, Diagnostic, Model, Ready, Result};
use carom_report::chart::Chart;
use carom_report::choice::Choice;
use carom_report::file::Target;
use carom_report::page::number;
use carom_report::recording::Recorder;
use carom_report::{animation, motion, plots, png, report as page, still};

use super::report::{Report, is_cut, lengths};
use crate::args;
use crate::commands::keep_model;
use crate::commands::picture::{PLOTS, command_line, theme, write_plot};
use crate::commands::written;
use crate::output::{aside, print};
use crate::style::{QUIET, paint, warning};

/// The requested pictures, at paths that were checked.
pub struct Pictures {
    report: Option<Target>,
    plots: Vec<Target>,
    /// What each plot shows, or all of them.
    shows: Vec<String>,
    animation: Option<Target>,
    dark: bool,
    small: bool,
}

/// The animation uses at most the first arcs of a run, up to this number.
const MOST_ARCS: usize = 400_000;

/// The recorded data for the pictures.
pub struct Album<'a> {
    recorder: Recorder<'a>,
    choices: Vec<Choice>,
    notes: Vec<String>,
    dense: Dense,
}

impl Album<'_> {
    /// The watchers of the run.
    pub fn audience(&mut self) -> [Audience<'_>; 2] {
        let every = self.recorder.every();
        [Audience { watcher: &mut self.recorder, every }, Audience { watcher: &mut self.dense, every: None }]
    }
}

impl Pictures {
    /// Returns an error for a path that cannot be written, before anything is computed.
    pub fn new(arguments: &args::Pictures, model: &str) -> Result<Pictures> {
        let target = |path: &Option<std::path::PathBuf>, option: &str, extensions: &[&str]| {
            let target = path.as_deref().map(|path| Target::new(path, option, extensions)).transpose()?;
            target.map(|target| keep_model(target, model)).transpose()
        };
        let pictures = Pictures {
            report: target(&arguments.report, "--report", &["html"])?,
            plots: arguments.plot.iter().map(|path| Target::new(path, "--plot", &PLOTS)).collect::<Result<_>>()?,
            shows: arguments.show.clone(),
            animation: target(&arguments.animate, "--animate", &["gif", "svg", "png"])?,
            dark: arguments.dark,
            small: arguments.small,
        };
        pictures.check_shows()?;
        Ok(pictures)
    }

    fn check_shows(&self) -> Result<()> {
        let (shows, plots) = (self.shows.len(), self.plots.len());
        if shows > 0 && plots == 0 && self.report.is_none() {
            let message = "`--show` chooses what is plotted, but nothing is";
            return Err(Diagnostic::new(message).with_help("add `--plot F.svg` or `--report F.html`").into());
        }
        if shows > 1 && shows != plots {
            let message = format!("`--show` is given {shows} times, but `--plot` {plots} times");
            return Err(Diagnostic::new(message).with_help("give it once, or once for each `--plot`").into());
        }
        Ok(())
    }

    fn targets(&self) -> impl Iterator<Item = &Target> {
        self.report.iter().chain(&self.plots).chain(&self.animation)
    }

    /// Returns an error for a panel or a variable that the model does not have.
    pub fn choices(&self, model: &Model) -> Result<Vec<Choice>> {
        self.shows.iter().map(|list| Choice::new(model, list)).collect()
    }

    /// Prepares the recording, if pictures were requested.
    pub fn album<'a>(&self, model: &'a Model, ready: &Ready) -> Result<Option<Album<'a>>> {
        if self.targets().next().is_none() {
            return Ok(None);
        }
        let films = self.report.is_some() || self.animation.is_some();
        let recorder = Recorder::new(model, ready)?;
        let (dense, choices) = (ready.dense(if films { MOST_ARCS } else { 0 })?, self.choices(model)?);
        Ok(Some(Album { recorder, choices, notes: ready.notes(), dense }))
    }

    /// Draws a finished run and prints the file names, or prints how to get a report.
    pub fn draw(&self, album: Option<Album>, run: &Report, is_quiet: bool) -> Result<()> {
        let Some(album) = album else {
            if !is_quiet {
                print(&(paint(QUIET, "to see it, add --report FILE.html") + "\n"))?;
            }
            return Ok(());
        };
        let drawn = self.draw_all(album, run);
        match &drawn {
            Err(error) if matches!(run.status().0, "failed") => aside(&warning(&error.to_string())),
            Ok(()) if !is_quiet => {
                print(&self.targets().map(written).collect::<String>())?;
            }
            _ => {}
        }
        drawn
    }

    /// The charts, with fewer points if files are to be small.
    fn sized(&self, charts: Vec<Chart>) -> Vec<Chart> {
        if self.small { charts.into_iter().map(Chart::small).collect() } else { charts }
    }

    fn draw_all(&self, album: Album, run: &Report) -> Result<()> {
        let Album { recorder, choices, notes, mut dense } = album;
        let (model, end) = (run.model, run.outcome.last.t);
        let recording = recorder.finish(end)?;
        for (k, target) in self.plots.iter().enumerate() {
            let charts = self.sized(plots::of_run(model, &recording, choices.get(k).or(choices.first())));
            write_plot(target, &model.title, &charts, theme(self.dark))?;
        }
        if self.report.is_none() && self.animation.is_none() {
            return Ok(());
        }
        let motion = motion::film(std::slice::from_mut(&mut dense), model, &recording)?;
        let motion = if self.small { motion.small() } else { motion };
        if let Some(target) = &self.animation {
            let still = || still::svg(&motion, &model.title, theme(self.dark));
            if target.is("svg") {
                target.write(still().as_bytes())?;
            } else if target.is("png") {
                target.write(&png::render(&still())?)?;
            } else {
                target.write(&animation::gif(&motion, theme(self.dark))?)?;
            }
        }
        if let Some(target) = &self.report {
            // One choice holds for the page too; several are for the plots.
            let choice = choices.first().filter(|_| choices.len() == 1);
            let charts = self.sized(plots::of_run(model, &recording, choice));
            let page = page::Report {
                model,
                subtitle: format!("{}, {}", run.method.name, lengths(run.outcome)),
                facts: facts(run),
                message: run.status().1,
                warnings: notes
                    .into_iter()
                    .chain(run.outcome.notes.iter().chain(&run.outcome.warnings).cloned())
                    .collect(),
                account: run.outcome.account,
                digits: if run.outcome.error_estimate.is_some() { 9 } else { 6 },
                command: command_line(),
                recording: &recording,
                charts: &charts,
                motion: &motion,
                is_small: self.small,
            };
            target.write(page.html().as_bytes())?;
        }
        Ok(())
    }
}

/// Names and values for the report.
fn facts(run: &Report) -> Vec<(&'static str, String)> {
    let (outcome, compile, seconds) = (run.outcome, run.compile_seconds, run.run_seconds);
    let energy = &outcome.energy;
    // An energy that is roundoff of the kinetic energy is 0.
    let shown = |x: f64| number(if x.abs() < 1e-12 * energy.max_kinetic { 0.0 } else { x }, 6);
    let mut facts = vec![
        ("method", run.method.name.clone()),
        match outcome.step {
            Some(step) if !is_cut(outcome) => ("step", number(step, 6)),
            _ => ("longest step", number(outcome.longest_step, 3)),
        },
        ("steps", outcome.steps.to_string()),
        ("status", format!("{} at t = {}", run.status().0, number(outcome.last.t, 6))),
        ("impacts", outcome.impacts.to_string()),
        ("energy", format!("{} at the start, {} at the end", shown(energy.initial), shown(energy.last))),
        ("largest drift", format!("{:.3e}, at the nodes", energy.max_drift)),
        ("compiled in", format!("{:.1} ms", 1e3 * compile)),
        ("run in", format!("{:.3} ms", 1e3 * seconds)),
        ("version", format!("carom {}, model {}", env!("CARGO_PKG_VERSION"), run.model.hash())),
    ];
    if let Some(error) = outcome.error_estimate {
        facts.insert(5, ("estimated error", format!("{error:.1e}, at the end and along the trajectory")));
    }
    facts
}
