//! From operations on vectors to instructions, with registers and slots of the frame.
//!
//! The code has no branches but to its ends, to repairs that change nothing else, and back to the head of one loop, where all
//! registers are empty. So the next use of each vector is known.

use super::assemble::{self, Assembler};
use super::encode::{self, Base, Memory, Opcode, Operand, Register};
use super::ir::{Arithmetic, Code, Exit, Fused, Linear, Op, Target, Vector};
use super::registers::Registers;
use super::repair;
use crate::kernel::eliminate;
use crate::kernel::newton::NewtonStatus;
use crate::kernel::scratch::MAX_FRAME;
use crate::limits::QUICK_ITERATIONS;

/// Code out of line that replaces two results: where it is entered and left, and the registers in use there.
struct Detour {
    jump: usize,
    back: usize,
    in_use: u32,
    results: [Register; 2],
    kind: Kind,
}

enum Kind {
    /// sin and cos of the number in this register
    SinCos(Register),
    Solve(Linear),
}

/// The state of the translation.
pub(super) struct Allocator<'a> {
    code: &'a Code,
    pub(super) registers: Registers<'a>,
    /// The distance between two inputs or outputs, in bytes.
    stride: i32,
    detours: Vec<Detour>,
    /// The jumps to each exit.
    exits: Vec<(usize, Exit)>,
    head: usize,
    /// The vector whose highest bits are in the mask register, with 512 bits.
    pub(super) in_mask: Option<Vector>,
}

/// Machine code.
pub(super) struct Machine {
    /// The function, which begins with its first byte.
    pub(super) bytes: Vec<u8>,
    /// The size of its frame in bytes, if that is too large for the stack; otherwise 0.
    pub(super) room: usize,
}

impl<'a> Allocator<'a> {
    /// Generates code for `lanes` lanes at once, with inputs and outputs that have `width` lanes.
    pub(super) fn run(code: &'a Code, lanes: usize, width: usize) -> Machine {
        let has_calls = code.ops.iter().any(|(_, op)| op.is_call());
        let mut allocator = Allocator {
            code,
            registers: Registers::new(code, Assembler::new(code.compiler, lanes, has_calls), width),
            stride: 8 * width as i32,
            detours: Vec::new(),
            exits: Vec::new(),
            head: 0,
            in_mask: None,
        };
        for (at, &(result, op)) in code.ops.iter().enumerate() {
            allocator.registers.begin(at as u32, op);
            allocator.op(result, op);
        }
        allocator.finish()
    }

    pub(super) fn out(&mut self) -> &mut Assembler {
        &mut self.registers.out
    }

    fn is_scalar(&self) -> bool {
        self.registers.out.lanes == 1
    }

    fn op(&mut self, result: Vector, op: Op) {
        match op {
            Op::Arithmetic(kind, a, b) => self.arithmetic(kind, result, a, b),
            Op::Fused(kind, a, b, c) => self.fused(kind, result, a, b, c),
            Op::Sqrt(a) => self.unary(result, a, Assembler::sqrt),
            Op::Spread(a) => self.unary(result, a, Assembler::spread),
            Op::ShiftLeft(a, count) => self.unary(result, a, |out, d, a| out.shift_left(d, a, count)),
            Op::Select(mask, a, b) => self.select(result, mask, a, b),
            Op::Flip(a, b, mask) => self.flip(result, a, b, mask),
            Op::Repair { size, limit, x, sin, cos } => {
                let [argument, size_register] = [x, size].map(|v| self.registers.in_register(v));
                let results = [sin, cos].map(|v| self.registers.in_register(v));
                let limit_operand = self.registers.operand(limit);
                let spare = if self.is_wide() { None } else { Some(self.registers.vacant()) };
                let jump = self.out().jump_unless_at_most(spare, size_register, limit_operand);
                self.registers.release(&[size, limit]);
                self.detour(result, jump, [sin, cos], results, Kind::SinCos(argument));
                self.registers.release(&[x]);
            }
            Op::SolveUnless { is_done, x, linear } => {
                let mask = self.registers.in_register(is_done);
                let results = x.map(|v| self.registers.in_register(v));
                let jump = self.out().jump_unless_all(mask);
                self.registers.release(&[is_done]);
                self.detour(result, jump, x, results, Kind::Solve(linear));
            }
            Op::Call(function, a, b) if self.is_scalar() => self.call(result, function, a, b),
            Op::Call(function, a, b) => self.call_for_lanes(result, function, a, b),
            Op::Store(target, a) => {
                let (base, i) = match target {
                    Target::Output(i) => (Base::Outputs, i),
                    Target::Input(i) => (Base::Inputs, i),
                };
                self.store(a, Memory { base, offset: i as i32 * self.stride });
            }
            Op::Set(variable, a) => self.store(a, self.registers.variable(variable)),
            Op::Head => {
                let counter = self.counter();
                self.out().set(counter, 0);
                self.registers.vacate_all();
                self.head = self.out().bytes.len();
            }
            Op::Require(mask, exit) => {
                let register = self.registers.in_register(mask);
                let jump = self.out().jump_unless_all(register);
                self.exits.push((jump, exit));
                self.registers.release(&[mask]);
            }
            Op::Solve(linear) => {
                self.registers.vacate_all();
                self.solve(linear);
            }
            Op::Again(mask) => self.again(mask),
        }
        (0..op.results()).for_each(|k| self.registers.release(&[Vector(result.0 + k as u32)]));
        self.forget_mask(op);
    }

    fn arithmetic(&mut self, kind: Arithmetic, result: Vector, a: Vector, b: Vector) {
        let commutes = !matches!(
            kind,
            Arithmetic::Sub | Arithmetic::Div | Arithmetic::Max | Arithmetic::AtMost | Arithmetic::Less
        );
        let (a, b) = if commutes { self.registers.memory_last(a, b) } else { (a, b) };
        let first = self.registers.in_register(a);
        let is_bits = matches!(kind, Arithmetic::And | Arithmetic::Xor);
        let second = if is_bits { self.bits(b) } else { self.registers.operand(b) };
        let d = self.registers.define(result, &[a, b]);
        let opcode = match kind {
            Arithmetic::Add => encode::ADD,
            Arithmetic::Sub => encode::SUB,
            Arithmetic::Mul => encode::MUL,
            Arithmetic::Div => encode::DIV,
            Arithmetic::Max => encode::MAX,
            Arithmetic::And => encode::AND,
            Arithmetic::Xor => encode::XOR,
            Arithmetic::AtMost => return self.out().compare(assemble::AT_MOST, d, first, second),
            Arithmetic::Less => return self.out().compare(assemble::LESS, d, first, second),
        };
        self.out().binary(opcode, d, first, second);
    }

    /// The last operand of an instruction that reads a whole vector, also if there is one lane.
    pub(super) fn bits(&mut self, v: Vector) -> Operand {
        if self.is_scalar() && !self.registers.is_constant(v) {
            return Operand::Register(self.registers.in_register(v));
        }
        self.registers.operand(v)
    }

    fn unary(&mut self, result: Vector, a: Vector, emit: impl FnOnce(&mut Assembler, Register, Register)) {
        let source = self.registers.in_register(a);
        let d = self.registers.define(result, &[a]);
        emit(self.out(), d, source);
    }

    /// ±a·b ± c overwrites one of its operands: one that is no longer needed, or a copy of c.
    fn fused(&mut self, kind: Fused, result: Vector, a: Vector, b: Vector, c: Vector) {
        let registers = &mut self.registers;
        let opcode: Opcode = match kind {
            Fused::MulAdd => encode::MUL_ADD,
            Fused::MulSub => encode::MUL_SUB,
            Fused::NegMulAdd => encode::NEG_MUL_ADD,
        };
        let (a, b) = registers.memory_last(a, b);
        let (a, b) = if registers.ends_in_register(b) { (b, a) } else { (a, b) };
        if !registers.ends_in_register(c) && registers.ends_in_register(a) && a != b && a != c {
            let (d, factor, offset) = (registers.in_register(a), registers.in_register(b), registers.operand(c));
            registers.out.binary(opcode, d, factor, offset);
            registers.release(&[b, c]);
            registers.take_over(result, a, d);
            return;
        }
        let (first, second) = (registers.in_register(a), registers.operand(b));
        if registers.ends_in_register(c) && c != a && c != b {
            let d = registers.in_register(c);
            registers.out.binary(opcode.order_231(), d, first, second);
            registers.release(&[a, b]);
            registers.take_over(result, c, d);
            return;
        }
        let d = registers.vacant();
        match registers.register_of(c) {
            Some(register) => registers.out.copy(d, register),
            None => registers.load(d, c),
        }
        registers.out.binary(opcode.order_231(), d, first, second);
        registers.release(&[a, b, c]);
        registers.bind(result, d);
    }

    fn store(&mut self, a: Vector, to: Memory) {
        let register = self.registers.in_register(a);
        self.out().store(register, to);
        self.registers.release(&[a]);
    }

    /// What the jump leads to. The results take the registers of `values`.
    fn detour(&mut self, result: Vector, jump: usize, values: [Vector; 2], results: [Register; 2], kind: Kind) {
        let back = self.out().bytes.len();
        for (k, (value, register)) in values.into_iter().zip(results).enumerate() {
            self.registers.take_over(Vector(result.0 + k as u32), value, register);
        }
        let in_use = self.registers.in_use();
        self.detours.push(Detour { jump, back, in_use, results, kind });
    }

    /// A call destroys all registers, so vectors that are still needed are stored first.
    fn call(&mut self, result: Vector, function: usize, a: Vector, b: Option<Vector>) {
        let registers = &mut self.registers;
        let (first, second) = (registers.in_register(a), b.map(|b| registers.in_register(b)));
        registers.release(&[a]);
        registers.release(b.as_slice());
        // The arguments are still in their registers.
        registers.vacate_all();
        registers.out.arguments(first, second);
        registers.out.call(function);
        registers.bind(result, 0);
    }

    fn call_for_lanes(&mut self, result: Vector, function: usize, a: Vector, b: Option<Vector>) {
        let registers = &mut self.registers;
        let mut arguments = [None; 2];
        for (argument, v) in arguments.iter_mut().zip([Some(a), b]) {
            let Some(v) = v else { continue };
            let (slot, register) = (registers.slot(), registers.in_register(v));
            registers.out.store(register, slot);
            *argument = Some(slot);
        }
        registers.release(&[a]);
        registers.release(b.as_slice());
        registers.vacate_all();
        let slot = registers.slot();
        registers.out.call_for_lanes(function, arguments, slot);
        registers.bind_to_memory(result, slot);
        arguments.into_iter().flatten().for_each(|slot| registers.end_slot(slot));
    }

    /// Solves a linear system, or leaves the function.
    fn solve(&mut self, linear: Linear) {
        let first = self.registers.variable(linear.first);
        let jump = self.out().call_solver(eliminate::address(linear.n), first, linear.bordered);
        self.exits.push((jump, Exit::Singular));
    }

    fn again(&mut self, mask: Vector) {
        let (counter, head) = (self.counter(), self.head);
        let register = self.registers.in_register(mask);
        self.out().increment(counter);
        let done = self.out().jump_if_all(register);
        let back = self.out().jump_if_below(counter, QUICK_ITERATIONS as u8);
        self.out().link(back, head);
        let unfinished = self.out().jump();
        self.exits.push((unfinished, Exit::Unfinished));
        self.out().link_here(done);
        self.registers.release(&[mask]);
    }

    /// The variable that counts iterations.
    fn counter(&self) -> Memory {
        self.registers.variable(self.code.iteration.map_or(0, |iteration| iteration.counter))
    }

    /// The code out of line. The prologue comes last, because only now the size of the frame is known.
    fn finish(mut self) -> Machine {
        let counter = self.counter();
        let count = if self.detours.is_empty() { 0 } else { self.out().registers() };
        // Save registers at positions that nothing else has used.
        let area: Vec<Memory> = (0..count).map(|_| self.registers.new_slot()).collect();
        let frame = (self.registers.frame as u32).next_multiple_of(16);
        let is_large = frame > MAX_FRAME;
        if self.code.iteration.is_some() {
            self.out().return_count(counter);
        }
        self.out().leave(is_large);
        for detour in std::mem::take(&mut self.detours) {
            self.finish_detour(detour, &area);
        }
        for exit in [Exit::Singular, Exit::Diverged, Exit::Unfinished] {
            self.finish_exit(exit, is_large);
        }
        let bytes = self.registers.out.finish(frame, is_large);
        Machine { bytes, room: if is_large { frame as usize } else { 0 } }
    }

    fn finish_detour(&mut self, detour: Detour, area: &[Memory]) {
        let Detour { jump, back, in_use, results, kind } = detour;
        let is_saved = |r: &usize| in_use & 1 << r != 0;
        self.out().link_here(jump);
        for r in (0..area.len()).filter(is_saved) {
            self.out().store(r as Register, area[r]);
        }
        self.out().keep_arguments();
        match kind {
            Kind::SinCos(x) => {
                let [sin, cos] = results.map(|r| area[r as usize]);
                let x_slot = area[x as usize];
                [(x, x_slot), (results[0], sin), (results[1], cos)]
                    .into_iter()
                    .for_each(|(register, slot)| self.out().store(register, slot));
                self.out().call_with_slots(repair::sin_cos as *const () as usize, [x_slot, sin, cos]);
                self.out().restore_arguments();
                self.out().load(results[0], sin);
                self.out().load(results[1], cos);
            }
            Kind::Solve(linear) => {
                self.solve(linear);
                self.out().restore_arguments();
                let solution = linear.first + (linear.n * linear.n) as u32;
                for (variable, result) in (solution..).zip(results) {
                    let memory = self.registers.variable(variable);
                    self.out().load(result, memory);
                }
            }
        }
        for r in (0..area.len()).filter(is_saved).filter(|&r| !results.contains(&(r as Register))) {
            self.out().load(r as Register, area[r]);
        }
        let place = self.out().jump();
        self.out().link(place, back);
    }

    fn finish_exit(&mut self, exit: Exit, is_large: bool) {
        let jumps: Vec<usize> = self.exits.iter().filter(|(_, to)| *to == exit).map(|&(jump, _)| jump).collect();
        if jumps.is_empty() {
            return;
        }
        jumps.into_iter().for_each(|jump| self.out().link_here(jump));
        let status = match exit {
            Exit::Singular => NewtonStatus::Singular as u32,
            Exit::Diverged => NewtonStatus::Diverged as u32,
            Exit::Unfinished => (QUICK_ITERATIONS as u32) << 8 | NewtonStatus::Unfinished as u32,
        };
        if let (Exit::Unfinished, Some(iteration)) = (exit, self.code.iteration) {
            for k in 0..iteration.n {
                let from = self.registers.variable(iteration.unknowns + k);
                let to = Memory { base: Base::Inputs, offset: (iteration.inputs + k) as i32 * self.stride };
                self.out().load(0, from);
                self.out().store(0, to);
            }
        }
        self.out().return_status(status);
        self.out().leave(is_large);
    }
}
