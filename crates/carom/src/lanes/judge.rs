//! The error of a trial step, which walls are near, and whether it is simply accepted, in all lanes at once.

use super::group::{CHOSEN, CROSSED, FACTOR, IS_ACCEPTED, LOWEST, OPEN, SQUARE, UNTIL};
use super::quintic::bernstein;
use crate::flow::vector::{Vector, Work};
use crate::limits::{
    CONTROL_FLOOR, EXPLICIT_ACCEPTS, EXPLICIT_FAR, EXPLICIT_GROWTH, EXPLICIT_JUMP, EXPLICIT_SAFETY, EXPLICIT_SHRINK,
};

/// The rows, as [`super::Group`] has them.
pub(super) struct Judge<'a> {
    pub(super) n: usize,
    /// The number of rows of a state.
    pub(super) state: usize,
    pub(super) walls: usize,
    pub(super) sections: usize,
    pub(super) outputs: usize,
    pub(super) from: &'a [f64],
    pub(super) to: &'a mut [f64],
    pub(super) sizes: &'a [f64],
    pub(super) control: &'a mut [f64],
    pub(super) verdict: &'a mut [f64],
}

/// One row.
#[inline(always)]
fn row<const K: usize>(rows: &[f64], i: usize) -> &[f64; K] {
    &rows.as_chunks::<K>().0[i]
}

#[inline(always)]
fn row_mut<const K: usize>(rows: &mut [f64], i: usize) -> &mut [f64; K] {
    &mut rows.as_chunks_mut::<K>().0[i]
}

impl Work for Judge<'_> {
    /// The lanes in which the step is simply accepted, as bits.
    type Outcome = u32;

    #[inline(always)]
    fn run<const K: usize, V: Vector<K>>(mut self) -> u32 {
        self.measure::<K, V>();
        self.look_at_walls::<K>();
        self.look_at_sections::<K>();
        self.accept::<K, V>()
    }
}

impl Judge<'_> {
    /// The square of the error of the pair, relative to the tolerance, and the factor for the next step.
    /// [Hairer, Nørsett & Wanner, II.10.17]
    ///
    /// ```text
    /// e = h |e₅|² / √(m (|e₅|² + 0.01 |e₃|²)),   m components, each relative to its scale
    /// ```
    ///
    /// The scale of a coordinate is its extent, or the way of a step with the largest kinetic energy; that of a velocity is this
    /// energy.
    #[inline(always)]
    fn measure<const K: usize, V: Vector<K>>(&mut self) {
        let n = self.n;
        let (h, inverse_tolerance) = (V::load(row(self.from, self.state)), V::load(row(self.sizes, 3 * n + 2)));
        let speed = V::load(row(self.to, 1 + 3 * n)).abs().max(V::load(row(self.sizes, 3 * n))).sqrt();
        let (one, least, most) = (V::splat(1.0), V::splat(LEAST_SCALE), V::splat(1.0 / LEAST_SCALE));
        let relative = V::splat(CONTROL_FLOOR).mul(inverse_tolerance);
        let (mut sum5, mut sum3) = (V::splat(0.0), V::splat(0.0));
        let errors = 1 + 2 * n + self.outputs;
        for i in 0..n {
            let q1 = V::load(row(self.to, 1 + i));
            let (low, high) = (q1.min(V::load(row(self.sizes, i))), q1.max(V::load(row(self.sizes, n + i))));
            let floor = relative.mul(low.abs().max(high.abs()));
            // The scales of q and h·v. One division serves both.
            let of_v = h.mul(speed.mul(V::load(row(self.sizes, 2 * n + i)))).max(floor).max(least).min(most);
            let of_q = high.sub(low).max(of_v).min(most);
            let inverse = one.div(of_q.mul(of_v));
            let (per_q, per_v) = (of_v.mul(inverse), of_q.mul(inverse).mul(h));
            let [q5, v5, q3, v3] = [
                V::load(row(self.to, errors + i)).mul(per_q),
                V::load(row(self.to, errors + n + i)).mul(per_v),
                V::load(row(self.to, errors + 2 * n + i)).mul(per_q),
                V::load(row(self.to, errors + 3 * n + i)).mul(per_v),
            ];
            sum5 = q5.mul_add(q5, v5.mul_add(v5, sum5));
            sum3 = q3.mul_add(q3, v3.mul_add(v3, sum3));
        }
        let below = V::splat((2 * n) as f64).mul(V::splat(0.01).mul_add(sum3, sum5)).max(V::splat(f64::MIN_POSITIVE));
        let above = h.mul(sum5).mul(inverse_tolerance);
        let (mut square, mut factor) = ([0.0; K], [0.0; K]);
        above.mul(above).div(below).store(&mut square);
        for k in 0..K {
            factor[k] = factor_of(square[k]);
        }
        *row_mut(self.verdict, SQUARE) = square;
        *row_mut(self.verdict, FACTOR) = factor;
    }

    #[inline(always)]
    fn look_at_walls<const K: usize>(&mut self) {
        let h = row::<K>(self.from, self.state);
        let (node, node1) = (self.state + 1 + self.n + 1, 1 + 2 * self.n + self.n + 1);
        let mut lowest = [f64::INFINITY; K];
        for wall in 0..self.walls {
            let (at, at1) = (node + 3 * wall, node1 + 3 * wall);
            let [f0, d0, s0] = [row::<K>(self.from, at), row(self.from, at + 1), row(self.from, at + 2)];
            let [f1, d1, s1] = [row::<K>(self.to, at1), row(self.to, at1 + 1), row(self.to, at1 + 2)];
            for k in 0..K {
                let b = bernstein(h[k], [f0[k], d0[k], s0[k]], [f1[k], d1[k], s1[k]]);
                let (mut least, mut sum) = (lowest[k], 0.0);
                for b in b {
                    least = if b < least { b } else { least };
                    // A sum, in which no NaN gets lost.
                    sum += 0.0 * b;
                }
                lowest[k] = least + sum;
            }
        }
        *row_mut(self.verdict, LOWEST) = lowest;
    }

    /// A section is crossed if the cubic with its values and rates at both ends may change its sign.
    #[inline(always)]
    fn look_at_sections<const K: usize>(&mut self) {
        let h = row::<K>(self.from, self.state);
        let first = self.n + 1 + 3 * self.walls;
        let mut crossed = [0.0; K];
        for section in 0..self.sections {
            let (at, at1) = (self.state + 1 + first + 2 * section, 1 + 2 * self.n + first + 2 * section);
            let (g0, d0) = (row::<K>(self.from, at), row::<K>(self.from, at + 1));
            let (g1, d1) = (row::<K>(self.to, at1), row::<K>(self.to, at1 + 1));
            for k in 0..K {
                let third = h[k] / 3.0;
                let (g0, g1) = (g0[k], g1[k]);
                let (b1, b2) = (g0 + third * d0[k], g1 - third * d1[k]);
                let same =
                    (g0 > 0.0 && b1 > 0.0 && b2 > 0.0 && g1 > 0.0) || (g0 < 0.0 && b1 < 0.0 && b2 < 0.0 && g1 < 0.0);
                crossed[k] = if same { crossed[k] } else { 1.0 };
            }
        }
        *row_mut(self.verdict, CROSSED) = crossed;
    }

    /// Accepts the steps whose errors are small, and which meet nothing and aim at nothing.
    #[inline(always)]
    fn accept<const K: usize, V: Vector<K>>(&mut self) -> u32 {
        let (t0, h) = (row::<K>(self.from, 0), row::<K>(self.from, self.state));
        let square = row::<K>(self.verdict, SQUARE);
        let (lowest, crossed) = (row::<K>(self.verdict, LOWEST), row::<K>(self.verdict, CROSSED));
        let open = row::<K>(self.control, OPEN);
        let mut is_accepted = [0.0; K];
        for k in 0..K {
            let is_plain = (square[k] <= LARGEST_SQUARE) & (crossed[k] == 0.0) & (lowest[k] >= 0.0) & (open[k] != 0.0);
            is_accepted[k] = if is_plain { 1.0 } else { 0.0 };
        }
        let (accepted, t0, h) = (V::load(&is_accepted), V::load(t0), V::load(h));
        let factor = V::load(row(self.verdict, FACTOR));
        let (chosen, until) = (V::load(row(self.control, CHOSEN)), V::load(row(self.control, UNTIL)));
        let t1 = V::load(row(self.to, 0));
        h.mul(factor).where_set(accepted, chosen).store(row_mut(self.control, CHOSEN));
        // The last step ends exactly where the motion does.
        let short = h.sub(until.sub(t0));
        t1.where_set(short, until).where_set(accepted, t1).store(row_mut(self.to, 0));
        accepted.store(row_mut(self.verdict, IS_ACCEPTED));
        V::splat(0.0).less(accepted)
    }
}

/// Scales are at least this and at most its inverse: a number that is not positive must not divide, and products stay finite.
const LEAST_SCALE: f64 = 1e-150;

/// The largest square of an error, relative to the tolerance, with which a step is accepted.
pub(super) const LARGEST_SQUARE: f64 = EXPLICIT_ACCEPTS * EXPLICIT_ACCEPTS;

/// The factor for the next step: 0.8 (tolerance/error)^{1/8} within limits, from the square of the relative error.
#[inline(always)]
fn factor_of(square: f64) -> f64 {
    // Beyond these the factor is at its limits. A NaN passes.
    let square = if square < 1e-30 { 1e-30 } else { square };
    let square = if square > 1e30 { 1e30 } else { square };
    let factor = EXPLICIT_SAFETY * inverse_root(square);
    let most = if factor > EXPLICIT_FAR { EXPLICIT_JUMP } else { EXPLICIT_GROWTH };
    let factor = if factor > most { most } else { factor };
    // Also if it is NaN.
    if factor >= EXPLICIT_SHRINK { factor } else { EXPLICIT_SHRINK }
}

/// x^{−1/16} to 0.2 %, for numbers that are not extreme: three square roots would take longer than all the rest. The exponent comes
/// from a shift of the bits, the digits from two steps of Newton's method.
#[inline(always)]
fn inverse_root(x: f64) -> f64 {
    /// The bits of 1 times 17/16, less what the straight lines between powers of two are too high.
    const BITS: u64 = 0x43EF_0000_0000_0000 - 0x0001_0000_0000_0000;
    let mut y = f64::from_bits(BITS.wrapping_sub(x.to_bits() >> 4));
    for _ in 0..2 {
        let y2 = y * y;
        let y4 = y2 * y2;
        let y8 = y4 * y4;
        y *= 1.0625 - 0.0625 * x * (y8 * y8);
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_good_enough_for_the_length_of_a_step() {
        for i in -3000..3000 {
            let x = 10_f64.powf(f64::from(i) / 100.0);
            let (found, exact) = (inverse_root(x), x.powf(-1.0 / 16.0));
            assert!((found / exact - 1.0).abs() < 2e-3, "{x:e}: {found}, not {exact}");
        }
    }

    #[test]
    fn factors_have_limits() {
        assert_eq!(factor_of(0.0), EXPLICIT_JUMP);
        assert_eq!(factor_of(f64::INFINITY), EXPLICIT_SHRINK);
        assert_eq!(factor_of(f64::NAN), EXPLICIT_SHRINK);
        assert!((factor_of(1.0) - EXPLICIT_SAFETY).abs() < 2e-3);
    }
}
