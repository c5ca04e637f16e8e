//! A start from two configurations, one step apart.

use super::Evaluator;
use crate::error::{Diagnostic, Result};
use crate::expr::{Expr, eval};
use crate::flow::{FlowKind, momenta_between};
use crate::limits::AIMED;
use crate::mechanics::{Holonomic, Mechanics};
use crate::phase::{Flow, Phase};
use crate::solve::largest_part;
use crate::system::{Enforce, time};

/// The largest number of corrections.
const MAX_CORRECTIONS: usize = 200;

/// The momenta at q0 with which the first step of a flow ends at q1, by shooting: the distance to q1 divided by the step
/// corrects the velocity.
///
/// ```text
/// p0 ← p0 + M(q0)·(q1 − Φ_h(q0, p0))/h
/// ```
pub(crate) fn aim(
    mechanics: &Mechanics,
    parameters: &[(Expr, f64)],
    flow: &mut dyn Flow,
    evaluator: &mut dyn Evaluator,
    start: Phase,
    q1: &[f64],
    h: f64,
) -> Result<Phase> {
    let (mut z, mut end, n) = (start.clone(), start.clone(), q1.len());
    let unreachable = || Diagnostic::new("no first step leads from `q` to `q1`").with_help("give `v` or `p` instead");
    evaluator.project(&mut z).map_err(|_| unreachable())?;
    let v = evaluator.velocity(&z).map_err(|_| unreachable())?.to_vec();
    let at: Vec<(Expr, f64)> =
        mechanics.q.iter().zip(z.q()).chain(mechanics.v.iter().zip(&v)).map(|(&x, &value)| (x, value)).collect();
    let mass = eval(&mechanics.mass().concat(), &[parameters, &at, &[(time(), z.t)]].concat());
    let mut previous = f64::INFINITY;
    for _ in 0..MAX_CORRECTIONS {
        flow.step(&z, h, &mut end).map_err(|_| unreachable())?;
        let missed: Vec<f64> = q1.iter().zip(end.q()).map(|(q1, q)| q1 - q).collect();
        let sizes: Vec<f64> = q1.iter().zip(z.q()).map(|(q1, q)| q1.abs() + q.abs()).collect();
        let distance = largest_part(&missed, &sizes);
        if distance == 0.0 || (distance >= 0.5 * previous && distance <= AIMED) {
            return Ok(z);
        }
        for i in 0..n {
            z.p_mut()[i] += (0..n).map(|j| mass[i * n + j] * missed[j] / h).sum::<f64>();
        }
        evaluator.project(&mut z).map_err(|_| unreachable())?;
        previous = distance;
    }
    Err(unreachable().into())
}

/// A first step that is given by its two ends.
pub(crate) struct FirstStep {
    pub(crate) begin: Phase,
    pub(crate) end: Phase,
    /// The impulses of the constraints in it.
    pub(crate) impulses: Vec<f64>,
}

/// The states at both ends of the first step with two-point constraints, for the given λ₁. The two configurations need not
/// satisfy the constraints. [TPC §II-B]
pub(crate) fn two_states(
    mechanics: &Mechanics,
    parameters: &[(Expr, f64)],
    flow: &FlowKind,
    q: [&[f64]; 2],
    h: f64,
) -> Result<FirstStep> {
    let lambda1 = |constraint: &Holonomic| match constraint.enforce {
        Enforce::OnePoint => None,
        Enforce::TwoPoint { lambda1 } => Some(lambda1),
    };
    let given: Vec<f64> = mechanics.constraints.iter().filter_map(lambda1).collect();
    let [p0, p1] = momenta_between(mechanics, flow, parameters, q, h, &given)?;
    let impulses = mechanics.constraints.iter().map(|constraint| lambda1(constraint).unwrap_or(0.0)).collect();
    Ok(FirstStep { begin: Phase::new(0.0, q[0], &p0), end: Phase::new(h, q[1], &p1), impulses })
}
