//! A group of lanes, each with a motion of its own.

use std::sync::Arc;

use super::code::LaneCode;
use super::judge::Judge;
use super::keep::{Choose, Keep};
use super::rows::Rows;
use super::{LaneMemory, decide};
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

/// The calls of the function for whole steps: the more lanes, the less often the code between two steps waits.
const CALLS: usize = 2;

/// Lanes, in blocks of K.
pub(crate) struct Group {
    pub(super) code: Arc<LaneCode>,
    blocks: usize,
    pub(super) k: usize,
    registers: Registers,
    /// Makes steps stage by stage, if a step is not one function.
    stages: Option<Stages>,
    /// At the nodes: t, q, v, parameters; h of the trial step; the outputs of the node kernel.
    pub(super) from: Rows,
    /// At the ends of the trial steps: t, q, v; the outputs of the node kernel; the two errors of (q, v).
    pub(super) to: Rows,
    /// At impacts: t, q, v, parameters.
    pub(super) hit: Rows,
    /// v⁺, λ, φ̇⁻, W of the last impacts.
    pub(super) plus: Rows,
    /// The sizes of a motion, to which errors are relative: the least and the largest value of each coordinate, √(M⁻¹)ᵢᵢ of each,
    /// the largest p·v, the local tolerance and its inverse.
    pub(super) sizes: Rows,
    /// See [`CHOSEN`] and what follows it.
    pub(super) control: Rows,
    /// See [`SQUARE`] and what follows it.
    pub(super) verdict: Rows,
    /// The outputs of a kernel, of one block.
    pub(super) outputs: Buffer,
    pub(super) slots: Vec<Slot>,
    /// The lanes with a motion, as bits.
    on: u32,
    /// Those whose motions do not aim at a wall.
    pub(super) open: u32,
    /// The lanes whose states are new, and whose nodes are not computed yet.
    pub(super) fresh: u32,
    /// Those whose motions begin, so that √(M⁻¹)ᵢᵢ is not known yet.
    beginning: u32,
    /// The lanes that have left a wall at their node, and those that land on one in this trial.
    pub(super) touching: u32,
    pub(super) landing: u32,
    /// The lanes whose last trial step was simply accepted.
    accepted: u32,
    /// What happened in the last trial in the other lanes.
    pub(super) happened: Vec<Happening>,
}

// The rows of `control`.
/// The step that the control has chosen.
pub(super) const CHOSEN: usize = 0;
/// The longest step allowed.
pub(super) const LONGEST: usize = 1;
/// When the motion ends.
pub(super) const UNTIL: usize = 2;

// The rows of `verdict`.
/// The square of the error, relative to the tolerance.
pub(super) const SQUARE: usize = 0;
/// The factor for the next step.
pub(super) const FACTOR: usize = 1;
/// The least Bernstein coefficient of a gap: if it is not negative, no wall is met.
pub(super) const LOWEST: usize = 2;
/// Not 0 if a section may be crossed.
pub(super) const CROSSED: usize = 3;

/// One motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// The wall at which the trial step aims.
    pub(super) aim: Option<usize>,
    pub(super) aims: usize,
    pub(super) last_impact: Option<f64>,
    pub(super) fastest: f64,
    /// The wall that was left last.
    pub(super) touched: usize,
}

impl Group {
    pub(crate) fn new(code: &Arc<LaneCode>) -> Group {
        let LaneCode { n, parameters, lanes, .. } = **code;
        let (blocks, k) = (code.step.as_ref().map_or(1, |step| CALLS * step.blocks()), lanes.count());
        let rows = |count: usize| Rows::zeros(count, [blocks, k]);
        let (state, outputs) = (code.state(), code.node_outputs());
        Group {
            code: code.clone(),
            blocks,
            k,
            registers: Registers::detect(),
            stages: code.step.is_none().then(|| Stages::new(n, parameters, lanes)),
            from: rows(state + 1 + outputs),
            to: rows(1 + 2 * n + outputs + 4 * n),
            hit: rows(state),
            plus: rows(n + 3),
            sizes: rows(3 * n + 3),
            control: rows(3),
            verdict: rows(4),
            outputs: Buffer::zeros(outputs.max(n + 3) * k),
            slots: vec![Slot::default(); blocks * k],
            on: 0,
            open: 0,
            fresh: 0,
            beginning: 0,
            touching: 0,
            landing: 0,
            accepted: 0,
            happened: vec![Happening::Nothing; blocks * k],
        }
    }

    /// The number of lanes.
    pub(crate) fn lanes(&self) -> usize {
        self.blocks * self.k
    }

    /// The bits of the lanes of a block.
    pub(super) fn of_block(&self, block: usize) -> u32 {
        ((1 << self.k) - 1) << (block * self.k)
    }

    /// The first row of a wall in `from`: φ, φ̇ and φ̈.
    pub(super) fn gap_before(&self, wall: usize) -> usize {
        self.code.state() + 1 + self.code.n + 1 + 3 * wall
    }

    /// The first row of a wall in `to`.
    pub(super) fn gap_after(&self, wall: usize) -> usize {
        1 + 2 * self.code.n + self.code.n + 1 + 3 * wall
    }

    pub(super) fn tolerance(&self, lane: usize) -> f64 {
        self.sizes[(3 * self.code.n + 1, lane)]
    }

    /// Puts a motion into a lane.
    pub(crate) fn load(
        &mut self,
        lane: usize,
        t: f64,
        q: &[f64],
        parameters: &[f64],
        progress: &LaneMemory,
        until: f64,
    ) {
        self.put(lane, t, q, parameters, progress);
        // Lanes that were never used compute along, and numbers that are not finite are slow.
        for other in 0..self.lanes() {
            if self.on & 1 << other == 0 && self.tolerance(other) == 0.0 {
                self.put(other, t, q, parameters, progress);
                self.fresh |= 1 << other;
            }
        }
        let LaneMemory { longest, h, last_impact, fastest, touched, .. } = *progress;
        let mut control = self.control.lane_mut(lane);
        (control[CHOSEN], control[LONGEST], control[UNTIL]) = (h, longest, until);
        self.slots[lane] = Slot { last_impact, fastest, touched: touched.unwrap_or(0), ..Slot::default() };
        self.touching = self.touching & !(1 << lane) | u32::from(touched.is_some()) << lane;
        self.on |= 1 << lane;
        self.open |= 1 << lane;
        self.fresh |= 1 << lane;
        self.beginning = self.beginning & !(1 << lane) | u32::from(progress.roots.is_empty()) << lane;
    }

    fn put(&mut self, lane: usize, t: f64, q: &[f64], parameters: &[f64], progress: &LaneMemory) {
        let (n, LaneMemory { v, low, high, roots, twice_kinetic, tolerance, .. }) = (self.code.n, progress);
        for rows in [&mut self.from, &mut self.hit] {
            let mut rows = rows.lane_mut(lane);
            rows[0] = t;
            rows.put(1, q.iter().chain(v).chain(parameters).copied());
        }
        let mut sizes = self.sizes.lane_mut(lane);
        [(0, low), (n, high), (2 * n, roots)]
            .into_iter()
            .for_each(|(at, values)| sizes.put(at, values.iter().copied()));
        sizes.put(3 * n, [*twice_kinetic, *tolerance, 1.0 / tolerance]);
    }

    /// Empties a lane.
    pub(crate) fn unload(&mut self, lane: usize) {
        self.on &= !(1 << lane);
        self.open &= !(1 << lane);
        self.from[(self.code.state(), lane)] = 0.0;
    }

    /// True if there is a motion in a lane.
    pub(crate) fn is_busy(&self) -> bool {
        self.on != 0
    }

    /// True if a motion has reached its end.
    pub(crate) fn is_at_end(&self, lane: usize) -> bool {
        self.from[(0, lane)] >= self.control[(UNTIL, lane)]
    }

    /// Writes q, and returns the time.
    pub(crate) fn place(&self, lane: usize, q: &mut [f64]) -> f64 {
        q.iter_mut().enumerate().for_each(|(i, q)| *q = self.from[(1 + i, lane)]);
        self.from[(0, lane)]
    }

    /// Copies what a motion carries.
    pub(crate) fn store(&self, lane: usize, progress: &mut LaneMemory) {
        let n = self.code.n;
        let column = |rows: &Rows, first: usize, to: &mut Vec<f64>| {
            to.clear();
            to.extend((first..first + n).map(|i| rows[(i, lane)]));
        };
        column(&self.from, 1 + n, &mut progress.v);
        column(&self.sizes, 0, &mut progress.low);
        column(&self.sizes, n, &mut progress.high);
        column(&self.sizes, 2 * n, &mut progress.roots);
        (progress.tolerance, progress.twice_kinetic) = (self.tolerance(lane), self.sizes[(3 * n, lane)]);
        (progress.h, progress.longest) = (self.control[(CHOSEN, lane)], self.control[(LONGEST, lane)]);
        let Slot { last_impact, fastest, touched, .. } = self.slots[lane];
        let touched = (self.touching & 1 << lane != 0).then_some(touched);
        (progress.fastest, progress.last_impact, progress.touched) = (fastest, last_impact, touched);
    }

    /// p of a lane at its node.
    pub(crate) fn momenta(&mut self, lane: usize, p: &mut [f64]) {
        let state = &self.from.block(lane / self.k)[..self.code.state() * self.k];
        momenta(&self.code, state, &mut self.outputs, lane % self.k, p);
    }

    /// p of a lane before its last impact.
    pub(crate) fn momenta_at_impact(&mut self, lane: usize, p: &mut [f64]) {
        momenta(&self.code, self.hit.block(lane / self.k), &mut self.outputs, lane % self.k, p);
    }

    /// (q, v⁻) of the last impact in a lane, λ and φ̇⁻.
    pub(crate) fn impact(&self, lane: usize) -> (Vec<f64>, f64, f64) {
        let n = self.code.n;
        let state = (1..1 + 2 * n).map(|i| self.hit[(i, lane)]).collect();
        (state, self.plus[(n, lane)], self.plus[(n + 1, lane)])
    }

    /// What happened in a lane in the last trial.
    pub(crate) fn happened(&self, lane: usize) -> Happening {
        if self.accepted & 1 << lane != 0 { Happening::Node } else { self.happened[lane] }
    }

    /// Tries one step in every lane. Returns those, as bits, in which a motion has met a wall, reached its end, or cannot go on.
    pub(crate) fn advance(&mut self) -> u32 {
        for block in 0..self.blocks {
            self.refresh(block);
            let (state, open) = (self.code.state(), self.open >> (block * self.k));
            let (from, control) = (self.from.block_mut(block), self.control.block(block));
            self.registers.run(self.k, Choose { state, open, from, control });
        }
        self.step();
        self.accepted = (0..self.blocks).map(|block| self.judge(block)).sum();
        let (mut accepted, mut eventful) = (self.accepted, 0);
        for lane in bits(self.on & !self.accepted) {
            self.happened[lane] = decide::decide(self, lane);
            match self.happened[lane] {
                Happening::Nothing => {}
                Happening::Node => accepted |= 1 << lane,
                Happening::Impact(_) => (self.landing, eventful) = (self.landing | 1 << lane, eventful | 1 << lane),
                Happening::Leaves => eventful |= 1 << lane,
            }
        }
        self.touching &= !accepted;
        let under_way: u32 = (0..self.blocks).map(|block| self.keep(block, accepted)).sum();
        self.land();
        eventful | self.on & !under_way
    }

    /// Computes the trial steps.
    fn step(&mut self) {
        let Group { code, k, stages, from, to, .. } = self;
        let (k, Some(stages)) = (*k, stages) else {
            let Some(step) = &code.step else { return };
            let [before, after] = [from.len(), to.len()].map(|length| length / CALLS);
            return from.chunks(before).zip(to.chunks_mut(after)).for_each(|(from, to)| step.eval(from, to));
        };
        let (z, rest) = from.split_at(code.state() * k);
        let (h, node) = rest.split_at(k);
        let end = stages.step(&code.field, z, node, h);
        let (z1, rest) = to.split_at_mut((1 + 2 * code.n) * k);
        let (node1, errors) = rest.split_at_mut(code.node_outputs() * k);
        z1.copy_from_slice(&end[..z1.len()]);
        code.node.eval(end, &[], node1);
        stages.errors(errors);
    }

    /// The lanes of a block in which steps are simply accepted.
    fn judge(&mut self, block: usize) -> u32 {
        let LaneCode { n, walls, sections, .. } = *self.code;
        let (state, outputs) = (self.code.state(), self.code.node_outputs());
        let (from, to, sizes) = (self.from.block(block), self.to.block_mut(block), self.sizes.block(block));
        let (control, verdict) = (self.control.block_mut(block), self.verdict.block_mut(block));
        let open = self.open >> (block * self.k);
        let judge = Judge { n, state, walls, sections, outputs, open, from, to, sizes, control, verdict };
        self.registers.run(self.k, judge) << (block * self.k)
    }

    /// Takes the ends of the accepted steps of a block for nodes. Returns the lanes whose motions have not reached their ends.
    fn keep(&mut self, block: usize, accepted: u32) -> u32 {
        let (n, state, outputs) = (self.code.n, self.code.state(), self.code.node_outputs());
        let (from, to, sizes) = (self.from.block_mut(block), self.to.block(block), self.sizes.block_mut(block));
        let (first, control) = (block * self.k, self.control.block(block));
        let keep = Keep { n, state, outputs, accepted: accepted >> first, from, to, sizes, control };
        self.registers.run(self.k, keep) << first
    }

    /// Computes the nodes of a block that are new.
    fn refresh(&mut self, block: usize) {
        let fresh = self.fresh & self.of_block(block);
        if fresh == 0 {
            return;
        }
        self.fresh &= !fresh;
        let (k, n, state) = (self.k, self.code.n, self.code.state());
        let outputs = self.code.node_outputs();
        self.code.node.eval(&self.from.block(block)[..state * k], &[], &mut self.outputs[..outputs * k]);
        for lane in bits(fresh) {
            let column = self.outputs[lane & (k - 1)..outputs * k].iter().step_by(k).copied();
            let touched = self.gap_before(self.slots[lane].touched);
            let mut from = self.from.lane_mut(lane);
            from.put(state + 1, column);
            if self.touching & 1 << lane != 0 {
                from[touched] = 0.0;
            }
            // The first node of a motion counts for its size too.
            let power = from[state + 1 + n].abs();
            let largest = &mut self.sizes[(3 * n, lane)];
            *largest = largest.max(power);
        }
        let beginning = fresh & self.beginning;
        if beginning == 0 {
            return;
        }
        self.beginning &= !beginning;
        self.code.mobility.eval(&self.from.block(block)[..state * k], &[], &mut self.outputs[..n * k]);
        for lane in bits(beginning) {
            (0..n).for_each(|i| self.sizes[(2 * n + i, lane)] = self.outputs[i * k + lane % k].max(0.0).sqrt());
        }
    }
}

/// The numbers of the bits that are set.
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(bit)
    })
}

/// p of one lane with these states; `room` is for those of all lanes.
fn momenta(code: &LaneCode, states: &[f64], room: &mut Buffer, lane: usize, p: &mut [f64]) {
    let (n, lanes) = (code.n, code.lanes.count());
    code.momenta.eval(states, &[], &mut room[..n * lanes]);
    p.iter_mut().enumerate().for_each(|(i, p)| *p = room[i * lanes + lane]);
}
