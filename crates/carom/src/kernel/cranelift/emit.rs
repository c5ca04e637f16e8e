//! Emits tapes into a function under construction.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, Block, InstBuilder, MemFlagsData, SigRef, Signature, Type, Value,
    types::{F64, I32},
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::FunctionBuilder;
use rustc_hash::FxHashMap;

use crate::expr::{Func, Op};
use crate::kernel::calls;
use crate::kernel::tape::{Instr, Reg, Tape};

/// Properties of the machine that the emitter needs.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// True if fused multiply-add is one instruction. Otherwise it is not used, because it would become a call.
    pub(super) fma: bool,
    pub(super) pointer: Type,
    pub(super) call_conv: CallConv,
}

impl Target {
    pub(super) fn of(isa: &dyn TargetIsa) -> Target {
        let has_fma = isa.isa_flags().iter().any(|flag| flag.name == "has_fma" && flag.as_bool() == Some(true));
        Target {
            fma: has_fma || cfg!(target_arch = "aarch64"),
            pointer: isa.pointer_type(),
            call_conv: isa.default_call_conv(),
        }
    }

    /// The signature of a function of `count` pointers without a result.
    pub(super) fn of_pointers(self, count: usize) -> Signature {
        let mut signature = Signature::new(self.call_conv);
        signature.params = vec![AbiParam::new(self.pointer); count];
        signature
    }

    /// The signature of a function that solves linear equations, given by their address and a mask.
    pub(super) fn of_solver(self) -> Signature {
        let mut signature = Signature::new(self.callable());
        signature.params = vec![AbiParam::new(self.pointer), AbiParam::new(I32)];
        signature.returns = vec![AbiParam::new(I32)];
        signature
    }

    /// The calling convention of the functions that compiled code calls.
    fn callable(self) -> CallConv {
        if cfg!(target_arch = "x86_64") { CallConv::SystemV } else { self.call_conv }
    }

    /// The signature of a function of `count` `f64` arguments with one result.
    fn of_floats(self, count: usize) -> Signature {
        let mut signature = Signature::new(self.callable());
        signature.params = vec![AbiParam::new(F64); count];
        signature.returns = vec![AbiParam::new(F64)];
        signature
    }
}

/// The constants of a function, in a table in memory. A memory operand is cheaper than a constant in the code, which would go
/// through an integer register.
#[derive(Default)]
pub(super) struct Pool {
    values: Vec<f64>,
    index: FxHashMap<u64, i32>,
}

impl Pool {
    /// The byte offset of a constant.
    fn offset(&mut self, value: f64) -> i32 {
        *self.index.entry(value.to_bits()).or_insert_with(|| {
            self.values.push(value);
            8 * (self.values.len() as i32 - 1)
        })
    }

    pub(super) fn into_values(self) -> Box<[f64]> {
        self.values.into()
    }
}

/// Flags for memory that is valid, aligned, and constant while the function runs.
fn fixed_memory() -> MemFlagsData {
    MemFlagsData::trusted().with_readonly().with_can_move()
}

/// The values of a tape of which only the inputs are computed so far.
pub(super) fn known(tape: &Tape, inputs: &[Value]) -> Vec<Option<Value>> {
    let mut values: Vec<Option<Value>> = inputs.iter().map(|&v| Some(v)).collect();
    values.resize(tape.values(), None);
    values
}

/// Emits tapes into a function.
pub(super) struct Emitter<'a, 'f> {
    pub(super) builder: &'a mut FunctionBuilder<'f>,
    pub(super) target: Target,
    pool: &'a mut Pool,
    /// The address of the constants.
    table: Value,
    /// The signatures of functions of one and two numbers, created on first use.
    signatures: [Option<SigRef>; 2],
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub(super) fn new(
        builder: &'a mut FunctionBuilder<'f>,
        target: Target,
        pool: &'a mut Pool,
        table: Value,
    ) -> Emitter<'a, 'f> {
        Emitter { builder, target, pool, table, signatures: [None; 2] }
    }

    /// Emits the instructions that are wanted and adds their results to the [`known`] values. If they include a sine or cosine,
    /// the current block changes.
    pub(super) fn instructions(&mut self, tape: &Tape, values: &mut [Option<Value>], wanted: impl Fn(usize) -> bool) {
        for (_, (first, instr)) in tape.instructions().enumerate().filter(|&(at, _)| wanted(at)) {
            let results = self.instruction(instr, |emitter, r| emitter.operand(tape, values, r));
            values[first.index()..][..instr.results()].copy_from_slice(&results[..instr.results()]);
        }
    }

    /// Emits an instruction and returns its one or two results; `read` provides the operands.
    pub(super) fn instruction(
        &mut self,
        instr: Instr,
        mut read: impl FnMut(&mut Self, Reg) -> Value,
    ) -> [Option<Value>; 2] {
        match instr {
            Instr::Unary(f, x) => {
                let x = read(self, x);
                [Some(self.unary(f, x)), None]
            }
            Instr::Binary(op, x, y) => {
                let [x, y] = [x, y].map(|r| read(self, r));
                [Some(self.binary(op, x, y)), None]
            }
            Instr::SinCos(x) => {
                let x = read(self, x);
                self.sin_cos(x).map(Some)
            }
        }
    }

    /// A known value, or a constant.
    pub(super) fn operand(&mut self, tape: &Tape, values: &[Option<Value>], r: Reg) -> Value {
        values[r.index()].unwrap_or_else(|| self.constant(tape.constants()[r.index() - tape.inputs()]))
    }

    fn unary(&mut self, f: Func, x: Value) -> Value {
        match f {
            Func::Neg => self.builder.ins().fneg(x),
            Func::Abs => self.builder.ins().fabs(x),
            Func::Sqrt => self.builder.ins().sqrt(x),
            Func::Sin => self.sin_cos(x)[0],
            Func::Cos => self.sin_cos(x)[1],
            _ => self.call(calls::unary(f), &[x]),
        }
    }

    fn binary(&mut self, op: Op, x: Value, y: Value) -> Value {
        match op {
            Op::Add => self.builder.ins().fadd(x, y),
            Op::Sub => self.builder.ins().fsub(x, y),
            Op::Mul => self.builder.ins().fmul(x, y),
            Op::Div => self.builder.ins().fdiv(x, y),
            Op::Pow | Op::Atan2 | Op::Min | Op::Max | Op::Where => self.call(calls::binary(op), &[x, y]),
        }
    }

    /// Calls the function of one or two numbers at this address.
    pub(super) fn call(&mut self, address: usize, arguments: &[Value]) -> Value {
        let (target, builder) = (self.target, &mut *self.builder);
        let signature = *self.signatures[arguments.len() - 1]
            .get_or_insert_with(|| builder.import_signature(target.of_floats(arguments.len())));
        let callee = builder.ins().iconst(target.pointer, address as i64);
        let call = builder.ins().call_indirect(signature, callee, arguments);
        builder.inst_results(call)[0]
    }

    pub(super) fn constant(&mut self, value: f64) -> Value {
        let offset = self.pool.offset(value);
        self.builder.ins().load(F64, MemFlagsData::trusted(), self.table, offset)
    }

    /// Loads a number from an array that does not change while the function runs.
    pub(super) fn load_fixed(&mut self, array: Value, at: usize) -> Value {
        self.builder.ins().load(F64, fixed_memory(), array, 8 * at as i32)
    }

    /// Loads a number from an array.
    pub(super) fn load(&mut self, array: Value, at: usize) -> Value {
        self.builder.ins().load(F64, MemFlagsData::trusted(), array, 8 * at as i32)
    }

    pub(super) fn store(&mut self, value: Value, array: Value, at: usize) {
        self.builder.ins().store(MemFlagsData::trusted(), value, array, 8 * at as i32);
    }

    /// Continues in this block; no more jumps to it may be added.
    pub(super) fn enter(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    pub(super) fn add(&mut self, a: Value, b: Value) -> Value {
        self.builder.ins().fadd(a, b)
    }

    pub(super) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.builder.ins().fsub(a, b)
    }

    pub(super) fn mul(&mut self, a: Value, b: Value) -> Value {
        self.builder.ins().fmul(a, b)
    }

    /// The larger of two numbers; b if one is NaN. This is one instruction, unlike a maximum that propagates NaN.
    pub(super) fn max(&mut self, a: Value, b: Value) -> Value {
        let is_a = self.builder.ins().fcmp(FloatCC::LessThan, b, a);
        self.builder.ins().select(is_a, a, b)
    }

    /// maxᵢ |xᵢ|, for one or more xᵢ.
    pub(super) fn max_norm(&mut self, x: &[Value]) -> Value {
        let sizes: Vec<Value> = x.iter().map(|&x| self.builder.ins().fabs(x)).collect();
        sizes[1..].iter().fold(sizes[0], |m, &x| self.max(m, x))
    }
}
