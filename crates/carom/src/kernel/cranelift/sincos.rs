//! sin and cos in a few dozen instructions: see `kernel/sincos.rs`.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value};

use super::emit::Emitter;
use crate::expr::Func;
use crate::kernel::calls;
use crate::kernel::sincos::{COS, LIMIT, PI_2, PI_2_SHORT, ROUNDER, SIN};

impl Emitter<'_, '_> {
    /// [sin x, cos x]. Ends the current block and begins a new one.
    pub(super) fn sin_cos(&mut self, x: Value) -> [Value; 2] {
        let [fast, slow, done] = [(); 3].map(|()| self.builder.create_block());
        self.builder.set_cold_block(slow);
        let results = [(); 2].map(|()| self.builder.append_block_param(done, F64));

        let (size, limit) = (self.builder.ins().fabs(x), self.constant(LIMIT));
        let is_small = self.builder.ins().fcmp(FloatCC::LessThanOrEqual, size, limit);
        self.builder.ins().brif(is_small, fast, &[], slow, &[]);

        self.enter(fast);
        let (n_bits, r, d) = self.reduce(x);
        let (sin, cos) = (self.sin_kernel(r, d), self.cos_kernel(r, d));
        let small = self.quadrant(n_bits, sin, cos);
        self.builder.ins().jump(done, &small.map(BlockArg::Value));

        self.enter(slow);
        let large = [Func::Sin, Func::Cos].map(|f| self.call(calls::unary(f), &[x]));
        self.builder.ins().jump(done, &large.map(BlockArg::Value));

        self.enter(done);
        results
    }

    /// x = n·π/2 + r − d; n is an integer of which only the last bits matter.
    fn reduce(&mut self, x: Value) -> (Value, Value, Value) {
        let (two_over_pi, rounder) = (self.constant(std::f64::consts::FRAC_2_PI), self.constant(ROUNDER));
        let shifted = self.mul_add(x, two_over_pi, rounder);
        let n = self.sub(shifted, rounder);
        let n_bits = self.builder.ins().bitcast(I64, MemFlagsData::new(), shifted);
        let (r, d) = if self.target.fma { self.reduce_fused(x, n) } else { self.reduce_by_parts(x, n) };
        (n_bits, r, d)
    }

    /// x − n·π/2, if n·p can be computed exactly.
    ///
    /// x − n·p₁ is exact: it is below 1 and a multiple of 2⁻⁵³. It is also a multiple of the last place of w = n·p₂, so two
    /// more subtractions give the error of subtracting w, even if x − n·π/2 nearly cancels.
    fn reduce_fused(&mut self, x: Value, n: Value) -> (Value, Value) {
        let [p1, p2, p3] = PI_2.map(|p| self.constant(p));
        let minus_n = self.builder.ins().fneg(n);
        let head = self.builder.ins().fma(minus_n, p1, x);
        let w = self.mul(n, p2);
        let w_low = {
            let minus_w = self.builder.ins().fneg(w);
            self.builder.ins().fma(n, p2, minus_w)
        };
        let r = self.sub(head, w);
        let change = self.sub(r, head);
        let error = self.add(change, w);
        let rest = self.builder.ins().fma(n, p3, w_low);
        (r, self.add(error, rest))
    }

    /// Like `reduce_fused`, with products that are exact because their factors are short.
    fn reduce_by_parts(&mut self, x: Value, n: Value) -> (Value, Value) {
        let [p1, p2, p3, tail] = PI_2_SHORT.map(|p| self.constant(p));
        let w = self.mul(n, p1);
        let head = self.sub(x, w);
        let (middle, error) = self.sub_exact(head, n, p2);
        let (r, error2) = self.sub_exact(middle, n, p3);
        let (error, rest) = (self.add(error, error2), self.mul(n, tail));
        (r, self.add(error, rest))
    }

    /// a − n·p, and the amount by which it is too large.
    fn sub_exact(&mut self, a: Value, n: Value, p: Value) -> (Value, Value) {
        let w = self.mul(n, p);
        let r = self.sub(a, w);
        let change = self.sub(r, a);
        (r, self.add(change, w))
    }

    /// sin(r − d) = r − (d + v·(s₁ + z·poly)), z = r², v = r³. This omits d·z/2, which is less than 0.2 ulp. The signs are
    /// chosen so that sin(−0) = −0.
    fn sin_kernel(&mut self, r: Value, d: Value) -> Value {
        let [s1, s2, s3, s4, s5, s6] = SIN.map(|s| self.constant(s));
        let z = self.mul(r, r);
        let (v, z2) = (self.mul(z, r), self.mul(z, z));
        let (low, high) = (self.mul_add(z, s3, s2), self.mul_add(z, s5, s4));
        let high = self.mul_add(z2, s6, high);
        let poly = self.mul_add(z2, high, low);
        let poly = self.mul_add(z, poly, s1);
        let rest = self.mul_add(v, poly, d);
        self.sub(r, rest)
    }

    /// cos(r − d) = w + (((1 − w) − z/2) + (z²·poly + r·d)), w = 1 − z/2, z = r².
    fn cos_kernel(&mut self, r: Value, d: Value) -> Value {
        let [c1, c2, c3, c4, c5, c6] = COS.map(|c| self.constant(c));
        let z = self.mul(r, r);
        let z2 = self.mul(z, z);
        let (low, middle, high) = (self.mul_add(z, c2, c1), self.mul_add(z, c4, c3), self.mul_add(z, c6, c5));
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

    /// [sin x, cos x] from those of x − n·π/2: exchanged for odd n, with the signs of the quadrant. Uses bit operations,
    /// because a branch would be mispredicted.
    fn quadrant(&mut self, n: Value, sin: Value, cos: Value) -> [Value; 2] {
        let ins = |e: &mut Self, bits: Value| e.builder.ins().bitcast(F64, MemFlagsData::new(), bits);
        let low_on_top = self.builder.ins().ishl_imm_u(n, 63);
        let odd = self.builder.ins().sshr_imm_u(low_on_top, 63);
        let odd = ins(self, odd);
        let second_on_top = self.builder.ins().ishl_imm_u(n, 62);
        let cos_sign = self.builder.ins().bxor(second_on_top, low_on_top);
        let [sin_sign, cos_sign] = [second_on_top, cos_sign].map(|bits| {
            let sign = self.builder.ins().iconst(I64, i64::MIN);
            let sign = self.builder.ins().band(bits, sign);
            ins(self, sign)
        });
        let differ = self.builder.ins().bxor(sin, cos);
        let exchange = self.builder.ins().band(differ, odd);
        [(sin, sin_sign), (cos, cos_sign)].map(|(value, sign)| {
            let value = self.builder.ins().bxor(value, exchange);
            self.builder.ins().bxor(value, sign)
        })
    }

    /// a·b + c, fused if that is one instruction.
    fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        if self.target.fma {
            return self.builder.ins().fma(a, b, c);
        }
        let product = self.mul(a, b);
        self.add(product, c)
    }
}
