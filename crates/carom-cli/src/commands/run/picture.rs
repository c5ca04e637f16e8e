//! `--report`, `--plot`, `--animate`.

use carom::error::Result;
use carom::run::Simulation;
use carom_report::file::Target;
use carom_report::recording::record;
use carom_report::{animation, motion, plots, report as page};

use super::report::{Report, plain, rounded};
use crate::args;
use crate::commands::picture::{PLOTS, command_line, theme, write_plot};
use crate::output::print;
use crate::style::{QUIET, paint, warning};

/// The pictures that were asked for; each can be written where it is to be.
pub struct Pictures {
    report: Option<Target>,
    plot: Option<Target>,
    animation: Option<Target>,
    dark: bool,
}

impl Pictures {
    /// Refuses what cannot be written before anything is computed.
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

    /// Draws a run that is over, and says where; or how to get a report.
    pub fn draw(&self, simulation: &mut Simulation, run: &Report, is_quiet: bool) -> Result<()> {
        if self.targets().next().is_none() {
            if !is_quiet {
                print(&(paint(QUIET, "to see it: the same command with --report FILE.html") + "\n"))?;
            }
            return Ok(());
        }
        let drawn = self.draw_all(simulation, run);
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

    fn draw_all(&self, simulation: &mut Simulation, run: &Report) -> Result<()> {
        let (model, end) = (run.model, run.tuned.outcome.last.t);
        let recording = record(simulation, model, run.method, run.tuned.step, end)?;
        let charts = plots::of_run(model, &recording);
        if let Some(target) = &self.plot {
            write_plot(target, &model.title, &charts, theme(self.dark))?;
        }
        if self.report.is_none() && self.animation.is_none() {
            return Ok(());
        }
        let motion = motion::film(simulation, model, &recording)?;
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

/// What the report says of the run.
fn facts(run: &Report) -> Vec<(&'static str, String)> {
    let (outcome, [compile, seconds]) = (&run.tuned.outcome, run.seconds);
    let drift = outcome.energy[2];
    let [initial, last] = [outcome.energy[0], outcome.energy[1]].map(rounded);
    let mut facts = vec![
        ("method", run.method.name.clone()),
        ("step", plain(run.tuned.step)),
        ("steps", outcome.steps.to_string()),
        ("status", format!("{} at t = {}", run.status().0, plain(outcome.last.t))),
        ("impacts", outcome.impacts.to_string()),
        ("energy", format!("{initial:.9} at the start, {last:.9} at the end")),
        ("largest drift", format!("{drift:.3e}")),
        ("compiled in", format!("{:.1} ms", 1e3 * compile)),
        ("run in", format!("{:.3} ms", 1e3 * seconds)),
        ("version", format!("carom {}, model {}", env!("CARGO_PKG_VERSION"), run.model.hash())),
    ];
    if run.tuned.error.is_finite() {
        facts.insert(5, ("estimated error", format!("{:.1e}, at the end and on the way", run.tuned.error)));
    }
    facts
}
