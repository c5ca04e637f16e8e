//! Newton's method as one native function: the equations, the linear system, the stopping rule and the results.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I32};
use cranelift_codegen::ir::{AbiParam, Block, BlockArg, InstBuilder, Value};

use super::emit::{Emitter, Target, known};
use super::module::{Effort, Functions, host};
use crate::kernel::KernelError;
use crate::kernel::newton::{Equations, NewtonStatus};
use crate::limits::{LAST_CORRECTION, NOTHING, QUICK_ITERATIONS};

/// Compiles a function of the constants, the inputs, the state and the results.
pub(super) fn compile(equations: &Equations) -> Result<Functions, KernelError> {
    let isa = host(Effort::for_length(equations.tape.len()))?;
    let target = Target::of(&*isa);
    let mut signature = target.of_pointers(4);
    signature.returns = vec![AbiParam::new(I32)];
    Functions::new(isa, target, &signature, 1, |_, emitter, &[inputs, state, results]| {
        Emission { emitter, equations, inputs, state, results }.run();
    })
}

/// The basic blocks of the function.
struct Blocks {
    /// x, the number of iterations so far
    next: Block,
    /// x, the number of iterations
    converged: Block,
    /// x
    unfinished: Block,
    singular: Block,
    diverged: Block,
}

struct Emission<'a, 'b, 'f> {
    emitter: &'a mut Emitter<'b, 'f>,
    equations: &'a Equations,
    inputs: Value,
    state: Value,
    results: Value,
}

impl Emission<'_, '_, '_> {
    /// ```text
    /// instructions that depend only on the given inputs
    /// next:       r, ∂r/∂x at x;  dx = (∂r/∂x)⁻¹ r;  x ← x − dx;  go to converged, diverged, unfinished or next
    /// converged:  results at x
    /// ```
    fn run(mut self) {
        let inputs = self.load_inputs();
        let mut values = known(&self.equations.tape, &inputs);
        self.emitter.instructions(&self.equations.tape, &mut values, |at| self.equations.is_fixed[at]);

        let blocks = self.blocks();
        let zero = self.emitter.builder.ins().iconst(I32, 0);
        let start: Vec<Value> = inputs[self.equations.state.end..].iter().copied().chain([zero]).collect();
        self.jump(blocks.next, &start);
        self.iteration(&blocks, values.clone());
        self.finish(&blocks, values);
        self.leave(&blocks);
        for (block, status) in [(blocks.singular, NewtonStatus::Singular), (blocks.diverged, NewtonStatus::Diverged)] {
            self.emitter.enter(block);
            let status = self.emitter.builder.ins().iconst(I32, status as i64);
            self.emitter.builder.ins().return_(&[status]);
        }
    }

    fn load_inputs(&mut self) -> Vec<Value> {
        let (carried, state) = (&self.equations.carried, &self.equations.state);
        let load = |i: usize| {
            if state.contains(&i) {
                self.emitter.load_fixed(self.state, i - state.start)
            } else if i < carried.start {
                self.emitter.load_fixed(self.inputs, i)
            } else {
                self.emitter.load(self.inputs, i)
            }
        };
        (0..self.equations.tape.inputs()).map(load).collect()
    }

    fn blocks(&mut self) -> Blocks {
        let builder = &mut *self.emitter.builder;
        let [next, converged, unfinished, singular, diverged] = [(); 5].map(|()| builder.create_block());
        for block in [next, converged, unfinished] {
            (0..self.equations.n).for_each(|_| _ = builder.append_block_param(block, F64));
        }
        builder.append_block_param(next, I32);
        builder.append_block_param(converged, I32);
        [unfinished, singular, diverged].into_iter().for_each(|block| builder.set_cold_block(block));
        Blocks { next, converged, unfinished, singular, diverged }
    }

    fn jump(&mut self, block: Block, values: &[Value]) {
        let arguments: Vec<BlockArg> = values.iter().map(|&v| BlockArg::Value(v)).collect();
        self.emitter.builder.ins().jump(block, &arguments);
    }

    fn iteration(&mut self, blocks: &Blocks, mut values: Vec<Option<Value>>) {
        let (n, tape) = (self.equations.n, &self.equations.tape);
        self.emitter.builder.switch_to_block(blocks.next);
        let x = self.emitter.builder.block_params(blocks.next)[..n].to_vec();
        let count = self.emitter.builder.block_params(blocks.next)[n];
        x.iter().zip(&mut values[self.equations.state.end..]).for_each(|(&x, value)| *value = Some(x));
        self.emitter.instructions(tape, &mut values, |at| self.equations.is_iterated[at]);
        let [outputs, _, _] = self.equations.outputs();
        let outputs: Vec<Value> = outputs.iter().map(|&r| self.emitter.operand(tape, &values, r)).collect();
        let (r, slopes) = outputs.split_at(n);
        let dx = self.emitter.solve(slopes, r, &self.equations.is_bordered, blocks.singular);
        let x: Vec<Value> = x.iter().zip(&dx).map(|(&x, &dx)| self.emitter.sub(x, dx)).collect();
        let count = self.emitter.builder.ins().iadd_imm_u(count, 1);
        self.decide(blocks, &x, &dx, count);
        self.emitter.builder.seal_block(blocks.next);
    }

    /// The first condition of `solve::StopRule`: maxᵢ (|dxᵢ| − 10⁻⁹|xᵢ|) ≤ 0, but for denormal numbers.
    fn decide(&mut self, blocks: &Blocks, x: &[Value], dx: &[Value], count: Value) {
        let e = &mut *self.emitter;
        // Only a sum propagates every NaN, and x contains those of dx.
        let sizes: Vec<Value> = x.iter().map(|&x| e.builder.ins().fabs(x)).collect();
        let sum = sizes[1..].iter().fold(sizes[0], |sum, &size| e.add(sum, size));
        let [infinity, part, nothing] = [f64::INFINITY, LAST_CORRECTION, NOTHING].map(|c| e.constant(c));
        e.go_on_if(FloatCC::LessThan, sum, infinity, blocks.diverged);
        let mut over = Vec::with_capacity(x.len());
        for (&dx, &size) in dx.iter().zip(&sizes) {
            let (step, limit) = (e.builder.ins().fabs(dx), e.mul(part, size));
            over.push(e.sub(step, limit));
        }
        let most = over[1..].iter().fold(over[0], |most, &over| e.max(most, over));
        let is_last = e.builder.ins().fcmp(FloatCC::LessThanOrEqual, most, nothing);
        let again = e.builder.create_block();
        let arguments = |values: &[Value]| values.iter().map(|&v| BlockArg::Value(v)).collect::<Vec<_>>();
        let (done, unknowns) = (arguments(&[x, &[count]].concat()), arguments(x));
        e.builder.ins().brif(is_last, blocks.converged, &done, again, &[]);

        e.enter(again);
        let may_go_on = e.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, count, QUICK_ITERATIONS as i64);
        e.builder.ins().brif(may_go_on, blocks.next, &done, blocks.unfinished, &unknowns);
    }

    /// Stores the unknowns of a problem that is not solved.
    fn leave(&mut self, blocks: &Blocks) {
        let e = &mut *self.emitter;
        e.enter(blocks.unfinished);
        let x = e.builder.block_params(blocks.unfinished).to_vec();
        x.iter().enumerate().for_each(|(i, &x)| e.store(x, self.inputs, self.equations.state.end + i));
        let code = (QUICK_ITERATIONS as i64) << 8 | NewtonStatus::Unfinished as i64;
        let status = e.builder.ins().iconst(I32, code);
        e.builder.ins().return_(&[status]);
    }

    fn finish(&mut self, blocks: &Blocks, mut values: Vec<Option<Value>>) {
        let (n, given, tape) = (self.equations.n, self.equations.state.end, &self.equations.tape);
        let e = &mut *self.emitter;
        e.enter(blocks.converged);
        let x = e.builder.block_params(blocks.converged)[..n].to_vec();
        let count = e.builder.block_params(blocks.converged)[n];
        for (i, &x) in x.iter().enumerate() {
            e.store(x, self.inputs, given + i);
            values[given + i] = Some(x);
        }
        e.instructions(tape, &mut values, |at| self.equations.is_final[at]);
        let [_, results, next] = self.equations.outputs();
        for (array, first, outputs) in [(self.results, 0, results), (self.inputs, self.equations.carried.start, next)] {
            for (i, &r) in outputs.iter().enumerate() {
                let value = e.operand(tape, &values, r);
                e.store(value, array, first + i);
            }
        }
        let status = e.builder.ins().ishl_imm_u(count, 8);
        e.builder.ins().return_(&[status]);
    }
}
