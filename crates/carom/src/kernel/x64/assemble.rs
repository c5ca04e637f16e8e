//! An assembler for vectors of 1, 2, 4 or 8 numbers, with calls, jumps and frames.

use super::encode::{self, Base, Format, Memory, Opcode, Operand, Register};
use crate::kernel::Compiler;

/// The comparison a ≤ b: false if one is NaN, without exceptions.
pub(super) const AT_MOST: u8 = 0x12;
/// Its opposite: true if one is NaN.
const NOT_AT_MOST: u8 = 0x16;
/// The comparison a < b, likewise.
pub(super) const LESS: u8 = 0x11;

const PAGE: u32 = 4096;

/// The only mask register in use.
const MASK: u8 = 1;
/// The register that the legacy encoding needs for copies.
const SPARE: Register = 15;

/// Code under construction.
pub(super) struct Assembler {
    pub(super) bytes: Vec<u8>,
    /// The number of lanes: 1, 2, 4 or 8.
    pub(super) lanes: usize,
    format: Format,
    /// True if the arguments are in general registers that calls preserve.
    has_calls: bool,
}

impl Assembler {
    /// `has_calls` is true if the code calls functions, other than out of line.
    pub(super) fn new(compiler: Compiler, lanes: usize, has_calls: bool) -> Assembler {
        let format = match lanes {
            1 if compiler == Compiler::Sse2 => Format::Legacy,
            1 => Format::Scalar,
            2 => Format::V128,
            4 => Format::V256,
            _ => Format::V512,
        };
        Assembler { bytes: Vec::new(), lanes, format, has_calls }
    }

    /// The number of vector registers.
    pub(super) fn registers(&self) -> usize {
        match self.format {
            Format::V512 => 32,
            Format::Legacy => SPARE as usize,
            _ => 16,
        }
    }

    fn emit(&mut self, opcode: Opcode, reg: u8, second: u8, last: Operand) {
        self.emit_masked(opcode, reg, second, last, 0);
    }

    fn emit_masked(&mut self, opcode: Opcode, reg: u8, second: u8, last: Operand, mask: u8) {
        let has_calls = self.has_calls;
        let base = |base: Base| base.register(has_calls);
        encode::instruction(&mut self.bytes, self.format, opcode, (reg, second, mask), last, base);
    }

    /// d ← a ∘ b.
    pub(super) fn binary(&mut self, opcode: Opcode, d: Register, a: Register, b: Operand) {
        if self.format != Format::Legacy {
            return self.emit(opcode, d, a, b);
        }
        let is_b = b == Operand::Register(d) && a != d;
        if is_b {
            self.copy(SPARE, d);
        }
        self.copy(d, a);
        self.emit(opcode, d, 0, if is_b { Operand::Register(SPARE) } else { b });
    }

    /// Sets all bits of a lane of d if the comparison holds there.
    pub(super) fn compare(&mut self, comparison: u8, d: Register, a: Register, b: Operand) {
        let is_wide = self.format == Format::V512;
        self.binary(encode::COMPARE, if is_wide { MASK } else { d }, a, b);
        // The legacy encoding has no comparisons without exceptions, which are masked.
        self.bytes.push(if self.format == Format::Legacy { comparison & 7 } else { comparison });
        if is_wide {
            self.emit(encode::MASK_TO_VECTOR, d, 0, Operand::Register(MASK));
        }
    }

    pub(super) fn sqrt(&mut self, d: Register, a: Register) {
        // The scalar form takes the other lane from its second operand.
        let second = if self.format == Format::Scalar { a } else { 0 };
        self.emit(encode::SQRT, d, second, Operand::Register(a));
    }

    pub(super) fn load(&mut self, d: Register, from: Memory) {
        self.emit(encode::LOAD, d, 0, Operand::Memory(from));
    }

    pub(super) fn store(&mut self, a: Register, to: Memory) {
        self.emit(encode::STORE, a, 0, Operand::Memory(to));
    }

    pub(super) fn copy(&mut self, d: Register, a: Register) {
        if d != a {
            self.emit(encode::MOVE, d, 0, Operand::Register(a));
        }
    }

    /// Loads the number in memory into all lanes of d.
    pub(super) fn broadcast(&mut self, d: Register, from: Memory) {
        let opcode = match self.lanes {
            1 => encode::LOAD,
            2 => encode::BROADCAST_2,
            _ => encode::BROADCAST_4,
        };
        self.emit(opcode, d, 0, Operand::Memory(from));
    }

    pub(super) fn shift_left(&mut self, d: Register, a: Register, count: u8) {
        if self.format == Format::Legacy {
            self.copy(d, a);
            self.emit(encode::SHIFT, 6, 0, Operand::Register(d));
        } else {
            self.emit(encode::SHIFT, 6, d, Operand::Register(a));
        }
        self.bytes.push(count);
    }

    /// Copies the highest bit to all bits, with the legacy encoding: there is no selection.
    pub(super) fn spread(&mut self, d: Register, a: Register) {
        self.emit(encode::SHUFFLE, d, 0, Operand::Register(a));
        self.bytes.push(0b11_11_01_01); // the upper half of each number
        self.emit(encode::SHIFT_SIGNS, 4, 0, Operand::Register(d));
        self.bytes.push(31);
    }

    /// d ← b where the highest bit of `mask` is set, else a. With 512 bits none is that in the mask register.
    pub(super) fn select(&mut self, d: Register, mask: Option<Register>, a: Register, b: Operand) {
        if self.format == Format::V512 {
            if let Some(mask) = mask {
                self.emit(encode::VECTOR_TO_MASK, MASK, 0, Operand::Register(mask));
            }
            self.emit_masked(encode::SELECT_BY_MASK, d, a, b, MASK);
            return;
        }
        self.emit(encode::SELECT, d, a, b);
        self.bytes.push(mask.unwrap_or_default() << 4);
    }

    /// Changes the bits of d that are set in b and in c, with 512 bits.
    pub(super) fn flip(&mut self, d: Register, b: Register, c: Operand) {
        self.emit(encode::TERNARY, d, b, c);
        self.bytes.push(0b0111_1000); // d ^ (b & c) for the eight values of their bits
    }

    /// Jumps unless a ≤ b in all lanes; without 512 bits by means of a spare register.
    pub(super) fn jump_unless_at_most(&mut self, spare: Option<Register>, a: Register, b: Operand) -> usize {
        if let Some(spare) = spare {
            self.compare(AT_MOST, spare, a, b);
            return self.jump_unless_all(spare);
        }
        self.emit(encode::COMPARE, MASK, a, b);
        self.bytes.push(NOT_AT_MOST);
        self.bytes.extend([0xC5, 0xF9, 0x98, 0xC0 | MASK << 3 | MASK]); // kortestb mask, mask
        self.bytes.extend([0x0F, 0x85]); // jne
        self.distance()
    }

    /// Compares the highest bits of a with those of a mask that is set in all lanes.
    fn compare_signs(&mut self, a: Register) {
        if self.format == Format::V512 {
            self.emit(encode::VECTOR_TO_MASK, MASK, 0, Operand::Register(a));
            self.bytes.extend([0xC5, 0xF9, 0x93, 0xC0 | MASK]); // kmovb eax, mask
        } else {
            self.emit(encode::SIGNS, 0, 0, Operand::Register(a));
        }
        if self.lanes == 1 {
            self.bytes.extend([0x24, 1]); // and al, 1
        }
        let all = (1u16 << self.lanes) - 1;
        self.bytes.extend([0x3C, all as u8]); // cmp al, all
    }

    /// Jumps unless the highest bit is set in all lanes of a. Returns the position of the jump distance, as all jumps do.
    pub(super) fn jump_unless_all(&mut self, a: Register) -> usize {
        self.compare_signs(a);
        self.bytes.extend([0x0F, 0x85]); // jne
        self.distance()
    }

    /// Jumps if the highest bit is set in all lanes of a.
    pub(super) fn jump_if_all(&mut self, a: Register) -> usize {
        self.compare_signs(a);
        self.bytes.extend([0x0F, 0x84]); // je
        self.distance()
    }

    /// Jumps if a counter in the frame is below a limit.
    pub(super) fn jump_if_below(&mut self, counter: Memory, limit: u8) -> usize {
        self.on_frame(&[0x83], 7, counter); // cmp dword [rbp + offset], limit
        self.bytes.extend([limit, 0x0F, 0x82]); // jb
        self.distance()
    }

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

    /// The jump whose distance is at `place` comes here.
    pub(super) fn link_here(&mut self, place: usize) {
        self.link(place, self.bytes.len());
    }

    /// Sets a counter in the frame.
    pub(super) fn set(&mut self, counter: Memory, value: u32) {
        self.on_frame(&[0xC7], 0, counter); // mov dword [rbp + offset], value
        self.bytes.extend(value.to_le_bytes());
    }

    /// Adds 1 to a counter in the frame.
    pub(super) fn increment(&mut self, counter: Memory) {
        self.on_frame(&[0x83], 0, counter); // add dword [rbp + offset], 1
        self.bytes.push(1);
    }

    /// The result is a counter in the frame, times 256.
    pub(super) fn return_count(&mut self, counter: Memory) {
        self.on_frame(&[0x8B], 0, counter); // mov eax, [rbp + offset]
        self.bytes.extend([0xC1, 0xE0, 8]); // shl eax, 8
    }

    pub(super) fn return_status(&mut self, status: u32) {
        self.bytes.push(0xB8); // mov eax, status
        self.bytes.extend(status.to_le_bytes());
    }

    /// An instruction for general registers with an operand in the frame.
    fn on_frame(&mut self, opcode: &[u8], reg: u8, memory: Memory) {
        self.bytes.extend(opcode);
        self.bytes.push(0x85 | reg << 3);
        self.bytes.extend(memory.offset.to_le_bytes());
    }

    /// Moves arguments to the registers in which functions of numbers expect them.
    pub(super) fn arguments(&mut self, first: Register, second: Option<Register>) {
        match (first, second) {
            (1, Some(0)) => [(2, 0), (0, 1), (1, 2)].into_iter().for_each(|(d, a)| self.copy(d, a)),
            (_, Some(0)) => [(1, 0), (0, first)].into_iter().for_each(|(d, a)| self.copy(d, a)),
            _ => {
                self.copy(0, first);
                second.into_iter().for_each(|second| self.copy(1, second));
            }
        }
    }

    /// Calls the function at an address. Destroys all vector registers.
    pub(super) fn call(&mut self, function: usize) {
        self.bytes.extend([0x48, 0xB8]); // mov rax, function
        self.bytes.extend((function as u64).to_le_bytes());
        self.bytes.extend([0xFF, 0xD0]); // call rax
    }

    /// Calls the function of one or two numbers for each lane of the arguments.
    pub(super) fn call_for_lanes(&mut self, function: usize, arguments: [Option<Memory>; 2], result: Memory) {
        self.clear_upper_halves();
        let mut one = Assembler { bytes: std::mem::take(&mut self.bytes), lanes: 1, format: Format::Scalar, ..*self };
        let lane = |memory: Memory, k: usize| Memory { offset: memory.offset + 8 * k as i32, ..memory };
        for k in 0..self.lanes {
            for (register, argument) in arguments.into_iter().enumerate() {
                if let Some(argument) = argument {
                    one.load(register as Register, lane(argument, k));
                }
            }
            one.call(function);
            one.store(0, lane(result, k));
        }
        self.bytes = one.bytes;
    }

    /// Calls the function with three addresses in the frame and the number of lanes.
    pub(super) fn call_with_slots(&mut self, function: usize, slots: [Memory; 3]) {
        self.clear_upper_halves();
        for (register, slot) in [RDI, RSI, RDX].into_iter().zip(slots) {
            self.on_frame(&[0x48, 0x8D], register, slot); // lea register, [rbp + offset]
        }
        self.bytes.push(0xB9); // mov ecx, lanes
        self.bytes.extend((self.lanes as u32).to_le_bytes());
        self.call(function);
    }

    /// Calls the function with the address of a linear system in the frame and a mask, and jumps if the result is not 0.
    pub(super) fn call_solver(&mut self, function: usize, system: Memory, mask: u32) -> usize {
        self.on_frame(&[0x48, 0x8D], RDI, system); // lea rdi, [rbp + offset]
        self.bytes.push(0xB8 | RSI); // mov esi, mask
        self.bytes.extend(mask.to_le_bytes());
        self.call(function);
        self.bytes.extend([0x85, 0xC0, 0x0F, 0x85]); // test eax, eax; jnz
        self.distance()
    }

    /// Saves the arguments of the function on the stack, if calls do not preserve them.
    pub(super) fn keep_arguments(&mut self) {
        if !self.has_calls {
            ARGUMENTS.into_iter().for_each(|register| self.bytes.push(0x50 | register));
        }
    }

    pub(super) fn restore_arguments(&mut self) {
        if !self.has_calls {
            ARGUMENTS.into_iter().rev().for_each(|register| self.bytes.push(0x58 | register));
        }
    }

    /// Code with other encodings is slow while the upper halves of registers are in use.
    fn clear_upper_halves(&mut self) {
        if self.lanes > 2 {
            self.bytes.extend([0xC5, 0xF8, 0x77]); // vzeroupper
        }
    }

    /// The prologue, followed by the code. A frame of this size is below rbp, or, if it is large, at the address in the fifth
    /// argument, above which 8 bytes are reserved.
    pub(super) fn finish(self, size: u32, is_large: bool) -> Vec<u8> {
        let mut prologue = Assembler { bytes: Vec::new(), ..self };
        prologue.enter(size, is_large);
        [prologue.bytes, self.bytes].concat()
    }

    /// Saves the caller's registers, and creates the frame. With several lanes rbp is a multiple of 64, because vectors that
    /// cross cache lines cost twice. The frame is touched page by page, so that a stack overflow is detected.
    fn enter(&mut self, size: u32, is_large: bool) {
        if self.has_calls {
            self.bytes.extend([0x53, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57]); // push rbx, r13, r14, r15
            self.bytes.extend([0x48, 0x89, 0xFB]); // mov rbx, rdi
            self.bytes.extend([0x49, 0x89, 0xF5]); // mov r13, rsi
            self.bytes.extend([0x49, 0x89, 0xD7]); // mov r15, rdx
            self.bytes.extend([0x49, 0x89, 0xCE]); // mov r14, rcx
        }
        self.bytes.push(0x55); // push rbp
        if self.lanes == 1 && !is_large {
            self.bytes.extend([0x48, 0x89, 0xE5]); // mov rbp, rsp
        } else {
            self.bytes.extend([0x48, 0x89, 0xE0]); // mov rax, rsp
            self.bytes.extend([0x48, 0x83, 0xEC, 0x40]); // sub rsp, 64
            self.bytes.extend([0x48, 0x83, 0xE4, 0xC0]); // and rsp, −64
            self.bytes.extend(if is_large { [0x4C, 0x89, 0xC5] } else { [0x48, 0x89, 0xE5] }); // mov rbp, r8 or rsp
            self.bytes.extend([0x48, 0x89, 0x45, 0x00]); // mov [rbp], rax
        }
        if is_large || size == 0 {
            return;
        }
        for page in 1..=size / PAGE {
            self.bytes.extend([0x85, 0x84, 0x24]); // test [rsp − page], eax
            self.bytes.extend((-((page * PAGE) as i32)).to_le_bytes());
        }
        self.bytes.extend([0x48, 0x81, 0xEC]); // sub rsp, size
        self.bytes.extend(size.to_le_bytes());
    }

    /// Returns to the caller.
    pub(super) fn leave(&mut self, is_large: bool) {
        if self.lanes == 1 && !is_large {
            self.bytes.extend([0x48, 0x89, 0xEC]); // mov rsp, rbp
        } else {
            self.bytes.extend([0x48, 0x8B, 0x65, 0x00]); // mov rsp, [rbp]
        }
        self.bytes.push(0x5D); // pop rbp
        if self.has_calls {
            self.bytes.extend([0x41, 0x5F, 0x41, 0x5E, 0x41, 0x5D, 0x5B]); // pop r15, r14, r13, rbx
        }
        self.clear_upper_halves();
        self.bytes.push(0xC3); // ret
    }
}

const RCX: u8 = 1;
const RDX: u8 = 2;
const RSI: u8 = 6;
const RDI: u8 = 7;
/// The general registers of the first four arguments.
const ARGUMENTS: [u8; 4] = [RDI, RSI, RDX, RCX];
