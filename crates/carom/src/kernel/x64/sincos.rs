//! sin and cos in a few dozen operations.

use super::ir::{Arithmetic, Code, Fused, Op, Vector};
use crate::kernel::sincos::{COS, LIMIT, PI_2, PI_2_SHORT, ROUNDER, SIN};

impl Code {
    /// [sin x, cos x]: see `kernel/sincos.rs`.
    pub(super) fn sin_cos(&mut self, x: Vector) -> [Vector; 2] {
        let (two_over_pi, rounder) = (self.constant(std::f64::consts::FRAC_2_PI), self.constant(ROUNDER));
        let shifted = self.mul_add(x, two_over_pi, rounder);
        let n = self.sub(shifted, rounder);
        let (r, d) = if self.has_fma() { self.reduce_fused(x, n) } else { self.reduce_by_parts(x, n) };
        let z = self.mul(r, r);
        let z2 = self.mul(z, z);
        let (sin, cos) = (self.sin_kernel(r, d, z, z2), self.cos_kernel(r, d, z, z2));
        let [sin, cos] = self.quadrant(shifted, sin, cos);

        let (size, limit) = (self.abs(x), self.constant(LIMIT));
        let is_small = self.arithmetic(Arithmetic::AtMost, size, limit);
        let sin = self.push(Op::Repair { is_small, x, sin, cos });
        [sin, Vector(sin.0 + 1)]
    }

    /// x − n·π/2 = r − d, if n·p can be computed exactly.
    ///
    /// x − n·p₁ is exact: it is below 1 and a multiple of 2⁻⁵³. It is also a multiple of the last place of w = n·p₂, so two
    /// more subtractions give the error of subtracting w, even if x − n·π/2 nearly cancels.
    fn reduce_fused(&mut self, x: Vector, n: Vector) -> (Vector, Vector) {
        let [p1, p2, p3] = PI_2.map(|p| self.constant(p));
        let head = self.fused(Fused::NegMulAdd, n, p1, x);
        let w = self.mul(n, p2);
        let w_low = self.fused(Fused::MulSub, n, p2, w);
        let r = self.sub(head, w);
        let change = self.sub(r, head);
        let error = self.add(change, w);
        let rest = self.fused(Fused::MulAdd, n, p3, w_low);
        (r, self.add(error, rest))
    }

    /// Like `reduce_fused`, with products that are exact because their factors are short.
    fn reduce_by_parts(&mut self, x: Vector, n: Vector) -> (Vector, Vector) {
        let [p1, p2, p3, tail] = PI_2_SHORT.map(|p| self.constant(p));
        let w = self.mul(n, p1);
        let head = self.sub(x, w);
        let (middle, error) = self.sub_exact(head, n, p2);
        let (r, error2) = self.sub_exact(middle, n, p3);
        let (error, rest) = (self.add(error, error2), self.mul(n, tail));
        (r, self.add(error, rest))
    }

    /// a − n·p, and the amount by which it is too large.
    fn sub_exact(&mut self, a: Vector, n: Vector, p: Vector) -> (Vector, Vector) {
        let w = self.mul(n, p);
        let r = self.sub(a, w);
        let change = self.sub(r, a);
        (r, self.add(change, w))
    }

    /// sin(r − d) = r − (d + v·(s₁ + z·poly)), z = r², v = r³. This omits d·z/2, which is less than 0.2 ulp. The signs are
    /// chosen so that sin(−0) = −0.
    fn sin_kernel(&mut self, r: Vector, d: Vector, z: Vector, z2: Vector) -> Vector {
        let [s1, s2, s3, s4, s5, s6] = SIN.map(|s| self.constant(s));
        let v = self.mul(z, r);
        let (low, high) = (self.mul_add(z, s3, s2), self.mul_add(z, s5, s4));
        let high = self.mul_add(z2, s6, high);
        let poly = self.mul_add(z2, high, low);
        let poly = self.mul_add(z, poly, s1);
        let rest = self.mul_add(v, poly, d);
        self.sub(r, rest)
    }

    /// cos(r − d) = w + (((1 − w) − z/2) + (z²·poly + r·d)), w = 1 − z/2, z = r².
    fn cos_kernel(&mut self, r: Vector, d: Vector, z: Vector, z2: Vector) -> Vector {
        let [c1, c2, c3, c4, c5, c6] = COS.map(|c| self.constant(c));
        let pairs = [(c2, c1), (c4, c3), (c6, c5)];
        let [low, middle, high] = pairs.map(|(slope, offset)| self.mul_add(z, slope, offset));
        let poly = self.mul_add(z2, high, middle);
        let poly = self.mul_add(z2, poly, low);
        let (half, one) = (self.constant(0.5), self.constant(1.0));
        let half_z = self.mul(z, half);
        let w = self.sub(one, half_z);
        let lost = self.sub(one, w);
        let lost = self.sub(lost, half_z);
        let tail = self.mul(r, d);
        let rest = self.mul_add(z2, poly, tail);
        let rest = self.add(lost, rest);
        self.add(w, rest)
    }

    /// [sin x, cos x] from those of x − n·π/2: exchanged for odd n, with the signs of the quadrant. n is in the last bits of
    /// `shifted`.
    fn quadrant(&mut self, shifted: Vector, sin: Vector, cos: Vector) -> [Vector; 2] {
        let (odd, second) = (self.push(Op::ShiftLeft(shifted, 63)), self.push(Op::ShiftLeft(shifted, 62)));
        let differ = self.arithmetic(Arithmetic::Xor, second, odd);
        let signs = [second, differ].map(|bits| self.with_bits(Arithmetic::And, bits, 1 << 63));
        let [sin, cos] = if self.has_select() {
            [Op::Select(odd, sin, cos), Op::Select(odd, cos, sin)].map(|op| self.push(op))
        } else {
            let (mask, change) = (self.push(Op::Spread(odd)), self.arithmetic(Arithmetic::Xor, sin, cos));
            let change = self.arithmetic(Arithmetic::And, change, mask);
            [sin, cos].map(|value| self.arithmetic(Arithmetic::Xor, value, change))
        };
        [self.arithmetic(Arithmetic::Xor, sin, signs[0]), self.arithmetic(Arithmetic::Xor, cos, signs[1])]
    }
}
