//! Dense output: the state at any time of a run.

use crate::error::Result;
use crate::mechanics::Node;
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::run::{Watcher, failure};
use crate::step::{ArcStart, Looker, Scheme, StepLog};

/// Where the arcs of a run begin, in one piece of memory each.
#[derive(Clone, Debug, Default)]
pub(super) struct Arcs {
    size: usize,
    t: Vec<f64>,
    /// The full step of which each arc is a part.
    h: Vec<f64>,
    /// The states, one after the other.
    z: Vec<f64>,
    /// The walls that hold, and where those of each arc end.
    walls: Vec<usize>,
    ends: Vec<usize>,
    /// The sides and points of the projected path, where there is one.
    sides: Vec<usize>,
    path: Vec<f64>,
}

/// The start of an arc.
#[derive(Clone, Debug)]
pub(super) struct Start {
    start: Phase,
    holding: Vec<usize>,
    path: Option<(usize, Phase)>,
    h: f64,
}

impl Arcs {
    /// Room for so many arcs of states of a size.
    pub(super) fn with_capacity(size: usize, arcs: usize) -> Arcs {
        Arcs {
            size,
            t: Vec::with_capacity(arcs),
            h: Vec::with_capacity(arcs),
            z: Vec::with_capacity(size * arcs),
            ends: Vec::with_capacity(arcs),
            ..Arcs::default()
        }
    }

    /// Adds the arcs of a step.
    pub(super) fn push(&mut self, log: &StepLog) {
        for (k, arc) in log.arcs().iter().enumerate() {
            self.t.push(arc.start.t);
            self.h.push(log.h);
            self.z.extend_from_slice(&arc.start.z);
            self.walls.extend_from_slice(log.holding(k));
            self.ends.push(self.walls.len());
            if let Some((side, z)) = &arc.path {
                self.sides.push(*side);
                self.path.extend_from_slice(&z.z);
            }
        }
    }

    /// The arc to which a time belongs: at an impact the one after it, or the one `before` it.
    pub(super) fn find(&self, t: f64, before: bool) -> Option<usize> {
        let after = self.t.partition_point(|&start| if before { start < t } else { start <= t });
        if self.t.is_empty() { None } else { Some(after.saturating_sub(1)) }
    }

    /// One arc alone.
    pub(super) fn only(&self, arc: usize) -> Arcs {
        let Start { start, holding, path, h } = self.start(arc);
        let (sides, path) = path.map_or((Vec::new(), Vec::new()), |(side, z)| (vec![side], z.z));
        let (t, h, ends) = (vec![start.t], vec![h], vec![holding.len()]);
        Arcs { size: self.size, t, h, z: start.z, walls: holding, ends, sides, path }
    }

    /// Where an arc begins.
    pub(super) fn start(&self, arc: usize) -> Start {
        let state = |all: &[f64]| Phase { t: self.t[arc], z: all[arc * self.size..(arc + 1) * self.size].to_vec() };
        let first = if arc == 0 { 0 } else { self.ends[arc - 1] };
        Start {
            start: state(&self.z),
            holding: self.walls[first..self.ends[arc]].to_vec(),
            path: self.sides.get(arc).map(|&side| (side, state(&self.path))),
            h: self.h[arc],
        }
    }
}

impl Start {
    pub(super) fn place(&self) -> ArcStart<'_> {
        let path = self.path.as_ref().map(|(side, z)| (*side, z));
        ArcStart { start: &self.start, holding: &self.holding, path, h: self.h }
    }
}

/// Keeps where the arcs of a run begin, and finds the state at any time of them, to the accuracy of the method.
pub struct Dense {
    arcs: Arcs,
    most: usize,
    end: f64,
    evaluator: Box<dyn Evaluator>,
    looker: Looker,
    z: Phase,
}

impl Dense {
    pub(super) fn new(scheme: &Scheme, parameters: &[f64], most: usize) -> Result<Dense> {
        let z = scheme.plant.facts().nowhere();
        Dense::of(scheme, parameters, Arcs::with_capacity(z.z.len(), 0), most)
    }

    /// Of arcs that are known.
    pub(super) fn of(scheme: &Scheme, parameters: &[f64], arcs: Arcs, most: usize) -> Result<Dense> {
        let (mut evaluator, mut looker) = (scheme.plant.evaluator(), scheme.looker(false)?);
        evaluator.set_parameters(parameters);
        looker.begin(parameters);
        let z = scheme.plant.facts().nowhere();
        Ok(Dense { arcs, most, end: f64::NEG_INFINITY, evaluator, looker, z })
    }

    /// The time up to which states are known.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Writes the state at time t; at an impact the state after it, or that `before` it. False where no arc is known.
    pub fn at(&mut self, t: f64, before: bool, node: &mut Node) -> Result<bool> {
        let Some(arc) = self.arcs.find(t, before) else { return Ok(false) };
        let start = self.arcs.start(arc);
        self.looker.from(start.place(), t, &mut self.z).map_err(|e| failure(e, &start.start))?;
        self.evaluator.node(&self.z, node);
        Ok(true)
    }
}

impl Watcher for Dense {
    fn step(&mut self, log: &StepLog) {
        if self.arcs.t.len() < self.most {
            self.arcs.push(log);
            self.end = log.end.z.t;
        }
    }

    fn wants_nodes(&self) -> bool {
        false
    }

    fn wants_impacts(&self) -> bool {
        false
    }
}
