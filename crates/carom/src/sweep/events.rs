//! A motion at chosen events: once in each period, at impacts, or at crossings of a section.

use super::{Axis, Plan};
use crate::error::{Diagnostic, Result};
use crate::mechanics::Node;
use crate::model::{AUTO, Model, ParameterFormula, suggestion};
use crate::phase::Phase;
use crate::run::{Crossing, Impact, Status, Watcher};
use crate::simulation::Simulation;

/// Where a motion is looked at.
#[derive(Clone, Debug)]
pub struct SampledAt {
    event: Event,
    /// The period of the drive.
    period: Option<ParameterFormula>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// Once in each period, at t = 0 modulo the period.
    Strobe,
    /// After each impact, on any wall or on one.
    Impact(Option<usize>),
    /// At each crossing of a section.
    Section(usize),
}

/// What was seen of a motion.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The states at the events that were kept.
    pub nodes: Vec<Node>,
    /// The last state, from which the motion goes on.
    pub last: Phase,
    /// False if the motion ended, or has too few events.
    pub is_complete: bool,
}

impl SampledAt {
    /// Reads `strobe`, `impact`, or the name of a section or a wall. The period of the drive is an expression of the parameters;
    /// without one it is 2π over the parameter `omega`, if there is one.
    pub fn read(model: &Model, text: &str, period: Option<&str>) -> Result<SampledAt> {
        let has_omega = model.system.parameters.iter().any(|parameter| parameter.name == "omega");
        let period = match period {
            Some(period) => Some(period),
            None if has_omega => Some("2*pi/omega"),
            None => None,
        };
        let period = period.map(|period| model.formula(period)).transpose()?;
        let section = model.sections.iter().position(|section| section.name == text);
        let wall = model.system.walls.iter().position(|wall| wall.name == text);
        let event = match (text, section, wall) {
            ("strobe", ..) if period.is_none() => {
                let error = Diagnostic::new("`strobe` needs the period of the drive");
                return Err(error.with_help("give `period`, an expression of the parameters").into());
            }
            ("strobe", ..) => Event::Strobe,
            ("impact", ..) => Event::Impact(None),
            (_, Some(section), _) => Event::Section(section),
            (_, None, Some(wall)) => Event::Impact(Some(wall)),
            (_, None, None) => return Err(unknown(model, text)),
        };
        Ok(SampledAt { event, period })
    }

    /// The period for the parameters of a simulation.
    pub fn period(&self, simulation: &Simulation) -> Result<Option<f64>> {
        let Some(period) = &self.period else { return Ok(None) };
        let value = period.at(simulation.parameters());
        match value > 0.0 && value.is_finite() {
            true => Ok(Some(value)),
            false => Err(Diagnostic::new(format!("the period of the drive is {value}, which is not positive")).into()),
        }
    }

    /// True if the motion is looked at once in each period.
    pub fn is_strobe(&self) -> bool {
        self.event == Event::Strobe
    }
}

fn unknown(model: &Model, text: &str) -> crate::error::Error {
    let sections = model.sections.iter().map(|section| section.name.as_str());
    let walls = model.system.walls.iter().map(|wall| wall.name.as_str());
    let names: Vec<&str> = ["strobe", "impact"].into_iter().chain(sections).chain(walls).collect();
    let error = Diagnostic::new(format!("`{text}` is neither a section nor a wall of the model"));
    let help = match suggestion(text, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of {}", names.join(", ")),
    };
    error.with_help(help).into()
}

/// A simulation that controls its steps in one pass, unless the model names a method or a step.
pub fn quick_simulation(model: &Model) -> Simulation {
    let simulation = model.simulation();
    let is_default = model.run.step.is_none() && model.run.method.as_deref().is_none_or(|method| method == AUTO);
    let quick = simulation.clone().method(super::LANES);
    if is_default && quick.compiled_scheme().is_ok_and(|scheme| scheme.has_lanes()) { quick } else { simulation }
}

/// Follows a motion through `skip` events, and then records `keep` of them. It begins at `from`, or at the start of the model.
pub fn observe(
    simulation: &Simulation,
    at: &SampledAt,
    from: Option<&Phase>,
    [skip, keep]: [usize; 2],
    stop: &dyn Fn() -> bool,
) -> Result<Seen> {
    let period = at.period(simulation)?;
    let span = match (at.event, period) {
        (Event::Strobe, Some(period)) => period,
        _ => simulation.end().unwrap_or(100.0),
    };
    let depends_on_time = simulation.compiled_scheme()?.plant.facts().sources.time || period.is_some();
    let mut collector = Collector { event: at.event, skip, keep, nodes: Vec::new(), stop };
    let mut here = from.cloned();
    // On average each part of the motion has an event, or there are too few.
    for _ in 0..skip + keep {
        let begin = here.as_ref().map_or(0.0, |z| z.t);
        let part = match &here {
            Some(z) => simulation.clone().start_from(z.clone()),
            None => simulation.clone(),
        };
        let outcome = part.until(begin + span).watch(&mut collector)?;
        let mut last = outcome.state.z;
        if outcome.status == Status::Completed && at.event == Event::Strobe {
            collector.see(outcome.last);
        }
        last.t = match period {
            Some(period) if at.event == Event::Strobe => last.t - period,
            Some(period) => last.t.rem_euclid(period),
            None if depends_on_time => last.t,
            None => 0.0,
        };
        let is_over = !matches!(outcome.status, Status::Completed | Status::Interrupted);
        here = Some(last);
        if is_over || collector.is_full() || stop() {
            break;
        }
    }
    let is_complete = collector.is_full();
    let last = here.unwrap_or(Phase::new(0.0, &[], &[]));
    Ok(Seen { nodes: collector.nodes, last, is_complete })
}

/// Collects states at events.
struct Collector<'a> {
    event: Event,
    skip: usize,
    keep: usize,
    nodes: Vec<Node>,
    stop: &'a dyn Fn() -> bool,
}

impl Collector<'_> {
    fn see(&mut self, node: Node) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.is_full() {
            self.nodes.push(node);
        }
    }

    fn is_full(&self) -> bool {
        self.nodes.len() >= self.keep
    }
}

impl Watcher for Collector<'_> {
    fn impact(&mut self, impact: Impact) {
        if let Event::Impact(wall) = self.event
            && wall.is_none_or(|wall| wall == impact.wall)
        {
            self.see(impact.plus);
        }
    }

    fn crossing(&mut self, crossing: Crossing) {
        if self.event == Event::Section(crossing.section) {
            self.see(crossing.node);
        }
    }

    fn wants_impacts(&self) -> bool {
        matches!(self.event, Event::Impact(_))
    }

    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_to_stop(&self) -> bool {
        self.is_full() || (self.stop)()
    }
}

/// Simulations of one model that differ in parameters or starts, in the order of a plan.
pub struct Family {
    plan: Plan,
    simulation: Simulation,
}

impl Family {
    /// The members that these axes describe.
    pub fn new(model: &Model, axes: &[String], samples: Option<u64>, seed: u64) -> Result<Family> {
        let axes: Vec<Axis> = axes.iter().map(|axis| Axis::parse(axis)).collect::<Result<_>>()?;
        let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        let (model, _) = model.varying(&names)?;
        Ok(Family { plan: Plan::new(axes, samples, seed)?, simulation: quick_simulation(&model) })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The simulation of a row.
    pub fn member(&self, row: u64) -> Simulation {
        let values = self.plan.axes().iter().zip(self.plan.values(row));
        values.fold(self.simulation.clone(), |simulation, (axis, value)| simulation.set(&axis.name, value))
    }
}

/// After how many of these states the motion repeats, if it does: all coordinates and velocities, relative to their size. None if it
/// does not, or if there are fewer than two repetitions.
pub fn period_of(nodes: &[Node]) -> Option<usize> {
    let state = |node: &Node| node.q.iter().chain(&node.v).copied().collect::<Vec<f64>>();
    let states: Vec<Vec<f64>> = nodes.iter().map(state).collect();
    let mut sizes = vec![0.0_f64; states.first()?.len()];
    for state in &states {
        sizes.iter_mut().zip(state).for_each(|(size, x)| *size = size.max(x.abs()));
    }
    let whole = sizes.iter().copied().fold(0.0, f64::max);
    let repeats = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        a.iter().zip(b).zip(&sizes).all(|((a, b), size)| (a - b).abs() <= REPEATS * size.max(1e-3 * whole))
    };
    (1..=states.len() / 2).find(|&period| states.iter().zip(&states[period..]).all(repeats))
}

/// States are the same if they differ by no more than this, relative to their size.
const REPEATS: f64 = 1e-5;
