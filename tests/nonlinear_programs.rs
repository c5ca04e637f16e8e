//! The interior point on small programs with known optima. [Hock & Schittkowski, Test Examples for Nonlinear Programming Codes]

use carom::lab::expr::{Expr, eval, grad, jacobian};
use carom::lab::optimize::interior::{Limits, Solution, SolverEnding, solve};
use carom::lab::optimize::nlp::{Nlp, NlpDerivatives, Structure};

const NONE: f64 = f64::INFINITY;

/// A dense program of expressions.
struct Symbolic {
    x: Vec<Expr>,
    f: Expr,
    c: Vec<Expr>,
    gradient: Vec<Expr>,
    jacobian: Vec<Vec<Expr>>,
    hessians: Vec<Vec<Vec<Expr>>>,
    structure: Structure,
}

impl Symbolic {
    fn new(x: &[Expr], f: Expr, c: &[Expr], lower: &[f64], upper: &[f64]) -> Symbolic {
        let n = x.len();
        let hessians = [&[f], c].concat().iter().map(|&g| jacobian(&grad(g, x), x)).collect();
        let structure = Structure {
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            rows: c.len(),
            jacobian: (0..c.len()).flat_map(|row| (0..n).map(move |i| (row, i))).collect(),
            hessian: (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect(),
            order_of_variables: vec![0; n],
            order_of_rows: vec![1; c.len()],
        };
        let (gradient, table) = (grad(f, x), jacobian(c, x));
        Symbolic { x: x.to_vec(), f, c: c.to_vec(), gradient, jacobian: table, hessians, structure }
    }

    fn at(&self, fs: &[Expr], x: &[f64]) -> Vec<f64> {
        eval(fs, &self.x.iter().copied().zip(x.iter().copied()).collect::<Vec<_>>())
    }
}

impl Nlp for Symbolic {
    fn structure(&self) -> &Structure {
        &self.structure
    }

    fn values(&mut self, x: &[f64], c: &mut [f64]) -> f64 {
        c.copy_from_slice(&self.at(&self.c, x));
        self.at(&[self.f], x)[0]
    }

    fn derivatives(&mut self, x: &[f64], sigma: f64, y: &[f64], into: &mut NlpDerivatives) {
        into.gradient = self.at(&self.gradient, x);
        into.jacobian = self.at(&self.jacobian.concat(), x);
        into.hessian.fill(0.0);
        let weights = [sigma].into_iter().chain(y.iter().copied());
        for (weight, hessian) in weights.zip(&self.hessians) {
            let values = self.at(&hessian.concat(), x);
            for (entry, &(i, j)) in into.hessian.iter_mut().zip(&self.structure.hessian) {
                *entry += weight * values[i * self.x.len() + j];
            }
        }
    }
}

fn symbols(n: usize) -> Vec<Expr> {
    (1..=n).map(|i| Expr::symbol(&format!("x{i}"))).collect()
}

fn minimise(mut program: Symbolic, start: &[f64]) -> Solution {
    solve(&mut program, start, Limits { tolerance: 1e-9, iterations: 300 }, &mut |_, _| false)
}

#[track_caller]
fn assert_optimum(solution: &Solution, f: f64, x: &[f64]) {
    assert_eq!(solution.ending, SolverEnding::Optimal, "{:?}", solution.last);
    assert!((solution.last.objective - f).abs() < 1e-6 * (1.0 + f.abs()), "f = {}, not {f}", solution.last.objective);
    for (found, wanted) in solution.x.iter().zip(x) {
        assert!((found - wanted).abs() < 1e-4, "{:?}, not {x:?}", solution.x);
    }
}

/// HS 1: Rosenbrock's valley with a bound.
#[test]
fn hock_schittkowski_1() {
    let x = symbols(2);
    let f = 100.0 * (x[1] - x[0].squared()).squared() + (1.0 - x[0]).squared();
    let program = Symbolic::new(&x, f, &[], &[-NONE, -1.5], &[NONE, NONE]);
    assert_optimum(&minimise(program, &[-2.0, 1.0]), 0.0, &[1.0, 1.0]);
}

/// HS 6: min (1 − x₁)², 10(x₂ − x₁²) = 0.
#[test]
fn hock_schittkowski_6() {
    let x = symbols(2);
    let program = Symbolic::new(&x, (1.0 - x[0]).squared(), &[10.0 * (x[1] - x[0].squared())], &[-NONE; 2], &[NONE; 2]);
    assert_optimum(&minimise(program, &[-1.2, 1.0]), 0.0, &[1.0, 1.0]);
}

/// HS 7: min ln(1 + x₁²) − x₂, (1 + x₁²)² + x₂² = 4. Its Hessian is indefinite.
#[test]
fn hock_schittkowski_7() {
    let x = symbols(2);
    let one = 1.0 + x[0].squared();
    let program = Symbolic::new(&x, one.ln() - x[1], &[one.squared() + x[1].squared() - 4.0], &[-NONE; 2], &[NONE; 2]);
    assert_optimum(&minimise(program, &[2.0, 2.0]), -(3f64.sqrt()), &[0.0, 3f64.sqrt()]);
}

/// HS 28: a quadratic on a plane.
#[test]
fn hock_schittkowski_28() {
    let x = symbols(3);
    let f = (x[0] + x[1]).squared() + (x[1] + x[2]).squared();
    let program = Symbolic::new(&x, f, &[x[0] + 2.0 * x[1] + 3.0 * x[2] - 1.0], &[-NONE; 3], &[NONE; 3]);
    assert_optimum(&minimise(program, &[-4.0, 1.0, 1.0]), 0.0, &[0.5, -0.5, 0.5]);
}

/// HS 71, with a slack for x₁x₂x₃x₄ ≥ 25.
#[test]
fn hock_schittkowski_71() {
    let x = symbols(5);
    let f = x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2];
    let squares: Expr = x[..4].iter().map(|x| x.squared()).sum();
    let c = [x[0] * x[1] * x[2] * x[3] - x[4], squares - 40.0];
    let program = Symbolic::new(&x, f, &c, &[1.0, 1.0, 1.0, 1.0, 25.0], &[5.0, 5.0, 5.0, 5.0, NONE]);
    let wanted = [1.0, 4.742999, 3.821150, 1.379408, 25.0];
    assert_optimum(&minimise(program, &[1.0, 5.0, 5.0, 1.0, 25.0]), 17.0140173, &wanted);
}

/// One constraint, given three times: the multipliers are not unique, the optimum is.
#[test]
fn rows_may_repeat_each_other() {
    let x = symbols(2);
    let row = x[0] + x[1] - 2.0;
    let program = Symbolic::new(&x, x[0].squared() + 2.0 * x[1].squared(), &[row, row, row], &[-NONE; 2], &[NONE; 2]);
    let solution = minimise(program, &[5.0, -3.0]);
    assert_eq!(solution.ending, SolverEnding::Optimal);
    assert!((solution.x[0] - 4.0 / 3.0).abs() < 1e-7, "{:?}", solution.x);
}

/// Wächter & Biegler's counterexample, on which interior points without restoration jam at a point that is nothing. Here the
/// search ends where the violation |c|₁ has a local minimum, and says so; from the other side it finds the solution.
#[test]
fn the_search_does_not_jam() {
    let x = symbols(3);
    let program = || {
        let c = [x[0].squared() - x[1] - 1.0, x[0] - x[2] - 0.5];
        Symbolic::new(&x, x[0], &c, &[-NONE, 0.0, 0.0], &[NONE; 3])
    };
    let solution = minimise(program(), &[-2.0, 3.0, 1.0]);
    assert_eq!(solution.ending, SolverEnding::Infeasible);
    assert!((solution.x[0] + 1.0).abs() < 1e-6 && solution.x[2] < 1e-6, "{:?}", solution.x);
    assert_optimum(&minimise(program(), &[2.0, 3.0, 1.0]), 1.0, &[1.0, 0.0, 0.5]);
}

/// x² + 1 = 0 has no solution; the point nearest to one is 0.
#[test]
fn an_infeasible_program_is_recognised() {
    let x = symbols(2);
    let program = Symbolic::new(&x, x[1].squared(), &[x[0].squared() + 1.0], &[-NONE; 2], &[NONE; 2]);
    let solution = minimise(program, &[3.0, 1.0]);
    assert_eq!(solution.ending, SolverEnding::Infeasible);
    assert!(solution.x[0].abs() < 1e-2, "{:?}", solution.x);
}

/// A program that is no number at its start fails, and one without a minimum ends.
#[test]
fn bad_programs_end() {
    let x = symbols(1);
    let program = Symbolic::new(&x, (x[0] - 3.0).ln(), &[], &[-NONE], &[NONE]);
    assert_eq!(minimise(program, &[0.0]).ending, SolverEnding::Failed);
    let program = Symbolic::new(&x, x[0], &[], &[-NONE], &[NONE]);
    assert_ne!(minimise(program, &[0.0]).ending, SolverEnding::Optimal);
}
