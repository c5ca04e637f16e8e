//! An assembler for x86-64 instructions with three operands: VEX encoding for vectors of 128 and 256 bits (16 registers), EVEX
//! encoding for vectors of 512 bits (32 registers).

/// A vector register, by its number.
pub(super) type Register = u8;

/// A general register used as a base address. Only registers that need no additional byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    Rbx = 3,
    Rbp = 5,
    R13 = 13,
    R14 = 14,
    R15 = 15,
}

/// A memory operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Memory {
    pub(super) base: Base,
    pub(super) offset: i32,
}

/// The last operand of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Register(Register),
    Memory(Memory),
}

impl Operand {
    /// The number of the register or of the base.
    fn number(self) -> u8 {
        match self {
            Operand::Register(r) => r,
            Operand::Memory(m) => m.base as u8,
        }
    }
}

/// One bit of a number, inverted and moved to another place.
fn inverted(number: u8, bit: u8, place: u8) -> u8 {
    (!number >> bit & 1) << place
}

/// The mandatory prefix of the opcode.
#[derive(Clone, Copy)]
enum Prefix {
    P66 = 1,
    PF3 = 2,
    PF2 = 3,
}

/// The opcode map.
#[derive(Clone, Copy)]
enum Map {
    M0F = 1,
    M0F38 = 2,
    M0F3A = 3,
}

/// An instruction without its operands.
#[derive(Clone, Copy)]
pub(super) struct Opcode {
    prefix: Prefix,
    map: Map,
    /// The W bit in the VEX encoding; in the EVEX encoding of 64-bit numbers it is always set.
    wide: bool,
    code: u8,
}

const fn plain(code: u8) -> Opcode {
    Opcode { prefix: Prefix::P66, map: Map::M0F, wide: false, code }
}

const fn fused(code: u8) -> Opcode {
    Opcode { prefix: Prefix::P66, map: Map::M0F38, wide: true, code }
}

pub(super) const ADD: Opcode = plain(0x58);
pub(super) const MUL: Opcode = plain(0x59);
pub(super) const SUB: Opcode = plain(0x5C);
pub(super) const DIV: Opcode = plain(0x5E);
pub(super) const AND: Opcode = plain(0x54);
pub(super) const XOR: Opcode = plain(0x57);
const COMPARE: Opcode = plain(0xC2);
const SQRT: Opcode = plain(0x51);
const LOAD: Opcode = plain(0x10);
const STORE: Opcode = plain(0x11);
const MOVE: Opcode = plain(0x28);
const SHIFT: Opcode = plain(0x73);
const SIGNS: Opcode = plain(0x50);
const BROADCAST_2: Opcode = Opcode { prefix: Prefix::PF2, map: Map::M0F, wide: false, code: 0x12 };
const BROADCAST_4: Opcode = Opcode { prefix: Prefix::P66, map: Map::M0F38, wide: false, code: 0x19 };
const SELECT: Opcode = Opcode { prefix: Prefix::P66, map: Map::M0F3A, wide: false, code: 0x4B };
/// Selection by a mask register, only for 512 bits.
const SELECT_BY_MASK: Opcode = fused(0x65);
const MASK_TO_VECTOR: Opcode = Opcode { prefix: Prefix::PF3, map: Map::M0F38, wide: true, code: 0x38 };
const VECTOR_TO_MASK: Opcode = Opcode { prefix: Prefix::PF3, map: Map::M0F38, wide: true, code: 0x39 };

/// A fused multiply-add, given in the operand order 213; the order 231 is 16 higher.
pub(super) const MUL_ADD: Opcode = fused(0xA8);
pub(super) const MUL_SUB: Opcode = fused(0xAA);
pub(super) const NEG_MUL_ADD: Opcode = fused(0xAC);

impl Opcode {
    /// The fused multiply-add in the operand order 231: d ← a·b + d.
    pub(super) fn order_231(self) -> Opcode {
        Opcode { code: self.code + 0x10, ..self }
    }
}

/// The comparison a ≤ b: false if one is NaN, without exceptions.
const AT_MOST: u8 = 0x12;

const PAGE: u32 = 4096;

/// Code under construction.
pub(super) struct Assembler {
    pub(super) bytes: Vec<u8>,
    /// The number of lanes: 2, 4 or 8.
    pub(super) lanes: usize,
}

/// The only mask register in use.
const MASK: u8 = 1;

impl Assembler {
    pub(super) fn new(lanes: usize) -> Assembler {
        Assembler { bytes: Vec::new(), lanes }
    }

    /// The number of vector registers.
    pub(super) fn registers(&self) -> usize {
        if self.lanes == 8 { 32 } else { 16 }
    }

    /// The prefix, the opcode and the operands: `reg`, a second register, and a register or memory.
    fn emit(&mut self, opcode: Opcode, reg: u8, second: u8, last: Operand) {
        self.emit_masked(opcode, reg, second, last, 0);
    }

    fn emit_masked(&mut self, opcode: Opcode, reg: u8, second: u8, last: Operand, mask: u8) {
        if self.lanes == 8 {
            self.evex(opcode, reg, second, last, mask)
        } else {
            self.vex(opcode, reg, second, last)
        }
        self.bytes.push(opcode.code);
        match last {
            Operand::Register(r) => self.bytes.push(0xC0 | (reg & 7) << 3 | r & 7),
            Operand::Memory(m) => self.address(reg, m),
        }
    }

    fn vex(&mut self, opcode: Opcode, reg: u8, second: u8, last: Operand) {
        let (wide, long) = (u8::from(opcode.wide) << 7, u8::from(self.lanes == 4) << 2);
        self.bytes.push(0xC4);
        self.bytes.push(inverted(reg, 3, 7) | 1 << 6 | inverted(last.number(), 3, 5) | opcode.map as u8);
        self.bytes.push(wide | (!second & 15) << 3 | long | opcode.prefix as u8);
    }

    fn evex(&mut self, opcode: Opcode, reg: u8, second: u8, last: Operand, mask: u8) {
        let rm = inverted(last.number(), 4, 6) | inverted(last.number(), 3, 5);
        self.bytes.push(0x62);
        self.bytes.push(inverted(reg, 3, 7) | rm | inverted(reg, 4, 4) | opcode.map as u8);
        self.bytes.push(1 << 7 | (!second & 15) << 3 | 1 << 2 | opcode.prefix as u8);
        self.bytes.push(0b10 << 5 | inverted(second, 4, 3) | mask);
    }

    /// A displacement of 8 bits is not used, because the EVEX encoding scales it.
    fn address(&mut self, reg: u8, memory: Memory) {
        let base = memory.base as u8 & 7;
        match i8::try_from(memory.offset) {
            Ok(short) if self.lanes != 8 => self.bytes.extend([0x40 | (reg & 7) << 3 | base, short as u8]),
            _ => {
                self.bytes.push(0x80 | (reg & 7) << 3 | base);
                self.bytes.extend(memory.offset.to_le_bytes());
            }
        }
    }

    /// d ← a ∘ b.
    pub(super) fn binary(&mut self, opcode: Opcode, d: Register, a: Register, b: Operand) {
        self.emit(opcode, d, a, b);
    }

    /// Sets all bits of a lane of d if a ≤ b there.
    pub(super) fn at_most(&mut self, d: Register, a: Register, b: Operand) {
        self.emit(COMPARE, if self.lanes == 8 { MASK } else { d }, a, b);
        self.bytes.push(AT_MOST);
        if self.lanes == 8 {
            self.emit(MASK_TO_VECTOR, d, 0, Operand::Register(MASK));
        }
    }

    pub(super) fn sqrt(&mut self, d: Register, a: Operand) {
        self.emit(SQRT, d, 0, a);
    }

    pub(super) fn load(&mut self, d: Register, from: Memory) {
        self.emit(LOAD, d, 0, Operand::Memory(from));
    }

    pub(super) fn store(&mut self, a: Register, to: Memory) {
        self.emit(STORE, a, 0, Operand::Memory(to));
    }

    pub(super) fn copy(&mut self, d: Register, a: Register) {
        self.emit(MOVE, d, 0, Operand::Register(a));
    }

    /// Loads the number in memory into all lanes of d.
    pub(super) fn broadcast(&mut self, d: Register, from: Memory) {
        let opcode = if self.lanes == 2 { BROADCAST_2 } else { BROADCAST_4 };
        self.emit(opcode, d, 0, Operand::Memory(from));
    }

    pub(super) fn shift_left(&mut self, d: Register, a: Register, count: u8) {
        self.emit(SHIFT, 6, d, Operand::Register(a));
        self.bytes.push(count);
    }

    /// d ← b where the highest bit of `mask` is set, else a.
    pub(super) fn select(&mut self, d: Register, mask: Register, a: Register, b: Operand) {
        if self.lanes == 8 {
            self.emit(VECTOR_TO_MASK, MASK, 0, Operand::Register(mask));
            self.emit_masked(SELECT_BY_MASK, d, a, b, MASK);
            return;
        }
        self.emit(SELECT, d, a, b);
        self.bytes.push(mask << 4);
    }

    /// Jumps unless the highest bit is set in all lanes of a. Returns the position of the jump distance.
    pub(super) fn jump_unless_all(&mut self, a: Register) -> usize {
        if self.lanes == 8 {
            self.emit(VECTOR_TO_MASK, MASK, 0, Operand::Register(a));
            self.bytes.extend([0xC5, 0xF9, 0x93, 0xC0 | MASK]); // kmovb eax, mask
        } else {
            self.emit(SIGNS, 0, 0, Operand::Register(a));
        }
        let all = (1u16 << self.lanes) - 1;
        self.bytes.extend([0x3C, all as u8, 0x0F, 0x85]); // cmp al, all; jne
        self.distance()
    }

    /// Jumps. Returns the position of the jump distance.
    pub(super) fn jump(&mut self) -> usize {
        self.bytes.push(0xE9);
        self.distance()
    }

    fn distance(&mut self) -> usize {
        self.bytes.extend([0; 4]);
        self.bytes.len() - 4
    }

    /// Sets the target of the jump whose distance is at `place`.
    pub(super) fn link(&mut self, place: usize, target: usize) {
        let distance = target as i64 - (place as i64 + 4);
        self.bytes[place..place + 4].copy_from_slice(&(distance as i32).to_le_bytes());
    }

    /// Calls the function with three addresses in the frame and the number of lanes. Destroys all vector registers.
    pub(super) fn call(&mut self, function: usize, arguments: [i32; 3]) {
        self.bytes.extend([0xC5, 0xF8, 0x77]); // vzeroupper
        for (register, offset) in [7u8, 6, 2].into_iter().zip(arguments) {
            self.bytes.extend([0x48, 0x8D, 0x85 | register << 3]); // lea rdi/rsi/rdx, [rbp + offset]
            self.bytes.extend(offset.to_le_bytes());
        }
        self.bytes.push(0xB9); // mov ecx, lanes
        self.bytes.extend((self.lanes as u32).to_le_bytes());
        self.bytes.extend([0x48, 0xB8]); // mov rax, function
        self.bytes.extend((function as u64).to_le_bytes());
        self.bytes.extend([0xFF, 0xD0]); // call rax
    }

    /// Saves the caller's registers, moves the first four arguments to registers that calls preserve, and creates a frame of
    /// this size below rbp. rbp is a multiple of 64, because vectors that cross cache lines cost twice. The frame is touched
    /// page by page, so that a stack overflow is detected.
    pub(super) fn enter(&mut self, size: u32) {
        self.keep();
        self.bytes.extend([0x48, 0x83, 0xEC, 0x40]); // sub rsp, 64
        self.bytes.extend([0x48, 0x83, 0xE4, 0xC0]); // and rsp, −64
        self.bytes.extend([0x48, 0x89, 0xE5]); // mov rbp, rsp
        self.bytes.extend([0x48, 0x89, 0x45, 0x00]); // mov [rbp], rax
        for page in 1..=size / PAGE {
            self.bytes.extend([0x85, 0x84, 0x24]); // test [rsp − page], eax
            self.bytes.extend((-((page * PAGE) as i32)).to_le_bytes());
        }
        self.bytes.extend([0x48, 0x81, 0xEC]); // sub rsp, size
        self.bytes.extend(size.to_le_bytes());
    }

    /// Enters a function whose frame is not on the stack but at the address in the fifth argument, above which 8 bytes are
    /// reserved.
    pub(super) fn enter_elsewhere(&mut self) {
        self.keep();
        self.bytes.extend([0x48, 0x83, 0xE4, 0xC0]); // and rsp, −64
        self.bytes.extend([0x4C, 0x89, 0xC5]); // mov rbp, r8
        self.bytes.extend([0x48, 0x89, 0x45, 0x00]); // mov [rbp], rax
    }

    /// Saves the caller's registers on the stack, and copies rsp to rax.
    fn keep(&mut self) {
        self.bytes.extend([0x55, 0x53, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57]); // push rbp, rbx, r13, r14, r15
        self.bytes.extend([0x48, 0x89, 0xE0]); // mov rax, rsp
        self.bytes.extend([0x48, 0x89, 0xFB]); // mov rbx, rdi
        self.bytes.extend([0x49, 0x89, 0xF5]); // mov r13, rsi
        self.bytes.extend([0x49, 0x89, 0xD7]); // mov r15, rdx
        self.bytes.extend([0x49, 0x89, 0xCE]); // mov r14, rcx
    }

    pub(super) fn leave(&mut self) {
        self.bytes.extend([0x48, 0x8B, 0x65, 0x00]); // mov rsp, [rbp]
        self.bytes.extend([0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x5B, 0x5D]); // pop r15, r14, r13, rbx, rbp
        self.bytes.extend([0xC5, 0xF8, 0x77, 0xC3]); // vzeroupper; ret
    }
}
