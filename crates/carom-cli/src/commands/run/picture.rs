//! `--report`, `--plot`, `--animate`.

use carom::{Audience, Dense, Model, Ready, Result};
use carom_report::file::Target;
use carom_report::recording::Recorder;
use carom_report::{animation, motion, plots, report as page};

use super::report::{Report, plain};
use crate::args;
use crate::commands::picture::{PLOTS, command_line, theme, write_plot};
use crate::output::print;
use crate::style::{QUIET, paint, warning};

/// The requested pictures, at paths that were checked.
pub struct Pictures {
    report: Option<Target>,
    plot: Option<Target>,
    animation: Option<Target>,
    dark: bool,
}

/// The animation uses at most the first arcs of a run, up to this number.
const MOST_ARCS: usize = 400_000;

/// The recorded data for the pictures.
pub struct Album<'a> {
    recorder: Recorder<'a>,
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
    pub fn new(arguments: &args::Pictures) -> Result<Pictures> {
        let target = |path: &Option<std::path::PathBuf>, option: &str, extensions: &[&str]| {
            path.as_deref().map(|path| Target::new(path, option, extensions)).transpose()
        };
        Ok(Pictures {
            report: target(&arguments.report, "--report", &["html"])?,
            plot: target(&arguments.plot, "--plot", &PLOTS)?,
            animation: target(&arguments.animate, "--animate", &["gif"])?,
            dark: arguments.dark,
        })
    }

    fn targets(&self) -> impl Iterator<Item = &Target> {
        [&self.report, &self.plot, &self.animation].into_iter().flatten()
    }

    /// Prepares the recording, if pictures were requested.
    pub fn album<'a>(&self, model: &'a Model, ready: &Ready) -> Result<Option<Album<'a>>> {
        if self.targets().next().is_none() {
            return Ok(None);
        }
        let films = self.report.is_some() || self.animation.is_some();
        let recorder = Recorder::new(model, ready.method(), ready.step(), [ready.begin(), ready.until()])?;
        Ok(Some(Album { recorder, dense: ready.dense(if films { MOST_ARCS } else { 0 })? }))
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
            Err(error) if matches!(run.status().0, "failed") => anstream::eprintln!("{}", warning(&error.to_string())),
            Ok(()) if !is_quiet => {
                let line = |target: &Target| format!("written    {}\n", target.path().display());
                print(&self.targets().map(line).collect::<String>())?;
            }
            _ => {}
        }
        drawn
    }

    fn draw_all(&self, album: Album, run: &Report) -> Result<()> {
        let Album { recorder, mut dense } = album;
        let (model, end) = (run.model, run.outcome.last.t);
        let recording = recorder.finish(end)?;
        let charts = plots::of_run(model, &recording);
        if let Some(target) = &self.plot {
            write_plot(target, &model.title, &charts, theme(self.dark))?;
        }
        if self.report.is_none() && self.animation.is_none() {
            return Ok(());
        }
        let motion = motion::film(&mut dense, model, &recording)?;
        if let Some(target) = &self.animation {
            target.write(&animation::gif(&motion, theme(self.dark))?)?;
        }
        if let Some(target) = &self.report {
            let (facts, message) = (facts(run), run.status().1);
            let (recording, charts, motion) = (&recording, charts.as_slice(), &motion);
            let page = page::Report { model, facts, message, command: command_line(), recording, charts, motion };
            target.write(page.html().as_bytes())?;
        }
        Ok(())
    }
}

/// Names and values for the report.
fn facts(run: &Report) -> Vec<(&'static str, String)> {
    let (outcome, [compile, seconds]) = (run.outcome, run.seconds);
    let drift = outcome.energy.max_drift;
    let [initial, last] = run.energies();
    let mut facts = vec![
        ("method", run.method.name.clone()),
        ("step", plain(outcome.step)),
        ("steps", outcome.steps.to_string()),
        ("status", format!("{} at t = {}", run.status().0, plain(outcome.last.t))),
        ("impacts", outcome.impacts.to_string()),
        ("energy", format!("{initial} at the start, {last} at the end")),
        ("largest drift", format!("{drift:.3e}")),
        ("compiled in", format!("{:.1} ms", 1e3 * compile)),
        ("run in", format!("{:.3} ms", 1e3 * seconds)),
        ("version", format!("carom {}, model {}", env!("CARGO_PKG_VERSION"), run.model.hash())),
    ];
    if let Some(error) = outcome.error_estimate {
        facts.insert(5, ("estimated error", format!("{error:.1e}, at the end and along the trajectory")));
    }
    facts
}
