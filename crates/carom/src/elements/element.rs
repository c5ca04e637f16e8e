//! Functions of a few numbers, compiled with their first and second derivatives.

use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, grad, jacobian};
use crate::kernel::{Backend, Kernel};
use crate::mechanics::numbered;

/// Rows r(ξ) and a cost l(ξ), with the derivatives that a program needs: ∇l, the Jacobian of r, and the Hessian of
/// w₀l + Σ wᵢrᵢ. One element serves all steps, nodes or events of a kind. Entries that are zero for every ξ are left out.
pub(crate) struct Element {
    pub(crate) inputs: usize,
    pub(crate) rows: usize,
    pub(crate) has_cost: bool,
    /// The inputs on which the cost depends.
    pub(crate) gradient: Vec<usize>,
    /// (row, input) of each entry of the Jacobian.
    pub(crate) jacobian: Vec<(usize, usize)>,
    /// (i, j) of each entry of the Hessian, i ≥ j.
    pub(crate) hessian: Vec<(usize, usize)>,
    parameters: usize,
    /// parameters, ξ → l, r
    values: Kernel,
    /// parameters, ξ, w → ∇l, the Jacobian, the Hessian
    derivatives: Kernel,
}

impl Element {
    /// Compiles rows and a cost as functions of `inputs`.
    pub(super) fn new(
        parameters: &[Expr],
        inputs: &[Expr],
        rows: &[Expr],
        cost: Option<Expr>,
        backend: Backend,
    ) -> Result<Element> {
        let weights = numbered("weight", rows.len() + 1);
        let l = cost.unwrap_or(Expr::constant(0.0));
        let lagrangian = weights[0] * l + rows.iter().zip(&weights[1..]).map(|(&row, &w)| w * row).sum::<Expr>();
        let mut outputs = Vec::new();
        let mut keep = |e: Expr| {
            let is_kept = !e.is_zero();
            outputs.extend(is_kept.then_some(e));
            is_kept
        };
        let slopes = grad(l, inputs);
        let gradient = (0..inputs.len()).filter(|&i| keep(slopes[i])).collect();
        let table = jacobian(rows, inputs);
        let places = (0..rows.len()).flat_map(|row| (0..inputs.len()).map(move |i| (row, i)));
        let jacobian_places = places.filter(|&(row, i)| keep(table[row][i])).collect();
        let curvature = jacobian(&grad(lagrangian, inputs), inputs);
        let lower = (0..inputs.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let hessian = lower.filter(|&(i, j)| keep(curvature[i][j])).collect();
        let compile = |extra: &[Expr], outputs: &[Expr]| -> Result<Kernel> {
            let all = [parameters, inputs, extra].concat();
            Kernel::with_backend(&all, outputs, backend)
                .or_else(|_| Kernel::with_backend(&all, outputs, Backend::Interpreter))
                .map_err(|e| Diagnostic::new(e.to_string()).into())
        };
        Ok(Element {
            inputs: inputs.len(),
            rows: rows.len(),
            has_cost: cost.is_some(),
            gradient,
            jacobian: jacobian_places,
            hessian,
            parameters: parameters.len(),
            values: compile(&[], &[&[l], rows].concat())?,
            derivatives: compile(&weights, &outputs)?,
        })
    }

    /// The length of the working memory: parameters, ξ, weights.
    pub(crate) fn inputs_of_kernel(&self) -> usize {
        self.parameters + self.inputs + self.rows + 1
    }

    /// The number of derivatives.
    pub(crate) fn derivatives_count(&self) -> usize {
        self.gradient.len() + self.jacobian.len() + self.hessian.len()
    }

    /// Where ξ begins in the working memory.
    pub(crate) fn first_input(&self) -> usize {
        self.parameters
    }

    /// Writes l, then r.
    pub(crate) fn eval(&self, memory: &[f64], out: &mut [f64]) {
        self.values.eval(&memory[..self.parameters + self.inputs], &mut out[..self.rows + 1]);
    }

    /// Writes ∇l, the Jacobian and the Hessian.
    pub(crate) fn differentiate(&self, memory: &[f64], out: &mut [f64]) {
        self.derivatives.eval(&memory[..self.inputs_of_kernel()], &mut out[..self.derivatives_count()]);
    }
}
