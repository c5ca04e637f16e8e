//! Register allocation: from operations on vectors to instructions.
//!
//! The code has no branches, so the next use of each vector is known. A vector gets a register when it is computed or first
//! read. If none is free, the vector whose next use is farthest away is evicted. Inputs and constants already have a place in
//! memory, so they are not stored when evicted, and are often read from there directly.

use super::assemble::{self, Assembler, Base, Memory, Opcode, Operand, Register};
use super::calls;
use super::ir::{Arithmetic, Code, Fused, Op, Origin, Vector};
use crate::kernel::scratch::MAX_FRAME;

const NEVER: u32 = u32::MAX;

/// An out-of-line fallback for large arguments: where it is entered and left, and the registers of x, sin and cos.
struct Repair {
    jump: usize,
    back: usize,
    registers: [Register; 3],
}

/// The state of the allocation at one point of the code.
pub(super) struct Allocator<'a> {
    code: &'a Code,
    out: Assembler,
    /// The distance between two inputs or outputs, in bytes.
    stride: i32,
    /// For each vector, its uses, last use first; past uses are removed.
    uses: Vec<Vec<u32>>,
    register_of: Vec<Option<Register>>,
    memory_of: Vec<Option<Memory>>,
    /// For each register, its content.
    contents: Vec<Option<Vector>>,
    /// A mask of the registers of the current operation, which must not be evicted.
    pinned: u32,
    free_slots: Vec<i32>,
    /// Slots that become free after the current operation, which may still read them.
    ended_slots: Vec<i32>,
    slots: i32,
    repairs: Vec<Repair>,
}

/// The machine code, and the offset at which the function begins.
pub(super) struct Machine {
    pub(super) bytes: Vec<u8>,
    pub(super) entry: usize,
    /// The size of its frame in bytes, if that is too large for the stack; otherwise 0.
    pub(super) room: usize,
}

impl<'a> Allocator<'a> {
    /// Generates code for `lanes` lanes at once, with inputs and outputs that have `width` lanes.
    pub(super) fn run(code: &'a Code, lanes: usize, width: usize) -> Machine {
        let vectors = code.origins.len();
        let out = Assembler::new(lanes);
        let mut allocator = Allocator {
            code,
            contents: vec![None; out.registers()],
            out,
            stride: 8 * width as i32,
            uses: vec![Vec::new(); vectors],
            register_of: vec![None; vectors],
            memory_of: vec![None; vectors],
            pinned: 0,
            free_slots: Vec::new(),
            ended_slots: Vec::new(),
            slots: 0,
            repairs: Vec::new(),
        };
        allocator.prepare();
        for at in 0..code.ops.len() {
            allocator.op(at as u32);
        }
        allocator.finish()
    }

    fn prepare(&mut self) {
        for (at, (_, op)) in self.code.ops.iter().enumerate().rev() {
            op.operands().for_each(|v| self.uses[v.index()].push(at as u32));
        }
        let (stride, lanes) = (self.stride, self.out.lanes as i32);
        for (memory, origin) in self.memory_of.iter_mut().zip(&self.code.origins) {
            *memory = match *origin {
                Origin::Lanes(i) => Some(Memory { base: Base::Rbx, offset: i as i32 * stride }),
                Origin::Shared(i) => Some(Memory { base: Base::R13, offset: i as i32 * 8 }),
                Origin::Constant(i) => Some(Memory { base: Base::R14, offset: i as i32 * 8 * lanes }),
                Origin::Computed => None,
            };
        }
    }

    /// The prologue comes last, because only now the size of the frame is known.
    fn finish(mut self) -> Machine {
        self.out.leave();
        // Save registers at positions that nothing else has used.
        let registers = if self.repairs.is_empty() { 0 } else { self.out.registers() };
        let area: Vec<i32> = (0..registers).map(|_| self.new_slot()).collect();
        for Repair { jump, back, registers } in std::mem::take(&mut self.repairs) {
            let begin = self.out.bytes.len();
            self.out.link(jump, begin);
            (0..area.len()).for_each(|r| self.out.store(r as u8, frame(area[r])));
            self.out.call(calls::repair as *const () as usize, registers.map(|r| area[r as usize]));
            (0..area.len()).for_each(|r| self.out.load(r as u8, frame(area[r])));
            let place = self.out.jump();
            self.out.link(place, back);
        }
        let (entry, frame) = (self.out.bytes.len(), (self.slots * self.slot_size()) as u32);
        let is_large = frame > MAX_FRAME;
        if is_large {
            self.out.enter_elsewhere()
        } else {
            self.out.enter(frame)
        }
        let place = self.out.jump();
        self.out.link(place, 0);
        Machine { bytes: self.out.bytes, entry, room: if is_large { frame as usize } else { 0 } }
    }

    fn op(&mut self, at: u32) {
        let (result, op) = self.code.ops[at as usize];
        self.pinned = 0;
        // Remove the uses by this operation.
        for v in op.operands() {
            self.pinned |= self.register_of[v.index()].map_or(0, |register| 1 << register);
            while self.uses[v.index()].last() == Some(&at) {
                self.uses[v.index()].pop();
            }
        }
        self.free_slots.append(&mut self.ended_slots);
        match op {
            Op::Arithmetic(kind, a, b) => self.arithmetic(kind, result, a, b),
            Op::Fused(kind, a, b, c) => self.fused(kind, result, a, b, c),
            Op::Sqrt(a) => {
                let source = self.operand(a);
                let d = self.define(result, &[a]);
                self.out.sqrt(d, source);
            }
            Op::ShiftLeft(a, count) => {
                let source = self.in_register(a);
                let d = self.define(result, &[a]);
                self.out.shift_left(d, source, count);
            }
            Op::Select(mask, a, b) => {
                let (mask_register, first, second) = (self.in_register(mask), self.in_register(a), self.operand(b));
                let d = self.define(result, &[mask, a, b]);
                self.out.select(d, mask_register, first, second);
            }
            Op::Repair { is_small, x, sin, cos } => self.repair(result, is_small, x, sin, cos),
            Op::Call(function, a, b) => self.call(result, function, a, b),
            Op::Store(output, a) => {
                let register = self.in_register(a);
                self.out.store(register, Memory { base: Base::R15, offset: output as i32 * self.stride });
                self.release(&[a]);
            }
        }
        self.drop_unused(result);
    }

    fn arithmetic(&mut self, kind: Arithmetic, result: Vector, a: Vector, b: Vector) {
        let opcode = match kind {
            Arithmetic::Add => assemble::ADD,
            Arithmetic::Sub => assemble::SUB,
            Arithmetic::Mul => assemble::MUL,
            Arithmetic::Div => assemble::DIV,
            Arithmetic::And => assemble::AND,
            Arithmetic::Xor => assemble::XOR,
            Arithmetic::AtMost => return self.at_most(result, a, b),
        };
        let commutes = !matches!(kind, Arithmetic::Sub | Arithmetic::Div);
        let (a, b) = if commutes { self.memory_last(a, b) } else { (a, b) };
        let (first, second) = (self.in_register(a), self.operand(b));
        let d = self.define(result, &[a, b]);
        self.out.binary(opcode, d, first, second);
    }

    fn at_most(&mut self, result: Vector, a: Vector, b: Vector) {
        let (first, second) = (self.in_register(a), self.operand(b));
        let d = self.define(result, &[a, b]);
        self.out.at_most(d, first, second);
    }

    /// ±a·b ± c overwrites one of its operands: one that is no longer needed, or a copy of c.
    fn fused(&mut self, kind: Fused, result: Vector, a: Vector, b: Vector, c: Vector) {
        let opcode: Opcode = match kind {
            Fused::MulAdd => assemble::MUL_ADD,
            Fused::MulSub => assemble::MUL_SUB,
            Fused::NegMulAdd => assemble::NEG_MUL_ADD,
        };
        let (a, b) = self.memory_last(a, b);
        let (a, b) = if self.ends_in_register(b) { (b, a) } else { (a, b) };
        if !self.ends_in_register(c) && self.ends_in_register(a) && a != b && a != c {
            let (d, factor, offset) = (self.in_register(a), self.in_register(b), self.operand(c));
            self.out.binary(opcode, d, factor, offset);
            self.release(&[b, c]);
            self.take_over(result, a, d);
            return;
        }
        let (first, second) = (self.in_register(a), self.operand(b));
        if self.ends_in_register(c) && c != a && c != b {
            let d = self.in_register(c);
            self.out.binary(opcode.order_231(), d, first, second);
            self.release(&[a, b]);
            self.take_over(result, c, d);
            return;
        }
        let d = self.vacant();
        match self.register_of[c.index()] {
            Some(register) => self.out.copy(d, register),
            None => self.load(d, c),
        }
        self.out.binary(opcode.order_231(), d, first, second);
        self.release(&[a, b, c]);
        self.bind(result, d);
    }

    fn repair(&mut self, result: Vector, is_small: Vector, x: Vector, sin: Vector, cos: Vector) {
        let mask = self.in_register(is_small);
        let registers = [x, sin, cos].map(|v| self.in_register(v));
        let jump = self.out.jump_unless_all(mask);
        self.repairs.push(Repair { jump, back: self.out.bytes.len(), registers });
        self.release(&[is_small, x]);
        self.take_over(result, sin, registers[1]);
        let second = Vector(result.0 + 1);
        self.take_over(second, cos, registers[2]);
        self.drop_unused(second);
    }

    /// A call destroys all registers, so vectors that are still needed are stored first.
    fn call(&mut self, result: Vector, function: calls::Function, a: Vector, b: Vector) {
        let arguments = [a, b].map(|v| {
            let (slot, register) = (self.slot(), self.in_register(v));
            self.out.store(register, frame(slot));
            slot
        });
        self.release(&[a, b]);
        self.pinned = 0;
        (0..self.out.registers()).for_each(|r| self.vacate(r));
        let slot = self.slot();
        self.out.call(function as *const () as usize, [arguments[0], arguments[1], slot]);
        self.memory_of[result.index()] = Some(frame(slot));
        self.ended_slots.extend(arguments);
    }
}

/// Registers and slots of the frame.
impl Allocator<'_> {
    fn next_use(&self, v: Vector) -> u32 {
        self.uses[v.index()].last().copied().unwrap_or(NEVER)
    }

    fn is_in_register(&self, v: Vector) -> bool {
        self.register_of[v.index()].is_some()
    }

    /// True if v is in a register and not needed after the current operation.
    fn ends_in_register(&self, v: Vector) -> bool {
        self.is_in_register(v) && self.next_use(v) == NEVER
    }

    /// Orders a pair of factors so that one in memory comes second.
    fn memory_last(&self, a: Vector, b: Vector) -> (Vector, Vector) {
        if self.is_in_register(b) && !self.is_in_register(a) { (b, a) } else { (a, b) }
    }

    fn in_register(&mut self, v: Vector) -> Register {
        let register = self.register_of[v.index()].unwrap_or_else(|| {
            let register = self.vacant();
            self.load(register, v);
            self.bind(v, register);
            register
        });
        self.pinned |= 1 << register;
        register
    }

    /// How to read the last operand of an instruction: constants, and values on their last use, are read from memory.
    fn operand(&mut self, v: Vector) -> Operand {
        let origin = self.code.origins[v.index()];
        let may_stay = matches!(origin, Origin::Constant(_)) || self.next_use(v) == NEVER;
        match self.memory_of[v.index()] {
            Some(memory) if !self.is_in_register(v) && may_stay && !matches!(origin, Origin::Shared(_)) => {
                Operand::Memory(memory)
            }
            _ => Operand::Register(self.in_register(v)),
        }
    }

    fn load(&mut self, register: Register, v: Vector) {
        let Some(memory) = self.memory_of[v.index()] else {
            unreachable!("what is in no register is in memory");
        };
        match self.code.origins[v.index()] {
            Origin::Shared(_) => self.out.broadcast(register, memory),
            _ => self.out.load(register, memory),
        }
    }

    /// An empty register, pinned.
    fn vacant(&mut self) -> Register {
        let candidates = (0..self.contents.len()).filter(|r| self.pinned & 1 << r == 0);
        let distance = |r: &usize| self.contents[*r].map_or((NEVER, 1), |v| (self.next_use(v), 0));
        // An operation pins at most five registers, so there always is a candidate.
        let register = candidates.max_by_key(distance).unwrap_or_default();
        self.vacate(register);
        self.pinned |= 1 << register;
        register as Register
    }

    fn vacate(&mut self, register: usize) {
        let Some(v) = self.contents[register].take() else { return };
        self.register_of[v.index()] = None;
        if self.next_use(v) != NEVER && self.memory_of[v.index()].is_none() {
            let slot = self.slot();
            self.out.store(register as Register, frame(slot));
            self.memory_of[v.index()] = Some(frame(slot));
        }
    }

    /// The register of a result; it may be that of an operand that ends here.
    fn define(&mut self, result: Vector, operands: &[Vector]) -> Register {
        self.release(operands);
        let register = self.vacant();
        self.bind(result, register);
        register
    }

    fn bind(&mut self, v: Vector, register: Register) {
        self.contents[register as usize] = Some(v);
        self.register_of[v.index()] = Some(register);
    }

    /// The result replaces `v` in its register.
    fn take_over(&mut self, result: Vector, v: Vector, register: Register) {
        self.release(&[v]);
        self.bind(result, register);
    }

    /// Frees the registers and slots of vectors that are no longer needed.
    fn release(&mut self, vectors: &[Vector]) {
        for &v in vectors {
            if self.next_use(v) != NEVER {
                continue;
            }
            if let Some(register) = self.register_of[v.index()].take() {
                self.contents[register as usize] = None;
                self.pinned &= !(1 << register);
            }
            let is_computed = self.code.origins[v.index()] == Origin::Computed;
            if let Some(memory) = self.memory_of[v.index()].take_if(|_| is_computed) {
                self.ended_slots.push(memory.offset);
            }
        }
    }

    fn drop_unused(&mut self, result: Vector) {
        if result.index() < self.uses.len() {
            self.release(&[result]);
        }
    }

    /// A free slot of the frame, as its offset from rbp.
    fn slot(&mut self) -> i32 {
        self.free_slots.pop().unwrap_or_else(|| self.new_slot())
    }

    fn new_slot(&mut self) -> i32 {
        self.slots += 1;
        -self.slot_size() * self.slots
    }

    /// The size of a vector in bytes, or more if the stack alignment requires it.
    fn slot_size(&self) -> i32 {
        8 * self.out.lanes as i32
    }
}

fn frame(offset: i32) -> Memory {
    Memory { base: Base::Rbp, offset }
}
