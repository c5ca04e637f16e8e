//! Newton's method for the accelerations at the stages of a step, on vector lanes.

use super::super::combine::product;
use super::super::vector::{Buffer, EightLanes, Registers, Vector};
use super::tables::{S, Tables};
use crate::kernel::LaneKernel;
use crate::solve::NoSolution;

/// The largest number of coordinates: the slopes grow with the square of it.
pub(super) const MOST_COORDINATES: usize = 4;
/// The largest number of corrections.
const MAX_NEWTON: usize = 12;
/// The largest number of rounds for the linear equation of a correction.
const MAX_ROUNDS: usize = 40;
/// Rounds stop when a change is below this, relative to √tol of the correction.
const LINEAR: f64 = 3.0;
/// They also stop when a change is below this part of tol itself: what is left of a later correction is then below tol.
const LINEAR_LEAST: f64 = 0.1;
/// A change this much smaller than necessary is worth a round less.
const LESS_ROUNDS: f64 = 0.03;
/// The slopes are computed again after a correction larger than this, relative to the velocities.
const NEW_SLOPES: f64 = 0.1;

/// The number of rounds before any is known.
const FIRST_ROUNDS: [usize; 2] = [2, 1];

/// The stages of a step with n coordinates: component i of stage k is at i·S + k.
#[derive(Clone)]
pub(super) struct Stages {
    n: usize,
    registers: Registers,
    /// t, Q, V.
    pub(super) inputs: Buffer,
    /// a(t, Q, V), ∂a/∂q and ∂a/∂v by rows.
    pub(super) values: Buffer,
    /// The accelerations.
    pub(super) a: Buffer,
    /// Σ bₖaₖ and Σ bₖ(1 − cₖ)aₖ of each coordinate, once a step is solved.
    pub(super) swept: [[f64; 2]; MOST_COORDINATES],
    residual: Buffer,
    change: Buffer,
    /// Rounds that the last correction with new slopes took, and that with old ones.
    rounds: [usize; 2],
}

/// The start of a step, and how exactly it is solved.
pub(super) struct Step<'a> {
    pub(super) tables: &'a Tables,
    /// → a, ∂a/∂q, ∂a/∂v.
    pub(super) kernel: &'a LaneKernel,
    /// → a.
    pub(super) plain: &'a LaneKernel,
    pub(super) parameters: &'a [f64],
    pub(super) t: f64,
    pub(super) q: &'a [f64],
    pub(super) v: &'a [f64],
    pub(super) h: f64,
    /// The size of each velocity.
    pub(super) sizes: &'a [f64],
    /// A correction below this, relative to the sizes, is the last.
    pub(super) root: f64,
}

impl Stages {
    pub(super) fn new(n: usize) -> Stages {
        let room = || Buffer::zeros(n * S);
        Stages {
            n,
            registers: Registers::detect(),
            inputs: Buffer::zeros((1 + 2 * n) * S),
            values: Buffer::zeros((n + 2 * n * n) * S),
            a: room(),
            swept: [[0.0; 2]; MOST_COORDINATES],
            residual: room(),
            change: room(),
            rounds: FIRST_ROUNDS,
        }
    }

    /// Forgets how many rounds the last correction took.
    pub(super) fn forget(&mut self) {
        self.rounds = FIRST_ROUNDS;
    }

    /// a ← M·from, for each component; M by columns.
    pub(super) fn predict(&mut self, m: &[f64], from: &[f64]) {
        self.registers.run_eight(Predict { m, from, to: &mut self.a });
    }

    /// to ← M·a, for each component; M by columns.
    pub(super) fn transform(&self, m: &[f64], to: &mut [f64]) {
        self.registers.run_eight(Predict { m, from: &self.a, to });
    }

    /// The stages at the start of a step, all alike; then a = a0 + c h ȧ0, with ȧ0 from the slopes.
    pub(super) fn begin(&mut self, step: &Step) {
        let n = self.n;
        let state = [step.t].into_iter().chain(step.q.iter().copied()).chain(step.v.iter().copied());
        self.inputs.chunks_mut(S).zip(state).for_each(|(lanes, x)| lanes.fill(x));
        step.kernel.eval(&self.inputs, step.parameters, &mut self.values);
        let value = |k: usize| self.values[k * S];
        for i in 0..n {
            let turn = |j: usize| value(n + i * n + j) * step.v[j] + value(n + n * n + i * n + j) * value(j);
            let (a0, rate) = (value(i), (0..n).map(turn).sum::<f64>());
            let lanes = self.a[i * S..].iter_mut().zip(step.tables.c.iter());
            lanes.for_each(|(a, c)| *a = a0 + c * step.h * rate);
        }
    }

    /// Corrects the accelerations until a correction is small enough. Returns the size of the first correction: the mean of h|D|
    /// relative to the sizes of the velocities.
    pub(super) fn solve(&mut self, step: &Step) -> Result<f64, NoSolution> {
        match self.n {
            1 => self.registers.run_eight(Newton::<1> { stages: self, step }),
            2 => self.registers.run_eight(Newton::<2> { stages: self, step }),
            3 => self.registers.run_eight(Newton::<3> { stages: self, step }),
            _ => self.registers.run_eight(Newton::<MOST_COORDINATES> { stages: self, step }),
        }
    }
}

struct Predict<'a> {
    m: &'a [f64],
    from: &'a [f64],
    to: &'a mut [f64],
}

impl EightLanes for Predict<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<V: Vector<S>>(self) {
        let columns = matrix(self.m);
        let mut m = [V::splat(0.0); S];
        for j in 0..S {
            m[j] = V::load(&columns[j]);
        }
        for (from, to) in self.from.as_chunks::<S>().0.iter().zip(self.to.as_chunks_mut::<S>().0) {
            product(&m, from).store(to);
        }
    }
}

/// A matrix by columns.
#[inline(always)]
fn matrix(m: &[f64]) -> &[[f64; S]; S] {
    rows(m)
}

/// The first M rows of all lanes.
#[inline(always)]
fn rows<const M: usize>(x: &[f64]) -> &[[f64; S]; M] {
    match x.as_chunks::<S>().0.first_chunk() {
        Some(rows) => rows,
        None => unreachable!("the buffers have the size of the system"),
    }
}

/// The first M rows of all lanes, writable.
#[inline(always)]
fn rows_mut<const M: usize>(x: &mut [f64]) -> &mut [[f64; S]; M] {
    match x.as_chunks_mut::<S>().0.first_chunk_mut() {
        Some(rows) => rows,
        None => unreachable!("the buffers have the size of the system"),
    }
}

/// A·x and A²·x. The matrices do not fit into registers, so that their columns are operands in memory; each entry of x is used twice.
#[inline(always)]
fn products<V: Vector<S>>(tables: &Tables, x: &[f64; S]) -> [V; 2] {
    let (once, twice) = (matrix(&tables.once), matrix(&tables.twice));
    let x0 = V::splat(x[0]);
    let (mut by_v, mut by_q) = (V::load(&once[0]).mul(x0), V::load(&twice[0]).mul(x0));
    for j in 1..S {
        let xj = V::splat(x[j]);
        by_v = V::load(&once[j]).mul_add(xj, by_v);
        by_q = V::load(&twice[j]).mul_add(xj, by_q);
    }
    [by_v, by_q]
}

/// Newton's method for N coordinates.
struct Newton<'a, 'b, const N: usize> {
    stages: &'a mut Stages,
    step: &'a Step<'b>,
}

impl<const N: usize> EightLanes for Newton<'_, '_, N> {
    type Outcome = Result<f64, NoSolution>;

    #[inline(always)]
    fn run<V: Vector<S>>(mut self) -> Result<f64, NoSolution> {
        let first = self.iterate::<V>()?;
        self.sweep::<V>();
        Ok(first)
    }
}

impl<const N: usize> Newton<'_, '_, N> {
    /// The slopes are those of the first evaluation, as long as the corrections are small. Slopes that are off by δ leave δ|D| of a
    /// correction D to the next, and δ is about the sum of all corrections since they were computed.
    #[inline(always)]
    fn iterate<V: Vector<S>>(&mut self) -> Result<f64, NoSolution> {
        let (mut first, mut previous, mut since) = (f64::NAN, f64::INFINITY, f64::INFINITY);
        let root = self.step.root;
        for count in 0..MAX_NEWTON {
            self.place::<V>();
            let is_new = since > NEW_SLOPES;
            let Newton { stages: Stages { inputs, values, .. }, step } = self;
            if is_new {
                since = 0.0;
                step.kernel.eval(inputs, step.parameters, values);
            } else {
                step.plain.eval(inputs, step.parameters, &mut values[..N * S]);
            }
            let size = self.correct::<V>(is_new);
            if count == 0 {
                first = size;
            }
            since += size;
            if size * since <= root * root {
                return Ok(first);
            }
            // Corrections that no longer shrink are roundoff, or the method diverges.
            let stalls = size > 0.5 * previous;
            if stalls && size <= 1e3 * root && size <= 1e-6 {
                return Ok(first);
            }
            if !size.is_finite() || (stalls && is_new && count > 1) {
                break;
            }
            if stalls {
                since = f64::INFINITY;
            }
            previous = size;
        }
        Err(NoSolution::Diverged)
    }

    /// Sums the accelerations for the end of the step.
    #[inline(always)]
    fn sweep<V: Vector<S>>(&mut self) {
        let Newton { stages: Stages { a, swept, .. }, step } = self;
        let [once, twice] = &step.tables.end;
        for i in 0..N {
            let a = V::load(&rows::<N>(a)[i]);
            swept[i] = [V::load(once).mul(a).sum(), V::load(twice).mul(a).sum()];
        }
    }

    /// V = v0 + h A a, Q = q0 + c h v0 + h² A² a.
    #[inline(always)]
    fn place<V: Vector<S>>(&mut self) {
        let Newton { stages: Stages { inputs, a, .. }, step } = self;
        let (a, c) = (rows::<N>(a), V::load(&rows::<1>(&step.tables.c)[0]));
        let (times, states) = inputs.split_at_mut(S);
        let (to_q, to_v) = states.split_at_mut(N * S);
        let (to_q, to_v) = (rows_mut::<N>(to_q), rows_mut::<N>(to_v));
        let (h, h2, ch) = (V::splat(step.h), V::splat(step.h * step.h), c.mul(V::splat(step.h)));
        c.mul_add(h, V::splat(step.t)).store(&mut rows_mut::<1>(times)[0]);
        for i in 0..N {
            let (q, v) = (V::splat(step.q[i]), V::splat(step.v[i]));
            let [by_v, by_q] = products::<V>(step.tables, &a[i]);
            ch.mul_add(v, by_q.mul(h2)).add(q).store(&mut to_q[i]);
            by_v.mul_add(h, v).store(&mut to_v[i]);
        }
    }

    /// a ← a + D, where D = r + h² ∂a/∂q·(A² D) + h ∂a/∂v·(A D) is solved by repeated products. Returns the size of D; infinite
    /// if they do not converge. New slopes are not yet multiplied by h² and h.
    #[inline(always)]
    fn correct<V: Vector<S>>(&mut self, is_new: bool) -> f64 {
        let Newton { stages: Stages { values, a, residual, change, rounds, .. }, step } = self;
        let (values, slopes) = values.split_at_mut(N * S);
        let (by_q_slopes, by_v_slopes) = slopes.split_at_mut(N * N * S);
        let (by_q_slopes, by_v_slopes) = (by_q_slopes.as_chunks_mut::<S>().0, by_v_slopes.as_chunks_mut::<S>().0);
        let (values, a) = (rows::<N>(values), rows_mut::<N>(a));
        let (residual, change) = (rows_mut::<N>(residual), rows_mut::<N>(change));
        let mut weights = [0.0; N];
        for i in 0..N {
            weights[i] = step.h.abs() / (step.sizes[i] * (N * S) as f64);
            let d = V::load(&values[i]).sub(V::load(&a[i]));
            d.store(&mut residual[i]);
            d.store(&mut change[i]);
        }
        if is_new {
            let (h, h2) = (V::splat(step.h), V::splat(step.h * step.h));
            for (by_q, by_v) in by_q_slopes.iter_mut().zip(by_v_slopes.iter_mut()) {
                V::load(by_q).mul(h2).store(by_q);
                V::load(by_v).mul(h).store(by_v);
            }
        }
        let (by_q_slopes, by_v_slopes) = (by_q_slopes.as_chunks::<N>().0, by_v_slopes.as_chunks::<N>().0);
        let rounds = &mut rounds[usize::from(!is_new)];
        let (mut count, mut before) = (0, f64::INFINITY);
        loop {
            let (mut by_v, mut by_q) = ([V::splat(0.0); N], [V::splat(0.0); N]);
            for i in 0..N {
                [by_v[i], by_q[i]] = products(step.tables, &change[i]);
            }
            count += 1;
            // Most norms need not be computed: about as many rounds as the last time.
            let looks = count >= *rounds;
            let (mut moved, mut size) = (V::splat(0.0), V::splat(0.0));
            for i in 0..N {
                let mut d = V::load(&residual[i]);
                let mut other = V::splat(0.0);
                for j in 0..N {
                    d = V::load(&by_q_slopes[i][j]).mul_add(by_q[j], d);
                    other = V::load(&by_v_slopes[i][j]).mul_add(by_v[j], other);
                }
                let d = d.add(other);
                if looks {
                    let weight = V::splat(weights[i]);
                    moved = d.sub(V::load(&change[i])).abs().mul_add(weight, moved);
                    size = d.abs().mul_add(weight, size);
                }
                d.store(&mut change[i]);
            }
            if !looks {
                continue;
            }
            let (moved, size) = (moved.sum(), size.sum());
            let root = step.root;
            let enough = f64::max(LINEAR * root * size, LINEAR_LEAST * root * root);
            if moved <= enough || size <= 1e-3 * root {
                // One round less next time, if that might have been enough.
                *rounds = if moved <= LESS_ROUNDS * enough { (count - 1).max(1) } else { count };
                for i in 0..N {
                    V::load(&a[i]).add(V::load(&change[i])).store(&mut a[i]);
                }
                return size;
            }
            if moved.is_nan() || moved >= 10.0 * before || count > MAX_ROUNDS {
                return if moved.is_nan() || size.is_nan() { f64::NAN } else { f64::INFINITY };
            }
            before = moved;
        }
    }
}
