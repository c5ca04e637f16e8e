//! Derivatives backwards along a run: one sweep for all quantities, whatever the number of variables.
//!
//! With the derivatives A of a step by its state and B by θ, the adjoint of a quantity goes back from the end of a step to its
//! beginning, where it is differentiated by the start:
//!
//! ```text
//! z̄ ← Aᵀz̄,   θ̄ ← θ̄ + Bᵀz̄
//! ```
//!
//! The states at every √N-th of N steps are kept; the steps between them are made again.

use super::forward::Approached;
use super::miss::Misses;
use super::names::{By, Of};
use super::results::Quantities;
use super::seeds::{Seeds, Slots, Start};
use crate::error::Result;
use crate::phase::Phase;
use crate::run::{Schedule, Scheduled, Watcher};
use crate::solve::{NoSolution, Solved};
use crate::step::{EventKind, Scheme, State, StepLog, Stepper, Variant};
use crate::tangent::{Matrix, StepTangent, Tangent, add, dot};

/// Records what is needed to go back along a run.
pub(super) struct Tape {
    stride: usize,
    /// The states at the beginning of every `stride`-th step.
    states: Vec<State>,
    /// The times to which the steps were made.
    untils: Vec<f64>,
    /// The step of each impact and of each change of contact, with its number there and its time.
    impacts: Vec<(usize, usize, f64)>,
    changes: Vec<(usize, usize, f64)>,
    pub(super) misses: Misses,
    pub(super) lost: Option<(f64, String)>,
    pub(super) last: Option<(Phase, Vec<usize>)>,
    /// When the last step begins.
    last_begin: f64,
}

/// What a sweep gives.
pub(super) struct Swept {
    /// The value and the derivatives of each quantity.
    pub(super) results: Vec<(f64, Vec<f64>)>,
    /// How the impacts are approached.
    pub(super) impacts: Vec<Approached>,
    /// The variables along which the start cannot move.
    pub(super) stuck: Vec<usize>,
}

/// The derivatives of a quantity by (z, θ) at the beginning of the step that the sweep has reached.
struct Covector {
    /// The step in which the quantity is, or the number of steps for the end of the run.
    step: usize,
    value: f64,
    t: f64,
    z: Vec<f64>,
    by_t: f64,
    /// By the slots of θ.
    theta: Vec<f64>,
}

impl Tape {
    /// For a run of about this number of steps from a state.
    pub(super) fn new(start: State, steps: usize, misses: Misses) -> Tape {
        Tape {
            stride: ((steps as f64).sqrt().ceil() as usize).max(1),
            states: vec![start],
            untils: Vec::new(),
            impacts: Vec::new(),
            changes: Vec::new(),
            misses,
            lost: None,
            last: None,
            last_begin: f64::NEG_INFINITY,
        }
    }

    /// The number of impacts.
    pub(super) fn impacts(&self) -> usize {
        self.impacts.len()
    }

    /// The number of changes of contact.
    pub(super) fn changes(&self) -> usize {
        self.changes.len()
    }

    fn see(&mut self, log: &StepLog) {
        let step = self.untils.len();
        if step == 0 {
            self.changes.extend(log.holding(0).iter().map(|_| (usize::MAX, 0, log.begin())));
        }
        let mut changes = 0;
        for event in log.events() {
            match event.kind {
                EventKind::Impact(number) => self.impacts.push((step, number, event.t)),
                EventKind::Holds(_) | EventKind::LetsGo(_) => {
                    self.changes.push((step, changes, event.t));
                    changes += 1;
                }
                EventKind::Accumulates(_) => {}
            }
        }
        self.untils.push(if log.accumulation().is_some() { log.begin() + log.h } else { log.end.z.t });
        if self.untils.len().is_multiple_of(self.stride) {
            self.states.push(log.end.clone());
        }
        self.last = Some((log.end.z.clone(), log.end.holding.clone()));
        self.last_begin = log.begin();
    }

    /// The value and the derivatives of each quantity, and how the impacts are approached.
    pub(super) fn back(
        &mut self,
        (scheme, schedule): (&Scheme, &Schedule),
        tangent: &mut Tangent,
        start: &Start,
        by: &[By],
        of: &[Of],
        quantities: &Quantities,
    ) -> Result<Swept> {
        self.changes.sort_by(|a, b| a.2.total_cmp(&b.2));
        let mut slots = start.slots.clone();
        let mut covectors: Vec<Option<Covector>> =
            of.iter().map(|&of| self.covector(of, tangent, quantities, &mut slots)).collect();
        let mut stepper = scheme.stepper(Variant::Whole)?;
        let mut stepper = Scheduled::new(&mut *stepper, schedule);
        let facts = scheme.plant.facts();
        let mut log = StepLog::new(&self.states[0], facts.is_one_point.len());
        let mut approached: Vec<Option<Approached>> = vec![None; self.impacts.len()];
        let (mut seeds, mut later) = (None, self.impacts.len());
        for (number, first) in self.states.clone().iter().enumerate().rev() {
            let steps = number * self.stride..((number + 1) * self.stride).min(self.untils.len());
            let untils = &self.untils[steps.clone()];
            let made = segment(&mut stepper, tangent, first, untils, &mut log, &mut self.misses);
            let Ok(Segment { tangents, begins, begin, touch }) = made else {
                self.lost.get_or_insert((first.z.t, "the equations of the derivatives have no solution".into()));
                continue;
            };
            if let Some(t) = touch {
                self.lost = Some((t, "the motion touches a wall there without an impact".into()));
            }
            for ((step, tangent), &t) in steps.clone().zip(&tangents).zip(&begins).rev() {
                slots.enter(t);
                // A segment that could not be differentiated was left out.
                while self.impacts[..later].last().is_some_and(|impact| impact.0 > step) {
                    later -= 1;
                }
                while let Some(&(_, number, _)) = self.impacts[..later].last().filter(|impact| impact.0 == step) {
                    later -= 1;
                    approached[later] = tangent.impacts.get(number).map(Approached::of);
                    let Some(about) = &approached[later] else { continue };
                    let roundoff = self.misses.roundoff(about.wall, &about.minus).unwrap_or(0.0);
                    if about.margin().is_some_and(|margin| margin <= roundoff) {
                        self.lost = Some((about.minus.t, "the motion grazes a wall there".into()));
                    }
                }
                for (covector, &of) in covectors.iter_mut().zip(of) {
                    let Some(covector) = covector else { continue };
                    if covector.step == step {
                        self.take_event(of, covector, tangent, quantities, &slots);
                    } else if covector.step > step {
                        covector.pass(tangent, &slots, of == Of::Objective);
                    }
                }
            }
            if number == 0
                && let Some((z, holding)) = begin
            {
                seeds = start.seeds(by, &z, &holding, tangent).ok();
            }
        }
        let lost = self.lost.as_ref().map_or(f64::INFINITY, |lost| lost.0);
        let results = covectors.into_iter().map(|covector| match (covector, &seeds) {
            (Some(covector), Some(seeds)) if covector.t < lost => (covector.value, covector.along(seeds)),
            (Some(covector), _) => (covector.value, vec![f64::NAN; by.len()]),
            (None, _) => (f64::NAN, vec![f64::NAN; by.len()]),
        });
        let (results, impacts) = (results.collect(), approached.into_iter().flatten().collect());
        Ok(Swept { results, impacts, stuck: seeds.map_or(Vec::new(), |seeds| seeds.stuck) })
    }

    /// The derivatives of a quantity at the end; those of an event follow when the sweep reaches its step.
    fn covector(&self, of: Of, tangent: &mut Tangent, quantities: &Quantities, slots: &mut Slots) -> Option<Covector> {
        let (size, m) = (self.states[0].z.z.len(), slots.count());
        let event = |&(step, _, t): &(usize, usize, f64)| Covector {
            step,
            value: t,
            t,
            z: vec![f64::NAN; size],
            by_t: 0.0,
            theta: vec![f64::NAN; m],
        };
        match of {
            Of::ImpactTime(k) | Of::ImpactLambda(k) | Of::ImpactQ(k, _) => self.impacts.get(k).map(event),
            Of::Rest(k) => {
                let covector = event(self.changes.get(k)?);
                // A wall that holds from the start does so whatever varies.
                let is_first = covector.step == usize::MAX;
                Some(if is_first { Covector { z: vec![0.0; size], theta: vec![0.0; m], ..covector } } else { covector })
            }
            Of::Final(..) | Of::Output(_) | Of::Objective => {
                let (z, holding) = self.last.as_ref()?;
                let (values, slopes) = tangent.look(&quantities.state, z, holding).ok()?;
                let row = quantities.row(of)?;
                let (by_z, rest) = slopes.row(row).split_at(z.z.len());
                let mut theta = vec![0.0; m];
                slots.enter(self.last_begin);
                slots.spread(&rest[1..], &mut theta);
                Some(Covector {
                    step: self.untils.len(),
                    value: values[row],
                    t: f64::MAX,
                    z: by_z.to_vec(),
                    by_t: rest[0],
                    theta,
                })
            }
        }
    }

    /// Takes the derivatives of an event from the step that contains it.
    fn take_event(
        &self,
        of: Of,
        covector: &mut Covector,
        tangent: &StepTangent,
        quantities: &Quantities,
        slots: &Slots,
    ) {
        let impact = |k: usize| tangent.impacts.get(self.impacts[k].1);
        let slopes = match of {
            Of::ImpactTime(k) => impact(k).map(|impact| (impact.minus.t, impact.dt.clone())),
            Of::ImpactLambda(k) => impact(k).map(|impact| (impact.lambda, impact.dlambda.clone())),
            Of::ImpactQ(k, i) => impact(k).and_then(|impact| quantities.place(impact, i)),
            Of::Rest(k) => tangent.changes.get(self.changes[k].1).map(|change| (change.t, change.dt.clone())),
            Of::Final(..) | Of::Output(_) | Of::Objective => None,
        };
        let size = tangent.end.rows();
        let Some((value, slopes)) = slopes else {
            covector.value = f64::NAN;
            return;
        };
        covector.value = value;
        covector.z = slopes[..size].to_vec();
        covector.theta.fill(0.0);
        slots.spread(&slopes[size + 2..], &mut covector.theta);
    }
}

impl Covector {
    /// From the end of a step to its beginning.
    fn pass(&mut self, tangent: &StepTangent, slots: &Slots, counts_cost: bool) {
        let size = tangent.end.rows();
        let mut slopes = vec![0.0; tangent.end.columns];
        for (i, x) in self.z.iter().enumerate() {
            add(&mut slopes, *x, tangent.end.row(i));
        }
        // The time of the end is that of a node, except where the run ends early.
        add(&mut slopes, self.by_t, &tangent.end_time);
        self.by_t = 0.0;
        if counts_cost {
            self.value += tangent.cost;
            add(&mut slopes, 1.0, &tangent.cost_slopes);
        }
        self.z.copy_from_slice(&slopes[..size]);
        slots.spread(&slopes[size + 2..], &mut self.theta);
    }

    fn along(&self, seeds: &Seeds) -> Vec<f64> {
        let columns = seeds.z.columns;
        let entry = |j: usize| {
            let column = |matrix: &Matrix| (0..matrix.rows()).map(|i| matrix.at(i, j)).collect::<Vec<_>>();
            dot(&self.z, &column(&seeds.z)) + dot(&self.theta, &column(&seeds.theta))
        };
        let value = |j: usize| if seeds.stuck.contains(&j) { f64::NAN } else { entry(j) };
        (0..columns).map(value).collect()
    }
}

/// Steps that were made again and differentiated.
struct Segment {
    tangents: Vec<StepTangent>,
    /// When each step begins.
    begins: Vec<f64>,
    /// The state at the beginning, and the walls that hold it.
    begin: Option<(Phase, Vec<usize>)>,
    /// When a wall is touched without an impact.
    touch: Option<f64>,
}

/// Makes steps again and differentiates them.
fn segment(
    stepper: &mut dyn Stepper,
    tangent: &mut Tangent,
    first: &State,
    untils: &[f64],
    log: &mut StepLog,
    misses: &mut Misses,
) -> Solved<Segment> {
    stepper.begin(&first.parameters);
    let mut state = first.clone();
    let mut made = Segment { tangents: Vec::with_capacity(untils.len()), begins: Vec::new(), begin: None, touch: None };
    for &until in untils {
        stepper.step(&state, until, log)?;
        let mut step = StepTangent::default();
        tangent.follow(log, &mut step)?;
        let touched = misses.see(log)?;
        made.touch = made.touch.or(touched);
        if made.begin.is_none() {
            made.begin = Some((log.arcs().first().ok_or(NoSolution::Diverged)?.start.clone(), log.holding(0).to_vec()));
        }
        made.tangents.push(step);
        made.begins.push(log.begin());
        state.copy_from(&log.end);
    }
    Ok(made)
}

impl Watcher for Tape {
    fn step(&mut self, log: &StepLog) {
        self.see(log);
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
