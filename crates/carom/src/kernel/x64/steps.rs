//! The steps of an explicit Runge–Kutta method: its stages one after the other.

use super::ir::{Code, Op, Origin, Target, Vector};
use super::lower::{Values, known};
use crate::kernel::steps::{Motion, Sum, Tableau};
use crate::kernel::{Compiler, Tape};

impl Code {
    /// The operations of one step of each of several blocks of lanes, whose rows follow each other. The blocks take their stages in
    /// turns, so that the processor works on one while another waits for its results.
    pub(super) fn steps(motion: &Motion, tableau: &Tableau, blocks: usize, compiler: Compiler) -> Code {
        let mut code = Code::empty(compiler);
        let (varies, reads) = (varies(motion.field, 1 + 2 * motion.n), reads(motion.field));
        let mut steps: Vec<Step> = (0..blocks).map(|block| Step::new(&mut code, motion, block)).collect();
        for stage in 1..tableau.a.len() {
            steps.iter_mut().for_each(|step| step.stage(&mut code, tableau, stage, &varies, &reads));
        }
        steps.iter().for_each(|step| step.end(&mut code, tableau));
        code
    }
}

/// For each instruction of a tape: whether it depends on one of the first inputs.
fn varies(tape: &Tape, inputs: usize) -> Vec<bool> {
    let mut values = vec![false; tape.values()];
    values[..inputs].fill(true);
    let mut varies = Vec::with_capacity(tape.len());
    for (first, instr) in tape.instructions() {
        let depends = instr.operands().any(|operand| values[operand.index()]);
        values[first.index()..][..instr.results()].fill(depends);
        varies.push(depends);
    }
    varies
}

/// For each input of a tape: whether it is read.
fn reads(tape: &Tape) -> Vec<bool> {
    let mut reads = vec![false; tape.values()];
    let operands = tape.instructions().flat_map(|(_, instr)| instr.operands().collect::<Vec<_>>());
    operands.chain(tape.outputs().iter().copied()).for_each(|value| reads[value.index()] = true);
    reads.truncate(tape.inputs());
    reads
}

/// A step whose stages are computed so far.
struct Step<'a> {
    motion: &'a Motion<'a>,
    /// The number of the block.
    block: usize,
    /// t, q, v, parameters at the beginning.
    z: Vec<Vector>,
    h: Vector,
    /// (v, a) of each stage so far.
    rates: Vec<Vec<Vector>>,
    /// The values of the field's tape at the last stage. What depends on parameters alone is computed at the first.
    values: Values,
}

impl<'a> Step<'a> {
    fn new(code: &mut Code, motion: &'a Motion<'a>, block: usize) -> Step<'a> {
        let (n, inputs, first) = (motion.n, motion.node.inputs(), block * motion.rows_before());
        let mut row = |i: usize| code.vector(Origin::Lanes((first + i) as u32));
        let z: Vec<Vector> = (0..inputs).map(&mut row).collect();
        let h = row(inputs);
        let a: Vec<Vector> = (0..n).map(|i| row(inputs + 1 + i)).collect();
        let rates = vec![[&z[1 + n..1 + 2 * n], &a[..]].concat()];
        Step { motion, block, z, h, rates, values: vec![None; motion.field.values()] }
    }

    /// Σⱼ wⱼ of one component of (v, a).
    fn weigh(&self, code: &mut Code, sum: Sum, i: usize) -> Vector {
        let mut total: Option<Vector> = None;
        for &(j, weight) in sum {
            let (rate, weight) = (self.rates[j][i], code.constant(weight));
            total = Some(match total {
                None => code.mul(rate, weight),
                Some(total) => code.mul_add(rate, weight, total),
            });
        }
        total.unwrap_or_else(|| code.constant(0.0))
    }

    /// (t, q, v) + h·(c, Σ wⱼ vⱼ, Σ wⱼ aⱼ) where it is wanted, and the parameters.
    fn combine(&self, code: &mut Code, c: f64, sum: Sum, wanted: impl Fn(usize) -> bool) -> Vec<Vector> {
        let mut z = self.z.clone();
        if wanted(0) {
            let c = code.constant(c);
            z[0] = code.mul_add(self.h, c, self.z[0]);
        }
        for i in (0..2 * self.motion.n).filter(|i| wanted(1 + i)) {
            let total = self.weigh(code, sum, i);
            z[1 + i] = code.mul_add(self.h, total, self.z[1 + i]);
        }
        z
    }

    fn stage(&mut self, code: &mut Code, tableau: &Tableau, stage: usize, varies: &[bool], reads: &[bool]) {
        let (n, field) = (self.motion.n, self.motion.field);
        // The velocities of a stage are rates of later stages.
        let wanted = |row: usize| reads[row] || row > n;
        let z = self.combine(code, tableau.c[stage], tableau.a[stage], wanted);
        z.iter().zip(&mut self.values).for_each(|(z, value)| *value = Some(*z));
        code.instructions(field, &mut self.values, |at| stage == 1 || varies[at], Vec::new());
        let v = z[1 + n..1 + 2 * n].iter().copied();
        self.rates.push(v.chain(field.outputs().iter().map(|&a| known(&self.values, a))).collect());
    }

    fn end(&self, code: &mut Code, tableau: &Tableau) {
        let Motion { n, node, .. } = *self.motion;
        let first = (self.block * self.motion.rows_after()) as u32;
        let z = self.combine(code, 1.0, tableau.b, |_| true);
        for (&z, row) in z.iter().zip(first..).take(1 + 2 * n) {
            code.push(Op::Store(Target::Output(row), z));
        }
        let of_node = first + 1 + 2 * n as u32;
        let mut row = of_node + node.outputs().len() as u32;
        for sum in tableau.errors {
            for i in 0..2 * n {
                let total = self.weigh(code, sum, i);
                code.push(Op::Store(Target::Output(row), total));
                row += 1;
            }
        }
        let mut values: Values = vec![None; node.values()];
        z.iter().zip(&mut values).for_each(|(z, value)| *value = Some(*z));
        let rows = (of_node..).map(Target::Output);
        code.instructions(node, &mut values, |_| true, node.outputs().iter().copied().zip(rows).collect());
    }
}
