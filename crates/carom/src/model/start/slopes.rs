//! How the start moves with a parameter.

use crate::expr::{Expr, eval, grad};
use crate::model::{InitialMotion, Model};

/// The derivatives of what `[initial]` gives by a parameter, in the free coordinates.
pub(crate) struct StartSlopes {
    /// Of the coordinates.
    pub(crate) q: Vec<f64>,
    /// Of the velocities, if they are given.
    pub(crate) v: Option<Vec<f64>>,
    /// Of the momenta, if they are given.
    pub(crate) p: Option<Vec<f64>>,
}

impl Model {
    /// The derivatives of what `[initial]` gives, by the parameter with this number; none without `[initial]`.
    pub(crate) fn slopes_of_start(&self, parameters: &[f64], by: usize) -> Option<StartSlopes> {
        let (system, initial) = (&self.system, self.initial.as_ref()?);
        let values: Vec<(Expr, f64)> =
            system.parameters.iter().map(|p| p.symbol).zip(parameters.iter().copied()).collect();
        let symbol = system.parameters[by].symbol;
        let slope = |f: Expr| eval(&grad(f, &[symbol]), &values)[0];
        let slopes = |all: &[Expr]| system.free().iter().map(|&i| slope(all[i])).collect::<Vec<f64>>();
        let (v, p) = match &initial.motion {
            InitialMotion::Velocity(v) => (Some(slopes(v)), None),
            InitialMotion::Momentum(p) => (None, Some(slopes(p))),
            InitialMotion::Next(_) => (None, None),
        };
        Some(StartSlopes { q: slopes(&initial.q), v, p })
    }
}
