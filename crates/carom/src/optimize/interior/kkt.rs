//! The linear system of a step, factored in the order of time.

use crate::optimize::nlp::{NlpDerivatives, Structure};
use crate::solve::{PivotSigns, Skyline, least_squares};

/// Added to the diagonal of the variables and of the rows for the factorisation, and taken out again by refinement.
const REGULARISATION: [f64; 2] = [1e-8, 1e-9];

/// A solution is accurate if its residual is below this part of the terms of the equations.
const ACCURATE: f64 = 1e-10;

/// Refinement ends at this residual: it is computed with as much roundoff.
const ROUNDOFF: f64 = 2.0 * f64::EPSILON;

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
    pub(super) fn factor(
        &mut self,
        derivatives: &NlpDerivatives,
        sigma: &[f64],
        [dw, dc]: [f64; 2],
        extra: f64,
    ) -> bool {
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
        self.matrix.factor() == PivotSigns { positive: n, negative: self.rows, zero: 0 }
    }

    /// Solves for the right-hand side, refined against the matrix without regularisation. False if that is not accurate.
    pub(super) fn solve(
        &mut self,
        structure: &Structure,
        derivatives: &NlpDerivatives,
        rhs: &[f64],
        solution: &mut [f64],
    ) -> bool {
        const REFINEMENTS: usize = 6;
        const RESTARTS: usize = 3;
        solution.fill(0.0);
        self.residual.copy_from_slice(rhs);
        let scale = size(rhs);
        let mut best = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            let correction = self.precondition();
            solution.iter_mut().zip(&correction).for_each(|(x, dx)| *x += dx);
            let terms = self.subtract(structure, derivatives, rhs, solution);
            let error = size(&self.residual) / (scale + terms);
            if !error.is_finite() {
                return false;
            }
            let is_slow = error > 0.5 * best;
            best = best.min(error);
            if error <= ROUNDOFF || is_slow {
                break;
            }
        }
        for _ in 0..RESTARTS {
            if best <= ACCURATE {
                return true;
            }
            self.minimise_residual(structure, derivatives, solution);
            let terms = self.subtract(structure, derivatives, rhs, solution);
            best = size(&self.residual) / (scale + terms);
        }
        best <= ACCURATE
    }

    /// The solution for `residual` by the factors of the regularised matrix.
    fn precondition(&mut self) -> Vec<f64> {
        self.place.iter().zip(&self.residual).for_each(|(&at, r)| self.ordered[at] = *r);
        self.matrix.solve(&mut self.ordered);
        self.place.iter().map(|&at| self.ordered[at]).collect()
    }

    /// Adds to x the combination of a few preconditioned directions that makes the residual smallest: GMRES, with the factors of the
    /// regularised matrix on the right. Refinement alone stagnates where an eigenvalue is as small as the regularisation.
    /// [Saad, Iterative methods for sparse linear systems, algorithm 9.5]
    fn minimise_residual(&mut self, structure: &Structure, derivatives: &NlpDerivatives, x: &mut [f64]) {
        const DIRECTIONS: usize = 12;
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let length = norm(&self.residual);
        if !(length > 0.0 && length.is_finite()) {
            return;
        }
        let zero = vec![0.0; x.len()];
        let mut basis: Vec<Vec<f64>> = vec![self.residual.iter().map(|r| r / length).collect()];
        let mut directions: Vec<Vec<f64>> = Vec::new();
        // The columns of the Hessenberg matrix.
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for k in 0..DIRECTIONS {
            self.residual.copy_from_slice(&basis[k]);
            let direction = self.precondition();
            self.subtract(structure, derivatives, &zero, &direction);
            let mut next: Vec<f64> = self.residual.iter().map(|r| -r).collect();
            let mut column = Vec::new();
            for known in &basis {
                let part = dot(known, &next);
                next.iter_mut().zip(known).for_each(|(x, k)| *x -= part * k);
                column.push(part);
            }
            let rest = norm(&next);
            column.push(rest);
            directions.push(direction);
            columns.push(column);
            if rest.is_nan() || rest <= f64::EPSILON * length {
                break;
            }
            next.iter_mut().for_each(|x| *x /= rest);
            basis.push(next);
        }
        let count = columns.len();
        let entry = |i: usize, j: usize| columns[j].get(i).copied().unwrap_or(0.0);
        let hessenberg: Vec<f64> = (0..=count).flat_map(|i| (0..count).map(move |j| entry(i, j))).collect();
        let mut target = vec![0.0; count + 1];
        target[0] = length;
        for (direction, part) in directions.iter().zip(least_squares(&hessenberg, count, &target, f64::EPSILON)) {
            if part.is_finite() {
                x.iter_mut().zip(direction).for_each(|(x, d)| *x += part * d);
            }
        }
    }

    /// residual = rhs − K x. Returns the largest term of K x.
    fn subtract(&mut self, structure: &Structure, derivatives: &NlpDerivatives, rhs: &[f64], x: &[f64]) -> f64 {
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

/// The largest absolute value.
fn size(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |all, x| all.max(x.abs()))
}
