//! Selections by masks, and changes of single bits.
//!
//! With 512 bits masks have a register of their own, and one instruction combines three operands.

use super::allocate::Allocator;
use super::encode::{self, Operand};
use super::ir::{Arithmetic, Op, Vector};

impl Allocator<'_> {
    /// True if vectors have 512 bits.
    pub(super) fn is_wide(&self) -> bool {
        self.registers.out.lanes == 8
    }

    /// Notes that an operation may have changed the mask register.
    pub(super) fn forget_mask(&mut self, op: Op) {
        let keeps = match op {
            Op::Arithmetic(kind, ..) => !matches!(kind, Arithmetic::AtMost | Arithmetic::Less),
            Op::Fused(..) | Op::Select(..) | Op::Flip(..) | Op::Sqrt(_) | Op::ShiftLeft(..) | Op::Store(..) => true,
            _ => false,
        };
        if !keeps {
            self.in_mask = None;
        }
    }

    pub(super) fn select(&mut self, result: Vector, mask: Vector, a: Vector, b: Vector) {
        // Two selections by one mask follow each other.
        let by =
            if self.is_wide() && self.in_mask == Some(mask) { None } else { Some(self.registers.in_register(mask)) };
        let first = self.registers.in_register(a);
        let second = self.bits(b);
        let d = self.registers.define(result, &[mask, a, b]);
        self.out().select(d, by, first, second);
        self.in_mask = Some(mask);
    }

    pub(super) fn flip(&mut self, result: Vector, a: Vector, b: Vector, mask: Vector) {
        let [first, second] = [a, b].map(|v| self.registers.in_register(v));
        let mask_operand = self.bits(mask);
        if !self.is_wide() {
            let changes = self.registers.vacant();
            self.out().binary(encode::AND, changes, second, mask_operand);
            let d = self.registers.define(result, &[a, b, mask]);
            return self.out().binary(encode::XOR, d, first, Operand::Register(changes));
        }
        if self.registers.ends_in_register(a) && a != b {
            self.out().flip(first, second, mask_operand);
            self.registers.release(&[b, mask]);
            return self.registers.take_over(result, a, first);
        }
        let d = self.registers.vacant();
        self.out().copy(d, first);
        self.out().flip(d, second, mask_operand);
        self.registers.release(&[a, b, mask]);
        self.registers.bind(result, d);
    }
}
