//! Which vector is in which register or slot of the frame, at one point of the code.
//!
//! A vector gets a register when it is computed or first read. If none is free, the vector whose next use is farthest away is
//! evicted. Inputs, constants and variables already have a place in memory, so they are not stored when evicted, and are often
//! read from there directly.

use super::assemble::Assembler;
use super::encode::{Base, Memory, Operand, Register};
use super::ir::{Code, Op, Origin, Vector};

const NEVER: u32 = u32::MAX;
/// A constant that is used again within so many operations gets a register.
const SOON: u32 = 8;

/// How often each constant stands in memory. Instructions for bits read whole vectors, also if there is one lane; those of 512 bits
/// spread one number to all lanes.
pub(super) fn copies_of_constants(lanes: usize) -> usize {
    if lanes == 8 { 1 } else { lanes.max(2) }
}

/// The operations that use each vector, in order.
struct Uses {
    all: Vec<u32>,
    /// For each vector, its uses to come.
    ahead: Vec<std::ops::Range<u32>>,
}

impl Uses {
    fn of(code: &Code) -> Uses {
        let mut counts = vec![0u32; code.origins.len()];
        each_use(code, |v, _| counts[v.index()] += 1);
        let mut ahead: Vec<std::ops::Range<u32>> = Vec::with_capacity(counts.len());
        let mut begin = 0;
        for count in counts {
            ahead.push(begin..begin);
            begin += count;
        }
        let mut all = vec![0; begin as usize];
        each_use(code, |v, at| {
            let range = &mut ahead[v.index()];
            all[range.end as usize] = at;
            range.end += 1;
        });
        Uses { all, ahead }
    }

    fn next(&self, v: Vector) -> u32 {
        let range = &self.ahead[v.index()];
        if range.is_empty() { NEVER } else { self.all[range.start as usize] }
    }

    /// Removes the uses up to an operation.
    fn pass(&mut self, v: Vector, at: u32) {
        while self.next(v) <= at && self.next(v) != NEVER {
            self.ahead[v.index()].start += 1;
        }
    }
}

/// Calls `see` for each use in order. What is computed before the loop and used in it is used until the loop ends.
fn each_use(code: &Code, mut see: impl FnMut(Vector, u32)) {
    let (mut before, mut in_loop) = (0, Vec::new());
    for (at, &(result, op)) in code.ops.iter().enumerate() {
        for v in op.operands() {
            see(v, at as u32);
            if v.0 < before {
                in_loop.push(v);
            }
        }
        match op {
            Op::Head => before = result.0,
            Op::Again(_) => {
                in_loop.drain(..).for_each(|v| see(v, at as u32));
                before = 0;
            }
            _ => {}
        }
    }
}

/// The state of the allocation, and the code so far.
pub(super) struct Registers<'a> {
    code: &'a Code,
    pub(super) out: Assembler,
    uses: Uses,
    register_of: Vec<Option<Register>>,
    memory_of: Vec<Option<Memory>>,
    /// For each register, its content.
    contents: Vec<Option<Vector>>,
    /// The number of the current operation.
    at: u32,
    /// A mask of its registers, which must not be evicted.
    pinned: u32,
    free_slots: Vec<i32>,
    /// Slots that become free after the current operation, which may still read them.
    ended_slots: Vec<i32>,
    /// The size of the frame in bytes.
    pub(super) frame: i32,
}

impl<'a> Registers<'a> {
    /// All registers are empty. Inputs have `width` lanes.
    pub(super) fn new(code: &'a Code, out: Assembler, width: usize) -> Registers<'a> {
        let (vectors, copies) = (code.origins.len(), copies_of_constants(out.lanes) as i32);
        let mut registers = Registers {
            code,
            contents: vec![None; out.registers()],
            uses: Uses::of(code),
            register_of: vec![None; vectors],
            memory_of: Vec::new(),
            at: 0,
            pinned: 0,
            free_slots: Vec::new(),
            ended_slots: Vec::new(),
            // The stack stays a multiple of 16.
            frame: 8 * code.variables.next_multiple_of(2) as i32,
            out,
        };
        let memory = |origin: &Origin| match *origin {
            Origin::Lanes(i) => Some(Memory { base: Base::Inputs, offset: 8 * (i as usize * width) as i32 }),
            Origin::Shared(i) => Some(Memory { base: Base::Shared, offset: 8 * i as i32 }),
            Origin::Constant(i) => Some(Memory { base: Base::Constants, offset: 8 * i as i32 * copies }),
            Origin::Variable(i) => Some(registers.variable(i)),
            Origin::Computed => None,
        };
        registers.memory_of = code.origins.iter().map(memory).collect();
        registers
    }

    /// Where a variable is.
    pub(super) fn variable(&self, i: u32) -> Memory {
        Memory { base: Base::Frame, offset: 8 * (i as i32 - self.code.variables as i32) }
    }

    /// Begins an operation: its operands stay in their registers, and their uses by it are removed.
    pub(super) fn begin(&mut self, at: u32, op: Op) {
        (self.at, self.pinned) = (at, 0);
        for v in op.operands() {
            self.pinned |= self.register_of[v.index()].map_or(0, |register| 1 << register);
            self.uses.pass(v, at);
        }
        if matches!(op, Op::Again(_)) {
            // What is used until the end of the loop and no longer ends here, though no operation reads it here.
            let held: Vec<Vector> = self.contents.iter().flatten().copied().collect();
            for v in held {
                self.uses.pass(v, at);
                if op.operands().all(|operand| operand != v) {
                    self.release(&[v]);
                }
            }
        }
        self.free_slots.append(&mut self.ended_slots);
    }

    fn next_use(&self, v: Vector) -> u32 {
        self.uses.next(v)
    }

    pub(super) fn is_constant(&self, v: Vector) -> bool {
        matches!(self.code.origins[v.index()], Origin::Constant(_))
    }

    pub(super) fn register_of(&self, v: Vector) -> Option<Register> {
        self.register_of[v.index()]
    }

    pub(super) fn memory_of(&self, v: Vector) -> Option<Memory> {
        self.memory_of[v.index()]
    }

    /// True if v is in a register and not needed after the current operation.
    pub(super) fn ends_in_register(&self, v: Vector) -> bool {
        self.register_of(v).is_some() && self.next_use(v) == NEVER
    }

    /// Orders a pair of factors so that one in memory comes second.
    pub(super) fn memory_last(&self, a: Vector, b: Vector) -> (Vector, Vector) {
        let is_second = |v: Vector| self.register_of(v).is_none() && self.may_stay(v);
        if is_second(a) && !is_second(b) { (b, a) } else { (a, b) }
    }

    /// True if v is better read from its place in memory than loaded: if it is not needed again, if it is a constant that is not needed
    /// soon, or if all registers hold what is needed before it.
    fn may_stay(&self, v: Vector) -> bool {
        let next = self.next_use(v);
        let is_earlier = |r: usize| self.contents[r].is_some_and(|content| self.next_use(content) < next);
        match self.code.origins[v.index()] {
            Origin::Shared(_) if self.out.lanes > 1 => false,
            _ if next == NEVER => true,
            Origin::Constant(_) => next > self.at + SOON,
            _ => (0..self.contents.len()).all(|r| self.pinned & 1 << r != 0 || is_earlier(r)),
        }
    }

    pub(super) fn in_register(&mut self, v: Vector) -> Register {
        let register = self.register_of(v).unwrap_or_else(|| {
            let register = self.vacant();
            self.load(register, v);
            self.bind(v, register);
            register
        });
        self.pinned |= 1 << register;
        register
    }

    /// How to read the last operand of an instruction.
    pub(super) fn operand(&mut self, v: Vector) -> Operand {
        match self.memory_of(v) {
            Some(memory) if self.register_of(v).is_none() && self.may_stay(v) => Operand::Memory(memory),
            _ => Operand::Register(self.in_register(v)),
        }
    }

    pub(super) fn load(&mut self, register: Register, v: Vector) {
        let Some(memory) = self.memory_of(v) else {
            unreachable!("what is in no register is in memory");
        };
        match self.code.origins[v.index()] {
            Origin::Shared(_) => self.out.broadcast(register, memory),
            Origin::Constant(_) if self.out.lanes == 8 => self.out.broadcast(register, memory),
            _ => self.out.load(register, memory),
        }
    }

    /// An empty register, pinned.
    pub(super) fn vacant(&mut self) -> Register {
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
        if self.next_use(v) != NEVER && self.memory_of(v).is_none() {
            let slot = self.slot();
            self.out.store(register as Register, slot);
            self.memory_of[v.index()] = Some(slot);
        }
    }

    /// Empties all registers; what is still needed is then in memory.
    pub(super) fn vacate_all(&mut self) {
        self.pinned = 0;
        (0..self.contents.len()).for_each(|r| self.vacate(r));
    }

    /// A mask of the registers in use.
    pub(super) fn in_use(&self) -> u32 {
        self.contents.iter().enumerate().map(|(r, content)| u32::from(content.is_some()) << r).sum()
    }

    /// The register of a result; it may be that of an operand that ends here.
    pub(super) fn define(&mut self, result: Vector, operands: &[Vector]) -> Register {
        self.release(operands);
        let register = self.vacant();
        self.bind(result, register);
        register
    }

    pub(super) fn bind(&mut self, v: Vector, register: Register) {
        self.contents[register as usize] = Some(v);
        self.register_of[v.index()] = Some(register);
    }

    /// A result that is in memory.
    pub(super) fn bind_to_memory(&mut self, v: Vector, memory: Memory) {
        self.memory_of[v.index()] = Some(memory);
    }

    /// The result replaces `v` in its register.
    pub(super) fn take_over(&mut self, result: Vector, v: Vector, register: Register) {
        self.release(&[v]);
        self.bind(result, register);
    }

    /// Frees the registers and slots of vectors that are no longer needed.
    pub(super) fn release(&mut self, vectors: &[Vector]) {
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

    /// Makes a slot free after the current operation.
    pub(super) fn end_slot(&mut self, slot: Memory) {
        self.ended_slots.push(slot.offset);
    }

    /// A free slot of the frame.
    pub(super) fn slot(&mut self) -> Memory {
        match self.free_slots.pop() {
            Some(offset) => Memory { base: Base::Frame, offset },
            None => self.new_slot(),
        }
    }

    /// A slot that nothing has used.
    pub(super) fn new_slot(&mut self) -> Memory {
        self.frame += 8 * self.out.lanes as i32;
        Memory { base: Base::Frame, offset: -self.frame }
    }
}
