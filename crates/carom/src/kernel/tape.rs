//! A list of expressions as a straight sequence of instructions.
//!
//! Values are numbered: first the inputs, then the constants, then the results of the instructions. A value is computed once,
//! and only if an output needs it.

use std::fmt;
use std::sync::Arc;

use super::compiler::count_tape;
use super::lower::Lowering;
use crate::expr::{Expr, Func, Op};

/// The number of a value on a tape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub(super) u32);

impl Reg {
    /// The number, as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Instr {
    /// A function of one value.
    Unary(Func, Reg),
    /// A function of two values.
    Binary(Op, Reg, Reg),
    /// sin and cos of one value: two results with consecutive numbers.
    SinCos(Reg),
}

impl Instr {
    /// The operands, in order.
    pub fn operands(self) -> impl DoubleEndedIterator<Item = Reg> {
        let (first, second) = match self {
            Instr::Unary(_, a) | Instr::SinCos(a) => (a, None),
            Instr::Binary(_, a, b) => (a, Some(b)),
        };
        std::iter::once(first).chain(second)
    }

    /// The number of results.
    pub fn results(self) -> usize {
        if matches!(self, Instr::SinCos(_)) { 2 } else { 1 }
    }

    /// Replaces the operands of the instruction, and keeps its operation.
    pub(super) fn map(self, mut reg: impl FnMut(Reg) -> Reg) -> Instr {
        match self {
            Instr::Unary(f, a) => Instr::Unary(f, reg(a)),
            Instr::Binary(op, a, b) => Instr::Binary(op, reg(a), reg(b)),
            Instr::SinCos(a) => Instr::SinCos(reg(a)),
        }
    }
}

/// A symbol that occurs in an expression but is not an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnboundSymbol {
    /// Its name.
    pub name: Arc<str>,
}

impl fmt::Display for UnboundSymbol {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "`{}` has no value: it is not among the inputs", self.name)
    }
}

impl std::error::Error for UnboundSymbol {}

/// Expressions as a straight sequence of instructions.
#[derive(Clone, PartialEq, Debug)]
pub struct Tape {
    pub(super) inputs: usize,
    pub(super) constants: Vec<f64>,
    pub(super) instrs: Vec<Instr>,
    pub(super) outputs: Vec<Reg>,
}

impl Tape {
    /// Creates the tape that computes `outputs` from the symbols `inputs`.
    ///
    /// # Panics
    ///
    /// If an input is not a symbol, or is listed twice.
    pub fn new(inputs: &[Expr], outputs: &[Expr]) -> Result<Tape, UnboundSymbol> {
        count_tape(|| Lowering::run(inputs, outputs))
    }

    /// The number of instructions; sin and cos of one argument count as one.
    pub fn len(&self) -> usize {
        self.instrs.len()
    }

    /// True if there are no instructions: each output is an input or a constant.
    pub fn is_empty(&self) -> bool {
        self.instrs.is_empty()
    }

    /// The number of inputs; they have the lowest value numbers.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The constants; their value numbers follow those of the inputs.
    pub fn constants(&self) -> &[f64] {
        &self.constants
    }

    /// The values that are outputs.
    pub fn outputs(&self) -> &[Reg] {
        &self.outputs
    }

    /// The number of values.
    pub fn values(&self) -> usize {
        self.first_result() + self.instrs.iter().map(|i| i.results()).sum::<usize>()
    }

    /// The instructions in order, each with the value number of its first result.
    pub fn instructions(&self) -> impl Iterator<Item = (Reg, Instr)> {
        self.instrs.iter().scan(self.first_result() as u32, |next, &instr| {
            let reg = Reg(*next);
            *next += instr.results() as u32;
            Some((reg, instr))
        })
    }

    fn first_result(&self) -> usize {
        self.inputs + self.constants.len()
    }
}

/// One line for each instruction: `v7 = Mul v3 v5`.
impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (i, c) in self.constants.iter().enumerate() {
            writeln!(f, "v{} = {c:?}", self.inputs + i)?;
        }
        for (Reg(r), instr) in self.instructions() {
            match instr {
                Instr::Unary(func, a) => writeln!(f, "v{r} = {func:?} v{}", a.0)?,
                Instr::Binary(op, a, b) => writeln!(f, "v{r} = {op:?} v{} v{}", a.0, b.0)?,
                Instr::SinCos(a) => writeln!(f, "v{r}, v{} = SinCos v{}", r + 1, a.0)?,
            }
        }
        let outputs: Vec<String> = self.outputs.iter().map(|o| format!("v{}", o.0)).collect();
        writeln!(f, "return {}", outputs.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x() -> Expr {
        Expr::symbol("x")
    }

    fn y() -> Expr {
        Expr::symbol("y")
    }

    fn tape(outputs: &[Expr]) -> Tape {
        Tape::new(&[x(), y()], outputs).expect("x and y are the inputs")
    }

    fn count(tape: &Tape, wanted: impl Fn(Instr) -> bool) -> usize {
        tape.instructions().filter(|&(_, i)| wanted(i)).count()
    }

    fn is_mul(i: Instr) -> bool {
        matches!(i, Instr::Binary(Op::Mul, ..))
    }

    #[test]
    fn a_shared_subexpression_is_computed_once() {
        let shared = (x() + y()).exp();
        let tape = tape(&[shared * x(), shared * y(), shared]);
        assert_eq!(tape.len(), 4, "{tape}");
    }

    #[test]
    fn integer_powers_are_repeated_squares() {
        for (n, products) in [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (15, 6), (16, 4), (64, 6)] {
            let tape = tape(&[x().pow(n)]);
            assert_eq!((tape.len(), count(&tape, is_mul)), (products, products), "x^{n}:\n{tape}");
        }
        assert_eq!(tape(&[x().pow(2), x().pow(4), x().pow(8)]).len(), 3, "squares are shared");
        assert_eq!(tape(&[x().pow(65)]).len(), 1);
        assert_eq!(tape(&[x().pow(-2)]).len(), 2);
    }

    #[test]
    fn half_integer_powers_are_a_power_times_a_root() {
        let tape = tape(&[x().pow(1.5), x().pow(2.5)]);
        assert_eq!(count(&tape, |i| matches!(i, Instr::Unary(Func::Sqrt, _))), 1);
        assert_eq!(tape.len(), 4, "{tape}");
    }

    #[test]
    fn sin_and_cos_of_one_argument_are_one_instruction() {
        let angle = x() * y();
        let both = tape(&[angle.sin() + angle.cos()]);
        assert_eq!(both.len(), 3, "{both}");
        assert_eq!(count(&both, |i| matches!(i, Instr::SinCos(_))), 1);
        let apart = tape(&[x().sin(), y().cos()]);
        assert_eq!(count(&apart, |i| matches!(i, Instr::SinCos(_))), 0);
    }

    #[test]
    fn constants_are_folded_and_leave_nothing_behind() {
        let c = Expr::constant(2.0).sin() * Expr::pi() + Expr::constant(3.0).sqrt();
        let tape = tape(&[c * x(), c]);
        assert_eq!(tape.len(), 1);
        assert_eq!(tape.constants(), [2f64.sin() * std::f64::consts::PI + 3f64.sqrt()]);
    }

    #[test]
    fn divisions_by_one_thing_share_its_reciprocal() {
        let is_div = |i| matches!(i, Instr::Binary(Op::Div, ..));
        let shared = tape(&[x().sin() / y(), x().exp() / y()]);
        assert_eq!((count(&shared, is_div), count(&shared, is_mul)), (1, 2), "{shared}");
        let single = tape(&[x() / y()]);
        assert_eq!((count(&single, is_div), single.len()), (1, 1));
        let constant = tape(&[x() / 3.0, y() / 3.0]);
        assert_eq!((count(&constant, is_div), constant.len()), (2, 2));
    }

    #[test]
    fn signs_and_powers_of_two_wait_for_the_end() {
        let (a, b) = (x().exp(), y().exp());
        let sum = tape(&[0.5 * a * x() - 0.5 * b * y()]);
        assert_eq!((count(&sum, is_mul), sum.len()), (3, 6), "{sum}");
        let product = tape(&[(0.5 * a) * (2.0 * b), (-a) * (-b)]);
        assert_eq!(product.len(), 3, "{product}");
    }

    #[test]
    fn a_common_factor_is_taken_out_of_a_sum() {
        let (a, b, c) = (x().exp(), y().exp(), (x() * y()).exp());
        let once = tape(&[a * c + b * c]);
        assert_eq!(count(&once, is_mul), 2, "x·y and one more:\n{once}");
        let elsewhere = tape(&[a * c + b * c, a * c, b * c]);
        assert_eq!(elsewhere.len(), 7, "both products are there anyway:\n{elsewhere}");
    }

    #[test]
    fn an_unbound_symbol_is_named() {
        let error = Tape::new(&[x()], &[x() * Expr::symbol("omega")]).expect_err("omega is no input");
        assert_eq!(error.to_string(), "`omega` has no value: it is not among the inputs");
    }

    #[test]
    fn outputs_may_repeat_and_may_be_inputs_or_constants() {
        let tape = tape(&[y(), x(), y(), Expr::constant(7.0)]);
        assert!(tape.is_empty());
        assert_eq!(tape.outputs(), [Reg(1), Reg(0), Reg(1), Reg(2)]);
    }

    #[test]
    fn a_deep_expression_does_not_overflow_the_stack() {
        let mut e = x();
        for _ in 0..100_000 {
            e = (e + y()).sin();
        }
        assert_eq!(tape(&[e]).len(), 200_000);
    }
}
