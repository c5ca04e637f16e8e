//! Formulas of the parameters that are given outside the model.

use super::{Model, suggestion};
use crate::error::{Diagnostic, Result};
use crate::expr::Expr;
use crate::expr::parse::{Complaint, Scope, parse};

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
    pub fn expression_of_parameters(&self, text: &str) -> Result<Expr> {
        parse(text, &Parameters(self)).map_err(|error| {
            let message = format!("`{text}` is not a formula of the parameters: {}", error.complaint.message);
            Diagnostic::new(message).with_help(error.complaint.label).into()
        })
    }
}
