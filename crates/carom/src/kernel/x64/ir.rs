//! Operations on vectors, before register allocation.

use rustc_hash::FxHashMap;

use crate::kernel::{Compiler, Reg};

/// A vector: the values of one number in all lanes. A scalar kernel has one lane.
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
    /// The variable with this index.
    Variable(u32),
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
    /// The larger of a and b; b if one is NaN.
    Max,
    And,
    Xor,
    /// All bits set where a ≤ b.
    AtMost,
    /// All bits set where a < b.
    Less,
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

/// Where an output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Output(u32),
    /// Replaces an input.
    Input(u32),
}

/// A linear system in consecutive variables: n rows, then the right-hand sides, which the solution replaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Linear {
    pub(super) n: usize,
    pub(super) first: u32,
    /// A mask of the rows whose entry on the diagonal is always zero.
    pub(super) bordered: u32,
}

/// The iteration of a function that solves equations, by the indices of its variables and inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Iteration {
    /// The variable that counts iterations.
    pub(super) counter: u32,
    /// The variables of the unknowns.
    pub(super) unknowns: u32,
    /// The number of unknowns.
    pub(super) n: u32,
    /// The inputs of the unknowns.
    pub(super) inputs: u32,
}

/// The ends of a function that solves equations, other than with the solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exit {
    Singular,
    Diverged,
    Unfinished,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Arithmetic(Arithmetic, Vector, Vector),
    Fused(Fused, Vector, Vector, Vector),
    Sqrt(Vector),
    /// Shifts the bits of each lane to the left.
    ShiftLeft(Vector, u8),
    /// Copies the highest bit to all bits.
    Spread(Vector),
    /// Select(mask, a, b): b where the mask has its highest bit set, otherwise a.
    Select(Vector, Vector, Vector),
    /// Flip(a, b, mask): a with the bits changed that are set in b and in the mask.
    Flip(Vector, Vector, Vector),
    /// Two results: sin and cos of `x`. They are already correct in the lanes where `size` ≤ `limit`.
    Repair {
        size: Vector,
        limit: Vector,
        x: Vector,
        sin: Vector,
        cos: Vector,
    },
    /// A call of the function at this address, lane by lane.
    Call(usize, Vector, Option<Vector>),
    /// No result: writes an output.
    Store(Target, Vector),
    /// No result: sets a variable.
    Set(u32, Vector),
    /// No result: the head of the loop.
    Head,
    /// No result: leaves the function unless the mask has its highest bit set.
    Require(Vector, Exit),
    /// No result: solves a linear system by a call, or leaves the function.
    Solve(Linear),
    /// Two results: the solution of two equations. It is already there if the mask has its highest bit set.
    SolveUnless {
        is_done: Vector,
        x: [Vector; 2],
        linear: Linear,
    },
    /// No result: counts an iteration and goes back to the head, unless the mask has its highest bit set.
    Again(Vector),
}

impl Op {
    /// The vectors that it reads.
    pub(super) fn operands(self) -> impl Iterator<Item = Vector> {
        let all = match self {
            Op::Arithmetic(_, a, b) => [Some(a), Some(b), None, None, None],
            Op::Call(_, a, b) => [Some(a), b, None, None, None],
            Op::Fused(_, a, b, c) | Op::Select(a, b, c) | Op::Flip(a, b, c) => [Some(a), Some(b), Some(c), None, None],
            Op::Sqrt(a)
            | Op::ShiftLeft(a, _)
            | Op::Spread(a)
            | Op::Store(_, a)
            | Op::Set(_, a)
            | Op::Require(a, _)
            | Op::Again(a) => [Some(a), None, None, None, None],
            Op::Repair { size, limit, x, sin, cos } => [size, limit, x, sin, cos].map(Some),
            Op::SolveUnless { is_done, x: [x, y], .. } => [Some(is_done), Some(x), Some(y), None, None],
            Op::Head | Op::Solve(_) => [None; 5],
        };
        all.into_iter().flatten()
    }

    /// The number of results.
    pub(super) fn results(self) -> usize {
        match self {
            Op::Store(..) | Op::Set(..) | Op::Head | Op::Require(..) | Op::Solve(_) | Op::Again(_) => 0,
            Op::Repair { .. } | Op::SolveUnless { .. } => 2,
            _ => 1,
        }
    }

    /// True if it always calls a function.
    pub(super) fn is_call(self) -> bool {
        matches!(self, Op::Call(..) | Op::Solve(_))
    }
}

/// The operations in order, each with its first result.
pub(super) struct Code {
    pub(super) compiler: Compiler,
    pub(super) ops: Vec<(Vector, Op)>,
    /// The origin of each vector.
    pub(super) origins: Vec<Origin>,
    /// The constants, by their bits.
    pub(super) constants: Vec<u64>,
    /// The number of variables: numbers that are kept in memory.
    pub(super) variables: u32,
    /// The iteration, if the function solves equations; it then returns a status.
    pub(super) iteration: Option<Iteration>,
    /// True if roundoff may differ from that of the operations one by one: products are fused, sin and cos are shorter.
    pub(super) contracts: bool,
    /// The products of a tape that are fused with the sum that needs them, with their factors.
    pub(super) fusible: FxHashMap<Reg, (Reg, Reg)>,
    /// The vector of each constant.
    known: FxHashMap<u64, Vector>,
}

impl Code {
    /// No operations. Where fused multiply-add is one instruction, the code contracts if that is allowed.
    pub(super) fn empty(compiler: Compiler, may_contract: bool) -> Code {
        let (ops, origins, constants) = (Vec::new(), Vec::new(), Vec::new());
        let (fusible, known) = (FxHashMap::default(), FxHashMap::default());
        let code =
            Code { compiler, ops, origins, constants, variables: 0, iteration: None, contracts: false, fusible, known };
        Code { contracts: may_contract && code.has_fma(), ..code }
    }

    /// True if fused multiply-add is one instruction.
    pub(super) fn has_fma(&self) -> bool {
        self.compiler > Compiler::Sse2
    }

    /// True if there is an instruction that selects by a mask.
    pub(super) fn has_select(&self) -> bool {
        self.compiler > Compiler::Sse2
    }

    pub(super) fn vector(&mut self, origin: Origin) -> Vector {
        self.origins.push(origin);
        Vector(self.origins.len() as u32 - 1)
    }

    /// The first of `count` new variables.
    pub(super) fn new_variables(&mut self, count: usize) -> u32 {
        self.variables += count as u32;
        self.variables - count as u32
    }

    pub(super) fn constant(&mut self, value: f64) -> Vector {
        self.bits(value.to_bits())
    }

    pub(super) fn bits(&mut self, bits: u64) -> Vector {
        if let Some(&vector) = self.known.get(&bits) {
            return vector;
        }
        self.constants.push(bits);
        let vector = self.vector(Origin::Constant(self.constants.len() as u32 - 1));
        self.known.insert(bits, vector);
        vector
    }

    /// Adds an operation, and returns its first result.
    pub(super) fn push(&mut self, op: Op) -> Vector {
        let result = Vector(self.origins.len() as u32);
        self.origins.extend(std::iter::repeat_n(Origin::Computed, op.results()));
        self.ops.push((result, op));
        result
    }

    pub(super) fn with_bits(&mut self, op: Arithmetic, x: Vector, bits: u64) -> Vector {
        let bits = self.bits(bits);
        self.arithmetic(op, x, bits)
    }

    pub(super) fn neg(&mut self, x: Vector) -> Vector {
        self.with_bits(Arithmetic::Xor, x, 1 << 63)
    }

    pub(super) fn abs(&mut self, x: Vector) -> Vector {
        self.with_bits(Arithmetic::And, x, !(1 << 63))
    }

    pub(super) fn arithmetic(&mut self, op: Arithmetic, a: Vector, b: Vector) -> Vector {
        self.push(Op::Arithmetic(op, a, b))
    }

    pub(super) fn mul(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Mul, a, b)
    }

    pub(super) fn add(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Add, a, b)
    }

    pub(super) fn sub(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Sub, a, b)
    }

    pub(super) fn div(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Div, a, b)
    }

    pub(super) fn max(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Max, a, b)
    }

    pub(super) fn less(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::Less, a, b)
    }

    pub(super) fn both(&mut self, a: Vector, b: Vector) -> Vector {
        self.arithmetic(Arithmetic::And, a, b)
    }

    pub(super) fn fused(&mut self, kind: Fused, a: Vector, b: Vector, c: Vector) -> Vector {
        self.push(Op::Fused(kind, a, b, c))
    }

    /// a·b + c, fused if that is one instruction.
    pub(super) fn mul_add(&mut self, a: Vector, b: Vector, c: Vector) -> Vector {
        if self.has_fma() {
            return self.fused(Fused::MulAdd, a, b, c);
        }
        let product = self.mul(a, b);
        self.add(product, c)
    }
}
