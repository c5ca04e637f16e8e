//! From a tape to operations on vectors.

use rustc_hash::FxHashMap;

use super::ir::{Arithmetic, Code, Fused, Op, Origin, Target, Vector};
use crate::expr::{self, Func};
use crate::kernel::tape::{Instr, Reg, Tape};
use crate::kernel::{Compiler, calls};

/// The vectors of the values of a tape, where they are known.
pub(super) type Values = Vec<Option<Vector>>;

impl Code {
    /// The operations of a tape whose first `lanes` inputs have one value per lane.
    pub(super) fn kernel(tape: &Tape, lanes: usize, contracts: bool, compiler: Compiler) -> Code {
        let mut code = Code::empty(compiler, contracts);
        code.begin(tape);
        let mut values: Values = vec![None; tape.values()];
        for (i, value) in values.iter_mut().enumerate().take(tape.inputs()) {
            let origin = if i < lanes { Origin::Lanes(i as u32) } else { Origin::Shared((i - lanes) as u32) };
            *value = Some(code.vector(origin));
        }
        let stores = tape.outputs().iter().copied().zip((0..).map(Target::Output)).collect();
        code.instructions(tape, &mut values, |_| true, stores);
        code
    }

    /// Begins a tape whose instructions follow. If the code contracts, products that one sum needs are fused with it ([`fusible`]).
    pub(super) fn begin(&mut self, tape: &Tape) {
        self.fusible = if self.contracts { fusible(tape) } else { FxHashMap::default() };
    }

    /// Adds the wanted instructions of a tape, and stores their results: each as soon as it is known.
    pub(super) fn instructions(
        &mut self,
        tape: &Tape,
        values: &mut Values,
        wanted: impl Fn(usize) -> bool,
        mut stores: Vec<(Reg, Target)>,
    ) {
        for (i, &c) in tape.constants().iter().enumerate() {
            values[tape.inputs() + i] = Some(self.constant(c));
        }
        stores.sort_by_key(|&(r, _)| r);
        // Those that no wanted instruction computes are known already.
        let is_known = |r: Reg, values: &Values| values[r.index()].is_some();
        let (known, stores): (Vec<_>, Vec<_>) = stores.into_iter().partition(|&(r, _)| is_known(r, values));
        self.store(known.into_iter(), values);
        let mut stores = stores.into_iter().peekable();
        for (_, (first, instr)) in tape.instructions().enumerate().filter(|&(at, _)| wanted(at)) {
            self.instruction(first, instr, values);
            let end = first.index() + instr.results();
            self.store(std::iter::from_fn(|| stores.next_if(|(r, _)| r.index() < end)), values);
        }
    }

    fn store(&mut self, stores: impl Iterator<Item = (Reg, Target)>, values: &Values) {
        for (r, target) in stores {
            self.push(Op::Store(target, known(values, r)));
        }
    }

    fn instruction(&mut self, first: Reg, instr: Instr, values: &mut Values) {
        if self.fusible.contains_key(&first) {
            return;
        }
        let results = match instr {
            Instr::Binary(op @ (expr::Op::Add | expr::Op::Sub), x, y) if self.fusible.contains_key(&x) => {
                let (a, b) = self.fusible[&x];
                let [a, b, c] = [a, b, y].map(|r| known(values, r));
                let kind = if op == expr::Op::Add { Fused::MulAdd } else { Fused::MulSub };
                [Some(self.fused(kind, a, b, c)), None]
            }
            Instr::Binary(op @ (expr::Op::Add | expr::Op::Sub), x, y) if self.fusible.contains_key(&y) => {
                let (a, b) = self.fusible[&y];
                let [a, b, c] = [a, b, x].map(|r| known(values, r));
                let kind = if op == expr::Op::Add { Fused::MulAdd } else { Fused::NegMulAdd };
                [Some(self.fused(kind, a, b, c)), None]
            }
            Instr::Unary(f, x) => [Some(self.unary(f, known(values, x))), None],
            Instr::Binary(op, x, y) => [Some(self.binary(op, known(values, x), known(values, y))), None],
            Instr::SinCos(x) => self.sin_cos(known(values, x)).map(Some),
        };
        values[first.index()..][..instr.results()].copy_from_slice(&results[..instr.results()]);
    }

    fn unary(&mut self, f: Func, x: Vector) -> Vector {
        match f {
            Func::Neg => self.neg(x),
            Func::Abs => self.abs(x),
            Func::Sqrt => self.push(Op::Sqrt(x)),
            Func::Sin => self.sin_cos(x)[0],
            Func::Cos => self.sin_cos(x)[1],
            _ => self.push(Op::Call(calls::unary(f), x, None)),
        }
    }

    fn binary(&mut self, op: expr::Op, x: Vector, y: Vector) -> Vector {
        match op {
            expr::Op::Add => self.arithmetic(Arithmetic::Add, x, y),
            expr::Op::Sub => self.arithmetic(Arithmetic::Sub, x, y),
            expr::Op::Mul => self.arithmetic(Arithmetic::Mul, x, y),
            expr::Op::Div => self.arithmetic(Arithmetic::Div, x, y),
            _ => self.push(Op::Call(calls::binary(op), x, Some(y))),
        }
    }
}

/// The products that are fused with the one sum that needs them, with their factors. A sum of two products stays as it is, because
/// a·b − c·d must be 0 if the products are equal.
fn fusible(tape: &Tape) -> FxHashMap<Reg, (Reg, Reg)> {
    let mut uses = vec![0_u32; tape.values()];
    let operands = tape.instructions().flat_map(|(_, instr)| instr.operands());
    operands.chain(tape.outputs().iter().copied()).for_each(|r| uses[r.index()] += 1);
    let mut products: FxHashMap<Reg, (Reg, Reg)> = FxHashMap::default();
    let mut fused = FxHashMap::default();
    for (first, instr) in tape.instructions() {
        match instr {
            Instr::Binary(expr::Op::Mul, a, b) => drop(products.insert(first, (a, b))),
            Instr::Binary(expr::Op::Add | expr::Op::Sub, x, y) => match (products.get(&x), products.get(&y)) {
                (Some(&factors), None) if uses[x.index()] == 1 => drop(fused.insert(x, factors)),
                (None, Some(&factors)) if uses[y.index()] == 1 => drop(fused.insert(y, factors)),
                _ => {}
            },
            _ => {}
        }
    }
    fused
}

/// The vector of a value that was computed before.
pub(super) fn known(values: &Values, r: Reg) -> Vector {
    let Some(vector) = values[r.index()] else {
        unreachable!("a tape computes values before it reads them");
    };
    vector
}
