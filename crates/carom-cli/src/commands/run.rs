//! `carom run`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use carom::error::{Diagnostic, Result};
use carom::method::Method;
use carom::model::Model;
use carom::run::{Impact, Node, Outcome, Simulation, Status, Watcher};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::load;
use crate::args;
use crate::json::{Object, list_of, text};
use crate::output::print;
use crate::style::{QUIET, STRONG, paint};

/// Runs a model and tells what happened.
pub fn run(arguments: &args::Run) -> Result<ExitCode> {
    let model = load(&with_run_settings(arguments))?;
    let method = method(&model)?;
    let until = model
        .run
        .until
        .ok_or_else(|| Diagnostic::new("the run has no horizon").with_help("give `--until T`, or `until` in [run]"))?;
    let step = model.run.step.unwrap_or(until / 1000.0);
    let begin = Instant::now();
    let mut simulation = Simulation::new(&model, &method, step, until)?;
    let compile = begin.elapsed().as_secs_f64();
    let keep_nodes = arguments.nodes || arguments.out.is_some();
    let mut record = Record { keep_nodes, stop: on_interrupt()?, ..Record::default() };
    let outcome = simulation.run(&mut record)?;
    let seconds = [compile, begin.elapsed().as_secs_f64() - compile];
    let report = Report { model: &model, method: &method, step, until, record: &record, outcome: &outcome, seconds };
    if let Some(path) = &arguments.out {
        write_csv(path, &model, &record.nodes)?;
    }
    print(&if arguments.json { report.json(arguments.nodes) + "\n" } else { report.summary() })?;
    match outcome.status {
        Status::Failed(failure) => Err((*failure).into()),
        Status::Completed | Status::Interrupted => Ok(ExitCode::SUCCESS),
    }
}

/// `--method`, `--step` and `--until` are settings of `[run]`.
fn with_run_settings(arguments: &args::Run) -> args::Model {
    let mut settings = arguments.model.settings.clone();
    if let Some(method) = &arguments.method {
        settings.push(format!("run.method={}", text(method)));
    }
    // TOML writes `nan` where Rust writes `NaN`.
    let number = |x: f64| format!("{x:?}").to_lowercase();
    settings.extend(arguments.step.map(|step| format!("run.step={}", number(step))));
    settings.extend(arguments.until.map(|until| format!("run.until={}", number(until))));
    args::Model { model: arguments.model.model.clone(), settings }
}

fn method(model: &Model) -> Result<Method> {
    let Some(name) = &model.run.method else { return Method::named("cva", None) };
    Method::named(name, model.run.alpha).map_err(|error| match error {
        carom::error::Error::Model(diagnostic) => {
            model.method_error(diagnostic.message, diagnostic.help.unwrap_or_default())
        }
        other => other,
    })
}

/// True after the first Ctrl-C, so that a run can tell what it has; the second ends the program.
fn on_interrupt() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&stop))
        .and_then(|_| flag::register(SIGINT, Arc::clone(&stop)))
        .map_err(|e| Diagnostic::new(format!("cannot listen for interrupts: {e}")))?;
    Ok(stop)
}

/// What is kept of a run.
#[derive(Default)]
struct Record {
    keep_nodes: bool,
    stop: Arc<AtomicBool>,
    nodes: Vec<Node>,
    impacts: Vec<Impact>,
}

impl Watcher for Record {
    fn node(&mut self, node: &dyn Fn() -> Node) {
        if self.keep_nodes {
            self.nodes.push(node());
        }
    }

    fn impact(&mut self, impact: Impact) {
        self.impacts.push(impact);
    }

    fn wants_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

struct Report<'a> {
    model: &'a Model,
    method: &'a Method,
    step: f64,
    until: f64,
    record: &'a Record,
    outcome: &'a Outcome,
    seconds: [f64; 2],
}

impl Report<'_> {
    fn wall(&self, impact: &Impact) -> &str {
        &self.model.system.walls[impact.wall].name
    }

    fn json(&self, with_nodes: bool) -> String {
        let impacts: Vec<String> = self.record.impacts.iter().map(|impact| self.json_impact(impact)).collect();
        let [initial, last, drift] = self.outcome.energy;
        let energy =
            Object::default().number("initial", initial).number("final", last).number("max_drift", drift).finish();
        let (status, message) = match &self.outcome.status {
            Status::Completed => ("completed", None),
            Status::Interrupted => ("interrupted", Some("the run was interrupted".to_string())),
            Status::Failed(failure) => ("failed", Some(format!("{}; {}", failure.message, failure.hint))),
        };
        let mut object = Object::default()
            .text("model", &self.model.title)
            .text("method", &self.method.name)
            .number("step", self.step)
            .number("until", self.until)
            .text("status", status);
        if let Some(message) = message {
            object = object.text("message", &message);
        }
        object = object.raw("impacts", &list_of(&impacts)).raw("final", &json_node(&self.outcome.last));
        object = object.raw("energy", &energy).raw("steps", &self.outcome.steps.to_string());
        if with_nodes {
            let nodes: Vec<String> = self.record.nodes.iter().map(json_node).collect();
            object = object.raw("nodes", &list_of(&nodes));
        }
        let [compile, run] = self.seconds;
        let seconds = Object::default().number("compile", compile).number("run", run).finish();
        object
            .raw("error_estimate", "null")
            .text("version", env!("CARGO_PKG_VERSION"))
            .text("model_hash", &self.model.hash())
            .raw("seconds", &seconds)
            .finish()
    }

    fn json_impact(&self, impact: &Impact) -> String {
        Object::default()
            .number("t", impact.minus.t)
            .text("wall", self.wall(impact))
            .number("lambda", impact.lambda)
            .numbers("q", &impact.minus.q)
            .numbers("v_minus", &impact.minus.v)
            .numbers("v_plus", &impact.plus.v)
            .numbers("p_minus", &impact.minus.p)
            .numbers("p_plus", &impact.plus.p)
            .finish()
    }

    fn summary(&self) -> String {
        let [compile, run] = self.seconds;
        let how = format!("{}, step {}, {} steps", self.method.name, plain(self.step), self.outcome.steps);
        let times = format!("compiled in {:.1} ms, run in {:.3} ms", 1e3 * compile, 1e3 * run);
        let mut text = format!("{}\n{how}; {}\n", paint(STRONG, &self.model.title), paint(QUIET, &times));
        text += &self.impact_table();
        let last = &self.outcome.last;
        let early = if self.outcome.status == Status::Interrupted { ", where it was interrupted" } else { "" };
        text += &format!("\nat t = {}{early}\n", plain(last.t));
        for (i, c) in self.model.system.coordinates.iter().enumerate() {
            text += &format!("  {:<10} {:>16.9}   {}' = {:.9}\n", c.name, last.q[i], c.name, last.v[i]);
        }
        let [initial, end, drift] = self.outcome.energy;
        text + &format!("energy {initial:.9} at the start, {end:.9} at the end, largest drift {drift:.3e}\n")
    }

    fn impact_table(&self) -> String {
        const SHOWN: usize = 20;
        let impacts = &self.record.impacts;
        if impacts.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}\n", paint(STRONG, &format!("{:>4} {:>14} {:>12}  wall", "", "impact at t", "λ")));
        for (number, impact) in impacts.iter().enumerate().take(SHOWN) {
            let (t, lambda, wall) = (impact.minus.t, impact.lambda, self.wall(impact));
            text += &format!("{:>4} {t:>14.9} {lambda:>12.6}  {wall}\n", number + 1);
        }
        if impacts.len() > SHOWN {
            text += &format!("     … {} impacts in all\n", impacts.len());
        }
        text
    }
}

/// A number as it was given, unless that would be a long row of zeros.
fn plain(x: f64) -> String {
    if x == 0.0 || (1e-5..1e15).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

fn json_node(node: &Node) -> String {
    Object::default().number("t", node.t).numbers("q", &node.q).numbers("v", &node.v).numbers("p", &node.p).finish()
}

fn write_csv(path: &Path, model: &Model, nodes: &[Node]) -> Result<()> {
    let mut text = String::from("t");
    for letter in ["q", "v", "p"] {
        for c in &model.system.coordinates {
            let _ = write!(text, ",{letter}_{}", c.name);
        }
    }
    for node in nodes {
        let _ = write!(text, "\n{:e}", node.t);
        for x in node.q.iter().chain(&node.v).chain(&node.p) {
            let _ = write!(text, ",{x:e}");
        }
    }
    text.push('\n');
    fs::write(path, text).map_err(|e| Diagnostic::new(format!("cannot write `{}`: {e}", path.display())).into())
}
