//! Newton's method as one function: the equations, the linear system, the stopping rule and the results.

use super::ir::{Arithmetic, Code, Exit, Iteration, Linear, Op, Origin, Target, Vector};
use super::lower::{Values, known};
use crate::kernel::Compiler;
use crate::kernel::eliminate::{CLEARLY_REGULAR, MODERATE};
use crate::kernel::newton::Equations;
use crate::kernel::tape::Reg;
use crate::limits::{LAST_CORRECTION, NOTHING};

impl Code {
    /// ```text
    /// instructions that depend only on the given inputs
    /// head:  r, ∂r/∂x at x;  dx = (∂r/∂x)⁻¹ r;  x ← x − dx;  go to the head, or on, or leave
    /// results at x
    /// ```
    ///
    /// The inputs are those of [`Equations`]; the state is shared.
    pub(super) fn newton(equations: &Equations, compiler: Compiler) -> Code {
        let mut code = Code::empty(compiler, false);
        let Equations { tape, state, carried, .. } = equations;
        let mut values: Values = vec![None; tape.values()];
        for i in 0..state.end {
            let origin =
                if state.contains(&i) { Origin::Shared((i - state.start) as u32) } else { Origin::Lanes(i as u32) };
            let input = code.vector(origin);
            // What is carried is overwritten before it is last read.
            values[i] = Some(if carried.contains(&i) { code.copy(input) } else { input });
        }
        let (counter, unknowns) = (code.new_variables(1), code.new_variables(equations.n));
        let (n, inputs) = (equations.n as u32, state.end as u32);
        code.iteration = Some(Iteration { counter, unknowns, n, inputs });
        for (variable, i) in (unknowns..).zip(state.end..tape.inputs()) {
            let guess = code.vector(Origin::Lanes(i as u32));
            code.push(Op::Set(variable, guess));
        }
        code.instructions(tape, &mut values, |at| equations.is_fixed[at], Vec::new());
        code.push(Op::Head);
        let x = code.iteration(equations, unknowns, values.clone());
        code.results(equations, &x, values);
        code
    }

    /// A variable with this value.
    fn copy(&mut self, value: Vector) -> Vector {
        let variable = self.new_variables(1);
        self.push(Op::Set(variable, value));
        self.vector(Origin::Variable(variable))
    }

    /// The next x.
    fn iteration(&mut self, equations: &Equations, unknowns: u32, mut values: Values) -> Vec<Vector> {
        let (n, tape) = (equations.n, &equations.tape);
        let x: Vec<Vector> = (unknowns..).take(n).map(|variable| self.vector(Origin::Variable(variable))).collect();
        x.iter().zip(&mut values[equations.state.end..]).for_each(|(&x, value)| *value = Some(x));
        self.instructions(tape, &mut values, |at| equations.is_iterated[at], Vec::new());
        let outputs: Vec<Vector> = equations.outputs()[0].iter().map(|&r| known(&values, r)).collect();
        let (r, slopes) = outputs.split_at(n);
        let dx = self.solve(slopes, r, &equations.is_bordered);
        let x: Vec<Vector> = x.iter().zip(&dx).map(|(&x, &dx)| self.sub(x, dx)).collect();
        for (variable, &x) in (unknowns..).zip(&x) {
            self.push(Op::Set(variable, x));
        }
        self.decide(&x, &dx);
        x
    }

    /// The first condition of `solve::StopRule`: maxᵢ (|dxᵢ| − 10⁻⁹|xᵢ|) ≤ 0, but for denormal numbers.
    fn decide(&mut self, x: &[Vector], dx: &[Vector]) {
        // Only a sum propagates every NaN, and x contains those of dx.
        let sizes: Vec<Vector> = x.iter().map(|&x| self.abs(x)).collect();
        let sum = sizes[1..].iter().fold(sizes[0], |sum, &size| self.add(sum, size));
        let [infinity, part, nothing] = [f64::INFINITY, LAST_CORRECTION, NOTHING].map(|c| self.constant(c));
        let is_finite = self.less(sum, infinity);
        self.push(Op::Require(is_finite, Exit::Diverged));
        let mut over = Vec::with_capacity(x.len());
        for (&dx, &size) in dx.iter().zip(&sizes) {
            let (step, limit) = (self.abs(dx), self.mul(part, size));
            over.push(self.sub(step, limit));
        }
        let most = over[1..].iter().fold(over[0], |most, &over| self.max(most, over));
        let is_last = self.arithmetic(Arithmetic::AtMost, most, nothing);
        self.push(Op::Again(is_last));
    }

    fn results(&mut self, equations: &Equations, x: &[Vector], mut values: Values) {
        let first = equations.state.end;
        for (i, &x) in x.iter().enumerate() {
            values[first + i] = Some(x);
            self.push(Op::Store(Target::Input((first + i) as u32), x));
        }
        let [_, results, next] = equations.outputs();
        let to = |outputs: &[Reg], target: fn(u32) -> Target, first: usize| -> Vec<(Reg, Target)> {
            outputs.iter().copied().zip((first as u32..).map(target)).collect()
        };
        let stores = [to(results, Target::Output, 0), to(next, Target::Input, equations.carried.start)].concat();
        self.instructions(&equations.tape, &mut values, |at| equations.is_final[at], stores);
    }

    /// Solves A·x = b, with A given by rows. `is_bordered` is true for rows whose entry on the diagonal is always zero. Leaves
    /// the function if A is singular.
    fn solve(&mut self, a: &[Vector], b: &[Vector], is_bordered: &[bool]) -> Vec<Vector> {
        if b.len() == 1 {
            return vec![self.solve_one(a[0], b[0])];
        }
        let bordered = is_bordered.iter().enumerate().map(|(i, &is)| u32::from(is) << i).sum();
        let linear = Linear { n: b.len(), first: self.new_variables(a.len() + b.len()), bordered };
        for (variable, &value) in (linear.first..).zip(a.iter().chain(b)) {
            self.push(Op::Set(variable, value));
        }
        if b.len() == 2 {
            return self.solve_two(a, b, linear);
        }
        self.push(Op::Solve(linear));
        let solution = linear.first + a.len() as u32..;
        solution.take(b.len()).map(|variable| self.vector(Origin::Variable(variable))).collect()
    }

    /// b/a.
    fn solve_one(&mut self, a: Vector, b: Vector) -> Vector {
        let size = self.abs(a);
        let [zero, infinity] = [0.0, f64::INFINITY].map(|c| self.constant(c));
        let (is_large, is_finite) = (self.less(zero, size), self.less(size, infinity));
        let is_regular = self.both(is_large, is_finite);
        self.push(Op::Require(is_regular, Exit::Singular));
        self.div(b, a)
    }

    /// Solves two equations in half the time of an elimination:
    ///
    /// ```text
    /// x = [ a₁₁·b₀ − a₀₁·b₁, a₀₀·b₁ − a₁₀·b₀ ] / (a₀₀·a₁₁ − a₀₁·a₁₀)
    /// ```
    ///
    /// If the matrix is not clearly regular, falls back to elimination.
    fn solve_two(&mut self, a: &[Vector], b: &[Vector], linear: Linear) -> Vec<Vector> {
        let products = [self.mul(a[0], a[3]), self.mul(a[1], a[2])];
        let det = self.sub(products[0], products[1]);
        let size = self.abs(det);
        let [part, low, high, one] = [CLEARLY_REGULAR, MODERATE[0], MODERATE[1], 1.0].map(|c| self.constant(c));
        let [first, second] = products.map(|product| self.abs(product));
        let product = self.max(first, second);
        let limit = self.mul(part, product);
        let limit = self.max(low, limit);
        let (is_large, is_moderate) = (self.less(limit, size), self.less(size, high));
        let is_done = self.both(is_large, is_moderate);
        let inverse = self.div(one, det);
        let tops = [self.cross(a[3], b[0], a[1], b[1]), self.cross(a[0], b[1], a[2], b[0])];
        let x = tops.map(|top| self.mul(top, inverse));
        let first = self.push(Op::SolveUnless { is_done, x, linear });
        vec![first, Vector(first.0 + 1)]
    }

    /// a·b − c·d.
    fn cross(&mut self, a: Vector, b: Vector, c: Vector, d: Vector) -> Vector {
        let (first, second) = (self.mul(a, b), self.mul(c, d));
        self.sub(first, second)
    }
}
