//! The stages of a step, in K lanes.

use super::tableau::{A, B, C, E3, E5, STAGES, Sum};
use crate::flow::vector::{Buffer, Registers, Vector, Work};
use crate::kernel::{LaneKernel, Lanes};

/// Makes steps of ÿ = a(t, q, v) in several lanes. Each lane has its own time and step, and no number crosses lanes, so that a lane
/// computes the same bits whatever its neighbours do and however many there are.
///
/// Vectors of lanes are stored one after the other: component i of lane k is at i·K + k. A state is (t, q, v, parameters).
#[derive(Clone)]
pub(crate) struct Stages {
    n: usize,
    lanes: usize,
    registers: Registers,
    /// The state of a stage.
    x: Buffer,
    /// v at all stages, then a at all stages.
    rates: Buffer,
    /// The two error estimates of (q, v), without the factor h.
    pub(crate) errors: [Buffer; 2],
}

impl Stages {
    pub(crate) fn new(n: usize, parameters: usize, lanes: Lanes) -> Stages {
        let lanes = lanes.count();
        Stages {
            n,
            lanes,
            registers: Registers::detect(),
            x: Buffer::zeros((1 + 2 * n + parameters) * lanes),
            rates: Buffer::zeros(2 * STAGES * n * lanes),
            errors: [Buffer::zeros(2 * n * lanes), Buffer::zeros(2 * n * lanes)],
        }
    }

    /// Makes the step from `z`, where the accelerations are `a`, with the length `h` of each lane: writes (t, q, v) to `z1`.
    pub(crate) fn step(&mut self, field: &LaneKernel, z: &[f64], a: &[f64], h: &[f64], z1: &mut [f64]) {
        let (n, lanes) = (self.n, self.lanes);
        let (size, state) = (n * lanes, (1 + 2 * n) * lanes);
        let (velocities, rates) = (0, STAGES * size);
        self.rates[velocities..][..size].copy_from_slice(&z[lanes + size..][..size]);
        self.rates[rates..][..size].copy_from_slice(&a[..size]);
        self.x[state..].copy_from_slice(&z[state..]);
        for stage in 1..STAGES {
            self.combine(A[stage], C[stage], z, h, None);
            let (before, after) = self.rates.split_at_mut(rates + stage * size);
            before[stage * size..][..size].copy_from_slice(&self.x[lanes + size..][..size]);
            field.eval(&self.x, &[], &mut after[..size]);
        }
        self.combine(B, 1.0, z, h, Some(z1));
        let Stages { registers, rates, errors: [five, three], .. } = self;
        for (sum, errors) in [(E5, five), (E3, three)] {
            registers.run(lanes, Weigh { sum, n, rates, errors });
        }
    }

    fn combine(&mut self, sum: Sum, c: f64, z: &[f64], h: &[f64], into: Option<&mut [f64]>) {
        let Stages { n, lanes, registers, x, rates, .. } = self;
        let into = into.unwrap_or(x);
        registers.run(*lanes, Combine { sum, c, n: *n, z, h, rates, into });
    }
}

/// (t, q, v) + h·(c, Σ wⱼ vⱼ, Σ wⱼ aⱼ).
struct Combine<'a> {
    sum: Sum,
    c: f64,
    n: usize,
    z: &'a [f64],
    h: &'a [f64],
    rates: &'a [f64],
    into: &'a mut [f64],
}

impl Work for Combine<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Combine { sum, c, n, z, h, rates, into } = self;
        let (z, _) = z.as_chunks::<K>();
        let (into, _) = into.as_chunks_mut::<K>();
        let (rates, _) = rates.as_chunks::<K>();
        let h = V::load(&h.as_chunks::<K>().0[0]);
        h.mul_add(V::splat(c), V::load(&z[0])).store(&mut into[0]);
        for i in 0..2 * n {
            let total = weighted::<K, V>(sum, rates, first_rate(i, n), n);
            h.mul_add(total, V::load(&z[1 + i])).store(&mut into[1 + i]);
        }
    }
}

/// Σ wⱼ vⱼ and Σ wⱼ aⱼ.
struct Weigh<'a> {
    sum: Sum,
    n: usize,
    rates: &'a [f64],
    errors: &'a mut [f64],
}

impl Work for Weigh<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Weigh { sum, n, rates, errors } = self;
        let (rates, _) = rates.as_chunks::<K>();
        let (errors, _) = errors.as_chunks_mut::<K>();
        for i in 0..2 * n {
            weighted::<K, V>(sum, rates, first_rate(i, n), n).store(&mut errors[i]);
        }
    }
}

/// Where the rate of component i of (q, v) stands for the first stage.
#[inline(always)]
fn first_rate(i: usize, n: usize) -> usize {
    if i < n { i } else { STAGES * n + i - n }
}

#[inline(always)]
fn weighted<const K: usize, V: Vector<K>>(sum: Sum, rates: &[[f64; K]], first: usize, n: usize) -> V {
    let (j, weight) = sum[0];
    let mut total = V::load(&rates[first + j * n]).mul(V::splat(weight));
    for &(j, weight) in &sum[1..] {
        total = V::load(&rates[first + j * n]).mul_add(V::splat(weight), total);
    }
    total
}
