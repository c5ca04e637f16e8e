//! A group of lanes, each with a motion of its own.

use std::sync::Arc;

use super::code::LaneCode;
use super::judge::{Judge, Sizes};
use super::keep::Keep;
use super::{Progress, decide};
use crate::flow::dop853::Stages;
use crate::flow::vector::{Buffer, Registers};

/// What happened in a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Happening {
    /// Nothing: the lane is empty, or its step is tried again.
    Nothing,
    /// The motion has a new node.
    Node,
    /// The motion has a new node, after an impact on this wall.
    Impact(usize),
    /// The motion cannot go on in the lane. It is at its last node.
    Leaves,
}

/// K lanes. Vectors are stored as in [`Stages`]: component i of lane k is at i·K + k.
pub(crate) struct Group {
    pub(super) code: Arc<LaneCode>,
    pub(super) k: usize,
    registers: Registers,
    stages: Stages,
    /// (t, q, v, parameters) at the nodes, at the ends of the trial steps, and at impacts.
    pub(super) z: Buffer,
    pub(super) z1: Buffer,
    pub(super) hit: Buffer,
    /// The outputs of the node kernel at `z` and `z1`.
    pub(super) node: Buffer,
    pub(super) node1: Buffer,
    /// v⁺, λ, φ̇⁻, W of the last impacts.
    plus: Buffer,
    reflected: Buffer,
    /// The lengths of the trial steps.
    pub(super) h: Buffer,
    low: Buffer,
    high: Buffer,
    roots: Buffer,
    twice_kinetic: Buffer,
    pub(super) tolerance: Buffer,
    pub(super) error: Buffer,
    pub(super) lowest: Buffer,
    pub(super) crossed: Buffer,
    /// 1 in lanes whose trial step is accepted.
    accepted: Buffer,
    pub(super) slots: Vec<Slot>,
    /// What happened in the last trial.
    pub(crate) happened: Vec<Happening>,
}

/// One motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) is_on: bool,
    /// z is new, and its node is not computed yet.
    is_fresh: bool,
    pub(super) until: f64,
    /// The step that the control has chosen.
    pub(super) h: f64,
    pub(super) longest: f64,
    /// The wall at which the trial step aims.
    pub(super) aim: Option<usize>,
    pub(super) aims: usize,
    pub(super) last_impact: Option<f64>,
    fastest: f64,
    touched: Option<usize>,
    /// The wall where the trial step lands.
    pub(super) lands: Option<usize>,
}

impl Group {
    pub(crate) fn new(code: &Arc<LaneCode>) -> Group {
        let LaneCode { n, parameters, lanes, .. } = **code;
        let k = lanes.count();
        let vectors = |count: usize| Buffer::zeros(count * k);
        let (state, node) = (1 + 2 * n + parameters, code.node_outputs());
        Group {
            code: code.clone(),
            k,
            registers: Registers::detect(),
            stages: Stages::new(n, parameters, lanes),
            z: vectors(state),
            z1: vectors(state),
            hit: vectors(state),
            node: vectors(node),
            node1: vectors(node),
            plus: vectors(n + 3),
            reflected: vectors(n + 3),
            h: vectors(1),
            low: vectors(n),
            high: vectors(n),
            roots: vectors(n),
            twice_kinetic: vectors(1),
            tolerance: vectors(1),
            error: vectors(1),
            lowest: vectors(1),
            crossed: vectors(1),
            accepted: vectors(1),
            slots: vec![Slot::default(); k],
            happened: vec![Happening::Nothing; k],
        }
    }

    /// The number of lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.k
    }

    /// Puts a motion into a lane.
    pub(crate) fn load(&mut self, lane: usize, t: f64, q: &[f64], parameters: &[f64], progress: &Progress, until: f64) {
        self.put(lane, t, q, parameters, progress);
        // Lanes that were never used compute along, and numbers that are not finite are slow.
        for other in 0..self.k {
            if !self.slots[other].is_on && self.tolerance[other] == 0.0 {
                self.put(other, t, q, parameters, progress);
                self.slots[other].is_fresh = true;
            }
        }
        let Progress { longest, h, last_impact, fastest, touched, .. } = *progress;
        let slot =
            Slot { is_on: true, is_fresh: true, until, h, longest, last_impact, fastest, touched, ..Slot::default() };
        self.slots[lane] = slot;
    }

    fn put(&mut self, lane: usize, t: f64, q: &[f64], parameters: &[f64], progress: &Progress) {
        let k = self.k;
        let state = [t].into_iter().chain(q.iter().chain(&progress.v).chain(parameters).copied());
        for (i, x) in state.enumerate() {
            (self.z[i * k + lane], self.z1[i * k + lane], self.hit[i * k + lane]) = (x, x, x);
        }
        let sizes =
            [(&mut self.low, &progress.low), (&mut self.high, &progress.high), (&mut self.roots, &progress.roots)];
        for (to, from) in sizes {
            from.iter().enumerate().for_each(|(i, x)| to[i * k + lane] = *x);
        }
        (self.twice_kinetic[lane], self.tolerance[lane]) = (progress.twice_kinetic, progress.tolerance);
    }

    /// Empties a lane.
    pub(crate) fn unload(&mut self, lane: usize) {
        self.slots[lane].is_on = false;
        self.h[lane] = 0.0;
    }

    /// True if a motion has reached its end.
    pub(crate) fn is_at_end(&self, lane: usize) -> bool {
        self.z[lane] >= self.slots[lane].until
    }

    /// The first node of a motion counts for its size too.
    fn see_start(&mut self, lane: usize) {
        let power = self.node[self.code.n * self.k + lane].abs();
        self.twice_kinetic[lane] = self.twice_kinetic[lane].max(power);
    }

    /// Copies what a motion carries, and writes q; returns the time.
    pub(crate) fn store(&self, lane: usize, q: &mut [f64], progress: &mut Progress) -> f64 {
        let (k, n) = (self.k, self.code.n);
        q.iter_mut().enumerate().for_each(|(i, q)| *q = self.z[(1 + i) * k + lane]);
        let column = |from: &[f64], first: usize, to: &mut Vec<f64>| {
            to.clear();
            to.extend((0..n).map(|i| from[(first + i) * k + lane]));
        };
        column(&self.z, 1 + n, &mut progress.v);
        column(&self.low, 0, &mut progress.low);
        column(&self.high, 0, &mut progress.high);
        column(&self.roots, 0, &mut progress.roots);
        (progress.tolerance, progress.twice_kinetic) = (self.tolerance[lane], self.twice_kinetic[lane]);
        let Slot { h, longest, last_impact, fastest, touched, .. } = self.slots[lane];
        (progress.h, progress.longest, progress.fastest) = (h, longest, fastest);
        (progress.last_impact, progress.touched) = (last_impact, touched);
        self.z[lane]
    }

    /// p of all lanes at their nodes.
    pub(crate) fn momenta(&self, into: &mut [f64]) {
        self.code.momenta.eval(&self.z, &[], into);
    }

    /// p of all lanes before their last impacts.
    pub(crate) fn momenta_at_impact(&self, into: &mut [f64]) {
        self.code.momenta.eval(&self.hit, &[], into);
    }

    /// (q, v⁻) of the last impact in a lane, λ and φ̇⁻.
    pub(crate) fn impact(&self, lane: usize) -> (Vec<f64>, f64, f64) {
        let (k, n) = (self.k, self.code.n);
        let state = (0..2 * n).map(|i| self.hit[(1 + i) * k + lane]).collect();
        (state, self.plus[n * k + lane], self.plus[(n + 1) * k + lane])
    }

    /// Tries one step in every lane; `happened` says what came of it.
    pub(crate) fn advance(&mut self) {
        self.refresh();
        for lane in 0..self.k {
            self.begin(lane);
        }
        let Group { code, stages, z, node, h, z1, .. } = self;
        stages.step(&code.field, z, node, h, z1);
        code.node.eval(&self.z1, &[], &mut self.node1);
        let Group { code, registers, h, z1, node, node1, low, high, roots, twice_kinetic, tolerance, .. } = self;
        let [five, three] = &self.stages.errors;
        let sizes = Sizes { low, high, roots, twice_kinetic, tolerance };
        let (error, lowest, crossed) = (&mut self.error[..], &mut self.lowest[..], &mut self.crossed[..]);
        let (n, walls, sections) = (code.n, code.walls, code.sections);
        let judge = Judge { n, walls, sections, h, z1, node, node1, five, three, sizes, error, lowest, crossed };
        registers.run(self.k, judge);
        let mut any_lands = false;
        self.accepted.fill(0.0);
        for lane in 0..self.k {
            self.happened[lane] = if self.slots[lane].is_on { decide::decide(self, lane) } else { Happening::Nothing };
            any_lands |= self.slots[lane].lands.is_some();
        }
        self.keep_accepted();
        if any_lands {
            self.land();
        }
    }

    /// Chooses the length of the next trial step.
    fn begin(&mut self, lane: usize) {
        let slot = &self.slots[lane];
        if slot.is_on && slot.aim.is_none() {
            let rest = slot.until - self.z[lane];
            self.h[lane] = slot.h.min(slot.longest).min(rest);
        }
    }

    /// Computes the nodes that are new.
    fn refresh(&mut self) {
        if !self.slots.iter().any(|slot| slot.is_fresh) {
            return;
        }
        let (k, n) = (self.k, self.code.n);
        self.code.node.eval(&self.z, &[], &mut self.node1);
        for lane in 0..k {
            if !self.slots[lane].is_fresh {
                continue;
            }
            for i in 0..self.code.node_outputs() {
                self.node[i * k + lane] = self.node1[i * k + lane];
            }
            if let Some(wall) = self.slots[lane].touched {
                self.node[(n + 1 + 3 * wall) * k + lane] = 0.0;
            }
            self.slots[lane].is_fresh = false;
            self.see_start(lane);
        }
    }

    /// Makes the end of a trial step the node of a lane, when all lanes have decided; `h` is the next step.
    pub(super) fn accept(&mut self, lane: usize, h: f64) {
        self.accepted[lane] = 1.0;
        let slot = &mut self.slots[lane];
        (slot.aim, slot.aims, slot.touched, slot.h) = (None, 0, None, h);
    }

    /// Takes the ends of the accepted steps for nodes, in all lanes at once.
    fn keep_accepted(&mut self) {
        let Group { code, registers, accepted, z, z1, node, node1, low, high, twice_kinetic, .. } = self;
        let (n, outputs) = (code.n, code.node_outputs());
        registers.run(self.k, Keep { n, outputs, accepted, z, z1, node, node1, low, high, twice_kinetic });
    }

    fn see(&mut self, lane: usize) {
        for i in 0..self.code.n {
            let (at, q) = (i * self.k + lane, self.z[(1 + i) * self.k + lane]);
            (self.low[at], self.high[at]) = (self.low[at].min(q), self.high[at].max(q));
        }
    }

    /// Reflects the lanes that land on walls.
    fn land(&mut self) {
        let (k, n) = (self.k, self.code.n);
        let mut done = [false; 8];
        for lane in 0..k {
            let Some(wall) = self.slots[lane].lands else { continue };
            if !done[lane] {
                self.code.impacts[wall].eval(&self.hit, &[], &mut self.reflected);
                for other in (lane..k).filter(|&other| self.slots[other].lands == Some(wall)) {
                    (0..n + 3).for_each(|i| self.plus[i * k + other] = self.reflected[i * k + other]);
                    done[other] = true;
                }
            }
            self.slots[lane].lands = None;
            let [lambda, rate, w] = [0, 1, 2].map(|i| self.plus[(n + i) * k + lane]);
            if !(lambda > 0.0 && lambda.is_finite() && rate < 0.0) {
                self.happened[lane] = Happening::Leaves;
                continue;
            }
            for i in 0..1 + n {
                self.z[i * k + lane] = self.hit[i * k + lane];
            }
            for i in 0..n {
                self.z[(1 + n + i) * k + lane] = self.plus[i * k + lane];
            }
            let slot = &mut self.slots[lane];
            (slot.aim, slot.aims, slot.is_fresh) = (None, 0, true);
            (slot.last_impact, slot.touched) = (Some(self.hit[lane]), Some(wall));
            slot.fastest = slot.fastest.max(-rate / w.sqrt());
            self.see(lane);
        }
    }
}
