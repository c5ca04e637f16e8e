//! The error of a trial step, which walls are near, and whether it is simply accepted, in all lanes at once.

use super::group::{CHOSEN, CROSSED, FACTOR, LOWEST, SQUARE, UNTIL};
use super::quintic::bernstein_of;
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
    /// The lanes with a motion that does not aim at a wall, as bits.
    pub(super) open: u32,
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

/// Consecutive rows. Whether there are so many is looked at once.
#[inline(always)]
fn some<const K: usize>(rows: &[f64], first: usize, count: usize) -> &[[f64; K]] {
    &rows.as_chunks::<K>().0[first..][..count]
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
        let (is_good, square, factor) = self.measure::<K, V>();
        let lowest = self.look_at_walls::<K, V>();
        let crossed = self.look_at_sections::<K, V>();
        square.store(row_mut(self.verdict, SQUARE));
        factor.store(row_mut(self.verdict, FACTOR));
        lowest.store(row_mut(self.verdict, LOWEST));
        let free = V::splat(-f64::MIN_POSITIVE).less(lowest);
        let accepted = self.open & is_good & free & !crossed;
        self.accept::<K, V>(accepted, factor);
        accepted
    }
}

impl Judge<'_> {
    /// The lanes in which the error of the pair is small enough, its square, relative to the tolerance, and the factor for the next step.
    /// [Hairer, Nørsett & Wanner, II.10.17]
    ///
    /// ```text
    /// e = h |e₅|² / √(m (|e₅|² + 0.01 |e₃|²)),   m components, each relative to its scale
    /// ```
    ///
    /// The scale of a coordinate is its extent, or the way of a step with the largest kinetic energy; that of a velocity is this
    /// energy. Only squares of scales are needed, so that no root is taken.
    #[inline(always)]
    fn measure<const K: usize, V: Vector<K>>(&self) -> (u32, V, V) {
        let n = self.n;
        let (h, inverse_tolerance) = (V::load(row(self.from, self.state)), V::load(row(self.sizes, 3 * n + 2)));
        let h2 = h.mul(h);
        let way = V::load(row(self.to, 1 + 3 * n)).abs().max(V::load(row(self.sizes, 3 * n))).mul(h2);
        let (one, least, most) = (V::splat(1.0), V::splat(LEAST_SQUARE), V::splat(1.0 / LEAST_SQUARE));
        let relative = V::splat(CONTROL_FLOOR).mul(inverse_tolerance);
        let (mut sum5, mut sum3) = (V::splat(0.0), V::splat(0.0));
        let (ends, sizes) = (some::<K>(self.to, 1, n), some::<K>(self.sizes, 0, 3 * n));
        let errors = some::<K>(self.to, 1 + 2 * n + self.outputs, 4 * n);
        let (lows, highs, roots) = (&sizes[..n], &sizes[n..][..n], &sizes[2 * n..][..n]);
        let (q5s, v5s, q3s, v3s) = (&errors[..n], &errors[n..][..n], &errors[2 * n..][..n], &errors[3 * n..][..n]);
        for i in 0..n {
            let q1 = V::load(&ends[i]);
            let (low, high) = (q1.min(V::load(&lows[i])), q1.max(V::load(&highs[i])));
            let floor = relative.mul(low.abs().max(high.abs()));
            // The squares of the scales of q and h·v. One division serves both.
            let (root, extent) = (V::load(&roots[i]), high.sub(low));
            let of_v = root.mul(root).mul(way).max(floor.mul(floor)).max(least).min(most);
            let of_q = extent.mul(extent).max(of_v).min(most);
            let inverse = one.div(of_q.mul(of_v));
            let (per_q, per_v) = (of_v.mul(inverse), of_q.mul(h2).mul(inverse));
            let [q5, v5, q3, v3] = [V::load(&q5s[i]), V::load(&v5s[i]), V::load(&q3s[i]), V::load(&v3s[i])];
            sum5 = q5.mul(q5).mul_add(per_q, v5.mul(v5).mul_add(per_v, sum5));
            sum3 = q3.mul(q3).mul_add(per_q, v3.mul(v3).mul_add(per_v, sum3));
        }
        let below = V::splat((2 * n) as f64).mul(V::splat(0.01).mul_add(sum3, sum5)).max(V::splat(f64::MIN_POSITIVE));
        let above = h.mul(sum5).mul(inverse_tolerance);
        // The decision does not wait for the division.
        let is_good = above.mul(above).less(V::splat(LARGEST_SQUARE).mul(below));
        let square = above.mul(above).div(below);
        (is_good, square, factor_of(square))
    }

    /// The least Bernstein coefficient of all gaps; NaN if one is not finite.
    #[inline(always)]
    fn look_at_walls<const K: usize, V: Vector<K>>(&self) -> V {
        let h = V::load(row(self.from, self.state));
        let (slope, bend) = (V::splat(0.2).mul(h), V::splat(0.05).mul(h.mul(h)));
        let (node, node1) = (self.state + 1 + self.n + 1, 1 + 2 * self.n + self.n + 1);
        let (mut lowest, mut sum) = (V::splat(f64::INFINITY), V::splat(0.0));
        let gaps = some::<K>(self.from, node, 3 * self.walls).as_chunks::<3>().0;
        let gaps1 = some::<K>(self.to, node1, 3 * self.walls).as_chunks::<3>().0;
        for ([f0, d0, s0], [f1, d1, s1]) in gaps.iter().zip(gaps1) {
            let before = [V::load(f0), V::load(d0), V::load(s0)];
            let after = [V::load(f1), V::load(d1), V::load(s1)];
            let coefficients = bernstein_of(slope, bend, before, after);
            for i in 0..6 {
                (lowest, sum) = (lowest.min(coefficients[i]), sum.add(coefficients[i]));
            }
        }
        // The least of numbers may lose a NaN, their sum cannot.
        sum.mul_add(V::splat(0.0), lowest)
    }

    /// The lanes where a section may be crossed, as bits: the cubic with its values and rates at both ends may change its sign.
    #[inline(always)]
    fn look_at_sections<const K: usize, V: Vector<K>>(&mut self) -> u32 {
        if self.sections == 0 {
            return 0;
        }
        let third = V::load(row(self.from, self.state)).div(V::splat(3.0));
        let (first, zero) = (self.n + 1 + 3 * self.walls, V::splat(0.0));
        let mut crossed = 0;
        for section in 0..self.sections {
            let (at, at1) = (self.state + 1 + first + 2 * section, 1 + 2 * self.n + first + 2 * section);
            let (g0, d0) = (V::load(row(self.from, at)), V::load(row(self.from, at + 1)));
            let (g1, d1) = (V::load(row(self.to, at1)), V::load(row(self.to, at1 + 1)));
            let (b1, b2) = (third.mul(d0).add(g0), g1.sub(third.mul(d1)));
            let above = zero.less(g0) & zero.less(b1) & zero.less(b2) & zero.less(g1);
            let below = g0.less(zero) & b1.less(zero) & b2.less(zero) & g1.less(zero);
            crossed |= !(above | below);
        }
        V::splat(1.0).in_lanes(crossed, zero).store(row_mut(self.verdict, CROSSED));
        crossed
    }

    /// The next steps, and the times, in these lanes.
    #[inline(always)]
    fn accept<const K: usize, V: Vector<K>>(&mut self, accepted: u32, factor: V) {
        let (t0, h) = (V::load(row(self.from, 0)), V::load(row(self.from, self.state)));
        let (chosen, until) = (V::load(row(self.control, CHOSEN)), V::load(row(self.control, UNTIL)));
        h.mul(factor).in_lanes(accepted, chosen).store(row_mut(self.control, CHOSEN));
        // The last step ends exactly where the motion does.
        let (t1, rest) = (V::load(row(self.to, 0)), until.sub(t0));
        let ends = accepted & !(h.less(rest) | rest.less(h));
        until.in_lanes(ends, t1).store(row_mut(self.to, 0));
    }
}

/// Squares of scales are at least this and at most its inverse: a number that is not positive must not divide, and products stay finite.
const LEAST_SQUARE: f64 = 1e-150;

/// The largest square of an error, relative to the tolerance, with which a step is accepted.
pub(super) const LARGEST_SQUARE: f64 = EXPLICIT_ACCEPTS * EXPLICIT_ACCEPTS;

/// The factor for the next step: 0.8 (tolerance/error)^{1/8} within limits, from the square of the relative error.
#[inline(always)]
fn factor_of<const K: usize, V: Vector<K>>(square: V) -> V {
    // Beyond these the factor is at its limits. A NaN gives the least factor.
    let square = V::splat(1e30).min(V::splat(1e-30).max(square));
    let factor = V::splat(EXPLICIT_SAFETY).mul(inverse_root(square));
    let far = V::splat(EXPLICIT_FAR).less(factor);
    let most = V::splat(EXPLICIT_JUMP).in_lanes(far, V::splat(EXPLICIT_GROWTH));
    most.min(factor).max(V::splat(EXPLICIT_SHRINK))
}

/// x^{−1/16} to 0.1 %, for numbers that are not extreme: three square roots would take longer than all the rest. The exponent comes
/// from a shift of the bits, which gives y, and the digits from a series.
///
/// ```text
/// x^{−1/16} = y (1 − e)^{−1/16} ≈ y (1 + e/16 + 17/512 e² + 187/8192 e³),   e = 1 − x y¹⁶
/// ```
#[inline(always)]
fn inverse_root<const K: usize, V: Vector<K>>(x: V) -> V {
    /// The bits of 1 times 17/16, less what the straight lines between powers of two are too high.
    const BITS: u64 = 0x43EF_0000_0000_0000 - 0x0000_DC00_0000_0000;
    let mut lanes = [0.0; K];
    x.store(&mut lanes);
    for lane in &mut lanes {
        *lane = f64::from_bits(BITS.wrapping_sub(lane.to_bits() >> 4));
    }
    let y = V::load(&lanes);
    let y2 = y.mul(y);
    let y4 = y2.mul(y2);
    let y8 = y4.mul(y4);
    let e = V::splat(1.0).sub(x.mul(y8.mul(y8)));
    let series = e.mul_add(V::splat(187.0 / 8192.0), V::splat(17.0 / 512.0));
    let series = e.mul_add(e.mul_add(series, V::splat(1.0 / 16.0)), V::splat(1.0));
    y.mul(series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::vector::Plain;

    /// The result in a lane.
    fn lanes(x: f64, f: impl Fn(Plain<2>) -> Plain<2>) -> f64 {
        let mut out = [0.0; 2];
        f(Plain::splat(x)).store(&mut out);
        out[1]
    }

    #[test]
    fn roots_are_good_enough_for_the_length_of_a_step() {
        for i in -3000..3000 {
            let x = 10_f64.powf(f64::from(i) / 100.0);
            let (found, exact) = (lanes(x, inverse_root), x.powf(-1.0 / 16.0));
            assert!((found / exact - 1.0).abs() < 1e-3, "{x:e}: {found}, not {exact}");
        }
    }

    #[test]
    fn factors_have_limits() {
        assert_eq!(lanes(0.0, factor_of), EXPLICIT_JUMP);
        assert_eq!(lanes(f64::INFINITY, factor_of), EXPLICIT_SHRINK);
        assert_eq!(lanes(f64::NAN, factor_of), EXPLICIT_SHRINK);
        assert!((lanes(1.0, factor_of) - EXPLICIT_SAFETY).abs() < 2e-3);
    }
}
