//! sin and cos: see `kernel/sincos.rs`.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlagsData, Value};

use super::emit::Emitter;
use crate::expr::Func;
use crate::kernel::calls;
use crate::kernel::sincos::{Emit, LIMIT, reduced};

impl Emit for Emitter<'_, '_> {
    type Number = Value;

    fn has_fma(&self) -> bool {
        self.target.fma
    }
    fn constant(&mut self, value: f64) -> Value {
        self.constant(value)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.add(a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.sub(a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.mul(a, b)
    }
    fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        if self.target.fma {
            return self.builder.ins().fma(a, b, c);
        }
        let product = self.mul(a, b);
        self.add(product, c)
    }
    fn mul_sub(&mut self, a: Value, b: Value, c: Value) -> Value {
        let minus_c = self.builder.ins().fneg(c);
        self.builder.ins().fma(a, b, minus_c)
    }
    fn neg_mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        let minus_a = self.builder.ins().fneg(a);
        self.builder.ins().fma(minus_a, b, c)
    }
}

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
        let (shifted, [sin, cos]) = reduced(self, x);
        let n_bits = self.builder.ins().bitcast(I64, MemFlagsData::new(), shifted);
        let small = self.quadrant(n_bits, sin, cos);
        self.builder.ins().jump(done, &small.map(BlockArg::Value));

        self.enter(slow);
        let large = [Func::Sin, Func::Cos].map(|f| self.call(calls::unary(f), &[x]));
        self.builder.ins().jump(done, &large.map(BlockArg::Value));

        self.enter(done);
        results
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
}
