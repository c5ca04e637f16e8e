//! Nonlinear programs: min f(x) subject to c(x) = 0 and l ≤ x ≤ b.

/// A nonlinear program with its derivatives.
pub trait Nlp {
    /// What does not depend on x.
    fn structure(&self) -> &Structure;

    /// Writes c(x), and returns f(x). A value that is not finite says that the program is not defined at x.
    fn values(&mut self, x: &[f64], c: &mut [f64]) -> f64;

    /// Writes ∇f, the entries of the Jacobian of c, and those of the Hessian of σf + yᵀc.
    fn derivatives(&mut self, x: &[f64], sigma: f64, y: &[f64], into: &mut NlpDerivatives);
}

/// The bounds, the sparsity, and an order in which the matrices are banded.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// Lower bounds; −∞ for none.
    pub lower: Vec<f64>,
    /// Upper bounds, above the lower ones; ∞ for none.
    pub upper: Vec<f64>,
    /// The number of rows of c.
    pub rows: usize,
    /// (row, variable) of each entry of the Jacobian. Entries at one place add up.
    pub jacobian: Vec<(usize, usize)>,
    /// (i, j) of each entry of the Hessian, in either triangle but not in both. Entries at one place add up.
    pub hessian: Vec<(usize, usize)>,
    /// The place of each variable in the order of elimination. Equal places keep the order of the variables.
    pub order_of_variables: Vec<usize>,
    /// The place of each row in the order of elimination, after its variables.
    pub order_of_rows: Vec<usize>,
}

/// The derivatives at a point, in the order of the structure.
#[derive(Clone, Debug, Default)]
pub struct NlpDerivatives {
    /// ∇f.
    pub gradient: Vec<f64>,
    /// The entries of the Jacobian.
    pub jacobian: Vec<f64>,
    /// The entries of the Hessian.
    pub hessian: Vec<f64>,
}

impl Structure {
    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.lower.len()
    }
}

impl NlpDerivatives {
    /// Zeros, for this structure.
    pub fn new(structure: &Structure) -> NlpDerivatives {
        NlpDerivatives {
            gradient: vec![0.0; structure.variables()],
            jacobian: vec![0.0; structure.jacobian.len()],
            hessian: vec![0.0; structure.hessian.len()],
        }
    }

    /// Jᵀy is added to `sum`.
    pub fn add_transposed(&self, structure: &Structure, y: &[f64], sum: &mut [f64]) {
        for (&(row, variable), entry) in structure.jacobian.iter().zip(&self.jacobian) {
            sum[variable] += entry * y[row];
        }
    }
}

/// A program whose objective and rows are multiplied by constants, so that no gradient entry at the start is large.
pub(super) struct Scaled<'a> {
    pub(super) inner: &'a mut dyn Nlp,
    /// The factor of f.
    pub(super) objective: f64,
    /// The factor of each row.
    pub(super) rows: Vec<f64>,
    weights: Vec<f64>,
}

/// No entry of a scaled gradient at the start is larger. [Wächter & Biegler 2006, §3.8]
const LARGEST_GRADIENT: f64 = 100.0;

impl<'a> Scaled<'a> {
    /// Scales a program by its gradients at x.
    pub(super) fn new(inner: &'a mut dyn Nlp, x: &[f64]) -> Scaled<'a> {
        let mut derivatives = NlpDerivatives::new(inner.structure());
        let rows = inner.structure().rows;
        inner.derivatives(x, 0.0, &vec![0.0; rows], &mut derivatives);
        let factor = |largest: f64| if largest > LARGEST_GRADIENT { LARGEST_GRADIENT / largest } else { 1.0 };
        let mut largest = vec![0.0f64; rows];
        for (&(row, _), entry) in inner.structure().jacobian.iter().zip(&derivatives.jacobian) {
            largest[row] = largest[row].max(entry.abs());
        }
        let objective = factor(derivatives.gradient.iter().fold(0.0, |all, x| all.max(x.abs())));
        Scaled { inner, objective, rows: largest.into_iter().map(factor).collect(), weights: vec![0.0; rows] }
    }
}

impl Nlp for Scaled<'_> {
    fn structure(&self) -> &Structure {
        self.inner.structure()
    }

    fn values(&mut self, x: &[f64], c: &mut [f64]) -> f64 {
        let f = self.inner.values(x, c);
        c.iter_mut().zip(&self.rows).for_each(|(c, scale)| *c *= scale);
        self.objective * f
    }

    fn derivatives(&mut self, x: &[f64], sigma: f64, y: &[f64], into: &mut NlpDerivatives) {
        self.weights.iter_mut().zip(y).zip(&self.rows).for_each(|((weight, y), scale)| *weight = y * scale);
        self.inner.derivatives(x, sigma * self.objective, &self.weights, into);
        into.gradient.iter_mut().for_each(|entry| *entry *= self.objective);
        let structure = self.inner.structure();
        for (&(row, _), entry) in structure.jacobian.iter().zip(&mut into.jacobian) {
            *entry *= self.rows[row];
        }
    }
}
