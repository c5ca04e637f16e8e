//! Motions with impacts, and what they keep.

use carom::lab::catalogue::find;
use carom::lab::expr::{Expr, eval, grad};
use carom::lab::mechanics::Node;
use carom::lab::method::Method;
use carom::lab::model::Model;
use carom::lab::run::{Crossing, Holding, Impact, Outcome, Status, View, Watcher};
use carom::lab::simulation::Simulation;
use carom::lab::system::time;

/// A run with all that was seen of it.
pub struct Motion {
    /// The impacts.
    pub impacts: Vec<Impact>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Walls that began or ceased to hold the motion.
    pub holdings: Vec<Holding>,
    /// Uniform samples.
    pub samples: Vec<Node>,
    /// Crossings of sections.
    pub crossings: Vec<Crossing>,
    /// How it ended.
    pub outcome: Outcome,
}

#[derive(Default)]
struct Record {
    impacts: Vec<Impact>,
    nodes: Vec<Node>,
    holdings: Vec<Holding>,
    samples: Vec<Node>,
    crossings: Vec<Crossing>,
    enough: usize,
}

impl Watcher for Record {
    fn node(&mut self, view: &mut View) {
        self.nodes.push(view.node());
    }

    fn impact(&mut self, impact: Impact) {
        self.impacts.push(impact);
    }

    fn holding(&mut self, holding: Holding) {
        self.holdings.push(holding);
    }

    fn sample(&mut self, view: &mut View) {
        self.samples.push(view.node());
    }

    fn crossing(&mut self, crossing: Crossing) {
        self.crossings.push(crossing);
    }

    fn wants_account(&self) -> bool {
        true
    }

    fn wants_to_stop(&self) -> bool {
        self.impacts.len() >= self.enough
    }
}

/// A model from its text.
pub fn model(text: &str, settings: &[&str]) -> Model {
    let settings: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    Model::from_text("model.toml", text, &settings).unwrap_or_else(|error| panic!("{error}\nin\n{text}"))
}

/// A shipped model.
pub fn shipped(name: &str, settings: &[&str]) -> Model {
    model(find(name).expect("it ships").text, settings)
}

/// Runs a model.
pub fn run(model: &Model, method: &str, step: f64, until: f64) -> Motion {
    run_to_impacts(model, method, step, until, usize::MAX)
}

/// Runs a model, with samples `every` so often.
pub fn run_sampled(model: &Model, method: &str, step: f64, until: f64, every: f64) -> Motion {
    watch(simulation(model, method, step, until).every(every), usize::MAX)
}

/// Runs a model until there have been so many impacts.
pub fn run_to_impacts(model: &Model, method: &str, step: f64, until: f64, enough: usize) -> Motion {
    watch(simulation(model, method, step, until), enough)
}

fn simulation(model: &Model, method: &str, step: f64, until: f64) -> Simulation {
    let method = Method::named(method, None).expect("it is registered");
    Simulation::new(model, &method, step, until).unwrap_or_else(|error| panic!("{error}"))
}

fn watch(simulation: Simulation, enough: usize) -> Motion {
    let mut record = Record { enough, ..Record::default() };
    let outcome = simulation.watch(&mut record).unwrap_or_else(|error| panic!("{error}"));
    let Record { impacts, nodes, holdings, samples, crossings, .. } = record;
    Motion { impacts, nodes, holdings, samples, crossings, outcome }
}

impl Motion {
    /// The last node.
    pub fn last(&self) -> &Node {
        self.nodes.last().expect("a run has a node")
    }

    /// The kinetic energy before and after each instant with impacts; and of each impact in it, if they are `one_by_one`:
    /// all at once, only what all of them leave is a state of the motion. After 1,000 the rest is all at once.
    pub fn kinetic_energies(&self, one_by_one: bool) -> Vec<[f64; 2]> {
        let mut energies = Vec::new();
        for instant in self.impacts.chunk_by(|a, b| a.minus.t == b.minus.t) {
            let singles = if one_by_one { instant.len().min(1000) } else { 0 };
            energies.extend(instant[..singles].iter().map(|impact| [kinetic(&impact.minus), kinetic(&impact.plus)]));
            energies.push([kinetic(&instant[0].minus), kinetic(&instant[instant.len() - 1].plus)]);
        }
        energies
    }

    /// Panics unless the run reached its end.
    pub fn completed(self) -> Motion {
        assert_eq!(self.outcome.status, Status::Completed, "at t = {}", self.outcome.last.t);
        self
    }
}

/// The values of expressions in a state.
pub fn at(model: &Model, fs: &[Expr], node: &Node) -> Vec<f64> {
    let mut values = model.parameter_values();
    values.push((time(), node.t));
    values.extend(model.system.q().into_iter().zip(node.q.iter().copied()));
    values.extend(model.system.v().into_iter().zip(node.v.iter().copied()));
    eval(fs, &values)
}

/// E = p·v − L in a state.
pub fn energy_at(model: &Model, node: &Node) -> f64 {
    node.p.iter().zip(&node.v).map(|(p, v)| p * v).sum::<f64>() - at(model, &[model.system.lagrangian.l], node)[0]
}

/// ½ p·v.
fn kinetic(node: &Node) -> f64 {
    0.5 * node.p.iter().zip(&node.v).map(|(p, v)| p * v).sum::<f64>()
}

/// The smallest gap of all walls in a state.
pub fn lowest_gap(model: &Model, node: &Node) -> f64 {
    let gaps: Vec<Expr> = model.system.walls.iter().map(|wall| wall.phi).collect();
    at(model, &gaps, node).into_iter().fold(f64::INFINITY, |low, gap| if gap >= low { low } else { gap })
}

/// How far an impact is from the law: |[p] − λφ_q|, and |φ̇⁺ + e φ̇⁻| relative to |φ̇⁻|.
pub fn off_the_law(model: &Model, impact: &Impact) -> [f64; 2] {
    let wall = &model.system.walls[impact.wall];
    let normal = at(model, &grad(wall.phi, &model.system.q()), &impact.minus);
    let pairs = impact.plus.p.iter().zip(&impact.minus.p).zip(&normal);
    let jump: f64 = pairs.map(|((plus, minus), n)| (plus - minus - impact.lambda * n).abs()).sum();
    let rate = model.system.time_derivative(wall.phi);
    let [before, after] = [&impact.minus, &impact.plus].map(|node| at(model, &[rate], node)[0]);
    let e = at(model, &[wall.restitution], &impact.minus)[0];
    assert!(before < 0.0, "φ̇⁻ = {before} at {}", impact.minus.t);
    [jump, (after + e * before).abs() / before.abs()]
}
