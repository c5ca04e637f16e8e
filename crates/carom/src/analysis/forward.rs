//! Derivatives along a run, beside the state.

use super::miss::Misses;
use super::names::By;
use super::seeds::{Seeds, Start};
use crate::phase::Phase;
use crate::run::{Watcher, failure};
use crate::solve::Solved;
use crate::step::StepLog;
use crate::tangent::{ImpactTangent, Matrix, StepTangent, Tangent, add};

/// Carries the derivatives of the state by some variables along a run.
pub(super) struct Forward<'a> {
    pub(super) tangent: Tangent,
    pub(super) start: Start<'a>,
    pub(super) by: &'a [By],
    pub(super) seeds: Option<Seeds>,
    pub(super) misses: Misses,
    /// ∂(q, p) of the last state by the variables.
    pub(super) d: Matrix,
    pub(super) events: Events,
    /// The running cost so far, and its derivatives.
    pub(super) cost: f64,
    pub(super) cost_slopes: Vec<f64>,
    /// The last state and the walls that hold it, and the derivatives of its time.
    pub(super) last: Option<(Phase, Vec<usize>)>,
    pub(super) end_time: Vec<f64>,
    /// Since when there are no derivatives, and why.
    pub(super) lost: Option<(f64, String)>,
    /// If wanted, the time and `d` of each node.
    pub(super) path: Option<Vec<(f64, Vec<f64>)>>,
    step: StepTangent,
    next: Matrix,
}

/// The events of a run with their derivatives by the variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    pub(super) impacts: Vec<ImpactRow>,
    pub(super) changes: Vec<ChangeRow>,
}

/// An impact.
#[derive(Clone, Debug)]
pub(super) struct ImpactRow {
    pub(super) about: Approached,
    pub(super) dt: Vec<f64>,
    pub(super) dlambda: Vec<f64>,
    pub(super) dq: Matrix,
}

/// How an impact is approached.
#[derive(Clone, Debug)]
pub(super) struct Approached {
    pub(super) wall: usize,
    pub(super) minus: Phase,
    pub(super) lambda: f64,
    pub(super) rate: f64,
    pub(super) second: f64,
}

/// A wall that begins or ceases to hold.
#[derive(Clone, Debug)]
pub(super) struct ChangeRow {
    pub(super) t: f64,
    pub(super) dt: Vec<f64>,
}

impl Approached {
    pub(super) fn of(impact: &ImpactTangent) -> Approached {
        let (wall, minus, lambda) = (impact.wall, impact.minus.clone(), impact.lambda);
        Approached { wall, minus, lambda, rate: impact.rate_minus, second: impact.second_minus }
    }

    /// φ̇²/(2φ̈): the depth to which the motion would have gone; none where it would not come back.
    pub(super) fn margin(&self) -> Option<f64> {
        (self.second > 0.0).then(|| self.rate * self.rate / (2.0 * self.second))
    }
}

impl<'a> Forward<'a> {
    pub(super) fn new(
        tangent: Tangent,
        start: Start<'a>,
        by: &'a [By],
        misses: Misses,
        keeps_path: bool,
    ) -> Forward<'a> {
        Forward {
            tangent,
            start,
            by,
            seeds: None,
            misses,
            d: Matrix::default(),
            events: Events::default(),
            cost: 0.0,
            cost_slopes: vec![0.0; by.len()],
            last: None,
            end_time: vec![0.0; by.len()],
            lost: None,
            path: keeps_path.then(Vec::new),
            step: StepTangent::default(),
            next: Matrix::default(),
        }
    }

    /// From now on there are no derivatives.
    fn lose(&mut self, t: f64, why: String) {
        self.d.data.fill(f64::NAN);
        self.cost_slopes.fill(f64::NAN);
        self.lost.get_or_insert((t, why));
    }

    fn begin(&mut self, log: &StepLog) -> Solved<()> {
        let (z, holding) = (&log.arcs()[0].start, log.holding(0));
        let seeds = self.start.seeds(self.by, z, holding, &mut self.tangent)?;
        self.d = seeds.z.clone();
        for &column in &seeds.stuck {
            (0..self.d.rows()).for_each(|i| self.d.row_mut(i)[column] = f64::NAN);
        }
        self.events.changes.extend(holding.iter().map(|_| ChangeRow { t: z.t, dt: vec![0.0; self.by.len()] }));
        if let Some(path) = &mut self.path {
            path.push((z.t, self.d.data.clone()));
        }
        self.seeds = Some(seeds);
        Ok(())
    }

    fn follow(&mut self, log: &StepLog) -> Solved<()> {
        if self.seeds.is_none() {
            self.begin(log)?;
        }
        self.seeds.iter_mut().for_each(|seeds| seeds.slots.enter(log.begin()));
        self.tangent.follow(log, &mut self.step)?;
        let touch = self.misses.see(log)?;
        let Some(seeds) = &self.seeds else { return Ok(()) };
        let chain = |slopes: &[f64]| seeds.chain(slopes, &self.d);
        for impact in &self.step.impacts {
            let n = impact.dq.rows();
            let dq: Vec<f64> = (0..n).flat_map(|i| chain(impact.dq.row(i))).collect();
            self.events.impacts.push(ImpactRow {
                about: Approached::of(impact),
                dt: chain(&impact.dt),
                dlambda: chain(&impact.dlambda),
                dq: Matrix { columns: self.by.len(), data: dq },
            });
        }
        let changes = self.step.changes.iter().map(|change| ChangeRow { t: change.t, dt: chain(&change.dt) });
        self.events.changes.extend(changes);
        seeds.chain_into(&self.step.end_time, &self.d, &mut self.end_time);
        if !self.step.cost_slopes.is_empty() {
            self.cost += self.step.cost;
            add(&mut self.cost_slopes, 1.0, &chain(&self.step.cost_slopes));
        }
        seeds.advance(&self.step.end, &self.d, &mut self.next);
        std::mem::swap(&mut self.d, &mut self.next);
        // A wall that is only just touched is an impact or none, whatever the derivatives say.
        let first = self.events.impacts.len() - self.step.impacts.len();
        for k in first..self.events.impacts.len() {
            let about = &self.events.impacts[k].about;
            let (wall, minus, margin) = (about.wall, about.minus.clone(), about.margin());
            if margin.is_some_and(|margin| margin <= self.misses.roundoff(wall, &minus).unwrap_or(0.0)) {
                let later = &mut self.events.impacts[k..];
                later.iter_mut().for_each(|impact| {
                    [&mut impact.dt, &mut impact.dlambda, &mut impact.dq.data]
                        .into_iter()
                        .for_each(|x| x.fill(f64::NAN));
                });
                self.lose(minus.t, "the motion grazes a wall there".into());
            }
        }
        if let Some(t) = touch {
            self.lose(t, "the motion touches a wall there without an impact".into());
        }
        Ok(())
    }
}

impl Watcher for Forward<'_> {
    fn step(&mut self, log: &StepLog) {
        if let Err(error) = self.follow(log) {
            let t = log.begin();
            self.lose(t, failure(error, &log.end.z).message);
        }
        let (z, holding) = self.last.get_or_insert_with(|| (log.end.z.clone(), Vec::new()));
        z.copy_from(&log.end.z);
        holding.clone_from(&log.end.holding);
        if let Some(path) = &mut self.path {
            path.push((log.end.z.t, self.d.data.clone()));
        }
    }

    /// A derivative follows one step.
    fn wants_single_steps(&self) -> bool {
        true
    }

    fn wants_impacts(&self) -> bool {
        false
    }

    fn wants_nodes(&self) -> bool {
        false
    }
}
