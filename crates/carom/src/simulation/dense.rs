//! Dense output: the state at any time of a run.

use std::sync::Arc;

use crate::error::Result;
use crate::mechanics::Node;
use crate::phase::Phase;
use crate::plant::Evaluator;
use crate::run::{Watcher, failure};
use crate::step::{ArcStart, Looker, Scheme, StepLog, Variant};

/// The start of every arc of a run, stored as flat arrays.
#[derive(Clone, Debug, Default)]
pub(super) struct Arcs {
    size: usize,
    t: Vec<f64>,
    /// The length of the full step that contains each arc.
    h: Vec<f64>,
    /// The states, concatenated.
    z: Vec<f64>,
    /// The active walls of all arcs, concatenated, and the end index of each arc.
    walls: Vec<usize>,
    ends: Vec<usize>,
    /// The sides of the kinks, concatenated.
    kinks: Vec<f64>,
    /// The side and phase point of the projected path, for methods that have one.
    sides: Vec<usize>,
    path: Vec<f64>,
    /// The parameters, and the first arc that has them.
    parameters: Vec<(usize, Arc<[f64]>)>,
}

/// The state at the start of an arc.
#[derive(Clone, Debug)]
pub(super) struct Start {
    start: Phase,
    holding: Vec<usize>,
    kinks: Vec<f64>,
    path: Option<(usize, Phase)>,
    h: f64,
    parameters: Option<Arc<[f64]>>,
}

impl Arcs {
    /// Reserves memory for `arcs` arcs with states of `size` numbers.
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

    /// Appends the arcs of a step.
    pub(super) fn push(&mut self, log: &StepLog) {
        if self.parameters.last().is_none_or(|(_, last)| !Arc::ptr_eq(last, &log.end.parameters)) {
            self.parameters.push((self.t.len(), log.end.parameters.clone()));
        }
        for (k, arc) in log.arcs().iter().enumerate() {
            self.t.push(arc.start.t);
            self.h.push(log.h);
            self.z.extend_from_slice(&arc.start.z);
            self.walls.extend_from_slice(log.holding(k));
            self.ends.push(self.walls.len());
            self.kinks.extend_from_slice(log.sides(k));
            if let Some((side, z)) = &arc.path {
                self.sides.push(*side);
                self.path.extend_from_slice(&z.z);
            }
        }
    }

    /// The index of the arc that contains t. At an impact this is the arc after it, or the arc before it if `before` is true.
    pub(super) fn find(&self, t: f64, before: bool) -> Option<usize> {
        let after = self.t.partition_point(|&start| if before { start < t } else { start <= t });
        if self.t.is_empty() { None } else { Some(after.saturating_sub(1)) }
    }

    /// A copy that contains only one arc.
    pub(super) fn only(&self, arc: usize) -> Arcs {
        let Start { start, holding, kinks, path, h, parameters } = self.start(arc);
        let (sides, path) = path.map_or((Vec::new(), Vec::new()), |(side, z)| (vec![side], z.z));
        let (t, h, ends) = (vec![start.t], vec![h], vec![holding.len()]);
        let parameters = parameters.into_iter().map(|all| (0, all)).collect();
        Arcs { size: self.size, t, h, z: start.z, walls: holding, ends, kinks, sides, path, parameters }
    }

    /// The state at the start of an arc.
    pub(super) fn start(&self, arc: usize) -> Start {
        let state = |all: &[f64]| Phase { t: self.t[arc], z: all[arc * self.size..(arc + 1) * self.size].to_vec() };
        let first = if arc == 0 { 0 } else { self.ends[arc - 1] };
        let count = self.kinks.len() / self.t.len();
        Start {
            start: state(&self.z),
            holding: self.walls[first..self.ends[arc]].to_vec(),
            kinks: self.kinks[arc * count..(arc + 1) * count].to_vec(),
            path: self.sides.get(arc).map(|&side| (side, state(&self.path))),
            h: self.h[arc],
            parameters: self.parameters.iter().rfind(|(first, _)| *first <= arc).map(|(_, all)| all.clone()),
        }
    }
}

impl Start {
    pub(super) fn place(&self) -> ArcStart<'_> {
        let path = self.path.as_ref().map(|(side, z)| (*side, z));
        ArcStart { start: &self.start, holding: &self.holding, sides: &self.kinks, path, h: self.h }
    }
}

/// Stores the start of every arc of a run, and evaluates the state at any time in them to the order of the method.
pub struct Dense {
    arcs: Arcs,
    most: usize,
    end: f64,
    evaluator: Box<dyn Evaluator>,
    looker: Looker,
    z: Phase,
    /// The parameters in use.
    parameters: Arc<[f64]>,
}

impl Dense {
    pub(super) fn new(scheme: &Scheme, parameters: &[f64], most: usize) -> Result<Dense> {
        let z = scheme.plant.facts().nowhere();
        Dense::of(scheme, parameters, Arcs::with_capacity(z.z.len(), 0), most)
    }

    /// Dense output from recorded arcs.
    pub(super) fn of(scheme: &Scheme, parameters: &[f64], arcs: Arcs, most: usize) -> Result<Dense> {
        let (mut evaluator, mut looker) = (scheme.plant.evaluator(), scheme.looker(Variant::Whole)?);
        evaluator.set_parameters(parameters);
        evaluator.remember_nothing();
        looker.begin(parameters);
        let z = scheme.plant.facts().nowhere();
        let parameters = Arc::from(parameters);
        Ok(Dense { arcs, most, end: f64::NEG_INFINITY, evaluator, looker, z, parameters })
    }

    /// The start of an arc, with its parameters in use.
    fn enter(&mut self, arc: usize) -> Start {
        let start = self.arcs.start(arc);
        if let Some(parameters) = &start.parameters
            && !Arc::ptr_eq(parameters, &self.parameters)
        {
            self.evaluator.set_parameters(parameters);
            self.looker.begin(parameters);
            self.parameters = parameters.clone();
        }
        start
    }

    /// The beginning of the recorded time interval.
    pub fn begin(&self) -> f64 {
        self.arcs.t.first().copied().unwrap_or(f64::INFINITY)
    }

    /// The end of the recorded time interval.
    pub fn end(&self) -> f64 {
        self.end
    }

    /// Writes the state at time t into `node`. At an impact this is the state after it, or the state before it if `before` is
    /// true. Returns false if t is outside the recorded interval.
    pub fn at(&mut self, t: f64, before: bool, node: &mut Node) -> Result<bool> {
        let Some(arc) = self.arcs.find(t, before) else { return Ok(false) };
        let start = self.enter(arc);
        self.looker.from(start.place(), t, &mut self.z).map_err(|e| failure(e, &start.start))?;
        self.looker.describe(&self.z, start.place().holding, &mut *self.evaluator, node);
        Ok(true)
    }
}

impl Dense {
    /// The energy at time t, after an impact at that time. None if t is outside the recorded interval.
    pub fn energy(&mut self, t: f64) -> Result<Option<f64>> {
        let Some(arc) = self.arcs.find(t, false).filter(|_| t <= self.end) else { return Ok(None) };
        let start = self.enter(arc);
        self.looker.from(start.place(), t, &mut self.z).map_err(|e| failure(e, &start.start))?;
        Ok(Some(self.evaluator.energy(&self.z).map_err(|e| failure(e, &start.start))?))
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
