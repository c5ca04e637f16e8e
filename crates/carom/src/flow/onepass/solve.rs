//! Newton's method for the accelerations at the stages of a step, on vector lanes.

use super::super::combine::product;
use super::super::vector::{Buffer, Registers, Vector, Work};
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
        self.registers.run(S, Predict { m, from, to: &mut self.a });
    }

    /// to ← M·a, for each component; M by columns.
    pub(super) fn transform(&self, m: &[f64], to: &mut [f64]) {
        self.registers.run(S, Predict { m, from: &self.a, to });
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

    /// Computes Q and V from a.
    pub(super) fn place(&mut self, step: &Step) {
        self.registers.run(S, Place { stages: self, step });
    }

    /// Corrects the accelerations until a correction is small enough. Returns the size of the first correction: the mean of h|D|
    /// relative to the sizes of the velocities.
    ///
    /// The slopes are those of the first evaluation, as long as the corrections are small. Slopes that are off by δ leave δ|D| of a
    /// correction D to the next, and δ is about the sum of all corrections since they were computed.
    pub(super) fn solve(&mut self, step: &Step) -> Result<f64, NoSolution> {
        let (mut first, mut previous, mut since) = (f64::NAN, f64::INFINITY, f64::INFINITY);
        for count in 0..MAX_NEWTON {
            self.place(step);
            let is_new = since > NEW_SLOPES;
            if is_new {
                since = 0.0;
                step.kernel.eval(&self.inputs, step.parameters, &mut self.values);
            } else {
                step.plain.eval(&self.inputs, step.parameters, &mut self.values[..self.n * S]);
            }
            let size = match self.n {
                1 => self.registers.run(S, Correct::<1> { stages: self, step, is_new }),
                2 => self.registers.run(S, Correct::<2> { stages: self, step, is_new }),
                3 => self.registers.run(S, Correct::<3> { stages: self, step, is_new }),
                _ => self.registers.run(S, Correct::<MOST_COORDINATES> { stages: self, step, is_new }),
            };
            if count == 0 {
                first = size;
            }
            since += size;
            if size * since <= step.root * step.root {
                return Ok(first);
            }
            // Corrections that no longer shrink are roundoff, or the method diverges.
            let stalls = size > 0.5 * previous;
            if stalls && size <= 1e3 * step.root && size <= 1e-6 {
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
}

struct Predict<'a> {
    m: &'a [f64],
    from: &'a [f64],
    to: &'a mut [f64],
}

impl Work for Predict<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let m = load::<K, V>(self.m);
        for (from, to) in self.from.as_chunks::<K>().0.iter().zip(self.to.as_chunks_mut::<K>().0) {
            product(&m, from).store(to);
        }
    }
}

/// The columns of a matrix.
#[inline(always)]
fn load<const K: usize, V: Vector<K>>(m: &[f64]) -> [V; K] {
    let mut columns = [V::splat(0.0); K];
    if let Some(m) = m.as_chunks::<K>().0.first_chunk::<K>() {
        for j in 0..K {
            columns[j] = V::load(&m[j]);
        }
    }
    columns
}

/// A matrix by columns of K lanes.
#[inline(always)]
fn matrix<const K: usize>(m: &[f64]) -> &[[f64; K]; K] {
    match m.as_chunks::<K>().0.first_chunk::<K>() {
        Some(m) => m,
        None => &[[0.0; K]; K],
    }
}

/// A·x and A²·x. The matrices do not fit into registers, so that their columns are operands in memory; each entry of x is used twice.
#[inline(always)]
fn products<const K: usize, V: Vector<K>>(once: &[[f64; K]; K], twice: &[[f64; K]; K], x: &[f64; K]) -> [V; 2] {
    let x0 = V::splat(x[0]);
    let (mut by_v, mut by_q) = (V::load(&once[0]).mul(x0), V::load(&twice[0]).mul(x0));
    for j in 1..K {
        let xj = V::splat(x[j]);
        by_v = V::load(&once[j]).mul_add(xj, by_v);
        by_q = V::load(&twice[j]).mul_add(xj, by_q);
    }
    [by_v, by_q]
}

struct Place<'a, 'b> {
    stages: &'a mut Stages,
    step: &'a Step<'b>,
}

impl Work for Place<'_, '_> {
    type Outcome = ();

    /// V = v0 + h A a, Q = q0 + c h v0 + h² A² a.
    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Place { stages, step } = self;
        let n = stages.n;
        let (once, twice) = (matrix::<K>(&step.tables.once), matrix::<K>(&step.tables.twice));
        let (h, h2) = (V::splat(step.h), V::splat(step.h * step.h));
        let (rows, c) = (stages.inputs.as_chunks_mut::<K>().0, step.tables.c.as_chunks::<K>().0);
        let c = V::load(&c[0]);
        c.mul_add(h, V::splat(step.t)).store(&mut rows[0]);
        for (i, a) in stages.a.as_chunks::<K>().0.iter().enumerate().take(n) {
            let (q, v) = (step.q[i], V::splat(step.v[i]));
            let [by_v, by_q] = products::<K, V>(once, twice, a);
            let line = c.mul(h).mul_add(v, by_q.mul(h2));
            line.add(V::splat(q)).store(&mut rows[1 + i]);
            by_v.mul_add(h, v).store(&mut rows[1 + n + i]);
        }
    }
}

struct Correct<'a, 'b, const N: usize> {
    stages: &'a mut Stages,
    step: &'a Step<'b>,
    /// The slopes are new, and not yet multiplied by h² and h.
    is_new: bool,
}

impl<const N: usize> Work for Correct<'_, '_, N> {
    type Outcome = f64;

    /// a ← a + D, where D = r + h² ∂a/∂q·(A² D) + h ∂a/∂v·(A D) is solved by repeated products. Returns the size of D; infinite
    /// if they do not converge.
    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) -> f64 {
        let Correct { stages, step, is_new } = self;
        let (values, a) = (stages.values.as_chunks_mut::<K>().0, stages.a.as_chunks_mut::<K>().0);
        let (residual, change) = (stages.residual.as_chunks_mut::<K>().0, stages.change.as_chunks_mut::<K>().0);
        let (Some(a), Some(residual), Some(change)) =
            (a.first_chunk_mut::<N>(), residual.first_chunk_mut::<N>(), change.first_chunk_mut::<N>())
        else {
            return f64::NAN;
        };
        let mut weights = [V::splat(0.0); N];
        for i in 0..N {
            weights[i] = V::splat(step.h.abs() / (step.sizes[i] * (N * K) as f64));
            let d = V::load(&values[i]).sub(V::load(&a[i]));
            d.store(&mut residual[i]);
            d.store(&mut change[i]);
        }
        let (slopes, h, h2) = (&mut values[N..], V::splat(step.h), V::splat(step.h * step.h));
        if is_new {
            for k in 0..N * N {
                V::load(&slopes[k]).mul(h2).store(&mut slopes[k]);
                V::load(&slopes[N * N + k]).mul(h).store(&mut slopes[N * N + k]);
            }
        }
        let (once, twice) = (matrix::<K>(&step.tables.once), matrix::<K>(&step.tables.twice));
        let rounds = &mut stages.rounds[usize::from(!is_new)];
        let (mut count, mut before) = (0, f64::INFINITY);
        loop {
            let (mut by_v, mut by_q) = ([V::splat(0.0); N], [V::splat(0.0); N]);
            for i in 0..N {
                [by_v[i], by_q[i]] = products(once, twice, &change[i]);
            }
            count += 1;
            // Most norms need not be computed: about as many rounds as the last time.
            let looks = count >= *rounds;
            let (mut moved, mut size) = (V::splat(0.0), V::splat(0.0));
            for i in 0..N {
                let mut d = V::load(&residual[i]);
                let mut other = V::splat(0.0);
                for j in 0..N {
                    d = V::load(&slopes[i * N + j]).mul_add(by_q[j], d);
                    other = V::load(&slopes[N * N + i * N + j]).mul_add(by_v[j], other);
                }
                let d = d.add(other);
                if looks {
                    moved = d.sub(V::load(&change[i])).abs().mul_add(weights[i], moved);
                    size = d.abs().mul_add(weights[i], size);
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
