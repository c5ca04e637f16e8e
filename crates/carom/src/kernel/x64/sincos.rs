//! sin and cos: see `kernel/sincos.rs`.

use super::ir::{Arithmetic, Code, Fused, Op, Vector};
use crate::kernel::sincos::{Emit, LIMIT, reduced, reduced_briefly};

impl Emit for Code {
    type Number = Vector;

    fn has_fma(&self) -> bool {
        self.has_fma()
    }
    fn constant(&mut self, value: f64) -> Vector {
        self.constant(value)
    }
    fn add(&mut self, a: Vector, b: Vector) -> Vector {
        self.add(a, b)
    }
    fn sub(&mut self, a: Vector, b: Vector) -> Vector {
        self.sub(a, b)
    }
    fn mul(&mut self, a: Vector, b: Vector) -> Vector {
        self.mul(a, b)
    }
    fn mul_add(&mut self, a: Vector, b: Vector, c: Vector) -> Vector {
        self.mul_add(a, b, c)
    }
    fn mul_sub(&mut self, a: Vector, b: Vector, c: Vector) -> Vector {
        self.fused(Fused::MulSub, a, b, c)
    }
    fn neg_mul_add(&mut self, a: Vector, b: Vector, c: Vector) -> Vector {
        self.fused(Fused::NegMulAdd, a, b, c)
    }
}

impl Code {
    /// [sin x, cos x].
    pub(super) fn sin_cos(&mut self, x: Vector) -> [Vector; 2] {
        let (shifted, [sin, cos]) = if self.contracts { reduced_briefly(self, x) } else { reduced(self, x) };
        let [sin, cos] = self.quadrant(shifted, sin, cos);
        let (size, limit) = (self.abs(x), self.constant(LIMIT));
        let sin = self.push(Op::Repair { size, limit, x, sin, cos });
        [sin, Vector(sin.0 + 1)]
    }

    /// [sin x, cos x] from those of x − n·π/2: exchanged for odd n, with the signs of the quadrant. n is in the last bits of
    /// `shifted`.
    fn quadrant(&mut self, shifted: Vector, sin: Vector, cos: Vector) -> [Vector; 2] {
        let (odd, second) = (self.push(Op::ShiftLeft(shifted, 63)), self.push(Op::ShiftLeft(shifted, 62)));
        let differ = self.arithmetic(Arithmetic::Xor, second, odd);
        let [sin, cos] = if self.has_select() {
            [Op::Select(odd, sin, cos), Op::Select(odd, cos, sin)].map(|op| self.push(op))
        } else {
            let (mask, change) = (self.push(Op::Spread(odd)), self.arithmetic(Arithmetic::Xor, sin, cos));
            let change = self.arithmetic(Arithmetic::And, change, mask);
            [sin, cos].map(|value| self.arithmetic(Arithmetic::Xor, value, change))
        };
        let highest = self.bits(1 << 63);
        [Op::Flip(sin, second, highest), Op::Flip(cos, differ, highest)].map(|op| self.push(op))
    }
}
