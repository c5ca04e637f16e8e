//! The report of an answer: a run with its controls along its phases, drawn.

use carom::lab::expr::Expr;
use carom::lab::model::Output;
use carom::lab::optimize::{Answer, Leg};
use carom::lab::run::View;
use carom::lab::system::normal_force;
use carom::{Account, Audience, Dense, Impact, Model, Outcome, Ready, Result, Status, Watcher};
use carom_report::file::Target;
use carom_report::page::number;
use carom_report::recording::Recorder;
use carom_report::{motion, plots, report as page};

use crate::commands::picture::command_line;
use crate::style::rounded;

/// The animation uses at most the first arcs of a leg, up to this number.
const MOST_ARCS: usize = 400_000;

/// The model with its controls as outputs.
pub fn with_controls(model: &Model) -> Model {
    let mut model = model.clone();
    let controls = model.problem.controls.clone();
    model.outputs.extend(controls.into_iter().map(|control| Output { name: control.name, value: control.symbol }));
    model
}

/// Runs the model along its phases with the controls found, and draws that. Returns why the run failed, if it did.
pub fn draw(target: &Target, model: &Model, answer: &Answer) -> Result<Option<String>> {
    let model = drawn(model);
    let (mut recorder, mut films, mut account) = (None, Vec::new(), None);
    let mut end = 0.0;
    let replayed = answer.replay(&model, &mut |leg| {
        let mut part = leg.model.clone();
        part.outputs.clone_from(&model.outputs);
        let ready = leg.simulation(&part).prepare()?;
        if recorder.is_none() {
            recorder = Some(Recorder::over(&model, &ready, [0.0, answer.t_end()])?);
        }
        let recorder = recorder.as_mut().expect("it was made above");
        let (outcome, film, seen) = run(&ready, leg, recorder)?;
        films.push(film);
        account = sum(account, seen.account);
        end = seen.end.min(outcome.last.t);
        match outcome.status {
            Status::Failed(failure) => Err((*failure).into()),
            _ => Ok((outcome, seen.impacts)),
        }
    });
    let Some(recorder) = recorder else { return replayed.map(|()| None) };
    let recording = recorder.finish(end)?;
    let motion = motion::film(&mut films, &model, &recording)?;
    let failure = replayed.err().map(|error| error.to_string());
    let longest = answer.found.durations.iter().zip(&answer.steps).map(|(d, n)| d / *n as f64).fold(0.0, f64::max);
    let charts = plots::of_run(&model, &recording, None);
    let report = page::Report {
        model: &model,
        subtitle: format!("{}, steps up to {}", answer.method, rounded(longest, 3)),
        facts: facts(&model, answer, recording.impact_count),
        message: failure.clone().or_else(|| answer.message.clone()),
        warnings: answer.warnings.clone(),
        account,
        digits: 9,
        command: command_line(),
        recording: &recording,
        charts: &charts,
        motion: &motion,
        is_small: false,
    };
    target.write(report.html().as_bytes())?;
    Ok(failure)
}

/// The model with its controls as outputs. A wall that a phase holds is a constraint there, without a force to show.
fn drawn(model: &Model) -> Model {
    let mut model = with_controls(model);
    let forces: Vec<Expr> = (0..model.system.walls.len()).map(normal_force).collect();
    if model.problem.phases.iter().any(|phase| !phase.held_walls.is_empty()) {
        model.outputs.retain(|output| !output.value.depends_on(&forces));
    }
    model
}

fn run<'a>(ready: &Ready, leg: &'a Leg, recorder: &'a mut Recorder) -> Result<(Outcome, Dense, Seen)> {
    let (every, mut film) = (recorder.every(), ready.dense(MOST_ARCS)?);
    let seen = Seen { impacts: Vec::new(), end: leg.span[1], is_over: false, account: None };
    let mut along = Along { recorder, leg, seen };
    let mut audience = [Audience { watcher: &mut along, every }, Audience { watcher: &mut film, every: None }];
    let outcome = ready.show(&mut audience)?;
    Ok((outcome, film, along.seen))
}

/// What was seen of a leg.
struct Seen {
    impacts: Vec<Impact>,
    /// When it ends: at the impact, if one ends it.
    end: f64,
    is_over: bool,
    account: Option<Account>,
}

/// Records a leg up to its end.
struct Along<'a, 'm> {
    recorder: &'a mut Recorder<'m>,
    leg: &'a Leg,
    seen: Seen,
}

impl Watcher for Along<'_, '_> {
    fn node(&mut self, view: &mut View) {
        self.seen.account = view.account();
        if view.t() <= self.seen.end {
            self.recorder.node(view);
        }
    }

    fn sample(&mut self, view: &mut View) {
        if view.t() <= self.seen.end {
            self.recorder.sample(view);
        }
    }

    fn impact(&mut self, impact: Impact) {
        if !self.seen.is_over {
            self.recorder.impact(Impact { wall: self.leg.walls[impact.wall], ..impact.clone() });
        }
        if self.leg.ends_with(&impact) && !self.seen.is_over {
            (self.seen.end, self.seen.is_over) = (impact.minus.t, true);
        }
        self.seen.impacts.push(impact);
    }

    fn wants_account(&self) -> bool {
        true
    }

    fn wants_to_stop(&self) -> bool {
        self.seen.is_over
    }
}

/// The account of two legs.
fn sum(a: Option<Account>, b: Option<Account>) -> Option<Account> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    Some(Account {
        work: a.work + b.work,
        drives: a.drives + b.drives,
        impacts: a.impacts + b.impacts,
        unexplained: a.unexplained + b.unexplained,
    })
}

/// Names and values for the report.
fn facts(model: &Model, answer: &Answer, impacts: usize) -> Vec<(&'static str, String)> {
    let (compile, solve) = (answer.compile_seconds, answer.solve_seconds);
    let steps: Vec<String> = answer.steps.iter().map(usize::to_string).collect();
    let mut facts = vec![
        ("method", answer.method.clone()),
        ("status", answer.status.name().into()),
        ("cost", number(answer.cost, 9)),
        ("steps", steps.join(" + ")),
        ("end", format!("t = {}", number(answer.t_end(), 9))),
        ("impacts", impacts.to_string()),
        ("iterations", answer.iterations.to_string()),
        ("feasibility", format!("{:.1e}", answer.feasibility)),
        ("optimality", format!("{:.1e}", answer.optimality)),
        ("compiled in", format!("{:.1} ms", 1e3 * compile)),
        ("solved in", format!("{:.1} ms", 1e3 * solve)),
        ("version", format!("carom {}, model {}", env!("CARGO_PKG_VERSION"), model.hash())),
    ];
    if let Some(check) = &answer.check {
        facts.insert(9, ("this run", format!("ends {:.1e} off the plan", check.final_error)));
    }
    facts
}
