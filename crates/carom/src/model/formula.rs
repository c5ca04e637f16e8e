//! Formulas of the parameters that are given outside the model.

use super::{Model, suggestion};
use crate::error::{Diagnostic, Result};
use crate::expr::parse::{Complaint, Scope, parse};
use crate::expr::{Expr, Lease, eval, grad};

/// A number or a formula of the parameters of a model, such as `2*pi/omega`.
#[derive(Clone, Debug)]
pub struct ParameterFormula {
    pub(super) value: Expr,
    /// The parameters.
    symbols: Vec<Expr>,
    /// Keeps the expressions.
    _lease: Lease,
}

/// The parameters of a model.
struct Parameters<'a>(&'a Model);

impl Scope for Parameters<'_> {
    fn resolve(&self, name: &str, primes: usize) -> std::result::Result<Expr, Complaint> {
        let parameters = &self.0.system.parameters;
        let found = parameters.iter().find(|parameter| parameter.name == name && primes == 0);
        found.map(|parameter| parameter.symbol).ok_or_else(|| {
            let near = suggestion(name, parameters.iter().map(|parameter| parameter.name.as_str()));
            let label = near.map_or("only parameters can be used".into(), |near| format!("did you mean `{near}`?"));
            Complaint::new(format!("unknown name `{name}`"), label)
        })
    }
}

impl Model {
    /// Reads a number or a formula of the parameters, such as `2*pi/omega`.
    pub fn formula(&self, text: &str) -> Result<ParameterFormula> {
        let value = parse(text, &Parameters(self)).map_err(|error| {
            let message = format!("`{text}` is not a formula of the parameters: {}", error.complaint.message);
            Diagnostic::new(message).with_help(error.complaint.label)
        })?;
        Ok(self.formula_of(value))
    }

    /// An expression of the parameters as a formula.
    pub(super) fn formula_of(&self, value: Expr) -> ParameterFormula {
        let symbols = self.system.parameters.iter().map(|parameter| parameter.symbol).collect();
        ParameterFormula { value, symbols, _lease: Lease::default() }
    }
}

impl ParameterFormula {
    /// Its value for these values of the parameters.
    pub fn at(&self, parameters: &[f64]) -> f64 {
        eval(&[self.value], &self.known(parameters))[0]
    }

    /// Its derivative by a parameter.
    pub fn slope(&self, parameters: &[f64], by: usize) -> f64 {
        eval(&grad(self.value, &[self.symbols[by]]), &self.known(parameters))[0]
    }

    /// True if it contains no parameter.
    pub fn is_number(&self) -> bool {
        self.value.symbols().is_empty()
    }

    fn known(&self, parameters: &[f64]) -> Vec<(Expr, f64)> {
        self.symbols.iter().copied().zip(parameters.iter().copied()).collect()
    }
}
