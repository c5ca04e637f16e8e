//! A tape as operations on vectors, before register allocation.

use rustc_hash::FxHashMap;

use super::calls;
use crate::expr::{self, Func};
use crate::kernel::jit::sincos::{COS, LIMIT, PI_2, ROUNDER, SIN};
use crate::kernel::tape::{Instr, Reg, Tape};

/// A vector: the values of one number in all lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Vector(pub(super) u32);

impl Vector {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The origin of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The input with this index, with one value per lane.
    Lanes(u32),
    /// The input with this index, the same for all lanes.
    Shared(u32),
    /// The constant with this index.
    Constant(u32),
    /// It is computed.
    Computed,
}

/// Operations on two vectors that are one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    And,
    Xor,
    /// All bits set where a ≤ b.
    AtMost,
}

/// Fused multiply-adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fused {
    /// a·b + c
    MulAdd,
    /// a·b − c
    MulSub,
    /// c − a·b
    NegMulAdd,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Arithmetic(Arithmetic, Vector, Vector),
    Fused(Fused, Vector, Vector, Vector),
    Sqrt(Vector),
    /// Shifts the bits of each lane to the left.
    ShiftLeft(Vector, u8),
    /// Select(mask, a, b): b where the mask has its highest bit set, otherwise a.
    Select(Vector, Vector, Vector),
    /// Two results: sin and cos of `x`. They are already correct in the lanes where `is_small` has all bits set.
    Repair {
        is_small: Vector,
        x: Vector,
        sin: Vector,
        cos: Vector,
    },
    /// A function call, lane by lane.
    Call(calls::Function, Vector, Vector),
    /// No result: writes the output with this index.
    Store(u32, Vector),
}

impl Op {
    /// The vectors that it reads.
    pub(super) fn operands(self) -> impl Iterator<Item = Vector> {
        let all = match self {
            Op::Arithmetic(_, a, b) | Op::Call(_, a, b) => [Some(a), Some(b), None, None],
            Op::Fused(_, a, b, c) | Op::Select(a, b, c) => [Some(a), Some(b), Some(c), None],
            Op::Sqrt(a) | Op::ShiftLeft(a, _) | Op::Store(_, a) => [Some(a), None, None, None],
            Op::Repair { is_small, x, sin, cos } => [Some(is_small), Some(x), Some(sin), Some(cos)],
        };
        all.into_iter().flatten()
    }
}

/// The operations in order, each with its first result.
#[derive(Default)]
pub(super) struct Code {
    pub(super) ops: Vec<(Vector, Op)>,
    /// The origin of each vector.
    pub(super) origins: Vec<Origin>,
    /// The constants, by their bits.
    pub(super) constants: Vec<u64>,
    /// The vector of each constant.
    known: FxHashMap<u64, Vector>,
}

impl Code {
    /// The operations of a tape whose first `lanes` inputs have one value per lane.
    pub(super) fn new(tape: &Tape, lanes: usize) -> Code {
        let mut code = Code::default();
        let mut values: Vec<Vector> = Vec::with_capacity(tape.values());
        for i in 0..tape.inputs() {
            let origin = if i < lanes { Origin::Lanes(i as u32) } else { Origin::Shared((i - lanes) as u32) };
            values.push(code.vector(origin));
        }
        values.extend(tape.constants().iter().map(|c| code.constant(*c)));
        let mut stores: Vec<(Reg, u32)> = tape.outputs().iter().copied().zip(0..).collect();
        stores.sort_unstable();
        let mut stores = stores.into_iter().peekable();
        let mut store = |code: &mut Code, values: &[Vector]| {
            while let Some((r, output)) = stores.next_if(|(r, _)| r.index() < values.len()) {
                code.push(Op::Store(output, values[r.index()]));
            }
        };
        store(&mut code, &values);
        for (_, instr) in tape.instructions() {
            match instr {
                Instr::Unary(f, x) => values.push(code.unary(f, values[x.index()])),
                Instr::Binary(op, x, y) => values.push(code.binary(op, values[x.index()], values[y.index()])),
                Instr::SinCos(x) => values.extend(code.sin_cos(values[x.index()])),
            }
            store(&mut code, &values);
        }
        code
    }

    fn vector(&mut self, origin: Origin) -> Vector {
        self.origins.push(origin);
        Vector(self.origins.len() as u32 - 1)
    }

    fn constant(&mut self, value: f64) -> Vector {
        self.bits(value.to_bits())
    }

    fn bits(&mut self, bits: u64) -> Vector {
        if let Some(&vector) = self.known.get(&bits) {
            return vector;
        }
        self.constants.push(bits);
        let vector = self.vector(Origin::Constant(self.constants.len() as u32 - 1));
        self.known.insert(bits, vector);
        vector
    }

    fn push(&mut self, op: Op) -> Vector {
        let result = match op {
            Op::Store(..) => Vector(u32::MAX),
            _ => self.vector(Origin::Computed),
        };
        self.ops.push((result, op));
        result
    }

    fn unary(&mut self, f: Func, x: Vector) -> Vector {
        match f {
            Func::Neg => self.with_bits(Arithmetic::Xor, x, 1 << 63),
            Func::Abs => self.with_bits(Arithmetic::And, x, !(1 << 63)),
            Func::Sqrt => self.push(Op::Sqrt(x)),
            Func::Sin => self.sin_cos(x)[0],
            Func::Cos => self.sin_cos(x)[1],
            _ => self.push(Op::Call(calls::unary(f), x, x)),
        }
    }

    fn binary(&mut self, op: expr::Op, x: Vector, y: Vector) -> Vector {
        match op {
            expr::Op::Add => self.arithmetic(Arithmetic::Add, x, y),
            expr::Op::Sub => self.arithmetic(Arithmetic::Sub, x, y),
            expr::Op::Mul => self.arithmetic(Arithmetic::Mul, x, y),
            expr::Op::Div => self.arithmetic(Arithmetic::Div, x, y),
            _ => self.push(Op::Call(calls::binary(op), x, y)),
        }
    }

    fn with_bits(&mut self, op: Arithmetic, x: Vector, bits: u64) -> Vector {
        let bits = self.bits(bits);
        self.arithmetic(op, x, bits)
    }

    fn arithmetic(&mut self, op: Arithmetic, a: Vector, b: Vector) -> Vector {
        self.push(Op::Arithmetic(op, a, b))
    }

    fn mul(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Mul, a, b)
    }

    fn add(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Add, a, b)
    }

    fn sub(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Sub, a, b)
    }

    fn fused(&mut self, kind: Fused, a: Vector, b: Vector, c: Vector) -> Vector {
        self.push(Op::Fused(kind, a, b, c))
    }

    /// [sin x, cos x], with the same operations as the scalar code in `jit/sincos.rs`.
    fn sin_cos(&mut self, x: Vector) -> [Vector; 2] {
        let (two_over_pi, rounder) = (self.constant(std::f64::consts::FRAC_2_PI), self.constant(ROUNDER));
        let shifted = self.fused(Fused::MulAdd, x, two_over_pi, rounder);
        let n = self.sub(shifted, rounder);
        let (r, d) = self.reduce(x, n);
        let z = self.mul(r, r);
        let z2 = self.mul(z, z);
        let (sin, cos) = (self.sin_kernel(r, d, z, z2), self.cos_kernel(r, d, z, z2));

        let (odd, second) = (self.push(Op::ShiftLeft(shifted, 63)), self.push(Op::ShiftLeft(shifted, 62)));
        let differ = self.arithmetic(Arithmetic::Xor, second, odd);
        let signs = [second, differ].map(|bits| self.with_bits(Arithmetic::And, bits, 1 << 63));
        let (s, c) = (self.push(Op::Select(odd, sin, cos)), self.push(Op::Select(odd, cos, sin)));
        let sin = self.arithmetic(Arithmetic::Xor, s, signs[0]);
        let cos = self.arithmetic(Arithmetic::Xor, c, signs[1]);

        let size = self.with_bits(Arithmetic::And, x, !(1 << 63));
        let limit = self.constant(LIMIT);
        let is_small = self.arithmetic(Arithmetic::AtMost, size, limit);
        let sin = self.push(Op::Repair { is_small, x, sin, cos });
        [sin, self.vector(Origin::Computed)]
    }

    /// x − n·π/2 = r − d.
    fn reduce(&mut self, x: Vector, n: Vector) -> (Vector, Vector) {
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

    fn sin_kernel(&mut self, r: Vector, d: Vector, z: Vector, z2: Vector) -> Vector {
        let [s1, s2, s3, s4, s5, s6] = SIN.map(|s| self.constant(s));
        let v = self.mul(z, r);
        let (low, high) = (self.fused(Fused::MulAdd, z, s3, s2), self.fused(Fused::MulAdd, z, s5, s4));
        let high = self.fused(Fused::MulAdd, z2, s6, high);
        let poly = self.fused(Fused::MulAdd, z2, high, low);
        let poly = self.fused(Fused::MulAdd, z, poly, s1);
        let rest = self.fused(Fused::MulAdd, v, poly, d);
        self.sub(r, rest)
    }

    fn cos_kernel(&mut self, r: Vector, d: Vector, z: Vector, z2: Vector) -> Vector {
        let [c1, c2, c3, c4, c5, c6] = COS.map(|c| self.constant(c));
        let pairs = [(c2, c1), (c4, c3), (c6, c5)];
        let [low, middle, high] = pairs.map(|(slope, offset)| self.fused(Fused::MulAdd, z, slope, offset));
        let poly = self.fused(Fused::MulAdd, z2, high, middle);
        let poly = self.fused(Fused::MulAdd, z2, poly, low);
        let (half, one) = (self.constant(0.5), self.constant(1.0));
        let half_z = self.mul(z, half);
        let w = self.sub(one, half_z);
        let lost = self.sub(one, w);
        let lost = self.sub(lost, half_z);
        let tail = self.mul(r, d);
        let rest = self.fused(Fused::MulAdd, z2, poly, tail);
        let rest = self.add(lost, rest);
        self.add(w, rest)
    }
}
