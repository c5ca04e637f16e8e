//! The encoding of x86-64 vector instructions: VEX for 64, 128 and 256 bits (16 registers), EVEX for 512 bits (32 registers),
//! and the legacy encoding of processors without AVX, in which the first operand is also the result.

/// A vector register, by its number.
pub(super) type Register = u8;

/// What a general register points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Base {
    Inputs,
    Shared,
    Outputs,
    Constants,
    Frame,
}

impl Base {
    /// The number of the general register: that of an argument, or, in code with calls, one that calls preserve.
    pub(super) fn register(self, has_calls: bool) -> u8 {
        let (argument, preserved) = match self {
            Base::Inputs => (7, 3),
            Base::Shared => (6, 13),
            Base::Outputs => (2, 15),
            Base::Constants => (1, 14),
            Base::Frame => (5, 5),
        };
        if has_calls { preserved } else { argument }
    }
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

/// The mandatory prefix of the opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    P66 = 1,
    PF3 = 2,
    PF2 = 3,
}

impl Prefix {
    fn byte(self) -> u8 {
        match self {
            Prefix::P66 => 0x66,
            Prefix::PF3 => 0xF3,
            Prefix::PF2 => 0xF2,
        }
    }
}

/// The opcode map.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Map {
    M0F = 1,
    M0F38 = 2,
    M0F3A = 3,
}

/// An instruction without its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Opcode {
    prefix: Prefix,
    map: Map,
    /// The W bit in the VEX encoding; in the EVEX encoding of 64-bit numbers it is always set.
    wide: bool,
    code: u8,
    /// True if there is a form for one number. Other instructions always read and write whole vectors.
    has_scalar: bool,
}

const fn numbers(code: u8) -> Opcode {
    Opcode { prefix: Prefix::P66, map: Map::M0F, wide: false, code, has_scalar: true }
}

const fn bits(code: u8) -> Opcode {
    Opcode { has_scalar: false, ..numbers(code) }
}

const fn fused(code: u8) -> Opcode {
    Opcode { prefix: Prefix::P66, map: Map::M0F38, wide: true, code, has_scalar: true }
}

pub(super) const ADD: Opcode = numbers(0x58);
pub(super) const MUL: Opcode = numbers(0x59);
pub(super) const SUB: Opcode = numbers(0x5C);
pub(super) const DIV: Opcode = numbers(0x5E);
pub(super) const MAX: Opcode = numbers(0x5F);
pub(super) const SQRT: Opcode = numbers(0x51);
pub(super) const COMPARE: Opcode = numbers(0xC2);
pub(super) const LOAD: Opcode = numbers(0x10);
pub(super) const STORE: Opcode = numbers(0x11);
pub(super) const AND: Opcode = bits(0x54);
pub(super) const XOR: Opcode = bits(0x57);
pub(super) const MOVE: Opcode = bits(0x28);
pub(super) const SHIFT: Opcode = bits(0x73);
pub(super) const SHIFT_SIGNS: Opcode = bits(0x72);
pub(super) const SHUFFLE: Opcode = bits(0x70);
pub(super) const SIGNS: Opcode = bits(0x50);
pub(super) const BROADCAST_2: Opcode = Opcode { prefix: Prefix::PF2, ..bits(0x12) };
pub(super) const BROADCAST_4: Opcode = Opcode { map: Map::M0F38, ..bits(0x19) };
pub(super) const SELECT: Opcode = Opcode { map: Map::M0F3A, ..bits(0x4B) };
/// Selection by a mask register, only for 512 bits.
pub(super) const SELECT_BY_MASK: Opcode = Opcode { map: Map::M0F38, ..bits(0x65) };
/// Any function of three bits, only for 512 bits.
pub(super) const TERNARY: Opcode = Opcode { map: Map::M0F3A, ..bits(0x25) };
pub(super) const MASK_TO_VECTOR: Opcode = Opcode { prefix: Prefix::PF3, map: Map::M0F38, ..bits(0x38) };
pub(super) const VECTOR_TO_MASK: Opcode = Opcode { prefix: Prefix::PF3, map: Map::M0F38, ..bits(0x39) };

/// A fused multiply-add, given in the operand order 213; the order 231 is 16 higher.
pub(super) const MUL_ADD: Opcode = fused(0xA8);
pub(super) const MUL_SUB: Opcode = fused(0xAA);
pub(super) const NEG_MUL_ADD: Opcode = fused(0xAC);

impl Opcode {
    /// The fused multiply-add in the operand order 231: d ← a·b + d.
    pub(super) fn order_231(self) -> Opcode {
        Opcode { code: self.code + 0x10, ..self }
    }

    /// The form for one number, if there is one.
    fn scalar(self) -> Opcode {
        match self.map {
            _ if !self.has_scalar => self,
            Map::M0F => Opcode { prefix: Prefix::PF2, ..self },
            // Fused multiply-adds.
            _ => Opcode { code: self.code + 1, ..self },
        }
    }
}

/// The length of vectors, and how instructions are encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// One number, with the legacy encoding.
    Legacy,
    /// One number.
    Scalar,
    /// 2 lanes.
    V128,
    /// 4 lanes.
    V256,
    /// 8 lanes.
    V512,
}

/// One bit of a number, inverted and moved to another place.
fn inverted(number: u8, bit: u8, place: u8) -> u8 {
    (!number >> bit & 1) << place
}

/// Appends an instruction: the prefix, the opcode and the operands `reg`, a second register (not in the legacy encoding), and
/// a register or memory. `base_number` is the number of the general register of a base.
pub(super) fn instruction(
    bytes: &mut Vec<u8>,
    format: Format,
    opcode: Opcode,
    (reg, second, mask): (u8, u8, u8),
    last: Operand,
    base_number: impl Fn(Base) -> u8,
) {
    let rm = match last {
        Operand::Register(r) => r,
        Operand::Memory(m) => base_number(m.base),
    };
    let opcode = if matches!(format, Format::Legacy | Format::Scalar) { opcode.scalar() } else { opcode };
    // With 512 bits a constant is one number, which the instruction spreads to all lanes.
    let is_constant = matches!(last, Operand::Memory(Memory { base: Base::Constants, .. }));
    let is_spread = format == Format::V512 && opcode != BROADCAST_4 && is_constant;
    match format {
        Format::Legacy => legacy(bytes, opcode, reg, rm),
        Format::V512 => evex(bytes, opcode, reg, second, rm, u8::from(is_spread) << 4 | mask),
        _ => vex(bytes, opcode, reg, second, rm, format == Format::V256),
    }
    bytes.push(opcode.code);
    match last {
        Operand::Register(_) => bytes.push(0xC0 | (reg & 7) << 3 | rm & 7),
        Operand::Memory(m) => {
            // In the EVEX encoding a displacement of 8 bits counts operands: whole vectors, or numbers.
            let unit = match format {
                Format::V512 if opcode == BROADCAST_4 || is_spread => 8,
                Format::V512 => 64,
                _ => 1,
            };
            let short = i8::try_from(m.offset / unit).ok().filter(|_| m.offset % unit == 0);
            address(bytes, reg, rm, short, m.offset);
        }
    }
}

/// The operand at a distance from a general register.
fn address(bytes: &mut Vec<u8>, reg: u8, base: u8, short: Option<i8>, offset: i32) {
    let fields = (reg & 7) << 3 | base & 7;
    match short {
        Some(short) => bytes.extend([0x40 | fields, short as u8]),
        None => {
            bytes.push(0x80 | fields);
            bytes.extend(offset.to_le_bytes());
        }
    }
}

fn legacy(bytes: &mut Vec<u8>, opcode: Opcode, reg: u8, rm: u8) {
    bytes.push(opcode.prefix.byte());
    if reg > 7 || rm > 7 {
        bytes.push(0x40 | (reg >> 3) << 2 | rm >> 3);
    }
    bytes.push(0x0F);
}

fn vex(bytes: &mut Vec<u8>, opcode: Opcode, reg: u8, second: u8, rm: u8, is_long: bool) {
    let fields = (!second & 15) << 3 | u8::from(is_long) << 2 | opcode.prefix as u8;
    if opcode.map == Map::M0F && !opcode.wide && rm < 8 {
        return bytes.extend([0xC5, inverted(reg, 3, 7) | fields]);
    }
    let map = inverted(reg, 3, 7) | 1 << 6 | inverted(rm, 3, 5) | opcode.map as u8;
    bytes.extend([0xC4, map, u8::from(opcode.wide) << 7 | fields]);
}

/// `last` is the number of the mask register, and whether one number is spread to all lanes.
fn evex(bytes: &mut Vec<u8>, opcode: Opcode, reg: u8, second: u8, rm: u8, last: u8) {
    let map = inverted(reg, 3, 7) | inverted(rm, 4, 6) | inverted(rm, 3, 5) | inverted(reg, 4, 4) | opcode.map as u8;
    let fields = 1 << 7 | (!second & 15) << 3 | 1 << 2 | opcode.prefix as u8;
    bytes.extend([0x62, map, fields, 0b10 << 5 | inverted(second, 4, 3) | last]);
}
