//! Records the data for pictures during a run: nodes, samples between sparse nodes, impacts, energies, gaps and outputs,
//! thinned on the fly.

use std::collections::VecDeque;

use carom::lab::diagnostic::{self, Monitor, Subject};
use carom::lab::error::{Diagnostic, Result};
use carom::lab::mechanics::Node;
use carom::lab::model::{Model, Place};
use carom::lab::modified::check_conservative;
use carom::lab::phase::Flow;
use carom::lab::run::{Impact, View, Watcher};
use carom::lab::simulation::Ready;
use carom::lab::system::Enforce;

use crate::geometry::{Gaps, Places};
use crate::thin::{Thin, Thinned};

/// If nodes are farther apart than the run time divided by this, samples are taken between them.
const SAMPLES: f64 = 1200.0;
/// The run time is divided into this many intervals, or fewer if there are many coordinates.
const STRETCHES: usize = 1000;
/// The largest number of rows, over all coordinates.
const MOST_ROWS: usize = 60_000;
/// Energies that need several steps each are computed only if there are at most this many nodes.
const MOST_NODES: f64 = 20_000.0;
/// The largest number of free coordinates for symbolic derivatives of H, which grow fast.
const MOST_FREE: usize = 4;
/// The number of impacts that are listed, from the beginning and from the end.
const LISTED: [usize; 2] = [100, 20];

/// The largest number of coordinates with a phase portrait.
pub(crate) const MOST_PORTRAITS: usize = 3;
/// The number of dots in the phase portrait of a long run.
const PORTRAIT: f64 = 6000.0;

/// The largest number of points whose paths are recorded.
const MOST_PATHS: usize = 24;

/// An impact in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The number of the impact, from 1.
    pub number: usize,
    /// The time.
    pub t: f64,
    /// The name of the wall.
    pub wall: String,
    /// λ.
    pub lambda: f64,
    /// The velocities before and after.
    pub v: [Vec<f64>; 2],
}

/// The number of impacts that are kept for the animation.
const FLASHES: usize = 20_000;

/// The data for the pictures of a run.
pub struct Recording {
    /// The start and end time.
    pub span: [f64; 2],
    /// q and v of each coordinate.
    pub coordinates: Vec<Thinned>,
    /// q and v of the first few coordinates at equal time intervals. Thinned rows would be biased towards extremes.
    pub portraits: Vec<Vec<[f64; 2]>>,
    /// H and related energies, by name.
    pub energies: Vec<(String, Thinned)>,
    /// φ of each wall.
    pub gaps: Vec<Thinned>,
    /// The walls that are hit, in the order of their first impacts.
    pub hit: Vec<usize>,
    /// x and y of points that move, by index in the model.
    pub paths: Vec<(usize, Thinned)>,
    /// The model's outputs.
    pub outputs: Vec<Thinned>,
    /// The impulse of each constraint per step.
    pub constraints: Vec<Thinned>,
    /// λ of the impacts.
    pub lambda: Thinned,
    /// The first impacts, and the last ones.
    pub impacts: Vec<Listed>,
    /// The number of impacts.
    pub impact_count: usize,
    /// The first impacts, with complete states.
    pub first: Vec<Impact>,
}

/// An energy other than H, recorded until it fails.
struct Relative {
    diagnostic: Box<dyn Monitor>,
    values: Option<Thin>,
}

/// The watcher that records the data for pictures.
pub struct Recorder<'a> {
    model: &'a Model,
    span: [f64; 2],
    step: f64,
    /// True if samples are taken between the nodes.
    is_sampled: bool,
    flow: Box<dyn Flow>,
    gap_values: Gaps,
    /// The points whose paths are recorded, by index, and their places.
    followed: Vec<usize>,
    places: Places,
    /// Samples and impacts since the last node with their energies, not yet sorted by time.
    pending: Vec<(Node, f64)>,
    coordinates: Vec<Thin>,
    portraits: Vec<Vec<[f64; 2]>>,
    energy: Thin,
    relatives: Vec<Relative>,
    gaps: Vec<Thin>,
    hit: Vec<usize>,
    paths: Vec<Thin>,
    outputs: Vec<Thin>,
    constraints: Vec<Thin>,
    lambda: Thin,
    first: Vec<Listed>,
    last: VecDeque<Listed>,
    impact_count: usize,
    whole: Vec<Impact>,
}

impl<'a> Recorder<'a> {
    /// A recorder for a run.
    pub fn new(model: &'a Model, ready: &Ready) -> Result<Recorder<'a>> {
        Recorder::over(model, ready, [ready.begin(), ready.until()])
    }

    /// A recorder for several runs over this time, of which this is the first. Other constraints may hold in each, so their impulses
    /// are recorded for a single run only, as are the energies of its steps.
    pub fn over(model: &'a Model, ready: &Ready, span: [f64; 2]) -> Result<Recorder<'a>> {
        let step = ready.step();
        let is_single = span[1] <= ready.until();
        let is_sampled = step.is_none_or(|step| step > distance(span));
        let (plant, flow, parameters) = (ready.plant(), &ready.method().flow, ready.parameters());
        let subject = Subject { system: &model.system, plant, flow, parameters };
        let n = model.system.coordinates.len();
        let thin = |channels: usize, stretches: usize| Thin::new(channels, span[0], span[1], stretches);
        let stretches = (MOST_ROWS / (4 * n.max(1))).clamp(50, STRETCHES);
        let many = |count: usize, channels: usize| vec![thin(channels, stretches); count];
        // Energies of a step belong to steps of equal length.
        let is_short = step.is_some_and(|step| (span[1] - span[0]) / step < MOST_NODES);
        let step = step.unwrap_or(span[1] - span[0]);
        let relatives = if is_short && is_single { relatives(&subject) } else { Vec::new() };
        let followed = followed(model);
        let places: Vec<Place> = followed.iter().map(|&k| model.points[k].at).collect();
        Ok(Recorder {
            model,
            span,
            step,
            is_sampled,
            flow: subject.steps()?,
            gap_values: Gaps::new(model)?,
            paths: many(followed.len(), 2),
            followed,
            places: Places::new(model, &places)?,
            pending: Vec::new(),
            coordinates: many(n, 2),
            portraits: vec![Vec::new(); n.min(MOST_PORTRAITS)],
            energy: thin(1, STRETCHES),
            relatives: relatives
                .into_iter()
                .map(|diagnostic| Relative { diagnostic, values: Some(thin(1, STRETCHES)) })
                .collect(),
            gaps: many(model.system.walls.len(), 1),
            hit: Vec::new(),
            outputs: many(model.outputs.len(), 1),
            constraints: many(if is_single { model.system.stated_constraints().len() } else { 0 }, 1),
            lambda: thin(1, STRETCHES),
            first: Vec::new(),
            last: VecDeque::new(),
            impact_count: 0,
            whole: Vec::new(),
        })
    }

    /// λ at a node is the sum over two steps, but λ at a sample is the force times one step, so a curve through both would have
    /// a spike at every node. Samples are used if there are any; two-point constraints have none. The first node has only one
    /// step.
    fn keep_one_kind_of_impulse(&self, node: &mut Node) {
        let is_first = node.t <= self.span[0];
        for (lambda, constraint) in node.lambda.iter_mut().zip(self.model.system.stated_constraints()) {
            if is_first || self.is_sampled && constraint.enforce == Enforce::OnePoint {
                *lambda = f64::NAN;
            }
        }
    }

    /// Adds the pending samples and impacts up to a node.
    fn settle(&mut self) {
        self.pending.sort_by(|a, b| a.0.t.total_cmp(&b.0.t));
        for (node, energy) in self.pending.drain(..) {
            self.energy.push(node.t, &[energy]);
            for (thin, place) in self.paths.iter_mut().zip(self.places.at(node.t, &node.q)) {
                thin.push(node.t, place);
            }
            let due = self.portraits.first().map_or(0, Vec::len) as f64 / PORTRAIT * (self.span[1] - self.span[0]);
            if node.t >= self.span[0] + due {
                let places = self.portraits.iter_mut().enumerate();
                places.for_each(|(k, portrait)| portrait.push([node.q[k], node.v[k]]));
            }
            for (k, thin) in self.coordinates.iter_mut().enumerate() {
                thin.push(node.t, &[node.q[k], node.v[k]]);
            }
            for (thin, gap) in self.gaps.iter_mut().zip(self.gap_values.at(node.t, &node.q)) {
                thin.push(node.t, &[*gap]);
            }
            for (thin, output) in self.outputs.iter_mut().zip(&node.outputs) {
                thin.push(node.t, &[*output]);
            }
            for (thin, lambda) in self.constraints.iter_mut().zip(&node.lambda).filter(|(_, lambda)| lambda.is_finite())
            {
                thin.push(node.t, &[*lambda]);
            }
        }
    }

    /// The sampling interval that it needs.
    pub fn every(&self) -> Option<f64> {
        self.is_sampled.then_some(distance(self.span))
    }

    /// The data of a run that ended at `end`.
    pub fn finish(mut self, end: f64) -> Result<Recording> {
        if end.partial_cmp(&self.span[0]) != Some(std::cmp::Ordering::Greater) {
            let message = format!("there is nothing to draw: the run ended where it began, at t = {end}");
            return Err(Diagnostic::new(message).with_help("see above why it ended").into());
        }
        self.span[1] = end;
        self.settle();
        let whole = |all: Vec<Thin>| all.into_iter().map(Thin::finish).collect::<Vec<Thinned>>();
        let mut energies = vec![("H".to_string(), self.energy.finish())];
        for relative in self.relatives {
            energies.extend(relative.values.map(|values| (relative.diagnostic.name(), values.finish())));
        }
        let recording = Recording {
            span: self.span,
            coordinates: whole(self.coordinates),
            portraits: self.portraits,
            energies,
            gaps: whole(self.gaps),
            hit: self.hit,
            paths: self.followed.into_iter().zip(whole(self.paths)).collect(),
            outputs: whole(self.outputs),
            constraints: whole(self.constraints),
            lambda: self.lambda.finish(),
            impacts: self.first.into_iter().chain(self.last).collect(),
            impact_count: self.impact_count,
            first: self.whole,
        };
        recording.refuse_broken(self.model)?;
        Ok(recording)
    }
}

/// The points that coordinates move, by index.
fn followed(model: &Model) -> Vec<usize> {
    let q = model.system.q();
    let moves = |k: &usize| model.points[*k].at.iter().any(|x| x.depends_on(&q));
    (0..model.points.len()).filter(moves).take(MOST_PATHS).collect()
}

/// The sampling interval for a time span.
fn distance([begin, end]: [f64; 2]) -> f64 {
    (end - begin) / SAMPLES
}

/// −D₃L_d, H̃ and the shadow energy, if the method has them.
fn relatives(subject: &Subject) -> Vec<Box<dyn Monitor>> {
    let facts = subject.plant.facts();
    let has_energies = subject.flow.discrete_lagrangian().is_some() && check_conservative(&facts.sources).is_ok();
    if !has_energies {
        return Vec::new();
    }
    let names: &[&str] =
        if facts.n <= MOST_FREE { &["discrete-energy", "modified", "shadow"] } else { &["discrete-energy", "shadow"] };
    names.iter().filter_map(|name| diagnostic::named(name, subject).ok()).flatten().collect()
}

impl Watcher for Recorder<'_> {
    fn node(&mut self, view: &mut View) {
        let mut node = view.node();
        self.keep_one_kind_of_impulse(&mut node);
        self.pending.push((node, view.energy()));
        self.settle();
        for Relative { diagnostic, values } in &mut self.relatives {
            let value = diagnostic.at(view.phase(), self.step, &mut *self.flow);
            match (value, values.as_mut()) {
                (Ok(value), Some(thin)) if value.is_finite() => thin.push(view.t(), &[value]),
                _ => *values = None,
            }
        }
    }

    fn sample(&mut self, view: &mut View) {
        let mut node = view.node();
        // The first sample is the first node.
        if node.t <= self.span[0] {
            self.keep_one_kind_of_impulse(&mut node);
        }
        self.pending.push((node, view.energy()));
    }

    fn impact(&mut self, impact: Impact) {
        self.impact_count += 1;
        self.lambda.push(impact.minus.t, &[impact.lambda]);
        let listed = Listed {
            number: self.impact_count,
            t: impact.minus.t,
            wall: self.model.system.walls[impact.wall].name.clone(),
            lambda: impact.lambda,
            v: [impact.minus.v.clone(), impact.plus.v.clone()],
        };
        if self.first.len() < LISTED[0] {
            self.first.push(listed);
        } else {
            self.last.push_back(listed);
            if self.last.len() > LISTED[1] {
                self.last.pop_front();
            }
        }
        if self.whole.len() < FLASHES {
            self.whole.push(impact.clone());
        }
        if !self.hit.contains(&impact.wall) {
            self.hit.push(impact.wall);
        }
        // Both sides of the impact, in this order: the energy falls there.
        self.pending.extend([(impact.minus, impact.energy_minus), (impact.plus, impact.energy_plus)]);
    }
}

impl Recording {
    /// The times of the impacts; empty if some were left out.
    pub fn impact_times(&self) -> Vec<f64> {
        if self.lambda.is_whole() { self.lambda.rows.iter().map(|row| row.t).collect() } else { Vec::new() }
    }

    /// Returns an error if a value is NaN or infinite.
    fn refuse_broken(&self, model: &Model) -> Result<()> {
        let coordinates = model.system.coordinates.iter().map(|c| format!("`{}` or its velocity", c.name));
        let walls = model.system.walls.iter().map(|wall| format!("the gap of `{}`", wall.name));
        let outputs = model.outputs.iter().map(|output| format!("the output `{}`", output.name));
        let all = coordinates.zip(&self.coordinates).chain(walls.zip(&self.gaps)).chain(outputs.zip(&self.outputs));
        let all =
            all.chain([("the energy".to_string(), &self.energies[0].1), ("an impulse".to_string(), &self.lambda)]);
        for (what, values) in all {
            if let Some(row) = &values.broken {
                let message = format!("nothing is drawn: {what} is not a finite number at t = {}", row.t);
                return Err(Diagnostic::new(message).with_help("end the run before that, with `--until`").into());
            }
        }
        Ok(())
    }
}
