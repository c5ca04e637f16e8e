//! The tape interpreter. It works on every machine, and compiled code is tested against it.

use super::scratch::with_scratch;
use super::tape::{Instr, Reg, Tape};
use crate::expr::Op;

/// An instruction whose operands are indices into the scratch space.
#[derive(Clone, Copy, Debug)]
struct Step {
    instr: Instr,
    result: u32,
    /// The index of the second result, if there is one.
    second: u32,
}

/// A tape with a slot for each value: inputs, constants, then slots that are reused after the last use of their value.
#[derive(Debug)]
pub(super) struct Program {
    inputs: usize,
    constants: Vec<f64>,
    steps: Vec<Step>,
    outputs: Vec<u32>,
    places: usize,
}

impl Program {
    pub(super) fn new(tape: &Tape) -> Program {
        let last_use = last_uses(tape);
        let fixed = (tape.inputs + tape.constants.len()) as u32;
        let mut places = fixed;
        let mut place_of: Vec<u32> = (0..tape.values() as u32).collect();
        let mut free: Vec<u32> = Vec::new();
        let mut steps = Vec::with_capacity(tape.len());
        for (at, (first, instr)) in tape.instructions().enumerate() {
            let placed = instr.map(|r| Reg(place_of[r.index()]));
            let mut released: Vec<u32> = instr
                .operands()
                .filter(|r| r.0 >= fixed && last_use[r.index()] == at)
                .map(|r| place_of[r.index()])
                .collect();
            released.dedup();
            free.append(&mut released);
            let mut result = [0; 2];
            for (k, place) in result.iter_mut().enumerate().take(instr.results()) {
                *place = free.pop().unwrap_or_else(|| {
                    places += 1;
                    places - 1
                });
                place_of[first.index() + k] = *place;
            }
            steps.push(Step { instr: placed, result: result[0], second: result[1] });
            let unused = (0..instr.results()).filter(|k| last_use[first.index() + k] == NEVER);
            free.extend(unused.map(|k| result[k]));
        }
        Program {
            inputs: tape.inputs,
            constants: tape.constants.clone(),
            steps,
            outputs: tape.outputs.iter().map(|r| place_of[r.index()]).collect(),
            places: places as usize,
        }
    }

    pub(super) fn eval(&self, x: &[f64], out: &mut [f64]) {
        with_scratch(self.places, |scratch| {
            let (inputs, rest) = scratch.split_at_mut(self.inputs);
            inputs.copy_from_slice(x);
            rest[..self.constants.len()].copy_from_slice(&self.constants);
            for step in &self.steps {
                step.run(scratch);
            }
            for (o, &place) in out.iter_mut().zip(&self.outputs) {
                *o = scratch[place as usize];
            }
        });
    }

    /// Evaluates K lanes: number i of lane k is at i·K + k; the `shared` inputs are the same for all lanes.
    pub(super) fn eval_lanes<const K: usize>(&self, x: &[f64], shared: &[f64], out: &mut [f64]) {
        with_scratch(self.places * K, |scratch| {
            let (values, _) = scratch.as_chunks_mut::<K>();
            values.as_flattened_mut()[..x.len()].copy_from_slice(x);
            let same = shared.iter().chain(&self.constants);
            for (value, &number) in values[x.len() / K..].iter_mut().zip(same) {
                *value = [number; K];
            }
            for step in &self.steps {
                step.run_lanes(values);
            }
            for (o, &place) in out.as_chunks_mut::<K>().0.iter_mut().zip(&self.outputs) {
                *o = values[place as usize];
            }
        });
    }
}

impl Step {
    fn run_lanes<const K: usize>(&self, v: &mut [[f64; K]]) {
        v[self.result as usize] = match self.instr {
            Instr::Unary(f, x) => v[x.index()].map(|x| f.apply(x)),
            Instr::Binary(op, x, y) => {
                let (x, y) = (&v[x.index()], &v[y.index()]);
                // Dispatch once for all lanes.
                match op {
                    Op::Add => std::array::from_fn(|k| x[k] + y[k]),
                    Op::Sub => std::array::from_fn(|k| x[k] - y[k]),
                    Op::Mul => std::array::from_fn(|k| x[k] * y[k]),
                    Op::Div => std::array::from_fn(|k| x[k] / y[k]),
                    _ => std::array::from_fn(|k| op.apply(x[k], y[k])),
                }
            }
            Instr::SinCos(x) => {
                let both = v[x.index()].map(f64::sin_cos);
                v[self.second as usize] = both.map(|(_, cos)| cos);
                both.map(|(sin, _)| sin)
            }
        };
    }

    fn run(&self, v: &mut [f64]) {
        v[self.result as usize] = match self.instr {
            Instr::Unary(f, x) => f.apply(v[x.index()]),
            Instr::Binary(op, x, y) => op.apply(v[x.index()], v[y.index()]),
            Instr::SinCos(x) => {
                let (sin, cos) = v[x.index()].sin_cos();
                v[self.second as usize] = cos;
                sin
            }
        };
    }
}

const NEVER: usize = usize::MAX;

/// For each value, the index of the last instruction that reads it; outputs count as read after the end.
fn last_uses(tape: &Tape) -> Vec<usize> {
    let mut last = vec![NEVER; tape.values()];
    for (at, (_, instr)) in tape.instructions().enumerate() {
        for r in instr.operands() {
            last[r.index()] = at;
        }
    }
    for r in &tape.outputs {
        last[r.index()] = tape.len();
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Expr;

    #[test]
    fn places_are_used_again() {
        let x = Expr::symbol("x");
        let mut e = x;
        for _ in 0..1000 {
            e = (e + x).sin();
        }
        let program = Program::new(&Tape::new(&[x], &[e]).expect("x is bound"));
        assert_eq!(program.places, 3, "x, the 2 of x + x, and one more");
    }
}
