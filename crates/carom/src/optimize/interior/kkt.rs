//! The linear system of a step, factored in the order of time.

use crate::optimize::nlp::{Derivatives, Structure};
use crate::solve::{Inertia, Skyline};

/// Added to the diagonal of the variables and of the rows for the factorisation, and taken out again by refinement.
const REGULARISATION: [f64; 2] = [1e-8, 1e-9];

/// A solution is accurate if its residual is below this part of the terms of the equations.
const ACCURATE: f64 = 1e-10;

/// Refinement ends at this residual.
const ROUNDOFF: f64 = 1e-16;

/// The system of a step. [Wächter & Biegler 2006, eq. 13]
///
/// ```text
/// [ W + Σ + δ_w   Jᵀ  ] [dx]
/// [ J            −δ_c ] [dy]
/// ```
pub(super) struct Kkt {
    variables: usize,
    rows: usize,
    matrix: Skyline,
    /// Where each entry of W, of J and of the diagonal goes.
    hessian: Vec<usize>,
    jacobian: Vec<usize>,
    diagonal: Vec<usize>,
    /// The place of each variable and row in the order of elimination.
    place: Vec<usize>,
    /// Σ + δ_w of each variable, −δ_c of each row: without the regularisation of the factorisation.
    shift: Vec<f64>,
    ordered: Vec<f64>,
    residual: Vec<f64>,
}

impl Kkt {
    pub(super) fn new(structure: &Structure) -> Kkt {
        let (variables, rows) = (structure.variables(), structure.rows);
        let keys: Vec<usize> = structure.order_of_variables.iter().chain(&structure.order_of_rows).copied().collect();
        let mut order: Vec<usize> = (0..variables + rows).collect();
        order.sort_by_key(|&k| keys[k]);
        let mut place = vec![0; variables + rows];
        order.iter().enumerate().for_each(|(at, &k)| place[k] = at);
        let pairs_w = || structure.hessian.iter().map(|&(i, j)| (place[i], place[j]));
        let pairs_j = || structure.jacobian.iter().map(|&(row, variable)| (place[variables + row], place[variable]));
        let mut first: Vec<usize> = (0..variables + rows).collect();
        for (i, j) in pairs_w().chain(pairs_j()) {
            let (low, high) = (i.min(j), i.max(j));
            first[high] = first[high].min(low);
        }
        let matrix = Skyline::new(first);
        let at = |(i, j): (usize, usize)| matrix.place(i.max(j), i.min(j));
        Kkt {
            variables,
            rows,
            hessian: pairs_w().map(at).collect(),
            jacobian: pairs_j().map(at).collect(),
            diagonal: place.iter().map(|&i| at((i, i))).collect(),
            shift: vec![0.0; place.len()],
            ordered: vec![0.0; place.len()],
            residual: vec![0.0; place.len()],
            matrix,
            place,
        }
    }

    /// Factors the matrix with Σ, δ_w, δ_c and `extra` times the usual regularisation. True if it has the right inertia.
    pub(super) fn factor(&mut self, derivatives: &Derivatives, sigma: &[f64], [dw, dc]: [f64; 2], extra: f64) -> bool {
        let n = self.variables;
        self.shift[..n].iter_mut().zip(sigma).for_each(|(shift, sigma)| *shift = sigma + dw);
        self.shift[n..].fill(-dc);
        let values = self.matrix.values();
        values.fill(0.0);
        self.hessian.iter().zip(&derivatives.hessian).for_each(|(&at, entry)| values[at] += entry);
        self.jacobian.iter().zip(&derivatives.jacobian).for_each(|(&at, entry)| values[at] += entry);
        let [of_variables, of_rows] = REGULARISATION.map(|r| extra * r);
        for (k, &at) in self.diagonal.iter().enumerate() {
            values[at] += self.shift[k] + if k < n { of_variables } else { -of_rows };
        }
        self.matrix.factor() == Inertia { positive: n, negative: self.rows, zero: 0 }
    }

    /// Solves for the right-hand side, refined against the matrix without regularisation. False if that is not accurate.
    pub(super) fn solve(
        &mut self,
        structure: &Structure,
        derivatives: &Derivatives,
        rhs: &[f64],
        solution: &mut [f64],
    ) -> bool {
        const REFINEMENTS: usize = 12;
        solution.fill(0.0);
        self.residual.copy_from_slice(rhs);
        let scale = rhs.iter().fold(0.0f64, |all, x| all.max(x.abs()));
        let mut best = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            self.place.iter().zip(&self.residual).for_each(|(&at, r)| self.ordered[at] = *r);
            self.matrix.solve(&mut self.ordered);
            solution.iter_mut().zip(&self.place).for_each(|(x, &at)| *x += self.ordered[at]);
            let terms = self.subtract(structure, derivatives, rhs, solution);
            let error = self.residual.iter().fold(0.0f64, |all, r| all.max(r.abs())) / (scale + terms);
            if !error.is_finite() {
                return false;
            }
            if error <= ROUNDOFF || error > 0.5 * best {
                best = best.min(error);
                break;
            }
            best = error;
        }
        best <= ACCURATE
    }

    /// residual = rhs − K x. Returns the largest term of K x.
    fn subtract(&mut self, structure: &Structure, derivatives: &Derivatives, rhs: &[f64], x: &[f64]) -> f64 {
        let (n, mut largest) = (self.variables, 0.0f64);
        let residual = &mut self.residual;
        residual.copy_from_slice(rhs);
        let mut subtract = |i: usize, term: f64| {
            residual[i] -= term;
            largest = largest.max(term.abs());
        };
        for (k, shift) in self.shift.iter().enumerate() {
            subtract(k, shift * x[k]);
        }
        for (&(i, j), entry) in structure.hessian.iter().zip(&derivatives.hessian) {
            subtract(i, entry * x[j]);
            if i != j {
                subtract(j, entry * x[i]);
            }
        }
        for (&(row, variable), entry) in structure.jacobian.iter().zip(&derivatives.jacobian) {
            subtract(n + row, entry * x[variable]);
            subtract(variable, entry * x[n + row]);
        }
        largest
    }
}
