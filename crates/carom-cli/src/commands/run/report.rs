//! Output of the results of a run.

use carom::{Energy, Impact, Method, Model, Outcome, Status};

use super::account;
use super::record::{LAST, Record, SHOWN};
use super::rest;
use crate::commands::count;
use crate::style::{QUIET, STRONG, paint, plain, rounded, visible};

/// A finished run.
pub struct Report<'a> {
    pub model: &'a Model,
    pub method: &'a Method,
    /// True if the bodies are evaluated by recursive kernels.
    pub is_recursive: bool,
    pub until: f64,
    pub record: &'a Record,
    pub outcome: &'a Outcome,
    pub compile_seconds: f64,
    pub run_seconds: f64,
}

impl Report<'_> {
    pub(super) fn wall(&self, impact: &Impact) -> &str {
        &self.model.system.walls[impact.wall].name
    }

    /// The status, and a message if there is more to say.
    pub fn status(&self) -> (&'static str, Option<String>) {
        match &self.outcome.status {
            Status::Completed => ("completed", None),
            Status::Stopped(section) => {
                ("stopped", Some(format!("the section `{}` was crossed", self.model.sections[*section].name)))
            }
            Status::Zeno(wall) => {
                ("zeno", Some(format!("impacts accumulate on the wall `{}`", self.model.system.walls[*wall].name)))
            }
            Status::Interrupted => ("interrupted", Some("the run was interrupted".into())),
            Status::Failed(failure) => ("failed", Some(format!("{}; {}", failure.message, failure.hint))),
        }
    }

    /// How to conserve the energy over very long times, if controlled steps do not; empty if something else changes it.
    fn structure(&self) -> String {
        if self.outcome.step.is_some() || self.outcome.steps == 0 || self.outcome.account.is_some() {
            return String::new();
        }
        let mean = (self.outcome.last.t - self.record.start) / self.outcome.steps as f64;
        let round = 10f64.powf(mean.log10().floor());
        let step = rounded((mean / round).floor() * round, 1);
        let text = format!("energy is not kept over very long times: for that, --method gauss6 --step {step}");
        format!("{}\n", paint(QUIET, &text))
    }

    /// The summary for a terminal.
    pub fn summary(&self) -> String {
        let (compile, run) = (self.compile_seconds, self.run_seconds);
        let outcome = self.outcome;
        let steps = count(outcome.steps, "step");
        let times = format!("compiled in {:.1} ms, run in {:.3} ms", 1e3 * compile, 1e3 * run);
        let mut text = format!("{}\n", paint(STRONG, &self.model.title));
        let to =
            if outcome.step.is_none() { format!(" to {}", plain(self.model.run.tolerance)) } else { String::new() };
        let kernel = if self.is_recursive { " on recursive kernels" } else { "" };
        text += &format!("{}{kernel}{to}, {}, {steps}; {}\n", self.method.name, lengths(outcome), paint(QUIET, &times));
        text += &self.node_table();
        text += &self.impact_table();
        text += &rest::summary(self.model, &self.record.holdings);
        if let (_, Some(message)) = self.status() {
            text += &format!("\n{}\n", paint(STRONG, &message));
        }
        text += &format!("\nat t = {}\n", rounded(outcome.last.t, 12));
        text += &self.last_state();
        if let Some(error) = outcome.error_estimate {
            let since = outcome.error_since.map(|t| format!(", without that of the restart at t = {}", plain(t)));
            text +=
                &format!("estimated error {error:.1e}, here and along the trajectory{}\n", since.unwrap_or_default());
        }
        if let Some(violation) = outcome.violation {
            let (g, rate) = (violation.position, violation.rate);
            text += &format!("constraints hold to |g| ≤ {g:.1e}, |dg/dt| ≤ {rate:.1e}\n");
        }
        let ([first, last], drift) = (self.energies(), outcome.energy.max_drift);
        text += &format!("energy {first} at the start, {last} at the end, largest drift {drift:.3e}\n");
        text += &outcome.account.as_ref().map(account::summary).unwrap_or_default();
        text += &self.structure();
        text += &self.diagnostics_table();
        let times: Vec<f64> = self.record.impacts.iter().map(|impact| impact.minus.t).collect();
        let all_times = if times.len() == self.record.impact_count { times.as_slice() } else { &[] };
        let plot = self.record.energy.as_ref().and_then(|energy| energy.draw(all_times));
        text + &plot.unwrap_or_default()
    }

    /// The energy at the start and at the end.
    pub fn energies(&self) -> [String; 2] {
        let Energy { initial, last, max_kinetic, .. } = self.outcome.energy;
        let scale = initial.abs().max(last.abs()).max(max_kinetic);
        [initial, last].map(|energy| significant(energy, Some(scale)))
    }

    fn last_state(&self) -> String {
        let last = &self.outcome.last;
        let mut text = String::new();
        let free = self.model.system.free();
        // The extent of each coordinate, if it is known, tells a small motion from roundoff.
        let extent = |i: usize| {
            let scale = self.outcome.error_scale.as_ref()?;
            free.iter().position(|&k| k == i).and_then(|k| scale.q.get(k).copied())
        };
        for (i, c) in self.model.system.coordinates.iter().enumerate() {
            let q = significant(last.q[i], extent(i));
            let v = significant(last.v[i], extent(i).map(|extent| extent / self.until));
            text += &format!("  {:<10} {q:>16}   {}' = {v}\n", c.name, c.name);
        }
        for (output, value) in self.model.outputs.iter().zip(&last.outputs) {
            text += &format!("  {:<10} {:>16}\n", output.name, significant(*value, None));
        }
        if !self.model.sections.is_empty() {
            text += &format!("{} of sections\n", count(self.record.crossings.len(), "crossing"));
        }
        text
    }

    fn impact_table(&self) -> String {
        let impacts = &self.record.impacts;
        if impacts.is_empty() {
            return String::new();
        }
        let heading = format!("{:>4} {:>14} {:>12}  wall", "", "impact at t", "λ");
        let mut text = format!("\n{}\n", paint(STRONG, &heading));
        let line = |number: usize, impact: &Impact| {
            let (t, lambda, wall) = (impact.minus.t, impact.lambda, visible(self.wall(impact)));
            let lambda = if lambda.abs() < 1e-4 { format!("{lambda:.5e}") } else { format!("{lambda:.6}") };
            format!("{number:>4} {:>14} {lambda:>12}  {wall}\n", significant(t, Some(t)))
        };
        let total = self.record.impact_count;
        let shown = if total > SHOWN { SHOWN - 2 * LAST } else { SHOWN };
        text.extend(impacts.iter().take(shown).enumerate().map(|(k, impact)| line(k + 1, impact)));
        if total > SHOWN {
            text += &format!("   … {total} impacts in all\n");
            let last = impacts.iter().chain(&self.record.last_impacts).rev().take(LAST).collect::<Vec<_>>();
            text.extend(last.iter().enumerate().rev().map(|(k, impact)| line(total - k, impact)));
        }
        text
    }
}

/// A number with nine decimals; with nine significant digits if it is small or large, but not roundoff of numbers as large as
/// `scale`.
pub fn significant(x: f64, scale: Option<f64>) -> String {
    let is_roundoff = x.abs() < 5e-10 * scale.unwrap_or(1.0);
    match x.abs() {
        _ if is_roundoff => format!("{:.9}", 0.0),
        size if (1e-4..1e12).contains(&size) || x == 0.0 || !x.is_finite() => format!("{x:.9}"),
        _ => format!("{x:.8e}"),
    }
}

/// True if every step ends earlier than the step that is named, as where controls have shorter intervals.
pub(super) fn is_cut(outcome: &Outcome) -> bool {
    outcome.steps > 0 && outcome.step.is_some_and(|step| step > 1.001 * outcome.longest_step)
}

/// The lengths of the steps; `--json` has all digits of a step.
pub fn lengths(outcome: &Outcome) -> String {
    match outcome.step {
        Some(_) if is_cut(outcome) => format!("steps up to {}", rounded(outcome.longest_step, 3)),
        Some(step) => format!("step {}", rounded(step, 6)),
        None => format!("controlled steps up to {}", rounded(outcome.longest_step, 3)),
    }
}
