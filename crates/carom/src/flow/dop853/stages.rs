//! The stages of a step, in K lanes.

use super::tableau::{A, B, C, E5, LESS_B3, STAGES};
use crate::flow::vector::{Buffer, Registers, Vector, Work};
use crate::kernel::{LaneKernel, Lanes, Sum};

/// Makes steps of ÿ = a(t, q, v) in several lanes. Each lane has its own time and step, and no number crosses lanes, so that a lane
/// computes the same bits whatever its neighbours do and however many there are.
///
/// Vectors of lanes are stored one after the other: component i of lane k is at i·K + k. A state is (t, q, v, parameters).
#[derive(Clone)]
pub(crate) struct Stages {
    n: usize,
    lanes: usize,
    registers: Registers,
    /// The state of a stage, and at last that at the end.
    x: Buffer,
    /// (v, a) of all stages.
    rates: Buffer,
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
        }
    }

    /// Makes the step from `z`, where the accelerations are `a`, with the length `h` of each lane, and returns the state at its end.
    pub(crate) fn step(&mut self, field: &LaneKernel, z: &[f64], a: &[f64], h: &[f64]) -> &[f64] {
        let (n, lanes) = (self.n, self.lanes);
        let (size, state) = (n * lanes, (1 + 2 * n) * lanes);
        self.rates[..size].copy_from_slice(&z[lanes + size..state]);
        self.rates[size..2 * size].copy_from_slice(&a[..size]);
        self.x[state..].copy_from_slice(&z[state..]);
        for stage in 1..STAGES {
            let Stages { registers, x, rates, .. } = self;
            registers.run(lanes, Combine { sum: A[stage], c: C[stage], n, z, h, rates, into: x });
            let rates = &mut rates[2 * stage * size..][..2 * size];
            rates[..size].copy_from_slice(&x[lanes + size..state]);
            field.eval(x, &[], &mut rates[size..]);
        }
        let Stages { registers, x, rates, .. } = self;
        registers.run(lanes, Combine { sum: B, c: 1.0, n, z, h, rates, into: x });
        x
    }

    /// The errors of (q, v) in the last step by the formulas of order 5 and 3, without the factor h.
    pub(crate) fn errors(&self, into: &mut [f64]) {
        let Stages { n, lanes, registers, rates, .. } = self;
        let (error5, error3) = into.split_at_mut(2 * n * lanes);
        registers.run(*lanes, Weigh { sum: E5, and: &[], n: *n, rates, errors: error5 });
        registers.run(*lanes, Weigh { sum: B, and: LESS_B3, n: *n, rates, errors: error3 });
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
        let (z, into, rates) = (z.as_chunks::<K>().0, into.as_chunks_mut::<K>().0, rates.as_chunks::<K>().0);
        let h = V::load(&h.as_chunks::<K>().0[0]);
        h.mul_add(V::splat(c), V::load(&z[0])).store(&mut into[0]);
        let mut first = 0;
        while first + 4 <= 2 * n {
            let totals = weigh::<4, K, V>(sum, 2 * n, rates, first);
            for i in 0..4 {
                h.mul_add(totals[i], V::load(&z[1 + first + i])).store(&mut into[1 + first + i]);
            }
            first += 4;
        }
        if first < 2 * n {
            let totals = weigh::<2, K, V>(sum, 2 * n, rates, first);
            for i in 0..2 {
                h.mul_add(totals[i], V::load(&z[1 + first + i])).store(&mut into[1 + first + i]);
            }
        }
    }
}

/// Σ wⱼ vⱼ and Σ wⱼ aⱼ, plus those of a second sum if it is not empty.
struct Weigh<'a> {
    sum: Sum,
    and: Sum,
    n: usize,
    rates: &'a [f64],
    errors: &'a mut [f64],
}

impl Work for Weigh<'_> {
    type Outcome = ();

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(self) {
        let Weigh { sum, and, n, rates, errors } = self;
        let (rates, errors) = (rates.as_chunks::<K>().0, errors.as_chunks_mut::<K>().0);
        let mut first = 0;
        while first + 4 <= 2 * n {
            let (totals, more) =
                (weigh::<4, K, V>(sum, 2 * n, rates, first), weigh::<4, K, V>(and, 2 * n, rates, first));
            for i in 0..4 {
                let total = if and.is_empty() { totals[i] } else { totals[i].add(more[i]) };
                total.store(&mut errors[first + i]);
            }
            first += 4;
        }
        if first < 2 * n {
            let (totals, more) =
                (weigh::<2, K, V>(sum, 2 * n, rates, first), weigh::<2, K, V>(and, 2 * n, rates, first));
            for i in 0..2 {
                let total = if and.is_empty() { totals[i] } else { totals[i].add(more[i]) };
                total.store(&mut errors[first + i]);
            }
        }
    }
}

/// Σⱼ wⱼ (vⱼ, aⱼ) of the components from `first` on. They are added up together, so that a weight is read once for all of them. No
/// closures here: the compiler would not inline them with the registers of the caller.
#[inline(always)]
fn weigh<const M: usize, const K: usize, V: Vector<K>>(
    sum: Sum,
    stride: usize,
    rates: &[[f64; K]],
    first: usize,
) -> [V; M] {
    let mut totals = [V::splat(0.0); M];
    for (at, &(j, weight)) in sum.iter().enumerate() {
        let row = &rates[j * stride + first..][..M];
        let weight = V::splat(weight);
        for i in 0..M {
            let rate = V::load(&row[i]);
            totals[i] = if at == 0 { rate.mul(weight) } else { rate.mul_add(weight, totals[i]) };
        }
    }
    totals
}
