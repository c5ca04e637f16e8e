//! Newton's method for the accelerations at the stages of a step, on vector lanes.

use super::super::combine::product;
use super::super::vector::{Buffer, EightLanes, Registers, Vector};
use super::linear::{Linear, products};
use super::rows::{Transform, load_columns, rows, rows_mut};
use super::tables::{S, Tables};
use crate::kernel::LaneKernel;
use crate::limits::{NOTHING, ROUNDOFF};
use crate::solve::NoSolution;

/// The largest number of coordinates: the slopes grow with the square of it.
pub(super) const MOST_COORDINATES: usize = 4;
/// The largest number of corrections.
const MAX_NEWTON: usize = 12;
/// Rounds stop when the next change will be below this, relative to √tol of the correction.
const LINEAR: f64 = 0.3;
/// They also stop when it will be below this part of tol itself: what is left of a later correction is then below tol.
const LINEAR_LEAST: f64 = 0.01;
/// What is left after the last correction, relative to tol.
const LAST: f64 = 0.3;
/// Rounds contract by at least 0.64 where h² ∂a/∂q is below this: the eigenvalues of A² are at most 0.01.
const STIFF: f64 = 64.0;
/// The slopes are computed again after a correction larger than this, relative to the velocities.
const NEW_SLOPES: f64 = 0.1;

/// P₈(3).
const EXTRAPOLATED: f64 = 2.6e5;
/// The number of rounds before any is known.
const FIRST_ROUNDS: [usize; 2] = [2, 1];

/// The stages of a step with n coordinates: component i of stage k is at i·S + k.
#[derive(Clone)]
pub(super) struct Stages {
    n: usize,
    registers: Registers,
    /// t, Q, V.
    pub(super) inputs: Buffer,
    /// a(t, Q, V); φ, φ̇ of each wall; ∂a/∂q and ∂a/∂v by rows.
    pub(super) values: Buffer,
    /// The number of walls.
    walls: usize,
    /// The accelerations.
    pub(super) a: Buffer,
    /// Σ bₖaₖ and Σ bₖ(1 − cₖ)aₖ of each coordinate, once a step is solved.
    pub(super) swept: [[f64; 2]; MOST_COORDINATES],
    /// The weights of changes of the accelerations: the mean of h|D| relative to the size of each velocity.
    weights: [f64; MOST_COORDINATES],
    /// Rounds that the last correction with new slopes took, and that with old ones.
    rounds: [usize; 2],
}

/// The first accelerations of Newton's method.
pub(super) enum Guess<'a> {
    /// From the state at the start alone.
    Start,
    /// M·a of the accelerations of another step; M by columns.
    Ahead { m: &'a [f64], a: &'a [f64] },
    /// M·a of those of the last step.
    Within { m: &'a [f64] },
}

/// How far a step was from what was guessed.
pub(super) struct Corrected {
    /// The size of the first correction: the mean of h|D| relative to the sizes of the velocities.
    pub(super) first: f64,
    /// About the size that it would have in a next step of the same length.
    pub(super) next: f64,
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
    /// √(2K) of the motion.
    pub(super) speed: f64,
    /// √(M⁻¹)ᵢᵢ of each coordinate.
    pub(super) roots: &'a [f64],
    /// A correction below this, relative to the sizes, is the last.
    pub(super) root: f64,
}

impl Stages {
    pub(super) fn new(n: usize, walls: usize) -> Stages {
        Stages {
            n,
            registers: Registers::detect(),
            inputs: Buffer::zeros((1 + 2 * n) * S),
            values: Buffer::zeros((n + 2 * walls + 2 * n * n) * S),
            walls,
            a: Buffer::zeros(n * S),
            swept: [[0.0; 2]; MOST_COORDINATES],
            weights: [0.0; MOST_COORDINATES],
            rounds: FIRST_ROUNDS,
        }
    }

    /// The place of the first slope among the values.
    pub(super) fn slopes(&self) -> usize {
        self.n + 2 * self.walls
    }

    /// φ and φ̇ of each wall.
    pub(super) fn gaps(&self) -> &[[[f64; S]; 2]] {
        self.values[self.n * S..self.slopes() * S].as_chunks::<S>().0.as_chunks::<2>().0
    }

    /// Forgets how many rounds the last correction took.
    pub(super) fn forget(&mut self) {
        self.rounds = FIRST_ROUNDS;
    }

    /// to ← M·a, for each component; M by columns.
    pub(super) fn transform(&self, m: &[f64], to: &mut [f64]) {
        // Without native lanes there is no step whose accelerations were solved.
        let _ = self.registers.run_eight_native(Transform { m, from: &self.a, to });
    }

    /// The stages at the start of a step, all alike; then a = a0 + c h ȧ0, with ȧ0 from the slopes.
    pub(super) fn begin(&mut self, step: &Step) {
        let (n, slopes) = (self.n, self.slopes());
        let state = [step.t].into_iter().chain(step.q.iter().copied()).chain(step.v.iter().copied());
        self.inputs.chunks_mut(S).zip(state).for_each(|(lanes, x)| lanes.fill(x));
        step.kernel.eval(&self.inputs, step.parameters, &mut self.values);
        let value = |k: usize| self.values[k * S];
        for i in 0..n {
            let turn = |j: usize| value(slopes + i * n + j) * step.v[j] + value(slopes + n * n + i * n + j) * value(j);
            let (a0, rate) = (value(i), (0..n).map(turn).sum::<f64>());
            let lanes = self.a[i * S..].iter_mut().zip(step.tables.c.iter());
            lanes.for_each(|(a, c)| *a = a0 + c * step.h * rate);
        }
    }

    /// Solves for the accelerations: corrects the guess until a correction is small enough.
    pub(super) fn solve(&mut self, guess: Guess, step: &Step) -> Result<Corrected, NoSolution> {
        if let Guess::Start = guess {
            self.begin(step);
        }
        let solved = match self.n {
            1 => self.registers.run_eight_native(Newton::<1> { stages: self, guess, step }),
            2 => self.registers.run_eight_native(Newton::<2> { stages: self, guess, step }),
            3 => self.registers.run_eight_native(Newton::<3> { stages: self, guess, step }),
            _ => self.registers.run_eight_native(Newton::<MOST_COORDINATES> { stages: self, guess, step }),
        };
        solved.unwrap_or(Err(NoSolution::Diverged))
    }
}

/// Newton's method for N coordinates.
struct Newton<'a, 'b, const N: usize> {
    stages: &'a mut Stages,
    guess: Guess<'b>,
    step: &'a Step<'b>,
}

impl<const N: usize> EightLanes for Newton<'_, '_, N> {
    type Outcome = Result<Corrected, NoSolution>;

    #[inline(always)]
    fn run<V: Vector<S>>(mut self) -> Result<Corrected, NoSolution> {
        match self.guess {
            Guess::Start => {}
            Guess::Ahead { m, a } => self.predict::<V>(m, Some(a)),
            Guess::Within { m } => self.predict::<V>(m, None),
        }
        self.measure::<V>();
        let first = self.iterate::<V>()?;
        Ok(Corrected { first, next: self.conclude::<V>() })
    }
}

impl<const N: usize> Newton<'_, '_, N> {
    /// a ← M·from, or M·a.
    #[inline(always)]
    fn predict<V: Vector<S>>(&mut self, m: &[f64], from: Option<&[f64]>) {
        let m = load_columns::<V>(m);
        let a = rows_mut::<N>(&mut self.stages.a);
        for i in 0..N {
            let row = from.map_or(a[i], |from| rows::<N>(from)[i]);
            product(&m, &row).store(&mut a[i]);
        }
    }

    /// The sizes of the velocities: speeds σ√(M⁻¹)ᵢᵢ, where σ is that of the motion or of what the accelerations add in a step; at
    /// least the roundoff of the coordinates.
    #[inline(always)]
    fn measure<V: Vector<S>>(&mut self) {
        let Newton { stages: Stages { a, weights, .. }, step, .. } = self;
        let (a, h) = (rows::<N>(a), step.h.abs());
        let mut most = step.speed;
        for i in 0..N {
            let added = h * V::load(&a[i]).abs().sum();
            if step.roots[i] > 0.0 && added > most * S as f64 * step.roots[i] {
                most = added / (S as f64 * step.roots[i]);
            }
        }
        for i in 0..N {
            let size = most * step.roots[i] + ROUNDOFF * step.q[i].abs() / h + NOTHING;
            weights[i] = h / (size * (N * S) as f64);
        }
    }

    /// Sums the accelerations for the end of the step. Returns the error that a prediction for a step of the same length would have,
    /// from the decay of the Legendre coefficients:
    ///
    /// ```text
    /// l₈ ≈ ρ·max(l₇, ρl₆),   ρ² = max(l₇, l₆)/max(l₅, l₄)
    /// ```
    ///
    /// is the first that is missing, and grows to l₈ P₈(3) at the end of the next step. Two neighbours are taken together because
    /// those of a symmetric motion vanish in turn.
    #[inline(always)]
    fn conclude<V: Vector<S>>(&mut self) -> f64 {
        let Newton { stages: Stages { a, swept, weights, .. }, step, .. } = self;
        let functionals = load_columns::<V>(&step.tables.functionals);
        // l₄ to l₇, each the largest of all coordinates, in lanes 2 to 5.
        let mut largest = V::splat(0.0);
        for i in 0..N {
            let values = product(&functionals, &rows::<N>(a)[i]);
            largest = largest.max(values.abs().mul(V::splat(weights[i])));
            let mut lanes = [0.0; S];
            values.store(&mut lanes);
            swept[i] = [lanes[0], lanes[1]];
        }
        let mut l = [0.0; S];
        largest.store(&mut l);
        let [_, _, l4, l5, l6, l7, ..] = l;
        let (last, before) = (l6.max(l7), l4.max(l5));
        let rho = (last / before).sqrt().min(1.0);
        if last == 0.0 { 0.0 } else { EXTRAPOLATED * (N * S) as f64 * rho * l7.max(rho * l6) }
    }

    /// The slopes are those of the first evaluation, as long as the corrections are small. Slopes that are off by δ leave δ|D| of a
    /// correction D to the next, and δ is about the sum of all corrections since they were computed.
    #[inline(always)]
    fn iterate<V: Vector<S>>(&mut self) -> Result<f64, NoSolution> {
        let (mut first, mut previous, mut since) = (f64::NAN, f64::INFINITY, f64::INFINITY);
        let Some(&weights) = self.stages.weights.first_chunk::<N>() else { return Err(NoSolution::Diverged) };
        let mut equation = Linear::<V, N>::new(&self.step.tables.integrals.0, weights);
        let root = self.step.root;
        for count in 0..MAX_NEWTON {
            self.place::<V>();
            let is_new = since > NEW_SLOPES;
            let Newton { stages: Stages { inputs, values, walls, .. }, step, .. } = self;
            let walls = *walls;
            if is_new {
                since = 0.0;
                step.kernel.eval(inputs, step.parameters, values);
                if self.take_slopes::<V>(&mut equation) {
                    break;
                }
            } else {
                step.plain.eval(inputs, step.parameters, &mut values[..(N + 2 * walls) * S]);
            }
            let size = self.correct::<V>(is_new, &mut equation);
            if count == 0 {
                first = size;
            }
            since += size;
            if size * since <= LAST * root * root {
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

    /// V = v0 + h A a, Q = q0 + c h v0 + h² A² a.
    #[inline(always)]
    fn place<V: Vector<S>>(&mut self) {
        let Newton { stages: Stages { inputs, a, .. }, step, .. } = self;
        let (a, c) = (rows::<N>(a), V::load(&rows::<1>(&step.tables.c)[0]));
        let (times, states) = inputs.split_at_mut(S);
        let (to_q, to_v) = states.split_at_mut(N * S);
        let (to_q, to_v) = (rows_mut::<N>(to_q), rows_mut::<N>(to_v));
        let (h, h2, ch) = (V::splat(step.h), V::splat(step.h * step.h), c.mul(V::splat(step.h)));
        c.mul_add(h, V::splat(step.t)).store(&mut rows_mut::<1>(times)[0]);
        let [by_v, by_q] = products::<V, N>(&step.tables.integrals.0, a);
        for i in 0..N {
            let (q, v) = (V::splat(step.q[i]), V::splat(step.v[i]));
            ch.mul_add(v, by_q[i].mul(h2)).add(q).store(&mut to_q[i]);
            by_v[i].mul_add(h, v).store(&mut to_v[i]);
        }
    }

    /// Takes ∂a/∂q and ∂a/∂v into the equation. Returns true if a row of h² ∂a/∂q is so large, in the metric of the kinetic energy, that
    /// rounds hardly converge. Where the forces do not change, as in free fall, the first accelerations may be right all the same; but
    /// roundoff would then decide how long the step is.
    #[inline(always)]
    fn take_slopes<V: Vector<S>>(&self, equation: &mut Linear<V, N>) -> bool {
        let Newton { stages: Stages { values, walls, .. }, step, .. } = self;
        let (by_q, by_v) = values[(N + 2 * walls) * S..].as_chunks::<S>().0.split_at(N * N);
        let (h, h2, roots) = (V::splat(step.h), V::splat(step.h * step.h), step.roots);
        let mut stiff = false;
        for i in 0..N {
            let mut sum = V::splat(0.0);
            for j in 0..N {
                let (by_q, by_v) = (V::load(&by_q[i * N + j]).mul(h2), V::load(&by_v[i * N + j]).mul(h));
                sum = by_q.abs().mul_add(V::splat(roots[j]), sum);
                equation.set_slopes(i, j, [by_v, by_q]);
            }
            stiff |= roots[i] > 0.0 && V::splat(STIFF * roots[i]).less(sum) != 0;
        }
        stiff
    }

    /// a ← a + D. Returns the size of D; infinite if the rounds do not converge.
    #[inline(always)]
    fn correct<V: Vector<S>>(&mut self, is_new: bool, equation: &mut Linear<V, N>) -> f64 {
        let Newton { stages: Stages { values, a, rounds, .. }, step, .. } = self;
        let (values, a) = (rows::<N>(values), rows_mut::<N>(a));
        let mut residual = [V::splat(0.0); N];
        for i in 0..N {
            residual[i] = V::load(&values[i]).sub(V::load(&a[i]));
        }
        let (first, root) = (equation.begin(residual), step.root);
        let enough = f64::max(LINEAR * root * first, LINEAR_LEAST * root * root);
        let Some((d, size)) = equation.solve(first, enough, &mut rounds[usize::from(!is_new)]) else {
            return f64::INFINITY;
        };
        for i in 0..N {
            d[i].add(V::load(&a[i])).store(&mut a[i]);
        }
        size
    }
}
