//! The period of a drive.

use super::{Model, ParameterFormula};
use crate::expr::{Expr, ExprNode, Func, eval, substitute, with_arena};
use crate::system::time;

/// A given period is a multiple of that of the drive if it is within this of it, relative to that of the drive.
const MULTIPLE: f64 = 1e-6;

/// Everything in a system that may depend on the time, in its free coordinates.
fn parts(model: &Model) -> Vec<Expr> {
    let system = &model.system;
    let walls = system.walls.iter().map(|wall| wall.phi);
    let constraints = system.constraints.iter().map(|constraint| constraint.g);
    let all = [system.lagrangian.l].into_iter().chain(system.forces.iter().copied()).chain(walls).chain(constraints);
    system.drive(&all.collect::<Vec<_>>())
}

impl Model {
    /// True if something in the system depends on the time.
    pub(crate) fn is_driven(&self) -> bool {
        parts(self).iter().any(|part| part.depends_on(&[time()]))
    }

    /// The period 2π/ω of a drive whose functions of time are sin and cos of ω t + b, with multiples of one ω. None for other drives.
    pub(crate) fn period_of_drive(&self, parameters: &[f64]) -> Option<ParameterFormula> {
        period_of(self, parameters).map(|period| self.formula_of(period))
    }

    /// The period that is meant: a number that is a multiple of the period of the drive follows the drive, if that changes.
    pub(crate) fn follow_drive(&self, given: &ParameterFormula, parameters: &[f64]) -> ParameterFormula {
        let Some(drive) = self.period_of_drive(parameters) else { return given.clone() };
        let ratio = given.at(parameters) / drive.at(parameters);
        if given.is_number() && ratio.round() >= 1.0 && (ratio - ratio.round()).abs() < MULTIPLE {
            return self.formula_of(ratio.round() * drive.value);
        }
        given.clone()
    }
}

/// See [`Model::period_of_drive`].
fn period_of(model: &Model, parameters: &[f64]) -> Option<Expr> {
    let (parts, symbols) = (parts(model), [&model.system.q()[..], &model.system.v(), &[time()]].concat());
    let nodes: Vec<(Expr, ExprNode)> =
        with_arena(|a| a.reachable(&parts).into_iter().map(|e| (e, a.node(e))).collect());
    let (mut waves, mut rates) = (Vec::new(), Vec::new());
    for (e, node) in nodes {
        if let ExprNode::Unary(Func::Sin | Func::Cos, u) = node {
            let rate = u.diff(time());
            if !rate.is_zero() && !rate.depends_on(&symbols) {
                waves.push(e);
                rates.push(rate);
            }
        }
    }
    // Nothing else may depend on the time.
    let still = vec![Expr::constant(0.0); waves.len()];
    if substitute(&parts, &waves, &still).iter().any(|part| part.depends_on(&[time()])) {
        return None;
    }
    let values: Vec<(Expr, f64)> =
        model.system.parameters.iter().map(|p| p.symbol).zip(parameters.iter().copied()).collect();
    let numbers: Vec<f64> = eval(&rates, &values).iter().map(|x| x.abs()).collect();
    let slowest = (0..numbers.len()).reduce(|a, b| if numbers[b] < numbers[a] { b } else { a })?;
    let is_multiple = |x: &f64| {
        let ratio = x / numbers[slowest];
        (ratio - ratio.round()).abs() < MULTIPLE
    };
    if numbers[slowest] == 0.0 || !numbers.iter().all(is_multiple) {
        return None;
    }
    let sign = if eval(&rates[slowest..=slowest], &values)[0] < 0.0 { -1.0 } else { 1.0 };
    Some(2.0 * sign * Expr::pi() / rates[slowest])
}
