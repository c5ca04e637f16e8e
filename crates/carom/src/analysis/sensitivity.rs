//! Derivatives of the results of a run.

use super::adjoint::{Swept, Tape};
use super::forward::{Approached, Forward};
use super::miss::{Miss, Misses};
use super::names::{Asked, By, Component, Of, Wanted, expand_by, read_by, read_of, view_of};
use super::results::{Quantities, tangent_of};
use super::seeds::{Fixed, Slots, Start};
use crate::error::{Diagnostic, Result};
use crate::model::{InitialMotion, Model};
use crate::run::{Audience, Outcome, Status};
use crate::simulation::Simulation;

/// The derivatives of the results of a simulation by parameters and by the start. See [`Simulation::sensitivity`].
#[derive(Clone, Debug)]
pub struct Sensitivity {
    simulation: Simulation,
    of: Vec<String>,
    by: Vec<String>,
    fixed: Option<Fixed>,
    mode: Mode,
    keeps_path: bool,
}

/// Derivatives of the results of a run.
#[derive(Clone, Debug)]
pub struct Derivatives {
    /// The method of the run.
    pub method: String,
    /// The step.
    pub step: f64,
    /// The end time.
    pub until: f64,
    /// How the run ended.
    pub status: Status,
    /// The names of the quantities.
    pub of: Vec<String>,
    /// The names of the variables.
    pub by: Vec<String>,
    /// The values of the quantities; NaN where there is none.
    pub values: Vec<f64>,
    /// `derivatives[i][j]` is ∂ of[i]/∂ by[j]; NaN where there is no derivative.
    pub derivatives: Vec<Vec<f64>>,
    /// The impacts of the run.
    pub impacts: Vec<Approach>,
    /// The smallest minimum of a gap that was no impact.
    pub nearest_miss: Option<Miss>,
    /// Why there are no derivatives, and what to know about those that there are.
    pub warnings: Vec<String>,
    /// If asked for, the time of each node and ∂(q, p)/∂ by there, by rows of the free coordinates and momenta.
    pub path: Vec<(f64, Vec<f64>)>,
    /// The time for compiling, in seconds.
    pub compile_seconds: f64,
}

/// How derivatives are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Beside the state: the cost grows with the number of variables.
    #[default]
    Forward,
    /// Backwards along the run, which is made twice: the cost grows with the number of quantities.
    Adjoint,
}

/// What a run and its derivatives gave.
struct Found {
    outcome: Outcome,
    of: Vec<Of>,
    results: Vec<(f64, Vec<f64>)>,
    impacts: Vec<Approached>,
    /// The number of changes of contact.
    changes: usize,
    stuck: Vec<usize>,
    lost: Option<(f64, String)>,
    misses: Misses,
    path: Vec<(f64, Vec<f64>)>,
}

/// How an impact is approached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// When.
    pub t: f64,
    /// The number of the wall.
    pub wall: usize,
    /// φ̇ before it.
    pub phi_dot_minus: f64,
    /// φ̈ before it.
    pub phi_ddot_minus: f64,
    /// φ̇²/(2φ̈), the depth to which the motion would have gone; none where φ̈ ≤ 0. The derivatives hold for disturbances that move
    /// φ by less.
    pub margin: Option<f64>,
    /// True if the margin is below 1e-4 of the largest φ of the wall.
    pub grazing: bool,
}

/// An impact is grazing if its margin is below this, relative to the largest gap of its wall.
const GRAZING: f64 = 1e-4;

impl Simulation {
    /// Derivatives of the results of this simulation, exact for the map that it computes, through impacts and contact.
    ///
    /// ```
    /// let model = carom::Model::load("double-pendulum")?;
    /// let simulation = model.simulation().method("gauss4+ctec").step(0.01).until(3.0);
    /// let found = simulation.sensitivity().of("final.q[0],impacts[0].t").by("m1,initial.q[0]").run()?;
    /// assert_eq!(found.derivatives.len(), 2);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn sensitivity(&self) -> Sensitivity {
        Sensitivity {
            simulation: self.clone(),
            of: Vec::new(),
            by: Vec::new(),
            fixed: None,
            mode: Mode::Forward,
            keeps_path: false,
        }
    }
}

impl Sensitivity {
    /// Adds quantities to differentiate, separated by commas: `final.q[0]`, `final.v[0]`, `final.p[0]`, `impacts[0].t`,
    /// `impacts[0].lambda`, `impacts[0].q[0]`, `rest[0].t`, `outputs.name`, `objective`; `final` and `impacts` stand for all of
    /// theirs.
    pub fn of(mut self, names: &str) -> Sensitivity {
        self.of.extend(items(names));
        self
    }

    /// Adds variables, separated by commas: parameters, `initial.q[0]`, `initial.v[0]`, `initial.p[0]`, a control on all its steps
    /// (`u`) or on one (`u[3]`); `parameters` and `initial` stand for all.
    pub fn by(mut self, names: &str) -> Sensitivity {
        self.by.extend(items(names));
        self
    }

    /// Regards the start as (q, v) or as (q, p), which stays fixed while a parameter varies. By default `[initial]` is evaluated
    /// anew, as for another value of the parameter.
    pub fn fixed(mut self, fixed: Fixed) -> Sensitivity {
        self.fixed = Some(fixed);
        self
    }

    /// Sets how derivatives are computed; the result is the same.
    pub fn mode(mut self, mode: Mode) -> Sensitivity {
        self.mode = mode;
        self
    }

    /// Keeps the derivatives of the state at every node, in forward mode.
    pub fn keep_path(mut self) -> Sensitivity {
        self.keeps_path = true;
        self
    }

    /// Runs the simulation and differentiates it.
    pub fn run(&self) -> Result<Derivatives> {
        let asks_controls = self.by.iter().any(|name| self.simulation.model().names_control(name));
        let simulation = self.simulation.clone().with_equal_steps();
        let simulation = if asks_controls { simulation.with_control_steps() } else { simulation };
        let model = simulation.model();
        let by_momenta = match self.fixed {
            Some(fixed) => fixed == Fixed::Momentum,
            None => view_of(model) == Component::P || !simulation.starts_with_model(),
        };
        let (wanted, asked) = self.names(model, by_momenta)?;
        let theta = parameters_in(&asked, model);
        // What cannot be differentiated is refused before a step is searched for.
        let begun = std::time::Instant::now();
        let code = simulation.tangent_code(&*simulation.chosen_method()?, &theta)?;
        let quantities = Quantities::new(model, &code, wanted.contains(&Wanted::One(Of::Objective)))?;
        let compile_seconds = begun.elapsed().as_secs_f64();
        let ready = simulation.prepare()?;
        let compile_seconds = compile_seconds + ready.compile_seconds;
        let from = ready.schedule().from().to_vec();
        let slots = Slots::new(
            &theta,
            model.plain_parameters().len(),
            if from.is_empty() { ready.step_beginnings() } else { from },
        );
        let by = expand_by(&asked, model, slots.intervals())?;
        let mut tangent = tangent_of(ready.scheme(), &code, simulation.parameters())?;
        tangent.set_cost(quantities.running.clone());
        let fixed = self.fixed.or((!simulation.starts_with_model()).then_some(Fixed::Momentum));
        let start = Start { model, parameters: simulation.parameters(), theta: &theta, fixed, by_momenta, slots };
        let misses = Misses::new(ready.scheme(), simulation.parameters())?;
        let found = match self.mode {
            Mode::Forward => {
                let mut forward = Forward::new(tangent, start, &by, misses, self.keeps_path);
                let outcome = ready.show(&mut [Audience { watcher: &mut forward, every: None }])?;
                forward.events.changes.sort_by(|a, b| a.t.total_cmp(&b.t));
                let of = expand(&wanted, forward.events.impacts.len());
                let has_end = !matches!(outcome.status, Status::Failed(_));
                let mut results = quantities.all(&of, &mut forward, has_end);
                let impacts: Vec<Approached> =
                    forward.events.impacts.iter().map(|impact| impact.about.clone()).collect();
                let changes = forward.events.changes.len();
                let stuck = forward.seeds.map_or(Vec::new(), |seeds| seeds.stuck);
                for (_, row) in &mut results {
                    stuck.iter().for_each(|&column| row[column] = f64::NAN);
                }
                let path = forward.path.unwrap_or_default();
                Found {
                    outcome,
                    of,
                    results,
                    impacts,
                    changes,
                    stuck,
                    lost: forward.lost,
                    misses: forward.misses,
                    path,
                }
            }
            Mode::Adjoint => {
                let mut tape = Tape::new(ready.first_state()?, ready.steps(), misses);
                let outcome = ready.show(&mut [Audience { watcher: &mut tape, every: None }])?;
                let of = expand(&wanted, tape.impacts());
                if matches!(outcome.status, Status::Failed(_)) {
                    tape.last = None;
                }
                let Swept { results, impacts, stuck } =
                    tape.back((ready.scheme(), ready.schedule()), &mut tangent, &start, &by, &of, &quantities)?;
                let (changes, path) = (tape.changes(), Vec::new());
                Found { outcome, of, results, impacts, changes, stuck, lost: tape.lost, misses: tape.misses, path }
            }
        };
        let mut warnings = found.outcome.warnings.clone();
        let why = |&of: &Of| quantities.why_missing(of, model, found.impacts.len(), found.changes);
        warnings.extend(found.of.iter().filter_map(why));
        if matches!(found.outcome.status, Status::Stopped(_)) {
            warnings
                .push("the run ends at a section: the derivatives of the final state are those at a fixed time".into());
        }
        let impacts = approaches(&found.impacts, &found.misses, model, &mut warnings);
        warnings.extend(found.lost.map(|(t, why)| format!("there are no derivatives from t = {t} on: {why}")));
        for column in found.stuck {
            let name = by[column].name(model);
            warnings.push(format!("the constraints do not let `{name}` vary, so there is no derivative by it"));
        }
        let (values, derivatives) = found.results.into_iter().unzip();
        Ok(Derivatives {
            method: ready.method().name.clone(),
            step: ready.step().unwrap_or(f64::NAN),
            until: ready.until(),
            status: found.outcome.status,
            of: found.of.iter().map(|of| of.name(model)).collect(),
            by: by.iter().map(|by| by.name(model)).collect(),
            values,
            derivatives,
            impacts,
            nearest_miss: found.misses.nearest,
            warnings,
            path: found.path,
            compile_seconds,
        })
    }

    fn names(&self, model: &Model, by_momenta: bool) -> Result<(Vec<Wanted>, Vec<Asked>)> {
        let view = if by_momenta { Component::P } else { Component::V };
        let none = |what: &str, help: &str| Diagnostic::new(format!("nothing to differentiate {what}")).with_help(help);
        if model.initial.as_ref().is_some_and(|initial| matches!(initial.motion, InitialMotion::Next(_))) {
            let error = Diagnostic::new("derivatives of a start from two configurations are not supported");
            return Err(error.with_help("give `v` or `p` in [initial]").into());
        }
        let mut wanted = Vec::new();
        for name in &self.of {
            wanted.extend(read_of(name, model)?);
        }
        let mut by = Vec::new();
        for name in &self.by {
            by.extend(read_by(name, model, view)?);
        }
        if wanted.is_empty() {
            return Err(none("", "give quantities, such as `final` or `impacts[0].t`").into());
        }
        if by.is_empty() {
            return Err(none("by", "give variables, such as a parameter or `initial.q[0]`").into());
        }
        Ok((wanted, by))
    }
}

fn items(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|item| !item.is_empty()).map(String::from).collect()
}

/// The parameters and controls among the variables, as parameters of the system.
fn parameters_in(asked: &[Asked], model: &Model) -> Vec<usize> {
    let control = |c: usize| model.plain_parameters().len() + c;
    let mut all: Vec<usize> = Vec::new();
    for asked in asked {
        let k = match *asked {
            Asked::One(By::Parameter(k)) => k,
            Asked::One(By::Control(c, _)) | Asked::Control(c) => control(c),
            Asked::One(By::Initial(..)) => continue,
        };
        if !all.contains(&k) {
            all.push(k);
        }
    }
    all
}

/// The quantities of a run with this number of impacts.
fn expand(wanted: &[Wanted], impacts: usize) -> Vec<Of> {
    let all = || (0..impacts).flat_map(|k| [Of::ImpactTime(k), Of::ImpactLambda(k)]);
    let mut list: Vec<Of> = Vec::new();
    for wanted in wanted {
        let more: Vec<Of> = match wanted {
            Wanted::One(of) => vec![*of],
            Wanted::Impacts => all().collect(),
        };
        more.into_iter().for_each(|of| {
            if !list.contains(&of) {
                list.push(of);
            }
        });
    }
    list
}

/// How each impact is approached.
fn approaches(impacts: &[Approached], misses: &Misses, model: &Model, warnings: &mut Vec<String>) -> Vec<Approach> {
    let mut list = Vec::new();
    for (k, impact) in impacts.iter().enumerate() {
        let margin = impact.margin();
        let grazing = margin.is_some_and(|margin| margin < GRAZING * misses.largest[impact.wall]);
        if let Some(margin) = margin.filter(|_| grazing) {
            let wall = &model.system.walls[impact.wall].name;
            warnings.push(format!(
                "impacts[{k}] at t = {} grazes `{wall}`: its derivatives hold only while φ moves by less than {margin:.2e}",
                impact.minus.t
            ));
        }
        list.push(Approach {
            t: impact.minus.t,
            wall: impact.wall,
            phi_dot_minus: impact.rate,
            phi_ddot_minus: impact.second,
            margin,
            grazing,
        });
    }
    list
}
