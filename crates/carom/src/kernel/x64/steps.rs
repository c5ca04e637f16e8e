//! The steps of an explicit Runge–Kutta method: its stages one after the other.

use super::ir::{Code, Op, Origin, Target, Vector};
use super::lower::{Values, known};
use crate::kernel::steps::{Motion, Sum, Tableau};
use crate::kernel::{Compiler, Tape};

impl Code {
    /// The operations of one step of each of several blocks of lanes, whose rows follow each other. The blocks take their stages in
    /// turns, so that the processor works on one while another waits for its results. They contract as the kernels of lanes do.
    pub(super) fn steps(motion: &Motion, tableau: &Tableau, blocks: usize, compiler: Compiler) -> Code {
        let mut code = Code::empty(compiler, true);
        let (varies, reads) = (varies(motion.field, 1 + 2 * motion.n), reads(motion.field));
        let mut steps: Vec<Step> = (0..blocks).map(|block| Step::new(&mut code, motion, block)).collect();
        code.begin(motion.field);
        for stage in 1..tableau.a.len() {
            code.in_turns(&mut steps, |code, step| step.stage(code, tableau, stage, &varies, &reads));
        }
        code.begin(motion.node);
        code.in_turns(&mut steps, |code, step| step.end(code, tableau));
        code
    }

    /// Adds the operations of all steps, some of each in turns.
    fn in_turns<S>(&mut self, steps: &mut [S], mut add: impl FnMut(&mut Code, &mut S)) {
        let before = std::mem::take(&mut self.ops);
        let operations = steps.iter_mut().map(|step| {
            add(self, step);
            std::mem::take(&mut self.ops)
        });
        let parts: Vec<_> = operations.collect();
        self.ops = before;
        let mut rest: Vec<_> = parts.iter().map(|part| part.chunks(GRAIN)).collect();
        while rest.iter().any(|rest| rest.len() > 0) {
            for rest in &mut rest {
                self.ops.extend(rest.next().into_iter().flatten());
            }
        }
    }
}

/// So many operations of one step follow each other before it is the turn of the next: the processor looks ahead for less than a stage.
const GRAIN: usize = 16;

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

    /// Σⱼ wⱼ of these components of (v, a), for each sum. They are added up together, so that rates and weights are read once for all
    /// of them.
    fn weigh<const M: usize>(&self, code: &mut Code, sums: [Sum; M], components: &[usize]) -> [Vec<Vector>; M] {
        let mut totals = [(); M].map(|()| Vec::with_capacity(components.len()));
        for (j, rates) in self.rates.iter().enumerate() {
            for (sum, totals) in sums.into_iter().zip(&mut totals) {
                let Some(&(_, weight)) = sum.iter().find(|(stage, _)| *stage == j) else { continue };
                let weight = code.constant(weight);
                if totals.is_empty() {
                    totals.extend(components.iter().map(|&i| code.mul(rates[i], weight)));
                } else {
                    totals.iter_mut().zip(components).for_each(|(total, &i)| {
                        *total = code.mul_add(rates[i], weight, *total);
                    });
                }
            }
        }
        totals
    }

    /// (t, q, v) + h·(c, Σ wⱼ vⱼ, Σ wⱼ aⱼ) where there is a sum, and the parameters; t if c is given.
    fn combine(&self, code: &mut Code, c: Option<f64>, components: &[usize], totals: &[Vector]) -> Vec<Vector> {
        let mut z = self.z.clone();
        if let Some(c) = c {
            let c = code.constant(c);
            z[0] = code.mul_add(self.h, c, self.z[0]);
        }
        for (&i, &total) in components.iter().zip(totals) {
            z[1 + i] = code.mul_add(self.h, total, self.z[1 + i]);
        }
        z
    }

    fn stage(&mut self, code: &mut Code, tableau: &Tableau, stage: usize, varies: &[bool], reads: &[bool]) {
        let (n, field) = (self.motion.n, self.motion.field);
        // The velocities of a stage are rates of later stages.
        let wanted: Vec<usize> = (0..2 * n).filter(|i| reads[1 + i] || *i >= n).collect();
        let [totals] = self.weigh(code, [tableau.a[stage]], &wanted);
        let z = self.combine(code, reads[0].then_some(tableau.c[stage]), &wanted, &totals);
        z.iter().zip(&mut self.values).for_each(|(z, value)| *value = Some(*z));
        code.instructions(field, &mut self.values, |at| stage == 1 || varies[at], Vec::new());
        let v = z[1 + n..1 + 2 * n].iter().copied();
        self.rates.push(v.chain(field.outputs().iter().map(|&a| known(&self.values, a))).collect());
    }

    fn end(&self, code: &mut Code, tableau: &Tableau) {
        let Motion { n, node, .. } = *self.motion;
        let first = (self.block * self.motion.rows_after()) as u32;
        let all: Vec<usize> = (0..2 * n).collect();
        let [ends, error, mut other] = self.weigh(code, [tableau.b, tableau.error, tableau.less_embedded], &all);
        ends.iter().zip(&mut other).for_each(|(&end, other)| *other = code.add(end, *other));
        let z = self.combine(code, Some(1.0), &all, &ends);
        let of_node = first + 1 + 2 * n as u32;
        let of_errors = of_node + node.outputs().len() as u32;
        let stores = z[..1 + 2 * n].iter().zip(first..).chain(error.iter().chain(&other).zip(of_errors..));
        for (&value, row) in stores {
            code.push(Op::Store(Target::Output(row), value));
        }
        let mut values: Values = vec![None; node.values()];
        z.iter().zip(&mut values).for_each(|(z, value)| *value = Some(*z));
        let rows = (of_node..).map(Target::Output);
        code.instructions(node, &mut values, |_| true, node.outputs().iter().copied().zip(rows).collect());
    }
}
