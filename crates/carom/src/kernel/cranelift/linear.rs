//! Small linear systems: one and two equations in registers, more by a call.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, I32};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, StackSlotData, StackSlotKind, Value};

use super::emit::Emitter;
use crate::kernel::eliminate::{self, CLEARLY_REGULAR, MODERATE};

impl Emitter<'_, '_> {
    /// Solves A·x = b, with A given by rows. `is_bordered` is true for rows whose entry on the diagonal is always zero. Jumps to
    /// `singular` if A is singular in any units, as [`crate::solve::Lu::factor`] says.
    pub(super) fn solve(&mut self, a: &[Value], b: &[Value], is_bordered: &[bool], singular: Block) -> Vec<Value> {
        match b.len() {
            1 => vec![self.solve_one(a[0], b[0], singular)],
            2 => self.solve_two(a, b, is_bordered, singular),
            _ => self.eliminate(a, b, is_bordered, singular),
        }
    }

    /// b/a.
    fn solve_one(&mut self, a: Value, b: Value, singular: Block) -> Value {
        let size = self.builder.ins().fabs(a);
        let [zero, infinity] = [0.0, f64::INFINITY].map(|c| self.constant(c));
        self.go_on_if(FloatCC::GreaterThan, size, zero, singular);
        self.go_on_if(FloatCC::LessThan, size, infinity, singular);
        self.builder.ins().fdiv(b, a)
    }

    /// Solves two equations in half the time of an elimination:
    ///
    /// ```text
    /// x = [ a₁₁·b₀ − a₀₁·b₁, a₀₀·b₁ − a₁₀·b₀ ] / (a₀₀·a₁₁ − a₀₁·a₁₀)
    /// ```
    ///
    /// If the matrix is not clearly regular, falls back to elimination.
    fn solve_two(&mut self, a: &[Value], b: &[Value], is_bordered: &[bool], singular: Block) -> Vec<Value> {
        let [careful, done] = [(); 2].map(|()| self.builder.create_block());
        self.builder.set_cold_block(careful);
        let results = [(); 2].map(|()| self.builder.append_block_param(done, F64));

        let products = [self.mul(a[0], a[3]), self.mul(a[1], a[2])];
        let det = self.sub(products[0], products[1]);
        let size = self.builder.ins().fabs(det);
        let [limit, low, high] = [CLEARLY_REGULAR, MODERATE[0], MODERATE[1]].map(|c| self.constant(c));
        let product = self.max_norm(&products);
        let limit = self.mul(limit, product);
        let limit = self.max(low, limit);
        self.go_on_if(FloatCC::GreaterThan, size, limit, careful);
        self.go_on_if(FloatCC::LessThan, size, high, careful);
        let one = self.constant(1.0);
        let inverse = self.builder.ins().fdiv(one, det);
        let tops = [self.cross(a[3], b[0], a[1], b[1]), self.cross(a[0], b[1], a[2], b[0])];
        let x = tops.map(|top| self.mul(top, inverse));
        self.builder.ins().jump(done, &x.map(BlockArg::Value));

        self.enter(careful);
        let x: Vec<BlockArg> = self.eliminate(a, b, is_bordered, singular).into_iter().map(BlockArg::Value).collect();
        self.builder.ins().jump(done, &x);

        self.enter(done);
        results.to_vec()
    }

    /// a·b − c·d.
    fn cross(&mut self, a: Value, b: Value, c: Value, d: Value) -> Value {
        let (first, second) = (self.mul(a, b), self.mul(c, d));
        self.sub(first, second)
    }

    /// Elimination with row pivoting, by a call.
    fn eliminate(&mut self, a: &[Value], b: &[Value], is_bordered: &[bool], singular: Block) -> Vec<Value> {
        let bordered: u32 = is_bordered.iter().enumerate().map(|(i, &is)| u32::from(is) << i).sum();
        let size = 8 * (a.len() + b.len()) as u32;
        let slot = self.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, 3));
        let system = self.builder.ins().stack_addr(self.target.pointer, slot, 0);
        for (i, &value) in a.iter().chain(b).enumerate() {
            self.store(value, system, i);
        }
        let signature = self.builder.import_signature(self.target.of_solver());
        let callee = self.builder.ins().iconst(self.target.pointer, eliminate::address(b.len()) as i64);
        let mask = self.builder.ins().iconst(I32, i64::from(bordered));
        let call = self.builder.ins().call_indirect(signature, callee, &[system, mask]);
        let is_singular = self.builder.inst_results(call)[0];
        let next = self.builder.create_block();
        self.builder.ins().brif(is_singular, singular, &[], next, &[]);
        self.enter(next);
        (a.len()..a.len() + b.len()).map(|i| self.load(system, i)).collect()
    }

    /// Continues in a new block if the comparison holds; otherwise jumps to another.
    pub(super) fn go_on_if(&mut self, condition: FloatCC, a: Value, b: Value, elsewhere: Block) {
        let next = self.builder.create_block();
        let holds = self.builder.ins().fcmp(condition, a, b);
        self.builder.ins().brif(holds, next, &[], elsewhere, &[]);
        self.enter(next);
    }
}
