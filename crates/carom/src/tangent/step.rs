//! The derivative of a step, along the arcs and events in its log.

use std::sync::Arc;

use super::code::TangentCode;
use super::local::{Columns, Local};
use super::piece::{Made, Piece};
use super::reset::{Kept, hamiltonian, reset};
use crate::error::Result;
use crate::phase::Phase;
use crate::slopes::{OutputCode, Row};
use crate::solve::matrix::{Matrix, add};
use crate::solve::{NoSolution, Solved};
use crate::step::{EventKind, Kind, LoggedImpact, Scheme, StepLog};

/// Differentiates steps. It follows the log of a step that was made, and makes no steps itself.
#[derive(Clone)]
pub struct Tangent {
    pub(super) local: Local,
    pub(super) piece: Piece,
    /// The step after an impact, of which `dtec` knows the energy; none with other rules.
    ahead: Option<Piece>,
    parameters: Vec<f64>,
    pub(super) at: Columns,
    pub(super) row: Row,
}

/// The derivatives of a step by (q0, p0, t, h, θ), in this order of columns: the state at its beginning, the time of its beginning,
/// its length, and the parameters. Where a derivative does not exist, it is NaN.
#[derive(Clone, Debug, Default)]
pub struct StepTangent {
    /// ∂(q1, p1)/∂(q0, p0, t, h, θ).
    pub end: Matrix,
    /// The derivative of the time of the end.
    pub end_time: Vec<f64>,
    /// The impacts of the step.
    pub impacts: Vec<ImpactTangent>,
    /// The changes of contact in the step.
    pub changes: Vec<ChangeTangent>,
    /// The running cost of the step and its derivatives, if one was set.
    pub cost: f64,
    /// Its derivatives; empty without a cost.
    pub cost_slopes: Vec<f64>,
}

/// An impact and its derivatives.
#[derive(Clone, Debug)]
pub struct ImpactTangent {
    /// The number of the wall.
    pub wall: usize,
    /// The state before it.
    pub minus: Phase,
    /// The impulse.
    pub lambda: f64,
    /// φ̇ before it.
    pub rate_minus: f64,
    /// φ̈ before it.
    pub second_minus: f64,
    /// The derivative of its time.
    pub dt: Vec<f64>,
    /// The derivative of λ.
    pub dlambda: Vec<f64>,
    /// The derivatives of q.
    pub dq: Matrix,
}

/// The time at which a wall begins or ceases to hold the motion, and its derivative.
#[derive(Clone, Debug)]
pub struct ChangeTangent {
    /// The number of the wall.
    pub wall: usize,
    /// True if it begins to hold.
    pub begins: bool,
    /// The time.
    pub t: f64,
    /// Its derivative.
    pub dt: Vec<f64>,
}

impl Tangent {
    /// Differentiates the steps of a scheme.
    pub fn new(scheme: &Scheme, code: &Arc<TangentCode>) -> Result<Tangent> {
        let flow = scheme.plant.smooth_flow(&scheme.method.flow)?;
        let (n, parameters) = (code.slopes.n, code.slopes.parameters_and_sides());
        Ok(Tangent {
            local: Local::new(code),
            ahead: (scheme.method.rule_name() == "dtec").then(|| Piece::new(code, flow.boxed_clone())),
            piece: Piece::new(code, flow),
            parameters: vec![0.0; parameters],
            at: Columns::zeros(n, 2 * n + 2 + code.parameters()),
            row: Row::default(),
        })
    }

    /// Sets a running cost l, of which each step sums h Σ bⱼ lⱼ over the samples of its quadrature.
    pub fn set_cost(&mut self, running: Option<Arc<OutputCode>>) {
        self.local.cost = running;
    }

    /// The compiled derivatives.
    pub fn code(&self) -> &Arc<TangentCode> {
        &self.local.steps
    }

    /// The number of columns of a step: 2n + 2 and the number of parameters θ.
    pub fn columns(&self) -> usize {
        self.at.t.len()
    }

    /// Takes the parameters of a run.
    pub fn begin(&mut self, parameters: &[f64]) {
        self.parameters[..parameters.len()].copy_from_slice(parameters);
        self.local.set_parameters(parameters);
        self.set_sides(&vec![0.0; self.parameters.len() - parameters.len()], true);
    }

    fn set_sides(&mut self, sides: &[f64], always: bool) {
        let first = self.parameters.len() - sides.len();
        if always || self.parameters[first..] != *sides {
            self.parameters[first..].copy_from_slice(sides);
            self.local.set_sides(sides);
            self.piece.set_parameters(&self.parameters);
            self.ahead.iter_mut().for_each(|ahead| ahead.set_parameters(&self.parameters));
        }
    }

    /// The derivatives of the step in `log`.
    pub fn follow(&mut self, log: &StepLog, into: &mut StepTangent) -> Solved<()> {
        let (n, columns) = (self.local.code.n, self.columns());
        into.impacts.clear();
        into.changes.clear();
        // Parameters may differ from step to step.
        let count = log.end.parameters.len();
        if self.parameters[..count] != *log.end.parameters {
            self.begin(&log.end.parameters);
        }
        if let [arc] = log.arcs() {
            // The derivative of a step without events is that of its only piece.
            self.set_sides(log.sides(0), false);
            let rows = self.local.rows_with(log.holding(0));
            let (end, h) = (&log.end.z, log.end.z.t - arc.start.t);
            let made = Made { q1: end.q(), polynomial: log.polynomial(0) };
            self.piece.follow(&mut self.local, &arc.start, h, &rows, Some(made), false)?;
            into.end.copy_from(&self.piece.slopes);
            into.cost = self.piece.cost;
            into.cost_slopes.clone_from(&self.piece.cost_slopes);
            into.end_time.clear();
            into.end_time.resize(columns, 0.0);
            into.end_time[2 * n..2 * n + 2].fill(1.0);
            return Ok(());
        }
        self.start();
        into.cost = 0.0;
        into.cost_slopes.clear();
        into.cost_slopes.resize(self.piece.cost_slopes.len(), 0.0);
        let count = log.arcs().len();
        let mut wait = None;
        for arc in 0..count {
            let start = &log.arcs()[arc].start;
            let h = log.end_of(arc) - start.t;
            self.set_sides(log.sides(arc), false);
            let rows = self.local.rows_with(log.holding(arc));
            let q1 = log.arcs().get(arc + 1).map_or(log.end.z.q(), |next| next.start.q());
            let keeps = self.ahead.is_some() && arc + 1 < count;
            let made = Made { q1, polynomial: log.polynomial(arc) };
            self.piece.follow(&mut self.local, start, h, &rows, Some(made), keeps)?;
            into.cost += self.piece.cost;
            let Some(next) = log.arcs().get(arc + 1) else {
                // What is left of the step becomes shorter by what the events are later.
                let dh: Vec<f64> = wait.take().unwrap_or_else(|| {
                    let mut dh: Vec<f64> = self.at.t.iter().map(|dt| -dt).collect();
                    dh[2 * n..2 * n + 2].iter_mut().for_each(|x| *x += 1.0);
                    dh
                });
                if !into.cost_slopes.is_empty() {
                    add(&mut into.cost_slopes, 1.0, &along(&self.piece.cost_slopes, &self.at, &dh));
                }
                self.pass(&dh);
                break;
            };
            // The end at a fixed length, and then the length.
            let before = self.at.clone();
            self.pass(&vec![0.0; columns]);
            let Some((kind, wall)) = next.cause else { return Err(NoSolution::Diverged) };
            let dtau = if kind == Kind::Opens {
                // A fixed part of what is left of the step, which becomes shorter by what the events are later.
                let part = h / (log.arcs()[0].start.t + log.h - start.t);
                let mut dtau: Vec<f64> = self.at.t.iter().map(|dt| -part * dt).collect();
                dtau[2 * n..2 * n + 2].iter_mut().for_each(|x| *x += part);
                dtau
            } else {
                self.length(kind, wall, h, &rows, log.holding(arc))?
            };
            for i in 0..n {
                let slopes = [&self.piece.slopes.row(i), &self.piece.slopes.row(n + i)].map(|row| row[2 * n + 1]);
                add(self.at.q.row_mut(i), slopes[0], &dtau);
                add(self.at.p.row_mut(i), slopes[1], &dtau);
            }
            add(&mut self.at.t, 1.0, &dtau);
            if !into.cost_slopes.is_empty() {
                add(&mut into.cost_slopes, 1.0, &along(&self.piece.cost_slopes, &before, &dtau));
            }
            let energy = keeps.then(|| along(&self.piece.energy, &before, &dtau)).filter(|_| h > 0.0);
            self.events(log, arc, energy, &mut wait, into)?;
        }
        into.end = Matrix { columns, data: [&self.at.q.data[..], &self.at.p.data].concat() };
        into.end_time.clone_from(&self.at.t);
        Ok(())
    }

    /// Begins with the unit matrix.
    pub(super) fn start(&mut self) {
        let n = self.local.code.n;
        self.at.t.fill(0.0);
        self.at.t[2 * n] = 1.0;
        [&mut self.at.q, &mut self.at.p].into_iter().for_each(Matrix::clear);
        for i in 0..n {
            (self.at.q.row_mut(i)[i], self.at.p.row_mut(i)[n + i]) = (1.0, 1.0);
        }
    }

    /// Applies the derivative of the piece, whose length has the derivative `dh`, and adds that to the time.
    fn pass(&mut self, dh: &[f64]) {
        let n = self.local.code.n;
        let rows: Vec<Vec<f64>> = (0..2 * n).map(|i| along(self.piece.slopes.row(i), &self.at, dh)).collect();
        for (i, row) in rows.iter().enumerate() {
            let to = if i < n { self.at.q.row_mut(i) } else { self.at.p.row_mut(i - n) };
            to.copy_from_slice(row);
        }
        add(&mut self.at.t, 1.0, dh);
    }

    /// dτ: the derivative of the length of a piece that ends with an event, from the function that is zero there.
    fn length(&mut self, kind: Kind, wall: usize, h: f64, rows: &[usize], holding: &[usize]) -> Solved<Vec<f64>> {
        let (n, columns) = (self.local.code.n, self.columns());
        let end = self.piece.end.clone();
        if kind == Kind::LetsGo {
            if h == 0.0 {
                return Ok(vec![0.0; columns]);
            }
            return self.release(&end, rows, holding.iter().position(|&held| held == wall));
        }
        if kind == Kind::Presses && h == 0.0 {
            return Ok(vec![0.0; columns]);
        }
        if let Some(argument) = wall.checked_sub(self.local.code.walls + self.local.code.kinks) {
            return self.reversal(argument, &end, rows);
        }
        self.local.place(end.t, end.q(), &vec![0.0; n]);
        self.local.row(self.local.code.constraints + wall, &mut self.row)?;
        let swept: f64 = (0..n).map(|i| self.row.grad[i] * self.piece.slopes.at(i, 2 * n + 1)).sum();
        let mut slope = vec![0.0; columns];
        self.row.slope(&self.at.q, &self.at.t, &mut slope);
        let factor = -1.0 / (swept + self.row.g_t);
        Ok(slope.iter().map(|x| factor * x).collect())
    }

    /// What happens at the end of an arc: impacts, and the walls that hold from there on.
    fn events(
        &mut self,
        log: &StepLog,
        arc: usize,
        mut energy: Option<Vec<f64>>,
        wait: &mut Option<Vec<f64>>,
        into: &mut StepTangent,
    ) -> Solved<()> {
        let next = &log.arcs()[arc + 1];
        let events = &log.events()[log.arcs()[arc].events..next.events];
        let mut impacts: Vec<usize> = Vec::new();
        for event in events {
            if let EventKind::Impact(number) = event.kind {
                impacts.push(number);
            }
        }
        let mut z = self.piece.end.clone();
        while !impacts.is_empty() {
            let first = impacts[0];
            let together =
                1 + impacts[1..].iter().take_while(|&&k| log.impact(k).at_once.is_some_and(|k| k > 0)).count();
            let group = &log.impacts()[first..first + together];
            let mut seconds = Vec::new();
            for impact in group {
                seconds.push(self.second(impact.wall, &impact.minus, log.holding(arc))?);
            }
            let before = self.at.clone();
            let dlambda = self.reset(log.end.z.t, group, energy.take())?;
            for (k, (impact, second)) in group.iter().zip(seconds).enumerate() {
                into.impacts.push(ImpactTangent {
                    wall: impact.wall,
                    minus: impact.minus.clone(),
                    lambda: impact.impulse.normal(),
                    rate_minus: impact.rate_minus,
                    second_minus: second,
                    dt: before.t.clone(),
                    dlambda: dlambda.row(k).to_vec(),
                    dq: before.q.clone(),
                });
            }
            z.copy_from(&group[together - 1].plus);
            impacts.drain(..together);
        }
        for event in events {
            let (wall, begins) = match event.kind {
                EventKind::Holds(wall) => (wall, true),
                EventKind::LetsGo(wall) => (wall, false),
                EventKind::Accumulates(wall) => {
                    *wait = Some(self.wait(wall, event.t - z.t, &z)?);
                    continue;
                }
                EventKind::Impact(_) => continue,
            };
            let mut dt = self.at.t.clone();
            if begins && event.t > z.t {
                add(&mut dt, 1.0, &self.wait(wall, event.t - z.t, &z)?);
            }
            into.changes.push(ChangeTangent { wall, begins, t: event.t, dt });
        }
        let holding = log.holding(arc + 1).to_vec();
        let start = next.start.clone();
        let mut at = std::mem::replace(&mut self.at, Columns::zeros(0, 0));
        let settled = self.settle(&start, &holding, &mut at);
        self.at = at;
        settled
    }

    /// The derivatives of impacts that act at once, with the rule of the method for a single one, in a step that ends at time `end`.
    pub(super) fn reset(&mut self, end: f64, group: &[LoggedImpact], energy: Option<Vec<f64>>) -> Solved<Matrix> {
        let n = self.local.code.n;
        let impact = &group[0];
        let by_velocities = impact.at_once.is_some();
        if by_velocities || (self.local.code.is_quadratic && self.ahead.is_none()) {
            return reset(&mut self.local, group, None, &mut self.at);
        }
        let rows = self.local.rows_with(&[]);
        let mut before = match energy {
            Some(energy) => energy,
            None => {
                let velocity = self.local.velocity(&impact.minus, &rows)?;
                let (by_z, by_t, by_theta) = hamiltonian(&mut self.local, &impact.minus, &velocity)?;
                let slopes = [&by_z[..], &[by_t, 0.0], &by_theta].concat();
                along(&slopes, &self.at, &vec![0.0; self.columns()])
            }
        };
        let (after, after_t, after_theta) = if let Some(ahead) = &mut self.ahead {
            let left = end - impact.plus.t;
            ahead.follow(&mut self.local, &impact.plus, left, &rows, None, true)?;
            let (by_z, rest) = ahead.energy.split_at(2 * n);
            // What is left of the step ends with the step, t + h, and begins with the impact.
            before[2 * n..2 * n + 2].iter_mut().for_each(|x| *x -= rest[1]);
            (by_z.to_vec(), rest[0] - rest[1], rest[2..].to_vec())
        } else {
            let velocity = self.local.velocity(&impact.plus, &rows)?;
            hamiltonian(&mut self.local, &impact.plus, &velocity)?
        };
        let kept = Kept { after, after_t, after_theta, before };
        reset(&mut self.local, group, Some(kept), &mut self.at)
    }
}

/// Slopes by (q, p, t, h, θ) times the derivatives of these.
fn along(slopes: &[f64], at: &Columns, dh: &[f64]) -> Vec<f64> {
    let n = at.q.rows();
    let mut sum = vec![0.0; at.t.len()];
    (0..n).for_each(|j| add(&mut sum, slopes[j], at.q.row(j)));
    (0..n).for_each(|j| add(&mut sum, slopes[n + j], at.p.row(j)));
    add(&mut sum, slopes[2 * n], &at.t);
    add(&mut sum, slopes[2 * n + 1], dh);
    let first = sum.len() - (slopes.len() - 2 * n - 2);
    add(&mut sum[first..], 1.0, &slopes[2 * n + 2..]);
    sum
}
