//! Evaluation of a tape on jets.

use super::Algebra;
use super::taylor::{coefficients, power};
use crate::expr::{Func, Op};
use crate::kernel::{Instr, Tape};

/// The values of a tape as jets. Inputs before `first` are numbers and the others are jets. Values that depend only on numbers
/// are computed as numbers.
#[derive(Clone, Debug)]
pub struct JetSweep {
    tape: Tape,
    stride: usize,
    values: Vec<f64>,
    active: Vec<bool>,
    room: Room,
}

/// Working memory.
#[derive(Clone, Debug)]
struct Room {
    taylor: Vec<f64>,
    jets: [Vec<f64>; 3],
}

/// An operand: a jet, and whether it has terms beyond the constant.
type Operand<'a> = (&'a [f64], bool);

impl JetSweep {
    /// Allocates the values of the tape.
    pub fn new(tape: Tape, algebra: &Algebra, first: usize) -> JetSweep {
        let stride = algebra.size(algebra.degree());
        let mut active: Vec<bool> = (0..tape.values()).map(|i| (first..tape.inputs()).contains(&i)).collect();
        for (reg, instr) in tape.instructions() {
            let any = instr.operands().any(|x| active[x.index()]);
            active[reg.index()..][..instr.results()].fill(any);
        }
        let mut values = vec![0.0; stride * tape.values()];
        for (i, &c) in tape.constants().iter().enumerate() {
            values[(tape.inputs() + i) * stride] = c;
        }
        let room = Room { taylor: vec![0.0; algebra.degree() + 1], jets: std::array::from_fn(|_| vec![0.0; stride]) };
        JetSweep { tape, stride, values, active, room }
    }

    /// Input i, writable.
    pub fn input_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.stride..][..self.stride]
    }

    /// Output i.
    pub fn output(&self, i: usize) -> &[f64] {
        &self.values[self.tape.outputs()[i].index() * self.stride..][..self.stride]
    }

    /// Computes the outputs up to this degree.
    pub fn run(&mut self, algebra: &Algebra, degree: usize) {
        for (reg, instr) in self.tape.instructions() {
            let (known, rest) = self.values.split_at_mut(reg.index() * self.stride);
            let value = |i: usize| (&known[i * self.stride..][..self.stride], self.active[i]);
            let (out, next) = rest.split_at_mut(self.stride);
            match instr {
                Instr::Unary(f, x) => self.room.unary(algebra, f, value(x.index()), out, degree),
                Instr::Binary(op, x, y) => {
                    self.room.binary(algebra, op, value(x.index()), value(y.index()), out, degree)
                }
                Instr::SinCos(x) => {
                    self.room.unary(algebra, Func::Sin, value(x.index()), out, degree);
                    self.room.unary(algebra, Func::Cos, value(x.index()), &mut next[..self.stride], degree);
                }
            }
        }
    }
}

impl Room {
    fn unary(&mut self, algebra: &Algebra, f: Func, (x, active): Operand, out: &mut [f64], degree: usize) {
        match f {
            _ if !active => out[0] = f.apply(x[0]),
            Func::Neg => out.iter_mut().zip(&x[..algebra.size(degree)]).for_each(|(out, x)| *out = -x),
            _ => {
                coefficients(f, x[0], &mut self.taylor[..=degree]);
                algebra.compose(&self.taylor, x, out, &mut self.jets[0], degree);
            }
        }
    }

    fn binary(&mut self, algebra: &Algebra, op: Op, x: Operand, y: Operand, out: &mut [f64], degree: usize) {
        let size = algebra.size(degree);
        let ((x, x_active), (y, y_active)) = (x, y);
        let both = out[..size].iter_mut().zip(x.iter().zip(y));
        match op {
            _ if !x_active && !y_active => out[0] = op.apply(x[0], y[0]),
            Op::Add => both.for_each(|(out, (x, y))| *out = x + y),
            Op::Sub => both.for_each(|(out, (x, y))| *out = x - y),
            Op::Mul if !y_active => both.for_each(|(out, (x, _))| *out = x * y[0]),
            Op::Mul if !x_active => both.for_each(|(out, (_, y))| *out = x[0] * y),
            Op::Mul => algebra.mul(x, y, out, degree),
            Op::Div if !y_active => both.for_each(|(out, (x, _))| *out = x / y[0]),
            Op::Div => algebra.div(x, y, out, degree),
            Op::Pow if !y_active => {
                power(x[0], y[0], &mut self.taylor[..=degree]);
                algebra.compose(&self.taylor, x, out, &mut self.jets[0], degree);
            }
            Op::Pow => self.power(algebra, x, y, out, degree),
            Op::Atan2 => self.angle(algebra, x, y, out, degree),
            // At the kink, the mean of both sides, as for |x|.
            Op::Min | Op::Max => {
                let larger = Func::Sign.apply(if op == Op::Max { x[0] - y[0] } else { y[0] - x[0] });
                both.for_each(|(out, (x, y))| *out = 0.5 * ((1.0 + larger) * x + (1.0 - larger) * y));
                out[0] = op.apply(x[0], y[0]);
            }
            Op::Where if x[0] == 0.0 => out[..size].fill(0.0),
            Op::Where => out[..size].copy_from_slice(&y[..size]),
        }
    }

    /// x^y = exp(y log x).
    fn power(&mut self, algebra: &Algebra, x: &[f64], y: &[f64], out: &mut [f64], degree: usize) {
        let [scratch, log, product] = &mut self.jets;
        coefficients(Func::Log, x[0], &mut self.taylor[..=degree]);
        algebra.compose(&self.taylor, x, log, scratch, degree);
        algebra.mul(y, log, product, degree);
        coefficients(Func::Exp, product[0], &mut self.taylor[..=degree]);
        algebra.compose(&self.taylor, product, out, scratch, degree);
    }

    /// atan2(y, x), which equals atan(y/x) or −atan(x/y) up to a constant.
    fn angle(&mut self, algebra: &Algebra, y: &[f64], x: &[f64], out: &mut [f64], degree: usize) {
        let [scratch, ratio, _] = &mut self.jets;
        let flat = y[0].abs() < x[0].abs();
        if flat {
            algebra.div(y, x, ratio, degree)
        } else {
            algebra.div(x, y, ratio, degree)
        }
        coefficients(Func::Atan, ratio[0], &mut self.taylor[..=degree]);
        algebra.compose(&self.taylor, ratio, out, scratch, degree);
        if !flat {
            out[..algebra.size(degree)].iter_mut().for_each(|c| *c = -*c);
        }
        out[0] = y[0].atan2(x[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, eval};

    /// Compares all derivatives up to the fourth of a function that uses all operations with exact differentiation.
    #[test]
    fn jets_hold_the_derivatives() {
        let [a, x, y] = ["a", "x", "y"].map(Expr::symbol);
        let f = (a * x).sin() * y.cos() / (x * x + 1.0) + (x * y + 2.0).pow(x) - y.atan2(x).tan() + x.pow(-1.5).abs()
            - a.exp() * (x + a).sqrt()
            + x.sin();
        let algebra = Algebra::new(2, 4);
        let tape = Tape::new(&[a, x, y], &[f]).expect("all symbols are inputs");
        let mut sweep = JetSweep::new(tape, &algebra, 1);
        let at = [0.7, 1.1, 0.3];
        for (i, value) in at.iter().enumerate() {
            sweep.input_mut(i)[0] = *value;
        }
        (sweep.input_mut(1)[1], sweep.input_mut(2)[2]) = (1.0, 1.0);
        sweep.run(&algebra, 4);
        let symbols: Vec<(Expr, f64)> = [a, x, y].into_iter().zip(at).collect();
        let (mut jet, mut slope) = (sweep.output(0).to_vec(), vec![0.0; algebra.size(4)]);
        let mut exact = f;
        for (degree, (v, symbol)) in [(0, x), (1, y), (0, x), (1, y)].into_iter().enumerate() {
            algebra.derivative(&jet, v, &mut slope, 3 - degree);
            std::mem::swap(&mut jet, &mut slope);
            exact = exact.diff(symbol);
            let expected = eval(&[exact], &symbols)[0];
            assert!((jet[0] - expected).abs() < 1e-13 * (1.0 + expected.abs()), "{} {expected}", jet[0]);
        }
    }
}
